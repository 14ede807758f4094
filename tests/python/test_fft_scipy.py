# SPDX-License-Identifier: BSD-3-Clause
"""kugel.fft beside scipy.fft: the same names, arguments, types and numbers."""
import inspect

import numpy as np
import pytest

from kugel import fft

scipy_fft = pytest.importorskip("scipy.fft")
RNG = np.random.default_rng(11)
COMPLEX = ("fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "hfft", "hfft2", "hfftn", "irfft", "irfft2", "irfftn")
REAL = ("rfft", "rfft2", "rfftn", "ihfft", "ihfft2", "ihfftn")
TRIGONOMETRIC = ("dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn")
NORMS = (None, "backward", "ortho", "forward")


def close(a, b):
    eps = 2e-7 if b.dtype in (np.float32, np.complex64) else 4e-16
    assert a.shape == b.shape and a.dtype == b.dtype
    assert np.linalg.norm(a - b) <= 8 * eps * np.sqrt(np.log2(b.size + 2)) * np.linalg.norm(b)


def array(name, shape, dtype=np.float64):
    x = RNG.standard_normal(shape)
    if name in COMPLEX:
        x = x + 1j * RNG.standard_normal(shape)
        if name.startswith(("irfft", "hfft")):  # the imaginary part where a real signal has none
            x = scipy_fft.rfftn(x.real)
    single = np.complex64 if np.iscomplexobj(x) else np.float32
    return x.astype(single) if dtype == np.float32 else x


@pytest.mark.parametrize("name", COMPLEX + REAL + TRIGONOMETRIC)
def test_signature(name):
    ours, theirs = (inspect.signature(getattr(m, name)).parameters for m in (fft, scipy_fft))
    theirs = [n for n in theirs if n in ours or n not in ("orthogonalize",)]
    assert list(ours)[:len(theirs)] == theirs


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", COMPLEX + REAL)
def test_fourier(name, dtype):
    ours, theirs = getattr(fft, name), getattr(scipy_fft, name)
    x = array(name, (6, 7, 10), dtype)
    for norm in NORMS:
        close(ours(x, norm=norm), theirs(x, norm=norm))
    if name[-1] == "t":  # one axis
        for words in ({"n": 5}, {"n": 17}, {"axis": 0}, {"n": 8, "axis": 1}):
            close(ours(x, **words), theirs(x, **words))
    else:
        for words in ({"s": (5, 12)}, {"axes": (0, 1)}, {"s": (4, 9), "axes": (2, 0)}):
            if name.startswith(("irfft", "hfft")) and "axes" in words:
                continue  # whose numbers depend on the imaginary parts that are no half of a real signal's
            close(ours(x, **words), theirs(x, **words))


@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("name", TRIGONOMETRIC)
def test_trigonometric(name, type):
    ours, theirs = getattr(fft, name), getattr(scipy_fft, name)
    for dtype in (np.float64, np.float32):
        x = array(name, (5, 8), dtype)
        for norm in NORMS:
            close(ours(x, type, norm=norm), theirs(x, type, norm=norm))
        close(ours(x, type, 6), theirs(x, type, 6)) if name[-1] == "t" else \
            close(ours(x, type, (6, 9)), theirs(x, type, (6, 9)))
        close(ours(x + 1j * x, type), theirs(x + 1j * x, type))
        for orthogonalize in (True, False):
            words = {"norm": "ortho", "orthogonalize": orthogonalize}
            close(ours(x, type, **words), theirs(x, type, **words))


def test_workers_and_overwriting():
    x = array("fft", (64, 100))
    want = scipy_fft.fft(x)
    for workers in (1, 3, -1):
        close(fft.fft(x, workers=workers), want)
    for bad in (0, -10**6):
        with pytest.raises(ValueError, match="workers"):
            fft.fft(x, workers=bad)
    kept = x.copy()
    fft.fft(x)
    assert (x == kept).all()
    y = fft.fft(x, overwrite_x=True)
    assert y is x
    close(y, want)
    frozen = kept.copy()
    frozen.flags.writeable = False
    close(fft.fft(frozen, overwrite_x=True), want)
    assert (frozen == kept).all()


def test_helpers():
    assert (fft.fftfreq(9, 0.1) == scipy_fft.fftfreq(9, 0.1)).all()
    assert (fft.rfftfreq(9, 0.1) == scipy_fft.rfftfreq(9, 0.1)).all()
    assert (fft.fftshift(np.arange(5)) == scipy_fft.fftshift(np.arange(5))).all()
    assert fft.next_fast_len(97) <= 98
    assert [fft.prev_fast_len(n) for n in (1, 11, 97, 128, 2401, 10**6 + 1)] == [1, 10, 96, 128, 2401, 10**6]


@pytest.mark.parametrize("name", COMPLEX + REAL + TRIGONOMETRIC)
def test_edges(name):
    """What SciPy refuses, keeps or copies."""
    ours, theirs = getattr(fft, name), getattr(scipy_fft, name)
    x = array(name, (6, 6))
    one = name[-1] == "t"
    if "fft" in name:
        with pytest.raises(NotImplementedError, match="Plan"):
            ours(x, plan=object())
    for bad in ({"n": 2.5}, {"axis": 1.5}, {"axis": None}) if one else ({"s": (2.5, 2)}, {"axes": (0.5,)}):
        for function in (theirs, ours):
            with pytest.raises((TypeError, ValueError)):
                function(x, **bad)
    with pytest.raises(ValueError):
        ours(x, **({"n": -1} if one else {"s": (-2, 3)}))
    if not one:
        close(ours(x, s=(-1, -1)), theirs(x, s=(-1, -1)))
        if "rfft" in name or "hfft" in name:
            with pytest.raises(ValueError):
                ours(x, axes=())
        else:
            y = ours(x, axes=())
            assert y is not x and (y == x).all() and y.dtype == x.dtype
    swapped = x.astype(x.dtype.newbyteorder())
    close(ours(swapped), ours(x))
    single = array(name, (6, 6), np.float32)
    assert ours(single.astype(single.dtype.newbyteorder(">"))).dtype == ours(single).dtype == theirs(single).dtype
    if "dct" in name:
        with pytest.raises(ValueError, match="at least 2"):
            ours(x[:1, :1], 1)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is double here")
@pytest.mark.parametrize("name", COMPLEX + REAL + TRIGONOMETRIC)
def test_long_doubles(name):
    """Stay long, and as exact as SciPy's, which are computed so."""
    x = array(name, (5, 8))
    x = x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble) / 3
    for norm in NORMS:
        a, b = getattr(fft, name)(x, norm=norm), getattr(scipy_fft, name)(x, norm=norm)
        assert a.dtype == b.dtype and np.linalg.norm(a - b) <= 1e-18 * np.linalg.norm(b)


