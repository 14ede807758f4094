/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution on devices: vectors of a batch together as far as memory allows. */
#include <string.h>
#include "core/array.h"
#include "core/ctx.h"
#include "nufft/gpu.h"

enum { MOST = KUGEL__NUFFT_AXES, MOST_VECTORS = 1 << 15 };
static const int64_t GRIDS = (int64_t)1 << 30; /* bytes of fine grids at a time */

/* ---- kernels ---- */

kugel_status kugel__nufft_gpu_spread(const kugel__nufft_call *c, int64_t vectors)
{
  const struct kugel__nufft_gpu_points *q = c->p->gpu;
  kugel__nufft_boxes s = c->g->to_grid;
  s.n = c->p->n;
  s.first = c->points.at;
  s.stride = c->points.stride[0];
  s.batch_stride = c->points.batch;
  s.part = c->points.part;
  kugel__mem source = q->source, place = q->place, fraction = q->fraction, start = q->start,
             job = q->spread_jobs, jobs = q->spread_starts, sides = q->spread_sides,
             strengths = c->points.loan.mem;
  kugel__grid grid = {.blocks = {(uint32_t)q->spreads, (uint32_t)vectors},
                      .threads = {(uint32_t)c->g->spread_threads}};
  kugel__arg args[] = {KUGEL__MEM_ARG(place),   KUGEL__MEM_ARG(fraction),  KUGEL__MEM_ARG(start),
                       KUGEL__MEM_ARG(job),     KUGEL__MEM_ARG(jobs),      KUGEL__MEM_ARG(sides),
                       KUGEL__MEM_ARG(source),  KUGEL__MEM_ARG(strengths), KUGEL__MEM_ARG(c->grid),
                       KUGEL__MEM_ARG(c->side), KUGEL__VALUE_ARG(s)};
  KUGEL_TRY(kugel__launch(c->g->dev, c->g->spread, &grid, 11, args, c->queue));
  if (!q->sides)
    return KUGEL_OK;
  kugel__arg join[] = {KUGEL__MEM_ARG(sides), KUGEL__MEM_ARG(c->side), KUGEL__MEM_ARG(c->grid),
                       KUGEL__VALUE_ARG(s)};
  grid.blocks[0] = (uint32_t)s.boxes;
  grid.blocks[2] =
      (uint32_t)(c->g->spread_layers < 16 ? 1 : 16); // few boxes have parts: hundreds, in clusters
  return kugel__launch(c->g->dev, c->g->spread_join, &grid, 4, join, c->queue);
}

kugel_status kugel__nufft_gpu_interpolate(const kugel__nufft_call *c, int64_t vectors)
{
  const struct kugel__nufft_gpu_points *q = c->p->gpu;
  kugel__nufft_boxes s = c->g->to_points;
  if (!q->interpolates)
    return KUGEL_OK;
  s.n = c->p->n;
  s.first = c->points.at;
  s.stride = c->points.stride[0];
  s.batch_stride = c->points.batch;
  s.part = c->points.part;
  s.limit = q->limit;
  kugel__mem source = q->source, place = q->place, fraction = q->fraction, start = q->start,
             job = q->interpolate_jobs, values = c->points.loan.mem;
  kugel__arg args[] = {KUGEL__MEM_ARG(source), KUGEL__MEM_ARG(place), KUGEL__MEM_ARG(fraction),
                       KUGEL__MEM_ARG(start),  KUGEL__MEM_ARG(job),   KUGEL__MEM_ARG(c->grid),
                       KUGEL__MEM_ARG(values), KUGEL__VALUE_ARG(s)};
  kugel__grid grid = {.blocks = {(uint32_t)q->interpolates, (uint32_t)vectors},
                      .threads = {KUGEL__NUFFT_INTERPOLATE_THREADS},
                      .shared = c->g->tile};
  return kugel__launch(c->g->dev, c->g->interpolate, &grid, 8, args, c->queue);
}

/* ---- a call ---- */

/* Between the caller's fine grid and the own one. */
static kugel_status move_grid(const kugel__nufft_call *c, int64_t vectors)
{
  kugel__nufft_shaped own, grid;
  kugel__nufft_shape(c, c->grid, vectors, c->fine, &own);
  kugel__nufft_view(c, &c->modes, vectors, c->fine, &grid);
  return kugel_array_copy(c->p->plan->ctx, c->to_modes ? &own.a : &grid.a, c->to_modes ? &grid.a : &own.a,
                          NULL, c->queue);
}

