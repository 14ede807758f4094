# SPDX-License-Identifier: BSD-3-Clause
"""kugel.points against values at pixels, closed forms, gradients by differences, and its rules."""
import threading

import numpy as np
import pytest

import kugel

RNG = np.random.default_rng(3)


def random_alm(lmax, sets=None, lowest=0):
    n = (lmax + 1) * (lmax + 2) // 2
    shape = (n,) if sets is None else (sets, n)
    alm = RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)
    alm[..., :lmax + 1].imag = 0
    l, _ = kugel.Alm.getlm(lmax)
    return np.where(l >= lowest, alm, 0)


def random_points(n):
    return np.arccos(RNG.uniform(-1, 1, n)), RNG.uniform(-10, 10, n)


def test_pixel_values():
    nside, lmax = 64, 150
    alm = random_alm(lmax)
    theta, phi = kugel.pix2ang(nside, np.arange(12 * nside**2))
    got = kugel.points.synthesis(alm, theta, phi, tolerance=1e-13)
    want = kugel.alm2map(alm, nside)
    assert np.abs(got - want).max() <= 1e-12 * np.abs(want).max()


def test_polarisation_at_pixels():
    nside, lmax = 32, 80
    eb = random_alm(lmax, 2, 2)
    theta, phi = kugel.pix2ang(nside, np.arange(12 * nside**2))
    got = kugel.points.synthesis(eb, theta, phi, spin=2, tolerance=1e-13)
    want = np.array(kugel.alm2map_spin(eb, nside, 2, lmax))
    assert np.abs(got - want).max() <= 1e-12 * np.abs(want).max()


def test_closed_forms():
    theta, phi = random_points(1000)
    theta[:4], phi[:4] = [0, 0, np.pi, np.pi], [0, 1, 2, -3]
    alm = np.zeros(6, complex)  # lmax 2: Y_10, Y_11, Y_22
    alm[kugel.Alm.getidx(2, 1, 0)] = 1
    alm[kugel.Alm.getidx(2, 1, 1)] = 2j
    alm[kugel.Alm.getidx(2, 2, 2)] = 0.5
    want = (np.sqrt(3 / (4 * np.pi)) * np.cos(theta) + 4 * np.sqrt(3 / (8 * np.pi)) * np.sin(theta) * np.sin(phi)
            + np.sqrt(15 / (32 * np.pi)) * np.sin(theta)**2 * np.cos(2 * phi))
    got = kugel.points.synthesis(alm, theta, phi, tolerance=1e-13)
    assert np.abs(got - want).max() < 1e-12


@pytest.mark.parametrize("tolerance", [1e-2, 1e-5, 1e-8, 1e-11])
def test_tolerance(tolerance):
    """Of white and of steep spectra, at points all over and near a pole."""
    lmax = 300
    l, _ = kugel.Alm.getlm(lmax)
    for slope in (0, -1.5, -3):
        alm = random_alm(lmax) * (1.0 + l)**slope
        theta, phi = random_points(5000)
        exact = kugel.points.synthesis(alm, theta, phi, tolerance=1e-13)
        got = kugel.points.synthesis(alm, theta, phi, tolerance=tolerance)
        assert np.linalg.norm(got - exact) <= tolerance * np.linalg.norm(exact)
        near = kugel.points.synthesis(alm, theta * 0.01, phi, tolerance=1e-13)
        got = kugel.points.synthesis(alm, theta * 0.01, phi, tolerance=tolerance)
        assert np.sqrt(np.mean((got - near)**2)) <= 2 * tolerance * np.sqrt(np.mean(exact**2))


def test_gradient():
    """Derivatives of the computed field, by differences."""
    lmax, h = 20, 1e-4
    alm = random_alm(lmax)
    theta, phi = random_points(200)
    theta = np.clip(theta, 0.1, 3)
    value, dtheta, dphi = kugel.points.synthesis(alm, theta, phi, mode="der1", tolerance=1e-13)
    at = kugel.points.Plan(lmax, tolerance=1e-13)

    def difference(a, b):
        f = [at.points(theta + k * h * a, phi + k * h * b).synthesis(alm) for k in (-2, -1, 1, 2)]
        return (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)

    scale = np.abs(dtheta).max()
    assert np.abs(value - at.points(theta, phi).synthesis(alm)).max() < 1e-12 * np.abs(value).max()
    assert np.abs(dtheta - difference(1, 0)).max() < 1e-8 * scale
    assert np.abs(dphi - difference(0, 1) / np.sin(theta)).max() < 1e-8 * scale


