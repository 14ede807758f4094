# SPDX-License-Identifier: BSD-3-Clause
"""kugel.devices() and kugel.kernels_info()."""
import ctypes

import pytest

import kugel
from kugel._ffi import kugel_kernels_info
from kugel._lib import lib, options


def test_devices():
    found = kugel.devices()
    assert found[0]["name"] == "cpu" and found[0]["available"] and found[0]["memory"] > 0 and not found[0]["is_gpu"]
    assert {d["name"].split(":")[0] for d in found} == {"cpu", "cuda", "opencl"}
    for d in found:
        assert d["available"] or len(d["why"]) > 10
        assert not d["kernels"] or d["max_threads"] >= 64


def test_kernels_info():
    k = kugel.kernels_info()
    assert set(k) == {"compiled", "cached", "written", "seconds"} and min(k.values()) >= 0
    assert (k["compiled"] == 0) == (k["seconds"] == 0)
    with pytest.raises(ValueError, match="info is NULL"):
        lib.kugel_kernels_get_info(None)
    info = options(kugel_kernels_info)
    info.size = ctypes.sizeof(ctypes.c_size_t) + 8  # an older program's
    lib.kugel_kernels_get_info(info)
    assert info.compiled == k["compiled"] and info.cached == 0
