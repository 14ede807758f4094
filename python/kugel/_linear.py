# SPDX-License-Identifier: BSD-3-Clause
"""What the plans of kugel.polynomial do with arrays: linear maps of real matrices, on arrays of every library."""
from __future__ import annotations

import copy
import ctypes
import importlib
from typing import Any

import numpy as np

from ._lib import Handle, dtype_of, lib, long_call, view, writable
from .arrays import device_name, empty_like, foreign, make_view, stream_handle
from .hardware import context

#: the transpose of each verb
OTHER = {"synthesis": "synthesis_adjoint", "synthesis_adjoint": "synthesis", "analysis": "analysis_adjoint",
         "analysis_adjoint": "analysis", "execute": "adjoint", "adjoint": "execute"}


class LinearPlan:
    """A plan of the library whose functions are named by verbs, of which OTHER is the transpose."""

    _prefix = ""  # of the library's functions
    _inner = False  # whether the library's arrays have an axis of one system that these arrays lack
    _devices = True  # whether the library has it on devices
    dtype = np.dtype(np.float64)

    def _make(self, opts, device=None):
        self._opts, self._context, self._twins = opts, context(device), {}
        out = ctypes.c_void_p()
        long_call(getattr(lib, self._prefix + "_create"), self._context and self._context.address, ctypes.byref(opts), ctypes.byref(out))
        self._handle = Handle(out.value, getattr(lib, self._prefix + "_destroy"))

    @property
    def device(self) -> Any:
        """Where the transforms run, such as "cpu"."""
        return self._context.name if self._context else "cpu"

    def _on(self, device):
        """This plan, or the same one on another device, which is made once."""
        if device == self.device:
            return self
        if not self._devices:
            raise NotImplementedError(f"the array is on {device}; {type(self).__name__} transforms run on the CPU")
        if device not in self._twins:
            twin = copy.copy(self)
            twin._make(self._opts, device)
            self._twins[device] = twin
        return self._twins[device]

    def _shapes(self, verb):
        """Trailing axes of what a verb reads and of what it writes."""
        to_values = verb in ("synthesis", "analysis_adjoint")
        return (self._coefficients, self._values) if to_values else (self._values, self._coefficients)

    def _apply(self, verb, x, words=(), out=None):
        """A verb on an array of NumPy, PyTorch or JAX, the latter two with derivatives, or of a device."""
        kind = type(x).__module__.split(".")[0]
        if kind in ("torch", "jax", "jaxlib"):
            if out is not None:
                raise ValueError("out is for arrays of NumPy and of devices: leave it out")
            library = importlib.import_module(f".{'torch' if kind == 'torch' else 'jax'}.linear", __package__)
            return library.apply(self, verb, x, words)
        return self._compute(verb, x, words, out)

    def _compute(self, verb, x, words=(), out=None):
        there = foreign(x)
        call = getattr(lib, f"{self._prefix}_{verb}"), words, x if there is None else there, *self._shapes(verb), out
        return self._run(*call) if there is None else self._on(device_name(there))._run_there(*call)

    def _run(self, function, words, x, given, made, out=None):
        x = np.asarray(x)
        complex_ = x.dtype.kind == "c"
        dtype = np.result_type(self.dtype, np.complex64) if complex_ else self.dtype
        x = x.astype(dtype, copy=False)
        if x.ndim < len(given):
            raise ValueError(f"the array has {x.ndim} axes, at least {len(given)} are needed")
        shape = x.shape[:x.ndim - len(given)] + made
        if out is None:
            out = np.empty(shape, dtype)
        elif not isinstance(out, np.ndarray) or out.dtype != dtype or out.shape != shape:
            raise ValueError(f"out must be an array {shape} of dtype {dtype}")
        writable(out, "out")
        result, travels = out, self._context is not None  # to a device, in C order
        if travels:
            x, out = np.stack([x.real, x.imag]) if complex_ else np.ascontiguousarray(x), np.empty((2,) * complex_ + shape, self.dtype)
        a, b = (_parts(v) if complex_ and not travels else v for v in (x, out))
        if self._inner:  # the library's axis of systems
            a, b = a[..., None, :], b[..., None, :] if made else b[..., None]
        long_call(function, self._handle.address, *words, view(a), view(b), None)
        if travels and complex_:
            result.real, result.imag = out
        elif travels:
            result[...] = out
        return result

    def _run_there(self, function, words, there, given, made, out=None):
        """Arrays in the device's memory; the result is of their kind."""
        complex_ = there.dtype.kind == "c"
        dtype = np.result_type(self.dtype, np.complex64) if complex_ else self.dtype
        if there.dtype != dtype:
            raise TypeError(f"the array has dtype {there.dtype}; in device memory it must be {dtype}")
        own, axes = there.shape, len(given)
        if len(own) < axes or own[len(own) - axes:] != given:
            raise ValueError(f"the array has shape {own}; expected (..., {', '.join(map(str, given))})")
        shape = own[:len(own) - axes] + made
        if out is None:
            out = empty_like(there, shape, dtype, False)
        to = foreign(out)
        if to is None or to.dtype != dtype or to.shape != shape or device_name(to) != self.device:
            raise ValueError(f"out must be an array {shape} of dtype {dtype} in the memory of {self.device}")
        views = [_real_view(f, self.dtype, complex_, self._inner) for f in (there, to)]
        streams = [s for s in (there.stream, to.stream) if s is not None]
        queue = self._context.queue(stream_handle(streams[0])) if streams else None
        long_call(function, self._handle.address, *words, *map(ctypes.byref, views), queue)
        return out


def _parts(a):
    """Real and imaginary parts of a complex array as a first axis of 2, in the same memory."""
    real = a.real
    return np.lib.stride_tricks.as_strided(real, (2,) + a.shape, (real.itemsize,) + a.strides, writeable=a.flags.writeable)


def _real_view(f, real, complex_, inner):
    """The same on a device: of a Foreign, with the axis of systems that `inner` wants."""
    shape, raw = f.shape, f.view.strides
    strides = list((ctypes.c_int64 * len(shape)).from_address(raw)) if raw else [
        int(np.prod(shape[i + 1:])) for i in range(len(shape))]
    shape = list(shape)
    if inner:
        shape.insert(len(shape) - 1, 1)
        strides.insert(len(strides) - 1, 0)
    if complex_:
        shape, strides = [2] + shape, [1] + [2 * s for s in strides]
    where = f.view.device
    out = make_view(f.view.data, where.type, where.id, dtype_of(real), shape, strides, f)
    out.byte_offset = f.view.byte_offset
    return out
