# SPDX-License-Identifier: BSD-3-Clause
"""Flow in a rotating full sphere whose surface drives it: benchmark 3 of Marti et al. 2014, a bubble in a stream across the axis.

    python examples/rotating_bubble.py [--lmax 15] [--n 20] [--time 30] [--out .]

du/dt = u x curl u - 20 e_z x u - grad p + laplace u / 100, and at r = 1 the tangential part of -u0 e_x, u0 = sqrt(3 / (2 pi)). The flow becomes
stationary. Unknown are potentials t, p of u (toroidal, poloidal) in a triangular truncation; r . curl and r . curl curl of the equation leave
(d/dt - laplace / 100) t and -(d/dt - laplace / 100) laplace p, a small matrix for each degree. BDF2, all else extrapolated. Exit code 1 if the
kinetic energy is not 0.0618307."""
import argparse
import pathlib

import numpy as np

from kugel.ball import Ball

VISCOSITY, CORIOLIS, STEP = 0.01, 20.0, 0.02


def inverses(ball, l):
    """Of (1.5 / STEP - VISCOSITY laplace) t, t(1) in the last row, and of -(...) laplace p, p(1) and p'(1) in the last two."""
    laplace, one = ball.radial_laplacian(l), np.eye(int(ball.nl[l]))
    value, slope = ball.radial_values(l)[0], ball.radial_values(l, "d1")[0]
    t = 1.5 / STEP * one - VISCOSITY * laplace
    p = -t @ laplace
    t[-1], p[-2], p[-1] = value, value, slope
    return np.linalg.inv(t), np.linalg.inv(p), laplace


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("--lmax", 15), ("--n", 20), ("--time", 30), ("--out", pathlib.Path("."))):
        arguments.add_argument(name, type=type(default), default=default)
    o = arguments.parse_args()
    ball = Ball(o.lmax, o.n, truncation="triangular", vectors=True, factors=2)
    axis = np.stack([np.cos(ball.theta), -np.sin(ball.theta), 0 * ball.theta])[:, None, :, None]
    degrees = [(l, slice(ball.row(l, 0), ball.row(l, min(l, ball.mmax)) + 1), int(ball.nl[l]), *inverses(ball, l)) for l in range(1, o.lmax + 1)]

    def forces(c):
        u, curl = ball.synthesis(np.stack([ball.from_potentials(c), ball.curl(ball.from_potentials(c))]), "vector")
        f = ball.analysis(np.cross(u, curl + CORIOLIS * axis, axis=0), "vector")
        return ball.to_potentials(ball.curl(f))[::-1]

    c, before, old = ball.zeros(2), ball.zeros(2), ball.zeros(2)
    for i in range(1, round(o.time / STEP) + 1):
        new = forces(c)
        known, next, before, old, c = (2 * c - 0.5 * before) / STEP, 2 * new - old, c, new, ball.zeros(2)
        for l, rows, n, t, p, laplace in degrees:
            right = [known[0, rows, :n] + next[0, rows, :n], next[1, rows, :n] - known[1, rows, :n] @ laplace.T]
            right[0][:, -1:], right[1][:, -2:], right[1][1:2, -1:] = 0, 0, l == 1  # m = 1: p' = u0 sqrt(2 pi / 3) Y_11 = Y_11
            c[0, rows, :n], c[1, rows, :n] = right[0] @ t.T, right[1] @ p.T
        if i % 500 == 0:
            energy = ball.spectrum(ball.from_potentials(c), kind="vector").sum() / 2
            print(f"t = {i * STEP:.0f}  kinetic energy {energy:.9f}", flush=True)
    ball.plot(ball.from_potentials(c), component=2, title="azimuthal velocity, equatorial plane", xsize=600).save(o.out / "rotating_bubble.png")
    return int(abs(energy - 0.06183074756) > 1e-7)


if __name__ == "__main__":
    raise SystemExit(main())
