/* SPDX-License-Identifier: BSD-3-Clause */
/* Alm columns <-> scalar Legendre series in the two-step basis. Loops run over degrees in split re and im
 * arrays, which compilers vectorise. Two-step recurrence: Ishioka, J. Meteor. Soc. Japan 96 (2018). With l =
 * m + 2k and eps_l = sqrt((l^2-m^2)/(4l^2-1)): lambda_{l+1} = x alpha_k q_k,  lambda_l = alpha_k eps_{l+1}
 * q_k + alpha_{k-1} eps_l q_{k-1}, q_{k+1} = (a_k x^2 + b_k) q_k + q_{k-1},  a_k = (-1)^k alpha_k^2,  b_k =
 * -a_k (eps_{l+2}^2 + eps_{l+1}^2). */
#include <math.h>
#include "core/simd.h"
#include "sphere/legendre/spins.h"

static double *carve(double **at, int64_t n)
{
  double *p = *at + FRONT;
  *at += FRONT + n + BACK;
  return p;
}

static void recurrence(kugel__leg_m *w, int64_t count)
{
  double *restrict eps = w->eps, *restrict alpha = w->alpha, *restrict coef = w->coef, *restrict r = w->line;
  double *restrict coef_sin = w->coef_sin, *restrict square = w->split[0]; // eps^2, not yet needed for series
  double m = (double)w->m;
  int64_t n = w->n;
  for (int i = 1; i <= FRONT; i++)
    eps[-i] = 0;
  for (int64_t i = 0; i < count; i++) {
    double d = (double)i, l = m + d;
    square[i] = d * (l + m) / ((2 * l - 1) * (2 * l + 1));
    eps[i] = sqrt(square[i]);
  }
  alpha[0] = 1 / eps[1];
  alpha[1] = eps[1] / (eps[2] * eps[3]);
  for (int64_t k = 1; k + 1 < n; k++)
    r[k] = 1 / (eps[2 * k + 2] * eps[2 * k + 3]);
  for (int64_t k = 1; k + 1 < n; k++)
    alpha[k + 1] = (k % 2 ? -r[k] : r[k]) / alpha[k];
  for (int64_t k = 0; k < n; k++) {
    double a = (k % 2 ? -1 : 1) * alpha[k] * alpha[k], sum = square[2 * k + 2] + square[2 * k + 1];
    coef[2 * k] = a;
    coef[2 * k + 1] = -a * sum;
    coef_sin[2 * k] = -a;
    coef_sin[2 * k + 1] = a * (1 - sum);
  }
}

static void open(kugel__leg_m *w, const kugel__leg *g, int64_t m, void *scratch)
{
  double *at = scratch;
  int64_t top = g->lmax + g->reach, size = top + 6;
  w->leg = g;
  w->m = m;
  w->n = (top - m) / 2 + 1;
  w->eps = carve(&at, size);
  w->alpha = carve(&at, size);
  for (int b = 0; b < 5; b++)
    w->band[b] = carve(&at, size);
  for (int c = 0; c < 2 * KUGEL__MAX_SERIES; c++)
    w->column[c] = carve(&at, size);
  w->line = carve(&at, size);
  for (int s = 0; s < 2 * KUGEL__MAX_SERIES; s++)
    w->split[s] = carve(&at, size);
  w->coef = carve(&at, 2 * (g->nsteps + 2));
  w->coef_sin = carve(&at, 2 * (g->nsteps + 2));
  w->series = carve(&at, 4 * KUGEL__MAX_SERIES * (g->nsteps + 2));
  at += -((uintptr_t)at / 8) & 7; // 64-byte alignment
  w->sums = at;
  recurrence(w, top + 5 - m);
  bool gradient = g->mode >= KUGEL__LEG_GRAD;
  if (g->spin > 2)
    norms(w, g->spin);
  else if (g->nseries > 1)
    bands(w, gradient || g->spin == 1 ? 1 : 2, gradient);
}

static void two_step(const kugel__leg_m *w, int s)
{
  const double *re = w->split[2 * s], *im = w->split[2 * s + 1], *eps = w->eps, *alpha = w->alpha;
  int width = 4 * w->leg->nseries;
  for (int64_t k = 0; k < w->n; k++) {
    double *out = w->series + k * width + 4 * s, al = alpha[k], e1 = al * eps[2 * k + 1],
           e2 = al * eps[2 * k + 2];
    out[0] = e1 * re[2 * k] + e2 * re[2 * k + 2];
    out[1] = e1 * im[2 * k] + e2 * im[2 * k + 2];
    out[2] = al * re[2 * k + 1];
    out[3] = al * im[2 * k + 1];
  }
}

