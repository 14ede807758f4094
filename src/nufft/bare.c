/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans that are parts of others: points on a grid without FFT, or modes on a grid without points. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "nufft/plan.h"

static kugel_status lay_out(kugel_nufft *p, const kugel__nufft_bare *b)
{
  for (int d = 0; d < b->ndim; d++) {
    kugel__nufft_axis *a = &p->axis[d];
    a->n = b->n[d];
    a->fine = b->fine[d];
    kugel__nufft_set_period(a, b->period[d]);
    KUGEL_ALLOC(p->ctx, a->scale, a->n * (int64_t)sizeof *a->scale);
    for (int64_t i = 0; i < a->n; i++)
      a->scale[i] = 1;
  }
  return kugel__nufft_finish(p, b->ffts);
}

kugel_status kugel__nufft_bare_create(kugel_ctx *ctx, const kugel__nufft_bare *b, kugel_nufft **out)
{
  kugel_nufft *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  atomic_init(&p->references, 1);
  p->ndim = b->ndim;
  p->single = b->single;
  p->real = b->real;
  p->fft_order = b->fft_order;
  p->to_modes = true;
  p->sign = KUGEL_INVERSE;
  p->kernel.width = 1;
  if (b->kernel)
    p->kernel = *b->kernel;
  kugel_status s = lay_out(p, b);
  if (s) {
    kugel_nufft_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}
