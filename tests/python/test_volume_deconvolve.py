# SPDX-License-Identifier: BSD-3-Clause
"""Deconvolution and PSFs in Python: real stacks, scikit-image's algorithm, arguments."""
import os
import pathlib

import numpy as np
import pytest

import kugel
from kugel import volume
from kugel.volume import Deconvolution, Psf, deconvolve

DATA = pathlib.Path(os.environ.get("KUGEL_TEST_SHARED", pathlib.Path(__file__).parents[3] / "shared" / "data")) / "volume"


def stack(name):
    tifffile = pytest.importorskip("tifffile")
    if not (DATA / name).exists():
        pytest.skip(f"no {DATA / name}")
    return tifffile.imread(DATA / name)


def blur(x, h):
    """Convolution with zeros beyond the edges, by NumPy."""
    n = [a + b - 1 for a, b in zip(x.shape, h.shape)]
    axes = tuple(range(x.ndim))
    full = np.fft.irfftn(np.fft.rfftn(x, n, axes) * np.fft.rfftn(h, n, axes), n, axes)
    return full[tuple(slice((b - 1) // 2, (b - 1) // 2 + a) for a, b in zip(x.shape, h.shape))]


def small():
    h = Psf.gaussian((7, 9, 9), sigma=(1, 1.5), voxel=1, dtype=np.float64).values
    x = np.zeros((20, 36, 40))
    x[8:12, 12:24, 12] = x[8:12, 12:24, 16] = 1000
    x[10, 18, 28] = 8000
    return x, h, np.maximum(blur(x, h), 0)


def test_devices():
    x, h, y = small()
    want = deconvolve(y, h, 4, "biggs", background=1)
    for device in (d["name"] for d in kugel.devices() if d["available"] and d["kernels"]):
        plan = Deconvolution(y.shape, h, 4, "biggs", background=1, device=device)
        assert np.abs(plan(y) - want).max() < 1e-11 * want.max() and plan.cost["device_bytes"] > 0
        for method in ("biggs", "wiener", "isra"):  # steps on the host, convolutions in less memory than all takes
            want = deconvolve(y, h, 4, method, background=1)
            whole = Deconvolution(y.shape, h, 4, method, background=1, device=device, exact=True).cost["device_bytes"]
            plan = Deconvolution(y.shape, h, 4, method, background=1, device=device, exact=True, memory=whole * 2 // 3)
            assert plan.cost["host"] and plan.cost["tiles"] == 1 and plan.cost["device_bytes"] <= whole * 2 // 3
            assert np.abs(plan(y) - want).max() < 1e-11 * np.abs(want).max()


def test_psfs_by_depth():
    x, h, _ = small()
    wide = Psf.gaussian((7, 9, 9), sigma=(1.5, 2.5), voxel=1, dtype=np.float64).values
    weight = np.clip((np.arange(20) - 4) / 12, 0, 1)[:, None, None]  # of the PSF at plane 16
    y = np.maximum(blur(x * (1 - weight), h) + blur(x * weight, wide), 0)
    how = dict(iterations=60, method="shb")
    got = deconvolve(y, np.stack([h, wide]), depths=[4, 16], **how)
    assert np.abs(got - x).sum() < 0.8 * np.abs(deconvolve(y, h, **how) - x).sum()
    with pytest.raises(ValueError, match="depths"):
        deconvolve(y, np.stack([h, wide]), depths=[4, 8, 16])


def test_exact_in_less_memory(tmp_path):
    x = np.random.default_rng(3).random((24, 30, 28)).astype("f4")
    h = np.random.default_rng(4).random((13, 15, 17)).astype("f4")
    whole = Deconvolution(x.shape, h, 5)
    small = Deconvolution(x.shape, h, 5, memory=whole.cost["bytes"] * 7 // 10, exact=True, scratch=tmp_path)
    assert small.cost["tiles"] == 1 and small.cost["bytes"] <= whole.cost["bytes"] * 7 // 10
    a, b = whole(x), small(x)
    assert np.abs(a - b).max() <= 1e-5 * a.max() and not list(tmp_path.iterdir())
    with pytest.raises(MemoryError, match="exact needs"):
        Deconvolution(x.shape, h, 5, memory=1e5, exact=True)


def test_same_as_richardson_and_lucy_in_the_interior():
    x, h, y = small()
    want = np.full(y.shape, 0.5)
    for _ in range(15):  # as in skimage.restoration.richardson_lucy
        model = blur(want, h)
        ratio = np.divide(y, model, out=np.zeros_like(y), where=model > 1e-9)
        want = want * blur(ratio, h[::-1, ::-1, ::-1])
    got = deconvolve(y, h, 15, edges="zero", start=np.full(y.shape, 0.5))
    inner = (slice(6, -6), slice(8, -8), slice(8, -8))
    assert np.abs(got - want)[inner].max() < 1e-9 * want.max()


def test_another_back_projector():
    x, h, y = small()
    plain = deconvolve(y, h, 6)
    assert np.abs(deconvolve(y, h, 6, back=h) - plain).max() < 1e-5 * plain.max()
    sharper = deconvolve(y, h, 6, back=h**2)  # narrower: faster steps
    assert np.linalg.norm(sharper - x) < np.linalg.norm(plain - x) < np.linalg.norm(y - x)
    with pytest.raises(ValueError, match="back"):
        deconvolve(y, h, 6, back=h[:, :-1])


def test_noise_and_background():
    x, h, y = small()
    image = np.random.default_rng(2).poisson(y + 10).astype(np.uint16)
    nothing = np.linalg.norm(image - 10.0 - x)
    plan = Deconvolution(image.shape, h, 200, background=10, discrepancy=1)
    assert np.linalg.norm(plan(image) - x) < 0.9 * nothing
    assert plan.info["stop"] == "discrepancy" and plan.info["iterations"] < 200
    mask = np.random.default_rng(3).random(image.shape) > 0.1
    a = deconvolve(image, h, 20, background=10, mask=mask)
    b = deconvolve(np.where(mask, image, np.nan).astype(np.float32), h, 20, background=10, precision="f64")
    assert np.array_equal(a, b)


def test_channels_types_and_errors():
    x, h, y = small()
    both = np.stack([y, 2 * y])
    out = deconvolve(both, h, 5)
    assert np.allclose(out[1], 2 * out[0], rtol=1e-10) and np.array_equal(out[0], deconvolve(y, h, 5))
    assert deconvolve(y.astype(np.float32), h.astype(np.float32), 2).dtype == np.float32
    for bad, words in ((dict(method="lucy"), "method"), (dict(edges="none"), "edges"), (dict(step=3), "step")):
        with pytest.raises(ValueError, match=words):
            deconvolve(y, h, 2, **bad)
    with pytest.raises(ZeroDivisionError):
        deconvolve(y, h, 5, callback=lambda i, d: 1 / 0)
    seen = []
    deconvolve(y, h, 50, callback=lambda i, d: seen.append(i) or i == 3)
    assert seen == [1, 2, 3]


def test_bars_with_their_truth():
    actual, data, kernel = (stack(f"flowdec_bars/{n}.tif").astype(np.float64) for n in ("actual", "data", "kernel"))

    def error(a):  # with the best scale
        return np.linalg.norm(a * (a * actual).sum() / (a * a).sum() - actual) / np.linalg.norm(actual)

    centre = tuple(n // 2 for n in kernel.shape)
    history = []
    plain = deconvolve(data, kernel, 30, centre=centre, callback=lambda i, d: history.append(d))
    fast = deconvolve(data, kernel, 60, "shb", centre=centre)
    assert error(data) > 0.93 and error(plain) < 0.85 and error(fast) < 0.70
    assert np.all(np.diff(history) < 0)


def test_nucleus():
    image, psf = stack("deconwolf_dapi/dapi_001.tif"), stack("deconwolf_dapi/psf_dapi_bornwolf.tif")
    plan = Deconvolution(image.shape, psf, 12, "shb", background=float(image.min()))
    sharp = plan(image)
    assert plan.info["last"] < plan.info["first"] / 50

    def detail(a):  # power of 8 to 20 voxels across, over the mean's
        power = np.abs(np.fft.fftn(a / a.sum())) ** 2
        f = np.hypot(np.fft.fftfreq(a.shape[1])[:, None], np.fft.fftfreq(a.shape[2]))
        return power[:, (f > 0.05) & (f < 0.12)].sum()

    assert detail(sharp) > 2 * detail(image - float(image.min()))


def test_golden_psf():
    golden = stack("deconwolf_dapi/psf_dapi_bornwolf.tif").astype(np.float64)
    mean = np.zeros(golden.shape)  # its voxels are means of 3 x 3 points a third of a voxel apart
    for y in (-1, 0, 1):
        for x in (-1, 0, 1):
            mean += Psf.born_wolf(golden.shape, voxel=(300, 130, 130), na=1.45, wavelength=461, index=1.512, samples=1, norm=None,
                                  shift=(0, y * 130 / 3, x * 130 / 3), dtype=np.float64).values
    assert np.abs(mean / mean.sum() - golden).max() < 2e-4 * golden.max()


def test_real_beads():
    beads = stack("bian_confocal/Bead_Image1_crop.tif")
    psf = Psf.from_beads(beads, (21, 31, 31))
    assert psf.beads["used"] == psf.beads["found"] == 4 and psf.values.min() >= 0
    assert abs(psf.values.sum() - 1) < 1e-5
    assert all(abs(a - b) < 0.3 for a, b in zip(psf.report()[0]["centre"], (10, 15, 15)))
    again = Psf.from_beads(beads.astype(np.float64), (21, 31, 31))  # the same counts
    assert np.array_equal(again.values, psf.values)


def test_measured_psf_is_prepared():
    raw = Psf(stack("pycudadecon_psf/lls_psf.tif"), voxel=(100, 100, 100))
    assert any("background" in s for s in raw.check()) and any("odd" in s for s in raw.check())
    ready = raw.prepare((61, 61, 61))
    left = " ".join(ready.check())
    assert "odd" not in left and "middle" not in left and "sum" not in left
    coarse = raw.prepare(to_voxel=(200, 200, 200))
    assert coarse.shape == (29, 63, 63) and coarse.voxel == (200, 200, 200)
    widths = np.array(ready.report()[0]["fwhm"]) / np.array(coarse.report()[0]["fwhm"])
    assert np.all(np.abs(widths / 2 - 1) < 0.2)


def test_open_stacks(tmp_path):
    """Channels of a stack are deconvolved each for itself; voxel sizes are compared."""
    x, h, y = small()
    volume.write(tmp_path / "y.ome.tif", np.stack([y, 2 * y[::-1]]).astype(np.float32), voxel=(0.3, 0.1, 0.1), channel_names=["a", "b"])
    volume.write(tmp_path / "h.tif", h.astype(np.float32), voxel=(0.3, 0.1, 0.1))
    volume.write(tmp_path / "other.tif", h.astype(np.float32), voxel=(0.3, 0.13, 0.1))
    with volume.open(tmp_path / "y.ome.tif") as image, volume.open(tmp_path / "h.tif") as psf, \
            volume.open(tmp_path / "other.tif") as other:
        got = deconvolve(image, psf, 5)
        with pytest.raises(ValueError, match="0.1 um along y in the image and 0.13 um in the PSF"):
            deconvolve(image, other, 5)
        assert np.array_equal(deconvolve(image, other, 5, any_voxel=True), got)
    both = volume.read(tmp_path / "y.ome.tif")
    assert got.shape == both.shape == (2, *y.shape) and got.dtype == np.float32
    assert np.array_equal(got, deconvolve(both, volume.read(tmp_path / "h.tif"), 5))
    for c in (0, 1):
        assert np.array_equal(got[c], deconvolve(both[c], h.astype(np.float32), 5))
