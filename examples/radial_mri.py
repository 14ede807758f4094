# SPDX-License-Identifier: BSD-3-Clause
"""Magnetic resonance imaging with golden-angle radial spokes: density weights, conjugate gradients; writes radial_mri.png."""
import pathlib

import kugel
import numpy as np

N, ELLIPSES = 256, [(0, 0, .69, .92, 0, 1), (0, .0184, .6624, .874, 0, -.8), (-.22, 0, .11, .31, .31, -.2), (.22, 0, .16, .41, -.31, -.2),
                    (0, -.35, .21, .25, 0, .1), (0, .1, .046, .046, 0, .3), (-.08, .605, .046, .023, 0, .3), (.06, .605, .023, .046, 1.5, .3)]


def phantom(n):
    """Shepp and Logan's head, with the contrast of Toft."""
    y, x = np.meshgrid(*[(np.arange(n) - n // 2 + .5) / (n / 2)] * 2, indexing="ij")
    image = np.zeros((n, n))
    for x0, y0, a, b, t, value in ELLIPSES:
        u, v = (x - x0) * np.cos(t) + (y - y0) * np.sin(t), (y - y0) * np.cos(t) - (x - x0) * np.sin(t)
        image += value * ((u / a) ** 2 + (v / b) ** 2 <= 1)
    return image


def measure(spokes, noise=2.0):
    """Points [M, 2] in radians per pixel, and noisy data of a head with four times the pixels."""
    radius, angle = np.linspace(-np.pi, np.pi, 2 * N, endpoint=False), np.arange(spokes)[:, None] * np.pi * (np.sqrt(5) - 1) / 2
    k = np.stack([radius * np.cos(angle), radius * np.sin(angle)], -1).reshape(-1, 2)
    data = kugel.nufft.nufft2d2(*(k / 4).T, phantom(4 * N) / 16 + 0j, eps=1e-9)
    return k, data + noise * np.random.default_rng(1).normal(size=(len(k), 2)) @ [1, 1j]


def reconstruct(k, data, steps=3):
    """The adjoint (scaled), with density weights, and after steps of conjugate gradients on A^H W A f = A^H W d."""
    plan = kugel.nufft.Plan((N, N), "to_points", tolerance=1e-6)
    points = plan.points(k)
    weights = points.density(20) / (2 * np.pi) ** 2
    normal, right = plan.normal(k, weights), points.adjoint(weights * data)
    image, residual, direction = np.zeros_like(right), right, right
    for _ in range(steps):
        product, size = normal.execute(direction), np.vdot(residual, residual).real
        step = size / np.vdot(direction, product).real
        image, residual = image + step * direction, residual - step * product
        direction = residual + np.vdot(residual, residual).real / size * direction
    plain = points.adjoint(data)
    return plain * np.vdot(plain, right) / np.vdot(plain, plain), right, image


def main(spokes=200, out="."):
    k, data = measure(spokes)
    images = reconstruct(k, data)
    truth = phantom(4 * N).reshape(N, 4, N, 4).mean((1, 3))
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 3, figsize=(12, 4.3), layout="constrained")
    for axis, name, image in zip(axes, ["adjoint", "adjoint with density weights", "3 steps"], images):  # 200 spokes: half of all
        print(f"{name:30s} error {np.linalg.norm(image - truth) / np.linalg.norm(truth):.3f}")
        axis.imshow(image.real[::-1], cmap="gray", vmin=0, vmax=.5)
        axis.set(title=name, xticks=[], yticks=[])
    figure.savefig(pathlib.Path(out) / "radial_mri.png", dpi=80)


if __name__ == "__main__":
    main()
