# SPDX-License-Identifier: BSD-3-Clause
"""Grids and transform plans, made once and executed often, from any number of threads.

    grid = kugel.Grid.gauss(lmax + 1)
    sht = kugel.SHT(grid, lmax, spin=2)
    maps = sht.synthesis(alm)
"""
from __future__ import annotations

import ctypes
import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi, latlon
from ._lib import Handle, lib, long_call, mmax_option, options, ptr, view, writable
from .comm import plan_layout, shared
from .arrays import empty_like, foreign, stream_handle
from .hardware import context
from .maps import filled, host, is_masked

if TYPE_CHECKING:
    import numpy.typing as npt

REAL = (np.dtype(np.float64), np.dtype(np.float32))
COMPLEX = (np.dtype(np.complex128), np.dtype(np.complex64))

_MODES = {"scalar": _ffi.KUGEL_SHT_SCALAR, "spin": _ffi.KUGEL_SHT_SPIN, "teb": _ffi.KUGEL_SHT_TEB,
          "grad": _ffi.KUGEL_SHT_GRAD, "der1": _ffi.KUGEL_SHT_DER1}
_WEIGHTS = {None: _ffi.KUGEL_WEIGHTS_DEFAULT, "equal": _ffi.KUGEL_WEIGHTS_DEFAULT, "ring": _ffi.KUGEL_WEIGHTS_RING,
            "pixel": _ffi.KUGEL_WEIGHTS_PIXEL}
_BAD = {"error": _ffi.KUGEL_BAD_ERROR, "zero": _ffi.KUGEL_BAD_ZERO, "pass": _ffi.KUGEL_BAD_PASS}
_ENGINES = {"recurrence": _ffi.KUGEL_SHT_RECURRENCE, "connection": _ffi.KUGEL_SHT_CONNECTION}


def choice(table: Any, value: Any, what: str) -> Any:
    try:
        return table[value]
    except (KeyError, TypeError):
        known = ", ".join(repr(k) for k in table)
        raise ValueError(f"{what} is {value!r}; allowed are {known}") from None


def byte_count(amount: Any) -> int:
    """A number of bytes, given as a number or as text such as "500M", "20G", "16Gi"."""
    if not isinstance(amount, str):
        if amount < 0:
            raise ValueError(f"{amount} bytes: must not be negative")
        return int(amount)
    number = amount.strip().removesuffix("B")
    base = 1024 if number.endswith("i") else 1000
    number = number.removesuffix("i")
    power = "KMGT".find(number[-1:]) + 1 if number else 0
    try:
        return int(float(number[:-1] if power else number) * base**power)
    except (ValueError, OverflowError):
        raise ValueError(f"{amount!r} is no number of bytes; write 500M, 20G or 16Gi") from None


