/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution of transforms in parts: all lanes advance together, one part at a time; the maps of a part are
 * copied while the next one is computed. Nothing is left running when a call returns. */
#include "core/alloc.h"
#include "core/parallel.h"
#include "device/peer.h"
#include "sphere/parts_gpu_plan.h"

enum { NARROW = 1 << 18 }; /* coefficients converted at a time on the host */

/* ---- order ---- */

static kugel_status mark(kugel__lane *lane, kugel_queue *queue, kugel__event **event)
{
  lane->device->ops->event_free(*event);
  *event = NULL;
  return lane->device->ops->record(queue, event);
}

static kugel_status follow(kugel__lane *lane, kugel_queue *queue, kugel__event *event)
{
  return event ? lane->device->ops->after(queue, event) : KUGEL_OK;
}

static kugel_status finish(const kugel_sht *p, kugel_status s)
{
  kugel__parts *q = p->gpu->parts;
  for (int k = 0; k < q->nlanes; k++) {
    kugel__lane *lane = &q->lanes[k];
    kugel_queue *queues[] = {lane->work, lane->move};
    for (int i = 0; i < 2; i++) {
      kugel_status done = lane->device->ops->wait(queues[i]);
      s = s ? s : done;
    }
  }
  return s;
}

static int64_t most_parts(const kugel__parts *q, int way)
{
  int64_t most = 0;
  for (int k = 0; k < q->nlanes; k++)
    most = kugel__max(most, q->lanes[k].count[way]);
  return most;
}

static kugel_status nothing(void *arg, int64_t i, int worker)
{
  (void)arg, (void)i, (void)worker;
  return KUGEL_OK;
}

/* Reports that step i of n has been given to the devices, and asks whether to go on. */
static kugel_status report(const kugel_sht *p, int64_t i, int64_t n, const char *stage)
{
  kugel__progress_stage((double)i / (double)n, (double)(i + 1) / (double)n, stage);
  return kugel__parallel(p->ctx, 1, nothing, NULL);
}

/* ---- maps ---- */

/* Pixels of a part to the maps, or from there. */
static kugel_status move_maps(const kugel_sht *p, kugel__lane *lane, int64_t i, const kugel__gpu_sets *map,
                              kugel__way way)
{
  const kugel__part *part = lane->order[way == KUGEL__UPLOAD ? KUGEL__BACK : KUGEL__FORTH][i];
  kugel__device *home = p->gpu->device;
  size_t width = map->device.f32 ? 4 : 8;
  for (int c = 0; c < p->n_map; c++)
    for (int64_t k = 0; k < part->nruns; k++) {
      const kugel__stretch *r = &part->runs[k];
      kugel__mem here = lane->map[i % KUGEL__PART_SLOTS];
      here.offset += (size_t)(c * part->pixels + r->at) * width;
      size_t bytes = (size_t)r->count * width, first = (size_t)r->first * width;
      if (map->host) {
        kugel__mem there = {(char *)map->host[c] + first, 0};
        KUGEL_TRY(way == KUGEL__UPLOAD
                      ? kugel__device_copy(lane->device, way, here, there, bytes, lane->move)
                      : kugel__device_copy(lane->device, way, there, here, bytes, lane->move));
        continue;
      }
      kugel__mem there = map->device.mem;
      there.offset += (size_t)(map->device.at + c * p->npix) * width + first;
      KUGEL_TRY(way == KUGEL__DOWNLOAD
                    ? kugel__device_send(lane->device, here, home, there, bytes, lane->move)
                    : kugel__device_fetch(home, there, lane->device, here, bytes, lane->move));
    }
  return KUGEL_OK;
}

