# SPDX-License-Identifier: BSD-3-Clause
"""Functions of 25 digits (tests/data/golden/polynomials) and bounds that hold for all degrees to 1000."""
import csv
import pathlib

import numpy as np
import pytest

import kugel
from kugel import polynomial

DATA = pathlib.Path(__file__).resolve().parents[1] / "data/golden/polynomials"


def rows(name):
    """Numbers of a file, and words where they are none."""
    with open(DATA / f"{name}.csv") as file:
        return list(csv.reader(file))[1:]


def groups(name, keys, select=lambda row: True):
    out = {}
    for row in rows(name):
        if select(row):
            out.setdefault(tuple(map(int, row[:keys])), []).append(tuple(map(float, row[keys:])))
    return out.items()


def test_jones_worland_functions():
    degrees = {}
    for l, n, r, w in (map(float, row) for row in rows("jw_values")):
        degrees.setdefault(int(l), []).append((int(n), r, w))
    assert max(degrees) == 1000 and sum(map(len, degrees.values())) > 1200
    for l, values in degrees.items():
        n, r, want = np.array(values).T
        radii, at = np.unique(r, return_inverse=True)
        degree, k = np.unique(n.astype(int), return_inverse=True)
        units = np.zeros((degree.size, degree.max() + 1))
        units[np.arange(degree.size), degree] = 1
        got = polynomial.JonesWorland(l, degree.max() + 1, radii=radii).synthesis(units)
        size = polynomial.JonesWorland(l, degree.max() + 1).synthesis(units)  # a function's size, on a grid that holds it
        scale = np.sqrt((size ** 2).mean(-1))[k] + abs(want)
        assert (abs(got[k, at] - want) / scale).max() < 3e-14, l


def test_associated_legendre_functions():
    count = 0
    for (l, m), values in groups("plm_values", 2, lambda row: int(row[0]) <= 1100):
        theta, want, _ = np.array(values).T
        unit = np.zeros(l + 1)
        unit[l] = 1
        got = polynomial.AssociatedLegendre(m, l, theta=theta).synthesis(unit)
        assert abs(got - want).max() < 1e-14 * max(1, abs(want).max()), (l, m)
        count += len(want)
    assert count > 100


def test_harmonics_with_spin():
    """sY_lm at longitude 0, by rotations between orders: of spin s from E, a real and an imaginary coefficient, of -s from their difference."""
    count = 0
    for s, l, m, theta, want in (map(float, row) for row in rows("spin_ylm")):
        s, l, m = int(s), int(l), int(m)
        if s == 0:
            continue
        ring = kugel.Grid.rings([theta], [1])
        plan = kugel.SHT(ring, l, spin=abs(s), engine="connection")
        seen = []
        for value in (1, 1j):
            alm = np.zeros((2, plan.nalm), complex)
            alm[0, abs(m) * (2 * l + 1 - abs(m)) // 2 + l] = value
            seen.append(plan.synthesis(alm)[:, 0])
        positive = (s > 0) == (m >= 0)  # sY_l,-m = (-1)^(s + m) -sY_lm
        q, u = seen[0][0], seen[1][1] if m else seen[0][0] * (1 if positive else (-1) ** s)
        got = -(q + u) / 2 if positive else -((-1) ** s) * (q - u) / 2
        if m == 0:
            got = -q if positive else -((-1) ** s) * q
        got *= (-1) ** (s + m) if m < 0 else 1
        assert abs(got - want) < 2e-14 * max(1, abs(want)), (s, l, m, theta)
        count += 1
    assert count > 50


@pytest.mark.parametrize("name, lam, mu", [("leg2cheb", 0.5, 0), ("cheb2leg", 0, 0.5), ("c32_to_u", 1.5, 1), ("u_to_c32", 1, 1.5)])
def test_entries_of_connections(name, lam, mu):
    entries = [(int(i), int(j), float(v)) for word, i, j, v in rows("connection_entries") if word == name]
    columns = sorted({j for _, j, _ in entries})
    units = np.zeros((len(columns), max(columns) + 1))
    units[np.arange(len(columns)), columns] = 1
    matrix = polynomial.ultra2ultra(units, lam, mu)
    for i, j, v in entries:
        row = matrix[columns.index(j)]
        assert abs(row[i] - v) < 1e-15 * max(abs(v), abs(row).max() * 1e-1), (i, j)


def error(a, b):
    """Of each row, by its norm."""
    return np.linalg.norm(a - b, axis=-1) / np.linalg.norm(b, axis=-1)


def test_all_degrees_come_back():
    n, rng = 24, np.random.default_rng(1)
    plan = polynomial.JonesWorland(range(1001), n, engine="connection")
    c = rng.standard_normal((1001, n))
    f = plan.synthesis(c)
    assert error(plan.analysis(f), c).max() < 5e-15
    norm = np.sqrt(plan.weights[0] * (f ** 2).sum(-1)) / np.sqrt((c ** 2).sum(-1)) - 1  # rotations keep norms; so does the quadrature
    assert (abs(norm) / (1 + np.sqrt(np.arange(1001)))).max() < 1e-15


def test_engines_agree():
    """Tables that the recurrence in n makes have errors of its own, which grow with n and l; so has a thousand steps in float."""
    n, rng = 24, np.random.default_rng(2)
    some = np.array([0, 1, 2, 17, 64, 124, 125, 500, 999, 1000])
    c = rng.standard_normal((len(some), n))
    for precision, tables, recurrence in (("f64", 1e-14, 1e-13), ("f32", 1e-6, 1e-6)):
        one, two, three = (polynomial.JonesWorland(some, n, 540, engine=e, precision=precision) for e in ("connection", "dense", "quadrature"))
        x, few = c.astype(one.dtype), slice(None) if precision == "f64" else some <= 500
        f = one.synthesis(x)
        assert error(two.synthesis(x), f)[few].max() < tables and error(two.analysis(f), x)[few].max() < tables
        assert error(three.synthesis(x), f)[some <= 125].max() < recurrence and error(three.analysis(f), x)[some <= 125].max() < recurrence
