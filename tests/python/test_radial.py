# SPDX-License-Identifier: BSD-3-Clause
"""kugel.radial against sums over pixels, and smoothing by them."""
import numpy as np
import pytest

import kugel

RNG = np.random.default_rng(5)
NSIDE = 8
NPIX = 12 * NSIDE**2


@pytest.fixture(scope="module")
def angles():
    v = np.array(kugel.pix2vec(NSIDE, np.arange(NPIX)))
    half = np.sqrt(sum((v[i][:, None] - v[i]) ** 2 for i in range(3))) / 2
    return 2 * np.arcsin(np.minimum(half, 1))


def expected(angles, radial, maps):
    k = radial.kernel(np.minimum(angles, np.pi)) * (4 * np.pi / NPIX)
    return maps @ k


@pytest.mark.parametrize("kernel, width", [("gaussian", 0.3), ("top_hat", 0.31), ("mexican_hat", 0.2),
                                           (lambda a: 1 / (1 + a), None),
                                           ((np.linspace(0, 0.5, 9), np.linspace(1, 0, 9)), None),
                                           (np.exp(-np.arange(30) ** 2 / 50), None)])
def test_sum(angles, kernel, width):
    norm = "peak" if isinstance(kernel, str) and kernel == "mexican_hat" else "integral"
    radial = kugel.Radial(kugel.Grid.healpix(NSIDE), kernel, width, norm=norm, method="direct",
                          radius=0.777 if width is None else None, normalise=False)
    maps = RNG.standard_normal((2, NPIX))
    got, want = radial(maps), expected(angles, radial, maps)
    assert np.abs(got - want).max() < 1e-7 * np.abs(want).max()  # angles by chords: pixels at the very edge may differ
    assert radial.method == "direct" and radial.radius < 1.7
    other = RNG.standard_normal((2, NPIX))
    left, right = np.vdot(got, other), np.vdot(maps, radial.adjoint(other))
    assert abs(left - right) < 1e-13 * np.linalg.norm(got) * np.linalg.norm(other)
    single = radial(maps.astype(np.float32))
    assert single.dtype == np.float32 and np.abs(single - got).max() < 1e-6 * np.abs(got).max()


def test_coefficients():
    width = np.radians(8)
    radial = kugel.Radial(kugel.Grid.healpix(16), "gaussian", width, tolerance=1e-12)
    b = radial.coefficients(60)
    assert abs(radial.integral - 1) < 1e-14 and abs(b[0] - 1) < 1e-12
    assert np.abs(b - kugel.gauss_beam(width, 60)).max() < 2e-3  # that one takes the sphere for flat


def test_smoothing():
    m = RNG.standard_normal(12 * 32**2)
    harmonic = kugel.smoothing(m, np.radians(12), iter=0, method="harmonic")
    direct = kugel.smoothing(m, np.radians(12), method="direct")
    assert np.abs(direct - harmonic).max() < 2e-2 * np.abs(harmonic).max()  # plane and sphere, cut-off, no iterations
    nested = kugel.smoothing(kugel.reorder(m, r2n=True), np.radians(12), nest=True, method="direct")
    assert np.array_equal(kugel.reorder(nested, n2r=True), direct)
    m[:5000] = kugel.UNSEEN
    m[5000:] = 3
    flat = kugel.smoothing(m, np.radians(5), method="direct", normalise_mask=True)
    assert np.allclose(flat[5000:], 3, rtol=1e-14) and (flat[:5000] == kugel.UNSEEN).all()
    positive = kugel.smoothing(np.eye(1, m.size, 777)[0], np.radians(5), method="direct")
    assert positive.min() == 0 and positive.sum() == pytest.approx(1, abs=0.01)


def test_polarisation():
    """Q and U by the sum over pixels are those of E and B by harmonics."""
    np.random.seed(1)
    cl = np.stack([1 / (np.arange(41) + 5.0) ** 2] * 4) * [[1], [1], [1], [0]]
    sky = kugel.synfast(cl, 64, lmax=40, new=True)
    direct = kugel.smoothing(sky, np.radians(6), method="direct")
    harmonic = kugel.smoothing(sky, np.radians(6), lmax=64)
    error, z = abs(direct - harmonic).max(0) / abs(harmonic).max(), kugel.pix2vec(64, np.arange(sky.shape[1]))[2]
    assert error.max() < 5e-3 and error[abs(z) < 2 / 3].max() < 5e-4
    # About the poles pixels are no quadrature; a Gaussian of the angle and one of l differ by 1e-4 at l = 40.
    vectors = kugel.Radial(kugel.Grid.healpix(64), "gaussian", np.radians(6), spin=1)
    assert vectors(sky[1:]).shape == (2, sky.shape[1])


