# SPDX-License-Identifier: BSD-3-Clause
# For the scripts of this folder, which source it: finds the driver and NVRTC where the loader does not know them, and
# builds targets of a release without file libraries.
# usage: gpu_build DIRECTORY TARGET...
for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib; do
  [ -e $folder/libcuda.so.1 ] && export LD_LIBRARY_PATH=$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
done
packages=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])' 2>/dev/null || true)
for library in "${CUDA_HOME:-/usr/local/cuda}"/lib64/libnvrtc.so.1[23] /usr/local/cuda*/lib64/libnvrtc.so.1[23] \
  "$packages"/nvidia/cu13/lib/libnvrtc.so.1[23] "$packages"/nvidia/cuda_nvrtc/lib/libnvrtc.so.1[23]; do
  [ -z "$KUGEL_NVRTC" ] && [ -e "$library" ] && export KUGEL_NVRTC="$library"
done

gpu_build() {
  build=$1
  shift
  log="${TMPDIR:-/tmp}/gpu_build.log"
  ninja=$(command -v ninja >/dev/null && echo "-G Ninja" || true)
  { cmake $ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DKUGEL_FILES=OFF &&
    cmake --build "$build" -j "$(nproc)" --target "$@"; } >"$log" 2>&1 || { tail -20 "$log"; exit 1; }
}
