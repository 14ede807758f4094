# SPDX-License-Identifier: BSD-3-Clause
"""Batched FFTs in double precision beside FFTW planned with FFTW_MEASURE (by pyFFTW), one thread."""
import math

import side

parser = side.options(__doc__, threads=False, only=False)
parser.add_argument("--points", type=int, default=2**18, help="points per batch, at least one transform")
parser.add_argument("--lengths", type=int, nargs="*", help="these lengths only")
parser.add_argument("--family", default="", help="one of 2, 3, 5, 7, prime, cube")
args = side.arguments(parser, points=4096, lengths=[32, 243, 61, 4099])
kugel = side.load(1)

import numpy as np

pyfftw = side.rival("pyfftw", args)
import kugel.fft

FAMILIES = {"2": [2**k for k in range(5, 21)], "3": [3**k for k in range(3, 13)], "5": [5**k for k in range(2, 9)],
            "7": [7**k for k in range(2, 8)], "prime": [31, 61, 97, 127, 251, 509, 1021, 2039, 4093, 7919]}
rng = np.random.default_rng(1)
table = side.Table(["length", "batch", "kind", "kugel us", "FFTW us", "FFTW / kugel", "rel. L2 difference"], args.json)
ratios = []


def measure(lengths, batch, kind):
    shape = (batch,) + lengths
    half = lengths[:-1] + (lengths[-1] // 2 + 1,)
    real = kind == "R2C"
    empty = pyfftw.empty_aligned if pyfftw else np.empty
    x = empty(shape, "float64" if real else "complex128")
    y = empty((batch,) + half if real else shape, "complex128")
    axes = tuple(range(1, len(shape)))
    rival = pyfftw and pyfftw.FFTW(x, y, axes=axes, flags=("FFTW_MEASURE",), threads=1)
    x[:] = rng.normal(size=shape)
    if not real:
        x.imag = rng.normal(size=shape)
    mine = empty(y.shape, "complex128")
    plan = kugel.fft.Plan(lengths, "r2c" if real else "c2c")
    s = side.seconds({"kugel": lambda: plan.forward(x, mine),
                      "FFTW": rival and rival.execute}, args.reps, 1, 0 if args.smoke else 0.01)
    if not rival:
        table.row("x".join(map(str, lengths)), batch, kind, 1e6 * s["kugel"] / batch, None, None, None)
        return
    ratios.append(s["FFTW"] / s["kugel"])
    table.row("x".join(map(str, lengths)), batch, kind, 1e6 * s["kugel"] / batch, 1e6 * s["FFTW"] / batch, ratios[-1],
              float(np.linalg.norm(mine - y) / np.linalg.norm(y)))


if args.family == "cube":
    cases = [((32, 32, 32) if args.smoke else (256, 256, 256), 1)]
else:
    lengths = args.lengths or [n for f, group in FAMILIES.items() if args.family in ("", f) for n in group]
    cases = [((n,), max(1, args.points // n)) for n in lengths]
for shape, batch in cases:
    for kind in ("C2C", "R2C"):
        measure(shape, batch, kind)
if ratios and not args.json:
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"\nGeometric mean of FFTW / kugel {mean:.2f}, least {min(ratios):.2f}")
