# SPDX-License-Identifier: BSD-3-Clause
"""Radial kernels: each function gives the arguments of `kugel.Radial`, a list of them those of `kugel.RadialBank`.

    beam = kugel.Radial(grid, **kernels.gaussian(np.radians(0.5)))
    scales = kugel.RadialBank(grid, kernels.needlets(lmax))
    again = scales.reconstruct(scales(map))   # of a band-limited map

A dict can be changed before use: `kernels.top_hat(0.1) | {"normalise_mask": True}`.
"""
from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._lib import lib, options, ptr
from .units import takes

if TYPE_CHECKING:
    import numpy.typing as npt

_SIGMA = 1 / math.sqrt(8 * math.log(2))  # of a Gaussian of FWHM 1


@takes("fwhm", "sigma")
def gaussian(fwhm: float | None = None, *, sigma: float | None = None) -> Any:
    """exp(-a^2 / 2 sigma^2) of unit integral, by its FWHM or its sigma, radians."""
    if (fwhm is None) == (sigma is None):
        raise ValueError("give one of fwhm and sigma")
    return {"kernel": "gaussian", "width": float(fwhm if sigma is None else sigma / _SIGMA), "norm": "integral"}


@takes("fwhm")
def fisher(fwhm: float | None = None, *, kappa: float | None = None, integral: float = 1.0) -> Any:
    """The Gaussian of the sphere after von Mises and Fisher, exp(kappa (cos a - 1)): by its FWHM in radians, or a sum of some
    by kappa (a number or an array) and the integral of each. Its rows need no samples where `method` is "rings"."""
    if (fwhm is None) == (kappa is None):
        raise ValueError("give one of fwhm and kappa")
    if kappa is None:
        return {"kernel": "fisher", "width": float(fwhm), "norm": "integral"}
    kappa = np.array(kappa, np.float64, ndmin=1)
    return {"kernel": ("fisher", kappa, np.broadcast_to(np.asarray(integral, np.float64), kappa.shape).copy()), "norm": None}


@takes("radius")
def top_hat(radius: float) -> Any:
    """The mean over a disc, its radius in radians."""
    return {"kernel": "top_hat", "width": float(radius), "norm": "integral"}


@takes("scale", "fwhm")
def mexican_hat(scale: float | None = None, *, fwhm: float | None = None) -> Any:
    """The spherical Mexican hat of height 1, which has no mean; its scale in radians, or the FWHM of the sources that it
    suits best: scale = fwhm / sqrt(8 ln 2)."""
    if (scale is None) == (fwhm is None):
        raise ValueError("give one of scale and fwhm")
    return {"kernel": "mexican_hat", "width": float(scale if fwhm is None else fwhm * _SIGMA), "norm": "peak"}


def table(angles: npt.ArrayLike, values: npt.ArrayLike) -> Any:
    """A natural cubic spline through values at angles, radians from 0 on; 0 beyond the last."""
    return {"kernel": (np.array(angles, np.float64), np.array(values, np.float64)), "norm": None}


def series(b: npt.ArrayLike, method: str = "harmonic") -> Any:
    """The kernel that multiplies a_lm by b_l [lmax + 1]: sum_l (2l + 1) / 4 pi b_l P_l(cos a). By harmonics there is no
    cut-off; by "direct", "rings" or "auto" it ends where no more than the tolerance is lost."""
    return _by_degree(np.array(b, np.float64, ndmin=1), method)


def _by_degree(b, method="harmonic"):
    made = {"kernel": b, "norm": None, "method": method}
    return made | {"lmax": max(1, b.size - 1)} if method == "harmonic" else made


def square_root(cl: npt.ArrayLike) -> Any:
    """sqrt(C_l): makes a map of that spectrum from white noise of unit spectrum, which has the variance 1 / w in a pixel
    of solid angle w."""
    cl = np.array(cl, np.float64, ndmin=1)
    if not (cl >= 0).all():
        raise ValueError("cl has negative or undefined values; a variance is at least 0")
    return _by_degree(np.sqrt(cl))


