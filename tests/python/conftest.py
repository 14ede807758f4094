# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join(  # for the programs that tests start
    [str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
SPHERE = ROOT.parent / "shared" / "data" / "sphere"


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: builds or installs something")


def pytest_sessionstart(session):
    """KUGEL_TEST_NEED=cuda,opencl: a kind of device that is named and not usable fails the run; else its tests would be
    skipped without a word."""
    need = [kind for kind in os.environ.get("KUGEL_TEST_NEED", "").split(",") if kind]
    if need:
        import kugel
        usable = {d["name"].split(":")[0] for d in kugel.devices() if d["available"] and d["kernels"]}
        missing = [kind for kind in need if kind not in usable]
        if missing:
            pytest.exit(f"KUGEL_TEST_NEED names {', '.join(missing)}, but no device of that kind is usable here", 1)


class Golden:
    """Arrays and tables made by other software; a test that asks for one that is not there is skipped."""

    def path(self, name):
        for folder in (ROOT / "tests/data/golden/sphere", SPHERE):
            if (folder / name).exists():
                return folder / name
        pytest.skip(f"{name} is not here: the larger data folder does not lie beside the checkout")

    def npy(self, name):
        return np.load(self.path("golden/" + name + ".npy"))

    def json(self, name):
        return json.loads(self.path("golden/" + name + ".json").read_text())

    def csv(self, name):
        return np.genfromtxt(self.path("golden/" + name + ".csv"), delimiter=",", names=True)


@pytest.fixture(scope="session")
def golden():
    return Golden()

