# SPDX-License-Identifier: BSD-3-Clause
"""Non-uniform Fourier transforms of PyTorch tensors, with gradients for values and points.

    f = kugel.torch.nufft.to_modes(x, c, (256, 256))        # f_k = sum_j c_j e^{i k.x_j}, x [M, 2], c [..., M]
    c = kugel.torch.nufft.to_points(x, f)                   # c_j = sum_k f_k e^{-i k.x_j}
    f = kugel.torch.nufft.to_frequencies(x, c, s)           # f_k = sum_j c_j e^{i s_k.x_j}; no gradient for x and s

A backward pass with gradients for the points costs one transform, not one per axis. Tensors are on the CPU or on one CUDA device,
frequencies on the CPU. The dtype of the
values, complex64 or complex128, is that of the transform; points are float32 or float64 with either. Gradients are first
derivatives: they have none themselves.
"""
from __future__ import annotations

import functools
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from ..nufft import Plan


@functools.lru_cache(maxsize=32)
def _plan(n, kind, words):
    return Plan(n, kind, **dict(words))


def _words(values, tolerance, sign, **more):
    if not torch.is_tensor(values) or values.dtype not in (torch.complex64, torch.complex128):
        raise TypeError("strengths and modes must be complex64 or complex128 tensors")
    if values.device.type not in ("cpu", "cuda") or (values.is_cuda and "ndim" in more):
        where = "the CPU" if "ndim" in more else "the CPU and on CUDA devices"
        raise NotImplementedError(f"the tensor is on {values.device}; kugel.torch.nufft works on {where}")
    if values.is_cuda:
        more["device"] = str(values.device)
    precision = "f64" if values.dtype == torch.complex128 else "f32"
    return tuple(sorted(dict(tolerance=tolerance, sign=int(sign), precision=precision, **more).items()))


def _array(tensor):
    tensor = tensor.detach().resolve_conj()
    return tensor if tensor.is_cuda else tensor.numpy()


def _tensor(array):
    """What a plan returns of such an array."""
    return array if torch.is_tensor(array) else torch.from_numpy(array)


def _rows(points, values):
    """The strengths of a plan with gradients: no dipoles."""
    rows = values.new_zeros(values.shape[:-1] + (1 + points.plan.ndim, values.shape[-1]))
    rows[..., 0, :] = values
    return rows


def _by_points(factor, slopes):
    """Re(conj(factor_j) slopes_jd), summed over the batch: [M, ndim]."""
    product = (factor.conj().unsqueeze(-2) * slopes).real
    return product.reshape(-1, *product.shape[-2:]).sum(0).transpose(0, 1)


class _ToModes(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, c, n, words):
        slopes = x.requires_grad
        ctx.points = _plan(n, "to_modes", words + (("gradient", slopes),)).points(_array(x))
        ctx.save_for_backward(x, c)
        return _tensor(ctx.points.execute(_array(_rows(ctx.points, c) if slopes else c)))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        x, c = ctx.saved_tensors
        back = _tensor(ctx.points.adjoint(_array(g)))
        if not ctx.points.plan.gradient:
            return None, back, None, None
        return _by_points(c, back[..., 1:, :]).to(x.dtype), back[..., 0, :], None, None


class _ToPoints(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, f, words):
        slopes = x.requires_grad
        n = tuple(f.shape[-x.shape[1]:])
        ctx.points, ctx.dtype = _plan(n, "to_points", words + (("gradient", slopes),)).points(_array(x)), x.dtype
        out = _tensor(ctx.points.execute(_array(f)))
        if not slopes:
            return out
        ctx.save_for_backward(out[..., 1:, :])
        return out[..., 0, :].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        if not ctx.points.plan.gradient:
            return None, _tensor(ctx.points.adjoint(_array(g))), None
        modes = _tensor(ctx.points.adjoint(_array(_rows(ctx.points, g)))) if ctx.needs_input_grad[1] else None
        return _by_points(g, ctx.saved_tensors[0]).to(ctx.dtype), modes, None


class _ToFrequencies(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, c, s, words):
        ctx.points = _plan(None, "to_frequencies", words).points(_array(x), _array(s))
        return _tensor(ctx.points.execute(_array(c)))

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return None, _tensor(ctx.points.adjoint(_array(g))), None, None


def to_modes(x: Any, c: Any, n: Any, *, sign: Any = 1, tolerance: float | None = None, fft_order: bool = False, period: Any = None) -> Any:
    """Modes [..., n...] of strengths c [..., M] at points x [M, ndim]; options as kugel.nufft.Plan."""
    n = tuple(int(k) for k in n)
    return _ToModes.apply(x, c, n, _words(c, tolerance, sign, fft_order=bool(fft_order), period=period))


def to_points(x: Any, f: Any, *, sign: Any = -1, tolerance: float | None = None, fft_order: bool = False, period: Any = None) -> Any:
    """Values [..., M] at points x [M, ndim] of modes f [..., n...]; options as kugel.nufft.Plan."""
    return _ToPoints.apply(x, f, _words(f, tolerance, sign, fft_order=bool(fft_order), period=period))


def to_frequencies(x: Any, c: Any, s: Any, *, sign: Any = 1, tolerance: float | None = None) -> Any:
    """Sums [..., K] at frequencies s [K, ndim] of strengths c [..., M] at points x [M, ndim]; a gradient for c only."""
    if x.requires_grad or s.requires_grad:
        raise NotImplementedError("to_frequencies has no gradients for points and frequencies: detach them")
    return _ToFrequencies.apply(x, c, s, _words(c, tolerance, sign, ndim=int(x.shape[1])))