def matched_filter(beam: npt.ArrayLike, power: npt.ArrayLike) -> Any:
    """(psi_l, sigma): of the linear filters that keep the height of a source of window `beam`, the one of least variance
    where all else has the spectrum `power` (sky times beam^2, plus noise); sigma is the rms that it leaves."""
    beam, power = (np.array(x, np.float64, ndmin=1) for x in (beam, power))
    if beam.shape != power.shape or beam.ndim != 1:
        raise ValueError(f"beam has shape {beam.shape} and power {power.shape}; expected two arrays [lmax + 1]")
    psi, sigma = np.empty_like(beam), ctypes.c_double()
    lib.kugel_filter_matched(beam.size - 1, ptr(beam), ptr(power), ptr(psi), ctypes.byref(sigma))
    return psi, sigma.value


def matched(beam: npt.ArrayLike, cl: npt.ArrayLike, noise: Any = 0.0) -> Any:
    """The matched filter for sources of window `beam` [lmax + 1] on a sky of spectrum `cl` (without beam) with white noise
    of spectrum `noise` (variance of a pixel times its solid angle)."""
    beam = np.array(beam, np.float64, ndmin=1)
    return _by_degree(matched_filter(beam, np.asarray(cl, np.float64)[:beam.size] * beam**2 + noise)[0])


def _step(x, base):
    """1 to x = 1 / base, 0 from 1 on, smooth between: the integral of exp(-1 / (1 - t^2))."""
    nodes, weights = np.polynomial.legendre.leggauss(80)

    def bump(end):  # from -1 to end
        t = (np.asarray(end)[..., None] + 1) / 2 * (nodes + 1) - 1
        inside = np.maximum(1 - t * t, 1e-300)
        return (np.exp(-1 / inside) * weights).sum(-1) * (np.asarray(end) + 1) / 2

    u = np.clip(1 - 2 * base / (base - 1) * (x - 1 / base), -1, 1)
    return bump(u) / bump(1.0)


def needlet_windows(lmax: int, *, kind: str = "standard", base: float = 2.0, first: int = 0, order: int = 1) -> Any:
    """Windows [scales, lmax + 1] of needlets. Scale j > 0 has its peak near l = base^(first + j - 1); the first window
    takes what lies below, so that the squares of the windows of "standard" and "cosine" sum to 1.

    kind: "standard": smooth, of compact support in l (base^(j-1) to base^(j+1));  "cosine": cos(pi/2 log_base(l / centre));
          "mexican": (l / centre)^(2 order) exp(-(l / centre)^2), sharper on the sphere, its squares sum to 1 by division
    """
    lmax, base = int(lmax), float(base)
    if lmax < 1 or not base > 1 or first < 0 or order < 1:
        raise ValueError(f"lmax is {lmax}, base {base}, first {first}, order {order}; expected at least 1, above 1, "
                         "at least 0 and at least 1")
    ell = np.arange(lmax + 1.0)
    last = max(first, math.ceil(math.log(lmax, base) - 1e-9))
    centre = base ** np.arange(first, last + 1.0)[:, None]
    if kind == "standard":
        below = _step(ell / (centre * base), base)  # 1 to the centre, 0 from base times it on
        squares = np.vstack([_step(ell / centre[0], base), below - np.vstack([_step(ell / centre[0], base), below[:-1]])])
        squares[-1] += 1 - below[-1]
        return np.sqrt(np.maximum(squares, 0))
    if kind == "cosine":
        x = np.log(np.maximum(ell, 1e-9) / centre) / math.log(base)
        rows = np.where(np.abs(x) < 1, np.cos(np.pi / 2 * x), 0)
        rows[-1, ell > centre[-1]] = 1
        x = x[0] + 1  # the first: centred one scale below
        return np.vstack([np.where(x <= 0, 1, np.where(x < 1, np.cos(np.pi / 2 * np.minimum(x, 1)), 0)), rows])
    if kind == "mexican":
        rows = (ell / centre) ** (2 * order) * np.exp(-((ell / centre) ** 2))
        rows = np.vstack([np.exp(-((ell * base / centre[0]) ** 2)), rows])
        return rows / np.sqrt((rows**2).sum(0))
    raise ValueError(f"kind is {kind!r}; expected 'standard', 'cosine' or 'mexican'")


