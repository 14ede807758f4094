# SPDX-License-Identifier: BSD-3-Clause
"""Onset of convection in a full sphere that is heated throughout: critical Rayleigh numbers C_l of a rigid and a free surface.

    python examples/convection_onset.py [--out .]

Marginal states obey, for poloidal velocity p and temperature s of degree l (Chandrasekhar, Hydrodynamic and Hydromagnetic
Stability, 1961, chapter VI): laplace laplace p = s, laplace s = -C l (l + 1) p; s = p = 0 at the surface, and dp/dr = 0 (rigid) or
p'' = 0 (free). Prints C_l, least for l = 1, and draws the first state. Exit code 1 if C_1 is not that of the closed form, in which p is a
sum of three spherical Bessel functions and C a zero of a 3 x 3 determinant.
"""
import argparse
import pathlib

import numpy as np

from kugel.ball import Ball


def onset(ball, l, rigid):
    """The lowest C of degree l, and p and s of its state."""
    n, laplace = int(ball.nl[l]), ball.radial_laplacian(l)
    value, slope = ball.radial_values(l)[0], ball.radial_values(l, "d1")[0]
    bend = ball.radial_values(l, "sphlapl")[0] - 2 * slope  # p'' where p = 0
    a, b = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, 2 * n))
    a[:n, :n], a[:n, n:] = laplace @ laplace, -np.eye(n)
    a[n:, n:], b[n:, :n] = laplace, -l * (l + 1) * np.eye(n)
    for row, condition in ((n - 2, value), (n - 1, slope if rigid else bend)):
        a[row], a[row, :n] = 0, condition
    a[-1], a[-1, n:], b[-1] = 0, value, 0
    inverse, states = np.linalg.eig(np.linalg.solve(a, b))
    first = np.argmax(inverse.real)
    state = states[:, first].real
    return 1 / inverse[first].real, state[:n], state[n:]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    folder, ball = arguments.parse_args().out, Ball(4, 24, vectors=True)
    found = {rigid: [onset(ball, l, rigid)[0] for l in range(1, 5)] for rigid in (True, False)}
    for rigid, numbers in found.items():
        print("rigid" if rigid else "free ", "  ".join(f"C_{l} = {c:.4f}" for l, c in enumerate(numbers, 1)))
    _, p, s = onset(ball, 1, True)
    potentials, temperature, row = ball.zeros(2), ball.zeros(), ball.row(1, 0)
    scale = 1 / np.abs(s).max()
    potentials[1, row], temperature[row] = p * scale, s * scale
    velocity = ball.from_potentials(potentials)
    for name, field, component in (("temperature", temperature, None), ("velocity", velocity, 0)):
        title = ("radial " if component == 0 else "") + f"{name} of the first state, rigid surface, meridian"
        picture = ball.plot(field, "meridional", component=component, title=title, unit="arbitrary units", xsize=600)
        picture.save(folder / f"convection_{name}.png")
    return int(abs(found[True][0] / 8040.046890485652 - 1) > 1e-9 or abs(found[False][0] / 3091.1927271061075 - 1) > 1e-9)


if __name__ == "__main__":
    raise SystemExit(main())
