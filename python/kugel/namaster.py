# SPDX-License-Identifier: BSD-3-Clause
"""NaMaster's objects and functions (pymaster 2 and 3) for maps on the sphere, with its arguments, defaults and layouts.

    import kugel.namaster as nmt
    f0 = nmt.NmtField(mask, [t]); f2 = nmt.NmtField(mask, [q, u], purify_b=True)
    b = nmt.NmtBin.from_nside_linear(nside, 30)
    cl = nmt.compute_full_master(f0, f2, b)

Results agree with NaMaster's to rounding (docs/spectra.md has the table). Not here: flat maps, catalogues, anisotropic masks, and files of
workspaces. Arguments of the Toeplitz approximation are accepted and have no effect: couplings are exact and cost less than it.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import spectra
from .maps import get_nside
from .spectra import Bands, Couplings, Field, pseudo_cl

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["NmtBin", "NmtField", "NmtWorkspace", "NmtCovarianceWorkspace", "compute_coupled_cell", "compute_full_master", "gaussian_covariance",
           "mask_apodization"]


def mask_apodization(mask_in: npt.ArrayLike, aposize: float, apotype: str = "C1") -> np.ndarray:
    """Apodised mask; aposize in degrees, apotype "C1", "C2" or "Smooth". See kugel.spectra.apodise."""
    if str(apotype) not in ("C1", "C2", "Smooth"):
        raise ValueError(f"apotype is {apotype!r}; allowed are 'C1', 'C2', 'Smooth'")
    if not aposize > 0:
        return np.array(mask_in, np.float64)
    return spectra.apodise(mask_in, np.radians(aposize), apotype)


class NmtBin:
    """Bandpowers. bpws, ells, weights, f_ell: one entry per degree; or by from_nside_linear, from_lmax_linear, from_edges."""

    def __init__(self, *, bpws: npt.ArrayLike | None = None, ells: npt.ArrayLike | None = None, lmax: int | None = None,
                 weights: Any = None, is_Dell: bool = False, f_ell: npt.ArrayLike | None = None) -> None:
        if bpws is None or ells is None or weights is None:
            raise ValueError("bpws, ells and weights are needed; NmtBin.from_lmax_linear makes them")
        bpws, ells, weights = (np.asarray(a) for a in (bpws, ells, weights))
        lmax = int(ells.max()) if lmax is None else int(lmax)
        band, weight, factor = np.full(lmax + 1, -1), np.zeros(lmax + 1), np.ones(lmax + 1)
        keep = (ells >= 0) & (ells <= lmax) & (bpws >= 0)
        band[ells[keep]], weight[ells[keep]] = bpws[keep], weights[keep]
        if is_Dell:
            l = np.arange(lmax + 1)
            factor = l * (l + 1) / (2 * np.pi)
        elif f_ell is not None:
            factor[ells[keep]] = np.asarray(f_ell, float)[keep]
        self._set(Bands(band, weight, factor))

    def _set(self, bands):
        self.bands, self.lmax = bands, bands.lmax
        return self

    @classmethod
    def _of(cls, bands):
        return cls.__new__(cls)._set(bands)

    @classmethod
    def from_nside_linear(cls, nside: int, nlb: int, is_Dell: bool = False, f_ell: npt.ArrayLike | None = None) -> NmtBin:
        return cls.from_lmax_linear(3 * nside - 1, nlb, is_Dell, f_ell)

    @classmethod
    def from_lmax_linear(cls, lmax: int, nlb: int, is_Dell: bool = False, f_ell: npt.ArrayLike | None = None) -> NmtBin:
        return cls._of(cls._factor(Bands.linear(lmax, nlb), is_Dell, f_ell))

    @classmethod
    def from_edges(cls, ell_ini: npt.ArrayLike, ell_end: npt.ArrayLike, is_Dell: bool = False,
                   f_ell: npt.ArrayLike | None = None) -> NmtBin:
        lmax = int(np.max(ell_end)) - 1
        band = np.full(lmax + 1, -1)
        for i, (lo, hi) in enumerate(zip(ell_ini, ell_end)):
            band[lo:hi] = i
        return cls._of(cls._factor(Bands(band), is_Dell, f_ell))

    @staticmethod
    def _factor(bands, is_Dell, f_ell):
        l = np.arange(bands.lmax + 1)
        factor = l * (l + 1) / (2 * np.pi) if is_Dell else f_ell
        return Bands(bands.band, bands.weight, factor)

    def get_n_bands(self) -> int:
        return self.bands.count

    def get_effective_ells(self) -> np.ndarray:
        return self.bands.centres

    def get_ell_list(self, index: int) -> np.ndarray:
        return np.flatnonzero(self.bands.band == index)

    def get_weight_list(self, index: int) -> np.ndarray:
        weight = np.ones(self.lmax + 1) if self.bands.weight is None else self.bands.weight
        weight = weight[self.bands.band == index]
        return weight / weight.sum()

    def get_ell_min(self, index: int) -> int:
        return int(self.get_ell_list(index)[0])

    def get_ell_max(self, index: int) -> int:
        return int(self.get_ell_list(index)[-1])

    def bin_cell(self, cls_in: npt.ArrayLike) -> Any:
        """[..., lmax + 1] -> [..., bands]"""
        cls_in = np.asarray(cls_in, float)
        if cls_in.shape[-1] < self.lmax + 1:
            raise ValueError(f"cls_in has {cls_in.shape[-1]} degrees; expected {self.lmax + 1}")
        return self.bands.of(cls_in)

    def unbin_cell(self, cls_in: npt.ArrayLike) -> Any:
        """[..., bands] -> [..., lmax + 1], constant (over f_ell) in each band."""
        cls_in = np.asarray(cls_in, float)
        out = np.zeros(cls_in.shape[:-1] + (self.lmax + 1,))
        inside = self.bands.band >= 0
        factor = np.ones(self.lmax + 1) if self.bands.factor is None else np.where(self.bands.factor > 0, self.bands.factor, 1)
        out[..., inside] = cls_in[..., self.bands.band[inside]] / factor[inside]
        return out


class NmtField:
    """A masked field. mask, maps, spin, templates, beam, purify_e, purify_b, n_iter, n_iter_mask, tol_pinv, lmax, lmax_mask,
    masked_on_input: as in pymaster. maps None: only the mask (spin is needed)."""

    def __init__(self, mask: npt.ArrayLike, maps: npt.ArrayLike | None, *, spin: int | None = None, templates: Any = None,
                 beam: npt.ArrayLike | None = None, purify_e: bool = False, purify_b: bool = False, n_iter: int = 3, n_iter_mask: int = 3,
                 tol_pinv: float = 1e-10, wcs: Any = None, lmax: int | None = None, lmax_mask: int | None = None,
                 masked_on_input: bool = False, lite: bool = False) -> None:
        if wcs is not None:
            raise ValueError("wcs is given: only HEALPix maps are supported")
        mask = np.array(mask, np.float64)
        nside = get_nside(mask)
        lmax = 3 * nside - 1 if lmax is None or lmax < 0 else lmax
        lmax_mask = 3 * nside - 1 if lmax_mask is None or lmax_mask < 0 else lmax_mask
        if maps is None and spin is None:
            raise ValueError("maps is None: give the spin")
        if maps is not None:
            maps = np.array(maps, np.float64)
            maps = np.atleast_2d(maps)
            if masked_on_input:
                if purify_e or purify_b:
                    raise ValueError("masked_on_input: pure components need maps that are not multiplied by the mask")
                seen = mask != 0
                maps = np.where(seen, maps / np.where(seen, mask, 1), 0)
                if templates is not None:
                    templates = np.where(seen, np.asarray(templates, float) / np.where(seen, mask, 1), 0)
        if n_iter != n_iter_mask:
            own = Field(mask, None, spin=0, lmax=0, lmax_mask=lmax_mask, iterations=n_iter_mask)
        self.field = Field(mask, maps, spin=spin, lmax=lmax, lmax_mask=lmax_mask, iterations=n_iter,
                           beam=None if beam is None else np.asarray(beam, float)[:lmax + 1],
                           purify=("e" if purify_e else "") + ("b" if purify_b else ""), templates=templates,
                           template_cutoff=tol_pinv, beyond_mask=not masked_on_input)
        if n_iter != n_iter_mask:
            self.field.mask_alm = own.mask_alm
        self.spin, self.nmaps = self.field.spin, 2 if self.field.spin else 1
        self.ainfo, self.beam = None, np.ones(lmax + 1) if self.field.beam is None else self.field.beam

    def get_mask(self) -> Any:
        return self.field.mask

    def get_mask_alms(self) -> Any:
        return self.field.mask_alm

    def get_alms(self) -> Any:
        if self.field.alm is None:
            raise ValueError("the field was made without maps; it has no coefficients")
        return self.field.alm


def compute_coupled_cell(f1: NmtField, f2: NmtField) -> np.ndarray:
    """Pseudo-spectra [1, 2 or 4, lmax + 1]."""
    return pseudo_cl(f1.field, f2.field)


class NmtWorkspace:
    """Couplings of a pair of fields: NmtWorkspace.from_fields(f1, f2, b), or compute_coupling_matrix."""

    def __init__(self) -> None:
        self.couplings = None

    @classmethod
    def from_fields(cls, fl1: NmtField, fl2: NmtField, bins: NmtBin, is_teb: bool = False, l_toeplitz: int = -1, l_exact: int = -1,
                    dl_band: int = -1, normalization: str = "MASTER") -> NmtWorkspace:
        w = cls()
        w.compute_coupling_matrix(fl1, fl2, bins, is_teb, l_toeplitz, l_exact, dl_band, normalization)
        return w

    def compute_coupling_matrix(self, fl1: NmtField, fl2: NmtField, bins: NmtBin, is_teb: bool = False, l_toeplitz: int = -1,
                                l_exact: int = -1, dl_band: int = -1, normalization: str = "MASTER") -> Any:
        if is_teb:
            raise ValueError("is_teb is not supported: make a workspace of each pair of fields")
        if normalization != "MASTER":
            raise ValueError(f"normalization is {normalization!r}; only 'MASTER' is supported")
        self.couplings = Couplings(fl1.field, fl2.field, bins.bands)
        self._fields = fl1.field, fl2.field

    def _ready(self):
        if self.couplings is None:
            raise ValueError("the workspace is empty: call compute_coupling_matrix first")
        return self.couplings

    def couple_cell(self, cl_in: npt.ArrayLike) -> Any:
        return self._ready().couple(np.asarray(cl_in, float)[..., :self._ready().lmax + 1])

    def decouple_cell(self, cl_in: npt.ArrayLike, cl_bias: npt.ArrayLike | None = None, cl_noise: npt.ArrayLike | None = None) -> Any:
        noise = [np.asarray(a, float)[..., :self._ready().lmax + 1] for a in (cl_bias, cl_noise) if a is not None]
        return self._ready().decouple(cl_in, sum(noise) if noise else None)

    def get_bandpower_windows(self) -> Any:
        """[spectra, bands, spectra, lmax + 1]"""
        return self._ready().window_array()

    def get_coupling_matrix(self) -> Any:
        """Dense [(lmax + 1) spectra, (lmax + 1) spectra], the spectrum the faster index: memory grows with its square."""
        c, n = self._ready(), len(self._ready().names)
        if any(f.purify for f in self._fields):
            raise ValueError("the matrix of purified fields is not made; couple_cell and get_bandpower_windows are exact")
        out = np.zeros((c.lmax + 1, n, c.lmax + 1, n))
        xi = spectra.coupling(spectra.mask_cl(*self._fields), c.lmax, [f.spin for f in self._fields])
        factor = 2 * np.arange(c.lmax + 1) + 1.0
        for f in self._fields:
            factor = factor if f.beam is None else factor * f.beam[:c.lmax + 1]
        for i in range(n):
            out[:, i, :, i] = xi["plus" if n == 4 else "0s" if n == 2 else "00"] * factor
            if n == 4:
                out[:, i, :, 3 - i] = xi["minus"] * factor * (1 if i in (0, 3) else -1)
        return out.reshape(n * (c.lmax + 1), n * (c.lmax + 1))


def compute_full_master(f1: NmtField, f2: NmtField, b: NmtBin | None = None, cl_noise: npt.ArrayLike | None = None,
                        cl_guess: npt.ArrayLike | None = None, workspace: NmtWorkspace | None = None, l_toeplitz: int = -1,
                        l_exact: int = -1, dl_band: int = -1, normalization: str = "MASTER") -> np.ndarray:
    """Bandpowers [1, 2 or 4, bands] of a pair of fields. cl_guess (for the bias of templates) is not supported."""
    if cl_guess is not None:
        raise ValueError("cl_guess is not supported: the bias of deprojected templates is not computed")
    if workspace is None:
        if b is None:
            raise ValueError("give bands b or a workspace")
        workspace = NmtWorkspace.from_fields(f1, f2, b, normalization=normalization)
    return workspace.decouple_cell(pseudo_cl(f1.field, f2.field, workspace.couplings.lmax), cl_noise=cl_noise)


class NmtCovarianceWorkspace:
    """The fields of a covariance: NmtCovarianceWorkspace.from_fields(fla1, fla2, flb1, flb2)."""

    def __init__(self) -> None:
        self.fields = None

    @classmethod
    def from_fields(cls, fla1: NmtField, fla2: NmtField, flb1: NmtField | None = None, flb2: NmtField | None = None, l_toeplitz: int = -1,
                    l_exact: int = -1, dl_band: int = -1, spin0_only: bool = False, **_: Any) -> NmtCovarianceWorkspace:
        w = cls()
        w.compute_coupling_coefficients(fla1, fla2, flb1, flb2)
        return w

    def compute_coupling_coefficients(self, fla1: NmtField, fla2: NmtField, flb1: NmtField | None = None, flb2: NmtField | None = None,
                                      *_: Any, **__: Any) -> Any:
        self.fields = [f.field for f in (fla1, fla2, flb1 or fla1, flb2 or fla2)]


def gaussian_covariance(cw: NmtCovarianceWorkspace, spin_a1: int, spin_a2: int, spin_b1: int, spin_b2: int, cla1b1: npt.ArrayLike,
                        cla1b2: npt.ArrayLike, cla2b1: npt.ArrayLike, cla2b2: npt.ArrayLike, wa: NmtWorkspace,
                        wb: NmtWorkspace | None = None, coupled: bool = False) -> np.ndarray:
    """Covariance of bandpowers, [bands spectra of a, bands spectra of b], the spectrum the faster index."""
    if coupled:
        raise ValueError("coupled=True is not supported: covariances are of bandpowers")
    if cw.fields is None:
        raise ValueError("the covariance workspace is empty: call compute_coupling_coefficients first")
    spins = [f.spin for f in cw.fields]
    if spins != [spin_a1, spin_a2, spin_b1, spin_b2]:
        raise ValueError(f"spins are {[spin_a1, spin_a2, spin_b1, spin_b2]}; the fields have {spins}")
    one, two = wa._ready(), (wb or wa)._ready()
    out = spectra.covariance(one, two, cw.fields, (cla1b1, cla1b2, cla2b1, cla2b2))
    return out.transpose(1, 0, 3, 2).reshape(one.bands.count * len(one.names), -1)
