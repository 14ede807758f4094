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


@pytest.fixture
def digits():
    """Decimals of 50 digits in this test alone: the functions have to be right in any context of the caller's."""
    with decimal.localcontext() as c:
        c.prec = 50
        yield


def exactly(x):
    """Real numbers as decimals."""
    return [D(float(h)) + D(float(l)) for h, l in x.parts]


def test_eighth_turns(digits):
    x, root = numbers(8), D("0.5").sqrt()
    cosine = [D(1), root, D(0), -root, D(-1), -root, D(0), root]
    exact = exactly(x)
    y = fft.fft(x)
    assert isinstance(y, DoubleDouble) and y.parts.dtype == np.complex128 and y.shape == (8,)
    for k in range(8):
        re = sum(exact[j] * cosine[j * k % 8] for j in range(8))
        im = -sum(exact[j] * cosine[(j * k + 6) % 8] for j in range(8))
        assert abs(D(y.hi[k].real) + D(y.lo[k].real) - re) < 1e-30
        assert abs(D(y.hi[k].imag) + D(y.lo[k].imag) - im) < 1e-30


def wave(name, p, q):
    """The cosine or sine of pi p / q, by Taylor's series."""
    p, q = (2 * p, 2 * q) if name == "dct" else (2 * p - q, 2 * q)
    a = D("3.14159265358979323846264338327950288419716939937511") * ((p + q) % (2 * q) - q) / q
    term, total = D(1), D(0)
    for i in range(1, 80, 2):
        total, term = total + term, -term * a * a / (i * (i + 1))
    return total


def orthonormal(name, type, n, j, k):
    """How much of input j the result k has: scipy.fft's definitions."""
    if type == 3:
        return orthonormal(name, 2, n, k, j)
    sine = name == "dst"
    end = n - 1 if sine else 0
    if type == 1:
        m = n + 1 if sine else n - 1
        weight = D(2) / m / (1 if sine else 2 ** ((j in (0, n - 1)) + (k in (0, n - 1))))
        return weight.sqrt() * wave(name, (j + sine) * (k + sine), m)
    if type == 2:
        return (D(2) / n / (2 if k == end else 1)).sqrt() * wave(name, (2 * j + 1) * (k + sine), 2 * n)
    return (D(2) / n).sqrt() * wave(name, (2 * j + 1) * (2 * k + 1), 4 * n)


def orthonormal_error(name, type, n):
    """Of the transform and its inverse, relative to the norm of the numbers, in whatever context of decimals there is."""
    x = numbers(n)
    y, z = (getattr(fft, f)(x, type, norm="ortho") for f in (name, "i" + name))
    with decimal.localcontext() as c:
        c.prec = 50
        exact, off = exactly(x), D(0)
        for k in range(n):
            off += (exactly(y)[k] - sum(orthonormal(name, type, n, j, k) * exact[j] for j in range(n))) ** 2
            off += (exactly(z)[k] - sum(orthonormal(name, type, n, k, j) * exact[j] for j in range(n))) ** 2
        return float((off / sum(v * v for v in exact)).sqrt())


@pytest.mark.parametrize("precision", [5, 28])
@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["dct", "dst"])
def test_orthonormal(name, type, precision):
    """The factors at the ends have all their digits, however few the caller's decimals have."""
    with decimal.localcontext() as c:
        c.prec = precision
        assert max(orthonormal_error(name, type, n) for n in (2, 7, 16)) < 1e-30


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
