# SPDX-License-Identifier: BSD-3-Clause
"""The sky behind a lens, with derivatives by its coefficients."""
from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..alms import Alm
from ..points import _COMPLEX, _REAL, Lens as _Lens
from .operator import Operator


class Lens:
    """kugel.points.Lens for arrays of JAX: its arguments; calling it takes alm [..., nalm], of several sets [..., sets, nalm], to the
    lensed sky, under jit, vmap, jvp, vjp.

        lens = kugel.jax.Lens(potential, lmax=128, nside=64)
        gradient = jax.jit(jax.grad(lambda alm: ((lens(alm) - data) ** 2).sum()))(alm)

    Gradients by alm follow JAX's convention, by the pairing Re(a b): those of m > 0 carry a factor 2. The potential has none. Double
    precision needs JAX's jax_enable_x64. `lens` is the kugel.points.Lens.
    """

    def __init__(self, *arguments: Any, **words: Any) -> None:
        #: the kugel.points.Lens
        self.lens = lens = _Lens(*arguments, **words)
        plan = lens.plan
        weight = 1 + (Alm.getlm(plan.lmax)[1][:plan.nalm] > 0)
        given = ((plan.n_alm_sets,) if plan.n_alm_sets > 1 else ()) + (plan.nalm,)
        made = ((plan.n_values,) if plan.n_values > 1 else ()) + lens.shape
        self._operator = Operator(given, made, lens.synthesis, lambda values: (lens.adjoint(values) * weight).conj(),
                                  lambda dtype: _REAL[np.dtype(dtype)], lambda dtype: _COMPLEX[np.dtype(dtype)])

    def __call__(self, alm: Any) -> Any:
        """The lensed sky of the coefficients."""
        alm = jnp.asarray(alm)
        return self._operator(alm if jnp.iscomplexobj(alm) else alm.astype(jnp.result_type(alm.dtype, jnp.complex64)))
