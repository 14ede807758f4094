# SPDX-License-Identifier: BSD-3-Clause
"""Sample data that come with the package: share/data of the source tree.

    map = kugel.read_map(kugel.data.path("wmap7_w_band_nside32.fits"))
"""
from __future__ import annotations

import pathlib

_PACKAGE = pathlib.Path(__file__).resolve().parent


def _folder():
    installed = _PACKAGE / "share"
    return installed if installed.is_dir() else _PACKAGE.parents[1] / "share" / "data"


def names() -> list[str]:
    """The files there are; README.md tells what they hold and where they are from."""
    return sorted(p.name for p in _folder().iterdir())


def path(name: str) -> pathlib.Path:
    """The path of a file of sample data, as a pathlib.Path."""
    found = _folder() / name
    if name not in names():
        raise FileNotFoundError(f"kugel has no sample data called {name!r}; there are {', '.join(names())}")
    return found
