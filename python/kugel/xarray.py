# SPDX-License-Identifier: BSD-3-Clause
"""Fields with names: `import kugel.xarray` gives DataArrays and Datasets of xarray the accessor `.kugel`.

    import xarray, kugel.xarray
    t2m = xarray.open_dataset("t2m.nc").t2m              # (time, latitude, longitude), from the south, from -180: any way
    t2m.kugel.smooth(5.0)                                # a Gaussian of 5 degrees FWHM; dims and coordinates are kept
    t2m.kugel.regrid(nside=64)                           # (time, cell) with a grid mapping `crs`
    t2m.kugel.regrid(like=other)                         # on another array's latitudes and longitudes, or cells
    t2m.kugel.spectrum()                                 # (time, l): C_l
    t2m.kugel.power()                                    # (time, l): variance of each degree; its sum is the mean square

The place of each value is read from the coordinates: latitudes and longitudes as Grid.from_latlon recognises them, or
HEALPix cells by CF's or xdggs' attributes (grid_mapping_name "healpix", healpix_nside, healpix_order; grid_name, level,
indexing_scheme), RING or NESTED. Arrays of Dask stay lazy, a chunk for each task.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .alms import alm2cl
from .extras import need, plan
from .places import CELLS as _CELLS, Cells, Rows, mapping as _mapping, place as _place, real as _real

xr = need("xarray", "kugel.xarray")

def _missing(place, x, missing):
    """Maps in the grid's order, with zeros where there is no value, and where that is."""
    maps = place.take(x)
    bad = ~np.isfinite(maps)
    if not bad.any():
        return maps, None
    if missing == "error":
        raise ValueError(f"{np.count_nonzero(bad)} values are missing (NaN): fill them, or missing='zero' counts them as zero")
    return np.where(bad, 0, maps).astype(maps.dtype), bad


def _smooth(x, place, fwhm, lmax, missing):
    maps, bad = _missing(place, x, missing)
    out = plan("regrid", place.grid, place.grid, lmax=lmax, fwhm=fwhm, iterations=place.iterations,
               beyond_band_limit=True)(maps)
    if bad is not None:
        out = np.where(bad, np.nan, out).astype(maps.dtype)
    return place.give(out)


def _change(x, place, target, words, missing):
    return target.give(plan("regrid", place.grid, target.grid, **words)(_missing(place, x, missing)[0]))


def _change_pair(u, v, place, target, words, missing):
    maps = np.stack([_missing(place, u, missing)[0], _missing(place, v, missing)[0]], axis=-2)
    out = plan("regrid", place.grid, target.grid, spin=1, **words)(maps)
    return target.give(out[..., 0, :]), target.give(out[..., 1, :])


def _cl(x, place, lmax, missing):
    maps = _missing(place, x, missing)[0]
    alm = plan("sht", place.grid, lmax, iterations=place.iterations).analysis(maps).astype(np.complex128)
    rows = [alm2cl(a, lmax=lmax) for a in alm.reshape(-1, alm.shape[-1])]
    return np.stack(rows).reshape(alm.shape[:-1] + (lmax + 1,))


def _whole(array, dims):
    """One chunk along the dimensions of the sphere: a transform needs all of it."""
    return array.chunk({d: -1 for d in dims}) if array.chunks is not None else array


def _apply(function, arrays, place, dims, sizes, dtype, words, outputs=1):
    arrays = [_whole(a.reset_coords(drop=True).drop_vars([d for d in place.dims if d in a.coords]), place.dims) for a in arrays]
    return xr.apply_ufunc(function, *arrays, kwargs=words, input_core_dims=[list(place.dims)] * len(arrays),
                          output_core_dims=[list(dims)] * outputs, exclude_dims=set(place.dims), dask="parallelized",
                          output_dtypes=[dtype] * outputs, dask_gufunc_kwargs={"output_sizes": sizes}, keep_attrs=True)


def _other_coordinates(array, dims):
    """Coordinates that do not lie on the sphere's dimensions, such as times and levels."""
    mapping = _mapping(array)[0]
    return {k: c.variable for k, c in array.coords.items() if not set(c.dims) & set(dims) and k != mapping}


def crs(nside: int, nest: bool) -> Any:
    """The grid mapping of HEALPix cells, a coordinate without a dimension."""
    return xr.DataArray(np.int32(0), attrs={"grid_mapping_name": "healpix", "healpix_nside": int(nside),
                                            "healpix_order": "nest" if nest else "ring"})


