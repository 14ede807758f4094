# SPDX-License-Identifier: BSD-3-Clause
"""map2alm, alm2map, regrid, anafast: against what other software made, and against each other."""
import array
import math
import os
import struct
from fitsfile import *
from harness import *

WMAP = "sphere/sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32"


def columns(path):
    return [list(c[2]) for c in read_map(path)[2]]


def worst(got, want):
    size = max(map(abs, want))
    return max(abs(g - w) for g, w in zip(got, want)) / size


def read_npy(path):
    """Values of a little-endian float64, int16 or complex128 array, flat, complex as pairs."""
    with open(path, "rb") as f:
        data = f.read()
    length = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:10 + length])
    out = array.array({"<f8": "d", "<c16": "d", "<i2": "h", "<f4": "f"}[header["descr"]])
    out.frombytes(data[10 + length:])
    return header["shape"], list(out)


def write_npy(path, shape, values):
    header = str({"descr": "<f8", "fortran_order": False, "shape": shape})
    header = header.ljust(-(10 + len(header) + 1) % 64 + len(header)) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        f.write(struct.pack(f"<{len(values)}d", *values))


def alm_values(path):
    """{(component, index): (re, im)} of an a_lm file."""
    out = {}
    for c, (_, _, cols) in enumerate(read_tables(path)):
        for i, re, im in zip(*(col[2] for col in cols)):
            out[c, i] = (re, im)
    return out


def dipole_by_hand():
    # f = 2 + cos(theta): a_00 = 2 sqrt(4 pi), a_10 = sqrt(4 pi / 3), exactly on Fejer rows
    rows = 16
    values = [2 + math.cos((i + 0.5) * math.pi / rows) for i in range(rows) for _ in range(2 * rows)]
    write_npy("in.npy", (rows, 2 * rows), values)
    ok("map2alm", "in.npy", "alm.fits", "--grid", "fejer1")
    a = alm_values("alm.fits")
    assert abs(a[0, 1][0] - 2 * math.sqrt(4 * math.pi)) < 1e-13
    assert abs(a[0, 3][0] - math.sqrt(4 * math.pi / 3)) < 1e-13
    assert max(abs(x) for k, v in a.items() if k[1] not in (1, 3) for x in v) < 1e-13
    ok("alm2map", "alm.fits", "out.fits", "--nside", "4")
    for nside4, t in zip(columns("out.fits")[0], ring_theta(4)):
        assert abs(nside4 - 2 - math.cos(t)) < 1e-13


def ring_theta(nside):
    """Colatitude of every RING pixel (Gorski et al. 2005)."""
    out = []
    for i in range(1, 4 * nside):
        if i < nside:
            z, n = 1 - i * i / (3 * nside * nside), 4 * i
        elif i <= 3 * nside:
            z, n = 4 / 3 - 2 * i / (3 * nside), 4 * nside
        else:
            k = 4 * nside - i
            z, n = -(1 - k * k / (3 * nside * nside)), 4 * k
        out += [math.acos(z)] * n
    return out


def round_trip_of_polarised_map():
    ok("map2alm", os.path.join(SHARE, "wmap7_w_band_nside32.fits"), "alm.fits", "--lmax", "16", "--iter", "0")
    h, _, cols = read_tables("alm.fits")[0]
    assert len(read_tables("alm.fits")) == 3 and cols[1][1] == "mK"
    ok("alm2map", "alm.fits", "map.fits", "--nside", "32")
    h, _, cols = read_map("map.fits")
    assert h["COORDSYS"] == "G" and len(cols) == 3 and cols[0][1] == "mK"
    ok("map2alm", "map.fits", "again.fits", "--lmax", "16", "--lsq", "1e-13")
    a, b = alm_values("alm.fits"), alm_values("again.fits")
    assert a.keys() == b.keys()
    assert max(abs(x - y) for k in a for x, y in zip(a[k], b[k])) < 1e-10 * max(abs(x) for v in a.values() for x in v)


def smoothing_on_the_way():
    ok("map2alm", os.path.join(SHARE, "wmap7_w_band_nside32.fits"), "alm.fits", "--lmax", "24")
    ok("alm2map", "alm.fits", "a.fits", "--nside", "32", "--fwhm", "10deg", "--f32")
    ok("smooth", os.path.join(SHARE, "wmap7_w_band_nside32.fits"), "b.fits", "--fwhm", "10deg", "--lmax", "24")
    for a, b in zip(columns("a.fits"), columns("b.fits")):
        assert worst(a, b) < 1e-6
    ok("alm2map", "alm.fits", "c.fits", "--nside", "32", "--lmax", "8", "--no-pol")
    assert len(columns("c.fits")) == 1


