# SPDX-License-Identifier: BSD-3-Clause
"""HEALPix pixels: healpy's functions. Arguments broadcast against each other, nside too."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._lib import bare, check, lib, long_call, options, ptr, view, writable
from .arrays import empty_like, foreign, stream_handle
from .hardware import context
from .maps import (MAX_NSIDE, UNSEEN, accept_ma, check_max_nside, check_nside, filled, get_map_size, get_min_valid_nside,
                   get_nside, host, is_ma, is_masked, isnpixok, isnsideok, ma, ma_to_array, mask_bad, mask_good, maptype,
                   npix2nside, npix2order, nside2npix, nside2order, nside2pixarea, nside2resol, order2npix, order2nside)
from .sphere_angles import (ang2vec, check_theta, check_theta_valid, dir2vec, lonlat2thetaphi, thetaphi2lonlat, vec2ang,
                            vec2dir)
from .units import takes

if TYPE_CHECKING:
    import numpy.typing as npt

_I64, _F64 = np.dtype(np.int64), np.dtype(np.float64)


def _order(nest):
    return _ffi.KUGEL_ORDER_NESTED if nest else _ffi.KUGEL_ORDER_RING


def _numbers(value, dtype):
    value = np.asarray(host(value))
    if dtype is _I64 and value.dtype.kind not in "iu" and value.size:
        whole = value.astype(np.int64) if value.dtype.kind in "fb" else None
        if whole is None or not np.array_equal(whole, value):
            raise TypeError(f"pixel numbers must be whole; got {value.dtype} {value.ravel()[:3]}")
        return whole
    return value.astype(dtype, copy=False)


def _run(function, nside, nest, inputs, outputs):
    """Runs an array function of the library on broadcast inputs, pairs (value, dtype).
    outputs: pairs (dtype, trailing shape). Returns one array each, of the broadcast shape and the trailing one."""
    values = [_numbers(v, dtype) for v, dtype in inputs]
    nsides = np.asarray(nside)
    check_nside(nsides, nest)
    shape = np.broadcast_shapes(nsides.shape, *(v.shape for v in values))
    values = [np.ascontiguousarray(v if v.shape == shape else np.broadcast_to(v, shape)) for v in values]
    results = [np.empty(shape + tail, dtype) for dtype, tail in outputs]
    if nsides.ndim == 0:
        n = values[0].size
        function(None, int(nsides), _order(nest), n, *map(ptr, values), *map(ptr, results))
        return results
    nsides = np.broadcast_to(nsides, shape)
    for one in np.unique(nsides):
        where = nsides == one
        parts = [np.ascontiguousarray(v[where]) for v in values]
        done = [np.empty((parts[0].size,) + tail, dtype) for dtype, tail in outputs]
        function(None, int(one), _order(nest), parts[0].size, *map(ptr, parts), *map(ptr, done))
        for target, part in zip(results, done):
            target[where] = part
    return results


def _plain(a):
    """A NumPy scalar instead of an array of no dimension."""
    return a[()] if a.ndim == 0 else a


def _directions(theta, phi, lonlat):
    """Colatitude and longitude in radians; rounding just past pi is cut."""
    theta, phi = host(theta, "theta"), host(phi, "phi")
    if lonlat:
        theta, phi = lonlat2thetaphi(np.asarray(theta), np.asarray(phi))
    theta = np.asarray(theta, np.float64)
    if theta.size and not (theta.min() >= 0 and theta.max() <= np.pi):
        check_theta(theta)
        theta = np.minimum(theta, np.pi)
    return (theta, _F64), (phi, _F64)


# ---- conversions -----------------------------------------------------------------------------------------------


@takes(direction=("theta", "phi"))
def ang2pix(nside: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike, nest: bool = False, lonlat: bool = False, latauto: bool = False,
            latbounce: bool = True) -> Any:
    """Pixels of directions: colatitude and longitude in radians, or with lonlat longitude and latitude in degrees.

    latauto: latitudes beyond the poles are folded back; latbounce=False: the longitude then turns by 180 degrees
    """
    if lonlat and latauto:
        (theta, phi), lonlat = lonlat2thetaphi(host(theta, "theta"), host(phi, "phi"), True, latbounce), False
    return _plain(_run(lib.kugel_healpix_ang2pix, nside, nest, _directions(theta, phi, lonlat), [(_I64, ())])[0])


def pix2ang(nside: npt.ArrayLike, ipix: npt.ArrayLike, nest: bool = False, lonlat: bool = False) -> tuple[Any, Any]:
    """Centres of pixels: colatitude and longitude in radians, or longitude and latitude in degrees."""
    theta, phi = _run(lib.kugel_healpix_pix2ang, nside, nest, [(ipix, _I64)], [(_F64, ()), (_F64, ())])
    theta, phi = thetaphi2lonlat(theta, phi) if lonlat else (theta, phi)
    return _plain(np.asarray(theta)), _plain(np.asarray(phi))


def vec2pix(nside: npt.ArrayLike, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike, nest: bool = False) -> Any:
    """Pixels of vectors of any length."""
    x, y, z = np.broadcast_arrays(x, y, z, np.asarray(nside))[:3] if np.ndim(nside) else np.broadcast_arrays(x, y, z)
    vec = np.stack([np.asarray(v, np.float64) for v in (x, y, z)], axis=-1)
    check_nside(nside, nest)
    out = np.empty(x.shape, np.int64)
    if np.ndim(nside) == 0:
        lib.kugel_healpix_vec2pix(None, int(nside), _order(nest), out.size, ptr(vec), ptr(out))
        return _plain(out)
    for one in np.unique(nside):
        where = np.broadcast_to(nside, x.shape) == one
        out[where] = vec2pix(int(one), x[where], y[where], z[where], nest)
    return out


def pix2vec(nside: npt.ArrayLike, ipix: npt.ArrayLike, nest: bool = False) -> tuple[Any, Any, Any]:
    """Centres of pixels as unit vectors: x, y, z."""
    vec = _run(lib.kugel_healpix_pix2vec, nside, nest, [(ipix, _I64)], [(_F64, (3,))])[0]
    return tuple(_plain(vec[..., i]) for i in range(3))


def pix2xyf(nside: npt.ArrayLike, ipix: npt.ArrayLike, nest: bool = False) -> tuple[Any, Any, Any]:
    """Coordinates in the base face, and the face, of pixels."""
    return tuple(_plain(a) for a in _run(lib.kugel_healpix_pix2xyf, nside, nest, [(ipix, _I64)], [(_I64, ())] * 3))


def xyf2pix(nside: npt.ArrayLike, x: npt.ArrayLike, y: npt.ArrayLike, face: npt.ArrayLike, nest: bool = False) -> Any:
    """Pixels at coordinates of base faces."""
    return _plain(_run(lib.kugel_healpix_xyf2pix, nside, nest, [(v, _I64) for v in (x, y, face)], [(_I64, ())])[0])


def _convert(nside, ipix, source):
    target = _ffi.KUGEL_ORDER_RING if source == _ffi.KUGEL_ORDER_NESTED else _ffi.KUGEL_ORDER_NESTED

    def function(ctx, one, order, n, pixels, out):
        lib.kugel_healpix_convert(ctx, one, source, target, n, pixels, out)

    return _plain(_run(function, nside, True, [(ipix, _I64)], [(_I64, ())])[0])


def ring2nest(nside: npt.ArrayLike, ipix: npt.ArrayLike) -> Any:
    """NEST numbers of RING pixels."""
    return _convert(nside, ipix, _ffi.KUGEL_ORDER_RING)


def nest2ring(nside: npt.ArrayLike, ipix: npt.ArrayLike) -> Any:
    """RING numbers of NEST pixels."""
    return _convert(nside, ipix, _ffi.KUGEL_ORDER_NESTED)


def nest2uniq(nside: npt.ArrayLike, ipix: npt.ArrayLike) -> Any:
    """Numbers 4 nside^2 + ipix of NEST pixels, which carry their nside."""

    def function(ctx, one, order, n, pixels, out):
        lib.kugel_healpix_nest2uniq(ctx, one, n, pixels, out)

    return _plain(_run(function, nside, True, [(ipix, _I64)], [(_I64, ())])[0])


def uniq2nest(uniq: npt.ArrayLike) -> tuple[Any, Any]:
    """nside and NEST pixel of numbers that carry their nside."""

    def function(ctx, one, order, n, numbers, *out):
        lib.kugel_healpix_uniq2nest(ctx, n, numbers, *out)

    return tuple(map(_plain, _run(function, 1, True, [(uniq, _I64)], [(_I64, ()), (_I64, ())])))


def pix2ring(nside: int, pix: npt.ArrayLike, nest: bool = False) -> Any:
    """The ring of each pixel, from 1 at the north."""
    return _plain(_run(lib.kugel_healpix_pix2ring, nside, nest, [(pix, _I64)], [(_I64, ())])[0])


def ringinfo(nside: int, ring: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """First RING pixel, number of pixels, cos theta, sin theta, and whether the first centre is off phi = 0."""

    def function(ctx, one, order, n, rings, *out):
        lib.kugel_healpix_rings(one, n, rings, *out)

    start, count, theta, shifted = _run(function, nside, False, [(ring, _I64)],
                                        [(_I64, ()), (_I64, ()), (_F64, ()), (_I64, ())])
    return tuple(map(_plain, (start, count, np.asarray(np.cos(theta)), np.asarray(np.sin(theta)),
                              shifted.astype(bool))))


def max_pixrad(nside: int, degrees: bool = False) -> Any:
    """Largest distance of a pixel's corner from its centre, radians or degrees."""
    check_nside(nside)
    radius = lib.kugel_healpix_max_pixel_radius(int(nside))
    return np.degrees(radius) if degrees else radius


