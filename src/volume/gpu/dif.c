/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of parts on a device: the volume of one part, its memory. */
#include "volume/gpu/dif.h"
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"

enum { DIMS = KUGEL__VOLUME_DIMS };

void kugel__dif_kernel(const kugel_volume *p, int64_t k[3])
{
  k[0] = kugel__min(p->axis[0].k, p->axis[0].length);
  k[1] = kugel__min(p->axis[1].k, p->axis[1].length);
  k[2] = p->axis[2].points;
}

// The volume of one part; tables and depths remain the plan's.
static void shape_part(const kugel_volume *p, kugel_volume *out)
{
  int64_t points = p->axis[2].points;
  kugel__volume_list all = {.count = points};
  *out = (kugel_volume){.ctx = p->ctx,
                        .ndim = p->ndim,
                        .kernels = p->kernels,
                        .stored = p->stored,
                        .depth = p->depth,
                        .plane = p->plane,
                        .planes = p->planes,
                        .shift = p->shift,
                        .opts = p->opts,
                        .f32 = p->f32,
                        .real = p->real,
                        .parts = 1,
                        .segments = 1,
                        .kept = true,
                        .scale = p->scale / p->parts,
                        .engine = KUGEL_VOLUME_RESIDENT};
  out->opts.complex_data = 1;
  out->axis[0] = p->axis[0];
  out->axis[1] = p->axis[1];
  out->axis[2] = (kugel__volume_axis){.n = points,
                                      .k = points,
                                      .m = points,
                                      .length = points,
                                      .points = points,
                                      .cyclic = true,
                                      .data = all,
                                      .results = all,
                                      .kernel = all};
}

static void measure(const kugel_volume *part, const kugel__fused *f, bool mapped, kugel__dif_bytes *b)
{
  struct kugel__volume_device places = {.map_at = {-1, -1, -1}};
  kugel__fused_span data[DIMS], results[DIMS], kernel[DIMS];
  kugel_volume one = *part;
  int64_t k[3], number = 2 * (int64_t)part->real, n = 1, m = part->kernels, all = part->stored;
  one.gpu = &places;
  kugel__fused_spans(&one, data, results);
  kugel__dif_kernel(part, k);
  for (int d = 0; d < DIMS; d++) {
    n *= part->axis[d].n;
    m *= part->axis[d].m;
    all *= k[d];
    kernel[d] = (kugel__fused_span){.held = k[d], .map = -1};
  }
  uint64_t wide = (uint64_t)number; // of the adjoint, before what a boundary extended is added up
  for (int d = 0; d < DIMS; d++) {
    data[d].held = part->axis[d].data.position ? part->axis[d].data.count : data[d].held;
    wide *= (uint64_t)data[d].held;
  }
  *b = (kugel__dif_bytes){.kernel = (uint64_t)(all * number),
                          .in = (uint64_t)(kugel__max(n, m) * number),
                          .out = (uint64_t)(kugel__max(n, m) * number),
                          .spectra = kugel__fused_spectra(f)};
  b->voxels = b->kernel > b->in ? b->kernel : b->in;
  b->work[0] = kugel__fused_work(f, data, results);
  b->work[1] = part->stored > 1 ? b->work[0] : 0;
  uint64_t kernels = kugel__fused_work(f, kernel, kernel);
  b->work[0] = b->work[0] > kernels ? b->work[0] : kernels;
  uint64_t *room = &b->work[part->stored == 1];
  if (mapped)
    *room = *room > wide ? *room : wide;
  b->moved = kugel__fused_bytes(part, f) + b->kernel + 3 * b->spectra;
}

static bool is_mapped(const kugel_volume *p)
{
  return p->axis[0].data.position || p->axis[1].data.position;
}

kugel_status kugel__dif_measure(const kugel_volume *p, kugel__dif_bytes *out)
{
  kugel_volume part;
  kugel__fused *f;
  shape_part(p, &part);
  KUGEL_TRY(kugel__fused_shape(p->ctx, &part, &f));
  measure(&part, f, is_mapped(p), out);
  kugel__fused_destroy(f);
  return KUGEL_OK;
}

uint64_t kugel__dif_device_bytes(const kugel__dif_bytes *b)
{
  return b->voxels + b->work[0] + b->work[1] + b->spectra + 4096;
}

static kugel_status make_lane(const kugel_volume *p, kugel__lane *on, kugel__dif_lane *l)
{
  kugel__dif_bytes *b = &p->dif->bytes;
  shape_part(p, &l->part);
  l->part.ctx = on->ctx;
  l->part.gpu = kugel__calloc(on->ctx, sizeof *l->part.gpu);
  KUGEL_CHECK(l->part.gpu, KUGEL_ENOMEM, "no memory for a plan");
  KUGEL_TRY(kugel__fused_create(&l->part)); // without kernels
  measure(&l->part, l->part.gpu->fused, is_mapped(p), b);
  const struct {
    uint64_t bytes;
    kugel__mem *mem;
  } there[] = {
      {b->voxels, &l->voxels}, {b->work[0], &l->work[0]}, {b->work[1], &l->work[1]}, {256, &l->counter}};
  for (size_t i = 0; i < sizeof there / sizeof *there; i++)
    if (there[i].bytes)
      KUGEL_TRY(kugel__device_alloc(on->device, (size_t)there[i].bytes, &there[i].mem->base));
  KUGEL_TRY(kugel__lane_room(
      on, &(kugel__lane_bytes){.host_in = (size_t)(b->kernel + b->in), .host_out = (size_t)b->out}));
  return kugel__device_fill(on->device, l->counter, 0, 256, NULL);
}

kugel_status kugel__dif_create(kugel_volume *p)
{
  kugel__volume_dif *d = kugel__calloc(p->ctx, sizeof *d);
  KUGEL_CHECK(d, KUGEL_ENOMEM, "no memory for a plan");
  pthread_mutex_init(&d->lock, NULL);
  p->dif = d; // what is there after a failure, destroy frees
  KUGEL_TRY(kugel__device_lanes_create(p->ctx, 2, &d->lanes));
  d->lane = kugel__calloc(p->ctx, (size_t)d->lanes->count * sizeof *d->lane);
  KUGEL_CHECK(d->lane, KUGEL_ENOMEM, "no memory for a plan");
  d->count = d->lanes->count;
  for (int i = 0; i < d->count; i++)
    KUGEL_TRY(make_lane(p, &d->lanes->lane[i], &d->lane[i]));
  KUGEL_ALLOC(p->ctx, d->kernels, (size_t)(d->bytes.kernel * (uint64_t)p->parts));
  KUGEL_TRY(kugel__dif_fold_kernels(p));
  kugel__free(p->ctx, p->copy);
  p->copy = NULL;
  return KUGEL_OK;
}

void kugel__dif_destroy(kugel_volume *p)
{
  kugel__volume_dif *d = p->dif;
  if (!d)
    return;
  for (int i = 0; i < d->count; i++) {
    kugel__dif_lane *l = &d->lane[i];
    kugel__mem all[] = {l->voxels, l->work[0], l->work[1], l->counter};
    for (int k = 0; k < 4; k++)
      kugel__device_free(d->lanes->lane[i].device, all[k].base);
    if (l->part.gpu)
      kugel__volume_device_destroy(&l->part);
  }
  kugel__free(p->ctx, d->kernels);
  kugel__free(p->ctx, d->lane);
  kugel__device_lanes_destroy(d->lanes);
  pthread_mutex_destroy(&d->lock);
  kugel__free(p->ctx, d);
}
