/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution of radial convolution by blocks: all lanes advance together, a block at a time. Nothing is left
 * running when a call returns. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "device/peer.h"
#include "sphere/radial_blocks_gpu.h"
#include "sphere/radial_gpu_plan.h"

/* One map of an array. */
typedef struct map {
  kugel__mem mem; /* on the first device */
  char *host;     /* or here */
} map;

typedef struct job {
  const kugel_radial *p;
  kugel__radial_blocks *q;
  map in, out;
  bool f32, adjoint;
  kugel__mem *space; /* [lanes][2]: maps of a block */
} job;

static size_t width_of(const job *j)
{
  return j->f32 ? 4 : 8;
}

static kugel_status move(const job *j, const kugel__radial_block *b, const kugel__stretch *s, kugel__mem here,
                         const map *m, kugel__way way)
{
  kugel__device *device = b->view.gpu->device, *home = kugel__ctx_device(j->p->ctx);
  size_t bytes = (size_t)s->count * width_of(j), first = (size_t)s->first * width_of(j);
  here.offset += (size_t)s->at * width_of(j);
  if (m->host) {
    kugel__mem there = {m->host + first, 0};
    return way == KUGEL__UPLOAD ? kugel__device_copy(device, way, here, there, bytes, &device->queue)
                                : kugel__device_copy(device, way, there, here, bytes, &device->queue);
  }
  kugel__mem there = {m->mem.base, m->mem.offset + first};
  return way == KUGEL__UPLOAD ? kugel__device_fetch(home, there, device, here, bytes, &device->queue)
                              : kugel__device_send(device, here, home, there, bytes, &device->queue);
}

static kugel_status start(const job *j, int lane, const kugel__radial_block *b)
{
  kugel__mem in = j->space[2 * lane], out = j->space[2 * lane + 1];
  kugel__radial_pass pass = {.in = in, .out = out, .f32 = j->f32, .adjoint = j->adjoint};
  if (!j->q->resident)
    KUGEL_TRY(kugel__radial_gpu_hold(&b->view));
  for (int64_t k = 0; k < b->nin; k++)
    KUGEL_TRY(move(j, b, b->in + k, in, &j->in, KUGEL__UPLOAD));
  return kugel__radial_gpu_map(&b->view, &pass);
}

/* Results to their place. */
static kugel_status deliver(const job *j, int lane, const kugel__radial_block *b)
{
  for (int64_t k = 0; k < b->nout; k++)
    KUGEL_TRY(move(j, b, b->out + k, j->space[2 * lane + 1], &j->out, KUGEL__DOWNLOAD));
  return KUGEL_OK;
}

/* Waits; the work memory is given back. */
static kugel_status finish(const job *j, const kugel__radial_block *b, kugel_status s)
{
  kugel__device *device = b->view.gpu->device;
  kugel_status done = device->ops->wait(&device->queue);
  if (!j->q->resident)
    kugel__radial_gpu_release(&b->view);
  return s ? s : done;
}

static kugel_status nothing(void *arg, int64_t i, int worker)
{
  (void)arg, (void)i, (void)worker;
  return KUGEL_OK;
}

static kugel_status run_map(const job *j)
{
  const kugel__radial_blocks *q = j->q;
  kugel_status s = KUGEL_OK;
  for (int64_t i = 0; i < q->each && !s; i++) {
    kugel__span outer = kugel__progress_enter((double)i / (double)q->each, (double)(i + 1) / (double)q->each);
    const kugel__radial_block *b = q->block + i;
    int begun = 0;
    for (; begun < q->nlanes && !s; begun++)
      s = b[begun * q->each].view.gpu ? start(j, begun, b + begun * q->each) : KUGEL_OK;
    for (int lane = 0; lane < begun && !s; lane++)
      s = b[lane * q->each].view.gpu ? deliver(j, lane, b + lane * q->each) : KUGEL_OK;
    for (int lane = 0; lane < begun; lane++)
      s = b[lane * q->each].view.gpu ? finish(j, b + lane * q->each, s) : s;
    if (!s)
      s = kugel__parallel(j->p->ctx, 1, nothing, NULL); /* cancelled? */
    kugel__progress_leave(outer);
  }
  return s;
}

