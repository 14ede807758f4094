# SPDX-License-Identifier: BSD-3-Clause
"""Fast Fourier, cosine and sine transforms with scipy.fft's names, arguments and scalings, for any length.

float32 and complex64 stay single precision. Arrays of NumPy and PyTorch in host memory are transformed there; arrays in
device memory (PyTorch, CuPy, kugel.DeviceArray, anything with DLPack or the CUDA array interface) on their device, on the
caller's stream and without copies, and the results are of the same library. `workers` is a number of threads; None: that
of kugel.set_num_threads.

Arrays of about 31 digits are wrapped, kugel.fft.DoubleDouble(parts) with parts[..., 2] high and low, and so are their
results: kugel.fft.fft(DoubleDouble.of(hi, lo)).parts. kugel.fft.Plan is a plan to keep: of any precision, half and
double-double too, for arrays in host and device memory, and in files with its compiled kernels.
"""
import contextlib
import contextvars
import math

import numpy as np
from numpy.fft import fftfreq, fftshift, ifftshift, rfftfreq  # noqa: F401

from . import _ffi
from ._lib import lib
from .convolution import Convolution, convolve, correlate, fftconvolve, oaconvolve  # noqa: F401
from .fft_arrays import place, threads_of
from .fft_pairs import DoubleDouble, scales  # noqa: F401
from .fft_plan import Plan  # noqa: F401

_DCT = {t: getattr(_ffi, f"KUGEL_FFT_DCT{t}") for t in (1, 2, 3, 4)}
_DST = {t: getattr(_ffi, f"KUGEL_FFT_DST{t}") for t in (1, 2, 3, 4)}
_C2C, _R2C = _ffi.KUGEL_FFT_C2C, _ffi.KUGEL_FFT_R2C
_FORWARD, _INVERSE = _ffi.KUGEL_FORWARD, _ffi.KUGEL_INVERSE


_EFFORTS = {"estimate": _ffi.KUGEL_FFT_ESTIMATE, "measure": _ffi.KUGEL_FFT_MEASURE}
_effort = contextvars.ContextVar("effort", default=_ffi.KUGEL_FFT_ESTIMATE)


@contextlib.contextmanager
def set_effort(effort):
    """Transforms inside `with set_effort("measure")` are planned by timing kernels on their device, which remembers the
    fastest; "estimate": by a model, as without."""
    if effort not in _EFFORTS:
        raise ValueError(f"effort is {effort!r}; allowed are {', '.join(map(repr, _EFFORTS))}")
    token = _effort.set(_EFFORTS[effort])
    try:
        yield
    finally:
        _effort.reset(token)


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


def _typed(x, want_complex):
    """x with a dtype that the library takes, and whether that is single precision."""
    x = place(x)
    single = x.dtype in (np.float32, np.complex64, np.float16)
    if x.dtype.kind == "c" and not want_complex:
        raise TypeError("x must be real")
    kind = (np.complex64 if single else np.complex128) if want_complex else (np.float32 if single else np.float64)
    return x.typed(np.dtype(kind)), single


def _execute(x, axes, lengths, kind, sign, norm, gain, out, workers):
    forward, inverse = (scales if x.precision == "dd" else _scales)(norm, gain)
    x.execute(out, axes, threads_of(workers), sign,
              (tuple(lengths), kind, x.precision, forward, inverse, _effort.get()))
    return out


def _complex(x, s, axes, norm, sign, overwrite, workers):
    x, single = _typed(x, True)
    axes, lengths = _axes_and_lengths(x, s, axes)
    x = x.resized(axes, lengths)
    out = x.result_of(x.shape, x.dtype, overwrite)
    return _execute(x, axes, lengths, _C2C, sign, norm, math.prod(lengths), out, workers).value()


def _real_forward(x, s, axes, norm, workers):
    x, single = _typed(x, False)
    axes, lengths = _axes_and_lengths(x, s, axes)
    x = x.resized(axes, lengths)
    shape = list(x.shape)
    shape[axes[-1]] = lengths[-1] // 2 + 1
    out = x.result_of(tuple(shape), np.dtype(np.complex64 if single else np.complex128), False)
    return _execute(x, axes, lengths, _R2C, _FORWARD, norm, math.prod(lengths), out, workers)


