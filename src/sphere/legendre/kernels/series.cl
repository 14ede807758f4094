// SPDX-License-Identifier: BSD-3-Clause
// Alm <-> scalar Legendre series in the two-step basis, as src/sphere/legendre/series.isa.c has them. A block has consecutive
// steps of one m (a step: two degrees) of all maps of a batch, whose series lie next to each other; what it takes of square
// roots and numbers is kept in shared memory. A block of to_series has STEPS steps, one of from_series reads ROWS.
//
// variant: MODE=0 NS=1 SPIN=0 MAPS=1 STEPS=128 ROWS=128
// variant: MODE=0 NS=1 SPIN=0 MAPS=8 STEPS=32 ROWS=64
// variant: MODE=1 NS=2 SPIN=1 MAPS=1 STEPS=128 ROWS=128
// variant: MODE=1 NS=2 SPIN=2 MAPS=4 STEPS=32 ROWS=64
// variant: MODE=2 NS=3 SPIN=2 MAPS=2 STEPS=32 ROWS=64
// variant: MODE=3 NS=2 SPIN=1 MAPS=1 STEPS=128 ROWS=128
// variant: MODE=4 NS=2 SPIN=1 MAPS=1 STEPS=128 ROWS=128
// variant: MODE=0 NS=1 SPIN=0 MAPS=1 STEPS=128 ROWS=128 LISTED=1
// variant: MODE=1 NS=2 SPIN=2 MAPS=4 STEPS=32 ROWS=64 LISTED=1
//
// MODE 0: a scalar; 1: E, B of SPIN 1 or 2; 2: T, E, B; gradients (SPIN 1) of one scalar: 3: gradient, value; 4: value,
// gradient. Each map has NS series of SETS sets. Degrees count from m: index i is l = m + i.

#if IS_CUDA
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif
#define THREADS 256
#define GRADIENT (MODE >= 3)
#define SETS (GRADIENT ? 1 : NS)      // of alm
#define ALL (NS * MAPS)               // series of a batch
#define COMPONENTS (MODE == 4 ? 3 : NS)
#define VALUE (MODE == 3 ? 1 : MODE == 1 ? -1 : 0) // the series of scalar values
#define FIRST (MODE == 2 || MODE == 4 ? 1 : 0)     // of E or gradient

#include "sphere/legendre/kernels/alm.h.cl"

typedef struct columns {
  i32 lmax, mmax, top, f32; // series run to degree top
  i32 m0, nm, tiles, polar; // slots from m0 on; adjoint: tiles of partial sums; m < polar have the sums of the polar pairs
  i32 accumulate, sets;     // sets: of alm that are there
  alm_layout alm;
  i64 step; // of series or sums: from one group of MAPS maps, GROUP_ID(2), to the next
} columns;

DEVICE double eps_squared(double i, double m)
{
  double l = m + i;
  return i * (l + m) / ((2 * l - 1) * (2 * l + 1));
}
DEVICE double eps(int i, int m) { return i > 0 ? sqrt(eps_squared(i, m)) : 0.0; }

// From a_k = (-1)^k alpha_k^2.
DEVICE double alpha(const GLOBAL real2 *RESTRICT coef, int k)
{
  double r = sqrt(fabs(coef[k].x));
  return k & 2 ? -r : r;
}

DEVICE real2 alm_at(const GLOBAL void *alm, columns t, int set, int m, int i)
{
  real2 v = MAKE_REAL2(0.0, 0.0);
  if (i < 0 || i > t.lmax - m || set >= t.sets)
    return v;
  i64 at = alm_place(t.alm, t.lmax, t.mmax, SETS, set, m, m + i);
  if (t.f32) {
    const GLOBAL float *from = (const GLOBAL float *)alm + 2 * at;
    v = MAKE_REAL2((double)from[0], (double)from[1]);
  } else
    v = ((const GLOBAL real2 *)alm)[at];
  if (m == 0)
    v.y = 0;
  return v;
}

