#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Precision, parts and speed of convolutions of volumes: the measurements of Karas and Svoboda (2011) anew, for docs/volume.md.

usage: bench/volume_figures.py [--threads 2] [--reps 5] [--full] [--device cuda:0] [--out docs/images] [--json] [--smoke]

Precision (their tables 6 and 7): the largest difference from exact sums in grey levels, of an image of 11 bits in 16 and a kernel divided by its
sum. Image and kernel are integers, so that sums in 64-bit integers are exact; 400 results at random places and the eight corners are compared. Parts (their figure
9): time against the number of parts P, where real data in P parts of the frequencies are P / 2 complex problems here, and the split of the
time into steps, which the public pieces do one after another: padding, kugel_dif_decompose, twist and transforms, kugel_dif_compose. Speed (their
figure 8): voxels of results per second beside other libraries on the same machine, each image padded as each library does it.

Sizes are those of a laptop; --full has theirs, up to 512 x 1024 x 1024 and 16 parts (24 GB of memory). --device adds plans on that device to precision and speed. --out
draws volume_precision.png, volume_parts.png and volume_speed.png there, which needs matplotlib; without it, numbers only.
"""
import ctypes
import importlib.util
import pathlib
import statistics
import time

import numpy as np
import side

PLACES = 400


def sizes(args):
    """Results z, y, x of each measurement: powers of two and others, among them a prime as in the paper."""
    if args.smoke:
        return {"precision": [(8, 16, 16), (7, 13, 17)], "kernel": (3, 5, 5), "parts": (8, 16, 32), "speed": [(8, 16, 16), (9, 20, 20)]}
    precision = [(16, 64, 64), (32, 128, 128), (64, 256, 256), (25, 90, 90), (31, 127, 127), (50, 257, 257)]
    speed = [(16, 128, 128), (32, 128, 128), (32, 256, 256), (64, 256, 256), (64, 360, 360)]
    if not args.full:
        return {"precision": precision, "kernel": (17, 33, 33), "parts": (64, 256, 256), "speed": speed}
    return {"precision": precision + [(128, 512, 512), (100, 1000, 1000)], "kernel": (33, 65, 65), "parts": (96, 576, 576),
            "speed": speed + [(96, 576, 576), (100, 1000, 1000), (256, 1024, 1024), (512, 1024, 1024)]}


def word(shape):
    return "x".join(map(str, shape))


def pair(shape, kernel):
    """An image and a kernel of integers: photons on a background, and a peak."""
    rng = np.random.default_rng(int(np.prod(shape)))
    x = rng.poisson(100 + 1900 * rng.random(shape) ** 8).clip(0, 2047).astype(np.uint16)
    k = tuple(min(a, b) for a, b in zip(kernel, shape))
    r2 = sum(((np.arange(n) - (n - 1) // 2) / (n / 5)).reshape([-1 if d == e else 1 for e in range(3)]) ** 2 for d, n in enumerate(k))
    return x, np.rint(1000 * np.exp(-r2 / 2)).astype(np.int32) + rng.integers(0, 3, k, dtype=np.int32)


def exact(x, h, places):
    """Sums in integers at these places, mode "same"."""
    centre = [(k - 1) // 2 for k in h.shape]
    wide = np.pad(x, [(k - 1 - c, c) for k, c in zip(h.shape, centre)]).astype(np.int64)
    back = h[::-1, ::-1, ::-1].astype(np.int64)
    return np.array([(wide[tuple(slice(p, p + k) for p, k in zip(at, h.shape))] * back).sum() for at in places])


def scipy_same(x, h, dtype):
    """What scipy.signal.fftconvolve computes, of lengths that are not padded any further, as in the paper."""
    import scipy.fft as sf
    full = [a + b - 1 for a, b in zip(x.shape, h.shape)]
    y = sf.irfftn(sf.rfftn(x.astype(dtype), full) * sf.rfftn((h / h.sum()).astype(dtype), full), full)
    return y[tuple(slice((k - 1) // 2, (k - 1) // 2 + n) for n, k in zip(x.shape, h.shape))]


def precision(kugel, args, table):
    """{name: errors of each size}; parts: {parts: errors}."""
    size = sizes(args)
    curves = {}
    has_scipy = importlib.util.find_spec("scipy") is not None
    for shape in size["precision"]:
        x, h = pair(shape, size["kernel"])
        rng = np.random.default_rng(3)
        places = np.stack([rng.integers(0, n, PLACES) for n in shape], axis=1)
        corners = [[(n - 1) * (i >> d & 1) for d, n in enumerate(shape)] for i in range(8)]
        places = np.concatenate([places, corners])
        truth, total = exact(x, h, places), float(h.sum())
        for bits in 32, 64:
            dtype, runs = f"float{bits}", {}
            for parts in 2, 4, 8, 16:  # of the frequencies: parts / 2 complex problems
                how = {"engine": "dif", "parts": parts // 2} if parts > 2 else {}
                runs[f"kugel, P = {parts}"] = lambda how=how, dtype=dtype: kugel.volume.Convolution(shape, h, dtype=dtype, precision=dtype, scale=1 / total, **how)(x)
            if args.device:
                runs[f"kugel, {args.device}"] = lambda dtype=dtype: kugel.volume.Convolution(shape, h, dtype=dtype, precision=dtype, scale=1 / total, device=args.device)(x)
            if has_scipy:
                runs["scipy.fft"] = lambda dtype=dtype: scipy_same(x, h, dtype)
            for name, run in runs.items():
                y = np.asarray(run())
                error = float(np.abs(y[tuple(places.T)].astype(np.longdouble) - truth / np.longdouble(total)).max())
                curves.setdefault((name, bits), []).append(error)
                table.row("precision", word(shape), f"{name}, {dtype}", error)
    return curves


class Pieces:
    """The half-shifted decomposition from public pieces, steps timed: axis 0 in `parts` / 2 complex problems."""

    def __init__(self, kugel, x, h, parts):
        self.fft, self.x, self.parts = kugel.fft, x, parts // 2
        from kugel._lib import lib, view
        self.lib, self.view = lib, view
        self.centre = [(k - 1) // 2 for k in h.shape]
        full = [a + b - 1 for a, b in zip(x.shape, h.shape)]
        self.n = lib.kugel_dif_length(full[0], self.parts)
        self.plane = [kugel.fft.next_fast_len(n) for n in full[1:]]
        self.steps = {}
        self.spectra = [self.transform(p, self.pieces(h), True) for p in range(self.parts)]

    def timed(self, step, call):
        start = time.perf_counter()
        result = call()
        self.steps[step] = self.steps.get(step, 0) + time.perf_counter() - start
        return result

    def pad(self, x):
        wide = np.zeros((self.n, *self.plane), np.float32)
        wide[tuple(slice(n) for n in x.shape)] = x
        return wide

    def pieces(self, x):
        wide = self.timed("pad", lambda: self.pad(x))
        self.timed("decompose", lambda: self.lib.kugel_dif_decompose(None, self.parts, self.view(wide)))
        return wide.reshape(2 * self.parts, -1, *self.plane)

    def twist(self, p):
        t = np.empty(self.n // (2 * self.parts), complex)
        self.lib.kugel_dif_twist(self.n, self.parts, p, t.ctypes.data_as(ctypes.POINTER(ctypes.c_double)))
        return t.astype(np.complex64)[:, None, None]

    def transform(self, p, slabs, forward):
        c = np.empty(slabs.shape[1:], np.complex64)
        c.real, c.imag = slabs[2 * p], slabs[2 * p + 1]
        c *= self.twist(p)
        return self.fft.fftn(c, overwrite_x=True)

    def part(self, p, slabs):
        c = self.transform(p, slabs, True)
        c *= self.spectra[p]
        c = self.fft.ifftn(c, overwrite_x=True)
        c *= self.twist(p).conj()
        slabs[2 * p], slabs[2 * p + 1] = c.real, c.imag

    def __call__(self):
        self.steps = {}
        slabs = self.pieces(self.x)
        for p in range(self.parts):
            self.timed("transforms", lambda p=p: self.part(p, slabs))
        wide = slabs.reshape(self.n, *self.plane)
        self.timed("compose", lambda: self.lib.kugel_dif_compose(None, self.parts, self.view(wide)))
        return self.timed("crop", lambda: wide[tuple(slice(c, c + n) for c, n in zip(self.centre, self.x.shape))].copy())


def parts(kugel, args, table):
    """{parts: (milliseconds of the engine, {step: milliseconds of the pieces})}, interleaved medians."""
    size = sizes(args)
    x, h = pair(size["parts"], size["kernel"])
    x, h = x.astype(np.float32), (h / h.sum()).astype(np.float32)
    numbers = (2, 4, 8, 16) if not args.smoke else (2, 4)
    engine = {p: kugel.volume.Convolution(x.shape, h, **({"engine": "dif", "parts": p // 2} if p > 2 else {"engine": "resident"})) for p in numbers}
    pieces = {p: Pieces(kugel, x, h, p) for p in numbers}
    truth = engine[2](x)
    times, steps = {p: [] for p in numbers}, {p: [] for p in numbers}
    for _ in range(args.reps):
        for p in numbers:
            start = time.perf_counter()
            y = engine[p](x)
            times[p].append(time.perf_counter() - start)
            assert np.abs(y - truth).max() <= 1e-5 * np.abs(truth).max(), p
            y = pieces[p]()
            steps[p].append(pieces[p].steps)
            assert np.abs(y - truth).max() <= 1e-5 * np.abs(truth).max(), p
    found = {}
    for p in numbers:
        split = {s: 1e3 * statistics.median(r[s] for r in steps[p]) for s in steps[p][0]}
        found[p] = 1e3 * statistics.median(times[p]), split
        table.row("parts", word(x.shape), f"P = {p}: engine, ms", found[p][0])
        for s, t in split.items():
            table.row("parts", word(x.shape), f"P = {p}: {s}, ms", t)
    return found


def rivals(x, h, threads):
    """{name: function}: the kernel's spectrum was computed before."""
    found, full = {}, [a + b - 1 for a, b in zip(x.shape, h.shape)]
    crop = tuple(slice((k - 1) // 2, (k - 1) // 2 + n) for n, k in zip(x.shape, h.shape))
    try:
        import scipy.fft as sf
        fast = [sf.next_fast_len(n, True) for n in full]
        kept = sf.rfftn(h, fast, workers=threads)
        found["scipy.fft"] = lambda: sf.irfftn(sf.rfftn(x, fast, workers=threads) * kept, fast, workers=threads)[crop]
    except ImportError:
        pass
    try:
        import pyfftw
        size = [pyfftw.next_fast_len(n) for n in full]
        a, b = pyfftw.zeros_aligned(size, "float32"), pyfftw.empty_aligned((*size[:2], size[2] // 2 + 1), "complex64")
        forward = pyfftw.FFTW(a, b, axes=(0, 1, 2), threads=threads, flags=("FFTW_MEASURE",))
        backward = pyfftw.FFTW(b, a, axes=(0, 1, 2), threads=threads, direction="FFTW_BACKWARD", flags=("FFTW_MEASURE", "FFTW_DESTROY_INPUT"))

        def load(values):
            a[...] = 0
            a[tuple(slice(n) for n in values.shape)] = values
        load(h)
        spectrum = forward().copy() / np.prod(size, dtype=np.float32)

        def run():
            load(x)
            forward()
            np.multiply(b, spectrum, out=b)
            backward.execute()
            return a[crop].copy()
        found["FFTW, measured"] = run
    except ImportError:
        pass
    try:
        import torch
        torch.set_num_threads(threads)
        even = [smooth(n) for n in full]
        tx, spectrum_torch = torch.from_numpy(x), torch.fft.rfftn(torch.from_numpy(h), even)
        found["PyTorch (MKL)"] = lambda: torch.fft.irfftn(torch.fft.rfftn(tx, even) * spectrum_torch, even)[crop]
    except ImportError:
        pass
    return found


def smooth(n):
    """The least number from n on without prime factors above 7."""
    while largest_factor(n) > 7:
        n += 1
    return n


def largest_factor(n):
    p, most = 2, 1
    while n > 1:
        if n % p:
            p += 1
        else:
            n, most = n // p, p
    return most


def speed(kugel, args, table):
    """{name: megavoxels per second of each size}, interleaved medians."""
    size, curves = sizes(args), {}
    for shape in size["speed"]:
        x, h = pair(shape, size["kernel"])
        x, h = x.astype(np.float32), (h / h.sum()).astype(np.float32)
        plan = kugel.volume.Convolution(shape, h)
        programs = {"kugel": lambda: plan(x), **rivals(x, h, args.threads)}
        if args.device:
            there = kugel.volume.Convolution(shape, h, device=args.device)
            programs[f"kugel, {args.device}, host to host"] = lambda: there(x)
        truth, times = plan(x), {name: [] for name in programs}
        for i in range(args.reps + 1):
            for name, run in programs.items():
                start = time.perf_counter()
                y = run()
                times[name] += [time.perf_counter() - start] if i else []
                assert i or np.abs(np.asarray(y) - truth).max() <= 1e-5 * np.abs(truth).max(), name
        for name, t in times.items():
            ratio = statistics.median(t) / statistics.median(times["kugel"])
            curves.setdefault(name, []).append(1e-6 * x.size / statistics.median(t))
            table.row("speed", word(shape), f"{name}, megavoxels per second", curves[name][-1])
            if name != "kugel":
                table.row("speed", word(shape), f"time of {name} / time of kugel", ratio)
    return curves


def draw_precision(args, curves, path):
    from matplotlib.figure import Figure
    shapes = sizes(args)["precision"]
    figure = Figure((9.5, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    at = np.arange(len(shapes))
    for (name, bits), errors in curves.items():
        if name == "kugel, P = 2" or not name.startswith("kugel, P"):
            colour = "C1" if name == "scipy.fft" else "C0" if name == "kugel, P = 2" else "C2"
            left.semilogy(at, errors, "o-" if bits == 32 else "o--", ms=4, color=colour, label=f"{name.replace(', P = 2', '')}, float{bits}")
    numbers = [int(name[-2:]) for name, bits in curves if name.startswith("kugel, P") and bits == 32]
    for bits in 32, 64:
        for i, shape in enumerate(shapes):
            right.semilogy(numbers, [curves[f"kugel, P = {p}", bits][i] for p in numbers], "o-" if bits == 32 else "o--", ms=4, color=f"C{i}",
                           label=word(shape) if bits == 32 else None)
    left.set(title="float32 and float64, kernel " + word(sizes(args)["kernel"]), ylabel="largest error, grey levels (of 2047)")
    left.set_xticks(at, [word(s) for s in shapes], rotation=25, ha="right", fontsize=8)
    right.set(title="in parts: float32 solid, float64 dashed", xlabel="P, parts of the frequencies", xscale="log")
    right.set_xticks(numbers, numbers)
    right.minorticks_off()
    for axes in left, right:
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="center right")
    figure.savefig(path / "volume_precision.png", dpi=110)


def draw_parts(args, found, path):
    from matplotlib.figure import Figure
    figure = Figure((9.5, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    at = np.arange(len(found))
    left.bar(at, [t for t, _ in found.values()], 0.6, color="C0")
    left.set(title="engine: resident (P = 2) and dif, " + word(sizes(args)["parts"]), ylabel="ms")
    bottom = np.zeros(len(found))
    for i, step in enumerate(next(iter(found.values()))[1]):
        height = np.array([split[step] for _, split in found.values()])
        right.bar(at, height, 0.6, bottom=bottom, label=step, color=f"C{i}")
        bottom += height
    right.set(title="public pieces, step by step", ylabel="ms")
    right.set_ylim(0, 1.35 * bottom.max())
    right.legend(fontsize=8, ncols=3, loc="upper left")
    for axes in left, right:
        axes.set_xticks(at, found)
        axes.set_xlabel("P, parts of the frequencies")
        axes.grid(alpha=0.3, axis="y")
        axes.set_axisbelow(True)
    figure.savefig(path / "volume_parts.png", dpi=110)


def draw_speed(args, curves, path):
    from matplotlib.figure import Figure
    shapes = sizes(args)["speed"]
    figure = Figure((6.5, 3.9), layout="constrained")
    axes = figure.subplots()
    for name, rate in curves.items():
        axes.plot(range(len(shapes)), rate, "o-", ms=4, label=name)
    axes.set_xticks(range(len(shapes)), [word(s) for s in shapes], rotation=20, ha="right", fontsize=8)
    axes.set(title=f"kernel {word(sizes(args)['kernel'])}, float32, {args.threads} threads", ylabel="megavoxels of results per second")
    axes.set_ylim(0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path / "volume_speed.png", dpi=110)


def main():
    parser = side.options(__doc__.splitlines()[0], only=True)
    parser.add_argument("--full", action="store_true", help="the paper's sizes: 24 GB of memory")
    parser.add_argument("--device", default="", help="such as cuda:0: plans there too")
    parser.add_argument("--out", type=pathlib.Path, help="folder for the pictures; without it, numbers only")
    parser.set_defaults(threads=2)
    args = side.arguments(parser)
    kugel = side.load(args.threads)
    table = side.Table(["measurement", "image", "what", "value"], args.json)
    for name, measure, draw in ("precision", precision, draw_precision), ("parts", parts, draw_parts), ("speed", speed, draw_speed):
        if args.only in name:
            found = measure(kugel, args, table)
            if args.out:
                draw(args, found, args.out)


if __name__ == "__main__":
    main()
