#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds in kernel texts, as OpenCL gets them, what PoCL 5.0 cannot compile (docs/kernels.md): in a loop that holds barriers,
if/else with loops in both arms before the next barrier. Functions that hold a barrier are inlined early and count as
their text; calls of others do not.
usage: kernel_lint.py [file.cl ...]; without a file: all of src, after the finds of tests/data/kernels/branches.cl."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PRELUDE = ROOT / "src/codegen/kernels/prelude_opencl.cl"
TOKEN = re.compile(r'"[^"]*"|[A-Za-z_]\w*|\d[\w.+-]*|[^\s\w]')


def expanded(path, defines):
    """The text after the prelude, without directives."""
    text = path.read_text()
    words = re.search(r"// words: (\S+)", text)
    parts = [defines, f'#include "{PRELUDE}"']
    if words:
        where = (ROOT / "src" / words[1])
        parts.append(f'#include "{where.parent}/kernels/{where.name}.cl"')
    source = "\n".join([*parts, f'#include "{path}"', ""])
    command = [os.environ.get("CC", "cc"), "-E", "-P", "-x", "c", "-undef", "-Dcl_khr_fp64", "-Dcl_khr_int64_base_atomics",
               "-I", str(ROOT / "src"), "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"kernel_lint: {path}: {done.stderr}")
    return "\n".join(line for line in done.stdout.splitlines() if not line.startswith("#"))


class Statement:
    def __init__(self, kind, parts=(), barrier=False):
        self.kind, self.parts = kind, parts  # "if" (one or two parts), "loop", "block", "plain"
        self.barrier = barrier or any(p.barrier for p in parts)
        self.loop = kind == "loop" or any(p.loop for p in parts)


class Parser:
    """Statements of a function's body; `barriers`: functions that hold one."""

    def __init__(self, tokens, barriers):
        self.t, self.i, self.barriers = tokens, 0, barriers

    def group(self):
        """The tokens of a bracket that opens here."""
        depth, start = 0, self.i
        while True:
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(self.t[self.i], 0)
            self.i += 1
            if not depth:
                return self.t[start:self.i]

    def has_barrier(self, tokens):
        return any(t in self.barriers for t in tokens)

    def statement(self):
        word = self.t[self.i]
        if word == "{":
            self.i += 1
            parts = []
            while self.t[self.i] != "}":
                parts.append(self.statement())
            self.i += 1
            return Statement("block", parts)
        self.i += 1
        if word == "if":
            barrier = self.has_barrier(self.group())
            parts = [self.statement()]
            if self.i < len(self.t) and self.t[self.i] == "else":
                self.i += 1
                parts.append(self.statement())
            return Statement("if", parts, barrier)
        if word in ("for", "while"):
            barrier = self.has_barrier(self.group())
            return Statement("loop", [self.statement()], barrier)
        if word == "do":
            part = self.statement()
            self.i += 1
            barrier = self.has_barrier(self.group())
            self.i += 1
            return Statement("loop", [part], barrier)
        if word == "switch":
            self.group()
            return self.statement()
        self.i -= 1
        start = self.i
        while self.t[self.i] != ";":
            if self.t[self.i] in "([{":
                self.group()
            else:
                self.i += 1
        self.i += 1
        return Statement("plain", (), self.has_barrier(self.t[start:self.i]))


def functions(tokens):
    """(name, tokens of the body) of each."""
    p, i = Parser(tokens, ()), 0
    while i < len(tokens):
        if tokens[i] == "(":
            name, p.i = tokens[i - 1], i
            p.group()
            i = p.i
            if i < len(tokens) and tokens[i] == "{":
                body = p.group()
                i = p.i
                yield name, body
        elif tokens[i] == "{":
            p.i = i
            p.group()
            i = p.i
        else:
            i += 1


def flat(statement):
    """The statements of a loop's body or an arm, one after the other."""
    return [s for part in statement.parts for s in flat(part)] if statement.kind == "block" else [statement]


def faults(statement):
    found = sum(faults(p) for p in statement.parts)
    if statement.kind == "loop" and statement.barrier:
        body = flat(statement.parts[0])
        for at, s in enumerate(body):
            if s.kind == "if" and len(s.parts) == 2 and all(p.loop for p in s.parts) and any(n.barrier for n in body[at + 1:]):
                found += 1
    return found


def check(path):
    """Names of the functions that have the form, in any variant."""
    variants = re.findall(r"// variant:(.*)", path.read_text()) or [""]
    bad = {}
    for variant in variants:
        defines = "\n".join("#define " + d.replace("=", " ", 1) for d in variant.split())
        tokens, barriers = TOKEN.findall(expanded(path, defines)), {"barrier"}
        for name, body in functions(tokens):
            whole = Parser(body, barriers).statement()
            if whole.barrier:
                barriers.add(name)
            if faults(whole):
                bad[name] = variant.strip()
    return bad


def main():
    files = [pathlib.Path(f).resolve() for f in sys.argv[1:]]
    if not files:
        known = check(ROOT / "tests/data/kernels/branches.cl")
        if set(known) != {"bad", "bad_chain"}:
            sys.exit(f"kernel_lint: finds {sorted(known)} in branches.cl, wants bad and bad_chain")
        files = [f for f in sorted((ROOT / "src").rglob("*.cl")) if not re.search(r"\.h\.cl$|/prelude_|codegen/kernels/", str(f))]
    status = 0
    for path in files:
        for name, variant in check(path).items():
            print(f"{path}: {name}: if/else with loops in both arms before a barrier, in a loop that holds barriers; write two "
                  f"loops with the condition in the loop's{f' (variant: {variant})' if variant else ''}")
            status = 1
    print(f"{len(files)} texts")
    return status


sys.exit(main())
