# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that are not in memory: Zarr arrays, memmaps and whatever else is read and written by slices, and Dask arrays."""
from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .convolve import BOUNDARIES, Convolution, choose

_BYTES = 1 << 28  # of a block of results, as float64


def inside(boundary: str, i: Any, n: Any) -> Any:
    """The voxels that stand for i of an axis, and which have none."""
    if boundary == "replicate":
        return np.clip(i, 0, n - 1), None
    if boundary == "periodic":
        return i % n, None
    if boundary == "reflect":
        i = i % (2 * n)
        return np.where(i < n, i, 2 * n - 1 - i), None
    return np.clip(i, 0, n - 1), (i < 0) | (i >= n)


def _take(image, lead, ranges, boundary):
    """Voxels of [first, end) along each axis, also beyond the edges; what lies within is read by one slice an axis."""
    cut, after = [], []
    for (first, end), n in zip(ranges, image.shape[len(lead):]):
        index, none = inside(boundary, np.arange(first, end), n)
        lo = int(index.min())
        cut.append(slice(lo, int(index.max()) + 1))
        after.append((index - lo, none))
    x = np.asarray(image[lead + tuple(cut)])
    for axis, (index, none) in enumerate(after):
        if len(index) != x.shape[axis] or not np.array_equal(index, np.arange(len(index))):
            x = np.take(x, index, axis=axis)
        if none is not None and none.any():
            x = x.copy()
            x[(slice(None),) * axis + (none,)] = 0
    return x


def _block(shape, chunks, itemsize):
    """Whole chunks, as many as _BYTES hold, from the last axis on."""
    block = [min(n, c) for n, c in zip(shape, chunks)]
    for axis in reversed(range(len(shape))):
        room = _BYTES // (itemsize * int(np.prod(block)))
        if room > 1:
            block[axis] = min(shape[axis], block[axis] * room)
    return tuple(block)


def _chunks(array, ndim):
    chunks = getattr(array, "chunks", None)
    if chunks is None or len(chunks) != array.ndim or not all(isinstance(c, (int, np.integer)) for c in chunks):
        return (1,) * (ndim - 1) + (array.shape[-1],)
    return tuple(int(c) for c in chunks[-ndim:])


