# SPDX-License-Identifier: BSD-3-Clause
"""What holds for every command: --json is one object, --dry-run writes nothing, --quiet is silent, a failed or
interrupted run leaves no file."""
import os
import signal
import subprocess
import time
from harness import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")
RELIEF = os.path.join(SHARE, "etopo20_relief.npy")
RUNS = {
    "smooth": [SKY, "out.fits", "--fwhm", "5deg", "--lmax", "20"],
    "map2alm": [SKY, "out.fits", "--lmax", "20"],
    "alm2map": ["alm.fits", "out.fits", "--nside", "16"],
    "anafast": [SKY, "out.txt", "--lmax", "20"],
    "spectra": [SKY, "out.csv", "--lmax", "20", "--width", "5"],
    "mask": [SKY, "out.fits", "--seen"],
    "synfast": ["cl.txt", "out.fits", "--nside", "16"],
    "reorder": [SKY, "out.fits"],
    "udgrade": [SKY, "out.fits", "--nside", "16"],
    "regrid": [RELIEF, "out.fits", "--nside", "16", "--lmax", "20"],
    "rotate": [SKY, "out.fits", "--to", "C", "--lmax", "20"],
    "filter": [SKY, "out.fits", "--fwhm", "5deg"],
    "sources": [SKY, "out.csv", "--fwhm", "5deg"],
    "wavelet": [SKY, "out.fits", "--scales", "2"],
    "fft": [RELIEF, "out.npy", "--kind", "r2c"],
    "convert": [RELIEF, "out.tif"],
    "mip": [RELIEF, "mip.png", "--width", "100"],
    "plot": [SKY, "out.png", "--size", "100"],
}


def inputs():
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} {1 / (l + 1) ** 2}\n" for l in range(25)))
    ok("map2alm", SKY, "alm.fits", "--lmax", "20", "--iter", "0")
    return sorted(os.listdir("."))


def json_objects():
    inputs()
    for command, words in RUNS.items():
        j = ok(command, *words, "--json", "--overwrite").json
        assert j["command"] == command and j["status"] == "done" and j["output"] == words[1], j
        assert j["seconds"]["total"] > 0 and j["memory"]["peak_bytes"] > 1e6 and j["threads"] >= 1, j


def dry_runs():
    before = inputs()
    for command, words in RUNS.items():
        j = ok(command, *words, "--dry-run", "--json").json
        assert j["dry_run"] is True and j["expected_bytes"] > 1e6 and j["expected_seconds"] >= 0, j
        assert "dry run" in ok(command, *words, "-n").out
    assert sorted(os.listdir(".")) == before


def quiet():
    inputs()
    for command, words in RUNS.items():
        assert ok(command, *words, "-q", "--overwrite").out == ""
    assert os.path.exists("out.fits") and os.path.exists("out.txt") and os.path.exists("out.png")


def no_output_without_overwrite():
    before = inputs()
    for command, words in RUNS.items():
        open(words[1], "w").close()
        r = refused(1, command, *words, "--json", says="exists; --overwrite replaces it")
        assert r.json["status"] == "failed" and r.json["command"] == command
        assert os.path.getsize(words[1]) == 0
        os.remove(words[1])
    assert sorted(os.listdir(".")) == before


def signals_at_any_time():
    """A run killed after any delay either ends well or leaves nothing."""
    codes = set()
    for _ in range(10):  # until the signals came while it ran, whatever else the machine did meanwhile
        codes |= signals_over_a_run()
        if {130, 143} <= codes:
            return
    assert False, codes


def signals_over_a_run():
    """Exit codes of runs that got a signal after part of the time of a whole one."""
    before = inputs()
    words = [SKY, "out.fits", "--fwhm", "5deg", "--iter", "20"]
    codes, start = set(), time.monotonic()
    ok("smooth", *words)
    whole = time.monotonic() - start
    os.remove("out.fits")
    for i in range(36):
        number = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[i % 3]  # a scheduler's, and a closed terminal
        p = subprocess.Popen([BINARY, "smooth", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(whole * i / 36)
        p.send_signal(number)
        code = p.wait(timeout=300)
        codes.add(code)
        assert code in (0, 128 + number, -number), (code, number)  # -number: before main began
        assert os.path.exists("out.fits") == (code == 0)
        if code == 0:
            ok("info", "out.fits")
            os.remove("out.fits")
        assert sorted(os.listdir(".")) == before
    return codes


main([json_objects, dry_runs, quiet, no_output_without_overwrite, signals_at_any_time])
