# SPDX-License-Identifier: BSD-3-Clause
"""Maps at another nside by way of their coefficients."""
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from .alms import Alm, _sets, almxfl, resize_alm
from .maps import check_nside, get_nside, host, maptype, nside2resol
from .sphtfunc import alm2map, map2alm
from .windows import gauss_beam, pixwin

if TYPE_CHECKING:
    import numpy.typing as npt


def effective_resolution_fwhm(nside: int, arcmin: bool = False) -> float:
    """FWHM of the beam that goes with nside in Planck's maps of low resolution: 160 arcmin at 64, as the pixels grow.

    arcmin: True: in arcmin instead of radians

        kugel.effective_resolution_fwhm(128, arcmin=True)   # 80.0
    """
    fwhm = 160.0 * nside2resol(nside) / nside2resol(64)
    return fwhm if arcmin else np.deg2rad(fwhm / 60)


def _beam(window, fwhm, lmax, pol, what):
    """Beam windows of T and of polarisation, [lmax + 1] each."""
    if window is None:
        beam = gauss_beam(fwhm, lmax, pol=True)
        return beam[:, 0], beam[:, 1]
    beam = np.asarray(host(window), np.float64)
    if pol and beam.ndim == 1:
        raise ValueError(f"{what} is 1D, for T alone; with polarization give [l, 2 or more], as gauss_beam(pol=True) does")
    if beam.ndim not in (1, 2) or len(beam) <= lmax or (pol and beam.ndim == 2 and beam.shape[1] < 2):
        raise ValueError(f"{what} has shape {beam.shape}; expected a length above lmax = {lmax}, [l] or [l, 2 or more]")
    beam = beam[:lmax + 1]
    return (beam, beam) if beam.ndim == 1 else (beam[:, 0], beam[:, min(1, beam.shape[1] - 1)])


def _ratio(high, low, what):
    """high / low, 0 where both are."""
    if ((low == 0) & (high != 0)).any():
        raise ValueError(f"{what} is 0 at l = {int(np.flatnonzero((low == 0) & (high != 0))[0])}: it cannot be divided out; "
                         "choose a lower lmax")
    return np.divide(high, low, out=np.zeros_like(high), where=low != 0)


def harmonic_ud_grade(map_in: npt.ArrayLike, nside_out: int, nside_in: int | None = None, lmax: int | None = None, mmax: int | None = None,
                      iter: int | None = None, pol: bool = True, pixwin: bool = True, fwhm_in: float = 0, fwhm_out: float = 0,
                      beam_window_in: npt.ArrayLike | None = None, beam_window_out: npt.ArrayLike | None = None, use_weights: bool = False,
                      datapath: Any = None, use_pixel_weights: bool = True, dtype: Any = None, input_type: str = "map") -> np.ndarray:
    """Maps at another nside: their coefficients, with the windows of pixel and beam changed, at the new pixels.

    map_in:    a map, or several (three are T, Q, U unless pol=False), RING order; with input_type="alm" coefficients
    nside_in:  of the coefficients' map; needed with input_type="alm"
    lmax:      3 nside - 1 of the smaller nside unless given;  mmax: lmax
    iter, use_weights, use_pixel_weights: as for map2alm; iter None: 3 without pixel weights
    pixwin:    divide by the window of the old pixels and multiply by that of the new ones
    fwhm_in, beam_window_in:   the beam to be divided out: its FWHM in radians, or its window [l] or [l, 2 and more]
    fwhm_out, beam_window_out: the beam to be put in; fwhm_out None: effective_resolution_fwhm(nside_out)
    dtype:     of the result
    Returns [npix] or [n, npix]. Bad pixels count as zero. datapath is accepted and ignored.

        kugel.harmonic_ud_grade(m, 64, fwhm_in=numpy.radians(10 / 60), fwhm_out=None)
    """
    check_nside(nside_out)
    if input_type not in ("map", "alm"):
        raise ValueError(f"input_type must be 'map' or 'alm'; it is {input_type!r}")
    for name, fwhm in (("fwhm_in", fwhm_in), ("fwhm_out", fwhm_out)):
        if fwhm is not None and not fwhm >= 0:
            raise ValueError(f"{name} must be >= 0{' or None' if name == 'fwhm_out' else ''} (radians); it is {fwhm}")
    if input_type == "map":
        maptype(map_in)
        nside_in = get_nside(map_in)
    elif nside_in is None:
        raise ValueError("nside_in must be provided with input_type='alm': coefficients do not tell it")
    check_nside(nside_in)
    most = min(3 * int(nside_out), 3 * int(nside_in)) - 1
    lmax = most if lmax is None else int(lmax)
    if input_type == "map":
        alm = map2alm(map_in, lmax=lmax, mmax=mmax, iter=3 if iter is None else iter, pol=pol, use_weights=use_weights,
                      use_pixel_weights=use_pixel_weights)
    else:
        unused = [name for name, given in (("iter", iter is not None), ("use_weights", use_weights), ("use_pixel_weights", not use_pixel_weights),
                                           ("datapath", datapath is not None)) if given]
        if unused:
            warnings.warn(f"{', '.join(unused)} ignored: with input_type='alm' no map is analysed", UserWarning, stacklevel=2)
        if isinstance(map_in, (list, tuple)) and len({np.size(a) for a in map_in}) > 1 and np.ndim(map_in[0]):
            raise ValueError(f"the sets of alm (T, E, B of a TEB triplet) must have the same size; they have {', '.join(str(np.size(a)) for a in map_in)}")
        alm, single = _sets(map_in)
        if pol and not single and len(alm) not in (1, 3):
            kinds = "a 2D ndarray with 1 or 3 rows" if isinstance(map_in, np.ndarray) else "a single 1D alm array or a TEB triplet"
            raise ValueError(f"alm has {len(alm)} sets; pol=True supports {kinds}: give pol=False for sets that are not T, E, B")
        had = Alm.getlmax(alm.shape[-1])
        if had < 0:
            raise ValueError(f"alm has {alm.shape[-1]} coefficients, which is a full set for no lmax: mmax must be lmax")
        alm = np.array(resize_alm(list(np.atleast_2d(alm)), had, had, lmax, lmax if mmax is None else int(mmax)))
        alm = alm if np.ndim(map_in) == 2 or isinstance(map_in, (list, tuple)) and np.ndim(map_in[0]) else alm[0]
    rows = np.atleast_2d(alm)
    polarised = pol and len(rows) == 3
    transfers = _transfers(int(nside_in), int(nside_out), lmax, polarised, pixwin, (beam_window_in, fwhm_in),
                           (beam_window_out, effective_resolution_fwhm(nside_out) if fwhm_out is None else fwhm_out))
    for i, row in enumerate(rows):
        rows[i] = almxfl(row, transfers[min(i, 1) if polarised else 0], mmax=mmax)
    out = alm2map(rows if alm.ndim == 2 else rows[0], nside_out, lmax=lmax, mmax=mmax, pol=polarised)
    return out if dtype is None else out.astype(dtype)


def _transfers(nside_in, nside_out, lmax, polarised, windows, beam_in, beam_out):
    """What coefficients of T, and of E and B, are multiplied by."""
    old, new = _beam(*beam_in, lmax, polarised, "beam_window_in"), _beam(*beam_out, lmax, polarised, "beam_window_out")
    if windows:
        old = [b * p for b, p in zip(old, pixwin(nside_in, pol=True, lmax=lmax))]
        new = [b * p for b, p in zip(new, pixwin(nside_out, pol=True, lmax=lmax))]
    return [_ratio(high, low, "the old window") for high, low in zip(new, old)][:2 if polarised else 1]
