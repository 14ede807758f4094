# SPDX-License-Identifier: BSD-3-Clause
"""Builds the library and the command by CMake and puts them into the wheel, beside the package.

Environment: CMAKE_ARGS, further options of CMake; KUGEL_LIBRARY, a libkugel.so that is ready (the command then stays out);
KUGEL_WHEEL_FOLDER, where CMake builds (build/wheel); KUGEL_WHEEL_PLATFORM, the platform of the wheel's name; KUGEL_WHEEL_LICENSES,
a folder with the licences of what is linked statically.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent


class BuildWithLibrary(build_py):
    """Editable installs too: the library then stays in build/wheel, where the package looks for it."""

    def run(self):
        super().run()
        ready = os.environ.get("KUGEL_LIBRARY")
        library, command = (pathlib.Path(ready), None) if ready else self.build()
        if self.editable_mode:
            return
        package = pathlib.Path(self.build_lib) / "kugel"
        self.put(library, package / "lib" / "libkugel.so")
        if command and command.exists():
            self.put(command, package / "bin" / "kugel")
        licenses = os.environ.get("KUGEL_WHEEL_LICENSES")
        if licenses:
            shutil.copytree(licenses, package / "licenses", dirs_exist_ok=True)
        leave = ["etopo20_relief.npy", "grid.tif"] if os.environ.get("KUGEL_WHEEL_PLATFORM") else []  # which kugel-data has
        shutil.copytree(ROOT / "share" / "data", package / "share", dirs_exist_ok=True, ignore=lambda folder, names: leave)

    @staticmethod
    def put(source, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)

    @staticmethod
    def build():
        """The paths of the library and of the command."""
        tools = [t for t in ("cmake", "ninja") if not shutil.which(t)]
        if tools:
            raise SystemExit(f"kugel: {' and '.join(tools)} must be installed to build the library; see ./setup")
        folder = pathlib.Path(os.environ.get("KUGEL_WHEEL_FOLDER", ROOT / "build" / "wheel"))
        own = shlex.split(os.environ.get("CMAKE_ARGS", ""))
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DKUGEL_TESTS=OFF",
                        "-DKUGEL_WHEEL=ON", *own], check=True)
        files = "KUGEL_FILES:BOOL=ON" in (folder / "CMakeCache.txt").read_text()
        subprocess.run(["cmake", "--build", str(folder), "--target", "kugel", *(["kugel_command"] if files else [])], check=True)
        return folder / "libkugel.so", folder / "kugel" if files else None


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
            return "py3", "none", os.environ.get("KUGEL_WHEEL_PLATFORM") or super().get_tag()[2]

    return out | {"bdist_wheel": Wheel}


work = ROOT / "build" / "wheel" / "setuptools"
work.mkdir(parents=True, exist_ok=True)
version = re.search(r"project\(kugel VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
packages = ["kugel"] + sorted("kugel." + p.parent.name for p in (ROOT / "python" / "kugel").glob("*/__init__.py"))
setup(version=version, packages=packages, package_dir={"": "python"}, package_data={"kugel": ["py.typed"]}, cmdclass=commands(),
      distclass=WithLibrary, options={"build": {"build_base": str(work)}, "egg_info": {"egg_base": str(work)}})
