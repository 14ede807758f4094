# SPDX-License-Identifier: BSD-3-Clause
"""Rotations of directions, vectors, alm and maps; coordinate systems G, E, C."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import units
from ._lib import lib, ptr
from .alms import _is_single, euler_of, rotate_alm
from .frames import euler, normalize_vec, rotateDirection, rotateVector
from .maps import filled, get_nside, maptype
from .sphere_angles import dir2vec, vec2dir

if TYPE_CHECKING:
    import numpy.typing as npt

_NAMES = {"G": "Galactic", "E": "Ecliptic", "C": "Equatorial"}


class ConsistencyWarning(Warning):
    """Of rotations whose coordinate systems do not follow upon each other; see Rotator.consistent."""


def coordname(letter: Any) -> Any:
    """Full name of a coordinate system, "" for None."""
    return _NAMES[letter] if letter else ""


def check_coord(c: Any) -> Any:
    """The letter G, E or C of a coordinate system's name; None for None."""
    if c is None:
        return None
    letter = c.strip().upper()[:1] if isinstance(c, str) else ""
    letter = "C" if letter == "Q" and c.strip().upper().startswith("Q") and len(c.strip()) > 1 else letter
    if letter not in _NAMES:
        raise ValueError("Wrong coordinate (either G[alactic], E[cliptic], C[elestial] or Equatorial=Celestial)")
    return "C" if c.strip().lower().startswith("equ") else letter


def normalise_coord(coord: Any) -> Any:
    """(from, to) of None, "G", "GE", ("G", "E") ..."""
    if coord is None or (hasattr(coord, "__len__") and len(coord) == 0):
        return (None, None)
    parts = list(coord) if not isinstance(coord, str) or len(coord) <= 2 else [coord]
    if len(parts) > 2:
        raise TypeError("Coordinate must be a string (G[alactic], E[cliptic] or C[elestial]) or a sequence of 2 strings")
    parts = [check_coord(p) for p in parts]
    return (parts[0], parts[-1])


def normalise_rot(rot: Any, deg: Any = False) -> Any:
    """Three angles in radians of None, one, two or three."""
    angles = np.zeros(3) if rot is None else np.atleast_1d(np.asarray(rot, np.float64))
    if angles.ndim != 1:
        raise ValueError("rot must be a number or at most three numbers")
    angles = np.r_[angles[:3], np.zeros(max(0, 3 - angles.size))]
    return np.deg2rad(angles) if deg else angles


