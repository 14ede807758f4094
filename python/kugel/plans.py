# SPDX-License-Identifier: BSD-3-Clause
"""Grids and transform plans, made once and executed often, from any number of threads.

    grid = kugel.Grid.gauss(lmax + 1)
    sht = kugel.SHT(grid, lmax, spin=2)
    maps = sht.synthesis(alm)
"""
import ctypes
import functools

import numpy as np

from . import _ffi
from ._lib import Handle, lib, long_call, options, ptr, view
from .arrays import empty_like, foreign, stream_handle
from .devices import context

REAL = (np.dtype(np.float64), np.dtype(np.float32))
COMPLEX = (np.dtype(np.complex128), np.dtype(np.complex64))

_MODES = {"scalar": _ffi.KUGEL_SHT_SCALAR, "spin": _ffi.KUGEL_SHT_SPIN, "teb": _ffi.KUGEL_SHT_TEB,
          "grad": _ffi.KUGEL_SHT_GRAD, "der1": _ffi.KUGEL_SHT_DER1}
_WEIGHTS = {None: _ffi.KUGEL_WEIGHTS_DEFAULT, "equal": _ffi.KUGEL_WEIGHTS_DEFAULT, "ring": _ffi.KUGEL_WEIGHTS_RING,
            "pixel": _ffi.KUGEL_WEIGHTS_PIXEL}
_BAD = {"error": _ffi.KUGEL_BAD_ERROR, "zero": _ffi.KUGEL_BAD_ZERO, "pass": _ffi.KUGEL_BAD_PASS}


def choice(table, value, what):
    try:
        return table[value]
    except (KeyError, TypeError):
        known = ", ".join(repr(k) for k in table)
        raise ValueError(f"{what} is {value!r}; allowed are {known}") from None


def byte_count(amount):
    """A number of bytes, given as a number or as text such as "500M", "20G", "16Gi"."""
    if not isinstance(amount, str):
        return int(amount)
    number = amount.strip().removesuffix("B")
    base = 1024 if number.endswith("i") else 1000
    number = number.removesuffix("i")
    power = "KMGT".find(number[-1:]) + 1 if number else 0
    try:
        return int(float(number[:-1] if power else number) * base**power)
    except (ValueError, OverflowError):
        raise ValueError(f"{amount!r} is no number of bytes; write 500M, 20G or 16Gi") from None


def mmax_option(mmax, lmax):
    """The library's mmax: 0 stands for lmax, -1 for m = 0 only."""
    if mmax is None or mmax == lmax:
        return 0
    if not 0 <= mmax <= lmax:
        raise ValueError(f"mmax is {mmax}; it must be between 0 and lmax = {lmax}")
    return -1 if mmax == 0 else int(mmax)


