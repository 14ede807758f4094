# SPDX-License-Identifier: BSD-3-Clause
"""Recipes for conda, Spack, Docker and module files agree with the project: its version, the libraries that CMake looks for."""
import pathlib
import re
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(kugel VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
# What CMake looks for, as Debian, conda-forge and Spack call it.
LIBRARIES = {"CFITSIO": ("libcfitsio", "cfitsio", "cfitsio"), "FREETYPE": ("libfreetype", "freetype", "freetype"), "PNG": ("libpng", "libpng", "libpng"),
             "ZLIB": ("libpng", "zlib", "zlib-api"), "TIFF": ("libtiff", "libtiff", "libtiff"), "EXPAT": ("libexpat1", "libexpat", "expat"),
             "CJSON": ("libcjson", "cjson", "cjson"), "BLOSC": ("libblosc", "c-blosc", "c-blosc"), "ZSTD": ("libzstd", "zstd", "zstd")}
WANTED = [name for name in re.findall(r"^(?:pkg_check_modules|find_package)\((\w+) REQUIRED", (ROOT / "cmake/deps.cmake").read_text(), re.M)
          if name != "PkgConfig"]


def read(name):
    return (ROOT / "packaging" / name).read_text()


def versions():
    assert sorted(WANTED) == sorted(LIBRARIES), WANTED
    assert f"  version: {VERSION}\n" in read("conda/recipe.yaml")
    assert f"/{VERSION}" in read("module/kugel.lua") and f"kugel/{VERSION}.lua" in read("module/kugel.lua")
    assert f"version: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()


def conda():
    host = re.search(r"host: \[(.*)\]", read("conda/recipe.yaml"))[1].split(", ")
    assert all(LIBRARIES[name][1] in host for name in WANTED), host


def docker():
    stages = read("docker/Dockerfile").split("\nFROM ")
    build, run = (" ".join(re.findall(r"^RUN .*?(?<!\\)$", s, re.M | re.S)).replace("\\\n", " ").split() for s in stages[1:] or [])
    libraries = [word for word in build if word.startswith("lib") and word.endswith("-dev") and word != "libc6-dev"]
    needed = re.findall(r"lib[\w-]+-dev", re.search(r"^packages=\((.*?)\)", (ROOT / "setup").read_text(), re.M | re.S)[1])
    assert sorted(libraries) == sorted(n for n in needed if n != "libc6-dev"), (libraries, needed)
    for name in libraries:  # each has its shared library in the second stage
        stem = re.sub(r"1?-dev$", "", name)
        assert any(word.startswith(stem) for word in run), (name, run)
    assert [line.split()[0] for line in stages[2].splitlines()[1:] if line[:1].isupper()] == ["RUN", "COPY", "RUN", "WORKDIR", "ENTRYPOINT"]


def spack():
    """The package's own code, with stand-ins for the directives."""
    said = []

    def directive(name):
        return lambda *a, **k: said.append((name, a, k))

    class CMakePackage:
        run_tests = False

        def define(self, name, value):
            return f"-D{name}={value}"

        def define_from_variant(self, name, variant):
            assert any(d == "variant" and a[0] == variant for d, a, k in said), variant
            return f"-D{name}={variant}"
    package = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "generator"):
        setattr(package, name, directive(name))
    system = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    system.CMakePackage = CMakePackage
    for parent in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[parent] = types.ModuleType(parent)
    sys.modules.update({package.__name__: package, system.__name__: system})
    names = {}
    exec(compile(read("spack/package.py"), "package.py", "exec"), names)
    assert ("version", (VERSION,), {}) in said and f"kugel@{VERSION}" in read("spack/package.py")
    libraries = [a[0].split("@")[0] for d, a, k in said if d == "depends_on" and k.get("when") == "+files" and "type" not in k]
    assert sorted(libraries) == sorted(LIBRARIES[name][2] for name in WANTED), libraries
    options = "".join(p.read_text() for p in [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")])
    for word in names["Kugel"]().cmake_args():
        assert word[2:].split("=")[0] in options, word


for case in (versions, conda, docker, spack):
    case()
    print(f"ok   {case.__name__}")
print("4 passed, 0 failed")
