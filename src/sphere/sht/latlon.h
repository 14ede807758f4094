/* SPDX-License-Identifier: BSD-3-Clause */
/* Analysis on equidistant rings up to their sampling limit, where plain weights are not exact. */
#ifndef KUGEL_SPHERE_SHT_LATLON_H
#define KUGEL_SPHERE_SHT_LATLON_H

#include "sphere/sht/sht.h"

typedef struct kugel__latlon kugel__latlon;

/* Whether the plan needs it and its grid allows it. Then all orders of all rings count, also near the poles.
 */
bool kugel__latlon_applies(const kugel_sht *plan);

kugel_status kugel__latlon_create(const kugel_sht *plan, kugel__latlon **out);
void kugel__latlon_destroy(kugel__latlon *latlon);

/* alm (+)= A map, with A S = 1. */
kugel_status kugel__latlon_analysis(const kugel_sht *plan, const kugel__maps *map, const kugel__alms *alm,
                                    bool accumulate);
/* map = A^T alm */
kugel_status kugel__latlon_adjoint(const kugel_sht *plan, const kugel__alms *alm, const kugel__maps *map);

#endif
