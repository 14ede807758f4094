# SPDX-License-Identifier: BSD-3-Clause
"""Convolution of maps with radial kernels, as sums over pixels: nothing is band-limited, so nothing rings.

    beam = kugel.radial.Radial(kugel.Grid.healpix(2048), "gaussian", np.radians(4.7 / 60))
    smooth = beam(map)

s_i = sum_j K(angle_ij) w_j f_j over the pixels j within the cut-off, w_j the solid angle of pixel j.
"""
from __future__ import annotations

import ctypes
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._lib import Handle, lib, long_call, options, ptr
from .comm import Layout, shared
from .hardware import context
from .plans import REAL, SHT, Grid, Plan, choice

if TYPE_CHECKING:
    import numpy.typing as npt

_KERNELS = {"gaussian": _ffi.KUGEL_RADIAL_GAUSSIAN, "top_hat": _ffi.KUGEL_RADIAL_TOP_HAT,
            "mexican_hat": _ffi.KUGEL_RADIAL_MEXICAN_HAT, "fisher": _ffi.KUGEL_RADIAL_FISHER}
_NORMS = {"integral": _ffi.KUGEL_RADIAL_UNIT_INTEGRAL, "peak": _ffi.KUGEL_RADIAL_UNIT_PEAK,
          None: _ffi.KUGEL_RADIAL_AS_IS}
_METHODS = {"auto": _ffi.KUGEL_RADIAL_AUTO, "direct": _ffi.KUGEL_RADIAL_DIRECT,
            "harmonic": _ffi.KUGEL_RADIAL_HARMONIC, "rings": _ffi.KUGEL_RADIAL_RINGS,
            "arkcos": _ffi.KUGEL_RADIAL_ARKCOS}


def _make_options(grid, kernel="gaussian", width=None, *, norm="integral", radius=None, tolerance=1e-5, method="auto",
                  lmax=None, normalise_mask=False, spin=0, parts=None, orientation=None, normalise=None):
    """The options of a plan, and a list that an exception of the caller's kernel goes to."""
    can = norm == "integral" and parts is None and not normalise_mask
    if normalise and not can:
        raise ValueError("normalise goes with norm 'integral', without parts and without normalise_mask")
    opts = {"grid": grid._handle.address, "norm": choice(_NORMS, norm, "norm"), "tolerance": float(tolerance),
            "method": choice(_METHODS, method, "method"), "normalise_mask": int(bool(normalise_mask)),
            "radius": 0.0 if radius is None else float(radius), "lmax": 0 if lmax is None else int(lmax),
            "spin": int(spin), "normalise": int(can if normalise is None else bool(normalise))}
    if parts is not None:
        arrays = [np.array(a, np.float64, ndmin=1) for a in parts]
        if len(arrays) != 3 or arrays[0].ndim != 1 or len({a.shape for a in arrays}) != 1:
            raise ValueError("parts are three arrays of equal length: weight, distance, bearing")
        opts |= dict(zip(("part_weight", "part_distance", "part_bearing"), arrays), nparts=arrays[0].size)
    if orientation is not None:
        orientation = np.array(orientation, np.float64, ndmin=1)
        if parts is None or orientation.shape != (grid.nrings,):
            raise ValueError(f"orientation has shape {orientation.shape}; expected ({grid.nrings},), with parts")
        opts["orientation"] = orientation
    failed = []
    if isinstance(kernel, str):
        if width is None:
            raise ValueError(f"kernel {kernel!r} needs a width in radians")
        if not 0 < width <= np.pi and kernel != "fisher":
            raise ValueError(f"width is {width}; expected above 0 and at most pi radians: the sphere is no larger")
        opts |= {"kernel": choice(_KERNELS, kernel, "kernel"), "width": float(width)}
    elif width is not None:
        raise ValueError("width goes with a named kernel only")
    elif callable(kernel):
        def value(angle, _):
            try:
                return float(kernel(angle))
            except BaseException as error:  # raised below: nothing can pass through the library
                failed.append(error)
                return np.nan
        opts |= {"kernel": _ffi.KUGEL_RADIAL_FUNCTION,
                 "function": dict(_ffi.kugel_radial_opts._fields_)["function"](value)}
    elif isinstance(kernel, tuple) and len(kernel) == 3 and isinstance(kernel[0], str) and kernel[0] == "fisher":
        kappa, integrals = (np.array(a, np.float64, ndmin=1) for a in kernel[1:])
        if kappa.shape != integrals.shape or kappa.ndim != 1:
            raise ValueError(f"kappa has shape {kappa.shape} and its integrals {integrals.shape}; expected two arrays [n]")
        opts |= {"kernel": _ffi.KUGEL_RADIAL_FISHER, "n": kappa.size, "kappa": kappa, "values": integrals}
    elif isinstance(kernel, tuple):
        angles, values = (np.array(a, np.float64, ndmin=1) for a in kernel)
        if angles.shape != values.shape or angles.ndim != 1:
            raise ValueError(f"kernel has angles of shape {angles.shape} and values of shape {values.shape}; "
                             "expected two arrays [n]")
        opts |= {"kernel": _ffi.KUGEL_RADIAL_TABLE, "n": angles.size, "angles": angles, "values": values}
    elif isinstance(kernel, dict):
        raise TypeError("kernel is a dict: kugel.kernels give arguments, Radial(grid, **kernels.gaussian(0.01))")
    else:
        b = np.array(kernel, np.float64, ndmin=1)
        if b.ndim != 1:
            raise ValueError(f"kernel has shape {b.shape}; expected b_l [lmax + 1]")
        opts |= {"kernel": _ffi.KUGEL_RADIAL_SERIES, "n": b.size, "values": b}
    return options(_ffi.kugel_radial_opts, **opts), failed