static kugel__rings_gpu_job ring_job(const kugel_sht *p, const kugel__lane *lane, int64_t i, bool to_leg,
                                     bool f32, const kugel__gpu_how *how)
{
  const kugel__part *part = lane->order[to_leg ? KUGEL__BACK : KUGEL__FORTH][i];
  int64_t row = kugel__leg_gpu_row(part->leg), stride = (p->mmax + 1) * row * 2;
  kugel__rings_gpu_job job = {.leg = lane->coefs,
                              .map = lane->map[i % KUGEL__PART_SLOTS],
                              .work = {lane->space.base, (size_t)lane->leg_room},
                              .row = row,
                              .maps = p->n_map,
                              .leg_stride = stride,
                              .map_stride = part->pixels,
                              .f32 = f32,
                              .check = how->check,
                              .bad = lane->bad};
  if (how->weighted)
    job.weight = part->weight;
  return job;
}

/* ---- synthesis ---- */

/* All sets to a lane's own memory. */
static kugel_status upload_alm(const kugel_sht *p, kugel__lane *lane, const kugel__gpu_sets *alm)
{
  size_t bytes = (size_t)p->nalm * (alm->device.f32 ? 8 : 16);
  for (int c = 0; c < p->n_alm; c++)
    KUGEL_TRY(kugel__device_copy(lane->device, KUGEL__UPLOAD, (kugel__mem){lane->alm.base, (size_t)c * bytes},
                                 (kugel__mem){alm->host[c], 0}, bytes, lane->work));
  return KUGEL_OK;
}

/* The coefficients as the lanes read them: in place if they are on the first one's device. From host memory
 * they go there once, if devices reach each other, and on to the others. */
static kugel_status load_alm(const kugel_sht *p, const kugel__gpu_sets *alm, kugel__gpu_side *out)
{
  kugel__parts *q = p->gpu->parts;
  size_t width = alm->device.f32 ? 8 : 16, bytes = (size_t)(p->n_alm * p->nalm) * width;
  bool reach = p->gpu->device->ops->copy_peer != NULL;
  for (int k = 0; k < q->nlanes; k++) {
    kugel__lane *lane = &q->lanes[k];
    bool in_place = !k && !alm->host;
    out[k] = in_place ? alm->device : (kugel__gpu_side){.mem = lane->alm, .f32 = alm->device.f32};
    lane->series = false;
    if (alm->host && (!k || !reach))
      KUGEL_TRY(upload_alm(p, lane, alm));
  }
  kugel__mem from = out[0].mem;
  from.offset += (size_t)out[0].at * width;
  if (q->nlanes == 1 || (alm->host && !reach))
    return KUGEL_OK;
  KUGEL_TRY(mark(q->lanes, q->lanes->work, &q->lanes->worked[0]));
  KUGEL_TRY(follow(q->lanes, q->lanes->move, q->lanes->worked[0]));
  return kugel__parts_spread(p, from, bytes);
}

static kugel_status synthesise(const kugel_sht *p, kugel__lane *lane, int64_t i, const kugel__gpu_side *alm,
                               bool f32, const kugel__gpu_how *how)
{
  const kugel__part *part = lane->order[KUGEL__FORTH][i];
  int slot = (int)(i % KUGEL__PART_SLOTS);
  kugel__leg_gpu_job job = {.alm = alm->mem,
                            .leg = lane->coefs,
                            .work = lane->space,
                            .alm_at = alm->at,
                            .f32 = alm->f32,
                            .series = &lane->series};
  KUGEL_TRY(follow(lane, lane->work, lane->moved[slot]));
  KUGEL_TRY(kugel__leg_gpu_synth(part->leg, &job, lane->work));
  kugel__rings_gpu_job rings = ring_job(p, lane, i, false, f32, how);
  KUGEL_TRY(kugel__rings_gpu_synth(part->rings, &rings, lane->work));
  return mark(lane, lane->work, &lane->worked[slot]);
}

