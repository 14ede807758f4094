/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of a pass: full vectors of them through the lanes, long ones and those left over one by one. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/pass.h"

enum { TASK_POINTS = 1 << 15, LONG = 65536 /* from here on the lanes of whole lines leave the caches */ };

static kugel_status make_line(kugel_ctx *ctx, kugel_fft_kind kind, bool inverse, int64_t n, kugel__step *step)
{
  if (kind == KUGEL_FFT_C2C || kind == KUGEL_FFT_R2C) {
    kugel__long_kind line = kind == KUGEL_FFT_C2C ? KUGEL__LONG_C2C
                            : inverse             ? KUGEL__LONG_C2R
                                                  : KUGEL__LONG_R2C;
    KUGEL_TRY(kugel__shortline_create(ctx, line, n, &step->brief));
    KUGEL_TRY(kugel__longline_create(ctx, line, n, &step->line));
    return step->line.first ? KUGEL_OK : kugel__chirpline_create(ctx, line, n, &step->chirp);
  }
  KUGEL_TRY(kugel__trig_create(ctx, kind, n, &step->trig));
  return step->trig.length ? kugel__longline_create(ctx, step->trig.dft, step->trig.length, &step->line)
                           : KUGEL_OK;
}

kugel_status kugel__step_create(kugel_ctx *ctx, kugel_fft_kind kind, bool inverse, int64_t n,
                                kugel__step *out)
{
  *out = (kugel__step){0};
  kugel_status s = make_line(ctx, kind, inverse, n, out);
  if (!s && (n < LONG || !out->line.first))
    s = kugel__axis_create(ctx, kind, n, &out->axis);
  if (s)
    kugel__step_destroy(ctx, out);
  return s;
}

void kugel__step_destroy(kugel_ctx *ctx, kugel__step *step)
{
  kugel__axis_destroy(ctx, &step->axis);
  kugel__shortline_destroy(ctx, &step->brief);
  kugel__longline_destroy(ctx, &step->line);
  kugel__chirpline_destroy(ctx, &step->chirp);
  kugel__trig_destroy(ctx, &step->trig);
}

typedef struct sweep {
  const kugel__pass *pass;
  int64_t first, lines, task_lines; // of all lines
  char *scratch;
  size_t scratch_size; // of one worker
  kugel__longjob job;
  double *buffer; // of cosine and sine kinds, when all workers share a line
} sweep;

static double *worker_scratch(const sweep *s, int worker)
{
  return (double *)(void *)(s->scratch + (size_t)worker * s->scratch_size);
}

// First elements of line `index` in both arrays: row-major over all axes but the one transformed.
static void locate(const kugel__pass *t, int64_t index, int64_t *in, int64_t *out)
{
  *in = *out = 0;
  for (int d = t->in->ndim - 1; d >= 0; d--) {
    if (d == t->at)
      continue;
    int64_t i = index % t->in->shape[d];
    index /= t->in->shape[d];
    *in += i * t->in->stride[d];
    *out += i * t->out->stride[d];
  }
}

// The same of `vlen` lines from `first` on; beyond `count`, of line `first` again. `near`: the arrays hold
// those of the lines just before.
static void locate_all(const kugel__pass *t, int64_t first, int count, int vlen, bool near, int64_t *in,
                       int64_t *out)
{
  int last = t->in->ndim - 1 - (t->at == t->in->ndim - 1); // the axis along which lines follow each other
  int64_t extent = last < 0 ? 1 : t->in->shape[last], at = first % extent;
  int64_t si = last < 0 ? 0 : t->in->stride[last], so = last < 0 ? 0 : t->out->stride[last];
  if (near && at >= vlen && at + vlen <= extent && count == vlen) {
    for (int i = 0; i < vlen; i++) {
      in[i] += vlen * si;
      out[i] += vlen * so;
    }
    return;
  }
  locate(t, first, in, out);
  for (int i = 1; i < vlen; i++) {
    if (i >= count) {
      in[i] = in[0];
      out[i] = out[0];
    } else if (++at < extent) {
      in[i] = in[i - 1] + si;
      out[i] = out[i - 1] + so;
    } else {
      locate(t, first + i, in + i, out + i);
      at = 0;
    }
  }
}

// Hands tasks out, or does the only one at once.
static kugel_status each(kugel_ctx *ctx, int64_t tasks, kugel__task task, sweep *s)
{
  return tasks == 1 ? task(s, 0, 0) : kugel__parallel(ctx, tasks, task, s);
}

