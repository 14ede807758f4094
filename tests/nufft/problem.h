/* SPDX-License-Identifier: BSD-3-Clause */
/* A non-uniform transform, its sum in long double, and random numbers for both. */
#ifndef KUGEL_TESTS_NUFFT_PROBLEM_H
#define KUGEL_TESTS_NUFFT_PROBLEM_H

#include <complex.h>
#include <stdbool.h>
#include "check.h"
#include <kugel/fft.h>
#include <kugel/nufft.h>

typedef struct problem {
  int ndim;
  int64_t n[3], m;
  kugel_nufft_opts opts;
} problem;

static inline int64_t modes_of(const problem *p)
{
  int64_t modes = 1;
  for (int d = 0; d < p->ndim; d++)
    modes *= p->n[d];
  return modes;
}

static inline bool to_modes(const problem *p, bool adjoint)
{
  return (p->opts.type == KUGEL_NUFFT_TO_MODES) != adjoint;
}

static inline double *random_reals(int64_t n, uint64_t seed)
{
  double *x = malloc((size_t)(n > 0 ? n : 1) * sizeof *x);
  for (int64_t i = 0; i < n; i++)
    x[i] = check_random(&seed);
  return x;
}

/* Mode i of axis d. */
static inline int64_t mode(const problem *p, int d, int64_t i)
{
  return p->opts.fft_order ? (i < (p->n[d] + 1) / 2 ? i : i - p->n[d]) : i - p->n[d] / 2;
}

/* e^{i sign k.x}, the product reduced in long double. */
static inline long double complex wave(const problem *p, int sign, const double *x, int64_t index)
{
  const long double two_pi = 6.283185307179586476925286766559005768L;
  long double turns = 0;
  for (int d = p->ndim - 1; d >= 0; d--) {
    long double u = x[d] / (p->opts.period ? (long double)p->opts.period[d] : two_pi);
    u *= (long double)mode(p, d, index % p->n[d]);
    turns += u - floorl(u);
    index /= p->n[d];
  }
  return cexpl(1.0iL * (long double)sign * two_pi * turns);
}

static inline long double complex number(const double *x, int64_t i)
{
  return (long double)x[2 * i] + 1.0iL * (long double)x[2 * i + 1];
}

/* The transform that execute computes, as a sum. */
static inline void sum(const problem *p, const double *x, const double *in, double *out)
{
  bool modes = to_modes(p, false);
  int sign = p->opts.sign ? p->opts.sign : modes ? 1 : -1;
  int64_t rows = modes ? modes_of(p) : p->m, columns = modes ? p->m : modes_of(p);
  for (int64_t i = 0; i < rows; i++) {
    long double complex s = 0;
    for (int64_t j = 0; j < columns; j++)
      s += number(in, j) * wave(p, sign, x + p->ndim * (modes ? j : i), modes ? i : j);
    out[2 * i] = (double)creall(s);
    out[2 * i + 1] = (double)cimagl(s);
  }
}

/* kugel_nufft_execute, or its adjoint, of arrays of double or float. */
static inline void transform(const problem *p, const double *x, bool adjoint, const void *in, void *out)
{
  kugel_nufft *plan;
  kugel_nufft_points *points;
  kugel_dtype type = p->opts.precision == KUGEL_PRECISION_F32 ? KUGEL_C64 : KUGEL_C128;
  bool modes = to_modes(p, adjoint);
  kugel_array c = *KUGEL_ARRAY(modes ? in : out, type, p->m), f = *KUGEL_ARRAY(modes ? out : in, type, 1);
  f.ndim = p->ndim;
  f.shape = (int64_t *)(uintptr_t)p->n;
  CHECK_OK(kugel_nufft_create(NULL, p->ndim, p->n, &p->opts, &plan));
  CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, p->m, p->ndim), &points));
  kugel_nufft_destroy(plan); // points keep it
  CHECK_OK(
      (adjoint ? kugel_nufft_adjoint : kugel_nufft_execute)(points, modes ? &c : &f, modes ? &f : &c, NULL));
  kugel_nufft_points_destroy(points);
}

/* Relative l2 error of execute; points reach from -reach to reach. */
static inline double error_of(const problem *p, double reach)
{
  bool single = p->opts.precision == KUGEL_PRECISION_F32;
  int64_t n_in = to_modes(p, false) ? p->m : modes_of(p), n_out = to_modes(p, false) ? modes_of(p) : p->m;
  double *x = random_reals(p->m * p->ndim, 3), *in = random_reals(2 * n_in, 5);
  double *out = malloc((size_t)n_out * 16), *want = malloc((size_t)n_out * 16);
  float *in32 = malloc((size_t)n_in * 8), *out32 = malloc((size_t)n_out * 8);
  for (int64_t i = 0; i < p->m * p->ndim; i++)
    x[i] *= reach;
  for (int64_t i = 0; i < 2 * n_in; i++) {
    in32[i] = (float)in[i];
    in[i] = single ? (double)in32[i] : in[i];
  }
  sum(p, x, in, want);
  transform(p, x, false, single ? (void *)in32 : in, single ? (void *)out32 : out);
  for (int64_t i = 0; single && i < 2 * n_out; i++)
    out[i] = out32[i];
  double error = check_l2(out, want, (size_t)(2 * n_out));
  free(x), free(in), free(out), free(want), free(in32), free(out32);
  return error;
}

#endif
