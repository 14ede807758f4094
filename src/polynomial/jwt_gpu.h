/* SPDX-License-Identifier: BSD-3-Clause */
/* Jones-Worland plans on devices. */
#ifndef KUGEL_POLYNOMIAL_JWT_GPU_H
#define KUGEL_POLYNOMIAL_JWT_GPU_H

#include "polynomial/gpu.h"
#include "polynomial/jwt.h"

/* Fills p->gpu of a plan whose tables are made. */
kugel_status kugel__jwt_gpu_create(kugel_jwt *p);
kugel_status kugel__jwt_gpu_run(const kugel_jwt *p, int op, bool analysis, bool adjoint,
                                const kugel_array *in, const kugel_array *out, const kugel__systems *from,
                                const kugel__systems *to, kugel_queue *queue);

/* Appends a stage on rows to the operations of a tile. bands_at: where the plan's store of bands is in the list's numbers; *top: most
 * rows that the tile has had. */
void kugel__jwt_gpu_rows(const kugel_jwt *p, kugel__poly_text *t, int64_t bands_at,
                         const kugel__tile_stage *s, bool transposed, int64_t *top);

#endif
