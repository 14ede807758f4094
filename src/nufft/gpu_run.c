/* SPDX-License-Identifier: BSD-3-Clause */
/* Execution on devices: vectors of a batch together as far as memory allows. */
#include <string.h>
#include "core/array.h"
#include "core/ctx.h"
#include "device/lend.h"
#include "nufft/gpu.h"

enum { MOST = 32, JOBS = 1 << 30, MOST_VECTORS = 1 << 15 };
static const int64_t GRIDS = (int64_t)1 << 30; /* bytes of fine grids at a time */

/* One of the caller's arrays: its memory, and where the vector of a batch is. */
typedef struct end {
  kugel__loan loan;
  int64_t at, stride[MOST], batch; /* in complex numbers; batch: between the vectors of a call */
} end;

typedef struct call {
  const kugel_nufft_points *p;
  struct kugel__nufft_gpu *g;
  kugel_queue *queue;
  bool to_modes;
  int64_t vectors; /* at a time */
  /* Work memory: strengths in the order of the sorted points; modes in the FFT's order, if the caller's is another. */
  kugel__mem grid, side, sorted, box;
  end points, modes;
} call;

kugel_status kugel__nufft_gpu_place(const kugel_nufft *p, const kugel_array *a, const char *name)
{
  int64_t step = 1;
  bool ordered = true;
  kugel_device here = p->gpu->dev->info.device;
  if (a->device.type == here.type && a->device.id == here.id)
    return KUGEL_OK;
  KUGEL_CHECK(a->device.type == KUGEL_CPU, KUGEL_EDEVICE,
              "%s is on device %d of type %d, the plan is on %s: copy it there", name, (int)a->device.id,
              (int)a->device.type, p->gpu->dev->info.name);
  for (int d = a->ndim - 1; d >= 0 && a->strides; d--) {
    ordered = ordered && (a->shape[d] <= 1 || a->strides[d] == step);
    step *= a->shape[d];
  }
  KUGEL_CHECK(ordered || kugel__array_count(a) == 0, KUGEL_ENOTSUP,
              "%s is on the host with strides, the plan is on %s: make it contiguous or copy it there", name,
              p->gpu->dev->info.name);
  return KUGEL_OK;
}

/* ---- kernels ---- */

static kugel_status spread(const call *c, int64_t vectors)
{
  const struct kugel__nufft_gpu_points *q = c->p->gpu;
  kugel__nufft_boxes s = c->g->to_grid;
  s.n = c->p->n;
  s.first = c->points.at;
  s.stride = c->points.stride[0];
  s.batch_stride = c->points.batch;
  kugel__mem source = q->source, place = q->place, fraction = q->fraction, start = q->start,
             job = q->spread_jobs, jobs = q->spread_starts, sides = q->spread_sides,
             strengths = c->points.loan.mem;
  int threads = c->g->spread_threads;
  kugel__grid grid = {.blocks = {(uint32_t)((s.n + threads - 1) / threads), (uint32_t)vectors},
                      .threads = {(uint32_t)threads}};
  if (s.n && c->g->ordered) {
    kugel__arg order[] = {KUGEL__MEM_ARG(source), KUGEL__MEM_ARG(strengths), KUGEL__MEM_ARG(c->sorted),
                          KUGEL__VALUE_ARG(s)};
    KUGEL_TRY(kugel__launch(c->g->dev, c->g->spread_order, &grid, 4, order, c->queue));
    strengths = c->sorted;
  }
  kugel__arg args[] = {KUGEL__MEM_ARG(place),   KUGEL__MEM_ARG(fraction),  KUGEL__MEM_ARG(start),
                       KUGEL__MEM_ARG(job),     KUGEL__MEM_ARG(jobs),      KUGEL__MEM_ARG(sides),
                       KUGEL__MEM_ARG(source),  KUGEL__MEM_ARG(strengths), KUGEL__MEM_ARG(c->grid),
                       KUGEL__MEM_ARG(c->side), KUGEL__VALUE_ARG(s)};
  grid.blocks[0] = (uint32_t)q->spreads;
  KUGEL_TRY(kugel__launch(c->g->dev, c->g->spread, &grid, 11, args, c->queue));
  if (!q->sides)
    return KUGEL_OK;
  kugel__arg join[] = {KUGEL__MEM_ARG(sides), KUGEL__MEM_ARG(c->side), KUGEL__MEM_ARG(c->grid),
                       KUGEL__VALUE_ARG(s)};
  grid.blocks[0] = (uint32_t)s.boxes;
  return kugel__launch(c->g->dev, c->g->spread_join, &grid, 4, join, c->queue);
}

