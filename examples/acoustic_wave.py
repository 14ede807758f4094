# SPDX-License-Identifier: BSD-3-Clause
"""A sound pulse in a hall: reflection at walls, diffraction behind a door and pillars, refraction in warm air.

    python examples/acoustic_wave.py

Leapfrog with differences of order 8 follows p_tt = c^2 laplace(p). Walls are a mask, where p stays 0; at the border of the grid
p_n = 0 (hard). Prints how much the energy of leapfrog changes, the sum of (p_t / c)^2 and -p laplace(p) between steps.
"""
import pathlib

import kugel.stencil
import numpy as np

NX, NY, H = 400, 600, 0.05  # metres


def hall():
    """Speed of sound and the mask of air."""
    x, y = np.meshgrid(H * np.arange(NX), H * np.arange(NY), indexing="ij")
    speed = 340 + 60 * np.exp(-((x - 4) / 2) ** 2) * (y > 16)
    wall = (np.abs(y - 15) < 0.2) & (np.abs(x - 10) > 1.5)
    pillars = sum(np.hypot(x - a, y - b) < 0.8 for a, b in ((6, 9), (14, 9), (10, 21)))
    return x, y, speed, 1.0 * ~(wall | (pillars > 0))


def run(times=(0.012, 0.03, 0.055)):
    """Pictures of the pressure at times in seconds, and the relative change of the energy."""
    x, y, speed, air = hall()
    wave = kugel.stencil.laplacian((NX, NY), H, order=8, boundary="even", coefficient=speed ** 2, mask=air)
    plain = kugel.stencil.laplacian((NX, NY), H, order=8, boundary="even")
    weight = np.outer(*[np.r_[0.5, np.ones(n - 2), 0.5] for n in (NX, NY)]) * air  # in which plain is symmetric
    dt = 0.9 * 2 / wave.bound ** 0.5
    pulse = np.exp(-((x - 10) ** 2 + (y - 5) ** 2) / 0.3 ** 2) * air
    state, pictures, energies, step = np.stack([pulse, pulse]), [], [], 0
    for time in times:
        wave.advance(state, dt, round(time / dt) - step)
        step = round(time / dt)
        velocity = (state[1] - state[0]) / dt
        energies.append((weight * ((velocity / speed) ** 2 - state[0] * plain.apply(state[1]))).sum())
        pictures.append(state[1].copy())
    return pictures, air, max(energies) / min(energies) - 1


def main(out="."):
    pictures, air, drift = run()
    print(f"energy changes by {drift:.1e}")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 3, figsize=(10, 2.9), sharey=True, layout="constrained")
    for axis, picture, time in zip(axes, pictures, (12, 30, 55)):
        axis.imshow(np.where(air > 0, picture, np.nan), cmap="RdBu", vmin=-.06, vmax=.06, extent=(0, NY * H, 0, NX * H), origin="lower")
        axis.set(title=f"{time} ms", facecolor="black", xlabel="x, m")
    axes[0].set_ylabel("y, m")
    figure.savefig(pathlib.Path(out) / "acoustic_wave.png", dpi=110)


if __name__ == "__main__":
    main()
