# SPDX-License-Identifier: BSD-3-Clause
"""The functions of kugel.fft for JAX's arrays, with derivatives of any order; and convolutions with derivatives of both
arguments.

    y = kugel.jax.fft.rfft(x)                       # arguments, norms and results of scipy.fft and kugel.fft
    y = kugel.jax.fft.convolve(image, psf, "same")
"""
import functools
import json

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters import ad, batching

from .. import _ffi
from .._lib import dtype_of
from ..arrays import Foreign, make_view
from ..fft import arrays, composed, real_linear
from . import primitive, xla

__all__ = [*composed.FOURIER, *composed.COSINE, "convolve", "correlate"]


# ---- calls from XLA --------------------------------------------------------------------------------------------


def _words(call):
    return json.loads(call.attributes["words"])


def _compute(call):
    real_linear.apply_host(call.arguments[0].array(), call.results[0].array(), *_words(call))


class _There(arrays.Device):
    """A buffer of XLA on a CUDA device, used on XLA's stream."""

    def __init__(self, buffer, index, stream):
        view = make_view(buffer.address, _ffi.KUGEL_CUDA, index, dtype_of(buffer.dtype), buffer.shape, None, buffer)
        super().__init__(Foreign(buffer, view, buffer.shape, buffer.dtype, stream))


def _launch(call):
    where = call.device(), call.stream() or 0
    source, target = (_There(b, *where) for b in (call.arguments[0], call.results[0]))
    kind, axes, last, scale = _words(call)
    real_linear.apply(source, kind, axes, last, scale, target)


_on_host, _on_device = xla.handler(_compute), xla.handler(_launch)  # to be kept
jax.ffi.register_ffi_target("kugel_fft", jax.ffi.pycapsule(_on_host), platform="cpu")
jax.ffi.register_ffi_target("kugel_fft", jax.ffi.pycapsule(_on_device), platform="CUDA")


# ---- the primitive ---------------------------------------------------------------------------------------------


_fft = primitive.made("kugel_fft")


@_fft.def_abstract_eval
def _(x, *, kind, axes, last, scale):
    return primitive.aval(x, real_linear.shape_of(x.shape, kind, axes, last), real_linear.result_type(x.dtype, kind))


def _run(x, kind, axes, last, scale):
    return _fft.bind(x, kind=kind, axes=tuple(axes), last=last, scale=float(scale))


def _times(x, factors, axis):
    """Times numbers along an axis: an array, or first, last, inner of real_linear.transposed."""
    if isinstance(factors, tuple):
        first, last, inner = factors
        factors = np.full(x.shape[axis], inner)
        factors[:1] *= first
        factors[-1:] *= last
    return x * jnp.expand_dims(jnp.asarray(factors, x.real.dtype), [d for d in range(x.ndim) if d != axis])


def _transpose(g, x, *, kind, axes, last, scale):
    """JAX pairs complex numbers by Re(a b), the transposes of real_linear by Re(conj(a) b)."""
    if type(g) is ad.Zero:
        return [ad.Zero(x.aval)]
    n = last if kind == "c2r" else x.aval.shape[axes[-1]]
    out = real_linear.transpose(_run, _times, jnp.conj(g) if jnp.iscomplexobj(g) else g, (kind, axes, last, scale), n)
    return [jnp.conj(out) if jnp.iscomplexobj(out) else out]


ad.deflinear2(_fft, _transpose)


def _batch(arguments, in_axes, *, kind, axes, last, scale):
    return _run(jnp.moveaxis(arguments[0], in_axes[0], 0), kind, [a + 1 for a in axes], last, scale), 0


batching.primitive_batchers[_fft] = _batch


def _called(x, *, kind, axes, last, scale):
    made = jax.ShapeDtypeStruct(real_linear.shape_of(x.shape, kind, axes, last), real_linear.result_type(x.dtype, kind))
    return jax.ffi.ffi_call("kugel_fft", made)(x, words=json.dumps([kind, axes, last, scale]))


def _batches(x, *, axes, **words):
    return [(d, d) for d in range(x.ndim) if d not in axes]


for _platform in ("cpu", "cuda"):
    primitive.lower(_fft, _platform, _called, _batches)


# ---- the functions ---------------------------------------------------------------------------------------------


class _Ops:
    """What kugel.fft.composed takes of JAX."""

    run, times = staticmethod(_run), staticmethod(_times)
    conj, real, imag = staticmethod(jnp.conj), staticmethod(jnp.real), staticmethod(jnp.imag)
    is_complex, join, flip = staticmethod(jnp.iscomplexobj), staticmethod(jax.lax.complex), staticmethod(jnp.flip)

    @staticmethod
    def typed(x, want_complex):
        x = jnp.asarray(x)
        if want_complex is False and jnp.iscomplexobj(x):
            raise TypeError("x must be real")
        if x.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
            x = x.astype(np.float32 if jnp.issubdtype(x.dtype, jnp.floating) else jnp.result_type(float))
        return x + jnp.zeros((), jnp.result_type(x.dtype, jnp.complex64)) if want_complex and not jnp.iscomplexobj(x) else x

    @staticmethod
    def resized(x, axes, lengths):
        for a, n in zip(axes, lengths):
            if n < x.shape[a]:
                x = jax.lax.slice_in_dim(x, 0, n, axis=a)
            elif n > x.shape[a]:
                x = jnp.pad(x, [(0, n - x.shape[a] if d == a else 0) for d in range(x.ndim)])
        return x

    @staticmethod
    def cut(x, axis, first, count):
        return jax.lax.slice_in_dim(x, first, first + count, axis=axis)


def _of_arrays(function):
    """Lists and NumPy's arrays become JAX's."""
    @functools.wraps(function)
    def call(x, *arguments, **words):
        return function(jnp.asarray(x), *arguments, **words)
    return call


globals().update({name: _of_arrays(f) for name, f in composed.make(_Ops).items()})
for _name in __all__:
    globals()[_name].__module__ = __name__
