# SPDX-License-Identifier: BSD-3-Clause
"""Transforms over several processes: communicators, and the parts of arrays that each rank has.

    comm = kugel.Comm.world()                       # mpirun -n 8 python script.py; alone: one rank
    sht = kugel.SHT(4096, 8192, comm=comm)          # every rank makes it
    part = sht.synthesis(sht.alm_layout.scatter(alm))      # alm on rank 0, None on the others
    sky = sht.map_layout.gather(part)               # on rank 0, None on the others
    sht.map_layout.write_fits("sky.fits", part)     # each rank its pixels

All calls are collective. A failure on one rank is raised on all of them, with the same sentence.
"""
from __future__ import annotations

import contextlib
import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ffi
from ._lib import Handle, lib, long_call, options, ptr, view
from .hardware import context

if TYPE_CHECKING:
    from ._types import Path

__all__ = ["Comm", "Layout"]


class Comm:
    """A communicator; made by world, adopt, from_torch, alone or threads. One thread at a time may use it."""

    def __init__(self, address: Any) -> None:
        self._handle = Handle(address, lib.kugel_comm_destroy)
        info = options(_ffi.kugel_comm_info)
        lib.kugel_comm_get_info(address, info)
        self.rank, self.size = info.rank, info.ranks
        self.node_rank, self.node_size, self.nodes = info.node_rank, info.node_ranks, info.nodes
        self.threads_per_rank = info.threads

    @classmethod
    def _made(cls, function, *arguments):
        out = ctypes.c_void_p()
        function(*arguments, ctypes.byref(out))
        return cls(out.value)

    @classmethod
    def world(cls, library: Any = None) -> Any:
        """The processes that mpirun or srun started; without a launcher this one alone. MPI is found when this is called,
        never before: in the process (mpi4py), by KUGEL_MPI, by the launcher. `library`: path of another libmpi.so."""
        path = None if library is None else str(library).encode()
        opts = options(_ffi.kugel_comm_opts, **({} if path is None else {"library": path, "kind": _ffi.KUGEL_COMM_MPI}))
        return cls._made(lib.kugel_comm_open, None, ctypes.byref(opts))

    @classmethod
    def alone(cls) -> Comm:
        """This process alone."""
        return cls._made(lib.kugel_comm_open, None, ctypes.byref(options(_ffi.kugel_comm_opts, kind=_ffi.KUGEL_COMM_SELF)))

    @classmethod
    def adopt(cls, comm: Any) -> Comm:
        """A communicator of mpi4py, duplicated."""
        try:
            from mpi4py import MPI
        except ImportError:
            raise TypeError("adopt takes a communicator of mpi4py, which is not installed") from None
        if not isinstance(comm, MPI.Comm):
            raise TypeError(f"adopt takes a communicator of mpi4py, not {type(comm).__name__}")
        return cls._made(lib.kugel_comm_adopt, None, MPI._addressof(comm), MPI._sizeof(MPI.Comm))

    @classmethod
    def from_torch(cls, group: Any = None) -> Any:
        """The processes of a group of torch.distributed whose backend moves host memory, such as gloo; None: the default group.
        Such communicators cannot be split."""
        from .groups import open_group
        out = ctypes.c_void_p()
        open_group(lib, group, ctypes.byref(out))
        return cls(out.value)

    @classmethod
    def threads(cls, n: int) -> Any:
        """n ranks of this process, each for a thread of its own: for tests."""
        out = (ctypes.c_void_p * max(1, n))()
        lib.kugel_comm_threads(None, n, out)
        return [cls(address) for address in out]

    def split(self, color: int, key: int = 0) -> Comm:
        """The ranks of one color, ordered by key, then by rank."""
        return Comm._made(lib.kugel_comm_split, self._handle.address, int(color), int(key))

    def node(self) -> Comm:
        """The ranks of this host."""
        return Comm._made(lib.kugel_comm_node, self._handle.address)

    def measure(self, bytes: int, repeats: int = 10, device: str | None = None) -> float:
        """Seconds of an exchange in which every rank sends as many bytes to each other: the median of the slowest ranks'.

        device: such as "cuda:local": between the devices of the ranks, as plans with that device exchange; None: host memory."""
        seconds = ctypes.c_double()
        there = context(device)
        if there is not None:
            long_call(lib.kugel_comm_measure_devices, self._handle.address, there.address, int(bytes), int(repeats), None, 0,
                      ctypes.byref(seconds))
            return seconds.value
        long_call(lib.kugel_comm_measure, self._handle.address, int(bytes), int(repeats), ctypes.byref(seconds))
        return seconds.value

    def barrier(self) -> None:
        """Returns when every rank has called it."""
        lib.kugel_comm_barrier(self._handle.address)

    def __repr__(self):
        text = ctypes.create_string_buffer(256)
        lib.kugel_comm_describe(self._handle.address, text, 256)
        return f"<kugel.Comm: rank {self.rank} of {text.value.decode()}>"

    def __reduce__(self):
        raise TypeError("a communicator belongs to its process: it cannot be pickled")


