# SPDX-License-Identifier: BSD-3-Clause
"""- as a file: what goes through pipes is what goes through files, kinds are told apart, nothing is left behind."""
import os
import pty
import signal
import subprocess
import time
from harness import *
import npyfile

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")
BW = ["--na", "1.3", "--wavelength", "520", "--voxel", "0.2,0.1,0.1", "--shape", "5,17,17"]


def piped(*words, data=b"", code=0, env=None):
    """Runs the command with bytes on its standard input; (standard output, standard error). No folder is left."""
    os.makedirs("tmp", exist_ok=True)
    done = subprocess.run([BINARY, *map(str, words)], input=data, capture_output=True, timeout=300,
                          env={**os.environ, "TMPDIR": os.path.abspath("tmp"), **(env or {})})
    assert done.returncode == code, done
    assert os.listdir("tmp") == [], os.listdir("tmp")
    return done.stdout, done.stderr.decode()


def says(text, *words, data=b"", code=1, **keys):
    out, err = piped(*words, data=data, code=code, **keys)
    assert text in err and err.count("\n") == 1 and "/stdin" not in err, err
    assert out == b"", out[:200]


def data_of(fits):
    """All but the header, in which the command is part of the history."""
    at = fits.index(b"XTENSION")
    while b"END" + b" " * 77 not in [fits[at + i:at + i + 80] for i in range(0, 2880, 80)]:
        at += 2880
    return fits[at + 2880:]


def maps():
    sky = open(SKY, "rb").read()
    ok("smooth", SKY, "s.fits", "--fwhm", "5deg")
    want = data_of(open("s.fits", "rb").read())
    for words in [("-", "-"), ("fits:-", "fits:-")]:
        out, err = piped("smooth", *words, "--fwhm", "5deg", data=sky)
        assert out.startswith(b"SIMPLE") and data_of(out) == want
        assert err.startswith("kugel smooth: the standard input -> the standard output\n"), err
    out, err = piped("smooth", SKY, "-", "--fwhm", "5deg", "--quiet")
    assert data_of(out) == want and err == ""
    r = subprocess.run([BINARY, "smooth", "-", "o.fits", "--fwhm", "5deg", "--json"], input=sky, capture_output=True)
    assert json.loads(r.stdout)["input"] == "-" and data_of(open("o.fits", "rb").read()) == want
    assert b"HISTORY kugel smooth - o.fits" in open("o.fits", "rb").read()


def chains():
    """synfast | map2alm | anafast | text: the same as by files."""
    open("cl.txt", "w").write("".join(f"{l} {1 / (l + 1) ** 2}\n" for l in range(25)))
    ok("synfast", "cl.txt", "m.fits", "--nside", "16", "--seed", "3", "--lmax", "24")
    ok("anafast", "m.fits", "c.txt", "--lmax", "24")
    line = (f"'{BINARY}' synfast - - --nside 16 --seed 3 --lmax 24 -q < cl.txt | '{BINARY}' reorder - - -q | "
            f"'{BINARY}' reorder - fits.gz:- -q | '{BINARY}' anafast - txt:- --lmax 24 -q")
    out = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, check=True)
    rows = [[float(x) for x in line.split()] for line in out.stdout.decode().splitlines() if not line.startswith("#")]
    want = [[float(x) for x in line.split()] for line in open("c.txt") if not line.startswith("#")]
    assert len(rows) == 25 and rows == want and out.stderr == b"", out.stderr


def kinds():
    """Each kind of file in and out; a side output; text with commas and without."""
    npyfile.write("a.npy", (60,), [float(i % 7) for i in range(60)])
    array = open("a.npy", "rb").read()
    ok("fft", "a.npy", "f.npy")
    assert piped("fft", "-", "-", data=array)[0] == open("f.npy", "rb").read()
    ok("plot", SKY, "p.png")
    assert piped("plot", "-", "-", data=open(SKY, "rb").read())[0] == open("p.png", "rb").read()
    ok("psf", "bw", "psf.tif", *BW)
    assert piped("psf", "bw", "-", *BW)[0] == open("psf.tif", "rb").read()
    ok("convert", "psf.tif", "psf.nrrd")
    assert piped("convert", "-", "nrrd:-", data=open("psf.tif", "rb").read())[0] == open("psf.nrrd", "rb").read()
    ok("convert", "psf.nrrd", "psf.npy")
    assert piped("convert", "-", "npy:-", data=open("psf.nrrd", "rb").read())[0] == open("psf.npy", "rb").read()
    assert piped("view", "-", "-", data=open("psf.tif", "rb").read())[0].startswith(b"<!")
    ok("smooth", SKY, "s.fits", "--fwhm", "5deg", "--plot", "s.png")
    assert piped("smooth", SKY, "s2.fits", "--fwhm", "5deg", "--plot", "-")[0] == open("s.png", "rb").read()
    ok("at", SKY, write_table("t.csv", ","), "v.csv")
    for separator, kind in [(",", "csv"), ("\t", "tsv"), (" ", "txt")]:
        write_table("t." + kind, separator)
        assert piped("at", SKY, "-", "-", data=open("t." + kind, "rb").read())[0] == open("v.csv", "rb").read(), kind
    ok("mask", SKY, "m.fits", "--apodise", "5deg")
    out = piped("spectra", SKY, "-", "--mask", "-", "--width", "16", data=open("m.fits", "rb").read())[0]
    ok("spectra", SKY, "b.csv", "--mask", "m.fits", "--width", "16")
    assert out == open("b.csv", "rb").read() and out.startswith(b"band,")
    out, err = piped("info", "-", data=open(SKY, "rb").read())
    assert out.startswith(b"the standard input: ") and b"nside 32" in out and err == "", out


