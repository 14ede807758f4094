/* SPDX-License-Identifier: BSD-3-Clause */
/* The image of a Gaussian source under a filter, by its width. */
#include "sphere/sources/sources.h"

enum { PER_FWHM = 40, WIDTHS = KUGEL__SOURCES_WIDTHS };

kugel_status kugel__sources_image_make(const kugel__hunt *j, kugel__sources_image *im)
{
  const kugel_sources_opts *o = &j->o;
  double far = fmin(M_PI, 8 * o->fwhm), amount[WIDTHS], s2[WIDTHS];
  im->step = o->fwhm / PER_FWHM;
  im->n = (int64_t)(far / im->step) + 1;
  KUGEL_ALLOC(j->ctx, im->t, (size_t)(2 * WIDTHS * im->n) * sizeof *im->t);
  im->env = im->t + WIDTHS * im->n;
  for (int k = 0; k < WIDTHS; k++) {
    double w = o->fwhm * pow(2, k / 8.0 - 1);
    s2[k] = w * w / (8 * M_LN2);
    amount[k] = 2 * M_PI * s2[k] * (1 - s2[k] / 3); /* of sin a = a - a^3 / 6 */
  }
  for (int64_t i = 0; i < im->n; i++) {
    double x = cos((double)i * im->step), p0 = 0, p1 = 1, sum[WIDTHS] = {0};
    for (int64_t l = 0; l <= o->kernel_lmax; l++) {
      double by = (double)(2 * l + 1) / (4 * M_PI) * o->kernel[l] * p1, e = 0.5 * (double)l * (double)(l + 1);
      for (int k = 0; k < WIDTHS; k++)
        sum[k] += e * s2[k] < 40 ? by * exp(-e * s2[k]) : 0;
      double p2 = ((double)(2 * l + 1) * x * p1 - (double)l * p0) / (double)(l + 1);
      p0 = p1;
      p1 = p2;
    }
    for (int k = 0; k < WIDTHS; k++)
      im->t[k * im->n + i] = sum[k] * amount[k];
  }
  im->peak = im->t[8 * im->n];
  KUGEL_CHECK(im->peak > 0 && isfinite(im->peak), KUGEL_EINVAL,
              "a source has the value %g at its centre under the kernel: it must be positive", im->peak);
  for (int k = 0; k < WIDTHS; k++) {
    double *t = im->t + k * im->n, *env = im->env + k * im->n, most = 0;
    for (int64_t i = im->n - 1; i >= 0; i--) {
      t[i] /= im->peak;
      env[i] = most = fmax(most, fabs(t[i]));
    }
  }
  return KUGEL_OK;
}

/* Catmull and Rom's cubic of one row; 0 beyond its end. */
static double row_at(const kugel__sources_image *im, int k, double a)
{
  const double *t = im->t + k * im->n;
  double q = a / im->step;
  int64_t i = (int64_t)q;
  if (i >= im->n - 2)
    return 0;
  double r = q - (double)i, b = t[i ? i - 1 : 1], c = t[i], d = t[i + 1], e = t[i + 2];
  return c + 0.5 * r * (d - b + r * (2 * b - 5 * c + 4 * d - e + r * (3 * (c - d) + e - b)));
}

double kugel__sources_image_at(const kugel__sources_image *im, double u, double a)
{
  double q = fmin(fmax(8 * (u + 1), 0), WIDTHS - 1.001);
  int k = (int)q;
  double r = q - k;
  return r == 0 ? row_at(im, k, a) : (1 - r) * row_at(im, k, a) + r * row_at(im, k + 1, a);
}

double kugel__sources_beyond(const kugel__sources_image *im, double u, double a)
{
  int k = (int)ceil(fmin(fmax(8 * (u + 1), 0), WIDTHS - 1));
  int64_t i = (int64_t)(fmax(a, 0) / im->step);
  return im->env[k * im->n + kugel__min(i, im->n - 1)];
}

/* Where an image has fallen to 1e-3 of its centre for good. */
double kugel__sources_reach(const kugel__sources_image *im, double u)
{
  int64_t lo = 0, hi = im->n - 1;
  while (hi - lo > 1) {
    int64_t mid = (lo + hi) / 2;
    *(kugel__sources_beyond(im, u, (double)mid * im->step) > 1e-3 ? &lo : &hi) = mid;
  }
  return (double)hi * im->step;
}

/* Root of -T'' / T at the centre: the place's error times snr is its inverse. */
double kugel__sources_curvature(const kugel__sources_image *im, double u)
{
  double h = 4 * im->step, t0 = kugel__sources_image_at(im, u, 0);
  return sqrt(fmax(2 * (t0 - kugel__sources_image_at(im, u, h)) / (h * h) / t0, 1e-12));
}
