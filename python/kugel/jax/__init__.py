# SPDX-License-Identifier: BSD-3-Clause
"""Spherical-harmonic transforms of JAX arrays, with exact derivatives of any order.

    sht = kugel.jax.SHT(64, lmax=128)               # HEALPix nside 64; or a Grid in place of 64
    loss = lambda alm: ((sht.synthesis(alm) - data) ** 2).mean()
    gradient = jax.jit(jax.grad(loss))(alm)

The transforms work under jit, vmap, jvp, vjp and their combinations, on the CPU and on CUDA devices (on XLA's stream,
without waiting). Shapes are those of kugel.SHT; every leading axis is a batch. Double precision needs JAX's
jax_enable_x64. Pixels are taken as they are: fill or mask UNSEEN first. Derivatives with respect to a_lm follow JAX's
convention for complex numbers: a gradient is the conjugate of the direction of steepest ascent.
"""
import atexit

from ..extras import need

_jax = need("jax", "kugel.jax")

from . import fft, nufft, stencil
from .ball import Ball
from .fft import convolve, correlate
from .functions import Regrid, alm2map, almxfl, gauss_beam, map2alm, smoothing
from .lens import Lens
from .maps import Radial, Reorder
from .sht import SHT

__all__ = ["Ball", "Lens", "SHT", "Radial", "Regrid", "Reorder", "alm2map", "map2alm", "smoothing", "almxfl", "gauss_beam", "fft", "nufft", "stencil",
           "convolve", "correlate"]


@atexit.register
def _finish() -> None:
    """Waits for what is queued: a program that ends without reading its last result would wait for a computation that waits for Python."""
    for array in _jax.live_arrays():
        try:
            array.block_until_ready()
        except Exception:  # deleted, donated or failed: nothing is left to wait for
            pass
