/* SPDX-License-Identifier: BSD-3-Clause */
/* Making ring plans: lengths, their DFTs, and phases are shared between rings. */
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/rings/plan.h"
#include "fft/roots/roots.h"

KUGEL_DISPATCH(kugel__ring_ops, kugel__ring_ops)

const kugel__ring_ops *kugel__ring_ops_now(void)
{
  return kugel__ring_ops_get();
}

// The ISAs' vectors up to the one in use, which is at *last.
static const kugel__ring_ops *const *widths(int *last)
{
#if defined(__x86_64__) && !defined(KUGEL_GENERIC)
  static const kugel__ring_ops *const all[] = {&kugel__ring_ops_generic, &kugel__ring_ops_avx2,
                                               &kugel__ring_ops_avx512};
  *last = (int)kugel__cpu_isa();
#else
  static const kugel__ring_ops *const all[] = {&kugel__ring_ops_generic};
  *last = 0;
#endif
  return all;
}

// Into how many lanes of which vectors, best first. On most CPUs twice the width takes twice the time.
static int decimation(int64_t n, const kugel__ring_ops **ops)
{
  static const int choice[][2] = {{8, 8}, {4, 4}, {7, 8}, {3, 4}, {5, 8}, {2, 2}}; // parts, vlen
  int last;
  const kugel__ring_ops *const *all = widths(&last);
  for (size_t c = 0; c < sizeof choice / sizeof *choice; c++)
    for (int i = 0; i <= last; i++)
      if (n % choice[c][0] == 0 && all[i]->vlen == choice[c][1]) {
        *ops = all[i];
        return choice[c][0];
      }
  *ops = NULL;
  return 1;
}

// The generic vectors lack fused operations.
const kugel__ring_ops *kugel__ring_ops_for(int count)
{
  int i;
  const kugel__ring_ops *const *all = widths(&i);
  while (i > 1 && count <= all[i - 1]->vlen)
    i--;
  return all[i];
}

/* ---- what is shared, sorted and each once, while a plan is made ---- */

typedef struct shared {
  int64_t *n, *lane; // lengths of rings, lengths of lane-wise DFTs
  double *phi0;
  char *many; // by length: how many rings go side by side at most, 0 if none do
  int64_t lengths, lanes, phases;
} shared;

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

static int find_int64(const int64_t *sorted, int64_t count, int64_t x)
{
  return (int)((int64_t *)bsearch(&x, sorted, (size_t)count, 8, by_int64) - sorted);
}

static int find_double(const double *sorted, int64_t count, double x)
{
  return (int)((double *)bsearch(&x, sorted, (size_t)count, 8, by_double) - sorted);
}

static kugel_status collect(kugel_ctx *ctx, const kugel__rings_desc *d, shared *s)
{
  int64_t n = d->npairs;
  char *block = kugel__calloc(ctx, (size_t)(2 * n) * (8 + 8 + 2 * 8 + 1));
  KUGEL_CHECK(block, KUGEL_ENOMEM, "no memory for %lld ring pairs", (long long)n);
  s->n = (int64_t *)(void *)block;
  s->lane = s->n + 2 * n;
  s->phi0 = (double *)(s->lane + 4 * n);
  s->many = (char *)(s->phi0 + 2 * n);
  for (int64_t i = 0; i < n; i++) {
    if (d->offset_north[i] >= 0) {
      s->n[s->lengths++] = d->nphi_north[i];
      s->phi0[s->phases++] = d->phi0_north[i];
    }
    if (d->offset_south[i] >= 0) {
      s->n[s->lengths++] = d->nphi_south[i];
      s->phi0[s->phases++] = d->phi0_south[i];
    }
  }
  s->lengths = distinct(s->n, s->lengths, by_int64);
  s->phases = distinct(s->phi0, s->phases, by_double);
  return KUGEL_OK;
}

/* ---- jobs ---- */

static void add_job(kugel__rings *p, const kugel__rings_desc *d, const shared *s, int64_t i, bool north,
                    bool south)
{
  int64_t length = north ? d->nphi_north[i] : d->nphi_south[i];
  double phi_n = north ? d->phi0_north[i] : d->phi0_south[i], phi_s = south ? d->phi0_south[i] : phi_n;
  p->jobs[p->njobs++] = (kugel__ring_job){.pair = i,
                                          .offset_north = north ? d->offset_north[i] : -1,
                                          .offset_south = south ? d->offset_south[i] : -1,
                                          .length = find_int64(s->n, s->lengths, length),
                                          .phase_north = find_double(s->phi0, s->phases, phi_n),
                                          .phase_south = find_double(s->phi0, s->phases, phi_s),
                                          .mlim = d->mlim ? kugel__min(d->mlim[i], d->mmax) : d->mmax};
}

