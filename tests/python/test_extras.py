# SPDX-License-Identifier: BSD-3-Clause
"""Packages that Kugel does without: where one is missing, the sentence names the extra that brings it."""
import re
import subprocess
import sys

import pytest

from conftest import ROOT
from kugel.extras import EXTRAS, need

CALLS = [("torch", "import kugel.torch"), ("torch", "kugel.torch.SHT(8)"), ("jax", "import kugel.jax"), ("jax", "kugel.jax.SHT(8)"),
         ("dask", "import kugel.dask as d; d.map2alm([[0.0] * 12])"), ("xarray", "import kugel.xarray"), ("astropy", "import kugel.astropy_healpix"),
         ("matplotlib", "import kugel.projaxes"), ("matplotlib", "kugel.azeqview()"), ("matplotlib", "kugel.graticule()"),
         ("matplotlib", "kugel.projview()"), ("healsparse", "kugel.skyfiles.read_healsparse('x')"),
         ("healsparse", "kugel.skyfiles.write_healsparse('x', [0.0] * 12)")]
PROGRAM = """
import sys
import kugel
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in %r:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Nothing())
for package, call in %r:
    try:
        exec(call)
        print(package, "nothing raised by", call)
    except ImportError as error:
        print(package, error)
"""


def test_missing_packages_name_their_extra():
    done = subprocess.run([sys.executable, "-c", PROGRAM % (list(EXTRAS), CALLS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(CALLS)
    for (package, call), line in zip(CALLS, lines):
        assert line.endswith(f"needs the package {package}, which is not installed: pip install 'kugel[{EXTRAS[package]}]'"), (call, line)


def test_packages_that_do_not_import(tmp_path, monkeypatch):
    (tmp_path / "healsparse.py").write_text("raise ImportError('HealSparse requires astropy')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "healsparse", raising=False)
    with pytest.raises(ImportError, match=r"does not import \(HealSparse requires astropy\): pip install 'kugel\[healsparse\]'"):
        need("healsparse", "read_healsparse")


def test_extras_are_those_of_the_project():
    text = (ROOT / "pyproject.toml").read_text()
    names = re.findall(r"^(\w+) = \[", text[text.index("[project.optional-dependencies]"):text.index("[project.scripts]")], re.M)
    assert set(EXTRAS.values()) <= set(names)
    page = (ROOT / "docs/guide/install.md").read_text()
    assert all(f"kugel[{name}]" in page for name in names), names
