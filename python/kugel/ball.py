# SPDX-License-Identifier: BSD-3-Clause
"""Transforms in the full ball: scalar and vector fields on a grid (r, theta, phi) and their series in radius, degree and order.

    ball = kugel.ball.Ball(lmax=63, n=32, vectors=True)
    f = ball.synthesis(c)                 # c complex [..., nlm, n] -> f [..., nr, ntheta, nphi], at ball.r, .theta, .phi
    c = ball.analysis(f)
    g = ball.grad(c)                      # vector [..., 3, nlm, n]: exact maps of coefficients
    u = ball.synthesis(g, "vector")       # [..., 3, nr, ntheta, nphi]: u_r, u_theta, u_phi
    s = ball.synthesis(g, "spin")         # the same by components of spin -1, 0, 1: complex
    p = ball.profiles(g, "spin")          # [..., 3, nlm, nr]: functions of radius before the harmonics of each spin
    ball.spectrum(c, "l")                 # parts of the integral of f^2 over the ball
    Ball(..., comm=kugel.Comm.world())    # the same over ranks, each with its rows and radii

f = sum c_lmn W_n^l(r) Y_lm(theta, phi) over n < N(l): W orthonormal Jones-Worland functions (kugel.polynomial), Y_lm orthonormal
harmonics, m >= 0 alone, as fields are real. Rows are by degree and then order: ball.l and ball.m say which, ball.row(l, m) where;
this is not the order of Alm. Vectors are three series whose Cartesian components are smooth at the centre, of degrees l - 1, l + 1
and l in radius; fields without divergence are made from toroidal and poloidal potentials (from_potentials).
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._lib import Handle, lib, long_call, mmax_option, options, view, writable
from .arrays import empty_like, foreign, stream_handle
from .comm import Layout, shared
from .discs import draw
from .hardware import context
from .plans import Grid
from .polynomial import _ENGINES, _PRECISIONS, _TYPES, JonesWorland, _choice

if TYPE_CHECKING:
    import numpy.typing as npt

_TRUNCATIONS = {"rhomboidal": _ffi.KUGEL_BALL_RHOMBOIDAL, "triangular": _ffi.KUGEL_BALL_TRIANGULAR,
                "trapezoidal": _ffi.KUGEL_BALL_TRAPEZOIDAL}
_KINDS = {"scalar": _ffi.KUGEL_BALL_SCALAR, "vector": _ffi.KUGEL_BALL_VECTOR, "spin": _ffi.KUGEL_BALL_SPIN}
_AXES = {"l": _ffi.KUGEL_BALL_L, "m": _ffi.KUGEL_BALL_M, "n": _ffi.KUGEL_BALL_N}
#: number of the operator, components that it takes, components that it gives
_OPERATORS = {"grad": (_ffi.KUGEL_BALL_GRAD, 1, 3), "div": (_ffi.KUGEL_BALL_DIV, 3, 1), "curl": (_ffi.KUGEL_BALL_CURL, 3, 3),
              "laplacian": (_ffi.KUGEL_BALL_LAPLACIAN, 1, 1), "vector_laplacian": (_ffi.KUGEL_BALL_VECTOR_LAPLACIAN, 3, 3),
              "from_potentials": (_ffi.KUGEL_BALL_FROM_POTENTIALS, 2, 3), "to_potentials": (_ffi.KUGEL_BALL_TO_POTENTIALS, 3, 2)}


class Ball:
    """A plan for transforms in the ball 0 <= r <= 1. Plans never change; any number of threads may use one.

    lmax, mmax:   highest degree and order; mmax None: lmax
    n:            extent of the coefficients in radius
    truncation:   "rhomboidal": N(l) = n; "triangular": n - l // 2, all polynomials of degree below 2 n; "trapezoidal": of the
                  first kind those of degree to dmax
    type:         "chebyshev", "legendre", "cylinder-energy", "sphere-energy": the weight under which W are orthogonal
    engine:       "auto", "connection", "dense": of the transforms in radius
    precision:    "f64" or "f32"
    vectors:      True: also for vectors
    factors:      the grid is one on which products of so many fields have coefficients free of aliasing; 2: the 3/2 rule
    nr, ntheta, nphi:  the grid; None: as factors says
    radii, sphere:     other radii of [0, 1], another kugel.Grid, for cuts and pictures: synthesis and its adjoint alone, values
                  [..., nr, npix] with `sphere`
    device:       where transforms run, and operators, profiles and spectra of arrays there: "cpu", "cuda:0", "opencl:0", "auto"; "cuda:0,1":
                  several devices share each transform, and the first of them has arrays and the rest
    comm:         a Comm, whose ranks share every transform and spectrum, on the CPU: each makes the plan, and passes and gets its
                  parts, see coefficients_layout: rows of some orders (l, m say which) and the radii values_slice. Operators and profiles
                  are of the rank's own rows. The same bits for any number of ranks

    A plan on a device transforms host arrays, which travel, and arrays in its memory: DeviceArray, and those of PyTorch, CuPy and others
    that have the CUDA array interface or DLPack, contiguous and of the plan's dtypes; the result is of the same kind. `stream` is the
    CUDA stream to work on; without it, that of the array. So do operators, profiles and spectra; of host arrays they
    run on the CPU.
    """

    def __init__(self, lmax: int, n: int, mmax: int | None = None, *, truncation: str = "rhomboidal", dmax: int | None = None,
                 type: Any = "chebyshev", engine: str = "auto", precision: str = "f64", vectors: npt.ArrayLike = False, factors: int = 1,
                 nr: int | None = None, ntheta: int | None = None, nphi: int | None = None, radii: npt.ArrayLike | None = None,
                 sphere: Any = None, device: str | None = None, comm: Any = None) -> None:
        lists = {}
        if radii is not None:
            lists["radii"] = np.ascontiguousarray(np.atleast_1d(radii), np.float64)
            nr = len(lists["radii"])
        if lmax < 0:
            raise ValueError(f"lmax is {lmax}; it must be at least 0")
        single = _choice("precision", precision, _PRECISIONS)
        opts = options(_ffi.kugel_ball_opts, lmax=int(lmax), mmax=mmax_option(mmax, lmax), n=int(n),
                       truncation=_choice("truncation", truncation, _TRUNCATIONS), dmax=int(dmax or 0),
                       type=_choice("type", type, _TYPES), engine=_choice("engine", engine, _ENGINES), precision=single,
                       vectors=int(bool(vectors)), factors=int(factors), nr=int(nr or 0), ntheta=int(ntheta or 0),
                       nphi=int(nphi or 0), sphere=sphere._handle.address if sphere is not None else None,
                       comm=comm and comm._handle.address, **lists)
        out = ctypes.c_void_p()
        self._context = context(device)
        long_call(lib.kugel_ball_create, self._context and self._context.address, ctypes.byref(opts), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_ball_destroy)
        self.comm = comm
        self._series = dict(lmax=lmax, n=n, mmax=mmax, truncation=truncation, dmax=dmax, type=type)
        info = options(_ffi.kugel_ball_info)
        lib.kugel_ball_get_info(self._handle.address, info)
        #: highest degree and order, extent in radius, rows
        self.lmax, self.mmax, self.n, self.nlm = info.lmax, info.mmax, info.n, info.nlm
        #: the values of this rank, or all: radii and the grid (with `sphere`: npix)
        self.shape = (info.radii, info.nphi) if sphere is not None else (info.radii, info.ntheta, info.nphi)
        #: the radii whose values this rank has; without comm all
        self.values_slice = slice(info.first_radius, info.first_radius + info.radii)
        #: bytes of tables, and of the work space of a transform
        self.table_bytes, self.work_bytes = info.table_bytes, info.vector_bytes or info.scalar_bytes
        self._real, self._complex = (np.float32, np.complex64) if single else (np.float64, np.complex128)
        self.r = np.empty(info.nr)
        #: weights of the integral of f r^2 dr, and per point of the sphere: sum(weights_r[:, None, None] weights_s[:, None] f)
        self.weights_r = np.empty(info.nr) if radii is None else None
        self.theta, self.phi, self.weights_s = (None,) * 3 if sphere is not None else (
            np.empty(info.ntheta), np.empty(info.nphi), np.empty(info.ntheta))
        lib.kugel_ball_grid(self._handle.address, *(None if a is None else a.ctypes.data for a in (
            self.r, self.theta, self.phi, self.weights_r, self.weights_s)))
        #: N(l), and degree and order of each row
        self.nl = np.empty(self.lmax + 1, np.int64)
        lib.kugel_ball_truncated(self._handle.address, self.nl.ctypes.data)
        self.l, self.m = np.empty(self.nlm, np.int64), np.empty(self.nlm, np.int64)
        lib.kugel_ball_rows(self._handle.address, self.l.ctypes.data, self.m.ctypes.data)

    def _layout(self, side):
        if not self.comm:
            raise ValueError("the plan has no ranks: make it with comm=kugel.Comm.world()")
        out = ctypes.c_void_p()
        lib.kugel_ball_layout(self._handle.address, side, ctypes.byref(out))
        return Layout(self.comm, out.value)

    @property
    def coefficients_layout(self) -> Layout:
        """Which coefficients each rank has, of arrays [..., nlm n], of a plan with comm."""
        return self._layout(_ffi.KUGEL_BALL_COEFFICIENTS)

    @property
    def profiles_layout(self) -> Layout:
        """The same of profiles, [..., nlm nr]."""
        return self._layout(_ffi.KUGEL_BALL_PROFILES)

    @property
    def values_layout(self) -> Layout:
        """The same of values, [..., nr ntheta nphi]."""
        return self._layout(_ffi.KUGEL_BALL_VALUES)

    def _whole(self, name):
        if self.comm:
            raise ValueError(f"{name} takes whole fields: gather them, and call {name} of a plan without comm")

    @property
    def device(self) -> Any:
        """Where transforms run, such as "cpu"."""
        return self._context.name if self._context else "cpu"

    def row(self, l: Any, m: npt.ArrayLike) -> Any:
        """The row of degree l and order m."""
        if not (0 <= l <= self.lmax and 0 <= m <= min(l, self.mmax)):
            raise ValueError(f"l is {l} and m {m}; they must be 0 <= l <= {self.lmax} and 0 <= m <= min(l, {self.mmax})")
        if self.comm:
            rows = np.flatnonzero((self.l == l) & (self.m == m))
            if not rows.size:
                raise ValueError(f"rank {self.comm.rank} has no row of order {m}; it has the orders {sorted(set(self.m.tolist()))}")
            return int(rows[0])
        full = self.mmax + 1
        return l * (l + 1) // 2 + m if l <= full else full * (full + 1) // 2 + (l - full) * full + m

    def zeros(self, components: int = 1) -> Any:
        """Coefficients, all zero: [nlm, n], or [components, nlm, n] of 2 potentials or 3 components."""
        return np.zeros((() if components == 1 else (components,)) + (self.nlm, self.n), self._complex)

    @staticmethod
    def _axes(components, own):
        return own if components == 1 else (components,) + own

    def _run(self, function, before, x, given, taken, out, stream=None, together=False):
        """given, taken: trailing axes and dtype of the input and the result; together: a call that ranks share."""
        with shared(together and self.comm, lambda: function(self._handle.address, *before, None, None, None)):
            x, out, there, to = self._arrays(x, given, taken, out)
        views = [view(a) if t is None else ctypes.byref(t.view) for a, t in ((x, there), (out, to))]
        streams = [s for s in (stream, there and there.stream, to and to.stream) if s is not None]
        queue = self._context.queue(stream_handle(streams[0])) if streams and self._context else None
        long_call(function, self._handle.address, *before, *views, queue)
        return out

    @staticmethod
    def _arrays(x, given, taken, out):
        there = foreign(x)
        if there is None:
            x = np.ascontiguousarray(x, given[1])
        elif there.dtype != given[1]:
            raise TypeError(f"the array has dtype {there.dtype}; in device memory it must be {np.dtype(given[1])}")
        own, axes = (x if there is None else there).shape, len(given[0])
        if own[len(own) - axes:] != given[0] or len(own) < axes:
            raise ValueError(f"the array has shape {own}; expected [..., {', '.join(map(str, given[0]))}]")
        shape = own[:len(own) - axes] + taken[0]
        if out is None:
            out = np.empty(shape, taken[1]) if there is None else empty_like(there, shape, taken[1], False)
        to = foreign(out)
        if to is None and not (isinstance(out, np.ndarray) and out.flags.c_contiguous):
            raise ValueError(f"out must be a C-contiguous array {shape} of dtype {np.dtype(taken[1])}")
        if (to or out).dtype != taken[1] or (to or out).shape != shape:
            raise ValueError(f"out must be a C-contiguous array {shape} of dtype {np.dtype(taken[1])}")
        if to is None:
            writable(out, "out")
        return x, out, there, to

    def _transform(self, function, kind, x, to_grid, out, stream):
        number = _choice("kind", kind, _KINDS)
        components = 3 if number else 1
        coefficients = self._axes(components, (self.nlm, self.n)), self._complex
        values = self._axes(components, self.shape), self._complex if kind == "spin" else self._real
        given, taken = (coefficients, values) if to_grid else (values, coefficients)
        return self._run(function, (number,), x, given, taken, out, stream, True)

    def synthesis(self, coefficients: Any, kind: str = "scalar", *, out: Any = None, stream: Any = None) -> Any:
        """Values of series; kind: "scalar", "vector" (u_r, u_theta, u_phi), or "spin": the same vectors by their components of
        spin -1, 0, 1, complex (u_theta - i u_phi) / sqrt(2), u_r, (u_theta + i u_phi) / sqrt(2)."""
        return self._transform(lib.kugel_ball_synthesis, kind, coefficients, True, out, stream)

    def analysis(self, values: Any, kind: str = "scalar", *, out: Any = None, stream: Any = None) -> Any:
        """Series of values: the inverse of synthesis. Spin components that are no real field's are read as the real field nearest
        to them."""
        return self._transform(lib.kugel_ball_analysis, kind, values, False, out, stream)

    def synthesis_adjoint(self, values: Any, kind: str = "scalar", *, out: Any = None, stream: Any = None) -> Any:
        """The adjoint of synthesis, where rows of m > 0 count twice in the product of coefficients: see inner()."""
        return self._transform(lib.kugel_ball_synthesis_adjoint, kind, values, False, out, stream)

    def analysis_adjoint(self, coefficients: Any, kind: str = "scalar", *, out: Any = None, stream: Any = None) -> Any:
        """The adjoint of analysis."""
        return self._transform(lib.kugel_ball_analysis_adjoint, kind, coefficients, True, out, stream)

    def _profiles(self, function, kind, x, back, out, stream):
        number = _choice("kind", kind, _KINDS)
        shapes = [(self._axes(3 if number else 1, (self.nlm, n)), self._complex) for n in (self.n, self.r.size)]
        return self._run(function, (number,), x, *(shapes[::-1] if back else shapes), out, stream)

    def profiles(self, coefficients: Any, kind: str = "scalar", *, out: Any = None, stream: Any = None) -> Any:
        """The functions of radius before each harmonic, at the radii r: [..., nlm, nr] of a scalar; [..., 3, nlm, nr] of a vector,
        kind "vector": before Y e_r, G = grad Y / sqrt(l (l + 1)) and e_r x G, kind "spin": before the harmonics of spin -1, 0, 1."""
        return self._profiles(lib.kugel_ball_profiles, kind, coefficients, False, out, stream)

    def from_profiles(self, profiles: Any, kind: str = "scalar", *, out: Any = None, stream: Any = None) -> Any:
        """The series of profiles: the inverse of profiles()."""
        return self._profiles(lib.kugel_ball_from_profiles, kind, profiles, True, out, stream)

    def profiles_adjoint(self, profiles: Any, kind: str = "scalar", *, out: Any = None, stream: Any = None) -> Any:
        """The adjoint of profiles(), with inner() for both."""
        return self._profiles(lib.kugel_ball_profiles_adjoint, kind, profiles, True, out, stream)

    def from_profiles_adjoint(self, coefficients: Any, kind: str = "scalar", *, out: Any = None, stream: Any = None) -> Any:
        """The adjoint of from_profiles()."""
        return self._profiles(lib.kugel_ball_from_profiles_adjoint, kind, coefficients, False, out, stream)

    def save(self, path: Any, array: Any, kind: str = "scalar", *, overwrite: bool = False) -> None:
        """Writes coefficients, or values on the grid, as an HDF5 file that `kugel ball`, load() and h5py read: the dataset
        "coefficients" with the degrees "l" and orders "m" of its rows, or "values" with "r", "theta", "phi"; attributes say
        which series. Which of the two it is follows from the array's shape."""
        from . import _hdf5

        self._whole("save")
        number = _choice("kind", kind, _KINDS)
        array, three = np.ascontiguousarray(array), ((3,) if number else ())
        ends = {"coefficients": three + (self.nlm, self.n), "values": three + self.shape}
        names = [n for n, e in ends.items() if array.shape[array.ndim - len(e):] == e and array.ndim >= len(e)]
        if not names or len(self.shape) == 2:
            raise ValueError(f"the array has shape {array.shape}; expected [..., " + "] or [..., ".join(
                ", ".join(map(str, e)) for e in ends.values()) + "] of a plan without a sphere of the caller")
        name = names[0]
        said = {"kind": kind if name == "values" or not number else "vector", "lmax": self.lmax, "mmax": self.mmax, "n": self.n,
                "truncation": self._series["truncation"], "type": self._series["type"]}
        if self._series["dmax"] and said["truncation"] == "trapezoidal":
            said["dmax"] = int(self._series["dmax"])
        own = ["component"] * bool(number) + (["row", "n"] if name == "coefficients" else ["r", "theta", "phi"])
        said["axes"] = ", ".join(["field"] * (array.ndim - len(own)) + own)
        said["components"] = ("scalar" if not number else "series in degree l - 1, l + 1, l" if name == "coefficients" else
                              "spin -1, 0, 1" if kind == "spin" else "r, theta, phi")
        beside = {"l": self.l, "m": self.m} if name == "coefficients" else {"r": self.r, "theta": self.theta, "phi": self.phi}
        dtype = self._complex if name == "coefficients" or kind == "spin" else self._real
        _hdf5.write(path, {name: (array.astype(dtype, copy=False), said), **{k: (v, {}) for k, v in beside.items()}},
                    {"title": "field in the ball, written by kugel"}, overwrite)

    def inner(self, a: Any, b: Any) -> Any:
        """The product of coefficients that adjoints refer to: a b over m = 0, 2 Re a conj(b) over m > 0."""
        weight = np.where(self.m > 0, 2, 1)[:, None]
        a, b = (np.where(self.m[:, None] > 0, x, np.real(x)) for x in (a, b))
        return float((weight * (a * b.conj()).real).sum())

    def apply(self, operator: Any, coefficients: Any, *, adjoint: Any = False, out: Any = None, stream: Any = None) -> Any:
        """An operator on coefficients: "grad", "div", "curl", "laplacian", "vector_laplacian", "from_potentials" or
        "to_potentials"; adjoint: its transpose. It runs where the coefficients are, as grad() and the others do."""
        number, given, taken = _choice("operator", operator, _OPERATORS)
        if adjoint:
            given, taken = taken, given
        shapes = [(self._axes(c, (self.nlm, self.n)), self._complex) for c in (given, taken)]
        function = lib.kugel_ball_apply_adjoint if adjoint else lib.kugel_ball_apply
        return self._run(function, (number,), coefficients, *shapes, out, stream)

    def grad(self, scalar: Any) -> Any:
        """The gradient [..., 3, nlm, n] of a scalar."""
        return self.apply("grad", scalar)

    def div(self, vector: Any) -> Any:
        """The divergence [..., nlm, n] of a vector."""
        return self.apply("div", vector)

    def curl(self, vector: Any) -> Any:
        """The curl of a vector."""
        return self.apply("curl", vector)

    def laplacian(self, coefficients: Any) -> Any:
        """The Laplacian of a scalar, or of a vector [..., 3, nlm, n]."""
        vector = np.ndim(coefficients) > 2 and np.shape(coefficients)[-3] == 3
        return self.apply("vector_laplacian" if vector else "laplacian", coefficients)

    def from_potentials(self, potentials: Any) -> Any:
        """The vector curl(t R) + curl curl(p R), R = r e_r, of potentials [..., 2, nlm, n] (t, p)."""
        return self.apply("from_potentials", potentials)

    def to_potentials(self, vector: Any) -> Any:
        """The potentials (t, p) of a vector without divergence."""
        return self.apply("to_potentials", vector)

    def radial_laplacian(self, l: Any) -> Any:
        """The matrix [N(l), N(l)] of f'' + 2 f' / r - l (l + 1) f / r^2 on the coefficients of degree l, for linear problems."""
        n = int(self.nl[l])
        small = Ball(l, n, 0, type=self._series["type"])
        units = np.zeros((n, small.nlm, n), np.complex128)
        units[:, l] = np.eye(n)
        return small.apply("laplacian", units)[:, l].real.T.copy()

    def radial_values(self, l: Any, op: Any = "p", radii: npt.ArrayLike = (1.0,)) -> Any:
        """The matrix [radii, N(l)] of an operator of kugel.polynomial ("p", "d1", "sphlapl" ...) on the functions of degree l, for
        boundary conditions."""
        n = int(self.nl[l])
        return JonesWorland(l, n, type=self._series["type"], radii=radii).synthesis(np.eye(n), op).T

    def spectrum(self, coefficients: Any, axis: Any = "l", kind: str = "scalar", *, stream: Any = None) -> Any:
        """Parts of the integral of |f|^2 over the ball: by degree "l", order "m" or radial function "n". Of coefficients in a
        device's memory they are summed and stay there."""
        number, along = _choice("kind", kind, _KINDS), _choice("axis", axis, _AXES)
        extent = {"l": self.lmax + 1, "m": self.mmax + 1, "n": self.n}[axis]
        shape = self._axes(3 if number else 1, (self.nlm, self.n))
        return self._run(lib.kugel_ball_spectrum, (number, along), coefficients, (shape, self._complex),
                         ((extent,), np.float64), None, stream, True)

    def cut(self, coefficients: Any, cut: Any = "equatorial", *, radius: Any = 1.0, longitude: Any = 0.0, component: Any = None,
            nr: int = 385, angles: npt.ArrayLike = 720) -> Any:
        """Values of a field on a cut, for pictures.

        cut:        "equatorial" or "meridional": a disc [nr, angles] of radii 0 to 1, angles counterclockwise from the right, which
                    is longitude 0 of the equator, or the equator at `longitude` with north above; "surface": rows of latitude
                    [angles / 2, angles] at `radius`
        component:  None: a scalar; 0, 1, 2: r, theta or phi of a vector
        """
        self._whole("cut")
        choice = _choice("cut", cut, {"equatorial": 0, "meridional": 1, "surface": 2})
        angles += -angles % 4
        rings = np.arange(angles // 2 + 1)
        sphere = (Grid.rings([np.pi / 2], [angles]) if choice == 0 else Grid.fejer1(angles // 2, angles) if choice == 2 else
                  Grid.rings(rings * (2 * np.pi / angles), np.full(rings.size, 2), np.full(rings.size, float(longitude))))
        plan = Ball(**self._series, vectors=component is not None, sphere=sphere,
                    radii=[radius] if choice == 2 else np.linspace(0, 1, nr))
        values = plan.synthesis(coefficients) if component is None else plan.synthesis(coefficients, "vector")[component]
        if choice == 0:
            return values
        if choice == 2:
            return values.reshape(angles // 2, angles)
        d = np.arange(angles) - angles // 4
        left = (d >= 0) & (d <= angles // 2)
        return values[:, 2 * np.where(left, d, np.where(d < 0, -d, angles - d)) + left]

    def plot(self, coefficients: Any, cut: Any = "equatorial", *, radius: Any = 1.0, longitude: Any = 0.0, component: Any = None,
             xsize: int = 800, title: str = "", unit: str = "", min: float | None = None, max: float | None = None,
             cmap: Any = None) -> Any:
        """A picture of a cut: cut() says what it shows. .save("field.png") writes it."""
        values = self.cut(coefficients, cut, radius=radius, longitude=longitude, component=component,
                          angles=720 if self.lmax < 90 else 8 * self.lmax)
        return draw(values, cut != "surface", xsize=xsize, title=title, unit=unit, min=min, max=max, cmap=cmap)


def load(path: Any) -> tuple[Ball, Any, str]:
    """(ball, array, kind) of an HDF5 file of Ball.save or `kugel ball`: a plan for the series that the file says, its
    "coefficients" or else its "values", and "scalar", "vector" or "spin"."""
    from . import _hdf5

    with _hdf5.File(path) as file:
        name = "coefficients" if "coefficients" in file else "values"
        array = file.array(name)
        _choice("kind", kind := file.text(name, "kind") or "scalar", _KINDS)
        sizes = {k: file.number(name, k) for k in ("lmax", "mmax", "n", "dmax")}
        if sizes["lmax"] is None or sizes["n"] is None:
            raise ValueError(f"{path}: \"{name}\" has no attributes lmax and n, which say the series")
        words = {k: v for k in ("truncation", "type") if (v := file.text(name, k))}
    if name == "coefficients" and (array.ndim < 2 or array.shape[-1] != sizes["n"] or array.shape[-2] <= sizes["lmax"]):  # before a large plan
        raise ValueError(f"{path}: coefficients of shape {array.shape} are not [..., rows, n] of lmax {sizes['lmax']} and n {sizes['n']}")
    grid = dict(zip(("nr", "ntheta", "nphi"), array.shape[-3:])) if name == "values" else {}
    ball = Ball(**sizes, **words, **grid, vectors=kind != "scalar", precision="f32" if array.dtype in (np.float32, np.complex64) else "f64")
    end = (3,) * (kind != "scalar") + ((ball.nlm, ball.n) if name == "coefficients" else ball.shape)
    if array.shape[-len(end):] != end:
        raise ValueError(f"{path}: {name} of shape {array.shape} are not [..., {', '.join(map(str, end))}], as its attributes say")
    return ball, array, kind
