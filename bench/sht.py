# SPDX-License-Identifier: BSD-3-Clause
<<<<<<< HEAD
"""Spherical-harmonic transforms beside ducc0 (HEALPix, Gauss-Legendre) and SHTns (Gauss-Legendre)."""
import side

parser = side.options(__doc__)
parser.add_argument("--nside", type=int, nargs="*", default=[512, 1024])
parser.add_argument("--gauss", type=int, nargs="*", default=[1023, 2047], help="lmax of the Gauss-Legendre rows")
args = parser.parse_args()
kugel = side.load(args.threads)

import ducc0
import numpy as np
import shtns

table = side.Table(["transform", "grid", "lmax", "threads", "kugel s", "ducc0 s", "ducc0 / kugel", "SHTns s",
                    "SHTns / kugel", "rel. L2 difference"], args.json)
rng = np.random.default_rng(1)


def random_alm(sets, lmax, spin):
    """White a_lm, real at m = 0 and zero below l = spin."""
    n = (lmax + 1) * (lmax + 2) // 2
    alm = rng.normal(size=(sets, n)) + 1j * rng.normal(size=(sets, n))
    alm[:, :lmax + 1] = alm[:, :lmax + 1].real
    for m in range(min(spin, lmax + 1)):
        start = m * (2 * lmax + 1 - m) // 2
        alm[:, start + m:start + spin] = 0
    return alm


def distance(a, b):
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def report(name, grid, lmax, calls, results):
    """One row; results(): the outputs to compare, the rival's second."""
    s = side.seconds(calls, args.reps, args.threads)
    ratio = {k: v / s["kugel"] for k, v in s.items()}
    table.row(name, grid, lmax, args.threads, s["kugel"], s.get("ducc0"), ratio.get("ducc0"), s.get("shtns"),
              ratio.get("shtns"), distance(*results()))


def each_spin(function, alm, maps, spins):
    """ducc0 takes T and E/B in two calls."""
    start = 0
    for spin in spins:
        part = slice(start, start + (2 if spin else 1))
        function(alm[part], maps[part], spin)
        start = part.stop


def healpix(nside, lmax):
    geometry = ducc0.healpix.Healpix_Base(nside, "RING").sht_info()
    for name, mode, spins in (("spin 0", "scalar", (0,)), ("spin 2", "spin", (2,)), ("T+E/B", "teb", (0, 2))):
        if args.only not in name:
            continue
        plan = kugel.SHT(nside, lmax, spin=2 if mode == "spin" else 0, mode=mode, bad_pixels="pass")
        alm = np.concatenate([random_alm(2 if s else 1, lmax, s) for s in spins])
        mine, theirs = np.zeros((2, len(alm), plan.npix))
        back, back2 = np.zeros((2,) + alm.shape, complex)
        shared = dict(lmax=lmax, nthreads=args.threads, **geometry)
        flat = (lambda a: a[0]) if len(alm) == 1 else (lambda a: a)

        def synthesis(a, m, spin):
            ducc0.sht.synthesis(alm=a, map=m, spin=spin, **shared)

        def adjoint(a, m, spin):
            ducc0.sht.adjoint_synthesis(alm=a, map=m, spin=spin, **shared)

        grid = f"HEALPix {nside}"
        report(name + " synthesis", grid, lmax, {
            "kugel": lambda: plan.synthesis(flat(alm), flat(mine)),
            "ducc0": lambda: each_spin(synthesis, alm, theirs, spins)}, lambda: (mine, theirs))
        report(name + " adjoint", grid, lmax, {
            "kugel": lambda: plan.synthesis_adjoint(flat(theirs), flat(back)),
            "ducc0": lambda: each_spin(adjoint, back2, theirs, spins)}, lambda: (back, back2))