class Radial(Plan):
    """A plan: one grid, one kernel. It may be executed from any number of threads.

    kernel:    "gaussian" or "fisher" (width: FWHM), "top_hat" (width: radius), "mexican_hat" (width: scale), in radians;
               ("fisher", kappa, integrals), a sum of von Mises and Fisher's; see kugel.kernels for more;
               a function of the angle; a pair (angles, values) of arrays, joined by a cubic spline; or an array b_l
    grid:      a Grid, or an nside
    norm:      "integral" (over the sphere 1), "peak" (1 at angle 0), or None: the numbers as they are
    radius:    cut-off in radians; None: where no more than `tolerance` (rms, of white noise) is lost
    method:    "auto", "direct" (the sum itself), "rings" (the same by series along rings) or "harmonic" (to degree lmax)
    normalise_mask:  divide by the convolution of the map of observed pixels, so that constants stay constant
    normalise:  divide by what the sum makes of the constant 1, so that constants stay constant however few pixels the kernel
               spans, to the poles; None: with norm "integral", unless with parts or normalise_mask. The first call
               computes it, each `stream` again; `adjoint` is the transpose of all that
    spin:      maps come in pairs [..., 2, npix], 2: (Q, U), 1: (theta, phi), carried along great circles, by the direct method
    parts:     an asymmetric kernel: arrays (weight, distance, bearing), a sum of the kernel displaced by each distance in
               the direction of each bearing (from south towards east), see `ellipse`; scalar maps, by the direct method
    orientation: radians added to the bearings, one for each ring of the grid
    device:    where it runs: "cpu", "cuda:0", "opencl:0", "auto"; maps may then be arrays in its memory, and so is the result
    comm:      a Comm, whose ranks share the sums: each makes the plan, passes and gets its part of the maps (map_layout), and streams
               its own; "direct", "rings" or "auto", on the CPU
    """

    def __init__(self, grid: Grid | int, kernel: Any = "gaussian", width: Any = None, *, norm: Any = "integral", radius: Any = None,
                 tolerance: float = 1e-5, method: str = "auto", lmax: int | None = None, normalise_mask: bool = False, spin: int = 0,
                 parts: Any = None, orientation: Any = None, device: str | None = None, normalise: bool | None = None,
                 comm: Any = None) -> None:
        grid = grid if isinstance(grid, Grid) else Grid.healpix(grid)
        self._options, failed = _make_options(
            grid, kernel, width, norm=norm, radius=radius, tolerance=tolerance, method=method, lmax=lmax,
            normalise_mask=normalise_mask, spin=spin, parts=parts, orientation=orientation, normalise=normalise)
        self._options.comm = comm and comm._handle.address
        out = ctypes.c_void_p()
        try:
            self._context = context(device)
            long_call(lib.kugel_radial_create, self._context and self._context.address, ctypes.byref(self._options),
                      ctypes.byref(out))
        except ValueError:
            if failed:
                raise failed[0] from None
            raise
        self._handle = Handle(out.value, lib.kugel_radial_destroy)
        self.grid, self.comm = grid, comm
        #: pixels of a map; over ranks of this rank's part
        self.npix = self.map_layout.count() if comm else grid.npix
        info = options(_ffi.kugel_radial_info)
        lib.kugel_radial_get_info(self._handle.address, info)
        #: the method in use
        self.method = next(k for k, v in _METHODS.items() if v == info.method)
        #: cut-off in radians, and the part of smoothed white noise's rms that it costs
        self.radius, self.cut_error = info.radius, info.cut_error
        #: integral of the kernel over the sphere; what normalisation multiplied it by; pairs of pixels in a direct sum
        self.integral, self.scale, self.pairs = info.integral, info.scale, info.pairs
        #: multiply-adds of the method by rings besides its transforms; degree beyond which b_l vanishes, -1: none
        self.products, self.band = info.products, info.band
        #: what the sum makes of the constant 1, least and most at a sample of pixels
        self.constant = info.constant_least, info.constant_most
        lost = max(info.integral - info.constant_least, info.constant_most - info.integral)
        sums = norm == "integral" and self.method != "harmonic" and parts is None and not normalise_mask
        if sums and not (info.constant_least >= 0.5 and info.constant_most <= 1.5):
            raise ValueError(f"the kernel is narrower than the pixels: sums over them make {info.constant_least:.4g} to "
                             f"{info.constant_most:.4g} of the constant 1, must be 0.5 to 1.5 (a Gaussian's FWHM about 0.9 "
                             "pixels): choose method 'harmonic' or a finer grid, or normalise_mask")
        if norm == "integral" and lost > 0.05 and not normalise_mask and not self._options.normalise:
            warnings.warn(f"the kernel is about as narrow as a pixel: a constant 1 becomes {info.constant_least:.3g} to "
                          f"{info.constant_most:.3g}, and flux changes as much", RuntimeWarning, stacklevel=2)

    @property
    def covered(self) -> Any:
        """Whether every pixel of a map is on a ring."""
        return bool(self.comm) or bool(self.grid.table()["nphi"].sum() == self.grid.npix)

    @property
    def spin(self) -> Any:
        """Of the pairs of maps; 0: scalar maps."""
        return self._options.spin

    @property
    def map_layout(self) -> Any:
        """Over ranks: which pixels each has, those of a run of rings and their mirrors."""
        out = ctypes.c_void_p()
        lib.kugel_radial_layout(self._handle.address, ctypes.byref(out))
        return Layout(self.comm, out.value)

    def _run(self, function, maps, out):
        count = 2 if self.spin else 1
        with shared(self.comm, lambda: function(self._handle.address, None, None, None)):
            maps, batch = self._input(maps, REAL, count, self.npix, "maps")
            out, there = self._output(maps, batch, REAL, count, self.npix, out)
            views = self._view(maps, 2), self._view(there, 2)
        long_call(function, self._handle.address, *views, self._queue(maps, there))
        return out

    def __call__(self, maps: Any, out: Any = None) -> Any:
        """Maps [..., npix], float64 or float32, convolved. Bad pixels count as zero and stay UNSEEN."""
        return self._run(lib.kugel_radial_execute, maps, out)

    def adjoint(self, maps: Any, out: Any = None) -> Any:
        """The transpose, as a matrix, of the call."""
        return self._run(lib.kugel_radial_adjoint, maps, out)

    def stream(self, source: Any, target: Any, memory: Any = 10**9) -> Any:
        """Convolves a map that need not fit into memory, ring by ring: `target[i:j] = ` what comes of `source[i:j]`, as of
        numpy.memmap or a data set of HDF5; with a spin, of source[0] and source[1]. The two must not be the same.

        memory: bytes that may be used besides the plan's own
        """
        shape = (2, self.grid.npix) if self.spin else (self.grid.npix,)
        if tuple(source.shape) != shape or tuple(target.shape) != shape:
            raise ValueError(f"source and target have shapes {source.shape} and {target.shape}; expected {shape}")
        dtype = np.dtype(np.float32 if source.dtype.itemsize == 4 else np.float64)
        failed = []

        def callback(work):
            def call(_, map_, first, n, values):
                try:
                    array = np.ctypeslib.as_array(ctypes.cast(values, ctypes.POINTER(ctypes.c_char)), (n * dtype.itemsize,))
                    work(int(map_), slice(first, first + n), array.view(dtype))
                    return _ffi.KUGEL_OK
                except BaseException as error:  # raised below: nothing can pass through the library
                    failed.append(error)
                    return _ffi.KUGEL_EIO
            return call

        def read(map_, part, values):
            values[:] = source[map_][part] if self.spin else source[part]

        def write(map_, part, values):
            if self.spin:
                target[map_, part] = values
            else:
                target[part] = values

        fields = dict(_ffi.kugel_radial_stream_opts._fields_)
        opts = options(_ffi.kugel_radial_stream_opts, read=fields["read"](callback(read)), memory=int(memory),
                       write=fields["write"](callback(write)), dtype=_ffi.kugel_dtype(2, 8 * dtype.itemsize, 1))
        try:
            long_call(lib.kugel_radial_stream, self._handle.address, ctypes.byref(opts))
        except (OSError, RuntimeError):
            if failed:
                raise failed[0] from None
            raise
        return target

    def kernel(self, angles: npt.ArrayLike) -> Any:
        """The kernel at angles in radians, as normalised and cut off."""
        angles = np.ascontiguousarray(angles, np.float64)
        out = np.empty_like(angles)
        lib.kugel_radial_evaluate(self._handle.address, angles.size, ptr(angles), ptr(out))
        return out

    def coefficients(self, lmax: int) -> Any:
        """b_l = 2 pi int K(a) P_l(cos a) sin a da of the kernel as normalised and cut off, [lmax + 1]."""
        out = np.empty(int(lmax) + 1)
        lib.kugel_radial_coefficients(self._handle.address, int(lmax), ptr(out))
        return out


