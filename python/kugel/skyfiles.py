# SPDX-License-Identifier: BSD-3-Clause
"""Sky maps in files of other kinds: multi-order maps (LIGO's), MOCs, healsparse maps.

    prob = kugel.skyfiles.read_multiorder("bayestar.multiorder.fits", nside=256)   # RING, one nside
    kugel.skyfiles.write_moc("mask.moc.fits", mask)                                 # a mask as pixels of several sizes
    seen = kugel.skyfiles.read_moc("survey.moc.fits", nside=512)                    # bool [npix]
    m = kugel.skyfiles.read_healsparse("depth.hsp", nside=1024)
    counts = kugel.read_map("catalogue/skymap.fits")                                # HATS: a HEALPix map as any other
"""
from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np

from . import fitsfunc
from ._lib import KugelError, lib, view
from .extras import need
from .maps import UNSEEN, check_nside, get_nside, host
from .pixelfunc import ranges2uniq, reorder, uniq2nest

if TYPE_CHECKING:
    import numpy.typing as npt
    from ._types import Path

__all__ = ["read_healsparse", "read_moc", "read_multiorder", "write_healsparse", "write_moc"]

_LARGEST = 1 << 31  # bytes of a map that nobody asked for by its nside


def _table(path, what):
    """The open table of pixels of several sizes, its ORDERING, and the names of its columns."""
    file = fitsfunc._File(os.fspath(path), 1)
    order = file.keyword("ORDERING").upper()
    if order not in ("NUNIQ", "RANGE"):
        raise ValueError(f"{path} has ORDERING {order or 'nothing'}; {what} has NUNIQ")
    return file, order, [file.column(i).name.decode("latin1") for i in range(file.info.ncolumns)]


def _values(file, i, dtype):
    """A whole column."""
    out = np.empty(file.info.nvalues, dtype)
    lib.kugel_fits_read_values(file.address, i, 0, view(out))
    return out


def _uniq(file, names, path):
    """nside and NESTED pixel of each number, none within another."""
    uniq = _values(file, names.index("UNIQ") if "UNIQ" in names else 0, np.int64)
    if uniq.size and (uniq.min() < 4 or uniq.max() >= 1 << 62):
        bad = uniq.min() if uniq.min() < 4 else uniq.max()
        raise ValueError(f"{path}: pixel number {bad} is not 4 nside^2 + pixel; the file is damaged")
    if not uniq.size:
        return uniq, uniq
    nside, pixel = (np.asarray(a) for a in uniq2nest(uniq))
    shift = _shift(nside)
    order = np.argsort(pixel << shift)
    begin, end = (pixel << shift)[order], ((pixel + 1) << shift)[order]
    if np.any(begin[1:] < end[:-1]):
        i = int(np.argmax(begin[1:] < end[:-1]))
        raise ValueError(f"{path}: pixels {uniq[order[i]]} and {uniq[order[i + 1]]} overlap; each place may have one value")
    return nside, pixel


def _shift(nside):
    """Bits from pixels of nside to those of order 29."""
    return 2 * (29 - np.round(np.log2(nside)).astype(np.int64))


def _target(nside, finest, path):
    if nside is None:
        if 96 * finest**2 > _LARGEST:
            raise ValueError(f"{path} has pixels of nside {finest}: the map would have {96e-9 * finest**2:.3g} GB; give nside")
        return int(finest)
    nside = int(nside)
    check_nside(nside, nest=True)
    return nside


