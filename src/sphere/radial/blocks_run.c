/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution of radial convolution by blocks: the maps of a block are copied while another block is computed. No
 * work is running when a call returns. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "sphere/grid/mapops.h"
#include "sphere/radial/blocks_gpu.h"
#include "sphere/radial/gpu_plan.h"

/* A map: its items are the blocks of each lane. */
typedef struct job {
  const kugel_radial *p;
  kugel__radial_blocks *q;
  kugel__lane_home in, out;
  bool f32, adjoint, plain; /* plain: without opts.normalise */
  const double *level;      /* [npix] of the host: what the adjoint's input is divided by, NULL: nothing */
  const kugel__radial_block *
      *held; /* [lanes] whose work memory is allocated now, unless all stays; NULL: none */
} job;

static const kugel__radial_block *block_of(const job *j, const kugel__lane *lane, int64_t item)
{
  return j->q->block + lane->index * j->q->each + item;
}

/* The n-th block of the lane that is not empty. */
static int64_t next(void *arg, int lane, int64_t n)
{
  const kugel__radial_blocks *q = ((const job *)arg)->q;
  for (int64_t k = 0; k < q->each; k++)
    if (q->block[lane * q->each + k].view.gpu && !n--)
      return k;
  return -1;
}

static kugel_status move(const job *j, kugel__lane *lane, kugel__way way, kugel__mem here,
                         const kugel__lane_home *there, int64_t n, const kugel__stretch *stretches)
{
  size_t width = j->f32 ? 4 : 8;
  for (int64_t k = 0; k < n; k++) {
    const kugel__stretch *s = stretches + k;
    kugel__mem at = {here.base, here.offset + (size_t)s->at * width};
    KUGEL_TRY(kugel__lane_move(lane, way, at, there, (size_t)s->first * width, (size_t)s->count * width));
  }
  return KUGEL_OK;
}

static kugel_status load(void *arg, kugel__lane *lane, kugel__lane_slot *slot)
{
  const job *j = arg;
  const kugel__radial_block *b = block_of(j, lane, slot->item);
  return move(j, lane, KUGEL__UPLOAD, slot->in, &j->in, b->nin, b->in);
}

/* Work memory passes from the lane's previous block to this one, when that block is computed. */
static kugel_status hold(const job *j, kugel__lane *lane, const kugel__radial_block *b)
{
  const kugel__radial_block **held = &j->held[lane->index];
  if (*held) {
    KUGEL_TRY(kugel_queue_wait(lane->work));
    kugel__radial_gpu_release(&(*held)->view);
  }
  *held = b;
  return kugel__radial_gpu_hold(&b->view);
}

static kugel_status compute(void *arg, kugel__lane *lane, kugel__lane_slot *slot)
{
  const job *j = arg;
  const kugel__radial_block *b = block_of(j, lane, slot->item);
  kugel__radial_pass pass = {
      .in = slot->in, .out = slot->out, .queue = lane->work, .f32 = j->f32, .adjoint = j->adjoint};
  pass.plain = j->plain || j->level;
  if (!j->q->resident)
    KUGEL_TRY(hold(j, lane, b));
  return kugel__radial_gpu_map(&b->view, &pass);
}

/* Results to their place. */
static kugel_status store(void *arg, kugel__lane *lane, kugel__lane_slot *slot)
{
  const job *j = arg;
  const kugel__radial_block *b = block_of(j, lane, slot->item);
  return move(j, lane, KUGEL__DOWNLOAD, slot->out, &j->out, b->nout, b->out);
}

static kugel_status run_map(const job *j)
{
  kugel__radial_blocks *q = j->q;
  kugel__lane_job run = {.arg = (void *)(uintptr_t)j,
                         .stage = "convolution",
                         .count = 0,
                         .next = next,
                         .load = load,
                         .compute = compute,
                         .store = store,
                         .blocking = j->out.host || (q->nlanes > 1 && !q->lanes->lane->home->ops->copy_peer)};
  for (int64_t k = 0; k < q->nlanes * q->each; k++)
    run.count += q->block[k].view.gpu != NULL;
  kugel_status s = kugel__device_lanes_run(q->lanes, &run);
  for (int lane = 0; lane < q->nlanes; lane++)
    if (j->held[lane])
      kugel__radial_gpu_release(&j->held[lane]->view);
  memset(j->held, 0, (size_t)q->nlanes * sizeof *j->held);
  return s;
}

