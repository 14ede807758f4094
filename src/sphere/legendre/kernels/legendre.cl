// SPDX-License-Identifier: BSD-3-Clause
// The Legendre stage: a warp owns a tile of neighbouring ring pairs of one m, K (adjoint: KA) strips of 32. No two blocks
// add to one number, so results do not depend on the order of work. All threads of a block reach every barrier.
//
// variant: MODE=0 NS=1 K=8 KA=8 WARPS=2 WARPSA=2 BLOCKS=4 BLOCKSA=4
// variant: MODE=0 NS=4 MAPS=4 K=2 KA=2 WARPS=2 WARPSA=2 BLOCKS=6 BLOCKSA=4
// variant: MODE=1 NS=2 K=4 KA=6 WARPS=2 WARPSA=2 BLOCKS=6 BLOCKSA=4
// variant: MODE=2 NS=3 K=5 KA=4 WARPS=2 WARPSA=4 BLOCKS=4 BLOCKSA=2
// variant: MODE=1 NS=4 MAPS=2 K=2 KA=2 WARPS=2 WARPSA=2 BLOCKS=6 BLOCKSA=4
// variant: MODE=2 NS=6 MAPS=2 K=1 KA=1 WARPS=2 WARPSA=2 BLOCKS=6 BLOCKSA=4
// variant: MODE=3 NS=2 K=4 KA=6 WARPS=2 WARPSA=2 BLOCKS=6 BLOCKSA=4
// variant: MODE=4 NS=2 K=4 KA=6 WARPS=2 WARPSA=2 BLOCKS=6 BLOCKSA=4
// variant: MODE=0 NS=1 K=8 KA=8 WARPS=2 WARPSA=2 BLOCKS=4 BLOCKSA=4 LISTED=1
// variant: MODE=2 NS=3 K=5 KA=4 WARPS=2 WARPSA=4 BLOCKS=4 BLOCKSA=2 LISTED=1
//
// NS series share the recurrence. leg[component][m][row] holds north re, im, south re, im of each pair. BLOCKS of WARPS
// shall fit into a multiprocessor. MODE is that of the plan: 0 scalar, 1 spin, 2 T, E, B, 3 gradient (theta, phi), 4
// value and gradient.

#include "sphere/legendre/kernels/legendre.h.cl"

#define ADD(q)                                                   \
  UNROLL for (int c = 0; c < 2 * NS; c++) {                      \
    real2 f = terms[1 + c][at];                                  \
    UNROLL for (int k = 0; k < K; k++) {                         \
      acc[2 * c][k] = FMA(f.x, q[k], acc[2 * c][k]);             \
      acc[2 * c + 1][k] = FMA(f.y, q[k], acc[2 * c + 1][k]);     \
    }                                                            \
  }

// Steps b to b + 31, zero beyond n, into the room of their turn.
#define FETCH(b)                                                                            \
  if ((b) < n) {                                                                            \
    IN_SHARED real2 (*to)[32] = room[warp][(b) >> 5 & 1];                                   \
    int step = (b) + lane, there = step < n;                                                \
    copy_later(&to[0][lane], recurrence + (there ? step : 0), there);                       \
    if ((b) + 32 > a.begin)                                                                 \
      UNROLL for (int c = 0; c < 2 * NS; c++)                                               \
        copy_later(&to[1 + c][lane], values + (there ? (i64)step * 2 * NS + c : 0), there); \
  }

