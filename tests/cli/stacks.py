# SPDX-License-Identifier: BSD-3-Clause
"""Stacks of images: kugel convert, mip, convolve and info."""
import os
import shutil
import struct
import math
import npyfile
from harness import *

GRID, PSF = (os.path.abspath(os.path.join(HERE, "../data/golden/volume", name)) for name in ("grid.tif", "psf.tif"))


def describe(name):
    return ok("info", "--json", "--stats", name).json["files"][0]


def info():
    j = describe(GRID)
    assert j["kind"] == "stack" and j["format"] == "ImageJ TIFF" and j["shape"] == [1, 1, 21, 150, 150] and j["type"] == "uint8", j
    assert abs(j["voxel_um"]["z"] - 0.125) < 1e-9 and j["columns"][0]["min"] == 1 and j["columns"][0]["max"] == 8, j
    assert "0.125" in ok("info", GRID).out


def convert():
    before = describe(GRID)
    for end in (".ome.tif", ".tif", ".npy", ".nrrd", ".nhdr", ".mha", ".mhd", ".zarr"):  # data files are of one name
        name = f"{end[1:4]}/a{end}"
        os.mkdir(end[1:4]) if not os.path.isdir(end[1:4]) else None
        ok("convert", GRID, name)
        j = describe(name)
        if end == ".npy":
            assert j["shape"] == before["shape"][2:] and abs(j["columns"][0]["mean"] - before["columns"][0]["mean"]) < 1e-9, j
            continue
        assert j["shape"] == before["shape"] and j["type"] == "uint8" and j["columns"][0]["mean"] == before["columns"][0]["mean"], j
        assert abs(j["voxel_um"]["x"] - before["voxel_um"]["x"]) < 1e-9, j
    j = ok("convert", GRID, "b.ome.tif", "--crop", "2:5,,10:60", "--dtype", "f32", "--compress", "zstd", "--json").json
    assert j["clipped"] == 0 and describe("b.ome.tif")["shape"] == [1, 1, 3, 150, 50]
    ok("convert", GRID, "a.zarr", "--zarr", "0.4", "--chunk", "8,64,64")
    assert describe("a.zarr")["format"] == "OME-Zarr 0.4" and describe("a.zarr")["chunk"] == [1, 1, 8, 64, 64]
    for words in (["a.xyz"], ["c.tif", "--crop", "0:22,,"], ["c.tif", "--channel", "1"], ["c.tif", "--compress", "blosc"], ["tif/a.tif"]):
        r = kugel("convert", GRID, *words)
        assert r.code in (1, 2) and r.err, words
    assert not os.path.exists("c.tif") and not [f for f in os.listdir(".") if f.startswith(".kugel")]


def mip():
    j = ok("mip", GRID, "a.png", "--json", "--width", "300").json
    with open("a.png", "rb") as f:
        width, height = struct.unpack(">II", f.read(24)[16:])
    assert width == 300 and 300 < height < 600 and j["min"] == 2 and j["max"] == 8, (width, height, j)
    ok("mip", GRID, "b.png", "--axis", "x", "--slice", "--colors", "viridis", "--max", "5", "--gamma", "0.5")


def convolve():
    ok("convert", PSF, "psf.tif")
    r = kugel("convolve", GRID, PSF, "out.tif")
    assert r.code == 1 and "voxels are" in r.err and not os.path.exists("out.tif")
    ok("convolve", GRID, PSF, "out.tif", "--any-voxel", "--normalise", "--boundary", "reflect", "--dtype", "f32")
    a, b = describe(GRID), describe("out.tif")
    assert b["type"] == "float32" and b["shape"] == a["shape"] and b["voxel_um"] == a["voxel_um"], b
    assert abs(b["columns"][0]["mean"] - a["columns"][0]["mean"]) < 0.05, b
    j = ok("convolve", GRID, PSF, "full.tif", "--any-voxel", "--mode", "full", "-n", "--json").json
    assert j["images"][0]["dry_run"] and not os.path.exists("full.tif")
    os.mkdir("results")
    ok("convolve", GRID, "out.tif", PSF, "results", "--any-voxel", "--normalise")
    assert sorted(os.listdir("results")) == ["grid.tif", "out.tif"]
    assert kugel("convolve", GRID, "out.tif", PSF, "none.tif", "--any-voxel").code == 1


def arrays():
    """NPY arrays of two axes and a kernel of one, against sums; correlation has the kernel's centre on the result's own place."""
    x, h = [[(7 * i * (r + 1)) % 11 - 5. for i in range(10)] for r in range(2)], [1., -2, 3, .5, 4, -1]
    npyfile.write("x.npy", (2, 10), x[0] + x[1])
    npyfile.write("h.npy", (6,), h)
    full = [[sum(h[j] * row[o - j] for j in range(6) if 0 <= o - j < 10) for o in range(15)] for row in x]
    cross = [[sum(h[j] * row[o - 2 + j] for j in range(6) if 0 <= o - 2 + j < 10) for o in range(10)] for row in x]
    how = ["--precision", "f64", "--overwrite"]
    cases = [("full", [], full), ("same", [], [r[2:12] for r in full]), ("valid", [], [r[5:10] for r in full]), ("same", ["--correlate"], cross),
             ("same", ["--boundary", "periodic"], [[r[o + 2] + (r[o - 8] if o >= 8 else 0) + (r[o + 12] if o < 3 else 0) for o in range(10)] for r in full])]
    for mode, more, want in cases:
        ok("convolve", "x.npy", "h.npy", "y.npy", "--mode", mode, *more, *how)
        shape, y, dtype = npyfile.read("y.npy")
        assert shape == (2, len(want[0])) and dtype == "<f8", (mode, shape, dtype)
        assert max(abs(a - b) for a, b in zip(y, want[0] + want[1])) < 1e-12, (mode, more, y, want)