def derivatives():
    rows = 16
    values = [math.cos((i + 0.5) * math.pi / rows) for i in range(rows) for _ in range(2 * rows)]
    write_npy("in.npy", (rows, 2 * rows), values)
    ok("map2alm", "in.npy", "alm.fits", "--lmax", "7")
    ok("alm2map", "alm.fits", "out.fits", "--nside", "4", "--der1")
    _, _, cols = read_map("out.fits")
    assert [c[0] for c in cols] == ["TEMPERATURE", "D_THETA", "D_PHI"]
    for f, d, p, t in zip(*(c[2] for c in cols), ring_theta(4)):
        assert abs(f - math.cos(t)) < 1e-13 and abs(d + math.sin(t)) < 1e-13 and abs(p) < 1e-13


def regrid_there_and_back():
    rows = 24
    value = lambda t, p: 1 + math.sin(t) ** 3 * math.cos(3 * p + 0.3) + math.cos(t) ** 2
    values = [value((i + 0.5) * math.pi / rows, (j + 0.5) * math.pi / rows) for i in range(rows) for j in range(2 * rows)]
    write_npy("in.npy", (rows, 2 * rows), values)
    for grid, n in ("gauss", 12), ("cc", 25), ("fejer2", 25), ("dh", 24), ("mw", 12), ("lobatto", 12), \
            ("octahedral", 20):
        ok("regrid", "in.npy", "there.npy", "--to-grid", grid, "--rows", n, "--lmax", "8", "--overwrite")
        ok("regrid", "there.npy", "back.npy", "--from-grid", grid, "--rows", rows, "--lmax", "8", "--overwrite")
        shape, got = read_npy("back.npy")
        assert shape == (rows, 2 * rows) and worst(got, values) < 1e-12, (grid, worst(got, values))
    ok("regrid", "in.npy", "map.fits", "--nside", "5", "--unit", "K", "--name", "FIELD")
    assert read_map("map.fits")[2][0][:2] == ("FIELD", "K")
    ok("regrid", "map.fits", "rows.npy", "--rows", rows, "--lmax", "8", "--iter", "10")
    assert worst(read_npy("rows.npy")[1], values) < 1e-6


def regrid_winds_and_holes():
    """Solid rotation about a tilted axis, u eastward and v northward, goes to other grids and back."""
    tilt, rows = 0.7, 24

    def wind(t, p):  # of angular velocity (sin tilt, 0, cos tilt)
        u = math.cos(tilt) * math.sin(t) - math.sin(tilt) * math.cos(t) * math.cos(p)
        return u, math.sin(tilt) * math.sin(p)

    at = [((i + 0.5) * math.pi / rows, (j + 0.5) * math.pi / rows) for i in range(rows) for j in range(2 * rows)]
    values = [wind(t, p)[k] for k in range(2) for t, p in at]
    write_npy("uv.npy", (2, rows, 2 * rows), values)
    r = ok("regrid", "uv.npy", "uv.fits", "--winds", "--nside", "8", "--json")
    assert r.json["maps"] == 2 and r.json["lmax"] == 16
    ok("regrid", "uv.npy", "cc.npy", "--winds", "--to-grid", "cc", "--rows", 13)
    shape, got = read_npy("cc.npy")
    want = [wind(i * math.pi / 12, j * math.pi / 13)[k] for k in range(2) for i in range(13) for j in range(26)]
    assert shape == (2, 13, 26) and worst(got, want) < 1e-13
    ok("regrid", "uv.fits", "back.npy", "--winds", "--columns", "0,1", "--rows", rows, "--iter", "12", "--overwrite")
    assert worst(read_npy("back.npy")[1], values) < 1e-9
    ok("regrid", "uv.npy", "o.npy", "--winds", "--to-grid", "octahedral", "--rows", 32)
    assert read_npy("o.npy")[0] == (2, 32 * 50)
    # a hole: NaN where most of what is about is missing
    hole = [float("nan") if abs(t - 1.5) < 0.6 and abs(p - 2) < 0.6 else 1.0 for t, p in at]
    write_npy("hole.npy", (rows, 2 * rows), hole)
    ok("regrid", "hole.npy", "holed.npy", "--rows", 16)
    got = read_npy("holed.npy")[1]
    at = lambda lat, lon: got[lat * 32 + lon]
    assert math.isnan(at(7, 10)) and at(7, 25) > 0.9 and sum(map(math.isnan, got)) < 60
    ok("regrid", "hole.npy", "zero.npy", "--rows", 16, "--least-good", 0)
    assert abs(read_npy("zero.npy")[1][7 * 32 + 10]) < 0.5
    ok("regrid", "hole.npy", "hole.fits", "--nside", "4")
    assert min(read_map("hole.fits")[2][0][2]) == -1.6375e30
    refused(2, "regrid", "hole.npy", "x.npy", "--winds", "--rows", 8, says="--winds needs two maps")
    refused(2, "regrid", "uv.fits", "x.npy", "--winds", "--rows", 8, says="give --columns")
    refused(2, "regrid", "uv.npy", "x.npy", "--to-grid", "octahedral", "--rows", 9, says="even number")
    refused(2, "regrid", "uv.npy", "x.npy", "--iter", 2, "--rows", 8, says="HEALPix")
    write_npy("o.npy", (7,), [0.0] * 7)
    refused(1, "regrid", "o.npy", "x.npy", "--from-grid", "octahedral", "--rows", 8, says="4 N (N + 9)")
    refused(2, "plot", "o.npy", "x.png", "--grid", "octahedral", says="regrid")