@pytest.mark.parametrize("spin, tolerance", [(0, 1e-2), (0, 1e-10), (2, 1e-4), (3, 1e-12)])
def test_adjoint(spin, tolerance):
    lmax, n = 60, 3000
    theta, phi = random_points(n)
    points = kugel.points.Plan(lmax, spin=spin, tolerance=tolerance).points(theta, phi)
    alm = random_alm(lmax, 2 if spin else None, spin)
    f = points.synthesis(alm)
    g = RNG.standard_normal(f.shape)
    b = points.adjoint(g)
    m0 = np.arange(b.shape[-1]) <= lmax
    right = np.sum(np.where(m0, 1, 2) * (alm * b.conj()).real)
    assert abs(np.sum(f * g) - right) <= 1e-14 * np.linalg.norm(f) * np.linalg.norm(g)
    assert np.array_equal(b, kugel.points.adjoint(g, theta, phi, lmax, spin=spin, tolerance=tolerance))


def test_solve():
    lmax = 12
    points = kugel.points.Plan(lmax, spin=2, tolerance=1e-12).points(*random_points(2000))
    eb = random_alm(lmax, 2, 2)
    got, stats = points.solve(points.synthesis(eb))
    assert np.abs(got - eb).max() < 1e-8 and 0 < stats["iterations"] < 40 and stats["residual"] < 1e-8
    with pytest.raises(kugel.ConvergenceError, match="allow more iterations"):
        points.solve(points.synthesis(eb), max_iterations=1)
    with pytest.raises(ValueError, match="values has shape"):
        points.solve(np.zeros(2000))


def test_exact_interpolation():
    """interpolate is the field between pixels, T, Q, U and scalars, where bilinear values of a white field are far off."""
    nside, lmax = 32, 40
    alm = random_alm(lmax, 3, 2)
    maps = kugel.alm2map(alm, nside)
    theta, phi = random_points(300)
    want = kugel.points.synthesis(alm, theta, phi, mode="teb", tolerance=1e-12)
    got = kugel.points.interpolate(maps, theta, phi, lmax=lmax, iter=8)
    assert np.abs(got - want).max() < 1e-8 * np.abs(want).max()
    assert 0.001 < np.abs(kugel.get_interp_val(maps[0], theta, phi) - want[0]).max() / np.abs(want[0]).max() < 0.5
    one = kugel.points.interpolate(kugel.reorder(maps[0], r2n=True), np.degrees(phi), 90 - np.degrees(theta), True, True, lmax=lmax,
                                   iter=8)
    assert np.abs(one - want[0]).max() < 1e-8 * np.abs(want).max()
    assert isinstance(kugel.points.interpolate(maps[0], 0.3, 0.4), float)
    scalars = kugel.points.interpolate(maps, theta.reshape(3, 100), phi.reshape(3, 100), lmax=lmax, iter=8, pol=False)
    assert scalars.shape == (3, 3, 100) and np.abs(scalars[0].ravel() - want[0]).max() < 1e-8 * np.abs(want).max()
    maps[0, 7] = kugel.UNSEEN
    with pytest.raises(ValueError, match="whole maps"):
        kugel.points.interpolate(maps[0], 0.3, 0.4)


def test_shapes_and_types():
    lmax = 10
    theta, phi = np.linspace(0, np.pi, 7)[:, None], np.linspace(0, 6, 5)
    points = kugel.points.Plan(lmax).points(theta, phi)
    alm = np.stack([random_alm(lmax), random_alm(lmax)])
    values = points.synthesis(alm)
    assert values.shape == (2, 7, 5) and values.dtype == np.float64
    assert np.array_equal(values[1], points.synthesis(alm[1]))
    assert points.adjoint(values).shape == alm.shape
    single = points.synthesis(alm.astype(np.complex64))
    assert single.dtype == np.float32 and np.allclose(single, values, atol=1e-4)
    assert points.adjoint(single).dtype == np.complex64
    out = np.empty((2, 7, 5))
    assert points.synthesis(alm, out=out) is out and np.array_equal(out, values)
    assert kugel.points.synthesis(alm[0], 1.0, 2.0).shape == ()
    assert kugel.points.synthesis(alm[0], [], []).shape == (0,)


