#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Transforms by Kugel on a GPU beside torch_harmonics on the same GPU and ducc0 on the CPU's cores, each where it is
installed: same input, one run, medians of interleaved calls, relative difference of the results.

    python bench/sht_rivals.py [--device cuda:0] [--nside 1024] [--lmax 2048] [--gauss 1023] [--threads 0]

torch_harmonics keeps a table of (lmax + 1)^3 values: --gauss sets its lmax. The other numbers are for ducc0 on HEALPix.
"""
import argparse
import os
import statistics
import time

import numpy as np
import torch

import kugel


def seconds(call):
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    start = time.perf_counter()
    result = call()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter() - start, result


def beside(name, maps, ours, theirs, form=lambda result: result, repeats=7):
    """A line of times of one map. Ours and `form` of theirs should agree."""
    for call in (ours, theirs):
        call()
    times = [(seconds(ours)[0], seconds(theirs)[0]) for _ in range(repeats)]
    t = [1e3 * statistics.median(column) / maps for column in zip(*times)]
    a, b = (torch.as_tensor(result).to("cpu", torch.complex128) for result in (ours(), form(theirs())))
    difference = (torch.linalg.vector_norm(a - b) / torch.linalg.vector_norm(b)).item()
    print(f"{name:58} {t[0]:9.3f} {t[1]:9.3f} {t[1] / t[0]:7.1f}   {difference:.1e}", flush=True)


def packed(square, lmax):
    """a_lm of rows l and columns m, as healpy keeps them."""
    return torch.cat([square[..., m:, m] for m in range(lmax + 1)], -1)


def gauss(device, lmax):
    try:
        import torch_harmonics
    except ImportError as error:
        print(f"torch_harmonics: {error}")
        return
    rows, columns = lmax + 1, 2 * lmax + 2
    start = time.perf_counter()
    make = (torch_harmonics.RealSHT, torch_harmonics.InverseRealSHT)
    there, back = (kind(rows, columns, lmax + 1, lmax + 1, "legendre-gauss").double() for kind in make)
    print(f"torch_harmonics: its tables took {time.perf_counter() - start:.1f} s to make")
    sht = kugel.torch.SHT(kugel.Grid.gauss(rows, columns), lmax)
    for real in (torch.float64, torch.float32):
        there, back = (transform.to(device, real) for transform in (there, back))
        for batch in (1, 8):
            x = torch.randn(batch, rows, columns, dtype=real, device=device)
            a = there(x)
            x = back(a)
            own = packed(a, lmax).contiguous()
            line = x.reshape(batch, -1)
            name = f"Gauss lmax {lmax} {str(real)[6:]} batch {batch}"
            beside(f"{name} synthesis", batch, lambda: sht.synthesis(own), lambda: back(a), lambda y: y.reshape(batch, -1))
            beside(f"{name} analysis", batch, lambda: sht.analysis(line), lambda: there(x), lambda y: packed(y, lmax))


def healpix(device, nside, lmax, threads):
    try:
        import ducc0
    except ImportError as error:
        print(f"ducc0: {error}")
        return
    threads = threads or os.cpu_count()
    geometry = ducc0.healpix.Healpix_Base(nside, "RING").sht_info()
    options = dict(geometry, lmax=lmax, nthreads=threads)
    rng = np.random.default_rng(1)
    for spin, parts in ((0, 1), (2, 2)):
        sht = kugel.torch.SHT(nside, lmax, **({"spin": spin} if spin else {}))
        alm = rng.standard_normal((parts, sht.nalm)) + 1j * rng.standard_normal((parts, sht.nalm))
        alm[:, :lmax + 1] = alm[:, :lmax + 1].real
        if spin:  # no modes below the spin
            alm[:, :spin] = 0
            alm[:, lmax + 1:lmax + 2] = 0
        own = torch.as_tensor(alm if spin else alm[0], device=device)
        name = f"nside {nside} lmax {lmax} spin {spin}, ducc0 on {threads} threads"
        beside(f"{name}, synthesis", 1, lambda: sht.synthesis(own),
               lambda: ducc0.sht.synthesis(alm=alm, spin=spin, **options).reshape(own.shape[:-1] + (-1,)))
        map = sht.synthesis(own)
        host = map.cpu().numpy().reshape(parts, -1)
        weight = 4 * np.pi / host.shape[1]
        beside(f"{name}, analysis", 1, lambda: sht.analysis(map),
               lambda: weight * ducc0.sht.adjoint_synthesis(map=host, spin=spin, **options).reshape(own.shape))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--lmax", type=int, default=2048)
    parser.add_argument("--gauss", type=int, default=1023)
    parser.add_argument("--threads", type=int, default=0)
    o = parser.parse_args()
    device = torch.device(o.device)
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    print(f"kugel {kugel.__version__} on {where}, torch {torch.__version__}; milliseconds a map")
    print(f"{'':58} {'Kugel':>9} {'rival':>9} {'ratio':>7}   difference")
    healpix(device, o.nside, o.lmax, o.threads)
    gauss(device, o.gauss)


if __name__ == "__main__":
    main()