class _Blocks:
    """Plans for blocks of results: a convolution of the block's surroundings in which no edge is met."""

    def __init__(self, kernel, boundary, dtype, precision):
        choose(boundary, {b: 0 for b in BOUNDARIES if b != "unknown"}, "boundary")
        self.kernel, self.boundary, self.dtype, self.precision = kernel, boundary, dtype, precision
        self.halo = [((k - 1) - (k - 1) // 2, (k - 1) // 2) for k in kernel.shape]  # before, behind
        self.plans = {}

    def run(self, x):
        if x.shape not in self.plans:
            if len(self.plans) > 8:  # blocks at the ends have shapes of their own: 2^3
                self.plans.clear()
            self.plans[x.shape] = Convolution(x.shape, self.kernel, "valid", dtype=self.dtype, precision=self.precision)
        return self.plans[x.shape](x)


def convolve_blocks(image: Any, kernel: Any, out: Any = None, boundary: str = "zero", *, block: Any = None, dtype: Any = None,
                    precision: str | None = None, progress: Any = None) -> Any:
    """Convolves an array that need not be in memory, block by block with the surroundings that its kernel reaches; equal to
    `convolve(image, kernel, "same", boundary)` of the whole to rounding.

        z = zarr.open("stack.zarr/0"); y = zarr.create_array("blurred.zarr", shape=z.shape, dtype="f4", chunks=z.chunks)
        kugel.volume.convolve_blocks(z, psf, y, boundary="reflect")
        lazy = kugel.volume.convolve_blocks(dask_array, psf)     # computes nothing yet

    image:      whatever has shape, dtype and gives NumPy arrays for slices: Zarr arrays, numpy.memmap, HDF5 datasets of h5py; or
                a Dask array, whose result is a Dask array with the same chunks. Leading axes beyond the kernel's are images of
                their own
    kernel:     an array of one to three axes, whose element (k - 1) // 2 lies on the result's own place
    out:        where blocks are written, of the image's shape; None: a new NumPy array. Not with Dask
    boundary:   "zero", "replicate", "reflect" or "periodic"
    block:      lengths of a block of results; when not given, whole chunks of `out` up to 256 MiB
    dtype:      of the results: that of `out`, or float32 for images and kernels of at most 32 bits of float32, else float64;
                integers are rounded and saturate
    precision:  "float32" or "float64": of the arithmetic
    progress:   called as progress(blocks done, blocks)
    """
    kernel = np.asarray(kernel)
    ndim = kernel.ndim
    if not 1 <= ndim <= 3 or len(image.shape) < ndim:
        raise ValueError(f"the kernel has {ndim} axes and the image {len(image.shape)}; expected 1 to 3, and as many or more")
    if dtype is None:
        wide = np.float64 in (np.dtype(image.dtype), kernel.dtype)
        dtype = out.dtype if out is not None else np.float64 if wide else np.float32
    dtype = np.dtype(dtype)
    if precision is None:
        precision = "float64" if dtype == np.float64 else "float32"
    blocks = _Blocks(kernel, boundary, dtype, precision)
    if hasattr(image, "map_blocks") and hasattr(image, "dask"):
        if out is not None or block is not None:
            raise ValueError("out and block are not for Dask arrays: rechunk, and store the result")
        return _dask(image, blocks, ndim)
    shape, lead = tuple(image.shape[-ndim:]), tuple(image.shape[:-ndim])
    if out is None:
        out = np.empty(lead + shape, dtype)
    if tuple(out.shape) != lead + shape:
        raise ValueError(f"out has shape {tuple(out.shape)}; expected {lead + shape}")
    block = _block(shape, _chunks(out, ndim), 8) if block is None else tuple(int(b) for b in block)
    if len(block) != ndim or min(block) < 1:
        raise ValueError(f"block is {block}; expected {ndim} lengths of at least 1")
    places = list(itertools.product(*(range(0, n, b) for n, b in zip(shape, block))))
    count = len(places) * int(np.prod(lead))
    done = itertools.count(1)
    for i in np.ndindex(lead):
        for at in places:
            end = [min(a + b, n) for a, b, n in zip(at, block, shape)]
            ranges = [(a - before, e + behind) for a, e, (before, behind) in zip(at, end, blocks.halo)]
            y = blocks.run(_take(image, i, ranges, boundary))
            out[i + tuple(slice(a, e) for a, e in zip(at, end))] = y
            if progress:
                progress(next(done), count)
    return out


def _dask(image, blocks, ndim):
    """Each chunk of results from slices of the array, so that kernels may reach beyond the chunks beside it."""
    import dask
    import dask.array as da
    shape, lead = image.shape[-ndim:], image.ndim - ndim
    if any(c != 1 for axis in image.chunks[:lead] for c in axis):
        image = image.rechunk({axis: 1 for axis in range(lead)})
    starts = [np.concatenate([[0], np.cumsum(c)[:-1]]).astype(int) for c in image.chunks]

    def whole(part, ranges, index):
        one = part.reshape(part.shape[lead:])
        first = [r[0] for r in index]
        x = one
        for axis, ((a, e), n) in enumerate(zip(ranges, shape)):
            place, none = inside(blocks.boundary, np.arange(a, e), n)
            x = np.take(x, place - first[axis], axis=axis)
            if none is not None and none.any():
                x[(slice(None),) * axis + (none,)] = 0
        return _Blocks(blocks.kernel, blocks.boundary, blocks.dtype, blocks.precision).run(x).reshape((1,) * lead + tuple(
            e - a - before - behind for (a, e), (before, behind) in zip(ranges, blocks.halo)))

    run, grid = dask.delayed(whole, pure=True), np.empty([len(c) for c in image.chunks], object)
    for k in np.ndindex(grid.shape):
        lengths = [image.chunks[axis][i] for axis, i in enumerate(k)]
        first = [int(starts[axis][i]) for axis, i in enumerate(k)]
        ranges, index = [], []
        for axis, (before, behind) in enumerate(blocks.halo):
            a, e = first[lead + axis] - before, first[lead + axis] + lengths[lead + axis] + behind
            place, _ = inside(blocks.boundary, np.arange(a, e), shape[axis])
            ranges.append((a, e))
            index.append((int(place.min()), int(place.max()) + 1))
        part = image[tuple(slice(f, f + 1) for f in first[:lead]) + tuple(slice(a, e) for a, e in index)]
        part = part.rechunk(part.shape)
        block = run(part, ranges, index)
        grid[k] = da.from_delayed(block, tuple(lengths), dtype=blocks.dtype)
    return da.block(grid.tolist())
