# SPDX-License-Identifier: BSD-3-Clause
"""projview and newprojplot: maps on matplotlib's own projections, with its axes, ticks and legends. matplotlib is needed."""
from __future__ import annotations

from typing import Any

import numpy as np

from .maps import UNSEEN, filled, get_nside, mask_bad, maptype
from .pixelfunc import vec2pix
from .rotator import Rotator
from .views import _pyplot

_KINDS = ("mollweide", "hammer", "aitoff", "lambert", "cart", "polar", "3d")


def update_dictionary(main_dict: Any, update_dict: Any) -> Any:
    """main_dict with what update_dict has, whose names must be known."""
    for name in update_dict or {}:
        if name not in main_dict:
            raise ValueError(f"{name!r} is unknown; there are {', '.join(main_dict)}")
    return {**main_dict, **(update_dict or {})}


def thetaphi2lonlat(theta: Any, phi: Any) -> Any:
    """Colatitude and longitude (radians) as healpy's projview has them: longitude and latitude in radians."""
    return phi, np.pi / 2 - np.asarray(theta)


def _values(m, kind, xsize, rot, coord, nest, flip, lonra, latra):
    """Longitudes and latitudes of a grid (radians; x, rising), and the values there, a masked array [nlat, nlon]."""
    lon0, lon1 = np.radians((-180, 180) if lonra is None else lonra)
    lat0, lat1 = np.radians((-90, 90) if latra is None else latra)
    x = np.linspace(lon0, lon1, int(xsize))
    y = np.linspace(lat0, lat1, max(int(xsize * (lat1 - lat0) / (lon1 - lon0)), 2))
    sign = -1 if flip == "astro" else 1
    xx, yy = np.meshgrid(x, y)
    v = np.stack([np.cos(yy) * np.cos(sign * xx), np.cos(yy) * np.sin(sign * xx), np.sin(yy)]).reshape(3, -1)
    pair = coord if coord is not None and len(coord) == 2 else None
    pix = vec2pix(get_nside(m), *Rotator(rot=rot, coord=pair, eulertype="ZYX").I(v), nest=nest).reshape(xx.shape)
    values = np.asarray(filled(m), np.float64)[pix]
    return x, y, np.ma.MaskedArray(values, mask_bad(values) | np.isnan(values), fill_value=UNSEEN)


