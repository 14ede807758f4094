# SPDX-License-Identifier: BSD-3-Clause
"""kugel.nufft against sums in binary128 (golden files), finufft where it is installed, and its rules."""
import os
import pathlib

import numpy as np
import pytest

import kugel

HERE = pathlib.Path(__file__).resolve().parent
PLACES = [HERE.parent / "data" / "golden" / "nufft", pathlib.Path(os.environ.get("KUGEL_TEST_SHARED", HERE.parents[2] / "shared" / "data"))
          / "nufft" / "cases"]
CASES = {p.stem: p for folder in reversed(PLACES) for p in sorted(folder.glob("t[123]d*.csv"))}


def read(path):
    head, part = {}, {}
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            key, *values = line[1:].split()
            head[key] = values
        else:
            name, _, *numbers = line.split(",")
            part.setdefault(name, []).append([float(v) for v in numbers])
    return head, {k: np.array(v) for k, v in part.items()}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-8, 1e-13])
def test_golden(name, tolerance):
    head, part = read(CASES[name])
    kind, ndim, sign = int(head["type"][0]), int(head["dim"][0]), int(head["sign"][0])
    third = kind == 3
    n = (int(head["targets"][0]),) if third else tuple(int(k) for k in head["modes"])
    x = part.get("x", np.zeros((0, ndim)))
    given = part.get("f" if kind == 2 else "c", np.zeros((0, 2)))
    given = (given[:, 0] + 1j * given[:, 1]).reshape(n if kind == 2 else (-1,))
    want = part.get("r", np.zeros((0 if kind == 2 else int(np.prod(n)), 4)))
    want = ((want[:, 0] + want[:, 1]) + 1j * (want[:, 2] + want[:, 3])).reshape((-1,) if kind == 2 else n)
    s = part.get("s", np.zeros((0, ndim))) if third else None
    plan = kugel.nufft.Plan(None if third else n, {1: "to_modes", 2: "to_points", 3: "to_frequencies"}[kind],
                            tolerance=tolerance, sign=sign, ndim=ndim)
    got = plan.points(x, s).execute(given)
    error = np.abs(got - want)
    floor = (2e-13 if third else 3e-15) * np.abs(given).sum()  # type 3: phases, and digits that 1 / phihat takes
    assert error.max(initial=0) <= 6 * tolerance * np.abs(given).sum() + floor
    cancels = np.linalg.norm(want) < 0.05 * np.abs(given).sum() * np.sqrt(want.size) / np.sqrt(max(given.size, 1))
    if want.size >= 16 and min(n) >= 4 and not cancels:
        assert np.linalg.norm(error) <= tolerance * np.linalg.norm(want) + floor


GRADIENTS = [name for name in CASES if "r0," in CASES[name].read_text()]


