# SPDX-License-Identifier: BSD-3-Clause
"""kugel deconvolve --depths: PSFs that vary with depth."""
import math
import npyfile
from harness import *


def depths():
    """PSFs by depth: nearer to the truth than with one of them, equal ones as one; what is refused."""
    n, planes = (16, 20, 20), (3, 12)
    def psf(width):
        return [math.exp(-0.5 * ((z - 2) ** 2 + (y - 3) ** 2 + (x - 3) ** 2) / width ** 2) for z in range(5) for y in range(7) for x in range(7)]
    for name, width in ("shallow.npy", 0.9), ("deep.npy", 1.9):
        npyfile.write(name, (5, 7, 7), psf(width))
    truth = [0.0] * math.prod(n)
    for z, y, x, height in (3, 6, 6, 900), (7, 13, 12, 700), (12, 7, 13, 800):
        for i in range(75):  # cubes, which too broad a PSF would make spiky
            truth[((z + i // 25 - 1) * n[1] + y + i // 5 % 5 - 2) * n[2] + x + i % 5 - 2] = height
    npyfile.write("t.npy", n, truth)
    ok("convolve", "t.npy", "shallow.npy,deep.npy", "x.npy", "--depths", "3,12", "--normalise", "--precision", "f64", "--boundary", "zero")
    def far(name):
        return math.sqrt(sum((a - b) ** 2 for a, b in zip(npyfile.read(name)[1], truth)) / sum(b * b for b in truth))
    words = ["--iter", 60, "--boundary", "zero", "--overwrite"]
    r = ok("deconvolve", "x.npy", "shallow.npy,deep.npy", "y.npy", *words, "--depths", "3,12")
    assert r.out.count("widths") == 2 and "2 planes" in r.out, r.out
    for one in "shallow.npy", "deep.npy":
        ok("deconvolve", "x.npy", one, "z.npy", *words)
        print(f"  {one}: off by {far('z.npy'):.3f}, by depth by {far('y.npy'):.3f}")
        assert far("y.npy") < 0.8 * far("z.npy"), (one, far("y.npy"), far("z.npy"))
    one = npyfile.read("z.npy")[1]
    j = ok("deconvolve", "x.npy", "deep.npy,deep.npy", "z.npy", *words, "--depths", "0,9.5", "--json").json["images"][0]
    assert j["depths"] == 2 and len(j["psfs"]) == 2, j
    assert max(abs(a - b) for a, b in zip(npyfile.read("z.npy")[1], one)) < 1e-4 * max(one)
    refused(2, "deconvolve", "x.npy", "deep.npy", "n.npy", "--depths", "1,2", says="2 planes, and there are 1 kernels")
    refused(2, "deconvolve", "x.npy", "shallow.npy,deep.npy", "n.npy", "--depths", "5,2", says="must rise")


main([depths])
