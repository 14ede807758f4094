# SPDX-License-Identifier: BSD-3-Clause
"""kugel.jax.nufft: gradients for values and points against sums of waves."""
import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402

import kugel  # noqa: E402
import kugel.jax  # noqa: E402

nufft = kugel.jax.nufft


def waves(x, n, sign):
    k = jnp.stack(jnp.meshgrid(*[jnp.arange(m) - m // 2 for m in n], indexing="ij"), -1).reshape(-1, len(n))
    return jnp.exp(1j * sign * x @ k.T)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_gradients(ndim):
    rng = np.random.default_rng(ndim)
    n, m = (20, 17, 16)[:ndim], 30
    x = jnp.array(rng.uniform(-4, 4, (m, ndim)))
    c = jnp.array(rng.normal(size=(2, m)) + 1j * rng.normal(size=(2, m)))
    f = jnp.array(rng.normal(size=(2,) + n) + 1j * rng.normal(size=(2,) + n))
    size = int(np.prod(n))
    pairs = [(lambda x, c: nufft.to_modes(x, c, n, tolerance=1e-11).reshape(2, -1), lambda x, c: c @ waves(x, n, 1), c),
             (lambda x, f: nufft.to_points(x, f, tolerance=1e-11), lambda x, f: f.reshape(2, size) @ waves(x, n, -1).T, f)]
    for fast, slow, given in pairs:
        a, b = jax.jit(fast)(x, given), slow(x, given)
        assert np.linalg.norm(a - b) <= 1e-10 * np.linalg.norm(b)
        weight = jnp.array(rng.normal(size=a.shape) + 1j * rng.normal(size=a.shape))

        def loss(function):
            return lambda x, given: jnp.sum(jnp.abs(function(x, given) + weight) ** 2) + jnp.sum(function(x, given) * weight).real

        got, want = jax.jit(jax.grad(loss(fast), (0, 1)))(x, given), jax.grad(loss(slow), (0, 1))(x, given)
        for g, w in zip(got, want):
            assert np.linalg.norm(g - w) <= 1e-9 * np.linalg.norm(w)


def test_vmap_and_refusals():
    rng = np.random.default_rng(1)
    x = jnp.array(rng.normal(size=(3, 10, 2)))
    c = jnp.array(rng.normal(size=(3, 10)) + 0j)
    many = jax.vmap(lambda x, c: nufft.to_modes(x, c, (8, 9), tolerance=1e-10))(x, c)
    assert np.allclose(many[1], nufft.to_modes(x[1], c[1], (8, 9), tolerance=1e-10), atol=1e-12)
    with pytest.raises(TypeError):
        nufft.to_modes(x[0], c[0].real, (8, 9))
