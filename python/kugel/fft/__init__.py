# SPDX-License-Identifier: BSD-3-Clause
"""Fast Fourier, cosine and sine transforms with scipy.fft's names, arguments and scalings, for any length.

float32 and complex64 stay single precision. Arrays of NumPy and PyTorch in host memory are transformed there; arrays in
device memory (PyTorch, CuPy, kugel.DeviceArray, anything with DLPack or the CUDA array interface) on their device, on the
caller's stream and without copies, and the results are of the same library. `workers` is a number of threads; None: that
of set_workers, or else of kugel.set_num_threads. Numbers of numpy.longdouble are computed with about 31 digits and come back
as such. `plan` is there for scipy.fft's sake and must be None. `with scipy.fft.set_backend(kugel.fft)` makes scipy.fft, and
what is built on it, use these functions.

Arrays of about 31 digits are wrapped, kugel.fft.DoubleDouble(parts) with parts[..., 2] high and low, and so are their
results: kugel.fft.fft(DoubleDouble.of(hi, lo)).parts. kugel.fft.Plan is a plan to keep: of any precision, half and
double-double too, for arrays in host and device memory, and in files with its compiled kernels.
"""
from numpy.fft import fftfreq, fftshift, ifftshift, rfftfreq

from .backend import __ua_domain__, ua_function as __ua_function__
from .common import get_workers, set_effort, set_workers
from .convolution import Convolution, convolve, correlate, fftconvolve, oaconvolve
from .fourier import (fft, fft2, fftn, hfft, hfft2, hfftn, ifft, ifft2, ifftn, ihfft, ihfft2, ihfftn, irfft, irfft2, irfftn,
                      rfft, rfft2, rfftn)
from .hankel import fht, fhtoffset, ifht
from .pairs import DoubleDouble
from .plan import Plan
from .sizes import next_fast_len, prev_fast_len
from .trigonometric import dct, dctn, dst, dstn, idct, idctn, idst, idstn

__all__ = ["fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn", "hfft",
           "ihfft", "hfft2", "ihfft2", "hfftn", "ihfftn", "dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn",
           "fftfreq", "rfftfreq", "fftshift", "ifftshift", "next_fast_len", "prev_fast_len", "fht", "ifht", "fhtoffset", "set_effort", "set_workers", "get_workers", "convolve", "correlate",
           "fftconvolve", "oaconvolve", "Convolution", "DoubleDouble", "Plan"]
