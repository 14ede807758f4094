# SPDX-License-Identifier: BSD-3-Clause
"""Flower and vortex, the magnetic states of a small cube: standard problem 3 of the muMAG group, by `python examples/micromagnetics.py`.

Lengths in exchange lengths sqrt(2 A / mu0 Ms^2), energies in mu0 Ms^2 / 2; demagnetising tensor of Newell, Williams, Dunlop 1993.
Published for an edge of 8.47: both energies 0.3027, mean of mz 0.971 in the flower, of my 0.352 in the vortex (Hertel, Kronmueller).
"""
import kugel
import numpy as np


def newell(x, y, z, mixed):
    """The potential whose second differences along all axes are N_xx or, mixed, N_xy."""
    with np.errstate(divide="ignore", invalid="ignore"):
        r, xy, yz, zx = np.sqrt(x * x + y * y + z * z), np.hypot(x, y), np.hypot(y, z), np.hypot(z, x)
        f = [y / 2 * (z * z - x * x) * np.arcsinh(y / zx), z / 2 * (y * y - x * x) * np.arcsinh(z / xy),
             -x * y * z * np.arctan(y * z / (x * r)), (2 * x * x - y * y - z * z) * r / 6]
        g = [x * y * z * np.arcsinh(z / xy), y / 6 * (3 * z * z - y * y) * np.arcsinh(x / yz), -x * y * r / 3,
             x / 6 * (3 * z * z - x * x) * np.arcsinh(y / zx), -z ** 3 / 6 * np.arctan(x * y / (z * r)),
             -z * y * y / 2 * np.arctan(x * z / (y * r)), -z * x * x / 2 * np.arctan(y * z / (x * r))]
        return sum(np.nan_to_num(term, posinf=0, neginf=0) for term in (g if mixed else f))


def fields(n, edge):
    """Functions of m [3, n, n, n]: minus half the gradients of the energies of demagnetisation, exchange and anisotropy."""
    at, tensor = np.meshgrid(*[np.arange(-n, n + 1.0)] * 3, indexing="ij"), np.empty((3, 3) + (2 * n - 1,) * 3)
    for i, j in np.ndindex(3, 3):
        u = newell(at[i], at[j], at[3 - i - j], True) if i != j else newell(at[i], at[i - 1], at[i - 2], False)
        tensor[i, j] = -np.diff(np.diff(np.diff(u, 2, 0), 2, 1), 2, 2) / (4 * np.pi)
    demagnetise = kugel.fft.Convolution((n,) * 3, tensor, "same", inputs=3, outputs=3)
    laplace = kugel.stencil.laplacian((n,) * 3, edge / n, boundary="zero")  # of cells; beyond a face lies the same m:
    face, easy = -laplace.apply(np.ones((n,) * 3)), np.array([0, 0, 0.1])[:, None, None, None]
    return [lambda m: -demagnetise(m), lambda m: laplace.apply(m) + face * m, lambda m: easy * m]


def relax(m, field, step=0.05, before=None):
    for _ in range(500):  # steepest descent in steps of Barzilai and Borwein
        torque = (h := sum(f(m) for f in field)) - (h * m).sum(0) * m
        if before:
            step = np.clip(-((m - before[0]) ** 2).sum() / (((m - before[0]) * (torque - before[1])).sum() - 1e-300), 1e-3, 10)
        before, m = (m, torque), (m + step * torque) / np.sqrt(((m + step * torque) ** 2).sum(0))
    return m, 0.1 - sum((f(m) * m).sum(0).mean() for f in field)


def main(out=".", n=16, edge=8.47):
    x, y, z = np.meshgrid(*[np.linspace(-1, 1, n)] * 3, indexing="ij")
    starts = {"flower": [0.3 * x * z, 0.3 * y * z, 0 * z + 1], "vortex": [-z, np.exp(-4 * (x * x + z * z)), x]}
    states = {name: relax(m / np.sqrt(np.square(m).sum(0)), fields(n, edge)) for name, m in starts.items()}
    print(*(f"{name} {e:.4f}, mean m {m.mean((1, 2, 3)).round(3) + 0}" for name, (m, e) in states.items()), sep="\n")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained", sharey=True)
    for axis, (name, (m, _)) in zip(axes, states.items()):
        image = axis.imshow(m[1, :, n // 2].T, cmap="RdBu", vmin=-1, vmax=1, origin="lower")
        axis.quiver(m[0, :, n // 2].T, m[2, :, n // 2].T, pivot="mid", scale=18)
        axis.set(title=f"{name}, middle of the cube", xlabel="x", ylabel="z")
    figure.colorbar(image, ax=axes, label="my, out of the plane")
    figure.savefig(f"{out}/micromagnetics.png", dpi=80)


if __name__ == "__main__":
    main()
