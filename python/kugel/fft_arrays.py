# SPDX-License-Identifier: BSD-3-Clause
"""The arrays that kugel.fft takes, in host and in device memory, behind one set of methods."""
import ctypes
import functools
import math
import os
import sys

import numpy as np

from . import _ffi
from ._lib import Handle, dtype_of, lib, long_call, options, view
from .arrays import empty_like, foreign, make_view
from .devices import context


PRECISIONS = {"f64": _ffi.KUGEL_FFT_F64, "f32": _ffi.KUGEL_FFT_F32, "dd": _ffi.KUGEL_FFT_DD}


def place(x):
    """The Host or Device array of anything."""
    from .fft_pairs import DoubleDouble, Pairs
    if isinstance(x, DoubleDouble):
        return Pairs(x)
    there = foreign(x)
    return Host(x) if there is None else Device(there)


@functools.lru_cache(maxsize=32)
def plan(lengths, kind, precision, forward, inverse, effort, device, threads):
    """forward, inverse: scales, of double-double as hi, lo."""
    out = ctypes.c_void_p()
    (forward, f_low), (inverse, i_low) = ((v if isinstance(v, tuple) else (v, 0.0)) for v in (forward, inverse))
    opts = options(_ffi.kugel_fft_opts, kind=kind, precision=PRECISIONS[precision], forward_scale=forward,
                   inverse_scale=inverse, forward_scale_low=f_low, inverse_scale_low=i_low,
                   effort=effort)
    where = context(device) if device else _context_of(threads)
    lib.kugel_fft_create(where.address if where else None, len(lengths), (ctypes.c_int64 * len(lengths))(*lengths),
                         ctypes.byref(opts), ctypes.byref(out))
    return Handle(out.value, lib.kugel_fft_destroy)


class _Threads(Handle):
    """A context on the CPU with a number of threads of its own."""

    __slots__ = ()


@functools.lru_cache(maxsize=16)
def _context_of(threads):
    if not threads:
        return None
    out = ctypes.c_void_p()
    lib.kugel_ctx_create(ctypes.byref(options(_ffi.kugel_ctx_opts, threads=threads)), ctypes.byref(out))
    return _Threads(out.value, lib.kugel_ctx_destroy)


def threads_of(workers):
    """The number of threads that scipy's workers asks for; 0: as kugel.set_num_threads says."""
    if workers is None:
        return 0
    count = int(workers)
    if count < 0:
        count += 1 + os.cpu_count()
    if count < 1:
        raise ValueError(f"workers is {workers}; it must be at least 1, or negative: counted from all {os.cpu_count()}")
    return count


def _window(shape, axes, lengths):
    """The shape with those lengths along the axes, and the part that both shapes share."""
    wanted = list(shape)
    for a, n in zip(axes, lengths):
        wanted[a] = n
    return tuple(wanted), tuple(slice(0, min(a, b)) for a, b in zip(wanted, shape))


class Host:
    """An array in host memory: of NumPy, or shared with another library, which the results then belong to."""

    def __init__(self, x):
        self.torch = type(x).__module__.split(".")[0] == "torch"
        if self.torch:
            x = x.resolve_conj().resolve_neg()
        self.owned = isinstance(x, (list, tuple))  # whose array is ours to overwrite
        shared = hasattr(x, "__dlpack__") and not isinstance(x, (np.ndarray, np.generic))
        self.a = np.from_dlpack(x) if shared else np.asarray(x)

    shape = property(lambda self: self.a.shape)
    ndim = property(lambda self: self.a.ndim)
    dtype = property(lambda self: self.a.dtype)

    def _like(self, a, owned=True):
        out = object.__new__(type(self))
        out.torch, out.owned, out.a = self.torch, owned, a
        return out

    def typed(self, dtype):
        a = self.a.astype(dtype, copy=False)
        return self if a is self.a else self._like(a)

    def resized(self, axes, lengths):
        """Cut or padded with zeros."""
        shape, part = _window(self.shape, axes, lengths)
        if shape == self.shape:
            return self
        if all(a <= b for a, b in zip(shape, self.shape)):
            return self._like(self.a[part], False)
        out = np.zeros(shape, self.dtype)
        out[part] = self.a[part]
        return self._like(out)

    def result_of(self, shape, dtype, overwrite):
        """An array for the result: this one, if it may be overwritten and fits."""
        if (overwrite or self.owned) and shape == self.shape and dtype == self.dtype and self.a.flags.writeable:
            return self
        return self._like(np.empty(shape, dtype))

    def copied(self):
        return self if self.owned else self._like(self.a.copy())

    def conjugated(self):
        return self._like(np.conj(self.a))

    def parts(self):
        return self._like(self.a.real, False), self._like(self.a.imag, False)

    def joined(self, imaginary):
        return self._like(self.a + 1j * imaginary.a)

    def scale_at(self, index, factor):
        self.a[index] *= factor

    precision = property(lambda self: "f32" if self.dtype in (np.float32, np.complex64) else "f64")

    def moved(self, axes):
        """The array with the axes last."""
        return np.moveaxis(self.a, axes, range(-len(axes), 0))

    def execute(self, out, axes, threads, sign, words):
        made = plan(*words, None, threads)
        long_call(lib.kugel_fft_execute, made.address, sign, view(self.moved(axes)), view(out.moved(axes)))

    def call(self, function, address, axes, out, out_axes):
        """Another plan, from here to out."""
        last = range(-len(axes), 0)
        long_call(function, address, view(np.moveaxis(self.a, axes, last)), view(np.moveaxis(out.a, out_axes, last)), None)

    def value(self):
        """The array as the caller's library knows it."""
        return sys.modules["torch"].from_numpy(self.a) if self.torch else self.a


