/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan on a device owns one set of work memory. Executions from several threads queue one after another:
 * each waits, on the device, for the event that the last one left. */
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "device/usage.h"
#include "sphere/parts_gpu.h"

/* One set of alm or maps: on the device, or in host memory with a copy there. */
typedef kugel__gpu_sets side;

/* What to do with alm and map. */
typedef enum verb { SYNTHESIS, ADJOINT, ANALYSIS, ANALYSIS_ADJOINT, SOLVE } verb;
typedef struct task {
  verb verb;
  kugel__gpu_how how;
  bool wait; // return when it is done, and not when it is queued
  const kugel_solve_opts *solve;
  kugel_solve_stats *stats;
} task;

static kugel_status room(kugel__sht_gpu *g, size_t bytes, kugel__mem *out)
{
  if (out->base)
    return KUGEL_OK;
  g->bytes += (uint64_t)kugel__max((int64_t)bytes, 64);
  return kugel__device_alloc(g->device, kugel__max((int64_t)bytes, 64), &out->base);
}

kugel_status kugel__sht_gpu_create(kugel_sht *p, const kugel__rings_desc *desc)
{
  kugel__device *device = kugel__ctx_device(p->ctx);
  if (device->ops->type == KUGEL_CPU)
    return KUGEL_OK;
  kugel__sht_gpu *g = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan");
  p->gpu = g;
  g->device = device;
  pthread_mutex_init(&g->lock, NULL);
  int64_t pixels = 0;
  for (int64_t i = 0; i < p->grid->nrings; i++)
    pixels += p->grid->nphi[i];
  g->covered = pixels == p->npix;
  KUGEL_TRY(room(g, sizeof(int32_t), &g->bad));
  bool parts;
  KUGEL_TRY(kugel__parts_wanted(p, &parts));
  if (parts)
    return kugel__parts_create(p, desc);
  uint64_t before, after;
  kugel__usage(device, &before, NULL);
  KUGEL_TRY(kugel__leg_gpu_create(p->ctx, p->leg, NULL, &g->leg));
  KUGEL_TRY(kugel__rings_gpu_create(p->ctx, desc, &g->rings));
  kugel__usage(device, &after, NULL);
  g->bytes += after - before;
  int64_t coefs = p->n_map * (p->mmax + 1) * kugel__leg_gpu_row(g->leg) * 32;
  size_t rings = kugel__rings_gpu_work(g->rings), leg = kugel__leg_gpu_work(g->leg);
  size_t work = leg > rings ? leg : rings;
  KUGEL_TRY(room(g, (size_t)coefs, &g->coefs));
  return room(g, work, &g->work);
}

void kugel__sht_gpu_memory(const kugel_sht *p, uint64_t *bytes, int64_t *parts)
{
  kugel__sht_gpu *g = p->gpu;
  *bytes = 0;
  *parts = 1;
  if (g && g->parts)
    kugel__parts_memory(p, bytes, parts);
  if (!g)
    return;
  pthread_mutex_lock(&g->lock);
  *bytes += g->bytes;
  pthread_mutex_unlock(&g->lock);
}

kugel_status kugel__sht_gpu_weights(kugel_sht *p)
{
  kugel__sht_gpu *g = p->gpu;
  int64_t n = p->grid->npairs;
  if (!g || !p->weight_north)
    return KUGEL_OK;
  if (g->parts)
    return kugel__parts_weights(p);
  double *t;
  KUGEL_ALLOC(p->ctx, t, (size_t)n * 16);
  for (int64_t i = 0; i < n; i++) {
    t[2 * i] = p->weight_north[i];
    t[2 * i + 1] = p->weight_south[i];
  }
  kugel_status s = room(g, (size_t)n * 16, &g->weight);
  if (!s)
    s = kugel__device_copy(g->device, KUGEL__UPLOAD, g->weight, (kugel__mem){t, 0}, (size_t)n * 16, NULL);
  kugel__free(p->ctx, t);
  return s;
}

void kugel__sht_gpu_destroy(kugel_sht *p)
{
  kugel__sht_gpu *g = p->gpu;
  if (!g)
    return;
  if (g->last) {
    g->device->ops->after(NULL, g->last);
    g->device->ops->event_free(g->last);
  }
  void *blocks[] = {g->coefs.base, g->work.base, g->weight.base,      g->bad.base,
                    g->alm.base,   g->map.base,  g->batch_coefs.base, g->batch_work.base};
  for (int i = 0; i < 8; i++)
    kugel__device_free(g->device, blocks[i]);
  kugel__sht_gpu_vectors_free(g);
  kugel__parts_destroy(p);
  kugel__rings_gpu_destroy(g->rings);
  kugel__leg_gpu_destroy(g->batch);
  kugel__leg_gpu_destroy(g->leg);
  pthread_mutex_destroy(&g->lock);
  kugel__free(p->ctx, g);
}

