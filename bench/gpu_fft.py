#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""FFTs on one GPU: Kugel beside PyTorch's (cuFFT) on the same arrays, times by device events, interleaved.

usage: bench/gpu_fft.py LIBKUGEL [MIB]     needs PyTorch with CUDA

Columns: bytes read and written once over the time of one transform (mean of forward and inverse) in GB/s, for Kugel and
cuFFT, their ratio, the part of this device's copy rate, the relative difference of the two results, the time to make
Kugel's plan. Arrays of MIB mebibytes (default 512) a side, in place as the rest of a program would.
"""
import ctypes
import statistics
import sys
import time

import torch


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Dtype(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Array(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", Dtype),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class CtxOpts(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("device", ctypes.c_char_p), ("threads", ctypes.c_int),
                ("allocator", ctypes.c_void_p), ("executor", ctypes.c_void_p), ("native_context", ctypes.c_void_p)]


class FftOpts(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("kind", ctypes.c_int), ("single_precision", ctypes.c_int),
                ("naxes", ctypes.c_int), ("axes", ctypes.c_void_p), ("forward_scale", ctypes.c_double),
                ("inverse_scale", ctypes.c_double)]


lib = ctypes.CDLL(sys.argv[1])
lib.kugel_last_error.restype = ctypes.c_char_p
mib = int(sys.argv[2]) if len(sys.argv) > 2 else 512


def check(status):
    if status:
        raise RuntimeError(lib.kugel_last_error().decode())


def context():
    opts, ctx = CtxOpts(size=ctypes.sizeof(CtxOpts), device=b"cuda:0"), ctypes.c_void_p()
    check(lib.kugel_ctx_create(ctypes.byref(opts), ctypes.byref(ctx)))
    return ctx


def array(x):
    bits = x.element_size() * 8
    shape = (ctypes.c_int64 * x.dim())(*x.shape)
    a = Array(x.data_ptr(), Device(2, 0), x.dim(), Dtype(5, bits, 1), shape, None, 0)
    a.keep = shape
    return a


def event():
    e = torch.cuda.Event(enable_timing=True)
    e.record()
    return e


def timed(run, repeats):
    a = event()
    for _ in range(repeats):
        run()
    b = event()
    b.synchronize()
    return a.elapsed_time(b) / repeats * 1e-3


def row(ctx, queue, lengths, dtype):
    points = 1
    for n in lengths:
        points *= n
    size = torch.empty(0, dtype=dtype).element_size()
    batch = max(1, (mib << 20) // (points * size))
    x = torch.randn((batch, *lengths), dtype=dtype, device="cuda")
    dims = tuple(range(1, 1 + len(lengths)))
    opts = FftOpts(ctypes.sizeof(FftOpts), 0, dtype == torch.complex64, 0, None, 1, 1 / points)
    plan = ctypes.c_void_p()
    start = time.time()
    n = (ctypes.c_int64 * len(lengths))(*lengths)
    try:
        check(lib.kugel_fft_create(ctx, len(lengths), n, ctypes.byref(opts), ctypes.byref(plan)))
    except RuntimeError as error:
        print(f"{'x'.join(map(str, lengths)):>14} {str(dtype)[-10:]:>10}  {error}")
        return
    made = time.time() - start
    want = torch.fft.fftn(x, dim=dims)
    got = torch.empty_like(x)
    a, b = array(x), array(got)

    def kugel():
        check(lib.kugel_fft_execute_on(plan, -1, ctypes.byref(a), ctypes.byref(b), queue))
        check(lib.kugel_fft_execute_on(plan, 1, ctypes.byref(b), ctypes.byref(b), queue))

    def rival():
        torch.fft.ifftn(torch.fft.fftn(x, dim=dims), dim=dims)

    check(lib.kugel_fft_execute_on(plan, -1, ctypes.byref(a), ctypes.byref(b), queue))
    torch.cuda.synchronize()
    error = (torch.linalg.vector_norm(got - want) / torch.linalg.vector_norm(want)).item()
    del want
    times = ([], [])
    for run in (kugel, rival):
        timed(run, 2)
    for _ in range(5):
        for k, run in enumerate((kugel, rival)):
            times[k].append(timed(run, 2) / 2)
    t = [statistics.median(s) for s in times]
    moved = 2 * x.numel() * size
    print(f"{'x'.join(map(str, lengths)):>14} {str(dtype)[-10:]:>10} {batch:>8} {moved / t[0] / 1e9:8.0f} "
          f"{moved / t[1] / 1e9:8.0f} {t[1] / t[0]:6.2f} {moved / t[0] / rate:6.2f} {error:9.1e} {made:7.2f}", flush=True)
    lib.kugel_fft_destroy(plan)


torch.cuda.init()
source = torch.empty(mib << 18, dtype=torch.float32, device="cuda").normal_()
target = torch.empty_like(source)
timed(lambda: target.copy_(source), 3)
rate = 2 * source.numel() * 4 / statistics.median(timed(lambda: target.copy_(source), 5) for _ in range(5))
print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, copy {rate / 1e9:.0f} GB/s, {mib} MiB arrays")
del source, target
print(f"{'length':>14} {'type':>10} {'batch':>8} {'Kugel':>8} {'cuFFT':>8} {'ratio':>6} {'/copy':>6} {'error':>9} {'plan s':>7}")
context_, queue_ = context(), ctypes.c_void_p()
check(lib.kugel_queue_wrap(context_, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), ctypes.byref(queue_)))
lengths_ = [2**k for k in range(3, 25)] + [60, 100, 120, 243, 360, 500, 720, 1000, 1155, 1920, 2187, 3125, 3600, 6000, 7000,
                                           10000, 100000, 1000000]
lengths_ += [17, 23, 31, 61, 127, 251, 509, 1009, 2003, 4093]
for dtype_ in (torch.complex128, torch.complex64):
    for n_ in lengths_:
        row(context_, queue_, (n_,), dtype_)
    row(context_, queue_, (256, 256, 256), dtype_)
    row(context_, queue_, (512, 512, 512), dtype_)
    row(context_, queue_, (1000, 1000), dtype_)
