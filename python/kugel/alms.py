# SPDX-License-Identifier: BSD-3-Clause
"""Coefficients: layout, windows, spectra, random alm, rotation. index(l, m) = m (2 lmax + 1 - m) / 2 + l."""
from __future__ import annotations

import ctypes
import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._lib import lib, long_call, mmax_option, options, ptr, real, writable
from .maps import host
from .units import takes
from .windows import gauss_beam

if TYPE_CHECKING:
    import numpy.typing as npt

_COMPLEX = (np.dtype(np.complex128), np.dtype(np.complex64))


class Alm:
    """The layout of alm arrays."""

    @staticmethod
    def getlm(lmax: int, i: npt.ArrayLike | None = None) -> tuple[Any, Any]:
        """Degrees and orders of the indices i of alm with mmax = lmax, or of all.

        ValueError for an index outside [0, getsize(lmax)).

            Alm.getlm(2)    # (array([0, 1, 2, 1, 2, 2]), array([0, 0, 0, 1, 1, 2]))
        """
        if i is None:
            i = np.arange(Alm.getsize(lmax))
        i = np.asarray(host(i, "i"))
        if i.size and not (0 <= i.min() and i.max() < Alm.getsize(lmax)):
            worst = i.min() if i.min() < 0 else i.max()
            raise ValueError(f"index {worst} is out of range: alm of lmax {lmax} have indices 0 to "
                             f"{Alm.getsize(lmax) - 1}")
        m = np.ceil(((2 * lmax + 1) - np.sqrt((2 * lmax + 1) ** 2 - 8.0 * (i - lmax))) / 2).astype(np.int64)
        l = i - m * (2 * lmax + 1 - m) // 2
        return (l, m) if i.ndim else (int(l), int(m))

    @staticmethod
    def getidx(lmax: int, l: npt.ArrayLike, m: npt.ArrayLike) -> Any:
        """Index of a_lm."""
        return m * (2 * lmax + 1 - m) // 2 + l

    @staticmethod
    def getsize(lmax: int, mmax: int | None = None) -> int:
        """Number of coefficients."""
        if mmax is None or mmax < 0 or mmax > lmax:
            mmax = lmax
        return mmax * (2 * lmax + 1 - mmax) // 2 + lmax + 1

    @staticmethod
    def getlmax(s: int, mmax: int | None = None) -> int:
        """lmax of a set of s coefficients, or -1."""
        if mmax is not None and mmax >= 0:
            lmax, rest = divmod(2 * s + mmax * mmax - mmax - 2, 2 * mmax + 2)
            return -1 if rest or lmax < mmax else int(lmax)
        lmax = (math.isqrt(8 * int(s) + 1) - 3) // 2
        return lmax if s > 0 and (lmax + 1) * (lmax + 2) == 2 * s else -1


def alm_sizes(count: int, lmax: int | None = None, mmax: int | None = None) -> Any:
    """lmax and mmax of sets of `count` coefficients; TypeError if they contradict each other."""
    given = None if mmax is None or mmax < 0 else int(mmax)
    lmax = Alm.getlmax(count, given) if lmax is None or lmax < 0 else int(lmax)
    if lmax < 0 or Alm.getsize(lmax, given) != count:
        raise TypeError(f"Wrong alm size {count} (or give lmax and mmax)")
    return lmax, lmax if given is None else min(given, lmax)


def _complex(alm):
    """complex128, contiguous; not a copy if it is so already."""
    return np.ascontiguousarray(host(alm, "alm"), np.complex128)


def _sets(alms, keep=_COMPLEX):
    """alms as one contiguous array [nalm] or [n, nalm], and whether it is one set."""
    alms = host(alms, "alm")
    a = alms if isinstance(alms, np.ndarray) else np.array([np.asarray(host(x, "alm")) for x in alms])
    if a.ndim not in (1, 2):
        raise TypeError(f"alm has shape {a.shape}; expected [nalm] or [n, nalm]")
    a = np.ascontiguousarray(a, a.dtype if a.dtype in keep else keep[0])
    return a, a.ndim == 1


def _is_single(alms):
    alms = host(alms, "alm")
    return np.ndim(alms) == 1 if isinstance(alms, np.ndarray) else not hasattr(host(alms[0], "alm"), "__len__")


