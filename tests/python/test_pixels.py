# SPDX-License-Identifier: BSD-3-Clause
"""Pixel functions: identical to HEALPix."""
import numpy as np
import pytest

import kugel as hp


def fnv(values):
    h = 0xcbf29ce484222325
    for word in np.asarray(values).ravel().tolist():
        h = ((h ^ (word & 0xffffffffffffffff)) * 0x100000001b3) & 0xffffffffffffffff
    return f"{h:016x}"


def test_ang2pix(golden):
    t = golden.csv("pix/ang2pix")
    nside = t["nside"].astype(np.int64)
    ring, nest = t["pix_ring"].astype(np.int64), t["pix_nest"].astype(np.int64)
    exact = np.array([line.split(",")[3:5] for line in golden.path("golden/pix/ang2pix.csv").read_text().split()[1:]],
                     np.int64)
    ring, nest = exact[:, 0], exact[:, 1]
    np.testing.assert_array_equal(hp.ang2pix(nside, t["theta"], t["phi"]), ring)
    two = nest >= 0
    np.testing.assert_array_equal(hp.ang2pix(nside[two], t["theta"][two], t["phi"][two], nest=True), nest[two])
    theta, phi = hp.pix2ang(nside, ring)
    np.testing.assert_allclose(theta, t["theta_centre"], atol=1e-14)
    np.testing.assert_allclose(phi, t["phi_centre"], atol=1e-14)
    np.testing.assert_array_equal(hp.vec2pix(nside, *hp.pix2vec(nside, ring)), ring)
    np.testing.assert_array_equal(hp.ring2nest(nside[two], ring[two]), nest[two])
    lon, lat = hp.pix2ang(nside, ring, lonlat=True)
    np.testing.assert_array_equal(hp.ang2pix(nside, lon, lat, lonlat=True), ring)


def test_tables(golden):
    for nside, expected in golden.json("pix/hashes").items():
        nside = int(nside)
        pix = np.arange(hp.nside2npix(nside))
        if "nest2ring" in expected:
            assert fnv(hp.nest2ring(nside, pix)) == expected["nest2ring"]
            assert fnv(hp.ring2nest(nside, pix)) == expected["ring2nest"]
        if "neighbours_ring" in expected:
            assert fnv(hp.get_all_neighbours(nside, pix)) == expected["neighbours_ring"]
        if "xyf_from_nest" in expected:
            assert fnv(hp.pix2xyf(nside, pix, nest=True)) == expected["xyf_from_nest"]
    np.testing.assert_array_equal(hp.get_all_neighbours(4, np.arange(192), nest=True),
                                  golden.npy("pix/neighbours_nest_ns4"))


def test_rings_and_scalars(golden):
    t = np.genfromtxt(golden.path("golden/pix/ringinfo.csv"), delimiter=",", names=True, dtype=None, encoding=None)
    for nside in np.unique(t["nside"]):
        rows = t[t["nside"] == nside]
        start, count, cosine, sine, shifted = hp.ringinfo(int(nside), rows["ring"])
        np.testing.assert_array_equal(start, rows["startpix"])
        np.testing.assert_array_equal(count, rows["ringpix"])
        np.testing.assert_allclose(cosine, rows["costheta"], atol=1e-15)
        np.testing.assert_allclose(sine, rows["sintheta"], atol=1e-15)
        np.testing.assert_array_equal(shifted, rows["shifted"])
    for row in golden.csv("pix/scalars"):
        nside = int(row["nside"])
        assert hp.nside2resol(nside) == pytest.approx(row["resol_rad"], rel=1e-15)
        assert hp.nside2pixarea(nside) == pytest.approx(row["pixarea_sr"], rel=1e-15)
        assert hp.max_pixrad(nside) == pytest.approx(row["max_pixrad_rad"], rel=1e-14)
    np.testing.assert_array_equal(hp.pix2ring(4, [0, 3, 4, 191]), [1, 1, 2, 15])


