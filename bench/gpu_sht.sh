#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Transforms on a GPU: builds a release, compares every device with the CPU, then times device memory to device memory.
# usage: bench/gpu_sht.sh [build directory [--kernels] [--sweep]]
set -e
cd "$(dirname "$0")/.."
build=${1:-build/gpu}
[ $# -gt 0 ] && shift
. bench/gpu_build.sh
gpu_build "$build" t380_gpu_sht t388_gpu_speed
status=0
"$build/tests/t380_gpu_sht" || status=$?
"$build/tests/t388_gpu_speed" || status=$?
[ $# -eq 0 ] || "$build/tests/t388_gpu_speed" "$@" || status=$?
exit $status
