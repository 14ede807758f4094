# SPDX-License-Identifier: BSD-3-Clause
"""kugel smooth --method, filter, sources and wavelet, from file to file."""
import math
import os
from fitsfile import *
from harness import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")
GAIA = "sphere/sky/gaiadr3.nside64.densmap.fits"
UNSEEN = -1.6375e30
NSIDE = 32
NPIX = 12 * NSIDE * NSIDE


def column(path, i=0):
    return read_map(path)[2][i][2]


def centre(p):
    """Colatitude and longitude of a RING pixel of the belt."""
    ring, k = divmod(p - 2 * NSIDE * (NSIDE - 1), 4 * NSIDE)
    ring += NSIDE
    shift = 0.5 if (ring - NSIDE) % 2 == 0 else 0
    return math.acos(4 / 3 - 2 * ring / (3 * NSIDE)), (k + shift) * math.pi / (2 * NSIDE)


def angle(a, b):
    p, q = math.sin((a[0] - b[0]) / 2), math.sin((a[1] - b[1]) / 2)
    return 2 * math.asin(math.sqrt(p * p + math.sin(a[0]) * math.sin(b[0]) * q * q))


def belt():
    return range(2 * NSIDE * (NSIDE - 1), 2 * NSIDE * (NSIDE - 1) + (2 * NSIDE + 1) * 4 * NSIDE)


