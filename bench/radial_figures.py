#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How exact radial convolution is: figures 4, 5 and 6 of Elsner & Wandelt (2011), with this library's methods.

    python bench/radial_figures.py [--nside 2048] [--out .]

Writes radial_difference.png (pixel sum minus harmonic result for a band-limited sky, 1 degree FWHM), radial_spectrum.png
(spectra of the result for a beam near the size of the pixels, and of its error) and radial_sources.png (point sources by
harmonics and by the pixel sum, logarithmic), and prints the numbers. Widths go with 1 / nside, and are those of the paper for
nside 2048. Needs matplotlib.
"""
import argparse
import pathlib

import numpy as np
from matplotlib.figure import Figure
from side import load

kugel = load(threads=2)


def sky(nside, lmax, seed=3):
    """a_lm of a Gaussian field with l (l + 1) C_l near constant, as the microwave background's."""
    l = np.arange(lmax + 1)
    cl = np.where(l > 1, 1e4 / (np.maximum(l, 1) * (l + 1.0)), 0) * np.exp(-((l / (0.2 * lmax)) ** 2))
    np.random.seed(seed)
    return kugel.synalm(cl, lmax=lmax, new=True), cl


def patch(nside, centre, size, pixels=400):
    """Pixel numbers of a gnomonic patch about (colatitude, longitude), all in radians."""
    x = np.tan(np.linspace(-size / 2, size / 2, pixels))
    u, v = np.meshgrid(x, x)
    theta, phi = centre
    out = np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
    east = np.array([-np.sin(phi), np.cos(phi), 0.0])
    north = np.cross(out, east)
    p = out[:, None, None] + east[:, None, None] * u + north[:, None, None] * v
    return kugel.vec2pix(nside, *(p / np.sqrt((p * p).sum(0))))


def show(axes, image, title, size, **more):
    half = np.degrees(size) / 2
    shown = axes.imshow(image, origin="lower", extent=(-half, half, -half, half), **more)
    axes.set(title=title, xlabel="degrees to the east", ylabel="degrees to the north")
    return shown


def differences(o, transform):
    """Figure 4: a field to lmax, one degree FWHM, in two patches of ten degrees."""
    fwhm, scale = np.radians(2048 / o.nside), 2048 / o.nside
    alm, _ = sky(o.nside, transform.lmax)
    field = transform.synthesis(alm)
    # Series along rings: the sum over pixels to their tolerance, in a twentieth of its time.
    beam = kugel.radial.Radial(transform.grid, "gaussian", fwhm, method="rings", tolerance=1e-13)
    exact = transform.synthesis(kugel.almxfl(alm, beam.coefficients(transform.lmax)))
    error = (beam(field) - exact) / exact.std()
    print(f"difference to the harmonic result, FWHM {np.degrees(fwhm):.3g} deg: rms {error.std():.2e}, "
          f"largest {abs(error).max():.2e} of the map's rms")
    figure, size = Figure((9, 4.6), layout="constrained"), np.radians(10 * scale)
    figure.suptitle("sum over pixels $-$ harmonics, in units of the map's rms")
    for axes, (name, theta) in zip(figure.subplots(1, 2), {"north pole": 1e-4, "equator": np.pi / 2}.items()):
        image = error[patch(o.nside, (theta, 0.3), size)]
        power = int(np.floor(np.log10(abs(image).max())))
        image = image / 10.0**power
        top = abs(image).max()
        shown = show(axes, image, name, size, cmap="RdBu_r", vmin=-top, vmax=top)
        figure.colorbar(shown, ax=axes, label=f"$10^{{{power}}}$", shrink=0.85)
    figure.savefig(o.out / "radial_difference.png", dpi=110)
    return error.std()


