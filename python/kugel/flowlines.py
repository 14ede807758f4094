# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the orientation of polarisation: textures smeared along its lines."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .alms import synalm
from .maps import filled, get_nside, host, mask_bad
from .pixelfunc import get_interp_weights, pix2ang
from .sphere_angles import vec2ang
from .sphtfunc import alm2map

if TYPE_CHECKING:
    import numpy.typing as npt

_CHUNK = 1 << 18  # pixels whose lines are followed at once: about 100 MB


class _Field:
    """Orientations of (Q, U), interpolated at unit vectors v [3, n].

    A pixel's Q + iU refers to its own meridian, so each of the four neighbours is turned by twice its difference of longitude
    times cos(theta) before they are added: near the poles, too, the sum has a meaning.
    """

    def __init__(self, q, u, texture, nside):
        self.nside, self.p, self.texture = nside, q + 1j * u, texture
        self.phi = pix2ang(nside, np.arange(q.size))[1]

    def at(self, v, before):
        """The texture at v and the unit tangent there, of the two the one that is nearer to `before`."""
        theta, phi = vec2ang(v.T)
        pixel, weight = get_interp_weights(self.nside, theta, phi)
        z = np.clip(v[2], -1, 1)
        turn = (self.phi[pixel] - phi + np.pi) % (2 * np.pi) - np.pi
        p = (weight * self.p[pixel] * np.exp(2j * turn * z)).sum(axis=0)
        psi = 0.5 * np.angle(p)  # from the south towards the east
        south, east, s = np.cos(psi), np.sin(psi), np.sqrt(1 - z * z)
        c, d = np.cos(phi), np.sin(phi)
        t = np.array([z * c * south - d * east, z * d * south + c * east, -s * south])
        if before is not None:
            t *= np.where((t * before).sum(axis=0) < 0, -1.0, 1.0)
        t *= abs(p) > 0  # a line ends where there is no polarisation
        return (weight * self.texture[pixel]).sum(axis=0), t


def _go(v, t, step):
    """v and t after a step along t."""
    length = np.sqrt((t * t).sum(axis=0))
    t = t / np.where(length > 0, length, 1)
    angle = step * (length > 0)
    c, s = np.cos(angle), np.sin(angle)
    return v * c + t * s, t * c - v * s


def _smear(field, pixels, kernel, step):
    """Weighted means of the texture along the lines through the centres of pixels; kernel: weights of 0, 1, 2 ... steps."""
    theta, phi = pix2ang(field.nside, pixels)
    centre = np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
    middle, tangent = field.at(centre, None)
    out = kernel[0] * middle
    for sign in (1.0, -1.0):
        v, t = centre, sign * tangent
        previous = t
        for w in kernel[1:]:  # Adams and Bashforth's steps of second order: 3/2 of this tangent less 1/2 of the one before
            v, previous = _go(v, 1.5 * t - 0.5 * previous, step)[0], t
            value, t = field.at(v, previous)
            out += w * value
    return out


def _unit(m):
    low, high = m.min(), m.max()
    return (m - low) / (high - low) if high > low else np.zeros(m.size)


def line_integral_convolution(Q: npt.ArrayLike, U: npt.ArrayLike, steps: int = 100, kernel_steps: int = 50, step_radian: float = 0.003,
                              pol_min: float = -1e30, pol_max: float = 1e30, rand_seed: int = 42, ell: int | None = None,
                              texture: npt.ArrayLike | None = None, modulate: bool = False) -> np.ndarray:
    """A texture smeared along the lines of linear polarisation: a picture of their directions.

    Q, U:         maps [npix] in RING order, of one nside; bad pixels count as unpolarised
    steps:        not below kernel_steps; healpy follows each line that far, here each pixel has a line of its own
    kernel_steps: length of the line, in steps: a Hann window of that extent about the pixel's centre
    step_radian:  length of a step in radians
    pol_min, pol_max: with modulate, the polarisation sqrt(Q^2 + U^2) is clipped to this range
    rand_seed:    of the texture, where none is given
    ell:          the texture is a Gaussian field with power at this degree alone; below 0: 2 nside; None: white noise
    texture:      [npix] in RING order, instead
    modulate:     multiply by the polarisation
    Returns float64 [npix] from 0 to 1, 0 where the texture is highest, as in healpy. A cost of about kernel_steps interpolations per
    pixel. ValueError for maps of different sizes, or kernel_steps above steps.

        lic = kugel.line_integral_convolution(q, u)
        kugel.mollview(lic, cmap="grey").save("lines.png")
    """
    if not 1 <= kernel_steps <= steps:
        raise ValueError(f"kernel_steps is {kernel_steps}; it must be 1 to steps, {steps}")
    if not 0 < step_radian <= 1:
        raise ValueError(f"step_radian is {step_radian}; it must be above 0 and at most 1")
    given = [("Q", Q), ("U", U)] + ([] if texture is None else [("texture", texture)])
    for name, m in given:
        if np.ndim(m) != 1:
            raise ValueError(f"{name} has {np.ndim(m)} axes; it must be one map, [npix]")
    nside = get_nside(Q)
    for name, m in given:
        if get_nside(m) != nside:
            raise ValueError(f"{name} has nside {get_nside(m)} and Q {nside}; they must agree")
    q, u = (np.asarray(filled(host(m, name)), np.float64) for name, m in given[:2])
    good = np.isfinite(q) & np.isfinite(u) & ~mask_bad(q) & ~mask_bad(u)
    q, u = np.where(good, q, 0.0), np.where(good, u, 0.0)
    if texture is not None:
        texture = np.asarray(filled(host(texture, "texture")), np.float64)
        if mask_bad(texture).any() or not np.isfinite(texture).all():
            raise ValueError("texture has bad pixels; give it a value everywhere")
    elif ell is None:
        texture = np.random.default_rng(rand_seed).uniform(size=q.size)
    else:
        degree = 2 * nside if ell < 0 else int(ell)
        texture = alm2map(synalm(np.eye(degree + 1)[degree], seed=rand_seed), nside)
    half = kernel_steps / 2
    kernel = np.cos(np.pi * np.arange(int(np.ceil(half))) / kernel_steps) ** 2
    kernel /= kernel[0] + 2 * kernel[1:].sum()
    field, out = _Field(q, u, texture, nside), np.empty(q.size)
    for first in range(0, q.size, _CHUNK):
        pixels = np.arange(first, min(first + _CHUNK, q.size))
        out[pixels] = _smear(field, pixels, kernel, step_radian)
    out = _unit(out)
    if modulate:
        out = _unit(out * np.clip(np.hypot(q, u), pol_min, pol_max))
    return 1 - out
