# SPDX-License-Identifier: BSD-3-Clause
"""Folders and patterns of stacks, several channels and times, limits of memory, and runs that are killed and continued."""
import os
import random
import signal
import struct
import subprocess
import time
from harness import *


def npy(name, shape, values, kind="f4"):
    code = {"f4": "f", "u2": "H"}[kind]
    header = repr({"descr": f"<{kind}", "fortran_order": False, "shape": tuple(shape)}).encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}{code}", *values))


def read(name):
    with open(name, "rb") as f:
        return f.read()


def numbers(name, count):
    """The last float32 of an NPY file."""
    return struct.unpack(f"<{count}f", read(name)[-4 * count:])


def random_stack(name, shape, seed=1, kind="f4"):
    rng, count = random.Random(seed), 1
    for n in shape:
        count *= n
    npy(name, shape, [rng.randrange(1000) for _ in range(count)], kind)


def limits():
    """Tiles from and to files give what the whole gives."""
    random_stack("a.npy", (40, 50, 60))
    random_stack("k.npy", (7, 9, 5), 2)
    for boundary in "zero", "reflect", "periodic", "unknown":
        for mode in "same", "full", "valid":
            words = "a.npy", "k.npy", "whole.npy", "--boundary", boundary, "--mode", mode, "--normalise", "--overwrite"
            whole = ok("convolve", *words, "--plan", "resident", "--json").json["images"][0]
            tiled = ok("convolve", *words[:2], "tiles.npy", *words[3:], "--mem", "18M", "--plan", "tiles", "--json").json["images"][0]
            assert whole["tiles"] == 1 and tiled["tiles"] > 1 and tiled["plan"] == "tiles", tiled
            count = {"same": 40 * 50 * 60, "full": 46 * 58 * 64, "valid": 34 * 42 * 56}[mode]
            a, b = numbers("whole.npy", count), numbers("tiles.npy", count)
            # Beyond the edges a result is divided by the part of the kernel that met data, a corner's 1e-3, and so is its rounding.
            bound = 2e-5 if (boundary, mode) == ("unknown", "full") else 2e-6
            assert max(abs(x - y) for x, y in zip(a, b)) < bound * max(map(abs, a)), (boundary, mode)
    refused(1, "convolve", "a.npy", "k.npy", "x.npy", "--mem", "16100K", says="--mem")
    assert not os.path.exists("x.npy")


def folders():
    os.mkdir("in")
    for i in range(3):
        random_stack(f"in/{i}.npy", (6, 8, 10), i)
    with open("in/notes.txt", "w") as f:
        f.write("not a stack")
    random_stack("k.npy", (3, 3, 3), 7)
    ok("convolve", "in", "k.npy", "out/")
    assert sorted(os.listdir("out")) == ["0.npy", "1.npy", "2.npy"]
    for i in range(3):
        ok("convolve", f"in/{i}.npy", "k.npy", "one.npy", "--overwrite")
        assert read("one.npy") == read(f"out/{i}.npy")
    ok("convolve", "in/[01].npy", "k.npy", "few", "--ext", ".ome.tif")
    assert sorted(os.listdir("few")) == ["0.ome.tif", "1.ome.tif"]
    ok("convert", "in", "tifs", "--ext", ".tif", "--dtype", "u16")
    ok("mip", "tifs/*.tif", "pictures")
    assert sorted(os.listdir("tifs")) == ["0.tif", "1.tif", "2.tif"] and sorted(os.listdir("pictures")) == ["0.png", "1.png", "2.png"]
    ok("deconvolve", "in", "k.npy", "sharp", "--iter", "2")
    assert len(os.listdir("sharp")) == 3
    refused(1, "convolve", "in", "k.npy", "one.npy", says="not a folder")
    refused(1, "convolve", "in/9*.npy", "k.npy", "no", says="no file matches")
    refused(2, "convolve", "in", "k.npy", "in", says="is an input")
    os.mkdir("empty")
    refused(1, "convolve", "empty", "k.npy", "no", says="no stacks")


def errors():
    """The error of one does not stop the rest."""
    os.mkdir("in")
    for i in range(3):
        random_stack(f"in/{i}.npy", (6, 8, 10), i)
    whole = read("in/1.npy")
    with open("in/1.npy", "wb") as f:
        f.write(whole[:-50])
    random_stack("k.npy", (3, 3, 3), 7)
    for words in (["convolve", "in", "k.npy", "out"], ["deconvolve", "in", "k.npy", "out", "--iter", "1"],
                  ["convert", "in", "out"], ["mip", "in", "out"]):
        r = kugel(*words)
        assert r.code == 1 and "in/1.npy" in r.err and "1 of 3 images failed" in r.err, r
        assert len(os.listdir("out")) == 3, os.listdir("out")  # and the manifest
        r = kugel(*words, "--json", "--overwrite")
        j = r.json
        assert r.code == 1 and j["status"] == "failed" and j["failed"] == 1 and len(j["images"]) == 3, j
        assert "error" in j["images"][1] and "error" not in j["images"][0] and "error" not in j["images"][2]
        for name in os.listdir("out"):
            os.remove(f"out/{name}")


