#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stencils on one GPU beside the copy rate measured in the same run.

usage: bench/gpu_stencil.py [--device cuda:0] [--json FILE] [--only TEXT] [--repeats N] [--smoke]

Needs the library and NumPy only. Milliseconds, medians of 7 groups of passes with arrays in device memory. The bytes of a pass are the
fields, coefficients and levels that it must read and write, each once; the rate is bytes over time, and the share is the rate over that of
a copy of one field in device memory (read and written), interleaved with the passes; the floor is the time of these bytes at that rate.
Must: a share of 0.85. The error is that of the first planes of nodes against the plan on the CPU, relative to the largest value.

All of order 8: bench/gpu_stencil.py --only "order 8"; all transposed steps: --only "transposed wave".
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
from kugel import _ffi  # noqa: E402
from kugel._lib import lib  # noqa: E402
from kugel.arrays import dtype_of, make_view  # noqa: E402
from kugel.hardware import context  # noqa: E402
from kugel.stencil import Plan, Term, laplacian  # noqa: E402

AXES = [(2, 0, 0), (0, 2, 0), (0, 0, 2)]
# name, what, order, precision, values read and written per node
CASES = [
    ("three fields order 2 f64", "fields", 2, "f64", 4),
    ("three fields order 4 f64", "fields", 4, "f64", 4),
    ("Laplacian order 8 f64", "laplacian", 8, "f64", 2),
    ("wave order 8 f64", "wave", 8, "f64", 4),
    ("Laplacian order 2 f64", "laplacian", 2, "f64", 2),
    ("Laplacian order 4 f64", "laplacian", 4, "f64", 2),
    ("Laplacian order 6 f64", "laplacian", 6, "f64", 2),
    ("Laplacian order 8 f32", "laplacian", 8, "f32", 2),
    ("wave order 8 f32", "wave", 8, "f32", 4),
    ("Laplacian order 8 f64 transposed, walls", "walls", 8, "f64", 2),
    ("wave order 2 f64", "wave", 2, "f64", 4),
    ("wave order 2 f64, several steps per pass", "waves", 2, "f64", 4),
    ("wave order 4 f64", "wave", 4, "f64", 4),
    ("wave order 4 f64, several steps per pass", "waves", 4, "f64", 4),
    ("wave order 2 f32", "wave", 2, "f32", 4),
    ("wave order 2 f32, several steps per pass", "waves", 2, "f32", 4),
    ("wave order 4 f32, several steps per pass", "waves", 4, "f32", 4),
    ("heat order 2 f64, Runge-Kutta, single stages", "heat", 2, "f64", 11),
    ("heat order 2 f64, Runge-Kutta, a step per pass", "heats", 2, "f64", 11),
    ("wave order 6 f64", "wave", 6, "f64", 4),
    ("wave order 6 f64, two steps per pass", "wave pairs", 6, "f64", 4),
    ("wave order 6 f32", "wave", 6, "f32", 4),
    ("wave order 6 f32, several steps per pass", "waves", 6, "f32", 4),
    ("wave order 8 f32, two steps per pass", "wave pairs", 8, "f32", 4),
    ("transposed wave order 8 f64", "back", 8, "f64", 4),
    ("transposed wave order 8 f64, walls", "back walls", 8, "f64", 4),
    ("transposed wave order 2 f64", "back", 2, "f64", 4),
    ("transposed wave order 2 f64, several steps per pass", "backs", 2, "f64", 4),
    ("transposed wave order 2 f64, walls", "back walls", 2, "f64", 4),
    ("transposed wave order 2 f64, walls, several steps per pass", "backs walls", 2, "f64", 4),
    ("transposed wave order 4 f32", "back", 4, "f32", 4),
    ("transposed wave order 4 f32, several steps per pass", "backs", 4, "f32", 4),
]
DT = 0.3
# of a call; several per pass: their bytes are counted as of single ones
STEPS = {"wave": 2, "waves": 40, "wave pairs": 40, "heat": 2, "heats": 10, "back": 2, "backs": 40, "back walls": 2, "backs walls": 40}
SINGLE = {"wave", "heat", "back", "back walls"}


def make_plan(what, n, order, precision, speed, device):
    if what == "fields":  # second derivatives of three functions along an axis each, added
        return Plan(n, [Term(d, 1.0, None, field) for field, d in enumerate(AXES)], order=order, fields=3, precision=precision, device=device)
    if what == "walls":
        return laplacian(n, order=order, boundary="odd", precision=precision, device=device)
    several = 1 if what in SINGLE else 2 if what == "wave pairs" else 0
    return laplacian(n, order=order, coefficient=speed, boundary="odd" if what.endswith(" walls") else "periodic", precision=precision,
                     device=device, steps_per_pass=several)


