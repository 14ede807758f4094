# SPDX-License-Identifier: BSD-3-Clause
"""The wheel holds the library and runs away from the source tree."""
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

import kugel
from conftest import ROOT

PROGRAM = """
import kugel, numpy as np
assert "site-packages" in kugel.library_path, kugel.library_path
alm = np.zeros(kugel.Alm.getsize(8), complex); alm[0] = 1
assert np.allclose(kugel.fft.fft(alm), np.fft.fft(alm)) and kugel.banded
assert "site-packages" in str(kugel.data.path("wmap7_w_band_nside32.fits"))
assert kugel.read_map(kugel.data.path("wmap7_w_band_nside32.fits")).size == 12288
print(kugel.__version__, round(kugel.alm2map(alm, 4)[0] * (4 * np.pi) ** 0.5, 12))
"""


@pytest.mark.slow
def test_wheel(tmp_path):
    pip = [sys.executable, "-m", "pip"]
    if subprocess.run(pip + ["--version"], capture_output=True).returncode:
        pytest.skip("pip is not here")
    # The library built already is taken: a second build would only take time.
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    made = subprocess.run(pip + ["wheel", "--no-deps", "-q", "-w", str(tmp_path), str(ROOT)], text=True,
                          capture_output=True, cwd=tmp_path,
                          env=clean | {"KUGEL_LIBRARY": str(pathlib.Path(kugel.library_path).resolve())})
    if made.returncode and ("Temporary failure" in made.stderr or "No matching distribution" in made.stderr):
        pytest.skip("no network to fetch setuptools")
    assert made.returncode == 0, made.stderr
    wheel, = tmp_path.glob("kugel-*.whl")
    assert "py3-none-linux" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert {"kugel/share/" + name for name in kugel.data.names()} <= set(names)
    assert "kugel/lib/libkugel.so" in names and "kugel/_ffi.py" in names
    sources = {str(p.relative_to(ROOT / "python")) for p in (ROOT / "python").rglob("*.py")}
    assert sources <= set(names), sources - set(names)
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(venv)], check=True)
    python = str(venv / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", str(wheel)], check=True, env=clean)
    numpy_home = str(pathlib.Path(__import__("numpy").__file__).parents[1])
    out = subprocess.run([python, "-c", "import sys; sys.path.append(%r)\n%s" % (numpy_home, PROGRAM)], text=True,
                         capture_output=True, cwd=tmp_path, env={k: v for k, v in clean.items() if k != "KUGEL_LIBRARY"})
    assert out.returncode == 0, out.stderr
    assert out.stdout.split() == [kugel.__version__, "1.0"]
