# SPDX-License-Identifier: BSD-3-Clause
"""kugel.nufft in double-double against sums in binary128 (golden files), and its rules in Python."""
import numpy as np
import pytest
from test_nufft import CASES, read

import kugel


def pairs(rows, shape):
    """Complex numbers as high and low parts, [..., 2]."""
    z = np.zeros((rows.shape[0], 2), complex)
    z[:, 0] = rows[:, 0] + 1j * rows[:, -2 if rows.shape[1] == 4 else 1]
    if rows.shape[1] == 4:
        z[:, 1] = rows[:, 1] + 1j * rows[:, 3]
    return z.reshape(shape + (2,))


@pytest.mark.parametrize("name", [n for n in CASES if n != "t3d3_wide"])  # of which the grid takes gigabytes
@pytest.mark.parametrize("tolerance", [1e-18, 1e-28])
def test_golden(name, tolerance):
    head, part = read(CASES[name])
    kind, ndim, sign = int(head["type"][0]), int(head["dim"][0]), int(head["sign"][0])
    third = kind == 3
    n = (int(head["targets"][0]),) if third else tuple(int(k) for k in head["modes"])
    x, s = part.get("x", np.zeros((0, ndim))), part.get("s", np.zeros((0, ndim))) if third else None
    given = pairs(part.get("f" if kind == 2 else "c", np.zeros((0, 2))), n if kind == 2 else (-1,))
    want = pairs(part.get("r", np.zeros((0 if kind == 2 else int(np.prod(n)), 4))), (-1,) if kind == 2 else n)
    plan = kugel.nufft.Plan(None if third else n, {1: "to_modes", 2: "to_points", 3: "to_frequencies"}[kind], tolerance=tolerance, sign=sign,
                            ndim=ndim, precision="dd")
    got = plan.points(x, s).execute(given)
    assert got.shape == want.shape
    error, size = np.abs((got - want).sum(-1)), np.abs(given[..., 0]).sum()
    assert error.max(initial=0) <= (6 * tolerance + 1e-29) * size
    cancels = np.linalg.norm(want) < 0.05 * size * np.sqrt(want.size / 2) / np.sqrt(max(given.size / 2, 1))
    if want.size >= 32 and min(n) >= 4 and not cancels:
        assert np.linalg.norm(error) <= tolerance * np.linalg.norm(want) + 1e-29 * size


def test_points_of_two_parts_and_rules():
    rng = np.random.default_rng(1)
    x, c = rng.uniform(-3, 3, (40, 2)), np.zeros((3, 40, 2), complex)
    c[..., 0] = rng.normal(size=(3, 40)) + 1j * rng.normal(size=(3, 40))
    plan = kugel.nufft.Plan((8, 9), "to_modes", precision="dd")
    assert plan.width > 28 and plan.error < 1e-28
    f = plan.points(x).execute(c)
    assert f.shape == (3, 8, 9, 2)
    two = np.stack([x, np.zeros_like(x)], -1)
    assert np.array_equal(plan.points(two).execute(c), f)
    two[..., 1] = 1e-20
    assert 1e-21 < np.abs((plan.points(two).execute(c) - f).sum(-1)).max() < 1e-17
    double = kugel.nufft.Plan((8, 9), "to_modes", tolerance=1e-14).points(x).execute(c[..., 0])
    np.testing.assert_allclose(f[..., 0], double, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="must end with"):
        plan.points(x).execute(c[..., 0])
    with pytest.raises(NotImplementedError, match="on the CPU, without gradient"):
        kugel.nufft.Plan((8, 9), "to_modes", precision="dd", real=True)
    with pytest.raises(NotImplementedError):
        plan.points(x).spread(c)
