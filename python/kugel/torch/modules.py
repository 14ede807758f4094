# SPDX-License-Identifier: BSD-3-Clause
"""Modules of spherical-harmonic transforms."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from .. import transforms
from .functions import gauss_beam
from .operator import _REAL, _apply, _own_table

if TYPE_CHECKING:
    import numpy.typing as npt


class _Module(nn.Module):
    """The arguments of kugel.SHT; no parameters. comm: a kugel.Comm, such as Comm.from_torch(), whose ranks share every transform: tensors
    are the rank's parts, as alm_layout and map_layout say, and a loss is the sum of what the ranks make of theirs, so that every rank
    calls backward()."""

    def __init__(self, grid: Any, lmax: int, mmax: int | None = None, spin: int = 0, mode: Any = None, weights: Any = None,
                 iterations: int = 0, comm: Any = None) -> None:
        super().__init__()
        self.transform = transforms.transform(grid, lmax, mmax, spin, mode, weights, iterations, comm)
        self.lmax, self.mmax = self.transform.lmax, self.transform.mmax
        self.nalm, self.npix = self.transform.plan.nalm, self.transform.plan.npix

    @property
    def alm_layout(self) -> Any:
        """Over ranks: which coefficients each has."""
        return self.transform.plan.alm_layout

    @property
    def map_layout(self) -> Any:
        """Over ranks: which pixels each has."""
        return self.transform.plan.map_layout

    def extra_repr(self) -> Any:
        return f"npix={self.npix}, lmax={self.lmax}, mmax={self.mmax}, mode={self.transform.plan.mode!r}"


class SHT(_Module):
    """Transforms between a_lm and maps of a grid, with the arguments of kugel.SHT. Calling it synthesises."""

    def synthesis(self, alm: Any) -> Any:
        """Maps of the coefficients."""
        return _apply(self.transform, alm, False)

    def analysis(self, map: Any) -> Any:
        """Coefficients of the maps."""
        return _apply(self.transform, map, True)

    def synthesis_adjoint(self, map: Any) -> Any:
        """sum_p map(p) conj(Y_lm(p)): the adjoint in the inner product of kugel.SHT."""
        alm = _apply(self.transform, map, False, True)
        return alm / _own_table("weight", self.transform, alm.device, _REAL[alm.dtype])

    def analysis_adjoint(self, alm: Any) -> Any:
        """The adjoint of analysis in that inner product."""
        weight = _own_table("weight", self.transform, alm.device, alm.real.dtype)
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

    def __init__(self, grid: Any, lmax: int, fwhm: Any = None, window: npt.ArrayLike | None = None, mmax: int | None = None, spin: int = 0,
                 mode: Any = None, weights: Any = None, iterations: int = 3, comm: Any = None) -> None:
        super().__init__(grid, lmax, mmax, spin, mode, weights, iterations, comm)
        if (fwhm is None) == (window is None):
            raise ValueError("give one of fwhm and window")
        for name, value in (("fwhm", fwhm), ("window", window)):
            if isinstance(value, (torch.nn.Parameter, float, int, type(None))):
                setattr(self, name, value)
            else:
                self.register_buffer(name, torch.as_tensor(value), persistent=False)

    def windows(self, like: Any) -> Any:
        """[sets, lmax + 1] or [lmax + 1]."""
        if self.window is not None:
            return self.window
        mode, spin = self.transform.plan.mode, self.transform.plan.spin
        if mode == "teb":
            return torch.stack([gauss_beam(self.fwhm, self.lmax, s, like.device) for s in (0, 2, 2)])
        return gauss_beam(self.fwhm, self.lmax, spin, like.device)

    def forward(self, map: Any) -> Any:
        return _apply(self.transform, self.weighted(_apply(self.transform, map, True)), False)

    def weighted(self, alm: Any) -> Any:
        """Coefficients times the windows."""
        factor = self.windows(alm)[..., _own_table("degree", self.transform, alm.device)]
        return alm * factor.to(_REAL[alm.dtype])


class Regrid(nn.Module):
    """Maps from one grid to another, through a_lm up to lmax; on the way multiplied by the window [lmax + 1] or the Gaussian
    beam of fwhm radians, if given, either of which may be a tensor or parameter and has gradients."""

    def __init__(self, source: Any, target: Any, lmax: int, spin: int = 0, mode: Any = None, weights: Any = None, iterations: int = 0,
                 fwhm: Any = None, window: npt.ArrayLike | None = None) -> None:
        super().__init__()
        if fwhm is not None and window is not None:
            raise ValueError("give at most one of fwhm and window")
        self.analysis = Analysis(source, lmax, None, spin, mode, weights, iterations)
        self.synthesis = Synthesis(target, lmax, None, spin, mode)
        self.beam = None if fwhm is None and window is None else \
            Smoothing(source, lmax, fwhm, window, None, spin, mode, weights, iterations)

    def forward(self, map: Any) -> Any:
        alm = self.analysis(map)
        if self.beam is not None:
            alm = self.beam.weighted(alm)
        return self.synthesis(alm)
