#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lint: who includes whom, and no name of a type for two things.

usage: tools/layers.py [root]

A room is a folder of src/ (core), or one level deeper where a layer is a house of its own (fft/cpu, sphere/sht). Each room may
include itself and the rooms of the rows above its own. A public header counts as the first room that may include it: the
one of its name, or that of PUBLIC. The clients (cli, bench, examples) see public headers only.
"""
import pathlib
import re
import sys

ROWS = [
    {"core"},
    {"device", "comm"},
    {"codegen", "fft/solvers.def"},  # a table that both kinds of plans read
    {"wire", "fft/roots", "arrays"},
    {"fft/cpu"},
    {"fft/gpu", "banded"},
    {"fft/plan"},
    {"fft/rings", "fft/conv", "healpix", "psf"},
    {"nufft", "stencil", "polynomial"},
    {"alt"},
    {"sphere/grid"},
    {"sphere/legendre"},
    {"sphere/alm"},
    {"sphere/sht"},
    {"volume/cpu"},
    {"volume/gpu"},
    {"sphere/radial", "sphere/spectra", "sphere/points", "volume/plan"},
    {"sphere/sources", "ball", "deconv"},
    {"io"},
    {"lead"},
]
NESTED = ("fft", "sphere", "volume")  # layers whose rooms are one level deeper
FILES_ONLY = {"io", "plot", "stack"}  # see core/ and the public headers
CLIENTS = ("cli", "bench", "examples")
PUBLIC = {"version": "core", "fft": "fft/cpu", "rings": "fft/rings", "conv": "fft/conv", "grid": "sphere/grid", "sphere": "sphere/sht",
          "alm": "sphere/alm", "regrid": "sphere/sht", "volume": "volume/cpu", "spectra": "sphere/spectra", "radial": "sphere/radial", "sources": "sphere/sources", "points": "sphere/points",
          "image": "stack", "hdf5": "stack", "zernike": "polynomial", "shell": "polynomial",
          "worland": "polynomial", "kugel": None}  # None: all of them
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)


TYPE = re.compile(r"^\} (kugel__\w+);", re.M)  # the end of a struct's, union's or enum's typedef


def room_of(path):
    """The room of a path below src/: "fft/cpu" of "fft/cpu/lanes.c", "core" of "core/ctx.h"."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in NESTED else parts[0]


def row_of(layer):
    return next((i for i, row in enumerate(ROWS) if layer in row), None)


def may_include(layer, target):
    if target == layer:
        return True
    own, other = row_of(layer), row_of(target)
    return own is not None and other is not None and other < own


def public_layer(name):
    stem = name.removeprefix("kugel/").removesuffix(".h")
    return PUBLIC.get(stem, stem)


def complaint(layer, bracket, name):
    """Why a file of `layer` may not include `name`, or None."""
    if name.startswith("kugel/"):
        target = public_layer(name)
        if layer in FILES_ONLY or layer == "public umbrella":
            return None
        if target is None:
            return f"layer {layer} includes the umbrella <{name}>; name the header it needs"
        if not may_include(layer, target):
            return f"layer {layer} may not include <{name}>"
        return None
    if bracket == "<":
        return None
    if "/" not in name:
        return f'"{name}" is not rooted at src/; write "{layer}/{name}"'
    target = room_of(name)
    if target.startswith("."):
        return f'"{name}" is not rooted at src/'
    if layer in FILES_ONLY:
        return None if target in (layer, "core") else f'layer {layer} may include core/ only, not "{name}"'
    return None if may_include(layer, target) else f'layer {layer} may not include "{name}"'


def client_complaint(folder, here, bracket, name):
    if folder == "cli":
        if bracket == "<" or (here / name).exists():
            return None
        return f'"{name}" is not a file of cli/, where its includes are rooted'
    if bracket == "<" or (here / name).exists() or (here.parent / name).exists():
        return None
    return f'{folder}/ sees public headers and its own files only, not "{name}"'


def includes(path):
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start(2)) + 1, match.group(1), match.group(2)


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in (".c", ".h", ".cl", ".def", ".inc") and p.is_file())


def main(root):
    bad = []
    count = 0
    known = set().union(*ROWS) | FILES_ONLY
    for path in sources(root / "src"):
        layer = room_of(path.relative_to(root / "src").as_posix())
        count += 1
        if layer not in known:
            bad.append(f"{path.relative_to(root)}:1: unknown room {layer}; add it to tools/layers.py")
            continue
        for line, bracket, name in includes(path):
            why = complaint(layer, bracket, name)
            if why:
                bad.append(f"{path.relative_to(root)}:{line}: {why}")
    for path in sources(root / "include" / "kugel"):
        layer = public_layer("kugel/" + path.name) or "public umbrella"
        count += 1
        for line, bracket, name in includes(path):
            why = f'public headers include <kugel/...> only, not "{name}"' if bracket == '"' else None
            why = why or (complaint(layer, bracket, name) if name.startswith("kugel/") and layer not in FILES_ONLY else None)
            if why:
                bad.append(f"{path.relative_to(root)}:{line}: {why}")
    for folder in CLIENTS:
        for path in sources(root / folder):
            count += 1
            if path.is_relative_to(root / "bench" / "programs"):  # these measure the insides, as tests do
                continue
            for line, bracket, name in includes(path):
                why = client_complaint(folder, root / folder if folder == "cli" else path.parent, bracket, name)
                if why:
                    bad.append(f"{path.relative_to(root)}:{line}: {why}")
    types = {}
    for path in sources(root / "src"):
        for name in TYPE.findall(path.read_text(encoding="utf-8")) if path.suffix == ".h" else ():
            if name in types:
                bad.append(f"{path.relative_to(root)}:1: type {name} is also in {types[name].relative_to(root)}; rename one")
            types[name] = path
    print("\n".join(bad) if bad else f"layers: {count} files, every include in order")
    return 1 if bad else 0


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here))
