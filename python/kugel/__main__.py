# SPDX-License-Identifier: BSD-3-Clause
"""The command `kugel` of the wheel, and `python -m kugel`: replaces this process by the program that lies in the package."""
import os
import pathlib
import sys


def _program():
    package = pathlib.Path(__file__).resolve().parent
    root = package.parents[1]
    for path in (package / "bin" / "kugel", root / "build" / "release" / "kugel", root / "build" / "wheel" / "kugel"):
        if path.is_file():
            return str(path)
    return None


def main():
    """Runs the program with this process's arguments."""
    program = _program()
    if not program:
        sys.exit("kugel: this installation has the Python package only; build the command by CMake (target kugel_command), or "
                 "install the wheel")
    os.execv(program, ["kugel", *sys.argv[1:]])


if __name__ == "__main__":
    main()
