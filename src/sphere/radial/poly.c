/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial kernels as polynomials of the squared chord, or of another key, in pieces if need be. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "sphere/radial/radial.h"

enum { MAX_DEGREE = 30, PIECE_DEGREE = 7, MAX_INTERVALS = 4096 };

static double at_key(const kugel_radial *p, double u, int chord)
{
  double c = chord ? u : sqrt(u);
  double a = chord == 2 ? 2 * asin(fmin((u - 2) / sqrt(8), M_SQRT1_2)) + M_PI_2 : 2 * asin(fmin(c / 2, 1));
  return kugel__radial_kernel_at(p, fmax(0, fmin(a, p->info.radius)));
}

static double end_of(const kugel__radial_poly *q, int chord)
{
  double x = q->cut;
  return chord == 0 ? x : chord == 1 ? sqrt(x) : 2 + sqrt(x) - sqrt(fmax(0, 4 - x));
}

/* Chebyshev interpolation on one interval, as powers of t in [0, 1] centred at 1/2 and then shifted would
 * lose digits, so powers are of t - 1/2, doubled: s = 2 t - 1 in [-1, 1]. */
static void fit(const kugel_radial *p, double lo, double hi, int degree, int chord, double *coef,
                int64_t stride)
{
  long double cheb[MAX_DEGREE + 1], power[MAX_DEGREE + 1] = {0}, t0[MAX_DEGREE + 1] = {1},
                                                       t1[MAX_DEGREE + 1] = {0, 1};
  double value[MAX_DEGREE + 1];
  int n = degree + 1;
  for (int j = 0; j < n; j++)
    value[j] = at_key(p, lo + (hi - lo) * 0.5 * (1 + cos(M_PI * (j + 0.5) / n)), chord);
  for (int k = 0; k < n; k++) {
    long double sum = 0;
    for (int j = 0; j < n; j++)
      sum += value[j] * cosl(M_PIl * k * (j + 0.5L) / n);
    cheb[k] = sum * (k ? 2 : 1) / n;
  }
  for (int k = 0; k < n; k++) { /* t0 = T_k, t1 = T_{k+1} */
    for (int i = 0; i <= k; i++)
      power[i] += cheb[k] * t0[i];
    long double t2[MAX_DEGREE + 1] = {0};
    for (int i = 0; i < n; i++)
      t2[i] = (i ? 2 * t1[i - 1] : 0) - t0[i];
    memcpy(t0, t1, sizeof t0);
    memcpy(t1, t2, sizeof t1);
  }
  for (int k = 0; k < n; k++)
    coef[k * stride] = (double)power[k];
}

static double poly_error(const kugel_radial *p, const kugel__radial_poly *q)
{
  double worst = 0, largest = 0;
  int64_t samples = kugel__max(1000, 6 * q->intervals);
  double end = end_of(q, q->chord);
  for (int64_t j = 0; j < samples; j++) {
    double u = end * ((double)j + 0.37) / (double)samples, x = u * q->scale;
    int64_t i = kugel__min((int64_t)x, q->intervals - 1);
    double t = 2 * (x - (double)i) - 1, v = 0, want = at_key(p, u, q->chord);
    for (int64_t k = q->degree; k >= 0; k--)
      v = v * t + q->coef[k * q->intervals + i];
    worst = fmax(worst, fabs(v - want));
    largest = fmax(largest, fabs(want));
  }
  return worst / largest;
}

static void set_poly(const kugel_radial *p, kugel__radial_poly *q, int64_t intervals, int64_t degree,
                     int chord)
{
  double end = end_of(q, chord), h = end / (double)intervals;
  q->intervals = intervals;
  q->degree = degree;
  q->chord = chord;
  q->scale = (double)intervals / end;
  for (int64_t i = 0; i < intervals; i++)
    fit(p, h * (double)i, h * (double)(i + 1), (int)degree, chord, q->coef + i, intervals);
}

/* One polynomial where that is enough, else pieces; of the squared chord unless another key does better. */
kugel_status kugel__radial_poly_create(kugel_radial *p)
{
  kugel__radial_poly *q = &p->poly;
  double s = sin(p->info.radius / 2), best = INFINITY, error = 0;
  q->cut = p->info.radius < M_PI ? 4 * s * s : 4 + 1e-13; /* opposite points may round to more than 4 */
  KUGEL_ALLOC(p->ctx, q->coef, (size_t)MAX_INTERVALS * (PIECE_DEGREE + 1) * 8);
  const double enough = 2e-15;
  int64_t intervals = 1;
  int chord = 0;
  for (int64_t d = 6; d <= MAX_DEGREE; d += 4) {
    set_poly(p, q, 1, d, 0);
    if ((error = poly_error(p, q)) <= enough)
      goto done;
  }
  for (int c = 0; c < (p->info.radius > 2 ? 3 : 2); c++)
    for (int64_t n = 16; n <= MAX_INTERVALS; n *= 4) {
      set_poly(p, q, n, PIECE_DEGREE, c);
      if ((error = poly_error(p, q)) <= enough)
        goto done;
      if (error < 0.5 * best) {
        best = error;
        intervals = n;
        chord = c;
      }
    }
  set_poly(p, q, intervals, PIECE_DEGREE, chord);
  error = poly_error(p, q);
done:
  KUGEL_CHECK(isfinite(error), KUGEL_EINVAL, "the kernel is not finite everywhere within %g radians",
              p->info.radius);
  p->info.table_error = error;
  return KUGEL_OK;
}