def _spread(nside, pixel, values, target, extensive):
    """Values of pixels of several sizes on pixels of one, NESTED: copied to smaller pixels, the mean (or sum) over larger ones."""
    out, covered = np.zeros(12 * target**2), np.zeros(12 * target**2)
    for n in np.unique(nside):
        mine = nside == n
        p, v = pixel[mine], values[mine]
        if n <= target:
            parts = int(target // n)**2
            places = (p[:, None] * parts + np.arange(parts)).ravel()
            out[places] = np.repeat(v / parts if extensive else v, parts)
            covered[places] = 1
        else:
            share = float(n // target)**-2
            places = p // int(n // target)**2
            good = np.isfinite(v) & (v != UNSEEN)
            np.add.at(out, places[good], v[good] * (1 if extensive else share))
            np.add.at(covered, places[good], share)
    if not extensive:
        np.divide(out, covered, out=out, where=covered > 0)
    out[covered == 0] = UNSEEN
    return out


def read_multiorder(path: Path, nside: int | None = None, column: Any = 0, nest: bool = False, extensive: bool = False,
                    h: Any = False) -> Any:
    """A multi-order map (ORDERING = NUNIQ: pixels of several sizes, as LIGO, Virgo and KAGRA publish) as a map of one nside.

    nside:     of the result; that of the smallest pixels when not given. Larger pixels give their value to all within them;
               of smaller ones the mean is taken. Pixels without any are UNSEEN
    column:    of values, by name or by number beside that of pixels: PROBDENSITY is 0
    nest:      True: the result is in NESTED order, else in RING order
    extensive: True: values are amounts in a pixel, such as counts, which are shared out and summed; False: values per area,
               such as PROBDENSITY
    h:         True: return the map and the header, a list of (keyword, value) pairs
    Returns float64 [12 nside^2].
    """
    file, order, columns = _table(path, "a multi-order map")
    if order != "NUNIQ":
        raise ValueError(f"{path} is a MOC, which has no values: kugel.skyfiles.read_moc reads it")
    names = [n for i, n in enumerate(columns) if n != "UNIQ" and not (i == 0 and "UNIQ" not in columns)]
    if not names:
        raise ValueError(f"{path} has no values beside its pixels: it is a MOC, which kugel.skyfiles.read_moc reads")
    if not isinstance(column, str):
        if not 0 <= int(column) < len(names):
            raise ValueError(f"column is {column}; {path} has 0 to {len(names) - 1}: {', '.join(names)}")
        column = names[int(column)]
    if column not in names:
        raise ValueError(f"column is {column!r}; {path} has {', '.join(names)}")
    values = _values(file, columns.index(column), np.float64)
    own, pixel = _uniq(file, columns, path)
    target = _target(nside, own.max() if own.size else 1, path)
    out = _spread(own, pixel, values, target, extensive)
    out = out if nest else reorder(out, n2r=True)
    return (out, file.header()) if h else out


def read_moc(path: Path, nside: int | None = None, nest: bool = False) -> Any:
    """A MOC (multi-order coverage, IVOA: FITS with NUNIQ or RANGE) as a mask: bool [12 nside^2], True where the MOC has any part
    of the pixel.

    nside: of the result; that of the MOC's order when not given
    """
    file, order, columns = _table(path, "a MOC")
    if order == "RANGE":
        if file.keyword("MOCDIM").upper() not in ("", "SPACE"):
            raise ValueError(f"{path} is a MOC of {file.keyword('MOCDIM')}; a mask needs one of space alone")
        edges, level = _values(file, 0, np.int64), file.keyword("MOCORD_S") or file.keyword("MOCORDER") or "29"
        if edges.size % 2 or not level.isdigit() or int(level) > 29:
            raise ValueError(f"{path} has {edges.size} ends of ranges and order {level}; the file is damaged")
        edges, finest = edges.reshape(-1, 2), 1 << int(level)
        if edges.size and (np.any(edges[:, 1] <= edges[:, 0]) or edges.min() < 0 or edges.max() > 12 << 58):
            raise ValueError(f"{path}: its ranges are not within the sphere's pixels of order 29; the file is damaged")
    else:
        own, pixel = _uniq(file, columns, path)
        edges = np.stack([pixel << _shift(own), (pixel + 1) << _shift(own)], axis=1) if own.size else np.empty((0, 2), np.int64)
        finest = own.max() if own.size else 1
    target = _target(nside, finest, path)
    shift = int(_shift(target))
    count = np.zeros(12 * target**2 + 1, np.int64)
    np.add.at(count, edges[:, 0] >> shift, 1)
    np.add.at(count, ((edges[:, 1] - 1) >> shift) + 1, -1)
    mask = np.cumsum(count[:-1]) > 0
    return mask if nest else reorder(mask, n2r=True)


def _card(key, value, comment=""):
    text = f"'{value:<8}'" if isinstance(value, str) else ("T" if value else "F") if isinstance(value, bool) else str(value)
    text = f"{text:<20}" if isinstance(value, str) else f"{text:>20}"
    return f"{key:<8}= {text}{' / ' + comment if comment else ''}"[:80].ljust(80)


def _write_table(path, columns, cards, overwrite):
    """A FITS file with one table, under a temporary name first."""
    path = os.fspath(path)
    if os.path.exists(path) and not overwrite:
        raise OSError(f"{path} exists; overwrite=True replaces it")
    n = len(columns[0][1])
    row = np.empty(n, [(name, values.dtype.newbyteorder(">")) for name, values in columns])
    for name, values in columns:
        row[name] = values
    head = [_card("SIMPLE", True), _card("BITPIX", 8), _card("NAXIS", 0), _card("EXTEND", True), "END".ljust(80)]
    table = [_card("XTENSION", "BINTABLE"), _card("BITPIX", 8), _card("NAXIS", 2), _card("NAXIS1", row.dtype.itemsize),
             _card("NAXIS2", n), _card("PCOUNT", 0), _card("GCOUNT", 1), _card("TFIELDS", len(columns))]
    for i, (name, values) in enumerate(columns, 1):
        table += [_card(f"TTYPE{i}", name), _card(f"TFORM{i}", {"i8": "K", "f8": "D", "f4": "E"}[values.dtype.str[1:]])]
    table += [_card(*c) for c in cards] + ["END".ljust(80)]
    folder, base = os.path.split(os.path.abspath(path))
    fd, temp = tempfile.mkstemp(prefix=f".{base}-", dir=folder)
    try:
        with os.fdopen(fd, "wb") as f:
            for part in ("".join(head).encode(), "".join(table).encode(), row.tobytes()):
                f.write(part)
                f.write((b"\0" if part is not head and part[:8] != b"SIMPLE  " and part[:8] != b"XTENSION" else b" ")
                        * (-len(part) % 2880))
            f.flush()
            os.fsync(f.fileno())
        os.chmod(temp, 0o666 & ~_umask())
        os.replace(temp, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temp)
        raise


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_moc(path: Path, mask: npt.ArrayLike, nest: bool = False, coord: str = "C", overwrite: bool = False) -> None:
    """The pixels of a mask that are true, or above 0, as a MOC: pixels of several sizes, as large as may be.

    mask:  [npix], RING unless nest=True; UNSEEN and NaN are outside
    coord: the coordinates of the mask; MOCs are in equatorial ones by definition ("C"), others are only noted
    """
    m = np.asarray(host(mask, "mask"))
    nside = get_nside(m)
    check_nside(nside, nest=True)
    inside = m if m.dtype == bool else np.isfinite(m) & (m > 0) & (m != UNSEEN)
    inside = inside if nest else reorder(inside, r2n=True)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(np.int8), [0]])))
    uniq = np.asarray(ranges2uniq(nside, edges.reshape(-1, 2)), np.int64) if edges.size else np.empty(0, np.int64)
    order = int(np.log2(nside))
    _write_table(path, [("UNIQ", np.sort(uniq))],
                 [("PIXTYPE", "HEALPIX", "HEALPix magic code"), ("ORDERING", "NUNIQ", "4 nside^2 + NESTED pixel"),
                  ("COORDSYS", coord), ("MOCORDER", order), ("MOCTOOL", "kugel")], overwrite)


