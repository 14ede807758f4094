#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a Python file with cells and writes it as a Jupyter notebook with its results.

usage: tools/notebook.py FILE.py FILE.ipynb

A cell begins at a line `# %%`, one of text at `# %% [markdown]`. What a cell prints is kept, and the picture of its last
expression (anything with _repr_png_). Comments before the first cell are left out.
"""
import ast
import base64
import contextlib
import io
import json
import pathlib
import sys


def cells(text):
    """Pairs (is text, lines)."""
    out = []
    for line in text.splitlines():
        if line.startswith("# %%"):
            out.append(("[markdown]" in line, []))
        elif out:
            out[-1][1].append(line)
    return [(is_text, "\n".join(lines).strip("\n")) for is_text, lines in out]


def run(source, names):
    """What a cell shows."""
    tree, printed, value = ast.parse(source), io.StringIO(), None
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(True)})
    if hasattr(value, "_repr_png_"):
        image = base64.b64encode(value._repr_png_()).decode()
        outputs.append({"output_type": "display_data", "metadata": {}, "data": {"image/png": image}})
    return outputs


def notebook(path):
    made, names = [], {"__name__": "__main__"}
    for is_text, source in cells(path.read_text()):
        if is_text:
            lines = [line.removeprefix("#").removeprefix(" ") for line in source.splitlines()]
            cell = {"cell_type": "markdown", "metadata": {}, "source": "\n".join(lines).splitlines(True)}
        else:
            cell = {"cell_type": "code", "metadata": {}, "execution_count": None, "source": source.splitlines(True),
                    "outputs": run(source, names)}
        made.append(cell | {"id": f"cell-{len(made)}"})
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": made}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split("\n\n")[1])
    source, target = map(pathlib.Path, sys.argv[1:])
    target.write_text(json.dumps(notebook(source), indent=1) + "\n")


if __name__ == "__main__":
    main()
