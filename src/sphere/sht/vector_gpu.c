/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors of maps and alms on a device, by kernels/vector.cl. */
#include "sphere/sht/gpu_plan.h"

enum { THREADS = 256, BLOCKS = KUGEL__VECTOR_BLOCKS };

/* The struct of the kernels' text. */
typedef struct vector_args {
  int64_t n, x_at, y_at, weight_period;
  double a, b;
  int32_t x_f32, y_f32;
  int64_t single;
} vector_args;

static const kugel__grid grid = {.blocks = {BLOCKS}, .threads = {THREADS}};

static kugel_status load(const kugel_sht *p)
{
  kugel__sht_gpu *g = p->gpu;
  kugel__module_spec spec = {.name = "sphere/sht/vector"};
  if (g->clean)
    return KUGEL_OK;
  if (!g->module)
    KUGEL_TRY(kugel__module_get(p->ctx, &spec, &g->module));
  KUGEL_TRY(kugel__module_kernel(g->module, "combine", &g->combine, NULL));
  KUGEL_TRY(kugel__module_kernel(g->module, "dot_product", &g->dot, NULL));
  return kugel__module_kernel(g->module, "clean", &g->clean, NULL);
}

kugel_status kugel__sht_gpu_vector(const kugel_sht *p, kugel__gpu_vector which, kugel__gpu_side *out)
{
  kugel__sht_gpu *g = p->gpu;
  kugel__mem *v = &g->vectors[which];
  bool alm = which >= KUGEL__GPU_ALM && which <= KUGEL__GPU_ALM3;
  int64_t n = which == KUGEL__GPU_PARTIAL        ? BLOCKS
              : which == KUGEL__GPU_PIXEL_WEIGHT ? p->npix
              : alm                              ? 2 * p->n_alm * p->nalm
                                                 : p->n_map * p->npix;
  KUGEL_TRY(load(p));
  if (!v->base)
    KUGEL_TRY(kugel__device_alloc(g->device, (size_t)kugel__max(n * 8, 64), &v->base)); // ranks may have none
  *out = (kugel__gpu_side){.mem = *v};
  return KUGEL_OK;
}

void kugel__sht_gpu_vectors_free(kugel__sht_gpu *g)
{
  for (int i = 0; i < KUGEL__GPU_VECTORS; i++)
    kugel__device_free(g->device, g->vectors[i].base);
  kugel__module_put(g->module);
}

static kugel_status combine(const kugel_sht *p, vector_args t, const kugel__gpu_side *x,
                            const kugel__gpu_side *y, const kugel__mem *weight, kugel_queue *queue)
{
  t.x_f32 = x->f32;
  t.y_f32 = y->f32;
  kugel__arg args[] = {KUGEL__MEM_ARG(x->mem), KUGEL__MEM_ARG(y->mem), KUGEL__MEM_ARG(*weight),
                       KUGEL__VALUE_ARG(t)};
  return kugel__launch(p->gpu->device, p->gpu->combine, &grid, 4, args, queue);
}

kugel_status kugel__sht_gpu_combine_maps(const kugel_sht *p, double a, const kugel__gpu_side *x, double b,
                                         const kugel__gpu_side *y, kugel_queue *queue)
{
  vector_args t = {.n = p->n_map * p->npix, .x_at = x->at, .y_at = y->at, .a = a, .b = b};
  return combine(p, t, x, y, &y->mem, queue);
}

kugel_status kugel__sht_gpu_combine_alms(const kugel_sht *p, double a, const kugel__gpu_side *x, double b,
                                         const kugel__gpu_side *y, kugel_queue *queue)
{
  vector_args t = {.n = 2 * p->n_alm * p->nalm, .x_at = 2 * x->at, .y_at = 2 * y->at, .a = a, .b = b};
  KUGEL_TRY(load(p));
  return combine(p, t, x, y, &y->mem, queue);
}

kugel_status kugel__vector_gpu_load(kugel_ctx *ctx, kugel__module **module, kugel__kernel **add)
{
  KUGEL_TRY(kugel__module_get(ctx, &(kugel__module_spec){.name = "sphere/sht/vector"}, module));
  return kugel__module_kernel(*module, "combine", add, NULL);
}

