// SPDX-License-Identifier: BSD-3-Clause
// Rings from their Fourier coefficients and back. A block serves a pair of rings of one length n (or one ring) at a
// time: z = north + i south in ROOM numbers of shared memory (of global memory with WORK_GLOBAL). Smooth lengths
// are transformed in place; others are split by r = gcd(n, 4) and go through chirps (Bluestein), all parts at once.
// leg[m][row] holds north re, im, south re, im of each pair, in double precision; orders beyond the Nyquist frequency fold
// exactly. Maps are of reals, in which all is computed but phases.
//
// With LINE_SIZE and its kin, lines of one kind only, whose loops are unrolled. (Chirps of fewer than 2048 numbers spill a
// few registers in double precision, and are as fast as longer ones that do not.)
//
// variant: REAL_BITS=64 THREADS=256 BLOCKS=2 ROOM=4736
// variant: REAL_BITS=64 THREADS=512 BLOCKS=1 ROOM=14336
// variant: REAL_BITS=64 THREADS=256 BLOCKS=2 ROOM=0 WORK_GLOBAL=1
// variant: REAL_BITS=64 THREADS=256 BLOCKS=3 ROOM=4736 LINE_SPLIT=0 LINE_SIZE=4096 LINE_PASSES=4 LINE_RADICES=0x8888
// variant: REAL_BITS=64 THREADS=512 BLOCKS=1 ROOM=14336 LINE_SPLIT=4 LINE_SIZE=2048 LINE_PASSES=4 LINE_RADICES=0x8848
// variant: REAL_BITS=32 THREADS=256 BLOCKS=3 ROOM=7104
// variant: REAL_BITS=32 THREADS=256 BLOCKS=4 ROOM=7104 LINE_SPLIT=0 LINE_SIZE=4096 LINE_PASSES=4 LINE_RADICES=0x8888

#include "fft/rings/kernels/dft.h.cl"

#ifdef WORK_GLOBAL
#define WORK_ROOM GLOBAL real2 *RESTRICT z = scratch + (i64)GROUP_ID(0) * args.room
#else
#define WORK_ROOM SHARED_FROM_LAUNCH(real2, z, ROOM)
#endif

typedef struct ring_job {
  u64 hi[2], lo[2];        // longitude of the first pixel in turns, of north and south
  i64 first[2];            // first pixels, -1: none
  i32 pair, line, mlim, flags; // flags 1, 2: this job is all of the north, south
} ring_job;

typedef struct ring_args {
  i32 first, maps, weighted; // blocks serve units from `first` on
  i32 check, row, spare;     // check 1: bad pixels count as zero, 2: and are counted
  i64 room, map, map_stride, leg, leg_stride; // of a block; first elements; to the next map
} ring_args;

/* ---- coefficients ---- */

// e^{2 pi i m (hi + lo 2^-64) 2^-64}
DEVICE real2 phase(u64 hi, u64 lo, int m)
{
  u64 t = hi * (u64)m + (((lo >> 32) * (u64)m) >> 32);
  return turn((double)(i64)t * 0x1p-63);
}

// Neighbouring threads read and write north and south of one order; of two orders that are HALF apart one serves both sides
// of the first, the other those of the second. The phase e^{i m phi0} is that of m % NEAR, times that of the multiple of
// NEAR before m; both sides' lie next to each other.
#define HALF (THREADS / 2)
#define NEAR 64
enum { AHEAD = 4 };
DEVICE int phases_of(int top) { return 2 * (NEAR + top / NEAR + 1); }

// What a thread serves of a job.
typedef struct ring_side {
  u64 hi, lo;
  int which, exists, mlim, n;
  i64 leg; // its coefficient of order 0
} ring_side;

DEVICE ring_side side_of(ring_job j, int n, i64 leg)
{
  ring_side s;
  s.which = LOCAL_ID(0) % 2;
  s.hi = s.which ? j.hi[1] : j.hi[0];
  s.lo = s.which ? j.lo[1] : j.lo[0];
  s.exists = (s.which ? j.first[1] : j.first[0]) >= 0;
  s.mlim = j.mlim;
  s.n = n;
  s.leg = leg + 2 * j.pair + s.which;
  return s;
}

DEVICE void make_phases(WORK real2 *phases, ring_side s, int top)
{
  for (int i = LOCAL_ID(0); i < phases_of(top); i += THREADS)
    phases[i] = phase(s.hi, s.lo, i < 2 * NEAR ? i / 2 : (i / 2 - NEAR) * NEAR);
}
DEVICE real2 made_phase(const WORK real2 *phases, int which, int m)
{
  return mul(phases[2 * (m & (NEAR - 1)) + which], phases[2 * (NEAR + m / NEAR) + which]);
}