class Layout:
    """Which elements of an array each rank has."""

    def __init__(self, comm: Any, address: Any) -> None:
        self.comm, self._handle = comm, Handle(address, lib.kugel_layout_destroy)

    def count(self, rank: int | None = None) -> Any:
        """Elements of a rank's part; None: of this rank's."""
        return lib.kugel_layout_count(self._handle.address, self.comm.rank if rank is None else int(rank))

    @property
    def total(self) -> Any:
        """Elements of the whole array."""
        return lib.kugel_layout_count(self._handle.address, _ffi.KUGEL_EVERY_RANK)

    def runs(self, rank: int | None = None) -> Any:
        """Slices of the whole array that make a rank's part, one after another; None: this rank's."""
        rank = self.comm.rank if rank is None else int(rank)
        n = ctypes.c_int64()
        lib.kugel_layout_runs(self._handle.address, rank, 0, None, None, ctypes.byref(n))
        first, length = np.empty(n.value, np.int64), np.empty(n.value, np.int64)
        lib.kugel_layout_runs(self._handle.address, rank, n.value, ptr(first), ptr(length), None)
        return [slice(int(a), int(a + b)) for a, b in zip(first, length)]

    def gather(self, part: Any, root: int = 0) -> Any:
        """The whole array [..., total] on rank `root`, None on the others; root None: on every rank."""
        part = np.ascontiguousarray(part)
        here = root is None or root == self.comm.rank
        out = np.zeros(part.shape[:-1] + (self.total if here else 0,), part.dtype)
        self._move(part, out, root, True)
        return out if here else None

    def scatter(self, whole: Any, root: int = 0) -> Any:
        """This rank's part [..., count] of the array that rank `root` has; the others may pass None."""
        words, here = np.zeros(12, np.int64), root == self.comm.rank
        if here and whole is not None:
            whole = np.ascontiguousarray(whole)
            words[:2] = whole.ndim, ord(whole.dtype.char)
            words[2:2 + min(whole.ndim, 10)] = whole.shape[:10]
        lib.kugel_comm_bcast(self.comm._handle.address, ptr(words), words.nbytes, root)
        ndim = int(words[0])
        shape, dtype = tuple(int(n) for n in words[2:2 + ndim]), np.dtype(chr(words[1] or ord("d")))
        if not 1 <= ndim <= 10 or shape[-1] != self.total:
            raise ValueError(f"rank {root} scatters an array of shape {shape}; it must end in {self.total}")
        out = np.zeros(shape[:-1] + (self.count(),), dtype)
        self._move(whole if here else np.zeros(shape[:-1] + (0,), dtype), out, root, False)
        return out

    def read_fits(self, filename: Path, columns: Any = 0, dtype: Any = np.float64) -> Any:
        """This rank's part [count] of a column of a RING map, or [columns, count] of several: each rank reads its own pixels."""
        from . import partfiles
        return partfiles.read(self, filename, columns, dtype)

    def write_fits(self, filename: Path, part: Any, *, dtype: Any = None, coord: str | None = None, column_names: Any = None,
                   column_units: Any = None, extra_header: Any = (), overwrite: bool = False, checksum: bool = True) -> None:
        """Writes maps of 12 nside^2 pixels, one column per row of the part [columns, count]: each rank its own pixels, into one file that all
        hosts see. The bytes do not depend on the number of ranks; if one rank fails, all raise, and there is no file."""
        from . import partfiles
        partfiles.write(self, filename, part, dtype, coord, column_names, column_units, extra_header, overwrite, checksum)

    def _move(self, source, target, root, gather):
        where = ctypes.c_void_p()
        lib.kugel_layout_whole(self.comm._handle.address, self.total, -1 if root is None else root, ctypes.byref(where))
        whole = Handle(where.value, lib.kugel_layout_destroy)
        both = (self._handle, whole) if gather else (whole, self._handle)
        long_call(lib.kugel_layout_move, both[0].address, view(source), both[1].address, view(target))


@contextlib.contextmanager
def shared(comm: Any, call: Any) -> Any:
    """What a rank does before a call that ranks share. If it fails, the call is made without arrays: the library tells the
    other ranks, which wait for this one."""
    try:
        yield
    except Exception:
        if comm:
            with contextlib.suppress(Exception):
                call()
        raise


def plan_layout(comm: Any, plan: Any, side: Any) -> Any:
    """The layout of one side of a plan over ranks."""
    out = ctypes.c_void_p()
    lib.kugel_sht_layout(plan, side, ctypes.byref(out))
    return Layout(comm, out.value)
