#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Convolution of volumes on GPUs: Kugel beside cuFFT by way of CuPy or PyTorch, where one of them is here.

usage: bench/gpu_volume.py [--build DIRECTORY] [--json FILE] [--large] [--all] [--any] [--no-build] [--no-rivals]

Builds bench/programs/volume_gpu.c and deconv_gpu.c (gcc, CMake, an NVIDIA driver and NVRTC; nothing is fetched), runs them, and prints their
table; --large, --all and --any are passed on. Cases: a, 100 x 1000 x 1000 voxels and a kernel of 100^3; b, 96 x 576 x 576 and
33 x 65 x 65; c, 256 x 2048 x 2048 and 64^3; mode "same", spectra kept. Steps of Richardson
and Lucy (plain, Biggs and Andrews, heavy ball) have unknown edges, of a and c. Beside Kugel's times stand

  stated    cuFFT and elementwise kernels by CuPy 14.2 on one H200: measured once, elsewhere
  here      the same by CuPy or PyTorch in this run, on the same card
  floor     what the kernels read and write over the rate of a copy in device memory; of arrays in host memory the slower
            direction of the bus

FILE receives all figures as JSON: a list of objects.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
CASES = {"a": ((100, 1000, 1000), (100, 100, 100)), "b": ((96, 576, 576), (33, 65, 65)), "c": ((256, 2048, 2048), (64, 64, 64))}


