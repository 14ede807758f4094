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


def on_a_device():
    """The CPU's values, of an OpenCL device where there is one."""
    refused(2, "ball", "plot", "c.npy", "x.png", "--device", "cpu", says="--device goes with synthesis and analysis")
    devices = ok("info", "--json").json["devices"]
    if not any(d["name"] == "opencl:0" and d["available"] for d in devices):
        assert "opencl" not in os.environ.get("KUGEL_TEST_NEED", "").split(","), \
            "KUGEL_TEST_NEED names opencl, but opencl:0 is not usable here"
        raise Skip("no OpenCL device")
    c = coefficients("c.npy", row=3)
    grid = ["--nr", 15, "--ntheta", 12, "--nphi", 24]  # of tests/ball/gpu.c, whose kernels are there
    ok("ball", "synthesis", "c.npy", "f.npy", *grid, "--overwrite")
    r = ok("ball", "synthesis", "c.npy", "g.npy", *grid, "--device", "opencl:0", "--json")
    assert r.json["device"] == "opencl:0"
    ok("ball", "synthesis", "c.npy", "two.npy", *grid, "--device", "opencl:0,0")
    assert npyfile.read("two.npy")[1] == npyfile.read("g.npy")[1], "a device that counts as two"
    f, g = npyfile.read("f.npy")[1], npyfile.read("g.npy")[1]
    assert max(abs(a - b) for a, b in zip(f, g)) < 1e-13 * max(map(abs, f))
    ok("ball", "analysis", "g.npy", "back.npy", "--lmax", LMAX, "--n", N, "--device", "opencl:0", "--mem", "1G", "--overwrite")
    assert max(abs(a - b) for a, b in zip(npyfile.read("back.npy")[1], c)) < 1e-13


