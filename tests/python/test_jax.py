# SPDX-License-Identifier: BSD-3-Clause
"""kugel.jax: values against kugel.SHT, derivatives in both directions and of second order, jit, vmap, on every device."""
import numpy as np
import pytest

import kugel

jax = pytest.importorskip("jax", reason="jax is not installed")
jax.config.update("jax_enable_x64", True)
kj = pytest.importorskip("kugel.jax")
jnp = jax.numpy
check_grads = __import__("jax.test_util", fromlist=["check_grads"]).check_grads

MODES = [dict(), dict(spin=2), dict(spin=1), dict(mode="teb"), dict(mode="grad")]
GRIDS = {"healpix": (lambda: kugel.Grid.healpix(4), 11, None), "gauss": (lambda: kugel.Grid.gauss(6, 12), 5, None),
         "m0": (lambda: kugel.Grid.gauss(6, 12), 5, 0), "cc": (lambda: kugel.Grid.clenshaw_curtis(7, 12), 5, 4)}


def on_cuda():
    return [d for d in jax.devices() if d.platform in ("gpu", "cuda")]


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    return jnp.asarray(x + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else x, dtype)


def alm_of(t, batch=(), dtype=np.complex128, seed=0):
    return numbers(batch + t.transform.alm_shape, dtype, seed)


def map_of(t, batch=(), dtype=np.float64, seed=0):
    return numbers(batch + t.transform.map_shape, dtype, seed)


def close(a, b, bound=1e-13):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape and a.dtype == b.dtype and np.linalg.norm(a - b) <= bound * np.linalg.norm(b)


def pairing(a, b):
    return float((np.asarray(a) * np.asarray(b)).real.sum())


def check(f, x, bound=1e-12):
    """f is linear: jvp is f itself, vjp its transpose under Re(a b), and the transpose of that is f again."""
    y = f(x)
    v = jnp.roll(x, 3, -1)
    close(jax.jvp(f, (x,), (v,))[1], f(v), bound)
    c = jnp.roll(y, 5, -1)
    back = jax.vjp(f, x)[1]
    (g,) = back(c)
    assert abs(pairing(g, v) - pairing(c, f(v))) <= bound * np.linalg.norm(g) * np.linalg.norm(v) + 1e-300
    (again,) = jax.vjp(lambda c: back(c)[0], c)[1](v)
    close(again, f(v), bound)


@pytest.mark.skipif(bool(on_cuda()), reason="modes of the CPU")
@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("grid", GRIDS)
def test_derivatives(grid, mode):
    make, lmax, mmax = GRIDS[grid]
    t = kj.SHT(make(), lmax, mmax, **mode)
    close(t.synthesis(alm_of(t)), t.transform.plan.synthesis(np.asarray(alm_of(t))), 0)
    check(t.synthesis, alm_of(t))
    check(t.synthesis_adjoint, map_of(t))
    if "mode" not in mode or mode["mode"] == "teb":
        check(t.analysis, map_of(t))
        check(t.analysis_adjoint, alm_of(t))


def test_every_entry_of_the_gradient():
    """Against differences: m = 0, where imaginary parts do not count, and the Nyquist mode of a ring."""
    for grid, lmax in ((kugel.Grid.gauss(4, 6), 3), (kugel.Grid.healpix(1), 2)):
        t = kj.SHT(grid, lmax)
        a = alm_of(t)

        def loss(a):
            return (t.synthesis(a) ** 3).sum()

        g = np.asarray(jax.grad(loss)(a))
        assert (g[:lmax + 1].imag == 0).all()
        for i in range(len(g)):
            for step, part in ((1e-5, g[i].real), (1e-5j, -g[i].imag)):
                slope = (loss(a.at[i].add(step)) - loss(a.at[i].add(-step))) / 2e-5
                assert abs(slope - part) < 1e-6 * np.abs(g).max()


def test_jit_vmap_batches_dtypes():
    t = kj.SHT(4, 7, mode="teb")
    a = alm_of(t, (2, 3))
    m = t.synthesis(a)
    assert m.shape == (2, 3) + t.transform.map_shape
    close(jax.jit(t.synthesis)(a), m, 1e-15)
    close(jax.vmap(t.synthesis, 1, 1)(a), m, 1e-15)
    close(jax.jit(jax.vmap(jax.vmap(t.synthesis)))(a), m, 1e-15)
    close(t.synthesis(a.astype(np.complex64)), np.asarray(m, np.float32), 1e-5)
    assert t.analysis(m.astype(np.float16)).dtype == np.complex64
    assert t.synthesis(a[:0]).shape == (0, 3) + t.transform.map_shape
    one = jax.jit(jax.grad(lambda a: (t.synthesis(a) ** 2).sum()))
    close(jax.vmap(one)(a)[1], one(a[1]), 1e-13)
    hessian = jax.hessian(lambda m: (jnp.abs(t.analysis(m)[0]) ** 2).sum())(m[0, 0, :, :])
    assert hessian.shape == 2 * t.transform.map_shape


