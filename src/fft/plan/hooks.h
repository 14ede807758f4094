/* SPDX-License-Identifier: BSD-3-Clause */
/* Factors that a plan multiplies elements by as they are read and results by as they are written: in host
 * memory by sweeps before and after the transform, on devices within its kernels (fft/ends.c). */
#ifndef KUGEL_FFT_PLAN_HOOKS_H
#define KUGEL_FFT_PLAN_HOOKS_H

#include <kugel/fft.h>
#include "fft/cpu/pass.h"

enum { KUGEL__HOOK_AXES = 8, KUGEL__READ_HOOK = 0, KUGEL__WRITE_HOOK = 1 };

/* factor[inverse][write][axis of the plan]: as many complex numbers as that side of the transform has
 * elements along the axis; NULL: none. */
typedef struct kugel__hooks {
  double *factor[2][2][KUGEL__HOOK_AXES];
  bool any;
} kugel__hooks;

/* Checks and copies; several hooks of one place multiply. n, axes: as the plan has checked them. */
kugel_status kugel__hooks_create(kugel_ctx *ctx, const kugel_fft_opts *opts, int ndim, const int64_t *n,
                                 int naxes, const int *axes, kugel__hooks *out);
void kugel__hooks_destroy(kugel_ctx *ctx, kugel__hooks *hooks);

/* Whether transforms of a direction have any that read or write. */
bool kugel__hooks_has(const kugel__hooks *hooks, bool inverse, int write);

/* out = in times factors: views of the same shape, whose last ndim axes are the plan's; may be the same. */
kugel_status kugel__hooks_apply(kugel_ctx *ctx, const kugel__hooks *hooks, bool inverse, int write, int ndim,
                                kugel_dtype type, const kugel__view *in, const kugel__view *out);

#endif