static kugel_status deliver(const kugel_sht *p, kugel__lane *lane, int64_t i, const kugel__gpu_sets *map)
{
  int slot = (int)(i % KUGEL__PART_SLOTS);
  KUGEL_TRY(follow(lane, lane->move, lane->worked[slot]));
  KUGEL_TRY(move_maps(p, lane, i, map, KUGEL__DOWNLOAD));
  return mark(lane, lane->move, &lane->moved[slot]);
}

static kugel_status synthesis(const kugel_sht *p, const kugel__gpu_sets *alm, const kugel__gpu_sets *map,
                              const kugel__gpu_how *how, kugel__gpu_side *local)
{
  kugel__parts *q = p->gpu->parts;
  int64_t n = most_parts(q, KUGEL__FORTH);
  KUGEL_TRY(load_alm(p, alm, local));
  for (int64_t i = 0; i <= n; i++) {
    for (int k = 0; k < q->nlanes; k++)
      if (i < q->lanes[k].count[KUGEL__FORTH])
        KUGEL_TRY(synthesise(p, &q->lanes[k], i, &local[k], map->device.f32, how));
    for (int k = 0; k < q->nlanes; k++)
      if (i > 0 && i <= q->lanes[k].count[KUGEL__FORTH])
        KUGEL_TRY(deliver(p, &q->lanes[k], i - 1, map));
    KUGEL_TRY(report(p, i, n + 1, "synthesis"));
  }
  return KUGEL_OK;
}

kugel_status kugel__parts_synthesis(const kugel_sht *p, const kugel__gpu_sets *alm,
                                    const kugel__gpu_sets *map, const kugel__gpu_how *how, kugel_queue *queue)
{
  kugel__gpu_side *local;
  KUGEL_TRY(p->gpu->device->ops->wait(queue));
  KUGEL_ALLOC(p->ctx, local, (size_t)p->gpu->parts->nlanes * sizeof *local);
  kugel_status s = finish(p, synthesis(p, alm, map, how, local));
  kugel__free(p->ctx, local);
  return s;
}

/* ---- adjoint ---- */

static kugel_status collect(const kugel_sht *p, kugel__lane *lane, int64_t i, const kugel__gpu_sets *map)
{
  int slot = (int)(i % KUGEL__PART_SLOTS);
  KUGEL_TRY(follow(lane, lane->move, lane->worked[slot]));
  KUGEL_TRY(move_maps(p, lane, i, map, KUGEL__UPLOAD));
  return mark(lane, lane->move, &lane->moved[slot]);
}

static kugel_status analyse(const kugel_sht *p, kugel__lane *lane, int64_t i, bool f32,
                            const kugel__gpu_how *how)
{
  const kugel__part *part = lane->order[KUGEL__BACK][i];
  int slot = (int)(i % KUGEL__PART_SLOTS);
  kugel__leg_gpu_job job = {.alm = lane->alm, .leg = lane->coefs, .work = lane->space, .accumulate = i > 0};
  KUGEL_TRY(follow(lane, lane->work, lane->moved[slot]));
  kugel__rings_gpu_job rings = ring_job(p, lane, i, true, f32, how);
  KUGEL_TRY(kugel__rings_gpu_adjoint(part->rings, &rings, lane->work));
  KUGEL_TRY(kugel__leg_gpu_adjoint(part->leg, &job, lane->work));
  return mark(lane, lane->work, &lane->worked[slot]);
}

static kugel_status begin_sums(const kugel_sht *p, kugel__lane *lane)
{
  KUGEL_TRY(kugel__device_fill(lane->device, lane->bad, 0, sizeof(int32_t), lane->work));
  return lane->count[KUGEL__BACK]
             ? KUGEL_OK
             : kugel__device_fill(lane->device, lane->alm, 0, (size_t)(p->n_alm * p->nalm) * 16, lane->work);
}

