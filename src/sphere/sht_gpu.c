/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan on a device owns one set of work memory. Executions from several threads queue one after another:
 * each waits, on the device, for the event that the last one left. */
#include <pthread.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "fft/rings_gpu.h"
#include "sphere/leg_gpu.h"
#include "sphere/sht_gpu.h"

struct kugel__sht_gpu {
  kugel__device *device;
  kugel__leg_gpu *leg;
  kugel__rings_gpu *rings;
  kugel__mem coefs, work, weight, bad; // Fourier coefficients; [npairs][2] weights or NULL; an int32
  bool covered;                        // every pixel is on a ring
  pthread_mutex_t lock;
  kugel__event *last;  // under the lock: of the latest execution,
  kugel__mem alm, map; // and copies of host arrays, made when first needed
};

/* One set of alm or maps: on the device, or in host memory with a copy there. */
typedef struct side {
  kugel__mem mem;
  int64_t at;        // first element
  void *const *host; // [sets]; NULL: on the device
  bool f32;
} side;

static kugel_status room(kugel__sht_gpu *g, size_t bytes, kugel__mem *out)
{
  return out->base ? KUGEL_OK : kugel__device_alloc(g->device, kugel__max((int64_t)bytes, 64), &out->base);
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
  KUGEL_TRY(kugel__leg_gpu_create(p->ctx, p->leg, NULL, &g->leg));
  KUGEL_TRY(kugel__rings_gpu_create(p->ctx, desc, &g->rings));
  int64_t coefs = p->n_map * (p->mmax + 1) * kugel__leg_gpu_row(g->leg) * 32;
  size_t work =
      (size_t)kugel__max((int64_t)kugel__leg_gpu_work(g->leg), (int64_t)kugel__rings_gpu_work(g->rings));
  KUGEL_TRY(room(g, (size_t)coefs, &g->coefs));
  KUGEL_TRY(room(g, work, &g->work));
  return room(g, sizeof(int32_t), &g->bad);
}

kugel_status kugel__sht_gpu_weights(kugel_sht *p)
{
  kugel__sht_gpu *g = p->gpu;
  int64_t n = p->grid->npairs;
  if (!g || !p->weight_north)
    return KUGEL_OK;
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
  void *blocks[] = {g->coefs.base, g->work.base, g->weight.base, g->bad.base, g->alm.base, g->map.base};
  for (int i = 0; i < 6; i++)
    kugel__device_free(g->device, blocks[i]);
  kugel__rings_gpu_destroy(g->rings);
  kugel__leg_gpu_destroy(g->leg);
  pthread_mutex_destroy(&g->lock);
  kugel__free(p->ctx, g);
}

/* ---- one set ---- */

static kugel_status move_sets(const kugel_sht *p, const side *s, int sets, int64_t bytes, kugel__way way,
                              kugel_queue *queue)
{
  for (int c = 0; s->host && c < sets; c++) {
    kugel__mem here = {s->mem.base, s->mem.offset + (size_t)(c * bytes)}, there = {s->host[c], 0};
    KUGEL_TRY(kugel__device_copy(p->gpu->device, way, way == KUGEL__UPLOAD ? here : there,
                                 way == KUGEL__UPLOAD ? there : here, (size_t)bytes, queue));
  }
  return KUGEL_OK;
}

static int64_t alm_bytes(const kugel_sht *p, const side *alm)
{
  return p->nalm * (alm->f32 ? 8 : 16);
}

static int64_t map_bytes(const kugel_sht *p, const side *map)
{
  return p->npix * (map->f32 ? 4 : 8);
}

/* How an adjoint reads maps. */
typedef struct reading {
  bool weighted, accumulate;
  int check; // as in kugel__rings_gpu_job
} reading;

static kugel_status leg_stage(const kugel_sht *p, const side *alm, const reading *r, bool adjoint,
                              kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  kugel__leg_gpu_job job = {.alm = alm->mem,
                            .leg = g->coefs,
                            .work = g->work,
                            .alm_at = alm->at,
                            .f32 = alm->f32,
                            .accumulate = r->accumulate};
  return adjoint ? kugel__leg_gpu_adjoint(g->leg, &job, queue) : kugel__leg_gpu_synth(g->leg, &job, queue);
}

static kugel_status ring_stage(const kugel_sht *p, const side *map, const reading *r, bool adjoint,
                               kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  for (int c = 0; c < p->n_map; c++) {
    kugel__rings_gpu_job job = {.leg = g->coefs,
                                .map = map->mem,
                                .work = g->work,
                                .leg_at = c * (p->mmax + 1) * kugel__leg_gpu_row(g->leg) * 2,
                                .row = kugel__leg_gpu_row(g->leg),
                                .map_at = map->at + c * p->npix,
                                .f32 = map->f32,
                                .check = r->check,
                                .bad = g->bad};
    if (r->weighted)
      job.weight = g->weight;
    KUGEL_TRY(adjoint ? kugel__rings_gpu_adjoint(g->rings, &job, queue)
                      : kugel__rings_gpu_synth(g->rings, &job, queue));
  }
  return KUGEL_OK;
}

static kugel_status synthesis(const kugel_sht *p, const side *alm, const side *map, kugel_queue *queue)
{
  static const reading none = {0};
  KUGEL_TRY(move_sets(p, alm, p->n_alm, alm_bytes(p, alm), KUGEL__UPLOAD, queue));
  if (!p->gpu->covered)
    KUGEL_TRY(move_sets(p, map, p->n_map, map_bytes(p, map), KUGEL__UPLOAD, queue));
  KUGEL_TRY(leg_stage(p, alm, &none, false, queue));
  KUGEL_TRY(ring_stage(p, map, &none, false, queue));
  return move_sets(p, map, p->n_map, map_bytes(p, map), KUGEL__DOWNLOAD, queue);
}

