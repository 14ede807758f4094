# SPDX-License-Identifier: BSD-3-Clause
"""kugel smooth from file to file: results, what is kept, what is refused."""
import math
import os
import signal
import subprocess
from fitsfile import *
from harness import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")
UNSEEN = -1.6375e30


def values(path):
    return [c[2] for c in read_map(path)[2]]


def worst(got, want):
    """Largest difference over the largest value of what is wanted; unseen pixels must agree."""
    size = max(abs(w) for w in want if w > -1e30)
    assert all((g < -1e30) == (w < -1e30) for g, w in zip(got, want)), "other pixels are unseen"
    return max(abs(g - w) for g, w in zip(got, want) if w > -1e30) / size


def random_map(n, seed=1):
    out = []
    for _ in range(n):
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append((seed >> 33) / 2**31 - 0.5)
    return out


def small_map(path="in.fits", nside=8, ordering="RING", extra=(), columns=("TEMPERATURE",)):
    n = 12 * nside * nside
    write_map(path, [(c, "uK", random_map(n, i)) for i, c in enumerate(columns)], nside, ordering, extra)


def healpix_fortran():
    """10 degrees, lmax 64, 3 iterations, as HEALPix 3.11 smooths the same map: float32 outputs."""
    name = "sphere/sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32"
    for kind in "", "_masked":
        ok("smooth", shared(name + kind + ".fits"), f"out{kind}.fits", "--fwhm", "10deg", "--lmax", "64")
        before = values(shared(name + kind + ".fits"))
        want = values(shared(f"{name}{kind}_smoothed10deg_fortran.fits"))
        for got, w, b in zip(values(f"out{kind}.fits"), want, before):
            w = [UNSEEN if y < -1e30 else x for x, y in zip(w, b)]  # HEALPix fills masked pixels, Kugel leaves them unseen
            assert worst(got, w) < 1e-6, worst(got, w)


def shipped_map():
    r = ok("smooth", SKY, "out.fits", "--fwhm", "5deg", "--json").json
    assert r["status"] == "done" and r["nside"] == 32 and r["lmax"] == 95 and r["polarised"] is True
    assert r["seconds"]["total"] > 0 and r["memory"]["peak_bytes"] > 1e6
    before, after = read_map(SKY), read_map("out.fits")
    assert [c[:2] for c in before[2]] == [c[:2] for c in after[2]], "names and units are kept"
    spread = [max(c[2]) - min(c[2]) for c in (before[2][0], after[2][0])]
    assert 0 < spread[1] < 0.5 * spread[0]
    text = ok("smooth", SKY, "again.fits", "--fwhm=5deg").out
    assert "fwhm 5 deg" in text and "peak" in text
    assert values("again.fits") == values("out.fits")


def beam_sigma_and_file_agree():
    fwhm = math.radians(10)
    sigma = fwhm / math.sqrt(8 * math.log(2))
    small_map()
    with open("beam.txt", "w") as f:
        f.write("".join(f"{l} {math.exp(-l * (l + 1) * sigma**2 / 2):.17g}\n" for l in range(24)))
    ok("smooth", "in.fits", "a.fits", "-f", "10deg")
    ok("smooth", "in.fits", "b.fits", "--sigma", f"{sigma!r}rad")
    ok("smooth", "in.fits", "c.fits", "--beam", "beam.txt")
    assert worst(values("b.fits")[0], values("a.fits")[0]) < 1e-6
    assert worst(values("c.fits")[0], values("a.fits")[0]) < 1e-6


def units():
    small_map()
    for i, angle in enumerate(["3deg", "180arcmin", "10800arcsec", f"{math.radians(3)!r}rad"]):
        ok("smooth", "in.fits", f"{i}.fits", "--fwhm", angle)
        assert worst(values(f"{i}.fits")[0], values("0.fits")[0]) < 1e-6
    refused(2, "smooth", "in.fits", "x.fits", "--fwhm", "3", says="--fwhm 3: an angle needs a unit")
    refused(2, "smooth", "in.fits", "x.fits", "--fwhm", "3furlong", says="unknown unit; use deg, arcmin")
    refused(2, "smooth", "in.fits", "x.fits", "--fwhm", "wide", says="needs a number with a unit")
    refused(2, "smooth", "in.fits", "x.fits", "--fwhm", "nandeg", says="needs a number")
    refused(2, "smooth", "in.fits", "x.fits", "--fwhm", "-1deg", says="must be from 0 deg to 180 deg")
    refused(2, "smooth", "in.fits", "x.fits", "--fwhm", "181deg", says="must be from 0 deg to 180 deg")


