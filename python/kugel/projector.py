# SPDX-License-Identifier: BSD-3-Clause
"""Projections of the sphere onto a plane under healpy's names: directions to points (x, y) and back, and arrays of a map.

Each has a window (xmin, xmax, ymin, ymax) and a grid of xsize by ysize points in it; row 0 is the lowest. The picture is
rotated by `rot` (degrees) about the sky; `direct=True` leaves that rotation out.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from . import projection
from .maps import UNSEEN, filled, mask_bad
from .rotator import Rotator
from .sphere_angles import ang2vec, vec2ang

_LETTERS = {"G": "Galactic", "E": "Ecliptic", "C": "Equatorial"}


def _letter(coord):
    """The first letter of a coordinate system's name, or None."""
    return str(coord)[0].upper() if coord else None


class SphericalProj:
    """What all projections share. flipconv: "astro", east to the left, or "geo"."""

    name = "None"

    def __init__(self, rot: Any = None, coord: Any = None, flipconv: Any = None, **kwds: Any) -> None:
        self.rotator = Rotator(rot=rot, eulertype="ZYX")
        if coord is not None and not isinstance(coord, str) and len(coord) > 0:
            coord = coord[-1]  # from one system to another: the picture is in the last
        elif isinstance(coord, str) and len(coord) == 2:
            coord = coord[1]
        self.coordsys = _letter(coord)
        self.coordsysstr = _LETTERS.get(self.coordsys, "")
        self.set_flip(flipconv)
        self.arrayinfo = {}
        self.set_proj_plane_info(**kwds)

    def set_flip(self, flipconv: Any) -> Any:
        """Sets the direction of longitudes: None or "astro", "geo"."""
        if flipconv not in (None, "astro", "geo"):
            raise ValueError(f"flip is {flipconv!r}; it must be 'astro' or 'geo'")
        self._sign = 1 if flipconv == "geo" else -1

    def set_proj_plane_info(self, **kwds: Any) -> Any:
        """Sets the grid: xsize and what else the projection has."""
        self.arrayinfo.update(kwds)

    def get_proj_plane_info(self) -> Any:
        """The grid as a dict."""
        return self.arrayinfo

    def _forward(self, v):
        raise NotImplementedError

    def _inverse(self, x, y):
        raise NotImplementedError

    def _size(self):
        raise NotImplementedError

    def _window(self):
        raise NotImplementedError

    def vec2xy(self, vx: Any, vy: Any = None, vz: Any = None, direct: bool = False) -> Any:
        """x, y of directions; NaN where the projection does not show them."""
        v = np.asarray(vx if vy is None else (vx, vy, vz), np.float64)
        shape = v.shape[1:]
        v = v.reshape(3, -1)
        if not direct:
            v = np.asarray(self.rotator(v)).reshape(3, -1)
        x, y = self._forward(v / np.sqrt((v * v).sum(axis=0)))
        return (x.reshape(shape), y.reshape(shape)) if shape else (x[0], y[0])

    def ang2xy(self, theta: Any, phi: Any = None, lonlat: Any = False, direct: bool = False) -> Any:
        """x, y of angles: colatitude and longitude in radians, or longitude and latitude in degrees (lonlat)."""
        if phi is None:
            theta, phi = theta
        return self.vec2xy(np.moveaxis(ang2vec(*np.broadcast_arrays(theta, phi), lonlat=lonlat), -1, 0), direct=direct)

    def xy2vec(self, x: Any, y: Any = None, direct: bool = False) -> Any:
        """Directions of points; NaN outside."""
        if y is None:
            x, y = x
        x, y = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
        v, inside = self._inverse(np.atleast_1d(x), np.atleast_1d(y))
        v = np.where(inside, v, np.nan)
        if not direct:
            v = np.asarray(self.rotator.I(v.reshape(3, -1))).reshape(v.shape)
        return v.reshape((3,) + x.shape)

    def xy2ang(self, x: Any, y: Any = None, lonlat: Any = False, direct: bool = False) -> Any:
        """Angles of points; NaN outside."""
        v = self.xy2vec(x, y, direct=direct)
        angles = np.asarray(vec2ang(np.moveaxis(v, 0, -1).reshape(-1, 3), lonlat=lonlat))
        return angles.reshape((2,) + v.shape[1:])

    def xy2ij(self, x: Any, y: Any = None) -> Any:
        """Row and column of the grid's points next to (x, y)."""
        if y is None:
            x, y = x
        (x0, x1, y0, y1), (columns, rows) = self._window(), self._size()
        i = np.rint((np.asarray(y) - y0) / (y1 - y0) * (rows - 1))
        j = np.rint((np.asarray(x) - x0) / (x1 - x0) * (columns - 1))
        bad = ~((i >= 0) & (i < rows) & (j >= 0) & (j < columns))
        return tuple(np.ma.MaskedArray(np.where(bad, 0, k).astype(int), bad) for k in (i, j))

    def ij2xy(self, i: Any = None, j: Any = None) -> Any:
        """x, y of rows and columns; of the whole grid where none are given."""
        (x0, x1, y0, y1), (columns, rows) = self._window(), self._size()
        if i is None and j is None:
            return np.meshgrid(np.linspace(x0, x1, columns), np.linspace(y0, y1, rows))
        i, j = (i if j is None else (i, j))
        return x0 + np.asarray(j) * (x1 - x0) / (columns - 1), y0 + np.asarray(i) * (y1 - y0) / (rows - 1)

    def projmap(self, map: Any, vec2pix_func: Any, rot: Any = None, coord: Any = None) -> Any:
        """The map's values on the grid, a masked array [ysize, xsize]; -inf outside. vec2pix_func(x, y, z) numbers pixels;
        coord: from the map's system to the picture's."""
        values = np.asarray(filled(map), np.float64)
        v, inside = self._inverse(*self.ij2xy())
        v = self.rotator.I(v.reshape(3, -1))
        if rot is not None or coord is not None:
            v = Rotator(rot=rot, coord=coord, eulertype="ZYX").I(v)
        out = np.where(inside, values[vec2pix_func(*v).reshape(inside.shape)], -np.inf)
        return np.ma.MaskedArray(out, inside & (mask_bad(out) | np.isnan(out)), fill_value=UNSEEN)

    def get_extent(self) -> Any:
        """xmin, xmax, ymin, ymax."""
        return self._window()

    def get_fov(self) -> Any:
        """The field of view, radians: the diagonal as seen from the centre."""
        return 2 * np.pi

    def get_center(self, lonlat: Any = False) -> Any:
        """The direction of the centre, as angles."""
        return np.asarray(vec2ang(np.asarray(self.rotator.I(np.array([1.0, 0, 0]))), lonlat=lonlat)).reshape(2)

    def mkcoord(self, coord: Any) -> Any:
        """The pair that leads from `coord` (None: the picture's own) to the picture's system, or None."""
        if coord is None or self.coordsys is None:
            return None
        if isinstance(coord, str) and len(coord) == 1 or not isinstance(coord, str) and len(coord) == 1:
            return (_letter(coord[0]), self.coordsys)
        return coord


