# SPDX-License-Identifier: BSD-3-Clause
"""Lenses and stencils on PyTorch tensors: their gradients against differences."""
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

import kugel  # noqa: E402
import kugel.torch  # noqa: E402


def test_lens():
    """Gradients by alm of the sky behind a lens, first and second, against differences."""
    rng = np.random.default_rng(6)
    lmax = 6
    n = (lmax + 1) * (lmax + 2) // 2
    potential = 0.05 * (rng.normal(size=n) + 1j * rng.normal(size=n))
    lens = kugel.torch.Lens(potential, lmax, theta=rng.uniform(0, np.pi, 30), phi=rng.uniform(0, 6, 30), mode="teb", tolerance=1e-12)
    alm = torch.from_numpy(rng.normal(size=(2, 3, n)) + 1j * rng.normal(size=(2, 3, n))).requires_grad_()
    assert torch.autograd.gradcheck(lens, (alm,)) and torch.autograd.gradgradcheck(lens, (alm,))
    seen = lens(alm.detach().to(torch.complex64))
    assert seen.dtype == torch.float32 and seen.shape == (2, 3, 30) and (seen - lens(alm)).abs().max() < 1e-4


def test_stencil():
    """Gradients by fields of operators and of steps, against differences; a source found from a later state."""
    n, rng = (6, 7), np.random.default_rng(1)
    c = torch.from_numpy(rng.random(n))
    plan = kugel.stencil.laplacian(n, order=4, coefficient=c.numpy(), boundary="even")
    u = torch.from_numpy(rng.normal(size=(2,) + n)).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: kugel.torch.stencil.apply(plan, x), (u,))
    assert torch.autograd.gradcheck(lambda x: kugel.torch.stencil.advance(plan, x, 0.2, 5), (u,))
    heat = kugel.stencil.laplacian(n, compact=True, boundary="odd")
    for one, method in ((plan, "runge_kutta"), (heat, "adi")):
        assert torch.autograd.gradgradcheck(lambda x, one=one, method=method: kugel.torch.stencil.advance(one, x, 0.2, 3, method).square(),
                                            (u[0].detach().requires_grad_(),))
    with pytest.raises(TypeError, match="float64"):
        kugel.torch.stencil.apply(plan, u.float())
