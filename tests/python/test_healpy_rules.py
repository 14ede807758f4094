# SPDX-License-Identifier: BSD-3-Clause
"""What scripts written for healpy count on: masks, types of columns, ranges, defaults, complaints."""
import copy
import pickle
import warnings

import numpy as np
import pytest

import kugel as hp

RNG = np.random.default_rng(5)


def masked_maps(n=3, nside=8):
    m = RNG.normal(size=(n, 12 * nside**2))
    for i, row in enumerate(m):
        row[10 * i:10 * i + 5 + i] = hp.UNSEEN
    return m


# ---- masked maps


def test_ma_of_several_maps():
    m = masked_maps()
    out = hp.ma(m)
    assert isinstance(out, np.ma.MaskedArray) and out.shape == m.shape
    assert out.mask.sum(axis=1).tolist() == [5, 6, 7]
    np.testing.assert_array_equal(out.filled(), m)
    np.testing.assert_array_equal(hp.ma(list(m)).mask, out.mask)
    assert hp.ma([m[0]]).shape == (1, 768) and hp.ma(m[0]).shape == (768,)
    again = hp.ma(out[0].copy())  # masked already
    assert again.mask.sum() == 5
    shared = hp.ma(m, copy=False)
    assert np.shares_memory(shared.data, m) and not np.shares_memory(out.data, m)
    np.testing.assert_array_equal(hp.ma(np.arange(12)).mask, np.zeros(12, bool))
    np.testing.assert_array_equal(hp.ma(np.arange(12), badval=3).mask, np.arange(12) == 3)
    with pytest.raises(TypeError):
        hp.ma(np.zeros(13))


@pytest.mark.parametrize("kind", ["array", "list", "tuple"])
def test_ud_grade_and_reorder_of_masked_maps(kind):
    m = masked_maps()
    given = hp.ma(m) if kind == "array" else {"list": list, "tuple": tuple}[kind](hp.ma(row) for row in m)
    half = hp.ud_grade(given, 4)
    assert isinstance(half, np.ma.MaskedArray) and half.shape == (3, 192)
    for row, one in zip(half, m):
        want = hp.ma(hp.ud_grade(one, 4))
        np.testing.assert_array_equal(row.mask, want.mask)
        np.testing.assert_array_equal(row.filled(), want.filled())
    nest = hp.reorder(given, r2n=True)
    assert isinstance(nest, np.ma.MaskedArray) and nest.shape == (3, 768)
    np.testing.assert_array_equal(nest.filled(), hp.reorder(m, r2n=True))
    assert hp.ud_grade(given, 4, dtype=np.float32).dtype == np.float32
    back = hp.reorder(nest, n2r=True)
    np.testing.assert_array_equal(back.mask, hp.ma(m).mask)


def test_masks_in_plans():
    m = RNG.normal(size=768)
    mask = np.zeros(768, bool)
    mask[100:140] = True
    hidden = np.where(mask, 1e6, m)  # what is under the mask must not count
    given = np.ma.MaskedArray(hidden, mask)
    for iterations in (0, 2):
        plan = hp.SHT(8, 16, iterations=iterations, bad_pixels="zero")
        want = plan.analysis(np.where(mask, hp.UNSEEN, m))
        np.testing.assert_array_equal(plan.analysis(given), want)
        np.testing.assert_array_equal(plan.analysis(given), hp.map2alm(given, lmax=16, iter=iterations))
    np.testing.assert_array_equal(plan.synthesis_adjoint(given), plan.synthesis_adjoint(np.where(mask, 0, m)))
    np.testing.assert_array_equal(plan.solve(given)[0], plan.solve(np.where(mask, hp.UNSEEN, m))[0])
    pair = hp.SHT(8, 16, spin=2, bad_pixels="zero")
    np.testing.assert_array_equal(pair.analysis([given, given]), pair.analysis(np.array([hp.maps.filled(given)] * 2)))
    for bad in ("error", "pass"):
        with pytest.raises(ValueError, match="40 masked pixels"):
            hp.SHT(8, 16, bad_pixels=bad).analysis(given)
        free = np.ma.MaskedArray(m)
        np.testing.assert_array_equal(hp.SHT(8, 16, bad_pixels=bad).analysis(free), hp.SHT(8, 16).analysis(m))
    alm = plan.analysis(m)
    with pytest.raises(TypeError, match="masked"):
        plan.synthesis(np.ma.MaskedArray(alm, np.arange(alm.size) == 3))


# ---- files


