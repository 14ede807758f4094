# SPDX-License-Identifier: BSD-3-Clause
"""Sample data that come with the package: share/data of the source tree.

    map = kugel.read_map(kugel.data.path("wmap7_w_band_nside32.fits"))

The portable wheels hold the map of the sky alone; the larger files are a package of their own, `kugel-data`.
"""
from __future__ import annotations

import importlib.util
import pathlib

_PACKAGE = pathlib.Path(__file__).resolve().parent
_LARGE = ("etopo20_relief.npy", "grid.tif")  # of kugel-data


def _folders():
    installed = _PACKAGE / "share"
    extra = importlib.util.find_spec("kugel_data")
    return [installed if installed.is_dir() else _PACKAGE.parents[1] / "share" / "data",
            *(pathlib.Path(folder) for folder in (extra.submodule_search_locations or () if extra else ()))]


def names() -> list[str]:
    """The files there are; README.md tells what they hold and where they are from."""
    return sorted({p.name for folder in _folders() for p in folder.iterdir() if p.suffix not in (".py", ".pyc") and p.is_file()})


def path(name: str) -> pathlib.Path:
    """The path of a file of sample data, as a pathlib.Path."""
    for folder in _folders():
        if name in names() and (folder / name).is_file():
            return folder / name
    remedy = "it comes with pip install 'kugel[data]'" if name in _LARGE else f"there are {', '.join(names())}"
    raise FileNotFoundError(f"kugel has no sample data called {name!r} here; {remedy}")