/* ---- one set ---- */

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

static kugel_status leg_stage(const kugel_sht *p, const kugel__gpu_side *alm, const kugel__gpu_how *how,
                              bool adjoint, kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  const kugel__leg_gpu *leg = how->maps ? g->batch : g->leg;
  kugel__leg_gpu_job job = {.alm = alm->mem,
                            .leg = how->maps ? g->batch_coefs : g->coefs,
                            .work = how->maps ? g->batch_work : g->work,
                            .alm_at = alm->at,
                            .f32 = alm->f32,
                            .accumulate = how->accumulate};
  return adjoint ? kugel__leg_gpu_adjoint(leg, &job, queue) : kugel__leg_gpu_synth(leg, &job, queue);
}

static kugel_status ring_stage(const kugel_sht *p, const kugel__gpu_side *map, const kugel__gpu_how *how,
                               bool adjoint, kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  int64_t row = kugel__leg_gpu_row(g->leg), stride = (p->mmax + 1) * row * 2;
  int maps = how->maps ? how->maps : p->n_map;
  for (int c = 0; c < maps; c += KUGEL__RINGS_GPU_MAPS) {
    kugel__rings_gpu_job job = {.leg = how->maps ? g->batch_coefs : g->coefs,
                                .map = map->mem,
                                .work = g->work,
                                .leg_at = c * stride,
                                .row = row,
                                .map_at = map->at + c * p->npix,
                                .maps = (int)kugel__min(maps - c, KUGEL__RINGS_GPU_MAPS),
                                .leg_stride = stride,
                                .map_stride = p->npix,
                                .f32 = map->f32,
                                .check = how->check,
                                .bad = g->bad};
    if (how->weighted)
      job.weight = g->weight;
    KUGEL_TRY(adjoint ? kugel__rings_gpu_adjoint(g->rings, &job, queue)
                      : kugel__rings_gpu_synth(g->rings, &job, queue));
  }
  return KUGEL_OK;
}

kugel_status kugel__sht_gpu_forward(const kugel_sht *p, const kugel__gpu_side *alm,
                                    const kugel__gpu_side *map, const kugel__gpu_how *how, kugel_queue *queue)
{
  kugel__gpu_sets a = {.device = *alm}, m = {.device = *map};
  if (p->gpu->parts)
    return kugel__parts_synthesis(p, &a, &m, how, queue);
  KUGEL_TRY(leg_stage(p, alm, how, false, queue));
  return ring_stage(p, map, how, false, queue);
}

kugel_status kugel__sht_gpu_back(const kugel_sht *p, const kugel__gpu_side *map, const kugel__gpu_side *alm,
                                 const kugel__gpu_how *how, kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  kugel__gpu_sets a = {.device = *alm}, m = {.device = *map};
  int32_t bad = 0;
  if (g->parts)
    return kugel__parts_adjoint(p, &m, &a, how, queue);
  if (how->check == 2)
    KUGEL_TRY(kugel__device_fill(g->device, g->bad, 0, sizeof bad, queue));
  KUGEL_TRY(ring_stage(p, map, how, true, queue));
  if (how->check == 2) {
    KUGEL_TRY(
        kugel__device_copy(g->device, KUGEL__DOWNLOAD, (kugel__mem){&bad, 0}, g->bad, sizeof bad, queue));
    KUGEL_TRY(g->device->ops->wait(queue));
    KUGEL_CHECK(!bad, KUGEL_EINVAL,
                "the maps have %d NaN, infinite or UNSEEN pixels: mask them, or set opts.bad_pixels", bad);
  }
  return leg_stage(p, alm, how, true, queue);
}

static kugel_status perform(const kugel_sht *p, const side *alm, const side *map, const task *t,
                            kugel_queue *queue)
{
  bool to_map = t->verb == SYNTHESIS || t->verb == ANALYSIS_ADJOINT;
  const kugel__gpu_side *a = &alm->device, *m = &map->device;
  if (to_map || t->how.accumulate)
    KUGEL_TRY(move_alm(p, alm, KUGEL__UPLOAD, queue));
  if (!to_map || !p->gpu->covered)
    KUGEL_TRY(move_map(p, map, KUGEL__UPLOAD, queue));
  KUGEL_TRY(t->verb == SYNTHESIS          ? kugel__sht_gpu_forward(p, a, m, &t->how, queue)
            : t->verb == ADJOINT          ? kugel__sht_gpu_back(p, m, a, &t->how, queue)
            : t->verb == ANALYSIS         ? kugel__gpu_analyse(p, m, a, t->how.check, queue)
            : t->verb == ANALYSIS_ADJOINT ? kugel__gpu_analyse_adjoint(p, a, m, queue)
                                          : kugel__gpu_solve(p, m, a, t->solve, t->stats, queue));
  return to_map ? move_map(p, map, KUGEL__DOWNLOAD, queue) : move_alm(p, alm, KUGEL__DOWNLOAD, queue);
}

