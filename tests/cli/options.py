# SPDX-License-Identifier: BSD-3-Clause
"""Words in, help, errors and exit codes out."""
import os
import resource
import shutil
import subprocess
from harness import *


def version():
    assert ok("--version").out.startswith("kugel 0.")


def overview():
    golden("help.txt", ok("--help").out)
    assert ok("help").out == ok("-h").out == ok("--help").out
    assert kugel().code == 2


def commands():
    lines = ok("--help").out.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    return [line.split()[0] for line in lines]


def help_of_each_command():
    for c in commands():
        text = ok(c, "--help").out
        golden(f"help-{c}.txt", text)
        assert f"  kugel {c}" in text.split("Examples:\n")[1], "there are examples"
        assert ok("help", c).out == text and ok(c, "-h", "--nonsense").out == text
        assert max(map(len, text.split("Examples:")[0].splitlines())) <= 80


def manual_and_completion():
    cli = os.path.join(HERE, "../../cli")
    for words, name in (["--man"], "kugel.1"), (["--completion", "bash"], "kugel.bash"), (["--completion", "zsh"], "kugel.zsh"), \
            (["--completion", "fish"], "kugel.fish"):
        made = ok("help", *words).out
        path = os.path.join(cli, name)
        if REGOLD:
            with open(path, "w") as f:
                f.write(made)
        with open(path) as f:
            assert f.read() == made, f"cli/{name} is old: KUGEL_REGOLD=1 rewrites it"
    refused(2, "help", "--completion", "csh", says="bash, zsh or fish")
    refused(2, "help", "--completion", says="bash, zsh or fish")
    script = f"source {os.path.join(cli, 'kugel.bash')}; COMP_WORDS=(kugel smooth --weights r); COMP_CWORD=3; _kugel; " \
             "echo ${COMPREPLY[*]}; COMP_WORDS=(kugel sm); COMP_CWORD=1; _kugel; echo ${COMPREPLY[*]}"
    if "smooth" in commands():
        assert subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout == "ring\nsmooth\n"
    other_shells(os.path.join(cli, "kugel.zsh"), os.path.join(cli, "kugel.fish"))


def other_shells(zsh, fish):
    """Every command and option is there; the shells, where they are installed, can read the files."""
    with open(zsh) as f, open(fish) as g:
        texts = f.read(), g.read()
    for c in commands():
        assert f"\n  {c})" in texts[0] and f"-a {c} " in texts[1], c
    for text, want in zip(texts, ("--weights=}'[", "smooth' -l weights -s w -x -a 'equal ring pixel'")):
        assert want in text
    if shutil.which("zsh"):
        assert subprocess.run(["zsh", "-n", zsh]).returncode == 0
    if shutil.which("fish"):
        script = f"source {fish}; complete -C 'kugel smooth --weights r'; complete -C 'kugel smo'"
        done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True)
        if done.returncode == 0:
            assert [line.split("\t")[0] for line in done.stdout.splitlines()][::1] == ["ring", "smooth"], done.stdout


def examples_parse():
    """Every example of --help gets past the parser: what it lacks are its files."""
    import shlex
    for c in commands():
        for line in ok(c, "--help").out.split("Examples:\n")[1].splitlines():
            words = shlex.split(line)[1:]
            if c != "bench" and len(words) > 1:
                r = kugel(*words, "--dry-run")
                assert r.code == 1 or r.code == 0, (line, r)


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
    for size in "-8e99", "8e99", "-1", "nan":
        refused(2, "smooth", "in.fits", "out.fits", "--fwhm", "1deg", "--mem", size, says="--mem")
    refused(2, "info", "-qx", says="-q takes no value")


def error_object():
    r = refused(2, "info", "--json", "--threads", "0")
    assert r.json["status"] == "failed" and "from 1 to 4096" in r.json["error"]


def start_up_time():
    """Of the processor, the least of nine: other processes on the machine count little."""
    times = []
    for _ in range(9):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([BINARY, "--version"], stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times) < 0.030 or "asan" in BINARY or "tsan" in BINARY, times


main([version, overview, help_of_each_command, manual_and_completion, examples_parse, info_of_this_machine, unknown_words, wrong_values, error_object, start_up_time])
