// SPDX-License-Identifier: BSD-3-Clause
// The Legendre stage of batches in single precision on f16 tensor cores of compute capability 9.0: as
// kernels/legendre_mma.cl, but for the sums. The recurrences run in double precision; values and factors become sums of
// two halves, 22 bits, whose products are added but for the least: high high + high low + low high. Sixteen steps are
// added in the tensor cores, which cut what they add, and those sums by rounded additions.
//
// variant: MODE=0 NS=8 MAPS=8 K=2 KA=2 WARPS=4 WARPSA=12 BLOCKS=3 BLOCKSA=1
//
// Values of the recurrence near the equator are 1 / cos theta times the functions that they make: those pairs need
// kernels/legendre_mma.cl. Elsewhere values are below 100. Scalars only (MODE 0).

#include "sphere/legendre/kernels/halves.h.cl"
#include "sphere/legendre/kernels/legendre.h.cl"

#define COLUMNS (4 * NS) // even re, im, odd re, im of each series
#define PRODUCTS ((COLUMNS + 7) / 8)
#define TILE 32 // steps whose coefficients are fetched at a time
#define VALUE_BITS 8
#define FACTOR_BITS 14 // factors are scaled to below 2^15
#define NO_EXPONENT -900
#define HALVES_AT(m) (((offset[m] >> 4) + (m)) * (128 * PRODUCTS)) // words before the sixteens of order m

// The recurrences run times 2^VALUE_BITS.
#define SCALE_START(count)                     \
  UNROLL for (int k = 0; k < (count); k++)     \
    q1[k] *= power_of_two(VALUE_BITS)

// Four steps of strip k from coefficients c; v: the values, zero while they are below the range.
#define FOUR_STEPS(v, k, c, counted)                                                       \
  {                                                                                        \
    double w[4];                                                                           \
    UNROLL for (int i = 0; i < 4; i += 2) { /* q0 and q1 change roles: no moves */         \
      w[i] = q1[k];                                                                        \
      q0[k] = FMA(FMA((c)[i].x, x2[k], (c)[i].y), q1[k], q0[k]);                           \
      w[i + 1] = q0[k];                                                                    \
      q1[k] = FMA(FMA((c)[i + 1].x, x2[k], (c)[i + 1].y), q0[k], q1[k]);                   \
    }                                                                                      \
    UNROLL for (int i = 0; i < 4; i++)                                                     \
      (v)[i] = counted && s[k] < 0 ? 0.0f : (float)w[i];                                   \
  }

// Sixteen steps of `count` strips, into `turn`.
#define SIXTEEN_STEPS(count, steps, counted)                                               \
  UNROLL for (int eight = 0; eight < 2; eight++) {                                         \
    u32 high[count][4], low[count][4];                                                     \
    UNROLL for (int four = 0; four < 2; four++) {                                          \
      real2 c[4];                                                                          \
      UNROLL for (int i = 0; i < 4; i++)                                                   \
        c[i] = (steps)[8 * eight + 4 * four + i];                                          \
      UNROLL for (int k = 0; k < (count); k++) {                                           \
        float v[4];                                                                        \
        FOUR_STEPS(v, k, c, counted);                                                      \
        SPLIT(v[0], v[1], high[k][2 * four], low[k][2 * four]);                            \
        SPLIT(v[2], v[3], high[k][2 * four + 1], low[k][2 * four + 1]);                    \
      }                                                                                    \
      if (counted)                                                                         \
        LIFT(count);                                                                       \
    }                                                                                      \
    UNROLL for (int k = 0; k < (count); k++) {                                             \
      PUT_FOUR(turn + 32 * ROW * k + SEAT(lane, eight), high[k]);                          \
      PUT_FOUR(turn + 32 * ROW * k + SEAT(lane, eight | 2), low[k]);                       \
    }                                                                                      \
  }

