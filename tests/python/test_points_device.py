# SPDX-License-Identifier: BSD-3-Clause
"""kugel.points on devices: host arrays, arrays in a device's memory and lenses beside the plan on the CPU."""
import os

import numpy as np
import pytest

import kugel

DEVICES = [d["name"] for d in kugel.devices() if d["available"] and d["kernels"]]
NEEDED = os.environ.get("KUGEL_TEST_NEED", "")
pytestmark = pytest.mark.skipif(not DEVICES and not NEEDED, reason="no device that runs kernels")
LMAX, NALM, N = 23, 300, 200
RNG = np.random.default_rng(4)
THETA, PHI = np.arccos(RNG.uniform(-1, 1, N)), RNG.uniform(-10, 10, N)
THETA[:2] = 0, np.pi


@pytest.fixture(params=DEVICES or [None])
def device(request):
    assert request.param, f"KUGEL_TEST_NEED is {NEEDED}, no device runs kernels here"
    return request.param


def random_alm(*lead):
    alm = RNG.standard_normal((*lead, NALM)) + 1j * RNG.standard_normal((*lead, NALM))
    alm[..., :LMAX + 1].imag = 0
    return alm


def close(got, want, tolerance):
    return np.linalg.norm(got - want) <= tolerance * np.linalg.norm(want)


def test_host_and_device_arrays(device):
    alm = random_alm(2)
    want = kugel.points.Plan(LMAX, tolerance=1e-13).points(THETA, PHI).synthesis(alm)
    plan = kugel.points.Plan(LMAX, tolerance=1e-13, device=device)
    assert plan.device == device
    points = plan.points(THETA, PHI)
    host = points.synthesis(alm)
    assert isinstance(host, np.ndarray) and close(host, want, 1e-12)
    there = plan.points(*(kugel.DeviceArray(a, device=device) for a in (THETA, PHI)))
    got = there.synthesis(kugel.DeviceArray(alm, device=device))
    assert isinstance(got, kugel.DeviceArray) and got.shape == (2, N)
    assert np.array_equal(got.get(), host)  # the same bits
    back = kugel.DeviceArray((2, NALM), np.complex128, device)
    assert there.adjoint(got, out=back) is back and np.array_equal(back.get(), points.adjoint(host))
    found, stats = plan.points(THETA, PHI).solve(np.zeros(N))
    assert not found.any() and stats["iterations"] == 0


def test_once(device):
    alm = random_alm()
    want = kugel.points.synthesis(alm, THETA, PHI, tolerance=1e-13)
    assert close(kugel.points.synthesis(alm, THETA, PHI, tolerance=1e-13, device=device), want, 1e-12)
    plan = kugel.points.Plan(LMAX, precision="f32", device=device)
    assert plan.tolerance == 2e-6
    got = plan.points(THETA, PHI).synthesis(alm.astype(np.complex64))
    assert got.dtype == np.float32 and close(got, want, 4e-6)


def test_lens(device):
    alm, potential = random_alm(), 1e-2 * random_alm()
    values = RNG.standard_normal(N)
    words = dict(theta=THETA, phi=PHI, tolerance=1e-13)
    here, there = kugel.points.Lens(potential, LMAX, **words), kugel.points.Lens(potential, LMAX, **words, device=device)
    assert close(there.synthesis(alm), here.synthesis(alm), 1e-11)
    assert close(there.adjoint(values), here.adjoint(values), 1e-11)
    d = RNG.uniform(-1, 1, (2, N))
    here = kugel.points.Lens(None, LMAX, theta=THETA, phi=PHI, deflection=d, tolerance=1e-13)
    words = {name: kugel.DeviceArray(a, device=device) for name, a in (("theta", THETA), ("phi", PHI), ("deflection", d))}
    there = kugel.points.Lens(None, LMAX, **words, tolerance=1e-13, device=device)
    got = there.synthesis(kugel.DeviceArray(alm, device=device))
    assert close(got.get(), here.synthesis(alm), 1e-12)


def test_interpolate(device):
    m = kugel.alm2map(random_alm(), 16)
    want = kugel.points.interpolate(m, THETA, PHI, lmax=LMAX, tolerance=1e-12)
    assert close(kugel.points.interpolate(m, THETA, PHI, lmax=LMAX, tolerance=1e-12, device=device), want, 1e-10)


def test_refusals(device):
    plan = kugel.points.Plan(LMAX, tolerance=1e-13, device=device)
    with pytest.raises(ValueError, match="theta of point 1 is 4"):
        plan.points([1, 4], [0, 0])
    with pytest.raises(ValueError, match="phi of point 0"):
        plan.points(*(kugel.DeviceArray(np.array(a), device=device) for a in ([1.0, 2.0], [np.nan, 0])))
    with pytest.raises(ValueError, match="the plan is on the CPU"):
        kugel.points.Plan(LMAX).points(*(kugel.DeviceArray(a, device=device) for a in (THETA, PHI)))
    points = plan.points(THETA, PHI)
    with pytest.raises(ValueError, match="must end with"):
        points.synthesis(kugel.DeviceArray(np.zeros(7, complex), device=device))
    with pytest.raises(ValueError, match="out must be a contiguous array"):
        points.synthesis(kugel.DeviceArray(random_alm(), device=device), out=np.empty(N))
    with pytest.raises(ValueError, match="precision"):
        kugel.points.Plan(LMAX, precision="f16")