def test_boundaries(golden):
    t = golden.csv("pix/boundaries")
    for nside, pix, step in {(int(r["nside"]), int(r["pix_ring"]), int(r["step"])) for r in t}:
        rows = t[(t["nside"] == nside) & (t["pix_ring"] == pix) & (t["step"] == step)]
        np.testing.assert_allclose(hp.boundaries(nside, pix, step), [rows["x"], rows["y"], rows["z"]], atol=1e-14)
    assert hp.boundaries(4, [1, 2], 3).shape == (2, 3, 12)


def test_queries(golden):
    for case in golden.json("pix/query_disc"):
        vec = hp.ang2vec(case["theta"], case["phi"])
        found = hp.query_disc(case["nside"], vec, np.radians(case["radius_deg"]), inclusive=case["inclusive"],
                              fact=case["fact"], nest=case["nest"])
        if not case["inclusive"]:
            assert fnv(found) == case["fnv"]
        elif case["pixels"]:  # exact overlap: what HEALPix finds and nothing more, and all centres within
            assert set(found) <= set(case["pixels"])
            inner = hp.query_disc(case["nside"], vec, np.radians(case["radius_deg"]), nest=case["nest"])
            assert set(inner) <= set(found)
    for case in golden.json("pix/query_strip"):
        found = hp.query_strip(case["nside"], case["theta1"], case["theta2"], inclusive=case["inclusive"])
        assert (len(found), found[0], found[-1]) == (case["n"], case["first"], case["last"])
    for case in golden.json("pix/query_polygon"):
        vertices = hp.ang2vec(case["theta"], case["phi"])
        found = hp.query_polygon(case["nside"], vertices, inclusive=case["inclusive"])
        if not case["inclusive"]:
            assert fnv(found) == case["fnv"]
            nest = hp.query_polygon(case["nside"], vertices, nest=True)
            np.testing.assert_array_equal(nest, np.sort(hp.ring2nest(case["nside"], found)))
        ranges = hp.query_polygon(case["nside"], vertices, inclusive=case["inclusive"], return_ranges=True)
        np.testing.assert_array_equal(np.concatenate([np.arange(a, b) for a, b in ranges]), found)
    buff = np.empty(100, np.int64)
    found = hp.query_disc(32, [1, 0, 0], 0.05, buff=buff)
    assert np.shares_memory(found, buff)
    assert len(hp.query_disc(4, [0, 0, 1], 0.001)) == 0


def test_flat_layouts():
    nside = 8
    m = np.arange(12 * nside**2)
    x, y, face = hp.pix2xyf(nside, m)
    flat = hp.reorder(m, "RING", "FLAT_S").reshape(12, nside, nside)
    np.testing.assert_array_equal(flat[face, y, x], m)
    np.testing.assert_array_equal(hp.reorder(m, "RING", "FLAT_S_CLOCKWISE").reshape(flat.shape), flat.swapaxes(1, 2))
    np.testing.assert_array_equal(hp.reorder(m, "RING", "FLAT_N").reshape(flat.shape), flat[:, ::-1, ::-1])
    north_first = hp.reorder(m, "RING", "FLAT_E").reshape(flat.shape)
    np.testing.assert_array_equal(north_first, np.rot90(flat, -1, (1, 2))[:, ::-1, ::-1])
    assert hp.pix2xyf(nside, int(north_first[5, 0, 0])) == (nside - 1, 0, 5)
    np.testing.assert_array_equal(hp.reorder(hp.reorder(m, "NEST", "FLAT_W_CLOCKWISE"), "FLAT_W_CLOCKWISE", "NEST"), m)
    odd = np.arange(12 * 25)
    np.testing.assert_array_equal(hp.reorder(hp.reorder(odd, "RING", "FLAT_W"), "FLAT_W", "RING"), odd)
    with pytest.raises(ValueError, match="FLAT_S"):
        hp.reorder(m, "RING", "FLAT_X")


