# SPDX-License-Identifier: BSD-3-Clause
"""Places inside HEALPix pixels: a pixel, and offsets dx and dy, 0 to 1, from its south corner to its east and to its west one.

Equal areas of offsets are equal areas of the sphere. Of a base face (Gorski et al. 2005, ApJ 622, 759, section 5): with u and v, 0 to 1,
across it, z = 2/3 (u + v - 1) + (2/3, 0, -2/3 at the centres of the three rows of faces) between the polar caps; in a cap sqrt(3 (1 - |z|)) is
the distance 2 - u - v (in the south u + v) from the pole's corner, and the longitude is scaled by it.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .pixelfunc import _plain, ang2pix, pix2xyf, vec2pix

if TYPE_CHECKING:
    import numpy.typing as npt

_TURN = np.array([1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7])  # longitude of a face's centre / (pi / 4)


def inside2ang(nside: npt.ArrayLike, ipix: npt.ArrayLike, dx: npt.ArrayLike, dy: npt.ArrayLike, nest: bool = False) -> tuple[Any, Any]:
    """Colatitude and longitude (0 to 2 pi) of places in pixels; arguments broadcast."""
    nside, dx, dy = np.asarray(nside), np.asarray(dx, float), np.asarray(dy, float)
    x, y, face = pix2xyf(nside, ipix, nest)
    row, u, v = face // 4, (x + dx) / nside, (y + dy) / nside
    # Exact near the pole, where 2 - u - v would cancel.
    pole = np.select([row == 0, row == 2], [((nside - x - dx) + (nside - y - dy)) / nside, u + v], 2.0)
    near = 2 * np.arcsin(np.minimum(pole, 1) / np.sqrt(6))
    belt = np.arccos(np.clip((u + v - row) * (2 / 3), -1, 1))
    theta = np.where(pole < 1, np.where(row == 0, near, np.pi - near), belt)
    turn = (u - v) / np.where(pole < 1, np.maximum(pole, 1e-300), 1)  # 0 / 0 is 0 at the pole
    return _plain(theta), _plain((_TURN[face] + turn) * (np.pi / 4) % (2 * np.pi))


def _offsets(nside, pixel, theta, phi, nest):
    nside = np.asarray(nside)
    x, y, face = pix2xyf(nside, pixel, nest)
    row = face // 4
    turn = (np.asarray(phi) * (4 / np.pi) - _TURN[face] + 4) % 8 - 4
    z = np.cos(theta)
    pole = np.sqrt(6) * np.where(row == 0, np.sin(np.asarray(theta) / 2), np.cos(np.asarray(theta) / 2))

    def offset(turn, x):
        return _plain(np.clip(np.select([(row == 0) & (z > 2 / 3), (row == 2) & (z < -2 / 3)],
                                        [nside - x - nside * pole * (1 - turn) / 2, nside * pole * (1 + turn) / 2 - x],
                                        nside * (1.5 * z + row + turn) / 2 - x), 0, 1))

    return offset(turn, x), offset(-turn, y)


def ang2inside(nside: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike, nest: bool = False) -> tuple[Any, Any, Any]:
    """The pixel of directions, and the offsets in it; theta from 0 to pi."""
    pixel = ang2pix(nside, theta, phi, nest)
    return pixel, *_offsets(nside, pixel, theta, phi, nest)


def vec2inside(nside: npt.ArrayLike, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike, nest: bool = False) -> tuple[Any, Any, Any]:
    """The pixel of vectors of any length, and the offsets in it."""
    pixel = vec2pix(nside, x, y, z, nest)
    return pixel, *_offsets(nside, pixel, np.arctan2(np.hypot(x, y), z), np.arctan2(y, x), nest)