def what_is_kept():
    cards = [card("COORDSYS", "E"), card("TELESCOP", "ENTERPRISE"), "HISTORY made by hand", card("OBJECT", "FULLSKY")]
    small_map(ordering="NESTED", extra=cards, columns=("FLUX",))
    ok("smooth", "in.fits", "out.fits", "--fwhm", "20deg")
    h, all_cards, columns = read_map("out.fits")
    assert h["ORDERING"].startswith("NEST") and h["COORDSYS"] == "E" and h["TELESCOP"] == "ENTERPRISE"
    assert columns[0][:2] == ("FLUX", "uK")
    assert any("made by hand" in c for c in all_cards) and any("kugel smooth in.fits" in c for c in all_cards)
    ok("smooth", "in.fits", "ring.fits", "--fwhm", "20deg", "--order", "ring")
    assert read_map("ring.fits")[0]["ORDERING"] == "RING"
    assert sorted(values("ring.fits")[0]) == sorted(values("out.fits")[0])


def unseen_pixels_stay_unseen():
    n = 12 * 8 * 8
    v = random_map(n)
    v[10:20] = [UNSEEN] * 10
    write_map("holes.fits", [("T", "K", v)], 8)
    write_map("zeros.fits", [("T", "K", [0 if x == UNSEEN else x for x in v])], 8)
    ok("smooth", "holes.fits", "a.fits", "--fwhm", "20deg")
    ok("smooth", "zeros.fits", "b.fits", "--fwhm", "20deg")
    a, b = values("a.fits")[0], values("b.fits")[0]
    assert all(x < -1e30 for x in a[10:20])
    assert worst([x for i, x in enumerate(a) if not 10 <= i < 20], [x for i, x in enumerate(b) if not 10 <= i < 20]) < 1e-6


def polarisation_is_optional():
    small_map(columns=("TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"))
    ok("smooth", "in.fits", "pol.fits", "--fwhm", "20deg")
    ok("smooth", "in.fits", "apart.fits", "--fwhm", "20deg", "--no-pol")
    ok("smooth", "in.fits", "q.fits", "--fwhm", "20deg", "--columns", "Q_POLARISATION")
    pol, apart, q = values("pol.fits"), values("apart.fits"), values("q.fits")
    assert len(pol) == len(apart) == 3 and len(q) == 1
    assert worst(pol[0], apart[0]) < 1e-6 and worst(q[0], apart[1]) < 1e-6
    assert worst(pol[1], apart[1]) > 1e-3


def iau_sign_of_u():
    cols = ("I", "Q", "U")
    v = [random_map(12 * 64, i) for i in range(3)]
    write_map("cosmo.fits", list(zip(cols, ["K"] * 3, v)), 8, extra=[card("POLCCONV", "COSMO")])
    write_map("iau.fits", list(zip(cols, ["K"] * 3, [v[0], v[1], [-x for x in v[2]]])), 8, extra=[card("POLCCONV", "IAU")])
    ok("smooth", "cosmo.fits", "a.fits", "--fwhm", "20deg")
    ok("smooth", "iau.fits", "b.fits", "--fwhm", "20deg")
    a, b = values("a.fits"), values("b.fits")
    assert read_map("b.fits")[0]["POLCCONV"] == "IAU"
    assert worst(b[1], a[1]) < 1e-6 and worst([-x for x in b[2]], a[2]) < 1e-6


def dry_run():
    r = ok("smooth", SKY, "out.fits", "--fwhm", "5deg", "--dry-run", "--json").json
    assert r["dry_run"] and r["expected_bytes"] > 1e6 and r["expected_seconds"] > 0
    assert "dry run" in ok("smooth", SKY, "out.fits", "--fwhm", "5deg", "-n").out
    assert os.listdir(".") == []


