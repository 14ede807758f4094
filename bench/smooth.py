# SPDX-License-Identifier: BSD-3-Clause
"""`kugel smooth` from file to file beside healpy doing the same, and the start-up time of the command."""
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import side

parser = side.options(__doc__, only=False)
parser.add_argument("--nside", type=int, default=1024)
parser.add_argument("--start-up", action="store_true", help="only the start-up time of the command")
args = side.arguments(parser, nside=16)
healpy = side.rival("healpy", args)
COMMAND = str(side.ROOT / "build/release/kugel")
HEALPY = """import sys, healpy as hp
m = hp.read_map(sys.argv[1])
hp.write_map(sys.argv[2], hp.smoothing(m, fwhm=float(sys.argv[3])), overwrite=True, dtype='float32')"""

MAKE = """import sys, healpy as hp, numpy as np
n = 12 * int(sys.argv[2])**2
hp.write_map(sys.argv[1], np.random.default_rng(1).normal(size=n), dtype='float32')"""
COMPARE = """import sys, healpy as hp, numpy as np
a, b = (hp.read_map(f, dtype=np.float64) for f in sys.argv[1:])
print(np.linalg.norm(a - b) / np.linalg.norm(b))"""


def run(command):
    """Wall seconds, CPU seconds and peak memory in MB of a process."""
    env = dict(os.environ, OMP_NUM_THREADS=str(args.threads), KUGEL_NUM_THREADS=str(args.threads))
    start = time.perf_counter()
    child = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{command[0]} ended with status {child.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def start_up():
    table = side.Table(["start-up of", "median ms", "minimum ms", "peak MB"], args.json)
    runs = [run([COMMAND, "--version"]) for _ in range(41)]
    walls = [1e3 * r[0] for r in runs]
    table.row("kugel --version", statistics.median(walls), min(walls), max(r[2] for r in runs))


def python(code, *arguments):
    """Output of a Python child: this process stays small, as a child's peak memory starts from its parent's."""
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True, capture_output=True,
                          text=True).stdout


def smooth():
    table = side.Table(["program", "threads", "CPU s", "wall s", "peak MB", "rel. L2 difference"], args.json)
    with tempfile.TemporaryDirectory() as folder:
        sky, mine, theirs = (os.path.join(folder, f) for f in ("sky.fits", "kugel.fits", "healpy.fits"))
        if healpy:
            python(MAKE, sky, args.nside)
        else:
            run([COMMAND, "udgrade", str(side.ROOT / "share/data/wmap7_w_band_nside32.fits"), sky, "--nside", str(args.nside)])
        programs = {"kugel smooth": [COMMAND, "smooth", sky, mine, "--fwhm", "1deg", "--threads", str(args.threads),
                                     "--overwrite", "--quiet"],
                    "healpy.smoothing": [sys.executable, "-c", HEALPY, sky, theirs, str(math.radians(1.0))]}
        if not healpy:
            del programs["healpy.smoothing"]
        runs = {name: [] for name in programs}
        for _ in range(args.reps):
            for name, command in programs.items():
                runs[name].append(run(command))
        difference = float(python(COMPARE, mine, theirs)) if healpy else None
        for name, r in runs.items():
            table.row(name, args.threads, statistics.median(x[1] for x in r), min(x[0] for x in r), max(x[2] for x in r),
                      difference)
        limit = 3 * 8 * 12 * args.nside**2 + 3 * 16 * (3 * args.nside) * (3 * args.nside + 1) // 2
        if not args.json:
            print(f"\n3 maps + 3 alms of double precision: {limit / 1e6:.0f} MB")


start_up() if args.start_up else smooth()
