# SPDX-License-Identifier: BSD-3-Clause
"""The sky behind a lens, with gradients by its coefficients."""
from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ..alms import Alm
from ..points import Lens as _Lens


class _Operator(torch.autograd.Function):
    """S, or with `back` the transpose of S by real and imaginary parts: the adjoint, times 2 where m > 0."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, lens: Any, weight: torch.Tensor, back: bool) -> torch.Tensor:
        ctx.words = lens, weight, back
        tensor = x.detach().resolve_conj().resolve_neg()
        if x.device.type not in ("cpu", "cuda"):
            raise NotImplementedError(f"the tensor is on {x.device}; lenses work on the CPU and on CUDA devices")
        array = tensor.numpy() if x.device.type == "cpu" else tensor
        out = torch.as_tensor(lens.adjoint(array) if back else lens.synthesis(array))
        return out * weight.to(out.device) if back else out

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:  # type: ignore[override]
        lens, weight, back = ctx.words
        return _Operator.apply(gradient, lens, weight, not back), None, None, None


class Lens(nn.Module):
    """kugel.points.Lens, with its arguments, as a module: calling it takes alm [..., nalm], of several sets [..., sets, nalm], to the
    lensed sky. Gradients of any order by alm; the potential has none. Tensors are complex64 or complex128, on the CPU, or on the
    device of Lens(..., device="cuda:0"), where they are used in place."""

    def __init__(self, *arguments: Any, **words: Any) -> None:
        super().__init__()
        #: the kugel.points.Lens
        self.lens = _Lens(*arguments, **words)
        plan = self.lens.plan
        self._weight = 1.0 + torch.from_numpy(Alm.getlm(plan.lmax)[1][:plan.nalm] > 0).float()

    def forward(self, alm: torch.Tensor) -> torch.Tensor:
        """The lensed sky of the coefficients."""
        return _Operator.apply(alm, self.lens, self._weight, False)

    def extra_repr(self) -> str:
        return f"lmax={self.lens.plan.lmax}, points={self.lens.shape}"