// Coefficients of the spin functions of degree m + i in lambda of degree m + i + by, as bands() has them there, from the
// norm of i and eps around it; they are zero with it.
#if SPIN == 1
#define FAR 1   // degrees that E reaches; B reaches one less
#define SIGN(c) ((c) == 0 ? -1.0 : 1.0)
DEVICE double norm_of(int i, int m)
{
  double l = m + i;
  if (i < 0)
    return 0;
  return GRADIENT ? 1.0 : l > 0 ? 1 / sqrt(l * (l + 1)) : 0.0;
}
DEVICE double band(const IN_SHARED double *e, double norm, int i, int m, int by)
{
  double l = m + i;
  return by < 0 ? -(l + 1) * e[0] * norm : by > 0 ? l * e[1] * norm : m * norm;
}
#else
#define FAR 2
#define SIGN(c) ((c) == 0 ? 1.0 : -1.0)
DEVICE double norm_of(int i, int m)
{
  double l = m + i;
  return l < 2 || i < 0 ? 0.0 : 1 / sqrt(l * (l - 1) * (l + 1) * (l + 2));
}
DEVICE double band(const IN_SHARED double *e, double norm, int i, int m, int by)
{
  double l = m + i, md = m, up = l * (l - 1), down = (l + 1) * (l + 2);
  if (by == -2)
    return -norm * down * e[0] * e[-1];
  if (by == -1)
    return -2 * md * norm * (l + 2) * e[0];
  if (by == 0)
    return -norm * (FMA(up * e[1], e[1], down * e[0] * e[0]) + 2 * md * md - l * (l + 1));
  if (by == 1)
    return 2 * md * norm * (l - 1) * e[1];
  return -norm * up * e[1] * e[2];
}
#endif

DEVICE real2 add_band(real2 sum, double f, real2 z) { return MAKE_REAL2(FMA(f, z.x, sum.x), FMA(f, z.y, sum.y)); }

// Of E and B, c: 0 for E, 1 for B: x - SIGN i y.
DEVICE real2 join(real2 x, real2 y, int c) { return MAKE_REAL2(x.x - SIGN(c) * y.y, x.y + SIGN(c) * y.x); }

#define EPS_AT(j) (e_room + (j))
#define DEGREES (2 * STEPS + 5) // from 2 k0 - 2 on

KERNEL(THREADS) to_series(const GLOBAL void *alm, const GLOBAL real2 *RESTRICT coef, const GLOBAL i64 *RESTRICT offset,
                          GLOBAL real2 *RESTRICT series, columns t)
{
  SHARED double e_room[DEGREES + 1], norm_room[MODE ? DEGREES : 1], al_room[STEPS];
  SHARED real2 set_room[SETS * MAPS][DEGREES], value_room[MODE ? ALL : 1][2 * STEPS + 1];
  int m = ORDER(PIECE(GROUP_ID(0))), id = LOCAL_ID(0), k0 = GROUP_ID(1) * STEPS, n = (t.top - m) / 2 + 1;
  int steps = n - k0 < STEPS ? n - k0 : STEPS, degrees = steps > 0 ? DEGREES : 0; // of a block beyond the last step: none
  for (int j = id; j < degrees * SETS * MAPS; j += THREADS) { // neighbours read what lies side by side
    int set = BY_ROWS ? j % MAPS * SETS + j / MAPS % SETS : j / DEGREES, i = BY_ROWS ? j / (SETS * MAPS) : j % DEGREES;
    set_room[set][i] = alm_at(alm, t, GROUP_ID(2) * (SETS * MAPS) + set, m, 2 * k0 - 2 + i);
  }
  for (int j = id; j < degrees; j += THREADS) {
    e_room[j] = eps(2 * k0 - 2 + j, m);
    if (MODE)
      norm_room[j] = norm_of(2 * k0 - 2 + j, m);
  }
  for (int j = id; j < steps; j += THREADS)
    al_room[j] = alpha(coef + offset[SLOT(m)], k0 + j);
  BARRIER();
#if MODE
  for (int a = id; a < (degrees ? 2 * STEPS + 1 : 0) * ALL; a += THREADS) {
    int at = a % (2 * STEPS + 1), r = a / (2 * STEPS + 1), s = r % NS, sets = r / NS * SETS;
    int c = s - FIRST, set = sets + (GRADIENT ? 0 : s), other = sets + FIRST + 1 - c, j = at + 2, i = 2 * k0 + at;
    real2 x = MAKE_REAL2(0.0, 0.0), y = x;
    if (s == VALUE)
      x = set_room[set][j];
    else {
      x = add_band(x, band(EPS_AT(j - FAR), norm_room[j - FAR], i - FAR, m, FAR), set_room[set][j - FAR]);
      x = add_band(x, band(EPS_AT(j + FAR), norm_room[j + FAR], i + FAR, m, -FAR), set_room[set][j + FAR]);
#if !GRADIENT && SPIN == 1
      y = add_band(y, band(EPS_AT(j), norm_room[j], i, m, 0), set_room[other][j]);
#elif !GRADIENT
      x = add_band(x, band(EPS_AT(j), norm_room[j], i, m, 0), set_room[set][j]);
      y = add_band(y, band(EPS_AT(j - 1), norm_room[j - 1], i - 1, m, 1), set_room[other][j - 1]);
      y = add_band(y, band(EPS_AT(j + 1), norm_room[j + 1], i + 1, m, -1), set_room[other][j + 1]);
#endif
      if (!GRADIENT)
        x = join(x, y, c);
    }
    value_room[r][at] = x;
  }
  BARRIER();
#endif
  GLOBAL real2 *to = series + GROUP_ID(2) * t.step + (offset[SLOT(m)] + k0) * (2 * ALL);
  for (int j = id; j < steps * ALL; j += THREADS) {
    int s = j % ALL, k = j / ALL;
    const IN_SHARED real2 *v = MODE ? value_room[MODE ? s : 0] + 2 * k : set_room[s] + 2 * k + 2;
    double al = al_room[k], e1 = al * e_room[2 * k + 3], e2 = al * e_room[2 * k + 4];
    to[2 * j] = MAKE_REAL2(FMA(e1, v[0].x, e2 * v[2].x), FMA(e1, v[0].y, e2 * v[2].y));
    to[2 * j + 1] = MAKE_REAL2(al * v[1].x, al * v[1].y);
  }
}