def test_bad_input():
    alm = random_alm(10)
    with pytest.raises(ValueError, match="theta of point 1"):
        kugel.points.synthesis(alm, [1, 90], [0, 0])
    with pytest.raises(ValueError, match="phi of point 0"):
        kugel.points.synthesis(alm, [1, 2], [np.nan, 0])
    with pytest.raises(ValueError, match="tolerance is 1e-15"):
        kugel.points.Plan(10, tolerance=1e-15)
    with pytest.raises(ValueError, match="65 coefficients"):
        kugel.points.synthesis(alm[:-1], 1, 2)
    with pytest.raises(ValueError, match="alm has shape"):
        kugel.points.Plan(11).points(1, 2).synthesis(alm)
    with pytest.raises(ValueError, match="values has shape"):
        kugel.points.Plan(11).points([1, 2], 2).adjoint([1, 2, 3])


def test_threads_share_points():
    lmax = 50
    points = kugel.points.Plan(lmax, spin=2).points(*random_points(2000))
    sets = [random_alm(lmax, 2, 2) for _ in range(6)]
    want = [points.synthesis(a) for a in sets]
    got = [None] * 6

    def work(i):
        got[i] = points.synthesis(sets[i])

    workers = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert all(np.array_equal(a, b) for a, b in zip(got, want))


def vectors(theta, phi):
    """The point, and unit vectors towards growing theta and phi."""
    s, c, x, y = np.sin(theta), np.cos(theta), np.cos(phi), np.sin(phi)
    return np.array([s * x, s * y, c]), np.array([c * x, c * y, -s]), np.array([-y, x, 0 * x])


def turned(v, axis, angle):
    """Rodrigues' rotation of vectors [3, n]."""
    cross = np.cross(axis, v, axis=0)
    return v * np.cos(angle) + cross * np.sin(angle) + axis * np.sum(axis * v, 0) * (1 - np.cos(angle))


def test_deflect():
    """Against rotations of space about the normal of the great circle, which transport the frame."""
    n = 2000
    theta, phi = random_points(n)
    theta[:2], theta[2:4] = 0, np.pi
    length = np.where(np.arange(n) % 3, 10.0**RNG.uniform(-6, 0, n), RNG.uniform(0, 7, n))
    direction = RNG.uniform(-np.pi, np.pi, n)
    a, b = length * np.cos(direction), length * np.sin(direction)
    got_theta, got_phi, turn = kugel.points.deflect(theta, phi, a, b)
    p, south, east = vectors(theta, phi)
    axis = np.cross(p, south * np.cos(direction) + east * np.sin(direction), axis=0)
    q, s2, e2 = vectors(got_theta, got_phi)
    assert np.abs(q - turned(p, axis, length)).max() < 4e-15
    carried = turned(south, axis, length)  # has the angle -turn in the frame at q
    away = np.abs(np.sin(got_theta)) > 1e-3
    wrong = np.exp(-1j * turn) - (np.sum(carried * s2, 0) + 1j * np.sum(carried * e2, 0))
    assert np.abs(wrong[away]).max() < 1e-12
    theta, phi, turn = kugel.points.deflect(0.3, 1.0, -0.3, 0.0)  # onto the pole
    assert abs(theta) < 1e-15 and abs(turn) < 1e-15 and np.isfinite(phi)
    assert kugel.points.deflect(1.0, 2.0, 0.0, 0.0) == (1.0, 2.0, 0.0)


