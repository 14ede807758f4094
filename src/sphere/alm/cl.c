/* SPDX-License-Identifier: BSD-3-Clause */
/* Power spectra: compensated sums over m, in the same order whatever the number of threads. */
#include <complex.h>
#include "core/dd.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"

enum { CHUNK = 256 }; // degrees a task

typedef struct cl_arg {
  int64_t lmax, mmax, lmax_out;
  const kugel_complex *a, *b;
  double *cl;
} cl_arg;

static kugel_status cl_chunk(void *arg, int64_t chunk)
{
  const cl_arg *s = arg;
  const int64_t lo = chunk * CHUNK, hi = kugel__min(lo + CHUNK - 1, kugel__min(s->lmax, s->lmax_out));
  double sum[CHUNK] = {0}, rest[CHUNK] = {0};
  for (int64_t m = kugel__min(s->mmax, hi); m > 0; m--) {
    const int64_t offset = kugel__alm_offset(s->lmax, m);
    const double *a = (const double *)(s->a + offset), *b = (const double *)(s->b + offset);
    for (int64_t l = kugel__max(lo, m); l <= hi; l++) {
      kugel__dd t = dd_two_sum(sum[l - lo], a[2 * l] * b[2 * l] + a[2 * l + 1] * b[2 * l + 1]);
      sum[l - lo] = t.hi;
      rest[l - lo] += t.lo;
    }
  }
  for (int64_t l = lo; l <= hi; l++)
    s->cl[l] = (2 * (sum[l - lo] + rest[l - lo]) + creal(s->a[l]) * creal(s->b[l])) / (double)(2 * l + 1);
  for (int64_t l = kugel__max(lo, s->lmax + 1); l < lo + CHUNK && l <= s->lmax_out; l++)
    s->cl[l] = 0;
  return KUGEL_OK;
}

kugel_status kugel_alm_cl(kugel_ctx *ctx, int64_t lmax, int64_t mmax, const kugel_complex *alm1,
                          const kugel_complex *alm2, int64_t lmax_out, double *cl)
{
  KUGEL_TRY(kugel__alm_sizes(lmax, &mmax, NULL));
  KUGEL_CHECK(lmax_out >= -1 && lmax_out <= KUGEL__LMAX, KUGEL_EINVAL,
              "lmax_out %lld: must be between 0 and %d, or -1 for lmax", (long long)lmax_out,
              (int)KUGEL__LMAX);
  KUGEL_CHECK(alm1 && cl, KUGEL_EINVAL, "alm1 or cl is NULL");
  cl_arg arg = {lmax, mmax, lmax_out < 0 ? lmax : lmax_out, alm1, alm2 ? alm2 : alm1, cl};
  return kugel__parallel(ctx, arg.lmax_out / CHUNK + 1, cl_chunk, &arg);
}

kugel_status kugel_alm_cl_all(kugel_ctx *ctx, int64_t n, int64_t lmax, int64_t mmax, const kugel_complex *alm,
                              int64_t lmax_out, double *cl)
{
  int64_t nalm = 0;
  KUGEL_CHECK(n >= 1 && n <= 1000, KUGEL_EINVAL, "%lld sets: must be between 1 and 1000", (long long)n);
  KUGEL_TRY(kugel__alm_sizes(lmax, &mmax, &nalm));
  KUGEL_CHECK(alm && cl, KUGEL_EINVAL, "alm or cl is NULL");
  if (lmax_out == -1)
    lmax_out = lmax;
  for (int64_t d = 0; d < n; d++)
    for (int64_t i = 0; i + d < n; i++, cl += lmax_out + 1)
      KUGEL_TRY(kugel_alm_cl(ctx, lmax, mmax, alm + i * nalm, alm + (i + d) * nalm, lmax_out, cl));
  return KUGEL_OK;
}