/* Memory for the maps of a lane's largest block. */
static kugel_status get_space(const job *j, size_t *bytes, bool get)
{
  const kugel__radial_blocks *q = j->q;
  for (int lane = 0; lane < q->nlanes; lane++) {
    kugel__device *device = NULL;
    int64_t most = 0;
    for (int64_t k = lane * q->each; k < (lane + 1) * q->each; k++)
      if (q->block[k].p0 < q->block[k].p1) {
        device = q->block[k].view.gpu->device;
        most = kugel__max(most, q->block[k].grid.npix);
      }
    for (int i = 2 * lane; i < 2 * lane + 2 && device; i++) {
      if (get) {
        bytes[i] = (size_t)most * width_of(j);
        KUGEL_TRY(kugel__device_scratch_get(device, bytes[i], &j->space[i].base));
      } else if (j->space[i].base) {
        kugel__device_scratch_put(device, j->space[i].base, bytes[i]);
      }
    }
  }
  return KUGEL_OK;
}

static map map_of(const kugel_array *a, int64_t k, size_t bytes)
{
  if (a->device.type == KUGEL_CPU)
    return (map){.host = (char *)kugel__array_data(a) + (size_t)k * bytes};
  return (map){.mem = {a->data, a->byte_offset + (size_t)k * bytes}};
}

/* A copy of maps that are to be replaced while later blocks still need them. */
static kugel_status set_apart(const job *j, map from, map to, size_t bytes)
{
  kugel__device *home = kugel__ctx_device(j->p->ctx);
  if (from.host) {
    memcpy(to.host, from.host, bytes);
    return KUGEL_OK;
  }
  KUGEL_TRY(kugel__device_copy(home, KUGEL__WITHIN, to.mem, from.mem, bytes, &home->queue));
  return home->ops->wait(&home->queue);
}

kugel_status kugel__radial_blocks_run(const kugel_radial *p, const kugel_array *in, const kugel_array *out,
                                      bool f32, int64_t n, bool adjoint)
{
  kugel__radial_blocks *q = p->blocks;
  kugel__device *home = kugel__ctx_device(p->ctx);
  size_t bytes = (size_t)p->grid->npix * (f32 ? 4 : 8), *sizes;
  job j = {.p = p, .q = q, .f32 = f32, .adjoint = adjoint};
  bool host = in->device.type == KUGEL_CPU,
       same = host == (out->device.type == KUGEL_CPU) && in->data == out->data;
  map copy = {.host = NULL};
  KUGEL_TRY(kugel__device_alive(home));
  KUGEL_ALLOC(p->ctx, sizes, (size_t)(2 * q->nlanes) * (sizeof *sizes + sizeof *j.space));
  j.space = (kugel__mem *)(void *)(sizes + 2 * q->nlanes);
  memset(j.space, 0, (size_t)(2 * q->nlanes) * sizeof *j.space);
  pthread_mutex_lock(&q->lock);
  kugel_status s = home->ops->wait(&home->queue);
  if (!s)
    s = get_space(&j, sizes, true);
  if (!s && same && host) {
    copy.host = kugel__alloc(p->ctx, bytes);
    s = copy.host ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a copy of a map");
  } else if (!s && same) {
    s = kugel__device_scratch_get(home, bytes, &copy.mem.base);
  }
  for (int64_t k = 0; k < n && !s; k++) {
    j.in = map_of(in, k, bytes);
    j.out = map_of(out, k, bytes);
    if (same) {
      s = set_apart(&j, j.in, copy, bytes);
      j.in = copy;
    }
    kugel__span outer = kugel__progress_enter((double)k / (double)n, (double)(k + 1) / (double)n);
    if (!s)
      s = run_map(&j);
    kugel__progress_leave(outer);
  }
  get_space(&j, sizes, false);
  if (copy.mem.base)
    kugel__device_scratch_put(home, copy.mem.base, bytes);
  pthread_mutex_unlock(&q->lock);
  kugel__free(p->ctx, copy.host);
  kugel__free(p->ctx, sizes);
  return s;
}
