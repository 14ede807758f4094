/* SPDX-License-Identifier: BSD-3-Clause */
/* Axisymmetric beams: profile <-> window. */
#include <math.h>
#include "sphere/alm/alm.h"

enum { BLOCK = 64 }; // angles whose Legendre recurrences run side by side

static kugel_status check_lmax(int64_t lmax)
{
  int64_t mmax = KUGEL_ALL;
  return kugel__alm_sizes(lmax, &mmax, NULL);
}

kugel_status kugel_beam_gauss(double fwhm, int64_t lmax, int n, double *bl)
{
  KUGEL_TRY(check_lmax(lmax));
  KUGEL_CHECK(fwhm >= 0 && isfinite(fwhm), KUGEL_EINVAL, "fwhm %g: must be 0 or more radians", fwhm);
  KUGEL_CHECK(n >= 1 && n <= 4, KUGEL_EINVAL, "%d windows: must be 1 to 4 (T, E, B, TE)", n);
  KUGEL_CHECK(bl, KUGEL_EINVAL, "bl is NULL");
  static const double spin_factor[4] = {0, 2, 2, 1};
  const double s2 = fwhm * fwhm / (8 * M_LN2);
  for (int i = 0; i < n; i++) {
    const double factor = exp(spin_factor[i] * s2);
    for (int64_t l = 0; l <= lmax; l++)
      bl[i * (lmax + 1) + l] = factor * exp(-0.5 * (double)l * ((double)l + 1) * s2);
  }
  return KUGEL_OK;
}

static kugel_status check_angles(int64_t n, const double *theta, bool rising)
{
  for (int64_t i = 0; i < n; i++) {
    KUGEL_CHECK(theta[i] >= 0 && theta[i] <= M_PI, KUGEL_EINVAL,
                "theta[%lld] = %g: must be in [0, pi] radians", (long long)i, theta[i]);
    KUGEL_CHECK(!rising || i == 0 || theta[i] > theta[i - 1], KUGEL_EINVAL,
                "theta[%lld] = %.17g is not above theta[%lld] = %.17g: sort the angles", (long long)i,
                theta[i], (long long)(i - 1), theta[i - 1]);
  }
  return KUGEL_OK;
}

/* P_{l+1} from P_l and P_{l-1}, for all angles of a block; l from 0, with P_{-1} = 0. */
static inline void next_degree(int64_t l, const double *x, double *p, double *before)
{
  const double up = (double)(2 * l + 1) / (double)(l + 1), down = (double)l / (double)(l + 1);
  for (int i = 0; i < BLOCK; i++) {
    double next = up * x[i] * p[i] - down * before[i];
    before[i] = p[i];
    p[i] = next;
  }
}

static double dot(const double *a, const double *b)
{
  double part[8] = {0};
  for (int i = 0; i < BLOCK; i += 8)
    for (int j = 0; j < 8; j++)
      part[j] += a[i + j] * b[i + j];
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

kugel_status kugel_beam_to_window(int64_t n, const double *theta, const double *beam, int64_t lmax,
                                  double *bl)
{
  KUGEL_TRY(check_lmax(lmax));
  KUGEL_CHECK(n >= 2, KUGEL_EINVAL, "%lld samples: a profile needs at least 2", (long long)n);
  KUGEL_CHECK(theta && beam && bl, KUGEL_EINVAL, "theta, beam or bl is NULL");
  KUGEL_TRY(check_angles(n, theta, true));
  for (int64_t l = 0; l <= lmax; l++)
    bl[l] = 0;
  for (int64_t first = 0; first < n; first += BLOCK) {
    double x[BLOCK] = {0}, w[BLOCK] = {0}, p[BLOCK], before[BLOCK] = {0};
    for (int64_t i = first; i < n && i < first + BLOCK; i++) {
      double step = theta[kugel__min(i + 1, n - 1)] - theta[kugel__max(i - 1, 0)];
      x[i - first] = cos(theta[i]);
      w[i - first] = M_PI * step * sin(theta[i]) * beam[i];
    }
    for (int i = 0; i < BLOCK; i++)
      p[i] = 1;
    for (int64_t l = 0; l <= lmax; l++) {
      bl[l] += dot(w, p);
      next_degree(l, x, p, before);
    }
  }
  return KUGEL_OK;
}

kugel_status kugel_beam_from_window(int64_t lmax, const double *bl, int64_t n, const double *theta,
                                    double *beam)
{
  KUGEL_TRY(check_lmax(lmax));
  KUGEL_CHECK(n >= 1, KUGEL_EINVAL, "%lld angles: must be at least 1", (long long)n);
  KUGEL_CHECK(theta && beam && bl, KUGEL_EINVAL, "theta, beam or bl is NULL");
  KUGEL_TRY(check_angles(n, theta, false));
  for (int64_t first = 0; first < n; first += BLOCK) {
    const int64_t count = kugel__min(BLOCK, n - first);
    double x[BLOCK] = {0}, sum[BLOCK] = {0}, p[BLOCK], before[BLOCK] = {0};
    for (int64_t i = 0; i < count; i++)
      x[i] = cos(theta[first + i]);
    for (int i = 0; i < BLOCK; i++)
      p[i] = 1;
    for (int64_t l = 0; l <= lmax; l++) {
      const double f = bl[l] * (double)(2 * l + 1) / (4 * M_PI);
      for (int i = 0; i < BLOCK; i++)
        sum[i] += f * p[i];
      next_degree(l, x, p, before);
    }
    for (int64_t i = 0; i < count; i++)
      beam[first + i] = sum[i];
  }
  return KUGEL_OK;
}
