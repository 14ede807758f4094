#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes onset.csv: critical Rayleigh numbers C_l of a sphere that is heated throughout, in 20 digits (needs mpmath).

usage: make_onset.py > onset.csv

Independent of the library's way. Marginal states obey laplace^3 p = -C l (l + 1) p, so p is a sum of spherical Bessel functions j_l(k r) with
the three k^2 whose cube is C l (l + 1), and temperature the same sum times k^4. Three conditions at r = 1, p = 0, k^4 p = 0, and p' = 0
(rigid) or p'' = 0 (free), have a solution where their determinant vanishes. Columns: surface, l, C_l.
"""
import mpmath as mp

mp.mp.dps = 40


def bessel(l, k):
    """j_l and its first two derivatives at k."""
    f, g = (mp.sqrt(mp.pi / (2 * k)) * mp.besselj(n + mp.mpf(1) / 2, k) for n in (l, l + 1))
    slope = l * f / k - g
    return f, slope, -2 * slope / k - (1 - l * (l + 1) / k**2) * f


def determinant(c, l, rigid):
    scale = (c * l * (l + 1))**(mp.mpf(1) / 6)
    rows = mp.matrix(3, 3)
    for i in range(3):
        k = scale * mp.expjpi(mp.mpf(i) / 3)
        f, slope, bend = bessel(l, k)
        rows[0, i], rows[1, i], rows[2, i] = f, k**4 * f, k * slope if rigid else k * k * bend
    return mp.det(rows)


def lowest(l, rigid):
    """The first zero: the determinant, divided by its phase, is real."""
    step, c = mp.mpf(50), mp.mpf(50)
    before = determinant(c, l, rigid)
    while True:
        now = determinant(c + step, l, rigid)
        if mp.re(now / before) < 0:
            return mp.findroot(lambda x: mp.re(determinant(x, l, rigid) / before), (c, c + step), solver="anderson", tol=1e-50)
        c, before = c + step, now


print("surface,l,C")
for rigid in (True, False):
    for l in range(1, 5):
        print(f"{'rigid' if rigid else 'free'},{l},{mp.nstr(lowest(l, rigid), 20)}")