static kugel_status adjoint(const kugel_sht *p, const side *alm, const side *map, const reading *r,
                            kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  int32_t bad = 0;
  KUGEL_TRY(move_sets(p, map, p->n_map, map_bytes(p, map), KUGEL__UPLOAD, queue));
  if (r->accumulate)
    KUGEL_TRY(move_sets(p, alm, p->n_alm, alm_bytes(p, alm), KUGEL__UPLOAD, queue));
  if (r->check == 2)
    KUGEL_TRY(kugel__device_fill(g->device, g->bad, 0, sizeof bad, queue));
  KUGEL_TRY(ring_stage(p, map, r, true, queue));
  if (r->check == 2) {
    KUGEL_TRY(
        kugel__device_copy(g->device, KUGEL__DOWNLOAD, (kugel__mem){&bad, 0}, g->bad, sizeof bad, queue));
    KUGEL_TRY(g->device->ops->wait(queue));
    KUGEL_CHECK(!bad, KUGEL_EINVAL,
                "the maps have %d NaN, infinite or UNSEEN pixels: mask them, or set opts.bad_pixels", bad);
  }
  KUGEL_TRY(leg_stage(p, alm, r, true, queue));
  return move_sets(p, alm, p->n_alm, alm_bytes(p, alm), KUGEL__DOWNLOAD, queue);
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

static kugel_status run(const kugel_sht *p, side *alm, side *map, bool transpose, const reading *r, bool wait,
                        kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  kugel_queue *q = queue ? queue : &g->device->queue;
  pthread_mutex_lock(&g->lock);
  kugel_status s = enter(g, q);
  if (!s && alm->host) {
    s = room(g, (size_t)(p->n_alm * p->nalm) * 16, &g->alm);
    alm->mem = g->alm;
  }
  if (!s && map->host) {
    s = room(g, (size_t)(p->n_map * p->npix) * 8, &g->map);
    map->mem = g->map;
  }
  if (!s)
    s = transpose ? adjoint(p, alm, map, r, q) : synthesis(p, alm, map, q);
  s = leave(g, q, wait || !queue || alm->host || map->host, s);
  pthread_mutex_unlock(&g->lock);
  return s;
}

/* ---- host memory ---- */

kugel_status kugel__sht_gpu_synthesis(const kugel_sht *p, const kugel__alms *alm, const kugel__maps *map)
{
  side a = {.host = alm->data, .f32 = alm->f32}, m = {.host = map->data, .f32 = map->f32};
  return run(p, &a, &m, false, NULL, true, NULL);
}

kugel_status kugel__sht_gpu_adjoint(const kugel_sht *p, const kugel__maps *map, bool weighted,
                                    const kugel__alms *alm, bool accumulate)
{
  side a = {.host = alm->data, .f32 = alm->f32}, m = {.host = map->data, .f32 = map->f32};
  reading r = {.weighted = weighted, .accumulate = accumulate};
  return run(p, &a, &m, true, &r, true, NULL);
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
  out->mem = (kugel__mem){a->data, 0};
  out->at = (int64_t)(offset / (uint64_t)bytes) + first;
  return KUGEL_OK;
}

kugel_status kugel__sht_gpu_arrays(const kugel_sht *p, const kugel_array *alm, const kugel_array *map,
                                   bool transpose, bool weighted, kugel_queue *queue)
{
  int64_t batch;
  kugel_array a = as_host(p, alm), m = as_host(p, map);
  kugel_queue *q;
  KUGEL_TRY(kugel__sht_check_shapes(p, alm ? &a : NULL, map ? &m : NULL, &batch));
  if (same_memory(alm, map))
    KUGEL_TRY(kugel__array_disjoint(alm, "alm", map, "map"));
  KUGEL_TRY(kugel__queue_of(p->gpu->device, queue, &q));
  static const int checks[] = {[KUGEL_BAD_ERROR] = 2, [KUGEL_BAD_ZERO] = 1, [KUGEL_BAD_PASS] = 0};
  reading r = {.weighted = weighted, .check = checks[p->opts.bad_pixels]};
  for (int64_t b = 0; b < batch; b++) {
    kugel__alms ha = kugel__sht_alms(p, &a, b);
    kugel__maps hm = kugel__sht_maps(p, &m, b);
    side sa = {.host = ha.data, .f32 = ha.f32}, sm = {.host = hm.data, .f32 = hm.f32};
    if (on_device(p, alm)) {
      sa.host = NULL;
      KUGEL_TRY(device_side(alm, "alm", sa.f32 ? 8 : 16, b * p->n_alm * p->nalm, &sa));
    }
    if (on_device(p, map)) {
      sm.host = NULL;
      KUGEL_TRY(device_side(map, "map", sm.f32 ? 4 : 8, b * p->n_map * p->npix, &sm));
    }
    KUGEL_TRY(run(p, &sa, &sm, transpose, &r, false, queue));
  }
  return KUGEL_OK;
}

kugel_status kugel__sht_gpu_stages(const kugel_sht *p, kugel__mem alm, kugel__mem map, bool transpose,
                                   int what, kugel_queue *queue)
{
  side a = {.mem = alm}, m = {.mem = map};
  reading r = {0};
  for (int k = 0; k < 2; k++) {
    bool rings = (k == 0) == transpose;
    if (what & (rings ? 2 : 1))
      KUGEL_TRY(rings ? ring_stage(p, &m, &r, transpose, queue) : leg_stage(p, &a, &r, transpose, queue));
  }
  return KUGEL_OK;
}
