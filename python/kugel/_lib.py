# SPDX-License-Identifier: BSD-3-Clause
"""The loaded library: errors as exceptions, NumPy arrays as views, calls that Ctrl-C can stop."""
from __future__ import annotations

import ctypes
import os
import re
import signal
import threading
from typing import Any

import numpy as np

from . import _ffi, _find


class KugelError(RuntimeError):
    """A failure that no built-in exception names; `status` has the library's number."""

    status = _ffi.KUGEL_EINTERNAL


class ConvergenceError(KugelError):
    """An iteration did not reach its tolerance."""


class CanceledError(KugelError):
    """The call was cancelled by a progress callback."""


_EXCEPTIONS = {
    _ffi.KUGEL_EINVAL: ValueError,
    _ffi.KUGEL_ESHAPE: ValueError,
    _ffi.KUGEL_ENOMEM: MemoryError,
    _ffi.KUGEL_ENOTSUP: NotImplementedError,
    _ffi.KUGEL_EIO: OSError,
    _ffi.KUGEL_EFORMAT: OSError,
    _ffi.KUGEL_ECANCELED: CanceledError,
    _ffi.KUGEL_ECONVERGE: ConvergenceError,
}


def _check(status, function, arguments):
    if status == _ffi.KUGEL_OK:
        return status
    sentence = re.sub(r" \[[^][ ]+\.[ch]:[0-9]+\]$", "", lib.kugel_last_error().decode("utf-8", "replace"))
    error = _EXCEPTIONS.get(status, KugelError)(sentence or lib.kugel_status_text(status).decode())
    error.status = status
    raise error


def _load():
    reasons = []
    for path in _find.candidates():
        try:
            return ctypes.CDLL(path), path
        except OSError as e:
            reasons.append(str(e))
    raise ImportError("libkugel.so was not found or does not load: " + "; ".join(reasons) +
                      ". Build it with ./check, or set KUGEL_LIBRARY to its path.")


_loading = threading.Lock()
_loaded = None


def _library():
    """The library and its path; opened when first needed."""
    global _loaded
    if _loaded is None:
        with _loading:
            if _loaded is None:
                _loaded = _load()
    return _loaded


class _Library:
    """The functions of the library, each with its prototype from the moment it is first named."""

    def __getattr__(self, name: str) -> Any:
        if name not in _ffi.FUNCTIONS:
            raise AttributeError(f"the headers have no function {name!r}")
        function = _ffi.declare(getattr(_library()[0], name), name, _check)  # AttributeError where an older library lacks it
        setattr(self, name, function)
        return function


lib = _Library()


def __getattr__(name: str) -> Any:
    """library_path, the path of the library in use, and version, its version."""
    if name == "library_path":
        value = _library()[1]
    elif name == "version":
        value = lib.kugel_version().decode()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def bare(name):
    """A function of the library that returns its status for the caller to hand to check(): for calls so short that
    ctypes' errcheck counts."""
    try:
        function = _library()[0][name]
    except AttributeError:  # an older library: raised when it is used
        return lambda *arguments: getattr(lib, name)
    function.argtypes, function.restype = getattr(lib, name).argtypes, ctypes.c_int
    return function


def check(status):
    """Raises the exception of a status that is not KUGEL_OK."""
    _check(status, None, None)


# ---- arrays ----------------------------------------------------------------------------------------------------

_DTYPES = {
    np.dtype(np.float64): (_ffi.KUGEL_FLOAT, 64), np.dtype(np.float32): (_ffi.KUGEL_FLOAT, 32),
    np.dtype(np.float16): (_ffi.KUGEL_FLOAT, 16),
    np.dtype(np.complex128): (_ffi.KUGEL_COMPLEX, 128), np.dtype(np.complex64): (_ffi.KUGEL_COMPLEX, 64),
    np.dtype(np.int64): (_ffi.KUGEL_INT, 64), np.dtype(np.int32): (_ffi.KUGEL_INT, 32),
    np.dtype(np.int16): (_ffi.KUGEL_INT, 16), np.dtype(np.int8): (_ffi.KUGEL_INT, 8),
    np.dtype(np.uint8): (_ffi.KUGEL_UINT, 8), np.dtype(np.uint16): (_ffi.KUGEL_UINT, 16),
    np.dtype(np.uint32): (_ffi.KUGEL_UINT, 32), np.dtype(np.uint64): (_ffi.KUGEL_UINT, 64),
    np.dtype(np.bool_): (_ffi.KUGEL_BOOL, 8),
}


def dtype_of(dtype):
    """The library's word for a NumPy dtype."""
    try:
        return _ffi.kugel_dtype(*_DTYPES[np.dtype(dtype)], 1)
    except KeyError:
        raise TypeError(f"dtype {np.dtype(dtype)} is not supported") from None


def numpy_dtype(dtype):
    """The NumPy dtype of a kugel_dtype."""
    for known, pair in _DTYPES.items():
        if pair == (dtype.code, dtype.bits):
            return known
    raise TypeError(f"no NumPy dtype for kind {dtype.code} with {dtype.bits} bits")


