# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of maps, drawn by the library: no matplotlib is needed.

    kugel.mollview(m, title="W band", unit="mK").save("sky.png")

A picture shows itself in notebooks and turns into an array [height, width, 4] of RGBA bytes by numpy.asarray. Where
matplotlib.pyplot has been imported, a view is also drawn on axes of a figure, as healpy's are: graticule, projplot, projscatter
and projtext draw on them, pyplot.show and savefig show them, sub, hold and reuse_axes place them.
"""
from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi, units
from ._lib import Handle, lib, long_call, options, path, ptr, view
from .maps import UNSEEN, filled, host, maptype
from .views import azeqview, delgraticules, graticule, projplot, projscatter, projtext
from .projection import cartesian, gnomonic, mollweide, orthographic, project

if TYPE_CHECKING:
    import numpy.typing as npt
    from ._types import Path

_SCALES = {None: _ffi.KUGEL_PLOT_LINEAR, "linear": _ffi.KUGEL_PLOT_LINEAR, "lin": _ffi.KUGEL_PLOT_LINEAR,
           "log": _ffi.KUGEL_PLOT_LOG, "asinh": _ffi.KUGEL_PLOT_ASINH, "symlog": _ffi.KUGEL_PLOT_ASINH,
           "hist": _ffi.KUGEL_PLOT_HISTOGRAM}
_GREYS = {"gray": 0x80, "grey": 0x80, "white": 0xff, "black": 0x00, "lightgray": 0xd3, "lightgrey": 0xd3}


class Picture:
    """A picture in memory."""

    def __init__(self, address: Any) -> None:
        self._handle = Handle(address, lib.kugel_plot_destroy)

    def __array__(self, dtype=None, copy=None):
        width, height = ctypes.c_int64(), ctypes.c_int64()
        pixels = lib.kugel_plot_pixels(self._handle.address, ctypes.byref(width), ctypes.byref(height))
        bytes_ = (ctypes.c_uint8 * (width.value * height.value * 4)).from_address(pixels)
        out = np.frombuffer(bytes_, np.uint8).reshape(height.value, width.value, 4).copy()
        return out if dtype is None else out.astype(dtype)

    @property
    def range(self) -> Any:
        """The values at the ends of the colour bar."""
        ends = np.empty(2)
        lib.kugel_plot_range(self._handle.address, ptr(ends))
        return tuple(ends.tolist())

    def save(self, filename: Path, overwrite: bool = True) -> None:
        """Writes a PNG file."""
        lib.kugel_plot_write(self._handle.address, path(filename), int(overwrite))

    drawn = False  # on axes of matplotlib, which the notebook shows

    def _repr_png_(self):
        if self.drawn:
            return None
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        lib.kugel_plot_encode(self._handle.address, ctypes.byref(data), ctypes.byref(size))
        return ctypes.string_at(data.value, size.value)


def colormaps() -> list[str]:
    """Names of the colour maps; "_r" after a name reverses it."""
    names, i = [], 0
    while (name := lib.kugel_plot_colors_name(i)) is not None:
        names.append(name.decode())
        i += 1
    return names


def _colours(cmap):
    """Options for a colour map: a name of Kugel's, a name of matplotlib's, or whatever maps numbers in [0, 1] to RGB as
    matplotlib's colour maps do."""
    if cmap is None:
        return {}
    if isinstance(cmap, str):
        if cmap.removesuffix("_r") in colormaps():
            return {"colors": cmap.encode()}
        try:
            from matplotlib import colormaps as known

            cmap = known[cmap]
        except ImportError:
            raise ValueError(f"colour map {cmap!r} is unknown; there are {', '.join(colormaps())}, reversed with _r, and "
                             "matplotlib's where it is installed") from None
        except KeyError:
            raise ValueError(f"colour map {cmap!r} is unknown to Kugel and to matplotlib; Kugel has "
                             f"{', '.join(colormaps())}, reversed with _r") from None
    if not callable(cmap):
        raise TypeError(f"cmap is {cmap!r}; it must be a name, or map numbers in [0, 1] to RGB as matplotlib's colour maps do")
    rgb = np.asarray(cmap(np.linspace(0, 1, 256)), np.float64)
    if rgb.shape not in ((256, 3), (256, 4)):
        raise TypeError(f"cmap makes an array of shape {rgb.shape} of 256 numbers; expected (256, 3) or (256, 4)")
    return {"color_table": np.ascontiguousarray(np.rint(255 * np.clip(rgb[:, :3], 0, 1)), np.uint8), "ncolors": 256}


