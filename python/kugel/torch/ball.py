# SPDX-License-Identifier: BSD-3-Clause
"""Transforms in the ball of PyTorch tensors, with gradients of any order by their adjoints."""
from __future__ import annotations

from typing import Any

import torch

from ..ball import _OPERATORS, Ball as _Plan


def _run(plan, verb, kind, adjoint, a):
    if verb in _OPERATORS:
        return plan.apply(verb, a, adjoint=adjoint)
    return getattr(plan, verb + "_adjoint" if adjoint else verb)(a, kind)


class _Linear(torch.autograd.Function):
    """verb: "synthesis", "analysis" or an operator of the plan; adjoint in the sense of PyTorch's gradients, by real and
    imaginary parts: rows of m > 0 count twice on the grid."""

    @staticmethod
    def forward(x, ball, verb, kind, adjoint):
        x = x.detach().resolve_conj().resolve_neg().contiguous()
        plan, there = ball._on(x)
        twice = 1 + torch.as_tensor(plan.m > 0, device=x.device)[:, None].to(x.real.dtype)
        if verb == "analysis" and adjoint:
            x = x / twice
        out = _run(plan, verb, kind, adjoint, x if there else x.numpy())
        out = out if there else torch.from_numpy(out)
        return out * twice if verb == "synthesis" and adjoint else out

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, *ctx.words = inputs

    @staticmethod
    def backward(ctx, gradient):
        ball, verb, kind, adjoint = ctx.words
        return _Linear.apply(gradient, ball, verb, kind, not adjoint), None, None, None, None

    @staticmethod
    def jvp(ctx, tangent, *_):
        return _Linear.apply(tangent, *ctx.words)


class Ball:
    """kugel.ball.Ball for tensors: the same arguments and shapes. Those on a CUDA device are transformed there, on the current
    stream, by a plan that is made when the first of them comes.

        ball = kugel.torch.Ball(lmax=31, n=20, vectors=True)
        f = ball.synthesis(c)                       # c requires grad
        u = ball.synthesis(ball.apply("grad", c), "vector")
        (u.square().sum() + f.sum()).backward()

    Gradients of coefficients are PyTorch's, by real and imaginary parts: those of m > 0 carry a factor 2, as both they and
    their conjugates enter the field. `plan` is the kugel.ball.Ball.
    """

    def __init__(self, *args: Any, **keys: Any) -> None:
        self.plan, self._made, self._plans = _Plan(*args, **keys), (args, keys), {}
        self._axis = -1 - len(self.plan.shape)  # of components on the grid

    def _on(self, x):
        """The plan for a tensor, and whether it takes tensors."""
        name = str(x.device)
        if not x.is_cuda:
            return self.plan, False
        if name not in self._plans:
            args, keys = self._made
            self._plans[name] = self.plan if self.plan.device == name else _Plan(*args, **{**keys, "device": name})
        return self._plans[name], True

    def _run(self, x, verb, kind="scalar"):
        if not torch.is_tensor(x):
            raise TypeError(f"expected a tensor, not {type(x).__name__}")
        if x.device.type not in ("cpu", "cuda"):
            raise NotImplementedError(f"the tensor is on {x.device}; transforms in the ball work on the CPU and on CUDA devices")
        wanted = torch.float32 if self.plan._real.__name__ == "float32" else torch.float64
        if verb != "analysis":
            wanted = torch.complex64 if wanted == torch.float32 else torch.complex128
        elif x.is_complex():
            raise TypeError("values are real; transform real and imaginary part as two")
        return _Linear.apply(x.to(wanted), self, verb, kind, False)

    def synthesis(self, coefficients: Any, kind: str = "scalar") -> Any:
        """Values of series; kind: "scalar", "vector", or "spin" for complex components of spin -1, 0, 1."""
        if kind == "spin":
            r, theta, phi = self._run(coefficients, "synthesis", "vector").unbind(self._axis)
            plus = torch.complex(theta, phi) / 2 ** 0.5
            return torch.stack([plus.conj(), torch.complex(r, torch.zeros_like(r)), plus], self._axis)
        return self._run(coefficients, "synthesis", kind)

    def analysis(self, values: Any, kind: str = "scalar") -> Any:
        """Series of values."""
        if kind == "spin":
            if not torch.is_tensor(values) or not values.is_complex():
                raise TypeError("spin components are a complex tensor")
            minus, zero, plus = values.unbind(self._axis)
            turned = [zero.real, (minus + plus).real / 2 ** 0.5, (plus - minus).imag / 2 ** 0.5]
            return self._run(torch.stack(turned, self._axis), "analysis", "vector")
        return self._run(values, "analysis", kind)

    def apply(self, operator: Any, coefficients: Any) -> Any:
        """An operator on coefficients: "grad", "div", "curl", "laplacian" and the others of kugel.ball.Ball.apply."""
        if operator not in _OPERATORS:
            raise ValueError(f"operator is {operator!r}; allowed are {', '.join(map(repr, _OPERATORS))}")
        return self._run(coefficients, operator)
