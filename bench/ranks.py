#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Transforms over ranks: mpirun -n N python bench/ranks.py [nside] [lmax] [repetitions]. One thread per rank unless
KUGEL_NUM_THREADS says otherwise. Rank 0 prints medians of the slowest rank's seconds, beside a plan without ranks that rank 0
runs in between while the others wait; and rank 0's processor time, which other work on the machine disturbs less."""
import os
import statistics
import sys
import time

os.environ.setdefault("KUGEL_NUM_THREADS", "1")
import numpy as np

import kugel

nside, lmax, repetitions = (int(a) for a in (sys.argv[1:] + ["512", "1024", "5"][len(sys.argv) - 1:]))
comm = kugel.Comm.world()
sht = kugel.SHT(nside, lmax, comm=comm)
alone = kugel.SHT(nside, lmax) if comm.rank == 0 else None
rng = np.random.default_rng(1)
nalm = (lmax + 1) * (lmax + 2) // 2
alm = rng.normal(size=nalm) + 1j * rng.normal(size=nalm) if comm.rank == 0 else None
part = sht.alm_layout.scatter(alm)
sky = sht.synthesis(part)
back = sht.synthesis_adjoint(sky)
times = {name: [] for name in ("synthesis", "adjoint", "gather", "alone synthesis", "alone adjoint")}
cpu = {name: [] for name in times}


def clock(name, work):
    comm.barrier()
    started, used = time.perf_counter(), time.process_time()
    out = work()
    cpu[name].append(time.process_time() - used)
    comm.barrier()
    times[name].append(time.perf_counter() - started)
    return out


layout = sht.map_layout
for _ in range(repetitions):
    clock("synthesis", lambda: sht.synthesis(part, out=sky))
    clock("adjoint", lambda: sht.synthesis_adjoint(sky, out=back))
    whole = clock("gather", lambda: layout.gather(sky))
    one = clock("alone synthesis", lambda: alone and alone.synthesis(alm))
    dual = clock("alone adjoint", lambda: alone and alone.synthesis_adjoint(one))
back = sht.alm_layout.gather(back)
if comm.rank == 0:
    print(repr(comm), f"nside {nside}, lmax {lmax}, threads per rank {kugel.get_num_threads()}")
    for name, seconds in times.items():
        print(f"{name:16s} {1e3 * statistics.median(seconds):9.1f} ms   least {1e3 * min(seconds):9.1f} ms   "
              f"rank 0's processor {1e3 * statistics.median(cpu[name]):9.1f} ms")
    for name in ("synthesis", "adjoint"):
        print(f"{name} over ranks takes {statistics.median(times['alone ' + name]) / statistics.median(times[name]):.2f} times less "
              f"time, {statistics.median(cpu['alone ' + name]) / statistics.median(cpu[name]):.2f} times less of rank 0's processor")
    print("same bits as alone:", np.array_equal(whole, one) and np.array_equal(back, dual))
