# SPDX-License-Identifier: BSD-3-Clause
"""What mypy must accept, with the types that it must find, and (behind `type: ignore`) what it must refuse. Runs, too."""
import pathlib
import tempfile
from typing import TYPE_CHECKING

import numpy as np

import kugel
import kugel as hp
import kugel.fft
import kugel.nufft
import kugel.points
import kugel.spectra

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:
    from typing import get_origin

    def assert_type(value, kind):
        assert value is kind or isinstance(value, get_origin(kind) or kind), (type(value), kind)


def transforms() -> None:
    m = np.arange(192.0)
    alm = hp.map2alm(m, lmax=7, iter=1)
    assert_type(alm, np.ndarray)
    assert_type(hp.alm2map(alm, 4, pixwin=True, fwhm=0.1), np.ndarray)
    assert_type(hp.smoothing(m, fwhm=0.5, lmax=8), np.ndarray)
    assert_type(hp.alm2map_spin([alm, alm], 4, 2, 7), list[np.ndarray])
    assert_type(hp.get_nside(m), int)
    assert_type(hp.Alm.getsize(7), int)
    assert_type(hp.query_disc(4, (0, 0, 1), 0.5), np.ndarray)
    assert_type(hp.mask_bad([0.0] * 12), np.ndarray)
    assert_type(hp.ma(m), np.ma.MaskedArray)
    assert_type(hp.rotate_alm(alm, 0.1, 0.2, 0.3), None)
    hp.anafast([m, m, m], lmax=4, pol=True)
    hp.ang2pix(4, [10, 20], [0, 5], lonlat=True)
    hp.ang2pix([4, 8], 0.1, 0.2)
    hp.nside2npix([1, 2])
    hp.Rotator(coord=["G", "C"])(0.3, 0.4)


def plans() -> None:
    grid = kugel.Grid.gauss(8)
    assert_type(grid, kugel.Grid)
    assert_type(grid.npix, int)
    sht = kugel.SHT(grid, 7, spin=2, bad_pixels="zero")
    sht.synthesis(np.zeros((2, sht.nalm), complex))
    kugel.regrid(np.ones(grid.npix), grid, kugel.Grid.healpix(4))
    kugel.Radial(kugel.Grid.healpix(4), "gaussian", 0.5)(np.ones(192))


def others() -> None:
    kugel.fft.rfftn(np.ones((4, 5)), axes=(0, 1), workers=1)
    assert_type(kugel.fft.next_fast_len(17), int)
    points = kugel.points.Plan(8).points([0.1, 0.2], [0.3, 0.4])
    assert_type(points, kugel.points.Points)
    kugel.nufft.Plan((8,), "to_modes", tolerance=1e-6).points(np.array([0.1, 0.5])).execute(np.ones(2) + 0j)
    field = kugel.spectra.Field(np.ones(192), [np.arange(192.0)])
    kugel.spectra.Spectra(field, field, kugel.spectra.Bands.linear(8, 3))
    assert_type(kugel.data.names(), list[str])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.fits"
        hp.write_map(path, np.ones(48), coord="G")
        hp.read_map(path, field=(0,), nest=True)


def refused() -> None:
    hp.alm2map([0j], "4")  # type: ignore[arg-type]
    hp.map2alm([0.0] * 12, lmx=3)  # type: ignore[call-arg]
    hp.smoothing([0.0] * 12, fwhm="3deg")  # type: ignore[arg-type]
    kugel.Grid.gauss()  # type: ignore[call-arg]
    kugel.SHT(4, 7)  # type: ignore[arg-type]
    kugel.data.nmes()  # type: ignore[attr-defined]


if __name__ == "__main__":
    transforms()
    plans()
    others()
