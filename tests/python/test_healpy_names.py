# SPDX-License-Identifier: BSD-3-Clause
"""Small functions with healpy's names, against closed forms and direct searches; against healpy where it is installed."""
import sys

import numpy as np
import pytest

import kugel as hp
from kugel import frames, masktools, projection

RNG = np.random.default_rng(11)


def directions(n):
    return RNG.uniform(0, 360, n), np.degrees(np.arcsin(RNG.uniform(-1, 1, n)))


# ---- coordinates


@pytest.mark.parametrize("fk4", [0, 1])
def test_euler(fk4):
    pole, origin = (((192.85948, 27.12825), (266.40500, -28.93617)), ((192.25, 27.4), (265.6108, -28.9168)))[fk4]
    assert hp.rotator.euler(*pole, 1, FK4=fk4)[1] == pytest.approx(90, abs=1e-5)
    lon, lat = hp.rotator.euler(*origin, 1, FK4=fk4)  # of the galaxy: published positions
    assert abs((lon + 180) % 360 - 180) < 1e-4 and abs(lat) < 1e-4
    assert hp.rotator.euler(90, 0, 3, FK4=fk4)[1] == pytest.approx((-23.4392911, -23.4457889)[fk4], abs=1e-12)
    lon, lat = directions(50)
    for select in (1, 3, 5):
        back = hp.rotator.euler(*hp.rotator.euler(lon, lat, select, FK4=fk4), select + 1, FK4=fk4)
        np.testing.assert_allclose(back, (lon, lat), atol=1e-10)
    by_two = hp.rotator.euler(*hp.rotator.euler(lon, lat, 4, FK4=fk4), 1, FK4=fk4)
    np.testing.assert_allclose(hp.rotator.euler(lon, lat, 5, FK4=fk4), by_two, atol=1e-9)
    with pytest.raises(ValueError):
        hp.rotator.euler(0, 0, 7)


@pytest.mark.parametrize("coord", ["GE", "EG", "CG", "GC", "EC", "CE"])
def test_coordsys2euler_zyz(coord):
    alm = hp.synalm(np.ones(9))
    turned = alm.copy()
    hp.rotate_alm(turned, *hp.rotator.coordsys2euler_zyz(coord))
    np.testing.assert_allclose(turned, hp.Rotator(coord=coord).rotate_alm(alm), atol=1e-13)
    assert hp.rotator.coordsys2euler_zyz(coord[0]) == (0, 0, 0)


def test_bare_rotations():
    r = hp.Rotator(rot=(10, 20, 30))
    v = RNG.normal(size=(3, 5))
    np.testing.assert_allclose(hp.rotator.rotateVector(r.mat, v), r(v), atol=1e-15)
    np.testing.assert_allclose(hp.rotator.rotateVector(r.mat, *v), r(v), atol=1e-15)
    np.testing.assert_array_equal(hp.rotator.rotateVector(r.mat, v, do_rot=False), v)
    np.testing.assert_allclose(hp.rotator.rotateDirection(r.mat, *directions(4), lonlat=True).shape, (2, 4))
    np.testing.assert_allclose(hp.rotator.rotateDirection(r.mat, (0.3, 0.4)), r(0.3, 0.4), atol=1e-15)
    np.testing.assert_array_equal(hp.rotator.rotateDirection(r.mat, 0.3, 0.4, do_rot=False), (0.3, 0.4))
    np.testing.assert_allclose(hp.rotator.normalize_vec([3, 0, 4]), [0.6, 0, 0.8])
    np.testing.assert_allclose((hp.rotator.normalize_vec(v) ** 2).sum(axis=0), 1)


def test_latitudes_beyond_the_poles():
    lat = np.array([-300, -260.0, -100, -80, 0, 80, 100, 190, 260, 280, 300])
    folded = [60, 80, -80, -80, 0, 80, 80, -10, -80, -80, -60]
    theta, phi = hp.pixelfunc.lonlat2thetaphi(10 + 0 * lat, lat, latauto=True)
    np.testing.assert_allclose(90 - np.degrees(theta), folded, atol=1e-12)
    np.testing.assert_allclose(phi, np.radians(10))
    # along a meridian through the poles: the same points of the circle
    through = hp.ang2vec(*hp.pixelfunc.lonlat2thetaphi(10 + 0 * lat, lat, latauto=True, latbounce=False))
    lon, lat = np.radians(10), np.radians(lat)
    np.testing.assert_allclose(through, np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)]).T,
                               atol=1e-14)


# ---- masks and extrema


def brute_distance(hole, nside):
    vec = np.array(hp.pix2vec(nside, np.arange(hole.size)))
    chord2 = ((vec[:, :, None] - vec[:, None, hole]) ** 2).sum(axis=0).min(axis=1)
    return 2 * np.arcsin(np.minimum(np.sqrt(chord2) / 2, 1))


