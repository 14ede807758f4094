# SPDX-License-Identifier: BSD-3-Clause
"""Which grid arrays of latitudes and longitudes are: kind, first longitude, and the way the rows run."""
import math

import numpy as np

NAMES = {"gauss": "Gauss-Legendre", "clenshaw_curtis": "Clenshaw-Curtis", "fejer1": "Fejer 1", "fejer2": "Fejer 2",
          "driscoll_healy": "Driscoll-Healy", "mcewen_wiaux": "McEwen-Wiaux", "lobatto": "Gauss-Lobatto"}
_NEAR = 0.02  # of a step between rows: what files round, not what tells kinds apart


def _vector(values, name):
    values = np.asarray(values, np.float64)
    if values.ndim != 1 or values.size < 1:
        raise ValueError(f"{name} has shape {values.shape}; it must be one-dimensional")
    if not np.all(np.isfinite(values)):
        raise ValueError(f"{name} is not finite everywhere")
    return values


def rows(lat, colatitudes):
    """The kind's name, and whether the rows run northwards; colatitudes(kind, n) are those of a kind of grid."""
    lat = _vector(lat, "lat")
    if lat.size < 2:
        raise ValueError(f"lat has {lat.size} value; a grid has at least 2 rows")
    if np.max(np.abs(lat)) > 90 + 1e-3:
        raise ValueError(f"lat goes to {lat[np.argmax(np.abs(lat))]:g}; latitudes are degrees from -90 to 90")
    step = np.diff(lat)
    if not (np.all(step > 0) or np.all(step < 0)):
        raise ValueError("lat neither rises nor falls throughout: sort the rows first")
    if np.max(np.abs(lat)) < 1.6 and lat.size > 3:
        raise ValueError(f"lat goes from {lat[0]:g} to {lat[-1]:g}: degrees are wanted, not radians")
    north = step[0] > 0
    theta = np.radians(90 - (lat[::-1] if north else lat))
    best, name, apart = np.inf, None, np.pi / lat.size
    for kind in NAMES:
        off = float(np.max(np.abs(colatitudes(kind, lat.size) - theta))) / apart
        if off < best:
            best, name = off, kind
    if best > _NEAR:
        whole = "" if theta[0] < 2 * apart and theta[-1] > np.pi - 2 * apart else \
            f"; they go from {lat[0]:g} to {lat[-1]:g} degrees, which is not the whole sphere"
        raise ValueError(f"the {lat.size} latitudes fit no grid: the nearest is {NAMES[name]}, off by {best:.2g} of the step "
                         f"between rows{whole}; Grid.rings takes any rings with weights")
    return name, bool(north)


def columns(lon):
    """The first longitude eastwards in radians, and whether the columns run westwards."""
    lon = _vector(lon, "lon")
    if lon.size == 1:
        return math.radians(lon[0] % 360), False
    step = (np.diff(lon) + 180) % 360 - 180
    mean, full = float(np.mean(step)), 360 / lon.size
    if np.max(np.abs(step - mean)) > _NEAR * abs(mean) or mean == 0:
        raise ValueError(f"lon is not in equal steps: they go from {np.min(step):g} to {np.max(step):g} degrees")
    if abs(abs(mean) * (lon.size - 1) - 360) < 0.5 * abs(mean):
        raise ValueError(f"lon goes round once and repeats {lon[0]:g} as {lon[-1]:g} degrees: leave out the last column")
    if abs(abs(mean) - full) > 0.5 * full / lon.size:
        raise ValueError(f"lon has {lon.size} columns of {abs(mean):g} degrees, {abs(mean) * lon.size:g} in all; a grid goes once "
                         "round, 360 degrees")
    first = lon[0] if mean > 0 else lon[-1]
    phi0 = math.radians(first % 360)
    return (0.0 if 2 * np.pi - phi0 < 1e-9 else phi0), mean < 0
