# SPDX-License-Identifier: BSD-3-Clause
"""Axes of matplotlib in a projection of the sphere, under healpy's names; matplotlib is needed (kugel[plot])."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .extras import need

need("matplotlib", "drawing on axes")

from matplotlib import colormaps as _known, colors as _colors
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator

from . import projector as P, units
from ._lib import lib
from .maps import UNSEEN, get_nside
from .pixelfunc import vec2pix
from .rotator import Rotator

if TYPE_CHECKING:
    import numpy.typing as npt


def _own_colormap(name):
    """One of Kugel's colour maps as matplotlib's, or None."""
    import ctypes

    rgb, table = (ctypes.c_uint8 * 3)(), []
    try:
        for t in np.linspace(0, 1, 256):
            lib.kugel_plot_colors_at(name.encode(), float(t), rgb)
            table.append(tuple(c / 255 for c in rgb))
    except ValueError:
        return None
    return _colors.ListedColormap(table, name=name)


def create_colormap(cmap: Any, badcolor: str = "gray", bgcolor: str = "white") -> Any:
    """A colour map (a name of matplotlib's or Kugel's, or an object, which is copied) with the colours of bad pixels and of
    what lies outside."""
    import copy

    if cmap is None:
        cmap = "planck"
    if isinstance(cmap, str):
        cmap = {"planck_log": "planck", "wmap": "jet"}.get(cmap, cmap)
        found = _known[cmap] if cmap in _known else _own_colormap(cmap)
        if found is None:
            raise ValueError(f"colour map {cmap!r} is unknown to matplotlib and to Kugel; see kugel.visufunc.colormaps()")
        cmap = found
    if not hasattr(cmap, "set_bad"):  # any function of numbers in [0, 1]
        cmap = _colors.ListedColormap(np.asarray(cmap(np.linspace(0, 1, 256))), name="own")
    return copy.deepcopy(cmap).with_extremes(bad=badcolor, under=bgcolor, over=cmap(1.0))


class HistEqNorm(_colors.Normalize):
    """Colours by rank: as many values for each."""

    def __init__(self, vmin: Any = None, vmax: Any = None, clip: bool = False) -> None:
        super().__init__(vmin, vmax, clip)
        self._sorted = None

    def autoscale(self, val: Any) -> Any:
        v = np.ma.asarray(val).compressed()
        v = v[np.isfinite(v)]
        if v.size:
            self.vmin, self.vmax = float(v.min()), float(v.max())
        self._rank(v)

    def autoscale_None(self, val: Any) -> Any:
        v = np.ma.asarray(val).compressed()
        v = v[np.isfinite(v)]
        if v.size:
            self.vmin = float(v.min()) if self.vmin is None else self.vmin
            self.vmax = float(v.max()) if self.vmax is None else self.vmax
        self._rank(v)

    def _rank(self, v):
        v = np.unique(v)
        if v.size > 1:
            self._sorted = v[np.linspace(0, v.size - 1, min(v.size, 1024)).astype(int)]

    def __call__(self, value: Any, clip: bool | None = None) -> Any:
        v = np.ma.asarray(value, dtype=np.float64)
        if self._sorted is None:
            self.autoscale_None(v)
        if self._sorted is None:
            return np.ma.MaskedArray(np.zeros(v.shape), v.mask)
        out = np.interp(v.filled(self.vmin), self._sorted, np.linspace(0, 1, self._sorted.size))
        return np.ma.MaskedArray(np.where(v.filled(self.vmin) < self.vmin, -1.0, out), np.ma.getmaskarray(v))

    def inverse(self, value: Any) -> Any:
        if self._sorted is None:
            return np.asarray(value)
        return np.interp(value, np.linspace(0, 1, self._sorted.size), self._sorted)


class LinNorm2(_colors.Normalize):
    """A linear scale (healpy's name for it)."""


class LogNorm2(_colors.LogNorm):
    """A logarithmic scale (healpy's name for it)."""


class BoundaryLocator(FixedLocator):
    """Ticks at the ends of the colour bar, and N - 2 between."""

    def __init__(self, N: Any = 2, norm: Any = None) -> None:
        super().__init__([])
        self.N, self.norm = N, norm

    def __call__(self) -> Any:
        low, high = self.axis.get_view_interval()
        t = np.linspace(0, 1, max(self.N, 2))
        return np.asarray(self.norm.inverse(t)) if self.norm is not None and self.norm.scaled() else low + t * (high - low)

    def autoscale(self) -> Any:
        return self.axis.get_view_interval()


def make_norm(norm: Any, vmin: Any, vmax: Any, values: npt.ArrayLike, **extra: Any) -> Any:
    """A scale: None, "lin", "log", "hist", "asinh", "symlog", "symlog2", or an object of matplotlib's."""
    if norm is not None and not isinstance(norm, str):
        return norm
    name = (norm or "linear").lower()
    v = values.compressed() if np.ma.isMaskedArray(values) else np.asarray(values).ravel()
    v = v[np.isfinite(v)]
    low = vmin if vmin is not None else (float(v.min()) if v.size else 0.0)
    high = vmax if vmax is not None else (float(v.max()) if v.size else 1.0)
    if name in ("linear", "lin"):
        return _colors.Normalize(low, high)
    if name == "hist":
        out = HistEqNorm(vmin, vmax)
        out.autoscale_None(values)
        return out
    if name == "log":
        positive = v[v > 0]
        if not positive.size:
            raise ValueError("norm='log': the map has no positive values; take 'asinh'")
        return _colors.LogNorm(low if low > 0 else float(positive.min()), high)
    if name in ("asinh", "symlog", "symlog2"):
        scale = extra.get("linthresh") or (np.percentile(np.abs(v), 68) if v.size else 1.0) or 1.0
        return _colors.SymLogNorm(scale, linscale=extra.get("linscale", 1.0), vmin=low, vmax=high, base=extra.get("base", 10))
    raise ValueError(f"norm is {norm!r}; allowed are None, 'log', 'asinh', 'symlog', 'symlog2', 'hist' and objects of matplotlib's")


def get_color_table(vmin: Any, vmax: Any, val: Any, cmap: Any = None, norm: Any = None, linthresh: float = 1, base: Any = 10,
                    linscale: float = 0.1, badcolor: str = "gray", bgcolor: str = "white") -> Any:
    """The scale and the colour map of values."""
    return (make_norm(norm, vmin, vmax, np.ma.asarray(val), linthresh=linthresh, base=base, linscale=linscale),
            create_colormap(cmap, badcolor, bgcolor))


class SphericalProjAxes(Axes):
    """Axes whose points are those of a projection. Positions are colatitude and longitude in radians, longitude and latitude
    in degrees (lonlat=True), or unit vectors [3, n]; coord: their system, where it is not the picture's."""

    def __init__(self, ProjClass: Any, *args: Any, **kwds: Any) -> None:
        if not issubclass(ProjClass, P.SphericalProj):
            raise TypeError("the first argument is a projection, a class of kugel.projector")
        own = {name: kwds.pop(name) for name in ("rot", "coord", "flipconv") if name in kwds}
        flip = own.pop("flipconv", None)
        self.proj = ProjClass(**own)
        self.proj.set_flip(flip)
        self._lines_of_graticule, self._format, self._digits, self._values = [], "%g", 2, None
        kwds.setdefault("aspect", "equal")
        super().__init__(*args, **kwds)
        self.set_axis_off()
        self.set_autoscale_on(False)

    def set_format(self, f: Any) -> Any:
        """The printf format of values under the cursor."""
        self._format = f

    def set_coordprec(self, n: Any) -> Any:
        """Digits of angles under the cursor."""
        self._digits = int(n)

    def get_lonlat(self, x: Any, y: Any) -> Any:
        """Longitude and latitude of a point, degrees; NaN outside."""
        return tuple(float(v) for v in np.ravel(self.proj.xy2ang(x, y, lonlat=True)))

    def get_value(self, x: Any, y: Any) -> Any:
        """The value that is drawn at a point, or None."""
        if not self.images:
            return None
        a = self._values
        i, j = (np.ma.asarray(k) for k in self.proj.xy2ij(x, y))
        if np.ma.getmaskarray(i).any() or np.ma.getmaskarray(j).any():
            return None
        return a[int(i), int(j)]

    def format_coord(self, x: Any, y: Any) -> Any:
        lon, lat = self.get_lonlat(x, y)
        if not np.isfinite(lon):
            return ""
        text = f"lon {lon:.{self._digits}f}, lat {lat:.{self._digits}f}"
        value = self.get_value(x, y)
        return text if value is None or np.ma.is_masked(value) else text + ": " + self._format % value

    def projmap(self, map: Any, vec2pix_func: Any, vmin: Any = None, vmax: Any = None, badval: float = UNSEEN, badcolor: str = "gray",
                bgcolor: str = "white", cmap: Any = None, norm: Any = None, rot: Any = None, coord: Any = None, alpha: float | None = None,
                **kwds: Any) -> Any:
        """Draws a map; returns its values on the plane."""
        self.proj.set_proj_plane_info(**{**self.proj.get_proj_plane_info(), **kwds})
        values = self.proj.projmap(map, vec2pix_func, rot=rot, coord=coord)
        self._draw(values, make_norm(norm, vmin, vmax, values), create_colormap(cmap, badcolor, bgcolor), alpha)
        return values

    def _draw(self, values, norm, cmap, alpha=None):
        x0, x1, y0, y1 = self.proj.get_extent()
        if isinstance(alpha, np.ndarray) and alpha.shape != values.shape:
            alpha = None
        self._values = values
        low, high = (norm.vmin, norm.vmax) if norm.scaled() else (-np.inf, np.inf)
        shown = np.ma.MaskedArray(np.clip(np.where(np.isfinite(values.data), values.data, low), low, high), values.mask)
        image = self.imshow(shown, extent=(x0, x1, y0, y1), origin="lower", norm=norm, cmap=cmap, interpolation="nearest",
                            aspect="equal", alpha=alpha)
        outline = self.frame()
        if outline is not None:
            image.set_clip_path(outline)
        return image

    def frame(self) -> Any:
        """Sets the limits and draws the outline; returns it, or None where the window ends within the sphere."""
        x0, x1, y0, y1 = self.proj.get_extent()
        circles = None
        if isinstance(self.proj, P.MollweideProj):
            circles = [(0, 2, 1)]
        elif isinstance(self.proj, P.OrthographicProj):
            circles = [(0, 1, 1)] if x1 < 1.5 else [(-1, 1, 1), (1, 1, 1)]
        elif isinstance(self.proj, P.AzimuthalProj):
            r = self.proj.radius()
            circles = [(0, r, r)] if max(x1, y1) > r / 2 ** 0.5 else None
        pad = 0.01 * (x1 - x0) if circles else 0
        self.set_xlim(x0 - pad, x1 + pad)
        self.set_ylim(y0 - pad, y1 + pad)
        if circles is None:
            return None
        unit = Path.unit_circle()
        path = Path.make_compound_path(*[Path(unit.vertices * (w, h) + (x, 0), unit.codes) for x, w, h in circles])
        patch = PathPatch(path, fill=False, edgecolor="black", linewidth=0.8, zorder=1.9)
        self.add_patch(patch)
        return patch

    # ---- positions ----

    def _points(self, words, rot, coord, lonlat, direct):
        """x and y of positions, and the words that are left."""
        words = list(words)
        if units.is_sky(words[0]):
            words[:1] = units.pair(words[0], lonlat)
        words[:2] = [units.number(word, "deg" if lonlat else "rad") for word in words[:2]]
        first = np.asarray(words.pop(0), np.float64)
        if words and not isinstance(words[0], str) and words[0] is not None:
            angles = np.broadcast_arrays(first, np.asarray(words.pop(0), np.float64))
            v = None
        else:
            if words and words[0] is None:
                words.pop(0)
            if first.shape[:1] not in ((2,), (3,)):
                raise TypeError("positions are theta and phi, an array of both [2, n], or vectors [3, n]")
            angles, v = (first, None) if first.shape[0] == 2 else (None, first)
        if v is None:
            from .sphere_angles import ang2vec

            v = np.moveaxis(np.atleast_2d(ang2vec(*[np.atleast_1d(a) for a in angles], lonlat=lonlat)), -1, 0)
        pair = self.proj.mkcoord(coord)
        if rot is not None or pair is not None:
            v = np.asarray(Rotator(rot=rot, coord=pair, eulertype="ZYX")(v.reshape(3, -1)))
        x, y = self.proj.vec2xy(v.reshape(3, -1), direct=direct)
        return np.atleast_1d(x), np.atleast_1d(y), words

    def _broken(self, x, y):
        """A line with gaps where it leaves one side and comes in at the other."""
        x0, x1, y0, y1 = self.proj.get_extent()
        with np.errstate(invalid="ignore"):
            far = (np.abs(np.diff(x)) > 0.25 * (x1 - x0)) | (np.abs(np.diff(y)) > 0.25 * (y1 - y0))
            if isinstance(self.proj, P.OrthographicProj) and x1 > 1.5:
                far |= np.diff(np.sign(x)) != 0  # from one disc to the other
        jumps = np.nonzero(far)[0] + 1
        return np.insert(x, jumps, np.nan), np.insert(y, jumps, np.nan)

    def projplot(self, *args: Any, **kwds: Any) -> Any:
        """A line, or markers, as plot: projplot(theta, phi, "r-", lonlat=False, coord=None, rot=None, direct=False, ...)."""
        x, y, rest = self._points(args, kwds.pop("rot", None), kwds.pop("coord", None), kwds.pop("lonlat", False),
                                  kwds.pop("direct", False))
        return self.plot(*self._broken(x, y), *rest, scalex=False, scaley=False, **kwds)

    def projscatter(self, theta: Any, phi: Any = None, *args: Any, **kwds: Any) -> Any:
        """Markers, as scatter. A SkyCoord takes the places of theta and phi, in its own frame."""
        if units.is_sky(theta) and phi is not None:
            args, phi = (phi, *args), None
        x, y, rest = self._points((theta,) if phi is None else (theta, phi), kwds.pop("rot", None), kwds.pop("coord", None),
                                  kwds.pop("lonlat", False), kwds.pop("direct", False))
        kwds.setdefault("zorder", 2.5)
        return self.scatter(x, y, *args, **kwds)

    def projtext(self, theta: Any, phi: Any = None, s: Any = None, *args: Any, **kwds: Any) -> Any:
        """Text at a position, as text."""
        if s is None or units.is_sky(theta):
            theta, phi, s = theta, None, phi if s is None else s
        x, y, _ = self._points((theta,) if phi is None else (theta, phi), kwds.pop("rot", None), kwds.pop("coord", None),
                               kwds.pop("lonlat", False), kwds.pop("direct", False))
        return self.text(float(x[0]), float(y[0]), s, *args, clip_on=True, **kwds)

    # ---- graticule ----

    def _step(self):
        """A step of meridians and parallels for this field of view, radians."""
        span = np.rad2deg(self.proj.get_fov())
        for step in (30, 20, 10, 5, 2, 1, 0.5, 0.25, 0.1, 0.05):
            if span / step >= 5:
                return np.deg2rad(step)
        return np.deg2rad(span / 5)

    def get_parallel_interval(self, vx: Any, vy: Any = None, vz: Any = None) -> Any:
        """The default distance of parallels, radians."""
        return self._step()

    def get_meridian_interval(self, vx: Any, vy: Any = None, vz: Any = None) -> Any:
        """The default distance of meridians, radians."""
        return self._step()

    def graticule(self, dpar: Any = None, dmer: Any = None, coord: Any = None, local: Any = None, verbose: bool = True, **kwds: Any) -> Any:
        """Parallels every dpar degrees, meridians every dmer; local: of the picture, not of the sky. Prints nothing."""
        dpar = np.rad2deg(self._step()) if dpar is None else float(dpar)
        dmer = np.rad2deg(self._step()) if dmer is None else float(dmer)
        if not (0 < dpar <= 90 and 0 < dmer <= 360):
            raise ValueError(f"dpar is {dpar}, dmer is {dmer}; they are degrees, above 0, at most 90 and 360")
        fine = np.linspace(0, 1, 721)
        style = {"color": "k", "linestyle": ":", "linewidth": 0.7, "zorder": 2.2, **kwds}
        if "c" in kwds:
            style.pop("color")
        words = dict(lonlat=True, coord=coord, direct=bool(local))
        lines = []
        for lat in np.arange(-np.floor(89.999 / dpar) * dpar, 90, dpar):
            lines += self.projplot(360 * fine - 180, np.full(fine.size, lat), **words, **style)
        for lon in np.arange(0, 360, dmer):
            lines += self.projplot(np.full(fine.size, lon), 180 * fine - 90, **words, **style)
        self._lines_of_graticule += lines
        return lines

    def delgraticules(self) -> Any:
        """Takes all graticules away."""
        for line in self._lines_of_graticule:
            line.remove()
        self._lines_of_graticule = []


def _class(name, proj, doc, healpix):
    def __init__(self, *args: Any, **kwds: Any) -> None:
        SphericalProjAxes.__init__(self, proj, *args, **kwds)

    def projmap(self, map: npt.ArrayLike, nest: bool = False, **kwds: Any) -> Any:
        """Draws a HEALPix map; returns its values on the plane."""
        nside = get_nside(map)
        return SphericalProjAxes.projmap(self, map, lambda x, y, z: vec2pix(nside, x, y, z, nest=nest), **kwds)

    body = {"__init__": __init__, "__doc__": doc, "__module__": __name__}
    if healpix:
        body["projmap"] = projmap
    return type(name, (SphericalProjAxes,), body)


for _name, _proj in (("Gnomonic", P.GnomonicProj), ("Mollweide", P.MollweideProj), ("Cartesian", P.CartesianProj),
                     ("Orthographic", P.OrthographicProj), ("Azimuthal", P.AzimuthalProj)):
    globals()[_name + "Axes"] = _class(_name + "Axes", _proj, f"{_name} axes; projmap takes a function that numbers pixels.", False)
    globals()[f"Hpx{_name}Axes"] = _class(f"Hpx{_name}Axes", _proj, f"{_name} axes for HEALPix maps.", True)
