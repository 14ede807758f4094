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
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._lib import Handle, lib, long_call, mmax_option, options, view, writable
from .alms import Alm
from .pixelfunc import pix2ang
from .plans import SHT, Grid, _MODES, choice

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Plan", "Points", "adjoint", "deflect", "lens", "synthesis"]

_REAL = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64)}
_COMPLEX = {real: number for number, real in _REAL.items()}


class Plan:
    """What sums need besides the points.

    lmax, mmax: highest degree and order; mmax None: lmax
    spin:       0: one alm set and one value per point; 1 and more: (E, B) and two values, of the signs of HEALPix
    mode:       None: as spin says; "teb": (T, E, B) to (T, Q, U); "grad": one alm set to d/dtheta and 1/sin(theta) d/dphi;
                "der1": to the value and both
    tolerance:  root mean square of the errors over that of the field, 1e-13 to 0.1

    Computes on the CPU. Accuracy, cost and the method: include/kugel/points.h.
    """

    def __init__(self, lmax: int, mmax: int | None = None, spin: int = 0, mode: str | None = None, tolerance: float = 1e-9) -> None:
        if mode is None:
            mode = "spin" if spin else "scalar"
        opts = options(_ffi.kugel_sht_points_opts, lmax=int(lmax), mmax=mmax_option(mmax, lmax), mode=choice(_MODES, mode, "mode"),
                       spin=int(spin), tolerance=float(tolerance))
        out = ctypes.c_void_p()
        lib.kugel_sht_points_plan_create(None, ctypes.byref(opts), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_sht_points_plan_destroy)
        info = options(_ffi.kugel_sht_points_info)
        lib.kugel_sht_points_get_info(self._handle.address, info)
        #: highest degree and order, coefficients of one alm set
        self.lmax, self.mmax, self.nalm = info.lmax, info.mmax, info.nalm
        #: alm sets, and values of a point
        self.n_alm_sets, self.n_values = info.n_alm_sets, info.n_values
        self.tolerance = info.tolerance

    def points(self, theta: npt.ArrayLike, phi: npt.ArrayLike) -> Points:
        """Points at colatitudes theta, 0 to pi, and longitudes phi, any finite numbers, in radians: arrays that broadcast
        together. Values at them have their shape."""
        return Points(self, theta, phi)


class Points:
    """Points of a plan: made by Plan.points."""

    def __init__(self, plan: Any, theta: npt.ArrayLike, phi: npt.ArrayLike) -> None:
        theta, phi = np.broadcast_arrays(np.asarray(theta, np.float64), np.asarray(phi, np.float64))
        x = np.ascontiguousarray(np.stack([theta.ravel(), phi.ravel()], axis=-1))
        #: the plan, the shape of the points
        self.plan, self.shape = plan, theta.shape
        self._n = theta.size
        out = ctypes.c_void_p()
        long_call(lib.kugel_sht_points_create, plan._handle.address, view(x), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_sht_points_destroy)

    def synthesis(self, alm: npt.ArrayLike, out: Any = None) -> Any:
        """Values at the points: alm [..., nalm], of several sets [..., sets, nalm], complex64 or complex128, gives [..., points...]
        or [..., values, points...] in float32 or float64. The frame of values with a direction is that of theta and phi."""
        plan = self.plan
        alm = np.asarray(alm)
        alm = np.ascontiguousarray(alm if alm.dtype in _REAL else alm.astype(np.complex128))
        own = ((plan.n_alm_sets,) if plan.n_alm_sets > 1 else ()) + (plan.nalm,)
        lead = _leading(alm, own, "alm")
        values = ((plan.n_values,) if plan.n_values > 1 else ())
        return self._run(lib.kugel_sht_points_synthesis, alm.reshape(lead + (plan.n_alm_sets, plan.nalm)),
                         lead + (plan.n_values, self._n), lead + values + self.shape, _REAL[alm.dtype], out)

    def adjoint(self, values: npt.ArrayLike, out: Any = None) -> Any:
        """The adjoint: a_lm = sum_j values_j conj(Y_lm) at the points; the shapes of synthesis the other way. The inner product
        of alm is sum_l a_l0 b_l0 + 2 Re sum_(m>0) a_lm conj(b_lm)."""
        plan = self.plan
        values = np.asarray(values)
        values = np.ascontiguousarray(values if values.dtype in _COMPLEX else values.astype(np.float64))
        own = ((plan.n_values,) if plan.n_values > 1 else ()) + self.shape
        lead = _leading(values, own, "values")
        sets = ((plan.n_alm_sets,) if plan.n_alm_sets > 1 else ())
        return self._run(lib.kugel_sht_points_adjoint, values.reshape(lead + (plan.n_values, self._n)),
                         lead + (plan.n_alm_sets, plan.nalm), lead + sets + (plan.nalm,), _COMPLEX[values.dtype], out)

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

    def _run(self, function, x, whole, shape, dtype, out):
        if out is None:
            out = np.empty(shape, dtype)
        elif not isinstance(out, np.ndarray) or out.dtype != dtype or out.shape != shape or not out.flags.c_contiguous:
            raise ValueError(f"out must be a contiguous array {shape} of dtype {dtype}")
        writable(out, "out")
        long_call(function, self._handle.address, view(x), view(out.reshape(whole)), None)
        return out


