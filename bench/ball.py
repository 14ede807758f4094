#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Transforms in the ball beside Dedalus 3 and beside dense products by NumPy.

usage: bench/ball.py [--reps 5] [--threads 1] [--json] [--smoke]

Triangular truncation, double precision, the same numbers of degrees, functions of radius and points on each side: shape (2 L + 2, L + 1, N)
in Dedalus' words. A field there and back; vectors have three components. NumPy: tables of all radial and Legendre functions, one
product per degree and one per order, and its FFT; times without making the tables. Run it with the Python of an
environment that has dedalus; without it, that column is empty. Errors are those of Kugel's round trip and of its values against NumPy's.
"""
import logging
import os

import side

PARSER = side.options(__doc__.splitlines()[0])


class Dense:
    """Tables of all functions."""

    def __init__(self, np, kugel, ball):
        self.np, self.ball = np, ball
        t = [kugel.polynomial.JonesWorland(int(l), ball.n, ball.shape[0], nl=[int(ball.nl[l])]) for l in range(ball.lmax + 1)]
        self.radial = [p.synthesis(np.eye(ball.n)) for p in t]
        self.back = [p.analysis(np.eye(ball.shape[0])) for p in t]
        legendre = kugel.polynomial.AssociatedLegendre(range(ball.lmax + 1), ball.lmax, theta=ball.theta)
        units = np.repeat(np.eye(ball.lmax + 1)[:, None], ball.lmax + 1, 1)
        p = legendre.synthesis(units)  # [l, m, theta]
        sign = (-1.0) ** np.arange(ball.lmax + 1)[:, None]
        self.legendre = [np.ascontiguousarray((p * sign)[m:, m]) / np.sqrt(2 * np.pi) for m in range(ball.lmax + 1)]
        self.rows = [[ball.row(l, m) for l in range(m, ball.lmax + 1)] for m in range(ball.lmax + 1)]
        self.values = np.empty((ball.nlm, ball.shape[0]), complex)
        self.modes = np.zeros((ball.shape[0], ball.shape[1], ball.shape[2] // 2 + 1), complex)

    @property
    def bytes(self):
        return sum(a.nbytes for a in self.radial + self.back + self.legendre)

    def synthesis(self, c):
        b, first = self.ball, 0
        for l in range(b.lmax + 1):
            self.values[first:first + l + 1] = c[first:first + l + 1] @ self.radial[l]
            first += l + 1
        for m in range(b.lmax + 1):
            self.modes[:, :, m] = self.values[self.rows[m]].T @ self.legendre[m]
        return self.np.fft.irfft(self.modes, b.shape[2], norm="forward")

    def analysis(self, f):
        b, first = self.ball, 0
        modes = self.np.fft.rfft(f) * b.weights_s[:, None]
        for m in range(b.lmax + 1):
            self.values[self.rows[m]] = (modes[:, :, m] @ self.legendre[m].T).T
        c = self.np.empty((b.nlm, b.n), complex)
        for l in range(b.lmax + 1):
            c[first:first + l + 1] = self.values[first:first + l + 1] @ self.back[l]
            first += l + 1
        return c


def dedalus_calls(lmax, n, components):
    """There and back of a field of Dedalus; None without it."""
    try:
        logging.disable(logging.CRITICAL)
        with side.quiet():
            import dedalus.public as d3
    except ImportError:
        return None
    import numpy as np
    coordinates = d3.SphericalCoordinates("phi", "theta", "r")
    space = d3.Distributor(coordinates, dtype=np.float64)
    basis = d3.BallBasis(coordinates, shape=(2 * lmax + 2, lmax + 1, n), radius=1, dealias=1, dtype=np.float64)
    f = space.VectorField(coordinates, bases=basis) if components == 3 else space.Field(bases=basis)
    f.fill_random("g", seed=1)

    def there_and_back():
        f.require_coeff_space()
        f.require_grid_space()
    return there_and_back


def main():
    args = side.arguments(PARSER)
    os.environ["OPENBLAS_NUM_THREADS"] = str(args.threads)
    kugel = side.load(args.threads)
    import numpy as np
    rng = np.random.default_rng(1)
    table = side.Table(["case", "kugel ms", "Dedalus ms", "NumPy ms", "Dedalus / kugel", "NumPy / kugel", "round trip", "against NumPy",
                        "kugel tables MB", "NumPy tables MB"], args.json)
    for lmax, n in ((15, 16),) if args.smoke else ((31, 32), (63, 64), (127, 128)):
        for components in (1, 3):
            name = f"{'vector' if components == 3 else 'scalar'}, L = {lmax}, N = {n}"
            if args.only not in name:
                continue
            ball = kugel.ball.Ball(lmax, n, truncation="triangular", vectors=components == 3, nr=n + components // 2, ntheta=lmax + 1,
                                   nphi=2 * lmax + 2)
            kind = "vector" if components == 3 else "scalar"
            c = rng.standard_normal((components, ball.nlm, n)) + 1j * rng.standard_normal((components, ball.nlm, n))
            c[:, ball.m == 0] = c[:, ball.m == 0].real
            c *= np.arange(n) < ball.nl[ball.l][:, None]
            c[0 if components == 3 else slice(0, 0), 0] = 0
            if components == 3:
                c[2, 0] = 0
            else:
                c = c[0]
            f, back = ball.synthesis(c, kind), np.empty_like(c)
            dense = Dense(np, kugel, ball) if components == 1 else None

            def own():
                ball.analysis(f, kind, out=back)
                ball.synthesis(back, kind, out=f)
            calls = {"kugel": own, "dedalus": dedalus_calls(lmax, n, components),
                     "numpy": dense and (lambda: dense.synthesis(dense.analysis(f)))}
            value = np.abs(dense.synthesis(c) - f).max() / np.abs(f).max() if dense else None
            t = side.seconds(calls, args.reps, args.threads, 0.0 if args.smoke else 0.05)
            ball.analysis(ball.synthesis(c, kind), kind, out=back)
            ratio = {r: t[r] / t["kugel"] if r in t else None for r in ("dedalus", "numpy")}
            table.row(name, *(1e3 * t[r] if r in t else None for r in ("kugel", "dedalus", "numpy")), ratio["dedalus"], ratio["numpy"],
                      float(np.abs(back - c).max() / np.abs(c).max()), value and float(value), ball.table_bytes / 1e6,
                      dense and dense.bytes / 1e6)


if __name__ == "__main__":
    main()
