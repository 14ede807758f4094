# SPDX-License-Identifier: BSD-3-Clause
"""Transforms as real-linear maps with their exact transposes: what kugel.torch and kugel.jax differentiate by.

A transform is named by a text, so that a compiled or stored graph can hold it as a constant.
"""
import collections
import functools
import hashlib
import itertools
import json
import weakref

import numpy as np

from .alms import Alm
from .plans import SHT, Grid

_tables = {}  # options of grids with tables of their own by the hash of their tables
_alive = weakref.WeakValueDictionary()
_latest = collections.OrderedDict()
_over_ranks = itertools.count()


def _grid_words(grid):
    if not any(isinstance(value, np.ndarray) for value in grid.options.values()):
        return grid.options
    digest = hashlib.sha256()
    for name, value in sorted(grid.options.items()):
        digest.update(name.encode() + np.asarray(value).tobytes())
    _tables[digest.hexdigest()] = grid.options
    return {"tables": digest.hexdigest()}


def transform(grid, lmax, mmax=None, spin=0, mode=None, weights=None, iterations=0, comm=None):
    """The Transform with the arguments of SHT; over ranks one of its own, which lives as long as it is held."""
    if not isinstance(grid, Grid):
        grid = Grid.healpix(grid)
    mmax = None if mmax is None or mmax == lmax else int(mmax)
    arguments = int(lmax), mmax, int(spin), mode, weights, int(iterations)
    if comm:
        out = Transform(f"{next(_over_ranks)} over ranks", grid, *arguments, comm)
        _alive[out.name] = out
        return out
    name = json.dumps([_grid_words(grid), *arguments])
    return _alive.get(name) or _kept(Transform(name, grid, *arguments))


def _kept(out):
    """Among those alive, and of the latest 16, which stay so when nobody else holds them."""
    _alive[out.name] = _latest[out.name] = out
    while len(_latest) > 16:
        _latest.popitem(last=False)
    return out


def named(name):
    """The Transform of that name, made anew in a process that has none, as when it has read a stored graph."""
    out = _alive.get(name)
    if out is None:
        if name.endswith("over ranks"):
            raise ValueError("this transform over ranks belongs to a process that made it: make kugel.torch.SHT(..., comm=) anew")
        words, *arguments = json.loads(name)
        if "tables" in words and words["tables"] not in _tables:
            raise ValueError("this transform is on a grid with tables of its own: make the Grid first")
        out = _kept(Transform(name, Grid(**_tables.get(words.get("tables"), words)), *arguments))
    return out


@functools.lru_cache(maxsize=16)
def index(lmax, mmax=None):
    """l of each coefficient."""
    return np.concatenate([np.arange(m, lmax + 1) for m in range((lmax if mmax is None else mmax) + 1)])


def real_weight(lmax, nalm):
    """1 for m = 0, 2 above: how coefficients count in the inner product of maps."""
    return np.where(np.arange(nalm) > lmax, 2.0, 1.0)


def lmax_of(nalm, mmax=None):
    """lmax of a number of coefficients."""
    lmax = Alm.getlmax(nalm, mmax)
    if lmax < 0:
        raise ValueError(f"alm has {nalm} coefficients, which is no full set for any lmax: give lmax and mmax")
    return lmax


def mode_of(shape, pol, last):
    """"teb" of [..., 3, n] if pol, None (scalars) of [n], [..., 1, n] and without pol; the rule of kugel.map2alm."""
    if not pol or len(shape) == 1 or shape[-2] == 1:
        return None
    if shape[-2] != 3:
        raise ValueError(f"the shape is {tuple(shape)}: with pol=True it must be ({last}), (..., 1, {last}) or (..., 3, {last}); "
                         "pol=False takes each as a scalar")
    return "teb"


class Transform:
    """A plan and its transposes, [batch..., sets, nalm] <-> [batch..., maps, npix] (scalar: without sets and maps).

    `apply` treats a_lm as pairs of real numbers: its transposes are those of the plain inner product of all real and
    imaginary parts, in which m > 0 counts twice as much in the map as m = 0, and imaginary parts at m = 0 not at all.
    Over ranks arrays are the rank's parts; the transpose is that of the whole, so that every rank calls it.
    """

    def __init__(self, name, grid, lmax, mmax, spin, mode, weights, iterations, comm=None):
        self.name, self.grid, self.weights, self.iterations = name, grid, weights, iterations
        self.arguments = grid, lmax, mmax, spin, mode
        self.plan, self.comm = SHT(*self.arguments, weights, iterations, bad_pixels="pass", comm=comm), comm
        self.lmax, self.mmax = self.plan.lmax, self.plan.mmax
        #: coefficients of m = 0, which come first
        self.zonal = self.lmax + 1 if comm is None or 0 in self.plan.orders else 0
        self.alm_shape = (self.plan.nalm,) if self.plan.nsets == 1 else (self.plan.nsets, self.plan.nalm)
        self.map_shape = (self.plan.npix,) if self.plan.nmaps == 1 else (self.plan.nmaps, self.plan.npix)

    def __reduce__(self):
        if self.comm:
            raise TypeError("a transform over ranks belongs to its process: it cannot be pickled")
        return transform, self.arguments + (self.weights, self.iterations)

    def shapes(self, analysis, adjoint):
        """Shape of the input and of the output, without batch."""
        pair = self.alm_shape, self.map_shape
        return pair[::-1] if analysis != adjoint else pair

    def apply(self, x, analysis, adjoint):
        """Synthesis or analysis of a NumPy array, or the transpose."""
        if not adjoint:
            return self.plan.analysis(x) if analysis else self.plan.synthesis(x)
        positive = slice(self.zonal, None)
        if analysis:
            x = np.array(x)
            x[..., positive] /= 2
            return self.plan.analysis_adjoint(x)
        out = self.plan.synthesis_adjoint(x)
        out[..., positive] *= 2
        return out

    @functools.cached_property
    def real_weight(self):
        """How coefficients count in the inner product of maps."""
        return real_weight(self.zonal - 1, self.plan.nalm)

    @functools.cached_property
    def degree(self):
        """l of each coefficient."""
        if self.comm is None:
            return index(self.lmax, self.mmax)
        return np.concatenate([np.arange(m, self.lmax + 1) for m in self.plan.orders] or [np.zeros(0, np.int64)])