def channels():
    """A kernel a channel, and time series: each volume as by itself."""
    times, count = 2, 6 * 8 * 10
    random_stack("a.npy", (times, 2, 6, 8, 10))
    ok("convert", "a.npy", "a.ome.tif")
    for i in range(2):
        random_stack(f"k{i}.npy", (3, 3, 3), 7 + i)
    ok("convolve", "a.ome.tif", "k0.npy,k1.npy", "both.npy")
    random_stack("kk.npy", (2, 3, 3, 3), 3)
    both = numbers("both.npy", times * 2 * count)
    for c in range(2):
        ok("convolve", "a.ome.tif", f"k{c}.npy", "one.npy", "--channel", c, "--overwrite")
        one = numbers("one.npy", times * count)
        for t in range(times):
            assert one[t * count:(t + 1) * count] == both[(2 * t + c) * count:(2 * t + c + 1) * count]
    ok("convolve", "a.ome.tif", "k0.npy,k1.npy", "limited.npy", "--mem", "18M")
    assert max(abs(x - y) for x, y in zip(both, numbers("limited.npy", len(both)))) < 2e-6 * max(both)
    ok("deconvolve", "a.ome.tif", "k0.npy,k1.npy", "sharp.npy", "--iter", "2")
    ok("deconvolve", "a.ome.tif", "k1.npy", "sharp1.npy", "--iter", "2", "--channel", "1")
    assert numbers("sharp.npy", count) == numbers("sharp1.npy", count)
    refused(1, "convolve", "a.ome.tif", "k0.npy,k1.npy,k0.npy", "x.npy", says="2 channels")


def finished_tiles(partial):
    """What the first lines of a partial result say."""
    try:
        return int(read(partial)[24:64].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def killed():
    """SIGKILL at any moment, then --resume: the bytes of a run that nobody stopped."""
    random_stack("a.npy", (64, 96, 96), kind="u2")
    random_stack("k.npy", (7, 9, 9), 2)
    words = ["convolve", "a.npy", "k.npy", "out.npy", "--normalise", "--mem", "17700K", "--plan", "tiles", "--threads", "1", "--precision", "f64"]
    j = ok(*[w.replace("out.npy", "whole.npy") for w in words], "--json").json["images"][0]
    assert j["tiles"] > 8, j
    rng, resumed, runs = random.Random(5), 0, 0
    for run in range(6):
        for tries in range(8):
            p = subprocess.Popen([BINARY, *words, "--resume", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            # whatever the machine's speed: some tiles on, and a moment later
            least, later = finished_tiles(".out.npy.kugel-partial") + rng.randrange(j["tiles"] // 2), rng.uniform(0, 0.02)
            while tries < 7 and p.poll() is None and finished_tiles(".out.npy.kugel-partial") < least:
                time.sleep(0.002)
            if tries < 7:
                time.sleep(later)
                p.send_signal(signal.SIGKILL)
            out, err = p.communicate()
            if p.returncode != -signal.SIGKILL:
                break
            runs += 1
        assert p.returncode == 0, err
        at = json.loads(out)["images"][0].get("resumed")
        resumed += bool(at and (at["tiles"] or at["volumes"]))
        assert read("out.npy") == read("whole.npy")
        os.remove("out.npy")
        assert not [n for n in os.listdir(".") if n.endswith(".kugel-partial")], os.listdir(".")
    assert runs and resumed, (runs, resumed)


def stopped():
    """Ctrl-C keeps what is finished; other options are refused."""
    random_stack("a.npy", (48, 64, 64), kind="u2")
    random_stack("k.npy", (7, 9, 9), 2)
    words = ["convolve", "a.npy", "k.npy", "out.npy", "--mem", "17700K", "--plan", "tiles", "--threads", "1", "--precision", "f64"]
    ok(*[w.replace("out.npy", "whole.npy") for w in words])
    partial = ".out.npy.kugel-partial"
    for tries in range(20):
        p = subprocess.Popen([BINARY, *words, "--resume"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while p.poll() is None and not finished_tiles(partial):
            time.sleep(0.002)
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=60)
        if p.returncode:
            break
        os.remove("out.npy")
    assert p.returncode == 130 and "--resume" in err and not os.path.exists("out.npy"), (p.returncode, err)
    refused(1, *words, "--resume", "--normalise", says="options")
    random_stack("k2.npy", (7, 9, 9), 3)
    refused(1, *[w.replace("k.npy", "k2.npy") for w in words], "--resume", says="kernel")
    with open(partial, "r+b") as f:
        head = f.read(64)
        f.seek(0)
        f.write(b"x")
    refused(1, *words, "--resume", says="damaged")
    with open(partial, "r+b") as f:
        f.write(head[:1])
    r = ok(*words, "--resume")
    assert "resumed" in r.out and read("out.npy") == read("whole.npy"), r
    assert "earlier run" in ok(*words, "--resume").out  # is there


main([limits, folders, errors, channels, killed, stopped])
