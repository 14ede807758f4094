# SPDX-License-Identifier: BSD-3-Clause
"""kugel fft on NPY arrays, against the defining sums."""
import cmath
import decimal
import math
import random
import npyfile
from harness import *

random.seed(3)


def numbers(count, of=float):
    return [random.uniform(-1, 1) + (1j * random.uniform(-1, 1) if of is complex else 0) for _ in range(count)]


def close(got, want, eps=1e-14):
    assert len(got) == len(want), (len(got), len(want))
    size = math.sqrt(sum(abs(w) ** 2 for w in want))
    error = math.sqrt(sum(abs(g - w) ** 2 for g, w in zip(got, want)))
    assert error <= eps * size, error / size


def dft(x, sign=-1):
    n = len(x)
    return [sum(v * cmath.exp(sign * 2j * math.pi * (j * k % n) / n) for j, v in enumerate(x)) for k in range(n)]


def dft2(x, rows, columns):
    x = [v for r in range(rows) for v in dft(x[r * columns:(r + 1) * columns])]
    y = [dft(x[c::columns]) for c in range(columns)]
    return [y[c][r] for r in range(rows) for c in range(columns)]


def complex_to_complex():
    x = numbers(30, complex)
    npyfile.write("x.npy", (5, 6), x, "<c16")
    j = ok("fft", "x.npy", "y.npy", "--json").json
    assert j["status"] == "done" and j["output_shape"] == [5, 6] and j["output_type"] == "complex128"
    assert j["device"] == "cpu" and j["kind"] == "c2c" and j["seconds"]["transform"] >= 0
    close(npyfile.read("y.npy")[1], dft2(x, 5, 6))
    ok("fft", "y.npy", "z.npy", "--inverse")
    close(npyfile.read("z.npy")[1], x)
    ok("fft", "x.npy", "y.npy", "--axes", "-1", "--overwrite")
    close(npyfile.read("y.npy")[1], [v for r in range(5) for v in dft(x[6 * r:6 * r + 6])])
    for norm, factor in (("ortho", 30 ** -0.5), ("forward", 1 / 30)):
        ok("fft", "x.npy", "y.npy", "--norm", norm, "--overwrite")
        close(npyfile.read("y.npy")[1], [factor * v for v in dft2(x, 5, 6)])
        ok("fft", "y.npy", "z.npy", "--norm", norm, "-i", "--overwrite")
        close(npyfile.read("z.npy")[1], x)


def types():
    x = numbers(12)
    for dtype, eps, out in (("<f8", 1e-14, "<c16"), ("<f4", 1e-6, "<c8")):
        npyfile.write("x.npy", (12,), x, dtype)
        ok("fft", "x.npy", "y.npy", "--overwrite")
        assert npyfile.read("y.npy")[2] == out
        close(npyfile.read("y.npy")[1], dft(x), eps)
    ok("fft", "x.npy", "y.npy", "--overwrite", "--precision", "f64")
    assert npyfile.read("y.npy")[2] == "<c16"
    npyfile.write("i.npy", (4,), [1, 2, 3, 4], "<i4")
    ok("fft", "i.npy", "y.npy", "--overwrite", "--precision", "f32")
    assert npyfile.read("y.npy")[2] == "<c8" and npyfile.read("y.npy")[1] == [10, -2 + 2j, -2, -2 - 2j]


def halves():
    """Reals are float16[...], complex numbers float16[..., 2]."""
    x = [round(16 * v) / 16 for v in numbers(24)]
    npyfile.write("x.npy", (12, 2), x, "<f2")
    z = [complex(*x[i:i + 2]) for i in range(0, 24, 2)]
    j = ok("fft", "x.npy", "y.npy", "--norm", "ortho", "--json", "--overwrite").json
    assert j["output_shape"] == [12, 2] and j["output_type"] == "float16"
    shape, y, dtype = npyfile.read("y.npy")
    assert shape == (12, 2) and dtype == "<f2"
    close([complex(*y[i:i + 2]) for i in range(0, 24, 2)], [v / 12 ** .5 for v in dft(z)], 5e-4)
    npyfile.write("x.npy", (2, 12), x, "<f2")
    ok("fft", "x.npy", "y.npy", "-p", "half", "-k", "r2c", "-a", "1", "--norm", "ortho", "--overwrite")
    assert npyfile.read("y.npy")[0] == (2, 7, 2)
    ok("fft", "y.npy", "z.npy", "-k", "r2c", "-i", "-a", "1", "--norm", "ortho", "--overwrite")
    close(npyfile.read("z.npy")[1], x, 1e-3)
    for kind in ("dct1", "dct2", "dct3", "dst2", "dst3", "dst4"):  # orthogonal: the inverse undoes, and lengths stay
        ok("fft", "x.npy", "y.npy", "-k", kind, "--norm", "ortho", "--overwrite")
        ok("fft", "y.npy", "z.npy", "-k", kind, "-i", "--norm", "ortho", "--overwrite")
        shape, y, _ = npyfile.read("y.npy")
        assert shape == (2, 12) and abs(sum(v * v for v in y) / sum(v * v for v in x) - 1) < 5e-3
        close(npyfile.read("z.npy")[1], x, 2e-3)


