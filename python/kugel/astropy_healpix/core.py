# SPDX-License-Identifier: BSD-3-Clause
"""Functions of astropy_healpix: sizes, pixels, directions as quantities of astropy."""
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .. import pixelfunc
from ..extras import need
from ..insides import ang2inside, inside2ang, vec2inside
from ..maps import isnpixok, isnsideok

coordinates, u = need("astropy.coordinates", "kugel.astropy_healpix"), need("astropy.units", "kugel.astropy_healpix")

if TYPE_CHECKING:
    import numpy.typing as npt


def _nested(order):
    if order not in ("nested", "NESTED", "ring", "RING"):
        raise ValueError("order must be 'nested' or 'ring'")
    return order.lower() == "nested"


def _nside(nside):
    nside = np.asarray(nside)
    if not np.all(isnsideok(nside, True)):
        raise ValueError("nside must be a power of two")
    return nside.astype(np.int64)


def _where(name: str, good: Any, call: Callable[..., Any], *values: Any, missing: Any = (-1,)) -> Any:
    """call(*values) where they are good, elsewhere `missing` with the warning that NumPy's functions give."""
    if not np.all(good):
        how, text = np.geterr()["invalid"], f"invalid value encountered in {name}"
        if how == "raise":
            raise FloatingPointError(text)
        if how != "ignore":
            warnings.warn(text, RuntimeWarning, stacklevel=3)
        values = [np.where(good, v, 1) for v in values]  # every map has a pixel 1
    results = call(*values)
    results = results if isinstance(results, tuple) else (results,)
    if not np.all(good):
        results = tuple(pixelfunc._plain(np.where(good, r, m)) for r, m in zip(results, missing))
    return results[0] if len(missing) == 1 else results


def _pixels(name, pixel, nside, call, **words):
    pixel = np.asarray(pixel)
    return _where(name, (pixel >= 0) & (pixel < 12 * nside * nside), call, pixel, **words)


def _angles(lon, lat):
    """theta from 0 to pi, and phi; a latitude beyond a pole goes down on the other side."""
    lon, lat = lon.to_value(u.rad), lat.to_value(u.rad)
    with np.errstate(invalid="ignore"):
        theta = np.pi / 2 - lat
        fits = ~((theta < 0) | (theta > np.pi))
        return (theta, lon) if np.all(fits) else (np.where(fits, theta, np.arccos(np.sin(lat))), np.where(fits, lon, lon + np.pi * (np.cos(lat) < 0)))


# ---- sizes -----------------------------------------------------------------------------------------------------


def level_to_nside(level: npt.ArrayLike) -> Any:
    """2^level."""
    level = np.asarray(level, np.int64)
    if np.any(level < 0):
        raise ValueError("level must be positive")
    return 2**level


def nside_to_level(nside: npt.ArrayLike) -> Any:
    """log2(nside); -1: nside is not a power of two."""
    good = isnsideok(nside, True)
    return pixelfunc._plain(np.where(good, np.log2(np.where(good, nside, 1)).round().astype(np.int64), -1))


def uniq_to_level_ipix(uniq: npt.ArrayLike) -> tuple[Any, Any]:
    """Level and NEST pixel of numbers 4 nside^2 + pixel; -1 for numbers below 4."""
    uniq = np.asarray(uniq)
    good = uniq >= 4
    nside, pixel = pixelfunc.uniq2nest(np.where(good, uniq, 4))
    return pixelfunc._plain(np.where(good, nside_to_level(nside), -1)), pixelfunc._plain(np.where(good, pixel, -1))


def level_ipix_to_uniq(level: npt.ArrayLike, ipix: npt.ArrayLike) -> Any:
    """Numbers 4 nside^2 + ipix of NEST pixels at a level."""
    level, ipix = np.asarray(level).astype(np.int64), np.asarray(ipix).astype(np.int64)
    if np.any(ipix >= 12 * level_to_nside(level)**2):
        raise ValueError("ipix for a specific level must be inferior to npix")
    return pixelfunc.nest2uniq(2**level, ipix)


def nside_to_pixel_area(nside: npt.ArrayLike) -> Any:
    """The area of a pixel, in sr."""
    return 4 * np.pi / nside_to_npix(nside) * u.sr


def nside_to_pixel_resolution(nside: npt.ArrayLike) -> Any:
    """The square root of the area of a pixel, in arcmin."""
    return (nside_to_pixel_area(nside)**0.5).to(u.arcmin)


