# SPDX-License-Identifier: BSD-3-Clause
"""How work is done, and how far: refinements to a tolerance, cut-offs of sums over pixels, the method that auto picks, regridding
beyond what a grid carries, maps without an observed pixel."""
import math
import os
import npyfile
from fitsfile import *
from harness import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")
UNSEEN = -1.6375e30
NPIX = 12 * 8 * 8


def columns(path):
    return [list(c[2]) for c in read_map(path)[2]]


def off(a, b):
    size = math.sqrt(sum(x * x for x in b))
    return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b))) / size


def alm(path):
    return [x for t in read_tables(path) for c in t[2][1:] for x in c[2]]


def refined_to_a_tolerance():
    ok("map2alm", SKY, "sky.fits", "--lmax", "40", "--iter", "0")
    ok("alm2map", "sky.fits", "map.fits", "--nside", "32")  # holds nothing above lmax 40
    want = alm("sky.fits")
    before = 1
    for tolerance in "1e-3", "1e-6", "1e-9":
        j = ok("map2alm", "map.fits", "a.fits", "--lmax", "40", "--tolerance", tolerance, "--json", "--overwrite").json
        error = off(alm("a.fits"), want)
        assert j["correction"] <= float(tolerance) and error <= float(tolerance) and error < before, (tolerance, error)
        ok("map2alm", "map.fits", "b.fits", "--lmax", "40", "--iter", j["iterations_done"], "--overwrite")
        assert off(alm("b.fits"), alm("a.fits")) < 1e-14, "as many refinements asked for by number"
        before = error
    ok("anafast", "map.fits", "cl.txt", "--lmax", "40", "--tolerance", "1e-8")
    ok("rotate", "map.fits", "turned.fits", "--euler", "0deg,0deg,0deg", "--lmax", "40", "--tolerance", "1e-8")
    for a, b in zip(columns("turned.fits"), columns("map.fits")):
        assert off(a, b) < 1e-8
    refused(1, "map2alm", SKY, "c.fits", "--tolerance", "1e-12", says="give a larger one, or a lower --lmax")
    refused(2, "map2alm", SKY, "c.fits", "--tolerance", "1e-3", "--iter", "3", says="give one of --tolerance, --iter and --lsq")


def cut_offs():
    radii = {}
    for words in ("--radius", "20deg"), ("--cut-rms", "1e-3"), ("--cut-rms", "1e-5"), ("--cut-rms", "1e-10"), ():
        j = ok("smooth", SKY, "out.fits", "--fwhm", "10deg", "--method", "direct", "--json", "--overwrite", *words).json
        radii[words] = j["radius_radians"], j["cut_error"], columns("out.fits")[0]
    assert abs(radii["--radius", "20deg"][0] - math.radians(20)) < 1e-12
    for x in "1e-3", "1e-5", "1e-10":
        assert radii["--cut-rms", x][1] <= float(x) < 20 * radii["--cut-rms", x][1]
    assert radii[()] == radii["--cut-rms", "1e-5"], "the default"
    exact = radii["--cut-rms", "1e-10"][2]
    errors = [off(radii["--cut-rms", x][2], exact) for x in ("1e-3", "1e-5")]
    assert errors[0] < 1e-2 and errors[1] < errors[0] / 10, errors
    ok("smooth", SKY, "rings.fits", "--fwhm", "10deg", "--method", "rings", "--cut-rms", "1e-12")
    ok("smooth", SKY, "direct.fits", "--fwhm", "10deg", "--method", "direct", "--cut-rms", "1e-12")
    assert off(columns("rings.fits")[0], columns("direct.fits")[0]) < 1e-11, "the tolerance of rings, too"
    assert ok("filter", SKY, "f.fits", "--fwhm", "5deg", "--radius", "8deg", "--method", "direct", "--json"
              ).json["radius_radians"] == math.radians(8)
    refused(2, "smooth", SKY, "x.fits", "--fwhm", "5deg", "--radius", "9deg", says="go with --method direct, rings or auto")
    refused(2, "filter", SKY, "x.fits", "--fwhm", "5deg", "--radius", "9deg", "--cut-rms", "1e-3", says="give one of")


def plans_name_the_method():
    for fwhm in "30arcmin", "3deg", "20deg", "60deg":
        words = ["smooth", SKY, "out.fits", "--fwhm", fwhm, "--method", "auto", "--no-pol", "--json", "--overwrite"]
        if fwhm == "30arcmin":
            words[words.index("auto")] = "harmonic"
        planned, done = ok(*words, "--dry-run").json, ok(*words).json
        assert planned.get("method") == done.get("method"), (fwhm, planned.get("method"), done.get("method"))
    assert ok("filter", SKY, "f.fits", "--fwhm", "5deg", "--dry-run", "--json").json["method"] in ("direct", "rings", "harmonic")
    assert "method" in ok("filter", SKY, "f.fits", "--kernel", "matched", "--fwhm", "5deg", "--dry-run").out


