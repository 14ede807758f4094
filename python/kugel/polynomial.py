# SPDX-License-Identifier: BSD-3-Clause
"""Polynomial transforms: Jones-Worland in radius, associated Legendre in colatitude, Zernike on the disk, changes of basis.

    t = kugel.polynomial.JonesWorland(l=3, n=64)           # functions W_n^3(r), n < 64
    values = t.synthesis(c)                                # c [..., 64] real or complex, at t.r
    c = t.analysis(values)
    slope = t.synthesis(c, "d1")                           # df / dr

    t = kugel.polynomial.JonesWorland(range(100), 64)      # one system for each l: c [..., 100, 64]
    t = kugel.polynomial.AssociatedLegendre(m=2, lmax=50)  # c [..., 51] by l; values at t.theta
    t = kugel.polynomial.Zernike(nmax=20)                  # wavefronts on the unit disk
    t = kugel.polynomial.Shell(64, 0.35, 1.0)              # Chebyshev in the radius of a shell
    p = kugel.polynomial.cheb2leg(c)

Functions are orthonormal; P_l^m are without the Condon-Shortley phase. All transforms are linear maps with real matrices.
Arrays of NumPy, PyTorch and JAX give results of their kind; those of PyTorch and JAX have derivatives of any order,
by the adjoints, and work under torch.func, torch.compile, jax.jit, grad, jvp and vmap. Keep a plan for as long as functions that were
compiled with it.

Jones-Worland, associated Legendre and ultraspherical plans transform arrays in a device's memory (DeviceArray, CuPy, PyTorch, JAX, the CUDA
array interface, DLPack) there, with any strides and on the array's stream; results stay there. A plan makes its twin on that device when it
first meets one. With device="cuda:0" (or "opencl:0") host arrays travel to that device, too.
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._lib import lib, long_call, options, view
from ._linear import LinearPlan

if TYPE_CHECKING:
    import numpy.typing as npt

_TYPES = {"chebyshev": _ffi.KUGEL_WORLAND_CHEBYSHEV, "legendre": _ffi.KUGEL_WORLAND_LEGENDRE,
          "cylinder-energy": _ffi.KUGEL_WORLAND_CYLINDER_ENERGY, "sphere-energy": _ffi.KUGEL_WORLAND_SPHERE_ENERGY,
          "jacobi": _ffi.KUGEL_WORLAND_JACOBI}
_NORMS = {"unity": _ffi.KUGEL_WORLAND_UNITY, "natural": _ffi.KUGEL_WORLAND_NATURAL}
_ENGINES = {"auto": _ffi.KUGEL_WORLAND_AUTO, "connection": _ffi.KUGEL_WORLAND_CONNECTION, "dense": _ffi.KUGEL_WORLAND_DENSE,
            "quadrature": _ffi.KUGEL_WORLAND_QUADRATURE, "bidiagonal": _ffi.KUGEL_WORLAND_BIDIAGONAL, "scan": _ffi.KUGEL_WORLAND_SCAN,
            "tensor": _ffi.KUGEL_WORLAND_TENSOR}
_OPERATORS = {"p": _ffi.KUGEL_WORLAND_P, "d1": _ffi.KUGEL_WORLAND_D1, "r1": _ffi.KUGEL_WORLAND_R1,
              "divr1": _ffi.KUGEL_WORLAND_DIV_R1, "divr1d1r1": _ffi.KUGEL_WORLAND_DIV_R1_D1_R1,
              "sphlapl": _ffi.KUGEL_WORLAND_SPH_LAPL, "cyllapl": _ffi.KUGEL_WORLAND_CYL_LAPL}
_INTEGRALS = {0: 0, 2: _ffi.KUGEL_WORLAND_I2, 4: _ffi.KUGEL_WORLAND_I4}
_PRECISIONS = {"f64": _ffi.KUGEL_PRECISION_F64, "f32": _ffi.KUGEL_PRECISION_F32}
_ORDERS = {"osa": _ffi.KUGEL_ZERNIKE_OSA, "noll": _ffi.KUGEL_ZERNIKE_BY_NOLL}
_MEANS = {"noll": _ffi.KUGEL_ZERNIKE_NOLL, "orthonormal": _ffi.KUGEL_ZERNIKE_ORTHONORMAL, "natural": _ffi.KUGEL_ZERNIKE_NATURAL}
_SHELL = {"p": _ffi.KUGEL_SHELL_P, "d1": _ffi.KUGEL_SHELL_D1, "d2": _ffi.KUGEL_SHELL_D2, "r1": _ffi.KUGEL_SHELL_R1,
          "divr1": _ffi.KUGEL_SHELL_DIV_R1, "divr2": _ffi.KUGEL_SHELL_DIV_R2, "divr1d1": _ffi.KUGEL_SHELL_DIV_R1_D1}
_METHODS = {"auto": _ffi.KUGEL_ULTRA_AUTO, "direct": _ffi.KUGEL_ULTRA_DIRECT, "fast": _ffi.KUGEL_ULTRA_FAST}


def _choice(name, value, allowed):
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed are {', '.join(map(repr, allowed))}")
    return allowed[value]


def _list(name, values):
    """A list of integers and whether it was a single number."""
    a = np.asarray(values)
    if a.ndim > 1 or a.size == 0 or a.dtype.kind not in "iu":
        raise ValueError(f"{name} is {values!r}; give an integer or a list of them")
    return np.ascontiguousarray(np.atleast_1d(a), np.int64), a.ndim == 0


class JonesWorland(LinearPlan):
    """Transforms between n coefficients of W_n^l and values at nr radii.

    l:             degree, or a list of degrees, one system each (or `multiplicity` systems each, one after another)
    n:             coefficients, or with `nl` the largest number of them
    nr:            radii; None: as few as are exact
    type, norm:    "chebyshev", "legendre", "cylinder-energy", "sphere-energy", "jacobi"; "unity" or "natural"
    a, shift:      of type "jacobi": r^l P_n^{(a, l + shift)}(2 r^2 - 1), multiples of 1/2 from -1/2 to 16. Dedalus' ball: a = k, shift = 1/2
    radii:         evaluate at these radii of [0, 1] instead; no analysis
    engine:        "auto", "connection", "dense"; for comparison "quadrature", "bidiagonal", on devices "scan" and, in float64, "tensor"
    precision:     "f64", "f32", or "dd", double-double: about 31 digits, op "p" of type "chebyshev" by "connection", on the CPU; NumPy's
                   arrays, float64[..., n, 2] and complex128[..., n, 2] of high and low parts
    energy:        True: make the tables of .energy()
    device:        where transforms run: "cpu", "cuda:0", "opencl:0", "auto"; energy() is on the CPU
    """

    _prefix = "kugel_jwt"

    def __init__(self, l: int, n: int, nr: int | None = None, *, type: str = "chebyshev", norm: str = "unity", multiplicity: Any = None,
                 nl: int | None = None, radii: npt.ArrayLike | None = None, engine: str = "auto", precision: str = "f64",
                 energy: Any = False, max_table: int = 0, a: Any = 0.0, shift: float = 0.0, device: str | None = None) -> None:
        degrees, one = _list("l", l)
        lists = {"l": degrees}
        for name, value in (("multiplicity", multiplicity), ("nl", nl)):
            if value is not None:
                lists[name] = np.ascontiguousarray(np.broadcast_to(_list(name, value)[0], degrees.shape))
        one = one and multiplicity is None
        if radii is not None:
            lists["radii"] = np.ascontiguousarray(np.atleast_1d(radii), np.float64)
            nr = len(lists["radii"])
        self._twofold = precision == "dd"
        own = _ffi.KUGEL_PRECISION_DD if self._twofold else _choice("precision", precision, _PRECISIONS)
        self.dtype = np.dtype(np.float32 if own == _ffi.KUGEL_PRECISION_F32 else np.float64)
        opts = options(_ffi.kugel_jwt_opts, type=_choice("type", type, _TYPES), norm=_choice("norm", norm, _NORMS),
                       engine=_choice("engine", engine, _ENGINES), precision=own, n=int(n),
                       nr=int(nr or 0), blocks=len(degrees), energy=int(bool(energy)), max_table=int(max_table),
                       a=float(a), shift=float(shift), **lists)
        self._make(opts, device)
        info = options(_ffi.kugel_jwt_info)
        lib.kugel_jwt_get_info(self._handle.address, info)
        #: coefficients, radii and systems; bytes of tables; degrees that go through tables
        self.n, self.nr, self.systems = info.n, info.nr, info.systems
        self.table_bytes, self.dense_blocks = info.table_bytes, info.dense_blocks
        self._inner, self._lead = one, () if one else (self.systems,)
        pair = (2,) * self._twofold
        self._coefficients, self._values = self._lead + (self.n,) + pair, self._lead + (self.nr,) + pair
        #: the radii, and the weights of the integral of f dr / sqrt(1 - r^2) (None for radii of the caller)
        self.r = np.empty(self.nr)
        self.weights = None if radii is not None else np.full(self.nr, np.pi / (2 * self.nr))
        lib.kugel_jwt_grid(self._handle.address, self.r.ctypes.data, None)

    def _apply(self, verb, x, words=(), out=None):
        if not self._twofold:
            return super()._apply(verb, x, words, out)
        x, (given, made) = np.asarray(x), self._shapes(verb)
        if x.ndim < len(given):
            raise ValueError(f"the array has {x.ndim} axes, at least {len(given)} are needed, the last one of high and low parts")
        if out is None:
            out = np.empty(x.shape[:x.ndim - len(given)] + made, complex if x.dtype.kind == "c" else float)
        for part in ("real", "imag")[:1 + (x.dtype.kind == "c")]:
            a, b = np.ascontiguousarray(getattr(x, part), float), np.empty(out.shape)
            pair = [v[..., None, :, :] if self._inner else v for v in (a, b)]  # the library's axis of systems
            long_call(getattr(lib, f"kugel_jwt_{verb}"), self._handle.address, *words, *map(view, pair), None)
            setattr(out, part, b)
        return out

    def _op(self, op, zero, integrals=0):
        return (_choice("op", op, _OPERATORS) | (_ffi.KUGEL_WORLAND_ZERO if zero else 0)
                | _choice("integrals", integrals, _INTEGRALS),)

    def synthesis(self, coefficients: Any, op: str = "p", *, zero: bool = False, out: Any = None) -> Any:
        """Values of op ("p", "d1", "r1", "divr1", "divr1d1r1", "sphlapl", "cyllapl"); zero: those of l = 0 are 0."""
        return self._apply("synthesis", coefficients, self._op(op, zero), out)

    def analysis(self, values: Any, op: str = "p", *, zero: bool = False, integrals: int = 0, out: Any = None) -> Any:
        """Coefficients of op ("p", "r1", "divr1", "divr1d1r1") on values, integrated 0, 2 or 4 times over x = 2 r^2 - 1."""
        return self._apply("analysis", values, self._op(op, zero, integrals), out)

    def synthesis_adjoint(self, values: Any, op: str = "p", *, zero: bool = False, out: Any = None) -> Any:
        """The transpose of synthesis."""
        return self._apply("synthesis_adjoint", values, self._op(op, zero), out)

    def analysis_adjoint(self, coefficients: Any, op: str = "p", *, zero: bool = False, integrals: int = 0, out: Any = None) -> Any:
        """The transpose of analysis."""
        return self._apply("analysis_adjoint", coefficients, self._op(op, zero, integrals), out)

    def energy(self, coefficients: Any, op: str = "p", *, zero: bool = False) -> Any:
        """The integral of |op f|^2 r^2 dr of each system; of NumPy's arrays."""
        c = np.asarray(coefficients)
        if c.dtype.kind == "c":
            return self.energy(c.real, op, zero=zero) + self.energy(c.imag, op, zero=zero)
        return self._run(lib.kugel_jwt_energy, self._op(op, zero), c, self._coefficients, self._lead)


