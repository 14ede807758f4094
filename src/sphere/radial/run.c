/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution of arrays of maps: unobserved pixels, precision, where it runs. */
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/grid/grid.h"
#include "sphere/grid/mapops.h"
#include "sphere/radial/radial.h"
#include "sphere/radial/ranks.h"
#include "sphere/radial/blocks_gpu.h"
#include "sphere/radial/gpu.h"

/* A batch of maps: those with the mask of the map before share its convolution. */
typedef struct batch {
  const kugel_radial *p;
  char *in, *out;
  bool f32, adjoint;
  int64_t n, length; /* maps or pairs, and pixels of one */
  unsigned char *alike;
  double *level; /* [npix] to divide by, NULL: none */
} batch;

static kugel_status alike_task(void *arg, int64_t i)
{
  batch *b = arg;
  kugel__radial_io now = {.in = b->in + (i + 1) * b->length * (b->f32 ? 4 : 8), .f32 = b->f32};
  kugel__radial_io before = {.in = b->in + i * b->length * (b->f32 ? 4 : 8), .f32 = b->f32};
  int64_t k = 0;
  while (k < b->length &&
         kugel__bad_pixel(kugel__radial_pixel(&now, k)) == kugel__bad_pixel(kugel__radial_pixel(&before, k)))
    k++;
  b->alike[i + 1] = k == b->length;
  return KUGEL_OK;
}

static kugel_status run_batch(const batch *b, double *keep)
{
  for (int64_t k = 0; k < b->n; k++) {
    int64_t at = k * b->length * (b->f32 ? 4 : 8);
    kugel__radial_io io = {.in = b->in + at, .out = b->out + at, .f32 = b->f32, .adjoint = b->adjoint};
    io.level = b->level;
    io.seen = b->level;
    io.least = kugel__radial_level_least(b->p);
    io.keep = keep;
    io.kept = keep && b->alike[k];
    kugel__span outer = kugel__progress_enter((double)k / (double)b->n, (double)(k + 1) / (double)b->n);
    kugel_status s = kugel__radial_rings(b->p, &io, 0, kugel__radial_outputs(b->p));
    kugel__progress_leave(outer);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}

static kugel_status run_masked(batch *b)
{
  kugel_ctx *ctx = b->p->ctx;
  double *keep = kugel__scratch_get(ctx, (size_t)b->p->grid->npix * 8);
  b->alike = kugel__calloc(ctx, (size_t)b->n);
  kugel_status s = KUGEL_OK;
  if (!keep || !b->alike)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the mask of %lld pixels", (long long)b->p->grid->npix);
  kugel__progress_stage(0, 0.01, "convolution"); /* before any map is replaced */
  if (!s)
    s = kugel__parallel(ctx, b->n - 1, alike_task, b);
  if (!s)
    s = run_batch(b, keep);
  kugel__free(ctx, b->alike);
  kugel__scratch_put(ctx, keep);
  return s;
}

/* After the level, unless there is none, or it is known. */
static kugel_status run_levelled(batch *b)
{
  if (b->p->led) // each rank has its part of the level
    return run_batch(b, NULL);
  double before = kugel__radial_level_ready(b->p) ? 0 : 1 / (double)(b->n + 1);
  kugel__span outer = kugel__progress_enter(0, before);
  kugel_status s = kugel__radial_level_get(b->p, &b->level);
  kugel__progress_leave(outer);
  outer = kugel__progress_enter(before, 1);
  if (!s)
    s = run_batch(b, NULL);
  kugel__progress_leave(outer);
  return s;
}

static kugel_status run(const kugel_radial *p, const kugel_array *in, const kugel_array *out, bool adjoint,
                        kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_radial_create");
  if (p->dist)
    return kugel__radial_dist_run(p, in, out, adjoint);
  KUGEL_CHECK(in, KUGEL_EINVAL, "in is NULL: pass an array");
  KUGEL_CHECK(!adjoint || !p->opts.normalise_mask, KUGEL_ENOTSUP,
              "division by the convolved mask has no adjoint here: make a plan without normalise_mask");
  KUGEL_CHECK(!adjoint || !p->opts.nparts, KUGEL_ENOTSUP,
              "a kernel of %lld displaced parts has no adjoint here: make plans of its parts",
              (long long)p->opts.nparts);
  bool f32 = kugel__dtype_is(in->dtype, KUGEL_F32);
  int64_t maps = p->opts.spin ? 2 : 1, shape[2] = {maps, p->grid->npix}, n = -1;
  kugel_device device = {0};
  if (p->gpu || p->blocks)
    device = p->gpu ? kugel__radial_gpu_device(p) : kugel__radial_blocks_device(p);
  const kugel_device *also = p->gpu || p->blocks ? &device : NULL;
  KUGEL_TRY(
      kugel__array_check_on(also, in, "in", f32 ? KUGEL_F32 : KUGEL_F64, (int)maps, shape + 2 - maps, &n));
  KUGEL_TRY(
      kugel__array_check_on(also, out, "out", f32 ? KUGEL_F32 : KUGEL_F64, (int)maps, shape + 2 - maps, &n));
  bool same_memory =
      in->device.type == out->device.type && (in->device.type != KUGEL_OPENCL || in->data == out->data);
  if (same_memory && kugel__array_data(in) != kugel__array_data(out))
    KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
  if (p->gpu)
    return kugel__radial_gpu_run(p, in, out, f32, n, adjoint, queue);
  KUGEL_TRY(kugel__queue_join(kugel__ctx_device(p->ctx), queue));
  if (p->blocks) {
    double *level = NULL;
    if (adjoint)
      KUGEL_TRY(kugel__radial_level_get(p, &level));
    return kugel__radial_blocks_run(p, in, out, f32, n, adjoint, level);
  }
  batch b = {.p = p, .f32 = f32, .adjoint = adjoint, .n = n, .length = maps * shape[1]};
  b.in = kugel__array_data(in);
  b.out = kugel__array_data(out);
  return p->opts.normalise_mask && n > 1 ? run_masked(&b) : run_levelled(&b);
}

kugel_status kugel_radial_execute(const kugel_radial *p, const kugel_array *in, const kugel_array *out,
                                  kugel_queue *queue)
{
  return run(p, in, out, false, queue);
}

kugel_status kugel_radial_adjoint(const kugel_radial *p, const kugel_array *in, const kugel_array *out,
                                  kugel_queue *queue)
{
  return run(p, in, out, true, queue);
}
