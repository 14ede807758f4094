# SPDX-License-Identifier: BSD-3-Clause
"""Images and volumes: convolution with kernels of any size, exact at and beyond the edges."""
from .convolve import Convolution, convolve, correlate
from .deconvolve import Deconvolution, deconvolve
from .files import Stack, create, open, read, write  # noqa: A004
from .lazy import convolve_blocks
from .psf import Psf

__all__ = ["Convolution", "Deconvolution", "Psf", "Stack", "convolve", "convolve_blocks", "correlate", "create", "deconvolve", "open", "read", "write"]
