# SPDX-License-Identifier: BSD-3-Clause
"""Spherical-harmonic transforms by rotations between orders (engine connection) beside the recurrence in the degree.

On Fejer 1 grids of L + 1 rings and 2 L + 2 longitudes: both engines of kugel.SHT and ducc0 ("F1"). On Gauss grids of as many rings:
the recurrence and ducc0 ("GL"). Times: scalar fields, or with --spin S maps of that spin, random coefficients. Errors: of coefficients there and back, root mean square and
largest; and of the synthesis of single orders, largest over largest value, against sums in 60 digits on the first six rings, the
middle ones and some between (--orders; needs gmpy2).

--fasttransforms LIBRARY: the associated Legendre transforms of all orders beside those of FastTransforms (github.com/MikaelSlevinsky/
FastTransforms), whose spherical harmonics go the same way. "chain": rotations alone, there by its own function, here the time less that
of as many systems of orders m mod 2. "series": to the cosine series, which includes the triangular matrices; here with the DCT on top. ns: per
rotation of a pair of reals.
"""
import ctypes

import side

parser = side.options(__doc__, only=False)
parser.add_argument("--lmax", type=int, nargs="*", default=[63, 127, 255, 511, 1023, 2047])
parser.add_argument("--orders", type=int, nargs="*", default=[0, 1, 10, 100, 512, 1000], help="orders of the errors at L = 1023")
parser.add_argument("--spin", type=int, default=0, help="of the fields whose transforms are timed")
parser.add_argument("--fasttransforms", metavar="LIBRARY")
args = side.arguments(parser, lmax=[31], orders=[0, 3])
kugel = side.load(args.threads)

import numpy as np

ducc0 = side.rival("ducc0", args)
gmpy2 = side.rival("gmpy2", args)
rng = np.random.default_rng(1)


def random_alm(lmax, spin):
    """[sets, nalm], zero below the spin."""
    n = (lmax + 1) * (lmax + 2) // 2
    alm = rng.standard_normal((2 if spin else 1, n)) + 1j * rng.standard_normal((2 if spin else 1, n))
    alm[:, :lmax + 1] = alm[:, :lmax + 1].real
    alm[:, np.concatenate([np.arange(m, lmax + 1) for m in range(lmax + 1)]) < spin] = 0
    return alm


def times(lmax, table):
    n = lmax + 1
    sets, words = random_alm(lmax, args.spin), dict(spin=args.spin, bad_pixels="pass")
    alm = sets if args.spin else sets[0]
    plans = {"connection": kugel.SHT(kugel.Grid.fejer1(n, 2 * n), lmax, engine="connection", **words),
             "recurrence": kugel.SHT(kugel.Grid.fejer1(n, 2 * n), lmax, **words),
             "recurrence, Gauss": kugel.SHT(kugel.Grid.gauss(n, 2 * n), lmax, **words)}
    maps = {k: p.synthesis(alm) for k, p in plans.items()}
    back = {k: p.analysis(maps[k]) for k, p in plans.items()}
    forth = {k: (lambda k=k: plans[k].synthesis(alm, out=maps[k])) for k in plans}
    home = {k: (lambda k=k: plans[k].analysis(maps[k], out=back[k])) for k in plans}
    for kind in ("F1", "GL") if ducc0 else ():
        name = f"ducc0 {kind}"
        maps[name], back[name] = np.zeros((len(sets), n, 2 * n)), np.zeros_like(sets)
        how = dict(spin=args.spin, lmax=lmax, geometry=kind, nthreads=args.threads)
        forth[name] = lambda name=name, how=how: ducc0.sht.synthesis_2d(alm=sets, map=maps[name], ntheta=n, nphi=2 * n, **how)
        home[name] = lambda name=name, how=how: ducc0.sht.analysis_2d(map=maps[name], alm=back[name], **how)
    forward, backward = (side.seconds(calls, args.reps, args.threads, 0.05) for calls in (forth, home))
    for name in forward:
        e = np.abs(back[name].ravel() - alm.ravel())
        table.row(lmax, name, 1e3 * forward[name], 1e3 * backward[name], forward["recurrence"] / forward[name],
                  backward["recurrence"] / backward[name], float(np.sqrt(np.mean(e**2))), float(e.max()))


