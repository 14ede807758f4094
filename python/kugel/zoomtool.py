# SPDX-License-Identifier: BSD-3-Clause
"""mollzoom: the whole sky beside the tangent plane about the point that was clicked. matplotlib with windows is needed."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .maps import get_nside
from .views import _pyplot, draw_view

if TYPE_CHECKING:
    import numpy.typing as npt

_RESOLUTIONS = (30, 20, 12, 7.5, 5, 3, 1.5, 0.75, 0.3)
_limits = {}


def set_g_clim(vmin: Any, vmax: Any) -> Any:
    """Sets the ends of the colours of the tangent planes that mollzoom draws from now on; None: as the whole sky."""
    _limits["g"] = vmin, vmax


class ZoomTool:
    """The two views of mollzoom. A click on the sky moves the tangent plane; r and t change its resolution, g its graticule."""

    def __init__(self, m: Any, fig: Any = None, nest: bool = False, cmap: Any = None, norm: Any = None, coord: Any = None) -> None:
        self.map, self.nest, self.cmap, self.norm = m, nest, cmap, norm
        self.nside = get_nside(m)
        pyplot = _pyplot()
        self.figure = fig if fig is not None else pyplot.gcf()
        self.coord = coord
        self._reso, self._lines, self._centre = 2, False, (0.0, 0.0)
        self.axes, self._ids = None, []
        self.draw_gnom(0.0, 0.0)
        self.connect_callbacks()

    def get_reso(self) -> Any:
        """Arcminutes per point of the tangent plane."""
        return _RESOLUTIONS[self._reso]

    def connect_callbacks(self) -> Any:
        """Listens to clicks and keys."""
        connect = self.figure.canvas.mpl_connect
        self._ids = [connect("button_press_event", self._click), connect("key_press_event", self._key)]

    def disconnect_callbacks(self) -> Any:
        """Listens no more."""
        for number in self._ids:
            self.figure.canvas.mpl_disconnect(number)
        self._ids = []

    def _click(self, event):
        axes = event.inaxes
        if event.button == 1 and hasattr(axes, "get_lonlat"):
            lon, lat = axes.get_lonlat(event.xdata, event.ydata)
            if np.isfinite(lon):
                self.draw_gnom(lon, lat)

    def _key(self, event):
        if event.key in ("r", "t"):
            self._reso = int(np.clip(self._reso + (1 if event.key == "r" else -1), 0, len(_RESOLUTIONS) - 1))
        elif event.key == "g":
            self._lines = not self._lines
        else:
            return
        self.draw_gnom()

    def draw_gnom(self, lon: npt.ArrayLike | None = None, lat: npt.ArrayLike | None = None) -> Any:
        """Draws the tangent plane about lon, lat (degrees), or about the centre before."""
        from .projaxes import HpxGnomonicAxes

        if lon is not None:
            self._centre = float(lon), float(lat)
        if self.axes is not None:
            self.axes.remove()
        low, high = _limits.get("g", (None, None))
        if low is None and high is None and self.figure.axes and self.figure.axes[0].images:
            low, high = self.figure.axes[0].images[0].get_clim()
        pair = self.coord if self.coord is not None and len(self.coord) == 2 else None
        self.axes = self.figure.add_subplot(1, 2, 2, axes_class=HpxGnomonicAxes, rot=self._centre, coord=self.coord)
        self.axes.projmap(self.map, nest=self.nest, xsize=200, reso=self.get_reso(), vmin=low, vmax=high, cmap=self.cmap, norm=self.norm, coord=pair)
        self.axes.set_title("{:.4g}, {:.4g}: {:g} arcmin per point".format(*self._centre, self.get_reso()), fontsize=9)
        if self._lines:
            self.axes.graticule()
        self.figure.canvas.draw_idle()


def mollzoom(map: Any = None, fig: Any = None, rot: Any = None, coord: Any = None, unit: str = "", xsize: int = 800,
             title: str = "Mollweide view", nest: bool = False, min: float | None = None, max: float | None = None, flip: str = "astro",
             remove_dip: bool = False, remove_mono: bool = False, gal_cut: float = 0, format: str = "%g", cmap: Any = None,
             norm: Any = None, hold: bool = False, margins: Any = None, sub: Any = None) -> Any:
    """The whole sky in one half of a figure, the tangent plane about the point clicked in the other; arguments as mollview's.
    Returns the ZoomTool, which the figure needs to live."""
    import matplotlib.pyplot as pyplot

    map = np.arange(12.0) * 0 if map is None else map
    figure = fig if hasattr(fig, "add_axes") else pyplot.figure(fig, figsize=(11, 5))
    draw_view("Mollweide", map, fig=figure, sub=(1, 2, 1), grid=dict(xsize=int(xsize)), rot=rot, coord=coord, unit=unit, title=title,
              nest=nest, low=min, high=max, flip=flip, remove_dip=remove_dip, remove_mono=remove_mono, gal_cut=gal_cut, format=format,
              cmap=cmap, norm=norm)
    figure.kugel_zoom = ZoomTool(map, figure, nest, cmap, norm, coord)
    return figure.kugel_zoom