def test_uniq():
    assert hp.nest2uniq(1, 0) == 4 and hp.nest2uniq([1, 2], [11, 47]).tolist() == [15, 63]
    assert [int(v) for v in hp.uniq2nest(1 << 60)] == [1 << 29, 0]
    nside, pix = hp.uniq2nest(np.arange(4, 1024))
    np.testing.assert_array_equal(hp.nest2uniq(nside, pix), np.arange(4, 1024))
    ranges = hp.query_disc(64, [1, 2, 3], 0.7, nest=True, return_ranges=True)
    cells = hp.ranges2uniq(64, ranges)
    np.testing.assert_array_equal(hp.uniq2ranges(64, cells[::-1]), ranges)
    assert len(cells) < 0.2 * np.diff(ranges).sum() and hp.ranges2uniq(8, [[0, 768]]).tolist() == list(range(4, 16))
    assert hp.uniq2ranges(8, []).shape == (0, 2) and hp.ranges2uniq(8, []).shape == (0,)
    for bad in (lambda: hp.uniq2nest(3), lambda: hp.nest2uniq(3, 0), lambda: hp.ranges2uniq(8, [[5, 4]])):
        with pytest.raises(ValueError):
            bad()


def test_scalars_and_empty():
    for nest in (False, True):
        assert np.ndim(hp.ang2pix(8, 1.0, 2.0, nest=nest)) == 0 and hp.ang2pix(8, [], [], nest=nest).shape == (0,)
        assert hp.pix2ang(8, [], nest=nest)[0].shape == (0,) and hp.vec2pix(8, [], [], [], nest=nest).shape == (0,)
        assert hp.get_interp_weights(8, [], [], nest=nest)[0].shape == (4, 0)
        assert hp.get_interp_val(np.arange(768.0), [], [], nest=nest).shape == (0,)
        assert hp.get_interp_val(np.ones(768), 1.0, 2.0, nest=nest) == pytest.approx(1)
        assert hp.get_interp_val(np.ones((2, 768)), np.ones((3, 1)), np.ones(5), nest=nest).shape == (2, 3, 5)
        assert hp.get_all_neighbours(8, np.zeros((0, 2), int), nest=nest).shape == (8, 0, 2)


def test_interpolation(golden):
    theta, phi = golden.npy("interp/theta_phi")
    pix, weight = hp.get_interp_weights(32, theta, phi)
    nest, _ = hp.get_interp_weights(32, theta, phi, nest=True)
    for found, name in ((pix, "interp/pix_ring"), (nest, "interp/pix_nest")):
        expected, truth = golden.npy(name), golden.npy("interp/wgt")
        for k in range(theta.size):  # on the centre line of a ring the next one has weight 0: either is right
            mine = dict(zip(found[:, k].tolist(), weight[:, k]))
            theirs = dict(zip(expected[:, k].tolist(), truth[:, k]))
            for p in mine.keys() | theirs.keys():
                assert abs(mine.get(p, 0) - theirs.get(p, 0)) < 1e-12
    m = hp.read_map(golden.path("sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits"), dtype=np.float64)
    np.testing.assert_allclose(hp.get_interp_val(m, theta, phi), golden.npy("interp/val_T"), atol=1e-13)
    assert hp.get_interp_val([m, m], theta, phi).shape == (2, theta.size)
    assert hp.get_interp_weights(32, 5)[1].sum() == pytest.approx(1)


def test_regrid(golden):
    name = "sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32"
    m = hp.read_map(golden.path(name + ".fits"), dtype=np.float64)
    masked = hp.read_map(golden.path(name + "_masked.fits"), dtype=np.float64)
    np.testing.assert_array_equal(hp.reorder(m, r2n=True), golden.npy("regrid/T_nest"))
    np.testing.assert_array_equal(hp.reorder(hp.reorder(m, r2n=True), inp="NESTED", out="RING"), m)
    for golden_name, found in (("ud_T_ns8", hp.ud_grade(m, 8)), ("ud_T_power_ns8", hp.ud_grade(m, 8, power=-2)),
                               ("ud_masked_ns8", hp.ud_grade(masked, 8)),
                               ("ud_masked_pess_ns8", hp.ud_grade(masked, 8, pess=True)),
                               ("ud_T_ns64", hp.ud_grade(m, 64))):
        np.testing.assert_allclose(found, golden.npy("regrid/" + golden_name), rtol=1e-6 if "64" in golden_name else 1e-12,
                                   atol=1e-14)
    counts = hp.read_map(golden.path("sky/gaiadr3.nside64.densmap.fits"), nest=None)
    coarse = hp.ud_grade(counts, 16, order_in="NEST", order_out="RING", power=-2, dtype=np.float64)
    np.testing.assert_allclose(coarse, golden.npy("regrid/nestmap_ud_ns16_ring"), rtol=1e-6)
    assert hp.ud_grade(np.arange(48, dtype=np.int32), 1).dtype == np.int32
    for dtype in (np.bool_, np.int16, np.float32, np.float64, np.complex128):
        x = np.arange(192).astype(dtype)
        np.testing.assert_array_equal(hp.reorder(x, r2n=True), x[hp.nest2ring(4, np.arange(192))])


