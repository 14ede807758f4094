# SPDX-License-Identifier: BSD-3-Clause
"""Catalogues of `kugel sources` on skies whose sources are known: bench/sources.py on a small scale, with bounds."""
import pathlib
import sys

import numpy as np
import pytest

import kugel

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import sources  # noqa: E402

NSIDE = 64


@pytest.fixture(autouse=True)
def command():
    if not pathlib.Path(sources.COMMAND).exists():
        pytest.skip(f"{sources.COMMAND} is not built; KUGEL_COMMAND names another")


def shares(counts, top, low, high):
    """The share and the number of all bins from low to high sigma."""
    bins = (sources.EDGES[:-1] >= low) & (sources.EDGES[1:] <= high)
    return counts[top, bins].sum() / counts[top + 1, bins].sum(), counts[top + 1, bins].sum()


def test_signal_to_noise_is_that_of_the_matched_filter():
    """What simulate calls one sigma, against the filter's own theory for white noise."""
    lmax, fwhm = 4 * NSIDE, sources.beam(NSIDE)
    _, sigma = kugel.kernels.matched_filter(kugel.gauss_beam(fwhm, lmax=lmax), np.full(lmax + 1, 4 * np.pi / (12 * NSIDE**2)))
    assert sources.height_of_one_sigma(kugel, NSIDE, fwhm) == pytest.approx(sigma, rel=0.02)


# kind, kernel, skies, and the least: completeness 5 to 8 sigma, above 8, above 14; purity 4 to 5 sigma, above 5
@pytest.mark.parametrize("kind, kernel, skies, bounds", [
    ("sparse", "matched", 8, (0.75, 0.97, 0.99, 0.3, 0.98)),
    ("sparse", "mexican-hat", 8, (0.4, 0.9, 0.97, 0.3, 0.98)),
    ("crowded", "matched", 3, (0.35, 0.85, 0.93, 0.85, 0.97)),
    ("crowded", "mexican-hat", 3, (0.25, 0.85, 0.93, 0.85, 0.97)),
])
def test_complete_and_pure(kind, kernel, skies, bounds):
    c = sources.curves(kugel, NSIDE, kind, kernel, skies)
    got = [shares(c, top, *span) for top, span in ((0, (5, 8)), (0, (8, 30)), (0, (14, 30)), (2, (4, 5)), (2, (5, 30)))]
    print(kind, kernel, [f"{share:.2f} of {n:.0f}" for share, n in got])
    assert all(n >= 5 for _, n in got)
    assert all(share >= bound for (share, _), bound in zip(got, bounds)), got
    assert c[0].sum() == c[2].sum(), "each true entry stands for one source"


def test_noise_alone():
    """No source: entries above 5 sigma are fewer than one in a hundred thousand pixels."""
    rng = np.random.default_rng(5)
    for _ in range(3):
        _, strength = sources.search(rng.normal(size=12 * NSIDE**2), NSIDE, "matched", 5)
        assert strength.size <= 1
