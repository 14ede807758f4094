/* SPDX-License-Identifier: BSD-3-Clause */
/* Array functions of pixels: checks, then chunks in parallel. */
#ifndef KUGEL_HEALPIX_JOB_H
#define KUGEL_HEALPIX_JOB_H

#include "core/base.h"
#include <kugel/healpix.h>

typedef struct kugel__pix_job kugel__pix_job;
struct kugel__pix_job {
  kugel_status (*part)(const kugel__pix_job *j, int64_t lo, int64_t n); /* elements [lo, lo + n) */
  int64_t nside, n, npix, step;                                         /* npix is set by the run */
  kugel_order order, to;
  const double *a, *b;
  const int64_t *p, *q, *r;
  double *out_a, *out_b;
  int64_t *out_p, *out_q, *out_r;
};

/* `in` and `out` are NULL if any array of theirs is. */
kugel_status kugel__pix_run(kugel_ctx *ctx, kugel__pix_job *j, const void *in, const void *out);

/* Fail with the first bad element of a part. */
kugel_status kugel__pix_check_pixels(const kugel__pix_job *j, int64_t lo, int64_t n);
kugel_status kugel__pix_check_angles(const kugel__pix_job *j, int64_t lo, int64_t n);

/* nside and order. */
kugel_status kugel__pix_check_nside(int64_t nside, kugel_order order);

#endif
