#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Transforms on a GPU: builds a release, compares every device with the CPU, then times device memory to device memory.
# usage: bench/gpu_sht.sh [build directory]
set -e
cd "$(dirname "$0")/.."
build=${1:-build/gpu}
ninja=$(command -v ninja >/dev/null && echo "-G Ninja" || true)
cmake $ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DKUGEL_FILES=OFF >"${TMPDIR:-/tmp}/gpu_sht.log"
cmake --build "$build" -j "$(nproc)" --target t380_gpu_sht t388_gpu_speed >>"${TMPDIR:-/tmp}/gpu_sht.log"
status=0
"$build/tests/t380_gpu_sht" || status=$?
"$build/tests/t388_gpu_speed" || status=$?
exit $status
