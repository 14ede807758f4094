# SPDX-License-Identifier: BSD-3-Clause
"""Plans of transforms that the caller keeps: of every precision, and in files with their compiled kernels."""
from __future__ import annotations

import ctypes
import math
import os
from typing import TYPE_CHECKING, Any
from operator import index

import numpy as np

from .. import _ffi
from .._lib import Handle, lib, long_call, options, view, writable
from ..arrays import empty_like, foreign
from ..comm import Layout, shared
from ..hardware import context
from .scales import wide_scales, scales

if TYPE_CHECKING:
    from .._types import Path

KINDS = {"c2c": _ffi.KUGEL_FFT_C2C, "r2c": _ffi.KUGEL_FFT_R2C}
KINDS.update({f"{name}{i}": getattr(_ffi, f"KUGEL_FFT_{name.upper()}{i}") for name in ("dct", "dst") for i in range(1, 5)})
PRECISIONS = {"f64": _ffi.KUGEL_PRECISION_F64, "f32": _ffi.KUGEL_PRECISION_F32, "dd": _ffi.KUGEL_PRECISION_DD, "half": _ffi.KUGEL_PRECISION_F16}
EFFORTS = {"estimate": _ffi.KUGEL_FFT_ESTIMATE, "measure": _ffi.KUGEL_FFT_MEASURE}

# Elements of reals and of complex numbers in arrays, and whether these have a last axis of 2 more.
_ELEMENTS = {"f64": ((np.float64, False), (np.complex128, False)), "f32": ((np.float32, False), (np.complex64, False)),
             "dd": ((np.float64, True), (np.complex128, True)), "half": ((np.float16, False), (np.float16, True))}


MODULI = {None: _ffi.KUGEL_FFT_COMPLEX, "magnitude": _ffi.KUGEL_FFT_MAGNITUDE, "power": _ffi.KUGEL_FFT_POWER,
          "log": _ffi.KUGEL_FFT_LOG_MAGNITUDE}
_SIGNS = {"forward": _ffi.KUGEL_FORWARD, "inverse": _ffi.KUGEL_INVERSE}
_ENDS = {"read": 0, "write": 1}


def _hook(hook, ndim):
    """The library's struct of a hook, and what it points to."""
    if not isinstance(hook, tuple) or len(hook) != 4:
        raise ValueError(f"a hook is {hook!r}; expected (\"forward\" or \"inverse\", \"read\" or \"write\", axis, factor)")
    sign, end, axis, factor = hook
    axis = index(axis) + (ndim if index(axis) < 0 else 0)
    factor = np.asarray(factor)
    if factor.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        factor = factor.astype(np.complex128 if factor.dtype.kind == "c" else np.float64)
    factor = np.ascontiguousarray(factor)
    out = _ffi.kugel_fft_hook(_word(_SIGNS, "a hook's transform", sign), _word(_ENDS, "a hook's side", end), axis)
    there = view(factor)
    out.factor = ctypes.pointer(there._obj)
    return out, (factor, there)


def _word(table, name, value):
    if value not in table:
        raise ValueError(f"{name} is {value!r}; allowed are {', '.join(map(repr, table))}")
    return table[value]


