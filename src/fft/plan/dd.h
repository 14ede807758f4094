/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of double-double arrays: how arrays of pairs of doubles are seen, and plans on the CPU. */
#ifndef KUGEL_FFT_PLAN_DD_H
#define KUGEL_FFT_PLAN_DD_H

#include "fft/cpu/ddline.h"
#include "fft/plan/hooks.h"

/* An array whose elements are pairs, double-double or complex: `array` without its last extent, which must be
 * 2, strides in pairs. Of the dtype of their parts. */
typedef struct kugel__pair_array {
  kugel_array array;
  int64_t shape[KUGEL__MAX_NDIM], strides[KUGEL__MAX_NDIM];
} kugel__pair_array;

kugel_status kugel__pair_array_of(const kugel_array *a, const char *name, kugel__pair_array *out);

typedef struct kugel__fft_dd kugel__fft_dd;

/* n: lengths of the transformed axes; back: the kind that inverts. */
kugel_status kugel__fft_dd_create(kugel_ctx *ctx, kugel_fft_kind kind, kugel_fft_kind back, int naxes,
                                  const int64_t *n, kugel__fft_dd **out);
void kugel__fft_dd_destroy(kugel__fft_dd *plan);

typedef struct kugel__fft_dd_call {
  bool inverse;
  const kugel__view *in, *out;
  const int *axes; /* [naxes]: those axes of the views */
  int ndim;        /* last axes of the views that are the plan's: of the hooks */
  const kugel__hooks *hooks;
  kugel__dd scale;
} kugel__fft_dd_call;

kugel_status kugel__fft_dd_run(const kugel__fft_dd *plan, const kugel__fft_dd_call *call);

#endif