def environment():
    """Where the driver and NVRTC are, if the loader does not know them: as gpu_build.sh finds them."""
    text = subprocess.run(["bash", "-c", ". bench/gpu_build.sh; env"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return {**os.environ, **{k: lines[k] for k in ("LD_LIBRARY_PATH", "KUGEL_NVRTC") if k in lines}}


def smooth(n):
    """The least number from n on without prime factors above 7."""
    while True:
        rest = n
        for p in (2, 3, 5, 7):
            while rest % p == 0:
                rest //= p
        if rest == 1:
            return n
        n += 1


def median_of(run, wait, rounds=9):
    times = []
    for i in range(rounds + 2):
        start = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times[2:])


def rivals():
    """[(program, case, milliseconds)] of convolutions with the kernel's spectrum kept."""
    found = []
    for shape, kernel, name in ((*CASES[c], c) for c in CASES):
        size = [smooth(n + k // 2) for n, k in zip(shape, kernel)]
        cut = tuple(slice((k - 1) // 2, (k - 1) // 2 + n) for n, k in zip(shape, kernel))
        for module in ("cupy", "torch"):
            try:
                xp = __import__(module)
                if module == "torch":
                    if not xp.cuda.is_available():
                        continue
                    x, h = xp.rand(*shape, device="cuda"), xp.rand(*kernel, device="cuda")
                    spectrum = xp.fft.rfftn(h, size)
                    found.append(("torch", name, median_of(
                        lambda: xp.fft.irfftn(xp.fft.rfftn(x, size).mul_(spectrum), size)[cut].contiguous(), xp.cuda.synchronize)))
                else:
                    x, h = xp.random.rand(*shape, dtype=xp.float32), xp.random.rand(*kernel, dtype=xp.float32)
                    spectrum = xp.fft.rfftn(h, size)
                    found.append(("cupy", name, median_of(
                        lambda: xp.ascontiguousarray(xp.fft.irfftn(xp.fft.rfftn(x, size) * spectrum, size)[cut]),
                        xp.cuda.Device().synchronize)))
            except ImportError:
                continue
            except Exception as error:  # out of memory: the rest goes on
                print(f"{module}, case {name}: {error}", file=sys.stderr)
    return found


def rival_steps():
    """[(program, case, milliseconds)] of a step of Richardson and Lucy with unknown edges by CuPy."""
    found = []
    try:
        import cupy as xp
    except ImportError:
        return found
    for name in ("a", "c"):
        shape, kernel = CASES[name]
        whole = [n + k - 1 for n, k in zip(shape, kernel)]
        size = [smooth(n) for n in whole]
        valid = tuple(slice(k - 1, k - 1 + n) for n, k in zip(shape, kernel))
        own = tuple(slice(0, n) for n in whole)
        try:
            y = xp.random.rand(*shape, dtype=xp.float32) + 1
            h = xp.fft.rfftn(xp.random.rand(*kernel, dtype=xp.float32), size)
            weight, x = xp.ones(whole, xp.float32), xp.ones(whole, xp.float32)

            def step():
                nonlocal x
                model = xp.fft.irfftn(xp.fft.rfftn(x, size) * h, size)[valid]
                ratio = xp.zeros(size, xp.float32)
                ratio[valid] = y / (model + 1e-3)
                x = x * weight * xp.fft.irfftn(xp.fft.rfftn(ratio) * h.conj(), size)[own]
            found.append(("cupy", "step " + name, median_of(step, xp.cuda.Device().synchronize, 5)))
            del y, h, weight, x
        except Exception as error:  # out of memory: the rest goes on
            print(f"cupy, step of case {name}: {error}", file=sys.stderr)
        xp.get_default_memory_pool().free_all_blocks()
    return found


def floors(copy, bus, row):
    """Milliseconds that the device's copy rate or the bus allow, bytes per second."""
    if row["way"].startswith("device"):
        return 1e3 * row["kernel_bytes"] / copy
    return 1e3 * row["arrays_bytes"] / 2 / bus


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", default="build/gpu")
    arguments.add_argument("--json", default="build/gpu_volume.json")
    arguments.add_argument("--copy", type=float, default=4264, help="GB/s of a copy in device memory, read and written")
    arguments.add_argument("--bus", type=float, default=50.8, help="GB/s of each direction of the bus, both busy")
    for flag in ("large", "all", "any", "no-build", "no-rivals"):
        arguments.add_argument("--" + flag, action="store_true")
    a = arguments.parse_args()
    programs = ["bench_volume_gpu", "bench_deconv_gpu"]
    if not a.no_build:
        subprocess.run(["bash", "-c", f". bench/gpu_build.sh; gpu_build '{a.build}' {' '.join(programs)}"], cwd=ROOT, check=True)
    rows, code = [], 0
    flags = [flag for flag in ("--large", "--all", "--any") if getattr(a, flag[2:])]
    for program in programs:
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            path = str(ROOT / a.build / "bench" / program)
            code |= subprocess.run([path, "--json", file.name, *flags], env=environment(), check=False).returncode
            text = pathlib.Path(file.name).read_text()
        rows += json.loads(text) if text.strip() else []
    others = [] if a.no_rivals else rivals() + rival_steps()
    steps = {c: ms for _, c, ms in others}
    here = {name: min((ms for _, c, ms in others if c == name), default=0) for name in CASES}
    print(f"\n{'case':4} {'way':22} {'type':4} {'ms':>9} {'floor':>8} {'stated':>8} {'here':>8} {'ratio':>6} {'error':>8}")
    for row in rows:
        row["floor_ms"] = floors(1e9 * a.copy, 1e9 * a.bus, row)
        row["rival_ms"] = here.get(row["case"], 0) if row["way"].startswith("device") else 0
        if "step" in row["way"]:
            row["rival_ms"] = steps.get("step " + row["case"], 0)
        stated = row["stated_rival_ms"] if row["way"].startswith("device") else 0
        rival = row["rival_ms"] or stated
        print(f"{row['case']:4} {row['way']:22} {row['type']:4} {row['ms']:9.3f} {row['floor_ms']:8.3f} {stated or '-':>8} "
              f"{round(row['rival_ms'], 3) or '-':>8} {round(rival / row['ms'], 2) if rival else '-':>6} {row['error']:8.1e}")
    rows += [{"program": p, "case": c, "ms": ms} for p, c, ms in others]
    pathlib.Path(a.json).parent.mkdir(parents=True, exist_ok=True)
    pathlib.Path(a.json).write_text(json.dumps(rows, indent=1) + "\n")
    print(f"{a.json} has all figures")
    return code


if __name__ == "__main__":
    sys.exit(main())
