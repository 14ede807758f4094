# SPDX-License-Identifier: BSD-3-Clause
"""Words in, help, errors and exit codes out."""
import subprocess
import time
from harness import *


def version():
    assert ok("--version").out.startswith("kugel 0.")


def overview():
    golden("help.txt", ok("--help").out)
    assert ok("help").out == ok("-h").out == ok("--help").out
    assert kugel().code == 2


def info_of_this_machine():
    assert "instructions" in ok("info").out
    j = ok("info", "--json", "--threads", "1").json
    assert j["status"] == "done" and j["threads"] == 1 and j["devices"][0]["name"] == "cpu"


def unknown_words():
    refused(2, "inof", says='unknown command "inof" (did you mean info?)')
    refused(2, "xyzzy", says="see kugel --help")
    refused(2, "info", "--jsn", says="unknown option --jsn (did you mean --json?)")
    refused(2, "info", "--xyzzy", says="see kugel info --help")
    refused(2, "info", "-Z", says="unknown option -Z")
    refused(2, "help", "inof", says="did you mean info?")


def wrong_values():
    refused(2, "info", "--threads", says="--threads needs a value: --threads N")
    refused(2, "info", "--threads", "--json", says="--threads needs a value")
    refused(2, "info", "--threads", "two", says="--threads two: needs a whole number")
    refused(2, "info", "--threads", "0", says="--threads 0: must be from 1 to 4096")
    refused(2, "info", "--threads=99999999999999999999", says="must be from 1 to 4096")
    refused(2, "info", "--threads", "1", "--threads", "2", says="--threads is given twice")
    refused(2, "info", "--json=yes", says="--json takes no value")
    refused(2, "info", "-qx", says="-q takes no value")


def error_object():
    r = refused(2, "info", "--json", "--threads", "0")
    assert r.json["status"] == "failed" and "from 1 to 4096" in r.json["error"]


def start_up_time():
    times = []
    for _ in range(9):
        start = time.perf_counter()
        subprocess.run([BINARY, "--version"], stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    assert sorted(times)[2] < 0.030 or "asan" in BINARY or "tsan" in BINARY, times


main([version, overview, info_of_this_machine, unknown_words, wrong_values, error_object, start_up_time])
