# SPDX-License-Identifier: BSD-3-Clause
"""kugel.progress: reports of long calls, bars of a terminal, a notebook and tqdm, cancelling."""
import io
import sys
import threading
import types

import numpy as np
import pytest

import kugel as hp
from kugel import _lib, bars

MAP = np.random.default_rng(1).normal(size=12 * 256**2)


def work():
    """Calls of the library until one reports: it does so every 20 ms, and a fast machine ends a call before that."""
    reports, seen = _lib.reports.report, []

    def report(fraction, stage):
        seen.append(fraction)
        reports(fraction, stage)

    if reports:
        _lib.reports.report = report
    try:
        while True:
            alm = hp.map2alm(MAP, lmax=512, iter=4)
            if len(seen) > 2 or not reports:
                return alm
    finally:
        _lib.reports.report = reports


def told():
    """As work, but with reports that do not depend on the machine."""
    for percent in range(101):
        if _lib.reports.report:
            _lib.reports.report(percent / 100, "synthesis")


def test_a_function_sees_the_fraction_grow():
    seen = []
    for iterations in 3, 30, 300, 3000:  # one call, of the first length that lasts for reports of each kind
        plan = hp.SHT(256, lmax=512, iterations=iterations)
        seen.clear()
        with hp.progress(lambda fraction, stage: seen.append((fraction, stage))):
            alm = plan.analysis(MAP)
        if len(seen) > 2 and "analysis" in {stage for _, stage in seen}:
            break
    fractions = [f for f, _ in seen]
    assert len(seen) > 2 and fractions == sorted(fractions) and 0 <= fractions[0] and fractions[-1] <= 1
    assert all(isinstance(stage, str) for _, stage in seen) and "analysis" in {stage for _, stage in seen}
    count = len(seen)
    assert np.array_equal(plan.analysis(MAP), alm) and len(seen) == count, "reports end with the block"


def test_what_it_raises_cancels():
    class Enough(Exception):
        pass

    def report(fraction, stage):
        raise Enough("no more")

    with pytest.raises(Enough), hp.progress(report):
        work()
    assert np.isfinite(work()).all()


def test_blocks_nest_and_threads_have_their_own():
    outer, inner, other = [], [], []

    def thread():
        with hp.progress(lambda *a: other.append(a)):
            work()

    with hp.progress(lambda *a: outer.append(a)):
        with hp.progress(lambda *a: inner.append(a)):
            work()
        assert inner and not outer
        t = threading.Thread(target=thread)
        t.start()
        t.join()
        assert other and not outer
        work()
        assert outer


def test_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    clock = [0.0]
    monkeypatch.setattr(bars.time, "monotonic", lambda: clock.__setitem__(0, clock[0] + 0.3) or clock[0])
    monkeypatch.setattr(sys, "stderr", Terminal())
    with hp.progress():
        told()
    lines = sys.stderr.getvalue().split("\r")
    assert any(" s left" in line and "%" in line and "#" in line for line in lines)
    assert lines[-1] == "" and lines[-2].strip() == "", "the line is wiped"
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with hp.progress():
        told()
    assert not sys.stderr.getvalue(), "nothing where no terminal is"


def test_a_notebook(monkeypatch):
    shown = []

    class ZMQInteractiveShell:
        pass

    def display(data, raw, display_id):
        shown.append(data["text/plain"])
        return types.SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))

    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=ZMQInteractiveShell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    clock = [0.0]
    monkeypatch.setattr(bars.time, "monotonic", lambda: clock.__setitem__(0, clock[0] + 0.3) or clock[0])
    with hp.progress():
        told()
    assert len(shown) > 2 and "%" in shown[0] and shown[-1] == ""


def test_tqdm():
    tqdm = pytest.importorskip("tqdm")
    bar = tqdm.tqdm(total=100, file=io.StringIO())
    with hp.progress(bar):
        work()
    assert bar.n == 100


def test_nonsense():
    with pytest.raises(TypeError, match="a bar of tqdm"), hp.progress(3):
        pass
