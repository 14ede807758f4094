# SPDX-License-Identifier: BSD-3-Clause
"""Kugel: spectral transforms and convolutions on the sphere, in the ball and in volumes.

Functions carry healpy's names, arguments, defaults, layouts and results, so `import kugel as hp` runs existing scripts.
`Grid` and `SHT` are plans for those who transform often or on other grids.

Importing this module loads nothing else: a function brings its module, NumPy and the library when it is first named.
"""
from __future__ import annotations

from . import _find

TYPE_CHECKING = False  # as type checkers know it; typing itself need not be loaded
if TYPE_CHECKING:
    from typing import Any

    from ._lib import CanceledError, ConvergenceError, KugelError, get_num_threads, library_path, set_num_threads
    from .arrays import DeviceArray
    from .bars import progress
    from .alms import Alm, alm2cl, almxfl, blm_gauss, resize_alm, rotate_alm, smoothalm, synalm
    from .hardware import devices, kernels_info
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
    from . import (astropy_healpix, ball, banded, dask, data, fft, healpix, jax, kernels, namaster, nufft, points, polynomial, projaxes, projector, skyfiles, spectra, stencil, torch,
                   volume, xarray)

    __version__: str

# Written out, for type checkers.
__all__ = ["Alm", "alm2cl", "alm2map", "alm2map_der1", "alm2map_spin", "almxfl", "anafast", "ang2pix", "ang2vec", "astropy_healpix", "azeqview", "ball",
           "banded", "beam2bl", "bl2beam", "blm_gauss", "boundaries", "CanceledError", "cartview", "check_max_nside", "Comm",
           "ConvergenceError", "dask", "data", "delgraticules", "DeviceArray", "devices", "dir2vec", "disable_warnings",
           "dist2holes", "effective_resolution_fwhm", "enable_warnings", "fft", "fill_small_holes", "fit_dipole",
           "fit_monopole", "gauss_beam", "get_all_neighbours", "get_interp_val", "get_interp_weights", "get_map_size",
           "get_min_valid_nside", "get_nside", "get_num_threads", "gnomview", "graticule", "Grid", "harmonic_ud_grade", "healpix",
           "hotspots", "isnpixok", "isnsideok", "jax", "kernels", "kernels_info", "KugelError", "library_path", "line_integral_convolution",
           "ma", "ma_to_array", "map2alm", "map2alm_lsq", "map2alm_spin", "maptype", "mask_bad", "mask_good", "max_pixrad",
           "mollview", "mollzoom", "namaster", "nest2ring", "nest2uniq", "newprojplot", "npix2nside", "npix2order",
           "nside2npix", "nside2order", "nside2pixarea", "nside2resol", "nufft", "order2npix", "order2nside", "orthview",
           "pix2ang", "pix2ring", "pix2vec", "pix2xyf", "pixwin", "plot_cl", "points", "polynomial", "progress", "projaxes", "projector",
           "projplot", "projscatter", "projtext", "projview", "query_disc", "query_polygon", "query_strip", "Radial",
           "RadialBank", "ranges2uniq", "read_alm", "read_cl", "read_map", "regrid", "Regrid", "remove_dipole",
           "remove_monopole", "reorder", "resize_alm", "ring2nest", "ringinfo", "rotate_alm", "Rotator", "set_g_clim",
           "set_num_threads", "SHT", "skyfiles", "smoothalm", "smoothing", "spectra", "stencil", "synalm", "synfast",
           "torch", "ud_grade", "uniq2nest", "uniq2ranges", "UNSEEN", "vec2ang", "vec2dir", "vec2pix", "volume", "write_alm",
           "write_cl", "write_map", "xarray", "xyf2pix"]

_NAMES = {  # module: what it gives this one
    "_lib": "CanceledError ConvergenceError get_num_threads KugelError library_path set_num_threads",
    "arrays": "DeviceArray",
    "bars": "progress",
    "alms": "Alm alm2cl almxfl blm_gauss resize_alm rotate_alm smoothalm synalm",
    "hardware": "devices kernels_info",
    "fitsfunc": "read_alm read_cl read_map write_alm write_cl write_map",
    "maps": "check_max_nside get_map_size get_min_valid_nside get_nside isnpixok isnsideok ma ma_to_array maptype mask_bad "
            "mask_good npix2nside npix2order nside2npix nside2order nside2pixarea nside2resol order2npix order2nside UNSEEN",
    "flowlines": "line_integral_convolution",
    "masktools": "dist2holes fill_small_holes hotspots",
    "pixelfunc": "ang2pix boundaries fit_dipole fit_monopole get_all_neighbours get_interp_val get_interp_weights max_pixrad "
                 "nest2ring nest2uniq pix2ang pix2ring pix2vec pix2xyf query_disc query_polygon query_strip ranges2uniq "
                 "remove_dipole remove_monopole reorder ring2nest ringinfo ud_grade uniq2nest uniq2ranges vec2pix xyf2pix",
    "comm": "Comm",
    "plans": "Grid SHT",
    "radial": "Radial RadialBank",
    "regridding": "Regrid regrid",
    "rotator": "Rotator",
    "sphere_angles": "ang2vec dir2vec vec2ang vec2dir",
    "sphtfunc": "alm2map alm2map_der1 alm2map_spin anafast map2alm map2alm_lsq map2alm_spin smoothing synfast",
    "resolution": "effective_resolution_fwhm harmonic_ud_grade",
    "visufunc": "azeqview cartview delgraticules gnomview graticule mollview orthview plot_cl projplot projscatter projtext",
    "zoomtool": "mollzoom set_g_clim",
    "newvisufunc": "newprojplot projview",
    "windows": "beam2bl bl2beam gauss_beam pixwin",
}
_MODULES = ("alms", "arrays", "astropy_healpix", "ball", "banded", "bars", "comm", "dask", "data", "fft", "fitsfunc", "flowlines", "frames",
            "hardware", "healpix", "insides", "jax", "kernels", "latlon", "maps", "masktools", "namaster", "newvisufunc", "nufft", "pixelfunc",
            "plans", "points", "polynomial", "projaxes", "projection", "projector", "radial", "regridding", "resolution",
            "rotator", "skyfiles", "spectra", "sphere_angles", "sphtfunc", "stencil", "torch", "views", "visufunc",
            "volume", "windows", "xarray", "zoomtool")
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

if not _find.files():  # perhaps the system's loader knows one; else an installation without a library is told at once
    from ._lib import library_path


def disable_warnings() -> None:
    """Does nothing; healpy has it for old scripts."""


def enable_warnings() -> None:
    """Does nothing; healpy has it for old scripts."""


def __getattr__(name: str) -> Any:
    """What this module offers, loaded when first named."""
    from importlib import import_module  # which the interpreter has loaded before

    if name in _MODULES:
        return import_module("." + name, __name__)
    if name == "__version__":
        value = import_module("._lib", __name__).version
    elif name in _HOME:
        value = getattr(import_module("." + _HOME[name], __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_MODULES, "__version__"})
