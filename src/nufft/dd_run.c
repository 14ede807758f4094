/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in double-double. */
#include <string.h>
#include "core/alloc.h"
#include "core/cpu.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "nufft/dd.h"

KUGEL_DISPATCH(kugel__nufft_dd_ops, kugel__nufft_dd_ops)

enum { WIDE = KUGEL__NUFFT_DD_WIDTH, POINTS = 32 };

typedef struct work {
  const kugel_nufft_points *p;
  const kugel__nufft_dd_ops *ops;
  const double *in; /* strengths or modes */
  double *out, *grid;
  const int64_t *in_stride, *out_stride;
  int64_t slab; /* rows of axis 0 */
  bool to_modes;
} work;

/* ---- points ---- */

/* A point's weights; `row`: those of the last axis times the strength, or sums of the values above them. */
typedef struct stamp {
  const kugel__nufft_dd_point *point;
  double w[3][2][WIDE], row[4 * WIDE];
} stamp;

static kugel__dd weight(const stamp *s, int d, int j)
{
  return (kugel__dd){s->w[d][0][j], s->w[d][1][j]};
}

/* The row with the last axis' cells of one line of the grid, which are around the period. */
static void line(const work *w, stamp *s, kugel__dd q, double *grid, int first, int count)
{
  const kugel_nufft *plan = w->p->plan;
  const int64_t fine = plan->axis[plan->ndim - 1].fine;
  int64_t at = (s->point->node[plan->ndim - 1] + first) % fine;
  for (int64_t done = 0; done < count;) {
    const int64_t some = kugel__min(count - done, fine - at);
    double *row = s->row + 4 * (first + done), *cells = grid + 4 * at;
    w->ops->add(some, q, w->to_modes ? row : cells, w->to_modes ? cells : row);
    done += some;
    at = 0;
  }
}

/* The lines of a point with nodes `first` ... first + count - 1 along axis 0. */
static void lines(const work *w, stamp *s, int first, int count)
{
  const kugel_nufft *plan = w->p->plan;
  const kugel__nufft_axis *a = plan->axis;
  const int width = plan->dd->width;
  if (plan->ndim == 1) {
    line(w, s, dd_from(1), w->grid, first, count);
    return;
  }
  for (int k = first; k < first + count; k++) {
    const int64_t z = (s->point->node[0] + k) % a[0].fine;
    if (plan->ndim == 2) {
      line(w, s, weight(s, 0, k), w->grid + 4 * z * a[1].fine, 0, width);
      continue;
    }
    for (int j = 0; j < width; j++) {
      const int64_t y = (s->point->node[1] + j) % a[1].fine;
      line(w, s, dd_mul(weight(s, 0, k), weight(s, 1, j)), w->grid + 4 * (z * a[1].fine + y) * a[2].fine, 0,
           width);
    }
  }
}

static void begin(const work *w, stamp *s, const kugel__nufft_dd_point *point)
{
  const kugel_nufft *plan = w->p->plan;
  s->point = point;
  for (int d = 0; d < plan->ndim; d++)
    w->ops->weights(plan->dd, point->t[d], s->w[d]);
  memset(s->row, 0, sizeof s->row);
}

static kugel_status spread(void *arg, int64_t slab)
{
  const work *w = arg;
  const kugel_nufft *plan = w->p->plan;
  const struct kugel__nufft_dd_points *points = w->p->dd;
  const int width = plan->dd->width;
  const int64_t fine = plan->axis[0].fine, lo = slab * w->slab, hi = kugel__min(fine, lo + w->slab);
  stamp s;
  for (int64_t c = lo - width + 1; c < hi; c++) {
    const int64_t row = (c + fine) % fine, from = kugel__max(c, lo), to = kugel__min(c + width, hi);
    for (int64_t i = points->start[row]; i < points->start[row + 1]; i++) {
      const double *strength = w->in + 4 * points->point[i].source * *w->in_stride;
      begin(w, &s, &points->point[i]);
      for (int j = 0; j < width; j++)
        w->ops->add(1, weight(&s, plan->ndim - 1, j), strength, s.row + 4 * j);
      lines(w, &s, (int)(from - c), (int)(to - from));
    }
  }
  return KUGEL_OK;
}

static kugel_status interpolate(void *arg, int64_t chunk)
{
  const work *w = arg;
  const kugel_nufft *plan = w->p->plan;
  const int width = plan->dd->width;
  const int64_t end = kugel__min(w->p->n, (chunk + 1) * POINTS);
  stamp s;
  for (int64_t i = chunk * POINTS; i < end; i++) {
    const kugel__nufft_dd_point *point = &w->p->dd->point[i];
    double value[4] = {0};
    begin(w, &s, point);
    lines(w, &s, 0, width);
    for (int j = 0; j < width; j++)
      w->ops->add(1, weight(&s, plan->ndim - 1, j), s.row + 4 * j, value);
    memcpy(w->out + 4 * point->source * *w->out_stride, value, sizeof value);
  }
  return KUGEL_OK;
}

