/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that hold the first elements of each axis alone: in host memory lines are completed by zeros, or
 * cut, in a copy; on devices passes read and write what there is (kugel__window of fft/ends.h). */
#ifndef KUGEL_FFT_PLAN_EXTENT_H
#define KUGEL_FFT_PLAN_EXTENT_H

#include "fft/cpu/pass.h"

typedef struct kugel__extent {
  int64_t count[8]; /* by axis of the plan */
  bool any;         /* some are below the plan's lengths */
} kugel__extent;

/* Takes and checks opts->extent; naxes, axes: as the plan has checked them. */
kugel_status kugel__extent_take(const kugel_fft_opts *opts, int ndim, const int64_t *n, int naxes,
                                const int *axes, kugel__extent *out);

/* A scratch array like `like`, but with n along the last ndim axes, of elements of `bytes`; with `fill`, the
 * elements of `like` in zeros. Its data go back by kugel__scratch_put. */
kugel_status kugel__extent_whole(kugel_ctx *ctx, size_t bytes, const kugel__view *like, bool fill, int ndim,
                                 const int64_t *n, kugel__view *out);
/* The first elements of `from`, as many as `to` has. */
kugel_status kugel__extent_copy(kugel_ctx *ctx, size_t bytes, const kugel__view *from, const kugel__view *to);

#endif
