/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes transforms in parts: the maps of a part are copied while another part is computed. No work is running
 * when a call returns. */
#include "core/alloc.h"
#include "sphere/sht/parts.h"

enum { NARROW = 1 << 18 }; /* coefficients converted at a time on the host */

/* A transform: its items are the parts in each lane's order. */
typedef struct run {
  const kugel_sht *p;
  const kugel__gpu_sets *alm, *map;
  const kugel__gpu_how *how;
  kugel__gpu_side *local; /* [lanes] the coefficients of synthesis */
} run;

static kugel__parts_lane *lane_of(const run *r, const kugel__lane *on)
{
  return &r->p->gpu->parts->lanes[on->index];
}

static int64_t turn(const run *r, int lane, int64_t n, int way)
{
  return n < r->p->gpu->parts->lanes[lane].count[way] ? n : -1;
}

static int64_t next_forth(void *arg, int lane, int64_t n)
{
  return turn(arg, lane, n, KUGEL__FORTH);
}

static int64_t next_back(void *arg, int lane, int64_t n)
{
  return turn(arg, lane, n, KUGEL__BACK);
}

static int64_t all_turns(const kugel__parts *q, int way)
{
  int64_t all = 0;
  for (int k = 0; k < q->nlanes; k++)
    all += q->lanes[k].count[way];
  return all;
}

/* ---- maps ---- */

/* Copies the pixels of a part to or from the maps. */
static kugel_status move_maps(const run *r, kugel__lane *on, const kugel__lane_slot *slot, kugel__way way)
{
  const kugel_sht *p = r->p;
  const kugel__gpu_sets *map = r->map;
  const kugel__part *part =
      lane_of(r, on)->order[way == KUGEL__UPLOAD ? KUGEL__BACK : KUGEL__FORTH][slot->item];
  size_t width = map->device.f32 ? 4 : 8;
  for (int c = 0; c < p->n_map; c++) {
    kugel__lane_home there = {.mem = map->device.mem};
    if (map->host)
      there.host = map->host[c];
    else
      there.mem.offset += (size_t)(map->device.at + c * p->npix) * width;
    for (int64_t k = 0; k < part->nruns; k++) {
      const kugel__stretch *s = &part->runs[k];
      kugel__mem here = {slot->in.base, slot->in.offset + (size_t)(c * part->pixels + s->at) * width};
      KUGEL_TRY(kugel__lane_move(on, way, here, &there, (size_t)s->first * width, (size_t)s->count * width));
    }
  }
  return KUGEL_OK;
}

static kugel__rings_gpu_job ring_job(const run *r, const kugel__parts_lane *lane, const kugel__part *part,
                                     kugel__mem map)
{
  const kugel_sht *p = r->p;
  int64_t row = kugel__leg_gpu_row(part->leg), stride = (p->mmax + 1) * row * 2;
  kugel__rings_gpu_job job = {.leg = lane->coefs,
                              .map = map,
                              .work = {lane->space.base, (size_t)lane->leg_room},
                              .row = row,
                              .maps = p->n_map,
                              .leg_stride = stride,
                              .map_stride = part->pixels,
                              .f32 = r->map->device.f32,
                              .check = r->how->check,
                              .bad = lane->bad};
  if (r->how->weighted)
    job.weight = part->weight;
  return job;
}

/* ---- synthesis ---- */

/* Copies all sets to a lane's own memory. */
static kugel_status upload_alm(const kugel_sht *p, kugel__parts_lane *lane, const kugel__gpu_sets *alm)
{
  size_t bytes = (size_t)p->nalm * (alm->device.f32 ? 8 : 16);
  for (int c = 0; c < p->n_alm; c++)
    KUGEL_TRY(kugel__device_copy(lane->on->device, KUGEL__UPLOAD,
                                 (kugel__mem){lane->alm.base, (size_t)c * bytes},
                                 (kugel__mem){alm->host[c], 0}, bytes, lane->on->work));
  return KUGEL_OK;
}

/* Brings the coefficients to where the lanes read them. Coefficients on the first lane's device are read in
 * place. Coefficients in host memory are copied once to the first device, if devices can access each other,
 * and from there to the other devices. */
