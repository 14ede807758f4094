#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prepares Intel's OpenCL runtime for CPUs (some 400 MB from PyPI, no root) in build/opencl, or runs a command on it.
# usage: tools/opencl_drivers.sh [command ...]      e.g. tools/opencl_drivers.sh ctest --preset release -L device
# Another driver: put its library's path in build/opencl/<name>/vendors/<name>.icd and set OCL_ICD_VENDORS to that folder.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
intel=$root/build/opencl/intel
if [[ ! -e $intel/vendors/intel.icd ]]; then
  mkdir -p "$intel/vendors"
  [[ -x $intel/bin/pip ]] || python3 -m venv "$intel"
  "$intel/bin/pip" install -q intel-opencl-rt intel-cmplr-lib-rt # the second has the vector functions
  echo "$intel/lib/libintelocl.so" >"$intel/vendors/intel.icd"   # the wheel's own names a path of the build machine
fi
(($#)) || { echo "Intel's OpenCL is in $intel; to use it: ${BASH_SOURCE[0]} <command>"; exit 0; }
# The runtime's libraries, and the loader beside them: Debian's does not find a driver that is not installed.
exec env LD_LIBRARY_PATH="$intel/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" OCL_ICD_VENDORS="$intel/vendors" "$@"
