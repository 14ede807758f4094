# SPDX-License-Identifier: BSD-3-Clause
"""Spectra of masked maps against NaMaster's numbers (tests/data/golden/pseudo-cl) and by their own properties."""
import itertools
import pathlib

import numpy as np
import pytest

import kugel
import kugel.namaster as nmt
from kugel.spectra import (Bands, Couplings, Field, Spectra, apodise, coupling, covariance, mask_cl, mask_distance, pseudo_cl)

GOLDEN = pathlib.Path(__file__).parents[1] / "data/golden/pseudo-cl"
L = 32


@pytest.fixture(scope="module")
def golden():
    return np.load(GOLDEN / "spectra.npz")


@pytest.fixture(scope="module")
def matrices():
    return np.load(GOLDEN / "matrices.npz"), np.loadtxt(GOLDEN / "mask_cl.csv")


def error(got, want):
    return abs(np.asarray(got) - want).max() / abs(want).max()


@pytest.mark.parametrize("spins", [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2), (2, 3)])
def test_couplings(matrices, spins):
    want, w = matrices
    factor = 2 * np.arange(49) + 1
    xi = coupling(w, 48, spins)
    if not spins[0]:
        assert error(xi["0s" if spins[1] else "00"] * factor, want["m%d%d" % spins]) < 5e-14
    else:
        assert error(xi["plus"] * factor, want["pp%d%d" % spins]) < 1e-14
        assert error(xi["minus"] * factor, want["mm%d%d" % spins]) < 1e-14


def test_pure_couplings(matrices):
    want, w = matrices
    alm = np.zeros(kugel.Alm.getsize(95), complex)
    alm[:96] = np.sqrt(w * (2 * np.arange(96) + 1))  # some alm of that spectrum
    for names, fields in (("pp22_pure1", ("", "b")), ("pp22_pure2", ("b", "b")), ("m02_pure", (None, "b"))):
        made = []
        for purify in fields:
            f = Field(np.ones(12), None, spin=0 if purify is None else 2, lmax=48, lmax_mask=95)
            f.mask_alm, f.purify = alm, purify or ""
            made.append(f)
        c = Couplings(*made, Bands.edges([2, 20, 49], 48))
        row = {"pp22_pure1": "EB", "pp22_pure2": "BB", "m02_pure": "TB"}[names]
        got = np.empty((49, 49))
        for l in range(49):
            unit = np.zeros(49)
            unit[l] = 1
            got[:, l] = c.couple({row: unit})[c.names.index(row)]
        assert error(got[2:, 2:], want[names][2:, 2:]) < 5e-12


def test_apodise(golden):
    angle = np.radians(float(golden["apo_deg"]))
    assert error(apodise(golden["mask"], angle), golden["c1"]) < 5e-14
    assert error(apodise(golden["mask"], angle, "C2"), golden["c2"]) < 5e-14
    assert error(apodise(golden["mask_b"], angle), golden["c1_b"]) < 5e-14
    assert (mask_distance(golden["mask_b"])[golden["mask_b"] == 0] == 0).all()


def fields(golden, iterations, **more):
    common = {"lmax": L, "lmax_mask": 47, "beam": golden["beam"], "iterations": iterations}
    return (Field(golden["c1"], golden["T"], **common, **more), Field(golden["c1_b"], [golden["Q"], golden["U"]], **common))


