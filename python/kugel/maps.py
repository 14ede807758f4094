# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of HEALPix maps, masks, and what counts as a map: healpy's rules."""
from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

UNSEEN = -1.6375e30
MAX_NSIDE = 1 << 29


def isnsideok(nside: npt.ArrayLike, nest: bool = False) -> Any:
    """Whether nside is allowed: at least 1, at most 2^29 and, for NEST, a power of two. Element by element."""
    n = np.asarray(nside)
    whole = n if n.dtype.kind in "iu" else np.where(np.isfinite(n), n, 0).astype(np.int64)
    good = (whole == n) & (whole > 0) & (whole <= MAX_NSIDE)
    if nest:
        good &= (whole & (whole - 1)) == 0
    return good if good.ndim else bool(good)


def check_nside(nside: int, nest: bool = False) -> Any:
    """Raises ValueError unless isnsideok."""
    if type(nside) is int and 0 < nside <= MAX_NSIDE and not (nest and nside & (nside - 1)):
        return
    if not np.all(isnsideok(nside, nest=nest)):
        raise ValueError(f"{nside} is not a valid nside parameter (must be {'a power of 2, ' if nest else ''}at least 1, "
                         "at most 2**29)")


def check_max_nside(nside: int) -> Any:
    """Raises ValueError if nside is above 2^29."""
    if np.any(np.asarray(nside) > MAX_NSIDE):
        raise ValueError(f"nside {nside} is too large, the largest is 2**29")


def isnpixok(npix: npt.ArrayLike) -> Any:
    """Whether npix is 12 nside^2. Element by element."""
    n = np.asarray(npix)
    nside = np.floor(np.sqrt(np.maximum(n, 0) / 12.0) + 0.5)
    good = (n > 0) & (12 * nside * nside == n)
    return good if good.ndim else bool(good)


def nside2npix(nside: npt.ArrayLike) -> Any:
    """Pixels of a map: 12 nside^2, element by element; ValueError unless nside is whole and in 1 to 2^29."""
    check_nside(nside)
    nside = int(nside) if np.ndim(nside) == 0 else np.asarray(nside).astype(np.int64)
    return 12 * nside * nside


def npix2nside(npix: npt.ArrayLike) -> Any:
    """nside of a map with npix pixels; ValueError if there is none."""
    if not np.all(isnpixok(npix)):
        raise ValueError(f"Wrong pixel number {npix} (it is not 12*nside**2)")
    nside = np.sqrt(np.asarray(npix) / 12.0).round().astype(np.int64)
    return nside if nside.ndim else int(nside)


def nside2order(nside: npt.ArrayLike) -> Any:
    """log2(nside)."""
    check_nside(nside, nest=True)
    order = np.log2(np.asarray(nside)).round().astype(np.int64)
    return order if order.ndim else int(order)


def order2nside(order: npt.ArrayLike) -> Any:
    """2^order."""
    nside = 1 << np.asarray(order) if np.ndim(order) else 1 << int(order)
    check_nside(nside, nest=True)
    return nside


def order2npix(order: npt.ArrayLike) -> Any:
    """Pixels at an order."""
    return nside2npix(order2nside(order))


def npix2order(npix: npt.ArrayLike) -> Any:
    """Order of a map with npix pixels."""
    return nside2order(npix2nside(npix))


def nside2pixarea(nside: npt.ArrayLike, degrees: bool = False) -> Any:
    """Area of a pixel, steradians or square degrees."""
    area = 4 * np.pi / nside2npix(nside)
    return np.rad2deg(np.rad2deg(area)) if degrees else area


def nside2resol(nside: npt.ArrayLike, arcmin: bool = False) -> Any:
    """Square root of the pixel area, radians or arcmin."""
    resolution = np.sqrt(nside2pixarea(nside))
    return np.rad2deg(resolution) * 60 if arcmin else resolution


# ---- arrays of other libraries ----------------------------------------------------------------------------------

_HOST = (1, 3)  # DLPack's kDLCPU and kDLCUDAHost