/* ---- lines in lanes ---- */

static kugel_status in_lanes(void *arg, int64_t task, int worker)
{
  const sweep *s = arg;
  const kugel__pass *t = s->pass;
  const kugel__line_ops *ops = kugel__line_ops_now();
  int vlen = kugel__lanes_ops_now()->vlen * kugel__axis_lines(&t->step->axis);
  int64_t in_at[16], out_at[16], end = kugel__min(s->lines, (task + 1) * s->task_lines);
  kugel__lines l = {.axis = &t->step->axis,
                    .inverse = t->inverse,
                    .f32 = t->f32,
                    .in = t->in->data,
                    .out = t->out->data,
                    .in_at = in_at,
                    .out_at = out_at,
                    .in_step = t->in->stride[t->at],
                    .out_step = t->out->stride[t->at],
                    .scale = t->scale};
  for (int64_t first = task * s->task_lines; first < end; first += vlen) {
    l.count = (int)kugel__min(vlen, end - first);
    locate_all(t, first, l.count, vlen, first > task * s->task_lines, in_at, out_at);
    ops->run(&l, (double *)(void *)(s->scratch + (size_t)worker * s->scratch_size));
  }
  return KUGEL_OK;
}

static kugel_status run_lanes(kugel_ctx *ctx, const kugel__pass *t, int64_t lines)
{
  const kugel__axis *axis = &t->step->axis;
  int64_t vlen = kugel__lanes_ops_now()->vlen;
  int64_t group = vlen * kugel__axis_lines(axis);
  sweep s = {.pass = t, .lines = lines, .task_lines = kugel__max(1, TASK_POINTS / (axis->n * vlen)) * group};
  int64_t tasks = (lines + s.task_lines - 1) / s.task_lines,
          workers = kugel__min(kugel__ctx_threads(ctx), tasks);
  s.scratch_size = (size_t)(axis->points * 2 * vlen * 8 + 64);
  s.scratch = kugel__scratch_get(ctx, (size_t)workers * s.scratch_size);
  KUGEL_CHECK(s.scratch, KUGEL_ENOMEM, "no memory for lines of %lld points", (long long)axis->n);
  kugel_status status = each(ctx, tasks, in_lanes, &s);
  kugel__scratch_put(ctx, s.scratch);
  return status;
}

/* ---- short lines of adjacent elements ---- */

static kugel_status short_lines(void *arg, int64_t task, int worker)
{
  const sweep *s = arg;
  const kugel__pass *t = s->pass;
  const kugel__shortline *l = &t->step->brief;
  kugel__shortjob job = {.line = l, .inverse = t->inverse, .f32 = t->f32, .scale = t->scale};
  int64_t real = t->f32 ? 4 : 8, size_in = l->kind == KUGEL__LONG_R2C ? real : 2 * real,
          size_out = l->kind == KUGEL__LONG_C2R ? real : 2 * real;
  int last = t->in->ndim - 1 - (t->at == t->in->ndim - 1); // the axis along which lines follow each other
  int64_t extent = last < 0 ? 1 : t->in->shape[last], end = kugel__min(s->lines, (task + 1) * s->task_lines);
  job.in_pitch = last < 0 ? 0 : t->in->stride[last] * size_in;
  job.out_pitch = last < 0 ? 0 : t->out->stride[last] * size_out;
  job.work = l->points ? worker_scratch(s, worker) : NULL;
  for (int64_t i = task * s->task_lines; i < end; i += job.count) {
    int64_t in, out;
    locate(t, i, &in, &out);
    job.count = kugel__min(end - i, extent - i % extent);
    job.in = t->in->data + in * size_in;
    job.out = t->out->data + out * size_out;
    kugel__short_ops_now()->run(&job);
  }
  return KUGEL_OK;
}

static kugel_status run_short(kugel_ctx *ctx, const kugel__pass *t, int64_t lines)
{
  const kugel__shortline *l = &t->step->brief;
  sweep s = {.pass = t, .lines = lines, .task_lines = TASK_POINTS / l->n};
  int64_t tasks = (lines + s.task_lines - 1) / s.task_lines;
  if (l->points == 0)
    return each(ctx, tasks, short_lines, &s);
  s.scratch_size = (size_t)(l->points * 2 * kugel__short_ops_now()->vlen * 8);
  s.scratch = kugel__scratch_get(ctx, (size_t)kugel__min(kugel__ctx_threads(ctx), tasks) * s.scratch_size);
  KUGEL_CHECK(s.scratch, KUGEL_ENOMEM, "no memory for a line of %lld points", (long long)l->n);
  kugel_status status = each(ctx, tasks, short_lines, &s);
  kugel__scratch_put(ctx, s.scratch);
  return status;
}

