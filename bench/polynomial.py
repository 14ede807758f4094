#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jones-Worland transforms against products with dense tables by NumPy's BLAS, and changes of basis by both methods.

usage: bench/polynomial.py [--reps 7] [--short] [--json] [--smoke]

One thread. Complex systems, all (l, m) with m <= l, synthesis; the tables of NumPy are Kugel's own (engine dense), one product
per l. One process, repetitions interleaved, medians of processor time. Errors are those of a round trip. "by table": degrees for
which engine auto takes a dense table.
"""
import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is imported

import numpy as np  # noqa: E402
import side  # noqa: E402

kugel = side.load(threads=1)
polynomial = kugel.polynomial
COLUMNS = ["problem", "engine", "kugel ms", "rival", "rival ms", "ratio", "error", "MB of tables", "by table", "ns per cell"]


def transforms(lmax, n, reps, table):
    """A row per engine: all l to lmax, l + 1 complex systems each."""
    rng = np.random.default_rng(1)
    degrees, nr = np.arange(lmax + 1), n + (lmax + 1) // 2
    systems = int((degrees + 1).sum())
    c = rng.standard_normal((systems, n)) + 1j * rng.standard_normal((systems, n))
    f, g = np.empty((systems, nr), complex), np.empty((systems, nr), complex)
    plans = {e: polynomial.JonesWorland(degrees, n, nr, multiplicity=degrees + 1, engine=e, max_table=1 << 33)
             for e in ("connection", "dense", "auto", "bidiagonal")}
    tables = [polynomial.JonesWorland(int(l), n, nr).synthesis(np.eye(n)).astype(complex) for l in degrees]
    real = [t.real.copy() for t in tables]
    first = np.concatenate([[0], np.cumsum(degrees + 1)])

    def blas():
        for l in degrees:  # a real table times pairs of reals
            x = c[first[l]:first[l + 1]].view(float).reshape(l + 1, n, 2).transpose(0, 2, 1).reshape(-1, n)
            y = x @ real[l]
            g[first[l]:first[l + 1]] = y.reshape(l + 1, 2, nr).transpose(0, 2, 1).copy().view(complex)[..., 0]

    runs = {name: (lambda p=p: p.synthesis(c, out=f)) for name, p in plans.items()}
    runs["numpy"] = blas
    t = side.seconds(runs, reps)
    p = plans["connection"]
    error = float(np.abs(p.analysis(p.synthesis(c)) - c).max() / np.abs(c).max())
    cells = sum(2 * (l + 1) * (l // 2) * (n + (l // 2) / 2) for l in degrees)
    for engine in plans:
        table.row(f"Jones-Worland, l to {lmax}, {n} degrees", engine, 1e3 * t[engine], "numpy", 1e3 * t["numpy"],
                  t["numpy"] / t[engine], error, plans[engine].table_bytes / 1e6, int(plans[engine].dense_blocks),
                  1e9 * t[engine] / cells)


def bases(n, reps, table):
    """Chebyshev to Legendre and back, one vector; the methods beside each other."""
    x = np.random.default_rng(2).standard_normal(n)
    pairs = {m: [polynomial.Ultraspherical(n, a, b, method=m) for a, b in ((0, 0.5), (0.5, 0))] for m in ("direct", "fast")}
    for way, name in enumerate(("Chebyshev to Legendre", "Legendre to Chebyshev")):
        t = side.seconds({m: (lambda p=pair[way]: p(x)) for m, pair in pairs.items()}, reps, shortest=1e-3)
        for m, pair in pairs.items():
            error = float(np.abs(pair[1](pair[0](x)) - x).max() / np.abs(x).max())
            table.row(f"{name}, n = {n}", m, 1e3 * t[m], None, None, None, error, None, None, None)


def main():
    parser = side.options(__doc__.splitlines()[0], threads=False, only=False)
    parser.add_argument("--short", action="store_true", help="small sizes only")
    parser.set_defaults(reps=7)
    args = side.arguments(parser, short=True)
    table = side.Table(COLUMNS, args.json)
    for lmax, n in ((15, 16),) if args.smoke else ((15, 16), (63, 64), (127, 128)) + (() if args.short else ((255, 256),)):
        transforms(lmax, n, args.reps, table)
    for n in (1000,) if args.smoke else (1000, 4000, 10000) + (() if args.short else (30000, 100000)):
        bases(n, args.reps, table)


if __name__ == "__main__":
    main()
