/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms over ranks with devices, one set at a time. The Legendre stage goes by pieces of a rank's orders; while it computes one,
 * the messages of another are packed, sent and unpacked on a queue of their own, in whose order they use one room. Ranks agree
 * before each exchange, so that a rank that fails keeps none waiting. */
#include "sphere/sht/dist.h"

/* Before (from) or after the launches of a stage. */
static kugel_status mark(const kugel_sht *p, bool from, kugel__dist_stage stage, kugel_queue *queue)
{
  kugel__dist_marks *t = p->gpu->ranks->marks;
  int i = t ? t->count : -1;
  if (!t || (from && i == KUGEL__DIST_MARKS))
    return KUGEL_OK;
  if (from) {
    t->list[t->count++].stage = stage;
    return p->device->ops->record(queue, &t->list[i].from);
  }
  do // others may have begun since
    i--;
  while (i >= 0 && (t->list[i].stage != stage || t->list[i].to));
  return i < 0 ? KUGEL_OK : p->device->ops->record(queue, &t->list[i].to);
}

/* A piece's runs between the coefficients of a side and its messages (out: to these), or, of those that stay on this rank, between
 * own orders and own pairs. */
static kugel_status move(const kugel_sht *p, int list, int piece, int32_t out, kugel_queue *queue)
{
  const kugel__dist_stage stage = list == KUGEL__DIST_STAY ? KUGEL__DIST_OWN
                                  : out                    ? KUGEL__DIST_PACK
                                                           : KUGEL__DIST_UNPACK;
  const kugel__dist_gpu *q = p->gpu->ranks;
  bool stays = list == KUGEL__DIST_STAY;
  int side = stays ? KUGEL__DIST_ORDERS : list;
  int32_t first = (int32_t)q->begin[list][piece];
  uint32_t count = (uint32_t)(q->begin[list][piece + 1] - first);
  int64_t stride = stays ? q->stride[KUGEL__DIST_PAIRS] : 0;
  const kugel__mem *there = stays ? &q->coefs[KUGEL__DIST_PAIRS] : &q->messages;
  kugel__grid grid = {.blocks = {count, (uint32_t)p->n_map}, .threads = {256}};
  kugel__arg args[] = {KUGEL__MEM_ARG(q->coefs[side]), KUGEL__MEM_ARG(*there),
                       KUGEL__MEM_ARG(q->runs[list]),  KUGEL__VALUE_ARG(q->stride[side]),
                       KUGEL__VALUE_ARG(stride),       KUGEL__VALUE_ARG(first),
                       KUGEL__VALUE_ARG(out)};
  if (!count)
    return KUGEL_OK;
  KUGEL_TRY(mark(p, true, stage, queue));
  KUGEL_TRY(kugel__launch(p->device, q->move, &grid, 7, args, queue));
  return mark(p, false, stage, queue);
}

/* The messages of a piece, from the side `from`, queued after what q->post has. s: how this rank fared. */
static kugel_status exchange(const kugel_sht *p, kugel_status s, int from, int piece)
{
  const kugel__dist_gpu *q = p->gpu->ranks;
  int to = KUGEL__DIST_PAIRS + KUGEL__DIST_ORDERS - from;
  kugel__wire_job job = kugel__dist_gpu_job(p, from, piece);
  s = s ? s : move(p, from, piece, 1, q->post);
  s = s ? s : mark(p, true, KUGEL__DIST_EXCHANGE, q->post);
  s = kugel__wire_exchange(q->wire, s, &job, q->post);
  s = s ? s : mark(p, false, KUGEL__DIST_EXCHANGE, q->post);
  return s ? s : move(p, to, piece, 0, q->post);
}

/* The own orders of a piece; turn: of the adjoint, whose pieces follow q->post. */
static kugel_status legendre(const kugel_sht *p, const kugel__gpu_side *alm, const kugel__gpu_how *how,
                             int *turn, int piece, kugel_queue *queue)
{
  const kugel__sht_gpu *g = p->gpu;
  const kugel__dist *d = p->dist;
  int64_t first = kugel__dist_piece(d, d->rank, piece), end = kugel__dist_piece(d, d->rank, piece + 1);
  kugel__leg_gpu_job job = {.alm = alm->mem,
                            .leg = g->ranks->coefs[KUGEL__DIST_ORDERS],
                            .work = g->work,
                            .alm_at = alm->at,
                            .slot = first - d->begin[d->rank],
                            .slots = end - first,
                            .f32 = alm->f32,
                            .accumulate = how->accumulate};
  if (!job.slots)
    return KUGEL_OK;
  if (turn) {
    job.turn = turn;
    job.after = g->ranks->post;
    return kugel__leg_gpu_adjoint(g->leg, &job, queue);
  }
  KUGEL_TRY(mark(p, true, KUGEL__DIST_LEGENDRE, queue));
  KUGEL_TRY(kugel__leg_gpu_synth(g->leg, &job, queue));
  return mark(p, false, KUGEL__DIST_LEGENDRE, queue);
}

