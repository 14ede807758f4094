// SPDX-License-Identifier: BSD-3-Clause
// The Legendre stage of the few pairs near the poles: Wigner's d by its differences, as src/sphere/legendre/polar.isa.c does it;
// with WIGNER, that of the other pairs for spins beyond 2, as src/sphere/legendre/wigner.isa.c does it. A warp serves one m, a
// lane one pair.
//
// variant: SPIN=0
// variant: SPIN=2
// variant: SPIN=1 GRADIENT=1
// variant: SPIN=3 WIGNER=1
// variant: SPIN=2 LISTED=1
// variant: SPIN=3 WIGNER=1 LISTED=1
//
// GRADIENT: of a scalar, spin 1 with E = sqrt(l (l + 1)) times it.

#if IS_CUDA
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
#else
#define UNROLL
#define ROLLED
#endif
#define FUNCTIONS (SPIN ? 2 : 1)
#ifndef GRADIENT
#define GRADIENT 0
#endif
#ifndef WIGNER
#define WIGNER 0
#endif
#define BATCH (SPIN ? 8 : 16) // degrees that make 32 sums

#include "sphere/legendre/kernels/alm.h.cl"

typedef struct polar_shape {
  i32 lmax, mmax, count, room; // pairs [first, first + count); room: padded count
  i32 steps, row, f32, set;    // room of the recurrence; first component of leg
  i32 orders, from;            // m < orders have tables; first set of alm
  i32 first, rows;             // slots < rows have sums in polar
  i32 components, sets;        // of one map: GROUP_ID(2) counts the maps of a batch
  i32 m0;                      // the first slot, over ranks
  alm_layout alm;
} polar_shape;

DEVICE real2 alm_at(const GLOBAL void *alm, polar_shape t, i64 column, int m, int l)
{
  real2 v = MAKE_REAL2(0.0, 0.0);
  if (l > t.lmax)
    return v;
  i64 at = column + alm_degree(t.alm, t.mmax, l);
  if (t.f32) {
    const GLOBAL float *from = (const GLOBAL float *)alm + 2 * at;
    v = MAKE_REAL2((double)from[0], (double)from[1]);
  } else
    v = ((const GLOBAL real2 *)alm)[at];
  if (m == 0)
    v.y = 0;
#if GRADIENT
  double f = sqrt((double)l * (l + 1));
  v = MAKE_REAL2(f * v.x, f * v.y);
#endif
  return v;
}

#if WIGNER
#define LARGE 0x1p650
#define SHIFT 0x1p-800

// Values v 2^(800 s) of x_0, x_1, which do not count while s < 0.
typedef struct functions {
  double x, now[2], before[2];
  int pole, s[2];
} functions;

// mantissa 2^e sin^h(theta/2) cos^c(theta/2)
DEVICE double start_value(const GLOBAL double *RESTRICT pair, int room, double h, double c, double mantissa, double e,
                          int *scale)
{
  double hh = pair[2 * room], hc = pair[4 * room], kh = rint(hh * h), kc = rint(hc * c), s = 0;
  double f = FMA(pair[5 * room], c, FMA(pair[3 * room], h, FMA(hh, h, -kh) + FMA(hc, c, -kc))), r = rint(f), n = kh + kc + e + r;
  if (n < -150)
    s = -rint((-150 - n) * (1.0 / 800) + 0.5);
  *scale = (int)s;
  return ldexp(exp2(f - r) * mantissa, (int)(n - 800 * s));
}

// start[m]: mantissa and exponent of both; tables of the pairs: 1 - cos, cos, log2 sin(theta/2) as a pair, of cos(theta/2).
DEVICE functions begin(const GLOBAL double *RESTRICT start, const GLOBAL double *RESTRICT pairs, polar_shape t, int m, int p)
{
  functions b;
  const GLOBAL double *first = start + (i64)m * 4;
  int apart = m > SPIN ? m - SPIN : SPIN - m;
  b.pole = pairs[p] < 0.3;
  b.x = b.pole ? pairs[p] : pairs[p + t.room];
  for (int f = 0; f < 2; f++) {
    b.now[f] = start_value(pairs + p, t.room, f ? apart : m + SPIN, f ? m + SPIN : apart, first[2 * f], first[2 * f + 1],
                           &b.s[f]);
    b.before[f] = 0;
  }
  return b;
}

