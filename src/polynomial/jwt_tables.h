/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes the tables of a Jones-Worland plan. */
#ifndef KUGEL_POLYNOMIAL_JWT_TABLES_H
#define KUGEL_POLYNOMIAL_JWT_TABLES_H

#include "polynomial/jwt.h"

/* All tables of a plan whose options and blocks are set. */
kugel_status kugel__jwt_fill(kugel_jwt *p, const double *radii);
/* Weights of the integral of |f|^2 r^2 dr. */
kugel_status kugel__jwt_energy_weight(kugel_jwt *p);
/* Chooses and makes the tables W_n^l(r_k). */
kugel_status kugel__jwt_dense(kugel_jwt *p);
/* Fills p->points. */
kugel_status kugel__jwt_points(kugel_jwt *p, const double *radii);

typedef struct kugel__jwt_dd kugel__jwt_dd;

/* Double-double: whether a plan can be, its tables, and calls. */
kugel_status kugel__jwt_dd_check(const kugel_ctx *ctx, const kugel_jwt_opts *o);
kugel_status kugel__jwt_dd_make(kugel_jwt *p);
void kugel__jwt_dd_destroy(kugel_jwt *p); /* also of other plans */
kugel_status kugel__jwt_dd_run(const kugel_jwt *p, int op, bool analysis, bool adjoint, const kugel_array *in,
                               const kugel_array *out);

#endif
