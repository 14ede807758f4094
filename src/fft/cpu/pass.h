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

/* Whether the bits of a line may depend on how many lines a pass has, and on strides. */
typedef enum kugel__alike {
  KUGEL__LINES_ANY = 0,
  KUGEL__LINES_ALIKE, /* not on their number: all go by the solver that suits full vectors of them */
  KUGEL__LINES_APART  /* nor on whether their elements are adjacent: as if these were not */
} kugel__alike;

typedef struct kugel__pass {
  const kugel__step *step;
  const kugel__view *in, *out;
  int at;       /* the axis in the views */
  bool inverse; /* C2C: exponent +; R2C: complex to real */
  bool f32;
  kugel__alike alike;
  double scale;
} kugel__pass;

kugel_status kugel__pass_run(kugel_ctx *ctx, const kugel__pass *pass);

#endif
