# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files by the library (kugel/hdf5.h): arrays with names and attributes."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _ffi
from ._lib import Handle, lib, options, path as _path, view

_CODES = {0: "i", 1: "u", 2: "f", 5: "c"}  # of DLPack


class File:
    """A file open for reading."""

    def __init__(self, path: Any) -> None:
        out = ctypes.c_void_p()
        lib.kugel_hdf5_open(None, _path(path), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_hdf5_close)

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: Any) -> None:
        self._handle = None

    def __contains__(self, name: str) -> bool:
        out = ctypes.c_int()
        lib.kugel_hdf5_has(self._handle.address, name.encode(), ctypes.byref(out))
        return bool(out.value)

    def array(self, name: str) -> Any:
        info = options(_ffi.kugel_hdf5_info)
        lib.kugel_hdf5_get_info(self._handle.address, name.encode(), info)
        out = np.empty(info.shape[:info.ndim], f"{_CODES[info.dtype.code]}{info.dtype.bits // 8}")
        lib.kugel_hdf5_get_array(self._handle.address, name.encode(), view(out))
        return out

    def text(self, name: str, attribute: str) -> str:
        out = ctypes.create_string_buffer(4096)
        lib.kugel_hdf5_get_text(self._handle.address, name.encode(), attribute.encode(), out, len(out))
        return out.value.decode("utf-8", "replace")

    def number(self, name: str, attribute: str) -> int | None:
        out, none = ctypes.c_int64(), -2 ** 63
        lib.kugel_hdf5_get_int(self._handle.address, name.encode(), attribute.encode(), none, ctypes.byref(out))
        return None if out.value == none else out.value


def write(path: Any, datasets: dict[str, tuple[Any, dict[str, Any]]], attributes: dict[str, Any], overwrite: bool) -> None:
    """Writes {name: (array, attributes)} and attributes of the file: whole or not at all."""
    out = ctypes.c_void_p()
    lib.kugel_hdf5_create(None, _path(path), int(overwrite), ctypes.byref(out))
    handle = Handle(out.value, lib.kugel_hdf5_close)

    def put(name: str, said: dict[str, Any]) -> None:
        for key, value in said.items():
            word = value.encode() if isinstance(value, str) else int(value)
            (lib.kugel_hdf5_put_text if isinstance(value, str) else lib.kugel_hdf5_put_int)(
                handle.address, name.encode(), key.encode(), word)

    for name, (array, said) in datasets.items():
        lib.kugel_hdf5_put_array(handle.address, name.encode(), view(np.ascontiguousarray(array)))
        put(name, said)
    put("/", attributes)
    lib.kugel_hdf5_commit(handle.address)