def double_doubles():
    """The last axis holds high and low parts."""
    D, n = decimal.Decimal, 8
    with decimal.localcontext() as c:
        c.prec = 50
        root = D("0.5").sqrt()
        cosine = [D(1), root, D(0), -root, D(-1), -root, D(0), root]
        x = [part for v in numbers(n) for part in (v, 1e-17 * random.uniform(-1, 1))]
        exact = [D(x[i]) + D(x[i + 1]) for i in range(0, 2 * n, 2)]
        want = [sum(exact[j] * cosine[j * k % 8] for j in range(n)) for k in range(n)]

        def wide(y, part):
            return [D(getattr(y[i], part)) + D(getattr(y[i + 1], part)) for i in range(0, len(y), 2)]
        npyfile.write("x.npy", (n, 2), x)
        ok("fft", "x.npy", "y.npy", "-p", "dd", "--overwrite")
        shape, y, dtype = npyfile.read("y.npy")
        assert shape == (n, 2) and dtype == "<c16"
        assert max(abs(a - b) for a, b in zip(wide(y, "real"), want)) < D("1e-30")
        ok("fft", "x.npy", "y.npy", "-p", "dd", "-k", "r2c", "--norm", "ortho", "--overwrite")
        shape, y, _ = npyfile.read("y.npy")
        assert shape == (5, 2)
        assert max(abs(a - b / D(8).sqrt()) for a, b in zip(wide(y, "real"), want)) < D("1e-30")
        ok("fft", "y.npy", "z.npy", "-p", "dd", "-k", "r2c", "-i", "--norm", "ortho", "--overwrite")
        assert max(abs(a - b) for a, b in zip(wide(npyfile.read("z.npy")[1], "real"), exact)) < D("1e-30")
        for kind in ("dct1", "dct2", "dct3", "dst1", "dst2", "dst3", "dct4"):
            ok("fft", "x.npy", "y.npy", "-p", "dd", "-k", kind, "--norm", "ortho", "--overwrite")
            ok("fft", "y.npy", "z.npy", "-p", "dd", "-k", kind, "-i", "--norm", "ortho", "--overwrite")
            shape, y, dtype = npyfile.read("y.npy")
            assert shape == (n, 2) and dtype == "<f8"
            assert abs(sum(v * v for v in wide(y, "real")) - sum(v * v for v in exact)) < D("1e-29")
            assert max(abs(a - b) for a, b in zip(wide(npyfile.read("z.npy")[1], "real"), exact)) < D("1e-30")


