# SPDX-License-Identifier: BSD-3-Clause
"""Convolution by blocks of arrays that are not in memory, and of tensors with gradients, beside the whole."""
import numpy as np
import pytest

from kugel import volume

RNG = np.random.default_rng(5)
BOUNDARIES = ("zero", "replicate", "reflect", "periodic")


def close(a, b, eps=1e-13):
    assert a.shape == b.shape and np.abs(a - b).max() <= eps * np.abs(b).max()


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("kernel", [(3, 4, 5), (9, 1, 2), (1, 25, 30)])
def test_blocks_equal_the_whole(boundary, kernel):
    x, h = RNG.normal(size=(2, 11, 13, 17)), RNG.normal(size=kernel)
    want = volume.convolve(x, h, boundary=boundary)
    for block in (None, (4, 5, 6), (11, 1, 17), (1, 13, 3)):
        close(volume.convolve_blocks(x, h, boundary=boundary, block=block), want)


def test_memmap(tmp_path):
    x = RNG.integers(0, 60000, (20, 30, 40)).astype("u2")
    np.save(tmp_path / "x.npy", x)
    h = RNG.random((5, 6, 7)) / 210
    out = np.lib.format.open_memmap(tmp_path / "y.npy", "w+", "u2", x.shape)
    seen = []
    volume.convolve_blocks(np.load(tmp_path / "x.npy", mmap_mode="r"), h, out, block=(7, 30, 40), precision="float64",
                           progress=lambda *a: seen.append(a))
    out.flush()
    want = np.rint(volume.convolve(x.astype(float), h))
    assert np.abs(np.load(tmp_path / "y.npy") - want).max() <= 1 and seen == [(1, 3), (2, 3), (3, 3)]


def test_zarr(tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3")
    x, h = RNG.normal(size=(2, 12, 20, 30)).astype("f4"), RNG.normal(size=(3, 5, 4)).astype("f4")
    a = zarr.create_array(tmp_path / "a.zarr", shape=x.shape, dtype="f4", chunks=(1, 4, 8, 16))
    b = zarr.create_array(tmp_path / "b.zarr", shape=x.shape, dtype="f4", chunks=(1, 4, 8, 16))
    a[:] = x
    assert volume.convolve_blocks(a, h, b, boundary="reflect", block=(4, 8, 16)) is b
    close(b[:], volume.convolve(x, h, boundary="reflect"), 1e-6)


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_dask(boundary):
    da = pytest.importorskip("dask.array")
    x, h = RNG.normal(size=(2, 12, 20, 30)), RNG.normal(size=(9, 5, 4))
    lazy = volume.convolve_blocks(da.from_array(x, chunks=(2, 5, 7, 30)), h, boundary=boundary)
    assert lazy.shape == x.shape and lazy.chunks[1:] == ((5, 5, 2), (7, 7, 6), (30,))
    close(lazy.compute(), volume.convolve(x, h, boundary=boundary))
    with pytest.raises(ValueError, match="Dask"):
        volume.convolve_blocks(da.from_array(x), h, np.empty(x.shape))


def test_refusals():
    x = np.zeros((4, 5))
    for words, message in (({"boundary": "unknown"}, "boundary"), ({"block": (0, 1)}, "block"), ({"out": np.zeros((4, 4))}, "out")):
        with pytest.raises(ValueError, match=message):
            volume.convolve_blocks(x, np.ones((2, 2)), **words)
    with pytest.raises(ValueError, match="axes"):
        volume.convolve_blocks(x, np.ones((2, 2, 2)))


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("mode", ("same", "full", "valid"))
@pytest.mark.parametrize("n, k", [((9,), (4,)), ((5, 7), (3, 4)), ((3, 4, 5), (3, 2, 4)), ((3, 4), (6, 7))])
def test_torch_gradients(boundary, mode, n, k):
    torch = pytest.importorskip("torch")
    import kugel.torch
    if mode == "valid" and any(a < b for a, b in zip(n, k)):
        return
    module = kugel.torch.VolumeConvolution(torch.from_numpy(RNG.normal(size=k)), mode, boundary)
    x = torch.from_numpy(RNG.normal(size=(2, *n))).requires_grad_()
    close(module(x).detach().numpy(), volume.convolve(x.detach().numpy(), module.kernel.detach().numpy(), mode, boundary))

    def run(x, h):
        from kugel.torch.volume import _Convolve
        return _Convolve.apply(x, h, module)
    assert torch.autograd.gradcheck(run, (x, module.kernel))


def test_torch_learns_a_kernel():
    torch = pytest.importorskip("torch")
    import kugel.torch
    x, h = torch.from_numpy(RNG.normal(size=(12, 14, 10))), RNG.random((3, 5, 3))
    want = torch.from_numpy(volume.convolve(x.numpy(), h, boundary="reflect"))
    module = kugel.torch.VolumeConvolution(torch.zeros(3, 5, 3, dtype=torch.float64) + 0.1, boundary="reflect")
    step = torch.optim.LBFGS(module.parameters(), max_iter=60, tolerance_grad=1e-14, tolerance_change=1e-16)

    def loss():
        step.zero_grad()
        value = (module(x) - want).square().mean()
        value.backward()
        return value
    step.step(loss)
    close(module.kernel.detach().numpy(), h, 1e-5)
    fixed = kugel.torch.VolumeConvolution(torch.from_numpy(h), trainable=False)
    assert fixed(x).requires_grad is False and fixed._plan((12, 14, 10), fixed.kernel) is fixed._plan((12, 14, 10), fixed.kernel)
    with pytest.raises(ValueError, match="dtype"):
        fixed(x.float())