/* ---- lines on their own ---- */

// Line i of the arrays.
static kugel__longjob place(const sweep *s, int64_t i)
{
  const kugel__pass *t = s->pass;
  kugel__longjob job = s->job;
  int64_t in, out, real = t->f32 ? 4 : 8;
  bool trig = t->step->trig.length > 0;
  kugel__long_kind kind = t->step->chirp.n ? t->step->chirp.kind : job.line->kind;
  locate(t, i, &in, &out);
  job.in = t->in->data + in * real * (trig || kind == KUGEL__LONG_R2C ? 1 : 2);
  job.out = t->out->data + out * real * (trig || kind == KUGEL__LONG_C2R ? 1 : 2);
  return job;
}

// The DFT between the sweeps of cosine and sine kinds.
static kugel__longjob in_buffer(const sweep *s, double *buffer)
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
  const sweep *s = arg;
  const kugel__trig *trig = &s->pass->step->trig;
  const kugel__longline *line = s->job.line;
  const kugel__long_ops *ops = kugel__long_ops_now();
  int64_t first = s->first + task * s->task_lines, end = kugel__min(s->lines, first + s->task_lines);
  double *work = worker_scratch(s, worker), *middle = work + line->points * 2 * ops->vlen;
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
  const sweep *s = arg;
  int64_t groups = s->job.line->groups, begin = task * s->task_lines;
  kugel__long_ops_now()->first(&s->job, begin, kugel__min(groups, begin + s->task_lines),
                               worker_scratch(s, worker));
  return KUGEL_OK;
}

static kugel_status second_pass(void *arg, int64_t task, int worker)
{
  const sweep *s = arg;
  int64_t blocks = s->job.line->blocks, begin = task * s->task_lines;
  kugel__long_ops_now()->second(&s->job, begin, kugel__min(blocks, begin + s->task_lines),
                                worker_scratch(s, worker));
  return KUGEL_OK;
}

static kugel_status before(void *arg, int64_t task, int worker)
{
  const sweep *s = arg;
  const kugel__trig *trig = &s->pass->step->trig;
  int64_t begin = task * TASK_POINTS, end = kugel__min(begin + TASK_POINTS, kugel__trig_steps(trig, false));
  (void)worker;
  kugel__trig_before(trig, &s->job, begin, end, s->buffer);
  return KUGEL_OK;
}

static kugel_status after(void *arg, int64_t task, int worker)
{
  const sweep *s = arg;
  const kugel__trig *trig = &s->pass->step->trig;
  int64_t begin = task * TASK_POINTS, end = kugel__min(begin + TASK_POINTS, kugel__trig_steps(trig, true));
  (void)worker;
  kugel__trig_after(trig, &s->job, begin, end, s->buffer);
  return KUGEL_OK;
}

// Both passes of the line in s->job, all workers on it: task_lines counts units of the passes.
static kugel_status passes(kugel_ctx *ctx, sweep *s)
{
  const kugel__longline *l = s->job.line;
  int64_t vlen = kugel__long_ops_now()->vlen;
  s->task_lines = kugel__max(1, TASK_POINTS / (l->rows * vlen));
  KUGEL_TRY(each(ctx, (l->groups + s->task_lines - 1) / s->task_lines, first_pass, s));
  s->task_lines = kugel__max(1, TASK_POINTS / (l->cols * vlen));
  return each(ctx, (l->blocks + s->task_lines - 1) / s->task_lines, second_pass, s);
}

static kugel_status together(kugel_ctx *ctx, sweep *s)
{
  const kugel__trig *trig = &s->pass->step->trig;
  int64_t first = s->first, lines = s->lines;
  for (int64_t i = first; i < lines; i++) {
    kugel__longjob job = place(s, i), none = s->job;
    kugel_status status = KUGEL_OK;
    s->job = job;
    if (trig->length) {
      status = each(ctx, (kugel__trig_steps(trig, false) + TASK_POINTS - 1) / TASK_POINTS, before, s);
      s->job = in_buffer(s, s->buffer);
    }
    status = status ? status : passes(ctx, s);
    s->job = job;
    if (trig->length && !status)
      status = each(ctx, (kugel__trig_steps(trig, true) + TASK_POINTS - 1) / TASK_POINTS, after, s);
    s->job = none;
    KUGEL_TRY(status);
  }
  return KUGEL_OK;
}

