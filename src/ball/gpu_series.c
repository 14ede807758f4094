/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators, spectra and profiles on devices: kernels/series.cl, which is compiled when a plan first needs it. */
#include <string.h>
#include "ball/gpu.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/lend.h"

enum { ROWS = 64, THREADS = 128 }; /* of kernels/series.cl */

/* The structs of kernels/series.cl. */
typedef struct rows_args {
  int64_t in, out, rows, n, full, top;
} rows_args;
typedef struct ladder_args {
  rows_args of;
  double a, shift;
  int32_t ins, outs, back, steps;
  kugel__ball_step step[KUGEL__BALL_STEPS];
} ladder_args;
typedef struct profiles_args {
  rows_args of;
  int32_t parts, spin, back, pad;
} profiles_args;
typedef struct energy_args {
  rows_args of;
  int64_t lmax;
  int32_t axis, first, adds, pad;
} energy_args;

static rows_args rows_of(const kugel_ball *p)
{
  int64_t top = p->opts.truncation == KUGEL_BALL_TRIANGULAR    ? 2 * p->n - 1
                : p->opts.truncation == KUGEL_BALL_TRAPEZOIDAL ? p->opts.dmax
                                                               : 2 * p->n + p->lmax;
  return (rows_args){.rows = p->nlm, .n = p->n, .full = p->mmax + 1, .top = top};
}

static kugel_status make(const kugel_ball *p)
{
  struct kugel__ball_gpu *g = p->gpu;
  kugel__module_spec spec = {.name = "ball/series",
                             .defines = p->single ? "#define REAL_BITS 32\n" : "#define REAL_BITS 64\n"};
  pthread_mutex_lock(&g->lock);
  kugel_status s = g->series ? KUGEL_OK : kugel__module_get(p->ctx, &spec, &g->series);
  if (!s && !g->profiles) {
    s = kugel__module_kernel(g->series, "ladder", &g->ladder, NULL);
    s = s ? s : kugel__module_kernel(g->series, "energy", &g->energy, NULL);
    s = s ? s : kugel__module_kernel(g->series, "profiles", &g->profiles, NULL);
  }
  pthread_mutex_unlock(&g->lock);
  return s;
}

static int64_t reals_at(kugel__mem mem, size_t word)
{
  return (int64_t)(mem.offset / word);
}

static kugel_status ladders(const kugel_ball *p, const kugel__ball_op *op, bool transposed, int64_t batch,
                            kugel__mem in, kugel__mem out, kugel_queue *queue)
{
  ladder_args t = {.of = rows_of(p),
                   .a = p->a,
                   .shift = p->shift,
                   .ins = transposed ? op->out : op->in,
                   .outs = transposed ? op->in : op->out,
                   .back = transposed,
                   .steps = op->steps};
  memcpy(t.step, op->step, sizeof t.step);
  kugel__mem x = {in.base, 0}, y = {out.base, 0};
  kugel__grid grid = {.blocks = {(uint32_t)(p->mmax / ROWS + 1), (uint32_t)p->lmax + 1},
                      .threads = {THREADS}};
  for (int64_t i = 0; i < batch; i++) {
    t.of.in = reals_at(in, p->word) + i * t.ins * p->nlm * p->n * 2;
    t.of.out = reals_at(out, p->word) + i * t.outs * p->nlm * p->n * 2;
    kugel__arg args[] = {KUGEL__MEM_ARG(x), KUGEL__MEM_ARG(y), KUGEL__VALUE_ARG(t)};
    KUGEL_TRY(kugel__launch(p->gpu->device, p->gpu->ladder, &grid, 3, args, queue));
  }
  return KUGEL_OK;
}

kugel_status kugel__ball_gpu_apply(const kugel_ball *p, const kugel__ball_op *op, bool transposed,
                                   int64_t batch, const kugel_array *in, const kugel_array *out,
                                   kugel_queue *queue)
{
  kugel__device *device = p->gpu->device;
  kugel_queue *q;
  kugel__loan loans[2] = {{.host = NULL}, {.host = NULL}};
  KUGEL_TRY(kugel__queue_of(device, queue, &q));
  if (!batch)
    return KUGEL_OK;
  KUGEL_TRY(make(p));
  kugel_status s = kugel__lend(device, in, KUGEL__READ, q, &loans[0]);
  s = s ? s : kugel__lend(device, out, KUGEL__WRITE, q, &loans[1]);
  s = s ? s : ladders(p, op, transposed, batch, loans[0].mem, loans[1].mem, q);
  bool there = !loans[0].host && !loans[1].host;
  s = kugel__lend_end(2, loans, q, s);
  return s || queue || !there ? s : device->ops->wait(q);
}

