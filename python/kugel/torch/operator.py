# SPDX-License-Identifier: BSD-3-Clause
"""Spherical-harmonic transforms as an operator of PyTorch, and its transpose."""
import ctypes
import functools

import torch

from .. import _ffi, transforms
from .._lib import lib
from ..arrays import make_view
from ..hardware import context
from ..plans import SHT as _Plan

_WIDE = {torch.float64: torch.complex128, torch.float32: torch.complex64}
_REAL = {c: r for r, c in _WIDE.items()}
_OTHER = _WIDE | _REAL
_VIEW = {torch.float64: (_ffi.KUGEL_FLOAT, 64, 1), torch.float32: (_ffi.KUGEL_FLOAT, 32, 1),
         torch.complex128: (_ffi.KUGEL_COMPLEX, 128, 1), torch.complex64: (_ffi.KUGEL_COMPLEX, 64, 1)}
_VERBS = {(False, False): lib.kugel_sht_synthesis, (False, True): lib.kugel_sht_synthesis_adjoint,
          (True, False): lib.kugel_sht_analysis, (True, True): lib.kugel_sht_analysis_adjoint}


# ---- on CUDA ---------------------------------------------------------------------------------------------------


class _OnDevice:
    """A Transform on one CUDA device. Everything is queued on the current stream; nothing waits."""

    def __init__(self, t, index):
        self.t, self.device = t, torch.device("cuda", index)
        self.context = context(f"cuda:{index}")
        self.plan = _Plan(*t.arguments, t.weights, t.iterations, bad_pixels="pass", device=f"cuda:{index}")

    def _view(self, x, count):
        shape = x.shape if count > 1 else (*x.shape[:-1], 1, x.shape[-1])
        return ctypes.byref(make_view(x.data_ptr(), _ffi.KUGEL_CUDA, self.device.index, _ffi.kugel_dtype(*_VIEW[x.dtype]),
                                      shape, None, x))

    def apply(self, x, analysis, adjoint):
        """As Transform.apply."""
        plan, t, positive = self.plan, self.t, (..., slice(self.t.lmax + 1, None))
        to_alm = analysis != adjoint
        if analysis and adjoint:
            x = x.clone()
            x[positive] /= 2
        given, made = t.shapes(analysis, adjoint)
        new = x.new_empty if plan.covered else x.new_zeros
        out = new(x.shape[:x.ndim - len(given)] + made, dtype=_OTHER[x.dtype])
        if out.numel():
            counts = (plan.nmaps, plan.nsets) if to_alm else (plan.nsets, plan.nmaps)
            queue = self.context.queue(torch.cuda.current_stream(self.device).cuda_stream)
            _VERBS[analysis, adjoint](plan._handle.address, self._view(x, counts[0]), self._view(out, counts[1]), queue)
        if adjoint and not analysis:
            out[positive] *= 2
        return out


def _on_device(t, index):
    plans = t.__dict__.setdefault("cuda_plans", {})
    return plans[index] if index in plans else plans.setdefault(index, _OnDevice(t, index))


# ---- the operator ----------------------------------------------------------------------------------------------


@torch.library.custom_op("kugel::transform", mutates_args=())
def _transform(x: torch.Tensor, name: str, analysis: bool, adjoint: bool) -> torch.Tensor:
    t = transforms.named(name)
    x = x.detach().resolve_conj().resolve_neg().contiguous()
    if t.comm and x.device.type != "cpu":
        raise NotImplementedError(f"the tensor is on {x.device}; transforms over ranks run on the CPU: pass x.cpu()")
    if x.is_cuda:
        return _on_device(t, x.device.index).apply(x, analysis, adjoint)
    if x.device.type != "cpu":
        raise NotImplementedError(f"the tensor is on {x.device}; kugel.torch works on the CPU and on CUDA devices")
    return torch.from_numpy(t.apply(x.numpy(), analysis, adjoint))


@_transform.register_fake
def _(x, name, analysis, adjoint):
    given, made = transforms.named(name).shapes(analysis, adjoint)
    return x.new_empty(x.shape[:x.ndim - len(given)] + made, dtype=_OTHER[x.dtype])


def _keep(ctx, inputs, output):
    _, ctx.name, ctx.analysis, ctx.adjoint = inputs


def _transpose(ctx, gradient):
    return _transform(gradient, ctx.name, ctx.analysis, not ctx.adjoint), None, None, None


_transform.register_autograd(_transpose, setup_context=_keep)


@_transform.register_vmap
def _(info, in_dims, x, name, analysis, adjoint):
    return _transform(x.movedim(in_dims[0], 0), name, analysis, adjoint), 0


class _Linear(torch.autograd.Function):
    """The operator for eager code: beside what torch.compile needs, forward derivatives and torch.func."""

    @staticmethod
    def forward(x, name, analysis, adjoint):
        return _transform(x, name, analysis, adjoint)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, *ctx.words = inputs
        ctx.transform = transforms.named(ctx.words[0])  # lives until backward

    @staticmethod
    def backward(ctx, gradient):
        name, analysis, adjoint = ctx.words
        return _Linear.apply(gradient, name, analysis, not adjoint), None, None, None

    @staticmethod
    def jvp(ctx, tangent, *_):
        return _Linear.apply(tangent, *ctx.words)

    @staticmethod
    def vmap(info, in_dims, x, *words):
        return _Linear.apply(x.movedim(in_dims[0], 0), *words), 0


def _apply(t, x, analysis, adjoint=False):
    given, _ = t.shapes(analysis, adjoint)
    to_alm = analysis != adjoint
    if not torch.is_tensor(x):
        raise TypeError(f"expected a tensor, not {type(x).__name__}")
    if tuple(x.shape[-len(given):]) != given:
        raise ValueError(f"{'map' if to_alm else 'alm'} has shape {tuple(x.shape)}; expected "
                         f"(..., {', '.join(map(str, given))})")
    if to_alm and x.is_complex():
        raise TypeError("maps are real; transform real and imaginary part as two")
    if to_alm and x.dtype not in _WIDE:
        x = x.float()
    if not to_alm and x.dtype not in _REAL:
        x = x.to(torch.complex128 if x.dtype == torch.float64 else torch.complex64)
    run = _transform if torch.compiler.is_compiling() else _Linear.apply
    return run(x, t.name, analysis, adjoint)


@functools.lru_cache(maxsize=64)
def _own_table(what, t, device, dtype=None):
    """_table of a Transform, over ranks of its part."""
    return torch.as_tensor(t.degree if what == "degree" else t.real_weight, dtype=dtype, device=device)


def _table(what, lmax, mmax, device, dtype=None):
    """For each coefficient its degree, or how it counts in the inner product: copied to a device once."""
    degree = transforms.index(lmax, mmax)
    values = degree if what == "degree" else transforms.real_weight(lmax, len(degree))
    return torch.as_tensor(values, dtype=dtype, device=device)
