# SPDX-License-Identifier: BSD-3-Clause
"""Files of skies of each kind, cut short and with wild bytes and metadata: right numbers, or one sentence."""
import numpy as np
import pytest

import kugel
from kugel import skyfiles
from test_skyfiles import disc, multiorder

REFUSED = (OSError, ValueError, KeyError, kugel.KugelError)


def ranges(path):
    """A MOC of ranges, as IVOA's version 2 has it."""
    skyfiles._write_table(path, [("RANGE", np.array([0, 5 << 50, 7 << 50, 12 << 54], np.int64))],
                          [("PIXTYPE", "HEALPIX"), ("ORDERING", "RANGE"), ("COORDSYS", "C"), ("MOCDIM", "SPACE"), ("MOCORD_S", 4)], True)


def healsparse(path):
    pytest.importorskip("healsparse")
    skyfiles.write_healsparse(path, np.where(disc(), 1.5, kugel.UNSEEN), nside_coverage=4)


# kind: (a writer of the file, a reader, the size of what it returns)
KINDS = {
    "moc": (lambda p: skyfiles.write_moc(p, disc()), lambda p: skyfiles.read_moc(p, 8), 768),
    "moc of ranges": (ranges, lambda p: skyfiles.read_moc(p, 8), 768),
    "multi-order": (lambda p: multiorder(p, [(4 + f, f) for f in range(1, 12)] + [(256 + i, i) for i in range(64)]),
                    lambda p: skyfiles.read_multiorder(p, 8), 768),
    "skymap of HATS": (lambda p: kugel.write_map(p, np.arange(768), nest=True, dtype=np.int64, coord="C"),
                       lambda p: kugel.read_map(p, nest=True), None),
    "healsparse": (healsparse, lambda p: skyfiles.read_healsparse(p, 8), 768),
}
WORDS = [b"'RANGE'", b"'NUNIQ'", b"'NESTED'", b"-1", b"0", b"3", b"99", b"1e30", b"NaN", b"9223372036854775807", b"'1D'", b"'1K'", b"'0K'",
         b"'999999999K'", b"'A'", b"''", b"T", b"'x", b"'TIME'", b"'\xff\xfe'"]


def attempt(path, data, read, size):
    """Whether the file is read."""
    path.write_bytes(data)
    try:
        out = read(path)
    except REFUSED as error:
        assert 10 < len(str(error)) < 600 and "\n" not in str(error).strip()
        return False
    assert size is None or out.shape == (size,)
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_files_cut_short(kind, tmp_path):
    write, read, size = KINDS[kind]
    write(tmp_path / "whole.fits")
    whole = (tmp_path / "whole.fits").read_bytes()
    assert attempt(tmp_path / "part.fits", whole, read, size)
    filled = len(whole.rstrip(b"\0"))
    for length in [0, 1, 79, 80, 2879, 2880, 2881, 4000, 5759, 5760, filled // 2, filled - 1]:
        if length < filled:
            assert not attempt(tmp_path / "part.fits", whole[:length], read, size), length


@pytest.mark.parametrize("kind", KINDS)
def test_wild_bytes_and_metadata(kind, tmp_path):
    write, read, size = KINDS[kind]
    write(tmp_path / "whole.fits")
    whole, rng = (tmp_path / "whole.fits").read_bytes(), np.random.default_rng(4)
    kept = 0
    cards = [i for i in range(0, len(whole), 80) if whole[i + 8:i + 10] == b"= " and whole[i:i + 8].strip().isascii()]
    assert len(cards) > 15
    for i in cards:  # each value of the header, some words in its place
        for word in rng.choice(np.array(WORDS, object), 3, replace=False):
            kept += attempt(tmp_path / "wild.fits", whole[:i + 10] + word.ljust(70) + whole[i + 80:], read, size)
    for n in (1, 8):
        for _ in range(25):
            data = np.frombuffer(whole, np.uint8).copy()
            data[rng.integers(0, len(data), n)] = rng.integers(0, 256, n)
            kept += attempt(tmp_path / "wild.fits", data.tobytes(), read, size)
    assert kept < 3 * len(cards) + 50


def cells(n=768, **attrs):
    xr = pytest.importorskip("xarray")
    import kugel.xarray  # noqa: F401

    crs = xr.DataArray(np.int32(0), attrs={"grid_mapping_name": "healpix", "healpix_nside": 8, "healpix_order": "nested"} | attrs)
    return xr.DataArray(np.arange(float(n)), dims="cell", attrs={"grid_mapping": "crs"}, coords={"crs": crs})


@pytest.mark.parametrize("attrs, says", [
    ({"healpix_nside": "eight"}, "healpix_nside of the cells is 'eight'; it must be a whole number from 0"),
    ({"healpix_nside": -8}, "whole number"), ({"healpix_nside": 0}, "at least 1"), ({"healpix_nside": 8.5}, "whole number"),
    ({"healpix_nside": 1 << 40}, "whole number"), ({"healpix_nside": np.array([8, 8])}, "whole number"), ({"healpix_nside": np.nan}, "whole number"),
    ({"healpix_nside": 16}, "768 cells and nside 16 has 3072"), ({"healpix_nside": 6}, "power of two"), ({"level": 1 << 60}, "level of the cells"),
    ({"healpix_order": "peano"}, "peano"), ({"healpix_order": 7}, "numbering of the cells")])
def test_wild_grid_mappings(attrs, says):
    with pytest.raises(ValueError, match=says):
        cells(**attrs).kugel.grid


def test_cell_numbers():
    a = cells(3)
    assert "3 of 768" in a.assign_coords(cell_ids=("cell", [1.0, 5.0, 7.0])).kugel.grid  # as integers beside a _FillValue are read
    for ids, says in [([1.5, 2, 3], "cell_ids"), ([np.nan, 2, 3], "cell_ids"), ([-1, 2, 3], "0 to 767"), ([1, 1, 3], "not all different"),
                      ([1e300, 2, 3], "cell_ids"), (["a", "b", "c"], "cell_ids")]:
        with pytest.raises(ValueError, match=says):
            a.assign_coords(cell_ids=("cell", ids)).kugel.grid


@pytest.mark.parametrize("form", ["nc", "zarr"])
def test_files_of_cells(form, tmp_path):
    """NetCDF and Zarr by xarray: there and back, the grid mapping with them, and wild metadata on the way in."""
    xr = pytest.importorskip("xarray")
    pytest.importorskip({"nc": "h5netcdf", "zarr": "zarr"}[form])
    name = tmp_path / f"cells.{form}"

    def through(a):
        data = a.rename("t").to_dataset()
        if form == "nc":
            data.to_netcdf(name, engine="h5netcdf")
            return xr.open_dataset(name, engine="h5netcdf", decode_coords="all").load().t
        data.to_zarr(name, mode="w")
        return xr.open_zarr(name, decode_coords="all").load().t
    back = through(cells())
    assert back.kugel.grid == "HEALPix nside 8, NESTED" and np.allclose(back.kugel.spectrum(8), cells().kugel.spectrum(8))
    with pytest.raises(ValueError, match="whole number"):
        through(cells(healpix_nside="wide")).kugel.smooth(5)