def _gain(kind, lengths):
    if kind in ("c2c", "r2c"):
        return math.prod(lengths)
    return math.prod(2 * (n - 1) if kind == "dct1" else 2 * (n + 1) if kind == "dst1" else 2 * n for n in lengths)


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
    axes:       of the lengths, which to transform: all unless given; of "r2c" the last of them is halved
    extent:     of "c2c" and "r2c": lengths, at most those of the plan, of the arrays that forward starts from and inverse ends
                in; what is beyond counts as zeros and is neither stored nor, on devices, read or transformed
    modulus:    what forward transforms write of each complex number: "magnitude", "power" or "log" of the magnitude, as reals
    comm:       a Comm, whose ranks share every transform of "c2c" and "r2c" over all of 2 to 8 axes: each makes the plan, and passes and
                gets its parts, x[..., *plan.data_slices] of the data and y[..., *plan.spectrum_slices] of the spectrum, with the axes in
                the same order: by slabs, planes along axis 0 (data_slice) and rows along axis 1 (spectrum_slice); by pencils, where
                there are more ranks than planes or rows, these cut along axes 1 and 2 as well. data_layout and spectrum_layout
                gather and scatter whole arrays, [..., total]
    pieces:     with comm, in how many pieces numbers go between ranks; 0: chosen
    grid:       with comm, how many ranks along axes 0 and 1 of the data, which multiply to all; 0: chosen. The bits of results do
                not depend on it
    hooks:      factors along an axis that are multiplied by on the way, without a pass over memory on devices: tuples
                ("forward" or "inverse", "read" or "write", axis, factor): of what is read or of what is written, with one
                real or complex number for each element that this side has along the axis (docs/kernels-with-hooks.md)
    """

    def __init__(self, lengths: Any, kind: str = "c2c", precision: str = "f64", *, norm: str | None = None, device: str | None = None,
                 effort: str = "estimate", axes: Any = None, extent: Any = None, modulus: Any = None, hooks: Any = (),
                 comm: Any = None, pieces: int = 0, grid: Any = (0, 0)) -> None:
        lengths = tuple(map(int, lengths)) if hasattr(lengths, "__len__") else (int(lengths),)
        axes = tuple(range(len(lengths))) if axes is None else tuple(map(index, axes if hasattr(axes, "__len__") else (axes,)))
        axes = tuple(a + len(lengths) if a < 0 else a for a in axes)
        if any(not 0 <= a < len(lengths) for a in axes) or not axes:
            raise ValueError(f"axes are {axes}; they must be 0 to {len(lengths) - 1}, at least one")
        words_of = [_hook(h, len(lengths)) for h in hooks]
        words = {"kind": _word(KINDS, "kind", kind), "precision": _word(PRECISIONS, "precision", precision),
                 "effort": _word(EFFORTS, "effort", effort)}
        factors = (wide_scales if precision == "dd" else scales)(norm, max(1, _gain(kind, [lengths[a] for a in axes])))
        (forward, f_low), (inverse, i_low) = (f if isinstance(f, tuple) else (f, 0.0) for f in factors)
        opts = options(_ffi.kugel_fft_opts, forward_scale=forward, inverse_scale=inverse, forward_scale_low=f_low,
                       inverse_scale_low=i_low, modulus=_word(MODULI, "modulus", modulus), comm=comm and comm._handle.address, pieces=int(pieces), **words)
        opts.grid = (ctypes.c_int * 2)(*map(index, grid))
        opts.naxes, given = len(axes), (ctypes.c_int * len(axes))(*axes)
        opts.axes = ctypes.addressof(given)
        extents = None if extent is None else tuple(map(index, extent if hasattr(extent, "__len__") else (extent,)))
        if extents is not None:
            if len(extents) != len(lengths):
                raise ValueError(f"extent is {extents}; expected {len(lengths)} lengths")
            kept = (ctypes.c_int64 * len(extents))(*extents)
            opts.extent = ctypes.addressof(kept)
        structures = (_ffi.kugel_fft_hook * max(1, len(words_of)))(*(h for h, _ in words_of))
        opts.nhooks = len(words_of)
        opts.hooks = ctypes.cast(structures, ctypes.POINTER(_ffi.kugel_fft_hook))
        self.comm = comm
        self._take(device, lambda where, out: lib.kugel_fft_create(
            where, len(lengths), (ctypes.c_int64 * max(1, len(lengths)))(*lengths), ctypes.byref(opts), out))

    @classmethod
    def load(cls, path: Path, device: str) -> Plan:
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
        lib.kugel_fft_get_info(self._handle.address, ctypes.byref(info))
        self._context = where
        self.lengths = tuple(info.n[:info.ndim])
        self.axes, self.extent = tuple(info.axes[:info.naxes]), tuple(info.extent[:info.ndim])
        self.data_slice = slice(info.data_first, info.data_first + info.data_count)
        self.spectrum_slice = slice(info.spectrum_first, info.spectrum_first + info.spectrum_count)
        self.grid = tuple(info.grid)
        self._cuts = ((0, self.data_slice), (1, slice(info.data_row_first, info.data_row_first + info.data_row_count))), \
            ((1, self.spectrum_slice), (2, slice(info.spectrum_column_first, info.spectrum_column_first + info.spectrum_column_count)))
        self.modulus = next(k for k, v in MODULI.items() if v == info.modulus)
        self.kind = next(k for k, v in KINDS.items() if v == info.kind)
        self.precision = next(k for k, v in PRECISIONS.items() if v == info.precision)

    comm: Any = None

    def _slices(self, spectrum):
        whole = list(self._lengths_of(spectrum))
        out = [slice(0, n) for n in whole]
        for axis, part in self._cuts[spectrum] if self.comm else ():
            if axis < len(out):
                out[axis] = part
        return tuple(out)

    @property
    def data_slices(self) -> tuple[slice, ...]:
        """What this rank has of the data, a slice per axis; without comm all of it."""
        return self._slices(False)

    @property
    def spectrum_slices(self) -> tuple[slice, ...]:
        """What this rank has of the spectrum, a slice per axis; without comm all of it."""
        return self._slices(True)

    def _layout(self, side):
        out = ctypes.c_void_p()
        lib.kugel_fft_layout(self._handle.address, side, ctypes.byref(out))
        return Layout(self.comm, out.value)

    @property
    def data_layout(self) -> Layout:
        """Which elements of the data each rank has, of a plan with comm."""
        return self._layout(_ffi.KUGEL_FFT_DATA)

    @property
    def spectrum_layout(self) -> Layout:
        """Which elements of the spectrum each rank has, of a plan with comm."""
        return self._layout(_ffi.KUGEL_FFT_SPECTRUM)

    device = property(lambda self: self._context.name if self._context else "cpu")

    def save(self, path: Path) -> None:
        """Writes the plan to a file, with the machine code of all its kernels; for plans of devices."""
        lib.kugel_fft_save(self._handle.address, os.fsencode(path))

    def forward(self, x: Any, out: Any = None) -> Any:
        """The transform of x: an array in host memory or on the plan's device; out: where the result goes."""
        return self._execute(_ffi.KUGEL_FORWARD, x, out)

    def inverse(self, x: Any, out: Any = None) -> Any:
        """What forward makes x of."""
        return self._execute(_ffi.KUGEL_INVERSE, x, out)

    def _side(self, spectrum):
        """dtype, and extents of the last axes, of an array on one side of the transform."""
        reals = spectrum and self.modulus is not None
        dtype, pair = _ELEMENTS[self.precision][not reals and (self.kind == "c2c" or (self.kind == "r2c" and spectrum))]
        shape = tuple(s.stop - s.start for s in self._slices(spectrum))
        return np.dtype(dtype), shape + ((2,) if pair else ())

    def _lengths_of(self, spectrum):
        out = list(self.lengths if spectrum else self.extent)
        if self.kind == "r2c" and spectrum:
            out[self.axes[-1]] = self.lengths[self.axes[-1]] // 2 + 1
        return out

    def _execute(self, sign, x, out):
        if sign == _ffi.KUGEL_INVERSE and self.modulus is not None:
            raise ValueError(f"the plan writes {self.modulus!r} of its results, which has no inverse")
        there = foreign(x)
        x = np.asarray(x) if there is None else x
        (dtype, shape), (to, result) = (self._side((sign == _ffi.KUGEL_INVERSE) == one) for one in (True, False))
        has, kind = (x if there is None else there).shape, (x if there is None else there).dtype
        if not self.comm and (kind != dtype or tuple(has[-len(shape):]) != shape):  # ranks agree on it in the library
            raise ValueError(f"x is {kind}{list(has)}; expected {dtype}[..., {', '.join(map(str, shape))}]")
        full = tuple(has[:-len(shape)]) + result
        if there is None:
            with shared(self.comm, lambda: lib.kugel_fft_execute(self._handle.address, sign, None, None, None)):
                out = np.empty(full, to) if out is None else out
                self._check(out, full, to)
                writable(out, "out")
                x = np.ascontiguousarray(x) if self.comm else x
            long_call(lib.kugel_fft_execute, self._handle.address, sign, view(x), view(out), None)
            return out
        out = empty_like(there, full, to, False) if out is None else out
        goes = foreign(out)
        self._check(goes, full, to)
        queue = None if there.stream is None or not self._context else self._context.queue(there.stream)
        lib.kugel_fft_execute(self._handle.address, sign, ctypes.byref(there.view), ctypes.byref(goes.view), queue)
        return out

    @staticmethod
    def _check(out, shape, dtype):
        if out is None or tuple(out.shape) != shape or out.dtype != dtype:
            what = "in host memory" if out is None else f"{out.dtype}{list(out.shape)}"
            raise ValueError(f"out is {what}; expected {dtype}{list(shape)} where x is")

    def __repr__(self):
        return f"Plan({self.lengths}, {self.kind!r}, {self.precision!r}, device={self.device!r})"
