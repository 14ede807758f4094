#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The gallery of the site: runs every program of docs/site/gallery, which draws one picture, and writes the page with both.

usage: gallery.py <folder of the site's sources>
"""
import ast
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    out = pathlib.Path(sys.argv[1]) / "guide"
    pictures = out / "gallery"
    pictures.mkdir(parents=True, exist_ok=True)
    page = ["# Gallery", "", "Every picture was drawn by the lines below it when this page was made, from data that come with Kugel (`pip install 'kugel[data]'` brings all).",
            "Larger programs lie in `examples/`; pictures by the command alone: [quickstart](../quickstart.md).", ""]
    for program in sorted((ROOT / "docs/site/gallery").glob("*.py")):
        text = program.read_text()
        title, about = ast.get_docstring(ast.parse(text)).split("\n\n", 1)
        name = program.stem[3:] + ".png"
        subprocess.run([sys.executable, program], cwd=pictures, check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "python")})
        if not (pictures / name).exists():
            raise SystemExit(f"gallery: {program.name} drew no {name}")
        code = text.split('"""', 2)[2].strip()
        page += [f"## {title}", "", about.strip(), "", f"![{title}](gallery/{name})", "", "```python", code, "```", ""]
    (out / "gallery.md").write_text("\n".join(page))


main()