class Case:
    def __init__(self, case, n, device):
        self.name, self.what, order, precision, values = case
        self.n, dtype = n, np.dtype(np.float32 if precision == "f32" else np.float64)
        rng = np.random.default_rng(3)
        self.back = self.what.startswith("back")  # steps of the transpose of a wave
        self.wave, self.heat = self.what.startswith("wave") or self.back, self.what.startswith("heat")
        speed = (1 + 0.1 * rng.random(n)).astype(dtype) if self.wave else None
        start = time.perf_counter()
        self.plan = make_plan(self.what, n, order, precision, speed, device)
        self.made = time.perf_counter() - start
        self.reads = 2 if self.wave else {"fields": 3}.get(self.what, 1)
        shape = ((self.reads,) if self.reads > 1 else ()) + n
        self.given = rng.random(shape).astype(dtype)
        self.data = kugel.DeviceArray(self.given, device=device)
        self.out = kugel.DeviceArray(n, dtype, device)
        self.context = context(device)
        self.bytes = values * dtype.itemsize * int(np.prod(n))
        self.copied = 2 * dtype.itemsize * int(np.prod(n))
        self.want = self.on_cpu(order, precision, speed)
        queue = ctypes.c_void_p()
        lib.kugel_queue_create(self.context.address, ctypes.byref(queue))
        self.queue = queue.value
        lead = (2, 1) if self.wave else {"fields": (3,)}.get(self.what, (1,))
        one = (1,) + n
        self.views = [self.view(self.data, lead + n), self.view(self.out, one), self.view(self.data, one)]

    def view(self, a, shape):
        return make_view(a._handle.address, self.context.type, self.context.id, dtype_of(a.dtype), shape, None, a)

    def on_cpu(self, order, precision, speed):
        """What comes out in some planes, of a slab with as many more as a difference needs."""
        planes, reach = 4, order // 2
        size = planes + 12 * order  # the far end of the slab is not that of the grid
        slab = np.ascontiguousarray(self.given[..., :size, :, :])
        own = make_plan(self.what, slab.shape[-3:], order, precision, None if speed is None else speed[:size].copy(), None)
        if self.wave:
            out = (own.advance_adjoint if self.back else own.advance)(slab.copy(), DT, 4)[1]
        elif self.heat:
            out = own.advance(slab.copy(), DT / 4, 1, "runge_kutta")
        else:
            out = (own.adjoint if self.what == "walls" else own.apply)(slab)
        first = (4 if self.wave or self.heat else 1) * reach
        return first, out[first:first + planes].copy()

    def step(self):
        plan, views = self.plan._handle.address, [ctypes.byref(v) for v in self.views]
        if self.what in STEPS:
            method = _ffi.KUGEL_STENCIL_LEAPFROG if self.wave else _ffi.KUGEL_STENCIL_RUNGE_KUTTA
            function = lib.kugel_stencil_advance_adjoint if self.back else lib.kugel_stencil_advance
            function(plan, method, DT if self.wave else DT / 4, STEPS[self.what], views[0], self.queue)
        else:
            function = lib.kugel_stencil_adjoint if self.what == "walls" else lib.kugel_stencil_apply
            function(plan, views[0], views[1], self.queue)

    def copy(self):
        lib.kugel_array_copy(self.context.address, ctypes.byref(self.views[2]), ctypes.byref(self.views[1]), None, self.queue)

    def time(self, what, repeats):
        lib.kugel_queue_wait(self.queue)
        start = time.perf_counter()
        for _ in range(repeats):
            what()
        lib.kugel_queue_wait(self.queue)
        return (time.perf_counter() - start) / repeats

    def error(self):
        first, want = self.want
        if self.what in STEPS:
            (self.plan.advance_adjoint if self.back else self.plan.advance)(self.data, *((DT, 4) if self.wave else (DT / 4, 1, "runge_kutta")))
            got = self.data.get()[1] if self.wave else self.data.get()
            self.data.set(self.given)
        else:
            self.step()
            lib.kugel_queue_wait(self.queue)
            got = self.out.get()
        got = got[first:first + len(want)]
        return float(np.abs(got - want).max() / np.abs(want).max())


def row(case, args):
    own = Case(case, (40, 40, 70) if args.smoke else (512, 512, 512), args.device)
    error = own.error()
    repeats = 1 if args.smoke else args.repeats
    steps = STEPS.get(own.what, 1)
    own.time(own.step, 2), own.time(own.copy, 2)
    times, copies = [], []
    for _ in range(7):
        copies.append(own.time(own.copy, repeats))
        times.append(own.time(own.step, repeats) / steps)
    seconds, copy = statistics.median(times), statistics.median(copies)
    rate, copy_rate = own.bytes / seconds, own.copied / copy
    lib.kugel_queue_destroy(own.queue)
    must = 2.1 if own.what in ("waves", "heats") else 0.85  # several steps per pass: 2.5 times that
    print(f"| {own.name} | {1e3 * seconds:.3f} | {1e3 * own.bytes / copy_rate:.3f} | {own.bytes / 1e9:.2f} | {rate / 1e12:.2f} | {copy_rate / 1e12:.2f} | {rate / copy_rate:.2f} | {must} | "
          f"{own.made:.1f} | {error:.1e} |", flush=True)
    return {"case": own.name, "n": list(own.n), "ms": 1e3 * seconds, "floor_ms": 1e3 * own.bytes / copy_rate, "bytes": own.bytes, "bytes_per_s": rate, "copy_bytes_per_s": copy_rate,
            "share": rate / copy_rate, "must": must, "steps_per_pass": own.plan.steps_per_pass, "plan_s": own.made, "error": error}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--smoke", action="store_true", help="small grids")
    args = parser.parse_args()
    rows = []
    print("| case | ms | floor, ms | GB | TB/s | copy, TB/s | share | must | plan, s | error |")
    print("|---" * 10 + "|")
    for case in CASES[:4] + CASES[11:12] + CASES[-3:-2] if args.smoke else CASES:
        if args.only in case[0]:
            rows.append(row(case, args))
            if args.json:  # after each row: a run that is cut short keeps its figures
                described = next((d for d in kugel.devices() if d["name"] == args.device), {})
                pathlib.Path(args.json).write_text(json.dumps({"device": described.get("description", args.device), "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
