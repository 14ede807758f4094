# SPDX-License-Identifier: BSD-3-Clause
import json
import os
import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
os.environ["PYTHONPATH"] = str(ROOT / "python")  # for the programs that tests start
SPHERE = ROOT.parent / "shared" / "data" / "sphere"


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: builds or installs something")


class Golden:
    """Arrays and tables made by other software; a test that asks for one that is not there is skipped."""

    def path(self, name):
        path = SPHERE / name
        if not path.exists():
            pytest.skip(f"{path} is not here: the shared data do not lie beside the checkout")
        return path

    def npy(self, name):
        return np.load(self.path("golden/" + name + ".npy"))

    def json(self, name):
        return json.loads(self.path("golden/" + name + ".json").read_text())

    def csv(self, name):
        return np.genfromtxt(self.path("golden/" + name + ".csv"), delimiter=",", names=True)


@pytest.fixture(scope="session")
def golden():
    return Golden()