/* One component of a field in orthonormal functions, at work + nr rows; values in radius before. */
static kugel_status convert(const kugel_ball *p, const kugel_jwt *from, const kugel_jwt *to,
                            kugel__mem coeffs, void *work, kugel_queue *queue)
{
  kugel_dtype dtype = p->single ? KUGEL_C64 : KUGEL_C128;
  kugel_array *a = KUGEL_ARRAY(coeffs.base, dtype, p->nlm, p->n),
              *b = KUGEL_ARRAY(work, dtype, p->nlm, p->nr), *c = KUGEL_ARRAY(work, dtype, p->nlm, p->n);
  a->device = b->device = c->device = p->ctx->device;
  a->byte_offset = coeffs.offset;
  c->byte_offset = (size_t)(p->nlm * p->nr) * 2 * p->word;
  KUGEL_TRY(kugel_jwt_synthesis(from, KUGEL_WORLAND_P, a, b, queue));
  return kugel_jwt_analysis(to, KUGEL_WORLAND_P, b, c, queue);
}

typedef struct spectrum {
  const kugel_ball *p;
  int components;
  kugel_ball_axis axis;
  int64_t count;
  kugel_jwt *const *even;
  kugel__mem coeffs, energy;
  void *work;
} spectrum;

static kugel_status one_component(const spectrum *c, int64_t field, int i, kugel_queue *queue)
{
  const kugel_ball *p = c->p;
  kugel__mem in = c->coeffs, out = {c->energy.base, 0};
  in.offset += (size_t)((field * c->components + i) * p->nlm * p->n) * 2 * p->word;
  if (c->even[i]) {
    KUGEL_TRY(convert(p, p->radial[kugel__ball_index(c->components, i)][0], c->even[i], in, c->work, queue));
    in = (kugel__mem){c->work, (size_t)(p->nlm * p->nr) * 2 * p->word};
  }
  energy_args t = {.of = rows_of(p),
                   .lmax = p->lmax,
                   .axis = (int32_t)c->axis,
                   .first = c->components == 3 && i != 1,
                   .adds = i > 0};
  t.of.in = reals_at(in, p->word);
  t.of.out = reals_at(c->energy, 8) + field * c->count;
  in.offset = 0;
  kugel__grid grid = {.blocks = {(uint32_t)c->count}, .threads = {THREADS}};
  kugel__arg args[] = {KUGEL__MEM_ARG(in), KUGEL__MEM_ARG(out), KUGEL__VALUE_ARG(t)};
  return kugel__launch(p->gpu->device, p->gpu->energy, &grid, 3, args, queue);
}

static kugel_status all(const spectrum *c, int64_t batch, kugel_queue *queue)
{
  int64_t steps = batch * c->components;
  kugel_status s = KUGEL_OK;
  kugel__span outer = kugel__progress_enter(0, 1);
  for (int64_t at = 0; !s && at < steps; at++) {
    kugel__progress_stage((double)at / (double)steps, (double)(at + 1) / (double)steps, "spectrum");
    s = one_component(c, at / c->components, (int)(at % c->components), queue);
  }
  kugel__progress_leave(outer);
  return s;
}

