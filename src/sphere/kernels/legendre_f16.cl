// SPDX-License-Identifier: BSD-3-Clause
// The Legendre stage of batches in single precision on f16 tensor cores of compute capability 9.0: as
// kernels/legendre_mma.cl, but for the sums. The recurrences run in double precision; values and factors become sums of
// two halves, 22 bits, whose products are added but for the least: high high + high low + low high. Sixteen steps are
// added in the tensor cores, which cut what they add, and those sums by rounded additions.
//
// variant: MODE=0 NS=8 MAPS=8 K=2 KA=2 WARPS=4 WARPSA=12 BLOCKS=3 BLOCKSA=1
// variant: MODE=1 NS=8 MAPS=4 K=2 KA=2 WARPS=4 WARPSA=12 BLOCKS=3 BLOCKSA=1
// variant: MODE=2 NS=6 MAPS=2 K=2 KA=2 WARPS=4 WARPSA=12 BLOCKS=3 BLOCKSA=1
//
// Values of the recurrence near the equator are 1 / cos theta times the functions that they make: those pairs need
// kernels/legendre_mma.cl, with a spin those near the poles do too. Elsewhere values are below 100.

#include "sphere/kernels/halves.h.cl"
#include "sphere/kernels/legendre.h.cl"

#define COLUMNS (4 * NS) // even re, im, odd re, im of each series
#define PRODUCTS ((COLUMNS + 7) / 8)
#define TILE 32 // steps whose coefficients are fetched at a time
#define VALUE_BITS 8
#define FACTOR_BITS 14 // factors are scaled to below 2^15
#define NO_EXPONENT -900
#define HALVES_AT(m) (((offset[m] >> 4) + (m)) * (128 * PRODUCTS)) // words before the sixteens of order m

// The recurrences of a warp, times 2^START_BITS.
#undef LARGE
#define LARGE power_of_two(650 + START_BITS)
#define SCALE_START(count)                     \
  UNROLL for (int k = 0; k < (count); k++)     \
    q1[k] *= power_of_two(START_BITS)
// Whether no value is tiny, but where a pair has none: from then on that stays so.
#define ALL_GROWN(count, grown)                                                            \
  UNROLL for (int k = 0; k < (count); k++)                                                 \
    grown = ALL_OF_WARP(grown && s[k] == 0 && ((!TINY(q0[k]) && !TINY(q1[k])) || (q0[k] == 0 && q1[k] == 0)))

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
      (v)[i] = counted && (s[k] < 0 || TINY(w[i])) ? 0.0f : narrow(w[i]);                  \
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

// d[i] = (high + low) f for all columns, small terms first.
#define ADD_PRODUCTS(d, high, low, f)              \
  {                                                \
    UNROLL for (int i = 0; i < PRODUCTS; i++)      \
      PRODUCT(d[i], none, low, f);                 \
    UNROLL for (int i = 0; i < PRODUCTS; i++)      \
      PRODUCT(d[i], d[i], high, (f) + 2);          \
    UNROLL for (int i = 0; i < PRODUCTS; i++)      \
      PRODUCT(d[i], d[i], high, f);                \
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
    UNROLL for (int k = 0; k < K; k++)                                                     \
      UNROLL for (int h = 0; h < 2; h++) {                                                 \
        u32 p[4], rest[4];                                                                 \
        float d[PRODUCTS][4], none[4] = {0.0f, 0.0f, 0.0f, 0.0f};                          \
        VALUES(p, turn + 32 * ROW * k + 16 * ROW * h, 0);                                  \
        VALUES(rest, turn + 32 * ROW * k + 16 * ROW * h, 1);                               \
        ADD_PRODUCTS(d, p, rest, f[i]);                                                    \
        UNROLL for (int i = 0; i < PRODUCTS; i++)                                          \
          UNROLL for (int e = 0; e < 4; e++)                                               \
            acc[i][k][h][e] += d[i][e];                                                    \
      }                                                                                    \
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
  int grown = a.full == 0;
  ALL_GROWN(K, grown);
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
    ROLLED for (; j < end && !grown; j += 16) {
      ADD_SIXTEEN(1);
      if (b + j >= a.full)
        ALL_GROWN(K, grown);
    }
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
      int p = a.first + 32 * k + 8 * h + g, here = last && p < a.limit && m <= mlim[p];
      float x = (float)CTH(p);
      double factor = MODE ? FACTOR(p) : 1.0;
      UNROLL for (int i = 0; i < PRODUCTS; i++) {
        int c = 2 * i + (in_four >> 1);
        float re = acc[i][k][h >> 1][2 * (h & 1)], im = acc[i][k][h >> 1][2 * (h & 1) + 1];
        float other_re = NEIGHBOUR(re), other_im = NEIGHBOUR(im);
        re = south ? other_re - x * re : re + x * other_re;
        im = south ? other_im - x * im : im + x * other_im;
        if (here && c < NS)
          STORE(c, p, factor, south, MAKE_REAL2((double)re * scale[i], (double)im * scale[i]));
      }
    }
}

