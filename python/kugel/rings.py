# SPDX-License-Identifier: BSD-3-Clause
"""Real Fourier transforms of rings of unequal length, such as the rings of pixels of a grid on the sphere.

    table = kugel.Grid.healpix(64).table()
    rings = kugel.rings.Rings(table["nphi"], mmax=128, phi0=table["phi0"], start=table["first"])
    coef = rings.adjoint(map, weights=1 / table["nphi"])      # [nrings, mmax + 1]
    map = rings.synthesis(coef)
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._lib import Handle, lib, long_call, options, ptr, view, writable

if TYPE_CHECKING:
    import numpy.typing as npt

_REAL = (np.dtype(np.float64), np.dtype(np.float32))
_COMPLEX = (np.dtype(np.complex128), np.dtype(np.complex64))


class Rings:
    """A plan. Pixel j of a ring lies at phi_j = phi0 + 2 pi j / nphi.

    nphi:   pixels of each ring, any lengths
    mmax:   highest m of the coefficients; beyond nphi / 2 they fold back
    phi0:   longitudes of first pixels; None: 0
    start:  indices of first pixels in the map; None: ring after ring
    npix:   pixels of a map; None: to the end of the last ring
    mlim:   highest m of each ring that matters; None: mmax

    Arrays are [batch..., nrings, mmax + 1], complex128 or complex64, and [batch..., npix], float64 or float32, of any
    strides.
    """

    def __init__(self, nphi: npt.ArrayLike, mmax: int, phi0: npt.ArrayLike | None = None, start: npt.ArrayLike | None = None,
                 npix: int | None = None, mlim: npt.ArrayLike | None = None) -> None:
        self.nphi = np.array(nphi, np.int64, ndmin=1)
        tables = []
        for name, values, dtype in (("phi0", phi0, np.float64), ("start", start, np.int64), ("mlim", mlim, np.int64)):
            table = None if values is None else np.array(values, dtype, ndmin=1)
            if self.nphi.ndim != 1 or (table is not None and table.shape != self.nphi.shape):
                raise ValueError(f"{name} has shape {getattr(table, 'shape', None)} and nphi {self.nphi.shape}; "
                                 "expected one number per ring in each")
            tables.append(table)
        opts = options(_ffi.kugel_rings_opts, npix=0 if npix is None else int(npix))
        if mlim is not None:
            opts.mlim = ptr(tables[2])
        out = ctypes.c_void_p()
        address = [None if table is None else ptr(table) for table in tables]
        long_call(lib.kugel_rings_create, None, self.nphi.size, ptr(self.nphi), address[0], address[1], int(mmax),
                  ctypes.byref(opts), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_rings_destroy)
        self.nrings, self.mmax = self.nphi.size, int(mmax)
        self.npix = lib.kugel_rings_npix(self._handle.address)

    @staticmethod
    def _input(a, kinds):
        a = np.asarray(a)
        return a if a.dtype in kinds else a.astype(kinds[0])

    @staticmethod
    def _output(out, shape, wide, kinds):
        if out is None:
            return np.zeros(shape, kinds[0] if wide else kinds[1])
        if not isinstance(out, np.ndarray) or out.dtype not in kinds:
            raise TypeError(f"out must be an array of dtype {kinds[0]} or {kinds[1]}")
        if out.shape != shape:
            raise ValueError(f"out has shape {out.shape}; expected {shape}")
        return writable(out, "out")

    def synthesis(self, coef: npt.ArrayLike, out: Any = None) -> np.ndarray:
        """Pixels f_j = F_0 + 2 Re sum_{m > 0} F_m e^{i m phi_j}. Pixels in no ring keep what `out` has, else 0."""
        coef = self._input(coef, _COMPLEX)
        out = self._output(out, coef.shape[:-2] + (self.npix,), coef.dtype == _COMPLEX[0], _REAL)
        long_call(lib.kugel_rings_synthesis, self._handle.address, view(coef), view(out), None)
        return out

    def adjoint(self, map: npt.ArrayLike, weights: npt.ArrayLike | None = None, out: Any = None) -> np.ndarray:
        """Coefficients F_m = w sum_j f_j e^{-i m phi_j}, with one weight a ring, 1 unless given."""
        map = self._input(map, _REAL)
        out = self._output(out, map.shape[:-1] + (self.nrings, self.mmax + 1), map.dtype == _REAL[0], _COMPLEX)
        if weights is not None:
            weights = np.ascontiguousarray(np.broadcast_to(np.asarray(weights, np.float64), (self.nrings,)))
        long_call(lib.kugel_rings_adjoint, self._handle.address, view(map), None if weights is None else ptr(weights),
                  view(out), None)
        return out