def test_lens():
    """T = a.x, and Q + iU = (v_theta + i v_phi)^2 of the tangent part v of a, carried back by a rotation of space."""
    nside, lmax = 16, 2
    direction = np.array([0.3, -0.5, 0.8])
    theta, phi = kugel.pix2ang(64, np.arange(12 * 64**2))
    p, south, east = vectors(theta, phi)
    qu = (direction @ south + 1j * (direction @ east))**2
    eb = kugel.map2alm_spin([qu.real, qu.imag], 2, lmax)
    t = kugel.map2alm(direction @ p, lmax, iter=10)
    for _ in range(10):  # refined: the analysis on HEALPix is not exact
        q, u = kugel.alm2map_spin(eb, 64, 2, lmax)
        eb = np.add(eb, kugel.map2alm_spin([qu.real - q, qu.imag - u], 2, lmax))
    potential = 0.05 * random_alm(8) / (1 + kugel.Alm.getlm(8)[0])**2
    maps = kugel.points.lens([t, *eb], potential, nside, tolerance=1e-12)

    theta, phi = kugel.pix2ang(nside, np.arange(12 * nside**2))
    p, south, east = vectors(theta, phi)
    a, b = kugel.SHT(kugel.Grid.healpix(nside), 8, mode="grad").synthesis(potential)
    length = np.hypot(a, b)
    axis = np.cross(p, (south * a + east * b) / length, axis=0)
    q = turned(p, axis, length)
    v = turned(direction[:, None] - q * (direction @ q), axis, -length)
    want = (np.sum(v * south, 0) + 1j * np.sum(v * east, 0))**2
    assert length.max() > 0.01
    assert np.abs(maps[0] - direction @ q).max() < 1e-10
    assert np.abs(maps[1] + 1j * maps[2] - want).max() < 1e-10
    assert np.abs(maps[0] - kugel.points.lens(t, potential, nside, tolerance=1e-12)).max() < 1e-12
    with pytest.raises(ValueError, match="must be .nalm. or"):
        kugel.points.lens(eb, potential, nside)
    with pytest.raises(ValueError, match="potential has 5 coefficients"):
        kugel.points.lens(t, potential[:5], nside)


def test_lens_adjoint():
    """<S a, f> = <a, S^T f>; points of one's own are those of pixels."""
    nside, lmax = 16, 30
    potential = 0.05 * random_alm(8) / (1 + kugel.Alm.getlm(8)[0])**2
    alm, maps = random_alm(lmax, 3, 2), RNG.standard_normal((3, 12 * nside**2))
    l, m = kugel.Alm.getlm(lmax)
    for tolerance in (1e-3, 1e-12):
        lens = kugel.points.Lens(potential, lmax, nside, mode="teb", tolerance=tolerance)
        seen = lens.synthesis(alm)
        assert np.array_equal(seen, kugel.points.lens(alm, potential, nside, tolerance))
        right = ((alm * lens.adjoint(maps).conj()).real * np.where(m > 0, 2, 1)).sum()
        assert abs((seen * maps).sum() - right) < 1e-13 * np.linalg.norm(seen) * np.linalg.norm(maps)
        theta, phi = kugel.pix2ang(nside, np.arange(12 * nside**2))
        own = kugel.points.Lens(potential, lmax, theta=theta, phi=phi, mode="teb", tolerance=tolerance)
        assert np.abs(own.synthesis(alm) - seen).max() < 5 * max(tolerance, 1e-9) * np.abs(seen).max()
    assert kugel.points.Lens(None, lmax, theta=[[0.1, 0.2]], phi=0, deflection=np.zeros((2, 1, 1))).synthesis(alm[0]).shape == (1, 2)
    with pytest.raises(ValueError, match="give nside or"):
        kugel.points.Lens(potential, lmax)


@pytest.mark.parametrize("maps", [1, 3])
def test_rotation_by_sums_at_points(maps):
    """Against the rotation of coefficients, of a field whose analysis is exact, to another nside too."""
    rng, lmax = np.random.default_rng(8), 20
    alm = rng.standard_normal((maps, kugel.Alm.getsize(lmax), 2)).view(complex)[..., 0]
    alm[:, :lmax + 1] = alm[:, :lmax + 1].real
    if maps == 3:
        l, _ = kugel.Alm.getlm(lmax)
        alm[1:, l < 2] = 0
    alm = alm if maps == 3 else alm[0]
    rotation = kugel.Rotator(rot=(40, -25, 70))
    sky = kugel.alm2map(alm, 32, lmax=lmax)
    turned = rotation.rotate_alm(alm.copy(), lmax=lmax)
    for nside in 32, 16:
        got = rotation.rotate_map_points(sky, nside=nside, lmax=lmax, iter=8, tolerance=1e-11)
        np.testing.assert_allclose(got, kugel.alm2map(turned, nside, lmax=lmax), atol=1e-9 * np.abs(sky).max())
    with pytest.raises(ValueError, match="2 maps"):
        rotation.rotate_map_points(np.zeros((2, 12)))