// Rows of rec shrink by a step each m: slope, shift and weight, where x_{k+1} = (slope cos -+ shift) x_k - x_{k-1}.
#define NUMBERS 3
#define REC_ROW(r) ((i64)m * t.steps - (i64)m * (m - 1) / 2)
#define VALUES(v, r, k)                                                                           \
  {                                                                                               \
    double r0 = r[0][k], r1 = r[1][k], r2 = r[2][k];                                              \
    double a = b.pole ? -r0 : r0, c = b.pole ? r0 : 0.0;                                          \
    for (int f = 0; f < 2; f++) {                                                                 \
      double shift = f ? r1 : -r1, next = FMA(FMA(a, b.x, c + shift), b.now[f], -b.before[f]);    \
      v[f] = b.s[f] < 0 ? 0.0 : b.now[f] * r2;                                                    \
      b.before[f] = b.now[f];                                                                     \
      b.now[f] = next;                                                                            \
      if ((k) % 4 == 3 && b.s[f] < 0 && fabs(next) > LARGE) {                                     \
        b.before[f] *= SHIFT;                                                                     \
        b.now[f] *= SHIFT;                                                                        \
        b.s[f]++;                                                                                 \
      }                                                                                           \
    }                                                                                             \
  }
#else
typedef struct functions {
  double y, now[FUNCTIONS], delta[FUNCTIONS];
} functions;

DEVICE functions begin(const GLOBAL double *RESTRICT start, const GLOBAL double *RESTRICT vers, polar_shape t, int m, int p)
{
  functions b;
  b.y = vers[p];
  for (int f = 0; f < FUNCTIONS; f++) {
    b.now[f] = start[((i64)f * t.orders + m) * t.room + p];
    b.delta[f] = 0;
  }
  return b;
}

// The functions at step k of a tile, and one step on.
#define NUMBERS (3 * FUNCTIONS)
#define REC_ROW(r) ((i64)((r) / 3 * t.orders + m) * t.steps)
#define VALUES(v, r, k)                                                                          \
  for (int f = 0; f < FUNCTIONS; f++) {                                                          \
    v[f] = b.now[f] * r[3 * f + 2][k];                                                           \
    b.delta[f] = FMA(b.delta[f], r[3 * f][k], -(b.y * r[3 * f + 1][k] * b.now[f]));              \
    b.now[f] += b.delta[f];                                                                      \
  }
#endif

// Tiles of 32 steps go through shared memory, the next one by way of registers: a lane's step, zero from n on.
#define LOAD_REC(k, n)                                                                           \
  UNROLL for (int r = 0; r < NUMBERS; r++)                                                       \
    ahead[r] = (k) < (n) ? rec[(REC_ROW(r) + (k)) * 3 + r % 3] : 0.0;

#define LEG_AT(c) (2 * (((i64)(t.set + GROUP_ID(2) * t.components + (c)) * (t.mmax + 1) + SLOT(m)) * t.row + t.first + p))

