/* SPDX-License-Identifier: BSD-3-Clause */
/* Real transforms of rings of unequal length, two mirrored rings at a time: Fourier coefficients <-> pixels.
 */
#ifndef KUGEL_FFT_RINGS_RINGS_H
#define KUGEL_FFT_RINGS_RINGS_H

#include "core/base.h"

typedef struct kugel__rings kugel__rings;

/* Tables of npairs entries, copied. Offset -1: that ring does not exist. */
typedef struct kugel__rings_desc {
  int64_t npairs, mmax;
  const int64_t *nphi_north, *nphi_south;     /* pixels, at least 1 */
  const double *phi0_north, *phi0_south;      /* longitude of the first pixel */
  const int64_t *offset_north, *offset_south; /* map index of the first pixel */
  const int64_t *mlim;                        /* highest m that matters, NULL: mmax; see synth and adjoint */
} kugel__rings_desc;

kugel_status kugel__rings_create(kugel_ctx *ctx, const kugel__rings_desc *desc, kugel__rings **out);
/* The same rings at the offsets and with the mlim of `desc`; lives no longer than `of`, whose tables it
 * shares. */
kugel_status kugel__rings_view(const kugel__rings *of, const kugel__rings_desc *desc, kugel__rings **out);
void kugel__rings_destroy(kugel__rings *plan);

/* Scratch memory of a call. */
int64_t kugel__rings_bytes(const kugel__rings *plan);

/* Coefficients beyond mlim of a pair are taken as zero here, and left alone by the adjoint.
 * Pairs [p0, p1): f_j = F_0 + 2 Re sum_{m > 0} F_m e^{i m phi_j}, phi_j = phi0 + 2 pi j / nphi, for m to
 * mmax, beyond the Nyquist frequency too. leg[m * m_stride + k * row + p - p0] with k = 0 ... 3: north re,
 * north im, south re, south im. */
kugel_status kugel__rings_synth(const kugel__rings *plan, int64_t p0, int64_t p1, const double *leg,
                                int64_t m_stride, int64_t row, void *map, bool f32);

/* The transpose: F_m = w sum_j f_j e^{-i m phi_j}, with w = weight_north[p] or weight_south[p], NULL: 1. */
kugel_status kugel__rings_adjoint(const kugel__rings *plan, int64_t p0, int64_t p1, const void *map, bool f32,
                                  const double *weight_north, const double *weight_south, double *leg,
                                  int64_t m_stride, int64_t row);

#endif
