# SPDX-License-Identifier: BSD-3-Clause
"""Many maps in one run: folders, patterns, shares of a job array, seeds by number, kills and --resume."""
import os
import shutil
import signal
import subprocess
import time
from harness import *

SPLIT = ["1", "3", "7"]


def spectrum(path="cl.txt", lmax=47):
    with open(path, "w") as f:
        f.writelines(f"{l} {1 / (l + 1) ** 2 if l > 1 else 0}\n" for l in range(lmax + 1))


def folder(path):
    """Names and bytes of what a user sees in a folder."""
    found = {}
    for name in sorted(os.listdir(path)):
        if not name.startswith("."):
            with open(os.path.join(path, name), "rb") as f:
                found[name] = f.read()
    return found


def maps(count=7, nside=16):
    spectrum()
    ok("synfast", "cl.txt", "maps", "--nside", nside, "--seed", 5, "--count", count)


def seeds():
    """Map i is the same, whoever makes it: a run of its own, one run for all, or tasks."""
    spectrum()
    ok("synfast", "cl.txt", "all/", "--nside", 16, "--seed", 7, "--count", 10, "--unit", "uK")
    whole = folder("all")
    assert list(whole) == [f"cl-{i:06d}.fits" for i in range(10)] and len(set(whole.values())) == 10
    os.mkdir("one")
    os.mkdir("plain")
    for i in (0, 4, 9):
        name = f"cl-{i:06d}.fits"
        ok("synfast", "cl.txt", f"one/{name}", "--nside", 16, "--seed", 7, "--index", i, "--unit", "uK")
    assert all(data == whole[name] for name, data in folder("one").items())  # history included
    for word in ([], ["--index", 0]):  # index 0 is what a seed alone gives
        ok("synfast", "cl.txt", f"plain/{len(word)}.npy", "--nside", 16, "--seed", 7, *word)
    plain = folder("plain")
    assert plain["0.npy"] == plain["2.npy"] and len(plain["0.npy"]) > 8 * 3072
    for n in SPLIT:
        for i in range(int(n)):
            ok("synfast", "cl.txt", f"split{n}", "--nside", 16, "--seed", 7, "--count", 10, "--unit", "uK", "--task", f"{i}/{n}")
        assert folder(f"split{n}") == whole, n
    ok("synfast", "cl.txt", "tail", "--nside", 16, "--seed", 7, "--count", 3, "--index", 7, "--unit", "uK")
    assert folder("tail") == {k: v for k, v in whole.items() if k >= "cl-000007"}
    ok("synfast", "cl.txt", "more", "--nside", 16, "--seed", 7, "--count", 4, "--unit", "uK", "--resume")
    j = ok("synfast", "cl.txt", "more", "--nside", 16, "--seed", 7, "--count", 10, "--unit", "uK", "--resume", "--json").json
    assert j["done_before"] == 4 and len(j["files"]) == 6 and folder("more") == whole
    refused(2, "synfast", "cl.txt", "x", "--nside", 16, "--index", "4294967296", says="4294967295")


def splits():
    """Every command over a folder: the same bytes for any number of tasks, counted from 0 or from 1."""
    maps(nside=8)
    ok("map2alm", "maps", "alms")
    commands = {"smooth": ["maps", "--fwhm", "5deg"], "filter": ["maps", "--width", "5deg"], "map2alm": ["maps", "--iter", "1"],
                "alm2map": ["alms", "--nside", "8"], "anafast": ["maps"], "udgrade": ["maps", "--nside", "4"], "reorder": ["maps"],
                "rotate": ["maps", "--euler", "10deg,20deg,30deg"], "regrid": ["maps", "--ext", ".npy", "--rows", "20"],
                "sources": ["maps", "--fwhm", "8deg"], "wavelet": ["maps"], "mask": ["maps", "--apodise", "5deg"]}
    assert len(folder("alms")) == 7
    for name, words in commands.items():
        whole = None
        for n in SPLIT if name == "smooth" else SPLIT[:2] if name in ("anafast", "alm2map", "regrid") else SPLIT[:1]:
            out = f"{name}{n}"
            for i in range(int(n)):
                ok(name, *words[:1], out, *words[1:], "--task", f"{i if n != '3' else i + 1}/{n}")
            whole = whole or folder(out)
            assert len(whole) == 7 and folder(out) == whole, (name, n, list(whole))


