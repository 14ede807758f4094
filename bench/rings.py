# SPDX-License-Identifier: BSD-3-Clause
"""Fourier transforms of rings of unequal length beside ducc0's leg2map and map2leg."""
import side

parser = side.options(__doc__)
args = side.arguments(parser, only="HEALPix 256")
kugel = side.load(args.threads)

import numpy as np
from kugel.rings import Rings

ducc0 = side.rival("ducc0", args)


def unequal(nphi):
    nphi = np.asarray(nphi)
    return {"nphi": nphi, "phi0": np.full(nphi.size, 0.1), "first": np.cumsum(nphi) - nphi}


ROWS = {  # name: table of rings, mmax
    "HEALPix 256": (kugel.Grid.healpix(256).table(), 512),
    "HEALPix 1024": (kugel.Grid.healpix(1024).table(), 2048),
    "HEALPix 1024, high m": (kugel.Grid.healpix(1024).table(), 3071),
    "Gauss 1024 x 2048": (kugel.Grid.gauss(1024, 2048).table(), 1023),
    "Gauss 1024 x 2049": (kugel.Grid.gauss(1024, 2049).table(), 1023),
    "Gauss 1024 x 4096": (kugel.Grid.gauss(1024, 4096).table(), 1500),
    "octahedral O512": (unequal(np.r_[20:2068:4, 2064:16:-4]), 1023),
    "3, 4, 5 ... 2048": (unequal(np.arange(3, 2049)), 1000),
    "3, 5, 7 ... 2047": (unequal(np.arange(3, 2048, 2)), 1000),
}

table = side.Table(["rings", "mmax", "verb", "kugel ms", "ducc0 ms", "ducc0 / kugel", "largest difference"], args.json)
rng = np.random.default_rng(1)
for name, (rings, mmax) in ROWS.items():
    if args.only not in name:
        continue
    nphi = rings["nphi"]
    coef = rng.normal(size=(1, nphi.size, mmax + 1, 2)).view(np.complex128)[..., 0]
    coef[..., 0] = coef[..., 0].real
    plan = Rings(nphi, mmax, rings["phi0"], rings["first"])
    map, other = np.zeros((1, plan.npix)), np.zeros((1, plan.npix))
    back, other_back = np.empty_like(coef), np.empty_like(coef)
    tables = {"nphi": nphi.astype(np.uint64), "phi0": rings["phi0"], "ringstart": rings["first"].astype(np.uint64),
              "nthreads": args.threads}
    for verb, a, b, calls in (
            ("synthesis", map, other, {"kugel": lambda: plan.synthesis(coef, out=map),
                                       "ducc0": ducc0 and (lambda: ducc0.sht.leg2map(leg=coef, map=other, **tables))}),
            ("adjoint", back, other_back, {"kugel": lambda: plan.adjoint(map, out=back),
                                           "ducc0": ducc0 and (lambda: ducc0.sht.map2leg(map=map, leg=other_back, mmax=mmax, **tables))})):
        s = side.seconds(calls, args.reps, args.threads, 0.01)
        theirs = s.get("ducc0")
        table.row(name, mmax, verb, 1e3 * s["kugel"], theirs and 1e3 * theirs, theirs and theirs / s["kugel"],
                  theirs and float(np.max(np.abs(a - b)) / np.max(np.abs(b))))
