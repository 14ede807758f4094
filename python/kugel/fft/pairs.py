# SPDX-License-Identifier: BSD-3-Clause
"""Double-double numbers for kugel.fft: sums of two doubles, about 31 digits."""
from __future__ import annotations

import decimal
from typing import Any

import numpy as np

from .arrays import Host
from .scales import split


def _two_sum(a, b):
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _two_product(a, b):
    """The product and what its rounding took; Dekker 1971."""
    def halves(x):
        big = 134217729.0 * x
        high = big - (big - x)
        return high, x - high
    p, (ah, al), (bh, bl) = a * b, halves(a), halves(b)
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


_ROOT = split(decimal.Decimal(2).sqrt(decimal.Context(50)))  # whatever digits the caller's decimals have

# Types of NumPy that double precision does not hold: there are none where long double is double.
LONG = {np.dtype(np.longdouble), np.dtype(np.clongdouble)} - {np.dtype(np.float64), np.dtype(np.complex128)}


class DoubleDouble:
    """An array of numbers hi + lo that the functions of kugel.fft take and return.

    parts:  array [..., 2] of float64 or complex128: high parts, low parts; kept, not copied
    """

    def __init__(self, parts: Any) -> None:
        self.parts = np.asarray(parts)
        if self.parts.ndim < 1 or self.parts.shape[-1] != 2 or self.parts.dtype not in (np.float64, np.complex128):
            raise ValueError(f"parts are {self.parts.dtype}{list(self.parts.shape)}; expected float64 or complex128 with a "
                             "last axis of 2")

    @classmethod
    def of(cls, hi: Any, lo: Any = 0.0) -> DoubleDouble:
        """From high parts, and low parts that need not be small; numbers of longdouble keep all their digits."""
        hi = np.asarray(hi)
        if hi.dtype in (np.longdouble, np.clongdouble):
            wide, hi = hi, hi.astype(np.complex128 if hi.dtype.kind == "c" else np.float64)
            lo = lo + (wide - hi).astype(hi.dtype)
        kind = np.complex128 if hi.dtype.kind == "c" or np.asarray(lo).dtype.kind == "c" else np.float64
        hi, lo = (np.array(v, kind) for v in np.broadcast_arrays(hi, lo))
        if kind is np.float64:
            return cls(np.stack(_two_sum(hi, lo), -1))
        re, im = _two_sum(hi.real, lo.real), _two_sum(hi.imag, lo.imag)
        return cls(np.stack([re[0] + 1j * im[0], re[1] + 1j * im[1]], -1))

    hi = property(lambda self: self.parts[..., 0])
    lo = property(lambda self: self.parts[..., 1])
    shape = property(lambda self: self.parts.shape[:-1])
    ndim = property(lambda self: self.parts.ndim - 1)

    def __repr__(self):
        return f"DoubleDouble({self.parts!r})"


def _adjacent(a):
    """With the parts of each number side by side."""
    good = a.strides[-1] == a.itemsize and all(s % (2 * a.itemsize) == 0 for s in a.strides[:-1])
    return a if good else np.ascontiguousarray(a)


class Pairs(Host):
    """Host arrays of them: a has the last axis of 2, of which shape, axes and dtype know nothing."""

    precision = "dd"

    def __init__(self, x: Any) -> None:
        self.torch, self.jax, self.owned, self.a = False, False, False, _adjacent(x.parts)

    shape = property(lambda self: self.a.shape[:-1])
    ndim = property(lambda self: self.a.ndim - 1)

    def resized(self, axes: Any, lengths: Any) -> Any:
        wanted = list(self.shape)
        for a, n in zip(axes, lengths):
            wanted[a] = n
        if tuple(wanted) == self.shape:
            return self
        out = np.zeros(tuple(wanted) + (2,), self.dtype)
        part = tuple(slice(0, min(a, b)) for a, b in zip(wanted, self.shape))
        out[part] = self.a[part]
        return self._like(out)

    def result_of(self, shape: Any, dtype: Any, overwrite: bool) -> Any:
        return super().result_of(shape, dtype, overwrite) if overwrite and shape == self.shape and dtype == self.dtype \
            else self._like(np.empty(shape + (2,), dtype))

    def moved(self, axes: Any) -> Any:
        return np.moveaxis(self.a, axes, range(-len(axes) - 1, -1))

    def scale_at(self, index: int, factor: Any) -> Any:
        root = tuple(h if factor > 1 else h / 2 for h in _ROOT)
        x = self.a[index]
        p, e = _two_product(x[..., 0], root[0])
        x[..., 0], x[..., 1] = _two_sum(p, e + (x[..., 0] * root[1] + x[..., 1] * root[0]))

    def parts(self) -> Any:
        return self._like(np.ascontiguousarray(self.a.real)), self._like(np.ascontiguousarray(self.a.imag))

    def value(self) -> Any:
        return DoubleDouble(self.a)


class Long(Pairs):
    """Host arrays of long doubles, computed as double-double."""

    def __init__(self, x: Any) -> None:
        super().__init__(DoubleDouble.of(x.a))
        self.owned = True

    def result_of(self, shape: Any, dtype: Any, overwrite: bool) -> Any:
        return self._like(np.empty(shape + (2,), dtype))

    def get(self) -> Any:
        return self.value()

    def value(self) -> Any:
        wide = np.clongdouble if self.a.dtype.kind == "c" else np.longdouble
        return self.a[..., 0].astype(wide) + self.a[..., 1]
