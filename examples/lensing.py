# SPDX-License-Identifier: BSD-3-Clause
"""Gravitational lensing of the microwave background and the way back, by `python examples/lensing.py`.

A Gaussian sky is seen through the potential of large-scale structure, with deflections 10 times larger than in nature. Conjugate
gradients with the operator's exact adjoint find the sky from the lensed map, the potential being known. Prints the spread of the
lensing, and errors of the sky after 0, 10, 20, ... steps.
"""
import kugel
import numpy as np

NSIDE, LMAX = 256, 500


def spectra():  # of the sky, in uK^2, and of the potential
    l = np.arange(LMAX + 1.0)
    sky = 6000 * 2 * np.pi / np.maximum(l * (l + 1), 2) * (0.3 + np.exp(-((l - 220) / 90) ** 2)) * np.exp(-(l / 800) ** 2) * (l > 1)
    lens = 1e-7 * 100 * 2 * np.pi / np.maximum(l * (l + 1), 2) ** 2 / (1 + (l / 60) ** 2) * (l > 1)
    return sky, lens


def recover(lens, seen, alm, steps=40):  # conjugate gradients on S^T S a = S^T f
    weight = np.where(kugel.Alm.getlm(LMAX)[1] > 0, 2, 1)

    def inner(a, b):
        return (weight * (a * b.conj()).real).sum()

    a, rest = np.zeros_like(alm), lens.adjoint(seen)
    way, size, errors = rest, inner(rest, rest), []
    for step in range(steps + 1):
        if step % 10 == 0:
            errors.append((inner(a - alm, a - alm) / inner(alm, alm)) ** 0.5)
        image = lens.synthesis(way)
        a = a + size / (image @ image) * way
        rest = rest - size / (image @ image) * lens.adjoint(image)
        way, size = rest + inner(rest, rest) / size * way, inner(rest, rest)
    return a, errors


def main(out=".", steps=40):
    np.random.seed(3)
    sky, potential = (kugel.synalm(cl, lmax=LMAX) for cl in spectra())
    lens = kugel.points.Lens(potential, LMAX, NSIDE)
    plain, seen = kugel.alm2map(sky, NSIDE), lens.synthesis(sky)
    found, errors = recover(lens, seen, sky, steps)
    print(f"difference {np.std(seen - plain):.1f} uK of {np.std(plain):.1f}; errors", *(f"{e:.1e}" for e in errors))
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 3, figsize=(11.5, 4), layout="constrained")
    lon, lat = np.meshgrid(np.linspace(8, -8, 500), np.linspace(-8, 8, 500))
    maps = {"the sky": plain, "lensed, 10 times as in nature": seen, f"found again in {steps} steps": kugel.alm2map(found, NSIDE)}
    for axis, (title, m) in zip(axes, maps.items()):
        image = axis.imshow(kugel.points.interpolate(m, lon, lat, lonlat=True, lmax=2 * NSIDE), cmap="RdBu_r", vmin=-250, vmax=250,
                            extent=(8, -8, -8, 8), origin="lower")
        axis.set(title=title, xlabel="longitude, degrees", ylabel="latitude, degrees" if axis is axes[0] else None)
    figure.colorbar(image, ax=axes, label="µK", shrink=0.9)
    figure.savefig(f"{out}/lensing.png", dpi=90)
    return errors


if __name__ == "__main__":
    main()
