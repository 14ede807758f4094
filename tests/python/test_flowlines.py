# SPDX-License-Identifier: BSD-3-Clause
"""Textures smeared along the lines of polarisation: against the Fourier transform of the kernel, and healpy where it is installed."""
import numpy as np
import pytest

import kugel as hp

NSIDE = 32
THETA, PHI = hp.pix2ang(NSIDE, np.arange(12 * NSIDE**2))
ONE, ZERO = np.ones(PHI.size), np.zeros(PHI.size)
BELT = abs(THETA - np.pi / 2) < 0.2


def amplitude(m, q, steps, step):
    """Of cos(m phi) about the equator after smearing; fixed values at the poles undo the scale from 0 to 1."""
    texture = np.where(abs(THETA - np.pi / 2) < 0.7, np.cos(m * PHI), 0)
    texture[THETA < 0.3], texture[THETA > np.pi - 0.3] = 5, -5
    out = 5 - 10 * hp.line_integral_convolution(q * ONE, ZERO, steps, steps, step, texture=texture)
    wave = np.cos(m * PHI[BELT])
    return out[BELT] @ wave / (wave @ wave)


@pytest.mark.parametrize("m", [4, 8, 12])
def test_lines_along_parallels_take_the_kernels_transform(m):
    steps, step = 40, 0.008
    k = np.arange(-steps // 2 + 1, steps // 2)
    window = np.cos(np.pi * k / steps) ** 2
    rings = np.mean([window @ np.cos(m * step * k / s) for s in np.sin(THETA[BELT])]) / window.sum()
    pixel = 1 - (m / NSIDE) ** 2 / 6  # linear interpolation between pixels takes that much
    assert amplitude(m, -1, steps, step) == pytest.approx(rings * pixel, abs=0.03)


def test_lines_along_meridians_leave_what_does_not_vary_along_them():
    assert amplitude(8, 1, 40, 0.008) == pytest.approx(1, abs=0.02)
    assert amplitude(8, 1, 1, 0.008) == pytest.approx(1, abs=1e-12)  # a line of one point does nothing


def test_a_straight_field_over_the_pole():
    """Lines along x at the north pole leave a texture of y as it is and smear one of x."""
    x, y = np.sin(THETA) * np.cos(PHI), np.sin(THETA) * np.sin(PHI)
    q, u = np.cos(2 * PHI), -np.sin(2 * PHI)  # the direction x lies at -phi from the meridian
    cap = THETA < 0.2
    kept, gone = (hp.line_integral_convolution(q, u, 60, 60, 0.01, texture=np.where(THETA < 0.8, np.cos(25 * w), 0)) for w in (y, x))
    assert np.corrcoef(kept[cap], -np.cos(25 * y[cap]))[0, 1] > 0.98
    assert np.std(gone[cap]) < 0.2 * np.std(kept[cap])


def test_options():
    rng = np.random.default_rng(1)
    q, u = rng.normal(size=(2, 768))
    a = hp.line_integral_convolution(q, u, 10, 10)
    assert a.min() == 0 and a.max() == 1
    np.testing.assert_array_equal(a, hp.line_integral_convolution(q, u, 10, 10, rand_seed=42))
    assert np.any(a != hp.line_integral_convolution(q, u, 10, 10, rand_seed=43))
    bright = hp.line_integral_convolution(q, u, 10, 10, modulate=True)
    clipped = np.clip(np.hypot(q, u), 0.5, 1)
    expected = (1 - a) * clipped / ((1 - a) * clipped).max()
    np.testing.assert_allclose(1 - hp.line_integral_convolution(q, u, 10, 10, modulate=True, pol_min=0.5, pol_max=1), expected, atol=1e-13)
    assert np.any(bright != a)
    cl = hp.anafast(hp.line_integral_convolution(0 * q, u * 0, 1, 1, ell=8), lmax=20)
    assert cl[8] > 20 * np.delete(cl[1:], 7).max()
    with_holes = q.copy()
    with_holes[:5] = hp.UNSEEN, np.nan, np.inf, hp.UNSEEN, 0
    assert np.isfinite(hp.line_integral_convolution(with_holes, u, 10, 10)).all()
    for wrong, error in (((q, u, 5, 6), ValueError), ((q, u[:192], 6, 6), ValueError), ((q, u, 6, 6, 0.0), ValueError), (((q, q), u), ValueError),
                         ((q, u, 6, 6, 0.1, 0, 1, 1, None, with_holes), ValueError)):
        with pytest.raises(error):
            hp.line_integral_convolution(*wrong)


@pytest.mark.parametrize("steps, kernel, least", [(60, 60, 0.99), (60, 30, 0.9)])
def test_as_healpy(steps, kernel, least):
    healpy = pytest.importorskip("healpy")
    rng = np.random.default_rng(2)
    q, u = hp.smoothing(rng.normal(size=(2, PHI.size)), fwhm=0.5, pol=False)
    texture = rng.normal(size=PHI.size)
    for modulate in (False, True):
        args = (q, u, steps, kernel, 0.006, 0, 1, 1, None, texture, modulate)
        assert np.corrcoef(hp.line_integral_convolution(*args), healpy.line_integral_convolution(*args))[0, 1] > least
