// SPDX-License-Identifier: BSD-3-Clause
// Alm <-> scalar Legendre series in the two-step basis, as src/sphere/legseries.isa.c has them; a block has STEPS
// steps of one m, that is 2 STEPS degrees, whose square roots and numbers it keeps in shared memory.
//
// variant: MODE=0 NS=1 SPIN=0
// variant: MODE=1 NS=2 SPIN=1
// variant: MODE=1 NS=2 SPIN=2
// variant: MODE=2 NS=3 SPIN=2
// variant: MODE=3 NS=2 SPIN=1
// variant: MODE=4 NS=2 SPIN=1
//
// MODE 0: a scalar; 1: E, B of SPIN 1 or 2; 2: T, E, B; gradients (SPIN 1) of one scalar: 3: gradient, value; 4: value,
// gradient. GROUP_ID(2) counts the maps of a batch: each has NS series of SETS sets. Degrees count from m: index i is l = m + i.

#define STEPS 128
#define GRADIENT (MODE >= 3)
#define SETS (GRADIENT ? 1 : NS)      // of alm
#define COMPONENTS (MODE == 4 ? 3 : NS)
#define VALUE (MODE == 3 ? 1 : MODE == 1 ? -1 : 0) // the series of scalar values
#define FIRST (MODE == 2 || MODE == 4 ? 1 : 0)     // of E or gradient

