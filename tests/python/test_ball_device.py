# SPDX-License-Identifier: BSD-3-Clause
"""kugel.ball on devices, beside the plan on the CPU."""
import os

import numpy as np
import pytest

import kugel
from kugel.ball import Ball

DEVICES = [d["name"] for d in kugel.devices() if d["available"] and d["kernels"] and d["fp64"]]
NEEDED = os.environ.get("KUGEL_TEST_NEED", "")
pytestmark = pytest.mark.skipif(not DEVICES and not NEEDED, reason="no device that runs kernels")
SHAPE = dict(lmax=11, n=8, nr=15, ntheta=12, nphi=24)  # of tests/ball/gpu.c, whose kernels are there


@pytest.fixture(params=DEVICES or [None])
def device(request):
    assert request.param, f"KUGEL_TEST_NEED is {NEEDED}, no device runs kernels here"
    return request.param


def some(ball, components, seed=1):
    rng = np.random.default_rng(seed)
    shape = ((components,) if components > 1 else ()) + (ball.nlm, ball.n)
    c = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    c[..., ball.m == 0, :] = c[..., ball.m == 0, :].real
    if components == 3:
        c[[0, 2], 0] = 0
    return c


@pytest.mark.parametrize("kind", ["scalar", "vector", "spin"])
def test_same_as_the_cpu(device, kind):
    here, there = Ball(**SHAPE, vectors=True), Ball(**SHAPE, vectors=True, device=device)
    assert (here.device, there.device) == ("cpu", device)
    c = some(here, 1 if kind == "scalar" else 3)
    f = here.synthesis(c, kind)
    assert np.abs(there.synthesis(c, kind) - f).max() < 1e-13 * np.abs(f).max()
    assert np.abs(there.analysis(f, kind) - c).max() < 1e-13 * np.abs(c).max()
    a, b = here.synthesis_adjoint(f, kind), there.synthesis_adjoint(f, kind)
    assert np.abs(b - a).max() < 1e-13 * np.abs(a).max()
    a, b = here.analysis_adjoint(c, kind), there.analysis_adjoint(c, kind)
    assert np.abs(b - a).max() < 1e-13 * np.abs(a).max()


def test_arrays_stay_there(device):
    ball = Ball(**SHAPE, vectors=True, device=device)
    c = np.stack([some(ball, 1, seed) for seed in (2, 3)])
    f = ball.synthesis(kugel.DeviceArray(c, device=device))
    assert isinstance(f, kugel.DeviceArray) and f.shape == (2,) + ball.shape and f.device == device
    back = kugel.DeviceArray(np.zeros_like(c), device=device)
    assert ball.analysis(f, out=back) is back
    assert np.abs(back.get() - c).max() < 1e-13 * np.abs(c).max()
    with pytest.raises(TypeError, match="dtype complex64"):
        ball.synthesis(kugel.DeviceArray(c.astype(np.complex64), device=device))
    bad = np.zeros(ball.shape)
    bad[3, 4, 5] = np.inf
    with pytest.raises(ValueError, match="1 values are NaN or infinite"):
        ball.analysis(bad)


def test_several(device):
    """A device that counts as two: the bits of one."""
    one, two = Ball(**SHAPE, vectors=True, device=device), Ball(**SHAPE, vectors=True, device=f"{device},{device.split(':')[1]}")
    c = some(one, 3)
    f = one.synthesis(c, "spin")
    assert two.device.count(",") == 1 and np.array_equal(two.synthesis(c, "spin"), f)
    assert np.array_equal(two.analysis(f, "spin"), one.analysis(f, "spin"))
    far = kugel.DeviceArray(c, device=device)
    assert np.array_equal(two.synthesis(two.curl(far), "vector").get(), one.synthesis(one.curl(far), "vector").get())


def test_operators_profiles_and_spectra(device):
    here, there = Ball(**SHAPE, vectors=True), Ball(**SHAPE, vectors=True, device=device)
    near = lambda a, b: np.abs(a - b).max() < 1e-13 * np.abs(b).max()
    s, v, p = some(here, 1), some(here, 3), some(here, 2)
    calls = [(s, Ball.grad), (s, Ball.laplacian), (v, Ball.laplacian), (v, Ball.div), (v, Ball.curl), (p, Ball.from_potentials),
             (v, Ball.to_potentials), (v, lambda b, x: b.apply("curl", x, adjoint=True)), (s, lambda b, x: b.spectrum(x, "m")),
             (v, lambda b, x: b.spectrum(x, "n", "vector")), (v, lambda b, x: b.profiles(x, "spin")),
             (here.profiles(v, "vector"), lambda b, x: b.from_profiles(x, "vector"))]
    for x, call in calls:
        want, got = call(here, x), call(there, kugel.DeviceArray(x, device=device))
        assert isinstance(got, kugel.DeviceArray) and near(got.get(), want) and near(call(there, x), want)
    c, out = kugel.DeviceArray(v, device=device), kugel.DeviceArray(np.zeros_like(v), device=device)
    assert there.apply("curl", c, out=out) is out and near(out.get(), here.curl(v))
    assert near(there.analysis(there.synthesis(out, "vector"), "vector").get(), here.curl(v))
    with pytest.raises(ValueError, match="overlap"):
        there.apply("curl", c, out=c)
    with pytest.raises(ValueError, match=r"expected \[\.\.\., 3, 78, 8\]"):
        there.curl(kugel.DeviceArray(s, device=device))