def _leading(x, own, name):
    lead = x.ndim - len(own)
    if lead < 0 or x.shape[lead:] != own:
        raise ValueError(f"{name} has shape {x.shape}, must end with {own}")
    return x.shape[:lead]


def _lmax(alm, mmax=None, name="alm"):
    if alm.ndim == 0:
        raise ValueError(f"{name} is a number; it must be an array of coefficients")
    lmax = Alm.getlmax(alm.shape[-1], mmax)
    if lmax < 0:
        raise ValueError(f"{name} has {alm.shape[-1]} coefficients, which no lmax has{'' if mmax is None else ' with this mmax'}")
    return lmax


def synthesis(alm: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike, spin: int = 0, lmax: int | None = None, mmax: int | None = None,
              mode: str | None = None, tolerance: float = 1e-9) -> Any:
    """Values at points (theta, phi) of the field of alm [..., nalm] (with a spin [..., 2, nalm], E and B); arguments as of Plan.
    lmax None: from the number of coefficients.

        temperature = kugel.points.synthesis(alm, theta, phi)
        d_theta, d_phi = kugel.points.synthesis(alm, theta, phi, mode="grad")
    """
    alm = np.asarray(alm)
    if lmax is None:
        lmax = _lmax(alm, mmax)
    return Plan(lmax, mmax, spin, mode, tolerance).points(theta, phi).synthesis(alm)


def adjoint(values: npt.ArrayLike, theta: npt.ArrayLike, phi: npt.ArrayLike, lmax: int, spin: int = 0, mmax: int | None = None,
            mode: str | None = None, tolerance: float = 1e-9) -> Any:
    """The adjoint of synthesis: alm of values [..., points...] (with a spin [..., 2, points...])."""
    return Plan(lmax, mmax, spin, mode, tolerance).points(theta, phi).adjoint(values)


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


def lens(alm: npt.ArrayLike, potential: npt.ArrayLike, nside: int, tolerance: float = 1e-9) -> Any:
    """HEALPix maps (RING) of a sky seen through a lens: alm [nalm] of a scalar gives one map [npix], (T, E, B) [3, nalm] gives
    (T, Q, U) [3, npix].

        t, q, u = kugel.points.lens([t, e, b], potential, 1024)

    potential: alm of the lensing potential psi, of any lmax: a pixel at n shows the sky at the end of the great circle from n
    along its gradient there. Maps are exact to the tolerance: nothing is interpolated from pixels, and nothing is expanded in
    powers of the deflection.
    """
    alm, potential = np.asarray(alm), np.asarray(potential)
    lmax = _lmax(alm)
    if alm.shape[:-1] not in ((), (3,)):
        raise ValueError(f"alm has shape {alm.shape}, must be [nalm] or, of T, E and B, [3, nalm]")
    if potential.ndim != 1:
        raise ValueError(f"potential has shape {potential.shape}, must be [nalm]")
    grid = Grid.healpix(nside)
    theta, phi = pix2ang(nside, np.arange(grid.npix))
    d = SHT(grid, _lmax(potential, name="potential"), mode="grad").synthesis(potential.astype(np.complex128))
    theta, phi, turn = deflect(theta, phi, *d)
    mode = "teb" if alm.ndim == 2 else "scalar"
    maps = Plan(lmax, mode=mode, tolerance=tolerance).points(theta, phi).synthesis(alm)
    if alm.ndim == 2:
        p = (maps[1] + 1j * maps[2]) * np.exp(2j * turn)
        maps[1], maps[2] = p.real, p.imag
    return maps
