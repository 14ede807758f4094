# SPDX-License-Identifier: BSD-3-Clause
"""Spherical-harmonic transforms of PyTorch tensors, with exact gradients of any order.

    sht = kugel.torch.SHT(64, lmax=128)             # HEALPix nside 64; or a Grid in place of 64
    map = sht.synthesis(alm)                        # [..., nalm] complex -> [..., npix] real
    loss = (map - data).square().mean()
    loss.backward()                                 # alm.grad by the transpose of the transform

Tensors are on the CPU or a CUDA device, float32 or float64, complex64 or complex128; transforms run where their input is,
on PyTorch's current stream and without waiting for it. Half precision (from autocast, say) is widened to float32. The
shapes are those of kugel.SHT; every leading axis is a batch. Pixels are taken as they are: fill or mask UNSEEN first.

Gradients of a_lm are PyTorch's, by real and imaginary parts: those of m > 0 carry a factor 2, as a_lm and its conjugate
both enter the map, and imaginary parts at m = 0, which do not enter it, are 0. The operators are opaque to torch.compile.
"""
import ctypes
import functools
import math

import numpy as np
import torch
from torch import nn

from . import _ffi, transforms
from ._lib import lib
from .arrays import make_view
from .devices import context
from .pixelfunc import nest2ring, ring2nest
from .plans import SHT as _Plan
from .torch_radial import Radial

__all__ = ["SHT", "Analysis", "Synthesis", "Smoothing", "Radial", "Regrid", "Reorder", "alm2map", "map2alm", "smoothing",
           "almxfl", "gauss_beam", "alm2cl"]

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
def _table(what, lmax, mmax, device, dtype=None):
    """For each coefficient its degree, or how it counts in the inner product: copied to a device once."""
    degree = transforms.index(lmax, mmax)
    values = degree if what == "degree" else transforms.real_weight(lmax, len(degree))
    return torch.as_tensor(values, dtype=dtype, device=device)


# ---- modules ---------------------------------------------------------------------------------------------------


class _Module(nn.Module):
    """The arguments of kugel.SHT; no parameters."""

    def __init__(self, grid, lmax, mmax=None, spin=0, mode=None, weights=None, iterations=0):
        super().__init__()
        self.transform = transforms.transform(grid, lmax, mmax, spin, mode, weights, iterations)
        self.lmax, self.mmax = self.transform.lmax, self.transform.mmax
        self.nalm, self.npix = self.transform.plan.nalm, self.transform.plan.npix

    def extra_repr(self):
        return f"npix={self.npix}, lmax={self.lmax}, mmax={self.mmax}, mode={self.transform.plan.mode!r}"


class SHT(_Module):
    """Transforms between a_lm and maps of a grid, with the arguments of kugel.SHT. Calling it synthesises."""

    def synthesis(self, alm):
        """Maps of the coefficients."""
        return _apply(self.transform, alm, False)

    def analysis(self, map):
        """Coefficients of the maps."""
        return _apply(self.transform, map, True)

    def synthesis_adjoint(self, map):
        """sum_p map(p) conj(Y_lm(p)): the adjoint in the inner product of kugel.SHT."""
        alm = _apply(self.transform, map, False, True)
        return alm / _table("weight", self.lmax, self.mmax, alm.device, _REAL[alm.dtype])

    def analysis_adjoint(self, alm):
        """The adjoint of analysis in that inner product."""
        weight = _table("weight", self.lmax, self.mmax, alm.device, alm.real.dtype)
        return _apply(self.transform, alm * weight, True, True)

    forward = synthesis


class Synthesis(SHT):
    """SHT; calling it synthesises."""


class Analysis(SHT):
    """SHT; calling it analyses."""

    forward = SHT.analysis


class Smoothing(_Module):
    """Maps smoothed by a Gaussian beam of `fwhm` radians, or by a window [lmax + 1]; either may be a tensor or parameter
    and has gradients. Pairs of spin s and Q, U take the beam's form for their spin."""

    def __init__(self, grid, lmax, fwhm=None, window=None, mmax=None, spin=0, mode=None, weights=None, iterations=3):
        super().__init__(grid, lmax, mmax, spin, mode, weights, iterations)
        if (fwhm is None) == (window is None):
            raise ValueError("give one of fwhm and window")
        for name, value in (("fwhm", fwhm), ("window", window)):
            if isinstance(value, (torch.nn.Parameter, float, int, type(None))):
                setattr(self, name, value)
            else:
                self.register_buffer(name, torch.as_tensor(value), persistent=False)

    def windows(self, like):
        """[sets, lmax + 1] or [lmax + 1]."""
        if self.window is not None:
            return self.window
        mode, spin = self.transform.plan.mode, self.transform.plan.spin
        if mode == "teb":
            return torch.stack([gauss_beam(self.fwhm, self.lmax, s, like.device) for s in (0, 2, 2)])
        return gauss_beam(self.fwhm, self.lmax, spin, like.device)

    def forward(self, map):
        alm = _apply(self.transform, map, True)
        factor = self.windows(map)[..., _table("degree", self.lmax, self.mmax, map.device)]
        return _apply(self.transform, alm * factor.to(_REAL[alm.dtype]), False)


