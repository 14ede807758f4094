# SPDX-License-Identifier: BSD-3-Clause
"""FITS files: HEALPix maps, alm, power spectra."""
from __future__ import annotations

import ctypes
import os
import tempfile
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._lib import Handle, KugelError, dtype_of, lib, long_call, numpy_dtype, options, path, ptr, real, strings, text, view
from .alms import Alm, _sets, alm_sizes, resize_alm
from .maps import UNSEEN, filled, get_nside, host, is_masked, maptype

if TYPE_CHECKING:
    import numpy.typing as npt
    from ._types import Path

_ORDER = {False: _ffi.KUGEL_ORDER_RING, True: _ffi.KUGEL_ORDER_NESTED, None: _ffi.KUGEL_ORDER_ANY}
STANDARD_NAMES = {1: ["TEMPERATURE"], 2: ["Q_POLARISATION", "U_POLARISATION"],
                  3: ["TEMPERATURE", "Q_POLARISATION", "U_POLARISATION"],
                  6: ["II", "IQ", "IU", "QQ", "QU", "UU"]}


class HealpixFitsWarning(Warning):
    """What is said of FITS files that can be read but are not as they should be."""


def _on_disk(source, hdu):
    """(file name, hdu, what to keep alive) of a file name or of astropy's HDU or HDUList, which goes to a temporary file."""
    if not hasattr(source, "writeto"):
        return source, hdu, None
    folder = tempfile.TemporaryDirectory(prefix="kugel-")
    name = os.path.join(folder.name, "hdu.fits")
    source.writeto(name, output_verify="ignore")
    if not isinstance(source, list):  # one HDU: the primary one, or the first after it
        hdu = 0 if type(source).__name__ == "PrimaryHDU" else 1
    return name, hdu, folder


class _File:
    """An open FITS file. hdu counts as in astropy: 0 is the primary one; None: the first with data."""

    def __init__(self, filename, hdu=None):
        filename, hdu, folder = _on_disk(filename, hdu)
        if folder is not None:
            weakref.finalize(self, folder.cleanup)
        path(filename)  # refuses what is not a name
        name = os.path.expanduser(os.fspath(filename))
        path(name)  # refuses null bytes
        if not os.path.exists(name):
            raise FileNotFoundError(2, "No such file", str(name))
        out = ctypes.c_void_p()
        opts = options(_ffi.kugel_fits_opts)
        self._keep = None
        if isinstance(hdu, str):
            self._keep = hdu.encode()
            opts.extname = self._keep
        elif hdu is not None:
            opts.hdu = int(hdu) + 1
        try:
            lib.kugel_fits_open(None, path(name), ctypes.byref(opts), ctypes.byref(out))
        except ValueError:
            raise OSError(f"{name} has no HDU {hdu!r} (0 is the primary one); the file may be cut short") from None
        self._handle = Handle(out.value, lib.kugel_fits_close)
        self.address = out.value
        self.info = lib.kugel_fits_get_info(self.address).contents

    def keyword(self, name):
        """A keyword's value as text, "" if there is none."""
        text = ctypes.create_string_buffer(80)
        try:
            lib.kugel_fits_get_keyword(self.address, name.encode(), text, len(text))
        except (KugelError, ValueError):
            return ""
        return text.value.decode("latin1").strip()

    def column(self, i):
        out = _ffi.kugel_fits_column()
        lib.kugel_fits_get_column(self.address, i, ctypes.byref(out))
        return out

    def find(self, field):
        if isinstance(field, str):
            out = ctypes.c_int64()
            lib.kugel_fits_find_column(self.address, field.encode(), ctypes.byref(out))
            return out.value
        return int(field)

    def header(self):
        """Pairs (keyword, value) of what the header says of the data."""
        info = self.info
        pairs = [("PIXTYPE", "HEALPIX"), ("ORDERING", {1: "RING", 2: "NESTED"}.get(info.order, "")),
                 ("NSIDE", info.nside), ("COORDSYS", text(info.coordsys)), ("POLCCONV", text(info.polcconv)),
                 ("EXTNAME", text(info.extname)), ("CREATOR", text(info.creator))]
        pairs = [(k, v) for k, v in pairs if v not in ("", 0)] if info.nside else [p for p in pairs[5:] if p[1]]
        for i in range(info.ncolumns):
            column = self.column(i)
            pairs.append((f"TTYPE{i + 1}", text(column.name)))
            if column.unit:
                pairs.append((f"TUNIT{i + 1}", text(column.unit)))
        cards = ctypes.cast(info.cards, ctypes.POINTER(ctypes.c_char_p))
        return pairs + [parse_card(text(cards[i])) for i in range(info.ncards)]


