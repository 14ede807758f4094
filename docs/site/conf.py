# SPDX-License-Identifier: BSD-3-Clause
# Read by docs/site/build, which copies the pages to build/site-source and writes the reference beside them.
import os
import re

root = os.environ["KUGEL_ROOT"]
project = "Kugel"
copyright = "the Kugel developers"
release = version = re.search(r"project\(kugel VERSION ([\d.]+)", open(os.path.join(root, "CMakeLists.txt")).read()).group(1)
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_copybutton"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"Kugel {release}"
suppress_warnings = ["myst.xref_missing", "myst.header", "misc.highlighting_failure"]  # links to files of the source tree
autodoc_member_order = "bysource"
autodoc_typehints = "description"
exclude_patterns = ["site", "package.md"]


def plain(app, what, name, obj, options, lines):
    """Docstrings are plain text with columns: keep their lines."""
    escaped = [re.sub(r"([\\\\`*_|])", r"\\\1", line) for line in lines]
    lines[:] = ["| " + line if line.strip() else "|" for line in escaped] + [""]


def setup(app):
    app.connect("autodoc-process-docstring", plain)
