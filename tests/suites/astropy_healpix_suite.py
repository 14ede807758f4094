# SPDX-License-Identifier: BSD-3-Clause
"""The tests of astropy-healpix against Kugel; prints counts and failures.

usage: PYTHONPATH=python python3 tests/suites/astropy_healpix_suite.py [options of pytest]

A copy of the installed package runs with its compiled core replaced: neighbours, conversions of order, interpolation, cones, and directions
of centres are Kugel's; directions at other places inside a pixel stay its own, for Kugel has none. The module healpy of that package is
Kugel itself.
"""
import collections
import importlib.util
import pathlib
import shutil
import sys
import tempfile

import pytest

import kugel

CORE = '''
import importlib.util
import sys
import numpy as np
import kugel
_path = {original!r}
_spec = importlib.util.spec_from_file_location("own._core", _path)
_own = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_own)
globals().update({{n: getattr(_own, n) for n in dir(_own) if not n.startswith("__")}})
CALLS = [0]


def _scheme(name, nest):
    def centres(pixel, nside, dx, dy):
        if np.all(np.asarray(dx) == 0.5) and np.all(np.asarray(dy) == 0.5):
            CALLS[0] += 1
            theta, phi = kugel.pix2ang(nside, pixel, nest=nest)
            return np.asarray(phi), np.pi / 2 - theta
        return getattr(_own, "healpix_" + name + "_to_lonlat")(pixel, nside, dx, dy)

    def pixels(lon, lat, nside):
        CALLS[0] += 1
        return np.asarray(kugel.ang2pix(nside, np.pi / 2 - np.asarray(lat), lon, nest=nest)), *getattr(_own, "lonlat_to_healpix_" + name)(lon, lat, nside)[1:]

    def neighbours(pixel, nside):
        CALLS[0] += 1
        return tuple(kugel.get_all_neighbours(nside, pixel, nest=nest))

    globals().update({{f"healpix_{{name}}_to_lonlat": centres, f"lonlat_to_healpix_{{name}}": pixels, f"neighbours_{{name}}": neighbours}})


_scheme("ring", False)
_scheme("nested", True)


def nested_to_ring(pixel, nside):
    CALLS[0] += 1
    return kugel.nest2ring(nside, pixel)


def ring_to_nested(pixel, nside):
    CALLS[0] += 1
    return kugel.ring2nest(nside, pixel)


def bilinear_interpolation_weights(lon, lat, nside):
    CALLS[0] += 1
    pixels, weights = kugel.get_interp_weights(nside, np.pi / 2 - np.asarray(lat), lon)
    return (*pixels, *weights)


def healpix_cone_search(lon, lat, radius, nside, order):
    CALLS[0] += 1
    vec = kugel.ang2vec(lon, lat, lonlat=True)
    return kugel.query_disc(int(nside), vec, np.radians(radius), inclusive=True, nest=order == "nested")
'''
# By what the name of a test holds, what is not Kugel's to pass, and why.
EXPECTED = {
    "_invalid": "a sentence (ValueError) where astropy-healpix returns NaN or -1 with a warning",
    "test_bilinear_interpolation_weights": "the same four pixels and weights in healpy's order", "ang2pix_shape": "theta = 4 is refused, as healpy does",
}


class Plugin:
    def __init__(self):
        self.counts, self.failed = collections.Counter(), []

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] += 1
            if report.outcome == "failed":
                text = str(report.longrepr).strip().splitlines()
                self.failed.append((report.nodeid, next((t for t in reversed(text) if t.startswith("E  ")), text[-1])[:160]))


def main(*options):
    source = pathlib.Path(importlib.util.find_spec("astropy_healpix").origin).parent
    plugin = Plugin()
    with tempfile.TemporaryDirectory() as work:
        package = pathlib.Path(shutil.copytree(source, pathlib.Path(work) / "astropy_healpix", ignore=shutil.ignore_patterns("__pycache__")))
        core = next(package.glob("_core*.so"))
        kept = core.rename(pathlib.Path(work) / core.name)
        (package / "_core.py").write_text(CORE.format(original=str(kept)))
        (package / "healpy.py").write_text("import sys\nimport kugel\nsys.modules[__name__] = kugel\n")
        init = package / "__init__.py"
        sys.path.insert(0, work)
        files = [str(package / "tests" / f"test_{name}.py") for name in ("core", "healpy", "high_level", "utils")]
        pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", "--tb=short", "-W", "ignore", "--show-capture=no", "-rN",
                     f"--rootdir={work}", "-p", "no:randomly", *files, *options], [plugin])
        import astropy_healpix
        assert init.samefile(astropy_healpix.__file__)
        from astropy_healpix import _core
        calls = _core.CALLS[0]
    for name, text in plugin.failed:
        why = next((w for key, w in EXPECTED.items() if key in name), None)
        print(f"{'expected' if why else 'FAILED'}  {name.split('/')[-1]}: {why or text}")
    print(f"astropy-healpix's tests, kugel {kugel.__version__}, {calls} calls of its core: " +
          ", ".join(f"{n} {word}" for word, n in sorted(plugin.counts.items())))


if __name__ == "__main__":
    main(*sys.argv[1:])