def real_to_complex():
    for n in (7, 8):
        x = numbers(3 * n)
        npyfile.write("x.npy", (3, n), x)
        ok("fft", "x.npy", "y.npy", "--kind", "r2c", "--axes", "1", "--overwrite")
        shape, y, _ = npyfile.read("y.npy")
        assert shape == (3, n // 2 + 1)
        close(y, [v for r in range(3) for v in dft(x[n * r:n * r + n])[:n // 2 + 1]])
        ok("fft", "y.npy", "z.npy", "-k", "r2c", "-i", "-a", "1", "--length", n, "--overwrite")
        close(npyfile.read("z.npy")[1], x)
    ok("fft", "y.npy", "z.npy", "-k", "r2c", "-i", "-a", "1", "--overwrite")
    close(npyfile.read("z.npy")[1], x)
    ok("fft", "x.npy", "y.npy", "-k", "r2c", "-a", "1,0", "--overwrite")
    assert npyfile.read("y.npy")[0] == (2, 8)
    ok("fft", "y.npy", "z.npy", "-k", "r2c", "-i", "-a", "1,0", "-l", "3", "--overwrite")
    close(npyfile.read("z.npy")[1], x)


def cosines_and_sines():
    n = 6
    x = numbers(2 * n)
    npyfile.write("x.npy", (2, n), x)
    ok("fft", "x.npy", "y.npy", "--kind", "dct2", "--axes", "1")
    close(npyfile.read("y.npy")[1], [2 * sum(x[n * r + j] * math.cos(math.pi * (j + .5) * k / n) for j in range(n))
                                     for r in range(2) for k in range(n)])
    for kind in [f"{c}{i}" for c in ("dct", "dst") for i in (1, 2, 3, 4)]:
        for norm in ("backward", "ortho"):
            ok("fft", "x.npy", "y.npy", "-k", kind, "--norm", norm, "--overwrite")
            ok("fft", "y.npy", "z.npy", "-k", kind, "--norm", norm, "-i", "--overwrite")
            close(npyfile.read("z.npy")[1], x)
            if norm == "ortho":
                y = npyfile.read("y.npy")[1]
                assert math.isclose(sum(v * v for v in y), sum(v * v for v in x), rel_tol=1e-13), kind


def with_kernels():
    """Names of this machine's devices that run kernels."""
    return [d["name"] for d in ok("info", "--json").json["devices"] if d["kernels"]]


def devices():
    names = with_kernels()
    if not names:
        raise Skip("no device runs kernels")
    x = numbers(60, complex)
    npyfile.write("x.npy", (5, 12), x, "<c8")
    for name in names:
        assert ok("fft", "x.npy", "y.npy", "--device", name, "--json", "--overwrite").json["device"] == name
        ok("fft", "x.npy", "z.npy", "-a", "1", "--device", name, "--effort", "measure", "--overwrite")
        close(npyfile.read("y.npy")[1], dft2(x, 5, 12), 1e-6)
    rows, n = 300, 256  # 1.2 MB of complex doubles
    npyfile.write("x.npy", (rows, n), numbers(rows * n, complex), "<c16")
    for name in names:
        ok("fft", "x.npy", "y.npy", "-a", "1", "--device", name, "--overwrite")
        ok("fft", "x.npy", "z.npy", "-a", "1", "--device", name, "--mem", "1M", "--overwrite")
        assert npyfile.read("y.npy") == npyfile.read("z.npy"), "some rows at a time, the same bits"
        refused(1, "fft", "x.npy", "w.npy", "--device", name, "--mem", "1M", says="limit is 1000000")


def memory():
    """On the CPU the arrays must fit."""
    npyfile.write("x.npy", (300, 256), numbers(300 * 256), "<f8")
    r = refused(1, "fft", "x.npy", "y.npy", "--mem", "10M", says="allow more")
    assert "--mem is 10 MB" in r.err and "take 18.5 MB" in r.err, r
    assert not os.path.exists("y.npy")
    ok("fft", "x.npy", "y.npy", "--mem", "20M")


def print_kernel():
    names = with_kernels()
    refused(2, "fft", "--print-kernel", "--shape", "16", says="add --device")
    if not names:
        raise Skip("no device runs kernels")
    words = ["fft", "--print-kernel", "--shape", "10,100000", "--axes", "1", "--precision", "f32", "--device", names[0]]
    text = ok(*words).out
    assert text.count("KERNEL(") == 2 and text.startswith("// ") and "points: stages of" in text
    assert "\n".join(ok(*words, "--json").json["kernels"]) == text
    assert ok(*words, "--inverse").out != text
    npyfile.write("x.npy", (3, 64), numbers(192))
    assert "// 64 points" in ok("fft", "x.npy", "-a", "1", "--print-kernel", "--device", names[0]).out


def wrong_words():
    npyfile.write("x.npy", (3, 4), numbers(12))
    npyfile.write("c.npy", (3, 4), numbers(12, complex), "<c16")
    refused(2, "fft", says="INPUT is missing")
    refused(2, "fft", "x.npy", says="OUTPUT is missing")
    refused(2, "fft", "x.npy", "y.npy", "--convolve", "x.npy", says="unknown option --convolve")
    refused(2, "fft", "x.npy", "y.npy", "--axes", "2", says="axis 2, but the array has 2 dimensions")
    refused(2, "fft", "x.npy", "y.npy", "--axes", "0,-2", says="axis -2 twice")
    refused(2, "fft", "x.npy", "y.npy", "--axes", "0,x", says="needs whole numbers with commas between")
    refused(2, "fft", "x.npy", "y.npy", "--kind", "dct5", says="did you mean")
    refused(2, "fft", "x.npy", "y.npy", "--length", "5", says="--length goes with")
    refused(2, "fft", "c.npy", "y.npy", "-k", "r2c", "-i", "-l", "9", says="give --length")
    refused(2, "fft", "x.npy", "y.npy", "--shape", "4", says="--shape goes with --print-kernel")
    refused(2, "fft", "--print-kernel", "--shape", "0", "--device", "opencl:0", says="extents must be from 1")
    refused(1, "fft", "c.npy", "y.npy", "-k", "dct2", says="c.npy holds complex numbers, dct2 takes reals")
    refused(1, "fft", "none.npy", "y.npy", says="none.npy")
    refused(1, "fft", "x.npy", "y.npy", "--device", "tpu:0", says="tpu:0")
    refused(1, "fft", "x.npy", "y.npy", "-p", "dd", says="no last axis of 2")
    refused(1, "fft", "x.npy", "y.npy", "-p", "half", says="x.npy holds no halves")
    npyfile.write("h.npy", (4,), [1, 2, 3, 4], "<f2")
    refused(1, "fft", "h.npy", "y.npy", says="no last axis of 2, for real and imaginary parts")
    refused(1, "fft", "h.npy", "y.npy", "-p", "f32", says="h.npy holds halves")
    npyfile.write("e.npy", (0, 4), [])
    refused(1, "fft", "e.npy", "y.npy", says="e.npy is empty")
    assert not os.path.exists("y.npy")


main([memory, complex_to_complex, types, halves, double_doubles, real_to_complex, cosines_and_sines, devices, print_kernel, wrong_words])
