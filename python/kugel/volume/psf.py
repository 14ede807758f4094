# SPDX-License-Identifier: BSD-3-Clause
"""Point spread functions of microscopes: computed, measured from beads, resampled, cropped and judged."""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _ffi
from .._lib import lib, long_call, options, view

if TYPE_CHECKING:
    import numpy.typing as npt

_MODELS = {"bw": _ffi.KUGEL_PSF_BORN_WOLF, "gl": _ffi.KUGEL_PSF_GIBSON_LANNI, "rw": _ffi.KUGEL_PSF_RICHARDS_WOLF,
           "gauss": _ffi.KUGEL_PSF_GAUSSIAN}
_IMAGING = {"widefield": _ffi.KUGEL_PSF_WIDEFIELD, "confocal": _ffi.KUGEL_PSF_CONFOCAL,
            "two-photon": _ffi.KUGEL_PSF_TWO_PHOTON, "sheet": _ffi.KUGEL_PSF_SHEET}
_POLARISATIONS = {None: _ffi.KUGEL_PSF_UNPOLARISED, "x": _ffi.KUGEL_PSF_POLARISED_X, "y": _ffi.KUGEL_PSF_POLARISED_Y}
_NORMS = {"sum": _ffi.KUGEL_PSF_SUM, "peak": _ffi.KUGEL_PSF_PEAK, None: _ffi.KUGEL_PSF_PLAIN}
_FLAGS = [v for k, v in sorted(vars(_ffi).items()) if k in (
    "KUGEL_PSF_NOT_FINITE", "KUGEL_PSF_ALL_ZERO", "KUGEL_PSF_NEGATIVE", "KUGEL_PSF_NOT_NORMALISED", "KUGEL_PSF_EVEN",
    "KUGEL_PSF_OFF_CENTRE", "KUGEL_PSF_BACKGROUND", "KUGEL_PSF_CUT_OFF", "KUGEL_PSF_FEW_PLANES", "KUGEL_PSF_FLAT")]


