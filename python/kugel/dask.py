# SPDX-License-Identifier: BSD-3-Clause
"""Stacks of maps, and volumes, as Dask arrays: nothing is computed before .compute() or a store.

    import dask.array as da, kugel.dask
    maps = da.from_zarr("maps.zarr")                     # [days, npix]
    alm = kugel.dask.map2alm(maps, lmax=512)             # [days, nalm]
    smooth = kugel.dask.smooth(maps, fwhm=0.02)          # [days, npix]
    sharp = kugel.dask.convolve(volume, psf)             # tiles with what the kernel reaches around them

Every chunk holds whole maps: chunks along pixels are joined first. Plans stay in the workers, one for each kind of
transform. Results do not depend on the chunks. Tasks are independent of one another, so that any scheduler runs them
and repeats those that a lost worker had.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .extras import need, plan
from .plans import Grid

__all__ = ["alm2map", "anafast", "convolve", "map2alm", "regrid", "smooth", "synfast"]


def _array(maps, what):
    da = need("dask.array", "kugel.dask")
    if not isinstance(maps, da.Array):
        raise TypeError(f"{what} is of type {type(maps).__name__}; expected a Dask array: dask.array.from_array(x, "
                        "chunks=(1, -1)) makes one of an array")
    if maps.ndim < 1 or 0 in maps.shape:
        raise ValueError(f"{what} has shape {maps.shape}; expected [..., n] with at least one element")
    return maps.rechunk({maps.ndim - 1: -1})


def _blocks(function, maps, length, dtype, *more, **words):
    """Each chunk by itself, its last axis of another length."""
    chunks = maps.chunks[:-1] + tuple((n,) for n in np.atleast_1d(length))
    added = len(chunks) - maps.ndim
    return maps.map_blocks(function, *more, dtype=dtype, chunks=chunks, meta=np.empty((0,) * (maps.ndim + added), dtype),
                           **({"new_axis": list(range(maps.ndim, maps.ndim + added))} if added > 0 else {}), **words)


def _nside(npix):
    nside = int(round((npix / 12)**0.5))
    if 12 * nside * nside != npix:
        raise ValueError(f"maps have {npix} pixels, which is not 12 nside^2: give grid=, a kugel.Grid")
    return nside


def _grid(maps, grid):
    if grid is None:
        return Grid.healpix(_nside(maps.shape[-1]))
    grid = grid if isinstance(grid, Grid) else Grid.healpix(grid)
    if grid.npix != maps.shape[-1]:
        raise ValueError(f"maps have {maps.shape[-1]} pixels and the grid has {grid.npix}")
    return grid


def _limit(grid, lmax, iterations):
    """lmax and iterations that are not given: 3 nside - 1 and 3 for HEALPix, what the grid is exact for and 0 elsewhere."""
    healpix = "nside" in grid.options
    if iterations is None:
        iterations = 3 if healpix else 0
    if lmax is None:
        lmax = 3 * grid.options["nside"] - 1 if healpix else plan("regrid", grid, grid).lmax
    return int(lmax), int(iterations)


def _real(dtype):
    return np.dtype(np.float32) if np.dtype(dtype) == np.float32 else np.dtype(np.float64)


def _analyse(x, args, words):
    return plan("sht", *args, **words).analysis(np.ascontiguousarray(x, _real(x.dtype)))


def _synthesise(x, args, words):
    return plan("sht", *args, **words).synthesis(np.ascontiguousarray(x))


def _regrid(x, args, words):
    return plan("regrid", *args, **words)(np.ascontiguousarray(x, _real(x.dtype)))


def _spectra(x, args, words, lmax):
    from .alms import alm2cl
    alm = _analyse(x, args, words).astype(np.complex128)
    flat = alm.reshape(-1, alm.shape[-1])
    return np.stack([alm2cl(a, lmax=lmax) for a in flat]).reshape(alm.shape[:-1] + (lmax + 1,))


def map2alm(maps: Any, lmax: int | None = None, grid: Any = None, iterations: int | None = None, bad_pixels: str = "error",
            device: str | None = None) -> Any:
    """Coefficients of scalar maps: [..., npix] -> [..., nalm], complex.

    lmax:       3 nside - 1 when not given, or what the grid is exact for
    grid:       of the pixels; HEALPix in RING order when not given
    iterations: refinements; 3 on HEALPix, else 0
    bad_pixels, device: as for kugel.SHT; in a cluster every worker opens the device itself
    """
    maps = _array(maps, "maps")
    grid = _grid(maps, grid)
    lmax, iterations = _limit(grid, lmax, iterations)
    words = dict(iterations=iterations, bad_pixels=bad_pixels, device=device)
    dtype = np.complex64 if maps.dtype == np.float32 else np.complex128
    return _blocks(_analyse, maps, (lmax + 1) * (lmax + 2) // 2, dtype, args=(grid, lmax), words=words)


def alm2map(alm: Any, grid: Any, device: str | None = None) -> Any:
    """Maps of coefficients: [..., nalm] -> [..., npix]; grid: a kugel.Grid or an nside."""
    alm = _array(alm, "alm")
    grid = grid if isinstance(grid, Grid) else Grid.healpix(grid)
    lmax = int((8 * alm.shape[-1] + 1)**0.5 - 3) // 2
    if (lmax + 1) * (lmax + 2) // 2 != alm.shape[-1]:
        raise ValueError(f"alm have {alm.shape[-1]} coefficients, which is not (lmax + 1)(lmax + 2) / 2")
    dtype = np.float32 if alm.dtype == np.complex64 else np.float64
    return _blocks(_synthesise, alm, grid.npix, dtype, args=(grid, lmax), words=dict(device=device))


def smooth(maps: Any, fwhm: float, lmax: int | None = None, grid: Any = None, iterations: int | None = None, bad_pixels: str = "error",
           device: str | None = None) -> Any:
    """Maps smoothed by a Gaussian beam of the full width fwhm at half maximum, radians; further arguments as for map2alm."""
    maps = _array(maps, "maps")
    grid = _grid(maps, grid)
    lmax, iterations = _limit(grid, lmax, iterations)
    words = dict(lmax=lmax, fwhm=float(fwhm), iterations=iterations, bad_pixels=bad_pixels, beyond_band_limit=True, device=device)
    return _blocks(_regrid, maps, grid.npix, _real(maps.dtype), args=(grid, grid), words=words)


def regrid(maps: Any, source: Any, target: Any, **options: Any) -> Any:
    """Maps on another grid, [..., npix] of each: source and target are Grids or an nside, options those of kugel.Regrid."""
    maps = _array(maps, "maps")
    source = _grid(maps, source)
    target = target if isinstance(target, Grid) else Grid.healpix(target)
    if "nside" in source.options:
        options.setdefault("iterations", 3)
    return _blocks(_regrid, maps, target.npix, _real(maps.dtype), args=(source, target), words=options)


def anafast(maps: Any, lmax: int | None = None, grid: Any = None, iterations: int | None = None, bad_pixels: str = "error",
            device: str | None = None) -> Any:
    """Power spectra C_l of scalar maps: [..., npix] -> [..., lmax + 1]; arguments as for map2alm."""
    maps = _array(maps, "maps")
    grid = _grid(maps, grid)
    lmax, iterations = _limit(grid, lmax, iterations)
    words = dict(iterations=iterations, bad_pixels=bad_pixels, device=device)
    return _blocks(_spectra, maps, lmax + 1, np.float64, args=(grid, lmax), words=words, lmax=lmax)


def _random(block_info=None, seed=0, first=0, cls=None, nside=1, words=None):
    from .sphtfunc import synfast as one
    lo, hi = block_info[None]["array-location"][0]
    return np.stack([one(cls, nside, seed=seed, index=first + i, **words) for i in range(lo, hi)])


def synfast(cls: Any, nside: int, count: int, seed: int, index: int = 0, chunks: Any = 1, **words: Any) -> Any:
    """`count` random maps of one seed, numbered from `index`: [count, npix], or [count, 3, npix] for T, Q, U. Map i is that of
    kugel.synfast(..., seed=seed, index=i), whatever the chunks (maps per task)."""
    da = need("dask.array", "kugel.dask")
    cls = np.asarray(cls, np.float64)
    shape = (12 * int(nside)**2,) if cls.ndim == 1 or len(cls) == 1 else (3, 12 * int(nside)**2)
    parts = da.core.normalize_chunks((chunks,) + tuple((n,) for n in shape), shape=(int(count),) + shape, dtype=np.float64)
    cls = cls[0] if cls.ndim == 2 and len(cls) == 1 else cls
    return da.map_blocks(_random, chunks=parts, dtype=np.float64, meta=np.empty((0,) * (1 + len(shape))), seed=int(seed),
                         first=int(index), cls=cls, nside=int(nside), words=words)


def convolve(image: Any, kernel: Any, boundary: str = "zero", **words: Any) -> Any:
    """Volumes in tiles: each chunk of results from the chunks that the kernel reaches; kugel.volume.convolve_blocks."""
    from .volume import convolve_blocks
    need("dask.array", "kugel.dask")
    return convolve_blocks(image, kernel, boundary=boundary, **words)
