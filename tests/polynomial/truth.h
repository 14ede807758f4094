/* SPDX-License-Identifier: BSD-3-Clause */
/* Jones-Worland functions, their derivatives and associated Legendre functions by recurrences in 113 bits, and columns of
 * the golden files. */
#ifndef KUGEL_TESTS_POLYNOMIAL_TRUTH_H
#define KUGEL_TESTS_POLYNOMIAL_TRUTH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kugel/polynomial.h>

#if defined(__x86_64__)
typedef __float128 quad;
#else
typedef long double quad; /* 113 bits on aarch64 */
#endif

static inline quad quad_sqrt(quad x)
{
  if (!(x > 0))
    return 0;
  quad s = (quad)sqrt((double)x);
  for (int i = 0; i < 2; i++)
    s = (s + x / s) / 2;
  return s;
}

static inline quad quad_power(quad x, int64_t n)
{
  quad p = 1;
  for (; n > 0; n /= 2, x *= x)
    if (n % 2)
      p *= x;
  return p;
}

static inline quad truth_radius(int64_t k, int64_t nr)
{
  long double step = 3.14159265358979323846264338327950288L / (4 * (long double)nr);
  return 2 * k + 1 < nr ? (quad)cosl(step * (long double)(2 * k + 1))
                        : (quad)sinl(step * (long double)(2 * (nr - k) - 1));
}

static const double truth_a[] = {-0.5, 0, 0, 0, 1}, truth_shift[] = {-0.5, -0.5, 0, 0.5, 0.5}; /* 4: JACOBI */

/* Squared norm of r^l of a type. */
static inline quad truth_norm0(int type, int64_t l)
{
  quad pi = (quad)3.14159265358979311600 + (quad)1.2246467991473531772e-16;
  quad h = type == 4 ? (quad)2 / 15 : type == 0 ? pi / 2 : (quad)1 / (type == 1 ? 1 : type == 2 ? 2 : 3);
  for (int64_t i = 0; i < l; i++) {
    quad b = (quad)i + (quad)truth_shift[type];
    h *= (b + 1) / ((quad)truth_a[type] + b + 2);
  }
  return h;
}

/* (op W_n^l)(r), n < count, norm unity; r > 0 for operators that divide by it. */
static inline void truth_worland(int type, int op, int64_t l, quad r, int64_t count, quad *out)
{
  quad a = (quad)truth_a[type], b = (quad)l + (quad)truth_shift[type], x = 2 * r * r - 1;
  quad p[3] = {1 / quad_sqrt(truth_norm0(type, l)), 0, 0}, before[3] = {0, 0, 0}, last = 0; /* p, p', p'' */
  for (int64_t n = 0; n < count; n++) {
    quad rl = quad_power(r, l), less = l ? quad_power(r, l - 1) : 1 / r, d = 4 * r * r;
    switch (op) {
    case KUGEL_WORLAND_D1:
      out[n] = l ? less * ((quad)l * p[0] + d * p[1]) : 4 * r * p[1];
      break;
    case KUGEL_WORLAND_R1:
      out[n] = r * rl * p[0];
      break;
    case KUGEL_WORLAND_DIV_R1:
      out[n] = less * p[0];
      break;
    case KUGEL_WORLAND_DIV_R1_D1_R1:
      out[n] = less * ((quad)(l + 1) * p[0] + d * p[1]);
      break;
    case KUGEL_WORLAND_SPH_LAPL:
      out[n] = rl * (4 * d * p[2] + (quad)(8 * l + 12) * p[1]);
      break;
    case KUGEL_WORLAND_CYL_LAPL:
      out[n] = rl * (4 * d * p[2] + (quad)(8 * l + 8) * p[1]);
      break;
    default:
      out[n] = rl * p[0];
    }
    quad k = (quad)n, s = 2 * k + a + b;
    quad q = n ? (b - a) * (b + a) / (s * (s + 2)) : (b - a) / (a + b + 2);
    quad root = (k + 1) * (k + 1 + a) * (k + 1 + b) / (s + 3) * (n ? (k + 1 + a + b) / (s + 1) : 1);
    quad c = 2 / (s + 2) * quad_sqrt(root), next[3];
    for (int t = 0; t < 3; t++)
      next[t] = ((x - q) * p[t] + (quad)t * (t ? p[t - 1] : 0) - last * before[t]) / c;
    memcpy(before, p, sizeof p);
    memcpy(p, next, sizeof p);
    last = c;
  }
}