_SPARSE = {"r2": _ffi.KUGEL_WORLAND_TIMES_R2, "r1up": _ffi.KUGEL_WORLAND_TIMES_R_UP, "r1down": _ffi.KUGEL_WORLAND_TIMES_R_DOWN,
           "i1": _ffi.KUGEL_WORLAND_QI1, "i2": _ffi.KUGEL_WORLAND_QI2, "i4": _ffi.KUGEL_WORLAND_QI4,
           "i2sphlapl": _ffi.KUGEL_WORLAND_I2_SPH_LAPL, "i4sphlapl": _ffi.KUGEL_WORLAND_I4_SPH_LAPL,
           "i4sphlapl2": _ffi.KUGEL_WORLAND_I4_SPH_LAPL2, "i2cyllapl": _ffi.KUGEL_WORLAND_I2_CYL_LAPL,
           "i4cyllapl": _ffi.KUGEL_WORLAND_I4_CYL_LAPL, "i4cyllapl2": _ffi.KUGEL_WORLAND_I4_CYL_LAPL2,
           "i1qm": _ffi.KUGEL_WORLAND_I1_QM, "i2qm": _ffi.KUGEL_WORLAND_I2_QM, "i4qm": _ffi.KUGEL_WORLAND_I4_QM,
           "i1qp": _ffi.KUGEL_WORLAND_I1_QP, "i2qp": _ffi.KUGEL_WORLAND_I2_QP, "i4qp": _ffi.KUGEL_WORLAND_I4_QP}