def gauss(lmax):
    """SHTns' vector transform is spin 1 up to factors sqrt(l (l + 1)); its polar threshold is that of full precision."""
    ntheta, nphi = lmax + 1, 2 * lmax + 2
    rival = shtns.sht(lmax)
    rival.set_grid(ntheta, nphi, flags=shtns.sht_gauss | shtns.SHT_PHI_CONTIGUOUS, polar_opt=1e-14)
    grid = kugel.Grid.gauss(ntheta, nphi)
    for name, spin in (("scalar", 0), ("vector", 1)):
        if args.only not in name:
            continue
        plan = kugel.SHT(grid, lmax, spin=spin, bad_pixels="pass")
        alm = random_alm(2 if spin else 1, lmax, spin)
        mine, theirs = np.zeros((2, len(alm), plan.npix))
        back, back2 = np.zeros((2,) + alm.shape, complex)
        cube = theirs.reshape(len(alm), ntheta, nphi)
        shared = dict(geometry="GL", lmax=lmax, spin=spin, nthreads=args.threads)
        flat = (lambda a: a) if spin else (lambda a: a[0])
        sets = [a.copy() for a in alm]
        fields = rival.synth(*sets)
        fields = [f.copy() for f in (fields if spin else [fields])]
        report(name + " synthesis", f"Gauss {ntheta}", lmax, {
            "kugel": lambda: plan.synthesis(flat(alm), flat(mine)),
            "ducc0": lambda: ducc0.sht.synthesis_2d(alm=alm, map=cube, ntheta=ntheta, nphi=nphi, **shared),
            "shtns": lambda: rival.synth(*sets)}, lambda: (mine, theirs))
        report(name + " adjoint", f"Gauss {ntheta}", lmax, {
            "kugel": lambda: plan.synthesis_adjoint(flat(mine), flat(back)),
            "ducc0": lambda: ducc0.sht.adjoint_synthesis_2d(map=cube, alm=back2, **shared)}, lambda: (back, back2))
        report(name + " analysis", f"Gauss {ntheta}", lmax, {
            "kugel": lambda: plan.analysis(flat(mine), flat(back)),
            "shtns": lambda: rival.analys(*fields)}, lambda: (back, alm))


for nside in args.nside:
    for lmax in (2 * nside, 3 * nside - 1):
        healpix(nside, lmax)
for lmax in args.gauss:
    gauss(lmax)
=======
"""Spherical-harmonic transforms beside ducc0 and SHTns: the same input, interleaved repetitions, medians.

    ./setup --bench && ./check
    PYTHONPATH=python .venv/bin/python bench/sht.py [--threads 1] [--repeat 3] [--json] [--only healpix|gauss]

One thread: CPU time of the process. More threads: wall time, the fastest repetition. `diff` is the relative L2
distance between the two results of synthesis.
"""
import argparse
import json
import os
import statistics
import time

options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
options.add_argument("--threads", type=int, default=1)
options.add_argument("--repeat", type=int, default=3)
options.add_argument("--json", action="store_true")
options.add_argument("--only", choices=["healpix", "gauss"])
options.add_argument("--nside", type=int, nargs="*", default=[512, 1024])
options = options.parse_args()
os.environ.setdefault("OMP_NUM_THREADS", str(options.threads))

import ducc0
import numpy as np
import kugel

rng = np.random.default_rng(1)
rows = []
MODES = {"spin 0": dict(), "spin 1": dict(spin=1), "spin 2": dict(spin=2), "T+E/B": dict(mode="teb")}
SETS = {"spin 0": 1, "spin 1": 2, "spin 2": 2, "T+E/B": 3}


def random_alm(sets, lmax, spin):
    """Unit normal coefficients, real at m = 0, zero below the spin (component 0 of three has spin 0)."""
    n = (lmax + 1) * (lmax + 2) // 2
    alm = rng.normal(size=(sets, n)) + 1j * rng.normal(size=(sets, n))
    alm[:, : lmax + 1] = alm[:, : lmax + 1].real
    at = 0
    for m in range(spin):
        alm[sets - min(sets, 2) :, at : at + spin - m] = 0
        at += lmax + 1 - m
    return alm


def measure(calls):
    """Medians of interleaved repetitions, one warm-up; the fastest for several threads."""
    clock = time.process_time if options.threads == 1 else time.perf_counter
    times = {name: [] for name in calls}
    for repeat in range(options.repeat + 1):
        for name, call in calls.items():
            start = clock()
            call()
            if repeat:
                times[name].append(clock() - start)
    pick = statistics.median if options.threads == 1 else min
    return {name: pick(t) for name, t in times.items()}


def add(grid, lmax, mode, what, ours, rival, theirs, diff):
    rows.append(dict(grid=grid, lmax=lmax, mode=mode, what=what, threads=options.threads, kugel=ours, rival=rival,
                     time=theirs, ratio=theirs / ours, diff=diff))
    if not options.json:
        print(f"| {grid} | {lmax} | {mode} | {what} | {ours:.4f} | {rival} {theirs:.4f} | {theirs / ours:.2f} | "
              f"{diff:.0e} |", flush=True)


