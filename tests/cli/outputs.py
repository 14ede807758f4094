# SPDX-License-Identifier: BSD-3-Clause
"""Files as outputs and inputs: no output is lost or half there, no input is overwritten, and nothing that a file or a
name holds reaches the terminal but text."""
import gzip
import json
import os
import shutil
import stat
import subprocess
import tempfile
import npyfile
from harness import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")
RELIEF = os.path.join(SHARE, "etopo20_relief.npy")


def listing():
    return {name: open(name, "rb").read() for name in sorted(os.listdir("."))}


def unchanged(code, *words, says):
    """The command is refused and touches nothing."""
    before = listing()
    refused(code, *words, says=says)
    assert listing() == before, words


def one_name_for_two_outputs():
    shutil.copy(SKY, "sky.fits")
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} {1 / (l + 1) ** 2}\n" for l in range(25)))
    same = "are the same file"
    unchanged(2, "anafast", "sky.fits", "cl.fits", "--alm", "cl.fits", says="--alm and the output are the same file, cl.fits:")
    for extra in [[], ["--overwrite"]]:
        unchanged(2, "anafast", "sky.fits", "a.png", "--plot", "a.png", *extra, says=same)
        unchanged(2, "anafast", "sky.fits", "o.txt", "--plot", "a", "--alm", "./a", *extra, says="by another name")
        unchanged(2, "smooth", "sky.fits", "s.fits", "--fwhm", "5deg", "--plot", "s.fits", *extra, says=same)
        unchanged(2, "smooth", "sky.fits", "s.fits", "--fwhm", "5deg", "--plot", "sky.fits", *extra, says="input")
        unchanged(2, "smooth", "sky.fits", "sky.fits", "--fwhm", "5deg", *extra, says=same)
        unchanged(2, "filter", "sky.fits", "s.fits", "--fwhm", "5deg", "--plot", "s.fits", *extra, says=same)
        unchanged(2, "wavelet", "sky.fits", "s.fits", "--coefficients", "s.fits", *extra, says=same)
        unchanged(2, "wavelet", "sky.fits", "s.fits", "--coefficients", "c", "--plot", "c", *extra, says=same)
        unchanged(2, "synfast", "cl.txt", "s.fits", "--nside", "8", "--alm", "s.fits", *extra, says=same)
        unchanged(2, "synfast", "cl.txt", "cl.txt", "--nside", "8", *extra, says=same)
        unchanged(2, "sources", "sky.fits", "s.csv", "--fwhm", "5deg", "--filtered", "s.csv", *extra, says=same)
        unchanged(2, "plot", "sky.fits", "sky.fits", *extra, says=same)
        unchanged(2, "reorder", "sky.fits", "sky.fits", *extra, says=same)
    unchanged(2, "smooth", "sky.fits", "o.fits", "--beam", "cl.txt", "--plot", "cl.txt", "--overwrite", says="--beam")


def links_are_seen():
    shutil.copy(SKY, "sky.fits")
    os.link("sky.fits", "hard.fits")
    os.symlink("sky.fits", "soft.fits")
    os.symlink("later.fits", "dangling.fits")
    os.mkdir("folder")
    os.symlink("folder", "way")
    for name in ["hard.fits", "soft.fits", "./sky.fits", "way/../sky.fits", os.path.abspath("sky.fits")]:
        refused(2, "reorder", "sky.fits", name, "--overwrite", says="by another name")
    refused(2, "anafast", "sky.fits", "folder/a", "--alm", "way/a", says="by another name")
    refused(2, "anafast", "sky.fits", "later.fits", "--alm", "dangling.fits", says="by another name")
    assert open("sky.fits", "rb").read() == open(SKY, "rb").read()
    ok("udgrade", "sky.fits", "dangling.fits", "--nside", "4")
    assert os.path.islink("dangling.fits") and os.path.getsize("later.fits") > 2880
    os.symlink("nowhere/x.fits", "lost.fits")
    refused(1, "udgrade", "sky.fits", "lost.fits", "--nside", "4", says="does not exist")
    os.symlink("round.fits", "round.fits")
    refused(1, "udgrade", "sky.fits", "round.fits", "--nside", "4", says="oo many levels of symbolic links")


