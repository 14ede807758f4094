# SPDX-License-Identifier: BSD-3-Clause
"""HEALPix maps as NPY arrays, in and out of every command, against the same maps as FITS; and parts of the sky: files that
healpy wrote, and files whose bytes are read by hand."""
import math
import os
import random
import npyfile
from fitsfile import *
from harness import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")
UNSEEN = -1.6375e30
NSIDE = 8
NPIX = 12 * NSIDE * NSIDE


def columns(path):
    return [list(c[2]) for c in read_map(path)[2]]


def to_nest(values):
    """By the command itself, whose reordering other tests check."""
    write_map("ring.fits", [("A", "", values)], NSIDE, code="D")
    ok("reorder", "ring.fits", "nested.fits", "--to", "nested", "--overwrite")
    return columns("nested.fits")[0]


def maps(n=1):
    """A smooth map with two blobs, or three such, with a few unseen pixels."""
    rng = random.Random(n)
    return [[math.sin(0.01 * i * (c + 1)) + 0.1 * rng.random() for i in range(NPIX)] for c in range(n)]


def inputs():
    """one.fits and one.npy, three.fits and three.npy: the same maps."""
    one, three = maps(), maps(3)
    for i in range(100, 130):
        one[0][i] = UNSEEN
    write_map("one.fits", [("TEMPERATURE", "K", one[0])], NSIDE, code="D")
    npyfile.write("one.npy", [NPIX], one[0])
    npyfile.write("row.npy", [1, NPIX], one[0])
    npyfile.write("nest.npy", [NPIX], to_nest(one[0]))
    names = ["TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"]
    write_map("three.fits", [(n, "K", m) for n, m in zip(names, three)], NSIDE, code="D")
    npyfile.write("three.npy", [3, NPIX], sum(three, []))
    npyfile.write("half.npy", [NPIX], one[0], "<f4")
    return one, three


TO_MAPS = [["smooth", "--fwhm", "15deg"], ["smooth", "--fwhm", "15deg", "--method", "direct"], ["filter", "--fwhm", "15deg"],
           ["wavelet", "--scales", "2"], ["rotate", "--euler", "10deg,20deg,30deg"], ["udgrade", "--nside", "4"],
           ["regrid", "--nside", "6"]]


