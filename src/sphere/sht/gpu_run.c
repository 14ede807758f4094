/* SPDX-License-Identifier: BSD-3-Clause */
/* Executions on a device. A plan owns one set of work memory: executions from several threads queue one after
 * another, each waits, on the device, for the event that the last one left. */
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "sphere/sht/dist.h"
#include "sphere/sht/parts.h"

/* One set of alm or maps: on the device, or in host memory with a copy there. */
typedef kugel__gpu_sets side;

/* What to do with alm and map. */
typedef struct task {
  kugel__sht_verb verb;
  kugel__gpu_how how;
  bool wait; // return when it is done, and not when it is queued
  const kugel_solve_opts *solve;
  kugel_solve_stats *stats;
} task;

static kugel_status move_sets(const kugel_sht *p, const side *s, int sets, int64_t bytes, kugel__way way,
                              kugel_queue *queue)
{
  for (int c = 0; s->host && c < sets; c++) {
    kugel__mem here = {s->device.mem.base, s->device.mem.offset + (size_t)(c * bytes)},
               there = {s->host[c], 0};
    KUGEL_TRY(kugel__device_copy(p->gpu->device, way, way == KUGEL__UPLOAD ? here : there,
                                 way == KUGEL__UPLOAD ? there : here, (size_t)bytes, queue));
  }
  return KUGEL_OK;
}

static kugel_status move_alm(const kugel_sht *p, const side *alm, kugel__way way, kugel_queue *queue)
{
  return move_sets(p, alm, p->n_alm, p->nalm * (alm->device.f32 ? 8 : 16), way, queue);
}

static kugel_status move_map(const kugel_sht *p, const side *map, kugel__way way, kugel_queue *queue)
{
  return move_sets(p, map, p->n_map, p->npix * (map->device.f32 ? 4 : 8), way, queue);
}

static kugel_status perform(const kugel_sht *p, const side *alm, const side *map, const task *t,
                            kugel_queue *queue)
{
  bool to_map = t->verb == KUGEL__SHT_SYNTHESIS || t->verb == KUGEL__SHT_ANALYSIS_ADJOINT;
  const kugel__gpu_side *a = &alm->device, *m = &map->device;
  if (to_map || t->how.accumulate)
    KUGEL_TRY(move_alm(p, alm, KUGEL__UPLOAD, queue));
  if (!to_map || !p->gpu->covered)
    KUGEL_TRY(move_map(p, map, KUGEL__UPLOAD, queue));
  KUGEL_TRY(t->verb == KUGEL__SHT_SYNTHESIS          ? p->ops->forward(p, a, m, &t->how, queue)
            : t->verb == KUGEL__SHT_ADJOINT          ? p->ops->back(p, m, a, &t->how, queue)
            : t->verb == KUGEL__SHT_ANALYSIS         ? kugel__gpu_analyse(p, m, a, &t->how, queue)
            : t->verb == KUGEL__SHT_ANALYSIS_ADJOINT ? kugel__gpu_analyse_adjoint(p, a, m, queue)
                                                     : kugel__gpu_solve(p, m, a, t->solve, t->stats, queue));
  return to_map ? move_map(p, map, KUGEL__DOWNLOAD, queue) : move_alm(p, alm, KUGEL__DOWNLOAD, queue);
}

kugel_status kugel__sht_gpu_enter(kugel__sht_gpu *g, kugel_queue *queue)
{
  KUGEL_TRY(kugel__device_alive(g->device));
  if (g->last) {
    KUGEL_TRY(g->device->ops->after(queue, g->last));
    g->device->ops->event_free(g->last);
    g->last = NULL;
  }
  return KUGEL_OK;
}

kugel_status kugel__sht_gpu_leave(kugel__sht_gpu *g, kugel_queue *queue, bool wait, kugel_status s)
{
  if (wait || s) {
    kugel_status done = g->device->ops->wait(queue); // also after a failure: nothing may still be running
    return s ? s : done;
  }
  return g->device->ops->record(queue, &g->last);
}

