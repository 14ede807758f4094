/* SPDX-License-Identifier: BSD-3-Clause */
/* Alm columns <-> scalar Legendre series in the two-step basis.
 * Two-step recurrence: Ishioka, J. Meteor. Soc. Japan 96 (2018). With l = m + 2k and eps_l =
 * sqrt((l^2-m^2)/(4l^2-1)): lambda_{l+1} = x alpha_k q_k,  lambda_l = alpha_k eps_{l+1} q_k + alpha_{k-1}
 * eps_l q_{k-1}, q_{k+1} = (a_k x^2 + b_k) q_k + q_{k-1},  a_k = (-1)^k alpha_k^2,  b_k = -a_k (eps_{l+2}^2 +
 * eps_{l+1}^2). */
#include <math.h>
#include <string.h>
#include "sphere/legplan.h"

void kugel__leg_open(kugel__leg_m *w, const kugel__leg *g, int64_t m, void *scratch)
{
  double *at = scratch;
  int64_t top = g->lmax + (g->nseries > 1 ? 2 : 0), count = top + 5 - m; // eps to degree top + 4
  w->leg = g;
  w->m = m;
  w->n = (top - m) / 2 + 1;
  w->eps = at;
  at += g->lmax + 8;
  w->alpha = at;
  at += g->lmax + 8;
  w->coef = at;
  at += 2 * (g->nsteps + 2);
  w->series = at;
  at += 4 * KUGEL__MAX_SERIES * (g->nsteps + 2);
  w->line = at;
  at += 2 * KUGEL__MAX_SERIES * (g->lmax + 8);
  at += -((uintptr_t)at / 8) & 7; // 64-byte alignment
  w->sums = at;
  double *eps = w->eps, *alpha = w->alpha;
  for (int64_t i = 0; i < count; i++) {
    double l = (double)(m + i);
    eps[i] = sqrt((double)i * (l + (double)m) / ((2 * l - 1) * (2 * l + 1)));
  }
  alpha[0] = 1 / eps[1];
  alpha[1] = eps[1] / (eps[2] * eps[3]);
  for (int64_t k = 1; k + 1 < w->n; k++)
    alpha[k + 1] = (k % 2 ? -1 : 1) / (eps[2 * k + 2] * eps[2 * k + 3] * alpha[k]);
  for (int64_t k = 0; k < w->n; k++) {
    double a = (k % 2 ? -1 : 1) * alpha[k] * alpha[k], e1 = eps[2 * k + 1], e2 = eps[2 * k + 2];
    w->coef[2 * k] = a;
    w->coef[2 * k + 1] = -a * (e2 * e2 + e1 * e1);
  }
}

typedef double pair[2]; // re, im

static inline void add_scaled(pair to, double f, const pair x)
{
  to[0] += f * x[0];
  to[1] += f * x[1];
}
static inline void add_i_scaled(pair to, double f, const pair x) // to += i f x
{
  to[0] -= f * x[1];
  to[1] += f * x[0];
}

/* Coefficients of the spin-1 and spin-2 functions in lambda, by distance in degree. Spin 1 (s times the
 * gradient): below (l - 1), above (l + 1) and i m at l. Spin 2 (s^2 times): Kostelec et al. 2000; N_l =
 * sqrt((l-2)!/(l+2)!). */
typedef struct band {
  double a[5]; // of E in Q at l - 2 ... l + 2; a[1], a[3]: of i B
} band;

static inline band band1(double l, double m, double e0, double e1)
{
  double f = l > 0 ? 1 / sqrt(l * (l + 1)) : 0;
  return (band){{0, -(l + 1) * e0 * f, m * f, l * e1 * f, 0}};
}

static inline band band2(double l, double m, double em, double e0, double e1, double e2)
{
  if (l < 2)
    return (band){{0}};
  double n = 1 / sqrt((l - 1) * l * (l + 1) * (l + 2)), up = l * (l - 1), down = (l + 1) * (l + 2);
  return (band){{-n * down * e0 * em, -2 * m * n * (l + 2) * e0,
                 -n * (up * e1 * e1 + down * e0 * e0 + 2 * m * m - l * (l + 1)), 2 * m * n * (l - 1) * e1,
                 -n * up * e1 * e2}};
}

