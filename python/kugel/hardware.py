# SPDX-License-Identifier: BSD-3-Clause
"""The devices of this machine."""
from __future__ import annotations

import ctypes
import importlib.util
import os
import pathlib
from typing import Any

from ._ffi import KUGEL_CPU, kugel_ctx_opts, kugel_device_info, kugel_kernels_info
from ._lib import Handle, lib, options, text

_WORDS = ("name", "description", "why", "driver", "compiler")
_NUMBERS = ("memory", "units", "lanes", "max_threads", "shared_bytes", "cache_bytes", "max_alloc", "bandwidth",
            "compute_capability")
_FLAGS = ("available", "fp64", "is_gpu", "kernels")


def _name_packages():
    """Tells the library where NVIDIA's packages keep NVRTC and NCCL, which it looks for when it first needs them."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations if spec else None) or ():
        for path in pathlib.Path(root).glob("*/lib/libnvrtc.so.1[23]"):
            os.environ.setdefault("KUGEL_NVRTC_FOLDER", str(path.parent))
        for path in pathlib.Path(root).glob("*/lib/libnccl.so.2"):
            os.environ.setdefault("KUGEL_NCCL_FOLDER", str(path.parent))


_name_packages()


def devices() -> list[dict[str, Any]]:
    """What this machine offers: one dict a device, the CPU first.

    A backend without a device has one entry with ``available`` False and the reason in ``why``. ``memory``,
    ``shared_bytes`` and the like are in bytes, ``bandwidth`` in bytes per second (0: not known).
    """
    found = []
    for index in range(lib.kugel_device_count()):
        info = options(kugel_device_info)
        lib.kugel_device_describe(index, info)
        found.append({w: text(getattr(info, w)) for w in _WORDS} | {n: getattr(info, n) for n in _NUMBERS} |
                     {f: bool(getattr(info, f)) for f in _FLAGS})
    return found


def kernels_info() -> dict[str, float]:
    """Kernels that this process compiled, all devices together: a dict of ``compiled`` and ``cached`` modules (loaded from
    the cache on disk instead), ``written`` texts, and ``seconds`` of compiling, summed over threads.

        before = kugel.kernels_info()["compiled"]; kugel.SHT(64, 128, device="opencl:0")
        print(kugel.kernels_info()["compiled"] - before)        # 0 if the cache has them
    """
    info = options(kugel_kernels_info)
    lib.kugel_kernels_get_info(info)
    return {name: getattr(info, name) for name in ("compiled", "cached", "written", "seconds")}


class Context:
    """A device that plans run on, with a limit of memory for each plan or 0. Made once for each by `context`."""

    def __init__(self, name: str, memory: Any = 0) -> None:
        out = ctypes.c_void_p()
        word = name.encode()
        lib.kugel_ctx_create(ctypes.byref(options(kugel_ctx_opts, device=word)), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_ctx_destroy)
        self.address = out.value
        lib.kugel_ctx_limit_memory(self.address, memory)
        info = options(kugel_device_info)
        lib.kugel_ctx_describe(self.address, info)
        self.name, self.type, self.id = text(info.name), info.device.type, info.device.id
        self._queues = {}

    def queue(self, stream: Any) -> Any:
        """The library's queue for a stream's handle. Kept for good: to end one would wait for its work."""
        try:
            return self._queues[stream]
        except KeyError:
            out = ctypes.c_void_p()
            lib.kugel_queue_wrap(self.address, stream or None, ctypes.byref(out))
            return self._queues.setdefault(stream, out.value)


_contexts = {}


def context(device: str, memory: Any = 0) -> Any:
    """The Context of a device's name such as "cuda:0" or "auto", whose plans may allocate `memory` bytes each, 0: what is
    free; None for the CPU without a limit."""
    name = "cpu" if device is None else str(device)
    if memory:
        if (name, memory) not in _contexts:
            _contexts[name, memory] = Context(name, memory)
        return _contexts[name, memory]
    if name not in _contexts:
        made = None if name == "cpu" else Context(name)
        _contexts[name] = None if made is None or made.type == KUGEL_CPU else _contexts.get(made.name) or made
        if _contexts[name]:
            _contexts.setdefault(made.name, _contexts[name])
    return _contexts[name]
