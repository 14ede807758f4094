# SPDX-License-Identifier: BSD-3-Clause
"""Spherical-harmonic sums at points anywhere on the sphere: synthesis, its exact adjoint, least squares.

    values = kugel.points.synthesis(alm, theta, phi)             # once; theta, phi: colatitude, longitude in radians
    q, u = kugel.points.synthesis([e, b], theta, phi, spin=2)

    plan = kugel.points.Plan(lmax, tolerance=1e-9)               # many sets of points, many alm
    points = plan.points(theta, phi)
    values = points.synthesis(alm)                               # [..., nalm] -> [..., N]
    alm = points.adjoint(values)                                 # the adjoint of the same sums, to rounding
    alm, stats = points.solve(values)                            # least squares

    t, q, u = kugel.points.lens([t, e, b], potential, nside)     # alm of the sky and of the lensing potential to lensed maps

Errors are below the tolerance, relative to the field. Poles are points as others are. Plans and points may be used from any
number of threads; results do not depend on their number.

Plan(..., device="cuda:0") and Lens(..., device="cuda:0") compute on a GPU: arrays in its memory (of PyTorch, CuPy,
kugel.DeviceArray or by DLPack) give such arrays, NumPy arrays give NumPy arrays. Results have the same bits in every run.
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi, nufft_arrays
from ._lib import Handle, lib, long_call, mmax_option, options, view, writable
from .alms import Alm
from .pixelfunc import UNSEEN, filled, maptype, pix2ang, reorder
from .plans import SHT, Grid, _MODES, choice
from .sphtfunc import map2alm
from .units import takes

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Lens", "Plan", "Points", "adjoint", "deflect", "interpolate", "lens", "synthesis"]

_REAL = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64)}
_COMPLEX = {real: number for number, real in _REAL.items()}
_PRECISIONS = {"f64": _ffi.KUGEL_PRECISION_F64, "f32": _ffi.KUGEL_PRECISION_F32}


class Plan:
    """What sums need besides the points.

    lmax, mmax: highest degree and order; mmax None: lmax
    spin:       0: one alm set and one value per point; 1 and more: (E, B) and two values, of the signs of HEALPix
    mode:       None: as spin says; "teb": (T, E, B) to (T, Q, U); "grad": one alm set to d/dtheta and 1/sin(theta) d/dphi;
                "der1": to the value and both
    tolerance:  root mean square of the errors over that of the field, 1e-13 to 0.1 (f32: 1e-6 to 0.1); None: 1e-9 (2e-6)
    device:     such as "cuda:0" or "opencl:0", for arrays in its memory or in host memory; None: the CPU
    precision:  "f64" or "f32", of FFTs and interpolation on a device; the CPU computes in double

    Accuracy, cost and the method: include/kugel/points.h.
    """

    def __init__(self, lmax: int, mmax: int | None = None, spin: int = 0, mode: str | None = None, tolerance: float | None = None, *,
                 device: str | None = None, precision: str = "f64") -> None:
        if mode is None:
            mode = "spin" if spin else "scalar"
        opts = options(_ffi.kugel_sht_points_opts, lmax=int(lmax), mmax=mmax_option(mmax, lmax), mode=choice(_MODES, mode, "mode"),
                       spin=int(spin), tolerance=float(tolerance or 0), precision=choice(_PRECISIONS, precision, "precision"))
        out = ctypes.c_void_p()
        self._context = nufft_arrays.context(device)
        lib.kugel_sht_points_plan_create(self._context.address if self._context else None, ctypes.byref(opts), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_sht_points_plan_destroy)
        info = options(_ffi.kugel_sht_points_info)
        lib.kugel_sht_points_get_info(self._handle.address, info)
        #: highest degree and order, coefficients of one alm set
        self.lmax, self.mmax, self.nalm = info.lmax, info.mmax, info.nalm
        #: alm sets, and values of a point
        self.n_alm_sets, self.n_values = info.n_alm_sets, info.n_values
        self.tolerance = info.tolerance

    @property
    def device(self) -> str:
        """Where the plan computes, such as "cpu"."""
        return self._context.name if self._context else "cpu"

    @takes(direction=("theta", "phi"))
    def points(self, theta: Any, phi: Any) -> Points:
        """Points at colatitudes theta, 0 to pi, and longitudes phi, any finite numbers, in radians: arrays that broadcast
        together, or arrays of one shape in the memory of the plan's device. Values at them have their shape."""
        return Points(self, theta, phi)


