# SPDX-License-Identifier: BSD-3-Clause
"""kugel.jax.Lens and kugel.jax.stencil: derivatives against differences and dense matrices, jit, vmap, refusals."""
import json

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import kugel  # noqa: E402
import kugel.jax  # noqa: E402

RNG = np.random.default_rng(6)


def random_alm(lmax, *lead):
    _, m = kugel.Alm.getlm(lmax)
    return RNG.normal(size=lead + m.shape) + 1j * RNG.normal(size=lead + m.shape) * (m > 0)


def by_hand(lens, alm, weight):
    """The gradient of sum weight lens(alm) by JAX's convention, from values of each coefficient."""
    out = np.zeros(alm.shape, complex)
    for i in np.ndindex(alm.shape):
        for factor in (1, 1j):
            one = np.zeros(alm.shape, complex)
            one[i] = factor
            out[i] += (1 if factor == 1 else -1j) * (weight * lens.synthesis(one)).sum()
    return out


@pytest.mark.parametrize("mode", ["scalar", "teb"])
def test_lens(mode):
    lmax, n = 5, 30
    sets = (3,) if mode == "teb" else ()
    alm, weight = random_alm(lmax, *sets), RNG.normal(size=sets + (n,))
    theta, phi, d = np.arccos(RNG.uniform(-1, 1, n)), RNG.uniform(0, 6, n), 0.3 * RNG.normal(size=(2, n))
    lens = kugel.jax.Lens(None, lmax, theta=theta, phi=phi, deflection=d, mode=mode, tolerance=1e-12)
    seen = jax.jit(lens)(alm)
    assert seen.dtype == np.float64 and np.array_equal(seen, lens.lens.synthesis(alm))
    got = jax.jit(jax.grad(lambda a: (weight * lens(a)).sum()))(jnp.asarray(alm))
    assert np.abs(got - by_hand(lens.lens, alm, weight)).max() < 1e-11
    # JAX differentiates complex alm by real and imaginary part
    check_grads(lambda re, im: lens(jax.lax.complex(re, im)), (alm.real, alm.imag), order=2, modes=("fwd", "rev"), rtol=1e-6)
    many = jax.vmap(lens, in_axes=-1, out_axes=-1)(jnp.stack([alm, 2 * alm], -1))
    assert np.abs(many[..., 1] - 2 * seen).max() < 1e-12
    assert lens(alm.astype(np.complex64)).dtype == np.float32
    with pytest.raises(ValueError, match="expected"):
        lens(alm[..., 1:])


def test_apply():
    n = (7, 6)
    plan = kugel.stencil.laplacian(n, 0.5, order=4, boundary="one_sided")
    u = RNG.normal(size=(2,) + n)
    got = jax.jit(lambda u: kugel.jax.stencil.apply(plan, u))(u)
    assert np.array_equal(got, plan.apply(u))
    check_grads(lambda u: kugel.jax.stencil.apply(plan, u) ** 2, (u,), order=2, modes=("fwd", "rev"), rtol=1e-6)
    rows = jax.vmap(lambda u: kugel.jax.stencil.apply(plan, u), in_axes=2, out_axes=2)(jnp.moveaxis(jnp.asarray(u), 0, 2))
    assert np.allclose(jnp.moveaxis(rows, 2, 0), got, rtol=0, atol=1e-12)
    with pytest.raises(TypeError, match="real"):
        kugel.jax.stencil.apply(plan, u + 0j)
    with pytest.raises(ValueError, match="expected"):
        kugel.jax.stencil.apply(plan, u[..., 1:])


@pytest.mark.parametrize("method", ["leapfrog", "runge_kutta", "adi"])
def test_advance(method):
    n = (8, 7)
    plan = kugel.stencil.laplacian(n, 1.0, coefficient=None if method == "adi" else RNG.uniform(0.5, 1, n))
    state = RNG.normal(size=((2,) if method == "leapfrog" else ()) + n)
    last = jax.jit(lambda s: kugel.jax.stencil.advance(plan, s, 0.1, 5, method))(state)
    before = state.copy()
    assert np.array_equal(last, plan.advance(state.copy(), 0.1, 5, method)) and np.array_equal(state, before)
    data = RNG.normal(size=state.shape)
    got = jax.grad(lambda s: (data * kugel.jax.stencil.advance(plan, s, 0.1, 5, method)).sum())(jnp.asarray(state))
    matrix = np.array([plan.advance(row.reshape(state.shape).copy(), 0.1, 5, method).ravel() for row in np.eye(state.size)])
    assert np.abs(np.ravel(got) - matrix @ data.ravel()).max() < 1e-13 * np.abs(matrix).sum()
    both = jax.vmap(lambda s: kugel.jax.stencil.advance(plan, s, 0.1, 5, method))(jnp.stack([state, 2 * state]))
    assert np.allclose(both[1], 2 * both[0], rtol=0, atol=1e-12) and np.array_equal(both[0], last)


class _Side:
    """A buffer of a call from XLA: an array of a device in the place of CUDA's."""

    def __init__(self, array):
        self.array = array

    def there(self, index, stream):
        assert (index, stream) == (0, 7)
        return kugel.arrays.foreign(self.array)


class _Call:
    def __init__(self, words, x, out):
        self.attributes, self.arguments, self.results = {"words": json.dumps(words)}, [_Side(x)], [_Side(out)]

    def device(self):
        return 0

    def stream(self):
        return 7


DEVICES = [d["name"] for d in kugel.devices() if d["available"] and d["kernels"] and d["fp64"]]


@pytest.mark.skipif(not DEVICES, reason="no device that runs kernels")
def test_calls_for_devices(monkeypatch):
    """What XLA's calls on CUDA devices do, on the first device of this machine."""
    from kugel.jax import ball, linear
    there = DEVICES[0]
    plan = kugel.polynomial.AssociatedLegendre([1, 2], 8)
    x = RNG.normal(size=(3, 2, 9)) + 1j * RNG.normal(size=(3, 2, 9))
    linear.apply(plan, "synthesis", jnp.asarray(x), ())
    out = kugel.DeviceArray(np.zeros((3, 2, 9), complex), device=there)
    linear._launch(_Call([linear._names[plan], "synthesis", []], kugel.DeviceArray(x, device=there), out))
    assert np.abs(out.get() - plan.synthesis(x)).max() < 1e-14

    own = ball._on
    monkeypatch.setattr(ball, "_on", lambda name, device: own(name, {"cuda:0": there}[device]))
    b = kugel.jax.Ball(5, 4, vectors=True)
    v = RNG.normal(size=(3, b.plan.nlm, b.plan.n)) + 1j * RNG.normal(size=(3, b.plan.nlm, b.plan.n))
    u = b.plan.synthesis(v, "vector")
    for verb, kind, transposed, x, want in (("synthesis", "vector", False, v, u), ("analysis", "vector", False, u, b.plan.analysis(u, "vector")),
                                            ("synthesis", "vector", True, u, b.plan.synthesis_adjoint(u, "vector")), ("curl", "", False, v, b.plan.curl(v)),
                                            ("div", "", True, v[0], b.plan.apply("div", v[0], adjoint=True))):
        out = kugel.DeviceArray(np.zeros_like(want), device=there)
        ball._launch(_Call([b._name, verb, kind, transposed], kugel.DeviceArray(x, device=there), out))
        assert np.abs(out.get() - want).max() < 1e-13 * np.abs(want).max()
    assert list(ball._twins[b.plan]) == [there]