def errors(lmax, orders):
    from polynomial_figures import angles, legendre  # needs matplotlib and SciPy too
    table = side.Table(["order m", "connection", "recurrence", "recurrence, Gauss grid's rings", "ducc0 F1"], args.json)
    n = lmax + 1
    some = np.unique(np.concatenate([np.arange(6), [n // 2 - 1, n // 2], np.linspace(6, n // 2, 8).astype(int)]))
    exact = np.frompyfunc(lambda v: gmpy2.mpfr(float(v)), 1, 1)
    grids = {"fejer1": kugel.Grid.fejer1(n, 2 * n), "gauss": kugel.Grid.gauss(n, 2 * n)}
    plans = [(kugel.SHT(grids["fejer1"], lmax, engine="connection"), "fejer1"), (kugel.SHT(grids["fejer1"], lmax), "fejer1"),
             (kugel.SHT(grids["gauss"], lmax), "gauss")]
    for m in orders:
        c, row = np.zeros(n), []
        c[m:] = rng.standard_normal(n - m)
        alm = np.zeros((lmax + 1) * (lmax + 2) // 2, complex)
        start = m * (2 * lmax + 1 - m) // 2
        alm[start + m:start + n] = c[m:]
        want = {}
        for kind in grids:  # the longitude phi = 0: cos(m phi) = 1, and 2 / sqrt(2 pi) of an order m > 0
            theta = angles(2 * some + 1, 2 * n) if kind == "fejer1" else exact(grids[kind].table()["theta"][some])
            cosine, sine = (np.frompyfunc(f, 1, 1)(theta) for f in (gmpy2.cos, gmpy2.sin))
            factor = (-1)**m * (2 if m else 1) / gmpy2.sqrt(2 * gmpy2.const_pi())
            want[kind] = legendre(m, lmax, exact(c), cosine, sine, lambda v: gmpy2.sqrt(v)) * factor
        values = [(p.synthesis(alm).reshape(n, 2 * n)[some, 0], kind) for p, kind in plans]
        if ducc0:
            theirs = ducc0.sht.synthesis_2d(alm=sets, spin=0, lmax=lmax, geometry="F1", ntheta=n, nphi=2 * n, nthreads=1)
            values.append((theirs[0, some, 0], "fejer1"))
        for got, kind in values:
            row.append(float(max(abs(exact(got) - want[kind])) / max(abs(want[kind]))))
        table.row(m, *row, *[None] * (4 - len(row)))


class HarmonicPlan(ctypes.Structure):  # the beginning of ft_harmonic_plan
    _fields_ = [("rotations", ctypes.POINTER(ctypes.c_void_p)), ("modified", ctypes.c_void_p), ("scratch", ctypes.c_void_p)]


def chains(lmax, ft, table):
    n = lmax + 1
    m = np.arange(n)
    columns = 2 * n - 1  # order 0, then sines and cosines of each order
    cells = sum((2 if k else 1) * sum(max(0, (lmax - j - q) // 2 + 1) for j in range(k % 2, k - 1, 2) for q in (0, 1)) for k in range(n))
    plans = [kugel.polynomial.AssociatedLegendre(orders, lmax, multiplicity=1 + (m > 0)) for orders in (m, m % 2)]
    c, f = rng.standard_normal((columns, n)), np.empty((columns, n))
    plan = ft.ft_plan_sph2fourier(n)
    start, a = rng.standard_normal((columns, n)), np.empty((columns, n))
    for column in range(1, columns):
        start[column, n - (column + 1) // 2:] = 0  # l <= lmax
    address = ctypes.c_void_p(a.ctypes.data)

    def theirs(series):
        a[:] = start
        if series:
            ft.ft_execute_sph2fourier(ctypes.c_char(b"N"), plan, address, n, columns)
        else:
            ft.ft_execute_sph_hi2lo(ctypes.c_void_p(plan.contents.rotations[0]), address, ctypes.c_void_p(plan.contents.scratch), columns)

    t = side.seconds({"all": lambda: plans[0].synthesis(c, out=f), "none": lambda: plans[1].synthesis(c, out=f),
                      "chain": lambda: theirs(False), "series": lambda: theirs(True), "copy": lambda: np.copyto(a, start)}, args.reps, 1, 0.05)
    theirs(True)
    ft.ft_execute_fourier2sph(ctypes.c_char(b"N"), plan, address, n, columns)
    keep = np.arange(n) >= np.repeat(m, 1 + (m > 0))[:, None]
    back = plans[0].analysis(plans[0].synthesis(c))
    mine, yours = t["all"] - t["none"], t["chain"] - t["copy"]
    table.row(lmax, 1e3 * mine, 1e3 * yours, 1e9 * mine / cells, 1e9 * yours / cells, 1e3 * t["all"], 1e3 * (t["series"] - t["copy"]),
              float(np.abs(back - c)[keep].max()), float(np.abs(a - start).max()))


print(f"{args.threads} thread{'s' * (args.threads > 1)}, ms")
table = side.Table(["L", "engine", "synthesis", "analysis", "recurrence / it, synthesis", "recurrence / it, analysis",
                    "there and back: rms", "largest"], args.json)
for lmax in args.lmax:
    times(lmax, table)
if args.fasttransforms:
    ft = ctypes.CDLL(args.fasttransforms)
    ft.ft_set_num_threads(1)
    ft.ft_plan_sph2fourier.restype = ctypes.POINTER(HarmonicPlan)
    print()
    table = side.Table(["L", "chain: kugel ms", "FastTransforms ms", "kugel ns", "FastTransforms ns", "with DCT: kugel ms", "series: FastTransforms ms",
                        "there and back: kugel", "FastTransforms"], args.json)
    for lmax in args.lmax:
        chains(lmax, ft, table)
if gmpy2 and not args.smoke:
    print()
    errors(max([1023, *args.orders]), args.orders)
