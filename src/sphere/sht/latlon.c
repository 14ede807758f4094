/* SPDX-License-Identifier: BSD-3-Clause */
/* Analysis on equidistant rings: ring stage, resampling in theta, Legendre stage on the dense rings. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"
#include "sphere/sht/latlon.h"
#include "sphere/sht/thetafft.h"

enum { GROUP = 8 }; // values of m at a time: their lines fill the lanes

struct kugel__latlon {
  kugel_ctx *ctx;
  kugel__thetafft *theta;
  kugel__leg *leg; // of the dense rings
};

typedef struct call {
  const kugel_sht *plan;
  const kugel__latlon *l;
  const kugel__alms *alm;
  bool accumulate;
  double *rings; // [m][map][4][row of the grid]
  int64_t workers;
  char *scratch; // one part per worker: dense rows, columns, and what the stages need
  size_t dense_size, column_size, scratch_size;
} call;

bool kugel__latlon_applies(const kugel_sht *p)
{
  return p->n_alm == p->n_map && kugel__thetafft_helps(p->grid, p->lmax);
}

kugel_status kugel__latlon_create(const kugel_sht *p, kugel__latlon **out)
{
  *out = NULL;
  kugel__latlon *l = kugel__calloc(p->ctx, sizeof *l);
  KUGEL_CHECK(l, KUGEL_ENOMEM, "no memory for a plan of exact analysis");
  l->ctx = kugel__ctx_retain(p->ctx);
  double *cth = NULL, *sth = NULL, pixel = 2 * M_PI / (double)p->grid->nphi[0];
  kugel_status s = kugel__thetafft_create(p->ctx, p->grid, p->lmax, pixel, &l->theta, &cth, &sth);
  if (!s)
    s = kugel__leg_create(p->ctx, p->lmax, p->mmax, (kugel__leg_mode)p->opts.mode, p->opts.spin,
                          l->theta->dense.npairs, cth, sth, &l->leg);
  kugel__free(p->ctx, cth);
  if (s) {
    kugel__latlon_destroy(l);
    return s;
  }
  *out = l;
  return KUGEL_OK;
}

void kugel__latlon_destroy(kugel__latlon *l)
{
  if (!l)
    return;
  kugel_ctx *ctx = l->ctx;
  kugel__leg_destroy(l->leg);
  kugel__thetafft_destroy(l->theta);
  kugel__free(ctx, l);
  kugel_ctx_destroy(ctx);
}

static size_t padded(size_t bytes)
{
  return (size_t)kugel__round_up((int64_t)bytes, 256);
}

static kugel_status begin(call *t, const kugel_sht *p)
{
  const kugel__latlon *l = p->latlon;
  t->workers = kugel__ctx_threads(p->ctx);
  size_t rings_size = (size_t)((p->mmax + 1) * p->n_map * 4 * l->theta->grid.row * 8);
  size_t dft = kugel__thetafft_scratch(l->theta), leg = kugel__leg_scratch(l->leg);
  t->plan = p;
  t->l = l;
  t->dense_size = padded((size_t)(GROUP * p->n_map * 4 * l->theta->dense.row * 8));
  t->column_size = padded((size_t)(p->n_alm * (p->lmax + 1) * 16));
  t->scratch_size = t->dense_size + t->column_size + padded(dft > leg ? dft : leg);
  t->rings = kugel__scratch_get(p->ctx, rings_size);
  t->scratch = kugel__scratch_get(p->ctx, (size_t)t->workers * t->scratch_size);
  if (t->rings && t->scratch)
    return KUGEL_OK;
  kugel__scratch_put(p->ctx, t->rings);
  kugel__scratch_put(p->ctx, t->scratch);
  return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of transform scratch",
                    rings_size + (size_t)t->workers * t->scratch_size);
}

static void end(call *t)
{
  kugel__scratch_put(t->plan->ctx, t->rings);
  kugel__scratch_put(t->plan->ctx, t->scratch);
}

// The continuation of component c over the poles has the sign (-1)^(m + spin).
static bool is_odd(const kugel_sht *p, int64_t m, int c)
{
  int spin = p->opts.mode == KUGEL_SHT_SPIN ? p->opts.spin : p->opts.mode == KUGEL_SHT_TEB && c > 0 ? 2 : 0;
  return (m + spin) % 2 != 0;
}

// Components of `values` m from m0 on: rows of the grid -> dense rows, or back by the transpose.
static void resample(const call *t, int64_t m0, int64_t values, bool transpose, double *dense, void *scratch)
{
  const kugel__thetafft *f = t->l->theta;
  const kugel__thetafft_ops *ops = kugel__thetafft_ops_now();
  const kugel__circle *from = transpose ? &f->dense : &f->grid, *to = transpose ? &f->grid : &f->dense;
  int64_t n_map = t->plan->n_map, lines = values * n_map;
  double *source = transpose ? dense : t->rings + m0 * n_map * 4 * f->grid.row;
  double *target = transpose ? t->rings + m0 * n_map * 4 * f->grid.row : dense;
  if (2 * to->npairs != to->rings) // rings that do not exist count as zero
    memset(target, 0, (size_t)(lines * 4 * to->row) * 8);
  for (int64_t i = 0; i < lines; i += ops->vlen) {
    const double *in[GROUP];
    double *out[GROUP];
    bool odd[GROUP];
    int count = (int)kugel__min(ops->vlen, lines - i);
    for (int v = 0; v < count; v++) {
      in[v] = source + (i + v) * 4 * from->row;
      out[v] = target + (i + v) * 4 * to->row;
      odd[v] = is_odd(t->plan, m0 + (i + v) / n_map, (int)((i + v) % n_map));
    }
    ops->run(f, from, to, count, in, odd, out, scratch);
  }
}

static kugel_status analysis_group(void *arg, int64_t group, int worker)
{
  const call *t = arg;
  const kugel_sht *p = t->plan;
  const kugel__circle *d = &t->l->theta->dense;
  double *dense = (double *)(t->scratch + (size_t)worker * t->scratch_size);
  double *column = dense + t->dense_size / 8, *rest = column + t->column_size / 8, *columns[KUGEL__MAX_SETS];
  int64_t m0 = group * GROUP, m1 = kugel__min(m0 + GROUP, p->mmax + 1);
  resample(t, m0, m1 - m0, false, dense, rest);
  for (int64_t m = m0; m < m1; m++) {
    int64_t n = p->lmax - m + 1, at = kugel__alm_offset(p->lmax, m) + m;
    for (int c = 0; c < p->n_alm; c++) {
      columns[c] = column + c * 2 * (p->lmax + 1);
      memset(columns[c], 0, (size_t)n * 16);
    }
    kugel__leg_adjoint(t->l->leg, m, 0, d->npairs, dense + (m - m0) * p->n_map * 4 * d->row, d->row, columns,
                       rest);
    for (int c = 0; c < p->n_alm; c++)
      kugel__alm_pack(t->alm, c, at, n, m == 0, t->accumulate, columns[c]);
  }
  return KUGEL_OK;
}

static kugel_status adjoint_group(void *arg, int64_t group, int worker)
{
  const call *t = arg;
  const kugel_sht *p = t->plan;
  const kugel__circle *d = &t->l->theta->dense;
  double *dense = (double *)(t->scratch + (size_t)worker * t->scratch_size);
  double *column = dense + t->dense_size / 8, *rest = column + t->column_size / 8;
  const double *columns[KUGEL__MAX_SETS];
  int64_t m0 = group * GROUP, m1 = kugel__min(m0 + GROUP, p->mmax + 1);
  for (int64_t m = m0; m < m1; m++) {
    int64_t at = kugel__alm_offset(p->lmax, m) + m;
    for (int c = 0; c < p->n_alm; c++) {
      kugel__alm_unpack(t->alm, c, at, p->lmax - m + 1, m == 0, column + c * 2 * (p->lmax + 1));
      columns[c] = column + c * 2 * (p->lmax + 1);
    }
    kugel__leg_synth(t->l->leg, m, 0, d->npairs, columns, dense + (m - m0) * p->n_map * 4 * d->row, d->row,
                     rest);
  }
  resample(t, m0, m1 - m0, true, dense, rest);
  return KUGEL_OK;
}

// The part of a transform that the rings take: as in cpu.c, with twice as many rings in the Legendre stage.
static double ring_share(const kugel_sht *p)
{
  double legendre = 2 * (double)p->grid->npairs * (double)p->nalm * 0.12 * p->n_map;
  double rings = 5 * (double)p->npix * p->n_map;
  return rings / (legendre + rings);
}

static double group_part(const void *plan, int64_t done)
{
  const kugel_sht *p = plan;
  return kugel__sht_order_part(p, kugel__min(done * GROUP, p->mmax + 1));
}

kugel_status kugel__latlon_analysis(const kugel_sht *p, const kugel__maps *map, const kugel__alms *alm,
                                    bool accumulate)
{
  call t = {.alm = alm, .accumulate = accumulate};
  KUGEL_TRY(begin(&t, p));
  int64_t row = p->latlon->theta->grid.row;
  kugel_status s = KUGEL_OK;
  double rings = ring_share(p);
  for (int c = 0; c < p->n_map && !s; c++) {
    kugel__progress_stage(rings * c / p->n_map, rings * (c + 1) / p->n_map, "analysis");
    s = kugel__rings_adjoint(p->rings, 0, p->grid->npairs, map->data[c], map->f32, NULL, NULL,
                             t.rings + c * 4 * row, p->n_map * 4 * row, row);
  }
  kugel__progress_stage_by(rings, 1, "analysis", group_part, p);
  if (!s)
    s = kugel__parallel_on(p->ctx, t.workers, (p->mmax + GROUP) / GROUP, analysis_group, &t);
  end(&t);
  return s;
}

kugel_status kugel__latlon_adjoint(const kugel_sht *p, const kugel__alms *alm, const kugel__maps *map)
{
  call t = {.alm = alm};
  KUGEL_TRY(begin(&t, p));
  int64_t row = p->latlon->theta->grid.row;
  double rings = ring_share(p);
  kugel__progress_stage_by(0, 1 - rings, "adjoint of analysis", group_part, p);
  kugel_status s = kugel__parallel_on(p->ctx, t.workers, (p->mmax + GROUP) / GROUP, adjoint_group, &t);
  for (int c = 0; c < p->n_map && !s; c++) {
    kugel__progress_stage(1 - rings * (p->n_map - c) / p->n_map, 1 - rings * (p->n_map - c - 1) / p->n_map,
                          "adjoint of analysis");
    s = kugel__rings_synth(p->rings, 0, p->grid->npairs, t.rings + c * 4 * row, p->n_map * 4 * row, row,
                           map->data[c], map->f32);
  }
  end(&t);
  return s;
}
