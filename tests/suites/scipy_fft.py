# SPDX-License-Identifier: BSD-3-Clause
"""The tests of scipy.fft with kugel.fft as the only backend; prints counts and writes them as JSON.

usage: PYTHONPATH=python python3 tests/suites/scipy_fft.py [--json FILE] [options of pytest]
"""
import collections
import json
import sys

import pytest
import scipy
import scipy.fft

import kugel
import kugel.fft

# By name, what is not Kugel's to pass, and why.
EXPECTED = {
    "test_basic.py::test_multiprocess[irfft]": "compares roundings of zero relatively",
}


class Counting:
    """kugel.fft as a backend, and how often it is reached."""

    __ua_domain__ = kugel.fft.__ua_domain__
    calls = collections.Counter()

    @classmethod
    def __ua_function__(cls, method, arguments, words):
        cls.calls[method.__name__] += 1
        return kugel.fft.__ua_function__(method, arguments, words)


class Plugin:
    def __init__(self):
        self.counts, self.failed = collections.Counter(), []

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            outcome = "xfailed" if hasattr(report, "wasxfail") and report.outcome == "skipped" else report.outcome
            self.counts[outcome] += 1
            if outcome == "failed":
                text = str(report.longrepr).strip().splitlines()
                self.failed.append((report.nodeid.split("scipy/fft/")[-1], next((t for t in reversed(text) if t.startswith("E  ")), text[-1])[:160]))


def main(arguments):
    out = None
    if "--json" in arguments:
        k = arguments.index("--json")
        out = arguments[k + 1]
        del arguments[k:k + 2]
    plugin = Plugin()
    scipy.fft.set_global_backend(Counting, only=True)  # in threads and processes, too
    pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", "--tb=short", "-W", "ignore", "--show-capture=no", "-rN", "--pyargs", "scipy.fft", *arguments], [plugin])
    why = {name: next((w for key, w in EXPECTED.items() if key in name), None) for name, _ in plugin.failed}
    for name, text in plugin.failed:
        print(f"{'expected' if why[name] else 'FAILED'}  {name}: {why[name] or text}")
    print(f"scipy.fft of SciPy {scipy.__version__}, kugel {kugel.__version__}: "
          + ", ".join(f"{n} {word}" for word, n in sorted(plugin.counts.items())) + f"; {sum(Counting.calls.values())} calls reached kugel.fft")
    if out:
        with open(out, "w") as f:
            json.dump({"scipy": scipy.__version__, "kugel": kugel.__version__, "counts": plugin.counts, "calls": Counting.calls,
                       "failed": plugin.failed}, f, indent=1)
    return any(w is None for w in why.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