static kugel__lane_home map_of(const kugel_array *a, int64_t k, size_t bytes)
{
  if (a->device.type == KUGEL_CPU)
    return (kugel__lane_home){.host = (char *)kugel__array_data(a) + (size_t)k * bytes};
  return (kugel__lane_home){.mem = {a->data, a->byte_offset + (size_t)k * bytes}};
}

/* The map over the level, but for bad pixels. */
static void divide(const job *j, void *map)
{
  kugel__radial_io io = {.in = map, .f32 = j->f32, .level = true, .seen = (double *)(uintptr_t)j->level};
  io.least = kugel__radial_level_least(j->p);
  for (int64_t i = 0; i < j->p->grid->npix; i++) {
    double v = kugel__radial_pixel(&io, i);
    v = kugel__bad_pixel(v) ? v : kugel__radial_divided(&io, i, v);
    if (j->f32)
      ((float *)map)[i] = (float)v;
    else
      ((double *)map)[i] = v;
  }
}

/* A copy of a map that is to be replaced while later blocks still need it, or that is to be divided by the level, which
 * a block has of its own results only; the latter on the host. */
static kugel_status set_apart(const job *j, kugel__lane_home from, kugel__lane_home to, size_t bytes)
{
  kugel__device *home = kugel__ctx_device(j->p->ctx);
  if (from.host)
    memcpy(to.host, from.host, bytes);
  else if (to.host)
    KUGEL_TRY(
        kugel__device_copy(home, KUGEL__DOWNLOAD, (kugel__mem){to.host, 0}, from.mem, bytes, &home->queue));
  else
    KUGEL_TRY(kugel__device_copy(home, KUGEL__WITHIN, to.mem, from.mem, bytes, &home->queue));
  KUGEL_TRY(home->ops->wait(&home->queue));
  if (j->level)
    divide(j, to.host);
  return KUGEL_OK;
}

static kugel_status run(job j, const kugel_array *in, const kugel_array *out, int64_t n)
{
  const kugel_radial *p = j.p;
  kugel__radial_blocks *q = j.q;
  kugel__device *home = kugel__ctx_device(p->ctx);
  size_t bytes = (size_t)p->grid->npix * (j.f32 ? 4 : 8);
  bool host = in->device.type == KUGEL_CPU,
       same = host == (out->device.type == KUGEL_CPU) && in->data == out->data;
  kugel__lane_home copy = {.host = NULL};
  KUGEL_TRY(kugel__device_alive(home));
  j.held = kugel__calloc(p->ctx, (size_t)q->nlanes * sizeof *j.held);
  KUGEL_CHECK(j.held, KUGEL_ENOMEM, "no memory for a list of %d devices", q->nlanes);
  pthread_mutex_lock(&q->lock);
  kugel_status s = home->ops->wait(&home->queue);
  if (!s && ((same && host) || j.level)) {
    copy.host = kugel__alloc(p->ctx, bytes);
    s = copy.host ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a copy of a map");
  } else if (!s && same) {
    s = kugel__device_scratch_get(home, bytes, &copy.mem.base);
  }
  for (int64_t k = 0; k < n && !s; k++) {
    j.in = map_of(in, k, bytes);
    j.out = map_of(out, k, bytes);
    if (same || j.level) {
      s = set_apart(&j, j.in, copy, bytes);
      j.in = copy;
    }
    kugel__span outer = kugel__progress_enter((double)k / (double)n, (double)(k + 1) / (double)n);
    if (!s)
      s = run_map(&j);
    kugel__progress_leave(outer);
  }
  if (copy.mem.base)
    kugel__device_scratch_put(home, copy.mem.base, bytes);
  pthread_mutex_unlock(&q->lock);
  kugel__free(p->ctx, copy.host);
  kugel__free(p->ctx, j.held);
  return s;
}

kugel_status kugel__radial_blocks_run(const kugel_radial *p, const kugel_array *in, const kugel_array *out,
                                      bool f32, int64_t n, bool adjoint, const double *level)
{
  return run((job){.p = p, .q = p->blocks, .f32 = f32, .adjoint = adjoint, .level = level}, in, out, n);
}

kugel_status kugel__radial_blocks_ones(const kugel_radial *p, double *map)
{
  for (int64_t i = 0; i < p->grid->npix; i++)
    map[i] = 1;
  const kugel_array *a = KUGEL_ARRAY(map, KUGEL_F64, p->grid->npix);
  return run((job){.p = p, .q = p->blocks, .plain = true}, a, a, 1);
}
