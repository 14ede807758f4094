# SPDX-License-Identifier: BSD-3-Clause
"""Words in, help, errors and exit codes out."""
import os
import resource
import shutil
import subprocess
import tempfile
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
    with open(os.path.join(cli, "kugel.zsh")) as zsh, open(os.path.join(cli, "kugel.fish")) as fish:
        texts = zsh.read(), fish.read()
    for c in commands():
        assert f"\n  {c})" in texts[0] and f"-a {c} " in texts[1], c


# What a line completes to, the same in every shell: choices, options of free text with known words, operands, commands.
COMPLETES = [
    ("kugel smooth --weights r", "ring"), ("kugel smooth -w r", "ring"), ("kugel smooth --weights=r", "ring"), ("kugel sm", "smooth"),
    ("kugel help sm", "smooth"), ("kugel plot --colors v", "viridis viridis_r"), ("kugel mip --colors=mag", "magma magma_r"),
    ("kugel ball -m gre", "grey grey_r"), ("kugel smooth --device cp", "cpu"), ("kugel plot --coord G", "GC GE"),
    ("kugel convolve --plan d", "dif"), ("kugel deconvolve --background a", "auto"), ("kugel psf conf", "confocal"), ("kugel ball sp", "spectrum")]


def in_bash(cli, line):
    words = line.replace("=", " = ").split(" ")
    script = f"source '{cli}/kugel.bash'; COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _kugel; echo ${{COMPREPLY[*]}}"
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout.split()


def in_zsh(cli, line):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(f"{cli}/kugel.zsh", f"{folder}/_kugel")
        done = subprocess.run(["zsh", "-f", f"{HERE}/complete.zsh", folder, line], capture_output=True, text=True, timeout=120)
    return done.stdout.split()


def in_fish(cli, line):
    done = subprocess.run(["fish", "--no-config", "-c", f"source '{cli}/kugel.fish'; complete -C '{line}'"], capture_output=True, text=True)
    return [found.split("\t")[0].split("=")[-1] for found in done.stdout.splitlines()]


def values_complete():
    cli, here = os.path.join(HERE, "../../cli"), commands()
    for shell, complete in ("bash", in_bash), ("zsh", in_zsh), ("fish", in_fish):
        for line, want in COMPLETES if shutil.which(shell) else []:
            if line.split()[1] in here + ["help", "sm"] and "smooth" in here:
                found = complete(cli, line)
                assert sorted(found) == want.split(), (shell, line, found)


def completed_words_are_taken():
    """What the shells offer where any text may stand is what the commands know."""
    bash = ok("help", "--completion", "bash").out
    offered = lambda c, pattern: bash.split(f"\n  {c})\n")[1].split(f"    {pattern}) ")[1].split('"')[1].split()
    if "plot" in commands():
        known = kugel("plot", f"{SHARE}/wmap7_w_band_nside32.fits", "x.png", "--colors", "spam").err.split("there are ")[1].split(", each also")[0]
        assert offered("plot", "-m | --colors") == [name + end for name in known.split(", ") for end in ("", "_r")]
    if "psf" in commands():
        assert offered("psf", "psf") == kugel("psf", "spam", "a.tif").err.split("there are ")[1].strip().split("|")
    if "ball" in commands():
        verbs = kugel("ball", "spam", "a.npy", "b.npy").err
        assert all(verb in verbs for verb in offered("ball", "ball")), verbs
    if "convolve" in commands():
        plans = kugel("convolve", "a.tif", "b.tif", "c.tif", "--plan", "spam").err
        assert all(plan in plans for plan in offered("convolve", "--plan")), plans


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


main([version, overview, help_of_each_command, manual_and_completion, values_complete, completed_words_are_taken, examples_parse, info_of_this_machine, unknown_words, wrong_values, error_object, start_up_time])
