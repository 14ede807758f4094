# SPDX-License-Identifier: BSD-3-Clause
"""kugel.polynomial against closed forms, NumPy and mpmath."""
import numpy as np
import pytest

import kugel
from kugel import polynomial

RNG = np.random.default_rng(3)


def close(a, b, bound):
    assert np.abs(np.asarray(a) - b).max() <= bound * np.abs(b).max()


def test_trigonometric_degrees():
    """W_n^0 = sqrt(4 / pi) cos(2 n t), W_n^1 = sqrt(4 / pi) cos((2 n + 1) t), r = cos t."""
    n = 20
    for l in (0, 1):
        t = polynomial.JonesWorland(l, n, 33)
        angle = np.pi * (2 * np.arange(33) + 1) / (4 * 33)
        w = np.sqrt(4 / np.pi) * np.cos((2 * np.arange(n)[:, None] + l) * angle)
        if l == 0:
            w[0] /= np.sqrt(2)
        close(t.synthesis(np.eye(n)), w, 1e-14)
        close(t.r, np.cos(angle), 1e-15)


@pytest.mark.parametrize("kind", ["chebyshev", "legendre", "cylinder-energy", "sphere-energy"])
@pytest.mark.parametrize("engine", ["auto", "connection", "dense"])
def test_round_trip_complex_lists(kind, engine):
    t = polynomial.JonesWorland(range(40), 24, type=kind, engine=engine)
    assert t.nr == 24 + 20 and t.systems == 40
    c = RNG.standard_normal((3, 40, 24)) + 1j * RNG.standard_normal((3, 40, 24))
    f = t.synthesis(c)
    assert f.shape == (3, 40, t.nr) and f.dtype == np.complex128
    close(t.analysis(f), c, 1e-14)
    one = polynomial.JonesWorland(17, 24, t.nr, type=kind)
    close(one.synthesis(c[:, 17]), f[:, 17], 1e-14)
    columns = np.asfortranarray(c)  # any strides
    assert np.array_equal(t.synthesis(columns), f)
    out = np.empty((t.nr, 40, 3), complex).T
    assert t.synthesis(c, out=out) is out and np.array_equal(out, f)


def test_double_double():
    mp = pytest.importorskip("mpmath")
    mp.mp.dps = 40
    t = polynomial.JonesWorland(range(6), 5, 9, precision="dd")
    f = t.synthesis(np.stack([np.ones((6, 5)), np.zeros((6, 5))], -1))
    assert f.shape == (6, 9, 2)
    for k in range(9):
        r = mp.cos(mp.pi * (2 * k + 1) / 36)
        for l in range(6):
            norms = (mp.gamma(n + mp.mpf(1) / 2) * mp.gamma(n + l + mp.mpf(1) / 2) / (2 * (2 * n + l or 1) * mp.gamma(n + l or 1) * mp.factorial(n)) if n + l
                     else mp.pi / 2 for n in range(5))
            want = sum(r**l * mp.jacobi(n, mp.mpf(-1) / 2, l - mp.mpf(1) / 2, 2 * r * r - 1) / mp.sqrt(h) for n, h in enumerate(norms))
            assert abs(mp.mpf(f[l, k, 0]) + mp.mpf(f[l, k, 1]) - want) < 1e-29
    one = polynomial.JonesWorland(31, 20, precision="dd")
    c = RNG.standard_normal((3, 20, 2)) * [1, 2.0**-56]
    c = c + 1j * c[::-1]
    back = one.analysis(one.synthesis(c))
    assert np.abs((back - c).sum(-1)).max() < 1e-29 and back.dtype == complex
    assert np.array_equal(one.analysis(one.synthesis(c.real)), back.real)
    with pytest.raises(NotImplementedError, match="double-double"):
        one.synthesis(c, "d1")
    with pytest.raises(NotImplementedError, match="PRECISION_DD"):
        polynomial.JonesWorland(3, 20, type="legendre", precision="dd")
    with pytest.raises(ValueError, match="high and low"):
        one.synthesis([1.0])


