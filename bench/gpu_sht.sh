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
gpu_build "$build" sphere_sht_gpu sphere_sht_gpu_batches bench_sht_gpu sphere_sht_gpu_acceptance
status=0
"$build/tests/sphere_sht_gpu" || status=$?
"$build/tests/sphere_sht_gpu_acceptance" || status=$?
"$build/bench/bench_sht_gpu" || status=$?
"$build/tests/sphere_sht_gpu_batches" "$@" || status=$?
[ $# -eq 0 ] || "$build/bench/bench_sht_gpu" "$@" || status=$?
exit $status
