/* SPDX-License-Identifier: BSD-3-Clause */
/* The solver of lines on their own in two passes, see fft/cpu/longline.h: a thread to a line, or all threads to
 * one line where those are few and long. Cosine and sine kinds go between the sweeps of fft/cpu/trig.h. */
#include <math.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/cpu/solver.h"
#include "fft/cpu/sweep.h"

enum { TOGETHER = 65536 }; // points from which on all threads may share a line

bool kugel__long_lines_apply(const kugel__line_problem *p, const kugel__step *step)
{
  (void)p, (void)step;
  return true;
}

kugel_status kugel__long_lines_plan(kugel_ctx *ctx, const kugel__line_problem *p, kugel__step *step)
{
  if (p->kind == KUGEL_FFT_C2C || p->kind == KUGEL_FFT_R2C)
    return kugel__longline_create(ctx, kugel__long_kind_of(p), p->n, &step->line);
  KUGEL_TRY(kugel__trig_create(ctx, p->kind, p->n, &step->trig));
  return step->trig.length ? kugel__longline_create(ctx, step->trig.dft, step->trig.length, &step->line)
                           : KUGEL_OK;
}

void kugel__long_lines_free(kugel_ctx *ctx, kugel__step *step)
{
  kugel__longline_destroy(ctx, &step->line);
  kugel__trig_destroy(ctx, &step->trig);
}

// A line takes about twice its share of full lanes, and less than that if both passes reach the arrays well.
double kugel__long_lines_cost(const kugel__pass *t, int64_t lines)
{
  const kugel__longline *l = &t->step->line;
  if (!l->first)
    return INFINITY;
  return (l->quick && kugel__lines_adjacent(t) ? 0.5 : 2) * (double)lines;
}

// Line i of the arrays.
static kugel__longjob place(const kugel__sweep *s, int64_t i)
{
  const kugel__pass *t = s->pass;
  kugel__longjob job = s->job;
  int64_t in, out, real = t->f32 ? 4 : 8;
  bool trig = t->step->trig.length > 0;
  kugel__long_kind kind = job.line->kind;
  kugel__line_at(t, i, &in, &out);
  job.in = t->in->data + in * real * (trig || kind == KUGEL__LONG_R2C ? 1 : 2);
  job.out = t->out->data + out * real * (trig || kind == KUGEL__LONG_C2R ? 1 : 2);
  return job;
}

// The DFT between the sweeps of cosine and sine kinds.
static kugel__longjob in_buffer(const kugel__sweep *s, double *buffer)
{
  return (kugel__longjob){.line = s->job.line,
                          .in = (char *)buffer,
                          .out = (char *)buffer,
                          .in_step = 1,
                          .out_step = 1,
                          .scale = 1,
                          .middle = s->job.middle};
}

static kugel_status one_by_one(void *arg, int64_t task, int worker)
{
  const kugel__sweep *s = arg;
  const kugel__trig *trig = &s->pass->step->trig;
  const kugel__longline *line = s->job.line;
  const kugel__long_ops *ops = kugel__long_ops_now();
  int64_t first = s->first + task * s->task_lines, end = kugel__min(s->end, first + s->task_lines);
  double *work = kugel__worker_scratch(s, worker), *middle = work + line->points * 2 * ops->vlen;
  double *buffer = middle + line->middle * 2 * ops->vlen;
  for (int64_t i = first; i < end; i++) {
    kugel__longjob job = place(s, i), dft = trig->length ? in_buffer(s, buffer) : job;
    dft.middle = middle;
    if (trig->length)
      kugel__trig_before(trig, &job, 0, kugel__trig_steps(trig, false), buffer);
    ops->first(&dft, 0, line->groups, work);
    ops->second(&dft, 0, line->blocks, work);
    if (trig->length)
      kugel__trig_after(trig, &job, 0, kugel__trig_steps(trig, true), buffer);
  }
  return KUGEL_OK;
}

static kugel_status first_pass(void *arg, int64_t task, int worker)
{
  const kugel__sweep *s = arg;
  int64_t groups = s->job.line->groups, begin = task * s->task_lines;
  kugel__long_ops_now()->first(&s->job, begin, kugel__min(groups, begin + s->task_lines),
                               kugel__worker_scratch(s, worker));
  return KUGEL_OK;
}

static kugel_status second_pass(void *arg, int64_t task, int worker)
{
  const kugel__sweep *s = arg;
  int64_t blocks = s->job.line->blocks, begin = task * s->task_lines;
  kugel__long_ops_now()->second(&s->job, begin, kugel__min(blocks, begin + s->task_lines),
                                kugel__worker_scratch(s, worker));
  return KUGEL_OK;
}

