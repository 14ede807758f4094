#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lint: a file has one subject, and reads best under 350 lines; more than 400 are refused. A room of the library or the
command has at most 40 files.

usage: tools/lengths.py [root]
"""
import pathlib
import sys

MOST = 400
ROOM = 40
SUFFIXES = {".c", ".h", ".cl", ".def", ".py"}
FOLDERS = ("src", "include", "cli", "python", "tests", "bench", "examples", "tools")

# Longer, of one subject each, from before this rule; no longer than 600. The list may only shrink.
LONGER = set("""
python/kugel/pixelfunc.py python/kugel/plans.py python/kugel/polynomial.py
src/fft/cpu/longline.isa.c
src/stack/zarr_write.c
tests/codegen/modules.c tests/device/conformance.c tests/device/fake_cuda.c tests/device/lanes.c
tests/fft/plan/saved.c tests/fft/rings/sums.c tests/io/fits_write.c
tests/polynomial/jwt.c tests/sphere/sht/parts.c tests/volume/direct.c
""".split())
GENERATED = {"python/kugel/_ffi.py"}


def main(root):
    bad, count = [], 0
    for path in sorted(p for folder in FOLDERS for p in (root / folder).rglob("*") if p.suffix in SUFFIXES and p.is_file()):
        name = path.relative_to(root).as_posix()
        if name in GENERATED or "data" in path.relative_to(root).parts:
            continue
        count += 1
        lines = path.read_text(encoding="utf-8").count("\n")
        most = 600 if name in LONGER else MOST
        if name in LONGER and lines <= MOST:
            bad.append(f"{name}:1: {lines} lines: take it off the list of tools/lengths.py")
        if lines > most:
            bad.append(f"{name}:1: {lines} lines, must be at most {most}: split it by subject")
    rooms = {}
    for folder in ("src", "cli"):
        for path in (root / folder).rglob("*.[ch]"):
            rooms.setdefault(path.parent.relative_to(root).as_posix(), []).append(path)
    for room, files in sorted(rooms.items()):
        if len(files) > ROOM:
            bad.append(f"{room}: {len(files)} files, must be at most {ROOM}: split it by subject")
    largest = max(rooms, key=lambda room: len(rooms[room]))
    print("\n".join(bad) if bad else f"lengths: {count} files, none over {MOST} lines but {len(LONGER)} that are listed; "
          f"{len(rooms)} rooms, the largest is {largest} with {len(rooms[largest])} files")
    return 1 if bad else 0


if __name__ == "__main__":
    here = pathlib.Path(__file__).resolve().parent.parent
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else here))
