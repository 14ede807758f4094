// SPDX-License-Identifier: BSD-3-Clause
// The adjoint of the Legendre stage on FP64 tensor cores of compute capability 9.0, as kernels/legendre.cl has it for other
// devices: lanes run the recurrences of their pairs, and matrix products of P[step][pair] and the maps' numbers add up. In
// those, a lane holds other entries of P than it computed: P goes through shared memory.
//
// variant: MODE=0 NS=1 K=4 KA=4 WARPS=2 WARPSA=2 BLOCKS=6 BLOCKSA=6
// variant: MODE=0 NS=8 MAPS=8 K=1 KA=2 WARPS=1 WARPSA=8 BLOCKS=8 BLOCKSA=1
// variant: MODE=0 NS=8 MAPS=8 K=2 KA=2 WARPS=4 WARPSA=4 BLOCKS=2 BLOCKSA=2
// variant: MODE=1 NS=8 MAPS=4 K=1 KA=2 WARPS=1 WARPSA=8 BLOCKS=8 BLOCKSA=1
// variant: MODE=2 NS=6 MAPS=2 K=1 KA=2 WARPS=1 WARPSA=8 BLOCKS=8 BLOCKSA=1
// variant: MODE=1 NS=2 K=4 KA=4 WARPS=1 WARPSA=2 BLOCKS=12 BLOCKSA=6
// variant: MODE=2 NS=3 K=3 KA=4 WARPS=2 WARPSA=4 BLOCKS=4 BLOCKSA=2
// variant: MODE=3 NS=2 K=3 KA=4 WARPS=1 WARPSA=2 BLOCKS=12 BLOCKSA=6
// variant: MODE=4 NS=2 K=3 KA=4 WARPS=1 WARPSA=2 BLOCKS=12 BLOCKSA=6
// variant: MODE=0 NS=1 K=4 KA=4 WARPS=2 WARPSA=2 BLOCKS=6 BLOCKSA=6 LISTED=1
//
// Columns of the products: even re, im, odd re, im of each of NS series; eight a product.

#include "sphere/legendre/kernels/legendre.h.cl"

#define COLUMNS (4 * NS)
#define PRODUCTS ((COLUMNS + 7) / 8)
#define TILE 32 // steps
#define SUM_ROW (COLUMNS % 16 ? COLUMNS : COLUMNS + 8)

// D (16 x 8) += A (16 x 4) B (4 x 8). Lane 4 g + t holds A[g][t], A[g + 8][t]; B[t][g]; D[g][2 t], [2 t + 1], D[g + 8] ...
#if IS_CUDA
#define PRODUCT_ROOM ((void)0)
#define PRODUCT(d, a, b)                                                                                               \
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"           \
      : "+d"((d)[0]), "+d"((d)[1]), "+d"((d)[2]), "+d"((d)[3])                                                         \
      : "d"((a)[0]), "d"((a)[1]), "d"(b))
#else // for tests: blocks are of one warp
#define PRODUCT_ROOM SHARED double product_a[32][2], product_b[32]
#define PRODUCT(d, a, b)                                                                   \
  {                                                                                        \
    product_a[lane][0] = (a)[0];                                                           \
    product_a[lane][1] = (a)[1];                                                           \
    product_b[lane] = b;                                                                   \
    BARRIER();                                                                             \
    for (int e = 0; e < 4; e++)                                                            \
      for (int at = 0; at < 4; at++)                                                       \
        (d)[e] = FMA(product_a[4 * g + at][e / 2], product_b[4 * (2 * in_four + e % 2) + at], (d)[e]); \
    BARRIER();                                                                             \
  }
#endif

// Four steps of strip k from coefficients c; v: the values.
#define FOUR_STEPS(v, k, c)                                                                \
  UNROLL for (int i = 0; i < 4; i += 2) { /* q0 and q1 change roles: no moves */           \
    v[i] = q1[k];                                                                          \
    q0[k] = FMA(FMA(c[i].x, x2[k], c[i].y), q1[k], q0[k]);                                 \
    v[i + 1] = q0[k];                                                                      \
    q1[k] = FMA(FMA(c[i + 1].x, x2[k], c[i + 1].y), q0[k], q1[k]);                         \
  }

