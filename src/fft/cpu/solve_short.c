/* SPDX-License-Identifier: BSD-3-Clause */
/* The solver of short lines whose elements are adjacent, see fft/cpu/shortline.h. */
#include <math.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/cpu/solver.h"
#include "fft/cpu/sweep.h"

bool kugel__short_lines_apply(const kugel__line_problem *p, const kugel__step *step)
{
  (void)step;
  return p->kind == KUGEL_FFT_C2C || p->kind == KUGEL_FFT_R2C;
}

kugel_status kugel__short_lines_plan(kugel_ctx *ctx, const kugel__line_problem *p, kugel__step *step)
{
  return kugel__shortline_create(ctx, kugel__long_kind_of(p), p->n, &step->brief);
}

void kugel__short_lines_free(kugel_ctx *ctx, kugel__step *step)
{
  kugel__shortline_destroy(ctx, &step->brief);
}

double kugel__short_lines_cost(const kugel__pass *t, int64_t lines)
{
  return t->step->brief.n && kugel__lines_adjacent(t) ? 0.25 * (double)lines : INFINITY;
}

static kugel_status short_lines(void *arg, int64_t task, int worker)
{
  const kugel__sweep *s = arg;
  const kugel__pass *t = s->pass;
  const kugel__shortline *l = &t->step->brief;
  kugel__shortjob job = {.line = l, .inverse = t->inverse, .f32 = t->f32, .scale = t->scale};
  int64_t real = t->f32 ? 4 : 8, size_in = l->kind == KUGEL__LONG_R2C ? real : 2 * real,
          size_out = l->kind == KUGEL__LONG_C2R ? real : 2 * real;
  int last = t->in->ndim - 1 - (t->at == t->in->ndim - 1); // the axis along which lines follow each other
  int64_t extent = last < 0 ? 1 : t->in->shape[last], begin = s->first + task * s->task_lines,
          end = kugel__min(s->end, begin + s->task_lines);
  job.in_pitch = last < 0 ? 0 : t->in->stride[last] * size_in;
  job.out_pitch = last < 0 ? 0 : t->out->stride[last] * size_out;
  job.work = l->points ? kugel__worker_scratch(s, worker) : NULL;
  for (int64_t i = begin; i < end; i += job.count) {
    int64_t in, out;
    kugel__line_at(t, i, &in, &out);
    job.count = kugel__min(end - i, extent - i % extent);
    job.in = t->in->data + in * size_in;
    job.out = t->out->data + out * size_out;
    kugel__short_ops_now()->run(&job);
  }
  return KUGEL_OK;
}

kugel_status kugel__short_lines_run(kugel_ctx *ctx, const kugel__pass *t, int64_t first, int64_t end)
{
  const kugel__shortline *l = &t->step->brief;
  kugel__sweep s = {.pass = t, .first = first, .end = end, .task_lines = KUGEL__TASK_POINTS / l->n};
  int64_t tasks = (end - first + s.task_lines - 1) / s.task_lines;
  s.workers = kugel__min(kugel__ctx_threads(ctx), tasks);
  if (l->points == 0)
    return kugel__each_task(ctx, tasks, short_lines, &s);
  s.scratch_size = (size_t)(l->points * 2 * kugel__short_ops_now()->vlen * 8);
  s.scratch = kugel__scratch_get(ctx, (size_t)s.workers * s.scratch_size);
  KUGEL_CHECK(s.scratch, KUGEL_ENOMEM, "no memory for a line of %lld points", (long long)l->n);
  kugel_status status = kugel__each_task(ctx, tasks, short_lines, &s);
  kugel__scratch_put(ctx, s.scratch);
  return status;
}
