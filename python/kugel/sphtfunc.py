# SPDX-License-Identifier: BSD-3-Clause
"""Spherical-harmonic transforms of HEALPix maps, power spectra, beams: healpy's functions and conventions.

UNSEEN, NaN, infinite and masked pixels count as zero in transforms. Arguments that healpy keeps for its data files or
for old scripts (datapath, verbose) are accepted and ignored: Kugel computes its weights and windows. `device` says where
a function's transforms run: "cpu", "cuda:0", "opencl:0", "auto", "cuda:0,1"; `mem` how much memory of the device they may
use, bytes or text such as "20G".
"""
from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi, maps as _maps
from ._lib import lib, long_call, mmax_option, options, real, view
from .alms import (Alm, _complex, _sets, alm2cl, alm_sizes, almxfl, apply_windows, blm_gauss, new_to_old_spectra_order,
                   resize_alm, rotate_alm, smoothalm, synalm)
from .hardware import context
from .maps import check_nside, filled, get_nside, host, is_masked, maptype
from .pixelfunc import reorder
from .plans import Grid, SHT
from .radial import Radial
from .units import takes
from .windows import beam2bl, bl2beam, gauss_beam, pixwin

if TYPE_CHECKING:
    import numpy.typing as npt


@functools.lru_cache(maxsize=8)
def _plan(nside, lmax, mmax, mode, spin=0, iterations=0, weights=None, *, device=None, mem=None):
    return SHT(_grid(nside), lmax, mmax, spin, mode, weights, iterations, bad_pixels="zero", max_memory=mem or 0,
               device=device)


@functools.lru_cache(maxsize=8)
def _grid(nside):
    return Grid.healpix(nside)


def _weights(use_weights, use_pixel_weights, iterations):
    """The plan's weights, and its iterations: none with pixel weights, as healpy has it."""
    if use_weights and use_pixel_weights:
        raise ValueError("use_weights and use_pixel_weights exclude each other")
    return ("pixel", 0) if use_pixel_weights else ("ring" if use_weights else None, int(iterations))


def _limits(nside, lmax, mmax):
    lmax = 3 * nside - 1 if lmax is None or lmax < 0 else int(lmax)
    mmax = lmax if mmax is None or mmax < 0 or mmax > lmax else int(mmax)
    return lmax, mmax


def _cut(m, nside, gal_cut):
    """A copy of the maps with |latitude| < gal_cut degrees zero."""
    if not gal_cut:
        return m
    table = _grid(nside).table()
    inside = np.abs(np.pi / 2 - table["theta"]) < np.deg2rad(gal_cut)
    m = np.array(m)
    for first, n in zip(table["first"][inside], table["nphi"][inside]):
        m[..., first:first + n] = 0
    return m


def map2alm(maps: npt.ArrayLike, lmax: int | None = None, mmax: int | None = None, iter: int = 3, pol: bool = True,
            use_weights: bool = False, datapath: Any = None, gal_cut: float = 0, use_pixel_weights: bool = False, verbose: bool = True, *,
            device: str | None = None, mem: int | str | None = None) -> np.ndarray:
    """Coefficients of a map, of T, Q, U (as T, E, B), or with pol=False of several maps.

    maps:    a map or a sequence of maps, RING order
    lmax:    3 nside - 1 unless given;   mmax: lmax unless given
    iter:    Jacobi iterations; none are done with pixel weights, as in healpy (kugel.SHT does both)
    pol:     three maps are T, Q, U;  False: each map is a scalar
    gal_cut: degrees of latitude on both sides of the equator to be set to zero
    use_weights: ring weights;  use_pixel_weights: a weight for each pixel, with which one pass is exact for maps of lmax up
             to 1.5 nside. They are computed, not downloaded: 0.1 s at nside 64, 2 s at 128, 15 s at 512 the first time; then
             they are kept in the cache folder (KUGEL_CACHE, ~/.cache/kugel), and in memory
    Returns complex128, [nalm] for one map, else [n, nalm]. ValueError for nside, lmax or a pair of weights that do not go
    together; TypeError for what is not a map.

        alm = kugel.map2alm(m, lmax=128, use_pixel_weights=True)
    """
    info = maptype(maps)
    nside = get_nside(maps)
    weights, iterations = _weights(use_weights, use_pixel_weights, iter)
    lmax, mmax = _limits(nside, lmax, mmax)
    m = _cut(real(filled(maps), (np.float64, np.float32)), nside, gal_cut)
    if pol and info not in (0, 1, 3):
        raise ValueError("Wrong input map (must be a valid healpix map or a sequence of 1 or 3 maps)")
    plan = _plan(nside, lmax, mmax, "teb" if pol and info == 3 else "scalar", 0, iterations, weights,
                 device=device, mem=mem)
    shape = (plan.nalm,) if info == 0 or (pol and info == 1) else (info, plan.nalm)
    return plan.analysis(m, out=np.zeros(m.shape[:-1] + (plan.nalm,), np.complex128)).reshape(shape)