def projview(m: Any = None, fig: Any = None, rot: Any = None, coord: Any = None, unit: str = "", xsize: int = 1000, width: Any = None,
             nest: bool = False, min: float | None = None, max: float | None = None, flip: str = "astro", format: str = "%g",
             cbar: bool = True, cmap: Any = "viridis", badcolor: str = "grey", bgcolor: str = "white", norm: Any = None,
             norm_dict: Any = None, graticule: bool = False, graticule_labels: bool = False, rot_graticule: Any = False,
             graticule_coord: Any = None, override_rot_graticule_properties: Any = None, return_only_data: bool = False,
             projection_type: str = "mollweide", cb_orientation: str = "horizontal", xlabel: str | None = None, ylabel: str | None = None,
             longitude_grid_spacing: int = 60, latitude_grid_spacing: int = 30, override_plot_properties: Any = None,
             title: str | None = None, rlabel: str | None = None, llabel: str | None = None, xtick_label_color: str = "black",
             ytick_label_color: str = "black", graticule_color: Any = None, fontname: str | None = None, fontsize: Any = None,
             phi_convention: str = "counterclockwise", custom_xtick_labels: Any = None, custom_ytick_labels: Any = None,
             cbar_ticks: Any = None, show_tickmarkers: bool = False, extend: Any = None, invRot: Any = True, sub: Any = 111,
             reuse_axes: bool = False, margins: Any = None, hold: bool = False, remove_dip: bool = False, remove_mono: bool = False,
             gal_cut: float = 0, latra: Any = None, lonra: Any = None, dpi: Any = None, **kwargs: Any) -> Any:
    """A map on one of matplotlib's projections, with its ticks, labels and legends.

    m:        one map, RING unless nest; None: an empty picture
    projection_type: mollweide, hammer, aitoff, lambert, cart, polar or 3d
    rot, coord, min, max, flip, norm, badcolor, bgcolor: as mollview's; norm also symlog2, norm_dict: linthresh, linscale, base
    graticule, graticule_labels: lines, and their longitudes and latitudes, every longitude_ and latitude_grid_spacing degrees
    phi_convention: counterclockwise (0 to 360, rising to the left of the zero), clockwise, or symmetrical (-180 to 180)
    lonra, latra: ranges in degrees, for cart; latra for lambert
    rot_graticule: the graticule is the map's, turned with it; otherwise the picture's
    width, dpi: of a new figure, inches and dots per inch
    return_only_data: return longitude, latitude (radians) and the values instead of drawing
    Further keywords are those of pcolormesh. Returns what pcolormesh returns.
    """
    kind = "cart" if projection_type in ("cart", "cartesian") else projection_type
    if kind not in _KINDS:
        raise NotImplementedError(f"projection_type is {projection_type!r}; allowed are {', '.join(_KINDS)}")
    if lonra is not None and kind != "cart":
        raise ValueError(f"lonra cannot be set for projection_type='{projection_type}'")
    if latra is not None and kind not in ("cart", "lambert"):
        raise ValueError(f"latra cannot be set for projection_type='{projection_type}'")
    if m is not None:
        if maptype(m) != 0:
            raise TypeError("one map can be drawn at a time")
        if remove_dip or remove_mono:
            from .pixelfunc import remove_dipole, remove_monopole

            m = (remove_dipole if remove_dip else remove_monopole)(m, nest=nest, gal_cut=gal_cut)
    x, y, values = _values(np.full(12, UNSEEN) if m is None else m, kind, xsize, rot, coord, nest, flip, lonra, latra)
    if return_only_data:
        return x, y, values

    from . import projaxes

    pyplot = _pyplot()
    p = update_dictionary({"cbar_shrink": 0.6, "cbar_pad": 0.08, "cbar_label_pad": None, "cbar_tick_direction": "out", "figure_width": 8.5,
                           "figure_size_ratio": 0.63, "cbar_label_color": "black", "cbar_tick_color": "black", "vertical_tick_rotation": None},
                          override_plot_properties)
    type_ = update_dictionary({"xlabel": 12, "ylabel": 12, "title": 14, "xtick_label": 10, "ytick_label": 10, "cbar_label": 12,
                               "cbar_tick_label": 10}, fontsize if isinstance(fontsize, dict) else {})
    if reuse_axes:
        axes = pyplot.gca()
        figure = axes.figure
    else:
        wide = width or p["figure_width"]
        figure = fig if hasattr(fig, "add_axes") else pyplot.figure(fig, figsize=(wide, wide * p["figure_size_ratio"]), dpi=dpi) if fig is not None or not (
            hold or sub != 111) or not pyplot.get_fignums() else pyplot.gcf()
        places = sub if hasattr(sub, "__len__") else (sub,)
        axes = figure.add_subplot(*places, **({} if kind == "cart" else {"projection": kind}))
        if margins is not None:
            axes.set_position((margins[0], margins[1], 1 - margins[0] - margins[2], 1 - margins[1] - margins[3]))
    extra = {"fontname": fontname} if fontname else {}
    scale = projaxes.make_norm(norm, min, max, values, **(norm_dict or {}))
    colours = projaxes.create_colormap(cmap, badcolor, bgcolor)
    mesh = _mesh(axes, kind, x, y, values, scale, colours, m is None, bgcolor, kwargs)
    if kind not in ("3d",):
        _graticule(axes, kind, x, y, graticule, graticule_labels, longitude_grid_spacing, latitude_grid_spacing, graticule_color, rot, flip,
                   phi_convention, rot_graticule, custom_xtick_labels, custom_ytick_labels, xtick_label_color, ytick_label_color, type_,
                   extra, show_tickmarkers)
    if kind not in ("polar", "3d"):
        axes.set_xlabel(xlabel or "", fontsize=type_["xlabel"], **extra)
        axes.set_ylabel(ylabel or "", fontsize=type_["ylabel"], **extra)
    if title:
        axes.set_title(title, fontsize=type_["title"], pad=14, **extra)
    for label, at, side in ((llabel, 0.02, "left"), (rlabel, 0.98, "right")):
        if label:
            axes.text2D(at, 0.95, label, transform=axes.transAxes, ha=side) if kind == "3d" else axes.text(at, 0.98, label, transform=axes.transAxes, ha=side)
    if cbar and m is not None:
        bar = figure.colorbar(mesh, ax=axes, orientation=cb_orientation, shrink=p["cbar_shrink"], pad=p["cbar_pad"], ticks=cbar_ticks,
                              extend=extend or "neither", aspect=25,
                              format=format if cbar_ticks is not None or scale.__class__.__name__ == "Normalize" else None)
        bar.set_label(unit, fontsize=type_["cbar_label"], labelpad=p["cbar_label_pad"], color=p["cbar_label_color"], **extra)
        bar.ax.tick_params(labelsize=type_["cbar_tick_label"], direction=p["cbar_tick_direction"], color=p["cbar_tick_color"])
        pyplot.sca(axes)
    return mesh


