# SPDX-License-Identifier: BSD-3-Clause
"""kugel convolve by way of a file: kernels as large as the image within less memory than the padded volume takes."""
import os
import random
import signal
import subprocess
import time
import npyfile
from harness import *

SHAPE = (40, 60, 60)
COUNT = 40 * 60 * 60


def volumes():
    rng = random.Random(3)
    npyfile.write("a.npy", SHAPE, [rng.randrange(1000) for _ in range(COUNT)], "<f4")
    npyfile.write("k.npy", SHAPE, [rng.random() for _ in range(COUNT)], "<f4")


def read(name):
    with open(name, "rb") as f:
        return f.read()


def chosen():
    """Chosen where neither the whole nor tiles fit; the bits of the whole, and no file left."""
    volumes()
    for words in [], ["--boundary", "reflect", "--mode", "full"], ["--boundary", "unknown", "--normalise"], ["--correlate"]:
        whole = ok("convolve", "a.npy", "k.npy", "whole.npy", "--overwrite", "--json", *words).json["images"][0]
        small = ok("convolve", "a.npy", "k.npy", "small.npy", "--overwrite", "--json", "--mem", "20M", *words).json["images"][0]
        assert whole["plan"] == "resident" and small["plan"] == "pencil", (whole, small)
        assert small["tiles"] > 1 and small["scratch_bytes"] > 1e6
        a, b = npyfile.read("whole.npy"), npyfile.read("small.npy")
        assert a[0] == b[0] and max(abs(x - y) for x, y in zip(a[1], b[1])) <= 3e-6 * max(map(abs, a[1])), words
    assert sorted(os.listdir(".")) == ["a.npy", "k.npy", "small.npy", "whole.npy"]


def forced():
    volumes()
    ok("convolve", "a.npy", "k.npy", "whole.npy")
    os.mkdir("scratch")
    r = ok("convolve", "a.npy", "k.npy", "pencil.npy", "--plan", "pencil", "--scratch", "scratch")
    assert "MB of scratch" in r.out and read("pencil.npy") == read("whole.npy") and not os.listdir("scratch")
    dry = ok("convolve", "a.npy", "k.npy", "x.npy", "--plan", "pencil", "--dry-run", "--json").json["images"][0]
    assert dry["plan"] == "pencil" and dry["expected_seconds"] > 0 and dry["scratch_bytes"] > 1e6
    refused(1, "convolve", "a.npy", "k.npy", "x.npy", "--plan", "pencil", "--scratch", "missing", says="'missing': No such file")
    refused(1, "convolve", "a.npy", "k.npy", "x.npy", "--plan", "pencil", "--mem", "17M", says="--mem")
    refused(2, "convolve", "a.npy", "k.npy", "x.npy", "--plan", "pencils", says="dif:Q, pencil or global")
    assert not os.path.exists("x.npy")


