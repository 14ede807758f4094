/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of many maps on a device, between rows of coefficients and maps. */
#include "core/parallel.h"
#include "sphere/sht/gpu.h"
#include "sphere/sht/parts.h"

kugel_status kugel__sht_shells_check(const kugel_sht *p)
{
  KUGEL_CHECK(
      p->gpu && !p->gpu->parts, KUGEL_ENOTSUP,
      "transforms on a sphere with lmax = %lld and %lld points do not fit into the device's memory, or the "
      "limit of the context: raise that, lower lmax, or use the CPU",
      (long long)p->lmax, (long long)p->npix);
  return KUGEL_OK;
}

enum { GROUPS_AIM = 1 << 30 }; /* bytes of Fourier coefficients and of work memory, together */

typedef struct call {
  const kugel_sht *p;
  const kugel__sht_shells *s;
  kugel_queue *queue;
  kugel__mem coefs, work; /* of several maps */
  bool grouped;           /* batches side by side */
} call;

/* How many batches of `together` maps run side by side, so that small spheres, too, fill the device. A lack of memory means one. */
static kugel_status choose_groups(const kugel_sht *p, int together, int64_t count)
{
  kugel__sht_gpu *g = p->gpu;
  int64_t limit, coefs = together * p->n_map * (p->mmax + 1) * kugel__leg_gpu_row(g->leg) * 32,
                 each = coefs + (int64_t)kugel__leg_gpu_work_of(g->batch, 1);
  KUGEL_TRY(kugel__parts_limit(p, &limit));
  int64_t room = kugel__min(limit - (int64_t)g->bytes, (int64_t)GROUPS_AIM);
  int64_t groups = kugel__min(kugel__min((count + together - 1) / together, room / each), 4096);
  if (groups < 2 || kugel__sht_gpu_room(g, (size_t)(groups * coefs), &g->group_coefs) ||
      kugel__sht_gpu_room(g, kugel__leg_gpu_work_of(g->batch, groups), &g->group_work))
    groups = 1;
  g->groups = (int)groups;
  return KUGEL_OK;
}

/* Maps [k, k + n): the Legendre stage of all, which share its recurrences where there are several. */
static kugel_status legendre(const call *c, int64_t k, int n)
{
  kugel__sht_gpu *g = c->p->gpu;
  bool batch = n > 1;
  kugel__leg_gpu_job job = {.alm = c->s->alm,
                            .leg = batch ? c->coefs : g->coefs,
                            .work = batch ? c->work : g->work,
                            .alm_at = c->s->at + k,
                            .row = c->s->row,
                            .part = c->s->part,
                            .f32 = c->s->f32,
                            .grouped = c->grouped,
                            .maps = batch ? n : 0};
  return (c->s->adjoint ? kugel__leg_gpu_adjoint : kugel__leg_gpu_synth)(batch ? g->batch : g->leg, &job,
                                                                         c->queue);
}

static kugel_status rings(const call *c, int64_t k, int n)
{
  const kugel_sht *p = c->p;
  kugel__sht_gpu *g = p->gpu;
  int64_t row = kugel__leg_gpu_row(g->leg), stride = (p->mmax + 1) * row * 2;
  for (int component = 0; component < p->n_map; component++)
    for (int i = 0, most = kugel__rings_gpu_most(g->rings); i < n; i += most) {
      kugel__rings_gpu_job job = {.leg = n > 1 ? c->coefs : g->coefs,
                                  .map = c->s->map,
                                  .work = g->work,
                                  .leg_at = (i * p->n_map + component) * stride,
                                  .row = row,
                                  .map_at = c->s->map_at + component * c->s->map_part + (k + i) * p->npix,
                                  .maps = (int)kugel__min(n - i, most),
                                  .leg_stride = p->n_map * stride,
                                  .map_stride = p->npix,
                                  .f32 = c->s->f32,
                                  .check = c->s->adjoint ? 2 : 0,
                                  .bad = g->bad};
      if (c->s->analysis)
        job.weight = g->weight;
      KUGEL_TRY(
          (c->s->adjoint ? kugel__rings_gpu_adjoint : kugel__rings_gpu_synth)(g->rings, &job, c->queue));
    }
  return KUGEL_OK;
}

static kugel_status some(const call *c, int64_t k, int n)
{
  KUGEL_TRY((c->s->adjoint ? rings : legendre)(c, k, n));
  return (c->s->adjoint ? legendre : rings)(c, k, n);
}

static kugel_status all(call *c, int together)
{
  const kugel_sht *p = c->p;
  kugel__sht_gpu *g = p->gpu;
  int32_t bad = 0;
  bool groups = together > 1 && kugel__leg_gpu_takes_groups(g->batch, c->s->f32);
  if (groups && !g->groups)
    KUGEL_TRY(choose_groups(p, together, c->s->count));
  c->grouped = groups = groups && g->groups > 1;
  int64_t some_maps = groups ? g->groups * (int64_t)together : together;
  c->coefs = groups ? g->group_coefs : g->batch_coefs;
  c->work = groups ? g->group_work : g->batch_work;
  if (c->s->adjoint)
    KUGEL_TRY(kugel__device_fill(g->device, g->bad, 0, sizeof bad, c->queue));
  else if (!g->covered) /* points off the rings */
    for (int i = 0; i < p->n_map; i++) {
      size_t word = c->s->f32 ? 4 : 8;
      kugel__mem at = {c->s->map.base, c->s->map.offset + (size_t)(c->s->map_at + i * c->s->map_part) * word};
      KUGEL_TRY(kugel__device_fill(g->device, at, 0, (size_t)(c->s->count * p->npix) * word, c->queue));
    }
  for (int64_t k = 0; k < c->s->count;) {
    int n = (int)kugel__min(c->s->count - k, some_maps);
    n = n < kugel__sht_gpu_least_together(together) ? 1 : n;
    KUGEL_TRY(kugel__progress_step((double)k / (double)c->s->count));
    KUGEL_TRY(some(c, k, n));
    k += n;
  }
  if (!c->s->adjoint)
    return KUGEL_OK;
  KUGEL_TRY(
      kugel__device_copy(g->device, KUGEL__DOWNLOAD, (kugel__mem){&bad, 0}, g->bad, sizeof bad, c->queue));
  KUGEL_TRY(g->device->ops->wait(c->queue));
  KUGEL_CHECK(!bad, KUGEL_EINVAL, "%d values are NaN or infinite: all values must be finite", bad);
  return KUGEL_OK;
}

kugel_status kugel__sht_shells_run(const kugel_sht *p, const kugel__sht_shells *s, kugel_queue *queue)
{
  kugel__sht_gpu *g = p->gpu;
  call c = {.p = p, .s = s, .queue = queue};
  int together = kugel__sht_gpu_together(p, s->count);
  pthread_mutex_lock(&g->lock);
  kugel_status status = kugel__sht_gpu_enter(g, queue);
  if (!status)
    status = all(&c, together);
  status = kugel__sht_gpu_leave(g, queue, false, status);
  pthread_mutex_unlock(&g->lock);
  return status;
}