static kugel_status run(const kugel_sht *p, side *alm, side *map, const task *t, kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  kugel_queue *q = queue ? queue : &g->device->queue;
  pthread_mutex_lock(&g->lock);
  kugel_status s = kugel__sht_gpu_enter(g, q);
  bool parts = p->ops->sets_forward &&
               (t->verb == KUGEL__SHT_SYNTHESIS || t->verb == KUGEL__SHT_ADJOINT); // they copy for themselves
  if (!s && parts)
    s = t->verb == KUGEL__SHT_SYNTHESIS ? p->ops->sets_forward(p, alm, map, &t->how, q)
                                        : p->ops->sets_back(p, map, alm, &t->how, q);
  if (!s && !parts && alm->host) {
    s = kugel__sht_gpu_room(g, (size_t)(p->n_alm * p->nalm) * 16, &g->alm);
    alm->device.mem = g->alm;
  }
  if (!s && !parts && map->host) {
    s = kugel__sht_gpu_room(g, (size_t)(p->n_map * p->npix) * 8, &g->map);
    map->device.mem = g->map;
  }
  if (!s && !parts)
    s = perform(p, alm, map, t, q);
  if (s == KUGEL_EDEVICE && g->ranks)
    kugel__wire_break(g->ranks->wire); // as other ranks do, which hear of it
  s = kugel__sht_gpu_leave(g, q, t->wait || !queue || alm->host || map->host, s);
  pthread_mutex_unlock(&g->lock);
  return s;
}

/* ---- host memory ---- */

static kugel_status synthesis(const kugel_sht *p, const kugel__alms *alm, const kugel__maps *map)
{
  side a = {.host = alm->data, .device.f32 = alm->f32}, m = {.host = map->data, .device.f32 = map->f32};
  return run(p, &a, &m, &(task){.verb = KUGEL__SHT_SYNTHESIS, .wait = true}, NULL);
}

static kugel_status adjoint(const kugel_sht *p, const kugel__maps *map, bool weighted, const kugel__alms *alm,
                            bool accumulate)
{
  side a = {.host = alm->data, .device.f32 = alm->f32}, m = {.host = map->data, .device.f32 = map->f32};
  task t = {
      .verb = KUGEL__SHT_ADJOINT, .how = {.weighted = weighted, .accumulate = accumulate}, .wait = true};
  return run(p, &a, &m, &t, NULL);
}

kugel_status kugel__sht_gpu_inverse(const kugel_sht *p, const kugel__maps *map, const kugel__alms *alm,
                                    bool accumulate)
{
  side a = {.host = alm->data, .device.f32 = alm->f32}, m = {.host = map->data, .device.f32 = map->f32};
  task t = {.verb = KUGEL__SHT_ADJOINT, .how = {.inverse = true, .accumulate = accumulate}, .wait = true};
  return run(p, &a, &m, &t, NULL);
}

kugel_status kugel__sht_gpu_inverse_adjoint(const kugel_sht *p, const kugel__alms *alm,
                                            const kugel__maps *map)
{
  side a = {.host = alm->data, .device.f32 = alm->f32}, m = {.host = map->data, .device.f32 = map->f32};
  task t = {.verb = KUGEL__SHT_SYNTHESIS, .how = {.inverse = true}, .wait = true};
  return run(p, &a, &m, &t, NULL);
}

/* ---- arrays ---- */

static kugel_status device_side(const kugel_array *a, const char *name, int64_t bytes, int64_t first,
                                side *out)
{
  uint64_t offset = a->byte_offset;
  KUGEL_CHECK(offset % (uint64_t)bytes == 0, KUGEL_EINVAL,
              "%s starts %llu bytes into its memory, must be a multiple of %lld", name,
              (unsigned long long)offset, (long long)bytes);
  out->host = NULL;
  out->device.mem = (kugel__mem){a->data, 0};
  out->device.at = (int64_t)(offset / (uint64_t)bytes) + first;
  return KUGEL_OK;
}

