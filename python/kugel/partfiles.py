# SPDX-License-Identifier: BSD-3-Clause
"""HEALPix maps whose parts several ranks have, in one FITS file."""
from __future__ import annotations

import contextlib
import ctypes
import os
from typing import Any

import numpy as np

from . import _ffi
from ._lib import lib, long_call, path, ptr, view


@contextlib.contextmanager
def agreed(comm: Any) -> Any:
    """What each rank does by itself: if one fails, all raise, the others with its sentence."""
    failure = None
    try:
        yield
    except Exception as e:
        failure = e
    who = np.array([comm.size if failure is None else comm.rank], np.int64)
    lib.kugel_comm_reduce(comm._handle.address, ptr(who), 1, _ffi.KUGEL_COMM_MIN)
    if who[0] < comm.size:
        said = ctypes.create_string_buffer(f"rank {comm.rank}: {failure}".encode()[:900], 1000)
        lib.kugel_comm_bcast(comm._handle.address, said, len(said), int(who[0]))
        raise failure if failure is not None else OSError(said.value.decode(errors="replace"))


def read(layout: Any, name: Any, columns: Any, dtype: Any) -> Any:
    from .fitsfunc import _File

    with agreed(layout.comm):
        file, runs = _File(name), layout.runs()
        single = isinstance(columns, int)
        if file.info.partial or file.info.nvalues != layout.total or file.info.order == _ffi.KUGEL_ORDER_NESTED:
            raise ValueError(f"{name} has {file.info.nvalues} pixels" + (", NESTED" if file.info.order == _ffi.KUGEL_ORDER_NESTED else "") +
                             f"; ranks read whole RING maps, here of {layout.total}: kugel reorder makes RING of NESTED")
        out = np.empty((1 if single else len(columns), layout.count()), dtype)
        for row, column in zip(out, [columns] if single else columns):
            at = 0
            for run in runs:
                n = run.stop - run.start
                lib.kugel_fits_read_values(file.address, int(column), run.start, view(row[at:at + n]))
                at += n
    return out[0] if single else out


def write(layout: Any, name: Any, part: Any, dtype: Any, coord: Any, column_names: Any, column_units: Any, extra_header: Any,
          overwrite: bool, checksum: bool) -> None:
    from .fitsfunc import _write_options

    comm = layout.comm
    with agreed(comm):
        part = np.ascontiguousarray(part)
        kind = np.dtype(part.dtype if dtype is None else dtype)
        if part.dtype not in (np.float32, np.float64) or kind not in (np.float32, np.float64):
            raise TypeError(f"the part is of {part.dtype} and the columns of {kind}; both must be float32 or float64")
        nside = int(round((layout.total / 12)**0.5))
        if part.ndim not in (1, 2) or part.shape[-1] != layout.count() or 12 * nside * nside != layout.total:
            raise ValueError(f"the part has shape {part.shape}; expected [columns, {layout.count()}], of maps of 12 nside^2 pixels")
        rows = part if part.ndim == 2 else part[None]
        more = {} if coord is None else {"coordsys": str(coord).encode()}
        opts = _write_options(overwrite, column_names, column_units, extra_header, len(rows), nowrap=0, checksum=int(bool(checksum)),
                              order=_ffi.KUGEL_ORDER_RING, comm=comm._handle.address, **more)
        opts.dtype.code, opts.dtype.bits, opts.dtype.lanes = _ffi.KUGEL_FLOAT, 8 * kind.itemsize, 1
        name = path(os.path.expanduser(os.fspath(name)))
        runs, writer = layout.runs(), ctypes.c_void_p()
    long_call(lib.kugel_fits_writer_create, None, name, ctypes.byref(opts), nside, len(rows), ctypes.byref(writer))
    keep = 0
    try:
        for c, row in enumerate(rows):
            at = 0
            for run in runs:
                n = run.stop - run.start
                lib.kugel_fits_writer_put(writer.value, c, run.start, view(row[at:at + n]))
                at += n
        keep = 1
    finally:
        long_call(lib.kugel_fits_writer_close, writer.value, keep)
