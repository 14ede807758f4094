# SPDX-License-Identifier: BSD-3-Clause
"""spectra, mask: skies of known spectrum behind a mask, distances and windows by closed forms, what is refused."""
import csv
import math
import os
import npyfile
from fitsfile import *
from harness import *

NSIDE = 64
NPIX = 12 * NSIDE * NSIDE


def column(path, i=0):
    return list(read_map(path)[2][i][2])


def rows(path):
    with open(path) as f:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(f)]


def rings():
    """z of each pixel, RING order."""
    z = []
    for i in range(1, 4 * NSIDE):
        k = min(i, 4 * NSIDE - i)
        if k < NSIDE:
            h = 1 - k * k / (3 * NSIDE * NSIDE)
            z += [h if i == k else -h] * (4 * k)
        else:
            z += [(2 * NSIDE - i) * 2 / (3 * NSIDE)] * (4 * NSIDE)
    return z


def inputs():
    with open("cl.txt", "w") as f:
        for l in range(160):
            c = 1 / (l + 20) ** 2
            f.write(f"{l} {c} {0.1 * c} {0.01 * c} {0.15 * c}\n")
    z = rings()
    npyfile.write("mask.npy", (NPIX,), [1.0 if abs(x) > 0.3 else 0.0 for x in z], "<f8")
    return z


def known_spectra():
    inputs()
    ok("synfast", "cl.txt", "sky.fits", "--nside", NSIDE, "--lmax", 150, "--seed", 3, "--fwhm", "1deg", "--pixwin")
    j = ok("spectra", "sky.fits", "b.csv", "--mask", "mask.npy", "--apodise", "8deg", "--width", 16, "--errors", "--beam", "1deg",
           "--pixwin", "--pure", "b", "--lmax", 128, "--plot", "b.png", "--json").json
    assert j["spectra"] == ["TT", "TE", "TB", "EE", "EB", "BB"] and j["bands"] == 7 and j["condition"] < 100
    with open("b.png", "rb") as f:
        assert f.read(8) == b"\x89PNG\r\n\x1a\n"
    table = rows("b.csv")
    assert len(table) == 7 and table[0]["lmin"] == 2 and table[6]["lmax"] == 113 and table[1]["leff"] == 25.5
    chi2 = n = 0
    for row in table[1:]:
        for name, share in ("TT", 1), ("EE", 0.1), ("BB", 0.01), ("TE", 0.15), ("TB", 0), ("EB", 0):
            c = sum(1 / (l + 20) ** 2 for l in range(int(row["lmin"]), int(row["lmax"]) + 1)) / 16
            pull = (row[name] - share * c) / row[name + "_error"]
            assert abs(pull) < 4.5, (name, row, share * c)
            chi2 += pull ** 2
            n += 1
    assert 0.5 < chi2 / n < 1.6, chi2 / n
    ok("spectra", "sky.fits", "x.csv", "--cross", "sky.fits", "--mask", "mask.npy", "--apodise", "8deg", "--width", 16, "--beam", "1deg",
       "--pixwin", "--pure", "b", "--lmax", 128)
    for a, b in zip(rows("x.csv"), table):  # the cross spectrum of a map with itself
        assert all(math.isclose(a[k], b[k], rel_tol=1e-9) for k in ("TT", "TE", "EE", "BB")), (a, b)
        assert math.isclose(a["TE"], a["ET"], rel_tol=1e-6), a
    ok("spectra", "sky.fits", "y.csv", "--mask", "mask.npy", "--apodise", "8deg", "--width", 16, "--beam", "1deg", "--pixwin", "--pure", "b",
       "--beyond-mask", "--lmax", 128)
    for a, b in zip(rows("y.csv")[1:], table[1:]):
        assert abs(a["BB"] - b["BB"]) < b["BB_error"] and math.isclose(a["EE"], b["EE"], rel_tol=0.01) and a["BB"] != b["BB"], (a, b)
    with open("edges.txt", "w") as f:
        f.write("# degrees\n2, 18\n34 50\n")
    ok("spectra", "sky.fits", "t.csv", "--columns", "0", "--edges", "edges.txt", "--windows", "w.npy", "--mask", "mask.npy", "--dl",
       "--lmax", 128)
    one = rows("t.csv")
    assert len(one) == 3 and set(one[0]) == {"band", "lmin", "lmax", "leff", "TT"} and one[2]["lmax"] == 49
    shape, values, _ = npyfile.read("w.npy")
    assert tuple(shape) == (1, 3, 1, 129)
    values = list(values)
    flat = [2 * math.pi / (l * (l + 1)) if 2 <= l < 50 else 0 for l in range(129)]
    for b in range(3):  # a spectrum that is 1 in the bands
        assert math.isclose(sum(w * c for w, c in zip(values[129 * b:129 * b + 129], flat)), 1, rel_tol=1e-9)


