# SPDX-License-Identifier: BSD-3-Clause
"""Orders of HEALPix pixels."""
from __future__ import annotations

from typing import Any

import torch
from torch import nn

from .. import pixelfunc

_ORDERS = {"ring": "RING", "nested": "NEST", "nest": "NEST"}


def _word(order):
    word = _ORDERS.get(str(order).lower(), str(order).upper())
    pixelfunc._named_order(word, flat=True)  # refuses others
    return word


@torch.library.custom_op("kugel::reorder", mutates_args=())
def _reorder(x: torch.Tensor, source: str, target: str) -> torch.Tensor:
    x = x.detach().resolve_conj().resolve_neg().contiguous()
    if not x.numel():
        return x.clone()
    return _reordered(x.reshape(-1, x.shape[-1]), source, target).reshape(x.shape)  # kugel.reorder takes one batch


def _reordered(x, source, target):
    if x.is_cuda:
        return pixelfunc.reorder(x, source, target)
    if x.dtype == torch.bfloat16:
        return torch.from_numpy(pixelfunc.reorder(x.view(torch.int16).numpy(), source, target)).view(torch.bfloat16)
    return torch.from_numpy(pixelfunc.reorder(x.numpy(), source, target))


@_reorder.register_fake
def _(x, source, target):
    return x.new_empty(x.shape)


def _keep(ctx, inputs, output):
    _, ctx.source, ctx.target = inputs


_reorder.register_autograd(lambda ctx, g: (_reorder(g, ctx.target, ctx.source), None, None), setup_context=_keep)


@_reorder.register_vmap
def _(info, in_dims, x, source, target):
    return _reorder(x.movedim(in_dims[0], 0), source, target), 0


class _Linear(torch.autograd.Function):
    """The operator for eager code: beside what torch.compile needs, forward derivatives and torch.func."""

    @staticmethod
    def forward(x, source, target):
        return _reorder(x, source, target)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _keep(ctx, inputs, output)

    @staticmethod
    def backward(ctx, g):
        return _Linear.apply(g, ctx.target, ctx.source), None, None

    @staticmethod
    def jvp(ctx, tangent, *_):
        return _Linear.apply(tangent, ctx.source, ctx.target)

    @staticmethod
    def vmap(info, in_dims, x, source, target):
        return _Linear.apply(x.movedim(in_dims[0], 0), source, target), 0


class Reorder(nn.Module):
    """HEALPix maps [..., npix] from one order of pixels to another: "ring", "nested" or a flat layout of kugel.reorder such
    as "flat_s". `source` is "ring" unless `to` is. Elements of any type; a permutation, whose gradient is the way back."""

    def __init__(self, nside: int, to: Any = "nested", source: Any = None) -> None:
        super().__init__()
        self.nside, self.target = int(nside), _word(to)
        self.source = _word(source or ("nested" if self.target == "RING" else "ring"))

    def forward(self, map: Any) -> Any:
        if not torch.is_tensor(map):
            raise TypeError(f"expected a tensor, not {type(map).__name__}")
        if map.shape[-1:] != (12 * self.nside**2,):
            raise ValueError(f"map has shape {tuple(map.shape)}; expected (..., {12 * self.nside**2})")
        run = _reorder if torch.compiler.is_compiling() else _Linear.apply
        return run(map, self.source, self.target)

    def extra_repr(self) -> Any:
        return f"nside={self.nside}, {self.source} to {self.target}"