/* Work memory is taken over from the last execution, and left with an event. */
static kugel_status enter(kugel__sht_gpu *g, kugel_queue *queue)
{
  KUGEL_TRY(kugel__device_alive(g->device));
  if (g->last) {
    KUGEL_TRY(g->device->ops->after(queue, g->last));
    g->device->ops->event_free(g->last);
    g->last = NULL;
  }
  return KUGEL_OK;
}

static kugel_status leave(kugel__sht_gpu *g, kugel_queue *queue, bool wait, kugel_status s)
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
  kugel_status s = enter(g, q);
  bool parts = g->parts && (t->verb == SYNTHESIS || t->verb == ADJOINT); // they copy for themselves
  if (!s && parts)
    s = t->verb == SYNTHESIS ? kugel__parts_synthesis(p, alm, map, &t->how, q)
                             : kugel__parts_adjoint(p, map, alm, &t->how, q);
  if (!s && !parts && alm->host) {
    s = room(g, (size_t)(p->n_alm * p->nalm) * 16, &g->alm);
    alm->device.mem = g->alm;
  }
  if (!s && !parts && map->host) {
    s = room(g, (size_t)(p->n_map * p->npix) * 8, &g->map);
    map->device.mem = g->map;
  }
  if (!s && !parts)
    s = perform(p, alm, map, t, q);
  s = leave(g, q, t->wait || !queue || alm->host || map->host, s);
  pthread_mutex_unlock(&g->lock);
  return s;
}

/* ---- host memory ---- */

kugel_status kugel__sht_gpu_synthesis(const kugel_sht *p, const kugel__alms *alm, const kugel__maps *map)
{
  side a = {.host = alm->data, .device.f32 = alm->f32}, m = {.host = map->data, .device.f32 = map->f32};
  return run(p, &a, &m, &(task){.verb = SYNTHESIS, .wait = true}, NULL);
}

kugel_status kugel__sht_gpu_adjoint(const kugel_sht *p, const kugel__maps *map, bool weighted,
                                    const kugel__alms *alm, bool accumulate)
{
  side a = {.host = alm->data, .device.f32 = alm->f32}, m = {.host = map->data, .device.f32 = map->f32};
  task t = {.verb = ADJOINT, .how = {.weighted = weighted, .accumulate = accumulate}, .wait = true};
  return run(p, &a, &m, &t, NULL);
}

/* ---- arrays ---- */

static bool on_device(const kugel_sht *p, const kugel_array *a)
{
  const kugel__device *d = p->gpu->device;
  return a && a->device.type == d->ops->type && a->device.id == d->id;
}

bool kugel__sht_gpu_wanted(const kugel_sht *p, const kugel_array *alm, const kugel_array *map)
{
  return p && p->gpu && (on_device(p, alm) || on_device(p, map));
}

static bool same_memory(const kugel_array *a, const kugel_array *b)
{
  return a->device.type == b->device.type && (a->device.type != KUGEL_OPENCL || a->data == b->data);
}

// The array as seen by the checks of host arrays.
static kugel_array as_host(const kugel_sht *p, const kugel_array *a)
{
  kugel_array view = a ? *a : (kugel_array){.data = NULL};
  if (on_device(p, a))
    view.device = (kugel_device){KUGEL_CPU, 0};
  return view;
}

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

/* Scalar maps of a batch share the recurrences: how many go together. The memory for it is taken once, if
 * there is any. */
static int maps_together(const kugel_sht *p, const task *t, int64_t batch)
{
  kugel__sht_gpu *g = p->gpu;
  int maps = kugel__leg_gpu_together(g->device);
  if (g->parts || p->opts.mode != KUGEL_SHT_SCALAR || (t->verb != SYNTHESIS && t->verb != ADJOINT) ||
      batch < maps)
    return 1;
  pthread_mutex_lock(&g->lock);
  kugel__leg_gpu *leg = g->batch;
  kugel_status s = leg ? KUGEL_OK : kugel__leg_gpu_create_batch(p->ctx, maps, g->leg, &leg);
  if (!s)
    s = room(g, (size_t)(maps * (p->mmax + 1) * kugel__leg_gpu_row(leg) * 32), &g->batch_coefs);
  if (!s)
    s = room(g, kugel__leg_gpu_work(leg), &g->batch_work);
  if (s && !g->batch)
    kugel__leg_gpu_destroy(leg);
  else
    g->batch = leg;
  pthread_mutex_unlock(&g->lock);
  return s ? 1 : maps;
}

