#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Checks Kugel on this machine's GPUs: builds what needs no file libraries, runs the tests of devices and kernels, prints
# bandwidths and launch times. Needs gcc, CMake, an NVIDIA driver and NVRTC (or an OpenCL driver); fetches nothing.
# usage: bench/device_check.sh [-o folder] [-r regex] [-s]
#   -o folder  logs and figures go there (default: build/device-check)
#   -r regex   more tests for ctest, besides those of devices and generated code
#   -s         also run the kernel tests under compute-sanitizer
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=${OUT:-build/device-check} more='^$' sanitize=0
while getopts o:r:sh option; do
  case $option in
    o) out=$OPTARG ;;
    r) more=$OPTARG ;;
    s) sanitize=1 ;;
    *) sed -n '3,9s/^# //p' "$0"; exit $([[ $option == h ]] && echo 0 || echo 2) ;;
  esac
done
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
build=build/device-check-build
failed=()

# Run a step with its log; its last lines are shown.
step() {
  local name=$1 seconds=$2 start=$SECONDS status
  shift 2
  timeout "$seconds" "$@" >"$out/$name.log" 2>&1
  status=$?
  echo "== $name: $([[ $status == 0 ]] && echo ok || echo "FAILED ($status)"), $((SECONDS - start)) s"
  [[ $status == 0 ]] || { failed+=("$name"); tail -25 "$out/$name.log"; }
  return $status
}

# The driver and NVRTC, where the loader does not know them.
for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib/x86_64-linux-gnu; do
  if ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1' && [[ -e $folder/libcuda.so.1 ]]; then
    export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  fi
done
if [[ -z ${KUGEL_NVRTC:-} ]] && ! ldconfig -p 2>/dev/null | grep -q 'libnvrtc\.so\.1[23]'; then
  for root in "${CUDA_HOME:-/usr/local/cuda}"/lib64 /usr/local/cuda*/lib64 \
    "$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2>/dev/null)"/nvidia/{cu13,cuda_nvrtc}/lib; do
    for library in "$root"/libnvrtc.so.1[23]; do
      if [[ -e $library ]]; then
        export KUGEL_NVRTC=$library
        break 2
      fi
    done
  done
fi
export KUGEL_CACHE=$out/cache
{
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem --format=csv,noheader
  echo "NVRTC: ${KUGEL_NVRTC:-found by the loader}"
  uname -sr
  nproc
} 2>&1 | tee "$out/machine.txt"

generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
step configure 120 cmake "${generator[@]}" -S . -B $build -DCMAKE_BUILD_TYPE=Release -DKUGEL_FILES=OFF || exit 1
step build 900 cmake --build $build -j "$(nproc)" || exit 1
step tests 400 ctest --test-dir $build --output-on-failure -E '^bench_|device_conformance$|codegen_modules' -L device -j 4
[[ $more == '^$' ]] || step more 400 ctest --test-dir $build --output-on-failure -R "$more" -j 4
grep -E '^ *[0-9]+/[0-9]+ Test|tests passed|skipped' "$out/tests.log"
for log in conformance:device_conformance modules:codegen_modules; do
  step "${log%%:*}" 200 env KUGEL_TEST_DATA="$PWD/tests/data" $build/tests/"${log##*:}"
  grep -E 'skipped|without|FAIL|passed' "$out/${log%%:*}.log"
done
step speed 300 $build/bench/bench_device
cat "$out/speed.log"
if ((sanitize)) && command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck; do
    step "sanitizer-$tool" 300 env KUGEL_TEST_DATA="$PWD/tests/data" compute-sanitizer --tool $tool --report-api-errors no \
      --error-exitcode 9 $build/tests/codegen_modules
    grep 'ERROR SUMMARY' "$out/sanitizer-$tool.log"
  done
fi
rm -rf "$out/cache"
if ((${#failed[@]})); then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "all steps passed"
