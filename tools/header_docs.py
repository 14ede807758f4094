#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lint: every public function is documented where it is declared.

usage: tools/header_docs.py [root]

A function of include/kugel/*.h has a /// docstring that starts with a sentence, names each parameter by @param (`ctx` may
be left out: core.h says what it is), and has @errors if it returns kugel_status and is no destroy function.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cheader  # noqa: E402

FREE = {"ctx"}


def documented(doc):
    """Names that the docstring's @param lines cover; one line may name several: `@param[in] x, y  ...`."""
    names = []
    for line in doc:
        if match := re.match(r"@param(?:\[[a-z,]+\])?\s+((?:\w+\s*,\s*)*\w+)", line):
            names += re.split(r"\s*,\s*", match.group(1))
    return names


def complaints(function):
    if not function.doc:
        yield "has no /// docstring"
        return
    if not re.match(r"\S", function.doc[0]) or function.doc[0].startswith("@"):
        yield "its docstring does not start with a sentence"
    names = documented(function.doc)
    actual = [p.name for p in function.params]
    for name in actual:
        if name not in names and name not in FREE:
            yield f"parameter {name} has no @param"
    for name in names:
        if name not in actual:
            yield f"@param {name}: there is no such parameter"
    text = "\n".join(function.doc)
    if function.result == "kugel_status" and "@errors" not in text and not function.name.endswith("_destroy"):
        yield "returns kugel_status but has no @errors"


def main(root):
    bad, count = [], 0
    for header in cheader.public_headers(root):
        for function in header.functions:
            count += 1
            bad += [f"include/kugel/{function.path.name}:{function.line}: {function.name}: {why}"
                    for why in complaints(function)]
    print("\n".join(bad) if bad else f"header_docs: {count} functions, all documented")
    return 1 if bad else 0


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    try:
        sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else here))
    except cheader.HeaderError as e:
        sys.exit(f"header_docs: {e}")