class _Sums:
    """What points and lenses share: `plan`, `shape`, the number of points `_n`, `_handle`, and two functions of the library."""

    _forward: Any
    _back: Any

    def synthesis(self, alm: Any, out: Any = None) -> Any:
        """Values at the points: alm [..., nalm], of several sets [..., sets, nalm], complex64 or complex128, gives [..., points...]
        or [..., values, points...] in float32 or float64. The frame of values with a direction is that of theta and phi."""
        plan = self.plan
        sets, values = (plan.n_alm_sets,), (plan.n_values,)
        return self._run(self._forward, alm, "alm", _REAL, np.complex128, sets + (plan.nalm,), values + (self._n,),
                         (sets if plan.n_alm_sets > 1 else ()) + (plan.nalm,), (values if plan.n_values > 1 else ()) + self.shape, out)

    def adjoint(self, values: Any, out: Any = None) -> Any:
        """The adjoint of synthesis, a_lm = sum_j values_j conj(Y_lm) at the points; the shapes of synthesis the other way. The
        inner product of alm is sum_l a_l0 b_l0 + 2 Re sum_(m>0) a_lm conj(b_lm)."""
        plan = self.plan
        sets, numbers = (plan.n_alm_sets,), (plan.n_values,)
        return self._run(self._back, values, "values", _COMPLEX, np.float64, numbers + (self._n,), sets + (plan.nalm,),
                         (numbers if plan.n_values > 1 else ()) + self.shape, (sets if plan.n_alm_sets > 1 else ()) + (plan.nalm,), out)

    def _run(self, function, x, name, kinds, usual, whole, other, own, result, out):
        there = nufft_arrays.on_device(x)
        if there is not None:
            return self._run_there(function, there.typed(there.dtype if there.dtype in kinds else np.dtype(usual)), name, kinds,
                                   whole, other, own, result, out)
        x = np.asarray(x)
        x = np.ascontiguousarray(x if x.dtype in kinds else x.astype(usual))
        lead, dtype = _leading(x, own, name), kinds[x.dtype]
        if out is None:
            out = np.empty(lead + result, dtype)
        elif not isinstance(out, np.ndarray) or out.dtype != dtype or out.shape != lead + result or not out.flags.c_contiguous:
            raise ValueError(f"out must be a contiguous array {lead + result} of dtype {dtype}")
        writable(out, "out")
        long_call(function, self._handle.address, view(x.reshape(lead + whole)), view(out.reshape(lead + other)), None)
        return out

    def _run_there(self, function, x, name, kinds, whole, other, own, result, out):
        nufft_arrays.check_place(x, self.plan._context, name)
        lead, dtype = _leading(x, own, name), kinds[x.dtype]
        to = x.new(lead + result, dtype) if out is None else nufft_arrays.on_device(out)
        if to is None or to.dtype != dtype or to.shape != lead + result or not to.contiguous:
            raise ValueError(f"out must be a contiguous array {lead + result} of dtype {dtype} on {x.device}")
        function(self._handle.address, ctypes.byref(x.reshaped(lead + whole).view()), ctypes.byref(to.reshaped(lead + other).view()),
                 x._queue())
        return to.value() if out is None else out


def _places(theta, phi, context):
    """Points as the library takes them, [N, 2], and their shape; of device arrays when what their streams have to do is done."""
    there = nufft_arrays.on_device(theta)
    if there is not None:
        nufft_arrays.check_place(there, context, "theta")
        x = nufft_arrays.columns((theta, phi))
        x = x.reshaped((x.shape[0], 2))
        _wait(x)
        return x, there.shape
    theta, phi = np.broadcast_arrays(np.asarray(theta, np.float64), np.asarray(phi, np.float64))
    return np.ascontiguousarray(np.stack([theta.ravel(), phi.ravel()], axis=-1)), theta.shape


