/* SPDX-License-Identifier: BSD-3-Clause */
/* One degree of a rotation about the y axis by beta in (0, pi/2]: b_k = sum_m d^l_km(beta) a_m for real
 * fields. */
#ifndef KUGEL_SPHERE_ALM_ROTATE_H
#define KUGEL_SPHERE_ALM_ROTATE_H

#include "core/base.h"
#include "core/cpu.h"

enum {
  KUGEL__ROTATE_LANES = 16, /* orders k a block; tables over k are padded to a multiple */
  KUGEL__ROTATE_SETS = 3,   /* sets that share a recurrence */
  KUGEL__ROTATE_BITS = 300  /* a stored number v with scale s stands for v 2^(KUGEL__ROTATE_BITS s), s <= 0 */
};

/* All tables start at order 0; those over k hold zeros from l + 1 to the padded end.
 *
 * p_m(k) = d^l_km and q_m(k) = (-1)^k d^l_-k,m start at m = l and go down to m = k by
 *   p_(m-1) = ((m - k) alpha_m - tau_m) p_m - rho_m p_(m+1), for q with m + k in place of m - k,
 *   h_m = sqrt((l+m)(l-m+1)), alpha_m = 2 / (h_m sin beta), tau_m = 2 m tan(beta/2) / h_m, rho_m = h_(m+1) /
 * h_m, which is stable there: order m never leaves the oscillating range on its far side. */
typedef struct kugel__rotate_degree {
  int64_t l, padded; /* padded: l + 1 rounded up to KUGEL__ROTATE_LANES */
  const double *alpha, *tau, *rho;
  const double *start[2];                                                /* p_l(k), q_l(k) */
  const double *scale[2];                                                /* their s */
  const double *re[KUGEL__ROTATE_SETS], *im[KUGEL__ROTATE_SETS];         /* a_m, with a_0 halved */
  const double *re_alt[KUGEL__ROTATE_SETS], *im_alt[KUGEL__ROTATE_SETS]; /* (-1)^m times these */
  double *out_re[KUGEL__ROTATE_SETS], *out_im[KUGEL__ROTATE_SETS];       /* b_k */
  double *column;                                                        /* scratch [padded][sets][2][8] */
} kugel__rotate_degree;

typedef struct kugel__rotate_ops {
  void (*degree)(const kugel__rotate_degree *d, int sets);
} kugel__rotate_ops;

KUGEL_DISPATCH(kugel__rotate_ops, kugel__rotate_table)

#endif
