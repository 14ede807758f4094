# SPDX-License-Identifier: BSD-3-Clause
"""Transforms over ranks: threads here; with an MPI installed also processes."""
import os
import pickle
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

import kugel

LAUNCHERS = {"Open MPI": ["mpirun.openmpi", "--oversubscribe"], "MPICH": ["mpirun.mpich"]}


def on_ranks(n, work):
    """work(comm) on n ranks that are threads: the results, or the exceptions, in order."""
    results = [None] * n

    def run(comm):
        try:
            results[comm.rank] = work(comm)
        except Exception as e:
            results[comm.rank] = e
    threads = [threading.Thread(target=run, args=(comm,)) for comm in kugel.Comm.threads(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return results


def random_alm(lmax, shape=()):
    rng = np.random.default_rng(3)
    n = (lmax + 1) * (lmax + 2) // 2
    return rng.normal(size=shape + (n,)) + 1j * rng.normal(size=shape + (n,))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_ranks_give_the_bits_of_one(n):
    alm = random_alm(60, (2,))
    alone = kugel.SHT(32, 60, iterations=1)
    sky = alone.synthesis(alm)
    back = alone.analysis(sky)

    def work(comm):
        sht = kugel.SHT(32, 60, iterations=1, comm=comm)
        part = sht.synthesis(sht.alm_layout.scatter(alm if comm.rank == 0 else None))
        assert part.shape == (2, sht.npix) and sht.npix == sht.map_layout.count()
        assert all(np.array_equal(sky[:, run], part[:, a:a + run.stop - run.start]) for run, a in zip(
            sht.map_layout.runs(), np.cumsum([0] + [r.stop - r.start for r in sht.map_layout.runs()])))
        everywhere = sht.map_layout.gather(part, root=None)
        return everywhere, sht.alm_layout.gather(sht.analysis(part)), sht.orders
    results = on_ranks(n, work)
    assert not [r for r in results if isinstance(r, Exception)], results
    assert all(np.array_equal(r[0], sky) for r in results) and np.array_equal(results[0][1], back)
    assert all(r[1] is None for r in results[1:])
    assert sorted(np.concatenate([r[2] for r in results])) == list(range(61))


def test_failure_of_one_rank_is_raised_on_all():
    def work(comm):
        sht = kugel.SHT(16, 20, comm=comm)
        sky = np.zeros(sht.npix)
        if comm.rank == 2:
            sky[0] = np.nan
        return sht.analysis(sky)
    results = on_ranks(3, work)
    assert [str(r) for r in results] == [str(results[0])] * 3 and "rank 2: map 0 has a NaN" in str(results[0])
    different = on_ranks(2, lambda comm: kugel.SHT(16, 20 + comm.rank, comm=comm))
    assert all(isinstance(r, ValueError) and "lmax, which is 20 on one and 21" in str(r) for r in different), different


def test_scatter_names_a_wrong_shape_on_all_ranks():
    def work(comm):
        return kugel.SHT(8, 10, comm=comm).map_layout.scatter(np.zeros(5) if comm.rank == 0 else None)
    assert all("must end in 768" in str(r) for r in on_ranks(2, work))


def test_alone_and_pickles():
    comm = kugel.Comm.alone()
    assert (comm.rank, comm.size, comm.nodes) == (0, 1, 1) and "1 rank on 1 host" in repr(comm)
    assert kugel.Comm.world().size == 1  # no launcher
    with pytest.raises(TypeError):
        pickle.dumps(comm)
    with pytest.raises(TypeError):
        pickle.dumps(kugel.SHT(8, 10, comm=comm))
    with pytest.raises(TypeError):
        kugel.Comm.adopt("world")


PROGRAM = """
import numpy as np, kugel, sys
comm = kugel.Comm.world() if len(sys.argv) == 1 else kugel.Comm.adopt(__import__("mpi4py.MPI").MPI.COMM_WORLD)
sht = kugel.SHT(16, 30, comm=comm)
alm = np.arange(496) + 1j
sky = sht.map_layout.gather(sht.synthesis(sht.alm_layout.scatter(alm if comm.rank == 0 else None)))
if comm.rank == 0:
    print(comm.size, np.array_equal(sky, kugel.SHT(16, 30).synthesis(alm)))
"""


@pytest.mark.parametrize("name", LAUNCHERS)
@pytest.mark.parametrize("adopt", [False, True])
def test_processes(name, adopt):
    if not shutil.which(LAUNCHERS[name][0]):
        pytest.skip(f"{name} is not installed")
    if adopt:
        pytest.importorskip("mpi4py")
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(LAUNCHERS[name] + ["-n", "3", sys.executable, "-c", PROGRAM] + ["adopt"] * adopt, env=env,
                          capture_output=True, text=True, timeout=120)
    if adopt and ("RuntimeError: cannot load MPI library" in done.stderr or "sees 1" in done.stderr):
        pytest.skip("mpi4py found another MPI")
    assert done.stdout.split() == ["3", "True"], done


def test_radial_over_ranks():
    sky = np.random.default_rng(4).normal(size=(2, 12 * 16 * 16))
    alone = kugel.radial.Radial(16, "gaussian", 0.2, spin=2)
    want, back = alone(sky), alone.adjoint(sky)

    def work(comm):
        plan = kugel.radial.Radial(16, "gaussian", 0.2, spin=2, comm=comm)
        part = plan.map_layout.scatter(sky if comm.rank == 0 else None)
        assert part.shape == (2, plan.npix)
        own = np.zeros_like(sky)
        plan.stream(sky, own)
        assert all(np.array_equal(own[:, run], want[:, run]) for run in plan.map_layout.runs())
        return plan.map_layout.gather(plan(part)), plan.map_layout.gather(plan.adjoint(part))
    results = on_ranks(3, work)
    assert not [r for r in results if isinstance(r, Exception)], results
    assert np.array_equal(results[0][0], want) and np.array_equal(results[0][1], back)


TORCH = """
import sys
import numpy as np
import torch.distributed as dist
import kugel
rank, size, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
try:
    kugel.Comm.from_torch()
    raise SystemExit("a group that is not there")
except RuntimeError as e:
    assert "init_process_group" in str(e)
dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=size)
for group in (None, dist.new_group(list(range(size))[::-1])):
    comm = kugel.Comm.from_torch(group)
    assert (comm.rank, comm.size, comm.nodes) == (dist.get_rank(group), size, 1) and "torch.distributed, gloo" in repr(comm)
    assert comm.measure(10000, 2) > 0
    rng = np.random.default_rng(3)
    alm = rng.normal(size=861) + 1j * rng.normal(size=861)
    sht = kugel.SHT(16, 40, comm=comm)
    sky = sht.map_layout.gather(sht.synthesis(sht.alm_layout.scatter(alm if comm.rank == 0 else None)), root=None)
    assert np.array_equal(sky, kugel.SHT(16, 40).synthesis(alm))
    try:
        comm.split(0)
        raise SystemExit("split")
    except NotImplementedError as e:
        assert "cannot be split" in str(e)
    del sht, comm
print("ok")
"""


def test_process_groups_of_torch(tmp_path):
    pytest.importorskip("torch.distributed")
    env = {**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"}
    ranks = [subprocess.Popen([sys.executable, "-c", TORCH, str(r), "2", str(tmp_path / "store")], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=env) for r in range(2)]
    said = [p.communicate(timeout=200)[0] for p in ranks]
    assert all(p.returncode == 0 for p in ranks) and all(s.endswith("ok\n") for s in said), said
