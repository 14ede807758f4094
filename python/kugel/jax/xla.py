# SPDX-License-Identifier: BSD-3-Clause
"""Python functions as custom calls of XLA: the part of XLA's C interface (xla/ffi/api/c_api.h) that this takes, by ctypes.

A handler gets the addresses of its buffers and, on a GPU, the stream. It runs in whichever thread XLA chooses.
"""
import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p

import numpy as np

from .. import _ffi
from .._lib import dtype_of
from ..arrays import Foreign, make_view

_DTYPES = {4: np.int32, 5: np.int64, 11: np.float32, 12: np.float64, 15: np.complex64, 18: np.complex128}
_SCALAR, _STRING = 3, 4
_EXECUTE = 3
_INTERNAL = 13


def _struct(name, *fields, headed=True):
    head = [("struct_size", c_size_t), ("extension", c_void_p)] if headed else []
    return type(name, (Structure,), {"_fields_": head + list(fields)})


_Span = _struct("Span", ("ptr", c_void_p), ("len", c_size_t), headed=False)
_Scalar = _struct("Scalar", ("dtype", c_int), ("value", c_void_p), headed=False)
_Buffer = _struct("Buffer", ("dtype", c_int), ("data", c_void_p), ("rank", c_int64), ("dims", POINTER(c_int64)))
_List = _struct("List", ("size", c_int64), ("types", POINTER(c_int)), ("items", POINTER(c_void_p)))
_Attributes = _struct("Attributes", ("size", c_int64), ("types", POINTER(c_int)), ("names", POINTER(POINTER(_Span))),
                      ("items", POINTER(c_void_p)))
_Version = _struct("Version", ("major", c_int), ("minor", c_int))
_ErrorArguments = _struct("ErrorArguments", ("message", c_char_p), ("code", c_int))
_StreamArguments = _struct("StreamArguments", ("context", c_void_p), ("stream", c_void_p))
_OrdinalArguments = _struct("OrdinalArguments", ("context", c_void_p), ("ordinal", c_int32))
_Api = _struct("Api", ("version", _Version), ("internal", c_void_p), ("error_create", c_void_p),
               ("error_message", c_void_p), ("error_destroy", c_void_p), ("register", c_void_p), ("stream_get", c_void_p),
               *((f"unused{i}", c_void_p) for i in range(12)), ("ordinal_get", c_void_p))
_Frame = _struct("Frame", ("api", POINTER(_Api)), ("context", c_void_p), ("stage", c_int), ("arguments", _List),
                 ("results", _List), ("attributes", _Attributes))
_Extension = _struct("Extension", ("struct_size", c_size_t), ("type", c_int), ("next", c_void_p), ("metadata", c_void_p),
                     headed=False)
_Metadata = _struct("Metadata", ("struct_size", c_size_t), ("version", _Version), ("traits", c_uint32),
                    ("state_type", c_int64), headed=False)
_Function = ctypes.CFUNCTYPE(c_void_p, c_void_p)


class Buffer:
    """An argument or a result."""

    def __init__(self, address):
        raw = _Buffer.from_address(address)
        self.address, self.shape, self.dtype = raw.data, tuple(raw.dims[:raw.rank]), np.dtype(_DTYPES[raw.dtype])

    def array(self):
        """A NumPy array on the memory, which is the host's."""
        count = int(np.prod(self.shape))
        if not count:
            return np.empty(self.shape, self.dtype)
        memory = (ctypes.c_char * (count * self.dtype.itemsize)).from_address(self.address)
        return np.frombuffer(memory, self.dtype).reshape(self.shape)


    def there(self, index, stream):
        """The array in the memory of a CUDA device, as the plans of kugel accept it."""
        view = make_view(self.address, _ffi.KUGEL_CUDA, index, dtype_of(self.dtype), self.shape, None, self)
        return Foreign(self, view, self.shape, self.dtype, stream)


class Call:
    """One execution: arguments, results, attributes."""

    def __init__(self, frame):
        self._frame, self._api = frame, frame.api.contents
        self.arguments = [Buffer(frame.arguments.items[i]) for i in range(frame.arguments.size)]
        self.results = [Buffer(frame.results.items[i]) for i in range(frame.results.size)]
        self.attributes = {}
        for i in range(frame.attributes.size):
            name = frame.attributes.names[i].contents
            kind, item = frame.attributes.types[i], frame.attributes.items[i]
            if kind == _STRING:
                span = _Span.from_address(item)
                value = ctypes.string_at(span.ptr, span.len).decode()
            else:
                scalar = _Scalar.from_address(item)
                value = np.ctypeslib.as_array(ctypes.cast(scalar.value, POINTER(c_int64 if scalar.dtype == 5 else c_int32)),
                                              (1,))[0].item()
            self.attributes[ctypes.string_at(name.ptr, name.len).decode()] = value

    def _ask(self, function, kind, field):
        arguments = kind(ctypes.sizeof(kind), None, self._frame.context)
        if _Function(function)(ctypes.addressof(arguments)):
            raise RuntimeError(f"XLA does not tell the {field}")
        return getattr(arguments, field)

    def stream(self):
        """The CUDA stream to work on."""
        return self._ask(self._api.stream_get, _StreamArguments, "stream")

    def device(self):
        """The number of the CUDA device."""
        known = self._api.struct_size >= ctypes.sizeof(_Api)
        return self._ask(self._api.ordinal_get, _OrdinalArguments, "ordinal") if known else 0


def _describe(frame):
    """Answers XLA's question for metadata, which comes as an extension; False if there is none."""
    if not frame.extension:
        return False
    metadata = _Metadata.from_address(_Extension.from_address(frame.extension).metadata)
    ours = frame.api.contents.version if frame.api else None
    metadata.version.struct_size = ctypes.sizeof(_Version)
    metadata.version.major, metadata.version.minor = (ours.major, ours.minor) if ours else (0, 1)
    metadata.traits = 0
    if metadata.struct_size >= ctypes.sizeof(_Metadata):
        metadata.state_type = 0
    return True


def handler(run):
    """A C function for jax.ffi that calls run(Call). Keep it for as long as XLA may call it."""

    def entry(address):
        frame = _Frame.from_address(address)
        try:
            if not _describe(frame) and frame.stage == _EXECUTE:
                run(Call(frame))
            return None
        except BaseException as e:  # nothing may escape into XLA
            arguments = _ErrorArguments(ctypes.sizeof(_ErrorArguments), None, f"kugel: {e}".encode(), _INTERNAL)
            return _Function(frame.api.contents.error_create)(ctypes.addressof(arguments))

    return _Function(entry)
