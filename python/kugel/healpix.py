# SPDX-License-Identifier: BSD-3-Clause
"""The functions of the package `healpix` (2025.1) and of its module `chealpix`, with their arguments and results.

    import kugel.healpix as healpix
    theta, phi = healpix.randang(64, pixels)

Pixels are whole numbers, checked: one outside its map is an error. Output arrays as arguments are not taken. As in that package, angles are
theta, phi in radians or with lonlat longitude, latitude in degrees, and longitudes of vectors lie in -pi to pi.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import pixelfunc
from .insides import ang2inside, inside2ang, vec2inside
from .maps import MAX_NSIDE, isnpixok, isnsideok
from .pixelfunc import ang2pix, nest2ring, pix2ang, pix2vec, ring2nest, vec2pix

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["NSIDE_MAX", "ang2nest", "ang2nest_uv", "ang2pix", "ang2ring", "ang2ring_uv", "ang2vec", "check_nside", "is_power_of_two",
           "lonlat_from_thetaphi", "nest2ang", "nest2ang_uv", "nest2ring", "nest2uniq", "nest2vec", "nest2vec_uv", "npix2nside", "nside2npix",
           "nside2order", "order2nside", "pix2ang", "pix2uniq", "pix2vec", "randang", "randvec", "ring2ang", "ring2ang_uv", "ring2nest",
           "ring2uniq", "ring2vec", "ring2vec_uv", "thetaphi_from_lonlat", "uniq2nest", "uniq2pix", "uniq2ring", "vec2ang", "vec2nest",
           "vec2nest_uv", "vec2pix", "vec2ring", "vec2ring_uv"]

NSIDE_MAX = MAX_NSIDE


def is_power_of_two(n: int) -> bool:
    """Whether n is a power of two (or 0)."""
    return (n & (n - 1)) == 0


def check_nside(nside: npt.ArrayLike, nest: bool = False) -> None:
    """ValueError unless nside is 1 to NSIDE_MAX and, with nest, a power of two."""
    pixelfunc.check_nside(nside, nest)


def thetaphi_from_lonlat(lon: npt.ArrayLike, lat: npt.ArrayLike) -> tuple[Any, Any]:
    """theta, phi in radians of longitude and latitude in degrees."""
    return np.pi / 2 - np.deg2rad(lat), np.deg2rad(lon)


def lonlat_from_thetaphi(theta: npt.ArrayLike, phi: npt.ArrayLike) -> tuple[Any, Any]:
    """Longitude and latitude in degrees of theta, phi in radians."""
    return np.rad2deg(phi), 90 - np.rad2deg(theta)


def ang2vec(theta: npt.ArrayLike, phi: npt.ArrayLike, lonlat: bool = False) -> tuple[Any, Any, Any]:
    """Unit vectors x, y, z."""
    if lonlat:
        theta, phi = thetaphi_from_lonlat(theta, phi)
    sine = np.sin(theta)
    return sine * np.cos(phi), sine * np.sin(phi), np.cos(theta) + 0 * sine * np.asarray(phi)


def vec2ang(x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike, lonlat: bool = False) -> tuple[Any, Any]:
    """Directions of vectors of any length."""
    angles = np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)
    return lonlat_from_thetaphi(*angles) if lonlat else angles


# ---- one ordering each -----------------------------------------------------------------------------------------


def ang2nest(nside: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike) -> Any:
    """NEST pixels of directions."""
    return ang2pix(nside, theta, phi, True)


def ang2ring(nside: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike) -> Any:
    """RING pixels of directions."""
    return ang2pix(nside, theta, phi)


def nest2ang(nside: npt.ArrayLike, ipix: npt.ArrayLike) -> tuple[Any, Any]:
    """Centres of NEST pixels: theta, phi."""
    return pix2ang(nside, ipix, True)


def ring2ang(nside: npt.ArrayLike, ipix: npt.ArrayLike) -> tuple[Any, Any]:
    """Centres of RING pixels: theta, phi."""
    return pix2ang(nside, ipix)


def vec2nest(nside: npt.ArrayLike, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike) -> Any:
    """NEST pixels of vectors."""
    return vec2pix(nside, x, y, z, True)


def vec2ring(nside: npt.ArrayLike, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike) -> Any:
    """RING pixels of vectors."""
    return vec2pix(nside, x, y, z)


def nest2vec(nside: npt.ArrayLike, ipix: npt.ArrayLike) -> tuple[Any, Any, Any]:
    """Centres of NEST pixels: x, y, z."""
    return pix2vec(nside, ipix, True)


def ring2vec(nside: npt.ArrayLike, ipix: npt.ArrayLike) -> tuple[Any, Any, Any]:
    """Centres of RING pixels: x, y, z."""
    return pix2vec(nside, ipix)


# ---- inside pixels ---------------------------------------------------------------------------------------------


def ang2nest_uv(nside: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike) -> tuple[Any, Any, Any]:
    """NEST pixels of directions, and the places in them: u, v from the south corner, 0 to 1, to the east and to the west one."""
    return ang2inside(nside, theta, phi, True)


def ang2ring_uv(nside: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike) -> tuple[Any, Any, Any]:
    """RING pixels of directions, and the places u, v in them."""
    return ang2inside(nside, theta, phi)


def vec2nest_uv(nside: npt.ArrayLike, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike) -> tuple[Any, Any, Any]:
    """NEST pixels of vectors, and the places u, v in them."""
    return vec2inside(nside, x, y, z, True)


def vec2ring_uv(nside: npt.ArrayLike, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike) -> tuple[Any, Any, Any]:
    """RING pixels of vectors, and the places u, v in them."""
    return vec2inside(nside, x, y, z)


def nest2ang_uv(nside: npt.ArrayLike, ipix: npt.ArrayLike, u: npt.ArrayLike, v: npt.ArrayLike) -> tuple[Any, Any]:
    """theta, phi of places u, v in NEST pixels."""
    return inside2ang(nside, ipix, u, v, True)


def ring2ang_uv(nside: npt.ArrayLike, ipix: npt.ArrayLike, u: npt.ArrayLike, v: npt.ArrayLike) -> tuple[Any, Any]:
    """theta, phi of places u, v in RING pixels."""
    return inside2ang(nside, ipix, u, v)


def nest2vec_uv(nside: npt.ArrayLike, ipix: npt.ArrayLike, u: npt.ArrayLike, v: npt.ArrayLike) -> tuple[Any, Any, Any]:
    """x, y, z of places u, v in NEST pixels."""
    return ang2vec(*inside2ang(nside, ipix, u, v, True))


def ring2vec_uv(nside: npt.ArrayLike, ipix: npt.ArrayLike, u: npt.ArrayLike, v: npt.ArrayLike) -> tuple[Any, Any, Any]:
    """x, y, z of places u, v in RING pixels."""
    return ang2vec(*inside2ang(nside, ipix, u, v))


def randang(nside: npt.ArrayLike, ipix: npt.ArrayLike, nest: bool = False, lonlat: bool = False,
            rng: np.random.Generator | None = None) -> tuple[Any, Any]:
    """A direction in each pixel, uniform over its area; rng: of NumPy, a new one if None."""
    rng = np.random.default_rng() if rng is None else rng
    u, v = rng.random(np.shape(ipix)), rng.random(np.shape(ipix))
    angles = inside2ang(nside, ipix, u, v, nest)
    return lonlat_from_thetaphi(*angles) if lonlat else angles


def randvec(nside: npt.ArrayLike, ipix: npt.ArrayLike, nest: bool = False, rng: np.random.Generator | None = None) -> tuple[Any, Any, Any]:
    """A unit vector in each pixel, uniform over its area; rng: of NumPy, a new one if None."""
    return ang2vec(*randang(nside, ipix, nest, rng=rng))


# ---- sizes, and pixels that carry their order ------------------------------------------------------------------


def _or_minus_one(good, value):
    return pixelfunc._plain(np.where(good, value, -1))


def nside2npix(nside: npt.ArrayLike) -> Any:
    """12 nside^2."""
    return 12 * nside * nside  # type: ignore[operator]


def npix2nside(npix: npt.ArrayLike) -> Any:
    """nside of maps of npix pixels; -1: there is none."""
    return _or_minus_one(isnpixok(npix), np.sqrt(np.maximum(npix, 0) / 12).round().astype(np.int64))


def nside2order(nside: npt.ArrayLike) -> Any:
    """log2(nside); -1: not a power of two."""
    return _or_minus_one(isnsideok(nside, True), np.log2(np.maximum(nside, 1)).round().astype(np.int64))


def order2nside(order: npt.ArrayLike) -> Any:
    """2^order; -1: the order is not 0 to 29."""
    order = np.asarray(order)
    return _or_minus_one((order >= 0) & (order < 30), 1 << np.clip(order, 0, 29))


def nest2uniq(order: npt.ArrayLike, ipix: npt.ArrayLike) -> Any:
    """Numbers 4 nside^2 + ipix of NEST pixels at an order, 0 to 29."""
    return pixelfunc.nest2uniq(order2nside(order), ipix)


def ring2uniq(order: npt.ArrayLike, ipix: npt.ArrayLike) -> Any:
    """Numbers 4 nside^2 + NEST pixel of RING pixels at an order, 0 to 29."""
    return nest2uniq(order, ring2nest(order2nside(order), ipix))


def uniq2nest(uniq: npt.ArrayLike) -> tuple[Any, Any]:
    """Order and NEST pixel of numbers 4 nside^2 + pixel."""
    nside, pixel = pixelfunc.uniq2nest(uniq)
    return nside2order(nside), pixel


def uniq2ring(uniq: npt.ArrayLike) -> tuple[Any, Any]:
    """Order and RING pixel of numbers 4 nside^2 + NEST pixel."""
    order, pixel = uniq2nest(uniq)
    return order, nest2ring(order2nside(order), pixel)


def uniq2pix(uniq: npt.ArrayLike, nest: bool = False) -> tuple[Any, Any]:
    """Order and pixel, RING or with nest NEST, of numbers 4 nside^2 + NEST pixel."""
    return uniq2nest(uniq) if nest else uniq2ring(uniq)


def pix2uniq(order: npt.ArrayLike, ipix: npt.ArrayLike, nest: bool = False) -> Any:
    """Numbers 4 nside^2 + NEST pixel of pixels at an order, RING or with nest NEST."""
    return nest2uniq(order, ipix) if nest else ring2uniq(order, ipix)
