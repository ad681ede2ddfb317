#!/bin/bash
# Checks the crate, its tests and the addon for platforms that this machine is not: types, lints,
# and warnings as errors. Nothing is linked and nothing runs, so no linker and no SDK is needed.
#
#     scripts/check-platforms.sh [CACHE_DIR]
#
# A target whose standard library is installed (`rustup target add …`) is checked with the
# toolchain at hand. For the others Debian's compiler is unpacked, not installed, under CACHE_DIR
# (by default fencelink in the user's cache folder), and the standard library is built there from
# Debian's source. That part needs Debian 12 on x86-64, and the registry that cargo uses.
set -eu

targets=(x86_64-pc-windows-msvc aarch64-apple-darwin)

cache=$(realpath -m "${1:-${XDG_CACHE_HOME:-$HOME/.cache}/fencelink}")
debian=$cache/debian-rust
cd "$(dirname "$0")/.."

# The dependency of package $1 whose name begins with $2: such names carry version numbers.
dependency() {
  apt-cache depends --important "$1" | sed -n "s/^ *Depends: \($2.*\)/\1/p" | head -n 1
}

# Unpacks the compiler, clippy and the library's source to $debian, unless they are there. The
# folder gets its name last, so one that has it is whole.
unpack_debian_rust() {
  [ ! -d "$debian" ] || return 0
  local std llvm debs=$cache/debs partial=$debian.partial
  std=$(dependency libstd-rust-web-dev 'libstd-rust-web-[0-9]')
  llvm=$(dependency "${std:-none}" libllvm)
  if [ -z "$llvm" ]; then
    echo "apt knows no rustc-web here; run 'apt-get update', or add the targets with rustup" >&2
    exit 1
  fi
  rm -rf "$partial" "$debs"
  mkdir -p "$partial" "$debs"
  echo "unpacking Debian's Rust to $debian"
  (cd "$debs" && apt-get -qq -o APT::Sandbox::User=root download \
    rustc-web rust-web-clippy libstd-rust-web-dev "$std" "$llvm" rust-web-src)
  local deb
  for deb in "$debs"/*.deb; do
    case $deb in
      */rust-web-src_*)
        # Of the source only the library; the rest is fifteen times as large.
        dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$partial" --wildcards \
          './usr/lib/rustlib/src' './usr/src/rustc-*/library' ;;
      *) dpkg-deb -x "$deb" "$partial" ;;
    esac
  done
  rm -r "$debs"
  mv "$partial" "$debian"
}

# Runs clippy for target $1 with the remaining arguments.
clippy() {
  local target=$1
  shift
  if [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
    cargo clippy --locked --target "$target" "$@" -- -D warnings
    return
  fi
  unpack_debian_rust
  # The variable that unlocks -Zbuild-std is for a compiler's own build, which this is.
  RUSTC=$debian/usr/bin/rustc \
    LD_LIBRARY_PATH=$debian/usr/lib/x86_64-linux-gnu \
    RUSTC_BOOTSTRAP=1 \
    "$debian/usr/bin/cargo-clippy" clippy -Zbuild-std --locked --target "$target" "$@" -- -D warnings
}

# Nothing made here is ever run or debugged.
export CARGO_TARGET_DIR=$cache/target CARGO_PROFILE_DEV_DEBUG=0 CARGO_INCREMENTAL=0

for target in "${targets[@]}"; do
  echo "checking $target: the crate and its tests"
  clippy "$target" --no-default-features --all-targets
  echo "checking $target: the addon"
  clippy "$target" --lib
done
