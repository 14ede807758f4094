# SPDX-License-Identifier: BSD-3-Clause
"""Hankel transforms of logarithmically spaced samples: FFTLog, Hamilton 2000, doi:10.1046/j.1365-8711.2000.03071.x."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .fourier import irfft, rfft


def _log_gamma(z):
    """ln Gamma of complex numbers, up to multiples of 2 pi i: Stirling's series beyond |z| = 15, and z Gamma(z) = Gamma(z + 1)."""
    z = np.array(z, np.complex128)
    shift = np.zeros_like(z)
    for _ in range(64):
        small = (z.real < 15) & (np.abs(z) < 15) | (z.real < 0)
        if not small.any():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = np.where(small, shift + np.log(z), shift)
        z = np.where(small, z + 1, z)
    series = sum(b / (2 * k * (2 * k - 1)) * z**(1 - 2 * k) for k, b in enumerate(
        (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510), 1))
    return (z - 0.5) * np.log(z) - z + 0.5 * math.log(2 * math.pi) + series - shift


def _coefficients(n, dln, mu, offset, bias):
    """(k r)^(-i y) U(bias + i y) of the kernel, U(x) = 2^x Gamma((mu + 1 + x) / 2) / Gamma((mu + 1 - x) / 2)."""
    y = np.pi * np.arange(n // 2 + 1) / (n * dln)
    above, below = (mu + 1 + bias) / 2, (mu + 1 - bias) / 2
    with np.errstate(invalid="ignore", over="ignore"):
        u = np.exp((bias + 2j * y) * math.log(2) - 2j * y * offset + _log_gamma(above + 1j * y) - _log_gamma(below - 1j * y))
    if n % 2 == 0:
        u.imag[-1] = 0
    if not np.isfinite(u[0]):  # poles of Gamma
        u[0] = 2**bias * _ratio(above, below)
    return u


def _ratio(above, below):
    """Gamma(above) / Gamma(below) with poles: infinite, 0, or of two poles their limit."""
    pole = [v <= 0 and v == int(v) for v in (above, below)]
    if pole == [True, False]:
        return np.inf
    if pole == [False, True]:
        return 0.0
    m, k = -int(above), -int(below)
    return (-1.0) ** (m - k) * math.exp(math.lgamma(k + 1) - math.lgamma(m + 1))


def _weight(n, dln, power, offset=0.0):
    return np.exp(power * ((np.arange(n) - (n - 1) / 2) * dln + offset))


def _checked(a):
    a = np.asarray(a)
    if a.dtype.kind == "c":
        raise TypeError("the samples must be real")
    return a, a.shape[-1]


def fht(a: Any, dln: float, mu: Any, offset: float = 0.0, bias: float = 0.0) -> Any:
    """Hankel transform of order mu of samples [..., n] at r_j = r_c exp((j - (n - 1) / 2) dln), times r:
    A(k) = int a(r) J_mu(k r) k dr, at k_j with k_c r_c = exp(offset). bias: exponent of a power law taken out."""
    a, n = _checked(a)
    u = _coefficients(n, dln, mu, offset, bias)
    if np.isinf(u[0]) and not bias == 0:
        import warnings
        warnings.warn("singular transform; consider changing the bias", stacklevel=2)
        u[0] = 0
    if bias:
        a = a * _weight(n, dln, -bias)
    out = irfft(rfft(a) * u, n)[..., ::-1]
    return out * _weight(n, dln, -bias, offset) if bias else out


def ifht(A: Any, dln: float, mu: Any, offset: float = 0.0, bias: float = 0.0) -> Any:
    """Inverse of fht."""
    A, n = _checked(A)
    u = _coefficients(n, dln, mu, offset, bias)
    if u[0] == 0:
        import warnings
        warnings.warn("singular inverse transform; consider changing the bias", stacklevel=2)
        u[0] = np.inf
    if bias:
        A = A * _weight(n, dln, bias, offset)
    out = irfft(rfft(A) / np.conj(u), n)[..., ::-1]
    return out * _weight(n, dln, bias) if bias else out


def fhtoffset(dln: float, mu: Any, initial: float = 0.0, bias: float = 0.0) -> Any:
    """The offset next to `initial` for which the transform of fht does not ring."""
    y = np.pi / (2 * dln)
    above, below = (_log_gamma((mu + 1 + s * bias) / 2 + 1j * y).imag for s in (1, -1))
    turns = (math.log(2) - initial) / dln + (above + below) / np.pi
    return float(initial + (turns - np.round(turns)) * dln)