def spectra():
    # a_l0 only: C_l = a_l0^2 / (2l + 1)
    rows = 16
    values = [2 + math.cos((i + 0.5) * math.pi / rows) for i in range(rows) for _ in range(2 * rows)]
    write_npy("in.npy", (rows, 2 * rows), values)
    ok("regrid", "in.npy", "map.fits", "--nside", "16", "--unit", "K")
    ok("anafast", "map.fits", "cl.txt", "--lmax", "8")
    with open("cl.txt") as f:
        cl = [float(line.split()[1]) for line in f if not line.startswith("#")]
    want = [16 * math.pi, 4 * math.pi / 9] + [0] * 7
    assert len(cl) == 9 and worst(cl, want) < 1e-9
    ok("anafast", "map.fits", "x.txt", "--lmax", "8", "--cross", "map.fits")
    with open("x.txt") as f:
        assert worst([float(line.split()[1]) for line in f if not line.startswith("#")], want) < 1e-9
    ok("anafast", "map.fits", "cl.fits", "--lmax", "8")
    assert ok("info", "cl.fits", "--json").json["files"][0]["lmax"] == 8


def refusals():
    sky = os.path.join(SHARE, "wmap7_w_band_nside32.fits")
    refused(1, "alm2map", sky, "out.fits", "--nside", "4", says="holds no a_lm")
    ok("map2alm", sky, "alm.fits", "--lmax", "4", "--iter", "0")
    refused(1, "smooth", "alm.fits", "out.fits", "--fwhm", "1deg", says="holds a_lm, not a HEALPix map")
    refused(2, "alm2map", "alm.fits", "out.fits", says="give --nside")
    refused(2, "alm2map", "alm.fits", "out.npy", says="or --rows for rows of latitude")
    refused(2, "alm2map", "alm.fits", "out.npy", "--nside", "4", "--rows", "9", says="--rows and --to-grid are for rows of latitude")
    refused(2, "alm2map", "alm.fits", "out.fits", "--nside", "6", "--order", "nested", says="power of two")
    refused(1, "alm2map", "alm.fits", "out.fits", "--nside", "4", "--lmax", "5", says="above the file's lmax 4")
    refused(2, "map2alm", sky, "x.fits", "--lmax", "4", "--mmax", "5", says="--mmax 5 is above lmax 4")
    refused(2, "map2alm", sky, "x.fits", "--columns", "0,1", says="needs one column, or three that are I, Q, U")
    write_npy("cube.npy", (2, 3, 4), [0.0] * 24)
    refused(1, "map2alm", "cube.npy", "x.fits", says="needs a 2-D array")
    refused(1, "map2alm", sky, "alm.fits", says="--overwrite")


main([dipole_by_hand, round_trip_of_polarised_map, smoothing_on_the_way, derivatives, regrid_there_and_back,
      regrid_winds_and_holes, spectra, refusals])