/* All ranks know of a failure; after it nothing may still run beside the queue. */
static kugel_status settle(const kugel_sht *p, kugel_status s)
{
  const kugel__dist_gpu *q = p->gpu->ranks;
  kugel_queue *queues[] = {q->other, q->post};
  s = kugel__wire_settle(q->wire, s);
  for (int i = 0; s && i < 2; i++)
    p->device->ops->wait(queues[i]);
  if (s && p->gpu->leg)
    kugel__leg_gpu_settle(p->gpu->leg);
  return s;
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
    job.weight = g->weight;
  if (!g->rings)
    return KUGEL_OK;
  KUGEL_TRY(mark(p, true, KUGEL__DIST_RINGS, queue));
  KUGEL_TRY(adjoint ? kugel__rings_gpu_adjoint(g->rings, &job, queue)
                    : kugel__rings_gpu_synth(g->rings, &job, queue));
  return mark(p, false, KUGEL__DIST_RINGS, queue);
}

/* Pieces go to two queues in turn, so that the first blocks of one run beside the last ones of that before. What stays on this rank
 * is moved behind its piece, beside the exchange. */
static kugel_status forward(const kugel_sht *p, const kugel__gpu_side *alm, const kugel__gpu_how *how,
                            kugel_queue *queue)
{
  const kugel__dist_gpu *q = p->gpu->ranks;
  kugel_queue *turns[] = {queue, q->other};
  const int pieces = p->dist->pieces;
  kugel_status s = pieces > 1 ? kugel__queue_follow(queue, q->other) : KUGEL_OK;
  s = s ? s : legendre(p, alm, how, NULL, 0, queue);
  for (int k = 0; k < pieces; k++) {
    s = s ? s : kugel__queue_follow(turns[k & 1], q->post);
    if (k + 1 < pieces) // queued before the exchange, for whose messages the host may wait
      s = s ? s : legendre(p, alm, how, NULL, k + 1, turns[(k + 1) & 1]);
    s = exchange(p, s, KUGEL__DIST_ORDERS, k);
    if (s && p->dist->comm->settled)
      return s;
    s = s ? s : move(p, KUGEL__DIST_STAY, k, 1, turns[k & 1]);
  }
  s = s || pieces < 2 ? s : kugel__queue_follow(q->other, queue);
  return s ? s : kugel__queue_follow(q->post, queue);
}

kugel_status kugel__dist_gpu_forward(const kugel_sht *p, const kugel__gpu_side *alm,
                                     const kugel__gpu_side *map, const kugel__gpu_how *how,
                                     kugel_queue *queue)
{
  KUGEL_TRY(settle(p, forward(p, alm, how, queue)));
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

/* From the last piece on, the one with the least to send: the Legendre stage waits for the first that arrives. Pieces run side by
 * side like the chunks of orders within them. */
static kugel_status back(const kugel_sht *p, const kugel__gpu_side *map, const kugel__gpu_side *alm,
                         const kugel__gpu_how *how, kugel_queue *queue)
{
  const kugel__dist_gpu *q = p->gpu->ranks;
  const int last = p->dist->pieces - 1;
  int turn = 0;
  kugel_status s = checked_rings(p, map, how, queue);
  s = s ? s : kugel__queue_follow(queue, q->post);
  s = s ? s : kugel__queue_follow(queue, q->other);
  for (int k = last; k >= 0; k--) {
    s = exchange(p, s, KUGEL__DIST_PAIRS, k);
    if (s && p->dist->comm->settled)
      return s;
    s = s ? s : move(p, KUGEL__DIST_STAY, k, 0, q->other); // beside the exchange
    s = s ? s : kugel__queue_follow(q->other, q->post);
    if (!s && k == last) { // times begin with the first message
      s = kugel__queue_follow(q->post, queue);
      s = s ? s : mark(p, true, KUGEL__DIST_LEGENDRE, queue);
    }
    s = s ? s : legendre(p, alm, how, &turn, k, queue);
  }
  s = s || !p->gpu->leg ? s : kugel__leg_gpu_end(p->gpu->leg, queue);
  s = s ? s : kugel__queue_follow(q->post, queue); // also of pieces without orders
  return s ? s : mark(p, false, KUGEL__DIST_LEGENDRE, queue);
}

kugel_status kugel__dist_gpu_back(const kugel_sht *p, const kugel__gpu_side *map, const kugel__gpu_side *alm,
                                  const kugel__gpu_how *how, kugel_queue *queue)
{
  return settle(p, back(p, map, alm, how, queue));
}
