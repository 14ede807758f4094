#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Transforms larger than the device, and on two GPUs of one host: correctness against closed forms, times, memory; the
# exchanges between GPUs by NCCL and by copies.
# usage: bench/gpu_large.sh [DEVICES]   cuda:0,1 unless given; "cuda:0" for one GPU alone
. "$(dirname "$0")/gpu_build.sh"
cd "$(dirname "$0")/.." || exit 1
devices=${1:-cuda:0,1}
gpu_build build/gpu device_exchange sphere_sht_parts sphere_sht_devices sphere_sht_large
large=build/gpu/tests/sphere_sht_large
timeout 60 $large cuda:0 4096 8192 0 4 resident # in memory of the first device
timeout 60 $large cuda:0 4096 8192 0 4          # in host memory
timeout 60 $large cuda:0 8192 16384 20e9 3 resident
timeout 120 $large cuda:0 8192 16384 20e9 3
timeout 120 build/gpu/tests/sphere_sht_parts | tail -20
[ "$devices" = cuda:0 ] && exit
timeout 60 build/gpu/tests/device_exchange
for way in copy nccl; do
  KUGEL_PEERS=$way timeout 60 $large "$devices" 4096 8192 0 4 resident
  KUGEL_PEERS=$way timeout 120 build/gpu/tests/sphere_sht_devices | tail -20
done
timeout 60 $large "$devices" 4096 8192 0 4
timeout 120 $large "$devices" 16384 32768 60e9 1
