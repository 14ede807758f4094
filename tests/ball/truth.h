/* SPDX-License-Identifier: BSD-3-Clause */
/* Random coefficients of a plan of the ball, inner products, and direct sums of series at points in 64 bits of mantissa or more. */
#ifndef KUGEL_TESTS_BALL_TRUTH_H
#define KUGEL_TESTS_BALL_TRUTH_H

#include <complex.h>
#include <stdbool.h>
#include "check.h"
#include "polynomial/truth.h"
#include <kugel/ball.h>

typedef struct ball {
  kugel_ball *plan;
  kugel_ball_info s;
  kugel_ball_opts o;
  int64_t coeffs, points; /* of a component */
  int64_t *nl;
  double *r, *theta, *phi;
} ball;

/* A field's coefficients, and real values. */
#define COEFFS(b, c, parts)                                                                                  \
  ((parts) == 1 ? KUGEL_ARRAY(c, KUGEL_C128, (b).s.nlm, (b).s.n)                                             \
                : KUGEL_ARRAY(c, KUGEL_C128, parts, (b).s.nlm, (b).s.n))
#define VALUES(b, f, parts)                                                                                  \
  ((parts) == 1 ? KUGEL_ARRAY(f, KUGEL_F64, (b).s.nr, (b).s.ntheta, (b).s.nphi)                              \
                : KUGEL_ARRAY(f, KUGEL_F64, parts, (b).s.nr, (b).s.ntheta, (b).s.nphi))

static inline ball ball_make(kugel_ball_opts o)
{
  ball b = {.s = {.size = sizeof b.s}, .o = o};
  b.o.size = sizeof o;
  CHECK_OK(kugel_ball_create(NULL, &b.o, &b.plan));
  if (!b.plan)
    exit(1);
  CHECK_OK(kugel_ball_get_info(b.plan, &b.s));
  b.coeffs = b.s.nlm * b.s.n;
  b.points = b.s.nr * b.s.ntheta * b.s.nphi;
  b.nl = malloc((size_t)(b.s.lmax + 1) * sizeof *b.nl);
  b.r = malloc((size_t)b.s.nr * sizeof(double));
  b.theta = malloc((size_t)b.s.ntheta * sizeof(double));
  b.phi = malloc((size_t)b.s.nphi * sizeof(double));
  CHECK_OK(kugel_ball_truncated(b.plan, b.nl));
  bool own = !o.sphere;
  CHECK_OK(kugel_ball_grid(b.plan, b.r, own ? b.theta : NULL, own ? b.phi : NULL, NULL, NULL));
  return b;
}

static inline void ball_free(ball *b)
{
  kugel_ball_destroy(b->plan);
  free(b->nl);
  free(b->r);
  free(b->theta);
  free(b->phi);
}

static inline int64_t ball_row(const ball *b, int64_t l, int64_t m)
{
  int64_t row = m;
  for (int64_t i = 0; i < l; i++)
    row += (i < b->s.mmax ? i : b->s.mmax) + 1;
  return row;
}

/* Uniform numbers in [-1, 1), complex as pairs; what plans ignore is 0. components: 1, 2 (potentials) or 3. */
static inline double *ball_random(const ball *b, int components, uint64_t seed)
{
  double *c = calloc((size_t)(components * b->coeffs), 16);
  for (int i = 0; i < components; i++)
    for (int64_t l = 0; l <= b->s.lmax; l++)
      for (int64_t m = 0; m <= l && m <= b->s.mmax; m++)
        for (int64_t n = 0; n < b->nl[l]; n++) {
          double *at = c + 2 * ((i * b->s.nlm + ball_row(b, l, m)) * b->s.n + n);
          at[0] = check_random(&seed);
          at[1] = m ? check_random(&seed) : 0;
          if (!l && (components == 2 || (components == 3 && i != 1)))
            at[0] = 0;
        }
  return c;
}

static inline double *ball_values(const ball *b, int components, uint64_t seed)
{
  double *f = malloc((size_t)(components * b->points) * sizeof *f);
  for (int64_t i = 0; i < components * b->points; i++)
    f[i] = seed ? check_random(&seed) : 0;
  return f;
}

/* Where value i of a component is, on the plan's own sphere. */
typedef struct ball_place {
  double r;
  long double theta, phi;
} ball_place;

