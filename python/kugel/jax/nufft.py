# SPDX-License-Identifier: BSD-3-Clause
"""Non-uniform Fourier transforms of JAX arrays, with gradients for values and points.

    f = kugel.jax.nufft.to_modes(x, c, (256, 256))          # f_k = sum_j c_j e^{i k.x_j}, x [M, 2], c [..., M]
    c = kugel.jax.nufft.to_points(x, f)                     # c_j = sum_k f_k e^{-i k.x_j}

They work under jit, grad, vjp and vmap, on the CPU by a callback. A backward pass with gradients for the points costs one
transform, not one per axis. The dtype of the values is that of the transform; points may have float64 with complex64 (JAX
needs jax_enable_x64 for that). Reverse mode only, first derivatives.
"""
from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..nufft import Plan


@functools.lru_cache(maxsize=32)
def _plan(n, kind, words):
    return Plan(n, kind, **dict(words))


def _run(kind, n, words, gradient, adjoint, x, data):
    """A transform through a callback: with gradients, points have 1 + ndim numbers."""
    to_modes = (kind == "to_modes") != adjoint
    ndim, m = len(n), x.shape[0]
    point = (1 + ndim, m) if gradient else (m,)
    own, other = (point, n) if to_modes else (n, point)
    shape = data.shape[:data.ndim - len(own)] + other

    def call(x, data):
        points = _plan(n, kind, words + (("gradient", gradient),)).points(np.asarray(x))
        return (points.adjoint if adjoint else points.execute)(np.asarray(data))

    return jax.pure_callback(call, jax.ShapeDtypeStruct(shape, data.dtype), x, data, vmap_method="sequential")


def _by_points(factor, slopes, dtype):
    """Re(factor_j slopes_jd), summed over the batch: [M, ndim]."""
    product = (factor[..., None, :] * slopes).real
    return product.reshape((-1,) + product.shape[-2:]).sum(0).T.astype(dtype)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3))
def _to_modes(x, c, n, words):
    return _run("to_modes", n, words, False, False, x, c)


def _to_modes_back(n, words, kept, g):
    x, c = kept
    back = _run("to_modes", n, words, True, True, x, g.conj()).conj()  # the transpose
    return _by_points(c, back[..., 1:, :], x.dtype), back[..., 0, :]


_to_modes.defvjp(lambda x, c, n, words: (_to_modes(x, c, n, words), (x, c)), _to_modes_back)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def _to_points(x, f, words):
    return _run("to_points", f.shape[-x.shape[1]:], words, False, False, x, f)


def _to_points_forth(x, f, words):
    both = _run("to_points", f.shape[-x.shape[1]:], words, True, False, x, f)
    return both[..., 0, :], (x, f, both[..., 1:, :])


def _to_points_back(words, kept, g):
    x, f, slopes = kept
    modes = _run("to_points", f.shape[-x.shape[1]:], words, False, True, x, g.conj()).conj()
    return _by_points(g, slopes, x.dtype), modes


_to_points.defvjp(_to_points_forth, _to_points_back)


def _arguments(x, values, tolerance, sign, fft_order, period):
    x, values = jnp.asarray(x), jnp.asarray(values)
    if values.dtype not in (jnp.complex64, jnp.complex128) or x.dtype not in (jnp.float32, jnp.float64) or x.ndim != 2:
        raise TypeError(f"expected points [M, ndim] of floats and complex values, not {x.dtype} {x.shape} and {values.dtype}")
    precision = "f64" if values.dtype == jnp.complex128 else "f32"
    return x, values, tuple(sorted(dict(tolerance=tolerance, sign=int(sign), precision=precision, fft_order=bool(fft_order),
                                        period=period).items()))


def to_modes(x: Any, c: Any, n: Any, *, sign: Any = 1, tolerance: float | None = None, fft_order: bool = False, period: Any = None) -> Any:
    """Modes [..., n...] of strengths c [..., M] at points x [M, ndim]; options as kugel.nufft.Plan."""
    x, c, words = _arguments(x, c, tolerance, sign, fft_order, period)
    return _to_modes(x, c, tuple(int(k) for k in n), words)


def to_points(x: Any, f: Any, *, sign: Any = -1, tolerance: float | None = None, fft_order: bool = False, period: Any = None) -> Any:
    """Values [..., M] at points x [M, ndim] of modes f [..., n...]; options as kugel.nufft.Plan."""
    x, f, words = _arguments(x, f, tolerance, sign, fft_order, period)
    return _to_points(x, f, words)
