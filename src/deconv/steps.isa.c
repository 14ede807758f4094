/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over voxels of deconvolution, written so that compilers vectorise them. */
#include <math.h>
#include <string.h>
#include "core/simd.h"
#include "deconv/deconv.h"

enum { PART = 512 }; // voxels between sums: in doubles, on the stack

/* log u for u > 0, normal: u = 2^e m, sqrt(1/2) <= m < sqrt(2), by the series of artanh; 1e-15 absolute for m. */
static inline vf64 logarithm(vf64 u)
{
  const vi64 middle = (vi64)v_set(0x1.6a09e667f3bcdp-1), magic = (vi64)v_set(0x1.8p52);
  vi64 shift = (vi64)u - middle, e = shift >> 52;
  vf64 m = (vf64)((vi64)u - (e << 52)), n = (vf64)(magic + e) - v_set(0x1.8p52);
  vf64 s = (m - 1) / (m + 1), q = s * s, sum = v_set(1. / 17);
  for (int k = 15; k >= 1; k -= 2)
    sum = sum * q + 1. / k;
  return 2 * s * sum + n * M_LN2;
}

/* sum of y log(y / p) - y + p, of padded arrays. */
static double divergence(int64_t n, const double *y, const double *p)
{
  vf64 sum = v_set(0);
  for (int64_t i = 0; i < n; i += VLEN) {
    vf64 a = v_load(y + i), b = v_load(p + i), u = a / b;
    vi64 some = (a > 1e-300) & (b > 1e-300) & (u > 1e-300);
    sum += v_select(some, a * logarithm(v_select(some, u, v_set(1))), v_set(0)) - a + b;
  }
  return v_sum(sum);
}

/* Components of grad x / |grad x| along a row; z, y: the rows above, the row itself at the last. In doubles: a row is
 * short. */
#define DIRECTIONS(real, name)                                                                               \
  static void directions_##name(int64_t n, const real *x, const real *z, const real *y, double least,        \
                                double *restrict gz, double *restrict gy, double *restrict gx)               \
  {                                                                                                          \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      double here = (double)x[i], a = (double)z[i] - here, b = (double)y[i] - here;                          \
      double c = (double)x[i + 1 < n ? i + 1 : i] - here;                                                    \
      double f = 1 / sqrt(a * a + b * b + c * c + least * least * here * here + 1e-200);                     \
      gz[i] = a * f;                                                                                         \
      gy[i] = b * f;                                                                                         \
      gx[i] = c * f;                                                                                         \
    }                                                                                                        \
  }
DIRECTIONS(float, f32)
DIRECTIONS(double, f64)