@pytest.mark.parametrize("nside", [1, 2, 8, 16])
@pytest.mark.parametrize("share", [0.002, 0.1, 0.5, 0.95])
def test_distance_to_holes(nside, share):
    hole = RNG.random(12 * nside**2) < share
    hole[RNG.integers(hole.size)] = True
    want = brute_distance(hole, nside)
    np.testing.assert_allclose(hp.dist2holes(hole), want, atol=1e-7)
    np.testing.assert_allclose(hp.dist2holes(hole.astype(float), maxdist=0.2), np.minimum(want, 0.2), atol=1e-7)
    np.testing.assert_allclose(hp.dist2holes(np.ma.MaskedArray(np.zeros(hole.size), hole)), want, atol=1e-7)
    np.testing.assert_array_equal(hp.dist2holes(np.zeros(hole.size)), np.pi)
    np.testing.assert_array_equal(hp.dist2holes(np.ones(hole.size)), 0)


def test_small_holes():
    nside = 32
    mask = np.zeros(12 * nside**2, bool)
    sizes = []
    for lon in range(0, 360, 30):
        disc = hp.query_disc(nside, hp.ang2vec(lon, 10, lonlat=True), np.radians(0.5 + lon / 60))
        mask[disc] = True
        sizes.append(disc.size)
    assert mask.sum() == sum(sizes)
    for least in (0, 1, 4, 10, 30, 1000):
        assert masktools.fill_small_holes(mask, min_size=least).sum() == sum(s for s in sizes if s >= least)
    area = hp.nside2pixarea(nside, degrees=True) * 3600
    assert masktools.fill_small_holes(mask, min_area_arcmin2=9.5 * area).sum() == sum(s for s in sizes if s >= 10)
    snake = np.zeros(12 * nside**2)  # one long thin hole, its pixels connected by corners and edges
    snake[hp.ang2pix(nside, np.linspace(0, 1000, 20000), np.linspace(-60, 60, 20000), lonlat=True)] = 1
    assert masktools.fill_small_holes(snake, min_size=int(snake.sum())).sum() == snake.sum()
    assert not masktools.fill_small_holes(snake, min_size=int(snake.sum()) + 1).any()
    assert hp.dist2holes(mask, hole_min_size=1000).min() == np.pi


def test_hotspots():
    nside = 8
    m = RNG.normal(size=768)
    peaks, low, high = hp.hotspots(m)
    for p in range(768):
        around = hp.get_all_neighbours(nside, p)
        around = m[around[around >= 0]]
        assert (p in high) == (m[p] > around.max()) and (p in low) == (m[p] < around.min())
        assert peaks[p] == (m[p] if p in high or p in low else hp.UNSEEN)
    assert not hp.hotspots(np.ones(768))[1].size
    m[high[0]] = hp.UNSEEN
    beside = hp.get_all_neighbours(nside, high[0])
    extrema = np.concatenate(hp.hotspots(m)[1:])
    assert not np.isin(np.r_[high[0], beside[beside >= 0]], extrema).any()


# ---- resolutions and spectra


def test_effective_resolution():
    assert hp.effective_resolution_fwhm(64, arcmin=True) == pytest.approx(160)
    assert hp.effective_resolution_fwhm(256) == pytest.approx(np.radians(40 / 60))


def test_harmonic_ud_grade():
    cl = 1 / np.arange(1.0, 26) ** 2
    alm = hp.synalm([cl, cl, cl, 0 * cl], new=True)
    alm[1:, [0, 1, 25]] = 0  # no E and B below l = 2
    high = hp.alm2map(alm, 32, pixwin=True, fwhm=0.1)
    for out in (8, 16, 64):
        got = hp.harmonic_ud_grade(high, out, lmax=min(24, 3 * out - 1), fwhm_in=0.1, fwhm_out=0.3)
        cut = np.array(hp.resize_alm(alm, 24, 24, min(24, 3 * out - 1), min(24, 3 * out - 1)))
        np.testing.assert_allclose(got, hp.alm2map(cut, out, pixwin=True, fwhm=0.3), atol=1e-10)
    np.testing.assert_allclose(hp.harmonic_ud_grade(high[0], 32, lmax=24), high[0], atol=1e-10)
    one = hp.harmonic_ud_grade(alm[0], 16, nside_in=32, input_type="alm", pixwin=False)
    np.testing.assert_allclose(one, hp.alm2map(alm[0], 16), atol=1e-13)
    by_window = hp.harmonic_ud_grade(high, 16, lmax=24, beam_window_in=hp.gauss_beam(0.1, 40, pol=True), fwhm_out=None)
    by_fwhm = hp.harmonic_ud_grade(high, 16, lmax=24, fwhm_in=0.1, fwhm_out=hp.effective_resolution_fwhm(16))
    np.testing.assert_allclose(by_window, by_fwhm, atol=1e-12)
    assert hp.harmonic_ud_grade(high[:2], 16, pol=False, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="2 sets"):
        hp.harmonic_ud_grade(alm[:2], 16, nside_in=32, input_type="alm")
    with pytest.raises(ValueError, match="1D"):
        hp.harmonic_ud_grade(high, 16, beam_window_in=np.ones(100))
    for wrong in (dict(input_type="x"), dict(input_type="alm"), dict(beam_window_in=np.ones(3)),
                  dict(beam_window_in=np.zeros(100)), dict(fwhm_in=-1), dict(fwhm_out=np.nan)):
        with pytest.raises(ValueError):
            hp.harmonic_ud_grade(high[0], 16, **wrong)