kugel_status kugel__vector_gpu_add(kugel__device *device, kugel__kernel *add, int64_t n, kugel__mem x,
                                   kugel__mem y, kugel_queue *queue)
{
  vector_args t = {.n = n, .a = 1, .b = 1};
  kugel__arg args[] = {KUGEL__MEM_ARG(x), KUGEL__MEM_ARG(y), KUGEL__MEM_ARG(y), KUGEL__VALUE_ARG(t)};
  return kugel__launch(device, add, &grid, 4, args, queue);
}

kugel_status kugel__sht_gpu_scale_maps(const kugel_sht *p, const kugel__gpu_side *weight, bool same,
                                       const kugel__gpu_side *x, const kugel__gpu_side *y, kugel_queue *queue)
{
  vector_args t = {.n = p->n_map * p->npix, .x_at = x->at, .y_at = y->at, .a = 1};
  t.weight_period = same ? p->npix : t.n;
  return combine(p, t, x, y, &weight->mem, queue);
}

static kugel_status dot(const kugel_sht *p, vector_args t, const kugel__gpu_side *x, double *out,
                        kugel_queue *queue)
{
  kugel__gpu_side partial;
  double sums[BLOCKS];
  KUGEL_TRY(kugel__sht_gpu_vector(p, KUGEL__GPU_PARTIAL, &partial));
  kugel__arg args[] = {KUGEL__MEM_ARG(x->mem), KUGEL__MEM_ARG(x->mem), KUGEL__MEM_ARG(partial.mem),
                       KUGEL__VALUE_ARG(t)};
  KUGEL_TRY(kugel__launch(p->gpu->device, p->gpu->dot, &grid, 4, args, queue));
  KUGEL_TRY(kugel__device_copy(p->gpu->device, KUGEL__DOWNLOAD, (kugel__mem){sums, 0}, partial.mem,
                               sizeof sums, queue));
  KUGEL_TRY(p->gpu->device->ops->wait(queue));
  *out = 0;
  for (int i = 0; i < BLOCKS; i++)
    *out += sums[i];
  return KUGEL_OK;
}

kugel_status kugel__sht_gpu_dot_maps(const kugel_sht *p, const kugel__gpu_side *x, double *out,
                                     kugel_queue *queue)
{
  int64_t n = p->n_map * p->npix;
  return dot(p, (vector_args){.n = n, .weight_period = n, .single = n}, x, out, queue);
}

kugel_status kugel__sht_gpu_dot_alms(const kugel_sht *p, const kugel__gpu_side *x, double *out,
                                     kugel_queue *queue)
{
  vector_args t = {.n = 2 * p->n_alm * p->nalm, .weight_period = 2 * p->nalm, .single = 2 * (p->lmax + 1)};
  return dot(p, t, x, out, queue);
}

kugel_status kugel__sht_gpu_clean(const kugel_sht *p, const kugel__gpu_side *x, const kugel__gpu_side *y,
                                  const kugel__gpu_side *good, kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  int32_t bad = 0;
  vector_args t = {.n = p->n_map * p->npix, .x_at = x->at, .y_at = y->at, .x_f32 = x->f32};
  if (p->opts.bad_pixels == KUGEL_BAD_PASS)
    return kugel__sht_gpu_combine_maps(p, 1, x, 0, y, queue);
  KUGEL_TRY(kugel__device_fill(g->device, g->bad, 0, sizeof bad, queue));
  kugel__arg args[] = {KUGEL__MEM_ARG(x->mem), KUGEL__MEM_ARG(y->mem), KUGEL__MEM_ARG(good->mem),
                       KUGEL__MEM_ARG(g->bad), KUGEL__VALUE_ARG(t)};
  KUGEL_TRY(kugel__launch(g->device, g->clean, &grid, 5, args, queue));
  if (p->opts.bad_pixels == KUGEL_BAD_ZERO)
    return KUGEL_OK;
  KUGEL_TRY(kugel__device_copy(g->device, KUGEL__DOWNLOAD, (kugel__mem){&bad, 0}, g->bad, sizeof bad, queue));
  KUGEL_TRY(g->device->ops->wait(queue));
  KUGEL_CHECK(!bad, KUGEL_EINVAL,
              "the maps have %d NaN, infinite or UNSEEN pixels: mask them, or set opts.bad_pixels", bad);
  return KUGEL_OK;
}