def pixel_resolution_to_nside(resolution: Any, round: str = "nearest") -> Any:
    """The power of two whose pixels have the resolution (an angle), rounded "up" (pixels at most so large), "nearest" or "down"."""
    level = np.log2(np.sqrt(np.pi / 3) / resolution.to(u.rad).value)
    if round not in ("up", "nearest", "down"):
        raise ValueError(f"Invalid value for round: {round!r}")
    return level_to_nside(np.maximum({"up": np.ceil, "nearest": np.round, "down": np.floor}[round](level), 0))


def nside_to_npix(nside: npt.ArrayLike) -> Any:
    """12 nside^2."""
    return pixelfunc._plain(12 * _nside(nside)**2)


def npix_to_nside(npix: npt.ArrayLike) -> Any:
    """nside of maps of npix pixels."""
    npix = np.asarray(npix)
    if np.any(npix % 12):
        raise ValueError("Number of pixels must be divisible by 12")
    if not np.all(isnpixok(npix)):
        raise ValueError("Number of pixels is not of the form 12 * nside ** 2")
    return pixelfunc._plain(np.sqrt(npix / 12).round().astype(np.int64))


# ---- pixels and directions -------------------------------------------------------------------------------------


def _inside(pixel, nside, dx, dy, order, name):
    nside, nest = _nside(nside), _nested(order)
    offsets = []
    for axis, offset in (("x", dx), ("y", dy)):
        offsets.append(np.asarray(0.5 if offset is None else offset, float))
        if np.any((offsets[-1] < 0) | (offsets[-1] > 1)):
            raise ValueError(f"d{axis} must be in the range [0:1]")
    if dx is None and dy is None:
        return _pixels(name, pixel, nside, lambda p: pixelfunc.pix2ang(nside, p, nest), missing=(np.nan, np.nan))
    pixel, *offsets = np.broadcast_arrays(pixel, *offsets)
    return _pixels(name, pixel, nside, lambda p: inside2ang(nside, p, *offsets, nest), missing=(np.nan, np.nan))


def healpix_to_lonlat(healpix_index: npt.ArrayLike, nside: npt.ArrayLike, dx: npt.ArrayLike | None = None, dy: npt.ArrayLike | None = None,
                      order: str = "ring") -> tuple[Any, Any]:
    """Longitude and Latitude of the centres of pixels, or of places in them: dx, dy from the south corner, 0 to 1, to the east and west ones."""
    theta, phi = _inside(healpix_index, nside, dx, dy, order, "healpix_to_lonlat")
    return coordinates.Longitude(phi, unit=u.rad), coordinates.Latitude(np.pi / 2 - theta, unit=u.rad)


def healpix_to_xyz(healpix_index: npt.ArrayLike, nside: npt.ArrayLike, dx: npt.ArrayLike | None = None, dy: npt.ArrayLike | None = None,
                   order: str = "ring") -> tuple[Any, Any, Any]:
    """x, y, z of the centres of pixels, or of the places dx, dy in them."""
    theta, phi = _inside(healpix_index, nside, dx, dy, order, "healpix_to_xyz")
    return np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)


def lonlat_to_healpix(lon: Any, lat: Any, nside: npt.ArrayLike, return_offsets: bool = False, order: str = "ring") -> Any:
    """Pixels of directions; with return_offsets pixels, dx and dy."""
    nest, nside = _nested(order), _nside(nside)
    theta, phi = _angles(lon, lat)
    good = np.isfinite(theta) & np.isfinite(phi)
    if return_offsets:
        return _where("lonlat_to_healpix", good, lambda t, p: ang2inside(nside, t, p, nest), theta, phi, missing=(-1, np.nan, np.nan))
    return _where("lonlat_to_healpix", good, lambda t, p: pixelfunc.ang2pix(nside, t, p, nest), theta, phi)


def xyz_to_healpix(x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike, nside: npt.ArrayLike, return_offsets: bool = False,
                   order: str = "ring") -> Any:
    """Pixels of vectors of any length; with return_offsets pixels, dx and dy."""
    nest, nside = _nested(order), _nside(nside)
    x, y, z = np.broadcast_arrays(*(np.asarray(a, float) for a in (x, y, z)))
    with np.errstate(over="ignore"):
        good = np.isfinite(x + y + z) & ((x != 0) | (y != 0) | (z != 0))
    if return_offsets:
        return _where("xyz_to_healpix", good, lambda *v: vec2inside(nside, *v, nest), x, y, z, missing=(-1, np.nan, np.nan))
    return _where("xyz_to_healpix", good, lambda *v: pixelfunc.vec2pix(nside, *v, nest), x, y, z)