def _wait(x):
    queue = x._queue()
    if queue is not None:
        lib.kugel_queue_wait(queue)


def _view(x):
    return view(x) if isinstance(x, np.ndarray) else ctypes.byref(x.view())


class Points(_Sums):
    """Points of a plan: made by Plan.points."""

    _forward, _back = staticmethod(lib.kugel_sht_points_synthesis), staticmethod(lib.kugel_sht_points_adjoint)

    def __init__(self, plan: Any, theta: Any, phi: Any) -> None:
        x, shape = _places(theta, phi, plan._context)
        #: the plan, the shape of the points
        self.plan, self.shape = plan, shape
        self._n = x.shape[0]
        out = ctypes.c_void_p()
        long_call(lib.kugel_sht_points_create, plan._handle.address, _view(x), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_sht_points_destroy)

    def solve(self, values: npt.ArrayLike, tolerance: float = 1e-10, max_iterations: int = 50) -> Any:
        """Least-squares analysis: (alm, stats), alm that minimise sum |values - synthesis(alm)|^2, by conjugate gradients until
        the normal residual falls to `tolerance`; ConvergenceError after max_iterations. values [points...], of several values
        [values, points...]. stats: iterations, residual, normal_residual as numbers. Not for gradients."""
        plan = self.plan
        values = np.ascontiguousarray(values, np.float64)
        own = ((plan.n_values,) if plan.n_values > 1 else ()) + self.shape
        if values.shape != own:
            raise ValueError(f"values has shape {values.shape}, must be {own}")
        out = np.empty((plan.n_alm_sets, plan.nalm), np.complex128)
        opts = options(_ffi.kugel_solve_opts, tolerance=float(tolerance), max_iterations=int(max_iterations))
        stats = _ffi.kugel_solve_stats()
        long_call(lib.kugel_sht_points_solve, self._handle.address, view(values.reshape(plan.n_values, self._n)), view(out),
                  ctypes.byref(opts), ctypes.byref(stats), None)
        return (out if plan.n_alm_sets > 1 else out[0],
                {name: getattr(stats, name) for name in ("iterations", "residual", "normal_residual")})


def _leading(x, own, name):
    lead = x.ndim - len(own)
    if lead < 0 or x.shape[lead:] != own:
        raise ValueError(f"{name} has shape {tuple(x.shape)}, must end with {own}")
    return tuple(x.shape[:lead])


def _lmax(alm, mmax=None, name="alm"):
    if len(alm.shape) == 0:
        raise ValueError(f"{name} is a number; it must be an array of coefficients")
    lmax = Alm.getlmax(alm.shape[-1], mmax)
    if lmax < 0:
        raise ValueError(f"{name} has {alm.shape[-1]} coefficients, which no lmax has{'' if mmax is None else ' with this mmax'}")
    return lmax


@takes(direction=("theta", "phi"))
def synthesis(alm: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike, spin: int = 0, lmax: int | None = None, mmax: int | None = None,
              mode: str | None = None, tolerance: float | None = None, *, device: str | None = None) -> Any:
    """Values at points (theta, phi) of the field of alm [..., nalm] (with a spin [..., 2, nalm], E and B); arguments as of Plan.
    lmax None: from the number of coefficients.

        temperature = kugel.points.synthesis(alm, theta, phi)
        d_theta, d_phi = kugel.points.synthesis(alm, theta, phi, mode="grad")
    """
    alm = np.asarray(alm) if nufft_arrays.on_device(alm) is None else alm
    if lmax is None:
        lmax = _lmax(alm, mmax)
    return Plan(lmax, mmax, spin, mode, tolerance, device=device).points(theta, phi).synthesis(alm)