static void two_step_adjoint(const kugel__leg_m *w, int s)
{
  double *re = w->split[2 * s], *im = w->split[2 * s + 1], before = 0;
  const double *eps = w->eps, *alpha = w->alpha;
  int width = 4 * w->leg->nseries;
  for (int64_t k = 0; k < w->n; k++) {
    const double *in = w->series + k * width + 4 * s, *last = k ? in - width : in;
    double al = alpha[k], e1 = al * eps[2 * k + 1], e0 = before * eps[2 * k];
    re[2 * k] = e1 * in[0] + e0 * last[0];
    im[2 * k] = e1 * in[1] + e0 * last[1];
    re[2 * k + 1] = al * in[2];
    im[2 * k + 1] = al * in[3];
    before = al;
  }
}

static void to_series(kugel__leg_m *w, const double *const *alm)
{
  const kugel__leg *g = w->leg;
  int64_t n = g->lmax - w->m + 1;
  double **c = w->column, **q = w->split;
  for (int a = 0; a < g->n_alm; a++) {
    clear_ends(c[2 * a], n);
    clear_ends(c[2 * a + 1], n);
    for (int64_t i = 0; i < n; i++) {
      c[2 * a][i] = alm[a][2 * i];
      c[2 * a + 1][i] = alm[a][2 * i + 1];
    }
  }
  int value = g->mode == KUGEL__LEG_GRAD ? 1 : 0, teb = g->mode == KUGEL__LEG_TEB;
  for (int s = 0; s < 2 * g->nseries; s++)
    clear_ends(q[s], n);
  if (g->mode == KUGEL__LEG_SPIN || teb) {
    double **e = c + 2 * teb, **b = e + 2, **f = q + 2 * teb;
    if (!teb && g->spin == 1) {
      spread1(w, e[0], e[1], b[0], b[1], f[0], f[1], -1);
      spread1(w, b[0], b[1], e[0], e[1], f[2], f[3], 1);
    } else if (g->spin > 2)
      spread_high(w, e, f);
    else {
      spread2(w, e[0], e[1], b[0], b[1], f[0], f[1], 1);
      spread2(w, b[0], b[1], e[0], e[1], f[2], f[3], -1);
    }
  } else if (g->mode >= KUGEL__LEG_GRAD)
    spread1(w, c[0], c[1], c[0], c[1], q[2 * !value], q[2 * !value + 1], 0);
  if (g->mode != KUGEL__LEG_SPIN) {
    memcpy(q[2 * value], c[0], (size_t)n * 8);
    memcpy(q[2 * value + 1], c[1], (size_t)n * 8);
  }
  for (int s = 0; s < g->nseries; s++) {
    memset(q[2 * s] + n + g->reach, 0, 8 * 8);
    memset(q[2 * s + 1] + n + g->reach, 0, 8 * 8);
    two_step(w, s);
  }
}

static void from_series(kugel__leg_m *w, double *const *alm)
{
  const kugel__leg *g = w->leg;
  int64_t n = g->lmax - w->m + 1;
  double **c = w->column, **q = w->split;
  for (int s = 0; s < g->nseries; s++) {
    two_step_adjoint(w, s);
    clear_ends(q[2 * s], n + g->reach);
    clear_ends(q[2 * s + 1], n + g->reach);
  }
  int value = g->mode == KUGEL__LEG_GRAD ? 1 : 0, teb = g->mode == KUGEL__LEG_TEB;
  if (g->mode == KUGEL__LEG_SPIN || teb) {
    double **e = c + 2 * teb, **b = e + 2, **f = q + 2 * teb;
    if (!teb && g->spin == 1) {
      collect1(w, f[0], f[1], f[2], f[3], e[0], e[1], -1);
      collect1(w, f[2], f[3], f[0], f[1], b[0], b[1], 1);
    } else if (g->spin > 2)
      collect_high(w, f, e);
    else {
      collect2(w, f[0], f[1], f[2], f[3], e[0], e[1], 1);
      collect2(w, f[2], f[3], f[0], f[1], b[0], b[1], -1);
    }
  } else if (g->mode >= KUGEL__LEG_GRAD)
    collect1(w, q[2 * !value], q[2 * !value + 1], q[0], q[1], c[0], c[1], 0);
  for (int a = 0; a < g->n_alm; a++)
    for (int k = 0; k < 2; k++) {
      bool direct = a == 0 && g->mode != KUGEL__LEG_SPIN, both = direct && g->mode >= KUGEL__LEG_GRAD;
      const double *x = direct ? q[2 * value + k] : c[2 * a + k];
      for (int64_t i = 0; i < n; i++)
        alm[a][2 * i + k] += both ? x[i] + c[k][i] : x[i];
    }
}

extern const kugel__series_ops ISA_NAME(kugel__series_ops);
const kugel__series_ops ISA_NAME(kugel__series_ops) = {open, to_series, from_series};