def almxfl(alm: npt.ArrayLike, fl: npt.ArrayLike, mmax: int | None = None, inplace: bool = False) -> Any:
    """a_lm f_l; degrees beyond the end of fl become zero. inplace: the array given is changed and returned."""
    alm = host(alm, "alm")
    a = _complex(alm)
    if a.ndim != 1:
        raise TypeError(f"alm has shape {a.shape}; expected [nalm]")
    if inplace and isinstance(alm, np.ndarray):
        writable(alm, "alm")
    lmax, mmax = alm_sizes(a.size, None, mmax)
    fl = np.asarray(host(fl, "fl"))
    parts = [real(fl.real), real(fl.imag)] if fl.dtype.kind == "c" else [real(fl)]
    out = a if inplace and len(parts) == 1 else np.empty_like(a)
    lib.kugel_alm_multiply(None, lmax, mmax_option(mmax, lmax), ptr(a), parts[0].size, ptr(parts[0]), ptr(out))
    if len(parts) == 2:
        other = np.empty_like(a)
        lib.kugel_alm_multiply(None, lmax, mmax_option(mmax, lmax), ptr(a), parts[1].size, ptr(parts[1]), ptr(other))
        out += 1j * other
    if inplace and out is not alm:
        alm[...] = out
        return alm
    return out


def apply_windows(alms: npt.ArrayLike, windows: Any, mmax: int | None = None, inplace: bool = False) -> Any:
    """Multiplies each set by its window (the last window serves all further sets)."""
    alms = host(alms, "alm")
    if _is_single(alms):
        return almxfl(alms, windows[0], mmax=mmax, inplace=inplace)
    done = [almxfl(a, windows[min(i, len(windows) - 1)], mmax=mmax, inplace=inplace) for i, a in enumerate(alms)]
    return alms if inplace else np.array(done)


@takes("fwhm", "sigma")
def smoothalm(alms: npt.ArrayLike, fwhm: float = 0.0, sigma: float | None = None, beam_window: npt.ArrayLike | None = None,
              pol: bool = True, mmax: int | None = None, verbose: bool = True, inplace: bool = True) -> Any:
    """Smooths alm by a Gaussian beam (fwhm or sigma, radians) or a window. Three sets are T, E, B unless pol=False."""
    alms = host(alms, "alm")
    if any(host(a) is not a for a in ([] if isinstance(alms, np.ndarray) else alms)):
        alms = [host(a, "alm") for a in alms]
    single = _is_single(alms)
    lmax, _ = alm_sizes(len(alms) if single else len(alms[0]), None, mmax)
    if beam_window is not None:
        windows = np.asarray(host(beam_window, "beam_window"))
        windows = [windows] if windows.ndim == 1 else list(windows.T if windows.shape[0] == lmax + 1 else windows)
    else:
        if sigma is not None:
            fwhm = sigma * np.sqrt(8 * np.log(2))
        if fwhm == 0:
            return alms if inplace else np.array(alms)
        polarised = pol and not single and len(alms) == 3
        beam = gauss_beam(fwhm, lmax, pol=polarised)
        windows = [beam[:, 0], beam[:, 1], beam[:, 2]] if polarised else [beam]
    return apply_windows(alms, windows, mmax, inplace)


