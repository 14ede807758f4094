# SPDX-License-Identifier: BSD-3-Clause
"""Runs the command and checks what it says: t8NN_<name>.py COMMAND. Standard library only."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback

BINARY = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = os.environ.get("KUGEL_TEST_SHARED", os.path.join(HERE, "../../../shared/data"))
SHARE = os.path.join(HERE, "../../share/data")
REGOLD = os.environ.get("KUGEL_REGOLD")  # set: write the golden files instead of comparing


# A shell's background jobs ignore the first, those of nohup the second, and so would the commands that these tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Skip(Exception):
    pass


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}---"


def kugel(*words, cwd=None, env=None):
    """Runs the command to its end."""
    done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, cwd=cwd, timeout=300,
                          env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL)
    return Result(done)


def ok(*words, **keys):
    """Runs the command, which must succeed and say nothing on stderr."""
    r = kugel(*words, **keys)
    assert r.code == 0 and not r.err, f"kugel {' '.join(map(str, words))}: {r}"
    return r


def refused(code, *words, says=None, **keys):
    """Runs the command, which must fail with `code` and one line on stderr that holds `says`."""
    r = kugel(*words, **keys)
    assert r.code == code, f"want exit {code}: {r}"
    assert r.err.count("\n") == 1 and r.err.endswith("\n"), f"want one line on stderr: {r}"
    assert says is None or says in r.err, f"want {says!r}: {r}"
    return r


def interrupted(*words, number=signal.SIGINT, ignored=False):
    """Runs the command and sends a signal when it has reported progress, however slow the machine; exit code and stderr without
    reports of progress. ignored: the command inherits that the signal is ignored."""
    p = subprocess.Popen([BINARY, *map(str, words), "--progress", "json"], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                         preexec_fn=(lambda: signal.signal(number, signal.SIG_IGN)) if ignored else None)
    first = p.stderr.readline()
    p.send_signal(number)
    _, rest = p.communicate(timeout=60)
    return p.returncode, "".join(x for x in (first + rest).splitlines(True) if not x.startswith("{"))


def sanitized():
    """Sanitizers keep memory of their own."""
    with open(BINARY, "rb") as f:
        text = f.read()
    return b"__asan_init" in text or b"__tsan_init" in text


def shared(path):
    """A file of the optional data folder."""
    """A golden file: of tests/data/golden, or of the larger data folder beside a checkout."""
    for folder in (os.path.join(HERE, "../data/golden"), SHARED):
        full = os.path.join(folder, path)
        if os.path.exists(full):
            return full
    raise Skip(f"{path} is not there")


def golden(name, text):
    """Compares with tests/cli/golden/<name>."""
    path = os.path.join(HERE, "golden", name)
    if REGOLD:
        with open(path, "w") as f:
            f.write(text)
        return
    with open(path) as f:
        want = f.read()
    assert text == want, f"differs from golden/{name} (KUGEL_REGOLD=1 rewrites it):\n{text}"


def need_opencl():
    devices = ok("info", "--json").json["devices"]
    if not any(d["name"] == "opencl:0" and d["available"] for d in devices):
        assert "opencl" not in os.environ.get("KUGEL_TEST_NEED", "").split(","), \
            "KUGEL_TEST_NEED names opencl, but opencl:0 is not usable here"
        raise Skip("no OpenCL device")


def main(cases):
    """Runs the functions in `cases`, each in an empty folder; prints a line for each and the count."""
    count = {"ok": 0, "FAIL": 0, "skip": 0}
    for case in cases:
        verdict = "ok"
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                case()
            except Skip as why:
                verdict = "skip"
                print(f"  skipped: {why}")
            except Exception:
                verdict = "FAIL"
                traceback.print_exc(file=sys.stdout)
            os.chdir("/")
        count[verdict] += 1
        print(f"{verdict:4s} {case.__name__}")
    print(f"{count['ok']} passed, {count['FAIL']} failed, {count['skip']} skipped")
    sys.exit(1 if count["FAIL"] else 77 if not count["ok"] else 0)
