// SPDX-License-Identifier: BSD-3-Clause
// The Legendre stage: a warp owns 32 K neighbouring ring pairs of one m. Values of the two-step recurrence (Ishioka 2018)
// are v 2^(800 s); while s < 0 they are below 2^-150 and only the recurrence runs. No two warps add to one number, so
// results do not depend on the order of work.
//
// variant: NS=1 K=4 KA=8 WARPS=4
// variant: NS=2 K=2 KA=4 WARPS=4
// variant: NS=3 K=2 KA=4 WARPS=4
//
// NS series share the recurrence. leg[series][m][row] holds north re, im, south re, im of each pair.

#define THREADS (32 * WARPS)
#define LARGE 0x1p650
#define SHIFT 0x1p-800

#if IS_CUDA
#define UNROLL _Pragma("unroll")
#define WARP_SYNC() __syncwarp()
#define ANY_ROOM ((void)0)
#define ANY(p) __any_sync(0xffffffffu, (p))
#else // blocks of one warp
#define UNROLL
#define WARP_SYNC() barrier(CLK_LOCAL_MEM_FENCE)
#define ANY_ROOM __local int any_room[32]
#define ANY(p) any_of((p), any_room)
DEVICE int any_of(int p, __local int *room)
{
  int any = 0;
  room[LOCAL_ID(0)] = p;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < 32; i++)
    any |= room[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  return any;
}
#endif

typedef struct shape {
  i32 npairs, first, tiles, top; // pairs [first, npairs) in tiles of 32 K; series run to degree top
  i32 m0, nm, mmax, row;         // m0 <= m < m0 + nm
  i32 stride, spare;             // of the pair table
  i32 middle, pole_tiles;        // pairs [first, middle), in pole_tiles tiles, run in sin^2, the others in cos^2
} shape;

// Tables of the pairs.
#define CSQ(p) pairs[p]
#define SSQ(p) pairs[(p) + t.stride]
#define CTH(p) pairs[(p) + 2 * t.stride]
#define LOG_S(p) pairs[(p) + 3 * t.stride]
#define LOG_S_LO(p) pairs[(p) + 4 * t.stride]
#define FACTOR(p) pairs[(p) + 5 * t.stride]

#define FIRST(tile, k) \
  ((tile) < t.pole_tiles ? t.first + (tile) * 32 * (k) : t.middle + ((tile) - t.pole_tiles) * 32 * (k))
#define LAST(first, limit, k) (((first) + 32 * (k) < (limit) ? (first) + 32 * (k) : (limit)) - 1)

// mfac sin^m theta = v 2^(800 s), s <= 0, from log2 sin theta = hi + lo.
DEVICE double start_value(double hi, double lo, double m, double mfac, int *scale)
{
  double k = rint(hi * m), f = FMA(hi, m, -k) + lo * m, r = rint(f), n = k + r, s = 0;
  if (n < -150)
    s = -rint((-150 - n) * (1.0 / 800) + 0.5);
  *scale = (int)s;
  return ldexp(exp2(f - r) * mfac, (int)(n - 800 * s));
}

// Coefficients of step k. Towards the poles the recurrence runs in sin^2: there the rounding of cos^2 shifts the angle.
DEVICE real2 step_coef(const GLOBAL real2 *RESTRICT coef, int k, int n, int pole)
{
  real2 c = MAKE_REAL2(0.0, 0.0);
  if (k < n) {
    c = coef[k];
    if (pole)
      c = MAKE_REAL2(-c.x, c.x + c.y);
  }
  return c;
}

#define LIFT()                                                \
  UNROLL for (int k = 0; k < K; k++)               \
    if (s[k] < 0 && fabs(q1[k]) > LARGE) {                    \
      q0[k] *= SHIFT;                                         \
      q1[k] *= SHIFT;                                         \
      s[k]++;                                                 \
    }

#define ADVANCE(c)                                            \
  UNROLL for (int k = 0; k < K; k++) {             \
    double next = FMA(FMA((c).x, x2[k], (c).y), q1[k], q0[k]); \
    q0[k] = q1[k];                                            \
    q1[k] = next;                                             \
  }

#define ADD(term, q)                                          \
  UNROLL for (int c = 0; c < 2 * NS; c++) {        \
    real2 f = (term)[c][at];                                  \
    UNROLL for (int k = 0; k < K; k++) {           \
      acc[2 * c][k] = FMA(f.x, q[k], acc[2 * c][k]);          \
      acc[2 * c + 1][k] = FMA(f.y, q[k], acc[2 * c + 1][k]);  \
    }                                                         \
  }

