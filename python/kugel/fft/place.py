# SPDX-License-Identifier: BSD-3-Clause
"""Which class an argument of kugel.fft is handled by."""
import functools
import importlib
import sys

from ..arrays import foreign
from .arrays import Device, Host
from .pairs import LONG, DoubleDouble, Long, Pairs


def place(x):
    """The Host or Device array of anything; itself, if it is one."""
    if isinstance(x, (Host, Device)):
        return x
    if isinstance(x, DoubleDouble):
        return Pairs(x)
    there = foreign(x)
    if there is not None:
        return Device(there)
    x = Host(x)
    return Long(x) if x.dtype in LONG else x


def gradients(*arrays):
    """kugel.torch.fft if one of the arrays is a tensor that requires grad, else None: derivatives are taken there."""
    torch = sys.modules.get("torch")
    if torch is None or not any(isinstance(a, torch.Tensor) and a.requires_grad for a in arrays) or \
            not torch.is_grad_enabled():
        return None
    return importlib.import_module("kugel.torch.fft")


def differentiable(function):
    """The function, which hands tensors that require grad to its namesake in kugel.torch.fft."""
    @functools.wraps(function)
    def call(x, *arguments, **words):
        there = gradients(x)
        return function(x, *arguments, **words) if there is None else getattr(there, function.__name__)(x, *arguments, **words)
    return call
