# SPDX-License-Identifier: BSD-3-Clause
"""kugel smooth and filter ring by ring (--mem on the CPU): the files of maps in memory, within the memory allowed."""
import os
from fitsfile import *
from harness import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")
UNSEEN = -1.6375e30
NSIDE = 256


def mem(megabytes):
    """For --mem."""
    return f"{megabytes + 1000 * sanitized()}M"


def random_sky(path, nside=NSIDE, polarised=False):
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} 1 0.5 0.2 0.1\n" if polarised else f"{l} 1\n" for l in range(201)))
    ok("synfast", "cl.txt", path, "--nside", nside, "--lmax", 200, "--seed", "7", "--f32", *(["--pol"] if polarised else []))


def same(*words, size=40, exact=True):
    """The command in memory and ring by ring."""
    ok(*words[:2], "whole.fits", *words[2:], "--overwrite")
    r = ok(*words[:2], "rings.fits", *words[2:], "--overwrite", "--mem", mem(size), "--json").json
    whole, rings = read_map("whole.fits"), read_map("rings.fits")
    assert {k: v for k, v in whole[0].items() if k != "NAXIS"} == {k: v for k, v in rings[0].items() if k != "NAXIS"}
    for a, b in zip(whole[2], rings[2], strict=True):
        assert a[:2] == b[:2], "names and units"
        if exact:
            assert a[2] == b[2], max(abs(x - y) for x, y in zip(a[2], b[2]))
        else:
            top = max(abs(x) for x in a[2] if x > -1e30)
            assert all(abs(x - y) <= 1e-6 * top for x, y in zip(a[2], b[2]))
    if not sanitized():
        assert r["memory"]["peak_bytes"] <= size * 1e6, (r["memory"], size)
    return r


def scalar_maps():
    random_sky("in.fits", 512)
    whole = ok("smooth", "in.fits", "x.fits", "--fwhm", "20arcmin", "--method", "direct", "--json").json
    r = same("smooth", "in.fits", "--fwhm", "20arcmin", "--method", "direct", size=24)
    if not sanitized():
        assert r["memory"]["peak_bytes"] < 0.6 * whole["memory"]["peak_bytes"], "less than of maps in memory"
    same("smooth", "in.fits", "--fwhm", "40arcmin", "--method", "rings", "--threads", 64, size=90, exact=False)
    same("filter", "in.fits", "--width", "20arcmin", size=90, exact=False)


def masks_and_polarisation():
    same("smooth", SKY, "--fwhm", "10deg", "--method", "direct")
    same("smooth", SKY, "--fwhm", "10deg", "--method", "direct", "--normalise-mask")
    same("smooth", SKY, "--fwhm", "5deg", "--method", "rings", "--normalise-mask", "--no-pol", exact=False)
    n = 12 * 64 * 64
    maps = [(c, "uK", [UNSEEN if k % 5 == 0 and k < n // 3 else (k * (i + 3) % 101) / 7 for k in range(n)])
            for i, c in enumerate(("I", "Q", "U"))]
    write_map("iau.fits", maps, 64, extra=[card("POLCCONV", "IAU")])
    same("smooth", "iau.fits", "--fwhm", "3deg", "--method", "direct", "--threads", 64, size=24)
    same("filter", "iau.fits", "--kernel", "top-hat", "--width", "3deg", "--normalise-mask", "--columns", "all",
         "--method", "direct", size=24)


def devices():
    """Maps go to a device and back by runs of pixels, all at once or within its memory."""
    r = kugel("smooth", SKY, "cpu.fits", "--fwhm", "6deg", "--method", "direct")
    names = [d["name"] for d in ok("info", "--json").json["devices"] if d["name"] != "cpu" and d.get("available", True)]
    for name in names:
        if kugel("smooth", SKY, "x.fits", "--fwhm", "6deg", "--method", "direct", "--device", name, "--overwrite").code:
            continue  # no kernels, or no float64
        compare("cpu.fits", "x.fits")
        random_sky("in.fits", 128)
        ok("smooth", "in.fits", "a.fits", "--fwhm", "2deg", "--method", "direct", "--overwrite")
        ok("smooth", "in.fits", "b.fits", "--fwhm", "2deg", "--method", "direct", "--overwrite", "--device", name, "--mem", "8M")
        compare("a.fits", "b.fits")


def compare(a, b):
    for x, y in zip(read_map(a)[2], read_map(b)[2], strict=True):
        top = max(abs(v) for v in x[2] if v > -1e30)
        assert all(abs(v - w) <= 1e-5 * top for v, w in zip(x[2], y[2]))


def refusals():
    n = 12 * 16 * 16
    for order in "RING", "NESTED":
        write_map(f"{order}.fits", [("T", "uK", [1.0] * n)], 16, order)
    direct = "--fwhm", "10deg", "--method", "direct"
    refused(1, "smooth", "NESTED.fits", "x.fits", *direct, "--mem", "1G", says="kugel reorder")
    refused(1, "smooth", "RING.fits", "x.fits", *direct, "--mem", "1G", "--order", "nested", says="NESTED")
    refused(2, "smooth", "RING.fits", "x.fits", *direct, "--mem", "1G", "--plot", "x.png", says="--plot")
    refused(2, "smooth", "RING.fits", "x.fits", "--fwhm", "10deg", "--mem", "1G", says="--device")
    refused(2, "filter", "RING.fits", "x.fits", "--kernel", "matched", "--fwhm", "10deg", "--mem", "1G", says="--method")
    refused(1, "smooth", "RING.fits", "x.fits", *direct, "--mem", "1M", says="--mem")
    assert not os.path.exists("x.fits") and not [f for f in os.listdir(".") if "kugel-" in f]
    ok("smooth", "RING.fits", "x.fits", *direct, "--mem", "1G", "--dry-run")
    assert not os.path.exists("x.fits")


def control_c():
    """Ctrl-C on the way leaves no file."""
    random_sky("in.fits")
    code, err = interrupted("smooth", "in.fits", "x.fits", "--fwhm", "12deg", "--method", "direct", "--mem", mem(60), "--threads", 1)
    assert code == 130 and "nothing written" in err, (code, err)
    assert sorted(os.listdir(".")) == ["cl.txt", "in.fits"], os.listdir(".")


main([scalar_maps, masks_and_polarisation, devices, refusals, control_c])
