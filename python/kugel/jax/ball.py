# SPDX-License-Identifier: BSD-3-Clause
"""Transforms in the ball as a primitive of JAX, transposed by their adjoints."""
from __future__ import annotations

import itertools
import json
import weakref
from typing import Any

import jax
import jax.numpy as jnp
from jax.interpreters import ad, batching

from ..ball import _OPERATORS, Ball as _Plan
from . import primitive, xla

_alive, _names, _numbers = weakref.WeakValueDictionary(), weakref.WeakKeyDictionary(), itertools.count()
_made, _twins = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()  # arguments of plans; the same plans on devices


def _shapes(name, verb, kind, transposed):
    """Axes of an array that a verb takes, and of the one that it gives."""
    plan = _alive[name]
    if verb in _OPERATORS:
        shapes = [((c,) if c > 1 else ()) + (plan.nlm, plan.n) for c in _OPERATORS[verb][1:]]
    else:
        lead = (3,) if kind == "vector" else ()
        shapes = [lead + (plan.nlm, plan.n), lead + plan.shape]
    return shapes[::-1] if transposed != (verb == "analysis") else shapes


def _run(plan, verb, kind, transposed, x, **out):
    if verb in _OPERATORS:
        return plan.apply(verb, x, adjoint=transposed, **out)
    return getattr(plan, verb + "_adjoint" if transposed else verb)(x, kind, **out)


def _compute(call):
    out, (name, *words) = call.results[0].array(), json.loads(call.attributes["words"])
    if out.size:
        out[...] = _run(_alive[name], *words, call.arguments[0].array())


def _launch(call):
    (name, *words), index = json.loads(call.attributes["words"]), call.device()
    x, out = (b.there(index, call.stream() or 0) for b in (call.arguments[0], call.results[0]))
    if 0 not in out.shape:
        _run(_on(name, f"cuda:{index}"), *words, x, out=out)


def _on(name, device):
    """The plan on a device, which is made once."""
    plan = _alive[name]
    if plan.device == device:
        return plan
    if device not in _twins[plan]:
        args, keys = _made[plan]
        _twins[plan][device] = _Plan(*args, **{**keys, "device": device})
    return _twins[plan][device]


_on_host, _on_device = xla.handler(_compute), xla.handler(_launch)  # to be kept
jax.ffi.register_ffi_target("kugel_ball", jax.ffi.pycapsule(_on_host), platform="cpu")
jax.ffi.register_ffi_target("kugel_ball", jax.ffi.pycapsule(_on_device), platform="CUDA")

_linear = primitive.made("kugel_ball")


def _result(x, name, verb, kind, transposed):
    given, made = _shapes(name, verb, kind, transposed)
    real = _alive[name]._real
    to_grid = verb == ("analysis" if transposed else "synthesis")
    return x.shape[:x.ndim - len(given)] + made, jnp.dtype(real) if to_grid else jnp.result_type(real, jnp.complex64)


@_linear.def_abstract_eval
def _(x, **words):
    return primitive.aval(x, *_result(x, **words))


def _transpose(g, x, *, name, verb, kind, transposed):
    if type(g) is ad.Zero:
        return [ad.Zero(x.aval)]
    return [_linear.bind(g, name=name, verb=verb, kind=kind, transposed=not transposed)]


ad.deflinear2(_linear, _transpose)


def _batch(arguments, axes, **words):
    return _linear.bind(jnp.moveaxis(arguments[0], axes[0], 0), **words), 0


batching.primitive_batchers[_linear] = _batch


def _called(x, *, name, verb, kind, transposed):
    """JAX pairs complex numbers by Re(a b); the plan's adjoints by Re(conj(a) b), rows of m > 0 twice."""
    plan = _alive[name]
    turned = transposed and verb not in _OPERATORS
    twice = (1 + (plan.m > 0))[:, None].astype(plan._real)
    call = jax.ffi.ffi_call("kugel_ball", jax.ShapeDtypeStruct(*_result(x, name, verb, kind, transposed)))
    out = call(x.conj() / twice if turned and verb == "analysis" else x, words=json.dumps([name, verb, kind, transposed]))
    return (out * twice).conj() if turned and verb == "synthesis" else out