def all_or_none():
    """The last of several outputs fails: the first is not there, and an older one is as it was."""
    os.mkdir("out")
    for extra in [[], ["--overwrite"]]:
        if extra:
            open("out/cl.txt", "w").write("old")
        before = os.listdir("out")
        limit = ["bash", "-c", 'ulimit -f 8; exec "$@"', "-", BINARY, "anafast", SKY, "out/cl.txt", "--alm", "out/alm.fits",
                 "--lmax", "95", *extra]
        done = subprocess.run(limit, capture_output=True, text=True)
        assert done.returncode == 1 and "File too large" in done.stderr, done
        assert os.listdir("out") == before
    assert open("out/cl.txt").read() == "old"
    ok("anafast", SKY, "out/cl.txt", "--alm", "out/alm.fits", "--plot", "out/cl.png", "--lmax", "40", "--overwrite")
    assert sorted(os.listdir("out")) == ["alm.fits", "cl.png", "cl.txt"]


def full_disk():
    """A real file system of every size around the file's."""
    ok("udgrade", SKY, "whole.fits", "--nside", "16")
    size = os.path.getsize("whole.fits")
    script = """mkdir d; for k in $(seq 2 %d); do mount -t tmpfs -o size=$((k * 4096)) tmpfs d || exit 77
      echo old > d/a.fits; "$0" udgrade "$1" d/a.fits --nside 16 -q --overwrite 2>err; code=$?
      echo $k $code $(stat -c %%s d/a.fits) $(ls -A d | wc -l); umount d; done""" % (size // 4096 + 4)
    done = subprocess.run(["unshare", "-m", "bash", "-c", script, BINARY, SKY], capture_output=True, text=True)
    if done.returncode:
        raise Skip("no right to mount a tmpfs")
    codes = []
    for line in done.stdout.splitlines():
        pages, code, found, files = map(int, line.split())
        assert files == 1 and found == (size if code == 0 else 4), line
        codes.append(code)
    assert codes[0] == 1 and codes[-1] == 0 and codes == sorted(codes, reverse=True), codes


def read_only():
    ok("udgrade", SKY, "a.fits", "--nside", "4")
    os.chmod("a.fits", 0o444)
    os.chmod(".", 0o777)
    if os.geteuid():
        refused(1, "udgrade", SKY, "a.fits", "--nside", "4", "--overwrite", says="read-only")
        return
    with tempfile.NamedTemporaryFile(suffix=".fits") as copy:
        shutil.copyfile(SKY, copy.name)
        os.chmod(copy.name, 0o644)
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", BINARY, "udgrade", copy.name, "a.fits",
                               "--nside", "4", "--overwrite"], capture_output=True, text=True)
    if "setpriv" in done.stderr or "denied" in done.stderr:
        raise Skip("cannot run as another user")
    assert done.returncode == 1 and "read-only" in done.stderr, done


