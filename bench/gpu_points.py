#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Harmonic sums at random points of the sphere on one GPU: synthesis and adjoint beside their floors.

usage: bench/gpu_points.py [--device cuda:0] [--json FILE] [--only TEXT] [--repeats N] [--smoke]

Needs the library and NumPy only. Milliseconds, medians of 5 groups of executions with arrays in device memory and sorted points, on a
queue; the time to sort points apart. The error is relative, of the values at 1000 points, against the plan on the CPU at 1e-13; that of
the adjoint is the difference of both sides of <S a, f> = <a, S^T f> over the product of the norms.

The floor is a sum of three, each the larger of arithmetic (33.5e12 multiply-adds per second in float, 16.7e12 in double: H200) and
device memory (4.3e12 bytes/s). Legendre sums: 3 multiply-adds per coefficient and ring pair (5 with a spin), sums written, read. FFTs:
the circles written, read and written by their own FFT, then those of the fine grid, only where it holds modes. Points: 2 width^2
multiply-adds, index, place, fractions, phase, number and value of each, the fine grid once.
"""
import argparse
import ctypes
import json
import pathlib
import statistics
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import kugel  # noqa: E402
from kugel._lib import lib  # noqa: E402
from kugel.arrays import make_view, dtype_of  # noqa: E402
from kugel.hardware import context  # noqa: E402

MEMORY, FMA = 4.3e12, {"f32": 33.5e12, "f64": 16.7e12}
# name, lmax, points, spin, precision, tolerance, aim in ms
CASES = [
    ("lmax 1023 f64 1e-5", 1023, 10**6, 0, "f64", 1e-5, 5),
    ("lmax 1023 f32 1e-5", 1023, 10**6, 0, "f32", 1e-5, 5),
    ("lmax 1023 spin 2 f64 1e-5", 1023, 10**6, 2, "f64", 1e-5, None),
    ("lmax 1023 spin 2 f32 1e-5", 1023, 10**6, 2, "f32", 1e-5, None),
    ("lmax 1023 f64 1e-10", 1023, 10**6, 0, "f64", 1e-10, None),
    ("lmax 3000 f32 1e-5", 3000, 10**7, 0, "f32", 1e-5, None),
]
SMOKE = [("smoke", 20, 500, 0, "f64", 1e-4, None)]


def floor_of(lmax, n, spin, precision, fft, ntheta):
    """Seconds of Legendre sums, FFTs and points; fft: the non-uniform FFT's plan."""
    maps, size, pairs = 2 if spin else 1, 4 if precision == "f32" else 8, (ntheta + 1) // 2
    orders, circle = fft.n
    nalm = (lmax + 1) * (lmax + 2) / 2
    sums = 32.0 * maps * orders * pairs
    legendre = max((5 if spin else 3) * maps * nalm * pairs / FMA["f64"], (2 * sums + 16 * maps * nalm) / MEMORY)
    fine = float(np.prod(fft.fine))
    cells = [orders * circle * k for k in (1, 2, 1)] + [orders * circle + orders * fft.fine[1], orders * fft.fine[1] + fine]
    grids = 2 * size * maps * sum(cells) / MEMORY
    traffic = maps * (2 * size * fine + n * (8 + 2 * size + 2 * size + 4 * size + size))
    return legendre, grids, max(2 * fft.width**2 * n * maps / FMA[precision], traffic / MEMORY)


