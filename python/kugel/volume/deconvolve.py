# SPDX-License-Identifier: BSD-3-Clause
"""Deconvolution of images and volumes."""
from __future__ import annotations

import ctypes
import os
from typing import Any

import numpy as np

from .. import _ffi
from .._lib import Handle, lib, long_call, options, view, writable
from ..comm import Layout, shared
from ..hardware import context
from .convolve import ENGINES, choose
from .files import Stack

_METHODS = {"rl": _ffi.KUGEL_DECONV_RL, "biggs": _ffi.KUGEL_DECONV_BIGGS, "shb": _ffi.KUGEL_DECONV_SHB,
            "tv": _ffi.KUGEL_DECONV_TV, "wiener": _ffi.KUGEL_DECONV_WIENER, "tikhonov": _ffi.KUGEL_DECONV_TIKHONOV,
            "landweber": _ffi.KUGEL_DECONV_LANDWEBER, "isra": _ffi.KUGEL_DECONV_ISRA}
_EDGES = {"unknown": _ffi.KUGEL_DECONV_UNKNOWN, "zero": _ffi.KUGEL_DECONV_ZERO, "replicate": _ffi.KUGEL_DECONV_REPLICATE,
          "reflect": _ffi.KUGEL_DECONV_REFLECT, "periodic": _ffi.KUGEL_DECONV_PERIODIC}
_STOPS = {_ffi.KUGEL_DECONV_COUNT: "count", _ffi.KUGEL_DECONV_TOLERANCE: "tolerance",
          _ffi.KUGEL_DECONV_DISCREPANCY: "discrepancy", _ffi.KUGEL_DECONV_CALLBACK: "callback"}
_KINDS = ("uint8", "uint16", "int16", "int32", "float16", "float32", "float64")


def _readable(a, name):
    a = np.asarray(a)
    if a.dtype == np.bool_:
        a = a.view(np.uint8)
    if not a.dtype.isnative:
        a = a.astype(a.dtype.newbyteorder("="))
    if a.dtype.name not in _KINDS:
        if a.dtype.kind not in "iuf":
            raise TypeError(f"{name} is {a.dtype}; it must hold real numbers")
        a = a.astype(np.float64)
    return a


