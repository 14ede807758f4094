# SPDX-License-Identifier: BSD-3-Clause
"""Memory, threads, processes, signals, errors, generated files."""
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import kugel as hp
from kugel import _lib, plans
from conftest import ROOT


def some_alm(lmax, seed=1):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((2, hp.Alm.getsize(lmax)))
    a[1, :lmax + 1] = 0
    return a[0] + 1j * a[1]


@pytest.fixture
def addresses(monkeypatch):
    """Addresses of the arrays that the library is given."""
    seen = []

    def view(a):
        seen.append(a.ctypes.data)
        return _lib.view(a)

    monkeypatch.setattr(plans, "view", view)
    return seen


@pytest.mark.parametrize("dtypes", [(np.complex128, np.float64), (np.complex64, np.float32)])
def test_plans_copy_nothing(addresses, dtypes):
    sht = hp.SHT(8, 16)
    alm, out = some_alm(16).astype(dtypes[0]), np.empty(768, dtypes[1])
    assert sht.synthesis(alm, out=out) is out
    assert addresses == [alm.ctypes.data, out.ctypes.data]
    addresses.clear()
    back = np.empty_like(alm)
    sht.analysis(out, out=back)
    assert addresses == [out.ctypes.data, back.ctypes.data]


def test_maps_and_alm_are_not_copied(addresses):
    alm = some_alm(16)
    m = hp.alm2map(alm, 8)
    assert addresses == [alm.ctypes.data, m.ctypes.data]
    addresses.clear()
    for kind in (np.float64, np.float32):
        x = m.astype(kind)
        hp.map2alm(x, lmax=16)
        assert addresses[0] == x.ctypes.data
        addresses.clear()
    np.testing.assert_array_equal(hp.map2alm(m.astype(">f8"), lmax=16), hp.map2alm(m, lmax=16))
    np.testing.assert_array_equal(hp.map2alm(np.repeat(m, 2)[::2], lmax=16), hp.map2alm(m, lmax=16))


def test_plans():
    grid = hp.Grid.gauss(17)
    assert (grid.nrings, grid.npix) == (17, 17 * 34)
    assert np.isclose((grid.table()["weight"] * grid.table()["nphi"]).sum(), 4 * np.pi)
    sht = hp.SHT(grid, 16)
    batch = np.stack([some_alm(16, s) for s in range(5)])
    maps = sht.synthesis(batch)
    assert maps.shape == (5, grid.npix)
    np.testing.assert_allclose(sht.analysis(maps), batch, atol=1e-12)
    pair = hp.SHT(grid, 16, mmax=3, spin=2)
    alm = np.zeros((2, pair.nalm), complex)
    alm[:, 2:] = np.random.default_rng(3).standard_normal((2, pair.nalm - 2))
    alm[:, hp.Alm.getidx(16, 1, 1)] = 0
    np.testing.assert_allclose(pair.analysis(pair.synthesis(alm)), alm, atol=1e-12)
    rings = grid.table()
    copy = hp.Grid.rings(rings["theta"], rings["nphi"], rings["phi0"], rings["first"], rings["weight"])
    np.testing.assert_allclose(hp.SHT(copy, 16).synthesis(batch[0]), maps[0], atol=1e-12)
    f = np.random.default_rng(2).standard_normal(grid.npix)
    weight = np.where(np.arange(sht.nalm) <= 16, 1, 2)
    left = maps[0] @ f
    right = np.sum(weight * (batch[0] * sht.synthesis_adjoint(f).conj()).real)
    assert left == pytest.approx(right, rel=1e-12)
    found, stats = sht.solve(maps[0])
    assert stats["converged"] and stats["residual"] < 1e-9
    np.testing.assert_allclose(found, batch[0], atol=1e-8)
    assert not hp.SHT(4, 11).solve(np.random.default_rng(1).standard_normal(192), max_iterations=1)[1]["converged"]
    assert hp.SHT(grid, 16, mmax=0).nalm == 17


@pytest.mark.parametrize("call,kind", [
    (lambda: hp.SHT(8, -1), ValueError), (lambda: hp.SHT(8, 4, mmax=5), ValueError), (lambda: hp.SHT(0, 4), ValueError),
    (lambda: hp.SHT(8, 4, mode="x"), ValueError), (lambda: hp.SHT(hp.Grid.gauss(5), 4, weights="ring"),
                                                   NotImplementedError),
    (lambda: hp.SHT(8, 4).synthesis(np.zeros(7, complex)), ValueError),
    (lambda: hp.SHT(8, 4).synthesis(np.zeros(15, complex), out=np.zeros(3)), ValueError),
    (lambda: hp.SHT(8, 4).synthesis(np.zeros(15, complex), out=[0]), TypeError),
    (lambda: hp.SHT(8, 4).analysis(np.full(768, np.nan)), ValueError), (lambda: hp.map2alm(np.zeros(13)), TypeError),
    (lambda: hp.alm2map(np.zeros(7) + 0j, 4), TypeError), (lambda: hp.alm2map([np.zeros(6) + 0j] * 2, 4), TypeError),
    (lambda: hp.map2alm(np.zeros((2, 12))), ValueError), (lambda: hp.rotate_alm(np.zeros(7) + 0j), TypeError),
    (lambda: hp.rotate_alm(np.zeros(6)), TypeError), (lambda: hp.synalm([np.ones(3)] * 5), TypeError),
    (lambda: hp.set_num_threads(-1), ValueError), (lambda: hp.gauss_beam(-1.0), ValueError),
    (lambda: hp.smoothing(np.zeros(12), fwhm=-1), ValueError), (lambda: hp.alm2map(np.zeros(6) + 0j, 2**30), ValueError)])
