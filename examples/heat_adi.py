# SPDX-License-Identifier: BSD-3-Clause
"""Heat in a square plate whose edges are kept cold, in long implicit steps (alternating directions).

    python examples/heat_adi.py

A hot letter K diffuses. Compact differences of order 4 (Mitchell-Fairweather) and differences of order 2 (Peaceman-Rachford) take
steps 13 times as long as an explicit method could. The truth is the sum of decaying sines of the closed form, by a sine transform.
"""
import pathlib

import kugel.fft
import kugel.stencil
import numpy as np

CELLS, TIMES = 128, (0.0, 0.002, 0.01, 0.04)  # of a plate of 1 x 1 with diffusivity 1


def letter():
    """A smooth K on [CELLS + 1, CELLS + 1] nodes, 0 at the edges; x to the right, y up."""
    x, y = np.meshgrid(np.linspace(0, 1, CELLS + 1), np.linspace(0, 1, CELLS + 1), indexing="ij")
    inside = np.abs(y - 0.5) < 0.35
    strokes = (np.abs(x - 0.25) < 0.06) | (np.abs(np.abs(y - 0.5) - (x - 0.3)) < 0.08) & (x > 0.25)
    return closed_form(1.0 * (inside & strokes), 2e-4)


def closed_form(u, t):
    """Each mode sin(k pi x) sin(l pi y) decays by exp(-pi^2 (k^2 + l^2) t)."""
    k = np.pi * np.arange(1, CELLS)
    modes = kugel.fft.dstn(u[1:-1, 1:-1], type=1) * np.exp(-(k[:, None] ** 2 + k ** 2) * t)
    return np.pad(kugel.fft.idstn(modes, type=1), 1)


def run(compact, dt):
    """States at TIMES, and their errors relative to the largest value."""
    plan = kugel.stencil.laplacian((CELLS + 1,) * 2, 1 / CELLS, compact=compact, boundary="odd")
    start = letter()
    states = [plan.advance(start.copy(), dt, round(t / dt), "adi") for t in TIMES]
    return states, [np.abs(u - (w := closed_form(start, t))).max() / w.max() for u, t in zip(states, TIMES)]


def main(out="."):
    dt = 0.0002  # explicit steps are bounded to h^2 / 4 = 0.000015
    results = {order: run(order == 4, dt) for order in (2, 4)}
    for order, (_, errors) in results.items():
        print(f"order {order}: errors", *(f"{e:.1e}" for e in errors[1:]))
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 4, figsize=(11.5, 2.9), layout="constrained")
    for axis, u, t in zip(axes, results[4][0], TIMES):
        image = axis.imshow(u.T, cmap="inferno", origin="lower", extent=(0, 1, 0, 1), vmin=0)
        axis.set(title=f"t = {t:g}", xlabel="x", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        figure.colorbar(image, ax=axis, fraction=0.045, ticks=[0, *image.get_clim()[1:]], format="%.2g")
    axes[0].set_ylabel("y")
    figure.savefig(pathlib.Path(out) / "heat_adi.png", dpi=90)


if __name__ == "__main__":
    main()
