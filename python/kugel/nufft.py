# SPDX-License-Identifier: BSD-3-Clause
"""Fast Fourier transforms between a grid of modes and points at any places, in one to three dimensions.

    plan = kugel.nufft.Plan((512, 1024), "to_modes", tolerance=1e-9)
    points = plan.points(x)                      # x [M, 2], radians
    f = points.execute(c)                        # c [..., M] -> f [..., 512, 1024]
    c2 = points.adjoint(f)                       # the adjoint of the same transform, to rounding

    plan = kugel.nufft.Plan(None, "to_frequencies", ndim=2)
    f = plan.points(x, s).execute(c)             # s [K, 2], any reals -> f [..., K]

    f = kugel.nufft.nufft2d1(x, y, c, (512, 1024), eps=1e-9)       # once, with finufft's names and arguments
    c = kugel.nufft.nufft2d2(x, y, f, eps=1e-9)

"to_modes" (type 1): f_k = sum_j c_j e^{i sign k.x_j}; "to_points" (type 2): c_j = sum_k f_k e^{i sign k.x_j}; integer modes
-floor(n/2) <= k <= floor((n-1)/2) along each axis, the first coordinate with the first axis. "to_frequencies" (type 3):
f_k = sum_j c_j e^{i sign s_k.x_j}, any real s_k and x_j. Errors are below the tolerance, relative
to the l2 norm of the result. Plans and points may be used from any number of threads; results do not depend on their number.

Plan(..., device="cuda:0") transforms on a GPU: arrays in its memory (of PyTorch, CuPy, kugel.DeviceArray or by DLPack) give such
arrays, NumPy arrays give NumPy arrays. Results have the same bits in every run.

Plan(..., comm=kugel.Comm.world()) shares transforms over ranks: each has points of its own and rows plan.modes_slice of the modes.
"""
from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi, nufft_arrays
from ._lib import Handle, lib, long_call, options, view, writable
from .comm import Layout, shared

if TYPE_CHECKING:
    import numpy.typing as npt

_TYPES = {"to_modes": _ffi.KUGEL_NUFFT_TO_MODES, "to_points": _ffi.KUGEL_NUFFT_TO_POINTS,
          "to_frequencies": _ffi.KUGEL_NUFFT_TO_FREQUENCIES}
_DTYPES = {"f64": np.dtype(np.complex128), "f32": np.dtype(np.complex64), "dd": np.dtype(np.complex128)}
_PRECISIONS = {"f64": _ffi.KUGEL_PRECISION_F64, "f32": _ffi.KUGEL_PRECISION_F32, "dd": _ffi.KUGEL_PRECISION_DD}


