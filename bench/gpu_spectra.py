#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Couplings of masked maps on one GPU: matrices in its memory, and bandpowers (their sums over bands, brought to the host).

usage: bench/gpu_spectra.py [--device cuda:0] [--json FILE] [--only TEXT] [--repeats N] [--check LMAX] [--smoke]

Needs the library and NumPy only. Milliseconds, medians of the repeats, each a whole call: tables made on the host and sent, kernels, and for
bandpowers the sums on their way back and the factors. The errors are those of matrices (largest difference over largest element of a
family; cases to --check, default 2048) and of windows against the CPU. The floor: double-precision instructions, each multiply-add one,
at 16.7e12 per second (H200): 3 per term of 00, 8 of 00, 0S and PLUS, 5 of MINUS; lmax^3 / 8 terms of either parity.
"""
import argparse
import ctypes
import json
import pathlib
import statistics
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import kugel  # noqa: E402
from kugel import _ffi  # noqa: E402
from kugel._lib import lib, options, view  # noqa: E402
from kugel.arrays import dtype_of, make_view  # noqa: E402
from kugel.hardware import context  # noqa: E402

RATE = 16.7e12
FAMILIES = {"00": 1, "0s": 2, "plus": 4, "minus": 8}
# name, lmax, masks, families, aim in ms
MATRICES = [
    ("00 lmax 2048", 2048, 1, ("00",), 0.5), ("T,E,B lmax 2048", 2048, 1, tuple(FAMILIES), 1.5),
    ("00 lmax 8192", 8192, 1, ("00",), 25), ("2 x 2 lmax 8192", 8192, 1, ("plus", "minus"), None),
    ("T,E,B lmax 8192", 8192, 1, tuple(FAMILIES), 200),
    ("T,E,B lmax 767, 32 masks", 767, 32, tuple(FAMILIES), None),
]
BANDPOWERS = [("bandpowers T,E,B lmax 2048", 2048, 20, None), ("bandpowers T,E,B lmax 8192", 8192, 82, 200)]


def spectrum(lmax, masks=1):
    return (np.arange(2 * lmax + 1) + 1.0) ** -2.5 * (1 + 0.1 * np.arange(masks)[:, None])


def floor_of(lmax, masks, families):
    even = 8 if set(families) >= {"00", "0s", "plus"} else 3 if families == ("00",) else 6
    return masks * lmax**3 / 8 * (even + (5 if "minus" in families else 0)) / RATE


def timed(call, repeats):
    call()  # compiles
    call()
    took = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        took.append(1e3 * (time.perf_counter() - start))
    return took


def matrices(args, name, lmax, masks, families, aim):
    where, w = context(args.device), spectrum(lmax, masks)
    shape = (masks, len(families), lmax + 1, lmax + 1)
    xi = kugel.DeviceArray(shape, np.float64, args.device)
    there = make_view(xi._handle.address, where.type, where.id, dtype_of(xi.dtype), shape, None, xi)
    opts = options(_ffi.kugel_coupling_opts, lmax=lmax, lmax_mask=2 * lmax, spin1=2, spin2=2, families=sum(FAMILIES[f] for f in families))
    host = view(w)
    took = timed(lambda: lib.kugel_couplings(where.address, ctypes.byref(opts), host, ctypes.byref(there), None), args.repeats)
    error = None
    if lmax <= args.check:
        got, want = xi.get()[-1], kugel.spectra.coupling(w[-1], lmax, (2, 2), families)
        error = max(float(abs(got[i] - want[f]).max() / abs(want[f]).max()) for i, f in enumerate(families))
    return took, floor_of(lmax, masks, families), error


def bandpowers(args, name, lmax, width, aim):
    """TT, TE and EE of one mask: three plans."""
    mask = np.ones(12)
    mask_alm = np.zeros(kugel.Alm.getsize(2 * lmax), complex)
    mask_alm[:2 * lmax + 1] = np.sqrt(spectrum(lmax)[0] * (2 * np.arange(2 * lmax + 1) + 1))  # of order 0 alone
    fields = [kugel.spectra.Field(mask, None, spin=spin, lmax=lmax, lmax_mask=2 * lmax) for spin in (0, 2)]
    for f in fields:
        f.mask_alm = mask_alm
    bands = kugel.spectra.Bands.linear(lmax, width)
    w = kugel.spectra.mask_cl(*fields)

    def one(first, second, address):
        opts = options(_ffi.kugel_spectra_opts, mask_cl=w, lmax_mask=w.size - 1, lmax=lmax, spin1=first, spin2=second, bands=bands.count,
                       band=bands.band)
        out = ctypes.c_void_p()
        lib.kugel_spectra_create(address, ctypes.byref(opts), ctypes.byref(out))
        return out.value

    def call():
        for plan in [one(*pair, context(args.device).address) for pair in ((0, 0), (0, 2), (2, 2))]:
            lib.kugel_spectra_destroy(plan)
    took = timed(call, args.repeats)
    error = 0.0
    for first, second in ((0, 0), (0, 1), (1, 1)) if lmax <= args.check else ():
        a, b = (kugel.spectra.Couplings(fields[first], fields[second], bands, device=d).window_array() for d in (None, args.device))
        error = max(error, float(abs(a - b).max() / abs(a).max()))
    return took, floor_of(lmax, 1, tuple(FAMILIES)), error if lmax <= args.check else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--check", type=int, default=2048, help="largest lmax whose results are compared with the CPU's")
    parser.add_argument("--smoke", action="store_true", help="small cases")
    args = parser.parse_args()
    cases = [(matrices, c) for c in MATRICES] + [(bandpowers, c) for c in BANDPOWERS]
    if args.smoke:
        cases = [(matrices, ("T,E,B lmax 40, 3 masks", 40, 3, tuple(FAMILIES), None)), (bandpowers, ("bandpowers lmax 40", 40, 5, None))]
        args.repeats = 1
    rows = []
    print("| case | ms | least | floor | aim | error |\n|---|---|---|---|---|---|")
    for run, case in cases:
        if args.only not in case[0]:
            continue
        took, floor, error = run(args, *case)
        rows.append({"case": case[0], "ms": statistics.median(took), "least_ms": min(took), "floor_ms": 1e3 * floor, "aim_ms": case[-1],
                     "error": error})
        print(f"| {case[0]} | {statistics.median(took):.3f} | {min(took):.3f} | {1e3 * floor:.3f} | {case[-1] or '-'} | "
              f"{'-' if error is None else f'{error:.1e}'} |", flush=True)
        if args.json:  # after each case: a run that is cut short keeps its figures
            described = next((d for d in kugel.devices() if d["name"] == args.device), {})
            pathlib.Path(args.json).write_text(json.dumps({"device": described.get("description", args.device), "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
