# SPDX-License-Identifier: BSD-3-Clause
"""kugel.torch.nufft: gradients for values and points against differences."""
import functools

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import kugel  # noqa: E402
import kugel.torch  # noqa: E402

nufft = kugel.torch.nufft


def problem(ndim, m=6, batch=(2,)):
    rng = np.random.default_rng(ndim)
    n = [(17,), (8, 7), (4, 5, 6)][ndim - 1]
    x = torch.tensor(rng.uniform(-4, 4, (m, ndim)), requires_grad=True)
    c = torch.tensor(rng.normal(size=batch + (m,)) + 1j * rng.normal(size=batch + (m,)), requires_grad=True)
    f = torch.tensor(rng.normal(size=batch + n) + 1j * rng.normal(size=batch + n), requires_grad=True)
    return n, x, c, f


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("sign", [1, -1])
def test_gradcheck(ndim, sign):
    n, x, c, f = problem(ndim)
    words = dict(sign=sign, tolerance=1e-12)
    check = functools.partial(torch.autograd.gradcheck, fast_mode=ndim > 1)
    assert check(lambda x, c: nufft.to_modes(x, c, n, **words), (x, c), atol=1e-5)
    assert check(lambda x, f: nufft.to_points(x, f, **words), (x, f), atol=1e-4)
    assert check(lambda c: nufft.to_modes(x.detach(), c, n, fft_order=True, **words), (c,), atol=1e-5)
    assert check(lambda f: nufft.to_points(x.detach(), f, period=3.0, **words), (f,), atol=1e-5)
    s = torch.linspace(-9, 9, 11 * ndim, dtype=torch.float64).reshape(11, ndim)
    assert check(lambda c: nufft.to_frequencies(x.detach(), c, s, **words), (c,), atol=1e-5)


def test_points_are_found_by_descent():
    """Waves of known modes at unknown points: a few steps of Newton's method on each point find them."""
    f = problem(1, batch=())[3]
    truth = torch.linspace(-3, 3, 15, dtype=torch.float64)[:, None]
    data = nufft.to_points(truth, f.detach(), tolerance=1e-10)
    x = (truth + 0.01).requires_grad_()
    for _ in range(30):
        value = nufft.to_points(x, f.detach(), tolerance=1e-10)
        loss = (value - data).abs().square()
        step, = torch.autograd.grad(loss.sum(), x)
        x = (x - 2 * loss.detach()[:, None] / step.where(step.abs() > 1e-12, torch.ones_like(step))).detach().requires_grad_()
    assert torch.allclose(x, truth, atol=1e-5)


def test_refusals_and_floats():
    n, x, c, _ = problem(2)
    with pytest.raises(TypeError):
        nufft.to_modes(x, c.real, n)
    with pytest.raises(NotImplementedError):
        nufft.to_frequencies(x, c, x)
    out = nufft.to_modes(x, c.detach().to(torch.complex64), n)
    assert out.dtype == torch.complex64
    out.abs().sum().backward()
    assert x.grad.dtype == torch.float64 and torch.isfinite(x.grad).all()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_cuda():
    n, x, c, f = problem(2)
    there = [t.detach().cuda().requires_grad_() for t in (x, c, f)]
    for run, mine, other in ((lambda x, v: nufft.to_modes(x, v, n, tolerance=1e-10), (x, c), (there[0], there[1])),
                             (lambda x, v: nufft.to_points(x, v, tolerance=1e-10), (x, f), (there[0], there[2]))):
        out, out_there = run(*mine), run(*other)
        assert out_there.is_cuda and torch.allclose(out, out_there.cpu(), rtol=0, atol=1e-8 * float(out.abs().max()))
        want = torch.autograd.grad(out.abs().square().sum(), mine)
        got = torch.autograd.grad(out_there.abs().square().sum(), other)
        for a, b in zip(want, got):
            assert torch.allclose(a, b.cpu(), rtol=0, atol=1e-7 * float(a.abs().max()))
