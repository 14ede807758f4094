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


def test_least_squares_over_ranks():
    alm = random_alm(30)
    alm[:31] = alm[:31].real
    alone = kugel.SHT(16, 30)
    sky = alone.synthesis(alm)
    want, how = alone.solve(sky)
    assert how["converged"] and np.abs(want - alm).max() < 1e-8

    def work(comm):
        sht = kugel.SHT(16, 30, comm=comm)
        part, how = sht.solve(sht.map_layout.scatter(sky if comm.rank == 0 else None))
        return sht.alm_layout.gather(part), how
    results = on_ranks(3, work)
    assert not [r for r in results if isinstance(r, Exception)], results
    assert np.array_equal(results[0][0], want) and all(r[1] == how for r in results)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("kind", ["c2c", "r2c"])
def test_fourier_transforms_over_ranks(n, kind):
    shape = (7, 9, 10)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2,) + shape) + (1j * rng.normal(size=(2,) + shape) if kind == "c2c" else 0)
    want = (np.fft.fftn if kind == "c2c" else np.fft.rfftn)(x, axes=(1, 2, 3))

    def work(comm):
        plan = kugel.fft.Plan(shape, kind, comm=comm, pieces=2)
        part = plan.data_layout.scatter(x.reshape(2, -1) if comm.rank == 0 else None).reshape(2, -1, 9, 10)
        assert np.array_equal(part, x[:, plan.data_slice])
        y = plan.forward(part)
        assert y.shape == want[:, :, plan.spectrum_slice].shape
        assert np.allclose(y, want[:, :, plan.spectrum_slice], rtol=0, atol=1e-12)
        assert np.allclose(plan.inverse(y), part, rtol=0, atol=1e-14)
        return plan.spectrum_layout.gather(y.reshape(2, -1), root=None)
    results = on_ranks(n, work)
    assert not [r for r in results if isinstance(r, Exception)], results
    one = on_ranks(1, work)[0]
    assert all(np.array_equal(r, one) for r in results)

    def pencils(comm):
        plan = kugel.fft.Plan(shape, kind, comm=comm, grid=(1, comm.size))
        assert plan.grid == (1, comm.size)
        part = x[(...,) + plan.data_slices]
        y = plan.forward(part)
        assert y.shape == want[(...,) + plan.spectrum_slices].shape and np.allclose(plan.inverse(y), part, rtol=0, atol=1e-14)
        return plan.spectrum_layout.gather(y.reshape(2, -1), root=None)
    assert all(np.array_equal(r, one) for r in on_ranks(n, pencils))


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("shape, real", [((40, 6, 7), False), ((300, 9), True)])
def test_points_and_modes_over_ranks(n, shape, real):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, len(shape)))
    c = rng.normal(size=(2, 200)) + (0 if real else 1j * rng.normal(size=(2, 200)))
    alone = kugel.nufft.Plan(shape, "to_modes", real=real).points(x)
    want = alone.execute(c)
    back = alone.adjoint(want)

    def work(comm):
        plan = kugel.nufft.Plan(shape, "to_modes", real=real, comm=comm)
        own = slice(*(200 * r * r // comm.size**2 for r in (comm.rank, comm.rank + 1)))
        points = plan.points(x[own])
        f = points.execute(c[:, own])
        assert f.shape == want[:, :, plan.modes_slice].shape
        assert np.allclose(f, want[:, :, plan.modes_slice], rtol=0, atol=1e-11)
        assert np.allclose(points.adjoint(f), back[:, own], rtol=1e-12, atol=1e-8)
        into = np.empty_like(f)
        assert points.execute(c[:, own], into) is into and np.array_equal(into, f)
        return plan.modes_layout.gather(f.reshape(2, -1), root=None)
    results = on_ranks(n, work)
    assert not [r for r in results if isinstance(r, Exception)], results
    one = on_ranks(1, work)[0]
    assert all(np.array_equal(r, one) for r in results)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_ball_over_ranks(n):
    alone = kugel.ball.Ball(9, 6, vectors=True)
    rng = np.random.default_rng(4)
    c = rng.normal(size=(2, 3, alone.nlm, 6)) + 1j * rng.normal(size=(2, 3, alone.nlm, 6))
    want, energy, curl = alone.synthesis(c, "vector"), alone.spectrum(c, "n", "vector"), alone.curl(c)
    back = alone.analysis(want, "vector")

    def work(comm):
        ball = kugel.ball.Ball(9, 6, vectors=True, comm=comm)
        rows = alone.row(0, 0) + ball.l * (ball.l + 1) // 2 + ball.m
        own = ball.coefficients_layout.scatter(c.reshape(2, 3, -1) if comm.rank == 0 else None).reshape(2, 3, ball.nlm, 6)
        assert np.array_equal(own, c[:, :, rows]) and all(ball.row(l, m) == i for i, (l, m) in enumerate(zip(ball.l, ball.m)))
        f = ball.synthesis(own, "vector")
        assert np.array_equal(f, want[:, :, ball.values_slice])
        assert np.array_equal(ball.analysis(f, "vector"), back[:, :, rows])
        assert np.array_equal(ball.spectrum(own, "n", "vector"), energy) and np.array_equal(ball.curl(own), curl[:, :, rows])
        assert ball.profiles(own, "spin").shape == (2, 3, ball.nlm, alone.r.size) and ball.profiles_layout.count() == ball.nlm * alone.r.size
        return ball.values_layout.gather(f.reshape(2, 3, -1))
    results = on_ranks(n, work)
    assert not [r for r in results if isinstance(r, Exception)], results
    assert np.array_equal(results[0].reshape(want.shape), want)


def test_maps_that_ranks_write_into_one_file(tmp_path):
    """The bytes of one rank, read by healpy's rules and by parts, in float32 and float64."""
    sky = np.random.default_rng(3).normal(size=(3, 12 * 16**2))
    kept = {}
    for n in (1, 2, 3, 5):
        name = tmp_path / f"{n}.fits"

        def work(comm):
            sht = kugel.SHT(16, 20, comm=comm)
            part = sht.map_layout.scatter(sky if comm.rank == 0 else None)
            sht.map_layout.write_fits(name, part, coord="G", column_units="K", dtype="f4" if n == 2 else None)
            sht.map_layout.write_fits(name, part, coord="G", column_units="K", overwrite=True)
            assert np.array_equal(sht.map_layout.read_fits(name, [0, 2]), part[[0, 2]])
            assert np.array_equal(sht.map_layout.read_fits(name, 1), part[1])
        results = on_ranks(n, work)
        assert not [r for r in results if isinstance(r, Exception)], results
        kept[n] = name.read_bytes()
    assert len(set(kept.values())) == 1 and b"DATASUM" in kept[1]
    assert np.array_equal(kugel.read_map(name, field=None), sky)


def test_files_of_ranks_refuse_on_all(tmp_path):
    def work(comm, what):
        layout = kugel.SHT(4, 6, comm=comm).map_layout
        if what == "missing":
            return layout.read_fits(tmp_path / ("none.fits" if comm.rank == 1 else "there.fits"))
        if what == "type":
            return layout.write_fits(tmp_path / "a.fits", np.zeros(layout.count(), np.int32 if comm.rank else float))
        return layout.write_fits(tmp_path / "there.fits", np.zeros(layout.count()))
    kugel.write_map(tmp_path / "there.fits", np.zeros(192))
    for what, says in (("missing", "none.fits"), ("type", "int32"), ("exists", "exists")):
        results = on_ranks(2, lambda comm: work(comm, what))
        assert all(isinstance(r, Exception) for r in results) and says in str(results[0]), results
    assert [p.name for p in tmp_path.iterdir()] == ["there.fits"]


def test_ball_refuses_on_all_ranks():
    def work(comm):
        ball = kugel.ball.Ball(4, 3, comm=comm)
        return ball.synthesis(np.zeros((ball.nlm + (comm.rank == 1), 3), complex))
    results = on_ranks(2, work)
    assert all(isinstance(r, Exception) for r in results) and "the array has shape" in str(results[1]), results
    results = on_ranks(2, lambda comm: kugel.ball.Ball(4, 3, comm=comm).cut(np.zeros((15, 3))))
    assert all("gather" in str(r) for r in results), results


def test_points_and_modes_refuse_on_all_ranks():
    def work(comm):
        points = kugel.nufft.Plan((20, 9), "to_modes", real=True, comm=comm).points(np.zeros((3, 2)))
        return points.execute(np.zeros(3 + (comm.rank == 1), complex if comm.rank == 0 else float))
    results = on_ranks(2, work)
    assert all(isinstance(r, ValueError) and "rank 0: in is complex128[3]" in str(r) for r in results), results
    results = on_ranks(2, lambda comm: kugel.nufft.Plan(20, "to_points", comm=comm))
    assert all("rank 0: ranks share types 1 and 2 in two and three dimensions" in str(r) for r in results), results
    results = on_ranks(2, lambda comm: kugel.nufft.Plan((20, 9), "to_points", comm=comm).normal(np.zeros((3, 2))))
    assert all("take plans without comm" in str(r) for r in results), results


def test_fourier_transforms_refuse_on_all_ranks():
    def work(comm):
        plan = kugel.fft.Plan((4, 5, 6), comm=comm)
        return plan.forward(np.zeros((9 if comm.rank == 1 else 2, 5, 6), complex))
    results = on_ranks(2, work)
    assert all(isinstance(r, ValueError) and "rank 1: in is complex128[9, 5, 6]" in str(r) for r in results), results


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


def test_what_python_refuses_is_raised_on_all():
    """A result that may not be written, on one rank: the others do not wait."""
    def out_of(comm, out):
        out.flags.writeable = comm.rank != 1
        return out

    def fourier(comm):
        plan = kugel.fft.Plan((4, 6, 6), comm=comm)
        return plan.forward(np.zeros((2, 6, 6), complex), out_of(comm, np.zeros((4, 3, 6), complex)))

    def points(comm):
        made = kugel.nufft.Plan((20, 9), "to_modes", comm=comm).points(np.zeros((3, 2)))
        return made.execute(np.zeros(3, complex), out_of(comm, np.zeros(made.other, complex)))

    def harmonics(comm):
        sht = kugel.SHT(8, 10, comm=comm)
        return sht.synthesis(np.zeros(sht.nalm, complex), out_of(comm, np.zeros(sht.npix)))

    def radial(comm):
        plan = kugel.Radial(8, "gaussian", 0.2, comm=comm)
        return plan(np.zeros(plan.npix), out_of(comm, np.zeros(plan.npix)))

    def volume(comm):
        plan = kugel.volume.Convolution((8, 4, 4), np.ones((3, 3, 3)), engine="global", comm=comm)
        return plan(np.zeros((4, 4, 4), complex if comm.rank == 1 else float))
    def sharp(comm):
        plan = kugel.volume.Deconvolution((8, 4, 4), np.ones((3, 3, 3)), comm=comm)
        return plan(np.ones((4, 4, 4), complex if comm.rank == 1 else float))
    for work in (fourier, points, harmonics, radial, volume, sharp):
        results = on_ranks(2, work)
        assert all(isinstance(r, Exception) for r in results) and "rank 1: " in str(results[0]), (work.__name__, results)


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
import numpy as np, kugel, os, sys, tempfile
comm = kugel.Comm.world() if len(sys.argv) == 1 else kugel.Comm.adopt(__import__("mpi4py.MPI").MPI.COMM_WORLD)
sht = kugel.SHT(16, 30, comm=comm)
alm = np.arange(496) + 1j
part = sht.synthesis(sht.alm_layout.scatter(alm if comm.rank == 0 else None))
name = os.path.join(tempfile.gettempdir(), f"kugel-{os.getppid()}.fits")
sht.map_layout.write_fits(name, part, overwrite=True)
sky = sht.map_layout.gather(sht.map_layout.read_fits(name))
if comm.rank == 0:
    print(comm.size, np.array_equal(sky, kugel.SHT(16, 30).synthesis(alm)) and np.array_equal(sky, kugel.read_map(name)))
    os.remove(name)
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
import kugel, kugel.torch
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
    # gradients: each rank of the loss of its pixels, which is that of all
    import torch
    data, whole = torch.tensor(rng.normal(size=3072)), torch.tensor(alm, requires_grad=True)
    for make in (lambda **words: kugel.torch.SHT(16, 40, **words).synthesis,
                 lambda **words: (lambda a: kugel.torch.Smoothing(16, 40, 0.1, iterations=1, **words)(kugel.torch.SHT(16, 40, **words)(a)))):
        whole.grad = None
        (make()(whole) - data).square().sum().backward()
        part = torch.tensor(sht.alm_layout.scatter(alm if comm.rank == 0 else None), requires_grad=True)
        own = torch.tensor(sht.map_layout.scatter(data.numpy() if comm.rank == 0 else None))
        (make(comm=comm)(part) - own).square().sum().backward()
        gradient = sht.alm_layout.gather(part.grad.numpy(), root=None)
        assert np.abs(gradient - whole.grad.numpy()).max() < 1e-13 * np.abs(gradient).max()
    net = kugel.torch.SHT(16, 40, comm=comm)
    assert net.map_layout.count() == net.npix and net.analysis(net(part)).shape == part.shape
    back = net.synthesis_adjoint(own)
    assert np.allclose(net.alm_layout.gather(back.numpy(), root=None), kugel.SHT(16, 40).synthesis_adjoint(data.numpy()), atol=1e-10)
    del net
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
