# SPDX-License-Identifier: BSD-3-Clause
"""Convolution and cross-correlation, as plans and as functions with the arguments of scipy.signal."""
from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from .. import _ffi
from .._lib import Handle, lib, long_call, options, view
from ..hardware import context
from .arrays import Device, Host
from .exact import integers, long_convolution
from .pairs import DoubleDouble, Long
from .place import gradients, place

_EXTENTS = {"full": _ffi.KUGEL_CONV_FULL, "same": _ffi.KUGEL_CONV_SAME, "valid": _ffi.KUGEL_CONV_VALID}


class Convolution:
    """Convolution of many arrays of one shape with the same kernels, whose spectra the plan keeps.

        blur = kugel.fft.Convolution((2048, 2048), psf, mode="same")
        y = blur(x)                                     # x: [..., 2048, 2048]

    shape:      lengths of the data
    kernel:     as many dimensions; with `outputs` before them an axis of that length, then one of `inputs`
    mode:       "full", "same" or "valid", as in scipy.signal
    circular:   data are periodic; "full" begins where the first element of kernel and data meet
    correlate:  cross-correlation: the kernel is reversed and conjugated
    dtype:      of data and results: float64, float32, complex128, complex64; the kernel's when not given
    inputs, outputs:  None, or channels of data and of results: result o is the sum over i of data i with kernel [o, i]
    each:       inputs = outputs channels, each with one kernel of its own
    device:     such as "cuda:0" for arrays in its memory or in host memory
    """

    def __init__(self, shape: Any, kernel: Any, mode: str = "full", circular: bool = False, correlate: bool = False, dtype: Any = None,
                 inputs: Any = None, outputs: Any = None, each: bool = False, device: str | None = None) -> None:
        if mode not in _EXTENTS:
            raise ValueError(f'mode is {mode!r}; allowed are "full", "same", "valid"')
        kernel = place(kernel).get()
        self.dtype = _floating(dtype or kernel.dtype)
        parts = np.complex128 if kernel.dtype.kind == "c" else np.float64
        kernel = np.ascontiguousarray(kernel, parts)
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.inputs, self.outputs, ndim = inputs, outputs, len(self.shape)
        self._context = context(device)
        opts = options(_ffi.kugel_conv_opts, extent=_EXTENTS[mode], circular=int(circular), correlate=int(correlate),
                       complex_data=int(self.dtype.kind == "c"), precision=int(self.dtype.name in ("float32", "complex64")),
                       inputs=inputs or 0, outputs=outputs or 0, each=int(each))
        if kernel.ndim < ndim:
            raise ValueError(f"the kernel has {kernel.ndim} dimensions; the data have {ndim}")
        lengths = ctypes.c_int64 * ndim
        out = ctypes.c_void_p()
        long_call(lib.kugel_conv_create, self._context.address if self._context else None, ndim, lengths(*self.shape),
                  lengths(*kernel.shape[kernel.ndim - ndim:]), view(kernel), ctypes.byref(opts), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_conv_destroy)
        info = options(_ffi.kugel_conv_info)
        lib.kugel_conv_get_info(self._handle.address, ctypes.byref(info))
        self.results = tuple(info.m[:ndim])

    def __call__(self, x: Any, axes: Any = None) -> Any:
        """Results of [..., inputs, shape...]; the axes of the shape may lie elsewhere if there are no channels."""
        return self._applied(place(x), axes).value()

    def _applied(self, x, axes=None):
        x = x.typed(self.dtype)
        axes = range(x.ndim - len(self.shape), x.ndim) if axes is None else axes
        lengths = list(x.shape)
        for a, n in zip(axes, self.results):
            lengths[a] = n
        if self.inputs and not self.outputs:
            del lengths[-1 - len(self.shape)]
        elif self.outputs and self.inputs:
            lengths[-1 - len(self.shape)] = self.outputs
        elif self.outputs:
            lengths.insert(len(lengths) - len(self.shape), self.outputs)
        out = x.new(lengths, self.dtype)
        moved = [a - x.ndim + out.ndim for a in axes]
        x.call(lib.kugel_conv_execute, self._handle.address, axes, out, moved)
        return out


def _floating(dtype):
    dtype = np.dtype(dtype)
    single = dtype in (np.float32, np.float16, np.complex64)
    return np.dtype((np.complex64 if single else np.complex128) if dtype.kind == "c" else
                    (np.float32 if single else np.float64))


def _axes(ndim, axes):
    if axes is None:
        return list(range(ndim))
    axes = [a + ndim if a < 0 else a for a in ([axes] if np.isscalar(axes) else axes)]
    if not axes or len(set(axes)) != len(axes) or any(not 0 <= a < ndim for a in axes):
        raise ValueError(f"axes {axes} do not fit arrays of {ndim} dimensions, each once")
    return axes


