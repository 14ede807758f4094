# SPDX-License-Identifier: BSD-3-Clause
"""kugel.fft against numpy.fft and the defining sums."""
import numpy as np
import pytest

from kugel import _ffi, fft

RNG = np.random.default_rng(7)


def close(a, b, eps=2.3e-16):
    assert a.shape == b.shape
    assert np.linalg.norm(a - b) <= 8 * eps * np.sqrt(np.log2(b.size + 2)) * np.linalg.norm(b)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("n", [1, 2, 7, 30, 97, 128])
def test_one_axis(n, norm):
    x = RNG.standard_normal((3, n, 4)) + 1j * RNG.standard_normal((3, n, 4))
    for axis in (1, -1, 0):
        close(fft.fft(x, axis=axis, norm=norm), np.fft.fft(x, axis=axis, norm=norm))
        close(fft.ifft(x, axis=axis, norm=norm), np.fft.ifft(x, axis=axis, norm=norm))
        close(fft.rfft(x.real, axis=axis, norm=norm), np.fft.rfft(x.real, axis=axis, norm=norm))
    y = np.fft.rfft(x.real, axis=1, norm=norm)
    close(fft.irfft(y, n, axis=1, norm=norm), x.real)
    close(fft.fft(x, n=n + 3, axis=1), np.fft.fft(x, n=n + 3, axis=1))
    if n > 2:
        close(fft.fft(x, n=n - 1, axis=1), np.fft.fft(x, n=n - 1, axis=1))
    single = fft.fft(x.astype(np.complex64), axis=1)
    assert single.dtype == np.complex64
    close(single, np.fft.fft(x, axis=1), 1.2e-7)


def test_several_axes():
    x = RNG.standard_normal((6, 5, 8))
    close(fft.fftn(x), np.fft.fftn(x))
    close(fft.ifftn(x, axes=(0, 2)), np.fft.ifftn(x, axes=(0, 2)))
    close(fft.rfftn(x), np.fft.rfftn(x))
    close(fft.irfftn(np.fft.rfftn(x)), x)
    close(fft.rfft2(x, axes=(1, 0)), np.fft.rfft2(x, axes=(1, 0)))
    close(fft.fft2(x[::-1, :, ::2]), np.fft.fft2(x[::-1, :, ::2]))


def matrix(kind, t, n):
    j, k = np.meshgrid(np.arange(n), np.arange(n))
    if kind == "dct":
        m = {1: lambda: 2 * np.cos(np.pi * j * k / (n - 1)), 2: lambda: 2 * np.cos(np.pi * (j + .5) * k / n),
             3: lambda: 2 * np.cos(np.pi * j * (k + .5) / n), 4: lambda: 2 * np.cos(np.pi * (j + .5) * (k + .5) / n)}[t]()
        if t in (1, 3):
            m[:, 0] /= 2
        if t == 1:
            m[:, -1] /= 2
    else:
        m = {1: lambda: 2 * np.sin(np.pi * (j + 1) * (k + 1) / (n + 1)), 2: lambda: 2 * np.sin(np.pi * (j + .5) * (k + 1) / n),
             3: lambda: 2 * np.sin(np.pi * (j + 1) * (k + .5) / n),
             4: lambda: 2 * np.sin(np.pi * (j + .5) * (k + .5) / n)}[t]()
        if t == 3:
            m[:, -1] /= 2
    return m


@pytest.mark.parametrize("kind", ["dct", "dst"])
@pytest.mark.parametrize("t", [1, 2, 3, 4])
def test_cosines_and_sines(kind, t):
    forward, inverse = getattr(fft, kind), getattr(fft, "i" + kind)
    for n in (2, 5, 16):
        x = RNG.standard_normal((3, n))
        close(forward(x, t), x @ matrix(kind, t, n).T)
        for norm in (None, "ortho", "forward"):
            close(inverse(forward(x, t, norm=norm), t, norm=norm), x)
        y = forward(x, t, norm="ortho")
        assert np.linalg.norm(y) == pytest.approx(np.linalg.norm(x), rel=1e-14)
    x = RNG.standard_normal((4, 6))
    close(getattr(fft, "i" + kind + "n")(getattr(fft, kind + "n")(x, t), t), x)


def test_bad_input():
    for call in (lambda: fft.fft(np.zeros(4), axis=3), lambda: fft.fft(np.zeros(4), n=0), lambda: fft.fft(np.zeros(4), norm="x"),
                 lambda: fft.rfft(np.zeros(4) + 1j), lambda: fft.dct(np.zeros(4), type=5), lambda: fft.irfft(np.zeros(1)),
                 lambda: fft.fftn(np.zeros((2, 2)), axes=(0, 0))):
        with pytest.raises((ValueError, TypeError)):
            call()
    assert fft.next_fast_len(11) == 12