class Grid:
    """Rings of pixels on the sphere. Use one of the class methods."""

    def __init__(self, **opts):
        self.options = opts
        out = ctypes.c_void_p()
        lib.kugel_grid_create(None, ctypes.byref(options(_ffi.kugel_grid_opts, **opts)), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_grid_destroy)

    @classmethod
    def healpix(cls, nside):
        """HEALPix in RING order."""
        return cls(kind=_ffi.KUGEL_GRID_HEALPIX, nside=int(nside))

    @classmethod
    def _latlon(cls, kind, ntheta, nphi, phi0):
        return cls(kind=kind, ntheta=int(ntheta), nphi=int(2 * ntheta if nphi is None else nphi), phi0=float(phi0))

    @classmethod
    def gauss(cls, ntheta, nphi=None, phi0=0.0):
        """Gauss-Legendre colatitudes; exact for lmax < ntheta. nphi defaults to 2 ntheta."""
        return cls._latlon(_ffi.KUGEL_GRID_GAUSS, ntheta, nphi, phi0)

    @classmethod
    def clenshaw_curtis(cls, ntheta, nphi=None, phi0=0.0):
        """theta_i = i pi / (ntheta - 1), poles included."""
        return cls._latlon(_ffi.KUGEL_GRID_CLENSHAW_CURTIS, ntheta, nphi, phi0)

    @classmethod
    def fejer1(cls, ntheta, nphi=None, phi0=0.0):
        """theta_i = (i + 1/2) pi / ntheta; also called ECP."""
        return cls._latlon(_ffi.KUGEL_GRID_FEJER1, ntheta, nphi, phi0)

    @classmethod
    def fejer2(cls, ntheta, nphi=None, phi0=0.0):
        """theta_i = (i + 1) pi / (ntheta + 1)."""
        return cls._latlon(_ffi.KUGEL_GRID_FEJER2, ntheta, nphi, phi0)

    @classmethod
    def driscoll_healy(cls, ntheta, nphi=None, phi0=0.0):
        """theta_i = i pi / ntheta."""
        return cls._latlon(_ffi.KUGEL_GRID_DRISCOLL_HEALY, ntheta, nphi, phi0)

    @classmethod
    def mcewen_wiaux(cls, ntheta, nphi=None, phi0=0.0):
        """theta_i = (2 i + 1) pi / (2 ntheta - 1), south pole included; nphi defaults to 2 ntheta - 1."""
        return cls._latlon(_ffi.KUGEL_GRID_MCEWEN_WIAUX, ntheta, 2 * ntheta - 1 if nphi is None else nphi, phi0)

    @classmethod
    def lobatto(cls, ntheta, nphi=None, phi0=0.0):
        """Gauss-Lobatto colatitudes, poles included; exact for lmax < ntheta - 1."""
        return cls._latlon(_ffi.KUGEL_GRID_LOBATTO, ntheta, nphi, phi0)

    @classmethod
    def gauss_reduced(cls, ntheta, nphi=None, phi0=0.0):
        """Gaussian colatitudes with nphi [ntheta] pixels on the rings, as GRIB's list "pl" has them; None: the fewest
        that keep the grid exact for lmax < ntheta."""
        table = None if nphi is None else np.ascontiguousarray(nphi, np.int64)
        if table is not None and table.shape != (ntheta,):
            raise ValueError(f"nphi has shape {table.shape}; expected ({ntheta},)")
        return cls(kind=_ffi.KUGEL_GRID_GAUSS_REDUCED, ntheta=int(ntheta), phi0=float(phi0),
                   **({} if table is None else {"ring_nphi": table}))

    @classmethod
    def octahedral(cls, n, phi0=0.0):
        """ECMWF's grid O<n>: 2 n Gaussian colatitudes, 20, 24, 28 ... pixels from the poles; for lmax < n."""
        return cls(kind=_ffi.KUGEL_GRID_GAUSS_OCTAHEDRAL, ntheta=2 * int(n), phi0=float(phi0))

    @classmethod
    def rings(cls, theta, nphi, phi0=None, first=None, weight=None):
        """Any rings, given as arrays with one entry a ring."""
        theta = np.ascontiguousarray(theta, np.float64)
        tables = {"theta": theta, "ring_nphi": np.ascontiguousarray(nphi, np.int64)}
        for name, values, dtype in (("ring_phi0", phi0, np.float64), ("ring_first", first, np.int64),
                                    ("ring_weight", weight, np.float64)):
            if values is not None:
                tables[name] = np.ascontiguousarray(values, dtype)
        for name, values in tables.items():
            if values.shape != (theta.size,):
                raise ValueError(f"{name} has shape {values.shape}; expected ({theta.size},) like theta")
        return cls(kind=_ffi.KUGEL_GRID_CUSTOM, nrings=theta.size, **tables)

    def __reduce__(self):
        return functools.partial(Grid, **self.options), ()

    @property
    def npix(self):
        """Length of a map."""
        return lib.kugel_grid_npix(self._handle.address)

    @property
    def nrings(self):
        return lib.kugel_grid_nrings(self._handle.address)

    def table(self):
        """A dict of arrays with one entry a ring: theta, nphi, phi0, first, weight."""
        n = self.nrings
        out = {"theta": np.empty(n), "nphi": np.empty(n, np.int64), "phi0": np.empty(n),
               "first": np.empty(n, np.int64), "weight": np.empty(n)}
        lib.kugel_grid_rings(self._handle.address, *(ptr(a) for a in out.values()))
        return out


