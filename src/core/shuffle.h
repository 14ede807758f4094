/* SPDX-License-Identifier: BSD-3-Clause */
/* Reversing, transposing and interleaving vectors, for *.isa.c only. */
#ifndef KUGEL_CORE_SHUFFLE_H
#define KUGEL_CORE_SHUFFLE_H

#include "core/simd.h"

static inline vf64 reverse(vf64 v)
{
#if VLEN == 8
  return __builtin_shufflevector(v, v, 7, 6, 5, 4, 3, 2, 1, 0);
#elif VLEN == 4
  return __builtin_shufflevector(v, v, 3, 2, 1, 0);
#else
  return __builtin_shufflevector(v, v, 1, 0);
#endif
}

/* Exchanges the off-diagonal blocks of size d of rows i and i + d. */
#if VLEN == 8
#  define SWAP1(a, b)                                                                                        \
    vf64 t = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);                                       \
    b = __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);                                            \
    a = t;
#  define SWAP2(a, b)                                                                                        \
    vf64 t = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);                                        \
    b = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);                                           \
    a = t;
#  define SWAP4(a, b)                                                                                        \
    vf64 t = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);                                        \
    b = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);                                           \
    a = t;
#elif VLEN == 4
#  define SWAP1(a, b)                                                                                        \
    vf64 t = __builtin_shufflevector(a, b, 0, 4, 2, 6);                                                      \
    b = __builtin_shufflevector(a, b, 1, 5, 3, 7);                                                           \
    a = t;
#  define SWAP2(a, b)                                                                                        \
    vf64 t = __builtin_shufflevector(a, b, 0, 1, 4, 5);                                                      \
    b = __builtin_shufflevector(a, b, 2, 3, 6, 7);                                                           \
    a = t;
#else
#  define SWAP1(a, b)                                                                                        \
    vf64 t = __builtin_shufflevector(a, b, 0, 2);                                                            \
    b = __builtin_shufflevector(a, b, 1, 3);                                                                 \
    a = t;
#endif

#if VLEN >= 4
/* Transposes the 4 x 4 blocks of four vectors. */
static inline void transpose4(vf64 *v)
{
  for (int i = 0; i < 4; i += 2) {
    SWAP1(v[i], v[i + 1])
  }
  for (int i = 0; i < 2; i++) {
    SWAP2(v[i], v[i + 2])
  }
}
#endif

/* v[i][j] <-> v[j][i], i, j < VLEN. */
static inline void transpose(vf64 *v)
{
#if VLEN == 2
  SWAP1(v[0], v[1])
#else
  transpose4(v);
#endif
#if VLEN == 8
  transpose4(v + 4);
  for (int i = 0; i < 4; i++) {
    SWAP4(v[i], v[i + 4])
  }
#endif
}

/* lo, hi = a[0] b[0] a[1] b[1] ... */
static inline void interleave(vf64 a, vf64 b, vf64 *lo, vf64 *hi)
{
#if VLEN == 8
  *lo = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  *hi = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#elif VLEN == 4
  *lo = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  *hi = __builtin_shufflevector(a, b, 2, 6, 3, 7);
#else
  *lo = __builtin_shufflevector(a, b, 0, 2);
  *hi = __builtin_shufflevector(a, b, 1, 3);
#endif
}

/* Its inverse. */
static inline void separate(vf64 lo, vf64 hi, vf64 *a, vf64 *b)
{
#if VLEN == 8
  *a = __builtin_shufflevector(lo, hi, 0, 2, 4, 6, 8, 10, 12, 14);
  *b = __builtin_shufflevector(lo, hi, 1, 3, 5, 7, 9, 11, 13, 15);
#elif VLEN == 4
  *a = __builtin_shufflevector(lo, hi, 0, 2, 4, 6);
  *b = __builtin_shufflevector(lo, hi, 1, 3, 5, 7);
#else
  *a = __builtin_shufflevector(lo, hi, 0, 2);
  *b = __builtin_shufflevector(lo, hi, 1, 3);
#endif
}

#endif
