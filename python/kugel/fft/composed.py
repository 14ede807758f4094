# SPDX-License-Identifier: BSD-3-Clause
"""The functions of scipy.fft and convolutions out of differentiable primitives, for PyTorch's tensors and JAX's arrays.

`make(ops)` gives the functions by name. ops has
    run(x, kind, axes, last, scale)   the primitive of real_linear, with derivatives
    typed(x, complex)                 x as float32, float64, complex64 or complex128; complex None: of its own kind
    resized(x, axes, lengths)         cut, or padded with zeros
    times(x, factor, axis)            product with a NumPy array [n] along an axis
    conj, real, imag, join, flip, cut(x, axis, first, count), is_complex
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import fourier, trigonometric
from .common import axes_and_lengths, no_plan
from .library import good_size
from .scales import scales
from .trigonometric import ends, gain_of

_SWAPPED = {None: "forward", "backward": "forward", "forward": "backward"}


def _factor(norm, lengths, inverse):
    return scales(norm, math.prod(lengths))[1 if inverse else 0]


def _complex(ops, inverse, x, s, axes, norm, one):
    axes, lengths = axes_and_lengths(x, s, axes, one)
    if not axes:
        return x
    x = ops.resized(ops.typed(x, True), axes, lengths)
    return ops.run(x, "c2c_inverse" if inverse else "c2c", axes, 0, _factor(norm, lengths, inverse))


def _real_forward(ops, x, s, axes, norm, one):
    x = ops.typed(x, False)
    axes, lengths = axes_and_lengths(x, s, axes, one)
    _some(axes)
    x = ops.run(ops.resized(x, axes, lengths), "r2c", axes[-1:], 0, _factor(norm, lengths, False))
    return ops.run(x, "c2c", axes[:-1], 0, 1.0) if len(axes) > 1 else x


def _real_inverse(ops, conjugate, x, s, axes, norm, one):
    x = ops.typed(x, True)
    axes, lengths = axes_and_lengths(x, s, axes, one)
    _some(axes)
    if s is None:
        lengths[-1] = 2 * (x.shape[axes[-1]] - 1)
    if lengths[-1] < 1:
        raise ValueError(f"the output would have length {lengths[-1]}; give n")
    x = ops.resized(x, axes, lengths[:-1] + [lengths[-1] // 2 + 1])
    x = ops.conj(x) if conjugate else x
    x = ops.run(x, "c2c_inverse", axes[:-1], 0, 1.0) if len(axes) > 1 else x
    return ops.run(x, "c2r", axes[-1:], lengths[-1], _factor(norm, lengths, True))


def _some(axes):
    if not axes:
        raise ValueError("axes is empty: at least one axis must be transformed")


def _trigonometric(ops, name, inverse, x, type, s, axes, norm, orthogonalize, one):
    if type not in (1, 2, 3, 4):
        raise ValueError(f"type is {type}; allowed are 1 to 4")
    axes, lengths = axes_and_lengths(x, s, axes, one)
    if not axes:
        return x
    x = ops.typed(x, None)
    if ops.is_complex(x):
        return ops.join(*(_trigonometric(ops, name, inverse, p, type, s, axes if not one else axes[0], norm, orthogonalize,
                                         one) for p in (ops.real(x), ops.imag(x))))
    if name == "dct" and type == 1 and min(lengths) < 2:
        raise ValueError(f"lengths are {lengths}: of type 1 they must be at least 2")
    x = ops.resized(x, axes, lengths)
    before, after = ends(name, type)
    if inverse:
        before, after = after, before
    kind = name + str({2: 3, 3: 2}.get(type, type) if inverse else type)
    orthogonalize = norm == "ortho" if orthogonalize is None else orthogonalize
    x = _scaled(ops, x, axes, before if orthogonalize else (), math.sqrt(2))
    x = ops.run(x, kind, axes, 0, scales(norm, gain_of(name, type, lengths))[1 if inverse else 0])
    return _scaled(ops, x, axes, after if orthogonalize else (), math.sqrt(0.5))


def _scaled(ops, x, axes, where, factor):
    for a in axes if where else ():
        w = np.ones(x.shape[a])
        for end in where:
            w[end] *= factor
        x = ops.times(x, w, a)
    return x


# ---- convolution -----------------------------------------------------------------------------------------------


def _convolve(ops, in1, in2, mode, axes):
    x, h = ops.typed(in1, None), ops.typed(in2, None)
    if x.ndim != h.ndim or not x.ndim:
        raise ValueError(f"in1 has {x.ndim} dimensions and in2 {h.ndim}: they must be as many, at least one")
    if mode not in ("full", "same", "valid"):
        raise ValueError(f'mode is {mode!r}; allowed are "full", "same", "valid"')
    axes, _ = axes_and_lengths(x, None, axes, False)
    axes = [a for a in axes if x.shape[a] != 1 and h.shape[a] != 1] if mode == "valid" else axes
    if mode == "valid" and not all(x.shape[a] >= h.shape[a] for a in axes):
        if not all(h.shape[a] >= x.shape[a] for a in axes):
            raise ValueError('for mode "valid" one array must be at least as large as the other along every axis')
        x, h = h, x
    if not axes:
        return x * h
    full = [x.shape[a] + h.shape[a] - 1 for a in axes]
    fast = [good_size(n) for n in full]
    real = not ops.is_complex(x) and not ops.is_complex(h)
    if real:
        y = _real_inverse(ops, False, _real_forward(ops, x, fast, axes, None, False) *
                          _real_forward(ops, h, fast, axes, None, False), fast, axes, None, False)
    else:
        y = _complex(ops, True, _complex(ops, False, x, fast, axes, None, False) *
                     _complex(ops, False, h, fast, axes, None, False), fast, axes, None, False)
    for a, n in zip(axes, full):
        first = {"full": 0, "same": (h.shape[a] - 1) // 2, "valid": h.shape[a] - 1}[mode]
        count = {"full": n, "same": x.shape[a], "valid": x.shape[a] - h.shape[a] + 1}[mode]
        y = ops.cut(y, a, first, count)
    return y


def _correlate(ops, in1, in2, mode, axes):
    h = ops.typed(in2, None)
    over, _ = axes_and_lengths(h, None, axes, False)
    return _convolve(ops, in1, ops.conj(ops.flip(h, over)), mode, axes)


# ---- the functions by name -------------------------------------------------------------------------------------


def _fourier(ops, name):
    one = name[-1] == "t"
    inverse, real, hermitian = name[:-1].startswith("i"), "rfft" in name, "hfft" in name
    default = -1 if one else (-2, -1) if name[-1] == "2" else None

    def apply(x, s, axes, norm, plan):
        no_plan(plan)
        if hermitian:
            norm = _SWAPPED.get(norm, norm)
            return ops.conj(_real_forward(ops, x, s, axes, norm, one)) if inverse else \
                _real_inverse(ops, True, x, s, axes, norm, one)
        if real:
            return _real_inverse(ops, False, x, s, axes, norm, one) if inverse else \
                _real_forward(ops, x, s, axes, norm, one)
        return _complex(ops, inverse, x, s, axes, norm, one)

    if one:
        def function(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
                     workers: int | None = None, *, plan: Any = None) -> Any:
            return apply(x, n, axis, norm, plan)
    else:
        def function(x: Any, s: Any = None, axes: Any = default, norm: str | None = None, overwrite_x: bool = False,
                     workers: int | None = None, *, plan: Any = None) -> Any:
            return apply(x, s, axes, norm, plan)
    return function


def _cosine(ops, name):
    one = name[-1] == "t"
    inverse, kind = name.startswith("i"), name.removeprefix("i")[:3]
    if one:
        def function(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
                     workers: int | None = None, orthogonalize: bool | None = None) -> Any:
            return _trigonometric(ops, kind, inverse, x, type, n, axis, norm, orthogonalize, True)
    else:
        def function(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
                     workers: int | None = None, orthogonalize: bool | None = None) -> Any:
            return _trigonometric(ops, kind, inverse, x, type, s, axes, norm, orthogonalize, False)
    return function


FOURIER = tuple(f"{a}fft{n}" for a in ("", "i", "r", "ir", "h", "ih") for n in ("", "2", "n"))
COSINE = tuple(f"{a}{b}{n}" for a in ("", "i") for b in ("dct", "dst") for n in ("", "n"))


def make(ops):
    """The functions by name, with kugel.fft's documentation."""
    out = {}
    for name in FOURIER + COSINE:
        out[name] = (_fourier if name in FOURIER else _cosine)(ops, name)
        out[name].__name__ = out[name].__qualname__ = name
        out[name].__doc__ = getattr(fourier if name in FOURIER else trigonometric, name).__doc__

    def convolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
        """Convolution of two arrays, which both have gradients; arguments as in kugel.fft.convolve. Sums of integers are
        floats."""
        return _convolve(ops, in1, in2, mode, axes)

    def correlate(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
        """Cross-correlation of two arrays, which both have gradients; arguments as in kugel.fft.correlate."""
        return _correlate(ops, in1, in2, mode, axes)

    return out | {"convolve": convolve, "correlate": correlate}