static kugel_status make_jobs(kugel__rings *p, const kugel__rings_desc *d, const shared *s)
{
  int64_t n = d->npairs;
  KUGEL_ALLOC(p->ctx, p->jobs, (size_t)(2 * n) * sizeof *p->jobs + 1);
  KUGEL_ALLOC(p->ctx, p->first_job, (size_t)(n + 1) * 8);
  for (int64_t i = 0; i < n; i++) {
    bool north = d->offset_north[i] >= 0, south = d->offset_south[i] >= 0;
    p->first_job[i] = p->njobs;
    if (north && south && d->nphi_north[i] == d->nphi_south[i]) {
      add_job(p, d, s, i, true, true);
      continue;
    }
    if (north)
      add_job(p, d, s, i, true, false);
    if (south)
      add_job(p, d, s, i, false, true);
  }
  p->first_job[n] = p->njobs;
  return KUGEL_OK;
}

static kugel_status make_phases(kugel__rings *p, const shared *s)
{
  int64_t coarse = p->mmax / KUGEL__FINE + 1;
  double *t, fine[2 * KUGEL__FINE];
  KUGEL_ALLOC(p->ctx, p->phases, (size_t)s->phases * sizeof *p->phases + 1);
  KUGEL_ALLOC(p->ctx, t, (size_t)s->phases * (size_t)(coarse + KUGEL__FINE) * 16 + 1);
  p->tables = t;
  for (int64_t i = 0; i < s->phases; i++) {
    kugel__turn one = kugel__turn_radians(s->phi0[i]);
    p->phases[i] = (kugel__phase){t, t + 2 * coarse};
    kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_times(one, KUGEL__FINE), coarse, t, 1);
    kugel__fft_roots(KUGEL__NO_TURN, one, KUGEL__FINE, fine, 1);
    t += 2 * coarse;
    for (int k = 0; k < KUGEL__FINE; k++, t++) {
      t[0] = fine[2 * k];
      t[KUGEL__FINE] = fine[2 * k + 1];
    }
    t += KUGEL__FINE;
  }
  return KUGEL_OK;
}

/* ---- lengths ---- */

static kugel_status make_steps(kugel__rings *p, kugel__ring_length *l)
{
  int v = l->ops->vlen, last = l->parts - 1;
  int64_t blocks = (l->sub + v - 1) / v;
  KUGEL_ALLOC(p->ctx, l->coarse, (size_t)(last * (blocks + v) * 16));
  l->fine = l->coarse + 2 * last * blocks;
  for (int r = 1; r <= last; r++) {
    double w[2 * KUGEL__RING_GROUP], *fine = l->fine + (r - 1) * 2 * v;
    kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(-r * v, l->n), blocks, l->coarse + 2 * (r - 1), last);
    kugel__fft_roots(KUGEL__NO_TURN, kugel__turn_ratio(-r, l->n), v, w, 1);
    for (int k = 0; k < v; k++) {
      fine[k] = w[2 * k];
      fine[v + k] = w[2 * k + 1];
    }
  }
  return KUGEL_OK;
}

static kugel_status make_length(void *arg, int64_t i)
{
  kugel__rings *p = arg;
  if (i < p->nlanes) {
    int64_t n = p->lane_n[i];
    return kugel__lanes_create(p->ctx, n, &p->lanes[i]);
  }
  kugel__ring_length *l = &p->lengths[i - p->nlanes];
  return l->ops ? make_steps(p, l) : KUGEL_OK;
}

/* Rings go side by side where decimation would leave lanes idle and a neighbour has the same length, and
 * where there is no decimation. */
static void choose(kugel__rings *p, shared *s)
{
  const kugel__ring_ops *ops;
  int vlen = kugel__ring_ops_get()->vlen;
  char run = 0;
  for (int64_t j = 0; j < p->njobs; j++) {
    int length = p->jobs[j].length, parts = decimation(s->n[length], &ops);
    run = j && p->jobs[j - 1].length == length && run < vlen ? (char)(run + 1) : 1;
    if ((!ops || (run > 1 && parts % 4 != 0 && vlen > 2)) && s->many[length] < run)
      s->many[length] = run;
  }
  for (int64_t i = 0; i < s->lengths; i++) {
    int parts = decimation(s->n[i], &ops);
    if (ops)
      s->lane[s->lanes++] = s->n[i] / parts;
    if (s->many[i])
      s->lane[s->lanes++] = s->n[i];
  }
  s->lanes = distinct(s->lane, s->lanes, by_int64);
}

