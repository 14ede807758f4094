# SPDX-License-Identifier: BSD-3-Clause
"""kugel.healpix and kugel.astropy_healpix: numbers of the packages healpix 2025.1 and astropy-healpix 2.0.1, places inside pixels against
corners and children, and bad input."""
import subprocess
import sys

import numpy as np
import pytest

import kugel
from kugel import healpix, insides

SIZES = (1, 2, 3, 4, 15, 64, 1000, 1 << 20)


def vectors(theta, phi):
    return np.array(kugel.ang2vec(np.ravel(theta), np.ravel(phi)))


def some_pixels(nside, rng):
    npix = 12 * nside * nside
    return np.unique(np.concatenate([np.arange(min(npix, 8)), npix - 1 - np.arange(min(npix, 8)), rng.integers(0, npix, 500)]))


@pytest.mark.parametrize("nside", SIZES)
def test_corners_are_boundaries(nside):
    pixels = some_pixels(nside, np.random.default_rng(nside))
    corners = np.swapaxes(kugel.boundaries(nside, pixels, 2), -1, -2)  # N, NW, W, SW, S, SE, E, NE
    for k, (dx, dy) in enumerate([(1, 1), (.5, 1), (0, 1), (0, .5), (0, 0), (.5, 0), (1, 0), (1, .5)]):
        found = vectors(*insides.inside2ang(nside, pixels, dx, dy))
        assert abs(found - corners[:, k]).max() < 4e-15
    centre = kugel.pix2ang(nside, pixels)
    assert np.allclose(insides.inside2ang(nside, pixels, .5, .5), centre, rtol=0, atol=2e-15)


@pytest.mark.parametrize("nside", [1, 4, 1 << 12, 1 << 28])
def test_children_lie_at_quarters(nside):
    pixels = some_pixels(nside, np.random.default_rng(2))
    for child in range(4):
        theta, phi = kugel.pix2ang(2 * nside, 4 * pixels + child, nest=True)
        found = insides.inside2ang(nside, pixels, .25 + .5 * (child & 1), .25 + .5 * (child >> 1), nest=True)
        assert abs(vectors(*found) - vectors(theta, phi)).max() < 1e-15
        pixel, dx, dy = insides.ang2inside(nside, theta, phi, nest=True)
        assert np.array_equal(pixel, pixels)
        assert max(abs(dx - .25 - .5 * (child & 1)).max(), abs(dy - .25 - .5 * (child >> 1)).max()) < 1e-15 * nside + 4e-15


@pytest.mark.parametrize("nside", SIZES)
@pytest.mark.parametrize("nest", [False, True])
def test_there_and_back(nside, nest):
    if nest and nside & (nside - 1):
        pytest.skip("NEST needs a power of two")
    rng = np.random.default_rng(3)
    pixels = some_pixels(nside, rng)
    u, v = rng.random((2, pixels.size))
    for back in (insides.ang2inside(nside, *insides.inside2ang(nside, pixels, u, v, nest), nest),
                 insides.vec2inside(nside, *healpix.ang2vec(*insides.inside2ang(nside, pixels, u, v, nest)), nest)):
        assert np.array_equal(back[0], pixels)
        assert max(abs(back[1] - u).max(), abs(back[2] - v).max()) < 4e-15 * nside + 4e-15


def test_poles_and_scalars():
    theta, phi = insides.inside2ang(4, 0, 1., 1.)
    assert theta == 0 and phi == np.pi / 4 and np.ndim(theta) == 0
    assert insides.inside2ang(4, 191, 0., 0.)[0] == np.pi
    pixel, dx, dy = insides.ang2inside(4, 0., 1.)
    assert (pixel, dx, dy) == (0, 1, 1)


