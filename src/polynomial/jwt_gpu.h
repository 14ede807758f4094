/* SPDX-License-Identifier: BSD-3-Clause */
/* Jones-Worland plans on devices. */
#ifndef KUGEL_POLYNOMIAL_JWT_GPU_H
#define KUGEL_POLYNOMIAL_JWT_GPU_H

#include "polynomial/jwt.h"

/* Fills p->gpu of a plan whose tables are made. */
kugel_status kugel__jwt_gpu_create(kugel_jwt *p);
kugel_status kugel__jwt_gpu_run(const kugel_jwt *p, int op, bool analysis, bool adjoint,
                                const kugel_array *in, const kugel_array *out, const kugel__systems *from,
                                const kugel__systems *to, kugel_queue *queue);

#endif
