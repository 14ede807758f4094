# SPDX-License-Identifier: BSD-3-Clause
"""The functions of kugel.fft for tensors, with gradients of any order; and convolutions with gradients of both arguments.

    y = kugel.torch.fft.rfft(x)                     # arguments, norms and results of scipy.fft and kugel.fft
    y = kugel.torch.fft.convolve(image, psf, "same")

Tensors on the CPU or a CUDA device; half precision (float16 and bfloat16) is widened to float32.
"""
import numpy as np
import torch

from ..fft import composed, real_linear
from ..fft.place import place

__all__ = [*composed.FOURIER, *composed.COSINE, "convolve", "correlate"]

_WIDE = {torch.float64: torch.complex128, torch.float32: torch.complex64}
_REAL = {c: r for r, c in _WIDE.items()}
_OTHER = _WIDE | _REAL


@torch.library.custom_op("kugel::fft", mutates_args=())
def _fft(x: torch.Tensor, kind: str, axes: list[int], last: int, scale: float) -> torch.Tensor:
    x = x.detach().resolve_conj().resolve_neg()
    if not x.is_cuda and x.device.type != "cpu":
        raise NotImplementedError(f"the tensor is on {x.device}; kugel.torch works on the CPU and on CUDA devices")
    dtype = _OTHER[x.dtype] if kind in ("r2c", "c2r") else x.dtype
    out = torch.empty(real_linear.shape_of(x.shape, kind, axes, last), dtype=dtype, device=x.device)
    real_linear.apply(place(x), kind, axes, last, scale, place(out))
    return out


@_fft.register_fake
def _(x, kind, axes, last, scale):
    dtype = _OTHER[x.dtype] if kind in ("r2c", "c2r") else x.dtype
    return x.new_empty(real_linear.shape_of(x.shape, kind, axes, last), dtype=dtype)


def _times(x, factors, axis):
    """Times numbers along an axis: an array, or first, last, inner of real_linear.transposed."""
    n, real = x.shape[axis], _REAL.get(x.dtype, x.dtype)
    if isinstance(factors, tuple):
        i, (first, last, inner) = torch.arange(n, device=x.device), factors
        factors = torch.where(i == 0, first, 1.0) * torch.where(i == n - 1, last, 1.0) * inner
    shape = [1] * x.ndim
    shape[axis] = n
    return x * torch.as_tensor(factors, dtype=real, device=x.device).reshape(shape)


def _transposed(run, g, words, n):
    return real_linear.transpose(run, _times, g, words, n)


def _length(x, kind, axes, last):
    return last if kind == "c2r" else x.shape[axes[-1]]


def _keep(ctx, inputs, output):
    x, *ctx.words = inputs
    ctx.n = _length(x, *ctx.words[:3])


_fft.register_autograd(lambda ctx, g: (_transposed(_fft, g, ctx.words, ctx.n), None, None, None, None), setup_context=_keep)


def _batched(run, in_dims, x, kind, axes, last, scale):
    return run(x.movedim(in_dims[0], 0), kind, [a + 1 for a in axes], last, scale), 0


@_fft.register_vmap
def _(info, in_dims, *arguments):
    return _batched(_fft, in_dims, *arguments)


class _Linear(torch.autograd.Function):
    """The operator for eager code: beside what torch.compile needs, forward derivatives and torch.func."""

    @staticmethod
    def forward(x, kind, axes, last, scale):
        return _fft(x, kind, axes, last, scale)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _keep(ctx, inputs, output)

    @staticmethod
    def backward(ctx, g):
        return _transposed(_Linear.apply, g, ctx.words, ctx.n), None, None, None, None

    @staticmethod
    def jvp(ctx, tangent, *_):
        return _Linear.apply(tangent, *ctx.words)

    @staticmethod
    def vmap(info, in_dims, *arguments):
        return _batched(_Linear.apply, in_dims, *arguments)


class _Ops:
    """What kugel.fft.composed takes of PyTorch."""

    times = staticmethod(_times)
    conj, real, imag, join = torch.conj_physical, torch.real, torch.imag, torch.complex
    is_complex = staticmethod(torch.is_complex)
    flip = staticmethod(torch.flip)

    @staticmethod
    def run(x, kind, axes, last, scale):
        apply = _fft if torch.compiler.is_compiling() else _Linear.apply
        return apply(x, kind, list(axes), last, float(scale))

    @staticmethod
    def typed(x, want_complex):
        if not torch.is_tensor(x):
            x = torch.as_tensor(np.asarray(x))
        if x.is_complex() and want_complex is False:
            raise TypeError("x must be real")
        if x.dtype not in _OTHER:
            x = x.to(torch.complex64 if x.is_complex() else torch.float32 if x.is_floating_point() else torch.float64)
        return x.to(_WIDE[x.dtype]) if want_complex and not x.is_complex() else x

    @staticmethod
    def resized(x, axes, lengths):
        for a, n in zip(axes, lengths):
            if n < x.shape[a]:
                x = x.narrow(a, 0, n)
            elif n > x.shape[a]:
                room = list(x.shape)
                room[a] = n - x.shape[a]
                x = torch.cat([x, x.new_zeros(room)], a)
        return x

    @staticmethod
    def cut(x, axis, first, count):
        return x.narrow(axis, first, count)


globals().update(composed.make(_Ops))
for _name in __all__:
    globals()[_name].__module__ = __name__
