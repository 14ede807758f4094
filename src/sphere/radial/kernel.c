/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial kernels: values, cut-off, normalisation, Legendre coefficients. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/quadrature.h"
#include "sphere/radial/radial.h"

enum { NODES = 16, MAX_PANELS = 4096 };

static double spline_at(const kugel__radial_spline *s, double a)
{
  if (a > s->angle[s->n - 1])
    return 0;
  int64_t lo = 0, hi = s->n - 1;
  while (hi - lo > 1) {
    int64_t mid = (lo + hi) / 2;
    if (s->angle[mid] > a)
      hi = mid;
    else
      lo = mid;
  }
  double h = s->angle[hi] - s->angle[lo], q = (s->angle[hi] - a) / h, r = (a - s->angle[lo]) / h;
  return q * s->value[lo] + r * s->value[hi] +
         ((q * q * q - q) * s->second[lo] + (r * r * r - r) * s->second[hi]) * h * h / 6;
}

static double series_at(const double *b, int64_t n, double a)
{
  double x = cos(a), p0 = 1, p1 = x, sum = b[0];
  for (int64_t l = 1; l < n; l++) {
    sum += (double)(2 * l + 1) * b[l] * p1;
    double p2 = ((double)(2 * l + 1) * x * p1 - (double)l * p0) / (double)(l + 1);
    p0 = p1;
    p1 = p2;
  }
  return sum / (4 * M_PI);
}

double kugel__radial_kernel_at(const kugel_radial *p, double a)
{
  double w = p->opts.width, v;
  switch (p->opts.kernel) {
  case KUGEL_RADIAL_GAUSSIAN:
    v = exp(-4 * M_LN2 * (a / w) * (a / w));
    break;
  case KUGEL_RADIAL_TOP_HAT:
    v = a <= w;
    break;
  case KUGEL_RADIAL_MEXICAN_HAT: {
    double y = 2 * tan(a / 2), q = y / w * (y / w), c = 1 + y * y / 4;
    v = q > 1400 ? 0 : c * c * (2 - q) * exp(-q / 2);
    break;
  }
  case KUGEL_RADIAL_FUNCTION:
    v = p->opts.function(a, p->opts.user);
    break;
  case KUGEL_RADIAL_TABLE:
    v = spline_at(&p->spline, a);
    break;
  case KUGEL_RADIAL_FISHER:
    v = kugel__radial_fisher_at(&p->fisher, a);
    break;
  default:
    v = series_at(p->series, p->opts.n, a);
  }
  return v * p->norm;
}

static kugel_status make_spline(kugel_radial *p)
{
  int64_t n = p->opts.n;
  double *m;
  KUGEL_ALLOC(p->ctx, m, (size_t)n * 32);
  kugel__radial_spline *s = &p->spline;
  *s = (kugel__radial_spline){n, m, m + n, m + 2 * n};
  memcpy(s->angle, p->opts.angles, (size_t)n * 8);
  memcpy(s->value, p->opts.values, (size_t)n * 8);
  double *u = m + 3 * n;
  s->second[0] = u[0] = 0;
  for (int64_t i = 1; i < n - 1; i++) {
    double h0 = s->angle[i] - s->angle[i - 1], h1 = s->angle[i + 1] - s->angle[i], sig = h0 / (h0 + h1);
    double q = sig * s->second[i - 1] + 2;
    double d = (s->value[i + 1] - s->value[i]) / h1 - (s->value[i] - s->value[i - 1]) / h0;
    s->second[i] = (sig - 1) / q;
    u[i] = (6 * d / (h0 + h1) - sig * u[i - 1]) / q;
  }
  s->second[n - 1] = 0;
  for (int64_t i = n - 2; i >= 0; i--)
    s->second[i] = i ? s->second[i] * s->second[i + 1] + u[i] : 0;
  return KUGEL_OK;
}

/* Integrals of K, K^2 by panels of Gauss points; panel k spans [k, k + 1] end / n. */
static void integrate(const kugel_radial *p, double end, int64_t n, const double *node, const double *weight,
                      double *first, double *square)
{
  for (int64_t k = 0; k < n; k++) {
    double sum = 0, sum2 = 0, h = end / (double)n;
    for (int i = 0; i < NODES; i++) {
      double a = h * ((double)k + 0.5 * (1 + node[i])), v = kugel__radial_kernel_at(p, a);
      double w = M_PI * h * weight[i] * sin(a);
      sum += w * v;
      sum2 += w * v * v;
    }
    first[k] = sum;
    square[k] = sum2;
  }
}

