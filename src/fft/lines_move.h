/* SPDX-License-Identifier: BSD-3-Clause */
/* For lines.isa.c: elements of up to VLEN lines <-> points. Rows (elements adjacent) go through transposes in
 * registers, columns (lines adjacent) through plain vectors, anything else one by one. */
#ifndef KUGEL_FFT_LINES_MOVE_H
#define KUGEL_FFT_LINES_MOVE_H

#include "fft/lines.h"
#include "fft/points.h"

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
    for (int64_t j = 0; j < n; j++)
      v_store(x + W * j, read_vector(l->in, l->in_at[0] + shift + j * step, f32));
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
    for (int64_t j = 0; j < n; j++)
      write_vector(l->out, l->out_at[0] + shift + j * step, scale * v_load(x + W * j), f32);
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

/* Pairs of neighbouring reals, `unit` reals to an element: a complex number, or two elements of a real line.
 */
static inline __attribute__((always_inline)) void load_two(const kugel__lines *l, double *re, double *im,
                                                           int64_t n, int64_t unit, int64_t step, bool f32)
{
  int64_t j = 0;
  if (unit == 2 && adjacent(l, l->in_at))
    for (; j < n; j++) {
      int64_t i = 2 * (l->in_at[0] + j * step);
      vf64 u = read_vector(l->in, i, f32), v = read_vector(l->in, i + VLEN, f32);
      v_store(re + W * j, __builtin_shufflevector(u, v, EVENS));
      v_store(im + W * j, __builtin_shufflevector(u, v, ODDS));
    }
  else if (step == 1 && l->count == VLEN)
    for (; j + VLEN <= n; j += VLEN) {
      vf64 a[VLEN], b[VLEN];
      for (int i = 0; i < VLEN; i++) {
        vf64 u = read_vector(l->in, l->in_at[i] * unit + 2 * j, f32);
        vf64 v = read_vector(l->in, l->in_at[i] * unit + 2 * j + VLEN, f32);
        a[i] = __builtin_shufflevector(u, v, EVENS);
        b[i] = __builtin_shufflevector(u, v, ODDS);
      }
      transpose(a);
      transpose(b);
      for (int i = 0; i < VLEN; i++) {
        v_store(re + W * (j + i), a[i]);
        v_store(im + W * (j + i), b[i]);
      }
    }
  for (; j < n; j++)
    for (int i = 0; i < VLEN; i++) {
      int64_t at = l->in_at[i] * unit + 2 * j * step;
      re[W * j + i] = i < l->count ? read_one(l->in, at, f32) : 0;
      im[W * j + i] = i < l->count ? read_one(l->in, at + 1, f32) : 0;
    }
}

static inline __attribute__((always_inline)) void store_two(const kugel__lines *l, const double *re,
                                                            const double *im, int64_t n, int64_t unit,
                                                            int64_t step, bool f32)
{
  vf64 scale = v_set(l->scale);
  int64_t j = 0;
  if (unit == 2 && adjacent(l, l->out_at))
    for (; j < n; j++) {
      int64_t i = 2 * (l->out_at[0] + j * step);
      vf64 u = scale * v_load(re + W * j), v = scale * v_load(im + W * j);
      write_vector(l->out, i, __builtin_shufflevector(u, v, ZIP_LOW), f32);
      write_vector(l->out, i + VLEN, __builtin_shufflevector(u, v, ZIP_HIGH), f32);
    }
  else if (step == 1 && l->count == VLEN)
    for (; j + VLEN <= n; j += VLEN) {
      vf64 a[VLEN], b[VLEN];
      for (int i = 0; i < VLEN; i++) {
        a[i] = scale * v_load(re + W * (j + i));
        b[i] = scale * v_load(im + W * (j + i));
      }
      transpose(a);
      transpose(b);
      for (int i = 0; i < VLEN; i++) {
        int64_t at = l->out_at[i] * unit + 2 * j;
        write_vector(l->out, at, __builtin_shufflevector(a[i], b[i], ZIP_LOW), f32);
        write_vector(l->out, at + VLEN, __builtin_shufflevector(a[i], b[i], ZIP_HIGH), f32);
      }
    }
  for (; j < n; j++)
    for (int i = 0; i < l->count; i++) {
      int64_t at = l->out_at[i] * unit + 2 * j * step;
      write_one(l->out, at, l->scale * re[W * j + i], f32);
      write_one(l->out, at + 1, l->scale * im[W * j + i], f32);
    }
}

/* ---- what lines.isa.c calls ---- */

#define BY_TYPE(l, call) ((l)->f32 ? call(true) : call(false))

static void load_complex(const kugel__lines *l, double *x, int64_t n, bool exchanged)
{
  double *re = x + (exchanged ? VLEN : 0), *im = x + (exchanged ? 0 : VLEN);
#define CALL(f32) load_two(l, re, im, n, 2, l->in_step, f32)
  BY_TYPE(l, CALL);
#undef CALL
}

static void store_complex(const kugel__lines *l, const double *x, int64_t n, bool exchanged)
{
  const double *re = x + (exchanged ? VLEN : 0), *im = x + (exchanged ? 0 : VLEN);
#define CALL(f32) store_two(l, re, im, n, 2, l->out_step, f32)
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
#define CALL(f32) load_two(l, x, x + VLEN, n, 1, 1, f32)
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
#define CALL(f32) store_two(l, x + VLEN, x, n, 1, 1, f32)
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
