#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Non-uniform FFTs beside finufft and ducc0: one thread by default, the same points, tolerance and thread number.

usage: bench/nufft.py [--threads N] [--reps N] [--json] [--smoke]

Medians of interleaved runs, in milliseconds of processor time (with several threads, of the clock): setting the points, executing, and the
relative l2 error at 20 sampled outputs; "ducc0 / kugel": medians of the runs' own ratios, of execution and with the setting of points. A second
table has transforms with derivatives by the points beside those of values alone: the ratio is that of the runs.
finufft and ducc0 are optional; the columns of those that are missing stay empty.
"""
import importlib

import numpy as np
import side

# modes, points, tolerance, precision
CASES = [((1_000_000,), 10_000_000, 1e-6, "f64"), ((1024, 1024), 1_000_000, 1e-3, "f64"), ((1024, 1024), 1_000_000, 1e-6, "f64"),
         ((1024, 1024), 1_000_000, 1e-12, "f64"), ((1024, 1024), 1_000_000, 1e-5, "f32"), ((128,) * 3, 1_000_000, 1e-3, "f64"),
         ((128,) * 3, 1_000_000, 1e-6, "f64"), ((128,) * 3, 1_000_000, 1e-12, "f64"), ((128,) * 3, 1_000_000, 1e-5, "f32"),
         ((128,) * 3, 10_000_000, 1e-6, "f64")]


RATIOS = ["ducc0 / kugel", "with points"]


def ratios(times):
    """Of ducc0's times to ours, run by run: execution, and with the points."""
    if "ducc0" not in times:
        return dict.fromkeys(RATIOS)
    ours, theirs = np.array(times["kugel"]), np.array(times["ducc0"])
    pairs = theirs[:, 0] / ours[:, 0], theirs.sum(1) / ours.sum(1)
    return {name: float(np.median(r)) for name, r in zip(RATIOS, pairs)}


def optional(name):
    try:
        with side.quiet():
            return importlib.import_module(name)
    except ImportError:
        return None


class Kugel:
    def __init__(self, kind, n, x, eps, dtype, threads):
        import kugel
        self.plan = kugel.nufft.Plan(n, "to_modes" if kind == 1 else "to_points", tolerance=eps, sign=1,
                                     precision="f32" if dtype == np.complex64 else "f64", density=len(x) / np.prod(n, dtype=float))

    def points(self, x):
        self.sorted = self.plan.points(x)

    def execute(self, data, out):
        self.sorted.execute(data, out=out)


class Finufft:
    def __init__(self, kind, n, x, eps, dtype, threads):
        self.module = optional("finufft")
        self.plan = self.module.Plan(kind, n, eps=eps, isign=1, dtype=np.dtype(dtype).name, nthreads=threads)
        self.real = np.float32 if dtype == np.complex64 else np.float64

    def points(self, x):
        self.plan.setpts(*[np.ascontiguousarray(x[:, d], self.real) for d in range(x.shape[1])])

    def execute(self, data, out):
        self.plan.execute(data, out=out)


class Ducc0:
    def __init__(self, kind, n, x, eps, dtype, threads):
        module = optional("ducc0")
        self.kind, real = kind, np.float32 if dtype == np.complex64 else float
        self.make = lambda x: module.nufft.plan(nu2u=kind == 1, coord=x.astype(real), grid_shape=n, epsilon=eps, nthreads=threads,
                                                periodicity=2 * np.pi)

    def points(self, x):
        self.plan = self.make(x)

    def execute(self, data, out):
        if self.kind == 1:
            self.plan.nu2u(points=data, forward=False, out=out)
        else:
            self.plan.u2nu(grid=data, forward=False, out=out)


class Kugel3:
    def __init__(self, ndim, eps, threads):
        import kugel
        self.plan = kugel.nufft.Plan(None, "to_frequencies", ndim=ndim, tolerance=eps)

    def points(self, x, s):
        self.pair = self.plan.points(x, s)

    def execute(self, c):
        return self.pair.execute(c)


class Finufft3:
    def __init__(self, ndim, eps, threads):
        self.plan, self.ndim = optional("finufft").Plan(3, ndim, eps=eps, isign=1, nthreads=threads), ndim

    def points(self, x, s):
        columns = [[np.ascontiguousarray(a[:, d]) for d in range(self.ndim)] + [None] * (3 - self.ndim) for a in (x, s)]
        self.plan.setpts(*columns[0], *columns[1])

    def execute(self, c):
        return self.plan.execute(c)


class Ducc3:
    def __init__(self, ndim, eps, threads):
        self.eps, self.threads = eps, threads

    def points(self, x, s):
        self.plan = optional("ducc0").nufft.experimental.plan3(coord_in=x, coord_out=s, epsilon=self.eps, nthreads=self.threads)

    def execute(self, c):
        return self.plan.exec(forward=False, points_in=c)


