# SPDX-License-Identifier: BSD-3-Clause
"""The class of astropy_healpix: a pixellisation, in a celestial frame if one is given."""
from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from . import core
from .core import _nested, coordinates, need

if TYPE_CHECKING:
    import numpy.typing as npt


class NoFrameError(Exception):
    """SkyCoords were asked of a HEALPix without a frame."""

    def __init__(self, alternative_method: str) -> None:
        super().__init__(f"this HEALPix has no frame, which SkyCoord needs: HEALPix(..., frame=\"icrs\"), or use {alternative_method}")


def _frame(frame):
    base = coordinates.BaseCoordinateFrame
    if frame is None or isinstance(frame, base):
        return frame
    if isinstance(frame, str):
        known = coordinates.frame_transform_graph.lookup_name(frame)
        if known is None:
            raise ValueError(f'Coordinate frame name "{frame}" is not a known coordinate frame '
                             f"({sorted(coordinates.frame_transform_graph.get_names())})")
        return known()
    if inspect.isclass(frame) and issubclass(frame, base):
        return frame()
    raise ValueError(f"Coordinate frame must be a frame name, frame instance, frame class, or None, not a '{type(frame).__name__}'")


def parse_coord_system(system: Any) -> Any:
    """The frame of a FITS header's COORDSYS: G, C, or a name of astropy's frames."""
    if not isinstance(system, str):
        return _frame(system)
    if system.lower() == "e":
        raise ValueError("Ecliptic coordinate frame not yet supported")
    known = coordinates.frame_transform_graph.lookup_name({"g": "galactic", "c": "icrs"}.get(system.lower(), system.lower()))
    if known is None:
        raise ValueError(f"Could not determine frame for system={system.lower()}")
    return known()


def parse_input_healpix_data(input_data: Any, field: Any = 0, hdu_in: Any = None, nested: bool | None = None) -> tuple[np.ndarray, Any, Any]:
    """The array, the frame and whether the order is NEST, of a file's name, a table HDU, or a pair of array and frame."""
    fits = need("astropy.io.fits", "kugel.astropy_healpix")
    if isinstance(input_data, str):
        with fits.open(input_data) as hdus:
            return parse_input_healpix_data(hdus[1 if hdu_in is None else hdu_in], field)
    if isinstance(input_data, (fits.TableHDU, fits.BinTableHDU)):
        header, name = input_data.header, input_data.columns[field].name
        if "ORDERING" in header:
            nested = header["ORDERING"].lower() == "nested"
        return np.ravel(input_data.data[name]), parse_coord_system(header["COORDSYS"]), nested
    if isinstance(input_data, tuple) and isinstance(input_data[0], np.ndarray):
        return input_data[0], parse_coord_system(input_data[1]), nested
    raise TypeError("input_data should either be an HDU object or a tuple of (array, frame)")


