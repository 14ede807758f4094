#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Reorders on a GPU: builds a release, checks every pair of orders on every device, then rates beside those of plain copies.
# usage: bench/gpu_reorder.sh [build directory]
set -e
cd "$(dirname "$0")/.."
build=${1:-build/gpu}
. bench/gpu_build.sh
gpu_build "$build" healpix_reorder_gpu bench_reorder
status=0
"$build/tests/healpix_reorder_gpu" || status=$?
"$build/bench/bench_reorder" || status=$?
exit $status
