#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How complete and how pure the catalogues of `kugel sources` are: skies with known sources, sparse and crowded.

    python bench/sources.py [--nside 128] [--skies 6] [--out docs/images]

Each sky is white noise and point sources under a Gaussian beam of 2.2 pixels FWHM, at random places, of heights for which the best
linear filter gives 2 to 30 sigma. Sparse skies have one source per 1000 beams, crowded ones one per 40. An entry is true if
it is within half a FWHM of a source, one entry per source, brightest first. Completeness is the share of sources found, by their
true signal to noise; purity is the share of true entries, by the signal to noise that the catalogue says. Writes
sources_curves.png (needs matplotlib) and prints the numbers.
"""
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import side

COMMAND = os.environ.get("KUGEL_COMMAND", str(side.ROOT / "build/release/kugel"))
EDGES = np.array([2, 3, 4, 5, 6, 7, 8, 10, 14, 20, 30.0])
BEAMS_PER_SOURCE = {"sparse": 1000, "crowded": 40}


def beam(nside):
    """FWHM, radians."""
    return 2.2 * np.sqrt(4 * np.pi / (12 * nside**2))


def height_of_one_sigma(kugel, nside, fwhm):
    """Of a source that the matched filter for white noise of rms 1 sees at one sigma: N_l = 4 pi / npix, and the source's
    coefficients are the beam's times its solid angle."""
    b = kugel.gauss_beam(fwhm, lmax=4 * nside) * np.pi * fwhm**2 / (4 * np.log(2))
    l = np.arange(b.size)
    return 1 / np.sqrt(((2 * l + 1) / (4 * np.pi) * b**2).sum() / (4 * np.pi / (12 * nside**2)))


def simulate(kugel, nside, kind, seed):
    """A map and its sources: directions [n, 3] and true signal to noise [n]."""
    rng = np.random.default_rng([seed, nside])
    fwhm, npix = beam(nside), 12 * nside**2
    count = round(4 * np.pi / (np.pi / 4 * fwhm**2) / BEAMS_PER_SOURCE[kind])
    where = rng.normal(size=(count, 3))
    where /= np.linalg.norm(where, axis=1)[:, None]
    snr = np.exp(rng.uniform(np.log(EDGES[0]), np.log(EDGES[-1]), count))
    sky, one = rng.normal(size=npix), height_of_one_sigma(kugel, nside, fwhm)
    for direction, strength in zip(where, snr):
        pixels = kugel.query_disc(nside, direction, 3 * fwhm, inclusive=True)
        angle = np.arccos(np.clip(direction @ np.array(kugel.pix2vec(nside, pixels)), -1, 1))
        sky[pixels] += strength * one * np.exp(-4 * np.log(2) * (angle / fwhm)**2)
    return sky, where, snr


def search(sky, nside, kernel, threshold=4):
    """The command's catalogue: directions [n, 3] and signal to noise [n]."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        np.save(path / "sky.npy", sky)
        subprocess.run([COMMAND, "sources", path / "sky.npy", path / "list.csv", "--fwhm", f"{beam(nside)}rad", "--kernel", kernel,
                        "--threshold", str(threshold), "--quiet"], check=True, stdin=subprocess.DEVNULL)
        table = np.atleast_1d(np.genfromtxt(path / "list.csv", delimiter=",", names=True))
    lon, lat = np.radians(table["lon"]), np.radians(table["lat"])
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], 1), table["snr"]


def match(found, where, within):
    """For each entry, brightest first, the source that it stands for, or -1."""
    free, out = np.ones(len(where), bool), np.full(len(found), -1)
    for i, direction in enumerate(found):
        angle = np.where(free, 2 * np.arcsin(np.minimum(1, np.linalg.norm(where - direction, axis=1) / 2)), np.inf)
        best = int(np.argmin(angle)) if len(angle) else -1
        if best >= 0 and angle[best] < within:
            out[i], free[best] = best, False
    return out


def curves(kugel, nside, kind, kernel, skies, threshold=4):
    """(found, sources) and (true, entries) per bin of EDGES, summed over the skies."""
    counts = np.zeros((4, EDGES.size - 1))
    for seed in range(skies):
        sky, where, snr = simulate(kugel, nside, kind, seed)
        found, strength = search(sky, nside, kernel, threshold)
        order = np.argsort(-strength)
        source = match(found[order], where, beam(nside) / 2)
        for row, values in enumerate((snr[source[source >= 0]], snr, strength[order][source >= 0], strength)):
            counts[row] += np.histogram(np.clip(values, EDGES[0], EDGES[-1] - 1e-9), EDGES)[0]
    return counts


def draw(results, path):
    from matplotlib.figure import Figure
    figure = Figure((10, 4.2), layout="constrained")
    for axes, top, title, label in zip(figure.subplots(1, 2, sharey=True), (0, 2), ("completeness", "purity"),
                                       ("true signal to noise of the source", "signal to noise in the catalogue")):
        for (kind, kernel), c in results.items():
            good = c[top + 1] > 0
            x, share = np.sqrt(EDGES[1:] * EDGES[:-1])[good], (c[top] / np.maximum(c[top + 1], 1))[good]
            error = np.sqrt(share * (1 - share) / c[top + 1][good])
            axes.errorbar(x, share, error, marker="o", markersize=4, linestyle="-" if kind == "sparse" else "--", capsize=2,
                          color="tab:blue" if kernel == "matched" else "tab:orange", label=f"{kind}, {kernel}")
        axes.set(xscale="log", xlabel=label, title=title, ylim=(-0.03, 1.05), xlim=(EDGES[0], EDGES[-1]))
        axes.set_xticks([2, 3, 4, 5, 7, 10, 20, 30], ["2", "3", "4", "5", "7", "10", "20", "30"], minor=False)
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.axvline(4, color="grey", linewidth=0.8, linestyle=":")
    figure.axes[0].set_ylabel("share")
    figure.axes[1].legend(loc="lower right", frameon=False)
    figure.savefig(path, dpi=110)


def main():
    parser = side.options(__doc__.splitlines()[0], threads=True, only=False)
    parser.add_argument("--nside", type=int, default=128)
    parser.add_argument("--skies", type=int, default=6, help="sparse skies; crowded ones are half as many (default 6)")
    parser.add_argument("--out", default="", help="folder for the picture; without it, numbers only")
    args = side.arguments(parser, nside=32, skies=1)
    kugel = side.load(args.threads)
    results = {}
    for kind in BEAMS_PER_SOURCE:
        for kernel in "matched", "mexican-hat":
            results[kind, kernel] = c = curves(kugel, args.nside, kind, kernel, max(1, args.skies // (1 + (kind == "crowded"))))
            if args.json:
                for lo, hi, *n in zip(EDGES[:-1], EDGES[1:], *c):
                    print(json.dumps({"name": f"{kind}, {kernel}, {lo:g} to {hi:g} sigma", "completeness": n[0] / n[1] if n[1] else None,
                                      "sources": int(n[1]), "purity": n[2] / n[3] if n[3] else None, "entries": int(n[3])}))
                continue
            print(f"{kind}, {kernel}: {int(c[3].sum())} entries of {int(c[1].sum())} sources")
            for name, top in ("completeness", 0), ("purity", 2):
                print(f"  {name:13s}" + " ".join(f"{lo:g}-{hi:g}: {a / b:.2f}" for lo, hi, a, b in
                                                 zip(EDGES[:-1], EDGES[1:], c[top], c[top + 1]) if b))
    if args.out:
        draw(results, pathlib.Path(args.out) / "sources_curves.png")


if __name__ == "__main__":
    main()