def names():
    maps(3)
    ok("smooth", "maps/cl-000000.fits", "maps/cl-000002.fits", "few/", "--fwhm", "5deg")
    refused(2, "smooth", "maps", "wrong", says="--fwhm")  # once, not for each
    assert list(folder("few")) == ["cl-000000.fits", "cl-000002.fits"]
    ok("smooth", "maps/*1.fits", "pattern", "--fwhm", "5deg", "--ext", ".npy", "--plot", "pictures")
    assert list(folder("pattern")) == ["cl-000001.npy"] and list(folder("pictures")) == ["cl-000001.png"]
    ok("anafast", "--each", "maps/cl-000001.fits", "single", "--alm", "single-alm")
    assert list(folder("single")) == list(folder("single-alm")) == ["cl-000001.fits"]
    assert os.listdir("single") == ["cl-000001.fits"]  # no manifest when all is done
    with open("maps/notes.md", "w") as f:
        f.write("mine\n")
    ok("plot", "maps/*2.fits", "pictures")
    assert list(folder("pictures")) == ["cl-000001.png", "cl-000002.png"]
    assert "passed over" in ok("udgrade", "maps", "small", "--nside", 4).out
    refused(2, "smooth", "maps", "maps", "--fwhm", "5deg", says="same file")
    refused(1, "smooth", "maps", "one.fits", "--fwhm", "5deg", says="not a folder")
    refused(1, "smooth", "maps/x*.fits", "no", "--fwhm", "5deg", says="no file matches")
    refused(2, "anafast", "maps", "c", "--alm", "c", says="same file")
    refused(2, "smooth", "maps/cl-000000.fits", "one.fits", "--fwhm", "5deg", "--task", "1/2", says="several files")
    for bad in ("3", "3/2", "-1/2", "1/0", "1/2x", "x"):
        refused(2, "smooth", "maps", "bad", "--fwhm", "5deg", "--task=" + bad, says="--task")
    refused(2, "smooth", "maps", "bad", "--fwhm", "5deg", "--task", "auto", says="no Slurm job array")
    os.mkdir("empty")
    refused(1, "smooth", "empty", "no", "--fwhm", "5deg", says="has no FITS or NPY files")