static kugel_status some_vectors(const kugel__nufft_call *c, int64_t vectors)
{
  kugel__nufft_shaped modes, grid;
  bool moved = c->p->plan->fft_order && !c->alone;
  if (c->p->normal)
    return c->p->normal->run_gpu(c, vectors);
  kugel_array *box = moved ? kugel__nufft_shape(c, c->box, vectors, c->n, &modes)
                           : kugel__nufft_view(c, &c->modes, vectors, c->n, &modes);
  kugel__nufft_shape(c, c->grid, vectors, c->fine, &grid);
  if (c->to_modes) {
    KUGEL_TRY(kugel__nufft_gpu_spread(c, vectors));
    if (c->alone)
      return move_grid(c, vectors);
    KUGEL_TRY(kugel_fft_execute(c->g->fft, KUGEL_INVERSE, &grid.a, box, c->queue));
    return moved ? kugel__nufft_reorder(c, &c->modes, vectors, true) : KUGEL_OK;
  }
  if (moved)
    KUGEL_TRY(kugel__nufft_reorder(c, &c->modes, vectors, false));
  KUGEL_TRY(c->alone ? move_grid(c, vectors)
                     : kugel_fft_execute(c->g->fft, KUGEL_FORWARD, box, &grid.a, c->queue));
  return kugel__nufft_gpu_interpolate(c, vectors);
}

/* Batches: axes through which both arrays walk in equal steps are one; the last of them is taken several vectors at a
 * time, the others one element after the other. */
typedef struct batch {
  int ndim;
  int64_t shape[MOST], points[MOST], modes[MOST];
} batch;

static void find_batch(const kugel_array *of, int lead, const int64_t *points, const int64_t *modes, batch *b)
{
  b->ndim = 0;
  for (int d = 0; d < lead; d++) {
    int64_t n = of->shape[d];
    int last = b->ndim - 1;
    if (n == 1)
      continue;
    if (last >= 0 && b->points[last] == n * points[d] && b->modes[last] == n * modes[d]) {
      b->shape[last] *= n;
      b->points[last] = points[d];
      b->modes[last] = modes[d];
    } else {
      b->shape[b->ndim] = n;
      b->points[b->ndim] = points[d];
      b->modes[b->ndim++] = modes[d];
    }
  }
  if (!b->ndim) {
    b->ndim = 1;
    b->shape[0] = 1;
    b->points[0] = b->modes[0] = 0;
  }
}

static kugel_status all_vectors(kugel__nufft_call *c, const batch *b)
{
  int64_t index[MOST] = {0}, outer = 1, last = b->ndim - 1;
  const int64_t points = c->points.at, modes = c->modes.at;
  for (int64_t d = 0; d < last; d++)
    outer *= b->shape[d];
  c->points.batch = b->points[last];
  c->modes.batch = b->modes[last];
  for (int64_t i = 0; i < outer; i++) {
    for (int64_t v = 0; v < b->shape[last]; v += c->vectors) {
      c->points.at = points + v * b->points[last];
      c->modes.at = modes + v * b->modes[last];
      for (int64_t d = 0; d < last; d++) {
        c->points.at += index[d] * b->points[d];
        c->modes.at += index[d] * b->modes[d];
      }
      KUGEL_TRY(some_vectors(c, kugel__min(c->vectors, b->shape[last] - v)));
    }
    for (int64_t d = last - 1; d >= 0 && ++index[d] == b->shape[d]; d--)
      index[d] = 0;
  }
  return KUGEL_OK;
}