def test_random_places():
    theta, phi = healpix.randang(4, np.array([0, 50, 191]), rng=np.random.default_rng(1))
    assert np.allclose(theta, [0.11018661389617791, 0.9959380430220087, 3.0256901837828982], rtol=1e-14)
    assert np.allclose(phi, [0.14950312319752107, 4.052385964930178, 5.11142149486959], rtol=1e-14)
    lon, lat = healpix.randang(4, np.array([0, 50, 191]), lonlat=True, rng=np.random.default_rng(1))
    assert np.allclose(lon, np.degrees(phi)) and np.allclose(lat, 90 - np.degrees(theta))
    vec = healpix.randvec(8, np.array([0, 300]), nest=True, rng=np.random.default_rng(2))
    assert np.allclose(vec, [[0.7414123443747773, 0.9309569332836882], [0.6650338692017473, -0.3636766863210808],
                             [0.08965315623696637, 0.03253392379576839]], rtol=1e-13)
    assert np.shape(healpix.randang(4, 7)[0]) == () and np.shape(healpix.randang(4, [[1], [2]])[1]) == (2, 1)
    # Uniform over the area of a pixel at the edge of a cap: as many in the children of the children.
    child = kugel.ang2pix(64, *healpix.randang(4, np.full(160000, 5), rng=np.random.default_rng(3)), nest=True)
    counts = np.unique(child, return_counts=True)[1]
    assert counts.size == 256 and ((counts - 625)**2 / 625).sum() < 256 + 5 * np.sqrt(2 * 256)


def test_sizes_and_uniq():
    assert [healpix.npix2nside(n) for n in (7, 49, 192, -12)] == [-1, -1, 4, -1]
    assert [healpix.nside2order(n) for n in (-1, 3, 8, 1 << 29)] == [-1, -1, 3, 29]
    assert [healpix.order2nside(n) for n in (-1, 3, 30)] == [-1, 8, -1]
    assert np.array_equal(healpix.order2nside([0, 29]), [1, 1 << 29]) and healpix.nside2npix(4) == 192
    order = np.arange(30)
    last = 12 * 4**order - 1
    for nest in (False, True):
        uniq = healpix.pix2uniq(order, last, nest)
        back = healpix.uniq2pix(uniq, nest)
        assert np.array_equal(back[0], order) and np.array_equal(back[1], last)
    assert healpix.pix2uniq(2, 100, True) == 164 and healpix.pix2uniq(2, 100) == 64 + kugel.ring2nest(4, 100)


def test_angles_and_orders():
    x, y, z = np.random.default_rng(4).standard_normal((3, 2, 5))
    theta, phi = healpix.vec2ang(x, y, z)
    assert np.allclose(phi, np.arctan2(y, x)) and np.allclose(np.cos(theta), z / np.sqrt(x * x + y * y + z * z))
    lon, lat = healpix.vec2ang(x, y, z, lonlat=True)
    assert np.allclose(healpix.ang2vec(lon, lat, lonlat=True), healpix.ang2vec(theta, phi))
    pixels = np.arange(192)
    for name in ("nest", "ring"):
        get = {part: getattr(healpix, part) for part in (f"ang2{name}", f"{name}2ang", f"vec2{name}", f"{name}2vec", f"{name}2ang_uv", f"{name}2vec_uv",
                                                         f"ang2{name}_uv", f"vec2{name}_uv")}
        assert np.array_equal(get[f"ang2{name}"](4, *get[f"{name}2ang"](4, pixels)), pixels)
        assert np.array_equal(get[f"vec2{name}"](4, *get[f"{name}2vec"](4, pixels)), pixels)
        for way in ("ang", "vec"):
            pixel, u, v = get[f"{way}2{name}_uv"](4, *get[f"{name}2{way}_uv"](4, pixels, .3, .8))
            assert np.array_equal(pixel, pixels) and np.allclose(u, .3) and np.allclose(v, .8)


def test_bad_pixels_and_nside():
    for call in (lambda: healpix.check_nside(0), lambda: healpix.check_nside(3, True), lambda: healpix.ang2pix(1 << 30, 1., 1.),
                 lambda: healpix.pix2ang(4, 192), lambda: healpix.nest2ang_uv(4, -1, .5, .5), lambda: healpix.uniq2pix(3),
                 lambda: healpix.nest2uniq(30, 0), lambda: healpix.ang2pix(4, 4., 1.)):
        with pytest.raises(ValueError):
            call()


