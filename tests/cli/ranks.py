# SPDX-License-Identifier: BSD-3-Clause
"""The command under mpirun: the bytes of one process, one voice, one exit code. LABEL: long"""
import json
import math
import os
import shutil
import signal
import subprocess
import time
import npyfile
from harness import *
from launch import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")


def same_bytes(name, n):
    """The name of an output stands in its history, so both have the same one."""
    jobs = [("smooth", SKY, "o.fits", "--fwhm", "5deg", "--lmax", 64), ("anafast", SKY, "o.txt", "--lmax", 64),
            ("smooth", SKY, "o.fits", "--fwhm", "5deg", "--method", "direct"), ("alm2map", "a.fits", "o.fits", "--nside", 64),
            ("synfast", "c.txt", "o.fits", "--nside", 32, "--seed", 3), ("reorder", SKY, "o.fits", "--to", "nested"),
            ("filter", SKY, "o.fits", "--width", "4deg", "--method", "rings"),
            ("ball", "synthesis", "c.npy", "o.npy", "--vector"), ("ball", "analysis", "f.npy", "o.npy", "--lmax", 9)]
    npyfile.write("c.npy", (3, 55, 6), [complex(math.sin(i), math.cos(3 * i)) for i in range(3 * 55 * 6)], "<c16")
    npyfile.write("f.npy", (14, 12, 20), [math.sin(i * i) for i in range(14 * 12 * 20)], "<f8")
    ok("map2alm", SKY, "a.fits", "--lmax", 64, "--overwrite", "--quiet")
    with open("c.txt", "w") as f:
        f.writelines(f"{l} {1 / (1 + l) ** 2}\n" for l in range(65))
    for job in jobs:
        r = mpirun(name, n, *job, "--quiet")
        assert r.code == 0 and not r.out and not r.err, r
        out = next(w for w in job if str(w).startswith("o."))
        got = bytes_of(out)
        os.remove(out)
        ok(*job, "--quiet")
        assert bytes_of(out) == got, job
        os.remove(out)


def test_open_mpi():
    same_bytes("Open MPI", 4)


def test_mpich():
    same_bytes("MPICH", 3)


def tree(folder):
    return {os.path.relpath(os.path.join(at, f), folder): bytes_of(os.path.join(at, f)) for at, _, files in os.walk(folder) for f in files}


