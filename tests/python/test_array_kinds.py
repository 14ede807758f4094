# SPDX-License-Identifier: BSD-3-Clause
"""Functions with healpy's names take arrays of other libraries; what they cannot take, they name the way out of."""
import numpy as np
import pytest

import kugel as hp
from kugel.maps import host

RNG = np.random.default_rng(2)
NSIDE, LMAX = 8, 16
MAP = RNG.normal(size=768)
MAPS = RNG.normal(size=(3, 768))
ALM = hp.map2alm(MAP, lmax=LMAX)


class ByDLPack:
    """What has nothing but DLPack."""

    def __init__(self, a, device=None):
        self.a, self.device = a, device

    def __dlpack__(self, **keywords):
        return self.a.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.device or self.a.__dlpack_device__()


class ByArray:
    def __init__(self, a):
        self.a = a

    def __array__(self, dtype=None, copy=None):
        return self.a


class ByInterface:
    def __init__(self, a):
        self.a, self.__array_interface__ = a, a.__array_interface__


def torch(a):
    return pytest.importorskip("torch").from_numpy(np.ascontiguousarray(a).copy())


def jax(a):
    return pytest.importorskip("jax").numpy.asarray(a)


def xarray(a):
    return pytest.importorskip("xarray").DataArray(a)


def pandas(a):
    module = pytest.importorskip("pandas")
    return module.Series(a) if a.ndim == 1 else module.DataFrame(a.T, columns=list("TQU"))