def test_a_type_for_each_column(tmp_path):
    fits = pytest.importorskip("astropy.io.fits")
    name = tmp_path / "m.fits"
    m = [np.linspace(0, 1, 768), 1 + 1e-9 * np.arange(768.0), np.arange(768), np.arange(768) % 2]
    hp.write_map(name, m, dtype=[np.float32, np.float64, np.int64, bool])
    with fits.open(name) as file:
        assert [c.format for c in file[1].columns] == ["E", "D", "K", "L"] or \
            [c.format.lstrip("1") for c in file[1].columns] == ["E", "D", "K", "L"]
        np.testing.assert_array_equal(file[1].data.field(1), m[1])
        np.testing.assert_array_equal(file[1].data.field(3), m[3].astype(bool))
    back = hp.read_map(name, field=None)
    assert [b.dtype.name for b in back] == ["float32", "float64", "int64", "bool"]
    np.testing.assert_array_equal(back[1], m[1])
    np.testing.assert_array_equal(back[2], m[2])


def test_types_of_columns_without_astropy(tmp_path):
    name = tmp_path / "m.fits"
    one = [RNG.normal(size=768).astype(np.float32), RNG.normal(size=768)]
    hp.write_map(name, one)  # each its own
    back = hp.read_map(name, field=None)
    assert [b.dtype for b in back] == [np.float32, np.float64]
    np.testing.assert_array_equal(back[1], one[1])
    for dtype in (np.bool_, np.uint8, np.int16, np.int32, np.int64, np.float32, np.float64):
        m = (np.arange(768) % 2).astype(dtype)
        hp.write_map(name, m, overwrite=True)
        back = hp.read_map(name)
        assert back.dtype == dtype
        np.testing.assert_array_equal(back, m)
    m = masked_maps(2)
    hp.write_map(name, m, dtype=[np.float32, np.float64], partial=True, overwrite=True)
    a, b = hp.read_map(name, field=None)
    np.testing.assert_array_equal(a, m[0].astype(np.float32))
    np.testing.assert_array_equal(b, m[1])
    big = 12 * 64**2  # rows of 1024
    hp.write_map(name, [np.arange(big), np.arange(big) / 3], dtype=[np.int32, np.float64], overwrite=True)
    a, b = hp.read_map(name, field=None)
    np.testing.assert_array_equal(a, np.arange(big))
    np.testing.assert_array_equal(b, np.arange(big) / 3)


def test_what_files_cannot_hold(tmp_path):
    name = tmp_path / "m.fits"
    for m in (np.zeros(12, complex), [np.zeros(12), np.zeros(12, np.complex64)]):
        with pytest.raises(TypeError, match="imaginary"):
            hp.write_map(name, m)
    with pytest.raises(TypeError, match="complex64"):
        hp.write_map(name, np.zeros(12), dtype=np.complex64)
    with pytest.raises(ValueError, match="2 entries for 3 maps"):
        hp.write_map(name, np.zeros((3, 12)), dtype=[np.float32] * 2)
    with pytest.raises(ValueError, match="integer"):
        hp.write_map(name, np.full(12, 0.5), dtype=np.int32)
    with pytest.raises(ValueError, match="2\\^53"):
        hp.write_map(name, [np.full(12, 2**53 + 1), np.zeros(12)])
    assert not name.exists()


def test_hdu_objects(tmp_path):
    fits = pytest.importorskip("astropy.io.fits")
    m, cl = masked_maps(), RNG.normal(size=(4, 20))
    alm = hp.synalm(np.ones(9))
    for name, write, value in (("m", hp.write_map, m), ("a", hp.write_alm, alm), ("c", hp.write_cl, cl)):
        write(tmp_path / name, value)
    with fits.open(tmp_path / "m") as file:
        np.testing.assert_array_equal(hp.read_map(file, field=None), m)
        np.testing.assert_array_equal(hp.read_map(file[1], field=(2, 0)), m[[2, 0]])
        assert dict(hp.read_map(file[1], h=True)[1])["NSIDE"] == 8
        with pytest.raises(OSError):
            hp.read_map(file[0])
    with fits.open(tmp_path / "a") as file:
        np.testing.assert_array_equal(hp.read_alm(file), alm)
        np.testing.assert_array_equal(hp.read_alm(file[1]), alm)
    with fits.open(tmp_path / "c") as file:
        np.testing.assert_array_equal(hp.read_cl(file), cl)
        np.testing.assert_array_equal(hp.read_cl(file[1]), cl)


