/* SPDX-License-Identifier: BSD-3-Clause */
/* Normal operators on devices: as on the CPU (nufft/normal.c), by FFTs that read and write the modes alone. */
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "fft/roots/roots.h"
#include "nufft/gpu.h"

enum { BLOCK = 256 };

struct kugel__nufft_gpu_normal {
  kugel_fft *fft;
  void *spectrum; /* real, of the grid of products, over its number of points */
  kugel__module *module;
  kugel__kernel *multiply;
  int64_t cells;
};

static kugel_status run(const kugel__nufft_call *c, int64_t vectors)
{
  const struct kugel__nufft_gpu_normal *g = c->p->normal->gpu;
  kugel__nufft_shaped in, out, grid;
  const bool moved = c->p->plan->fft_order;
  kugel__mem spectrum = {g->spectrum, 0};
  kugel__grid blocks = {.blocks = {(uint32_t)((g->cells + BLOCK - 1) / BLOCK), (uint32_t)vectors},
                        .threads = {BLOCK}};
  kugel__arg args[] = {KUGEL__MEM_ARG(c->grid), KUGEL__MEM_ARG(spectrum), KUGEL__VALUE_ARG(g->cells)};
  kugel_array *from = moved ? kugel__nufft_shape(c, c->box, vectors, c->n, &in)
                            : kugel__nufft_view(c, &c->points, vectors, c->n, &in),
              *to = moved ? from : kugel__nufft_view(c, &c->modes, vectors, c->n, &out);
  kugel__nufft_shape(c, c->grid, vectors, c->fine, &grid);
  if (moved)
    KUGEL_TRY(kugel__nufft_reorder(c, &c->points, vectors, false));
  KUGEL_TRY(kugel_fft_execute(g->fft, KUGEL_FORWARD, from, &grid.a, c->queue));
  KUGEL_TRY(kugel__launch(c->g->dev, g->multiply, &blocks, 3, args, c->queue));
  KUGEL_TRY(kugel_fft_execute(g->fft, KUGEL_INVERSE, &grid.a, to, c->queue));
  return moved ? kugel__nufft_reorder(c, &c->modes, vectors, true) : KUGEL_OK;
}

/* ---- creation ---- */

static kugel_array there(const kugel_nufft *plan, void *memory, int ndim, const int64_t *n)
{
  return (kugel_array){.data = memory,
                       .device = plan->gpu->dev->info.device,
                       .ndim = ndim,
                       .dtype = KUGEL_C128,
                       .shape = (int64_t *)(uintptr_t)n};
}

/* Of [n...] differences to the grid: difference d stands at d + (n - 1) / 2, which a phase undoes. */
static kugel_status make_spectrum_fft(const kugel_nufft *plan, const int64_t *n, const int64_t *fine,
                                      kugel_fft **out)
{
  double *phase, cells = 1;
  kugel_array factor[3];
  kugel_fft_hook hooks[3];
  int64_t numbers = 0;
  for (int d = 0; d < plan->ndim; d++) {
    numbers += 2 * fine[d];
    cells *= (double)fine[d];
  }
  KUGEL_ALLOC(plan->ctx, phase, numbers * (int64_t)sizeof *phase);
  double *at = phase;
  for (int d = 0; d < plan->ndim; at += 2 * fine[d], d++) {
    kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(n[d] / 2, fine[d]), fine[d], at, 1);
    factor[d] = (kugel_array){.data = at,
                              .device = {KUGEL_CPU, 0},
                              .ndim = 1,
                              .dtype = KUGEL_C128,
                              .shape = (int64_t *)(uintptr_t)&fine[d]};
    hooks[d] = (kugel_fft_hook){KUGEL_FORWARD, 1, d, &factor[d]};
  }
  kugel_fft_opts f = {
      .size = sizeof f, .nhooks = plan->ndim, .hooks = hooks, .extent = n, .forward_scale = 1 / cells};
  kugel_status s = kugel_fft_create(plan->ctx, plan->ndim, fine, &f, out);
  kugel__free(plan->ctx, phase);
  return s;
}

