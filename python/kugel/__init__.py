# SPDX-License-Identifier: BSD-3-Clause
"""Kugel: spectral transforms and convolutions on the sphere, in the ball and in volumes.

Functions carry healpy's names, arguments, defaults, layouts and results, so `import kugel as hp` runs existing scripts.
`Grid` and `SHT` are plans for those who transform often or on other grids.
"""
from . import _lib, kernels
from ._lib import CanceledError, ConvergenceError, KugelError, get_num_threads, library_path, set_num_threads
from .arrays import DeviceArray
from .alms import Alm, alm2cl, almxfl, blm_gauss, resize_alm, rotate_alm, smoothalm, synalm
from .devices import devices
from .fitsfunc import read_alm, read_cl, read_map, write_alm, write_cl, write_map
from .maps import (UNSEEN, check_max_nside, get_map_size, get_min_valid_nside, get_nside, isnpixok, isnsideok, ma, ma_to_array,
                   maptype, mask_bad, mask_good, npix2nside, npix2order, nside2npix, nside2order, nside2pixarea, nside2resol,
                   order2npix, order2nside)
from .flowlines import line_integral_convolution
from .masktools import dist2holes, fill_small_holes, hotspots
from .pixelfunc import (ang2pix, boundaries, fit_dipole, fit_monopole, get_all_neighbours, get_interp_val,
                        get_interp_weights, max_pixrad, nest2ring, nest2uniq, pix2ang, pix2ring, pix2vec, pix2xyf,
                        query_disc, query_polygon, query_strip, ranges2uniq, remove_dipole, remove_monopole, reorder,
                        ring2nest, ringinfo, ud_grade, uniq2nest, uniq2ranges, vec2pix, xyf2pix)
from .comm import Comm
from .plans import SHT, Grid
from .radial import Radial, RadialBank
from .regridding import Regrid, regrid
from .rotator import Rotator
from .sphere_angles import ang2vec, dir2vec, vec2ang, vec2dir
from .sphtfunc import (alm2map, alm2map_der1, alm2map_spin, anafast, map2alm, map2alm_lsq, map2alm_spin, smoothing, synfast)
from .resolution import effective_resolution_fwhm, harmonic_ud_grade
from .visufunc import (azeqview, cartview, delgraticules, gnomview, graticule, mollview, orthview, plot_cl, projplot, projscatter,
                       projtext)
from .zoomtool import mollzoom, set_g_clim
from .newvisufunc import newprojplot, projview
from .windows import beam2bl, bl2beam, gauss_beam, pixwin

__version__ = _lib.version


_LAZY = ("ball", "banded", "dask", "data", "fft", "jax", "namaster", "nufft", "points", "polynomial", "projaxes", "projector", "skyfiles", "spectra", "stencil", "torch",
         "volume", "xarray")  # fft: NumPy's is loaded with it; torch and jax need those packages


def disable_warnings():
    """Does nothing; healpy has it for old scripts."""


def enable_warnings():
    """Does nothing; healpy has it for old scripts."""


def __getattr__(name):
    """Submodules that `import kugel` leaves out, loaded when first named."""
    if name in _LAZY:
        import importlib
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(set(globals()) | set(_LAZY))
