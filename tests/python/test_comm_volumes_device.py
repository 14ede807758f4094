# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions over ranks that are threads, each with a device: arrays in host memory and on the device."""
import os

import numpy as np
import pytest
from test_comm import on_ranks

import kugel

DEVICES = [d["name"] for d in kugel.devices() if d["available"] and d["kernels"] and d["fp64"]]
NEEDED = os.environ.get("KUGEL_TEST_NEED", "")
pytestmark = pytest.mark.skipif(not DEVICES and not NEEDED, reason="no device that runs kernels")


@pytest.fixture(params=DEVICES or [None])
def device(request):
    assert request.param, f"KUGEL_TEST_NEED is {NEEDED}, no device runs kernels here"
    return request.param


@pytest.mark.parametrize("engine", ["tiles", "global"])
def test_convolutions_over_devices(device, engine):
    rng = np.random.default_rng(4)
    x, h = rng.normal(size=(12, 9, 10)), rng.normal(size=(3, 4, 5))
    want = kugel.volume.convolve(x, h, boundary="reflect")

    def work(comm):
        plan = kugel.volume.Convolution(x.shape, h, boundary="reflect", engine=engine, tile=(4, 9, 10), comm=comm, device=device)
        own = x[plan.image_slice]
        y = plan(own)
        there = plan(kugel.DeviceArray(own, device=device)).get() if own.size else y
        assert plan.info["engine"] == engine and plan.info["device_bytes"] > 0 and np.array_equal(y, there)
        return y, plan.results_slice
    first = None
    for n in (1, 2, 3):
        results = on_ranks(n, work)
        assert not [r for r in results if isinstance(r, Exception)], results
        y = np.concatenate([r[0] for r in results])
        first = y if first is None else first
        assert np.array_equal(y, first) and np.abs(y - want).max() < 1e-13 * np.abs(want).max()


def test_exchanges_between_devices(device, monkeypatch):
    monkeypatch.setenv("KUGEL_PEERS", "copy")
    monkeypatch.setenv("KUGEL_PEERS_GROUP", "2")  # in two steps
    seconds = on_ranks(4, lambda comm: comm.measure(5000, 3, device=device))
    assert len(set(seconds)) == 1 and 0 < seconds[0] < 60, seconds
    with pytest.raises(ValueError, match="bytes is 0"):
        kugel.Comm.alone().measure(0, device=device)
