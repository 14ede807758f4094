/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass of an n-dimensional transform: all lines along one axis. */
#ifndef KUGEL_FFT_PASS_H
#define KUGEL_FFT_PASS_H

#include "fft/chirpline.h"
#include "fft/lines.h"
#include "fft/shortline.h"
#include "fft/trig.h"

enum { KUGEL__MAX_NDIM = 32 };

typedef struct kugel__view {
  char *data;
  int ndim;
  int64_t shape[KUGEL__MAX_NDIM], stride[KUGEL__MAX_NDIM]; /* in elements */
} kugel__view;

/* The transform of one direction along one axis. A line goes through `axis` in a lane, or on its own through
 * `brief` if its elements are adjacent, else through `line`, cosine and sine kinds between the sweeps of
 * `trig`; long ones have no axis.lanes, others may have no brief.n or line.first. */
typedef struct kugel__step {
  kugel__axis axis;
  kugel__shortline brief;
  kugel__longline line;
  kugel__chirpline chirp; /* if not `line` */
  kugel__trig trig;
} kugel__step;

/* `inverse` matters for R2C only. */
kugel_status kugel__step_create(kugel_ctx *ctx, kugel_fft_kind kind, bool inverse, int64_t n,
                                kugel__step *out);
void kugel__step_destroy(kugel_ctx *ctx, kugel__step *step);

typedef struct kugel__pass {
  const kugel__step *step;
  const kugel__view *in, *out;
  int at;       /* the axis in the views */
  bool inverse; /* C2C: exponent +; R2C: complex to real */
  bool f32;
  double scale;
} kugel__pass;

kugel_status kugel__pass_run(kugel_ctx *ctx, const kugel__pass *pass);

#endif
