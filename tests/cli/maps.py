# SPDX-License-Identifier: BSD-3-Clause
"""udgrade, synfast, rotate, anafast: against what other software made, closed forms and statistics."""
import math
import os
from fitsfile import *
from harness import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")
WMAP = "sphere/sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32"
UNSEEN = -1.6375e30


def columns(path):
    return [list(c[2]) for c in read_map(path)[2]]


def worst(got, want):
    size = max(map(abs, want))
    return max(abs(g - w) for g, w in zip(got, want)) / size


def text_columns(path):
    with open(path) as f:
        rows = [list(map(float, line.split())) for line in f if not line.startswith("#")]
    return list(zip(*rows))


def ascii_table(path):
    """Columns of the ASCII table that HEALPix Fortran writes: E15.7, found by their decimal points."""
    with open(path, "rb") as f:
        data = f.read()
    h, _, start = read_header(data, 0)
    h, _, start = read_header(data, start + -(-data_size(h) // BLOCK) * BLOCK)
    width, rows = int(h["NAXIS1"]), int(h["NAXIS2"])
    return list(zip(*([float(x) for x in data[start + i * width:start + (i + 1) * width].split()] for i in range(rows))))


def alm_values(path):
    return {(c, i): complex(re, im) for c, (_, _, cols) in enumerate(read_tables(path))
            for i, re, im in zip(*(col[2] for col in cols))}


def anafast_as_healpix_fortran():
    """Full sky and masked, monopole removed, 3 iterations; their files have 8 digits."""
    for kind, spectra, suffix in ("", "II", "_nomask"), ("_masked", "II", ""), ("_masked", "IQU", ""):
        sky = shared(f"{WMAP}{kind}.fits")
        want = ascii_table(shared(f"sphere/sky/cl_{os.path.basename(WMAP)}_{spectra}_lmax64_rmmono_3iter{suffix}.fits"))
        ok("anafast", sky, "cl.txt", "--lmax", "64", "--remove", "monopole", "--overwrite",
           *(["--no-pol"] if spectra == "II" else []))
        got = text_columns("cl.txt")[1:]
        order = [0] if spectra == "II" else [0, 1, 2, 3, 5, 4]  # theirs: TT EE BB TE TB EB
        assert len(got) == len(want) == len(order)
        for w, i in zip(want, order):
            assert worst(got[i], w) < 2e-7, (kind, spectra, i, worst(got[i], w))


def weights_as_healpix_fortran():
    """Their `make test`: ring and pixel weights, no iterations, monopole and dipole removed."""
    test = "sphere/healpix_fortran_test/"
    for weights, name in ("ring", "cl_out.fits"), ("pixel", "cl_w2.fits"):
        ok("anafast", shared(test + "map.fits"), f"{weights}.txt", "--lmax", "256", "--iter", "0", "--weights", weights,
           "--remove", "dipole")
        got, want = text_columns(f"{weights}.txt")[1:], ascii_table(shared(test + name))
        for w, i in zip(want[:2], (0, 1)):  # the others are rounding: there is no B
            assert worst(got[i][2:], w[2:]) < 2e-7, (weights, i, worst(got[i][2:], w[2:]))


def masks():
    ok("anafast", shared(f"{WMAP}.fits"), "a.txt", "--lmax", "16", "--mask",
       shared("sphere/sky/wmap_temperature_analysis_mask_r9_7yr_v4_udgraded32.fits"))
    ok("anafast", shared(f"{WMAP}_masked.fits"), "b.txt", "--lmax", "16")
    a, b = text_columns("a.txt"), text_columns("b.txt")
    assert all(worst(x, y) < 1e-12 for x, y in zip(a, b))


def dipole_is_found():
    n = 12 * 16 * 16
    ok("alm2map", make_alm({1: 3.0, 3: 2.0}), "in.fits", "--nside", "16")
    j = ok("anafast", "in.fits", "cl.txt", "--lmax", "4", "--remove", "dipole", "--json").json
    assert abs(j["monopole"] - 3 / math.sqrt(4 * math.pi)) < 1e-10
    assert abs(j["dipole"] - 2 * math.sqrt(3 / (4 * math.pi))) < 1e-10
    assert max(map(abs, text_columns("cl.txt")[1])) < 1e-20
    j = ok("anafast", "in.fits", "cl.txt", "--lmax", "4", "--remove", "dipole", "--gal-cut", "30deg", "--json",
           "--overwrite").json
    assert abs(j["dipole"] - 2 * math.sqrt(3 / (4 * math.pi))) < 1e-10


def make_alm(values, path="made.fits"):
    """An a_lm file with real a_l0, {index: value}, index = l^2 + l + m + 1; lmax 2."""
    indices = [1, 3, 7, 4, 8, 9]
    rows = b"".join(struct.pack(">idd", i, values.get(i, 0.0), 0.0) for i in indices)
    cards = [card("XTENSION", "BINTABLE"), card("BITPIX", 8), card("NAXIS", 2), card("NAXIS1", 20), card("NAXIS2", 6),
             card("PCOUNT", 0), card("GCOUNT", 1), card("TFIELDS", 3), card("TTYPE1", "index"), card("TFORM1", "1J"),
             card("TTYPE2", "real"), card("TFORM2", "1D"), card("TTYPE3", "imag"), card("TFORM3", "1D")]
    primary = [card("SIMPLE", True), card("BITPIX", 8), card("NAXIS", 0), card("EXTEND", True)]
    with open(path, "wb") as f:
        for part in primary, cards:
            text = "".join(part + ["END".ljust(80)])
            f.write(text.ljust(-(-len(text) // BLOCK) * BLOCK).encode())
        f.write(rows.ljust(BLOCK, b"\0"))
    return path


def udgrade_as_healpix_fortran():
    test = "sphere/healpix_fortran_test/"
    ok("udgrade", shared(test + "map.fits"), "out.fits", "--nside", "4", "--columns", "0,1,2")
    for got, want in zip(columns("out.fits"), columns(shared(test + "map_LOres.fits"))):
        assert worst(got, want) < 1e-6


def udgrade_by_hand():
    n = 12 * 16
    v = [float(i) for i in range(n)]
    v[5] = UNSEEN
    write_map("in.fits", [("T", "K", v)], 4, "NESTED")
    ok("udgrade", "in.fits", "down.fits", "--nside", "2")
    h, _, cols = read_map("down.fits")
    want = [sum(v[4 * i:4 * i + 4]) / 4 for i in range(n // 4)]
    want[1] = (4 + 6 + 7) / 3
    assert h["ORDERING"].startswith("NEST") and worst(cols[0][2], want) < 1e-7 and cols[0][:2] == ("T", "K")
    ok("udgrade", "in.fits", "strict.fits", "--nside", "2", "--pessimistic")
    assert columns("strict.fits")[0][1] < -1e30
    ok("udgrade", "in.fits", "sum.fits", "--nside", "2", "--power", "-2")
    assert abs(columns("sum.fits")[0][0] - 4 * want[0]) < 1e-5
    ok("udgrade", "in.fits", "up.fits", "--nside", "8")
    up = columns("up.fits")[0]
    assert all(a == v[i // 4] or i // 4 == 5 and a < -1e30 for i, a in enumerate(up))
    refused(2, "udgrade", "in.fits", "x.fits", says="give --nside")
    refused(2, "udgrade", "in.fits", "x.fits", "--nside", "3", says="no power of two")


def rotation_of_a_dipole():
    # cos(theta) turned by 90 degrees about y becomes sin(theta) cos(phi): a_11 = -sqrt(1/2) a_10
    make_alm({3: 1.0})
    ok("rotate", "made.fits", "out.fits", "--euler", "0deg,90deg,0deg")
    a = alm_values("out.fits")
    assert abs(a[0, 3]) < 1e-14 and abs(a[0, 4] + math.sqrt(0.5)) < 1e-14
    ok("rotate", "made.fits", "out.fits", "--euler", "0deg,90deg,90deg", "--overwrite")  # now sin(theta) sin(phi)
    assert abs(alm_values("out.fits")[0, 4] - 1j * math.sqrt(0.5)) < 1e-14
    refused(2, "rotate", "made.fits", "x.fits", "--euler", "10deg,20deg", says="needs PSI,THETA,PHI")
    refused(2, "rotate", "made.fits", "x.fits", "--euler", "10,20,30", says="an angle needs a unit")
    refused(2, "rotate", "made.fits", "x.fits", says="give one of --to and --euler")
    refused(2, "rotate", "made.fits", "x.fits", "--to", "C", says="give --from G, E or C")


def rotation_there_and_back():
    ok("map2alm", SKY, "alm.fits", "--lmax", "12", "--iter", "0")
    ok("rotate", "alm.fits", "c.fits", "--to", "C")
    ok("rotate", "c.fits", "e.fits", "--to", "E")
    ok("rotate", "e.fits", "back.fits", "--to", "G")
    assert [read_tables(f"{x}.fits")[0][0]["COORDSYS"] for x in ("c", "e", "back")] == ["C", "E", "G"]
    a, b, c = alm_values("alm.fits"), alm_values("back.fits"), alm_values("c.fits")
    size = max(map(abs, a.values()))
    assert max(abs(a[k] - b[k]) for k in a) < 1e-13 * size < 1e-3 * max(abs(a[k] - c[k]) for k in a)
    ok("rotate", SKY, "map.fits", "--to", "C", "--lmax", "12")
    h, _, cols = read_map("map.fits")
    assert h["COORDSYS"] == "C" and [x[:2] for x in cols] == [x[:2] for x in read_map(SKY)[2]]


def pixel_window():
    """Against the window file of HEALPix at nside 16."""
    _, _, cols = read_tables(shared("sphere/quadrature/pixel_window_n0016.fits"))[0]
    make_alm({1: 1.0, 3: 1.0, 7: 1.0})
    ok("alm2map", "made.fits", "plain.fits", "--nside", "16")
    ok("alm2map", "made.fits", "window.fits", "--nside", "16", "--pixwin")
    for path in "plain", "window":
        ok("map2alm", f"{path}.fits", f"{path}_alm.fits", "--lmax", "2", "--lsq", "1e-13")
    a, b = alm_values("plain_alm.fits"), alm_values("window_alm.fits")
    for l, index in enumerate((1, 3, 7)):
        assert abs(b[0, index] / a[0, index] - cols[0][2][l]) < 1e-6, (l, b[0, index] / a[0, index], cols[0][2][l])
    refused(2, "alm2map", "made.fits", "x.npy", "--rows", "8", "--pixwin", says="--pixwin is for HEALPix output")


def north_galactic_pole():
    # a map that grows towards the Galactic north pole peaks at right ascension 192.86, declination 27.13 degrees
    make_alm({3: 1.0})
    ok("alm2map", "made.fits", "g.fits", "--nside", "16")
    ok("rotate", "g.fits", "c.fits", "--from", "G", "--to", "C", "--lmax", "2")
    j = ok("anafast", "c.fits", "cl.txt", "--lmax", "2", "--remove", "dipole").out
    assert "longitude 192.9 deg, latitude 27.13 deg" in j, j


def spectra_of_random_maps():
    want = [1.0, 2.0, 0.5, 1.2]  # TT, EE, BB, TE
    with open("flat.txt", "w") as f:
        f.write("".join(f"{l} {' '.join(map(str, want))}\n" for l in range(65)))
    sums, seeds = [0.0] * 4, 12
    for seed in range(seeds):
        ok("synfast", "flat.txt", "map.fits", "--nside", "1", "--lmax", "64", "--seed", seed, "--alm", "alm.fits", "--overwrite")
        a = alm_values("alm.fits")
        for i, (c, d) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1))):
            sums[i] += sum((1 if is_m0(k) else 2) * (a[c, k] * a[d, k].conjugate()).real for _, k in a if _ == 0)
    n = seeds * 65 * 65
    for got, w in zip(sums, want):
        assert abs(got / n - w) < 5 * w * math.sqrt(2 / n), (got / n, w)


def rotation_by_sums():
    """At turned pixel centres, T, Q, U: the maps of rotated coefficients, also of another nside; a dipole in closed form."""
    turn = ["--to", "C", "--lmax", "64"]
    ok("rotate", SKY, "a.fits", *turn)
    j = ok("rotate", SKY, "b.fits", *turn, "--points", "--eps", "1e-10", "--json").json
    assert j["nside_out"] == 32 and read_map("b.fits")[0]["COORDSYS"] == read_map("a.fits")[0]["COORDSYS"] == "C"
    assert len(columns("b.fits")) == 3 and max(map(worst, columns("b.fits"), columns("a.fits"))) < 1e-6  # float32
    ok("map2alm", SKY, "alm.fits", "--lmax", "64")
    ok("rotate", "alm.fits", "turned.fits", "--from", "G", "--to", "C")
    for nside in "20", "64":
        ok("alm2map", "turned.fits", "want.fits", "--nside", nside, "--overwrite")
        ok("rotate", SKY, "got.fits", *turn, "--points", "--nside", nside, "--overwrite")
        assert int(read_map("got.fits")[0]["NSIDE"]) == int(nside)
        assert max(map(worst, columns("got.fits"), columns("want.fits"))) < 1e-6
    ok("alm2map", make_alm({3: 2.0}), "dipole.fits", "--nside", "8", "--overwrite")
    ok("rotate", "dipole.fits", "o.fits", "--euler", "0deg,90deg,0deg", "--points", "--nside", "1", "--iter", "20", "--lmax", "8", "--eps", "1e-12")
    size, high = 2 * math.sqrt(3 / (4 * math.pi)), math.sqrt(5) / 3
    quarter = [math.sqrt(.5) * size * high * s for s in (1, -1, -1, 1)]
    assert worst(columns("o.fits")[0], quarter + [size, 0, -size, 0] + quarter) < 1e-10
    refused(2, "rotate", SKY, "x.fits", *turn, "--nside", "8", says="go with --points")
    refused(2, "rotate", SKY, "x.fits", *turn, "--eps", "1e-5", says="go with --points")
    refused(2, "rotate", "alm.fits", "x.fits", "--from", "G", "--to", "C", "--points", says="of maps")
    assert "dry run" in ok("rotate", SKY, "x.fits", *turn, "--points", "--nside", "128", "--dry-run").out and not os.path.exists("x.fits")


def is_m0(index):
    l = math.isqrt(index - 1)
    return index == l * l + l + 1


def random_maps_are_reproducible():
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} {1 / (l + 1) ** 2}\n" for l in range(25)))
    ok("synfast", "cl.txt", "a.fits", "--nside", "8", "--seed", "5", "--threads", "1")
    ok("synfast", "cl.txt", "b.fits", "--nside", "8", "--seed", "5", "--threads", "3")
    ok("synfast", "cl.txt", "c.fits", "--nside", "8", "--seed", "6")
    assert columns("a.fits") == columns("b.fits") != columns("c.fits")
    with open("bad.txt", "w") as f:
        f.write("0 1\n1 1\n2 -1\n")
    refused(1, "synfast", "bad.txt", "x.fits", "--nside", "2", says="l = 2 are no covariance")
    ok("synfast", "bad.txt", "x.fits", "--nside", "2", "--zero-indefinite")


main([anafast_as_healpix_fortran, weights_as_healpix_fortran, masks, dipole_is_found, udgrade_as_healpix_fortran, udgrade_by_hand,
      rotation_of_a_dipole, rotation_there_and_back, rotation_by_sums, pixel_window, north_galactic_pole, spectra_of_random_maps,
      random_maps_are_reproducible])
