#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Power spectra of masked maps beside NaMaster (pymaster) and ducc0's coupling matrices, in the same run.

The largest difference of results over the largest value is that to NaMaster. NaMaster's default of 3 iterations is used by both.
"""
import importlib

import numpy as np
import side

options = side.options(__doc__)
options.add_argument("--nside", type=int, default=256)
options.add_argument("--lmax", type=int, default=1535, help="of the couplings (default 1535)")
options.add_argument("--pair", type=int, default=128, help="nside of the polarised pair (default 128)")
args = side.arguments(options, nside=32, lmax=48, pair=16)
kugel = side.load(args.threads)
import kugel.namaster as own  # noqa: E402


def optional(name):
    try:
        with side.quiet():
            return importlib.import_module(name)
    except ImportError:
        return None


nmt, ducc0 = None if args.smoke else optional("pymaster"), optional("ducc0")  # which fails on small maps
table = side.Table(["what", "threads", "kugel s", "NaMaster s", "ducc0 s", "NaMaster / kugel", "difference"], args.json)


def row(name, ours, theirs=None, third=None, difference=None):
    if args.only not in name:
        return
    t = side.seconds({"ours": ours, "theirs": theirs if nmt else None, "third": third}, args.reps, args.threads)
    ratio = t["theirs"] / t["ours"] if "theirs" in t else None
    off = None
    if difference and nmt:
        a, b = difference()
        off = float(abs(np.asarray(a) - b).max() / abs(np.asarray(b)).max())
    table.row(name, args.threads, t["ours"], t.get("theirs"), t.get("third"), ratio, off)


def couplings(lmax):
    w = (np.arange(lmax + 1) + 1.0) ** -2.5
    third = getattr(getattr(getattr(ducc0, "misc", None), "experimental", None), "coupling_matrix_rect_new", None)
    weights = w * (2 * np.arange(lmax + 1) + 1) / (4 * np.pi)
    for name, families, parts in (("0 x 0", ("00",), [0]), ("2 x 2", ("plus", "minus"), [4]),
                                  ("T, E, B", ("00", "0s", "plus", "minus"), [0, 1, 4])):
        out = np.zeros((len(families), lmax + 1, lmax + 1))
        row(f"couplings {name}, lmax {lmax}", lambda: kugel.spectra.coupling(w, lmax, (2, 2), families), None,
            third and (lambda: third(np.array([weights] * len(parts)), parts, out, nthreads=args.threads)))


def maps(nside):
    rng = np.random.default_rng(1)
    v = np.array(kugel.pix2vec(nside, np.arange(12 * nside ** 2)))
    cut = (abs(v[2]) > 0.25).astype(float)
    for p in rng.integers(0, cut.size, 100):
        cut[kugel.query_disc(nside, v[:, p], 0.015)] = 0
    l = np.arange(3 * nside)
    np.random.seed(2)
    spectrum = 1 / (l + 10.0) ** 2
    t, q, u = kugel.synfast([spectrum, 0.1 * spectrum, 0.01 * spectrum, 0.15 * spectrum], nside, lmax=2 * nside, new=True)
    apodise = f"C1 by 2 degrees, nside {nside}"
    row(apodise, lambda: own.mask_apodization(cut, 2.0, "C1"), lambda: nmt.mask_apodization(cut, 2.0, "C1"),
        difference=lambda: (own.mask_apodization(cut, 2.0, "C1"), nmt.mask_apodization(cut, 2.0, "C1")))
    mask = own.mask_apodization(cut, 5.0, "C1")
    lmax = 2 * nside
    made = {}
    for name, module in (("own", own), ("nmt", nmt)):
        if module:
            made[name] = (module.NmtField(mask, [t], lmax=lmax), module.NmtField(mask, [q, u], lmax=lmax),
                          module.NmtBin.from_lmax_linear(lmax, max(lmax // 32, 2)))
    row(f"field 0, nside {nside}", lambda: own.NmtField(mask, [t], lmax=lmax), lambda: nmt.NmtField(mask, [t], lmax=lmax))
    row(f"field 2, nside {nside}", lambda: own.NmtField(mask, [q, u], lmax=lmax), lambda: nmt.NmtField(mask, [q, u], lmax=lmax))
    full = {"lmax": 3 * nside - 1, "purify_b": True}  # NaMaster fails if lmax is not that of the mask
    row(f"field 2, pure B, nside {nside}", lambda: own.NmtField(mask, [q, u], **full), lambda: nmt.NmtField(mask, [q, u], **full),
        difference=lambda: (own.NmtField(mask, [q, u], **full).get_alms(), nmt.NmtField(mask, [q, u], **full).get_alms()))

    def whole(module, pairs):
        f0, f2, b = made[module.__name__ == own.__name__ and "own" or "nmt"]
        field = {0: f0, 2: f2}
        return [module.compute_full_master(field[x], field[y], b) for x, y in pairs]
    for name, pairs in (("0 x 0", [(0, 0)]), ("0 x 2", [(0, 2)]), ("2 x 2", [(2, 2)])):
        row(f"bandpowers {name}, lmax {lmax}", lambda: whole(own, pairs), lambda: whole(nmt, pairs),
            difference=lambda: (whole(own, pairs)[0], whole(nmt, pairs)[0]))

    def everything(module):
        m = module.mask_apodization(cut, 5.0, "C1")
        f0, f2 = module.NmtField(m, [t], lmax=lmax), module.NmtField(m, [q, u], lmax=lmax)
        b = module.NmtBin.from_lmax_linear(lmax, max(lmax // 32, 2))
        return [module.compute_full_master(x, y, b) for x, y in ((f0, f0), (f0, f2), (f2, f2))]
    row(f"T, Q, U from mask to bandpowers, nside {nside}", lambda: everything(own), lambda: everything(nmt))


def pair(nside):
    """Two maps of Q and U, each under a mask of its own, with pure B, to decoupled EE, EB, BE, BB."""
    rng, npix, lmax = np.random.default_rng(5), 12 * nside**2, 3 * nside - 1
    z = kugel.pix2vec(nside, np.arange(npix))[2]
    cuts = []
    for south in (-0.9, -0.8):
        cut = ((z > south) & (z < 0.2)).astype(float)
        for theta, phi in zip(np.arccos(rng.uniform(south, 0.2, 50)), rng.uniform(0, 2 * np.pi, 50)):
            cut[kugel.query_disc(nside, kugel.ang2vec(theta, phi), 0.01)] = 0
        cuts.append(cut)
    np.random.seed(6)
    l = np.arange(lmax + 1)
    sky = kugel.synfast([0 * l, 1 / (l + 10.0) ** 2, 0.05 / (l + 10.0) ** 2, 0 * l], nside, lmax=2 * nside, new=True)[1:]
    maps = [sky + 1e-3 * rng.standard_normal((2, npix)) for _ in cuts]
    modules, stages, results = [own] + [nmt] * bool(nmt), ("apodisation of both masks", "both fields", "couplings, bandpowers", "whole"), {}
    times = {(module, stage): [] for module in modules for stage in stages}
    now = side.clock(args.threads)
    for _ in range(args.reps):  # each run counts: NaMaster's takes 20 minutes at nside 1024
        for module in modules:
            t = [now()]
            masks = [module.mask_apodization(cut, 4.0, "C1") for cut in cuts]
            t.append(now())
            fields = [module.NmtField(w, m, purify_b=True, lmax=lmax) for w, m in zip(masks, maps)]
            t.append(now())
            results[module] = np.array(module.compute_full_master(*fields, module.NmtBin.from_lmax_linear(lmax, 30)))
            t.append(now())
            for stage, seconds in zip(stages, [*np.diff(t), t[3] - t[0]]):
                times[module, stage].append(seconds)
    off = float(abs(results[own] - results[nmt]).max() / abs(results[nmt]).max()) if nmt else None
    for stage in stages:
        ours, *theirs = (float(np.median(times[module, stage])) for module in modules)
        table.row(f"pair of Q, U, pure B, nside {nside}: {stage}", args.threads, ours, *theirs or [None], None, theirs[0] / ours if theirs else None,
                  off if stage == "whole" else None)


if not args.only.startswith("pair"):
    couplings(args.lmax)
    maps(args.nside)
if not args.only or args.only.startswith("pair"):
    pair(args.pair)
