# SPDX-License-Identifier: BSD-3-Clause
"""Thermal convection in a rotating full sphere: benchmark 1 of Marti et al. 2014, a wave of order 3 that drifts around the axis.

    python examples/rotating_convection.py [--lmax 27] [--n 20] [--out .]

E (d/dt - laplace) u = E u x curl u + Ra T r - e_z x u - grad p, (d/dt - laplace) T = 3 - u . grad T, with E = 3e-4, Ra = 95 and a surface
r = 1 that is free of stress and has T = 0. Unknown are the departure s of T from (1 - r^2) / 2 and potentials t, p of u; r . curl and
r . curl curl of the equation of motion leave E (d/dt - laplace) t and -E (d/dt - laplace) laplace p. All linear terms are a matrix for
each order. Steps in time (BDF2, the products extrapolated) approach the wave; Newton's method in the frame that turns with it then solves for
s, t, p and its rate, without an error of steps. Exit code 1 if the kinetic energy is not 29.12045 (Marti et al.: 29.1206 +- 0.0001; Lecoanet et
al. 2019, with higher resolution: 29.12045489) or the frequency not 12.3862 +- 0.0008.
"""
import argparse
import pathlib

import numpy as np

from kugel.ball import Ball
from kugel.polynomial import JonesWorland

EKMAN, RAYLEIGH, FOLD = 3e-4, 95.0, 3