def parse_card(card: Any) -> Any:
    """(keyword, value) of a header card."""
    keyword, rest = card[:8].strip(), card[10:]
    if card[8:10] != "= ":
        return keyword, card[8:].strip()
    rest = rest.strip()
    if rest.startswith("'"):
        end = 1
        while end < len(rest):
            if rest[end] == "'" and rest[end + 1:end + 2] != "'":
                break
            end += 2 if rest[end] == "'" else 1
        return keyword, rest[1:end].replace("''", "'").rstrip()
    value = rest.split("/")[0].strip()
    if value in ("T", "F"):
        return keyword, value == "T"
    for kind in (int, lambda v: float(v.replace("D", "E"))):
        try:
            return keyword, kind(value)
        except ValueError:
            pass
    return keyword, value


def make_card(key: Any, value: Any = "", comment: Any = "") -> Any:
    """A header card of 80 characters at most."""
    if key in ("COMMENT", "HISTORY", ""):
        return f"{key:8}{value}"[:80]
    if isinstance(value, (bool, np.bool_)):
        word = f"{'T' if value else 'F':>20}"
    elif isinstance(value, (int, float, np.integer, np.floating)):
        word = f"{value!r:>20}" if not isinstance(value, (np.integer, np.floating)) else f"{value.item()!r:>20}"
        word = word.replace("e", "E")
    else:
        quoted = str(value).replace("'", "''")
        word = f"'{quoted:<8}'"
    return (f"{str(key).upper()[:8]:8}= {word}" + (f" / {comment}" if comment else ""))[:80]


# ---- maps ------------------------------------------------------------------------------------------------------


def _reader(file):
    """What reads a file that is no map of one nside, as the end of a sentence."""
    order = file.keyword("ORDERING").upper()
    moc = order == "RANGE" or file.info.ncolumns == 1
    found = ("a MOC", "read_moc") if moc and order in ("NUNIQ", "RANGE") else ("a multi-order map", "read_multiorder") if order == "NUNIQ" else None
    return f" but {found[0]} (ORDERING = {order}): kugel.skyfiles.{found[1]} reads it" if found else ""


def read_map(filename: Any, field: Any = 0, dtype: Any = None, nest: bool = False, partial: bool = False, hdu: int = 1, h: bool = False,
             verbose: bool = True, memmap: bool = False) -> Any:
    """HEALPix maps of a FITS file, whole sky.

    filename: of the file, or an astropy HDU or HDUList (an HDU that is given is read whatever hdu says)
    field:   column number or name, or several; None: all
    dtype:   of the maps, or one for each; None: as in the file
    nest:    False: RING, True: NEST, None: as in the file
    hdu:     number (0: primary) or name of the HDU
    h:       also return the header as a list of pairs
    Returns one map, or an array of maps for several fields. Missing pixels are UNSEEN. partial and memmap are accepted
    and ignored: the file says whether it is partial, and reading needs no second copy.
    """
    file = _File(filename, hdu)
    if file.info.kind != _ffi.KUGEL_FITS_MAP:
        raise OSError(f"{filename} holds no HEALPix map in HDU {hdu}{_reader(file)}")
    single = isinstance(field, (int, str, np.integer))
    fields = range(file.info.ncolumns) if field is None else [field] if single else field
    columns = np.array([file.find(f) for f in fields], np.int64)
    for c in columns:
        if not 0 <= c < file.info.ncolumns:
            raise ValueError(f"field {c} is out of range: {filename} has {file.info.ncolumns} columns")
    dtypes = dtype if isinstance(dtype, (list, tuple)) else [dtype] * len(columns)
    dtypes = [np.dtype(t) if t is not None else numpy_dtype(file.column(int(c)).dtype) for c, t in zip(columns, dtypes)]
    good = {np.dtype(np.float64), np.dtype(np.float32), np.dtype(np.int64), np.dtype(np.int32)}
    kinds = [t if t in good else np.dtype(np.int32) if t.kind in "iub" else np.dtype(np.float64) for t in dtypes]
    if len(set(kinds)) == 1:
        out = np.empty((len(columns), file.info.npix), kinds[0])
        long_call(lib.kugel_fits_read_maps, file.address, len(columns), ptr(columns), _ORDER[nest], view(out))
        maps = [m.astype(t, copy=False) for m, t in zip(out, dtypes)]
    else:
        maps = []
        for c, kind, t in zip(columns, kinds, dtypes):
            row = np.empty((1, file.info.npix), kind)
            long_call(lib.kugel_fits_read_maps, file.address, 1, ptr(np.array([c])), _ORDER[nest], view(row))
            maps.append(row[0].astype(t, copy=False))
        out = None
    if single or len(maps) == 1:
        result = maps[0]
    elif len(set(dtypes)) == 1:
        result = out if out is not None and out.dtype == dtypes[0] else np.array(maps)
    else:
        result = tuple(maps)
    return (result, file.header()) if h else result