def write_table(name, separator):
    with open(name, "w") as f:
        f.write(separator.join(["lon", "lat"]) + "\n" + "".join(f"{10 * i}{separator}{5 * i}\n" for i in range(5)))
    return name


def refusals():
    sky = open(SKY, "rb").read()
    says("the standard input is empty", "smooth", "-", "o.fits", "--fwhm", "5deg")
    says("two inputs are -", "anafast", "-", "o.fits", "--mask", "-", data=sky, code=2)
    says("two outputs are -", "smooth", SKY, "-", "--fwhm", "5deg", "--plot", "-", code=2)
    says("names no kind of file", "smooth", SKY, "zarr:-", "--fwhm", "5deg", code=2)
    says("\"zarr:-\"", "convert", "zarr:-", "o.tif", code=2)
    says("the standard output is not a folder", "smooth", SKY, SKY, "-", "--fwhm", "5deg", "--each", code=1)
    says("the standard input", "smooth", "-", "o.fits", "--fwhm", "5deg", data=sky[:5000])
    says("the standard input", "smooth", "-", "o.fits", "--fwhm", "5deg", data=b"\0" * 5000)
    says("cannot make a folder", "smooth", "-", "o.fits", "--fwhm", "5deg", data=sky, env={"TMPDIR": "/nonexistent"})
    out, err = piped("smooth", SKY, "-", "--fwhm", "5deg", "--json", code=2)
    assert "--json prints on the standard output" in err and json.loads(out)["status"] == "failed"
    out, err = piped("smooth", SKY, "-", "--fwhm", "5deg", "--dry-run")
    assert out == b"" and "dry run" in err
    main, worker = pty.openpty()
    for words, text in [(["-", "o.fits"], "input is a terminal"), ([SKY, "-"], "output is a terminal")]:
        r = subprocess.run([BINARY, "smooth", *words, "--fwhm", "5deg"], stdin=worker, stdout=worker, stderr=subprocess.PIPE,
                           text=True)
        assert r.returncode == 2 and text in r.stderr, r
    os.close(main)
    os.close(worker)
    open("x:-", "w").close()
    says("is empty", "smooth", "./x:-", "o.fits", "--fwhm", "5deg")


def ends():
    """The reader goes away, the disk fills, a signal comes while the input is awaited: an error, and nothing is left."""
    os.makedirs("tmp", exist_ok=True)
    env = {**os.environ, "TMPDIR": os.path.abspath("tmp")}
    p = subprocess.Popen([BINARY, "udgrade", SKY, "-", "--nside", "256", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    p.stdout.close()
    assert b"cannot write to the standard output: Broken pipe" in p.stderr.read() and p.wait() == 1
    assert os.listdir("tmp") == []
    with open("/dev/full", "wb") as full:
        r = subprocess.run([BINARY, "plot", SKY, "-", "-q"], stdout=full, stderr=subprocess.PIPE, env=env)
    assert r.returncode == 1 and b"No space left" in r.stderr and os.listdir("tmp") == [], r
    r = subprocess.run(["bash", "-c", 'ulimit -f 8; exec "$@"', "-", BINARY, "smooth", "-", "o.fits", "--fwhm", "5deg"],
                       input=open(SKY, "rb").read(), stderr=subprocess.PIPE, env=env)
    assert r.returncode == 1 and b"cannot copy the standard input" in r.stderr and os.listdir("tmp") == [], r
    head = open(SKY, "rb").read(4096)
    for delay in range(60):  # microseconds: a signal just before the command waits for input is no exception
        p = subprocess.Popen([BINARY, "smooth", "-", "o.fits", "--fwhm", "5deg"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        p.stdin.write(head)
        p.stdin.flush()
        while not os.listdir("tmp"):  # it has begun to read
            assert p.poll() is None, p.stderr.read()
        begin = time.perf_counter()
        while time.perf_counter() - begin < delay * 1e-6:
            pass
        p.send_signal(signal.SIGTERM)
        assert p.wait(timeout=60) == 143 and b"nothing written" in p.stderr.read() and os.listdir("tmp") == []
        p.stdin.close()


if __name__ == "__main__":
    main([maps, chains, kinds, refusals, ends])
