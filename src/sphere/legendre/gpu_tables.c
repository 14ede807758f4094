/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the Legendre stage on a device: recurrences, ring pairs, the polar pairs. */
#include <math.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "sphere/legendre/gpu_plan.h"

enum { PAIR_TABLES = 6, POLAR_ROOM = 16 };

// Beyond the last pair its numbers repeat.
static kugel_status make_pairs(kugel__leg_gpu *p)
{
  const kugel__leg *g = p->leg;
  const double *from[PAIR_TABLES] = {g->csq, g->ssq, g->cth, g->log_s, g->log_s_lo, g->factor};
  double *t;
  int32_t *mlim;
  KUGEL_ALLOC(p->ctx, t, (size_t)p->stride * (PAIR_TABLES * 8 + 4));
  mlim = (int32_t *)(t + PAIR_TABLES * p->stride);
  for (int32_t i = 0; i < p->stride; i++) {
    int64_t k = kugel__min(i, g->npairs - 1);
    for (int c = 0; c < PAIR_TABLES; c++)
      t[c * p->stride + i] = from[c][k];
    mlim[i] = (int32_t)g->mlim[k];
  }
  kugel_status s = kugel__leg_gpu_table(p, t, (size_t)p->stride * PAIR_TABLES * 8, &p->pairs);
  if (!s)
    s = kugel__leg_gpu_table(p, mlim, (size_t)p->stride * 4, &p->mlim);
  kugel__free(p->ctx, t);
  return s;
}

/* Recurrence of function f, rec[degree][gamma, alpha, g], as legwigner.c describes it: R_n of sin(theta/2)^h
 * cos(theta/2)^c, whose sin is in units of polar_scale. */
static void polar_recurrence(const kugel__leg *leg, int64_t m, int spin, int f, int64_t h, int64_t c,
                             double *rec)
{
  int64_t l0 = kugel__max(m, spin);
  long double big = (long double)l0, a = (long double)h, b = (long double)c, g = spin ? -0.5L : 1;
  if (f ? m > spin && (m - spin) % 2 : m % 2)
    g = -g;
  g *= sqrtl((2 * big + 1) / (4 * M_PIl));
  for (int64_t k = 1; k <= h; k++)
    g *= sqrtl((b + (long double)k) / (long double)k) * (long double)leg->polar_scale;
  for (int64_t i = 0; i <= leg->lmax - l0; i++) {
    long double n = (long double)i, t = n + 2 * big, below = (t + 1) * (n + 1 + a);
    rec[3 * i] = i ? (double)(n * (n + b) * (t + n + 2) / (below * (t + n))) : 0;
    rec[3 * i + 1] = (double)((t + n + 1) * (t + n + 2) / (2 * below));
    rec[3 * i + 2] = (double)g;
    g *= sqrtl((t + n + 3) * below / ((t + n + 1) * (n + 1 + b) * (n + 1)));
  }
}

typedef struct polar_job {
  const kugel__leg *leg;
  const kugel__polar_part *part;
  double *rec, *start;
} polar_job;

// Recurrence of one function of one order, and the start values R_0 with their powers of all pairs.
static kugel_status polar_task(void *arg, int64_t at)
{
  const polar_job *j = arg;
  const kugel__leg *g = j->leg;
  const kugel__polar_part *part = j->part;
  int f = at >= part->orders;
  int64_t m = at - f * part->orders, sum = m + part->spin;
  int64_t apart = m > part->spin ? m - part->spin : part->spin - m;
  int64_t h = f ? apart : sum, c = f || !part->spin ? sum : apart;
  long double log_scale = log2l((long double)g->polar_scale);
  polar_recurrence(g, m, part->spin, f, h, c, j->rec + at * part->steps * 3);
  for (int32_t i = 0; i < part->room; i++) {
    int64_t k = kugel__min(i, g->npolar - 1);
    long double log_h = (long double)g->log_h[k] + (long double)g->log_h_lo[k] - log_scale;
    long double log_c = (long double)g->log_c[k] + (long double)g->log_c_lo[k];
    long double e = (h ? (long double)h * log_h : 0) + (long double)c * log_c;
    j->start[at * part->room + i] = e < -150 ? 0 : (double)exp2l(e);
  }
  return KUGEL_OK;
}

