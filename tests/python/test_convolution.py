# SPDX-License-Identifier: BSD-3-Clause
"""kugel.fft.convolve and correlate beside scipy.signal; plans beside the functions."""
import numpy as np
import pytest

from kugel import fft

signal = pytest.importorskip("scipy.signal")
RNG = np.random.default_rng(2)
MODES = ("full", "same", "valid")


def close(a, b):
    eps = 1e-6 if b.dtype in (np.float32, np.complex64) else 1e-14
    assert a.shape == b.shape and a.dtype == b.dtype
    assert np.linalg.norm(a - b) <= eps * np.linalg.norm(b)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shapes", [((9,), (4,)), ((4,), (9,)), ((500,), (7,)), ((12, 9), (3, 4)), ((3, 4), (12, 9)),
                                    ((6, 7, 8), (2, 3, 4))])
def test_functions(shapes, mode):
    for dtypes in ((float, float), (np.float32, np.float32), (complex, complex), (complex, float),
                   (np.complex64, np.float32)):
        x, h = (RNG.standard_normal(s).astype(t) * (1 if np.dtype(t).kind == "f" else 1 + 2j)
                for s, t in zip(shapes, dtypes))
        close(fft.convolve(x, h, mode), signal.fftconvolve(x, h, mode))
        close(fft.correlate(x, h, mode), signal.correlate(x, h, mode, "direct").astype(fft.convolve(x, h).dtype))
    i = np.arange(40).reshape(5, 8)
    for dtype in (int, np.int8, np.uint16):
        j = (i % 3).astype(dtype)
        close(fft.convolve(j, j[:2, :3], mode), signal.convolve(j, j[:2, :3], mode, "direct"))
    close(fft.fftconvolve(i, i[:2, :3], mode), signal.fftconvolve(i, i[:2, :3], mode).astype(float))


