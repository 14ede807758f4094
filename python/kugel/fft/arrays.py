# SPDX-License-Identifier: BSD-3-Clause
"""The arrays that kugel.fft takes, in host and in device memory, behind one set of methods."""
import copy
import ctypes
import itertools
import math
import os
import sys

import numpy as np

from .. import _ffi
from .._lib import dtype_of, lib, long_call, options, ptr, view
from ..arrays import DeviceArray, empty_like, foreign, make_view
from ..hardware import context
from . import library


def threads_of(workers):
    """The number of threads that scipy's workers asks for; 0: as kugel.set_num_threads says."""
    if workers is None:
        return 0
    count = int(workers)
    if count < 0:
        count += 1 + os.cpu_count()
    if count < 1:
        wrong = "workers must not be zero" if workers == 0 else f"workers value out of range; it is {workers}"  # as SciPy has it
        raise ValueError(f"{wrong}: at least 1, or -{os.cpu_count()} to -1, counted from all {os.cpu_count()}")
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
        library = type(x).__module__.split(".")[0]
        self.torch, self.jax = library == "torch", library in ("jax", "jaxlib")
        if self.torch:
            if str(x.dtype) == "torch.bfloat16":
                raise TypeError("the tensor is of bfloat16, which NumPy does not know: kugel.torch.fft takes it, or x.float()")
            x = x.detach().resolve_conj().resolve_neg()
        self.owned = isinstance(x, (list, tuple))  # whose array is ours to overwrite
        shared = hasattr(x, "__dlpack__") and not isinstance(x, (np.ndarray, np.generic))
        a = np.from_dlpack(x) if shared else np.asarray(x)
        self.a = a if a.dtype.isnative else a.astype(a.dtype.newbyteorder("="))
        if self.jax:  # whose arrays never change
            self.a = self.a.view()
            self.a.flags.writeable = False

    shape = property(lambda self: self.a.shape)
    ndim = property(lambda self: self.a.ndim)
    dtype = property(lambda self: self.a.dtype)

    def _like(self, a, owned=True):
        out = object.__new__(type(self))
        out.torch, out.jax, out.owned, out.a = self.torch, self.jax, owned, a
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

    def new(self, shape, dtype, zero=False):
        return self._like((np.zeros if zero else np.empty)(tuple(shape), dtype))

    def __getitem__(self, index):
        return self._like(self.a[index], False)

    def transposed(self, order):
        return self._like(self.a.transpose(order), self.owned)

    def broadcast(self, shape):
        return self._like(np.broadcast_to(self.a, shape), False)

    def reshaped(self, shape):
        return self._like(self.a.reshape(shape), self.owned)

    def get(self):
        return self.a

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
        made = library.plan(*words, None, threads)
        library.execute(made.address, sign, view(self.moved(axes)), view(out.moved(axes)))

    def call(self, function, address, axes, out, out_axes):
        """Another plan, from here to out."""
        last = range(-len(axes), 0)
        long_call(function, address, view(np.moveaxis(self.a, axes, last)), view(np.moveaxis(out.a, out_axes, last)), None)

    def value(self):
        """The array as the caller's library knows it."""
        if self.jax:
            return sys.modules["jax"].numpy.asarray(self.a)
        if not self.torch:
            return self.a
        backward = any(s < 0 for s in self.a.strides)  # which tensors cannot be
        return sys.modules["torch"].from_numpy(self.a.copy() if backward else self.a)


