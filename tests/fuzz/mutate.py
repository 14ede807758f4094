# SPDX-License-Identifier: BSD-3-Clause
"""Damaged files and the command: cards, bytes and lengths of real FITS, NPY and text files are changed at random, and commands
read them. A run ends with exit 0, 1 or 2, in good time, with at most one line of text on stderr, and leaves nothing half there.

usage: mutate.py COMMAND RUNS [SEED [FIRST]]     runs FIRST (1) to RUNS of a seed: the same inputs on every machine
       mutate.py COMMAND SECONDSs [SEED]         a campaign: as many runs as there is time for, "600s"

A run depends on the seed and its own number only: `mutate.py COMMAND 2097 2 2097` is run 2097 of seed 2 alone.
KUGEL_FUZZ_KEEP: a folder for inputs that fail.
"""
import gzip
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

BINARY = os.path.abspath(sys.argv[1])
AMOUNT = sys.argv[2] if len(sys.argv) > 2 else "200"
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
FIRST = int(sys.argv[4]) if len(sys.argv) > 4 else 1
HERE = os.path.dirname(os.path.abspath(__file__))
SHARE = os.path.join(HERE, "../../share/data")
KEEP = os.environ.get("KUGEL_FUZZ_KEEP")
BLOCK, CARD = 2880, 80
MEMORY = 4 << 30  # bytes that a run may have, however many the machine has
with open(BINARY, "rb") as program:
    SANITIZED = re.search(rb"__[at]san_init", program.read())

KEYS = """NSIDE NAXIS NAXIS1 NAXIS2 TFIELDS TFORM1 TFORM2 TFORM3 TDIM1 PCOUNT GCOUNT ORDERING INDXSCHM OBS_NPIX MAX-LPOL MAX-MPOL FIRSTPIX
LASTPIX BITPIX XTENSION TTYPE1 TTYPE2 TUNIT1 TSCAL1 TZERO1 TNULL1 BAD_DATA EXTEND OBJECT GRAIN PIXTYPE POLCCONV ZIMAGE ZCMPTYPE ZBITPIX ZNAXIS
ZNAXIS1 ZTILE1 THEAP BLANK BSCALE BZERO COORDSYS CONTINUE EXTNAME END SIMPLE LONGSTRN TBCOL1 MOCORDER""".split()
VALUES = """0 1 -1 2 3 8 16 32 64 100 1024 12288 768 49152 2147483647 2147483648 -2147483648 4294967296 9223372036854775807 -9223372036854775808
18446744073709551616 1e30 -1e300 NaN INF 1.5 T F 'RING' 'NESTED' 'NUNIQ' 'EXPLICIT' 'IMPLICIT' 'PARTIAL' '1024E' '1E' '0E' '999999999E'
'99999999999999D' '1PE(1000000)' '1QD(9)' '1J' 'K' '8X' '99999X' '32A' '1B' 'L' 'C' 'M' '-5E' '1E1E' '(2,3)' '()' '' ' 'UNIQ' 'GZIP_1'
'RICE_1' 'BINTABLE' 'IMAGE' 'TABLE' \x1b[2J =""".split() + ["", "'" + "x" * 67 + "'"]


