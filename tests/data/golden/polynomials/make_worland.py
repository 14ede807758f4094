#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes worland.csv: sparse operators, boundary rows and stencils of Jones-Worland functions, in 60 digits (needs mpmath).

usage: make_worland.py > worland.csv

Independent of the library's way: the natural functions have rational coefficients, so operators act exactly on polynomials in x as lists
of fractions, and results are expanded from the highest power down. Only the norms h_n are in 60 digits. Columns: what (number of
kugel_worland_operator, 100 + kugel_worland_condition, or 200 + 10 first + second condition of a stencil; second 9: none), type, a, shift, norm, l, n, i, j,
value; elements that are zero are left out.
"""
from fractions import Fraction as F

import mpmath as mp

mp.mp.dps = 60
N, PAD = 7, 8
TYPES = {0: (F(-1, 2), F(-1, 2)), 1: (F(0), F(-1, 2)), 2: (F(0), F(0)), 3: (F(0), F(1, 2)), 4: (F(1), F(1, 2))}


def add(p, q, factor=1):
    out = [F(0)] * max(len(p), len(q))
    for i, v in enumerate(p):
        out[i] += v
    for i, v in enumerate(q):
        out[i] += factor * v
    return out


def mul(p, q):
    out = [F(0)] * (len(p) + len(q) - 1)
    for i, v in enumerate(p):
        for j, w in enumerate(q):
            out[i + j] += v * w
    return out


def derive(p):
    return [k * v for k, v in enumerate(p)][1:] or [F(0)]


def integrate(p):
    return [F(0)] + [v / (k + 1) for k, v in enumerate(p)]


def at_one(p):
    return sum(p, F(0))


def jacobi(n, a, b):
    """P_n^{(a,b)} in powers of x, by the explicit sum over ((x - 1) / 2)^k."""
    out, power = [F(0)], [F(1)]
    for k in range(n + 1):
        c = F(1)
        for i in range(k):  # (n + a + b + 1)_k / k!
            c *= (n + a + b + 1 + i) / F(i + 1)
        for i in range(n - k):  # (a + k + 1)_{n-k} / (n - k)!
            c *= (a + k + 1 + i) / F(i + 1)
        out = add(out, power, c)
        power = mul(power, [F(-1, 2), F(1, 2)])
    return out


def expand(p, basis):
    """Coefficients of p in the basis, from the highest power down."""
    p, out = list(p), [F(0)] * len(basis)
    for n in range(len(p) - 1, -1, -1):
        out[n] = p[n] / basis[n][n]
        p = add(p, basis[n], -out[n])
    return out


X1 = [F(1), F(1)]  # 1 + x


def laplacian(p, l, sphere):
    """Of r^l p, over r^l: 8 (1 + x) p'' + (8 l + 12 or 8) p'."""
    return add(mul(X1, derive(derive(p))), derive(p), F(8 * l + (12 if sphere else 8), 8))


def operator(op, l):
    """Degree of the argument, function of p, integrals."""
    eight = lambda p: [8 * v for v in p]
    lap = lambda sphere: lambda p: eight(laplacian(p, l, sphere))
    lap2 = lambda sphere: lambda p: eight(laplacian(eight(laplacian(p, l, sphere)), l, sphere))
    half = lambda p: [v / 2 for v in mul(X1, p)]
    qm = lambda p: [4 * v for v in derive(p)]
    qp = lambda p: add([(2 * l + 3) * v for v in p], mul(X1, derive(p)), 2)
    table = [(l, half, 0), (l - 1, list, 0), (l + 1, half, 0), (l, list, 1), (l, list, 2), (l, list, 4),
             (l, lap(True), 2), (l, lap(True), 4), (l, lap2(True), 4), (l, lap(False), 2), (l, lap(False), 4), (l, lap2(False), 4),
             (l - 1, qm, 1), (l - 1, qm, 2), (l - 1, qm, 4), (l + 1, qp, 1), (l + 1, qp, 2), (l + 1, qp, 4)]
    return table[op]


def norms(a, shift, l, count):
    """Squared norms of r^l P_n^{(a, l + shift)}(2 r^2 - 1) under (1 - r^2)^a r^{2 shift + 1} dr, by gamma functions."""
    out = []
    for n in range(count):
        b = l + shift
        A, B = mp.mpf(a.numerator) / a.denominator, mp.mpf(b.numerator) / b.denominator
        s = 2 * n + A + B + 1
        if n == 0:
            out.append(mp.beta(A + 1, B + 1) / 2)
        else:
            out.append(mp.gamma(n + A + 1) * mp.gamma(n + B + 1) / (2 * s * mp.gamma(n + A + B + 1) * mp.factorial(n)))
    return out


def condition(c, p, l):
    d1, d2 = derive(p), derive(derive(p))
    value, slope = at_one(p), l * at_one(p) + 4 * at_one(d1)
    return [value, slope, l * (l - 1) * value + (8 * l + 4) * at_one(d1) + 16 * at_one(d2), slope + (l + 1) * value, slope - value][c]


def put(what, kind, norm, l, i, j, value):
    if value:
        a, shift = TYPES[kind]
        print(f"{what},{kind},{float(a)},{float(shift)},{norm},{l},{N},{i},{j},{mp.nstr(value, 25)}")


def number(f):
    return mp.mpf(f.numerator) / f.denominator


def main():
    print("what,type,a,shift,norm,l,n,i,j,value")
    for kind, norm, l in ((0, 0, 0), (0, 0, 1), (0, 0, 6), (0, 1, 2), (1, 0, 3), (2, 0, 4), (3, 0, 2), (4, 0, 3), (4, 1, 0)):
        a, shift = TYPES[kind]
        basis = {d: [jacobi(n, a, d + shift) for n in range(N + PAD)] for d in (l - 1, l, l + 1) if d >= 0}
        h = {d: norms(a, shift, d, N + PAD) for d in basis}
        for op in range(18):
            degree, f, integrals = operator(op, l)
            for j in range(N if degree >= 0 else 0):
                p = f(basis[degree][j])
                for _ in range(integrals):
                    p = integrate(p)
                for i, v in enumerate(expand(p, basis[l])[:N]):
                    if i >= integrals:
                        put(op, kind, norm, l, i, j, number(v) * (1 if norm else mp.sqrt(h[l][i] / h[degree][j])))
        rows = [[number(condition(c, p, l)) * (1 if norm else 1 / mp.sqrt(g)) for p, g in zip(basis[l][:N], h[l])] for c in range(5)]
        for c, row in enumerate(rows):
            for j, v in enumerate(row):
                put(100 + c, kind, norm, l, 0, j, v)
            for j in range(N - 1):
                put(209 + 10 * c, kind, norm, l, j, j, mp.mpf(1))
                put(209 + 10 * c, kind, norm, l, j + 1, j, -row[j] / row[j + 1])
        for c, d in ((0, 1), (0, 2), (3, 2)):
            A, B = rows[c], rows[d]
            for j in range(N - 2):
                s = mp.lu_solve(mp.matrix([[A[j + 1], A[j + 2]], [B[j + 1], B[j + 2]]]), mp.matrix([-A[j], -B[j]]))
                for k, v in enumerate((mp.mpf(1), s[0], s[1])):
                    put(200 + 10 * c + d, kind, norm, l, j + k, j, v)


main()
