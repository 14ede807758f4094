/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loops of banded/sweep.h for three kinds of numbers. */
#include "banded/sweep.h"
#include "core/simd.h"

static inline vf64 fms(vf64 a, vf64 b, vf64 c) /* a b - c, one rounding */
{
#if defined(KUGEL_ISA_AVX512)
  return (vf64)_mm512_fmsub_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(KUGEL_ISA_AVX2)
  return (vf64)_mm256_fmsub_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  for (int i = 0; i < VLEN; i++)
    a[i] = __builtin_fma(a[i], b[i], -c[i]);
  return a;
#endif
}

#define ZIP2(a, b, h) __builtin_shufflevector(a, b, (h), 2 + (h))
#define ZIP4(a, b, h) __builtin_shufflevector(a, b, 2 * (h), 4 + 2 * (h), 1 + 2 * (h), 5 + 2 * (h))
#define ZIP8(a, b, h)                                                                                        \
  __builtin_shufflevector(a, b, 4 * (h), 8 + 4 * (h), 1 + 4 * (h), 9 + 4 * (h), 2 + 4 * (h), 10 + 4 * (h),   \
                          3 + 4 * (h), 11 + 4 * (h))
#define ZIP16(a, b, h)                                                                                       \
  __builtin_shufflevector(a, b, 8 * (h), 16 + 8 * (h), 1 + 8 * (h), 17 + 8 * (h), 2 + 8 * (h), 18 + 8 * (h), \
                          3 + 8 * (h), 19 + 8 * (h), 4 + 8 * (h), 20 + 8 * (h), 5 + 8 * (h), 21 + 8 * (h),   \
                          6 + 8 * (h), 22 + 8 * (h), 7 + 8 * (h), 23 + 8 * (h))
#define ZIP_(a, b, h, lanes)    ZIP##lanes(a, b, h)
#define ZIP_OF_(a, b, h, lanes) ZIP_(a, b, h, lanes)

/* double */
#define NAME(x) x##_f64
#define PAIRS   0
#define REAL    double
#define VECTOR  vf64
#if VLEN == 8
#  define LANES 8
#elif VLEN == 4
#  define LANES 4
#else
#  define LANES 2
#endif
#include "banded/sweep_single.h"
#include "banded/sweep_loops.h"
#undef NAME
#undef PAIRS
#undef REAL
#undef VECTOR
#undef LANES

/* float */
#define NAME(x) x##_f32
#define PAIRS   0
#define REAL    float
#define VECTOR  vf32
#if VLEN == 8
#  define LANES 16
#elif VLEN == 4
#  define LANES 8
#else
#  define LANES 4
#endif
#include "banded/sweep_single.h"
#include "banded/sweep_loops.h"
#undef NAME
#undef PAIRS
#undef REAL
#undef VECTOR
#undef LANES

/* double-double */
#define NAME(x) x##_dd
#define PAIRS   1
#define REAL    double
#define LANES   VLEN
#include "banded/sweep_double.h"
#include "banded/sweep_loops.h"
#undef NAME

#define OPS(p, row)                                                                                          \
  {                                                                                                          \
    recur_##p, product_##p, row, pack_rows_##p, unpack_rows_##p, pack_columns_##p, unpack_columns_##p,       \
        join_##p                                                                                             \
  }
extern const kugel__banded_table ISA_NAME(kugel__banded_table);
const kugel__banded_table ISA_NAME(kugel__banded_table) = {
    {OPS(f64, product_row_f64), OPS(f32, product_row_f32), OPS(dd, NULL)}}; /* by precision */
