#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Laplacians and steps of a wave beside NumPy's slices and scipy.ndimage, and a copy; nanoseconds a node."""
import side

parser = side.options(__doc__)
args = side.arguments(parser, only="64^3")
kugel = side.load(args.threads)

import numpy as np

ndimage = side.rival("scipy.ndimage", args)
C = {2: [-2, 1], 4: [-5 / 2, 4 / 3, -1 / 12], 8: [-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]}


def sliced(u, order, out):
    """Periodic, of an array with a margin: sums of shifted slices, in place."""
    r, c = order // 2, C[order]
    inside = (slice(r, -r),) * u.ndim
    np.multiply(u[inside], u.ndim * c[0], out=out)
    room = np.empty_like(out)
    for axis in range(u.ndim):
        for k in range(1, r + 1):
            for shift in (-k, k):
                at = list(inside)
                at[axis] = slice(r + shift, u.shape[axis] - r + shift)
                out += np.multiply(u[tuple(at)], u.dtype.type(c[k]), out=room)
    return out


def correlated(u, order, out):
    """Periodic, by one pass for each axis."""
    c = np.array(C[order][:0:-1] + C[order])
    out[:] = ndimage.correlate1d(u, c, 0, mode="wrap")
    for axis in range(1, u.ndim):
        out += ndimage.correlate1d(u, c, axis, mode="wrap")
    return out


table = side.Table(["case", "kugel ns", "kugel wave step ns", "NumPy slices ns", "scipy.ndimage ns", "copy ns", "largest difference"], args.json)
for n in ((64,) * 3, (256,) * 3, (2048,) * 2):
    for precision in ("f64", "f32"):
        for order in C:
            name = f"{n[0]}^{len(n)} {precision} order {order}"
            if args.only not in name:
                continue
            plan = kugel.stencil.laplacian(n, order=order, precision=precision)
            u = np.random.default_rng(0).random(n).astype(plan.dtype)
            wide, out, other, copy = np.pad(u, order // 2, mode="wrap"), np.empty_like(u), np.empty_like(u), np.empty_like(u)
            state = np.stack([u, u])
            times = side.seconds({"kugel": lambda: plan.apply(u, out), "step": lambda: plan.advance(state, 0.1),
                                  "numpy": lambda: sliced(wide, order, other), "scipy": ndimage and (lambda: correlated(u, order, other)),
                                  "copy": lambda: np.copyto(copy, u)}, args.reps, args.threads, 0.01)
            apart = float(np.abs(plan.apply(u) - sliced(wide, order, other)).max())
            table.row(name, *[1e9 * times[k] / u.size if k in times else None for k in ("kugel", "step", "numpy", "scipy", "copy")], apart)
