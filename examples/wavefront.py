# SPDX-License-Identifier: BSD-3-Clause
"""Zernike fit of a wavefront: turbulence on the pixels of a camera, through a pupil with a central hole and spiders.

    python examples/wavefront.py [screens]       # mean squares per degree against Noll (1976), wavefront.png; needs matplotlib
"""
import math
import sys

import numpy as np
from kugel import fft, polynomial
from matplotlib.figure import Figure

NMAX, ACROSS, NOISE = 20, 128, 0.05  # degrees, pixels across the pupil, radians


def turbulence(n, rng):
    """Kolmogorov phase in radians on n x n pixels for a pupil's diameter D = r0: power 0.0229 k^(-11/3)."""
    k = np.hypot(*np.meshgrid(*2 * [fft.fftfreq(n, 1 / ACROSS)]))
    k[0, 0] = np.inf
    noise = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))
    return (fft.ifft2(noise * math.sqrt(0.0229) * k**(-11 / 6)) * ACROSS * n).real


def fit(plan, values):
    """Least squares by conjugate gradients on A^T A c = A^T values, where A is the synthesis at the points."""
    c, p, r = 0, *2 * [plan.synthesis_adjoint(values)]
    rr = (r * r).sum(-1, keepdims=True)
    for _ in range(40):
        q = plan.synthesis_adjoint(plan.synthesis(p))
        a = rr / (p * q).sum(-1, keepdims=True)
        c, r, last = c + a * p, r - a * q, rr
        rr = (r * r).sum(-1, keepdims=True)
        p = r + rr / last * p
    return c


rng = np.random.default_rng(5)
screens = int(sys.argv[1]) if len(sys.argv) > 1 else 20
y, x = np.mgrid[1 / ACROSS - 1:1:2 / ACROSS, 1 / ACROSS - 1:1:2 / ACROSS]
r, phi = np.hypot(x, y), np.arctan2(y, x)
pupil, disk = (r < 1) & (r > 0.15) & (np.minimum(abs(x), abs(y)) > 0.02), r < 1
plan = polynomial.Zernike(NMAX, r=r[pupil], phi=phi[pupil])
values = np.array([turbulence(8 * ACROSS, rng)[:ACROSS, :ACROSS][pupil] for _ in range(screens)])
values += NOISE * rng.standard_normal(values.shape) - values.mean(1, keepdims=True)
c = fit(plan, values)
left = values - plan.synthesis(c)
print(f"{plan.count} coefficients, {pupil.sum()} pixels: rms {values.std():.3f} rad, after the fit {left.std():.3f}, noise {NOISE}")
degree, g = np.array([plan.nm(i)[0] for i in range(plan.count)]), math.gamma
for n in range(2, 9):
    noll = 0.0072 * (n + 1)**2 * math.pi**(8 / 3) * g(14 / 3) * g(n - 5 / 6) / (g(17 / 6)**2 * g(n + 23 / 6))
    print(f"degree {n}: mean square {(c[:, degree == n]**2).sum(1).mean():.4f} rad^2, Noll {noll:.4f}")
figure, whole = Figure((9, 3), layout="constrained"), polynomial.Zernike(NMAX, r=r[disk], phi=phi[disk]).synthesis(c[0])
for axes, name, where, v in zip(figure.subplots(1, 3), ("measured", f"fit, degrees to {NMAX}", "measured minus fit, times 5"),
                                (pupil, disk, pupil), (values[0], whole, 5 * left[0])):
    image = np.full(r.shape, np.nan)
    image[where] = v
    shown, _ = axes.imshow(image, cmap="RdBu_r", vmin=-2, vmax=2), axes.set(title=name, xticks=[], yticks=[])
figure.colorbar(shown, label="rad")
figure.savefig("wavefront.png", dpi=110)
