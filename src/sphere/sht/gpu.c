/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans on a device: memory, and the two stages of a transform. */
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "device/usage.h"
#include "sphere/sht/connection.h"
#include "sphere/sht/dist.h"
#include "sphere/sht/parts.h"

kugel_status kugel__sht_gpu_create(kugel_sht *p, const kugel__rings_desc *desc)
{
  kugel__device *device = p->device;
  kugel__sht_gpu *g = kugel__calloc(p->ctx, sizeof *g);
  KUGEL_CHECK(g, KUGEL_ENOMEM, "no memory for a plan");
  p->gpu = g;
  g->device = device;
  pthread_mutex_init(&g->lock, NULL);
  int64_t pixels = 0;
  for (int64_t i = 0; i < p->grid->nrings; i++)
    pixels += p->grid->nphi[i];
  g->covered = pixels == p->npix;
  KUGEL_TRY(kugel__sht_gpu_room(g, sizeof(int32_t), &g->bad));
  if (p->dist)
    return kugel__dist_gpu_create(p, desc);
  bool parts = false;
  bool connection = p->opts.engine == KUGEL_SHT_CONNECTION;
  if (!connection)
    KUGEL_TRY(kugel__parts_wanted(p, &parts));
  if (parts)
    return kugel__parts_create(p, desc);
  uint64_t before, after;
  size_t leg = 0;
  kugel__usage(device, &before, NULL);
  if (connection)
    KUGEL_TRY(kugel__connection_gpu_create(p, &leg));
  else
    KUGEL_TRY(kugel__leg_gpu_create(p->ctx, p->leg, NULL, &g->leg));
  KUGEL_TRY(kugel__rings_gpu_create(p->ctx, desc, &g->rings));
  kugel__usage(device, &after, NULL);
  g->bytes += after - before + (uint64_t)(connection ? kugel__connection_gpu_chains(p) : 0);
  leg = g->leg ? kugel__leg_gpu_work(g->leg) : leg;
  int64_t coefs = p->n_map * (p->mmax + 1) * kugel__sht_gpu_row(p) * 32;
  size_t rings = kugel__rings_gpu_work(g->rings), work = leg > rings ? leg : rings;
  KUGEL_TRY(kugel__sht_gpu_room(g, (size_t)coefs, &g->coefs));
  return kugel__sht_gpu_room(g, work, &g->work);
}

int64_t kugel__sht_gpu_row(const kugel_sht *p)
{
  return p->connection ? p->connection->row : kugel__leg_gpu_row(p->gpu->leg);
}

bool kugel__sht_gpu_in_parts(const kugel_sht *p)
{
  return p->gpu->parts != NULL;
}

void kugel__sht_gpu_memory(const kugel_sht *p, uint64_t *bytes, int64_t *parts)
{
  kugel__sht_gpu *g = p->gpu;
  *bytes = 0;
  *parts = 1;
  if (g->parts)
    kugel__parts_memory(p, bytes, parts);
  pthread_mutex_lock(&g->lock);
  *bytes += g->bytes;
  pthread_mutex_unlock(&g->lock);
}

kugel_status kugel__sht_gpu_weights(kugel_sht *p)
{
  kugel__sht_gpu *g = p->gpu;
  const kugel__dist *d = p->dist;
  int64_t first = d ? d->cut[d->rank] : 0, n = (d ? d->cut[d->rank + 1] : p->grid->npairs) - first;
  if (!p->weight_north)
    return KUGEL_OK;
  if (g->parts)
    return kugel__parts_weights(p);
  double *t;
  KUGEL_ALLOC(p->ctx, t, (size_t)kugel__max(n, 1) * 16);
  for (int64_t i = 0; i < n; i++) {
    t[2 * i] = p->weight_north[first + i];
    t[2 * i + 1] = p->weight_south[first + i];
  }
  kugel_status s = kugel__sht_gpu_room(g, (size_t)n * 16, &g->weight);
  if (!s && n)
    s = kugel__device_copy(g->device, KUGEL__UPLOAD, g->weight, (kugel__mem){t, 0}, (size_t)n * 16, NULL);
  kugel__free(p->ctx, t);
  return s;
}

void kugel__sht_gpu_destroy(kugel_sht *p)
{
  kugel__sht_gpu *g = p->gpu;
  if (g->last) {
    g->device->ops->after(NULL, g->last);
    g->device->ops->event_free(g->last);
  }
  void *blocks[] = {g->coefs.base,       g->work.base,      g->weight.base,      g->bad.base,
                    g->alm.base,         g->map.base,       g->batch_coefs.base, g->batch_work.base,
                    g->group_coefs.base, g->group_work.base};
  for (int i = 0; i < 10; i++)
    kugel__device_free(g->device, blocks[i]);
  kugel__sht_gpu_vectors_free(g);
  if (p->connection)
    kugel__connection_gpu_destroy(p->connection);
  kugel__parts_destroy(p);
  kugel__dist_gpu_destroy(p);
  kugel__rings_gpu_destroy(g->rings);
  kugel__leg_gpu_destroy(g->batch);
  kugel__leg_gpu_destroy(g->leg);
  pthread_mutex_destroy(&g->lock);
  kugel__free(p->ctx, g);
}

/* ---- stages ---- */

kugel_status kugel__sht_gpu_legendre(const kugel_sht *p, const kugel__gpu_side *alm,
                                     const kugel__gpu_how *how, bool adjoint, kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  if (p->connection)
    return kugel__connection_gpu_run(p, alm, how, !adjoint, queue);
  const kugel__leg_gpu *leg = how->maps ? g->batch : g->leg;
  kugel__leg_gpu_job job = {.alm = alm->mem,
                            .leg = how->maps ? g->batch_coefs : g->coefs,
                            .work = how->maps ? g->batch_work : g->work,
                            .alm_at = alm->at,
                            .f32 = alm->f32,
                            .accumulate = how->accumulate,
                            .maps = how->maps};
  return adjoint ? kugel__leg_gpu_adjoint(leg, &job, queue) : kugel__leg_gpu_synth(leg, &job, queue);
}

kugel_status kugel__sht_gpu_rings(const kugel_sht *p, const kugel__gpu_side *map, const kugel__gpu_how *how,
                                  bool adjoint, kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  int64_t row = kugel__sht_gpu_row(p), stride = (p->mmax + 1) * row * 2;
  int maps = p->n_map * (int)kugel__max(how->maps, 1);
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
  KUGEL_TRY(kugel__sht_gpu_legendre(p, alm, how, false, queue));
  return kugel__sht_gpu_rings(p, map, how, false, queue);
}

kugel_status kugel__sht_gpu_back(const kugel_sht *p, const kugel__gpu_side *map, const kugel__gpu_side *alm,
                                 const kugel__gpu_how *how, kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  int32_t bad = 0;
  if (how->check == 2)
    KUGEL_TRY(kugel__device_fill(g->device, g->bad, 0, sizeof bad, queue));
  KUGEL_TRY(kugel__sht_gpu_rings(p, map, how, true, queue));
  if (how->check == 2) {
    KUGEL_TRY(
        kugel__device_copy(g->device, KUGEL__DOWNLOAD, (kugel__mem){&bad, 0}, g->bad, sizeof bad, queue));
    KUGEL_TRY(g->device->ops->wait(queue));
    KUGEL_CHECK(!bad, KUGEL_EINVAL,
                "the maps have %d NaN, infinite or UNSEEN pixels: mask them, or set opts.bad_pixels", bad);
  }
  return kugel__sht_gpu_legendre(p, alm, how, true, queue);
}