static inline ball_place ball_at(const ball *b, int64_t i)
{
  const int64_t shell = i / (b->s.ntheta * b->s.nphi), ring = i / b->s.nphi % b->s.ntheta;
  return (ball_place){b->r[shell], (long double)b->theta[ring],
                      2 * acosl(-1) / (long double)b->s.nphi * (long double)(i % b->s.nphi)};
}

static inline double largest(int64_t n, const double *x)
{
  double most = 0;
  for (int64_t i = 0; i < n; i++)
    most = fmax(most, fabs(x[i]));
  return most;
}

static inline long double dot(int64_t n, const double *x, const double *y)
{
  long double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += (long double)x[i] * y[i];
  return sum;
}

/* Sum of Re x conj(y) over [parts][l, m][extent] numbers; orders above 0 count twice, for those below, which are conjugates. */
static inline long double ball_inner(const ball *b, int parts, int64_t extent, const double *x,
                                     const double *y, double *scale)
{
  long double sum = 0, norms[2] = {0, 0};
  for (int64_t i = 0; i < parts * b->s.nlm; i++) {
    int64_t row = i % b->s.nlm, m = 0;
    for (int64_t l = 0; l <= b->s.lmax; l++)
      m = row >= ball_row(b, l, 0) ? row - ball_row(b, l, 0) : m;
    const double *p = x + 2 * i * extent, *q = y + 2 * i * extent;
    sum += (m ? 2 : 1) * dot(2 * extent, p, q);
    norms[0] += (m ? 2 : 1) * dot(2 * extent, p, p);
    norms[1] += (m ? 2 : 1) * dot(2 * extent, q, q);
  }
  *scale = (double)sqrtl(norms[0] * norms[1]);
  return sum;
}

/* Orthonormal P_l^m(cos theta) with Condon-Shortley phase over sqrt(2 pi). */
static inline long double truth_p(int64_t l, int64_t m, long double theta)
{
  long double x = cosl(theta), s = sinl(theta), p = sqrtl(1 / (4 * acosl(-1)));
  for (int64_t i = 1; i <= m; i++)
    p *= -s * sqrtl((2 * (long double)i + 1) / (2 * (long double)i));
  long double before = 0, mm = (long double)m * (long double)m, last = 0;
  for (int64_t i = m; i < l; i++) {
    long double k = (long double)i + 1, a = sqrtl((4 * k * k - 1) / (k * k - mm));
    long double next = a * x * p - (last > 0 ? a / last : 0) * before;
    before = p;
    p = next;
    last = a;
  }
  return p;
}

/* (op f)(r, theta, phi) of a scalar whose coefficients are c, op a KUGEL_WORLAND operator on the radial functions. */
static inline long double truth_scalar(const ball *b, const double *c, int op, double r, long double theta,
                                       long double phi)
{
  long double sum = 0;
  quad *w = malloc((size_t)b->s.n * sizeof *w);
  for (int64_t l = 0; l <= b->s.lmax; l++) {
    truth_worland(b->o.type, op, l, (quad)r, b->nl[l], w);
    for (int64_t m = 0; m <= l && m <= b->s.mmax; m++) {
      long double complex series = 0;
      for (int64_t n = 0; n < b->nl[l]; n++) {
        const double *at = c + 2 * (ball_row(b, l, m) * b->s.n + n);
        series += (long double)w[n] * ((long double)at[0] + 1.0iL * (long double)at[1]);
      }
      sum += (m ? 2 : 1) * truth_p(l, m, theta) * creall(series * cexpl(1.0iL * (long double)m * phi));
    }
  }
  free(w);
  return sum;
}

/* The error of values f of a scalar at about `samples` points, relative to the largest value. */
static inline double truth_sampled(const ball *b, const double *c, const double *f, int64_t samples)
{
  double worst = 0;
  for (int64_t i = 0; i < b->points; i += 1 + b->points / samples) {
    const ball_place at = ball_at(b, i);
    worst = fmax(worst, fabs(f[i] - (double)truth_scalar(b, c, 0, at.r, at.theta, at.phi)));
  }
  return worst / largest(b->points, f);
}

/* j_l(x) by its power series, for x <= 12. */
static inline long double bessel(int64_t l, long double x)
{
  long double t = 1, sum = 0;
  for (int64_t i = 1; i <= l; i++)
    t *= x / (2 * (long double)i + 1);
  for (int64_t k = 0; k < 80; k++) {
    sum += t;
    t *= -x * x / (2 * (long double)(k + 1) * (2 * (long double)(l + k) + 3));
  }
  return sum;
}

#endif
