#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lint: who calls whom, as the linker sees it.

usage: tools/linkgraph.py <build folder> [--circles] [--edges ROOM ROOM]

Reads the symbols of the library's objects by nm: an object that needs a symbol depends on the one that defines it. An
include may name a header for its types only; a symbol is a real dependency. Rooms and their rows are those of
tools/layers.py: a file may need its own room and the rows above it, files of io and plot (FILES_ONLY) may need public
functions of any room.

Prints each symbol that is needed from a room of the same row or a later one (an upward edge), and the circles of files
within a room. Exits with 1 if there is an upward edge, or a circle that is not in CIRCLES.

  --circles            also prints the edges of each circle
  --edges ROOM ROOM    prints the symbols that the first room needs from the second
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys

from layers import FILES_ONLY, may_include, room_of

DEFINED = set("TDBRCVWi")  # nm's letters of symbols that others may use
# Rooms with circles of files that are one subject.
CIRCLES = {"banded", "healpix", "io", "plot", "sphere/grid", "volume/cpu", "volume/gpu", "volume/plan"}


def objects(build):
    """Object files of the library by their source below the root: {"src/core/ctx.c": [paths]}."""
    found = collections.defaultdict(list)
    for folder in sorted((build / "CMakeFiles").glob("kugel_objects*.dir")):
        for path in sorted(folder.rglob("*.o")):
            found[path.relative_to(folder).as_posix().removesuffix(".o")].append(path)
    return found


def symbols(paths):
    """(object, defined, symbol) of each symbol that an object defines for others or needs."""
    text = subprocess.run([os.environ.get("NM", "nm"), "-A", "-P", *map(str, paths)], check=True, capture_output=True,
                          text=True).stdout
    for line in text.splitlines():
        path, _, rest = line.partition(".o: ")  # a folder's name may hold blanks
        name, kind = (rest.split() + ["", ""])[:2]
        if kind == "U" or kind in DEFINED:
            yield path + ".o", kind != "U", name


def edges(build):
    """{(source, source): symbols} of all files that need another."""
    home, wants, found = collections.defaultdict(set), collections.defaultdict(set), collections.defaultdict(set)
    # one source has an object for each instruction set; generated texts and tables are left out
    source_of = {str(p): s for s, paths in objects(build).items() if s.startswith("src/") for p in paths}
    for path, defined, name in symbols(source_of) if source_of else ():
        (home[name] if defined else wants[source_of[path]]).add(source_of[path] if defined else name)
    for source, needed in wants.items():
        for name in needed:
            for other in home.get(name, ()):
                if other != source:
                    found[source, other].add(name)
    return found


def room(source):
    return room_of(source.removeprefix("src/"))


def is_public(name):
    return name.startswith("kugel_") and not name.startswith("kugel__")


def may_need(user, owner, name):
    if user in FILES_ONLY and owner != user:
        return owner == "core" or is_public(name)
    return may_include(user, owner)


def circles(graph):
    """Sets of files that all need each other (Tarjan 1972), largest first."""
    after = collections.defaultdict(set)
    for a, b in graph:
        after[a].add(b)
    index, low, stack, on, found = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in sorted(after[v]):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            group = stack[stack.index(v):]
            del stack[stack.index(v):]
            on.difference_update(group)
            if len(group) > 1:
                found.append(sorted(group))

    for v in sorted({a for edge in graph for a in edge}):
        if v not in index:
            visit(v)
    return sorted(found, key=len, reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="such as build/release")
    parser.add_argument("--circles", action="store_true", help="print the edges of each circle")
    parser.add_argument("--edges", nargs=2, metavar="ROOM", help="print what the first room needs from the second")
    options = parser.parse_args()
    graph = edges(options.build)
    if not graph:
        print(f"{options.build}: no objects of the library, build it first")
        return 2
    if options.edges:
        for (a, b), names in sorted(graph.items()):
            if [room(a), room(b)] == options.edges:
                print(f"{a} -> {b}: {', '.join(sorted(names))}")
        return 0
    bad = [f"{a}: needs {name} of {b}, which its room may not" for (a, b), names in sorted(graph.items())
           for name in sorted(names) if not may_need(room(a), room(b), name)]
    upward = len(bad)
    within = {edge: names for edge, names in graph.items() if room(edge[0]) == room(edge[1])}
    found = circles(within)
    for group in found:
        allowed = room(group[0]) in CIRCLES
        line = f"{room(group[0])}: circle of {len(group)} files: {', '.join(pathlib.Path(p).name for p in group)}"
        print(line + (" (one subject)" if allowed else ""))
        if not allowed:
            bad.append(line)
        if options.circles or not allowed:
            for (a, b), names in sorted(within.items()):
                if a in group and b in group:
                    print(f"  {pathlib.Path(a).name} -> {pathlib.Path(b).name}: {', '.join(sorted(names))}")
    print("\n".join(bad[:upward]) if upward else f"links: {len(graph)} edges between files, none upward")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.setrecursionlimit(10000)
    sys.exit(main())
