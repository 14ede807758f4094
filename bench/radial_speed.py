#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which engine of radial convolution is fastest for which width: direct sums, spectra of rings, harmonics.

Times Gaussians on one core and prints a table, or reads one of JSON rows that it printed (--cpu); with --out draws
radial_crossover.png there, with the output of the program bench_radial_gpu, or its table in bench/results (--gpu), beside it, and
then also radial_roofline.png. Drawing needs matplotlib.
"""
import json
import pathlib
import time

import numpy as np
import side

kugel = side.load(threads=1)
ENGINES = {"direct": "C0", "rings": "C1", "harmonic": "C2"}
STYLES = {1024: "s--", 2048: "o-"}  # of an nside, in every panel
WIDTHS = 5, 7, 10, 14, 20, 30, 45, 60, 90, 120, 180  # arcmin at nside 1024


def seconds(radial, field, runs):
    """CPU time of the fastest run."""
    best = np.inf
    out = radial(field)
    for _ in range(runs):
        start = time.process_time()
        radial(field, out)
        best = min(best, time.process_time() - start)
    return best


def measure(nside, runs, widths, as_json):
    """Rows (arcmin, engine, milliseconds, the choice of auto)."""
    grid, rows = kugel.Grid.healpix(nside), []
    field = np.random.default_rng(1).standard_normal(grid.npix)
    table = side.Table(["nside", "FWHM arcmin", "engine", "kugel ms", "auto"], as_json)
    for arcmin in (w * 1024 / nside for w in widths):
        chosen = kugel.Radial(grid, "gaussian", np.radians(arcmin / 60))
        for engine in ENGINES:
            radial = kugel.Radial(grid, "gaussian", np.radians(arcmin / 60), method=engine)
            if engine == "direct" and radial.pairs > 2e10:
                continue
            rows.append((arcmin, engine, 1e3 * seconds(radial, field, runs), chosen.method))
            table.row(nside, str(arcmin), *rows[-1][1:])
    return rows


def read_cpu(path):
    """The rows that an earlier run printed with --json."""
    rows = (json.loads(line) for line in path.read_text().splitlines() if line.startswith("{"))
    return [(float(r["FWHM arcmin"]), r["engine"], r["kugel ms"], r["auto"]) for r in rows]


def read_gpu(path):
    """Rows (nside, arcmin, engine, pairs, milliseconds) of the program's output, or of its table in bench/results:
    | nside | FWHM' | cut-off deg | direct | rings | harmonics | ..., ms."""
    rows = []
    for line in path.read_text().splitlines():
        word = line.split()
        if len(word) == 9 and word[3] in ENGINES:
            rows.append((int(word[0]), float(word[1]), word[3], float(word[4]), float(word[5])))
        cell = [c.strip() for c in line.split("|")[1:-1]]
        if len(cell) >= 6 and cell[0].isdigit() and cell[1].endswith("'") and cell[2].endswith(" deg"):
            nside, arcmin, radius = int(cell[0]), float(cell[1][:-1]), float(cell[2][:-4])
            pairs = kugel.Radial(kugel.Grid.healpix(nside), "gaussian", np.radians(arcmin / 60), radius=np.radians(radius), method="direct").pairs
            rows += [(nside, arcmin, engine, pairs, float(ms)) for engine, ms in zip(("direct", "rings", "harmonic"), cell[3:6]) if ms]
    return rows


def crossover(cpu, nside, gpu):
    from matplotlib.figure import Figure
    figure = Figure((9.6 if gpu else 5, 4.8), layout="constrained")
    panels = figure.subplots(1, 2 if gpu else 1, squeeze=False)[0]
    for engine, colour in ENGINES.items():
        x = sorted((w, ms) for w, e, ms, _ in cpu if e == engine)
        panels[0].loglog(*zip(*x), STYLES.get(nside, "^:"), color=colour, label=f"{engine}, nside {nside}")
    panels[0].set(title="one core of a CPU")
    if gpu:
        for size, marker in STYLES.items():
            for engine, colour in ENGINES.items():
                x = sorted({w: ms for n, w, e, _, ms in gpu if e == engine and n == size}.items())
                panels[1].loglog(*zip(*x), marker, color=colour, label=f"{engine}, nside {size}")
        panels[1].set(title="GPU, from map to map in its memory")
    for axes in panels:
        axes.set(xlabel="FWHM of the kernel, arcmin", ylabel="ms per map")
        axes.grid(True, which="both", alpha=0.3)
        for axis in (axes.xaxis, axes.yaxis):  # 20, not 2 x 10^1
            axis.set_major_formatter("{x:g}")
    # One key for both, below: points are everywhere.
    key = {label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels())}
    figure.legend(key.values(), key.keys(), loc="outside lower center", ncols=3, fontsize="small")
    return figure


def operations(nside, arcmin, engine, pairs):
    """Flops of one map: two per pair; transforms of all rings there and back, and the products of rings or the Legendre
    functions of harmonics (2.5 per ring, l and m each way)."""
    if engine == "direct":
        return 2 * pairs
    plan = kugel.Radial(kugel.Grid.healpix(nside), "gaussian", np.radians(arcmin / 60), method="rings")
    transforms = 2 * 12 * nside**2 * 2.5 * np.log2(4 * nside)
    lmax = min(plan.band, 2 * nside)
    return transforms + (2 * plan.products if engine == "rings" else 2.5 * (4 * nside - 1) * lmax**2)


def roofline(gpu, flops=33e12, bandwidth=4.1e12):
    """Operations per second over operations per byte, a map read and written; and the machine's limits."""
    from matplotlib.figure import Figure
    figure = Figure((5, 4), layout="constrained")
    axes = figure.subplots()
    x = np.logspace(-1, 4, 50)
    axes.loglog(x, np.minimum(flops, bandwidth * x) / 1e12, "k-", label="limits of the GPU")
    for engine, colour in ENGINES.items():
        for k, nside in enumerate((1024, 2048, 4096)):
            work = [(operations(n, a, e, pairs), ms) for n, a, e, pairs, ms in gpu if e == engine and n == nside]
            points = [(w / (16 * 12 * nside**2), w / ms / 1e9) for w, ms in work]
            if points:
                axes.loglog(*zip(*points), "os^"[k], color=colour, label=f"{engine}, nside {nside}")
    axes.set(xlabel="flops per byte", ylabel="Tflop/s")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend(fontsize="x-small")
    return figure


def main():
    parser = side.options(__doc__, threads=False, only=False)
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--cpu", type=pathlib.Path)
    parser.add_argument("--gpu", type=pathlib.Path)
    o = side.arguments(parser, nside=32)
    gpu = read_gpu(o.gpu) if o.gpu else []
    cpu = read_cpu(o.cpu) if o.cpu else measure(o.nside, o.reps, WIDTHS[::5] if o.smoke else WIDTHS, o.json)
    if o.out:
        crossover(cpu, o.nside, gpu).savefig(o.out / "radial_crossover.png", dpi=120)
        if gpu:
            roofline(gpu).savefig(o.out / "radial_roofline.png", dpi=120)


if __name__ == "__main__":
    main()
