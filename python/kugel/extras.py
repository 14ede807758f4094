# SPDX-License-Identifier: BSD-3-Clause
"""Packages that Kugel does without, and plans that processes keep."""
import functools
import importlib
import pickle
import threading

EXTRAS = {"torch": "torch", "jax": "jax", "matplotlib": "plot", "dask": "dask", "xarray": "xarray", "healsparse": "healsparse", "astropy": "astropy"}


def need(module, what):
    """The module, or an ImportError whose sentence names the extra that brings it."""
    package = module.split(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        why = "is not installed" if error.name in (module, package) else f"does not import ({error})"
        raise ImportError(f"{what} needs the package {package}, which {why}: pip install 'kugel[{EXTRAS[package]}]'", name=module) from error


_lock = threading.Lock()


@functools.lru_cache(maxsize=16)
def _made(kind, recipe):
    from . import plans, regridding
    args, words = pickle.loads(recipe)
    return {"sht": plans.SHT, "regrid": regridding.Regrid}[kind](*args, **words)


def plan(kind, *args, **words):
    """An SHT ("sht") or Regrid ("regrid") of this process, made when first asked for: workers of Dask receive the recipe,
    not the plan, and use one plan for all their blocks."""
    recipe = pickle.dumps((args, words))
    with _lock:  # two threads of a worker do not make the same plan twice
        return _made(kind, recipe)
