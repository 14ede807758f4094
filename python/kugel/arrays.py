# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in a device's memory: Kugel's own, and those of other libraries (CUDA array interface, DLPack)."""
from __future__ import annotations

import ctypes
import math
import sys
from typing import Any

import numpy as np

from . import _ffi
from ._lib import Handle, dtype_of, lib, numpy_dtype, ptr
from .hardware import context


class DeviceArray:
    """An array in C order in the memory of a device, for data that stay there from one transform to the next.

        a = kugel.DeviceArray(map, device="cuda:0")     # a copy of a NumPy array
        b = sht.analysis(a)                             # sht = kugel.SHT(..., device="cuda:0")
        alm = b.get()

    data:   an array, or a shape for an array of unspecified contents
    dtype:  the array's own, or float64 with a shape
    """

    def __init__(self, data: Any, dtype: Any = None, device: str = "auto") -> None:
        shaped = isinstance(data, (int, tuple))
        source = None if shaped else np.ascontiguousarray(data, dtype)
        self.shape = source.shape if source is not None else (data,) if isinstance(data, int) else tuple(data)
        self.dtype = source.dtype if source is not None else np.dtype(dtype or np.float64)
        self._context = context(device)
        if self._context is None:
            raise ValueError(f"device is {device!r}, the CPU: use a NumPy array")
        dtype_of(self.dtype)
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        out = ctypes.c_void_p()
        lib.kugel_device_alloc(self._context.address, max(self.nbytes, 1), ctypes.byref(out))
        where = self._context  # which must outlive the memory
        self._handle = Handle(out.value, lambda address: lib.kugel_device_free(where.address, address))
        if source is not None:
            self.set(source)

    device = property(lambda self: self._context.name)
    ndim = property(lambda self: len(self.shape))

    def set(self, a: Any) -> Any:
        """Copies a NumPy array here."""
        a = np.ascontiguousarray(a, self.dtype)
        if a.shape != self.shape:
            raise ValueError(f"the array has shape {a.shape}; expected {self.shape}")
        lib.kugel_device_upload(self._context.address, self._handle.address, 0, ptr(a), self.nbytes, None)

    def get(self) -> Any:
        """A copy as a NumPy array."""
        out = np.empty(self.shape, self.dtype)
        lib.kugel_device_download(self._context.address, ptr(out), self._handle.address, 0, self.nbytes, None)
        return out

    def __array__(self, dtype=None, copy=None):
        return self.get() if dtype is None else self.get().astype(dtype, copy=False)

    @property
    def __cuda_array_interface__(self):
        if self._context.type != _ffi.KUGEL_CUDA:
            raise AttributeError(f"{self.device} is no CUDA device")
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self._handle.address, False), "version": 3,
                "strides": None}

    def __repr__(self):
        return f"DeviceArray({self.shape}, {self.dtype}, {self.device!r})"


class Foreign:
    """What the library must know of an array in device memory: `view` for calls, shape, dtype, stream or None. `library`:
    whose array it is, or was made for; `waits`: whether its owner knows nothing of the stream, so that work on it must be done
    before the owner has it back."""

    def __init__(self, owner: Any, view: Any, shape: Any, dtype: Any, stream: Any, waits: Any = False) -> None:
        self.owner, self.view, self.shape, self.dtype, self.stream, self.waits = owner, view, shape, dtype, stream, waits
        self.library = type(owner).__module__.split(".")[0]