# ---- neighbours, boundaries, interpolation ---------------------------------------------------------------------


@takes(direction=("theta", "phi"))
def get_all_neighbours(nside: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike | None = None, nest: bool = False,
                       lonlat: bool = False) -> np.ndarray:
    """The neighbours SW, W, NW, N, NE, E, SE, S, [8, ...], of pixels (phi None) or of the pixels of directions; -1: none."""
    pix = theta if phi is None else ang2pix(nside, theta, phi, nest, lonlat)
    out = _run(lib.kugel_healpix_neighbours, nside, nest, [(pix, _I64)], [(_I64, (8,))])[0]
    return np.moveaxis(out, -1, 0)


@takes(direction=("theta", "phi"))
def get_interp_weights(nside: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike | None = None, nest: bool = False,
                       lonlat: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Four pixels about each direction (or each pixel's centre, phi None) and their weights, both [4, ...]."""
    if phi is None:
        theta, phi = pix2ang(nside, theta, nest=nest)
        lonlat = False
    pix, weight = _run(lib.kugel_healpix_interpolation, nside, nest, _directions(theta, phi, lonlat),
                       [(_I64, (4,)), (_F64, (4,))])
    return np.moveaxis(pix, -1, 0), np.moveaxis(weight, -1, 0)


@takes(direction=("theta", "phi"))
def get_interp_val(m: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike, nest: bool = False, lonlat: bool = False) -> Any:
    """Map values at directions by bilinear interpolation; for several maps an array with a row each.

    kugel.points.interpolate sums the map's harmonics there instead, which is exact for maps without high ones."""
    several = maptype(m) != 0
    maps = np.asarray(filled(m))
    if maps.dtype.kind == "c":
        parts = (get_interp_val(part, theta, phi, nest, lonlat) for part in (maps.real, maps.imag))
        return next(parts) + 1j * next(parts)
    maps = np.ascontiguousarray(maps, np.float32 if maps.dtype == np.float32 else np.float64)
    nside = get_nside(maps)
    check_nside(nside, nest)
    theta, phi = (np.asarray(v, np.float64) for v, _ in _directions(theta, phi, lonlat))
    shape = np.broadcast_shapes(theta.shape, phi.shape)
    theta, phi = (np.ascontiguousarray(v if v.shape == shape else np.broadcast_to(v, shape)) for v in (theta, phi))
    out = np.empty(maps.shape[:-1] + (theta.size,))
    long_call(lib.kugel_healpix_interpolate, None, nside, _order(nest), view(maps), theta.size, ptr(theta), ptr(phi),
              view(out))
    out = out.reshape(maps.shape[:-1] + shape)
    return out if several else _plain(out)


def boundaries(nside: int, pix: npt.ArrayLike, step: Any = 1, nest: bool = False) -> np.ndarray:
    """Unit vectors [3, 4 step] (or [n, 3, 4 step]) along the edges of pixels, from the north corner through the west."""
    if step != int(step):
        raise TypeError(f"step is {step}; it must be whole")
    step = int(step)
    if step < 1:
        raise ValueError(f"step is {step}; it must be at least 1")

    def function(ctx, one, order, n, pixels, out):
        lib.kugel_healpix_boundaries(ctx, one, order, n, pixels, step, out)

    try:
        out = _run(function, nside, nest, [(pix, _I64)], [(_F64, (4 * step, 3))])[0]
    except TypeError as e:
        raise ValueError(str(e)) from None  # as healpy
    return np.swapaxes(out, -1, -2)


# ---- queries ---------------------------------------------------------------------------------------------------


_VECTOR = ctypes.c_double * 3
_PIXSET = ctypes.POINTER(_ffi.kugel_pixset)
_QUICK = 10000  # rings


def _query(function, quick, buff, return_ranges, *arguments):
    """Runs a query of the library: its pixels, in the memory of `buff` if it is given, or its ranges.
    quick: it takes no time that Ctrl-C would have to wait for"""
    if buff is not None and return_ranges:
        raise ValueError("Cannot use both buff and return_ranges: ranges are returned in an array of their own")
    out = _PIXSET()
    if quick:
        function(None, *arguments, ctypes.byref(out))
    else:
        long_call(function, None, *arguments, ctypes.byref(out))
    try:
        found = out.contents
        if not return_ranges:
            count = found.n_pixels
            pixels = np.empty(count, np.int64) if buff is None else _buffer(buff, count)
            if count:
                lib.kugel_pixset_pixels(out, ptr(pixels))
            return pixels
        ranges = np.empty((found.n_ranges, 2), np.int64)
        if ranges.size:
            ctypes.memmove(ptr(ranges), found.ranges, ranges.nbytes)
        return ranges
    finally:
        lib.kugel_pixset_destroy(out)


def _buffer(buff, total):
    if not isinstance(buff, np.ndarray) or buff.dtype != np.int64 or not buff.flags.c_contiguous:
        raise ValueError("buff must be a contiguous int64 array")
    writable(buff, "buff")
    if buff.size < total:
        raise ValueError(f"buff has room for {buff.size} pixels; {total} are needed")
    return buff.reshape(-1)[:total]


@takes("radius", vectors=("vec",))
def query_disc(nside: int, vec: npt.ArrayLike, radius: Any, inclusive: bool = False, fact: int = 4, nest: bool = False, buff: Any = None,
               return_ranges: bool = False) -> np.ndarray:
    """Pixels, rising, whose centres lie within `radius` (radians) of the direction vec [3].

    inclusive: all that overlap the disc; `fact` is accepted and ignored: overlap is found without oversampling
    buff:      an int64 array for the result, which is then a view of its beginning
    return_ranges: [n, 2] ranges [first, last + 1) instead; not with buff
    """
    check_nside(nside, nest)
    vec = np.asarray(vec, np.float64)
    if vec.shape != (3,):
        raise ValueError(f"vec has shape {vec.shape}; expected (3,)")
    if 0 <= nside * radius < 30 and buff is None and not return_ranges:
        return _small_disc(int(nside), vec.tobytes(), float(radius), bool(inclusive), nest)
    return _query(lib.kugel_healpix_query_disc, nside * radius < _QUICK, buff, return_ranges, int(nside), _order(nest),
                  vec.tobytes(), float(radius), int(bool(inclusive)))


_list_disc = bare("kugel_healpix_list_disc")


def _small_disc(nside, vec, radius, inclusive, nest):
    """A query whose time goes into calls rather than pixels: one call, with room for all pixels it may find."""
    around = nside * radius + 4.0
    pixels, count = np.empty(int(4 * around * around), np.int64), ctypes.c_int64()
    status = _list_disc(None, nside, 2 if nest else 1, vec, radius, inclusive, pixels.size, ptr(pixels),
                        ctypes.byref(count))
    if status:
        check(status)
    return pixels[:count.value].copy()


@takes("theta1", "theta2")
def query_strip(nside: int, theta1: npt.ArrayLike, theta2: npt.ArrayLike, inclusive: bool = False, nest: bool = False, buff: Any = None,
                return_ranges: bool = False) -> np.ndarray:
    """Pixels, rising, whose centres lie between two colatitudes (radians); theta1 > theta2: the caps outside."""
    check_nside(nside, nest)
    return _query(lib.kugel_healpix_query_strip, nside < _QUICK, buff, return_ranges, int(nside), _order(nest),
                  float(theta1), float(theta2), int(bool(inclusive)))


def query_polygon(nside: int, vertices: npt.ArrayLike, inclusive: bool = False, fact: int = 4, nest: bool = False, buff: Any = None,
                  return_ranges: bool = False) -> np.ndarray:
    """Pixels, rising, whose centres lie in a convex polygon with vertices [n, 3]; inclusive: all that overlap it and
    possibly a few near its corners."""
    check_nside(nside, nest)
    v = np.ascontiguousarray(vertices, np.float64)
    if v.ndim != 2 or v.shape[1] != 3 or len(v) < 3:
        raise ValueError(f"vertices have shape {v.shape}; expected (n, 3) with n of at least 3")
    return _query(lib.kugel_healpix_query_polygon, nside * len(v) < _QUICK, buff, return_ranges, int(nside), _order(nest),
                  len(v), ptr(v), int(bool(inclusive)))


def ranges2uniq(nside: int, ranges: npt.ArrayLike) -> np.ndarray:
    """The fewest pixels of any size, as numbers 4 nside^2 + pixel, that make up NEST ranges [n, 2] at nside."""
    check_nside(nside, nest=True)
    ranges = np.ascontiguousarray(ranges, np.int64).reshape(-1, 2)
    found = _ffi.kugel_pixset(n_ranges=len(ranges), ranges=ptr(ranges))
    count = ctypes.c_int64()
    lib.kugel_pixset_to_uniq(ctypes.byref(found), int(nside), ctypes.byref(count), None)
    uniq = np.empty(count.value, np.int64)
    lib.kugel_pixset_to_uniq(ctypes.byref(found), int(nside), ctypes.byref(count), ptr(uniq))
    return uniq


def uniq2ranges(nside: int, uniq: npt.ArrayLike) -> np.ndarray:
    """NEST ranges [n, 2] at nside that pixels of any size, as numbers 4 nside^2 + pixel, cover."""
    check_nside(nside, nest=True)
    uniq = np.ascontiguousarray(_numbers(uniq, _I64)).ravel()
    return _query(lib.kugel_pixset_from_uniq, uniq.size < 1000, None, True, int(nside), uniq.size, ptr(uniq))


# ---- maps ------------------------------------------------------------------------------------------------------


_FLAT = {f"FLAT_{corner}{turn}": getattr(_ffi, f"KUGEL_ORDER_FLAT_{corner}{turn}")
         for corner in "SENW" for turn in ("", "_CLOCKWISE")}


def _named_order(name, flat=False):
    word = str(name).upper()
    if word[:4] in ("RING", "NEST"):
        return _order(word[:4] == "NEST")
    if flat and word in _FLAT:
        return _FLAT[word]
    raise ValueError(f"order is {name!r}; it must be RING or NEST" + (f", or one of {', '.join(_FLAT)}" if flat else ""))


_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}


def _reorder_there(there, source, target, stream):
    """Reorder of an array in device memory, on its stream."""
    where = context({_ffi.KUGEL_CUDA: "cuda", _ffi.KUGEL_OPENCL: "opencl"}[there.view.device.type] +
                    f":{there.view.device.id}")
    result = empty_like(there, there.shape, there.dtype, False)
    stream = there.stream if stream is None else stream
    queue = None if stream is None else where.queue(stream_handle(stream))
    lib.kugel_healpix_reorder(where.address, npix2nside(there.shape[-1]), source, target, ctypes.byref(there.view),
                              ctypes.byref(foreign(result).view), queue)
    return result


def reorder(map_in: npt.ArrayLike, inp: npt.ArrayLike | None = None, out: Any = None, r2n: npt.ArrayLike | None = None,
            n2r: npt.ArrayLike | None = None, *, stream: Any = None) -> Any:
    """Maps in another ordering: r2n=True or n2r=True, or inp and out, each "RING", "NEST" or a flat layout.

    In a flat layout faces are squares, [12, nside, nside], row by row: "FLAT_S", "FLAT_E", "FLAT_N" or "FLAT_W" by the
    corner of a face that comes first, columns and rows right-handed as seen from outside the sphere; with "_CLOCKWISE"
    appended columns and rows change places.

    map_in: [..., npix], in host memory or in a device's (kugel.DeviceArray, PyTorch, CuPy, DLPack), where the result
    then is, too;  stream: the CUDA stream to work on, if not the array's own
    """
    if bool(r2n) and bool(n2r):
        raise ValueError("r2n and n2r exclude each other")
    if r2n or n2r:
        inp, out = ("RING", "NEST") if r2n else ("NEST", "RING")
    if inp is None or out is None:
        raise ValueError("inp and out must be defined")
    source, target = _named_order(inp, flat=True), _named_order(out, flat=True)
    there = foreign(map_in)
    if there is not None:
        return _reorder_there(there, source, target, stream)
    maptype(map_in)
    m = filled(map_in)
    if m.dtype.kind not in "biufc" or m.itemsize not in (1, 2, 4, 8, 16):
        raise TypeError(f"maps of dtype {m.dtype} cannot be reordered")
    m = np.ascontiguousarray(m, m.dtype.newbyteorder("="))
    result = m.copy() if source == target else np.empty_like(m)
    if source != target:
        words = _WORDS[m.itemsize]
        nside = get_nside(m)
        check_nside(nside, nest=_ffi.KUGEL_ORDER_NESTED in (source, target))
        long_call(lib.kugel_healpix_reorder, None, nside, source, target, view(m.view(words)), view(result.view(words)),
                  None)
    return ma(result) if is_masked(map_in) else result


def ud_grade(map_in: npt.ArrayLike, nside_out: int, pess: bool = False, order_in: str = "RING", order_out: str | None = None,
             power: npt.ArrayLike | None = None, dtype: Any = None) -> Any:
    """Maps at another nside (powers of two): means of the good children, or copies of the parent.

    pess:  a pixel with any bad child is bad, else one with all children bad
    power: multiply by (nside_out / nside_in)^power; -2 keeps sums
    """
    maptype(map_in)
    nside = get_nside(map_in)
    check_nside(nside_out, nest=True)
    check_nside(nside, nest=True)
    source = _named_order(order_in)
    target = source if order_out is None else _named_order(order_out)
    m = filled(map_in)
    kind = np.dtype(dtype) if dtype is not None else m.dtype.newbyteorder("=")
    m = np.ascontiguousarray(m, np.float32 if m.dtype.newbyteorder("=") == np.float32 else np.float64)
    out = np.empty(m.shape[:-1] + (nside2npix(int(nside_out)),), m.dtype)
    opts = options(_ffi.kugel_ud_grade_opts, pessimistic=int(bool(pess)), power=float(power or 0.0))
    long_call(lib.kugel_healpix_ud_grade, None, nside, source, view(m), int(nside_out), target, view(out),
              ctypes.byref(opts))
    out = ma(out) if is_masked(map_in) else out
    return out.astype(kind, copy=False) if kind.kind == "f" or not is_masked(out) else out


# ---- monopole and dipole ---------------------------------------------------------------------------------------


def _marked(m, bad):
    """A contiguous float64 map with bad pixels UNSEEN, and whether it is a copy."""
    maptype(m)
    if maptype(m) != 0:
        raise TypeError("one map is fitted at a time")
    values = np.ascontiguousarray(filled(m), np.float64)
    if bad != UNSEEN:
        values = np.where(values == bad, UNSEEN, values)
    return values


def _fit(m, nest, bad, gal_cut, monopole_only):
    values = _marked(m, bad)
    monopole, dipole = ctypes.c_double(), np.zeros(3)
    opts = options(_ffi.kugel_dipole_opts, nest=int(bool(nest)), gal_cut=float(np.deg2rad(gal_cut)),
                   monopole_only=int(monopole_only))
    long_call(lib.kugel_healpix_fit_dipole, None, get_nside(values), ptr(values), ctypes.byref(opts),
              ctypes.byref(monopole), ptr(dipole))
    return monopole.value, dipole


def fit_monopole(m: npt.ArrayLike, nest: bool = False, bad: float = UNSEEN, gal_cut: float = 0) -> Any:
    """The mean of the good pixels with |latitude| of at least gal_cut degrees."""
    return _fit(m, nest, bad, gal_cut, True)[0]


def fit_dipole(m: npt.ArrayLike, nest: bool = False, bad: float = UNSEEN, gal_cut: float = 0) -> Any:
    """Least-squares monopole and dipole vector of the good pixels."""
    return _fit(m, nest, bad, gal_cut, False)


def _remove(m, nest, bad, gal_cut, copy, monopole_only):
    monopole, dipole = _fit(m, nest, bad, gal_cut, monopole_only)
    masked = is_masked(m)
    out = np.array(filled(m)) if copy or not isinstance(m, np.ndarray) else np.asarray(m)
    if out.dtype.kind not in "f":
        out = out.astype(np.float64)
    good = np.isfinite(out) & mask_good(out, bad)
    if monopole_only:
        out[good] -= monopole
    else:
        nside, npix = get_nside(out), out.size
        for first in range(0, npix, 1 << 20):
            pix = np.arange(first, min(first + (1 << 20), npix))
            x, y, z = pix2vec(nside, pix, nest=nest)
            part = out[first:first + (1 << 20)]
            part[good[first:first + (1 << 20)]] -= (
                monopole + dipole[0] * x + dipole[1] * y + dipole[2] * z)[good[first:first + (1 << 20)]]
    return (ma(out, badval=bad, copy=False) if masked else out), monopole, dipole


def remove_monopole(m: npt.ArrayLike, nest: bool = False, bad: float = UNSEEN, gal_cut: float = 0, fitval: bool = False, copy: bool = True,
                    verbose: bool = True) -> Any:
    """The map without its mean; fitval=True: and the mean."""
    out, monopole, _ = _remove(m, nest, bad, gal_cut, copy, True)
    return (out, monopole) if fitval else out


def remove_dipole(m: npt.ArrayLike, nest: bool = False, bad: float = UNSEEN, gal_cut: float = 0, fitval: bool = False, copy: bool = True,
                  verbose: bool = True) -> Any:
    """The map without monopole and dipole; fitval=True: and both."""
    out, monopole, dipole = _remove(m, nest, bad, gal_cut, copy, False)
    return (out, monopole, dipole) if fitval else out