def cards(r, data):
    n = max(1, min(len(data) // CARD, 36 * r.choice([1, 2, 2, 3, 4])))
    i = r.randrange(n)
    at = CARD * i
    kind = r.randrange(5)
    value = r.choice(VALUES).encode("latin1")
    if kind == 0:
        data[at + 10:at + CARD] = value[:70].ljust(70)
    elif kind == 1:
        key = r.choice(KEYS)
        old = bytes(data).find(key.ljust(8).encode() + b"=", BLOCK)
        at = old if old >= 0 and r.random() < 0.8 else at
        data[at:at + CARD] = (key.ljust(8).encode() + b"= " + value)[:CARD].ljust(CARD)
    elif kind == 2:
        del data[at:at + CARD]
    elif kind == 3:
        other = CARD * r.randrange(n)
        data[at:at] = data[other:other + CARD]
    else:
        data[at:at + CARD] = b"END".ljust(CARD)


def scatter(r, data):
    reach = min(len(data), r.choice([128, BLOCK, 3 * BLOCK, len(data)]))
    for _ in range(r.choice([1, 2, 8, 64])):
        data[r.randrange(reach)] = r.choice([0, 255, 10, 32, 39, 40, 41, 44, 45, 48, 57, r.randrange(256)])


def lengths(r, data):
    kind = r.randrange(4)
    i = r.randrange(len(data) + 1)
    if kind == 0:
        del data[r.choice([0, 1, 79, 80, 2879, 2880, 2881, 5760, 8640, max(0, len(data) - 1), max(0, len(data) - BLOCK), i]):]
    elif kind == 1:
        data[i:i] = r.randbytes(r.choice([1, CARD, BLOCK]))
    elif kind == 2:
        del data[i:i + BLOCK]
    else:
        data += data[:r.choice([BLOCK, len(data)])]


def mutate(r, original, fits):
    data = bytearray(original)
    for _ in range(r.choice([1, 1, 1, 2, 2, 3, 5])):
        if data:
            r.choice([cards, cards, cards, scatter, lengths] if fits else [scatter, scatter, lengths])(r, data)
    if r.random() < 0.1:
        data = bytearray(gzip.compress(bytes(data), 1, mtime=0))
        if r.random() < 0.6:
            scatter(r, data)
    return bytes(data)


def commands(r, name):
    if name.endswith(".npy"):
        return r.choice([["info", name], ["plot", name, "o.png", "--size", "64"], ["fft", name, "o.npy"],
                         ["map2alm", name, "o.fits", "--lmax", "4"], ["regrid", name, "o.fits", "--nside", "2", "--lmax", "3"]])
    if name.endswith(".txt"):
        return r.choice([["info", name], ["synfast", name, "o.fits", "--nside", "2", "--lmax", "4"], ["plot", name, "o.png"]])
    return r.choice([["info", name], ["info", "--json", name], ["plot", name, "o.png", "--size", "64"], ["reorder", name, "o.fits"],
                     ["udgrade", name, "o.fits", "--nside", "2"], ["alm2map", name, "o.fits", "--nside", "2", "--f32"],
                     ["smooth", name, "o.fits", "--fwhm", "9deg", "--lmax", "4", "--iter", "0"], ["anafast", name, "o.txt", "--lmax", "4"],
                     ["synfast", name, "o.fits", "--nside", "2", "--lmax", "4"], ["rotate", name, "o.fits", "--to", "C", "--lmax", "4"]])


def run(words, limit=20, **more):
    """`limit` is in seconds of CPU time, which depends little on what else the machine does; the timeout ends what waits for ever."""
    def limits():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        if not SANITIZED:  # a sanitizer reserves terabytes of addresses
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    return subprocess.run([BINARY, *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=20 * limit, preexec_fn=limits,
                          env={**os.environ, "KUGEL_NUM_THREADS": "1", "KUGEL_CACHE": "off", **more})


def verdict(done):
    """What is wrong with a run, or None."""
    if done.returncode not in (0, 1, 2):
        return f"exit {done.returncode}"
    if b"Sanitizer" in done.stderr or b"runtime error" in done.stderr:
        return "a sanitizer's report"
    if done.returncode and (done.stderr.count(b"\n") != 1 or not done.stderr.endswith(b"\n")):
        return "not one line on stderr"
    if b"no memory" in done.stderr:  # the originals are of 20 kB
        return f"more than {MEMORY >> 30} GB"
    for text in (done.stdout, done.stderr):
        if any((c < 32 and c != 10) or c == 127 for c in text):
            return "control characters"
    return None


def seeds():
    """Small files of every kind, made by the command itself."""
    sky = os.path.join(SHARE, "wmap7_w_band_nside32.fits")
    with open("cl.txt", "w") as f:
        f.write("".join(f"{l} {1 / (l + 1) ** 2} {1 / (l + 2) ** 3} 0 {1 / (l + 3) ** 4}\n" for l in range(12)))
    for words in [["udgrade", sky, "map.fits", "--nside", "4"], ["reorder", "map.fits", "nest.fits"],
                  ["map2alm", "map.fits", "alm.fits", "--lmax", "6", "--iter", "0"], ["anafast", "map.fits", "cl.fits", "--lmax", "9"],
                  ["alm2map", "alm.fits", "rows.npy", "--rows", "8"], ["udgrade", sky, "packed.fits.gz", "--nside", "2"]]:
        done = run(words, KUGEL_ISA="generic")  # the same bytes on every processor
        assert done.returncode == 0, done
    names = [n for n in sorted(os.listdir(".")) if n.split(".")[-1] in ("fits", "npy", "txt", "gz")]
    return [(n, open(n, "rb").read()) for n in names]


def campaign_seconds():
    """Seconds of a campaign; None for a number of runs."""
    return float(AMOUNT[:-1]) if AMOUNT.endswith("s") else None


def numbers():
    """Numbers of the runs."""
    seconds = campaign_seconds()
    if seconds is None:
        yield from range(FIRST, int(AMOUNT) + 1)
        return
    end, number = time.monotonic() + seconds, FIRST
    while time.monotonic() < end:
        yield number
        number += 1


def attempt(number, originals, before):
    """One run: its exit code, and what is wrong with it or None."""
    r = random.Random(f"{SEED}-{number}")
    name, data = r.choice(originals)
    name = "in." + name.split(".", 1)[1]
    data = mutate(r, data, "fits" in name and not name.endswith("gz"))
    with open(name, "wb") as f:
        f.write(data)
    words = commands(r, name)
    try:
        done = run(words)
        wrong = verdict(done)
    except subprocess.TimeoutExpired:
        done, wrong = None, "no end"
    os.remove(name)
    left = set(os.listdir(".")) - before
    if not wrong and (any(n.startswith(".kugel-") for n in left) or done.returncode and left):
        wrong = f"left {left}"
    for n in left:
        os.remove(n)
    if wrong:
        print(f"run {number}, kugel {' '.join(words)}: {wrong}: {done.stderr[-400:] if done else ''}")
        if KEEP:
            with open(os.path.join(KEEP, f"{SEED}-{number}-{name}"), "wb") as f:
                f.write(data)
    return done.returncode if done else None, wrong


def main():
    bad = runs = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        originals = seeds()
        before = set(os.listdir("."))
        for number in numbers():
            code, wrong = attempt(number, originals, before)
            runs += 1
            refused += code == 1
            bad += wrong is not None
        os.chdir("/")
    print(f"{runs} runs of seed {SEED}, {refused} refused, {bad} wrong")
    return bad > 0 or not runs


sys.exit(main())