def test_orders_of_spectra():
    alm = [hp.synalm(np.ones(9)) for _ in range(3)]
    old = hp.sphtfunc.new_to_old_spectra_order(hp.alm2cl(alm))
    pairs = [(i, j) for i in range(3) for j in range(i, 3)]
    for cl, (i, j) in zip(old, pairs):
        np.testing.assert_allclose(cl, hp.alm2cl(alm[i], alm[j]), atol=1e-15)
    with pytest.raises(ValueError):
        hp.sphtfunc.new_to_old_spectra_order([1, 2])


def test_spin_0():
    alm = [hp.synalm(np.ones(17)) for _ in range(2)]
    m = hp.alm2map_spin(alm, 8, 0, 16)
    for one, a in zip(m, alm):
        np.testing.assert_array_equal(one, -hp.alm2map(a, 8))
    for back, one in zip(hp.map2alm_spin(m, 0, lmax=16), m):
        np.testing.assert_array_equal(back, -hp.map2alm(one, lmax=16, iter=0))
    with pytest.raises(ValueError):
        hp.alm2map_spin(alm, 8, -1, 16)


def test_small_helpers():
    for value, want in ((np.float32, "E"), (np.zeros(2, np.int16), "I"), (True, "L"), (np.complex64, "C"), (str, "A"),
                        (["a", "abc"], "A3"), (np.uint8(3), "B"), (np.dtype(np.int64), "K")):
        assert hp.fitsfunc.getformat(value) == want
    assert hp.fitsfunc.getformat("ab") == "A2"
    with pytest.raises(ValueError):
        hp.fitsfunc.getformat(np.float16)
    m = hp.ma(np.where(np.arange(12) == 3, hp.UNSEEN, 1.0))
    assert hp.pixelfunc.is_ma(m) and hp.pixelfunc.is_ma([m, m]) and not hp.pixelfunc.is_ma(m.data)
    assert hp.ma_to_array(m)[3] == hp.UNSEEN and not np.ma.isMaskedArray(hp.ma_to_array([m, m]))
    double = hp.pixelfunc.accept_ma(lambda values: np.where(values == hp.UNSEEN, values, 2 * values))
    assert double(m)[3] is np.ma.masked and double(m)[0] == 2 and not np.ma.isMaskedArray(double(m.data))
    assert [hp.get_min_valid_nside(n) for n in (1, 12, 13, 48, 355, 768, 769)] == [1, 1, 2, 2, 8, 8, 16]
    hp.pixelfunc.check_theta_valid([0, np.pi])
    with pytest.raises(ValueError):
        hp.pixelfunc.check_theta_valid(4)
    assert hp.boundaries(4, 1.0).shape == (3, 4)
    with pytest.raises(ValueError):
        hp.boundaries(4, 0.5)


# ---- views