class Plan:
    """What a transform needs besides the points: the kernel, the fine grid and its FFTs.

    n:          numbers of modes, one to three; None to frequencies
    kind:       "to_modes" (type 1), "to_points" (type 2) or "to_frequencies" (type 3)
    tolerance:  relative error, 1e-14 to 0.1 (f32: 5e-7 to 0.1); None: 1e-9 (f32: 1e-6, dd: 1e-28). To frequencies in f32: 2e-6 to 0.1
    sign:       +1 or -1 of the exponent; None: +1 to modes and frequencies, -1 to points
    precision:  "f64" or "f32", of strengths and modes; points may be double with either. "dd": double-double, on the CPU, tolerances
                from 1e-28: arrays complex128 [..., M, 2], [..., n..., 2] and [..., K, 2] of high and low parts, points and frequencies
                also [M, ndim, 2]
    fft_order:  modes in the order 0, 1, ..., -1 of numpy.fft in place of -n/2, ...
    period:     of the coordinates, one number or one per axis; None: 2 pi
    upsampling: of the fine grid, 1.2 to 4; None: the cheapest for `density` points per mode
    gradient:   points have 1 + ndim numbers, arrays of strengths and values are [..., 1 + ndim, M]: to points the value and its
                derivatives by the coordinates, at the cost of one FFT; to modes the strength c and dipoles m,
                f_k = sum_j (c_j + sum_d m_jd d/dx_jd) e^{i sign k.x_j}. Not to frequencies
    real:       strengths and values are real; of modes the last axis has 0 to n / 2, arrays are [..., n[-1] // 2 + 1] as
                numpy.fft.rfftn gives them, and the others, their conjugates, count in values. Half the memory and about
                half the time. Not to frequencies, not with gradient, on the CPU
    device:     such as "cuda:0" for arrays in its memory or in host memory; None: the CPU. To modes or points
    ndim:       dimensions, 1 to 3, of a plan to frequencies; of others the length of n
    comm:       a Comm, whose ranks share every transform to modes and to points in two and three dimensions, on the CPU: each makes
                the plan, passes points of its own, and has of the modes the rows along axis 1 (modes_slice), with all of the other
                axes; modes_layout gathers and scatters whole arrays, [..., total]. Not for normal, density, spread and interpolate
    """

    def __init__(self, n: Any, kind: str, *, tolerance: float | None = None, sign: int | None = None, precision: str = "f64",
                 fft_order: bool = False, period: Any = None, upsampling: float | None = None, density: float = 1.0, gradient: bool = False,
                 ndim: int | None = None, device: str | None = None, real: bool = False, comm: Any = None) -> None:
        if (n is None) != (kind == "to_frequencies"):
            raise ValueError('n is None for kind "to_frequencies" only, which takes ndim')
        #: numbers of modes; () to frequencies
        self.n = () if n is None else tuple(int(k) for k in np.atleast_1d(n))
        #: dimensions
        self.ndim = int(ndim or 0) if n is None else len(self.n)
        if ndim is not None and self.ndim != ndim:
            raise ValueError(f"ndim is {ndim}, n has {len(self.n)} numbers")
        for name, value, allowed in (("kind", kind, _TYPES), ("precision", precision, _DTYPES)):
            if value not in allowed:
                raise ValueError(f"{name} is {value!r}; allowed are {', '.join(map(repr, allowed))}")
        self.kind, self.dtype = kind, _DTYPES[precision]
        self._parts = (2,) if precision == "dd" else ()  # the last axis of all arrays
        period = None if period is None else np.ascontiguousarray(np.broadcast_to(np.asarray(period, float), (len(self.n),)))
        opts = options(_ffi.kugel_nufft_opts, type=_TYPES[kind], sign=int(sign or 0),
                       precision=_PRECISIONS[precision],
                       tolerance=float(tolerance or 0), fft_order=int(bool(fft_order)), upsampling=float(upsampling or 0),
                       density=float(density), gradient=int(bool(gradient)), real=int(bool(real)), comm=comm and comm._handle.address)
        #: the Comm, or None
        self.comm = comm
        #: whether strengths and values are real
        self.real = bool(real)
        #: whether points have derivatives
        self.gradient = bool(gradient)
        if period is not None:
            opts.period = period.ctypes.data
        out = ctypes.c_void_p()
        modes = (ctypes.c_int64 * len(self.n))(*self.n) if self.n else None
        self._context = nufft_arrays.context(device)
        lib.kugel_nufft_create(self._context.address if self._context else None, self.ndim, modes, ctypes.byref(opts), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_nufft_destroy)
        info = options(_ffi.kugel_nufft_info)
        lib.kugel_nufft_get_info(self._handle.address, info)
        #: cells that a point reaches, points of the fine grid, fine points per mode, expected relative error
        self.width, self.upsampling, self.error = info.width, info.upsampling, info.error
        self.fine = tuple(info.fine[:len(self.n)])
        #: the modes along axis 1 that this rank has, in the order of arrays; without comm all
        self.modes_slice = slice(info.modes_first, info.modes_first + info.modes_count)

    @property
    def modes_layout(self) -> Layout:
        """Which modes each rank has, of a plan with comm."""
        out = ctypes.c_void_p()
        lib.kugel_nufft_layout(self._handle.address, ctypes.byref(out))
        return Layout(self.comm, out.value)

    def points(self, x: Any, s: Any = None) -> Points:
        """Points x [M, ndim] (of one dimension also [M]), float or double, sorted for this plan; to frequencies also those,
        s [K, ndim]. An array in the memory of the plan's device may have any strides; the call waits for its stream."""
        return Points(self, x, s)

    def normal(self, x: Any, weights: Any = None) -> Normal:
        """The operator A^H W A of modes, where A takes modes to points x, with real weights [M]: an object whose execute takes
        modes [..., n...] to modes by a convolution of modes, at a cost that does not depend on the points. Of a plan on a device x and
        weights may be in its memory."""
        return Normal(self, x, weights)