def needlets(lmax: int, **how: Any) -> Any:
    """Kernels of all scales of needlets to lmax, see `needlet_windows`: a map is the sum of its scales convolved with
    their kernels once more, see `RadialBank.reconstruct`."""
    out = []
    for b in needlet_windows(lmax, **how):
        last = int(np.flatnonzero(b)[-1])
        out.append(_by_degree(b[:last + 1]))
    return out


def cut_for_rms(kernel: Any, cl: npt.ArrayLike, rms: float = 1e-5) -> Any:
    """The cut-off in radians whose predicted rms error in a map of spectrum `cl` [lmax + 1] is `rms` of the convolved
    map's: error^2 = sum_l (2l + 1) / 4 pi C_l (b_l - b_l(cut))^2. `kernel`: arguments of Radial, which may then be given
    the `radius`."""
    from .plans import Grid
    from .radial import Radial
    cl = np.asarray(cl, np.float64)
    weight, grid = (2 * np.arange(cl.size) + 1) * cl, Grid.healpix(1)
    made = {k: v for k, v in kernel.items() if k not in ("method", "lmax", "normalise_mask", "radius", "tolerance")}

    def plan(**cut):
        return Radial(grid, **made, method="direct", normalise_mask=made.get("norm", "integral") == "integral", **cut)

    whole = plan(tolerance=1e-12)
    b = whole.coefficients(cl.size - 1)
    size = math.sqrt((weight * b**2).sum())
    low, high = 0.0, whole.radius
    for _ in range(24):
        middle = (low + high) / 2
        cut = plan(radius=middle)
        change = b - cut.coefficients(cl.size - 1) * (whole.scale / cut.scale)
        low, high = (low, middle) if math.sqrt((weight * change**2).sum()) <= rms * size else (middle, high)
    return high


@takes("fwhm")
def find_sources(m: npt.ArrayLike, fwhm: float, filtered: Any = None, *, threshold: float = 5.0, rms: float = 0.0, fixed_fwhm: bool = False,
                 most: int = 100000, kernel: Any = None) -> Any:
    """Sources of a filtered RING map, brightest over noise first: an array with the fields theta, phi, snr, peak, fwhm, flux,
    background, position_error, peak_error, fwhm_error, flux_error, pixel and flags (see kugel_source in kugel/sources.h).
    `filtered`: by `matched` or `mexican_hat`; None: the latter, for sources of this FWHM (radians). `kernel`: the filter's
    b_l, for which sources are taken off one by one, with their sidelobes; None: peaks alone, but of the default filter."""
    from .plans import Grid
    from .radial import Radial
    m = np.ascontiguousarray(m, np.float64)
    nside = math.isqrt(m.size // 12)
    if m.ndim != 1 or m.size == 0 or 12 * nside**2 != m.size:
        raise ValueError(f"m has shape {m.shape}; expected [12 nside^2]")
    if filtered is None:
        hat = Radial(Grid.healpix(nside), **mexican_hat(fwhm=fwhm))
        filtered, kernel = hat(m), hat.coefficients(4 * nside)
    filtered = np.ascontiguousarray(filtered, np.float64)
    if filtered.shape != m.shape:
        raise ValueError(f"filtered has shape {filtered.shape}; expected {m.shape}")
    fields = _ffi.kugel_source._fields_
    out = np.zeros(int(most), np.dtype([(k, np.int64 if k in ("pixel", "flags") else np.float64) for k, _ in fields]))
    count, known = ctypes.c_int64(), {}
    if kernel is not None:
        kernel = np.array(kernel, np.float64, ndmin=1)
        if kernel.ndim != 1 or kernel.size < 2:
            raise ValueError(f"kernel has shape {kernel.shape}; expected b_l [lmax + 1]")
        known = {"kernel": kernel, "kernel_lmax": kernel.size - 1}
    opts = options(_ffi.kugel_sources_opts, nside=nside, fwhm=float(fwhm), threshold=float(threshold), rms=float(rms),
                   fixed_fwhm=int(bool(fixed_fwhm)), **known)
    lib.kugel_sources_find(None, ctypes.byref(opts), ptr(m), ptr(filtered), out.size,
                           out.ctypes.data_as(ctypes.POINTER(_ffi.kugel_source)), ctypes.byref(count))
    return out[:min(count.value, out.size)]