def refusals():
    small_map()
    refused(2, "smooth", says="INPUT is missing")
    refused(2, "smooth", "in.fits", says="OUTPUT is missing")
    refused(2, "smooth", "in.fits", "out.fits", "more", says='"more" is one word too many')
    refused(2, "smooth", "in.fits", "out.fits", says="give one of --fwhm, --sigma and --beam")
    refused(2, "smooth", "in.fits", "out.fits", "--fwhm", "1deg", "--sigma", "1deg", says="give one of")
    refused(2, "smooth", "in.fits", "out.fits", "--fwmh", "1deg", says="did you mean --fwhm?")
    refused(2, "smooth", "in.fits", "out.fits", "--fwhm", "1deg", "--weights", "rign",
            says="choose equal, ring or pixel (did you mean ring?)")
    refused(1, "smooth", "none.fits", "out.fits", "--fwhm", "1deg", says="none.fits")
    refused(1, "smooth", "in.fits", "nowhere/out.fits", "--fwhm", "1deg", says="there is no folder nowhere")
    refused(1, "smooth", "in.fits", ".", "--fwhm", "1deg", says="is a folder")
    refused(1, "smooth", "in.fits", "out.fits", "--fwhm", "1deg", "--columns", "GAMMA", says="GAMMA")
    with open("text.fits", "w") as f:
        f.write("this is no FITS file\n" * 400)
    refused(1, "smooth", "text.fits", "out.fits", "--fwhm", "1deg", says="text.fits")
    with open("in.fits", "rb") as f, open("cut.fits", "wb") as g:
        g.write(f.read()[:-2880])
    refused(1, "smooth", "cut.fits", "out.fits", "--fwhm", "1deg", says="cut.fits")
    open("empty.fits", "w").close()
    refused(1, "smooth", "empty.fits", "out.fits", "--fwhm", "1deg", says="empty.fits")
    assert not os.path.exists("out.fits")


def overwrite():
    small_map()
    ok("smooth", "in.fits", "out.fits", "--fwhm", "1deg")
    with open("out.fits", "rb") as f:
        first = f.read()
    refused(1, "smooth", "in.fits", "out.fits", "--fwhm", "30deg", says="out.fits exists; --overwrite replaces it")
    with open("out.fits", "rb") as f:
        assert f.read() == first
    ok("smooth", "in.fits", "out.fits", "--fwhm", "30deg", "--overwrite")
    with open("out.fits", "rb") as f:
        first = f.read()
    refused(2, "smooth", "out.fits", "out.fits", "--fwhm", "30deg", "--overwrite", says="the same file")
    with open("out.fits", "rb") as f:
        assert f.read() == first
    assert sorted(os.listdir(".")) == ["in.fits", "out.fits"]


def interruption_leaves_nothing():
    small_map(nside=256)  # minutes, if it is not interrupted
    before = sorted(os.listdir("."))
    for number in signal.SIGINT, signal.SIGTERM:
        code, err = interrupted("smooth", "in.fits", "out.fits", "--fwhm", "1deg", "--iter", 1000, "--threads", 1, number=number)
        assert code == 128 + number and err == "kugel smooth: interrupted, nothing written\n", (code, err)
        assert sorted(os.listdir(".")) == before


def ignored_signals_stay_ignored():
    """nohup ignores SIGHUP, a shell SIGINT of its background jobs."""
    small_map(nside=64)
    for number in signal.SIGHUP, signal.SIGINT:
        code, err = interrupted("smooth", "in.fits", "out.fits", "--fwhm", "1deg", "--iter", "100", "--overwrite", number=number, ignored=True)
        assert code == 0 and not err and os.path.exists("out.fits"), (code, err)


def full_disk_leaves_nothing():
    small_map(nside=64)
    before = sorted(os.listdir("."))
    done = subprocess.run(["bash", "-c", 'ulimit -f 100; exec "$0" smooth in.fits out.fits --fwhm 1deg --iter 0', BINARY],
                          capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "out.fits" in done.stderr, done
    assert sorted(os.listdir(".")) == before
    with open("/dev/full", "w") as full:
        done = subprocess.run([BINARY, "smooth", "in.fits", "out.fits", "--fwhm", "1deg", "--iter", "0"], stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "standard output" in done.stderr, done


def little_memory_is_said():
    small_map(nside=64)
    done = subprocess.run(["bash", "-c", 'ulimit -v 1000000; exec "$0" smooth in.fits out.fits --fwhm 1deg --lmax 30000', BINARY],
                          capture_output=True, text=True)
    if "asan" in BINARY or "tsan" in BINARY:
        raise Skip("sanitizers need address space")
    assert done.returncode == 1 and "no memory" in done.stderr and not os.path.exists("out.fits"), done


def threads_do_not_change_the_result():
    small_map(nside=16, columns=("I", "Q", "U"))
    for threads in 1, 2, 5:
        ok("smooth", "in.fits", f"{threads}.fits", "--fwhm", "2deg", "--threads", threads)
    assert values("1.fits") == values("2.fits") == values("5.fits")


main([healpix_fortran, shipped_map, beam_sigma_and_file_agree, units, what_is_kept, unseen_pixels_stay_unseen,
      polarisation_is_optional, iau_sign_of_u, dry_run, refusals, overwrite, interruption_leaves_nothing,
      ignored_signals_stay_ignored, full_disk_leaves_nothing, little_memory_is_said, threads_do_not_change_the_result])
