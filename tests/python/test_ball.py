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


def test_spin_components():
    """Of u = grad f in Cartesian coordinates, and in terms of profiles: f = j_l(k r) Y_lm has d/dr and -+ sqrt(l (l + 1) / 2) / r."""
    ball = Ball(6, 20, vectors=True)
    x, y, z = cartesian(ball)
    g = spherical(ball, np.stack([3 * x ** 2 * y, x ** 3 + z, y + 0 * z]))
    c = ball.analysis(x ** 3 * y + y * z)
    s = ball.synthesis(ball.grad(c), "spin")
    close(s, np.stack([(g[1] - 1j * g[2]) / np.sqrt(2), g[0] + 0j, (g[1] + 1j * g[2]) / np.sqrt(2)]), 1e-12)
    close((s[1] * s[1] + 2 * s[0] * s[2]).real, (g * g).sum(0), 1e-12)
    close(ball.analysis(np.stack([s, 2 * s]), "spin")[1], 2 * ball.grad(c), 1e-12)
    k, l, row = 6.0, 1, ball.row(1, 1)
    t = k * ball.r
    j, slope = np.sin(t) / t ** 2 - np.cos(t) / t, k * ((1 - 2 / t ** 2) * np.sin(t) / t + 2 * np.cos(t) / t ** 2)
    p = np.zeros((ball.nlm, ball.r.size), complex)
    p[row] = j
    wave = ball.from_profiles(p)
    close(ball.profiles(wave), p, 1e-14)
    got = ball.profiles(ball.grad(wave), "spin")
    close(got[:, row], np.stack([j / ball.r, slope, -j / ball.r]) * np.array([[1], [1], [1]]), 1e-11)
    assert np.abs(np.delete(got, row, 1)).max() < 1e-12
    v, q = random(ball, 3), RNG.standard_normal((3, ball.nlm, ball.r.size)) + 0j
    weight = np.where(ball.m > 0, 2, 1)[:, None]
    left = (weight * (ball.profiles(v, "spin") * q.conj()).real).sum()
    assert abs(left - ball.inner(v, ball.profiles_adjoint(q, "spin"))) < 1e-11 * abs(left)
    left = (weight * (ball.from_profiles_adjoint(v, "spin") * q.conj()).real).sum()
    assert abs(left - ball.inner(v, ball.from_profiles(q, "spin"))) < 1e-11 * abs(left)
    assert np.array_equal(ball.spectrum(v, "l", "spin"), ball.spectrum(v, "l", "vector"))
    with pytest.raises(ValueError, match="expected"):
        ball.from_profiles(np.zeros((ball.nlm, 3)))


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


def test_hdf5_files(tmp_path):
    """Written here and read by h5py and back; written by h5py and read here."""
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    ball = Ball(5, 6, 3, truncation="trapezoidal", dmax=11, type="sphere-energy", vectors=True)
    c, v = random(ball), random(ball, 3)
    try:
        ball.save(tmp_path / "c.h5", c)
    except Exception as error:
        if "KUGEL_HDF5" not in str(error):
            raise
        pytest.skip("the library is built without libhdf5")
    ball.save(tmp_path / "v.h5", np.stack([v, 2 * v]), "vector")
    ball.save(tmp_path / "f.h5", ball.synthesis(v, "spin"), "spin")
    with h5py.File(tmp_path / "c.h5") as file:
        assert np.array_equal(file["coefficients"], c) and file["coefficients"].dtype == np.complex128
        assert np.array_equal(file["l"], ball.l) and np.array_equal(file["m"], ball.m)
        assert dict(file["coefficients"].attrs) == {
            "kind": "scalar", "lmax": 5, "mmax": 3, "n": 6, "truncation": "trapezoidal", "dmax": 11, "type": "sphere-energy",
            "axes": "row, n", "components": "scalar"}
        assert file.attrs["title"] == "field in the ball, written by kugel"
    with h5py.File(tmp_path / "f.h5") as file:
        assert file["values"].attrs["axes"] == "component, r, theta, phi" and file["values"].attrs["kind"] == "spin"
        assert np.array_equal(file["r"], ball.r) and np.array_equal(file["theta"], ball.theta)
        assert np.array_equal(file["values"], ball.synthesis(v, "spin"))
    other, got, kind = kugel.ball.load(tmp_path / "v.h5")
    assert kind == "vector" and np.array_equal(got[1], 2 * v) and other._series["truncation"] == "trapezoidal"
    close(other.synthesis(got[0], kind), ball.synthesis(v, "vector"), 0)
    other, values, kind = kugel.ball.load(tmp_path / "f.h5")
    close(other.analysis(values, kind), v, 1e-13)
    with pytest.raises(Exception, match="exists"):
        ball.save(tmp_path / "c.h5", c)
    ball.save(tmp_path / "c.h5", 2 * c, overwrite=True)
    with pytest.raises(ValueError, match="expected"):
        ball.save(tmp_path / "x.h5", c[:-1])
    with h5py.File(tmp_path / "h.h5", "w") as file:  # big-endian, compressed, attributes as h5py writes them
        set_ = file.create_dataset("coefficients", data=c.astype(">c8"), chunks=(4, 3), compression="gzip")
        set_.attrs.update({"lmax": 5, "mmax": 3, "n": 6, "truncation": np.bytes_("trapezoidal"), "dmax": 11, "type": "sphere-energy"})
    other, got, kind = kugel.ball.load(tmp_path / "h.h5")
    assert kind == "scalar" and got.dtype == np.complex64 and np.array_equal(got, c.astype(np.complex64))
    with h5py.File(tmp_path / "n.h5", "w") as file:
        file["coefficients"] = c
    with pytest.raises(ValueError, match="no attributes lmax"):
        kugel.ball.load(tmp_path / "n.h5")
    with pytest.raises(Exception, match="cut short"):
        (tmp_path / "s.h5").write_bytes((tmp_path / "c.h5").read_bytes()[:-9])
        kugel.ball.load(tmp_path / "s.h5")


