# SPDX-License-Identifier: BSD-3-Clause
"""Times of kugel.torch: forward and forward with backward, one map and batches, and the latency of small transforms in a CUDA
graph.

    python bench/autograd.py [--device cuda:0] [--nside 1024] [--lmax 2048]
"""
import argparse
import statistics
import time

import kugel
import torch


def timed(device, call, repeats=20):
    """Median milliseconds of a call."""
    call()
    times = []
    for _ in range(repeats):
        if device.type == "cuda":
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            call()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end))
        else:
            start = time.perf_counter()
            call()
            times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def row(name, milliseconds, maps=1):
    print(f"{name:52} {milliseconds / maps:10.3f} ms per map")


def transforms(device, sht, name, batch, dtype):
    shape = (batch,) + sht.transform.alm_shape if batch > 1 else sht.transform.alm_shape
    alm = torch.randn(shape, dtype=dtype, device=device)
    map = sht.synthesis(alm)
    kind = f"{name} {str(dtype).removeprefix('torch.')} batch {batch}"
    row(f"{kind} synthesis", timed(device, lambda: sht.synthesis(alm)), batch)
    row(f"{kind} analysis", timed(device, lambda: sht.analysis(map)), batch)
    leaf = alm.clone().requires_grad_()

    def descent():
        leaf.grad = None
        (sht.synthesis(leaf) - map).square().mean().backward()

    row(f"{kind} loss and gradient", timed(device, descent), batch)


def graph(device):
    """Microseconds of one synthesis and analysis replayed from a CUDA graph."""
    sht = kugel.torch.SHT(64, 128)
    alm = torch.randn(sht.nalm, dtype=torch.complex128, device=device)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        sht.analysis(sht.synthesis(alm))
    torch.cuda.synchronize()
    graphs = {}
    map = sht.synthesis(alm)
    for name, call in (("synthesis", lambda: sht.synthesis(alm)), ("analysis", lambda: sht.analysis(map))):
        graphs[name] = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graphs[name]):
            call()
        print(f"nside 64 lmax 128 {name} in a CUDA graph: {1e3 * timed(device, graphs[name].replay, 200):.1f} us")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--nside", type=int, default=1024)
    parser.add_argument("--lmax", type=int, default=2048)
    o = parser.parse_args()
    device = torch.device(o.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    print(f"kugel {kugel.__version__}, torch {torch.__version__}, {name}")
    for mode in (dict(), dict(spin=2), dict(mode="teb")):
        label = f"nside {o.nside} lmax {o.lmax} {kugel.torch.SHT(1, 2, **mode).transform.plan.mode}"
        sht = kugel.torch.SHT(o.nside, o.lmax, **mode)
        transforms(device, sht, label, 1, torch.complex128)
    sht = kugel.torch.SHT(o.nside, o.lmax)
    for dtype in (torch.complex128, torch.complex64):
        transforms(device, sht, f"nside {o.nside} lmax {o.lmax} scalar", 8, dtype)
    gauss = kugel.torch.SHT(kugel.Grid.gauss(o.lmax, 2 * o.lmax), o.lmax - 1)
    transforms(device, gauss, f"Gauss lmax {o.lmax - 1}", 1, torch.complex128)
    if device.type == "cuda":
        graph(device)


if __name__ == "__main__":
    main()
