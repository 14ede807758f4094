#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which engine of radial convolution is fastest for which width: direct sums, spectra of rings, harmonics.

    python bench/radial_speed.py [--nside 1024] [--out .] [--cpu table.txt] [--gpu t389_radial_speed.txt]

Times Gaussians on one core, prints a table (or reads one that it printed) and draws radial_crossover.png; with the output of
the test program t389_radial_speed on a GPU beside it, and then also radial_roofline.png. Needs matplotlib.
"""
import argparse
import pathlib
import time

import numpy as np
from matplotlib.figure import Figure
from side import load

kugel = load(threads=1)
ENGINES = {"direct": "C0", "rings": "C1", "harmonic": "C2"}
WIDTHS = 5, 7, 10, 14, 20, 30, 45, 60, 90, 120, 180  # arcmin at nside 1024


def seconds(radial, field, runs=3):
    """CPU time of the fastest run."""
    best = np.inf
    out = radial(field)
    for _ in range(runs):
        start = time.process_time()
        radial(field, out)
        best = min(best, time.process_time() - start)
    return best


def measure(nside):
    """Rows (arcmin, engine, milliseconds, the choice of auto)."""
    grid, rows = kugel.Grid.healpix(nside), []
    field = np.random.default_rng(1).standard_normal(grid.npix)
    for arcmin in (w * 1024 / nside for w in WIDTHS):
        chosen = kugel.Radial(grid, "gaussian", np.radians(arcmin / 60))
        for engine in ENGINES:
            radial = kugel.Radial(grid, "gaussian", np.radians(arcmin / 60), method=engine)
            if engine == "direct" and radial.pairs > 2e10:
                continue
            rows.append((arcmin, engine, 1e3 * seconds(radial, field), chosen.method))
            print("{:7.1f}' {:9} {:9.1f} ms   auto: {}".format(*rows[-1]), flush=True)
    return rows


def read_cpu(path):
    """The rows that an earlier run printed."""
    words = [line.replace("'", "").split() for line in path.read_text().splitlines()]
    return [(float(w[0]), w[1], float(w[2]), w[5]) for w in words if len(w) == 6 and w[4] == "auto:"]


def read_gpu(path):
    """Rows (nside, arcmin, engine, pairs, milliseconds) of the test program's output."""
    rows = []
    for line in path.read_text().splitlines():
        word = line.split()
        if len(word) == 9 and word[3] in ENGINES:
            rows.append((int(word[0]), float(word[1]), word[3], float(word[4]), float(word[5])))
    return rows


def crossover(cpu, nside, gpu):
    figure = Figure((9 if gpu else 5, 4), layout="constrained")
    panels = figure.subplots(1, 2 if gpu else 1, squeeze=False)[0]
    for engine, colour in ENGINES.items():
        x = sorted((w, ms) for w, e, ms, _ in cpu if e == engine)
        panels[0].loglog(*zip(*x), "o-", color=colour, label=engine)
    panels[0].set(title=f"one core, nside {nside}", xlabel="FWHM, arcmin", ylabel="ms a map")
    if gpu:
        for side, marker in ((1024, "s--"), (2048, "o-")):
            for engine, colour in ENGINES.items():
                x = sorted({w: ms for n, w, e, _, ms in gpu if e == engine and n == side}.items())
                panels[1].loglog(*zip(*x), marker, color=colour, label=f"{engine}, nside {side}")
        panels[1].set(title="GPU, map to map in its memory", xlabel="FWHM, arcmin")
    for axes in panels:
        axes.grid(True, which="both", alpha=0.3)
        axes.legend(fontsize="small")
    return figure


def operations(nside, arcmin, engine, pairs):
    """Flops of one map: two a pair; transforms of all rings there and back, and the products of rings or the Legendre
    functions of harmonics (2.5 a ring, l and m each way)."""
    if engine == "direct":
        return 2 * pairs
    plan = kugel.Radial(kugel.Grid.healpix(nside), "gaussian", np.radians(arcmin / 60), method="rings")
    transforms = 2 * 12 * nside**2 * 2.5 * np.log2(4 * nside)
    lmax = min(plan.band, 2 * nside)
    return transforms + (2 * plan.products if engine == "rings" else 2.5 * (4 * nside - 1) * lmax**2)


def roofline(gpu, flops=33e12, bandwidth=4.1e12):
    """Operations a second over operations a byte, a map read and written; and the machine's limits."""
    figure = Figure((5, 4), layout="constrained")
    axes = figure.subplots()
    x = np.logspace(-1, 4, 50)
    axes.loglog(x, np.minimum(flops, bandwidth * x) / 1e12, "k-", label="limits of the GPU")
    for engine, colour in ENGINES.items():
        for k, side in enumerate((1024, 2048, 4096)):
            work = [(operations(n, a, e, pairs), ms) for n, a, e, pairs, ms in gpu if e == engine and n == side]
            points = [(w / (16 * 12 * side**2), w / ms / 1e9) for w, ms in work]
            if points:
                axes.loglog(*zip(*points), "os^"[k], color=colour, label=f"{engine}, nside {side}")
    axes.set(xlabel="flops a byte", ylabel="Tflop/s")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend(fontsize="x-small")
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--cpu", type=pathlib.Path)
    parser.add_argument("--gpu", type=pathlib.Path)
    o = parser.parse_args()
    gpu = read_gpu(o.gpu) if o.gpu else []
    crossover(read_cpu(o.cpu) if o.cpu else measure(o.nside), o.nside, gpu).savefig(o.out / "radial_crossover.png", dpi=120)
    if gpu:
        roofline(gpu).savefig(o.out / "radial_roofline.png", dpi=120)


if __name__ == "__main__":
    main()
