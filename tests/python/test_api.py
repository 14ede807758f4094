# SPDX-License-Identifier: BSD-3-Clause
"""Names, arguments and defaults are healpy's."""
import ast
import functools
import inspect
import pathlib
import subprocess
import sys

import pytest

import kugel

LINES = [line for line in (pathlib.Path(__file__).parent / "healpy_api.txt").read_text().splitlines()
         if line and line[0] not in "#-"]


def parameters(signature):
    positional = [p for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY and p.kind is not p.VAR_KEYWORD
                  or p.name == "kwds"]
    return [(p.name, p.default) for p in positional]


@pytest.mark.parametrize("line", LINES, ids=[line.split("(")[0] for line in LINES])
def test_signature(line):
    name, arguments = line.split("(", 1)
    mine = functools.reduce(getattr, name.split("."), kugel)
    scope = {}
    exec(f"def expected({arguments}: pass", {}, scope)
    assert parameters(inspect.signature(mine)) == parameters(inspect.signature(scope["expected"]))
    assert (inspect.getdoc(mine) or "").strip(), "no docstring"


def test_modules_scripts_name():
    for module in ("pixelfunc", "sphtfunc", "rotator", "fitsfunc", "visufunc"):
        assert hasattr(kugel, module)
    for name in ("Alm", "alm2cl", "almxfl", "gauss_beam", "pixwin", "smoothalm", "rotate_alm", "beam2bl", "bl2beam"):
        assert hasattr(kugel.sphtfunc, name)
    for name in ("get_nside", "nside2npix", "ud_grade", "ma", "mask_bad", "UNSEEN", "isnpixok"):
        assert hasattr(kugel.pixelfunc, name)
    for name in ("Rotator", "angdist", "dir2vec", "vec2dir"):
        assert hasattr(kugel.rotator, name)
    assert kugel.UNSEEN == -1.6375e30


def test_submodules_load_when_named():
    program = ("import sys, kugel; assert 'kugel.fft' not in sys.modules and 'kugel.banded' not in sys.modules;"
               "assert {'fft', 'banded', 'torch', 'jax', 'kernels'} <= set(dir(kugel));"
               "assert kugel.fft.fft and kugel.banded.solve and kugel.kernels and not hasattr(kugel, 'nothing')")
    subprocess.run([sys.executable, "-c", program], check=True)


def modules():
    root = pathlib.Path(kugel.__file__).parent
    for path in root.rglob("*.py"):
        parts = ("kugel",) + path.relative_to(root).with_suffix("").parts
        yield path, parts[:-1] if parts[-1] == "__init__" else parts, parts[:-1]


def test_no_import_circles():
    """No module of the package needs itself by way of others, however deep in a function the import is."""
    known = {".".join(name): (path, package) for path, name, package in modules()}
    needs = {}
    for name, (path, package) in known.items():
        needs[name] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                package = known[name][1]
                base = ".".join(package[:len(package) - node.level + 1] + tuple(node.module.split(".") if node.module else ()))
                found = [f"{base}.{a.name}" for a in node.names if f"{base}.{a.name}" in known]
                needs[name].update(found if len(found) == len(node.names) else found + [base])
    done = set()

    def visit(name, path):
        assert name not in path, " -> ".join(path + (name,))
        if name not in done:
            for other in sorted(needs[name]):
                visit(other, path + (name,))
            done.add(name)

    for name in sorted(needs):
        visit(name, ())
