/* SPDX-License-Identifier: BSD-3-Clause */
/* Spin functions in terms of lambda_lm: columns of coefficients of E and B into columns of the two
 * components' coefficients of lambda ("spread", up to `spin` more degrees), and the transposes ("collect").
 * Columns are split re and im arrays over degrees l = m, m + 1 ... For legseries.isa.c only. */
#ifndef KUGEL_SPHERE_LEGENDRE_SPINS_H
#define KUGEL_SPHERE_LEGENDRE_SPINS_H

#include <math.h>
#include "sphere/legendre/plan.h"

enum { FRONT = 8, BACK = 16 }; // zeros before and after each array, so that neighbours always exist

/* Coefficients of the spin functions in lambda by distance in degree, index l - m: minus/plus one or two
 * degrees, same degree. Spin 1 (sin theta times the function): one, same = m f, f = 1/sqrt(l(l+1)). Spin 2
 * (sin^2 theta times it): two and same of E in Q, one of i B in Q, with sqrt((l-2)!/(l+2)!). */
static void bands(kugel__leg_m *w, int spin, bool gradient)
{
  const double *restrict eps = w->eps;
  double *restrict m2 = w->band[0], *restrict m1 = w->band[1], *restrict same = w->band[2],
                   *restrict p1 = w->band[3], *restrict p2 = w->band[4];
  int64_t n = w->leg->lmax - w->m + 1;
  double m = (double)w->m;
  for (int b = 0; b < 5; b++) {
    memset(w->band[b] - FRONT, 0, FRONT * 8);
    memset(w->band[b] + n, 0, BACK * 8);
  }
  if (spin == 1)
    for (int64_t i = 0; i < n; i++) {
      double l = m + (double)i, f = gradient ? 1 : l > 0 ? 1 / sqrt(l * (l + 1)) : 0;
      m1[i] = -(l + 1) * eps[i] * f;
      same[i] = m * f;
      p1[i] = l * eps[i + 1] * f;
    }
  else
    for (int64_t i = 0; i < n; i++) {
      double l = m + (double)i, k = l < 2 ? 2 : l,
             norm = l < 2 ? 0 : 1 / sqrt((k - 1) * k * (k + 1) * (k + 2));
      double up = l * (l - 1), down = (l + 1) * (l + 2);
      m2[i] = -norm * down * eps[i] * eps[i - 1];
      m1[i] = -2 * m * norm * (l + 2) * eps[i];
      same[i] = -norm * (up * eps[i + 1] * eps[i + 1] + down * eps[i] * eps[i] + 2 * m * m - l * (l + 1));
      p1[i] = 2 * m * norm * (l - 1) * eps[i + 1];
      p2[i] = -norm * up * eps[i + 1] * eps[i + 2];
    }
}

// -sqrt((l-s)!/(l+s)!) / 2
static void norms(kugel__leg_m *w, int spin)
{
  for (int64_t i = 0, n = w->leg->lmax - w->m + 1; i < n; i++) {
    double l = (double)(w->m + i), product = 1;
    for (int j = 0; j < spin; j++)
      product *= (l - j) * (l + j + 1);
    w->band[0][i] = l < spin ? 0 : -0.5 / sqrt(product);
  }
}

static void clear_ends(double *x, int64_t n)
{
  memset(x - FRONT, 0, FRONT * 8);
  memset(x + n, 0, BACK * 8);
}

// to[j] = sum over the band of from, written as a gather; to runs two degrees beyond from.
#define SPREAD(j, b, x)  (w->band[2 - (b)][(j) + (b)] * (x)[(j) + (b)])
#define COLLECT(i, b, x) (w->band[2 + (b)][i] * (x)[(i) + (b)])

static void spread2(const kugel__leg_m *w, const double *er, const double *ei, const double *br,
                    const double *bi, double *restrict qr, double *restrict qi, double sign)
{
  int64_t n = w->leg->lmax - w->m + 3;
  for (int64_t j = 0; j < n; j++) {
    qr[j] = SPREAD(j, -2, er) + SPREAD(j, 0, er) + SPREAD(j, 2, er) -
            sign * (SPREAD(j, -1, bi) + SPREAD(j, 1, bi));
    qi[j] = SPREAD(j, -2, ei) + SPREAD(j, 0, ei) + SPREAD(j, 2, ei) +
            sign * (SPREAD(j, -1, br) + SPREAD(j, 1, br));
  }
}

static void collect2(const kugel__leg_m *w, const double *qr, const double *qi, const double *ur,
                     const double *ui, double *restrict er, double *restrict ei, double sign)
{
  int64_t n = w->leg->lmax - w->m + 1;
  for (int64_t i = 0; i < n; i++) {
    er[i] = COLLECT(i, -2, qr) + COLLECT(i, 0, qr) + COLLECT(i, 2, qr) -
            sign * (COLLECT(i, -1, ui) + COLLECT(i, 1, ui));
    ei[i] = COLLECT(i, -2, qi) + COLLECT(i, 0, qi) + COLLECT(i, 2, qi) +
            sign * (COLLECT(i, -1, ur) + COLLECT(i, 1, ur));
  }
}

// Spin 1, and with sign 0 the gradient.
static void spread1(const kugel__leg_m *w, const double *er, const double *ei, const double *br,
                    const double *bi, double *restrict qr, double *restrict qi, double sign)
{
  int64_t n = w->leg->lmax - w->m + 3;
  for (int64_t j = 0; j < n; j++) {
    qr[j] = SPREAD(j, -1, er) + SPREAD(j, 1, er) - sign * SPREAD(j, 0, bi);
    qi[j] = SPREAD(j, -1, ei) + SPREAD(j, 1, ei) + sign * SPREAD(j, 0, br);
  }
}

