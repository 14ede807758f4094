#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes python/kugel/_ffi.py, the ctypes prototypes of the public headers.

usage: tools/gen_ffi.py [--check]

--check writes nothing and fails if the file is not current.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "python" / "kugel" / "_ffi.py"
sys.path.insert(0, str(ROOT / "tools"))
import cheader  # noqa: E402

SCALARS = {
    "int": "c_int", "unsigned": "c_uint", "size_t": "c_size_t", "double": "c_double", "float": "c_float",
    "char": "c_char", "int8_t": "c_int8", "int16_t": "c_int16", "int32_t": "c_int32", "int64_t": "c_int64",
    "uint8_t": "c_uint8", "uint16_t": "c_uint16", "uint32_t": "c_uint32", "uint64_t": "c_uint64",
}

HEAD = '''# SPDX-License-Identifier: BSD-3-Clause
\"\"\"ctypes prototypes of Kugel's public headers. Written by tools/gen_ffi.py; do not edit.

Types and functions are text here and become ctypes types when first used, because making all of them takes longer than most
programs do.
\"\"\"
import ctypes
import threading
from typing import Any

'''

TAIL = '''
_lock = threading.RLock()  # one type per name, whatever the number of threads that ask first


class _Types(dict[str, Any]):
    \"\"\"The names that the texts use: those of ctypes, and the types above.\"\"\"

    def __missing__(self, name):
        return __getattr__(name)


_types = _Types(vars(ctypes))


def _type(text):
    return eval(text, {}, _types)


def __getattr__(name: str) -> Any:
    \"\"\"A struct or the type of a callback, made when first named.\"\"\"
    if name not in STRUCTS and name not in CALLBACKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with _lock:
        if name not in globals():
            if name in STRUCTS:
                members = [(member, _type(kind)) for member, kind in STRUCTS[name]]
                globals()[name] = type(name, (ctypes.Structure,), {"_fields_": members, "__module__": __name__})
            else:
                globals()[name] = _type(CALLBACKS[name])
        return globals()[name]


def declare(function, name, status_check):
    \"\"\"Gives a function of the loaded library its prototype; `status_check` is called with each status that it returns.\"\"\"
    result, arguments, doc = FUNCTIONS[name]
    with _lock:
        function.argtypes = [_type(kind) for kind in arguments]
        function.restype = ctypes.c_int if result == "STATUS" else _type(result)
    function.__doc__ = doc
    if result == "STATUS":
        function.errcheck = status_check
    return function
'''


class Writer:
    def __init__(self, headers):
        self.headers = headers
        self.enums = {name for h in headers for name, _ in h.enums if name}
        self.structs = {s.name for h in headers for s in h.structs}
        self.opaque = {name for h in headers for name in h.opaque} - self.structs
        self.callbacks = {name for h in headers for name in h.callbacks}
        self.aliases = {name: kind for h in headers for name, kind in h.aliases.items()}
        self.numbers = {n: v for h in headers for _, values in h.enums for n, v in values}
        for h in headers:
            self.numbers.update({n: int(v) for n, v in h.constants if re.fullmatch(r"-?\d+", v)})

    def value(self, kind, where):
        """The ctypes name of a type passed by value."""
        kind = kind.replace("const ", "").strip()
        if kind in SCALARS:
            return SCALARS[kind]
        if kind in self.enums:
            return "c_int"
        if kind in self.structs or kind in self.callbacks:
            return kind
        raise cheader.HeaderError(f"{where}: unknown type {kind!r}")

    def pointer(self, kind, where):
        base = kind.replace("const", "").replace("*", "").strip()
        if kind == "const char *":
            return "c_char_p"
        if base in self.structs and kind.count("*") == 1:
            return f"POINTER({base})"
        if base != "void" and base not in self.opaque | self.structs | self.enums | set(self.aliases) | set(SCALARS):
            raise cheader.HeaderError(f"{where}: unknown type {kind!r}")
        return "c_void_p"

    def type(self, param, where):
        if param.count:  # an array parameter is a pointer
            return "c_void_p"
        return self.pointer(param.type, where) if "*" in param.type else self.value(param.type, where)

    def function_type(self, result, params, where):
        kinds = ["c_int" if result == "kugel_status" else self.result(result, where)]
        return f"CFUNCTYPE({', '.join(kinds + [self.type(p, where) for p in params])})"

    def result(self, kind, where):
        if kind == "void":
            return "None"
        if kind == "kugel_status":
            return "STATUS"
        return self.pointer(kind, where) if "*" in kind else self.value(kind, where)

    def member(self, member, where):
        if member.type == "callback":
            return self.function_type(*member.callback, where)
        if member.count:
            kind = self.value(member.type, where)
            for count in reversed(member.count.split("][")):
                kind = f"({kind} * {count if count.isdigit() else self.numbers[count]})"
            return kind
        return self.type(member, where)

    def text(self):
        out, callbacks, structs = [HEAD], ["CALLBACKS = {\n"], ["STRUCTS = {\n"]
        for h in self.headers:
            if any(values for _, values in h.enums) or h.constants:
                out.append(f"# {h.path.name}\n")
            out += [f"{name} = {value}\n" for _, values in h.enums for name, value in values]
            out += [f"{name} = {value}\n" for name, value in h.constants]
            callbacks += [f'    "{name}": "{self.function_type(result, params, name)}",\n'
                          for name, (result, params) in h.callbacks.items()]
            for s in h.structs:
                structs.append(f'    "{s.name}": (\n')
                structs += [f'        ("{m.name}", "{self.member(m, s.name)}"),\n' for m in s.members]
                structs.append("    ),\n")
        out += ["\n", *callbacks, "}\n\n", *structs, "}\n\n"]
        out.append("# name: (result, arguments, first sentence of the manual); STATUS is the kugel_status of functions that may fail.\n")
        out.append("FUNCTIONS = {\n")
        for h in self.headers:
            for f in h.functions:
                where = f"{h.path.name}:{f.line}"
                arguments = "".join(f'"{self.type(p, where)}", ' for p in f.params).strip()
                sentence = first_sentence(f.doc)
                out.append(f'    "{f.name}": (  # {", ".join(p.name for p in f.params) or "nothing"}\n')
                out.append(f'        "{self.result(f.result, where)}", ({arguments}),\n        {sentence!r}),\n')
        out.append("}\n" + TAIL)
        return "".join(out)


def first_sentence(doc):
    text = []
    for line in doc:
        if line.startswith("@"):
            break
        text.append(line.strip())
    return re.split(r"(?<=\.)\s+(?=[A-Z])", " ".join(text))[0]


def main(arguments):
    text = Writer(cheader.public_headers(ROOT)).text()
    current = OUT.read_text(encoding="utf-8") if OUT.exists() else ""
    if "--check" in arguments:
        if text != current:
            print("gen_ffi: python/kugel/_ffi.py is not current; run tools/gen_ffi.py")
            return 1
        print("gen_ffi: python/kugel/_ffi.py is current")
        return 0
    if text != current:
        OUT.parent.mkdir(parents=True, exist_ok=True)
        OUT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except cheader.HeaderError as e:
        sys.exit(f"gen_ffi: {e}")
