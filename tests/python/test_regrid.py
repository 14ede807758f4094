# SPDX-License-Identifier: BSD-3-Clause
"""Regridding: places and directions stay, shapes, gradients by the adjoint, the atmosphere."""
import ctypes

import numpy as np
import pytest

import kugel


def centres(grid):
    t = grid.table()
    theta = np.repeat(t["theta"], t["nphi"])
    return theta, np.concatenate([p + 2 * np.pi * np.arange(n) / n for p, n in zip(t["phi0"], t["nphi"])])


def field(grid):
    """A polynomial of degree 3 with no symmetry."""
    theta, phi = centres(grid)
    x, y, z = np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)
    return 1 + x + 2 * y * z - 0.5 * x * x * y + z**3


def wind(grid):
    """Solid rotation about (1, 2, 3): u eastward, v northward."""
    theta, phi = centres(grid)
    east = 3 * np.sin(theta) - np.cos(theta) * (np.cos(phi) + 2 * np.sin(phi))
    return np.stack([east, np.sin(phi) - 2 * np.cos(phi)])


GRIDS = [kugel.Grid.gauss(12), kugel.Grid.fejer1(14, 30, phi0=0.1), kugel.Grid.lobatto(11), kugel.Grid.octahedral(12),
         kugel.Grid.gauss_reduced(12), kugel.Grid.clenshaw_curtis(13)]


@pytest.mark.parametrize("target", GRIDS + [4])
@pytest.mark.parametrize("source", GRIDS)
def test_fields(source, target):
    there = target if isinstance(target, kugel.Grid) else kugel.Grid.healpix(target)
    got = kugel.regrid(field(source), source, target)
    np.testing.assert_allclose(got.ravel(), field(there), rtol=0, atol=3e-12)
    got = kugel.regrid(wind(source), source, target, spin=1)
    np.testing.assert_allclose(got.reshape(2, -1), wind(there), rtol=0, atol=3e-12)


def test_shapes():
    gauss, cc = kugel.Grid.gauss(12, 25), kugel.Grid.clenshaw_curtis(15, 28)
    m = np.stack([field(gauss), 2 * field(gauss)]).reshape(2, 1, 12, 25)
    assert kugel.regrid(m, gauss, cc).shape == (2, 1, 15, 28)
    assert kugel.regrid(m.reshape(2, 300), gauss, cc).shape == (2, 15, 28)
    assert kugel.regrid(m.astype(np.float32), gauss, 8).dtype == np.float32
    back = kugel.regrid(kugel.regrid(m[0, 0], gauss, 8), 8, gauss, iterations=10)
    np.testing.assert_allclose(back, m[0, 0], atol=1e-9)
    plan = kugel.Regrid(gauss, cc, lmax=5, fwhm=0.1)
    assert plan.lmax == 5 and plan.device == "cpu" and kugel.Regrid(gauss, cc).lmax == 11
    np.testing.assert_allclose(plan(m.reshape(2, 300)),
                               kugel.Regrid(gauss, cc, lmax=5, window=kugel.gauss_beam(0.1, 5))(m.reshape(2, 300)),
                               atol=1e-14)
    for bad in (lambda: kugel.Regrid(gauss, cc, lmax=0), lambda: kugel.Regrid(gauss, cc, fwhm=-1),
                lambda: plan(np.zeros(301)), lambda: kugel.Regrid(gauss, cc, bad_pixels="pray")):
        with pytest.raises(ValueError):
            bad()


def test_holes():
    gauss = kugel.Grid.gauss(32)
    m = np.ones((32, 64))
    m[10:20, 10:30] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        kugel.regrid(m, gauss, 8)
    got = kugel.regrid(m, gauss, 16, bad_pixels="zero", least_good=0.5)
    theta, phi = kugel.pix2ang(16, np.flatnonzero(got == kugel.UNSEEN))
    assert 430 < theta.size < 500 and abs(theta.mean() - 1.45) < 0.1 and abs(phi.mean() - 1.91) < 0.1


def test_adjoint():
    rng = np.random.default_rng(3)
    plan = kugel.Regrid(8, kugel.Grid.octahedral(12), spin=1, iterations=2, fwhm=0.05)
    x, y = rng.standard_normal((2, 768)), rng.standard_normal((2, plan.target.npix))
    left, right = np.vdot(plan(x), y), np.vdot(x, plan.adjoint(y))
    assert abs(left - right) < 1e-13 * np.linalg.norm(x) * np.linalg.norm(y)


def test_device():
    names = [d["name"] for d in kugel.devices() if d["available"] and d["kernels"] and d["name"] != "cpu"]
    if not names:
        pytest.skip("no device that runs kernels")
    gauss, m = kugel.Grid.gauss(12), field(kugel.Grid.gauss(12))
    want = kugel.Regrid(gauss, 8)(m)
    plan = kugel.Regrid(gauss, 8, device=names[0])
    np.testing.assert_allclose(plan(m), want, atol=1e-13)
    there = plan(kugel.DeviceArray(m, device=names[0]))
    np.testing.assert_allclose(there.get(), want, atol=1e-13)


def test_atmosphere(golden):
    """Winds of July and January: the divergence and the vorticity of what is regridded are those of the source."""
    cc, target = kugel.Grid.clenshaw_curtis(241, 480), kugel.Grid.octahedral(128)
    u, v = (np.load(golden.path(f"earth/eraint_jan_{c}850_cc_241x480.npy")).astype(float) for c in "uv")
    lmax = 100
    uv = kugel.regrid([u, v], cc, target, spin=1, lmax=lmax)

    def curls(grid, u, v):
        return kugel.SHT(grid, lmax, spin=1).analysis(np.stack([-v.ravel(), u.ravel()]))

    want, got = curls(cc, u, v), curls(target, *uv)
    assert np.linalg.norm(got - want) < 1e-12 * np.linalg.norm(want)
    smooth = kugel.regrid(uv, target, cc, spin=1, lmax=lmax)
    assert np.abs(smooth - [u, v]).max() < 12 and np.std(smooth - [u, v]) < 0.7  # m/s; what lies beyond lmax
    t, nlon = (golden.path(f"earth/ecmwf_t2m_octahedral_o32{end}") for end in (".npy", "_nlon.txt"))
    o32 = kugel.Grid.octahedral(32)
    np.testing.assert_array_equal(o32.table()["nphi"], np.loadtxt(t.parent / nlon.name))
    kelvin = kugel.regrid(np.load(t).astype(float), o32, kugel.Grid.clenshaw_curtis(61, 120))
    equator, pole = kelvin[30].mean(), kelvin[0].mean()
    assert 295 < equator < 303 and pole < 280 and np.abs(kelvin - 270).max() < 70
