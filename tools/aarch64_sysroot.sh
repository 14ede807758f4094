#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Fetches what the preset aarch64 needs on Debian: the arm64 packages of Kugel's libraries, unpacked into
# build/aarch64-sysroot (nothing is installed). Compiler and emulator come from apt:
#   apt install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
#   dpkg --add-architecture arm64 && apt update
# Then: tools/aarch64_sysroot.sh && cmake --workflow --preset aarch64
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
for tool in aarch64-linux-gnu-gcc qemu-aarch64-static dpkg-deb apt-get; do
  command -v $tool >/dev/null || { echo "aarch64_sysroot: $tool is missing, see the head of this file"; exit 1; }
done
sysroot=$PWD/build/aarch64-sysroot
[[ -e $sysroot/complete ]] && exit 0
mkdir -p "$sysroot/packages"
wanted=(libcfitsio-dev libfreetype-dev libpng-dev zlib1g-dev)
mapfile -t packages < <(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
  --no-replaces --no-enhances "${wanted[@]/%/:arm64}" | grep -E '^\w.*:arm64$' | grep -vE '^(libc6|libc-|linux-|gcc-)' | sort -u)
((${#packages[@]})) || { echo "aarch64_sysroot: apt knows no arm64 packages, see the head of this file"; exit 1; }
(cd "$sysroot/packages" && apt-get -q download "${packages[@]}")
for package in "$sysroot"/packages/*.deb; do dpkg-deb -x "$package" "$sysroot"; done
rm -r "$sysroot/packages"
touch "$sysroot/complete"
echo "aarch64_sysroot: ${#packages[@]} packages in $sysroot"