def test_shapes_and_scalars():
    assert hp.ang2pix(16, np.pi / 2, 0) == 1440 and np.ndim(hp.ang2pix(16, np.pi / 2, 0)) == 0
    np.testing.assert_array_equal(hp.ang2pix([1, 2, 4, 8, 16], np.pi / 2, 0), [4, 12, 72, 336, 1440])
    assert hp.ang2pix(16, np.full((3, 1), 1.0), np.zeros(4)).shape == (3, 4)
    assert [np.ndim(v) for v in hp.pix2vec(4, 3)] == [0, 0, 0]
    assert hp.get_all_neighbours(4, 1).shape == (8,)
    assert hp.get_all_neighbours(4, 1.0, 0.5).shape == (8,)
    assert hp.pix2xyf(4, np.arange(5))[2].shape == (5,)
    assert hp.ang2vec([0.1, 0.2], [0.3, 0.4]).shape == (2, 3)
    theta, phi = hp.vec2ang(hp.ang2vec(0.3, 5.0))
    assert (theta[0], phi[0]) == (pytest.approx(0.3), pytest.approx(5.0))
    assert hp.ang2pix(4, 10.0, 100.0, lonlat=True, latauto=True) == hp.ang2pix(4, 10.0, 80.0, lonlat=True)
    assert len(hp.ang2pix(4, [], [])) == 0


@pytest.mark.parametrize("call", [
    lambda: hp.ang2pix(4, 4.0, 0), lambda: hp.ang2pix(3, 1, 0, nest=True), lambda: hp.ang2pix(0, 1, 0),
    lambda: hp.ang2pix(2**30, 1, 0), lambda: hp.ang2pix(4, np.nan, 0), lambda: hp.pix2ang(4, 192),
    lambda: hp.pix2ang(4, -1), lambda: hp.vec2pix(4, 0, 0, 0), lambda: hp.npix2nside(13), lambda: hp.nside2order(3),
    lambda: hp.query_disc(4, [1, 0], 0.1), lambda: hp.query_disc(4, [1, 0, 0], -0.1),
    lambda: hp.query_disc(4, [1, 0, 0], 1, buff=np.empty(1, np.int64)),
    lambda: hp.query_polygon(4, [[1, 0, 0], [0, 1, 0]]), lambda: hp.ud_grade(np.zeros(12), 3),
    lambda: hp.ud_grade(np.zeros(12 * 9), 4), lambda: hp.reorder(np.zeros(12 * 9), r2n=True),
    lambda: hp.reorder(np.zeros(12)), lambda: hp.reorder(np.zeros(12), inp="RING", out="x"),
    lambda: hp.boundaries(4, 3, 0), lambda: hp.pix2ang(4, 1.5)])
def test_bad_input(call):
    with pytest.raises((ValueError, TypeError)) as e:
        call()
    assert len(str(e.value)) > 10


def test_map_types():
    assert [hp.maptype(m) for m in (np.zeros(12), [np.zeros(12)], np.zeros((3, 12)))] == [0, 1, 3]
    for bad in (np.zeros(13), [np.zeros(12), np.zeros(48)], 3, []):
        with pytest.raises(TypeError):
            hp.maptype(bad)
    assert hp.isnpixok([12, 13, 48]).tolist() == [True, False, True]
    assert hp.isnsideok(3) and not hp.isnsideok(3, nest=True)
    m = np.arange(12.0)
    m[3] = hp.UNSEEN
    assert hp.ma(m).mask.sum() == 1 and hp.mask_good(m).sum() == 11
