# SPDX-License-Identifier: BSD-3-Clause
"""Radial convolution of PyTorch tensors, with gradients by its transpose."""
from __future__ import annotations

import itertools
import weakref
from typing import Any

import torch
from torch import nn

from ..plans import Grid
from ..radial import Radial as _Plan

_named, _numbers = weakref.WeakValueDictionary(), itertools.count()


class _Kernel:
    """One kernel: a plan on the CPU, and one on each CUDA device that tensors come from."""

    def __init__(self, args, options):
        self.args, self.options, self.plans = args, options, {}
        self.name = str(next(_numbers))
        _named[self.name] = self

    def plan(self, device=None):
        if device not in self.plans:
            self.plans[device] = _Plan(*self.args, **self.options, device=device)
        return self.plans[device]

    def apply(self, x, adjoint):
        if x.is_cuda:
            plan = self.plan(f"cuda:{x.device.index}")
            return plan.adjoint(x) if adjoint else plan(x)
        if x.device.type != "cpu":
            raise NotImplementedError(f"the tensor is on {x.device}; kugel.torch works on the CPU and on CUDA devices")
        plan = self.plan()
        return torch.from_numpy(plan.adjoint(x.numpy()) if adjoint else plan(x.numpy()))


@torch.library.custom_op("kugel::radial", mutates_args=())
def _radial(x: torch.Tensor, name: str, adjoint: bool) -> torch.Tensor:
    return _named[name].apply(x.detach().contiguous(), adjoint)


@_radial.register_fake
def _(x, name, adjoint):
    return x.new_empty(x.shape)


def _keep(ctx, inputs, output):
    _, ctx.name, ctx.adjoint = inputs


_radial.register_autograd(lambda ctx, gradient: (_radial(gradient, ctx.name, not ctx.adjoint), None, None),
                          setup_context=_keep)


@_radial.register_vmap
def _(info, in_dims, x, name, adjoint):
    return _radial(x.movedim(in_dims[0], 0), name, adjoint), 0


class Radial(nn.Module):
    """Maps [..., npix], with a spin [..., 2, npix], convolved with a radial kernel; the arguments of kugel.Radial (a Grid,
    or an nside, and so on) but for device. It is a linear map, whose gradient is its adjoint; bad pixels count as zero and have no gradient."""

    def __init__(self, grid: Any, *args: Any, **options: Any) -> None:
        super().__init__()
        if "device" in options:
            raise TypeError("device is that of the tensors: leave it out")
        grid = grid if isinstance(grid, Grid) else Grid.healpix(grid)
        self._kernel = _Kernel((grid,) + args, options)
        plan = self._kernel.plan()
        self.shape = (2, plan.grid.npix) if plan.spin else (plan.grid.npix,)

    def _run(self, x, adjoint):
        if not torch.is_tensor(x):
            raise TypeError(f"expected a tensor, not {type(x).__name__}")
        if tuple(x.shape[-len(self.shape):]) != self.shape or x.is_complex():
            raise ValueError(f"the map has shape {tuple(x.shape)} and dtype {x.dtype}; expected real maps "
                             f"(..., {', '.join(map(str, self.shape))})")
        return _radial(x if x.dtype in (torch.float64, torch.float32) else x.float(), self._kernel.name, adjoint)

    def forward(self, map: Any) -> Any:
        return self._run(map, False)

    def adjoint(self, map: Any) -> Any:
        """The transpose, as a matrix, of the call."""
        return self._run(map, True)

    def extra_repr(self) -> Any:
        plan = self._kernel.plan()
        return f"npix={self.shape[-1]}, method={plan.method!r}, radius={plan.radius:.3g}"
