// SPDX-License-Identifier: BSD-3-Clause
// Synthesis of the Legendre stage on FP64 tensor cores of compute capability 9.0, as kernels/legendre.cl has it for other
// devices: lanes run the recurrences of their pairs, and matrix products of P[pair][step] and the series add up. In those,
// a lane holds other entries of P than it computed: P goes through shared memory.
//
// variant: MODE=0 NS=8 MAPS=8 K=2 KA=2 WARPS=4 WARPSA=8 BLOCKS=2 BLOCKSA=1
// variant: MODE=1 NS=8 MAPS=4 K=2 KA=2 WARPS=4 WARPSA=8 BLOCKS=2 BLOCKSA=1
// variant: MODE=2 NS=6 MAPS=2 K=2 KA=2 WARPS=4 WARPSA=8 BLOCKS=2 BLOCKSA=1
// variant: MODE=1 NS=2 K=3 KA=4 WARPS=1 WARPSA=2 BLOCKS=12 BLOCKSA=6
// variant: MODE=2 NS=3 K=4 KA=4 WARPS=2 WARPSA=4 BLOCKS=4 BLOCKSA=2
// variant: MODE=3 NS=2 K=3 KA=4 WARPS=1 WARPSA=2 BLOCKS=12 BLOCKSA=6
// variant: MODE=4 NS=2 K=3 KA=4 WARPS=1 WARPSA=2 BLOCKS=12 BLOCKSA=6
// variant: MODE=1 NS=2 K=3 KA=4 WARPS=1 WARPSA=2 BLOCKS=12 BLOCKSA=6 LISTED=1
// variant: MODE=2 NS=3 K=4 KA=4 WARPS=2 WARPSA=4 BLOCKS=4 BLOCKSA=2 LISTED=1

#include "sphere/legendre/kernels/legendre.h.cl"

#define TILE 32  // steps whose coefficients a warp fetches at a time
#define DEEP 16 // steps of P in shared memory, and numbers that a matrix product adds up
#define HERE (2 * NS) // complex numbers of a step: even and odd of each series

// Eight columns a product: re and im of four numbers.
#define COLUMNS (4 * NS)
#define PRODUCTS ((COLUMNS + 7) / 8)

// D (16 x 8) += A (16 x 16) B (16 x 8). Lane 4 g + t holds A[g][t + 4 i] in a[2 i], A[g + 8][t + 4 i] in a[2 i + 1];
// B[t + 4 i][g] in b[i]; D[g][2 t], D[g][2 t + 1], D[g + 8][2 t], D[g + 8][2 t + 1].
#if IS_CUDA
#define PRODUCT_ROOM ((void)0)
#define PRODUCT(d, a, b)                                                                                               \
  asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "       \
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"                                                                        \
      : "+d"((d)[0]), "+d"((d)[1]), "+d"((d)[2]), "+d"((d)[3])                                                         \
      : "d"((a)[0]), "d"((a)[1]), "d"((a)[2]), "d"((a)[3]), "d"((a)[4]), "d"((a)[5]), "d"((a)[6]), "d"((a)[7]),        \
        "d"((b)[0]), "d"((b)[1]), "d"((b)[2]), "d"((b)[3]))
#else // for tests: blocks are of one warp
#define PRODUCT_ROOM SHARED double product_a[32][8], product_b[32][4]
#define PRODUCT(d, a, b)                                                                                           \
  {                                                                                                                \
    for (int at = 0; at < 8; at++)                                                                                 \
      product_a[lane][at] = (a)[at];                                                                               \
    for (int at = 0; at < 4; at++)                                                                                 \
      product_b[lane][at] = (b)[at];                                                                               \
    BARRIER();                                                                                                     \
    for (int e = 0; e < 4; e++)                                                                                    \
      for (int at = 0; at < 16; at++)                                                                              \
        (d)[e] = FMA(product_a[4 * g + at % 4][at / 4 * 2 + e / 2],                                                \
                     product_b[4 * (2 * in_four + e % 2) + at % 4][at / 4], (d)[e]);                               \
    BARRIER();                                                                                                     \
  }
#endif

