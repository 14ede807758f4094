# SPDX-License-Identifier: BSD-3-Clause
"""Random options of the plans of kugel.polynomial and kugel.ball, good and bad: a plan that is made transforms there and back, one that is
not is refused in a sentence that names a value."""
import re

import numpy as np
import pytest

from kugel import polynomial
from kugel.ball import Ball

REFUSED = (ValueError, NotImplementedError, MemoryError, OverflowError)
ODD = [-1, 0, 1, 2, 3, 5, 8, 13, 100, 2**40, -2**40]


def number(rng, low, high):
    return int(rng.integers(low, high)) if rng.random() < 0.9 else int(rng.choice(ODD))


def real(rng, high):
    return float(rng.choice([np.nan, np.inf, -0.1, high + 0.1])) if rng.random() < 0.1 else float(rng.uniform(0, high))


def choice(rng, *values):
    return values[rng.integers(len(values))]


def worland(rng):
    count = int(rng.integers(1, 4))
    l = [number(rng, 0, 30) for _ in range(count)]
    words = dict(type=choice(rng, "chebyshev", "legendre", "cylinder-energy", "sphere-energy", "jacobi"), norm=choice(rng, "unity", "natural"),
                 engine=choice(rng, "auto", "connection", "dense", "quadrature", "bidiagonal", "scan", "tensor"), precision=choice(rng, "f64", "f32"),
                 a=choice(rng, 0, 0.5, 1, -0.5, -1, 0.3), shift=choice(rng, 0, 0.5, -0.5, 17))
    if rng.random() < 0.3:
        words["multiplicity"] = [number(rng, 0, 4) for _ in range(count)]
    if rng.random() < 0.3:
        words["nl"] = [number(rng, 0, 12) for _ in range(count)]
    if rng.random() < 0.2:
        words["radii"] = [real(rng, 1) for _ in range(4)]
    plan = polynomial.JonesWorland(l, number(rng, 1, 12), choice(rng, None, number(rng, 1, 60)), **words)
    exact = plan.weights is not None and (words["engine"] != "quadrature" or words["type"] == "chebyshev")
    kept = np.repeat(np.broadcast_to(words.get("nl", plan.n), len(l)), words.get("multiplicity", 1))
    return plan, exact, np.arange(plan.n) < kept[:, None]


def legendre(rng):
    m = [number(rng, 0, 20) for _ in range(int(rng.integers(1, 4)))]
    words = {"theta": [real(rng, np.pi) for _ in range(5)]} if rng.random() < 0.3 else {}
    lmax = number(rng, 0, 30)
    plan = polynomial.AssociatedLegendre(m, lmax, choice(rng, None, number(rng, 1, 40)), precision=choice(rng, "f64", "f32"), **words)
    return plan, not words, np.arange(lmax + 1) >= np.array(m)[:, None]


def ball(rng):
    plan = Ball(number(rng, 0, 9), number(rng, 1, 8), choice(rng, None, number(rng, 0, 9)), truncation=choice(rng, "rhomboidal", "triangular", "trapezoidal"),
                dmax=choice(rng, None, number(rng, 0, 20)), type=choice(rng, "chebyshev", "sphere-energy", "jacobi"), factors=number(rng, 0, 3),
                nr=choice(rng, None, number(rng, 1, 20)), nphi=choice(rng, None, number(rng, 1, 30)), precision=choice(rng, "f64", "f32"))
    return plan, True, np.arange(plan.n) < plan.nl[plan.l][:, None]


@pytest.mark.parametrize("make", [worland, legendre, ball])
def test_random_options(make):
    rng, made, refused = np.random.default_rng(14), 0, 0
    for _ in range(400):
        try:
            plan, exact, kept = make(rng)
        except REFUSED as e:
            refused += 1
            assert re.search(r"\d|must|allowed|needs?", str(e)), e
            continue
        made += 1
        c = rng.standard_normal(kept.shape) * kept
        single = plan._real == np.float32 if make is ball else plan.dtype == np.float32
        f = plan.synthesis(c)
        assert np.isfinite(f).all()
        if exact:
            assert np.abs(plan.analysis(f) - c).max() <= (2e-3 if single else 1e-10) * max(1, np.abs(c).max()), plan
    assert made > 50 and refused > 30