static kugel_status run_long(kugel_ctx *ctx, const kugel__pass *t, int64_t first, int64_t lines)
{
  const kugel__longline *l = &t->step->line;
  int64_t vlen = kugel__long_ops_now()->vlen, threads = kugel__ctx_threads(ctx);
  sweep s = {.pass = t,
             .first = first,
             .lines = lines,
             .task_lines = kugel__max(1, TASK_POINTS / l->n),
             .job = {.line = l,
                     .inverse = t->inverse,
                     .f32 = t->f32,
                     .in_step = t->in->stride[t->at],
                     .out_step = t->out->stride[t->at],
                     .scale = t->scale}};
  int64_t tasks = (lines - first + s.task_lines - 1) / s.task_lines, workers = kugel__min(threads, tasks);
  bool apart = l->n < LONG || tasks >= 2 * threads;
  size_t work = (size_t)(l->points * 2 * vlen * 8),
         line = (size_t)(l->middle * 2 * vlen + t->step->trig.buffer) * 8;
  s.scratch_size = (work + (apart ? line : 0) + 63) / 64 * 64;
  size_t all = (size_t)(apart ? workers : threads) * s.scratch_size;
  s.scratch = kugel__scratch_get(ctx, all + (apart ? 0 : line));
  KUGEL_CHECK(s.scratch, KUGEL_ENOMEM, "no memory for a line of %lld points", (long long)l->n);
  s.job.middle = (double *)(void *)(s.scratch + all);
  s.buffer = s.job.middle + l->middle * 2 * vlen;
  kugel_status status = apart ? each(ctx, tasks, one_by_one, &s) : together(ctx, &s);
  kugel__scratch_put(ctx, s.scratch);
  return status;
}

static kugel_status chirps(void *arg, int64_t task, int worker)
{
  const sweep *s = arg;
  kugel__longjob job = place(s, s->first + task);
  job.middle = worker_scratch(s, worker);
  kugel__chirpline_run(&s->pass->step->chirp, &job);
  return KUGEL_OK;
}

static kugel_status run_chirps(kugel_ctx *ctx, const kugel__pass *t, int64_t first, int64_t lines)
{
  const kugel__chirpline *l = &t->step->chirp;
  sweep s = {.pass = t,
             .first = first,
             .lines = lines,
             .scratch_size = (size_t)(l->points * 2 * kugel__long_ops_now()->vlen * 8),
             .job = {.line = &l->transform,
                     .inverse = t->inverse,
                     .f32 = t->f32,
                     .in_step = t->in->stride[t->at],
                     .out_step = t->out->stride[t->at],
                     .scale = t->scale}};
  int64_t workers = kugel__min(kugel__ctx_threads(ctx), lines - first);
  s.scratch = kugel__scratch_get(ctx, (size_t)workers * s.scratch_size);
  KUGEL_CHECK(s.scratch, KUGEL_ENOMEM, "no memory for a line of %lld points", (long long)l->n);
  kugel_status status = each(ctx, lines - first, chirps, &s);
  kugel__scratch_put(ctx, s.scratch);
  return status;
}

kugel_status kugel__pass_run(kugel_ctx *ctx, const kugel__pass *t)
{
  const kugel__step *step = t->step;
  int64_t lines = 1, vlen = kugel__lanes_ops_now()->vlen;
  for (int d = 0; d < t->in->ndim; d++)
    lines *= d == t->at ? 1 : t->in->shape[d];
  bool adjacent = t->in->stride[t->at] == 1 && t->out->stride[t->at] == 1;
  if (step->brief.n && adjacent)
    return run_short(ctx, t, lines);
  int64_t alone = 0, rest = lines % vlen;
  if (!step->axis.lanes || (step->line.quick && adjacent))
    alone = lines;
  else if ((step->line.first || step->chirp.n) && rest <= vlen / 2)
    alone = rest;
  if (alone < lines)
    KUGEL_TRY(run_lanes(ctx, t, lines - alone));
  if (alone == 0)
    return KUGEL_OK;
  return step->chirp.n ? run_chirps(ctx, t, lines - alone, lines) : run_long(ctx, t, lines - alone, lines);
}