def nothing_but_text():
    data = bytearray(open(SKY, "rb").read())
    at = data.index(b"BITPIX  =")
    data[at + 10:at + 30] = b"\x1b]0;owned\x07\x1b[2J\xc2\x9b1m "
    open("evil.fits", "wb").write(data)
    open("evil.npy", "wb").write(b"\x93NUMPY\x01\x00" + b"\x40\x00" + b"{'descr': 'z\n\x1b[2J', 'fortran_order': False, 'shape': (3,), }".ljust(63) + b"\n")
    shutil.copy(SKY, "name\x1b[2J\n.fits")
    shutil.copy(SKY, b"raw\xff\x9b.fits")
    data = bytearray(open(SKY, "rb").read())
    at = data.index(b"TTYPE1  = 'I_ST")
    data[at + 11:at + 15] = b"\x1b[2J"
    open("column.fits", "wb").write(data)
    for words in [["info", "evil.fits"], ["info", "evil.npy"], ["info", "no\x1b[2J\nsuch.fits"], ["info", "name\x1b[2J\n.fits"],
                  ["info", b"raw\xff\x9b.fits"], ["info", "column.fits"], ["plot", "column.fits", "p\x07.png"],
                  ["smooth", "column.fits", "s.fits", "--fwhm", "3deg"], ["\x1b[2J"], ["info", "--\x1b[2J"],
                  ["smooth", SKY, "x.fits", "--fwhm", "\x1b[2J"], ["anafast", SKY, "cl\n\x1b.txt", "--lmax", "9"]]:
        for extra in [[], ["--json"], ["--json", "--overwrite"]]:
            done = subprocess.run([BINARY, *words, *extra], capture_output=True)
            for text in (done.stdout, done.stderr):
                bad = [c for c in text.decode("utf-8") if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160]
                assert not bad, (words, text)
            assert done.stderr.count(b"\n") <= 1, done.stderr
            if extra and done.stdout:
                json.loads(done.stdout)


def fifos_do_not_hang():
    os.mkfifo("pipe")
    for words in [["smooth", SKY, "o.fits", "--beam", "pipe"], ["fft", "pipe", "o.npy"], ["info", "pipe"],
                  ["synfast", "pipe", "o.fits", "--nside", "8"], ["plot", "pipe", "o.png"], ["anafast", SKY, "o.txt", "--mask", "pipe"],
                  ["regrid", "pipe", "o.fits", "--nside", "8"], ["convolve", RELIEF, "pipe", "o.npy"]]:
        refused(1, *words, says="not a regular file")


def gzip_bombs():
    packed = gzip.compress(open(SKY, "rb").read())
    open("fine.fits.gz", "wb").write(packed)
    ok("info", "fine.fits.gz")
    zeros = gzip.compress(bytes(1 << 26))
    open("bomb.fits.gz", "wb").write(packed + zeros * 16)
    r = refused(1, "info", "bomb.fits.gz", says="unpacks to more than")
    open("header.fits.gz", "wb").write(gzip.compress(open(SKY, "rb").read()[:2880].replace(b"END", b"COM")) +
                                       gzip.compress(b" " * (1 << 26)) * 16)
    refused(1, "info", "header.fits.gz", says="header")
    open("small.fits.gz", "wb").write(packed + gzip.compress(b"left behind"))
    ok("info", "small.fits.gz")
    for keep in (10, 100, 3000, len(packed) - 9):
        open("cut.fits.gz", "wb").write(packed[:keep])
        refused(1, "info", "cut.fits.gz")