def test_iterations_and_weights():
    for keys in (dict(iterations=2), dict(weights="ring"), dict(weights="pixel", iterations=1)):
        t = kj.SHT(8, 16, **keys)
        m = map_of(t)
        close(t.analysis(m), kugel.SHT(8, 16, **keys).analysis(np.asarray(m)), 1e-12)
        close(t.analysis_adjoint(alm_of(t)), kugel.SHT(8, 16, **keys).analysis_adjoint(np.asarray(alm_of(t))), 1e-12)
        check(t.analysis, m)


def test_functions_and_errors():
    a = numbers((153,), np.complex128)
    close(kj.alm2map(a, 8), kugel.alm2map(np.asarray(a), 8))
    m = kj.alm2map(a, 8)
    close(kj.map2alm(m, 16), kugel.map2alm(np.asarray(m), 16), 1e-12)
    close(kj.almxfl(a, jnp.arange(17.0)), kugel.almxfl(np.asarray(a), np.arange(17.0)))
    t = kj.SHT(4, 7)
    with pytest.raises(ValueError, match="alm has shape .*expected"):
        t.synthesis(jnp.zeros(5))
    with pytest.raises(TypeError, match="real"):
        t.analysis(jnp.zeros(t.npix, np.complex64))


@pytest.mark.skipif(bool(on_cuda()), reason="on the CPU only")
def test_radial_and_reorder():
    x = map_of(kj.SHT(4, 7), (2,))
    beam, turn = kj.Radial(4, "gaussian", 0.4), kj.Reorder(4, "FLAT_S")
    close(beam(x), kugel.Radial(kugel.Grid.healpix(4), "gaussian", 0.4)(np.asarray(x)), 0)
    close(turn(x), kugel.reorder(np.asarray(x), "RING", "FLAT_S"), 0)
    for f in (beam, turn, beam.adjoint, kj.Radial(4, "top_hat", 0.5, method="harmonic", lmax=8)):
        check(f, x)
        close(jax.jit(jax.vmap(f))(x), f(x), 1e-15)
        check_grads(f, (x,), 2)
        with pytest.raises(ValueError, match="expected"):
            f(x[:, 1:])
    pairs = kj.Radial(4, "gaussian", 0.4, spin=2)
    check(pairs, x)


def test_smoothing_regrid_and_polarisation():
    sht = kj.SHT(8, 16, mode="teb")
    tqu = sht.synthesis(alm_of(sht))
    n, t = np.asarray(tqu), tqu[0]
    close(kj.map2alm(tqu, 16), kugel.map2alm(n, 16), 1e-12)
    close(kj.map2alm(tqu, 16, pol=False), kugel.map2alm(n, 16, pol=False), 1e-12)
    close(kj.alm2map(kj.map2alm(tqu, 16), 8), kugel.alm2map(kugel.map2alm(n, 16), 8), 1e-12)
    close(kj.smoothing(tqu, 0.2, 16), kugel.smoothing(n, 0.2, lmax=16), 1e-12)
    close(kj.smoothing(t, 0.2, 16), kugel.smoothing(n[0], 0.2, lmax=16), 1e-12)
    with pytest.raises(ValueError, match="pol=False"):
        kj.map2alm(tqu[:2])
    gauss = kugel.Grid.gauss(20)
    to = kj.Regrid(8, gauss, 16)
    close(to(t), kugel.Regrid(8, gauss, 16)(n[0]), 1e-12)
    close(to(t, fwhm=0.2), kugel.Regrid(8, gauss, 16, fwhm=0.2)(n[0]), 1e-12)
    close(to(t, window=kugel.gauss_beam(0.2, 16)), to(t, fwhm=0.2), 1e-13)
    check_grads(lambda m, w: jax.jit(to)(m, fwhm=w), (t, jnp.asarray(0.2)), 2, eps=1e-4, atol=1e-4, rtol=1e-4)
    check_grads(lambda w: kj.smoothing(t, w, 16), (jnp.asarray(0.2),), 2, eps=1e-4, atol=1e-4, rtol=1e-4)


@pytest.mark.skipif(bool(on_cuda()), reason="modes of the CPU")
def test_errors_of_the_library_reach_python():
    t = kj.SHT(4, 7, mode="grad")
    with pytest.raises(Exception, match="kugel: .*analysis|kugel: .*adjoint|kugel: .*mode"):
        jax.block_until_ready(t.analysis(jnp.zeros(t.transform.map_shape)))


class HostCall:
    """Stands for a call of XLA on a device, where the device is the host."""

    def __init__(self, x, out, **words):
        from kugel.jax.xla import Buffer
        self.attributes, sides = words, []
        for a in (x, out):
            side = Buffer.__new__(Buffer)
            side.address, side.shape, side.dtype = a.ctypes.data, a.shape, a.dtype
            sides.append([side])
        self.arguments, self.results = sides

    def device(self):
        return 0

    def stream(self):
        return None