@takes(direction=("theta", "phi"))
def adjoint(values: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike, lmax: int, spin: int = 0, mmax: int | None = None,
            mode: str | None = None, tolerance: float | None = None, *, device: str | None = None) -> Any:
    """The adjoint of synthesis: alm of values [..., points...] (with a spin [..., 2, points...])."""
    return Plan(lmax, mmax, spin, mode, tolerance, device=device).points(theta, phi).adjoint(values)


@takes(direction=("theta", "phi"))
def interpolate(maps: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike, nest: bool = False, lonlat: bool = False, *,
                lmax: int | None = None, iter: int = 3, pol: bool = True, tolerance: float | None = None, device: str | None = None) -> Any:
    """Values of HEALPix maps at directions, as kugel.get_interp_val, but by their harmonics: the analysis of a map, then its sum at
    the points. Exact to the tolerance and the quadrature for maps without harmonics above lmax.

        value = kugel.points.interpolate(m, lon, lat, lonlat=True, lmax=2 * nside)

    maps:      a map, or several: an array with a row each; three are T, Q, U unless pol is False
    lmax:      3 nside - 1 unless given; the quadrature is best up to 2 nside
    iter:      refinements of the analysis, as of map2alm
    device:    where both steps compute, as of Plan
    """
    several = maptype(maps) != 0
    if lonlat:
        theta, phi = np.radians(90 - np.asarray(phi, float)), np.radians(theta)
    maps = np.atleast_2d(filled(maps))
    if not np.isfinite(maps).all() or (np.abs(maps / UNSEEN - 1) < 1e-5).any():
        raise ValueError("a map has pixels without a value; harmonics need whole maps: fill them, or interpolate between pixels")
    if nest:
        maps = np.array([reorder(m, n2r=True) for m in maps])
    pol = pol and len(maps) == 3
    alm = np.atleast_2d(map2alm(maps if several else maps[0], lmax=lmax, iter=iter, pol=pol, device=device))
    points = Plan(_lmax(alm), mode="teb" if pol else None, tolerance=tolerance, device=device).points(theta, phi)
    out = points.synthesis(alm)
    if several:
        return out
    return out[0] if points.shape else float(out[0])


@takes("d_theta", "d_phi", direction=("theta", "phi"))
def deflect(theta: npt.ArrayLike, phi: npt.ArrayLike, d_theta: npt.ArrayLike, d_phi: npt.ArrayLike) -> tuple[Any, Any, Any]:
    """Points moved along great circles by deflections with components d_theta and d_phi, radians of arc: (theta, phi, turn).

    Values x + i y of spin s at the moved points (Q + i U: s = 2; theta and phi components of a vector: s = 1), times
    exp(i s turn), are those seen at the points. All arguments broadcast together.
    """
    theta, phi, d_theta, d_phi = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (theta, phi, d_theta, d_phi)))
    shape, n = theta.shape, theta.size
    x = np.ascontiguousarray(np.stack([theta.ravel(), phi.ravel()], axis=-1))
    d = np.ascontiguousarray(np.stack([d_theta.ravel(), d_phi.ravel()]))
    moved, turn = np.empty((n, 2)), np.empty(n)
    long_call(lib.kugel_points_deflect, None, view(x), view(d), view(moved), view(turn))
    return moved[:, 0].reshape(shape), moved[:, 1].reshape(shape), turn.reshape(shape)