def launchers():
    """The environment of job arrays and launchers shares the files out."""
    maps(5)
    array = {"SLURM_ARRAY_TASK_COUNT": "2", "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": "2"}
    for i in "12":
        ok("udgrade", "maps", "array", "--nside", 8, "--task", "auto", env={**array, "SLURM_ARRAY_TASK_ID": i})
    ok("udgrade", "maps", "whole", "--nside", 8)
    assert folder("array") == folder("whole")
    refused(2, "udgrade", "maps", "gap", "--nside", 8, "--task", "auto", says="gaps",
            env={**array, "SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_MAX": "5"})
    for number, (rank, size) in enumerate((("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
                                           ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"))):
        out, shares = f"ranks{number}", []
        for i in range(3):
            j = ok("udgrade", "maps", out, "--nside", 8, "--json", env={rank: str(i), size: "3"}).json
            shares.append(len(j["files"]))
        assert shares == [2, 2, 1] and folder(out) == folder("whole")
    j = ok("udgrade", "maps", "both", "--nside", 8, "--task", "1/2", "--json", env={"PMI_RANK": "1", "PMI_SIZE": "2"}).json
    assert j["task"] == "3/4" and len(j["files"]) == 1


def errors():
    """The error of one map does not stop the rest, and --resume makes what is missing."""
    maps(4)
    ok("smooth", "maps", "whole", "--fwhm", "5deg")
    good = folder("maps")["cl-000001.fits"]
    with open("maps/cl-000001.fits", "wb") as f:
        f.write(good[:-5000])
    r = kugel("smooth", "maps", "out", "--fwhm", "5deg")
    assert r.code == 1 and "maps/cl-000001.fits" in r.err and "1 of 4 files failed" in r.err and len(folder("out")) == 3, r
    with open("maps/cl-000001.fits", "wb") as f:
        f.write(good)
    j = ok("smooth", "maps", "out", "--fwhm", "5deg", "--resume", "--json").json
    assert j["done_before"] == 3 and len(j["files"]) == 1 and folder("out") == folder("whole")
    refused(1, "smooth", "maps", "out", "--fwhm", "6deg", "--resume", says="another fwhm")
    refused(1, "anafast", "maps", "out", "--resume", says="another command")
    os.utime("maps/cl-000002.fits")  # a new input: its result is made again
    j = ok("smooth", "maps", "out", "--fwhm", "5deg", "--resume", "--json").json
    assert j["done_before"] == 3 and [x["input"] for x in j["files"]] == ["maps/cl-000002.fits"]
    # What was there before the run is not the run's.
    os.mkdir("mine")
    with open("mine/cl-000003.fits", "w") as f:
        f.write("precious")
    os.utime("mine/cl-000003.fits", (1e9, 1e9))
    os.utime("maps/cl-000003.fits", (9e8, 9e8))
    r = kugel("smooth", "maps", "mine", "--fwhm", "5deg", "--resume")
    assert r.code == 1 and "--overwrite" in r.err and folder("mine")["cl-000003.fits"] == b"precious", r
    j = ok("smooth", "maps", "mine", "--fwhm", "5deg", "--resume", "--overwrite", "--json").json
    assert j["done_before"] == 3 and folder("mine") == folder("whole")
    j = kugel("smooth", "maps", "mine", "--fwhm", "5deg", "--json").json
    assert j["failed"] == 4 and j["status"] == "failed"


def killed():
    """SIGKILL between any two files or within one, then --resume, also in other shares: the bytes of a run that nobody stopped."""
    maps(8, 32)
    words = ["smooth", "maps", "out", "--fwhm", "5deg", "--iter", "3", "--plot", "pictures"]
    ok("smooth", "maps", "whole", "--fwhm", "5deg", "--iter", "3", "--plot", "whole-pictures")
    for wanted in (1, 6):
        p = subprocess.Popen([BINARY, *words, "--resume"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while p.poll() is None and (not os.path.isdir("out") or len(folder("out")) < wanted):
            time.sleep(0.001)
        p.send_signal(signal.SIGKILL)
        p.wait()
        assert len(folder("out")) >= wanted
        for i in range(2):
            j = ok(*words, "--resume", "--json", "--task", f"{i}/2").json
            assert j["done_before"] >= 1 or wanted < 6, j
        assert folder("out") == folder("whole") and folder("pictures") == folder("whole-pictures")
        shutil.rmtree("out")
        shutil.rmtree("pictures")


def together():
    """Tasks at the same time, one of them twice: none hurts another."""
    maps(9)
    ok("smooth", "maps", "whole", "--fwhm", "5deg")
    running = [subprocess.Popen([BINARY, "smooth", "maps", "out", "--fwhm", "5deg", "--resume", "--overwrite", "--task", f"{i % 3}/3"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for i in range(4)]
    for p in running:
        _, err = p.communicate(timeout=300)
        assert p.returncode == 0 and not err, err
    assert folder("out") == folder("whole") and sorted(os.listdir("out")) == [".kugel-manifest", *folder("whole")]


def interrupted_run():
    """Ctrl-C keeps what is finished."""
    maps(6, 64)
    code, err = interrupted("smooth", "maps", "out", "--fwhm", "5deg", "--resume", "--iter", "1000", "--threads", 1)
    assert code == 130 and "--resume" in err, (code, err)


def volumes():
    """Stacks of images by the same means."""
    spectrum()
    ok("synfast", "cl.txt", "stacks", "--rows", 8, "--count", 5, "--ext", ".npy", "--seed", 1)
    ok("convert", "stacks", "whole", "--ext", ".tif", "--dtype", "f32")
    for n in SPLIT:
        for i in range(int(n)):
            ok("convert", "stacks", f"split{n}", "--ext", ".tif", "--dtype", "f32", "--task", f"{i}/{n}", "--resume")
        assert folder(f"split{n}") == folder("whole")
    j = ok("convert", "stacks", "split3", "--ext", ".tif", "--dtype", "f32", "--resume", "--json").json
    assert j["done_before"] == 5 and not j["images"]
    ok("convolve", "stacks", "stacks/cl-000000.npy", "blurred", "--resume")
    os.remove("blurred/cl-000003.npy")
    j = ok("convolve", "stacks", "stacks/cl-000000.npy", "blurred", "--resume", "--json").json
    assert j["done_before"] == 4 and len(j["images"]) == 1
    refused(1, "convolve", "stacks", "stacks/cl-000001.npy", "blurred", "--resume", says="another file")


main([seeds, splits, names, launchers, errors, killed, together, interrupted_run, volumes])
