# SPDX-License-Identifier: BSD-3-Clause
"""Sizes of HEALPix maps, masks, and what counts as a map: healpy's rules."""
import numpy as np

UNSEEN = -1.6375e30
MAX_NSIDE = 1 << 29


def isnsideok(nside, nest=False):
    """Whether nside is allowed: at least 1, at most 2^29 and, for NEST, a power of two. Element by element."""
    n = np.asarray(nside)
    whole = n if n.dtype.kind in "iu" else np.where(np.isfinite(n), n, 0).astype(np.int64)
    good = (whole == n) & (whole > 0) & (whole <= MAX_NSIDE)
    if nest:
        good &= (whole & (whole - 1)) == 0
    return good if good.ndim else bool(good)


def check_nside(nside, nest=False):
    """Raises ValueError unless isnsideok."""
    if type(nside) is int and 0 < nside <= MAX_NSIDE and not (nest and nside & (nside - 1)):
        return
    if not np.all(isnsideok(nside, nest=nest)):
        raise ValueError(f"{nside} is not a valid nside parameter (must be {'a power of 2, ' if nest else ''}at least 1, "
                         "at most 2**29)")


def check_max_nside(nside):
    """Raises ValueError if nside is above 2^29."""
    if np.any(np.asarray(nside) > MAX_NSIDE):
        raise ValueError(f"nside {nside} is too large, the largest is 2**29")


def isnpixok(npix):
    """Whether npix is 12 nside^2. Element by element."""
    n = np.asarray(npix)
    nside = np.floor(np.sqrt(np.maximum(n, 0) / 12.0) + 0.5)
    good = (n > 0) & (12 * nside * nside == n)
    return good if good.ndim else bool(good)


def nside2npix(nside):
    """12 nside^2."""
    return 12 * nside * nside


def npix2nside(npix):
    """nside of a map with npix pixels; ValueError if there is none."""
    if not np.all(isnpixok(npix)):
        raise ValueError(f"Wrong pixel number {npix} (it is not 12*nside**2)")
    nside = np.sqrt(np.asarray(npix) / 12.0).round().astype(np.int64)
    return nside if nside.ndim else int(nside)


def nside2order(nside):
    """log2(nside)."""
    check_nside(nside, nest=True)
    order = np.log2(np.asarray(nside)).round().astype(np.int64)
    return order if order.ndim else int(order)


def order2nside(order):
    """2^order."""
    nside = 1 << np.asarray(order) if np.ndim(order) else 1 << int(order)
    check_nside(nside, nest=True)
    return nside


def order2npix(order):
    """Pixels at an order."""
    return nside2npix(order2nside(order))


def npix2order(npix):
    """Order of a map with npix pixels."""
    return nside2order(npix2nside(npix))


def nside2pixarea(nside, degrees=False):
    """Area of a pixel, steradians or square degrees."""
    area = 4 * np.pi / nside2npix(np.asarray(nside, np.float64)[()])
    return np.rad2deg(np.rad2deg(area)) if degrees else area


def nside2resol(nside, arcmin=False):
    """Square root of the pixel area, radians or arcmin."""
    resolution = np.sqrt(nside2pixarea(nside))
    return np.rad2deg(resolution) * 60 if arcmin else resolution


# ---- what is a map ---------------------------------------------------------------------------------------------


def maptype(m):
    """0 for one map, n for a sequence of n maps of one size; TypeError for anything else."""
    if not hasattr(m, "__len__"):
        raise TypeError("input map is a scalar")
    if len(m) == 0:
        raise TypeError("input map has length zero")
    if isinstance(m, np.ndarray):
        sizes = {m.shape[-1]}
        if m.ndim not in (1, 2):
            raise TypeError(f"input map has {m.ndim} dimensions")
        count = 0 if m.ndim == 1 else len(m)
    elif hasattr(m[0], "__len__"):
        sizes, count = {len(part) for part in m}, len(m)
    else:
        sizes, count = {len(m)}, 0
    if len(sizes) != 1:
        raise TypeError("input maps have different npix")
    if not isnpixok(sizes.pop()):
        raise TypeError("bad number of pixels")
    return count


def get_map_size(m):
    """Pixels of a map, or of each map of a sequence."""
    maptype(m)
    return m.shape[-1] if isinstance(m, np.ndarray) else len(m[0]) if hasattr(m[0], "__len__") else len(m)


def get_nside(m):
    """nside of a map, or of each map of a sequence."""
    return npix2nside(get_map_size(m))


def filled(m):
    """Plain arrays instead of masked ones, masked pixels UNSEEN; a sequence of maps becomes one array."""
    if isinstance(m, np.ma.MaskedArray):
        return m.filled(UNSEEN) if m.mask is not np.ma.nomask and m.mask.any() else m.data
    if isinstance(m, np.ndarray):
        return m
    if hasattr(m[0], "__len__"):
        return np.array([filled(part) for part in m])
    return np.asarray(m)


def is_masked(m):
    """Whether a map, or one of a sequence, is a masked array."""
    return isinstance(m, np.ma.MaskedArray) or (not isinstance(m, np.ndarray) and
                                                 any(isinstance(part, np.ma.MaskedArray) for part in m))


# ---- masks -----------------------------------------------------------------------------------------------------


def mask_bad(m, badval=UNSEEN, rtol=1.0e-5, atol=1.0e-8):
    """True where a pixel equals badval within atol + rtol |badval|."""
    m = np.asarray(m)
    return np.abs(m - badval) <= atol + rtol * abs(badval)


def mask_good(m, badval=UNSEEN, rtol=1.0e-5, atol=1.0e-8):
    """False where a pixel equals badval within atol + rtol |badval|."""
    return ~mask_bad(m, badval, rtol, atol)


def ma(m, badval=UNSEEN, rtol=1e-5, atol=1e-8, copy=True):
    """A masked array, or a tuple of them for a sequence of maps, with bad pixels masked."""
    one = maptype(m) == 0

    def masked(part):
        part = np.array(part) if copy else np.asarray(part)
        return np.ma.MaskedArray(part, mask_bad(part, badval, rtol, atol), fill_value=badval)

    return masked(m) if one else tuple(masked(part) for part in m)
