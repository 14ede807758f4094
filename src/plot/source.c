/* SPDX-License-Identifier: BSD-3-Clause */
/* Values at directions: from HEALPix pixels, latitude rows, or a function. */
#include "plot/pixels.h"
#include "plot/plot.h"
#include "plot/source.h"

enum { RUN = 512 };

kugel_status kugel__source_healpix(const kugel__plot_source *s, int64_t n, const double *vec, double *value)
{
  int64_t pixel[4 * RUN];
  double weight[4 * RUN];
  for (int64_t k = 0; k < n; k += RUN) {
    int64_t m = kugel__min(RUN, n - k);
    if (!s->interpolate) {
      KUGEL_TRY(kugel_healpix_vec2pix(NULL, s->nside, s->order, m, vec + 3 * k, pixel));
      for (int64_t i = 0; i < m; i++)
        value[k + i] = kugel__source_value(s, pixel[i]);
      continue;
    }
    KUGEL_TRY(kugel__pixels_around(s->nside, s->order, m, vec + 3 * k, pixel, weight));
    for (int64_t i = 0; i < m; i++) {
      double sum = 0, whole = 0;
      for (int j = 0; j < 4;
           j++) { // pixels without a value take no part, unless they weigh more than the others
        double x = kugel__source_value(s, pixel[4 * i + j]), w = weight[4 * i + j];
        sum += isfinite(x) ? w * x : 0;
        whole += isfinite(x) ? w : 0;
      }
      value[k + i] = whole > 0.5 ? sum / whole : NAN;
    }
  }
  return KUGEL_OK;
}

static int64_t row_below(const kugel__plot_source *s, double theta)
{
  int64_t lo = -1, hi = s->nlat; // theta[lo] <= theta < theta[hi]
  if (!s->theta)
    return (int64_t)floor(theta * (double)s->nlat / M_PI - 0.5);
  while (hi - lo > 1) {
    int64_t mid = (lo + hi) / 2;
    if (s->theta[mid] <= theta)
      lo = mid;
    else
      hi = mid;
  }
  return lo;
}

static double row_theta(const kugel__plot_source *s, int64_t i)
{
  return s->theta ? s->theta[i] : ((double)i + 0.5) * M_PI / (double)s->nlat;
}

static double latlon_value(const kugel__plot_source *s, double theta, double phi)
{
  double at = (phi - s->phi0) * (double)s->nlon / (2 * M_PI);
  int64_t row = row_below(s, theta), next = kugel__min(row + 1, s->nlat - 1);
  row = kugel__max(row, 0);
  double gap = row_theta(s, next) - row_theta(s, row), y = gap > 0 ? (theta - row_theta(s, row)) / gap : 0;
  double fx = floor(at), x = at - fx;
  int64_t column = (int64_t)fx % s->nlon;
  column += column < 0 ? s->nlon : 0;
  int64_t right = (column + 1) % s->nlon;
  if (!s->interpolate)
    return kugel__source_value(s, (y < 0.5 ? row : next) * s->nlon + (x < 0.5 ? column : right));
  double north = (1 - x) * kugel__source_value(s, row * s->nlon + column) +
                 x * kugel__source_value(s, row * s->nlon + right);
  double south = (1 - x) * kugel__source_value(s, next * s->nlon + column) +
                 x * kugel__source_value(s, next * s->nlon + right);
  return (1 - y) * north + y * south;
}

kugel_status kugel__source_latlon(const kugel__plot_source *s, int64_t n, const double *vec, double *value)
{
  for (int64_t k = 0; k < n; k++) {
    const double *u = vec + 3 * k;
    value[k] = latlon_value(s, atan2(hypot(u[0], u[1]), u[2]), atan2(u[1], u[0]));
  }
  return KUGEL_OK;
}

kugel_status kugel__source_function(const kugel__plot_source *s, int64_t n, const double *vec, double *value)
{
  for (int64_t k = 0; k < n; k++) {
    const double *u = vec + 3 * k;
    double phi = atan2(u[1], u[0]);
    value[k] = s->fn(atan2(hypot(u[0], u[1]), u[2]), phi < 0 ? phi + 2 * M_PI : phi, s->user);
  }
  return KUGEL_OK;
}