def said_clearly():
    data = open(SKY, "rb").read()
    ok("map2alm", SKY, "alm.fits", "--lmax", "30")
    alm = open("alm.fits", "rb").read()
    open("cut.fits", "wb").write(alm[:-128])
    r = kugel("info", "cut.fits")
    assert r.code == 0 or "cut short" in r.err, r
    for head, says in [(b"\x89HDF\r\n\x1a\n" + bytes(600), "HDF5 or NetCDF 4; convert"), (b"CDF\x01" + bytes(600), "NetCDF; convert"),
                       (b"GRIB" + bytes(600), "GRIB"), (b"\x93NUMPY" + bytes(600), "NPY")]:
        open("x.fits", "wb").write(head)
        refused(1, "info", "x.fits", says="hdf5" if head[1:4] == b"HDF" else "is not a FITS file")  # HDF5 may be a stack
        refused(1, "smooth", "x.fits", "o.fits", "--fwhm", "3deg", says=says)
    for name, value in [("KUGEL_NUM_THREADS", "many"), ("KUGEL_NUM_THREADS", "0"), ("KUGEL_ISA", "avx3"), ("KUGEL_CACHE_MB", "x")]:
        refused(2, "info", env={name: value}, says=name)
    done = subprocess.run(["bash", "-c", '"$0" --help >/dev/full', BINARY], capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == "kugel: cannot write to the standard output\n", done
    done = subprocess.run(["bash", "-c", 'ulimit -n 4; "$0" udgrade "$1" o.fits --nside 8', BINARY, SKY], capture_output=True, text=True)
    assert done.returncode in (1, 127), done  # 127: not even the loader had enough
    if done.returncode == 1:
        assert "oo many open files" in done.stderr, done
    os.mkdir("gone")
    done = subprocess.run(["bash", "-c", 'cd gone; rmdir ../gone; "$0" udgrade "$1" o.fits --nside 8', BINARY, SKY], capture_output=True, text=True)
    assert done.returncode == 1 and "No such file or directory" in done.stderr, done


def closed_streams():
    """No file gets the number of a standard stream that the caller closed: messages would go into it, or it would be the input."""
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} {1 / (l + 1) ** 2}\n" for l in range(25)))
    jobs = (["synfast", "cl.txt", "o.fits", "--nside", "8"], ["convolve", RELIEF, "k.npy", "o.npy", "--resume", "--mem", "60M", "--plan", "tiles"],
            ["plot", SKY, "o.png"])
    npyfile.write("k.npy", (3, 3), [1, 2, 1, 2, 4, 2, 1, 2, 1], "<f4")
    for words in jobs:
        def run(closed):
            before = listing()
            done = subprocess.run(["bash", "-c", f'exec "$@" {closed}', "-", BINARY, *words, "--progress", "json"], capture_output=True, text=True)
            after = listing()
            for name in set(after) - set(before):
                os.remove(name)
            return done.returncode, done.stderr.count("standard output"), {name: after[name] for name in set(after) - set(before)}
        code, _, want = run("")
        assert code == 0 and len(want) == 1, (words, code, sorted(want))
        for closed in "<&-", "2>&-", "<&- 2>&-", ">&-", "<&- >&-", "<&- >&- 2>&-":
            got = run(closed)
            lost = " >&-" in " " + closed  # what is said of the result, and with the third stream that it is
            assert got == (int(lost), int(lost and " 2>&-" not in closed), want), (words, closed, got[:2], sorted(got[2]))
    for closed, words, says in ("<&-", ["smooth", "-", "o.fits", "--fwhm", "5deg"], "cannot read the standard input: Bad file descriptor"), \
                               (">&-", ["plot", SKY, "-"], "cannot write to the standard output: Bad file descriptor"):
        done = subprocess.run(["bash", "-c", f'exec "$@" {closed}', "-", BINARY, *words], capture_output=True, text=True)
        assert done.returncode == 1 and says in done.stderr and not os.path.exists("o.fits"), done


def refused_before_a_plan():
    """An output that exists is refused before the input is read and a plan described; a dry run tells the plan."""
    npyfile.write("x.npy", (6, 8, 8), [1.0] * 384)
    npyfile.write("h.npy", (3, 3, 3), [1.0] * 27)
    open("there.npy", "w").close()
    for command in "deconvolve", "convolve":
        r = refused(1, command, "x.npy", "h.npy", "there.npy", says="there.npy exists; --overwrite replaces it")
        assert r.out == f"kugel {command}: x.npy -> there.npy\n", r
        assert "dry run" in ok(command, "x.npy", "h.npy", "there.npy", "--dry-run").out
    assert os.path.getsize("there.npy") == 0


