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

# Runs clippy for target $1 with the remaining arguments.
clippy() {
  local target=$1
  shift
  if [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
    cargo clippy --locked --target "$target" "$@" -- -D warnings
    return
  fi
  scripts/debian-rust.sh "$cache"
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