// Spin 1: V_theta += f (gradient of E), V_phi += i m E; with B: V_theta -= i m B, V_phi += gradient of B.
static void spin1_series(const kugel__leg_m *w, const pair *e, const pair *b, pair *q, pair *u)
{
  int64_t n = w->leg->lmax - w->m + 1;
  const double *eps = w->eps;
  for (int64_t i = 0; i < n; i++) {
    band c = band1((double)(w->m + i), (double)w->m, eps[i], eps[i + 1]);
    if (i > 0) {
      add_scaled(q[i - 1], c.a[1], e[i]);
      add_scaled(u[i - 1], c.a[1], b[i]);
    }
    add_i_scaled(q[i], -c.a[2], b[i]);
    add_i_scaled(u[i], c.a[2], e[i]);
    add_scaled(q[i + 1], c.a[3], e[i]);
    add_scaled(u[i + 1], c.a[3], b[i]);
  }
}

static void spin1_adjoint(const kugel__leg_m *w, pair *e, pair *b, const pair *q, const pair *u)
{
  int64_t n = w->leg->lmax - w->m + 1;
  const double *eps = w->eps;
  for (int64_t i = 0; i < n; i++) {
    band c = band1((double)(w->m + i), (double)w->m, eps[i], eps[i + 1]);
    if (i > 0) {
      add_scaled(e[i], c.a[1], q[i - 1]);
      add_scaled(b[i], c.a[1], u[i - 1]);
    }
    add_i_scaled(b[i], c.a[2], q[i]);
    add_i_scaled(e[i], -c.a[2], u[i]);
    add_scaled(e[i], c.a[3], q[i + 1]);
    add_scaled(b[i], c.a[3], u[i + 1]);
  }
}

// Spin 2: Q += a E + i a' B, U += a B - i a' E.
static void spin2_series(const kugel__leg_m *w, const pair *e, const pair *b, pair *q, pair *u)
{
  int64_t n = w->leg->lmax - w->m + 1;
  const double *eps = w->eps;
  for (int64_t i = 0; i < n; i++) {
    band c = band2((double)(w->m + i), (double)w->m, i ? eps[i - 1] : 0, eps[i], eps[i + 1], eps[i + 2]);
    for (int k = -2; k <= 2; k += 2)
      if (i + k >= 0) {
        add_scaled(q[i + k], c.a[k + 2], e[i]);
        add_scaled(u[i + k], c.a[k + 2], b[i]);
      }
    for (int k = -1; k <= 1; k += 2)
      if (i + k >= 0) {
        add_i_scaled(q[i + k], c.a[k + 2], b[i]);
        add_i_scaled(u[i + k], -c.a[k + 2], e[i]);
      }
  }
}

static void spin2_adjoint(const kugel__leg_m *w, pair *e, pair *b, const pair *q, const pair *u)
{
  int64_t n = w->leg->lmax - w->m + 1;
  const double *eps = w->eps;
  for (int64_t i = 0; i < n; i++) {
    band c = band2((double)(w->m + i), (double)w->m, i ? eps[i - 1] : 0, eps[i], eps[i + 1], eps[i + 2]);
    for (int k = -2; k <= 2; k += 2)
      if (i + k >= 0) {
        add_scaled(e[i], c.a[k + 2], q[i + k]);
        add_scaled(b[i], c.a[k + 2], u[i + k]);
      }
    for (int k = -1; k <= 1; k += 2)
      if (i + k >= 0) {
        add_i_scaled(b[i], -c.a[k + 2], q[i + k]);
        add_i_scaled(e[i], c.a[k + 2], u[i + k]);
      }
  }
}

// Gradient of a: the spin-1 band without its normalisation.
static void gradient_series(const kugel__leg_m *w, const pair *a, pair *v)
{
  for (int64_t i = 0; i <= w->leg->lmax - w->m; i++) {
    double l = (double)(w->m + i);
    if (i > 0)
      add_scaled(v[i - 1], -(l + 1) * w->eps[i], a[i]);
    add_scaled(v[i + 1], l * w->eps[i + 1], a[i]);
  }
}