_CONDITIONS = {"value": _ffi.KUGEL_WORLAND_VALUE, "slope": _ffi.KUGEL_WORLAND_SLOPE, "curvature": _ffi.KUGEL_WORLAND_CURVATURE,
               "insulating": _ffi.KUGEL_WORLAND_INSULATING, "stress-free": _ffi.KUGEL_WORLAND_STRESS_FREE}


class WorlandBasis:
    """Sparse operators, boundary rows and Galerkin stencils for equations in radius on n functions W_i^l.

        basis = WorlandBasis(l, n + 1)                                   # for n coefficients: see <kugel/worland.h>
        A = basis.dense("i2sphlapl")[2:, :n]                             # n - 1 rows
        B = basis.dense("i2")[2:, :n]
        A = np.vstack([basis.boundary("value")[:n], A])                  # f(1) = 0

    type, norm, a, shift: as JonesWorland. Elements are right to the last bit.
    """

    def __init__(self, l: int, n: int, *, type: str = "chebyshev", norm: str = "unity", a: Any = 0.0, shift: float = 0.0) -> None:
        self.l, self.n = int(l), int(n)
        self._basis = options(_ffi.kugel_worland_basis, type=_choice("type", type, _TYPES), norm=_choice("norm", norm, _NORMS),
                              a=float(a), shift=float(shift), l=self.l, n=self.n)

    def band(self, op: str) -> Any:
        """A sparse operator by diagonals: (lower, band) with element (i, i + d - lower) at band[d, i].

        op: "r2", "r1up" (of degree l - 1), "r1down" (of l + 1); quasi-inverses "i1", "i2", "i4"; times Laplacians "i2sphlapl", "i4sphlapl",
        "i4sphlapl2" and the same with "cyl"; times f' - (l - 1) f / r of degree l - 1 "i1qm", "i2qm", "i4qm" and f' + (l + 2) f / r of
        degree l + 1 "i1qp", "i2qp", "i4qp".
        """
        lower, upper = ctypes.c_int64(), ctypes.c_int64()
        call = (None, ctypes.byref(self._basis), _choice("op", op, _SPARSE), ctypes.byref(lower), ctypes.byref(upper))
        lib.kugel_worland_band(*call, None)
        out = np.empty((lower.value + upper.value + 1, self.n))
        lib.kugel_worland_band(*call, out.ctypes.data)
        return lower.value, out

    def dense(self, op: str) -> Any:
        """The same as a matrix [n, n]."""
        lower, band = self.band(op)
        out = np.zeros((self.n, self.n))
        for d, diagonal in enumerate(band, -lower):
            i = np.arange(max(0, -d), self.n - max(0, d))
            out[i, i + d] = diagonal[i]
        return out

    def boundary(self, condition: Any) -> Any:
        """The row of "value", "slope", "curvature", "insulating" (f' + (l + 1) f) or "stress-free" (f' - f), at r = 1."""
        out = np.empty(self.n)
        lib.kugel_worland_boundary(ctypes.byref(self._basis), _choice("condition", condition, _CONDITIONS), out.ctypes.data)
        return out

    def stencil(self, *conditions: Any) -> Any:
        """The matrix [n, n - k] whose columns satisfy k = 1 or 2 conditions, with k + 1 diagonals from the main one down."""
        numbers = (ctypes.c_int * max(1, len(conditions)))(*(_choice("condition", c, _CONDITIONS) for c in conditions))
        k, m = len(conditions), max(0, self.n - len(conditions))
        band, out = np.empty((k + 1, m)), np.zeros((self.n, m))
        lib.kugel_worland_stencil(ctypes.byref(self._basis), k, numbers, band.ctypes.data)
        j = np.arange(m)
        for d in range(k + 1):
            out[j + d, j] = band[d]
        return out


