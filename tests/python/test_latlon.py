# SPDX-License-Identifier: BSD-3-Clause
"""Grids recognised by latitudes and longitudes: places stay where they are, whichever way rows and columns run."""
import pickle

import numpy as np
import pytest

import kugel

KINDS = ["gauss", "clenshaw_curtis", "fejer1", "fejer2", "driscoll_healy", "mcewen_wiaux", "lobatto"]


def places(grid):
    """lat, lon in degrees of a grid."""
    t = grid.table()
    return 90 - np.degrees(t["theta"]), np.degrees(t["phi0"][0]) + 360 * np.arange(t["nphi"][0]) / t["nphi"][0]


def field(lat, lon):
    """A polynomial of degree 3 on [lat, lon], with no symmetry."""
    lat, lon = np.radians(lat)[:, None], np.radians(lon)[None, :]
    x, y, z = np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat) + 0 * lon
    return 1 + x + 2 * y * z - 0.5 * x * x * y + z**3


def on_healpix(nside):
    return field_at(*kugel.pix2ang(nside, np.arange(12 * nside**2)))


def field_at(theta, phi):
    x, y, z = np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)
    return 1 + x + 2 * y * z - 0.5 * x * x * y + z**3


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rows", [1, -1])
@pytest.mark.parametrize("start", [0, -180, 0.25, 100, "date line", "west"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_and_direction(kind, start, rows, dtype):
    lat, lon = places(getattr(kugel.Grid, kind)(24, 50))
    lon = lon[::-1] if start == "west" else np.roll((lon + 180) % 360 - 180, 7) if start == "date line" else lon + start
    lat = lat[::rows]
    grid = kugel.Grid.from_latlon(lat.astype(dtype), lon.astype(dtype))
    assert grid.name == kind and grid.rows_reversed == (rows < 0) and grid.columns_reversed == (start == "west")
    data = field(lat, lon)
    close = {"rtol": 0, "atol": 1e-11 if dtype is np.float64 else 1e-5}
    np.testing.assert_allclose(kugel.regrid(data, grid, 4), on_healpix(4), **close)
    np.testing.assert_allclose(kugel.regrid(kugel.regrid(data, grid, kugel.Grid.gauss(24)), kugel.Grid.gauss(24), grid), data, **close)
    assert np.array_equal(grid.restore(grid.arrange(data)), data)
    again = pickle.loads(pickle.dumps(grid))
    assert repr(again) == repr(grid) and np.array_equal(again.arrange(data), grid.arrange(data))


def test_what_it_says():
    grid = kugel.Grid.from_latlon(np.linspace(-90, 90, 181), np.arange(-180, 180))
    assert repr(grid) == ("Clenshaw-Curtis grid of 181 latitudes and 360 longitudes; the array's rows run from south to north, "
                          "its columns eastwards, and the first of them eastwards is at 180 degrees")
    assert "Fejer 1 grid of 180" in repr(kugel.Grid.from_latlon(np.arange(89.5, -90, -1), np.arange(0.5, 360)))
    era5 = kugel.Grid.from_latlon(np.linspace(90, -90, 721, dtype=np.float32), np.arange(0, 360, 0.25, dtype=np.float32))
    assert era5.name == "clenshaw_curtis" and not era5.rows_reversed


def test_latitudes_as_files_round_them():
    lat = np.round(places(kugel.Grid.gauss(192))[0][::-1], 2)  # CMIP, two digits
    grid = kugel.Grid.from_latlon(lat, np.arange(288) * 1.25)
    assert grid.name == "gauss" and grid.rows_reversed


@pytest.mark.parametrize("lat, lon, says", [
    (np.linspace(30, 60, 31), np.arange(360), "not the whole sphere"),
    (np.linspace(-90, 90, 19), np.linspace(0, 360, 37), "leave out the last column"),
    (np.linspace(-90, 90, 19), np.arange(0, 180, 10), "a grid goes once round"),
    (np.linspace(-90, 90, 19), [0, 10, 30, 40], "equal steps"),
    (np.radians(np.linspace(-90, 90, 19)), np.arange(36) * 10, "not radians"),
    (np.linspace(-90, 90, 19) ** 3 / 8100, np.arange(36) * 10, "fit no grid"),
    ([10, 20, 15, 0], np.arange(36) * 10, "sort the rows"),
    ([100, 0, -100], np.arange(36) * 10, "from -90 to 90"),
    ([[1, 2]], np.arange(36) * 10, "one-dimensional"),
    ([np.nan, 0], np.arange(36) * 10, "not finite"),
])
def test_refusals(lat, lon, says):
    with pytest.raises(ValueError, match=says):
        kugel.Grid.from_latlon(lat, lon)


def test_regrid_beyond_the_band_limit():
    source = kugel.Grid.fejer1(20)
    with pytest.raises(ValueError, match="30"):
        kugel.Regrid(source, 8, lmax=30)
    assert kugel.Regrid(source, 8, lmax=30, beyond_band_limit=True).lmax == 30


def test_engine_connection():
    rng = np.random.default_rng(4)
    grid = kugel.Grid.fejer1(41, 81)
    plans = [kugel.SHT(grid, 40, engine=e) for e in ("connection", "recurrence")]
    alm = rng.standard_normal((3, plans[0].nalm, 2)).view(complex)[..., 0]
    alm[:, :41] = alm[:, :41].real
    maps = [p.synthesis(alm) for p in plans]
    np.testing.assert_allclose(*maps, atol=1e-12)
    for p in plans:
        np.testing.assert_allclose(p.analysis(maps[0]), alm, atol=1e-12)
    again = pickle.loads(pickle.dumps(plans[0]))
    assert np.array_equal(again.synthesis(alm), maps[0])
    spins = [kugel.SHT(grid, 40, spin=2, engine=e) for e in ("connection", "recurrence")]
    pair = rng.standard_normal((2, plans[0].nalm, 2)).view(complex)[..., 0]
    pair[:, :41] = pair[:, :41].real
    np.testing.assert_allclose(*(p.synthesis(pair) for p in spins), atol=1e-12)
    with pytest.raises(NotImplementedError, match="spin"):
        kugel.SHT(grid, 40, spin=33, engine="connection")
    with pytest.raises(ValueError, match="engine"):
        kugel.SHT(grid, 40, engine="fast")


def test_rows_apart_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"\(2, 16, 32\); expected \(\.\.\., 512\): .*\.reshape\(2, 512\)"):
        kugel.SHT(kugel.Grid.gauss(16), 15).analysis(np.ones((2, 16, 32)))