static kugel_status make_lengths(kugel__rings *p, shared *s)
{
  choose(p, s);
  KUGEL_CHECK(p->lengths = kugel__calloc(p->ctx, (size_t)s->lengths * sizeof *p->lengths + 1), KUGEL_ENOMEM,
              "no memory for %lld ring lengths", (long long)s->lengths);
  p->nlengths = (int)s->lengths;
  KUGEL_CHECK(p->lanes = kugel__calloc(p->ctx, (size_t)s->lanes * sizeof *p->lanes + 1), KUGEL_ENOMEM,
              "no memory for %lld lengths of DFTs", (long long)s->lanes);
  p->nlanes = (int)s->lanes;
  p->lane_n = s->lane;
  for (int64_t i = 0; i < s->lengths; i++) {
    kugel__ring_length *l = &p->lengths[i];
    l->n = s->n[i];
    l->parts = decimation(l->n, &l->ops);
    l->sub = l->n / l->parts;
  }
  KUGEL_TRY(kugel__parallel(p->ctx, s->lanes + s->lengths, make_length, p));
  for (int64_t i = 0; i < s->lengths; i++) {
    kugel__ring_length *l = &p->lengths[i];
    if (l->ops) {
      l->lanes = p->lanes[find_int64(s->lane, s->lanes, l->sub)];
      p->lanes_size = kugel__max(p->lanes_size, 2 * l->ops->vlen * (l->sub + kugel__lanes_work(l->lanes)));
    }
    if (s->many[i]) {
      int64_t vlen = kugel__ring_ops_for(s->many[i])->vlen;
      l->whole = p->lanes[find_int64(s->lane, s->lanes, l->n)];
      p->lanes_size = kugel__max(p->lanes_size, 2 * vlen * (l->n + kugel__lanes_work(l->whole)));
      p->splits = (int)kugel__max(p->splits, s->many[i]);
    }
  }
  p->max_n = s->lengths ? s->n[s->lengths - 1] : 1;
  return KUGEL_OK;
}

/* ---- plans ---- */

kugel_status kugel__rings_create(kugel_ctx *ctx, const kugel__rings_desc *d, kugel__rings **out)
{
  *out = NULL;
  kugel__rings *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a ring plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->npairs = d->npairs;
  p->mmax = d->mmax;
  p->splits = 1;
  shared common = {.n = NULL};
  kugel_status s = collect(ctx, d, &common);
  s = s ? s : make_phases(p, &common);
  s = s ? s : make_jobs(p, d, &common);
  s = s ? s : make_lengths(p, &common);
  p->row_size = kugel__round_up(p->mmax + 1, 8);
  p->split_size = kugel__round_up(p->max_n, 8);
  p->lane_n = NULL;
  kugel__free(ctx, common.n);
  if (s) {
    kugel__rings_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

kugel_status kugel__rings_view(const kugel__rings *of, const kugel__rings_desc *d, kugel__rings **out)
{
  *out = NULL;
  kugel__rings *p = kugel__alloc(of->ctx, sizeof *p);
  kugel__ring_job *jobs = kugel__alloc(of->ctx, (size_t)of->njobs * sizeof *jobs + 1);
  if (!p || !jobs) {
    kugel__free(of->ctx, p);
    kugel__free(of->ctx, jobs);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld ring pairs", (long long)of->npairs);
  }
  *p = *of;
  p->ctx = kugel__ctx_retain(of->ctx);
  p->view = true;
  p->jobs = jobs;
  for (int64_t j = 0; j < of->njobs; j++) {
    kugel__ring_job job = of->jobs[j];
    if (job.offset_north >= 0)
      job.offset_north = d->offset_north[job.pair];
    if (job.offset_south >= 0)
      job.offset_south = d->offset_south[job.pair];
    job.mlim = d->mlim ? kugel__min(d->mlim[job.pair], d->mmax) : d->mmax;
    jobs[j] = job;
  }
  *out = p;
  return KUGEL_OK;
}

static void free_tables(kugel__rings *p)
{
  kugel_ctx *ctx = p->ctx;
  for (int i = 0; i < p->nlengths && p->lengths; i++)
    kugel__free(ctx, p->lengths[i].coarse);
  for (int i = 0; i < p->nlanes && p->lanes; i++)
    kugel__lanes_destroy(p->lanes[i]);
  kugel__free(ctx, p->lengths);
  kugel__free(ctx, p->lanes);
  kugel__free(ctx, p->phases);
  kugel__free(ctx, p->tables);
  kugel__free(ctx, p->first_job);
}

void kugel__rings_destroy(kugel__rings *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  if (!p->view)
    free_tables(p);
  kugel__free(ctx, p->jobs);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}