# ---- ranges and defaults


@pytest.mark.parametrize("lmax", [0, 1, 2, 31, 500])
def test_getlm(lmax):
    size = hp.Alm.getsize(lmax)
    l, m = hp.Alm.getlm(lmax)
    np.testing.assert_array_equal(hp.Alm.getidx(lmax, l, m), np.arange(size))
    assert ((0 <= m) & (m <= l) & (l <= lmax)).all()
    for bad in (size, -1, np.array([0, size]), [-1, 0]):
        with pytest.raises(ValueError, match=f"0 to {size - 1}"):
            hp.Alm.getlm(lmax, bad)


def test_nside2npix():
    assert hp.nside2npix(4) == 192 and isinstance(hp.nside2npix(4), int)
    assert hp.nside2npix(4.0) == 192 and hp.nside2npix(np.int32(20000)) == 4800000000
    np.testing.assert_array_equal(hp.nside2npix([2, 3]), [48, 108])
    for bad in (3.5, 0, -1, 2**30, np.nan, [1, 2.5]):
        with pytest.raises(ValueError, match="nside"):
            hp.nside2npix(bad)


def test_synfast_goes_no_further_than_its_spectra():
    cl = np.ones(5)
    assert hp.synfast(cl, 2, alm=True)[1].size == hp.Alm.getsize(4)
    assert hp.synfast(np.ones(50), 2, alm=True)[1].size == hp.Alm.getsize(5)
    assert hp.synfast([cl, cl, cl, np.zeros(5)], 2, alm=True, new=True)[1].shape == (3, 15)
    assert hp.synfast([cl, None, None, None, None, None], 2, alm=True)[1].shape == (3, 15)
    assert hp.synfast(cl, 2, lmax=3, alm=True)[1].size == hp.Alm.getsize(3)