static kugel_status run_arrays(const kugel_sht *p, const kugel_array *alm, const kugel_array *map, task t,
                               kugel_queue *queue)
{
  int64_t batch;
  kugel_array a = as_host(p, alm), m = as_host(p, map);
  kugel_queue *q;
  KUGEL_TRY(kugel__sht_check_shapes(p, alm ? &a : NULL, map ? &m : NULL, &batch));
  if (same_memory(alm, map))
    KUGEL_TRY(kugel__array_disjoint(alm, "alm", map, "map"));
  KUGEL_TRY(kugel__queue_of(p->gpu->device, queue, &q));
  static const int checks[] = {[KUGEL_BAD_ERROR] = 2, [KUGEL_BAD_ZERO] = 1, [KUGEL_BAD_PASS] = 0};
  t.how.check = checks[p->opts.bad_pixels];
  KUGEL_CHECK(t.verb != SOLVE || batch == 1, KUGEL_ESHAPE,
              "the batch is %lld, must be 1: solve one map at a time", (long long)batch);
  int together = on_device(p, alm) && on_device(p, map) ? maps_together(p, &t, batch) : 1;
  for (int64_t b = 0; b < batch; b += kugel__max(t.how.maps, 1)) {
    t.how.maps = together > 1 && b + together <= batch ? together : 0;
    kugel__alms ha = kugel__sht_alms(p, &a, b);
    kugel__maps hm = kugel__sht_maps(p, &m, b);
    side sa = {.host = ha.data, .device.f32 = ha.f32}, sm = {.host = hm.data, .device.f32 = hm.f32};
    if (on_device(p, alm))
      KUGEL_TRY(device_side(alm, "alm", ha.f32 ? 8 : 16, b * p->n_alm * p->nalm, &sa));
    if (on_device(p, map))
      KUGEL_TRY(device_side(map, "map", hm.f32 ? 4 : 8, b * p->n_map * p->npix, &sm));
    KUGEL_TRY(run(p, &sa, &sm, &t, queue));
  }
  return KUGEL_OK;
}

kugel_status kugel__sht_gpu_arrays(const kugel_sht *p, const kugel_array *alm, const kugel_array *map,
                                   bool adjoint, kugel_queue *queue)
{
  return run_arrays(p, alm, map, (task){.verb = adjoint ? ADJOINT : SYNTHESIS}, queue);
}

kugel_status kugel__sht_gpu_analysis(const kugel_sht *p, const kugel_array *alm, const kugel_array *map,
                                     bool adjoint, kugel_queue *queue)
{
  KUGEL_CHECK(
      !p->latlon, KUGEL_ENOTSUP,
      "analysis in device memory takes grids with quadrature weights to lmax = %lld: HEALPix, Gauss-Legendre "
      "or a finer grid; or pass arrays in host memory",
      (long long)p->lmax);
  return run_arrays(p, alm, map, (task){.verb = adjoint ? ANALYSIS_ADJOINT : ANALYSIS}, queue);
}

kugel_status kugel__sht_gpu_solve(const kugel_sht *p, const kugel_array *alm, const kugel_array *map,
                                  const kugel_solve_opts *opts, kugel_solve_stats *stats)
{
  return run_arrays(p, alm, map, (task){.verb = SOLVE, .solve = opts, .stats = stats}, NULL);
}

kugel_status kugel__sht_gpu_stages(const kugel_sht *p, kugel__mem alm, kugel__mem map, bool transpose,
                                   int what, kugel_queue *queue)
{
  kugel__gpu_side a = {.mem = alm}, m = {.mem = map};
  static const kugel__gpu_how plain = {.check = 0};
  KUGEL_CHECK(!p->gpu->parts, KUGEL_ENOTSUP, "stages of a plan that works in parts cannot be run alone");
  for (int k = 0; k < 2; k++) {
    bool rings = (k == 0) == transpose;
    if (what & (rings ? 2 : 1))
      KUGEL_TRY(rings ? ring_stage(p, &m, &plain, transpose, queue)
                      : leg_stage(p, &a, &plain, transpose, queue));
  }
  return KUGEL_OK;
}
