# SPDX-License-Identifier: BSD-3-Clause
"""Convolution and correlation of images and volumes: a plan that keeps the kernel's spectrum, and functions."""
from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _ffi
from .._lib import Handle, dtype_of, lib, long_call, options, view
from ..comm import Layout, shared
from ..hardware import context
from ..fft.arrays import Host
from ..fft.place import place

if TYPE_CHECKING:
    import numpy.typing as npt

EXTENTS = {"full": _ffi.KUGEL_CONV_FULL, "same": _ffi.KUGEL_CONV_SAME, "valid": _ffi.KUGEL_CONV_VALID}
BOUNDARIES = {"zero": _ffi.KUGEL_BOUNDARY_ZERO, "replicate": _ffi.KUGEL_BOUNDARY_REPLICATE,
              "reflect": _ffi.KUGEL_BOUNDARY_REFLECT, "periodic": _ffi.KUGEL_BOUNDARY_PERIODIC,
              "unknown": _ffi.KUGEL_BOUNDARY_UNKNOWN}
ENGINES = {"auto": _ffi.KUGEL_VOLUME_AUTO, "resident": _ffi.KUGEL_VOLUME_RESIDENT, "tiles": _ffi.KUGEL_VOLUME_TILES,
           "dif": _ffi.KUGEL_VOLUME_DIF, "pencil": _ffi.KUGEL_VOLUME_PENCIL, "global": _ffi.KUGEL_VOLUME_GLOBAL}
_REAL = tuple(np.dtype(t) for t in ("uint8", "uint16", "int16", "int32", "float16", "float32", "float64"))
_COMPLEX = tuple(np.dtype(t) for t in ("complex64", "complex128"))


def choose(value: Any, table: Any, name: Any) -> Any:
    """The library's number of one of a table's words."""
    if value not in table:
        raise ValueError(f"{name} is {value!r}; allowed are {', '.join(repr(w) for w in table)}")
    return table[value]


def lengths(values: npt.ArrayLike, ndim: int, name: Any) -> Any:
    """ndim integers, from one or from ndim; None stays None."""
    if values is None:
        return None
    values = (int(values),) * ndim if np.isscalar(values) else tuple(int(v) for v in values)
    if len(values) != ndim:
        raise ValueError(f"{name} has {len(values)} numbers; the kernel has {ndim} axes")
    return (ctypes.c_int64 * ndim)(*values)


def _single(dtype):
    return np.dtype(dtype) in (np.float32, np.float16, np.complex64)


class _Chunks:
    """A kernel that need not be in memory: Zarr arrays, datasets of h5py. The library reads it while it makes a plan."""

    def __init__(self, array):
        self.array, self.shape, self.ndim, self.dtype, self.failure = array, tuple(array.shape), len(array.shape), np.dtype(array.dtype), None
        self.extents = (ctypes.c_int64 * self.ndim)(*self.shape)

    def view(self):
        out = view(np.empty((0,) * self.ndim, self.dtype))._obj
        out.data, out.shape, out.strides = None, ctypes.addressof(self.extents), None
        return ctypes.byref(out)

    def fill(self, user, lo, n, values):
        try:
            first, count = ((ctypes.c_int64 * self.ndim).from_address(a) for a in (lo, n))
            block = np.asarray(self.array[tuple(slice(a, a + b) for a, b in zip(first, count))], self.dtype)
            raw = (ctypes.c_char * block.nbytes).from_address(values)
            np.frombuffer(raw, self.dtype).reshape(block.shape)[...] = block
            return 0
        except BaseException as e:  # it must not leave the callback: the caller of the library raises it
            self.failure = e
            return 1


def _kernel_of(kernel):
    """An array, or what reads one in chunks."""
    if hasattr(kernel, "chunks") and not hasattr(kernel, "dask") and np.dtype(kernel.dtype) in _REAL + _COMPLEX:
        return _Chunks(kernel)
    return place(kernel).get()


