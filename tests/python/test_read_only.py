# SPDX-License-Identifier: BSD-3-Clause
"""Read-only arrays are read and never written: memory-mapped files, views of bytes, arrays made read-only."""
import numpy as np
import pytest

import kugel as hp

LMAX, NSIDE = 16, 8
RNG = np.random.default_rng(0)
ALM = RNG.normal(size=hp.Alm.getsize(LMAX)) + 0j
MAP = RNG.normal(size=12 * NSIDE**2)


def mapped(a, path):
    np.save(path, a)
    return np.load(path, mmap_mode="r")


def of_bytes(a, path):
    return np.frombuffer(a.tobytes(), a.dtype)


def locked(a, path):
    a = a.copy()
    a.flags.writeable = False
    return a


def sht():
    return hp.SHT(NSIDE, LMAX)



WRITERS = {
    "rotate_alm": lambda a, m: hp.rotate_alm(a, 0.1, 0.2, 0.3),
    "rotate_alm of several": lambda a, m: hp.rotate_alm([ALM.copy(), a, ALM.copy()], 0.1, 0.2, 0.3),
    "almxfl": lambda a, m: hp.almxfl(a, np.full(LMAX + 1, 2.0), inplace=True),
    "almxfl by complex": lambda a, m: hp.almxfl(a, np.full(LMAX + 1, 2j), inplace=True),
    "smoothalm": lambda a, m: hp.smoothalm(a, fwhm=0.1, inplace=True),
    "alm2map": lambda a, m: hp.alm2map(a, NSIDE, fwhm=0.1, inplace=True),
    "Rotator": lambda a, m: hp.Rotator(coord="GC").rotate_alm(a, inplace=True),
    "synthesis": lambda a, m: sht().synthesis(ALM, out=m),
    "synthesis_adjoint": lambda a, m: sht().synthesis_adjoint(MAP, out=a),
    "analysis": lambda a, m: sht().analysis(MAP, out=a),
    "analysis_adjoint": lambda a, m: sht().analysis_adjoint(ALM, out=m),
    "solve": lambda a, m: sht().solve(MAP, out=a),
    "Radial": lambda a, m: hp.Radial(hp.Grid.healpix(NSIDE), "gaussian", 0.5)(MAP, out=m),
    "Regrid": lambda a, m: hp.Regrid(hp.Grid.healpix(NSIDE), hp.Grid.healpix(NSIDE))(MAP, out=m),
    "remove_monopole": lambda a, m: hp.remove_monopole(m, copy=False),
    "remove_dipole": lambda a, m: hp.remove_dipole(m, copy=False),
}


@pytest.mark.parametrize("kind", [mapped, of_bytes, locked], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", WRITERS)
def test_outputs(name, kind, tmp_path):
    a, m = kind(ALM, tmp_path / "a.npy"), kind(MAP, tmp_path / "m.npy")
    with pytest.raises(ValueError, match="read-only"):
        WRITERS[name](a, m)
    np.testing.assert_array_equal(a, ALM)
    np.testing.assert_array_equal(m, MAP)


def test_outputs_of_other_plans():
    from kugel import banded, fft, rings

    x = np.arange(8) + 0j
    with pytest.raises(ValueError, match="read-only"):
        fft.Plan(8).forward(x, out=locked(x, None))
    with pytest.raises(ValueError, match="read-only"):
        banded.Banded(np.zeros(8), np.ones(8)).solve(np.ones(8), out=locked(np.zeros(8), None))
    plan = rings.Rings([4, 4], 1)
    with pytest.raises(ValueError, match="read-only"):
        plan.synthesis(np.ones((2, 2), complex), out=locked(np.zeros(8), None))
    with pytest.raises(ValueError, match="read-only"):
        hp.query_disc(8, [0, 0, 1.0], 0.5, buff=locked(np.zeros(768, np.int64), None))


def test_inputs(tmp_path):
    a, m = mapped(ALM, tmp_path / "a.npy"), mapped(MAP, tmp_path / "m.npy")
    np.testing.assert_array_equal(hp.map2alm(m, lmax=LMAX), hp.map2alm(MAP, lmax=LMAX))
    np.testing.assert_array_equal(hp.alm2map(a, NSIDE), hp.alm2map(ALM, NSIDE))
    np.testing.assert_array_equal(hp.almxfl(a, np.ones(5)), hp.almxfl(ALM, np.ones(5)))
    np.testing.assert_array_equal(hp.remove_dipole(m), hp.remove_dipole(MAP))
    np.testing.assert_array_equal(hp.smoothalm(a, fwhm=0.1, inplace=False), hp.smoothalm(ALM, fwhm=0.1, inplace=False))
    np.testing.assert_array_equal(a, ALM)
