#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""FFTs on one GPU: Kugel beside cuFFT on the same arrays, times by device events, interleaved.

usage: bench/gpu_fft.py LIBKUGEL [MIB] [complex|real|volumes|TYPE=LENGTH,... ...]     needs PyTorch with
CUDA, for memory and libcufft. TYPE=LENGTH,... names rows: complex64=1000,512x512x512

Columns: bytes read and written once over the time of one transform (mean of forward and inverse) in GB/s, for Kugel and
cuFFT, their ratio, the part of this device's copy rate; the relative errors of Kugel's and cuFFT's forward results (of
floats: against doubles; of doubles: the difference of the two); the time to make Kugel's plan when nothing is compiled
yet and once more. Arrays of MIB mebibytes (default 512) a side. Complex lines go back in place, real ones between two
arrays, for both. VKFFT_SIDE names bench/vkfft.c as a library: VkFFT, in place, is then the last column. KUGEL_CACHE names
the folder of compiled kernels (default: an empty one).
"""
import ctypes
import glob
import os
import statistics
import sys
import tempfile
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
    _fields_ = [("size", ctypes.c_size_t), ("kind", ctypes.c_int), ("precision", ctypes.c_int),
                ("naxes", ctypes.c_int), ("axes", ctypes.c_void_p), ("forward_scale", ctypes.c_double),
                ("inverse_scale", ctypes.c_double)]


if "KUGEL_CACHE" not in os.environ:
    fresh = tempfile.TemporaryDirectory()
    os.environ["KUGEL_CACHE"] = fresh.name
lib = ctypes.CDLL(sys.argv[1])
lib.kugel_last_error.restype = ctypes.c_char_p
mib = int(sys.argv[2]) if len(sys.argv) > 2 else 512
parts = sys.argv[3:] or ["complex", "real", "volumes"]
COMPLEX = {torch.float64: torch.complex128, torch.float32: torch.complex64}


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
    a = Array(x.data_ptr(), Device(2, 0), x.dim(), Dtype(5 if x.is_complex() else 2, bits, 1), shape, None, 0)
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


def make(ctx, lengths, kind, single):
    """A plan and the seconds it took."""
    points = 1
    for n in lengths:
        points *= n
    opts = FftOpts(ctypes.sizeof(FftOpts), kind, single, 0, None, 1, 1 / points)
    plan = ctypes.c_void_p()
    start = time.time()
    n = (ctypes.c_int64 * len(lengths))(*lengths)
    check(lib.kugel_fft_create(ctx, len(lengths), n, ctypes.byref(opts), ctypes.byref(plan)))
    return plan, time.time() - start


class Cufft:
    """cuFFT's plans for a batch on PyTorch's current stream. Results are not scaled."""

    TYPES = {torch.complex64: (0x29, 0x29), torch.complex128: (0x69, 0x69), torch.float32: (0x2a, 0x2c),
             torch.float64: (0x6a, 0x6c)}
    EXECUTE = {0x29: "C2C", 0x69: "Z2Z", 0x2a: "R2C", 0x6a: "D2Z", 0x2c: "C2R", 0x6c: "Z2D"}
    found = sorted(glob.glob(os.path.join(os.path.dirname(torch.__file__), "..", "nvidia", "*", "lib", "libcufft.so.*")))
    library = ctypes.CDLL(found[-1] if found else "libcufft.so")

    def __init__(self, lengths, dtype, batch):
        self.plans, n = [], (ctypes.c_int * len(lengths))(*lengths)
        for kind in self.TYPES[dtype]:
            plan = ctypes.c_int()
            self.run("PlanMany", ctypes.byref(plan), len(lengths), n, None, 1, 0, None, 1, 0, kind, batch)
            self.run("SetStream", plan, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
            self.plans.append((kind, plan))

    def run(self, name, *args):
        status = getattr(self.library, "cufft" + name)(*args)
        if status:
            raise RuntimeError(f"cufft{name}: {status}")

    def execute(self, sign, x, y):
        kind, plan = self.plans[sign > 0]
        name = self.EXECUTE[kind]
        self.run("Exec" + name, plan, ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()),
                 *([sign] if name in ("C2C", "Z2Z") else []))

    def close(self):
        for _, plan in self.plans:
            self.run("Destroy", plan)


class Vkfft:
    """VkFFT's plan for a batch in place, in memory of its own; rows of real data are padded."""

    library = ctypes.CDLL(os.environ["VKFFT_SIDE"]) if "VKFFT_SIDE" in os.environ else None

    def __init__(self, lengths, dtype, batch):
        library, real = self.library, not dtype.is_complex
        rows = lengths[-1] // 2 + 1 if real else lengths[-1]
        kind = COMPLEX.get(dtype, dtype)
        self.buffer = torch.zeros((batch, *lengths[:-1], rows), dtype=kind, device="cuda")
        torch.view_as_real(self.buffer).normal_()
        library.vk_create.restype = ctypes.c_void_p
        n = (ctypes.c_int64 * len(lengths))(*lengths)
        self.plan = ctypes.c_void_p(library.vk_create(
            len(lengths), n, ctypes.c_int64(batch), int(kind == torch.complex128), int(real),
            ctypes.c_void_p(self.buffer.data_ptr()), ctypes.c_int64(self.buffer.numel() * self.buffer.element_size()),
            ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)))

    def time(self):
        """Median seconds of a transform: half of there and back."""
        if not self.plan:
            return float("nan")
        times = []
        for _ in range(6):
            torch.view_as_real(self.buffer).normal_()
            a = event()
            for sign in (-1, 1):
                self.library.vk_execute(self.plan, sign)
            b = event()
            b.synchronize()
            times.append(a.elapsed_time(b) / 2 * 1e-3)
        self.library.vk_destroy(self.plan)
        return statistics.median(times[1:])