/* The k-th derivatives over x = 2 r^2 - 1 of W_n^l / r^l, k <= 4, norm unity: the recurrence differentiated. */
static inline void truth_derivative(int type, int64_t l, int k, quad r, int64_t count, quad *out)
{
  quad a = (quad)truth_a[type], b = (quad)l + (quad)truth_shift[type], x = 2 * r * r - 1;
  quad p[5] = {1 / quad_sqrt(truth_norm0(type, l))}, before[5] = {0}, last = 0;
  for (int64_t n = 0; n < count; n++) {
    out[n] = p[k];
    quad i = (quad)n, s = 2 * i + a + b, next[5];
    quad q = n ? (b - a) * (b + a) / (s * (s + 2)) : (b - a) / (a + b + 2);
    quad root = (i + 1) * (i + 1 + a) * (i + 1 + b) / (s + 3) * (n ? (i + 1 + a + b) / (s + 1) : 1);
    quad c = 2 / (s + 2) * quad_sqrt(root);
    for (int t = 0; t < 5; t++)
      next[t] = ((x - q) * p[t] + (quad)t * (t ? p[t - 1] : 0) - last * before[t]) / c;
    memcpy(before, p, sizeof p);
    memcpy(p, next, sizeof p);
    last = c;
  }
}

/* h_n of the natural norm: W_n^l natural = W_n^l unity times its root. */
static inline double truth_norm(int type, int64_t l, int64_t n)
{
  quad a = (quad)truth_a[type], b = (quad)l + (quad)truth_shift[type], h = truth_norm0(type, l);
  for (int64_t i = 0; i < n; i++) {
    quad k = (quad)i;
    h *= (k + a + 1) * (k + b + 1) / (k + 1) / (2 * k + a + b + 3) *
         (i ? (2 * k + a + b + 1) / (k + a + b + 1) : 1);
  }
  return (double)quad_sqrt(h);
}

/* P_l^m(cos theta), l = m ... lmax, from sin and cos. */
static inline void truth_legendre(int64_t m, int64_t lmax, quad cosine, quad sine, quad *out)
{
  quad c = (quad)(2 * m + 1) / 2;
  for (int64_t k = 1; k <= m; k++)
    c *= (quad)(2 * k - 1) / (quad)(2 * k);
  quad p = quad_sqrt(c) * quad_power(sine, m), before = 0;
  for (int64_t l = m; l <= lmax; l++) {
    out[l - m] = p;
    quad k = (quad)(l + 1), q = (quad)m;
    quad up = quad_sqrt((4 * k * k - 1) / (k * k - q * q));
    quad down =
        l > m ? quad_sqrt((2 * k + 1) * ((k - 1) * (k - 1) - q * q) / ((2 * k - 3) * (k * k - q * q))) : 0;
    quad next = up * cosine * p - down * before;
    before = p;
    p = next;
  }
}

/* max |got - want| / max |want| */
static inline double truth_error(const double *got, const quad *want, int64_t n)
{
  double worst = 0, scale = 0;
  for (int64_t i = 0; i < n; i++) {
    double e = fabs((double)((quad)got[i] - want[i]));
    scale = fmax(scale, fabs((double)want[i]));
    if (!(e <= worst))
      worst = e;
  }
  return scale > 0 ? worst / scale : worst;
}

#endif
