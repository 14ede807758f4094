/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan of transforms holds. */
#ifndef KUGEL_FFT_PLAN_H
#define KUGEL_FFT_PLAN_H

#include "codegen/bundle.h"
#include "fft/extent.h"
#include "fft/fft_dd.h"
#include "fft/fft_gpu.h"
#include "fft/hooks.h"
#include "fft/pass.h"

enum { KUGEL__FFT_DIMS = 8 };

struct kugel_fft {
  kugel_ctx *ctx;
  kugel_fft_opts opts;
  int ndim, naxes;
  int64_t n[KUGEL__FFT_DIMS];
  int axes[KUGEL__FFT_DIMS];
  kugel__step forward[KUGEL__FFT_DIMS],
      inverse[KUGEL__FFT_DIMS]; // by position in axes; inverse: if not the same
  kugel__hooks hooks;
  kugel__extent extent;
  kugel__fft_gpu *gpu; // of a context on a device, instead of the steps
  kugel__fft_dd *dd;   // of double-double arrays on the CPU, instead of the steps
};

/* kugel_fft_create with all kernels from a bundle, unless that is NULL. */
kugel_status kugel__fft_create_from(kugel_ctx *ctx, int ndim, const int64_t *n, const kugel_fft_opts *opts,
                                    const kugel__bundle *from, kugel_fft **out);

static inline kugel_fft_kind kugel__inverse_kind(kugel_fft_kind kind)
{
  static const kugel_fft_kind inverse[] = {KUGEL_FFT_C2C,  KUGEL_FFT_R2C,  KUGEL_FFT_DCT1, KUGEL_FFT_DCT3,
                                           KUGEL_FFT_DCT2, KUGEL_FFT_DCT4, KUGEL_FFT_DST1, KUGEL_FFT_DST3,
                                           KUGEL_FFT_DST2, KUGEL_FFT_DST4};
  return inverse[kind];
}

// Whether one step does both directions.
static inline bool kugel__own_inverse(kugel_fft_kind kind)
{
  return kugel__inverse_kind(kind) == kind && kind != KUGEL_FFT_R2C;
}

static inline bool kugel__is_half(const kugel_fft *p)
{
  return p->opts.precision == KUGEL_FFT_F16;
}

static inline bool kugel__is_dd(const kugel_fft *p)
{
  return p->opts.precision == KUGEL_FFT_DD;
}

#endif