def maps_of_other_kinds():
    """Multi-order and healsparse maps are named as what they are, and the remedy is told."""
    def card(key, value):
        return f"{key:8s}= {value:>20s}".ljust(80)

    def header(*pairs):
        return "".join([card(*p) for p in pairs] + ["END".ljust(80)])

    def padded(text, fill=" "):
        return (text + fill * (-len(text) % 2880)).encode("latin1")

    primary = padded(header(("SIMPLE", "T"), ("BITPIX", "8"), ("NAXIS", "0")))
    table = padded(header(("XTENSION", "'BINTABLE'"), ("BITPIX", "8"), ("NAXIS", "2"), ("NAXIS1", "16"), ("NAXIS2", "3072"), ("PCOUNT", "0"),
                          ("GCOUNT", "1"), ("TFIELDS", "2"), ("TFORM1", "'K'"), ("TTYPE1", "'UNIQ'"), ("TFORM2", "'D'"),
                          ("TTYPE2", "'PROBDENSITY'"), ("PIXTYPE", "'HEALPIX'"), ("ORDERING", "'NUNIQ'"), ("MOCORDER", "11")))
    open("orders.fits", "wb").write(primary + table + b"\0" * (16 * 3072 + -16 * 3072 % 2880))
    table = padded(header(("XTENSION", "'BINTABLE'"), ("BITPIX", "8"), ("NAXIS", "2"), ("NAXIS1", "8"), ("NAXIS2", "360"), ("PCOUNT", "0"),
                          ("GCOUNT", "1"), ("TFIELDS", "1"), ("TFORM1", "'K'"), ("TTYPE1", "'UNIQ'"), ("PIXTYPE", "'HEALPIX'"), ("ORDERING", "'NUNIQ'")))
    open("moc.fits", "wb").write(primary + table + b"\0" * 2880)
    image = padded(header(("XTENSION", "'IMAGE'"), ("BITPIX", "64"), ("NAXIS", "1"), ("NAXIS1", "12288"), ("PCOUNT", "0"), ("GCOUNT", "1"),
                          ("EXTNAME", "'COV'"), ("PIXTYPE", "'HEALSPARSE'"), ("NSIDE", "32")))
    open("sparse.fits", "wb").write(primary + image + b"\0" * (8 * 12288 + -8 * 12288 % 2880))
    for name, says in [("orders.fits", "multi-order HEALPix map"), ("moc.fits", "read_moc"), ("sparse.fits", "healsparse map")]:
        r = ok("info", name)
        assert says in r.out and "spectra" not in r.out, r
        refused(1, "smooth", name, "o.fits", "--fwhm", "3deg", says=says)


def locales():
    """Commas as decimal points, an i without its dot: the same files, words and numbers."""
    if not shutil.which("localedef"):
        raise Skip("localedef is not there")
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} {1.5 / (l + 1) ** 2}\n" for l in range(25)))
    runs = [["info", SKY, "--json"], ["synfast", "cl.txt", "sky.fits", "--nside", "8", "--fwhm", "1.5deg"],
            ["anafast", "sky.fits", "cl.csv"], ["anafast", "sky.fits", "cl.fits"], ["map2alm", "sky.fits", "alm.fits.gz"],
            ["plot", "sky.fits", "sky.png", "--projection", "cartesian", "--min", "-0.5", "--scale", "LINEAR".lower()],
            ["smooth", SKY, "s.fits", "--fwhm", "2.5deg", "--columns", "i_stokes"]]
    results = {}
    for name in [None, "tr_TR", "de_DE"]:
        folder = name or "C"
        os.mkdir(folder)
        shutil.copy("cl.txt", folder)
        env = {"LC_ALL": "C"}
        if name:
            made = subprocess.run(["localedef", "-i", name, "-f", "UTF-8", os.path.abspath(f"{name}.UTF-8")], capture_output=True)
            if not os.path.exists(f"{name}.UTF-8/LC_NUMERIC"):
                raise Skip(f"localedef cannot make {name}")
            env = {"LOCPATH": os.getcwd(), "LC_ALL": f"{name}.UTF-8", "LANG": f"{name}.UTF-8"}
        for words in runs:
            r = ok(*words, cwd=folder, env=env)
            if words[0] == "info":
                results[folder, "info"] = r.out
        for made in sorted(os.listdir(folder)):
            results[folder, made] = open(os.path.join(folder, made), "rb").read()
    for (folder, made), value in results.items():
        assert value == results["C", made], (folder, made)


main([one_name_for_two_outputs, links_are_seen, all_or_none, full_disk, read_only, nothing_but_text, fifos_do_not_hang,
      gzip_bombs, said_clearly, closed_streams, refused_before_a_plan, maps_of_other_kinds, locales])
