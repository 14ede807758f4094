# SPDX-License-Identifier: BSD-3-Clause
"""Where the values of arrays with names lie on the sphere, as their coordinates say."""
import numpy as np

from .extras import plan
from .pixelfunc import reorder
from .plans import Grid

CELLS = ("cell", "cells", "cell_ids", "pix", "pixel", "npix", "healpix", "values", "hpx", "value")


def axis(array, names, standard, units, letter):
    """The one dimension whose coordinate is a latitude, or a longitude, by CF's attributes or by its name; None if there is none."""
    for test in (lambda c: c.attrs.get("standard_name") == standard, lambda c: c.attrs.get("units") in units,
                 lambda c: str(c.name).lower() in names):
        found = [d for d in array.dims if d in array.coords and test(array.coords[d])]
        if len(found) > 1:
            raise ValueError(f"dimensions {' and '.join(map(str, found))} are both a {standard}: rename one, or select")
        if found:
            return found[0]
    return None


def mapping(array):
    """Attributes that say how HEALPix cells are numbered, from wherever files have them."""
    name = array.attrs.get("grid_mapping") or array.encoding.get("grid_mapping")
    if name and name not in array.coords:
        raise ValueError(f"the attribute grid_mapping is {name!r}, but there is no such coordinate: open the file with "
                         "decode_coords='all', or assign it")
    found = []
    for coordinate in ([name] if name else list(array.coords)):
        a = dict(array.coords[coordinate].attrs)
        if str(a.get("grid_mapping_name", a.get("grid_name", ""))).lower() == "healpix":
            found.append((coordinate, a))
    return found[0] if found else (None, {})


def whole(attrs, names, largest):
    """The first of these attributes that is there, a whole number from 0 to `largest`; None without any."""
    name = next((n for n in names if n in attrs), None)
    if name is None:
        return None
    try:
        value = int(attrs[name])
        good = value == float(attrs[name]) and 0 <= value <= largest
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise ValueError(f"the attribute {name} of the cells is {str(attrs[name])[:60]!r}; it must be a whole number from 0 to {largest}")
    return value


class Cells:
    """HEALPix cells along one dimension."""

    def __init__(self, array, dim, attrs):
        self.dims, n = (dim,), array.sizes[dim]
        nside = whole(attrs, ("healpix_nside", "nside"), 1 << 29)
        level = whole(attrs, ("level", "refinement_level", "depth"), 29)
        if nside is None:
            nside = 1 << level if level is not None else int(round((n / 12)**0.5))
        self.nside = nside
        order = str(attrs.get("healpix_order", attrs.get("indexing_scheme", attrs.get("nest", "")))).lower()
        if order not in ("nest", "nested", "ring", "true", "false"):
            raise ValueError(f"the numbering of the cells along {dim!r} is {order or 'not said'}; say it: "
                             "array.kugel.cells('nested') or 'ring'")
        self.nest = order in ("nest", "nested", "true")
        if self.nside < 1 or (self.nest and self.nside & (self.nside - 1)):
            raise ValueError(f"nside of the cells along {dim!r} is {self.nside}; it must be at least 1, and with NESTED cells a power of two")
        npix = 12 * self.nside**2
        self.ids = None
        if dim in array.coords or "cell_ids" in array.coords:
            ids = np.asarray(array.coords["cell_ids" if "cell_ids" in array.coords else dim])
            if ids.shape == (n,) and ids.dtype.kind == "f" and np.all(ids == np.floor(ids)) and np.all(abs(ids) < 1 << 62):
                ids = ids.astype(np.int64)  # as xarray reads integers beside a _FillValue
            if ids.shape == (n,) and ids.dtype.kind in "iu":
                if n and (ids.min() < 0 or ids.max() >= npix):
                    raise ValueError(f"cells are numbered {ids.min()} to {ids.max()}; nside {self.nside} has 0 to {npix - 1}")
                if len(np.unique(ids)) != n:
                    raise ValueError(f"the cells along {dim!r} are not all different")
                self.ids = None if np.array_equal(ids, np.arange(npix)) else ids
        if self.ids is None and n != npix:
            raise ValueError(f"dimension {dim!r} has {n} cells and nside {self.nside} has {npix}: a part of the sky needs a "
                             "coordinate cell_ids with their numbers")
        self.grid = Grid.healpix(self.nside)
        self.lmax, self.iterations = 3 * self.nside - 1, 3

    def take(self, x):
        x = real(x)
        if self.ids is not None:
            full = np.full(x.shape[:-1] + (12 * self.nside**2,), np.nan, x.dtype)
            full[..., self.ids] = x
            x = full
        return reorder(x, n2r=True) if self.nest else np.ascontiguousarray(x)

    def give(self, maps):
        maps = reorder(maps, r2n=True) if self.nest else maps
        return maps if self.ids is None else maps[..., self.ids]

    def __repr__(self):
        part = "" if self.ids is None else f", {len(self.ids)} of {12 * self.nside**2} cells"
        return f"HEALPix nside {self.nside}, {'NESTED' if self.nest else 'RING'}{part}"


class Rows:
    """Latitudes and longitudes."""

    def __init__(self, array, lat, lon):
        self.dims = (lat, lon)
        self.grid = Grid.from_latlon(array.coords[lat], array.coords[lon])
        self.lmax, self.iterations = plan("regrid", self.grid, self.grid).lmax, 0

    def take(self, x):
        return self.grid.arrange(real(x))

    def give(self, maps):
        return self.grid.restore(maps)

    def __repr__(self):
        return repr(self.grid)


def real(x):
    x = np.asarray(x)
    return x if x.dtype == np.float32 else x.astype(np.float64)


def place(array):
    """Where the values are: Rows or Cells."""
    lat = axis(array, ("lat", "latitude", "y"), "latitude", ("degrees_north", "degree_north"), "Y")
    lon = axis(array, ("lon", "longitude", "x"), "longitude", ("degrees_east", "degree_east"), "X")
    if lat is not None and lon is not None:
        return Rows(array, lat, lon)
    coordinate, attrs = mapping(array)
    if attrs:
        named = [d for d in array.dims if d == coordinate or str(d).lower() in CELLS]
    else:
        named = [d for d in array.dims if str(d).lower() in CELLS and array.sizes[d] % 12 == 0]
    if len(named) == 1:
        return Cells(array, named[0], attrs)
    raise ValueError(f"dimensions {', '.join(map(str, array.dims))} have no latitude and longitude (coordinates lat and lon, or "
                     "standard_name) and no HEALPix cells (a dimension cell, with a grid mapping)")