def test_workers():
    with fft.set_workers(3):
        assert fft.get_workers() == 3
        close(fft.fft(np.ones(16)), scipy_fft.fft(np.ones(16)))
        with fft.set_workers(-1):
            assert fft.get_workers() >= 1
        assert fft.get_workers() == 3
    with pytest.raises(ValueError, match="workers"), fft.set_workers(0):
        pass


def test_backend(monkeypatch):
    calls, real = [], fft.__ua_function__
    monkeypatch.setattr(fft, "__ua_function__", lambda method, *a: calls.append(method.__name__) or real(method, *a))
    x = RNG.standard_normal((4, 6))
    with scipy_fft.set_backend(fft, only=True):
        for name in REAL + TRIGONOMETRIC:
            close(getattr(scipy_fft, name)(x), getattr(fft, name)(x))
        scipy_fft.fht(x, 0.1, 0.5)
    assert set(REAL + TRIGONOMETRIC) < set(calls)


@pytest.mark.parametrize("mu,bias", [(0, 0), (0.5, 0), (2, 0.3), (1.5, -0.4), (0, -0.9), (-0.3, 0.2)])
def test_hankel(mu, bias):
    for n in (64, 63):
        x = RNG.standard_normal((2, n))
        dln = 0.07
        offset = fft.fhtoffset(dln, mu, 0.3, bias)
        assert abs(offset - scipy_fft.fhtoffset(dln, mu, 0.3, bias)) < 1e-12
        y = fft.fht(x, dln, mu, offset, bias)
        want = scipy_fft.fht(x, dln, mu, offset, bias)
        assert np.linalg.norm(y - want) < 1e-12 * np.linalg.norm(want)
        assert np.linalg.norm(fft.ifht(y, dln, mu, offset, bias) - x) < 1e-10 * np.linalg.norm(x)
