# SPDX-License-Identifier: BSD-3-Clause
"""FITS files and pictures."""
import sys

import numpy as np
import pytest

import kugel as hp


def test_maps(tmp_path, golden):
    rng = np.random.default_rng(1)
    m = rng.standard_normal((3, 192))
    m[:, 5] = hp.UNSEEN
    name = tmp_path / "m.fits"
    hp.write_map(name, m, coord="G", column_units="mK", extra_header=[("OBSERVER", "x'y"), ("LEVEL", 3, "why")])
    np.testing.assert_array_equal(hp.read_map(name, field=None), m)
    np.testing.assert_array_equal(hp.read_map(name, field=1, nest=True), hp.reorder(m[1], r2n=True))
    one, header = hp.read_map(name, field="Q_POLARISATION", h=True)
    np.testing.assert_array_equal(one, m[1])
    header = dict(header)
    assert (header["OBSERVER"], header["LEVEL"], header["COORDSYS"], header["TUNIT1"]) == ("x'y", 3, "G", "mK")
    with pytest.raises(OSError, match="exists"):
        hp.write_map(name, m)
    hp.write_map(name, m[0].astype(np.float32), nest=True, partial=True, overwrite=True)
    back = hp.read_map(name, nest=None)
    assert back.dtype == np.float32
    np.testing.assert_array_equal(back[6:], m[0].astype(np.float32)[6:])
    assert back[5] == np.float32(hp.UNSEEN)
    hp.write_map(name, np.arange(48, dtype=np.int32), dtype=np.float64, fits_IDL=False, overwrite=True)
    assert hp.read_map(name).dtype == np.float64


def test_others_files(golden):
    for name in ("map_ring_f8.fits", "map_nest_f4.fits", "map_partial_f4.fits", "map_int_ns4.fits.gz"):
        m = hp.read_map(golden.path("golden/fits/" + name))
        assert hp.isnpixok(m.size)
    np.testing.assert_array_equal(hp.read_map(golden.path("golden/fits/map_int_ns4.fits.gz")), np.arange(192))


def test_alm(tmp_path, golden):
    teb = golden.npy("sht/alm_TEB_l64_i3")
    np.testing.assert_allclose(hp.read_alm(golden.path("golden/fits/alm_TEB_f8.fits"), hdu=(1, 2, 3)), teb, rtol=1e-15)
    cut, mmax = hp.read_alm(golden.path("golden/fits/alm_T_cut_f4.fits"), return_mmax=True)
    assert cut.size == hp.Alm.getsize(32, 16) and mmax == 16
    name = tmp_path / "a.fits"
    hp.write_alm(name, teb)
    np.testing.assert_array_equal(hp.read_alm(name, hdu=[1, 2, 3]), teb)
    hp.write_alm(name, teb[0], lmax=10, mmax=5, out_dtype=np.float32, overwrite=True)
    np.testing.assert_allclose(hp.read_alm(name), hp.resize_alm(teb[0], 64, 64, 10, 5), rtol=1e-6)


def test_cl(tmp_path, golden):
    cl = golden.npy("cl/cl_TEB_l64")
    assert hp.read_cl(golden.path("golden/fits/cl_TEB.fits")).shape[0] == 6
    temperature = hp.read_cl(golden.path("healpix_fortran_test/cl_out.fits"))
    assert temperature.shape == (6, 257)
    for rows in (cl, cl[0]):
        hp.write_cl(tmp_path / "c.fits", rows, overwrite=True)
        np.testing.assert_array_equal(hp.read_cl(tmp_path / "c.fits"), rows)


def test_bad_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        hp.read_map(tmp_path / "none.fits")
    empty = tmp_path / "empty.fits"
    empty.write_bytes(b"")
    with pytest.raises(OSError):
        hp.read_map(empty)
    name = tmp_path / "m.fits"
    hp.write_map(name, np.arange(192.0))
    name.write_bytes(name.read_bytes()[:3000])
    with pytest.raises(OSError):
        hp.read_map(name)
    with pytest.raises(OSError):
        hp.write_map(tmp_path / "no" / "m.fits", np.arange(12.0))
    hp.write_map(name, np.arange(192.0), overwrite=True)
    for field in (7, "NONE"):
        with pytest.raises((ValueError, OSError)):
            hp.read_map(name, field=field)
    with pytest.raises(OSError):
        hp.read_alm(name)