#define SUM_ROW (COLUMNS | 8)
#define REST_BEGUN(i) ((i) < caps ? cap_begun[m * caps + (i)] : belt_begun[m * belts + (i) - caps])

// sums[group][step of m][series][4] and begun as in kernels/legendre_mma.cl; the first group's have those of the
// other pairs in them: rest, of `caps` groups at the poles, then of `belts` groups at the equator. starts
// count from `strip`.
KERNEL_BLOCKS(32 * WARPSA, BLOCKSA)
leg_adjoint_f16(const GLOBAL real2 *RESTRICT coef, const GLOBAL real2 *leg, const GLOBAL i64 *RESTRICT offset,
            const GLOBAL double *RESTRICT mfac, const GLOBAL double *RESTRICT pairs, const GLOBAL i32 *RESTRICT mlim,
            const GLOBAL u32 *RESTRICT starts, GLOBAL double *RESTRICT sums, GLOBAL i32 *RESTRICT begun,
            const GLOBAL double *RESTRICT rest, const GLOBAL i32 *RESTRICT cap_begun,
                const GLOBAL i32 *RESTRICT belt_begun, i32 caps, i32 belts, i32 strip, shape t)
{
  SHARED real2 room[2][TILE]; // coefficients, in cos^2 and in sin^2
  SHARED i32 begins[WARPSA], exponents[WARPSA][COLUMNS];
  SHARED float shares[WARPSA][COLUMNS];
  SHARED double scales[COLUMNS];
  SHARED i64 place[3]; // first step in the sums of a group, steps there; the group: kept here to save registers
  SHARED_FROM_LAUNCH(u32, turns, WARPSA * (32 * KA * ROW + TILE * SUM_ROW));
  IN_SHARED float *partial = (IN_SHARED float *)(turns + WARPSA * 32 * KA * ROW); // [WARPSA][TILE][SUM_ROW]
  PRODUCT_ROOM;
  SHUFFLE_ROOM(32 * WARPSA);
  int lane = LOCAL_ID(0) % 32, warp = LOCAL_ID(0) / 32, g = lane >> 2, in_four = lane & 3;
  int m = t.m0 + GROUP_ID(0) / t.groups, group = GROUP_ID(0) % t.groups, tile = t.tiles - 1 - group * WARPSA - warp;
  int n = (t.top - m) / 2 + 1, is_pole = LOCAL_ID(0) / 32 % 2, begin = n;
  IN_SHARED u32 *turn = turns + warp * 32 * KA * ROW;
  tile_place a = place_tile(starts + strip, t, m, tile > 0 ? tile : 0, KA);
  if (tile < 0)
    a.begin = 1 << 20;
  if (lane == 0)
    begins[warp] = a.begin;
  BARRIER();
  UNROLL for (int i = 0; i < WARPSA; i++)
    begin = begins[i] < begin ? begins[i] : begin;
  ROLLED for (int i = 0; group == 0 && i < caps + belts; i++)
    begin = REST_BEGUN(i) < begin ? REST_BEGUN(i) : begin;
  if (LOCAL_ID(0) == 0)
    begun[(i64)m * t.groups + group] = begin < n ? begin & ~31 : n;
  if (begin >= n) // the same for all threads, and no barrier follows
    return;
  const GLOBAL real2 *RESTRICT recurrence = coef + offset[m];
  if (LOCAL_ID(0) == 0) {
    place[0] = offset[m] - offset[t.m0];
    place[1] = offset[t.m0 + t.nm] - offset[t.m0];
    place[2] = group;
  }
  double x2[KA], q0[KA], q1[KA];
  u32 in[PRODUCTS][2 * KA][4];
  int s[KA];
  START(KA);
  SCALE_START(KA);
  UNROLL for (int i = 0; i < PRODUCTS; i++) { // the maps' numbers, of two series at a time: [column][pair]
    IN_SHARED float *stage = (IN_SHARED float *)turn;
    double v[KA][8];
    UNROLL for (int k = 0; k < KA; k++) {
      int p = a.first + lane + 32 * k, here = tile >= 0 && p < a.limit && m <= mlim[p];
      double x = CTH(p), factor = MODE ? FACTOR(p) : 1.0;
      UNROLL for (int c = 0; c < 2; c++) {
        real2 north = MAKE_REAL2(0.0, 0.0), south = north;
        if (2 * i + c < NS)
          LOAD(2 * i + c, p, factor, here, &north, &south);
        v[k][4 * c] = north.x + south.x;
        v[k][4 * c + 1] = north.y + south.y;
        v[k][4 * c + 2] = x * (north.x - south.x);
        v[k][4 * c + 3] = x * (north.y - south.y);
      }
    }
    UNROLL for (int c = 0; c < 8; c++) {
      i32 e = NO_EXPONENT;
      UNROLL for (int k = 0; k < KA; k++)
        e = exponent_of(v[k][c]) > e ? exponent_of(v[k][c]) : e;
      LARGEST_OF_WARP(e);
      if (lane == 0 && 8 * i + c < COLUMNS)
        exponents[warp][8 * i + c] = e;
      UNROLL for (int k = 0; k < KA; k++)
        stage[32 * KA * c + 32 * k + lane] = (float)(v[k][c] * power_of_two(FACTOR_BITS - e));
    }
    WARP_SYNC();
    UNROLL for (int k = 0; k < 2 * KA; k++) {
      const IN_SHARED float *at = stage + g * 32 * KA + 16 * k + 2 * in_four;
      SPLIT(at[0], at[1], in[i][k][0], in[i][k][2]);
      SPLIT(at[8], at[9], in[i][k][1], in[i][k][3]);
    }
    WARP_SYNC();
  }
  BARRIER();
  for (int c = LOCAL_ID(0); c < COLUMNS; c += 32 * WARPSA) {
    i32 e = NO_EXPONENT;
    for (int w = 0; w < WARPSA; w++)
      e = exponents[w][c] > e ? exponents[w][c] : e;
    for (int w = 0; w < WARPSA; w++)
      shares[w][c] = e - exponents[w][c] < 100 ? (float)power_of_two(exponents[w][c] - e) : 0.0f;
    scales[c] = power_of_two(e - FACTOR_BITS - VALUE_BITS);
  }
  int grown = a.full == 0;
  ALL_GROWN(KA, grown);
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
        if (!grown) {
          SIXTEEN_STEPS(KA, steps, 1);
          grown = b + j >= a.full;
          ALL_GROWN(KA, grown);
        } else {
          SIXTEEN_STEPS(KA, steps, 0);
        }
        WARP_SYNC();
        UNROLL for (int k = 0; k < 2 * KA; k++) {
          u32 p[4], rest[4];
          float d[PRODUCTS][4], none[4] = {0.0f, 0.0f, 0.0f, 0.0f};
          TURNED_VALUES(p, turn + 16 * ROW * k, 0);
          TURNED_VALUES(rest, turn + 16 * ROW * k, 1);
          ADD_PRODUCTS(d, p, rest, in[i][k]);
          UNROLL for (int i = 0; i < PRODUCTS; i++)
            UNROLL for (int e = 0; e < 4; e++)
              sum[i][e] += d[i][e];
        }
        WARP_SYNC();
      }
      UNROLL for (int i = 0; i < PRODUCTS; i++)
        if (8 * i + 2 * in_four < COLUMNS)
          UNROLL for (int e = 0; e < 4; e += 2)
            PUT_TWO(partial + (warp * TILE + j + g + 4 * e) * SUM_ROW + 8 * i + 2 * in_four, sum[i][e], sum[i][e + 1]);
    }
    BARRIER();
    if (b + TILE > begin)
      for (int i = LOCAL_ID(0); i < TILE * COLUMNS; i += 32 * WARPSA) {
        int step = b + i / COLUMNS, column = i % COLUMNS;
        float sum = 0;
        UNROLL for (int w = 0; w < WARPSA; w++)
          sum += partial[(w * TILE + i / COLUMNS) * SUM_ROW + column] * shares[w][column];
        i64 at = (place[0] + step) * COLUMNS + column;
        double all = (double)sum * scales[column];
        ROLLED for (int k = 0; place[2] == 0 && k < caps + belts; k++)
          if (step < n && step >= REST_BEGUN(k))
            all += rest[k * place[1] * COLUMNS + at];
        if (step < n)
          sums[place[2] * place[1] * COLUMNS + at] = all;
      }
  }
}
