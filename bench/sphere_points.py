#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Harmonic sums at random points of the sphere beside ducc0: one thread by default, the same points and tolerance.

usage: bench/sphere_points.py [--threads N] [--reps N] [--json] [--smoke]

Milliseconds: "kugel" and "kugel adjoint" with points that were sorted before, "points" the sorting. ducc0 sorts in every call, so
that the ratio compares it with the sum of both. "difference": root mean square of that of the two results, relative.
"""
import side

args = side.arguments(side.options(__doc__.splitlines()[0], only=False))
kugel = side.load(args.threads)
import numpy as np  # noqa: E402

ducc0 = side.rival("ducc0", args)
table = side.Table(["case", "points ms", "kugel ms", "ducc0 ms", "ducc0 / (points + kugel)", "kugel adjoint ms", "ducc0 adjoint ms",
                    "difference"], args.json)
CASES = [(20, 100, 1e-5, 0)] if args.smoke else [(1023, 1_000_000, 1e-5, 0), (1023, 1_000_000, 1e-10, 0), (1023, 1_000_000, 1e-5, 2)]
rng = np.random.default_rng(0)
for lmax, n, eps, spin in CASES:
    sets = 2 if spin else 1
    alm = rng.standard_normal((sets, (lmax + 1) * (lmax + 2) // 2)) + 0j
    alm[:, lmax + 1:] += 1j * rng.standard_normal((sets, alm.shape[1] - lmax - 1))
    alm[:, np.arange(alm.shape[1])[kugel.Alm.getlm(lmax)[0] < spin]] = 0
    loc = np.stack([np.arccos(rng.uniform(-1, 1, n)), rng.uniform(0, 2 * np.pi, n)], 1)
    plan = kugel.points.Plan(lmax, spin=spin, tolerance=eps)
    points = plan.points(loc[:, 0], loc[:, 1])
    own = alm if spin else alm[0]
    values = points.synthesis(own)
    keys = dict(spin=spin, lmax=lmax, loc=loc, epsilon=eps, nthreads=args.threads)
    t = side.seconds({"points": lambda: plan.points(loc[:, 0], loc[:, 1]), "kugel": lambda: points.synthesis(own),
                      "ducc0": ducc0 and (lambda: ducc0.sht.synthesis_general(alm=alm, **keys)),
                      "kugel adjoint": lambda: points.adjoint(values),
                      "ducc0 adjoint": ducc0 and (lambda: ducc0.sht.adjoint_synthesis_general(map=values.reshape(sets, n), **keys))},
                     args.reps, args.threads)
    ms = {k: 1e3 * v for k, v in t.items()}
    rival = ducc0 and ducc0.sht.synthesis_general(alm=alm, **keys)
    table.row(f"lmax {lmax}, {n:g} points, {eps:g}, spin {spin}", ms["points"], ms["kugel"], ms.get("ducc0"),
              ms["ducc0"] / (ms["points"] + ms["kugel"]) if ducc0 else None, ms["kugel adjoint"], ms.get("ducc0 adjoint"),
              float(np.linalg.norm(values - rival.reshape(values.shape)) / np.linalg.norm(values)) if ducc0 else None)
