#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Banded solves on a GPU: builds a release, compares every device with sums in 113 bits, then draws rates over sizes.
# usage: bench/gpu_banded.sh [build directory [device [png]]]
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
cmake $ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DKUGEL_FILES=OFF >"${TMPDIR:-/tmp}/gpu_banded.log"
cmake --build "$build" -j "$(nproc)" --target t400_banded t410_gpu kugel >>"${TMPDIR:-/tmp}/gpu_banded.log"
status=0
"$build/tests/t400_banded" || status=$?
"$build/tests/t410_gpu" || status=$?
python3 bench/banded.py "$build/libkugel.so" "${2:-cuda:0}" ${3:+"$3"} || status=$?
exit $status
