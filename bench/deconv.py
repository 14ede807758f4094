#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Deconvolution on the CPU beside deconwolf: both commands from file to file, the same image, PSF, edges, threads and steps.

usage: bench/deconv.py [--dw PROGRAM] [--image dapi_001.tif --psf psf.tif] [--iter 20] [--threads 2] [--reps 5] [--json] [--smoke]

deconwolf (github.com/elgw/deconwolf, GPL-3, a program of its own) runs with background and offset 0, so that both minimise the
I-divergence between the image and the PSF's convolution of an object that reaches beyond the image. One function, here, by NumPy in
double precision, computes that divergence of both programs' whole objects: sum of y log(y / m) - y + m over the voxels, over their number.
Rows: Richardson-Lucy with as many steps; then, for what each of deconwolf's methods reached, the fewest steps with which a method of
Kugel's is at or below the same divergence. Times are CPU seconds of the whole commands, reading and writing included, medians of
interleaved runs, FFTW's wisdom made before. Without --image: blobs blurred by a Gaussian; without deconwolf: Kugel alone.
"""
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import side

OURS = ("rl", "shb", "biggs")


def divergence(image, psf, whole, first, scaled=False):
    """Per voxel, of the model that an object [n + k - 1] gives at its voxels from `first` on; the PSF's centre is (k - 1) // 2.
    scaled: the object has a factor that is not known, and takes the one that makes the divergence least."""
    centre = [(k - 1) // 2 for k in psf.shape]
    size, axes = [a + k - 1 for a, k in zip(whole.shape, psf.shape)], (0, 1, 2)
    spectrum = np.fft.rfftn(whole.astype(float), size, axes) * np.fft.rfftn(psf.astype(float) / psf.sum(dtype=float), size, axes)
    model = np.fft.irfftn(spectrum, size, axes)[tuple(slice(f + c, f + c + n) for f, c, n in zip(first, centre, image.shape))]
    y, m = image.astype(float), np.maximum(model, 1e-12)
    m *= y.sum() / m.sum() if scaled else 1
    return float(np.mean(np.where(y > 0, y * np.log(np.maximum(y, 1e-300) / m), 0) - y + m))


def rolled(whole, psf):
    """A periodic object that starts with the image, with the margin before it moved from its end."""
    return np.roll(whole, [k - 1 - (k - 1) // 2 for k in psf.shape], (0, 1, 2))


def dumped(folder):
    """The whole object that deconwolf wrote, and whether it did so as scaled integers of 16 bits, as its method shb does."""
    import kugel
    name = next(folder / f for f in ("fulldump_x.tif", "fulldump.tif") if (folder / f).exists())
    whole = np.asarray(kugel.volume.read(name))
    return whole.reshape(whole.shape[-3:]), whole.dtype != np.float32


def cpu(command, folder, threads):
    """(CPU seconds, wall seconds) of a command."""
    env = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([str(w) for w in command], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    if done.returncode:
        sys.exit(f"bench/deconv.py: {' '.join(map(str, command))}\n{done.stdout}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


class Kugel:
    """Steps of a method: their divergences by the callback, the whole object, and the command."""

    def __init__(self, kugel, image, psf):
        self.kugel, self.image, self.psf = kugel, image, psf
        self.first = [k - 1 - (k - 1) // 2 for k in psf.shape]
        # The image within missing voxels and nothing beyond these: the result is the whole object.
        self.frame = np.full([n + k - 1 for n, k in zip(image.shape, psf.shape)], np.nan, np.float32)
        self.frame[tuple(slice(f, f + n) for f, n in zip(self.first, image.shape))] = image

    def whole(self, method, steps):
        return self.kugel.volume.deconvolve(self.frame, self.psf, steps, method, edges="zero")

    def reached(self, method, steps):
        return divergence(self.image, self.psf, self.whole(method, steps), self.first)

    def fewest(self, method, target, most):
        """(steps, divergence) of the fewest steps at or below the target; (None, None) where `most` do not reach it."""
        path = []  # before each step
        plan = self.kugel.volume.Deconvolution(self.image.shape, self.psf, most, method,
                                               callback=lambda i, d: (path.append(d / self.image.size), d < 0.5 * target * self.image.size)[1])
        plan(self.image)
        about = next((i for i, d in enumerate(path) if d <= target), None)
        for steps in range(max(1, (about or most) - 1), most + 1) if about is not None else ():
            value = self.reached(method, steps)
            if value <= target * (1 + 1e-6):
                return steps, value
        return None, None


def write(kugel, folder, args):
    """The image and the PSF as files, of the smoke test's own making where there are none."""
    if args.image:
        return pathlib.Path(args.image).resolve(), pathlib.Path(args.psf).resolve()
    rng = np.random.default_rng(1)
    z, y, x = np.ogrid[-6:7, -5:6, -5:6]
    psf = np.exp(-(z**2 / 8 + (y**2 + x**2) / 4)).astype(np.float32)
    truth = 5 + 4000. * (rng.random((24, 60, 50)) > 0.995)
    image = rng.poisson(kugel.volume.convolve(truth, psf / psf.sum(), boundary="reflect")).astype(np.uint16)
    kugel.volume.write(folder / "image.tif", image)
    kugel.volume.write(folder / "psf.tif", psf)
    return folder / "image.tif", folder / "psf.tif"


