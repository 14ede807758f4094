# SPDX-License-Identifier: BSD-3-Clause
"""Maps from one grid to another through their spherical-harmonic coefficients."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _ffi
from ._lib import Handle, lib, long_call, options
from .arrays import foreign
from .hardware import context
from .plans import REAL, Grid, Plan, choice, _BAD, _WEIGHTS

_RECTANGULAR = (_ffi.KUGEL_GRID_GAUSS, _ffi.KUGEL_GRID_CLENSHAW_CURTIS, _ffi.KUGEL_GRID_FEJER1, _ffi.KUGEL_GRID_FEJER2,
                _ffi.KUGEL_GRID_DRISCOLL_HEALY, _ffi.KUGEL_GRID_MCEWEN_WIAUX, _ffi.KUGEL_GRID_LOBATTO)


def _grid(grid):
    return grid if isinstance(grid, Grid) else Grid.healpix(grid)


def _rows(grid):
    """(ntheta, nphi) of a grid of equal rings, else None."""
    o = grid.options
    return (o["ntheta"], o["nphi"]) if o["kind"] in _RECTANGULAR else None


class Regrid(Plan):
    """A plan: analysis on the source, a beam if one is wanted, synthesis on the target.

    source, target: Grids, or an nside
    lmax:       highest degree carried over; None: the lower of what both grids are made for
    spin:       0; 1: vectors (v_theta, v_phi), or winds (u eastward, v northward); 2: (Q, U)
    fwhm:       of a Gaussian beam, radians;  window: or factors f_l of the coefficients
    weights, iterations, bad_pixels: of the analysis, as for SHT
    least_good: with bad_pixels="zero": results are UNSEEN where the part of good pixels about is below this
    beyond_band_limit: True: an lmax beyond that to which analysis on the source is exact, where results are approximate
    device:     as for SHT

    Maps are [batch..., npix], with a spin [batch..., 2, npix]; the plan is called with them.
    """

    covered = True

    def __init__(self, source: Grid | int, target: Grid | int, lmax: int | None = None, spin: int = 0, fwhm: float = 0.0, window: Any = None,
                 weights: Any = None, iterations: int = 0, bad_pixels: str = "error", least_good: float = 0.0, device: str | None = None,
                 beyond_band_limit: bool = False) -> None:
        self.source, self.target, self.spin = _grid(source), _grid(target), int(spin)
        tables = {}
        if window is not None:
            window = np.ascontiguousarray(window, np.float64).ravel()
            tables = {"window": window, "n_window": window.size}
        if lmax is not None and lmax < 1:
            raise ValueError(f"lmax is {lmax}; it must be at least 1")
        opts = options(_ffi.kugel_regrid_opts, **{"from": self.source._handle.address, "to": self.target._handle.address},
                       lmax=int(lmax or 0), spin=self.spin, fwhm=float(fwhm), weights=choice(_WEIGHTS, weights, "weights"),
                       iterations=int(iterations), bad_pixels=choice(_BAD, bad_pixels, "bad_pixels"),
                       least_good=float(least_good), beyond_band_limit=int(bool(beyond_band_limit)), **tables)
        out = ctypes.c_void_p()
        self._context = context(device)
        long_call(lib.kugel_regrid_create, self._context and self._context.address, ctypes.byref(opts),
                  ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_regrid_destroy)
        info = options(_ffi.kugel_regrid_info)
        lib.kugel_regrid_get_info(out, info)
        self.lmax = info.lmax

    def _maps(self, grid):
        return REAL, 2 if self.spin else 1, grid.npix, "maps"

    def __call__(self, maps: Any, out: Any = None, stream: Any = None) -> Any:
        """The maps on the target grid."""
        return self._run(lib.kugel_regrid_execute, maps, self._maps(self.source), self._maps(self.target), out, stream)

    def adjoint(self, maps: Any, out: Any = None, stream: Any = None) -> Any:
        """The adjoint, from maps on the target grid to maps on the source grid."""
        return self._run(lib.kugel_regrid_adjoint, maps, self._maps(self.target), self._maps(self.source), out, stream)


def regrid(maps: Any, source: Grid | int, target: Grid | int, **options: Any) -> Any:
    """Maps on another grid; options are those of Regrid, and iterations default to 3 for maps on HEALPix.

        map = kugel.regrid(relief, kugel.Grid.fejer1(180, 360, phi0=np.pi / 360), 128)
        uv = kugel.regrid([u, v], kugel.Grid.clenshaw_curtis(241, 480), kugel.Grid.octahedral(320), spin=1)

    Grids of Grid.from_latlon have maps as those latitudes and longitudes say, from the south or the north.
    Grids with equal rows have maps [..., ntheta, nphi] or [..., ntheta nphi], and results [..., ntheta, nphi]; all others
    [..., npix]. Arrays in a device's memory are [..., npix].
    """
    source, target = _grid(source), _grid(target)
    if source.options["kind"] == _ffi.KUGEL_GRID_HEALPIX:
        options.setdefault("iterations", 3)
    plan = Regrid(source, target, **options)
    if foreign(maps) is not None:
        return plan(maps)
    maps = np.asarray(maps)
    rows = _rows(source)
    if rows and maps.shape[-2:] == rows:
        maps = source.arrange(maps) if hasattr(source, "arrange") else maps.reshape(maps.shape[:-2] + (source.npix,))
    result = plan(maps)
    if hasattr(target, "restore"):
        return target.restore(result)
    return result.reshape(result.shape[:-1] + _rows(target)) if _rows(target) else result
