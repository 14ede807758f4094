# SPDX-License-Identifier: BSD-3-Clause
"""kugel.stencil against NumPy, its adjoints, waves in closed form, and its rules."""
import numpy as np
import pytest

import kugel
from kugel.stencil import Plan, Term, laplacian

C = {2: [-2, 1], 4: [-5 / 2, 4 / 3, -1 / 12], 6: [-49 / 18, 3 / 2, -3 / 20, 1 / 90],
     8: [-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]}


def rolled(u, order, h, axes):
    """The periodic Laplacian by numpy.roll."""
    out = 0
    for axis in axes:
        for j, c in enumerate(C[order]):
            out = out + c / h ** 2 * (np.roll(u, j, axis) + np.roll(u, -j, axis) if j else u)
    return out


@pytest.mark.parametrize("precision, error", [("f64", 1e-14), ("f32", 1e-5)])
@pytest.mark.parametrize("order", [2, 4, 6, 8])
@pytest.mark.parametrize("n", [50, (21, 33), (10, 13, 40)])
def test_laplacian(n, order, precision, error):
    plan = laplacian(n, 0.5, order=order, precision=precision)
    u = np.random.default_rng(0).normal(size=(3,) + plan.n).astype(plan.dtype)
    want = rolled(u.astype(float), order, 0.5, range(1, u.ndim))
    assert plan.apply(u).dtype == plan.dtype
    assert np.abs(plan.apply(u) - want).max() < error * np.abs(want).max()
    assert np.abs(plan.bound / (len(plan.n) * 4 * sum(abs(c) * (2 if j else 1) for j, c in enumerate(C[order]))) - 1) < 1e-14


@pytest.mark.parametrize("boundary, condition", [("odd", np.sin), ("even", np.cos)])
def test_walls(boundary, condition):
    x = np.linspace(0, np.pi, 65)
    u = np.sin(3 * x)[:, None] * condition(2 * x)
    got = laplacian((65, 65), x[1], order=8, boundary=["odd", (boundary, boundary)]).apply(u)
    assert np.abs(got + 13 * u).max() < 1e-7


@pytest.mark.parametrize("boundary", ["periodic", "odd", "even", "zero", "one_sided"])
def test_adjoint(boundary):
    rng = np.random.default_rng(1)
    n = (14, 23)
    c, mask = rng.normal(size=n), (rng.random(n) > 0.3) * 1.0
    plan = Plan(n, [Term((2, 0), 2, c), Term((1, 1), -1, field=1, out=2), ((0, 1), 3, c.T.copy().T, 1, 0)], fields=2, outs=3,
                order=6, boundary=boundary, mask=mask)
    u, v = rng.normal(size=(2,) + n), rng.normal(size=(3,) + n)
    left, right = (v * plan.apply(u)).sum(), (plan.adjoint(v) * u).sum()
    assert abs(left - right) < 1e-14 * np.abs(v * plan.apply(u)).sum()
    assert (plan.apply(u)[1] == 0).all() and (plan.apply(u)[:, mask == 0] == 0).all()


def test_standing_wave():
    """Leapfrog follows its own dispersion, 4 sin^2(w dt / 2) = dt^2 A(kh) / h^2, and Runge-Kutta its polynomial."""
    n, h, dt, k = 64, 0.1, 0.05, 2 * np.pi * 3 / 6.4
    x = h * np.arange(n)
    plan = laplacian(n, h, order=4)
    a = -sum(c * (2 * np.cos(j * k * h) if j else 1) for j, c in enumerate(C[4])) / h ** 2
    w = 2 / dt * np.arcsin(dt * np.sqrt(a) / 2)
    state = np.stack([np.cos(k * x) * np.cos(-w * dt), np.cos(k * x)])
    assert plan.advance(state, dt, 333) is state
    assert np.abs(state[1] - np.cos(k * x) * np.cos(333 * w * dt)).max() < 1e-10
    u, heat = np.cos(k * x), 0.001
    growth = sum((-a * heat) ** p / f for p, f in enumerate([1, 1, 2, 6, 24]))
    plan.advance(u, heat, 100, "runge_kutta")
    assert np.abs(u - growth ** 100 * np.cos(k * x)).max() < 1e-14


def test_divergence_of_flux():
    """-G^T c G is div(c grad), symmetric."""
    rng = np.random.default_rng(2)
    n = (30, 40)
    gradient = Plan(n, [Term((1, 0), out=0), Term((0, 1), out=1)], outs=2, order=4)
    c = rng.random(n)
    u, v = rng.normal(size=(2,) + n)
    flux = [-gradient.adjoint(c * gradient.apply(w)) for w in (u, v)]
    assert abs((v * flux[0]).sum() - (u * flux[1]).sum()) < 1e-12
    assert abs(flux[0].sum()) < 1e-11  # nothing is lost


def test_rules():
    for words in (dict(order=3), dict(order=8, n=8), dict(h=0), dict(boundary="wall"), dict(boundary=[("odd", "periodic")]),
                  dict(boundary=["odd", "odd"]), dict(mask=np.full(20, np.nan)), dict(mask=np.ones(3)), dict(precision="f16")):
        with pytest.raises(ValueError):
            laplacian(**{"n": 20, **words})
    for term in (Term(3), Term(1, field=1), Term(1, out=-1), Term(1, np.inf), Term((1, 1)), Term(1, coefficient=np.ones(3))):
        with pytest.raises(ValueError):
            Plan(20, [term])
    with pytest.raises(ValueError):
        Plan(20, [])
    with pytest.raises(TypeError):
        Plan(20, [Term(1, coefficient=np.ones(20, complex))])
    plan = laplacian((20, 30))
    with pytest.raises(TypeError):
        plan.apply(np.ones((20, 30), complex))
    for bad in (np.ones((30, 20)), np.ones(30), 1.0):
        with pytest.raises(ValueError):
            plan.apply(bad)
    u = np.ones((20, 30))
    for bad in (u, np.ones((2, 20, 30), np.float32), np.ones((20, 30, 2)).T, [u, u]):
        with pytest.raises(ValueError):
            plan.advance(bad, 0.1)
    with pytest.raises(ValueError):
        plan.apply(u, out=u)
    with pytest.raises(ValueError):
        plan.advance(np.stack([u, u]), np.nan)
    with pytest.raises(ValueError):
        plan.advance(np.stack([u, u]), 0.1, -1)
    with pytest.raises(ValueError):
        plan.advance(u, 0.1, 1, "euler")
    with pytest.raises(ValueError):
        Plan(20, [Term(1)], outs=2).advance(np.ones(20), 0.1, 1, "runge_kutta")
    assert kugel.stencil.laplacian(20, mask=np.zeros(20)).apply(np.ones((0, 20))).shape == (0, 20)
