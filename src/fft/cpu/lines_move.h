/* SPDX-License-Identifier: BSD-3-Clause */
/* For lines.isa.c: elements of up to VLEN lines <-> points. Rows (elements adjacent) go through transposes in
 * registers, columns (lines adjacent) through plain vectors, anything else one by one. */
#ifndef KUGEL_FFT_CPU_LINES_MOVE_H
#define KUGEL_FFT_CPU_LINES_MOVE_H

#include "fft/cpu/lines.h"
#include "fft/cpu/points.h"

enum { PAIRS = VLEN / 2 }; // complex numbers of a vector

static inline bool adjacent(const kugel__lines *l, const int64_t *at)
{
  for (int i = 1; i < VLEN; i++)
    if (at[i] != at[0] + i)
      return false;
  return l->count == VLEN;
}

/* n values at `at` + j step of each line to points' parts x, x + W, ... */
static inline __attribute__((always_inline)) void
load_parts(const kugel__lines *l, double *x, int64_t n, int64_t unit, int64_t shift, int64_t step, bool f32)
{
  if (unit == 1 && adjacent(l, l->in_at)) {
    for (int64_t j = 0; j < n; j++) {
      v_store(x + W * j, read_vector(l->in, l->in_at[0] + shift + j * step, f32));
      fetch(l->in, l->in_at[0] + shift + j * step + VLEN, VLEN, f32 ? 4 : 8, false);
    }
    return;
  }
  int64_t j = 0;
  if (step == 1 && l->count == VLEN)
    for (; j + VLEN <= n; j += VLEN) {
      vf64 v[VLEN];
      for (int i = 0; i < VLEN; i++)
        v[i] = read_vector(l->in, l->in_at[i] * unit + shift + j, f32);
      transpose(v);
      for (int i = 0; i < VLEN; i++)
        v_store(x + W * (j + i), v[i]);
    }
  for (; j < n; j++)
    for (int i = 0; i < VLEN; i++)
      x[W * j + i] = i < l->count ? read_one(l->in, l->in_at[i] * unit + shift + j * step, f32) : 0;
}

static inline __attribute__((always_inline)) void store_parts(const kugel__lines *l, const double *x,
                                                              int64_t n, int64_t unit, int64_t shift,
                                                              int64_t step, bool f32)
{
  vf64 scale = v_set(l->scale);
  if (unit == 1 && adjacent(l, l->out_at)) {
    for (int64_t j = 0; j < n; j++) {
      write_vector(l->out, l->out_at[0] + shift + j * step, scale * v_load(x + W * j), f32);
      fetch(l->out, l->out_at[0] + shift + j * step + VLEN, VLEN, f32 ? 4 : 8, true);
    }
    return;
  }
  int64_t j = 0;
  if (step == 1 && l->count == VLEN)
    for (; j + VLEN <= n; j += VLEN) {
      vf64 v[VLEN];
      for (int i = 0; i < VLEN; i++)
        v[i] = scale * v_load(x + W * (j + i));
      transpose(v);
      for (int i = 0; i < VLEN; i++)
        write_vector(l->out, l->out_at[i] * unit + shift + j, v[i], f32);
    }
  for (; j < n; j++)
    for (int i = 0; i < l->count; i++)
      write_one(l->out, l->out_at[i] * unit + shift + j * step, l->scale * x[W * j + i], f32);
}

/* VLEN reals of VLEN lines at `at` bytes, transposed; and those `ahead` prefetched. Of doubles in vectors of
 * eight the halves of two rows make a vector, which leaves two steps of shuffles. */
