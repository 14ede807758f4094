#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the C and of the Python reference, from the headers and the docstrings, into the folder of the site's sources.

usage: reference.py <folder>
"""
import ast
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import cheader  # noqa: E402

MODULES = ["kugel", "kugel.fft", "kugel.nufft", "kugel.points", "kugel.spectra", "kugel.namaster", "kugel.healpix", "kugel.astropy_healpix", "kugel.ball", "kugel.polynomial",
           "kugel.banded", "kugel.stencil", "kugel.volume", "kugel.kernels", "kugel.projector", "kugel.projaxes", "kugel.newvisufunc"]


def c_page(path, out):
    header = cheader.parse(path)
    lines = [f"# {path.name}", "", "```{eval-rst}"]
    for f in header.functions:
        arguments = ", ".join(f"{p.type}{'' if p.type.endswith('*') else ' '}{p.name}" + (f"[{p.count}]" if p.count else "")
                              for p in f.params) or "void"
        lines += ["", f".. c:function:: {f.result} {f.name}({arguments})", "   :noindexentry:" if not f.doc else "", ""]
        lines += ["   | " + line.strip().replace("|", "\\|").replace("*", "\\*").replace("`", "\\`").replace("_", "\\_")
                  if line.strip() else "   |" for line in f.doc]
    lines += ["```", ""]
    out.write_text("\n".join(lines))
    return len(header.functions)


def public(module):
    """Names that a module offers, in the order of its text."""
    path = ROOT / "python" / pathlib.Path(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    names = []
    top = ast.parse(path.read_text()).body
    for node in top + [inner for node in top if isinstance(node, ast.If) for inner in node.body]:  # names loaded on demand: for type checkers
        if isinstance(node, ast.ImportFrom) and node.level and node.module and path.name == "__init__.py":
            names += [a.asname or a.name for a in node.names]
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.append(node.name)
    return [n for n in names if not n.startswith("_") and n not in ("kernels", "UNSEEN", "library_path", "DoubleDouble")]


def main():
    out = pathlib.Path(sys.argv[1])
    (out / "c").mkdir(parents=True, exist_ok=True)
    (out / "python").mkdir(exist_ok=True)
    pages = []
    for path in sorted((ROOT / "include/kugel").glob("*.h")):
        if c_page(path, out / "c" / (path.stem + ".md")):
            pages.append(path.stem)
        else:
            (out / "c" / (path.stem + ".md")).unlink()
    toc = "\n".join(pages)
    (out / "c/index.md").write_text(f"# C reference\n\nOne page per header; each header is the manual of its part.\n\n```{{toctree}}\n:maxdepth: 1\n{toc}\n```\n")
    for module in MODULES:
        names = "\n".join(f".. autofunction:: {module}.{n}" if n[0].islower() else f".. autoclass:: {module}.{n}\n   :members:\n   :exclude-members: set" for n in public(module))
        (out / "python" / f"{module}.md").write_text(f"# {module}\n\n```{{eval-rst}}\n.. automodule:: {module}\n   :no-members:\n\n{names}\n```\n")
    toc = "\n".join(MODULES)
    (out / "python/index.md").write_text(f"# Python reference\n\n```{{toctree}}\n:maxdepth: 1\n{toc}\n```\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    main()