class Grid:
    """Rings of pixels on the sphere. Use one of the class methods."""

    def __init__(self, **opts: Any) -> None:
        self.options = opts
        out = ctypes.c_void_p()
        lib.kugel_grid_create(None, ctypes.byref(options(_ffi.kugel_grid_opts, **opts)), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_grid_destroy)

    @classmethod
    def healpix(cls, nside: int) -> Grid:
        """HEALPix in RING order."""
        return cls(kind=_ffi.KUGEL_GRID_HEALPIX, nside=int(nside))

    @classmethod
    def _latlon(cls, kind, ntheta, nphi, phi0):
        return cls(kind=kind, ntheta=int(ntheta), nphi=int(2 * ntheta if nphi is None else nphi), phi0=float(phi0))

    @classmethod
    def gauss(cls, ntheta: int, nphi: int | None = None, phi0: float = 0.0) -> Grid:
        """Gauss-Legendre colatitudes; exact for lmax < ntheta. nphi defaults to 2 ntheta."""
        return cls._latlon(_ffi.KUGEL_GRID_GAUSS, ntheta, nphi, phi0)

    @classmethod
    def clenshaw_curtis(cls, ntheta: int, nphi: int | None = None, phi0: float = 0.0) -> Grid:
        """theta_i = i pi / (ntheta - 1), poles included."""
        return cls._latlon(_ffi.KUGEL_GRID_CLENSHAW_CURTIS, ntheta, nphi, phi0)

    @classmethod
    def fejer1(cls, ntheta: int, nphi: int | None = None, phi0: float = 0.0) -> Grid:
        """theta_i = (i + 1/2) pi / ntheta; also called ECP."""
        return cls._latlon(_ffi.KUGEL_GRID_FEJER1, ntheta, nphi, phi0)

    @classmethod
    def fejer2(cls, ntheta: int, nphi: int | None = None, phi0: float = 0.0) -> Grid:
        """theta_i = (i + 1) pi / (ntheta + 1)."""
        return cls._latlon(_ffi.KUGEL_GRID_FEJER2, ntheta, nphi, phi0)

    @classmethod
    def driscoll_healy(cls, ntheta: int, nphi: int | None = None, phi0: float = 0.0) -> Grid:
        """theta_i = i pi / ntheta."""
        return cls._latlon(_ffi.KUGEL_GRID_DRISCOLL_HEALY, ntheta, nphi, phi0)

    @classmethod
    def mcewen_wiaux(cls, ntheta: int, nphi: int | None = None, phi0: float = 0.0) -> Grid:
        """theta_i = (2 i + 1) pi / (2 ntheta - 1), south pole included; nphi defaults to 2 ntheta - 1."""
        return cls._latlon(_ffi.KUGEL_GRID_MCEWEN_WIAUX, ntheta, 2 * ntheta - 1 if nphi is None else nphi, phi0)

    @classmethod
    def lobatto(cls, ntheta: int, nphi: int | None = None, phi0: float = 0.0) -> Grid:
        """Gauss-Lobatto colatitudes, poles included; exact for lmax < ntheta - 1."""
        return cls._latlon(_ffi.KUGEL_GRID_LOBATTO, ntheta, nphi, phi0)

    @classmethod
    def gauss_reduced(cls, ntheta: int, nphi: npt.ArrayLike | None = None, phi0: float = 0.0) -> Grid:
        """Gaussian colatitudes with nphi [ntheta] pixels on the rings, as GRIB's list "pl" has them; None: the fewest
        that keep the grid exact for lmax < ntheta."""
        table = None if nphi is None else np.ascontiguousarray(nphi, np.int64)
        if table is not None and table.shape != (ntheta,):
            raise ValueError(f"nphi has shape {table.shape}; expected ({ntheta},)")
        return cls(kind=_ffi.KUGEL_GRID_GAUSS_REDUCED, ntheta=int(ntheta), phi0=float(phi0),
                   **({} if table is None else {"ring_nphi": table}))

    @classmethod
    def octahedral(cls, n: int, phi0: float = 0.0) -> Grid:
        """ECMWF's grid O<n>: 2 n Gaussian colatitudes, 20, 24, 28 ... pixels from the poles; for lmax < n."""
        return cls(kind=_ffi.KUGEL_GRID_GAUSS_OCTAHEDRAL, ntheta=2 * int(n), phi0=float(phi0))

    @classmethod
    def rings(cls, theta: npt.ArrayLike, nphi: npt.ArrayLike, phi0: npt.ArrayLike | None = None, first: npt.ArrayLike | None = None,
              weight: npt.ArrayLike | None = None) -> Grid:
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

    @classmethod
    def from_latlon(cls, lat: npt.ArrayLike, lon: npt.ArrayLike) -> LatLonGrid:
        """The grid of an array [..., lat, lon], of which lat and lon are the coordinates in degrees, as in NetCDF files.

            grid = kugel.Grid.from_latlon(data.lat, data.lon)
            print(grid)  # Clenshaw-Curtis grid of 181 latitudes and 360 longitudes; the array's rows run from south to north ...
            map = kugel.regrid(data.values, grid, 64)

        Recognises the kind of grid by its latitudes (to a fiftieth of the step between rows), rows from the south, columns
        that begin anywhere, such as at -180, or cross the date line, or run westwards. kugel.regrid turns arrays
        [..., lat, lon] itself, also as results; for plans grid.arrange(array) and grid.restore(map) do.
        Latitudes of no known grid, parts of the sphere and repeated columns raise ValueError.
        """
        name, rows_reversed = latlon.rows(lat, lambda kind, n: getattr(cls, kind)(n, 1).table()["theta"])
        phi0, columns_reversed = latlon.columns(lon)
        grid = getattr(cls, name)(np.size(lat), np.size(lon), phi0)
        return LatLonGrid(name, rows_reversed, columns_reversed, **grid.options)

    def __reduce__(self):
        return functools.partial(Grid, **self.options), ()

    @property
    def npix(self) -> int:
        """Length of a map."""
        return lib.kugel_grid_npix(self._handle.address)

    @property
    def nrings(self) -> int:
        return lib.kugel_grid_nrings(self._handle.address)

    def table(self) -> dict[str, np.ndarray]:
        """A dict of arrays with one entry a ring: theta, nphi, phi0, first, weight."""
        n = self.nrings
        out = {"theta": np.empty(n), "nphi": np.empty(n, np.int64), "phi0": np.empty(n),
               "first": np.empty(n, np.int64), "weight": np.empty(n)}
        lib.kugel_grid_rings(self._handle.address, *(ptr(a) for a in out.values()))
        return out


