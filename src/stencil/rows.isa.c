/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loops of stencil/rows.h for two kinds of numbers. */
#include "stencil/rows.h"
#include "core/simd.h"

#define NAME(x) x##_f64
#define REAL    double
#define VECTOR  vf64
#define LANES   VLEN
#define MULADD  v_muladd
#include "stencil/rows_loops.h"
#undef NAME
#undef REAL
#undef VECTOR
#undef LANES
#undef MULADD

#define NAME(x) x##_f32
#define REAL    float
#define VECTOR  vf32
#define LANES   (2 * VLEN)
#define MULADD  v_muladd_f32
#include "stencil/rows_loops.h"
#undef NAME
#undef REAL
#undef VECTOR
#undef LANES
#undef MULADD

extern const kugel__stencil_table ISA_NAME(kugel__stencil_table);
const kugel__stencil_table ISA_NAME(kugel__stencil_table) = {{{taps_f64, sum_f64}, {taps_f32, sum_f32}}};
