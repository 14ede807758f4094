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
import ctypes
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import _ffi, _xla, transforms
from ._lib import dtype_of, lib
from .arrays import make_view
from .devices import context
from .plans import SHT as _Plan

__all__ = ["SHT", "alm2map", "map2alm", "almxfl"]

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


_on_host, _on_device = _xla.handler(_compute), _xla.handler(_launch)  # to be kept
jax.ffi.register_ffi_target("kugel_transform", jax.ffi.pycapsule(_on_host), platform="cpu")
jax.ffi.register_ffi_target("kugel_transform", jax.ffi.pycapsule(_on_device), platform="CUDA")


# ---- the primitive ---------------------------------------------------------------------------------------------


_transform = Primitive("kugel_transform")


@_transform.def_impl
def _(x, **words):
    return _jitted(tuple(words.items()))(x)


@functools.lru_cache(maxsize=64)
def _jitted(words):
    return jax.jit(lambda x: _transform.bind(x, **dict(words)))


@_transform.def_abstract_eval
def _(x, *, name, analysis, adjoint):
    given, made = transforms.named(name).shapes(analysis, adjoint)
    return jax.core.ShapedArray(x.shape[:x.ndim - len(given)] + made, _OTHER[x.dtype])


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


def _lower_on_host(ctx, x, *, name, analysis, adjoint):
    rule = jax.ffi.ffi_lowering("kugel_transform")
    return rule(ctx, x, transform=name, analysis=np.int32(analysis), adjoint=np.int32(adjoint))


mlir.register_lowering(_transform, _lower_on_host, platform="cpu")


def _on_device_scaled(x, *, name, analysis, adjoint):
    """As Transform.apply, where the call makes the library's adjoints."""
    t = transforms.named(name)
    if not t.plan.covered and analysis == adjoint:
        raise NotImplementedError("on CUDA devices every pixel of a map must be on a ring of the grid")
    given, made = t.shapes(analysis, adjoint)
    call = jax.ffi.ffi_call("kugel_transform", jax.ShapeDtypeStruct(x.shape[:x.ndim - len(given)] + made, _OTHER[x.dtype]))
    factor = jnp.asarray(t.real_weight, x.real.dtype)
    if analysis and adjoint:
        x = x / factor
    out = call(x, transform=t.name, analysis=np.int32(analysis), adjoint=np.int32(adjoint))
    return out * factor if adjoint and not analysis else out


mlir.register_lowering(_transform, mlir.lower_fun(_on_device_scaled, multiple_results=False), platform="cuda")


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

    def __init__(self, grid, lmax, mmax=None, spin=0, mode=None, weights=None, iterations=0):
        self.transform = transforms.transform(grid, lmax, mmax, spin, mode, weights, iterations)
        self.lmax, self.mmax = self.transform.lmax, self.transform.mmax
        self.nalm, self.npix = self.transform.plan.nalm, self.transform.plan.npix

    def synthesis(self, alm):
        """Maps of the coefficients."""
        return _apply(self.transform, alm, False)

    def analysis(self, map):
        """Coefficients of the maps."""
        return _apply(self.transform, map, True)

    def synthesis_adjoint(self, map):
        """sum_p map(p) conj(Y_lm(p)): the adjoint in the inner product of kugel.SHT."""
        out = _apply(self.transform, map, False, True)
        return out / jnp.asarray(self.transform.real_weight, _OTHER[out.dtype])

    def analysis_adjoint(self, alm):
        """The adjoint of analysis in that inner product."""
        alm = jnp.asarray(alm)
        return _apply(self.transform, alm * jnp.asarray(self.transform.real_weight, alm.real.dtype), True, True)


def alm2map(alm, nside, lmax=None, mmax=None):
    """Map [..., npix] of alm [..., nalm]; lmax from nalm unless given."""
    if lmax is None:
        lmax = transforms.lmax_of(alm.shape[-1], mmax)
    return _apply(transforms.transform(int(nside), lmax, mmax), alm, False)


def map2alm(map, lmax=None, mmax=None, iter=3, weights=None):
    """Coefficients [..., nalm] of HEALPix maps [..., npix]; lmax 3 nside - 1 unless given."""
    nside = int(np.sqrt(map.shape[-1] // 12))
    return _apply(transforms.transform(nside, 3 * nside - 1 if lmax is None else lmax, mmax, 0, None, weights, iter), map,
                  True)


def almxfl(alm, fl, mmax=None):
    """a_lm f_l, with fl [..., lmax + 1]."""
    return alm * fl[..., transforms.index(fl.shape[-1] - 1, mmax)]