def test_operators_with_mpmath():
    mp = pytest.importorskip("mpmath")
    mp.mp.dps = 40
    n, l = 6, 5
    c = RNG.standard_normal(n)
    r = np.array([0.25, 0.5, 0.875])

    def f(x):
        return sum(mp.mpf(v) * x**l * mp.jacobi(k, mp.mpf(-1) / 2, l - mp.mpf(1) / 2, 2 * x * x - 1) for k, v in enumerate(c))

    want = {"p": f, "d1": lambda x: mp.diff(f, x), "divr1": lambda x: f(x) / x, "r1": lambda x: x * f(x),
            "divr1d1r1": lambda x: mp.diff(f, x) + f(x) / x,
            "sphlapl": lambda x: mp.diff(f, x, 2) + 2 * mp.diff(f, x) / x - l * (l + 1) * f(x) / x**2,
            "cyllapl": lambda x: mp.diff(f, x, 2) + mp.diff(f, x) / x - l * l * f(x) / x**2}
    t = polynomial.JonesWorland(l, n, norm="natural", radii=r)
    for op, function in want.items():
        top = abs(float(function(mp.mpf("0.999"))))
        assert np.abs(t.synthesis(c, op) - [float(function(mp.mpf(x))) for x in r]).max() < 1e-13 * max(top, 1)


def test_energy():
    t = polynomial.JonesWorland([0, 3], 8, type="sphere-energy", energy=True)
    c = RNG.standard_normal((5, 2, 8)) * (1 + 2j)
    close(t.energy(c), (np.abs(c)**2).sum(-1), 1e-14)
    with pytest.raises(ValueError, match="opts.energy"):
        polynomial.JonesWorland(2, 4).energy(np.ones(4))


def test_adjoint_and_integrals():
    t = polynomial.JonesWorland([1, 6], 10, 30)
    a, f = RNG.standard_normal((2, 10)), RNG.standard_normal((2, 30))
    for op in ("p", "d1", "sphlapl"):
        assert abs((t.synthesis(a, op) * f).sum() - (a * t.synthesis_adjoint(f, op)).sum()) < 1e-13 * np.abs(t.synthesis(a, op)).sum()
    assert abs((t.analysis(f, integrals=2) * a).sum() - (f * t.analysis_adjoint(a, integrals=2)).sum()) < 1e-14


def test_associated_legendre():
    t = polynomial.AssociatedLegendre(2, 40)
    c = RNG.standard_normal((4, 41)) + 1j * RNG.standard_normal((4, 41))
    c[:, :2] = 0
    f = t.synthesis(c)
    close(t.analysis(f), c, 5e-15)
    l = polynomial.AssociatedLegendre(0, 5, theta=[0.7]).synthesis(np.eye(6))[:, 0]
    x = np.cos(0.7)
    close(l, [np.sqrt(k + 0.5) * np.polynomial.legendre.Legendre.basis(k)(x) for k in range(6)], 1e-14)
    s = polynomial.AssociatedLegendre([1, 1], 1, theta=[0.7]).synthesis(np.eye(2))  # sqrt(3) / 2 sin, no phase
    close(s[1], [np.sqrt(0.75) * np.sin(0.7)], 1e-15)
    every = polynomial.AssociatedLegendre(range(41), 40)
    assert np.array_equal(every.synthesis(np.broadcast_to(c[:, None], (4, 41, 41)))[:, 2], f)


def test_connection_with_numpy():
    from numpy.polynomial import chebyshev, legendre
    c = RNG.standard_normal(30)
    x = np.linspace(-1, 1, 50)
    close(legendre.legval(x, polynomial.cheb2leg(c)), chebyshev.chebval(x, c), 1e-14)
    close(chebyshev.chebval(x, polynomial.leg2cheb(c)), legendre.legval(x, c), 1e-14)
    z = RNG.standard_normal((2, 20000)) + 1j
    close(polynomial.leg2cheb(polynomial.cheb2leg(z)), z, 1e-14)
    a, b = RNG.standard_normal((2, 500))
    u = polynomial.Ultraspherical(500, 1, 1.5)
    assert abs(u(a) @ b - a @ u.adjoint(b)) < 1e-13 * np.linalg.norm(u(a)) * np.linalg.norm(b)


def test_dedalus_ball():
    """Type jacobi with a = k, shift = 1/2: orthonormal under (1 - r^2)^k r^2 dr, by quadrature at Gauss nodes in r^2."""
    x, w = np.polynomial.legendre.leggauss(60)
    r, w = (x + 1) / 2, w / 2
    for k in (0, 1, 2):
        f = polynomial.JonesWorland(4, 7, type="jacobi", a=k, shift=0.5, radii=r).synthesis(np.eye(7))
        close((f * w * r**2 * (1 - r**2)**k) @ f.T, np.eye(7), 1e-13)