@pytest.mark.parametrize("mode", MODES)
def test_some_axes(mode):
    for shapes, axes in ((((3, 20, 4), (1, 5, 1)), 1), (((3, 20, 4), (3, 5, 4)), 1), (((1, 20, 4), (3, 5, 1)), 1),
                         (((1, 20, 1), (3, 5, 2)), [1]), (((9, 3, 8), (4, 1, 3)), (0, 2)),
                         (((9, 3, 8), (4, 3, 3)), (2, 0))):
        x, h = (RNG.standard_normal(s) for s in shapes)
        want = signal.fftconvolve(x, h, mode, axes=axes)
        if mode == "same" and shapes[0][0] == 1:  # SciPy cuts the axes that were broadcast
            want = signal.fftconvolve(x.repeat(3, 0).repeat(h.shape[2] // x.shape[2] or 1, 2), h, mode, axes=axes)
        close(fft.oaconvolve(x, h, mode, axes=axes), want)


def test_plans():
    h = RNG.standard_normal((5, 7))
    x = RNG.standard_normal((2, 3, 40, 50))
    plan = fft.Convolution((40, 50), h, "same")
    want = np.array([[signal.fftconvolve(a, h, "same") for a in row] for row in x])
    close(plan(x), want)
    close(plan(x.transpose(2, 0, 1, 3), axes=(0, 3)), want.transpose(2, 0, 1, 3))
    close(plan(x.astype(np.float32)), plan(x.astype(np.float32).astype(float)))
    matrix = RNG.standard_normal((4, 3, 5, 7))
    y = fft.Convolution((40, 50), matrix, "valid", inputs=3, outputs=4)(x)
    close(y, np.array([[sum(signal.fftconvolve(a[i], matrix[o, i], "valid") for i in range(3)) for o in range(4)]
                       for a in x]))
    many = fft.Convolution((40, 50), matrix[:, 0], "same", outputs=4)(x)
    close(many[1, 2, 3], signal.fftconvolve(x[1, 2], matrix[3, 0], "same"))
    summed = fft.Convolution((40, 50), matrix[0], "same", inputs=3)(x)
    close(summed, sum(np.array([signal.fftconvolve(a[i], matrix[0, i], "same") for a in x]) for i in range(3)))
    ring = fft.Convolution(40, h[0], circular=True, dtype=np.complex128)(x[0, 0, :, 0])
    close(ring, np.fft.ifft(np.fft.fft(x[0, 0, :, 0]) * np.fft.fft(h[0], 40)))


def test_device():
    import kugel
    found = [d["name"] for d in kugel.devices() if d["available"] and d["kernels"] and d["name"] != "cpu"]
    if not found:
        pytest.skip("no device that runs kernels")
    x, h = RNG.standard_normal((3, 200)).astype(np.float32), RNG.standard_normal(9).astype(np.float32)
    plan = fft.Convolution(200, h, "same", device=found[0])
    y = plan(kugel.DeviceArray(x, device=found[0]))
    assert isinstance(y, kugel.DeviceArray)
    close(y.get(), np.array([signal.fftconvolve(a, h, "same") for a in x]))
    close(plan(x), y.get())
    image, psf = RNG.standard_normal((2, 30, 41)).astype(np.float32), RNG.standard_normal((4, 5)).astype(np.float32)
    plan = fft.Convolution((30, 41), psf, "same", device=found[0])
    close(plan(kugel.DeviceArray(image, device=found[0])).get(),
          np.array([signal.fftconvolve(a, psf, "same") for a in image]))


def test_torch_on_the_host():
    torch = pytest.importorskip("torch")
    x, h = torch.randn(3, 20, 21, dtype=torch.float64), torch.randn(1, 4, 5, dtype=torch.float64)
    for mode in MODES:
        y = fft.convolve(x, h, mode, axes=(1, 2))
        assert isinstance(y, torch.Tensor)
        close(y.numpy(), signal.fftconvolve(x.numpy(), h.numpy(), mode, axes=(1, 2)))
        y = fft.correlate(h, x, mode, axes=(1, 2))
        assert isinstance(y, torch.Tensor)


def test_bad_input():
    for call in (lambda: fft.convolve(np.ones(3), np.ones((3, 3))), lambda: fft.convolve(np.ones(3), np.ones(3), "some"),
                 lambda: fft.convolve(np.ones((3, 3)), np.ones((3, 3)), axes=(0, 0)),
                 lambda: fft.convolve(np.ones((3, 2)), np.ones((2, 3)), "valid"),
                 lambda: fft.convolve(np.ones((3, 4)), np.ones((2, 4)), axes=1),
                 lambda: fft.Convolution(9, np.ones(3))(np.ones(8)),
                 lambda: fft.Convolution((9, 9), np.ones(3))):
        with pytest.raises(ValueError):
            call()
    assert fft.convolve([], [1.0]).size == 0 and fft.convolve(3, 4) == 12


def test_integers_are_exact():
    """As direct sums modulo 2^64, however large."""
    for low, high, dtype in ((-2**31, 2**31, np.int64), (-2**62, 2**62, np.int64), (0, 2**63, np.uint64), (-128, 128, np.int8)):
        x, h = (RNG.integers(low, high - 1, n, dtype=np.int64 if low < 0 else np.uint64).astype(dtype) for n in (300, 17))
        a, b = x.tolist(), h.tolist()
        want = [sum(a[i] * b[o - i] for i in range(max(0, o - 16), min(o, 299) + 1)) for o in range(316)]
        bits = 8 * np.dtype(dtype).itemsize
        wrapped = [(v + 2**(bits - 1)) % 2**bits - 2**(bits - 1) if low < 0 else v % 2**bits for v in want]
        got = fft.convolve(x, h)
        assert got.dtype == dtype and got.tolist() == wrapped


def test_axes_of_one_element_and_long_doubles():
    x, h = RNG.standard_normal((1, 9)), RNG.standard_normal((9, 1))
    close(fft.convolve(x, h, "valid"), signal.fftconvolve(x, h, "valid"))
    with pytest.raises(TypeError, match="DoubleDouble"):
        fft.convolve(fft.DoubleDouble.of(np.ones(5)), np.ones(3))
    if np.dtype(np.longdouble).itemsize > 8:
        a, b = (RNG.standard_normal(s).astype(np.longdouble) / 3 for s in ((20, 6), (3, 4)))
        for mode in MODES:
            for f, theirs in ((fft.convolve, signal.convolve), (fft.correlate, signal.correlate)):
                want = theirs(a, b, mode, "direct")
                got = f(a, b, mode)
                assert got.dtype == np.longdouble and np.abs(got - want).max() < 1e-17 * np.abs(want).max()