def _exists(filename, overwrite):
    if not overwrite and os.path.exists(os.path.expanduser(os.fspath(filename))):
        raise OSError(f"File exists: {os.fspath(filename)}. Set overwrite=True to overwrite it.")


def _write_options(overwrite, column_names, column_units, extra_header, count, **more):
    for what, values in (("column_names", column_names), ("column_units", column_units)):
        many = values is not None and not isinstance(values, str)
        if many and not (hasattr(values, "__len__") and all(isinstance(v, str) or v is None and what == "column_units"
                                                               for v in values)):
            raise ValueError(f"{what} is {values!r}; it must be a text, or one for each column")
        if many and len(values) != count:
            raise ValueError(f"{what} has {len(values)} entries for {count} columns")
    names = [column_names] * count if isinstance(column_names, str) else column_names
    units = [column_units] * count if isinstance(column_units, str) else column_units and [u or "" for u in column_units]
    cards = [make_card(*entry) for entry in extra_header]
    keep = [strings(v) for v in (names, units, cards)]
    addresses = [ctypes.cast(k, ctypes.c_void_p) if k is not None else None for k in keep]
    opts = options(_ffi.kugel_fits_write_opts, overwrite=int(bool(overwrite)), names=addresses[0], units=addresses[1],
                   cards=addresses[2], ncards=len(cards), **more)
    opts.kept = keep
    return opts


_COLUMNS = {np.dtype(t) for t in (np.float64, np.float32, np.int64, np.int32, np.int16, np.uint8, np.bool_)}


def _column_type(dtype, own):
    """The type of a column that was asked for, or that holds a map of type `own`."""
    kind = np.dtype(own if dtype is None else dtype).newbyteorder("=")
    if kind.kind == "c":
        raise TypeError(f"columns of {kind} are not written: give the real and the imaginary part as two maps, m.real and "
                        "m.imag")
    if kind in _COLUMNS:
        return kind
    if dtype is not None:
        raise TypeError(f"columns of {kind} are not written; dtype may be {', '.join(sorted(t.name for t in _COLUMNS))}")
    return np.dtype(np.float64) if kind.kind not in "iub" else np.dtype(np.int32 if kind.itemsize < 4 else np.int64)