def test_indefinite_spectra_are_told():
    cl = np.ones(9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hp.synalm(cl)
        hp.synalm([cl, cl, cl, 0.5 * cl], new=True)
        hp.synfast(np.zeros(9), 4)
    with pytest.warns(RuntimeWarning, match="l = 0 "):
        assert not hp.synfast(-cl, 4).any()
    te = 0.5 * cl
    te[3] = 1.5
    with pytest.warns(RuntimeWarning, match="l = 3 "):
        alm = hp.synalm([cl, cl, cl, te], new=True)
    assert not alm[:, hp.Alm.getidx(8, 3, 0)].any() and alm[0, hp.Alm.getidx(8, 4, 0)]


def test_queries_refuse_what_they_would_ignore():
    for query in (lambda **k: hp.query_disc(8, [0, 0, 1], 0.5, **k), lambda **k: hp.query_strip(8, 0.1, 0.5, **k),
                  lambda **k: hp.query_polygon(8, np.eye(3), **k)):
        with pytest.raises(ValueError, match="Cannot use both"):
            query(buff=np.zeros(768, np.int64), return_ranges=True)


def test_rotators_of_unlike_lists():
    for bad in (dict(coord="CE", rot=[(0, 0, 90)]), dict(coord=["CE"], rot=(0, 0, 90)),
                dict(coord="CE", rot=[(0, 0, 90), (1, 2, 3)])):
        with pytest.raises(ValueError, match="same size"):
            hp.Rotator(**bad)
    hp.Rotator(coord=["CE"], rot=[(0, 0, 90)])
    hp.Rotator(rot=[(0, 0, 90), (1, 2, 3)])


def test_copies_of_plans(capfd):
    plan = hp.SHT(hp.Grid.gauss(9), 8, 5, spin=2, bad_pixels="zero", iterations=1)
    alm = RNG.normal(size=(2, plan.nalm)) + 0j
    for other in (copy.copy(plan), copy.deepcopy(plan), pickle.loads(pickle.dumps(plan))):
        assert (other.lmax, other.mmax, other.spin, other.bad_pixels) == (8, 5, 2, "zero")
        np.testing.assert_array_equal(other.synthesis(alm), plan.synthesis(alm))
    picture = hp.mollview(np.arange(12.0), xsize=100)
    for attempt in (copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            attempt(picture)
    with pytest.raises(Exception):
        hp.SHT(8, -1)
    assert "ignored" not in capfd.readouterr().err


# ---- weights and windows


def test_pixel_weights_take_one_pass():
    tqu = np.random.default_rng(1).normal(size=(3, 12 * 16**2))
    want = hp.map2alm(tqu, iter=0, use_pixel_weights=True)
    for iterations in (1, 3):
        np.testing.assert_array_equal(hp.map2alm(tqu, iter=iterations, use_pixel_weights=True), want)
    np.testing.assert_array_equal(hp.anafast(tqu, use_pixel_weights=True), hp.alm2cl(want))
    np.testing.assert_allclose(hp.smoothing(tqu, 0.1, use_pixel_weights=True),
                               hp.alm2map(hp.smoothalm(want, 0.1, inplace=False), 16), rtol=0, atol=1e-13)
    r = hp.Rotator(coord="GC")
    np.testing.assert_array_equal(r.rotate_map_alms(tqu), hp.alm2map(r.rotate_alm(want), 16))
    plan = hp.SHT(16, 47, weights="pixel", iterations=3)  # a plan does as it is told
    assert np.abs(plan.analysis(tqu[0]) - hp.map2alm(tqu[0], use_pixel_weights=True)).max() > 1e-4


def test_pixel_weights_agree_with_healpy(golden):
    tqu = hp.read_map(golden.path("sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits"), field=(0, 1, 2), dtype=np.float64)
    alm = hp.map2alm(tqu, lmax=64, use_pixel_weights=True)  # iter is 3 by default
    want = golden.npy("sht/alm_TEB_l64_i0_pixw")
    assert np.abs(alm - want).max() <= 1e-7 * np.abs(want).max()


def test_windows_of_large_pixels_tend_to_a_limit():
    """w_n(l) as a function of l / n has a limit, which it nears as 1 / n^2 or 1 / n: each doubling brings it closer."""
    x = np.linspace(0.1, 2.9, 8)
    windows = {n: hp.pixwin(n, lmax=4 * n)[np.round(x * 10).astype(int) * n // 10 // 2 * 2]
               for n in (40, 80, 160, 320, 640, 1280)}
    steps = [np.abs(windows[2 * n] - windows[n]).max() for n in (40, 80, 160, 320, 640)]
    assert all(b < 0.6 * a for a, b in zip(steps, steps[1:])), steps


def test_rotated_pairs_are_q_and_u():
    qu = RNG.normal(size=(2, 768))
    r = hp.Rotator(coord="GE")
    iqu = r.rotate_map_pixel(np.vstack([qu[:1], qu]))
    np.testing.assert_array_equal(r.rotate_map_pixel(qu), iqu[1:])


def test_units_of_columns(tmp_path):
    fits = pytest.importorskip("astropy.io.fits")
    for write, values in ((hp.write_cl, np.ones((3, 9))), (hp.write_map, np.ones((3, 12)))):
        write(tmp_path / "f", values, column_units=[None, "K", "mK"], overwrite=True)
        with fits.open(tmp_path / "f") as file:
            assert [file[1].header.get(f"TUNIT{i}") for i in (1, 2, 3)] == [None, "K", "mK"]
        for wrong in (1.0, [1.0] * 3, ["K"]):
            with pytest.raises(ValueError):
                write(tmp_path / "g", values, column_units=wrong)


def test_transforms_are_made_once():
    from kugel import transforms

    grid = hp.Grid.rings([0.5, 2.0], [8, 8])
    one = transforms.transform(grid, 5, spin=2)
    assert one.grid is grid and transforms.transform(grid, 5, spin=2) is one and transforms.named(one.name) is one
    for lmax in range(1, 30):
        transforms.transform(4, lmax)
    assert len(transforms._latest) == 16 and transforms.named(one.name) is one
    name = transforms.transform(4, 1, iterations=2).name
    transforms._latest.clear()
    assert transforms.named(name).lmax == 1  # from its name alone


def test_harmonic_ud_grade_of_coefficients_says_what_it_ignores():
    alm = np.zeros(hp.Alm.getsize(11), complex)
    with pytest.warns(UserWarning, match="use_weights, datapath ignored.*input_type='alm'"):
        hp.harmonic_ud_grade(alm, 4, nside_in=8, input_type="alm", use_weights=True, datapath="/nowhere")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hp.harmonic_ud_grade(alm, 4, nside_in=8, input_type="alm").shape == (192,)
    with pytest.raises(ValueError, match="same size; they have 78, 91, 78"):
        hp.harmonic_ud_grade([alm, np.zeros(hp.Alm.getsize(12), complex), alm], 4, nside_in=8, input_type="alm")
    with pytest.raises(ValueError, match="alm has 2 sets"):
        hp.harmonic_ud_grade([alm, alm], 4, nside_in=8, input_type="alm")
