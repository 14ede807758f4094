#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Scalars in the ball on one device, one way, beside the floor by bytes and by operations.

usage: bench/gpu_ball.py LIBKUGEL [--device cuda:0 or cuda:0,1] [--lmax 255] [--seconds 2] [--flops 16.75e12] [--json FILE]

Needs the built library and NumPy alone. L = lmax, N = L + 1, rhomboidal truncation, the smallest grid of one field, arrays in the device's
memory, float64 and float32: rows "ball L=255, N=256, one way", synthesis and analysis, and the Laplacian of coefficients, whose floor is one
reading and one writing of them. Times: median over calls in groups that take turns, each group queued and waited for; analysis waits for its check of values in each call.

Floors: coefficients read and values written once over the rate of a copy measured here; operations of rotations (4, 2 of them fused), cosine
transforms, Legendre sums (2, fused, per coefficient, pair of rings and radius; the recurrences are shared by radii) and Fourier
transforms, over --flops, fused operations per second without tensor cores (float32: twice as many). "share" is the larger floor over
the time. "stages": the bytes that all launches read and write, over the same rate. Predicted on an H200, not measured: floor by bytes 0.13 ms at 4.0 TB/s,
by operations 0.65 ms, of which 0.40 are rotations and 0.19 Legendre sums.
"""
import argparse
import ctypes
import json
import sys
import time

import numpy as np

import gpu_side
from gpu_side import Memory, check, copy_rate, some_random, timed

C = ctypes


class Ball(C.Structure):
    _fields_ = [("size", C.c_size_t), ("lmax", C.c_int64), ("mmax", C.c_int64), ("n", C.c_int64), ("truncation", C.c_int), ("dmax", C.c_int64),
                ("type", C.c_int), ("engine", C.c_int), ("precision", C.c_int), ("vectors", C.c_int), ("factors", C.c_int), ("nr", C.c_int64),
                ("ntheta", C.c_int64), ("nphi", C.c_int64), ("radii", C.c_void_p), ("sphere", C.c_void_p)]


class BallInfo(C.Structure):
    _fields_ = [("size", C.c_size_t), ("lmax", C.c_int64), ("mmax", C.c_int64), ("n", C.c_int64), ("nlm", C.c_int64), ("nr", C.c_int64),
                ("ntheta", C.c_int64), ("nphi", C.c_int64), ("parts", C.c_int64), ("table_bytes", C.c_uint64), ("scalar_bytes", C.c_uint64),
                ("vector_bytes", C.c_uint64)]


def ball(lmax, single, seconds, rate, flops):
    """Scalars in the ball, one way: times, floors and the largest error of synthesis followed by analysis."""
    o, plan, info = Ball(size=C.sizeof(Ball), lmax=lmax, n=lmax + 1, precision=int(single)), C.c_void_p(), BallInfo(size=C.sizeof(BallInfo))
    begin = time.perf_counter()
    check(lib.kugel_ball_create(ctx, C.byref(o), C.byref(plan)))
    made = time.perf_counter() - begin
    check(lib.kugel_ball_get_info(plan, C.byref(info)))
    nlm, n, nr, ntheta, nphi, word = info.nlm, info.n, info.nr, info.ntheta, info.nphi, 4 if single else 8
    dtype = np.float32 if single else np.float64
    c, f, d = Memory((nlm, n), dtype, 2), Memory((nr, ntheta, nphi), dtype), Memory((nlm, n), dtype, 2)
    a, b, e = c.view(), f.view(), d.view()
    start = some_random((nlm, n, 2), dtype).view(np.complex64 if single else np.complex128)[..., 0].copy()
    start[[l * (l + 1) // 2 for l in range(lmax + 1)]] = 1  # of order 0: real
    back = np.empty_like(start)
    check(lib.kugel_device_upload(ctx, c.base, C.c_size_t(0), C.c_void_p(start.ctypes.data), C.c_size_t(c.bytes), None))
    calls = [lambda: check(lib.kugel_ball_synthesis(plan, 0, C.byref(a), C.byref(b), queue)),
             lambda: check(lib.kugel_ball_analysis(plan, 0, C.byref(b), C.byref(a), queue)),
             lambda: check(lib.kugel_ball_apply(plan, 3, C.byref(a), C.byref(e), queue))]
    for call in calls:
        call()
    check(lib.kugel_device_download(ctx, C.c_void_p(back.ctypes.data), c.base, C.c_size_t(0), C.c_size_t(c.bytes), queue))
    check(lib.kugel_queue_wait(queue))
    error = float(abs(back - start).max() / abs(start).max())
    times = timed(calls, seconds)
    cells = sum(2 * (l + 1) * sum(n + j for j in range(l // 2)) for l in range(lmax + 1))
    waves = 2 * nlm * 1.25 * nr * np.log2(nr)
    sums = 2 * nlm * ((ntheta + 1) // 2) * nr
    rings = 1.25 * nphi * np.log2(nphi) * ntheta * nr
    rows, lines, fourier = 2 * word * nlm * nr, 2 * 8 * nlm * nr, 2 * 8 * (lmax + 1) * ntheta * nr
    stages = c.bytes + f.bytes + 2 * (rows + lines + fourier) + 4 * word * nlm * nr + 2 * word * nlm * nr  # the chain and the waves: in place
    row = {"L": lmax, "N": n, "grid": [nr, ntheta, nphi], "engine": "ball", "precision": "f32" if single else "f64", "synthesis_s": times[0],
           "analysis_s": times[1], "laplacian_s": times[2], "floor_laplacian_s": 2 * c.bytes / rate, "plan_s": made,
           "error": error, "floor_bytes_s": (c.bytes + f.bytes) / rate, "stages_bytes_s": stages / rate,
           "floor_operations_s": (4 * cells + waves + sums + rings) / flops / (2 if single else 1)}
    best = max(row["floor_bytes_s"], row["floor_operations_s"])
    row |= {"share": best / row["synthesis_s"], "share_analysis": best / row["analysis_s"]}
    print(f"ball L={lmax}, N={n}, one way, {row['precision']}: synthesis {times[0] * 1e3:.3f} ms, analysis {times[1] * 1e3:.3f} ms; floor by bytes"
          f" {row['floor_bytes_s'] * 1e3:.3f} ms, by operations {row['floor_operations_s'] * 1e3:.3f} ms, stages {row['stages_bytes_s'] * 1e3:.3f} ms;"
          f" share of the roofline {row['share']:.2f} and {row['share_analysis']:.2f}; there and back {error:.1e}; Laplacian {times[2] * 1e3:.3f} ms, floor"
          f" {2 * c.bytes / rate * 1e3:.3f} ms", flush=True)
    c.free()
    f.free()
    d.free()
    lib.kugel_ball_destroy(plan)
    return row


parser = argparse.ArgumentParser()
parser.add_argument("library")
parser.add_argument("--device", default="cuda:0")
parser.add_argument("--lmax", type=int, default=255)
parser.add_argument("--seconds", type=float, default=2)
parser.add_argument("--flops", type=float, default=33.5e12 / 2)
parser.add_argument("--json")
args = parser.parse_args()
lib, ctx, queue, _ = gpu_side.open_device(args.library, args.device)
rate = copy_rate()
report = {"device": args.device, "copy_bytes_per_s": rate, "rows": []}
print(f"{args.device}: {rate / 1e12:.2f} TB/s read and written")
for single in (False, True):
    report["rows"].append(ball(args.lmax, single, args.seconds, rate, args.flops))
if args.json:
    with open(args.json, "w") as file:
        json.dump(report, file, indent=1)
sys.exit(0)
