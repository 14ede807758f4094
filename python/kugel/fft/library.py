# SPDX-License-Identifier: BSD-3-Clause
"""The calls of kugel/fft.h."""
import ctypes
import functools

from .. import _ffi
from .._lib import Handle, lib, long_call, options
from ..hardware import context

PRECISIONS = {"f64": _ffi.KUGEL_PRECISION_F64, "f32": _ffi.KUGEL_PRECISION_F32, "dd": _ffi.KUGEL_PRECISION_DD}


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


def execute(address, sign, source, target):
    """A transform of views on host memory."""
    long_call(lib.kugel_fft_execute, address, sign, source, target, None)


def execute_on(address, sign, source, target, queue):
    """A transform of views on device memory, on a queue or (None) finished when it returns."""
    lib.kugel_fft_execute(address, sign, source, target, queue)


def good_size(n):
    """The smallest length of at least n with factors 2, 3, 5, 7 only."""
    return lib.kugel_fft_good_size(n)
