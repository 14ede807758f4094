# SPDX-License-Identifier: BSD-3-Clause
"""Angles and vectors: theta and phi in radians, or longitude and latitude in degrees, to x, y, z and back."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .units import takes

if TYPE_CHECKING:
    import numpy.typing as npt


def lonlat2thetaphi(lon: npt.ArrayLike, lat: npt.ArrayLike, latauto: bool = False, latbounce: bool = True) -> tuple[Any, Any]:
    """Colatitude and longitude in radians of longitude and latitude in degrees.

    latauto:   latitudes beyond the poles are folded back
    latbounce: False: the longitude of those turns by 180 degrees, as on a path through the pole

        kugel.pixelfunc.lonlat2thetaphi(10, 100, latauto=True, latbounce=False)     # latitude 80, longitude 190
    """
    if latauto:
        lon, lat = np.asarray(lon, np.float64), np.asarray(lat, np.float64)
        lat = (lat + 180.0) % 360.0 - 180.0
        beyond = np.abs(lat) > 90.0
        lat = np.where(beyond, np.copysign(180.0, lat) - lat, lat)[()]
        lon = lon if latbounce else np.where(beyond, lon + 180.0, lon)[()]
    return np.pi / 2.0 - np.radians(lat), np.radians(lon)


def thetaphi2lonlat(theta: npt.ArrayLike, phi: npt.ArrayLike) -> tuple[Any, Any]:
    """Longitude and latitude in degrees of colatitude and longitude in radians."""
    return np.degrees(phi), 90.0 - np.degrees(theta)


def check_theta(theta: npt.ArrayLike) -> None:
    """ValueError unless all colatitudes lie in [0, pi]."""
    theta = np.asarray(theta)
    if not ((theta >= 0).all() and (theta <= np.pi + 1e-5).all()):
        raise ValueError("THETA is out of range [0,pi]")


check_theta_valid = check_theta  # healpy's name


@takes(direction=("theta", "phi"))
def ang2vec(theta: npt.ArrayLike, phi: npt.ArrayLike, lonlat: bool = False) -> np.ndarray:
    """Unit vectors [..., 3] of directions."""
    if lonlat:
        theta, phi = lonlat2thetaphi(np.asarray(theta), np.asarray(phi))
    check_theta(theta)
    sintheta = np.sin(theta)
    return np.array([sintheta * np.cos(phi), sintheta * np.sin(phi), np.cos(theta)]).T


def vec2ang(vectors: npt.ArrayLike, lonlat: bool = False) -> tuple[Any, Any]:
    """Directions of vectors [..., 3]: two flat arrays, phi in [0, 2 pi)."""
    x, y, z = np.asarray(vectors, np.float64).reshape(-1, 3).T
    theta = np.arctan2(np.hypot(x, y), z)
    phi = np.arctan2(y, x)
    phi[phi < 0] += 2 * np.pi
    return thetaphi2lonlat(theta, phi) if lonlat else (theta, phi)


@takes(direction=("theta", "phi"))
def dir2vec(theta: npt.ArrayLike, phi: npt.ArrayLike | None = None, lonlat: bool = False) -> np.ndarray:
    """Unit vectors [3, ...] of directions, given as two arguments or as one array of two rows."""
    if phi is None:
        theta, phi = theta
    if lonlat:
        theta, phi = lonlat2thetaphi(np.asarray(theta), np.asarray(phi))
    theta, phi = np.broadcast_arrays(np.asarray(theta, np.float64), np.asarray(phi, np.float64))
    st = np.sin(theta)
    return np.array([st * np.cos(phi), st * np.sin(phi), np.cos(theta)])


def vec2dir(vec: npt.ArrayLike, vy: npt.ArrayLike | None = None, vz: npt.ArrayLike | None = None, lonlat: bool = False) -> Any:
    """Directions [2, ...] of vectors [3, ...] of any length, phi in (-pi, pi]."""
    if vy is not None and vz is not None:
        vec = (vec, vy, vz)
    elif np.asarray(vec).shape[:1] != (3,):
        raise TypeError("vec must be three arrays or one with three rows")
    x, y, z = (np.asarray(v, np.float64) for v in vec)
    theta, phi = np.arctan2(np.hypot(x, y), z), np.arctan2(y, x)
    return np.asarray(thetaphi2lonlat(theta, phi) if lonlat else (theta, phi))
