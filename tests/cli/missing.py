# SPDX-License-Identifier: BSD-3-Clause
"""Pixels without a value, multipoles beyond the pixels, interruption at any time, and what the report says of them."""
import math
import os
import resource
import signal
import subprocess
import time
import npyfile
from fitsfile import *
from harness import *

UNSEEN = -1.6375e30


def spectrum(lmax):
    with open("cl.txt", "w") as f:
        f.write("\n".join(str(1 / max(l, 2) ** 2) for l in range(lmax + 1)))


def values(path):
    return list(read_map(path)[2][0][2])


def heights(nside):
    """z of each ring pixel, from the rings' closed form."""
    z = []
    for i in range(1, 4 * nside):
        if i < nside:
            z += [1 - i * i / (3 * nside * nside)] * (4 * i)
        elif i <= 3 * nside:
            z += [4 / 3 - 2 * i / (3 * nside)] * (4 * nside)
        else:
            k = 4 * nside - i
            z += [-1 + k * k / (3 * nside * nside)] * (4 * k)
    return z


def masked(nside, cut):
    """A sky whose pixels north of z = cut are unseen: by a mask through a sum that --normalise-mask leaves alone."""
    spectrum(20)
    ok("synfast", "cl.txt", "sky.fits", "--nside", nside, "--seed", 3)
    with open("sky.fits", "rb") as f:
        data = bytearray(f.read())
    rows = 12 * nside * nside
    z, start = heights(nside), len(data) - -(-rows * 8 // 2880) * 2880
    for i in range(rows):
        if z[i] > cut:
            data[start + 8 * i:start + 8 * i + 8] = struct.pack(">d", UNSEEN)
    with open("masked.fits", "wb") as f:
        f.write(data)
    return sum(v > cut for v in z)


def rotation_keeps_the_mask():
    n = masked(32, 0.5)
    j = ok("rotate", "masked.fits", "r.fits", "--euler", "0deg,90deg,0deg", "--iter", "0", "--json").json
    assert j["missing_values"] == n, (j, n)
    got = [v < -1e30 for v in values("r.fits")]
    assert j["blanked_values"] == sum(got) and abs(sum(got) - n) < 0.03 * n, (sum(got), n)
    assert not any(g for g, z in zip(got, heights(32)) if z > 0.9), "the north pole is seen now"
    ok("rotate", "r.fits", "back.fits", "--euler", "0deg,-90deg,0deg", "--iter", "0")
    back = [v < -1e30 for v in values("back.fits")]
    assert sum(b != (z > 0.5) for b, z in zip(back, heights(32))) < 0.06 * n
    assert "missing" in ok("rotate", "masked.fits", "r.fits", "--euler", "0deg,90deg,0deg", "--overwrite").out
    ok("rotate", "masked.fits", "p.fits", "--euler", "0deg,90deg,0deg", "--iter", "0", "--points")
    assert [v < -1e30 for v in values("p.fits")] == got
    j = ok("rotate", "masked.fits", "p.fits", "--euler", "0deg,90deg,0deg", "--points", "--nside", "16", "--overwrite", "--json").json
    assert j["blanked_values"] == sum(v < -1e30 for v in values("p.fits")) and abs(4 * j["blanked_values"] - n) < 0.06 * n


def missing_values_are_counted():
    n = masked(16, 0)
    for words in (["smooth", "masked.fits", "o.fits", "--fwhm", "10deg"],
                  ["smooth", "masked.fits", "o.fits", "--fwhm", "10deg", "--method", "direct"],
                  ["map2alm", "masked.fits", "o.fits"], ["anafast", "masked.fits", "o.fits"]):
        assert ok(*words, "--overwrite", "--json").json["missing_values"] == n, words
        assert "UNSEEN" in ok(*words, "--overwrite").out
    assert ok("map2alm", "sky.fits", "o.fits", "--overwrite", "--json").json["missing_values"] == 0


def lmax_beyond_the_pixels():
    spectrum(20)
    ok("synfast", "cl.txt", "sky.fits", "--nside", 8)
    r = ok("anafast", "sky.fits", "cl.fits", "--lmax", 40)
    assert "lmax 40 is above 3 nside - 1 = 23" in r.out, r
    assert ok("anafast", "sky.fits", "cl.fits", "--overwrite", "--json").json["beyond_pixels"] is False


def beyond_a_grid_by_force():
    npyfile.write("rows.npy", (20, 40), [1.0] * 800, "<f8")
    refused(1, "map2alm", "rows.npy", "a.fits", "--grid", "fejer1", "--lmax", 30, says="lmax")
    ok("map2alm", "rows.npy", "a.fits", "--grid", "fejer1", "--lmax", 30, "--force")


def rows_from_the_south_and_from_the_date_line():
    n, m = 24, 48
    lat = [90 - (i + 0.5) * 180 / n for i in range(n)]
    field = lambda la, lo: math.sin(math.radians(la)) + math.cos(math.radians(la)) * math.sin(math.radians(lo))
    npyfile.write("usual.npy", (n, m), [field(la, (k + 0.5) * 360 / m) for la in lat for k in range(m)], "<f8")
    npyfile.write("other.npy", (n, m), [field(la, -180 + k * 360 / m) for la in lat[::-1] for k in range(m)], "<f8")
    ok("regrid", "usual.npy", "a.fits", "--nside", 8)
    r = ok("regrid", "other.npy", "b.fits", "--nside", 8, "--south-first", "--lon0", "-180deg")
    assert "south to north" in r.out and "longitude 180 deg" in r.out, r
    assert max(abs(x - y) for x, y in zip(values("a.fits"), values("b.fits"))) < 1e-12


def version_for_programs():
    assert ok("--version", "--json").json["version"] == ok("--version").out.split()[1]


def cpu_of(pid):
    """Seconds of CPU time that a process took so far, which grow no faster on a busy machine."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            field = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return (int(field[11]) + int(field[12])) / os.sysconf("SC_CLK_TCK")


def stops(words, after, number):
    """CPU seconds per thread from the signal to the end of the command, which leaves its folder as it was."""
    before = sorted(os.listdir("."))
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.Popen([BINARY, *map(str, words), "--threads", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while run.poll() is None and cpu_of(run.pid) < after:
        time.sleep(0.02)
    if run.poll() is None:
        start = cpu_of(run.pid)
        run.send_signal(number)
        text = run.communicate(timeout=600)[1]
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = max(0, now.ru_utime + now.ru_stime - children.ru_utime - children.ru_stime - start) / 2
        if run.returncode == 0:  # it was about to end
            return 0
        # a signal that comes before the work begins or after it ends is the system's: the number itself, negative
        assert run.returncode in (128 + number, -number), (words, run.returncode, text)
        assert sorted(os.listdir(".")) == before, (words, os.listdir("."))
        return seconds
    run.communicate()
    for name in set(os.listdir(".")) - set(before):
        os.remove(name)
    return 0


def signals_end_it_soon():
    slow = "asan" in BINARY or "tsan" in BINARY  # these look for what a signal leaves behind, not for the time it takes
    nside = 256 if slow else 1024
    spectrum(3000)
    ok("synfast", "cl.txt", "sky.fits", "--nside", nside, "--f32", "--lmax", 500)
    ok("synfast", "cl.txt", "small.fits", "--nside", nside // 4)
    commands = (["smooth", "sky.fits", "o.fits", "--fwhm", "3arcmin"],
                ["smooth", "sky.fits", "o.fits", "--fwhm", "2deg", "--method", "direct", "--mem", "100M"],
                ["synfast", "cl.txt", "o.fits", "--nside", 2 * nside],
                ["map2alm", "small.fits", "o.fits", "--weights", "pixel"],
                ["rotate", "sky.fits", "o.fits", "--euler", "10deg,20deg,0deg"],
                ["plot", "sky.fits", "o.png", "--size", 8 * nside])
    for words in commands:
        for _ in range(3):  # other processes slow a run down, never speed it up: one of three rounds must do
            took = [stops(words, after, number)
                    for after, number in ((0.2, signal.SIGINT), (0.7, signal.SIGTERM), (1.6, signal.SIGINT))]
            print(f"  {' '.join(map(str, words[:3]))}: {', '.join(f'{t:.2f} s' for t in took)}")
            for name in ("o.fits", "o.png"):
                if os.path.exists(name):
                    os.remove(name)
            # a second, and what a machine under load takes from it
            if slow or (sorted(took)[1] < 1 and max(took) < 5):
                break
        else:
            assert False, (words, took)


main([rotation_keeps_the_mask, missing_values_are_counted, lmax_beyond_the_pixels, beyond_a_grid_by_force,
      rows_from_the_south_and_from_the_date_line, version_for_programs, signals_end_it_soon])
