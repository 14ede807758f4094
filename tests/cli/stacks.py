# SPDX-License-Identifier: BSD-3-Clause
"""Stacks of images: kugel convert, mip, convolve and info."""
import os
import struct
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


main([info, convert, mip, convolve])
