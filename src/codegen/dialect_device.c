/* SPDX-License-Identifier: BSD-3-Clause */
/* The words that the preludes of all devices share (codegen/kernels/prelude_*.cl), with REAL_BITS as the
 * text's real type. */
#include "codegen/print.h"

#define HALVES(real, pair) [KUGEL__F16] = real, [KUGEL__C16] = pair
#define TYPES                                                                                                \
  {                                                                                                          \
    [KUGEL__I64] = "i64", [KUGEL__U32] = "u32", [KUGEL__F32] = "real", [KUGEL__F64] = "real",                \
    [KUGEL__C32] = "real2", [KUGEL__C64] = "real2", [KUGEL__DD] = "dd", [KUGEL__CDD] = "cdd",                \
    HALVES("u16", "u32")                                                                                     \
  }
#define SAME(text, half, pair)                                                                               \
  {                                                                                                          \
    [KUGEL__I64] = text, [KUGEL__U32] = text, [KUGEL__F32] = text, [KUGEL__F64] = text, [KUGEL__C32] = text, \
    [KUGEL__C64] = text, [KUGEL__DD] = text, [KUGEL__CDD] = text, HALVES(half, pair)                         \
  }

const kugel__dialect kugel__dialect_device = {
    .name = "device",
    .lanes = TYPES,
    .uniform = TYPES,
    .op = {[KUGEL__FMA] = "FMA(%0, %1, %2)",
           [KUGEL__FMS] = "FMA(%0, %1, -(%2))",
           [KUGEL__FNMA] = "FMA(-(%0), %1, %2)",
           [KUGEL__STORE_PAIR] = "%0[%1] = MAKE_REAL2(%2, %3)"},
    .load = SAME("%0[%1]", "LOAD_HALF(%0, %1)", "LOAD_HALF2(%0, %1)"),
    .load_uniform = SAME("%0[%1]", "LOAD_HALF(%0, %1)", "LOAD_HALF2(%0, %1)"),
    .store = SAME("%0[%1] = %2", "STORE_HALF(%0, %1, %2)", "STORE_HALF2(%0, %1, %2, %3)"),
    .function = "KERNEL(%d) ",
    .resident = "KERNEL_BLOCKS(%d, %d) ",
    .space = "GLOBAL ",
    .pointer = "*",
    .constant = "RESTRICT ",
    .shared = "SHARED_FROM_LAUNCH(%s, %s, %lld)",
    .float_suffix = "f",
};