def depths():
    """Kernels of several planes: equal ones as one, channels of a file as files with commas between."""
    how = ["--any-voxel", "--normalise", "--boundary", "reflect", "--dtype", "f32", "--precision", "f64"]
    ok("convert", PSF, "same.tif")
    ok("convolve", GRID, PSF, "one.npy", *how)
    j = ok("convolve", GRID, f"{PSF},same.tif", "two.npy", *how, "--depths", "2,12.5", "--json").json["images"][0]
    assert j["depths"] == 2, j
    a, b = (describe(f)["columns"][0] for f in ("one.npy", "two.npy"))
    assert all(abs(a[k] - b[k]) < 1e-5 * a["max"] for k in ("min", "max", "mean")), (a, b)
    for wrong, says in (("2", "1 planes, and there are 2 kernels"), ("4,2", "planes must rise"), ("2;4", "planes with commas")):
        refused(2, "convolve", GRID, f"{PSF},same.tif", "no.npy", *how, "--depths", wrong, says=says)
    assert not os.path.exists("no.npy")


def nothing_passes_silently():
    """NaN, which would spread, and chunks that are lost are said."""
    npyfile.write("h.npy", (3, 3, 3), [1] * 27, "<f4")
    values = [1.0] * 5 * 6 * 7
    values[(2 * 6 + 3) * 7 + 4] = math.nan
    values[0] = math.inf
    for dtype in "<f4", "<f8":
        npyfile.write("x.npy", (5, 6, 7), values, dtype)
        refused(1, "convolve", "x.npy", "h.npy", "y.npy", says="x.npy is inf at voxel 0, 0, 0")
        assert not os.path.exists("y.npy")
    r = ok("convolve", "x.npy", "h.npy", "y.npy", "--nan", "zero", "--json").json["images"][0]
    y = npyfile.read("y.npy")[1]
    assert r["not_finite"] == 2 and abs(y[0] - 7) < 1e-5 and abs(y[(2 * 6 + 3) * 7 + 4] - 26) < 1e-5
    r = ok("convolve", "x.npy", "h.npy", "z.npy", "--nan", "keep")
    assert "2 voxels read are NaN or infinite" in r.out and all(math.isnan(v) for v in npyfile.read("z.npy")[1])
    npyfile.write("x.npy", (4, 6, 7), [3] * 4 * 6 * 7, "<i4")
    ok("convert", "x.npy", "x.ome.zarr", "--chunk", "2,6,7")
    assert "missing" not in ok("info", "x.ome.zarr", "--stats").out
    chunks = sorted(os.path.join(d, f) for d, _, names in os.walk("x.ome.zarr/0/c") for f in names)
    assert len(chunks) == 2
    os.remove(chunks[1])
    r = ok("info", "x.ome.zarr", "--stats", "--json").json
    assert r["files"][0]["missing_chunks"] == 1 if "files" in r else r["missing_chunks"] == 1, r
    for words in ["convolve", "x.ome.zarr", "h.npy", "c.npy"], ["deconvolve", "x.ome.zarr", "h.npy", "d.npy", "--iter", 1], \
            ["convert", "x.ome.zarr", "e.npy"], ["mip", "x.ome.zarr", "m.png"]:
        assert "1 chunks that were read are not in x.ome.zarr" in ok(*words).out, words


def info_of_what_is_no_stack():
    """By its name it should be one: what is wrong is said of a stack, not of FITS."""
    for name, data, says in ("junk.tif", b"hello", "not a stack that can be read"), ("cut.tif", b"II*\0\x08", "is damaged"), \
            ("empty.nrrd", b"", "is empty"), ("far.tif", b"II*\0\xff\xff\0\0", "is damaged"):
        with open(name, "wb") as f:
            f.write(data)
        r = refused(1, "info", name, says=says)
        assert "FITS" not in r.err, r.err


def info_of_a_folder():
    os.makedirs("many/x.ome.zarr", exist_ok=True)
    refused(1, "info", "many/x.ome.zarr", says="folder")
    os.rmdir("many/x.ome.zarr")
    refused(1, "info", "many", says="has no stacks")
    ok("convert", GRID, "many/b.ome.zarr")
    shutil.copy(GRID, "many/a.tif")
    with open("many/notes.txt", "w") as f:
        f.write("not one")
    out = ok("info", "many").out
    lines = [line for line in out.splitlines() if line.startswith("many/")]
    assert [line.split(":")[0] for line in lines] == ["many/a.tif", "many/b.ome.zarr"], out
    assert all("voxel" in line and "uint" in line for line in lines) and "passed over" in out, out
    j = ok("info", "many/", "--json").json["files"][0]
    assert j["kind"] == "folder" and j["failed"] == 0 and [f["kind"] for f in j["files"]] == ["stack"] * 2, j
    assert j["files"][0]["shape"] == j["files"][1]["shape"] and ok("info", "many", "--stats").out.count(" mean ") == 2
    with open("many/c.tif", "wb") as f:
        f.write(b"II*\0\x08\0\0\0\0\0")
    r = kugel("info", "many")
    assert r.code == 1 and "many/c.tif" in r.err and "1 of 3 stacks" in r.err and "many/b.ome.zarr: " in r.out, r


main([nothing_passes_silently, info_of_a_folder, info_of_what_is_no_stack, info, convert, mip, convolve, arrays, depths])