kugel_status kugel__nufft_dd_spread(const kugel_nufft_points *p, const void *strengths, int64_t stride,
                                    void *grid)
{
  static const int64_t rows[3] = {4096, 64,
                                  16}; // of a slab: points at its ends have their weights made again
  const kugel_nufft *plan = p->plan;
  const int64_t fine = plan->axis[0].fine;
  work w = {.p = p,
            .ops = kugel__nufft_dd_ops_get(),
            .in = strengths,
            .grid = grid,
            .in_stride = &stride,
            .slab = kugel__min(rows[plan->ndim - 1], fine - plan->dd->width + 1),
            .to_modes = true};
  return kugel__parallel(plan->ctx, (fine + w.slab - 1) / w.slab, spread, &w);
}

kugel_status kugel__nufft_dd_interpolate(const kugel_nufft_points *p, void *grid, void *values,
                                         int64_t stride)
{
  work w = {.p = p, .ops = kugel__nufft_dd_ops_get(), .out = values, .grid = grid, .out_stride = &stride};
  return kugel__parallel(p->plan->ctx, (p->n + POINTS - 1) / POINTS, interpolate, &w);
}

/* ---- modes ---- */

/* Between row i of the modes along axis 0 and the grid, times the scales. */
static kugel_status move(void *arg, int64_t i)
{
  const work *w = arg;
  const kugel_nufft *plan = w->p->plan;
  const struct kugel__nufft_dd *dd = plan->dd;
  const int64_t *stride = w->to_modes ? w->out_stride : w->in_stride;
  int64_t n[3] = {1, 1, 1}, index[3] = {0}, count = 1;
  for (int d = 1; d < plan->ndim; d++)
    count *= n[d] = plan->axis[d].n;
  index[0] = i;
  for (int64_t k = 0; k < count; k++) {
    int64_t at = 0, cell = 0;
    kugel__dd q = dd->scale[0][i];
    index[1] = k / n[2];
    index[2] = k % n[2];
    if (plan->ndim == 2)
      index[1] = k;
    for (int d = 0; d < plan->ndim; d++) {
      const kugel__nufft_axis *a = &plan->axis[d];
      int64_t mode =
          plan->fft_order ? (index[d] < (a->n + 1) / 2 ? index[d] : index[d] - a->n) : index[d] - a->n / 2;
      at += index[d] * stride[d];
      cell = cell * a->fine + (mode < 0 ? mode + a->fine : mode);
      q = d ? dd_mul(q, dd->scale[d][index[d]]) : q;
    }
    double product[4] = {0};
    w->ops->add(1, q, w->to_modes ? w->grid + 4 * cell : w->in + 4 * at, product);
    memcpy(w->to_modes ? w->out + 4 * at : w->grid + 4 * cell, product, sizeof product);
  }
  return KUGEL_OK;
}

static kugel_status transform(const work *w, int sign)
{
  const kugel_nufft *plan = w->p->plan;
  int64_t shape[4];
  for (int d = 0; d < plan->ndim; d++)
    shape[d] = plan->axis[d].fine;
  shape[plan->ndim] = 2;
  const kugel_array grid = {
      .data = w->grid, .device = {KUGEL_CPU, 0}, .ndim = plan->ndim + 1, .dtype = KUGEL_C128, .shape = shape};
  return kugel_fft_execute(plan->dd->fft, sign, &grid, &grid, NULL);
}

kugel_status kugel__nufft_dd_run(const kugel_nufft_points *p, bool to_modes, int sign, const void *in,
                                 const int64_t *in_stride, void *out, const int64_t *out_stride, void *grid)
{
  const kugel_nufft *plan = p->plan;
  work w = {.p = p,
            .ops = kugel__nufft_dd_ops_get(),
            .in = in,
            .out = out,
            .grid = grid,
            .in_stride = in_stride,
            .out_stride = out_stride,
            .to_modes = to_modes};
  KUGEL_TRY(kugel__nufft_clear(plan, grid));
  if (to_modes) {
    kugel__progress_stage(0.02, 0.6, "spreading");
    KUGEL_TRY(kugel__nufft_dd_spread(p, in, *in_stride, grid));
    KUGEL_TRY(transform(&w, sign));
    return kugel__parallel(plan->ctx, plan->axis[0].n, move, &w);
  }
  KUGEL_TRY(kugel__parallel(plan->ctx, plan->axis[0].n, move, &w));
  KUGEL_TRY(transform(&w, sign));
  kugel__progress_stage(0.4, 1, "interpolating");
  return kugel__nufft_dd_interpolate(p, grid, out, *out_stride);
}
