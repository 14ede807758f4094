# SPDX-License-Identifier: BSD-3-Clause
"""Products and solves with matrices of two or three diagonals, many systems at once.

    a = kugel.banded.Banded(lower=sub, diagonal=main)          # or upper=, or both: tridiagonal
    x = a.solve(b)                                             # b [..., n]
    b = a.product(x)

    x = kugel.banded.solve(b, diagonal=main, upper=above)      # once

Matrices are real; right-hand sides may be complex. Where elimination in order would lose more than half of the digits of
a matrix of three diagonals, rows are exchanged (on the CPU; on devices solve raises ValueError). Singular matrices raise
ValueError.
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._lib import Handle, lib, long_call, options, view, writable
from .arrays import empty_like, foreign
from .hardware import context

if TYPE_CHECKING:
    import numpy.typing as npt

_METHODS = {"auto": _ffi.KUGEL_BANDED_AUTO, "substitution": _ffi.KUGEL_BANDED_SUBSTITUTION, "scan": _ffi.KUGEL_BANDED_SCAN,
            "cyclic": _ffi.KUGEL_BANDED_CYCLIC}
_PRECISIONS = {"f64": _ffi.KUGEL_PRECISION_F64, "f32": _ffi.KUGEL_PRECISION_F32, "dd": _ffi.KUGEL_PRECISION_DD}


def _real(diagonal):
    if diagonal.dtype.kind == "c":
        raise TypeError(f"a diagonal is {diagonal.dtype}; matrices are real, right-hand sides may be complex")
    return diagonal


class Banded:
    """A plan: the matrix, or one for each system, factorised. It may be executed from any number of threads.

    lower:      element (i, i - 1) of row i, [n] or [systems, n]; that of row 0 is not read
    diagonal:   element (i, i); None: ones
    upper:      element (i, i + 1); that of row n - 1 is not read
    precision:  "f64", "f32", "dd" (double-double: every array has a last axis of 2, hi and lo), None: of the diagonals
    columns:    arrays are [n, ...] and diagonals [n] or [n, systems]: the systems side by side
    method:     "auto", "substitution", "scan" or "cyclic"
    device:     "cpu", "cuda:0", ...; there, arrays in host memory or that of the device
    """

    def __init__(self, lower: npt.ArrayLike | None = None, diagonal: npt.ArrayLike | None = None, upper: npt.ArrayLike | None = None, *,
                 precision: str | None = None, columns: bool = False, method: str = "auto", device: str = "cpu") -> None:
        given = [_real(np.asarray(d)) for d in (lower, diagonal, upper) if d is not None]
        if lower is None and upper is None:
            raise ValueError("give lower, upper or both")
        if precision is None:
            precision = "f32" if all(d.dtype == np.float32 for d in given) else "f64"
        for name, value, allowed in (("precision", precision, _PRECISIONS), ("method", method, _METHODS)):
            if value not in allowed:
                raise ValueError(f"{name} is {value!r}; allowed are {', '.join(map(repr, allowed))}")
        self.dtype = np.dtype(np.float32 if precision == "f32" else np.float64)
        self.tail = tail = (2,) if precision == "dd" else ()
        shape = given[0].shape
        own = shape[:len(shape) - len(tail)]
        if any(d.shape != shape for d in given) or len(own) not in (1, 2) or shape[len(own):] != tail:
            raise ValueError(f"diagonals have shapes {[d.shape for d in given]}; expected equal ones, "
                             f"{'[n] or [n, systems]' if columns else '[n] or [systems, n]'}"
                             f"{', and a last axis of 2' if tail else ''}")
        #: rows of a system, and systems of a call: None for any number
        self.n = own[0] if columns else own[-1]
        self.systems = None if len(own) == 1 else own[1] if columns else own[0]
        bands = {k: np.ascontiguousarray(d, self.dtype) for k, d in (("lower", lower), ("diagonal", diagonal), ("upper", upper))
                 if d is not None}
        kind = (_ffi.KUGEL_BANDED_LOWER if upper is None else _ffi.KUGEL_BANDED_UPPER if lower is None
                else _ffi.KUGEL_BANDED_TRIDIAGONAL)
        opts = options(_ffi.kugel_banded_opts, kind=kind, precision=_PRECISIONS[precision], layout=int(bool(columns)), n=self.n,
                       matrices=self.systems or 0, method=_METHODS[method], **bands)
        self._context = context(device)
        out = ctypes.c_void_p()
        long_call(lib.kugel_banded_create, self._context.address if self._context else None, ctypes.byref(opts),
                  ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_banded_destroy)
        info = options(_ffi.kugel_banded_info)
        lib.kugel_banded_get_info(self._handle.address, info)
        #: whether solve works, the growth of the factors, the largest product of their off-diagonal elements
        self.solvable, self.growth, self.propagation = bool(info.solvable), info.growth, info.propagation

    def _run(self, function, x, out):
        there = foreign(x)
        if there is not None:
            target = foreign(empty_like(there, there.shape, there.dtype, False) if out is None else out)
            if target is None:
                raise ValueError("out is in host memory and the array is not: give both on the device")
            queue = self._context.queue(there.stream) if self._context and there.stream is not None else None
            long_call(function, self._handle.address, ctypes.byref(there.view), ctypes.byref(target.view), queue)
            return target.owner
        x = np.asarray(x)
        if x.dtype.kind == "c":
            return self._run_complex(function, x, out)
        x = np.ascontiguousarray(x, self.dtype)
        if out is None:
            out = np.empty_like(x)
        elif not isinstance(out, np.ndarray) or out.dtype != x.dtype or out.shape != x.shape:
            raise ValueError(f"out must be an array {x.shape} of dtype {x.dtype}")
        writable(out, "out")
        long_call(function, self._handle.address, view(x), view(out), None)
        return out

    def _run_complex(self, function, x, out):
        """Real and imaginary parts one after the other: the matrix is real."""
        if self.tail:
            raise TypeError(f"the array is {x.dtype}; of double-double plans arrays are float64, hi and lo")
        dtype = np.dtype(np.complex64 if self.dtype == np.float32 else np.complex128)
        if out is None:
            out = np.empty(x.shape, dtype)
        elif not isinstance(out, np.ndarray) or out.dtype != dtype or out.shape != x.shape:
            raise ValueError(f"out must be an array {x.shape} of dtype {dtype}")
        parts = self._run(function, x.real, None), self._run(function, x.imag, None)
        out.real, out.imag = parts
        return out

    def solve(self, b: Any, out: Any = None) -> Any:
        """x with A x = b for each system; b may be complex; out may be b."""
        return self._run(lib.kugel_banded_solve, b, out)

    def product(self, x: Any, out: Any = None) -> Any:
        """A x for each system; x may be complex; out may be x."""
        return self._run(lib.kugel_banded_product, x, out)


def solve(b: Any, lower: npt.ArrayLike | None = None, diagonal: npt.ArrayLike | None = None, upper: npt.ArrayLike | None = None,
          **options_: Any) -> Any:
    """x with A x = b, by a plan used once; options as for Banded."""
    return Banded(lower, diagonal, upper, **options_).solve(b)


def product(x: Any, lower: npt.ArrayLike | None = None, diagonal: npt.ArrayLike | None = None, upper: npt.ArrayLike | None = None,
            **options_: Any) -> Any:
    """A x, by a plan used once; options as for Banded."""
    return Banded(lower, diagonal, upper, **options_).product(x)