# ---- astropy-healpix -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ap():
    pytest.importorskip("astropy")
    from kugel import astropy_healpix
    return astropy_healpix


def test_numbers_of_astropy_healpix(ap):
    u = pytest.importorskip("astropy.units")
    lon, lat = ap.healpix_to_lonlat(5, 8, dx=.2, dy=.9)
    assert np.allclose([lon.rad, lat.rad], [0.9094083997233611, 1.37657325777062], rtol=1e-14)
    assert np.allclose(ap.lonlat_to_healpix(33 * u.deg, -72 * u.deg, 64, return_offsets=True),
                       (47960, 0.9920656914602919, 0.531749830704138), rtol=1e-11)
    lon, lat = ap.boundaries_lonlat([7], 2, 4)
    assert np.allclose(lon.rad, [[np.pi, 2.617993877991494, 2.356194490192345, 2.5132741228718345, 2.617993877991494, 2.827433388230814, np.pi, np.pi]])
    assert np.allclose(lat.rad, [[1.3663161278263618, 1.2634012757103932, 1.1596584644725487, 1.054779939439576, 0.9484278382398758, 1.054779939439576,
                                  1.1596584644725487, 1.2634012757103932]])
    pixels, weights = ap.bilinear_interpolation_weights(200 * u.deg, -80 * u.deg, 8, order="nested")
    assert np.array_equal(pixels, [642, 577, 640, 576])
    assert np.allclose(weights, [0.6681672836253916, 0.0393039578603167, 0.21127077003809963, 0.08125798847619209])
    assert np.allclose(ap.xyz_to_healpix(.1, -.2, .3, 16, return_offsets=True), (303, 0.3036632480324606, 0.3581805431260321), rtol=1e-12)
    assert len(ap.healpix_cone_search(10 * u.deg, 20 * u.deg, 1 * u.deg, nside=256)) == 80
    assert ap.pixel_resolution_to_nside(13 * u.arcmin) == 256 and ap.pixel_resolution_to_nside(13 * u.arcmin, round="up") == 512
    assert np.isclose(ap.nside_to_pixel_resolution(256).value, 13.741945647269624) and ap.nside_to_pixel_area(256).unit == u.sr
    assert ap.uniq_to_level_ipix(3) == (-1, -1) and ap.uniq_to_level_ipix(ap.level_ipix_to_uniq(29, 12 * 4**29 - 1)) == (29, 12 * 4**29 - 1)


def test_what_is_not_there(ap):
    """NaN or -1 with NumPy's warning, only where the input is bad; and sentences."""
    u = pytest.importorskip("astropy.units")
    nan = [1, np.nan, 3] * u.deg
    with pytest.warns(RuntimeWarning, match="invalid value encountered in lonlat_to_healpix"):
        pixels, dx, dy = ap.lonlat_to_healpix(nan, [1, 2, 3] * u.deg, 8, return_offsets=True)
    assert pixels[1] == -1 and np.array_equal(pixels[[0, 2]], ap.lonlat_to_healpix([1, 3] * u.deg, [1, 3] * u.deg, 8)) and np.isnan([dx[1], dy[1]]).all()
    with pytest.warns(RuntimeWarning, match="invalid value encountered in healpix_to_lonlat"):
        lon, lat = ap.healpix_to_lonlat([-1, 192, 5], 4)
    assert np.isnan(lon[:2]).all() and lon[2] == ap.healpix_to_lonlat(5, 4)[0] and np.isnan(lat[0])
    with np.errstate(invalid="ignore"):
        assert np.array_equal(ap.neighbours([192, 7], 4)[:, 0], [-1] * 8) and ap.nested_to_ring(-5, 4) == -1
        assert ap.xyz_to_healpix(0, 0, 0, 4) == -1 and ap.xyz_to_healpix(np.inf, 0, 0, 4) == -1
        value = ap.interpolate_bilinear_lonlat(nan, [0, 0, 0] * u.deg, np.ones(192))
    assert np.isnan(value[1]) and value[0] == 1
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        ap.ring_to_nested(192, 4)
    assert ap.lonlat_to_healpix(10 * u.deg, 100 * u.deg, 64) == ap.lonlat_to_healpix(190 * u.deg, 80 * u.deg, 64)
    for call, sentence in ((lambda: ap.nside_to_npix(15), "power of two"), (lambda: ap.npix_to_nside(7), "divisible by 12"),
                           (lambda: ap.HEALPix(4, "banana"), "nested"), (lambda: ap.HEALPix(4, frame="nowhere"), "nowhere"), (lambda: ap.HEALPix(), "nside"),
                           (lambda: ap.healpix_to_lonlat(1, 4, dx=1.5), "dx must be"), (lambda: ap.level_ipix_to_uniq(1, 49), "npix"),
                           (lambda: ap.boundaries_lonlat([1], 0, 4), "step"), (lambda: ap.pixel_resolution_to_nside(1 * u.deg, round="x"), "'x'")):
        with pytest.raises(ValueError, match=sentence):
            call()


