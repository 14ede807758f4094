/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan of transforms holds. */
#ifndef KUGEL_FFT_PLAN_PLAN_H
#define KUGEL_FFT_PLAN_PLAN_H

#include "codegen/bundle.h"
#include "fft/plan/extent.h"
#include "fft/plan/dd.h"
#include "fft/gpu/gpu.h"
#include "fft/plan/hooks.h"
#include "fft/cpu/pass.h"
#include "fft/plan/slabs.h"

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
  kugel__slabs *slabs; // with opts.comm
  kugel__fft_dd *dd;   // of double-double arrays on the CPU, instead of the steps
};

/* kugel_fft_create with all kernels from a bundle, unless that is NULL. */
kugel_status kugel__fft_create_from(kugel_ctx *ctx, int ndim, const int64_t *n, const kugel_fft_opts *opts,
                                    const kugel__bundle *from, kugel_fft **out);

// Whether one step does both directions.
static inline bool kugel__own_inverse(kugel_fft_kind kind)
{
  return kugel__inverse_kind(kind) == kind && kind != KUGEL_FFT_R2C;
}

static inline bool kugel__is_half(const kugel_fft *p)
{
  return p->opts.precision == KUGEL_PRECISION_F16;
}

// Whether transforms are of floats.
static inline bool kugel__is_single(const kugel_fft *p)
{
  return p->opts.precision == KUGEL_PRECISION_F32 || kugel__is_half(p);
}

static inline bool kugel__is_dd(const kugel_fft *p)
{
  return p->opts.precision == KUGEL_PRECISION_DD;
}

#endif
