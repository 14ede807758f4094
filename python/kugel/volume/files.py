# SPDX-License-Identifier: BSD-3-Clause
"""Stacks on disk: TIFF (plain, ImageJ, OME), NPY, NRRD, MetaImage, OME-Zarr, Imaris, BigDataViewer; docs/stacks.md."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _ffi
from .._lib import dtype_of, lib, long_call, numpy_dtype, options, path, strings, text, view

if TYPE_CHECKING:
    import numpy.typing as npt
    from .._types import Path

COMPRESSIONS = {None: _ffi.KUGEL_COMPRESS_AUTO, "none": _ffi.KUGEL_COMPRESS_NONE, "deflate": _ffi.KUGEL_COMPRESS_DEFLATE,
                "gzip": _ffi.KUGEL_COMPRESS_DEFLATE, "lzw": _ffi.KUGEL_COMPRESS_LZW, "packbits": _ffi.KUGEL_COMPRESS_PACKBITS,
                "zstd": _ffi.KUGEL_COMPRESS_ZSTD, "blosc": _ffi.KUGEL_COMPRESS_BLOSC, "lz4": _ffi.KUGEL_COMPRESS_LZ4}
FORMATS = {None: _ffi.KUGEL_IMAGE_AUTO, "tiff": _ffi.KUGEL_IMAGE_TIFF, "ome-tiff": _ffi.KUGEL_IMAGE_OME_TIFF,
           "npy": _ffi.KUGEL_IMAGE_NPY, "nrrd": _ffi.KUGEL_IMAGE_NRRD, "mhd": _ffi.KUGEL_IMAGE_MHD,
           "zarr": _ffi.KUGEL_IMAGE_ZARR, "zarr2": _ffi.KUGEL_IMAGE_ZARR2, "imaris": _ffi.KUGEL_IMAGE_IMARIS, "bdv": _ffi.KUGEL_IMAGE_BDV}


def _word(table, value, name):
    if value not in table:
        raise ValueError(f"{name} is {value!r}; allowed are {', '.join(repr(w) for w in table)}")
    return table[value]


class Stack:
    """An open stack, of `open` or `create`. Axes are t, c, z, y, x; lengths micrometres, times seconds; 0 is unknown.

        with kugel.volume.open("cells.ome.tif") as stack:
            stack.shape, stack.dtype, stack.voxel, stack.channel_names
            part = stack.read(channel=1, box=(slice(10, 20), slice(None), slice(0, 256)))
    """

    def __init__(self, address: Any) -> None:
        self._address = address
        info = self._info()
        self.shape = tuple(info.shape)
        self.dtype = numpy_dtype(info.dtype)
        self.voxel = tuple(info.voxel)
        self.time_step = info.time_step
        self.chunk = tuple(info.chunk)
        self.levels = info.nlevels
        self.format = text(info.format_name)
        self.compression = text(info.compression)
        self.unit = text(info.unit)
        self.text = text(info.text)
        names = ctypes.cast(info.channel_names, ctypes.POINTER(ctypes.c_char_p))
        self.channel_names = [text(names[i]) for i in range(self.shape[1])]

    def _info(self):
        if not self._address:
            raise ValueError("the stack is closed")
        info = _ffi.kugel_image_info()
        info.size = ctypes.sizeof(info)
        lib.kugel_image_get_info(self._address, ctypes.byref(info))
        return info

    @property
    def clipped(self) -> Any:
        """Values that conversions between types saturated, and NaN that they made 0."""
        return self._info().clipped

    def _box(self, box):
        box = (slice(None),) * 3 if box is None else tuple(box)
        if len(box) != 3:
            raise ValueError(f"box has {len(box)} slices; expected 3: z, y, x")
        lo, n = [], []
        for part, extent in zip(box, self.shape[2:]):
            start, stop, step = part.indices(extent)
            if step != 1:
                raise ValueError(f"box has a slice with step {step}; must be 1")
            lo.append(start)
            n.append(stop - start)
        return (ctypes.c_int64 * 3)(*lo), (ctypes.c_int64 * 3)(*n)

    def read(self, time: int = 0, channel: int = 0, box: Any = None, dtype: Any = None) -> Any:
        """The volume [z, y, x] of one channel at one time, or the part of it that three slices give."""
        self._info()
        lo, n = self._box(box)
        out = np.empty(tuple(n), self.dtype if dtype is None else dtype)
        long_call(lib.kugel_image_read, self._address, time, channel, lo, n, view(out))
        return out

    def array(self, time: int | None = None, channel: int | None = None, dtype: Any = None) -> Any:
        """All numbers: [t, c, z, y, x] without axes t and c of length 1, or those of one time or channel."""
        self._info()
        lo, n = self._box(None)
        times = range(self.shape[0]) if time is None else [time]
        channels = range(self.shape[1]) if channel is None else [channel]
        out = np.empty((len(times), len(channels), *self.shape[2:]), self.dtype if dtype is None else dtype)
        for i, t in enumerate(times):
            for k, c in enumerate(channels):
                long_call(lib.kugel_image_read, self._address, t, c, lo, n, view(out[i, k]))
        while out.ndim > 3 and out.shape[0] == 1:
            out = out[0]
        return out

    def write(self, values: npt.ArrayLike, time: int = 0, channel: int = 0, at: Any = (0, 0, 0)) -> None:
        """Writes a box of numbers at z, y, x; each voxel once, in any order."""
        self._info()
        values = np.asarray(values)
        values = values.reshape((1,) * (3 - values.ndim) + values.shape)
        if not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        if values.ndim != 3:
            raise ValueError(f"values has {values.ndim} dimensions; expected at most 3: z, y, x")
        lo, n = (ctypes.c_int64 * 3)(*at), (ctypes.c_int64 * 3)(*values.shape)
        long_call(lib.kugel_image_write, self._address, time, channel, lo, n, view(values))

    def close(self, keep: bool = True) -> None:
        """Closes the stack; keep=False deletes one that was being written."""
        address, self._address = self._address, None
        if address:
            long_call(lib.kugel_image_close, address, int(keep))

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close(kind is None)

    def __del__(self):
        if getattr(self, "_address", None):
            lib.kugel_image_close(self._address, 0)
            self._address = None

    def __repr__(self):
        return f"<kugel.volume.Stack {self.format} {'x'.join(map(str, self.shape))} {self.dtype}>"


def open(name: Path, level: int = 0) -> Stack:  # noqa: A001: as the library's
    """Opens a stack for reading; level: of a multi-scale Zarr, 0 the finest."""
    out = ctypes.c_void_p()
    lib.kugel_image_open(None, path(name), ctypes.byref(options(_ffi.kugel_image_open_opts, level=level)), ctypes.byref(out))
    return Stack(out)


def create(name: Path, shape: Any = None, dtype: Any = None, like: Any = None, voxel: Any = None, time_step: float = 0.0,
           channel_names: Any = None, compression: str | None = None, format: str | None = None, chunk: Any = None, level: int = 0,
           shard: Any = 0, bigtiff: bool = False, overwrite: bool = False, description: str | None = None, comm: Any = None) -> Stack:
    """Creates a stack [t, c, z, y, x] (shape may lack the first axes) to be filled by Stack.write; close() gives it its name.

    like:  an open Stack whose shape, type and metadata stand for those not given
    comm:  ranks that write a Zarr together: each creates it, writes whole planes that it has (or none) in the same calls as the others,
           at=(first plane, 0, 0), and closes it; each chunk or shard has one writer
    """
    opts = options(_ffi.kugel_image_opts, time_step=time_step, bigtiff=int(bigtiff), overwrite=int(overwrite), level=level,
                   shard=shard, compression=_word(COMPRESSIONS, compression, "compression"), format=_word(FORMATS, format, "format"))
    if shape is not None:
        shape = tuple(shape)
        if not 1 <= len(shape) <= 5:
            raise ValueError(f"shape has {len(shape)} extents; must be 1 to 5 (t, c, z, y, x without the first ones)")
        opts.shape = (ctypes.c_int64 * 5)(*(1,) * (5 - len(shape)), *shape)
    if dtype is not None:
        opts.dtype = dtype_of(dtype)
    if voxel is not None:
        opts.voxel = (ctypes.c_double * 3)(*voxel)
    if chunk is not None:
        opts.chunk = (ctypes.c_int64 * 3)(*chunk)
    if like is not None:
        like._info()
        opts.like = like._address
    names = strings([*channel_names]) if channel_names else None
    if names is not None:
        channels = opts.shape[1] if shape is not None else like.shape[1]
        if len(channel_names) != channels:
            raise ValueError(f"channel_names has {len(channel_names)} names; there are {channels} channels")
        opts.channel_names = ctypes.cast(names, ctypes.c_void_p)
    if description:
        opts.description = description.encode()
    out = ctypes.c_void_p()
    if comm is not None:
        opts.comm = comm._handle.address
    long_call(lib.kugel_image_create, None, path(name), ctypes.byref(opts), ctypes.byref(out))
    stack = Stack(out)
    stack.comm = comm  # which must outlive it
    return stack


def read(name: Path, time: int | None = None, channel: int | None = None, dtype: Any = None, level: int = 0) -> Any:
    """The numbers of a stack: [t, c, z, y, x] without axes t and c of length 1, or of one time or channel."""
    with open(name, level) as stack:
        return stack.array(time, channel, dtype)


def write(name: Path, values: npt.ArrayLike, **options: Any) -> None:
    """Writes an array [t, c, z, y, x] (it may lack the first axes) as a stack; options as for create."""
    values = np.asarray(values)
    if not 1 <= values.ndim <= 5:
        raise ValueError(f"values has {values.ndim} dimensions; must be 1 to 5 (t, c, z, y, x without the first ones)")
    if values.dtype == bool:
        values = values.view(np.uint8)
    whole = values.reshape((1,) * (5 - values.ndim) + values.shape)
    with create(name, **{"shape": whole.shape, "dtype": values.dtype, **options}) as stack:
        for t in range(whole.shape[0]):
            for c in range(whole.shape[1]):
                stack.write(whole[t, c], t, c)
