# SPDX-License-Identifier: BSD-3-Clause
"""Angles with units, positions as astropy has them and tables of positions, in the places of numbers; astropy is not needed."""
from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, TypeVar

import numpy as np

_Function = TypeVar("_Function", bound=Callable[..., Any])


def number(x: Any, unit: str = "rad") -> Any:
    """The number of an angle with a unit, in `unit` (units of other things raise astropy's UnitConversionError); others as they are."""
    return x.to_value(unit) if hasattr(x, "to_value") and hasattr(x, "unit") else x


# Columns of positions in degrees, of which the first pair that a table has counts.
_COLUMNS = (("lon", "lat"), ("longitude", "latitude"), ("ra", "dec"), ("glon", "glat"), ("elon", "elat"))


def is_sky(x: Any) -> bool:
    """A SkyCoord, another object of astropy's with a spherical representation, or a table (of pandas, polars, astropy)."""
    return hasattr(x, "spherical") and hasattr(x, "represent_as") or hasattr(x, "columns")


def _columns(table, lonlat):
    """The positions in a table: degrees, or theta and phi in radians."""
    names = {str(name).lower(): name for name in table.columns}
    if {"theta", "phi"} <= set(names):
        theta, phi = (np.asarray(number(table[names[name]]), np.float64) for name in ("theta", "phi"))
        return (np.degrees(phi), 90 - np.degrees(theta)) if lonlat else (theta, phi)
    for first, second in _COLUMNS:
        if {first, second} <= set(names):
            lon, lat = (np.asarray(number(table[names[name]], "deg"), np.float64) for name in (first, second))
            return (lon, lat) if lonlat else (np.pi / 2 - np.radians(lat), np.radians(lon))
    raise ValueError(f"the table has columns {', '.join(map(str, names))}; positions are {' or '.join(' and '.join(c) for c in _COLUMNS)} "
                     "in degrees, or theta and phi in radians")


def pair(sky: Any, lonlat: bool) -> tuple[Any, Any]:
    """theta, phi in radians, or longitude and latitude in degrees, of a SkyCoord in its own frame, or of a table."""
    if hasattr(sky, "columns"):
        return _columns(sky, lonlat)
    lon, lat = sky.spherical.lon, sky.spherical.lat
    return (lon.to_value("deg"), lat.to_value("deg")) if lonlat else (np.pi / 2 - lat.to_value("rad"), lon.to_value("rad"))


def vector(x: Any) -> Any:
    """[3, ...] of a SkyCoord, as a unit vector; others as they are."""
    if not is_sky(x):
        return x
    theta, phi = pair(x, False)
    return np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])


def degrees(rot: Any) -> Any:
    """Longitude, latitude and rotation in degrees, of a SkyCoord or of angles with units; others as they are."""
    if is_sky(rot):
        return pair(rot, True)
    if hasattr(rot, "to_value"):
        return number(rot, "deg")
    return [number(x, "deg") for x in rot] if isinstance(rot, (tuple, list)) else rot


def takes(*angles: str, direction: tuple[str, str] | None = None, vectors: tuple[str, ...] = (),
          centre: str = "") -> Callable[[_Function], _Function]:
    """A function whose parameters `angles`, in radians, may have units; and its `direction`, radians or with lonlat degrees, too, of which
    a SkyCoord or a table may take both places; `vectors` may be SkyCoords, and so may `centre`, in degrees."""
    def wrap(function: _Function) -> _Function:
        names = list(inspect.signature(function).parameters)

        @functools.wraps(function)
        def call(*args: Any, **words: Any) -> Any:
            for a in args:  # a loop without generators: some of these functions take a microsecond
                if hasattr(a, "unit") or hasattr(a, "represent_as") or hasattr(a, "columns"):
                    break
            else:
                for a in words.values():
                    if hasattr(a, "unit") or hasattr(a, "represent_as") or hasattr(a, "columns"):
                        break
                else:
                    if not centre:
                        return function(*args, **words)
            if direction:
                args = _two(args, words, names, direction)
            given = dict(zip(names, args)) | words
            units = {} if not direction else dict.fromkeys(direction, "deg" if given.get("lonlat") else "rad")
            for name in (*angles, *units):
                if name in given:
                    given[name] = number(given[name], units.get(name, "rad"))
            for name in vectors:
                if name in given:
                    given[name] = vector(given[name])
            if centre in given:
                given[centre] = degrees(given[centre])
            first = [given.pop(name) for name in names[:len(args)]]
            return function(*first, *args[len(names):], **given)
        return call  # type: ignore[return-value]
    return wrap


def _two(args, words, names, direction):
    """The positional arguments with a SkyCoord's angles in the place of it; those that follow move up."""
    first, second = (names.index(name) for name in direction)
    sky = args[first] if len(args) > first else words.get(direction[0])
    if not is_sky(sky):
        return args
    if direction[1] in words:
        raise TypeError(f"{direction[0]} is a SkyCoord or a table, which says {direction[1]} too: leave that out")
    place = names.index("lonlat") if "lonlat" in names else -1
    after = args[:first + 1] + (None,) + args[first + 1:]
    lonlat = words.get("lonlat", after[place] if 0 <= place < len(after) and len(args) > first else False)
    angles = pair(sky, bool(lonlat))
    if len(args) > first:
        return args[:first] + angles + args[first + 1:]
    words.update(zip(direction, angles))
    return args