def memory():
    """Within a limit fields go in parts of the radii, with the same values; what does not fit is refused with what it needs."""
    lmax, n = 39, 30
    rows = (lmax + 1) * (lmax + 2) // 2
    c = [complex(i % 7 - 3, i % 5 - 2) if i % n < 8 else 0j for i in range(rows * n)]
    for l in range(lmax + 1):  # order 0 is real
        for i in range(n):
            c[l * (l + 1) // 2 * n + i] = complex(c[l * (l + 1) // 2 * n + i].real)
    npyfile.write("large.npy", (rows, n), c, "<c16")
    whole = ok("ball", "synthesis", "large.npy", "f.npy", "--mem", "1G", "--json").json
    parts = ok("ball", "synthesis", "large.npy", "g.npy", "--mem", "18.9M", "--json").json
    assert whole["parts"] == 1 and parts["parts"] > 1, (whole, parts)
    assert npyfile.read("f.npy")[1] == npyfile.read("g.npy")[1]
    analysis = ["ball", "analysis", "f.npy", "b.npy", "-l", lmax, "-N", n, "--mem", "18.9M"]
    dry = ok(*analysis, "--dry-run", "--json").json
    assert dry["parts"] > 1 and 18e6 < dry["expected_bytes"] <= 18.9e6, dry
    ok(*analysis)
    assert max(abs(x - y) for x, y in zip(npyfile.read("b.npy")[1], c)) < 1e-11
    refused(1, "ball", "synthesis", "large.npy", "x.npy", "--mem", "10M", says="of --mem 10 MB: allow more")
    refused(1, "ball", "synthesis", "large.npy", "x.npy", "--mem", "18.2M", says="of --mem 18.2 MB: ")
    refused(2, "ball", "spectrum", "large.npy", "x.npy", "--mem", "1G", says="--mem goes with synthesis and analysis")


def spin_components():
    """u_-1 = conj(u_1), u_0 = u_r, and sums of squares as of r, theta, phi; there and back."""
    c = coefficients("v.npy", row=4, vector=True)
    ok("ball", "synthesis", "v.npy", "s.npy", "--spin")
    ok("ball", "synthesis", "v.npy", "f.npy", "--vector")
    shape, s = npyfile.read("s.npy")[:2]
    other, f = npyfile.read("f.npy")[:2]
    count = len(f) // 3
    assert shape == other and max(abs(x) for x in s) > 0.1
    for i in range(0, count, 7):
        assert abs(s[i] - s[2 * count + i].conjugate()) == 0 and s[count + i] == f[i]
        assert abs(s[2 * count + i] - (f[count + i] + 1j * f[2 * count + i]) / math.sqrt(2)) < 1e-15
    ok("ball", "analysis", "s.npy", "back.npy", "--spin", "--lmax", LMAX, "--n", N)
    assert max(abs(a - b) for a, b in zip(npyfile.read("back.npy")[1], c)) < 1e-14
    refused(1, "ball", "analysis", "f.npy", "x.npy", "--spin", says="must be complex [..., 3, radii")
    refused(2, "ball", "spectrum", "v.npy", "x.npy", "--spin", says="--spin goes with synthesis and analysis")


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


def hdf5():
    """Files that say what they hold: no option is needed again, and those that contradict are refused; damaged ones too."""
    trapezoidal = ["--truncation", "trapezoidal", "--dmax", "7", "--type", "legendre"]
    c = coefficients("v.npy", row=4, vector=True)
    first = kugel("ball", "synthesis", "v.npy", "v.h5", "-v", *trapezoidal)
    if first.code and "KUGEL_HDF5" in first.err:
        raise Skip("built without libhdf5")
    assert first.code == 0, first
    ok("ball", "synthesis", "v.npy", "f.npy", "-v", *trapezoidal)
    f = npyfile.read("f.npy")[1]
    j = ok("ball", "analysis", "v.h5", "c.h5", "--json").json  # lmax, n, truncation, type and kind are the file's
    assert (j["lmax"], j["mmax"], j["n"]) == (LMAX, LMAX, N)
    ok("ball", "synthesis", "c.h5", "g.npy")
    assert max(abs(a - b) for a, b in zip(npyfile.read("g.npy")[1], f)) < 1e-14
    ok("ball", "synthesis", "c.h5", "s.h5", "--spin")
    ok("ball", "analysis", "s.h5", "back.npy")
    shape, back = npyfile.read("back.npy")[:2]
    assert shape == (3, ROWS, N) and max(abs(a - b) for a, b in zip(back, c)) < 1e-14
    ok("ball", "spectrum", "c.h5", "e.npy", "--axis", "n")
    ok("ball", "spectrum", "c.h5", "e.h5", "--axis", "n")
    ok("ball", "plot", "c.h5", "p.png", "--component", "phi", "--size", "100")
    refused(2, "ball", "synthesis", "c.h5", "x.npy", "--truncation", "triangular", says="says truncation trapezoidal")
    refused(2, "ball", "synthesis", "c.h5", "x.npy", "--type", "chebyshev", says="says type legendre")
    refused(2, "ball", "synthesis", "c.h5", "x.npy", "--dmax", "6", says="says dmax 7")
    refused(2, "ball", "synthesis", "c.h5", "x.npy", "--mmax", "2", says="says mmax 4")
    refused(2, "ball", "analysis", "v.h5", "x.npy", "--spin", says="says kind vector: --spin contradicts")
    refused(1, "ball", "synthesis", "v.h5", "x.npy", says='no dataset "coefficients"')
    refused(1, "ball", "analysis", "e.h5", "x.npy", says='no dataset "values"')
    with open("c.h5", "rb") as whole:
        text = whole.read()
    with open("short.h5", "wb") as part:
        part.write(text[:-100])
    refused(1, "ball", "synthesis", "short.h5", "x.npy", says="damaged or cut short")
    with open("text.h5", "w") as part:
        part.write("l m value")
    refused(1, "ball", "synthesis", "text.h5", "x.npy", says="is no HDF5 file")
    refused(1, "ball", "synthesis", "c.h5", "v.h5", says="exists")
    assert "x.npy" not in os.listdir(".") and not [n for n in os.listdir(".") if "kugel" in n]


def refusals():
    coefficients("c.npy")
    ok("ball", "synthesis", "c.npy", "f.npy")
    refused(2, "ball", "plott", "c.npy", "x.png", says="did you mean plot?")
    refused(2, "ball", "spectrum", "c.npy", "x.png", says="writes NPY or HDF5")
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


main([there_and_back, on_a_device, memory, spin_components, spectra, pictures, hdf5, refusals])
