# SPDX-License-Identifier: BSD-3-Clause
"""kugel.volume.convolve beside scipy (direct sums of NumPy where it is absent) and its own adjoint."""
import numpy as np
import pytest

import kugel
from kugel import volume

RNG = np.random.default_rng(3)


def direct(x, h, mode):
    """Convolution by shifted sums."""
    full = np.zeros([a + b - 1 for a, b in zip(x.shape, h.shape)], np.result_type(x, h, np.float64))
    for j in np.ndindex(*h.shape):
        full[tuple(slice(a, a + n) for a, n in zip(j, x.shape))] += h[j] * x
    if mode == "same":
        return full[tuple(slice((k - 1) // 2, (k - 1) // 2 + n) for n, k in zip(x.shape, h.shape))]
    if mode == "valid":
        return full[tuple(slice(k - 1, n) for n, k in zip(x.shape, h.shape))]
    return full


def close(a, b, eps):
    assert a.shape == b.shape
    assert np.abs(a - b).max() <= eps * np.abs(b).max()


@pytest.mark.parametrize("mode", ("full", "same", "valid"))
@pytest.mark.parametrize("shapes", [((40,), (7,)), ((12, 9), (3, 4)), ((6, 7, 8), (2, 3, 4)), ((5, 31, 17), (5, 8, 1))])
def test_sums(shapes, mode):
    for a, b, eps in ((float, float, 1e-14), (np.float32, np.float32, 3e-7), (complex, float, 1e-14), (np.uint16, float, 1e-14)):
        x, h = ((RNG.standard_normal(s) * 50 + (3 + 1j if t is complex else 100)).astype(t) for s, t in zip(shapes, (a, b)))
        close(volume.convolve(x, h, mode), direct(x.astype(complex if a is complex else float), h.astype(float), mode), eps)


@pytest.mark.parametrize("mode", ("full", "same", "valid"))
def test_scipy(mode):
    signal = pytest.importorskip("scipy.signal")
    x, h = RNG.standard_normal((20, 30, 40)), RNG.standard_normal((9, 8, 7))
    want = signal.fftconvolve(x, h, mode)
    got = volume.convolve(x, h, mode)
    assert got.dtype == want.dtype
    close(got, want, 1e-14)
    single = volume.convolve(x.astype(np.float32), h.astype(np.float32), mode)
    assert single.dtype == np.float32
    close(single, want, 5e-7)


@pytest.mark.parametrize("boundary,name", [("reflect", "reflect"), ("replicate", "nearest"), ("periodic", "wrap"),
                                           ("zero", "constant")])
def test_ndimage(boundary, name):
    ndimage = pytest.importorskip("scipy.ndimage")
    x, h = RNG.standard_normal((11, 20, 13)), RNG.standard_normal((5, 9, 7))
    close(volume.convolve(x, h, boundary=boundary), ndimage.convolve(x, h, mode=name), 1e-14)


def test_unknown_keeps_constants():
    x, h = np.full((8, 9, 10), 3.0), RNG.random((5, 4, 7))
    close(volume.convolve(x, h, boundary="unknown"), np.full_like(x, 3 * h.sum()), 1e-13)


def test_integers():
    x = RNG.integers(0, 60000, (6, 20, 21)).astype(np.uint16)
    h = RNG.random((3, 3, 3))
    want = direct(x.astype(float), h / h.sum(), "same")
    plan = volume.Convolution(x.shape, h, dtype=np.uint16, precision="float64", scale=1 / h.sum())
    got = plan(x)
    assert got.dtype == np.uint16 and plan.clipped == 0
    assert np.abs(got - want).max() <= 0.5 + 1e-9
    plan = volume.Convolution(x.shape, h, dtype=np.uint16, scale=10 / h.sum())
    assert plan(x).max() == 65535 and plan.clipped == np.count_nonzero(np.rint(10 * want) > 65535)


def test_plan():
    x = RNG.standard_normal((2, 3, 9, 10, 11))
    h = RNG.standard_normal((4, 3, 4, 5))
    plan = volume.Convolution((9, 10, 11), h, "full", several=True)
    y = plan(x)
    assert y.shape == (2, 3, 4, 11, 13, 15)
    for q in range(4):
        close(y[1, 2, q], direct(x[1, 2], h[q], "full"), 1e-14)
    g = RNG.standard_normal(y.shape)
    assert abs((y * g).sum() - (x * plan.adjoint(g)).sum()) <= 1e-14 * np.linalg.norm(y) * np.linalg.norm(g)
    info = plan.info
    assert info["engine"] == "resident" and info["results"] == [11, 13, 15] and info["host_bytes"] > 0


def test_adjoint_is_correlation():
    x, y, h = RNG.standard_normal((7, 8)), RNG.standard_normal((7, 8)), RNG.standard_normal((4, 6))
    plan = volume.Convolution((7, 8), h)
    close(plan.adjoint(y), volume.correlate(y, h), 1e-14)
    assert abs((plan(x) * y).sum() - (x * plan.adjoint(y)).sum()) < 1e-12


def test_strides_and_centre():
    x, h = RNG.standard_normal((30, 40)), RNG.standard_normal((4, 5))
    close(volume.convolve(x[::-2, 3:30:3], h), direct(x[::-2, 3:30:3], h, "same"), 1e-14)
    got = volume.convolve(x, h, centre=(0, 4))
    close(got, direct(x, h, "full")[:30, 4:44], 1e-14)


def test_tensors():
    torch = pytest.importorskip("torch")
    x, h = torch.randn(6, 7, 8, dtype=torch.float64), torch.randn(3, 3, 3, dtype=torch.float64)
    y = volume.convolve(x, h)
    assert isinstance(y, torch.Tensor)
    close(y.numpy(), direct(x.numpy(), h.numpy(), "same"), 1e-14)


def test_devices():
    for device in (d["name"] for d in kugel.devices() if d["available"] and d["kernels"]):
        x, h = RNG.standard_normal((6, 7, 8)), RNG.standard_normal((3, 4, 3))
        want = volume.convolve(x, h, boundary="reflect")
        close(volume.convolve(x, h, boundary="reflect", device=device), want, 2e-14)
        there = volume.convolve(kugel.DeviceArray(x, device=device), h, boundary="reflect")
        assert isinstance(there, kugel.DeviceArray)
        close(there.get(), want, 2e-14)
        close(volume.Convolution(x.shape, h, boundary="reflect", engine="pencil", device=device)(x), want, 2e-14)


def test_tiles():
    x, h = RNG.standard_normal((20, 21, 22)), RNG.standard_normal((3, 4, 5))
    plan = volume.Convolution(x.shape, h, boundary="periodic", engine="tiles", tile=(7, 8, 9))
    assert plan.info["tiles"] == 27 and plan.info["tile"] == [7, 8, 9]
    close(plan(x), volume.convolve(x, h, boundary="periodic"), 1e-14)


@pytest.mark.parametrize("parts", (1, 2, 3, 5))
def test_parts(parts):
    x, h = RNG.standard_normal((5, 6, 40)), RNG.standard_normal((5, 6, 37))
    plan = volume.Convolution(x.shape, h, "full", engine="dif", parts=parts)
    assert plan.info["parts"] == parts
    close(plan(x), volume.convolve(x, h, "full"), 1e-14)


def test_pencil(tmp_path):
    x, h = RNG.standard_normal((12, 9, 14)), RNG.standard_normal((12, 9, 14))
    plan = volume.Convolution(x.shape, h, boundary="replicate", engine="pencil", tile=(5, 1, 1), scratch=tmp_path)
    assert plan.info["engine"] == "pencil" and plan.info["tiles"] == 3 and plan.info["scratch_bytes"] > 0
    whole = volume.Convolution(x.shape, h, boundary="replicate")
    close(plan(x), whole(x), 1e-15)
    close(plan.adjoint(x), whole.adjoint(x), 1e-15)
    assert not list(tmp_path.iterdir())
    with pytest.raises(OSError, match="no/such/folder"):
        volume.Convolution(x.shape, h, engine="pencil", scratch=tmp_path / "no/such/folder")


def test_refusals():
    x, h = np.ones((5, 6)), np.ones((3, 3))
    with pytest.raises(ValueError, match="boundary is 'mirror'"):
        volume.convolve(x, h, boundary="mirror")
    with pytest.raises(ValueError, match="zero everywhere"):
        volume.convolve(x, 0 * h)
    with pytest.raises(ValueError, match="finite"):
        volume.convolve(x, np.array([[1, np.nan]]))
    with pytest.raises(ValueError, match="kernel has 2 dimensions and the image 1"):
        volume.convolve(np.ones(4), h)


def test_kernels_by_depth():
    x, h = RNG.standard_normal((14, 9, 8)), RNG.random((2, 5, 3, 4))
    weight = np.clip((np.arange(14) - 3) / 6, 0, 1)[:, None, None]  # of the second kernel
    want = direct(x * (1 - weight), h[0], "same") + direct(x * weight, h[1], "same")
    close(volume.convolve(x, h, depths=[3, 9]), want, 1e-14)
    close(volume.convolve(x, np.stack([h[0], h[0]]), boundary="reflect", depths=[0, 13]), volume.convolve(x, h[0], boundary="reflect"), 1e-14)
    plan = volume.Convolution(x.shape, h, depths=[3, 9], engine="tiles", tile=(4, 9, 5))
    assert plan.info["tiles"] > 1
    close(plan(x), want, 1e-14)
    y = RNG.standard_normal(x.shape)
    assert abs(np.vdot(plan(x), y) - np.vdot(x, plan.adjoint(y))) < 1e-12 * np.linalg.norm(y) * np.linalg.norm(want)
    for wrong in ([3], [9, 3], [3, np.nan]):
        with pytest.raises(ValueError, match="depth"):
            volume.Convolution(x.shape, h, depths=wrong)
    with pytest.raises(ValueError, match="depths"):
        volume.Convolution(x.shape, h[0], depths=[3, 9])


class Chunked:
    """As Zarr arrays and datasets of h5py are used; counts what is read at a time."""
    chunks = (2, 5, 5)

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.most = array, array.shape, array.dtype, 0

    def __getitem__(self, index):
        if self.array is None:
            raise OSError("the disk is gone")
        block = self.array[index]
        self.most = max(self.most, block.size)
        return block


@pytest.mark.parametrize("engine", ["resident", "pencil"])
def test_kernels_in_chunks_need_not_be_in_memory(engine):
    rng = np.random.default_rng(4)
    x, h = rng.standard_normal((9, 8, 7)), rng.standard_normal((9, 5, 6))
    lazy = Chunked(h)
    plan = kugel.volume.Convolution(x.shape, lazy, engine=engine, tile=(2, 8, 7))
    assert np.array_equal(plan(x), kugel.volume.Convolution(x.shape, h, engine=engine, tile=(2, 8, 7))(x))
    assert lazy.most == (2 * 5 * 6 if engine == "pencil" else h.size)
    lazy.array = None
    with pytest.raises(OSError, match="the disk is gone"):
        kugel.volume.Convolution(x.shape, lazy, engine=engine)