KERNEL_BLOCKS(32 * WARPS, BLOCKS)
leg_synth(const GLOBAL real2 *RESTRICT coef, const GLOBAL real2 *RESTRICT series, const GLOBAL i64 *RESTRICT offset,
          const GLOBAL double *RESTRICT mfac, const GLOBAL double *RESTRICT pairs, const GLOBAL i32 *RESTRICT mlim,
          const GLOBAL u32 *RESTRICT starts, GLOBAL real2 *RESTRICT leg, shape t)
{
  SHARED real2 room[WARPS][2][1 + 2 * NS][32];
  int lane = LOCAL_ID(0) % 32, warp = LOCAL_ID(0) / 32, unit = GROUP_ID(0) * WARPS + warp;
  int last = unit < t.nm * t.tiles, m = ORDER(last ? t.m0 + unit / t.tiles : t.m0); // of units: longest first
  tile_place a = place_tile(starts, t, m, t.tiles - 1 - unit % t.tiles, K);
  int n = last && a.begin < (1 << 19) ? (t.top - m) / 2 + 1 : 0;
  const GLOBAL real2 *RESTRICT recurrence = coef + offset[SLOT(m)];
  const GLOBAL real2 *RESTRICT values = series + (i64)GROUP_ID(1) * t.series_step + offset[SLOT(m)] * 2 * NS;
  double x2[K], q0[K], q1[K], acc[4 * NS][K];
  int s[K];
  START(K);
  UNROLL for (int c = 0; c < 4 * NS; c++)
    UNROLL for (int k = 0; k < K; k++)
      acc[c][k] = 0;
  FETCH(0);
  for (int b = 0; b < n; b += 32) {
    IN_SHARED real2 (*terms)[32] = room[warp][b >> 5 & 1];
    COPIED();
    if (a.pole)
      terms[0][lane] = sin_coef(terms[0][lane]);
    WARP_SYNC();
    FETCH(b + 32);
    int at, end = n - b < 32 ? n - b : 32, j = 0;
    ROLLED for (; j < end && b + j < a.begin; j += 4) {
      UNROLL for (int i = 0; i < 4; i++) {
        real2 c = terms[0][j + i];
        ADVANCE(K, c);
      }
      LIFT(K);
    }
    ROLLED for (; j < end && b + j < a.full; j += 4) {
      ROLLED for (at = j; at < j + 4; at++) {
        double q[K];
        real2 c = terms[0][at];
        KEEP_COUNTED(K);
        ADD(q);
        ADVANCE(K, c);
      }
      LIFT(K);
    }
    ROLLED for (; j < end; j += 4)
      UNROLL for (int i = 0; i < 4; i += 2) { // q0 and q1 change roles: no moves
        at = j + i;
        real2 c = terms[0][at];
        ADD(q1);
        UNROLL for (int k = 0; k < K; k++)
          q0[k] = FMA(FMA(c.x, x2[k], c.y), q1[k], q0[k]);
        at = j + i + 1;
        c = terms[0][at];
        ADD(q0);
        UNROLL for (int k = 0; k < K; k++)
          q1[k] = FMA(FMA(c.x, x2[k], c.y), q0[k], q1[k]);
      }
  }
  UNROLL for (int k = 0; k < K; k++) {
    int p = a.first + lane + 32 * k;
    if (last && p < a.limit && m <= mlim[p]) {
      double x = CTH(p), factor = MODE ? FACTOR(p) : 1.0;
      UNROLL for (int c = 0; c < NS; c++) {
        real2 even = MAKE_REAL2(acc[4 * c][k], acc[4 * c + 1][k]), odd = MAKE_REAL2(acc[4 * c + 2][k], acc[4 * c + 3][k]);
        STORE(c, p, factor, 0, plus_times(even, odd, x));
        STORE(c, p, factor, 1, plus_times(even, odd, -x));
      }
    }
  }
}

// The adjoint adds up 32 lanes' sums over their pairs: BATCH steps of 4 NS numbers. With shuffles, the two halves of a
// warp hold the four numbers in orders such that each step of the sum needs no selection: lane l has number r ^ l / 8 in
// place r. After each step of the recurrence a lane has one number, summed over four lanes; after BATCH steps, the sum
// over the warp of number l / 8 of step l % 8.
#define BATCH 8
#if IS_CUDA
#define SUM_ROOM ((void)0)
#define PLACES(lane) ((lane) >> 3)
#define SUM_STEP(q, i)                                               \
  UNROLL for (int c = 0; c < NS; c++) {                              \
    double sum[4];                                                   \
    UNROLL for (int r = 0; r < 4; r++) {                             \
      sum[r] = q[0] * in[4 * c + r][0];                              \
      UNROLL for (int k = 1; k < KA; k++)                            \
        sum[r] = FMA(q[k], in[4 * c + r][k], sum[r]);                \
    }                                                                \
    double re = sum[0] + SHUFFLE_XOR_F64(sum[2], 16);                \
    double im = sum[1] + SHUFFLE_XOR_F64(sum[3], 16);                \
    v[c][i] = re + SHUFFLE_XOR_F64(im, 8);                           \
  }
