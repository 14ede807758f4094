# SPDX-License-Identifier: BSD-3-Clause
"""Spherical-harmonic transforms beside ducc0 (HEALPix, Gauss-Legendre) and SHTns (Gauss-Legendre)."""
import side

parser = side.options(__doc__)
parser.add_argument("--nside", type=int, nargs="*", default=[512, 1024])
parser.add_argument("--gauss", type=int, nargs="*", default=[1023, 2047], help="lmax of the Gauss-Legendre rows")
args = side.arguments(parser, nside=[16], gauss=[31])
kugel = side.load(args.threads)

import numpy as np

ducc0 = side.rival("ducc0", args)
shtns = side.rival("shtns", args)

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
              ratio.get("shtns"), distance(*results()) if len(s) > 1 else None)


def each_spin(function, alm, maps, spins):
    """ducc0 takes T and E/B in two calls."""
    start = 0
    for spin in spins:
        part = slice(start, start + (2 if spin else 1))
        function(alm[part], maps[part], spin)
        start = part.stop


def healpix(nside, lmax):
    geometry = ducc0.healpix.Healpix_Base(nside, "RING").sht_info() if ducc0 else {}
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
            "ducc0": ducc0 and (lambda: each_spin(synthesis, alm, theirs, spins))}, lambda: (mine, theirs))
        report(name + " adjoint", grid, lmax, {
            "kugel": lambda: plan.synthesis_adjoint(flat(theirs), flat(back)),
            "ducc0": ducc0 and (lambda: each_spin(adjoint, back2, theirs, spins))}, lambda: (back, back2))


def gauss(lmax):
    """SHTns' vector transform is spin 1 up to factors sqrt(l (l + 1)); its polar threshold is that of full precision."""
    ntheta, nphi = lmax + 1, 2 * lmax + 2
    rival = shtns and shtns.sht(lmax)
    if rival:
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
        if rival:
            fields = rival.synth(*sets)
            fields = [f.copy() for f in (fields if spin else [fields])]
        report(name + " synthesis", f"Gauss {ntheta}", lmax, {
            "kugel": lambda: plan.synthesis(flat(alm), flat(mine)),
            "ducc0": ducc0 and (lambda: ducc0.sht.synthesis_2d(alm=alm, map=cube, ntheta=ntheta, nphi=nphi, **shared)),
            "shtns": rival and (lambda: rival.synth(*sets))}, lambda: (mine, theirs))
        report(name + " adjoint", f"Gauss {ntheta}", lmax, {
            "kugel": lambda: plan.synthesis_adjoint(flat(mine), flat(back)),
            "ducc0": ducc0 and (lambda: ducc0.sht.adjoint_synthesis_2d(map=cube, alm=back2, **shared))}, lambda: (back, back2))
        report(name + " analysis", f"Gauss {ntheta}", lmax, {
            "kugel": lambda: plan.analysis(flat(mine), flat(back)),
            "shtns": rival and (lambda: rival.analys(*fields))}, lambda: (back, alm))


for nside in args.nside:
    for lmax in (2 * nside, 3 * nside - 1):
        healpix(nside, lmax)
for lmax in args.gauss:
    gauss(lmax)
