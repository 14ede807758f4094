# SPDX-License-Identifier: BSD-3-Clause
"""Volumes over ranks that are threads: convolution and deconvolution."""
import numpy as np
import pytest
from test_comm import on_ranks

import kugel


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_convolutions_over_ranks(n):
    rng = np.random.default_rng(2)
    x, h = rng.normal(size=(8, 9, 10)), rng.normal(size=(8, 9, 10))
    alone = kugel.volume.Convolution(x.shape, h, "full", engine="resident")
    want, back = alone(x), alone.adjoint(alone(x))

    def work(comm):
        plan = kugel.volume.Convolution(x.shape, h, "full", comm=comm)
        assert plan.info["engine"] == "global"
        part = plan.image_layout.scatter(x.ravel() if comm.rank == 0 else None).reshape(-1, 9, 10)
        assert np.array_equal(part, x[plan.image_slice])
        y = plan(part)
        assert np.array_equal(y, want[plan.results_slice]) and np.array_equal(plan.adjoint(y), back[plan.image_slice])
        return plan.results_layout.gather(y.ravel())
    results = on_ranks(n, work)
    assert not [r for r in results if isinstance(r, Exception)], results
    assert np.array_equal(results[0], want.ravel())
    tall, psf = rng.normal(size=(320, 9, 10)), rng.normal(size=(5, 3, 3))
    tiled = kugel.volume.Convolution(tall.shape, psf, engine="tiles", tile=(32, 9, 10))(tall)

    def short(comm):
        plan = kugel.volume.Convolution(tall.shape, psf, comm=comm)
        assert plan.info["engine"] == "tiles" and plan.info["tile"] == [32, 9, 10]
        return np.array_equal(plan(tall[plan.image_slice]), tiled[plan.results_slice])
    assert on_ranks(n, short) == [True] * n
    wrong = on_ranks(n, lambda comm: kugel.volume.Convolution(x.shape, h, comm=comm)(np.zeros((20, 9, 10))))
    assert all(isinstance(r, ValueError) and "rank 0: in is float64[20, 9, 10]" in str(r) for r in wrong), wrong


@pytest.mark.parametrize("n", [1, 3, 4])
def test_zarrs_of_ranks(n, tmp_path):
    x = np.random.default_rng(5).normal(size=(2, 19, 6, 7)).astype(np.float32)
    kugel.volume.write(tmp_path / "a.zarr", x, chunk=(4, 3, 4), shard=2)

    def work(comm):
        lo, hi = (19 * r // comm.size for r in (comm.rank, comm.rank + 1))
        with kugel.volume.create(tmp_path / "b.zarr", x.shape, np.float32, chunk=(4, 3, 4), shard=2, comm=comm) as stack:
            for c in range(2):
                stack.write(x[c, lo:hi], channel=c, at=(lo, 0, 0))
    assert on_ranks(n, work) == [None] * n
    assert np.array_equal(kugel.volume.read(tmp_path / "b.zarr"), x)
    a, b = ({f.relative_to(d): f.read_bytes() for f in (d / "0").rglob("*") if f.is_file()} for d in (tmp_path / "a.zarr", tmp_path / "b.zarr"))
    assert len(a) > 4 and a == b
    wrong = on_ranks(n, lambda comm: kugel.volume.create(tmp_path / "c.tif", x.shape, np.float32, comm=comm))
    assert all("rank 0: " in str(r) and "is no Zarr" in str(r) for r in wrong), wrong


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("engine", ["global", "tiles"])
@pytest.mark.parametrize("depths", [None, (10, 32.5, 60)])
def test_deconvolutions_over_ranks(n, engine, depths):
    rng = np.random.default_rng(4)
    x, psf = rng.uniform(10, 20, size=(70, 6, 7)), rng.uniform(1, 2, size=(() if depths is None else (3,)) + (5, 3, 3))
    alone = kugel.volume.Deconvolution(x.shape, psf, 4, "biggs", depths=depths)
    one = kugel.volume.Deconvolution(x.shape, psf, 4, "biggs", comm=kugel.Comm.alone(), engine=engine, depths=depths)
    want = one(x)
    assert np.allclose(want, alone(x), rtol=0, atol=1e-10) and (engine == "tiles" or np.array_equal(want, alone(x)))

    def work(comm):
        plan = kugel.volume.Deconvolution(x.shape, psf, 4, "biggs", comm=comm, engine=engine, depths=depths)
        y = plan(x[plan.image_slice])
        assert np.array_equal(y, want[plan.image_slice])
        assert plan.info == one.info
        return plan.layout.gather(y.ravel())
    results = on_ranks(n, work)
    assert not [r for r in results if isinstance(r, Exception)], results
    assert np.array_equal(results[0], want.ravel())