def test_projected_maps():
    m = np.arange(12.0 * 16**2)
    m[500] = hp.UNSEEN
    for view, keys, shape in ((hp.mollview, dict(xsize=101), (50, 101)), (hp.orthview, dict(xsize=80), (40, 80)),
                              (hp.orthview, dict(xsize=80, half_sky=True), (80, 80)),
                              (hp.gnomview, dict(xsize=70, ysize=30, reso=30), (30, 70)),
                              (hp.cartview, dict(xsize=90), (45, 90)),
                              (hp.cartview, dict(xsize=90, lonra=[-20, 70], latra=[-10, 20]), (30, 90))):
        out = view(m, return_projected_map=True, **keys)
        assert isinstance(out, np.ma.MaskedArray) and out.shape == shape
        seen = out.compressed()
        assert np.isin(seen[np.isfinite(seen)], m).all() and hp.UNSEEN not in seen
    moll = hp.mollview(m, return_projected_map=True, xsize=101, rot=(30, 40))
    assert moll[0, 0] == -np.inf
    middle = hp.get_interp_weights(16, 30, 40, lonlat=True)[0]
    assert hp.mollview(m, return_projected_map=True, xsize=401, rot=(30, 40))[100, 200] in m[middle]
    # areas are kept: the share of the picture's ellipse is the share of the sky
    cap = (hp.pix2vec(16, np.arange(m.size))[2] > 0.5).astype(float)
    plane = hp.mollview(cap, return_projected_map=True, xsize=801)
    assert plane[np.isfinite(plane)].mean() == pytest.approx(cap.mean(), abs=2e-3)
    geo, astro = (hp.cartview(m, return_projected_map=True, xsize=90, flip=f) for f in ("geo", "astro"))
    np.testing.assert_array_equal(geo[1:-1, 1:-1], astro[1:-1, -2:0:-1])


def test_projected_maps_are_healpys():
    healpy = pytest.importorskip("healpy")
    pytest.importorskip("matplotlib").use("Agg")
    m = np.arange(12.0 * 16**2)
    for keys in ({}, dict(rot=(30, 40, 50)), dict(rot=(10, -20), coord=["G", "E"], flip="geo")):
        for name, more in (("mollview", dict(xsize=201)), ("orthview", dict(xsize=100)),
                           ("gnomview", dict(xsize=120, ysize=80, reso=40)),
                           ("cartview", dict(xsize=120, lonra=[-30, 60], latra=[-10, 30]))):
            want = getattr(healpy, name)(m, return_projected_map=True, **keys, **more)
            np.testing.assert_array_equal(getattr(hp, name)(m, return_projected_map=True, **keys, **more), want)
    import matplotlib.pyplot

    matplotlib.pyplot.close("all")


def test_colour_maps_of_others():
    m = np.arange(12.0 * 16**2)

    def red_to_green(x):
        return np.stack([1 - x, x, 0 * x], axis=-1)

    def colours(picture):
        return np.asarray(picture)[..., :3].reshape(-1, 3).astype(int)

    drawn = colours(hp.mollview(m, cmap=red_to_green, cbar=False, title="", xsize=200))
    coloured = drawn[(drawn.max(axis=1) - drawn.min(axis=1)) > 60]
    assert len(coloured) > 5000 and (coloured[:, 2] < 120).all()
    np.testing.assert_array_equal(colours(hp.mollview(m, cmap="viridis")), colours(hp.mollview(m, cmap="viridis")))
    for wrong, error in ((3, TypeError), (lambda x: x, TypeError), ("no such map", ValueError)):
        with pytest.raises(error):
            hp.mollview(m, cmap=wrong)
    matplotlib = pytest.importorskip("matplotlib")
    by_name, by_object = (colours(hp.mollview(m, cmap=c)) for c in ("RdBu_r", matplotlib.colormaps["RdBu_r"]))
    np.testing.assert_array_equal(by_name, by_object)
    close = np.abs(colours(hp.mollview(m, cmap="magma", cbar=False)) -
                   colours(hp.mollview(m, cmap=matplotlib.colormaps["magma"], cbar=False)))
    assert (close.max(axis=1) > 6).mean() < 0.01  # the same map, Kugel's by fewer knots; its outline fits the colours below
    hp.mollview(m, badcolor="C0")


def test_keywords_of_views():
    m = np.arange(12.0)
    for view in (hp.mollview, hp.orthview, hp.gnomview, hp.cartview):
        with pytest.raises(TypeError, match="spam"):
            view(m, spam=3)
        if "matplotlib.pyplot" not in sys.modules:
            with pytest.raises(NotImplementedError, match="alpha"):
                view(m, alpha=np.full(12, 0.5))
        small, large = (np.asarray(view(m, fontsize=f, title="T")) for f in (8, {"title": 20, "cbar_label": 3}))
        assert small.shape != large.shape or (small != large).any()
        view(m, graticule=0.5, percentile=0.01, alpha=np.ones(12))
        for wrong in (dict(fontsize="big"), dict(fontsize=-3)):
            with pytest.raises(TypeError):
                view(m, **wrong)
    with pytest.raises(TypeError, match="spam"):
        hp.plot_cl(np.ones(9), spam=1)


def test_directions_of_projections():
    for vec, inside in (projection.mollweide(41, -1), projection.orthographic(40, 1), projection.gnomonic(9, 7, 60, -1),
                        projection.cartesian(20, None, None, None, 1)):
        np.testing.assert_allclose((vec[:, inside] ** 2).sum(axis=0), 1, atol=1e-14)
    assert frames.euler is hp.rotator.euler
