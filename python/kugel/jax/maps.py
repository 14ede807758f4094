# SPDX-License-Identifier: BSD-3-Clause
"""Linear maps between real maps as a primitive of JAX: radial convolution and orders of pixels."""
from __future__ import annotations

import itertools
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters import ad, batching

from .. import pixelfunc, radial
from ..plans import Grid
from . import primitive, xla

_alive, _numbers = weakref.WeakValueDictionary(), itertools.count()


def _compute(call):
    out = call.results[0].array()
    if out.size:
        out[...] = _alive[call.attributes["name"]].apply(call.arguments[0].array(), bool(call.attributes["adjoint"]))


_on_host = xla.handler(_compute)  # to be kept
jax.ffi.register_ffi_target("kugel_maps", jax.ffi.pycapsule(_on_host), platform="cpu")

_maps = primitive.made("kugel_maps")


@_maps.def_abstract_eval
def _(x, *, name, adjoint):
    return primitive.aval(x, x.shape, x.dtype)


def _transpose(g, x, *, name, adjoint):
    return [ad.Zero(x.aval) if type(g) is ad.Zero else _maps.bind(g, name=name, adjoint=not adjoint)]


ad.deflinear2(_maps, _transpose)


def _batch(arguments, axes, **words):
    return _maps.bind(jnp.moveaxis(arguments[0], axes[0], 0), **words), 0


batching.primitive_batchers[_maps] = _batch


def _called(x, *, name, adjoint):
    call = jax.ffi.ffi_call("kugel_maps", jax.ShapeDtypeStruct(x.shape, x.dtype))
    return call(x, name=name, adjoint=np.int32(adjoint))


def _batches(x, *, name, adjoint):
    return [(d, d) for d in range(x.ndim - _alive[name].ndim)]


def _on_numpy(a, *, name, adjoint):
    return _alive[name].apply(a, adjoint)


def _shape(x, *, name, adjoint):
    return x.shape


primitive.lower(_maps, "cpu", _called, _batches)
primitive.lower(_maps, "cuda", primitive.through_host(_on_numpy, _shape), _batches)


class _Linear:
    """A linear map of real maps [..., *shape]; apply(x, adjoint) of NumPy arrays."""

    def _register(self, shape):
        self.shape, self.ndim, self.name = shape, len(shape), str(next(_numbers))
        _alive[self.name] = self

    def _run(self, map, adjoint):
        map = jnp.asarray(map)
        if map.shape[-self.ndim:] != self.shape or jnp.iscomplexobj(map):
            raise ValueError(f"map has shape {map.shape} and dtype {map.dtype}; expected real maps "
                             f"(..., {', '.join(str(n) for n in self.shape)})")
        if map.dtype not in (np.float32, np.float64):
            map = map.astype(np.float32 if jnp.issubdtype(map.dtype, jnp.floating) else jnp.result_type(float))
        return _maps.bind(map, name=self.name, adjoint=adjoint)

    def __call__(self, map):
        return self._run(map, False)

    def adjoint(self, map):
        """The transpose, as a matrix, of the call."""
        return self._run(map, True)


class Radial(_Linear):
    """Maps [..., npix], with a spin [..., 2, npix], convolved with a radial kernel; the arguments of kugel.Radial (a Grid, or
    an nside, and so on) but for device. A linear map with its transpose; bad pixels count as zero. On the CPU. Keep the object
    for as long as functions that were compiled with it."""

    def __init__(self, grid: Any, *args: Any, **options: Any) -> None:
        if "device" in options:
            raise TypeError("device is that of the arrays: leave it out")
        grid = grid if isinstance(grid, Grid) else Grid.healpix(grid)
        self.plan = radial.Radial(grid, *args, **options)
        self._register((2, grid.npix) if self.plan.spin else (grid.npix,))

    def apply(self, x: Any, adjoint: Any) -> Any:
        return self.plan.adjoint(x) if adjoint else self.plan(x)


class Reorder(_Linear):
    """HEALPix maps [..., npix] from one order of pixels to another: "RING", "NEST" or a flat layout of kugel.reorder. The
    transpose is the way back. On the CPU. Keep the object for as long as functions that were compiled with it."""

    def __init__(self, nside: int, to: Any = "NEST", source: Any = None) -> None:
        self.target, self.source = to, source or ("NEST" if to == "RING" else "RING")
        for word in (self.target, self.source):
            pixelfunc._named_order(word, flat=True)  # refuses others
        self._register((12 * int(nside)**2,))

    def apply(self, x: Any, adjoint: Any) -> Any:
        orders = (self.target, self.source) if adjoint else (self.source, self.target)
        return pixelfunc.reorder(np.ascontiguousarray(x).reshape(-1, x.shape[-1]), *orders).reshape(x.shape)