def _one_of(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed are {', '.join(repr(a) for a in allowed)}")
    return allowed[value]


def _three(values, kind=ctypes.c_double):
    values = [values] * 3 if np.isscalar(values) else list(values)
    if len(values) != 3:
        raise ValueError(f"{values} has {len(values)} elements; needed are three: z, y, x")
    return (kind * 3)(*values)


def _optics(model, voxel, imaging, polarisation, norm, sigma, shift, samples, optics):
    if sigma is not None:
        optics["sigma"] = (ctypes.c_double * 2)(*sigma)
    return options(_ffi.kugel_psf_opts, model=_one_of("model", model, _MODELS), voxel=_three(voxel),
                   imaging=_one_of("imaging", imaging, _IMAGING), norm=_one_of("norm", norm, _NORMS),
                   polarisation=_one_of("polarisation", polarisation, _POLARISATIONS), shift=_three(shift),
                   samples=_three(samples, ctypes.c_int), **optics)


class Psf:
    """A PSF and the voxel size it has: `values` [nz, ny, nx] with odd lengths, `voxel` (z, y, x) or None.

    Functions that take arrays take a Psf too. All lengths share one unit.
    """

    def __init__(self, values: npt.ArrayLike, voxel: Any = None) -> None:
        self.values = np.asarray(values)
        self.voxel = None if voxel is None else tuple(_three(voxel))

    shape = property(lambda self: self.values.shape)

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)

    def __repr__(self):
        return f"Psf({' x '.join(map(str, self.shape))} {self.values.dtype}, voxel={self.voxel})"

    @classmethod
    def compute(cls, model: str, shape: Any = None, *, voxel: Any, na: Any = 0.0, wavelength: Any = 0.0, image: Any = None,
                imaging: str = "widefield", polarisation: Any = None, norm: str = "sum", sigma: Any = None, shift: Any = 0.0,
                samples: int = 0, dtype: Any = np.float32, **optics: Any) -> Psf:
        """A PSF by the model "bw" (Born and Wolf), "gl" (Gibson and Lanni), "rw" (Richards and Wolf) or "gauss".

        shape:       odd lengths; or image: those of the image it is for, of which the shape follows
        voxel:       z, y, x
        imaging:     "widefield", "confocal" (excitation, pinhole), "two-photon" (excitation), "sheet" (sheet)
        optics:      the fields of kugel_psf_opts: index, excitation, pinhole, sheet, sample_index, depth, design_index,
                     working_distance, glass_index, glass_design_index, glass_thickness, glass_design_thickness, keep_focus
        norm:        "sum", "peak" or None: 1 is the focus of a perfect objective
        """
        opts = _optics(model, voxel, imaging, polarisation, norm, sigma, shift, samples,
                       dict(optics, na=na, wavelength=wavelength))
        if shape is None:
            if image is None:
                raise ValueError("give shape, or image: the lengths of the image")
            out = (ctypes.c_int64 * 3)()
            lib.kugel_psf_shape(ctypes.byref(opts), _three(image, ctypes.c_int64), out)
            shape = tuple(out)
        values = np.empty(tuple(shape), dtype)
        long_call(lib.kugel_psf_compute, None, ctypes.byref(opts), view(values))
        return cls(values, voxel)

    @classmethod
    def born_wolf(cls, shape: Any = None, **optics: Any) -> Psf:
        """The scalar PSF without aberrations: see compute."""
        return cls.compute("bw", shape, **optics)

    @classmethod
    def gibson_lanni(cls, shape: Any = None, **optics: Any) -> Psf:
        """The scalar PSF through layers: see compute."""
        return cls.compute("gl", shape, **optics)

    @classmethod
    def richards_wolf(cls, shape: Any = None, **optics: Any) -> Psf:
        """The vectorial PSF: see compute."""
        return cls.compute("rw", shape, **optics)

    @classmethod
    def gaussian(cls, shape: Any = None, **optics: Any) -> Psf:
        """A Gaussian, with sigma=(z, across) or the widths of the optics: see compute."""
        return cls.compute("gauss", shape, **optics)

    @classmethod
    def from_beads(cls, image: Any, shape: Any, *, voxel: Any = None, snr: float = 0.0, separation: float = 0.0, saturation: Any = 0.0,
                   least: Any = 0, norm: str = "sum", dtype: Any = np.float32) -> Psf:
        """The mean of the beads in an image, aligned to a fraction of a voxel; `beads` of the result says how many."""
        opts = options(_ffi.kugel_psf_beads_opts, snr=snr, separation=_three(separation), saturation=saturation, least=least,
                       norm=_one_of("norm", norm, _NORMS))
        info = options(_ffi.kugel_psf_beads_info)
        values = np.empty(tuple(shape), dtype)
        long_call(lib.kugel_psf_from_beads, None, view(np.asarray(image)), ctypes.byref(opts), view(values), ctypes.byref(info))
        out = cls(values, voxel)
        out.beads = {name: tuple(value) if hasattr(value, "__len__") else value
                     for name, value in ((n, getattr(info, n)) for n, *_ in info._fields_ if n != "size")}
        return out

    def check(self, image: Any = None) -> Any:
        """What is wrong with it, as sentences; image: the lengths of the image it is for."""
        return [text for _, text in self.report(image)[1]]

    def report(self, image: Any = None) -> Any:
        """(numbers, [(flag, sentence)]): sum, largest, centre, fwhm ... as kugel_psf_report has them."""
        report = options(_ffi.kugel_psf_report)
        lengths = None if image is None else (ctypes.c_int64 * len(image))(*image)
        lib.kugel_psf_check(None, view(self.values), lengths, ctypes.byref(report))
        numbers = {n: tuple(v) if hasattr(v, "__len__") else v
                   for n, v in ((n, getattr(report, n)) for n, *_ in report._fields_ if n not in ("size", "flags"))}
        buffer, found = ctypes.create_string_buffer(400), []
        for flag in _FLAGS:
            if lib.kugel_psf_text(ctypes.byref(report), flag, buffer, len(buffer)):
                found.append((flag, buffer.value.decode()))
        return numbers, sorted(found)

    def prepare(self, shape: Any = None, *, to_voxel: Any = None, background: Any = np.nan, keep_centre: bool = False,
                keep_negative: bool = False, norm: str = "sum", dtype: Any = np.float32) -> Any:
        """Takes off background (NaN: the median of the rim), centres, resamples to other voxels, pads or crops."""
        if to_voxel is not None and self.voxel is None:
            raise ValueError("this Psf has no voxel size: make it as Psf(values, voxel=...)")
        opts = options(_ffi.kugel_psf_prepare_opts, background=background, keep_centre=int(keep_centre),
                       keep_negative=int(keep_negative), norm=_one_of("norm", norm, _NORMS))
        ratio = [1.0] * 3
        if to_voxel is not None:
            opts.voxel, opts.to_voxel = _three(self.voxel), _three(to_voxel)
            ratio = [a / b for a, b in zip(self.voxel, opts.to_voxel)]
        if shape is None:
            shape = [max(1, int(n * r + 1e-9) - (int(n * r + 1e-9) + 1) % 2) for n, r in zip(self.shape, ratio)]
        values = np.empty(tuple(shape), dtype)
        long_call(lib.kugel_psf_prepare, None, view(self.values), ctypes.byref(opts), view(values))
        return Psf(values, self.voxel if to_voxel is None else to_voxel)

    def crop(self, energy: Any = 0.999) -> Any:
        """The smallest box around the middle that holds this part of the energy."""
        lo, n = (ctypes.c_int64 * 3)(), (ctypes.c_int64 * 3)()
        lib.kugel_psf_crop(None, view(self.values), energy, lo, n, None)
        return Psf(self.values[tuple(slice(a, a + b) for a, b in zip(lo, n))].copy(), self.voxel)
