# SPDX-License-Identifier: BSD-3-Clause
"""Free decay of a magnetic field in a conducting ball in vacuum, and its rates against the zeros of spherical Bessel functions.

    python examples/magnetic_decay.py [--out .]

dB/dt = laplace B for toroidal and poloidal potentials t and p: t = 0 and dp/dr + (l + 1) p = 0 at r = 1. Prints the slowest rates of each
degree and the energy of a random field, a sum of decaying modes, and draws its radial component. Exit code 1 if a rate is off.
"""
import argparse
import pathlib

import numpy as np
from kugel.ball import Ball

ZEROS = [np.pi, 4.493409457909064, 5.763459196894550, 6.987932000500519, 8.182561452571242]  # the first of j_l


def modes(ball, l, kind):
    """Decay rates of degree l and their modes, by columns: the last equation gives way to the boundary condition."""
    a, b, value = ball.radial_laplacian(l), np.eye(ball.n), ball.radial_values(l)[0]
    a[-1], b[-1] = ball.radial_values(l, "d1")[0] + (l + 1) * value if kind else value, 0
    inverse, states = np.linalg.eig(np.linalg.solve(a, b))
    return -1 / np.where(np.abs(inverse) > 1e-14, inverse, -1e-300), states


def decay(ball, start, time):
    potentials = ball.zeros(2)
    for l in range(1, ball.lmax + 1):
        rows = slice(ball.row(l, 0), ball.row(l, l) + 1)
        for kind in (0, 1):
            rates, states = modes(ball, l, kind)
            amplitudes = np.linalg.solve(states, start[kind, rows].T) * (np.abs(rates) < 1e290)[:, None]
            potentials[kind, rows] = (states @ (np.exp(-time * rates)[:, None] * amplitudes)).T
    return potentials


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    folder, ball, worst = arguments.parse_args().out, Ball(12, 16, vectors=True), 0
    for l in range(1, 5):
        rates = [modes(ball, l, kind)[0].real.min() for kind in (0, 1)]
        worst = max(worst, abs(rates[0] / ZEROS[l] ** 2 - 1), abs(rates[1] / ZEROS[l - 1] ** 2 - 1))
        print(f"l = {l}  toroidal {rates[0]:.10f}  poloidal {rates[1]:.10f}  times pi^2: {rates[1] / np.pi ** 2:.10f}")
    p, rng, energy = ball.zeros(2), np.random.default_rng(3), []
    p[:, 1:, :4] = rng.standard_normal((2, ball.nlm - 1, 4)) * np.exp(-0.4 * ball.l[1:])[:, None]
    for time in (0, 0.05, 0.1, 0.5, 0.7):
        b = ball.from_potentials(decay(ball, p, time))
        energy.append(ball.spectrum(b, kind="vector").sum())
        print(f"t = {time:4.2f}  energy {energy[-1]:.6e}")
        if time in (0, 0.1):
            words = dict(title=f"radial field after {time} diffusion times, a meridian", unit="arbitrary units", xsize=600)
            ball.plot(b, "meridional", component=0, **words).save(folder / f"magnetic_decay_{time}.png")
    slope = -np.log(energy[-1] / energy[-2]) / 0.4 / np.pi ** 2
    print(f"decay of the field at the end over pi^2: {slope:.5f}; largest relative error of a rate: {worst:.1e}")
    return int(worst > 1e-9 or abs(slope - 1) > 1e-3)


if __name__ == "__main__":
    raise SystemExit(main())