@takes("fwhm", "sigma")
def alm2map(alms: npt.ArrayLike, nside: int, lmax: int | None = None, mmax: int | None = None, pixwin: bool = False, fwhm: float = 0.0,
            sigma: float | None = None, pol: bool = True, inplace: bool = False, verbose: bool = True, *, device: str | None = None,
            mem: int | str | None = None) -> np.ndarray:
    """Map of alm, or T, Q, U maps of T, E, B alm; with pol=False one map for each alm.

    pixwin: multiply by the pixel window;  fwhm or sigma: smooth by a Gaussian beam, radians
    inplace: the alm given are changed by the windows
    """
    check_nside(nside)
    nside = int(nside)
    a, single = _sets(alms)
    lmax, mmax = alm_sizes(a.shape[-1], lmax, mmax)
    count = 1 if single else len(a)
    if pol and count not in (1, 3):
        raise TypeError("First argument must be a sequence with three elements, or one alm.")
    polarised = pol and count == 3
    if pixwin:
        alms = apply_windows(alms, _window(nside, polarised, lmax), mmax, inplace)
    if fwhm or sigma:
        alms = smoothalm(alms, fwhm=fwhm, sigma=sigma, pol=polarised, mmax=mmax, inplace=inplace or bool(pixwin))
    a, _ = _sets(alms)
    plan = _plan(nside, lmax, mmax, "teb" if polarised else "scalar", device=device, mem=mem)
    return plan.synthesis(a, out=np.zeros(a.shape[:-1] + (plan.npix,)))


def _window(nside, pol, lmax):
    return pixwin(nside, pol=True, lmax=lmax) if pol else (pixwin(nside, lmax=lmax),)


def _spin_maps(maps, spin):
    if spin < 0:
        raise ValueError(f"spin is {spin}; it must be at least 0")
    if maptype(maps) != 2:
        raise TypeError("maps must be a sequence of 2 maps")


def map2alm_spin(maps: npt.ArrayLike, spin: int, lmax: int | None = None, mmax: int | None = None, *, device: str | None = None,
                 mem: int | str | None = None) -> list[np.ndarray]:
    """Coefficients [E, B] of a pair of maps of that spin, by one pass without weights.

    spin: at least 0; with 0 the two are minus the coefficients of the two maps, as the sign of spins has it
    Returns a list of two complex128 [nalm].
    """
    _spin_maps(maps, spin)
    nside = get_nside(maps)
    m = real(filled(maps), (np.float64, np.float32))
    if spin == 0:
        plan = _plan(nside, *_limits(nside, lmax, mmax), "scalar", device=device, mem=mem)
        return list(-plan.analysis(m, out=np.zeros((2, plan.nalm), np.complex128)))
    plan = _plan(nside, *_limits(nside, lmax, mmax), "spin", int(spin), device=device, mem=mem)
    return list(plan.analysis(m, out=np.zeros((2, plan.nalm), np.complex128)))


def alm2map_spin(alms: npt.ArrayLike, nside: int, spin: int, lmax: int, mmax: int | None = None, *, device: str | None = None,
                 mem: int | str | None = None) -> list[np.ndarray]:
    """The pair of maps of that spin of the coefficients [E, B].

    spin: at least 0; with 0 the two are minus the maps of the two sets, as the sign of spins has it
    Returns a list of two maps.
    """
    check_nside(nside)
    if spin < 0:
        raise ValueError(f"spin is {spin}; it must be at least 0")
    a, single = _sets(alms)
    if single or len(a) != 2:
        raise TypeError("alms must be a sequence of 2 alm arrays")
    lmax, mmax = alm_sizes(a.shape[-1], lmax, mmax)
    if spin == 0:
        plan = _plan(int(nside), lmax, mmax, "scalar", device=device, mem=mem)
        return list(-plan.synthesis(a, out=np.zeros((2, plan.npix))))
    plan = _plan(int(nside), lmax, mmax, "spin", int(spin), device=device, mem=mem)
    return list(plan.synthesis(a, out=np.zeros((2, plan.npix))))