class Convolution:
    """Convolution of images or volumes of one shape with one kernel (or several), whose spectrum the plan keeps.

        blur = kugel.volume.Convolution((64, 512, 512), psf, boundary="reflect", precision="float32")
        y = blur(x)                                     # x: [..., 64, 512, 512]
        g = blur.adjoint(y)

    shape:      lengths of the image, 1 to 3
    kernel:     as many dimensions; with several=True one more before them, which the results have too. Arrays with `chunks` (Zarr, h5py)
                are read once, with engine "pencil" tile[0] planes at a time, so that they need not be in memory
    mode:       "full", "same" or "valid", as in scipy.signal
    boundary:   what lies beyond the edges: "zero", "replicate", "reflect" (of scipy.ndimage), "periodic", or "unknown":
                results are divided by the part of the kernel's sum that met the image
    correlate:  correlation: the adjoint of the convolution
    centre:     the kernel's element that lies on the result's own place; default (k - 1) // 2
    dtype:      of results: default float32 or float64 (complex64, complex128), as image and kernel are; integers are
                rounded and saturate, and `clipped` has their number after each call
    precision:  "float32" or "float64": of the arithmetic; default as the results
    scale:      factor on results
    depths:     planes of the image, rising, to which the kernels of kernel [depths, z, y, x] belong: a voxel is spread by the kernel
                interpolated at its own plane; three axes
    engine:     "auto", "resident", "tiles", "dif" (in `parts`), "pencil" (three axes, by way of a file in the folder
                `scratch`, on devices of host memory where there is enough, tile[0] slices at a time: for padded volumes larger than
                memory); on a device "tiles", "dif" and "pencil" are for arrays in host memory: copies overlap with the convolution, and
                the host folds parts while others are convolved;
                "global", with comm: the whole transform over ranks
    comm:       a kugel.Comm, whose ranks share every call: each makes the plan with the same kernel, and passes and gets its planes
                along axis 0: of images image_slice, of results results_slice; image_layout and results_layout gather and
                scatter whole arrays, [..., total]. Three axes. "global" has the bits of "resident" on one process, "tiles"
                (without adjoint; "auto" takes it for kernels short beside the image) those of the same tiles there; on devices
                (device="cuda:local": the rank's own) the bits of one rank, for arrays in host memory or on the device
    device:     such as "cuda:0" for arrays in its memory or in host memory; "cuda:0,1": both share tiles, parts or pieces
    image_dtype: of the images, if known: tiles on devices are chosen with it and dtype, by the time of their copies
    """

    def __init__(self, shape: Any, kernel: Any, mode: str = "same", boundary: str = "zero", correlate: bool = False, centre: Any = None,
                 dtype: Any = None, precision: str | None = None, several: bool = False, scale: float = 1.0,
                 complex_data: bool | None = None, engine: str = "auto", parts: Any = 0, tile: Any = None,
                 scratch: Any = None, device: str | None = None, depths: Any = None, comm: Any = None,
                 image_dtype: Any = None) -> None:
        kernel = _kernel_of(kernel)
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        ndim = len(self.shape)
        planes = None if depths is None else np.ascontiguousarray(depths, np.float64)
        if planes is not None and (planes.ndim != 1 or kernel.ndim != 4 or len(kernel) != len(planes)):
            raise ValueError(f"depths has shape {planes.shape} and the kernels {kernel.shape}: [depths] and [depths, z, y, x]")
        more = bool(several) + (planes is not None)
        if kernel.ndim != ndim + more:
            raise ValueError(f"the kernel has {kernel.ndim} dimensions; expected {ndim + more}")
        self.complex_data = kernel.dtype.kind == "c" if complex_data is None else bool(complex_data)
        if kernel.dtype not in _REAL + _COMPLEX:
            kernel = kernel.astype(np.complex128 if kernel.dtype.kind == "c" else np.float64)
        if precision is None:
            precision = "float32" if _single(dtype if dtype is not None else kernel.dtype) else "float64"
        choose(precision, {"float32": 1, "float64": 0}, "precision")
        self.precision, self._dtype = precision, None if dtype is None else np.dtype(dtype)
        self._context, self.clipped = context(device), 0
        opts = options(_ffi.kugel_volume_opts, extent=choose(mode, EXTENTS, "mode"), boundary=choose(boundary, BOUNDARIES, "boundary"),
                       correlate=int(correlate), complex_data=int(self.complex_data), precision=int(precision == "float32"),
                       kernels=kernel.shape[0] if several else 0, engine=choose(engine, ENGINES, "engine"), parts=int(parts),
                       scale=float(scale), comm=comm and comm._handle.address)
        for name, known in (("image_dtype", image_dtype), ("results_dtype", dtype)):
            if known is not None and np.dtype(known) in (_COMPLEX if self.complex_data else _REAL):
                setattr(opts, name, dtype_of(known))
        kept = [lengths(centre, ndim, "centre"), lengths(tile, ndim, "tile")]
        for name, values in zip(("centre", "tile"), kept):
            if values is not None:
                setattr(opts, name, ctypes.addressof(values))
        if scratch is not None:
            opts.scratch = os.fsencode(scratch)
        if planes is not None:
            opts.depths, opts.depth = len(planes), planes.ctypes.data
        out, lazy = ctypes.c_void_p(), isinstance(kernel, _Chunks)
        if lazy:
            opts.read_kernel = dict(opts._fields_)["read_kernel"](kernel.fill)
        try:
            long_call(lib.kugel_volume_create, self._context.address if self._context else None, ndim,
                      (ctypes.c_int64 * ndim)(*self.shape), (ctypes.c_int64 * ndim)(*kernel.shape[kernel.ndim - ndim:]),
                      kernel.view() if lazy else view(kernel), ctypes.byref(opts), ctypes.byref(out))
        except Exception:
            if lazy and kernel.failure is not None:
                raise kernel.failure from None
            raise
        self._handle = Handle(out.value, lib.kugel_volume_destroy)
        self.kernels = kernel.shape[0] if several else None
        self.results, self.comm, info = tuple(self.info["results"]), comm, self.info
        self.image_slice = slice(info["image_first"], info["image_first"] + info["image_count"])
        self.results_slice = slice(info["results_first"], info["results_first"] + info["results_count"])

    def _layout(self, side):
        out = ctypes.c_void_p()
        lib.kugel_volume_layout(self._handle.address, side, ctypes.byref(out))
        return Layout(self.comm, out.value)

    @property
    def image_layout(self) -> Layout:
        """Which elements of an image each rank has, of a plan with comm."""
        return self._layout(_ffi.KUGEL_VOLUME_IMAGE)

    @property
    def results_layout(self) -> Layout:
        """Which elements of results (of one kernel) each rank has, of a plan with comm."""
        return self._layout(_ffi.KUGEL_VOLUME_RESULTS)

    @property
    def info(self) -> Any:
        """What the plan does: engine, parts, tiles, lengths, bytes, predicted seconds."""
        raw = _ffi.kugel_volume_info()
        raw.size = ctypes.sizeof(raw)
        lib.kugel_volume_get_info(self._handle.address, ctypes.byref(raw))
        words = {number: word for word, number in ENGINES.items()}
        found = {name: getattr(raw, name) for name, _ in raw._fields_ if name not in ("size", "ndim")}
        found["engine"] = words[raw.engine]
        return {name: list(v[:raw.ndim]) if hasattr(v, "__len__") and name != "engine" else v for name, v in found.items()}

    def __call__(self, x: Any) -> Any:
        """Results of images [..., shape...]."""
        return self._apply(lib.kugel_volume_execute, x, False)

    def adjoint(self, x: Any) -> Any:
        """The exact adjoint: images of results [..., results...]."""
        return self._apply(lib.kugel_volume_adjoint, x, True)

    def _places(self, x, adjoint):
        x, ndim = place(x), len(self.shape)
        if self.complex_data and x.dtype.kind != "c":
            x = x.typed(np.complex64 if _single(x.dtype) else np.complex128)
        elif x.dtype not in (_COMPLEX if self.complex_data else _REAL):
            if x.dtype.kind == "c":
                raise ValueError(f"the image is {x.dtype}; the plan is for real ones: pass complex_data=True")
            x = x.typed(np.float64)
        image, results = self.shape, self.results
        if self.comm:
            image = (self.image_slice.stop - self.image_slice.start,) + image[1:]
            results = (self.results_slice.stop - self.results_slice.start,) + results[1:]
        before, after = (results, image) if adjoint else (image, results)
        several = (self.kernels,) if self.kernels else ()
        if adjoint:
            before = several + before
        else:
            after = several + after
        if not self.comm and tuple(x.shape[x.ndim - len(before):]) != tuple(before):  # ranks agree on it in the library
            raise ValueError(f"the array has shape {tuple(x.shape)}; its last axes must be {tuple(before)}")
        dtype = self._dtype or np.dtype(("complex64" if self.precision == "float32" else "complex128") if self.complex_data
                                        else self.precision)
        out = x.new(tuple(x.shape[:x.ndim - len(before)]) + tuple(after), dtype)
        return x, out

    def _apply(self, function, x, adjoint):
        clipped = ctypes.c_int64()
        with shared(self.comm, lambda: function(self._handle.address, None, None, ctypes.byref(clipped), None)):
            x, out = self._places(x, adjoint)
        if isinstance(x, Host):
            a = x.a if self._context is None else np.ascontiguousarray(x.a)
            long_call(function, self._handle.address, view(a), view(out.a), ctypes.byref(clipped), None)
        else:
            function(self._handle.address, ctypes.byref(x.view()), ctypes.byref(out.view()), ctypes.byref(clipped), x._queue())
        self.clipped = clipped.value
        return out.value()