class LatLonGrid(Grid):
    """A grid of equal rows and how an array of such rows lies in memory; from Grid.from_latlon.

    Plans take maps in the grid's order, from north to south and eastwards: arrange(array) gives them, restore(map) is its
    inverse. kugel.regrid does both where it is given arrays [..., lat, lon].
    """

    def __init__(self, name: Any, rows_reversed: Any, columns_reversed: Any, **opts: Any) -> None:
        super().__init__(**opts)
        self.name, self.rows_reversed, self.columns_reversed = name, rows_reversed, columns_reversed

    def __reduce__(self):
        return functools.partial(LatLonGrid, self.name, self.rows_reversed, self.columns_reversed, **self.options), ()

    @property
    def shape(self) -> tuple[int, ...]:
        """(latitudes, longitudes)"""
        return self.options["ntheta"], self.options["nphi"]

    def __repr__(self):
        lon = math.degrees(self.options["phi0"])
        return (f"{latlon.NAMES[self.name]} grid of {self.shape[0]} latitudes and {self.shape[1]} longitudes; the array's rows run from "
                f"{'south to north' if self.rows_reversed else 'north to south'}, its columns "
                f"{'westwards' if self.columns_reversed else 'eastwards'}, and the first of them eastwards is at "
                f"{lon - 360 if lon > 180 else lon:.6g} degrees")

    def _turn(self, array):
        if array.shape[-2:] != self.shape:
            raise ValueError(f"the array has shape {array.shape}; it must end in {self.shape}, latitudes and longitudes")
        array = array[..., ::-1, :] if self.rows_reversed else array
        return array[..., ::-1] if self.columns_reversed else array

    def arrange(self, array: Any) -> np.ndarray:
        """[..., lat, lon] as the latitudes and longitudes were given, in the grid's order: [..., npix]."""
        array = self._turn(np.asarray(array))
        return np.ascontiguousarray(array).reshape(array.shape[:-2] + (self.npix,))

    def restore(self, maps: npt.ArrayLike) -> np.ndarray:
        """[..., npix] in the grid's order, as the latitudes and longitudes were given: [..., lat, lon]."""
        maps = np.asarray(maps)
        return np.ascontiguousarray(self._turn(maps.reshape(maps.shape[:-1] + self.shape)))


