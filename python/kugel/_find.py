# SPDX-License-Identifier: BSD-3-Clause
"""Where libkugel.so may lie. Imports os alone, because `import kugel` runs it."""
import os


def files():
    """The paths of libraries that are there, the one to take first."""
    chosen = os.environ.get("KUGEL_LIBRARY")
    if chosen:
        return [chosen] if os.sep not in chosen or os.path.exists(chosen) else []
    package = os.path.dirname(os.path.realpath(__file__))
    build = os.path.join(os.path.dirname(os.path.dirname(package)), "build")  # of a source tree, which editable installs use in place
    places = (os.path.join(folder, "libkugel.so") for folder in (os.path.join(package, "lib"), os.path.join(build, "release"),
                                                               os.path.join(build, "wheel")))
    return [place for place in places if os.path.exists(place)]


def candidates():
    """What to hand to the loader, in this order."""
    chosen = os.environ.get("KUGEL_LIBRARY")
    return [chosen] if chosen else files() + ["libkugel.so"]