@pytest.mark.parametrize("iterations", [0, 3])
def test_bandpowers(golden, iterations):
    t, p = fields(golden, iterations)
    l = np.arange(L + 1)
    bands = Bands(golden["bin"], golden["bin_weight"], l * (l + 1) / (2 * np.pi))
    for name, pair in {"00": (t, t), "02": (t, p), "22": (p, p)}.items():
        s = Spectra(*pair, bands)
        end = f"{name}_it{iterations}"
        assert error(mask_cl(*pair), golden["wcl" + end]) < 1e-14
        assert error([s.pseudo[n] for n in s.names], golden["pcl" + end]) < 1e-13
        assert error([s.bandpowers[n] for n in s.names], golden["cl" + end]) < 1e-12
        if not iterations:
            assert error(s.window_array(), golden["win" + name]) < 1e-12
        assert s.windows[s.names[0], s.names[-1]].shape == (bands.count, L + 1)
        theory = np.random.default_rng(1).random((len(s.names), L + 1))
        assert error(np.einsum("ibjl,jl->ib", s.window_array(), theory), s.decouple(s.couple(theory))) < 1e-13
        noise = s.couple(theory)
        assert error(s.decouple(noise + np.array(list(s.pseudo.values())), noise), golden["cl" + end]) < 1e-11
    clean, _ = fields(golden, iterations, templates=golden["template"])
    assert error(pseudo_cl(clean, clean), golden[f"pcl_deproj_it{iterations}"]) < 1e-13


@pytest.mark.parametrize("iterations", [0, 3])
def test_covariance(golden, iterations):
    t, p = fields(golden, iterations)
    l = np.arange(L + 1)
    bands = Bands(golden["bin"], golden["bin_weight"], l * (l + 1) / (2 * np.pi))
    tt, pp, tp = Couplings(t, t, bands), Couplings(p, p, bands), Couplings(t, p, bands)
    cov = covariance(tt, tt, (t,) * 4, [(l + 3.) ** -2] * 4)
    assert error(cov[0, :, 0], golden[f"cov0000_it{iterations}"]) < 1e-12
    zero = 0. * l
    cl = np.array([.1 * (l + 5.) ** -2, zero, zero, .01 * (l + 5.) ** -2])
    cov = covariance(pp, pp, (p,) * 4, [cl] * 4)
    n = 4 * bands.count
    assert error(cov.transpose(1, 0, 3, 2).reshape(n, n), golden[f"cov2222_it{iterations}"]) < 1e-12
    te = np.array([0.3 * cl[0], zero])
    one = covariance(tt, tp, (t, t, t, p), [cl[:1], te, cl[:1], te])
    two = covariance(tp, tt, (t, p, t, t), [cl[:1], cl[:1], te, te])
    assert error(one, two.transpose(2, 3, 0, 1)) < 1e-12


def test_covariance_of_the_whole_sky():
    """(C^ac C^bd + C^ad C^bc) / (2 l + 1), for all spins."""
    lmax, rng = 12, np.random.default_rng(3)
    f = {s: Field(np.ones(12 * 16 ** 2), None, spin=s, lmax=lmax) for s in (0, 2)}
    one = np.zeros(kugel.Alm.getsize(47), complex)
    one[0] = np.sqrt(4 * np.pi)
    bands = Bands(np.arange(lmax + 1) - 2 + (np.arange(lmax + 1) < 2) * (1 - np.arange(lmax + 1)))
    for x in f.values():
        x.mask_alm = one
    cl, comp = {}, {0: "T", 2: "EB"}
    for x, y in itertools.combinations_with_replacement("TEB", 2):
        cl[x + y] = cl[y + x] = rng.random(lmax + 1)
    for spins in itertools.product((0, 2), repeat=4):
        a, b, c, d = (f[s] for s in spins)
        pairs = [[cl[x + y] for x in comp[i] for y in comp[j]] for i, j in
                 ((spins[0], spins[2]), (spins[0], spins[3]), (spins[1], spins[2]), (spins[1], spins[3]))]
        first, second = Couplings(a, b, bands), Couplings(c, d, bands)
        got = covariance(first, second, (a, b, c, d), pairs)
        for i, (p, q) in enumerate(itertools.product(comp[spins[0]], comp[spins[1]])):
            for j, (r, s) in enumerate(itertools.product(comp[spins[2]], comp[spins[3]])):
                want = np.diag(((cl[p + r] * cl[q + s] + cl[p + s] * cl[q + r]) / (2 * np.arange(lmax + 1) + 1))[2:])
                assert abs(got[i, :, j] - want).max() < 1e-4  # the mask's product is analysed with 3 iterations