class Plan:
    """What plans that take arrays of one kind and give another share: `_handle`, `_context`, `covered`."""

    @property
    def device(self) -> Any:
        """Where the plan runs, such as "cpu"."""
        return self._context.name if self._context else "cpu"

    def _input(self, a, kinds, count, length, what):
        there = foreign(a)
        if there is not None:
            if there.dtype not in kinds:
                raise TypeError(f"{what} has dtype {there.dtype}; in device memory it must be {kinds[0]} or {kinds[1]}")
            return there, self._batch(there.shape, count, length, what)
        a = np.asarray(self._plain(a, what))
        if a.dtype not in kinds or not a.flags.c_contiguous:
            a = np.ascontiguousarray(a, kinds[0] if a.dtype.newbyteorder("=") not in kinds else
                                     a.dtype.newbyteorder("="))
        return a, self._batch(a.shape, count, length, what)

    def _plain(self, a, what):
        """An argument as a NumPy array or what makes one; masked pixels UNSEEN."""
        return filled(a) if is_masked(a) else host(a, what)

    @staticmethod
    def _batch(shape, count, length, what):
        expected = (length,) if count == 1 else (count, length)
        if shape[-len(expected):] != expected:
            rows = len(shape) > 1 and shape[-2] * shape[-1] == length
            batch = "".join(f"{n}, " for n in shape[:-2]) if rows else ""
            remedy = f": its rows follow one another, as after .reshape({batch}{length}), or grid.arrange of a grid from latitudes" if rows else ""
            raise ValueError(f"{what} has shape {shape}; expected (..., {', '.join(map(str, expected))}){remedy}")
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
        if there is out:
            writable(out, "out")
        return out, there

    def _run(self, function, a, inputs, outputs, out, stream):
        with shared(getattr(self, "comm", None), lambda: function(self._handle.address, None, None, None)):
            a, batch = self._input(a, *inputs)
            out, there = self._output(a, batch, *outputs[:3], out)
            views = self._view(a, inputs[1]), self._view(there, outputs[1])
        if isinstance(a, np.ndarray) and there is out:
            long_call(function, self._handle.address, *views, None)
        else:
            function(self._handle.address, *views, self._queue(a, there, stream))
        return out

    def _queue(self, a, there, stream=None):
        """The library's queue for `stream`, else for the stream of the input or the output; None: there is none."""
        streams = [s for s in (stream, getattr(a, "stream", None), getattr(there, "stream", None)) if s is not None]
        return self._context.queue(stream_handle(streams[0])) if streams and self._context else None

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
    bad_pixels:  NaN, infinite, UNSEEN and masked pixels: "error", "zero" or "pass" (not for masked ones)
    max_memory:  bytes of the device's memory that the plan may hold, a number or "20G"; larger transforms go in parts
    device:      where it runs: "cpu", "cuda:0", "opencl:0", "auto"; "cuda:0,1" shares the work among devices
    beyond_band_limit:  True: analysis also beyond the lmax and mmax to which it is exact on the grid, where it is
                 refused otherwise; HEALPix and custom grids know no such limit
    comm:        a Comm, whose ranks share every transform: each makes the plan, and passes and gets its parts of alm and maps,
                 as alm_layout and map_layout say; results have the same bits for any number of ranks
    engine:      "recurrence" in the degree, or "connection": rotations between orders, right to 1e-15 at every ring, made
                 for Grid.fejer1(lmax + 1); spins to 32, on one device at most

    Arrays are [batch..., sets, nalm] and [batch..., maps, npix]; the axis of sets or maps is left out for scalar plans.
    alm are complex128 or complex64, maps float64 or float32. `out` must be such an array, C-contiguous.

    A plan on a device also takes arrays in its memory: DeviceArray, and those of PyTorch, CuPy and others that have
    the CUDA array interface or DLPack; the result is of the same kind. `stream` is the CUDA stream to work on; without
    it, that of the array (PyTorch's and CuPy's current one). The call then returns when the work is queued if
    bad_pixels is "pass", else when it is done.
    """

    def __init__(self, grid: Grid, lmax: int, mmax: int | None = None, spin: int = 0, mode: str | None = None, weights: str | None = None,
                 iterations: int = 0, bad_pixels: str = "error", max_memory: int = 0, device: str | None = None,
                 beyond_band_limit: bool = False, engine: str = "recurrence", comm: Any = None) -> None:
        if not isinstance(grid, Grid):
            grid = Grid.healpix(grid)
        if mode is None:
            mode = "spin" if spin else "scalar"
        if lmax < 0:
            raise ValueError(f"lmax is {lmax}; it must be at least 0")
        self.grid, self.lmax, self.mmax = grid, int(lmax), int(lmax if mmax is None else mmax)
        self._rest = weights, int(iterations), bad_pixels, max_memory, device, bool(beyond_band_limit), engine
        self.mode, self.spin, self.bad_pixels = mode, int(spin), bad_pixels
        opts = options(_ffi.kugel_sht_opts, grid=grid._handle.address, lmax=self.lmax,
                       mmax=mmax_option(mmax, self.lmax), mode=choice(_MODES, mode, "mode"), spin=self.spin,
                       weights=choice(_WEIGHTS, weights, "weights"), iterations=int(iterations),
                       bad_pixels=choice(_BAD, bad_pixels, "bad_pixels"),
                       beyond_band_limit=int(bool(beyond_band_limit)), comm=comm and comm._handle.address,
                       engine=choice(_ENGINES, engine, "engine"))
        self.comm = comm
        out = ctypes.c_void_p()
        self._context = context(device, byte_count(max_memory))
        long_call(lib.kugel_sht_create, self._context and self._context.address, ctypes.byref(opts), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_sht_destroy)
        info = self._info()
        self.nalm, self.npix, self.nsets, self.nmaps = info.nalm, info.npix, info.n_alm_sets, info.n_maps

    def _info(self):
        info = options(_ffi.kugel_sht_info)
        lib.kugel_sht_get_info(self._handle.address, info)
        return info

    @property
    def alm_layout(self) -> Any:
        """Over ranks: which coefficients each has; of one order m after another."""
        return plan_layout(self.comm, self._handle.address, _ffi.KUGEL_SHT_ALM)

    @property
    def map_layout(self) -> Any:
        """Over ranks: which pixels each has."""
        return plan_layout(self.comm, self._handle.address, _ffi.KUGEL_SHT_MAP)

    @property
    def orders(self) -> Any:
        """The orders m of this rank's coefficients, l = m ... lmax of each; without ranks all of them."""
        m, n = np.empty(self.mmax + 1, np.int64), ctypes.c_int64()
        lib.kugel_sht_orders(self._handle.address, m.size, ptr(m), ctypes.byref(n))
        return m[:n.value]

    def __reduce__(self):
        if self.comm:
            raise TypeError("a plan over ranks belongs to its process: it cannot be pickled")
        return SHT, (self.grid, self.lmax, self.mmax, self.spin, self.mode) + self._rest

    def __copy__(self):
        return self  # a plan never changes

    def __deepcopy__(self, memo):
        return self

    @property
    def device_memory(self) -> Any:
        """Bytes that the plan holds on its device, on the one that holds most; 0 on the CPU."""
        return self._info().device_bytes

    @property
    def parts(self) -> Any:
        """How many parts transforms go in; 1: everything at once."""
        return self._info().parts

    @property
    def covered(self) -> Any:
        """Whether every pixel of a map is on a ring."""
        if self._covered is None:
            self._covered = bool(self.comm) or bool(self.grid.table()["nphi"].sum() == self.npix)
        return self._covered

    _covered = None

    def _plain(self, a, what):
        if not is_masked(a):
            return host(a, what)
        parts = a if isinstance(a, (list, tuple)) else [a]
        count = sum(int(np.ma.getmaskarray(part).sum()) for part in parts)
        if what == "alm" and count:
            raise TypeError(f"alm is a masked array with {count} masked coefficients: give alm.filled(0), or what stands "
                            "for them")
        if what == "map" and count and self.bad_pixels != "zero":
            raise ValueError(f"the map has {count} masked pixels: make the plan with bad_pixels='zero', for which they "
                             "count as zero, or give map.filled(value)")
        return filled(a)

    def _alm(self):
        return COMPLEX, self.nsets, self.nalm, "alm"

    def _map(self):
        return REAL, self.nmaps, self.npix, "map"

    def synthesis(self, alm: Any, out: Any = None, stream: Any = None) -> Any:
        """Maps of the coefficients."""
        return self._run(lib.kugel_sht_synthesis, alm, self._alm(), self._map(), out, stream)

    def synthesis_adjoint(self, map: Any, out: Any = None, stream: Any = None) -> Any:
        """The adjoint of synthesis; masked pixels count as zero."""
        if is_masked(map):
            map = np.ma.asarray(map).filled(0)
        return self._run(lib.kugel_sht_synthesis_adjoint, map, self._map(), self._alm(), out, stream)

    def analysis(self, map: Any, out: Any = None, stream: Any = None) -> Any:
        """Coefficients of the maps."""
        return self._run(lib.kugel_sht_analysis, map, self._map(), self._alm(), out, stream)

    def analysis_adjoint(self, alm: Any, out: Any = None, stream: Any = None) -> Any:
        """The adjoint of analysis."""
        return self._run(lib.kugel_sht_analysis_adjoint, alm, self._alm(), self._map(), out, stream)

    def solve(self, map: Any, tolerance: float = 1e-10, max_iterations: int = 50, out: Any = None) -> Any:
        """Least-squares analysis. Returns the coefficients and a dict: iterations, residual, normal_residual,
        converged."""
        map, batch = self._input(map, *self._map())
        if batch:
            raise ValueError("solve takes no batch")
        if out is None and isinstance(map, np.ndarray):
            out = np.zeros((self.nalm,) if self.nsets == 1 else (self.nsets, self.nalm), np.complex128)
        out, there = self._output(map, batch, *self._alm()[:3], out)
        opts = options(_ffi.kugel_solve_opts, tolerance=float(tolerance), max_iterations=int(max_iterations))
        stats = _ffi.kugel_solve_stats()
        converged = True
        try:
            long_call(lib.kugel_sht_solve, self._handle.address, self._view(map, self.nmaps),
                      self._view(there, self.nsets), ctypes.byref(opts), ctypes.byref(stats), self._queue(map, there))
        except RuntimeError as e:
            if getattr(e, "status", None) != _ffi.KUGEL_ECONVERGE:
                raise
            converged = False
        return out, {"iterations": stats.iterations, "residual": stats.residual,
                     "normal_residual": stats.normal_residual, "converged": converged}