static kugel_status load_alm(const run *r)
{
  const kugel_sht *p = r->p;
  const kugel__gpu_sets *alm = r->alm;
  kugel__parts *q = p->gpu->parts;
  size_t width = alm->device.f32 ? 8 : 16, bytes = (size_t)(p->n_alm * p->nalm) * width;
  bool reach = p->gpu->device->ops->copy_peer != NULL;
  for (int k = 0; k < q->nlanes; k++) {
    kugel__parts_lane *lane = &q->lanes[k];
    bool in_place = !k && !alm->host;
    r->local[k] = in_place ? alm->device : (kugel__gpu_side){.mem = lane->alm, .f32 = alm->device.f32};
    lane->series = false;
    if (alm->host && (!k || !reach))
      KUGEL_TRY(upload_alm(p, lane, alm));
  }
  kugel__mem from = r->local[0].mem;
  from.offset += (size_t)r->local[0].at * width;
  if (q->nlanes == 1 || (alm->host && !reach))
    return KUGEL_OK;
  kugel__lane *home = q->lanes[0].on;
  KUGEL_TRY(kugel__queue_follow(home->work, home->in));
  return kugel__parts_spread(p, from, bytes);
}

static kugel_status synthesise(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  const run *r = arg;
  kugel__parts_lane *lane = lane_of(r, on);
  const kugel__part *part = lane->order[KUGEL__FORTH][slot->item];
  const kugel__gpu_side *alm = &r->local[on->index];
  kugel__leg_gpu_job job = {.alm = alm->mem,
                            .leg = lane->coefs,
                            .work = lane->space,
                            .alm_at = alm->at,
                            .f32 = alm->f32,
                            .series = &lane->series};
  KUGEL_TRY(kugel__leg_gpu_synth(part->leg, &job, on->work));
  kugel__rings_gpu_job rings = ring_job(r, lane, part, slot->in);
  return kugel__rings_gpu_synth(part->rings, &rings, on->work);
}

static kugel_status deliver(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  return move_maps(arg, on, slot, KUGEL__DOWNLOAD);
}

kugel_status kugel__parts_synthesis(const kugel_sht *p, const kugel__gpu_sets *alm,
                                    const kugel__gpu_sets *map, const kugel__gpu_how *how, kugel_queue *queue)
{
  kugel__parts *q = p->gpu->parts;
  run r = {p, alm, map, how, NULL};
  kugel__lane_job job = {.arg = &r,
                         .stage = "synthesis",
                         .count = all_turns(q, KUGEL__FORTH),
                         .next = next_forth,
                         .compute = synthesise,
                         .store = deliver,
                         .blocking = map->host || (q->nlanes > 1 && !p->gpu->device->ops->copy_peer)};
  KUGEL_TRY(p->gpu->device->ops->wait(queue));
  KUGEL_ALLOC(p->ctx, r.local, (size_t)q->nlanes * sizeof *r.local);
  kugel_status s = load_alm(&r);
  s = s ? s : kugel__device_lanes_run(q->devices, &job);
  s = kugel__device_lanes_drain(q->devices, s);
  kugel__free(p->ctx, r.local);
  return s;
}

/* ---- adjoint ---- */

static kugel_status collect(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  return move_maps(arg, on, slot, KUGEL__UPLOAD);
}

static kugel_status analyse(void *arg, kugel__lane *on, kugel__lane_slot *slot)
{
  const run *r = arg;
  kugel__parts_lane *lane = lane_of(r, on);
  const kugel__part *part = lane->order[KUGEL__BACK][slot->item];
  kugel__leg_gpu_job job = {
      .alm = lane->alm, .leg = lane->coefs, .work = lane->space, .accumulate = slot->item > 0};
  kugel__rings_gpu_job rings = ring_job(r, lane, part, slot->in);
  KUGEL_TRY(kugel__rings_gpu_adjoint(part->rings, &rings, on->work));
  return kugel__leg_gpu_adjoint(part->leg, &job, on->work);
}

static kugel_status begin_sums(const kugel_sht *p, kugel__parts_lane *lane)
{
  KUGEL_TRY(kugel__device_fill(lane->on->device, lane->bad, 0, sizeof(int32_t), lane->on->work));
  return lane->count[KUGEL__BACK] ? KUGEL_OK
                                  : kugel__device_fill(lane->on->device, lane->alm, 0,
                                                       (size_t)(p->n_alm * p->nalm) * 16, lane->on->work);
}

static kugel_status check_pixels(const kugel_sht *p)
{
  kugel__parts *q = p->gpu->parts;
  int64_t all = 0;
  for (int k = 0; k < q->nlanes; k++) {
    int32_t bad = 0;
    kugel__parts_lane *lane = &q->lanes[k];
    KUGEL_TRY(lane->on->device->ops->wait(lane->on->work));
    KUGEL_TRY(kugel__device_copy(lane->on->device, KUGEL__DOWNLOAD, (kugel__mem){&bad, 0}, lane->bad,
                                 sizeof bad, NULL));
    all += bad;
  }
  KUGEL_CHECK(!all, KUGEL_EINVAL,
              "the maps have %lld NaN, infinite or UNSEEN pixels: mask them, or set opts.bad_pixels",
              (long long)all);
  return KUGEL_OK;
}