def test_unbiased():
    """The mean over skies of bandpowers is windows times theory, within its scatter, which the covariance predicts."""
    nside, lmax, skies = 32, 64, 200
    v = np.array(kugel.pix2vec(nside, np.arange(12 * nside ** 2)))
    mask = apodise((abs(v[2]) > 0.3).astype(float), np.radians(10))
    l = np.arange(lmax + 1)
    theory = 1.0 / (l + 10.) ** 2
    theory[:2] = 0
    bands = Bands.linear(lmax, 8)
    empty = Field(mask, None, lmax=lmax)
    plan = Couplings(empty, empty, bands)
    got = []
    for i in range(skies):
        np.random.seed(i)
        alm = kugel.synalm(theory, lmax=lmax)
        f = Field(mask, kugel.alm2map(alm, nside, lmax=lmax), lmax=lmax, iterations=1)
        got.append(plan.decouple(pseudo_cl(f, f, lmax))[0])
    got = np.array(got)
    want = plan.window_array()[0, :, 0] @ theory
    coupled = plan.couple(theory) / np.mean(mask ** 2)
    sigma = np.sqrt(np.diag(covariance(plan, plan, (empty,) * 4, [coupled] * 4)[0, :, 0]))
    assert (abs(got.mean(axis=0) - want) < 4 * sigma / np.sqrt(skies)).all()
    assert (abs(got.std(axis=0) / sigma - 1) < 0.25).all()


def test_namaster(golden):
    nmt_t = nmt.NmtField(golden["c1"], [golden["T"]], lmax=L, lmax_mask=47, beam=golden["beam"], n_iter=0, n_iter_mask=0)
    nmt_p = nmt.NmtField(golden["c1_b"], [golden["Q"], golden["U"]], lmax=L, lmax_mask=47, beam=golden["beam"], n_iter=0,
                         n_iter_mask=0)
    l = np.arange(L + 1)
    b = nmt.NmtBin(bpws=golden["bin"], ells=l, weights=golden["bin_weight"], lmax=L, is_Dell=True)
    assert error(nmt.compute_full_master(nmt_t, nmt_p, b), golden["cl02_it0"]) < 1e-12
    w = nmt.NmtWorkspace.from_fields(nmt_p, nmt_p, b)
    assert error(w.get_bandpower_windows(), golden["win22"]) < 1e-12
    cl = np.random.default_rng(2).random((4, L + 1))
    matrix = w.get_coupling_matrix()
    assert error(w.couple_cell(cl), (matrix @ cl.T.ravel()).reshape(L + 1, 4).T) < 1e-13
    assert error(nmt.mask_apodization(golden["mask"], float(golden["apo_deg"]), "C2"), golden["c2"]) < 5e-14
    wt = nmt.NmtWorkspace.from_fields(nmt_t, nmt_t, b)
    c = [(l + 3.) ** -2]
    cov = nmt.gaussian_covariance(nmt.NmtCovarianceWorkspace.from_fields(nmt_t, nmt_t), 0, 0, 0, 0, c, c, c, c, wt)
    assert error(cov, golden["cov0000_it0"]) < 1e-12
    masked = nmt.NmtField(golden["c1"], [golden["T"] * golden["c1"]], lmax=L, lmax_mask=47, beam=golden["beam"], n_iter=0,
                          n_iter_mask=0, masked_on_input=True)
    assert error(nmt.compute_coupled_cell(masked, masked), golden["pcl00_it0"]) < 1e-13
    bins = nmt.NmtBin.from_lmax_linear(47, 5)
    assert bins.get_n_bands() == 9 and bins.get_ell_min(0) == 2 and bins.get_ell_max(8) == 46
    assert np.allclose(bins.bin_cell(bins.unbin_cell(np.arange(9.))), np.arange(9))