class MollweideProj(SphericalProj):
    """The whole sky in an ellipse of width 4 and height 2, areas kept."""

    name = "Mollweide"

    def __init__(self, rot: Any = None, coord: Any = None, xsize: int = 800, **kwds: Any) -> None:
        super().__init__(rot=rot, coord=coord, xsize=xsize, **kwds)

    def _window(self):
        return -2.0, 2.0, -1.0, 1.0

    def _size(self):
        return int(self.arrayinfo["xsize"]), int(self.arrayinfo["xsize"]) // 2

    def _forward(self, v):
        lat, lon = np.arcsin(np.clip(v[2], -1, 1)), np.arctan2(v[1], v[0])
        t, goal = lat.copy(), np.pi * np.sin(lat)
        for _ in range(60):  # Newton for 2 t + sin 2 t = pi sin(lat); at the poles by halves
            slope = 2 + 2 * np.cos(2 * t)
            step = np.divide(2 * t + np.sin(2 * t) - goal, slope, out=np.zeros_like(t), where=slope > 1e-12)
            t = np.clip(t - step, -np.pi / 2, np.pi / 2)
            if not (np.abs(step) > 1e-13).any():
                break
        return self._sign * 2 * lon / np.pi * np.cos(t), np.sin(t)

    def _inverse(self, x, y):
        return projection.inverse_mollweide(x, y, self._sign)


class OrthographicProj(SphericalProj):
    """One hemisphere (half_sky) or two, side by side, as seen from far away."""

    name = "Orthographic"

    def __init__(self, rot: Any = None, coord: Any = None, xsize: int = 800, half_sky: Any = False, **kwds: Any) -> None:
        super().__init__(rot=rot, coord=coord, xsize=xsize, half_sky=half_sky, **kwds)

    def _half(self):
        return bool(self.arrayinfo["half_sky"])

    def _window(self):
        return (-1.0, 1.0, -1.0, 1.0) if self._half() else (-2.0, 2.0, -1.0, 1.0)

    def _size(self):
        xsize = int(self.arrayinfo["xsize"])
        return xsize, xsize if self._half() else xsize // 2

    def _forward(self, v):
        x, y, far = self._sign * v[1], v[2], v[0] < 0
        if self._half():
            return np.where(far, np.nan, x), np.where(far, np.nan, y)
        return np.where(far, 1 - x, x - 1), y

    def _inverse(self, x, y):
        return projection.inverse_orthographic(x, y, self._sign, self._half())

    def get_fov(self) -> Any:
        return np.pi if self._half() else 2 * np.pi


