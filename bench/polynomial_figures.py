#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How exact and how fast polynomial transforms are: figures for docs/polynomial.md.

usage: OPENBLAS_NUM_THREADS=1 KUGEL_NUM_THREADS=1 bench/polynomial_figures.py [--out docs/images] [--short] [--only errors|times]

polynomial_errors.png: largest error of a synthesis over the largest value, random coefficients, against sums in 60 digits at 60 of the points, those
nearest the centre (pole) among them. Jones-Worland: connection by rotations, the same by pairs of bidiagonal products and solves,
tables made by the rotations (dense), tables by the recurrence in double (quadrature). Associated Legendre on L + 1 equidistant
colatitudes: connection, and the recurrence in l in double. polynomial_times.png: all (l, m) of complex fields to L = N - 1. Needs matplotlib, gmpy2, SciPy.
"""
import argparse
import pathlib

import gmpy2
import numpy as np
import side
from matplotlib.figure import Figure
from scipy.linalg import solve_banded

polynomial = side.load(threads=1).polynomial

gmpy2.get_context().precision = 200
BIG = np.frompyfunc(lambda v: gmpy2.mpfr(v), 1, 1)
ROOT = np.frompyfunc(gmpy2.sqrt, 1, 1)


def chosen(n, count=60):
    """Indices: the first and last ten and some between."""
    return np.unique(np.concatenate([np.arange(10), np.arange(n - 10, n), np.linspace(0, n - 1, count - 20).astype(int)]))


def angles(numerators, denominator):
    return BIG(numerators) * gmpy2.const_pi() / denominator


def worland(l, c, t):
    """Sum of c_n W_n^l(cos t) in 200 bits: the recurrence of orthonormal Jacobi polynomials."""
    r = np.frompyfunc(gmpy2.cos, 1, 1)(t)
    x, a, b = 2 * r * r - 1, gmpy2.mpfr(-0.5), gmpy2.mpfr(l) - 0.5
    h = gmpy2.const_pi() / 2
    for i in range(l):
        h *= (i + gmpy2.mpfr(0.5)) / (i + 1)
    p, before, last, out = BIG(np.ones(len(t))) * r**l / gmpy2.sqrt(h), 0, 0, 0
    for n, v in enumerate(c):
        out = out + gmpy2.mpfr(v) * p
        s = 2 * n + a + b
        q = (b - a) * (b + a) / (s * (s + 2)) if n else (b - a) / (a + b + 2)
        root = (n + 1) * (n + 1 + a) * (n + 1 + b) / (s + 3) * ((n + 1 + a + b) / (s + 1) if n else 1)
        now = 2 / (s + 2) * gmpy2.sqrt(root)
        p, before, last = ((x - q) * p - last * before) / now, p, now
    return out


def legendre(m, lmax, c, cosine, sine, root):
    """Sum of c_l P_l^m, by the recurrence in l, in the arithmetic of cosine, sine and root."""
    one = cosine[0] / cosine[0]
    p = one * 0 + root(one / 2) * sine**0
    for k in range(1, m + 1):
        p = p * sine * root(one * (2 * k + 1) / (2 * k))
    before, out = 0 * p, 0
    for l in range(m, lmax + 1):
        out = out + c[l] * p
        k = one * (l + 1)
        up = root((4 * k * k - 1) / (k * k - m * m))
        down = root((2 * k + 1) * ((k - 1)**2 - m * m) / ((2 * k - 3) * (k * k - m * m))) if l > m else 0 * one
        p, before = up * cosine * p - down * before, p
    return out


def pairs(l, c, nr):
    """Synthesis by steps M^-1 V of degree -1 each: products and solves of two diagonals, then cosines."""
    c = c.copy()
    from math import sqrt
    for b in np.arange(l - 0.5, l % 2, -2):  # degree l to l - 2: (1 + x) P^{(a,b)} from b to b - 1, then solve V of b - 2
        n, a = len(c), -0.5
        k = np.arange(n + 1.0)
        gamma = lambda k, b: np.sqrt(2 * (k + b + 1) * (k + a + b + 1) / ((2 * k + a + b + 1) * (2 * k + a + b + 2)))  # noqa: E731
        zeta = lambda k, b: np.sqrt(2 * k * (k + a) / ((2 * k + a + b) * (2 * k + a + b + 1)))  # noqa: E731
        g = gamma(np.maximum(k, 1), b - 1)
        g[0] = sqrt(2 * b / (a + b + 1))
        up = np.zeros(n + 1)
        up[:n] = g[:n] * c
        up[1:] += zeta(k[1:], b - 1) * c
        g = gamma(np.maximum(k, 1), b - 2)
        g[0] = sqrt(2 * (b - 1) / (a + b))
        c = solve_banded((0, 1), np.vstack([np.concatenate([[0], zeta(k[1:], b - 2)]), g]), up)
    return polynomial.JonesWorland(l % 2, len(c), nr, engine="connection").synthesis(c)


def error(got, want):
    return float(max(abs(BIG(got) - want)) / max(abs(want)))


def worland_errors(axes, n, degrees):
    rng = np.random.default_rng(1)
    curves = {"pairs": [], "quadrature": [], "dense": [], "connection": []}
    for l in degrees:
        nr, c = n + (l + 1) // 2, rng.standard_normal(n)
        some = chosen(nr)
        want = worland(l, c, angles(2 * some + 1, 4 * nr))
        for name, curve in curves.items():
            f = pairs(l, c, nr) if name == "pairs" else polynomial.JonesWorland(l, n, nr, engine=name).synthesis(c)
            curve.append(error(f[some], want))
    for name, curve in curves.items():
        axes.semilogy(degrees, curve, "o-", ms=3, label=name)
        print(f"N = {n:4d} {name:10}  " + " ".join(f"{e:.1e}" for e in curve))
    axes.set(title=f"Jones-Worland, N = {n}", xlabel="degree l", ylabel="largest error / largest value", xscale="log")


def legendre_errors(axes, lmax, orders):
    rng = np.random.default_rng(2)
    curves = {"recurrence in l": [], "connection": []}
    some = chosen(lmax + 1)
    theta = angles(2 * some + 1, 2 * (lmax + 1))
    cosine, sine = (np.frompyfunc(f, 1, 1)(theta) for f in (gmpy2.cos, gmpy2.sin))
    for m in orders:
        c = rng.standard_normal(lmax + 1)
        want = legendre(m, lmax, BIG(c), cosine, sine, lambda v: gmpy2.sqrt(v))
        curves["recurrence in l"].append(error(legendre(m, lmax, c, cosine.astype(float), sine.astype(float), np.sqrt), want))
        curves["connection"].append(error(polynomial.AssociatedLegendre(m, lmax).synthesis(c)[some], want))
    for (name, curve), colour in zip(curves.items(), ("C1", "C3")):
        axes.semilogy(orders, curve, "o-", ms=3, label=name, color=colour)
        print(f"L = {lmax:4d} {name:15}  " + " ".join(f"{e:.1e}" for e in curve))
    axes.set(title=f"associated Legendre, L = {lmax}", xlabel="order m")


def times(out, sizes, reps):
    curves = {"connection": [], "dense": [], "auto": [], "NumPy, dense": []}
    tables = {"connection": [], "dense": []}
    rng = np.random.default_rng(3)
    for n in sizes:
        l = np.arange(n)
        nr, systems = n + n // 2, int((l + 1).sum())
        c, f = rng.standard_normal((systems, n)) + 1j * rng.standard_normal((systems, n)), np.empty((systems, nr), complex)
        plans = {e: polynomial.JonesWorland(l, n, nr, multiplicity=l + 1, engine=e, max_table=1 << 33) for e in ("connection", "dense", "auto")}
        matrices = [polynomial.JonesWorland(int(k), n, nr).synthesis(np.eye(n)) for k in l]
        first = np.concatenate([[0], np.cumsum(l + 1)])

        def blas():
            for k in l:
                x = c[first[k]:first[k + 1]].view(float).reshape(k + 1, n, 2).transpose(0, 2, 1).reshape(-1, n) @ matrices[k]
                f[first[k]:first[k + 1]] = x.reshape(k + 1, 2, nr).transpose(0, 2, 1).copy().view(complex)[..., 0]

        t = side.seconds({**{e: (lambda p=p: p.synthesis(c, out=f)) for e, p in plans.items()}, "NumPy, dense": blas}, reps)
        for name, curve in curves.items():
            curve.append(t[name])
        for name, curve in tables.items():
            curve.append(plans[name].table_bytes)
        print(f"L + 1 = N = {n:4d}  " + "  ".join(f"{k} {1e3 * v:.2f} ms" for k, v in t.items()))
    figure = Figure((9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, curve in curves.items():
        left.semilogx(sizes, np.array(curves["NumPy, dense"]) / curve, "o-", ms=3, label=name)
    for name, curve in tables.items():
        right.loglog(sizes, curve, "o-", ms=3, label=name)
    left.set(title="synthesis of all (l, m), complex, one core", xlabel="N = L + 1; below, the time of NumPy's dense products",
             ylabel="speed relative to NumPy", xlim=(12, 340))
    left.set_ylim(0.9 * min(np.min(np.array(curves["NumPy, dense"]) / c) for c in curves.values()))
    right.set(title="tables of a plan", xlabel="N = L + 1", ylabel="bytes")
    for axes in (left, right):
        axes.set_xticks(sizes, [f"{n}\n{1e3 * t:.3g} ms" for n, t in zip(sizes, curves["NumPy, dense"])] if axes is left else sizes)
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(out / "polynomial_times.png", dpi=110)


def errors(o):
    figure = Figure((12, 3.8), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    degrees = [2, 5, 16, 50] if o.short else [1, 2, 5, 10, 16, 30, 50, 80, 125, 180, 250, 320, 400, 500]
    worland_errors(panels[0], 64, degrees)
    worland_errors(panels[1], 128 if o.short else 512, degrees)
    top = 128 if o.short else 1024
    legendre_errors(panels[2], top, [0, 1, 2, 10] + [top * k // 8 for k in range(1, 8)])
    for axes in panels:
        axes.set(ylim=(5e-17, 1e-9))
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left", ncols=2)
    figure.savefig(o.out / "polynomial_errors.png", dpi=110)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--out", type=pathlib.Path, default=pathlib.Path("docs/images"))
    arguments.add_argument("--short", action="store_true", help="small sizes only")
    arguments.add_argument("--only", choices=("errors", "times"), help="one of the two figures")
    o = arguments.parse_args()
    if o.only != "times":
        errors(o)
    if o.only != "errors":
        times(o.out, (16, 32, 64) if o.short else (16, 32, 64, 128, 256), 5)


if __name__ == "__main__":
    main()
