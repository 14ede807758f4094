# SPDX-License-Identifier: BSD-3-Clause
"""What the measurements share: interleaved timing, tables, the library of this source tree."""
import argparse
import contextlib
import ctypes
import importlib
import json
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def options(description, threads=True, only=True):
    """The parser all programs share."""
    parser = argparse.ArgumentParser(description=description)
    if threads:
        parser.add_argument("--threads", type=int, default=1, help="threads of every library (default 1)")
    parser.add_argument("--reps", type=int, default=5, help="interleaved repetitions (default 5)")
    if only:
        parser.add_argument("--only", default="", help="only rows whose name contains this text")
    parser.add_argument("--json", action="store_true", help="print JSON objects instead of a Markdown table")
    parser.add_argument("--smoke", action="store_true", help="a second of everything, small, rivals only where they are installed")
    return parser


def arguments(parser, **smoke):
    """The parsed arguments; with --smoke one repetition, and `smoke` in place of the defaults."""
    args = parser.parse_args()
    if args.smoke:
        args.reps = 1
        vars(args).update(smoke)
    return args


def rival(name, args):
    """The module of a rival; None where it is missing and --smoke is given."""
    try:
        with quiet():
            return importlib.import_module(name)
    except ImportError:
        if args.smoke:
            return None
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {name} is missing: ./setup --bench installs the rivals into .venv")


def load(threads=1):
    """The kugel package of this tree, all libraries limited to `threads`. Call before importing any rival."""
    os.environ["OMP_NUM_THREADS"] = os.environ["DUCC0_NUM_THREADS"] = str(threads)
    os.environ.setdefault("KUGEL_LIBRARY", str(ROOT / "build/release/libkugel.so"))
    sys.path.insert(0, str(ROOT / "python"))
    import kugel
    kugel.set_num_threads(threads)
    return kugel


def clock(threads=1):
    """What times are read from: the process's CPU time with one thread, else the wall clock."""
    return time.process_time if threads == 1 else time.perf_counter


def seconds(calls, reps, threads=1, shortest=0.0):
    """Seconds of each call in the dict `calls` (None: the rival is missing), run in turns: with one thread the median of process CPU time, else the
    minimum of wall time. Calls shorter than `shortest` seconds are repeated within a sample."""
    now, pick = clock(threads), statistics.median if threads == 1 else min
    calls = {name: call for name, call in calls.items() if call}
    samples, inner = {name: [] for name in calls}, {}
    for name, call in calls.items():
        start = time.perf_counter()
        call()
        inner[name] = max(1, int(shortest / max(time.perf_counter() - start, 1e-7)))
    for _ in range(reps):
        for name, call in calls.items():
            start = now()
            for _ in range(inner[name]):
                call()
            samples[name].append((now() - start) / inner[name])
    return {name: pick(s) for name, s in samples.items()}


@contextlib.contextmanager
def quiet():
    """What C code prints to stdout, goes to stderr: the SHTns module greets on import."""
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(saved, 1)
        os.close(saved)


class Table:
    """Rows printed as they come, as Markdown or as JSON."""

    def __init__(self, columns, as_json):
        self.columns, self.as_json = columns, as_json
        if not as_json:
            print("| " + " | ".join(columns) + " |\n|" + "|".join("---" for _ in columns) + "|", flush=True)

    def row(self, *values):
        if self.as_json:
            print(json.dumps(dict(zip(self.columns, values))), flush=True)
        else:
            print("| " + " | ".join(text(v) for v in values) + " |", flush=True)


def text(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.1e}" if value and abs(value) < 1e-5 else f"{value:.4g}"
    return str(value)