static kugel_status check_pixels(const kugel_sht *p)
{
  kugel__parts *q = p->gpu->parts;
  int64_t all = 0;
  for (int k = 0; k < q->nlanes; k++) {
    int32_t bad = 0;
    kugel__lane *lane = &q->lanes[k];
    KUGEL_TRY(lane->device->ops->wait(lane->work));
    KUGEL_TRY(kugel__device_copy(lane->device, KUGEL__DOWNLOAD, (kugel__mem){&bad, 0}, lane->bad, sizeof bad,
                                 NULL));
    all += bad;
  }
  KUGEL_CHECK(!all, KUGEL_EINVAL,
              "the maps have %lld NaN, infinite or UNSEEN pixels: mask them, or set opts.bad_pixels",
              (long long)all);
  return KUGEL_OK;
}

/* One set of coefficients to host memory, converted or added on the way. */
static kugel_status convert(const kugel_sht *p, kugel__lane *home, int c, const kugel__gpu_sets *alm,
                            bool accumulate, double *room)
{
  for (int64_t at = 0; at < 2 * p->nalm; at += 2 * NARROW) {
    int64_t n = kugel__min(2 * NARROW, 2 * p->nalm - at);
    kugel__mem from = {home->alm.base, (size_t)(2 * c * p->nalm + at) * 8};
    KUGEL_TRY(kugel__device_copy(home->device, KUGEL__DOWNLOAD, (kugel__mem){room, 0}, from, (size_t)n * 8,
                                 home->work));
    KUGEL_TRY(home->device->ops->wait(home->work));
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
  kugel__lane *home = &p->gpu->parts->lanes[0];
  kugel__gpu_side sums = {.mem = home->alm};
  if (!alm->host)
    return kugel__sht_gpu_combine_alms(p, 1, &sums, accumulate, &alm->device, home->work);
  kugel_status s = KUGEL_OK;
  double *room = NULL;
  if (accumulate || alm->device.f32)
    KUGEL_ALLOC(p->ctx, room, NARROW * 16);
  for (int c = 0; c < p->n_alm && !s; c++) {
    size_t bytes = (size_t)p->nalm * 16;
    kugel__mem from = {home->alm.base, (size_t)c * bytes}, to = {alm->host[c], 0};
    s = room ? convert(p, home, c, alm, accumulate, room)
             : kugel__device_copy(home->device, KUGEL__DOWNLOAD, to, from, bytes, home->work);
  }
  kugel__free(p->ctx, room);
  return s;
}

static kugel_status adjoint(const kugel_sht *p, const kugel__gpu_sets *map, const kugel__gpu_sets *alm,
                            const kugel__gpu_how *how)
{
  kugel__parts *q = p->gpu->parts;
  int64_t n = most_parts(q, KUGEL__BACK);
  for (int k = 0; k < q->nlanes; k++)
    KUGEL_TRY(begin_sums(p, &q->lanes[k]));
  for (int64_t i = 0; i <= n; i++) {
    for (int k = 0; k < q->nlanes; k++)
      if (i > 0 && i <= q->lanes[k].count[KUGEL__BACK])
        KUGEL_TRY(analyse(p, &q->lanes[k], i - 1, map->device.f32, how));
    for (int k = 0; k < q->nlanes; k++)
      if (i < q->lanes[k].count[KUGEL__BACK])
        KUGEL_TRY(collect(p, &q->lanes[k], i, map));
    KUGEL_TRY(report(p, i, n + 1, "analysis"));
  }
  if (how->check == 2)
    KUGEL_TRY(check_pixels(p));
  if (q->nlanes > 1)
    KUGEL_TRY(kugel__parts_gather(p));
  return store_alm(p, alm, how->accumulate);
}

kugel_status kugel__parts_adjoint(const kugel_sht *p, const kugel__gpu_sets *map, const kugel__gpu_sets *alm,
                                  const kugel__gpu_how *how, kugel_queue *queue)
{
  KUGEL_TRY(p->gpu->device->ops->wait(queue));
  return finish(p, adjoint(p, map, alm, how));
}