class Plan:
    """What plans that take arrays of one kind and give another share: `_handle`, `_context`, `covered`."""

    @property
    def device(self):
        """Where the plan runs, such as "cpu"."""
        return self._context.name if self._context else "cpu"

    def _input(self, a, kinds, count, length, what):
        there = foreign(a)
        if there is not None:
            if there.dtype not in kinds:
                raise TypeError(f"{what} has dtype {there.dtype}; in device memory it must be {kinds[0]} or {kinds[1]}")
            return there, self._batch(there.shape, count, length, what)
        a = np.asarray(a)
        if a.dtype not in kinds or not a.flags.c_contiguous:
            a = np.ascontiguousarray(a, kinds[0] if a.dtype.newbyteorder("=") not in kinds else
                                     a.dtype.newbyteorder("="))
        return a, self._batch(a.shape, count, length, what)

    @staticmethod
    def _batch(shape, count, length, what):
        expected = (length,) if count == 1 else (count, length)
        if shape[-len(expected):] != expected:
            raise ValueError(f"{what} has shape {shape}; expected (..., {', '.join(map(str, expected))})")
        return shape[:len(shape) - len(expected)]

    def _output(self, a, batch, kinds, count, length, out):
        """The result and what calls need of it: a Foreign, or the result itself in host memory."""
        shape = batch + ((length,) if count == 1 else (count, length))
        kind = kinds[0] if a.dtype in (np.float64, np.complex128) else kinds[1]
        if out is None:
            out = np.zeros(shape, kind) if isinstance(a, np.ndarray) else empty_like(a, shape, kind, not self.covered)
        there = foreign(out) or out
        if there is out and not (isinstance(out, np.ndarray) and out.flags.c_contiguous) or there.dtype not in kinds:
            raise TypeError(f"out must be a C-contiguous array of dtype {kinds[0]} or {kinds[1]}")
        if there.shape != shape:
            raise ValueError(f"out has shape {there.shape}; expected {shape}")
        return out, there

    def _run(self, function, a, inputs, outputs, out, stream):
        a, batch = self._input(a, *inputs)
        out, there = self._output(a, batch, *outputs[:3], out)
        views = self._view(a, inputs[1]), self._view(there, outputs[1])
        streams = [s for s in (stream, getattr(a, "stream", None), getattr(there, "stream", None)) if s is not None]
        if isinstance(a, np.ndarray) and there is out:
            long_call(function, self._handle.address, *views, None)
        else:
            queue = self._context.queue(stream_handle(streams[0])) if streams and self._context else None
            function(self._handle.address, *views, queue)
        return out

    @staticmethod
    def _view(a, count):
        if not isinstance(a, np.ndarray):
            return ctypes.byref(a.view)
        return view(a.reshape(a.shape[:-1] + (1, a.shape[-1])) if count == 1 and a.ndim > 1 else a)


