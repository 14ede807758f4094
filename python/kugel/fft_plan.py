# SPDX-License-Identifier: BSD-3-Clause
"""Plans of transforms that the caller keeps: of every precision, and in files with their compiled kernels."""
import ctypes
import math
import os

import numpy as np

from . import _ffi
from ._lib import Handle, lib, long_call, options, view
from .arrays import empty_like, foreign
from .devices import context

KINDS = {"c2c": _ffi.KUGEL_FFT_C2C, "r2c": _ffi.KUGEL_FFT_R2C}
KINDS.update({f"{name}{i}": getattr(_ffi, f"KUGEL_FFT_{name.upper()}{i}") for name in ("dct", "dst") for i in range(1, 5)})
PRECISIONS = {"f64": _ffi.KUGEL_FFT_F64, "f32": _ffi.KUGEL_FFT_F32, "dd": _ffi.KUGEL_FFT_DD, "half": _ffi.KUGEL_FFT_F16}
EFFORTS = {"estimate": _ffi.KUGEL_FFT_ESTIMATE, "measure": _ffi.KUGEL_FFT_MEASURE}

# Elements of reals and of complex numbers in arrays, and whether these have a last axis of 2 more.
_ELEMENTS = {"f64": ((np.float64, False), (np.complex128, False)), "f32": ((np.float32, False), (np.complex64, False)),
             "dd": ((np.float64, True), (np.complex128, True)), "half": ((np.float16, False), (np.float16, True))}


def _word(table, name, value):
    if value not in table:
        raise ValueError(f"{name} is {value!r}; allowed are {', '.join(map(repr, table))}")
    return table[value]


def _gain(kind, lengths):
    if kind in ("c2c", "r2c"):
        return math.prod(lengths)
    return math.prod(2 * (n - 1) if kind == "dct1" else 2 * (n + 1) if kind == "dst1" else 2 * n for n in lengths)


def _scales(norm, gain, precision):
    if precision == "dd":
        from .fft_pairs import scales
        return scales(norm, gain)
    from .fft import _scales as scales
    return tuple((v, 0.0) for v in scales(norm, gain))


class Plan:
    """Transforms along the last axes of arrays, planned once.

        plan = kugel.fft.Plan((512, 512), "r2c", device="cuda:0")
        y = plan.forward(x)             # x[..., 512, 512] in that device's memory or in host memory; y[..., 512, 257]
        plan.save("r2c-512.plan")       # with its compiled kernels
        plan = kugel.fft.Plan.load("r2c-512.plan", device="cuda:0")     # compiles nothing

    lengths:    of the axes, as the input of forward has them
    kind:       "c2c", "r2c", "dct1" to "dct4", "dst1" to "dst4"
    precision:  of the arrays: "f64", "f32"; "dd": about 31 digits, arrays float64[..., 2] and complex128[..., 2] of high
                and low parts; "half": float16[...], and complex numbers as float16[..., 2]
    norm:       which direction divides: "backward" (default), "forward", "ortho"
    device:     None: the CPU
    effort:     "estimate", "measure"
    """

    def __init__(self, lengths, kind="c2c", precision="f64", *, norm=None, device=None, effort="estimate"):
        lengths = tuple(map(int, lengths)) if hasattr(lengths, "__len__") else (int(lengths),)
        words = {"kind": _word(KINDS, "kind", kind), "precision": _word(PRECISIONS, "precision", precision),
                 "effort": _word(EFFORTS, "effort", effort)}
        (forward, f_low), (inverse, i_low) = _scales(norm, max(1, _gain(kind, lengths)), precision)
        opts = options(_ffi.kugel_fft_opts, forward_scale=forward, inverse_scale=inverse, forward_scale_low=f_low,
                       inverse_scale_low=i_low, **words)
        self._take(device, lambda where, out: lib.kugel_fft_create(
            where, len(lengths), (ctypes.c_int64 * max(1, len(lengths)))(*lengths), ctypes.byref(opts), out))

    @classmethod
    def load(cls, path, device):
        """The plan of a file of save(), which must be of the same kind of device, driver and version of Kugel. The file
        holds machine code: load only what you trust."""
        plan = cls.__new__(cls)
        plan._take(device, lambda where, out: lib.kugel_fft_load(where, os.fsencode(path), out))
        return plan

    def _take(self, device, make):
        where, out = context(device) if device else None, ctypes.c_void_p()
        make(where.address if where else None, ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_fft_destroy)
        info = options(_ffi.kugel_fft_info)
        lib.kugel_fft_describe(self._handle.address, ctypes.byref(info))
        self._context = where
        self.lengths = tuple(info.n[:info.ndim])
        self.kind = next(k for k, v in KINDS.items() if v == info.kind)
        self.precision = next(k for k, v in PRECISIONS.items() if v == info.precision)
        if info.naxes != info.ndim or info.modulus or info.extent[:info.ndim] != info.n[:info.ndim]:
            raise ValueError("the plan of this file has options that Python does not know: axes, an extent or a modulus")

    device = property(lambda self: self._context.name if self._context else "cpu")

    def save(self, path):
        """Writes the plan to a file, with the machine code of all its kernels; for plans of devices."""
        lib.kugel_fft_save(self._handle.address, os.fsencode(path))

    def forward(self, x, out=None):
        """The transform of x: an array in host memory or on the plan's device; out: where the result goes."""
        return self._execute(_ffi.KUGEL_FORWARD, x, out)

    def inverse(self, x, out=None):
        """What forward makes x of."""
        return self._execute(_ffi.KUGEL_INVERSE, x, out)

    def _side(self, spectrum):
        """dtype, and extents of the last axes, of an array on one side of the transform."""
        dtype, pair = _ELEMENTS[self.precision][self.kind == "c2c" or (self.kind == "r2c" and spectrum)]
        shape = self.lengths
        if self.kind == "r2c" and spectrum:
            shape = shape[:-1] + (shape[-1] // 2 + 1,)
        return np.dtype(dtype), shape + ((2,) if pair else ())

    def _execute(self, sign, x, out):
        there = foreign(x)
        x = np.asarray(x) if there is None else x
        (dtype, shape), (to, result) = (self._side((sign == _ffi.KUGEL_INVERSE) == one) for one in (True, False))
        has, kind = (x if there is None else there).shape, (x if there is None else there).dtype
        if kind != dtype or tuple(has[-len(shape):]) != shape:
            raise ValueError(f"x is {kind}{list(has)}; expected {dtype}[..., {', '.join(map(str, shape))}]")
        full = tuple(has[:-len(shape)]) + result
        if there is None:
            out = np.empty(full, to) if out is None else out
            self._check(out, full, to)
            long_call(lib.kugel_fft_execute, self._handle.address, sign, view(x), view(out))
            return out
        out = empty_like(there, full, to, False) if out is None else out
        goes = foreign(out)
        self._check(goes, full, to)
        queue = None if there.stream is None or not self._context else self._context.queue(there.stream)
        lib.kugel_fft_execute_on(self._handle.address, sign, ctypes.byref(there.view), ctypes.byref(goes.view), queue)
        return out

    @staticmethod
    def _check(out, shape, dtype):
        if out is None or tuple(out.shape) != shape or out.dtype != dtype:
            what = "in host memory" if out is None else f"{out.dtype}{list(out.shape)}"
            raise ValueError(f"out is {what}; expected {dtype}{list(shape)} where x is")

    def __repr__(self):
        return f"Plan({self.lengths}, {self.kind!r}, {self.precision!r}, device={self.device!r})"
