# SPDX-License-Identifier: BSD-3-Clause
"""The command under mpirun, for the tests that start it so."""
import os
import shutil
import subprocess
from harness import *

LAUNCHERS = {"Open MPI": ["mpirun.openmpi", "--oversubscribe"], "MPICH": ["mpirun.mpich"]}
ENV = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "LSAN_OPTIONS": "detect_leaks=0"}


def mpirun(name, n, *words, env=None, program=BINARY):
    launcher = LAUNCHERS[name]
    if not shutil.which(launcher[0]):
        if "mpi" in os.environ.get("KUGEL_TEST_NEED", ""):
            raise AssertionError(f"{name} is not installed")
        raise Skip(f"{name} is not installed")
    done = subprocess.run(launcher + ["-n", str(n), program, *map(str, words)], capture_output=True, text=True,
                          env={**os.environ, **ENV, **(env or {})}, stdin=subprocess.DEVNULL, timeout=200)
    return Result(done)


def bytes_of(path):
    with open(path, "rb") as f:
        return f.read()