class Device:
    """An array in device memory. What changes elements is left to the array's own library: PyTorch or CuPy."""

    def __init__(self, there):
        self.there, self.a = there, there.owner
        self.library = type(self.a).__module__.split(".")[0]

    shape = property(lambda self: self.there.shape)
    ndim = property(lambda self: len(self.there.shape))
    dtype = property(lambda self: self.there.dtype)
    precision = property(lambda self: "f32" if self.dtype in (np.float32, np.complex64) else "f64")

    def _like(self, a):
        out = Device(foreign(a))
        out.there.stream = self.there.stream if out.there.stream is None else out.there.stream
        return out

    def _need(self, what):
        if self.library not in ("torch", "cupy"):
            raise NotImplementedError(f"{what} needs an array of PyTorch or CuPy, or one in host memory; this one is a "
                                      f"{type(self.a).__name__} of {self.dtype} with shape {self.shape}")
        return sys.modules[self.library]

    def typed(self, dtype):
        if self.dtype == dtype:
            return self
        module = self._need(f"conversion to {np.dtype(dtype)}")
        torch = self.library == "torch"
        return self._like(self.a.to(getattr(module, np.dtype(dtype).name)) if torch else self.a.astype(dtype))

    def resized(self, axes, lengths):
        shape, part = _window(self.shape, axes, lengths)
        if shape == self.shape:
            return self
        self._need("cutting or padding")
        if all(a <= b for a, b in zip(shape, self.shape)):
            return self._like(self.a[part])
        out = empty_like(self.there, shape, self.dtype, True)
        out[part] = self.a[part]
        return self._like(out)

    def result_of(self, shape, dtype, overwrite):
        if overwrite and shape == self.shape and dtype == self.dtype:
            return self
        return self._like(empty_like(self.there, shape, dtype, False))

    def copied(self):
        self._need("norm='ortho' of this transform")
        return self._like(self.a.clone() if self.library == "torch" else self.a.copy())

    def conjugated(self):
        module = self._need("a Hermitian transform")
        return self._like(module.conj_physical(self.a) if self.library == "torch" else module.conj(self.a))

    def parts(self):
        self._need("a real transform of complex numbers")
        return self._like(self.a.real), self._like(self.a.imag)

    def joined(self, imaginary):
        return self._like(self.a + 1j * imaginary.a)

    def scale_at(self, index, factor):
        self._need("norm='ortho' of this transform")
        self.a[index] *= factor

    def _moved(self, axes):
        """A view with the axes last."""
        v, shape = self.there.view, self.shape
        strides = [math.prod(shape[d + 1:]) for d in range(self.ndim)]
        if v.strides:
            strides = list((ctypes.c_int64 * self.ndim).from_address(v.strides))
        order = [d for d in range(self.ndim) if d not in axes] + list(axes)
        out = make_view(v.data, v.device.type, v.device.id, dtype_of(self.dtype), [shape[d] for d in order],
                        [strides[d] for d in order], self.there)
        out.byte_offset = v.byte_offset
        return out

    @property
    def device(self):
        v = self.there.view.device
        return f"{'cuda' if v.type == _ffi.KUGEL_CUDA else 'opencl'}:{v.id}"

    def execute(self, out, axes, threads, sign, words):
        made = plan(*words, self.device, 0)
        lib.kugel_fft_execute_on(made.address, sign, ctypes.byref(self._moved(axes)), ctypes.byref(out._moved(axes)),
                                 self._queue())

    def call(self, function, address, axes, out, out_axes):
        function(address, ctypes.byref(self._moved(axes)), ctypes.byref(out._moved(out_axes)), self._queue())

    def _queue(self):
        return None if self.there.stream is None else context(self.device).queue(self.there.stream)

    def value(self):
        return self.a