def test_elliptical_beams():
    """A point becomes an ellipse of the right second moments, turned as asked."""
    nside, major, minor, turn = 64, 0.12, 0.08, 0.6
    grid = kugel.Grid.healpix(nside)
    beam = kugel.Radial(grid, "gaussian", minor, parts=kugel.radial.ellipse(major, minor), tolerance=1e-7,
                        orientation=np.full(grid.nrings, turn))
    point = np.zeros(grid.npix)
    theta, phi = kugel.pix2ang(nside, grid.npix // 2 + 100)
    point[grid.npix // 2 + 100] = 1
    image = beam(point)
    t, p = kugel.pix2ang(nside, np.arange(grid.npix))
    x, y = t - theta, (p - phi) * np.sin(theta)
    along, across = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    for offset, fwhm in ((along, major), (across, minor)):
        deviation = np.sqrt((image * offset**2).sum() / image.sum())
        assert deviation == pytest.approx(fwhm / np.sqrt(8 * np.log(2)), rel=0.01)
    with pytest.raises(ValueError, match="orientation"):
        kugel.Radial(grid, "gaussian", minor, orientation=[1.0])


def test_narrow_kernels_warn():
    grid = kugel.Grid.healpix(32)
    with pytest.warns(RuntimeWarning, match="narrow as a pixel"):
        plan = kugel.Radial(grid, "gaussian", kugel.nside2resol(32), method="direct", normalise=False)
    assert plan.constant == pytest.approx((1.1016, 1.2093), abs=1e-4)
    assert kugel.Radial(grid, "gaussian", 5 * kugel.nside2resol(32), method="direct").constant[0] > 0.985


@pytest.mark.parametrize("how", [dict(method="direct"), dict(method="rings"), dict(spin=2), dict()])
@pytest.mark.parametrize("pixels", [1.2, 2.2, 3.3, 10])
def test_constants_stay(how, pixels):
    """A constant comes out as it went in, poles included, and so does the transpose's sum."""
    plan = kugel.Radial(32, "gaussian", pixels * kugel.nside2resol(32), **how)
    if not plan.spin:
        maps = np.full((2, plan.grid.npix), 3.0)
        maps[1, 100:200] = kugel.UNSEEN
        out = plan(maps)
        assert np.abs(out[0] - 3).max() < 1e-5 and (out[1, 100:200] == kugel.UNSEEN).all()
        assert np.abs(plan(maps[0].astype(np.float32)) - 3).max() < 1e-5
    shape = (2, plan.grid.npix) if plan.spin else (plan.grid.npix,)
    x, y = RNG.standard_normal(shape), RNG.standard_normal(shape)
    left, right = (plan(x) * y).sum(), (x * plan.adjoint(y)).sum()
    assert abs(left - right) < 1e-6 * np.linalg.norm(plan(x)) * np.linalg.norm(y)
    raw = kugel.Radial(32, "gaussian", pixels * kugel.nside2resol(32), **how, normalise=False, tolerance=1e-9)
    if pixels == 2.2 and not plan.spin and how:
        assert raw(np.ones(raw.grid.npix)).min() < 0.96


def test_refusals():
    grid = kugel.Grid.healpix(64)
    for make, says in ((dict(kernel="gaussian", width=1e-5), "narrower than the pixels"), (dict(kernel="gaussian", width=4), "at most pi"),
                       (dict(kernel="mexican_hat", width=0.1, norm="peak", normalise_mask=True), "normalise_mask"),
                       (dict(kernel="gaussian", width=0.1, spin=2, method="rings"), "direct method"),
                       (dict(kernel="mexican_hat", width=0.1, norm="peak", normalise=True), "normalise")):
        with pytest.raises((ValueError, NotImplementedError), match=says) as caught:
            kugel.Radial(grid, **make)
        assert "KUGEL_" not in str(caught.value) and ".c:" not in str(caught.value)
    with pytest.raises((ValueError, ZeroDivisionError)):
        kugel.Radial(grid, lambda a: 1 / a, norm=None, radius=0.1)
    with pytest.raises(ValueError, match="angle 0"):
        kugel.Radial(grid, lambda a: np.inf if a == 0 else 1 / a, norm=None, radius=0.1)


@pytest.mark.parametrize("grid, lmax", [(kugel.Grid.healpix(16), 31), (kugel.Grid.healpix(16), 24), (kugel.Grid.gauss(32), 31)])
@pytest.mark.parametrize("kind", ["standard", "cosine", "mexican"])
def test_bank_reconstructs(grid, lmax, kind):
    a = RNG.standard_normal((lmax + 1) * (lmax + 2) // 2) + 0j
    sky = kugel.SHT(grid, lmax).synthesis(a)
    bank = kugel.RadialBank(grid, kugel.kernels.needlets(lmax, kind=kind))
    scales = bank(sky)
    assert np.abs(bank.reconstruct(scales) - sky).max() < 1e-10 * sky.std()
    two = np.stack([scales, 2 * scales])
    assert np.abs(bank.reconstruct(two)[1] - 2 * sky).max() < 1e-10 * sky.std()
    with pytest.raises(ValueError, match="harmonics"):
        kugel.RadialBank(grid, [dict(kernel="gaussian", width=0.5, method="direct")]).reconstruct(scales[:1])


def test_errors():
    grid = kugel.Grid.healpix(4)
    with pytest.raises(ValueError, match="width"):
        kugel.Radial(grid, "gaussian")
    with pytest.raises(ValueError, match="kernel"):
        kugel.Radial(grid, "triangle", 1)
    with pytest.raises(ValueError, match="values\\[1\\]"):
        kugel.Radial(grid, [1, np.nan])
    with pytest.raises(ZeroDivisionError):
        kugel.Radial(grid, lambda a: 1 / (a - a))
    with pytest.raises(ValueError):
        kugel.Radial(grid, "gaussian", 0.1)(np.zeros(5))
    with pytest.raises(ValueError, match="window"):
        kugel.smoothing(np.zeros((3, 192)), beam_window=np.ones(9), method="direct")


@pytest.mark.parametrize("method", ["direct", "rings", "harmonic"])
def test_devices(method):
    found = [d["name"] for d in kugel.devices() if d["available"] and d["kernels"] and d["name"] != "cpu"]
    if not found:
        pytest.skip("no device that runs kernels")
    grid, maps = kugel.Grid.healpix(16), RNG.standard_normal((2, 3072))
    make = dict(kernel="gaussian", width=0.4, method=method, tolerance=1e-13, normalise=False)
    want, there = kugel.Radial(grid, **make), kugel.Radial(grid, device=found[0], **make)
    assert want.device == "cpu" and there.device == found[0]
    resident = there(kugel.DeviceArray(maps, device=found[0]))
    assert isinstance(resident, kugel.DeviceArray)
    for got in (resident.get(), there(maps)):
        assert np.abs(got - want(maps)).max() < 1e-12


def test_bank():
    grid, maps = kugel.Grid.healpix(16), RNG.standard_normal((2, 3072))
    centres = 2.0 ** np.arange(1, 5)
    l = np.arange(33)
    windows = [np.exp(-np.log(np.maximum(l, 0.5) / c) ** 2)[:min(33, int(4 * c))] for c in centres]
    kernels = [dict(kernel=w, method="harmonic", norm=None) for w in windows] + [dict(width=0.2, method="direct")]
    bank = kugel.RadialBank(grid, kernels)
    assert bank.methods == ["harmonic"] * 4 + ["direct"] and len(bank) == 5
    got = bank(maps)
    assert got.shape == (2, 5, 3072)
    for i, k in enumerate(kernels):
        assert np.abs(got[:, i] - kugel.Radial(grid, **k)(maps)).max() < 1e-13


@pytest.mark.parametrize("how", [dict(method="direct"), dict(method="rings"), dict(spin=2), dict(normalise_mask=True, method="direct"),
                                 dict(method="direct", normalise=False)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_stream(tmp_path, how, dtype):
    grid = kugel.Grid.healpix(64)
    plan = kugel.Radial(grid, "gaussian", np.radians(4), **how)
    shape = (2, grid.npix) if plan.spin else (grid.npix,)
    maps = RNG.standard_normal(shape).astype(dtype)
    maps[..., 100:300] = kugel.UNSEEN
    source, target = (np.memmap(tmp_path / name, dtype, "w+", shape=shape) for name in ("in", "out"))
    source[:] = maps
    kugel.set_num_threads(2)  # each takes memory of its own
    try:
        assert plan.stream(source, target, 4 * 10**6) is target
    finally:
        kugel.set_num_threads(0)
    want = plan(maps)
    assert np.abs(target - want).max() <= (0 if how.get("method") != "rings" else 1e-6 * np.abs(want[want > -1e30]).max())
    with pytest.raises(MemoryError):
        plan.stream(source, target, 1000)
    with pytest.raises(ValueError, match="shape"):
        plan.stream(source[..., :10], target)

    class Broken:
        shape, dtype = source.shape, source.dtype

        def __getitem__(self, part):
            raise KeyError("no such pixels")

    with pytest.raises(KeyError, match="no such pixels"):
        plan.stream(Broken(), target)
