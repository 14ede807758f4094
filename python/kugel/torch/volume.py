# SPDX-License-Identifier: BSD-3-Clause
"""Convolution of PyTorch tensors with a volume, with gradients for the image and the kernel."""
from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.autograd.function import once_differentiable

from ..volume.convolve import Convolution
from ..volume.lazy import inside

_BOUNDARIES = ("zero", "replicate", "reflect", "periodic")


def _surrounded(x, results, kernel, centre, lo, boundary):
    """The image that all results of a convolution meet: voxels lo + centre - (k - 1) ... lo + m - 1 + centre of each axis."""
    lead = x.ndim - len(kernel)
    for axis, (m, k, c, first) in enumerate(zip(results, kernel, centre, lo)):
        n = x.shape[lead + axis]
        index, none = inside(boundary, np.arange(first + c - (k - 1), first + m + c), n)
        x = np.take(x, index, axis=lead + axis)
        if none is not None and none.any():
            x[(slice(None),) * (lead + axis) + (none,)] = 0
    return x


class _Convolve(torch.autograd.Function):
    @staticmethod
    def forward(ctx, image, kernel, module):
        plan = module._plan(tuple(image.shape[image.ndim - kernel.ndim:]), kernel.detach())
        ctx.save_for_backward(image if ctx.needs_input_grad[1] else None)
        ctx.plan, ctx.module, ctx.kernel = plan, module, kernel.shape
        return torch.from_numpy(plan(image.detach().contiguous().numpy()))

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient):
        g, plan, (image,) = gradient.contiguous().numpy(), ctx.plan, ctx.saved_tensors
        of_image = torch.from_numpy(plan.adjoint(g)) if ctx.needs_input_grad[0] else None
        if not ctx.needs_input_grad[1]:
            return of_image, None, None
        # h_j has the factor x_{o + c - j} in result o: the correlation of the image with the gradient, from behind
        kernel, module = tuple(ctx.kernel), ctx.module
        centre = tuple((k - 1) // 2 for k in kernel)
        lo = {"same": [0] * len(kernel), "full": [-c for c in centre], "valid": [k - 1 - c for k, c in zip(kernel, centre)]}
        x = _surrounded(image.detach().numpy(), plan.results, kernel, centre, lo[module.mode], module.boundary)
        total = np.zeros(kernel, g.dtype)
        for i in np.ndindex(g.shape[:g.ndim - len(kernel)]):
            if g[i].any():
                total += Convolution(x[i].shape, g[i], "valid", correlate=True)(x[i])
        return of_image, torch.from_numpy(np.flip(total).copy()), None


class VolumeConvolution(nn.Module):
    """Images or volumes [..., n...] convolved with a kernel of one to three axes, which is a parameter: gradients are exact,
    the image's by the adjoint of the convolution, the kernel's by a correlation. Tensors are on the CPU, float32 or float64;
    leading axes are a batch. First derivatives.

        blur = kugel.torch.VolumeConvolution(psf, boundary="reflect")
        loss = (blur(object) - data).square().mean()
        loss.backward()                                 # object.grad, blur.kernel.grad

    kernel:     a tensor, whose element (k - 1) // 2 lies on the result's own place
    mode:       "same", "full" or "valid"
    boundary:   "zero", "replicate", "reflect" or "periodic": what lies beyond the edges
    trainable:  False: the kernel is fixed, and its spectrum is kept for images of the same shape
    """

    def __init__(self, kernel: Any, mode: Any = "same", boundary: str = "zero", trainable: bool = True) -> None:
        super().__init__()
        kernel = torch.as_tensor(kernel)
        if kernel.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"the kernel has dtype {kernel.dtype}; expected float32 or float64")
        if not 1 <= kernel.ndim <= 3:
            raise ValueError(f"the kernel has {kernel.ndim} dimensions; expected 1 to 3")
        if mode not in ("same", "full", "valid"):
            raise ValueError(f"mode is {mode!r}; allowed are 'same', 'full', 'valid'")
        if boundary not in _BOUNDARIES:
            raise ValueError(f"boundary is {boundary!r}; allowed are {', '.join(map(repr, _BOUNDARIES))}")
        self.mode, self.boundary, self._kept = mode, boundary, None
        self.kernel = nn.Parameter(kernel.detach().clone(), requires_grad=bool(trainable))

    def _plan(self, shape, kernel):
        key = shape, self.kernel._version, kernel.dtype
        if self._kept is None or self._kept[0] != key or self.kernel.requires_grad:
            self._kept = key, Convolution(shape, kernel.contiguous().numpy(), self.mode, self.boundary)
        return self._kept[1]

    def forward(self, image: Any) -> Any:
        if not torch.is_tensor(image):
            raise TypeError(f"expected a tensor, not {type(image).__name__}")
        for name, t in (("image", image), ("kernel", self.kernel)):
            if t.device.type != "cpu":
                raise NotImplementedError(f"the {name} is on {t.device}; VolumeConvolution works on the CPU: kugel.volume.Convolution "
                                          "takes arrays of devices")
        if image.dtype != self.kernel.dtype or image.ndim < self.kernel.ndim:
            raise ValueError(f"the image has shape {tuple(image.shape)} and dtype {image.dtype}; expected {self.kernel.ndim} axes or "
                             f"more, of {self.kernel.dtype} as the kernel has")
        return _Convolve.apply(image, self.kernel, self)

    def __getstate__(self):
        return {**self.__dict__, "_kept": None}

    def extra_repr(self) -> Any:
        return f"kernel={tuple(self.kernel.shape)}, mode={self.mode!r}, boundary={self.boundary!r}"