def _target(nside, nest, lat, lon, like):
    given = [name for name, yes in (("nside", nside is not None), ("lat and lon", lat is not None or lon is not None),
                                    ("like", like is not None)) if yes]
    if len(given) != 1:
        raise ValueError(f"{' and '.join(given) or 'nothing'} given; give one of nside, lat and lon, like")
    if like is not None:
        if isinstance(like, xr.Dataset):
            like = next(iter(like.kugel._fields().values()), None)
        if like is None:
            raise ValueError("like has no variable on the sphere")
        place = _place(like)
        keep = {k: c.variable for k, c in like.coords.items() if c.dims and set(c.dims) <= set(place.dims) or k == _mapping(like)[0]}
        return place, keep, {d: like.sizes[d] for d in place.dims}
    if nside is not None:
        if int(nside) < 1 or (nest and int(nside) & (int(nside) - 1)):
            raise ValueError(f"nside is {nside}; it must be at least 1, and with NESTED cells a power of two")
        n = 12 * int(nside)**2
        mapping = crs(nside, nest)
        cells = xr.DataArray(np.arange(n), dims="cell", attrs=dict(mapping.attrs))
        return Cells(xr.DataArray(np.empty(n), dims="cell"), "cell", mapping.attrs), {"cell": cells, "crs": mapping}, {"cell": n}
    if lat is None or lon is None:
        raise ValueError("lat and lon go together, arrays of degrees")
    coords = {"lat": ("lat", np.asarray(lat, float), {"standard_name": "latitude", "units": "degrees_north"}),
              "lon": ("lon", np.asarray(lon, float), {"standard_name": "longitude", "units": "degrees_east"})}
    empty = xr.DataArray(np.empty((np.size(lat), np.size(lon))), dims=("lat", "lon"), coords=coords)
    return Rows(empty, "lat", "lon"), dict(empty.coords), dict(empty.sizes)


def _check(missing):
    if missing not in ("error", "zero"):
        raise ValueError(f"missing is {missing!r}; allowed are 'error' and 'zero'")


class _Common:
    def __init__(self, held):
        self._held = held


@xr.register_dataarray_accessor("kugel")
class ArrayAccessor(_Common):
    """Transforms on the sphere; see kugel.xarray."""

    @property
    def grid(self) -> Any:
        """What the coordinates say, as text: kind of grid, and the way in which rows and columns run, or nside and numbering."""
        return repr(_place(self._held))

    def cells(self, order: int, dim: Any = None) -> Any:
        """The array with a grid mapping that numbers the cells along `dim` in "nested" or "ring" order."""
        if order not in ("nested", "nest", "ring"):
            raise ValueError(f"order is {order!r}; allowed are 'nested' and 'ring'")
        named = [dim] if dim else [d for d in self._held.dims if str(d).lower() in _CELLS]
        if len(named) != 1 or named[0] not in self._held.dims:
            raise ValueError(f"give dim, which of {', '.join(map(str, self._held.dims))} has the cells")
        place = Cells(self._held, named[0], {"healpix_order": order})
        out = self._held.assign_coords(crs=crs(place.nside, place.nest))
        out = out.rename({named[0]: "cell"}) if named[0] not in _CELLS else out
        out.attrs["grid_mapping"] = "crs"
        return out

    def smooth(self, degrees: float, lmax: int | None = None, missing: str = "error") -> Any:
        """Smoothed by a Gaussian whose full width at half maximum is `degrees`.

        lmax:    highest degree kept; when not given what the grid is exact for, on HEALPix 3 nside - 1
        missing: "error", or "zero": NaN count as zero, and stay NaN
        """
        _check(missing)
        if not 0 <= degrees <= 180:
            raise ValueError(f"degrees is {degrees}; it must be 0 to 180")
        a, place = self._held, _place(self._held)
        words = dict(place=place, fwhm=float(np.radians(degrees)), lmax=int(lmax or place.lmax), missing=missing)
        out = _apply(_smooth, [a], place, place.dims, {d: a.sizes[d] for d in place.dims}, _real(np.empty(0, a.dtype)).dtype, words)
        return out.transpose(*a.dims).assign_coords(a.coords).rename(a.name)

    def regrid(self, nside: int | None = None, nest: bool = True, lat: Any = None, lon: Any = None, like: Any = None,
               missing: str = "error", **options: Any) -> Any:
        """On another grid, through harmonics: one of

        nside:    HEALPix cells, NESTED unless nest=False, with the coordinates cell and crs
        lat, lon: latitudes and longitudes in degrees that Grid.from_latlon recognises, in any direction
        like:     those of another DataArray or Dataset

        missing: as for smooth;  options: those of kugel.Regrid, such as lmax and fwhm (radians)
        Vectors have components that turn with the grid: Dataset.kugel.regrid(winds=("u", "v")).
        """
        _check(missing)
        a, place = self._held, _place(self._held)
        target, coords, sizes = _target(nside, nest, lat, lon, like)
        options.setdefault("iterations", place.iterations)
        out = _apply(_change, [a], place, target.dims, sizes, _real(np.empty(0, a.dtype)).dtype,
                     dict(place=place, target=target, words=options, missing=missing))
        return _dressed(out, a, place, target, coords)

    def spectrum(self, lmax: int | None = None, missing: str = "error") -> Any:
        """C_l, the mean of |a_lm|^2 over the 2 l + 1 orders: dims (..., l). Missing values count as zero, without correction."""
        _check(missing)
        a, place = self._held, _place(self._held)
        lmax = int(place.lmax if lmax is None else lmax)
        out = _apply(_cl, [a], place, ("l",), {"l": lmax + 1}, np.dtype(np.float64), dict(place=place, lmax=lmax, missing=missing))
        out = out.assign_coords(_other_coordinates(a, place.dims)).assign_coords(
            l=("l", np.arange(lmax + 1), {"long_name": "spherical harmonic degree"}))
        units = a.attrs.get("units")
        out.attrs = {"long_name": f"power spectrum of {a.attrs.get('long_name', a.name or 'the field')}",
                     **({"units": f"({units})^2"} if units else {})}
        return out.rename(a.name)

    def power(self, lmax: int | None = None, missing: str = "error") -> Any:
        """(2 l + 1) C_l / 4 pi: what each degree adds to the mean square over the sphere."""
        out = self.spectrum(lmax, missing)
        attrs = out.attrs
        out = out * (2 * out.l + 1) / (4 * np.pi)
        out.attrs = {**attrs, "long_name": attrs["long_name"].replace("power spectrum", "variance per degree")}
        return out