// series[step][column] as halves[sixteen of m][product][lane][4]: a lane's B, high and low, of numbers times a power of
// two that is chosen by the largest of their series of m; scales[m][series] undoes that and 2^VALUE_BITS.
KERNEL(256) leg_halves(const GLOBAL double *RESTRICT series, const GLOBAL i64 *RESTRICT offset, GLOBAL u32 *RESTRICT halves,
                       GLOBAL double *RESTRICT scales, shape t)
{
  SHARED double largest[256], up[NS];
  int id = LOCAL_ID(0), m = GROUP_ID(0), n = (t.top - m) / 2 + 1, rows = 256 / COLUMNS;
  const GLOBAL double *RESTRICT values = series + offset[m] * COLUMNS;
  double most = 0;
  for (int i = id; i < n * COLUMNS && id < rows * COLUMNS; i += rows * COLUMNS)
    most = fmax(most, fabs(values[i]));
  largest[id] = most;
  BARRIER();
  if (id < NS) {
    for (int i = 0; i < 4 * rows; i++)
      most = fmax(most, largest[4 * id + i % 4 + i / 4 * COLUMNS]);
    int e = exponent_of(most);
    e = e > NO_EXPONENT && e < -NO_EXPONENT ? e : 0;
    up[id] = power_of_two(FACTOR_BITS - e);
    scales[m * NS + id] = power_of_two(e - FACTOR_BITS - VALUE_BITS);
  }
  BARRIER();
  GLOBAL u32 *RESTRICT to = halves + HALVES_AT(m);
  for (int i = id; i < (n + 15) / 16 * PRODUCTS * 32; i += 256) {
    int column = i / 32 % PRODUCTS * 8 + (i >> 2 & 7), step = i / (32 * PRODUCTS) * 16 + 2 * (i & 3);
    float v[4];
    UNROLL for (int e = 0; e < 4; e++) {
      int at = step + e % 2 + e / 2 * 8, there = at < n && column < COLUMNS;
      v[e] = there ? (float)(values[at * COLUMNS + column] * up[column / 4]) : 0.0f;
    }
    u32 w[4];
    SPLIT(v[0], v[1], w[0], w[2]);
    SPLIT(v[2], v[3], w[1], w[3]);
    UNROLL for (int e = 0; e < 4; e++)
      to[4 * i + e] = w[e];
  }
}

// d[h][i] = (high[h] + low[h]) times one's or two's factors of columns i, small terms first: products that do not wait for
// each other are next to each other.
#define MULTIPLY(d, high, low, one, two)                                                   \
  {                                                                                        \
    const float none[4] = {0.0f, 0.0f, 0.0f, 0.0f};                                        \
    UNROLL for (int h = 0; h < 2; h++)                                                     \
      UNROLL for (int i = 0; i < PRODUCTS; i++)                                            \
        PRODUCT(d[h][i], none, low[h], h ? two[i] : one[i]);                               \
    UNROLL for (int h = 0; h < 2; h++)                                                     \
      UNROLL for (int i = 0; i < PRODUCTS; i++)                                            \
        PRODUCT(d[h][i], d[h][i], high[h], (h ? two[i] : one[i]) + 2);                     \
    UNROLL for (int h = 0; h < 2; h++)                                                     \
      UNROLL for (int i = 0; i < PRODUCTS; i++)                                            \
        PRODUCT(d[h][i], d[h][i], high[h], h ? two[i] : one[i]);                           \
  }

// The coefficients of steps b to b + 31, zero beyond n, into the room of their turn.
#define FETCH(b)                                                                                         \
  if ((b) < n) {                                                                                         \
    int step = (b) + lane;                                                                               \
    copy_later(&coef_room[warp][(b) >> 5 & 1][lane], recurrence + (step < n ? step : 0), step < n);      \
  }

// A lane's factors of steps b to b + 15, which no other lane reads.
#define FETCH_FACTORS(b)                                                                                 \
  if ((b) < n)                                                                                           \
    UNROLL for (int i = 0; i < PRODUCTS; i++)                                                            \
      copy_later(&factor_room[warp][(b) >> 4 & 1][32 * i + lane], factors + ((b) / 16 * PRODUCTS + i) * 32, 1);

