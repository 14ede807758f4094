# SPDX-License-Identifier: BSD-3-Clause
"""kugel.fft.Plan: all precisions on the CPU and on devices, and plans in files."""
import numpy as np
import pytest

import kugel
from kugel.fft import DoubleDouble, Plan

RNG = np.random.default_rng(3)
DEVICES = [d["name"] for d in kugel.devices() if d["available"] and d["kernels"] and d["name"] != "cpu"][:1]


@pytest.fixture(scope="module")
def device():
    if not DEVICES:
        pytest.skip("no device that runs kernels")
    return DEVICES[0]


def pairs(z, dtype):
    return np.stack([z.real, z.imag], -1).astype(dtype)


def numbers(h):
    return h[..., 0].astype(float) + 1j * h[..., 1].astype(float)


def off(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


@pytest.mark.parametrize("where", [None] + DEVICES)
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_double_and_single(where, norm):
    x = RNG.standard_normal((3, 12, 10))
    for precision, dtype, bound in (("f64", np.float64, 1e-15), ("f32", np.float32, 3e-7)):
        plan = Plan((12, 10), "r2c", precision, norm=norm, device=where)
        y = plan.forward(x.astype(dtype))
        assert off(y, np.fft.rfft2(x, norm=norm)) < bound and off(plan.inverse(y), x) < bound
    plan, z = Plan(12, "dct2", norm=norm, device=where), x.transpose(0, 2, 1)
    if where:  # whose host arrays are in C order
        z = z.copy()
    out = np.empty(z.shape)
    j = np.arange(12, dtype=np.longdouble)
    cosines = 2 * np.cos(4 * np.arctan(np.longdouble(1)) / 24 * (2 * j[:, None] + 1) * j)
    want = z @ cosines * {None: 1, "ortho": 24**-0.5, "forward": 1 / 24}[norm]
    assert plan.forward(z, out) is out and off(out, want) < 1e-15


@pytest.mark.parametrize("where", [None] + DEVICES)
def test_half(where):
    z = RNG.standard_normal((4, 60)) + 1j * RNG.standard_normal((4, 60))
    h = pairs(z, np.float16)
    plan = Plan(60, precision="half", norm="ortho", device=where)
    y = plan.forward(h)
    assert y.dtype == np.float16 and y.shape == (4, 60, 2)
    assert off(numbers(y), np.fft.fft(numbers(h), norm="ortho")) < 4e-4 and off(numbers(plan.inverse(y)), z) < 1e-3
    x = z.real.astype(np.float16)
    real = Plan(60, "r2c", "half", norm="ortho", device=where)
    y = real.forward(x)
    assert y.shape == (4, 31, 2) and off(real.inverse(y).astype(float), x.astype(float)) < 1e-3


@pytest.mark.parametrize("where", [None] + DEVICES)
def test_double_double(where):
    x = DoubleDouble.of(RNG.standard_normal((2, 30)), 1e-17 * RNG.standard_normal((2, 30)))
    plan = Plan(30, "r2c", "dd", device=where)
    y = plan.forward(x.parts)
    want = kugel.fft.rfft(x).parts
    assert y.dtype == np.complex128 and y.shape == (2, 16, 2)
    assert np.linalg.norm((y[..., 0] - want[..., 0]) + (y[..., 1] - want[..., 1])) < 1e-29
    back = plan.inverse(y)
    assert np.abs((back[..., 0] - x.hi) + (back[..., 1] - x.lo)).max() < 1e-29


def test_device_arrays(device):
    x = RNG.standard_normal((5, 24))
    for precision, a in (("f64", x), ("half", x.astype(np.float16)), ("dd", DoubleDouble.of(x).parts)):
        plan = Plan(24, "dst3", precision, device=device)
        y = plan.forward(kugel.DeviceArray(a, device=device))
        assert isinstance(y, kugel.DeviceArray) and y.shape == a.shape and y.dtype == a.dtype
        back = kugel.DeviceArray(a.shape, a.dtype, device)
        assert plan.inverse(y, back) is back and off(back.get().astype(float), a.astype(float)) < 2e-3
    with pytest.raises(ValueError, match="out is in host memory"):
        plan.forward(kugel.DeviceArray(a, device=device), out=np.empty(a.shape))


def test_files(device, tmp_path, monkeypatch):
    monkeypatch.setenv("KUGEL_CACHE", "off")
    x = RNG.standard_normal((2, 9, 16))
    made, path = Plan((9, 16), "r2c", norm="ortho", device=device), tmp_path / "r2c.plan"
    made.save(path)
    loaded = Plan.load(path, device)
    assert repr(loaded) == repr(made) == f"Plan((9, 16), 'r2c', 'f64', device={device!r})"
    assert np.array_equal(made.forward(x), loaded.forward(x))
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(OSError, match="is damaged"):
        Plan.load(path, device)
    path.write_bytes(b"KUGEL")
    with pytest.raises(OSError, match="no plan"):
        Plan.load(path, device)
    with pytest.raises(OSError, match="cannot read"):
        Plan.load(tmp_path / "none", device)


@pytest.mark.parametrize("where", [None] + DEVICES)
def test_axes_extent_modulus(where):
    x = RNG.standard_normal((2, 6, 10, 5))
    plan = Plan((6, 10, 5), "r2c", axes=(2, 0), device=where)
    y = plan.forward(x)
    assert plan.axes == (2, 0) and off(y, np.fft.rfftn(x, axes=(3, 1))) < 1e-15 and off(plan.inverse(y), x) < 1e-15
    x = x[..., 0].copy()
    small = Plan((8, 16), "r2c", extent=(6, 10), device=where)
    y = small.forward(x)
    assert off(y, np.fft.rfft2(x, (8, 16))) < 1e-15
    assert small.extent == (6, 10) and off(small.inverse(y), x) < 1e-15
    z = RNG.standard_normal((3, 12)) + 1j * RNG.standard_normal((3, 12))
    for modulus, f in (("magnitude", np.abs), ("power", lambda v: np.abs(v)**2), ("log", lambda v: np.log(np.abs(v)))):
        plan = Plan(12, modulus=modulus, norm="ortho", device=where)
        assert off(plan.forward(z), f(np.fft.fft(z, norm="ortho"))) < 1e-14
        with pytest.raises(ValueError, match="no inverse"):
            plan.inverse(z)


@pytest.mark.parametrize("where", [None] + DEVICES)
def test_hooks(where):
    """The derivative of windowed lines, as in examples/fft_hooks.c, and factors on all four sides."""
    n, x = 64, RNG.standard_normal((3, 64))
    window, slope = np.hanning(n), 2j * np.pi * np.arange(n // 2 + 1)
    plan = Plan(n, "r2c", device=where, hooks=[("forward", "read", 0, window), ("forward", "write", 0, slope)])
    assert off(plan.forward(x), np.fft.rfft(x * window) * slope) < 1e-15
    z = RNG.standard_normal((6, 8)) + 1j * RNG.standard_normal((6, 8))
    a, b, c, d = (RNG.standard_normal(m) + 1j * RNG.standard_normal(m) for m in (6, 8, 6, 8))
    plan = Plan((6, 8), device=where, hooks=[("forward", "read", 0, a), ("forward", "write", -1, b), ("inverse", "read", 0, c),
                                             ("inverse", "write", 1, d)])
    assert off(plan.forward(z), np.fft.fft2(z * a[:, None]) * b) < 1e-15
    assert off(plan.inverse(z), np.fft.ifft2(z * c[:, None]) * d) < 1e-15
    single = Plan(8, "c2c", "f32", device=where, hooks=[("forward", "read", 0, np.arange(8))])
    assert off(single.forward(z.astype(np.complex64)), np.fft.fft(z * np.arange(8))) < 3e-7
    for bad in ([("forward", "read", 0, np.ones(7))], [("forward", "read", 5, np.ones(8))], [("along", "read", 0, np.ones(8))],
                [("forward", "read", 0)]):
        with pytest.raises(ValueError):
            Plan(8, hooks=bad, device=where)


def test_refusals(tmp_path):
    plan = Plan((4, 6))
    with pytest.raises(ValueError, match=r"expected complex128\[\.\.\., 4, 6\]"):
        plan.forward(np.zeros((4, 6)))
    with pytest.raises(ValueError, match="expected"):
        plan.forward(np.zeros((6, 4), complex))
    with pytest.raises(ValueError, match="out is"):
        plan.forward(np.zeros((4, 6), complex), np.zeros((4, 6)))
    for bad in ({"kind": "dct5"}, {"precision": "f8"}, {"effort": "some"}, {"norm": "none"}):
        with pytest.raises(ValueError, match="allowed are"):
            Plan(8, **bad)
    with pytest.raises(ValueError):
        Plan(0)
    with pytest.raises(Exception, match="nothing to save"):
        plan.save(tmp_path / "plan")