// The memory for batches that share their recurrences is taken once, if the plan may have so much.
static kugel_status make_batch(const kugel_sht *p, int maps)
{
  kugel__sht_gpu *g = p->gpu;
  kugel__leg_gpu *leg = NULL;
  if (g->batch)
    return KUGEL_OK;
  int64_t limit, coefs = maps * p->n_map * (p->mmax + 1) * kugel__leg_gpu_row(g->leg) * 32;
  KUGEL_TRY(kugel__parts_limit(p, &limit));
  KUGEL_TRY(kugel__leg_gpu_create_batch(p->ctx, maps, g->leg, NULL, &leg));
  kugel_status s = KUGEL_OK;
  if ((int64_t)g->bytes + coefs + (int64_t)kugel__leg_gpu_work(leg) > limit)
    s = KUGEL_ENOMEM; // one map after another
  if (!s)
    s = kugel__sht_gpu_room(g, (size_t)coefs, &g->batch_coefs);
  if (!s)
    s = kugel__sht_gpu_room(g, kugel__leg_gpu_work(leg), &g->batch_work);
  if (s)
    kugel__leg_gpu_destroy(leg);
  else
    g->batch = leg;
  return s;
}

int kugel__sht_gpu_least_together(int maps)
{
  return maps > 2 ? 3 : 2;
}

int kugel__sht_gpu_together(const kugel_sht *p, int64_t batch)
{
  kugel__sht_gpu *g = p->gpu;
  int maps = kugel__leg_gpu_together(g->device, p->leg);
  if (g->parts || g->ranks || p->connection || batch < 2 || batch < kugel__sht_gpu_least_together(maps))
    return 1;
  pthread_mutex_lock(&g->lock);
  kugel_status s = make_batch(p, maps);
  pthread_mutex_unlock(&g->lock);
  return s ? 1 : maps;
}

// How many maps of a batch go together.
static int maps_together(const kugel_sht *p, const task *t, int64_t batch)
{
  bool plain = t->verb == KUGEL__SHT_SYNTHESIS || t->verb == KUGEL__SHT_ADJOINT ||
               (t->verb == KUGEL__SHT_ANALYSIS && !p->opts.iterations && !p->pixel_weight);
  return plain ? kugel__sht_gpu_together(p, batch) : 1;
}

static kugel_status run_arrays(const kugel_sht *p, const kugel_array *alm, const kugel_array *map,
                               int64_t batch, task t, kugel_queue *queue)
{
  static const int checks[] = {[KUGEL_BAD_ERROR] = 2, [KUGEL_BAD_ZERO] = 1, [KUGEL_BAD_PASS] = 0};
  kugel_queue *q;
  KUGEL_TRY(kugel__queue_of(p->gpu->device, queue, &q));
  t.how.check = checks[p->opts.bad_pixels];
  int together = 1;
  if (kugel__sht_there(alm) && kugel__sht_there(map))
    together = maps_together(p, &t, batch);
  for (int64_t b = 0; b < batch; b += kugel__max(t.how.maps, 1)) {
    int left = (int)kugel__min(batch - b, together);
    t.how.maps = together > 1 && left >= kugel__sht_gpu_least_together(together) ? left : 0;
    kugel__alms ha = kugel__sht_alms(p, alm, b);
    kugel__maps hm = kugel__sht_maps(p, map, b);
    side sa = {.host = ha.data, .device.f32 = ha.f32}, sm = {.host = hm.data, .device.f32 = hm.f32};
    if (kugel__sht_there(alm))
      KUGEL_TRY(device_side(alm, "alm", ha.f32 ? 8 : 16, b * p->n_alm * p->nalm, &sa));
    if (kugel__sht_there(map))
      KUGEL_TRY(device_side(map, "map", hm.f32 ? 4 : 8, b * p->n_map * p->npix, &sm));
    KUGEL_TRY(run(p, &sa, &sm, &t, queue));
  }
  return KUGEL_OK;
}

static kugel_status arrays(const kugel_sht *p, kugel__sht_verb verb, const kugel_array *alm,
                           const kugel_array *map, int64_t batch, kugel_queue *queue)
{
  return run_arrays(p, alm, map, batch, (task){.verb = verb}, queue);
}