class Deconvolution:
    """A plan: deconvolution of any number of images of one shape by one PSF, whose spectrum it keeps.

        sharpen = kugel.volume.Deconvolution(image.shape, psf, iterations=25, method="shb")
        result = sharpen(image)                     # sharpen.info: iterations, stop, divergences, missing voxels, flux

    shape:      of the images, one to three axes
    psf:        an array or a Psf, as many axes, any lengths
    method:     "rl", "biggs", "shb", "tv", "wiener", "tikhonov", "landweber", "isra"
    edges:      "unknown" (no ringing; the default), "zero", "replicate", "reflect", "periodic"
    background, offset, saturation, lambda_, step, tolerance, discrepancy, memory, halo: see kugel/deconv.h
    exact:      never in tiles: with `memory`, or on a device whose memory is too small, the convolutions go in pieces, in parts or
                by way of a file in the folder `scratch`
    centre:     the element of the PSF that lies on the result's own place; (k - 1) // 2 when not given; PSFs of even length that
                were made for FFTs have it at k // 2
    back:       another PSF in the place of the adjoint
    depths:     planes of the image, rising, to which the PSFs of psf [depths, z, y, x] belong: light of each plane of the object is
                blurred by the PSF interpolated there
    precision:  "f32", "f64" or None: "f64" for PSFs of float64
    device:     such as "cuda:0": object and image of "rl", "biggs", "shb" and "tv" stay in its memory during the iteration; of other
                methods, and with `exact` where they do not fit, convolutions alone are there. Images and results are arrays
                in host memory
    callback:   called after each step as callback(iteration, divergence); a true value ends the iteration
    comm:       ranks that share every image of three axes: each calls with its planes, image[plan.image_slice], and gets
                those of the result; plan.layout gathers them. With device="cuda:local" each on its own device
    engine:     with comm: "global", the whole transform, on CPUs with the bits of a plan without ranks; "tiles", halos of
                planes exchanged at each step; "auto"
    """

    def __init__(self, shape: Any, psf: Any, iterations: int = 20, method: str = "rl", *, edges: Any = "unknown", background: Any = 0.0,
                 offset: Any = 0.0, saturation: Any = 0.0, lambda_: float = 0.0, step: float = 0.0, tolerance: float = 0.0,
                 discrepancy: float = 0.0, centre: Any = None, back: Any = None, precision: str | None = None, memory: Any = 0,
                 halo: int = 0, callback: Any = None, device: str | None = None, depths: Any = None,
                 exact: bool = False, scratch: Any = None, comm: Any = None, engine: str = "auto") -> None:
        psf = _readable(psf, "psf")
        for name, value, allowed in (("method", method, _METHODS), ("edges", edges, _EDGES)):
            if value not in allowed:
                raise ValueError(f"{name} is {value!r}; allowed are {', '.join(map(repr, allowed))}")
        precision = precision or ("f64" if psf.dtype == np.float64 else "f32")
        if precision not in ("f32", "f64"):
            raise ValueError(f'precision is {precision!r}; allowed are "f32", "f64"')
        self.shape, self.dtype = tuple(shape), np.dtype(np.float32 if precision == "f32" else np.float64)
        planes = None if depths is None else np.ascontiguousarray(depths, np.float64)
        if planes is not None and (planes.ndim != 1 or psf.ndim != 4 or len(psf) != len(planes)):
            raise ValueError(f"depths has shape {planes.shape} and the PSFs {psf.shape}: [depths] and [depths, z, y, x]")
        ndim = psf.ndim - (planes is not None)
        if len(self.shape) != ndim:
            raise ValueError(f"images have {len(self.shape)} axes and the PSF {ndim}: they must be as many")
        self._context = context(device)
        self._raised = None
        self._callback = callback
        values = dict(method=_METHODS[method], iterations=iterations, edges=_EDGES[edges], background=background, offset=offset,
                      saturation=saturation, step=step, tolerance=tolerance, discrepancy=discrepancy,
                      precision=_ffi.KUGEL_PRECISION_F32 if precision == "f32" else _ffi.KUGEL_PRECISION_F64, memory=int(memory),
                      halo=halo)
        values["lambda"] = lambda_
        opts = options(_ffi.kugel_deconv_opts, comm=comm and comm._handle.address, engine=choose(engine, ENGINES, "engine"), **values)
        lengths = ctypes.c_int64 * ndim
        opts.exact = int(exact)
        if scratch is not None:
            opts.scratch = os.fsencode(scratch)
        if centre is not None:
            places = lengths(*centre)
            opts.centre = ctypes.addressof(places)
        if back is not None:
            back = view(_readable(back, "back"))
            opts.back = ctypes.pointer(back._obj)
        if planes is not None:
            opts.depths, opts.depth = len(planes), planes.ctypes.data
        if callback is not None:
            self._hook = _ffi.kugel_deconv_fn(self._after)
            opts.callback = self._hook
        out = ctypes.c_void_p()
        n, k = lengths(*self.shape), lengths(*psf.shape[psf.ndim - ndim:])
        address = self._context.address if self._context else None
        cost = options(_ffi.kugel_deconv_cost)
        lib.kugel_deconv_estimate(address, ndim, n, k, ctypes.byref(opts), ctypes.byref(cost))
        #: what an execution needs: bytes, device_bytes, seconds, tiles, scratch_bytes (of files); kernel_bytes: moved in device memory by
        #: a step; host: whether a device does convolutions alone
        self.cost = {"bytes": cost.bytes, "device_bytes": cost.device_bytes, "kernel_bytes": cost.kernel_bytes,
                     "seconds": cost.seconds, "tiles": cost.tiles, "scratch_bytes": cost.scratch_bytes, "host": bool(cost.host),
                     "object": tuple(cost.object)[:ndim], "tile": tuple(cost.tile)[:ndim]}
        long_call(lib.kugel_deconv_create, address, ndim, n, k, view(psf), ctypes.byref(opts), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_deconv_destroy)
        self.comm, self.image_slice = comm, slice(0, self.shape[0])
        if comm:
            plane, runs = int(np.prod(self.shape[1:])), self.layout.runs()
            self.image_slice = slice(runs[0].start // plane, runs[0].stop // plane) if runs else slice(0, 0)
        #: of the last image: iterations, stop, first and last divergence, missing, clipped, flux_in, flux_out
        self.info = None

    @property
    def layout(self) -> Layout:
        """Which voxels of images and results each rank has, of a plan with comm."""
        out = ctypes.c_void_p()
        lib.kugel_deconv_layout(self._handle.address, ctypes.byref(out))
        return Layout(self.comm, out.value)

    def _after(self, iteration, divergence, user):
        try:
            return int(bool(self._callback(iteration, divergence)))
        except BaseException as e:  # raised again when the library has returned
            self._raised = e
            return 1

    def __call__(self, image: Any, mask: Any = None, start: Any = None, out: Any = None) -> Any:
        """The object of one image, in the precision of the plan or in `out`; mask: 0 (False) where a voxel is missing."""
        with shared(self.comm, lambda: lib.kugel_deconv_execute(self._handle.address, None, None, None, None, None)):
            image = _readable(image, "image")
            shape = (self.image_slice.stop - self.image_slice.start,) + self.shape[1:] if self.comm else self.shape
            out = np.empty(shape, self.dtype) if out is None else writable(out, "out")
            others = [None if a is None else view(_readable(a, name)) for a, name in ((mask, "mask"), (start, "start"))]
        info = options(_ffi.kugel_deconv_info)
        self._raised = None
        try:
            long_call(lib.kugel_deconv_execute, self._handle.address, view(image), *others, view(out), ctypes.byref(info))
        finally:
            if self._raised is not None:
                raise self._raised
        self.info = {n: getattr(info, n) for n, *_ in info._fields_ if n != "size"}
        self.info["stop"] = _STOPS[info.stop]
        return out


def _check_voxels(image, psf):
    for axis, a, b, length in zip("zyx", image.voxel, psf.voxel, psf.shape[2:]):
        if a > 0 and b > 0 and length > 1 and abs(a - b) > 0.01 * a:
            raise ValueError(f"voxels are {a:.4g} um along {axis} in the image and {b:.4g} um in the PSF: resample the PSF, or give "
                             "any_voxel=True")


def deconvolve(image: Any, psf: Any, iterations: int = 20, method: str = "rl", *, mask: Any = None, start: Any = None, out: Any = None,
               any_voxel: bool = False, **how: Any) -> Any:
    """What an image showed before its PSF blurred it: arguments of skimage.restoration.richardson_lucy, and of
    Deconvolution. Leading axes of the image beyond the PSF's (channels, times) are images of their own, by one plan.

    image, psf: arrays, or stacks of kugel.volume.open, whose voxel sizes must agree (any_voxel=True: need not)
    """
    if isinstance(image, Stack) and isinstance(psf, Stack) and not any_voxel:
        _check_voxels(image, psf)
    image, psf = (a.array() if isinstance(a, Stack) else a for a in (image, psf))
    image, psf = _readable(image, "image"), _readable(psf, "psf")
    lead = image.ndim - psf.ndim + ("depths" in how)
    if lead < 0:
        raise ValueError(f"the image has {image.ndim} axes and the PSF {psf.ndim}: an image has as many or more")
    how.setdefault("precision", "f64" if image.dtype == np.float64 or psf.dtype == np.float64 else "f32")
    plan = Deconvolution(image.shape[lead:], psf, iterations, method, **how)
    if not lead:
        return plan(image, mask, start, out)
    out = np.empty(image.shape, plan.dtype) if out is None else out
    for i in np.ndindex(image.shape[:lead]):
        each = [None if a is None else np.broadcast_to(a, image.shape)[i] for a in (mask, start)]
        plan(image[i], *each, out[i])
    return out