def run(name, lmax, mode, grid, synthesis, adjoint, shtns_pair=None):
    """synthesis(alm, spin, out), adjoint(map, spin, out) of ducc0 for one spin."""
    sets, spin = SETS[mode], {"spin 0": 0, "spin 1": 1}.get(mode, 2)
    plan = kugel.SHT(grid, lmax, bad_pixels="pass", **MODES[mode])
    alm = random_alm(sets, lmax, spin)
    ours, theirs = np.empty((sets, grid.npix)), np.empty((sets, grid.npix))
    back, back2 = np.empty_like(alm), np.empty_like(alm)
    parts = [(slice(0, 1), 0), (slice(1, 3), 2)] if mode == "T+E/B" else [(slice(0, sets), spin)]
    shape = (lambda a: a[0]) if sets == 1 else (lambda a: a)
    t = measure({
        "synthesis": lambda: plan.synthesis(shape(alm), out=shape(ours)),
        "ducc synthesis": lambda: [synthesis(alm[p], s, theirs[p]) for p, s in parts],
        "adjoint": lambda: plan.synthesis_adjoint(shape(ours), out=shape(back)),
        "ducc adjoint": lambda: [adjoint(theirs[p], s, back2[p]) for p, s in parts]})
    diff = np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)
    for what in ("synthesis", "adjoint"):
        add(name, lmax, mode, what, t[what], "ducc0", t["ducc " + what], diff)
    if shtns_pair:
        forward, inverse = shtns_pair(alm)
        s = measure({"synthesis": forward, "adjoint": inverse})
        for what in ("synthesis", "adjoint"):
            add(name, lmax, mode, what, t[what], "SHTns", s[what], diff)


if not options.json:
    print(f"Kugel {kugel.__version__} ({kugel.isa() if hasattr(kugel, 'isa') else ''}), ducc0 {ducc0.__version__}, "
          f"{options.threads} thread(s), seconds\n")
    print("| grid | lmax | transform | direction | Kugel | rival | ratio | diff |\n|---|---|---|---|---|---|---|---|")
kugel.set_num_threads(options.threads)

for nside in options.nside if options.only != "gauss" else []:
    grid, base = kugel.Grid.healpix(nside), ducc0.healpix.Healpix_Base(nside, "RING").sht_info()
    for lmax in (2 * nside, 3 * nside - 1):
        common = dict(lmax=lmax, nthreads=options.threads, **base)
        for mode in ("spin 0", "spin 2", "T+E/B"):
            run(f"HEALPix {nside}", lmax, mode, grid,
                lambda a, s, m: ducc0.sht.synthesis(alm=a, spin=s, map=m, **common),
                lambda m, s, a: ducc0.sht.adjoint_synthesis(map=m, spin=s, alm=a, **common))

for lmax in (1023, 2047) if options.only != "healpix" else []:
    import shtns
    ntheta, nphi = lmax + 1, 2 * lmax + 2
    grid = kugel.Grid.gauss(ntheta, nphi)
    engine = shtns.sht(lmax)
    engine.set_grid(ntheta, nphi, flags=shtns.sht_gauss | 256 * 8, polar_opt=1e-14)  # phi contiguous
    common = dict(geometry="GL", lmax=lmax, nthreads=options.threads)

    def shtns_pair(alm):
        q = [a.copy() for a in alm]
        values = engine.synth(*q)
        values = values if isinstance(values, tuple) else (values,)
        return lambda: engine.synth(*q), lambda: engine.analys(*values)

    for mode in ("spin 0", "spin 1", "spin 2"):
        run("Gauss", lmax, mode, grid,
            lambda a, s, m: ducc0.sht.synthesis_2d(alm=a, spin=s, map=m.reshape(-1, ntheta, nphi), **common),
            lambda m, s, a: ducc0.sht.adjoint_synthesis_2d(map=m.reshape(-1, ntheta, nphi), spin=s, alm=a, **common),
            shtns_pair if mode != "spin 2" else None)
if options.json:
    print(json.dumps(rows))
>>>>>>> bcd6ae4 (bench, examples: transforms, FFTs and pixels beside rivals)
