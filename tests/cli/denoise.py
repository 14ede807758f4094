# SPDX-License-Identifier: BSD-3-Clause
"""kugel wavelet --denoise against the truth: skies that are known without their noise."""
import math
import random
from fitsfile import *
from harness import *

UNSEEN = -1.6375e30
NSIDE = 64
NPIX = 12 * NSIDE * NSIDE


def column(path):
    return read_map(path)[2][0][2]


def rms(values):
    mean = sum(values) / len(values)
    return math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))


def centres():
    """Unit vectors of all pixels, RING."""
    out = []
    for i in range(1, 4 * NSIDE):
        cap = min(i, 4 * NSIDE - i, NSIDE)
        z = 1 - cap * cap / (3 * NSIDE**2) if cap < NSIDE else 4 / 3 - 2 * i / (3 * NSIDE)
        z = -z if cap < NSIDE and i > 2 * NSIDE else z
        shift = 0.5 if cap < NSIDE or (i - NSIDE) % 2 == 0 else 0
        s = math.sqrt(1 - z * z)
        for k in range(4 * cap):
            phi = (k + shift) * math.pi / (2 * cap)
            out.append((s * math.cos(phi), s * math.sin(phi), z))
    return out


def sky():
    """A red background to the beam of 4 degrees, 40 sources of that beam, and unit noise."""
    fwhm, rng = math.radians(4), random.Random(11)
    with open("cl.txt", "w") as f:
        for l in range(129):
            f.write(f"{l} {50 / (l + 1) ** 2.5 * math.exp(-l * (l + 1) * fwhm ** 2 / (8 * math.log(2))) if l > 1 else 0}\n")
    ok("synfast", "cl.txt", "bg.fits", "--nside", NSIDE, "--lmax", "128", "--seed", "5", "--overwrite")
    background, points = column("bg.fits"), [0.0] * NPIX
    size, places = rms(background), centres()
    for _ in range(40):
        z, phi, height = rng.uniform(-1, 1), rng.uniform(0, 2 * math.pi), 10 ** rng.uniform(-0.2, 1.2) * size
        s = math.sqrt(1 - z * z)
        at = s * math.cos(phi), s * math.sin(phi), z
        for i, p in enumerate(places):
            chord = sum((a - b) ** 2 for a, b in zip(at, p))
            if chord < 0.1:
                points[i] += height * math.exp(-4 * math.log(2) * (2 * math.asin(math.sqrt(chord) / 2) / fwhm) ** 2)
    return background, points, size, [rng.gauss(0, 1) for _ in range(NPIX)]


def gain(truth, noise, *words, seen=None):
    """Error before over error after."""
    seen = seen or [True] * NPIX
    write_map("in.fits", [("T", "mK", [t + n if s else UNSEEN for t, n, s in zip(truth, noise, seen)])], NSIDE, "RING")
    r = ok("wavelet", "in.fits", "out.fits", "--denoise", *words, "--json", "--overwrite").json
    pairs = [(o - t, n) for o, t, n, s in zip(column("out.fits"), truth, noise, seen) if s]
    return rms([n for _, n in pairs]) / rms([e for e, _ in pairs]), r


def truth_is_approached():
    background, points, size, unit = sky()
    both = [a + b for a, b in zip(background, points)]
    level = 0.1 * size
    noise = [level * v for v in unit]
    given = "--noise", f"{1e3 * level}uK"
    g, r = gain(both, noise, *given)
    assert g > 2.5, g
    white = [s["noise"] for s in r["scales_rms"]]
    g, r = gain(both, noise)  # estimated
    assert g > 2.5 and abs(r["noise_estimated"] / level - 1) < 0.03, (g, r["noise_estimated"], level)
    for rule, least in ("hard", 2.2), ("soft", 1.8):
        g, _ = gain(both, noise, *given, "--rule", rule)
        assert g > least, (rule, g)
    with open("noise.txt", "w") as f:
        f.write("".join(f"{l} {level ** 2 * 4 * math.pi / NPIX}\n" for l in range(129)))
    g, r = gain(both, noise, "--noise-cl", "noise.txt")
    assert g > 2.5 and all(abs(s["noise"] / w - 1) < 1e-6 for s, w in zip(r["scales_rms"], white)), (r, white)
    assert gain(background, noise, *given)[0] > 2.5
    g, _ = gain(points, noise, *given)
    assert g > 2.5, g
    g, r = gain([0.0] * NPIX, noise, *given)
    assert g > 5, g
    # beyond the coarsest scale, the rms found is the rms foretold where there is noise alone
    assert all(abs(s["rms"] / s["noise"] - 1) < 0.1 for s in r["scales_rms"][3:]), r
    for factor in 1e-4, 1e-3:
        g, _ = gain(both, [factor * v for v in noise], "--noise", f"{1e3 * factor * level}uK")
        assert g > 0.99, (factor, g)


def uneven_noise():
    """A map of the noise: three times as much in the south."""
    background, points, size, unit = sky()
    both = [a + b for a, b in zip(background, points)]
    levels = [0.1 * size * (1 if i < NPIX // 2 else 3) for i in range(NPIX)]
    noise = [a * b for a, b in zip(levels, unit)]
    write_map("rms.fits", [("RMS", "mK", levels)], NSIDE, "RING")
    mapped, r = gain(both, noise, "--noise-map", "rms.fits")
    flat, f = gain(both, noise, "--noise", rms(noise))
    assert mapped > 2.5 and mapped > flat, (mapped, flat)
    assert all(abs(a["noise"] / b["noise"] - 1) < 0.05 for a, b in zip(r["scales_rms"], f["scales_rms"])), (r, f)
    cut = [abs(p[2]) > 0.2 for p in centres()]
    g, _ = gain(both, noise, "--noise-map", "rms.fits", seen=cut)
    assert g > 2.2, g
    assert all(v < -1e30 for v, s in zip(column("out.fits"), cut) if not s)


def refusals():
    write_map("in.fits", [("T", "mK", [float(i % 7) for i in range(NPIX)])], NSIDE, "RING")
    write_map("none.fits", [("T", "mK", [UNSEEN] * NPIX)], NSIDE, "RING")
    write_map("few.fits", [("T", "mK", [UNSEEN] * NPIX)], NSIDE, "RING")
    for words, code, says in ((["--noise", "3"], 2, "--denoise"), (["--denoise", "--noise", "0"], 2, "above 0"),
                              (["--denoise", "--noise", "3Jy"], 2, "mK"), (["--denoise", "--noise", "x"], 2, "30uK"),
                              (["--denoise", "--noise", "3", "--noise-cl", "x"], 2, "one of"),
                              (["--denoise", "--threshold", "3,x"], 2, "--threshold"),
                              (["--denoise", "--lmax", "192"], 2, "191"),
                              (["--denoise", "--noise-map", "few.fits"], 1, "pixel 0")):
        refused(code, "wavelet", "in.fits", "x.fits", *words, says=says)
    refused(1, "wavelet", "none.fits", "x.fits", "--denoise", says="no observed pixel")


main([truth_is_approached, uneven_noise, refusals])
