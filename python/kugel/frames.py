# SPDX-License-Identifier: BSD-3-Clause
"""Rotations by bare matrices, and angles between coordinate systems."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .maps import host
from .sphere_angles import dir2vec, vec2dir

if TYPE_CHECKING:
    import numpy.typing as npt


def rotateVector(rotmat: npt.ArrayLike, vec: npt.ArrayLike, vy: npt.ArrayLike | None = None, vz: npt.ArrayLike | None = None,
                 do_rot: bool = True) -> Any:
    """Vectors [3, ...] (or x, y and z as three arguments) rotated by a matrix [3, 3]; do_rot=False: as they are.

        kugel.rotator.rotateVector(r.mat, (1, 0, 0))
    """
    if vy is None and vz is None:
        vec = np.asarray(host(vec))
    elif vy is None or vz is None:
        raise TypeError("give the vectors as one argument, or x, y and z")
    else:
        vec = np.asarray((vec, vy, vz))
    return np.tensordot(np.asarray(host(rotmat)), vec, axes=1) if do_rot else vec


def rotateDirection(rotmat: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike | None = None, do_rot: bool = True,
                    lonlat: bool = False) -> Any:
    """Directions [2, ...] of directions (theta, phi as two arguments or two rows) rotated by a matrix [3, 3]."""
    if phi is None:
        theta, phi = theta
    if not do_rot:
        return np.asarray((theta, phi), np.float64)
    return vec2dir(rotateVector(rotmat, dir2vec(theta, phi, lonlat=lonlat)), lonlat=lonlat)


def normalize_vec(vec: npt.ArrayLike) -> Any:
    """Vectors [n, ...] of length 1 along the same directions.

        kugel.rotator.normalize_vec([3.0, 0, 4])    # array([0.6, 0. , 0.8])
    """
    vec = np.asarray(host(vec), np.float64)
    return vec / np.sqrt((vec * vec).sum(axis=0))


def _pole_matrix(ra, dec, l_north):
    """Of the change to a system whose north is at (ra, dec) and where the old north has the longitude l_north; degrees."""
    a, d, l = np.deg2rad([ra, dec, l_north])

    def about_z(t):
        return np.array([[np.cos(t), np.sin(t), 0], [-np.sin(t), np.cos(t), 0], [0, 0, 1]])

    t = np.pi / 2 - d
    tilt = np.array([[np.cos(t), 0, -np.sin(t)], [0, 1, 0], [np.sin(t), 0, np.cos(t)]])
    return about_z(np.pi - l) @ tilt @ about_z(a)


# By FK4: right ascension and declination of the galactic pole, galactic longitude of the north pole, obliquity; degrees.
# B1950 by definition (Blaauw et al. 1960), J2000 from Hipparcos (ESA SP-1200, vol. 1, 1.5.3) and the IAU's obliquity of 1976.
_SYSTEMS = (((192.85948, 27.12825, 122.93192), 23.4392911), ((192.25, 27.4, 123.0), 23.4457889))


def euler(ai: npt.ArrayLike, bi: npt.ArrayLike, select: int, FK4: int = 0) -> Any:
    """Longitudes and latitudes in degrees from one coordinate system to another.

    ai, bi: longitude, latitude
    select: 1 equatorial to galactic, 2 back; 3 equatorial to ecliptic, 4 back; 5 ecliptic to galactic, 6 back
    FK4:    1: equatorial and ecliptic coordinates of B1950 instead of J2000
    Returns longitude in [0, 360) and latitude, as arrays of the shape of ai and bi.

        kugel.rotator.euler(192.85948, 27.12825, 1)     # the galactic pole: latitude 90
    """
    if select not in (1, 2, 3, 4, 5, 6):
        raise ValueError(f"select is {select!r}; it must be 1 to 6")
    pole, obliquity = _SYSTEMS[bool(FK4)]
    galactic, ecliptic = _pole_matrix(*pole), _pole_matrix(270.0, 90 - obliquity, 90.0)
    steps = galactic, galactic.T, ecliptic, ecliptic.T, galactic @ ecliptic.T, ecliptic @ galactic.T
    ai, bi = (np.asarray(host(angle), np.float64) for angle in (ai, bi))
    lon, lat = rotateDirection(steps[select - 1], ai, bi, lonlat=True)
    return lon % 360.0, lat