def test_zernike():
    t = polynomial.Zernike(40, order="noll")
    c = RNG.standard_normal((2, 3, t.count)) + 1j * RNG.standard_normal((2, 3, t.count))
    f = t.synthesis(c)
    assert f.shape == (2, 3, 21, 82) and (t.count, t.nm(4), t.index(2, 2)) == (861, (2, -2), 5)
    close(t.analysis(f), c, 1e-14)
    r, phi = np.array([[0.0, 0.5], [1.0, 0.3]]), np.array([[0.0, 1.0], [2.0, -9.0]])
    z = polynomial.Zernike(3, r=r, phi=phi, norm="natural").synthesis(np.eye(10))
    r, phi = r.ravel(), phi.ravel()
    osa = [r**0, r * np.sin(phi), r * np.cos(phi), r**2 * np.sin(2 * phi), 2 * r**2 - 1, r**2 * np.cos(2 * phi),
           r**3 * np.sin(3 * phi), (3 * r**3 - 2 * r) * np.sin(phi), (3 * r**3 - 2 * r) * np.cos(phi), r**3 * np.cos(3 * phi)]
    close(z, np.array(osa), 1e-15)
    with pytest.raises(ValueError, match="both r and phi"):
        polynomial.Zernike(3, r=[1.0])
    with pytest.raises(ValueError, match="no analysis"):
        polynomial.Zernike(3, r=[1.0], phi=[0.0]).analysis(np.zeros(1))


def test_shell():
    t = polynomial.Shell(24, 0.5, 2.0, 30, norm="natural")
    c = RNG.standard_normal((2, 24)) + 1j * RNG.standard_normal((2, 24))
    x = (t.r - 1.25) / 0.75
    close(t.synthesis(c), np.polynomial.chebyshev.chebval(x, c.T), 1e-13)
    close(t.analysis(t.synthesis(c)), c, 5e-15)
    close(t.synthesis(c, "d2"), np.polynomial.chebyshev.chebval(x, np.polynomial.chebyshev.chebder(c.T, 2, scl=1 / 0.75)), 1e-12)
    l, f = 3, t.analysis(t.r**3)  # harmonic
    laplacian = t.synthesis(f, "d2") + 2 * t.synthesis(f, "divr1d1") - l * (l + 1) * t.synthesis(f, "divr2")
    assert np.abs(laplacian).max() < 1e-11 * 48
    with pytest.raises(ValueError, match="outer is 0.5"):
        polynomial.Shell(4, 1, 0.5)


@pytest.mark.parametrize("l", [0, 1, 4])
def test_decay_rates(l):
    """Eigenvalues of the Laplacian in the ball: -j^2 with zeros of spherical Bessel functions, by a boundary row and by a stencil."""
    n = 40
    basis = polynomial.WorlandBasis(l, n + 1)
    a, b = basis.dense("i2sphlapl")[2:], basis.dense("i2")[2:]
    zeros = {0: [np.pi, 2 * np.pi], 1: [4.493409457909064, 7.725251836937707], 4: [8.182561452571243, 11.70490715457039]}[l]
    s = basis.stencil("value")[:n, :n - 1]
    for left, right in ((np.vstack([basis.boundary("value")[:n], a[:, :n]]), np.vstack([np.zeros(n), b[:, :n]])), (a[:, :n] @ s, b[:, :n] @ s)):
        rates = 1 / np.linalg.eigvals(np.linalg.solve(left, right))
        rates = np.sort(-rates[np.isfinite(rates) & (abs(rates) < 1e6)].real)
        close(rates[:2], np.square(zeros), 1e-12)
    # insulating: f' + (l + 1) f = 0, the zeros of j_{l-1}
    s = basis.stencil("insulating")[:n, :n - 1]
    rates = np.sort(-1 / np.linalg.eigvals(np.linalg.solve(a[:, :n] @ s, b[:, :n] @ s)).real)
    close(rates[0], {0: np.pi / 2, 1: np.pi, 4: 6.987932000500519}[l]**2, 1e-12)


