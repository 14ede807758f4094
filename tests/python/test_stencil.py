# SPDX-License-Identifier: BSD-3-Clause
"""kugel.stencil against NumPy, its adjoints, waves in closed form, and its rules."""
import numpy as np
import pytest

import kugel
from kugel.stencil import Plan, Term, laplacian

DEVICES = [d["name"] for d in kugel.devices() if d["available"] and d["kernels"]]
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


def test_compact_and_adi():
    """Heat between walls: order 4 with compact differences, stable at any step; adjoints of compact operators and of steps."""
    errors = []
    for cells in (16, 32):
        x = np.linspace(0, np.pi, cells + 1)
        modes = [np.sin(k * x)[:, None] * np.sin(j * x) for k, j in ((1, 2), (3, 1))]
        plan = laplacian((cells + 1,) * 2, x[1], compact=True, boundary="odd")
        assert plan.order == 4
        steps = cells ** 2 // 4
        u = plan.advance(sum(modes), 0.2 / steps, steps, "adi")
        errors.append(np.abs(u - np.exp(-5 * 0.2) * modes[0] - np.exp(-10 * 0.2) * modes[1]).max())
    assert 3.9 < np.log2(errors[0] / errors[1]) < 4.1
    rng = np.random.default_rng(4)
    n = (12, 15)
    u, v, c = rng.normal(size=n), rng.normal(size=n), rng.random(n)
    for plan, method in ((laplacian(n, compact=True), "adi"), (laplacian(n, coefficient=c, boundary="even"), "adi"),
                         (laplacian(n, order=6), "runge_kutta")):
        after = [np.abs(plan.advance(u.copy(), 0.1 if method == "runge_kutta" else 1e4, steps, method)).max() for steps in (50, 500)]
        assert after[1] < 2 * after[0]
        left, right = (v * plan.advance(u.copy(), 0.2, 7, method)).sum(), (plan.advance_adjoint(v.copy(), 0.2, 7, method) * u).sum()
        assert abs(left - right) < 1e-13 * np.abs(u * v).sum()
    plan = laplacian(n, order=4)
    a, b = rng.normal(size=(2, 2) + n)
    left, right = (b * plan.advance(a.copy(), 0.3, 9)).sum(), (plan.advance_adjoint(b.copy(), 0.3, 9) * a).sum()
    assert abs(left - right) < 1e-12 * np.abs(a * b).sum()
    with pytest.raises(ValueError, match="order 2, or compact"):
        plan.advance(u, 0.1, 1, "adi")
    with pytest.raises(ValueError, match="order is 0"):
        laplacian(n, order=0)


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
                  dict(boundary=["odd", "odd"]), dict(mask=np.full(20, np.nan)), dict(mask=np.ones(3)), dict(precision="f16"), dict(compact=True, order=6),
                  dict(compact=True, boundary="zero")):
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


@pytest.mark.parametrize("device", DEVICES or [None])
def test_device(device):
    if device is None:
        pytest.skip("no device that runs kernels")
    rng = np.random.default_rng(5)
    n = (15, 20)
    c = 1 + 0.2 * rng.random(n)
    here, there = (laplacian(n, 0.7, order=4, coefficient=c, boundary=["odd", "periodic"], device=d) for d in (None, device))
    assert here.bound == there.bound
    u = rng.normal(size=(3,) + n)
    for name in ("apply", "adjoint"):
        want, got = getattr(here, name)(u), getattr(there, name)(u)
        assert np.abs(got - want).max() < 1e-14 * np.abs(want).max()
        resident = getattr(there, name)(kugel.DeviceArray(u, device=device))
        assert isinstance(resident, kugel.DeviceArray) and np.array_equal(resident.get(), got)
        out = kugel.DeviceArray(u.shape, device=device)
        assert getattr(there, name)(kugel.DeviceArray(u, device=device), out=out) is out and np.array_equal(out.get(), got)
    for method, dt in (("leapfrog", 0.3), ("runge_kutta", 0.1)):
        state = u[:2].copy() if method == "leapfrog" else u[0].copy()
        resident = kugel.DeviceArray(state, device=device)
        want = here.advance(state.copy(), dt, 5, method)
        assert there.advance(resident, dt, 5, method) is resident
        assert np.abs(resident.get() - want).max() < 1e-13 * np.abs(want).max()
        there.advance_adjoint(state, dt, 5, method)
    with pytest.raises(ValueError, match="make the plan with device"):
        here.apply(kugel.DeviceArray(u, device=device))
    heat = [laplacian(n, 0.7, compact=True, boundary=["odd", "periodic"], device=d) for d in (None, device)]
    want = heat[0].advance(u[0].copy(), 0.4, 3, "adi")
    resident = kugel.DeviceArray(u[0], device=device)
    assert heat[1].advance(resident, 0.4, 3, "adi") is resident
    assert np.abs(resident.get() - want).max() < 1e-13 * np.abs(want).max()
    assert there.steps_per_pass >= 1 and heat[1].steps_per_pass == 1
