/* SPDX-License-Identifier: BSD-3-Clause */
/* What sparse operators and boundary rows share. */
#ifndef KUGEL_POLYNOMIAL_WORLAND_H
#define KUGEL_POLYNOMIAL_WORLAND_H

#include <kugel/worland.h>
#include "polynomial/jacobi.h"

/* Checks and copies a basis; a and shift become those of its type. */
kugel_status kugel__worland_basis(kugel_worland_basis *b, const kugel_worland_basis *given);

/* h_{n+1} of h_n: squared norms of the natural functions of degree l. */
kugel__dd kugel__worland_norm(const kugel_worland_basis *b, int64_t l, int64_t n, kugel__dd h);

#endif
