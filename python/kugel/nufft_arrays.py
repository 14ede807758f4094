# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in a device's memory for kugel.nufft."""
import ctypes

import numpy as np

from ._lib import lib, long_call, view
from .arrays import foreign
from .hardware import context
from .fft.arrays import Device


def on_device(a):
    """The Device of an array in device memory, None of another."""
    there = foreign(a)
    return None if there is None else Device(there)


def check_place(a, where, name):
    """That a Device is where a plan is: `where`, its Context or None."""
    if where is None or a.device != where.name:
        raise ValueError(f"{name} is on {a.device}, the plan is on {where.name if where else 'the CPU'}: "
                         f"make the plan with device={a.device!r}")


def coordinates(x, ndim, where=None):
    """Points [M, ndim], or of one dimension [M], as a Device or a NumPy array, in C order for a plan on a device."""
    there = x if isinstance(x, Device) else on_device(x)
    if there is not None:
        return there.reshaped((-1, 1)) if there.ndim == 1 and ndim == 1 else there
    x = np.asarray(x)
    if x.dtype not in (np.float32, np.float64):
        x = x.astype(np.float64)
    x = np.ascontiguousarray(x) if where else x
    return x[:, None] if x.ndim == 1 and ndim == 1 else x


def settled(x, where, name):
    """Real numbers in device memory, once what their stream has to do is done."""
    check_place(x, where, name)
    if x.dtype not in (np.float32, np.float64):
        x = x.typed(np.dtype(np.float64))
    queue = x._queue()
    if queue is not None:
        lib.kugel_queue_wait(queue)
    return x


def normal(address, where, x, weights, out):
    """kugel_nufft_normal_create of coordinates and weights (None: 1) in either memory."""
    there = on_device(weights)
    if there is not None:
        weights = ctypes.byref(settled(there, where, "weights").view())
    elif weights is not None:
        weights = view(np.ascontiguousarray(weights, np.float64))
    x = ctypes.byref(settled(x, where, "x").view()) if isinstance(x, Device) else view(x)
    long_call(lib.kugel_nufft_normal_create, address, x, weights, ctypes.byref(out))


def density(address, weights, iterations):
    """kugel_nufft_density to new memory of the caller's library."""
    queue = weights._queue()
    if queue is not None:
        lib.kugel_queue_wait(queue)
    long_call(lib.kugel_nufft_density, address, iterations, ctypes.byref(weights.view()))
    return weights.value()


def sort(address, where, x, out):
    """kugel_nufft_points_create of coordinates in device memory, once what its stream has to do is done."""
    x = settled(x, where, "x")
    long_call(lib.kugel_nufft_points_create, address, ctypes.byref(x.view()), ctypes.byref(out))


def columns(axes):
    """1-D coordinate arrays on a device as one array [M, ndim]."""
    parts = [on_device(a) for a in axes]
    if any(p is None for p in parts):
        raise ValueError("some coordinates are in device memory, others are not: give all of them there")
    first = parts[0]
    m = int(np.prod(first.shape, dtype=np.int64))
    real = first.dtype if all(p.dtype == first.dtype for p in parts) and first.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    whole = first.new((len(parts), m), real)
    for d, part in enumerate(parts):
        if part.shape != first.shape:
            raise ValueError(f"coordinate arrays have shapes {first.shape} and {part.shape}: they must be equal")
        part.reshaped((m,)).copy_to(whole[d, :])
    return whole.transposed((1, 0))


def execute(function, address, where, x, shape, dtype, out):
    """A transform of a Device; the result is an array of the same library, on the same stream."""
    check_place(x, where, "the array")
    x = x.typed(dtype)
    if out is None:
        to = x.new(shape, dtype)
    else:
        to = on_device(out)
        if to is None or to.dtype != dtype or to.shape != tuple(shape):
            raise ValueError(f"out must be an array {tuple(shape)} of dtype {dtype} on {x.device}")
    function(address, ctypes.byref(x.view()), ctypes.byref(to.view()), x._queue())
    return to.value() if out is None else out


__all__ = ["Device", "columns", "context", "coordinates", "density", "execute", "normal", "on_device", "sort"]
