# SPDX-License-Identifier: BSD-3-Clause
"""Power spectra of masked maps: pseudo-spectra, coupling matrices, bandpowers, their windows and Gaussian covariances.

    mask = kugel.spectra.apodise(seen, numpy.radians(2))
    t = kugel.spectra.Field(mask, temperature)
    p = kugel.spectra.Field(mask, [q, u], purify="b")
    bands = kugel.spectra.Bands.linear(t.lmax, 30)
    s = kugel.spectra.Spectra(p, p, bands)
    s.bandpowers["BB"], s.windows["BB", "EE"]           # [bands], [bands, lmax + 1]

With C_l the spectra of the fields, the mean bandpowers are the sum of windows times C_l: compare data with theory by them. Spectra of
a pair are named and ordered TT; TE, TB; EE, EB, BE, BB. `kugel.namaster` has these objects with NaMaster's names and arguments.
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._lib import Handle, lib, long_call, options, ptr, view
from .alms import alm2cl
from .hardware import context
from .maps import get_nside
from .plans import Grid
from .units import takes

if TYPE_CHECKING:
    import numpy.typing as npt

_KINDS = {"c1": _ffi.KUGEL_APODISE_C1, "c2": _ffi.KUGEL_APODISE_C2, "gauss": _ffi.KUGEL_APODISE_GAUSS}
_FAMILIES = {"00": _ffi.KUGEL_COUPLING_00, "0s": _ffi.KUGEL_COUPLING_0S, "plus": _ffi.KUGEL_COUPLING_PLUS,
             "minus": _ffi.KUGEL_COUPLING_MINUS}
_WEIGHTS = {None: _ffi.KUGEL_WEIGHTS_DEFAULT, "ring": _ffi.KUGEL_WEIGHTS_RING, "pixel": _ffi.KUGEL_WEIGHTS_PIXEL}


def _numbers(a, shape, name):
    a = np.ascontiguousarray(a, np.float64)
    if a.shape != shape:
        raise ValueError(f"{name} has shape {a.shape}; expected {shape}")
    return a


def _address(device):  # of its context; None: the CPU
    return getattr(context(device), "address", None)


def _mask(mask):
    mask = np.ascontiguousarray(mask, np.float64)
    return mask, get_nside(mask)


@takes("radius")
def apodise(mask: npt.ArrayLike, radius: float, kind: str = "c1") -> Any:
    """A mask times a window that falls smoothly to 0 at the masked pixels (those not above 0).

    mask:   [npix] HEALPix, RING order
    radius: in radians: where the window reaches 1
    kind:   of x = sqrt((1 - cos t) / (1 - cos radius)), t the angle to the nearest masked pixel's centre:
            "c1" x - sin(2 pi x) / (2 pi), "c2" (1 - cos(pi x)) / 2; "gauss" is 0 within 2.5 radius, then smoothed by a Gaussian of
            sigma = radius. NaMaster calls them "C1", "C2" and "Smooth".
    Returns float64 [npix].
    """
    mask, nside = _mask(mask)
    kind = str(kind).lower()
    kind = "gauss" if kind == "smooth" else kind
    if kind not in _KINDS:
        raise ValueError(f"kind is {kind!r}; allowed are 'c1', 'c2', 'gauss'")
    out = np.empty_like(mask)
    opts = options(_ffi.kugel_apodise_opts, nside=nside, kind=_KINDS[kind], radius=float(radius))
    long_call(lib.kugel_apodise, None, ctypes.byref(opts), ptr(mask), ptr(out))
    return out


@takes("limit")
def mask_distance(mask: npt.ArrayLike, limit: float = np.pi) -> Any:
    """Angle in radians from each pixel's centre to that of the nearest masked pixel (those not above 0); pi beyond `limit`.

    mask: [npix] HEALPix, RING order. Returns float64 [npix]. `kugel.dist2holes` is the same with healpy's arguments.
    """
    mask, nside = _mask(mask)
    out = np.empty_like(mask)
    long_call(lib.kugel_mask_distance, None, nside, float(limit), ptr(mask), ptr(out))
    return out


def coupling(mask_cl: npt.ArrayLike, lmax: int, spins: Any = (0, 0), families: Any = None, device: str | None = None) -> Any:
    """Couplings Xi(l, l') of the degrees of masked fields: the mean pseudo-spectrum is sum_l' (2 l' + 1) Xi(l, l') C_l'.

    mask_cl:  [lmax_mask + 1] spectrum of the mask, or cross spectrum of two; [masks..., lmax_mask + 1]: of several
    lmax:     of the fields
    spins:    of the two fields, 0 to 5
    families: some of "00", "0s" (spin 0 with spins[1]), "plus" (EE from EE), "minus" (EE from BB); None: those of the spins
    device:   such as "cuda:0", where they are computed; None: the CPU
    Returns a dict of float64 [masks..., lmax + 1, lmax + 1]. All four at once cost less than one after the other.
    """
    mask_cl = np.ascontiguousarray(mask_cl, np.float64)
    if not mask_cl.ndim or not mask_cl.size:
        raise ValueError(f"mask_cl has shape {mask_cl.shape}; expected [lmax_mask + 1] or [masks..., lmax_mask + 1]")
    if families is None:
        families = ("plus", "minus") if all(spins) else ("0s",) if any(spins) else ("00",)
        spins = spins if all(spins) else (0, max(spins))
    families = [name for name in _FAMILIES if name in tuple(families)]
    xi = np.empty(mask_cl.shape[:-1] + (len(families), lmax + 1, lmax + 1))
    opts = options(_ffi.kugel_coupling_opts, lmax=lmax, lmax_mask=mask_cl.shape[-1] - 1, spin1=spins[0], spin2=spins[1],
                   families=sum(_FAMILIES[name] for name in families))
    long_call(lib.kugel_couplings, _address(device), ctypes.byref(opts), view(mask_cl), view(xi), None)
    return {name: xi[..., i, :, :] for i, name in enumerate(families)}


class Bands:
    """Bands of degrees: which degree is of which band, with what weight, and the factor of bandpowers.

    band:   [lmax + 1] numbers from 0, -1 for degrees of none
    weight: [lmax + 1] within a band, scaled to sum 1; None: equal
    factor: [lmax + 1] bandpowers are of factor C_l, such as l (l + 1) / 2 pi; None: 1
    """

    def __init__(self, band: npt.ArrayLike, weight: npt.ArrayLike | None = None, factor: npt.ArrayLike | None = None) -> None:
        self.band = np.ascontiguousarray(band, np.int32)
        if self.band.ndim != 1 or not self.band.size or self.band.max() < 0:
            raise ValueError("band must be one number per degree, at least one of them not negative")
        shape = self.band.shape
        self.weight = None if weight is None else _numbers(weight, shape, "weight")
        self.factor = None if factor is None else _numbers(factor, shape, "factor")
        #: highest degree, number of bands
        self.lmax, self.count = self.band.size - 1, int(self.band.max()) + 1

    @classmethod
    def linear(cls, lmax: int, width: int, first: int = 2, dl: bool = False) -> Bands:
        """Bands of `width` degrees each from `first` on; an incomplete last one is left out. dl: of l (l + 1) C_l / 2 pi."""
        if not 1 <= width <= lmax + 1 - first or first < 0:
            raise ValueError(f"width is {width} and first {first}; there must be a band up to lmax {lmax}")
        l = np.arange(lmax + 1)
        band = np.where(l < first, -1, (l - first) // width)
        band[band >= (lmax + 1 - first) // width] = -1
        return cls(band, factor=l * (l + 1) / (2 * np.pi) if dl else None)

    @classmethod
    def edges(cls, edges: npt.ArrayLike, lmax: int | None = None, dl: bool = False) -> Bands:
        """Bands edges[i] <= l < edges[i + 1]; lmax: default edges[-1] - 1."""
        edges = np.asarray(edges, int)
        if edges.ndim != 1 or edges.size < 2 or (np.diff(edges) <= 0).any() or edges[0] < 0:
            raise ValueError("edges must be at least two rising degrees")
        lmax = int(edges[-1]) - 1 if lmax is None else int(lmax)
        l = np.arange(lmax + 1)
        band = np.searchsorted(edges, l, "right") - 1
        band[(l < edges[0]) | (l >= edges[-1])] = -1
        return cls(band, factor=l * (l + 1) / (2 * np.pi) if dl else None)

    @property
    def centres(self) -> Any:
        """Effective degree of each band: the weighted mean."""
        inside = self.band >= 0
        weight = np.ones(self.lmax + 1) if self.weight is None else self.weight
        return (np.bincount(self.band[inside], (weight * np.arange(self.lmax + 1))[inside], self.count)
                / np.bincount(self.band[inside], weight[inside], self.count))

    def of(self, cl: npt.ArrayLike) -> Any:
        """Weighted means over bands of factor cl; cl [..., lmax + 1] -> [..., bands]."""
        cl, inside = np.asarray(cl, np.float64)[..., :self.lmax + 1], self.band >= 0
        weight = np.ones(self.lmax + 1) if self.weight is None else self.weight
        p = np.zeros((self.count, self.lmax + 1))
        p[self.band[inside], np.flatnonzero(inside)] = weight[inside]
        p /= p.sum(axis=1, keepdims=True)
        return cl * (1 if self.factor is None else np.where(self.factor > 0, self.factor, 1)) @ p.T


class Field:
    """A masked field: its coefficients and those of its mask.

    mask:       [npix] HEALPix, RING order; maps may hold anything where it is 0
    maps:       one map (spin 0) or two (Q and U of spin 2, or the pair of another spin), not multiplied by the mask;
                None: only the mask
    spin:       None: 0 for one map, 2 for two
    lmax:       None: 3 nside - 1
    lmax_mask:  of the mask's coefficients; None: 3 nside - 1
    beam:       [lmax + 1 or more] window of the field, the pixel's too; None: 1
    purify:     "", "e", "b" or "eb": these components become pure (spin 2; the mask must go smoothly to 0)
    beyond_mask: pure components use the maps where the mask is 0 too, UNSEEN aside: purer if the mask falls within few pixels,
                but what is bright beyond the mask leaks in
    templates:  maps of contaminants, [n, 1 or 2, npix]: removed
    iterations: refinements of each analysis
    weights:    None, "ring" or "pixel": quadrature weights of the analysis
    device:     such as "cuda:0", where the analysis runs; None: the CPU

    alm [1 or 2, nalm], mask_alm [nalm of lmax_mask], lmax, lmax_mask, spin, beam, mask.
    """

    def __init__(self, mask: npt.ArrayLike, maps: npt.ArrayLike | None, *, spin: int | None = None, lmax: int | None = None,
                 lmax_mask: int | None = None, beam: npt.ArrayLike | None = None, purify: str = "", templates: Any = None,
                 iterations: int = 3, weights: Any = None, template_cutoff: float = 0.0, beyond_mask: bool = False,
                 device: str | None = None) -> None:
        self._address = _address(device)
        self.mask, nside = _mask(mask)
        grid, npix = Grid.healpix(nside), self.mask.size
        if maps is not None:
            maps = np.ascontiguousarray(maps, np.float64)
            maps = maps.reshape(1, -1) if maps.ndim == 1 else maps
            if maps.ndim != 2 or maps.shape[0] not in (1, 2) or maps.shape[1] != npix:
                raise ValueError(f"maps have shape {maps.shape}; expected 1 or 2 of the mask's {npix} pixels")
            spin = (0 if maps.shape[0] == 1 else 2) if spin is None else int(spin)
            if (spin != 0) != (maps.shape[0] == 2):
                raise ValueError(f"spin is {spin} and there are {maps.shape[0]} maps; a spin needs two")
        self.spin = 0 if spin is None else int(spin)
        self.lmax = 3 * nside - 1 if lmax is None else int(lmax)
        self.lmax_mask = 3 * nside - 1 if lmax_mask is None else int(lmax_mask)
        purify = purify.lower()
        if set(purify) - set("eb"):
            raise ValueError(f"purify is {purify!r}; allowed are '', 'e', 'b', 'eb'")
        if weights not in _WEIGHTS:
            raise ValueError(f"weights is {weights!r}; allowed are None, 'ring', 'pixel'")
        self.purify, self.iterations = purify, int(iterations)
        self.beam = None if beam is None else _numbers(np.asarray(beam)[:self.lmax + 1], (self.lmax + 1,), "beam")
        common = {"grid": grid._handle.address, "weights": _WEIGHTS[weights], "iterations": self.iterations}
        self._mask_alm, self._mask_options = None, common | {"mask": self.mask, "lmax": self.lmax_mask, "held": grid}
        self.alm = None
        if maps is not None:
            own = {"mask": self.mask, "lmax": self.lmax, "spin": self.spin, "lmax_mask": self.lmax_mask,
                   "pure_e": int("e" in purify), "pure_b": int("b" in purify), "beyond_mask": int(beyond_mask)}
            if templates is not None:
                templates = np.ascontiguousarray(templates, np.float64)
                templates = templates.reshape(-1, *maps.shape)
                own |= {"templates": len(templates), "template_maps": templates, "template_cutoff": float(template_cutoff)}
            self.alm = self._transform(common | own, maps)

    @property
    def mask_alm(self) -> Any:
        """Coefficients of the mask, made when they are first asked for."""
        if self._mask_alm is None:
            options = {name: value for name, value in self._mask_options.items() if name != "held"}
            self._mask_alm = self._transform(options, np.ones((1, self.mask.size)))[0]
        return self._mask_alm

    @mask_alm.setter
    def mask_alm(self, alm: npt.ArrayLike) -> Any:
        self._mask_alm = np.asarray(alm, np.complex128)

    def _transform(self, values, maps):
        opts = options(_ffi.kugel_masked_opts, **values)
        nalm = lib.kugel_alm_count(opts.lmax, -1)
        if nalm < 0:
            raise ValueError(f"lmax is {opts.lmax}, must be 0 to 100,000,000")
        alm = np.empty((len(maps), nalm), np.complex128)
        long_call(lib.kugel_masked_alm, self._address, ctypes.byref(opts), ptr(maps), ptr(alm))
        return alm


def pseudo_cl(first: Field, second: Field, lmax: int | None = None) -> Any:
    """Pseudo-spectra of a pair of fields, [1, 2 or 4, lmax + 1] in the order TT; TE, TB; EE, EB, BE, BB."""
    lmax = min(first.lmax, second.lmax) if lmax is None else lmax
    if first.alm is None or second.alm is None:
        raise ValueError("a field was made without maps; it has no spectrum")
    return np.array([_cross(a, first.lmax, b, second.lmax, lmax) for a in first.alm for b in second.alm])


def _cross(a, lmax_a, b, lmax_b, lmax):
    from .alms import resize_alm
    least = min(lmax_a, lmax_b)
    a = resize_alm(a, lmax_a, lmax_a, least, least) if lmax_a > least else a
    b = resize_alm(b, lmax_b, lmax_b, least, least) if lmax_b > least else b
    out = np.zeros(lmax + 1)
    n = min(lmax, least) + 1
    out[:n] = alm2cl(a, b, lmax=least)[:n]
    return out


def mask_cl(first: Field, second: Field) -> Any:
    """Cross spectrum of the masks of two fields, [lmax_mask + 1]."""
    return _cross(first.mask_alm, first.lmax_mask, second.mask_alm, second.lmax_mask, min(first.lmax_mask, second.lmax_mask))


class Couplings:
    """The binned couplings of a pair of fields that share masks, spins, beams and bands; many simulations may use one.

    first, second: Fields; their maps are not used
    bands:         Bands, to lmax of both fields or below
    device:        such as "cuda:0", where couplings and their sums are computed, those of covariances too; None: the CPU

    names (of the spectra), bands, condition (number of the binned coupling matrix, estimated), mask_tail (part of the mask's
    power in the last tenth of its degrees: above 1e-3, choose a larger lmax_mask or apodise).
    """

    def __init__(self, first: Field, second: Field, bands: Bands, *, device: str | None = None) -> None:
        lmax = bands.lmax
        if lmax > min(first.lmax, second.lmax):
            raise ValueError(f"bands reach lmax {lmax}; the fields have {first.lmax} and {second.lmax}")
        beam = [None if f.beam is None else np.ascontiguousarray(f.beam[:lmax + 1]) for f in (first, second)]
        values = {"lmax": lmax, "spin1": first.spin, "spin2": second.spin, "bands": bands.count, "band": bands.band}
        for i, f in ((1, first), (2, second)):
            values |= {f"pure_e{i}": int("e" in f.purify), f"pure_b{i}": int("b" in f.purify)}
            if beam[i - 1] is not None:
                values[f"beam{i}"] = beam[i - 1]
        for name in "weight", "factor":
            if getattr(bands, name) is not None:
                values[name] = getattr(bands, name)
        w = mask_cl(first, second)
        opts = options(_ffi.kugel_spectra_opts, mask_cl=w, lmax_mask=w.size - 1, **values)
        out = ctypes.c_void_p()
        long_call(lib.kugel_spectra_create, _address(device), ctypes.byref(opts), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_spectra_destroy)
        info = options(_ffi.kugel_spectra_info)
        lib.kugel_spectra_get_info(self._handle.address, ctypes.byref(info))
        self.bands, self.lmax, self.condition, self.mask_tail = bands, lmax, info.condition, info.mask_tail
        one, two = ("T" if not f.spin else "EB" for f in (first, second))
        self.names = [a + b for a in one for b in two]

    def _of(self, cl, name):
        if isinstance(cl, dict):
            unknown = set(cl) - set(self.names)
            if unknown:
                raise ValueError(f"{name} has {', '.join(sorted(unknown))}; the spectra are {', '.join(self.names)}")
            cl = [cl.get(key, np.zeros(self.lmax + 1)) for key in self.names]
        cl = np.asarray(cl, np.float64)
        cl = cl[None] if cl.ndim == 1 else cl
        return _numbers(cl[..., :self.lmax + 1], (len(self.names), self.lmax + 1), name)

    def couple(self, cl: npt.ArrayLike) -> Any:
        """Mean pseudo-spectra of fields with the spectra cl (a dict, or [spectra, lmax + 1]); an array of the same shape."""
        cl = self._of(cl, "cl")
        out = np.empty_like(cl)
        long_call(lib.kugel_spectra_couple, self._handle.address, ptr(cl), ptr(out))
        return out

    def decouple(self, pseudo: npt.ArrayLike, noise: npt.ArrayLike | None = None) -> Any:
        """Bandpowers [..., spectra, bands] of pseudo-spectra [..., spectra, lmax + 1], of one map or many, less those of noise."""
        if not isinstance(pseudo, dict) and np.ndim(pseudo) > 2:
            many = np.asarray(pseudo, np.float64)
            out = np.empty((*many.shape[:-2], len(self.names), self.bands.count))
            for i in np.ndindex(many.shape[:-2]):
                out[i] = self.decouple(many[i], noise)
            return out
        pseudo = self._of(pseudo, "pseudo")
        noise = None if noise is None else self._of(noise, "noise")
        out = np.empty((len(self.names), self.bands.count))
        lib.kugel_spectra_decouple(self._handle.address, ptr(pseudo), None if noise is None else ptr(noise), ptr(out))
        return out

    def window_array(self) -> Any:
        """Windows [spectra, bands, spectra, lmax + 1]: bandpowers of a spectrum are their product with it."""
        n = len(self.names)
        out = np.empty((n, self.bands.count, n, self.lmax + 1))
        lib.kugel_spectra_windows(self._handle.address, ptr(out))
        return out


class Spectra(Couplings):
    """Bandpowers of a pair of masked fields.

    first, second: Fields
    bands:         Bands
    device:        as of Couplings
    noise:         pseudo-spectra to be subtracted (a dict, or [spectra, lmax + 1]); None: none

    pseudo, bandpowers and windows are dicts by name: pseudo["EE"] [lmax + 1], bandpowers["EE"] [bands],
    windows["EE", "BB"] [bands, lmax + 1]: of the bandpower EE, for the spectrum BB.
    """

    def __init__(self, first: Field, second: Field, bands: Bands, noise: npt.ArrayLike | None = None, *,
                 device: str | None = None) -> None:
        super().__init__(first, second, bands, device=device)
        pseudo = pseudo_cl(first, second, self.lmax)
        self.pseudo = dict(zip(self.names, pseudo))
        self.bandpowers = dict(zip(self.names, self.decouple(pseudo, noise)))

    @property
    def windows(self) -> Any:
        w = self.window_array()
        return {(a, b): w[i, :, j] for i, a in enumerate(self.names) for j, b in enumerate(self.names)}


def covariance(first: Couplings, second: Couplings, fields: Any, cl: npt.ArrayLike) -> Any:
    """Gaussian covariance of the bandpowers of two pairs, [spectra of first, bands, spectra of second, bands].

    first, second: Couplings (or Spectra) of fields a, b and of c, d
    fields:        (a, b, c, d) as Fields, for their masks
    cl:            (ac, ad, bc, bd): spectra of these pairs with beams and noise, [1, 2 or 4, lmax + 1] each. Best are coupled ones over
                   the mean of the product of the two masks: first.couple(theory) / numpy.mean(a.mask * b.mask).
    Spectra are taken to vary little over the width of a coupling; purification is not taken into account.
    """
    a, b, c, d = fields
    npix = {f.mask.size for f in fields}
    if len(npix) != 1:
        raise ValueError(f"the masks have {sorted(npix)} pixels; they must have one nside")
    lmax_mask = min(f.lmax_mask for f in fields)

    def product(x, y):
        return Field(x.mask * y.mask, None, lmax=0, lmax_mask=lmax_mask, iterations=min(x.iterations, y.iterations))
    ac, bd, ad, bc = product(a, c), product(b, d), product(a, d), product(b, c)
    masks = [np.ascontiguousarray(mask_cl(*pair)) for pair in ((ac, bd), (ad, bc))]
    n, arrays = first.lmax + 1, []
    for name, (x, y), values in zip(("ac", "ad", "bc", "bd"), ((a, c), (a, d), (b, c), (b, d)), cl):
        values = np.atleast_2d(np.asarray(values, np.float64))[:, :n]
        arrays.append(_numbers(values, ((2 if x.spin else 1) * (2 if y.spin else 1), n), name))
    opts = options(_ffi.kugel_covariance_opts, lmax_mask=lmax_mask, mask_ac_bd=masks[0], mask_ad_bc=masks[1], cl_ac=arrays[0],
                   cl_ad=arrays[1], cl_bc=arrays[2], cl_bd=arrays[3])
    out = np.empty((len(first.names), first.bands.count, len(second.names), second.bands.count))
    long_call(lib.kugel_spectra_covariance, first._handle.address, second._handle.address, ctypes.byref(opts), ptr(out))
    return out
