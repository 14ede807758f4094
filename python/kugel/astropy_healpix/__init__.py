# SPDX-License-Identifier: BSD-3-Clause
"""The class and the functions of the package `astropy_healpix` (2.0), with their arguments and results; astropy is needed.

    from kugel.astropy_healpix import HEALPix
    hp = HEALPix(nside=256, order="nested", frame="galactic")
    hp.cone_search_skycoord(SkyCoord.from_name("M31"), radius=1 * u.deg)

Angles are quantities with units; results are Longitude and Latitude, SkyCoord where a frame is set. As there, a pixel that its map does not
have, or a direction that is not finite, gives NaN or -1 and NumPy's warning of an invalid value (numpy.errstate). Two differences: cones hold
exactly the pixels that overlap them, and nside goes to 2^29 everywhere. For its module `healpy` use kugel itself.
"""
from .core import (bilinear_interpolation_weights, boundaries_lonlat, healpix_cone_search, healpix_to_lonlat, healpix_to_xyz,
                   interpolate_bilinear_lonlat, level_ipix_to_uniq, level_to_nside, lonlat_to_healpix, neighbours,
                   nested_to_ring, npix_to_nside, nside_to_level, nside_to_npix, nside_to_pixel_area,
                   nside_to_pixel_resolution, pixel_resolution_to_nside, ring_to_nested, uniq_to_level_ipix, xyz_to_healpix)
from .high_level import HEALPix, NoFrameError

__all__ = ["HEALPix", "NoFrameError", "bilinear_interpolation_weights", "boundaries_lonlat", "healpix_cone_search", "healpix_to_lonlat",
           "healpix_to_xyz", "interpolate_bilinear_lonlat", "level_ipix_to_uniq", "level_to_nside", "lonlat_to_healpix", "neighbours",
           "nested_to_ring", "npix_to_nside", "nside_to_level", "nside_to_npix", "nside_to_pixel_area", "nside_to_pixel_resolution",
           "pixel_resolution_to_nside", "ring_to_nested", "uniq_to_level_ipix", "xyz_to_healpix"]
