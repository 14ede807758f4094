/* SPDX-License-Identifier: BSD-3-Clause */
/* C with the vector types of core/simd.h: values live in SIMD lanes, uniform ones are scalars. */
#include "codegen/print.h"

const kugel__dialect kugel__dialect_c = {
    .name = "c",
    .lanes = {"vi64", "vf32", "vf64"},
    .uniform = {"int64_t", "float", "double"},
    .load = {NULL, "v_load_f32(%0 + %1)", "v_load(%0 + %1)"},
    .load_uniform = "%0[%1]",
    .store = {NULL, "v_store_f32(%0 + %1, %2)", "v_store(%0 + %1, %2)"},
    .function = "static ",
    .pointer = "*restrict ",
    .float_suffix = "f",
};
