# SPDX-License-Identifier: BSD-3-Clause
"""Projections, and what is drawn over views: closed forms, round trips, healpy's numbers where it is installed."""
import warnings

import numpy as np
import pytest

import kugel as hp
from kugel import projector

RNG = np.random.default_rng(5)
PROJECTIONS = [projector.MollweideProj(rot=(30, 40, 20)), projector.OrthographicProj(rot=(200, -10)),
               projector.OrthographicProj(half_sky=True), projector.GnomonicProj(rot=(10, 80), xsize=100, reso=20),
               projector.AzimuthalProj(rot=(1, 2), xsize=90, reso=60), projector.AzimuthalProj(lamb=True, xsize=90, reso=60, half_sky=True),
               projector.CartesianProj(rot=(5, 6), lonra=[-50, 30], latra=[-20, 70])]


@pytest.mark.parametrize("proj", PROJECTIONS, ids=lambda p: p.name)
@pytest.mark.parametrize("flip", ["astro", "geo"])
def test_there_and_back(proj, flip):
    proj.set_flip(flip)
    x0, x1, y0, y1 = proj.get_extent()
    x, y = RNG.uniform(x0, x1, 300), RNG.uniform(y0, y1, 300)
    v = proj.xy2vec(x, y)
    inside = np.isfinite(v[0])
    assert inside.sum() > 100
    np.testing.assert_allclose((v[:, inside] ** 2).sum(axis=0), 1)
    np.testing.assert_allclose(proj.vec2xy(v[:, inside]), (x[inside], y[inside]), atol=2e-7 * (x1 - x0))
    theta, phi = proj.xy2ang(x[inside], y[inside])
    np.testing.assert_allclose(proj.ang2xy(theta, phi), (x[inside], y[inside]), atol=2e-7 * (x1 - x0))
    i, j = proj.xy2ij(*proj.ij2xy())
    assert (i == np.arange(i.shape[0])[:, None]).all() and (j == np.arange(i.shape[1])).all()


def test_closed_forms():
    moll = projector.MollweideProj()
    np.testing.assert_allclose(moll.ang2xy(0, 90, lonlat=True), (0, 1), atol=1e-7)
    np.testing.assert_allclose(moll.ang2xy(90, 0, lonlat=True), (-1, 0), atol=1e-14)  # east is left
    lat = np.degrees(np.arcsin((2 * 0.7 + np.sin(1.4)) / np.pi))  # of the parametric angle 0.7
    np.testing.assert_allclose(moll.ang2xy(90, lat, lonlat=True), (-np.cos(0.7), np.sin(0.7)), atol=1e-12)
    gnom = projector.GnomonicProj(rot=(20, 0))
    np.testing.assert_allclose(gnom.ang2xy(30, 0, lonlat=True), (-np.tan(np.radians(10)), 0), atol=1e-14)
    assert np.isnan(gnom.ang2xy(200, 0, lonlat=True)).all()
    np.testing.assert_allclose(projector.AzimuthalProj().ang2xy(0, 50, lonlat=True), (0, np.radians(50)), atol=1e-14)
    np.testing.assert_allclose(projector.AzimuthalProj(lamb=True).ang2xy(0, 50, lonlat=True), (0, 2 * np.sin(np.radians(25))), atol=1e-14)
    np.testing.assert_allclose(projector.MollweideProj(rot=(30, 40)).get_center(lonlat=True), (30, 40), atol=1e-12)


def test_maps_on_planes_are_those_of_views():
    m = RNG.normal(size=12 * 16 ** 2)
    pixels = lambda x, y, z: hp.vec2pix(16, x, y, z)
    for proj, view, words in ((projector.MollweideProj(rot=(3, 4, 5), xsize=90), hp.mollview, dict(xsize=90)),
                              (projector.GnomonicProj(rot=(3, 4, 5), xsize=30, reso=40), hp.gnomview, dict(xsize=30, reso=40))):
        mine, other = proj.projmap(m, pixels), view(m, rot=(3, 4, 5), return_projected_map=True, **words)
        np.testing.assert_array_equal(np.ma.filled(mine, 9), np.ma.filled(other, 9))


def test_as_healpy():
    theirs = pytest.importorskip("healpy.projector")
    theta, phi = np.arccos(RNG.uniform(-1, 1, 50)), RNG.uniform(0, 6.28, 50)
    for name, words in (("MollweideProj", {}), ("OrthographicProj", {}), ("GnomonicProj", {}), ("AzimuthalProj", dict(lamb=True))):
        a, b = getattr(projector, name)(rot=(20, 30), **words), getattr(theirs, name)(rot=(20, 30), **words)
        np.testing.assert_allclose(a.ang2xy(theta, phi), b.ang2xy(theta, phi), atol=1e-4)  # their Mollweide stops at 5e-5


