# SPDX-License-Identifier: BSD-3-Clause
"""--device: the same results on an OpenCL device (skipped where there is none), and what devices refuse."""
import os
import npyfile
from fitsfile import *
from harness import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")


def columns(path):
    return [list(c[2]) for c in read_map(path)[2]]


def same(a, b, bound):
    for one, two in zip(columns(a), columns(b), strict=True):
        size = max(map(abs, two))
        assert max(abs(x - y) for x, y in zip(one, two)) < bound * size


def same_results():
    need_opencl()
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} {1 / (l + 1) ** 2}\n" for l in range(25)))
    lines = {
        "smooth": [SKY, "out.fits", "--fwhm", "5deg", "--lmax", "30"],
        "synfast": ["cl.txt", "out.fits", "--nside", "16"],
        "regrid": [SKY, "out.fits", "--nside", "12", "--lmax", "20"],
        "rotate": [SKY, "out.fits", "--to", "C", "--lmax", "20"],
        "reorder": [SKY, "out.fits"],
        "udgrade": [SKY, "out.fits", "--nside", "8", "--order", "ring"],
        "sources": [SKY, "out.csv", "--fwhm", "5deg", "--filtered", "out.fits"],
    }
    for command, words in lines.items():
        ok(command, *words)
        os.rename("out.fits", "cpu.fits")
        r = ok(command, *words, "--device", "opencl:0", "--json", "--overwrite")
        assert r.json["device"] == "opencl:0"
        same("out.fits", "cpu.fits", 1e-6)
        os.remove("out.fits")
    r = ok("map2alm", SKY, "alm.fits", "--lmax", "30", "--device", "opencl:0", "--json")
    assert r.json["kernels"]["compiled"] + r.json["kernels"]["cached"] > 0 and r.json["kernels"]["seconds"] >= 0, r.json
    ok("anafast", SKY, "cl.fits", "--lmax", "30", "--device", "opencl:0")
    ok("alm2map", "alm.fits", "out.fits", "--nside", "16", "--device", "opencl:0")
    ok("map2alm", SKY, "alm2.fits", "--lmax", "30")
    ok("alm2map", "alm2.fits", "cpu.fits", "--nside", "16", "--overwrite")
    same("out.fits", "cpu.fits", 1e-10)
    for words in ([], ["--device", "opencl:0"]):
        ok("alm2map", "alm2.fits", "gpu.fits" if words else "cpu.fits", "--nside", "16", "--der1", "--overwrite", *words)
    same("gpu.fits", "cpu.fits", 1e-10)


def power_spectra():
    need_opencl()
    for words in ([], ["--device", "opencl:0"]):
        ok("spectra", SKY, "gpu.csv" if words else "cpu.csv", "--lmax", "40", "--width", "8", "--errors", *words)
    rows = [[[float(x) for x in line.split(",")] for line in list(open(name))[1:]] for name in ("cpu.csv", "gpu.csv")]
    assert len(rows[0]) == 4 and all(abs(a - b) <= 1e-10 * abs(a) for one, two in zip(*rows) for a, b in zip(one, two)), rows


def points_and_lenses():
    need_opencl()
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} {1 / (l + 1) ** 2} {int(l > 1)} {int(l > 1)} 0\n" for l in range(13)))
    ok("synfast", "cl.txt", "sky.fits", "--nside", "4", "--alm", "sky_alm.fits", "--lmax", "12", "--seed", "3")
    with open("places.csv", "w") as f:
        f.write("LON,LAT\n0,90\n10,-90\n" + "".join(f"{17 * i},{5 * i - 80}\n" for i in range(30)))
    on = ["--overwrite", "--json", "--device", "opencl:0"]
    ok("at", "sky_alm.fits", "places.csv", "cpu.npy", "--eps", "1e-12")
    j = ok("at", "sky_alm.fits", "places.csv", "gpu.npy", "--eps", "1e-12", *on).json
    assert j["device"] == "opencl:0" and j["points"] == 32, j
    (_, want, _), (shape, got, _) = npyfile.read("cpu.npy"), npyfile.read("gpu.npy")
    assert shape == (3, 32) and max(abs(a - b) for a, b in zip(got, want)) < 1e-11 * max(map(abs, want))
    ok("lens", "sky_alm.fits", "sky_alm.fits", "cpu.fits", "--nside", "4", "--no-pol", "--eps", "1e-12", "--overwrite")
    j = ok("lens", "sky_alm.fits", "sky_alm.fits", "out.fits", "--nside", "4", "--no-pol", "--eps", "1e-12", *on).json
    assert j["device"] == "opencl:0" and j["deflection_rms"] > 0, j
    same("out.fits", "cpu.fits", 1e-10)
    refused(1, "at", "sky.fits", "places.csv", "none.npy", "--device", "opencl:0", says="--exact")


def refusals():
    r = refused(1, "smooth", SKY, "out.fits", "--fwhm", "5deg", "--device", "abacus")
    assert "abacus" in r.err and "cpu" in r.err, r
    assert not os.path.exists("out.fits")
    r = refused(1, "smooth", SKY, "out.fits", "--fwhm", "5deg", "--device", "cuda:99")
    assert "cuda" in r.err.lower(), r
    need_opencl()
    refused(1, "bench", "sht:nside=1,lmax=65536,mmax=1", "--device", "opencl:0", says="lmax is 65536 with")


def memory_limit():
    need_opencl()
    refused(2, "smooth", SKY, "out.fits", "--fwhm", "5deg", "--mem", "20G", says="--device")
    for wrong in ("20X", "G", "-1G", "1k"):
        refused(2, "smooth", SKY, "out.fits", "--fwhm", "5deg", "--mem", wrong, "--device", "opencl:0")
    words = ["synfast", "cl.txt", "out.fits", "--nside", "128", "--overwrite", "--json", "--device", "opencl:0"]
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} {1 / (l + 1) ** 2}\n" for l in range(61)))
    whole = ok(*words).json
    os.rename("out.fits", "whole.fits")
    parts = ok(*words, "--mem", "2.4M").json
    assert columns("out.fits") == columns("whole.fits")
    assert parts["memory"]["device_peak_bytes"] <= 2400000 < whole["memory"]["device_peak_bytes"], (parts, whole)
    refused(1, *words[:-3], "--device", "opencl:0", "--mem", "1M", says="needs at least")


def bench():
    need_opencl()
    words = ["sht:nside=16", "sht:nside=16,dir=adjoint", "sht:nside=16,spin=teb,dtype=f32", "sht:nside=16,dir=analysis",
             "sht:nside=16,dir=analysis,iter=1"]
    found = ok("bench", *words, "--json", "-s", "0", "--device", "opencl:0").json["results"]
    assert all(j["device"] == "opencl:0" and j["runs"] >= 5 for j in found)
    assert [j["error"] and j["error"] < b for j, b in zip(found, (1e-13, 1e-15, 1e-6, 0, 0))] == [True, True, True, None, None]
    words = ["fft:n=60,batch=3", "fft:n=16,n2=12,kind=r2c,dtype=f32", "fft:n=64,kind=c2r", "fft:n=32,kind=dct2"]
    found = ok("bench", *words, "--json", "-s", "0", "--device", "opencl:0").json["results"]
    assert all(j["device"] == "opencl:0" and j["arrays"] == "device" for j in found)
    assert all(j["error"] < b for j, b in zip(found, (1e-15, 1e-6, 1e-15, 1e-15))), found
    assert all(j["arrays"] == "device" for j in found)


main([same_results, power_spectra, points_and_lenses, refusals, memory_limit, bench])