def alm2cl(alms1: npt.ArrayLike, alms2: npt.ArrayLike | None = None, lmax: int | None = None, mmax: int | None = None,
           lmax_out: int | None = None, nspec: int | None = None) -> Any:
    """Power spectra: [lmax + 1] for one set; for n sets [n (n + 1) / 2, lmax + 1], TT, EE, BB, TE, EB, TB."""
    a, single = _sets(alms1, _COMPLEX[:1])
    b = None if alms2 is None else _sets(alms2, _COMPLEX[:1])[0]
    if b is not None and b.shape != a.shape:
        raise TypeError(f"alms1 has shape {a.shape} and alms2 {b.shape}; they must be equal")
    lmax, mmax = alm_sizes(a.shape[-1], lmax, mmax)
    lmax_out = lmax if lmax_out is None or lmax_out < 0 else min(int(lmax_out), lmax)
    if single:
        out = np.empty(lmax_out + 1)
        lib.kugel_alm_cl(None, lmax, mmax_option(mmax, lmax), ptr(a), None if b is None else ptr(b), lmax_out, ptr(out))
        return out
    n = len(a)
    out = np.empty((n * (n + 1) // 2, lmax_out + 1))
    if b is None:
        lib.kugel_alm_cl_all(None, n, lmax, mmax_option(mmax, lmax), ptr(a), lmax_out, ptr(out))
    else:
        pairs = [(i, i + d) for d in range(n) for i in range(n - d)]
        for row, (i, j) in zip(out, pairs):
            lib.kugel_alm_cl(None, lmax, mmax_option(mmax, lmax), ptr(a[i]), ptr(b[j]), lmax_out, ptr(row))
    out = out if nspec is None else out[:nspec]
    return out[0] if len(out) == 1 else out


def _seed():
    """64 bits from NumPy's global generator, so that numpy.random.seed makes random alm reproducible."""
    high, low = np.random.randint(0, 1 << 32, size=2, dtype=np.uint64)
    return int(high) << 32 | int(low)


def synalm(cls: Any, lmax: int | None = None, mmax: int | None = None, new: bool = False, verbose: bool = True, *, seed: Any = None,
           index: int = 0) -> Any:
    """Gaussian random alm with given spectra.

    cls: one spectrum, or n (n + 1) / 2 of them, or 4 (TT, EE, BB, TE); None stands for zeros
    new: True: by diagonal, TT, EE, BB, TE, EB, TB;  False: by row, TT, TE, TB, EE, EB, BB
    seed:  0 to 2^64 - 1; drawn from numpy.random when None
    index: number of the realisation, 0 to 2^32 - 1: those of one seed are independent, and each is the same in whatever
           process and order it is made
    Returns complex128 [nalm], or [n, nalm] for several spectra. Degrees at which the spectra are not a covariance
    (negative power, or a cross spectrum too large for its two) get zero alm, as healpy has it, and a RuntimeWarning names
    the first.
    """
    cls = host(cls, "cls")
    single = isinstance(cls, np.ndarray) and cls.ndim == 1 or not any(hasattr(c, "__len__") for c in cls)
    rows = [np.asarray(cls, np.float64)] if single else [None if c is None else np.asarray(host(c, "cls"), np.float64)
                                                         for c in cls]
    longest = max(c.size for c in rows if c is not None)
    lmax = longest - 1 if lmax is None or lmax < 0 else int(lmax)
    mmax = lmax if mmax is None or mmax < 0 or mmax > lmax else int(mmax)
    table = np.zeros((len(rows), longest))
    for target, c in zip(table, rows):
        if c is not None:
            target[:c.size] = c
    n = 3 if len(rows) == 4 else int(round((np.sqrt(8 * len(rows) + 1) - 1) / 2))
    if len(rows) != 4 and n * (n + 1) // 2 != len(rows):
        raise TypeError(f"{len(rows)} spectra are given; there must be 1, 3, 4, 6, ... n (n + 1) / 2")
    out = np.empty((n, Alm.getsize(lmax, mmax)), np.complex128)
    opts = options(_ffi.kugel_alm_random_opts, n=n, lmax=lmax, mmax=mmax_option(mmax, lmax), cl=table, n_cl=len(rows),
                   cl_lmax=longest - 1, order=_ffi.KUGEL_CL_DIAGONAL if new else _ffi.KUGEL_CL_ROW,
                   seed=_seed() if seed is None else int(seed), zero_indefinite=1, index=int(index))
    first_bad = ctypes.c_int64()
    long_call(lib.kugel_alm_random, None, ctypes.byref(opts), ptr(out), ctypes.byref(first_bad))
    if first_bad.value >= 0:
        warnings.warn(f"the spectra at l = {first_bad.value} are not a covariance (negative power, or a cross spectrum too "
                      "large): alm are zero there and at other such degrees", RuntimeWarning, stacklevel=2)
    return out[0] if single else out


def new_to_old_spectra_order(cls_new_order: npt.ArrayLike) -> Any:
    """Spectra by row (TT, TE, TB, EE, EB, BB) of spectra by diagonal (TT, EE, BB, TE, EB, TB), for any number of fields.

        old = kugel.sphtfunc.new_to_old_spectra_order(kugel.anafast(iqu))
    """
    n = int(round((np.sqrt(8 * len(cls_new_order) + 1) - 1) / 2))
    if n * (n + 1) // 2 != len(cls_new_order):
        raise ValueError(f"{len(cls_new_order)} spectra are given; there must be 1, 3, 6, ... n (n + 1) / 2")
    place = {(i, i + d): d * n - d * (d - 1) // 2 + i for d in range(n) for i in range(n - d)}
    return [cls_new_order[place[i, j]] for i in range(n) for j in range(i, n)]


def resize_alm(alm: npt.ArrayLike, lmax: int, mmax: int, lmax_out: int, mmax_out: int) -> Any:
    """alm, or a sequence of alm, at another lmax and mmax: cut, or filled with zeros."""
    if not _is_single(alm):
        return [resize_alm(a, lmax, mmax, lmax_out, mmax_out) for a in alm]
    a = _complex(alm)
    if a.size != Alm.getsize(lmax, mmax):
        raise ValueError(f"alm has {a.size} coefficients; lmax {lmax}, mmax {mmax} has {Alm.getsize(lmax, mmax)}")
    out = np.empty(Alm.getsize(lmax_out, mmax_out), np.complex128)
    lib.kugel_alm_resize(lmax, mmax_option(mmax, lmax), ptr(a), lmax_out, mmax_option(mmax_out, lmax_out), ptr(out))
    return out


def euler_of(matrix: Any) -> Any:
    """psi, theta, phi of a rotation matrix."""
    matrix = real(matrix)
    if matrix.shape != (3, 3):
        raise ValueError(f"matrix has shape {matrix.shape}; expected (3, 3)")
    angles = [ctypes.c_double() for _ in range(3)]
    lib.kugel_rotation_to_euler(ptr(matrix), *(ctypes.byref(a) for a in angles))
    return tuple(a.value for a in angles)


@takes("psi", "theta", "phi")
def rotate_alm(alm: npt.ArrayLike, psi: float = 0.0, theta: float = 0.0, phi: float = 0.0, matrix: Any = None, lmax: int | None = None,
               mmax: int | None = None) -> None:
    """Rotates alm, or each of a sequence (T, E, B), in place: psi about z, theta about y, phi about z, or by a matrix.

    The angles are radians about fixed axes. mmax must be lmax.
    """
    if matrix is not None:
        psi, theta, phi = euler_of(matrix)
    alm = host(alm, "alm")
    rows = [alm] if _is_single(alm) else list(alm)
    for row in rows:
        row = host(row, "alm")
        if not isinstance(row, np.ndarray) or row.dtype.kind != "c":
            raise TypeError("alm must be complex arrays: they are rotated in place")
        writable(row, "alm")
        lmax, mmax = alm_sizes(row.size, lmax, mmax)
        if mmax != lmax:
            raise ValueError(f"mmax is {mmax} and lmax {lmax}; they must be equal")
        a = _complex(row)
        long_call(lib.kugel_alm_rotate, None, 1, lmax, ptr(a), float(psi), float(theta), float(phi))
        if a is not row:
            row[...] = a


@takes("fwhm")
def blm_gauss(fwhm: float, lmax: int, pol: bool = False) -> Any:
    """alm of a circular Gaussian beam at the north pole, linearly polarised along x with pol: b_l0 and, E and B, b_l2."""
    mmax = 2 if pol else 0
    if pol and lmax < 2:
        raise ValueError(f"lmax is {lmax}; polarised beams need at least 2")
    sigma2 = (fwhm / np.sqrt(8 * np.log(2))) ** 2
    out = np.zeros((3 if pol else 1, Alm.getsize(lmax, mmax)), np.complex128)
    l = np.arange(lmax + 1)
    out[0, l] = np.sqrt((2 * l + 1) / (4 * np.pi)) * np.exp(-0.5 * sigma2 * l * (l + 1))
    if pol:
        l = l[2:]
        value = np.sqrt((2 * l + 1) / (32 * np.pi)) * np.exp(-0.5 * sigma2 * l * (l + 1))
        index = Alm.getidx(lmax, l, 2)
        out[1, index] = value
        out[2, index] = 1j * value
    return out
