#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Banded solves on one CUDA device: the rate of single solves over their size, beside a plain copy of the same bytes.

usage: bench/banded.py LIBKUGEL [DEVICE] [PNG]     needs the standard library; matplotlib draws the PNG

Rate: twice the bytes of the right-hand sides over the time of one solve out of place, by device events over graphs of
several calls, median of several. `floor` is the same for a copy of one buffer to another by the driver, `ratio` the time of
the solve over the copy's. Batches of 10 to 10^5 systems with one lower bidiagonal matrix in double precision; then single
precision, three diagonals, double-double, and layout COLUMNS for the largest.
"""
import ctypes
import statistics
import sys
from ctypes import POINTER, Structure, byref, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p


class Opts(Structure):
    _fields_ = [("size", c_size_t), ("kind", c_int), ("precision", c_int), ("layout", c_int), ("n", c_int64),
                ("matrices", c_int64), ("lower", c_void_p), ("diagonal", c_void_p), ("upper", c_void_p), ("method", c_int)]


class CtxOpts(Structure):
    _fields_ = [("size", c_size_t), ("device", ctypes.c_char_p), ("threads", c_int), ("allocator", c_void_p),
                ("executor", c_void_p), ("native_context", c_void_p)]


class Array(Structure):
    _fields_ = [("data", c_void_p), ("type", c_int32), ("id", c_int32), ("ndim", c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", POINTER(c_int64)), ("strides", c_void_p),
                ("byte_offset", c_uint64)]


class Info(Structure):
    _fields_ = [("size", c_size_t), ("method", c_int), ("batch", c_int64), ("solvable", c_int32), ("bad_matrix", c_int64),
                ("bad_row", c_int64), ("growth", c_double), ("propagation", c_double), ("threads", c_int32),
                ("elements", c_int32)]


lib = ctypes.CDLL(sys.argv[1])
lib.kugel_last_error.restype = ctypes.c_char_p
device = sys.argv[2] if len(sys.argv) > 2 else "cuda:0"
cuda = ctypes.CDLL("libcuda.so.1")


def check(status):
    if status:
        raise RuntimeError(lib.kugel_last_error().decode())


def driver(status):
    if status:
        raise RuntimeError(f"CUDA driver error {status}")


def event(stream):
    e = c_void_p()
    driver(cuda.cuEventCreate(byref(e), 0))
    driver(cuda.cuEventRecord(e, stream))
    return e


def seconds(run, stream, calls):
    """Median time of one call of `calls` in a graph, so that the host's part of a launch does not count."""
    run()
    driver(cuda.cuStreamSynchronize(stream))
    graph, ready, ms, times = c_void_p(), c_void_p(), c_float(), []
    driver(cuda.cuStreamBeginCapture_v2(stream, 2))
    for _ in range(calls):
        run()
    driver(cuda.cuStreamEndCapture(stream, byref(graph)))
    driver(cuda.cuGraphInstantiateWithFlags(byref(ready), graph, c_uint64(0)))
    for k in range(8):
        a = event(stream)
        driver(cuda.cuGraphLaunch(ready, stream))
        b = event(stream)
        driver(cuda.cuEventSynchronize(b))
        driver(cuda.cuEventElapsedTime(byref(ms), a, b))
        driver(cuda.cuEventDestroy_v2(a))
        driver(cuda.cuEventDestroy_v2(b))
        if k:
            times.append(ms.value / calls * 1e-3)
    driver(cuda.cuGraphExecDestroy(ready))
    driver(cuda.cuGraphDestroy(graph))
    return statistics.median(times)


