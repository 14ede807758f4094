/* SPDX-License-Identifier: BSD-3-Clause */
/* Gaussian random alm: for each degree the Cholesky factor of the covariance times independent normal numbers
 * that depend on (seed, index, l, m, set) alone. */
#include <complex.h>
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "sphere/alm/alm.h"

enum { MAX_SETS = 100 };

typedef struct random_arg {
  int64_t n, lmax, nalm, top; /* top: highest degree with power */
  const double *factor;       /* [top + 1][n (n + 1) / 2] lower triangles, row by row */
  uint64_t seed, index;
  kugel_complex *alm;
} random_arg;

/* Position of the spectrum of sets i <= j in the caller's table, or -1 if it has none. */
static int64_t spectrum_index(const kugel_alm_random_opts *o, int64_t i, int64_t j)
{
  if (o->n_cl == 1 && o->n != 1)
    return i == j ? 0 : -1;
  if (o->n_cl == o->n)
    return i == j ? i : -1;
  if (o->n_cl == 4 && o->n == 3)
    return i == j ? i : i == 0 && j == 1 ? 3 : -1;
  if (o->order == KUGEL_CL_ROW)
    return i * o->n - i * (i - 1) / 2 + (j - i);
  const int64_t d = j - i;
  return d * o->n - d * (d - 1) / 2 + i;
}

/* Lower triangle of the Cholesky factor of the n x n covariance c (row by row, lower triangle), in place. A
 * row whose remaining variance vanishes gets zeros. False if the covariance is indefinite beyond rounding. */
static bool factorise(int64_t n, double *c)
{
  for (int64_t j = 0; j < n; j++) {
    double *row = c + j * (j + 1) / 2;
    const double variance = row[j];
    double rest = variance;
    for (int64_t k = 0; k < j; k++)
      rest -= row[k] * row[k];
    const double tolerance = 4e-15 * (double)n * fabs(variance);
    if (rest < -tolerance || variance < 0)
      return false;
    const bool null = rest <= tolerance;
    row[j] = null ? 0 : sqrt(rest);
    for (int64_t i = j + 1; i < n; i++) {
      double *below = c + i * (i + 1) / 2, s = below[j];
      for (int64_t k = 0; k < j; k++)
        s -= below[k] * row[k];
      if (null && s * s > 1e-13 * (variance * below[i]) && s != 0)
        return false;
      below[j] = null ? 0 : s / row[j];
    }
  }
  return true;
}

static kugel_status make_factors(const kugel_alm_random_opts *o, int64_t top, double *factor,
                                 int64_t *first_bad)
{
  const int64_t tri = o->n * (o->n + 1) / 2;
  for (int64_t l = 0; l <= top; l++) {
    double *c = factor + l * tri;
    for (int64_t i = 0; i < o->n; i++)
      for (int64_t j = 0; j <= i; j++) {
        const int64_t s = spectrum_index(o, j, i);
        const double value = s < 0 ? 0 : o->cl[s * (o->cl_lmax + 1) + l];
        KUGEL_CHECK(isfinite(value), KUGEL_EINVAL, "cl[%lld] is %g at l = %lld: spectra must be finite",
                    (long long)s, value, (long long)l);
        c[i * (i + 1) / 2 + j] = value;
      }
    if (factorise(o->n, c))
      continue;
    if (*first_bad < 0)
      *first_bad = l;
    KUGEL_CHECK(o->zero_indefinite, KUGEL_EINVAL,
                "the spectra at l = %lld are no covariance (negative power, or a cross spectrum too large): "
                "mend them, or set zero_indefinite to have zero alm there",
                (long long)l);
    memset(c, 0, (size_t)tri * sizeof(double));
  }
  return KUGEL_OK;
}

