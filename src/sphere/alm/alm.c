/* SPDX-License-Identifier: BSD-3-Clause */
#include "sphere/alm/alm.h"
#include <math.h>
#include <string.h>
#include "core/parallel.h"

/* Below this many coefficients a thread start costs more than the work. */
enum { SMALL = 1 << 16 };

static int64_t count_of(int64_t lmax, int64_t mmax)
{
  return (mmax + 1) * (lmax + 1) - mmax * (mmax + 1) / 2;
}

kugel_status kugel__alm_sizes(int64_t lmax, int64_t *mmax, int64_t *nalm)
{
  KUGEL_CHECK(lmax >= 0 && lmax <= KUGEL__LMAX, KUGEL_EINVAL, "lmax is %lld, must be 0 to %d",
              (long long)lmax, (int)KUGEL__LMAX);
  int64_t m = kugel__mmax(lmax, *mmax);
  KUGEL_CHECK(
      m >= 0, KUGEL_EINVAL,
      "mmax is %lld, must be 1 to lmax = %lld, KUGEL_ALL (%d) for lmax or KUGEL_ONLY_M0 (%d) for m = 0 alone",
      (long long)*mmax, (long long)lmax, KUGEL_ALL, KUGEL_ONLY_M0);
  *mmax = m;
  if (nalm)
    *nalm = count_of(lmax, m);
  return KUGEL_OK;
}

kugel_status kugel__alm_option(int64_t lmax, int64_t *mmax, int64_t *nalm)
{
  if (*mmax == 0)
    *mmax = KUGEL_ALL;
  return kugel__alm_sizes(lmax, mmax, nalm);
}

int64_t kugel_alm_count(int64_t lmax, int64_t mmax)
{
  int64_t m = kugel__mmax(lmax, mmax);
  return lmax < 0 || lmax > KUGEL__LMAX || m < 0 ? -1 : count_of(lmax, m);
}

int64_t kugel_alm_index(int64_t lmax, int64_t l, int64_t m)
{
  if (lmax < 0 || lmax > KUGEL__LMAX || m < 0 || l < m || l > lmax)
    return -1;
  return kugel__alm_offset(lmax, m) + l;
}

kugel_status kugel_alm_lm(int64_t lmax, int64_t index, int64_t *l, int64_t *m)
{
  int64_t mmax = -1, nalm = 0;
  KUGEL_TRY(kugel__alm_sizes(lmax, &mmax, &nalm));
  KUGEL_CHECK(l && m, KUGEL_EINVAL, "l or m is NULL: give two numbers to fill");
  KUGEL_CHECK(index >= 0 && index < nalm, KUGEL_EINVAL, "index %lld: must be between 0 and %lld at lmax %lld",
              (long long)index, (long long)(nalm - 1), (long long)lmax);
  /* Order m starts at s(m) = m (2 lmax + 3 - m) / 2: the root is right to one or so. */
  double b = 2 * (double)lmax + 3;
  int64_t guess = (int64_t)((b - sqrt(fmax(b * b - 8 * (double)index, 0))) / 2);
  guess = kugel__max(0, kugel__min(guess, lmax));
  while (guess > 0 && guess * (2 * lmax + 3 - guess) / 2 > index)
    guess--;
  while (guess < lmax && (guess + 1) * (2 * lmax + 2 - guess) / 2 <= index)
    guess++;
  *m = guess;
  *l = index - kugel__alm_offset(lmax, guess);
  return KUGEL_OK;
}

int64_t kugel_alm_lmax(int64_t count, int64_t mmax)
{
  if (count < 1 || count > kugel_alm_count(KUGEL__LMAX, KUGEL_ALL) || mmax < KUGEL_ONLY_M0 ||
      mmax > KUGEL__LMAX)
    return -1;
  int64_t lmax;
  if (mmax != KUGEL_ALL) {
    int64_t top = kugel__max(mmax, 0), rest = count + top * (top + 1) / 2; // (mmax + 1)(lmax + 1)
    if (rest % (top + 1))
      return -1;
    lmax = rest / (top + 1) - 1;
  } else {
    lmax = (int64_t)((sqrt(8 * (double)count + 1) - 3) / 2 + 0.5);
  }
  return kugel_alm_count(lmax, mmax) == count ? lmax : -1;
}

static bool overlaps(const void *a, int64_t na, const void *b, int64_t nb)
{
  return (const char *)a < (const char *)b + nb && (const char *)b < (const char *)a + na;
}

kugel_status kugel_alm_resize(int64_t lmax, int64_t mmax, const kugel_complex *alm, int64_t lmax_out,
                              int64_t mmax_out, kugel_complex *out)
{
  int64_t n = 0, n_out = 0;
  const int64_t size = (int64_t)sizeof(kugel_complex);
  KUGEL_TRY(kugel__alm_sizes(lmax, &mmax, &n));
  KUGEL_TRY(kugel__alm_sizes(lmax_out, &mmax_out, &n_out));
  KUGEL_CHECK(alm && out, KUGEL_EINVAL, "alm or out is NULL");
  KUGEL_CHECK(!overlaps(alm, n * size, out, n_out * size), KUGEL_EINVAL,
              "alm and out overlap: give separate arrays");
  for (int64_t m = 0; m <= mmax_out; m++) {
    kugel_complex *to = out + kugel__alm_offset(lmax_out, m);
    int64_t top = m <= mmax ? kugel__min(lmax, lmax_out) : m - 1;
    if (top >= m)
      memcpy(to + m, alm + kugel__alm_offset(lmax, m) + m, (size_t)((top - m + 1) * size));
    else
      top = m - 1;
    memset(to + top + 1, 0, (size_t)((lmax_out - top) * size));
  }
  return KUGEL_OK;
}

typedef struct multiply_arg {
  int64_t lmax, nfl;
  const kugel_complex *alm;
  const double *fl;
  kugel_complex *out;
} multiply_arg;

static kugel_status multiply_order(void *arg, int64_t m)
{
  const multiply_arg *a = arg;
  const int64_t offset = kugel__alm_offset(a->lmax, m), top = kugel__min(a->lmax, a->nfl - 1);
  for (int64_t l = m; l <= top; l++)
    a->out[offset + l] = a->fl[l] * a->alm[offset + l];
  for (int64_t l = kugel__max(m, top + 1); l <= a->lmax; l++)
    a->out[offset + l] = 0;
  return KUGEL_OK;
}

kugel_status kugel_alm_multiply(kugel_ctx *ctx, int64_t lmax, int64_t mmax, const kugel_complex *alm,
                                int64_t nfl, const double *fl, kugel_complex *out)
{
  int64_t nalm = 0;
  KUGEL_TRY(kugel__alm_sizes(lmax, &mmax, &nalm));
  KUGEL_CHECK(alm && out && (fl || nfl == 0), KUGEL_EINVAL, "alm, fl or out is NULL");
  KUGEL_CHECK(nfl >= 0, KUGEL_EINVAL, "nfl %lld: must not be negative", (long long)nfl);
  multiply_arg arg = {lmax, nfl, alm, fl, out};
  if (nalm > SMALL)
    return kugel__parallel(ctx, mmax + 1, multiply_order, &arg);
  for (int64_t m = 0; m <= mmax; m++)
    multiply_order(&arg, m);
  return KUGEL_OK;
}
