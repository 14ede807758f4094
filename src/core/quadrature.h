/* SPDX-License-Identifier: BSD-3-Clause */
/* Quadrature nodes and weights. */
#ifndef KUGEL_CORE_QUADRATURE_H
#define KUGEL_CORE_QUADRATURE_H

#include "core/base.h"

/* Gauss-Legendre nodes of order n on the sphere, north first: theta_i, its cosine and sine, and weights with sum 2.
 * cth and sth may be NULL, both. 1 <= n <= 1,000,000; all four are correctly rounded or nearly so, near the poles too. O(n). */
kugel_status kugel__gauss_legendre(kugel_ctx *ctx, int64_t n, double *theta, double *cth, double *sth,
                                   double *weight);

/* Gauss-Lobatto nodes, poles included: the same, 2 <= n <= 1,000,000; exact to degree 2 n - 3. */
kugel_status kugel__gauss_lobatto(kugel_ctx *ctx, int64_t n, double *theta, double *cth, double *sth,
                                  double *weight);

#endif