// Steps j to j + 15 of a tile.
#define ADD_SIXTEEN(counted)                                                               \
  {                                                                                        \
    u32 f[PRODUCTS][4];                                                                    \
    if (j) /* else they were waited for with the coefficients */                           \
      COPIED();                                                                            \
    FETCH_FACTORS(b + j + 16);                                                             \
    SIXTEEN_STEPS(K, coefs + j, counted);                                                  \
    WARP_SYNC();                                                                           \
    UNROLL for (int i = 0; i < PRODUCTS; i++)                                              \
      GET_FOUR(f[i], (IN_SHARED u32 *)&factor_room[warp][(b + j) >> 4 & 1][32 * i + lane]); \
    UNROLL for (int k = 0; k < K; k++) {                                                   \
      u32 p[2][4], rest[2][4];                                                             \
      float d[2][PRODUCTS][4];                                                             \
      UNROLL for (int h = 0; h < 2; h++) {                                                 \
        VALUES(rest[h], turn + 32 * ROW * k + 16 * ROW * h, 1);                            \
        VALUES(p[h], turn + 32 * ROW * k + 16 * ROW * h, 0);                               \
      }                                                                                    \
      MULTIPLY(d, p, rest, f, f);                                                          \
      UNROLL for (int h = 0; h < 2; h++)                                                   \
        UNROLL for (int i = 0; i < PRODUCTS; i++)                                          \
          UNROLL for (int e = 0; e < 4; e++)                                               \
            acc[i][k][h][e] += d[h][i][e];                                                 \
    }                                                                                      \
    WARP_SYNC();                                                                           \
  }

KERNEL_BLOCKS(32 * WARPS, BLOCKS)
leg_synth_f16(const GLOBAL real2 *RESTRICT coef, const GLOBAL real2 *RESTRICT halves, const GLOBAL double *RESTRICT scales,
          const GLOBAL i64 *RESTRICT offset, const GLOBAL double *RESTRICT mfac, const GLOBAL double *RESTRICT pairs,
          const GLOBAL i32 *RESTRICT mlim, const GLOBAL u32 *RESTRICT starts, GLOBAL real2 *RESTRICT leg, i32 strip, shape t)
{
  SHARED real2 coef_room[WARPS][2][TILE];
  SHARED real2 factor_room[WARPS][2][PRODUCTS * 32];
  SHARED real2 turns[WARPS][K * 8 * ROW]; // four words each
  PRODUCT_ROOM;
  int lane = LOCAL_ID(0) % 32, warp = LOCAL_ID(0) / 32, unit = GROUP_ID(0) * WARPS + warp;
  int g = lane >> 2, in_four = lane & 3;
  int last = unit < t.nm * t.tiles, m = last ? t.m0 + unit / t.tiles : t.m0; // of units: longest first
  tile_place a = place_tile(starts + strip, t, m, t.tiles - 1 - unit % t.tiles, K);
  int n = last && a.begin < (1 << 19) ? (t.top - m) / 2 + 1 : 0;
  if (!last)
    a.limit = 0;
  const GLOBAL real2 *RESTRICT recurrence = coef + offset[m];
  const GLOBAL real2 *RESTRICT factors = halves + HALVES_AT(m) / 4 + lane; // four words each
  IN_SHARED u32 *turn = (IN_SHARED u32 *)turns[warp];
  double x2[K], q0[K], q1[K];
  float acc[PRODUCTS][K][2][4];
  int s[K];
  START(K);
  SCALE_START(K);
  UNROLL for (int i = 0; i < PRODUCTS; i++)
    UNROLL for (int k = 0; k < K; k++)
      UNROLL for (int e = 0; e < 8; e++)
        acc[i][k][e / 4][e % 4] = 0;
  FETCH(0);
  FETCH_FACTORS(a.begin & ~15);
  for (int b = 0; b < n; b += TILE) {
    IN_SHARED real2 *coefs = coef_room[warp][b >> 5 & 1];
    COPIED();
    if (a.pole)
      coefs[lane] = sin_coef(coefs[lane]);
    WARP_SYNC();
    FETCH(b + TILE);
    int end = n - b < TILE ? n - b : TILE, j = 0;
    ROLLED for (; j < end && b + j + 16 <= a.begin; j += 16)
      UNROLL for (int i = 0; i < 16; i++) {
        real2 c = coefs[j + i];
        ADVANCE(K, c);
        if (i % 4 == 3)
          LIFT(K);
      }
    ROLLED for (; j < end && b + j < a.full; j += 16)
      ADD_SIXTEEN(1);
    ROLLED for (; j < end; j += 16)
      ADD_SIXTEEN(0);
  }
  // A lane has two columns, even or odd ones, of every eighth pair; its neighbour has the others.
  SHUFFLE_ROOM(32 * WARPS);
  int south = in_four & 1;
  double scale[PRODUCTS];
  UNROLL for (int i = 0; i < PRODUCTS; i++)
    scale[i] = scales[m * NS + (2 * i + (in_four >> 1) < NS ? 2 * i + (in_four >> 1) : 0)];
  UNROLL for (int k = 0; k < K; k++)
    UNROLL for (int h = 0; h < 4; h++) {
      int p = a.first + 32 * k + 8 * h + g, here = p < a.limit && m <= mlim[p];
      float x = (float)CTH(p);
      UNROLL for (int i = 0; i < PRODUCTS; i++) {
        int c = 2 * i + (in_four >> 1);
        float re = acc[i][k][h >> 1][2 * (h & 1)], im = acc[i][k][h >> 1][2 * (h & 1) + 1];
        float other_re = NEIGHBOUR(re), other_im = NEIGHBOUR(im);
        re = south ? other_re - x * re : re + x * other_re;
        im = south ? other_im - x * im : im + x * other_im;
        if (here && c < NS)
          STORE(c, p, 1.0, south, MAKE_REAL2((double)re * scale[i], (double)im * scale[i]));
      }
    }
}

