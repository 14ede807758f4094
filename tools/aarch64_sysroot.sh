#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fetches what the preset aarch64 needs on Debian: the arm64 packages of Kugel's libraries, unpacked into
# build/aarch64-sysroot. Nothing is installed: apt gets lists and folders of its own in there.
# Compiler and emulator come from apt:
#   apt install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
# Then: tools/aarch64_sysroot.sh && cmake --workflow --preset aarch64
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for tool in aarch64-linux-gnu-gcc qemu-aarch64-static dpkg-deb apt-get; do
  command -v $tool >/dev/null || { echo "aarch64_sysroot: $tool is missing, see the head of this file"; exit 1; }
done
sysroot=$PWD/build/aarch64-sysroot
[[ -e $sysroot/complete ]] && exit 0
rm -rf "$sysroot"
mkdir -p "$sysroot"/apt/{state/lists/partial,cache/archives/partial} "$sysroot/packages"
private=(-q -o "Dir::State=$sysroot/apt/state" -o Dir::State::status=/dev/null -o "Dir::Cache=$sysroot/apt/cache"
  -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=)
apt-get "${private[@]}" update >"$sysroot/apt/log" 2>&1 || { tail -5 "$sysroot/apt/log"; exit 1; }
wanted=(libcfitsio-dev libfreetype-dev libpng-dev zlib1g-dev libtiff-dev libexpat1-dev libcjson-dev libblosc-dev libzstd-dev)
mapfile -t packages < <(apt-cache "${private[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
  --no-replaces --no-enhances "${wanted[@]}" | grep -E '^\w' | grep -vE '^(libc6|libc-|linux-|gcc-)' | sort -u)
((${#packages[@]})) || { echo "aarch64_sysroot: apt's sources have no arm64 packages"; exit 1; }
(cd "$sysroot/packages" && apt-get "${private[@]}" download "${packages[@]}")
for package in "$sysroot"/packages/*.deb; do dpkg-deb -x "$package" "$sysroot"; done
rm -r "$sysroot/packages" "$sysroot/apt"
touch "$sysroot/complete"
echo "aarch64_sysroot: ${#packages[@]} packages in $sysroot"