ALWAYS void read_rows(const char *const *line, int64_t at, int64_t ahead, vf64 *v, bool f32)
{
#if VLEN == 8
  if (!f32) {
    __m256d half[2][8];
    for (int i = 0; i < 8; i++) {
      half[0][i] = _mm256_loadu_pd((const double *)(const void *)(line[i] + at));
      half[1][i] = _mm256_loadu_pd((const double *)(const void *)(line[i] + at + 32));
      __builtin_prefetch(line[i] + ahead + at, 0, 2);
    }
    for (int h = 0; h < 2; h++) {
      vf64 a[4];
      for (int i = 0; i < 4; i++) // rows 0 and 2, 1 and 3, 4 and 6, 5 and 7
        a[i] = (vf64)_mm512_insertf64x4(_mm512_castpd256_pd512(half[h][i + i / 2 * 2]),
                                        half[h][i + i / 2 * 2 + 2], 1);
      for (int i = 0; i < 2; i++) {
        vf64 b = i ? __builtin_shufflevector(a[0], a[1], 1, 9, 3, 11, 5, 13, 7, 15)
                   : __builtin_shufflevector(a[0], a[1], 0, 8, 2, 10, 4, 12, 6, 14);
        vf64 c = i ? __builtin_shufflevector(a[2], a[3], 1, 9, 3, 11, 5, 13, 7, 15)
                   : __builtin_shufflevector(a[2], a[3], 0, 8, 2, 10, 4, 12, 6, 14);
        v[4 * h + i] = __builtin_shufflevector(b, c, 0, 1, 4, 5, 8, 9, 12, 13);
        v[4 * h + i + 2] = __builtin_shufflevector(b, c, 2, 3, 6, 7, 10, 11, 14, 15);
      }
    }
    return;
  }
#endif
  for (int i = 0; i < VLEN; i++) {
    v[i] = read_vector(line[i] + at, 0, f32);
    __builtin_prefetch(line[i] + ahead + at, 0, 2);
  }
  transpose(v);
}
ALWAYS void write_rows(char *const *line, int64_t at, int64_t ahead, vf64 *v, bool f32)
{
#if VLEN == 8
  if (!f32) {
    vf64 row[2][4]; // halves of rows 0 and 2, 1 and 3, 4 and 6, 5 and 7
    for (int h = 0; h < 2; h++)
      for (int i = 0; i < 2; i++) {
        const vf64 *u = v + 4 * h;
        vf64 a = i ? __builtin_shufflevector(u[0], u[1], 1, 9, 3, 11, 5, 13, 7, 15)
                   : __builtin_shufflevector(u[0], u[1], 0, 8, 2, 10, 4, 12, 6, 14);
        vf64 b = i ? __builtin_shufflevector(u[2], u[3], 1, 9, 3, 11, 5, 13, 7, 15)
                   : __builtin_shufflevector(u[2], u[3], 0, 8, 2, 10, 4, 12, 6, 14);
        row[h][i] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 2, 3, 10, 11);
        row[h][i + 2] = __builtin_shufflevector(a, b, 4, 5, 12, 13, 6, 7, 14, 15);
      }
    for (int i = 0; i < 4; i++) {
      char *p = line[i + i / 2 * 2] + at, *q = line[i + i / 2 * 2 + 2] + at;
      for (int h = 0; h < 2; h++)
        _mm256_storeu_pd((double *)(void *)(p + 32 * h), _mm512_castpd512_pd256((__m512d)row[h][i]));
      for (int h = 0; h < 2; h++)
        _mm256_storeu_pd((double *)(void *)(q + 32 * h), _mm512_extractf64x4_pd((__m512d)row[h][i], 1));
      __builtin_prefetch(p + ahead, 1, 2);
      __builtin_prefetch(q + ahead, 1, 2);
    }
    return;
  }
#endif
  transpose(v);
  for (int i = 0; i < VLEN; i++) {
    write_vector(line[i] + at, 0, v[i], f32);
    __builtin_prefetch(line[i] + ahead + at, 1, 2);
  }
}

/* Pairs of neighbouring reals, `unit` reals to an element: a complex number, or two elements of a real line.
 * Rows go VLEN / 2 pairs at a time: a VLEN x VLEN transpose parts re and im too; the last block is moved back
 * to be full. */
ALWAYS void load_two(const kugel__lines *l, double *x, int64_t n, int64_t unit, int64_t step, bool exchanged,
                     bool f32)
{
  int64_t swap = exchanged ? 1 : 0;
  if (unit == 2 && adjacent(l, l->in_at)) {
    for (int64_t j = 0; j < n; j++) {
      cvec c = read_complex(l->in, l->in_at[0] + j * step, 1, f32);
      v_store(x + W * j + VLEN * swap, c.re);
      v_store(x + W * j + VLEN * (1 - swap), c.im);
      fetch(l->in, l->in_at[0] + j * step + VLEN, VLEN, f32 ? 8 : 16, false);
    }
    return;
  }
  const char *line[VLEN];
  for (int i = 0; i < VLEN; i++)
    line[i] = l->in + l->in_at[i] * unit * (f32 ? 4 : 8);
  int64_t ahead = (l->in_at[1] - l->in_at[0]) * VLEN * unit * (f32 ? 4 : 8);
  if (step == 1 && l->count == VLEN && n >= PAIRS) {
    for (int64_t block = 0; block < n; block += PAIRS) {
      int64_t j = kugel__min(block, n - PAIRS);
      vf64 v[VLEN];
      read_rows(line, j * (f32 ? 8 : 16), ahead, v, f32);
      for (int i = 0; i < VLEN; i++)
        v_store(x + W * j + VLEN * (i ^ swap), v[i]);
    }
    return;
  }
  for (int64_t j = 0; j < n; j++)
    for (int i = 0; i < VLEN; i++) {
      x[W * j + VLEN * swap + i] = i < l->count ? read_one(line[i], 2 * j * step, f32) : 0;
      x[W * j + VLEN * (1 - swap) + i] = i < l->count ? read_one(line[i], 2 * j * step + 1, f32) : 0;
    }
}

