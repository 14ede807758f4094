// SPDX-License-Identifier: BSD-3-Clause
// Rings from their Fourier coefficients and back. A block serves a pair of rings of one length n (or one ring) at a
// time: z = north + i south in ROOM numbers of shared memory (of global memory with WORK_GLOBAL). Smooth lengths
// are transformed in place; others are split by r = gcd(n, 4) and go through chirps (Bluestein), part by part.
// leg[m][row] holds north re, im, south re, im of each pair; orders beyond the Nyquist frequency fold exactly.
//
// variant: THREADS=256 BLOCKS=3 ROOM=4864
// variant: THREADS=256 BLOCKS=2 ROOM=7168
// variant: THREADS=512 BLOCKS=1 ROOM=14336
// variant: THREADS=256 BLOCKS=2 ROOM=0 WORK_GLOBAL=1

#include "fft/kernels/ringdft.h.cl"

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
  i32 first, maps, f32, weighted, check, row; // blocks serve units from `first` on; check 1: bad pixels count as
  i64 room, map, map_stride, leg, leg_stride; // zero, 2: and are counted; of a block; first elements; to the next map
} ring_args;

/* ---- coefficients ---- */

// e^{2 pi i m (hi + lo 2^-64) 2^-64}
DEVICE real2 phase(u64 hi, u64 lo, int m)
{
  u64 t = hi * (u64)m + (((lo >> 32) * (u64)m) >> 32);
  return turn((double)(i64)t * 0x1p-63);
}

// Neighbouring threads serve north and south of one order, HALF orders at a time. The phase e^{i m phi0} of a thread's
// order k + c HALF is that of k, which is in fine[thread], times that of c HALF, fine[THREADS + 2 c + side].
#define HALF (THREADS / 2)
enum { AHEAD = 4 };

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

DEVICE void make_phases(WORK real2 *fine, ring_side s, int top)
{
  fine[LOCAL_ID(0)] = phase(s.hi, s.lo, LOCAL_ID(0) / 2);
  for (int c = LOCAL_ID(0) / 2; c * HALF <= top; c += HALF)
    fine[THREADS + 2 * c + s.which] = phase(s.hi, s.lo, c * HALF);
}

// Adds the orders that fold onto k.
DEVICE real2 folded(real2 f, const GLOBAL real2 *RESTRICT leg, ring_side s, i64 row, int k)
{
  for (int m = k + s.n; m <= s.mlim; m += s.n)
    f = add(f, mul(leg[s.leg + m * row], phase(s.hi, s.lo, m)));
  for (int m = s.n - k; m <= s.mlim; m += s.n)
    f = add(f, conjugate(mul(leg[s.leg + m * row], phase(s.hi, s.lo, m))));
  return f;
}

/* ---- pixels ---- */

// The first pixels of a pair, NULL where there is no ring, and the factors of north and south.
typedef struct ring_pixels {
  GLOBAL char *north, *south;
  double weight_north, weight_south;
  int f32, check;
} ring_pixels;

DEVICE ring_pixels pixels_of(ring_job j, GLOBAL char *map, const GLOBAL double *RESTRICT weight, ring_args t)
{
  ring_pixels p;
  i64 bytes = t.f32 ? 4 : 8;
  p.north = j.first[0] < 0 ? 0 : map + (t.map + j.first[0]) * bytes;
  p.south = j.first[1] < 0 ? 0 : map + (t.map + j.first[1]) * bytes;
  p.weight_north = t.weighted ? weight[2 * j.pair] : 1.0;
  p.weight_south = t.weighted ? weight[2 * j.pair + 1] : 1.0;
  p.f32 = t.f32;
  p.check = t.check;
  return p;
}

DEVICE double pixel(const GLOBAL char *ring, ring_pixels p, int i, GLOBAL i32 *bad)
{
  double v = p.f32 ? (double)((const GLOBAL float *)ring)[i] : ((const GLOBAL double *)ring)[i];
  if (p.check && (!(fabs(v) <= 1.7e308) || fabs(v + 1.6375e30) <= 1.6375e25)) {
    if (p.check == 2)
      ATOMIC_ADD_I32(bad, 1);
    v = 0;
  }
  return v;
}

