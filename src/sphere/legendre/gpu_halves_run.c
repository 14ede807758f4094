/* SPDX-License-Identifier: BSD-3-Clause */
/* Batches in single precision on a device: launches of kernels/legendre_f16.cl, and of kernels/legendre_mma_adjoint.cl
 * for the pairs that it does not serve. */
#include "core/base.h"
#include "sphere/legendre/gpu_launch.h"

enum { WARP = KUGEL__LEG_GPU_WARP, PAGE = 4096 };

/* The plan as it would be of the pairs alone that are served as in double precision, before or after the others. */
static kugel__leg_gpu rest_of(const kugel__leg_gpu *p, int which)
{
  bool after = which == KUGEL__AFTER;
  const kugel__leg_halves *h = &p->halves;
  kugel__leg_gpu b = *p;
  b.tuning = h->rest_tuning;
  b.groups = h->rest[which].groups;
  b.middle = after ? h->end : h->begin;
  b.pole_strips = after ? h->end_strip : h->begin_strip;
  for (int i = 0; i < KUGEL__LEG_WAYS; i++) {
    b.tiles[i] = h->rest[which].tiles[i];
    b.pole_tiles[i] = after ? 0 : b.tiles[i];
  }
  return b;
}

// Of the pairs between, whose starts count from h->begin_strip.
static kugel__leg_shape halves_shape(const kugel__leg_gpu *p, int adjoint)
{
  const kugel__leg_halves *h = &p->halves;
  kugel__leg_shape t = kugel__leg_gpu_shape(p, adjoint);
  t.first = h->begin;
  t.npairs = h->end;
  t.pole_tiles = h->pole_tiles[adjoint];
  t.pole_strips -= h->begin_strip;
  t.tiles = h->tiles[adjoint];
  t.groups = h->groups;
  return t;
}

static kugel_status synth_rest(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job, int which,
                               kugel_queue *queue)
{
  kugel__leg_gpu view = rest_of(p, which);
  kugel__leg_shape t = kugel__leg_gpu_shape(&view, 0);
  kugel__grid grid = kugel__leg_gpu_grid(&view, 0, t.nm);
  kugel__arg args[] = {KUGEL__MEM_ARG(p->coef),   KUGEL__MEM_ARG(job->work), KUGEL__MEM_ARG(p->offsets),
                       KUGEL__MEM_ARG(p->mfac),   KUGEL__MEM_ARG(p->pairs),  KUGEL__MEM_ARG(p->mlim),
                       KUGEL__MEM_ARG(p->starts), KUGEL__MEM_ARG(job->leg),  KUGEL__LEG_SHAPE_ARG(p, t)};
  return t.tiles ? kugel__launch(p->device, p->kernels[KUGEL__LEG_GPU_SYNTH], &grid, 9, args, queue)
                 : KUGEL_OK;
}

kugel_status kugel__leg_gpu_synth_halves(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job,
                                         kugel_queue *queue)
{
  const kugel__leg_halves *h = &p->halves;
  int64_t at;
  kugel__leg_gpu_halves_work(p, &at);
  kugel__mem words = {job->work.base, job->work.offset + (size_t)kugel__leg_gpu_series_bytes(p)},
             scales = {words.base, words.offset + (size_t)at};
  kugel__leg_shape t = halves_shape(p, 0);
  kugel__grid split = {.blocks = {(uint32_t)t.nm}, .threads = {256}},
              grid = {.blocks = {(uint32_t)((t.nm * t.tiles + h->warps[0] - 1) / h->warps[0])},
                      .threads = {(uint32_t)(WARP * h->warps[0])}};
  kugel__arg to_halves[] = {KUGEL__MEM_ARG(job->work), KUGEL__MEM_ARG(p->offsets), KUGEL__MEM_ARG(words),
                            KUGEL__MEM_ARG(scales), KUGEL__LEG_SHAPE_ARG(p, t)};
  kugel__arg args[] = {KUGEL__MEM_ARG(p->coef),          KUGEL__MEM_ARG(words),     KUGEL__MEM_ARG(scales),
                       KUGEL__MEM_ARG(p->offsets),       KUGEL__MEM_ARG(p->mfac),   KUGEL__MEM_ARG(p->pairs),
                       KUGEL__MEM_ARG(p->mlim),          KUGEL__MEM_ARG(p->starts), KUGEL__MEM_ARG(job->leg),
                       KUGEL__VALUE_ARG(h->begin_strip), KUGEL__LEG_SHAPE_ARG(p, t)};
  kugel_queue *side = p->side[0] ? p->side[0] : queue;
  KUGEL_TRY(kugel__launch(p->device, h->split, &split, 5, to_halves, queue));
  KUGEL_TRY(kugel__queue_follow(queue, side)); // the rest runs beside the halves, not before
  KUGEL_TRY(kugel__launch(p->device, h->synth, &grid, 11, args, queue));
  for (int i = 0; i < 2; i++)
    KUGEL_TRY(synth_rest(p, job, i, side));
  return KUGEL_OK;
}

