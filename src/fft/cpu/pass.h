/* SPDX-License-Identifier: BSD-3-Clause */
/* One pass of an n-dimensional transform: all lines along one axis. */
#ifndef KUGEL_FFT_CPU_PASS_H
#define KUGEL_FFT_CPU_PASS_H

#include "fft/cpu/chirpline.h"
#include "fft/cpu/lines.h"
#include "fft/cpu/shortline.h"
#include "fft/cpu/trig.h"

enum { KUGEL__MAX_NDIM = 32 };

typedef struct kugel__view {
  char *data;
  int ndim;
  int64_t shape[KUGEL__MAX_NDIM], stride[KUGEL__MAX_NDIM]; /* in elements */
} kugel__view;

/* The transform of one direction along one axis: what the solvers (fft/solvers.def) that apply have prepared. Those
 * that do not apply have left their members 0. */
typedef struct kugel__step {
  kugel__axis axis;       /* full_lanes */
  kugel__shortline brief; /* short_lines */
  kugel__longline line;   /* long_lines, of cosine and sine kinds with: */
  kugel__trig trig;
  kugel__chirpline chirp; /* chirp_lines */
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