class AssociatedLegendre(LinearPlan):
    """Transforms between coefficients of P_l^m by l, 0 ... lmax, and values at n colatitudes.

    m:      order, or a list of orders, one system each
    n:      colatitudes theta_i = pi (2 i + 1) / (2 n); None: lmax + 1, which is exact
    theta:  evaluate at these colatitudes instead; no analysis
    device: as for JonesWorland
    """

    _prefix = "kugel_alt"

    def __init__(self, m: int, lmax: int, n: int | None = None, *, theta: npt.ArrayLike | None = None, multiplicity: Any = None,
                 precision: str = "f64", device: str | None = None) -> None:
        orders, one = _list("m", m)
        lists = {"m": orders}
        if multiplicity is not None:
            lists["multiplicity"] = np.ascontiguousarray(np.broadcast_to(_list("multiplicity", multiplicity)[0], orders.shape))
        systems = int(lists["multiplicity"].sum()) if multiplicity is not None else len(orders)
        if theta is not None:
            lists["theta"] = np.ascontiguousarray(np.atleast_1d(theta), np.float64)
            n = len(lists["theta"])
        self.dtype = np.dtype(np.float32 if _choice("precision", precision, _PRECISIONS) else np.float64)
        opts = options(_ffi.kugel_alt_opts, precision=_PRECISIONS[precision], lmax=int(lmax), blocks=len(orders), n=int(n or 0),
                       **lists)
        self._make(opts, device)
        one = one and multiplicity is None
        self.lmax, self.n, self.systems = int(lmax), int(n or lmax + 1), systems
        self._inner, lead = one, () if one else (systems,)
        self._coefficients, self._values = lead + (self.lmax + 1,), lead + (self.n,)
        #: the colatitudes
        self.theta = lists["theta"].copy() if theta is not None else np.pi * (2 * np.arange(self.n) + 1) / (2 * self.n)

    def synthesis(self, coefficients: Any, *, out: Any = None) -> Any:
        """Values; coefficients of l < m are not read."""
        return self._apply("synthesis", coefficients, out=out)

    def analysis(self, values: Any, *, out: Any = None) -> Any:
        """Coefficients; those of l < m are 0."""
        return self._apply("analysis", values, out=out)

    def synthesis_adjoint(self, values: Any, *, out: Any = None) -> Any:
        """The transpose of synthesis."""
        return self._apply("synthesis_adjoint", values, out=out)

    def analysis_adjoint(self, coefficients: Any, *, out: Any = None) -> Any:
        """The transpose of analysis."""
        return self._apply("analysis_adjoint", coefficients, out=out)


