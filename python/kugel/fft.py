# SPDX-License-Identifier: BSD-3-Clause
"""Fast Fourier, cosine and sine transforms with scipy.fft's names, arguments and scalings, for any length.

float32 and complex64 stay single precision. `workers` sets no threads here: kugel.set_num_threads does.
"""
import ctypes
import functools
import math

import numpy as np

from . import _ffi
from ._lib import Handle, lib, long_call, options, view

_DCT = {t: getattr(_ffi, f"KUGEL_FFT_DCT{t}") for t in (1, 2, 3, 4)}
_DST = {t: getattr(_ffi, f"KUGEL_FFT_DST{t}") for t in (1, 2, 3, 4)}
_C2C, _R2C = _ffi.KUGEL_FFT_C2C, _ffi.KUGEL_FFT_R2C


@functools.lru_cache(maxsize=32)
def _plan(lengths, kind, single, forward, inverse):
    out = ctypes.c_void_p()
    opts = options(_ffi.kugel_fft_opts, kind=kind, single_precision=int(single), forward_scale=forward,
                   inverse_scale=inverse)
    lib.kugel_fft_create(None, len(lengths), (ctypes.c_int64 * len(lengths))(*lengths), ctypes.byref(opts),
                         ctypes.byref(out))
    return Handle(out.value, lib.kugel_fft_destroy)


def _scales(norm, gain):
    """Forward and inverse factor of scipy's norm."""
    if norm in (None, "backward"):
        return 1.0, 1.0 / gain
    if norm == "ortho":
        return 1.0 / math.sqrt(gain), 1.0 / math.sqrt(gain)
    if norm == "forward":
        return 1.0 / gain, 1.0
    raise ValueError(f'norm is {norm!r}; allowed are "backward", "ortho", "forward"')


def _axes_and_lengths(x, s, axes):
    """Axes from 0 and lengths; s None: those of x, axes None: the last len(s) or all."""
    if s is not None and not hasattr(s, "__len__"):
        s = (s,)
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    elif not hasattr(axes, "__len__"):
        axes = (axes,)
    axes = [a + x.ndim if a < 0 else a for a in map(int, axes)]
    if any(not 0 <= a < x.ndim for a in axes) or len(set(axes)) != len(axes) or not axes:
        raise ValueError(f"axes {axes} do not fit an array of {x.ndim} dimensions, each once")
    lengths = [x.shape[a] for a in axes] if s is None else [int(n) for n in s]
    if len(lengths) != len(axes):
        raise ValueError("s and axes must have the same length")
    if any(n < 1 for n in lengths):
        raise ValueError(f"lengths {lengths} must be at least 1")
    return axes, lengths


def _resized(x, axes, lengths):
    """x cut or padded with zeros to the lengths along the axes; x itself if it fits."""
    shape = list(x.shape)
    for a, n in zip(axes, lengths):
        shape[a] = n
    if tuple(shape) == x.shape:
        return x
    part = tuple(slice(0, min(a, b)) for a, b in zip(shape, x.shape))
    if all(a <= b for a, b in zip(shape, x.shape)):
        return x[part]
    out = np.zeros(shape, x.dtype)
    out[part] = x[part]
    return out


def _typed(x, want_complex):
    x = np.asarray(x)
    single = x.dtype in (np.float32, np.complex64, np.float16)
    if x.dtype.kind == "c" and not want_complex:
        raise TypeError("x must be real")
    kind = (np.complex64 if single else np.complex128) if want_complex else (np.float32 if single else np.float64)
    return x.astype(kind, copy=False), single


def _execute(x, axes, lengths, kind, sign, norm, gain, single, out):
    forward, inverse = _scales(norm, gain)
    last = range(-len(axes), 0)
    plan = _plan(tuple(lengths), kind, single, forward, inverse)
    long_call(lib.kugel_fft_execute, plan.address, sign, view(np.moveaxis(x, axes, last)),
              view(np.moveaxis(out, axes, last)))
    return out


def _complex(x, s, axes, norm, sign):
    x, single = _typed(x, True)
    axes, lengths = _axes_and_lengths(x, s, axes)
    x = _resized(x, axes, lengths)
    return _execute(x, axes, lengths, _C2C, sign, norm, math.prod(lengths), single, np.empty(x.shape, x.dtype))


def _real_forward(x, s, axes, norm):
    x, single = _typed(x, False)
    axes, lengths = _axes_and_lengths(x, s, axes)
    x = _resized(x, axes, lengths)
    shape = list(x.shape)
    shape[axes[-1]] = lengths[-1] // 2 + 1
    out = np.empty(shape, np.complex64 if single else np.complex128)
    return _execute(x, axes, lengths, _R2C, _ffi.KUGEL_FORWARD, norm, math.prod(lengths), single, out)


