# SPDX-License-Identifier: BSD-3-Clause
"""kugel.kernels: shapes, tight frames, filters, cut-offs, sources."""
import numpy as np
import pytest

import kugel
from kugel import kernels

RNG = np.random.default_rng(11)
NSIDE, LMAX = 16, 32


def band_limited(lmax=LMAX, nside=NSIDE):
    return kugel.synfast(1 / (1 + np.arange(lmax + 1.0)), nside, lmax=lmax)


def test_shapes():
    grid = kugel.Grid.healpix(64)
    a, sigma = np.linspace(0, 0.3, 7), 0.1
    gauss = kugel.Radial(grid, **kernels.gaussian(sigma=sigma))
    assert np.allclose(gauss.kernel(a) / gauss.kernel(a[:1]), np.exp(-(a**2) / 2 / sigma**2), atol=1e-12)
    assert kernels.gaussian(1.0)["width"] == 1 and abs(gauss.integral - 1) < 1e-12
    one, two = (kugel.Radial(grid, **k, tolerance=1e-9) for k in (kernels.fisher(0.3), kernels.fisher(kappa=[40, 90], integral=[1, 2])))
    kappa = np.log(2) / 2 / np.sin(0.3 / 4) ** 2
    assert np.allclose(one.kernel(a) / one.kernel(a[:1]), np.exp(kappa * (np.cos(a) - 1)), atol=1e-9)
    want = sum(i * k / (2 * np.pi * (1 - np.exp(-2 * k))) * np.exp(k * (np.cos(a) - 1)) for k, i in ((40, 1), (90, 2)))
    assert np.allclose(two.kernel(a), want, rtol=1e-8)
    disc = kugel.Radial(grid, **kernels.top_hat(0.2))
    assert np.allclose(disc.kernel([0, 0.199, 0.201]), [1 / (2 * np.pi * (1 - np.cos(0.2)))] * 2 + [0])
    hat = kugel.Radial(grid, **kernels.mexican_hat(0.1))
    y = 2 * np.tan(a / 2)
    want = (1 + (y / 2) ** 2) ** 2 * (2 - (y / 0.1) ** 2) * np.exp(-((y / 0.1) ** 2) / 2) / 2
    assert np.allclose(hat.kernel(a), want, atol=1e-9)
    spline = kugel.Radial(grid, **kernels.table([0, 0.1, 0.2], [1, 0.5, 0]))
    assert np.allclose(spline.kernel([0, 0.1]), [1, 0.5])
    for bad in (lambda: kernels.gaussian(), lambda: kernels.fisher(), lambda: kernels.fisher(1, kappa=2), lambda: kernels.gaussian(1, sigma=1), lambda: kernels.mexican_hat(),
                lambda: kernels.square_root([1, -1]), lambda: kernels.matched_filter([1, 1], [1])):
        with pytest.raises(ValueError):
            bad()


@pytest.mark.parametrize("kind", ["standard", "cosine", "mexican"])
@pytest.mark.parametrize("base, first", [(2, 0), (1.6, 2)])
def test_needlets(kind, base, first):
    windows = kernels.needlet_windows(LMAX, kind=kind, base=base, first=first)
    assert np.allclose((windows**2).sum(0), 1, atol=1e-12)
    for j, row in enumerate(windows[1:-1], first):
        assert abs(np.argmax(row) - base**j) <= 0.2 * base**j + 1
        if kind == "standard":
            outside = (np.arange(LMAX + 1) <= base ** (j - 1)) | (np.arange(LMAX + 1) >= base ** (j + 1))
            assert not row[outside].any()
    grid = kugel.Grid.gauss(LMAX + 1)
    bank = kugel.RadialBank(grid, kernels.needlets(LMAX, kind=kind, base=base, first=first))
    assert len(bank) == len(windows)
    t = kugel.SHT(grid, LMAX)
    m = t.synthesis(t.analysis(RNG.standard_normal(grid.npix)))
    scales = bank(m)
    weight = np.repeat(grid.table()["weight"], grid.table()["nphi"])
    again = bank.adjoint(scales * weight) / weight  # the adjoint is with respect to plain sums
    assert np.abs(again - m).max() < 1e-12 * np.abs(m).max()
    other = RNG.standard_normal(scales.shape)
    assert abs(np.vdot(scales, other) - np.vdot(m, bank.adjoint(other))) < 1e-11 * np.linalg.norm(m) * np.linalg.norm(other)


