/* SPDX-License-Identifier: BSD-3-Clause */
/* For *.isa.c: points (VLEN complex numbers, real parts then imaginary parts), transposes, and vectors from
 * and to arrays of float or double. */
#ifndef KUGEL_FFT_CPU_POINTS_H
#define KUGEL_FFT_CPU_POINTS_H

#include <stdbool.h>
#include "core/simd.h"

enum { W = 2 * VLEN }; // doubles a point

#if VLEN == 8
#  define ZIP_LOW  0, 8, 1, 9, 2, 10, 3, 11
#  define ZIP_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#  define EVENS    0, 2, 4, 6, 8, 10, 12, 14
#  define ODDS     1, 3, 5, 7, 9, 11, 13, 15
#  define BACKWARD 7, 6, 5, 4, 3, 2, 1, 0
#elif VLEN == 4
#  define ZIP_LOW  0, 4, 1, 5
#  define ZIP_HIGH 2, 6, 3, 7
#  define EVENS    0, 2, 4, 6
#  define ODDS     1, 3, 5, 7
#  define BACKWARD 3, 2, 1, 0
#else
#  define ZIP_LOW  0, 2
#  define ZIP_HIGH 1, 3
#  define EVENS    0, 2
#  define ODDS     1, 3
#  define BACKWARD 1, 0
#endif
#define ALWAYS static inline __attribute__((always_inline))

typedef float vhalf __attribute__((vector_size(4 * VLEN))); // VLEN floats

ALWAYS cvec get(const double *p)
{
  return (cvec){v_load(p), v_load(p + VLEN)};
}
ALWAYS void put(double *p, vf64 re, vf64 im)
{
  v_store(p, re);
  v_store(p + VLEN, im);
}
ALWAYS cvec mul(cvec a, double re, double im)
{
  return (cvec){a.re * re - a.im * im, a.re * im + a.im * re};
}
ALWAYS cvec product(cvec a, cvec b)
{
  return (cvec){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// v[i][j] <-> v[j][i]
ALWAYS void transpose(vf64 *v)
{
#if VLEN == 8
  vf64 t[8];
  for (int i = 0; i < 8; i += 2) { // pairs of rows in 128-bit units, even columns and odd ones
    t[i] = __builtin_shufflevector(v[i], v[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    t[i + 1] = __builtin_shufflevector(v[i], v[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int j = 0; j < 2; j++) { // units as 4 x 4
    vf64 a = __builtin_shufflevector(t[j], t[j + 2], 0, 1, 4, 5, 8, 9, 12, 13);
    vf64 b = __builtin_shufflevector(t[j], t[j + 2], 2, 3, 6, 7, 10, 11, 14, 15);
    vf64 c = __builtin_shufflevector(t[j + 4], t[j + 6], 0, 1, 4, 5, 8, 9, 12, 13);
    vf64 d = __builtin_shufflevector(t[j + 4], t[j + 6], 2, 3, 6, 7, 10, 11, 14, 15);
    v[j] = __builtin_shufflevector(a, c, 0, 1, 4, 5, 8, 9, 12, 13);
    v[j + 4] = __builtin_shufflevector(a, c, 2, 3, 6, 7, 10, 11, 14, 15);
    v[j + 2] = __builtin_shufflevector(b, d, 0, 1, 4, 5, 8, 9, 12, 13);
    v[j + 6] = __builtin_shufflevector(b, d, 2, 3, 6, 7, 10, 11, 14, 15);
  }
#elif VLEN == 4
  vf64 a = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6),
       b = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7);
  vf64 c = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6),
       d = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
  v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  v[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  v[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  v[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
#else
  vf64 a = __builtin_shufflevector(v[0], v[1], 0, 2);
  v[1] = __builtin_shufflevector(v[0], v[1], 1, 3);
  v[0] = a;
#endif
}

/* ---- reals at index i of an array of float or double ---- */

ALWAYS vf64 read_vector(const char *p, int64_t i, bool f32)
{
  if (!f32)
    return v_load((const double *)p + i);
  vhalf h;
  memcpy(&h, (const float *)p + i, sizeof h);
  return __builtin_convertvector(h, vf64);
}
ALWAYS void write_vector(char *p, int64_t i, vf64 v, bool f32)
{
  if (!f32) {
    v_store((double *)p + i, v);
    return;
  }
  vhalf h = __builtin_convertvector(v, vhalf);
  memcpy((float *)p + i, &h, sizeof h);
}
ALWAYS double read_one(const char *p, int64_t i, bool f32)
{
  return f32 ? (double)((const float *)p)[i] : ((const double *)p)[i];
}
ALWAYS void write_one(char *p, int64_t i, double v, bool f32)
{
  if (f32)
    ((float *)p)[i] = (float)v;
  else
    ((double *)p)[i] = v;
}

/* ---- VLEN complex numbers at element i of an array, `step` elements apart ---- */

ALWAYS cvec read_complex(const char *p, int64_t i, int64_t step, bool f32)
{
  cvec c = {{0}, {0}};
  if (step == 1) {
    vf64 u = read_vector(p, 2 * i, f32), v = read_vector(p, 2 * i + VLEN, f32);
    return (cvec){__builtin_shufflevector(u, v, EVENS), __builtin_shufflevector(u, v, ODDS)};
  }
  for (int lane = 0; lane < VLEN; lane++) {
    c.re[lane] = read_one(p, 2 * (i + lane * step), f32);
    c.im[lane] = read_one(p, 2 * (i + lane * step) + 1, f32);
  }
  return c;
}
// the first `count` of them
ALWAYS void write_complex(char *p, int64_t i, int64_t step, cvec c, int count, bool f32)
{
  if (step == 1 && count == VLEN) {
    write_vector(p, 2 * i, __builtin_shufflevector(c.re, c.im, ZIP_LOW), f32);
    write_vector(p, 2 * i + VLEN, __builtin_shufflevector(c.re, c.im, ZIP_HIGH), f32);
    return;
  }
  for (int lane = 0; lane < count; lane++) {
    write_one(p, 2 * (i + lane * step), c.re[lane], f32);
    write_one(p, 2 * (i + lane * step) + 1, c.im[lane], f32);
  }
}
ALWAYS vf64 read_real(const char *p, int64_t i, int64_t step, bool f32)
{
  if (step == 1)
    return read_vector(p, i, f32);
  vf64 v = {0};
  for (int lane = 0; lane < VLEN; lane++)
    v[lane] = read_one(p, i + lane * step, f32);
  return v;
}
ALWAYS void write_real(char *p, int64_t i, int64_t step, vf64 v, int count, bool f32)
{
  if (step == 1 && count == VLEN) {
    write_vector(p, i, v, f32);
    return;
  }
  for (int lane = 0; lane < count; lane++)
    write_one(p, i + lane * step, v[lane], f32);
}
/* Asks for `count` elements of `size` bytes from i on into the second-level cache: what the next lines load
 * or store at a stride that the hardware does not foresee. */
ALWAYS void fetch(const char *p, int64_t i, int64_t count, int64_t size, bool store)
{
  for (int64_t at = i * size; at < (i + count) * size; at += 64)
    if (store)
      __builtin_prefetch(p + at, 1, 2);
    else
      __builtin_prefetch(p + at, 0, 2);
}
ALWAYS vf64 backward(vf64 v)
{
  return __builtin_shufflevector(v, v, BACKWARD);
}

#endif
