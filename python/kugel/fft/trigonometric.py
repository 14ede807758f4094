# SPDX-License-Identifier: BSD-3-Clause
"""Cosine and sine transforms with scipy.fft's arguments."""
from __future__ import annotations

import math
from typing import Any

from .. import _ffi
from .common import FORWARD, INVERSE, axes_and_lengths, execute, typed
from .place import differentiable, place
from .scales import scales

_KINDS = {name: {t: getattr(_ffi, f"KUGEL_FFT_{name.upper()}{t}") for t in (1, 2, 3, 4)} for name in ("dct", "dst")}


def ends(name: Any, type: int) -> Any:
    """Which ends carry a factor sqrt(2) so that the transform of this kind is orthogonal: of input, of output."""
    return {"dct1": ((0, -1), (0, -1)), "dct2": ((), (0,)), "dct3": ((0,), ()), "dst2": ((), (-1,)),
            "dst3": ((-1,), ())}.get(f"{name}{type}", ((), ()))


def gain_of(name: Any, type: int, lengths: Any) -> Any:
    """What forward and inverse multiply by."""
    return math.prod(2 * (n - 1) if (name, type) == ("dct", 1) else 2 * (n + 1) if (name, type) == ("dst", 1) else 2 * n
                     for n in lengths)


def _scale_ends(x, axes, where, factor):
    for a in axes:
        for end in where:
            index = [slice(None)] * x.ndim
            index[a] = end
            x.scale_at(tuple(index), factor)


def _trigonometric(x, name, type, s, axes, norm, sign, overwrite, workers, orthogonalize, one=False):
    if type not in _KINDS[name]:
        raise ValueError(f"type is {type}; allowed are 1 to 4")
    x = place(x)
    axes, lengths = axes_and_lengths(x, s, axes, one)
    if not axes:
        scales(norm, 1)
        return x.copied().value()
    words = name, type, lengths, axes, norm, sign, overwrite, workers, orthogonalize
    if x.dtype.kind != "c":
        return _of_reals(x, *words).value()
    real, imaginary = (_of_reals(p, *words) for p in x.parts())
    return real.joined(imaginary).value()


def _of_reals(x, name, type, lengths, axes, norm, sign, overwrite, workers, orthogonalize):
    x, _ = typed(x, False)
    if (name, type) == ("dct", 1) and min(lengths) < 2:
        raise ValueError(f"lengths are {lengths}: of type 1 they must be at least 2")
    x = x.resized(axes, lengths)
    ends_in, ends_out = ends(name, type)
    if sign == INVERSE:
        ends_in, ends_out = ends_out, ends_in
    orthogonalize = norm == "ortho" if orthogonalize is None else orthogonalize
    if orthogonalize and ends_in:
        x = x if overwrite or x.owned else x.copied()
        _scale_ends(x, axes, ends_in, math.sqrt(2))
    out = x.result_of(x.shape, x.dtype, overwrite)
    execute(x, axes, lengths, _KINDS[name][type], sign, norm, gain_of(name, type, lengths), out, workers)
    if orthogonalize:
        _scale_ends(out, axes, ends_out, math.sqrt(0.5))
    return out


@differentiable
def dct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
        workers: int | None = None, orthogonalize: bool | None = None) -> Any:
    """Cosine transform of type 1 to 4 along an axis."""
    return _trigonometric(x, "dct", type, n, axis, norm, FORWARD, overwrite_x, workers, orthogonalize, True)


@differentiable
def idct(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
         workers: int | None = None, orthogonalize: bool | None = None) -> Any:
    """Inverse of dct of the same type."""
    return _trigonometric(x, "dct", type, n, axis, norm, INVERSE, overwrite_x, workers, orthogonalize, True)


@differentiable
def dst(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
        workers: int | None = None, orthogonalize: bool | None = None) -> Any:
    """Sine transform of type 1 to 4 along an axis."""
    return _trigonometric(x, "dst", type, n, axis, norm, FORWARD, overwrite_x, workers, orthogonalize, True)


@differentiable
def idst(x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False,
         workers: int | None = None, orthogonalize: bool | None = None) -> Any:
    """Inverse of dst of the same type."""
    return _trigonometric(x, "dst", type, n, axis, norm, INVERSE, overwrite_x, workers, orthogonalize, True)


@differentiable
def dctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
         workers: int | None = None, *, orthogonalize: bool | None = None) -> Any:
    """Cosine transform along several axes, all unless given."""
    return _trigonometric(x, "dct", type, s, axes, norm, FORWARD, overwrite_x, workers, orthogonalize)


@differentiable
def idctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
          workers: int | None = None, orthogonalize: bool | None = None) -> Any:
    """Inverse of dctn."""
    return _trigonometric(x, "dct", type, s, axes, norm, INVERSE, overwrite_x, workers, orthogonalize)


@differentiable
def dstn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
         workers: int | None = None, orthogonalize: bool | None = None) -> Any:
    """Sine transform along several axes, all unless given."""
    return _trigonometric(x, "dst", type, s, axes, norm, FORWARD, overwrite_x, workers, orthogonalize)


@differentiable
def idstn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False,
          workers: int | None = None, orthogonalize: bool | None = None) -> Any:
    """Inverse of dstn."""
    return _trigonometric(x, "dst", type, s, axes, norm, INVERSE, overwrite_x, workers, orthogonalize)