def _mesh(axes, kind, x, y, values, scale, colours, empty, bgcolor, kwargs):
    if kind == "3d":
        step = max(len(x) // 200, 1), max(len(y) // 100, 1)
        xx, yy = np.meshgrid(x[::step[0]], y[::step[1]])
        shown = values[::step[1], ::step[0]]
        surface = axes.plot_surface(np.cos(yy) * np.cos(xx), np.cos(yy) * np.sin(xx), np.sin(yy), facecolors=colours(scale(shown)),
                                    rstride=1, cstride=1, shade=False)
        surface.set_cmap(colours)
        surface.set_norm(scale)
        surface.set_array(None)
        axes.set_box_aspect((1, 1, 1))
        axes.set_axis_off()
        from matplotlib.cm import ScalarMappable

        return ScalarMappable(scale, colours)
    if empty:
        return None
    words = {"norm": scale, "cmap": colours, "shading": "auto", "rasterized": True, **kwargs}
    if kind == "polar":
        axes.set_theta_zero_location("N")
        return axes.pcolormesh(x, np.pi / 2 - y[::-1], values[::-1], **words)
    if kind == "cart":
        axes.set_facecolor(bgcolor)
        mesh = axes.pcolormesh(np.degrees(x), np.degrees(y), values, **words)
        axes.set_aspect("equal")
        return mesh
    return axes.pcolormesh(x, y, values, **words)


def _label(degrees, convention, sign, turned):
    """The longitude that a place of the picture shows."""
    value = sign * degrees + turned
    if convention == "clockwise":
        value = -value
    if convention == "symmetrical":
        value = (value + 180) % 360 - 180
        return f"{value:g}°"
    return f"{value % 360:g}°"


def _graticule(axes, kind, x, y, lines, labels, dlon, dlat, colour, rot, flip, convention, turned_lines, xtext, ytext, xcolour, ycolour,
               type_, extra, markers):
    if convention not in ("counterclockwise", "clockwise", "symmetrical"):
        raise ValueError(f"phi_convention is {convention!r}; allowed are counterclockwise, clockwise, symmetrical")
    ends = np.degrees((x[0], x[-1]))
    lon = np.arange(np.ceil(ends[0] / dlon) * dlon, ends[1] + 1e-9, dlon)
    if kind not in ("cart",):
        lon = lon[np.abs(lon) < 180]
    lat = np.arange(np.ceil(np.degrees(y[0]) / dlat) * dlat, np.degrees(y[-1]) + 1e-9, dlat)
    if kind not in ("cart", "polar"):
        lat = lat[np.abs(lat) < 90]
    if kind == "lambert":
        lat = lat[:0]  # whose axes have no latitudes
    turned = 0 if turned_lines or rot is None else float(np.atleast_1d(rot)[0])
    sign = -1 if flip == "astro" else 1
    xlabels = list(xtext) if xtext is not None else [_label(v, convention, sign, turned) for v in lon]
    ylabels = list(ytext) if ytext is not None else [f"{v:g}°" for v in lat]
    xlabels = (xlabels + [""] * len(lon))[:len(lon)] if labels else [""] * len(lon)
    ylabels = (ylabels + [""] * len(lat))[:len(lat)] if labels else [""] * len(lat)
    scale = 1 if kind == "cart" else np.pi / 180
    axes.set_xticks(lon * scale, xlabels, fontsize=type_["xtick_label"], color=xcolour, **extra)
    if kind == "polar":
        axes.set_yticks(np.radians(90 - lat[::-1]), ylabels[::-1], fontsize=type_["ytick_label"], color=ycolour, **extra)
    elif len(lat):
        axes.set_yticks(lat * scale, ylabels, fontsize=type_["ytick_label"], color=ycolour, **extra)
    if not markers:
        axes.tick_params(length=0)
    axes.grid(bool(lines), **({"color": colour or "grey", "linewidth": 0.6, "linestyle": ":"} if lines else {}))


def newprojplot(theta: Any, phi: Any, fmt: Any = None, lonlat: Any = False, **kwargs: Any) -> Any:
    """A line, or markers, over the current picture of projview: theta, phi (radians), or longitude and latitude (degrees) with
    lonlat. Returns matplotlib's lines."""
    axes = _pyplot().gca()
    theta, phi = np.asarray(theta, np.float64), np.asarray(phi, np.float64)
    lon, lat = (np.radians(theta), np.radians(phi)) if lonlat else (phi, np.pi / 2 - theta)
    lon = (np.atleast_1d(lon) + np.pi) % (2 * np.pi) - np.pi
    words = () if fmt is None else (fmt,)
    name = getattr(axes, "name", "")
    if name == "rectilinear":
        return axes.plot(np.degrees(-lon), np.degrees(np.atleast_1d(lat)), *words, **kwargs)
    if name == "polar":
        return axes.plot(-lon, np.pi / 2 - np.atleast_1d(lat), *words, **kwargs)
    return axes.plot(-lon, np.atleast_1d(lat), *words, **kwargs)


def CreateRotatedGraticule(rot: Any, t_step: int = 30, p_step: int = 30) -> Any:
    """Parallels and meridians turned by `rot` (degrees): two lists of [2, n] with longitude and latitude in radians."""
    turn, fine = Rotator(rot=rot, eulertype="ZYX"), np.linspace(-np.pi, np.pi, 361)

    def line(lon, lat):
        v = np.asarray(turn(np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])))
        return np.stack([np.arctan2(v[1], v[0]), np.arcsin(np.clip(v[2], -1, 1))])

    parallels = [line(fine, np.full(fine.size, np.radians(t))) for t in np.arange(-90 + t_step, 90, t_step)]
    meridians = [line(np.full(fine.size, np.radians(p)), fine / 2) for p in np.arange(-180, 180, p_step)]
    return parallels, meridians
