# SPDX-License-Identifier: BSD-3-Clause
"""Plans of kugel.stencil on arrays of JAX, with derivatives by fields under jit, vmap, jvp, vjp.

    plan = kugel.stencil.laplacian((300, 400), h=0.5, coefficient=c**2)
    v = kugel.jax.stencil.apply(plan, u)                                       # u [..., 300, 400]
    last = kugel.jax.stencil.advance(plan, state, 0.1, 200)                    # a new array; state as of Plan.advance
    gradient = jax.grad(lambda state: ((kugel.jax.stencil.advance(plan, state, 0.1, 200)[1] - data) ** 2).sum())(state)

Coefficients, masks and dt have no derivatives. Plans of double precision need JAX's jax_enable_x64. They compute on the CPU.
"""
from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from .operator import Operator

__all__ = ["advance", "apply"]


def _operator(plan, words, make):
    """Kept by the plan."""
    kept = plan.__dict__.setdefault("_jax", {})
    if words not in kept:
        kept[words] = make()
    return kept[words]


def _call(operator, plan, x):
    x = jnp.asarray(x)
    if jnp.iscomplexobj(x):
        raise TypeError("fields are real; apply the plan to real and imaginary part as two")
    x = x.astype(plan.dtype)
    if x.dtype != plan.dtype:
        raise TypeError("the plan is of double precision, which needs jax_enable_x64: set it, or make the plan with precision='f32'")
    return operator(x)


def _same(dtype):
    return dtype


def apply(plan: Any, u: Any) -> Any:
    """Plan.apply; its transpose is Plan.adjoint."""
    def make():
        def shape(fields):
            return ((fields,) if fields > 1 else ()) + plan.n
        return Operator(shape(plan.fields), shape(plan.outs), plan.apply, plan.adjoint, _same, _same)
    return _call(_operator(plan, (), make), plan, u)


def advance(plan: Any, state: Any, dt: float, steps: int = 1, method: str = "leapfrog") -> Any:
    """Plan.advance, into a new array; its transpose is Plan.advance_adjoint. Leading axes of the state are a batch."""
    words = float(dt), int(steps), method

    def make():
        shape = ((2,) if method == "leapfrog" else ()) + ((plan.fields,) if plan.fields > 1 else ()) + plan.n

        def each(function):
            def run(states):
                out = np.array(states, plan.dtype)
                for one in out.reshape((-1,) + shape):
                    function(one, *words)
                return out
            return run
        return Operator(shape, shape, each(plan.advance), each(plan.advance_adjoint), _same, _same)
    return _call(_operator(plan, words, make), plan, state)