static void collect1(const kugel__leg_m *w, const double *qr, const double *qi, const double *ur,
                     const double *ui, double *restrict er, double *restrict ei, double sign)
{
  int64_t n = w->leg->lmax - w->m + 1;
  for (int64_t i = 0; i < n; i++) {
    er[i] = COLLECT(i, -1, qr) + COLLECT(i, 1, qr) - sign * COLLECT(i, 0, ui);
    ei[i] = COLLECT(i, -1, qi) + COLLECT(i, 1, qi) + sign * COLLECT(i, 0, ur);
  }
}

/* Spins from 3 by the raising operator, one spin at a time: sin^{j+1} _{j+1}Y_lm is a multiple of (2 j cos
 * theta + m - sin theta d/dtheta) sin^j _jY_lm (Goldberg et al. 1967). x: coefficients of lambda in, n
 * degrees; one more out. With -m it lowers from -j. */
static void raise_spin(const kugel__leg_m *w, int j, double m, int64_t n, const double *restrict x,
                       double *restrict y)
{
  const double *restrict eps = w->eps;
  double first = (double)w->m;
  for (int64_t i = 0; i <= n; i++) {
    double l = first + (double)i;
    y[i] = (2 * j + 1 - l) * eps[i] * x[i - 1] + (l + 2 + 2 * j) * eps[i + 1] * x[i + 1] + m * x[i];
  }
  clear_ends(y, n + 1);
}

// Its transpose: n + 1 degrees in, n out.
static void raise_adjoint(const kugel__leg_m *w, int j, double m, int64_t n, const double *restrict x,
                          double *restrict y)
{
  const double *restrict eps = w->eps;
  double first = (double)w->m;
  for (int64_t i = 0; i < n; i++) {
    double l = first + (double)i;
    y[i] = (2 * j - l) * eps[i + 1] * x[i + 1] + (l + 1 + 2 * j) * eps[i] * x[i - 1] + m * x[i];
  }
  clear_ends(y, n);
}

// y: E + i B, or with sign -1 E - i B, of c, times the norm in band[0]; re, im.
static void mix(const kugel__leg_m *w, double **c, double sign, double **y)
{
  const double *restrict f = w->band[0], *restrict er = c[0], *restrict ei = c[1], *restrict br = c[2],
                         *restrict bi = c[3];
  double *restrict re = y[0], *restrict im = y[1];
  for (int64_t i = 0, n = w->leg->lmax - w->m + 1; i < n; i++) {
    re[i] = f[i] * (er[i] - sign * bi[i]);
    im[i] = f[i] * (ei[i] + sign * br[i]);
  }
}

static void spread_high(const kugel__leg_m *w, double **c, double **q)
{
  int64_t n = w->leg->lmax - w->m + 1;
  int spin = w->leg->spin;
  double *buffer[2][4], m = (double)w->m;
  for (int k = 0; k < 4; k++) { // spin steps, the last of them into q
    buffer[spin % 2][k] = q[k];
    buffer[!(spin % 2)][k] = w->band[1 + k];
  }
  mix(w, c, 1, buffer[0]);
  mix(w, c, -1, buffer[0] + 2);
  for (int k = 0; k < 4; k++) {
    clear_ends(buffer[0][k], n);
    for (int j = 0; j < spin; j++)
      raise_spin(w, j, k < 2 ? m : -m, n + j, buffer[j % 2][k], buffer[!(j % 2)][k]);
  }
  double *restrict fr = q[0], *restrict fi = q[1], *restrict gr = q[2], *restrict gi = q[3];
  for (int64_t i = 0; i < n + spin; i++) { // F + G, -i (F - G)
    double re = fr[i] - gr[i], im = fi[i] - gi[i];
    fr[i] += gr[i];
    fi[i] += gi[i];
    gr[i] = im;
    gi[i] = -re;
  }
}

static void collect_high(const kugel__leg_m *w, double **q, double **c)
{
  int64_t n = w->leg->lmax - w->m + 1;
  int spin = w->leg->spin;
  double *buffer[2][4], m = (double)w->m;
  double *restrict fr = q[0], *restrict fi = q[1], *restrict gr = q[2], *restrict gi = q[3];
  for (int64_t i = 0; i < n + spin; i++) { // Q + i U, Q - i U
    double ur = gr[i], ui = gi[i];
    gr[i] = fr[i] + ui;
    gi[i] = fi[i] - ur;
    fr[i] -= ui;
    fi[i] += ur;
  }
  for (int k = 0; k < 4; k++) {
    buffer[spin % 2][k] = q[k];
    buffer[!(spin % 2)][k] = w->band[1 + k];
    for (int j = spin - 1; j >= 0; j--)
      raise_adjoint(w, j, k < 2 ? m : -m, n + j, buffer[!(j % 2)][k], buffer[j % 2][k]);
  }
  double **f = buffer[0], **g = buffer[0] + 2;
  const double *restrict norm = w->band[0];
  for (int64_t i = 0; i < n; i++) {
    c[0][i] = norm[i] * (f[0][i] + g[0][i]);
    c[1][i] = norm[i] * (f[1][i] + g[1][i]);
    c[2][i] = norm[i] * (f[1][i] - g[1][i]);
    c[3][i] = norm[i] * (g[0][i] - f[0][i]);
  }
}

#endif
