# SPDX-License-Identifier: BSD-3-Clause
"""The tests of healpy against Kugel, through a package `healpy` whose names are Kugel's; prints counts and failures.

usage: PYTHONPATH=python python3 tests/suites/healpy_suite.py FOLDER [options of pytest]
FOLDER is `test` of healpy's source, of the release whose names Kugel has (1.20); it is copied and left alone.
"""
import collections
import pathlib
import shutil
import sys
import tempfile

import pytest

import kugel

SHIM = """
import importlib, sys, types
import kugel
_names = {n: getattr(kugel, n) for n in dir(kugel) if not n.startswith("_") and n not in ("torch", "jax", "dask", "xarray", "astropy_healpix")}
globals().update(_names)
for _n in ("pixelfunc", "sphtfunc", "rotator", "fitsfunc", "visufunc", "newvisufunc", "projector", "projaxes", "zoomtool"):
    _m = importlib.import_module("kugel." + _n)
    sys.modules["healpy." + _n] = _m
    globals()[_n] = _m
for _n in ("_query_disc", "_pixelfunc", "_masktools"):
    _m = types.ModuleType("healpy." + _n)
    _m.__dict__.update(_names)
    sys.modules["healpy." + _n] = _m
    globals()[_n] = _m
__version__ = "1.20.0"
"""
# By what the name of a test holds, what is not Kugel's to pass, and why.
EXPECTED = {
    "test_cookbook": "internal functions of healpy", "test_deprecation": "healpy's own old names", "test_setup": "healpy's own files",
    "test_colormap_segmentdata": "internal functions of healpy", "TestApplyHarmonicTransfer": "an internal function of healpy",
    "TestResolveBeam": "an internal function of healpy", "datapath": "weights are computed, not read", "max_nside": "larger nside are allowed",
    "query_disc": "inclusive sets are exact", "synfast": "random numbers are NumPy's", "query_strip_nest": "results in NESTED order are sorted",
    "writemap_newdefault": "complex columns are refused, in a sentence that names two real ones", "missing_pixel_weights_file": "weights are computed, not read",
    "lic_regression": "the noise is NumPy's", "download": "nothing is downloaded", "pixwin_base": "windows are computed, for every nside",
    "getlm_overflow": "ValueError with the range, where healpy has AssertionError", "rotate_alm_complex64": "single precision is accepted",
}


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


def main(folder, *options):
    plugin = Plugin()
    with tempfile.TemporaryDirectory() as work:
        shim = pathlib.Path(work) / "healpy"
        shim.mkdir()
        (shim / "__init__.py").write_text(SHIM)
        sys.path.insert(0, work)
        tests = shutil.copytree(folder, pathlib.Path(work) / "test", ignore_dangling_symlinks=True)
        import matplotlib
        matplotlib.use("Agg")
        pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", "--tb=short", "-W", "ignore", "--show-capture=no", "-rN", "--continue-on-collection-errors", str(tests), *options], [plugin])
    for name, text in plugin.failed:
        why = next((w for key, w in EXPECTED.items() if key in name), None)
        print(f"{'expected' if why else 'FAILED'}  {name.split('/')[-1]}: {why or text}")
    print(f"healpy's tests, kugel {kugel.__version__}: " + ", ".join(f"{n} {word}" for word, n in sorted(plugin.counts.items())))


if __name__ == "__main__":
    main(*sys.argv[1:])