static kugel_status random_order(void *arg, int64_t m)
{
  const random_arg *a = arg;
  const int64_t offset = kugel__alm_offset(a->lmax, m), tri = a->n * (a->n + 1) / 2;
  const double scale = m ? M_SQRT1_2 : 1;
  for (int64_t i = 0; i < a->n; i++)
    memset(a->alm + i * a->nalm + offset + m, 0, (size_t)(a->lmax - m + 1) * sizeof(kugel_complex));
  for (int64_t l = m; l <= a->top; l++) {
    const double *c = a->factor + l * tri;
    double normal[MAX_SETS][2];
    for (int64_t i = 0; i < a->n; i++) {
      kugel__normal_pair(a->seed, (uint64_t)l | a->index << 32, (uint32_t)m, (uint32_t)i, normal[i]);
      double re = 0, im = 0;
      for (int64_t j = 0; j <= i; j++, c++) {
        re += *c * normal[j][0];
        im += *c * normal[j][1];
      }
      double *out = (double *)(a->alm + i * a->nalm + offset + l);
      out[0] = scale * re;
      out[1] = m ? scale * im : 0;
    }
  }
  return KUGEL_OK;
}

static kugel_status check_opts(kugel_alm_random_opts *o, int64_t *nalm)
{
  if (o->n == 0)
    o->n = 1;
  KUGEL_CHECK(o->n >= 1 && o->n <= MAX_SETS, KUGEL_EINVAL, "%lld sets: must be between 1 and %d",
              (long long)o->n, (int)MAX_SETS);
  KUGEL_TRY(kugel__alm_option(o->lmax, &o->mmax, nalm));
  const int64_t all = o->n * (o->n + 1) / 2;
  if (o->n_cl == 0)
    o->n_cl = all;
  KUGEL_CHECK(o->n_cl == 1 || o->n_cl == o->n || o->n_cl == all || (o->n_cl == 4 && o->n == 3), KUGEL_EINVAL,
              "%lld spectra for %lld sets: must be 1, %lld, %lld%s", (long long)o->n_cl, (long long)o->n,
              (long long)o->n, (long long)all, o->n == 3 ? " or 4" : "");
  KUGEL_CHECK(o->cl, KUGEL_EINVAL, "cl is NULL");
  KUGEL_CHECK(o->cl_lmax >= 0 && o->cl_lmax <= KUGEL__LMAX, KUGEL_EINVAL,
              "cl_lmax %lld: must be between 0 and %d", (long long)o->cl_lmax, (int)KUGEL__LMAX);
  KUGEL_CHECK(o->order == KUGEL_CL_DIAGONAL || o->order == KUGEL_CL_ROW, KUGEL_EINVAL,
              "order %d: must be 0 or 1", (int)o->order);
  KUGEL_CHECK(o->index <= UINT32_MAX, KUGEL_EINVAL, "index %llu: must be between 0 and 4294967295",
              (unsigned long long)o->index);
  return KUGEL_OK;
}

kugel_status kugel_alm_random(kugel_ctx *ctx, const kugel_alm_random_opts *opts, kugel_complex *alm,
                              int64_t *first_bad)
{
  kugel_alm_random_opts o;
  int64_t nalm = 0, bad = -1;
  if (first_bad)
    *first_bad = -1;
  KUGEL_CHECK(opts && alm, KUGEL_EINVAL, "opts or alm is NULL");
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_alm_random_opts"));
  KUGEL_TRY(check_opts(&o, &nalm));
  const int64_t top = kugel__min(o.lmax, o.cl_lmax);
  double *factor;
  KUGEL_ALLOC(ctx, factor, (size_t)(top + 1) * (size_t)(o.n * (o.n + 1) / 2) * sizeof(double));
  kugel_status status = make_factors(&o, top, factor, &bad);
  if (first_bad)
    *first_bad = bad;
  if (status == KUGEL_OK) {
    random_arg arg = {o.n, o.lmax, nalm, top, factor, o.seed, o.index, alm};
    status = kugel__parallel(ctx, o.mmax + 1, random_order, &arg);
  }
  kugel__free(ctx, factor);
  return status;
}