/* Beyond this angle the kernel is nothing, by its definition. */
static double support(const kugel_radial *p)
{
  double w = p->opts.width;
  if (p->opts.kernel == KUGEL_RADIAL_GAUSSIAN)
    return fmin(M_PI, w * 3.6); /* exp(-36) */
  if (p->opts.kernel == KUGEL_RADIAL_TOP_HAT)
    return fmin(M_PI, w);
  if (p->opts.kernel == KUGEL_RADIAL_MEXICAN_HAT)
    return fmin(M_PI, 2 * atan(w * 5));
  if (p->opts.kernel == KUGEL_RADIAL_TABLE)
    return p->spline.angle[p->opts.n - 1];
  if (p->opts.kernel == KUGEL_RADIAL_FISHER) {
    double least = INFINITY;
    for (int64_t k = 0; k < p->fisher.n; k++)
      least = fmin(least, p->fisher.kappa[k]);
    return least <= 18 ? M_PI : 2 * asin(sqrt(18 / least)); /* exp(-36) */
  }
  return M_PI;
}

static kugel_status cut_and_norm(kugel_radial *p, double *block)
{
  double *node = block, *weight = block + NODES, *theta = block + 2 * NODES, *sth = block + 3 * NODES;
  double *first = block + 4 * NODES, *square = first + MAX_PANELS;
  KUGEL_TRY(kugel__gauss_legendre(p->ctx, NODES, theta, node, sth, weight));
  double end = support(p), radius = p->opts.radius, total = 0;
  int64_t n = p->opts.kernel <= KUGEL_RADIAL_MEXICAN_HAT || p->fisher.n == 1 ? 256 : MAX_PANELS;
  integrate(p, end, n, node, weight, first, square);
  for (int64_t k = 0; k < n; k++)
    total += square[k];
  KUGEL_CHECK(isfinite(total), KUGEL_EINVAL,
              "the kernel is not finite everywhere: its square integrates to %g", total);
  KUGEL_CHECK(total > 0, KUGEL_EINVAL, "the kernel is zero everywhere: it cannot be used");
  if (radius == 0) {
    double tolerance = p->opts.tolerance > 0 ? p->opts.tolerance : 1e-5, tail = 0;
    int64_t k = n;
    while (k > 1 && tail + square[k - 1] <= tolerance * tolerance * total)
      tail += square[--k];
    radius = k == n ? end : end * (double)k / (double)n;
  }
  radius = fmin(radius, end);
  double rest = 0, sum = 0, size = 0;
  if (radius < end) { /* what lies beyond, on panels of its own */
    double step = (end - radius) / 256;
    for (int64_t k = 0; k < 256; k++)
      for (int i = 0; i < NODES; i++) {
        double a = radius + step * ((double)k + 0.5 * (1 + node[i])), v = kugel__radial_kernel_at(p, a);
        rest += M_PI * step * weight[i] * sin(a) * v * v;
      }
  }
  integrate(p, radius, n, node, weight, first, square);
  for (int64_t k = 0; k < n; k++) {
    sum += first[k];
    size += fabs(first[k]);
  }
  double peak = kugel__radial_kernel_at(p, 0);
  KUGEL_CHECK(isfinite(peak), KUGEL_EINVAL, "the kernel is %g at angle 0: it must be finite there", peak);
  KUGEL_CHECK(!(p->opts.normalise_mask || p->opts.normalise) || fabs(sum) > 0.01 * size, KUGEL_EINVAL,
              "the kernel integrates to %.2g of what its size does: %s divides by the integral over the "
              "%s pixels, which must not be near 0; leave it out",
              size > 0 ? sum / size : 0, p->opts.normalise ? "normalise" : "normalise_mask",
              p->opts.normalise ? "sphere's" : "observed");
  if (p->opts.norm == KUGEL_RADIAL_UNIT_INTEGRAL) {
    KUGEL_CHECK(fabs(sum) > 1e-10 * sqrt(total) * radius, KUGEL_EINVAL,
                "the kernel integrates to %g: it cannot be normalised to 1, use KUGEL_RADIAL_UNIT_PEAK or "
                "KUGEL_RADIAL_AS_IS",
                sum);
    p->norm = 1 / sum;
  } else if (p->opts.norm == KUGEL_RADIAL_UNIT_PEAK) {
    KUGEL_CHECK(peak != 0 && isfinite(1 / peak), KUGEL_EINVAL,
                "the kernel is %g at angle 0: it cannot be normalised to a peak of 1", peak);
    p->norm = 1 / peak;
  }
  KUGEL_CHECK(isfinite(p->norm), KUGEL_EINVAL, "the kernel's norm is not finite: 1 / %g", sum);
  p->info.radius = radius;
  p->info.cut_error = sqrt(rest / total);
  p->info.integral = sum * p->norm;
  p->info.scale = p->norm;
  return KUGEL_OK;
}

/* A series is its own transform. */
static kugel_status norm_series(kugel_radial *p)
{
  double integral = p->series[0], peak = series_at(p->series, p->opts.n, 0);
  double by = p->opts.norm == KUGEL_RADIAL_UNIT_INTEGRAL ? integral
              : p->opts.norm == KUGEL_RADIAL_UNIT_PEAK   ? peak
                                                         : 1;
  KUGEL_CHECK(by != 0 && isfinite(1 / by), KUGEL_EINVAL,
              "the kernel integrates to %g and is %g at angle 0: use KUGEL_RADIAL_AS_IS", integral, peak);
  KUGEL_CHECK(!(p->opts.normalise_mask || p->opts.normalise) || integral != 0, KUGEL_EINVAL,
              "the kernel integrates to 0: %s divides by the integral; leave it out",
              p->opts.normalise ? "normalise" : "normalise_mask");
  p->norm = 1 / by;
  p->info.radius = M_PI;
  p->info.integral = integral * p->norm;
  p->info.scale = p->norm;
  return KUGEL_OK;
}