def nested_to_ring(nested_index: npt.ArrayLike, nside: npt.ArrayLike) -> Any:
    """RING pixels of NEST ones."""
    nside = _nside(nside)
    return _pixels("nested_to_ring", nested_index, nside, lambda p: pixelfunc.nest2ring(nside, p))


def ring_to_nested(ring_index: npt.ArrayLike, nside: npt.ArrayLike) -> Any:
    """NEST pixels of RING ones."""
    nside = _nside(nside)
    return _pixels("ring_to_nested", ring_index, nside, lambda p: pixelfunc.ring2nest(nside, p))


def _weights(theta, phi, nside, nest):
    pixels, weights = pixelfunc.get_interp_weights(nside, theta, phi, nest)
    # Pairs in a ring: first that of the pixel which holds the direction (or the heavier one), in a pair the heavier pixel.
    pairs = [a.reshape(2, 2, *a.shape[1:]) for a in (pixels, weights)]
    own = pixelfunc.pix2ring(nside, pairs[0][:, 0], nest) == pixelfunc.pix2ring(nside, pixelfunc.ang2pix(nside, theta, phi, nest), nest)
    swap = (2 * own + pairs[1].sum(axis=1))
    swap = swap[1] > swap[0]
    order = np.argsort(-pairs[1], axis=1, kind="stable")
    pairs = [np.take_along_axis(a, order, axis=1) for a in pairs]
    return tuple(np.where(swap, a[::-1], a).reshape(4, *a.shape[2:]) for a in pairs)


def bilinear_interpolation_weights(lon: Any, lat: Any, nside: int, order: str = "ring") -> tuple[np.ndarray, np.ndarray]:
    """Four pixels about each direction and their weights, both [4, ...]."""
    nside, nest = _nside(nside), _nested(order)
    theta, phi = np.broadcast_arrays(*_angles(lon, lat))
    good = np.isfinite(theta) & np.isfinite(phi)
    return _where("bilinear_interpolation_weights", good, lambda t, p: _weights(t, p, nside, nest), theta, phi, missing=(-1, np.nan))


def interpolate_bilinear_lonlat(lon: Any, lat: Any, values: npt.ArrayLike, order: str = "ring") -> Any:
    """Values at directions, of maps [npix, ...]: [directions, ...]."""
    values = np.asanyarray(values)
    pixels, weights = bilinear_interpolation_weights(lon, lat, npix_to_nside(values.shape[0]), order)
    return (values[pixels].T * weights.T).T.sum(axis=0)


def neighbours(healpix_index: npt.ArrayLike, nside: npt.ArrayLike, order: str = "ring") -> np.ndarray:
    """The neighbours SW, W, NW, N, NE, E, SE, S of pixels, [8, ...]; -1: none."""
    nside, nest = _nside(nside), _nested(order)
    return _pixels("neighbours", healpix_index, nside, lambda p: pixelfunc.get_all_neighbours(nside, p, nest=nest))


def healpix_cone_search(lon: Any, lat: Any, radius: Any, nside: int, order: str = "ring") -> np.ndarray:
    """The pixels, rising, that overlap a disc about one direction."""
    nside, nest = _nside(nside), _nested(order)
    theta, phi = _angles(lon, lat)
    return pixelfunc.query_disc(int(nside), pixelfunc.ang2vec(theta, phi), radius.to_value(u.rad), inclusive=True, nest=nest)


def boundaries_lonlat(healpix_index: npt.ArrayLike, step: int, nside: int, order: str = "ring") -> tuple[Any, Any]:
    """Longitude and Latitude [pixels, 4 step] along the edges of pixels, from the north corner through the west."""
    step = int(step)
    if step < 1:
        raise ValueError("step must be at least 1")
    edge, low, high = np.linspace(0, 1, step + 1)[:-1], np.zeros(step), np.ones(step)
    dx, dy = np.concatenate([1 - edge, low, edge, high]), np.concatenate([high, 1 - edge, low, edge])
    return healpix_to_lonlat(np.ravel(healpix_index)[:, None], nside, dx, dy, order)