def _bad_colour(name):
    if isinstance(name, str):
        if name in _GREYS:
            return (_GREYS[name],) * 3 + (255,)
        if name.startswith("#") and len(name) == 7:
            return tuple(bytes.fromhex(name[1:])) + (255,)
        try:
            from matplotlib.colors import to_rgba

            name = to_rgba(name)
        except (ImportError, ValueError):
            raise ValueError(f"badcolor is {name!r}; allowed are {', '.join(_GREYS)}, '#rrggbb' and, where matplotlib is "
                             "installed, its names") from None
    rgb = [int(round(255 * c)) for c in name]
    return tuple(rgb + [255])[:4]


_FREE = ("graticule", "percentile", "symmetric", "linear_width", "interpolate", "pixel_ratio", "width", "height", "reso",
         "lon_width", "lat_width", "half_sky")  # fields of kugel_plot_opts that further keywords may set


def _check_extra(view_, extra, free=_FREE):
    for name in extra:
        if name not in free:
            raise TypeError(f"{view_}() got an unexpected keyword argument {name!r}; beside healpy's there are "
                            f"{', '.join(free)}")


def _type_size(fontsize):
    """pixel_ratio of a size of type in points, or of healpy's dict of sizes, of which the largest counts."""
    if fontsize is None:
        return {}
    sizes = list(fontsize.values()) if isinstance(fontsize, dict) else [fontsize]
    sizes = [size for size in sizes if size is not None]
    if not all(isinstance(size, (int, float, np.number)) and size > 0 for size in sizes):
        raise TypeError(f"fontsize is {fontsize!r}; it must be a number of points, or a dict of such")
    return {"pixel_ratio": max(sizes) / 14.4} if sizes else {}  # the title has 20 pixels at 100 a inch


def _for_axes(arguments):
    """What a view's arguments mean on axes."""
    names = ("rot", "coord", "unit", "title", "nest", "flip", "remove_dip", "remove_mono", "gal_cut", "format", "cbar", "cmap", "badcolor",
             "bgcolor", "notext", "norm", "alpha", "fontsize")
    return {**{name: arguments[name] for name in names}, "low": arguments["min"], "high": arguments["max"]}


def _no_alpha(alpha):
    if alpha is not None and not np.all(np.asarray(alpha) == 1) and "matplotlib.pyplot" not in sys.modules:
        raise NotImplementedError("alpha is for axes of matplotlib: import matplotlib.pyplot first")


def _sign(flip):
    """-1: east to the left."""
    if flip not in ("astro", "geo"):
        raise ValueError(f"flip is {flip!r}; it must be 'astro' or 'geo'")
    return 1 if flip == "geo" else -1


def _angles(rot):
    rot = np.atleast_1d(0.0 if rot is None else np.asarray(rot, np.float64))[:3]
    return np.deg2rad(np.r_[rot, np.zeros(3 - rot.size)])


def _draw(view_, projection, m, rot, coord, unit, xsize, title, nest, low, high, flip, norm, cbar, cmap, badcolor, bgcolor,
          notext, remove_dip, remove_mono, gal_cut, filename, fontsize, own, extra):
    _check_extra(view_, extra)
    if m is None:
        m = np.full(12, UNSEEN)
    if maptype(m) != 0:
        raise TypeError("one map can be drawn at a time")
    values = filled(m)
    if remove_dip or remove_mono:
        from .pixelfunc import remove_dipole, remove_monopole

        values = (remove_dipole if remove_dip else remove_monopole)(values, nest=nest, gal_cut=gal_cut)
    if values.dtype not in (np.float64, np.float32, np.int32, np.int64):
        values = values.astype(np.float64)
    if _is_norm(norm) and type(norm).__name__ not in _NORMS:
        values, norm, low, high, cbar = _normalised(values, norm, low, high), None, 0, 1, False
    elif _is_norm(norm):
        low, high = norm.vmin if low is None else low, norm.vmax if high is None else high
    values = np.ascontiguousarray(values)
    coord = "" if coord is None else "".join(coord).upper() if not isinstance(coord, str) else coord.upper()
    lon, lat, psi = _angles(rot)
    opts = options(
        _ffi.kugel_plot_opts, projection=projection, scale=_scale(norm), width=int(xsize),
        min=np.nan if low is None else float(low), max=np.nan if high is None else float(high), lon=lon, lat=lat, roll=psi,
        coord=coord.encode() if len(coord) == 2 else None, geo=int(flip == "geo"), no_bar=int(not cbar),
        no_labels=int(bool(notext)), transparent=int(bgcolor in ("none", "transparent")),
        title=title.encode() if title else None, unit=unit.encode() if unit else None, bad=_bad_colour(badcolor),
        **{"graticule": -1.0, **_colours(cmap), **_type_size(fontsize), **own, **extra})
    if low is not None and high is not None and low == high == 0:
        raise ValueError("min and max are both 0")
    out = ctypes.c_void_p()
    long_call(lib.kugel_plot_healpix, None, ctypes.byref(opts),
              _ffi.KUGEL_ORDER_NESTED if nest else _ffi.KUGEL_ORDER_RING, view(values), ctypes.byref(out))
    picture = Picture(out.value)
    if filename is not None:
        picture.save(filename)
    return picture


