# SPDX-License-Identifier: BSD-3-Clause
"""Multi-order maps, MOCs and healsparse maps, against the packages whose formats they are, and by bytes alone."""
import numpy as np
import pytest

import kugel
from kugel import skyfiles


def multiorder(path, rows, names=("UNIQ", "PROBDENSITY"), ordering="NUNIQ"):
    skyfiles._write_table(path, [(n, np.asarray([r[i] for r in rows], np.float64 if i else np.int64)) for i, n in enumerate(names)],
                          [("PIXTYPE", "HEALPIX"), ("ORDERING", ordering), ("COORDSYS", "C"), ("MOCORDER", 3), ("INDXSCHM", "EXPLICIT")], True)


def disc(nside=32):
    mask = np.zeros(12 * nside**2, bool)
    mask[kugel.query_disc(nside, [1, 0, 0.3], 0.4)] = True
    return mask


def test_multiorder_maps(tmp_path):
    """Face 0 in 64 pixels of nside 8, the others whole but 11, which is not there."""
    name, fine = tmp_path / "m.fits", np.arange(64.0)
    multiorder(name, [(4 + f, 100.0 * f) for f in range(10, 0, -1)] + [(4 * 64 + p, v) for p, v in enumerate(fine)])
    m = skyfiles.read_multiorder(name, nest=True).reshape(12, 64)
    assert np.array_equal(m[0], fine) and np.all(m[1:11] == 100 * np.arange(1, 11)[:, None]) and np.all(m[11] == kugel.UNSEEN)
    half = skyfiles.read_multiorder(name, 4, column="PROBDENSITY", nest=True)
    assert np.array_equal(half[:16], fine.reshape(16, 4).mean(1))
    assert np.array_equal(skyfiles.read_multiorder(name, 4), kugel.reorder(half, n2r=True))
    counts = skyfiles.read_multiorder(name, 2, nest=True, extensive=True)
    assert np.isclose(counts[:44].sum(), fine.sum() + 5500) and np.allclose(counts[4:8], 25)
    m, h = skyfiles.read_multiorder(name, h=True)
    assert ("TTYPE2", "PROBDENSITY") in h


def test_multiorder_errors(tmp_path):
    name = tmp_path / "m.fits"
    for rows, words, says in [([(4, 1), (4 * 64 + 3, 1)], {}, "overlap"), ([(3, 1)], {}, "damaged"), ([(4, 1)], {"column": 1}, "0 to 0"),
                              ([(4, 1)], {"column": "X"}, "PROBDENSITY"), ([(4, 1)], {"nside": 6}, "nside"), ([(4 << 40, 1)], {}, "give nside")]:
        multiorder(name, rows)
        with pytest.raises(ValueError, match=says):
            skyfiles.read_multiorder(name, **words)
    kugel.write_map(name, np.zeros(12), overwrite=True)
    with pytest.raises(ValueError, match="ORDERING"):
        skyfiles.read_multiorder(name)
    skyfiles.write_moc(name, disc(), overwrite=True)
    with pytest.raises(ValueError, match="read_moc"):
        skyfiles.read_multiorder(name)


def test_read_map_names_the_reader(tmp_path):
    name = tmp_path / "m.fits"
    multiorder(name, [(4, 1)])
    with pytest.raises(OSError, match=r"a multi-order map \(ORDERING = NUNIQ\): kugel.skyfiles.read_multiorder"):
        kugel.read_map(name)
    skyfiles.write_moc(name, disc(), overwrite=True)
    with pytest.raises(OSError, match=r"a MOC \(ORDERING = NUNIQ\): kugel.skyfiles.read_moc"):
        kugel.read_map(name)
    with pytest.raises(OSError, match="holds no HEALPix map in HDU 1$"):
        kugel.write_cl(name, np.ones(3), overwrite=True)
        kugel.read_map(name)
    whole = name.read_bytes()
    for length in (0, 100, 2880, 5000, len(whole) - 2880):  # cut short
        name.write_bytes(whole[:length])
        with pytest.raises((OSError, ValueError)):
            skyfiles.read_moc(name)
    rng = np.random.default_rng(4)
    for _ in range(60):  # wild bytes: a sentence, or a mask
        data = bytearray(whole)
        for i in rng.integers(0, len(data), 8):
            data[i] = rng.integers(0, 256)
        name.write_bytes(data)
        try:
            assert skyfiles.read_moc(name, nside=8).shape == (768,)
        except (OSError, ValueError, kugel.KugelError) as error:
            assert str(error)


def test_moc_of_a_mask(tmp_path):
    name, mask = tmp_path / "m.fits", disc()
    skyfiles.write_moc(name, mask)
    assert np.array_equal(skyfiles.read_moc(name, 32), mask)
    finer = skyfiles.read_moc(name, 64)
    assert np.array_equal(finer, kugel.ud_grade(mask.astype(float), 64) > 0)
    assert np.array_equal(skyfiles.read_moc(name, 8), kugel.ud_grade(mask.astype(float), 8) > 0)
    with pytest.raises(OSError, match="overwrite"):
        skyfiles.write_moc(name, mask)
    for m, want in ((mask & False, 0), (mask | True, 12)):
        skyfiles.write_moc(name, m, overwrite=True)
        assert skyfiles.read_moc(name, 1).sum() == want
    bad = np.where(mask, 0.5, kugel.UNSEEN)
    bad[0] = np.nan
    skyfiles.write_moc(name, bad, overwrite=True)
    assert np.array_equal(skyfiles.read_moc(name, 32), mask)


def test_moc_with_mocpy(tmp_path):
    mocpy = pytest.importorskip("mocpy")
    name, mask = tmp_path / "m.fits", disc(64)
    skyfiles.write_moc(name, mask)
    moc = mocpy.MOC.load(str(name), "fits")
    assert moc.sky_fraction == mask.mean() and moc.max_order <= 6
    for old in (True, False):  # NUNIQ and RANGE
        moc.save(str(name), "fits", overwrite=True, v1_compatible=old)
        assert np.array_equal(skyfiles.read_moc(name, 64), mask)


def test_healsparse(tmp_path):
    hsp = pytest.importorskip("healsparse")
    name, m = tmp_path / "m.hsp", kugel.synfast(np.ones(64), 64, seed=1)
    m[:5000] = kugel.UNSEEN
    skyfiles.write_healsparse(name, m)
    assert np.array_equal(hsp.HealSparseMap.read(str(name)).generate_healpix_map(nest=False), m)
    assert np.array_equal(skyfiles.read_healsparse(name), m)
    np.testing.assert_allclose(skyfiles.read_healsparse(name, 16), kugel.ud_grade(m, 16), rtol=1e-12)
    with pytest.raises(ValueError, match="one value"):
        skyfiles.read_healsparse(name, column="x")


def test_hats_skymap(tmp_path):
    """A catalogue's skymap.fits: counts in NESTED order, which read_map knows."""
    health = pytest.importorskip("healpy")
    counts = np.random.default_rng(1).integers(0, 1000, 12 * 16**2)
    health.write_map(tmp_path / "skymap.fits", counts, nest=True, dtype=np.int64, coord="C")
    assert np.array_equal(kugel.read_map(tmp_path / "skymap.fits", nest=True), counts)
