/* SPDX-License-Identifier: BSD-3-Clause */
/* Roots of unity and other unit vectors, in bulk, within 0.51 ulp: twiddles, chirps, phases of rings.
 *
 * Angles are fractions of a full turn in 128-bit fixed point, whose wrapping arithmetic is exact modulo a
 * turn. kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(-1, n), n, w, 1);    w[k] = e^{-2 pi i k / n}
 */
#ifndef KUGEL_FFT_ROOTS_ROOTS_H
#define KUGEL_FFT_ROOTS_ROOTS_H

#include "core/base.h"

typedef struct kugel__turn {
  uint64_t hi, lo; /* hi / 2^64 + lo / 2^128 turns */
} kugel__turn;

#define KUGEL__NO_TURN ((kugel__turn){0, 0})

/* k / n turns to 2^-128; n at least 1, any k. */
kugel__turn kugel__turn_ratio(int64_t k, int64_t n);

/* The angle in turns, for |radians| < 2^40 to 2^-128 max(1, |radians|). */
kugel__turn kugel__turn_radians(double radians);

static inline kugel__turn kugel__turn_add(kugel__turn a, kugel__turn b)
{
  uint64_t lo = a.lo + b.lo;
  return (kugel__turn){a.hi + b.hi + (lo < a.lo), lo};
}
static inline kugel__turn kugel__turn_times(kugel__turn a, int64_t k)
{
  unsigned __int128 t = (((unsigned __int128)a.hi << 64) | a.lo) * (unsigned __int128)k;
  return (kugel__turn){(uint64_t)(t >> 64), (uint64_t)t};
}

/* Complex out[j * stride] = e^{2 pi i (start + j step)}, j < count. Quarter turns are exact. */
void kugel__fft_roots(kugel__turn start, kugel__turn step, int64_t count, double *out, int64_t stride);

/* Complex out[j * stride] = e^{2 pi i k_j step}. */
void kugel__roots_at(kugel__turn step, const int64_t *k, int64_t count, double *out, int64_t stride);

/* One root. */
static inline void kugel__root(kugel__turn turn, double *out)
{
  kugel__fft_roots(turn, KUGEL__NO_TURN, 1, out, 1);
}

/* For roots.isa.c: of angle i of CELLS in the first quarter, cos, sin, and what rounding took from both. */
enum { KUGEL__ROOT_CELLS = 512 };
typedef struct kugel__root_cell {
  double c, s, c_lo, s_lo;
} kugel__root_cell;
typedef struct kugel__roots_ops {
  void (*fill)(const kugel__root_cell *cells, kugel__turn start, kugel__turn step, int64_t count, double *out,
               int64_t stride);
  void (*fill_at)(const kugel__root_cell *cells, kugel__turn step, const int64_t *k, int64_t count,
                  double *out, int64_t stride);
} kugel__roots_ops;

#endif