def norm(x):
    return torch.linalg.vector_norm(x.reshape(-1)).item()


def error(got, want):
    """Of whole arrays, a piece at a time to save memory."""
    pieces = list(zip(got.reshape(-1).split(1 << 24), want.reshape(-1).split(1 << 24)))
    return (sum(norm(g.to(w.dtype) - w) ** 2 for g, w in pieces) / sum(norm(w) ** 2 for _, w in pieces)) ** 0.5


def row(ctx, queue, lengths, dtype):
    points = 1
    for n in lengths:
        points *= n
    real = not dtype.is_complex
    single = dtype in (torch.complex64, torch.float32)
    size = torch.empty(0, dtype=dtype).element_size()
    batch = max(1, (mib << 20) // (points * size))
    dims = tuple(range(1, 1 + len(lengths)))
    name = f"{'x'.join(map(str, lengths)):>14} {str(dtype)[6:]:>10}"
    try:
        plan, cold = make(ctx, lengths, 1 if real else 0, single)
        lib.kugel_fft_destroy(plan)
        plan, warm = make(ctx, lengths, 1 if real else 0, single)
    except RuntimeError as error_:
        print(f"{name}  {error_}")
        return
    x = torch.randn((batch, *lengths), dtype=dtype, device="cuda")
    ahead = (lambda y: torch.fft.rfftn(y, dim=dims)) if real else (lambda y: torch.fft.fftn(y, dim=dims))
    want = ahead(x)
    got, again = torch.empty_like(want), torch.empty_like(x) if real else None
    a, b = array(x), array(got)
    c = array(again) if real else b

    def kugel():
        check(lib.kugel_fft_execute(plan, -1, ctypes.byref(a), ctypes.byref(b), queue))
        check(lib.kugel_fft_execute(plan, 1, ctypes.byref(b), ctypes.byref(c), queue))

    check(lib.kugel_fft_execute(plan, -1, ctypes.byref(a), ctypes.byref(b), queue))
    torch.cuda.synchronize()
    if single:  # a part of the batch, in double
        few = max(1, min(batch, (64 << 20) // (points * size)))
        truth = ahead(x[:few].double() if real else x[:few].to(torch.complex128))
        own, rivals = error(got[:few], truth), error(want[:few], truth)
        del truth
    else:
        own = rivals = error(got, want)
    cufft = Cufft(lengths, dtype, batch)

    def rival():
        cufft.execute(-1, x, want)
        cufft.execute(1, want, spare if real else want)

    spare = torch.empty_like(x) if real else None
    times = ([], [])
    for run in (kugel, rival):
        timed(run, 2)
    for _ in range(5):
        for k, run in enumerate((kugel, rival)):
            times[k].append(timed(run, 2) / 2)
    t = [statistics.median(s) for s in times]
    moved = x.numel() * size + got.numel() * got.element_size()
    trip = norm((again if real else got)[0] - x[0]) / norm(x[0])
    wrong = "" if trip < (1e-5 if single else 1e-13) else f"  there and back: {trip:.1e}"
    vkfft = f" {moved / Vkfft(lengths, dtype, batch).time() / 1e9:8.0f}" if Vkfft.library else ""
    print(f"{name} {batch:>8} {moved / t[0] / 1e9:8.0f} {moved / t[1] / 1e9:8.0f} {t[1] / t[0]:6.2f} "
          f"{moved / t[0] / rate:6.2f} {own:9.1e} {rivals:9.1e} {cold:7.2f} {warm * 1e3:8.1f}{vkfft}{wrong}", flush=True)
    lib.kugel_fft_destroy(plan)
    cufft.close()


torch.cuda.init()
source = torch.empty(mib << 18, dtype=torch.float32, device="cuda").normal_()
target = torch.empty_like(source)
timed(lambda: target.copy_(source), 3)
rate = 2 * source.numel() * 4 / statistics.median(timed(lambda: target.copy_(source), 5) for _ in range(5))
print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, copy {rate / 1e9:.0f} GB/s, {mib} MiB arrays")
del source, target
print(f"{'length':>14} {'type':>10} {'batch':>8} {'Kugel':>8} {'cuFFT':>8} {'ratio':>6} {'/copy':>6} {'error':>9} {'cuFFT':>9} "
      f"{'cold s':>7} {'warm ms':>8}" + (f" {'VkFFT':>8}" if Vkfft.library else ""))
context_, queue_ = context(), ctypes.c_void_p()
check(lib.kugel_queue_wrap(context_, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), ctypes.byref(queue_)))
lines = {
    "complex": [2**k for k in range(3, 26)] + [60, 100, 120, 243, 360, 500, 720, 1000, 1155, 1920, 2187, 3125, 3600, 6000,
                                               7000, 10000, 100000, 1000000, 17, 23, 31, 61, 127, 251, 509, 1009, 2003, 4093,
                                               20011, 1000003],
    "real": [2**k for k in range(4, 26)] + [60, 100, 360, 720, 1000, 1155, 2187, 3125, 6000, 10000, 15625, 100000, 1000000, 122,
                                            251, 1009, 2018],
}
volumes = [(256, 256, 256), (512, 512, 512), (640, 640, 128), (128, 640, 640), (1000, 1000)]
for part in parts:
    if "=" in part:
        name_, list_ = part.split("=")
        for item in list_.split(","):
            row(context_, queue_, tuple(int(n_) for n_ in item.split("x")), getattr(torch, name_))
        continue
    for double in (True, False):
        real_ = torch.float64 if double else torch.float32
        if part == "volumes":
            for v in volumes:
                row(context_, queue_, v, COMPLEX[real_])
                row(context_, queue_, v, real_)
        else:
            for n_ in lines[part]:
                row(context_, queue_, (n_,), real_ if part == "real" else COMPLEX[real_])