class Zernike(LinearPlan):
    """Transforms between coefficients of Zernike polynomials of degrees to nmax and values on a disk.

        t = Zernike(30)                                   # 496 coefficients; values [..., 16, 62] at t.r, t.phi
        t = Zernike(30, r=r, phi=phi)                     # values [..., len(r)] at these points; no analysis
        astigmatism = c[..., t.index(2, 2)]

    nr, nphi:  radii and angles of the grid; None: the fewest radii, 2 nmax + 2 angles
    norm:      "noll" (mean square 1 over the disk), "orthonormal" (over r dr dphi), "natural" (R_n^m(1) = 1)
    order:     of coefficients: "osa" or "noll"
    r, phi:    evaluate at these points, 0 <= r <= 1, instead
    """

    _prefix, _devices = "kugel_zernike", False

    def __init__(self, nmax: int, nr: int | None = None, nphi: int | None = None, *, norm: str = "noll", order: str = "osa", r: Any = None,
                 phi: npt.ArrayLike | None = None, precision: str = "f64") -> None:
        points = {}
        if (r is None) != (phi is None):
            raise ValueError("give both r and phi, or none of them")
        if r is not None:
            r, phi = (np.ascontiguousarray(np.ravel(v), np.float64) for v in np.broadcast_arrays(r, phi))
            points = {"r": r, "phi": phi, "points": len(r)}
        self.dtype = np.dtype(np.float32 if _choice("precision", precision, _PRECISIONS) else np.float64)
        self._order = _choice("order", order, _ORDERS)
        self._make(options(_ffi.kugel_zernike_opts, precision=_PRECISIONS[precision], norm=_choice("norm", norm, _MEANS),
                           order=self._order, nmax=int(nmax), nr=int(nr or 0), nphi=int(nphi or 0), **points))
        self.nmax, self.count = int(nmax), (int(nmax) + 1) * (int(nmax) + 2) // 2
        size = (len(r), len(r)) if points else (int(nr or self.nmax // 2 + 1), int(nphi or 2 * self.nmax + 2))
        #: radii and angles of the grid, or of all points
        self.r, self.phi = np.empty(size[0]), np.empty(size[1])
        lib.kugel_zernike_grid(self._handle.address, self.r.ctypes.data, self.phi.ctypes.data)
        self._coefficients, self._values = (self.count,), size[:1] if points else size

    def index(self, n: int, m: int) -> Any:
        """Place of the coefficient of degree n and order m, negative for sines."""
        out = ctypes.c_int64()
        lib.kugel_zernike_index(self._order, int(n), int(m), ctypes.byref(out))
        return out.value

    def nm(self, index: int) -> Any:
        """Degree and order of a coefficient."""
        n, m = ctypes.c_int64(), ctypes.c_int64()
        lib.kugel_zernike_nm(self._order, int(index), ctypes.byref(n), ctypes.byref(m))
        return n.value, m.value

    def synthesis(self, coefficients: Any, *, out: Any = None) -> Any:
        """Values [..., nr, nphi] or [..., points] of coefficients [..., count]."""
        return self._apply("synthesis", coefficients, out=out)

    def analysis(self, values: Any, *, out: Any = None) -> Any:
        """Coefficients of values on the grid."""
        return self._apply("analysis", values, out=out)

    def synthesis_adjoint(self, values: Any, *, out: Any = None) -> Any:
        """The transpose of synthesis."""
        return self._apply("synthesis_adjoint", values, out=out)

    def analysis_adjoint(self, coefficients: Any, *, out: Any = None) -> Any:
        """The transpose of analysis."""
        return self._apply("analysis_adjoint", coefficients, out=out)


class Shell(LinearPlan):
    """Transforms between n Chebyshev coefficients and values at nr radii of a spherical shell.

        t = Shell(64, 0.35, 1.0)
        slope = t.synthesis(c, "d1")
        l = 3                                             # the Laplacian of degree l
        f = t.synthesis(c, "d2") + 2 * t.synthesis(c, "divr1d1") - l * (l + 1) * t.synthesis(c, "divr2")

    nr:    radii; None: n, which is exact
    norm:  "unity": orthonormal under dx / sqrt(1 - x^2); "natural": T_n(1) = 1
    """

    _prefix, _devices = "kugel_shell", False

    def __init__(self, n: int, inner: float, outer: float, nr: int | None = None, *, norm: str = "unity", precision: str = "f64") -> None:
        self.dtype = np.dtype(np.float32 if _choice("precision", precision, _PRECISIONS) else np.float64)
        self._make(options(_ffi.kugel_shell_opts, norm=_choice("norm", norm, _NORMS), precision=_PRECISIONS[precision], n=int(n),
                           nr=int(nr or 0), inner=float(inner), outer=float(outer)))
        self.n, self.nr = int(n), int(nr or n)
        #: the radii, from the outside in
        self.r = np.empty(self.nr)
        lib.kugel_shell_grid(self._handle.address, self.r.ctypes.data)
        self._coefficients, self._values = (self.n,), (self.nr,)

    def synthesis(self, coefficients: Any, op: str = "p", *, out: Any = None) -> Any:
        """Values [..., nr] of op ("p", "d1", "d2", "r1", "divr1", "divr2", "divr1d1") on coefficients [..., n]."""
        return self._apply("synthesis", coefficients, (_choice("op", op, _SHELL),), out)

    def analysis(self, values: Any, *, out: Any = None) -> Any:
        """Coefficients [..., n] of values [..., nr]."""
        return self._apply("analysis", values, out=out)

    def synthesis_adjoint(self, values: Any, op: str = "p", *, out: Any = None) -> Any:
        """The transpose of synthesis."""
        return self._apply("synthesis_adjoint", values, (_choice("op", op, _SHELL),), out)

    def analysis_adjoint(self, coefficients: Any, *, out: Any = None) -> Any:
        """The transpose of analysis."""
        return self._apply("analysis_adjoint", coefficients, out=out)


class Ultraspherical(LinearPlan):
    """Changes n coefficients of C_n^(lam) to those of C_n^(mu); 0: Chebyshev's T_n, 1/2: Legendre's P_n, 1: Chebyshev's U_n.

    method: "auto", "direct" or "fast", which is the CPU's
    device: as for JonesWorland
    """

    _prefix = "kugel_ultra"

    def __init__(self, n: int, lam: float, mu: float, *, method: str = "auto", device: str | None = None) -> None:
        self._make(options(_ffi.kugel_ultra_opts, n=int(n), to=float(mu), method=_choice("method", method, _METHODS),
                           **{"from": float(lam)}), device)
        self.n = int(n)
        self._coefficients = self._values = (self.n,)

    def __call__(self, c: Any) -> Any:
        """The coefficients [..., n] in the other family."""
        return self._apply("execute", c)

    def adjoint(self, c: Any) -> Any:
        """The transposed matrix times c."""
        return self._apply("adjoint", c)


def ultra2ultra(c: Any, lam: float, mu: float) -> Any:
    """Coefficients [..., n] of C_n^(lam) as those of C_n^(mu)."""
    return Ultraspherical(np.shape(c)[-1], lam, mu)(c)


def cheb2leg(c: Any) -> Any:
    """Chebyshev coefficients [..., n] as Legendre coefficients of the same polynomials."""
    return ultra2ultra(c, 0, 0.5)


def leg2cheb(c: Any) -> Any:
    """Legendre coefficients [..., n] as Chebyshev coefficients of the same polynomials."""
    return ultra2ultra(c, 0.5, 0)
