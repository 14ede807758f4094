/* SPDX-License-Identifier: BSD-3-Clause */
/* The Legendre stage by rotations between orders (KUGEL_SHT_CONNECTION). */
#ifndef KUGEL_SPHERE_SHT_CONNECTION_H
#define KUGEL_SPHERE_SHT_CONNECTION_H

#include "sphere/sht/sht.h"

typedef struct kugel__connection kugel__connection;

/* Fails if the engine cannot do what the options ask for. */
kugel_status kugel__connection_check(const kugel_sht *plan);
kugel_status kugel__connection_create(const kugel_sht *plan, kugel__connection **out);
void kugel__connection_destroy(kugel__connection *c); /* may be NULL */

extern const kugel__sht_ops kugel__sht_connection_ops;

/* Whether the plan analyses without weights: on Fejer 1 grids of more than lmax rings. */
bool kugel__connection_analyses(const kugel_sht *plan);
/* alm (+)= A map, with A S = 1, and map = A^T alm. */
kugel_status kugel__connection_analysis(const kugel_sht *plan, const kugel__maps *map, const kugel__alms *alm,
                                        bool accumulate);
kugel_status kugel__connection_analysis_adjoint(const kugel_sht *plan, const kugel__alms *alm,
                                                const kugel__maps *map);

#endif
