# SPDX-License-Identifier: BSD-3-Clause
"""Reads Kugel's public headers: functions with their docstrings, structs, enums, constants, callback types.

The headers are regular C by design (one declaration a statement, no macros in declarations but KUGEL_API), so a small
reader does; whatever it does not understand is an error, never a silent gap.
"""
import dataclasses
import pathlib
import re


class HeaderError(Exception):
    pass


@dataclasses.dataclass
class Param:
    type: str  # normalised, such as "const double *"
    name: str
    count: str = ""  # of an array parameter or member, such as "4"


@dataclasses.dataclass
class Function:
    name: str
    result: str
    params: list
    doc: list  # lines without ///
    path: pathlib.Path
    line: int


@dataclasses.dataclass
class Struct:
    name: str
    members: list
    path: pathlib.Path


@dataclasses.dataclass
class Header:
    path: pathlib.Path
    functions: list = dataclasses.field(default_factory=list)
    structs: list = dataclasses.field(default_factory=list)
    opaque: list = dataclasses.field(default_factory=list)
    callbacks: dict = dataclasses.field(default_factory=dict)  # name -> (result, [Param])
    enums: list = dataclasses.field(default_factory=list)  # (type name or "", [(name, value)])
    constants: list = dataclasses.field(default_factory=list)  # (name, number text)
    aliases: dict = dataclasses.field(default_factory=dict)  # name -> type


def _blank(match):
    return "\n" * match.group(0).count("\n")


def _strip(text):
    """Removes block comments, // comments other than ///, and what is for C++ only; keeps line numbers."""
    text = re.sub(r"^#ifdef __cplusplus\n.*?^#endif", _blank, text, flags=re.S | re.M)
    text = re.sub(r"/\*.*?\*/", _blank, text, flags=re.S)
    return re.sub(r"(?<!/)//(?!/)[^\n]*", "", text)


def _status_list(text):
    return [(n, int(v)) for n, v in re.findall(r"X\((KUGEL_\w+),\s*(-?\d+),", text)]


def _defines(text):
    """Numeric object-like macros."""
    found = []
    for name, value in re.findall(r"^#\s*define\s+(KUGEL_\w+)[ \t]+(\S[^\n]*)$", text, flags=re.M):
        value = value.strip()
        while value.startswith("(") and value.endswith(")"):
            value = value[1:-1].strip()
        try:
            number = float(value) if re.search(r"[.eE]", value) and not value.startswith("0x") else int(value, 0)
        except ValueError:
            continue
        found.append((name, repr(number)))
    return found


def _drop_preprocessor(text):
    """Blanks out directives, and what they continue to."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", _blank, text, flags=re.M)


def _param(text, where):
    text = " ".join(text.split())
    match = re.fullmatch(r"(.*?)\b([A-Za-z_]\w*)\s*((?:\[[^\]]*\])*)", text)
    if not match or not match.group(1).strip():
        raise HeaderError(f"{where}: parameter or member without a name: {text!r}")
    kind, name, array = match.group(1), match.group(2), match.group(3)
    return Param(_type(kind), name, array[1:-1].strip() if array else "")


def _type(text):
    text = re.sub(r"\b(restrict|struct|enum)\b", "", text)
    text = re.sub(r"\s*\*\s*", " * ", text)
    return re.sub(r"\* (?=\*)", "*", " ".join(text.split()))


def _split(text):
    """Splits at commas outside brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def _params(text, where):
    text = text.strip()
    return [] if text in ("", "void") else [_param(p, where) for p in _split(text)]


def _members(body, where):
    members = []
    for statement in filter(None, (s.strip() for s in re.sub(r"///[^\n]*", "", body).split(";"))):
        match = re.fullmatch(r"(.+?)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)", statement, flags=re.S)
        if match:  # a function pointer
            members.append(Param("callback", match.group(2)))
            members[-1].callback = (_type(match.group(1)), _callback_params(match.group(3), where))
            continue
        first, *others = _split(statement)
        members.append(_param(first, where))
        base = members[-1].type.rstrip("* ")
        for other in others:
            match = re.fullmatch(r"\s*(\**)\s*([A-Za-z_]\w*)\s*((?:\[[^\]]*\])?)\s*", other)
            if not match:
                raise HeaderError(f"{where}: cannot read member {other!r}")
            members.append(Param(_type(f"{base} {match.group(1)}"), match.group(2), match.group(3)[1:-1].strip()))
    return members


