# SPDX-License-Identifier: BSD-3-Clause
"""kugel at against synthesis on a grid and for every kind of catalogue, kugel lens against kugel at where a dipole leads."""
import math
import os
import struct
import npyfile
from harness import *


def inputs():
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} {1 / (l + 1) ** 2} {int(l > 1)} {int(l > 1)} 0\n" for l in range(13)))
    ok("synfast", "cl.txt", "sky.fits", "--nside", "4", "--alm", "alm.fits", "--lmax", "12", "--seed", "3")
    with open("dipole.txt", "w") as f:
        f.write("0 0\n1 0.05\n")
    ok("synfast", "dipole.txt", "dipole_map.fits", "--nside", "4", "--alm", "potential.fits", "--lmax", "1", "--seed", "4")


def close(got, want, eps=1e-8):
    assert len(got) == len(want), (len(got), len(want))
    error = max(abs(g - w) for g, w in zip(got, want))
    assert error <= eps * max(map(abs, want)), error


def grid():
    inputs()
    ok("alm2map", "alm.fits", "rows.npy", "--to-grid", "cc", "--rows", "7")
    shape, want, _ = npyfile.read("rows.npy")
    assert shape == (3, 7, 14), shape
    places = [(i * math.pi / 6, k * 2 * math.pi / 14) for i in range(7) for k in range(14)]
    npyfile.write("points.npy", (98, 2), [x for p in places for x in p])
    j = ok("at", "alm.fits", "points.npy", "values.npy", "--json").json
    assert j["command"] == "at" and j["status"] == "done" and j["output"] == "values.npy" and j["points"] == 98, j
    shape, got, kind = npyfile.read("values.npy")
    assert shape == (3, 98) and kind == "<f8"
    close(got, want)
    npyfile.write("lonlat.npy", (98, 2), [x for t, p in places for x in (math.degrees(p), 90 - math.degrees(t))])
    ok("at", "alm.fits", "lonlat.npy", "values.npy", "--lonlat", "--no-pol", "--overwrite", "--eps", "1e-12")
    shape, got, _ = npyfile.read("values.npy")
    assert shape == (98,)
    close(got, want[:98], 1e-10)


def values(alm, places):
    npyfile.write("places.npy", (len(places), 2), [x for p in places for x in p])
    ok("at", alm, "places.npy", "found.npy", "--overwrite", "--eps", "1e-12")
    return npyfile.read("found.npy")[1]


def read_table(path, separator):
    with open(path) as f:
        rows = [line.rstrip("\n").split(separator) for line in f]
    return rows[0], [[float(x) for x in row] for row in rows[1:]]


