#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# kugel.torch, kugel.jax and device arrays on a GPU: builds the library, runs their tests, then times kugel.torch. Needs a
# python3 with torch, and jax for its tests.
# usage: bench/gpu_autograd.sh [build directory]
set -e
cd "$(dirname "$0")/.."
build=${1:-build/gpu}
for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib; do # the driver, where the loader does not know it
  [ -e $folder/libcuda.so.1 ] && export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
for library in "${CUDA_HOME:-/usr/local/cuda}"/lib64/libnvrtc.so.1[23] /usr/local/cuda*/lib64/libnvrtc.so.1[23]; do
  [ -z "$KUGEL_NVRTC" ] && [ -e "$library" ] && export KUGEL_NVRTC="$library"
done
ninja=$(command -v ninja >/dev/null && echo "-G Ninja" || true)
cmake $ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DKUGEL_FILES=OFF >"${TMPDIR:-/tmp}/gpu_autograd.log"
cmake --build "$build" -j "$(nproc)" --target kugel >>"${TMPDIR:-/tmp}/gpu_autograd.log"
export KUGEL_LIBRARY="$(cd "$build" && pwd)/libkugel.so" PYTHONPATH="$PWD/python" XLA_PYTHON_CLIENT_PREALLOCATE=false
status=0
for test in test_device_arrays test_torch test_jax; do
  python3 -m pytest -q -rs tests/python/$test.py || status=$?
done
python3 bench/autograd.py || status=$?
exit $status
