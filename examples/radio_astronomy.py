# SPDX-License-Identifier: BSD-3-Clause
"""Degridding of a sky to the tracks of radio telescopes, its adjoint, and sources off the grid; writes radio_astronomy.png."""
import pathlib

import kugel
import numpy as np

N, PIXEL, DECLINATION = 512, 4e-6, 0.8  # pixels, radians


def baselines(hours=8, times=240, wave=0.2):
    """(u, v, w) [M, 3] in wavelengths of a Y of 27 dishes, as the Earth turns."""
    arm = np.arange(1, 10)[:, None] ** 1.7 * 36 * np.array([[np.sin(a), np.cos(a)] for a in (0, 2.1, 4.2)])[:, None]
    east, north = arm.reshape(-1, 2).T / wave
    latitude, i, j = 0.59, *np.triu_indices(27, 1)
    x, y, z = -np.sin(latitude) * (north[i] - north[j]), east[i] - east[j], np.cos(latitude) * (north[i] - north[j])
    hour = np.linspace(-hours, hours, times)[:, None] * np.pi / 24
    turned, d = np.cos(hour) * x - np.sin(hour) * y, DECLINATION
    return np.stack([np.sin(hour) * x + np.cos(hour) * y, -np.sin(d) * turned + np.cos(d) * z, np.cos(d) * turned + np.sin(d) * z],
                    -1).reshape(-1, 3)


def sky():
    """A radio galaxy with two lobes: brightness per pixel, [m, l]."""
    m, l = np.meshgrid(*[np.arange(N) - N // 2] * 2, indexing="ij")
    parts = [(0, 0, 2, 2, 1), (-60, 25, 22, 9, .03), (70, -30, 26, 8, .02), (-90, 40, 5, 5, .2), (104, -46, 6, 4, .15)]
    return sum(b * np.exp(-((l - x) / sx) ** 2 / 2 - ((m - y) / sy) ** 2 / 2) for x, y, sx, sy, b in parts)


def catalogue(lmn, flux, uvw):
    """Visibilities of point sources anywhere: a transform of type 3 of (l, m, n - 1) to (u, v, w), w term included."""
    return kugel.nufft.nufft3d3(*lmn.T, flux + 0j, *(2 * np.pi * uvw).T, eps=1e-9, isign=-1)


def main(out="."):
    uvw, image = baselines(), sky()
    plan = kugel.nufft.Plan((N, N), "to_points", tolerance=1e-7, period=1 / PIXEL)  # v with m, u with l; in wavelengths
    points = plan.points(uvw[:, 1::-1])
    visibilities = points.execute(image)                              # degridding
    weights = points.density(15)
    natural, even = [points.adjoint(w * visibilities).real / w.sum() for w in (np.ones(len(uvw)), weights)]  # gridding
    print(f"{len(uvw)} visibilities, kernel of {plan.width} cells, fine grid {plan.fine}")
    angles = np.random.default_rng(1).uniform(-.01, .01, (2000, 2))   # sources over a degree
    lmn, flux = np.column_stack([angles, np.sqrt(1 - (angles ** 2).sum(1)) - 1]), np.ones(2000)
    some, got = slice(0, 40), catalogue(lmn, flux, uvw)
    want = np.exp(-2j * np.pi * uvw[some] @ lmn.T) @ flux
    print(f"2000 sources with w: error against the sum {np.linalg.norm(got[some] - want) / np.linalg.norm(want):.1e}")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 4, figsize=(12, 3.6), layout="constrained")
    axes[0].plot(*np.concatenate([uvw, -uvw])[:, :2].T / 1e3, ",", color="k")
    axes[0].set(title="u, v, thousand wavelengths", aspect="equal")
    for axis, name, map in zip(axes[1:], ("sky", "dirty image", "dirty image, density weights"), (image, natural, even)):
        axis.imshow(np.arcsinh(map / map.max() * 30), cmap="inferno", origin="lower", vmin=-.5)
        axis.set(title=name, xticks=[], yticks=[])
    figure.savefig(pathlib.Path(out) / "radio_astronomy.png", dpi=110)


if __name__ == "__main__":
    main()