def _columns(m, count, dtype):
    """The maps as one array of a type that the library takes, and the type of each column."""
    rows = [m] if count == 1 and maptype(m) == 0 else m
    kinds = [np.asarray(host(row, "a map")).dtype for row in rows] if not isinstance(m, np.ndarray) else [m.dtype] * count
    wanted = list(dtype) if isinstance(dtype, (list, tuple)) else [dtype] * count
    if len(wanted) != count:
        raise ValueError(f"dtype has {len(wanted)} entries for {count} maps; give one type, or one for each map")
    columns = [_column_type(w, kind) for w, kind in zip(wanted, kinds)]
    values = filled(m).reshape(count, -1)
    kind = values.dtype.newbyteorder("=")
    if kind not in (np.float64, np.float32, np.int64, np.int32):
        wide = values.astype(np.int32 if kind.kind in "iub" and kind.itemsize < 4 else np.int64 if kind.kind == "i" else
                             np.float64)
        if kind.kind == "u" and kind.itemsize == 8 and (wide != values).any():
            raise ValueError("the map has numbers above 2^53 in uint64: give int64 or float64")
        values = wide
    if values.dtype.kind == "f" and len(set(kinds)) > 1:
        for row, own, value in zip(rows, kinds, values):
            if own.kind in "iu" and own.itemsize == 8 and not is_masked(row) and (value.astype(own) != row).any():
                raise ValueError("a map of whole numbers above 2^53 cannot go into one file with maps of floating-point "
                                 "numbers: write it to a file of its own")
    return np.ascontiguousarray(values, values.dtype.newbyteorder("=")), columns


def write_map(filename: Path, m: npt.ArrayLike, nest: bool = False, dtype: Any = None, fits_IDL: bool = True, coord: str | None = None,
              partial: bool = False, column_names: Any = None, column_units: Any = None, extra_header: Any = (),
              overwrite: bool = False) -> None:
    """Writes maps to a FITS file.

    m:            a map, or n maps, each a column; masked pixels are stored as UNSEEN
    dtype:        of the columns: one type, or one for each map; None: the maps' own. float64, float32, int64, int32, int16,
                  uint8 or bool
    fits_IDL:     1024 pixels per row where nside allows, as HEALPix does; False: one pixel per row
    coord:        "G", "E" or "C"
    partial:      store only pixels that are not UNSEEN
    extra_header: pairs (keyword, value), or triples with a comment
    TypeError for complex maps; ValueError for values that the type of their column cannot hold; OSError if the file exists
    and overwrite is False, or cannot be written.

        kugel.write_map("iqu.fits", [i, q, u], coord="G", column_units="uK", dtype=[numpy.float64] + 2 * [numpy.float32])
    """
    m = host(m, "the map")
    count = max(maptype(m), 1)
    _exists(filename, overwrite)
    values, columns = _columns(m, count, dtype)
    if column_names is None:
        column_names = STANDARD_NAMES.get(count) or [f"I_STOKES{i}" for i in range(count)]
    opts = _write_options(overwrite, column_names, column_units, extra_header, count, nowrap=int(not fits_IDL),
                          order=_ORDER[bool(nest)], coordsys=coord.encode() if coord else None,
                          skip_unseen=int(bool(partial)), nside=get_nside(m))
    types = (_ffi.kugel_dtype * count)(*map(dtype_of, columns))
    opts.dtype, opts.dtypes = types[0], types
    long_call(lib.kugel_fits_write_maps, None, path(filename), ctypes.byref(opts), view(values))


def getformat(t: Any) -> Any:
    """The letter of FITS columns for a NumPy type, or for a value or an array of it; "A" and the length for text.

        kugel.fitsfunc.getformat(numpy.float32)     # "E"
    """
    if t is str:
        return "A"
    if isinstance(t, str):
        return f"A{len(t)}"
    if not isinstance(t, (np.dtype, type)):
        if hasattr(t, "__len__") and len(t) and isinstance(t[0], str):
            return f"A{max(map(len, t))}"
        t = np.asarray(host(t)).dtype
    letters = {"b1": "L", "u1": "B", "i2": "I", "i4": "J", "i8": "K", "f4": "E", "f8": "D", "c8": "C", "c16": "M"}
    kind = np.dtype(t)
    try:
        return letters[kind.kind + str(kind.itemsize)]
    except KeyError:
        raise ValueError(f"FITS has no column type for {kind}; there are {', '.join(sorted(letters))}") from None


# ---- alm -------------------------------------------------------------------------------------------------------


def _read_component(file, component):
    lmax, mmax = file.info.lmax, file.info.mmax
    out = np.empty(Alm.getsize(lmax, mmax), np.complex128)
    long_call(lib.kugel_fits_read_alm, file.address, component, lmax, mmax, view(out))
    return out, mmax