def third(args, table, columns, rivals):
    """Type 3: as many frequencies as points, ranges as wide as the modes of the cases above."""
    cases = [(2, 16, 100, 1e-6)] if args.smoke else [(1, 1_000_000, 1_000_000, 1e-6), (2, 1024, 1_000_000, 1e-6),
                                                     (3, 128, 1_000_000, 1e-6)]
    for ndim, n, m, eps in cases:
        rng = np.random.default_rng(6)
        x, s = rng.uniform(-np.pi, np.pi, (m, ndim)), rng.uniform(-n / 2, n / 2, (m, ndim))
        c = rng.normal(size=m) + 1j * rng.normal(size=m)
        clock = side.clock(args.threads)
        plans, times, outs = {r: make(ndim, eps, args.threads) for r, make in rivals.items()}, {r: [] for r in rivals}, {}
        for _ in range(args.reps):
            for r, plan in plans.items():
                start = clock()
                plan.points(x, s)
                middle = clock()
                outs[r] = plan.execute(c)
                times[r].append((clock() - middle, middle - start))
        picks = rng.integers(0, m, 5)
        phase = sum(np.multiply.outer(s[picks, d].astype(np.longdouble), x[:, d]) for d in range(ndim))
        want = np.array([np.sum(c * np.exp(1j * np.asarray(p % (2 * np.longdouble(np.pi)), float))) for p in phase])
        cells = ratios(times)
        for r in rivals:
            cells[f"{r} ms"], cells[f"{r} points ms"] = (float(1e3 * np.median(t)) for t in zip(*times[r]))
            cells[f"{r} error"] = float(np.linalg.norm(outs[r][picks] - want) / np.linalg.norm(want))
        table.row(f"{ndim}-D, {n} wide f64", m, f"{eps:g}", 3, *[cells.get(c) for c in columns])


def gradients(args):
    """Values with derivatives by the points, and strengths with dipoles, beside values and strengths alone."""
    import kugel
    table = side.Table(["modes", "points", "tolerance", "kind", "value ms", "gradient ms", "gradient / value"], args.json)
    cases = [((16, 16), 100, 1e-6)] if args.smoke else [((1024, 1024), 1_000_000, 1e-6), ((128,) * 3, 1_000_000, 1e-6)]
    for n, m, eps in cases:
        rng = np.random.default_rng(5)
        x, f = rng.uniform(-np.pi, np.pi, (m, len(n))), rng.normal(size=n) + 1j * rng.normal(size=n)
        c = rng.normal(size=(1 + len(n), m)) + 1j * rng.normal(size=(1 + len(n), m))
        for kind, (name, data) in enumerate((("to_modes", (c[0], c)), ("to_points", (f, f))), 1):
            points = [kugel.nufft.Plan(n, name, tolerance=eps, gradient=g, density=m / np.prod(n, dtype=float)).points(x) for g in (False, True)]
            outs, times = [p.execute(d) for p, d in zip(points, data)], []
            clock = side.clock(args.threads)
            for _ in range(args.reps):
                spent = []
                for p, d, out in zip(points, data, outs):
                    start = clock()
                    p.execute(d, out)
                    spent.append(clock() - start)
                times.append(spent)
            value, gradient = (float(1e3 * np.median(t)) for t in zip(*times))
            table.row("x".join(map(str, n)), m, f"{eps:g}", kind, value, gradient, float(np.median([b / a for a, b in times])))


def error(kind, n, x, data, out, rng):
    """Relative l2 error at 20 outputs, against sums in double with exact products."""
    def wave(k, points):
        turns = np.zeros(np.broadcast(k[..., 0], points[..., 0]).shape)
        for d in range(len(n)):
            turns += np.asarray(k[..., d] * (points[..., d] / (2 * np.pi)).astype(np.longdouble) % 1, float)
        return np.exp(2j * np.pi * turns)

    grid = np.stack([rng.integers(0, m, 20) for m in n], -1)
    if kind == 1:
        want = np.array([np.sum(data * wave(g - np.array(n) // 2, x)) for g in grid])
        got = out[tuple(grid.T)]
    else:
        picks = rng.integers(0, len(x), 5)
        modes = np.stack(np.meshgrid(*[np.arange(m) - m // 2 for m in n], indexing="ij"), -1).reshape(-1, len(n))
        want = np.array([np.sum(data.reshape(-1) * wave(modes, x[p])) for p in picks])
        got = out[picks]
    return np.linalg.norm(got - want) / np.linalg.norm(want)


def main():
    args = side.arguments(side.options(__doc__.splitlines()[0], only=False))
    side.load(args.threads)
    rivals = {"kugel": Kugel} | {name: make for name, make in (("finufft", Finufft), ("ducc0", Ducc0)) if optional(name)}
    columns = [f"{r} {what}" for r in ("kugel", "finufft", "ducc0") for what in ("ms", "points ms", "error")] + RATIOS
    table = side.Table(["modes", "points", "tolerance", "kind", *columns], args.json)
    for n, m, eps, precision in [((16, 16), 100, 1e-6, "f64")] if args.smoke else CASES:
        rng = np.random.default_rng(5)
        dtype = np.complex64 if precision == "f32" else np.complex128
        x = rng.uniform(-np.pi, np.pi, (m, len(n)))
        for kind in (1, 2):
            shapes = ((m,), n) if kind == 1 else (n, (m,))
            data = (rng.normal(size=shapes[0]) + 1j * rng.normal(size=shapes[0])).astype(dtype)
            plans = {r: make(kind, n, x, eps, dtype, args.threads) for r, make in rivals.items()}
            outs = {r: np.zeros(shapes[1], dtype) for r in rivals}
            times = {r: [] for r in rivals}
            clock = side.clock(args.threads)
            for _ in range(args.reps):
                for r, plan in plans.items():
                    start = clock()
                    plan.points(x)
                    middle = clock()
                    plan.execute(data, outs[r])
                    times[r].append((clock() - middle, middle - start))
            cells = ratios(times)
            for r in rivals:
                cells[f"{r} ms"], cells[f"{r} points ms"] = (float(1e3 * np.median(t)) for t in zip(*times[r]))
                cells[f"{r} error"] = float(error(kind, n, x, data, outs[r], np.random.default_rng(1)))
            table.row(f"{'x'.join(map(str, n))} {precision}", m, f"{eps:g}", kind, *[cells.get(c) for c in columns])
    third(args, table, columns, {"kugel": Kugel3} | ({"finufft": Finufft3} if optional("finufft") else {}) | ({"ducc0": Ducc3} if optional("ducc0") else {}))
    gradients(args)


if __name__ == "__main__":
    main()
