/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms on the CPU: for each block of ring pairs the Legendre stage, parallel over m, and the ring
 * stage, parallel over rings, meet in an array of Fourier coefficients leg[m][map][north re, north im, south
 * re, south im][row]. */
#include <complex.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/sht.h"
#include "sphere/sht_gpu.h"

typedef struct stage {
  const kugel_sht *plan;
  const kugel__alms *alm;
  int64_t p0, p1, row;
  double *leg;
  char *scratch;       // one part a worker
  size_t scratch_size; // of a part
  size_t column_size;  // of its head: n_alm columns [lmax + 1] complex double
  bool accumulate;
} stage;

void kugel__alm_unpack(const kugel__alms *alm, int c, int64_t at, int64_t n, bool real, double *out)
{
  if (alm->f32)
    for (int64_t i = 0; i < 2 * n; i++)
      out[i] = (double)((const float *)alm->data[c])[2 * at + i];
  else
    memcpy(out, (const double *)alm->data[c] + 2 * at, (size_t)n * 16);
  for (int64_t i = 0; real && i < n; i++)
    out[2 * i + 1] = 0;
}

void kugel__alm_pack(const kugel__alms *alm, int c, int64_t at, int64_t n, bool real, bool accumulate,
                     double *in)
{
  for (int64_t i = 0; real && i < n; i++)
    in[2 * i + 1] = 0;
  if (alm->f32) {
    float *out = (float *)alm->data[c] + 2 * at;
    for (int64_t i = 0; i < 2 * n; i++)
      out[i] = (float)(in[i] + (accumulate ? (double)out[i] : 0));
  } else {
    double *out = (double *)alm->data[c] + 2 * at;
    for (int64_t i = 0; i < 2 * n; i++)
      out[i] = in[i] + (accumulate ? out[i] : 0);
  }
}

static kugel_status synthesis_m(void *arg, int64_t m, int worker)
{
  const stage *t = arg;
  const kugel_sht *p = t->plan;
  char *mine = t->scratch + (size_t)worker * t->scratch_size;
  const double *columns[KUGEL__MAX_SETS];
  int64_t n = p->lmax - m + 1, at = kugel__alm_index(p->lmax, m, m);
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
  int64_t n = p->lmax - m + 1, at = kugel__alm_index(p->lmax, m, m);
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

static kugel_status stage_begin(stage *t, const kugel_sht *p)
{
  t->plan = p;
  t->row = p->block +
           (p->block / 8 % 2 ? 0 : 8); // an odd number of cache lines, so that columns spread over cache sets
  t->column_size = (size_t)kugel__round_up(p->n_alm * (p->lmax + 1) * 16, 64);
  t->scratch_size = (size_t)kugel__round_up((int64_t)(t->column_size + kugel__leg_scratch(p->leg)), 256);
  size_t leg_size = (size_t)((p->mmax + 1) * p->n_map * 4 * t->row * 8);
  size_t workers = (size_t)kugel__ctx_threads(p->ctx);
  t->leg = kugel__scratch_get(p->ctx, leg_size);
  t->scratch = kugel__scratch_get(p->ctx, workers * t->scratch_size);
  if (t->leg && t->scratch)
    return KUGEL_OK;
  kugel__scratch_put(p->ctx, t->leg);
  kugel__scratch_put(p->ctx, t->scratch);
  return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of transform scratch: lower opts.max_memory",
                    leg_size + workers * t->scratch_size);
}

static void stage_end(stage *t)
{
  kugel__scratch_put(t->plan->ctx, t->leg);
  kugel__scratch_put(t->plan->ctx, t->scratch);
}

kugel_status kugel__sht_synthesis(const kugel_sht *p, const kugel__alms *alm, const kugel__maps *map)
{
  stage t = {.alm = alm};
  if (p->gpu)
    return kugel__sht_gpu_synthesis(p, alm, map);
  KUGEL_TRY(stage_begin(&t, p));
  int64_t n = p->grid->npairs, stride = p->n_map * 4 * t.row;
  kugel_status s = KUGEL_OK;
  for (t.p0 = 0; t.p0 < n && !s; t.p0 = t.p1) {
    t.p1 = kugel__min(n, t.p0 + p->block);
    kugel__progress_stage((double)t.p0 / (double)n, (double)t.p1 / (double)n, "synthesis");
    s = kugel__parallel(p->ctx, p->mmax + 1, synthesis_m, &t);
    for (int c = 0; c < p->n_map && !s; c++)
      s = kugel__rings_synth(p->rings, t.p0, t.p1, t.leg + c * 4 * t.row, stride, t.row, map->data[c],
                             map->f32);
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
  kugel_status s = kugel__sht_adjoint(p, map, weighted, &wide, false);
  for (int c = 0; c < p->n_alm && !s; c++)
    for (int64_t i = 0; i < 2 * p->nalm; i++) {
      float *out = (float *)alm->data[c] + i;
      *out = (float)(sums[2 * c * p->nalm + i] + (accumulate ? (double)*out : 0));
    }
  kugel__scratch_put(p->ctx, sums);
  return s;
}

kugel_status kugel__sht_adjoint(const kugel_sht *p, const kugel__maps *map, bool weighted,
                                const kugel__alms *alm, bool accumulate)
{
  if (p->gpu)
    return kugel__sht_gpu_adjoint(p, map, weighted, alm, accumulate);
  if (alm->f32)
    return adjoint_f32(p, map, weighted, alm, accumulate);
  stage t = {.alm = alm, .accumulate = accumulate};
  KUGEL_TRY(stage_begin(&t, p));
  int64_t n = p->grid->npairs, stride = p->n_map * 4 * t.row;
  kugel_status s = KUGEL_OK;
  for (t.p0 = 0; t.p0 < n && !s; t.p0 = t.p1) {
    t.p1 = kugel__min(n, t.p0 + p->block);
    kugel__progress_stage((double)t.p0 / (double)n, (double)t.p1 / (double)n, "analysis");
    for (int c = 0; c < p->n_map && !s; c++)
      s = kugel__rings_adjoint(p->rings, t.p0, t.p1, map->data[c], map->f32,
                               weighted ? p->weight_north : NULL, weighted ? p->weight_south : NULL,
                               t.leg + c * 4 * t.row, stride, t.row);
    if (!s)
      s = kugel__parallel(p->ctx, p->mmax + 1, adjoint_m, &t);
    t.accumulate = true;
  }
  stage_end(&t);
  return s;
}