@pytest.mark.parametrize("attrs, says", [
    ({"lmax": -1}, "lmax is -1"), ({"lmax": 1 << 40}, "lmax 1099511627776"), ({"lmax": 7}, "as its attributes say"), ({"lmax": "five"}, "no attributes"),
    ({"n": 0}, "n 0"), ({"n": 4}, "n 4"), ({"n": 1 << 40}, "n 1099511627776"), ({"truncation": "round"}, "'rhomboidal'"), ({"type": "x" * 5000}, "type is"),
    ({"kind": "tensor"}, "'scalar'"), ({"kind": "vector"}, "as its attributes say"), ({"mmax": 99}, "mmax is 99"), ({"dmax": -5}, "dmax is -5"),
    ({"dmax": 1 << 62}, "dmax is"), ({"kind": b"\xff\xfe"}, "'scalar'"), ({"lmax": np.array([5, 5])}, "no attributes")])
def test_hdf5_files_with_wild_attributes(attrs, says, tmp_path):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    ball = Ball(5, 6, 3)
    with h5py.File(tmp_path / "c.h5", "w") as file:
        file.create_dataset("coefficients", data=random(ball)).attrs.update({"lmax": 5, "mmax": 3, "n": 6} | attrs)
    with pytest.raises(Exception, match=f"KUGEL_HDF5|{says}"):  # the first: a build without libhdf5
        kugel.ball.load(tmp_path / "c.h5")


@pytest.mark.parametrize("data", [
    np.zeros(3, [("a", [("x", "f8"), ("y", "f8")]), ("b", "f8")]), np.zeros(3, [("a", "f8"), ("b", "f4")]),
    np.zeros(3, [("a", "f8"), ("b", "f8"), ("c", "f8")]), np.zeros(3, [("a", "f8", (2,)), ("b", "f8", (2,))]),
    np.zeros(3, "V7"), np.zeros(3, "S5"), np.zeros(3, "f2"), np.zeros(3, bool), "a text", "empty", "any length", "enum"],
    ids=lambda data: str(getattr(data, "dtype", data)))
def test_hdf5_of_other_types(tmp_path, data):
    h5py = pytest.importorskip("h5py", reason="h5py is not installed")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        if isinstance(data, np.ndarray) or data == "a text":
            file["coefficients"] = data
        elif data == "empty":
            file["coefficients"] = h5py.Empty("f8")
        else:
            kind = h5py.vlen_dtype("f8") if data == "any length" else h5py.enum_dtype({"a": 1})
            file.create_dataset("coefficients", (3,), kind)
        file["coefficients"].attrs.update({"lmax": 5, "mmax": 3, "n": 6, "truncation": "trapezoidal", "dmax": 11, "type": "sphere-energy"})
    with pytest.raises((ValueError, NotImplementedError, kugel.KugelError)) as refused:
        kugel.ball.load(tmp_path / "x.h5")
    if "KUGEL_HDF5" in str(refused.value):
        pytest.skip("the library is built without libhdf5")
    assert "coefficients" in str(refused.value)


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
    spin = lambda x: torch.view_as_real(ball.synthesis(x, "spin"))  # noqa: E731
    assert np.allclose(spin(v).detach(), torch.view_as_real(torch.from_numpy(ball.plan.synthesis(v.detach().numpy(), "spin"))))
    s = ball.synthesis(v.detach(), "spin").requires_grad_()
    assert np.allclose(ball.analysis(s, "spin").detach(), v.detach())
    assert torch.autograd.gradcheck(spin, (v,), fast_mode=True)
    assert torch.autograd.gradcheck(lambda x: torch.view_as_real(ball.analysis(x, "spin")), (s,), fast_mode=True)
    assert torch.autograd.gradgradcheck(lambda x: ball.synthesis(x).pow(3), (c,), fast_mode=True)
    with pytest.raises(TypeError, match="expected a tensor"):
        ball.synthesis(np.zeros(3))
