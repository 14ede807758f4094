// SPDX-License-Identifier: BSD-3-Clause
// What the kernels of the Legendre stage share. Values of the two-step recurrence (Ishioka 2018) are v 2^(800 s); while
// s < 0 they are below 2^-150 and do not count. Texts for ranks have the bits of those without, since compilers have no choice of
// which products they round: those that are added are of FMA or MUL_EXACT.

#ifdef UNCONTRACTED // a test: the bits are the same
#pragma OPENCL FP_CONTRACT OFF
#endif
#if LISTED
#include "sphere/legendre/kernels/orders.h.cl"
#endif
#define LARGE 0x1p650
#define SHIFT 0x1p-800

#if IS_CUDA
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#define WARP_SYNC() __syncwarp()
#else // synthesis in blocks of one warp
#define UNROLL
#define ROLLED
#define WARP_SYNC() BARRIER()
#endif

typedef struct shape {
  i32 npairs, first, tiles, top; // pairs [first, npairs); series run to degree top
  i32 m0, nm, mmax, row;         // slots m0 to m0 + nm; mmax + 1 of them in leg
  i32 stride, strips;            // of the pair table; in a row of starts
  i32 middle, pole_tiles;        // pairs [first, middle), in pole_tiles tiles, run in sin^2, the others in cos^2
  i32 pole_strips, groups;       // blocks of one m: adjoint
  i64 series_step, leg_step, sums_step; // from one group of MAPS maps, GROUP_ID(1), to the next, in elements
#if LISTED
  i32 rank, size;
#endif
} shape;

// Blocks, offset, starts, begun and leg count orders by slots, which are the orders but for LISTED, over ranks.
#if LISTED
#define ORDER(slot) order_of(slot, t.rank, t.size)
#define SLOT(m) ((m) / t.size)
#else
#define ORDER(slot) (slot)
#define SLOT(m) (m)
#endif

// Tables of the pairs.
#define CSQ(p) pairs[p]
#define SSQ(p) pairs[(p) + t.stride]
#define CTH(p) pairs[(p) + 2 * t.stride]
#define LOG_S(p) pairs[(p) + 3 * t.stride]
#define LOG_S_LO(p) pairs[(p) + 4 * t.stride]
#define FACTOR(p) pairs[(p) + 5 * t.stride]

// mfac sin^m theta = v 2^(800 s), s <= 0, from log2 sin theta = hi + lo.
DEVICE double start_value(double hi, double lo, double m, double mfac, int *scale)
{
  double k = rint(hi * m), f = FMA(lo, m, FMA(hi, m, -k)), r = rint(f), n = k + r, s = 0;
  if (n < -150)
    s = -rint((-150 - n) * (1.0 / 800) + 0.5);
  *scale = (int)s;
  return ldexp(exp2(f - r) * mfac, (int)(n - 800 * s));
}

// Towards the poles the recurrence runs in sin^2: there the rounding of cos^2 shifts the angle.
DEVICE real2 sin_coef(real2 c) { return MAKE_REAL2(-c.x, c.x + c.y); }

// Coefficients of step k.
DEVICE real2 step_coef(const GLOBAL real2 *RESTRICT coef, int k, int n, int pole)
{
  real2 c = MAKE_REAL2(0.0, 0.0);
  if (k < n) {
    c = coef[k];
    if (pole)
      c = sin_coef(c);
  }
  return c;
}

// *to = *from or 0; seen by the thread after COPIED(), by its warp after WARP_SYNC() too.
#if IS_CUDA && __CUDA_ARCH__ >= 800
DEVICE void copy_later(real2 *to, const real2 *from, int there)
{
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from),
               "r"(there ? 16 : 0)
               : "memory");
}
#define COPIED() asm volatile("cp.async.wait_all;" ::: "memory")
#else
DEVICE void copy_later(IN_SHARED real2 *to, const GLOBAL real2 *from, int there)
{
  real2 v = MAKE_REAL2(0.0, 0.0);
  if (there)
    v = *from;
  *to = v;
}
#define COPIED() ((void)0)
#endif

