# SPDX-License-Identifier: BSD-3-Clause
"""The plans of kugel.polynomial on PyTorch tensors, with derivatives by their adjoints."""
import itertools
import weakref

import torch

from .._linear import OTHER as _OTHER

_alive, _names, _numbers = weakref.WeakValueDictionary(), weakref.WeakKeyDictionary(), itertools.count()
_DTYPES = {(4, False): torch.float32, (8, False): torch.float64, (4, True): torch.complex64, (8, True): torch.complex128}


def _name(plan):
    if plan not in _names:
        _names[plan] = str(next(_numbers))
        _alive[_names[plan]] = plan
    return _names[plan]


@torch.library.custom_op("kugel::polynomial", mutates_args=())
def _polynomial(x: torch.Tensor, name: str, verb: str, words: list[int]) -> torch.Tensor:
    plan, dtype, x = _alive[name], x.dtype, x.detach().resolve_conj().resolve_neg()
    if x.is_cuda:
        return plan._compute(verb, x.to(_DTYPES[plan.dtype.itemsize, x.is_complex()]), words).to(dtype)
    if x.device.type != "cpu":
        raise NotImplementedError(f"the tensor is on {x.device}; these transforms run on the CPU and on CUDA devices")
    return torch.from_numpy(plan._compute(verb, x.numpy(), words)).to(dtype)


@_polynomial.register_fake
def _(x, name, verb, words):
    given, made = _alive[name]._shapes(verb)
    return x.new_empty(x.shape[:x.ndim - len(given)] + made)


def _keep(ctx, inputs, output):
    _, *ctx.words = inputs


def _transpose(ctx, gradient):
    name, verb, words = ctx.words
    return _polynomial(gradient, name, _OTHER[verb], words), None, None, None


_polynomial.register_autograd(_transpose, setup_context=_keep)


@_polynomial.register_vmap
def _(info, in_dims, x, *words):
    return _polynomial(x.movedim(in_dims[0], 0), *words), 0


class _Linear(torch.autograd.Function):
    """The operator for eager code: beside what torch.compile needs, forward derivatives and torch.func."""

    @staticmethod
    def forward(x, name, verb, words):
        return _polynomial(x, name, verb, words)

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, *ctx.words = inputs

    @staticmethod
    def backward(ctx, gradient):
        name, verb, words = ctx.words
        return _Linear.apply(gradient, name, _OTHER[verb], words), None, None, None

    @staticmethod
    def jvp(ctx, tangent, *_):
        return _Linear.apply(tangent, *ctx.words)

    @staticmethod
    def vmap(info, in_dims, x, *words):
        return _Linear.apply(x.movedim(in_dims[0], 0), *words), 0


def apply(plan, verb, x, words):
    """A verb of a plan; tensors of other types than float32, float64 and complex ones become those of the plan."""
    given, _ = plan._shapes(verb)
    if tuple(x.shape[-len(given):]) != given:
        raise ValueError(f"the tensor has shape {tuple(x.shape)}; expected (..., {', '.join(map(str, given))})")
    if not (x.is_floating_point() or x.is_complex()) or x.dtype in (torch.float16, torch.bfloat16):
        x = x.to(torch.float64 if plan.dtype.itemsize == 8 else torch.float32)
    run = _polynomial if torch.compiler.is_compiling() else _Linear.apply
    return run(x, _name(plan), verb, list(words))