class Regrid(nn.Module):
    """Maps from one grid to another, through a_lm up to lmax."""

    def __init__(self, source, target, lmax, spin=0, mode=None, weights=None, iterations=0):
        super().__init__()
        self.analysis = Analysis(source, lmax, None, spin, mode, weights, iterations)
        self.synthesis = Synthesis(target, lmax, None, spin, mode)

    def forward(self, map):
        return self.synthesis(self.analysis(map))


class Reorder(nn.Module):
    """HEALPix maps [..., npix] from RING to NESTED order, or back with `to="ring"`."""

    def __init__(self, nside, to="nested"):
        super().__init__()
        if to not in ("ring", "nested"):
            raise ValueError(f"to is {to!r}; allowed are 'ring', 'nested'")
        pixels = np.arange(12 * nside * nside)
        table = nest2ring(nside, pixels) if to == "nested" else ring2nest(nside, pixels)
        self.register_buffer("table", torch.from_numpy(table), persistent=False)

    def forward(self, map):
        return map[..., self.table]


# ---- functions with healpy's names -----------------------------------------------------------------------------


def alm2map(alm, nside, lmax=None, mmax=None):
    """Map [..., npix] of alm [..., nalm]; lmax from nalm unless given."""
    if lmax is None:
        lmax = transforms.lmax_of(alm.shape[-1], mmax)
    return _apply(transforms.transform(int(nside), lmax, mmax), alm, False)


def map2alm(map, lmax=None, mmax=None, iter=3, weights=None):
    """Coefficients [..., nalm] of HEALPix maps [..., npix]; lmax 3 nside - 1 unless given."""
    nside = math.isqrt(map.shape[-1] // 12)
    return _apply(transforms.transform(nside, 3 * nside - 1 if lmax is None else lmax, mmax, 0, None, weights, iter), map,
                  True)


def smoothing(map, fwhm, lmax=None, iter=3):
    """HEALPix maps [..., npix] smoothed by a Gaussian beam of fwhm radians, each as a scalar."""
    nside = math.isqrt(map.shape[-1] // 12)
    lmax = 3 * nside - 1 if lmax is None else lmax
    alm = map2alm(map, lmax, iter=iter)
    return alm2map(almxfl(alm, gauss_beam(fwhm, lmax, device=map.device)), nside, lmax)


def almxfl(alm, fl, mmax=None):
    """a_lm f_l, with fl [..., lmax + 1]; both have gradients."""
    return alm * fl.to(_REAL[alm.dtype])[..., _table("degree", fl.shape[-1] - 1, mmax, alm.device)]


def gauss_beam(fwhm, lmax, spin=0, device=None):
    """exp(-(l (l + 1) - spin^2) sigma^2 / 2) of a Gaussian beam of fwhm radians: float64 [lmax + 1], with gradients."""
    if torch.is_tensor(fwhm):
        fwhm = fwhm.to(device or fwhm.device, torch.float64)
    l = torch.arange(lmax + 1, dtype=torch.float64, device=device or getattr(fwhm, "device", None))
    return torch.exp(-(l * (l + 1) - spin * spin) * fwhm ** 2 / (16 * math.log(2)))


def alm2cl(alm, other=None, lmax=None, mmax=None):
    """Power spectrum [..., lmax + 1] of alm [..., nalm], or cross spectrum with `other`."""
    lmax = transforms.lmax_of(alm.shape[-1], mmax) if lmax is None else lmax
    other = alm if other is None else other
    degrees = _table("degree", lmax, mmax, alm.device)
    power = (alm * other.conj()).real
    twice = torch.cat([power[..., :lmax + 1], 2 * power[..., lmax + 1:]], -1)
    sums = power.new_zeros(power.shape[:-1] + (lmax + 1,)).index_add(-1, degrees, twice)
    return sums / (2 * torch.arange(lmax + 1, device=alm.device, dtype=power.dtype) + 1)