def _about(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    m = np.eye(3)
    m[i, i] = m[j, j] = c
    m[i, j], m[j, i] = -s, s
    return m


def euler_matrix_new(a1: float, a2: float, a3: float, X: bool = True, Y: bool = False, ZYX: bool = False, deg: Any = False) -> Any:
    """Matrix of a rotation of the axes by Euler angles: Z X Z (default), Z Y Z (Y) or Z Y X (ZYX)."""
    if X + Y + ZYX > 1 and not (X and X + Y + ZYX == 2):
        raise ValueError("Choose either X, Y or ZYX convention")
    if deg:
        a1, a2, a3 = np.deg2rad([a1, a2, a3])
    second = 1 if (Y or ZYX) else 0
    third = 0 if ZYX else 2
    return (_about(2, a1) @ _about(second, a2) @ _about(third, a3)).T


def get_rotation_matrix(rot: Any, deg: Any = False, eulertype: str = "ZYX") -> Any:
    """The matrix of rot, whether it does anything, and rot as three radians."""
    rot = normalise_rot(rot, deg)
    if not rot.any():
        return np.eye(3), False, rot
    if eulertype == "ZYX":
        m = np.empty((3, 3))
        lib.kugel_rotation_from_lonlat(rot[0], rot[1], rot[2], ptr(m))
    else:
        m = euler_matrix_new(rot[0], -rot[1], rot[2], X=eulertype == "X", Y=eulertype == "Y")
    return m, True, rot


def get_coordconv_matrix(coord: Any) -> Any:
    """The matrix of a change of coordinate system, whether it does anything, and the pair of letters."""
    pair = normalise_coord(coord)
    if pair[0] == pair[1]:
        return np.eye(3), False, pair
    m = np.empty((3, 3))
    lib.kugel_rotation_from_coord(pair[0].encode(), pair[1].encode(), ptr(m))
    return m, True, pair


def coordsys2euler_zyz(coord: Any) -> Any:
    """The angles psi, theta, phi (radians) with which rotate_alm changes the coordinate system of alm.

    coord: the system before and the one after, such as "GE"; one letter: zeros

        kugel.rotate_alm(alm, *kugel.rotator.coordsys2euler_zyz("GE"))
    """
    matrix, changed, _ = get_coordconv_matrix(coord)
    return euler_of(matrix) if changed else (0.0, 0.0, 0.0)


def _is_sequence_of(values, inner):
    return hasattr(values, "__len__") and not isinstance(values, str) and len(values) and all(map(inner, values))


def angdist(dir1: npt.ArrayLike, dir2: npt.ArrayLike, lonlat: bool = False) -> Any:
    """Angle in radians between directions (2 rows) or vectors (3 rows)."""
    u, v = (dir2vec(*d, lonlat=lonlat) if len(d) == 2 else np.asarray(d, np.float64) for d in (dir1, dir2))
    u, v = (a.reshape(3, -1) for a in (u, v))
    cross = np.cross(u, v, axis=0) if u.shape == v.shape else np.cross(*np.broadcast_arrays(u, v), axis=0)
    return np.arctan2(np.sqrt((cross ** 2).sum(axis=0)), (u * v).sum(axis=0))


class Rotator:
    """A rotation: a change of coordinate system, then a rotation.

    rot:       angles (lon, lat, psi) that come to the centre, or several such
    coord:     one system or two ("GE": from galactic to ecliptic), or several such; one for each of rot
    inv:       the inverse
    deg:       rot is in degrees
    eulertype: "ZYX" as above, or "X", "Y" for Z X Z, Z Y Z Euler angles

    r(theta, phi) and r(x, y, z) rotate directions and vectors; r.I(...) back.
    """

    ErrMessWrongPar = "rot and coord must be single elements or sequence of same size."

    def __init__(self, rot: Any = None, coord: Any = None, inv: Any = None, deg: Any = True, eulertype: str = "ZYX") -> None:
        many = _is_sequence_of(rot, lambda r: hasattr(r, "__len__") or r is None)
        rots = list(rot) if many else [rot]
        several = _is_sequence_of(coord, lambda c: c is None or (not isinstance(c, str) or len(c) == 2))
        coords = list(coord) if several else [coord]
        if coord is None:
            coords *= len(rots)
        elif rot is None:
            rots *= len(coords)
        invs = list(inv) if hasattr(inv, "__len__") else [inv] * len(rots)
        if many != several and rot is not None and coord is not None:
            raise ValueError(Rotator.ErrMessWrongPar)
        if not len(rots) == len(coords) == len(invs):
            raise ValueError(Rotator.ErrMessWrongPar)
        self._eultype = eulertype
        self._rots = [normalise_rot(r, deg) for r in rots]
        self._coords = [normalise_coord(c) for c in coords]
        self._invs = [bool(i) for i in invs]
        self._update_matrix()

    @classmethod
    def _of(cls, rots, coords, invs, eulertype):
        out = cls(eulertype=eulertype)
        out._rots, out._coords, out._invs = rots, coords, invs
        out._update_matrix()
        return out

    def _update_matrix(self):
        self._matrix = np.eye(3)
        self._do_rot = False
        for rot, coord, inv in zip(self._rots, self._coords, self._invs):
            m, moved, _ = get_rotation_matrix(rot, eulertype=self._eultype)
            c, changed, _ = get_coordconv_matrix(coord)
            step = m @ c
            self._matrix = (step.T if inv else step) @ self._matrix
            self._do_rot = self._do_rot or moved or changed
        self.consistent = self._is_coords_consistent()

    def _is_coords_consistent(self):
        pairs = [(c[::-1] if i else c) for c, i in zip(self._coords, self._invs)]
        return all(a[1] == b[0] for a, b in zip(pairs, pairs[1:]))

    def __eq__(self, other):
        return isinstance(other, Rotator) and (np.array_equal(self._rots, other._rots) and
                                               self._coords == other._coords and self._invs == other._invs)

    def __mul__(self, other):
        if not isinstance(other, Rotator):
            raise TypeError("A Rotator can only multiply another Rotator (composition of rotations)")
        return Rotator._of(other._rots + self._rots, other._coords + self._coords, other._invs + self._invs,
                           self._eultype)

    def __repr__(self):
        return f"[ {self._coords}, {self._rots}, {self._invs} ]"

    __str__ = __repr__
    __hash__ = None

    def get_inverse(self) -> Rotator:
        """The inverse rotation."""
        return Rotator._of(self._rots[::-1], self._coords[::-1], [not i for i in self._invs[::-1]], self._eultype)

    @property
    def mat(self) -> np.ndarray:
        """The matrix: new = mat @ old."""
        return self._matrix.copy()

    @property
    def coordin(self) -> Any:
        """Letter of the coordinate system before, or None."""
        return self._coords[0][1 if self._invs[0] else 0] if self.consistent else None

    @property
    def coordout(self) -> Any:
        """Letter of the coordinate system after, or None."""
        return self._coords[-1][0 if self._invs[-1] else 1] if self.consistent else None

    @property
    def coordinstr(self) -> Any:
        return coordname(self.coordin)

    @property
    def coordoutstr(self) -> Any:
        return coordname(self.coordout)

    @property
    def rots(self) -> Any:
        return self._rots

    @property
    def coords(self) -> Any:
        return self._coords

    def do_rot(self, i: Any) -> Any:
        """Whether the i-th rotation does anything."""
        return bool(self._rots[i].any())

    def __call__(self, *args: Any, **kwds: Any) -> Any:
        """Rotates directions (theta, phi) or vectors (x, y, z), given as two or three arguments or as one array of 2 or 3
        rows. inv=True: back; lonlat=True: directions are longitude, latitude in degrees."""
        inv, lonlat = kwds.pop("inv", False), kwds.pop("lonlat", False)
        if kwds:
            raise TypeError(f"unexpected keyword {next(iter(kwds))!r}; allowed are inv and lonlat")
        first = args if len(args) > 1 else units.pair(args[0], lonlat) if units.is_sky(args[0]) else args[0]
        if len(first) == 2:
            first = [units.number(x, "deg" if lonlat else "rad") for x in first]
        if len(first) not in (2, 3):
            raise TypeError("give theta and phi, or x, y and z, as separate arguments or as one array")
        matrix = self._matrix.T if inv else self._matrix
        if len(first) == 2:
            return vec2dir(np.tensordot(matrix, dir2vec(*first, lonlat=lonlat), axes=1), lonlat=lonlat)
        return np.tensordot(matrix, np.asarray(first, np.float64), axes=1)

    def I(self, *args: Any, **kwds: Any) -> Any:
        """The inverse of a call."""
        kwds["inv"] = not kwds.pop("inv", False)
        return self(*args, **kwds)

    def angle_ref(self, *args: Any, **kwds: Any) -> Any:
        """Angle by which the direction of the local meridian turns."""
        inv, lonlat = kwds.pop("inv", False), kwds.pop("lonlat", False)
        first = args if len(args) > 1 else args[0]
        vec = dir2vec(*first, lonlat=lonlat) if len(first) == 2 else np.asarray(first, np.float64)
        matrix = self._matrix.T if inv else self._matrix
        new = np.tensordot(matrix, vec, axes=1)
        pole = matrix @ np.array([0.0, 0.0, 1.0])
        sin_psi = pole[1] * new[0] - pole[0] * new[1]
        cos_psi = pole[2] * (new[0] ** 2 + new[1] ** 2) - new[2] * (pole[0] * new[0] + pole[1] * new[1])
        return -np.arctan2(sin_psi, cos_psi)

    def rotate_alm(self, alm: npt.ArrayLike, lmax: int | None = None, mmax: int | None = None, inplace: bool = False) -> Any:
        """alm, or T, E, B alm, of the rotated field."""
        out = alm if inplace else (np.array(alm, np.complex128) if isinstance(alm, np.ndarray) or _is_single(alm)
                                   else [np.array(a, np.complex128) for a in alm])
        rotate_alm(out, matrix=self._matrix, lmax=lmax, mmax=mmax)
        return None if inplace else out

    def rotate_map_alms(self, m: npt.ArrayLike, use_pixel_weights: bool = True, lmax: int | None = None, mmax: int | None = None,
                        datapath: Any = None, verbose: bool | None = None) -> Any:
        """Rotated maps, through alm: exact for maps without power near the pixel scale.

        m:    a map, or three as T, Q, U
        lmax: of the alm; 3 nside - 1 unless given
        use_pixel_weights: as for map2alm: one pass with a weight for each pixel, exact to lmax = 1.5 nside. The first call at
              an nside finds the weights (15 s at 512), which are then kept in the cache folder; False: three iterations
        """
        from .sphtfunc import alm2map, map2alm

        alm = map2alm(m, use_pixel_weights=use_pixel_weights, lmax=lmax, mmax=mmax)
        self.rotate_alm(alm, lmax=lmax, mmax=mmax, inplace=True)
        return alm2map(alm, get_nside(m), lmax=lmax, mmax=mmax)

    def rotate_map_pixel(self, m: npt.ArrayLike) -> Any:
        """Rotated maps, by bilinear interpolation between pixel centres.

        m: a map, or several, of which the last two are Q and U: two, or three with T, or more. Masked arrays too
        Returns [npix] or [n, npix].
        """
        from .pixelfunc import get_interp_val, nside2npix, pix2ang

        single = maptype(m) == 0
        rows = np.atleast_2d(filled(m))
        nside = get_nside(m)
        theta, phi = pix2ang(nside, np.arange(nside2npix(nside)))
        back = self.I(theta, phi)
        out = np.array([get_interp_val(row, *back) for row in rows])
        if len(out) > 1:
            turned = (out[-2] + 1j * out[-1]) * np.exp(2j * self.angle_ref(*back))
            out[-2], out[-1] = turned.real, turned.imag
        return out[0] if single else out

    def rotate_map_points(self, m: npt.ArrayLike, nside: int | None = None, lmax: int | None = None, iter: int = 3,
                          tolerance: float | None = None, device: str | None = None) -> Any:
        """Rotated maps, by the harmonic sums of the map at the turned pixel centres: no coefficients are rotated, so that the cost does
        not grow as lmax^3, and nside may be another one. Equals rotate_map_alms to the tolerance.

        m:      a map, or three as T, Q, U
        nside:  of the result; that of m unless given
        lmax, iter, tolerance, device: as kugel.points.interpolate has them
        Returns [12 nside^2] or [3, 12 nside^2]. Cost: one analysis and one synthesis, besides 12 nside^2 sums at points.
        """
        from .pixelfunc import nside2npix, pix2ang
        from .points import interpolate

        nside = get_nside(m) if nside is None else nside
        back = self.I(*pix2ang(nside, np.arange(nside2npix(nside))))
        out = np.asarray(interpolate(m, *back, lmax=lmax, iter=iter, tolerance=tolerance, device=device))
        if out.ndim == 2:
            if len(out) != 3:
                raise ValueError(f"m has {len(out)} maps, must be one, or three as T, Q, U")
            turned = (out[1] + 1j * out[2]) * np.exp(2j * self.angle_ref(*back))
            out[1], out[2] = turned.real, turned.imag
        return out