def beyond_the_band_limit():
    npyfile.write("rows.npy", [20, 40], [math.cos(i * math.pi / 20) for i in range(20) for _ in range(40)])
    refused(1, "regrid", "rows.npy", "o.fits", "--nside", "8", "--lmax", "30", says="30")
    assert ok("regrid", "rows.npy", "o.fits", "--nside", "8", "--lmax", "30", "--force", "--json").json["lmax"] == 30


def connection():
    """Rotations between orders give what the recurrence gives."""
    ok("map2alm", SKY, "r.fits", "--lmax", "40", "--no-pol", "--iter", "1", "--overwrite")
    ok("map2alm", SKY, "k.fits", "--lmax", "40", "--no-pol", "--iter", "1", "--engine", "connection", "--overwrite")
    assert 0 < off(alm("k.fits"), alm("r.fits")) < 1e-13
    ok("alm2map", "r.fits", "r_map.fits", "--nside", "16")
    ok("alm2map", "r.fits", "k_map.fits", "--nside", "16", "--engine", "connection")
    assert 0 < off(columns("k_map.fits")[0], columns("r_map.fits")[0]) < 1e-13
    ok("alm2map", "r.fits", "rows.npy", "--to-grid", "fejer1", "--rows", "41", "--engine", "connection")
    ok("map2alm", "rows.npy", "back.fits", "--lmax", "40", "--engine", "connection")
    assert off(alm("back.fits"), alm("r.fits")) < 1e-13, "L + 1 rings are enough"
    for engine in ("recurrence", "connection"):
        ok("alm2map", "r.fits", f"{engine}.fits", "--nside", "16", "--der1", "--engine", engine)
        ok("map2alm", SKY, f"{engine}_teb.fits", "--lmax", "40", "--iter", "1", "--engine", engine)
    assert all(0 < off(a, b) < 1e-13 for a, b in zip(columns("connection.fits"), columns("recurrence.fits")))
    assert 0 < off(alm("connection_teb.fits"), alm("recurrence_teb.fits")) < 1e-13
    refused(2, "map2alm", SKY, "d.fits", "--engine", "fourier", says="recurrence")


def empty_maps():
    names = ["TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"]
    write_map("empty.fits", [(n, "K", [UNSEEN] * NPIX) for n in names], 8)
    write_map("nan.fits", [("TEMPERATURE", "K", [math.nan] * NPIX)], 8)
    write_map("sky.fits", [("TEMPERATURE", "K", [math.sin(i) for i in range(NPIX)])], 8)
    write_map("zero.fits", [("MASK", "", [0.0] * NPIX)], 8)
    npyfile.write("rows.npy", [20, 40], [math.nan] * 800)
    before = sorted(os.listdir("."))
    for words in (["smooth", "--fwhm", "9deg"], ["smooth", "--fwhm", "9deg", "--method", "direct"], ["filter", "--fwhm", "9deg"],
                  ["wavelet", "--scales", "2"], ["rotate", "--euler", "0deg,1deg,0deg"], ["rotate", "--euler", "0deg,1deg,0deg", "--points"], ["regrid", "--nside", "4"], ["map2alm"],
                  ["anafast"], ["sources", "--fwhm", "9deg"]):
        for name in "empty.fits", "nan.fits":
            refused(1, words[0], name, "o.csv" if words[0] in ("sources", "anafast") else "o.fits", *words[1:],
                    says=f"{name} has no observed pixel in column TEMPERATURE")
    for words in ["anafast", "sky.fits", "o.csv", "--mask", "zero.fits"], \
                 ["sources", "sky.fits", "o.csv", "--fwhm", "20deg", "--mask", "zero.fits"]:
        refused(1, *words, says="the mask zero.fits leaves no pixel of sky.fits")
    for words in ["map2alm", "rows.npy", "o.fits"], ["regrid", "rows.npy", "o.fits", "--nside", "4"], ["plot", "rows.npy", "o.png"]:
        refused(1, *words, says="rows.npy has no observed value")
    refused(1, "plot", "nan.fits", "o.png", says="no pixel of column 0 has a value")
    assert sorted(os.listdir(".")) == before


main([refined_to_a_tolerance, cut_offs, plans_name_the_method, beyond_the_band_limit, connection, empty_maps])