_NORMS = {"LogNorm": "log", "Normalize": None, "AsinhNorm": "asinh", "SymLogNorm": "asinh"}  # matplotlib's that the library has


def _is_norm(norm):
    """Whether it is an object of matplotlib's Normalize."""
    return hasattr(norm, "autoscale_None")


def _scale(norm):
    norm = _NORMS[type(norm).__name__] if _is_norm(norm) else norm
    try:
        return _SCALES[norm.lower() if isinstance(norm, str) else norm]
    except (KeyError, TypeError):
        raise ValueError(f"norm is {norm!r}; allowed are None, 'log', 'asinh', 'hist' and norms of matplotlib") from None


def _normalised(values, norm, low, high):
    """Values from 0 to 1 by a norm of matplotlib; the ticks of a bar would be wrong, so that the picture has none."""
    import copy

    good = np.isfinite(values) & (values != UNSEEN)
    norm = copy.copy(norm)
    norm.vmin, norm.vmax = norm.vmin if low is None else low, norm.vmax if high is None else high
    out = np.full(values.shape, np.nan)
    out[good] = np.ma.filled(norm(np.ma.masked_invalid(values[good])), np.nan)
    return out


def _show(picture, proj, m, v, fig, sub, hold, reuse, margins, grid):
    """Draws the view on axes of matplotlib if pyplot is in use; `v`: the view's arguments."""
    if "matplotlib.pyplot" not in sys.modules:
        return
    from .views import draw_view

    draw_view(proj, m, fig=fig, sub=sub, hold=hold, reuse=reuse, margins=margins, grid=grid, **v)
    if picture is not None:
        picture.drawn = True


def _result(picture, projected, m, directions, nest, rot, coord):
    """What a view returns: the picture, or the map on the plane."""
    if not projected:
        return picture
    return project(np.full(12, UNSEEN) if m is None else m, directions, nest, rot, coord)


@units.takes(centre="rot")
def mollview(map: npt.ArrayLike | None = None, fig: Any = None, rot: Any = None, coord: Any = None, unit: str = "", xsize: int = 800,
             title: str = "Mollweide view", nest: bool = False, min: float | None = None, max: float | None = None, flip: str = "astro",
             remove_dip: bool = False, remove_mono: bool = False, gal_cut: float = 0, format: str = "%g", format2: str = "%g",
             cbar: bool = True, cmap: Any = None, badcolor: str = "gray", bgcolor: str = "white", notext: bool = False, norm: Any = None,
             hold: bool = False, reuse_axes: bool = False, margins: Any = None, sub: Any = None, nlocs: int = 2,
             return_projected_map: bool = False, alpha: float | None = None, fontsize: Any = None, *, filename: Path | None = None,
             **extra: Any) -> Any:
    """The whole sky in Mollweide's projection.

    map:      one map, RING unless nest; None: an empty picture
    rot:      longitude, latitude of the centre and rotation about it, degrees
    coord:    "GE": the map is galactic, the picture ecliptic
    xsize:    width of the picture, pixels
    min, max: values at the ends of the colours; None: those of the map
    cmap:     a name of kugel.visufunc.colormaps(), or a name or an object of matplotlib's colour maps
    badcolor: of bad pixels: a grey's name, "#rrggbb", or a name of matplotlib's
    norm:     None, "log", "asinh", "hist", or a norm of matplotlib (of its own kinds the returned picture has no bar)
    flip:     "astro": east to the left; "geo": east to the right
    fontsize: of the title, points; all other type goes with it. Of a dict of sizes, as healpy takes it, the largest counts
    return_projected_map: return the values on the plane instead of the picture, a masked array [xsize // 2, xsize]: row 0 is
              the lowest, column 0 the leftmost, -inf lies outside
    filename: also write a PNG file
    Further keywords go to the drawing: graticule=step in radians (0: by projection), percentile=0.01, symmetric=1,
    interpolate=1, linear_width, pixel_ratio ... TypeError for others. format2 and nlocs have no effect; format, margins, alpha,
    fontsize of a dict are for axes of matplotlib.

        kugel.mollview(m, title="W band", unit="mK", cmap="RdBu_r", min=-0.3, max=0.3).save("sky.png")
    """
    arguments = dict(locals())
    _no_alpha(alpha)
    picture = _draw("mollview", _ffi.KUGEL_PLOT_MOLLWEIDE, map, rot, coord, unit, xsize, title, nest, min, max, flip, norm, cbar,
                    cmap, badcolor, bgcolor, notext, remove_dip, remove_mono, gal_cut, filename, fontsize, {}, extra)
    _show(picture, "Mollweide", map, _for_axes(arguments), fig, sub, hold, reuse_axes, margins, dict(xsize=int(xsize)))
    return _result(picture, return_projected_map, map, mollweide(int(xsize), _sign(flip)), nest, rot, coord)


