# SPDX-License-Identifier: BSD-3-Clause
"""Holes of masks, distances to them, and extrema of maps."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._lib import lib, long_call, ptr
from .maps import UNSEEN, filled, get_nside, host, mask_bad, maptype, nside2pixarea
from .pixelfunc import get_all_neighbours

if TYPE_CHECKING:
    import numpy.typing as npt


def _one(m, what):
    try:
        count = maptype(m)
    except TypeError as e:
        raise ValueError(f"{what}: {e}") from None
    if count != 0:
        raise TypeError(f"{what} must be one map")
    return host(m, what)


def _mask(mask):
    """A mask as an array of bool; of a masked array, its mask."""
    mask = _one(mask, "mask")
    return np.ma.getmaskarray(mask).copy() if isinstance(mask, np.ma.MaskedArray) else np.asarray(mask) != 0


def _components(pixels, nside):
    """For each of the rising RING pixels the place of the first one that it is connected with."""
    around = get_all_neighbours(nside, pixels)
    place = np.searchsorted(pixels, around)
    place[place == pixels.size] = 0
    own = np.arange(pixels.size)
    place = np.where(pixels[place] == around, place, own)
    label = own
    while True:  # each takes the least label about it, then that label's own label
        least = np.minimum(label, label[place].min(axis=0))
        np.minimum.at(least, label, least)  # and tells it to the pixel that the label names
        least = least[least]
        if np.array_equal(least, label):
            return label
        label = least


def fill_small_holes(mask: npt.ArrayLike, min_size: int | None = None, min_area_arcmin2: float | None = None) -> np.ndarray:
    """A copy of a mask without its small holes.

    mask:     [npix] in RING order; non-zero pixels are masked. Of a masked array, its mask
    min_size: connected masked pixels (each has 8 neighbours) that are fewer than this become unmasked
    min_area_arcmin2: those of a smaller area, too
    Returns bool [npix].

        kugel.masktools.fill_small_holes(mask, min_size=5)
    """
    out = _mask(mask)
    if min_size is not None and min_size != int(min_size):
        raise TypeError(f"min_size is {min_size}; it must be whole")
    for name, value in (("min_size", min_size), ("min_area_arcmin2", min_area_arcmin2)):
        if value is not None and not value >= 0:
            raise ValueError(f"{name} is {value}; it must be at least 0")
    least = max(min_size or 0, 0 if min_area_arcmin2 is None else
                min_area_arcmin2 / (nside2pixarea(get_nside(out), degrees=True) * 3600))
    pixels = np.flatnonzero(out)
    if least > 0 and pixels.size:
        label = _components(pixels, get_nside(out))
        out[pixels[np.bincount(label, minlength=pixels.size)[label] < least]] = False
    return out


def dist2holes(m: npt.ArrayLike, maxdist: float = np.pi, hole_min_size: int | None = None,
               hole_min_surf_arcmin2: float | None = None) -> np.ndarray:
    """Distance in radians from the centre of each pixel to that of the nearest masked one, 0 in holes.

    m:       a mask [npix] in RING order; non-zero pixels are masked. Of a masked
             array, its mask
    maxdist: the greatest distance that is told
    hole_min_size, hole_min_surf_arcmin2: smaller holes, in pixels or in square arcmin, do not count
    Returns float64 [npix]; maxdist everywhere if there is no hole.

        kugel.dist2holes(mask) < numpy.radians(2)       # pixels within 2 degrees of a hole
    """
    hole = fill_small_holes(m, hole_min_size, hole_min_surf_arcmin2)
    seen, out = np.where(hole, 0.0, 1.0), np.empty(hole.size)
    if not maxdist > 0:
        return np.zeros(hole.size)
    long_call(lib.kugel_mask_distance, None, get_nside(hole), float(maxdist), ptr(seen), ptr(out))
    return np.minimum(out, maxdist, out=out)


def hotspots(m: npt.ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Local extrema of a map: pixels above, or below, all their 8 (or 7) neighbours.

    m: [npix] in RING order; bad pixels, and those beside them, are no extrema
    Returns a map with the extrema's values, UNSEEN elsewhere, and the pixel numbers of the minima and of the maxima.

        peaks, minima, maxima = kugel.hotspots(m)
    """
    m = _one(m, "m")
    values = np.array(filled(m), np.float64)
    bad = mask_bad(values) | ~np.isfinite(values)
    values[bad] = np.nan
    around = get_all_neighbours(get_nside(values), np.arange(values.size))
    beside = values[around]
    with np.errstate(invalid="ignore"):  # comparisons with NaN are false, as they should be
        high = ((values > beside) | (around < 0)).all(axis=0) & ~bad
        low = ((values < beside) | (around < 0)).all(axis=0) & ~bad
    return np.where(high | low, values, UNSEEN), np.flatnonzero(low), np.flatnonzero(high)
