# SPDX-License-Identifier: BSD-3-Clause
"""Plans and functions on a device, with arrays in host memory and in the device's own."""
import ctypes

import numpy as np
import pytest

import kugel
from kugel import _ffi

NSIDE, LMAX = 8, 16


@pytest.fixture(scope="module")
def device():
    found = [d["name"] for d in kugel.devices() if d["available"] and d["kernels"] and d["name"] != "cpu"]
    if not found:
        pytest.skip("no device that runs kernels")
    return found[0]


def alms(sets=1, seed=1):
    nalm = (LMAX + 1) * (LMAX + 2) // 2
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((sets, nalm)) + 1j * rng.standard_normal((sets, nalm))
    a[:, :LMAX + 1] = a[:, :LMAX + 1].real
    return a[0] if sets == 1 else a


def close(a, b, bound=1e-12):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape and np.linalg.norm(a - b) <= bound * np.linalg.norm(b)


def test_memory_limit(device):
    nside, lmax = 128, 60
    rng = np.random.default_rng(1)
    a = rng.standard_normal((lmax + 1) * (lmax + 2) // 2) + 0j
    whole = kugel.SHT(nside, lmax, device=device)
    cut = kugel.SHT(nside, lmax, device=device, max_memory="2.4M")
    assert whole.parts == 1 and cut.parts > 1 and 0 < cut.device_memory <= 2.4e6
    assert np.array_equal(kugel.alm2map(a, nside, device=device), kugel.alm2map(a, nside, device=device, mem=2400000))
    with pytest.raises(MemoryError, match="needs at least"):
        kugel.SHT(nside, lmax, device=device, max_memory="100K")
    with pytest.raises(ValueError, match="must not be negative"):
        kugel.SHT(nside, lmax, device=device, max_memory=-1)
    with pytest.raises(ValueError, match="20G"):
        kugel.SHT(nside, lmax, device=device, max_memory="much")


def test_several_devices(device):
    both = device + "," + device.split(":")[1]
    one, two = kugel.SHT(NSIDE * 8, LMAX, device=device), kugel.SHT(NSIDE * 8, LMAX, device=both)
    assert two.device == both and two.parts > 1
    assert np.array_equal(one.synthesis(alms()), two.synthesis(alms()))


def test_context(device):
    assert kugel.SHT(NSIDE, LMAX, device=device).device == device
    assert kugel.SHT(NSIDE, LMAX).device == kugel.SHT(NSIDE, LMAX, device="cpu").device == "cpu"
    with pytest.raises(ValueError, match="abacus"):
        kugel.SHT(NSIDE, LMAX, device="abacus")
    with pytest.raises(NotImplementedError, match="lmax is 65536"):
        kugel.SHT(1, 65536, 1, device=device)


def test_functions(device):
    t, e, b = alms(3)
    m = kugel.alm2map(t, NSIDE)
    tqu = kugel.alm2map([t, e * (np.arange(len(e)) > 1), b], NSIDE)
    cl = np.ones(LMAX + 1)
    for f in (lambda **k: kugel.map2alm(m, lmax=LMAX, **k), lambda **k: kugel.alm2map(t, NSIDE, **k),
              lambda **k: kugel.map2alm(tqu, lmax=LMAX, **k), lambda **k: kugel.anafast(tqu, lmax=LMAX, **k),
              lambda **k: kugel.map2alm_spin(tqu[1:], 2, lmax=LMAX, **k),
              lambda **k: kugel.alm2map_spin([e, b], NSIDE, 2, LMAX, **k),
              lambda **k: kugel.alm2map_spin([e, b], NSIDE, 3, LMAX, **k),
              lambda **k: kugel.alm2map_der1(t, NSIDE, **k), lambda **k: kugel.map2alm_lsq(m, LMAX, LMAX, **k)[0], lambda **k: kugel.smoothing(tqu, 0.1, **k)):
        close(f(device=device), f())
    np.random.seed(1)
    a = kugel.synfast(cl, NSIDE, device=device)
    np.random.seed(1)
    close(a, kugel.synfast(cl, NSIDE))


@pytest.mark.parametrize("mode,sets", [("scalar", 1), ("spin", 2), ("teb", 3)])
def test_device_arrays(device, mode, sets):
    here, there = (kugel.SHT(NSIDE, LMAX, mode=mode, spin=mode == "spin", device=d) for d in (None, device))
    a = alms(sets)
    resident = kugel.DeviceArray(a, device=device)
    close(resident.get(), a, 0)
    m = there.synthesis(resident)
    assert isinstance(m, kugel.DeviceArray) and m.device == device
    close(m, here.synthesis(a))
    close(there.analysis(m), here.analysis(m.get()))
    close(there.synthesis_adjoint(m), here.synthesis_adjoint(m.get()))
    single = there.synthesis(kugel.DeviceArray(a, np.complex64, device))
    assert single.dtype == np.float32
    close(single, here.synthesis(a.astype(np.complex64)), 1e-6)
    host = np.zeros(m.shape)
    assert there.synthesis(resident, out=host) is host
    close(host, m)
    again = kugel.DeviceArray(m.shape, device=device)
    assert there.synthesis(a, out=again) is again
    close(again, m)
    many = np.stack([a, 2 * a])
    close(there.synthesis(kugel.DeviceArray(many, device=device)), here.synthesis(many))


@pytest.mark.parametrize("keys", [dict(iterations=2), dict(weights="ring"), dict(weights="pixel", iterations=1)], ids=str)
def test_refined_on_device(device, keys):
    here, there = (kugel.SHT(NSIDE, LMAX, mode="teb", device=d, **keys) for d in (None, device))
    a = alms(3)
    m = here.synthesis(a)
    close(there.analysis(kugel.DeviceArray(m, device=device)), here.analysis(m))
    close(there.analysis_adjoint(kugel.DeviceArray(a, device=device)), here.analysis_adjoint(a))
    solved, stats = there.solve(kugel.DeviceArray(m, device=device))
    assert isinstance(solved, kugel.DeviceArray) and stats["converged"]
    close(solved, here.solve(m)[0], 1e-8)


def test_device_array_errors(device):
    plan = kugel.SHT(NSIDE, LMAX, device=device)
    a = kugel.DeviceArray(alms(), device=device)
    with pytest.raises(ValueError, match="expected"):
        plan.synthesis(kugel.DeviceArray(3, np.complex128, device))
    with pytest.raises(TypeError, match="dtype"):
        plan.synthesis(kugel.DeviceArray(plan.nalm, np.float64, device))
    with pytest.raises(ValueError, match="shape"):
        plan.synthesis(a, out=kugel.DeviceArray(7, device=device))
    with pytest.raises(kugel.KugelError, match="host memory"):
        kugel.SHT(NSIDE, LMAX).synthesis(a)
    with pytest.raises(ValueError, match="NumPy"):
        kugel.DeviceArray(3, device="cpu")
    bad = plan.synthesis(a).get()
    bad[5] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        plan.analysis(kugel.DeviceArray(bad, device=device))


class Producer:
    """A DLPack exporter of a DeviceArray."""

    class Managed(ctypes.Structure):
        _fields_ = [("tensor", _ffi.kugel_array), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

    def __init__(self, a):
        from kugel.arrays import foreign
        self.a, self.there = a, foreign(a)
        self.managed = self.Managed(self.there.view, None, None)

    def __dlpack_device__(self):
        return self.there.view.device.type, self.there.view.device.id

    def __dlpack__(self, stream=None):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor", None)


def test_dlpack(device):
    plan = kugel.SHT(NSIDE, LMAX, device=device)
    a = kugel.DeviceArray(alms(), device=device)
    close(plan.synthesis(Producer(a)), plan.synthesis(a), 0)
    m = kugel.DeviceArray(plan.npix, device=device)
    plan.synthesis(Producer(a), out=Producer(m))
    close(m, plan.synthesis(a), 0)


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64, np.complex128])
def test_reorder(device, dtype):
    m = np.random.default_rng(2).integers(-100, 100, (3, 12 * NSIDE**2)).astype(dtype)
    a = kugel.DeviceArray(m, device=device)
    for orders in ("RING", "NEST"), ("NEST", "FLAT_E"), ("FLAT_N_CLOCKWISE", "RING"):
        np.testing.assert_array_equal(kugel.reorder(a, *orders).get(), kugel.reorder(m, *orders))
    with pytest.raises(ValueError, match="12"):
        kugel.reorder(kugel.DeviceArray(m[:, 1:], device=device), r2n=True)
