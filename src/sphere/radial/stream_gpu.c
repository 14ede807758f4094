/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution on devices of maps that come and go in runs of pixels: the device has a block of rings,
 * or all, and the host no more than a run. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "sphere/radial/blocks_gpu.h"
#include "sphere/radial/gpu_plan.h"
#include "sphere/radial/gpu.h"

enum { RUN = 1 << 20 }; /* bytes */

typedef struct stream {
  const kugel_radial_stream_opts *o;
  const kugel_radial *view; /* of the block at hand */
  kugel__mem in, out;       /* its maps */
  char *run;
  int maps;
  size_t word;
} stream;

static kugel_status move(const stream *t, int map, const kugel__stretch *s, bool write)
{
  kugel__device *device = t->view->gpu->device;
  int64_t most = RUN / (int64_t)t->word;
  for (int64_t k = 0; k < s->count; k += most) {
    int64_t n = kugel__min(most, s->count - k);
    size_t bytes = (size_t)n * t->word, at = (size_t)(map * t->view->grid->npix + s->at + k) * t->word;
    kugel__mem here = {t->run, 0}, there = write ? t->out : t->in;
    there.offset += at;
    if (write) {
      KUGEL_TRY(kugel__device_copy(device, KUGEL__DOWNLOAD, here, there, bytes, NULL));
      KUGEL_TRY(t->o->write(t->o->user, map, s->first + k, n, t->run));
    } else {
      KUGEL_TRY(t->o->read(t->o->user, map, s->first + k, n, t->run));
      KUGEL_TRY(kugel__device_copy(device, KUGEL__UPLOAD, there, here, bytes, NULL));
    }
  }
  return KUGEL_OK;
}

/* Rings of a block, or of the whole map, next to each other; in t->in and t->out. */
static kugel_status run_block(stream *t, int64_t nin, const kugel__stretch *in, int64_t nout,
                              const kugel__stretch *out)
{
  kugel__device *device = t->view->gpu->device;
  kugel_status s = kugel__device_alive(device);
  for (int map = 0; map < t->maps; map++)
    for (int64_t k = 0; k < nin && !s; k++)
      s = move(t, map, in + k, false);
  kugel__radial_pass pass = {.in = t->in, .out = t->out, .f32 = t->word == 4};
  if (!s)
    s = kugel__radial_gpu_map(t->view, &pass);
  kugel_status done = device->ops->wait(&device->queue);
  s = s ? s : done;
  for (int map = 0; map < t->maps; map++)
    for (int64_t k = 0; k < nout && !s; k++)
      s = move(t, map, out + k, true);
  return s;
}

/* A plan that the device holds whole. */
static kugel_status run_whole(stream *t, const kugel_radial *p)
{
  kugel__stretch *all;
  int64_t n = 0;
  KUGEL_ALLOC(p->ctx, all, (size_t)p->nrings * sizeof *all);
  for (int64_t i = 0; i < p->nrings; i++) {
    const kugel__radial_ring *r = p->ring + i;
    if (n && all[n - 1].first + all[n - 1].count == r->first)
      all[n - 1].count += r->nphi;
    else
      all[n++] = (kugel__stretch){r->first, r->first, r->nphi};
  }
  t->view = p;
  t->in = t->out = (kugel__mem){NULL, 0};
  kugel__device *device = p->gpu->device;
  size_t bytes = (size_t)(t->maps * p->grid->npix) * t->word;
  pthread_mutex_lock(&p->gpu->lock);
  kugel_status s = kugel__radial_gpu_enter(p->gpu, &device->queue);
  if (!s)
    s = kugel__device_scratch_get(device, bytes, &t->in.base);
  if (!s)
    s = kugel__device_scratch_get(device, bytes, &t->out.base);
  if (!s)
    s = run_block(t, n, all, n, all);
  kugel__device_scratch_put(device, t->in.base, bytes);
  kugel__device_scratch_put(device, t->out.base, bytes);
  pthread_mutex_unlock(&p->gpu->lock);
  kugel__free(p->ctx, all);
  return s;
}

static kugel_status run_blocks(stream *t, kugel__radial_blocks *q)
{
  kugel_status s = KUGEL_OK;
  int64_t n = q->nlanes * q->each;
  pthread_mutex_lock(&q->lock);
  for (int64_t k = 0; k < n && !s; k++) {
    const kugel__radial_block *b = q->block + k;
    if (b->p0 == b->p1)
      continue;
    const kugel__lane_slot *slot = &q->lanes->lane[k / q->each].slot[0];
    t->view = &b->view;
    t->in = slot->in;
    t->out = slot->out;
    kugel__span outer = kugel__progress_enter((double)k / (double)n, (double)(k + 1) / (double)n);
    if (!q->resident)
      s = kugel__radial_gpu_hold(t->view);
    if (!s)
      s = run_block(t, b->nin, b->in, b->nout, b->out);
    if (!q->resident)
      kugel__radial_gpu_release(t->view);
    kugel__progress_leave(outer);
  }
  pthread_mutex_unlock(&q->lock);
  return s;
}

kugel_status kugel__radial_stream_gpu(const kugel_radial *p, const kugel_radial_stream_opts *o)
{
  KUGEL_CHECK(!o->first && !o->end, KUGEL_ENOTSUP,
              "a device does all rings: leave opts.first and opts.end 0");
  stream t = {.o = o, .maps = p->opts.spin ? 2 : 1, .word = o->dtype.bits == 32 ? 4 : 8};
  t.run = kugel__alloc(p->ctx, RUN);
  KUGEL_CHECK(t.run, KUGEL_ENOMEM, "no memory for %d bytes of pixels", RUN);
  kugel_status s = p->blocks ? run_blocks(&t, p->blocks) : run_whole(&t, p);
  kugel__free(p->ctx, t.run);
  return s;
}
