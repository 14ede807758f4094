# SPDX-License-Identifier: BSD-3-Clause
"""Plans of kugel.stencil on PyTorch tensors, with gradients of any order by fields.

    plan = kugel.stencil.laplacian((300, 400), h=0.5, coefficient=c**2)
    v = kugel.torch.stencil.apply(plan, u)                                     # u [..., 300, 400]
    last = kugel.torch.stencil.advance(plan, state, 0.1, 200)                  # a new tensor; state as of Plan.advance
    (last[1] - data).square().sum().backward()                                 # 200 transposed steps, no stored states

Coefficients, masks and dt have no gradients. Tensors have the plan's dtype and are on the CPU, or, of a plan with
device="cuda:0", on that GPU, where they stay.
"""
from __future__ import annotations

from typing import Any

import torch

__all__ = ["advance", "apply"]


def _array(x: torch.Tensor, plan: Any) -> Any:
    """What a plan takes of a tensor: a NumPy array, or the tensor on its GPU."""
    if not x.is_cuda and x.device.type != "cpu":
        raise NotImplementedError(f"the tensor is on {x.device}; stencils work on the CPU and on CUDA devices")
    if str(x.dtype) != f"torch.{plan.dtype}":
        raise TypeError(f"the tensor is {x.dtype}, the plan computes in {plan.dtype}")
    return x.detach() if x.is_cuda else x.detach().numpy()


def _tensor(a: Any) -> torch.Tensor:
    return a if torch.is_tensor(a) else torch.from_numpy(a)


class _Apply(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, plan: Any, back: bool) -> torch.Tensor:
        ctx.words = plan, back
        return _tensor((plan.adjoint if back else plan.apply)(_array(x, plan)))

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:  # type: ignore[override]
        plan, back = ctx.words
        return _Apply.apply(gradient, plan, not back), None, None


class _Advance(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, plan: Any, words: Any, back: bool) -> torch.Tensor:
        ctx.words = plan, words, back
        state = _array(x.detach().clone(memory_format=torch.contiguous_format), plan)
        return _tensor((plan.advance_adjoint if back else plan.advance)(state, *words))

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:  # type: ignore[override]
        plan, words, back = ctx.words
        return _Advance.apply(gradient, plan, words, not back), None, None, None


def apply(plan: Any, u: torch.Tensor) -> torch.Tensor:
    """Plan.apply; the gradient by u is Plan.adjoint."""
    return _Apply.apply(u, plan, False)


def advance(plan: Any, state: torch.Tensor, dt: float, steps: int = 1, method: str = "leapfrog") -> torch.Tensor:
    """Plan.advance, into a new tensor; the gradient by state is Plan.advance_adjoint."""
    return _Advance.apply(state, plan, (float(dt), int(steps), method), False)