def test_sparse():
    basis = polynomial.WorlandBasis(2, 9, norm="natural")
    lower, band = basis.band("i4sphlapl2")
    assert (lower, band.shape) == (2, (5, 9))
    for pair in (("value", "slope"), ("value", "curvature")):
        s = basis.stencil(*pair)
        for c in pair:
            assert np.abs(basis.boundary(c) @ s).max() <= 1e-14 * np.abs(basis.boundary(c)).max()
    t = polynomial.JonesWorland(2, 9, norm="natural", radii=[1.0])
    c = RNG.standard_normal(9)
    close(basis.boundary("value") @ c, t.synthesis(c), 1e-14)
    close(basis.boundary("slope") @ c, t.synthesis(c, "d1"), 1e-13)
    with pytest.raises(ValueError, match="op is 'i3'"):
        basis.band("i3")
    with pytest.raises(ValueError, match="conditions is 0"):
        basis.stencil()
    with pytest.raises(ValueError, match="l is 0"):
        polynomial.WorlandBasis(0, 4).band("i2qm")


def plans():
    return [(polynomial.Shell(6, 1, 2, 8), "synthesis", ("divr1d1",)), (polynomial.JonesWorland([1, 4], 5), "synthesis", ("d1",)), (polynomial.JonesWorland(3, 5), "analysis", ()),
            (polynomial.AssociatedLegendre(2, 6), "synthesis", ()), (polynomial.Zernike(4), "analysis", ()),
            (polynomial.Zernike(4, r=[0.5, 1.0], phi=[1.0, 2.0]), "synthesis", ()), (polynomial.Ultraspherical(6, 0, 0.5), "__call__", ())]


@pytest.mark.parametrize("which", range(7))
@pytest.mark.parametrize("complex_", [False, True])
def test_torch(which, complex_):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    plan, verb, words = plans()[which]
    f = lambda x: getattr(plan, verb)(x, *words)  # noqa: E731
    given = plan._shapes({"__call__": "execute"}.get(verb, verb))[0]
    x = RNG.standard_normal((2,) + given) + (1j * RNG.standard_normal((2,) + given) if complex_ else 0)
    t = torch.from_numpy(x).requires_grad_()
    assert np.array_equal(f(t).detach().numpy(), f(x))
    assert torch.autograd.gradcheck(f, (t,), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(lambda x: f(x).abs().square(), (t,), fast_mode=True)
    assert torch.equal(torch.func.vmap(f)(t.detach()), f(t.detach()))
    single = f(t.detach().to(torch.complex64 if complex_ else torch.float32))
    assert single.dtype == (torch.complex64 if complex_ else torch.float32)
    with pytest.raises(ValueError, match="expected"):
        f(t[..., :-1])


@pytest.mark.parametrize("which", range(7))
def test_jax(which):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    from jax.test_util import check_grads
    jax.config.update("jax_enable_x64", True)
    plan, verb, words = plans()[which]
    f = lambda x: getattr(plan, verb)(x, *words)  # noqa: E731
    given = plan._shapes({"__call__": "execute"}.get(verb, verb))[0]
    x = RNG.standard_normal((2,) + given)
    z = x + 1j * RNG.standard_normal(x.shape)
    for v in (x, z):
        close(f(jax.numpy.asarray(v)), f(v), 0 if v is x else 1e-15)
        close(jax.jit(jax.vmap(f))(v), f(v), 1e-15)
        close(jax.jvp(f, (jax.numpy.asarray(v),), (jax.numpy.asarray(2 * v),))[1], 2 * f(v), 1e-15)
    w = RNG.standard_normal(f(x).shape)
    gradient = jax.grad(lambda x: (f(x) * w).sum())(jax.numpy.asarray(x))
    assert abs((gradient * z.imag).sum() - (f(z.imag) * w).sum()) < 1e-12 * np.abs(f(z.imag)).sum()
    check_grads(f, (jax.numpy.asarray(x),), 2)


def test_bad_input():
    with pytest.raises(ValueError, match="needs? at least 74 radii"):
        polynomial.JonesWorland(20, 64, 70)
    with pytest.raises(ValueError, match=r"l\[0\] is -1"):
        polynomial.JonesWorland(-1, 4)
    with pytest.raises(ValueError, match="a is 0.3, must be a multiple"):
        polynomial.JonesWorland(1, 4, type="jacobi", a=0.3)
    with pytest.raises(ValueError, match="type is 'hermite'"):
        polynomial.JonesWorland(1, 4, type="hermite")
    with pytest.raises(ValueError, match="give an integer"):
        polynomial.JonesWorland(1.5, 4)
    with pytest.raises(ValueError, match="in is float64"):
        polynomial.JonesWorland(1, 4).synthesis(np.ones(5))
    with pytest.raises(ValueError, match="must be 0 to 3"):
        polynomial.AssociatedLegendre(4, 3)
    assert kugel.polynomial is polynomial