// Where a tile begins, and steps: before `begin` no pair counts, from `full` on all do. Multiples of 8.
typedef struct tile_place {
  i32 pole, first, limit, begin, full;
} tile_place;

DEVICE tile_place place_tile(const GLOBAL u32 *RESTRICT starts, shape t, int m, int tile, int strips)
{
  tile_place a;
  a.pole = tile < t.pole_tiles;
  int strip = a.pole ? tile * strips : t.pole_strips + (tile - t.pole_tiles) * strips;
  int end = a.pole ? t.pole_strips : t.strips;
  a.first = a.pole ? t.first + strip * 32 : t.middle + (strip - t.pole_strips) * 32;
  a.limit = a.pole ? t.middle : t.npairs;
  a.begin = 1 << 20;
  a.full = 0;
  for (int i = strip; i < end && i < strip + strips; i++) {
    u32 s = starts[(i64)SLOT(m) * t.strips + i];
    int begin = (int)(s & 0xffff) * 8, full = (int)(s >> 16) * 8;
    a.begin = begin < a.begin ? begin : a.begin;
    a.full = full > a.full ? full : a.full;
  }
  return a;
}

// `count` pairs of a lane at step 0: x2, q0, q1, s. Pairs without a contribution are zero.
#define START(count)                                                  \
  UNROLL for (int k = 0; k < (count); k++) {                          \
    int p = a.first + lane + 32 * k;                                  \
    x2[k] = a.pole ? SSQ(p) : CSQ(p);                                 \
    q0[k] = 0;                                                        \
    q1[k] = start_value(LOG_S(p), LOG_S_LO(p), m, mfac[m], &s[k]);    \
    if (p >= a.limit || m > mlim[p])                                  \
      q1[k] = s[k] = 0;                                               \
  }

// NS series are those of MAPS maps of a batch. Series s of a map makes its component s, divided by sin^spin theta unless
// it is a value; component ALONG_PHI of a gradient is i m value / sin theta.
#ifndef MAPS
#define MAPS 1
#endif
#define SERIES (NS / MAPS)
#define COMPONENTS (MODE == 4 ? 3 : SERIES)
#define IN_MAP(c) ((c) % SERIES)
#define SCALED(c) (MODE == 1 || MODE == 3 || ((MODE == 2 || MODE == 4) && IN_MAP(c) > 0))
#define HAS_VALUE(c) ((MODE == 3 && IN_MAP(c) == 1) || (MODE == 4 && IN_MAP(c) == 0))
#define IS_COMPONENT(c) (!(MODE == 3 && IN_MAP(c) == 1))
#define ALONG_PHI (MODE == 3 ? 1 : 2)
#define LEG_AT(c, part, p) ((i64)GROUP_ID(1) * t.leg_step + 2 * (((i64)((c) / SERIES * COMPONENTS + (part)) * (t.mmax + 1) + SLOT(m)) * t.row + (p)))

DEVICE real2 times_i(real2 z, double f) { return MAKE_REAL2(-f * z.y, f * z.x); }
DEVICE real2 times(real2 z, double f) { return MAKE_REAL2(f * z.x, f * z.y); }
DEVICE real2 scaled(real2 z, double f) { return MAKE_REAL2(MUL_EXACT(f, z.x), MUL_EXACT(f, z.y)); } // to be added
DEVICE real2 plus_times(real2 a, real2 z, double f) { return MAKE_REAL2(FMA(f, z.x, a.x), FMA(f, z.y, a.y)); }
DEVICE real2 plus_times_i(real2 a, real2 z, double f) { return MAKE_REAL2(FMA(-f, z.y, a.x), FMA(f, z.x, a.y)); }

// What series c gives pair p, whose FACTOR is `factor`, in the north or the south.
#define STORE(c, p, factor, south, sum)                                                        \
  {                                                                                            \
    if (HAS_VALUE(c))                                                                          \
      leg[LEG_AT(c, ALONG_PHI, p) + (south)] = times_i(sum, m * (factor));                     \
    if (IS_COMPONENT(c))                                                                       \
      leg[LEG_AT(c, IN_MAP(c), p) + (south)] = SCALED(c) ? times(sum, factor) : (sum);         \
  }

