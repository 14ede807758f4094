/* SPDX-License-Identifier: BSD-3-Clause */
/* Peaks of which the filter is not known: Gaussians through them, and fitted to the map. */
#include "sphere/sources/sources.h"

/* Offsets of v from the centre c on its tangent plane. */
void kugel__sources_on_plane(const double c[3], const double v[3], double xy[2])
{
  double s = hypot(c[0], c[1]), e[3] = {1, 0, 0};
  if (s > 0) {
    e[0] = -c[1] / s;
    e[1] = c[0] / s;
  }
  double n[3] = {c[1] * e[2] - c[2] * e[1], c[2] * e[0] - c[0] * e[2], c[0] * e[1] - c[1] * e[0]};
  xy[0] = v[0] * e[0] + v[1] * e[1] + v[2] * e[2];
  xy[1] = v[0] * n[0] + v[1] * n[1] + v[2] * n[2];
}

/* Gaussian elimination with pivots; a is [n][n + 1]. False if singular. */
bool kugel__sources_solve(double *a, int n)
{
  for (int c = 0; c < n; c++) {
    int p = c;
    for (int r = c + 1; r < n; r++)
      if (fabs(a[r * (n + 1) + c]) > fabs(a[p * (n + 1) + c]))
        p = r;
    if (!(fabs(a[p * (n + 1) + c]) > 1e-12))
      return false;
    for (int k = 0; k <= n; k++) {
      double t = a[c * (n + 1) + k];
      a[c * (n + 1) + k] = a[p * (n + 1) + k];
      a[p * (n + 1) + k] = t;
    }
    for (int r = 0; r < n; r++) {
      double f = r == c ? 0 : a[r * (n + 1) + c] / a[c * (n + 1) + c];
      for (int k = c; k <= n && r != c; k++)
        a[r * (n + 1) + k] -= f * a[c * (n + 1) + k];
    }
  }
  for (int r = 0; r < n; r++)
    a[r * (n + 1) + n] /= a[r * (n + 1) + r];
  return true;
}

/* The top of log f = q0 + q1 x + q2 y + q3 x^2 + q4 x y + q5 y^2 through a pixel and its neighbours moves
 * `centre`, where there is one within `reach` of it. */
static void refine(const kugel__hunt *j, int64_t pixel, const int64_t near[8], double reach, double centre[3])
{
  double a[6][7] = {{0}}, scale = reach, start[3];
  memcpy(start, centre, sizeof start);
  for (int k = 0; k < 9; k++) {
    int64_t at = k < 8 ? near[k] : pixel;
    double v[3], xy[2];
    if (at < 0 || kugel__bad_pixel(j->filtered[at]) || j->filtered[at] <= 0)
      continue;
    kugel_healpix_pix2vec(j->ctx, j->o.nside, KUGEL_ORDER_RING, 1, &at, v);
    kugel__sources_on_plane(start, v, xy);
    double x = xy[0] / scale, y = xy[1] / scale, row[7] = {1, x, y, x * x, x * y, y * y};
    row[6] = log(j->filtered[at] / j->filtered[pixel]);
    for (int r = 0; r < 6; r++)
      for (int c = 0; c < 7; c++)
        a[r][c] += row[r] * row[c];
  }
  if (!kugel__sources_solve(a[0], 6))
    return;
  double q1 = a[1][6], q2 = a[2][6], q3 = a[3][6], q4 = a[4][6], q5 = a[5][6], det = 4 * q3 * q5 - q4 * q4;
  if (!(q3 < 0 && det > 0))
    return;
  double x = (q4 * q2 - 2 * q5 * q1) / det * scale, y = (q4 * q1 - 2 * q3 * q2) / det * scale;
  if (hypot(x, y) > reach)
    return;
  double s = hypot(start[0], start[1]), e[3] = {1, 0, 0};
  if (s > 0) {
    e[0] = -start[1] / s;
    e[1] = start[0] / s;
  }
  double n[3] = {start[1] * e[2] - start[2] * e[1], start[2] * e[0] - start[0] * e[2],
                 start[0] * e[1] - start[1] * e[0]};
  double length = sqrt(1 + x * x + y * y);
  for (int k = 0; k < 3; k++)
    centre[k] = (start[k] + x * e[k] + y * n[k]) / length;
}

