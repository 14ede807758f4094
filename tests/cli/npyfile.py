# SPDX-License-Identifier: BSD-3-Clause
"""NPY files by the standard library: arrays as flat lists."""
import ast
import struct

_TYPES = {"<f2": "e", "<f4": "f", "<f8": "d", "<c8": "f", "<c16": "d", "<i4": "i", "<i8": "q"}


def write(path, shape, values, dtype="<f8"):
    """Writes version 1.0, C order."""
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({''.join(f'{n},' for n in shape)}), }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    flat = [part for v in values for part in (v.real, v.imag)] if "c" in dtype else values
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        f.write(struct.pack(f"<{len(flat)}{_TYPES[dtype]}", *flat))


def read(path):
    """(shape, values, dtype)"""
    with open(path, "rb") as f:
        data = f.read()
    length = struct.unpack("<H", data[8:10])[0]
    head = ast.literal_eval(data[10:10 + length].decode())
    dtype, body = head["descr"], data[10 + length:]
    flat = struct.unpack(f"<{len(body) // struct.calcsize(_TYPES[dtype])}{_TYPES[dtype]}", body)
    values = [complex(*flat[i:i + 2]) for i in range(0, len(flat), 2)] if "c" in dtype else list(flat)
    return head["shape"], values, dtype
