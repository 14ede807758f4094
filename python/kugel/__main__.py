# SPDX-License-Identifier: BSD-3-Clause
"""The command `kugel` of the wheel, and `python -m kugel`: replaces this process by the program that lies in the package."""
import os
import pathlib
import sys


def _program():
    package = pathlib.Path(__file__).resolve().parent
    root = package.parents[1]
    for path in (package / "bin" / "kugel", root / "build" / "release" / "kugel", root / "build" / "wheel" / "kugel",
                 pathlib.Path(sys.prefix) / "bin" / "kugel"):  # the last: of conda and `cmake --install`, unless it is pip's script
        if path.is_file():
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
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