def test_several_masks_and_maps(golden):
    w = np.random.default_rng(1).uniform(size=(2, 3, 41))
    many = kugel.spectra.coupling(w, 20, (2, 2))
    assert list(many) == ["plus", "minus"] and many["plus"].shape == (2, 3, 21, 21)
    one = kugel.spectra.coupling(w[1, 2], 20, (2, 2))
    assert np.array_equal(many["minus"][1, 2], one["minus"])
    c = Couplings(*2 * [Field(golden["mask"], None, lmax=L)], Bands.linear(L, 4))
    cl = np.random.default_rng(2).uniform(size=(3, 2, 1, L + 1))
    assert np.array_equal(c.decouple(cl)[2, 1], c.decouple(cl[2, 1]))


def test_devices(golden):
    device = next((d["name"] for d in kugel.devices() if d["available"] and d["kernels"] and d["name"] != "cpu"), None)
    if device is None:
        pytest.skip("there is no device")
    w = np.random.default_rng(1).uniform(size=(3, 41))
    here, there = (kugel.spectra.coupling(w, 20, (2, 2), device=d) for d in (None, device))
    assert all(error(there[k], here[k]) < 1e-13 for k in here)
    maps, results = [golden["Q"], golden["U"]], []
    for d in None, device:
        f = Field(golden["mask"], maps, lmax=L, iterations=0, device=d)
        s = Spectra(f, f, Bands.linear(L, 8), device=d)
        results.append((s.bandpowers["EE"], s.windows["EE", "BB"], kugel.spectra.covariance(s, s, (f, f, f, f), [s.couple(
            np.ones((4, L + 1)))] * 4)))
    for a, b in zip(*results):
        assert error(b, a) < 1e-10


def test_bands():
    b = Bands.linear(20, 5, dl=True)
    assert b.count == 3 and list(np.bincount(b.band[b.band >= 0])) == [5, 5, 5] and b.band[17] == -1
    assert np.allclose(b.centres, [4, 9, 14])
    b = Bands.edges([2, 5, 11])
    assert b.lmax == 10 and np.allclose(b.of(np.arange(11.)), [3, 7.5])
    for bad in (lambda: Bands.linear(20, 50), lambda: Bands.edges([5, 3]), lambda: Bands([-1, -1])):
        with pytest.raises(ValueError):
            bad()


def test_bad_input(golden):
    mask = golden["mask"]
    with pytest.raises(ValueError, match="kind is 'c9'"):
        apodise(mask, 0.1, "c9")
    with pytest.raises(ValueError, match="radius"):
        apodise(mask, -1)
    with pytest.raises(ValueError, match="spin is 0 and there are 2 maps"):
        Field(mask, [mask, mask], spin=0)
    with pytest.raises(ValueError, match="purify"):
        Field(mask, [mask, mask], purify="x")
    bad = golden["T"].copy()
    bad[np.flatnonzero(mask)[5]] = kugel.UNSEEN
    with pytest.raises(ValueError, match=f"pixel {np.flatnonzero(mask)[5]} of map 0"):
        Field(mask, bad)
    f = Field(mask, None, lmax=L)
    with pytest.raises(ValueError, match="without maps"):
        pseudo_cl(f, f)
    with pytest.raises(ValueError, match="bands reach lmax 40"):
        Couplings(f, f, Bands.linear(40, 4))
    with pytest.raises(ValueError, match="degrees 0 to 1"):
        p = Field(mask, None, spin=2, lmax=L)
        Couplings(p, p, Bands.edges([0, 2, 33]))
    c = Couplings(f, f, Bands.linear(L, 4))
    with pytest.raises(ValueError, match="cl has EE"):
        c.couple({"EE": np.zeros(L + 1)})