DEVICE double2 halved(real2 v, int exists)
{
  double2 f;
  f.x = exists ? 0.5 * v.x : 0.0;
  f.y = exists ? 0.5 * v.y : 0.0;
  return f;
}
DEVICE real2 rounded(double2 f) { return MAKE_REAL2((real)f.x, (real)f.y); }

// Adds the orders that fold onto k.
DEVICE real2 folded(real2 f, const GLOBAL double2 *RESTRICT leg, ring_side s, i64 row, int k)
{
  for (int m = k + s.n; m <= s.mlim; m += s.n)
    f = add(f, mul(rounded(leg[s.leg + m * row]), phase(s.hi, s.lo, m)));
  for (int m = s.n - k; m <= s.mlim; m += s.n)
    f = add(f, conjugate(mul(rounded(leg[s.leg + m * row]), phase(s.hi, s.lo, m))));
  return f;
}

// Asks for the orders up to n / 2 of both sides, that are read soon.
DEVICE void fetch_orders(const GLOBAL double2 *RESTRICT leg, ring_side s, i64 row, int top)
{
  for (int m = LOCAL_ID(0); m <= s.mlim && m <= top; m += THREADS)
    PREFETCH(leg + s.leg - s.which + m * row);
}

/* ---- pixels ---- */

// The first pixels of a pair, NULL where there is no ring, and the factors of north and south.
typedef struct ring_pixels {
  GLOBAL real *north, *south;
  real weight_north, weight_south;
  int check;
} ring_pixels;

DEVICE ring_pixels pixels_of(ring_job j, GLOBAL real *map, const GLOBAL double *RESTRICT weight, ring_args t)
{
  ring_pixels p;
  map += t.map + GROUP_ID(0) % t.maps * t.map_stride;
  p.north = j.first[0] < 0 ? 0 : map + j.first[0];
  p.south = j.first[1] < 0 ? 0 : map + j.first[1];
  p.weight_north = t.weighted ? (real)weight[2 * j.pair] : (real)1;
  p.weight_south = t.weighted ? (real)weight[2 * j.pair + 1] : (real)1;
  p.check = t.check;
  return p;
}

DEVICE real checked(real v, int check, GLOBAL i32 *bad)
{
  double d = v;
  if (fabs(d) <= 1.7e308 && !(fabs(d + 1.6375e30) <= 1.6375e25))
    return v;
  if (check == 2)
    ATOMIC_ADD_I32(bad, 1);
  return 0;
}

// v[q]: pixels i + q step of both rings, q < count.
DEVICE void get_pixels(ring_pixels p, int i, int step, int count, GLOBAL i32 *bad, real2 *v)
{
  UNROLL for (int q = 0; q < count; q++)
    v[q] = MAKE_REAL2(0, 0);
  if (p.north)
    UNROLL for (int q = 0; q < count; q++)
      v[q].x = p.north[i + q * step];
  if (p.south)
    UNROLL for (int q = 0; q < count; q++)
      v[q].y = p.south[i + q * step];
  if (p.check)
    UNROLL for (int q = 0; q < count; q++)
      v[q] = MAKE_REAL2(checked(v[q].x, p.check, bad), checked(v[q].y, p.check, bad));
  UNROLL for (int q = 0; q < count; q++)
    v[q] = MAKE_REAL2(p.weight_north * v[q].x, p.weight_south * v[q].y);
}

// Pixels i + q step of both rings from v[q] = i conj (north + i south), q < count.
DEVICE void set_pixels(ring_pixels p, int i, int step, int count, const real2 *v)
{
  UNROLL for (int side = 0; side < 2; side++) {
    GLOBAL real *to = side ? p.south : p.north;
    real weight = side ? p.weight_south : p.weight_north;
    if (to)
      UNROLL for (int q = 0; q < count; q++)
        to[i + q * step] = weight * (side ? v[q].x : v[q].y);
  }
}

/* ---- kernels ---- */

// The block's job; neighbouring blocks serve one job of several maps. (Arguments of a kernel are not to be changed:
// OpenCL on CPUs shares them.)
#define THE_JOB                                                                                                      \
  WORK_ROOM;                                                                                                         \
  ring_args t = args;                                                                                                \
  int unit = units[args.first + GROUP_ID(0) / args.maps];                                                            \
  ring_job j = jobs[unit];                                                                                           \
  ring_line l = lines[j.line];                                                                                       \
  LINE(l);                                                                                                           \
  t.leg += GROUP_ID(0) % args.maps * t.leg_stride;                                                                   \
  ring_side s = side_of(j, l.n, t.leg);                                                                              \
  int own_order = LOCAL_ID(0) / 2;                                                                                   \
  i64 row = 2 * t.row;                                                                                               \
  WORK real2 *roots = z + room_of(l), *phases = roots + ((roots_of(l) + 7) & ~7)