class Case:
    def __init__(self, device, lmax, n, spin, precision, tolerance):
        rng = np.random.default_rng(5)
        sets = 2 if spin else 1
        l, m = kugel.Alm.getlm(lmax)
        alm = rng.normal(size=(sets, len(l))) + 1j * rng.normal(size=(sets, len(l))) * (m > 0)
        self.host = np.where(l >= spin, alm, 0).astype(np.complex64 if precision == "f32" else np.complex128)
        self.theta, self.phi = np.arccos(rng.uniform(-1, 1, n)), rng.uniform(0, 2 * np.pi, n)
        self.twice, self.ctx, self.n = 1 + (m > 0), context(device), n
        start = time.perf_counter()
        self.plan = kugel.points.Plan(lmax, spin=spin, tolerance=tolerance, precision=precision, device=device)
        self.made = time.perf_counter() - start
        self.there = [kugel.DeviceArray(a, device=device) for a in (self.theta, self.phi)]
        real = np.float32 if precision == "f32" else np.float64
        self.alm, self.values = kugel.DeviceArray(self.host, device=device), kugel.DeviceArray((sets, n), real, device)
        self.back = kugel.DeviceArray(self.host.shape, self.host.dtype, device)
        queue = ctypes.c_void_p()
        lib.kugel_queue_create(self.ctx.address, ctypes.byref(queue))
        self.queue = queue.value

    def _view(self, a):
        return make_view(a._handle.address, self.ctx.type, self.ctx.id, dtype_of(a.dtype), a.shape, None, a)

    def set_points(self):
        start = time.perf_counter()
        self.points = self.plan.points(*self.there)
        return time.perf_counter() - start

    def execute(self, adjoint, repeats):
        function = lib.kugel_sht_points_adjoint if adjoint else lib.kugel_sht_points_synthesis
        views = [self._view(a) for a in ((self.values, self.back) if adjoint else (self.alm, self.values))]
        lib.kugel_queue_wait(self.queue)
        start = time.perf_counter()
        for _ in range(repeats):
            function(self.points._handle.address, ctypes.byref(views[0]), ctypes.byref(views[1]), self.queue)
        lib.kugel_queue_wait(self.queue)
        return (time.perf_counter() - start) / repeats

    def errors(self, spin):
        """Of the values, and of the adjoint identity with the values as f."""
        k = min(1000, self.n)
        plan = kugel.points.Plan(self.plan.lmax, spin=spin, tolerance=1e-13)
        host = self.host.astype(np.complex128)
        want = np.atleast_2d(plan.points(self.theta[:k], self.phi[:k]).synthesis(host if spin else host[0]))
        got = self.values.get()
        f = got.astype(float)
        right = ((host * self.back.get().astype(np.complex128).conj()).real * self.twice).sum()
        return np.linalg.norm(got[:, :k] - want) / np.linalg.norm(want), abs((f * f).sum() - right) / (f * f).sum()

    def close(self):
        lib.kugel_queue_destroy(self.queue)


def rows_of(case, args):
    name, lmax, n, spin, precision, tolerance, aim = case
    own = Case(args.device, lmax, n, spin, precision, tolerance)
    repeats = 1 if args.smoke else args.repeats
    own.set_points()
    times, setting, same = {False: [], True: []}, [], True
    for adjoint in times:
        own.execute(adjoint, 2)
    for _ in range(5):
        setting.append(own.set_points())
        for adjoint in times:
            times[adjoint].append(own.execute(adjoint, repeats))
    first = own.values.get(), own.back.get()
    for adjoint, before in zip(times, first):
        own.execute(adjoint, 1)
        same = same and np.array_equal(before, (own.back if adjoint else own.values).get())
    ntheta = kugel_info(own.plan).ntheta
    fft = kugel.nufft.Plan((lmax + 1, 2 * (ntheta - 1)), "to_points", tolerance=0.5 * tolerance, sign=1, precision=precision, device=args.device)
    floor = floor_of(lmax, n, spin, precision, fft, ntheta)
    errors = own.errors(spin)
    out = []
    for adjoint in times:
        ms = 1e3 * statistics.median(times[adjoint])
        out.append({"case": name, "direction": "adjoint" if adjoint else "synthesis", "lmax": lmax, "points": n, "spin": spin,
                    "precision": precision, "tolerance": tolerance, "width": fft.width, "fine": list(fft.fine), "ms": ms,
                    "set_ms": 1e3 * statistics.median(setting), "plan_s": own.made, "floor_ms": 1e3 * sum(floor),
                    "floor_parts_ms": [1e3 * f for f in floor], "error": float(errors[adjoint]), "same_bits": bool(same), "aim_ms": aim})
        r = out[-1]
        print(f"| {name} | {r['direction']} | {fft.width} | {ms:.3f} | {r['set_ms']:.3f} | {r['floor_ms']:.3f} | {aim or '-'} | "
              f"{r['error']:.1e} | {'yes' if same else 'NO'} |", flush=True)
    own.close()
    return out


def kugel_info(plan):
    from kugel import _ffi
    from kugel._lib import options
    info = options(_ffi.kugel_sht_points_info)
    lib.kugel_sht_points_get_info(plan._handle.address, info)
    return info


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--smoke", action="store_true", help="one small case")
    args = parser.parse_args()
    rows = []
    print("| case | direction | width | ms | setting, ms | floor | aim | error | same bits |")
    print("|---" * 9 + "|")
    for case in SMOKE if args.smoke else CASES:
        if args.only in case[0]:
            rows += rows_of(case, args)
            if args.json:  # after each case: a run that is cut short keeps its figures
                described = next((d for d in kugel.devices() if d["name"] == args.device), {})
                pathlib.Path(args.json).write_text(json.dumps({"device": described.get("description", args.device), "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
