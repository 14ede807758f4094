/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms on the CPU: for each block of ring pairs the Legendre stage, parallel over m, and the ring
 * stage, parallel over rings, meet in an array of Fourier coefficients leg[m][map][north re, north im, south
 * re, south im][row]. */
#include <complex.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"
#include "sphere/sht/sht.h"

typedef struct stage {
  const kugel_sht *plan;
  const kugel__alms *alm;
  int64_t p0, p1, row;
  double *leg;
  int64_t workers;
  char *scratch;       // one part per worker
  size_t scratch_size; // of a part
  size_t column_size;  // of its head: n_alm columns [lmax + 1] complex double
  bool accumulate;
} stage;

static kugel_status synthesis_m(void *arg, int64_t m, int worker)
{
  const stage *t = arg;
  const kugel_sht *p = t->plan;
  char *mine = t->scratch + (size_t)worker * t->scratch_size;
  const double *columns[KUGEL__MAX_SETS];
  int64_t n = p->lmax - m + 1, at = kugel__alm_offset(p->lmax, m) + m;
  for (int c = 0; c < p->n_alm; c++) {
    double *column = (double *)mine + c * 2 * (p->lmax + 1);
    kugel__alm_unpack(t->alm, c, at, n, m == 0, column);
    columns[c] = column;
  }
  kugel__leg_synth(p->leg, m, t->p0, t->p1, columns, t->leg + m * p->n_map * 4 * t->row, t->row,
                   mine + t->column_size);
  return KUGEL_OK;
}

static kugel_status adjoint_m(void *arg, int64_t m, int worker)
{
  const stage *t = arg;
  const kugel_sht *p = t->plan;
  char *mine = t->scratch + (size_t)worker * t->scratch_size;
  double *columns[KUGEL__MAX_SETS];
  int64_t n = p->lmax - m + 1, at = kugel__alm_offset(p->lmax, m) + m;
  for (int c = 0; c < p->n_alm; c++) {
    columns[c] = (double *)mine + c * 2 * (p->lmax + 1);
    memset(columns[c], 0, (size_t)n * 16);
  }
  kugel__leg_adjoint(p->leg, m, t->p0, t->p1, t->leg + m * p->n_map * 4 * t->row, t->row, columns,
                     mine + t->column_size);
  for (int c = 0; c < p->n_alm; c++)
    kugel__alm_pack(t->alm, c, at, n, m == 0, t->accumulate, columns[c]);
  return KUGEL_OK;
}

// Cost of pairs [p0, p1) in nanoseconds of one AVX2 core: of the Legendre stage for each coefficient and pair, of
// the ring stage for each pixel. Only their ratio counts, for progress.
static double legendre_cost(const kugel_sht *p, int64_t p0, int64_t p1)
{
  static const double each[] = {0, 0.12, 0.23, 0.35};
  return (double)(p1 - p0) * (double)p->nalm * each[p->n_map];
}

static double ring_cost(const kugel_sht *p, int64_t p0, int64_t p1)
{
  const kugel_grid *g = p->grid;
  double pixels = 0;
  for (int64_t i = p0; i < p1; i++)
    pixels +=
        (double)g->nphi[g->pairs[i].north] + (g->pairs[i].south < 0 ? 0 : (double)g->nphi[g->pairs[i].south]);
  return 5 * pixels * p->n_map;
}

double kugel__sht_order_part(const void *plan, int64_t done)
{
  const kugel_sht *p = plan;
  return (double)(done * (2 * p->lmax + 1 - done) / 2 + done) / (double)p->nalm;
}

// Announces the loops of one block: the Legendre stage, or the rings of one map.
static void announce(const stage *t, const char *name, bool rings_first, int c)
{
  const kugel_sht *p = t->plan;
  int64_t n = p->grid->npairs;
  double before = legendre_cost(p, 0, t->p0) + ring_cost(p, 0, t->p0), leg = legendre_cost(p, t->p0, t->p1);
  double rings = ring_cost(p, t->p0, t->p1),
         all = before + leg + rings + legendre_cost(p, t->p1, n) + ring_cost(p, t->p1, n),
         each = rings / p->n_map;
  if (c < 0)
    kugel__progress_stage_by((before + (rings_first ? rings : 0)) / all,
                             (before + leg + (rings_first ? rings : 0)) / all, name, kugel__sht_order_part,
                             p);
  else
    kugel__progress_stage((before + (rings_first ? 0 : leg) + c * each) / all,
                          (before + (rings_first ? 0 : leg) + (c + 1) * each) / all, name);
}