// LOCAL_ID(0), of numbers that are kept since the kernel's start: behind the barriers of transform PoCL 5.0 gives all threads
// of a block the last one's id.
#if IS_CUDA
#define OWN_PLACE LOCAL_ID(0)
#else
#define OWN_PLACE (2 * own_order + s.which)
#endif

// got: what the neighbour puts there
#define SWAP(got, put)              \
  real2 got;                        \
  got.x = SHUFFLE_XOR((put).x, 1);  \
  got.y = SHUFFLE_XOR((put).y, 1)

// Order k, and n - k, of i conj Z from those of both sides.
DEVICE void put_order(WORK real2 *z, ring_line l, int k, real2 north, real2 south)
{
  if (2 * k <= l.n)
    z[natural(l, k)] = MAKE_REAL2(north.y + south.x, north.x - south.y);
  if (k > 0 && 2 * k < l.n)
    z[natural(l, l.n - k)] = MAKE_REAL2(south.x - north.y, north.x + south.y);
}

// Order k of a side, before its phase; order n / 2 folds upon itself.
DEVICE real2 turned_order(ring_line l, int k, real2 f, real2 phase)
{
  real2 v = mul(f, phase);
  return 2 * k == l.n ? MAKE_REAL2(2 * v.x, 0) : v;
}

// With i conj Z_k = i conj (north + i south), whose transform with the other sign is i conj z.
KERNEL_BLOCKS(THREADS, BLOCKS) ring_synth(const GLOBAL ring_job *jobs, const GLOBAL i32 *RESTRICT units,
                                          const GLOBAL ring_line *lines, const GLOBAL real2 *RESTRICT tables,
                                          const GLOBAL i32 *RESTRICT order, const GLOBAL double2 *RESTRICT leg,
                                          GLOBAL real *map, const GLOBAL double *RESTRICT weight,
                                          GLOBAL real2 *RESTRICT scratch, ring_args args)
{
  SHUFFLE_ROOM(THREADS);
  THE_JOB;
  int fused = !l.split && l.n % 8 == 0, eighth = fused ? l.n / 8 : 0; // the last pass
  if (REAL_BITS == 64)
    fetch_orders(leg, s, row, l.n / 2);
  load_roots(roots, tables + l.roots, l);
  make_phases(phases, s, l.n / 2);
  BARRIER();
  int folds = !IS_CUDA || 2 * s.mlim > l.n; // barriers of shuffles are in no condition; order n / 2 alone folds below
  for (int base = 0; !folds && 2 * base <= l.n; base += AHEAD * THREADS) {
    double2 f[2 * AHEAD];
    UNROLL for (int u = 0; u < 2 * AHEAD; u++) {
      int k = base + u * HALF + own_order;
      f[u].x = f[u].y = 0;
      if (s.exists && k <= s.mlim)
        f[u] = leg[s.leg + k * row];
    }
    UNROLL for (int u = 0; u < AHEAD; u++) {
      int k = base + (2 * u + s.which) * HALF + own_order;
      real2 first = rounded(f[2 * u]), second = rounded(f[2 * u + 1]);
      SWAP(got, s.which ? first : second);
      if (2 * k <= l.n)
        put_order(z, l, k, turned_order(l, k, s.which ? got : first, made_phase(phases, 0, k)),
                  turned_order(l, k, s.which ? second : got, made_phase(phases, 1, k)));
    }
  }
  ROLLED for (int base = 0; folds && 2 * base <= l.n; base += HALF)
  {
    int k = base + own_order;
    real2 v = MAKE_REAL2(0, 0);
    if (s.exists && 2 * k <= l.n) {
      if (k <= s.mlim)
        v = mul(rounded(leg[s.leg + k * row]), made_phase(phases, s.which, k));
      v = folded(v, leg, s, row, k);
    }
    SWAP(south, v);
    if (!s.which)
      put_order(z, l, k, v, south);
  }
  BARRIER();
  transform(z, roots, tables, l, 0, l.passes - fused);
  j = jobs[unit]; // read again, not kept in registers
  l.order = lines[j.line].order;
  ring_pixels p = pixels_of(j, map, weight, t);
  for (int i = OWN_PLACE; i < eighth; i += THREADS) { // pixels i + q n / 8 come from one butterfly
    int base = slot(order[l.order + i]);
    real2 x[8];
    UNROLL for (int q = 0; q < 8; q++)
      x[q] = z[base ^ q];
    dft8(x, -1);
    set_pixels(p, i, eighth, 8, x);
  }
  for (int i = OWN_PLACE; i < l.n && !fused; i += 4 * THREADS) {
    real2 x[4];
    UNROLL for (int q = 0; q < 4; q++)
      if (i + q * THREADS < l.n)
        x[q] = z[place(l, order, i + q * THREADS)];
    UNROLL for (int q = 0; q < 4; q++)
      if (i + q * THREADS < l.n)
        set_pixels(p, i + q * THREADS, 0, 1, x + q);
  }
}