class _Tangent(SphericalProj):
    """Grids of xsize by ysize points, reso arcmin apart at the centre."""

    def _size(self):
        xsize, ysize = self.arrayinfo.get("xsize") or 200, self.arrayinfo.get("ysize")
        return int(xsize), int(xsize if ysize is None else ysize)

    def _step(self):
        return np.deg2rad((self.arrayinfo.get("reso") or 1.5) / 60)

    def _window(self):
        half = [(n - 1) / 2 * self._step() for n in self._size()]
        return -half[0], half[0], -half[1], half[1]

    def get_fov(self):
        x0, x1, y0, y1 = self._window()
        return min(np.hypot(x1 - x0, y1 - y0), 2 * np.pi)


class GnomonicProj(_Tangent):
    """The tangent plane: great circles are straight."""

    name = "Gnomonic"

    def __init__(self, rot: Any = None, coord: Any = None, xsize: int | None = None, ysize: int | None = None, reso: Any = None,
                 **kwds: Any) -> None:
        super().__init__(rot=rot, coord=coord, xsize=xsize, ysize=ysize, reso=reso, **kwds)

    def _forward(self, v):
        depth = np.where(v[0] > 1e-6, v[0], np.nan)
        return self._sign * v[1] / depth, v[2] / depth

    def _inverse(self, x, y):
        return projection.inverse_gnomonic(x, y, self._sign)


class AzimuthalProj(_Tangent):
    """Distances from the centre kept, or with lamb areas (Lambert)."""

    name = "Azimuthal"

    def __init__(self, rot: Any = None, coord: Any = None, xsize: int | None = None, ysize: int | None = None, reso: Any = None,
                 lamb: Any = None, half_sky: Any = None, **kwds: Any) -> None:
        super().__init__(rot=rot, coord=coord, xsize=xsize, ysize=ysize, reso=reso, lamb=lamb, half_sky=half_sky, **kwds)

    def _size(self):
        xsize, ysize = self.arrayinfo.get("xsize") or 800, self.arrayinfo.get("ysize")
        return int(xsize), int(xsize if ysize is None else ysize)

    def radius(self) -> Any:
        """Of the circle that bounds the picture."""
        angle = np.pi / 2 if self.arrayinfo.get("half_sky") else np.pi
        return 2 * np.sin(angle / 2) if self.arrayinfo.get("lamb") else angle

    def _forward(self, v):
        across = np.hypot(v[1], v[2])
        angle = np.arctan2(across, v[0])
        if self.arrayinfo.get("half_sky"):
            angle = np.where(angle <= np.pi / 2, angle, np.nan)
        r = 2 * np.sin(angle / 2) if self.arrayinfo.get("lamb") else angle
        scale = np.divide(r, across, out=np.ones_like(r), where=across > 0)
        return self._sign * v[1] * scale, v[2] * scale

    def _inverse(self, x, y):
        return projection.inverse_azimuthal(x, y, self._sign, bool(self.arrayinfo.get("lamb")), bool(self.arrayinfo.get("half_sky")))


class CartesianProj(SphericalProj):
    """Longitude and latitude in degrees as x and y; lonra, latra: ranges about the centre."""

    name = "Cartesian"

    def __init__(self, rot: Any = None, coord: Any = None, xsize: int = 800, ysize: int | None = None, lonra: Any = None, latra: Any = None,
                 **kwds: Any) -> None:
        super().__init__(rot=rot, coord=coord, xsize=xsize, ysize=ysize, lonra=lonra, latra=latra, **kwds)

    def _window(self):
        lonra = self.arrayinfo.get("lonra")
        latra = self.arrayinfo.get("latra")
        lon = self._sign * np.asarray((-180.0, 180.0) if lonra is None else lonra, np.float64)
        lat = (-90.0, 90.0) if latra is None else latra
        return float(lon.min()), float(lon.max()), float(lat[0]), float(lat[1])

    def _size(self):
        xsize, ysize = int(self.arrayinfo.get("xsize") or 800), self.arrayinfo.get("ysize")
        x0, x1, y0, y1 = self._window()
        return xsize, int(ysize or max(round(xsize * (y1 - y0) / (x1 - x0)), 2))

    def _forward(self, v):
        return self._sign * np.rad2deg(np.arctan2(v[1], v[0])), np.rad2deg(np.arcsin(np.clip(v[2], -1, 1)))

    def _inverse(self, x, y):
        return projection.inverse_cartesian(x, y, self._sign)

    def get_fov(self) -> Any:
        x0, x1, y0, y1 = self._window()
        return min(np.deg2rad(np.hypot(x1 - x0, y1 - y0)), 2 * np.pi)