static kugel_status interpolate(const call *c, int64_t vectors)
{
  const struct kugel__nufft_gpu_points *q = c->p->gpu;
  kugel__nufft_boxes s = c->g->to_points;
  if (!q->interpolates)
    return KUGEL_OK;
  s.n = c->p->n;
  s.first = c->points.at;
  s.stride = c->points.stride[0];
  s.batch_stride = c->points.batch;
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

/* ---- modes ---- */

/* An array [vectors][...] in device memory. */
typedef struct shaped {
  kugel_array a;
  int64_t shape[4], strides[4];
} shaped;

static void start_at(shaped *s, kugel__mem memory, int64_t at, int64_t number)
{
  s->a.data = memory.base;
  s->a.byte_offset = memory.offset + (size_t)(at * number);
}

static kugel_array *shape(const call *c, kugel__mem memory, int64_t vectors, bool grid, shaped *s)
{
  const kugel_nufft *plan = c->p->plan;
  int64_t step = 1;
  s->a = (kugel_array){.device = c->g->dev->info.device,
                       .ndim = plan->ndim + 1,
                       .dtype = plan->single ? KUGEL_C64 : KUGEL_C128,
                       .shape = s->shape,
                       .strides = s->strides};
  for (int d = plan->ndim; d > 0; d--) {
    s->shape[d] = grid ? plan->axis[d - 1].fine : plan->axis[d - 1].n;
    s->strides[d] = step;
    step *= s->shape[d];
  }
  s->shape[0] = vectors;
  s->strides[0] = step;
  start_at(s, memory, 0, 1);
  return &s->a;
}

/* The caller's modes as the FFT has them, if strides can say so: ascending or, mirrored, descending. */
static kugel_array *view(const call *c, int64_t vectors, shaped *s)
{
  const kugel_nufft *plan = c->p->plan;
  int64_t at = c->modes.at;
  shape(c, c->modes.loan.mem, vectors, false, s);
  for (int d = 0; d < plan->ndim; d++) {
    int64_t stride = c->modes.stride[d], n = plan->axis[d].n;
    s->strides[d + 1] = c->g->mirrored ? -stride : stride;
    at += c->g->mirrored ? (n - 1) * stride : 0;
  }
  s->strides[0] = c->modes.batch;
  start_at(s, c->modes.loan.mem, at, plan->single ? 8 : 16);
  return &s->a;
}

/* Between the caller's modes in the order of FFTs and the box: for each axis the modes from 0 on and the negative ones. */
static kugel_status reorder(const call *c, int64_t vectors)
{
  const kugel_nufft *plan = c->p->plan;
  int64_t number = plan->single ? 8 : 16;
  for (int part = 0; part < 1 << plan->ndim; part++) {
    shaped own, box;
    int64_t at = c->modes.at, to = 0;
    bool empty = false;
    shape(c, c->modes.loan.mem, vectors, false, &own);
    shape(c, c->box, vectors, false, &box);
    own.strides[0] = c->modes.batch;
    for (int d = 0; d < plan->ndim; d++) {
      int64_t n = plan->axis[d].n, first = part >> d & 1 ? (n + 1) / 2 : 0,
              count = part >> d & 1 ? n / 2 : (n + 1) / 2;
      int64_t mode = part >> d & 1 ? first - n : 0, step = box.strides[d + 1];
      at += first * c->modes.stride[d];
      to += (c->g->mirrored ? (n - 1) / 2 - mode : mode + n / 2) * step;
      own.strides[d + 1] = c->modes.stride[d];
      box.strides[d + 1] = c->g->mirrored ? -step : step;
      own.shape[d + 1] = box.shape[d + 1] = count;
      empty = empty || count == 0;
    }
    start_at(&own, c->modes.loan.mem, at, number);
    start_at(&box, c->box, to, number);
    if (!empty)
      KUGEL_TRY(kugel_array_copy(plan->ctx, c->to_modes ? &box.a : &own.a, c->to_modes ? &own.a : &box.a,
                                 NULL, c->queue));
  }
  return KUGEL_OK;
}

/* ---- a call ---- */

static kugel_status some_vectors(const call *c, int64_t vectors)
{
  shaped modes, grid;
  bool moved = c->p->plan->fft_order;
  kugel_array *box = moved ? shape(c, c->box, vectors, false, &modes) : view(c, vectors, &modes);
  shape(c, c->grid, vectors, true, &grid);
  if (c->to_modes) {
    KUGEL_TRY(spread(c, vectors));
    KUGEL_TRY(kugel_fft_execute(c->g->fft, KUGEL_INVERSE, &grid.a, box, c->queue));
    return moved ? reorder(c, vectors) : KUGEL_OK;
  }
  if (moved)
    KUGEL_TRY(reorder(c, vectors));
  KUGEL_TRY(kugel_fft_execute(c->g->fft, KUGEL_FORWARD, box, &grid.a, c->queue));
  return interpolate(c, vectors);
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

static kugel_status all_vectors(call *c, const batch *b)
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

static kugel_status run(call *c, const batch *b)
{
  const kugel_nufft *plan = c->p->plan;
  int64_t number = plan->single ? 8 : 16, modes = 1, side = 0, sorted = 0;
  for (int d = 0; d < plan->ndim; d++)
    modes *= plan->axis[d].n;
  modes = plan->fft_order ? modes : 0;
  if (c->to_modes) {
    side = c->p->gpu->sides * c->g->spread_layers * c->g->spread_threads;
    sorted = c->g->ordered ? c->p->n : 0;
  }
  kugel__mem *parts[] = {&c->grid, &c->box, &c->sorted, &c->side};
  int64_t each[] = {plan->fine, modes, sorted, side}, own = 0;
  for (int i = 0; i < 4; i++) // at multiples of 512 bytes, which NVIDIA's OpenCL asks for
    own += each[i] = (each[i] + 63) / 64 * 64;
  c->vectors = kugel__max(1, kugel__min(b->shape[b->ndim - 1], GRIDS / (own * number)));
  c->vectors = kugel__min(c->vectors, MOST_VECTORS);
  kugel__gpu_hold hold;
  KUGEL_TRY(
      kugel__gpu_work_take(c->g->dev, &c->g->work, (size_t)(c->vectors * own * number), c->queue, &hold));
  size_t at = 0;
  for (int i = 0; i < 4; i++) {
    *parts[i] = (kugel__mem){hold.memory, each[i] ? at : 0};
    at += (size_t)(c->vectors * each[i] * number);
  }
  kugel_status s = all_vectors(c, b);
  kugel__gpu_work_give(c->g->dev, &hold);
  return s;
}

kugel_status kugel__nufft_gpu_execute(const kugel_nufft_points *p, bool to_modes, const kugel_array *in,
                                      const int64_t *in_stride, const kugel_array *out,
                                      const int64_t *out_stride, kugel_queue *queue)
{
  call c = {.p = p, .g = p->plan->gpu, .to_modes = to_modes};
  int ndim = p->plan->ndim, lead = in->ndim - (to_modes ? 1 : ndim);
  const int64_t *points = to_modes ? in_stride : out_stride, *modes = to_modes ? out_stride : in_stride;
  size_t number = p->plan->single ? 8 : 16;
  batch b;
  KUGEL_TRY(kugel__nufft_gpu_place(p->plan, in, "in"));
  KUGEL_TRY(kugel__nufft_gpu_place(p->plan, out, "out"));
  KUGEL_TRY(kugel__queue_of(c.g->dev, queue, &c.queue));
  if (kugel__array_count(out) == 0)
    return KUGEL_OK;
  find_batch(in, lead, points, modes, &b);
  memcpy(c.points.stride, points + lead, sizeof(int64_t));
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
  return s || queue ? s : c.g->dev->ops->wait(c.queue);
}
