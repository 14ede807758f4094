# SPDX-License-Identifier: BSD-3-Clause
"""Fourier transforms with scipy.fft's arguments."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .common import C2C, FORWARD, INVERSE, R2C, axes_and_lengths, execute, no_plan, typed
from .place import differentiable, place
from .scales import scales


def _complex(x, s, axes, norm, sign, overwrite, workers, plan, one=False):
    no_plan(plan)
    given = place(x)
    axes, lengths = axes_and_lengths(given, s, axes, one)
    if not axes:
        scales(norm, 1)
        return given.copied().value()
    x, single = typed(given, True)
    x = x.resized(axes, lengths)
    out = x.result_of(x.shape, x.dtype, overwrite)
    return execute(x, axes, lengths, C2C, sign, norm, math.prod(lengths), out, workers).value()


def _real_forward(x, s, axes, norm, workers, plan, one=False):
    no_plan(plan)
    x, single = typed(x, False)
    axes, lengths = axes_and_lengths(x, s, axes, one)
    _some(axes)
    x = x.resized(axes, lengths)
    shape = list(x.shape)
    shape[axes[-1]] = lengths[-1] // 2 + 1
    out = x.result_of(tuple(shape), np.dtype(np.complex64 if single else np.complex128), False)
    return execute(x, axes, lengths, R2C, FORWARD, norm, math.prod(lengths), out, workers)


def _real_inverse(x, s, axes, norm, workers, plan, conjugate=False, one=False):
    no_plan(plan)
    x, single = typed(x, True)
    axes, lengths = axes_and_lengths(x, s, axes, one)
    _some(axes)
    if s is None:
        lengths[-1] = 2 * (x.shape[axes[-1]] - 1)
    if lengths[-1] < 1:
        raise ValueError(f"the output would have length {lengths[-1]}; give n")
    x = x.resized(axes, lengths[:-1] + [lengths[-1] // 2 + 1])
    if conjugate:
        x = x.conjugated()
    shape = list(x.shape)
    shape[axes[-1]] = lengths[-1]
    out = x.result_of(tuple(shape), np.dtype(np.float32 if single else np.float64), False)
    return execute(x, axes, lengths, R2C, INVERSE, norm, math.prod(lengths), out, workers).value()


def _some(axes):
    if not axes:
        raise ValueError("axes is empty: at least one axis must be transformed")


@differentiable
def fft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
        plan: Any = None) -> Any:
    """Fourier transform along an axis."""
    return _complex(x, n, axis, norm, FORWARD, overwrite_x, workers, plan, one=True)


@differentiable
def ifft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
         plan: Any = None) -> Any:
    """Inverse of fft."""
    return _complex(x, n, axis, norm, INVERSE, overwrite_x, workers, plan, one=True)


@differentiable
def rfft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
         plan: Any = None) -> Any:
    """Fourier transform of real numbers: n // 2 + 1 results."""
    return _real_forward(x, n, axis, norm, workers, plan, one=True).value()


@differentiable
def irfft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
          plan: Any = None) -> Any:
    """Inverse of rfft; n of the result, 2 (m - 1) unless given."""
    return _real_inverse(x, n, axis, norm, workers, plan, one=True)


@differentiable
def fft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
         plan: Any = None) -> Any:
    """Fourier transform along two axes."""
    return _complex(x, s, axes, norm, FORWARD, overwrite_x, workers, plan)


@differentiable
def ifft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
          plan: Any = None) -> Any:
    """Inverse of fft2."""
    return _complex(x, s, axes, norm, INVERSE, overwrite_x, workers, plan)


@differentiable
def fftn(x: Any, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
         plan: Any = None) -> Any:
    """Fourier transform along several axes, all unless given."""
    return _complex(x, s, axes, norm, FORWARD, overwrite_x, workers, plan)


@differentiable
def ifftn(x: Any, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
          plan: Any = None) -> Any:
    """Inverse of fftn."""
    return _complex(x, s, axes, norm, INVERSE, overwrite_x, workers, plan)


@differentiable
def rfft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
          plan: Any = None) -> Any:
    """Fourier transform of real numbers along two axes, the last one halved."""
    return _real_forward(x, s, axes, norm, workers, plan).value()


@differentiable
def irfft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
           plan: Any = None) -> Any:
    """Inverse of rfft2."""
    return _real_inverse(x, s, axes, norm, workers, plan)


@differentiable
def rfftn(x: Any, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
          plan: Any = None) -> Any:
    """Fourier transform of real numbers along several axes, the last one halved."""
    return _real_forward(x, s, axes, norm, workers, plan).value()


@differentiable
def irfftn(x: Any, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
           plan: Any = None) -> Any:
    """Inverse of rfftn."""
    return _real_inverse(x, s, axes, norm, workers, plan)


_SWAPPED = {None: "forward", "backward": "forward", "forward": "backward"}


@differentiable
def hfft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
         plan: Any = None) -> Any:
    """Fourier transform of a Hermitian-symmetric signal, given by its first half: real results."""
    return _real_inverse(x, n, axis, _SWAPPED.get(norm, norm), workers, plan, True, one=True)


@differentiable
def ihfft(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
          plan: Any = None) -> Any:
    """Inverse of hfft: the first half of a Hermitian-symmetric signal."""
    return _real_forward(x, n, axis, _SWAPPED.get(norm, norm), workers, plan, one=True).conjugated().value()


@differentiable
def hfft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
          plan: Any = None) -> Any:
    """hfft along two axes."""
    return _real_inverse(x, s, axes, _SWAPPED.get(norm, norm), workers, plan, True)


@differentiable
def ihfft2(x: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
           plan: Any = None) -> Any:
    """Inverse of hfft2."""
    return _real_forward(x, s, axes, _SWAPPED.get(norm, norm), workers, plan).conjugated().value()


@differentiable
def hfftn(x: Any, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
          plan: Any = None) -> Any:
    """hfft along several axes, all unless given."""
    return _real_inverse(x, s, axes, _SWAPPED.get(norm, norm), workers, plan, True)


@differentiable
def ihfftn(x: Any, s: Any = None, axes: Any = None, norm: str | None = None, overwrite_x: bool = False, workers: int | None = None, *,
           plan: Any = None) -> Any:
    """Inverse of hfftn."""
    return _real_forward(x, s, axes, _SWAPPED.get(norm, norm), workers, plan).conjugated().value()