KERNEL(THREADS) leg_synth(const GLOBAL real2 *RESTRICT coef, const GLOBAL real2 *RESTRICT series,
                          const GLOBAL i64 *RESTRICT offset, const GLOBAL double *RESTRICT mfac,
                          const GLOBAL double *RESTRICT pairs, const GLOBAL i32 *RESTRICT mlim,
                          GLOBAL real2 *RESTRICT leg, shape t)
{
  SHARED real2 room[WARPS][1 + 2 * NS][32];
  ANY_ROOM;
  int lane = LOCAL_ID(0) % 32, warp = LOCAL_ID(0) / 32, unit = GROUP_ID(0) * WARPS + warp;
  int m = t.m0 + unit / t.tiles, tile = t.tiles - 1 - unit % t.tiles, pole = tile < t.pole_tiles;
  int first = FIRST(tile, K), limit = pole ? t.middle : t.npairs;
  if (m >= t.m0 + t.nm || m > mlim[LAST(first, limit, K)])
    return;
  int n = (t.top - m) / 2 + 1, b = 0, j = 0, live = 0;
  const GLOBAL real2 *RESTRICT recurrence = coef + offset[m];
  const GLOBAL real2 *RESTRICT terms = series + offset[m] * 2 * NS;
  double x2[K], q0[K], q1[K], acc[4 * NS][K];
  int s[K];
  UNROLL for (int k = 0; k < K; k++) {
    int p = first + lane + 32 * k;
    x2[k] = pole ? SSQ(p) : CSQ(p);
    q0[k] = 0;
    q1[k] = start_value(LOG_S(p), LOG_S_LO(p), m, mfac[m], &s[k]);
    UNROLL for (int c = 0; c < 4 * NS; c++)
      acc[c][k] = 0;
  }
  while (b < n) { // until some value matters
    real2 c = step_coef(recurrence, b + lane, n, pole);
    WARP_SYNC();
    room[warp][0][lane] = c;
    WARP_SYNC();
    for (j = 0; j < 32; j += 4) {
      int ready = 0;
      UNROLL for (int k = 0; k < K; k++)
        ready |= s[k] >= 0;
      live = ANY(ready);
      if (live)
        break;
      for (int i = 0; i < 4; i++) {
        c = room[warp][0][j + i];
        ADVANCE(c);
      }
      LIFT();
    }
    if (live)
      break;
    b += 32;
  }
  real2 next_c = step_coef(recurrence, b + lane, n, pole), next_t[2 * NS];
  UNROLL for (int c = 0; c < 2 * NS; c++)
    next_t[c] = b + lane < n ? terms[(i64)(b + lane) * 2 * NS + c] : MAKE_REAL2(0.0, 0.0);
  for (; b < n; b += 32, j = 0) {
    WARP_SYNC();
    room[warp][0][lane] = next_c;
    UNROLL for (int c = 0; c < 2 * NS; c++)
      room[warp][1 + c][lane] = next_t[c];
    WARP_SYNC();
    int at = b + 32 + lane, end = n - b < 32 ? n - b : 32, low = 0;
    next_c = step_coef(recurrence, at, n, pole);
    UNROLL for (int c = 0; c < 2 * NS; c++)
      next_t[c] = at < n ? terms[(i64)at * 2 * NS + c] : MAKE_REAL2(0.0, 0.0);
    UNROLL for (int k = 0; k < K; k++)
      low |= s[k] < 0;
    if (ANY(low))
      for (; j < end; j += 4) {
        for (at = j; at < j + 4; at++) {
          double q[K];
          UNROLL for (int k = 0; k < K; k++)
            q[k] = s[k] < 0 ? 0.0 : q1[k];
          ADD(room[warp] + 1, q);
          real2 c = room[warp][0][at];
          ADVANCE(c);
        }
        LIFT();
      }
    else
      for (; j < end; j += 4) {
        UNROLL for (int i = 0; i < 4; i += 2) { // q0 and q1 change roles: no moves
          at = j + i;
          real2 c = room[warp][0][at];
          ADD(room[warp] + 1, q1);
          UNROLL for (int k = 0; k < K; k++)
            q0[k] = FMA(FMA(c.x, x2[k], c.y), q1[k], q0[k]);
          at = j + i + 1;
          c = room[warp][0][at];
          ADD(room[warp] + 1, q0);
          UNROLL for (int k = 0; k < K; k++)
            q1[k] = FMA(FMA(c.x, x2[k], c.y), q0[k], q1[k]);
        }
      }
  }
  UNROLL for (int k = 0; k < K; k++) {
    int p = first + lane + 32 * k;
    if (p < limit) {
      double x = CTH(p);
      UNROLL for (int c = 0; c < NS; c++) {
        double f = NS == 2 || c ? FACTOR(p) : 1.0, even_re = f * acc[4 * c][k], even_im = f * acc[4 * c + 1][k],
               odd_re = f * x * acc[4 * c + 2][k], odd_im = f * x * acc[4 * c + 3][k];
        i64 to = 2 * (((i64)c * (t.mmax + 1) + m) * t.row + p);
        leg[to] = MAKE_REAL2(even_re + odd_re, even_im + odd_im);
        leg[to + 1] = MAKE_REAL2(even_re - odd_re, even_im - odd_im);
      }
    }
  }
}