def test_errors(call, kind):
    with pytest.raises(kind) as e:
        call()
    assert len(str(e.value)) > 10


def test_threads():
    alm = some_alm(64)
    expected = hp.alm2map(alm, 32)
    before = hp.get_num_threads()
    for n in (1, 2, 3):
        hp.set_num_threads(n)
        assert hp.get_num_threads() == n
        np.testing.assert_array_equal(hp.alm2map(alm, 32), expected)
    hp.set_num_threads(0)
    assert hp.get_num_threads() == before
    results = []
    threads = [threading.Thread(target=lambda: results.append(hp.alm2map(alm, 32))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(results) == 4
    for m in results:
        np.testing.assert_array_equal(m, expected)
    out = subprocess.run([sys.executable, "-c", "import kugel; print(kugel.get_num_threads())"], text=True,
                         capture_output=True, env=os.environ | {"KUGEL_NUM_THREADS": "3"})
    assert out.stdout.strip() == "3", out.stderr


def in_child(seed):
    return hp.alm2map(some_alm(48, seed), 16)


def test_fork():
    expected = [in_child(s) for s in range(4)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(in_child, range(4)).get(600)
    for a, b in zip(found, expected):
        np.testing.assert_array_equal(a, b)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, kugel as hp
alm = np.zeros(hp.Alm.getsize(3000), complex); alm[1] = 1
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore
sent = []
def interrupt():
    sent.append(time.process_time())
    os.kill(os.getpid(), signal.SIGINT)
try:
    threading.Timer(0.3, interrupt).start()
    for _ in range(1000):
        hp.alm2map(alm, 1024)
except KeyboardInterrupt:
    assert time.process_time() - sent[0] < 5  # of CPU time, which other processes do not change
    print("interrupted", flush=True)
    hp.alm2map(alm[:15], 4)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


def test_control_c():
    out = subprocess.run([sys.executable, "-c", INTERRUPTED], text=True, capture_output=True, timeout=600,
                         env=os.environ | {"KUGEL_NUM_THREADS": "2"})
    assert out.returncode == 0 and out.stdout.strip() == "interrupted", out.stderr


def test_own_handler_runs():
    got = []
    before = signal.signal(signal.SIGINT, lambda number, frame: got.append(number))
    try:
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        deadline = time.time() + 300
        while not got and time.time() < deadline:
            hp.alm2map(some_alm(128), 64)
        assert got == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_generated_prototypes_are_current():
    out = subprocess.run([sys.executable, str(ROOT / "tools" / "gen_ffi.py"), "--check"], text=True, capture_output=True)
    assert out.returncode == 0, out.stdout + out.stderr


def test_structs_are_laid_out_as_in_c(tmp_path):
    """Sizes of all public structs by the C compiler and by ctypes."""
    import ctypes
    import shutil

    from kugel import _ffi

    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    names = list(_ffi.STRUCTS)
    assert all(issubclass(getattr(_ffi, name), ctypes.Structure) for name in names)
    headers = "".join(f"#include <kugel/{p.name}>\n" for p in sorted((ROOT / "include" / "kugel").glob("*.h"))
                      if p.name != "kugel.h")
    body = "".join(f'  printf("{n} %zu\\n", sizeof({n}));\n' for n in names)
    source = tmp_path / "sizes.c"
    source.write_text(f"#include <stdio.h>\n{headers}int main(void)\n{{\n{body}  return 0;\n}}\n")
    subprocess.run(["cc", "-std=gnu11", f"-I{ROOT / 'include'}", "-o", str(tmp_path / "sizes"), str(source)], check=True)
    out = subprocess.run([str(tmp_path / "sizes")], text=True, capture_output=True, check=True).stdout
    assert {n: int(s) for n, s in map(str.split, out.splitlines())} == {n: ctypes.sizeof(getattr(_ffi, n)) for n in names}


def test_missing_library():
    out = subprocess.run([sys.executable, "-c", "import kugel"], text=True, capture_output=True,
                         env=os.environ | {"KUGEL_LIBRARY": "/nowhere/libkugel.so"})
    assert out.returncode and "KUGEL_LIBRARY" in out.stderr.splitlines()[-1]