def _run(x, h, mode, axes, correlate, circular=False):
    """Convolves a Host or Device array along the axes; all others are broadcast against each other."""
    if isinstance(h, Device) and not isinstance(x, Device):
        x = h.filled(x.a)  # the result is where either is
    h = h.get()  # from which the plan makes spectra
    device = x.device if isinstance(x, Device) else None
    dtype = _floating(np.result_type(x.dtype, h.dtype))
    others = [a for a in range(h.ndim) if a not in axes]
    batch = np.broadcast_shapes(tuple(x.shape[a] for a in others), tuple(h.shape[a] for a in others))
    x, h = x.transposed(others + axes), h.transpose(others + axes)
    shape, kernel = tuple(x.shape[len(others):]), h.shape[len(others):]
    if math.prod(h.shape[:len(others)]) == 1:  # one kernel for the batch
        plan = Convolution(shape, h.reshape(kernel), mode, circular, correlate, dtype, device=device)
    elif math.prod(x.shape[:len(others)]) == 1:  # many kernels
        plan = Convolution(shape, h.reshape((-1,) + kernel), mode, circular, correlate, dtype, outputs=math.prod(batch),
                           device=device)
        x = x.reshaped(shape)
    else:
        count = math.prod(batch)
        h = np.broadcast_to(h, batch + kernel).reshape((count,) + kernel)
        plan = Convolution(shape, h, mode, circular, correlate, dtype, count, count, True, device)
        x = x.broadcast(batch + shape).reshaped((count,) + shape)
    out = plan._applied(x)
    out = out.reshaped(batch + tuple(out.shape[out.ndim - len(axes):]))
    return out.transposed([int(d) for d in np.argsort(others + axes)])


def _pair(in1, in2, axes):
    for a in (in1, in2):
        if isinstance(a, DoubleDouble):
            raise TypeError("in1 or in2 is a DoubleDouble: convolutions take float64 and longdouble at most")
    x, h = place(in1), place(in2)
    if x.ndim != h.ndim:
        raise ValueError(f"in1 has {x.ndim} dimensions and in2 {h.ndim}: they must be as many")
    return x, h, _axes(x.ndim, axes)


def _smaller(x, h, axes, mode):
    """Whether in1 and in2 must change places for "valid", as in scipy.signal."""
    if mode != "valid":
        return False
    if all(x.shape[a] >= h.shape[a] for a in axes):
        return False
    if all(h.shape[a] >= x.shape[a] for a in axes):
        return True
    raise ValueError('for mode "valid" one array must be at least as large as the other along every axis')


def _size(a, axes):
    return math.prod(a.shape[d] for d in axes)


def _convolve(x, h, mode, axes):
    if mode == "valid":  # as in SciPy, axes along which either has one element are broadcast
        many = [a for a in axes if x.shape[a] != 1 and h.shape[a] != 1]
        mode, axes = ("valid", many) if many else ("full", axes)
    if _smaller(x, h, axes, mode) or (mode == "full" and _size(h, axes) > _size(x, axes)):
        x, h = h, x
    if isinstance(x, Long) or isinstance(h, Long):
        return long_convolution(x, h, mode, axes)
    return _run(x, h, mode, axes, False)


def _correlate(x, h, mode, axes):
    if isinstance(x, Long) or isinstance(h, Long):
        back = tuple(slice(None, None, -1) if d in axes else slice(None) for d in range(h.ndim))
        return _convolve(x, place(h.get()[back].conj()), mode, axes)
    if not _smaller(x, h, axes, mode):
        return _run(x, h, mode, axes, True)
    out = _run(h, x, mode, axes, True)
    out = out[tuple(slice(None, None, -1) if d in axes else slice(None) for d in range(out.ndim))]
    return out.conjugated() if out.dtype.kind == "c" else out


def _either(in1, in2, mode, axes, run, whole):
    """run for arrays that are not empty; whole: integers in host memory give integers."""
    if mode not in _EXTENTS:
        raise ValueError(f'mode is {mode!r}; allowed are "full", "same", "valid"')
    x, h, axes = _pair(in1, in2, axes)
    if 0 in x.shape or 0 in h.shape:
        return np.array([])
    if not x.shape:
        x, h, axes = x.reshaped((1,)), h.reshaped((1,)), [0]
        return run(x, h, "full", axes).reshaped(()).value() if isinstance(x, Device) or isinstance(h, Device) else \
            _scalar(x, h, run is _correlate)
    if whole and isinstance(x, Host) and isinstance(h, Host) and x.dtype.kind in "biu" and h.dtype.kind in "biu":
        return x._like(integers(x.a, h.a, axes, lambda a, b: run(Host(a), Host(b), mode, axes).get())).value()
    return run(x, h, mode, axes).value()


def _scalar(x, h, conjugate):
    product = x.a[0] * (np.conj(h.a[0]) if conjugate else h.a[0])
    return x._like(np.asarray(product)).value() if x.torch else product


def convolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """Convolution of two arrays: scipy.signal.convolve, also along some axes only, in tiles where that is faster.

    Integers give integers, exactly (modulo 2^64, as sums of them are); in device memory, float64. numpy.longdouble is
    computed with about 31 digits. Arrays in a device's memory are convolved there, on the caller's stream; the smaller
    one, which is the kernel, may be in host memory, and is read from there by the plan. A Convolution keeps its plan,
    these functions make one per call. Tensors that require grad go to kugel.torch.convolve."""
    if (there := gradients(in1, in2)) is not None:
        return there.convolve(in1, in2, mode, axes)
    return _either(in1, in2, mode, axes, _convolve, True)


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """convolve with results that are floats or complex, of integers too: scipy.signal.fftconvolve and oaconvolve."""
    if (there := gradients(in1, in2)) is not None:
        return there.convolve(in1, in2, mode, axes)
    return _either(in1, in2, mode, axes, _convolve, False)


oaconvolve = fftconvolve


def correlate(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """Cross-correlation of two arrays: scipy.signal.correlate, also along some axes only; arrays as in convolve."""
    if (there := gradients(in1, in2)) is not None:
        return there.correlate(in1, in2, mode, axes)
    return _either(in1, in2, mode, axes, _correlate, True)
