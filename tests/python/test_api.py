# SPDX-License-Identifier: BSD-3-Clause
"""Names, arguments and defaults are healpy's."""
import functools
import inspect
import pathlib

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