for _platform in ("cpu", "cuda"):
    primitive.lower(_linear, _platform, _called, lambda x, **words: [(d, d) for d in range(x.ndim - len(_shapes(**words)[0]))])


class Ball:
    """kugel.ball.Ball for arrays of JAX: the same arguments and shapes, under jit, vmap, jvp, vjp, on the CPU and on CUDA devices,
    by a plan for each that is made when the first array comes.

        ball = kugel.jax.Ball(lmax=31, n=20, vectors=True)
        energy = lambda c: (ball.synthesis(ball.apply("grad", c), "vector") ** 2).sum()
        gradient = jax.jit(jax.grad(energy))(c)

    Gradients of coefficients follow JAX's convention, by the pairing Re(a b): those of m > 0 carry a factor 2, as both they
    and their conjugates enter the field. Double precision needs JAX's jax_enable_x64. `plan` is the kugel.ball.Ball.
    """

    def __init__(self, *args: Any, **keys: Any) -> None:
        self.plan = _Plan(*args, **keys)
        self._axis = -1 - len(self.plan.shape)  # of components on the grid
        self._name = _names[self.plan] = str(next(_numbers))
        _alive[self._name], _made[self.plan], _twins[self.plan] = self.plan, (args, keys), {}

    def _bind(self, x, verb, kind="scalar"):
        x, real = jnp.asarray(x), jnp.dtype(self.plan._real)
        if verb == "analysis" and jnp.iscomplexobj(x):
            raise TypeError("values are real; transform real and imaginary part as two")
        x = x.astype(real if verb == "analysis" else jnp.result_type(real, jnp.complex64))
        if x.real.dtype != real:
            raise TypeError("the plan is of double precision, which needs jax_enable_x64: set it, or make the plan with precision='f32'")
        if verb not in _OPERATORS and kind not in ("scalar", "vector"):
            raise ValueError(f"kind is {kind!r}; allowed are 'scalar', 'vector' and 'spin'")
        given, _ = _shapes(self._name, verb, kind, False)
        if x.shape[-len(given):] != given:
            raise ValueError(f"the array has shape {x.shape}; expected (..., {', '.join(map(str, given))})")
        return _linear.bind(x, name=self._name, verb=verb, kind=kind, transposed=False)

    def synthesis(self, coefficients: Any, kind: str = "scalar") -> Any:
        """Values of series; kind: "scalar", "vector", or "spin" for complex components of spin -1, 0, 1."""
        if kind == "spin":
            r, theta, phi = jnp.moveaxis(self._bind(coefficients, "synthesis", "vector"), self._axis, 0)
            plus = jax.lax.complex(theta, phi) / 2 ** 0.5
            return jnp.stack([plus.conj(), jax.lax.complex(r, jnp.zeros_like(r)), plus], self._axis)
        return self._bind(coefficients, "synthesis", kind)

    def analysis(self, values: Any, kind: str = "scalar") -> Any:
        """Series of values."""
        if kind == "spin":
            minus, zero, plus = jnp.moveaxis(jnp.asarray(values), self._axis, 0)
            turned = [zero.real, (minus + plus).real / 2 ** 0.5, (plus - minus).imag / 2 ** 0.5]
            return self._bind(jnp.stack(turned, self._axis), "analysis", "vector")
        return self._bind(values, "analysis", kind)

    def apply(self, operator: Any, coefficients: Any) -> Any:
        """An operator on coefficients: "grad", "div", "curl", "laplacian" and the others of kugel.ball.Ball.apply."""
        if operator not in _OPERATORS:
            raise ValueError(f"operator is {operator!r}; allowed are {', '.join(map(repr, _OPERATORS))}")
        return self._bind(coefficients, operator)
