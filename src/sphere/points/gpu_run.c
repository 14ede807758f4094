/* SPDX-License-Identifier: BSD-3-Clause */
/* Synthesis at points and its adjoint on a device, set by set; nothing leaves it between the stages. */
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "sphere/points/gpu.h"

enum { BLOCK = 256, PAGE = 4096 };

/* As in kernels/torus.cl. */
typedef struct torus_shape {
  int64_t rings, circle, npairs, row, orders, odd;
} torus_shape;
typedef struct values_shape {
  int64_t n, at;
  int32_t components, f32, turned, first;
} values_shape;

typedef struct call {
  const kugel_sht_points *points;
  const kugel_sht_points_plan *plan;
  struct kugel__points_gpu *g;
  kugel_queue *queue;
  kugel__mem coefs, leg_work, grid, numbers; /* work memory */
  kugel__mem alm, values;
  int64_t alm_at, values_at; /* first elements of the set */
  bool alm_f32, values_f32;
} call;

/* ---- kernels ---- */

static kugel_status launch_torus(const call *c, kugel__kernel *kernel, kugel__mem from, kugel__mem to)
{
  const kugel_sht_points_plan *p = c->plan;
  torus_shape s = {
      .rings = p->rings, .circle = p->circle, .npairs = p->npairs, .row = c->g->row, .orders = p->mmax + 1};
  for (int k = 0; k < p->n_map; k++)
    s.odd |= (int64_t)kugel__points_odd(p, k) << k;
  kugel__grid grid = {.blocks = {(uint32_t)s.orders, (uint32_t)p->n_map}, .threads = {BLOCK}};
  kugel__arg args[] = {KUGEL__MEM_ARG(from), KUGEL__MEM_ARG(to), KUGEL__VALUE_ARG(s)};
  return kugel__launch(c->g->dev, kernel, &grid, 3, args, c->queue);
}

static kugel_status launch_values(const call *c, bool to_values)
{
  const kugel_sht_points_plan *p = c->plan;
  kugel__mem phase = c->points->gpu->phase, turn = c->points->gpu->turn;
  values_shape s = {.n = c->points->n,
                    .at = c->values_at,
                    .components = p->n_map,
                    .f32 = c->values_f32,
                    .turned = turn.base && p->n_map > 1,
                    .first = p->n_map == 3};
  if (!turn.base)
    turn = phase; // not read
  kugel__grid grid = {.blocks = {(uint32_t)((s.n + BLOCK - 1) / BLOCK)}, .threads = {BLOCK}};
  kugel__mem from = to_values ? c->numbers : c->values, to = to_values ? c->values : c->numbers;
  kugel__arg args[] = {KUGEL__MEM_ARG(from), KUGEL__MEM_ARG(phase), KUGEL__MEM_ARG(turn), KUGEL__MEM_ARG(to),
                       KUGEL__VALUE_ARG(s)};
  return kugel__launch(c->g->dev, to_values ? c->g->to_values : c->g->from_values, &grid, 5, args, c->queue);
}

/* ---- arrays of the stages ---- */

typedef struct shaped {
  kugel_array a;
  int64_t shape[3];
} shaped;

static const kugel_array *shape(const call *c, kugel__mem mem, int64_t rows, int64_t columns, shaped *s)
{
  s->shape[0] = c->plan->n_map;
  s->shape[1] = rows ? rows : columns;
  s->shape[2] = columns;
  s->a = (kugel_array){.data = mem.base,
                       .byte_offset = mem.offset,
                       .device = c->g->dev->info.device,
                       .ndim = rows ? 3 : 2,
                       .dtype = c->plan->single ? KUGEL_C64 : KUGEL_C128,
                       .shape = s->shape};
  return &s->a;
}

static kugel__leg_gpu_job legendre_job(const call *c)
{
  return (kugel__leg_gpu_job){
      .alm = c->alm, .leg = c->coefs, .work = c->leg_work, .alm_at = c->alm_at, .f32 = c->alm_f32};
}

/* ---- one set ---- */

