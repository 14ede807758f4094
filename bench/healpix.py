# SPDX-License-Identifier: BSD-3-Clause
"""Pixel functions beside healpy: 10^7 points at nside 1024, one thread."""
import side

parser = side.options(__doc__, threads=False)
parser.add_argument("--points", type=int, default=10**7)
parser.add_argument("--nside", type=int, default=1024)
args = side.arguments(parser, points=1000, nside=16)
kugel = side.load(1)

import numpy as np

healpy = side.rival("healpy", args)

nside, n = args.nside, args.points
rng = np.random.default_rng(1)
z = rng.uniform(-1, 1, n)
theta, phi = np.arccos(z), rng.uniform(0, 2 * np.pi, n)
x, y = np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi)
pixels = rng.integers(0, 12 * nside**2, n)
sky = rng.normal(size=12 * nside**2)
centre = np.array([0.3, 0.4, 0.5])
few = pixels[:n // 10], theta[:n // 10], phi[:n // 10]

ROWS = {  # name: the same call of either package
    "ang2pix RING": lambda p: p.ang2pix(nside, theta, phi),
    "ang2pix NEST": lambda p: p.ang2pix(nside, theta, phi, nest=True),
    "pix2ang RING": lambda p: p.pix2ang(nside, pixels),
    "pix2ang NEST": lambda p: p.pix2ang(nside, pixels, nest=True),
    "vec2pix RING": lambda p: p.vec2pix(nside, x, y, z),
    "pix2vec RING": lambda p: p.pix2vec(nside, pixels),
    "ring2nest": lambda p: p.ring2nest(nside, pixels),
    "nest2ring": lambda p: p.nest2ring(nside, pixels),
    "reorder RING to NEST": lambda p: p.reorder(sky, r2n=True),
    "reorder NEST to RING": lambda p: p.reorder(sky, n2r=True),
    "ud_grade to nside / 4": lambda p: p.ud_grade(sky, nside // 4),
    "ud_grade to 2 nside": lambda p: p.ud_grade(sky, 2 * nside),
    "query_disc 1 rad": lambda p: p.query_disc(nside, centre, 1.0),
    "query_disc 1 rad inclusive": lambda p: p.query_disc(nside, centre, 1.0, inclusive=True),
    "query_disc 1 deg": lambda p: p.query_disc(nside, centre, 0.0175),
    "neighbours, a tenth": lambda p: p.get_all_neighbours(nside, few[0]),
    "interpolation weights, a tenth": lambda p: p.get_interp_weights(nside, few[1], few[2]),
    "interpolated values, a tenth": lambda p: p.get_interp_val(sky, few[1], few[2]),
}


def difference(a, b):
    """"equal", the greatest absolute difference, or the lengths where they differ (inclusive queries may)."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return f"{a.size} and {b.size} pixels"
    if np.array_equal(a, b):
        return "equal"
    if a.dtype.kind == "i":
        return f"{int((a != b).sum())} differ"
    return float(np.abs(a - b).max())


table = side.Table(["function", "kugel ms", "healpy ms", "healpy / kugel", "difference"], args.json)
for name, call in ROWS.items():
    if args.only not in name:
        continue
    s = side.seconds({"kugel": lambda: call(kugel), "healpy": healpy and (lambda: call(healpy))}, args.reps, 1,
                     0 if args.smoke else 0.02)
    if healpy:
        table.row(name, 1e3 * s["kugel"], 1e3 * s["healpy"], s["healpy"] / s["kugel"], difference(call(kugel), call(healpy)))
    else:
        table.row(name, 1e3 * s["kugel"], None, None, None)