// The transpose: *north, *south are what pair p gives series c, or 0.
#define LOAD(c, p, factor, there, north, south)                                                \
  {                                                                                            \
    *(north) = *(south) = MAKE_REAL2(0.0, 0.0);                                                \
    if ((there) && IS_COMPONENT(c)) {                                                          \
      *(north) = leg[LEG_AT(c, IN_MAP(c), p)];                                                 \
      *(south) = leg[LEG_AT(c, IN_MAP(c), p) + 1];                                             \
      if (SCALED(c)) {                                                                         \
        *(north) = scaled(*(north), factor);                                                   \
        *(south) = scaled(*(south), factor);                                                   \
      }                                                                                        \
    }                                                                                          \
    if ((there) && HAS_VALUE(c)) {                                                             \
      *(north) = plus_times_i(*(north), leg[LEG_AT(c, ALONG_PHI, p)], -m * (factor));          \
      *(south) = plus_times_i(*(south), leg[LEG_AT(c, ALONG_PHI, p) + 1], -m * (factor));      \
    }                                                                                          \
  }

#define LIFT(count)                                  \
  UNROLL for (int k = 0; k < (count); k++)           \
    if (s[k] < 0 && fabs(q1[k]) > LARGE) {           \
      q0[k] *= SHIFT;                                \
      q1[k] *= SHIFT;                                \
      s[k]++;                                        \
    }

#define ADVANCE(count, c)                                         \
  UNROLL for (int k = 0; k < (count); k++) {                      \
    double next = FMA(FMA((c).x, x2[k], (c).y), q1[k], q0[k]);    \
    q0[k] = q1[k];                                                \
    q1[k] = next;                                                 \
  }

#define KEEP_COUNTED(count)                  \
  UNROLL for (int k = 0; k < (count); k++)   \
    q[k] = s[k] < 0 ? 0.0 : q1[k];

// starts[m][strip]: in units of 8 steps, from where the first pair of a strip counts, and, above bit 16, all of them do.
KERNEL(128) leg_starts(const GLOBAL real2 *RESTRICT coef, const GLOBAL i64 *RESTRICT offset,
                       const GLOBAL double *RESTRICT mfac, const GLOBAL double *RESTRICT pairs,
                       const GLOBAL i32 *RESTRICT mlim, GLOBAL u32 *RESTRICT starts, shape t)
{
  SHARED i32 room[128];
  int m = ORDER(GROUP_ID(0)), lane = LOCAL_ID(0) % 32, strip = GROUP_ID(1) * 4 + LOCAL_ID(0) / 32, n = (t.top - m) / 2 + 1;
  int pole = strip < t.pole_strips, step = -1;
  int p = (pole ? t.first + strip * 32 : t.middle + (strip - t.pole_strips) * 32) + lane;
  if (strip < t.strips && p < (pole ? t.middle : t.npairs) && m <= mlim[p]) {
    double x2[1], q0[1] = {0.0}, q1[1];
    int s[1];
    x2[0] = pole ? SSQ(p) : CSQ(p);
    q1[0] = start_value(LOG_S(p), LOG_S_LO(p), m, mfac[m], &s[0]);
    for (step = 0; s[0] < 0 && step < n; step += 4) {
      for (int i = 0; i < 4; i++) {
        real2 c = step_coef(coef + offset[SLOT(m)], step + i, n, pole);
        ADVANCE(1, c);
      }
      LIFT(1);
    }
  }
  room[LOCAL_ID(0)] = step;
  BARRIER();
  if (lane == 0 && strip < t.strips) {
    u32 begin = 0xffff, full = 0;
    for (int i = 0; i < 32; i++) {
      int at = room[LOCAL_ID(0) + i];
      u32 down = (u32)at / 8, up = (u32)(at + 7) / 8;
      if (at >= 0 && at < n && down < begin)
        begin = down;
      if (at >= 0 && up > full)
        full = up;
    }
    starts[(i64)SLOT(m) * t.strips + strip] = begin | full << 16;
  }
}
