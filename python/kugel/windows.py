# SPDX-License-Identifier: BSD-3-Clause
"""Beams and pixel windows."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._lib import lib, long_call, ptr, real
from .maps import check_nside
from .units import takes

if TYPE_CHECKING:
    import numpy.typing as npt


@takes("fwhm")
def gauss_beam(fwhm: float, lmax: int = 512, pol: bool = False) -> np.ndarray:
    """Window of a Gaussian beam, fwhm in radians: [lmax + 1], with pol [lmax + 1, 4] for T, E, B, TE."""
    out = np.empty((4 if pol else 1, lmax + 1))
    lib.kugel_beam_gauss(float(fwhm), int(lmax), len(out), ptr(out))
    return np.ascontiguousarray(out.T) if pol else out[0]


def beam2bl(beam: npt.ArrayLike, theta: npt.ArrayLike, lmax: int) -> np.ndarray:
    """Window [lmax + 1] of a beam profile at the angles theta (radians)."""
    beam, theta = real(beam), real(theta)
    if beam.shape != theta.shape or beam.ndim != 1:
        raise ValueError(f"beam has shape {beam.shape} and theta {theta.shape}; both must be vectors of one length")
    if theta.size > 1 and theta[0] > theta[-1]:
        beam, theta = np.ascontiguousarray(beam[::-1]), np.ascontiguousarray(theta[::-1])
    out = np.empty(lmax + 1)
    long_call(lib.kugel_beam_to_window, theta.size, ptr(theta), ptr(beam), int(lmax), ptr(out))
    return out


def bl2beam(bl: npt.ArrayLike, theta: npt.ArrayLike) -> np.ndarray:
    """Beam profile of the window bl at the angles theta (radians)."""
    bl, theta = real(bl), real(theta)
    out = np.empty(theta.shape)
    long_call(lib.kugel_beam_from_window, bl.size - 1, ptr(bl), theta.size, ptr(theta), ptr(out))
    return out


def pixwin(nside: int, pol: bool = False, lmax: int | None = None, datapath: Any = None) -> Any:
    """Pixel window: by how much averaging over pixels lessens the coefficients of each degree.

    nside: 1 to 2^20, not only powers of two
    pol:   True: a pair of windows, of T and of polarisation
    lmax:  up to 4 nside; 3 nside - 1 unless given
    Returns [lmax + 1]. datapath is accepted and ignored: the window is computed, in some tenths of a second the first time
    at an nside, and kept in memory and in the cache folder (KUGEL_CACHE, ~/.cache/kugel).

    To nside 128 it equals healpy's files to 3e-11. From 256 on the two differ by 0.7e-5 to 1.3e-5, and the files are off:
    averages of P_l over all pairs of points of all pixels of nside 256, done directly, agree with this function to 1e-12 at
    l = nside, where the file differs by 2.4e-6 (at l = 2 nside by 6.5e-6).

        wl = kugel.pixwin(512)
    """
    check_nside(nside)
    lmax = 3 * int(nside) - 1 if lmax is None else int(lmax)
    wl = np.empty(lmax + 1)
    wl_pol = np.empty(lmax + 1) if pol else None
    long_call(lib.kugel_pixel_window, None, int(nside), lmax, ptr(wl), ptr(wl_pol) if pol else None)
    return (wl, wl_pol) if pol else wl