/* Converts one set of coefficients and copies it, or adds it, to host memory. */
static kugel_status convert(const kugel_sht *p, kugel__parts_lane *home, int c, const kugel__gpu_sets *alm,
                            bool accumulate, double *room)
{
  for (int64_t at = 0; at < 2 * p->nalm; at += 2 * NARROW) {
    int64_t n = kugel__min(2 * NARROW, 2 * p->nalm - at);
    kugel__mem from = {home->alm.base, (size_t)(2 * c * p->nalm + at) * 8};
    KUGEL_TRY(kugel__device_copy(home->on->device, KUGEL__DOWNLOAD, (kugel__mem){room, 0}, from,
                                 (size_t)n * 8, home->on->work));
    KUGEL_TRY(home->on->device->ops->wait(home->on->work));
    float *narrow = (float *)alm->host[c] + at;
    double *wide = (double *)alm->host[c] + at;
    for (int64_t i = 0; i < n && alm->device.f32; i++)
      narrow[i] = (float)(room[i] + (accumulate ? (double)narrow[i] : 0));
    for (int64_t i = 0; i < n && !alm->device.f32; i++)
      wide[i] = room[i] + (accumulate ? wide[i] : 0);
  }
  return KUGEL_OK;
}

static kugel_status store_alm(const kugel_sht *p, const kugel__gpu_sets *alm, bool accumulate)
{
  kugel__parts_lane *home = &p->gpu->parts->lanes[0];
  kugel__gpu_side sums = {.mem = home->alm};
  if (!alm->host)
    return kugel__sht_gpu_combine_alms(p, 1, &sums, accumulate, &alm->device, home->on->work);
  kugel_status s = KUGEL_OK;
  double *room = NULL;
  if (accumulate || alm->device.f32)
    KUGEL_ALLOC(p->ctx, room, NARROW * 16);
  for (int c = 0; c < p->n_alm && !s; c++) {
    size_t bytes = (size_t)p->nalm * 16;
    kugel__mem from = {home->alm.base, (size_t)c * bytes}, to = {alm->host[c], 0};
    s = room ? convert(p, home, c, alm, accumulate, room)
             : kugel__device_copy(home->on->device, KUGEL__DOWNLOAD, to, from, bytes, home->on->work);
  }
  kugel__free(p->ctx, room);
  return s;
}

static kugel_status adjoint(run *r)
{
  const kugel_sht *p = r->p;
  kugel__parts *q = p->gpu->parts;
  kugel__lane_job job = {.arg = r,
                         .stage = "analysis",
                         .count = all_turns(q, KUGEL__BACK),
                         .next = next_back,
                         .load = collect,
                         .compute = analyse};
  for (int k = 0; k < q->nlanes; k++)
    KUGEL_TRY(begin_sums(p, &q->lanes[k]));
  KUGEL_TRY(kugel__device_lanes_run(q->devices, &job));
  if (r->how->check == 2)
    KUGEL_TRY(check_pixels(p));
  if (q->nlanes > 1)
    KUGEL_TRY(kugel__parts_gather(p));
  return store_alm(p, r->alm, r->how->accumulate);
}

kugel_status kugel__parts_adjoint(const kugel_sht *p, const kugel__gpu_sets *map, const kugel__gpu_sets *alm,
                                  const kugel__gpu_how *how, kugel_queue *queue)
{
  run r = {p, alm, map, how, NULL};
  KUGEL_TRY(p->gpu->device->ops->wait(queue));
  return kugel__device_lanes_drain(p->gpu->parts->devices, adjoint(&r));
}

/* ---- sets in device memory ---- */

kugel_status kugel__parts_forward(const kugel_sht *p, const kugel__gpu_side *alm, const kugel__gpu_side *map,
                                  const kugel__gpu_how *how, kugel_queue *queue)
{
  return kugel__parts_synthesis(p, &(kugel__gpu_sets){.device = *alm}, &(kugel__gpu_sets){.device = *map},
                                how, queue);
}

kugel_status kugel__parts_back(const kugel_sht *p, const kugel__gpu_side *map, const kugel__gpu_side *alm,
                               const kugel__gpu_how *how, kugel_queue *queue)
{
  return kugel__parts_adjoint(p, &(kugel__gpu_sets){.device = *map}, &(kugel__gpu_sets){.device = *alm}, how,
                              queue);
}
