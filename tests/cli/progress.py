# SPDX-License-Identifier: BSD-3-Clause
# LABEL: alone
"""How far a run is, on a terminal and for programs: against the CPU time spent; never back, 100 % only at the end."""
import os
import pty
import re
import resource
import select
import npyfile
from harness import *

TICK = os.sysconf("SC_CLK_TCK")
SLOW = "asan" in BINARY or "tsan" in BINARY


def cpu_of(pid):
    with open(f"/proc/{pid}/stat") as f:
        field = f.read().rsplit(")", 1)[1].split()
    return (int(field[11]) + int(field[12])) / TICK


def on_terminal(*words):
    """Runs the command on a pseudo-terminal; returns (CPU seconds, fraction) of each drawn bar, all CPU seconds, exit code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(BINARY, [BINARY, *map(str, words)])
    seen, text = [], b""
    while True:
        if select.select([fd], [], [], 1)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:
                break
            if not data:
                break
            text += data
            drawn = re.findall(rb"\] +(\d+) %", data)
            if drawn:
                seen.append((cpu_of(pid), int(drawn[-1]) / 100))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seen, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, code, text


def judge(words, least):
    """Runs the command until a bar follows the CPU time, ten times at most: other processes slow parts of a run down, never
    speed them up. Order and range hold in every run."""
    name = " ".join(map(str, words[:3]))
    for _ in range(10):
        seen, total, code, text = on_terminal(*words, "--overwrite", "--threads", 2)
        assert code == 0, (words, text)
        if total <= least:
            return
        fractions = [f for _, f in seen]
        assert fractions == sorted(fractions), (name, fractions)
        assert max(fractions) < 1, (name, fractions)
        worst = max(abs(f - cpu / total) for cpu, f in seen)
        print(f"  {name}: {total:.2f} s of CPU, {len(seen)} drawn, off by at most {worst:.2f}")
        if SLOW or worst < 0.25:
            return
    assert False, (name, [(round(c / total, 2), f) for c, f in seen])


def bars():
    with open("cl.txt", "w") as f:
        f.write("\n".join(str(1 / max(l, 2) ** 2) for l in range(1200)))
    small = 8 if SLOW else 1  # under sanitizers the bars are small, and only never go back
    ok("synfast", "cl.txt", "sky.fits", "--nside", 1024 // small, "--f32", "--lmax", 1000 // small)
    for words in (["smooth", "sky.fits", "o.fits", "--fwhm", "10arcmin", "--lmax", 1500 // small],
                  ["smooth", "sky.fits", "o.fits", "--fwhm", f"{20 * small}arcmin", "--method", "direct", "--mem", "300M" if SLOW else "60M"],
                  ["smooth", "sky.fits", "o.fits", "--fwhm", "1deg", "--method", "rings"],
                  ["map2alm", "sky.fits", "o.fits", "--lmax", 1500 // small, "--iter", 1],
                  ["synfast", "cl.txt", "o.fits", "--nside", 1024 // small, "--f32"],
                  ["regrid", "sky.fits", "o.fits", "--nside", 700 // small, "--lmax", 1400 // small]):
        judge(words, 0.8)  # seconds: the clock of processes ticks a hundred times a second


def bar_of_several_axes():
    """Each axis is a part of the whole: the bar does not stand at its end while the others are transformed."""
    n = (64, 61, 67) if SLOW else (383, 211, 307)
    npyfile.write("x.npy", (1,), [0j], "<c8")
    with open("x.npy", "rb") as f:
        head = f.read()[10:-8].decode()
    head = head.replace("(1,)", str(n)).rstrip()
    with open("x.npy", "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + bytes([118, 0]) + head.ljust(117).encode() + b"\n")
        f.truncate(128 + 8 * n[0] * n[1] * n[2])
    for words in ["fft", "x.npy", "y.npy"], ["fft", "x.npy", "y.npy", "--kind", "c2c", "--inverse", "--axes", "2,0"]:
        judge(words, 0.4)


def bar_of_pixel_weights():
    """They take most of the run the first time, and report themselves; the second time they are kept."""
    env = {"KUGEL_CACHE": os.path.join(os.getcwd(), "cache")}
    n = 32 if SLOW else 256
    with open("cl.txt", "w") as f:
        f.write("\n".join(str(1 / max(l, 2) ** 2) for l in range(n)))
    ok("synfast", "cl.txt", "sky.fits", "--nside", n)
    for command in ["map2alm", "sky.fits", "a.fits"], ["anafast", "sky.fits", "c.fits"], \
                   ["rotate", "sky.fits", "r.fits", "--euler", "1deg,2deg,3deg"]:
        r = kugel(*command, "--weights", "pixel", "--iter", 0, "--progress", "json", "--quiet", env=env)
        lines = [json.loads(line) for line in r.err.splitlines()]
        weights = [x["fraction"] for x in lines if x["stage"] == "pixel weights"]
        assert r.code == 0 and [x["fraction"] for x in lines] == sorted(x["fraction"] for x in lines)
        if command[0] == "map2alm" and lines[-1]["elapsed_seconds"] > 1.5:
            assert len(weights) > 3 and max(weights) > 0.5 and len(set(weights)) > 3, lines


def lines_for_programs():
    npyfile.write("x.npy", (64,), [1.0] * 64, "<f8")
    r = kugel("fft", "x.npy", "y.npy", "--progress", "json", "--quiet")
    lines = [json.loads(line) for line in r.err.splitlines()]
    assert r.code == 0 and lines[-1]["fraction"] == 1 and lines[-1]["stage"] == "done", r
    with open("cl.txt", "w") as f:
        f.write("\n".join(str(1 / max(l, 2) ** 2) for l in range(1200)))
    r = kugel("synfast", "cl.txt", "sky.fits", "--nside", 1024, "--progress", "json", "--json")
    lines = [json.loads(line) for line in r.err.splitlines()]
    assert r.code == 0 and r.json["status"] == "done" and len(lines) >= 2
    assert [x["fraction"] for x in lines] == sorted(x["fraction"] for x in lines)
    assert all(set(x) >= {"fraction", "stage", "elapsed_seconds"} for x in lines)
    assert ok("smooth", "sky.fits", "o.fits", "--fwhm", "1deg").code == 0, "no bar where stderr is not a terminal"
    refused(2, "fft", "x.npy", "y.npy", "--progress", "dots", says="--progress")


main([bars, bar_of_several_axes, bar_of_pixel_weights, lines_for_programs])
