// SPDX-License-Identifier: BSD-3-Clause
// Alm <-> scalar Legendre series in the two-step basis, as src/sphere/legseries.isa.c has them; one thread a step or degree.
//
// variant: MODE=0 NS=1 SPIN=0
// variant: MODE=1 NS=2 SPIN=1
// variant: MODE=1 NS=2 SPIN=2
// variant: MODE=2 NS=3 SPIN=2
// variant: MODE=3 NS=2 SPIN=1
// variant: MODE=4 NS=2 SPIN=1
//
// MODE 0: one scalar; 1: E, B of SPIN 1 or 2; 2: T, E, B; gradients (SPIN 1) of one scalar: 3: gradient, value; 4: value,
// gradient. Degrees count from m: index i is l = m + i.

#define GRADIENT (MODE >= 3)
#define SETS (GRADIENT ? 1 : NS)      // of alm
#define VALUE (MODE == 3 ? 1 : MODE == 1 ? -1 : 0) // the series of scalar values
#define FIRST (MODE == 2 || MODE == 4 ? 1 : 0)     // of E or gradient

typedef struct columns {
  i32 lmax, mmax, top, f32; // series run to degree top
  i32 m0, nm, tiles, polar; // adjoint: tiles of partial sums; m < polar have the sums of the polar pairs
  i32 accumulate, spare;
  i64 alm; // first coefficient
} columns;

DEVICE double eps_squared(double i, double m)
{
  double l = m + i;
  return i * (l + m) / ((2 * l - 1) * (2 * l + 1));
}
DEVICE double eps(int i, int m) { return sqrt(eps_squared(i, m)); }

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
  if (i < 0 || i > t.lmax - m)
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

// Coefficients of the spin functions of degree m + i in lambda of degree m + i + by, as bands() has them there.
#if SPIN == 1
#define FAR 1   // degrees that E reaches; B reaches one less
#define SIGN(c) ((c) == 0 ? -1.0 : 1.0)
DEVICE double band(int i, int m, int by)
{
  double l = m + i, f = GRADIENT ? 1.0 : l > 0 ? 1 / sqrt(l * (l + 1)) : 0.0;
  if (i < 0)
    return 0;
  return by < 0 ? -(l + 1) * eps(i, m) * f : by > 0 ? l * eps(i + 1, m) * f : m * f;
}
#else
#define FAR 2
#define SIGN(c) ((c) == 0 ? 1.0 : -1.0)
DEVICE double band(int i, int m, int by)
{
  double l = m + i, md = m, up = l * (l - 1), down = (l + 1) * (l + 2);
  if (l < 2 || i < 0)
    return 0;
  double norm = 1 / sqrt(up * down);
  if (by == -2)
    return -norm * down * eps(i, m) * (i > 0 ? eps(i - 1, m) : 0.0);
  if (by == -1)
    return -2 * md * norm * (l + 2) * eps(i, m);
  if (by == 0)
    return -norm * (up * eps_squared(i + 1, md) + down * eps_squared(i, md) + 2 * md * md - l * (l + 1));
  if (by == 1)
    return 2 * md * norm * (l - 1) * eps(i + 1, m);
  return -norm * up * eps(i + 1, m) * eps(i + 2, m);
}
#endif

#define ADD_BAND(sum, from, by, value)                          \
  {                                                             \
    double f_ = (from) < 0 ? 0.0 : band(from, m, by);           \
    real2 z_ = value;                                           \
    sum = MAKE_REAL2(FMA(f_, z_.x, sum.x), FMA(f_, z_.y, sum.y)); \
  }

// Series `s` at degree index i.
DEVICE real2 series_value(const GLOBAL void *alm, columns t, int s, int m, int i)
{
  int c = s - FIRST, e = GRADIENT ? 0 : s, b = FIRST + 1 - c; // c: 0 for E, 1 for B
  if (MODE == 0 || s == VALUE)
    return alm_at(alm, t, 0, m, i);
  real2 x = MAKE_REAL2(0.0, 0.0), y = x;
  ADD_BAND(x, i - FAR, FAR, alm_at(alm, t, e, m, i - FAR));
  ADD_BAND(x, i + FAR, -FAR, alm_at(alm, t, e, m, i + FAR));
  if (GRADIENT)
    return x;
#if SPIN == 1
  ADD_BAND(y, i, 0, alm_at(alm, t, b, m, i));
#else
  ADD_BAND(x, i, 0, alm_at(alm, t, e, m, i));
  ADD_BAND(y, i - 1, 1, alm_at(alm, t, b, m, i - 1));
  ADD_BAND(y, i + 1, -1, alm_at(alm, t, b, m, i + 1));
#endif
  return MAKE_REAL2(x.x - SIGN(c) * y.y, x.y + SIGN(c) * y.x);
}

KERNEL(128) to_series(const GLOBAL void *alm, const GLOBAL real2 *RESTRICT coef, const GLOBAL i64 *RESTRICT offset,
                      GLOBAL real2 *RESTRICT series, columns t)
{
  int m = GROUP_ID(0), k = GROUP_ID(1) * 128 + LOCAL_ID(0), n = (t.top - m) / 2 + 1;
  if (k >= n)
    return;
  double al = alpha(coef + offset[m], k), e1 = al * eps(2 * k + 1, m), e2 = al * eps(2 * k + 2, m);
  for (int s = 0; s < NS; s++) {
    real2 a = series_value(alm, t, s, m, 2 * k), b = series_value(alm, t, s, m, 2 * k + 1),
          c = series_value(alm, t, s, m, 2 * k + 2);
    i64 to = ((offset[m] + k) * NS + s) * 2;
    series[to] = MAKE_REAL2(e1 * a.x + e2 * c.x, e1 * a.y + e2 * c.y);
    series[to + 1] = MAKE_REAL2(al * b.x, al * b.y);
  }
}

