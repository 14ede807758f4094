# SPDX-License-Identifier: BSD-3-Clause
"""The transforms as real-linear maps with their transposes: what kugel.torch.fft and kugel.jax.fft differentiate by.

A primitive transforms whole axes, unscaled but for one factor. `transposed` tells the transpose of each in terms of the
others, as factors along an axis before and after. Complex numbers count as pairs of reals.
With w_k = 1 where the spectrum of a real signal is its own conjugate (k = 0, and n / 2 of an even n) and 2 elsewhere, the
transpose of rfft is irfft (unscaled) after 1 / w, that of irfft is w after rfft. Cosine and sine transforms are
C_jk times 1 or 2 where an end meets its mirror image, so their transposes have that factor on the other side.
"""
import numpy as np

from .. import _ffi
from . import library
from .arrays import Host, threads_of
from .common import current_effort

KINDS = ("c2c", "c2c_inverse", "r2c", "c2r", "dct1", "dct2", "dct3", "dct4", "dst1", "dst2", "dst3", "dst4")
_CODES = {"c2c_inverse": _ffi.KUGEL_FFT_C2C, "c2r": _ffi.KUGEL_FFT_R2C}
_CODES |= {k: getattr(_ffi, "KUGEL_FFT_" + k.upper()) for k in KINDS if k not in _CODES}


def codes(kind):
    """The library's words: kind and sign."""
    return _CODES[kind], _ffi.KUGEL_INVERSE if kind in ("c2c_inverse", "c2r") else _ffi.KUGEL_FORWARD


def shape_of(shape, kind, axes, last):
    """The shape of the result; last: length along axes[-1] of the reals of c2r."""
    shape = list(shape)
    if kind == "r2c":
        shape[axes[-1]] = shape[axes[-1]] // 2 + 1
    elif kind == "c2r":
        shape[axes[-1]] = last
    return tuple(shape)


def result_type(dtype, kind):
    """Of NumPy's dtype."""
    other = {np.dtype(np.float32): np.complex64, np.dtype(np.float64): np.complex128, np.dtype(np.complex64): np.float32,
             np.dtype(np.complex128): np.float64}
    return np.dtype(other[np.dtype(dtype)] if kind in ("r2c", "c2r") else dtype)


def apply(x, kind, axes, last, scale, out=None):
    """Of a Host or Device array (r2c and c2r: one axis, or r2c several); out: one for the result."""
    code, sign = codes(kind)
    lengths = [x.shape[a] for a in axes]
    if kind == "c2r":
        lengths[-1] = last
    if out is None:
        out = x.new(shape_of(x.shape, kind, axes, last), result_type(x.dtype, kind))
    if 0 not in out.shape and 0 not in x.shape:
        factors = (scale, 1.0) if sign == _ffi.KUGEL_FORWARD else (1.0, scale)
        x.execute(out, axes, threads_of(None), sign, (tuple(lengths), code, x.precision, *factors, current_effort()))
    return out


def apply_host(x, out, kind, axes, last, scale):
    """The same of NumPy arrays."""
    apply(Host(x), kind, axes, last, scale, Host(out))


def transposed(kind, n):
    """Kind of the transpose, and the factors along each axis before and after it: None, or first, last, inner for the
    numbers [inner first, inner, ..., inner, inner last]. n: length of the reals of r2c and c2r."""
    even = kind in ("r2c", "c2r") and bool(n % 2 == 0)
    return {"c2c": ("c2c_inverse", None, None), "c2c_inverse": ("c2c", None, None),
            "r2c": ("c2r", (2.0, 2.0 if even else 1.0, 0.5), None), "c2r": ("r2c", None, (0.5, 0.5 if even else 1.0, 2.0)),
            "dct1": ("dct1", (2.0, 2.0, 1.0), (0.5, 0.5, 1.0)), "dct2": ("dct3", (2.0, 1.0, 1.0), None),
            "dct3": ("dct2", None, (0.5, 1.0, 1.0)), "dst2": ("dst3", (1.0, 2.0, 1.0), None),
            "dst3": ("dst2", None, (1.0, 0.5, 1.0))}.get(kind, (kind, None, None))


def transpose(run, times, g, words, n):
    """The transpose of run(x, *words) by `run` and by times(g, factors, axis)."""
    kind, axes, last, scale = words
    turned, before, after = transposed(kind, n)
    for a in axes if before else ():
        g = times(g, before, a)
    g = run(g, turned, axes, n if turned == "c2r" else 0, scale)
    for a in axes if after else ():
        g = times(g, after, a)
    return g