@contextlib.contextmanager
def _theirs(path):
    """What healsparse and its readers raise for damaged files, of any kind, as one."""
    try:
        yield
    except Exception as error:
        raise OSError(f"{path} is not read by healsparse: {error or type(error).__name__}") from error


def read_healsparse(path: Path, nside: int | None = None, nest: bool = False, column: Any = None) -> Any:
    """A healsparse map, by its own package (pip install 'kugel[healsparse]'), as a map of one nside: float64 [12 nside^2].

    nside:  of the result; that of the file when not given. The mean is taken over the pixels that have values
    column: of a map with several values in a pixel, its name
    """
    hsp = need("healsparse", "read_healsparse")
    if os.path.isfile(path):
        fitsfunc._File(os.fspath(path), 0)  # refuses headers on which astropy would loop for ever
    with _theirs(path):
        m = hsp.HealSparseMap.read(os.fspath(path))
    if m.is_rec_array:
        names = list(m.dtype.names)
        if column not in names:
            raise ValueError(f"column is {column!r}; {path} has {', '.join(names)}")
        m = m[column]
    elif column is not None:
        raise ValueError(f"column is {column!r}, but {path} has one value in a pixel")
    if m.is_wide_mask_map:
        raise ValueError(f"{path} is a map of bits: make a map of them by healsparse's check_bits_pix first")
    target = _target(nside, m.nside_sparse, path)
    with _theirs(path):
        pixel = np.asarray(m.valid_pixels, np.int64)
        values = np.asarray(m.get_values_pix(pixel), np.float64)
    out = _spread(np.full(pixel.size, m.nside_sparse, np.int64), pixel, values, target, False)
    return out if nest else reorder(out, n2r=True)


def write_healsparse(path: Path, m: npt.ArrayLike, nside_coverage: int = 32, nest: bool = False, overwrite: bool = False) -> None:
    """A map as a healsparse file, by its own package: only the pixels that are seen are stored.

    m: float [npix], RING unless nest=True;  nside_coverage: of the tiles that are stored or left out
    """
    hsp = need("healsparse", "write_healsparse")
    m = np.asarray(host(m, "m"))
    m = m if m.dtype.kind == "f" else m.astype(np.float64)
    nside = get_nside(m)
    check_nside(nside, nest=True)
    if nside_coverage > nside:
        nside_coverage = nside
    m = m if nest else reorder(m, r2n=True)
    seen = np.flatnonzero(np.isfinite(m) & (m != UNSEEN))
    out = hsp.HealSparseMap.make_empty(int(nside_coverage), int(nside), m.dtype.type, sentinel=m.dtype.type(UNSEEN))
    out.update_values_pix(seen, m[seen])
    out.write(os.fspath(path), clobber=bool(overwrite))