#define BEFORE (MODE ? 2 : 1) // rows of other blocks: these and as many behind, but for a scalar
#define HALO (MODE ? 4 : 1)
#define ROW (2 * ROWS + 2) // of shared memory
#define ROUNDS ((ROWS * 2 * ALL + THREADS - 1) / THREADS)

// Index i of series s in the basis: of the sums of steps i / 2 and before.
DEVICE real2 by_degree(const IN_SHARED real2 *sum, const IN_SHARED double *e, int i, int at, int top)
{
  real2 v = sum[at], b = sum[at - 2];
  if (i % 2 == 0)
    v = MAKE_REAL2(FMA(e[1], v.x, e[0] * b.x), FMA(e[1], v.y, e[0] * b.y));
  return i < 0 || i > top ? MAKE_REAL2(0.0, 0.0) : v;
}

// The transpose. sums[tile][step of m][series][even, odd]: tiles add up, in order, from their first steps `begun` on.
// polar[component][m][lmax + 1]: what the polar pairs add.
KERNEL(THREADS) from_series(const GLOBAL real2 *RESTRICT sums, const GLOBAL i32 *RESTRICT begun,
                            const GLOBAL real2 *RESTRICT coef, const GLOBAL i64 *RESTRICT offset,
                            const GLOBAL real2 *RESTRICT polar, GLOBAL void *alm, columns t)
{
  SHARED double al_room[ROWS], e_room[2 * ROWS + 1]; // from row k0 and degree 2 k0 on
  SHARED real2 sum_room[ALL * ROW];
  SHARED real2 value_room[MODE ? ALL * ROW : 1];
  int m = ORDER(t.m0 + GROUP_ID(0)), id = LOCAL_ID(0), n = (t.top - m) / 2 + 1;
  int k0 = GROUP_ID(1) * (ROWS - HALO) - BEFORE, rows = k0 + BEFORE < n ? ROWS : 0; // beyond the last step: none
  i64 base = offset[t.m0], stride = (offset[t.m0 + t.nm] - base) * (2 * ALL);
  const GLOBAL real2 *from = sums + GROUP_ID(2) * t.step + (offset[SLOT(m)] - base + k0) * (2 * ALL);
  real2 sum[ROUNDS];
  UNROLL for (int r = 0; r < ROUNDS; r++)
    sum[r] = MAKE_REAL2(0.0, 0.0);
  for (int tile = 0; tile < t.tiles && rows; tile++, from += stride) {
    int least = begun[(i64)SLOT(m) * t.tiles + tile] - k0;
    least = least > -k0 ? least : -k0;
    UNROLL for (int r = 0; r < ROUNDS; r++) {
      int j = id + r * THREADS, row = j / (2 * ALL);
      real2 v = MAKE_REAL2(0.0, 0.0);
      if (row >= least && row < n - k0 && row < ROWS)
        v = from[j];
      sum[r] = MAKE_REAL2(sum[r].x + v.x, sum[r].y + v.y);
    }
  }
  for (int j = id; j < rows; j += THREADS)
    al_room[j] = k0 + j >= 0 && k0 + j < n ? alpha(coef + offset[SLOT(m)], k0 + j) : 0.0;
  for (int j = id; j < (rows ? 2 * rows + 1 : 0); j += THREADS)
    e_room[j] = eps(2 * k0 + j, m);
  BARRIER();
  UNROLL for (int r = 0; r < ROUNDS; r++) {
    int j = id + r * THREADS, row = j / (2 * ALL);
    if (row < rows)
      sum_room[j / 2 % ALL * ROW + 2 * row + j % 2] = MAKE_REAL2(al_room[row] * sum[r].x, al_room[row] * sum[r].y);
  }
  BARRIER();
#if MODE
  for (int a = id; a < (rows ? 2 * ROWS - 4 : 0) * ALL; a += THREADS) {
    int s = a / (2 * ROWS - 4), j = a % (2 * ROWS - 4) + 2;
    value_room[s * ROW + j] = by_degree(sum_room + s * ROW, e_room + j, 2 * k0 + j, j, t.top - m);
  }
  BARRIER();
#endif
  for (int a = id; a < (rows ? 2 * (ROWS - HALO) : 0) * SETS * MAPS; a += THREADS) {
    int some = a / (2 * (ROWS - HALO)), next = a / (SETS * MAPS), by_rows = BY_ROWS;
    int all = by_rows ? a % MAPS * SETS + a / MAPS % SETS : some, set = all % SETS, map = all / SETS;
    int j = (by_rows ? next : a - some * (2 * (ROWS - HALO))) + 2 * BEFORE, i = 2 * k0 + j;
    int here = GROUP_ID(2) * (SETS * MAPS) + all; // of all groups
    if (i > t.lmax - m || here >= t.sets)
      continue;
    real2 x = MAKE_REAL2(0.0, 0.0), y = x;
#if !MODE
    x = by_degree(sum_room + map * ROW, e_room + j, i, j, t.top - m);
#else
    const IN_SHARED real2 *value = value_room + map * NS * ROW + j;
    if (set == 0 && VALUE >= 0)
      x = value[(VALUE < 0 ? 0 : VALUE) * ROW];
    int c = GRADIENT ? 0 : set - FIRST, e = (FIRST + c) * ROW, b = (FIRST + 1 - c) * ROW;
    const IN_SHARED double *near = EPS_AT(j);
    double norm = norm_of(i, m);
    if (c >= 0) {
      x = add_band(x, band(near, norm, i, m, -FAR), value[e - FAR]);
      x = add_band(x, band(near, norm, i, m, FAR), value[e + FAR]);
#if !GRADIENT && SPIN == 1
      y = add_band(y, band(near, norm, i, m, 0), value[b]);
#elif !GRADIENT
      x = add_band(x, band(near, norm, i, m, 0), value[e]);
      y = add_band(y, band(near, norm, i, m, -1), value[b - 1]);
      y = add_band(y, band(near, norm, i, m, 1), value[b + 1]);
#endif
      if (!GRADIENT)
        x = join(x, y, c);
    }
#endif
    for (int c = set; SLOT(m) < t.polar && c < (MODE == 4 ? 2 : set + 1); c++) {
      real2 p = polar[((i64)((GROUP_ID(2) * MAPS + map) * COMPONENTS + c) * t.polar + SLOT(m)) * (t.lmax + 1) + i];
      x = MAKE_REAL2(x.x + p.x, x.y + p.y);
    }
    if (m == 0)
      x.y = 0;
    i64 place = alm_place(t.alm, t.lmax, t.mmax, SETS, here, m, m + i);
    if (t.f32) {
      GLOBAL float *to = (GLOBAL float *)alm + 2 * place;
      to[0] = (float)(x.x + (t.accumulate ? (double)to[0] : 0.0));
      to[1] = (float)(x.y + (t.accumulate ? (double)to[1] : 0.0));
    } else {
      GLOBAL real2 *to = (GLOBAL real2 *)alm + place;
      real2 old = MAKE_REAL2(0.0, 0.0);
      if (t.accumulate)
        old = *to;
      *to = MAKE_REAL2(x.x + old.x, x.y + old.y);
    }
  }
}
