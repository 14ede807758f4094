# SPDX-License-Identifier: BSD-3-Clause
"""Finite differences of order 2 to 8 on grids of one to three dimensions: sums of derivatives, their adjoints, steps in time.

    laplace = kugel.stencil.laplacian((300, 400), h=0.5, order=8, boundary="even")
    v = laplace.apply(u)                                           # u [..., 300, 400]

    T = kugel.stencil.Term                                         # u_t = -c u_x + d u_yy
    plan = kugel.stencil.Plan((300, 400), [T((1, 0), -1, c), T((0, 2), d)], order=4)
    plan.advance(u, 0.1, 200, "runge_kutta")                       # in place

    wave = kugel.stencil.laplacian(c.shape, h, order=8, coefficient=c**2)     # u_tt = c^2 laplace(u)
    state = numpy.stack([u, u])                                    # a step ago, now
    wave.advance(state, 0.9 * 2 / wave.bound ** 0.5, 1000)         # leapfrog

    heat = kugel.stencil.laplacian((300, 400), h=0.5, compact=True, boundary="odd")
    heat.advance(u, 3.0, 100, "adi")                               # u_t = laplace(u), implicit: no limit on the step

A plan is the operator out_o = mask sum over terms of factor coefficient D field. An operator div(c grad u) is a plan of first
derivatives, the product with c, and minus the adjoint of that plan. Plans may be used from any number of threads, and results have
the same bits for any number of them.

Plan(..., device="cuda:0") computes on a GPU: arrays in its memory (of PyTorch, CuPy, kugel.DeviceArray or by DLPack) give such
arrays, NumPy arrays give NumPy arrays.
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _ffi, nufft_arrays
from ._lib import Handle, lib, long_call, options, view, writable

if TYPE_CHECKING:
    import numpy.typing as npt

_BOUNDARIES = {"periodic": _ffi.KUGEL_STENCIL_PERIODIC, "odd": _ffi.KUGEL_STENCIL_ODD, "even": _ffi.KUGEL_STENCIL_EVEN,
               "zero": _ffi.KUGEL_STENCIL_ZERO, "one_sided": _ffi.KUGEL_STENCIL_ONE_SIDED}
_METHODS = {"leapfrog": _ffi.KUGEL_STENCIL_LEAPFROG, "runge_kutta": _ffi.KUGEL_STENCIL_RUNGE_KUTTA, "adi": _ffi.KUGEL_STENCIL_ADI}
_DTYPES = {"f64": np.dtype(np.float64), "f32": np.dtype(np.float32)}


class Term(NamedTuple):
    """factor coefficient D field, added to one of the results.

    derivative:  along each axis, 0 to 2, at most 2 in all: (2, 0), (1, 1); zeros: the field itself
    factor:      a number
    coefficient: real array [n...], or None: 1
    field, out:  that is differentiated, that is added to
    """
    derivative: Any
    factor: float = 1.0
    coefficient: Any = None
    field: int = 0
    out: int = 0


def _ends(boundary, ndim):
    """[(low, high)] of the axes: from one name, a name for each axis, or pairs."""
    axes = [boundary] * ndim if isinstance(boundary, str) else list(boundary)
    if len(axes) != ndim:
        raise ValueError(f"boundary has {len(axes)} elements, must be a name or one for each of {ndim} axes")
    pairs = [(a, a) if isinstance(a, str) else tuple(a) for a in axes]
    for pair in pairs:
        if len(pair) != 2 or any(name not in _BOUNDARIES for name in pair):
            raise ValueError(f"boundary is {pair!r} at an axis; allowed are {', '.join(map(repr, _BOUNDARIES))}, or a pair of them "
                             "(low end, high end)")
    return pairs


def _order(order):
    """0 is what C takes for its own default."""
    if order is not None and int(order) < 1:
        raise ValueError(f"order is {order}, must be 2, 4, 6 or 8")
    return 0 if order is None else int(order)


class Plan:
    """A linear operator on fields of a grid.

    n:          numbers of nodes, one to three
    terms:      a list of Term, or of tuples of its arguments
    h:          distance of nodes, one number or one per axis
    order:      of accuracy, 2 (default), 4, 6 or 8
    compact:    differences of order 4 that are implicit along their axis, with 3/8 (second derivative) and 1/6 (first) of the error of
                explicit ones of order 4; not with boundary "zero"
    boundary:   "periodic", "odd" (u = 0 at the end node, Dirichlet), "even" (u' = 0 at the end node, Neumann), "zero" (beyond the
                end) or "one_sided"; one for all, one per axis, or a pair (low, high) per axis
    mask:       [n...], multiplies the results: 0 where they are to be 0
    fields:     that are read: arrays are [..., fields, n...], of one field [..., n...]
    outs:       that are written: arrays are [..., outs, n...], of one [..., n...]
    precision:  "f64" or "f32"
    steps_per_pass: of "leapfrog", so many steps of a call share a pass over memory, 2 to 8; 1: each is a pass; 0: as many as should be
                fastest. The bits are those of single steps
    device:     such as "cuda:0" for arrays in its memory or in host memory; None: the CPU. Coefficients and mask are NumPy arrays
    """

    def __init__(self, n: Any, terms: Any, *, h: Any = 1.0, order: int | None = None, boundary: Any = "periodic",
                 mask: npt.ArrayLike | None = None, fields: int = 1, outs: int = 1, precision: str = "f64", compact: bool = False,
                 device: str | None = None, steps_per_pass: int = 0) -> None:
        #: numbers of nodes
        self.n = tuple(int(k) for k in np.atleast_1d(n))
        ndim = len(self.n)
        if precision not in _DTYPES:
            raise ValueError(f"precision is {precision!r}; allowed are 'f64', 'f32'")
        #: dtype of arrays, fields, outs
        self.dtype, self.fields, self.outs = _DTYPES[precision], int(fields), int(outs)
        terms, arrays = [t if isinstance(t, Term) else Term(*t) for t in terms], {}

        def on_grid(a, name):
            if a is None:
                return None
            if np.shape(a) != self.n:
                raise ValueError(f"{name} has shape {np.shape(a)}, must be {self.n}")
            if np.asarray(a).dtype.kind == "c":
                raise TypeError(f"{name} is complex, must be real")
            own = arrays.setdefault(id(a), (np.ascontiguousarray(a, self.dtype), a))  # a: keeps its id
            return own[0].ctypes.data

        table = (_ffi.kugel_stencil_term * max(len(terms), 1))()
        for i, term in enumerate(terms):
            derivative = tuple(np.atleast_1d(term.derivative))
            if len(derivative) != ndim:
                raise ValueError(f"term {i}: derivative is {term.derivative}, must have a number for each of {ndim} axes")
            table[i].field, table[i].out, table[i].factor = int(term.field), int(term.out), float(term.factor)
            table[i].derivative[:ndim] = [int(k) for k in derivative]
            table[i].coefficient = on_grid(term.coefficient, f"term {i}: coefficient")
        steps = np.ascontiguousarray(np.broadcast_to(np.asarray(h, float), (ndim,)))
        opts = options(_ffi.kugel_stencil_opts, ndim=ndim, n=np.array(self.n, np.int64), h=steps, order=_order(order), compact=int(bool(compact)),
                       precision=_ffi.KUGEL_PRECISION_F32 if precision == "f32" else _ffi.KUGEL_PRECISION_F64, fields=self.fields,
                       outs=self.outs, nterms=len(terms), steps_per_pass=int(steps_per_pass))
        opts.terms, opts.mask = table, on_grid(mask, "mask")
        for axis, pair in enumerate(_ends(boundary, ndim)):
            opts.boundary[axis][:] = [_BOUNDARIES[name] for name in pair]
        out = ctypes.c_void_p()
        self._context = nufft_arrays.context(device)
        long_call(lib.kugel_stencil_create, self._context.address if self._context else None, ctypes.byref(opts), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_stencil_destroy)
        info = options(_ffi.kugel_stencil_info)
        lib.kugel_stencil_get_info(self._handle.address, info)
        #: order of accuracy; no eigenvalue exceeds `bound`: leapfrog with eigenvalues <= 0 is bounded for dt < 2 / sqrt(bound),
        #: Runge-Kutta for dt <= 2.78 / bound
        self.order, self.bound = info.order, info.bound
        #: steps of "leapfrog" that share a pass over memory
        self.steps_per_pass = info.steps_per_pass

    def _run(self, function, x, given, made, out):
        there = nufft_arrays.on_device(x)
        if there is not None:
            return self._run_there(function, there, given, made, out)
        x = np.asarray(x)
        if x.dtype.kind == "c":
            raise TypeError("the array is complex, must be real: apply the plan to its real and imaginary parts")
        x = np.ascontiguousarray(x, self.dtype)
        own, other = [(k,) * (k > 1) + self.n for k in (given, made)]
        if x.shape[max(x.ndim - len(own), 0):] != own:
            raise ValueError(f"the array has shape {x.shape}, must end with {own}")
        lead = x.shape[:x.ndim - len(own)]
        if out is None:
            out = np.empty(lead + other, self.dtype)
        elif not isinstance(out, np.ndarray) or out.dtype != self.dtype or out.shape != lead + other:
            raise ValueError(f"out must be an array {lead + other} of dtype {self.dtype}")
        writable(out, "out")
        if not out.flags.c_contiguous:
            raise ValueError("out must be contiguous (C order)")
        long_call(function, self._handle.address, view(x.reshape(lead + (given,) + self.n)),
                  view(out.reshape(lead + (made,) + self.n)), None)
        return out

    def _run_there(self, function, x, given, made, out):
        """The same of an array in device memory."""
        own, other = [(k,) * (k > 1) + self.n for k in (given, made)]
        nufft_arrays.check_place(x, self._context, "the array")
        if x.dtype.kind == "c":
            raise TypeError("the array is complex, must be real: apply the plan to its real and imaginary parts")
        if x.shape[max(x.ndim - len(own), 0):] != own:
            raise ValueError(f"the array has shape {x.shape}, must end with {own}")
        lead = x.shape[:x.ndim - len(own)]
        x = x.typed(self.dtype)
        to = x.new(lead + other, self.dtype) if out is None else nufft_arrays.on_device(out)
        if to is None or to.dtype != self.dtype or to.shape != lead + other or not to.contiguous:
            raise ValueError(f"out must be a contiguous array {lead + other} of dtype {self.dtype} on {x.device}")
        function(self._handle.address, ctypes.byref(x.reshaped(lead + (given,) + self.n).view()),
                 ctypes.byref(to.reshaped(lead + (made,) + self.n).view()), x._queue())
        return to.value() if out is None else out

    def apply(self, u: Any, out: Any = None) -> Any:
        """The operator on fields [..., fields, n...], of one field [..., n...]."""
        return self._run(lib.kugel_stencil_apply, u, self.fields, self.outs, out)

    def adjoint(self, v: Any, out: Any = None) -> Any:
        """The transpose of apply, boundaries, coefficients and mask included."""
        return self._run(lib.kugel_stencil_adjoint, v, self.outs, self.fields, out)

    def _advance(self, function, state, dt, steps, method):
        if method not in _METHODS:
            raise ValueError(f"method is {method!r}; allowed are {', '.join(map(repr, _METHODS))}")
        levels = (2,) if method == "leapfrog" else ()
        shape = levels + (self.fields,) * (self.fields > 1) + self.n
        there = nufft_arrays.on_device(state)
        if there is not None:
            nufft_arrays.check_place(there, self._context, "state")
            if there.shape != shape or there.dtype != self.dtype or not there.contiguous:
                raise ValueError(f"state must be a contiguous array {shape} of dtype {self.dtype}, since it changes in place")
            function(self._handle.address, _METHODS[method], float(dt), int(steps),
                     ctypes.byref(there.reshaped(levels + (self.fields,) + self.n).view()), there._queue())
            return state
        if not isinstance(state, np.ndarray) or state.shape != shape or state.dtype != self.dtype or not state.flags.c_contiguous:
            raise ValueError(f"state must be a contiguous array {shape} of dtype {self.dtype}, since it changes in place")
        writable(state, "state")
        long_call(function, self._handle.address, _METHODS[method], float(dt), int(steps),
                  view(state.reshape(levels + (self.fields,) + self.n)), None)
        return state

    def advance(self, state: Any, dt: float, steps: int = 1, method: str = "leapfrog") -> Any:
        """Advances fields by `steps` steps of dt in place, and returns them.

        "leapfrog":    u'' = L u; state is [2, fields, n...] (of one field [2, n...]): a step ago, and now
        "runge_kutta": u' = L u, order 4; state is [fields, n...] (of one field [n...])
        "adi":         u' = L u, order 2, implicit along one axis at a time: no limit on dt where second derivatives with coefficients
                       >= 0 make u' (Crank-Nicolson, Peaceman-Rachford). For plans of order 2, or compact ones without coefficients
                       and mask (order 4 in h: Mitchell-Fairweather); each term along at most one axis, of a field to itself

        state is a contiguous array of the plan's dtype.
        """
        return self._advance(lib.kugel_stencil_advance, state, dt, steps, method)

    def advance_adjoint(self, state: Any, dt: float, steps: int = 1, method: str = "leapfrog") -> Any:
        """The transpose of advance, in place: turns the gradient by the last state into the gradient by the first."""
        return self._advance(lib.kugel_stencil_advance_adjoint, state, dt, steps, method)


def laplacian(n: Any, h: Any = 1.0, *, coefficient: Any = None, **options_: Any) -> Any:
    """The plan of coefficient (sum of second derivatives along all axes); other options as for Plan."""
    ndim = len(np.atleast_1d(n))
    return Plan(n, [Term(np.eye(ndim, dtype=int)[d] * 2, 1.0, coefficient) for d in range(ndim)], h=h, **options_)