class SHT(Plan):
    """A plan for transforms between alm and maps of a grid.

    grid:        a Grid, or an nside
    lmax, mmax:  highest degree and order; mmax None: lmax
    spin:        0, or the spin of a pair of maps (E, B <-> map1, map2)
    mode:        None (by spin), "scalar", "spin", "teb" (T, E, B <-> T, Q, U), "grad", "der1"
    weights:     for analysis on HEALPix: None, "ring" or "pixel"
    iterations:  Jacobi refinements of analysis
    bad_pixels:  NaN, infinite and UNSEEN pixels: "error", "zero" or "pass"
    max_memory:  bytes of the device's memory that the plan may hold, a number or "20G"; larger transforms go in parts
    device:      where it runs: "cpu", "cuda:0", "opencl:0", "auto"; "cuda:0,1" shares the work among devices

    Arrays are [batch..., sets, nalm] and [batch..., maps, npix]; the axis of sets or maps is left out for scalar plans.
    alm are complex128 or complex64, maps float64 or float32. `out` must be such an array, C-contiguous.

    A plan on a device also takes arrays in its memory: DeviceArray, and those of PyTorch, CuPy and others that have
    the CUDA array interface or DLPack; the result is of the same kind. `stream` is the CUDA stream to work on; without
    it, that of the array (PyTorch's and CuPy's current one). The call then returns when the work is queued if
    bad_pixels is "pass", else when it is done.
    """

    def __init__(self, grid, lmax, mmax=None, spin=0, mode=None, weights=None, iterations=0, bad_pixels="error",
                 max_memory=0, device=None):
        if not isinstance(grid, Grid):
            grid = Grid.healpix(grid)
        if mode is None:
            mode = "spin" if spin else "scalar"
        if lmax < 0:
            raise ValueError(f"lmax is {lmax}; it must be at least 0")
        self.grid, self.lmax, self.mmax = grid, int(lmax), int(lmax if mmax is None else mmax)
        self.mode, self.spin = mode, int(spin)
        opts = options(_ffi.kugel_sht_opts, grid=grid._handle.address, lmax=self.lmax,
                       mmax=mmax_option(mmax, self.lmax), mode=choice(_MODES, mode, "mode"), spin=self.spin,
                       weights=choice(_WEIGHTS, weights, "weights"), iterations=int(iterations),
                       bad_pixels=choice(_BAD, bad_pixels, "bad_pixels"), max_memory=byte_count(max_memory))
        out = ctypes.c_void_p()
        self._context = context(device)
        long_call(lib.kugel_sht_create, self._context and self._context.address, ctypes.byref(opts), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_sht_destroy)
        nalm, npix, sets, maps = ctypes.c_int64(), ctypes.c_int64(), ctypes.c_int(), ctypes.c_int()
        lib.kugel_sht_shape(out, *(ctypes.byref(x) for x in (nalm, npix, sets, maps)))
        self.nalm, self.npix, self.nsets, self.nmaps = nalm.value, npix.value, sets.value, maps.value

    @property
    def device_memory(self):
        """Bytes that the plan holds on its device, on the one that holds most; 0 on the CPU."""
        held = ctypes.c_uint64()
        lib.kugel_sht_memory(self._handle.address, ctypes.byref(held), None)
        return held.value

    @property
    def parts(self):
        """How many parts transforms go in; 1: everything at once."""
        parts = ctypes.c_int64()
        lib.kugel_sht_memory(self._handle.address, None, ctypes.byref(parts))
        return parts.value

    @property
    def covered(self):
        """Whether every pixel of a map is on a ring."""
        if self._covered is None:
            self._covered = bool(self.grid.table()["nphi"].sum() == self.npix)
        return self._covered

    _covered = None

    def _alm(self):
        return COMPLEX, self.nsets, self.nalm, "alm"

    def _map(self):
        return REAL, self.nmaps, self.npix, "map"

    def synthesis(self, alm, out=None, stream=None):
        """Maps of the coefficients."""
        return self._run(lib.kugel_sht_synthesis, alm, self._alm(), self._map(), out, stream)

    def synthesis_adjoint(self, map, out=None, stream=None):
        """The adjoint of synthesis."""
        return self._run(lib.kugel_sht_synthesis_adjoint, map, self._map(), self._alm(), out, stream)

    def analysis(self, map, out=None, stream=None):
        """Coefficients of the maps."""
        return self._run(lib.kugel_sht_analysis, map, self._map(), self._alm(), out, stream)

    def analysis_adjoint(self, alm, out=None, stream=None):
        """The adjoint of analysis."""
        return self._run(lib.kugel_sht_analysis_adjoint, alm, self._alm(), self._map(), out, stream)

    def solve(self, map, tolerance=1e-10, max_iterations=50, out=None):
        """Least-squares analysis. Returns the coefficients and a dict: iterations, residual, normal_residual,
        converged."""
        map, batch = self._input(map, *self._map())
        if batch:
            raise ValueError("solve takes no batch")
        if out is None and isinstance(map, np.ndarray):
            out = np.zeros((self.nalm,) if self.nsets == 1 else (self.nsets, self.nalm), np.complex128)
        out, there = self._output(map, batch, *self._alm()[:3], out)
        for side in map, there:
            if getattr(side, "stream", None) is not None:
                lib.kugel_queue_wait(self._context.queue(stream_handle(side.stream)))
        opts = options(_ffi.kugel_solve_opts, tolerance=float(tolerance), max_iterations=int(max_iterations))
        stats = _ffi.kugel_solve_stats()
        converged = True
        try:
            long_call(lib.kugel_sht_solve, self._handle.address, self._view(map, self.nmaps),
                      self._view(there, self.nsets), ctypes.byref(opts), ctypes.byref(stats))
        except RuntimeError as e:
            if getattr(e, "status", None) != _ffi.KUGEL_ECONVERGE:
                raise
            converged = False
        return out, {"iterations": stats.iterations, "residual": stats.residual,
                     "normal_residual": stats.normal_residual, "converged": converged}