def view(a):
    """A kugel_array on the memory of `a`; no copy is made, and the view keeps `a` alive."""
    out = _ffi.kugel_array()
    out.data = a.ctypes.data
    out.device.type = _ffi.KUGEL_CPU
    out.ndim = a.ndim
    out.dtype = dtype_of(a.dtype)
    extents = (ctypes.c_int64 * max(a.ndim, 1))(*a.shape)
    out.shape = ctypes.addressof(extents)
    out.owner = (a, extents)
    if not a.flags.c_contiguous:
        size = a.itemsize
        if any(s % size for s in a.strides):
            raise ValueError("array strides are no multiples of the element size; make it contiguous")
        strides = (ctypes.c_int64 * a.ndim)(*(s // size for s in a.strides))
        out.strides = ctypes.addressof(strides)
        out.owner += (strides,)
    return ctypes.byref(out)


def real(a, keep=(np.float64,)):
    """`a` as a C-contiguous array of one of the dtypes in `keep` (native byte order), else of the first of them.
    Not a copy if it is one already."""
    a = np.asarray(a)
    return np.ascontiguousarray(a, dtype=a.dtype.newbyteorder("=") if a.dtype.newbyteorder("=") in keep else keep[0])


def ptr(a):
    """Address of the first element; the caller holds `a`."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(a))  # several times faster than a.ctypes
    except (TypeError, ValueError, BufferError):  # read-only, empty or not contiguous
        return a.ctypes.data


def writable(a, name):
    """`a`, an array that results are written to; ValueError if it is read-only."""
    if not a.flags.writeable:
        raise ValueError(f"{name} is read-only (of a file mapped with mmap_mode='r', or on immutable bytes) and would be "
                         f"written: give an array that may change, such as numpy.array({name})")
    return a


def path(name):
    """A file name as the library takes it."""
    name = os.fsencode(os.fspath(os.path.expanduser(name) if isinstance(name, str) else name))
    if b"\0" in name:
        raise ValueError("embedded null byte in a file name")
    return name


def text(value):
    """A NUL-terminated field as str."""
    return value.decode("utf-8", "replace") if value else ""


def options(kind, /, **values):
    """An options struct with its size filled in. Arrays among the values are passed by address and kept alive."""
    out = kind()
    out.size = ctypes.sizeof(kind)
    out.owner = values
    for name, value in values.items():
        setattr(out, name, ptr(value) if isinstance(value, np.ndarray) else value)
    return out


def strings(values):
    """A C array of strings, or None."""
    if not values:
        return None
    encoded = [str(v).encode("utf-8") for v in values]
    return (ctypes.c_char_p * (len(encoded) + 1))(*encoded, None)


class Handle:
    """An object of the library, destroyed with its last reference."""

    __slots__ = ("address", "_destroy", "__weakref__")

    def __init__(self, address, destroy):
        self.address = address
        self._destroy = destroy

    def __del__(self):
        if getattr(self, "address", None):  # none where __init__ did not run
            self._destroy(self.address)
            self.address = None

    def __reduce_ex__(self, protocol):
        raise TypeError("plans, pictures and device arrays hold memory of the library and cannot be copied or pickled: "
                        "make another one from what this one was made of")


# ---- long calls ------------------------------------------------------------------------------------------------


reports = threading.local()  # .report: function of fraction and stage that this thread's long calls call (kugel.progress)


class _Watch:
    """What a call of the library does between two of its steps. Ctrl-C: the handler that was set runs, as it would in Python code.
    Progress is reported. What either raises cancels the call and is raised from it."""

    def __init__(self):
        self.raised = self.report = None
        self.progress = _ffi.kugel_progress_fn(self._poll)

    def _poll(self, fraction, stage, user):
        if self.report and not self.raised:
            try:
                self.report(fraction, text(stage))
            except BaseException as e:
                self.raised = e
        return 1 if self.raised else 0

    def call(self, function, arguments, interrupt):
        before = signal.getsignal(signal.SIGINT) if interrupt else None
        self.report = getattr(reports, "report", None)
        if not callable(before) and not self.report:
            return function(*arguments)

        def handler(number, frame):
            try:
                before(number, frame)
            except BaseException as e:
                self.raised = e

        self.raised = None
        if callable(before):
            signal.signal(signal.SIGINT, handler)
        lib.kugel_set_progress(self.progress, None)
        try:
            return function(*arguments)
        finally:
            lib.kugel_set_progress(_ffi.kugel_progress_fn(), None)
            if callable(before):
                signal.signal(signal.SIGINT, before)
            if self.raised:
                raised, self.raised = self.raised, None
                raise raised from None


_watch = _Watch()  # of the main thread
_busy = threading.Lock()


def long_call(function, *arguments):
    """Calls a function of the library that may take long; Ctrl-C in the main thread stops it, kugel.progress shows how far it is."""
    if threading.current_thread() is threading.main_thread() and _busy.acquire(blocking=False):
        try:
            return _watch.call(function, arguments, True)
        finally:
            _busy.release()
    if not getattr(reports, "report", None):
        return function(*arguments)
    watch = _Watch()
    try:
        return watch.call(function, arguments, False)
    finally:
        watch.progress = None  # a circle otherwise


# ---- threads ---------------------------------------------------------------------------------------------------


def set_num_threads(n: int) -> None:
    """Sets the number of threads for all later calls; 0 returns to KUGEL_NUM_THREADS or the CPUs of this process."""
    lib.kugel_set_num_threads(int(n))


def get_num_threads() -> int:
    """The number of threads in force."""
    return lib.kugel_get_num_threads()


def mmax_option(mmax, lmax):
    """mmax as the library takes it, in options and arguments alike; None: lmax."""
    if mmax is None or mmax == lmax:
        return _ffi.KUGEL_ALL
    if not 0 <= mmax <= lmax:
        raise ValueError(f"mmax is {mmax}; it must be between 0 and lmax = {lmax}")
    return int(mmax) or _ffi.KUGEL_ONLY_M0
