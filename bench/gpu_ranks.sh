#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks with a GPU each, as threads of one process (no MPI): exchanges between the GPUs by NCCL and by way of the host, and
# transforms, convolutions and deconvolutions over them beside one GPU without ranks; then the bits.
# usage: bench/gpu_ranks.sh [NUMBER OF GPUS [times|volumes|bits]]   2 unless given, times (volumes among them) and bits
# What tests and benchmarks print is kept whole in ${OUT:-build/gpu}; failures and last lines are shown.
cd "$(dirname "$0")/.." || exit 1
. bench/gpu_build.sh
n=${1:-2}
what=${2:-times bits}
started=$SECONDS
gpu_build build/gpu wire_exchange sphere_sht_ranks_device sphere_sht_ranks_late volume_ranks_device deconv_ranks_device bench_ranks_gpu \
  bench_volume_ranks_gpu bench_deconv_ranks_gpu
program=build/gpu/bench/bench_ranks_gpu
say() { echo "[$((SECONDS - started)) s] $*"; }
try() { # SECONDS COMMAND...
  local limit=$1
  shift
  timeout -k 5 "$limit" "$@" || say "ended with $? (124: the limit of $limit s): $*"
}
say "built; $(nproc) CPUs"
out=${OUT:-build/gpu}
mkdir -p "$out"
nvidia-smi --query-gpu=index,name --format=csv,noheader 2>/dev/null
run_test() { # SECONDS DEVICE PROGRAM
  local log="$out/$3-$2.txt"
  say "$3 on $2: $log"
  KUGEL_TEST_DEVICE=$2 try "$1" "build/gpu/tests/$3" >"$log" 2>&1
  grep -B 12 '^FAIL' "$log" | head -60
  tail -4 "$log"
}
bits() { # DEVICE
  run_test 60 "$1" wire_exchange
  run_test 60 "$1" sphere_sht_ranks_late
  run_test 90 "$1" sphere_sht_ranks_device
  run_test 90 "$1" volume_ranks_device
  run_test 240 "$1" deconv_ranks_device
}
volumes() { # of 1536^3 one GPU without ranks holds the whole transform
  say "volumes"
  local convolve=build/gpu/bench/bench_volume_ranks_gpu
  {
    KUGEL_PEERS=auto try 60 $convolve --n=1536 "--ranks=0,1,$n"
    KUGEL_PEERS=auto try 90 $convolve --n=2048 "--ranks=1,$n"
    KUGEL_PEERS=auto try 40 $convolve tiles --n=1536 --tile=384 "--ranks=1,$n" # the plan's own choice is 256
    KUGEL_PEERS=copy try 60 $convolve --n=1536 "--ranks=$n"
    KUGEL_PEERS=auto try 60 build/gpu/bench/bench_deconv_ranks_gpu --n=1024 "--ranks=0,1,$n"
    KUGEL_PEERS=auto try 90 build/gpu/bench/bench_deconv_ranks_gpu --n=1536 "--ranks=$n" rl biggs tv
  } 2>&1 | tee "$out/ranks-volume.txt"
}
times() {
  for way in nccl copy; do
    KUGEL_PEERS=$way try 25 $program exchange "--ranks=$n"
  done 2>&1 | tee "$out/ranks-exchange.txt"
  say "transforms"
  {
    KUGEL_PEERS=auto try 75 $program sht --stages "--ranks=0,1,$n"
    for pieces in 1 2 3 6 8; do # the plan's own choice is 4
      KUGEL_PEERS=auto try 20 $program sht --stages "--ranks=$n" --pieces=$pieces
    done
    KUGEL_PEERS=copy try 30 $program sht "--ranks=$n"
  } 2>&1 | tee "$out/ranks-sht.txt"
  volumes
}
case $what in *times*) times ;; *volumes*) volumes ;; esac
case $what in *bits*)
  bits cuda
  bits opencl
  ;;
esac
say "done"
