/* SPDX-License-Identifier: BSD-3-Clause */
/* Connection of ultraspherical polynomials,
 *   C_j^{(lambda)} = sum_i r_i t_{(j-i)/2} h_{(i+j)/2} s_j C_i^{(mu)},  i <= j, i + j even,
 *   t_k = (lambda - mu)_k / k!,  h_p = (lambda)_p / (mu + 1)_p,  r_i = (i + mu) / mu,  s_j = 1,
 * with T_j = lim (j / 2) C_j^{(lambda)} / lambda for lambda = 0 (h_p = (p - 1)! / (mu + 1)_p, s_j = j / 2) and mu = 0 (r_i = 2,
 * r_0 = 1). A Toeplitz matrix times a Hankel matrix, element by element. */
#ifndef KUGEL_ALT_ULTRA_H
#define KUGEL_ALT_ULTRA_H

#include <kugel/polynomial.h>
#include "core/base.h"
#include "core/cpu.h"

/* t[n / 2 + 1], h[n + 1], r[n], s[n], correctly rounded or nearly so. */
void kugel__ultra_tables(double lambda, double mu, int64_t n, double *t, double *h, double *r, double *s);

typedef struct kugel__ultra_ops {
  double (*dot3)(const double *t, const double *h, const double *x, int64_t n); /* sum of t_i h_i x_i */
} kugel__ultra_ops;

#endif