def kernel_in_its_file():
    """A kernel that would fill the memory allowed is read by planes: the bits of one in memory, and the peak holds."""
    rng, shape = random.Random(5), (96, 112, 112)
    count = shape[0] * shape[1] * shape[2]
    for name, number in ("a.npy", 1009), ("k.npy", 1013), ("l.npy", 1019):
        npyfile.write(name, shape, ([rng.random() for _ in range(number)] * (count // number + 1))[:count], "<f4")
    ok("convert", "k.npy", "k.tif")
    limit = 25e6  # 9.6 MB of kernel do not fit beside 16 MB of program
    for kernel, words in (("k.npy", []), ("k.tif", ["--normalise", "--correlate", "--boundary", "reflect", "--resume"]),
                          ("k.npy,l.npy", ["--depths", "10,40", "--normalise"])):
        ok("convolve", "a.npy", kernel, "whole.npy", "--overwrite", *words)
        r = ok("convolve", "a.npy", kernel, "small.npy", "--overwrite", "--json", "--mem", str(int(limit)), "--threads", "2", *words).json
        assert r["images"][0]["plan"] == "pencil" and read("small.npy") == read("whole.npy"), words
        if not sanitized():
            assert r["memory"]["peak_bytes"] <= limit, (words, r["memory"])
    ok("convolve", "a.npy", "k.npy", "resident.npy", "--mem", "90M", "--plan", "resident")
    ok("convolve", "a.npy", "k.npy", "whole.npy", "--overwrite")
    assert read("resident.npy") == read("whole.npy")
    with open("k.npy", "r+b") as f:
        f.seek(-4, 2)
        f.write(b"\0\0\xc0\x7f")  # NaN
    refused(1, "convolve", "a.npy", "k.npy", "x.npy", "--mem", "25M", says="k.npy is not finite at voxel 95, 111, 111")
    with open("k.npy", "r+b") as f:
        f.truncate(1 << 20)
    refused(1, "convolve", "a.npy", "k.npy", "x.npy", "--mem", "25M", says="k.npy")


def peaks_of_files():
    """The peak holds for 64 threads, however files are packed and whatever malloc has: readers and writers have a part of the memory, and in
    what is left of it slabs are cut, the same for 1 thread. Where a piece of the output and what packs it take more, --mem says so."""
    rng, shape = random.Random(7), (96, 112, 112)
    count = shape[0] * shape[1] * shape[2]
    for name, number in ("a.npy", 1009), ("k.npy", 1013):
        npyfile.write(name, shape, ([rng.random() for _ in range(number)] * (count // number + 1))[:count], "<f4")
    for kind in "none", "deflate", "zstd":
        ok("convert", "k.npy", f"{kind}.tif", "--compress", kind)
        ok("convert", "a.npy", f"a-{kind}.tif", "--compress", kind)
    ok("convert", "a.npy", "a.zarr")
    dirty = {"MALLOC_PERTURB_": "165"}  # what is allocated is touched
    for image, kernel, out, mem in (("a.npy", "none.tif", "x.npy", 25), ("a-zstd.tif", "zstd.tif", "x.tif", 31),
                                    ("a-deflate.tif", "deflate.tif", "deflate/x.tif", 25), ("a-none.tif", "k.npy", "zstd/x.tif", 44),
                                    ("a.npy", "none.tif", "x.zarr", 34), ("a.zarr", "k.npy", "deflate/x.nrrd", 28)):
        how = ["--compress", os.path.dirname(out)] if "/" in out else []
        words = ["convolve", image, kernel, os.path.basename(out), "--normalise", "--boundary", "reflect", "--overwrite", "--json",
                 "--mem", f"{mem}M", *how, "--threads"]
        many, one = ok(*words, "64", env=dirty).json, ok(*words, "1", "--dry-run").json
        assert many["images"][0]["plan"] == "pencil" and many["images"][0]["tile"] == one["images"][0]["tile"], (image, many, one)
        if not sanitized():
            assert many["memory"]["peak_bytes"] <= mem * 1e6, (image, kernel, out, mem, many["memory"])
    refused(1, "convolve", "a.npy", "k.npy", "x.zarr", "--mem", "20M", "--overwrite", says="pieces of files and the program: give")


def whatever_threads():
    """The engine is chosen by seconds on a usual machine: the bits of one thread with any number of them. In 22 MB tiles are predicted to be
    slower than pencils on 1 thread, and faster on 3."""
    rng, shape = random.Random(6), (96, 112, 112)
    count = shape[0] * shape[1] * shape[2]
    npyfile.write("a.npy", shape, ([rng.random() for _ in range(1009)] * (count // 1009 + 1))[:count], "<f4")
    npyfile.write("k.npy", (32, 32, 32), [rng.random() for _ in range(32**3)], "<f4")
    runs = []
    for threads in "1", "3", "64":
        j = ok("convolve", "a.npy", "k.npy", "out.npy", "--mem", "22M", "--threads", threads, "--overwrite", "--json").json["images"][0]
        runs.append((j["plan"], j["tile"], read("out.npy")))
    assert runs[0] == runs[1] == runs[2], [r[:2] for r in runs]


def finished(partial):
    try:
        return int(read(partial)[24:64].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def continued():
    """Ctrl-C among the results, then --resume: the bytes of a run that nobody stopped, written from where it was, by any number of
    threads: the slabs that fit the limit do not depend on it."""
    rng, count = random.Random(4), 150 * 96 * 96
    npyfile.write("a.npy", (150, 96, 96), [rng.random() for _ in range(1009)] * (count // 1009) + [0] * (count % 1009), "<f4")
    npyfile.write("k.npy", (7, 9, 9), [rng.random() for _ in range(567)], "<f4")
    words = ["convolve", "a.npy", "k.npy", "out.npy", "--mem", "17700K", "--plan", "pencil", "--precision", "f64", "--threads"]
    slabs = [ok(*words, threads, "--dry-run", "--json").json["images"][0]["tiles"] for threads in ("1", "16")]
    assert 8 < slabs[0] == slabs[1], slabs
    ok("convolve", "a.npy", "k.npy", "whole.npy", "--precision", "f64")
    for threads in "1", "16":
        for tries in range(20):
            p = subprocess.Popen([BINARY, *words, threads, "--resume"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while p.poll() is None and not finished(".out.npy.kugel-partial"):
                time.sleep(0.001)
            p.send_signal(signal.SIGINT)
            p.communicate(timeout=60)
            if p.returncode:
                break
            os.remove("out.npy")
        assert p.returncode == 130 and not os.path.exists("out.npy")
        r = ok(*words, "1", "--resume", "--json").json["images"][0]
        assert r["resumed"]["tiles"] or r["resumed"]["volumes"], r  # the latter if all were there when the signal came
        assert read("out.npy") == read("whole.npy"), threads
        assert sorted(os.listdir(".")) == ["a.npy", "k.npy", "out.npy", "whole.npy"]
        os.remove("out.npy")


def on_a_device():
    """The same on an OpenCL device where there is one, within a limit of its memory."""
    devices = ok("info", "--json").json["devices"]
    if not any(d["name"] == "opencl:0" and d["available"] for d in devices):
        assert "opencl" not in os.environ.get("KUGEL_TEST_NEED", "").split(","), \
            "KUGEL_TEST_NEED names opencl, but opencl:0 is not usable here"
        raise Skip("no OpenCL device")
    volumes()
    ok("convolve", "a.npy", "k.npy", "whole.npy")
    words = ["convolve", "a.npy", "k.npy", "pencil.npy", "--device", "opencl:0", "--mem", "6M", "--plan", "pencil"]
    dry = ok(*words, "--dry-run", "--json").json["images"][0]
    r = ok(*words, "--json").json["images"][0]
    assert r["plan"] == dry["plan"] == "pencil" and r["tiles"] > 4 and r["scratch_bytes"] == 0 and dry["expected_seconds"] > 0
    a, b = npyfile.read("whole.npy"), npyfile.read("pencil.npy")
    assert a[0] == b[0] and max(abs(x - y) for x, y in zip(a[1], b[1])) <= 3e-6 * max(map(abs, a[1]))
    assert "of host memory" in ok(*words, "--dry-run").out
    small = ok(*words[:-3], "1M", "--plan", "pencil", "--overwrite", "--json").json["images"][0]
    assert small["tiles"] > r["tiles"]


main([chosen, forced, kernel_in_its_file, peaks_of_files, whatever_threads, continued, on_a_device])