@pytest.mark.parametrize("order", ["ring", "nested"])
def test_class_with_a_frame(ap, order):
    from astropy.coordinates import SkyCoord
    u = pytest.importorskip("astropy.units")
    hp = ap.HEALPix(64, order, "galactic")
    assert (hp.npix, hp.level, hp.order) == (49152, 6, order)
    pixels = np.arange(0, hp.npix, 97)
    sky = hp.healpix_to_skycoord(pixels, dx=.3, dy=.6).icrs
    found, dx, dy = hp.skycoord_to_healpix(sky, return_offsets=True)
    assert np.array_equal(found, pixels) and np.allclose(dx, .3, atol=1e-9) and np.allclose(dy, .6, atol=1e-9)
    assert np.array_equal(hp.xyz_to_healpix(*hp.healpix_to_xyz(pixels)), pixels)
    assert np.array_equal(hp.nested_to_ring(hp.ring_to_nested(pixels)), pixels)
    m31 = SkyCoord(10.68, 41.27, unit="deg")
    around = hp.cone_search_skycoord(m31, 2 * u.deg)
    assert np.array_equal(around, kugel.query_disc(64, kugel.units.vector(m31.galactic), np.radians(2), inclusive=True, nest=order == "nested"))
    values = np.asarray(hp.healpix_to_lonlat(np.arange(hp.npix))[1].deg)
    assert abs(hp.interpolate_bilinear_skycoord(m31, values) - m31.galactic.b.deg) < 0.1
    assert hp.boundaries_skycoord([5, 6], 3).shape == (2, 12) and hp.neighbours([[1, 2, 3]]).shape == (8, 1, 3)
    with pytest.raises(ap.NoFrameError, match="lonlat_to_healpix"):
        ap.HEALPix(64).skycoord_to_healpix(m31)
    assert hp.healpix_to_lonlat.__doc__ and ap.HEALPix.boundaries_skycoord.__doc__


def test_from_header(ap, tmp_path):
    kugel.write_map(str(tmp_path / "m.fits"), np.arange(192.), nest=True, coord="G", overwrite=True)
    hp = ap.HEALPix.from_header(str(tmp_path / "m.fits"))
    assert (hp.nside, hp.order, hp.frame.name) == (4, "nested", "galactic")
    assert ap.HEALPix.from_header((np.zeros(48), "icrs"), nested=True).order == "nested"
    with pytest.raises(TypeError, match="tuple"):
        ap.HEALPix.from_header(np.zeros(48))


def test_without_astropy():
    program = ("import sys; sys.modules['astropy'] = None; import kugel\n"
               "try:\n    kugel.astropy_healpix\nexcept ImportError as e:\n    print(e)\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'kugel[astropy]'" in done.stdout
