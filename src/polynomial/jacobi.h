/* SPDX-License-Identifier: BSD-3-Clause */
/* Orthonormal Jacobi polynomials P~_n^{(a,b)} on [-1, 1]: closed-form entries of the maps between families.
 *
 *   b -> b + 2  (1+x) P~_k^{(a,b+2)} = sum_j Q_jk P~_j^{(a,b)}: Q has orthonormal columns and is the product of the
 *               rotations G_0 G_1 ... with C_k^2 = (b+1)(2k+a+b+3) / D, S_k^2 = (k+1)(k+a+1) / D, D = (k+b+2)(k+a+b+2)
 *   V: b -> b + 1   P~_n^{(a,b)} = g_n P~_n^{(a,b+1)} + z_n P~_{n-1}^{(a,b+1)},  g, z = gamma, zeta(n, a, b)
 *   M = V^T         (1+x) P~_n^{(a,b+1)} = g_n P~_n^{(a,b)} + z_{n+1} P~_{n+1}^{(a,b)}
 *   U: a -> a + 1   P~_n^{(a,b)} = g_n P~_n^{(a+1,b)} - z_n P~_{n-1}^{(a+1,b)},  g, z = gamma, zeta(n, b, a)
 *   D: d/dx P~_n^{(a,b)} = d_n P~_{n-1}^{(a+1,b+1)},  d_n = sqrt(n (n+a+b+1))
 *   C: (b + (1+x) d/dx) P~_n^{(a,b)} = sqrt((n+b)(n+a+1)) P~_n^{(a+1,b-1)}
 * Parameters are multiples of 1/2 above -1: what stands under the roots is exact in double up to 2^53. */
#ifndef KUGEL_POLYNOMIAL_JACOBI_H
#define KUGEL_POLYNOMIAL_JACOBI_H

#include <math.h>
#include "core/base.h"
#include "core/dd.h"

static inline double jacobi_gamma(double n, double a, double b)
{
  return n > 0 ? sqrt(2 * (n + b + 1) * (n + a + b + 1) / ((2 * n + a + b + 1) * (2 * n + a + b + 2)))
               : sqrt(2 * (b + 1) / (a + b + 2)); /* the limit where a + b = -1 */
}
static inline double jacobi_zeta(double n, double a, double b)
{
  return n > 0 ? sqrt(2 * n * (n + a) / ((2 * n + a + b) * (2 * n + a + b + 1))) : 0;
}
static inline double jacobi_derivative(double n, double a, double b)
{
  return sqrt(n * (n + a + b + 1));
}

/* Half of the beta function B(p, q), the integral of r^{2p-1} (1 - r^2)^{q-1} over 0 <= r <= 1; p, q positive multiples of 1/2. */
kugel__dd kugel__jacobi_half_beta(double p, double q);

/* n rotations b -> b + 2, pairs (C_k, sign S_k), as doubles or floats. */
void kugel__jacobi_rotations(double a, double b, double sign, int64_t n, bool single, void *out);

/* x P~_n = p_n P~_{n+1} + q_n P~_n + p_{n-1} P~_{n-1}; arrays of n numbers. */
void kugel__jacobi_recurrence(double a, double b, int64_t n, kugel__dd *p, kugel__dd *q);

/* The upper triangular matrix, out[i * n + j], of P~_j^{(a,b)} = sum_i out_ij P~_i^{(c,d)} times `factor`, correct to the last
 * bit of double for n to a few thousands: by the recurrence in double-double. O(n^2). */
kugel_status kugel__jacobi_connection(kugel_ctx *ctx, double a, double b, double c, double d,
                                      kugel__dd factor, int64_t n, double *out);

#endif
