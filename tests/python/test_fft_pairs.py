# SPDX-License-Identifier: BSD-3-Clause
"""kugel.fft of double-double numbers, against sums of longer decimals."""
import decimal

import numpy as np
import pytest

from kugel import fft
from kugel.fft import DoubleDouble

RNG = np.random.default_rng(11)
D = decimal.Decimal


def numbers(shape, imaginary=False):
    a = RNG.standard_normal(shape) + (1j * RNG.standard_normal(shape) if imaginary else 0)
    return DoubleDouble.of(a, 1e-17 * RNG.standard_normal(shape))


def off(a, b):
    """Relative distance of two arrays."""
    d = (a.hi - b.hi) + (a.lo - b.lo)
    return np.linalg.norm(d) / np.linalg.norm(b.hi)


def test_eighth_turns():
    decimal.getcontext().prec = 50
    x, root = numbers(8), D("0.5").sqrt()
    cosine = [D(1), root, D(0), -root, D(-1), -root, D(0), root]
    exact = [D(float(h)) + D(float(l)) for h, l in x.parts]
    y = fft.fft(x)
    assert isinstance(y, DoubleDouble) and y.parts.dtype == np.complex128 and y.shape == (8,)
    for k in range(8):
        re = sum(exact[j] * cosine[j * k % 8] for j in range(8))
        im = -sum(exact[j] * cosine[(j * k + 6) % 8] for j in range(8))
        assert abs(D(y.hi[k].real) + D(y.lo[k].real) - re) < 1e-30
        assert abs(D(y.hi[k].imag) + D(y.lo[k].imag) - im) < 1e-30


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("n", [6, 17, 30])
def test_there_and_back(n, norm):
    z, x = numbers((3, n), True), numbers((n, 3))
    assert off(fft.ifft(fft.fft(z, norm=norm), norm=norm), z) < 1e-30
    assert off(fft.ifftn(fft.fftn(z, norm=norm), norm=norm), z) < 1e-30
    assert off(fft.irfft(fft.rfft(x, axis=0, norm=norm), n, axis=0, norm=norm), x) < 1e-30
    for t in 1, 2, 3, 4:
        assert off(fft.idct(fft.dct(x, t, axis=0, norm=norm), t, axis=0, norm=norm), x) < 1e-30
        assert off(fft.idst(fft.dst(z, t, norm=norm), t, norm=norm), z) < 1e-30
    assert np.allclose(fft.dct(x, 2, axis=0, norm=norm).hi, fft.dct(x.hi, 2, axis=0, norm=norm), rtol=1e-13)


def test_lengths_views_and_overwriting():
    x = numbers((4, 12), True)
    for n in 9, 14:
        padded = np.zeros((4, n, 2), complex)
        padded[:, :min(n, 12)] = x.parts[:, :n]
        assert off(fft.fft(x, n), fft.fft(DoubleDouble(padded))) == 0
    assert off(fft.fft(DoubleDouble(x.parts[::-1, ::3])), fft.fft(DoubleDouble(x.parts[::-1, ::3].copy()))) == 0
    swapped = np.moveaxis(np.ascontiguousarray(np.moveaxis(x.parts, -1, 0)), 0, -1)  # parts far from each other
    y = fft.fft(x)
    assert off(fft.fft(DoubleDouble(swapped)), y) == 0
    assert fft.fft(x, overwrite_x=True).parts is x.parts and off(x, y) == 0


def test_what_is_refused():
    with pytest.raises(ValueError, match="last axis of 2"):
        DoubleDouble(np.zeros(3))
    with pytest.raises(ValueError, match="norm"):
        fft.fft(numbers(4), norm="some")
    with pytest.raises(TypeError, match="real"):
        fft.rfft(numbers(4, True))


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="longdouble is double")
def test_of_longdouble():
    third = DoubleDouble.of(np.array([1], np.longdouble) / 3)
    assert abs(third.hi[0] - 1 / 3) == 0 and abs(third.lo[0] - 2**-54 / 3) < 2**-64
