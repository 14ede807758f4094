# SPDX-License-Identifier: BSD-3-Clause
"""Views on axes of matplotlib, and what is drawn over them: healpy's graticule, projplot, projscatter, projtext, azeqview.

matplotlib is needed, and imported at the first call: pip install kugel[plot].
"""
from __future__ import annotations

from typing import Any

import numpy as np

from . import units
from .extras import need
from .maps import filled, maptype

_SIZES = {"Mollweide": (8.5, 5.4), "Orthographic": (8.5, 5.4), "Gnomonic": (5.8, 6.2), "Cartesian": (8.5, 5.4), "Azimuthal": (6.2, 6.4)}


def _pyplot():
    return need("matplotlib.pyplot", "drawing on axes")


def _place(kind, fig, sub, hold, reuse, margins, **own):
    """Axes of class `kind`: those in use, in place of those in use, in a grid, or of a new figure."""
    from .projaxes import SphericalProjAxes

    pyplot = _pyplot()
    if reuse:
        axes = pyplot.gca()
        if not isinstance(axes, SphericalProjAxes):
            raise ValueError("reuse_axes=True draws into the axes of a view before; the current axes are none")
        return axes.figure, axes, True
    figure = fig if hasattr(fig, "add_axes") else None
    if hold:
        figure = figure or pyplot.gcf()
        old = figure.gca() if figure.axes else None
        spec = old.get_subplotspec() if old is not None else None
        rect = old.get_position().bounds if old is not None else (0.03, 0.05, 0.94, 0.85)
        if old is not None:
            old.remove()
        axes = kind(figure, spec, **own) if spec is not None else kind(figure, rect, **own)
        figure.add_axes(axes)
    elif sub is not None:
        figure = figure or (pyplot.gcf() if fig is None else pyplot.figure(fig))
        places = sub if hasattr(sub, "__len__") else (sub,)
        axes = figure.add_subplot(*places, axes_class=kind, **own)
    else:
        size = {} if fig is not None and pyplot.fignum_exists(fig) else {"figsize": _SIZES[kind.__name__[3:-4]]}
        figure = figure or pyplot.figure(fig, **size)
        rect = (0.03, 0.05, 0.94, 0.85)
        if margins is not None:
            left, bottom, right, top = margins
            rect = left, bottom, 1 - left - right, 1 - bottom - top
        axes = figure.add_axes(kind(figure, rect, **own))
    pyplot.sca(axes)
    return figure, axes, False


def _sizes(fontsize):
    return fontsize if isinstance(fontsize, dict) else {} if fontsize is None else dict.fromkeys(("title", "cbar_label", "cbar_tick_label"), fontsize)


def draw_view(proj: Any, m: Any, *, fig: Any = None, sub: Any = None, hold: bool = False, reuse: Any = False, margins: Any = None,
              grid: Any = None, rot: Any = None, coord: Any = None, unit: str = "", title: str = "", nest: bool = False,
              low: float | None = None, high: float | None = None, flip: str = "astro", remove_dip: bool = False, remove_mono: bool = False,
              gal_cut: float = 0, format: str = "%g", cbar: bool = True, cmap: Any = None, badcolor: str = "gray", bgcolor: str = "white",
              notext: bool = False, norm: Any = None, alpha: float | None = None, fontsize: Any = None) -> Any:
    """One view, `proj` such as "Mollweide", on axes of matplotlib; returns the axes."""
    from . import projaxes

    coord = list(coord) if isinstance(coord, str) else coord
    pair = coord if coord is not None and len(coord) == 2 else None
    figure, axes, reused = _place(getattr(projaxes, f"Hpx{proj}Axes"), fig, sub, hold, reuse, margins,
                                  **({} if reuse else dict(rot=rot, coord=coord, flipconv=flip)))
    axes.proj.set_proj_plane_info(**grid)
    if m is None:
        axes.frame()
    else:
        if maptype(m) != 0:
            raise TypeError("one map can be drawn at a time")
        values = filled(m)
        if remove_dip or remove_mono:
            from .pixelfunc import remove_dipole, remove_monopole

            values = (remove_dipole if remove_dip else remove_monopole)(values, nest=nest, gal_cut=gal_cut)
        axes.projmap(values, nest=nest, coord=pair, vmin=low, vmax=high, cmap=cmap, badcolor=badcolor,
                     bgcolor=bgcolor, norm=norm, alpha=alpha)
    sizes = _sizes(fontsize)
    if title:
        axes.set_title(title, fontsize=sizes.get("title"))
    if not notext and axes.proj.coordsysstr:
        axes.text(0.97, 0.02, axes.proj.coordsysstr, transform=axes.transAxes, ha="right", fontsize=sizes.get("cbar_tick_label", 9))
    if cbar and m is not None and not reused:
        _bar(figure, axes, unit, format, sizes)
    axes.set_format(format if isinstance(format, str) and "%" in format else "%g")
    return axes


