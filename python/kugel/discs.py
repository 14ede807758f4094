# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of cuts through fields in the ball."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _ffi
from ._lib import lib, long_call, options, view


def draw(values: Any, disc: bool = True, *, xsize: int = 800, title: str = "", unit: str = "", min: float | None = None,
         max: float | None = None, cmap: Any = None) -> Any:
    """A picture of a disc [radii from 0 to 1, angles counterclockwise from the right], or of rows of latitude (Mollweide)."""
    from .visufunc import Picture, _colours

    values = np.ascontiguousarray(values, np.float64)
    signs = values.min() < 0 < values.max()
    look = _colours(cmap) or ({"colors": b"diverging"} if signs else {})
    if disc:
        look.update(projection=_ffi.KUGEL_PLOT_ORTHOGRAPHIC, half_sky=1, graticule=-1.0, lat=np.pi / 2, lon=-np.pi / 2)
    if min is not None or max is not None:
        look.update(min=np.nan if min is None else float(min), max=np.nan if max is None else float(max))
    rows = len(values)
    theta = np.arcsin(np.linspace(0, 1, rows)) if disc else (np.arange(rows) + 0.5) * np.pi / rows
    opts = options(_ffi.kugel_plot_opts, width=int(xsize), symmetric=int(signs), geo=1, interpolate=1,
                   title=title.encode() or None, unit=unit.encode() or None, **look)
    out = ctypes.c_void_p()
    long_call(lib.kugel_plot_latlon, None, ctypes.byref(opts), theta.ctypes.data, 0.0, view(values), ctypes.byref(out))
    return Picture(out.value)