def _callback_params(text, where):
    params = []
    for part in _split(text):
        match = re.fullmatch(r"\s*(\w+)\s*\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)\s*", part, flags=re.S)
        if match:  # a function handed to a callback: an address is all that matters
            params.append(Param("void *", match.group(2)))
        elif part.strip() != "void":
            params.append(_param(part, where))
    return params


def _enum_values(body, known):
    values, following = [], 0
    body = re.sub(r"///[^\n]*", "", body)
    for item in filter(None, (s.strip() for s in body.split(","))):
        name, _, expression = (part.strip() for part in item.partition("="))
        if expression:
            names = {**known, **dict(values)}
            following = int(eval(expression, {"__builtins__": {}}, names))  # literals, shifts, earlier names
        values.append((name, following))
        following += 1
    return values


_STATEMENT = re.compile(
    r"(?P<doc>(?:^[ \t]*///[^\n]*\n)*)^(?P<decl>(?!\s*///)[^;{\n][^;{]*)(?P<end>;|\{)", flags=re.M)


def parse(path):
    path = pathlib.Path(path)
    raw = path.read_text(encoding="utf-8")
    header = Header(path)
    if path.name == "core.h":
        header.enums.append(("kugel_status", _status_list(raw)))
    text = _strip(raw)
    header.constants = _defines(text)
    text = _drop_preprocessor(text)
    at = 0
    while True:
        match = _STATEMENT.search(text, at)
        if not match:
            rest = re.sub(r"///[^\n]*", "", text[at:]).replace("}", "").strip()
            if rest:
                raise HeaderError(f"{path.name}: cannot read {rest[:80]!r}")
            return header
        line = text.count("\n", 0, match.start("decl")) + 1
        line += len(match.group("decl")) - len(match.group("decl").lstrip("\n"))
        where = f"{path.name}:{line}"
        decl = " ".join(re.sub(r"KUGEL_API|__extension__", "", match.group("decl")).split())
        at = match.end()
        if match.group("end") == "{":
            close = _closing(text, at, where)
            body, at = text[at:close], text.index(";", close) + 1
            _compound(header, decl, body, text[close + 1:at - 1].strip(), where)
        else:
            doc = [re.sub(r"^\s*/// ?", "", d) for d in match.group("doc").splitlines()]
            _simple(header, decl, doc, line, where)


def _closing(text, at, where):
    depth = 1
    for i in range(at, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if not depth:
            return i
    raise HeaderError(f"{where}: no closing brace")


def _compound(header, decl, body, name, where):
    if name == "kugel_status":
        return  # made of KUGEL_STATUS_LIST, read above
    if re.match(r"(typedef )?enum\b", decl):
        known = {n: v for _, values in header.enums for n, v in values}
        header.enums.append((name, _enum_values(body, known)))
    elif re.match(r"typedef struct\b", decl):
        header.structs.append(Struct(name, _members(body, where), header.path))
    else:
        raise HeaderError(f"{where}: cannot read {decl!r}")


def _simple(header, decl, doc, line, where):
    if match := re.fullmatch(r"typedef struct (\w+) (\w+)", decl):
        header.opaque.append(match.group(2))
    elif match := re.fullmatch(r"typedef (.+?)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)", decl):
        header.callbacks[match.group(2)] = (_type(match.group(1)), _callback_params(match.group(3), where))
    elif match := re.fullmatch(r"typedef ([\w ]+?) (\w+)", decl):
        header.aliases[match.group(2)] = match.group(1)
    elif match := re.fullmatch(r"(.+?)\b(kugel_\w+)\s*\((.*)\)", decl):
        header.functions.append(Function(match.group(2), _type(match.group(1)), _params(match.group(3), where), doc,
                                         header.path, line))
    else:
        raise HeaderError(f"{where}: cannot read {decl!r}")


def public_headers(root):
    folder = pathlib.Path(root) / "include" / "kugel"
    first = [p for p in ("core.h", "device.h", "fft.h", "rings.h", "healpix.h", "grid.h", "sphere.h", "alm.h") if (folder / p).exists()]
    names = first + sorted(p.name for p in folder.glob("*.h") if p.name not in (*first, "kugel.h"))
    return [parse(folder / name) for name in names]
