# SPDX-License-Identifier: BSD-3-Clause
"""The command under mpirun with a device for each process: the bytes of one process with one. LABEL: long"""
import json
import math
import os
import shutil
import npyfile
from harness import *
from launch import *

SKY = os.path.join(SHARE, "wmap7_w_band_nside32.fits")
DEVICE = ["--device", "opencl:0"]


def test_same_bytes():
    need_opencl()
    ok("map2alm", SKY, "a.fits", "--lmax", 48, "--quiet")
    for name, n in (("Open MPI", 3), ("MPICH", 2)):
        for job in (("smooth", SKY, "o.fits", "--fwhm", "5deg", "--lmax", 48), ("map2alm", SKY, "o.fits", "--lmax", 48, "--iter", 2),
                    ("alm2map", "a.fits", "o.fits", "--nside", 32), ("anafast", SKY, "o.txt", "--lmax", 48)):
            r = mpirun(name, n, *job, *DEVICE, "--quiet")
            assert r.code == 0 and not r.out and not r.err, r
            got = bytes_of(job[2])
            os.remove(job[2])
            ok(*job, *DEVICE, "--quiet")
            assert bytes_of(job[2]) == got, job
            os.remove(job[2])


def test_every_process_has_it():
    """All hear of the one that lacks the device, and none is left behind."""
    need_opencl()
    script = '[ "$OMPI_COMM_WORLD_RANK" = 2 ] && export OCL_ICD_VENDORS=/none; exec "$@"'
    words = [BINARY, "smooth", SKY, "o.fits", "--fwhm", "5deg", *DEVICE]
    r = mpirun("Open MPI", 3, "-c", script, "sh", *words, program="sh")
    assert r.code == 1 and r.err.count("rank 2: device opencl:0 is not available") == 1 and not os.path.exists("o.fits"), r
    words[-1] = "auto"  # of which one has none: rank 0 alone
    r = mpirun("Open MPI", 3, "-c", script, "sh", *words, "--quiet", program="sh")
    assert r.code == 0 and os.path.exists("o.fits"), r
    r = mpirun("MPICH", 2, "smooth", SKY, "p.fits", "--fwhm", "5deg", "--device", "abacus:0")
    assert r.code == 1 and r.err.count('device is "abacus:0", must be') == 1, r


def test_bench():
    need_opencl()
    for name in LAUNCHERS:
        for problem, most in (("sht:nside=32", 1e-12), ("sht:nside=32,dir=adjoint", 1e-12), ("sht:rows=33,dtype=f32,mmax=9", 1e-6)):
            r = mpirun(name, 3, "bench", "--ranks", problem, "--seconds", "0", *DEVICE)
            line = json.loads(r.out)
            assert line["ranks"] == 3 and line["arrays"] == "device" and 0 < line["error"] < most, r
        for bytes, group, way in ((1000, "1", "host memory"), (100003, "2", "host memory, in two steps")):
            r = mpirun(name, 4, "bench", "--ranks", f"exchange:bytes={bytes}", "--seconds", "0", *DEVICE, env={"KUGEL_PEERS_GROUP": group})
            line = json.loads(r.out)
            assert line["exchange_is"] == way and line["bytes_sent_per_rank"] == 3 * bytes and line["median_seconds"] > 0, r
        r = mpirun(name, 2, "bench", "exchange", *DEVICE)
        assert r.code == 2 and "add --ranks" in r.err, r


def test_volumes():
    """Planes of each process on its device: one process's values, as on the CPU to rounding; what a process lacks is said once."""
    need_opencl()
    npyfile.write("z.npy", (70, 20, 22), [20 + 15 * math.sin(i * i) for i in range(70 * 20 * 22)], "<f4")
    npyfile.write("h.npy", (5, 5, 5), [1 / (1 + abs(i - 60)) for i in range(125)], "<f4")
    ok("convert", "z.npy", "z.zarr", "--chunk", "16,20,20", "--quiet")
    ok("convolve", "z.npy", "h.npy", "cpu.npy", "--quiet")
    want = npyfile.read("cpu.npy")[1]
    for plan in ("tiles", "global"):
        files = []
        for name, n in (("Open MPI", 3), ("MPICH", 2), ("Open MPI", 1)):
            r = mpirun(name, n, "convolve", "z.zarr", "h.npy", "o.zarr", "--ranks", "--plan", plan, *DEVICE, "--quiet")
            assert r.code == 0 and not r.out and not r.err, r
            ok("convert", "o.zarr", "o.npy", "--quiet", "--overwrite")
            files.append(bytes_of("o.npy"))
            shutil.rmtree("o.zarr")
        got = npyfile.read("o.npy")[1]
        assert files[0] == files[1] == files[2], plan
        assert max(abs(a - b) for a, b in zip(got, want)) < 1e-6 * max(map(abs, want)), plan
    files = []
    for name, n in (("Open MPI", 3), ("MPICH", 2)):  # rank 0 reads and writes
        r = mpirun(name, n, "convolve", "z.npy", "h.npy", "o.npy", "--plan", "global", *DEVICE, "--quiet", "--overwrite")
        assert r.code == 0 and not r.out and not r.err, r
        files.append(bytes_of("o.npy"))
    got = npyfile.read("o.npy")[1]
    assert files[0] == files[1] and max(abs(a - b) for a, b in zip(got, want)) < 1e-6 * max(map(abs, want))
    r = mpirun("MPICH", 2, "convolve", "z.zarr", "h.npy", "o.zarr", "--ranks", "--device", "abacus:0")
    assert r.code == 1 and r.err.count('device is "abacus:0", must be') == 1 and not os.path.exists("o.zarr"), r


def test_deconvolution():
    """Object and image on the devices of all processes: the same bytes for any number of them, the CPU's values to rounding."""
    need_opencl()
    ok("convert", shared("volume/sdeconv_pollen/pollen.tif"), "p.npy", "--crop", "0:32,100:160,100:164", "--quiet")
    ok("convert", shared("volume/sdeconv_pollen/psf_gibsonlanni_f64.tif"), "h.npy", "--crop", "0:17,48:79,48:79", "--quiet")
    job = ["deconvolve", "p.npy", "h.npy", "o.npy", "--iter", 4, "--any-voxel", "--quiet", "--overwrite"]
    for method in (["shb"], ["biggs"], ["tv", "--lambda", 0.002]):
        ok(*job, "--method", *method)
        want, files = npyfile.read("o.npy")[1], []
        for name, n in (("Open MPI", 3), ("MPICH", 2)):
            r = mpirun(name, n, *job, "--method", *method, "--plan", "global", *DEVICE)
            assert r.code == 0 and not r.out and not r.err, r
            files.append(bytes_of("o.npy"))
        got = npyfile.read("o.npy")[1]
        assert files[0] == files[1], method
        assert max(abs(a - b) for a, b in zip(got, want)) < 1e-5 * max(map(abs, want)), method
    files = []
    for name, n in (("Open MPI", 3), ("MPICH", 2), ("MPICH", 1)):
        r = mpirun(name, n, *job, "--method", "tv", "--lambda", 0.002, "--plan", "halo", *DEVICE)
        assert r.code == 0 and not r.out and not r.err, r
        files.append(bytes_of("o.npy"))
    got = npyfile.read("o.npy")[1]  # of tv
    assert files[0] == files[1] == files[2] and max(abs(a - b) for a, b in zip(got, want)) < 1e-5 * max(map(abs, want))


main([test_deconvolution, test_volumes, test_same_bytes, test_every_process_has_it, test_bench])