def _real_inverse(x, s, axes, norm):
    x, single = _typed(x, True)
    axes, lengths = _axes_and_lengths(x, s, axes)
    if s is None:
        lengths[-1] = 2 * (x.shape[axes[-1]] - 1)
    if lengths[-1] < 1:
        raise ValueError(f"the output would have length {lengths[-1]}; give n")
    x = _resized(x, axes, lengths[:-1] + [lengths[-1] // 2 + 1])
    shape = list(x.shape)
    shape[axes[-1]] = lengths[-1]
    out = np.empty(shape, np.float32 if single else np.float64)
    return _execute(x, axes, lengths, _R2C, _ffi.KUGEL_INVERSE, norm, math.prod(lengths), single, out)


def fft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Fourier transform along an axis."""
    return _complex(x, n, axis, norm, _ffi.KUGEL_FORWARD)


def ifft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of fft."""
    return _complex(x, n, axis, norm, _ffi.KUGEL_INVERSE)


def rfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Fourier transform of real numbers: n // 2 + 1 results."""
    return _real_forward(x, n, axis, norm)


def irfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of rfft; n of the result, 2 (m - 1) unless given."""
    return _real_inverse(x, n, axis, norm)


def fft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Fourier transform along two axes."""
    return _complex(x, s, axes, norm, _ffi.KUGEL_FORWARD)


def ifft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of fft2."""
    return _complex(x, s, axes, norm, _ffi.KUGEL_INVERSE)


def fftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Fourier transform along several axes, all unless given."""
    return _complex(x, s, axes, norm, _ffi.KUGEL_FORWARD)


def ifftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of fftn."""
    return _complex(x, s, axes, norm, _ffi.KUGEL_INVERSE)


def rfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Fourier transform of real numbers along two axes, the last one halved."""
    return _real_forward(x, s, axes, norm)


def irfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of rfft2."""
    return _real_inverse(x, s, axes, norm)


def rfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Fourier transform of real numbers along several axes, the last one halved."""
    return _real_forward(x, s, axes, norm)


def irfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of rfftn."""
    return _real_inverse(x, s, axes, norm)


def _ends(kind):
    """Which ends carry a factor sqrt(2) so that the transform of this kind is orthogonal: of input, of output."""
    return {_DCT[1]: ((0, -1), (0, -1)), _DCT[2]: ((), (0,)), _DCT[3]: ((0,), ()), _DST[2]: ((), (-1,)),
            _DST[3]: ((-1,), ())}.get(kind, ((), ()))


def _scaled_ends(x, axes, ends, factor):
    for a in axes:
        for end in ends:
            index = [slice(None)] * x.ndim
            index[a] = end
            x[tuple(index)] *= factor


def _trigonometric(x, table, type, s, axes, norm, sign, orthogonalize):
    x = np.asarray(x)
    if x.dtype.kind == "c":
        parts = [_trigonometric(p, table, type, s, axes, norm, sign, orthogonalize) for p in (x.real, x.imag)]
        return parts[0] + 1j * parts[1]
    if type not in table:
        raise ValueError(f"type is {type}; allowed are 1 to 4")
    x, single = _typed(x, False)
    axes, lengths = _axes_and_lengths(x, s, axes)
    kind = table[type]
    x = _resized(x, axes, lengths)
    gain = math.prod(2 * (n - 1) if kind == _DCT[1] else 2 * (n + 1) if kind == _DST[1] else 2 * n for n in lengths)
    ends_in, ends_out = _ends(kind)
    if sign == _ffi.KUGEL_INVERSE:
        ends_in, ends_out = ends_out, ends_in
    orthogonalize = norm == "ortho" if orthogonalize is None else orthogonalize
    if orthogonalize and ends_in:
        x = x.copy()
        _scaled_ends(x, axes, ends_in, math.sqrt(2))
    out = _execute(x, axes, lengths, kind, sign, norm, gain, single, np.empty(x.shape, x.dtype))
    if orthogonalize:
        _scaled_ends(out, axes, ends_out, math.sqrt(0.5))
    return out


def dct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Cosine transform of type 1 to 4 along an axis."""
    return _trigonometric(x, _DCT, type, n, axis, norm, _ffi.KUGEL_FORWARD, orthogonalize)


def idct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Inverse of dct of the same type."""
    return _trigonometric(x, _DCT, type, n, axis, norm, _ffi.KUGEL_INVERSE, orthogonalize)


def dst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Sine transform of type 1 to 4 along an axis."""
    return _trigonometric(x, _DST, type, n, axis, norm, _ffi.KUGEL_FORWARD, orthogonalize)


def idst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Inverse of dst of the same type."""
    return _trigonometric(x, _DST, type, n, axis, norm, _ffi.KUGEL_INVERSE, orthogonalize)


def dctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    """Cosine transform along several axes, all unless given."""
    return _trigonometric(x, _DCT, type, s, axes, norm, _ffi.KUGEL_FORWARD, orthogonalize)


def idctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Inverse of dctn."""
    return _trigonometric(x, _DCT, type, s, axes, norm, _ffi.KUGEL_INVERSE, orthogonalize)


def dstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Sine transform along several axes, all unless given."""
    return _trigonometric(x, _DST, type, s, axes, norm, _ffi.KUGEL_FORWARD, orthogonalize)


def idstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Inverse of dstn."""
    return _trigonometric(x, _DST, type, s, axes, norm, _ffi.KUGEL_INVERSE, orthogonalize)


def next_fast_len(target, real=False):
    """The smallest length of at least `target` without prime factors above 7."""
    return lib.kugel_fft_good_size(int(target))