def _refuse(a, what):
    """TypeError for arrays whose values are not to be had, or not without losing what they are for."""
    library = type(a).__module__.split(".")[0]
    if library == "torch":
        if a.requires_grad:
            raise TypeError(f"{what} is a tensor that requires grad: use kugel.torch, which differentiates, or give "
                            "tensor.detach()")
        if a.device.type != "cpu":
            raise TypeError(f"{what} is a tensor on {a.device}: use kugel.torch or kugel.SHT, which work there, or give "
                            "tensor.cpu()")
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(a, jax.core.Tracer):
        raise TypeError(f"{what} is traced by jax.jit, jax.grad or jax.vmap: use the functions of kugel.jax there")
    if library != "kugel" and hasattr(a, "__dlpack_device__"):
        kind, number = a.__dlpack_device__()
        if int(kind) not in _HOST:
            raise TypeError(f"{what} lies in the memory of a device (DLPack's type {int(kind)}, number {number}): use "
                            "kugel.SHT or kugel.torch, which work there, or copy it to the host")


def host(a: Any, what: str = "the array") -> Any:
    """`a` as a NumPy array, without a copy where its memory allows that: of PyTorch, JAX, xarray, pandas, and whatever has
    __array__, __array_interface__ or __dlpack__. NumPy's arrays, masked ones too, numbers, lists and tuples are left as
    they are. The columns of a table become rows, its missing entries NaN.

    TypeError for tensors that require grad or lie on a device, and inside jax.jit: it names kugel.torch or kugel.jax.
    """
    if isinstance(a, (np.ndarray, np.generic, int, float, complex, list, tuple, str, type(None))):
        return a
    _refuse(a, what)
    if type(a).__module__.split(".")[0] == "torch":
        return a.resolve_conj().resolve_neg().numpy()
    if hasattr(a, "__array__") or hasattr(a, "__array_interface__"):
        out = np.asarray(a)
        if out.dtype == object and hasattr(a, "to_numpy"):  # pandas' types with NA
            out = a.to_numpy(dtype=np.float64, na_value=np.nan)
        return out.T if type(a).__name__ == "DataFrame" else out
    if hasattr(a, "__dlpack__"):
        return np.from_dlpack(a)
    return np.asarray(a) if hasattr(a, "ndim") else a


# ---- what is a map ---------------------------------------------------------------------------------------------


def _explicit_size(m):
    """Pixels of a map given as a dict {pixel: value}, whose key "nside" may say its size."""
    if "nside" in m:
        check_nside(m["nside"])
        return nside2npix(m["nside"])
    pixels = [key for key in m if not isinstance(key, str)]
    if not pixels:
        raise TypeError("the map is a dict without pixels and without 'nside'")
    return nside2npix(get_min_valid_nside(max(pixels) + 1))


def _sequence(m):
    """The map as an array, or as a list of arrays if it is a sequence of maps."""
    m = host(m, "the map")
    if isinstance(m, np.ndarray):
        return m
    if not hasattr(m, "__len__"):
        raise TypeError("input map is a scalar")
    if isinstance(m, dict):
        raise TypeError("the map is a dict: give an array with a value for each pixel")
    return [host(part, "a map") for part in m]


def maptype(m: npt.ArrayLike) -> int:
    """What the map argument `m` is.

    m:  an array [npix] or [n, npix], a sequence of n maps, or such an array of PyTorch, JAX, xarray, pandas ...
    Returns 0 for one map, n for n maps of one size. TypeError for anything else.

        kugel.maptype(numpy.zeros(12))          # 0
        kugel.maptype(numpy.zeros((3, 12)))     # 3
    """
    m = _sequence(m)
    if len(m) == 0 if not isinstance(m, np.ndarray) or m.ndim else False:
        raise TypeError("input map has length zero")
    if isinstance(m, np.ndarray):
        if m.ndim == 0:
            raise TypeError("input map is a scalar")
        sizes = {m.shape[-1]}
        if m.ndim > 2:
            raise TypeError(f"input map has {m.ndim} dimensions")
        count = 0 if m.ndim == 1 else len(m)
    elif hasattr(m[0], "__len__"):
        sizes, count = {len(part) if hasattr(part, "__len__") else 1 for part in m}, len(m)
    else:
        sizes, count = {len(m)}, 0
    if len(sizes) != 1:
        raise TypeError("input maps have different npix")
    if not isnpixok(sizes.pop()):
        raise TypeError("bad number of pixels")
    return count


