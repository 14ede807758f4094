/* SPDX-License-Identifier: BSD-3-Clause */
/* Ring plans: one DFT a mirrored pair (north + i south), lengths and phases shared between rings. */
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/rings_plan.h"
#include "fft/roots.h"

KUGEL_DISPATCH(kugel__ring_ops, kugel__ring_ops)

enum { TASK_PAIRS = 8 };

static int by_int64(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int by_double(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int64_t distinct(void *values, int64_t n, int (*compare)(const void *, const void *))
{
  char *v = values;
  int64_t kept = 0;
  qsort(v, (size_t)n, 8, compare);
  for (int64_t i = 0; i < n; i++)
    if (kept == 0 || compare(v + 8 * (kept - 1), v + 8 * i))
      memcpy(v + 8 * kept++, v + 8 * i, 8);
  return kept;
}

static int find_length(const kugel__rings *p, int64_t n)
{
  int lo = 0, hi = p->nlengths - 1;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (p->lengths[mid].n < n)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static int find_phase(const kugel__rings *p, double phi0)
{
  int lo = 0, hi = p->nphases - 1;
  while (lo < hi) {
    int mid = (lo + hi) / 2;
    if (p->phases[mid].phi0 < phi0)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static kugel_status make_jobs(kugel__rings *p, const kugel__rings_desc *d)
{
  int64_t n = d->npairs;
  KUGEL_ALLOC(p->ctx, p->jobs, (size_t)(2 * n) * sizeof *p->jobs);
  KUGEL_ALLOC(p->ctx, p->first_job, (size_t)(n + 1) * 8);
  for (int64_t i = 0; i < n; i++) {
    p->first_job[i] = p->njobs;
    int64_t on = d->offset_north[i], os = d->offset_south[i];
    int64_t mlim = d->mlim ? kugel__min(d->mlim[i], d->mmax) : d->mmax;
    bool joint =
        on < 0 || os < 0 || (d->nphi_north[i] == d->nphi_south[i] && d->phi0_north[i] == d->phi0_south[i]);
    if (joint) {
      int64_t length = on >= 0 ? d->nphi_north[i] : d->nphi_south[i];
      double phi0 = on >= 0 ? d->phi0_north[i] : d->phi0_south[i];
      p->jobs[p->njobs++] = (kugel__ring_job){i, on, os, find_length(p, length), find_phase(p, phi0), mlim};
    } else {
      p->jobs[p->njobs++] = (kugel__ring_job){
          i, on, -1, find_length(p, d->nphi_north[i]), find_phase(p, d->phi0_north[i]), mlim};
      p->jobs[p->njobs++] = (kugel__ring_job){
          i, -1, os, find_length(p, d->nphi_south[i]), find_phase(p, d->phi0_south[i]), mlim};
    }
  }
  p->first_job[n] = p->njobs;
  return KUGEL_OK;
}

static kugel_status make_phases(kugel__rings *p, const double *phi0)
{
  int64_t coarse = p->mmax / KUGEL__FINE + 1;
  KUGEL_ALLOC(p->ctx, p->phases, (size_t)p->nphases * sizeof *p->phases);
  double *t;
  KUGEL_ALLOC(p->ctx, t, (size_t)p->nphases * (size_t)(coarse + KUGEL__FINE) * 16);
  p->tables = t;
  for (int i = 0; i < p->nphases; i++) {
    kugel__turn one = kugel__turn_radians(phi0[i]);
    p->phases[i] = (kugel__phase){phi0[i], t, t + 2 * coarse};
    kugel__roots(KUGEL__NO_TURN, kugel__turn_times(one, KUGEL__FINE), coarse, t, 1);
    kugel__roots(KUGEL__NO_TURN, one, KUGEL__FINE, t + 2 * coarse, 1);
    t += 2 * (coarse + KUGEL__FINE);
  }
  return KUGEL_OK;
}

static kugel_status make_length(kugel__rings *p, kugel__ring_length *l, bool side_by_side)
{
  int vlen = kugel__lanes_ops_now()->vlen;
  l->parts = 1;
  for (int d = vlen; d > 1 && l->parts == 1; d /= 2)
    if (l->n % d == 0)
      l->parts = d;
  l->sub = l->n / l->parts;
  KUGEL_TRY(kugel__lanes_create(p->ctx, l->sub, &l->lanes));
  p->work = kugel__max(p->work, l->sub + kugel__lanes_work(l->lanes) + l->n);
  if (side_by_side) {
    KUGEL_TRY(kugel__lanes_create(p->ctx, l->n, &l->whole));
    p->work = kugel__max(p->work, l->n + kugel__lanes_work(l->whole));
  }
  double *step;
  KUGEL_ALLOC(p->ctx, step, (size_t)l->sub * 16);
  l->step = step;
  kugel__roots(KUGEL__NO_TURN, kugel__turn_ratio(-1, l->n), l->sub, step, 1);
  return KUGEL_OK;
}

static kugel_status make_lengths(kugel__rings *p, const int64_t *n)
{
  KUGEL_CHECK(p->lengths = kugel__calloc(p->ctx, (size_t)p->nlengths * sizeof *p->lengths), KUGEL_ENOMEM,
              "no memory for %d ring lengths", p->nlengths);
  for (int i = 0; i < p->nlengths; i++)
    p->lengths[i].n = n[i];
  return KUGEL_OK;
}

kugel_status kugel__rings_create(kugel_ctx *ctx, const kugel__rings_desc *d, kugel__rings **out)
{
  *out = NULL;
  kugel__rings *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a ring plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->npairs = d->npairs;
  p->mmax = d->mmax;
  int64_t *n = kugel__alloc(ctx, (size_t)(d->npairs * 32)), *uses = NULL;
  kugel_status s =
      n ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld ring pairs", (long long)d->npairs);
  if (!s) {
    double *phi0 = (double *)(n + 2 * d->npairs);
    memcpy(n, d->nphi_north, (size_t)d->npairs * 8);
    memcpy(n + d->npairs, d->nphi_south, (size_t)d->npairs * 8);
    memcpy(phi0, d->phi0_north, (size_t)d->npairs * 8);
    memcpy(phi0 + d->npairs, d->phi0_south, (size_t)d->npairs * 8);
    p->nlengths = (int)distinct(n, 2 * d->npairs, by_int64);
    p->nphases = (int)distinct(phi0, 2 * d->npairs, by_double);
    p->max_n = n[p->nlengths - 1];
    s = make_lengths(p, n);
    s = s ? s : make_phases(p, phi0);
    s = s ? s : make_jobs(p, d);
  }
  if (!s && !(uses = kugel__calloc(ctx, (size_t)p->nlengths * 8)))
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %d ring lengths", p->nlengths);
  for (int64_t j = 0; j < p->njobs && !s; j++)
    uses[p->jobs[j].length]++;
  for (int i = 0; i < p->nlengths && !s; i++)
    s = make_length(p, &p->lengths[i], uses[i] >= kugel__lanes_ops_now()->vlen);
  kugel__free(ctx, n);
  kugel__free(ctx, uses);
  if (s) {
    kugel__rings_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel__rings_destroy(kugel__rings *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  for (int i = 0; i < p->nlengths && p->lengths; i++) {
    kugel__lanes_destroy(p->lengths[i].lanes);
    kugel__lanes_destroy(p->lengths[i].whole);
    kugel__free(ctx, (void *)p->lengths[i].step);
  }
  kugel__free(ctx, p->lengths);
  kugel__free(ctx, p->phases);
  kugel__free(ctx, p->tables);
  kugel__free(ctx, p->jobs);
  kugel__free(ctx, p->first_job);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

static kugel_status run_task(void *arg, int64_t task, int worker)
{
  const kugel__ring_call *c = arg;
  const kugel__rings *p = c->plan;
  double *work = (double *)(c->scratch + (size_t)worker * c->scratch_size);
  int64_t vlen = kugel__lanes_ops_now()->vlen, p0 = c->p0 + task * TASK_PAIRS;
  int64_t j = p->first_job[p0], end = p->first_job[kugel__min(c->p1, p0 + TASK_PAIRS)];
  while (j < end) {
    int64_t count = 1, length = p->jobs[j].length;
    bool adjacent = p->lengths[length].whole != NULL;
    while (adjacent && count < vlen && j + count < end && p->jobs[j + count].length == length &&
           p->jobs[j + count].pair == p->jobs[j].pair + count)
      count++;
    if (count < vlen)
      count = 1;
    kugel__ring_ops_get()->run(c, j, count, work);
    j += count;
  }
  return KUGEL_OK;
}

static kugel_status run(kugel__ring_call *c)
{
  const kugel__rings *p = c->plan;
  size_t workers = (size_t)kugel__ctx_threads(p->ctx);
  c->scratch_size = (size_t)p->work * 16 * (size_t)kugel__lanes_ops_now()->vlen + 64;
  c->scratch = kugel__scratch_get(p->ctx, workers * c->scratch_size);
  KUGEL_CHECK(c->scratch, KUGEL_ENOMEM, "no memory for ring transforms of %lld pixels", (long long)p->max_n);
  kugel_status s = kugel__parallel(p->ctx, (c->p1 - c->p0 + TASK_PAIRS - 1) / TASK_PAIRS, run_task, c);
  kugel__scratch_put(p->ctx, c->scratch);
  return s;
}

kugel_status kugel__rings_synth(const kugel__rings *plan, int64_t p0, int64_t p1, const double *leg,
                                int64_t m_stride, int64_t row, void *map, bool f32)
{
  kugel__ring_call c = {.plan = plan,
                        .p0 = p0,
                        .p1 = p1,
                        .m_stride = m_stride,
                        .row = row,
                        .leg = (double *)leg,
                        .map = map,
                        .f32 = f32};
  return run(&c);
}

kugel_status kugel__rings_adjoint(const kugel__rings *plan, int64_t p0, int64_t p1, const void *map, bool f32,
                                  const double *weight_north, const double *weight_south, double *leg,
                                  int64_t m_stride, int64_t row)
{
  kugel__ring_call c = {.plan = plan,
                        .p0 = p0,
                        .p1 = p1,
                        .m_stride = m_stride,
                        .row = row,
                        .leg = leg,
                        .map = (void *)map,
                        .f32 = f32,
                        .adjoint = true,
                        .weight_north = weight_north,
                        .weight_south = weight_south};
  return run(&c);
}
