# SPDX-License-Identifier: BSD-3-Clause
"""The devices of this machine."""
import importlib.util
import os
import pathlib

from ._ffi import kugel_device_info
from ._lib import lib, options, text

_WORDS = ("name", "description", "why", "driver", "compiler")
_NUMBERS = ("memory", "units", "lanes", "max_threads", "shared_bytes", "cache_bytes", "max_alloc", "bandwidth",
            "compute_capability")
_FLAGS = ("available", "fp64", "is_gpu", "kernels")


def _name_nvrtc():
    """Tells the library where NVIDIA's packages keep NVRTC, which it looks for once the first device is asked for."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations if spec else None) or ():
        for path in pathlib.Path(root).glob("*/lib/libnvrtc.so.1[23]"):
            os.environ.setdefault("KUGEL_NVRTC_FOLDER", str(path.parent))


_name_nvrtc()


def devices():
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