def test_refusals():
    for how in (dict(lmax=0), dict(lmax=8, base=1), dict(lmax=8, kind="other"), dict(lmax=8, first=-1)):
        with pytest.raises(ValueError):
            kernels.needlet_windows(**how)
    bank = kugel.RadialBank(kugel.Grid.healpix(4), kernels.needlets(8))
    with pytest.raises(ValueError):
        bank.adjoint(np.zeros((2, 192)))


def test_square_root_of_a_spectrum():
    cl = 1 / (10 + np.arange(2 * 64.0)) ** 2
    plan = kugel.Radial(kugel.Grid.healpix(64), **kernels.square_root(cl))
    npix = 12 * 64**2
    got = np.mean([kugel.anafast(plan(RNG.standard_normal(npix) * np.sqrt(npix / 4 / np.pi)), lmax=100) for _ in range(4)], 0)
    assert abs(np.mean(got[20:] / cl[20:101]) - 1) < 0.02


def test_matched_filter():
    ell = np.arange(129.0)
    beam, cl, noise = kugel.gauss_beam(np.radians(2), 128), 1 / (1 + ell) ** 2, 1e-4
    psi, sigma = kernels.matched_filter(beam, cl * beam**2 + noise)
    made = kernels.matched(beam, cl, noise)
    assert np.array_equal(made["kernel"], psi)
    assert abs(sigma - np.sqrt(((2 * ell + 1) / 4 / np.pi * psi**2 * (cl * beam**2 + noise)).sum())) < 1e-12 * sigma
    shape = ((2 * ell + 1) * beam).sum()
    assert abs(((2 * ell + 1) * psi * beam).sum() / shape - 1) < 1e-12  # height kept


def test_cut_for_rms():
    cl, kernel = 1 / (1 + np.arange(200.0)) ** 2, kernels.gaussian(np.radians(4))
    cut = kernels.cut_for_rms(kernel, cl, 1e-3)
    assert np.radians(2) < cut < np.radians(8)
    grid = kugel.Grid.gauss(128)
    t = kugel.SHT(grid, 100)
    m = t.synthesis(kugel.synalm(cl[:101], lmax=100))
    whole = kugel.Radial(grid, **kernel, tolerance=1e-9, method="direct")
    part = kugel.Radial(grid, **kernel, radius=cut, method="direct")
    error = np.std(part(m) * whole.scale / part.scale - whole(m)) / np.std(whole(m))
    assert 3e-4 < error < 3e-3


def test_sources():
    fwhm, nside = np.radians(6), 32
    theta, phi = np.radians([40, 100, 150]), np.radians([20, 200, 300])
    v = np.array(kugel.pix2vec(nside, np.arange(12 * nside**2)))
    m = RNG.standard_normal(v.shape[1]) * 0.2
    for t, p, height in zip(theta, phi, (30, 20, 10)):
        d = np.arccos(np.clip(np.array(kugel.ang2vec(t, p)) @ v, -1, 1))
        m += height * np.exp(-4 * np.log(2) * (d / fwhm) ** 2)
    found = kernels.find_sources(m, fwhm)
    assert len(found) == 3 and (np.diff(found["snr"]) < 0).all()
    assert np.abs(found["theta"] - theta).max() < 0.05 * fwhm and np.abs(found["phi"] - phi).max() < 0.1 * fwhm
    assert np.abs(found["peak"] / [30, 20, 10] - 1).max() < 0.05
    with pytest.raises(ValueError):
        kernels.find_sources(m[:-1], fwhm)


def test_a_kernel_is_arguments():
    with pytest.raises(TypeError, match=r"\*\*kernels"):
        kugel.Radial(kugel.Grid.healpix(4), kernels.gaussian(0.3))
