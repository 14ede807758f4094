#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks with a GPU each, as threads of one process (no MPI): exchanges between the GPUs by NCCL and by way of the host, and
# transforms over them beside one GPU without ranks; before that, the bits.
# usage: bench/gpu_ranks.sh [NUMBER OF GPUS]   2 unless given
cd "$(dirname "$0")/.." || exit 1
. bench/gpu_build.sh
n=${1:-2}
started=$SECONDS
gpu_build build/gpu wire_exchange sphere_sht_ranks_device sphere_sht_ranks_late bench_ranks_gpu
program=build/gpu/bench/bench_ranks_gpu
say() { echo "[$((SECONDS - started)) s] $*"; }
try() { # SECONDS COMMAND...
  local limit=$1
  shift
  timeout -k 5 "$limit" "$@" || say "ended with $? (124: the limit of $limit s): $*"
}
say "built; $(nproc) CPUs"
nvidia-smi --query-gpu=index,name --format=csv,noheader 2>/dev/null
try 30 build/gpu/tests/wire_exchange | tail -15
for way in nccl copy; do
  KUGEL_PEERS=$way try 25 $program exchange "--ranks=$n"
done
say "transforms"
KUGEL_PEERS=auto try 75 $program sht "--ranks=0,1,$n"
for pieces in 1 2 8; do # the plan's own choice is 4
  KUGEL_PEERS=auto try 20 $program sht "--ranks=$n" --pieces=$pieces
done
KUGEL_PEERS=copy try 30 $program sht "--ranks=$n"
say "bits"
limit=$((230 - SECONDS + started))
[ $limit -gt 10 ] && try $limit build/gpu/tests/sphere_sht_ranks_late | tail -8
limit=$((230 - SECONDS + started))
[ $limit -gt 10 ] && try $limit build/gpu/tests/sphere_sht_ranks_device | tail -25
say "done"