#define SUM_ROW (COLUMNS | 8)
#define SUMS (WARPSA * TILE * SUM_ROW)

// The numbers that pairs of a lane give series 2 i, 2 i + 1, columns v[pair][8].
#define NUMBERS(i)                                                                         \
  UNROLL for (int k = 0; k < KA; k++) {                                                    \
    int p = a.first + lane + 32 * k, here = tile >= 0 && p < a.limit && m <= mlim[p];      \
    double x = CTH(p);                                                                     \
    UNROLL for (int c = 0; c < 2; c++) {                                                   \
      real2 north = MAKE_REAL2(0.0, 0.0), south = north;                                   \
      if (2 * (i) + c < NS)                                                                \
        LOAD(2 * (i) + c, p, 1.0, here, &north, &south);                                   \
      v[k][4 * c] = north.x + south.x;                                                     \
      v[k][4 * c + 1] = north.y + south.y;                                                 \
      v[k][4 * c + 2] = x * (north.x - south.x);                                           \
      v[k][4 * c + 3] = x * (north.y - south.y);                                           \
    }                                                                                      \
  }

// sums[group][step of m][series][4] and begun[m][group] as in kernels/legendre_mma_adjoint.cl. They are those of t.groups groups;
// then come, with their sums already, those of the other pairs: `caps` groups at the poles and `belts` at the equator,
// of whose cap_begun and belt_begun begun has copies. starts count from `strip`.
KERNEL_BLOCKS(32 * WARPSA, BLOCKSA)
leg_adjoint_f16(const GLOBAL real2 *RESTRICT coef, const GLOBAL real2 *leg, const GLOBAL i64 *RESTRICT offset,
                const GLOBAL double *RESTRICT mfac, const GLOBAL double *RESTRICT pairs, const GLOBAL i32 *RESTRICT mlim,
                const GLOBAL u32 *RESTRICT starts, GLOBAL real2 *RESTRICT sums, GLOBAL i32 *RESTRICT begun,
                const GLOBAL i32 *RESTRICT cap_begun, const GLOBAL i32 *RESTRICT belt_begun, i32 caps, i32 belts, i32 strip,
                shape t)
{
  SHARED real2 room[2][2][TILE]; // coefficients in turn, in cos^2 and in sin^2
  SHARED i32 begins[WARPSA], exponents[2][WARPSA][8];
  SHARED double scales[8 * PRODUCTS];
  SHARED i64 place[2]; // of the first sum; the group's first step that is written: kept here to save registers
  SHARED_FROM_LAUNCH(u32, turns, WARPSA * 32 * KA * ROW + 2 * SUMS);
  IN_SHARED float *partial = (IN_SHARED float *)(turns + WARPSA * 32 * KA * ROW); // in turn: [WARPSA][TILE][SUM_ROW]
  PRODUCT_ROOM;
  SHUFFLE_ROOM(32 * WARPSA);
  int lane = LOCAL_ID(0) % 32, warp = LOCAL_ID(0) / 32, g = lane >> 2, in_four = lane & 3;
  int m = t.m0 + GROUP_ID(0) / t.groups, group = GROUP_ID(0) % t.groups, tile = t.tiles - 1 - group * WARPSA - warp;
  int n = (t.top - m) / 2 + 1, is_pole = LOCAL_ID(0) / 32 % 2, begin = n, groups = t.groups + caps + belts;
  IN_SHARED u32 *turn = turns + warp * 32 * KA * ROW;
  tile_place a = place_tile(starts + strip, t, m, tile > 0 ? tile : 0, KA);
  if (tile < 0)
    a.begin = 1 << 20;
  if (lane == 0)
    begins[warp] = a.begin;
  BARRIER();
  UNROLL for (int i = 0; i < WARPSA; i++)
    begin = begins[i] < begin ? begins[i] : begin;
  if (LOCAL_ID(0) == 0) {
    place[0] = (group * (offset[t.m0 + t.nm] - offset[t.m0]) + offset[m] - offset[t.m0]) * (COLUMNS / 2);
    place[1] = begin;
    begun[(i64)m * groups + group] = begin < n ? begin & ~31 : n;
    for (int i = 0; group == 0 && i < caps + belts; i++)
      begun[(i64)m * groups + t.groups + i] = i < caps ? cap_begun[m * caps + i] : belt_begun[m * belts + i - caps];
  }
  if (begin >= n) // the same for all threads, and no barrier follows
    return;
  const GLOBAL real2 *RESTRICT recurrence = coef + offset[m];
  double x2[KA], q0[KA], q1[KA];
  u32 in[2 * KA][PRODUCTS][4];
  int s[KA];
  START(KA);
  SCALE_START(KA);
  UNROLL for (int i = 0; i < PRODUCTS; i++) { // the maps' numbers as products' B, scaled by the largest of the block
    IN_SHARED float *stage = (IN_SHARED float *)turn; // [column][pair]
    double v[KA][8];
    NUMBERS(i);
    UNROLL for (int c = 0; c < 8; c++) {
      i32 e = NO_EXPONENT;
      UNROLL for (int k = 0; k < KA; k++)
        e = exponent_of(v[k][c]) > e ? exponent_of(v[k][c]) : e;
      LARGEST_OF_WARP(e);
      if (lane == 0)
        exponents[i % 2][warp][c] = e;
    }
    BARRIER();
    UNROLL for (int c = 0; c < 8; c++) {
      i32 e = NO_EXPONENT;
      UNROLL for (int w = 0; w < WARPSA; w++)
        e = exponents[i % 2][w][c] > e ? exponents[i % 2][w][c] : e;
      if (LOCAL_ID(0) == 0)
        scales[8 * i + c] = power_of_two(e - FACTOR_BITS - VALUE_BITS);
      UNROLL for (int k = 0; k < KA; k++)
        stage[32 * KA * c + 32 * k + lane] = (float)(v[k][c] * power_of_two(FACTOR_BITS - e));
    }
    WARP_SYNC();
    UNROLL for (int k = 0; k < 2 * KA; k++) {
      const IN_SHARED float *at = stage + g * 32 * KA + 16 * k + 2 * in_four;
      SPLIT(at[0], at[1], in[k][i][0], in[k][i][2]);
      SPLIT(at[8], at[9], in[k][i][1], in[k][i][3]);
    }
    WARP_SYNC();
  }
  real2 next = step_coef(recurrence, lane, n, is_pole);
  for (int b = 0; b < n + TILE; b += TILE) { // a turn later, tiles add up
    int turn_of = b >> 5 & 1;
#if WARPSA > 1
    if (LOCAL_ID(0) < 64)
      room[turn_of][is_pole][lane] = next;
#else
    room[turn_of][0][lane] = next;
    room[turn_of][1][lane] = sin_coef(next);
#endif
    BARRIER();
    next = step_coef(recurrence, b + TILE + lane, n, is_pole);
    if (b > place[1]) // TILE steps before these were written
      ROLLED for (int i = LOCAL_ID(0); i < TILE * COLUMNS / 4; i += 32 * WARPSA) {
        int row = i / (COLUMNS / 4), column = i % (COLUMNS / 4) * 4;
        const IN_SHARED float *from = partial + (1 - turn_of) * SUMS + row * SUM_ROW + column;
        float sum[4];
        UNROLL for (int e = 0; e < 4; e++)
          sum[e] = from[e];
        UNROLL for (int w = 1; w < WARPSA; w++)
          UNROLL for (int e = 0; e < 4; e++)
            sum[e] += from[w * TILE * SUM_ROW + e];
        GLOBAL real2 *to = sums + place[0] + (i64)(b - TILE + row) * (COLUMNS / 2) + column / 2;
        if (b - TILE + row < n) {
          to[0] = MAKE_REAL2((double)sum[0] * scales[column], (double)sum[1] * scales[column + 1]);
          to[1] = MAKE_REAL2((double)sum[2] * scales[column + 2], (double)sum[3] * scales[column + 3]);
        }
      }
    ROLLED for (int j = 0; j < TILE && b < n; j += 16) {
      const IN_SHARED real2 *steps = room[turn_of][a.pole] + j;
      float sum[PRODUCTS][4];
      UNROLL for (int i = 0; i < PRODUCTS; i++)
        UNROLL for (int e = 0; e < 4; e++)
          sum[i][e] = 0;
      if (b + j + 16 <= a.begin) {
        if (a.begin < n)
          UNROLL for (int i = 0; i < 16; i++) {
            real2 c = steps[i];
            ADVANCE(KA, c);
            if (i % 4 == 3)
              LIFT(KA);
          }
      } else {
        if (b + j < a.full) {
          SIXTEEN_STEPS(KA, steps, 1);
        } else {
          SIXTEEN_STEPS(KA, steps, 0);
        }
        WARP_SYNC();
        UNROLL for (int k = 0; k < KA; k++) {
          u32 p[2][4], rest[2][4];
          float d[2][PRODUCTS][4];
          UNROLL for (int h = 0; h < 2; h++) {
            TURNED_VALUES(rest[h], turn + 16 * ROW * (2 * k + h), 1);
            TURNED_VALUES(p[h], turn + 16 * ROW * (2 * k + h), 0);
          }
          MULTIPLY(d, p, rest, in[2 * k], in[2 * k + 1]);
          UNROLL for (int i = 0; i < PRODUCTS; i++)
            UNROLL for (int e = 0; e < 4; e++)
              sum[i][e] += d[0][i][e] + d[1][i][e];
        }
        WARP_SYNC();
      }
      UNROLL for (int i = 0; i < PRODUCTS; i++)
        if (8 * i + 2 * in_four < COLUMNS)
          UNROLL for (int e = 0; e < 4; e += 2)
            PUT_TWO(partial + turn_of * SUMS + (warp * TILE + j + g + 4 * e) * SUM_ROW + 8 * i + 2 * in_four,
                    sum[i][e], sum[i][e + 1]);
    }
  }
}