def _real_inverse(x, s, axes, norm, workers, conjugate=False):
    x, single = _typed(x, True)
    axes, lengths = _axes_and_lengths(x, s, axes)
    if s is None:
        lengths[-1] = 2 * (x.shape[axes[-1]] - 1)
    if lengths[-1] < 1:
        raise ValueError(f"the output would have length {lengths[-1]}; give n")
    x = x.resized(axes, lengths[:-1] + [lengths[-1] // 2 + 1])
    if conjugate:
        x = x.conjugated()
    shape = list(x.shape)
    shape[axes[-1]] = lengths[-1]
    out = x.result_of(tuple(shape), np.dtype(np.float32 if single else np.float64), False)
    return _execute(x, axes, lengths, _R2C, _INVERSE, norm, math.prod(lengths), out, workers).value()


def fft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Fourier transform along an axis."""
    return _complex(x, n, axis, norm, _FORWARD, overwrite_x, workers)


def ifft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of fft."""
    return _complex(x, n, axis, norm, _INVERSE, overwrite_x, workers)


def rfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Fourier transform of real numbers: n // 2 + 1 results."""
    return _real_forward(x, n, axis, norm, workers).value()


def irfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of rfft; n of the result, 2 (m - 1) unless given."""
    return _real_inverse(x, n, axis, norm, workers)


def fft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Fourier transform along two axes."""
    return _complex(x, s, axes, norm, _FORWARD, overwrite_x, workers)


def ifft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of fft2."""
    return _complex(x, s, axes, norm, _INVERSE, overwrite_x, workers)


def fftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Fourier transform along several axes, all unless given."""
    return _complex(x, s, axes, norm, _FORWARD, overwrite_x, workers)


def ifftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of fftn."""
    return _complex(x, s, axes, norm, _INVERSE, overwrite_x, workers)


def rfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Fourier transform of real numbers along two axes, the last one halved."""
    return _real_forward(x, s, axes, norm, workers).value()


def irfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of rfft2."""
    return _real_inverse(x, s, axes, norm, workers)


def rfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Fourier transform of real numbers along several axes, the last one halved."""
    return _real_forward(x, s, axes, norm, workers).value()


def irfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of rfftn."""
    return _real_inverse(x, s, axes, norm, workers)


_SWAPPED = {None: "forward", "backward": "forward", "forward": "backward"}


def hfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Fourier transform of a Hermitian-symmetric signal, given by its first half: real results."""
    return _real_inverse(x, n, axis, _SWAPPED.get(norm, norm), workers, True)


def ihfft(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of hfft: the first half of a Hermitian-symmetric signal."""
    return _real_forward(x, n, axis, _SWAPPED.get(norm, norm), workers).conjugated().value()


def hfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """hfft along two axes."""
    return _real_inverse(x, s, axes, _SWAPPED.get(norm, norm), workers, True)


def ihfft2(x, s=None, axes=(-2, -1), norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of hfft2."""
    return _real_forward(x, s, axes, _SWAPPED.get(norm, norm), workers).conjugated().value()


def hfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """hfft along several axes, all unless given."""
    return _real_inverse(x, s, axes, _SWAPPED.get(norm, norm), workers, True)


def ihfftn(x, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, plan=None):
    """Inverse of hfftn."""
    return _real_forward(x, s, axes, _SWAPPED.get(norm, norm), workers).conjugated().value()


def _ends(kind):
    """Which ends carry a factor sqrt(2) so that the transform of this kind is orthogonal: of input, of output."""
    return {_DCT[1]: ((0, -1), (0, -1)), _DCT[2]: ((), (0,)), _DCT[3]: ((0,), ()), _DST[2]: ((), (-1,)),
            _DST[3]: ((-1,), ())}.get(kind, ((), ()))


def _scale_ends(x, axes, ends, factor):
    for a in axes:
        for end in ends:
            index = [slice(None)] * x.ndim
            index[a] = end
            x.scale_at(tuple(index), factor)


def _trigonometric(x, table, *arguments):
    if arguments[0] not in table:
        raise ValueError(f"type is {arguments[0]}; allowed are 1 to 4")
    x = place(x)
    if x.dtype.kind != "c":
        return _of_reals(x, table, *arguments).value()
    real, imaginary = (_of_reals(p, table, *arguments) for p in x.parts())
    return real.joined(imaginary).value()


def _of_reals(x, table, type, s, axes, norm, sign, overwrite, workers, orthogonalize):
    single = x.dtype in (np.float32, np.float16)
    x = x.typed(np.dtype(np.float32 if single else np.float64))
    axes, lengths = _axes_and_lengths(x, s, axes)
    kind = table[type]
    x = x.resized(axes, lengths)
    gain = math.prod(2 * (n - 1) if kind == _DCT[1] else 2 * (n + 1) if kind == _DST[1] else 2 * n for n in lengths)
    ends_in, ends_out = _ends(kind)
    if sign == _INVERSE:
        ends_in, ends_out = ends_out, ends_in
    orthogonalize = norm == "ortho" if orthogonalize is None else orthogonalize
    if orthogonalize and ends_in:
        x = x if overwrite else x.copied()
        _scale_ends(x, axes, ends_in, math.sqrt(2))
    out = x.result_of(x.shape, x.dtype, overwrite)
    _execute(x, axes, lengths, kind, sign, norm, gain, out, workers)
    if orthogonalize:
        _scale_ends(out, axes, ends_out, math.sqrt(0.5))
    return out


def dct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Cosine transform of type 1 to 4 along an axis."""
    return _trigonometric(x, _DCT, type, n, axis, norm, _FORWARD, overwrite_x, workers, orthogonalize)


def idct(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Inverse of dct of the same type."""
    return _trigonometric(x, _DCT, type, n, axis, norm, _INVERSE, overwrite_x, workers, orthogonalize)


def dst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Sine transform of type 1 to 4 along an axis."""
    return _trigonometric(x, _DST, type, n, axis, norm, _FORWARD, overwrite_x, workers, orthogonalize)


def idst(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Inverse of dst of the same type."""
    return _trigonometric(x, _DST, type, n, axis, norm, _INVERSE, overwrite_x, workers, orthogonalize)


def dctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *, orthogonalize=None):
    """Cosine transform along several axes, all unless given."""
    return _trigonometric(x, _DCT, type, s, axes, norm, _FORWARD, overwrite_x, workers, orthogonalize)


def idctn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Inverse of dctn."""
    return _trigonometric(x, _DCT, type, s, axes, norm, _INVERSE, overwrite_x, workers, orthogonalize)


def dstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Sine transform along several axes, all unless given."""
    return _trigonometric(x, _DST, type, s, axes, norm, _FORWARD, overwrite_x, workers, orthogonalize)


def idstn(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, orthogonalize=None):
    """Inverse of dstn."""
    return _trigonometric(x, _DST, type, s, axes, norm, _INVERSE, overwrite_x, workers, orthogonalize)


def next_fast_len(target, real=False):
    """The smallest length of at least `target` without prime factors above 7."""
    return lib.kugel_fft_good_size(int(target))
