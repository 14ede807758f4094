#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Convolution of volumes on the CPU beside scipy.fft and PyTorch (MKL): float32, mode "same".

usage: bench/volume.py [--threads 2] [--reps 7] [--shape 50,500,500] [--kernel 50,50,50] [--json] [--smoke]

All programs take turns in one process, with the same number of threads; medians of the runs, and the fastest run. With
"kept" the kernel's spectrum was computed before.
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
    return found


def main():
    parser = side.options(__doc__.splitlines()[0], only=False)
    parser.add_argument("--shape", default="50,500,500", help="of the volume")
    parser.add_argument("--kernel", default="50,50,50", help="its shape")
    parser.set_defaults(threads=2, reps=7)
    args = side.arguments(parser, shape="12,30,40", kernel="5,6,7")
    kugel = side.load(args.threads)
    shape, kernel = (tuple(int(n) for n in words.split(",")) for words in (args.shape, args.kernel))
    rng = np.random.default_rng(1)
    x, h = rng.random(shape, np.float32), rng.random(kernel, np.float32)
    plan = kugel.volume.Convolution(shape, h)
    programs = {"kugel": lambda: kugel.volume.convolve(x, h), "kugel, kept": lambda: plan(x), **rivals(x, h, args.threads)}
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
    for mine in "kugel", "kugel, kept":
        kept = mine.endswith("kept")
        for rival in [r for r in programs if not r.startswith("kugel") and r.endswith("kept") == kept] or [None]:
            ours, theirs = times[mine], times.get(rival)
            table.row("x".join(map(str, shape)), "x".join(map(str, kernel)) + (", kept" if kept else ""), float(np.median(ours)),
                      rival, theirs and float(np.median(theirs)), min(ours), theirs and min(theirs),
                      theirs and float(np.median(theirs) / np.median(ours)))


if __name__ == "__main__":
    main()