/* The real part of the transform of q, as the plan's reals. */
static kugel_status fill_spectrum(const kugel_nufft *plan, kugel_fft *fft, void *q, const int64_t *n,
                                  void *grid, const int64_t *fine, struct kugel__nufft_gpu_normal *g)
{
  kugel_array differences = there(plan, q, plan->ndim, n), whole = there(plan, grid, plan->ndim, fine);
  int64_t two = 2;
  kugel_array reals = there(plan, grid, 1, &g->cells), out = there(plan, g->spectrum, 1, &g->cells);
  reals.dtype = KUGEL_F64;
  reals.strides = &two;
  out.dtype = plan->single ? KUGEL_F32 : KUGEL_F64;
  KUGEL_TRY(kugel_fft_execute(fft, KUGEL_FORWARD, &differences, &whole, NULL));
  return kugel_array_copy(plan->ctx, &reals, &out, NULL, NULL);
}

static kugel_status make_spectrum(const kugel_nufft *plan, kugel_nufft_points *wide,
                                  const kugel_array *weights, const int64_t *n, const int64_t *fine,
                                  struct kugel__nufft_gpu_normal *g)
{
  kugel__device *dev = plan->gpu->dev;
  void *strengths = NULL, *q = NULL, *grid = NULL;
  kugel_fft *fft = NULL;
  int64_t count = 1;
  for (int d = 0; d < plan->ndim; d++)
    count *= n[d];
  kugel_status s = kugel__device_alloc(dev, (size_t)count * 16, &q);
  kugel_array c = *weights, differences = there(plan, q, plan->ndim, n);
  if (!s && weights->device.type != KUGEL_CPU && wide->n) {
    s = kugel__device_alloc(dev, (size_t)wide->n * 16, &strengths);
    c = there(plan, strengths, 1, &wide->n);
    if (!s)
      s = kugel_array_copy(plan->ctx, weights, &c, NULL, NULL);
  }
  if (!s)
    s = kugel_nufft_execute(wide, &c, &differences, NULL);
  kugel__device_free(dev, strengths);
  if (!s)
    s = make_spectrum_fft(plan, n, fine, &fft);
  if (!s)
    s = kugel__device_alloc(dev, (size_t)g->cells * 16, &grid);
  if (!s)
    s = fill_spectrum(plan, fft, q, n, grid, fine, g);
  kugel_fft_destroy(fft);
  kugel__device_free(dev, grid);
  kugel__device_free(dev, q);
  return s;
}

void kugel__nufft_gpu_normal_destroy(const kugel_nufft *plan, struct kugel__nufft_gpu_normal *g)
{
  if (!g)
    return;
  kugel_fft_destroy(g->fft);
  kugel__device_free(plan->gpu->dev, g->spectrum);
  kugel__module_put(g->module);
  kugel__free(plan->ctx, g);
}

kugel_status kugel__nufft_gpu_normal(kugel_nufft_points *p, kugel_nufft_points *wide,
                                     const kugel_array *weights, const int64_t *n)
{
  const kugel_nufft *plan = p->plan;
  struct kugel__nufft_gpu_normal *g = p->normal->gpu = kugel__calloc(plan->ctx, sizeof *g);
  int64_t own[3], *fine = p->normal->fine;
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for an operator");
  p->normal->run_gpu = run;
  g->cells = 1;
  for (int d = 0; d < plan->ndim; d++) {
    own[d] = plan->axis[d].n;
    fine[d] = kugel_fft_good_size(n[d]);
    g->cells *= fine[d];
  }
  KUGEL_CHECK(g->cells <= (int64_t)BLOCK << 31, KUGEL_ENOTSUP,
              "the operator's grid has %lld points, must be at most 2^39 on a device: use fewer modes",
              (long long)g->cells);
  KUGEL_TRY(kugel__nufft_gpu_weights(plan, &g->module));
  KUGEL_TRY(kugel__module_kernel(g->module, "multiply", &g->multiply, NULL));
  kugel_fft_opts f = {
      .size = sizeof f, .precision = plan->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64, .extent = own};
  KUGEL_TRY(kugel_fft_create(plan->ctx, plan->ndim, fine, &f, &g->fft));
  KUGEL_TRY(kugel__device_alloc(plan->gpu->dev, (size_t)g->cells * (plan->single ? 4 : 8), &g->spectrum));
  return make_spectrum(plan, wide, weights, n, fine, g);
}