#define FOLD(h)                                                               \
  UNROLL for (int i = 0; i < (h); i++) {                                      \
    int up = lane & (h);                                                      \
    double keep = up ? v[c][i + (h)] : v[c][i], send = up ? v[c][i] : v[c][i + (h)]; \
    v[c][i] = keep + SHUFFLE_XOR_F64(send, (h));                              \
  }
#define SUM_BATCH(counts, out)                                                \
  if (counts)                                                                 \
    UNROLL for (int c = 0; c < NS; c++) {                                     \
      FOLD(4) FOLD(2) FOLD(1)                                                 \
      (out)[(lane & 7) * 4 * NS + 4 * c + (lane >> 3)] = v[c][0];             \
    }                                                                         \
  else                                                                        \
    UNROLL for (int c = 0; c < NS; c++)                                       \
      (out)[lane + 32 * c] = 0;
#else
#define SUM_ROOM SHARED double sum_room[WARPSA][32 * NS * 33]
#define PLACES(lane) 0
#define SUM_STEP(q, i)                                               \
  for (int r = 0; r < 4 * NS; r++) {                                 \
    double sum = 0;                                                  \
    for (int k = 0; k < KA; k++)                                     \
      sum = FMA(q[k], in[r][k], sum);                                \
    sum_room[warp][((i) * 4 * NS + r) * 33 + lane] = sum;                 \
  }
#define SUM_BATCH(counts, out)                                       \
  {                                                                  \
    BARRIER();                                                       \
    for (int i = lane; i < 32 * NS; i += 32) {                       \
      double sum = 0;                                                \
      for (int from = 0; from < 32 && (counts); from++)              \
        sum += sum_room[warp][i * 33 + from];                             \
      (out)[i] = sum;                                                \
    }                                                                \
    BARRIER();                                                       \
  }
#endif

// Step i of a batch where no pair counts yet, some do, all do.
#define STEP_BEFORE(i)           \
  {                              \
    real2 c_now = steps[i];      \
    ADVANCE(KA, c_now);          \
    if (i % 4 == 3)              \
      LIFT(KA);                  \
  }
#define STEP_COUNTED(i)          \
  {                              \
    double q[KA];                \
    real2 c_now = steps[i];      \
    KEEP_COUNTED(KA);            \
    SUM_STEP(q, i);              \
    ADVANCE(KA, c_now);          \
    if (i % 4 == 3)              \
      LIFT(KA);                  \
  }
#define STEP_FULL(i)             \
  {                              \
    real2 c_now = steps[i];      \
    SUM_STEP(q1, i);             \
    ADVANCE(KA, c_now);          \
  }

