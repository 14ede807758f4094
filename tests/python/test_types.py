# SPDX-License-Identifier: BSD-3-Clause
"""Type hints: every public function has them, their names exist, and mypy (where installed) finds the types of calls.py."""
import importlib
import importlib.util
import inspect
import os
import pathlib
import runpy
import subprocess
import sys
import typing

import numpy
import numpy.typing
import pytest

import kugel
from kugel import _types

HERE = pathlib.Path(__file__).parent
CALLS = HERE / "typing" / "calls.py"
MODULES = ["", "alms", "ball", "banded", "bars", "comm", "data", "hardware", "fft", "fitsfunc", "flowlines", "frames", "healpix", "astropy_healpix", "insides", "kernels", "maps", "masktools", "namaster",
           "newvisufunc", "nufft", "pixelfunc", "points", "polynomial", "projaxes", "projector", "radial", "regridding", "resolution", "rings",
           "rotator", "skyfiles", "spectra", "sphere_angles", "sphtfunc", "stencil", "views", "visufunc", "volume", "windows", "xarray", "dask", "torch",
           "jax"]
SELF = ("self", "cls")
INTERNAL = {f"kugel.{m}" for m in ("_lib", "_ffi", "_find", "extras", "places", "transforms", "latlon", "projection", "nufft_arrays", "fft.arrays", "fft.backend",
            "fft.common", "fft.composed", "fft.exact", "fft.library", "fft.place", "fft.real_linear", "fft.scales", "torch.linear", "torch.operator",
            "jax.linear", "jax.primitive", "jax.xla")}


def functions(module):
    """Name and function of what the module offers of its own: functions, and methods of classes."""
    for name, thing in (vars(module) | {name: getattr(module, name) for name in getattr(module, "_HOME", ())}).items():
        if name.startswith("_") or not getattr(thing, "__module__", "").startswith("kugel"):
            continue
        if thing.__module__ in INTERNAL:
            continue
        if inspect.isclass(thing):
            for part, method in vars(thing).items():
                method = getattr(method, "__func__", getattr(method, "fget", method))
                if inspect.isfunction(method) and method.__module__.startswith("kugel") and (not part.startswith("_") or part in ("__init__", "__call__")):
                    yield f"{name}.{part}", method
        elif inspect.isfunction(thing):
            yield name, thing


@pytest.mark.parametrize("name", MODULES)
def test_every_public_function_has_hints(name):
    needs = {"newvisufunc": "matplotlib", "projaxes": "matplotlib", "views": "matplotlib", "astropy_healpix": "astropy"}.get(name, name)
    if needs in ("xarray", "dask", "torch", "jax", "matplotlib", "astropy"):
        pytest.importorskip(needs)
    module = importlib.import_module("kugel." + name if name else "kugel")
    without, unknown = [], []
    names = vars(typing) | vars(_types) | {"npt": numpy.typing, "np": numpy, "pathlib": pathlib, "Grid": kugel.Grid}
    for where, function in functions(module):
        if function.__name__ == "<lambda>" or "built" in vars(function):
            continue
        inner = inspect.unwrap(function)
        hints = inner.__annotations__
        wanted = [p for p in inspect.signature(inner).parameters if p not in SELF] + ["return"]
        without += [f"{where}({p})" for p in wanted if p not in hints]
        for hint in hints.values():
            try:
                eval(hint, inner.__globals__ | names) if isinstance(hint, str) else hint
            except NameError as e:
                unknown.append(f"{where}: {e}")
    assert not without and not unknown


def test_the_package_says_that_it_has_types():
    assert (pathlib.Path(kugel.__file__).parent / "py.typed").exists()


def test_calls_run():
    for name in ("transforms", "plans", "others"):
        runpy.run_path(str(CALLS))[name]()


def test_mypy(tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not installed")
    package = pathlib.Path(kugel.__file__).parent.parent
    run = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores", "--follow-imports=silent", "--no-error-summary",
                          "--ignore-missing-imports", f"--cache-dir={tmp_path}", str(CALLS)], capture_output=True, text=True,
                         env=os.environ | {"MYPYPATH": str(package)})
    assert run.returncode == 0, run.stdout + run.stderr


def test_all_names_exist():
    assert all(hasattr(kugel, name) for name in kugel.__all__ if name not in ("jax", "torch", "dask", "xarray", "projaxes", "astropy_healpix"))