// Coefficients of steps b to b + 31, zero beyond n, into the room of their turn.
#define FETCH(b)                                                                                    \
  if ((b) < n) {                                                                                    \
    int step = (b) + lane;                                                                          \
    copy_later(&coef_room[warp][(b) >> 5 & 1][lane], recurrence + (step < n ? step : 0), step < n); \
  }
#define FETCHED(b)                                            \
  IN_SHARED real2 *coefs = coef_room[warp][(b) >> 5 & 1];     \
  COPIED();                                                   \
  if (a.pole)                                                 \
    coefs[lane] = sin_coef(coefs[lane]);                      \
  WARP_SYNC();                                                \
  FETCH((b) + TILE)

// Four steps of strip k from coefficients c; v: the values.
#define FOUR_STEPS(v, k, c)                                                                \
  UNROLL for (int i = 0; i < 4; i += 2) { /* q0 and q1 change roles: no moves */           \
    v[i] = q1[k];                                                                          \
    q0[k] = FMA(FMA(c[i].x, x2[k], c[i].y), q1[k], q0[k]);                                 \
    v[i + 1] = q0[k];                                                                      \
    q1[k] = FMA(FMA(c[i + 1].x, x2[k], c[i + 1].y), q0[k], q1[k]);                         \
  }

// Steps j to j + 15 of a tile, two at a time to PUT(strip, step, values); while `counted`, values below the range are zero.
#define VALUES(strips, counted, PUT)                                                       \
  UNROLL for (int i4 = 0; i4 < DEEP; i4 += 4) {                                            \
    real2 c[4];                                                                            \
    double v[4];                                                                           \
    UNROLL for (int i = 0; i < 4; i++)                                                     \
      c[i] = coefs[j + i4 + i];                                                            \
    UNROLL for (int k = 0; k < (strips); k++) {                                            \
      FOUR_STEPS(v, k, c);                                                                 \
      if (counted)                                                                         \
        UNROLL for (int i = 0; i < 4; i++)                                                 \
          v[i] = s[k] < 0 ? 0.0 : v[i];                                                    \
      PUT(k, i4, v[0], v[1]);                                                              \
      PUT(k, i4 + 2, v[2], v[3]);                                                          \
    }                                                                                      \
    if (counted)                                                                           \
      LIFT(strips);                                                                        \
  }

// The same without a look at them.
#define PASS(strips)                                                                       \
  UNROLL for (int i = 0; i < DEEP; i++) {                                                  \
    real2 c = coefs[j + i];                                                                \
    ADVANCE(strips, c);                                                                    \
    if (i % 4 == 3)                                                                        \
      LIFT(strips);                                                                        \
  }

// P of 16 pairs and 16 steps, for products of P[pair][step]: pairs g and g + 8 side by side. Steps trade places such that
// banks do not meet.
#define OF_STEP(step) ((step) ^ (lane & 7))
#define PUT_STEPS(k, step, v0, v1)                                                         \
  put[512 * (k) + 2 * OF_STEP(step)] = v0;                                                 \
  put[512 * (k) + 2 * OF_STEP((step) + 1)] = v1
#define STEP_OF(i) (2 * in_four + (i) % 2 + (i) / 2 * 8) // i < 4: those of a lane in matrix products

// Steps j to j + 15 of tile b; beyond n only if `counted`.
#define ADD_DEEP(counted)                                                                  \
  {                                                                                        \
    double f[PRODUCTS][4], p[8];                                                           \
    UNROLL for (int i = 0; i < 4; i++) {                                                   \
      const GLOBAL double *RESTRICT from = (const GLOBAL double *)(values + (i64)(b + j + STEP_OF(i)) * HERE); \
      int there = !(counted) || b + j + STEP_OF(i) < n;                                    \
      UNROLL for (int w = 0; w < PRODUCTS; w++)                                            \
        f[w][i] = 8 * w + g < COLUMNS && there ? from[8 * w + g] : 0.0;                    \
    }                                                                                      \
    VALUES(K, counted, PUT_STEPS)                                                          \
    WARP_SYNC();                                                                           \
    UNROLL for (int k = 0; k < K; k++)                                                     \
      UNROLL for (int h = 0; h < 2; h++) {                                                 \
        UNROLL for (int i = 0; i < 4; i++) {                                               \
          real2 z = own[256 * k + 128 * h + 16 * g + (STEP_OF(i) ^ g)];                    \
          p[2 * i] = z.x;                                                                  \
          p[2 * i + 1] = z.y;                                                              \
        }                                                                                  \
        UNROLL for (int w = 0; w < PRODUCTS; w++)                                          \
          PRODUCT(acc[w][k][h], p, f[w]);                                                  \
      }                                                                                    \
    WARP_SYNC();                                                                           \
  }

