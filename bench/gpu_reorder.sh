#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Reorders on a GPU: builds a release, checks every pair of orders on every device, then rates beside those of plain copies.
# usage: bench/gpu_reorder.sh [build directory]
set -e
cd "$(dirname "$0")/.."
build=${1:-build/gpu}
for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib; do # the driver and NVRTC, where the loader does not know them
  [ -e $folder/libcuda.so.1 ] && export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
for library in "${CUDA_HOME:-/usr/local/cuda}"/lib64/libnvrtc.so.1[23] /usr/local/cuda*/lib64/libnvrtc.so.1[23]; do
  [ -z "$KUGEL_NVRTC" ] && [ -e "$library" ] && export KUGEL_NVRTC="$library"
done
ninja=$(command -v ninja >/dev/null && echo "-G Ninja" || true)
cmake $ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DKUGEL_FILES=OFF >"${TMPDIR:-/tmp}/gpu_reorder.log"
cmake --build "$build" -j "$(nproc)" --target t258_reorder_gpu t259_reorder_speed >>"${TMPDIR:-/tmp}/gpu_reorder.log"
status=0
"$build/tests/t258_reorder_gpu" || status=$?
"$build/tests/t259_reorder_speed" || status=$?
exit $status
