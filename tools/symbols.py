#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what libkugel.so exports with the recorded list tests/abi/symbols.txt.

usage: tools/symbols.py [--update] <libkugel.so>

A symbol that went missing breaks programs; a new one is a promise. Both are told; --update records them.
"""
import pathlib
import subprocess
import sys

LIST = pathlib.Path(__file__).resolve().parent.parent / "tests" / "abi" / "symbols.txt"


def exported(library):
    out = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"symbols: nm failed: {out.stderr.strip()}")
    names = {line.split()[-1].split("@")[0] for line in out.stdout.splitlines() if line.split()[-2] != "A"}
    return sorted(names)


def main(arguments):
    update = "--update" in arguments
    paths = [a for a in arguments if not a.startswith("-")]
    if len(paths) != 1:
        sys.exit(__doc__.strip().split("\n\n")[1])
    names = exported(paths[0])
    if update:
        LIST.parent.mkdir(parents=True, exist_ok=True)
        LIST.write_text("".join(n + "\n" for n in names))
        print(f"symbols: recorded {len(names)}")
        return 0
    known = LIST.read_text().split() if LIST.exists() else []
    added, removed = sorted(set(names) - set(known)), sorted(set(known) - set(names))
    for name in removed:
        print(f"removed: {name}")
    for name in added:
        print(f"added:   {name}")
    if added or removed:
        print(f"symbols: {len(added)} added, {len(removed)} removed; if that is meant, run "
              f"tools/symbols.py --update {paths[0]} and commit tests/abi/symbols.txt")
        return 1
    print(f"symbols: {len(names)}, as recorded")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