def _bar(figure, axes, unit, format, sizes):
    from .projaxes import BoundaryLocator

    image = axes.images[-1]
    bar = figure.colorbar(image, ax=axes, orientation="horizontal", shrink=0.6, aspect=28, pad=0.05,
                          ticks=BoundaryLocator(2, image.norm), format=format if isinstance(format, str) else None)
    bar.ax.minorticks_off()
    bar.ax.tick_params(labelsize=sizes.get("cbar_tick_label"))
    bar.set_label(unit, fontsize=sizes.get("cbar_label"), labelpad=-4)
    _pyplot().sca(axes)


def current_axes() -> Any:
    """The view that is drawn on: the current axes, or else the last view of the figure."""
    from .projaxes import SphericalProjAxes

    pyplot = _pyplot()
    if pyplot.get_fignums():
        if pyplot.gcf().axes and isinstance(pyplot.gca(), SphericalProjAxes):
            return pyplot.gca()
        views = [axes for axes in pyplot.gcf().axes if isinstance(axes, SphericalProjAxes)]
        if views:
            return views[-1]
    raise ValueError("there is no view to draw on: import matplotlib.pyplot, then call mollview, gnomview, cartview, orthview or azeqview")


def projplot(*args: Any, **kwds: Any) -> Any:
    """A line, or markers, over the current view: projplot(theta, phi, "r-", lonlat=False, coord=None, rot=None, direct=False);
    further keywords are those of matplotlib's plot."""
    return current_axes().projplot(*args, **kwds)


def projscatter(*args: Any, **kwds: Any) -> Any:
    """Markers over the current view, as projplot; further keywords are those of matplotlib's scatter."""
    return current_axes().projscatter(*args, **kwds)


def projtext(*args: Any, **kwds: Any) -> Any:
    """Text over the current view: projtext(theta, phi, "M 31", lonlat=False, coord=None, rot=None, direct=False)."""
    return current_axes().projtext(*args, **kwds)


def graticule(dpar: Any = None, dmer: Any = None, coord: Any = None, local: Any = None, fontsize: Any = None, **kwds: Any) -> Any:
    """Meridians every dmer and parallels every dpar degrees over the current view; coord: their system; local: those of the
    picture. Returns the lines; prints nothing; fontsize has no effect."""
    kwds.pop("verbose", None)
    return current_axes().graticule(dpar=dpar, dmer=dmer, coord=coord, local=local, **kwds)


def delgraticules() -> Any:
    """Takes the graticules of the current view away."""
    current_axes().delgraticules()


@units.takes(centre="rot")
def azeqview(map: Any = None, fig: Any = None, rot: Any = None, zat: Any = None, coord: Any = None, unit: str = "", xsize: int = 800,
             ysize: int | None = None, reso: Any = 1.5, lamb: Any = False, half_sky: Any = False, title: str | None = None,
             nest: bool = False, remove_dip: bool = False, remove_mono: bool = False, gal_cut: float = 0, min: float | None = None,
             max: float | None = None, flip: str = "astro", format: str = "%.3g", cbar: bool = True, cmap: Any = None,
             badcolor: str = "gray", bgcolor: str = "white", norm: Any = None, aspect: Any = None, hold: bool = False, sub: Any = None,
             reuse_axes: bool = False, margins: Any = None, notext: bool = False, return_projected_map: bool = False,
             alpha: float | None = None, fontsize: Any = None) -> Any:
    """Azimuthal views on axes of matplotlib: equidistant, or with lamb of equal areas. reso: arcmin per point at the centre;
    half_sky: no farther than 90 degrees. Other arguments as mollview's. Returns None, or the values on the plane."""
    if title is None:
        title = "Lambert azimuthal equal-area view" if lamb else "Azimuthal equidistant view"
    grid = dict(xsize=int(xsize), ysize=ysize, reso=reso, lamb=lamb, half_sky=half_sky)
    axes = draw_view("Azimuthal", map, fig=fig, sub=sub, hold=hold, reuse=reuse_axes, margins=margins, grid=grid,
                     rot=rot if zat is None else zat, coord=coord, unit=unit, title=title, nest=nest, low=min, high=max, flip=flip,
                     remove_dip=remove_dip, remove_mono=remove_mono, gal_cut=gal_cut, format=format, cbar=cbar, cmap=cmap,
                     badcolor=badcolor, bgcolor=bgcolor, notext=notext, norm=norm, alpha=alpha, fontsize=fontsize)
    if not return_projected_map:
        return None
    return axes._values if map is not None else np.ma.masked_all(axes.proj.ij2xy()[0].shape)
