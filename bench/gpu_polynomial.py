#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jones-Worland transforms of all (l, m) on one device: chains of rotations, tables, and the same steps one launch each.

usage: bench/gpu_polynomial.py LIBKUGEL [--device cuda:0] [--sizes 255,511,1023] [--seconds 2] [--json FILE] [--model | --tune]

Needs the built library and NumPy alone. For each L, N = L + 1 coefficients of degrees l = 0 ... L with l + 1 complex systems
each, nr = N + ceil(L / 2) radii:

  connection  kugel_jwt_synthesis and _analysis, KUGEL_WORLAND_CONNECTION, float64 and float32, arrays in the device's memory
  dense       the same by tables W_n^l(r_k), where --tables (GiB, default 16) holds them
  bidiagonal  the same by a product and a solve a step (KUGEL_WORLAND_BIDIAGONAL), all steps in one launch
  scan        the same with lines in the registers of warps and each step solved by a scan (KUGEL_WORLAND_SCAN), to 888 radii
  tensor      the same by products with matrices of 16 steps and 16 rows on the tensor cores, float64 (KUGEL_WORLAND_TENSOR)
  unfused     the chain alone as one bidiagonal product and one solve a step, each a launch over all systems whose degree is
              higher (kugel_banded): no cosine transform, so it is favoured

Times: median over calls in groups that take turns, each group queued and waited for. Floors: coefficients read and values
written once over the rate of a copy measured here; operations (4 a rotation and right-hand side, 2 of them fused, counted as
4 instructions) over --flops instructions a second (default 33.5e12 / 2 of the H200, float64 without tensor cores). Errors:
of the synthesis against the CPU's on a few systems.

--model, alone: the constants of engine auto's cost model (src/polynomial/jwt_dense.c) as lines of C, fitted to times of both engines at
single degrees, in units of one product of a table: a rotation, and a point of a cosine transform. --device cpu fits those of the CPU.

