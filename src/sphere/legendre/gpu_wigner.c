/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of Wigner's d on a device, for spins beyond 2 off the poles; legwigner.isa.c explains them. */
#include <math.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/legendre/gpu_plan.h"

typedef struct wigner_job {
  const kugel__leg_gpu *plan;
  const kugel__polar_part *part;
  double *rec, *start; // rows of rec, one step shorter each m: slope, shift, weight; start[m][4]
  char *scratch;       // a part for each worker
  size_t scratch_size;
} wigner_job;

/* y_{l+1} = (c_l cos theta -+ r_l) y_l - y_{l-1}, x_l = weight_l y_l; weight_{l+1} = t_l weight_{l-1}. */
static void recurrence(int64_t first, int64_t n, double m, double s, double *rec)
{
  double before = 1, now = 1, up = 0;
  for (int64_t i = 0; i < n; i++) {
    double l = (double)(first + i), k = l + 1;
    double next_up = sqrt((k - m) * (k + m) * ((k - s) * (k + s)));
    double t = sqrt((2 * l + 3) / (2 * l - 1)) * (l + 1) * up / (l * next_up), next = i ? t * before : 1;
    double f = (2 * l + 1) * sqrt((2 * l + 3) / (2 * l + 1)) / next_up * now / next;
    rec[3 * i] = f * (l + 1);
    rec[3 * i + 1] = -f * m * s / l;
    rec[3 * i + 2] = now;
    before = now;
    now = next;
    up = next_up;
  }
}

static kugel_status wigner_task(void *arg, int64_t m, int worker)
{
  const wigner_job *j = arg;
  const kugel__leg *g = j->plan->leg;
  kugel__wigner_job job = {.leg = g, .m = m, .spin = g->spin};
  kugel__wigner_coefs c;
  if (!kugel__wigner_prepare(&job, (double *)(j->scratch + (size_t)worker * j->scratch_size), &c))
    return KUGEL_OK;
  recurrence(c.l0, c.n, (double)m, (double)g->spin, j->rec + 3 * (m * j->part->steps - m * (m - 1) / 2));
  for (int f = 0; f < 2; f++) {
    j->start[4 * m + 2 * f] = c.start[f];
    j->start[4 * m + 2 * f + 1] = c.start_exp[f];
  }
  return KUGEL_OK;
}

static kugel_status pair_tables(const kugel__leg_gpu *p, kugel__polar_part *part)
{
  enum { TABLES = 6 };
  const kugel__leg *g = p->leg;
  const double *from[TABLES] = {g->vers, g->cth, g->log_h, g->log_h_lo, g->log_c, g->log_c_lo};
  double *t;
  KUGEL_ALLOC(p->ctx, t, (size_t)part->room * TABLES * 8);
  for (int c = 0; c < TABLES; c++)
    for (int32_t i = 0; i < part->room; i++)
      t[c * part->room + i] = from[c][part->first + kugel__min(i, part->count - 1)];
  kugel_status s = kugel__leg_gpu_table(p, t, (size_t)part->room * TABLES * 8, &part->pairs);
  kugel__free(p->ctx, t);
  return s;
}

kugel_status kugel__leg_gpu_wigner(kugel__leg_gpu *p, kugel__polar_part *part)
{
  const kugel__leg *g = p->leg;
  int64_t orders = part->orders, nrec = 3 * (orders * part->steps - orders * (orders - 1) / 2);
  int workers = kugel__ctx_threads(p->ctx);
  wigner_job j = {
      .plan = p, .part = part, .scratch_size = (kugel__wigner_scratch(g->lmax) + 63) & ~(size_t)63};
  j.rec = kugel__calloc(p->ctx, (size_t)(nrec + 4 * orders) * 8);
  j.scratch = kugel__scratch_get(p->ctx, (size_t)workers * j.scratch_size);
  kugel_status s = j.rec && j.scratch
                       ? KUGEL_OK
                       : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the recurrences of spin %d", g->spin);
  if (!s)
    j.start = j.rec + nrec;
  if (!s)
    s = kugel__parallel_on(p->ctx, workers, orders, wigner_task, &j);
  if (!s)
    s = kugel__leg_gpu_table(p, j.rec, (size_t)nrec * 8, &part->rec);
  if (!s)
    s = kugel__leg_gpu_table(p, j.start, (size_t)orders * 32, &part->start);
  kugel__scratch_put(p->ctx, j.scratch);
  kugel__free(p->ctx, j.rec);
  return s ? s : pair_tables(p, part);
}