KERNEL(32) polar_synth(const GLOBAL void *alm, const GLOBAL double *RESTRICT rec, const GLOBAL double *RESTRICT start,
                       const GLOBAL double *RESTRICT vers, GLOBAL real2 *RESTRICT leg, polar_shape t)
{
  int m = ORDER(PIECE(GROUP_ID(0))), p = GROUP_ID(1) * 32 + LOCAL_ID(0), l0 = m < SPIN ? SPIN : m, n = t.lmax - l0 + 1;
  SHARED double room[2][NUMBERS][32];
  SHARED real2 terms_room[2][FUNCTIONS][32]; // E + i B, E - i B
  int lane = LOCAL_ID(0);
  functions b = begin(start, vers, t, m, p);
  double acc[8] = {0, 0, 0, 0, 0, 0, 0, 0}, v[FUNCTIONS], ahead[NUMBERS];
  int set = t.from + GROUP_ID(2) * t.sets;
  i64 e_at = alm_column(t.alm, t.lmax, t.mmax, t.sets, set, m), h_at = alm_column(t.alm, t.lmax, t.mmax, t.sets, set + 1, m);
  real2 e, h = MAKE_REAL2(0.0, 0.0);
  LOAD_REC(lane, n);
  e = alm_at(alm, t, e_at, m, l0 + lane);
  if (SPIN && !GRADIENT)
    h = alm_at(alm, t, h_at, m, l0 + lane);
  for (int k = 0; k < n; k += 32) {
    IN_SHARED double (*now)[32] = room[k >> 5 & 1];
    IN_SHARED real2 (*terms)[32] = terms_room[k >> 5 & 1];
    UNROLL for (int r = 0; r < NUMBERS; r++)
      now[r][lane] = ahead[r];
    terms[0][lane] = MAKE_REAL2(e.x - h.y, e.y + h.x);
    if (SPIN)
      terms[FUNCTIONS - 1][lane] = MAKE_REAL2(e.x + h.y, e.y - h.x);
    BARRIER();
    LOAD_REC(k + 32 + lane, n);
    e = alm_at(alm, t, e_at, m, l0 + k + 32 + lane);
    if (SPIN && !GRADIENT)
      h = alm_at(alm, t, h_at, m, l0 + k + 32 + lane);
    ROLLED for (int j = 0; j < 32; j += 4)
      UNROLL for (int i = 0; i < 4; i++) {
        double sign = i % 2 ? -1 : 1;
        real2 plus = terms[0][j + i], minus = terms[FUNCTIONS - 1][j + i];
        VALUES(v, now, j + i);
        acc[0] = FMA(v[0], plus.x, acc[0]);
        acc[1] = FMA(v[0], plus.y, acc[1]);
        acc[2] = FMA(v[FUNCTIONS - 1] * sign, plus.x, acc[2]);
        acc[3] = FMA(v[FUNCTIONS - 1] * sign, plus.y, acc[3]);
        if (SPIN) {
          acc[4] = FMA(v[FUNCTIONS - 1], minus.x, acc[4]);
          acc[5] = FMA(v[FUNCTIONS - 1], minus.y, acc[5]);
          acc[6] = FMA(v[0] * sign, minus.x, acc[6]);
          acc[7] = FMA(v[0] * sign, minus.y, acc[7]);
        }
      }
  }
  if (p >= t.count)
    return;
#if SPIN
  double south = (l0 + m + SPIN) % 2 ? -1 : 1;
  leg[LEG_AT(0)] = MAKE_REAL2(acc[0] + acc[4], acc[1] + acc[5]);
  leg[LEG_AT(0) + 1] = MAKE_REAL2(south * (acc[2] + acc[6]), south * (acc[3] + acc[7]));
  leg[LEG_AT(1)] = MAKE_REAL2(acc[1] - acc[5], acc[4] - acc[0]);
  leg[LEG_AT(1) + 1] = MAKE_REAL2(south * (acc[3] - acc[7]), south * (acc[6] - acc[2]));
#else
  leg[LEG_AT(0)] = MAKE_REAL2(acc[0], acc[1]);
  leg[LEG_AT(0) + 1] = MAKE_REAL2(acc[2], acc[3]);
#endif
}

#if IS_CUDA
#define SUM_ROOM ((void)0)
#define FOLD(h)                                                            \
  {                                                                        \
    int up = lane & (h);                                                   \
    UNROLL for (int i = 0; i < (h); i++)                                   \
    {                                                                      \
      double keep = up ? w[i + (h)] : w[i], send = up ? w[i] : w[i + (h)]; \
      w[i] = keep + SHUFFLE_XOR_F64(send, (h));                            \
    }                                                                      \
  }
#define WARP_SUMS() FOLD(16) FOLD(8) FOLD(4) FOLD(2) FOLD(1)
#else
#define SUM_ROOM __local double sum_room[32 * 33]
#define WARP_SUMS()                                                        \
  {                                                                        \
    for (int i = 0; i < 32; i++)                                           \
      sum_room[i * 33 + lane] = w[i];                                      \
    barrier(CLK_LOCAL_MEM_FENCE);                                          \
    w[0] = 0;                                                              \
    for (int i = 0; i < 32; i++)                                           \
      w[0] += sum_room[lane * 33 + i];                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                          \
  }