class HEALPix:
    """A HEALPix pixellisation: nside (a power of two), order "ring" or "nested", and a celestial frame (a name, class or instance of
    astropy's) for the methods with SkyCoords. Methods are the functions of this module with its nside and order."""

    def __init__(self, nside: int | None = None, order: str = "ring", frame: Any = None) -> None:
        if nside is None:
            raise ValueError("nside has not been set")
        self.nside, self.order, self.frame = nside, "nested" if _nested(order) else "ring", _frame(frame)

    @classmethod
    def from_header(cls, input_data: Any, field: Any = 0, hdu_in: Any = None, nested: bool | None = None) -> HEALPix:
        """Of a FITS file (its name), a table HDU, or a pair of an array and a frame; nested: of a pair, or of a header without ORDERING."""
        array, frame, nested = parse_input_healpix_data(input_data, field, hdu_in, nested)
        return cls(core.npix_to_nside(len(array)), "nested" if nested else "ring", frame)

    @property
    def pixel_area(self) -> Any:
        """The area of a pixel, in sr."""
        return core.nside_to_pixel_area(self.nside)

    @property
    def pixel_resolution(self) -> Any:
        """The square root of the area of a pixel, in arcmin."""
        return core.nside_to_pixel_resolution(self.nside)

    @property
    def npix(self) -> Any:
        """The number of pixels."""
        return core.nside_to_npix(self.nside)

    @property
    def level(self) -> Any:
        """log2(nside)."""
        return core.nside_to_level(self.nside)

    def healpix_to_lonlat(self, healpix_index: npt.ArrayLike, dx: npt.ArrayLike | None = None, dy: npt.ArrayLike | None = None) -> tuple[Any, Any]:
        return core.healpix_to_lonlat(healpix_index, self.nside, dx, dy, self.order)

    def lonlat_to_healpix(self, lon: Any, lat: Any, return_offsets: bool = False) -> Any:
        return core.lonlat_to_healpix(lon, lat, self.nside, return_offsets, self.order)

    def healpix_to_xyz(self, healpix_index: npt.ArrayLike, dx: npt.ArrayLike | None = None,
                       dy: npt.ArrayLike | None = None) -> tuple[Any, Any, Any]:
        return core.healpix_to_xyz(healpix_index, self.nside, dx, dy, self.order)

    def xyz_to_healpix(self, x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike, return_offsets: bool = False) -> Any:
        return core.xyz_to_healpix(x, y, z, self.nside, return_offsets, self.order)

    def nested_to_ring(self, nested_index: npt.ArrayLike) -> Any:
        return core.nested_to_ring(nested_index, self.nside)

    def ring_to_nested(self, ring_index: npt.ArrayLike) -> Any:
        return core.ring_to_nested(ring_index, self.nside)

    def bilinear_interpolation_weights(self, lon: Any, lat: Any) -> tuple[np.ndarray, np.ndarray]:
        return core.bilinear_interpolation_weights(lon, lat, self.nside, self.order)

    def interpolate_bilinear_lonlat(self, lon: Any, lat: Any, values: npt.ArrayLike) -> Any:
        if np.shape(values)[0] != self.npix:
            raise ValueError(f"values must be an array of length {self.npix} (got {np.shape(values)[0]})")
        return core.interpolate_bilinear_lonlat(lon, lat, values, self.order)

    def cone_search_lonlat(self, lon: Any, lat: Any, radius: Any) -> np.ndarray:
        if not (lon.isscalar and lat.isscalar and radius.isscalar):
            raise ValueError("The longitude, latitude and radius must be scalar Quantity objects")
        return core.healpix_cone_search(lon, lat, radius, self.nside, self.order)

    def boundaries_lonlat(self, healpix_index: npt.ArrayLike, step: int) -> tuple[Any, Any]:
        return core.boundaries_lonlat(healpix_index, step, self.nside, self.order)

    def neighbours(self, healpix_index: npt.ArrayLike) -> np.ndarray:
        return core.neighbours(healpix_index, self.nside, self.order)

    def _sky(self, method: str, *lonlat: Any) -> Any:
        """A SkyCoord of longitudes and latitudes, or those of a SkyCoord, in the frame."""
        if self.frame is None:
            raise NoFrameError(method)
        if len(lonlat) == 2:
            return coordinates.SkyCoord(self.frame.realize_frame(coordinates.UnitSphericalRepresentation(*lonlat)))
        place = lonlat[0].transform_to(self.frame).represent_as(coordinates.UnitSphericalRepresentation)
        return place.lon, place.lat

    def healpix_to_skycoord(self, healpix_index: npt.ArrayLike, dx: npt.ArrayLike | None = None, dy: npt.ArrayLike | None = None) -> Any:
        """SkyCoords of the centres of pixels, or of the places dx, dy in them, in the frame."""
        return self._sky("healpix_to_lonlat", *self.healpix_to_lonlat(healpix_index, dx, dy))

    def skycoord_to_healpix(self, skycoord: Any, return_offsets: bool = False) -> Any:
        """Pixels of SkyCoords of any frame; with return_offsets pixels, dx and dy."""
        return self.lonlat_to_healpix(*self._sky("lonlat_to_healpix", skycoord), return_offsets)

    def interpolate_bilinear_skycoord(self, skycoord: Any, values: npt.ArrayLike) -> Any:
        """Values at SkyCoords of any frame, of maps [npix, ...]."""
        return self.interpolate_bilinear_lonlat(*self._sky("interpolate_bilinear_lonlat", skycoord), values)

    def cone_search_skycoord(self, skycoord: Any, radius: Any) -> np.ndarray:
        """The pixels, rising, that overlap a disc about one SkyCoord."""
        return self.cone_search_lonlat(*self._sky("cone_search_lonlat", skycoord), radius)

    def boundaries_skycoord(self, healpix_index: npt.ArrayLike, step: int) -> Any:
        """SkyCoords [pixels, 4 step] along the edges of pixels."""
        return self._sky("boundaries_lonlat", *self.boundaries_lonlat(healpix_index, step))


for _name, _method in vars(HEALPix).items():
    if inspect.isfunction(_method) and not _method.__doc__ and hasattr(core, _name):
        _method.__doc__ = getattr(core, _name).__doc__
HEALPix.cone_search_lonlat.__doc__ = core.healpix_cone_search.__doc__
