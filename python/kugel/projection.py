# SPDX-License-Identifier: BSD-3-Clause
"""Maps resampled onto the plane of a projection, as arrays: healpy's grids and signs, the pixel that is hit.

An array is [ysize, xsize], a masked array: row 0 is the lowest of the picture, column 0 the leftmost; -inf lies outside the
projection, and bad pixels are masked.
"""
import numpy as np

from .maps import UNSEEN, filled, get_nside, mask_bad
from .pixelfunc import vec2pix
from .rotator import Rotator


def _grid(xsize, ysize, x0, x1, y0, y1):
    return np.meshgrid(np.linspace(x0, x1, xsize), np.linspace(y0, y1, ysize))


def _from_angles(lon, sin_lat):
    cos_lat = np.sqrt(np.maximum(1 - sin_lat * sin_lat, 0))
    return np.stack([cos_lat * np.cos(lon), cos_lat * np.sin(lon), sin_lat])


def inverse_mollweide(x, y, sign):
    """Directions [3, ...] of points of the picture, x towards its centre, and which of them lie on the sphere."""
    inside = x * x / 4 + y * y <= 1
    y = np.where(inside, y, 0)
    width = np.sqrt(1 - y * y)
    angle = np.arcsin(y)
    lon = sign * np.pi / 2 * np.divide(x, width, out=np.zeros_like(x), where=width > 0)
    return _from_angles(lon, (2 * angle + np.sin(2 * angle)) / np.pi), inside


def mollweide(xsize, sign):
    """Directions [3, ysize, xsize] of the picture's points, x towards its centre, and which lie on the sphere."""
    return inverse_mollweide(*_grid(xsize, xsize // 2, -2, 2, -1, 1), sign)


def inverse_orthographic(x, y, sign, half_sky):
    """As inverse_mollweide: the near hemisphere, and unless half_sky the far one to its right."""
    far = np.zeros(x.shape, bool) if half_sky else x > 0
    x = x if half_sky else np.where(far, x - 1, x + 1)
    inside = x * x + y * y <= 1
    depth = np.sqrt(np.maximum(1 - x * x - y * y, 0))
    return np.stack([np.where(far, -depth, depth), np.where(far, -sign, sign) * x, y]), inside


def orthographic(xsize, sign, half_sky=False):
    """As mollweide."""
    edge = 1 if half_sky else 2
    return inverse_orthographic(*_grid(xsize, xsize if half_sky else xsize // 2, -edge, edge, -1, 1), sign, half_sky)


def inverse_gnomonic(x, y, sign):
    """As inverse_mollweide; x, y: tangents."""
    vec = np.stack([np.ones_like(x), sign * x, y])
    return vec / np.sqrt((vec * vec).sum(axis=0)), np.ones(x.shape, bool)


def gnomonic(xsize, ysize, reso, sign):
    """As mollweide; reso: arcmin a point at the centre."""
    step = np.deg2rad(reso / 60)
    half = (xsize - 1) / 2 * step, (ysize - 1) / 2 * step
    return inverse_gnomonic(*_grid(xsize, ysize, -half[0], half[0], -half[1], half[1]), sign)


def inverse_azimuthal(x, y, sign, lamb, half_sky):
    """As inverse_mollweide; the distance from the centre is the angle (radians), with lamb 2 sin(angle / 2): equal areas."""
    r = np.hypot(x, y)
    edge = (np.sqrt(2) if half_sky else 2) if lamb else (np.pi / 2 if half_sky else np.pi)
    inside = r <= edge
    angle = 2 * np.arcsin(np.minimum(r / 2, 1)) if lamb else np.minimum(r, np.pi)
    scale = np.divide(np.sin(angle), r, out=np.ones_like(r), where=r > 0)
    return np.stack([np.cos(angle), sign * x * scale, y * scale]), inside


def azimuthal(xsize, ysize, reso, sign, lamb, half_sky):
    """As mollweide; reso: arcmin a point at the centre."""
    step = np.deg2rad(reso / 60)
    half = (xsize - 1) / 2 * step, (ysize - 1) / 2 * step
    return inverse_azimuthal(*_grid(xsize, ysize, -half[0], half[0], -half[1], half[1]), sign, lamb, half_sky)


def inverse_cartesian(x, y, sign):
    """As inverse_mollweide; x, y: degrees."""
    return _from_angles(np.deg2rad(sign * x), np.sin(np.deg2rad(y))), np.abs(y) <= 90


def cartesian(xsize, ysize, lonra, latra, sign):
    """As mollweide; lonra, latra: degrees about the centre."""
    lonra, latra = lonra or (-180, 180), latra or (-90, 90)
    if ysize is None:
        ysize = int(round(xsize * (latra[1] - latra[0]) / (lonra[1] - lonra[0])))
    lon, lat = _grid(xsize, ysize, *(sign * np.asarray(lonra[::int(sign)], np.float64)), *latra)
    return inverse_cartesian(lon, lat, sign)


def project(m, directions, nest, rot, coord):
    """The values that a picture shows at `directions` (of one of the functions above), rotated as views are."""
    vec, inside = directions
    values = np.asarray(filled(m), np.float64)
    turn = Rotator(rot=rot, coord=coord, eulertype="ZYX")
    pix = vec2pix(get_nside(values), *turn.I(vec.reshape(3, -1)), nest=nest).reshape(inside.shape)
    out = np.where(inside, values[pix], -np.inf)
    return np.ma.MaskedArray(out, inside & (mask_bad(out) | np.isnan(out)), fill_value=UNSEEN)
