# SPDX-License-Identifier: BSD-3-Clause
"""Spherical-harmonic transforms as a primitive of JAX, and its transpose."""
from __future__ import annotations

import ctypes
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters import ad, batching

from .. import _ffi, transforms
from .._lib import dtype_of, lib
from ..arrays import make_view
from ..hardware import context
from ..plans import SHT as _Plan
from . import primitive, xla

_OTHER = {np.dtype(a): np.dtype(b) for a, b in ((np.float32, np.complex64), (np.float64, np.complex128),
                                                (np.complex64, np.float32), (np.complex128, np.float64))}


# ---- calls from XLA --------------------------------------------------------------------------------------------


def _compute(call):
    words = call.attributes
    t = transforms.named(words["transform"])
    x, out = call.arguments[0].array(), call.results[0].array()
    if out.size:
        out[...] = t.apply(x, bool(words["analysis"]), bool(words["adjoint"]))


def _device_plan(t, index):
    plans = t.__dict__.setdefault("jax_plans", {})
    if index not in plans:
        plans[index] = _Plan(*t.arguments, t.weights, t.iterations, bad_pixels="pass", device=f"cuda:{index}")
    return plans[index]


_VERBS = {(0, 0): lib.kugel_sht_synthesis, (0, 1): lib.kugel_sht_synthesis_adjoint, (1, 0): lib.kugel_sht_analysis,
          (1, 1): lib.kugel_sht_analysis_adjoint}


def _launch(call):
    words, index = call.attributes, call.device()
    t = transforms.named(words["transform"])
    plan, queue = _device_plan(t, index), context(f"cuda:{index}").queue(call.stream() or 0)
    verb = words["analysis"], words["adjoint"]
    counts = (plan.nsets, plan.nmaps) if verb[0] == verb[1] else (plan.nmaps, plan.nsets)
    views = []
    for buffer, count in zip((call.arguments[0], call.results[0]), counts):
        shape = buffer.shape if count > 1 else (*buffer.shape[:-1], 1, buffer.shape[-1])
        views.append(make_view(buffer.address, _ffi.KUGEL_CUDA, index, dtype_of(buffer.dtype), shape, None, buffer))
    if np.prod(call.results[0].shape):
        _VERBS[verb](plan._handle.address, *map(ctypes.byref, views), queue)


_on_host, _on_device = xla.handler(_compute), xla.handler(_launch)  # to be kept
jax.ffi.register_ffi_target("kugel_transform", jax.ffi.pycapsule(_on_host), platform="cpu")
jax.ffi.register_ffi_target("kugel_transform", jax.ffi.pycapsule(_on_device), platform="CUDA")


# ---- the primitive ---------------------------------------------------------------------------------------------


_transform = primitive.made("kugel_transform")


@_transform.def_abstract_eval
def _(x, *, name, analysis, adjoint):
    given, made = transforms.named(name).shapes(analysis, adjoint)
    return primitive.aval(x, x.shape[:x.ndim - len(given)] + made, _OTHER[x.dtype])


def _transpose(cotangent, x, *, name, analysis, adjoint):
    """JAX pairs complex numbers by Re(a b), the transposes of `transforms` by Re(conj(a) b)."""
    if type(cotangent) is ad.Zero:
        return [ad.Zero(x.aval)]
    if jnp.iscomplexobj(cotangent):
        cotangent = jnp.conj(cotangent)
    out = _transform.bind(cotangent, name=name, analysis=analysis, adjoint=not adjoint)
    return [jnp.conj(out) if jnp.iscomplexobj(out) else out]


ad.deflinear2(_transform, _transpose)


def _batch(arguments, axes, **words):
    return _transform.bind(jnp.moveaxis(arguments[0], axes[0], 0), **words), 0


batching.primitive_batchers[_transform] = _batch


def _result(x, name, analysis, adjoint):
    given, made = transforms.named(name).shapes(analysis, adjoint)
    return jax.ShapeDtypeStruct(x.shape[:x.ndim - len(given)] + made, _OTHER[x.dtype])


def _batches(x, *, name, analysis, adjoint):
    return [(d, d) for d in range(x.ndim - len(transforms.named(name).shapes(analysis, adjoint)[0]))]


def _on_host_called(x, *, name, analysis, adjoint):
    call = jax.ffi.ffi_call("kugel_transform", _result(x, name, analysis, adjoint))
    return call(x, transform=name, analysis=np.int32(analysis), adjoint=np.int32(adjoint))


primitive.lower(_transform, "cpu", _on_host_called, _batches)


def _on_device_scaled(x, *, name, analysis, adjoint):
    """As Transform.apply, where the call makes the library's adjoints."""
    t = transforms.named(name)
    if not t.plan.covered and analysis == adjoint:
        raise NotImplementedError("on CUDA devices every pixel of a map must be on a ring of the grid")
    call = jax.ffi.ffi_call("kugel_transform", _result(x, name, analysis, adjoint))
    factor = jnp.asarray(t.real_weight, x.real.dtype)
    if analysis and adjoint:
        x = x / factor
    out = call(x, transform=t.name, analysis=np.int32(analysis), adjoint=np.int32(adjoint))
    return out * factor if adjoint and not analysis else out


primitive.lower(_transform, "cuda", _on_device_scaled, _batches)


def _apply(t, x, analysis, adjoint=False):
    x = jnp.asarray(x)
    given, _ = t.shapes(analysis, adjoint)
    to_alm = analysis != adjoint
    if x.shape[-len(given):] != given:
        raise ValueError(f"{'map' if to_alm else 'alm'} has shape {x.shape}; expected (..., {', '.join(map(str, given))})")
    if to_alm and jnp.iscomplexobj(x):
        raise TypeError("maps are real; transform real and imaginary part as two")
    if x.dtype not in _OTHER or to_alm == jnp.iscomplexobj(x):
        wide = x.dtype == np.float64
        x = x.astype((np.float64 if wide else np.float32) if to_alm else (np.complex128 if wide else np.complex64))
    return _transform.bind(x, name=t.name, analysis=analysis, adjoint=adjoint)


# ---- what users call -------------------------------------------------------------------------------------------


class SHT:
    """Transforms between a_lm and maps of a grid, with the arguments of kugel.SHT."""

    def __init__(self, grid: Any, lmax: int, mmax: int | None = None, spin: int = 0, mode: Any = None, weights: Any = None,
                 iterations: int = 0) -> None:
        self.transform = transforms.transform(grid, lmax, mmax, spin, mode, weights, iterations)
        self.lmax, self.mmax = self.transform.lmax, self.transform.mmax
        self.nalm, self.npix = self.transform.plan.nalm, self.transform.plan.npix

    def synthesis(self, alm: Any) -> Any:
        """Maps of the coefficients."""
        return _apply(self.transform, alm, False)

    def analysis(self, map: Any) -> Any:
        """Coefficients of the maps."""
        return _apply(self.transform, map, True)

    def synthesis_adjoint(self, map: Any) -> Any:
        """sum_p map(p) conj(Y_lm(p)): the adjoint in the inner product of kugel.SHT."""
        out = _apply(self.transform, map, False, True)
        return out / jnp.asarray(self.transform.real_weight, _OTHER[out.dtype])

    def analysis_adjoint(self, alm: Any) -> Any:
        """The adjoint of analysis in that inner product."""
        alm = jnp.asarray(alm)
        return _apply(self.transform, alm * jnp.asarray(self.transform.real_weight, alm.real.dtype), True, True)
