#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Banded solves and products on one CUDA device, beside a plain copy of the same bytes.

usage: bench/banded.py [--device cuda:0] [--png FILE] [--short] [--kinds REGEX] NAME=LIBKUGEL [NAME=LIBKUGEL ...]

Several builds of the library run side by side. Each number is the time of one call out of place over the floor: a copy of as
many bytes between the same buffers, the fastest of the driver's and of kernels that move 1, 2 or 4 times 16 bytes per thread.
All are timed alike and in turn: device events over graphs of calls, the least of several medians. Where the buffers fit into
the L2 cache the copy, too, finds them there. `drv` is the driver's copy over the floor. Bidiagonal (lower) and
tridiagonal matrices, one for all systems; `us` and TB/s (twice the bytes of the right-hand sides) are those of the first
build's solve; `apart` is the largest difference between the builds' results, near the arrays' ends. The PNG has its rates
over the size, for 10 to 10^5 systems. Needs the standard library; matplotlib draws.
"""
import argparse
import array
import ctypes
import functools
import os
import random
import re
import statistics
from concurrent.futures import ThreadPoolExecutor
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


parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda:0")
parser.add_argument("--png")
parser.add_argument("--short", action="store_true", help="10^4 and 10^5 systems only, fewer sizes")
parser.add_argument("--n", help="sizes instead, with commas between")
parser.add_argument("--batch", help="systems instead")
parser.add_argument("--kinds", default="", help="of titles such as 'tridiagonal f32, columns'")
parser.add_argument("--set", action="append", default=[], help="NAME:VARIABLE=VALUE, an environment for that build's plans")
parser.add_argument("libraries", nargs="+")
args = parser.parse_args()
cuda = ctypes.CDLL("libcuda.so.1")
libc = ctypes.CDLL(None)


def driver(status):
    if status:
        raise RuntimeError(f"CUDA driver error {status}")


def event(stream):
    e = c_void_p()
    driver(cuda.cuEventCreate(byref(e), 0))
    driver(cuda.cuEventRecord(e, stream))
    return e


class Graph:
    """`calls` calls in a graph, so that the host's part of a launch does not count."""

    def __init__(self, run, stream, calls):
        run()
        driver(cuda.cuStreamSynchronize(stream))
        self.graph, self.ready, self.stream, self.calls = c_void_p(), c_void_p(), stream, calls
        driver(cuda.cuStreamBeginCapture_v2(stream, 2))
        for _ in range(calls):
            run()
        driver(cuda.cuStreamEndCapture(stream, byref(self.graph)))
        driver(cuda.cuGraphInstantiateWithFlags(byref(self.ready), self.graph, c_uint64(0)))

    def seconds(self):
        """Median time of one call; the first launch does not count."""
        ms, times = c_float(), []
        for k in range(6):
            a = event(self.stream)
            driver(cuda.cuGraphLaunch(self.ready, self.stream))
            b = event(self.stream)
            driver(cuda.cuEventSynchronize(b))
            driver(cuda.cuEventElapsedTime(byref(ms), a, b))
            driver(cuda.cuEventDestroy_v2(a))
            driver(cuda.cuEventDestroy_v2(b))
            if k:
                times.append(ms.value / self.calls * 1e-3)
        return statistics.median(times)

    def close(self):
        driver(cuda.cuGraphExecDestroy(self.ready))
        driver(cuda.cuGraphDestroy(self.graph))


def seconds(runs, stream, calls):
    """Times of one call of each of `runs`: the least of several rounds."""
    graphs = [Graph(run, stream, calls) for run in runs]
    rounds = [[g.seconds() for g in graphs] for _ in range(3)]
    for g in graphs:
        g.close()
    return [min(column) for column in zip(*rounds)]


def copy_text(units):
    """A kernel that copies 16 bytes `units` times a thread, 256 threads apart."""
    body = "".join(f"""
  add.u64 %i, %first, {256 * k};
  setp.ge.u64 %there, %i, %n;
  @%there bra store{k - 1};
  shl.b64 %i, %i, 4;
  add.u64 %a, %in, %i;
  add.u64 %b{k}, %out, %i;
  ld.global.v2.u64 {{%x{k}, %y{k}}}, [%a];""" for k in range(units))
    ends = "".join(f"store{k}:\n  st.global.v2.u64 [%b{k}], {{%x{k}, %y{k}}};\n" for k in range(units - 1, -1, -1))
    return f""".version 7.0
.target sm_70
.address_size 64
.visible .entry copy{units}(.param .u64 p_out, .param .u64 p_in, .param .u64 p_n)
{{
  .reg .u32 %t, %g;
  .reg .u64 %in, %out, %n, %i, %a, %first, %x<4>, %y<4>, %b<4>;
  .reg .pred %there;
  ld.param.u64 %out, [p_out];
  ld.param.u64 %in, [p_in];
  ld.param.u64 %n, [p_n];
  mov.u32 %t, %tid.x;
  mov.u32 %g, %ctaid.x;
  mul.wide.u32 %first, %g, {256 * units};
  cvt.u64.u32 %a, %t;
  add.u64 %first, %first, %a;{body}
{ends}store-1:
  ret;
}}
""".replace("store-1", "done")


