# SPDX-License-Identifier: BSD-3-Clause
"""Angles with units, SkyCoords and tables where numbers are expected; stand-ins where astropy is not installed, and astropy where it is."""
import numpy as np
import pytest

import kugel

NSIDE = 16
LON, LAT = np.array([10., 200.]), np.array([30., -40.])
THETA, PHI = np.pi / 2 - np.radians(LAT), np.radians(LON)
MAP = np.random.default_rng(1).normal(size=12 * NSIDE**2)


class Angle:
    """What is asked of astropy's quantities: a unit, and the number in another."""

    def __init__(self, radians):
        self.radians, self.unit = np.asarray(radians), "deg"

    def to_value(self, unit):
        if unit not in ("deg", "rad"):
            raise TypeError(f"'angle' and '{unit}' are not convertible")
        return np.degrees(self.radians) if unit == "deg" else self.radians


class Sky:
    def __init__(self, lon, lat):
        self.spherical = self
        self.lon, self.lat = Angle(np.radians(lon)), Angle(np.radians(lat))

    def represent_as(self):
        raise AssertionError


def things():
    yield Angle, Sky(LON, LAT), Sky(LON[0], LAT[0])
    try:
        import astropy.units as u
        from astropy.coordinates import SkyCoord
    except ImportError:
        return
    yield (lambda x: np.degrees(x) * u.deg), SkyCoord(LON, LAT, unit="deg"), SkyCoord(LON[0], LAT[0], unit="deg")


def test_angles():
    for angle, _, _ in things():
        assert np.array_equal(kugel.gauss_beam(angle(0.1), lmax=20), kugel.gauss_beam(float(angle(0.1).to_value("rad")), lmax=20))
        assert np.allclose(kugel.smoothing(MAP, fwhm=angle(0.2), lmax=20), kugel.smoothing(MAP, fwhm=0.2, lmax=20))
        assert np.array_equal(kugel.ang2pix(NSIDE, angle(THETA), angle(PHI)), kugel.ang2pix(NSIDE, THETA, PHI))
        assert np.array_equal(kugel.ang2pix(NSIDE, angle(PHI), angle(np.radians(LAT)), lonlat=True), kugel.ang2pix(NSIDE, THETA, PHI))
        assert np.array_equal(kugel.query_strip(NSIDE, angle(0.3), angle(0.5)), kugel.query_strip(NSIDE, 0.3, 0.5))
        assert np.array_equal(kugel.ang2vec(angle(THETA), angle(PHI)), kugel.ang2vec(THETA, PHI))
        assert np.allclose(kugel.Rotator(coord="GC")(angle(THETA), angle(PHI)), kugel.Rotator(coord="GC")(THETA, PHI))
        assert np.allclose(kugel.spectra.apodise(MAP > 0, angle(0.2)), kugel.spectra.apodise(MAP > 0, 0.2))


def test_positions():
    for angle, sky, one in things():
        for nest in (False, True):
            want = kugel.ang2pix(NSIDE, THETA, PHI, nest)
            for got in (kugel.ang2pix(NSIDE, sky, nest), kugel.ang2pix(NSIDE, theta=sky, nest=nest), kugel.ang2pix(NSIDE, sky, nest, True)):
                assert np.array_equal(got, want)
        assert np.allclose(kugel.get_interp_val(MAP, sky), kugel.get_interp_val(MAP, THETA, PHI))
        assert np.allclose(kugel.points.interpolate(MAP, sky, lmax=20), kugel.points.interpolate(MAP, THETA, PHI, lmax=20))
        disc = kugel.query_disc(NSIDE, one, angle(0.2))
        assert np.array_equal(disc, kugel.query_disc(NSIDE, kugel.ang2vec(THETA[0], PHI[0]), 0.2))
        assert np.allclose(kugel.Rotator(coord="GC")(sky, lonlat=True), kugel.Rotator(coord="GC")(LON, LAT, lonlat=True))
        a, b = (kugel.gnomview(MAP, rot=r, return_projected_map=True) for r in (one, (LON[0], LAT[0])))
        assert np.allclose(a, b)
        with pytest.raises(TypeError, match="leave that out"):
            kugel.ang2pix(NSIDE, sky, phi=PHI)


def test_tables():
    class Table(dict):
        columns = property(lambda self: list(self))
    want = kugel.ang2pix(NSIDE, THETA, PHI)
    tables = [Table(RA=LON, Dec=LAT, flux=LAT), Table(theta=THETA, phi=PHI), Table(lon=list(LON), lat=list(LAT))]
    for name in "pandas", "polars":
        try:
            tables.append(__import__(name).DataFrame({"glon": LON, "glat": LAT}))
        except ImportError:
            pass
    for table in tables:
        assert np.array_equal(kugel.ang2pix(NSIDE, table), want)
        assert np.allclose(kugel.points.interpolate(MAP, table, lonlat=True, lmax=20), kugel.points.interpolate(MAP, THETA, PHI, lmax=20))
    with pytest.raises(ValueError, match="the table has columns x, y; positions are lon and lat"):
        kugel.ang2pix(NSIDE, Table(x=LON, y=LAT))