typedef struct columns {
  i32 lmax, mmax, top, f32; // series run to degree top
  i32 m0, nm, tiles, polar; // adjoint: tiles of partial sums; m < polar have the sums of the polar pairs
  i32 accumulate, series;   // of all maps of a batch
  i32 sets, spare;          // of alm that are there
  i64 alm; // first coefficient
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

DEVICE i64 column_at(columns t, int m) { return t.alm + (i64)m * (2 * t.lmax + 1 - m) / 2 + m; }
DEVICE i64 column_size(columns t) { return (i64)(t.mmax + 1) * (2 * t.lmax + 2 - t.mmax) / 2; }

DEVICE real2 alm_at(const GLOBAL void *alm, columns t, int set, int m, int i)
{
  real2 v = MAKE_REAL2(0.0, 0.0);
  if (i < 0 || i > t.lmax - m || set >= t.sets)
    return v;
  i64 at = set * column_size(t) + column_at(t, m) + i;
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
    return -norm * (up * e[1] * e[1] + down * e[0] * e[0] + 2 * md * md - l * (l + 1));
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

KERNEL_BLOCKS(STEPS, 8) to_series(const GLOBAL void *alm, const GLOBAL real2 *RESTRICT coef, const GLOBAL i64 *RESTRICT offset,
                        GLOBAL real2 *RESTRICT series, columns t)
{
  SHARED double e_room[DEGREES + 1], norm_room[DEGREES];
  SHARED real2 set_room[SETS][DEGREES], value_room[NS][2 * STEPS + 1];
  int m = GROUP_ID(0), id = LOCAL_ID(0), k0 = GROUP_ID(1) * STEPS, k = k0 + id, n = (t.top - m) / 2 + 1;
  int degrees = k0 < n ? DEGREES : 0; // of a block beyond the last step: none
  for (int j = id; j < degrees; j += STEPS) {
    int i = 2 * k0 - 2 + j;
    e_room[j] = eps(i, m);
    if (MODE)
      norm_room[j] = norm_of(i, m);
    for (int set = 0; set < SETS; set++)
      set_room[set][j] = alm_at(alm, t, GROUP_ID(2) * SETS + set, m, i);
  }
  BARRIER();
  for (int at = id; at < degrees - 4; at += STEPS)
    for (int s = 0; s < NS; s++) {
      int c = s - FIRST, set = GRADIENT ? 0 : s, other = FIRST + 1 - c, j = at + 2, i = 2 * k0 + at;
      if (MODE == 0 || s == VALUE) {
        value_room[s][at] = set_room[MODE ? 0 : s][j];
        continue;
      }
#if MODE
      real2 x = MAKE_REAL2(0.0, 0.0), y = x;
      x = add_band(x, band(EPS_AT(j - FAR), norm_room[j - FAR], i - FAR, m, FAR), set_room[set][j - FAR]);
      x = add_band(x, band(EPS_AT(j + FAR), norm_room[j + FAR], i + FAR, m, -FAR), set_room[set][j + FAR]);
#if !GRADIENT && SPIN == 1
      y = add_band(y, band(EPS_AT(j), norm_room[j], i, m, 0), set_room[other][j]);
#elif !GRADIENT
      x = add_band(x, band(EPS_AT(j), norm_room[j], i, m, 0), set_room[set][j]);
      y = add_band(y, band(EPS_AT(j - 1), norm_room[j - 1], i - 1, m, 1), set_room[other][j - 1]);
      y = add_band(y, band(EPS_AT(j + 1), norm_room[j + 1], i + 1, m, -1), set_room[other][j + 1]);
#endif
      value_room[s][at] = GRADIENT ? x : join(x, y, c);
#endif
    }
  BARRIER();
  if (k < n) {
    double al = alpha(coef + offset[m], k), e1 = al * e_room[2 * id + 3], e2 = al * e_room[2 * id + 4];
    for (int s = 0; s < NS; s++) {
      real2 a = value_room[s][2 * id], b = value_room[s][2 * id + 1], c = value_room[s][2 * id + 2];
      i64 to = ((offset[m] + k) * t.series + GROUP_ID(2) * NS + s) * 2;
      series[to] = MAKE_REAL2(e1 * a.x + e2 * c.x, e1 * a.y + e2 * c.y);
      series[to + 1] = MAKE_REAL2(al * b.x, al * b.y);
    }
  }
}

// The transpose. sums[tile][step of m][series][even, odd]: tiles add up, in order, from their first steps `begun` on.
// polar[component][m][lmax + 1]: what the polar pairs add.
KERNEL_BLOCKS(STEPS, 8) from_series(const GLOBAL double *RESTRICT sums, const GLOBAL i32 *RESTRICT begun,
                          const GLOBAL real2 *RESTRICT coef, const GLOBAL i64 *RESTRICT offset,
                          const GLOBAL real2 *RESTRICT polar, GLOBAL void *alm, columns t)
{
  SHARED double al_room[STEPS + 4], e_room[2 * STEPS + 9]; // from step k0 - 2 and degree 2 k0 - 4 on
  SHARED double sum_room[(STEPS + 4) * 4 * NS];
  SHARED real2 value_room[NS][2 * STEPS + 4]; // from degree 2 k0 - 2 on
  int m = t.m0 + GROUP_ID(0), id = LOCAL_ID(0), k0 = GROUP_ID(1) * STEPS, n = (t.top - m) / 2 + 1;
  i64 base = offset[t.m0], stride = (offset[t.m0 + t.nm] - base) * 4 * t.series;
  i64 first = (offset[m] - base) * 4 * t.series + GROUP_ID(2) * 4 * NS;
  int steps = k0 < n ? STEPS + 4 : 0; // of a block beyond the last step: none
  for (int j = id; j < steps; j += STEPS) {
    int k = k0 - 2 + j;
    al_room[j] = 0;
    if (k >= 0 && k < n)
      al_room[j] = alpha(coef + offset[m], k);
  }
  for (int j = id; j < 2 * steps + 1; j += STEPS)
    e_room[j] = eps(2 * k0 - 4 + j, m);
  BARRIER();
  for (int j = id; j < steps * 4 * NS; j += STEPS) {
    int k = k0 - 2 + j / (4 * NS);
    double sum = 0;
    for (int tile = 0; tile < t.tiles && k >= 0 && k < n; tile++)
      if (k >= begun[(i64)m * t.tiles + tile])
        sum += sums[tile * stride + first + (i64)k * 4 * t.series + j % (4 * NS)];
    sum_room[j] = al_room[j / (4 * NS)] * sum;
  }
  BARRIER();
  for (int j = id; j < 2 * steps - 4; j += STEPS) { // the basis: sums by degree
    int i = 2 * k0 - 2 + j;
    for (int s = 0; s < NS; s++) {
      const IN_SHARED double *now = sum_room + ((j / 2 + 1) * NS + s) * 4, *before = now - 4 * NS;
      double f = e_room[j + 3], b = e_room[j + 2];
      real2 v = MAKE_REAL2(f * now[0] + b * before[0], f * now[1] + b * before[1]);
      if (j % 2)
        v = MAKE_REAL2(now[2], now[3]);
      if (i < 0 || i > t.top - m)
        v = MAKE_REAL2(0.0, 0.0);
      value_room[s][j] = v;
    }
  }
  BARRIER();
  for (int at = id; at < 2 * STEPS; at += STEPS) {
    int i = 2 * k0 + at, j = at + 2;
    for (int set = 0; set < SETS && i <= t.lmax - m && GROUP_ID(2) * SETS + set < t.sets; set++) {
      real2 x = MAKE_REAL2(0.0, 0.0), y = x;
      if (MODE == 0)
        x = value_room[set][j];
      else if (set == 0 && VALUE >= 0)
        x = value_room[VALUE < 0 ? 0 : VALUE][j];
#if MODE
      int c = GRADIENT ? 0 : set - FIRST, e = FIRST + c, b = FIRST + 1 - c;
      const IN_SHARED double *near = EPS_AT(at + 4);
      double norm = norm_of(i, m);
      if (c >= 0) {
        x = add_band(x, band(near, norm, i, m, -FAR), value_room[e][j - FAR]);
        x = add_band(x, band(near, norm, i, m, FAR), value_room[e][j + FAR]);
#if !GRADIENT && SPIN == 1
        y = add_band(y, band(near, norm, i, m, 0), value_room[b][j]);
#elif !GRADIENT
        x = add_band(x, band(near, norm, i, m, 0), value_room[e][j]);
        y = add_band(y, band(near, norm, i, m, -1), value_room[b][j - 1]);
        y = add_band(y, band(near, norm, i, m, 1), value_room[b][j + 1]);
#endif
        if (!GRADIENT)
          x = join(x, y, c);
      }
#endif
      for (int c = set; m < t.polar && c < (MODE == 4 ? 2 : set + 1); c++) {
        real2 p = polar[((i64)(GROUP_ID(2) * COMPONENTS + c) * t.polar + m) * (t.lmax + 1) + i];
        x = MAKE_REAL2(x.x + p.x, x.y + p.y);
      }
      if (m == 0)
        x.y = 0;
      i64 place = (GROUP_ID(2) * SETS + set) * column_size(t) + column_at(t, m) + i;
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
}