def _dressed(out, a, place, target, coords):
    lead = [d for d in a.dims if d not in place.dims]
    out = out.transpose(*lead, *target.dims).assign_coords({**_other_coordinates(a, place.dims), **coords}).rename(a.name)
    out.attrs = {k: v for k, v in a.attrs.items() if k != "grid_mapping"}
    if "crs" in coords:
        out.attrs["grid_mapping"] = "crs"
    return out


@xr.register_dataset_accessor("kugel")
class DatasetAccessor(_Common):
    """The same for each variable on the sphere; others stay as they are."""

    def _fields(self):
        out = {}
        for name, a in self._held.data_vars.items():
            try:
                _place(a)
            except ValueError:
                if not any(str(d).lower() in _CELLS + ("lat", "latitude", "lon", "longitude") for d in a.dims):
                    continue
                raise
            out[name] = a
        return out

    def _each(self, function, replaced=()):
        fields = {k: a for k, a in self._fields().items() if k not in replaced}
        if not fields and not replaced:
            raise ValueError("no variable has latitude and longitude, or HEALPix cells")
        return {k: function(a) for k, a in fields.items()}

    def _with(self, made):
        rest = {k: a for k, a in self._held.data_vars.items() if k not in made}
        return xr.Dataset({**rest, **made}, attrs=self._held.attrs)

    def smooth(self, degrees: float, lmax: int | None = None, missing: str = "error") -> Any:
        return self._with(self._each(lambda a: a.kugel.smooth(degrees, lmax, missing)))

    def spectrum(self, lmax: int | None = None, missing: str = "error") -> Any:
        return self._with(self._each(lambda a: a.kugel.spectrum(lmax, missing)))

    def power(self, lmax: int | None = None, missing: str = "error") -> Any:
        return self._with(self._each(lambda a: a.kugel.power(lmax, missing)))

    def regrid(self, nside: int | None = None, nest: bool = True, lat: Any = None, lon: Any = None, like: Any = None,
               missing: str = "error", winds: Any = (), **options: Any) -> Any:
        """winds: names (u, v) of an eastward and a northward component, or several such pairs, which are regridded as vectors."""
        _check(missing)
        pairs = [winds] if winds and isinstance(winds[0], str) else list(winds)
        made = {}
        for u, v in pairs:
            for name in (u, v):
                if name not in self._held:
                    raise ValueError(f"winds has {name!r}, which is not a variable: there are {', '.join(map(str, self._held.data_vars))}")
            a, b = self._held[u], self._held[v]
            place = _place(a)
            target, coords, sizes = _target(nside, nest, lat, lon, like)
            words = {"iterations": place.iterations, **options}
            both = _apply(_change_pair, [a, b], place, target.dims, sizes, _real(np.empty(0, a.dtype)).dtype,
                          dict(place=place, target=target, words=words, missing=missing), outputs=2)
            made[u], made[v] = (_dressed(x, c, place, target, coords) for x, c in zip(both, (a, b)))
        names = set(made)
        made.update(self._each(lambda a: a.kugel.regrid(nside, nest, lat, lon, like, missing, **options), names))
        return self._with(made)
