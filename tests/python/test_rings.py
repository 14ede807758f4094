# SPDX-License-Identifier: BSD-3-Clause
"""kugel.rings against the defining sums and numpy.fft."""
import numpy as np
import pytest

import kugel
from kugel.rings import Rings

RNG = np.random.default_rng(11)


def close(a, b, eps=2.3e-16):
    assert a.shape == b.shape
    assert np.linalg.norm(a - b) <= 10 * eps * np.linalg.norm(b)


def test_sums():
    nphi, mmax = [4, 7, 12, 7, 1, 30], 25
    phi0 = RNG.uniform(-3, 3, 6)
    start = np.array([60, 0, 8, 25, 35, 70])
    rings = Rings(nphi, mmax, phi0, start, npix=110)
    coef = RNG.standard_normal((2, 6, mmax + 1)) + 1j * RNG.standard_normal((2, 6, mmax + 1))
    maps = rings.synthesis(coef)
    want = np.zeros((2, 110))
    m = np.arange(mmax + 1)
    for r, n in enumerate(nphi):
        wave = np.exp(1j * np.outer(m, phi0[r] + 2 * np.pi * np.arange(n) / n))
        want[:, start[r]:start[r] + n] = 2 * (coef[:, r] @ wave).real - coef[:, r, :1].real
    close(maps, want, 2e-15)
    back = rings.adjoint(maps, weights=np.arange(6))
    for r, n in enumerate(nphi):
        wave = np.exp(-1j * np.outer(phi0[r] + 2 * np.pi * np.arange(n) / n, m))
        close(back[:, r], r * (want[:, start[r]:start[r] + n] @ wave), 2e-15)


def test_types_and_strides():
    rings = Rings([8, 8, 10], 4)
    x = RNG.standard_normal((26, 3))
    coef = rings.adjoint(x.T)
    close(coef[:, 2], np.fft.rfft(x[16:].T)[:, :5])
    assert np.array_equal(coef, rings.adjoint(np.ascontiguousarray(x.T)))
    single = rings.adjoint(x.T.astype(np.float32))
    assert single.dtype == np.complex64
    close(single, coef, 1e-7)
    assert rings.synthesis(single).dtype == np.float32
    out = np.empty((3, 26), np.float32)
    assert rings.synthesis(coef, out=out) is out
    close(out, rings.synthesis(coef), 1e-7)
    assert rings.adjoint(np.arange(26)).dtype == np.complex128


def test_grid_round_trip():
    table = kugel.Grid.healpix(8).table()
    rings = Rings(table["nphi"], 40, table["phi0"], table["first"], mlim=(table["nphi"] - 1) // 2)
    x = RNG.standard_normal(rings.npix)
    once = rings.synthesis(rings.adjoint(x, 1 / table["nphi"]))
    close(rings.synthesis(rings.adjoint(once, 1 / table["nphi"])), once)


def test_bad_input():
    rings = Rings([4, 5], 3)
    for call in (lambda: Rings([4, 0], 3), lambda: Rings([], 3), lambda: Rings([4, 5], -1), lambda: Rings([4, 5], 3, phi0=[0]),
                 lambda: Rings([4, 5], 3, start=[0, 3]), lambda: Rings([[4, 5]], 3), lambda: Rings([4, 5], 3, npix=8),
                 lambda: rings.synthesis(np.zeros((2, 5))), lambda: rings.adjoint(np.zeros(8)),
                 lambda: rings.adjoint(np.zeros(9), weights=[1, 2, 3]), lambda: rings.adjoint(np.zeros(9), out=np.zeros(3)),
                 lambda: rings.synthesis(np.zeros((2, 4)), out=np.zeros(8))):
        with pytest.raises((ValueError, TypeError)):
            call()
