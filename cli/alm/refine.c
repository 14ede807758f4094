/* SPDX-License-Identifier: BSD-3-Clause */
/* Analysis with as many refinements as a tolerance asks for. */
#include <math.h>
#include <stdlib.h>
#include "map/skyops.h"

enum { MOST = 200 };

static double value(const kugel_array *a, int64_t i)
{
  double x = a->dtype.bits == 32 ? (double)((const float *)a->data)[i] : ((const double *)a->data)[i];
  return isfinite(x) && fabs(x / KUGEL_UNSEEN - 1) >= 1e-5 ? x : 0; /* as KUGEL_BAD_ZERO counts it */
}

static double size_of(const double _Complex *alm, int64_t n)
{
  const double *x = (const double *)alm;
  double sum = 0;
  for (int64_t i = 0; i < 2 * n; i++)
    sum += x[i] * x[i];
  return sqrt(sum);
}

/* a: the coefficients so far; more: those of the residual. Ends by tolerance, or when it no longer converges. */
static int refine(const kugel_sht *plan, const kugel_array *maps, double tolerance, alms *a, alms *more,
                  double *rest)
{
  int64_t values = maps->shape[0] * maps->shape[1], count = a->n * a->count;
  const kugel_array *residual = KUGEL_ARRAY(rest, KUGEL_F64, maps->shape[0], maps->shape[1]);
  const kugel_array *alm = KUGEL_ARRAY(a->data, KUGEL_C128, a->n, a->count);
  const kugel_array *step = KUGEL_ARRAY(more->data, KUGEL_C128, a->n, a->count);
  double correction = INFINITY, size = size_of(a->data, count);
  int done = 0;
  while (correction > tolerance && size > 0) {
    LIB(kugel_sht_synthesis(plan, alm, residual, NULL));
    for (int64_t i = 0; i < values; i++)
      rest[i] = value(maps, i) - rest[i];
    LIB(kugel_sht_analysis(plan, residual, step, NULL));
    double before = correction;
    correction = size_of(more->data, count) / size;
    if (++done == MOST || correction > 2 * before)
      return fail("--tolerance %g: refinements end at %.3g of the coefficients after %d: give a larger one, "
                  "or a lower "
                  "--lmax",
                  tolerance, fmin(before, correction), done);
    for (int64_t i = 0; i < count; i++)
      a->data[i] += more->data[i];
  }
  json_int("iterations_done", done);
  json_number("correction", isfinite(correction) ? correction : 0);
  fact("", "%d iterations; the last changed the coefficients by %.2g", done,
       isfinite(correction) ? correction : 0);
  return EXIT_DONE;
}

int alms_analyse(const kugel_sht *plan, const kugel_array *maps, double tolerance, alms *a)
{
  LIB(kugel_sht_analysis(plan, maps, KUGEL_ARRAY(a->data, KUGEL_C128, a->n, a->count), NULL));
  if (!(tolerance > 0))
    return EXIT_DONE;
  ALMS more = {0};
  STEP(alms_make(&more, a->n, a->lmax, a->mmax));
  OWNED double *rest = malloc((size_t)(maps->shape[0] * maps->shape[1]) * sizeof *rest);
  if (!rest)
    return fail("no memory for a residual of %lld pixels", (long long)maps->shape[1]);
  return refine(plan, maps, tolerance, a, &more, rest);
}