// Each lane sums its own pairs over BATCH steps; then lane l gets the warp's sum of value l, in v[0].
#if NS == 1
#define BATCH 8
#else
#define BATCH 4
#endif
#define VALUES (4 * BATCH)
#if IS_CUDA
#define SUM_ROOM ((void)0)
#define FOLD(h)                                                               \
  if ((h) < VALUES) {                                                         \
    int up = lane & (h);                                                      \
    UNROLL for (int i = 0; i < (h); i++)                                      \
    {                                                                         \
      double keep = up ? v[i + (h)] : v[i], send = up ? v[i] : v[i + (h)];    \
      v[i] = keep + SHUFFLE_XOR_F64(send, (h));                               \
    }                                                                         \
  } else                                                                      \
    v[0] += SHUFFLE_XOR_F64(v[0], (h));
#if NS == 1
#define WARP_SUMS() FOLD(16) FOLD(8) FOLD(4) FOLD(2) FOLD(1)
#else
#define WARP_SUMS() FOLD(8) FOLD(4) FOLD(2) FOLD(1) FOLD(16)
#endif
#else
#define SUM_ROOM __local double sum_room[VALUES * 33]
#define WARP_SUMS()                                                           \
  {                                                                           \
    for (int i = 0; i < VALUES; i++)                                          \
      sum_room[i * 33 + lane] = v[i];                                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                             \
    v[0] = 0;                                                                 \
    for (int i = 0; i < 32; i++)                                              \
      v[0] += sum_room[lane % VALUES * 33 + i];                               \
    barrier(CLK_LOCAL_MEM_FENCE);                                             \
  }
#endif

#define STEP_A(c)                                               \
  UNROLL for (int k = 0; k < KA; k++) {              \
    double next = FMA(FMA((c).x, x2[k], (c).y), q1[k], q0[k]);  \
    q0[k] = q1[k];                                              \
    q1[k] = next;                                               \
  }
#define LIFT_A()                                                \
  UNROLL for (int k = 0; k < KA; k++)                \
    if (s[k] < 0 && fabs(q1[k]) > LARGE) {                      \
      q0[k] *= SHIFT;                                           \
      q1[k] *= SHIFT;                                           \
      s[k]++;                                                   \
    }
#define SUM_A(q, c, out)                                        \
  UNROLL for (int r = 0; r < 4; r++) {               \
    double sum = 0;                                             \
    UNROLL for (int k = 0; k < KA; k++)              \
      sum = FMA(q[k], in[4 * (c) + r][k], sum);                 \
    (out)[r] = sum;                                             \
  }