def every_command_that_makes_maps():
    inputs()
    for command, *more in TO_MAPS:
        for file in ("one", "three") if command in ("smooth", "rotate", "udgrade") else ("one",):
            ok(command, f"{file}.fits", "want.fits", *more, "--overwrite")
            want = sum(columns("want.fits"), [])
            for source in [f"{file}.npy"] + ["row.npy"] * (file == "one"):
                ok(command, source, "got.npy", *more, "--overwrite")
                shape, got, dtype = npyfile.read("got.npy")
                count = 3 if file == "three" else 1
                assert shape == ((len(want),) if count == 1 else (3, len(want) // 3)) and dtype == "<f8", (command, shape)
                assert got == want, (command, more, max(abs(a - b) for a, b in zip(got, want)))
                ok(command, source, "got.fits", *more, "--overwrite")
                assert sum(columns("got.fits"), []) == want, command
            ok(command, f"{file}.fits", "got.npy", *more, "--overwrite")
            assert npyfile.read("got.npy")[1] == want


def nested_is_asked_for():
    one, _ = inputs()
    nest = npyfile.read("nest.npy")[1]
    for command, *more in TO_MAPS[:6]:
        ok(command, "one.npy", "ring_out.npy", *more, "--overwrite")
        r = ok(command, "nest.npy", "nest_out.fits", *more, "--nest", "--overwrite", "--json").json
        assert r["ordering"] == "NESTED" and read_map("nest_out.fits")[0]["ORDERING"] == "NESTED"
        r = ok(command, "nest.npy", "nest_out.npy", *more, "--nest", "--overwrite", "--json").json
        assert r["output_ordering"] == "NESTED"
        assert npyfile.read("nest_out.npy")[1] == columns("nest_out.fits")[0]
        ok("reorder", "nest_out.npy", "back.npy", "--nest", "--to", "ring", "--overwrite")
        assert npyfile.read("back.npy")[1] == npyfile.read("ring_out.npy")[1], command
    assert "taken as RING" in ok("reorder", "one.npy", "n.npy").out
    assert "in NESTED order" in ok("reorder", "one.npy", "n.npy", "--overwrite").out and npyfile.read("n.npy")[1] == nest
    ok("reorder", "n.npy", "r.npy", "--nest")
    assert npyfile.read("r.npy")[1] == one[0]
    ok("reorder", "one.fits", "n.fits")
    ok("smooth", "n.fits", "ring.npy", "--fwhm", "15deg")  # NPY is RING unless --nest says otherwise
    ok("smooth", "one.npy", "want.npy", "--fwhm", "15deg")
    assert npyfile.read("ring.npy")[1] == npyfile.read("want.npy")[1]


def coefficients_spectra_pictures_sources():
    inputs()
    ok("map2alm", "three.fits", "a.fits", "--lmax", "12")
    ok("map2alm", "three.npy", "b.fits", "--lmax", "12")
    assert [c[2] for t in read_tables("a.fits") for c in t[2]] == [c[2] for t in read_tables("b.fits") for c in t[2]]
    ok("anafast", "one.fits", "a.txt", "--mask", "one.fits")
    ok("anafast", "one.npy", "b.txt", "--mask", "row.npy")
    ok("anafast", "nest.npy", "c.txt", "--mask", "nest.npy", "--nest")
    text = [[line for line in open(f"{n}.txt") if line[0] != "#"] for n in "abc"]
    assert text[0] == text[1] == text[2]
    ok("plot", "one.npy", "a.png", "--size", "200")
    ok("plot", "nest.npy", "b.png", "--size", "200", "--nest")
    assert open("a.png", "rb").read() == open("b.png", "rb").read()
    for n, more in ("a", []), ("b", ["--partial"]):
        ok("sources", "one.npy", f"{n}.csv", "--fwhm", "20deg", "--threshold", "1", "--filtered", f"{n}_f.fits", *more)
    assert int(read_map("b_f.fits")[0]["OBS_NPIX"]) == NPIX - 30
    ok("sources", "one.npy", "c.csv", "--fwhm", "20deg", "--threshold", "1", "--filtered", "f.npy")
    assert npyfile.read("f.npy")[1] == columns("a_f.fits")[0]


def synthesis_into_npy():
    ok("map2alm", SKY, "alm.fits", "--lmax", "20", "--iter", "0")
    with open("cl.txt", "w") as f:
        f.writelines(f"{l} {1 / (l + 1) ** 2}\n" for l in range(25))
    for command, source in ("alm2map", "alm.fits"), ("synfast", "cl.txt"):
        ok(command, source, "want.fits", "--nside", "8", "--overwrite")
        ok(command, source, "got.npy", "--nside", "8", "--overwrite")
        want = columns("want.fits")
        shape, got, _ = npyfile.read("got.npy")
        assert got == sum(want, []) and shape == ((NPIX,) if len(want) == 1 else (len(want), NPIX))
        ok(command, source, "nest.fits", "--nside", "8", "--order", "nested", "--overwrite")
        ok(command, source, "nest.npy", "--nside", "8", "--nest", "--f32", "--overwrite")
        _, got, dtype = npyfile.read("nest.npy")
        want = sum(columns("nest.fits"), [])
        assert dtype == "<f4" and max(abs(a - b) for a, b in zip(got, want)) < 1e-6 * max(map(abs, want))
        ok(command, source, "rows.npy", "--rows", "19", "--overwrite")
        assert npyfile.read("rows.npy")[0][-2:] == (19, 38)
        refused(2, command, source, "x.npy", says="give --nside for a HEALPix map in x.npy, or --rows")


def shapes_and_refusals():
    inputs()
    npyfile.write("rows.npy", [24, 48], [1.0] * 1152)  # 48 = 12 2^2, but these are rows of latitude
    assert ok("map2alm", "rows.npy", "a.fits", "--json").json["rows"] == 24
    assert ok("map2alm", "one.npy", "b.fits", "--json").json["nside"] == NSIDE
    assert "a HEALPix map of nside 8" in ok("info", "one.npy").out
    refused(1, "smooth", "rows.npy", "o.npy", "--fwhm", "1deg", says="rows.npy is an array of 24 x 48: a HEALPix map is")
    refused(2, "smooth", "one.npy", "o.npy", "--fwhm", "1deg", "--nest", "--ring", says="give one of --nest and --ring")
    refused(2, "smooth", "one.npy", "o.npy", "--fwhm", "1deg", "--partial", says="an NPY file holds the whole sky")
    refused(2, "udgrade", "three.npy", "o.npy", "--nside", "4", "-c", "1,3", says="maps 0 to 2")
    refused(1, "smooth", "one.npy", "o.npy", "--fwhm", "20deg", "--method", "direct", "--mem", "1G", says="NPY")
    ok("udgrade", "three.npy", "o.npy", "--nside", "8", "-c", "2,0")
    one, three = inputs()
    assert npyfile.read("o.npy")[1] == three[2] + three[0]
    npyfile.write("six.npy", [432], [0.0] * 432)
    refused(1, "reorder", "six.npy", "o.npy", "--nest", "--overwrite", says="nside 6, which is no power of two")
    ok("smooth", "half.npy", "single.npy", "--fwhm", "9deg")
    assert npyfile.read("single.npy")[2] == "<f4"


def truth(order):
    with open(shared(f"sphere/partial/healpy_ns8_{order}.txt")) as f:
        rows = [line.split() for line in f]
    return [int(r[0]) for r in rows], [[float(r[c]) for r in rows] for c in (1, 2, 3)]


def parts_of_the_sky_from_healpy():
    """write_map(partial=True) of healpy 1.20, in both orders: whole and again in parts."""
    for order in "ring", "nest":
        path = shared(f"sphere/partial/healpy_ns8_{order}.fits")
        pixels, values = truth(order)
        ok("reorder", path, "full.fits", "--to", "ring" if order == "ring" else "nested", "--overwrite")
        full = columns("full.fits")
        for c in range(3):
            seen = dict(zip(pixels, values[c]))
            assert all(abs(full[c][i] - seen.get(i, UNSEEN)) <= 1e-6 * abs(seen.get(i, UNSEEN)) + 1e-6 for i in range(NPIX))
        ok("reorder", path, "part.fits", "--to", "ring" if order == "ring" else "nested", "--partial", "--overwrite")
        h, _, cols = read_map("part.fits")
        assert h["INDXSCHM"] == "EXPLICIT" and h["OBJECT"] == "PARTIAL" and cols[0][0] == "PIXEL"
        assert list(cols[0][2]) == pixels and int(h["OBS_NPIX"]) == 60 and int(h["NSIDE"]) == 8 and h["COORDSYS"] == "G"
        assert all(abs(a - b) < 1e-6 for c in range(3) for a, b in zip(cols[c + 1][2], values[c]))


def parts_of_the_sky_by_every_command():
    one, _ = inputs()
    seen = [i for i in range(NPIX) if one[0][i] != UNSEEN]
    for command, *more in TO_MAPS:
        ok(command, "one.fits", "whole.fits", *more, "--overwrite")
        ok(command, "one.fits", "part.fits", *more, "--partial", "--overwrite")
        whole, (h, _, cols) = columns("whole.fits")[0], read_map("part.fits")
        kept = [i for i, v in enumerate(whole) if v != UNSEEN]
        assert h["INDXSCHM"] == "EXPLICIT" and list(cols[0][2]) == kept, command
        assert list(cols[1][2]) == [whole[i] for i in kept], command
        if command == "smooth":
            assert kept == seen
            ok(command, "part.fits", "twice.fits", *more, "--partial", "--overwrite")
            assert list(read_map("twice.fits")[2][0][2]) == seen
    ok("smooth", SKY, "whole.fits", "--fwhm", "5deg", "--lmax", "30", "--partial", "--overwrite")  # all pixels are seen
    assert int(read_map("whole.fits")[0]["OBS_NPIX"]) == 12 * 32 ** 2
    refused(1, "smooth", "one.fits", "o.fits", "--fwhm", "9deg", "--method", "direct", "--mem", "1G", "--partial",
            says="the output holds part of the sky")


main([every_command_that_makes_maps, nested_is_asked_for, coefficients_spectra_pictures_sources, synthesis_into_npy,
      shapes_and_refusals, parts_of_the_sky_from_healpy, parts_of_the_sky_by_every_command])
