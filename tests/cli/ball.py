# SPDX-License-Identifier: BSD-3-Clause
"""kugel ball on NPY arrays: a solid harmonic there and back, its energy, its pictures."""
import math
import os
import npyfile
from harness import *

LMAX, N = 4, 3
ROWS = (LMAX + 1) * (LMAX + 2) // 2


def coefficients(path, row=1, type="<c16", vector=False):
    """The function W_0^1 Y_10, r cos(theta) times sqrt(4 / pi) sqrt(3 / (4 pi)), or its like in another row."""
    c = [0j] * (ROWS * N * (3 if vector else 1))
    c[row * N] = 1 + 0j
    npyfile.write(path, ((3,) if vector else ()) + (ROWS, N), c, type)
    return c


def there_and_back():
    c = coefficients("c.npy")
    j = ok("ball", "synthesis", "c.npy", "f.npy", "--json").json
    assert j["command"] == "ball" and j["verb"] == "synthesis" and (j["lmax"], j["mmax"], j["n"]) == (LMAX, LMAX, N)
    shape, f = npyfile.read("f.npy")[:2]
    nr, ntheta, nphi = shape
    assert ntheta == LMAX + 1 and nphi >= 2 * LMAX + 1 and nr >= N + LMAX // 2
    for k in range(nr):
        r = math.cos(math.pi * (2 * k + 1) / (4 * nr))
        north = f[k * ntheta * nphi]
        other = f[(k + 1) * ntheta * nphi - 1]
        assert abs(north + other) < 1e-14 and north > 0, "odd about the equator"
        first = f[0] / math.cos(math.pi / (4 * nr))
        assert abs(north / r - first) < 1e-14, "linear in r"
    ok("ball", "analysis", "f.npy", "back.npy", "--lmax", LMAX, "--n", N)
    shape, back = npyfile.read("back.npy")[:2]
    assert shape == (ROWS, N) and max(abs(a - b) for a, b in zip(back, c)) < 1e-14


def spectra():
    """The integral of (r cos(theta))^2 over the ball is 4 pi / 15; W_0^1 = r sqrt(4 / pi)."""
    coefficients("c.npy")
    want = 4 / math.pi * 3 / (4 * math.pi) * 4 * math.pi / 15
    for axis, at, count in (("l", 1, LMAX + 1), ("m", 0, LMAX + 1), ("n", 0, N)):
        ok("ball", "spectrum", "c.npy", "e.npy", "--axis", axis, "--overwrite")
        shape, e = npyfile.read("e.npy")[:2]
        assert shape == (count,) and abs(e[at] / want - 1) < 1e-14 and abs(sum(e) / want - 1) < 1e-14


def pictures():
    coefficients("c.npy")
    coefficients("v.npy", vector=True)
    coefficients("s.npy", type="<c8")
    for name, words in (("c", []), ("s", ["--cut", "meridional", "--longitude", "30deg"]),
                        ("v", ["-v", "--component", "phi", "-c", "surface", "-r", "0.5", "-p", "orthographic"])):
        ok("ball", "plot", f"{name}.npy", "p.png", "--size", "200", "--overwrite", *words)
        with open("p.png", "rb") as f:
            assert f.read(8) == b"\x89PNG\r\n\x1a\n"
    j = ok("ball", "plot", "c.npy", "q.png", "--cut", "meridional", "--size", "200", "--json").json
    assert abs(j["max"] - math.sqrt(3) / math.pi) < 0.01 and j["min"] == -j["max"]


def refusals():
    coefficients("c.npy")
    ok("ball", "synthesis", "c.npy", "f.npy")
    refused(2, "ball", "plott", "c.npy", "x.png", says="did you mean plot?")
    refused(2, "ball", "spectrum", "c.npy", "x.png", says="writes NPY")
    refused(1, "ball", "synthesis", "f.npy", "x.npy", says="must be complex")
    refused(1, "ball", "analysis", "c.npy", "x.npy", says="must be real")
    refused(1, "ball", "synthesis", "c.npy", "x.npy", "-v", says="must be complex [..., 3,")
    refused(2, "ball", "synthesis", "c.npy", "x.npy", "--mmax", "3", says="give")
    refused(2, "ball", "synthesis", "c.npy", "x.npy", "--lmax", "3", says="go with analysis")
    refused(2, "ball", "plot", "c.npy", "x.png", "--radius", "0.5", says="--cut surface")
    refused(2, "ball", "synthesis", "c.npy", "x.npy", "--truncation", "trapezoidal", says="--dmax")
    refused(1, "ball", "synthesis", "c.npy", "x.npy", "--truncation", "trapezoidal", "--dmax", "3", says="must be lmax = 4")
    refused(1, "ball", "synthesis", "c.npy", "x.npy", "--nr", "2", says="nr is 2, must be 0 or 5")
    refused(1, "ball", "synthesis", "c.npy", "f.npy", says="exists")
    assert sorted(os.listdir(".")) == ["c.npy", "f.npy"]


main([there_and_back, spectra, pictures, refusals])