static kugel_status before(void *arg, int64_t task)
{
  const kugel__sweep *s = arg;
  const kugel__trig *trig = &s->pass->step->trig;
  int64_t begin = task * KUGEL__TASK_POINTS,
          end = kugel__min(begin + KUGEL__TASK_POINTS, kugel__trig_steps(trig, false));
  kugel__trig_before(trig, &s->job, begin, end, s->buffer);
  return KUGEL_OK;
}

static kugel_status after(void *arg, int64_t task)
{
  const kugel__sweep *s = arg;
  const kugel__trig *trig = &s->pass->step->trig;
  int64_t begin = task * KUGEL__TASK_POINTS,
          end = kugel__min(begin + KUGEL__TASK_POINTS, kugel__trig_steps(trig, true));
  kugel__trig_after(trig, &s->job, begin, end, s->buffer);
  return KUGEL_OK;
}

// Both passes of the line in s->job, all workers on it: task_lines counts units of the passes.
static kugel_status passes(kugel_ctx *ctx, kugel__sweep *s)
{
  const kugel__longline *l = s->job.line;
  int64_t vlen = kugel__long_ops_now()->vlen;
  s->task_lines = kugel__max(1, KUGEL__TASK_POINTS / (l->rows * vlen));
  KUGEL_TRY(kugel__each_task(ctx, (l->groups + s->task_lines - 1) / s->task_lines, first_pass, s));
  s->task_lines = kugel__max(1, KUGEL__TASK_POINTS / (l->cols * vlen));
  return kugel__each_task(ctx, (l->blocks + s->task_lines - 1) / s->task_lines, second_pass, s);
}

static kugel_status together(kugel_ctx *ctx, kugel__sweep *s)
{
  const kugel__trig *trig = &s->pass->step->trig;
  int64_t first = s->first, end = s->end;
  for (int64_t i = first; i < end; i++) {
    kugel__longjob job = place(s, i), none = s->job;
    kugel_status status = KUGEL_OK;
    s->job = job;
    if (trig->length) {
      status = kugel__parallel(
          ctx, (kugel__trig_steps(trig, false) + KUGEL__TASK_POINTS - 1) / KUGEL__TASK_POINTS, before, s);
      s->job = in_buffer(s, s->buffer);
    }
    status = status ? status : passes(ctx, s);
    s->job = job;
    if (trig->length && !status)
      status = kugel__parallel(
          ctx, (kugel__trig_steps(trig, true) + KUGEL__TASK_POINTS - 1) / KUGEL__TASK_POINTS, after, s);
    s->job = none;
    KUGEL_TRY(status);
  }
  return KUGEL_OK;
}

kugel_status kugel__long_lines_run(kugel_ctx *ctx, const kugel__pass *t, int64_t first, int64_t end)
{
  const kugel__longline *l = &t->step->line;
  int64_t vlen = kugel__long_ops_now()->vlen, threads = kugel__ctx_threads(ctx);
  kugel__sweep s = {.pass = t,
                    .first = first,
                    .end = end,
                    .task_lines = kugel__max(1, KUGEL__TASK_POINTS / l->n),
                    .job = {.line = l,
                            .inverse = t->inverse,
                            .f32 = t->f32,
                            .in_step = t->in->stride[t->at],
                            .out_step = t->out->stride[t->at],
                            .scale = t->scale}};
  int64_t tasks = (end - first + s.task_lines - 1) / s.task_lines;
  bool apart = l->n < TOGETHER || tasks >= 2 * threads;
  s.workers = apart ? kugel__min(threads, tasks) : threads;
  size_t work = (size_t)(l->points * 2 * vlen * 8),
         line = (size_t)(l->middle * 2 * vlen + t->step->trig.buffer) * 8;
  s.scratch_size = (work + (apart ? line : 0) + 63) / 64 * 64;
  size_t all = (size_t)s.workers * s.scratch_size;
  s.scratch = kugel__scratch_get(ctx, all + (apart ? 0 : line));
  KUGEL_CHECK(s.scratch, KUGEL_ENOMEM, "no memory for a line of %lld points", (long long)l->n);
  s.job.middle = (double *)(void *)(s.scratch + all);
  s.buffer = s.job.middle + l->middle * 2 * vlen;
  kugel_status status = apart ? kugel__each_task(ctx, tasks, one_by_one, &s) : together(ctx, &s);
  kugel__scratch_put(ctx, s.scratch);
  return status;
}