class Bench:
    def __init__(self, most_bytes):
        self.ctx, self.queue, native, number = c_void_p(), c_void_p(), c_void_p(), int(device.split(":")[1])
        driver(cuda.cuInit(0))
        driver(cuda.cuDevicePrimaryCtxRetain(byref(native), number))
        driver(cuda.cuCtxSetCurrent(native))
        opts = CtxOpts(ctypes.sizeof(CtxOpts), device.encode(), 0, None, None, native)
        check(lib.kugel_ctx_create(byref(opts), byref(self.ctx)))
        self.stream = c_void_p()
        driver(cuda.cuStreamCreate(byref(self.stream), 1))  # apart from the default stream
        check(lib.kugel_queue_wrap(self.ctx, self.stream, byref(self.queue)))
        self.buffers = [c_void_p(), c_void_p()]
        for b in self.buffers:
            check(lib.kugel_device_alloc(self.ctx, c_size_t(most_bytes), byref(b)))
            check(lib.kugel_device_fill(self.ctx, b, c_size_t(0), 0, c_size_t(most_bytes), None))
        self.number = number

    def array(self, buffer, n, batch, precision, layout):
        shape = [batch, n] if layout == 0 else [n, batch]
        shape += [2] if precision == 2 else []
        a = Array(buffer.value, 2, self.number, len(shape), 2, 32 if precision == 1 else 64, 1,
                  (c_int64 * len(shape))(*shape), None, 0)
        return a

    def row(self, n, batch, kind=0, precision=0, layout=0):
        """Seconds of a solve and of the copy, bytes, and what the plan chose."""
        word, real = (4, c_float) if precision == 1 else (8, c_double)
        pairs = 2 if precision == 2 else 1
        off, diagonal = ((real * (n * pairs))(*([x, 0.0] * n if pairs == 2 else [x] * n)) for x in (-0.45, 1.0))
        opts = Opts(ctypes.sizeof(Opts), kind, precision, layout, n, 0, ctypes.cast(off, c_void_p),
                    ctypes.cast(diagonal, c_void_p), ctypes.cast(off, c_void_p), 0)
        plan = c_void_p()
        check(lib.kugel_banded_create(self.ctx, byref(opts), byref(plan)))
        info = Info(size=ctypes.sizeof(Info), batch=batch)
        check(lib.kugel_banded_get_info(plan, byref(info)))
        a, b = (self.array(x, n, batch, precision, layout) for x in self.buffers)
        size = n * batch * word * pairs
        calls = 20 if size < 1 << 26 else 4
        solve = seconds(lambda: check(lib.kugel_banded_solve_on(plan, byref(a), byref(b), self.queue)), self.stream, calls)
        copy = seconds(lambda: driver(cuda.cuMemcpyDtoDAsync_v2(c_uint64(self.buffers[1].value),
                                                                c_uint64(self.buffers[0].value), c_size_t(size), self.stream)),
                       self.stream, calls)
        lib.kugel_banded_destroy(plan)
        return solve, copy, size, f"{info.threads} x {info.elements}"


NS = (8, 16, 32, 64, 100, 128, 256, 500, 512, 1000, 1024, 2048, 4096)
BATCHES = (10, 100, 1000, 10000, 100000)


def figure(curves, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    for (batch, points), mark in zip(curves.items(), "osv^D"):
        pyplot.plot([p[0] for p in points], [p[1] for p in points], marker=mark, label=f"{batch} systems")
    pyplot.xlabel("rows of a system")
    pyplot.ylabel("TB/s (2 x bytes of the right-hand sides / time)")
    pyplot.xscale("log", base=2)
    pyplot.yscale("log")
    pyplot.legend()
    pyplot.savefig(path, dpi=150)
    print(f"drawn: {path}")


def main():
    bench = Bench(max(BATCHES) * max(NS) * 8)
    head = f"{'n':>6} {'batch':>7} {'us':>10} {'TB/s':>7} {'floor':>7} {'ratio':>6}  threads x elements"
    curves = {}
    print(f"{device}, lower bidiagonal, float64, layout ROWS\n{head}")
    for batch in BATCHES:
        for n in NS:
            solve, copy, size, chosen = bench.row(n, batch)
            curves.setdefault(batch, []).append((n, 2 * size / solve / 1e12))
            print(f"{n:6} {batch:7} {solve * 1e6:10.1f} {2 * size / solve / 1e12:7.3f} {2 * size / copy / 1e12:7.3f} "
                  f"{solve / copy:6.2f}  {chosen}", flush=True)
    others = [("float32", 0, 1, 0), ("three diagonals, float64", 2, 0, 0), ("double-double", 0, 2, 0),
              ("COLUMNS, float64", 0, 0, 1), ("COLUMNS, float32", 0, 1, 1), ("COLUMNS, three diagonals, float64", 2, 0, 1)]
    for title, kind, precision, layout in others:
        print(f"{title}\n{head}")
        for batch in BATCHES[-2:]:
            for n in NS:
                if n * batch * (16 if precision == 2 else 8) <= max(BATCHES) * max(NS) * 8:
                    solve, copy, size, chosen = bench.row(n, batch, kind, precision, layout)
                    print(f"{n:6} {batch:7} {solve * 1e6:10.1f} {2 * size / solve / 1e12:7.3f} "
                          f"{2 * size / copy / 1e12:7.3f} {solve / copy:6.2f}  {chosen}", flush=True)
    if len(sys.argv) > 3:
        try:
            figure(curves, sys.argv[3])
        except ImportError:
            print("no matplotlib: no drawing; the table above has the numbers")


main()