@pytest.fixture
def pyplot():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


def test_without_a_view(pyplot):
    for call in (hp.graticule, lambda: hp.projplot(0, 0), lambda: hp.projtext(0, 0, "x"), hp.delgraticules):
        with pytest.raises(ValueError, match="no view to draw on"):
            call()


def test_overlays(pyplot):
    m = np.arange(192.0)
    hp.mollview(m, coord="G", min=10, max=100, cmap="RdBu_r", unit="K")
    axes = pyplot.gca()
    shown = axes.images[0].get_array()
    assert shown.min() == 10 and shown.max() == 100  # clipped, not left out
    lon, lat = axes.get_lonlat(*axes.proj.ij2xy(250, 500))
    assert axes.get_value(*axes.proj.ij2xy(250, 500)) == m[hp.ang2pix(4, lon, lat, lonlat=True)]
    (line,) = hp.projplot([170, 190], [0, 0], "r-", lonlat=True)
    assert np.isnan(line.get_xdata()).sum() == 1, "a line across the edge is broken"
    points = hp.projscatter([0, 90], [0, 0], lonlat=True, coord="C")
    want = axes.proj.vec2xy(np.asarray(hp.Rotator(coord="CG")(hp.dir2vec([0, 90], [0, 0], lonlat=True))))
    np.testing.assert_allclose(points.get_offsets().T, want, atol=1e-12)
    assert hp.projtext(0, 90, "pole", lonlat=True).get_position() == pytest.approx((0, 1), abs=1e-7)
    n = len(axes.lines)
    lines = hp.graticule(dpar=30, dmer=90)
    assert len(lines) == 5 + 4 and len(axes.lines) == n + 9
    hp.delgraticules()
    assert len(axes.lines) == n


def test_places(pyplot):
    m = np.arange(192.0)
    figure = pyplot.figure()
    for i, view in enumerate((hp.mollview, hp.gnomview, hp.orthview, hp.azeqview)):
        view(m, fig=figure, sub=(2, 2, i + 1), cbar=False)
    assert len(figure.axes) == 4 and pyplot.get_fignums() == [figure.number]
    hp.mollview(m, hold=True, cbar=False)
    assert len(figure.axes) == 4 and figure.axes[-1].name == "rectilinear"
    hp.mollview(m, reuse_axes=True)
    assert len(figure.axes) == 4
    assert hp.azeqview(m, return_projected_map=True, xsize=20, reso=60).shape == (20, 20)
    tool = hp.mollzoom(m)
    tool.draw_gnom(30, 40)
    np.testing.assert_allclose(tool.axes.proj.get_center(lonlat=True), (30, 40), atol=1e-10)
    tool.disconnect_callbacks()


def test_projview(pyplot):
    m = np.arange(192.0)
    for kind in ("mollweide", "hammer", "aitoff", "lambert", "cart", "polar", "3d"):
        hp.projview(m, projection_type=kind, graticule=True, graticule_labels=True)
    lon, lat, values = hp.projview(m, return_only_data=True, xsize=100)
    assert values.shape == (50, 100) and values[25, 49] == m[hp.ang2pix(4, -np.degrees(lon[49]), np.degrees(lat[25]), lonlat=True)]
    with pytest.raises(NotImplementedError, match="allowed are mollweide"):
        hp.projview(m, projection_type="sinusoidal")


def test_figure_that_exists(pyplot):
    """A view drawn into the caller's figure keeps its size, without a warning."""
    mine = pyplot.figure(figsize=(4, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hp.azeqview(np.arange(48.0), fig=mine.number)
    assert pyplot.gcf() is mine and tuple(mine.get_size_inches()) == (4, 3)
    pyplot.close(mine)


@pytest.mark.parametrize("view", ["mollview", "gnomview", "cartview", "orthview"])
def test_norms_of_matplotlib(view):
    """A norm that the library has, with its own ends, draws as the name does; others put the colours where they say."""
    colors = pytest.importorskip("matplotlib.colors")
    m, words = np.linspace(0.01, 100, 768), dict(xsize=120, title="")

    def drawn(m, **more):
        return np.asarray(getattr(hp, view)(m, **words, **more))
    assert np.array_equal(drawn(m, norm=colors.LogNorm(0.1, 10)), drawn(m, norm="log", min=0.1, max=10))
    power = drawn(m, norm=colors.PowerNorm(0.5), min=0.01, max=100)
    assert np.array_equal(power, drawn(((m - 0.01) / 99.99) ** 0.5, min=0, max=1, cbar=False))
