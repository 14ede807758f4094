/* SPDX-License-Identifier: BSD-3-Clause */
/* Weights of points by their density on devices: nufft/density.c, with the real part of complex strengths. */
#include "core/array.h"
#include "core/ctx.h"
#include "nufft/gpu.h"

enum { BLOCK = 256 };

kugel_status kugel__nufft_gpu_weights(const kugel_nufft *p, kugel__module **module)
{
  kugel__module_spec spec = {.name = "nufft/weights",
                             .defines = p->single ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n"};
  return kugel__module_get(p->ctx, &spec, module);
}

typedef struct density {
  kugel__nufft_call call;
  kugel__module *module;
  kugel__kernel *ones, *refine;
  kugel__mem c, v; /* strengths and values, [n] */
  int iterations;
  double unit;
} density;

static kugel_status iterate(density *d)
{
  kugel__nufft_call *c = &d->call;
  int64_t n = c->p->n;
  kugel__grid grid = {.blocks = {(uint32_t)((n + BLOCK - 1) / BLOCK)}, .threads = {BLOCK}};
  kugel__arg start[] = {KUGEL__MEM_ARG(d->c), KUGEL__VALUE_ARG(n)};
  KUGEL_TRY(kugel__launch(c->g->dev, d->ones, &grid, 2, start, c->queue));
  for (int i = 0; i < d->iterations; i++) {
    double scale = i == d->iterations - 1 ? d->unit : 1;
    float narrow = (float)scale;
    kugel__arg step[] = {KUGEL__MEM_ARG(d->c), KUGEL__MEM_ARG(d->v), KUGEL__VALUE_ARG(n),
                         c->p->plan->single ? KUGEL__VALUE_ARG(narrow) : KUGEL__VALUE_ARG(scale)};
    c->points.loan.mem = d->c;
    KUGEL_TRY(kugel__nufft_gpu_spread(c, 1));
    c->points.loan.mem = d->v;
    KUGEL_TRY(kugel__nufft_gpu_interpolate(c, 1));
    KUGEL_TRY(kugel__launch(c->g->dev, d->refine, &grid, 4, step, c->queue));
  }
  return KUGEL_OK;
}

/* The real parts of d->c to the caller's array. */
static kugel_status put(const density *d, const kugel_array *weights)
{
  const kugel_nufft *plan = d->call.p->plan;
  kugel__loan loan = {0};
  KUGEL_TRY(kugel__lend(d->call.g->dev, weights, KUGEL__WRITE, d->call.queue, &loan));
  int64_t two = 2;
  kugel_array from = {.data = d->c.base,
                      .byte_offset = d->c.offset,
                      .device = d->call.g->dev->info.device,
                      .ndim = 1,
                      .dtype = weights->dtype,
                      .shape = weights->shape,
                      .strides = &two},
              to = *weights;
  to.data = loan.mem.base;
  to.byte_offset = loan.mem.offset;
  to.device = from.device;
  return kugel__lend_end(1, &loan, d->call.queue,
                         kugel_array_copy(plan->ctx, &from, &to, NULL, d->call.queue));
}

static kugel_status run(density *d, const kugel_array *weights)
{
  kugel__nufft_call *c = &d->call;
  kugel__gpu_hold hold;
  void *numbers = NULL;
  int64_t half = (c->p->n + 63) / 64 * 64; // at multiples of 512 bytes, which NVIDIA's OpenCL asks for
  size_t number = c->p->plan->single ? 8 : 16, bytes = 2 * (size_t)half * number;
  KUGEL_TRY(kugel__module_kernel(d->module, "ones", &d->ones, NULL));
  KUGEL_TRY(kugel__module_kernel(d->module, "refine", &d->refine, NULL));
  KUGEL_TRY(kugel__nufft_gpu_take(c, 1, &hold));
  kugel_status s = kugel__device_scratch_get(c->g->dev, bytes, &numbers);
  d->c = (kugel__mem){numbers, 0};
  d->v = (kugel__mem){numbers, (size_t)half * number};
  if (!s)
    s = iterate(d);
  if (!s)
    s = put(d, weights);
  kugel__gpu_work_give(c->g->dev, &hold);
  kugel_status waited = c->g->dev->ops->wait(c->queue);
  kugel__device_scratch_put(c->g->dev, numbers, bytes);
  return s ? s : waited;
}

kugel_status kugel__nufft_gpu_density(const kugel_nufft_points *p, int iterations, double unit,
                                      const kugel_array *weights)
{
  density d = {.call = {.to_modes = true, .alone = true}, .iterations = iterations, .unit = unit};
  KUGEL_TRY(kugel__nufft_gpu_place(p->plan, weights, "weights"));
  kugel__nufft_gpu_start(p, &d.call);
  d.call.queue = &d.call.g->dev->queue;
  d.call.points.stride[0] = 1;
  if (p->n == 0)
    return KUGEL_OK;
  KUGEL_TRY(kugel__nufft_gpu_weights(p->plan, &d.module));
  kugel_status s = run(&d, weights);
  kugel__module_put(d.module);
  return s;
}