def ellipse(major: Any, minor: Any, n: Any = 9) -> Any:
    """An elliptical Gaussian beam of FWHM major (along bearing 0, south) and minor, radians: `parts` for
    Radial(grid, "gaussian", minor, parts=...)."""
    out = np.empty((3, int(n)))
    lib.kugel_radial_ellipse(float(major), float(minor), int(n), ptr(out[0]), ptr(out[1]), ptr(out[2]))
    return tuple(out)


class RadialBank(Plan):
    """Many kernels with one map: those that go by harmonics share one analysis.

        scales = kugel.RadialBank(grid, [dict(kernel=b_l, method="harmonic", norm=None) for b_l in windows])
        maps = scales(map)  # [len(scales), npix]

    kernels:  dicts of the arguments of Radial but for grid, spin and device
    device:   as of Radial
    """

    def __init__(self, grid: Grid | int, kernels: Any, device: str | None = None) -> None:
        grid = grid if isinstance(grid, Grid) else Grid.healpix(grid)
        kernels = list(kernels)
        made = [_make_options(grid, **k) for k in kernels]
        self._options = [o for o, _ in made]
        pointers = (ctypes.POINTER(_ffi.kugel_radial_opts) * len(made))(*(ctypes.pointer(o) for o in self._options))
        self._context = context(device)
        out = ctypes.c_void_p()
        try:
            long_call(lib.kugel_radial_bank_create, self._context and self._context.address, len(made), pointers,
                      ctypes.byref(out))
        except ValueError:
            for _, failed in made:
                if failed:
                    raise failed[0] from None
            raise
        self._handle = Handle(out.value, lib.kugel_radial_bank_destroy)
        self.grid = grid
        info = options(_ffi.kugel_radial_info)
        #: the method of each kernel
        self.methods = []
        for i in range(len(made)):
            lib.kugel_radial_get_info(lib.kugel_radial_bank_plan(self._handle.address, i), info)
            self.methods.append(next(k for k, v in _METHODS.items() if v == info.method))

    def __len__(self):
        return len(self._options)

    covered = Radial.covered

    def __call__(self, maps: Any, out: Any = None) -> Any:
        """Maps [..., npix] by all kernels: [..., n, npix]."""
        maps, batch = self._input(maps, REAL, 1, self.grid.npix, "maps")
        out, there = self._output(maps, batch + (len(self),), REAL, 1, self.grid.npix, out)
        long_call(lib.kugel_radial_bank_execute, self._handle.address, self._view(maps, 2), self._view(there, 2),
                  self._queue(maps, there))
        return out

    def adjoint(self, maps: Any) -> Any:
        """The transpose of the call: host maps [..., n, npix] to [..., npix], the sum of each kernel's. Of tight kernels
        such as `kernels.needlets`, on pixels of equal area, that puts the scales of a map together again as far as these
        are a quadrature, 4 % on HEALPix: `reconstruct` does so exactly."""
        maps = np.ascontiguousarray(maps, np.float32 if getattr(maps, "dtype", None) == np.float32 else np.float64)
        if maps.ndim < 2 or maps.shape[-2:] != (len(self), self.grid.npix):
            raise ValueError(f"maps has shape {maps.shape}; expected [..., {len(self)}, {self.grid.npix}]")
        out = np.zeros(maps.shape[:-2] + maps.shape[-1:], maps.dtype)
        part = np.zeros_like(out)  # pixels of no ring stay 0
        for i in range(len(self)):
            plan = lib.kugel_radial_bank_plan(self._handle.address, i)
            one = np.ascontiguousarray(maps[..., i, :])
            long_call(lib.kugel_radial_adjoint, plan, self._view(one, 1), self._view(part, 1), None)
            out += part
        return out

    def reconstruct(self, scales: Any, tolerance: float = 1e-13, most: int = 200) -> Any:
        """The map of which `scales` [..., n, npix] are the call's result: exact to rounding for a map whose harmonics end at
        the kernels' highest degree, on any grid on which analysis can be refined (HEALPix to degree 2 nside, Gauss). All
        kernels must go by harmonics, and leave no degree out.

        The call multiplies A a by b_l, where a are the map's coefficients and A = Y^T W Y differs from 1 where pixels are no
        exact quadrature. Each scale is analysed by iteration, sum_j b_l (b_l A a) / sum_j b_l^2 = A a, and A is inverted by
        a <- a + (A a - Y^T W Y a), until no more than `tolerance` of it changes."""
        scales = np.ascontiguousarray(scales, np.float64)
        if scales.ndim < 2 or scales.shape[-2:] != (len(self), self.grid.npix):
            raise ValueError(f"scales has shape {scales.shape}; expected [..., {len(self)}, {self.grid.npix}]")
        if any(m != "harmonic" for m in self.methods):
            raise ValueError(f"the methods are {self.methods}; reconstruct needs kernels that all go by harmonics")
        lmax = max(o.lmax or o.n - 1 for o in self._options)
        sht, b = SHT(self.grid, lmax), np.empty((len(self), lmax + 1))
        for i in range(len(self)):
            lib.kugel_radial_coefficients(lib.kugel_radial_bank_plan(self._handle.address, i), lmax, ptr(b[i]))
        whole = (b**2).sum(0)
        if not (whole > 1e-12 * whole.max()).all():
            raise ValueError(f"no kernel has degree {int(np.argmin(whole))}: the map cannot be put together again")
        degree = np.concatenate([np.arange(m, lmax + 1) for m in range(lmax + 1)])

        def solve(start, target):  # Y^T W Y a = target
            a, size = start, np.abs(target).max() or 1.0
            for _ in range(most):
                rest = target - sht.analysis(sht.synthesis(a))
                a = a + rest
                if np.abs(rest).max() <= tolerance * size:
                    return a
            raise RuntimeError(f"analysis to degree {lmax} has not converged on this grid: it is too high")

        out = np.empty(scales.shape[:-2] + scales.shape[-1:])
        for at in np.ndindex(*scales.shape[:-2]):
            sums = 0
            for i in range(len(self)):
                once = sht.analysis(scales[at + (i,)])
                sums = sums + (b[i] / whole)[degree] * solve(once, once)
            out[at] = sht.synthesis(solve(sums, sums))
        return out