def alm2map_der1(alm: npt.ArrayLike, nside: int, lmax: int | None = None, mmax: int | None = None, *, device: str | None = None,
                 mem: int | str | None = None) -> np.ndarray:
    """Map, d/dtheta and 1/sin(theta) d/dphi, as an array [3, npix]."""
    check_nside(nside)
    a = _complex(alm)
    plan = _plan(int(nside), *alm_sizes(a.shape[-1], lmax, mmax), "der1", device=device, mem=mem)
    return plan.synthesis(a, out=np.zeros((3, plan.npix)))


def map2alm_lsq(maps: npt.ArrayLike, lmax: int, mmax: int, pol: bool = True, tol: float = 1e-10, maxiter: int = 20, *,
                device: str | None = None, mem: int | str | None = None) -> Any:
    """Least-squares analysis. Returns alm, the relative residual, and the number of iterations."""
    info = maptype(maps)
    nside = get_nside(maps)
    lmax, mmax = _limits(nside, lmax, mmax)
    m = real(filled(maps), (np.float64, np.float32))
    if pol and info not in (0, 1, 3):
        raise ValueError("Wrong input map (must be a valid healpix map or a sequence of 1 or 3 maps)")
    if info == 3 and pol:
        alm, stats = _plan(nside, lmax, mmax, "teb", device=device, mem=mem).solve(m, tol, maxiter)
        return alm, stats["residual"], stats["iterations"]
    plan = _plan(nside, lmax, mmax, "scalar", device=device, mem=mem)
    done = [plan.solve(row, tol, maxiter) for row in m.reshape(-1, m.shape[-1])]
    alm = np.array([a for a, _ in done])
    return (alm.reshape(-1) if len(alm) == 1 else alm, max(s["residual"] for _, s in done),
            max(s["iterations"] for _, s in done))


def anafast(map1: npt.ArrayLike, map2: npt.ArrayLike | None = None, nspec: int | None = None, lmax: int | None = None,
            mmax: int | None = None, iter: int = 3, alm: bool = False, pol: bool = True, use_weights: bool = False, datapath: Any = None,
            gal_cut: float = 0, use_pixel_weights: bool = False, *, device: str | None = None) -> Any:
    """Power spectrum of a map or a set of maps, or cross spectrum with map2.

    map1, map2: maps as for map2alm, whose further arguments are these
    nspec:      keep this many spectra
    alm:        True: return the spectra and the alm of each argument
    Returns [lmax + 1], or for T, Q, U [6, lmax + 1]: TT, EE, BB, TE, EB, TB. A masked sky is not corrected for.
    """
    keys = dict(lmax=lmax, mmax=mmax, iter=iter, pol=pol, use_weights=use_weights, gal_cut=gal_cut,
                use_pixel_weights=use_pixel_weights, device=device)
    lmax, mmax = _limits(get_nside(map1), lmax, mmax)
    alms1 = map2alm(map1, **keys)
    alms2 = None if map2 is None else map2alm(map2, **keys)
    cls = alm2cl(alms1, alms2, lmax=lmax, mmax=mmax, lmax_out=lmax, nspec=nspec)
    if not alm:
        return cls
    return (cls, alms1) if alms2 is None else (cls, alms1, alms2)


@takes("fwhm", "sigma")
def synfast(cls: Any, nside: int, lmax: int | None = None, mmax: int | None = None, alm: bool = False, pol: bool = True, pixwin: bool = False,
            fwhm: float = 0.0, sigma: float | None = None, new: bool = False, verbose: bool = True, *, device: str | None = None,
            seed: Any = None, index: int = 0) -> Any:
    """Random maps with given spectra.

    cls:   one spectrum, or several, as for synalm, whose order `new` says
    nside: of the maps
    lmax:  of the alm; the lesser of 3 nside - 1 and the spectra's end unless given;   mmax: lmax unless given
    alm:   True: return the maps and the alm
    pixwin, fwhm, sigma: as for alm2map
    seed, index: as for synalm: map `index` of `seed`, the same as that of kugel synfast --seed --index
    Returns [npix], or [3, npix] for T, Q, U. Without a seed, numpy.random.seed makes the result reproducible (the numbers are not
    healpy's). A RuntimeWarning tells of spectra that are not a covariance, which get zero alm at such degrees.

        kugel.synfast(1.0 / numpy.arange(1, 97)**2, 32)
    """
    check_nside(nside)
    if lmax is None or lmax < 0:
        cls = host(cls, "cls")
        longest = max((np.size(host(c)) for c in cls if np.ndim(c)), default=len(cls))
        lmax = min(3 * int(nside) - 1, longest - 1)
    alms = synalm(cls, lmax=lmax, mmax=mmax, new=new, seed=seed, index=index)
    out = alm2map(alms, nside, lmax=lmax, mmax=mmax, pixwin=pixwin, fwhm=fwhm, sigma=sigma,
                  pol=pol, inplace=bool(alm), device=device)
    return (out, alms) if alm else out


