# SPDX-License-Identifier: BSD-3-Clause
"""Kugel: spectral transforms and convolutions on the sphere, in the ball and in volumes.

Functions carry healpy's names, arguments, defaults, layouts and results, so `import kugel as hp` runs existing scripts.
`Grid` and `SHT` are plans for those who transform often or on other grids.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _lib, kernels
from ._lib import CanceledError, ConvergenceError, KugelError, get_num_threads, library_path, set_num_threads
from .arrays import DeviceArray
from .alms import Alm, alm2cl, almxfl, blm_gauss, resize_alm, rotate_alm, smoothalm, synalm
from .devices import devices, kernels_info
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

# Written out, for type checkers.
__all__ = ["Alm", "alm2cl", "alm2map", "alm2map_der1", "alm2map_spin", "almxfl", "anafast", "ang2pix", "ang2vec", "azeqview", "ball",
           "banded", "beam2bl", "bl2beam", "blm_gauss", "boundaries", "CanceledError", "cartview", "check_max_nside", "Comm",
           "ConvergenceError", "dask", "data", "delgraticules", "DeviceArray", "devices", "dir2vec", "disable_warnings",
           "dist2holes", "effective_resolution_fwhm", "enable_warnings", "fft", "fill_small_holes", "fit_dipole",
           "fit_monopole", "gauss_beam", "get_all_neighbours", "get_interp_val", "get_interp_weights", "get_map_size",
           "get_min_valid_nside", "get_nside", "get_num_threads", "gnomview", "graticule", "Grid", "harmonic_ud_grade",
           "hotspots", "isnpixok", "isnsideok", "jax", "kernels", "KugelError", "library_path", "line_integral_convolution",
           "ma", "ma_to_array", "map2alm", "map2alm_lsq", "map2alm_spin", "maptype", "mask_bad", "mask_good", "max_pixrad",
           "mollview", "mollzoom", "namaster", "nest2ring", "nest2uniq", "newprojplot", "npix2nside", "npix2order",
           "nside2npix", "nside2order", "nside2pixarea", "nside2resol", "nufft", "order2npix", "order2nside", "orthview",
           "pix2ang", "pix2ring", "pix2vec", "pix2xyf", "pixwin", "plot_cl", "points", "polynomial", "projaxes", "projector",
           "projplot", "projscatter", "projtext", "projview", "query_disc", "query_polygon", "query_strip", "Radial",
           "RadialBank", "ranges2uniq", "read_alm", "read_cl", "read_map", "regrid", "Regrid", "remove_dipole",
           "remove_monopole", "reorder", "resize_alm", "ring2nest", "ringinfo", "rotate_alm", "Rotator", "set_g_clim",
           "set_num_threads", "SHT", "skyfiles", "smoothalm", "smoothing", "spectra", "stencil", "synalm", "synfast",
           "torch", "ud_grade", "uniq2nest", "uniq2ranges", "UNSEEN", "vec2ang", "vec2dir", "vec2pix", "volume", "write_alm",
           "write_cl", "write_map", "xarray", "xyf2pix"]

if TYPE_CHECKING:
    from . import (ball, banded, dask, data, fft, jax, namaster, nufft, points, polynomial, projaxes, projector, skyfiles, spectra, stencil, torch, volume,
                   xarray)

_LAZY = ("ball", "banded", "dask", "data", "fft", "jax", "namaster", "nufft", "points", "polynomial", "projaxes", "projector",
         "skyfiles", "spectra", "stencil", "torch", "volume", "xarray")  # fft: NumPy's is loaded with it; torch and jax need those packages


def disable_warnings() -> None:
    """Does nothing; healpy has it for old scripts."""


def enable_warnings() -> None:
    """Does nothing; healpy has it for old scripts."""


def __getattr__(name):
    """Submodules that `import kugel` leaves out, loaded when first named."""
    if name in _LAZY:
        import importlib
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(set(globals()) | set(_LAZY))
