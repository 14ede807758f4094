# SPDX-License-Identifier: BSD-3-Clause
"""What all transforms have in common: axes, lengths, types, effort."""
from __future__ import annotations

import contextlib
import contextvars
from typing import Any
from operator import index

import numpy as np

from .. import _ffi
from .._lib import get_num_threads
from .arrays import threads_of
from .place import place
from .scales import scales, wide_scales

C2C, R2C = _ffi.KUGEL_FFT_C2C, _ffi.KUGEL_FFT_R2C
FORWARD, INVERSE = _ffi.KUGEL_FORWARD, _ffi.KUGEL_INVERSE

_EFFORTS = {"estimate": _ffi.KUGEL_FFT_ESTIMATE, "measure": _ffi.KUGEL_FFT_MEASURE}
_workers = contextvars.ContextVar("workers", default=None)
_effort = contextvars.ContextVar("effort", default=_ffi.KUGEL_FFT_ESTIMATE)


def set_effort(effort: str) -> Any:
    """Transforms inside `with set_effort("measure")` are planned by timing kernels on their device, which remembers the
    fastest; "estimate": by a model, as without."""
    if effort not in _EFFORTS:
        raise ValueError(f"effort is {effort!r}; allowed are {', '.join(map(repr, _EFFORTS))}")
    return _setting(_effort, _EFFORTS[effort])


def set_workers(workers: int) -> Any:
    """Transforms inside `with set_workers(4)` that are not given `workers` run on so many threads."""
    return _setting(_workers, threads_of(workers) and workers)


def get_workers() -> Any:
    """The number of threads of transforms that are not given `workers`."""
    return threads_of(_workers.get()) or get_num_threads()


@contextlib.contextmanager
def _setting(variable, value):
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def current_effort() -> Any:
    """The library's word of set_effort."""
    return _effort.get()


def no_plan(plan: Any) -> Any:
    """scipy.fft's argument for plans, of which no library has any."""
    if plan is not None:
        raise NotImplementedError("a precomputed plan was given as plan=, which must be None: a plan to keep is kugel.fft.Plan")


def axes_and_lengths(x: Any, s: Any, axes: Any, one: Any) -> Any:
    """Axes from 0 and lengths; s None: those of x, axes None: the last len(s) or all. one: of a function of one axis."""
    if one:
        axes, s = (index(axes),), None if s is None else (index(s),)
    if s is not None:
        s = tuple(map(index, s)) if hasattr(s, "__len__") else (index(s),)
    if axes is None:
        if s is not None and len(s) > x.ndim:
            raise ValueError(f"s has {len(s)} lengths, the array {x.ndim} dimensions")
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    axes = [a + x.ndim if a < 0 else a for a in map(index, axes if hasattr(axes, "__len__") else (axes,))]
    if any(not 0 <= a < x.ndim for a in axes) or len(set(axes)) != len(axes):
        raise ValueError(f"axes {axes} do not fit an array of {x.ndim} dimensions, each once")
    lengths = [x.shape[a] for a in axes] if s is None else \
        [x.shape[a] if n == -1 and not one else n for n, a in zip(s, axes)]
    if s is not None and len(s) != len(axes):
        raise ValueError("s and axes must have the same length")
    if any(n < 1 for n in lengths):
        raise ValueError(f"lengths {lengths} must be at least 1")
    return axes, lengths


def typed(x: Any, want_complex: Any) -> Any:
    """x with a dtype that the library takes, and whether that is single precision."""
    x = place(x)
    single = x.dtype in (np.float32, np.complex64, np.float16)
    if x.dtype.kind not in "biufc":
        raise TypeError(f"x has dtype {x.dtype}: expected numbers")
    if x.dtype.kind == "c" and not want_complex:
        raise TypeError("x must be real")
    kind = (np.complex64 if single else np.complex128) if want_complex else (np.float32 if single else np.float64)
    return x.typed(np.dtype(kind)), single


def execute(x: Any, axes: Any, lengths: Any, kind: str, sign: Any, norm: str, gain: Any, out: Any, workers: int) -> Any:
    forward, inverse = (wide_scales if x.precision == "dd" else scales)(norm, gain)
    threads = threads_of(_workers.get() if workers is None else workers)
    x.execute(out, axes, threads, sign, (tuple(lengths), kind, x.precision, forward, inverse, _effort.get()))
    return out