def commands(args, image, psf):
    program = side.ROOT / "build/release/kugel"

    def ours(method, steps):
        return [program, "deconvolve", image, psf, "k.tif", "--method", method, "--iter", steps, "--threads", args.threads, "--any-voxel",
                "--overwrite"]

    def theirs(method, steps, *more):
        return [args.dw, "--method", method, "--iter", steps, "--bg", 0, "--offset", 0, "--threads", args.threads, "--overwrite", "--float",
                "--out", "dw.tif", *more, image, psf]
    return ours, theirs


def main():
    parser = side.options(__doc__.splitlines()[0], only=False)
    parser.add_argument("--dw", default=shutil.which("dw"), help="deconwolf's program (default: dw of $PATH)")
    parser.add_argument("--image", help="stack of three axes")
    parser.add_argument("--psf", help="its PSF, of odd lengths")
    parser.add_argument("--iter", type=int, default=20, help="steps of deconwolf (default 20)")
    parser.set_defaults(threads=2)
    args = side.arguments(parser, iter=4)
    kugel = side.load(args.threads)
    table = side.Table(["case", "kugel", "steps", "CPU s", "wall s", "divergence", "rival", "rival steps", "rival CPU s", "rival wall s",
                        "rival divergence", "ratio"], args.json)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = write(kugel, folder, args)
        image, psf = (np.asarray(kugel.volume.read(p)) for p in paths)
        image, psf = image.reshape(image.shape[-3:]), psf.reshape(psf.shape[-3:])
        mine = Kugel(kugel, image, psf)
        ours, theirs = commands(args, *paths)
        case = "x".join(map(str, image.shape)) + " * " + "x".join(map(str, psf.shape))
        cases = []  # our method, steps, divergence; deconwolf's
        for method in ("rl", "shb"):
            if not args.dw:
                cases.append((method, args.iter, mine.reached(method, args.iter), None, None))
                continue
            cpu(theirs(method, args.iter, "--fulldump"), folder, args.threads)  # makes the wisdom, too
            whole, scaled = dumped(folder)
            target = divergence(image, psf, rolled(whole, psf), mine.first, scaled)
            for old in folder.glob("fulldump*"):
                old.unlink()
            logged = re.findall(r"Iteration +\d+/.*Idiv=(\S+)", (folder / "dw.tif.log.txt").read_text())
            # Its own is of the object before the last step, of shb of the point that this is extrapolated to.
            assert logged and target <= float(logged[-1]) * 1.1, f"deconwolf says {logged[-1:]}, its object has {target}"
            if method == "rl":
                cases.append(("rl", args.iter, mine.reached("rl", args.iter), method, target))
            for m in OURS if method == "shb" else OURS[1:]:
                steps, value = mine.fewest(m, target, 4 * args.iter)
                if steps:
                    cases.append((m, steps, value, method, target))
        times = {}
        for _ in range(args.reps):
            for c in cases:
                times.setdefault(("kugel", *c[:2]), []).append(cpu(ours(*c[:2]), folder, args.threads))
                if c[3]:
                    times.setdefault(("dw", c[3]), []).append(cpu(theirs(c[3], args.iter), folder, args.threads))
        for m, steps, value, rival, target in cases:
            a = times["kugel", m, steps]
            b = times.get(("dw", rival))
            own, other = (statistics.median(t[0] for t in x) if x else None for x in (a, b))
            table.row(case, m, steps, own, min(t[1] for t in a), value, rival and f"deconwolf {rival}", rival and args.iter, other,
                      b and min(t[1] for t in b), target, other and other / own)


if __name__ == "__main__":
    main()
