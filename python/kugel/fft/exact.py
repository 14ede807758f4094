# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions of integers, exact, and of long doubles."""
import numpy as np

from .arrays import Host
from .fourier import fftn, ifftn, irfftn, rfftn

SAFE, LIMB = 2.0**46, 16  # of sums, which then err by far less than 1/2; bits


def _limbs(a, dtype):
    """Numbers of LIMB bits, the last with the sign, that make `a` modulo 2^64; one if that holds all."""
    a = a.astype(np.uint64 if dtype == np.uint64 else np.int64)
    most = max(abs(int(a.max())), abs(int(a.min())))
    parts, done = [], 0
    while most >> done >= 2**LIMB and done < 48:
        parts.append(((a >> done) & (2**LIMB - 1)).astype(np.float64))
        done += LIMB
    return parts + [(a >> done).astype(np.float64)]


def integers(x, h, axes, run):
    """Convolution of integers by run(x, h) of doubles: in one if the sums are safe, else by limbs, modulo 2^64."""
    dtype = np.result_type(x, h)
    terms = min(np.prod([a.shape[d] for d in axes]) for a in (x, h))
    size = float(terms) * max(1.0, *(abs(float(v)) for a in (x,) for v in (a.max(), a.min()))) * \
        max(1.0, *(abs(float(v)) for v in (h.max(), h.min())))
    if dtype == np.bool_:
        return np.rint(run(x.astype(np.float64), h.astype(np.float64))) != 0
    if size < SAFE:
        return np.rint(run(x.astype(np.float64), h.astype(np.float64))).astype(np.int64).astype(dtype)
    total = None
    for i, a in enumerate(_limbs(x, dtype)):
        for j, b in enumerate(_limbs(h, dtype)):
            if i + j < 4:
                part = np.rint(run(a, b)).astype(np.int64).view(np.uint64) << np.uint64(LIMB * (i + j))
                total = part if total is None else total + part
    return total.view(np.int64).astype(dtype)


def long_convolution(x, h, mode, axes):
    """Of host arrays that either is long in, by transforms of about 31 digits."""
    a, b = x.get(), h.get()
    full = [a.shape[d] + b.shape[d] - 1 for d in axes]
    kinds = a.dtype.kind == "c" or b.dtype.kind == "c"
    forward, inverse = (fftn, ifftn) if kinds else (rfftn, irfftn)
    long = np.clongdouble if kinds else np.longdouble
    out = inverse(forward(a.astype(long), full, axes) * forward(b.astype(long), full, axes), full, axes)
    part = [slice(None)] * a.ndim
    for d, n in zip(axes, full):
        first = {"full": 0, "same": (b.shape[d] - 1) // 2, "valid": b.shape[d] - 1}[mode]
        part[d] = slice(first, first + {"full": n, "same": a.shape[d], "valid": a.shape[d] - b.shape[d] + 1}[mode])
    return Host(out[tuple(part)])
