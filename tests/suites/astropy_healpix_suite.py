# SPDX-License-Identifier: BSD-3-Clause
"""The tests of astropy-healpix and of healpix against kugel.astropy_healpix and kugel.healpix; prints counts and failures.

usage: PYTHONPATH=python python3 tests/suites/astropy_healpix_suite.py [options of pytest]

The tests that the installed packages bring are copied and run with modules of Kugel in the packages' places: kugel.astropy_healpix as
astropy_healpix, kugel itself as astropy_healpix.healpy, kugel.healpix as healpix and chealpix.
"""
import collections
import importlib.util
import pathlib
import shutil
import sys
import tempfile
import types

import pytest

import kugel
from kugel import astropy_healpix, healpix
from kugel.astropy_healpix import core, high_level

# By what the name of a test holds, what is not Kugel's to pass, and why.
EXPECTED = {
    "ang2pix_shape": "theta = 4 is refused, as healpy does",
    "test_gh73": "a direction at the corner of four pixels is in the one that healpy names",
}
SHIMS = {"astropy_healpix": {"": astropy_healpix, "core": core, "high_level": astropy_healpix, "utils": high_level, "healpy": kugel},
         "healpix": {"": healpix}}


class Plugin:
    def __init__(self):
        self.counts, self.failed = collections.Counter(), []

    def pytest_collectreport(self, report):
        if report.failed:
            self.failed.append((report.nodeid, str(report.longrepr).strip().splitlines()[-1][:160]))
            self.counts["not collected"] += 1

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] += 1
            if report.outcome == "failed":
                text = str(report.longrepr).strip().splitlines()
                self.failed.append((report.nodeid, next((t for t in reversed(text) if t.startswith("E  ")), text[-1])[:160]))


def names(package):
    """Public names of the package that its shim lacks."""
    own = __import__(package)
    return sorted(n for n, thing in vars(own).items() if n[0] != "_" and not isinstance(thing, types.ModuleType) and not hasattr(SHIMS[package][""], n))


def run(package, folder, options):
    source = pathlib.Path(importlib.util.find_spec(package).origin).parent
    lacking = names(package)
    plugin = Plugin()
    with tempfile.TemporaryDirectory() as work:
        root = pathlib.Path(work)
        (root / package).mkdir()
        shutil.copytree(source / folder, root / package / folder, ignore=shutil.ignore_patterns("__pycache__", "test_bench.py"))
        for name, module in SHIMS[package].items():
            text = f"import sys\nimport {module.__name__} as _m\n"
            text += "globals().update({n: getattr(_m, n) for n in _m.__all__})\n" if not name else "sys.modules[__name__] = _m\n"
            (root / package / f"{name or '__init__'}.py").write_text(text)
        for loaded in [m for m in sys.modules if m.split(".")[0] == package]:
            del sys.modules[loaded]
        sys.modules["chealpix"] = healpix
        sys.path.insert(0, work)
        pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", "--tb=short", "--show-capture=no", "-rN", f"--rootdir={work}",
                     str(root / package / folder), *options], [plugin])
        assert pathlib.Path(sys.modules[package].__file__).is_relative_to(root)
        sys.path.remove(work)
    for name, text in plugin.failed:
        why = next((w for key, w in EXPECTED.items() if key in name), None)
        print(f"{'expected' if why else 'FAILED'}  {name.split('/')[-1]}: {why or text}")
    print(f"{package}'s tests, kugel {kugel.__version__}: " + ", ".join(f"{n} {word}" for word, n in sorted(plugin.counts.items())) +
          f"; public names that are not here: {', '.join(lacking) or 'none'}")


if __name__ == "__main__":
    run("astropy_healpix", "tests", sys.argv[1:])
    run("healpix", "test", sys.argv[1:])
