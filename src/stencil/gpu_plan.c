/* SPDX-License-Identifier: BSD-3-Clause */
/* What a stencil's plan has on a device. */
#include <string.h>
#include "core/alloc.h"
#include "stencil/gpu.h"

/* Coefficients go to the device, the copies here end: the addresses in the sides are names that nobody follows. */
static kugel_status move_coefficients(kugel_stencil *p)
{
  const size_t bytes = (size_t)p->nodes * (p->single ? 4 : 8);
  size_t count = 0;
  for (int t = 0; t < p->nterms; t++)
    count += p->coefficients[t] != NULL;
  if (!count)
    return KUGEL_OK;
  KUGEL_TRY(kugel__device_alloc(p->gpu->dev, count * bytes, &p->gpu->coefficients));
  size_t at = 0;
  for (int t = 0; t < p->nterms; t++)
    if (p->coefficients[t]) {
      KUGEL_TRY(kugel__device_copy(p->gpu->dev, KUGEL__UPLOAD, (kugel__mem){p->gpu->coefficients, at},
                                   (kugel__mem){p->coefficients[t], 0}, bytes, NULL));
      at += bytes;
      kugel__free(p->ctx, p->coefficients[t]);
      p->coefficients[t] = NULL;
    }
  return KUGEL_OK;
}

static kugel_status make_kernels(kugel_stencil *p)
{
  struct kugel__stencil_gpu *g = p->gpu;
  kugel__module_spec spec = {.name = "stencil/edge",
                             .defines = p->single ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n"};
  kugel__kernel **kernel[] = {&g->edge, &g->exchange, &g->negate, &g->corrections, &g->correct};
  static const char *const name[] = {"edge", "exchange", "negate", "corrections", "correct"};
  KUGEL_TRY(kugel__module_get(p->ctx, &spec, &g->module));
  for (int i = 0; i < 5; i++)
    KUGEL_TRY(kugel__module_kernel(g->module, name[i], kernel[i], NULL));
  for (int side = 0; side < 2 && !p->compact; side++)
    KUGEL_TRY(kugel__stencil_gpu_side_make(p, &p->side[side], &g->side[side]));
  return p->compact ? kugel__stencil_gpu_compact_make(p) : kugel__stencil_gpu_leap_make(p);
}

kugel_status kugel__stencil_gpu_create(kugel_stencil *p)
{
  struct kugel__stencil_gpu *g = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan");
  p->gpu = g;
  kugel__gpu_work_init(&g->work);
  kugel__gpu_work_init(&g->field);
  kugel__gpu_work_init(&g->lines);
  pthread_mutex_init(&g->lock, NULL);
  g->dev = kugel__ctx_device(p->ctx);
  KUGEL_CHECK(
      p->single || g->dev->info.fp64, KUGEL_ENOTSUP,
      "%s has no double precision: use precision KUGEL_PRECISION_F32 or a context with device \"cpu\"",
      g->dev->info.name);
  KUGEL_CHECK(
      !g->dev->miscompiles, KUGEL_ENOTSUP,
      "%s: PoCL 5 compiles kernels of stencils to wrong code: install PoCL 6.0 or later, or use device "
      "\"cpu\"",
      g->dev->info.name);
  KUGEL_TRY(make_kernels(p));
  return move_coefficients(p);
}

void kugel__stencil_gpu_destroy(kugel_stencil *p)
{
  struct kugel__stencil_gpu *g = p->gpu;
  if (!g)
    return;
  kugel__stencil_gpu_leap_free(p);
  pthread_mutex_destroy(&g->lock);
  kugel__stencil_gpu_compact_free(p);
  for (int side = 0; side < 2; side++)
    kugel__stencil_gpu_side_free(p, &g->side[side]);
  kugel__device_free(g->dev, g->coefficients);
  kugel__module_put(g->module);
  kugel__gpu_work_free(g->dev, &g->work);
  kugel__gpu_work_free(g->dev, &g->field);
  kugel__gpu_work_free(g->dev, &g->lines);
  kugel__free(p->ctx, g);
}
