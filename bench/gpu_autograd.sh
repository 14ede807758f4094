#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# kugel.torch, kugel.jax and device arrays on a GPU: builds the library, runs their tests, then times kugel.torch. Needs a
# python3 with torch, and jax for its tests.
# usage: bench/gpu_autograd.sh [build directory]
set -e
cd "$(dirname "$0")/.."
build=${1:-build/gpu}
. bench/gpu_build.sh
gpu_build "$build" kugel
export KUGEL_LIBRARY="$(cd "$build" && pwd)/libkugel.so" PYTHONPATH="$PWD/python" XLA_PYTHON_CLIENT_PREALLOCATE=false
status=0
for test in test_device_arrays test_torch test_jax; do
  python3 -m pytest -q -rs tests/python/$test.py || status=$?
done
python3 bench/autograd.py || status=$?
exit $status