kugel_status kugel__radial_kernel_create(kugel_radial *p)
{
  p->norm = 1;
  if (p->opts.kernel == KUGEL_RADIAL_TABLE)
    KUGEL_TRY(make_spline(p));
  if (p->opts.kernel == KUGEL_RADIAL_SERIES) {
    KUGEL_ALLOC(p->ctx, p->series, (size_t)p->opts.n * 8);
    memcpy(p->series, p->opts.values, (size_t)p->opts.n * 8);
  }
  if (p->opts.kernel == KUGEL_RADIAL_FISHER)
    KUGEL_TRY(kugel__radial_fisher_create(p));
  p->spectral = p->series && p->opts.method == KUGEL_RADIAL_HARMONIC && p->opts.radius == 0;
  if (p->spectral)
    return norm_series(p);
  double *block;
  KUGEL_ALLOC(p->ctx, block, (4 * NODES + 2 * MAX_PANELS) * 8);
  kugel_status s = cut_and_norm(p, block);
  kugel__free(p->ctx, block);
  return s;
}

void kugel__radial_kernel_destroy(kugel_radial *p)
{
  kugel__free(p->ctx, p->spline.angle);
  kugel__free(p->ctx, p->series);
  kugel__free(p->ctx, p->fisher.kappa);
  kugel__free(p->ctx, p->poly.coef);
}

kugel_status kugel_radial_coefficients(const kugel_radial *p, int64_t lmax, double *b)
{
  KUGEL_CHECK(p && b, KUGEL_EINVAL, "%s is NULL", p ? "b" : "plan");
  KUGEL_CHECK(lmax >= 0 && lmax <= 1000000, KUGEL_EINVAL, "lmax is %lld, must be 0 to 1000000",
              (long long)lmax);
  if (p->spectral) {
    for (int64_t l = 0; l <= lmax; l++)
      b[l] = l < p->opts.n ? p->series[l] * p->norm : 0;
    return KUGEL_OK;
  }
  /* Each panel takes a quarter of a wave of degree lmax, and the kernel's own shape 64 in all. */
  int64_t panels = 64 + (int64_t)((double)lmax * p->info.radius / 4);
  double *block;
  KUGEL_ALLOC(p->ctx, block, 4 * NODES * 8);
  double *node = block, *weight = block + NODES, h = p->info.radius / (double)panels;
  kugel_status s = kugel__gauss_legendre(p->ctx, NODES, block + 2 * NODES, node, block + 3 * NODES, weight);
  memset(b, 0, (size_t)(lmax + 1) * 8);
  for (int64_t k = 0; k < panels && !s; k++) {
    double w[NODES], d[NODES], p1[NODES], step[NODES]; /* 1 - cos(a), P_l, P_l - P_{l-1} */
    for (int i = 0; i < NODES; i++) {
      double a = h * ((double)k + 0.5 * (1 + node[i]));
      d[i] = 2 * sin(a / 2) * sin(a / 2);
      w[i] = M_PI * h * weight[i] * sin(a) * kugel__radial_kernel_at(p, a);
      p1[i] = 1;
      step[i] = 0;
    }
    for (int64_t l = 0; l <= lmax; l++) {
      double sum = 0, by = 1 / (double)(l + 1), of = (double)l * by, more = (double)(2 * l + 1) * by;
      for (int i = 0; i < NODES; i++) {
        sum += w[i] * p1[i];
        step[i] = of * step[i] - more * d[i] * p1[i];
        p1[i] += step[i];
      }
      b[l] += sum;
    }
  }
  kugel__free(p->ctx, block);
  return s;
}

/* ---- kernels that do not end level at the antipode ----
 *
 * A kernel over the whole sphere with slope c at angle pi has a cusp there, b_l ~ (-1)^l c / l^3: in the mean over the
 * sphere a series to degree L is soon within the tolerance, but at the antipode it leaves out about c / L. Pixels that
 * are opposite each other meet this error, sums over them do not. */

double kugel__radial_cusp(const kugel_radial *p)
{
  const double h = 1e-3;
  if (p->info.radius < M_PI - h)
    return 0;
  double end = kugel__radial_kernel_at(p, M_PI), near = kugel__radial_kernel_at(p, M_PI - h),
         far = kugel__radial_kernel_at(p, M_PI - 2 * h), most = 0;
  for (int i = 0; i <= 64; i++)
    most = fmax(most, fabs(kugel__radial_kernel_at(p, M_PI * i / 64)));
  return most > 0 ? fabs(3 * end - 4 * near + far) / (2 * h * most) : 0;
}