def number(rows):
    return rows[:, 0] + 1j * rows[:, 1] if rows.shape[1] == 2 else rows[:, 0] + rows[:, 1] + 1j * (rows[:, 2] + rows[:, 3])


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-8, 1e-12])
def test_golden_gradients(name, tolerance):
    head, part = read(CASES[name])
    kind, ndim, sign = int(head["type"][0]), int(head["dim"][0]), int(head["sign"][0])
    n = tuple(int(k) for k in head["modes"])
    plan = kugel.nufft.Plan(n, "to_modes" if kind == 1 else "to_points", tolerance=tolerance, sign=sign, gradient=True)
    points = plan.points(part["x"])
    if kind == 2:
        got = points.execute(number(part["f"]).reshape(n))
    else:
        rows = np.zeros((1 + ndim, 1 + ndim, len(part["x"])), complex)
        rows[range(1 + ndim), range(1 + ndim)] = number(part["c"])  # once as strengths, once as dipoles along each axis
        got = points.execute(rows).reshape(1 + ndim, -1)
    for i, section in enumerate(["r"] + [f"r{d}" for d in range(ndim)]):
        want = number(part[section])
        assert np.linalg.norm(got[i] - want) <= (10 if i else 1) * tolerance * np.linalg.norm(want) + 1e-12, section


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_gradients_are_those_of_waves(ndim, precision):
    rng = np.random.default_rng(ndim)
    n, m, period = (64, 20, 17)[:ndim] if ndim > 1 else (300,), 200, 3.0
    tolerance = 1e-9 if precision == "f64" else 1e-5
    x = rng.uniform(-5, 5, (m, ndim))
    plan = kugel.nufft.Plan(n, "to_points", tolerance=tolerance, period=period, gradient=True, precision=precision)
    f = rng.normal(size=n) + 1j * rng.normal(size=n)
    modes = np.stack(np.meshgrid(*[np.arange(k) - k // 2 for k in n], indexing="ij"), -1).reshape(-1, ndim) * (2 * np.pi / period)
    waves = np.exp(-1j * x @ modes.T)
    points = plan.points(x)
    got = points.execute(f)
    assert got.shape == (1 + ndim, m)
    for i in range(1 + ndim):
        want = (waves if i == 0 else waves * (-1j * modes[:, i - 1])) @ f.reshape(-1)
        assert np.linalg.norm(got[i] - want) <= 2 * tolerance * np.linalg.norm(want)
    g = rng.normal(size=got.shape) + 1j * rng.normal(size=got.shape)
    back = points.adjoint(g)
    f, got, g = f.astype(plan.dtype), got.astype(complex), g.astype(plan.dtype).astype(complex)
    assert abs(np.vdot(g, got) - np.vdot(back, f)) <= (1e-14 if precision == "f64" else 1e-5) * np.linalg.norm(g) * np.linalg.norm(got)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_spread_and_interpolate_are_transposes(ndim):
    rng = np.random.default_rng(3)
    n, m = (30, 12, 9)[:ndim], 100
    points = kugel.nufft.Plan(n, "to_modes", tolerance=1e-4).points(rng.normal(size=(m, ndim)))
    c, b = rng.normal(size=(2, m)), rng.normal(size=(2,) + points.plan.fine)
    grid, values = points.spread(c), points.interpolate(b)
    assert grid.shape == (2,) + points.plan.fine and values.shape == (2, m)
    assert np.isclose(np.sum(grid * b), np.sum(c * values), rtol=1e-13)
    one = kugel.nufft.Plan(n, "to_modes", tolerance=1e-4).points(np.zeros((1, ndim))).spread([1.0]).real
    w = points.plan.width
    assert np.count_nonzero(one) <= (w + 1) ** ndim and one.max() <= 1.001 and one.flat[0] == one.max()
    with pytest.raises(ValueError, match="C order"):
        points.spread(c, out=np.empty((2,) + points.plan.fine[::-1], complex).transpose(0, *range(ndim, 0, -1))) if ndim > 1 else (
            points.spread(c, out=np.empty((2, 2 * points.plan.fine[0]), complex)[:, ::2]))


@pytest.mark.parametrize("kind", ["to_modes", "to_points"])
@pytest.mark.parametrize("n", [(40,), (13, 20), (6, 9, 5)])
def test_normal_is_adjoint_after_transform(kind, n):
    rng = np.random.default_rng(4)
    plan = kugel.nufft.Plan(n, kind, tolerance=1e-12, fft_order=len(n) == 2, period=None if len(n) == 1 else 2.5)
    x, w = rng.normal(size=(300, len(n))), rng.uniform(0.1, 1, 300)
    f = rng.normal(size=(3,) + n) + 1j * rng.normal(size=(3,) + n)
    points = plan.points(x)
    there, back = (points.execute, points.adjoint) if kind == "to_points" else (points.adjoint, points.execute)
    for weights in (w, None):
        want = back((1 if weights is None else w) * there(f))
        normal = plan.normal(x, weights)
        got = normal.execute(f)
        assert np.linalg.norm(got - want) <= 1e-11 * np.linalg.norm(want)
        assert np.array_equal(normal.adjoint(f), got)
    single = kugel.nufft.Plan(n, kind, precision="f32", fft_order=len(n) == 2, period=plan_period(n)).normal(x, w).execute(f)
    want = back(w * there(f))
    assert single.dtype == np.complex64 and np.linalg.norm(single - want) <= 5e-6 * np.linalg.norm(want)
    with pytest.raises(ValueError):
        plan.normal(x, w[:-1])
    with pytest.raises(ValueError):
        normal.spread(f)


def plan_period(n):
    return None if len(n) == 1 else 2.5


def test_density_is_the_volume_of_points():
    x = np.stack(np.meshgrid(*[np.arange(-np.pi, np.pi, 2 * np.pi / k) for k in (50, 64)], indexing="ij"), -1).reshape(-1, 2)
    w = kugel.nufft.Plan((50, 64), "to_modes", tolerance=1e-3).points(x).density(20)
    assert np.allclose(w, (2 * np.pi) ** 2 / len(x), rtol=1e-2)
    radius, angle = np.meshgrid(np.linspace(-3, 3, 128), np.arange(150) * np.pi * (np.sqrt(5) - 1) / 2)  # radial: as |k|
    k = np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1).reshape(-1, 2)
    for precision in ("f64", "f32"):
        w = kugel.nufft.Plan((64, 64), "to_modes", tolerance=1e-2, precision=precision).points(k).density(30)
        assert w.dtype == (np.float64 if precision == "f64" else np.float32) and np.all(w > 0)
        assert abs(w.sum() / (np.pi * 9) - 1) < 0.1
        r = np.abs(radius.reshape(-1))
        ratio = (w / r)[(r > 0.3) & (r < 2.5)]
        assert ratio.std() < 0.3 * ratio.mean()


def test_there_are_golden_cases():
    assert len(CASES) >= 12


def test_plan_reports_what_it_does():
    plan = kugel.nufft.Plan((30, 40), "to_modes", tolerance=1e-6, upsampling=2)
    assert plan.width == 7 and plan.upsampling == 2 and plan.error < 1e-6 and plan.fine[0] >= 60


def test_batch_layouts_and_out():
    rng = np.random.default_rng(1)
    points = kugel.nufft.Plan((12, 9), "to_points").points(rng.normal(size=(2, 50)).T)
    f = rng.normal(size=(3, 2, 12, 9)) + 1j * rng.normal(size=(3, 2, 12, 9))
    c = points.execute(f)
    assert c.shape == (3, 2, 50)
    out = np.empty((50, 3, 2), complex).transpose(1, 2, 0)
    assert points.execute(f, out=out) is out and np.array_equal(out, c)
    assert np.array_equal(points.execute(np.asfortranarray(f)), c)
    back = points.adjoint(c)
    assert np.isclose(np.vdot(c, c), np.vdot(f, back), rtol=1e-14)


def test_float_keeps_digits_of_double_points():
    rng = np.random.default_rng(2)
    x = rng.uniform(-np.pi, np.pi, (100, 1))
    c = rng.normal(size=100).astype(np.complex64)
    f32 = kugel.nufft.Plan(1_000_000, "to_modes", precision="f32").points(x).execute(c)
    f64 = kugel.nufft.Plan(1_000_000, "to_modes", tolerance=1e-12).points(x).execute(c)
    assert f32.dtype == np.complex64
    assert np.linalg.norm(f32 - f64) <= 1e-6 * np.linalg.norm(f64)


def test_refusals():
    plan = kugel.nufft.Plan(16, "to_modes")
    for bad in (dict(n=16, kind="type1"), dict(n=16, kind="to_modes", precision="f16"), dict(n=0, kind="to_modes"),
                dict(n=16, kind="to_modes", tolerance=1e-20), dict(n=(4, 4, 4, 4), kind="to_modes")):
        with pytest.raises(ValueError):
            kugel.nufft.Plan(**bad)
    with pytest.raises(ValueError, match="coordinate 0 of point 1 is nan"):
        plan.points([0.0, np.nan])
    points = plan.points(np.zeros(5))
    with pytest.raises(ValueError, match="must end with"):
        points.execute(np.zeros(4))
    frozen = np.zeros(16, complex)
    frozen.flags.writeable = False
    with pytest.raises(ValueError):
        points.execute(np.zeros(5), out=frozen)
    with pytest.raises(TypeError):
        kugel.nufft.nufft2d1(np.zeros(3), np.zeros(3), np.zeros(3))


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_names_of_finufft(ndim):
    finufft = pytest.importorskip("finufft")
    rng = np.random.default_rng(ndim)
    n = (20, 15, 12)[:ndim]
    axes = rng.uniform(-np.pi, np.pi, (ndim, 300))
    c = rng.normal(size=300) + 1j * rng.normal(size=300)
    for isign in (1, -1):
        want = getattr(finufft, f"nufft{ndim}d1")(*axes, c, n if ndim > 1 else n[0], eps=1e-12, isign=isign)
        got = getattr(kugel.nufft, f"nufft{ndim}d1")(*axes, c, n, eps=1e-12, isign=isign)
        assert np.allclose(got, want, atol=1e-10)
        back = getattr(finufft, f"nufft{ndim}d2")(*axes, want, eps=1e-12, isign=isign)
        assert np.allclose(getattr(kugel.nufft, f"nufft{ndim}d2")(*axes, want, eps=1e-12, isign=isign), back, atol=1e-8)
    s = rng.uniform(-30, 30, (ndim, 250))
    want = getattr(finufft, f"nufft{ndim}d3")(*axes, c, *s, eps=1e-12)
    assert np.allclose(getattr(kugel.nufft, f"nufft{ndim}d3")(*axes, c, *s, eps=1e-12), want, atol=1e-10)


@pytest.mark.parametrize("n", [(30,), (12, 17), (8, 9, 10)])
def test_names_of_ducc0(n):
    rng = np.random.default_rng(6)
    x = rng.uniform(-3, 9, (200, len(n)))
    f = rng.normal(size=n) + 1j * rng.normal(size=n)
    for forward in (True, False):
        for order in (True, False):
            words = dict(forward=forward, epsilon=1e-10, fft_order=order, periodicity=5.0)
            c = kugel.nufft.u2nu(grid=f, coord=x, **words)
            k = np.stack(np.meshgrid(*[np.fft.fftfreq(m, 1 / m) if order else np.arange(m) - m // 2 for m in n], indexing="ij"), -1)
            waves = np.exp((-2j if forward else 2j) * np.pi / 5 * x @ k.reshape(-1, len(n)).T)
            assert np.allclose(c, waves @ f.reshape(-1), atol=1e-8)
            out = np.empty(n, complex)
            assert kugel.nufft.nu2u(points=c, coord=x, out=out, **words) is out
            assert np.allclose(out.reshape(-1), c @ waves, atol=1e-6)
    with pytest.raises(ValueError, match="out is missing"):
        kugel.nufft.nu2u(points=c, coord=x, **words)


def test_values_are_those_of_ducc0():
    ducc0 = pytest.importorskip("ducc0")
    rng = np.random.default_rng(7)
    x, f = rng.uniform(-3, 9, (200, 2)), rng.normal(size=(20, 31)) + 1j * rng.normal(size=(20, 31))
    words = dict(coord=x, forward=False, epsilon=1e-10, periodicity=3.0)
    assert np.allclose(kugel.nufft.u2nu(grid=f, **words), ducc0.nufft.u2nu(grid=f, **words), atol=1e-7)


def test_real_data_is_half_of_complex():
    rng = np.random.default_rng(4)
    x, c = rng.uniform(-4, 4, (300, 2)), rng.normal(size=(3, 300))
    for n in ((12, 15), (11, 16)):
        whole = kugel.nufft.Plan(n, "to_modes", tolerance=1e-10, fft_order=True).points(x).execute(c + 0j)
        points = kugel.nufft.Plan(n, "to_modes", tolerance=1e-10, fft_order=True, real=True).points(x)
        f = points.execute(c)
        assert f.shape == (3, n[0], n[1] // 2 + 1)
        same = n[1] // 2 + n[1] % 2  # of even n the mode n / 2 stands where -n / 2 does
        assert np.abs(f[..., :same] - whole[..., :same]).max() < 1e-8
        full = np.zeros((3,) + n, complex)
        full[..., :f.shape[-1]] = f
        full[..., 1:same] *= 2
        want = kugel.nufft.Plan(n, "to_points", tolerance=1e-10, fft_order=True, sign=-1).points(x).execute(full)
        if n[1] % 2:
            assert np.abs(points.adjoint(f) - want.real).max() < 1e-8 * np.abs(want).max()
        with pytest.raises(ValueError, match="real data"):
            points.execute(c + 0j)


def test_normal_of_real_data():
    rng = np.random.default_rng(5)
    n, x, w = (9, 12), rng.normal(size=(200, 2)), rng.uniform(0.1, 1, 200)
    f = rng.normal(size=(2, 9, 7)) + 1j * rng.normal(size=(2, 9, 7))
    plan = kugel.nufft.Plan(n, "to_points", tolerance=1e-11, real=True)
    points = plan.points(x)
    want, got = points.adjoint(w * points.execute(f)), plan.normal(x, w).execute(f)
    assert np.abs(got - want).max() < 1e-10 * np.abs(want).max()


def test_arguments_of_finufft():
    """Positions, keywords, out alone, options without effect, and those that do not exist."""
    rng = np.random.default_rng(6)
    x, y, s, t = rng.uniform(-3, 3, (4, 50))
    c = rng.normal(size=50) + 1j * rng.normal(size=50)
    k = np.arange(-4, 4)
    want = np.exp(-1j * k[:, None] * x) @ c
    got = kugel.nufft.nufft1d1(x, c, 8, None, 1e-10, -1, nthreads=1, debug=0)
    assert np.abs(got - want).max() < 1e-8
    out = np.zeros(8, complex)
    assert kugel.nufft.nufft1d1(x=x, c=c, out=out, eps=1e-10, isign=-1, modeord=1) is out
    assert np.abs(np.fft.fftshift(out) - want).max() < 1e-8
    f = rng.normal(size=(8, 5)) + 1j * rng.normal(size=(8, 5))
    values = kugel.nufft.nufft2d2(x, y, f, None, 1e-10, 1)
    direct = np.array([(f * np.exp(1j * (k[:, None] * a + np.arange(-2, 3) * b))).sum() for a, b in zip(x, y)])
    assert np.abs(values - direct).max() < 1e-8
    third = kugel.nufft.nufft2d3(x=x, y=y, c=c, s=s, t=t, eps=1e-10, isign=-1)
    assert np.abs(third - np.exp(-1j * (np.outer(s, x) + np.outer(t, y))) @ c).max() < 1e-8
    for arguments, options, error in (((x, c), {}, TypeError), ((x, c, 8), {"epsilon": 1}, TypeError), ((x, c, 8), {"modeord": 2}, ValueError),
                                      ((x, c, 8), {"spreadinterponly": 1}, ValueError)):
        with pytest.raises(error):
            kugel.nufft.nufft1d1(*arguments, **options)
