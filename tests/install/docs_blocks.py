#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the fenced blocks of README.md and of the pages in docs as a reader would, each page in an empty folder with sample maps.

usage: docs_blocks.py <kugel command> <libkugel.so> <folder of the build's headers> [page...]

sh: line by line, all must succeed; blocks that start with ./ or cmake build or test Kugel itself and are left to those who do that.
python: one after another in one interpreter; blocks for PyTorch, JAX and h5py only where those are installed.
c: a complete program, or statements that follow the declarations of an array `map` of `npix` numbers; warnings are errors.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md"] + [f"docs/{name}.md" for name in ("quickstart", "ball", "package")]
PAGES += sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs/guide").glob("*.md") if "```" in p.read_text())
# Of these the blocks in Python alone: commands there name files of large projects.
PYTHON_PAGES = [f"docs/{name}.md" for name in ("deconvolution", "nufft", "polynomial", "radial", "sht", "spectra", "stencil", "volume", "xarray",
                                               "python-autograd", "kernels-with-hooks", "large-maps")]
PROGRAM = """#include <stdio.h>
#include <stdlib.h>
#include <kugel/kugel.h>
int main(void)
{
  const int64_t npix = 12 * 1024 * 1024;
  double *map = calloc((size_t)npix, sizeof *map);
  kugel_set_num_threads(2);
%s
  return kugel_last_error()[0] != 0 || !map;
}
"""


def blocks(page):
    """(language, line, text) of a page's fenced blocks."""
    text = (ROOT / page).read_text()
    for found in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S):
        yield found[1], text[:found.start()].count("\n") + 2, found[2]


def run(words, where, environment, text=None):
    return subprocess.run(words, cwd=where, env=environment, input=text, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)


def python():
    """An interpreter with NumPy, or None."""
    for candidate in (ROOT / ".venv/bin/python", sys.executable):
        if pathlib.Path(candidate).exists() and not subprocess.run([candidate, "-c", "import numpy"], stderr=subprocess.DEVNULL).returncode:
            return str(candidate)
    return None


def needs(text):
    """Modules of a block that may be missing."""
    return [m for m in ("torch", "jax", "dask", "h5py", "xarray", "healsparse") if re.search(rf"^import .*\b{m}\b|kugel\[{m}\]", text, re.M)]


class Page:
    def __init__(self, page, command, library, headers, folder):
        self.page, self.folder, self.library, self.headers = page, pathlib.Path(folder), library, headers
        self.environment = dict(os.environ, PATH=f"{command.parent}:{os.environ['PATH']}", PYTHONPATH=os.pathsep.join([str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
                                KUGEL_LIBRARY=str(library), LD_LIBRARY_PATH=str(library.parent))
        (self.folder / "build").mkdir()
        (self.folder / "build/release").symlink_to(command.parent)
        for name in ("share", "tests"):
            (self.folder / name).symlink_to(ROOT / name)
        sky = ROOT / "share/data/wmap7_w_band_nside32.fits"
        (self.folder / "map.fits").write_bytes(sky.read_bytes())
        subprocess.run([command, "udgrade", "--nside", "64", sky, self.folder / "map64.fits", "--quiet"], check=True)
        self.python_text, self.failed, self.ran, self.skipped = "", 0, 0, 0
        self.missing = set()  # files that blocks which were skipped write

    def judge(self, line, language, done):
        self.ran += 1
        bad = done.returncode != 0
        self.failed += bad
        print(f"{'FAIL' if bad else 'ok  '} {self.page}:{line} ({language})")
        if bad:
            print(done.stdout[-3000:])

    def skip(self, line, why):
        self.skipped += 1
        print(f"skip {self.page}:{line} ({why})")

    def sh(self, line, text):
        if text.startswith(("./", "cmake ")):
            return self.skip(line, "builds or tests Kugel")
        missing = sorted(self.missing.intersection(text.split()))
        if missing:
            return self.skip(line, f"{missing[0]} was not written")
        self.judge(line, "sh", run(["bash", "-e"], self.folder, self.environment, text))

    def py(self, line, text):
        interpreter = python()
        if not interpreter:
            self.missing |= set(re.findall(r'"([\w-]+\.\w+)"', text))
            return self.skip(line, "NumPy is missing")
        if '"cuda:' in text:
            compile(text, self.page, "exec")
            return self.skip(line, "for a device")
        missing = [m for m in needs(text) if subprocess.run([interpreter, "-c", f"import {m}"], stderr=subprocess.DEVNULL).returncode]
        if missing:
            compile(text, self.page, "exec")
            return self.skip(line, f"{missing[0]} is missing")
        # what came before is run again: the blocks share their names as on the page
        self.python_text += text
        self.judge(line, "python", run([interpreter, "-"], self.folder, self.environment, self.python_text))

    def c(self, line, text):
        source, program = self.folder / f"block{line}.c", self.folder / f"block{line}"
        source.write_text(text if "int main" in text else PROGRAM % textwrap.indent(text, "  "))
        built = run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", f"-I{self.headers}", str(source), "-o",
                     str(program), f"-L{self.library.parent}", "-lkugel", "-lm"], self.folder, self.environment)
        self.judge(line, "c", built if built.returncode else run([str(program)], self.folder, self.environment))


def main():
    command, library, headers = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
    failed = ran = skipped = 0
    for page in sys.argv[4:] or PAGES + PYTHON_PAGES:
        with tempfile.TemporaryDirectory() as folder:
            p = Page(page, command, library, headers, folder)
            for language, line, text in blocks(page):
                if language == "python" or page not in PYTHON_PAGES:
                    {"sh": p.sh, "python": p.py, "c": p.c}[language](line, text)
            failed, ran, skipped = failed + p.failed, ran + p.ran, skipped + p.skipped
    print(f"{ran - failed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or not ran else 0)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__.strip())
    main()
