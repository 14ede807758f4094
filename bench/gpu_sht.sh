#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Transforms on a GPU: builds a release, compares every device with the CPU, then times device memory to device memory.
# usage: bench/gpu_sht.sh [build directory [--kernels] [--sweep]]
set -e
cd "$(dirname "$0")/.."
build=${1:-build/gpu}
[ $# -gt 0 ] && shift
for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib; do # the driver and NVRTC, where the loader does not know them
  [ -e $folder/libcuda.so.1 ] && export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
for library in "${CUDA_HOME:-/usr/local/cuda}"/lib64/libnvrtc.so.1[23] /usr/local/cuda*/lib64/libnvrtc.so.1[23]; do
  [ -z "$KUGEL_NVRTC" ] && [ -e "$library" ] && export KUGEL_NVRTC="$library"
done
ninja=$(command -v ninja >/dev/null && echo "-G Ninja" || true)
cmake $ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DKUGEL_FILES=OFF >"${TMPDIR:-/tmp}/gpu_sht.log"
cmake --build "$build" -j "$(nproc)" --target t380_gpu_sht t388_gpu_speed >>"${TMPDIR:-/tmp}/gpu_sht.log"
status=0
"$build/tests/t380_gpu_sht" || status=$?
"$build/tests/t388_gpu_speed" || status=$?
[ $# -eq 0 ] || "$build/tests/t388_gpu_speed" "$@" || status=$?
exit $status
