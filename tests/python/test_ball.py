# SPDX-License-Identifier: BSD-3-Clause
"""kugel.ball against closed forms in Cartesian coordinates, spherical waves and identities of vector calculus."""
import numpy as np
import pytest

import kugel
from kugel.ball import Ball

RNG = np.random.default_rng(5)


def close(a, b, bound):
    assert np.abs(np.asarray(a) - b).max() <= bound * max(np.abs(b).max(), 1e-300)


def random(ball, components=1):
    c = RNG.standard_normal((components, ball.nlm, ball.n)) + 1j * RNG.standard_normal((components, ball.nlm, ball.n))
    c[:, ball.m == 0] = c[:, ball.m == 0].real
    c *= np.arange(ball.n) < ball.nl[ball.l][:, None]
    if components == 3:
        c[[0, 2], 0] = 0
    if components == 2:
        c[:, 0] = 0
    return c if components > 1 else c[0]


def cartesian(ball):
    r, t, p = ball.r[:, None, None], ball.theta[:, None], ball.phi
    return r * np.sin(t) * np.cos(p), r * np.sin(t) * np.sin(p), r * np.cos(t) + 0 * p


def spherical(ball, u):
    """r, theta, phi components of Cartesian ones."""
    t, p = ball.theta[:, None], ball.phi
    st, ct, sp, cp = np.sin(t), np.cos(t), np.sin(p), np.cos(p)
    return np.stack([u[0] * st * cp + u[1] * st * sp + u[2] * ct, u[0] * ct * cp + u[1] * ct * sp - u[2] * st, u[1] * cp - u[0] * sp])


def test_rows():
    ball = Ball(6, 4, 3)
    assert ball.nlm == len(ball.l) == 22 and ball.shape == (ball.r.size, 7, 8)
    for i, (l, m) in enumerate(zip(ball.l, ball.m)):
        assert ball.row(int(l), int(m)) == i
    with pytest.raises(ValueError, match="l is 6 and m 4"):
        ball.row(6, 4)


@pytest.mark.parametrize("keys", [{}, {"truncation": "triangular"}, {"truncation": "trapezoidal", "dmax": 17},
                                  {"type": "sphere-energy", "mmax": 4}, {"precision": "f32"}])
def test_there_and_back(keys):
    ball = Ball(11, 8, vectors=True, **keys)
    bound = 2e-6 if keys.get("precision") else 2e-14
    c, v = random(ball), random(ball, 3)
    close(ball.analysis(ball.synthesis(c)), c, bound)
    close(ball.analysis(ball.synthesis(np.stack([v, 2 * v]), "vector"), "vector")[1], 2 * v, bound)
    f = RNG.standard_normal(ball.shape)
    assert abs((ball.synthesis(c) * f).sum() - ball.inner(c, ball.synthesis_adjoint(f))) < 100 * bound * np.sqrt(f.size * c.size)


def test_vector_calculus_of_polynomials():
    """Fields of degree 5 and less, whose derivatives are written down."""
    ball = Ball(6, 6, truncation="triangular", vectors=True)
    x, y, z = cartesian(ball)
    f = x ** 3 * y - 2 * x * z ** 2 + y * z + 1
    g = np.stack([3 * x ** 2 * y - 2 * z ** 2, x ** 3 + z, y - 4 * x * z])
    c = ball.analysis(f)
    close(ball.synthesis(ball.grad(c), "vector"), spherical(ball, g), 1e-12)
    close(ball.synthesis(ball.laplacian(c)), 6 * x * y - 4 * x, 1e-12)
    u = np.stack([y * z, x ** 2 * z, x * y ** 2 + 0 * z])
    v = ball.analysis(spherical(ball, u), "vector")
    close(ball.synthesis(v, "vector"), spherical(ball, u), 1e-13)
    close(ball.synthesis(ball.curl(v), "vector"), spherical(ball, np.stack([2 * x * y - x ** 2, y - y ** 2, 2 * x * z - z])), 1e-12)
    assert np.abs(ball.div(v)).max() < 1e-13  # u has none
    close(ball.synthesis(ball.laplacian(v), "vector"), spherical(ball, np.stack([0 * x, 2 * z, 2 * x])), 1e-12)
    close(ball.from_potentials(ball.to_potentials(v)), v, 1e-12)


def test_identities():
    ball = Ball(20, 12, vectors=True)
    c, v, tp = random(ball), random(ball, 3), random(ball, 2)
    close(ball.curl(ball.grad(c)) + ball.grad(c), ball.grad(c), 1e-11)
    close(ball.grad(ball.div(v)) - ball.curl(ball.curl(v)), ball.laplacian(v), 1e-13)
    close(ball.to_potentials(ball.from_potentials(tp)), tp, 1e-12)
    for op, (_, given, taken) in kugel.ball._OPERATORS.items():
        a, b = random(ball, given), random(ball, taken)
        left, right = (ball.apply(op, a) * b).sum(), (a * ball.apply(op, b, adjoint=True)).sum()
        assert abs(left - right) <= 1e-13 * np.linalg.norm(ball.apply(op, a)) * np.linalg.norm(b)