// sums[tile][step of m][series][4]: even re, im, odd re, im; begun[m][tile] is the first step that was written.
KERNEL(THREADS) leg_adjoint(const GLOBAL real2 *RESTRICT coef, const GLOBAL real2 *RESTRICT leg,
                            const GLOBAL i64 *RESTRICT offset, const GLOBAL double *RESTRICT mfac,
                            const GLOBAL double *RESTRICT pairs, const GLOBAL i32 *RESTRICT mlim,
                            GLOBAL double *RESTRICT sums, GLOBAL i32 *RESTRICT begun, shape t)
{
  SHARED real2 room[WARPS][32];
  ANY_ROOM;
  SUM_ROOM;
  int lane = LOCAL_ID(0) % 32, warp = LOCAL_ID(0) / 32, unit = GROUP_ID(0) * WARPS + warp;
  int m = t.m0 + unit / t.tiles, tile = t.tiles - 1 - unit % t.tiles, pole = tile < t.pole_tiles;
  int first = FIRST(tile, KA), limit = pole ? t.middle : t.npairs;
  if (m >= t.m0 + t.nm)
    return;
  int n = (t.top - m) / 2 + 1, b = 0, j = 0, live = 0, begin = n;
  double x2[KA], q0[KA], q1[KA], in[4 * NS][KA], v[VALUES];
  int s[KA];
  if (m <= mlim[LAST(first, limit, KA)]) {
    const GLOBAL real2 *RESTRICT recurrence = coef + offset[m];
    GLOBAL double *RESTRICT to =
      sums + ((i64)tile * (offset[t.m0 + t.nm] - offset[t.m0]) + offset[m] - offset[t.m0]) * 4 * NS;
    UNROLL for (int k = 0; k < KA; k++) {
      int p = first + lane + 32 * k;
      double x = CTH(p);
      x2[k] = pole ? SSQ(p) : CSQ(p);
      q0[k] = 0;
      q1[k] = start_value(LOG_S(p), LOG_S_LO(p), m, mfac[m], &s[k]);
      UNROLL for (int c = 0; c < NS; c++) {
        double f = NS == 2 || c ? FACTOR(p) : 1.0;
        real2 north = MAKE_REAL2(0.0, 0.0), south = north;
        if (p < limit && m <= mlim[p]) {
          i64 from = 2 * (((i64)c * (t.mmax + 1) + m) * t.row + p);
          north = leg[from];
          south = leg[from + 1];
        }
        in[4 * c][k] = f * (north.x + south.x);
        in[4 * c + 1][k] = f * (north.y + south.y);
        in[4 * c + 2][k] = f * x * (north.x - south.x);
        in[4 * c + 3][k] = f * x * (north.y - south.y);
      }
    }
    real2 next = step_coef(recurrence, lane, n, pole);
    for (; b < n; b += 32) {
      WARP_SYNC();
      room[warp][lane] = next;
      WARP_SYNC();
      next = step_coef(recurrence, b + 32 + lane, n, pole);
      for (j = 0; j < 32 && b + j < n; j += BATCH) {
        int ready = 0, low = 0;
        UNROLL for (int k = 0; k < KA; k++) {
          ready |= s[k] >= 0;
          low |= s[k] < 0;
        }
        if (!live) {
          live = ANY(ready);
          if (!live) {
            for (int i = 0; i < BATCH; i++) {
              real2 c = room[warp][j + i];
              STEP_A(c);
              if (i % 4 == 3)
                LIFT_A();
            }
            continue;
          }
          begin = b + j;
        }
        low = ANY(low);
#if NS == 1
        if (low)
          UNROLL for (int i = 0; i < BATCH; i++) {
            double q[KA];
            real2 c = room[warp][j + i];
            UNROLL for (int k = 0; k < KA; k++)
              q[k] = s[k] < 0 ? 0.0 : q1[k];
            SUM_A(q, 0, v + 4 * i);
            STEP_A(c);
            if (i % 4 == 3)
              LIFT_A();
          }
        else
          UNROLL for (int i = 0; i < BATCH; i++) {
            real2 c = room[warp][j + i];
            SUM_A(q1, 0, v + 4 * i);
            STEP_A(c);
          }
        WARP_SUMS();
        if (b + j + lane / 4 < n)
          to[(i64)(b + j) * 4 + lane] = v[0];
#else
        double q[BATCH][KA];
        UNROLL for (int i = 0; i < BATCH; i++) {
          real2 c = room[warp][j + i];
          UNROLL for (int k = 0; k < KA; k++)
            q[i][k] = s[k] < 0 ? 0.0 : q1[k];
          STEP_A(c);
          if (i % 4 == 3 && low)
            LIFT_A();
        }
        UNROLL for (int c = 0; c < NS; c++) {
          UNROLL for (int i = 0; i < BATCH; i++)
            SUM_A(q[i], c, v + 4 * i);
          WARP_SUMS();
          if (lane < VALUES && b + j + lane / 4 < n)
            to[((i64)(b + j + lane / 4) * NS + c) * 4 + lane % 4] = v[0];
        }
#endif
      }
    }
  }
  if (lane == 0)
    begun[(i64)m * t.tiles + tile] = begin;
}