def _both(image, psf, mode, boundary, correlate, dtype, precision, words):
    x, h = place(image), place(psf)
    ndim = h.ndim - (words.get("depths") is not None)
    if not 1 <= ndim <= 3 or x.ndim < ndim:
        raise ValueError(f"the kernel has {ndim} dimensions and the image {x.ndim}: the kernel may have 1 to 3, the image as "
                         "many or more")
    both = np.result_type(x.dtype, h.dtype)
    if precision is None:
        precision = "float32" if _single(dtype if dtype is not None and np.dtype(dtype).kind in "fc" else both) else "float64"
    if not isinstance(x, Host):
        words.setdefault("device", x.device)
    plan = Convolution(x.shape[x.ndim - ndim:], h, mode, boundary, correlate, dtype=dtype, precision=precision,
                       complex_data=both.kind == "c", image_dtype=x.dtype, **words)
    return plan(x)


def convolve(image: Any, psf: Any, mode: str = "same", boundary: str = "zero", dtype: Any = None, precision: str | None = None,
             **words: Any) -> Any:
    """Convolution of an image or volume [..., z, y, x] with a kernel of 1 to 3 dimensions.

    With boundary "zero" the shape and the results are those of scipy.signal.fftconvolve (mode "valid": of an image at least
    as large as the kernel). dtype, precision and further words are those of Convolution, which keeps its plan; this function
    makes one per call. Tensors give tensors; arrays in a device's memory are convolved there."""
    return _both(image, psf, mode, boundary, False, dtype, precision, words)


def correlate(image: Any, psf: Any, mode: str = "same", boundary: str = "zero", dtype: Any = None, precision: str | None = None,
              **words: Any) -> Any:
    """Correlation, sum_j conj(h_j) x_{o-c+j}: the adjoint of convolve (mode "same", boundary "zero"). For kernels of even
    lengths scipy.signal.correlate has other centres: k - 1 - (k - 1) // 2."""
    return _both(image, psf, mode, boundary, True, dtype, precision, words)