def _smooth_pixels(m, nside, fwhm, window, polarised, lmax, method, normalise_mask):
    if window is None and fwhm == 0:
        return m.copy()
    kernel = ("gaussian", float(fwhm)) if window is None else (real(window),)
    scalar = Radial(_grid(nside), *kernel, method=method, lmax=lmax, normalise_mask=normalise_mask)
    if not polarised:
        return scalar(m)
    if window is not None:
        raise ValueError(f"method {method!r} smooths Q and U by a beam of given fwhm only: use 'harmonic' for a window")
    pair = Radial(_grid(nside), *kernel, normalise_mask=normalise_mask, spin=2)
    return np.concatenate([scalar(m[:1]), pair(m[1:])])


@takes("fwhm", "sigma")
def smoothing(map_in: npt.ArrayLike, fwhm: float = 0.0, sigma: float | None = None, beam_window: npt.ArrayLike | None = None,
              pol: bool = True, iter: int = 3, lmax: int | None = None, mmax: int | None = None, use_weights: bool = False,
              use_pixel_weights: bool = False, datapath: Any = None, verbose: bool = True, nest: bool = False, *, device: str | None = None,
              method: str = "harmonic", normalise_mask: bool = False) -> np.ndarray:
    """Maps smoothed by a Gaussian beam (fwhm or sigma, radians) or a window [lmax + 1].

    Three maps are T, Q, U unless pol=False. Bad pixels count as zero and stay UNSEEN; masked arrays give masked arrays.
    Weights and iter are as for map2alm: with pixel weights no iterations are done.
    method="direct" sums over pixels instead (see kugel.radial; Q and U are carried along great circles), and "auto" takes
    whichever is faster; normalise_mask then divides by the smoothed map of observed pixels.
    """
    info = maptype(map_in)
    nside = get_nside(map_in)
    m = np.ascontiguousarray(filled(map_in), np.float64)
    if nest:
        m = reorder(m, n2r=True)
    if sigma is not None:
        fwhm = sigma * np.sqrt(8 * np.log(2))
    if method != "harmonic":
        out = _smooth_pixels(m, nside, fwhm, beam_window, pol and info == 3, lmax, method, normalise_mask)
        out = reorder(out, r2n=True) if nest else out
        return np.ma.MaskedArray(out, _maps.mask_bad(out), fill_value=_maps.UNSEEN) if is_masked(map_in) else out
    if normalise_mask:
        raise ValueError("normalise_mask goes with method 'direct' or 'auto'")
    lmax, mmax = _limits(nside, lmax, mmax)
    weights, iterations = _weights(use_weights, use_pixel_weights, iter)
    opts = dict(grid=_grid(nside)._handle.address, lmax=lmax, mmax=mmax_option(mmax, lmax), iterations=iterations,
                weights={None: 0, "ring": _ffi.KUGEL_WEIGHTS_RING, "pixel": _ffi.KUGEL_WEIGHTS_PIXEL}[weights])
    if beam_window is not None:
        windows = np.atleast_2d(real(beam_window))
        opts |= dict(zip(("window", "window_e", "window_b"), (np.ascontiguousarray(w) for w in windows)))
        opts["n_window"] = windows.shape[-1]
    else:
        opts["fwhm"] = float(fwhm)
    opts = ctypes.byref(options(_ffi.kugel_smooth_opts, **opts))
    where = context(device)
    out = np.empty_like(m)
    together = info == 0 or (pol and info == 3)
    for source, target in [(m, out)] if together else zip(m, out):
        long_call(lib.kugel_smooth, where and where.address, opts, view(np.atleast_2d(source)),
                  view(np.atleast_2d(target)), None)
    if nest:
        out = reorder(out, r2n=True)
    return np.ma.MaskedArray(out, _maps.mask_bad(out), fill_value=_maps.UNSEEN) if is_masked(map_in) else out