class Points:
    """Points of a plan: made by Plan.points."""

    def __init__(self, plan: Any, x: Any, s: Any = None) -> None:
        third = plan.kind == "to_frequencies"
        if third != (s is not None):
            raise ValueError("frequencies s go with a plan to frequencies, and with no other")
        x, s = nufft_arrays.coordinates(x, plan.ndim, plan._context), nufft_arrays.coordinates(s, plan.ndim) if third else None
        #: the plan, the number of points, the shape of the other side
        self.plan, self.m, self.other = plan, x.shape[0] if x.ndim else 0, (s.shape[0],) if third else plan.n
        if plan.real:
            self.other = plan.n[:-1] + (plan.n[-1] // 2 + 1,)
        if plan.comm:
            self.other = self.other[:1] + (plan.modes_slice.stop - plan.modes_slice.start,) + self.other[2:]
        out = ctypes.c_void_p()
        if third:
            long_call(lib.kugel_nufft_frequencies_create, plan._handle.address, view(x), view(s), ctypes.byref(out))
        elif isinstance(x, nufft_arrays.Device):
            nufft_arrays.sort(plan._handle.address, plan._context, x, out)
        else:
            long_call(lib.kugel_nufft_points_create, plan._handle.address, view(x), ctypes.byref(out))
        self._handle = Handle(out.value, lib.kugel_nufft_points_destroy)
        self._like = x.new((0,), x.dtype) if isinstance(x, nufft_arrays.Device) else None  # an array of the caller's library

    def _run(self, function, x, to_modes, out, grid=False):
        plan = self.plan
        point = (1 + plan.ndim, self.m) if plan.gradient else (self.m,) + plan._parts
        other = plan.fine if grid else self.other + plan._parts
        own, other = (point, other) if to_modes else (other, point)
        narrow = plan.dtype.type().real.dtype if plan.real else plan.dtype
        kinds = (narrow, narrow if grid else plan.dtype)
        return _call(function, self._handle, x, own, other, kinds if to_modes else kinds[::-1], out, plan._context,
                     plan.comm)

    def execute(self, x: Any, out: Any = None) -> Any:
        """Strengths [..., M] to modes [..., n...] or frequencies [..., K], or modes to values, as the plan's kind says."""
        return self._run(lib.kugel_nufft_execute, x, self.plan.kind != "to_points", out)

    def adjoint(self, x: Any, out: Any = None) -> Any:
        """The conjugate transpose of execute."""
        return self._run(lib.kugel_nufft_adjoint, x, self.plan.kind == "to_points", out)

    def spread(self, x: Any, out: Any = None) -> Any:
        """Strengths [..., M] spread on the fine grid [..., plan.fine...] alone, without FFT. Not of a plan to frequencies."""
        return self._run(lib.kugel_nufft_spread, x, True, out, True)

    def interpolate(self, x: Any, out: Any = None) -> Any:
        """The fine grid [..., plan.fine...] interpolated at the points: the transpose of spread."""
        return self._run(lib.kugel_nufft_interpolate, x, False, out, True)

    def density(self, iterations: int = 20) -> Any:
        """Weights [M] by the density of the points (Pipe & Menon 1999), each about the volume that is the point's own. Of points that
        came as an array in a device's memory they are such an array."""
        kind = self.plan.dtype.type().real.dtype
        if self._like is not None:
            return nufft_arrays.density(self._handle.address, self._like.new((self.m,), kind), int(iterations))
        out = np.empty(self.m, kind)
        long_call(lib.kugel_nufft_density, self._handle.address, int(iterations), view(out))
        return out


class Normal(Points):
    """A normal operator: made by Plan.normal."""

    def __init__(self, plan: Any, x: Any, weights: Any = None) -> None:
        x = nufft_arrays.coordinates(x, plan.ndim, plan._context)
        self.plan, self.m = plan, x.shape[0] if x.ndim else 0
        out = ctypes.c_void_p()
        nufft_arrays.normal(plan._handle.address, plan._context, x, weights, out)
        self._handle = Handle(out.value, lib.kugel_nufft_points_destroy)

    def _run(self, function, x, to_modes, out, grid=False):
        if grid:
            raise ValueError("a normal operator has no fine grid of its own")
        modes = self.plan.n[:-1] + (self.plan.n[-1] // 2 + 1,) if self.plan.real else self.plan.n
        return _call(function, self._handle, x, modes, modes, (self.plan.dtype,) * 2, out, self.plan._context)

    def density(self, iterations: int = 20) -> Any:
        """Not of an operator."""
        raise ValueError("a normal operator has no points: ask those of Plan.points")


def _shared(comm, function, handle, x, own, other, kinds, out):
    """The same over ranks, which agree in the library on what is wrong."""
    with shared(comm, lambda: function(handle.address, None, None, None)):
        x = np.asarray(x)
        narrows = np.iscomplexobj(x) and kinds[0].kind != "c"
        x = np.ascontiguousarray(x, None if narrows else kinds[0])
        if out is None:
            out = np.empty(x.shape[:max(x.ndim - len(own), 0)] + other, kinds[1])
        writable(np.asanyarray(out), "out")
        view(out)
    long_call(function, handle.address, view(x), view(out), None)
    return out


def _call(function, handle, x, own, other, kinds, out, context=None, comm=None):
    """x [..., own...] to out [..., other...], of these two kinds; context: of a plan on a device."""
    kind, dtype = kinds
    there = nufft_arrays.on_device(x)
    if comm:
        return _shared(comm, function, handle, x, own, other, kinds, out)
    if there is None:
        x = np.asarray(x)
        if np.iscomplexobj(x) and kind.kind != "c":
            raise ValueError(f"the array is {x.dtype}, a plan of real data takes {kind}")
        x = x if x.dtype == kind else x.astype(kind)
        x = np.ascontiguousarray(x) if context else x
    if tuple(x.shape[max(x.ndim - len(own), 0):]) != own:
        raise ValueError(f"the array has shape {tuple(x.shape)}, must end with {own}")
    shape = tuple(x.shape[:x.ndim - len(own)]) + other
    if there is not None:
        return nufft_arrays.execute(function, handle.address, context, there, shape, dtype, out)
    if out is None:
        out = np.empty(shape, dtype)
    elif not isinstance(out, np.ndarray) or out.dtype != dtype or out.shape != shape:
        raise ValueError(f"out must be an array {shape} of dtype {dtype}")
    writable(out, "out")
    long_call(function, handle.address, view(x), view(out), None)
    return out


def _precision(*arrays):
    arrays = [a if there is None else np.empty(0, there.dtype) for a, there in ((a, nufft_arrays.on_device(a)) for a in arrays)]
    return "f32" if all(np.asarray(a).dtype in (np.float32, np.complex64) for a in arrays) else "f64"


def _ducc(kind, data, coord, n, forward, epsilon, nthreads, out, periodicity, fft_order):
    data, coord = np.asarray(data), np.asarray(coord)
    if data.dtype not in (np.complex64, np.complex128):
        raise TypeError(f"the values have dtype {data.dtype}, must be complex64 or complex128")
    coord = coord[:, None] if coord.ndim == 1 else coord
    plan = Plan(n, kind, tolerance=epsilon, sign=-1 if forward else 1, precision=_precision(data), fft_order=fft_order,
                period=periodicity, density=max(len(coord), 1) / np.prod(n, dtype=float))
    return plan.points(coord).execute(data, out)


def u2nu(*, grid: Any, coord: Any, forward: bool, epsilon: float, nthreads: int = 0, out: Any = None, verbosity: int = 0,
         sigma_min: float | None = None, sigma_max: float | None = None, periodicity: float = 2 * np.pi, fft_order: bool = False) -> Any:
    """Values [M] at coord [M, ndim] of the modes grid [n...], with the arguments of ducc0.nufft.u2nu: forward is the sign -1.

    nthreads, verbosity, sigma_min and sigma_max are taken and have no effect: threads are those of kugel.set_num_threads, upsampling
    is chosen by cost."""
    return _ducc("to_points", grid, coord, np.shape(grid), forward, epsilon, nthreads, out, periodicity, fft_order)


def nu2u(*, points: Any, coord: Any, forward: bool, epsilon: float, nthreads: int = 0, out: Any = None, verbosity: int = 0,
         sigma_min: float | None = None, sigma_max: float | None = None, periodicity: float = 2 * np.pi, fft_order: bool = False) -> Any:
    """Modes, in `out` of their shape, of the strengths points [M] at coord [M, ndim], with the arguments of ducc0.nufft.nu2u:
    forward is the sign -1. As there, out gives the numbers of modes.

    nthreads, verbosity, sigma_min and sigma_max are taken and have no effect, as in u2nu."""
    if out is None:
        raise ValueError("out is missing: its shape says how many modes there are")
    return _ducc("to_modes", points, coord, np.shape(out), forward, epsilon, nthreads, out, periodicity, fft_order)


# Options of finufft without effect: threads are those of kugel.set_num_threads.
_IGNORED = {"nthreads", "debug", "spread_debug", "showwarn", "fftw", "chkbnds", "spread_sort", "spread_kerevalmeth", "spread_kerpad",
            "spread_thread", "maxbatchsize", "spread_nthr_atomic", "spread_max_sp_size", "allow_eps_too_small"}


def _options(options, modeord=True):
    """(modeord, upsampfac); other names that finufft has are taken."""
    known = {"upsampfac", "modeord"} if modeord else {"upsampfac"}
    if options.get("spreadinterponly"):
        raise ValueError("spreadinterponly is 1: spread and interpolate by kugel.nufft.Plan(...).points(x).spread or .interpolate")
    strange = sorted(set(options) - known - _IGNORED - {"spreadinterponly", "modeord"})
    if strange:
        raise TypeError(f"unknown option {strange[0]!r}; those with effect are {', '.join(sorted(known))}")
    order = options.get("modeord", 0)
    if order not in (0, 1):
        raise ValueError(f"modeord is {order}, must be 0 (modes from -n/2) or 1 (FFT order)")
    return int(order), options.get("upsampfac") or None


def _once(kind, axes, x, n, out, eps, isign, options):
    there = nufft_arrays.on_device(x)
    x = np.asarray(x) if there is None else x
    modeord, upsampfac = _options(options)
    plan = Plan(n, kind, tolerance=eps, sign=1 if isign >= 0 else -1, precision=_precision(x), fft_order=modeord,
                      upsampling=upsampfac, density=max(int(np.prod(np.shape(axes[0]))), 1) / np.prod(n, dtype=float),
                      device=there and there.device)
    if there is not None:
        return plan.points(nufft_arrays.columns(axes)).execute(x, out)
    return plan.points(np.stack([np.asarray(a).reshape(-1) for a in axes], axis=-1)).execute(x, out)


def _to_modes(axes, c, n_modes, out, eps, isign, options):
    ndim = len(axes)
    if n_modes is None and out is None:
        raise TypeError("n_modes is missing: give the numbers of modes, or out")
    n = np.shape(out)[-ndim:] if n_modes is None else tuple(int(k) for k in np.broadcast_to(n_modes, (ndim,)))
    return _once("to_modes", axes, c, n, out, eps, isign, options)


def _to_frequencies(axes, c, targets, out, eps, isign, options):
    _, upsampfac = _options(options, False)
    c = np.asarray(c)
    plan = Plan(None, "to_frequencies", ndim=len(axes), tolerance=eps, sign=1 if isign >= 0 else -1, precision=_precision(c),
                      upsampling=upsampfac)
    x, s = (np.stack([np.asarray(a).reshape(-1) for a in group], axis=-1) for group in (axes, targets))
    return plan.points(x, s).execute(c, out)


def nufft1d1(x: Any, c: Any, n_modes: Any = None, out: Any = None, eps: float = 1e-6, isign: int = 1, **options: Any) -> Any:
    """f_k = sum_j c_j e^(i isign k.x_j) in 1 dimension: coordinates (x), strengths c [..., M], n_modes -> [..., n].

    Arguments and defaults of finufft; without n_modes the modes are those of out."""
    return _to_modes((x,), c, n_modes, out, eps, isign, options)


def nufft1d2(x: Any, f: Any, out: Any = None, eps: float = 1e-6, isign: int = -1, **options: Any) -> Any:
    """c_j = sum_k f_k e^(i isign k.x_j) in 1 dimension: coordinates (x), modes f [..., n] -> [..., M].

    Arguments and defaults of finufft."""
    return _once("to_points", (x,), f, np.shape(f)[-1:], out, eps, isign, options)


def nufft1d3(x: Any, c: Any, s: Any, out: Any = None, eps: float = 1e-6, isign: int = 1, **options: Any) -> Any:
    """f_k = sum_j c_j e^(i isign s_k.x_j) in 1 dimension: coordinates (x), strengths c [..., M], frequencies (s) -> [..., K].

    Arguments and defaults of finufft."""
    return _to_frequencies((x,), c, (s,), out, eps, isign, options)


def nufft2d1(x: Any, y: Any, c: Any, n_modes: Any = None, out: Any = None, eps: float = 1e-6, isign: int = 1, **options: Any) -> Any:
    """f_k = sum_j c_j e^(i isign k.x_j) in 2 dimensions: coordinates (x, y), strengths c [..., M], n_modes -> [..., n, n].

    Arguments and defaults of finufft; without n_modes the modes are those of out."""
    return _to_modes((x, y), c, n_modes, out, eps, isign, options)


def nufft2d2(x: Any, y: Any, f: Any, out: Any = None, eps: float = 1e-6, isign: int = -1, **options: Any) -> Any:
    """c_j = sum_k f_k e^(i isign k.x_j) in 2 dimensions: coordinates (x, y), modes f [..., n, n] -> [..., M].

    Arguments and defaults of finufft."""
    return _once("to_points", (x, y), f, np.shape(f)[-2:], out, eps, isign, options)


def nufft2d3(x: Any, y: Any, c: Any, s: Any, t: Any, out: Any = None, eps: float = 1e-6, isign: int = 1, **options: Any) -> Any:
    """f_k = sum_j c_j e^(i isign s_k.x_j) in 2 dimensions: coordinates (x, y), strengths c [..., M], frequencies (s, t) -> [..., K].

    Arguments and defaults of finufft."""
    return _to_frequencies((x, y), c, (s, t), out, eps, isign, options)


def nufft3d1(x: Any, y: Any, z: Any, c: Any, n_modes: Any = None, out: Any = None, eps: float = 1e-6, isign: int = 1, **options: Any) -> Any:
    """f_k = sum_j c_j e^(i isign k.x_j) in 3 dimensions: coordinates (x, y, z), strengths c [..., M], n_modes -> [..., n, n, n].

    Arguments and defaults of finufft; without n_modes the modes are those of out."""
    return _to_modes((x, y, z), c, n_modes, out, eps, isign, options)


def nufft3d2(x: Any, y: Any, z: Any, f: Any, out: Any = None, eps: float = 1e-6, isign: int = -1, **options: Any) -> Any:
    """c_j = sum_k f_k e^(i isign k.x_j) in 3 dimensions: coordinates (x, y, z), modes f [..., n, n, n] -> [..., M].

    Arguments and defaults of finufft."""
    return _once("to_points", (x, y, z), f, np.shape(f)[-3:], out, eps, isign, options)


def nufft3d3(x: Any, y: Any, z: Any, c: Any, s: Any, t: Any, u: Any, out: Any = None, eps: float = 1e-6, isign: int = 1, **options: Any) -> Any:
    """f_k = sum_j c_j e^(i isign s_k.x_j) in 3 dimensions: coordinates (x, y, z), strengths c [..., M], frequencies (s, t, u) -> [..., K].

    Arguments and defaults of finufft."""
    return _to_frequencies((x, y, z), c, (s, t, u), out, eps, isign, options)