KERNEL_BLOCKS(THREADS, BLOCKS) ring_adjoint(const GLOBAL ring_job *jobs, const GLOBAL i32 *RESTRICT units,
                                            const GLOBAL ring_line *RESTRICT lines, const GLOBAL real2 *RESTRICT tables,
                                            const GLOBAL i32 *RESTRICT order, GLOBAL double2 *RESTRICT leg,
                                            GLOBAL real *map, const GLOBAL double *RESTRICT weight,
                                            GLOBAL i32 *bad, GLOBAL real2 *RESTRICT scratch, ring_args args)
{
  SHUFFLE_ROOM(THREADS);
  THE_JOB;
  int fused = l.n >= 64 && (l.n & (l.n - 1)) == 0, eighth = fused ? l.n / 8 : 0; // the first pass
  load_roots(roots, tables + l.roots, l);
  make_phases(phases, s, s.mlim);
  ring_pixels p = pixels_of(j, map, weight, t);
  for (int i = OWN_PLACE; i < eighth; i += THREADS) {
    real2 x[8], w[8];
    int base = slot(i);
    w[1] = tables[l.roots + i];
    get_pixels(p, i, eighth, 8, bad, x);
    dft8(x, -1);
    POWERS(8);
    TWIDDLE(8);
    UNROLL for (int q = 0; q < 8; q++)
      z[base ^ slot(q * eighth)] = x[q];
  }
  for (int i = OWN_PLACE; i < l.n && !fused; i += 4 * THREADS) {
    real2 x[4];
    UNROLL for (int q = 0; q < 4; q++)
      if (i + q * THREADS < l.n)
        get_pixels(p, i + q * THREADS, 0, 1, bad, x + q);
    UNROLL for (int q = 0; q < 4; q++)
      if (i + q * THREADS < l.n)
        z[natural(l, i + q * THREADS)] = x[q];
  }
  BARRIER();
  transform(z, roots, tables, l, fused, l.passes);
  j = jobs[unit];
  s = side_of(j, l.n, t.leg);
  UNROLL_TWO for (int base = 0; base <= s.mlim; base += THREADS)
  {
    int m = base + s.which * HALF + own_order;
    real2 north = MAKE_REAL2(0, 0), south = north;
    if (m <= s.mlim) {
      int k = m < l.n ? m : m % l.n;
      real2 a = z[place(l, order, k)], b = z[place(l, order, k ? l.n - k : 0)];
      north = mul(MAKE_REAL2(a.x + b.x, a.y - b.y), conjugate(made_phase(phases, 0, m)));
      south = mul(MAKE_REAL2(a.y + b.y, b.x - a.x), conjugate(made_phase(phases, 1, m)));
    }
    SWAP(got, s.which ? north : south);
    m = base + own_order;
    if (m <= s.mlim && j.flags & (1 << s.which))
      leg[s.leg + m * row] = halved(s.which ? got : north, s.exists);
    if (m + HALF <= s.mlim && j.flags & (1 << s.which))
      leg[s.leg + (m + HALF) * row] = halved(s.which ? south : got, s.exists);
  }
}

#if REAL_BITS == 64
// The transform of the conjugate chirp, as filter_parts meets it, of the lines that units name.
KERNEL(THREADS) ring_filter(const GLOBAL i32 *RESTRICT units, const GLOBAL ring_line *RESTRICT lines,
                            GLOBAL real2 *RESTRICT tables, GLOBAL real2 *RESTRICT scratch, ring_args args)
{
  WORK_ROOM;
  ring_line l = lines[units[args.first + GROUP_ID(0)]];
  LINE(l);
  for (int i = LOCAL_ID(0); i < l.size; i += THREADS) {
    int k = i < l.length ? i : l.size - i;
    z[slot(i)] = k < l.length ? conjugate(tables[l.chirp + k]) : MAKE_REAL2(0.0, 0.0);
  }
  l.split = 0; // as of a line of l.size
  l.length = l.size;
  WORK real2 *roots = z + room_of(l);
  load_roots(roots, tables + l.roots, l);
  BARRIER();
  transform(z, roots, tables, l, 0, l.passes);
  double factor = 1.0 / l.size;
  for (int i = LOCAL_ID(0); i < l.size; i += THREADS) {
    real2 v = z[slot(i)];
    tables[l.filter + i / 8 + i % 8 * (l.size / 8)] = MAKE_REAL2(factor * v.x, factor * v.y);
  }
}
#endif
