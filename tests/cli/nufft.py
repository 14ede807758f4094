# SPDX-License-Identifier: BSD-3-Clause
"""kugel nufft on NPY arrays, against the defining sums."""
import cmath
import math
import random
import npyfile
from harness import *

random.seed(5)
M, N = 40, (6, 9)
X = [random.uniform(-9, 9) for _ in range(2 * M)]
C = [complex(random.uniform(-1, 1), random.uniform(-1, 1)) for _ in range(2 * M)]
MODES = [(a - N[0] // 2, b - N[1] // 2) for a in range(N[0]) for b in range(N[1])]


def close(got, want, eps):
    assert len(got) == len(want), (len(got), len(want))
    error = math.sqrt(sum(abs(g - w) ** 2 for g, w in zip(got, want)))
    assert error <= eps * math.sqrt(sum(abs(w) ** 2 for w in want)), error


def wave(k, j, sign=1, scale=1):
    return cmath.exp(1j * sign * scale * (k[0] * X[2 * j] + k[1] * X[2 * j + 1]))


def inputs():
    npyfile.write("x.npy", (M, 2), X)
    npyfile.write("c.npy", (2, M), C, "<c16")


def to_modes():
    inputs()
    j = ok("nufft", "x.npy", "c.npy", "f.npy", "--modes", "6,9", "--json").json
    assert j["status"] == "done" and j["output_shape"] == [2, 6, 9] and j["type"] == 1 and j["points"] == M
    want = [sum(C[row * M + i] * wave(k, i) for i in range(M)) for row in range(2) for k in MODES]
    close(npyfile.read("f.npy")[1], want, 1e-9)
    ok("nufft", "x.npy", "c.npy", "f.npy", "--modes", "6,9", "--eps", "1e-13", "-s", "minus", "--period", "2", "--overwrite")
    want = [sum(C[row * M + i] * wave(k, i, -1, math.pi) for i in range(M)) for row in range(2) for k in MODES]
    close(npyfile.read("f.npy")[1], want, 1e-12)
    npyfile.write("r.npy", (M,), [c.real for c in C[:M]], "<f4")
    ok("nufft", "x.npy", "r.npy", "r_f.npy", "--modes", "6,9", "--fft-order")
    shape, got, kind = npyfile.read("r_f.npy")
    order = sorted(range(len(MODES)), key=lambda i: tuple(k % n for k, n in zip(MODES[i], N)))
    close(got, [sum(C[i].real * wave(MODES[k], i) for i in range(M)) for k in order], 1e-6)
    assert kind == "<c8"


def to_points():
    inputs()
    f = [complex(random.uniform(-1, 1), random.uniform(-1, 1)) for _ in MODES]
    npyfile.write("f.npy", N, f, "<c16")
    ok("nufft", "x.npy", "f.npy", "v.npy", "--type", "2")
    close(npyfile.read("v.npy")[1], [sum(v * wave(k, i, -1) for k, v in zip(MODES, f)) for i in range(M)], 1e-9)


def to_frequencies():
    inputs()
    s = [random.uniform(-20, 20) for _ in range(2 * 15)]
    npyfile.write("s.npy", (15, 2), s)
    ok("nufft", "x.npy", "c.npy", "g.npy", "-t", "3", "-f", "s.npy", "-e", "1e-11")
    want = [sum(C[row * M + i] * wave(s[2 * k:2 * k + 2], i) for i in range(M)) for row in range(2) for k in range(15)]
    assert npyfile.read("g.npy")[0] == (2, 15)
    close(npyfile.read("g.npy")[1], want, 1e-11)


def wrong_words():
    inputs()
    run = ("nufft", "x.npy", "c.npy", "g.npy")
    refused(2, *run, says="--type 1 needs --modes")
    refused(2, *run, "--modes", "6", says="1 numbers, points have 2 dimensions")
    refused(2, *run, "-t", "2", "--modes", "6,6", says="--modes goes with --type 1")
    refused(2, *run, "-t", "3", says="needs --frequencies")
    refused(2, *run, "-t", "3", "-f", "x.npy", "--period", "1", says="do not go with --type 3")
    refused(1, "nufft", "c.npy", "c.npy", "g.npy", "--modes", "6,6", says="coordinates must be reals")
    refused(1, "nufft", "none.npy", "c.npy", "g.npy", "--modes", "6,6", says="none.npy")
    npyfile.write("few.npy", (3,), [1, 2, 3])
    refused(1, "nufft", "x.npy", "few.npy", "g.npy", "--modes", "6,6", says="3 values in a row")
    npyfile.write("bad.npy", (M, 2), [math.nan] * (2 * M))
    refused(1, "nufft", "bad.npy", "c.npy", "g.npy", "--modes", "6,6", says="coordinate 0 of point 0 is nan")
    npyfile.write("far.npy", (M, 2), [1e12 * v for v in X])
    refused(1, "nufft", "x.npy", "c.npy", "g.npy", "-t", "3", "-f", "far.npy", says="GB")
    assert not os.path.exists("g.npy")


main([to_modes, to_points, to_frequencies, wrong_words])
