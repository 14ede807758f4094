/* SPDX-License-Identifier: BSD-3-Clause */
/* The solver of lines on their own whose length has a large prime factor, see fft/cpu/chirpline.h. */
#include <math.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/cpu/solver.h"
#include "fft/cpu/sweep.h"

bool kugel__chirp_lines_apply(const kugel__line_problem *p, const kugel__step *step)
{
  return (p->kind == KUGEL_FFT_C2C || p->kind == KUGEL_FFT_R2C) && !step->line.first;
}

kugel_status kugel__chirp_lines_plan(kugel_ctx *ctx, const kugel__line_problem *p, kugel__step *step)
{
  return kugel__chirpline_create(ctx, kugel__long_kind_of(p), p->n, &step->chirp);
}

void kugel__chirp_lines_free(kugel_ctx *ctx, kugel__step *step)
{
  kugel__chirpline_destroy(ctx, &step->chirp);
}

double kugel__chirp_lines_cost(const kugel__pass *t, int64_t lines)
{
  return t->step->chirp.n ? 2 * (double)lines : INFINITY;
}

static kugel_status chirps(void *arg, int64_t task, int worker)
{
  const kugel__sweep *s = arg;
  const kugel__pass *t = s->pass;
  kugel__longjob job = s->job;
  kugel__long_kind kind = t->step->chirp.kind;
  int64_t in, out, real = t->f32 ? 4 : 8;
  kugel__line_at(t, s->first + task, &in, &out);
  job.in = t->in->data + in * real * (kind == KUGEL__LONG_R2C ? 1 : 2);
  job.out = t->out->data + out * real * (kind == KUGEL__LONG_C2R ? 1 : 2);
  job.middle = kugel__worker_scratch(s, worker);
  kugel__chirpline_run(&t->step->chirp, &job);
  return KUGEL_OK;
}

kugel_status kugel__chirp_lines_run(kugel_ctx *ctx, const kugel__pass *t, int64_t first, int64_t end)
{
  const kugel__chirpline *l = &t->step->chirp;
  kugel__sweep s = {.pass = t,
                    .first = first,
                    .end = end,
                    .scratch_size = (size_t)(l->points * 2 * kugel__long_ops_now()->vlen * 8),
                    .job = {.line = &l->transform,
                            .inverse = t->inverse,
                            .f32 = t->f32,
                            .in_step = t->in->stride[t->at],
                            .out_step = t->out->stride[t->at],
                            .scale = t->scale}};
  s.workers = kugel__min(kugel__ctx_threads(ctx), end - first);
  s.scratch = kugel__scratch_get(ctx, (size_t)s.workers * s.scratch_size);
  KUGEL_CHECK(s.scratch, KUGEL_ENOMEM, "no memory for a line of %lld points", (long long)l->n);
  kugel_status status = kugel__each_task(ctx, end - first, chirps, &s);
  kugel__scratch_put(ctx, s.scratch);
  return status;
}
