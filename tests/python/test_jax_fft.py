# SPDX-License-Identifier: BSD-3-Clause
"""kugel.jax.fft: values beside kugel.fft, derivatives of second order, jit and vmap; kugel.jax among several devices."""
import os
import subprocess
import sys

import numpy as np
import pytest

import kugel.fft

jax = pytest.importorskip("jax", reason="jax is not installed")
jax.config.update("jax_enable_x64", True)
kf = pytest.importorskip("kugel.jax.fft")
jnp = jax.numpy
check_grads = __import__("jax.test_util", fromlist=["check_grads"]).check_grads
RNG = np.random.default_rng(4)
NAMES = [n for n in kf.__all__ if n not in ("convolve", "correlate")]


def numbers(name, *shape):
    x = RNG.standard_normal(shape)
    return x if name.startswith(("r", "ih")) or "ct" in name or "st" in name else x + 1j * RNG.standard_normal(shape)


def close(a, b, bound=1e-13):
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape and a.dtype == b.dtype and np.linalg.norm(a - b) <= bound * np.linalg.norm(b)


@pytest.mark.parametrize("name", NAMES)
def test_values_and_derivatives(name):
    f, one = getattr(kf, name), name[-1] == "t"
    words = [{"n": 4, "norm": "ortho"}, {"n": 7, "axis": 0}] if one else [{"s": (3, 6), "norm": "ortho"}]
    if "ct" in name or "st" in name:
        words = [{"type": t, **words[0]} for t in (1, 2, 3, 4)]
    x = numbers(name, 4, 5)
    if not name.startswith(("ir", "h")) or one:
        close(f(x), getattr(kugel.fft, name)(x))
        close(jax.jit(f)(x), f(x), 1e-15)
    for w in words:
        check_grads(lambda x: f(x, **w), (x,), 2, eps=1e-4, atol=1e-5, rtol=1e-5)
    close(jax.vmap(lambda x: f(x, **words[0]) if one else f(x[None])[0])(x)[1],
          f(x[1], **words[0]) if one else f(x[1][None])[0], 1e-14)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolution(mode):
    for name, shapes, axes in (("rfft", ((7,), (3,)), None), ("fft", ((5, 6), (2, 3)), None), ("rfft", ((1, 9), (2, 4)), 1)):
        x, h = (numbers(name, *s) for s in shapes)
        for f in ("convolve", "correlate"):
            close(getattr(kf, f)(x, h, mode, axes), getattr(kugel.fft, f)(x, h, mode, axes))
            check_grads(lambda x, h: getattr(kf, f)(x, h, mode, axes), (x, h), 2, eps=1e-4, atol=1e-5, rtol=1e-5)


def test_types():
    assert kf.rfft(np.ones(8, np.float32)).dtype == np.complex64 and kf.fft([1, 2, 3]).dtype == np.complex128
    assert kf.rfft(jnp.ones(8, jnp.bfloat16)).dtype == np.complex64
    with pytest.raises(TypeError, match="real"):
        kf.rfft(jnp.ones(8, complex))
    assert isinstance(kugel.fft.fft(jnp.ones(8, complex)), jax.Array)


SHARDED = """
import jax, jax.numpy as jnp, numpy as np, kugel, kugel.jax
jax.config.update("jax_enable_x64", True)
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()), ("b",))
assert len(jax.devices()) == 4
t = kugel.jax.SHT(2, 5)
rng = np.random.default_rng(1)
a = jnp.asarray(rng.standard_normal((8, 21)) + 1j * rng.standard_normal((8, 21)))
loss = lambda a: (t.synthesis(a) ** 2).sum()
there = jax.device_put(a, NamedSharding(mesh, P("b")))

def close(x, y):
    assert np.abs(np.asarray(x) - np.asarray(y)).max() <= 1e-13 * np.abs(np.asarray(y)).max()

for f in (t.synthesis, jax.grad(loss), kugel.jax.fft.fft, lambda a: kugel.jax.fft.convolve(a, jnp.ones((1, 3)), axes=1)):
    compiled = jax.jit(f).lower(there).compile()
    text = compiled.as_text()
    assert "all-gather" not in text and "all-reduce" not in text, text
    out = compiled(there)
    assert out.sharding.spec[0] == "b", out.sharding
    close(out, f(a))
    mapped = jax.shard_map(f, mesh=mesh, in_specs=P("b"), out_specs=P("b"))
    close(mapped(there), f(a))
total = jax.shard_map(lambda a: jax.lax.psum(loss(a), "b"), mesh=mesh, in_specs=P("b"), out_specs=P())
close(jax.grad(total)(there), jax.grad(loss)(a))
whole = jax.shard_map(t.synthesis, mesh=mesh, in_specs=P(), out_specs=P())
close(whole(a), t.synthesis(a))
wrong = jax.device_put(a, NamedSharding(mesh, P(None, None)))
close(jax.jit(t.synthesis)(wrong), t.synthesis(a))
print("done")
"""


def test_several_devices():
    """Batches that are shared among devices are transformed where they lie, under jit and in shard_map, with gradients."""
    env = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    out = subprocess.run([sys.executable, "-c", SHARDED], text=True, capture_output=True, env=env)
    assert out.returncode == 0 and "done" in out.stdout, out.stderr[-3000:]