def test_waves():
    """j_l(k r) P_l(cos theta): the Laplacian is - k^2 times it."""
    ball = Ball(8, 24)
    k = 9.5
    x = k * ball.r
    waves = np.sin(x) / x, (np.sin(x) / x - np.cos(x)) / x
    for l, (radial, angular) in enumerate(zip(waves, (np.ones_like(ball.theta), np.cos(ball.theta)))):
        f = radial[:, None, None] * angular[:, None] + 0 * ball.phi
        c = ball.analysis(f)
        close(ball.synthesis(ball.laplacian(c)), -k * k * f, 1e-9)
        assert np.abs(np.delete(c, ball.row(l, 0), 0)).max() < 1e-14


def test_products_and_energy():
    """u . grad f on the grid of two factors has the coefficients that any finer grid gives."""
    results = []
    for keys in ({"factors": 2}, {"nr": 40, "ntheta": 33, "nphi": 60}):
        ball = Ball(8, 6, vectors=True, **keys)
        RNG2 = np.random.default_rng(8)
        c = RNG2.standard_normal((ball.nlm, ball.n)) + 0j
        u = ball.synthesis(ball.from_potentials(np.stack([c, 2 * c[:, ::-1]])), "vector")
        g = ball.synthesis(ball.grad(c), "vector")
        results.append(ball.analysis((u * g).sum(0)))
    close(results[0], results[1], 1e-12)
    whole = (ball.weights_r[:, None, None] * ball.weights_s[:, None] * u ** 2).sum()
    v = ball.from_potentials(np.stack([c, 2 * c[:, ::-1]]))
    for axis, size in (("l", 9), ("m", 9), ("n", 6)):
        e = ball.spectrum(v, axis, "vector")
        assert e.shape == (size,) and abs(e.sum() / whole - 1) < 1e-12


def test_cuts():
    ball = Ball(7, 5)
    c = random(ball)
    grid = kugel.Grid.gauss(9, 20)
    other = Ball(7, 5, radii=[1.0, 0.25], sphere=grid)
    assert other.shape == (2, 180)
    finer = Ball(7, 5, nr=other.shape[0] + 10, ntheta=9, nphi=20)
    at = kugel.polynomial.JonesWorland(finer.l, 5, radii=[1.0, 0.25])
    assert np.isfinite(other.synthesis(c)).all()
    f = other.synthesis(c).reshape(2, 9, 20)
    mean = (f.mean(2) @ finer.weights_s) / finer.weights_s.sum()
    close(mean, at.synthesis(c.real)[0] / np.sqrt(4 * np.pi), 1e-13)
    with pytest.raises(ValueError, match="has no analysis"):
        other.analysis(np.zeros(other.shape))


def test_refusals():
    ball = Ball(5, 4)
    with pytest.raises(ValueError, match="expected"):
        ball.synthesis(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="kind"):
        ball.synthesis(ball.zeros(), "tensor")
    with pytest.raises(ValueError, match="set opts.vectors"):
        ball.synthesis(ball.zeros(3), "vector")
    with pytest.raises(ValueError, match="finite"):
        ball.analysis(np.full(ball.shape, np.inf))
    with pytest.raises(ValueError, match="needs at least 4"):
        Ball(7, 3, truncation="triangular")
    with pytest.raises(ValueError, match="lmax is -2"):
        Ball(-2, 3)


@pytest.mark.parametrize("mmax", [None, 2])
def test_torch_gradients(mmax):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import kugel.torch

    ball = kugel.torch.Ball(4, 3, mmax, vectors=True)
    c = torch.from_numpy(random(ball.plan)).requires_grad_()
    v = torch.from_numpy(random(ball.plan, 3)).requires_grad_()
    f = torch.randn(ball.plan.shape, dtype=torch.float64, requires_grad=True)
    checks = [(lambda x: ball.synthesis(x), c), (lambda x: torch.view_as_real(ball.analysis(x)), f),
              (lambda x: ball.synthesis(ball.apply("grad", x), "vector").square(), c),
              (lambda x: torch.view_as_real(ball.apply("div", ball.apply("curl", x) + x)), v)]
    for function, x in checks:
        assert torch.autograd.gradcheck(function, (x,), fast_mode=True)
    assert torch.autograd.gradgradcheck(lambda x: ball.synthesis(x).pow(3), (c,), fast_mode=True)
    with pytest.raises(TypeError, match="expected a tensor"):
        ball.synthesis(np.zeros(3))
