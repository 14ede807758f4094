#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Banded solves and products on a GPU: builds a release, compares every device with sums in 113 bits, then times them over
# sizes and draws rates.
# usage: bench/gpu_banded.sh [build directory [device [png]]]
set -e
cd "$(dirname "$0")/.."
build=${1:-build/gpu}
. bench/gpu_build.sh
gpu_build "$build" banded_solves banded_gpu kugel
status=0
"$build/tests/banded_solves" || status=$?
"$build/tests/banded_gpu" || status=$?
python3 bench/banded.py --device "${2:-cuda:0}" ${3:+--png "$3"} now="$build/libkugel.so" || status=$?
exit $status