// Sixteen steps from j of a tile: P[step][pair], times the maps' numbers.
#define TURN_ROW (32 * KA + 4)
#define CHAINS (PRODUCTS > 2 ? 1 : 2) // of products that do not wait for each other
#define SUMS_FROM_LAUNCH (WARPSA * SUM_ROW > 160) // too many for a kernel's own shared memory
#define SUM_SIXTEEN(counted)                                                               \
  {                                                                                        \
    UNROLL for (int i4 = 0; i4 < 16; i4 += 4) {                                            \
      real2 c[4];                                                                          \
      UNROLL for (int i = 0; i < 4; i++)                                                   \
        c[i] = steps[i4 + i];                                                              \
      UNROLL for (int k = 0; k < KA; k++) {                                                \
        double v[4];                                                                       \
        FOUR_STEPS(v, k, c);                                                               \
        UNROLL for (int i = 0; i < 4; i++)                                                 \
          own[(i4 + i) * TURN_ROW + 32 * k] = counted && s[k] < 0 ? 0.0 : v[i];    \
      }                                                                                    \
      if (counted)                                                                         \
        LIFT(KA);                                                                          \
    }                                                                                      \
  }

// sums[group][step of m][series][4]: even re, im, odd re, im; begun[m][group] is the first step that was written. The
// warps of a block have neighbouring tiles of one m, from the equator on.
KERNEL_BLOCKS(32 * WARPSA, BLOCKSA)
leg_adjoint(const GLOBAL real2 *RESTRICT coef, const GLOBAL real2 *RESTRICT leg, const GLOBAL i64 *RESTRICT offset,
            const GLOBAL double *RESTRICT mfac, const GLOBAL double *RESTRICT pairs, const GLOBAL i32 *RESTRICT mlim,
            const GLOBAL u32 *RESTRICT starts, GLOBAL double *RESTRICT sums, GLOBAL i32 *RESTRICT begun, shape t)
{
  SHARED real2 room[2][TILE]; // coefficients, in cos^2 and in sin^2
  SHARED i32 begins[WARPSA];
  SHARED_FROM_LAUNCH(double, turns, WARPSA * (16 * TURN_ROW + (SUMS_FROM_LAUNCH ? TILE * SUM_ROW : 0)));
#if SUMS_FROM_LAUNCH
  IN_SHARED double *sums_room = turns + WARPSA * 16 * TURN_ROW;
#else
  SHARED real2 sums_room[WARPSA * TILE * SUM_ROW / 2];
#endif
  IN_SHARED double *partial = (IN_SHARED double *)sums_room; // [WARPSA][TILE][SUM_ROW]
  PRODUCT_ROOM;
  int lane = LOCAL_ID(0) % 32, warp = LOCAL_ID(0) / 32, g = lane >> 2, in_four = lane & 3;
  int m = ORDER(t.m0 + GROUP_ID(0) / t.groups), group = GROUP_ID(0) % t.groups, tile = t.tiles - 1 - group * WARPSA - warp;
  int n = (t.top - m) / 2 + 1, begin = n, is_pole = LOCAL_ID(0) / 32 % 2;
  IN_SHARED double *own = turns + warp * 16 * TURN_ROW + lane; // of a step and pair: what a lane writes, what it reads
  const IN_SHARED double *theirs = turns + (warp * 16 + g) * TURN_ROW + in_four;
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
  if (begin >= n) // the same for all threads, and no barrier follows
    return;
  const GLOBAL real2 *RESTRICT recurrence = coef + offset[SLOT(m)];
  GLOBAL double *RESTRICT to = sums + (i64)GROUP_ID(1) * t.sums_step + ((i64)group * (offset[t.m0 + t.nm] - offset[t.m0]) + offset[SLOT(m)] - offset[t.m0]) * COLUMNS;
  double x2[KA], q0[KA], q1[KA], in[PRODUCTS][8 * KA];
  int s[KA];
  START(KA);
  UNROLL for (int first = 0; first < NS; first += 4) { // the maps' numbers, of four series at a time: [column][pair]
    ROLLED for (int k = 0; k < KA; k++) {
      int p = a.first + lane + 32 * k, here = tile >= 0 && p < a.limit && m <= mlim[p];
      double x = CTH(p), factor = MODE ? FACTOR(p) : 1.0;
      UNROLL for (int c = first; c < first + 4 && c < NS; c++) {
        real2 north, south;
        LOAD(c, p, factor, here, &north, &south);
        IN_SHARED double *at = own + 4 * (c - first) * TURN_ROW + 32 * k;
        at[0] = north.x + south.x;
        at[TURN_ROW] = north.y + south.y;
        at[2 * TURN_ROW] = x * (north.x - south.x);
        at[3 * TURN_ROW] = x * (north.y - south.y);
      }
    }
    WARP_SYNC();
    UNROLL for (int i = 0; i < PRODUCTS; i++)
      UNROLL for (int k = 0; k < 8 * KA; k++)
        if (i / 2 == first / 4)
          in[i][k] = 8 * i + g < COLUMNS ? theirs[8 * (i % 2) * TURN_ROW + 4 * k] : 0.0;
    WARP_SYNC();
  }
  real2 next = step_coef(recurrence, lane, n, is_pole);
  for (int b = 0; b < n; b += TILE) {
#if WARPSA > 1
    if (LOCAL_ID(0) < 64)
      room[is_pole][lane] = next;
#else
    room[0][lane] = next;
    room[1][lane] = sin_coef(next);
#endif
    BARRIER();
    next = step_coef(recurrence, b + TILE + lane, n, is_pole);
    ROLLED for (int j = 0; j < TILE; j += 16) {
      const IN_SHARED real2 *steps = room[a.pole] + j;
      double sum[PRODUCTS][CHAINS][4];
      UNROLL for (int i = 0; i < PRODUCTS * CHAINS * 4; i++)
        sum[i / (CHAINS * 4)][i / 4 % CHAINS][i % 4] = 0;
      if (b + j + 16 <= a.begin) {
        if (a.begin < n)
          UNROLL for (int i = 0; i < 16; i++) {
            real2 c = steps[i];
            ADVANCE(KA, c);
            if (i % 4 == 3)
              LIFT(KA);
          }
      } else {
        if (b + j < a.full)
          SUM_SIXTEEN(1)
        else
          SUM_SIXTEEN(0)
        WARP_SYNC();
        UNROLL for (int k = 0; k < 8 * KA; k++) {
          double p[2] = {theirs[4 * k], theirs[8 * TURN_ROW + 4 * k]};
          UNROLL for (int i = 0; i < PRODUCTS; i++)
            PRODUCT(sum[i][k % CHAINS], p, in[i][k]);
        }
        WARP_SYNC();
      }
      UNROLL for (int i = 0; i < PRODUCTS; i++)
        if (8 * i + 2 * in_four < COLUMNS) {
          IN_SHARED real2 *out = (IN_SHARED real2 *)(partial + (warp * TILE + j + g) * SUM_ROW + 8 * i + 2 * in_four);
          UNROLL for (int c = 1; c < CHAINS; c++)
            UNROLL for (int e = 0; e < 4; e++)
              sum[i][0][e] += sum[i][c][e];
          out[0] = MAKE_REAL2(sum[i][0][0], sum[i][0][1]);
          out[4 * SUM_ROW] = MAKE_REAL2(sum[i][0][2], sum[i][0][3]);
        }
    }
    BARRIER();
    if (b + TILE > begin)
      for (int i = LOCAL_ID(0); i < TILE * COLUMNS; i += 32 * WARPSA) {
        int at = i + i / COLUMNS * (SUM_ROW - COLUMNS);
        double sum = partial[at];
        UNROLL for (int w = 1; w < WARPSA; w++)
          sum += partial[w * TILE * SUM_ROW + at];
        if (b + i / COLUMNS < n)
          to[(i64)b * COLUMNS + i] = sum;
      }
  }
}