@pytest.mark.parametrize("draw", [hp.mollview, hp.orthview, hp.gnomview, hp.cartview])
def test_pictures(tmp_path, monkeypatch, draw):
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)  # without it, views draw themselves
    m = np.arange(192.0)
    m[7] = hp.UNSEEN
    picture = draw(m, rot=(10, 20), title="t", unit="uK", min=0, max=100, norm="hist", filename=tmp_path / "p.png")
    pixels = np.asarray(picture)
    assert pixels.dtype == np.uint8 and pixels.shape[2] == 4 and pixels[..., :3].std() > 10
    assert (tmp_path / "p.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" == picture._repr_png_()[:8]
    with pytest.raises(ValueError):
        draw(m, cmap="no such map")
    with pytest.raises(TypeError):
        draw(np.zeros((2, 12)))


def test_spectra_picture(tmp_path):
    cl = 1 / np.arange(1, 500.0) ** 2
    picture = hp.plot_cl(cl, title="one", unit="uK^2", filename=tmp_path / "p.png")
    assert np.asarray(picture).shape == (750, 1200, 4)
    assert (tmp_path / "p.png").read_bytes() == picture._repr_png_()
    assert hp.plot_cl([cl, cl / 2], names=["a", "ζ"], xsize=400, min=1e-3, max=2, linear_l=1).range == (1e-3, 2)
    for wrong in (dict(names=["a", "b"]), dict(min=2, max=1), dict(xsize=3)):
        with pytest.raises(ValueError):
            hp.plot_cl(cl, **wrong)
    with pytest.raises(ValueError):
        hp.plot_cl(np.zeros(9))


def test_a_null_byte_in_a_name_is_refused(tmp_path):
    """C would take what is before it for the name, and overwrite another file."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    name = str(victim) + "\0.fits"
    picture = hp.mollview(np.arange(12.0), xsize=100)
    writers = [lambda: hp.write_map(name, np.zeros(12), overwrite=True),
               lambda: hp.write_alm(name, np.zeros(3, complex), overwrite=True),
               lambda: hp.write_cl(name, np.zeros(3), overwrite=True),
               lambda: hp.read_map(name)]
    for write in writers + [lambda: picture.save(name)]:
        with pytest.raises(ValueError, match="null byte"):
            write()
    assert victim.read_text() == "precious"


def test_sample_data():
    assert hp.read_map(hp.data.path("wmap7_w_band_nside32.fits")).shape == (12 * 32**2,)
    assert np.load(hp.data.path("etopo20_relief.npy")).ndim == 2 and "README.md" in hp.data.names()
    stack = hp.data.path("grid.tif")  # a file of its own: links are lost on their way through some archives
    assert stack.stat().st_size > 400_000 and not stack.is_symlink() and stack.read_bytes()[:4] in (b"II*\0", b"MM\0*")
    with pytest.raises(FileNotFoundError, match="there are .*wmap7"):
        hp.data.path("no_such_map.fits")


def test_samples_of_another_package(tmp_path, monkeypatch):
    """Portable wheels lack the large files: the sentence names the extra; kugel-data, once installed, has them."""
    monkeypatch.setattr(hp.data, "_PACKAGE", tmp_path)
    (tmp_path / "share").mkdir()
    with pytest.raises(FileNotFoundError, match=r"pip install 'kugel\[data\]'"):
        hp.data.path("grid.tif")
    (tmp_path / "kugel_data").mkdir()
    (tmp_path / "kugel_data" / "__init__.py").touch()
    (tmp_path / "kugel_data" / "grid.tif").write_bytes(b"II")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert hp.data.path("grid.tif").read_bytes() == b"II" and hp.data.names() == ["grid.tif"]
