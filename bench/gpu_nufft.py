#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Non-uniform FFTs on one GPU: both types beside their floors, stored figures of cuFINUFFT, and cuFINUFFT where it is installed.

usage: bench/gpu_nufft.py [--device cuda:0] [--json FILE] [--only TEXT] [--large] [--repeats N] [--upsampling U] [--smoke]

Needs the library and NumPy only; with cufinufft and PyTorch also a rival's column, the best of its methods in the same run, interleaved.
Milliseconds, medians of 5 groups of executions with arrays in device memory and sorted points; the time to set points apart. The
error is relative, at some outputs, against direct sums in double.

The floor of a transform is the larger of two times: arithmetic, 2 width^d multiply-adds per point (33.5e12/s in float, 16.7e12/s
in double: H200), and device memory (4.3e12 bytes/s): each point read or written once (index, place, fractions, strength), the fine grid
written, read by the FFT and written per axis, only where it holds modes. The floor of setting points is 5 passes over their coordinates.
A second table has transforms with derivatives by the points beside those of values alone, in turns on the same machine.
"""
import argparse
import ctypes
import importlib.util
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
# name, modes, points, kind of points, precision, tolerance; stored milliseconds on one H200: cuFINUFFT 2.5.1 types 1 and 2, setting
# points; must and aim of types 1 and 2
CASES = [
    ("3-D f64 1e-6", (128,) * 3, 10**7, "uniform", "f64", 1e-6, (13.9, 6.63, 0.6), (5, 4), (3, 2.5)),
    ("3-D f32 1e-3", (128,) * 3, 10**7, "uniform", "f32", 1e-3, (3.21, 1.66, 0.5), (1.5, 1.1), (1, 0.8)),
    ("3-D f64 1e-12", (128,) * 3, 10**7, "uniform", "f64", 1e-12, (74.8, 32.7, 0.6), (20, 14), (10, 8)),
    ("2-D f32 1e-3", (1024,) * 2, 10**7, "uniform", "f32", 1e-3, (1.20, 1.03, 0.7), (0.6, 0.6), (0.4, 0.4)),
    ("2-D f64 1e-6", (1024,) * 2, 10**7, "uniform", "f64", 1e-6, (2.34, 1.30, 0.7), (1.2, 0.9), (0.8, 0.6)),
    ("3-D f64 1e-6 clustered", (128,) * 3, 10**7, "clustered", "f64", 1e-6, (76.9, 6.33, 5), (8, 5), (5, 3)),
    ("3-D f64 1e-6 radial", (128,) * 3, 10**7, "radial", "f64", 1e-6, (13.6, 6.28, 0.8), None, None),
    ("3-D f32 1e-3 radial", (128,) * 3, 10**7, "radial", "f32", 1e-3, (3.18, 1.61, 0.8), None, None),
    ("3-D f32 1e-5", (128,) * 3, 10**7, "uniform", "f32", 1e-5, (5.54, 3.11, 0.5), None, None),
    ("3-D f64 1e-3", (128,) * 3, 10**7, "uniform", "f64", 1e-3, (5.46, 2.16, 0.6), None, None),
    ("3-D f64 1e-9", (128,) * 3, 10**7, "uniform", "f64", 1e-9, (22.4, 15.5, 0.6), None, None),
    ("2-D f32 1e-5", (1024,) * 2, 10**7, "uniform", "f32", 1e-5, (2.08, 1.04, 0.7), None, None),
    ("2-D f64 1e-12", (1024,) * 2, 10**7, "uniform", "f64", 1e-12, (5.19, 2.77, 0.7), None, None),
    ("1-D f64 1e-6", (10**6,), 10**7, "uniform", "f64", 1e-6, (0.92, 0.92, 0.7), None, None),
    ("3-D 64^3 f64 1e-6", (64,) * 3, 10**6, "uniform", "f64", 1e-6, (1.50, 0.68, 0.2), None, None),
    ("2-D 512^2 f32 1e-3", (512,) * 2, 10**6, "uniform", "f32", 1e-3, (0.19, 0.079, 0.2), None, None),
]
LARGE = [
    ("3-D 256^3 f32 1e-3", (256,) * 3, 10**8, "uniform", "f32", 1e-3, (30.6, 24.8, 5), None, None),
    ("3-D 256^3 f64 1e-6", (256,) * 3, 10**8, "uniform", "f64", 1e-6, (135, 78.9, 6), None, None),
]
# name, modes, points, precision, tolerance of rows with derivatives by the points; must and aim of the ratio to the value's time
GRADIENTS = [
    ("gradient 3-D f64 1e-6", (128,) * 3, 10**7, "f64", 1e-6),
    ("gradient 3-D f32 1e-3", (128,) * 3, 10**7, "f32", 1e-3),
    ("gradient 2-D f64 1e-6", (1024,) * 2, 10**7, "f64", 1e-6),
    ("gradient 2-D f32 1e-3", (1024,) * 2, 10**7, "f32", 1e-3),
]
RATIO_MUST, RATIO_AIM = 1.6, 1.3
SMOKE = [("smoke", (16, 16), 500, "clustered", "f64", 1e-6, (0, 0, 0), None, None)]


def make_points(kind, n, m, rng):
    if kind == "clustered":  # all in 16 cells of a fine grid of 2 n
        return rng.uniform(0, 16 * np.pi / np.array(n), (m, len(n)))
    if kind == "radial":
        directions = rng.normal(size=(m, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        return directions * rng.uniform(-np.pi, np.pi, (m, 1))
    return rng.uniform(-np.pi, np.pi, (m, len(n)))


def floor_of(plan, m, precision):
    """Seconds of an execution, and of setting points."""
    size, d = (4 if precision == "f32" else 8), len(plan.n)
    arithmetic = 2 * plan.width**d * m / FMA[precision]
    cells = [float(np.prod(plan.n[:i], dtype=float) * np.prod(plan.fine[i:], dtype=float)) for i in range(d + 1)]
    traffic = 2 * size * (cells[0] + sum(a + b for a, b in zip(cells, cells[1:])))
    traffic += m * (8 + d * size + 2 * size)
    return max(arithmetic, traffic / MEMORY), 5 * 8 * d * m / MEMORY


def error_of(kind, n, x, data, out, sign, rng, samples=4):
    def wave(k, points):
        phase = np.zeros(np.broadcast(k[..., 0], points[..., 0]).shape)
        for d in range(len(n)):
            phase += k[..., d] * points[..., d]
        return np.exp(1j * sign * phase)

    if kind == 1:
        grid = np.stack([rng.integers(0, k, samples) for k in n], -1)
        want = np.array([np.sum(data * wave(g - np.array(n) // 2, x)) for g in grid])
        got = out[tuple(grid.T)]
    else:
        picks = rng.integers(0, len(x), samples)
        modes = np.stack(np.meshgrid(*[np.arange(k) - k // 2 for k in n], indexing="ij"), -1).reshape(-1, len(n))
        want = np.array([np.sum(data.reshape(-1) * wave(modes, x[p])) for p in picks])
        got = out[picks]
    # of type 1 the samples are few: the norm of all outputs counts
    norm = np.linalg.norm(want) if kind == 2 else np.sqrt(samples / out.size) * np.linalg.norm(out)
    return float(np.linalg.norm(got - want) / norm)


class Kugel:
    def __init__(self, device, kind, n, tolerance, precision, m, upsampling, x, data, gradient=False):
        self.ctx = context(device)
        self.plan = kugel.nufft.Plan(n, "to_modes" if kind == 1 else "to_points", tolerance=tolerance, precision=precision,
                                     upsampling=upsampling, density=m / np.prod(n, dtype=float), sign=1, device=device, gradient=gradient)
        self.x, self.data = kugel.DeviceArray(x, device=device), kugel.DeviceArray(data, device=device)
        self.out = kugel.DeviceArray(n if kind == 1 else (1 + len(n), m) if gradient else (m,), data.dtype, device)
        queue = ctypes.c_void_p()
        lib.kugel_queue_create(self.ctx.address, ctypes.byref(queue))
        self.queue = queue.value
        self.views = [make_view(a._handle.address, self.ctx.type, self.ctx.id, dtype_of(a.dtype), a.shape, None, a)
                      for a in (self.data, self.out)]

    def set_points(self):
        start = time.perf_counter()
        self.points = self.plan.points(self.x)
        return time.perf_counter() - start

    def execute(self, repeats):
        lib.kugel_queue_wait(self.queue)
        start = time.perf_counter()
        for _ in range(repeats):
            lib.kugel_nufft_execute(self.points._handle.address, ctypes.byref(self.views[0]), ctypes.byref(self.views[1]), self.queue)
        lib.kugel_queue_wait(self.queue)
        return (time.perf_counter() - start) / repeats

    def result(self):
        return self.out.get()

    def close(self):
        lib.kugel_queue_destroy(self.queue)


class Cufinufft:
    def __init__(self, kind, n, tolerance, precision, x, data, method):
        import cufinufft
        import torch
        self.torch = torch
        self.x = [torch.from_numpy(np.ascontiguousarray(x[:, d], np.float32 if precision == "f32" else np.float64)).cuda()
                  for d in range(len(n))]
        self.data = torch.from_numpy(data).cuda()
        self.out = torch.empty(n if kind == 1 else len(x), dtype=self.data.dtype, device="cuda")
        words = {} if kind == 2 else {"gpu_method": method}
        self.plan = cufinufft.Plan(kind, n, eps=tolerance, isign=1, dtype=data.dtype.name, **words)

    def set_points(self):
        self.torch.cuda.synchronize()
        start = time.perf_counter()
        self.plan.setpts(*self.x)
        self.torch.cuda.synchronize()
        return time.perf_counter() - start

    def execute(self, repeats):
        self.torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(repeats):
            self.plan.execute(self.data, out=self.out)
        self.torch.cuda.synchronize()
        return (time.perf_counter() - start) / repeats


def rivals(kind, n, tolerance, precision, x, data):
    if not (importlib.util.find_spec("cufinufft") and importlib.util.find_spec("torch")):
        return {}
    out = {}
    for method in (1, 2, 3) if kind == 1 else (1,):
        try:
            out[method] = Cufinufft(kind, n, tolerance, precision, x, data, method)
            out[method].set_points()
            out[method].execute(1)
        except Exception as e:  # a method that this case has not
            out.pop(method, None)
            print(f"  cuFINUFFT method {method}: {e}", file=sys.stderr)
    return out


def row(case, kind, args):
    name, n, m, shape, precision, tolerance, stored, must, aim = case
    rng = np.random.default_rng(5)
    dtype = np.complex64 if precision == "f32" else np.complex128
    x = make_points(shape, n, m, rng)
    data = (rng.normal(size=(m,) if kind == 1 else n) + 1j * rng.normal(size=(m,) if kind == 1 else n)).astype(dtype)
    start = time.perf_counter()
    own = Kugel(args.device, kind, n, tolerance, precision, m, args.upsampling, x, data)
    made = time.perf_counter() - start
    own.set_points()
    repeats = 1 if args.smoke else args.repeats
    own.execute(2)
    others = rivals(kind, n, tolerance, precision, x, data)
    times, setting = {"kugel": []}, []
    for _ in range(5):
        setting.append(own.set_points())
        times["kugel"].append(own.execute(repeats))
        for method, other in others.items():
            times.setdefault(f"cufinufft {method}", []).append(other.execute(repeats))
    first = own.result()
    own.execute(1)
    same = np.array_equal(first.view(np.uint8), own.result().view(np.uint8))
    error = error_of(kind, n, x, data, first, 1, rng, 2 if m * len(n) > 10**8 else 4)
    floor, floor_set = floor_of(own.plan, m, precision)
    median = {k: 1e3 * statistics.median(v) for k, v in times.items()}
    out = {"case": name, "type": kind, "modes": list(n), "points": m, "precision": precision, "tolerance": tolerance,
           "width": own.plan.width, "upsampling": own.plan.upsampling, "fine": list(own.plan.fine), "ms": median["kugel"],
           "set_ms": 1e3 * statistics.median(setting), "plan_s": made, "floor_ms": 1e3 * floor, "floor_set_ms": 1e3 * floor_set,
           "error": error, "same_bits": bool(same), "rivals_ms": {k: v for k, v in median.items() if k != "kugel"},
           "stored_cufinufft_ms": stored[kind - 1], "stored_cufinufft_set_ms": stored[2], "must_ms": must and must[kind - 1],
           "aim_ms": aim and aim[kind - 1]}
    own.close()
    best = min(out["rivals_ms"].values(), default=float("nan"))
    print(f"| {name} | {kind} | {own.plan.width} | {own.plan.upsampling:g} | {out['ms']:.3f} | {out['set_ms']:.3f} | {out['floor_ms']:.3f} | "
          f"{stored[kind - 1]:g} | {best:.3f} | {out['must_ms'] or '-'} | {out['aim_ms'] or '-'} | {error:.1e} | {'yes' if same else 'NO'} |",
          flush=True)
    return out


def gradient_row(case, kind, args):
    """Type 2: values with derivatives; type 1: strengths with dipoles."""
    name, n, m, precision, tolerance = case
    rng = np.random.default_rng(5)
    dtype = np.complex64 if precision == "f32" else np.complex128
    x = make_points("uniform", n, m, rng)
    shapes = [(m,), (1 + len(n), m)] if kind == 1 else [n, n]
    data = [(rng.normal(size=s) + 1j * rng.normal(size=s)).astype(dtype) for s in shapes]
    both = [Kugel(args.device, kind, n, tolerance, precision, m, args.upsampling, x, d, g) for d, g in zip(data, (False, True))]
    repeats = 1 if args.smoke else args.repeats
    for one in both:
        one.set_points()
        one.execute(2)
    times = [[one.execute(repeats) for one in both] for _ in range(5)]
    value, gradient = (1e3 * statistics.median(t) for t in zip(*times))
    ratio = statistics.median(b / a for a, b in times)
    if kind == 2:  # a derivative of the value's own sum
        picks, out = rng.integers(0, m, 4), both[1].result()
        modes = np.stack(np.meshgrid(*[np.arange(k) - k // 2 for k in n], indexing="ij"), -1).reshape(-1, len(n))
        want = np.array([[np.sum(data[1].reshape(-1) * 1j * modes[:, d] * np.exp(1j * (modes @ x[p]))) for p in picks] for d in range(len(n))])
        error = float(np.linalg.norm(out[1:, picks] - want) / np.linalg.norm(want))
    else:  # strengths alone give the value's modes: no dipoles
        both[1].data.set(np.concatenate([data[0][None], np.zeros((len(n), m), dtype)]))
        both[1].execute(1)
        error = float(np.linalg.norm(both[1].result() - both[0].result()) / np.linalg.norm(both[0].result()))
    for one in both:
        one.close()
    print(f"| {name} | {kind} | {both[1].plan.width} | {value:.3f} | {gradient:.3f} | {ratio:.2f} | {RATIO_MUST} | {RATIO_AIM} | {error:.1e} |", flush=True)
    return {"case": name, "type": kind, "width": both[1].plan.width, "value_ms": value, "gradient_ms": gradient, "ratio": ratio,
            "must_ratio": RATIO_MUST, "aim_ratio": RATIO_AIM, "error": error}


def save(args, rows):
    """After each row: a run that is cut short keeps its figures."""
    if args.json:
        described = next((d for d in kugel.devices() if d["name"] == args.device), {})
        pathlib.Path(args.json).write_text(json.dumps({"device": described.get("description", args.device), "rows": rows}, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--large", action="store_true", help="also 1e8 points")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--upsampling", type=float, default=0.0, help="0: by the plan's model of cost, as users have it")
    parser.add_argument("--smoke", action="store_true", help="one small case")
    args = parser.parse_args()
    args.upsampling = args.upsampling or None
    rows = []
    print("| case | type | width | upsampling | ms | setting, ms | floor | cuFINUFFT stored | in this run | must | aim | error | same bits |")
    print("|---" * 13 + "|")
    for case in SMOKE if args.smoke else CASES + (LARGE if args.large else []):
        for kind in (1, 2):
            if args.only in case[0]:
                rows.append(row(case, kind, args))
                save(args, rows)
    print("\n| case | type | width | value, ms | with derivatives, ms | ratio | must | aim | error |")
    print("|---" * 9 + "|")
    for case in [("gradient smoke", (16, 12), 500, "f64", 1e-6)] if args.smoke else GRADIENTS:
        for kind in (1, 2):
            if args.only in case[0]:
                rows.append(gradient_row(case, kind, args))
                save(args, rows)


if __name__ == "__main__":
    main()