static kugel_status solve(const kugel_sht *p, const kugel_array *alm, const kugel_array *map,
                          const kugel_solve_opts *opts, kugel_solve_stats *stats, kugel_queue *queue)
{
  return run_arrays(p, alm, map, 1,
                    (task){.verb = KUGEL__SHT_SOLVE, .solve = opts, .stats = stats, .wait = true}, queue);
}

const kugel__sht_ops kugel__sht_gpu_ops = {.synthesis = synthesis,
                                           .adjoint = adjoint,
                                           .arrays = arrays,
                                           .solve = solve,
                                           .forward = kugel__sht_gpu_forward,
                                           .back = kugel__sht_gpu_back};
const kugel__sht_ops kugel__sht_dist_gpu_ops = {.synthesis = synthesis,
                                                .adjoint = adjoint,
                                                .arrays = arrays,
                                                .forward = kugel__dist_gpu_forward,
                                                .back = kugel__dist_gpu_back};
const kugel__sht_ops kugel__sht_parts_ops = {.synthesis = synthesis,
                                             .adjoint = adjoint,
                                             .arrays = arrays,
                                             .solve = solve,
                                             .forward = kugel__parts_forward,
                                             .back = kugel__parts_back,
                                             .sets_forward = kugel__parts_synthesis,
                                             .sets_back = kugel__parts_adjoint};

/* ---- by way of host memory ---- */

/* A copy of a device array in host memory, there with its numbers if it is read. */
static kugel_status to_host(const kugel_sht *p, const kugel_array *a, bool read, kugel_queue *queue,
                            kugel_array *out)
{
  size_t bytes = (size_t)kugel__array_count(a) * a->dtype.bits * a->dtype.lanes / 8;
  *out = *a;
  if (!kugel__sht_there(a))
    return KUGEL_OK;
  out->device = (kugel_device){KUGEL_CPU, 0};
  out->byte_offset = 0;
  out->data = kugel__scratch_get(p->ctx, bytes);
  KUGEL_CHECK(out->data, KUGEL_ENOMEM, "no memory for a copy of %zu bytes in host memory", bytes);
  KUGEL_TRY(read ? kugel__device_copy(p->gpu->device, KUGEL__DOWNLOAD, (kugel__mem){out->data, 0},
                                      (kugel__mem){a->data, a->byte_offset}, bytes, queue)
                 : KUGEL_OK);
  return p->gpu->device->ops->wait(queue);
}

kugel_status kugel__sht_gpu_by_host(const kugel_sht *p, kugel__sht_verb verb, const kugel_array *alm,
                                    const kugel_array *map, int64_t batch, kugel__sht_each *each, void *arg,
                                    kugel_queue *queue)
{
  bool to_map = verb == KUGEL__SHT_SYNTHESIS || verb == KUGEL__SHT_ANALYSIS_ADJOINT;
  const kugel_array *to = to_map ? map : alm;
  kugel_array a = {.data = NULL}, m = {.data = NULL}, *out = to_map ? &m : &a;
  kugel_queue *q;
  KUGEL_TRY(kugel__queue_of(p->gpu->device, queue, &q));
  kugel_status s = to_host(p, alm, to_map, q, &a);
  s = s ? s : to_host(p, map, !to_map, q, &m);
  s = s ? s : each(p, verb, &a, &m, batch, arg);
  if (!s && kugel__sht_there(to)) {
    size_t bytes = (size_t)kugel__array_count(to) * to->dtype.bits * to->dtype.lanes / 8;
    s = kugel__device_copy(p->gpu->device, KUGEL__UPLOAD, (kugel__mem){to->data, to->byte_offset},
                           (kugel__mem){out->data, 0}, bytes, q);
    kugel_status waited = p->gpu->device->ops->wait(q);
    s = s ? s : waited;
  }
  if (kugel__sht_there(alm))
    kugel__scratch_put(p->ctx, a.data);
  if (kugel__sht_there(map))
    kugel__scratch_put(p->ctx, m.data);
  return s;
}