// The rest's sums lie behind those of the groups.
kugel_status kugel__leg_gpu_adjoint_halves(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job,
                                           const kugel__leg_parts *w, int32_t m0, int32_t orders,
                                           kugel_queue *queue)
{
  const kugel__leg_halves *h = &p->halves;
  int64_t steps = p->offset[m0 + orders] - p->offset[m0], rows = p->orders;
  kugel__mem sums[3] = {w->sums}, begun[3] = {w->begun};
  int64_t groups[2] = {h->groups, h->rest[KUGEL__BEFORE].groups},
          tables[2] = {kugel__leg_gpu_halves_groups(p), groups[1]};
  for (int i = 0; i < 2; i++) {
    sums[i + 1] = (kugel__mem){sums[i].base, sums[i].offset + (size_t)(groups[i] * steps * p->ns * 32)};
    begun[i + 1] =
        (kugel__mem){begun[i].base, begun[i].offset + (size_t)kugel__round_up(tables[i] * rows * 4, PAGE)};
  }
  for (int i = 0; i < 2; i++) {
    kugel__leg_gpu view = rest_of(p, i);
    kugel__leg_shape t = kugel__leg_gpu_shape(&view, 1);
    kugel__grid grid = kugel__leg_gpu_grid(&view, 1, orders);
    t.m0 = m0;
    t.nm = orders;
    kugel__arg args[] = {KUGEL__MEM_ARG(p->coef),   KUGEL__MEM_ARG(job->leg),    KUGEL__MEM_ARG(p->offsets),
                         KUGEL__MEM_ARG(p->mfac),   KUGEL__MEM_ARG(p->pairs),    KUGEL__MEM_ARG(p->mlim),
                         KUGEL__MEM_ARG(p->starts), KUGEL__MEM_ARG(sums[i + 1]), KUGEL__MEM_ARG(begun[i + 1]),
                         KUGEL__LEG_SHAPE_ARG(p, t)};
    if (t.tiles)
      KUGEL_TRY(kugel__launch(p->device, h->rest_adjoint, &grid, 10, args, queue));
  }
  kugel__leg_shape t = halves_shape(p, 1);
  t.m0 = m0;
  t.nm = orders;
  kugel__grid grid = {.blocks = {(uint32_t)(orders * h->groups)},
                      .threads = {(uint32_t)(WARP * h->warps[1])},
                      .shared = kugel__leg_gpu_halves_shared(p)};
  kugel__arg args[] = {KUGEL__MEM_ARG(p->coef),
                       KUGEL__MEM_ARG(job->leg),
                       KUGEL__MEM_ARG(p->offsets),
                       KUGEL__MEM_ARG(p->mfac),
                       KUGEL__MEM_ARG(p->pairs),
                       KUGEL__MEM_ARG(p->mlim),
                       KUGEL__MEM_ARG(p->starts),
                       KUGEL__MEM_ARG(w->sums),
                       KUGEL__MEM_ARG(w->begun),
                       KUGEL__MEM_ARG(begun[1]),
                       KUGEL__MEM_ARG(begun[2]),
                       KUGEL__VALUE_ARG(h->rest[KUGEL__BEFORE].groups),
                       KUGEL__VALUE_ARG(h->rest[KUGEL__AFTER].groups),
                       KUGEL__VALUE_ARG(h->begin_strip),
                       KUGEL__LEG_SHAPE_ARG(p, t)};
  return kugel__launch(p->device, h->adjoint, &grid, 15, args, queue);
}
