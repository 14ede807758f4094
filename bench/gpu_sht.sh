#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Transforms on a GPU: builds a release, compares every device with the CPU, then times device memory to device memory: maps
# and batches of maps.
# usage: bench/gpu_sht.sh [build directory [--kernels] [--sweep]]
set -e
cd "$(dirname "$0")/.."
build=${1:-build/gpu}
[ $# -gt 0 ] && shift
. bench/gpu_build.sh
gpu_build "$build" t380_gpu_sht t391_gpu_batches t388_gpu_speed t390_gpu_acceptance
status=0
"$build/tests/t380_gpu_sht" || status=$?
"$build/tests/t390_gpu_acceptance" || status=$?
"$build/tests/t388_gpu_speed" || status=$?
"$build/tests/t391_gpu_batches" "$@" || status=$?
[ $# -eq 0 ] || "$build/tests/t388_gpu_speed" "$@" || status=$?
exit $status