KINDS = [ByDLPack, ByArray, ByInterface, torch, jax, xarray, pandas]
FUNCTIONS = {
    "map2alm": lambda m: hp.map2alm(m, lmax=LMAX),
    "anafast": lambda m: hp.anafast(m, lmax=LMAX),
    "smoothing": lambda m: hp.smoothing(m, fwhm=0.2, lmax=LMAX),
    "ud_grade": lambda m: hp.ud_grade(m, 4),
    "get_interp_val": lambda m: hp.get_interp_val(m, 0.3, 0.4),
    "reorder": lambda m: hp.reorder(m, r2n=True),
    "ma": lambda m: hp.ma(m).filled(),
    "mask_bad": hp.mask_bad,
    "get_nside": hp.get_nside,
    "maptype": hp.maptype,
    "map2alm_lsq": lambda m: hp.map2alm_lsq(m, LMAX, LMAX)[0],
    "rotate_map_alms": lambda m: hp.Rotator(coord="GC").rotate_map_alms(m, lmax=LMAX, use_pixel_weights=False),
    "rotate_map_pixel": lambda m: hp.Rotator(coord="GC").rotate_map_pixel(m),
}
SINGLE = {
    "remove_dipole": hp.remove_dipole,
    "fit_dipole": lambda m: np.r_[hp.fit_dipole(m)],
    "mollview": lambda m: np.asarray(hp.mollview(m, xsize=100)),
    "SHT": lambda m: hp.SHT(NSIDE, LMAX).analysis(m),
    "Radial": lambda m: hp.Radial(hp.Grid.healpix(NSIDE), "gaussian", 0.5)(m),
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_maps(kind):
    close = dict(rtol=2e-6, atol=2e-6) if kind is jax else dict(rtol=0, atol=0)  # JAX's floats are single unless told
    for functions, value in ((FUNCTIONS | SINGLE, MAP), (FUNCTIONS, MAPS)):
        for name, function in functions.items():
            got = function(kind(value))
            assert not hasattr(got, "mask")
            np.testing.assert_allclose(np.asarray(got), np.asarray(function(value)), err_msg=name, **close)


@pytest.mark.parametrize("kind", [ByDLPack, ByArray, ByInterface, torch, xarray], ids=lambda k: k.__name__)
def test_lists_of_maps_and_alm(kind):
    np.testing.assert_array_equal(hp.map2alm([kind(m) for m in MAPS], lmax=LMAX), hp.map2alm(MAPS, lmax=LMAX))
    for function in (lambda a: hp.alm2map(a, NSIDE), lambda a: hp.almxfl(a, np.ones(5)), hp.alm2cl,
                     lambda a: hp.smoothalm(a, fwhm=0.1, inplace=False), lambda a: hp.resize_alm(a, LMAX, LMAX, 8, 8),
                     lambda a: hp.alm2map_der1(a, NSIDE), lambda a: hp.SHT(NSIDE, LMAX).synthesis(a)):
        np.testing.assert_array_equal(function(kind(ALM)), function(ALM))
    np.testing.assert_array_equal(hp.alm2map([kind(ALM)] * 3, NSIDE), hp.alm2map([ALM] * 3, NSIDE))


def test_numbers_of_pixels_and_files(tmp_path):
    for kind in (ByDLPack, ByArray, torch):
        pixels = np.arange(20)
        np.testing.assert_array_equal(hp.pix2ang(8, kind(pixels)), hp.pix2ang(8, pixels))
        theta, phi = pixels / 10, pixels / 5
        np.testing.assert_array_equal(hp.ang2pix(8, kind(theta), kind(phi)), hp.ang2pix(8, theta, phi))
        hp.write_map(tmp_path / "m", kind(MAPS), overwrite=True)
        np.testing.assert_array_equal(hp.read_map(tmp_path / "m", field=None), MAPS)
        hp.write_alm(tmp_path / "a", kind(ALM), overwrite=True)
        np.testing.assert_array_equal(hp.read_alm(tmp_path / "a"), ALM)


def test_no_copy():
    for kind in (ByDLPack, ByArray, ByInterface):
        assert np.shares_memory(host(kind(MAP)), MAP)
    assert host(MAP) is MAP and host([1]) == [1] and host(2.5) == 2.5


def test_in_place():
    torch_ = pytest.importorskip("torch")
    alm, want = torch_.from_numpy(ALM.copy()), ALM.copy()
    hp.rotate_alm(alm, 0.1, 0.2, 0.3)
    hp.rotate_alm(want, 0.1, 0.2, 0.3)
    np.testing.assert_array_equal(alm.numpy(), want)


def test_missing_entries():
    pandas_ = pytest.importorskip("pandas")
    series = pandas_.Series(MAP).astype("Float64")
    series[5] = pandas_.NA
    bad = MAP.copy()
    bad[5] = hp.UNSEEN
    np.testing.assert_array_equal(hp.map2alm(series, lmax=LMAX), hp.map2alm(bad, lmax=LMAX))


def test_sizes_of_dicts():
    assert hp.get_map_size({0: 1, 767: 1}) == 768
    assert hp.get_map_size({0: 1.0, "nside": 1}) == 12
    assert hp.get_nside({48: 0}) == 4
    for bad in ({}, {"nside": 3.5}):
        with pytest.raises((TypeError, ValueError)):
            hp.get_map_size(bad)
    with pytest.raises(TypeError, match="dict"):
        hp.map2alm({0: 1.0})


def test_what_is_refused():
    for device in ((2, 0), (10, 1)):
        with pytest.raises(TypeError, match="kugel.torch"):
            hp.map2alm(ByDLPack(MAP, device))
    for bad in (3.5, None, object(), [], np.zeros(()), np.zeros((2, 2, 12)), ByArray(np.array(3.0)), [1, [2]]):
        with pytest.raises(TypeError):
            hp.map2alm(bad)


def test_gradients_name_the_module_that_has_them():
    torch_ = pytest.importorskip("torch")
    for call in (lambda m: hp.map2alm(m), lambda m: hp.SHT(NSIDE, LMAX).analysis(m), lambda m: hp.smoothing(m, 0.1),
                 lambda m: hp.anafast([m] * 3), lambda m: hp.alm2map(m + 0j, NSIDE)):
        with pytest.raises(TypeError, match="kugel.torch"):
            call(torch_.from_numpy(MAP.copy()).requires_grad_())


def test_tracers_name_the_module_for_them():
    jax_ = pytest.importorskip("jax")
    for call in (lambda m: hp.map2alm(m), lambda m: hp.smoothing(m, 0.1), lambda m: hp.SHT(NSIDE, LMAX).analysis(m)):
        with pytest.raises(TypeError, match="kugel.jax"):
            jax_.jit(call)(MAP)