kugel_status kugel__nufft_gpu_take(kugel__nufft_call *c, int64_t wanted, kugel__gpu_hold *hold)
{
  const kugel_nufft *plan = c->p->plan;
  int64_t number = plan->single ? 8 : 16, modes = 1, fine = 1, side = 0;
  for (int d = 0; d < plan->ndim; d++) {
    modes *= c->n[d];
    fine *= c->fine[d];
  }
  modes = plan->fft_order && !c->alone ? modes : 0;
  if (c->to_modes && c->p->gpu) {
    side = c->p->gpu->sides * c->g->spread_layers * c->g->spread_threads;
  }
  kugel__mem *parts[] = {&c->grid, &c->box, &c->side};
  int64_t each[] = {fine, modes, side}, own = 0;
  for (int i = 0; i < 3; i++) // at multiples of 512 bytes, which NVIDIA's OpenCL asks for
    own += each[i] = (each[i] + 63) / 64 * 64;
  c->vectors = kugel__max(1, kugel__min(wanted, GRIDS / (own * number)));
  c->vectors = kugel__min(c->vectors, MOST_VECTORS);
  KUGEL_TRY(
      kugel__gpu_work_take(c->g->dev, &c->g->work, (size_t)(c->vectors * own * number), c->queue, hold));
  size_t at = 0;
  for (int i = 0; i < 3; i++) {
    *parts[i] = (kugel__mem){hold->memory, each[i] ? at : 0};
    at += (size_t)(c->vectors * each[i] * number);
  }
  return KUGEL_OK;
}

static kugel_status run(kugel__nufft_call *c, const batch *b)
{
  kugel__gpu_hold hold;
  KUGEL_TRY(kugel__nufft_gpu_take(c, b->shape[b->ndim - 1], &hold));
  kugel_status s = all_vectors(c, b);
  kugel__gpu_work_give(c->g->dev, &hold);
  return s;
}

void kugel__nufft_gpu_start(const kugel_nufft_points *p, kugel__nufft_call *c)
{
  const kugel_nufft *plan = p->plan;
  c->p = p;
  c->g = plan->gpu;
  c->mirrored = !c->alone && !p->normal && plan->gpu->mirrored;
  for (int d = 0; d < plan->ndim; d++) {
    c->n[d] = plan->axis[d].n;
    c->fine[d] = p->normal ? p->normal->fine[d] : plan->axis[d].fine;
  }
}

kugel_status kugel__nufft_gpu_execute(const kugel_nufft_points *p, bool to_modes, bool alone,
                                      const kugel_array *in, const int64_t *in_stride, const kugel_array *out,
                                      const int64_t *out_stride, kugel_queue *queue)
{
  kugel__nufft_call c = {.to_modes = to_modes, .alone = alone};
  const int ndim = p->plan->ndim, own = p->normal ? ndim : 1 + p->plan->gradient,
            lead = in->ndim - (to_modes ? own : ndim);
  const int64_t *points = to_modes ? in_stride : out_stride, *modes = to_modes ? out_stride : in_stride;
  size_t number = p->plan->single ? 8 : 16;
  batch b;
  kugel__nufft_gpu_start(p, &c);
  KUGEL_TRY(kugel__nufft_gpu_place(p->plan, in, "in"));
  KUGEL_TRY(kugel__nufft_gpu_place(p->plan, out, "out"));
  KUGEL_TRY(kugel__queue_of(c.g->dev, queue, &c.queue));
  if (kugel__array_count(out) == 0)
    return KUGEL_OK;
  find_batch(in, lead, points, modes, &b);
  memcpy(c.points.stride, points + lead, (size_t)own * sizeof(int64_t));
  if (own == 2 && !p->normal) { // numbers, points
    c.points.part = c.points.stride[0];
    c.points.stride[0] = c.points.stride[1];
  }
  memcpy(c.modes.stride, modes + lead, (size_t)ndim * sizeof(int64_t));
  kugel__loan loans[2] = {0};
  kugel_status s = kugel__lend(c.g->dev, in, KUGEL__READ, c.queue, &loans[0]);
  if (!s)
    s = kugel__lend(c.g->dev, out, KUGEL__WRITE, c.queue, &loans[1]);
  if (!s) {
    c.points.loan = loans[!to_modes];
    c.modes.loan = loans[to_modes];
    if (c.points.loan.mem.offset % number == 0) { // OpenCL's buffers start at multiples of 128 bytes
      c.points.at = (int64_t)(c.points.loan.mem.offset / number);
      c.points.loan.mem.offset = 0;
    }
    s = run(&c, &b);
  }
  s = kugel__lend_end(2, loans, c.queue, s);
  if (queue && p->gpu)
    kugel__nufft_gpu_used(p, queue);
  return s || queue ? s : c.g->dev->ops->wait(c.queue);
}
