/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms over ranks with devices, one set at a time. Ranks agree before each exchange, so that a rank that fails keeps
 * none waiting. */
#include "sphere/sht/dist_gpu.h"

/* A piece's runs between the coefficients of a side and its messages. */
static kugel_status move(const kugel_sht *p, int side, int piece, int32_t out, kugel_queue *queue)
{
  const kugel__dist_gpu *q = p->gpu->ranks;
  int32_t first = (int32_t)q->begin[side][piece];
  uint32_t count = (uint32_t)(q->begin[side][piece + 1] - first);
  kugel__grid grid = {.blocks = {count, (uint32_t)p->n_map}, .threads = {256}};
  kugel__arg args[] = {KUGEL__MEM_ARG(q->coefs[side]), KUGEL__MEM_ARG(q->messages),
                       KUGEL__MEM_ARG(q->runs[side]),  KUGEL__VALUE_ARG(q->stride[side]),
                       KUGEL__VALUE_ARG(first),        KUGEL__VALUE_ARG(out)};
  return count ? kugel__launch(p->device, q->move, &grid, 6, args, queue) : KUGEL_OK;
}

/* All messages, from the side `from`. s: how this rank fared. */
static kugel_status exchange(const kugel_sht *p, kugel_status s, int from, kugel_queue *queue)
{
  const kugel__dist *d = p->dist;
  const kugel__dist_gpu *q = p->gpu->ranks;
  int to = KUGEL__DIST_PAIRS + KUGEL__DIST_ORDERS - from;
  size_t n = (size_t)d->size;
  kugel__mem place[] = {q->messages, {q->messages.base, q->messages.offset + d->most_out}};
  for (int k = 0; k < d->pieces; k++) {
    const size_t *table = d->messages + (size_t)k * 4 * n,
                 *send = table + (from == KUGEL__DIST_PAIRS ? 2 * n : 0),
                 *recv = table + (from == KUGEL__DIST_PAIRS ? 0 : 2 * n);
    kugel__wire_job job = {place[from], place[to], send, send + n, recv, recv + n};
    s = s ? s : move(p, from, k, 1, queue);
    s = kugel__wire_exchange(q->wire, s, &job, queue);
    if (s && d->comm->settled)
      return s;
    s = s ? s : move(p, to, k, 0, queue);
  }
  return s;
}

static kugel_status legendre(const kugel_sht *p, const kugel__gpu_side *alm, const kugel__gpu_how *how,
                             bool adjoint, kugel_queue *queue)
{
  const kugel__sht_gpu *g = p->gpu;
  kugel__leg_gpu_job job = {.alm = alm->mem,
                            .leg = g->ranks->coefs[KUGEL__DIST_ORDERS],
                            .work = g->work,
                            .alm_at = alm->at,
                            .f32 = alm->f32,
                            .accumulate = how->accumulate};
  if (!g->leg)
    return KUGEL_OK;
  return adjoint ? kugel__leg_gpu_adjoint(g->leg, &job, queue) : kugel__leg_gpu_synth(g->leg, &job, queue);
}

static kugel_status rings(const kugel_sht *p, const kugel__gpu_side *map, const kugel__gpu_how *how,
                          bool adjoint, kugel_queue *queue)
{
  const kugel__sht_gpu *g = p->gpu;
  const kugel__dist_gpu *q = g->ranks;
  kugel__rings_gpu_job job = {.leg = q->coefs[KUGEL__DIST_PAIRS],
                              .map = map->mem,
                              .work = g->work,
                              .row = q->row[KUGEL__DIST_PAIRS],
                              .map_at = map->at,
                              .maps = p->n_map,
                              .leg_stride = q->stride[KUGEL__DIST_PAIRS],
                              .map_stride = p->npix,
                              .f32 = map->f32,
                              .check = how->check,
                              .bad = g->bad};
  if (how->weighted)
    job.weight = (kugel__mem){g->weight.base, (size_t)p->dist->cut[p->dist->rank] * 16};
  if (!g->rings)
    return KUGEL_OK;
  return adjoint ? kugel__rings_gpu_adjoint(g->rings, &job, queue)
                 : kugel__rings_gpu_synth(g->rings, &job, queue);
}

kugel_status kugel__dist_gpu_forward(const kugel_sht *p, const kugel__gpu_side *alm,
                                     const kugel__gpu_side *map, const kugel__gpu_how *how,
                                     kugel_queue *queue)
{
  KUGEL_TRY(exchange(p, legendre(p, alm, how, false, queue), KUGEL__DIST_ORDERS, queue));
  return rings(p, map, how, false, queue);
}

/* Bad pixels of this rank's part are a failure of all ranks. */
static kugel_status checked_rings(const kugel_sht *p, const kugel__gpu_side *map, const kugel__gpu_how *how,
                                  kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  int32_t bad = 0;
  if (how->check != 2)
    return rings(p, map, how, true, queue);
  KUGEL_TRY(kugel__device_fill(g->device, g->bad, 0, sizeof bad, queue));
  KUGEL_TRY(rings(p, map, how, true, queue));
  KUGEL_TRY(kugel__device_copy(g->device, KUGEL__DOWNLOAD, (kugel__mem){&bad, 0}, g->bad, sizeof bad, queue));
  KUGEL_TRY(g->device->ops->wait(queue));
  KUGEL_CHECK(!bad, KUGEL_EINVAL,
              "the maps have %d NaN, infinite or UNSEEN pixels: mask them, or set opts.bad_pixels", bad);
  return KUGEL_OK;
}

kugel_status kugel__dist_gpu_back(const kugel_sht *p, const kugel__gpu_side *map, const kugel__gpu_side *alm,
                                  const kugel__gpu_how *how, kugel_queue *queue)
{
  KUGEL_TRY(exchange(p, checked_rings(p, map, how, queue), KUGEL__DIST_PAIRS, queue));
  return legendre(p, alm, how, true, queue);
}