def test_zarr():
    """Each process reads, convolves and writes its planes: the files of one process, one writer per chunk."""
    npyfile.write("z.npy", (70, 40, 44), [20 + 15 * math.sin(i * i) for i in range(70 * 40 * 44)], "<f4")
    npyfile.write("h.npy", (5, 5, 5), [6 - abs(i % 5 - 2) - abs(i // 5 % 5 - 2) - abs(i // 25 - 2) for i in range(125)], "<f4")
    ok("convert", "z.npy", "z.zarr", "--chunk", "16,20,20", "--quiet")
    words = ["convolve", "z.zarr", "h.npy", "o.zarr", "--quiet"]
    ok(*words)
    want = tree("o.zarr")
    assert len(want) > 3
    shutil.rmtree("o.zarr")
    ok(*words, "--ranks")
    assert tree("o.zarr") == want
    shutil.rmtree("o.zarr")
    ok(*words, "--ranks", "--plan", "tiles")
    tiles = tree("o.zarr")
    shutil.rmtree("o.zarr")
    for name in LAUNCHERS:
        r = mpirun(name, 3, *words, "--ranks", "--plan", "tiles")
        assert r.code == 0 and tree("o.zarr") == tiles, r
        shutil.rmtree("o.zarr")
        r = mpirun(name, 3, *words[:-1], "--ranks", "--dry-run", "--json")
        line = json.loads(r.out)
        assert line["plan"] == "global" and line["tiles_seconds"] > 0 and line["dry_run"] and not os.path.exists("o.zarr"), line
        r = mpirun(name, 3, *words, "--ranks")
        assert r.code == 0 and not r.out and not r.err and tree("o.zarr") == want, r
        shutil.rmtree("o.zarr")
        r = mpirun(name, 3, "convolve", "z.zarr", "nowhere.npy", "o.zarr", "--ranks")
        assert r.code == 1 and r.err.count("nowhere.npy") == 1 and not os.path.exists("o.zarr"), r
        r = mpirun(name, 2, "convolve", "z.zarr", "h.npy", "o.tif", "--ranks")
        assert r.code == 1 and r.err.count("is no Zarr") == 1 and not os.path.exists("o.tif"), r
    refused(2, *words, "--ranks", "--mem", "1G", says="without --mem")
    refused(2, *words, "--ranks", "--plan", "pencil", says="auto, tiles or global")


def test_full_disk():
    """Of one rank alone, which writes the last pixels: all fail, and there is no file. MPICH's own files in memory do not fit then."""
    launcher = LAUNCHERS["Open MPI"]
    if not shutil.which(launcher[0]):
        raise Skip("Open MPI is not installed")
    script = 'trap "" XFSZ; [ "$OMPI_COMM_WORLD_RANK" = 2 ] && ulimit -f 40; exec "$@"'
    words = launcher + ["-n", "3", "sh", "-c", script, "sh", BINARY, "smooth", SKY, "o.fits", "--fwhm", "5deg", "--lmax", "32"]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **ENV}, stdin=subprocess.DEVNULL, timeout=100)
    assert done.returncode == 1 and done.stderr.count("rank 2: cannot write") == 1, done
    assert not [f for f in os.listdir(".") if f.startswith("o.fits") or f.startswith(".o.fits")], os.listdir(".")
    npyfile.write("x.npy", (64, 40, 40), [20 + 15 * math.sin(i * i) for i in range(64 * 40 * 40)], "<f4")
    npyfile.write("h.npy", (3, 3, 3), [1] * 27, "<f4")
    ok("convert", "x.npy", "x.zarr", "--chunk", "16,20,20", "--quiet")
    for rank, job in ((0, ["deconvolve", "x.npy", "h.npy", "o.npy", "--plan", "halo", "--iter", "1"]),
                      (1, ["convolve", "x.zarr", "h.npy", "o.zarr", "--ranks"])):
        words[6] = script.replace("= 2", f"= {rank}").replace("-f 40", "-f 8")
        done = subprocess.run(words[:9] + job, capture_output=True, text=True, env={**os.environ, **ENV}, stdin=subprocess.DEVNULL, timeout=100)
        assert done.returncode == 1 and done.stderr.count("cannot write") == 1, done
        assert sorted(os.listdir(".")) == ["h.npy", "x.npy", "x.zarr"], os.listdir(".")


def test_one_voice():
    for name in LAUNCHERS:
        r = mpirun(name, 2, "info", "--ranks")
        assert r.code == 0 and r.out.count("ranks  ") == 1 and "2 ranks on 1 host; " in r.out, r
        r = mpirun(name, 2, "smooth", "nowhere.fits", "o.fits", "--fwhm", "1deg")
        assert r.code == 1 and r.err.count("cannot open") == 1, r
        r = mpirun(name, 2, "smoth")
        assert r.code == 2 and r.err.count("did you mean smooth?") == 1, r


def test_exchange():
    for name in LAUNCHERS:
        r = mpirun(name, 2, "bench", "exchange:bytes=1000", "--seconds", "0")
        assert r.code == 0 and '"bytes_sent_per_rank": 1000,' in r.out and '"model_seconds"' in r.out, r


def test_bench():
    """Times of transforms over ranks, which closed forms check on all of them."""
    for name in LAUNCHERS:
        for problem, most in (("sht:nside=32", 1e-12), ("sht:nside=32,dir=adjoint", 1e-12), ("sht:rows=33,dtype=f32,mmax=9", 1e-6),
                              ("fft:n=12,n2=10", 1e-15), ("fft:n=2,n2=10,n3=12,kind=r2c", 1e-15)):
            r = mpirun(name, 3, "bench", "--ranks", problem, "--seconds", "0")
            assert r.code == 0 and r.out.count("ranks_are") == 1, r
            line = json.loads(r.out)
            assert line["ranks"] == 3 and 0 < line["error"] < most and line["median_seconds"] > 0, line
        r = mpirun(name, 4, "bench", "--ranks", "fft:n=9,n2=8", "fft:n=12,n2=10,n3=9,grid=2", "--threads", "3", "--seconds", "0")
        line = json.loads(r.out.splitlines()[1])
        assert line["grid_rows"] == line["grid_columns"] == 2 and line["error"] < 1e-15 and line["threads"] == 3, r
        r = mpirun(name, 2, "bench", "--ranks", "sht:nside=16,spin=2")
        assert r.code == 2 and r.err.count("spin 0") == 1, r


def test_plan():
    one, many = (json.loads(ok("plan", "--nside", 32, "--ranks", n, "--json").out) for n in (1, 4))
    assert one["exchanged_bytes"] == 0 and one["exchange_seconds"] == 0
    # 4 nside - 1 rings, lmax + 1 orders, 16 bytes each; three quarters go to other processes
    assert 0.9 < many["exchanged_bytes"] / (16 * 127 * 65 * 0.75) <= 1, many
    line = json.loads(ok("plan", "--fft", "64,48,40", "--dtype", "f32", "--ranks", 96, "--hosts", 4, "--json").out)
    assert line["grid_rows"] * line["grid_columns"] == 96 and line["grid_columns"] > 1 and line["kind"] == "r2c", line
    part = 64 * 48 * 21 * 8 / 96
    assert abs(line["exchanged_bytes_per_rank"] / part - (2 - 1 / line["grid_rows"] - 1 / line["grid_columns"])) < 0.01, line
    assert 0 < line["exchange_seconds"] < line["seconds"], line
    line = json.loads(ok("plan", "--nside", 16384, "--lmax", 32768, "--ranks", 64, "--hosts", 8, "--alone", 3.76, "--inside", 259, "--outside", 400, "--json").out)
    assert line["seconds_of_one_process"] == 3.76 and abs(line["compute_seconds"] - 3.76 / 64) < 1e-9 and 0.9 < line["efficiency"] < 1, line
    many = ("plan", "--nside", 16384, "--lmax", 32768, "--ranks", 1024, "--hosts", 128, "--alone", 3.76)
    line, far = json.loads(ok(*many, "--json").out), json.loads(ok(*many, "--gpu", "--json").out)
    assert "exchange_steps" not in line and far["exchange_steps"] == 2 and far["exchange_seconds"] < line["exchange_seconds"] / 10, (line, far)
    assert 0.8 < far["efficiency"] < 1 and "first within hosts" in ok(*many, "--gpu").out, far
    few = json.loads(ok("plan", "--nside", 16384, "--lmax", 32768, "--ranks", 64, "--hosts", 8, "--alone", 3.76, "--gpu", "--json").out)
    assert few["exchange_steps"] == 1 and 0.9 < few["efficiency"] < 1, few
    refused(2, "plan", "--nside", 32, "--gpu", says="with --alone SECONDS")
    refused(2, "plan", "--fft", "64,64", "--gpu", "--alone", 1, says="--gpu goes with --nside")
    line = json.loads(ok("plan", "--fft", "64,48,40", "--ranks", 2, "--alone", 1, "--json").out)
    assert line["seconds_of_one_process"] == 1 and abs(line["compute_seconds"] - 0.5) < 1e-9, line
    assert "slabs" in ok("plan", "--fft", "64,48", "--kind", "c2c", "--ranks", 4).out
    refused(2, "plan", "--fft", "64", says="1 length, must be 2 to 8")
    refused(2, "plan", "--fft", "64,64", "--lmax", 3, says="goes without")
    refused(2, "plan", says="--nside is needed")
    refused(2, "plan", "--nside", 32, "--ranks", 3, "--hosts", 2, says="give a multiple")


def test_without_a_launcher():
    assert "1 rank on 1 host; one process" in ok("info", "--ranks").out
    r = refused(1, "info", env={"PMI_SIZE": "2", "PMI_RANK": "0", "KUGEL_MPI": "/nowhere/libmpi.so"}, says="KUGEL_MPI is")
    assert "libmpi.so" in r.err
    ok("info", env={"PMI_SIZE": "2", "PMI_RANK": "0", "KUGEL_RANKS": "self"})


def descendants(pid, rank):
    """Processes below pid that run the command; rank: the one that its launcher calls so."""
    below, found = {pid}, []
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as f:
                parents[int(name)] = int(f.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            pass
    for _ in range(4):
        below |= {child for child, parent in parents.items() if parent in below}
    for child in below - {pid}:
        try:
            with open(f"/proc/{child}/environ", "rb") as f:
                words = f.read().split(b"\0")
            ours = os.readlink(f"/proc/{child}/exe") == os.path.realpath(BINARY)
        except OSError:
            continue
        if ours and (rank is None or any(w in words for w in (b"OMPI_COMM_WORLD_RANK=%d" % rank, b"PMI_RANK=%d" % rank))):
            found.append(child)
    return found


def test_deconvolution():
    """In one piece, by halos, in tiles that iterate alone: the bytes of one process."""
    npyfile.write("x.npy", (64, 40, 40), [20 + 15 * math.sin(i * i) for i in range(64 * 40 * 40)], "<f4")
    npyfile.write("h.npy", (5, 5, 5), [6 - abs(i % 5 - 2) - abs(i // 5 % 5 - 2) - abs(i // 25 - 2) for i in range(125)], "<f4")
    words = ["deconvolve", "x.npy", "h.npy", "o.npy", "--iter", 4, "--quiet"]
    deep = ["--depths", "10,50"]
    npyfile.write("g.npy", (5, 5, 5), [6.5 - abs(i % 5 - 2) - abs(i // 5 % 5 - 2) - abs(i // 25 - 2) for i in range(125)], "<f4")
    for more in (["--method", "biggs"], ["--plan", "halo", "--method", "tv"], ["--mem", "19M", "--dtype", "u8"],
                 [*deep], ["--plan", "halo", *deep], ["--mem", "19M", *deep]):
        words[2] = "h.npy,g.npy" if deep[0] in more else "h.npy"
        ok(*words, *more)
        want = bytes_of("o.npy")
        os.remove("o.npy")
        for name in LAUNCHERS:
            r = mpirun(name, 3, *words, *more)
            assert r.code == 0 and not r.out and not r.err and bytes_of("o.npy") == want, (more, r)
            os.remove("o.npy")
    assert ok("deconvolve", "x.npy", "h.npy", "o.npy", "--mem", "19M", "--dry-run", "--json").json["images"][0]["tiles"] > 1
    words[2] = "h.npy"
    refused(2, *words, "--plan", "halo", "--mem", "1G", says="whole image")
    r = mpirun("MPICH", 2, "deconvolve", "x.npy", "x.npy", "o.npy", "--mem", "3M")
    assert r.code == 1 and r.err.count("--mem") == 1 and not os.path.exists("o.npy"), r


def wait_for(what, seconds=100):
    """Asks until the answer is true, and returns it."""
    end = time.monotonic() + seconds
    while not (answer := what()):
        assert time.monotonic() < end, "nothing came"
        time.sleep(0.002)
    return answer


def alive(pid):
    """Whether a process runs: those that ended and were not waited for do not."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def kill_rank_1(name, words, begun, done=lambda: False):
    """Starts a job of 3 processes and kills its rank 1 when begun() says so; true unless it was done before. Then none of its processes
    is left soon: launchers take a second or two."""
    launcher = LAUNCHERS[name]
    if not shutil.which(launcher[0]):
        raise Skip(f"{name} is not installed")
    ranks, victim = [], []
    with open("job.txt", "w+b") as said:
        p = subprocess.Popen(launcher + ["-n", "3", BINARY, *map(str, words)], stdout=subprocess.DEVNULL, stderr=said,
                             env={**os.environ, **ENV}, stdin=subprocess.DEVNULL)

        def now():  # ranks are found before one is to be killed: to look for them takes milliseconds, in which a job may end
            if len(ranks) < 3:
                ranks[:], victim[:] = descendants(p.pid, None), descendants(p.pid, 1)
            return p.poll() is not None or done() or (len(ranks) == 3 and victim and begun())
        wait_for(now)
        for child in victim:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:  # ended, and its launcher knows
                pass
        start = time.monotonic()
        p.wait(timeout=100)
        wait_for(lambda: not any(map(alive, ranks)))
        print(f"  {name}: {words[0]} ended {time.monotonic() - start:.1f} s after a rank")
    text = bytes_of("job.txt").decode(errors="replace")
    os.remove("job.txt")
    assert p.returncode == 0 or victim, text
    return p.returncode != 0


def until_killed(name, words, begun, again, done=lambda: False):
    """As kill_rank_1, from the beginning where the job was done before its rank was killed. again(failed) says so, checks what is there
    and removes it: a job whose rank dies between its part of the result and its exit has failed, and yet its result is complete."""
    for _ in range(20):
        if not again(kill_rank_1(name, words, begun, done)):
            return
    assert False, (name, words)


def test_killed():
    """A rank that is killed ends the job; --resume goes on with another number of ranks to the bytes of one process."""
    count, partial = 60 * 96 * 96, ".out.npy.kugel-partial"
    npyfile.write("a.npy", (60, 96, 96), [math.sin(i * i) for i in range(1009)] * (count // 1009) + [0] * (count % 1009), "<f4")
    npyfile.write("k.npy", (5, 9, 9), [math.cos(i) for i in range(405)], "<f4")
    words = ["convolve", "a.npy", "k.npy", "out.npy", "--mem", "20M", "--plan", "tiles", "--quiet"]
    ok(*words)
    want = bytes_of("out.npy")
    os.remove("out.npy")

    def complete(failed):
        if not os.path.exists("out.npy"):
            assert failed and os.path.getsize(partial), os.listdir(".")
            return False
        assert bytes_of("out.npy") == want
        os.remove("out.npy")
        if os.path.exists(partial):
            assert failed
            os.remove(partial)
        return True
    for name in LAUNCHERS:
        until_killed(name, [*words, "--resume"], lambda: os.path.exists(partial) and os.path.getsize(partial), complete)
        r = mpirun(name, 2, *words, "--resume")
        assert r.code == 0 and bytes_of("out.npy") == want, r
        os.remove("out.npy")


def test_killed_among_files():
    """Of processes that share out files: those that were finished stay, and --resume makes the others."""
    os.mkdir("maps")
    for i in range(6):
        shutil.copy(SKY, f"maps/{i}.fits")
    npyfile.write("h.npy", (3, 3, 3), [1 + i % 5 for i in range(27)], "<f4")
    os.mkdir("images")
    for i in range(6):
        npyfile.write(f"images/{i}.npy", (12, 20, 20), [5 + (i + 1) * k * 7919 % 1009 for k in range(4800)], "<f4")
    jobs = (["smooth", "maps", "out", "--fwhm", "5deg", "--lmax", 64, "--iter", 20, "--each"],
            ["deconvolve", "images", "h.npy", "out", "--iter", 300])
    for words in jobs:
        ok(*words, "--quiet")
        want = tree("out")
        shutil.rmtree("out")
        def results():
            return [f for f in os.listdir("out") if not f.startswith(".")] if os.path.isdir("out") else []
        for name in LAUNCHERS:
            def complete(failed):
                if failed:
                    return False
                assert len(results()) == 6
                shutil.rmtree("out")
                return True
            until_killed(name, [*words, "--resume", "--quiet"], results, complete, lambda: len(results()) == 6)
            r = mpirun(name, 2, *words, "--resume", "--quiet")
            # but for the manifest, which the last task of several leaves to the others, and a temporary of what was killed
            got = {name: data for name, data in tree("out").items() if not name.startswith(".kugel-")}
            assert r.code == 0 and got == want, (words, r, sorted(got))
            shutil.rmtree("out")


def test_killed_in_one_image():
    """Ranks that share one image, for ever: the job ends with a rank, and leaves no result, though a temporary of what was killed."""
    npyfile.write("x.npy", (64, 40, 40), [20 + 15 * math.sin(i * i) for i in range(64 * 40 * 40)], "<f4")
    npyfile.write("h.npy", (5, 5, 5), [6 - abs(i % 5 - 2) - abs(i // 5 % 5 - 2) - abs(i // 25 - 2) for i in range(125)], "<f4")
    words = ["deconvolve", "x.npy", "h.npy", "o.npy", "--plan", "halo", "--iter", 1000000, "--progress", "json"]
    for name in LAUNCHERS:
        assert kill_rank_1(name, words, lambda: b"fraction" in bytes_of("job.txt"))
        assert [f for f in sorted(os.listdir(".")) if not f.startswith(".kugel-")] == ["h.npy", "x.npy"], os.listdir(".")


def test_slurm():
    """What srun leaves in the environment of processes that no MPI was told of, or PMIx, with MPI libraries that cannot reach it."""
    for launcher, more, mpi, says in (("mpirun.mpich", {}, "", "srun --mpi=list"), ("mpirun.openmpi", {"PMIX_RANK": "0"}, "Open MPI", "")):
        if not shutil.which(launcher):
            raise Skip(f"{launcher} is not installed")
        r = refused(1, "info", env={"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "0", **ENV, **more}, says="started 2 processes")
        assert mpi in r.err and says in r.err, r


main([test_open_mpi, test_mpich, test_deconvolution, test_zarr, test_full_disk, test_one_voice, test_exchange, test_bench, test_plan, test_without_a_launcher, test_killed, test_killed_among_files, test_killed_in_one_image, test_slurm])
