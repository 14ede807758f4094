# SPDX-License-Identifier: BSD-3-Clause
"""kugel.nufft on devices: golden files and arrays in a device's memory, beside the plan on the CPU."""
import os

import numpy as np
import pytest
from test_nufft import CASES, read

import kugel

DEVICES = [d["name"] for d in kugel.devices() if d["available"] and d["kernels"]]
NEEDED = os.environ.get("KUGEL_TEST_NEED", "")
pytestmark = pytest.mark.skipif(not DEVICES and not NEEDED, reason="no device that runs kernels")


@pytest.fixture(params=DEVICES or [None])
def device(request):
    assert request.param, f"KUGEL_TEST_NEED is {NEEDED}, no device runs kernels here"
    return request.param


def transform(name, tolerance, device):
    head, part = read(CASES[name])
    kind, ndim, sign = int(head["type"][0]), int(head["dim"][0]), int(head["sign"][0])
    n = tuple(int(k) for k in head["modes"])
    x = part.get("x", np.zeros((0, ndim)))
    given = part.get("c" if kind == 1 else "f", np.zeros((0, 2)))
    given = (given[:, 0] + 1j * given[:, 1]).reshape((-1,) if kind == 1 else n)
    want = part.get("r", np.zeros((0 if kind == 2 else int(np.prod(n)), 4)))
    want = ((want[:, 0] + want[:, 1]) + 1j * (want[:, 2] + want[:, 3])).reshape(n if kind == 1 else (-1,))
    plan = kugel.nufft.Plan(n, "to_modes" if kind == 1 else "to_points", tolerance=tolerance, sign=sign, upsampling=2, device=device)
    return n, given, want, plan.points(x).execute(given)


@pytest.mark.parametrize("name", [n for n in CASES if n[1] in "12"])
def test_golden(name, device):
    tolerance = 1e-8
    n, given, want, got = transform(name, tolerance, device)
    error, floor = np.abs(got - want), 3e-15 * np.abs(given).sum()
    assert error.max(initial=0) <= 6 * tolerance * np.abs(given).sum() + floor
    cancels = np.linalg.norm(want) < 0.05 * np.abs(given).sum() * np.sqrt(want.size) / np.sqrt(max(given.size, 1))
    if want.size >= 16 and min(n) >= 4 and not cancels:
        assert np.linalg.norm(error) <= tolerance * np.linalg.norm(want) + floor


def test_arrays_stay_there(device):
    rng = np.random.default_rng(1)
    x, c = rng.uniform(-9, 9, (500, 2)), rng.normal(size=(3, 500)) + 1j * rng.normal(size=(3, 500))
    want = kugel.nufft.Plan((14, 15), "to_modes", tolerance=1e-9, upsampling=2).points(x).execute(c)
    points = kugel.nufft.Plan((14, 15), "to_modes", tolerance=1e-9, upsampling=2, device=device).points(kugel.DeviceArray(x, device=device))
    got = points.execute(kugel.DeviceArray(c, device=device))
    assert isinstance(got, kugel.DeviceArray) and got.shape == (3, 14, 15)
    np.testing.assert_allclose(got.get(), want, rtol=0, atol=1e-8 * np.abs(want).max())
    assert np.array_equal(points.execute(c), got.get())  # host arrays, with the same bits
    back = kugel.DeviceArray((3, 500), np.complex128, device)
    assert points.adjoint(got, out=back) is back
    inner = np.vdot(back.get(), c), np.vdot(got.get(), got.get())
    assert abs(inner[0] - inner[1]) <= 1e-14 * abs(inner[1])


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_least_squares_stay_there(device, precision):
    rng = np.random.default_rng(3)
    x, f = rng.uniform(-3, 3, (500, 2)), rng.normal(size=(2, 14, 15)) + 1j * rng.normal(size=(2, 14, 15))
    words = dict(tolerance=1e-5, upsampling=2, precision=precision)
    host, plan = kugel.nufft.Plan((14, 15), "to_points", **words), kugel.nufft.Plan((14, 15), "to_points", device=device, **words)
    there = kugel.DeviceArray(x, device=device)
    w = plan.points(there).density(5)
    assert isinstance(w, kugel.DeviceArray) and w.dtype == (np.float64 if precision == "f64" else np.float32)
    np.testing.assert_allclose(w.get(), host.points(x).density(5), rtol=1e-5 if precision == "f32" else 1e-12)
    assert np.array_equal(plan.points(x).density(5), w.get())  # host coordinates: NumPy, with the same bits
    want = host.normal(x, w.get()).execute(f)
    got = plan.normal(there, w).execute(kugel.DeviceArray(f, device=device))
    assert isinstance(got, kugel.DeviceArray)
    np.testing.assert_allclose(got.get(), want, rtol=0, atol=5e-5 * np.abs(want).max())
    assert np.array_equal(plan.normal(x, w.get()).execute(f), got.get())
    spread = plan.points(there).spread(kugel.DeviceArray(f[0].reshape(-1)[:500 // 250].repeat(250), device=device))
    assert spread.shape == plan.fine
    with pytest.raises(ValueError, match="weights is on"):
        host.normal(x, w)


def test_derivatives_stay_there(device):
    rng = np.random.default_rng(4)
    x, f = rng.uniform(-3, 3, (200, 2)), rng.normal(size=(2, 34, 41)) + 1j * rng.normal(size=(2, 34, 41))
    words = dict(tolerance=1e-6, upsampling=2, gradient=True)
    want = kugel.nufft.Plan((34, 41), "to_points", **words).points(x).execute(f)
    points = kugel.nufft.Plan((34, 41), "to_points", device=device, **words).points(kugel.DeviceArray(x, device=device))
    got = points.execute(kugel.DeviceArray(f, device=device))
    assert isinstance(got, kugel.DeviceArray) and got.shape == (2, 3, 200)
    np.testing.assert_allclose(got.get(), want, rtol=0, atol=1e-12 * np.abs(want).max())
    assert points.adjoint(got).shape == (2, 34, 41)


def test_finufft_names(device):
    rng = np.random.default_rng(2)
    x, c = rng.uniform(-3, 3, (2, 300)), rng.normal(size=300) + 1j * rng.normal(size=300)
    there = [kugel.DeviceArray(a, device=device) for a in (*x, c)]
    got = kugel.nufft.nufft2d1(*there, (14, 15), eps=1e-9, upsampfac=2)
    want = kugel.nufft.nufft2d1(*x, c, (14, 15), eps=1e-9, upsampfac=2)
    np.testing.assert_allclose(got.get(), want, rtol=0, atol=1e-8 * np.abs(want).max())


def test_refusals(device):
    x = np.array([[0.1, 0.2], [np.nan, 0.1]])
    plan = kugel.nufft.Plan((14, 15), "to_modes", tolerance=1e-9, upsampling=2, device=device)
    with pytest.raises(ValueError, match="point 1 is not finite"):
        plan.points(x)
    with pytest.raises(ValueError, match="point 1 is not finite"):
        plan.points(kugel.DeviceArray(x, device=device))
    with pytest.raises(ValueError, match="the plan is on the CPU"):
        kugel.nufft.Plan((14, 15), "to_modes").points(kugel.DeviceArray(x, device=device))
    points = plan.points(x[:1])
    with pytest.raises(ValueError, match="must end with"):
        points.execute(kugel.DeviceArray(np.zeros(2, complex), device=device))
    with pytest.raises(ValueError, match="out must be"):
        points.execute(kugel.DeviceArray(np.zeros(1, complex), device=device), out=np.zeros((14, 15), complex))
