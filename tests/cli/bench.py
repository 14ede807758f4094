# SPDX-License-Identifier: BSD-3-Clause
"""kugel bench: the grammar, one JSON line a problem, and errors that come from an independent direct sum."""
import json
from harness import *


def every_kind_of_transform():
    bounds = {"spin=0": 1e-13, "spin=1": 1e-13, "spin=2": 1e-13, "spin=3": 1e-13, "spin=4": 1e-13, "spin=teb": 1e-13,
              "dir=adjoint": 1e-15, "spin=2,dir=adjoint": 1e-15, "spin=teb,dir=adjoint": 1e-15, "dtype=f32": 1e-6,
              "mmax=20": 1e-13, "lmax=95": 1e-13, "rows=40": 1e-13, "rows=81,grid=cc,lmax=40": 1e-13,
              "rows=80,grid=mw,lmax=40,spin=2": 1e-13}
    problems = [f"sht:nside=32,threads=1,{words}" for words in bounds]
    lines = ok("bench", *problems, "--seconds", "0").out.splitlines()
    assert len(lines) == len(problems)
    for line, problem, bound in zip(lines, problems, bounds.values()):
        j = json.loads(line)
        assert j["problem"] == problem and j["runs"] >= 5 and j["threads"] == 1
        assert 0 < j["min_seconds"] <= j["median_seconds"] and j["gflops"] > 0 and j["spread"] >= 0
        assert j["error"] < bound, (problem, j["error"])


def every_kind_of_fft():
    kinds = ["c2c", "r2c", "c2r"] + [f"{c}{i}" for c in ("dct", "dst") for i in (1, 2, 3, 4)]
    problems = [f"fft:n={n},batch=3,kind={k},threads=1" for k in kinds for n in (12, 97, 128)]
    problems += ["fft:n=16,n2=15,n3=14", "fft:n=30,n2=8,kind=r2c", "fft:n=30,n2=9,kind=c2r", "fft:n=64,dtype=f32"]
    for line, problem in zip(ok("bench", *problems, "-s", "0").out.splitlines(), problems):
        j = json.loads(line)
        assert j["problem"] == problem and j["error"] < (1e-6 if "f32" in problem else 1e-15), j


def one_object():
    j = ok("bench", "sht:nside=8", "sht:nside=8,dir=analysis,iter=2", "--json", "-s", "0").json
    assert len(j["results"]) == 2 and j["status"] == "done" and j["results"][1]["error"] is None


def grammar():
    refused(2, "bench", says="PROBLEM is missing")
    refused(2, "bench", "shd:nside=8", says='unknown problem "shd"')
    refused(2, "bench", "sht:nsid=8", says='unknown key "nsid" (did you mean nside?)')
    refused(2, "bench", "sht:pixels=8", says="there are nside, rows, grid")
    refused(2, "bench", "sht:nside", says="needs a value: nside=...")
    refused(2, "bench", "sht:nside=0", says="nside 0: must be from 1")
    refused(2, "bench", "sht:spin=5", says="spin 5: choose 0, 1, 2, 3, 4 or teb")
    refused(2, "bench", "sht:nside=8", "sht:nside=x", says="nside x: needs a whole number")
    assert ok("bench", "sht:nside=8", "-n", "--json").json["expected_seconds"] == 2


main([every_kind_of_transform, every_kind_of_fft, one_object, grammar])
