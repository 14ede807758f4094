# SPDX-License-Identifier: BSD-3-Clause
"""Functions with healpy's names, on the last axis of tensors."""
from __future__ import annotations

import math
from typing import Any

import torch

from .. import transforms
from .operator import _REAL, _apply, _table


def alm2map(alm: Any, nside: int, lmax: int | None = None, mmax: int | None = None, pol: bool = True) -> Any:
    """Map [..., npix] of alm [..., nalm], or with pol T, Q, U of T, E, B [..., 3, nalm]; lmax from nalm unless given."""
    if lmax is None:
        lmax = transforms.lmax_of(alm.shape[-1], mmax)
    mode = transforms.mode_of(alm.shape, pol, "nalm")
    return _apply(transforms.transform(int(nside), lmax, mmax, 0, mode), alm, False)


def map2alm(map: Any, lmax: int | None = None, mmax: int | None = None, iter: int = 3, pol: bool = True, weights: Any = None) -> Any:
    """Coefficients [..., nalm] of HEALPix maps [..., npix], or with pol T, E, B of T, Q, U [..., 3, npix]; lmax 3 nside - 1
    unless given. Batches of other scalar maps than one at a time need pol=False."""
    nside, mode = math.isqrt(map.shape[-1] // 12), transforms.mode_of(map.shape, pol, "npix")
    return _apply(transforms.transform(nside, 3 * nside - 1 if lmax is None else lmax, mmax, 0, mode, weights, iter), map,
                  True)


def smoothing(map: Any, fwhm: Any, lmax: int | None = None, iter: int = 3, pol: bool = True) -> Any:
    """HEALPix maps [..., npix] smoothed by a Gaussian beam of fwhm radians; with pol T, Q, U [..., 3, npix] by way of
    T, E, B."""
    nside = math.isqrt(map.shape[-1] // 12)
    lmax = 3 * nside - 1 if lmax is None else lmax
    if transforms.mode_of(map.shape, pol, "npix"):
        beam = torch.stack([gauss_beam(fwhm, lmax, s, map.device) for s in (0, 2, 2)])
    else:
        beam = gauss_beam(fwhm, lmax, device=map.device)
    return alm2map(almxfl(map2alm(map, lmax, iter=iter, pol=pol), beam), nside, lmax, pol=pol)


def almxfl(alm: Any, fl: Any, mmax: int | None = None) -> Any:
    """a_lm f_l, with fl [..., lmax + 1]; both have gradients."""
    return alm * fl.to(_REAL[alm.dtype])[..., _table("degree", fl.shape[-1] - 1, mmax, alm.device)]


def alm2cl(alm: Any, other: Any = None, lmax: int | None = None, mmax: int | None = None) -> Any:
    """Power spectrum [..., lmax + 1] of alm [..., nalm], or cross spectrum with `other`."""
    lmax = transforms.lmax_of(alm.shape[-1], mmax) if lmax is None else lmax
    other = alm if other is None else other
    degrees = _table("degree", lmax, mmax, alm.device)
    power = (alm * other.conj()).real
    twice = torch.cat([power[..., :lmax + 1], 2 * power[..., lmax + 1:]], -1)
    sums = power.new_zeros(power.shape[:-1] + (lmax + 1,)).index_add(-1, degrees, twice)
    return sums / (2 * torch.arange(lmax + 1, device=alm.device, dtype=power.dtype) + 1)


def gauss_beam(fwhm: Any, lmax: int, spin: int = 0, device: str | None = None) -> Any:
    """exp(-(l (l + 1) - spin^2) sigma^2 / 2) of a Gaussian beam of fwhm radians: float64 [lmax + 1], with gradients."""
    if torch.is_tensor(fwhm):
        fwhm = fwhm.to(device or fwhm.device, torch.float64)
    l = torch.arange(lmax + 1, dtype=torch.float64, device=device or getattr(fwhm, "device", None))
    return torch.exp(-(l * (l + 1) - spin * spin) * fwhm ** 2 / (16 * math.log(2)))
