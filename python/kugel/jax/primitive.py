# SPDX-License-Identifier: BSD-3-Clause
"""What the primitives of kugel.jax share: avals inside shard_map, and partitioning along batches."""
import functools

import jax
import numpy as np
from jax.experimental.custom_partitioning import custom_partitioning
from jax.extend.core import Primitive
from jax.interpreters import mlir
from jax.sharding import NamedSharding, PartitionSpec

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def made(name):
    """A primitive of one array, which outside of jit is compiled once for each set of words."""
    primitive = Primitive(name)

    @functools.lru_cache(maxsize=256)
    def jitted(words):
        return jax.jit(lambda x: primitive.bind(x, **dict(words)))
    primitive.def_impl(lambda x, **words: jitted(tuple(words.items()))(x))
    return primitive


def aval(x, shape, dtype):
    """Of a result, which varies over the mesh axes of shard_map as x does."""
    words = _varying(x)
    if "manual_axis_type" in words:
        words["sharding"] = NamedSharding(x.sharding.mesh, PartitionSpec(*[None] * len(shape)))
    return jax.core.ShapedArray(shape, dtype, **words)


def _varying(x):
    """The argument of ShapedArray for that: one of newer and one of older versions of JAX. {}: none."""
    if hasattr(x, "manual_axis_type"):
        return {} if x.manual_axis_type.empty else {"manual_axis_type": x.manual_axis_type}
    return {"vma": x.vma} if getattr(x, "vma", None) else {}


def through_host(function, shape):
    """call(x, **words) for platforms without a function of their own: function(array, **words) of NumPy arrays, with copies to
    host memory and back. shape(x, **words): of the result."""
    def call(x, **words):
        result = jax.ShapeDtypeStruct(shape(x, **words), x.dtype)
        return jax.pure_callback(lambda a: np.asarray(function(np.asarray(a), **words), x.dtype), result, x, vmap_method="sequential")
    return call


def lower(primitive, platform, call, kept):
    """Lowers the primitive to call(x, **words). kept(x, **words): pairs of axes of x and of the result that are batches,
    along which the work of a jitted function is shared among devices."""
    def rule(ctx, x, **words):
        devices = getattr(ctx.module_context.axis_context, "device_assignment", None) or ()  # none inside shard_map
        pairs = tuple(kept(ctx.avals_in[0], **words)) if len(devices) > 1 else ()
        function = functools.partial(call, **words)
        if pairs:
            function = _partitioned(call, tuple(sorted(words.items())), ctx.avals_in[0].ndim, ctx.avals_out[0].ndim, pairs)
        return mlir.lower_fun(function, multiple_results=False)(ctx, x)
    mlir.register_lowering(primitive, rule, platform=platform)
    _needs_devices(primitive)


def _needs_devices(primitive):
    """Newer versions of JAX tell the devices of a jitted function to primitives of this set only, custom_partitioning's
    among them; there is no public name for it."""
    try:
        from jax._src.dispatch import prim_requires_devices_during_lowering
    except ImportError:
        return
    prim_requires_devices_during_lowering.add(primitive)


@functools.lru_cache(maxsize=256)
def _partitioned(call, words, ndim, out_ndim, pairs):
    def function(x):
        return call(x, **dict(words))

    def specs(given):
        spec = tuple(given.spec) + (None,) * (ndim - len(given.spec)) if isinstance(given, NamedSharding) else (None,) * ndim
        source, target = [None] * ndim, [None] * out_ndim
        for a, b in pairs:
            source[a] = target[b] = spec[a]
        return PartitionSpec(*source), PartitionSpec(*target)

    def infer(mesh, arguments, result):
        return NamedSharding(mesh, specs(arguments[0].sharding)[1])

    def partition(mesh, arguments, result):
        source, target = specs(arguments[0].sharding)
        return mesh, function, NamedSharding(mesh, target), (NamedSharding(mesh, source),)

    shared = {b: _LETTERS[a] for a, b in pairs}
    source = [_LETTERS[a] for a in range(ndim)]
    target = [shared.get(b, _LETTERS[ndim + b]) for b in range(out_ndim)]
    whole = tuple(sorted(set(source + target) - set(shared.values())))
    out = custom_partitioning(function)
    out.def_partition(partition, infer_sharding_from_operands=infer, need_replication_factors=whole,
                      sharding_rule=f"{' '.join(source)} -> {' '.join(target)}")
    return out