@units.takes(centre="rot")
def orthview(map: npt.ArrayLike | None = None, fig: Any = None, rot: Any = None, coord: Any = None, unit: str = "", xsize: int = 800,
             half_sky: bool = False, title: str = "Orthographic view", nest: bool = False, min: float | None = None,
             max: float | None = None, flip: str = "astro", remove_dip: bool = False, remove_mono: bool = False, gal_cut: float = 0,
             format: str = "%g", format2: str = "%g", cbar: bool = True, cmap: Any = None, badcolor: str = "gray", bgcolor: str = "white",
             notext: bool = False, norm: Any = None, hold: bool = False, margins: Any = None, sub: Any = None, reuse_axes: bool = False,
             return_projected_map: bool = False, alpha: float | None = None, fontsize: Any = None, *, filename: Path | None = None,
             **extra: Any) -> Any:
    """One hemisphere (half_sky) or both, seen from far away. Arguments as mollview's; the projected map is
    [xsize // 2, xsize], with half_sky [xsize, xsize]."""
    arguments = dict(locals())
    _no_alpha(alpha)
    picture = _draw("orthview", _ffi.KUGEL_PLOT_ORTHOGRAPHIC, map, rot, coord, unit, xsize, title, nest, min, max, flip, norm,
                    cbar, cmap, badcolor, bgcolor, notext, remove_dip, remove_mono, gal_cut, filename, fontsize,
                    {"half_sky": int(half_sky)}, extra)
    _show(picture, "Orthographic", map, _for_axes(arguments), fig, sub, hold, reuse_axes, margins, dict(xsize=int(xsize), half_sky=half_sky))
    return _result(picture, return_projected_map, map, orthographic(int(xsize), _sign(flip), half_sky), nest, rot, coord)


@units.takes(centre="rot")
def gnomview(map: npt.ArrayLike | None = None, fig: Any = None, rot: Any = None, coord: Any = None, unit: str = "", xsize: int = 200,
             ysize: int | None = None, reso: float = 1.5, title: str = "Gnomonic view", nest: bool = False, remove_dip: bool = False,
             remove_mono: bool = False, gal_cut: float = 0, min: float | None = None, max: float | None = None, flip: str = "astro",
             format: str = "%.3g", cbar: bool = True, cmap: Any = None, badcolor: str = "gray", bgcolor: str = "white", norm: Any = None,
             hold: bool = False, sub: Any = None, reuse_axes: bool = False, margins: Any = None, notext: bool = False,
             return_projected_map: bool = False, no_plot: bool = False, alpha: float | None = None, fontsize: Any = None, *,
             filename: Path | None = None, **extra: Any) -> Any:
    """The tangent plane about rot; reso in arcmin a pixel, xsize and ysize in pixels. Other arguments as mollview's; the
    projected map is [ysize, xsize]."""
    arguments = dict(locals())
    _no_alpha(alpha)
    width = xsize if xsize > 64 else 64
    picture = _draw("gnomview", _ffi.KUGEL_PLOT_GNOMONIC, map, rot, coord, unit, width, title, nest, min, max, flip, norm, cbar,
                    cmap, badcolor, bgcolor, notext, remove_dip, remove_mono, gal_cut, filename, fontsize,
                    {"reso": np.deg2rad(reso / 60.0), "height": int(ysize or 0)}, extra)
    if not no_plot:
        _show(picture, "Gnomonic", map, _for_axes(arguments), fig, sub, hold, reuse_axes, margins, dict(xsize=int(xsize), ysize=ysize, reso=reso))
    return _result(picture, return_projected_map, map,
                   gnomonic(int(xsize), int(xsize if ysize is None else ysize), reso, _sign(flip)), nest, rot, coord)