class Problem:
    """c = [s, t, p], coefficients of three scalars, of the orders 0, 3, 6 ...; per order m, A c + products(c) = B dc/dt."""

    def __init__(self, lmax, n):
        self.ball = ball = Ball(lmax, n, truncation="triangular", vectors=True, factors=2)
        self.at = {m: [(ball.row(l, m), k) for l in range(m, lmax + 1) for k in range(ball.nl[l])] for m in range(0, lmax + 1, FOLD)}
        self.at = {m: tuple(np.array(a).T) for m, a in self.at.items()}
        self.inside = np.zeros((3, ball.nlm, ball.n), bool)  # equations that are not boundary conditions
        self.a = {m: np.zeros((3, a[0].size, 3, a[0].size), complex) for m, a in self.at.items()}
        self.b = {m: np.zeros_like(a) for m, a in self.a.items()}
        for l in range(lmax + 1):
            self.radial(l, int(ball.nl[l]))
        self.rotation()
        r, w = ball.r, ball.weights_r  # angular momentum, the integral of t r^3 of order 0, stays 0
        spin = np.flatnonzero(self.at[0][0] == ball.row(1, 0))
        self.a[0][1, spin[0]], self.b[0][1, spin[0]], self.inside[1, ball.row(1, 0), 0] = 0, 0, False
        self.a[0][1, spin[0], 1, spin] = JonesWorland(1, spin.size, radii=r).synthesis(np.eye(spin.size)) @ (w * r)

    def radial(self, l, n):
        ball, laplace, one = self.ball, self.ball.radial_laplacian(l), np.eye(n)
        value, slope = ball.radial_values(l)[0], ball.radial_values(l, "d1")[0]
        bend = ball.radial_values(l, "sphlapl")[0] - 2 * slope + l * (l + 1) * value  # p''
        for m in (m for m in self.at if m <= l):
            own = slice(*np.flatnonzero(self.at[m][0] == ball.row(l, m))[[0, -1]] + [0, 1])
            a, b = self.a[m][:, own, :, own].transpose(0, 2, 1, 3), self.b[m][:, own, :, own].transpose(0, 2, 1, 3)
            a[0, 0], b[0, 0], a[0, 2] = laplace, one, l * (l + 1) * one  # u . grad (1 - r^2) / 2 = -l (l + 1) p
            a[1, 1], b[1, 1] = EKMAN * laplace, EKMAN * one
            a[2, 2], b[2, 2], a[2, 0] = -EKMAN * laplace @ laplace, -EKMAN * laplace, RAYLEIGH * one
            self.inside[:, ball.row(l, m), :n] = True
            for i, k, condition in ((0, 1, value), (1, 1, slope - value), (2, 1, value), (2, 2, bend)):
                a[i, :, n - k], b[i, :, n - k], a[i, i, n - k] = 0, 0, condition
                self.inside[i, ball.row(l, m), n - k] = False
            if l == 0:
                a[1:], b[1:], self.inside[1:, 0] = 0, 0, False
                a[1, 1] = a[2, 2] = one
            self.a[m][:, own, :, own], self.b[m][:, own, :, own] = a.transpose(0, 2, 1, 3), b.transpose(0, 2, 1, 3)

    def force(self, f):
        """What a force [3, nr, ntheta, nphi] adds to the equations of t and p."""
        t, p = np.moveaxis(self.ball.to_potentials(self.ball.curl(self.ball.analysis(f, "vector"))), -3, 0)
        return np.stack([p, t], -3)

    def rotation(self):
        """-e_z x u of each function of t and p, by way of the grid: of all orders and each third degree at once, as degree l
        is taken to l - 1, l and l + 1 alone."""
        ball, theta = self.ball, self.ball.theta[:, None]
        for third, k in ((third, k) for third in range(3) for k in range(ball.n)):
            rows = [ball.row(l, m) for l in range(1, ball.lmax + 1) if l % 3 == third and k < ball.nl[l] for m in self.at if m <= l]
            c = np.zeros((2, 2, ball.nlm, ball.n), complex)
            c[0, 0, rows, k] = c[1, 1, rows, k] = 1
            r, t, p = np.moveaxis(ball.synthesis(ball.from_potentials(c), "vector"), 1, 0)
            turned = np.stack([np.sin(theta) * p, np.cos(theta) * p, -np.cos(theta) * t - np.sin(theta) * r], 1)
            got = self.inside[1:] * self.force(turned)
            for row in rows:
                to, at = self.at[ball.m[row]]
                near = abs(ball.l[to] - ball.l[row]) <= 1
                column = np.flatnonzero((to == row) & (at == k))[0]
                self.a[ball.m[row]][1:, near, 1:, column] += got[:, :, to[near], at[near]].transpose(2, 1, 0)

    def per_order(self, matrices, c):
        out = np.zeros_like(c)
        for m, (rows, k) in self.at.items():
            n = 3 * rows.size
            out[:, rows, k] = (matrices[m].reshape(n, n) @ c[:, rows, k].ravel()).reshape(3, -1)
        return out

    def inverse(self, shift):
        """(A + shift(m) B)^-1 for each order."""
        return {m: np.linalg.inv((a + shift(m) * self.b[m]).reshape(2 * (3 * a.shape[1],))) for m, a in self.a.items()}

    def velocity(self, c):
        return self.ball.from_potentials(c[1:])

    def products(self, c):
        u = self.velocity(c)
        u, curl, grad = self.ball.synthesis(np.stack([u, self.ball.curl(u), self.ball.grad(c[0])]), "vector")
        s = -self.ball.analysis((u * grad).sum(0))
        return np.concatenate([s[None], self.force(EKMAN * np.cross(u, curl, axis=0))]) * self.inside

    def energy(self, c):
        return self.ball.spectrum(self.velocity(c), kind="vector").sum() / 2


def march(problem, c, step, steps):
    """Steps in time, and the angle by which orders 3 went ahead in the last one, per time."""
    inverse, before, old = problem.inverse(lambda m: -1.5 / step), c, problem.products(c)
    for i in range(steps):
        new = problem.products(c)
        known = -problem.per_order(problem.b, (2 * c - 0.5 * before) / step) - (2 * new - old)
        before, c, old = c, problem.per_order(inverse, known), new
        if i % 100 == 99:
            print(f"t = {(i + 1) * step:.2f}  energy {problem.energy(c):.5f}", flush=True)
    row = problem.ball.row(3, 3)
    return c, np.angle(c[0, row, 0] / before[0, row, 0]) / step


