/* SPDX-License-Identifier: BSD-3-Clause */
/* The solver of full lanes: a line in each SIMD lane, lines as many as a vector has lanes at a time. */
#include <math.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/cpu/solver.h"
#include "fft/cpu/sweep.h"

enum { LONG = 65536 }; // points from which on the lanes of whole lines leave the caches

bool kugel__full_lanes_apply(const kugel__line_problem *p, const kugel__step *step)
{
  return p->n < LONG || !step->line.first;
}

kugel_status kugel__full_lanes_plan(kugel_ctx *ctx, const kugel__line_problem *p, kugel__step *step)
{
  return kugel__axis_create(ctx, p->kind, p->n, &step->axis);
}

void kugel__full_lanes_free(kugel_ctx *ctx, kugel__step *step)
{
  kugel__axis_destroy(ctx, &step->axis);
}

// Lanes without a line cost what the others do; vlen is a power of two.
double kugel__full_lanes_cost(const kugel__pass *t, int64_t lines)
{
  int64_t vlen = kugel__lanes_ops_now()->vlen;
  return t->step->axis.lanes ? (double)((lines + vlen - 1) & -vlen) : INFINITY;
}

// Lines that share a lane have each other's rounding errors.
static int at_once(const kugel__pass *t)
{
  return t->alike ? 1 : kugel__axis_lines(&t->step->axis);
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
  kugel__line_at(t, first, in, out);
  for (int i = 1; i < vlen; i++) {
    if (i >= count) {
      in[i] = in[0];
      out[i] = out[0];
    } else if (++at < extent) {
      in[i] = in[i - 1] + si;
      out[i] = out[i - 1] + so;
    } else {
      kugel__line_at(t, first + i, in + i, out + i);
      at = 0;
    }
  }
}

static kugel_status in_lanes(void *arg, int64_t task, int worker)
{
  const kugel__sweep *s = arg;
  const kugel__pass *t = s->pass;
  const kugel__line_ops *ops = kugel__line_ops_now();
  int vlen = kugel__lanes_ops_now()->vlen * at_once(t);
  int64_t in_at[16], out_at[16], begin = s->first + task * s->task_lines;
  int64_t end = kugel__min(s->end, begin + s->task_lines);
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
  for (int64_t first = begin; first < end; first += vlen) {
    l.count = (int)kugel__min(vlen, end - first);
    locate_all(t, first, l.count, vlen, first > begin, in_at, out_at);
    l.count = t->alike ? vlen : l.count; // the first line is also those that are not there
    ops->run(&l, (double *)(void *)(s->scratch + (size_t)worker * s->scratch_size));
  }
  return KUGEL_OK;
}

kugel_status kugel__full_lanes_run(kugel_ctx *ctx, const kugel__pass *t, int64_t first, int64_t end)
{
  const kugel__axis *axis = &t->step->axis;
  int64_t vlen = kugel__lanes_ops_now()->vlen;
  int64_t group = vlen * at_once(t);
  kugel__sweep s = {.pass = t,
                    .first = first,
                    .end = end,
                    .task_lines = kugel__max(1, KUGEL__TASK_POINTS / (axis->n * vlen)) * group};
  int64_t tasks = (end - first + s.task_lines - 1) / s.task_lines;
  s.workers = kugel__min(kugel__ctx_threads(ctx), tasks);
  s.scratch_size = (size_t)(axis->points * 2 * vlen * 8 + 64);
  s.scratch = kugel__scratch_get(ctx, (size_t)s.workers * s.scratch_size);
  KUGEL_CHECK(s.scratch, KUGEL_ENOMEM, "no memory for lines of %lld points", (long long)axis->n);
  kugel_status status = kugel__each_task(ctx, tasks, in_lanes, &s);
  kugel__scratch_put(ctx, s.scratch);
  return status;
}
