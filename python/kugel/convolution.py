# SPDX-License-Identifier: BSD-3-Clause
"""Convolution and cross-correlation, as plans and as functions with the arguments of scipy.signal."""
import ctypes
import math
import sys

import numpy as np

from . import _ffi
from ._lib import Handle, lib, long_call, options, view
from .arrays import foreign
from .devices import context
from .fft_arrays import Device, Host, place

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

    def __init__(self, shape, kernel, mode="full", circular=False, correlate=False, dtype=None, inputs=None, outputs=None,
                 each=False, device=None):
        if mode not in _EXTENTS:
            raise ValueError(f'mode is {mode!r}; allowed are "full", "same", "valid"')
        kernel = _host(kernel)
        self.dtype = _floating(dtype or kernel.dtype)
        parts = np.complex128 if kernel.dtype.kind == "c" else np.float64
        kernel = np.ascontiguousarray(kernel, parts)
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.inputs, self.outputs, ndim = inputs, outputs, len(self.shape)
        self._context = context(device)
        opts = options(_ffi.kugel_conv_opts, extent=_EXTENTS[mode], circular=int(circular), correlate=int(correlate),
                       complex_data=int(self.dtype.kind == "c"), single_precision=int(self.dtype.name in
                                                                                      ("float32", "complex64")),
                       inputs=inputs or 0, outputs=outputs or 0, each=int(each))
        if kernel.ndim < ndim:
            raise ValueError(f"the kernel has {kernel.ndim} dimensions; the data have {ndim}")
        lengths = ctypes.c_int64 * ndim
        out = ctypes.c_void_p()
        long_call(lib.kugel_conv_create, self._context.address if self._context else None, ndim, lengths(*self.shape),
                  lengths(*kernel.shape[kernel.ndim - ndim:]), view(kernel), ctypes.byref(opts), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_conv_destroy)
        results = lengths()
        lib.kugel_conv_shape(self._handle.address, results)
        self.results = tuple(results)

    def __call__(self, x, axes=None):
        """Results of [..., inputs, shape...]; the axes of the shape may lie elsewhere if there are no channels."""
        x = place(x).typed(self.dtype)
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
        out = x.result_of(tuple(lengths), self.dtype, False)
        if out is x:  # of a list
            out = x._like(np.empty(tuple(lengths), self.dtype))
        moved = [a - x.ndim + out.ndim for a in axes]
        x.call(lib.kugel_conv_execute, self._handle.address, axes, out, moved)
        return out.value()


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


def _host(kernel):
    """A kernel in host memory."""
    if foreign(kernel) is None:
        return Host(kernel).a
    if hasattr(kernel, "get"):  # CuPy, DeviceArray
        return kernel.get()
    if hasattr(kernel, "cpu"):
        return kernel.detach().cpu().numpy()
    raise NotImplementedError(f"a kernel must be in host memory or an array of PyTorch or CuPy, not {type(kernel).__name__}")


def _transposed(a, order):
    return a.permute(*order) if hasattr(a, "permute") else a.transpose(order)


def _broadcast(a, shape):
    return a.expand(shape) if hasattr(a, "expand") else sys.modules[type(a).__module__.split(".")[0]].broadcast_to(a, shape)


def _reversed(a, axes):
    if hasattr(a, "flip"):
        return a.flip(tuple(axes)).conj_physical()
    return a[tuple(slice(None, None, -1) if d in axes else slice(None) for d in range(a.ndim))].conj()


def _run(x, h, mode, axes, correlate, circular=False):
    """Convolves data in host or device memory along the axes; all others are broadcast against each other."""
    there = place(x)
    device = there.device if isinstance(there, Device) else None
    if device:
        there._need("convolution along some axes")
    x, h = there.a, _host(h)
    dtype = _floating(np.result_type(there.dtype, h.dtype))
    others = [a for a in range(h.ndim) if a not in axes]
    batch = np.broadcast_shapes(tuple(x.shape[a] for a in others), tuple(h.shape[a] for a in others))
    x, h = (_transposed(a, others + axes) for a in (x, h))
    shape, kernel = tuple(x.shape[len(others):]), h.shape[len(others):]
    if math.prod(h.shape[:len(others)]) == 1:  # one kernel for the batch
        plan = Convolution(shape, h.reshape(kernel), mode, circular, correlate, dtype, device=device)
        out = plan(x)
    elif math.prod(x.shape[:len(others)]) == 1:  # many kernels
        plan = Convolution(shape, h.reshape((-1,) + kernel), mode, circular, correlate, dtype, outputs=math.prod(batch),
                           device=device)
        out = plan(x.reshape(shape))
    else:
        count = math.prod(batch)
        x, h = _broadcast(x, batch + shape), np.broadcast_to(h, batch + kernel)
        plan = Convolution(shape, h.reshape((count,) + kernel), mode, circular, correlate, dtype, count, count, True, device)
        out = plan(x.reshape((count,) + shape))
    out = out.reshape(batch + tuple(out.shape[out.ndim - len(axes):]))
    out = _transposed(out, [int(d) for d in np.argsort(others + axes)])
    return there._like(out).value() if device is None else out


def _pair(in1, in2, axes):
    x, h = (a if hasattr(a, "__dlpack__") or hasattr(a, "shape") else np.asarray(a) for a in (in1, in2))
    if len(x.shape) != len(h.shape):
        raise ValueError(f"in1 has {len(x.shape)} dimensions and in2 {len(h.shape)}: they must be as many")
    return x, h, _axes(len(x.shape), axes)


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


def convolve(in1, in2, mode="full", axes=None):
    """Convolution of two arrays: scipy.signal.fftconvolve and oaconvolve, in tiles where that is faster.

    Arrays of PyTorch or CuPy in a device's memory are convolved there, on the caller's stream; the smaller one, which
    is the kernel, may be in host memory. A Convolution keeps its plan, these functions make one a call."""
    x, h, axes = _pair(in1, in2, axes)
    if not x.shape:
        return x * h
    if 0 in x.shape or 0 in h.shape:
        return np.array([])
    if _smaller(x, h, axes, mode) or (mode == "full" and _size(h, axes) > _size(x, axes)):
        x, h = h, x
    return _run(x, h, mode, axes, False)


fftconvolve = oaconvolve = convolve


def correlate(in1, in2, mode="full", axes=None):
    """Cross-correlation of two arrays: scipy.signal.correlate, also along some axes only; arrays as in convolve."""
    x, h, axes = _pair(in1, in2, axes)
    if not x.shape:
        return x * np.conj(h)
    if 0 in x.shape or 0 in h.shape:
        return np.array([])
    if not _smaller(x, h, axes, mode):
        return _run(x, h, mode, axes, True)
    there = place(_run(h, x, mode, axes, True))
    out = _reversed(there.a, axes)
    return there._like(out).value() if isinstance(there, Host) else out
