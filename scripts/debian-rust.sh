#!/bin/bash
# Unpacks Debian's Rust compiler, clippy and the source of the standard library to
# CACHE_DIR/debian-rust, unless they are there: with them the library can be built for targets that
# the toolchain at hand has none for. Installs nothing. Needs Debian 12 on x86-64, and apt's lists.
#
#     scripts/debian-rust.sh CACHE_DIR
set -eu

cache=$1
debian=$cache/debian-rust
debs=$cache/debian-rust.debs
partial=$debian.partial

# The dependency of package $1 whose name begins with $2: such names carry version numbers.
dependency() {
  apt-cache depends --important "$1" | sed -n "s/^ *Depends: \($2.*\)/\1/p" | head -n 1
}

[ ! -d "$debian" ] || exit 0
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
# It gets its name last, so that a folder of this name is whole.
mv "$partial" "$debian"
