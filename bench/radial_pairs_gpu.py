# SPDX-License-Identifier: BSD-3-Clause
"""Times Q and U, and an elliptical beam, on a CUDA device, beside the scalar sum; and compares them with the CPU.

usage: KUGEL_LIBRARY=build/release/libkugel.so PYTHONPATH=python python3 bench/radial_pairs_gpu.py [device]
"""
import sys
import time

import numpy as np

import kugel
from kugel import radial


def cases(minor):
    ellipse = dict(parts=radial.ellipse(1.3 * minor, minor, 5))
    return {"scalar": {}, "Q and U": dict(spin=2), "ellipse, 5 parts": ellipse}


def main():
    device = sys.argv[1] if len(sys.argv) > 1 else "cuda:0"
    rng = np.random.default_rng(1)
    for name, how in cases(np.radians(0.6)).items():
        grid = kugel.Grid.healpix(256)
        maps = rng.standard_normal((2, grid.npix) if "spin" in how else grid.npix)
        there, here = (kugel.Radial(grid, "gaussian", np.radians(0.6), method="direct", device=d, **how) for d in (device, None))
        a, b = there(maps), here(maps)
        print(f"nside 256, {name}: largest difference to the CPU {abs(a - b).max() / abs(b).max():.1e}")
    for nside, width in ((1024, 10 / 60), (2048, 4.7 / 60)):
        grid = kugel.Grid.healpix(nside)
        for name, how in cases(np.radians(width)).items():
            start = time.perf_counter()
            plan = kugel.Radial(grid, "gaussian", np.radians(width), method="direct", device=device, **how)
            made = time.perf_counter() - start
            if device.startswith("cuda"):
                import torch
                maps = torch.randn((2, grid.npix) if "spin" in how else grid.npix, dtype=torch.float64, device=device)
                sync = torch.cuda.synchronize
            else:
                maps, sync = rng.standard_normal((2, grid.npix) if "spin" in how else grid.npix), lambda: None
            out, times = plan(maps), []
            for _ in range(5):
                sync()
                start = time.perf_counter()
                plan(maps, out=out)
                sync()
                times.append(time.perf_counter() - start)
            print(f"nside {nside}, {60 * width:.3g}': {name}: {1e3 * min(times):.2f} ms, plan {made:.2f} s")


main()
