# SPDX-License-Identifier: BSD-3-Clause
"""What measurements of polynomial transforms on devices share: the library by ctypes, arrays in a device's memory, times, the rate of a copy."""
import ctypes
import statistics
import time

import numpy as np

C = ctypes
lib = ctx = queue = device = None  # open_device() sets them


class Device(C.Structure):
    _fields_ = [("type", C.c_int32), ("id", C.c_int32)]


class Dtype(C.Structure):
    _fields_ = [("code", C.c_uint8), ("bits", C.c_uint8), ("lanes", C.c_uint16)]


class Array(C.Structure):
    _fields_ = [("data", C.c_void_p), ("device", Device), ("ndim", C.c_int32), ("dtype", Dtype),
                ("shape", C.POINTER(C.c_int64)), ("strides", C.POINTER(C.c_int64)), ("byte_offset", C.c_uint64)]


class Banded(C.Structure):
    _fields_ = [("size", C.c_size_t), ("kind", C.c_int), ("precision", C.c_int), ("layout", C.c_int),
                ("n", C.c_int64), ("matrices", C.c_int64), ("lower", C.c_void_p), ("diagonal", C.c_void_p),
                ("upper", C.c_void_p), ("method", C.c_int)]


class CtxOpts(C.Structure):
    _fields_ = [("size", C.c_size_t), ("device", C.c_char_p), ("threads", C.c_int), ("allocator", C.c_void_p),
                ("executor", C.c_void_p), ("native_context", C.c_void_p)]


def open_device(library, name):
    """Loads the library, and opens a device: the library, its context, a queue."""
    global lib, ctx, queue, device
    lib = C.CDLL(library)
    lib.kugel_last_error.restype = C.c_char_p
    for verb in ("kugel_jwt_destroy", "kugel_banded_destroy", "kugel_ball_destroy"):
        getattr(lib, verb).argtypes = [C.c_void_p]
    ctx, queue = C.c_void_p(), C.c_void_p()
    check(lib.kugel_ctx_create(C.byref(CtxOpts(size=C.sizeof(CtxOpts), device=name.encode())), C.byref(ctx)))
    check(lib.kugel_queue_create(ctx, C.byref(queue)))
    device = Device(1 if name == "cpu" else 2 if name.startswith("cuda") else 4, int(name.rpartition(":")[2].split(",")[0] if ":" in name else 0))
    return lib, ctx, queue, device


def check(status):
    if status:
        raise RuntimeError(lib.kugel_last_error().decode())


class Memory:
    """An array in a device's memory."""

    def __init__(self, shape, dtype, parts=1):
        self.dtype, self.parts, self.shape = np.dtype(dtype), parts, shape
        self.bytes = int(np.prod(shape)) * self.dtype.itemsize * parts
        self.base = C.c_void_p()
        check(lib.kugel_device_alloc(ctx, C.c_size_t(self.bytes), C.byref(self.base)))

    def view(self, shape=None):
        shape = shape or self.shape
        extent = (C.c_int64 * len(shape))(*shape)
        code = 5 if self.parts == 2 else 2
        return Array(self.base, device, len(shape), Dtype(code, 8 * self.dtype.itemsize * self.parts, 1), extent, None, 0)

    def free(self):
        lib.kugel_device_free(ctx, self.base)


def host(a):
    a = np.ascontiguousarray(a)
    extent = (C.c_int64 * a.ndim)(*a.shape)
    code = 5 if a.dtype.kind == "c" else 2
    view = Array(a.ctypes.data, Device(1, 0), a.ndim, Dtype(code, 8 * a.dtype.itemsize, 1), extent, None, 0)
    view.keep = a
    return view


def timed(calls, seconds):
    """Median times of a call of each, in groups that take turns."""
    times = [[] for _ in calls]
    for call in calls:
        call()
    check(lib.kugel_queue_wait(queue))
    end = time.perf_counter() + seconds
    repeat = [1] * len(calls)
    while time.perf_counter() < end or len(times[0]) < 3:
        for i, call in enumerate(calls):
            start = time.perf_counter()
            for _ in range(repeat[i]):
                call()
            check(lib.kugel_queue_wait(queue))
            took = (time.perf_counter() - start) / repeat[i]
            times[i].append(took)
            repeat[i] = max(1, min(50, int(0.02 / took)))
    return [statistics.median(t) for t in times]


def some_random(shape, dtype):
    """Random numbers, the same again after 4096 systems."""
    few = np.random.default_rng(2).standard_normal((min(4096, shape[0]),) + shape[1:]).astype(dtype)
    return np.resize(few, shape)


def copy_rate():
    """Bytes read and written a second, by products with a diagonal matrix."""
    n, systems = 1024, 1 << 17
    one = np.ones(n)
    zero = np.zeros(n)
    o = Banded(size=C.sizeof(Banded), kind=0, n=n, lower=zero.ctypes.data, diagonal=one.ctypes.data)
    plan = C.c_void_p()
    check(lib.kugel_banded_create(ctx, C.byref(o), C.byref(plan)))
    x, y = Memory((systems, n), np.float64), Memory((systems, n), np.float64)
    a, b = x.view(), y.view()
    took = timed([lambda: check(lib.kugel_banded_product(plan, C.byref(a), C.byref(b), queue))], 0.5)[0]
    lib.kugel_banded_destroy(plan)
    rate = (x.bytes + y.bytes) / took
    x.free()
    y.free()
    return rate
