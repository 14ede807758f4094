/* SPDX-License-Identifier: BSD-3-Clause */
/* The inner loops of polynomial/sweep.h for double and float. */
#include <stdbool.h>
#include "polynomial/sweep.h"
#include "core/simd.h"

typedef vf64 vec_d;
typedef vf32 vec_s;

/* Steps in one sweep: their states are 2 vectors each. */
#if defined(KUGEL_ISA_AVX512)
enum { KUGEL__SWEEP_STEPS = 8 };
#else
enum { KUGEL__SWEEP_STEPS = 4 };
#endif

static inline vf64 fma_d(vf64 a, vf64 b, vf64 c)
{
  return v_muladd(a, b, c);
}
/* c - a b, which spares the broadcast of -a */
static inline vf64 fnma_d(vf64 a, vf64 b, vf64 c)
{
#if defined(KUGEL_ISA_AVX512)
  return (vf64)_mm512_fnmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(KUGEL_ISA_AVX2)
  return (vf64)_mm256_fnmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  return fma_d(-a, b, c);
#endif
}
static inline vf32 fma_s(vf32 a, vf32 b, vf32 c)
{
  return v_muladd_f32(a, b, c);
}
static inline vf32 fnma_s(vf32 a, vf32 b, vf32 c)
{
#if defined(KUGEL_ISA_AVX512)
  return (vf32)_mm512_fnmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(KUGEL_ISA_AVX2)
  return (vf32)_mm256_fnmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
  return fma_s(-a, b, c);
#endif
}

#define REAL    double
#define NAME(x) x##_d
#define LANES   VLEN
#include "polynomial/sweep_loops.h"
#undef REAL
#undef NAME
#undef LANES

#define REAL    float
#define NAME(x) x##_s
#define LANES   (2 * VLEN)
#include "polynomial/sweep_loops.h"

#define OPS(t, w)                                                                                            \
  {                                                                                                          \
    w, lower_##t, raise_##t, lower_plain_##t, raise_plain_##t, band_##t, scale_##t, matrix_##t, pack_##t,    \
        unpack_##t                                                                                           \
  }

extern const kugel__sweep_table ISA_NAME(kugel__sweep_table);
const kugel__sweep_table ISA_NAME(kugel__sweep_table) = {{OPS(d, 2 * VLEN), OPS(s, 4 * VLEN)}};
