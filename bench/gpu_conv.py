#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Convolution on one GPU: Kugel's fused kernel beside PyTorch's transforms (cuFFT), on the same arrays, interleaved.

usage: bench/gpu_conv.py [DEVICE [PART...]]     default cuda:0 and all parts: lines, boxes, transforms; needs PyTorch with
CUDA; KUGEL_LIBRARY may name the library

lines: bytes of data read and results written once over the time, in GB/s, for Kugel and for PyTorch's
irfft(rfft(x, m) * spectrum) cut to the results, their ratio, the part of the device's copy rate, the relative
difference of the results, the time to make Kugel's plan. boxes: the same in two and three dimensions, milliseconds
instead of rates. transforms: kugel.fft on tensors, on a stream of PyTorch's, beside torch.fft.
"""
import math
import pathlib
import statistics
import sys
import time

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from kugel import fft  # noqa: E402

device = sys.argv[1] if len(sys.argv) > 1 else "cuda:0"
parts = sys.argv[2:] or ["lines", "boxes", "transforms"]
MIB = 256


def timed(run, repeats=3):
    a, b = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    a.record()
    for _ in range(repeats):
        run()
    b.record()
    b.synchronize()
    return a.elapsed_time(b) / repeats * 1e-3


def medians(*runs):
    for run in runs:
        timed(run)
    times = [[timed(run) for run in runs] for _ in range(5)]
    return [statistics.median(column) for column in zip(*times)]


def difference(a, b):
    return (torch.linalg.vector_norm(a - b) / torch.linalg.vector_norm(b)).item()


def convolution(n, k, dtype):
    batch = max(1, (MIB << 20) // (n * dtype.itemsize))
    x = torch.randn(batch, n, dtype=dtype, device=device)
    h = torch.randn(k, dtype=dtype, device=device)
    start = time.time()
    plan = fft.Convolution(n, h.cpu().numpy(), dtype=np.dtype(str(dtype)[6:]), device=device)
    made = time.time() - start
    m = fft.next_fast_len(n + k - 1)
    complex_data = dtype.is_complex
    forward, inverse = (torch.fft.fft, torch.fft.ifft) if complex_data else (torch.fft.rfft, torch.fft.irfft)
    spectrum = forward(h, m)

    def rival():
        return inverse(forward(x, m) * spectrum, m)[:, :n + k - 1]

    error = difference(plan(x), rival())
    t = medians(lambda: plan(x), rival)
    moved = x.numel() * x.element_size() * (2 + (k - 1) / n)
    print(f"{n:>9} {k:>6} {str(dtype)[6:]:>10} {batch:>8} {moved / t[0] / 1e9:8.0f} {moved / t[1] / 1e9:8.0f} "
          f"{t[1] / t[0]:6.2f} {moved / t[0] / rate:6.2f} {error:9.1e} {made:7.2f}", flush=True)


def box(batch, shape, kernel, dtype, mode):
    x = torch.randn(batch, *shape, dtype=dtype, device=device)
    h = torch.randn(*kernel, dtype=dtype, device=device)
    start = time.time()
    plan = fft.Convolution(shape, h.cpu().numpy(), mode, dtype=np.dtype(str(dtype)[6:]), device=device)
    made = time.time() - start
    dims = tuple(range(1, 1 + len(shape)))
    first = [(k - 1) // 2 if mode == "same" else 0 for k in kernel]
    cut = (slice(None),) + tuple(slice(f, f + m) for f, m in zip(first, plan.results))
    forward, inverse = (torch.fft.fftn, torch.fft.ifftn) if dtype.is_complex else (torch.fft.rfftn, torch.fft.irfftn)
    s = [fft.next_fast_len(f + m) for f, m in zip(first, plan.results)]
    if mode == "same":  # as little padding as the results allow
        s = [fft.next_fast_len(n + k - 1 - f) for n, k, f in zip(shape, kernel, first)]
    spectrum = forward(h, s)

    def rival():
        return inverse(forward(x, s, dims) * spectrum, s, dims)[cut].contiguous()

    error = difference(plan(x), rival())
    t = medians(lambda: plan(x), rival)
    moved = (x.numel() + batch * math.prod(plan.results)) * x.element_size()
    print(f"{batch:>3} x {'x'.join(map(str, shape)):>14} {'x'.join(map(str, kernel)):>11} {mode:>5} {str(dtype)[6:]:>10} "
          f"{t[0] * 1e3:9.3f} {t[1] * 1e3:9.3f} {t[1] / t[0]:6.2f} {moved / t[0] / rate:6.2f} {error:9.1e} {made:7.2f}",
          flush=True)


def transforms():
    x = torch.randn(4096, 4096, dtype=torch.complex64, device=device)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for name in ("fft", "ifft", "fft2"):
            ours, theirs = getattr(fft, name), getattr(torch.fft, name)
            t = medians(lambda: ours(x), lambda: theirs(x))
            print(f"kugel.fft.{name} on a stream: {t[0] * 1e3:.3f} ms, torch.fft {t[1] * 1e3:.3f} ms, "
                  f"difference {difference(ours(x), theirs(x)):.1e}", flush=True)
        stream.synchronize()


source = torch.randn(MIB << 18, device=device)
target = torch.empty_like(source)
rate = 2 * source.numel() * 4 / medians(lambda: target.copy_(source))[0]
print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, copy {rate / 1e9:.0f} GB/s, {MIB} MiB arrays")
if "lines" in parts:
    print(f"{'length':>9} {'kernel':>6} {'type':>10} {'batch':>8} {'Kugel':>8} {'PyTorch':>8} {'ratio':>6} {'/copy':>6} "
          f"{'error':>9} {'plan s':>7}")
    for dtype_ in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        for n_, k_ in ((100, 9), (1000, 25), (1000, 1000), (4096, 65), (65536, 129), (1 << 20, 33), (1 << 20, 513),
                       (1 << 22, 2001), (1 << 22, 1 << 19)):
            convolution(n_, k_, dtype_)
if "boxes" in parts:
    print(f"{'batch, shape':>20} {'kernel':>11} {'mode':>5} {'type':>10} {'Kugel ms':>9} {'PyTorch':>9} {'ratio':>6} "
          f"{'/copy':>6} {'error':>9} {'plan s':>7}")
    for dtype_ in (torch.float32, torch.float64):
        for batch_, n_, k_, mode_ in ((1, (4096, 4096), (31, 31), "same"), (1, (4096, 4096), (4096, 4096), "full"),
                                      (64, (512, 512), (9, 9), "same"), (1, (256,) * 3, (33,) * 3, "full"),
                                      (1, (512,) * 3, (65,) * 3, "same"), (16, (64,) * 3, (64,) * 3, "full")):
            box(batch_, n_, k_, dtype_, mode_)
    box(1, (2048, 2048), (31, 31), torch.complex64, "same")
if "transforms" in parts:
    transforms()