static kugel_status synthesis(const call *c)
{
  const kugel_sht_points_plan *p = c->plan;
  kugel__leg_gpu_job job = legendre_job(c);
  shaped grid, numbers;
  shape(c, c->grid, p->mmax + 1, p->circle, &grid);
  shape(c, c->numbers, 0, c->points->n, &numbers);
  if (!c->points->n)
    return KUGEL_OK;
  // sums of orders that do not reach a ring are not written
  KUGEL_TRY(kugel__device_fill(c->g->dev, c->coefs, 0, c->g->coefs, c->queue));
  KUGEL_TRY(kugel__leg_gpu_synth(c->g->leg, &job, c->queue));
  KUGEL_TRY(launch_torus(c, c->g->extend, c->coefs, c->grid));
  KUGEL_TRY(kugel_fft_execute(p->fft, KUGEL_FORWARD, &grid.a, &grid.a, c->queue));
  KUGEL_TRY(kugel_nufft_execute(c->points->places, &grid.a, &numbers.a, c->queue));
  return launch_values(c, true);
}

static kugel_status adjoint(const call *c)
{
  const kugel_sht_points_plan *p = c->plan;
  kugel__leg_gpu_job job = legendre_job(c);
  shaped grid, numbers;
  shape(c, c->grid, p->mmax + 1, p->circle, &grid);
  shape(c, c->numbers, 0, c->points->n, &numbers);
  if (c->points->n)
    KUGEL_TRY(launch_values(c, false));
  KUGEL_TRY(kugel_nufft_adjoint(c->points->places, &numbers.a, &grid.a, c->queue));
  KUGEL_TRY(kugel_fft_execute(p->fft, KUGEL_INVERSE, &grid.a, &grid.a, c->queue));
  KUGEL_TRY(launch_torus(c, c->g->fold, c->grid, c->coefs));
  return kugel__leg_gpu_adjoint(c->g->leg, &job, c->queue);
}

/* ---- all sets ---- */

static kugel_status all_sets(call *c, bool to_alm, int64_t batch)
{
  const kugel_sht_points_plan *p = c->plan;
  struct kugel__points_gpu *g = c->g;
  kugel__mem *parts[] = {&c->coefs, &c->leg_work, &c->grid, &c->numbers};
  const size_t numbers = (size_t)(p->n_map * kugel__max(1, c->points->n)) * (p->single ? 8 : 16);
  const size_t sizes[] = {g->coefs, g->leg_work, g->grid, numbers};
  size_t at = 0, starts[4];
  for (int i = 0; i < 4; i++) {
    starts[i] = at;
    at += (sizes[i] + PAGE - 1) / PAGE * PAGE;
  }
  kugel__gpu_hold hold;
  KUGEL_TRY(kugel__gpu_work_take(g->dev, &g->work, at, c->queue, &hold));
  for (int i = 0; i < 4; i++)
    *parts[i] = (kugel__mem){hold.memory, starts[i]};
  kugel_status s = KUGEL_OK;
  for (int64_t b = 0; !s && b < batch; b++) {
    kugel__span span = kugel__progress_enter((double)b / (double)batch, (double)(b + 1) / (double)batch);
    s = to_alm ? adjoint(c) : synthesis(c);
    kugel__progress_leave(span);
    c->alm_at += p->n_alm * p->nalm;
    c->values_at += p->n_map * c->points->n;
  }
  if (s)
    g->dev->ops->wait(c->queue); // nothing may still be running on the memory
  kugel__gpu_work_give(g->dev, &hold);
  return s;
}

kugel_status kugel__points_gpu_run(const kugel_sht_points *points, bool to_alm, const kugel_array *alm,
                                   const kugel_array *values, int64_t batch, kugel_queue *queue)
{
  const kugel_sht_points_plan *p = points->plan;
  call c = {.points = points,
            .plan = p,
            .g = p->gpu,
            .alm_f32 = alm->dtype.bits == 64,
            .values_f32 = values->dtype.bits == 32};
  kugel__loan loans[2] = {0};
  KUGEL_TRY(kugel__queue_of(c.g->dev, queue, &c.queue));
  kugel_status s = kugel__points_gpu_lend(p, alm, "alm", to_alm ? KUGEL__WRITE : KUGEL__READ,
                                          alm->dtype.bits / 8, c.queue, &loans[0], &c.alm_at);
  if (!s)
    s = kugel__points_gpu_lend(p, values, "values", to_alm ? KUGEL__READ : KUGEL__WRITE,
                               values->dtype.bits / 8, c.queue, &loans[1], &c.values_at);
  c.alm = loans[0].mem;
  c.values = loans[1].mem;
  if (!s && batch)
    s = all_sets(&c, to_alm, batch);
  s = kugel__lend_end(2, loans, c.queue, s);
  return s || queue ? s : c.g->dev->ops->wait(c.queue);
}