/* Least squares of peak exp(-4 ln 2 (d / fwhm)^2) + background; returns the sum of squares left. */
static double fit_width(const kugel__hunt *j, int64_t n, double fwhm, kugel_source *s)
{
  double g1 = 0, g2 = 0, f1 = 0, gf = 0, left = 0;
  for (int64_t i = 0; i < n; i++) {
    double q = j->distance[i] / fwhm, g = exp(-4 * M_LN2 * q * q);
    g1 += g;
    g2 += g * g;
    f1 += j->value[i];
    gf += g * j->value[i];
  }
  double det = (double)n * g2 - g1 * g1;
  if (!(det > 1e-12 * (double)n * g2))
    return INFINITY;
  s->peak = ((double)n * gf - g1 * f1) / det;
  s->background = (f1 - s->peak * g1) / (double)n;
  s->fwhm = fwhm;
  s->flux = s->peak * M_PI * fwhm * fwhm / (4 * M_LN2);
  for (int64_t i = 0; i < n; i++) {
    double q = j->distance[i] / fwhm, r = j->value[i] - s->background - s->peak * exp(-4 * M_LN2 * q * q);
    left += r * r;
  }
  double noise = n > 3 ? sqrt(left / (double)(n - 3)) : 0;
  s->peak_error = noise * sqrt((double)n / det);
  s->flux_error = s->peak != 0 ? fabs(s->flux / s->peak) * s->peak_error : 0;
  return left;
}

static kugel_status fit_source(kugel__hunt *j, const double centre[3], kugel_source *s)
{
  int64_t count = 0, n = 0;
  KUGEL_TRY(kugel_healpix_list_disc(j->ctx, j->o.nside, KUGEL_ORDER_RING, centre, 1.5 * j->o.fwhm, 0,
                                    j->capacity, j->pixel, &count));
  for (int64_t i = 0; i < count && count <= j->capacity; i++) {
    double v[3], d = 0;
    if (kugel__bad_pixel(j->map[j->pixel[i]]))
      continue;
    kugel_healpix_pix2vec(j->ctx, j->o.nside, KUGEL_ORDER_RING, 1, j->pixel + i, v);
    for (int k = 0; k < 3; k++)
      d += (v[k] - centre[k]) * (v[k] - centre[k]);
    j->distance[n] = 2 * asin(fmin(1, sqrt(d) / 2));
    j->value[n++] = j->map[j->pixel[i]];
  }
  double lo = log(0.5 * j->o.fwhm), hi = log(3 * j->o.fwhm);
  const double golden = 0.6180339887498949;
  if (j->o.fixed_fwhm || n < 6) {
    fit_width(j, n, j->o.fwhm, s);
    return KUGEL_OK;
  }
  while (hi - lo > 1e-5) { /* golden section */
    double a = hi - golden * (hi - lo), b = lo + golden * (hi - lo);
    if (fit_width(j, n, exp(a), s) < fit_width(j, n, exp(b), s))
      hi = b;
    else
      lo = a;
  }
  fit_width(j, n, exp((lo + hi) / 2), s);
  return KUGEL_OK;
}

/* Places each peak, drops it if a higher one lies within half a FWHM, and fits the rest. */
kugel_status kugel__sources_describe(kugel__hunt *j, kugel_source *all, int64_t *n, double (*centre)[3])
{
  int64_t kept = 0;
  double reach = kugel_healpix_max_pixel_radius(j->o.nside), near = 2 * sin(fmin(j->o.fwhm / 4, M_PI / 2));
  for (int64_t i = 0; i < *n; i++) {
    int64_t around[8], pixel = all[i].pixel;
    double c[3];
    bool taken = false;
    KUGEL_TRY(kugel_healpix_pix2vec(j->ctx, j->o.nside, KUGEL_ORDER_RING, 1, &pixel, c));
    KUGEL_TRY(kugel_healpix_neighbours(j->ctx, j->o.nside, KUGEL_ORDER_RING, 1, &pixel, around));
    refine(j, pixel, around, reach, c);
    for (int64_t k = 0; k < kept && !taken; k++) {
      double x = c[0] - centre[k][0], y = c[1] - centre[k][1], z = c[2] - centre[k][2];
      taken = x * x + y * y + z * z < near * near;
    }
    if (taken)
      continue;
    all[kept] = all[i];
    memcpy(centre[kept], c, sizeof c);
    all[kept].theta = atan2(hypot(c[0], c[1]), c[2]);
    all[kept].phi = fmod(atan2(c[1], c[0]) + 2 * M_PI, 2 * M_PI);
    KUGEL_TRY(fit_source(j, c, all + kept));
    all[kept].position_error = j->o.fwhm / sqrt(8 * M_LN2) / all[kept].snr;
    all[kept].fwhm_error = j->o.fixed_fwhm ? 0 : 1.5 * all[kept].fwhm / all[kept].snr;
    all[kept].flags = j->o.fixed_fwhm ? 0 : KUGEL_SOURCE_EXTENDED;
    kept++;
  }
  *n = kept;
  return KUGEL_OK;
}