KERNEL_BLOCKS(32 * WARPS, BLOCKS)
leg_synth(const GLOBAL real2 *RESTRICT coef, const GLOBAL real2 *RESTRICT series, const GLOBAL i64 *RESTRICT offset,
          const GLOBAL double *RESTRICT mfac, const GLOBAL double *RESTRICT pairs, const GLOBAL i32 *RESTRICT mlim,
          const GLOBAL u32 *RESTRICT starts, GLOBAL real2 *RESTRICT leg, shape t)
{
  SHARED real2 coef_room[WARPS][2][TILE];
  SHARED_FROM_LAUNCH(real2, turns, WARPS * K * 256);
  PRODUCT_ROOM;
  int lane = LOCAL_ID(0) % 32, warp = LOCAL_ID(0) / 32, unit = GROUP_ID(0) * WARPS + warp;
  int g = lane >> 2, in_four = lane & 3;
  int last = unit < t.nm * t.tiles, m = ORDER(last ? t.m0 + unit / t.tiles : t.m0); // of units: longest first
  tile_place a = place_tile(starts, t, m, t.tiles - 1 - unit % t.tiles, K);
  int n = last ? (t.top - m) / 2 + 1 : 0;
  n = a.begin < n ? n : 0; // or nothing counts
  const GLOBAL real2 *RESTRICT recurrence = coef + offset[SLOT(m)];
  const GLOBAL real2 *RESTRICT values = series + (i64)GROUP_ID(1) * t.series_step + offset[SLOT(m)] * HERE;
  IN_SHARED real2 *own = turns + warp * K * 256;
  IN_SHARED double *put = (IN_SHARED double *)own + 256 * (lane >> 4) + 32 * (lane & 7) + (lane >> 3 & 1);
  double x2[K], q0[K], q1[K], acc[PRODUCTS][K][2][4];
  int s[K];
  START(K);
  UNROLL for (int i = 0; i < PRODUCTS * K * 8; i++)
    acc[i / (K * 8)][i / 8 % K][i / 4 % 2][i % 4] = 0;
  FETCH(0);
  for (int b = 0; b < n; b += TILE) {
    FETCHED(b);
    int end = n - b < TILE ? n - b : TILE, j = 0;
    ROLLED for (; j < end && b + j + DEEP <= a.begin; j += DEEP)
      PASS(K)
    ROLLED for (; j < end; j += DEEP)
      if (b + j < a.full || b + j + DEEP > n)
        ADD_DEEP(1)
      else
        ADD_DEEP(0)
  }
  // A lane has two columns, even or odd ones, of every eighth pair; its neighbour has the others.
  SHUFFLE_ROOM(32 * WARPS);
  int south = in_four & 1;
  UNROLL for (int k = 0; k < K; k++)
    UNROLL for (int h = 0; h < 4; h++) {
      int p = a.first + 32 * k + 8 * h + g, here = last && p < a.limit && m <= mlim[p];
      double x = CTH(p), factor = MODE ? FACTOR(p) : 1.0;
      UNROLL for (int i = 0; i < PRODUCTS; i++) {
        int c = 2 * i + (in_four >> 1);
        double re = acc[i][k][h >> 1][2 * (h & 1)], im = acc[i][k][h >> 1][2 * (h & 1) + 1];
        double other_re = SHUFFLE_XOR_F64(re, 1), other_im = SHUFFLE_XOR_F64(im, 1);
        real2 own_sum = MAKE_REAL2(re, im), other = MAKE_REAL2(other_re, other_im);
        if (here && c < NS) {
          real2 sum = south ? plus_times(other, own_sum, -x) : plus_times(own_sum, other, x);
          STORE(c, p, factor, south, sum);
        }
      }
    }
}