def gmres(apply, right, tolerance, most=150):
    basis, h = [right / np.linalg.norm(right)], np.zeros((most + 1, most))
    for k in range(most):
        v = apply(basis[k])
        for _ in range(2):  # orthogonal to rounding
            for i, q in enumerate(basis):
                part = q @ v
                h[i, k] += part
                v = v - part * q
        h[k + 1, k] = np.linalg.norm(v)
        basis.append(v / h[k + 1, k])
        y, rest = np.linalg.lstsq(h[:k + 2, :k + 1], np.linalg.norm(right) * np.eye(k + 2)[0], rcond=None)[:2]
        if rest.size and rest[0] <= (tolerance * np.linalg.norm(right)) ** 2:
            break
    return sum(a * q for a, q in zip(y, basis))


def newton(problem, c, rate, steps=8):
    """The wave that turns without change: A c + products(c) + i m rate / 3 B c = 0, and the phase of one coefficient that stays."""
    row, turn = problem.ball.row(3, 3), (1j * problem.ball.m / FOLD)[:, None]
    for i in range(steps):
        inverse = problem.inverse(lambda m: 1j * m / FOLD * rate)
        slide = problem.per_order(problem.b, turn * c)
        wrong = problem.per_order(problem.a, c) + problem.products(c) + rate * slide
        size = np.linalg.norm(problem.per_order(inverse, wrong)) / np.linalg.norm(c)
        print(f"Newton {i}  energy {problem.energy(c):.7f}  frequency {rate / (2 * np.pi):.7f}  residual {size:.1e}", flush=True)
        if size < 1e-11:
            break

        def apply(z):
            v = z[:-1].view(complex).reshape(c.shape)
            linear = (problem.products(c + v) - problem.products(c - v)) / 2  # exact: products are quadratic
            left = v + problem.per_order(inverse, linear + z[-1] * slide)
            return np.append(left.ravel().view(float), (v[0, row, 0] / c[0, row, 0]).imag)

        z = gmres(apply, np.append(-problem.per_order(inverse, wrong).ravel().view(float), 0), 1e-6 if i else 1e-3)
        c, rate = c + z[:-1].view(complex).reshape(c.shape), rate + z[-1]
    return c, rate


def finer(problem, c, coarse):
    out = problem.ball.zeros(3)
    for row, (l, m) in enumerate(zip(coarse.ball.l, coarse.ball.m)):
        out[:, problem.ball.row(l, m), :coarse.ball.n] = c[:, row]
    return out


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    arguments.add_argument("--lmax", type=int, default=27)
    arguments.add_argument("--n", type=int, default=20)
    o = arguments.parse_args()
    coarse = Problem(15, 11)
    c = coarse.ball.zeros(3)
    c[0, coarse.ball.row(3, 3), :2] = 0.1, -0.05
    c, rate = newton(coarse, *march(coarse, c, 2e-3, 200))
    problem = Problem(o.lmax, o.n)
    c, rate = newton(problem, finer(problem, c, coarse), rate)
    energy, frequency, ball = problem.energy(c), abs(rate) / (2 * np.pi), problem.ball
    print(f"kinetic energy {energy:.6f} (29.1206 +- 0.0001; later 29.120455)  frequency {frequency:.6f} (12.3862 +- 0.0008)")
    for name, field, component, title, unit in (("velocity", problem.velocity(c), 0, "radial velocity", "viscosity / radius"),
                                                ("temperature", c[0], None, "temperature minus that without flow", "beta radius^2")):
        picture = ball.plot(field, component=component, title=title + ", equatorial plane", unit=unit, xsize=600)
        picture.save(o.out / f"rotating_convection_{name}.png")
    return int(abs(energy - 29.120455) > 1e-4 or abs(frequency - 12.3862) > 8e-4)


if __name__ == "__main__":
    raise SystemExit(main())
