/* SPDX-License-Identifier: BSD-3-Clause */
/* C with the vector types of core/simd.h: values live in SIMD lanes, uniform ones are scalars.
 * Double-double: the words of fft/ddlanes.h. */
#include "codegen/print.h"

const kugel__dialect kugel__dialect_c = {
    .name = "c",
    .lanes = {[KUGEL__I64] = "vi64", [KUGEL__F32] = "vf32", [KUGEL__F64] = "vf64", [KUGEL__DD] = "vdd"},
    .uniform =
        {[KUGEL__I64] = "int64_t", [KUGEL__F32] = "float", [KUGEL__F64] = "double", [KUGEL__DD] = "vdd"},
    .element = {[KUGEL__DD] = "double"},
    .load = {[KUGEL__F32] = "v_load_f32(%0 + %1)",
             [KUGEL__F64] = "v_load(%0 + %1)",
             [KUGEL__DD] = "vdd_load(%0 + %1)"},
    .load_uniform = {[KUGEL__F32] = "%0[%1]", [KUGEL__F64] = "%0[%1]", [KUGEL__DD] = "vdd_spread(%0 + %1)"},
    .store = {[KUGEL__F32] = "v_store_f32(%0 + %1, %2)",
              [KUGEL__F64] = "v_store(%0 + %1, %2)",
              [KUGEL__DD] = "vdd_store(%0 + %1, %2)"},
    .function = "static void ",
    .pointer = "*restrict ",
    .float_suffix = "f",
};
