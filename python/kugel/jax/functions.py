# SPDX-License-Identifier: BSD-3-Clause
"""Functions with healpy's names, and regridding, on the last axis of arrays."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from .. import transforms
from .sht import SHT, _apply

if TYPE_CHECKING:
    import numpy.typing as npt


def alm2map(alm: Any, nside: int, lmax: int | None = None, mmax: int | None = None, pol: bool = True) -> Any:
    """Map [..., npix] of alm [..., nalm], or with pol T, Q, U of T, E, B [..., 3, nalm]; lmax from nalm unless given."""
    if lmax is None:
        lmax = transforms.lmax_of(alm.shape[-1], mmax)
    return _apply(transforms.transform(int(nside), lmax, mmax, 0, transforms.mode_of(alm.shape, pol, "nalm")), alm, False)


def map2alm(map: Any, lmax: int | None = None, mmax: int | None = None, iter: int = 3, pol: bool = True, weights: Any = None) -> Any:
    """Coefficients [..., nalm] of HEALPix maps [..., npix], or with pol T, E, B of T, Q, U [..., 3, npix]; lmax 3 nside - 1
    unless given. Batches of other scalar maps than one at a time need pol=False."""
    nside, mode = int(np.sqrt(map.shape[-1] // 12)), transforms.mode_of(map.shape, pol, "npix")
    return _apply(transforms.transform(nside, 3 * nside - 1 if lmax is None else lmax, mmax, 0, mode, weights, iter), map,
                  True)


def smoothing(map: Any, fwhm: Any, lmax: int | None = None, iter: int = 3, pol: bool = True) -> Any:
    """HEALPix maps [..., npix] smoothed by a Gaussian beam of fwhm radians, which has derivatives; with pol T, Q, U
    [..., 3, npix] by way of T, E, B."""
    nside = int(np.sqrt(map.shape[-1] // 12))
    lmax = 3 * nside - 1 if lmax is None else lmax
    alm = map2alm(map, lmax, iter=iter, pol=pol)
    beam = _beams(transforms.mode_of(map.shape, pol, "npix"), 0, fwhm, lmax)
    return alm2map(almxfl(alm, beam.astype(alm.real.dtype)), nside, lmax, pol=pol)


def almxfl(alm: Any, fl: Any, mmax: int | None = None) -> Any:
    """a_lm f_l, with fl [..., lmax + 1]."""
    return alm * fl[..., transforms.index(fl.shape[-1] - 1, mmax)]


def gauss_beam(fwhm: Any, lmax: int, spin: int = 0) -> Any:
    """exp(-(l (l + 1) - spin^2) sigma^2 / 2) of a Gaussian beam of fwhm radians: [lmax + 1], with derivatives."""
    l = np.arange(lmax + 1.0)
    return jnp.exp(-(l * (l + 1) - spin * spin) * jnp.asarray(fwhm) ** 2 / (16 * math.log(2)))


def _beams(mode, spin, fwhm, lmax):
    return jnp.stack([gauss_beam(fwhm, lmax, s) for s in (0, 2, 2)]) if mode == "teb" else gauss_beam(fwhm, lmax, spin)


class Regrid:
    """Maps from one grid to another, through a_lm up to lmax; `fwhm` of a Gaussian beam in radians, or a window [lmax + 1],
    go with the call and have derivatives.

        to_rows = kugel.jax.Regrid(64, kugel.Grid.clenshaw_curtis(181, 360), 128)
        y = to_rows(map, fwhm=0.01)
    """

    def __init__(self, source: Any, target: Any, lmax: int, spin: int = 0, mode: Any = None, weights: Any = None,
                 iterations: int = 0) -> None:
        self.source = SHT(source, lmax, None, spin, mode, weights, iterations)
        self.target = SHT(target, lmax, None, spin, mode)

    def __call__(self, map: Any, fwhm: Any = None, window: npt.ArrayLike | None = None) -> Any:
        if fwhm is not None and window is not None:
            raise ValueError("give at most one of fwhm and window")
        alm, plan = self.source.analysis(map), self.source.transform.plan
        if fwhm is not None:
            window = _beams(plan.mode, plan.spin, fwhm, self.source.lmax)
        if window is not None:
            alm = almxfl(alm, jnp.asarray(window).astype(alm.real.dtype))
        return self.target.synthesis(alm)