#define LOOPS(real, name)                                                                                    \
  static double ratio_##name(int64_t n, const real *y, const unsigned char *known, double b, real *model)    \
  {                                                                                                          \
    double total = 0, a[PART], p[PART];                                                                      \
    for (int64_t from = 0; from < n; from += PART) {                                                         \
      int64_t count = n - from < PART ? n - from : PART, whole = (count + VLEN - 1) / VLEN * VLEN;           \
      for (int64_t i = 0; i < count; i++) {                                                                  \
        double m = known[from + i] ? 1 : 0, v = (double)y[from + i], q = (double)model[from + i] + b;        \
        q = q > 0 ? q : 0;                                                                                   \
        a[i] = m * v;                                                                                        \
        p[i] = m * q;                                                                                        \
        model[from + i] = (real)(q > 1e-30 ? m * v / q : 0);                                                 \
      }                                                                                                      \
      for (int64_t i = count; i < whole; i++)                                                                \
        a[i] = p[i] = 0;                                                                                     \
      total += divergence(whole, a, p);                                                                      \
    }                                                                                                        \
    return total;                                                                                            \
  }                                                                                                          \
  static double residual_##name(int64_t n, const real *y, const unsigned char *known, double b, real *model) \
  {                                                                                                          \
    double lane[VLEN] = {0}, total = 0;                                                                      \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      double d = known[i] ? (double)y[i] - b - (double)model[i] : 0;                                         \
      model[i] = (real)d;                                                                                    \
      lane[i % VLEN] += d * d / 2;                                                                           \
    }                                                                                                        \
    for (int i = 0; i < VLEN; i++)                                                                           \
      total += lane[i];                                                                                      \
    return total;                                                                                            \
  }                                                                                                          \
  static void update_##name(int64_t n, const real *from, const real *r, const real *s, double cut, real *to) \
  {                                                                                                          \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      real v = from[i] * (r[i] > 0 ? r[i] : 0) / (s[i] > (real)cut ? s[i] : (real)1);                        \
      to[i] = s[i] > (real)cut ? v : from[i];                                                                \
    }                                                                                                        \
  }                                                                                                          \
  static void extrapolate_##name(int64_t n, const real *a, const real *b, double f, real *to)                \
  {                                                                                                          \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      real v = a[i] + (real)f * (a[i] - b[i]);                                                               \
      to[i] = v > 0 ? v : 0;                                                                                 \
    }                                                                                                        \
  }                                                                                                          \
  static double dot_##name(int64_t n, const real *x, const real *y)                                          \
  {                                                                                                          \
    double lane[VLEN] = {0}, total = 0;                                                                      \
    int64_t i = 0;                                                                                           \
    for (; i + VLEN <= n; i += VLEN)                                                                         \
      for (int l = 0; l < VLEN; l++)                                                                         \
        lane[l] += (double)x[i + l] * (double)y[i + l];                                                      \
    for (; i < n; i++)                                                                                       \
      lane[i % VLEN] += (double)x[i] * (double)y[i];                                                         \
    for (int l = 0; l < VLEN; l++)                                                                           \
      total += lane[l];                                                                                      \
    return total;                                                                                            \
  }                                                                                                          \
  static void step_##name(int64_t n, const real *a, const real *b, const real *h, real *g, double *sums)     \
  {                                                                                                          \
    for (int64_t i = 0; i < n; i++)                                                                          \
      g[i] = a[i] - b[i];                                                                                    \
    sums[0] = dot_##name(n, g, h);                                                                           \
    sums[1] = dot_##name(n, h, h);                                                                           \
  }                                                                                                          \
  static void add_##name(int64_t n, double f, const real *x, bool floor, real *y)                            \
  {                                                                                                          \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      real v = y[i] + (real)f * x[i];                                                                        \
      y[i] = floor && v < 0 ? 0 : v;                                                                         \
    }                                                                                                        \
  }                                                                                                          \
  static void turn_##name(int64_t n, const real *x, double f, real *y)                                       \
  {                                                                                                          \
    for (int64_t i = 0; i < n; i++)                                                                          \
      y[i] = x[i] + (real)f * y[i];                                                                          \
  }
LOOPS(float, f32)
LOOPS(double, f64)

static double ratio(bool single, int64_t n, const void *y, const unsigned char *known, double b, void *model)
{
  return single ? ratio_f32(n, y, known, b, model) : ratio_f64(n, y, known, b, model);
}
static double residual(bool single, int64_t n, const void *y, const unsigned char *known, double b,
                       void *model)
{
  return single ? residual_f32(n, y, known, b, model) : residual_f64(n, y, known, b, model);
}
static void update(bool single, int64_t n, const void *from, const void *r, const void *s, double cut,
                   void *to)
{
  single ? update_f32(n, from, r, s, cut, to) : update_f64(n, from, r, s, cut, to);
}
static void extrapolate(bool single, int64_t n, const void *a, const void *b, double f, void *to)
{
  single ? extrapolate_f32(n, a, b, f, to) : extrapolate_f64(n, a, b, f, to);
}
static void step(bool single, int64_t n, const void *a, const void *b, const void *h, void *g, double *sums)
{
  single ? step_f32(n, a, b, h, g, sums) : step_f64(n, a, b, h, g, sums);
}
static void add(bool single, int64_t n, double f, const void *x, bool floor, void *y)
{
  single ? add_f32(n, f, x, floor, y) : add_f64(n, f, x, floor, y);
}
static void turn(bool single, int64_t n, const void *x, double f, void *y)
{
  single ? turn_f32(n, x, f, y) : turn_f64(n, x, f, y);
}
static double dot(bool single, int64_t n, const void *x, const void *y)
{
  return single ? dot_f32(n, x, y) : dot_f64(n, x, y);
}

static void directions(bool single, int64_t n, const void *x, const void *z, const void *y, double least,
                       double *gz, double *gy, double *gx)
{
  single ? directions_f32(n, x, z, y, least, gz, gy, gx) : directions_f64(n, x, z, y, least, gz, gy, gx);
}

extern const kugel__deconv_ops ISA_NAME(kugel__deconv_ops);
const kugel__deconv_ops ISA_NAME(kugel__deconv_ops) = {ratio, residual, update, extrapolate, step,
                                                       add,   turn,     dot,    directions};