def read_alm(filename: Any, hdu: Any = 1, return_mmax: bool = False) -> Any:
    """alm of a FITS file: one array, or [n, nalm] for several HDUs. return_mmax: and mmax.

    filename: of the file, or an astropy HDU or HDUList
    hdu:      number (0: primary) or name of the HDU, or several
    """
    hdus = [hdu] if isinstance(hdu, (int, str, np.integer)) else list(hdu)
    parts = []
    for one in hdus:
        file = _File(filename, one)
        if file.info.kind != _ffi.KUGEL_FITS_ALM:
            raise OSError(f"{filename} holds no alm in HDU {one}")
        parts.append(_read_component(file, 0))
    alms, mmaxes = [a for a, _ in parts], [m for _, m in parts]
    if len({a.size for a in alms}) != 1:
        raise ValueError(f"the HDUs {hdus} of {filename} differ in lmax or mmax; read them one by one")
    result = alms[0] if len(alms) == 1 else np.array(alms)
    return (result, mmaxes[0] if len(alms) == 1 else mmaxes) if return_mmax else result


def write_alm(filename: Path, alms: npt.ArrayLike, out_dtype: Any = None, lmax: int = -1, mmax: int = -1, mmax_in: int = -1,
              overwrite: bool = False) -> None:
    """Writes alm, one HDU a set.

    out_dtype: of the columns, such as numpy.float64; None: that of alms
    lmax, mmax: to be written; -1: those of alms;  mmax_in: of alms; -1: lmax
    """
    _exists(filename, overwrite)
    a, single = _sets(alms)
    lmax_in, mmax_in = alm_sizes(a.shape[-1], None, mmax_in)
    lmax = lmax_in if lmax == -1 else int(lmax)
    mmax = min(mmax_in if mmax == -1 else int(mmax), lmax)
    if (lmax, mmax) != (lmax_in, mmax_in):
        a = np.atleast_2d(np.array(resize_alm(a if single else list(a), lmax_in, mmax_in, lmax, mmax)))
    opts = _write_options(overwrite, None, None, (), 1)
    if out_dtype is not None:
        kind = np.dtype(out_dtype)
        opts.dtype = dtype_of(np.zeros(0, kind).real.dtype)
    long_call(lib.kugel_fits_write_alm, None, path(filename), ctypes.byref(opts), lmax, mmax, view(a))


# ---- power spectra ---------------------------------------------------------------------------------------------


def read_cl(filename: Any) -> Any:
    """Power spectra of a FITS or text file, or of an astropy HDU or HDUList: [lmax + 1], or [n, lmax + 1]."""
    filename, _, folder = _on_disk(filename, None)
    try:
        path(filename)  # refuses what is not a name
        if not os.path.exists(os.path.expanduser(os.fspath(filename))):
            raise FileNotFoundError(2, "No such file", os.fspath(filename))
        info = _ffi.kugel_cl_info()
        lib.kugel_cl_inspect(None, path(filename), ctypes.byref(info))
        out = np.empty((info.nspectra, info.lmax + 1))
        long_call(lib.kugel_cl_read, None, path(filename), 0, info.nspectra, info.lmax, ptr(out))
    finally:
        if folder is not None:
            folder.cleanup()
    return out[0] if len(out) == 1 else out


def write_cl(filename: Path, cl: npt.ArrayLike, dtype: Any = None, overwrite: bool = False, column_names: Any = None,
             column_units: Any = None, extra_header: Any = ()) -> None:
    """Writes power spectra [lmax + 1] or [n, lmax + 1]; dtype of the columns, float64 unless given."""
    _exists(filename, overwrite)
    rows = np.atleast_2d(real(host(cl, "cl")))
    opts = _write_options(overwrite, column_names, column_units, extra_header, len(rows))
    opts.dtype = dtype_of(np.float64 if dtype is None else dtype)
    long_call(lib.kugel_cl_write, None, path(filename), ctypes.byref(opts), len(rows), rows.shape[1] - 1, ptr(rows))
