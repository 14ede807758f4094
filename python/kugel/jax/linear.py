# SPDX-License-Identifier: BSD-3-Clause
"""The plans of kugel.polynomial as a primitive of JAX, transposed by their adjoints; on the CPU and on CUDA devices, to which
those plans that run on the CPU alone fetch and send their arrays."""
import itertools
import json
import weakref

import jax
import jax.numpy as jnp
from jax.interpreters import ad, batching

from .._linear import OTHER as _OTHER
from . import primitive, xla

_alive, _names, _numbers = weakref.WeakValueDictionary(), weakref.WeakKeyDictionary(), itertools.count()


def _compute(call):
    out, (name, verb, words) = call.results[0].array(), json.loads(call.attributes["words"])
    if out.size:
        out[...] = _alive[name]._compute(verb, call.arguments[0].array(), words)


def _launch(call):
    (name, verb, words), index = json.loads(call.attributes["words"]), call.device()
    x, out = (b.there(index, call.stream() or 0) for b in (call.arguments[0], call.results[0]))
    if 0 not in out.shape:
        _alive[name]._compute(verb, x, words, out)


_on_host, _on_device = xla.handler(_compute), xla.handler(_launch)  # to be kept
jax.ffi.register_ffi_target("kugel_polynomial", jax.ffi.pycapsule(_on_host), platform="cpu")
jax.ffi.register_ffi_target("kugel_polynomial", jax.ffi.pycapsule(_on_device), platform="CUDA")

_linear = primitive.made("kugel_polynomial")


def _shape(x, name, verb):
    given, made = _alive[name]._shapes(verb)
    return x.shape[:x.ndim - len(given)] + made


@_linear.def_abstract_eval
def _(x, *, name, verb, words):
    return primitive.aval(x, _shape(x, name, verb), x.dtype)


def _transpose(g, x, *, name, verb, words):
    return [ad.Zero(x.aval) if type(g) is ad.Zero else _linear.bind(g, name=name, verb=_OTHER[verb], words=words)]


ad.deflinear2(_linear, _transpose)


def _batch(arguments, axes, **words):
    return _linear.bind(jnp.moveaxis(arguments[0], axes[0], 0), **words), 0


batching.primitive_batchers[_linear] = _batch


def _called(x, *, name, verb, words):
    call = jax.ffi.ffi_call("kugel_polynomial", jax.ShapeDtypeStruct(_shape(x, name, verb), x.dtype))
    return call(x, words=json.dumps([name, verb, list(words)]))


def _batches(x, *, name, verb, words):
    return [(d, d) for d in range(x.ndim - len(_alive[name]._shapes(verb)[0]))]


def _on_numpy(a, *, name, verb, words):
    return _alive[name]._compute(verb, a, list(words))


def _shape_of(x, *, name, verb, words):
    return _shape(x, name, verb)


_fetched = primitive.through_host(_on_numpy, _shape_of)


def _called_there(x, **words):
    """Where the library wants arrays of the plan's precision."""
    plan = _alive[words["name"]]
    if not plan._devices or (plan.dtype.itemsize == 8 and not jax.config.jax_enable_x64):
        return _fetched(x, **words)
    dtype = jnp.result_type(plan.dtype, jnp.complex64) if jnp.iscomplexobj(x) else plan.dtype
    return _called(x.astype(dtype), **words).astype(x.dtype)


primitive.lower(_linear, "cpu", _called, _batches)
primitive.lower(_linear, "cuda", _called_there, _batches)


def apply(plan, verb, x, words):
    """A verb of a plan on an array or a tracer."""
    x = jnp.asarray(x)
    given, _ = plan._shapes(verb)
    if x.shape[-len(given):] != given:
        raise ValueError(f"the array has shape {x.shape}; expected (..., {', '.join(map(str, given))})")
    if not jnp.issubdtype(x.dtype, jnp.inexact) or x.dtype.itemsize < 4:
        x = x.astype(jnp.result_type(float))
    if plan not in _names:
        _names[plan] = str(next(_numbers))
        _alive[_names[plan]] = plan
    return _linear.bind(x, name=_names[plan], verb=verb, words=tuple(int(w) for w in words))
