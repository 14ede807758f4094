# SPDX-License-Identifier: BSD-3-Clause
"""Progress of long calls: bars on terminals and in notebooks, or reports to functions and bars of tqdm."""
from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from . import _lib


class _Bar:
    """A line that is overwritten: share, stage, time left. Appears for what takes longer than half a second."""

    def __init__(self, file: Any) -> None:
        self.file, self.width, self.last = file, 0, -1.0
        self.begin = self.shown = time.monotonic()

    def __call__(self, fraction: float, stage: str) -> None:
        now = time.monotonic()
        if fraction < self.last:  # the next call, or the next axis of a transform
            self.begin = now
        self.last = fraction
        if now - self.begin < 0.5 or now - self.shown < 0.1:
            return
        self.shown = now
        left = f", {(now - self.begin) * (1 - fraction) / fraction:.0f} s left" if fraction > 0.02 else ""
        done = round(30 * fraction)
        self.show(f"{100 * fraction:3.0f} % [{'#' * done}{'.' * (30 - done)}] {stage}{left}")

    def show(self, line: str) -> None:
        self.file.write("\r" + line.ljust(self.width))
        self.file.flush()
        self.width = len(line)

    def close(self) -> None:
        if self.width:
            self.show("")
            self.file.write("\r")
            self.file.flush()


class _Notebook(_Bar):
    """The same line as an output of a notebook's cell, which is updated in place."""

    def __init__(self) -> None:
        super().__init__(None)
        self.handle: Any = None

    def close(self) -> None:
        if self.handle is not None:
            self.show("")

    def show(self, line: str) -> None:
        from IPython.display import display
        shown = {"text/plain": line}
        if self.handle is None:
            self.handle = display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)
        self.width = len(line)


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


def _of_tqdm(bar: Any) -> Callable[[float, str], None]:
    """A bar of tqdm moves on to total times the fraction, and never back."""
    total = 1 if bar.total is None else bar.total
    bar.total = total

    def report(fraction: float, stage: str) -> None:
        bar.set_postfix_str(stage, refresh=False)
        done = total * fraction
        bar.update(max(0, (int(done) if total >= 10 else done) - bar.n))

    return report


@contextlib.contextmanager
def progress(show: Any = None) -> Iterator[None]:
    """Shows how far the long calls within a `with` block are: transforms, convolutions, files.

    show: None: a bar, on stderr if that is a terminal, in a notebook below the cell, else nowhere;
          a function of the fraction that is done, 0 to 1, and the stage's name, called every 20 ms at most: what it raises
          cancels the call and is raised from it;
          or a bar of tqdm, whose total stands for one call.
    Counts for this thread alone. Each call goes from 0 to 1; FFTs of several axes do so for each axis.

        with kugel.progress():
            alm = kugel.map2alm(m, iter=10)
        with kugel.progress(tqdm.tqdm(total=100, desc="smoothing")):
            smooth = kugel.smoothing(m, fwhm=0.02)
    """
    bar = None
    if show is None:
        bar = _Notebook() if _in_notebook() else _Bar(sys.stderr) if sys.stderr is not None and sys.stderr.isatty() else None
        report = bar
    elif hasattr(show, "update") and hasattr(show, "total"):
        report = _of_tqdm(show)
    elif callable(show):
        report = show
    else:
        raise TypeError(f"show is {show!r}; it must be None, a function of fraction and stage, or a bar of tqdm")
    before = getattr(_lib.reports, "report", None)
    _lib.reports.report = report
    try:
        yield
        if report is not None and report is not bar and report is not show:
            show.update(max(0, show.total - show.n))  # the last report comes before the end
    finally:
        _lib.reports.report = before
        if bar:
            bar.close()