class Device:
    def __init__(self, most_bytes):
        self.number, self.native = int(args.device.split(":")[1]), c_void_p()
        driver(cuda.cuInit(0))
        driver(cuda.cuDevicePrimaryCtxRetain(byref(self.native), self.number))
        driver(cuda.cuCtxSetCurrent(self.native))
        self.stream = c_void_p()
        driver(cuda.cuStreamCreate(byref(self.stream), 1))  # apart from the default stream
        self.buffers, self.bytes, self.kernels = [c_uint64(), c_uint64()], most_bytes, {}
        for units in (1, 2, 4):
            module, self.kernels[units] = c_void_p(), c_void_p()
            driver(cuda.cuModuleLoadData(byref(module), copy_text(units).encode()))
            driver(cuda.cuModuleGetFunction(byref(self.kernels[units]), module, f"copy{units}".encode()))
        for b in self.buffers:
            driver(cuda.cuMemAlloc_v2(byref(b), c_size_t(most_bytes)))
            driver(cuda.cuMemsetD8_v2(b, 0, c_size_t(most_bytes)))

    def fill(self, precision):
        """Random numbers of a precision in the first buffer."""
        real = "f" if precision == 1 else "d"
        numbers = (random.uniform(-1, 1) * (2.0 ** -60 if precision == 2 and k % 2 else 1) for k in range(1 << 16))
        block = array.array(real, numbers).tobytes()
        driver(cuda.cuMemcpyHtoD_v2(self.buffers[0], block, c_size_t(len(block))))
        done = len(block)
        while done < self.bytes:
            more = min(done, self.bytes - done)
            driver(cuda.cuMemcpyDtoD_v2(c_uint64(self.buffers[0].value + done), self.buffers[0], c_size_t(more)))
            done += more
        driver(cuda.cuCtxSynchronize())

    def result(self, size, precision):
        """What the ends of the second buffer hold."""
        part, out = min(size, 1 << 15), []
        for at in (0, size - part):
            host = array.array("f" if precision == 1 else "d", bytes(part))
            driver(cuda.cuMemcpyDtoH_v2(c_void_p(host.buffer_info()[0]), c_uint64(self.buffers[1].value + at), c_size_t(part)))
            out += host
        return out

    def copies(self, size):
        """What copies `size` bytes: the driver's copy, then kernels."""
        def by_driver():
            driver(cuda.cuMemcpyDtoDAsync_v2(self.buffers[1], self.buffers[0], c_size_t(size), self.stream))

        def by_kernel(units):
            n = c_uint64(size // 16)
            numbers = (c_void_p * 3)(*(ctypes.cast(byref(x), c_void_p) for x in (self.buffers[1], self.buffers[0], n)))
            blocks = -(-n.value // (256 * units))
            driver(cuda.cuLaunchKernel(self.kernels[units], blocks, 1, 1, 256, 1, 1, 0, self.stream, numbers, None))
        return [by_driver] + [functools.partial(by_kernel, units) for units in self.kernels]


def calls_of(size):
    return 60 if size < 1 << 22 else 20 if size < 1 << 26 else 4


class Build:
    """One build of the library with its plans."""

    def __init__(self, name, path, device):
        self.name, self.lib, self.device, self.plans = name, ctypes.CDLL(path), device, {}
        self.environment = [s.split(":", 1)[1] for s in args.set if s.split(":", 1)[0] == name]
        self.lib.kugel_last_error.restype = ctypes.c_char_p
        self.ctx, self.queue = c_void_p(), c_void_p()
        opts = CtxOpts(ctypes.sizeof(CtxOpts), args.device.encode(), 0, None, None, device.native)
        self.check(self.lib.kugel_ctx_create(byref(opts), byref(self.ctx)))
        self.check(self.lib.kugel_queue_wrap(self.ctx, device.stream, byref(self.queue)))

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.kugel_last_error().decode())

    def make(self, key):
        kind, precision, layout, n = key
        real, pairs = c_float if precision == 1 else c_double, 2 if precision == 2 else 1
        off, diagonal = ((real * (n * pairs))(*([x, 0.0] * n if pairs == 2 else [x] * n)) for x in (-0.45, 1.0))
        opts = Opts(ctypes.sizeof(Opts), kind, precision, layout, n, 0, ctypes.cast(off, c_void_p),
                    ctypes.cast(diagonal, c_void_p), ctypes.cast(off, c_void_p), 0)
        plan = c_void_p()
        self.check(self.lib.kugel_banded_create(self.ctx, byref(opts), byref(plan)))
        self.plans[key] = plan

    def make_all(self, keys):
        """Plans of all keys, compiled by many threads."""
        for e in self.environment:
            libc.setenv(*(x.encode() for x in e.split("=")), 1)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.make, keys))
        for e in self.environment:
            libc.unsetenv(e.split("=")[0].encode())

    def shaped(self, buffer, key, batch):
        _, precision, layout, n = key
        shape = ([batch, n] if layout == 0 else [n, batch]) + ([2] if precision == 2 else [])
        return Array(buffer.value, 2, self.device.number, len(shape), 2, 32 if precision == 1 else 64, 1,
                     (c_int64 * len(shape))(*shape), None, 0)

    def call(self, key, batch, product):
        plan, f = self.plans[key], self.lib.kugel_banded_product if product else self.lib.kugel_banded_solve
        a, b = (self.shaped(x, key, batch) for x in self.device.buffers)
        return lambda: self.check(f(plan, byref(a), byref(b), self.queue))

    def chosen(self, key, batch):
        info = Info(size=ctypes.sizeof(Info), batch=batch)
        self.check(self.lib.kugel_banded_get_info(self.plans[key], byref(info)))
        return f"{info.threads} x {info.elements}"


