# SPDX-License-Identifier: BSD-3-Clause
"""The programs in examples/, made short."""
import importlib.util
import pathlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_png(path):
    return path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and path.stat().st_size > 5000


@pytest.mark.parametrize("grid", ["gauss", "healpix"])
def test_shallow_water(grid, tmp_path):
    module = load("shallow_water")
    keys = dict(grid=grid, lmax=31, days=0.25, device="cpu", out=tmp_path)
    state, mass, energy = module.run(SimpleNamespace(damping=3600, steady=False, **keys))
    assert abs(mass) < 1e-14 and abs(energy) < 1e-4
    module.draw(state, 31, 0.25, tmp_path)
    assert is_png(tmp_path / "shallow_water_vorticity.png") and is_png(tmp_path / "shallow_water_globe.png")
    after, _, energy = module.run(SimpleNamespace(damping=0, steady=True, **keys))
    before = module.jet(module.ShallowWater(module.Sphere(grid, 31, "cpu"), 0), False)
    assert abs(energy) < 1e-10 and np.abs(after - before).max() < 1e-8 * np.abs(before).max()
    assert np.abs(after[0] - before[0]).max() < (1e-10 if grid == "gauss" else 1e-2) * np.abs(before[0]).max()


def test_fit_alm(tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(sys, "argv", ["fit_alm.py", "--steps", "40", "--lmax", "24", "--out", str(tmp_path)])
    assert load("fit_alm").main() == 0
    assert is_png(tmp_path / "fit_alm_map.png")
    if importlib.util.find_spec("matplotlib"):
        assert is_png(tmp_path / "fit_alm_loss.png")


def test_tour_is_a_notebook(tmp_path):
    """Every cell runs, every picture is there."""
    import base64
    import json

    spec = importlib.util.spec_from_file_location("notebook", EXAMPLES.parent / "tools" / "notebook.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    book = json.loads(json.dumps(tool.notebook(EXAMPLES / "tour.py")))
    shown = [o for cell in book["cells"] for o in cell.get("outputs", [])]
    pictures = [base64.b64decode(o["data"]["image/png"]) for o in shown if "data" in o]
    assert len(pictures) == 6 and all(p[:8] == b"\x89PNG\r\n\x1a\n" and len(p) > 5000 for p in pictures)
    committed = json.loads((EXAMPLES / "tour.ipynb").read_text())
    assert [c["source"] for c in committed["cells"]] == [c["source"] for c in book["cells"]]
