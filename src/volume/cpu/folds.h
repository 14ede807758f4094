/* SPDX-License-Identifier: BSD-3-Clause */
/* For lines.isa.c: rows of one part of a transform in parts (docs/volume.md). */
#ifndef KUGEL_VOLUME_FOLDS_H
#define KUGEL_VOLUME_FOLDS_H

static void fold(const double *restrict v, int64_t n, double fa, double fb, double *restrict a,
                 double *restrict b)
{
  for (int64_t i = 0; i < n; i++) {
    a[i] += fa * v[i];
    b[i] -= fb * v[i];
  }
}

static void unfold(const double *restrict a, const double *restrict b, int64_t n, double fa, double fb,
                   double *restrict v)
{
  for (int64_t i = 0; i < n; i++)
    v[i] += fa * a[i] + fb * b[i];
}

#define PUT_PART(type)                                                                                       \
  {                                                                                                          \
    type *restrict c = to;                                                                                   \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      double re = w ? w[2 * i] * a[i] + w[2 * i + 1] * b[i] : a[i];                                          \
      double im = w ? w[2 * i + 1] * a[i] - w[2 * i] * b[i] : b[i];                                          \
      c[2 * i] = (type)(scale * re);                                                                         \
      c[2 * i + 1] = (type)(scale * im);                                                                     \
    }                                                                                                        \
  }
static void put_part(const double *restrict a, const double *restrict b, int64_t n, const double *restrict w,
                     double scale, void *to, bool f32)
{
  if (f32)
    PUT_PART(float)
  else
    PUT_PART(double)
}

#define GET_PART(type)                                                                                       \
  {                                                                                                          \
    const type *restrict c = from;                                                                           \
    for (int64_t i = 0; i < n; i++) {                                                                        \
      double re = (double)c[2 * i], im = (double)c[2 * i + 1];                                               \
      a[i] = w ? w[2 * i] * re + w[2 * i + 1] * im : re;                                                     \
      b[i] = w ? w[2 * i + 1] * re - w[2 * i] * im : im;                                                     \
    }                                                                                                        \
  }
static void get_part(const void *from, int64_t n, const double *restrict w, bool f32, double *restrict a,
                     double *restrict b)
{
  if (f32)
    GET_PART(float)
  else
    GET_PART(double)
}

#endif