def spectra(o, transform):
    """Figure 5: a kernel not band-limited at lmax. Spectra of the field, and of what the pixel sum makes of it."""
    fwhm = np.radians(6 / 60 * 2048 / o.nside)
    alm, _ = sky(o.nside, transform.lmax)
    field = transform.synthesis(alm)
    beam = kugel.radial.Radial(transform.grid, "gaussian", fwhm, method="direct", tolerance=1e-9)
    wanted = kugel.almxfl(alm, beam.coefficients(transform.lmax))
    got, _ = transform.solve(beam(field), tolerance=1e-10, max_iterations=8)
    l = np.arange(2, transform.lmax + 1)
    factor = l * (l + 1) / (2 * np.pi)
    power, error = (kugel.alm2cl(a)[2:] * factor for a in (wanted, got - wanted))
    cross = abs(kugel.alm2cl(got)[2:] * factor - power)
    figure = Figure((9, 4.2), layout="constrained")
    for axes, curve, name in zip(figure.subplots(1, 2, sharey=True), (cross, error),
                                 ("|spectrum of the sum $-$ exact|", "spectrum of the difference")):
        axes.loglog(l, power, "k--", lw=1, label="exact")
        axes.loglog(l, np.maximum(curve, 1e-40), lw=0.7, label=name)
        axes.set(xlabel="$\\ell$", ylabel="$\\ell (\\ell + 1) C_\\ell / 2 \\pi$", ylim=(power.max() * 1e-22, power.max() * 10))
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(o.out / "radial_spectrum.png", dpi=110)
    below = (error / power)[: int(0.75 * l.size)].max()
    print(f"spectra, FWHM {np.degrees(fwhm) * 60:.3g}': {np.log10(power.max() / power.min()):.1f} orders of magnitude; error's part "
          f"of the power at most {below:.1e} to l = {int(0.75 * transform.lmax)}, {(error / power).max():.1e} to {transform.lmax}")


def sources(o, transform):
    """Figure 6: eight point sources, four in a cap and four in the belt, by the two methods."""
    fwhm, size = np.radians(4.7 / 60 * 2048 / o.nside), np.radians(min(13 * 2048 / o.nside, 26))
    centres = {"cap": (np.radians(25), np.radians(40)), "belt": (np.radians(80), np.radians(40))}
    field = np.zeros(transform.grid.npix)
    where = []
    for theta, phi in centres.values():
        for dt, dp in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
            where.append(kugel.ang2pix(o.nside, theta + dt * size / 4, phi + dp * size / 4 / np.sin(theta)))
    field[where] = 1
    direct = kugel.radial.Radial(transform.grid, "gaussian", fwhm, method="direct")
    harmonic = kugel.radial.Radial(transform.grid, "gaussian", fwhm, method="harmonic", lmax=transform.lmax)
    figure = Figure((9, 8.2), layout="constrained")
    for row, (name, centre) in zip(figure.subplots(2, 2), centres.items()):
        for axes, (method, plan) in zip(row, {"harmonics": harmonic, "pixel sum": direct}.items()):
            result = plan(field)
            image = abs(result[patch(o.nside, centre, size)]) / result.max()
            shown = show(axes, np.log10(np.maximum(image, 1e-12)), f"{name}, {method}", size, vmin=-10, vmax=0)
            figure.colorbar(shown, ax=axes, label="log10 |value / peak|")
            far = np.ones(transform.grid.npix, bool)
            for source in where:
                far[kugel.query_disc(o.nside, kugel.pix2vec(o.nside, source), 1.01 * direct.radius)] = False
            if name == "cap":
                print(f"point sources by {method}: beyond the cut-off {abs(result[far]).max() / result.max():.1e} of the peak, least "
                      f"value {result.min() / result.max():.1e}")
    figure.savefig(o.out / "radial_sources.png", dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nside", type=int, default=2048)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    o = parser.parse_args()
    transform = kugel.SHT(o.nside, 2 * o.nside)
    differences(o, transform)
    spectra(o, transform)
    sources(o, transform)


if __name__ == "__main__":
    main()