def fits_table(path, names, unit, rows, text=False):
    """A binary table of doubles, with `text` behind a column of names."""
    def cards(pairs):
        text = "".join(f"{k:<8}= {v:>20}".ljust(80) for k, v in pairs) + "END".ljust(80)
        return text.ljust(-(-len(text) // 2880) * 2880).encode()
    head = [("XTENSION", "'BINTABLE'"), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", 8 * len(names) + 5 * text), ("NAXIS2", len(rows)),
            ("PCOUNT", 0), ("GCOUNT", 1), ("TFIELDS", len(names) + text)]
    if text:
        head += [("TTYPE1", "'NAME    '"), ("TFORM1", "'5A      '")]
    for i, name in enumerate(names, 1 + text):
        head += [(f"TTYPE{i}", f"'{name:<8}'"), (f"TFORM{i}", "'D       '"), (f"TUNIT{i}", f"'{unit:<8}'")]
    data = b"".join(b"M%-4d" % i * text + struct.pack(f">{len(row)}d", *row) for i, row in enumerate(rows))
    with open(path, "wb") as f:
        f.write(cards([("SIMPLE", "T"), ("BITPIX", 8), ("NAXIS", 0)]) + cards(head) + data.ljust(-(-len(data) // 2880) * 2880, b"\0"))


def catalogues():
    """The same places in every kind of catalogue have the same values."""
    inputs()
    degrees = [(10.5, 41.25), (359.75, -90), (0, 90), (-33, -12.5), (187.70593, 12.39112)]
    places = [(math.radians(90 - lat), math.radians(lon)) for lon, lat in degrees]
    want = values("alm.fits", places)
    with open("named.csv", "w") as f:
        f.write("# a comment\nname, RA ,flux,\"Dec\"\n" + "".join(f"M{i},{lon!r},{i * 1.5},{lat!r}\n" for i, (lon, lat) in enumerate(degrees)))
    with open("bare.txt", "w") as f:
        f.write("\n" + "".join(f"  7\t{lon} {lat}\n" for lon, lat in degrees))
    with open("angles.tsv", "w") as f:
        f.write("theta\tphi\n" + "".join(f"{t!r}\t{p!r}\n" for t, p in places))
    fits_table("radec.fits", ("FLUX", "DEC", "RA"), "deg", [(1, lat, lon) for lon, lat in degrees])
    fits_table("angles.fits", ("PHI", "THETA"), "rad", [(p, t) for t, p in places])
    for catalogue, *more in (("named.csv",), ("named.csv", "--columns", "ra,3"), ("bare.txt", "--columns", "1,2", "--lonlat"),
                             ("angles.tsv",), ("radec.fits",), ("angles.fits",), ("radec.fits", "--columns", "2,dec")):
        j = ok("at", "alm.fits", catalogue, "table.csv", "--overwrite", "--eps", "1e-12", "--json", *more).json
        assert j["points"] == 5 and j["output"] == "table.csv", j
        names, rows = read_table("table.csv", ",")
        assert names == ["lon", "lat", "T", "Q", "U"] and len(rows) == 5, names
        for k in range(3):
            close([row[2 + k] for row in rows], want[5 * k:5 * k + 5], 1e-10)
        for row, (lon, lat) in zip(rows, degrees):
            assert abs(row[0] - lon) < 1e-9 and abs(row[1] - lat) < 1e-9, row
    refused(1, "at", "alm.fits", "radec.fits", "none.csv", "--columns", "RA,BEC", says="no column BEC")
    refused(1, "at", "alm.fits", "radec.fits", "none.csv", "--columns", "RA", says="two names")
    with open("damaged.csv", "w") as f:
        f.write("lon,lat\n1,2\n3,x\n")
    refused(1, "at", "alm.fits", "damaged.csv", "none.csv", says="line 3 has no number")
    with open("damaged.csv", "w") as f:
        f.write("one,two\n1,2\n")
    refused(1, "at", "alm.fits", "damaged.csv", "none.csv", says="--columns")
    refused(1, "at", "alm.fits", "named.csv", "table.csv", says="overwrite")
    assert not os.path.exists("none.csv")


def maps():
    """At the centre of a pixel interpolation gives the pixel."""
    inputs()
    ok("synfast", "dipole.txt", "wide.fits", "--nside", "1", "--alm", "wide_alm.fits", "--lmax", "1", "--seed", "9")
    centres = [(phi * 45, math.degrees(math.asin(z))) for z, first in ((2 / 3, 1), (0, 0), (-2 / 3, 1)) for phi in range(first, 8, 2)]
    with open("centres.csv", "w") as f:
        f.write("lon,lat\n" + "".join(f"{lon},{lat!r}\n" for lon, lat in centres))
    ok("at", "wide.fits", "centres.csv", "pixels.tsv")
    ok("at", "wide_alm.fits", "centres.csv", "sums.tsv", "--eps", "1e-10")
    names, rows = read_table("pixels.tsv", "\t")
    assert names == ["lon", "lat", "T"] and len(rows) == 12
    sums = read_table("sums.tsv", "\t")[1]
    close([row[2] for row in rows], [row[2] for row in sums], 1e-6)
    j = ok("at", "sky.fits", "centres.csv", "three.npy", "--json").json
    assert j["points"] == 12 and npyfile.read("three.npy")[0] == (3, 12), j
    refused(1, "at", "sky.fits", "centres.csv", "none.csv", "--eps", "1e-3", says="interpolated")


def fits_values(path):
    """Names, units and rows of the doubles of a binary table, as the standard lays them out; HISTORY cards."""
    with open(path, "rb") as f:
        data = f.read()
    at, heads = 0, []
    while len(heads) < 2:
        cards = {}
        while "END" not in cards:
            for card in (data[at + i:at + i + 80].decode() for i in range(0, 2880, 80)):
                key = card[:8].strip()
                cards[key] = cards.get(key, "") + card[8:] if key == "HISTORY" else card[10:].split("/")[0].strip().strip("'").strip()
            at += 2880
        heads.append(cards)
    h = heads[1]
    forms = [h[f"TFORM{i + 1}"] for i in range(int(h["TFIELDS"]))]
    sizes = {"D": 8, "1D": 8, "E": 4, "1E": 4, "J": 4, "1J": 4, "5A": 5}
    assert int(h["NAXIS1"]) == sum(sizes[form] for form in forms), h
    rows = []
    for row in range(int(h["NAXIS2"])):
        values = []
        for form in forms:
            kind = {"D": ">d", "E": ">f", "J": ">i", "A": "5s"}[form[-1]]
            values.append(struct.unpack(kind, data[at:at + sizes[form]])[0])
            at += sizes[form]
        rows.append(values)
    return [h[f"TTYPE{i + 1}"] for i in range(len(forms))], h, rows


def tables():
    """A FITS catalogue keeps its columns, and has the values behind them; other catalogues become lon, lat and values."""
    inputs()
    degrees = [(10.5, 41.25), (359.75, -90), (0, 90), (-33, -12.5), (187.70593, 12.39112)]
    want = values("alm.fits", [(math.radians(90 - lat), math.radians(lon)) for lon, lat in degrees])
    fits_table("catalogue.fits", ("FLUX", "DEC", "RA", "T"), "deg", [(i, lat, lon, -i) for i, (lon, lat) in enumerate(degrees)], text=True)
    ok("at", "alm.fits", "catalogue.fits", "with.fits", "--eps", "1e-12")
    names, head, rows = fits_values("with.fits")
    assert names == ["NAME", "FLUX", "DEC", "RA", "T", "T_2", "Q", "U"] and head["TUNIT4"] == "deg" and "kugel at" in head["HISTORY"], names
    for i, (row, (lon, lat)) in enumerate(zip(rows, degrees)):
        assert row[:5] == [b"M%-4d" % i, i, lat, lon, -i], row
        close(row[5:], want[i::5], 1e-10)
    ok("at", "alm.fits", "with.fits", "with.fits", "--overwrite", "--no-pol")  # onto itself
    assert fits_values("with.fits")[0] == ["NAME", "FLUX", "DEC", "RA", "T", "T_2", "Q", "U", "T_3"]
    with open("bare.csv", "w") as f:
        f.write("lon,lat\n" + "".join(f"{lon},{lat!r}\n" for lon, lat in degrees))
    ok("at", "alm.fits", "bare.csv", "new.fits", "--eps", "1e-12")
    names, head, rows = fits_values("new.fits")
    assert names == ["lon", "lat", "T", "Q", "U"] and head["EXTNAME"] == "VALUES", names
    for i, (row, (lon, lat)) in enumerate(zip(rows, degrees)):
        assert abs(row[0] - lon) < 1e-12 and abs(row[1] - lat) < 1e-12, row
        close(row[2:], want[i::5], 1e-10)
    refused(1, "at", "alm.fits", "bare.csv", "new.fits", says="overwrite")


def turned():
    """Positions in other coordinates have the values that rotated coefficients have there, Q and U included."""
    inputs()
    ok("rotate", "alm.fits", "galactic.fits", "--from", "C", "--to", "G")
    with open("radec.csv", "w") as f:
        f.write("RA,DEC\n" + "".join(f"{(i * 37.1) % 360:.4f},{(i * 17.3) % 178 - 89:.4f}\n" for i in range(40)) + "0,90\n0,-90\n")
    ok("at", "alm.fits", "radec.csv", "own.tsv", "--eps", "1e-12")
    ok("at", "galactic.fits", "radec.csv", "turned.tsv", "--coord", "C", "--eps", "1e-12")
    ok("at", "galactic.fits", "radec.csv", "both.tsv", "--coord", "CG", "--eps", "1e-12")
    own, there, both = (read_table(name, "\t")[1] for name in ("own.tsv", "turned.tsv", "both.tsv"))
    assert there == both
    for k in range(2, 5):
        close([row[k] for row in there], [row[k] for row in own], 1e-9)
    assert all(abs(a - b) < 1e-9 for row, other in zip(own, there) for a, b in zip(row[:2], other[:2]))  # the catalogue's own
    refused(1, "at", "galactic.fits", "radec.csv", "none.tsv", says="--coord C")
    ok("at", "galactic.fits", "radec.csv", "unturned.tsv", "--coord", "GG")
    refused(2, "at", "alm.fits", "radec.csv", "none.tsv", "--coord", "C", says="give both")
    refused(2, "at", "alm.fits", "radec.csv", "none.tsv", "--coord", "X", says="letters G, E, C")
    refused(2, "at", "alm.fits", "radec.csv", "none.tsv", "--coord", "CGE", says="letters G, E, C")


def exact():
    """--exact of a map is the sum of its harmonics, where interpolation is off by the curvature of the field."""
    inputs()
    ok("alm2map", "alm.fits", "fine.fits", "--nside", "32")
    with open("places.csv", "w") as f:
        f.write("lon,lat\n" + "".join(f"{(i * 37.1) % 360:.4f},{(i * 17.3) % 178 - 89:.4f}\n" for i in range(40)))
    ok("at", "alm.fits", "places.csv", "sums.tsv", "--eps", "1e-12")
    ok("at", "fine.fits", "places.csv", "between.tsv")
    j = ok("at", "fine.fits", "places.csv", "exact.tsv", "--exact", "--lmax", "24", "--iter", "8", "--eps", "1e-11", "--json").json
    assert j["points"] == 40, j
    sums, between, got = (read_table(name, "\t")[1] for name in ("sums.tsv", "between.tsv", "exact.tsv"))
    for k in range(2, 5):
        close([row[k] for row in got], [row[k] for row in sums], 2e-7)  # single precision of the map
        if k == 2:
            worst = max(abs(a[k] - b[k]) for a, b in zip(between, sums))
            assert 1e-4 < worst < 0.05, worst
    j = ok("at", "fine.fits", "places.csv", "exact.tsv", "--exact", "--dry-run", "--json").json
    assert j["dry_run"] is True and j["expected_bytes"] > 1e6, j
    refused(1, "at", "alm.fits", "places.csv", "none.tsv", "--exact", says="are of maps")


def frame(theta, phi):
    s, c, x, y = math.sin(theta), math.cos(theta), math.cos(phi), math.sin(phi)
    return (s * x, s * y, c), (c * x, c * y, -s), (-y, x, 0)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def lens():
    inputs()
    j = ok("lens", "alm.fits", "potential.fits", "lensed.npy", "--nside", "1", "--json").json
    assert j["command"] == "lens" and j["output"] == "lensed.npy" and 0.001 < j["deflection_rms"] < 1, j
    shape, got, _ = npyfile.read("lensed.npy")
    assert shape == (3, 12), shape
    a = values("potential.fits", [(math.pi / 2, 0), (math.pi / 2, math.pi / 2), (0, 0)])  # the potential is a.x
    centres = [(math.acos(z), phi * math.pi / 4) for z, first in ((2 / 3, 1), (0, 0), (-2 / 3, 1)) for phi in range(first, 8, 2)]
    ends, turns = [], []
    for centre in centres:
        p, south, east = frame(*centre)
        d = [x - dot(a, p) * y for x, y in zip(a, p)]  # the gradient
        length = math.sqrt(dot(d, d))
        e = [x / length for x in d]
        q = [math.cos(length) * x + math.sin(length) * y for x, y in zip(p, e)]
        f = [math.cos(length) * y - math.sin(length) * x for x, y in zip(p, e)]
        ends.append((math.acos(q[2]), math.atan2(q[1], q[0])))
        _, south2, east2 = frame(*ends[-1])
        turns.append(math.atan2(dot(e, east), dot(e, south)) - math.atan2(dot(f, east2), dot(f, south2)))
    there = values("alm.fits", ends)
    close(got[:12], there[:12])
    for i, turn in enumerate(turns):
        want = complex(there[12 + i], there[24 + i]) * complex(math.cos(2 * turn), math.sin(2 * turn))
        assert abs(complex(got[12 + i], got[24 + i]) - want) < 1e-8, (i, want)
    ok("lens", "alm.fits", "potential.fits", "t.fits", "--nside", "1", "--no-pol")
    # the adjoint: without a lens, the sums of an analysis before its factor 4 pi / npix
    with open("nothing.txt", "w") as f:
        f.write("0 0\n1 0\n")
    ok("synfast", "nothing.txt", "nothing_map.fits", "--nside", "4", "--alm", "nothing.fits", "--lmax", "1", "--seed", "4")
    for potential, lensed in (("nothing.fits", False), ("potential.fits", True)):
        j = ok("lens", "sky.fits", potential, "back.fits", "--adjoint", "--lmax", "8", "--eps", "1e-12", "--overwrite", "--json").json
        assert j["output"] == "back.fits", j
        ok("map2alm", "sky.fits", "once.fits", "--lmax", "8", "--iter", "0", "--overwrite")
        for name in ("back", "once"):
            ok("alm2map", name + ".fits", name + ".npy", "--nside", "4", "--overwrite")
        back, once = (npyfile.read(name + ".npy")[1] for name in ("back", "once"))
        error = max(abs(b * 4 * math.pi / 192 - o) for b, o in zip(back, once)) / max(map(abs, once))
        assert (error > 1e-3) if lensed else (error < 1e-6), error
    ok("lens", "alm.fits", "potential.fits", "tqu.fits", "--nside", "4", "--eps", "1e-12")
    refused(1, "lens", "tqu.fits", "potential.fits", "none.fits", "--adjoint", "--nside", "8", says="nside 4")
    j = ok("info", "t.fits", "--json").json
    assert os.path.getsize("t.fits") > 2880


def refusals():
    inputs()
    npyfile.write("points.npy", (2, 2), [1, 2, 4, 0])
    before = sorted(os.listdir("."))
    refused(1, "at", "alm.fits", "points.npy", "out.npy", says="theta of point 1 is 4")
    refused(1, "at", "cl.txt", "points.npy", "out.npy", says="cl.txt")
    refused(1, "at", "alm.fits", "none.npy", "out.npy", says="none.npy")
    refused(2, "at", "alm.fits", "points.npy", "out.npy", "--eps", "1e-20", says="--eps")
    refused(2, "lens", "alm.fits", "potential.fits", "out.fits", says="--nside")
    refused(1, "lens", "alm.fits", "sky.fits", "out.fits", "--nside", "2", says="holds no a_lm")
    for words in (("at", "alm.fits", "points.npy", "out.npy"), ("lens", "alm.fits", "potential.fits", "out.fits", "--nside", "8")):
        j = ok(*words, "--dry-run", "--json").json
        assert j["dry_run"] is True and j["expected_bytes"] > 1e6 and j["expected_seconds"] >= 0, j
    assert sorted(os.listdir(".")) == before
    npyfile.write("points.npy", (2, 2), [0, 100, 0, 0])
    refused(1, "at", "alm.fits", "points.npy", "out.npy", "--lonlat", says="latitude of point 0 is 100")
    npyfile.write("points.npy", (2, 3), [0] * 6)
    refused(1, "at", "alm.fits", "points.npy", "out.npy", says="two columns")


main([grid, catalogues, maps, tables, turned, exact, lens, refusals])