@units.takes(centre="rot")
def cartview(map: npt.ArrayLike | None = None, fig: Any = None, rot: Any = None, zat: Any = None, coord: Any = None, unit: str = "",
             xsize: int = 800, ysize: int | None = None, lonra: Any = None, latra: Any = None, title: str = "Cartesian view",
             nest: bool = False, remove_dip: bool = False, remove_mono: bool = False, gal_cut: float = 0, min: float | None = None,
             max: float | None = None, flip: str = "astro", format: str = "%.3g", cbar: bool = True, cmap: Any = None,
             badcolor: str = "gray", bgcolor: str = "white", norm: Any = None, aspect: Any = None, hold: bool = False, sub: Any = None,
             reuse_axes: bool = False, margins: Any = None, notext: bool = False, return_projected_map: bool = False,
             alpha: float | None = None, fontsize: Any = None, *, filename: Path | None = None, **extra: Any) -> Any:
    """Longitude and latitude as x and y; lonra, latra: ranges about the centre, degrees. Other arguments as mollview's; the
    projected map is [ysize, xsize], ysize by the ranges unless given."""
    arguments = dict(locals())
    _no_alpha(alpha)
    centre, own = np.rad2deg(_angles(rot)), {}
    for i, (name, pair) in enumerate((("lon", lonra), ("lat", latra))):
        if pair is None:
            continue
        if len(pair) != 2 or not pair[0] < pair[1]:
            raise ValueError(f"{name}ra is {pair}; it must be two rising numbers")
        own[name + "_width"] = np.deg2rad(pair[1] - pair[0])
        centre[i] += 0.5 * (pair[0] + pair[1])
    picture = _draw("cartview", _ffi.KUGEL_PLOT_CARTESIAN, map, centre, coord, unit, xsize, title, nest, min, max, flip, norm,
                    cbar, cmap, badcolor, bgcolor, notext, remove_dip, remove_mono, gal_cut, filename, fontsize, own, extra)
    _show(picture, "Cartesian", map, _for_axes(arguments), fig, sub, hold, reuse_axes, margins, dict(xsize=int(xsize), ysize=ysize, lonra=lonra, latra=latra))
    return _result(picture, return_projected_map, map,
                   cartesian(int(xsize), None if ysize is None else int(ysize), lonra, latra, _sign(flip)), nest, rot, coord)


def plot_cl(cl: npt.ArrayLike, title: str = "", unit: str = "", names: Any = None, xsize: int = 1200, min: float | None = None,
            max: float | None = None, raw: bool = False, *, filename: Path | None = None, **extra: Any) -> Any:
    """Power spectra against the multipole, l(l+1) C_l / 2 pi unless raw.

    cl:       one spectrum or several, [n, lmax + 1]
    unit:     of C_l
    names:    for the legend; TT, EE, BB, TE, EB, TB for 3, 4 or 6 spectra when not given
    min, max: ends of the value axis
    filename: also write a PNG file; further keywords go to kugel_plot_cl_opts (linear_l=1, linear_y=1, height=600 ...)
    """
    _check_extra("plot_cl", extra, ("linear_l", "linear_y", "height", "pixel_ratio", "transparent"))
    cl = np.ascontiguousarray(np.atleast_2d(np.asarray(host(cl, "cl"), np.float64)))
    if cl.ndim != 2:
        raise TypeError("cl must be one spectrum or several, [n, lmax + 1]")
    if names is not None and len(names) != len(cl):
        raise ValueError(f"{len(names)} names for {len(cl)} spectra")
    texts = None if names is None else (ctypes.c_char_p * len(names))(*(str(name).encode() for name in names))
    opts = options(_ffi.kugel_plot_cl_opts, title=title.encode() or None, unit=unit.encode() or None, width=int(xsize),
                   min=np.nan if min is None else float(min), max=np.nan if max is None else float(max), raw=int(raw),
                   names=None if texts is None else ctypes.addressof(texts), **extra)
    out = ctypes.c_void_p()
    long_call(lib.kugel_plot_cl, None, ctypes.byref(opts), len(cl), cl.shape[1] - 1, ptr(cl), ctypes.byref(out))
    picture = Picture(out.value)
    if filename is not None:
        picture.save(filename)
    return picture
