# SPDX-License-Identifier: BSD-3-Clause
"""Spherical-harmonic transforms of PyTorch tensors, with exact gradients of any order.

    sht = kugel.torch.SHT(64, lmax=128)             # HEALPix nside 64; or a Grid in place of 64
    map = sht.synthesis(alm)                        # [..., nalm] complex -> [..., npix] real
    loss = (map - data).square().mean()
    loss.backward()                                 # alm.grad by the transpose of the transform

Tensors are on the CPU or a CUDA device, float32 or float64, complex64 or complex128; transforms run where their input is,
on PyTorch's current stream and without waiting for it. Half precision (from autocast, say) is widened to float32. The
shapes are those of kugel.SHT; every leading axis is a batch. Pixels are taken as they are: fill or mask UNSEEN first.

SHT(..., comm=kugel.Comm.from_torch()) shares transforms over the processes of torch.distributed, with their gradients.

Gradients of a_lm are PyTorch's, by real and imaginary parts: those of m > 0 carry a factor 2, as a_lm and its conjugate
both enter the map, and imaginary parts at m = 0, which do not enter it, are 0. The operators are opaque to torch.compile.
"""
from ..extras import need

need("torch", "kugel.torch")

from . import fft, nufft, stencil  # noqa: E402
from .ball import Ball
from .fft import convolve, correlate
from .functions import alm2cl, alm2map, almxfl, gauss_beam, map2alm, smoothing
from .lens import Lens
from .modules import SHT, Analysis, Regrid, Smoothing, Synthesis
from .radial import Radial
from .reorder import Reorder
from .volume import VolumeConvolution

__all__ = ["Ball", "Lens", "SHT", "Analysis", "Synthesis", "Smoothing", "Radial", "Regrid", "Reorder", "alm2map", "map2alm", "smoothing",
           "almxfl", "gauss_beam", "alm2cl", "fft", "nufft", "stencil", "convolve", "correlate", "VolumeConvolution"]
