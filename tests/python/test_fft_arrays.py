# SPDX-License-Identifier: BSD-3-Clause
"""kugel.fft on arrays of other libraries and in device memory."""
import ctypes
import types

import numpy as np
import pytest

import kugel
from kugel import _ffi, fft
from kugel.arrays import foreign
from kugel.fft import arrays as fft_arrays, library

RNG = np.random.default_rng(5)


def close(a, b, bound=1e-14):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape and a.dtype == b.dtype and np.linalg.norm(a - b) <= bound * np.linalg.norm(b)


def numbers(*shape):
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


@pytest.fixture(scope="module")
def device():
    found = [d["name"] for d in kugel.devices() if d["available"] and d["kernels"] and d["name"] != "cpu"]
    if not found:
        pytest.skip("no device that runs kernels")
    return found[0]


class Producer:
    """A DLPack exporter of a DeviceArray or NumPy array, with axes swapped; it notes the stream it was asked for."""

    class Managed(ctypes.Structure):
        _fields_ = [("tensor", _ffi.kugel_array), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

    def __init__(self, a):
        self.a, view = a, foreign(a).view
        self.shape = (ctypes.c_int64 * 2)(*a.shape[::-1])
        self.strides = (ctypes.c_int64 * 2)(1, a.shape[1])
        view.shape, view.strides = ctypes.addressof(self.shape), ctypes.addressof(self.strides)
        self.managed = self.Managed(view, None, None)

    def __dlpack_device__(self):
        return self.managed.tensor.device.type, self.managed.tensor.device.id

    def __dlpack__(self, stream=None):
        self.stream = stream
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor", None)


def test_effort(device):
    x = numbers(6, 8)
    with fft.set_effort("measure"):
        y = fft.fft(kugel.DeviceArray(x, device=device))
        close(fft.fft(x), np.fft.fft(x))
    close(y, np.fft.fft(x))
    with pytest.raises(ValueError, match="allowed are 'estimate', 'measure'"), fft.set_effort("hard"):
        pass


def test_device_arrays(device):
    x = numbers(5, 12)
    a = kugel.DeviceArray(x, device=device)
    y = fft.fft2(a)
    assert isinstance(y, kugel.DeviceArray) and y.device == device
    close(y, np.fft.fft2(x))
    close(fft.ifft2(y), x)
    close(fft.fft(a, axis=0, norm="ortho"), np.fft.fft(x, axis=0, norm="ortho"))
    close(fft.fft(kugel.DeviceArray(x, np.complex64, device)), np.fft.fft(x).astype(np.complex64), 1e-6)
    z = fft.fftn(a, overwrite_x=True)
    assert z is a
    close(z, np.fft.fftn(x))


def test_dlpack(device):
    x = numbers(6, 20)
    there = Producer(kugel.DeviceArray(x, device=device))
    close(fft.fft(there, axis=0), np.fft.fft(x.T, axis=0))
    close(fft.fft(there), np.fft.fft(x.T))
    assert there.stream == (1 if device.startswith("cuda") else None)
    fft.fft(there, overwrite_x=True)  # into the producer's own memory
    close(there.a, np.fft.fft(x.T).T)


@pytest.fixture
def resident(device, monkeypatch):
    """Makes arrays on the device; until it is told to stop, copies between host and device are failures."""
    made = []

    def make(a):
        made.append(kugel.DeviceArray(np.ascontiguousarray(a), device=device))
        return made[-1]

    def run(function):
        with monkeypatch.context() as patch:
            for name in ("kugel_device_upload", "kugel_device_download"):
                patch.setattr(kugel._lib.lib, name, lambda *a: pytest.fail("a copy between host and device"))
            out = function()
        assert isinstance(out, kugel.DeviceArray) and out.device == device
        return out.get()

    make.run = run
    return make


REALS = RNG.standard_normal((3, 6, 7))
COMPLEX = numbers(3, 6, 7)


@pytest.mark.parametrize("name", ["fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "hfft", "hfft2", "hfftn", "irfft", "irfft2",
                                  "irfftn", "rfft", "rfft2", "rfftn", "ihfft", "ihfft2", "ihfftn"])
def test_every_kind_on_devices(resident, name):
    """As on the host, for every type of number, cut, padded and along any axis; nothing leaves the device."""
    f = getattr(fft, name)
    real = name.startswith(("r", "ih"))
    small = np.arange(3 * 6 * 7).reshape(3, 6, 7) - 40
    inputs = [REALS, REALS.astype(np.float32), REALS.astype(np.float16), small.astype(np.int64), small.astype(np.int8),
              small > 0] + ([] if real else [COMPLEX, COMPLEX.astype(np.complex64)])
    one = name[-1] == "t"
    words = [{}, {"n": 4}, {"n": 11, "axis": 0}, {"axis": 1, "norm": "ortho"}] if one else \
        [{}, {"s": (4, 5)}, {"s": (9, 5), "axes": (0, 2)}, {"axes": (2, 1), "norm": "forward"}]
    if not one and name.startswith(("ir", "h")):
        words = words[:1]  # of what is no half of a real signal's spectrum the n-d inverse is not defined
    for x in inputs:
        for w in words if x.dtype in (np.float64, np.complex128) else words[1:2] or words:
            a = resident(x)
            close(resident.run(lambda: f(a, **w)), f(x, **w), 3e-7 if x.dtype.char in "fFe" else 1e-14)
            assert (a.get() == x).all()


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst", "dctn", "idctn", "dstn", "idstn"])
def test_cosines_on_devices(resident, name):
    f = getattr(fft, name)
    for x in (REALS, COMPLEX, REALS.astype(np.float32), np.arange(126).reshape(3, 6, 7)):
        for type in (1, 2, 3, 4):
            for w in ({"norm": "ortho"}, {"n": 9} if name[-1] == "t" else {"s": (4, 9)}):
                a = resident(x)
                close(resident.run(lambda: f(a, type, **w)), f(x, type, **w), 3e-7 if x.dtype == np.float32 else 1e-14)
                assert (a.get() == x).all()


def test_convolution_on_devices(resident):
    h, deep = RNG.standard_normal((1, 2, 3)), RNG.standard_normal((3, 2, 3))
    for x in (REALS, COMPLEX, REALS.astype(np.float32)):
        a = resident(x)
        for kernel, axes in ((deep, None), (h, (1, 2)), (deep, (2, 1)), (h, 1), (h[0, 0, 0] * np.ones((1, 1, 1)), None)):
            kernel = kernel.astype(x.real.dtype)
            if axes == 1:
                kernel = kernel[:, :, :1]
            for mode in ("full", "same", "valid"):
                for f in (fft.convolve, fft.correlate):
                    close(resident.run(lambda: f(a, kernel, mode, axes)), f(x, kernel, mode, axes),
                          2e-6 if x.dtype == np.float32 else 1e-13)
    swapped = fft.correlate(deep, a, "valid")  # the larger array goes to the device, or is there
    assert isinstance(swapped, kugel.DeviceArray)
    close(swapped, fft.correlate(deep, x, "valid"), 2e-6)


def test_strides_and_offsets_on_devices(device):
    x = numbers(6, 20)
    there = Producer(kugel.DeviceArray(x, device=device))
    close(fft.fft(there, 25, axis=0), np.fft.fft(x.T, 25, axis=0))
    close(fft.dct(there, norm="ortho"), fft.dct(x.T, norm="ortho"))
    close(fft.hfft(there, 13), np.fft.hfft(x.T, 13))
    with pytest.raises(ValueError, match="axes"):
        fft.fft(kugel.DeviceArray(x, device=device), axis=2)


def test_streams(monkeypatch):
    """A CUDA array is transformed by a plan of its device, on its stream, without copies: by a library that only notes it."""
    calls = []
    view = types.SimpleNamespace(address=1, queue=lambda stream: ("queue of", stream))
    monkeypatch.setattr(fft_arrays, "context", lambda name: calls.append(name) or view)
    monkeypatch.setattr(library, "plan", lambda *words: types.SimpleNamespace(address=words))
    monkeypatch.setattr(library, "execute_on", lambda *a: calls.append(a))

    class Cuda:
        __cuda_array_interface__ = {"shape": (3, 8), "typestr": "<c8", "data": (4096, False), "version": 3,
                                    "strides": (8, 24), "stream": 77}

    monkeypatch.setattr(fft_arrays, "empty_like", lambda a, shape, dtype, zero: Cuda())
    fft.fft(Cuda(), axis=0)
    plan, sign, source, target, queue = calls[-1]
    assert queue == ("queue of", 77) and sign == _ffi.KUGEL_FORWARD and plan[0] == (3,) and plan[-2] == "cuda:0"
    a = source._obj
    assert a.data == 4096 and a.device.type == _ffi.KUGEL_CUDA and a.dtype.bits == 64
    assert list((ctypes.c_int64 * 2).from_address(a.shape)) == [8, 3]
    assert list((ctypes.c_int64 * 2).from_address(a.strides)) == [3, 1]


def test_other_host_arrays():
    """What shares host memory by DLPack is read there."""
    x = numbers(3, 8)

    class Shared:
        __dlpack__, __dlpack_device__ = x.__dlpack__, x.__dlpack_device__

    close(fft.fft(Shared()), np.fft.fft(x))
    close(fft.rfft([1.0, 2, 3, 4]), np.fft.rfft([1.0, 2, 3, 4]))
    assert fft_arrays.Host(x).a is x


def test_torch():
    torch = pytest.importorskip("torch")
    x = torch.randn(4, 10, dtype=torch.complex128)
    for a in (x, x.T, x[:, ::2], x.conj()):
        y = fft.fft(a, axis=0)
        assert isinstance(y, torch.Tensor) and torch.allclose(y, torch.fft.fft(a, dim=0), rtol=1e-13, atol=1e-13)
    r = torch.randn(4, 10)
    assert fft.rfft2(r).dtype == torch.complex64
    assert torch.allclose(fft.irfft2(fft.rfft2(r)), r, atol=1e-6)
    assert torch.allclose(fft.idct(fft.dct(r, norm="ortho"), norm="ortho"), r, atol=1e-6)
    want = torch.fft.fftn(x)
    y = fft.fftn(x, overwrite_x=True)
    assert y.data_ptr() == x.data_ptr() and torch.allclose(x, want, rtol=1e-13, atol=1e-13)


def cuda_of(library):
    module = pytest.importorskip(library)
    there = module.cuda.is_available() if library == "torch" else module.is_available()
    return module if there else pytest.skip("no CUDA device")


def test_torch_on_cuda():
    torch = cuda_of("torch")
    x = torch.randn(16, 100, dtype=torch.complex128, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        stream.wait_stream(torch.cuda.default_stream())
        for a in (x, x.T, x[:, ::2]):
            y = fft.fft(2 * a, axis=0)
            assert y.is_cuda and torch.allclose(y, 2 * torch.fft.fft(a, dim=0), rtol=1e-12, atol=1e-11)
        y = fft.fft(x.real, 64)
        assert torch.allclose(y, torch.fft.fft(x.real, 64), rtol=1e-12, atol=1e-11)
        before = torch.cuda.max_memory_allocated()
        fft.fft(x, overwrite_x=True)
        assert torch.cuda.max_memory_allocated() == before


def test_cupy():
    cupy = cuda_of("cupy")
    x = cupy.random.standard_normal((16, 100)) + 1j * cupy.random.standard_normal((16, 100))
    with cupy.cuda.Stream(non_blocking=True) as stream:
        y = fft.fft(2 * x, axis=0)
        assert isinstance(y, cupy.ndarray) and cupy.allclose(y, 2 * cupy.fft.fft(x, axis=0))
        stream.synchronize()
