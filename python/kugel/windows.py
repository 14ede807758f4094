# SPDX-License-Identifier: BSD-3-Clause
"""Beams and pixel windows."""
import numpy as np

from ._lib import lib, long_call, ptr, real
from .maps import check_nside


def gauss_beam(fwhm, lmax=512, pol=False):
    """Window of a Gaussian beam, fwhm in radians: [lmax + 1], with pol [lmax + 1, 4] for T, E, B, TE."""
    out = np.empty((4 if pol else 1, lmax + 1))
    lib.kugel_beam_gauss(float(fwhm), int(lmax), len(out), ptr(out))
    return np.ascontiguousarray(out.T) if pol else out[0]


def beam2bl(beam, theta, lmax):
    """Window [lmax + 1] of a beam profile at the angles theta (radians)."""
    beam, theta = real(beam), real(theta)
    if beam.shape != theta.shape or beam.ndim != 1:
        raise ValueError(f"beam has shape {beam.shape} and theta {theta.shape}; both must be vectors of one length")
    if theta.size > 1 and theta[0] > theta[-1]:
        beam, theta = np.ascontiguousarray(beam[::-1]), np.ascontiguousarray(theta[::-1])
    out = np.empty(lmax + 1)
    long_call(lib.kugel_beam_to_window, None, theta.size, ptr(theta), ptr(beam), int(lmax), ptr(out))
    return out


def bl2beam(bl, theta):
    """Beam profile of the window bl at the angles theta (radians)."""
    bl, theta = real(bl), real(theta)
    out = np.empty(theta.shape)
    long_call(lib.kugel_beam_from_window, None, bl.size - 1, ptr(bl), theta.size, ptr(theta), ptr(out))
    return out


def pixwin(nside, pol=False, lmax=None, datapath=None):
    """Pixel window [lmax + 1], lmax = 3 nside - 1 unless given; with pol a tuple of those of T and of polarisation."""
    check_nside(nside)
    lmax = 3 * int(nside) - 1 if lmax is None else int(lmax)
    wl = np.empty(lmax + 1)
    wl_pol = np.empty(lmax + 1) if pol else None
    long_call(lib.kugel_pixel_window, None, int(nside), lmax, ptr(wl), ptr(wl_pol) if pol else None)
    return (wl, wl_pol) if pol else wl