static kugel_status make_polar_part(kugel__leg_gpu *p, kugel__polar_part *part)
{
  int64_t functions = part->spin ? 2 : 1, rows = functions * part->orders;
  int64_t nrec = rows * part->steps * 3, nstart = rows * part->room;
  double *t = kugel__calloc(p->ctx, (size_t)(nrec + nstart) * 8);
  kugel_status s = KUGEL_OK;
  if (!t)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the recurrences of %lld polar ring pairs",
                   (long long)p->leg->npolar);
  if (!s) {
    polar_job j = {.leg = p->leg, .part = part, .rec = t, .start = t + nrec};
    s = kugel__parallel(p->ctx, rows, polar_task, &j);
  }
  if (!s)
    s = kugel__leg_gpu_table(p, t, (size_t)nrec * 8, &part->rec);
  if (!s)
    s = kugel__leg_gpu_table(p, t + nrec, (size_t)nstart * 8, &part->start);
  kugel__free(p->ctx, t);
  KUGEL_TRY(s);
  double *vers;
  KUGEL_ALLOC(p->ctx, vers, (size_t)part->room * 8);
  for (int32_t i = 0; i < part->room; i++)
    vers[i] = p->leg->vers[kugel__min(i, p->leg->npolar - 1)];
  s = kugel__leg_gpu_table(p, vers, (size_t)part->room * 8, &part->pairs);
  kugel__free(p->ctx, vers);
  return s;
}

static kugel__polar_part near_poles(const kugel__leg *g)
{
  return (kugel__polar_part){.used = g->npolar > 0,
                             .count = (int32_t)g->npolar,
                             .room = (int32_t)kugel__round_up(g->npolar, KUGEL__LEG_GPU_WARP),
                             .orders =
                                 g->npolar ? (int32_t)kugel__min(g->mlim[g->npolar - 1], g->mmax) + 1 : 0,
                             .steps = (int32_t)g->lmax + 1 + POLAR_ROOM};
}

void kugel__leg_gpu_plan_polar(kugel__leg_gpu *p)
{
  const kugel__leg *g = p->leg;
  int n = 0;
  bool gradient = g->mode >= KUGEL__LEG_GRAD;
  if (g->mode != KUGEL__LEG_SPIN && g->mode != KUGEL__LEG_GRAD)
    p->polar[n++] = near_poles(g);
  if (g->mode != KUGEL__LEG_SCALAR) {
    p->polar[n] = near_poles(g);
    p->polar[n].gradient = gradient;
    p->polar[n].spin = kugel__leg_gpu_spin(g);
    p->polar[n].set = n;
    p->polar[n].from = gradient ? 0 : n;
  }
  p->polar_orders = kugel__leg_gpu_slots(p, p->polar[0].orders);
  if (g->spin > 2 && g->npolar < g->npairs) {
    p->polar[1] = (kugel__polar_part){.used = true,
                                      .wigner = true,
                                      .spin = g->spin,
                                      .first = (int32_t)g->npolar,
                                      .count = (int32_t)(g->npairs - g->npolar),
                                      .orders = (int32_t)g->mmax + 1,
                                      .steps = (int32_t)g->lmax + 1 + POLAR_ROOM};
    p->polar[1].room = (int32_t)kugel__round_up(p->polar[1].count, KUGEL__LEG_GPU_WARP);
    p->polar_orders = p->orders;
  }
}

static kugel_status make_polar(kugel__leg_gpu *p)
{
  for (int i = 0; i < 2; i++)
    if (p->polar[i].used)
      KUGEL_TRY(p->polar[i].wigner ? kugel__leg_gpu_wigner(p, &p->polar[i])
                                   : make_polar_part(p, &p->polar[i]));
  for (int i = 0; i < 2; i++)
    if (p->polar[i].used && !(p->polar[i].wigner && p->side[0])) // these add to the same sums
      KUGEL_TRY(kugel__queue_create_urgent(p->ctx, &p->side[i]));
  return KUGEL_OK;
}

kugel_status kugel__leg_gpu_tables(kugel__leg_gpu *p)
{
  size_t orders = (size_t)p->leg->mmax + 1;
  KUGEL_TRY(make_pairs(p));
  if (p->lender) {
    p->offsets = p->lender->offsets;
    p->mfac = p->lender->mfac;
    p->coef = p->lender->coef;
  } else {
    KUGEL_TRY(kugel__leg_gpu_table(p, p->offset, (size_t)(p->orders + 1) * 8, &p->offsets));
    KUGEL_TRY(kugel__leg_gpu_table(p, p->leg->mfac, orders * 8, &p->mfac));
  }
  return make_polar(p);
}