--tune, alone, about 50 s: the connection in float64 by shapes of the systolic array (KUGEL_POLYNOMIAL_..., docs/polynomial.md), of degrees
L, L - step, ... with l + 1 systems each; best last; then engine tensor by WARPS, BLOCKS and STEPS. "model": operations of passes that are filled up to GROUP STEPS steps, at --flops,
and 24 bytes each coefficient and radius at the rate of the copy. The default of the library is kugel__poly_choose (src/polynomial/gpu_turns.c).
"""
import argparse
import ctypes
import json
import os
import sys
import time

import numpy as np

import gpu_side
from gpu_side import Banded, Memory, check, copy_rate, host, some_random, timed

C = ctypes


class Jwt(C.Structure):
    _fields_ = [("size", C.c_size_t), ("type", C.c_int), ("norm", C.c_int), ("engine", C.c_int), ("precision", C.c_int),
                ("complex_data", C.c_int), ("n", C.c_int64), ("blocks", C.c_int64), ("l", C.c_void_p),
                ("multiplicity", C.c_void_p), ("nl", C.c_void_p), ("nr", C.c_int64), ("radii", C.c_void_p),
                ("max_table", C.c_uint64), ("energy", C.c_int)]


class JwtInfo(C.Structure):
    _fields_ = [("size", C.c_size_t), ("n", C.c_int64), ("nr", C.c_int64), ("systems", C.c_int64),
                ("fewest_radii", C.c_int64), ("dense_blocks", C.c_int64), ("table_bytes", C.c_uint64)]


def plan_of(context, lmax, engine, single, some=None, multiplicity=1):
    l = np.arange(lmax + 1, dtype=np.int64) if some is None else np.array(some, np.int64)
    systems = l + 1 if some is None else np.full_like(l, multiplicity)
    o = Jwt(size=C.sizeof(Jwt), engine=engine, precision=int(single), complex_data=1, n=lmax + 1, blocks=len(l),
            l=l.ctypes.data, multiplicity=systems.ctypes.data, nr=lmax + 1 + (lmax + 1) // 2, max_table=1 << 40)
    plan = C.c_void_p()
    check(lib.kugel_jwt_create(context, C.byref(o), C.byref(plan)))
    info = JwtInfo(size=C.sizeof(JwtInfo))
    check(lib.kugel_jwt_get_info(plan, C.byref(info)))
    return plan, info


def error_of(lmax, engine, single):
    """Largest difference to the CPU in float64 over the largest value, of a few degrees."""
    some = sorted({0, 1, 2, lmax // 3, lmax // 2, lmax - 1, lmax})
    dtype = np.complex64 if single else np.complex128
    there, info = plan_of(ctx, lmax, engine, single, some)
    here, _ = plan_of(None, lmax, 1, False, some)
    random = np.random.default_rng(1)
    c = (random.standard_normal((len(some), info.n)) + 1j * random.standard_normal((len(some), info.n))).astype(dtype)
    got, want = np.empty((len(some), info.nr), dtype), np.empty((len(some), info.nr), np.complex128)
    check(lib.kugel_jwt_synthesis(there, 0, C.byref(host(c)), C.byref(host(got)), None))
    check(lib.kugel_jwt_synthesis(here, 0, C.byref(host(c.astype(np.complex128))), C.byref(host(want)), None))
    lib.kugel_jwt_destroy(there)
    lib.kugel_jwt_destroy(here)
    return float((abs(got - want).max(axis=1) / abs(want).max(axis=1)).max())


def transform(lmax, engine, single, seconds):
    begin = time.perf_counter()
    plan, info = plan_of(ctx, lmax, engine, single)
    made = time.perf_counter() - begin
    dtype = np.float32 if single else np.float64
    c, f = Memory((info.systems, info.n), dtype, 2), Memory((info.systems, info.nr), dtype, 2)
    a, b = c.view(), f.view()
    start = some_random((info.systems, info.n, 2), dtype).view(np.complex64 if single else np.complex128)[..., 0]
    check(lib.kugel_jwt_synthesis(plan, 0, C.byref(host(start)), C.byref(b), None))  # random values for both ways
    check(lib.kugel_jwt_analysis(plan, 0, C.byref(b), C.byref(a), None))
    go = [lambda: check(lib.kugel_jwt_synthesis(plan, 0, C.byref(a), C.byref(b), queue)),
          lambda: check(lib.kugel_jwt_analysis(plan, 0, C.byref(b), C.byref(a), queue))]
    times = timed(go, seconds)
    io = c.bytes + f.bytes
    c.free()
    f.free()
    lib.kugel_jwt_destroy(plan)
    return {"synthesis_s": times[0], "analysis_s": times[1], "plan_s": made, "tables": info.table_bytes, "bytes": io}


def gamma(n, a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        v = np.sqrt(2 * (n + b + 1) * (n + a + b + 1) / ((2 * n + a + b + 1) * (2 * n + a + b + 2)))
    return np.where(n > 0, v, np.sqrt(2 * (b + 1) / (a + b + 2)))


def zeta(n, a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        v = np.sqrt(2 * n * (n + a) / ((2 * n + a + b) * (2 * n + a + b + 1)))
    return np.where(n > 0, v, 0.0)


def unfused(lmax, seconds):
    """Degree ll + 2 to ll, all systems of higher degree at once: V^-1 M with square matrices of the longest length."""
    n = lmax + 1 + lmax // 2
    n += n % 2
    rows = np.arange(n, dtype=float)
    lanes = [sum(2 * (l + 1) for l in range(p, lmax + 1, 2)) for p in range(2)]
    x, y = (Memory((max(lanes), n), np.float64) for _ in range(2))
    steps = []
    for ll in range(lmax - 1):
        systems = sum(2 * (l + 1) for l in range(ll + 2, lmax + 1, 2))
        a, b = -0.5, ll - 0.5
        below = zeta(rows, a, b + 1)  # of M, b + 2 -> b + 1: y_i = g_i x_i + z_i x_{i-1}
        main, vmain, above = gamma(rows, a, b + 1), gamma(rows, a, b), zeta(rows + 1, a, b)
        for o, verb in ((Banded(size=C.sizeof(Banded), kind=0, n=n, lower=below.ctypes.data, diagonal=main.ctypes.data),
                         lib.kugel_banded_product),
                        (Banded(size=C.sizeof(Banded), kind=1, n=n, diagonal=vmain.ctypes.data, upper=above.ctypes.data),
                         lib.kugel_banded_solve)):
            plan = C.c_void_p()
            check(lib.kugel_banded_create(ctx, C.byref(o), C.byref(plan)))
            steps.append((verb, plan, x.view((systems, n)), y.view((systems, n))))

    def go():
        for i, (verb, plan, u, v) in enumerate(steps):
            check(verb(plan, C.byref(v if i % 2 else u), C.byref(u if i % 2 else v), queue))
    random = some_random((max(lanes), n), np.float64)
    check(lib.kugel_device_upload(ctx, x.base, C.c_size_t(0), C.c_void_p(random.ctypes.data), C.c_size_t(x.bytes), queue))
    check(lib.kugel_queue_wait(queue))
    took = timed([go], seconds)[0]
    for _, plan, _, _ in steps:
        lib.kugel_banded_destroy(plan)
    x.free()
    y.free()
    return {"chain_s": took, "launches": len(steps), "bytes": sum(2 * 8 * u.shape[0] * n for _, _, u, _ in steps)}


def model(seconds):
    """Synthesis of many systems of one degree: a table takes nr n units, a chain `cells` rotations and nr points."""
    rows, where = [], None if args.device == "cpu" else queue
    for lmax in (63, 127, 255, 511):
        for l in (0, lmax // 4, lmax // 2, lmax):
            n, nr = lmax + 1, lmax + 1 + (lmax + 1) // 2
            systems = max(64, (1 << 22 if args.device == "cpu" else 1 << 26) // nr)
            plans = [plan_of(ctx, lmax, engine, False, [l], systems)[0] for engine in (1, 2)]
            if args.device == "cpu":
                c, f = np.ones((systems, n), np.complex128), np.empty((systems, nr), np.complex128)
                views = [host(c), host(f)]
            else:
                memory = [Memory((systems, n), np.float64, 2), Memory((systems, nr), np.float64, 2)]
                check(lib.kugel_jwt_synthesis(plans[0], 0, C.byref(host(np.ones((systems, n), np.complex128))),
                                              C.byref(memory[1].view()), None))
                check(lib.kugel_jwt_analysis(plans[0], 0, C.byref(memory[1].view()), C.byref(memory[0].view()), None))
                views = [m.view() for m in memory]
            chain, table = timed([lambda p=p: check(lib.kugel_jwt_synthesis(p, 0, C.byref(views[0]), C.byref(views[1]), where))
                                  for p in plans], seconds / 8)
            cells = l // 2 * (n + l // 2 / 2)
            rows.append((table / systems, chain / systems, n * nr, cells, nr))
            print(f"  n = {n:4d}  l = {l:4d}  table {table * 1e9 / systems / n / nr:.4f} ns per product, chain {chain * 1e9 / systems:10.1f} ns", flush=True)
            for p in plans:
                lib.kugel_jwt_destroy(p)
            if args.device != "cpu":
                for m in memory:
                    m.free()
    table, chain, products, cells, points = np.array(rows).T
    unit = np.median(table / products)
    x, *_ = np.linalg.lstsq(np.stack([cells, points], 1) / chain[:, None], np.ones(len(chain)), rcond=None)  # least squares of relative errors
    rotation, point = x / unit
    misses = [abs(np.log(t / c)) for t, c, *r in rows if (t < c) != (r[0] < r[1] * rotation + r[2] * point)]
    word = "" if args.device == "cpu" else "DEVICE_"
    print(f"static const double {word}ROTATION = {rotation:.3g}, {word}POINT = {point:.3g}; /* {args.device}: a product takes "
          f"{unit * 1e9:.3g} ns */")
    print(f"{len(misses)} of {len(rows)} choices are not the faster one, by up to {100 * (np.exp(max(misses, default=0)) - 1):.0f} %")


SHAPES = [  # group, steps, lanes, warps, blocks, ticks, lift
    (16, 4, 8, 4, 3, 16, 1), (8, 4, 4, 4, 4, 16, 1), (16, 4, 4, 4, 4, 16, 1), (16, 4, 4, 8, 2, 16, 1), (16, 4, 4, 2, 8, 16, 1), (32, 4, 4, 4, 4, 16, 1),
    (8, 8, 4, 4, 3, 16, 1), (16, 8, 4, 4, 3, 8, 1), (8, 8, 2, 4, 4, 8, 1), (16, 4, 4, 4, 5, 16, 1), (16, 4, 8, 8, 1, 16, 1), (8, 4, 4, 8, 2, 16, 1),
    (16, 4, 4, 4, 4, 16, 0)]
TENSOR_SHAPES = [{"WARPS": w, "BLOCKS": b, "STEPS": s} for w, b, s in ((4, 2, 3), (4, 2, 4), (4, 2, 5), (8, 1, 4), (4, 3, 2), (4, 3, 3), (4, 3, 4))]
KNOBS = ("GROUP", "STEPS", "LANES", "WARPS", "BLOCKS", "TICKS", "LIFT")


def predicted(lmax, degrees, shape, rate, flops):
    """Time by the model: whole passes of chunks of ticks, whole warps, and the passes through memory beside the chain."""
    group, steps, lanes, _, _, ticks, lift = shape
    n, columns, cells, values = lmax + 1, 32 // group * lanes, 0, 0
    for l in degrees:
        systems, done = 2 * (l + 1), 0
        values += systems * (2 * n + (lmax + 1) // 2)
        while done < l // 2:
            some = min(l // 2 - done, group * steps)
            cells += -(-systems // columns) * columns * (-(-(n + done + some + group - 1) // ticks) * ticks) * group * steps
            done += some
    return cells * (3 if lift else 4) / flops + 24 * values / rate


def tune(sizes, seconds, flops):
    """Times of each shape; the fastest synthesis and analysis together is the best."""
    rate = copy_rate()
    for lmax in sizes:
        degrees = list(range(lmax, -1, -max(1, (lmax + 1)**2 // 131072)))
        n, nr, systems = lmax + 1, lmax + 1 + (lmax + 1) // 2, sum(l + 1 for l in degrees)
        c, f = Memory((systems, n), np.float64, 2), Memory((systems, nr), np.float64, 2)
        a, b = c.view(), f.view()
        start = some_random((systems, n, 2), np.float64).view(np.complex128)[..., 0]
        floor = 4 * sum(2 * (l + 1) * sum(n + j for j in range(l // 2)) for l in degrees) / flops
        rows = []
        print(f"L = {lmax}, {len(degrees)} degrees, {systems} systems; floor of operations {floor * 1e3:.3f} ms, four a rotation")
        for shape in SHAPES:
            for knob, value in zip(KNOBS, shape):
                os.environ["KUGEL_POLYNOMIAL_" + knob] = str(value)
            plan, _ = plan_of(ctx, lmax, 1, False, degrees, np.array(degrees) + 1)
            if not rows:
                check(lib.kugel_jwt_synthesis(plan, 0, C.byref(host(start)), C.byref(b), None))
            times = timed([lambda: check(lib.kugel_jwt_synthesis(plan, 0, C.byref(a), C.byref(b), queue)),
                           lambda: check(lib.kugel_jwt_analysis(plan, 0, C.byref(b), C.byref(a), queue))], seconds)
            lib.kugel_jwt_destroy(plan)
            rows.append((sum(times), times, shape, predicted(lmax, degrees, shape, rate, flops)))
        for _, times, shape, model_s in sorted(rows, reverse=True):
            print(f"  {' '.join(f'{k.lower()}={v}' for k, v in zip(KNOBS, shape)):62s} synthesis {times[0] * 1e3:8.3f} ms,"
                  f" analysis {times[1] * 1e3:8.3f} ms, model {model_s * 1e3:8.3f} ms, share {floor / times[0]:.2f}", flush=True)
        for knob in KNOBS:
            del os.environ["KUGEL_POLYNOMIAL_" + knob]
        for shape in TENSOR_SHAPES:
            names = {"KUGEL_POLYNOMIAL_" + knob: str(value) for knob, value in shape.items()}
            os.environ.update(names)
            plan, _ = plan_of(ctx, lmax, 6, False, degrees, np.array(degrees) + 1)
            times = timed([lambda: check(lib.kugel_jwt_synthesis(plan, 0, C.byref(a), C.byref(b), queue)),
                           lambda: check(lib.kugel_jwt_analysis(plan, 0, C.byref(b), C.byref(a), queue))], seconds)
            lib.kugel_jwt_destroy(plan)
            for name in names:
                del os.environ[name]
            print(f"  tensor {' '.join(f'{k.lower()}={v}' for k, v in shape.items()):55s} synthesis {times[0] * 1e3:8.3f} ms,"
                  f" analysis {times[1] * 1e3:8.3f} ms, share {floor / times[0]:.2f}", flush=True)
        c.free()
        f.free()


parser = argparse.ArgumentParser()
parser.add_argument("library")
parser.add_argument("--device", default="cuda:0")
parser.add_argument("--sizes", default="255,511,1023")
parser.add_argument("--engines", default="connection,dense,bidiagonal,scan,tensor,unfused")
parser.add_argument("--seconds", type=float, default=2)
parser.add_argument("--tables", type=float, default=16)
parser.add_argument("--flops", type=float, default=33.5e12 / 2)
parser.add_argument("--json")
parser.add_argument("--model", action="store_true")
parser.add_argument("--tune", action="store_true")
args = parser.parse_args()
engines = args.engines.split(",")
lib, ctx, queue, _ = gpu_side.open_device(args.library, args.device)
if args.model:
    model(args.seconds)
    sys.exit(0)
if args.tune:
    tune(list(map(int, args.sizes.split(","))), min(args.seconds, 0.5), args.flops)
    sys.exit(0)
rate = copy_rate()
report = {"device": args.device, "copy_bytes_per_s": rate, "rows": []}
print(f"{args.device}: {rate / 1e12:.2f} TB/s read and written")
print("   L  engine      type   synthesis   analysis  floor bytes  floor ops   share     tables    error")
for lmax in map(int, args.sizes.split(",")):
    n = lmax + 1
    cells = sum(2 * (l + 1) * sum(n + j for j in range(l // 2)) for l in range(lmax + 1))
    dense = sum(2 * (l + 1) * n * (n + (lmax + 1) // 2) for l in range(lmax + 1))
    for engine, word, operations in ((1, "connection", 4 * cells), (2, "dense", dense), (4, "bidiagonal", 4 * cells),
                                     (5, "scan", 4 * cells), (6, "tensor", 4 * cells)):
        if word not in engines:
            continue
        for single in (False,) if engine == 6 else (False, True):
            tables = (lmax + 1) * n * (n + (lmax + 1) // 2) * (4 if single else 8)
            if engine == 2 and tables > args.tables * 2**30:
                print(f"{lmax:4d}  {word:10s}  tables of {tables / 2**30:.1f} GiB: not made")
                continue
            if engine == 5 and n + (lmax + 1) // 2 > 888:
                print(f"{lmax:4d}  {word:10s}  no registers for lines of {n + (lmax + 1) // 2} radii")
                break
            row = transform(lmax, engine, single, args.seconds)
            row |= {"L": lmax, "engine": word, "precision": "f32" if single else "f64", "floor_bytes_s": row["bytes"] / rate,
                    "floor_operations_s": operations / args.flops / (2 if single else 1),
                    "error": error_of(lmax, engine, single)}
            best = max(row["floor_bytes_s"], row["floor_operations_s"])
            row["share"] = best / row["synthesis_s"]
            report["rows"].append(row)
            print(f"{lmax:4d}  {word:10s}  {row['precision']}  {row['synthesis_s'] * 1e3:8.3f} ms {row['analysis_s'] * 1e3:8.3f} ms"
                  f"  {row['floor_bytes_s'] * 1e3:8.3f} ms {row['floor_operations_s'] * 1e3:8.3f} ms  {row['share']:6.2f}"
                  f"  {row['tables'] / 1e6:7.1f} MB  {row['error']:.1e}", flush=True)
    if "unfused" not in engines:
        continue
    row = unfused(lmax, args.seconds) | {"L": lmax, "engine": "unfused", "precision": "f64"}
    row["times_connection"] = row["chain_s"] / next(r["synthesis_s"] for r in report["rows"] if r["L"] == lmax)
    report["rows"].append(row)
    print(f"{lmax:4d}  unfused     f64  {row['chain_s'] * 1e3:8.3f} ms in {row['launches']} launches:"
          f" {row['times_connection']:.1f} times the connection, {row['bytes'] / row['chain_s'] / 1e12:.2f} TB/s", flush=True)
if args.json:
    with open(args.json, "w") as file:
        json.dump(report, file, indent=1)
sys.exit(0)