#endif

// polar[component][m][lmax + 1], by l - m: adds sums over the pairs.
KERNEL(32) polar_adjoint(const GLOBAL real2 *RESTRICT leg, const GLOBAL double *RESTRICT rec,
                         const GLOBAL double *RESTRICT start, const GLOBAL double *RESTRICT vers,
                         const GLOBAL i32 *RESTRICT mlim, GLOBAL double *RESTRICT polar, polar_shape t)
{
  SUM_ROOM;
  SHARED double room[2][NUMBERS][32];
  int m = ORDER(PIECE(GROUP_ID(0))), lane = LOCAL_ID(0), l0 = m < SPIN ? SPIN : m, all = t.lmax - l0 + 1;
  for (int first = 0; first < t.count; first += 32) {
    int p = first + lane, last = first + 32 < t.count ? first + 31 : t.count - 1;
    int n = m <= mlim[t.first + last] ? all : 0; // mlim rises
    functions b = begin(start, vers, t, m, p);
    double in[8], w[32], v[FUNCTIONS], ahead[NUMBERS];
    real2 zero = MAKE_REAL2(0.0, 0.0), north = zero, south = zero;
    int here = p < t.count && m <= mlim[t.first + p];
    if (here) {
      north = leg[LEG_AT(0)];
      south = leg[LEG_AT(0) + 1];
    }
#if SPIN
    real2 north2 = zero, south2 = zero;
    double sign = (l0 + m + SPIN) % 2 ? -1 : 1;
    if (here) {
      north2 = leg[LEG_AT(1)];
      south2 = leg[LEG_AT(1) + 1];
    }
    in[0] = north.x - north2.y;
    in[1] = north.y + north2.x;
    in[2] = sign * (south.x - south2.y);
    in[3] = sign * (south.y + south2.x);
    in[4] = north.x + north2.y;
    in[5] = north.y - north2.x;
    in[6] = sign * (south.x + south2.y);
    in[7] = sign * (south.y - south2.x);
#else
    in[0] = north.x + south.x;
    in[1] = north.y + south.y;
    in[2] = north.x - south.x;
    in[3] = north.y - south.y;
#endif
    LOAD_REC(lane, n);
    for (int tile = 0; tile < n; tile += 32) {
      IN_SHARED double (*now)[32] = room[tile >> 5 & 1];
      UNROLL for (int r = 0; r < NUMBERS; r++)
        now[r][lane] = ahead[r];
      BARRIER();
      LOAD_REC(tile + 32 + lane, n);
      ROLLED for (int j = 0; j < 32; j += BATCH) {
        UNROLL for (int i = 0; i < BATCH; i++) {
          VALUES(v, now, j + i);
#if SPIN
          double odd = i % 2 ? -1 : 1, plus[2], minus[2];
          for (int r = 0; r < 2; r++) {
            plus[r] = FMA(v[0], in[r], odd * v[1] * in[2 + r]);
            minus[r] = FMA(v[1], in[4 + r], odd * v[0] * in[6 + r]);
          }
          w[4 * i] = plus[0] + minus[0];
          w[4 * i + 1] = plus[1] + minus[1];
          w[4 * i + 2] = plus[1] - minus[1];
          w[4 * i + 3] = minus[0] - plus[0];
#else
          w[2 * i] = v[0] * in[i % 2 * 2];
          w[2 * i + 1] = v[0] * in[i % 2 * 2 + 1];
#endif
        }
        WARP_SUMS();
        int at = tile + j + (SPIN ? lane / 4 : lane / 2), set = SPIN ? lane / 2 % 2 : 0;
        if (at < n) {
          i64 to = (((i64)(t.set + GROUP_ID(2) * t.components + set) * t.rows + SLOT(m)) * (t.lmax + 1) + l0 - m + at) * 2 + lane % 2;
#if GRADIENT
          w[0] *= sqrt((double)(l0 + at) * (l0 + at + 1));
#endif
          polar[to] = (WIGNER || first ? polar[to] : 0.0) + w[0];
        }
      }
    }
    BARRIER();
  }
}