@pytest.mark.parametrize("mode", [dict(), dict(spin=2), dict(mode="teb")], ids=str)
def test_calls_for_devices(mode, monkeypatch):
    """What kugel.jax hands the library for a device, with the host in the device's place."""
    t = kj.SHT(4, 7, **mode, iterations=1)
    plan = kugel.SHT(4, 7, **mode, iterations=1)
    monkeypatch.setattr(kj.sht, "context", lambda name: type("Context", (), {"queue": lambda self, stream: None})())
    monkeypatch.setattr(kj.sht, "_Plan", lambda *arguments, device, **keys: kugel.SHT(*arguments, **keys))
    monkeypatch.setattr(kj.sht._ffi, "KUGEL_CUDA", kj.sht._ffi.KUGEL_CPU)
    a, m = np.asarray(alm_of(t, (2,))), np.asarray(map_of(t, (2,)))
    for verb, x, like in (("synthesis", a, m), ("synthesis_adjoint", m, a), ("analysis", m, a), ("analysis_adjoint", a, m)):
        out = np.zeros_like(like)
        kj.sht._launch(HostCall(x, out, transform=t.transform.name, analysis=int("analysis" in verb),
                            adjoint=int("adjoint" in verb)))
        close(out, getattr(plan, verb)(x), 0)


@pytest.mark.skipif(not on_cuda(), reason="no CUDA device")
@pytest.mark.parametrize("mode", [dict(), dict(spin=1), dict(spin=2), dict(mode="teb")], ids=str)
def test_cuda(mode):
    for keys in (dict(), dict(iterations=2), dict(weights="ring"), dict(weights="pixel", iterations=1)):
        t = kj.SHT(16, 40, **mode, **keys)
        plan = kugel.SHT(16, 40, **mode, **keys)
        a, m = alm_of(t, (2,)), map_of(t, (2,))
        for f, x in (("synthesis", a), ("synthesis_adjoint", m), ("analysis", m), ("analysis_adjoint", a)):
            close(getattr(t, f)(x), getattr(plan, f)(np.asarray(x)), 1e-12)
        check(t.synthesis, a)
        check(t.analysis, m)


@pytest.mark.skipif(bool(on_cuda()), reason="modes of the CPU")
def test_ball():
    ball = kj.Ball(4, 3, truncation="triangular", vectors=True)
    plan, rng = ball.plan, np.random.default_rng(3)

    def coefficients(*lead):
        c = rng.standard_normal((*lead, plan.nlm, plan.n)) + 1j * rng.standard_normal((*lead, plan.nlm, plan.n))
        return jnp.asarray(c)

    c, v, f = coefficients(), coefficients(3), jnp.asarray(rng.standard_normal((2, *plan.shape)))
    close(ball.synthesis(c), plan.synthesis(np.asarray(c)), 0)
    close(jax.jit(ball.analysis)(f), plan.analysis(np.asarray(f)), 0)
    check(ball.synthesis, c)
    check(ball.analysis, f)
    check(lambda x: ball.synthesis(x, "vector"), v)
    close(ball.synthesis(v, "spin"), plan.synthesis(np.asarray(v), "spin"), 1e-15)
    close(ball.analysis(ball.synthesis(v, "spin"), "spin"), plan.analysis(plan.synthesis(np.asarray(v), "spin"), "spin"), 1e-14)
    spin = lambda x: ball.synthesis(x, "spin")  # noqa: E731
    check(lambda x: spin(x).real + 2 * spin(x).imag, v)
    for operator, x in (("grad", c), ("div", v), ("curl", v), ("laplacian", c), ("from_potentials", coefficients(2)), ("to_potentials", v)):
        close(ball.apply(operator, x), plan.apply(operator, np.asarray(x)), 0)
        check(lambda x, operator=operator: ball.apply(operator, x), x)
    close(jax.vmap(ball.synthesis, 1, 1)(jnp.stack([c, 2 * c], 1)), jnp.stack([ball.synthesis(c), 2 * ball.synthesis(c)], 1), 1e-15)
    energy = lambda x: (ball.synthesis(ball.apply("grad", x), "vector") ** 2).sum()  # noqa: E731
    check_grads(energy, (c,), 2, ("rev",), atol=1e-4, rtol=1e-4)
    with pytest.raises(ValueError, match="the array has shape"):
        ball.synthesis(c[:-1])
    with pytest.raises(TypeError, match="values are real"):
        ball.analysis(f + 0j)
    with pytest.raises(ValueError, match="operator is"):
        ball.apply("rot", c)


def test_a_program_may_end_with_work_that_is_queued():
    """It ended never: JAX waited for a computation that waited for the interpreter."""
    import subprocess
    import sys
    text = """import jax, kugel
jax.config.update("jax_enable_x64", True)
sht = kugel.jax.SHT(64, lmax=128)
step = jax.jit(lambda alm: alm - sht.analysis(sht.synthesis(alm)))
alm = jax.numpy.ones(sht.nalm, complex)
for i in range(30):
    alm = step(alm)
"""
    for _ in range(3):
        assert subprocess.run([sys.executable, "-c", text], timeout=120).returncode == 0
