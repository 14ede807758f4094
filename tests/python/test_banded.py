# SPDX-License-Identifier: BSD-3-Clause
"""kugel.banded against dense matrices."""
import numpy as np
import pytest

import kugel
from kugel import banded

RNG = np.random.default_rng(4)


def bands(*shape):
    return [RNG.uniform(-0.5, 0.5, shape), RNG.uniform(1, 2, shape), RNG.uniform(-0.5, 0.5, shape)]


def dense(lower, diagonal, upper):
    n = len(diagonal)
    a = np.diag(diagonal)
    if lower is not None:
        a[range(1, n), range(n - 1)] = lower[1:]
    if upper is not None:
        a[range(n - 1), range(1, n)] = upper[:-1]
    return a


@pytest.mark.parametrize("which", ["lower", "upper", "both"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_shared_matrix(which, dtype):
    n = 37
    lower, diagonal, upper = (d.astype(dtype) for d in bands(n))
    lower, upper = None if which == "upper" else lower, None if which == "lower" else upper
    a = dense(lower, diagonal, upper).astype(float)
    x = RNG.standard_normal((5, 2, n)).astype(dtype)
    plan = banded.Banded(lower, diagonal, upper)
    assert plan.dtype == dtype and plan.n == n and plan.systems is None and plan.solvable
    b = plan.product(x)
    eps = np.finfo(dtype).eps
    assert b.dtype == dtype and np.abs(b - x @ a.T).max() < 20 * eps
    assert np.abs(plan.solve(b) - x).max() < 40 * eps
    assert plan.solve(b, out=b) is b and np.abs(b - x).max() < 40 * eps


def test_matrix_of_each_system_and_columns():
    n, systems = 20, 6
    parts = bands(systems, n)
    x = RNG.standard_normal((systems, n))
    want = np.stack([dense(*(d[k] for d in parts)) @ x[k] for k in range(systems)])
    assert np.allclose(banded.product(x, *parts), want, rtol=1e-14, atol=1e-14)
    assert np.allclose(banded.solve(want, *parts), x, rtol=1e-13, atol=1e-13)
    turned = banded.solve(want.T, *(d.T for d in parts), columns=True)
    assert np.allclose(turned, x.T, rtol=1e-13, atol=1e-13)


def test_double_double():
    n = 50
    pairs = [np.stack([d, d * 2.0**-60], -1) for d in bands(n)]
    b = np.stack([np.ones(n), np.zeros(n)], -1)
    plan = banded.Banded(*pairs, precision="dd")
    back = plan.product(plan.solve(b)) - b
    assert np.abs(back.sum(-1)).max() < 1e-29


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
def test_complex_right_hand_sides(dtype):
    n, real = 30, np.zeros(1, dtype).real.dtype
    parts = [d.astype(real) for d in bands(n)]
    x = (RNG.standard_normal((3, n)) + 1j * RNG.standard_normal((3, n))).astype(dtype)
    plan = banded.Banded(*parts)
    b = plan.product(x)
    eps = np.finfo(dtype).eps
    assert b.dtype == dtype and np.abs(b - x @ dense(*parts).T).max() < 30 * eps
    assert np.abs(plan.solve(b) - x).max() < 60 * eps and plan.solve(b, out=b) is b and np.abs(b - x).max() < 60 * eps
    own = bands(3, n)
    y = banded.solve(x, *own)
    assert np.abs(np.stack([dense(*(d[k] for d in own)) @ y[k] for k in range(3)]) - x).max() < 1e-6 + 1e3 * eps
    assert np.array_equal(banded.solve(np.array([1j, 1j]), lower=np.zeros(2), diagonal=np.ones(2)), [1j, 1j])


@pytest.mark.parametrize("lam", [1, 2])
@pytest.mark.parametrize("precision", ["f64", "dd"])
def test_rows_are_exchanged(lam, precision):
    n = 198 + lam  # the other of 199 and 200 has an eigenvalue 0
    diagonal, off = np.full(n, lam - 2.0), np.ones(n)
    a, x = dense(off, diagonal, off), RNG.standard_normal(n)
    want = np.linalg.solve(a, x)
    if precision == "f64":
        got = banded.solve(x, off, diagonal, off)
    else:
        pair = [np.stack([d, 0 * d], -1) for d in (x, off, diagonal, off)]
        got = banded.solve(pair[0], *pair[1:], precision="dd").sum(-1)
    assert np.abs(got - want).max() < 1e-13 * np.linalg.cond(a) * np.abs(want).max()


def test_refusals():
    one = np.ones(4)
    five = np.ones(5)  # 1 + 2 cos(4 pi / 6) = 0
    with pytest.raises(ValueError, match="singular"):
        banded.solve(five, five, five, five)
    assert not banded.Banded(five, five, five).solvable and banded.Banded(one, one, one).solvable
    with pytest.raises(TypeError, match="matrices are real"):
        banded.Banded(one, one * 1j)
    with pytest.raises(ValueError, match="lower, upper"):
        banded.Banded(diagonal=one)
    with pytest.raises(ValueError, match="shapes"):
        banded.Banded(one, np.ones(5))
    with pytest.raises(ValueError, match="precision"):
        banded.Banded(one, precision="f16")
    with pytest.raises(ValueError):
        banded.Banded(one, [1, np.nan, 1, 1])
    with pytest.raises(ValueError):
        banded.Banded(one).solve(np.ones(5))
    with pytest.raises(ValueError):
        banded.Banded(one).solve(one, out=np.ones(5))


def test_device_arrays():
    names = [d["name"] for d in kugel.devices() if d["kernels"]]
    if not names:
        pytest.skip("no device that runs kernels")
    lower, diagonal, _ = bands(30)
    b = RNG.standard_normal((7, 30))
    want = banded.solve(b, lower, diagonal)
    plan = banded.Banded(lower, diagonal, device=names[0])
    there = plan.solve(kugel.DeviceArray(b, device=names[0]))
    assert np.allclose(there.get(), want, rtol=1e-13, atol=1e-13)
    assert np.allclose(plan.solve(b), want, rtol=1e-13, atol=1e-13)
