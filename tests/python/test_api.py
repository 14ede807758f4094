# SPDX-License-Identifier: BSD-3-Clause
"""Names, arguments and defaults are healpy's."""
import ast
import functools
import inspect
import os
import pathlib
import subprocess
import sys
import tempfile

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


def test_import_loads_nothing():
    """`import kugel` brings neither NumPy nor the library nor any module of its own but the one that looks for the library."""
    program = ("import sys; before = set(sys.modules); import kugel; more = set(sys.modules) - before;"
               "assert more <= {'kugel', 'kugel._find', '__future__'}, more;"
               "assert kugel.nside2npix(4) == 192 and 'kugel._lib' not in sys.modules;"
               "from kugel import _ffi, _lib; assert not _lib._loaded and not any(name in vars(_ffi) for name in _ffi.STRUCTS)")
    subprocess.run([sys.executable, "-c", program], check=True)


def test_import_is_short():
    """CPU time of what Kugel adds to NumPy, beside NumPy's own in the same process: a twentieth for the import, as much as NumPy's
    at most for the first transform. Bytecode is there, as after an installation."""
    program = ("import time; t = [time.process_time()]; import numpy; t.append(time.process_time()); import kugel;"
               "t.append(time.process_time()); kugel.alm2map(numpy.zeros(6, complex), 1); t.append(time.process_time());"
               "print(*(b - a for a, b in zip(t, t[1:])))")
    with tempfile.TemporaryDirectory() as cache:
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {"PYTHONPYCACHEPREFIX": cache}
        runs = [[float(x) for x in subprocess.run([sys.executable, "-c", program], env=env, check=True, text=True,
                                                  capture_output=True).stdout.split()] for _ in range(6)][1:]
    numpy, ours, first = (min(times) for times in zip(*runs))
    assert ours < numpy / 20 and first < numpy, (numpy, ours, first)


def test_names_are_listed_once_and_alike():
    """The imports that type checkers read, the names loaded on demand and __all__ agree."""
    tree = ast.parse(pathlib.Path(kugel.__file__).read_text())
    checked = next(node for node in tree.body if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING")
    imports = [node for node in checked.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: node.module for node in imports if node.level and node.module for alias in node.names}
    assert seen == kugel._HOME
    shown = {alias.name for node in imports if node.level and not node.module for alias in node.names}
    assert shown <= set(kugel._MODULES) and not set(kugel._MODULES) & set(kugel._HOME)
    assert set(kugel.__all__) == set(seen) | shown | {"disable_warnings", "enable_warnings"}
    assert sorted(kugel.__all__, key=str.lower) == kugel.__all__ and set(kugel.__all__) <= set(dir(kugel))
    folder = pathlib.Path(kugel.__file__).parent
    files = {p.stem for p in folder.glob("[a-z]*.py")} | {p.parent.name for p in folder.glob("*/__init__.py")}
    assert set(kugel._MODULES) <= files and not files & set(kugel._HOME), "a module and a function of one name"


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