def size_of(key, batch):
    return key[3] * batch * (8, 4, 16)[key[1]]


NS = (8, 16, 32, 64, 100, 128, 256, 500, 512, 1000, 1024, 2048, 4096)
SHORT = (8, 16, 32, 64, 100, 256, 512, 1000, 2048)
BATCHES = (10, 100, 1000, 10000, 100000)
KINDS = [(f"{bands} {real}{columns}", kind, precision, layout) for layout, columns in ((0, ""), (1, ", columns"))
         for precision, real in ((0, "f64"), (1, "f32"), (2, "dd")) for kind, bands in ((0, "bidiagonal"), (2, "tridiagonal"))]


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
    most = max(BATCHES) * max(NS) * 8
    device = Device(most)
    builds = [Build(*x.split("=", 1), device) for x in args.libraries]
    kinds = [k for k in KINDS if re.search(args.kinds, k[0])]
    ns, batches = (SHORT, BATCHES[3:]) if args.short else (NS, BATCHES)
    ns = [int(n) for n in args.n.split(",")] if args.n else ns
    batches = [int(n) for n in args.batch.split(",")] if args.batch else batches
    for build in builds:
        build.make_all([k[1:] + (n,) for k in kinds for n in ns])
    curves = {}
    for title, kind, precision, layout in kinds:
        names = " ".join(f"{b.name[:7]:>7} {b.name[:5]:>5}*A" for b in builds)
        print(f"{title}: solve and product (*A) over the floor\n{'batch':>6} {'n':>5} {'us':>8} {'TB/s':>6} {'floor':>7} {'drv':>5} {names}  threads x elements" + ("  apart" if len(builds) > 1 else ""))
        first = (kind, precision, layout) == (0, 0, 0)
        device.fill(precision)
        for batch in batches if first or args.batch else BATCHES[3:]:
            for n in ns:
                key = (kind, precision, layout, n)
                size = size_of(key, batch)
                if size > most:
                    continue
                runs, results = [b.call(key, batch, product) for b in builds for product in (False, True)], []
                for run in runs:
                    run()
                    driver(cuda.cuStreamSynchronize(device.stream))
                    results.append(device.result(size, precision))
                copies = device.copies(size)
                all_times = seconds(copies + runs, device.stream, calls_of(size))
                floor, times = min(all_times[:len(copies)]), list(zip(all_times[len(copies)::2], all_times[len(copies) + 1::2]))
                apart = max((abs(x - y) for r, first in zip(results[2:], results[:2] * len(builds)) for x, y in zip(r, first)),
                            default=0)
                rate = 2 * size / times[0][0] / 1e12
                if first:
                    curves.setdefault(batch, []).append((n, rate))
                ratios = " ".join(f"{s / floor:7.2f} {p / floor:7.2f}" for s, p in times)
                print(f"{batch:6} {n:5} {times[0][0] * 1e6:8.1f} {rate:6.3f} {floor * 1e6:7.1f} {all_times[0] / floor:5.2f} {ratios}  {builds[0].chosen(key, batch)}"
                      + (f"  {apart:.1e}" if len(builds) > 1 else ""), flush=True)
    if args.png:
        try:
            figure(curves, args.png)
        except ImportError:
            print("no matplotlib: no drawing; the table above has the numbers")


main()