def make_view(address: Any, device_type: Any, device_id: Any, dtype: Any, shape: Any, strides: Any, owner: Any) -> Any:
    """A kugel_array on device memory; strides in elements or None."""
    out = _ffi.kugel_array()
    out.data = address
    out.device.type, out.device.id = device_type, device_id
    out.ndim = len(shape)
    out.dtype = dtype
    extents = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    out.shape = ctypes.addressof(extents)
    out.owner = (owner, extents)
    if strides is not None:
        steps = (ctypes.c_int64 * max(len(shape), 1))(*strides)
        out.strides = ctypes.addressof(steps)
        out.owner += (steps,)
    return out


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def _from_dlpack(a):
    # The producer makes CUDA's default stream wait for what it has given to others, and the work runs there.
    cuda = int(a.__dlpack_device__()[0]) == _ffi.KUGEL_CUDA
    capsule = a.__dlpack__(stream=1) if cuda else a.__dlpack__()
    tensor = _ffi.kugel_array.from_address(_get_pointer(capsule, b"dltensor"))
    shape = tuple((ctypes.c_int64 * tensor.ndim).from_address(tensor.shape)) if tensor.ndim else ()
    strides = tuple((ctypes.c_int64 * tensor.ndim).from_address(tensor.strides)) if tensor.strides else None
    out = make_view(tensor.data, tensor.device.type, tensor.device.id, tensor.dtype, shape, strides, (a, capsule))
    out.byte_offset = tensor.byte_offset
    return Foreign(a, out, shape, numpy_dtype(tensor.dtype), 0 if cuda else None, waits=True)


def _from_torch(a):
    if a.requires_grad:
        raise TypeError("the tensor requires grad: use kugel.torch")
    a = a.resolve_conj().resolve_neg()
    dtype = np.dtype(str(a.dtype).removeprefix("torch."))
    strides = None if a.is_contiguous() else a.stride()
    out = make_view(a.data_ptr(), _ffi.KUGEL_CUDA, a.device.index, dtype_of(dtype), a.shape, strides, a)
    return Foreign(a, out, tuple(a.shape), dtype, sys.modules["torch"].cuda.current_stream(a.device).cuda_stream)


def _from_cuda(a, cuda):
    dtype, strides = np.dtype(cuda["typestr"]), cuda.get("strides")
    if strides is not None:
        strides = tuple(s // dtype.itemsize for s in strides)
    number = getattr(getattr(a, "device", None), "id", 0)
    out = make_view(cuda["data"][0], _ffi.KUGEL_CUDA, number, dtype_of(dtype), cuda["shape"], strides, a)
    return Foreign(a, out, tuple(cuda["shape"]), dtype, cuda.get("stream"))


def foreign(a: Any) -> Any:
    """Foreign of an array in device memory; None if it is in host memory."""
    if isinstance(a, np.ndarray):
        return None
    if isinstance(a, Foreign):
        return a
    if isinstance(a, DeviceArray):
        where = a._context
        return Foreign(a, make_view(a._handle.address, where.type, where.id, dtype_of(a.dtype), a.shape, None, a),
                       a.shape, a.dtype, None, waits=True)
    if type(a).__module__.split(".")[0] == "torch":
        return _from_torch(a) if a.is_cuda else None
    cuda = getattr(a, "__cuda_array_interface__", None)
    if cuda is not None:
        return _from_cuda(a, cuda)
    if hasattr(a, "__dlpack_device__") and int(a.__dlpack_device__()[0]) in (_ffi.KUGEL_CUDA, _ffi.KUGEL_OPENCL):
        return _from_dlpack(a)
    return None


def device_name(a: Any) -> str:
    """Of a Foreign: "cuda:0"."""
    where = a.view.device
    return f"{ {_ffi.KUGEL_CUDA: 'cuda', _ffi.KUGEL_OPENCL: 'opencl'}[where.type]}:{where.id}"


def empty_like(a: Any, shape: Any, dtype: Any, zero: bool) -> Any:
    """An array of the kind of the device array `a`: of PyTorch, CuPy, or Kugel."""
    library = type(a.owner).__module__.split(".")[0]
    if library in ("torch", "cupy"):
        module = sys.modules[library]
        make = module.zeros if zero else module.empty
        if library == "torch":
            return make(shape, dtype=getattr(module, np.dtype(dtype).name), device=a.owner.device)
        return make(shape, dtype)
    out = DeviceArray(shape, dtype, device_name(a))
    if zero:
        lib.kugel_device_fill(out._context.address, out._handle.address, 0, 0, out.nbytes, None)
    return out


def stream_handle(stream: Any) -> Any:
    """The number of a CUDA stream given as such, or as an object of PyTorch or CuPy."""
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    return int(stream)
