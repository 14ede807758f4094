# SPDX-License-Identifier: BSD-3-Clause
"""Fields with names and stacks of maps: orientation, cells, chunks, errors."""
import os
import pathlib
import pickle

import numpy as np
import pytest

import kugel

xr = pytest.importorskip("xarray")
import kugel.xarray  # noqa: E402,F401

SHARED = pathlib.Path(os.environ.get("KUGEL_TEST_SHARED", pathlib.Path(__file__).resolve().parents[3] / "shared/data"))


def field(nlat=25, nlon=48, lmax=8, seed=3):
    """A band-limited field, from the north, from longitude 0, on Clenshaw-Curtis rows, and its alm."""
    alm = kugel.synalm(np.ones(lmax + 1), seed=seed)
    grid = kugel.Grid.clenshaw_curtis(nlat, nlon)
    values = kugel.SHT(grid, lmax).synthesis(alm).reshape(nlat, nlon)
    return xr.DataArray(values, dims=("lat", "lon"), name="t2m", attrs={"units": "K", "long_name": "temperature"},
                        coords={"lat": np.linspace(90, -90, nlat), "lon": np.arange(nlon) * 360 / nlon, "height": 2.0}), alm


def turned(a):
    """The same from the south and from -180, with other names and axes first to last."""
    b = a.isel(lat=slice(None, None, -1)).roll(lon=a.sizes["lon"] // 2, roll_coords=True)
    b = b.assign_coords(lon=(b.lon + 180) % 360 - 180).rename(lat="Breite", lon="Länge").transpose("Länge", ...)
    b.coords["Breite"].attrs["standard_name"] = "latitude"
    b.coords["Länge"].attrs["units"] = "degrees_east"
    return b


def straight(b):
    b = b.rename({"Breite": "lat", "Länge": "lon"})
    return b.assign_coords(lon=b.lon % 360).sortby("lon").sortby("lat", ascending=False)


def test_smooth_keeps_everything_and_finds_the_orientation():
    a, alm = field()
    s = a.kugel.smooth(20)
    want = kugel.SHT(kugel.Grid.clenshaw_curtis(25, 48), 8).synthesis(kugel.smoothalm(alm, np.radians(20))).reshape(25, 48)
    np.testing.assert_allclose(s.values, want, atol=1e-13)
    assert s.dims == a.dims and s.attrs == a.attrs and s.name == "t2m" and set(s.coords) == set(a.coords)
    b = turned(a)
    assert "south to north" in b.kugel.grid and "Clenshaw-Curtis" in b.kugel.grid
    sb = b.kugel.smooth(20)
    assert sb.dims == b.dims
    np.testing.assert_allclose(straight(sb).transpose("lat", "lon").values, s.values, atol=1e-13)
    assert a.astype("f4").kugel.smooth(20).dtype == np.float32


def test_spectra_are_those_of_the_coefficients():
    a, alm = field()
    for x in (a, turned(a)):
        c = x.kugel.spectrum(lmax=8)
        np.testing.assert_allclose(c.values, kugel.alm2cl(alm), rtol=1e-12, atol=1e-15)
        assert c.dims == ("l",) and c.attrs["units"] == "(K)^2" and float(c.height) == 2
    w = np.sin(np.radians(90 - a.lat))
    power = a.kugel.power()
    fine, _ = field(181, 360)
    exact = float((fine**2 * np.sin(np.radians(90 - fine.lat))).sum() / np.sin(np.radians(90 - fine.lat)).sum() / 360)
    assert abs(float(power.sum()) / exact - 1) < 1e-3 and w.size == 25


def test_regrid_to_cells_and_back():
    a, alm = field()
    times = xr.concat([a, 2 * a], xr.Variable("time", np.array(["2020-01-01", "2020-01-02"], "M8[ns]")))
    for nest in (True, False):
        h = times.kugel.regrid(nside=8, nest=nest)
        want = kugel.alm2map(alm, 8)
        want = kugel.reorder(want, r2n=True) if nest else want
        np.testing.assert_allclose(h.values, [want, 2 * want], atol=1e-12)
        assert h.dims == ("time", "cell") and h.crs.attrs["healpix_nside"] == 8 and h.attrs["grid_mapping"] == "crs"
        assert h.kugel.grid == f"HEALPix nside 8, {'NESTED' if nest else 'RING'}"
        back = h.kugel.regrid(like=turned(a), lmax=8)
        assert back.dims == ("time", "Breite", "Länge") and "crs" not in back.coords
        np.testing.assert_allclose(straight(back.isel(time=0)).transpose("lat", "lon").values, a.values, atol=2e-3)
        np.testing.assert_allclose(h.kugel.smooth(20).values[0],
                                   kugel.reorder(kugel.smoothing(kugel.alm2map(alm, 8), np.radians(20)), r2n=True) if nest
                                   else kugel.smoothing(kugel.alm2map(alm, 8), np.radians(20)), atol=1e-10)
    g = a.kugel.regrid(lat=np.linspace(-87.5, 87.5, 36), lon=np.arange(-180, 180, 5.0))
    assert g.dims == ("lat", "lon") and g.sizes["lat"] == 36
    np.testing.assert_allclose(g.sel(lat=2.5, lon=-60).item(), kugel.SHT(kugel.Grid.fejer1(36, 72), 8).synthesis(alm).reshape(36, 72)[17, 60], atol=1e-12)


def test_attributes_of_climate_models_and_xdggs():
    _, alm = field()
    ring = kugel.alm2map(alm, 8)
    nested = kugel.reorder(ring, r2n=True)
    easygems = xr.DataArray(nested, dims="cell", coords={"crs": ((), 0, {"grid_mapping_name": "healpix", "healpix_nside": 8, "healpix_order": "nest"})},
                            attrs={"grid_mapping": "crs"})
    xdggs = xr.DataArray(nested, dims="cells", coords={"cell_ids": ("cells", np.arange(768), {"grid_name": "healpix", "level": 3, "indexing_scheme": "nested"})})
    told = xr.DataArray(nested, dims="values").kugel.cells("nested")
    for x in (easygems, xdggs, told):
        np.testing.assert_allclose(x.kugel.spectrum(8).values, kugel.anafast(ring, lmax=8), rtol=1e-9)
        assert "nside 8, NESTED" in x.kugel.grid
    half = xdggs.isel(cells=slice(0, 384))[::-1]
    assert "384 of 768" in half.kugel.grid
    with pytest.raises(ValueError, match="missing='zero'"):
        half.kugel.smooth(5)
    zero = np.where(np.arange(768) < 384, nested, 0)
    want = kugel.smoothing(zero, np.radians(15), nest=True)[:384][::-1]
    np.testing.assert_allclose(half.kugel.smooth(15, missing="zero").values, want, atol=1e-10)


def test_winds_are_vectors():
    """A rotation about an axis in the equator's plane: its u and v are no scalars at the poles."""
    a, _ = field(25, 48)
    lat, lon = np.radians(a.lat), np.radians(a.lon)
    axis = np.array([0.6, -0.8, 0])

    def winds(lat, lon):
        u = -axis[0] * np.sin(lat) * np.cos(lon) - axis[1] * np.sin(lat) * np.sin(lon) + axis[2] * np.cos(lat)
        return u, axis[0] * np.sin(lon) - axis[1] * np.cos(lon) + 0 * lat
    u, v = winds(lat, lon)
    ds = xr.Dataset({"u": u, "v": v.transpose(*u.dims), "z": a, "n": ("time", [1, 2])})
    h = ds.kugel.regrid(nside=8, nest=False, winds=("u", "v"))
    theta, phi = kugel.pix2ang(8, np.arange(768))
    for got, want in zip((h.u, h.v), winds(np.pi / 2 - theta, phi)):
        np.testing.assert_allclose(got.values, want, atol=1e-12)
    assert h.z.dims == ("cell",) and h.n.dims == ("time",)
    with pytest.raises(ValueError, match="winds has 'w'"):
        ds.kugel.regrid(nside=8, winds=("u", "w"))


def test_errors_say_what_to_do():
    a, _ = field()
    for make, says in [(lambda: a.rename(lat="p", lon="q").kugel.smooth(5), "no latitude and longitude"),
                       (lambda: a.isel(lat=slice(3, 20)).kugel.smooth(5), "not the whole sphere"),
                       (lambda: a.assign_coords(lat=np.radians(a.lat)).kugel.smooth(5), "degrees are wanted"),
                       (lambda: a.where(a > 0).kugel.smooth(5), "missing='zero'"),
                       (lambda: a.kugel.smooth(-1), "0 to 180"), (lambda: a.kugel.smooth(5, missing="mean"), "'zero'"),
                       (lambda: a.kugel.regrid(), "give one of nside"), (lambda: a.kugel.regrid(nside=8, lat=[1]), "give one of nside"),
                       (lambda: a.kugel.regrid(nside=6), "power of two"), (lambda: a.kugel.regrid(lat=[1, 2]), "go together"),
                       (lambda: xr.DataArray(np.zeros(768), dims="cell").kugel.smooth(5), "kugel.cells"),
                       (lambda: xr.DataArray(np.zeros(700), dims="cell").kugel.cells("ring"), "cell_ids"),
                       (lambda: xr.Dataset({"n": ("time", [1])}).kugel.smooth(5), "no variable"),
                       (lambda: a.assign_attrs(grid_mapping="gone").rename(lat="p").kugel.grid, "decode_coords")]:
        with pytest.raises(ValueError, match=says):
            make()
    ids = xr.DataArray(np.zeros(3), dims="cell", coords={"cell": [0, 1, 768]}, attrs={})
    ids = ids.assign_coords(crs=kugel.xarray.crs(8, True))
    with pytest.raises(ValueError, match="0 to 767"):
        ids.kugel.grid


@pytest.mark.parametrize("chunks", [1, 2])
def test_chunks_are_lazy_and_equal(chunks):
    pytest.importorskip("dask.array")
    a, _ = field()
    many = xr.concat([a * (i + 1) for i in range(4)], "time")
    lazy = many.chunk({"time": chunks, "lat": 5})
    for got, want in ((lazy.kugel.smooth(20), many.kugel.smooth(20)), (lazy.kugel.regrid(nside=8), many.kugel.regrid(nside=8)),
                      (lazy.kugel.spectrum(8), many.kugel.spectrum(8))):
        assert got.chunks is not None and got.chunks[0] == (chunks,) * (4 // chunks)
        assert np.array_equal(got.compute().values, want.values)


def test_stacks_of_maps_in_dask():
    da = pytest.importorskip("dask.array")
    import kugel.dask as kd
    maps = np.stack([kugel.synfast(np.ones(24), 8, seed=5, index=i) for i in range(5)])
    made = kd.synfast(np.ones(24), 8, 5, seed=5, chunks=2)
    assert np.array_equal(made.compute(), maps) and made.chunks[0] == (2, 2, 1)
    lazy = da.from_array(maps, chunks=(2, 300))
    alm = kd.map2alm(lazy)
    assert alm.shape == (5, 300) and alm.dtype == np.complex128
    np.testing.assert_allclose(alm.compute(), [kugel.map2alm(m) for m in maps], atol=1e-12)
    np.testing.assert_allclose(kd.alm2map(alm, 8).compute(), [kugel.alm2map(kugel.map2alm(m), 8) for m in maps], atol=1e-11)
    np.testing.assert_allclose(kd.smooth(lazy, 0.3).compute(), [kugel.smoothing(m, 0.3) for m in maps], atol=1e-11)
    np.testing.assert_allclose(kd.anafast(lazy, lmax=16).compute(), [kugel.anafast(m, lmax=16) for m in maps], rtol=1e-10, atol=1e-15)
    assert kd.regrid(lazy, 8, kugel.Grid.gauss(16), lmax=15).compute().shape == (5, 512)
    for chunks in (1, 5):
        assert np.array_equal(kd.map2alm(lazy.rechunk((chunks, -1))).compute(), alm.compute())
    assert len(pickle.dumps(dict(alm.dask))) < 400_000 + 2 * maps.nbytes  # recipes, not plans
    assert kd.map2alm(lazy.astype("f4")).dtype == np.complex64
    volume, psf = np.random.default_rng(1).random((20, 24, 28)), np.random.default_rng(2).random((5, 3, 7))
    tiles = kd.convolve(da.from_array(volume, chunks=9), psf, boundary="reflect").compute()
    np.testing.assert_allclose(tiles, kugel.volume.convolve(volume, psf, boundary="reflect"), atol=1e-10)
    for make, says in [(lambda: kd.map2alm(maps), "Dask array"), (lambda: kd.map2alm(lazy[:, :100]), "12 nside"),
                       (lambda: kd.alm2map(lazy[:, :11], 8), "coefficients"), (lambda: kd.map2alm(lazy, grid=4), "192")]:
        with pytest.raises((TypeError, ValueError), match=says):
            make()


def test_reanalysis():
    """ERA-Interim's geopotential at 500 hPa in January, from -180 and the south, and from 0 and the north."""
    path = SHARED / "sphere/earth/eraint_jan_z500_cc_241x480.npy"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    a = xr.DataArray(np.load(path), dims=("lat", "lon"), name="z", coords={"lat": np.linspace(90, -90, 241), "lon": np.arange(480) * 0.75})
    assert np.array_equal(straight(turned(a).kugel.smooth(3)).transpose("lat", "lon").values, a.kugel.smooth(3).values)
    mean = float((a.astype("f8")**2).weighted(np.cos(np.radians(a.lat))).mean())
    assert abs(float(a.kugel.power().sum()) / mean - 1) < 1e-3
    back = a.kugel.regrid(nside=128).kugel.regrid(like=a)
    assert float(abs(back - a).max()) < 1e-3 * float(abs(a).max())