kugel_status kugel__ball_gpu_spectrum(const kugel_ball *p, int components, kugel_ball_axis axis,
                                      int64_t count, kugel_jwt *const *even, int64_t batch,
                                      const kugel_array *coeffs, const kugel_array *energy,
                                      kugel_queue *queue)
{
  struct kugel__ball_gpu *g = p->gpu;
  size_t bytes = even[0] ? (size_t)(p->nlm * (p->nr + p->n)) * 2 * p->word : 0;
  kugel_queue *q;
  kugel__gpu_hold hold = {NULL, NULL};
  kugel__loan loans[2] = {{.host = NULL}, {.host = NULL}};
  KUGEL_TRY(kugel__queue_of(g->device, queue, &q));
  KUGEL_TRY(make(p));
  kugel_status s = kugel__lend(g->device, coeffs, KUGEL__READ, q, &loans[0]);
  s = s ? s : kugel__lend(g->device, energy, KUGEL__WRITE, q, &loans[1]);
  s = s ? s : kugel__gpu_work_take(g->device, &g->work, bytes, q, &hold);
  if (!s) {
    spectrum c = {.p = p,
                  .components = components,
                  .axis = axis,
                  .count = count,
                  .even = even,
                  .coeffs = loans[0].mem,
                  .energy = loans[1].mem,
                  .work = hold.memory};
    s = all(&c, batch, q);
    kugel_status waited = g->device->ops->wait(q); /* the transforms in `even` end with the call */
    s = s ? s : waited;
    kugel__gpu_work_give(g->device, &hold);
  }
  return kugel__lend_end(2, loans, q, s);
}

static kugel_status turn(const kugel__ball_call *c, kugel__mem in, kugel__mem out, kugel_queue *queue)
{
  const kugel_ball *p = c->p;
  profiles_args t = {
      .of = rows_of(p), .parts = c->components, .spin = c->kind == KUGEL_BALL_SPIN, .back = !c->to_grid};
  t.of.n = p->nr;
  t.of.in = reals_at(in, p->word);
  t.of.out = reals_at(out, p->word);
  kugel__mem x = {in.base, 0}, y = {out.base, 0};
  kugel__grid grid = {.blocks = {(uint32_t)p->mmax + 1, (uint32_t)p->lmax + 1}, .threads = {THREADS}};
  kugel__arg args[] = {KUGEL__MEM_ARG(x), KUGEL__MEM_ARG(y), KUGEL__VALUE_ARG(t)};
  return kugel__launch(p->gpu->device, p->gpu->profiles, &grid, 3, args, queue);
}

/* Radial transforms write profiles where they belong; those of the caller are turned in work memory. */
static kugel_status field_profiles(const kugel__ball_call *c, kugel__mem coeffs, kugel__mem profiles,
                                   void *work, kugel_queue *queue)
{
  kugel__mem rows = c->to_grid ? profiles : (kugel__mem){work, 0};
  if (!c->to_grid)
    KUGEL_TRY(turn(c, profiles, rows, queue));
  KUGEL_TRY(kugel__ball_gpu_radial(c, coeffs, rows, queue));
  return c->to_grid ? turn(c, rows, rows, queue) : KUGEL_OK;
}

kugel_status kugel__ball_gpu_profiles(const kugel__ball_call *c, int64_t batch, const kugel_array *coeffs,
                                      const kugel_array *profiles, kugel_queue *queue)
{
  const kugel_ball *p = c->p;
  struct kugel__ball_gpu *g = p->gpu;
  size_t rows = (size_t)(c->components * p->nlm) * 2 * p->word;
  kugel_queue *q;
  kugel__gpu_hold hold = {NULL, NULL};
  kugel__loan loans[2] = {{.host = NULL}, {.host = NULL}};
  KUGEL_TRY(kugel__queue_of(g->device, queue, &q));
  KUGEL_TRY(make(p));
  kugel_status s = kugel__lend(g->device, coeffs, c->to_grid ? KUGEL__READ : KUGEL__WRITE, q, &loans[0]);
  s = s ? s : kugel__lend(g->device, profiles, c->to_grid ? KUGEL__WRITE : KUGEL__READ, q, &loans[1]);
  s = s ? s : kugel__gpu_work_take(g->device, &g->work, c->to_grid ? 0 : rows * (size_t)p->nr, q, &hold);
  for (int64_t i = 0; !s && i < batch; i++) {
    kugel__mem a = loans[0].mem, b = loans[1].mem;
    a.offset += (size_t)(i * p->n) * rows;
    b.offset += (size_t)(i * p->nr) * rows;
    kugel__progress_stage((double)i / (double)batch, (double)(i + 1) / (double)batch, "profiles");
    s = field_profiles(c, a, b, hold.memory, q);
  }
  kugel_status waited = g->device->ops->wait(q); /* nothing may still use the arrays */
  kugel__gpu_work_give(g->device, &hold);
  return kugel__lend_end(2, loans, q, s ? s : waited);
}
