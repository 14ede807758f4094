# SPDX-License-Identifier: BSD-3-Clause
"""Builds libkugel.so by CMake and puts it into the wheel, beside the package."""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent


class BuildWithLibrary(build_py):
    """The library is built into build/wheel; KUGEL_LIBRARY names one that is ready instead."""

    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib) / "kugel" / "lib" / "libkugel.so"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.library(), target)
        shutil.copytree(ROOT / "share" / "data", target.parents[1] / "share", dirs_exist_ok=True)

    @staticmethod
    def library():
        if ready := os.environ.get("KUGEL_LIBRARY"):
            return ready
        folder = ROOT / "build" / "wheel"
        tools = [t for t in ("cmake", "ninja") if not shutil.which(t)]
        if tools:
            raise SystemExit(f"kugel: {' and '.join(tools)} must be installed to build the library; see ./setup")
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DKUGEL_TESTS=OFF"], check=True)
        subprocess.run(["cmake", "--build", str(folder), "--target", "kugel"], check=True)
        return folder / "libkugel.so"


class WithLibrary(Distribution):
    """Holds machine code, so the wheel is for this platform; any Python 3 runs it."""

    def has_ext_modules(self):
        return True


def commands():
    out = {"build_py": BuildWithLibrary}
    try:
        from setuptools.command.bdist_wheel import bdist_wheel
    except ImportError:
        from wheel.bdist_wheel import bdist_wheel

    class Wheel(bdist_wheel):
        def get_tag(self):
            return "py3", "none", super().get_tag()[2]

    return out | {"bdist_wheel": Wheel}


work = ROOT / "build" / "wheel" / "setuptools"
work.mkdir(parents=True, exist_ok=True)
version = re.search(r"project\(kugel VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
setup(version=version, packages=["kugel", "kugel.fft", "kugel.jax", "kugel.torch", "kugel.volume"], package_dir={"": "python"}, cmdclass=commands(), distclass=WithLibrary,
      options={"build": {"build_base": str(work)}, "egg_info": {"egg_base": str(work)}})