DEVICE real2 pixels(ring_pixels p, int i, GLOBAL i32 *bad)
{
  real2 v = MAKE_REAL2(0.0, 0.0);
  if (p.north)
    v.x = p.weight_north * pixel(p.north, p, i, bad);
  if (p.south)
    v.y = p.weight_south * pixel(p.south, p, i, bad);
  return v;
}

// Pixels i + q step of both rings from v[q] = i conj (north + i south), q < count.
DEVICE void set_pixels(ring_pixels p, int i, int step, int count, const real2 *v)
{
  UNROLL for (int side = 0; side < 2; side++) {
    GLOBAL char *ring = side ? p.south : p.north;
    double weight = side ? p.weight_south : p.weight_north;
    if (ring && p.f32) {
      GLOBAL float *to = (GLOBAL float *)ring + i;
      UNROLL for (int q = 0; q < count; q++, to += step)
        *to = (float)(weight * (side ? v[q].x : v[q].y));
    } else if (ring) {
      GLOBAL double *to = (GLOBAL double *)ring + i;
      UNROLL for (int q = 0; q < count; q++, to += step)
        *to = weight * (side ? v[q].x : v[q].y);
    }
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
  t.map += GROUP_ID(0) % args.maps * t.map_stride;                                                                   \
  t.leg += GROUP_ID(0) % args.maps * t.leg_stride;                                                                   \
  ring_side s = side_of(j, l.n, t.leg);                                                                              \
  int own_order = LOCAL_ID(0) / 2;                                                                                   \
  i64 row = 2 * t.row;                                                                                               \
  WORK real2 *fine = z + (l.split ? l.split * stride_of(l) + l.together * l.size : stride_of(l))

// With i conj Z_k = i conj (north + i south), whose transform with the other sign is i conj z.
KERNEL_BLOCKS(THREADS, BLOCKS) ring_synth(const GLOBAL ring_job *RESTRICT jobs, const GLOBAL i32 *RESTRICT units,
                                          const GLOBAL ring_line *RESTRICT lines, const GLOBAL real2 *RESTRICT tables,
                                          const GLOBAL i32 *RESTRICT order, const GLOBAL real2 *RESTRICT leg,
                                          GLOBAL char *map, const GLOBAL double *RESTRICT weight,
                                          GLOBAL real2 *RESTRICT scratch, ring_args args)
{
  SHUFFLE_ROOM(THREADS);
  THE_JOB;
  int fused = !l.split && l.n % 8 == 0, eighth = fused ? l.n / 8 : 0; // the last pass
  make_phases(fine, s, l.n / 2);
  BARRIER();
  for (int base = 0; 2 * base <= l.n; base += AHEAD * HALF) {
    real2 f[AHEAD];
    UNROLL for (int u = 0; u < AHEAD; u++) {
      int k = base + u * HALF + own_order;
      f[u] = s.exists && k <= s.mlim && 2 * k <= l.n ? leg[s.leg + k * row] : MAKE_REAL2(0.0, 0.0);
    }
    UNROLL for (int u = 0; u < AHEAD; u++) {
      int k = base + u * HALF + own_order;
      real2 v = mul(f[u], mul(fine[LOCAL_ID(0)], fine[THREADS + 2 * (base / HALF + u) + s.which]));
      if (s.exists && 2 * k <= l.n)
        v = folded(v, leg, s, row, k);
      real2 o;
      o.x = SHUFFLE_XOR(v.x, 1);
      o.y = SHUFFLE_XOR(v.y, 1);
      if (!s.which && 2 * k <= l.n)
        z[natural(l, k)] = MAKE_REAL2(v.y + o.x, v.x - o.y);
      if (s.which && k > 0 && 2 * k < l.n)
        z[natural(l, l.n - k)] = MAKE_REAL2(v.x - o.y, v.y + o.x);
    }
  }
  BARRIER();
  transform(z, tables, l, 0, l.passes - fused);
  ring_pixels p = pixels_of(j, map, weight, t);
  for (int i = LOCAL_ID(0); i < eighth; i += THREADS) { // pixels i + q n / 8 come from one butterfly
    int base = slot(order[l.order + i]);
    real2 x[8];
    UNROLL for (int q = 0; q < 8; q++)
      x[q] = z[base ^ q];
    dft8(x, -1);
    set_pixels(p, i, eighth, 8, x);
  }
  for (int i = LOCAL_ID(0); i < l.n && !fused; i += THREADS) {
    real2 v = z[place(l, order, i)];
    set_pixels(p, i, 0, 1, &v);
  }
}

KERNEL_BLOCKS(THREADS, BLOCKS) ring_adjoint(const GLOBAL ring_job *jobs, const GLOBAL i32 *RESTRICT units,
                                            const GLOBAL ring_line *RESTRICT lines, const GLOBAL real2 *RESTRICT tables,
                                            const GLOBAL i32 *RESTRICT order, GLOBAL real2 *RESTRICT leg,
                                            GLOBAL char *map, const GLOBAL double *RESTRICT weight,
                                            GLOBAL i32 *bad, GLOBAL real2 *RESTRICT scratch, ring_args args)
{
  THE_JOB;
  int fused = l.n >= 64 && (l.n & (l.n - 1)) == 0, eighth = fused ? l.n / 8 : 0; // the first pass
  ring_pixels p = pixels_of(j, map, weight, t);
  make_phases(fine, s, s.mlim);
  for (int i = LOCAL_ID(0); i < eighth; i += THREADS) {
    real2 x[8], w[8];
    int base = slot(i);
    w[1] = tables[l.roots + i];
    UNROLL for (int q = 0; q < 8; q++)
      x[q] = pixels(p, i + q * eighth, bad);
    dft8(x, -1);
    TWIDDLE(8);
    UNROLL for (int q = 0; q < 8; q++)
      z[base ^ slot(q * eighth)] = x[q];
  }
  for (int i = LOCAL_ID(0); i < l.n && !fused; i += THREADS)
    z[natural(l, i)] = pixels(p, i, bad);
  BARRIER();
  transform(z, tables, l, fused, l.passes);
  j = jobs[unit]; // read again, not kept in registers
  s = side_of(j, l.n, t.leg);
  UNROLL_TWO for (int m = own_order; m <= s.mlim; m += HALF) {
    int k = m < l.n ? m : m % l.n;
    real2 a = z[place(l, order, k)], b = z[place(l, order, k ? l.n - k : 0)];
    real2 v = s.which ? MAKE_REAL2(a.y + b.y, b.x - a.x) : MAKE_REAL2(a.x + b.x, a.y - b.y);
    v = mul(v, conjugate(mul(fine[LOCAL_ID(0)], fine[THREADS + 2 * (m / HALF) + s.which])));
    if (j.flags & (1 << s.which))
      leg[s.leg + m * row] = s.exists ? MAKE_REAL2(0.5 * v.x, 0.5 * v.y) : MAKE_REAL2(0.0, 0.0);
  }
}

// The transform of the conjugate chirp, as filter_parts meets it, of the lines that units name.
KERNEL(THREADS) ring_filter(const GLOBAL i32 *RESTRICT units, const GLOBAL ring_line *RESTRICT lines,
                            GLOBAL real2 *RESTRICT tables, GLOBAL real2 *RESTRICT scratch, ring_args args)
{
  WORK_ROOM;
  ring_line l = lines[units[args.first + GROUP_ID(0)]];
  for (int i = LOCAL_ID(0); i < l.size; i += THREADS) {
    int k = i < l.length ? i : l.size - i;
    z[slot(i)] = k < l.length ? conjugate(tables[l.chirp + k]) : MAKE_REAL2(0.0, 0.0);
  }
  BARRIER();
  l.split = 0; // as of a line of l.size
  l.together = 1;
  l.length = l.size;
  transform(z, tables, l, 0, l.passes);
  double factor = 1.0 / l.size;
  for (int i = LOCAL_ID(0); i < l.size; i += THREADS) {
    real2 v = z[slot(i)];
    tables[l.filter + i / 8 + i % 8 * (l.size / 8)] = MAKE_REAL2(factor * v.x, factor * v.y);
  }
}
