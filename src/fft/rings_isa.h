/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the inner loops of ring plans: shuffles, and the DFTs of ringdft.isa.c. */
#ifndef KUGEL_FFT_RINGS_ISA_H
#define KUGEL_FFT_RINGS_ISA_H

#include "core/simd.h"
#include "fft/rings_plan.h"

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

/* v[i][j] <-> v[j][i]. */
static inline void transpose(vf64 *v)
{
  for (int i = 0; i < VLEN; i += 2) {
    SWAP1(v[i], v[i + 1])
  }
#if VLEN >= 4
  for (int i = 0; i < VLEN; i++)
    if (!(i & 2)) {
      SWAP2(v[i], v[i + 2])
    }
#endif
#if VLEN == 8
  for (int i = 0; i < 4; i++) {
    SWAP4(v[i], v[i + 4])
  }
#endif
}

void ISA_NAME(kugel__ring_dft)(const kugel__ring_length *len, const double *re, const double *im,
                               double *out_re, double *out_im, double *work);
void ISA_NAME(kugel__ring_dft_many)(const kugel__ring_length *len, int count, const double *const *re,
                                    const double *const *im, double *const *out_re, double *const *out_im,
                                    double *work);

#endif
