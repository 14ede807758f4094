/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the builder (gen.c) and arithmetic (fold.c). */
#ifndef KUGEL_CODEGEN_FOLD_H
#define KUGEL_CODEGEN_FOLD_H

#include "codegen/gen.h"

/* Appends an instruction that defines a new variable. Operands that an operation lacks repeat a used one. */
kugel__val kugel__gen_emit(kugel__gen *g, kugel__op op, kugel__type type, bool uniform,
                           const kugel__val a[3]);

/* An operation on constants. */
kugel__dd kugel__fold_real(kugel__op op, kugel__dd a, kugel__dd b, kugel__dd c);

#endif
