#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Convolution of volumes on the CPU beside scipy.fft, PyTorch (MKL) and ITK: float32, mode "same".

usage: bench/volume.py [--threads 2] [--reps 7] [--shape 50,500,500] [--kernel 50,50,50] [--engines] [--json] [--smoke]

All programs take turns in one process, with the same number of threads; medians of the runs, and the fastest run. With
"kept" the kernel's spectrum was computed before. --engines: also in parts, and by way of a file with 1/8 of the padded volume in memory.
"""
import time

import numpy as np
import side


def rivals(x, h, threads):
    """{name: function} of the programs that are here."""
    found = {}
    full = [a + b - 1 for a, b in zip(x.shape, h.shape)]
    crop = tuple(slice((k - 1) // 2, (k - 1) // 2 + n) for n, k in zip(x.shape, h.shape))
    try:
        import scipy.fft as sf
        size = [sf.next_fast_len(n, True) for n in full]
        kept = sf.rfftn(h, size, workers=threads)
        found["scipy.fft"] = lambda: sf.irfftn(sf.rfftn(x, size, workers=threads) * sf.rfftn(h, size, workers=threads),
                                               size, workers=threads)[crop]
        found["scipy.fft, kept"] = lambda: sf.irfftn(sf.rfftn(x, size, workers=threads) * kept, size, workers=threads)[crop]
    except ImportError:
        size = full
    try:
        import torch
        torch.set_num_threads(threads)
        tx, th = torch.from_numpy(x), torch.from_numpy(h)
        spectrum = torch.fft.rfftn(th, size)
        found["torch"] = lambda: torch.fft.irfftn(torch.fft.rfftn(tx, size) * torch.fft.rfftn(th, size), size)[crop]
        found["torch, kept"] = lambda: torch.fft.irfftn(torch.fft.rfftn(tx, size) * spectrum, size)[crop]
    except ImportError:
        pass
    try:
        found["ITK"] = itk_filter(x, h, threads)
    except ImportError:
        pass
    return found


def itk_filter(x, h, threads):
    """Its kernels have their centre at k // 2: axes of even length get an element 0 before the others."""
    import itk
    itk.MultiThreaderBase.SetGlobalDefaultNumberOfThreads(threads)
    itk.MultiThreaderBase.SetGlobalMaximumNumberOfThreads(threads)
    padded = np.pad(h, [(1 - k % 2, 0) for k in h.shape])
    kind = itk.Image[itk.F, 3]
    edges = itk.ConstantBoundaryCondition[kind]()
    image, kernel = itk.image_from_array(x), itk.image_from_array(padded)

    def run():
        f = itk.FFTConvolutionImageFilter[kind, kind].New(Input=image, KernelImage=kernel)
        f.SetBoundaryCondition(edges)
        f.Update()
        return itk.array_view_from_image(f.GetOutput())
    run()
    return run


def main():
    parser = side.options(__doc__.splitlines()[0], only=False)
    parser.add_argument("--shape", default="50,500,500", help="of the volume")
    parser.add_argument("--kernel", default="50,50,50", help="its shape")
    parser.add_argument("--engines", action="store_true", help="also those for less memory")
    parser.set_defaults(threads=2, reps=7)
    args = side.arguments(parser, shape="12,30,40", kernel="5,6,7")
    kugel = side.load(args.threads)
    shape, kernel = (tuple(int(n) for n in words.split(",")) for words in (args.shape, args.kernel))
    rng = np.random.default_rng(1)
    x, h = rng.random(shape, np.float32), rng.random(kernel, np.float32)
    plan = kugel.volume.Convolution(shape, h)
    programs = {"kugel": lambda: kugel.volume.convolve(x, h), "kugel, kept": lambda: plan(x), **rivals(x, h, args.threads)}
    mine = ["kugel", "kugel, kept"]
    if args.engines:
        for engine, how in ("dif", {"parts": 4}), ("pencil", {"tile": (max(1, shape[0] // 8), 1, 1)}):
            programs[f"kugel {engine}, kept"] = kugel.volume.Convolution(shape, h, engine=engine, **how)
            mine.append(f"kugel {engine}, kept")
        programs = {name: (lambda p=p: p(x)) if isinstance(p, kugel.volume.Convolution) else p for name, p in programs.items()}
    truth = programs["kugel, kept"]()
    times = {name: [] for name in programs}
    for _ in range(args.reps):
        for name, run in programs.items():
            start = time.perf_counter()
            y = run()
            times[name].append(1e3 * (time.perf_counter() - start))
            assert np.abs(np.asarray(y) - truth).max() <= 1e-5 * np.abs(truth).max(), name
    table = side.Table(["volume", "kernel", "kugel ms", "rival", "rival ms", "fastest kugel ms", "fastest rival ms", "ratio"],
                       args.json)
    for own in mine:
        kept = own.endswith("kept")
        for rival in [r for r in programs if not r.startswith("kugel") and r.endswith("kept") == kept] or [None]:
            ours, theirs = times[own], times.get(rival)
            table.row("x".join(map(str, shape)), "x".join(map(str, kernel)) + own.replace("kugel", "", 1).replace(" ", ", ", int(not own.startswith("kugel,"))), float(np.median(ours)),
                      rival, theirs and float(np.median(theirs)), min(ours), theirs and min(theirs),
                      theirs and float(np.median(theirs) / np.median(ours)))


if __name__ == "__main__":
    main()