def whole_sky_as_anafast():
    inputs()
    ok("synfast", "cl.txt", "sky.fits", "--nside", 32, "--lmax", 64)
    ok("anafast", "sky.fits", "cl.csv", "--lmax", 48, "--columns", "0")
    ok("spectra", "sky.fits", "b.csv", "--lmax", 48, "--width", 1, "--columns", "0")
    assert ok("spectra", "sky.fits", "far.csv", "--lmax", 120, "--columns", "0", "--json").json["beyond_pixels"] is True
    with open("cl.csv") as f:
        want = [float(line.replace(",", " ").split()[1]) for line in f if line[0].isdigit()]
    for row in rows("b.csv"):
        l = int(row["lmin"])
        assert math.isclose(row["TT"], want[l], rel_tol=2e-3), (l, row["TT"], want[l])


def masks():
    z = inputs()
    ok("mask", "mask.npy", "d.fits", "--distance", "--plot", "d.png")
    for got, x in zip(column("d.fits"), z):
        want = max(0, math.degrees(math.asin(abs(x)) - math.asin(0.3)))
        assert got == 0 if abs(x) <= 0.3 else abs(got - want) < 1.0, (got, want)  # to a masked pixel's centre
    ok("mask", "mask.npy", "l.fits", "--distance", "--limit", "10deg")
    assert all(math.isclose(a, min(b, 10), rel_tol=1e-6) for a, b in zip(column("l.fits"), column("d.fits")))
    ok("mask", "mask.npy", "a.npy", "--apodise", "8deg", "--window", "c2")
    _, values, _ = npyfile.read("a.npy")
    for w, angle in zip(values, column("d.fits")):
        x = math.sin(math.radians(angle) / 2) / math.sin(math.radians(4))
        want = 1 if x >= 1 else 0.5 * (1 - math.cos(math.pi * x))
        assert abs(w - want) < 1e-5
    ok("synfast", "cl.txt", "sky.fits", "--nside", 16, "--seed", 1)
    j = ok("mask", "sky.fits", "s.fits", "--seen", "--json").json
    assert j["mean"] == 1 and set(column("s.fits")) == {1}


def wrong():
    inputs()
    ok("synfast", "cl.txt", "sky.fits", "--nside", 16, "--seed", 1)
    npyfile.write("none.npy", (12 * 256,), [0.0] * (12 * 256), "<f8")
    npyfile.write("one.npy", (12 * 256,), [1.0] * (12 * 256), "<f8")
    open("empty.txt", "w").close()
    with open("back.txt", "w") as f:
        f.write("10 5")
    refused(1, "spectra", "sky.fits", "b.csv", "--mask", "none.npy", says="leaves no pixel")
    refused(1, "spectra", "sky.fits", "b.csv", "--mask", "mask.npy", says="nside 64")
    refused(1, "spectra", "sky.fits", "b.csv", "--edges", "empty.txt", says="no numbers")
    refused(1, "spectra", "sky.fits", "b.csv", "--edges", "back.txt", says="must rise")
    refused(2, "spectra", "sky.fits", "b.csv", "--width", 400, says="no band")
    refused(2, "spectra", "sky.fits", "b.csv", "--width", 4, "--edges", "back.txt", says="one of --width and --edges")
    refused(2, "spectra", "sky.fits", "b.csv", "--windows", "w.npy", says="one column only")
    refused(2, "spectra", "one.npy", "b.csv", "--pure", "b", says="no polarisation")
    refused(2, "spectra", "sky.fits", "b.csv", "--beyond-mask", says="needs --pure")
    refused(2, "spectra", "sky.fits", "b.csv", "--cross-beam", "1deg", says="needs --cross")
    refused(1, "spectra", "sky.fits", "b.csv", "--beam", "90deg", "--width", 4, says="condition number")
    refused(2, "mask", "one.npy", "m.fits", says="--apodise, --distance or --seen")
    refused(2, "mask", "one.npy", "m.fits", "--apodise", "1deg", "--distance", says="one of")
    refused(2, "mask", "one.npy", "m.fits", "--apodise", "1deg", "--limit", "1deg", says="needs --distance")
    assert not os.path.exists("b.csv") and not os.path.exists("m.fits")


main([known_spectra, whole_sky_as_anafast, masks, wrong])