// Sums over the tiles, in order, into the place of the first.
KERNEL(128) add_tiles(GLOBAL double *RESTRICT sums, const GLOBAL i32 *RESTRICT begun,
                      const GLOBAL i64 *RESTRICT offset, columns t)
{
  int m = t.m0 + GROUP_ID(0), i = GROUP_ID(1) * 128 + LOCAL_ID(0), n = (t.top - m) / 2 + 1, k = i / (4 * NS);
  if (k >= n)
    return;
  i64 base = offset[t.m0], stride = (offset[t.m0 + t.nm] - base) * 4 * NS, at = (offset[m] - base) * 4 * NS + i;
  double sum = 0;
  for (int tile = 0; tile < t.tiles; tile++)
    if (k >= begun[(i64)m * t.tiles + tile])
      sum += sums[tile * stride + at];
  sums[at] = sum;
}

// The transpose of the two-step basis, at degree index i.
DEVICE real2 sum_value(const GLOBAL real2 *RESTRICT sums, const GLOBAL real2 *RESTRICT coef, columns t, int s, int m, int i)
{
  int k = i / 2, n = (t.top - m) / 2 + 1;
  if (i < 0 || k > n || i > t.top - m)
    return MAKE_REAL2(0.0, 0.0);
  if (i % 2) {
    double f = alpha(coef, k);
    real2 odd = sums[((i64)k * NS + s) * 2 + 1];
    return MAKE_REAL2(f * odd.x, f * odd.y);
  }
  real2 v = MAKE_REAL2(0.0, 0.0);
  if (k < n) {
    double f = alpha(coef, k) * eps(i + 1, m);
    real2 even = sums[((i64)k * NS + s) * 2];
    v = MAKE_REAL2(f * even.x, f * even.y);
  }
  if (k > 0) {
    double f = alpha(coef, k - 1) * eps(i, m);
    real2 even = sums[((i64)(k - 1) * NS + s) * 2];
    v = MAKE_REAL2(v.x + f * even.x, v.y + f * even.y);
  }
  return v;
}

// The transpose of series_value: the sum of a set.
DEVICE real2 collected(const GLOBAL real2 *RESTRICT from, const GLOBAL real2 *RESTRICT coef, columns t, int set, int m, int i)
{
  real2 x = MAKE_REAL2(0.0, 0.0), y = x;
  if (set == 0 && VALUE >= 0)
    x = sum_value(from, coef, t, VALUE, m, i);
  if (MODE == 0 || (MODE == 2 && set == 0))
    return x;
  int c = GRADIENT ? 0 : set - FIRST, e = FIRST + c, b = FIRST + 1 - c;
  ADD_BAND(x, i, -FAR, sum_value(from, coef, t, e, m, i - FAR));
  ADD_BAND(x, i, FAR, sum_value(from, coef, t, e, m, i + FAR));
  if (GRADIENT)
    return x;
#if SPIN == 1
  ADD_BAND(y, i, 0, sum_value(from, coef, t, b, m, i));
#else
  ADD_BAND(x, i, 0, sum_value(from, coef, t, e, m, i));
  ADD_BAND(y, i, -1, sum_value(from, coef, t, b, m, i - 1));
  ADD_BAND(y, i, 1, sum_value(from, coef, t, b, m, i + 1));
#endif
  return MAKE_REAL2(x.x - SIGN(c) * y.y, x.y + SIGN(c) * y.x);
}

// polar[component][m][lmax + 1]: what the polar pairs add.
KERNEL(128) from_series(const GLOBAL real2 *RESTRICT sums, const GLOBAL real2 *RESTRICT coef_all,
                        const GLOBAL i64 *RESTRICT offset, const GLOBAL real2 *RESTRICT polar, GLOBAL void *alm, columns t)
{
  int m = t.m0 + GROUP_ID(0), i = GROUP_ID(1) * 128 + LOCAL_ID(0);
  if (i > t.lmax - m)
    return;
  const GLOBAL real2 *RESTRICT from = sums + (offset[m] - offset[t.m0]) * 2 * NS;
  const GLOBAL real2 *RESTRICT coef = coef_all + offset[m];
  for (int set = 0; set < SETS; set++) {
    real2 v = collected(from, coef, t, set, m, i);
    for (int c = set; m < t.polar && c < (MODE == 4 ? 2 : set + 1); c++) {
      real2 p = polar[((i64)c * t.polar + m) * (t.lmax + 1) + i];
      v = MAKE_REAL2(v.x + p.x, v.y + p.y);
    }
    if (m == 0)
      v.y = 0;
    i64 at = set * column_size(t) + column_at(t, m) + i;
    if (t.f32) {
      GLOBAL float *to = (GLOBAL float *)alm + 2 * at;
      to[0] = (float)(v.x + (t.accumulate ? (double)to[0] : 0.0));
      to[1] = (float)(v.y + (t.accumulate ? (double)to[1] : 0.0));
    } else {
      GLOBAL real2 *to = (GLOBAL real2 *)alm + at;
      real2 old = MAKE_REAL2(0.0, 0.0);
      if (t.accumulate)
        old = *to;
      *to = MAKE_REAL2(v.x + old.x, v.y + old.y);
    }
  }
}