static void gradient_adjoint(const kugel__leg_m *w, pair *a, const pair *v)
{
  for (int64_t i = 0; i <= w->leg->lmax - w->m; i++) {
    double l = (double)(w->m + i);
    if (i > 0)
      add_scaled(a[i], -(l + 1) * w->eps[i], v[i - 1]);
    add_scaled(a[i], l * w->eps[i + 1], v[i + 1]);
  }
}

static pair *line_of(const kugel__leg_m *w, int series)
{
  return (pair *)(w->line + (size_t)series * 2 * (size_t)(w->leg->lmax + 8));
}

void kugel__leg_to_series(kugel__leg_m *w, const double *const *alm)
{
  const kugel__leg *g = w->leg;
  int64_t n = g->lmax - w->m + 1;
  const pair *a[3];
  for (int c = 0; c < g->n_alm; c++)
    a[c] = (const pair *)alm[c];
  for (int s = 0; s < g->nseries; s++)
    memset(line_of(w, s), 0, (size_t)(n + 6) * 16);
  switch (g->mode) {
  case KUGEL__LEG_SPIN:
    (g->spin == 1 ? spin1_series : spin2_series)(w, a[0], a[1], line_of(w, 0), line_of(w, 1));
    break;
  case KUGEL__LEG_GRAD:
    gradient_series(w, a[0], line_of(w, 0));
    memcpy(line_of(w, 1), a[0], (size_t)n * 16);
    break;
  case KUGEL__LEG_DER1:
    gradient_series(w, a[0], line_of(w, 1));
    memcpy(line_of(w, 0), a[0], (size_t)n * 16);
    break;
  case KUGEL__LEG_TEB:
    spin2_series(w, a[1], a[2], line_of(w, 1), line_of(w, 2)); // fall through
  default:
    memcpy(line_of(w, 0), a[0], (size_t)n * 16);
  }
  int width = 4 * g->nseries;
  for (int s = 0; s < g->nseries; s++) {
    const pair *x = line_of(w, s);
    for (int64_t k = 0; k < w->n; k++) {
      double *out = w->series + k * width + 4 * s, al = w->alpha[k], e1 = al * w->eps[2 * k + 1],
             e2 = al * w->eps[2 * k + 2];
      for (int c = 0; c < 2; c++) {
        out[c] = e1 * x[2 * k][c] + e2 * x[2 * k + 2][c];
        out[2 + c] = al * x[2 * k + 1][c];
      }
    }
  }
}

void kugel__leg_from_series(kugel__leg_m *w, double *const *alm)
{
  const kugel__leg *g = w->leg;
  int64_t n = g->lmax - w->m + 1;
  int width = 4 * g->nseries;
  pair *a[3];
  for (int c = 0; c < g->n_alm; c++)
    a[c] = (pair *)alm[c];
  for (int s = 0; s < g->nseries; s++) {
    pair *x = line_of(w, s);
    for (int64_t k = 0; k < w->n; k++) {
      const double *in = w->series + k * width + 4 * s;
      double al = w->alpha[k], e1 = al * w->eps[2 * k + 1];
      double before = k ? w->alpha[k - 1] * w->eps[2 * k] : 0;
      for (int c = 0; c < 2; c++) {
        x[2 * k][c] = e1 * in[c] + (k ? before * in[c - width] : 0);
        x[2 * k + 1][c] = al * in[2 + c];
      }
    }
  }
  switch (g->mode) {
  case KUGEL__LEG_SPIN:
    (g->spin == 1 ? spin1_adjoint : spin2_adjoint)(w, a[0], a[1], line_of(w, 0), line_of(w, 1));
    return;
  case KUGEL__LEG_GRAD:
    gradient_adjoint(w, a[0], line_of(w, 0));
    break;
  case KUGEL__LEG_DER1:
    gradient_adjoint(w, a[0], line_of(w, 1));
    break;
  case KUGEL__LEG_TEB:
    spin2_adjoint(w, a[1], a[2], line_of(w, 1), line_of(w, 2));
    break;
  default:
    break;
  }
  const pair *value = line_of(w, g->mode == KUGEL__LEG_GRAD ? 1 : 0);
  for (int64_t i = 0; i < n; i++)
    add_scaled(a[0][i], 1, value[i]);
}