def get_map_size(m: npt.ArrayLike) -> int:
    """Pixels of a map, or of each map of a sequence. A dict {pixel: value} stands for a map of the least size, or of
    that of its key "nside"."""
    if isinstance(m, dict):
        return _explicit_size(m)
    m = _sequence(m)
    maptype(m)
    return m.shape[-1] if isinstance(m, np.ndarray) else len(m[0]) if hasattr(m[0], "__len__") else len(m)


def get_min_valid_nside(npix: npt.ArrayLike) -> Any:
    """The least power of two nside with 12 nside^2 >= npix."""
    if not npix >= 1:
        raise ValueError(f"npix is {npix}; it must be at least 1")
    nside = 1
    while 12 * nside * nside < npix:
        nside *= 2
    return nside


def get_nside(m: npt.ArrayLike) -> int:
    """nside of a map, or of each map of a sequence."""
    return npix2nside(get_map_size(m))


def filled(m: npt.ArrayLike) -> Any:
    """Plain arrays instead of masked ones, masked pixels UNSEEN; a sequence of maps becomes one array."""
    m = host(m, "the map")
    if isinstance(m, np.ma.MaskedArray):
        if m.mask is np.ma.nomask or not m.mask.any():
            return m.data
        if m.dtype.kind not in "fc":  # whole numbers cannot hold UNSEEN
            m = m.astype(np.float64)
        return m.filled(UNSEEN)
    if isinstance(m, np.ndarray):
        return m
    m = _sequence(m)
    if hasattr(m[0], "__len__"):
        return np.array([filled(part) for part in m])
    return np.asarray(m)


def is_masked(m: npt.ArrayLike) -> bool:
    """Whether a map, or one of a sequence, is a masked array."""
    return isinstance(m, np.ma.MaskedArray) or (isinstance(m, (list, tuple)) and
                                                 any(isinstance(part, np.ma.MaskedArray) for part in m))


def is_ma(m: npt.ArrayLike) -> bool:
    """Whether a map, or the first of a sequence, is a masked array."""
    return is_masked(m)


def ma_to_array(m: npt.ArrayLike) -> Any:
    """Masked maps as plain arrays with masked pixels UNSEEN; other maps as they are.

        kugel.pixelfunc.ma_to_array(kugel.ma(m))    # m with every bad pixel UNSEEN
    """
    return filled(m) if is_masked(m) else m


def accept_ma(f: Any) -> Any:
    """Decorator: `f(map, ...)`, written for plain arrays, also takes masked maps and then returns masked ones."""

    @functools.wraps(f)
    def wrapper(map_in, *args, **kwds):
        out = f(ma_to_array(map_in), *args, **kwds)
        return ma(out) if is_masked(map_in) else out

    return wrapper


# ---- masks -----------------------------------------------------------------------------------------------------


def mask_bad(m: npt.ArrayLike, badval: float = UNSEEN, rtol: float = 1.0e-5, atol: float = 1.0e-8) -> np.ndarray:
    """True where a pixel equals badval within atol + rtol |badval|."""
    m = np.asarray(host(m, "the map"))
    return np.abs(m - badval) <= atol + rtol * abs(badval)


def mask_good(m: npt.ArrayLike, badval: float = UNSEEN, rtol: float = 1.0e-5, atol: float = 1.0e-8) -> np.ndarray:
    """False where a pixel equals badval within atol + rtol |badval|."""
    return ~mask_bad(m, badval, rtol, atol)


def ma(m: npt.ArrayLike, badval: float = UNSEEN, rtol: float = 1e-5, atol: float = 1e-8, copy: bool = True) -> np.ma.MaskedArray:
    """A map as a masked array with its bad pixels masked.

    m:       [npix], or n maps
    badval:  the value of bad pixels; those within atol + rtol |badval| of it are bad, and pixels masked already
    copy:    False: the result shares its values with m where that is an array
    Returns a MaskedArray [npix], or [n, npix] for n maps (one also for a sequence of one).

        kugel.ma([m, m]).mask.sum(axis=1)       # bad pixels of each map
    """
    maptype(m)
    values = filled(m)
    values = np.array(values) if copy else np.asarray(values)
    mask = mask_bad(values, badval, rtol, atol)
    if badval != UNSEEN and is_masked(m):
        mask |= np.ma.getmaskarray(m) if isinstance(m, np.ndarray) else [np.ma.getmaskarray(part) for part in m]
    return np.ma.MaskedArray(values, mask, fill_value=badval if values.dtype.kind in "fc" or mask.any() else None)
