# SPDX-License-Identifier: BSD-3-Clause
"""kugel.devices()."""
import kugel


def test_devices():
    found = kugel.devices()
    assert found[0]["name"] == "cpu" and found[0]["available"] and found[0]["memory"] > 0 and not found[0]["is_gpu"]
    assert {d["name"].split(":")[0] for d in found} == {"cpu", "cuda", "opencl"}
    for d in found:
        assert d["available"] or len(d["why"]) > 10
        assert not d["kernels"] or d["max_threads"] >= 64