class Lens(_Sums):
    """A sky seen through a lens, as an operator of its coefficients: exact sums where the gradient of a potential leads from each
    point, directions turned back, and the exact adjoint.

        lens = kugel.points.Lens(potential, lmax, nside=1024, mode="teb")
        t, q, u = lens.synthesis([t, e, b])                # [..., sets, nalm] -> [..., values, npix]
        gradient = lens.adjoint([dt, dq, du])              # by the unlensed alm, of a function of the lensed maps

    potential:  alm of the lensing potential, of any lmax; None with `deflection`
    lmax, mmax, spin, mode, tolerance, device, precision: of the sky, as of Plan
    nside:      of HEALPix maps (RING); or
    theta, phi, deflection: any points, and the components (towards theta, towards phi) of the deflection there, radians of arc
    """

    _forward, _back = staticmethod(lib.kugel_lens_synthesis), staticmethod(lib.kugel_lens_adjoint)

    def __init__(self, potential: Any, lmax: int, nside: int | None = None, *, mmax: int | None = None, spin: int = 0,
                 mode: str | None = None, tolerance: float | None = None, theta: Any = None, phi: Any = None, deflection: Any = None,
                 device: str | None = None, precision: str = "f64") -> None:
        #: what sums need besides the points
        self.plan = Plan(lmax, mmax, spin, mode, tolerance, device=device, precision=precision)
        if (nside is None) == (theta is None) or (potential is None) == (deflection is None):
            raise ValueError("give nside or theta and phi, and potential or deflection")
        if nside is not None:
            theta, phi = pix2ang(nside, np.arange(12 * nside ** 2))
        if potential is not None:
            deflection = _gradient(potential, nside, theta, phi, device, min(self.plan.tolerance, 1e-9))
        x, shape = _places(theta, phi, self.plan._context)
        d = nufft_arrays.on_device(deflection)
        if d is None:
            d = np.ascontiguousarray(np.broadcast_to(np.asarray(deflection, np.float64), (2,) + shape).reshape(2, -1))
        elif d.shape != (2,) + shape:
            raise ValueError(f"deflection has shape {d.shape}, must be {(2,) + shape}")
        else:
            nufft_arrays.check_place(d, self.plan._context, "deflection")
            d = d.typed(np.dtype(np.float64)).reshaped((2, x.shape[0]))
            _wait(d)
        if not isinstance(x, np.ndarray):
            x = x.typed(np.dtype(np.float64))
            _wait(x)
        #: of the points
        self.shape = shape
        self._n = x.shape[0]
        out = ctypes.c_void_p()
        long_call(lib.kugel_lens_create, self.plan._handle.address, _view(x), _view(d), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_lens_destroy)


def _gradient(potential, nside, theta, phi, device, tolerance):
    """The gradient of a potential at pixels or points, [2, points...]."""
    there = nufft_arrays.on_device(potential)
    potential = np.asarray(potential) if there is None else potential
    shape = potential.shape if there is None else there.shape
    if len(shape) != 1:
        raise ValueError(f"potential has shape {tuple(shape)}, must be [nalm]")
    top = Alm.getlmax(shape[0])
    if top < 0:
        raise ValueError(f"potential has {shape[0]} coefficients, which no lmax has")
    if there is None:
        potential = potential.astype(np.complex128)
    if nside is not None:
        return SHT(Grid.healpix(nside), top, mode="grad", device=device).synthesis(potential)
    return Plan(top, mode="grad", tolerance=tolerance, device=device).points(theta, phi).synthesis(potential)


def lens(alm: npt.ArrayLike, potential: npt.ArrayLike, nside: int, tolerance: float | None = None, *, device: str | None = None) -> Any:
    """HEALPix maps (RING) of a sky seen through a lens: alm [nalm] of a scalar gives one map [npix], (T, E, B) [3, nalm] gives
    (T, Q, U) [3, npix].

        t, q, u = kugel.points.lens([t, e, b], potential, 1024)

    potential: alm of the lensing potential psi, of any lmax: a pixel at n shows the sky at the end of the great circle from n
    along its gradient there. Maps are exact to the tolerance: nothing is interpolated from pixels, and nothing is expanded in
    powers of the deflection. Lens is the same as a plan, with the adjoint.
    """
    alm = np.asarray(alm)
    if alm.shape[:-1] not in ((), (3,)):
        raise ValueError(f"alm has shape {alm.shape}, must be [nalm] or, of T, E and B, [3, nalm]")
    return Lens(potential, _lmax(alm), nside, mode="teb" if alm.ndim == 2 else None, tolerance=tolerance,
                device=device).synthesis(alm)
