/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans on devices: the stages' own plans, kernels/torus.cl. */
#include <math.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/lend.h"
#include "sphere/points/gpu.h"

static kugel_status load(kugel_sht_points_plan *p)
{
  struct kugel__points_gpu *g = p->gpu;
  kugel__module_spec spec = {.name = "sphere/points/torus",
                             .defines = p->single ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n"};
  KUGEL_TRY(kugel__module_get(p->ctx, &spec, &g->torus));
  KUGEL_TRY(kugel__module_kernel(g->torus, "extend", &g->extend, NULL));
  KUGEL_TRY(kugel__module_kernel(g->torus, "fold", &g->fold, NULL));
  KUGEL_TRY(kugel__module_kernel(g->torus, "to_values", &g->to_values, NULL));
  return kugel__module_kernel(g->torus, "from_values", &g->from_values, NULL);
}

static kugel_status make_transforms(kugel_sht_points_plan *p)
{
  const kugel_precision precision = p->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64;
  const double scale = 1 / (double)p->circle;
  kugel_fft_opts f = {
      .size = sizeof f, .precision = precision, .forward_scale = scale, .inverse_scale = scale};
  KUGEL_TRY(kugel_fft_create(p->ctx, 1, &p->circle, &f, &p->fft));
  /* Half the tolerance, as on the CPU. */
  kugel_nufft_opts o = {.size = sizeof o,
                        .type = KUGEL_NUFFT_TO_POINTS,
                        .sign = KUGEL_INVERSE,
                        .precision = precision,
                        .tolerance = fmax(p->single ? 5e-7 : 1e-14, 0.5 * p->tolerance)};
  return kugel_nufft_create(p->ctx, 2, (int64_t[]){p->mmax + 1, p->circle}, &o, &p->nufft);
}

kugel_status kugel__points_gpu_create(kugel_sht_points_plan *p)
{
  struct kugel__points_gpu *g = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan");
  p->gpu = g;
  g->dev = kugel__ctx_device(p->ctx);
  kugel__gpu_work_init(&g->work);
  KUGEL_TRY(kugel__leg_gpu_create(p->ctx, p->leg, NULL, &g->leg));
  g->row = kugel__leg_gpu_row(g->leg);
  const int64_t orders = p->n_map * (p->mmax + 1);
  g->coefs = (size_t)(orders * g->row) * 32;
  g->leg_work = kugel__leg_gpu_work(g->leg);
  g->grid = (size_t)(orders * p->circle) * (p->single ? 8 : 16);
  KUGEL_TRY(load(p));
  return make_transforms(p);
}

void kugel__points_gpu_destroy(kugel_sht_points_plan *p)
{
  struct kugel__points_gpu *g = p->gpu;
  if (!g)
    return;
  kugel__gpu_work_free(g->dev, &g->work);
  kugel__module_put(g->torus);
  kugel__leg_gpu_destroy(g->leg);
  kugel__free(p->ctx, g);
}

uint64_t kugel__points_gpu_bytes(const kugel_sht_points_plan *p)
{
  const struct kugel__points_gpu *g = p->gpu;
  return g->coefs + g->leg_work + g->grid;
}

kugel_status kugel__points_gpu_lend(const kugel_sht_points_plan *p, const kugel_array *a, const char *name,
                                    int use, int64_t bytes, kugel_queue *queue, kugel__loan *loan,
                                    int64_t *at)
{
  KUGEL_TRY(kugel__lend(p->gpu->dev, a, use, queue, loan));
  KUGEL_CHECK(loan->mem.offset % (uint64_t)bytes == 0, KUGEL_EINVAL,
              "%s starts %llu bytes into its memory, must be a multiple of %lld", name,
              (unsigned long long)loan->mem.offset, (long long)bytes);
  *at = (int64_t)(loan->mem.offset / (uint64_t)bytes);
  loan->mem.offset = 0;
  return KUGEL_OK;
}

kugel_status kugel__points_gpu_read(kugel__device *dev, kugel__mem from, void *to, size_t bytes,
                                    kugel_queue *queue)
{
  KUGEL_TRY(kugel__device_copy(dev, KUGEL__DOWNLOAD, (kugel__mem){to, 0}, from, bytes, queue));
  return dev->ops->wait(queue);
}