// sums[group][step of m][series][4]: even re, im, odd re, im; begun[m][group] is the first step that was written. The
// warps of a block have neighbouring tiles of one m, from the equator on.
KERNEL_BLOCKS(32 * WARPSA, BLOCKSA)
leg_adjoint(const GLOBAL real2 *RESTRICT coef, const GLOBAL real2 *RESTRICT leg, const GLOBAL i64 *RESTRICT offset,
            const GLOBAL double *RESTRICT mfac, const GLOBAL double *RESTRICT pairs, const GLOBAL i32 *RESTRICT mlim,
            const GLOBAL u32 *RESTRICT starts, GLOBAL double *RESTRICT sums, GLOBAL i32 *RESTRICT begun, shape t)
{
  SHARED real2 room[2][32]; // coefficients, in cos^2 and in sin^2
  SHARED double partial[WARPSA][128 * NS];
  SHARED i32 begins[WARPSA];
  SUM_ROOM;
  int lane = LOCAL_ID(0) % 32, warp = LOCAL_ID(0) / 32;
  int m = ORDER(t.m0 + GROUP_ID(0) / t.groups), group = GROUP_ID(0) % t.groups, tile = t.tiles - 1 - group * WARPSA - warp;
  int n = (t.top - m) / 2 + 1, begin = n, is_pole = LOCAL_ID(0) / 32 % 2;
  tile_place a = place_tile(starts, t, m, tile > 0 ? tile : 0, KA);
  if (tile < 0)
    a.begin = 1 << 20;
  if (lane == 0)
    begins[warp] = a.begin;
  BARRIER();
  UNROLL for (int i = 0; i < WARPSA; i++)
    begin = begins[i] < begin ? begins[i] : begin;
  if (LOCAL_ID(0) == 0)
    begun[(i64)SLOT(m) * t.groups + group] = begin < n ? begin & ~31 : n;
  const GLOBAL real2 *RESTRICT recurrence = coef + offset[SLOT(m)];
  GLOBAL double *RESTRICT to =
    sums + (i64)GROUP_ID(1) * t.sums_step + ((i64)group * (offset[t.m0 + t.nm] - offset[t.m0]) + offset[SLOT(m)] - offset[t.m0]) * 4 * NS;
  double x2[KA], q0[KA], q1[KA], in[4 * NS][KA];
#if IS_CUDA
  double v[NS][BATCH];
#endif
  int s[KA];
  START(KA);
  UNROLL for (int k = 0; k < KA; k++) {
    int p = a.first + lane + 32 * k, here = tile >= 0 && p < a.limit && m <= mlim[p], places = PLACES(lane);
    double x = CTH(p), factor = MODE ? FACTOR(p) : 1.0;
    UNROLL for (int c = 0; c < NS; c++) {
      real2 north, south;
      LOAD(c, p, factor, here, &north, &south);
      UNROLL for (int r = 0; r < 4; r++) {
        int number = r ^ places;
        double up = number & 1 ? north.y : north.x, down = number & 1 ? south.y : south.x;
        in[4 * c + r][k] = number & 2 ? x * (up - down) : up + down;
      }
    }
  }
  int stop = begin < n ? n : 0;
  real2 next = step_coef(recurrence, lane, n, is_pole);
  for (int b = 0; b < stop; b += 32) {
#if WARPSA > 1
    if (LOCAL_ID(0) < 64)
      room[is_pole][lane] = next;
#else
    room[0][lane] = next;
    room[1][lane] = sin_coef(next);
#endif
    BARRIER();
    next = step_coef(recurrence, b + 32 + lane, n, is_pole);
    for (int j = 0; j < 32; j += BATCH) {
      IN_SHARED real2 *steps = room[a.pole] + j;
#if IS_CUDA || defined(cl_nv_pragma_unroll) // the other form costs NVIDIA's OpenCL a tenth
      if (b + j < a.begin) {
        if (a.begin < n)
          UNROLL for (int i = 0; i < BATCH; i++)
            STEP_BEFORE(i);
      } else if (b + j < a.full) {
        UNROLL for (int i = 0; i < BATCH; i++)
          STEP_COUNTED(i);
      } else {
        UNROLL for (int i = 0; i < BATCH; i++)
          STEP_FULL(i);
      }
#else // one after the other: docs/kernels.md
      int before = b + j < a.begin, counted = !before && b + j < a.full;
      for (int i = 0; before && a.begin < n && i < BATCH; i++)
        STEP_BEFORE(i);
      for (int i = 0; counted && i < BATCH; i++)
        STEP_COUNTED(i);
      for (int i = 0; !before && !counted && i < BATCH; i++)
        STEP_FULL(i);
#endif
      SUM_BATCH(b + j >= a.begin, partial[warp] + j * 4 * NS);
    }
    BARRIER();
    if (b + 32 > begin)
      for (int i = LOCAL_ID(0); i < 128 * NS; i += 32 * WARPSA) {
        double sum = partial[0][i];
        UNROLL for (int w = 1; w < WARPSA; w++)
          sum += partial[w][i];
        if (b + i / (4 * NS) < n)
          to[(i64)b * 4 * NS + i] = sum;
      }
  }
}