class Device:
    """A strided view of an array in device memory. What changes elements is a copy by the library, in one kernel."""

    def __init__(self, there):
        v, self.there, self.shape, self.dtype = there.view, there, tuple(there.shape), np.dtype(there.dtype)
        self.data, self.where, self.first = v.data, v.device, v.byte_offset  # first: bytes into data
        self.strides = tuple((ctypes.c_int64 * self.ndim).from_address(v.strides)) if v.strides and self.ndim else \
            _strides(self.shape)
        self.owned = False  # whether the memory was made here

    ndim = property(lambda self: len(self.shape))
    precision = property(lambda self: "f32" if self.dtype in (np.float32, np.complex64) else "f64")

    def _part(self, shape, strides, first=0, dtype=None):
        """A view of some of the elements; first in elements of the dtype that it has."""
        out = copy.copy(self)
        out.dtype = self.dtype if dtype is None else np.dtype(dtype)
        out.shape, out.strides, out.first = tuple(shape), tuple(strides), self.first + int(first) * out.dtype.itemsize
        return out

    def __getitem__(self, index):
        """Slices and numbers, one an axis."""
        shape, strides, first = [], [], 0
        for n, step, i in itertools.zip_longest(self.shape, self.strides, index, fillvalue=slice(None)):
            if isinstance(i, slice):
                start, stop, by = i.indices(n)
                shape.append(len(range(start, stop, by)))
                strides.append(step * by)
                first += start * step
            else:
                first += range(n)[i] * step
        return self._part(shape, strides, first)

    def transposed(self, order):
        return self._part([self.shape[d] for d in order], [self.strides[d] for d in order])

    def broadcast(self, shape):
        steps = [0 if mine == 1 and n != 1 else step for mine, n, step in zip(self.shape, shape, self.strides)]
        return self._part(shape, steps)

    def reshaped(self, shape):
        """In C order, copied if it was not."""
        shape = tuple(math.prod(self.shape) // -math.prod(shape) if n == -1 else n for n in shape)
        a = self if self.contiguous else self.copied()
        return a._part(shape, _strides(shape))

    @property
    def contiguous(self):
        return all(n == 1 or a == b for n, a, b in zip(self.shape, self.strides, _strides(self.shape)))

    def view(self):
        out = make_view(self.data, self.where.type, self.where.id, dtype_of(self.dtype), self.shape, self.strides, self.there)
        out.byte_offset = self.first
        return out

    def new(self, shape, dtype, zero=False):
        """Memory of the caller's library, used on the caller's stream."""
        out = Device(foreign(empty_like(self.there, tuple(shape), np.dtype(dtype), zero)))
        out.there.stream, out.there.library, out.owned = self.there.stream, self.there.library, True
        return out

    def copy_to(self, out, scale=1.0, conjugate=False):
        opts = options(_ffi.kugel_copy_opts, scale=scale, conjugate=int(conjugate))
        lib.kugel_array_copy(context(self.device).address, ctypes.byref(self.view()), ctypes.byref(out.view()), opts,
                             self._queue())
        return out

    def typed(self, dtype):
        return self if self.dtype == dtype else self.copy_to(self.new(self.shape, dtype))

    def resized(self, axes, lengths):
        """Cut or padded with zeros."""
        shape, part = _window(self.shape, axes, lengths)
        if shape == self.shape:
            return self
        if all(a <= b for a, b in zip(shape, self.shape)):
            out = self[part]
            out.owned = False
            return out
        out = self.new(shape, self.dtype, True)
        self[part].copy_to(out[part])
        return out

    def result_of(self, shape, dtype, overwrite):
        if (overwrite or self.owned) and shape == self.shape and dtype == self.dtype:
            return self
        return self.new(shape, dtype)

    def copied(self):
        return self.copy_to(self.new(self.shape, self.dtype))

    def conjugated(self):
        return self.copy_to(self if self.owned else self.new(self.shape, self.dtype), conjugate=True)

    def parts(self):
        real = np.dtype(np.float32 if self.dtype == np.complex64 else np.float64)
        steps = [2 * s for s in self.strides]
        return tuple(self._part(self.shape, steps, i, real)._borrowed() for i in (0, 1))

    def _borrowed(self):
        self.owned = False
        return self

    def joined(self, imaginary):
        out = self.new(self.shape, np.complex64 if self.dtype == np.float32 else np.complex128)
        for part, target in zip((self, imaginary), out.parts()):
            part.copy_to(target)
        return out

    def scale_at(self, index, factor):
        part = self[index]
        part.copy_to(part, factor)

    def moved(self, axes):
        return self.transposed([d for d in range(self.ndim) if d not in axes] + list(axes)).view()

    @property
    def device(self):
        return f"{'cuda' if self.where.type == _ffi.KUGEL_CUDA else 'opencl'}:{self.where.id}"

    def execute(self, out, axes, threads, sign, words):
        made = library.plan(*words, self.device, 0)
        library.execute_on(made.address, sign, ctypes.byref(self.moved(axes)), ctypes.byref(out.moved(axes)), self._queue())

    def call(self, function, address, axes, out, out_axes):
        function(address, ctypes.byref(self.moved(axes)), ctypes.byref(out.moved(out_axes)), self._queue())

    def _queue(self):
        return None if self.there.stream is None else context(self.device).queue(self.there.stream)

    def value(self):
        """An array of the caller's library."""
        v = self.there.view
        whole = self.data == v.data and self.first == v.byte_offset and self.shape == tuple(self.there.shape) and \
            self.strides == Device(self.there).strides and self.dtype == self.there.dtype
        there = self.there if whole else self.copied().there
        if there.waits and there.stream is not None:
            lib.kugel_queue_wait(self._queue())
        return _of_jax(there.owner) if there.library in ("jax", "jaxlib") else there.owner

    def filled(self, a):
        """New memory with the numbers of a NumPy array."""
        out, a = self.new(a.shape, a.dtype), np.ascontiguousarray(a)
        lib.kugel_device_upload(context(self.device).address, out.data, out.first, ptr(a), a.nbytes, self._queue())
        lib.kugel_queue_wait(self._queue())
        return out

    def get(self):
        """A NumPy array."""
        out, a = np.empty(self.shape, self.dtype), self if self.contiguous else self.copied()
        lib.kugel_device_download(context(self.device).address, ptr(out), a.data, a.first, out.nbytes, self._queue())
        lib.kugel_queue_wait(self._queue())
        return out


def _of_jax(a):
    """A DeviceArray's numbers as an array of JAX, which shares no memory that it has not made."""
    if not isinstance(a, DeviceArray) or a._context.type != _ffi.KUGEL_CUDA:
        return a
    return sys.modules["jax"].numpy.array(a).block_until_ready()


def _strides(shape):
    """Of C order, in elements."""
    return tuple(math.prod(shape[d + 1:]) for d in range(len(shape)))