ALWAYS void store_two(const kugel__lines *l, const double *x, int64_t n, int64_t unit, int64_t step,
                      bool exchanged, bool f32)
{
  int64_t swap = exchanged ? 1 : 0;
  vf64 scale = v_set(l->scale);
  if (unit == 2 && adjacent(l, l->out_at)) {
    for (int64_t j = 0; j < n; j++) {
      cvec c = {scale * v_load(x + W * j + VLEN * swap), scale * v_load(x + W * j + VLEN * (1 - swap))};
      write_complex(l->out, l->out_at[0] + j * step, 1, c, VLEN, f32);
      fetch(l->out, l->out_at[0] + j * step + VLEN, VLEN, f32 ? 8 : 16, true);
    }
    return;
  }
  char *line[VLEN];
  for (int i = 0; i < VLEN; i++)
    line[i] = l->out + l->out_at[i] * unit * (f32 ? 4 : 8);
  int64_t ahead = (l->out_at[1] - l->out_at[0]) * VLEN * unit * (f32 ? 4 : 8);
  if (step == 1 && l->count == VLEN && n >= PAIRS) {
    for (int64_t block = 0; block < n; block += PAIRS) {
      int64_t j = kugel__min(block, n - PAIRS);
      vf64 v[VLEN];
      for (int i = 0; i < VLEN; i++)
        v[i] = scale * v_load(x + W * j + VLEN * (i ^ swap));
      write_rows(line, j * (f32 ? 8 : 16), ahead, v, f32);
    }
    return;
  }
  for (int64_t j = 0; j < n; j++)
    for (int i = 0; i < l->count; i++) {
      write_one(line[i], 2 * j * step, l->scale * x[W * j + VLEN * swap + i], f32);
      write_one(line[i], 2 * j * step + 1, l->scale * x[W * j + VLEN * (1 - swap) + i], f32);
    }
}

/* ---- what lines.isa.c calls ---- */

#define BY_TYPE(l, call) ((l)->f32 ? call(true) : call(false))

static void load_complex(const kugel__lines *l, double *x, int64_t n, bool exchanged)
{
#define CALL(f32) load_two(l, x, n, 2, l->in_step, exchanged, f32)
  if (exchanged)
    BY_TYPE(l, CALL);
  else
    BY_TYPE(l, CALL);
#undef CALL
}

static void store_complex(const kugel__lines *l, const double *x, int64_t n, bool exchanged)
{
#define CALL(f32) store_two(l, x, n, 2, l->out_step, exchanged, f32)
  BY_TYPE(l, CALL);
#undef CALL
}

static void load_real(const kugel__lines *l, double *x, int64_t n)
{
  for (int64_t j = 0; j < n; j++)
    v_store(x + W * j + VLEN, (vf64){0});
#define CALL(f32) load_parts(l, x, n, 1, 0, l->in_step, f32)
  BY_TYPE(l, CALL);
#undef CALL
}

// To the imaginary parts of points, the real parts of which stay.
static void load_imaginary(const kugel__lines *l, double *x, int64_t n)
{
#define CALL(f32) load_parts(l, x + VLEN, n, 1, 0, l->in_step, f32)
  BY_TYPE(l, CALL);
#undef CALL
}

static void store_real(const kugel__lines *l, const double *x, int64_t n)
{
#define CALL(f32) store_parts(l, x, n, 1, 0, l->out_step, f32)
  BY_TYPE(l, CALL);
#undef CALL
}

/* 2 n reals of a line as n points. */
static void load_pairs(const kugel__lines *l, double *x, int64_t n)
{
  if (l->in_step == 1) {
#define CALL(f32) load_two(l, x, n, 1, 1, false, f32)
    BY_TYPE(l, CALL);
#undef CALL
    return;
  }
  for (int part = 0; part < 2; part++) {
#define CALL(f32) load_parts(l, x + part * VLEN, n, 1, part * l->in_step, 2 * l->in_step, f32)
    BY_TYPE(l, CALL);
#undef CALL
  }
}

/* Back, re and im exchanged. */
static void store_pairs(const kugel__lines *l, const double *x, int64_t n)
{
  if (l->out_step == 1) {
#define CALL(f32) store_two(l, x, n, 1, 1, true, f32)
    BY_TYPE(l, CALL);
#undef CALL
    return;
  }
  for (int part = 0; part < 2; part++) {
#define CALL(f32) store_parts(l, x + (1 - part) * VLEN, n, 1, part * l->out_step, 2 * l->out_step, f32)
    BY_TYPE(l, CALL);
#undef CALL
  }
}

#endif