def smooth_by_pixels():
    """A point gives the kernel itself: nowhere negative, zero beyond the cut-off, of the stated shape."""
    write_map("point.fits", [("T", "uK", [1.0 if i == NPIX // 2 + 5 else 0.0 for i in range(NPIX)])], NSIDE, "RING")
    r = ok("smooth", "point.fits", "out.fits", "--fwhm", "8deg", "--method", "direct", "--json").json
    assert r["method"] == "direct" and r["cut_error"] < 1e-5
    got, fwhm, at = column("out.fits"), math.radians(8), centre(NPIX // 2 + 5)
    assert min(got) == 0 and abs(sum(got) - 1) < 0.01
    for i in belt():
        a = angle(at, centre(i))
        want = got[NPIX // 2 + 5] * math.exp(-4 * math.log(2) * (a / fwhm) ** 2) if a < r["radius_radians"] else 0
        assert abs(got[i] - want) < 1e-6 * max(got)
    harmonic = ok("smooth", "point.fits", "h.fits", "--fwhm", "8deg", "--iter", "0")
    assert harmonic.code == 0 and max(abs(a - b) for a, b in zip(got, column("h.fits"))) < 0.02 * max(got)
    write_map("one.fits", [("T", "uK", [1.0] * NPIX)], NSIDE, "RING")
    for method in "direct", "rings", "auto":
        r = ok("smooth", "one.fits", f"one-{method}.fits", "--fwhm", "4deg", "--method", method, "--json").json
        assert all(abs(v - 1) < 1e-5 for v in column(f"one-{method}.fits")), method
        assert 0.9 < r["constant_least"] < 0.96 < r["constant_most"] < 1.01, r
    ok("smooth", "one.fits", "raw.fits", "--fwhm", "4deg", "--method", "direct", "--no-normalise")
    assert min(column("raw.fits")) < 0.96
    assert "1 becomes" in ok("smooth", "one.fits", "said.fits", "--fwhm", "20deg", "--method", "direct").out
    refused(1, "smooth", "one.fits", "x.fits", "--fwhm", "10arcmin", "--method", "direct", says="narrower than the pixels")
    write_map("none.fits", [("T", "uK", [UNSEEN] * NPIX)], NSIDE, "RING")
    for method in "direct", "harmonic":
        refused(1, "smooth", "none.fits", "x.fits", "--fwhm", "4deg", "--method", method, says="no observed pixel")
    half = [3.0 if i % 3 else UNSEEN for i in range(NPIX)]
    write_map("half.fits", [("T", "uK", half)], NSIDE, "RING")
    ok("smooth", "half.fits", "flat.fits", "--fwhm", "8deg", "--method", "direct", "--normalise-mask")
    assert all(abs(v - 3) < 1e-5 if h == 3 else v < -1e30 for h, v in zip(half, column("flat.fits")))
    rings = ok("smooth", "point.fits", "rings.fits", "--fwhm", "8deg", "--method", "rings")
    arkcos = ok("smooth", "point.fits", "arkcos.fits", "--fwhm", "8deg", "--method", "arkcos")
    assert "ARKCoS" in arkcos.out and "ARKCoS" not in rings.out
    assert max(abs(a - b) for a, b in zip(got, column("rings.fits"))) < 1e-5 * max(got)
    ok("smooth", SKY, "direct.fits", "--fwhm", "8deg", "--method", "direct")
    ok("smooth", SKY, "harmonic.fits", "--fwhm", "8deg")
    for c in range(3):
        direct, harmonic = (column(f, c) for f in ("direct.fits", "harmonic.fits"))
        assert max(abs(a - b) for a, b in zip(direct, harmonic)) < 0.02 * max(map(abs, harmonic))
    refused(2, "smooth", "half.fits", "x.fits", "--fwhm", "8deg", "--normalise-mask", says="--method")
    refused(2, "smooth", "half.fits", "x.fits", "--fwhm", "8deg", "--method", "direct", "--lmax", "3", says="--lmax")


def sky_with_sources(path):
    """Three sources of 10 degrees on noise and a slope."""
    spots = [(NPIX // 2 - 9, 50), (NPIX // 2 + 1500, 90), (NPIX // 2 - 1800, 30)]
    places, seed, fwhm = [centre(p) for p, _ in spots], 7, math.radians(8)
    values = [0.0] * NPIX
    for i in range(NPIX):
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        values[i] = (seed >> 33) / 2**31 + 1
    for i in belt():
        for place, (_, height) in zip(places, spots):
            values[i] += height * math.exp(-4 * math.log(2) * (angle(place, centre(i)) / fwhm) ** 2)
    write_map(path, [("T", "uK", values)], NSIDE, "RING")
    return places, spots


def sources():
    places, spots = sky_with_sources("in.fits")
    for kernel in "mexican-hat", "none":
        r = ok("sources", "in.fits", f"{kernel}.csv", "--fwhm", "8deg", "--threshold", "20", "--kernel", kernel, "--json").json
        assert r["sources"] == 3, r
        lines = [x for x in open(f"{kernel}.csv").read().splitlines() if not x.startswith("#")]
        names, rows = lines[0].split(","), [dict(zip(lines[0].split(","), map(float, x.split(",")))) for x in lines[1:]]
        assert names[:5] == ["lon", "lat", "snr", "peak", "fwhm_arcmin"]
        assert [round(x["peak"], -1) for x in rows] == [90, 50, 30], rows
        for row, (place, (_, height)) in zip(rows, sorted(zip(places, spots), key=lambda x: -x[1][1])):
            found = math.radians(90 - row["lat"]), math.radians(row["lon"])
            assert angle(found, place) < math.radians(0.3), row
            assert abs(row["peak"] / height - 1) < 0.05 and abs(row["fwhm_arcmin"] / 480 - 1) < 0.05
    r = ok("sources", "in.fits", "m.csv", "--fwhm", "8deg", "--threshold", "4", "--kernel", "matched", "--filtered",
           "filtered.fits", "--plot", "filtered.png", "--json").json
    assert r["sources"] >= 3 and r["sigma"] > 0
    assert open("filtered.png", "rb").read(4) == b"\x89PNG" and len(column("filtered.fits")) == NPIX
    r = ok("sources", "in.fits", "t.fits", "--fwhm", "8deg", "--threshold", "20", "--json").json
    columns = {name: (unit, values) for name, unit, values in read_tables("t.fits")[0][2]}
    assert r["sources"] == len(columns["peak"][1]) == 3 and list(columns["id"][1]) == [1, 2, 3]
    assert [columns[c][0] for c in ("lon", "peak", "flux", "fwhm_arcmin", "snr")] == ["deg", "uK", "uK sr", "arcmin", ""], columns
    text = [dict(zip(names, map(float, x.split(",")))) for x in open("mexican-hat.csv").read().splitlines()[1:]]
    for name, (_, values) in columns.items():
        assert all(abs(a - row[name]) <= 1e-6 * max(abs(a), name in ("lon", "lat")) for a, row in zip(values, text)), name
    assert all(0 < row["peak_error"] < 0.1 * row["peak"] for row in text)
    refused(1, "sources", "in.fits", "x.csv", "--fwhm", "8deg", "--coord", "C", says="COORDSYS")
    assert not os.path.exists("x.csv")
    write_map("mask.fits", [("M", "", [0.0 if i < NPIX // 2 else 1.0 for i in range(NPIX)])], NSIDE, "RING")
    assert ok("sources", "in.fits", "s.csv", "--fwhm", "8deg", "--threshold", "20", "--mask", "mask.fits", "--json").json["sources"] == 1
    refused(2, "sources", "in.fits", "x.csv", says="--fwhm")
    cut = ok("sources", "in.fits", "cut.csv", "--fwhm", "8deg", "--threshold", "20", "--radius", "12deg", "--json").json
    assert cut["sources"] == 3 and abs(cut["radius_radians"] - math.radians(12)) < 1e-12 and cut["cut_error"] > 1e-3, cut
    wide, tight = ({x["peak"] for x in rows} for rows in (
        text, [dict(zip(names, map(float, x.split(",")))) for x in open("cut.csv").read().splitlines()[1:]]))
    assert wide != tight
    assert all(min(abs(a / b - 1) for b in wide) < 0.03 for a in tight), "fitted by the kernel that was cut"
    tail = ok("sources", "in.fits", "tail.csv", "--fwhm", "8deg", "--threshold", "20", "--cut-rms", "0.01", "--json").json
    assert tail["sources"] == 3 and 1e-3 < tail["cut_error"] <= 0.01
    refused(2, "sources", "in.fits", "x.csv", "--fwhm", "8deg", "--radius", "9deg", "--cut-rms", "0.01", says="one of")
    refused(2, "sources", "in.fits", "x.csv", "--fwhm", "8deg", "--radius", "9deg", "--kernel", "matched", says="matched")
    refused(1, "sources", "in.fits", "m.csv", "--fwhm", "8deg", says="exists")
    write_map("zero.fits", [("T", "uK", [0.0] * NPIX)], NSIDE, "RING")
    refused(1, "sources", "zero.fits", "x.csv", "--fwhm", "8deg", says="rms")
    assert not os.path.exists("x.csv")


def filters():
    sky_with_sources("in.fits")
    ok("filter", "in.fits", "hat.fits", "--fwhm", "8deg", "--plot", "hat.png")
    hat = column("hat.fits")
    assert abs(sum(hat)) < 0.02 * sum(map(abs, hat)), "the Mexican hat has no mean"
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} {1 / (l + 1) ** 2}\n" for l in range(65)))
    r = ok("filter", "in.fits", "matched.fits", "--kernel", "matched", "--fwhm", "8deg", "--cl", "cl.txt", "--noise", "0.3", "--json").json
    assert r["method"] == "harmonic" and r["sigma"] > 0
    matched = column("matched.fits")
    assert abs(matched[NPIX // 2 + 1500] / 90 - 1) < 0.06, "a source keeps its height"
    ok("filter", "in.fits", "top.fits", "--kernel", "top-hat", "--width", "5deg", "--normalise-mask")
    assert min(column("top.fits")) >= 1
    for words, says in ((["--width", "1deg", "--fwhm", "1deg"], "--width"), ([], "--fwhm"),
                        (["--kernel", "matched"], "--beam"), (["--kernel", "top-hat", "--fwhm", "1deg"], "--width"),
                        (["--fwhm", "1deg", "--normalise-mask"], "integral")):
        refused(2, "filter", "in.fits", "x.fits", *words, says=says)


def wavelets():
    alm = [(1 + l % 3) / (1 + l * l) for l in range(65)]
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} {a}\n" for l, a in enumerate(alm)))
    ok("synfast", "cl.txt", "sky.fits", "--nside", NSIDE, "--lmax", "48", "--seed", "3")
    r = ok("wavelet", "sky.fits", "again.fits", "--coefficients", "scales.fits", "--json").json
    assert r["change"] < 1e-4, r["change"]
    scales = [c[0] for c in read_map("scales.fits")[2]]
    assert scales == ["L8", "L16", "L32"]
    before, seed = column("sky.fits"), 5
    noisy = []
    for v in before:
        noise = 0
        for _ in range(12):
            seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
            noise += (seed >> 33) / 2**31 - 0.5
        noisy.append(v + 0.1 * noise + (100 if len(noisy) == NPIX // 2 else 0))
    write_map("noisy.fits", [("T", "uK", noisy)], NSIDE, "RING")
    r = ok("wavelet", "noisy.fits", "clean.fits", "--denoise", "--rule", "hard", "--json", "--plot", "clean.png").json
    assert [s["scale"] for s in r["scales_rms"]] == list(range(1, r["scales"] + 1))
    assert all(0 < s["kept"] <= 1 for s in r["scales_rms"]), r
    clean = column("clean.fits")
    assert clean[NPIX // 2] - before[NPIX // 2] > 80, "a point stays"


def nebulae():
    """WMAP at 94 GHz: the brightest sources off the Galactic plane, from catalogues, in pixels of 1.8 degrees."""
    known = {"Orion nebula": (209.0, -19.4), "Crab nebula": (184.6, -5.8), "rho Ophiuchi": (353.0, 16.9),
             "NGC 7822": (118.2, 5.0), "Flame nebula": (206.5, -16.4), "Monkey Head nebula": (188.9, 3.3)}
    for path in SKY, "sphere/sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits":
        if path != SKY and not os.path.exists(os.path.join(SHARED, path)):
            continue
        ok("sources", path if path == SKY else shared(path), "out.csv", "--fwhm", "3deg", "--overwrite")
        rows = [list(map(float, x.split(","))) for x in open("out.csv").read().splitlines() if x[0] not in "#l"]
        off = [r for r in rows if abs(r[1]) > 3]
        assert len(off) == len(known), off
        assert all(a[2] >= b[2] for a, b in zip(rows, rows[1:])), "by falling height"
        for name, (lon, lat) in known.items():
            far = min(angle((math.radians(90 - row[1]), math.radians(row[0])), (math.radians(90 - lat), math.radians(lon)))
                      for row in off)
            assert far < math.radians(1.3), (name, off)
        assert any(angle((math.radians(90 - r[1]), math.radians(r[0])), (math.pi / 2, math.radians(80))) < 0.02 for r in rows), "Cygnus X"


def real_sky():
    """Gaia's star counts: the Magellanic Clouds are the two highest peaks in the south."""
    ok("sources", shared(GAIA), "out.csv", "--fwhm", "3deg")
    rows = [x.split(",") for x in open("out.csv").read().splitlines() if x[0] not in "#l"]
    for name, lon, lat in (("LMC", 80.9, -69.8), ("SMC", 13.2, -72.8)):
        south = [r for r in rows if float(r[1]) < -60]  # the Galactic bulge has many
        near = min(south[:10], key=lambda r: angle((math.radians(90 - float(r[1])), math.radians(float(r[0]))),
                                                  (math.radians(90 - lat), math.radians(lon))))
        assert abs(float(near[1]) - lat) < 1.5, (name, near)


main([smooth_by_pixels, sources, filters, wavelets, nebulae, real_sky])