static kugel_status stage_begin(stage *t, const kugel_sht *p)
{
  t->plan = p;
  t->row = p->block +
           (p->block / 8 % 2 ? 0 : 8); // an odd number of cache lines, so that columns spread over cache sets
  t->column_size = (size_t)kugel__round_up(p->n_alm * (p->lmax + 1) * 16, 64);
  t->scratch_size = (size_t)kugel__round_up((int64_t)(t->column_size + kugel__leg_scratch(p->leg)), 256);
  size_t leg_size = (size_t)((p->mmax + 1) * p->n_map * 4 * t->row * 8);
  t->workers = kugel__ctx_threads(p->ctx);
  t->leg = kugel__scratch_get(p->ctx, leg_size);
  t->scratch = kugel__scratch_get(p->ctx, (size_t)t->workers * t->scratch_size);
  if (t->leg && t->scratch)
    return KUGEL_OK;
  kugel__scratch_put(p->ctx, t->leg);
  kugel__scratch_put(p->ctx, t->scratch);
  return KUGEL_FAIL(KUGEL_ENOMEM,
                    "no memory for %zu bytes of transform scratch: limit it by kugel_ctx_limit_memory",
                    leg_size + (size_t)t->workers * t->scratch_size);
}

static void stage_end(stage *t)
{
  kugel__scratch_put(t->plan->ctx, t->leg);
  kugel__scratch_put(t->plan->ctx, t->scratch);
}

static kugel_status synthesis(const kugel_sht *p, const kugel__alms *alm, const kugel__maps *map)
{
  stage t = {.alm = alm};
  KUGEL_TRY(stage_begin(&t, p));
  int64_t n = p->grid->npairs, stride = p->n_map * 4 * t.row;
  kugel_status s = KUGEL_OK;
  for (t.p0 = 0; t.p0 < n && !s; t.p0 = t.p1) {
    t.p1 = kugel__min(n, t.p0 + p->block);
    announce(&t, "synthesis", false, -1);
    s = kugel__parallel_on(p->ctx, t.workers, p->mmax + 1, synthesis_m, &t);
    for (int c = 0; c < p->n_map && !s; c++) {
      announce(&t, "synthesis", false, c);
      s = kugel__rings_synth(p->rings, t.p0, t.p1, t.leg + c * 4 * t.row, stride, t.row, map->data[c],
                             map->f32);
    }
  }
  stage_end(&t);
  return s;
}

static kugel_status adjoint_f64(const kugel_sht *p, const kugel__maps *map, bool weighted,
                                const kugel__alms *alm, bool accumulate)
{
  stage t = {.alm = alm, .accumulate = accumulate};
  KUGEL_TRY(stage_begin(&t, p));
  int64_t n = p->grid->npairs, stride = p->n_map * 4 * t.row;
  kugel_status s = KUGEL_OK;
  for (t.p0 = 0; t.p0 < n && !s; t.p0 = t.p1) {
    t.p1 = kugel__min(n, t.p0 + p->block);
    for (int c = 0; c < p->n_map && !s; c++) {
      announce(&t, "analysis", true, c);
      s = kugel__rings_adjoint(p->rings, t.p0, t.p1, map->data[c], map->f32,
                               weighted ? p->weight_north : NULL, weighted ? p->weight_south : NULL,
                               t.leg + c * 4 * t.row, stride, t.row);
    }
    announce(&t, "analysis", true, -1);
    if (!s)
      s = kugel__parallel_on(p->ctx, t.workers, p->mmax + 1, adjoint_m, &t);
    t.accumulate = true;
  }
  stage_end(&t);
  return s;
}

// Sums over blocks are kept in double.
static kugel_status adjoint_f32(const kugel_sht *p, const kugel__maps *map, bool weighted,
                                const kugel__alms *alm, bool accumulate)
{
  kugel__alms wide = {.f32 = false};
  double *sums = kugel__scratch_get(p->ctx, (size_t)(p->n_alm * p->nalm * 16));
  KUGEL_CHECK(sums, KUGEL_ENOMEM, "no memory for %d alm sets of %lld coefficients", p->n_alm,
              (long long)p->nalm);
  for (int c = 0; c < p->n_alm; c++)
    wide.data[c] = sums + 2 * c * p->nalm;
  kugel_status s = adjoint_f64(p, map, weighted, &wide, false);
  for (int c = 0; c < p->n_alm && !s; c++)
    for (int64_t i = 0; i < 2 * p->nalm; i++) {
      float *out = (float *)alm->data[c] + i;
      *out = (float)(sums[2 * c * p->nalm + i] + (accumulate ? (double)*out : 0));
    }
  kugel__scratch_put(p->ctx, sums);
  return s;
}

static kugel_status adjoint(const kugel_sht *p, const kugel__maps *map, bool weighted, const kugel__alms *alm,
                            bool accumulate)
{
  return (alm->f32 ? adjoint_f32 : adjoint_f64)(p, map, weighted, alm, accumulate);
}

const kugel__sht_ops kugel__sht_cpu_ops = {.synthesis = synthesis, .adjoint = adjoint};
