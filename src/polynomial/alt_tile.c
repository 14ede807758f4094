/* SPDX-License-Identifier: BSD-3-Clause */
/* Associated Legendre transforms of one tile. Lanes of different orders share all steps below the lowest of them: a chain begins
 * with the lanes of the highest order, and the others join it when it has come down to theirs. A rotation acts on each lane by
 * itself, and lanes that have not joined are zero, so results do not depend on which orders share a tile. */
#include <string.h>
#include "polynomial/alt.h"

kugel__space kugel__alt_space(const kugel_alt *p, const kugel__sweep_ops *ops)
{
  int64_t rows = kugel__max(p->n, p->lmax + 1) + 8, points = 0;
  for (int i = 0; i < 4; i++)
    points = kugel__max(points, p->wave[i / 2][i % 2].points);
  return kugel__space_of(p->single, rows, rows * ops->width + 8, points); /* the numbers are the third tile */
}

void kugel__alt_space_use(const kugel__space *s, char *at, kugel__alt_tile *t)
{
  kugel__tiles tiles;
  kugel__space_use(s, at, NULL, &tiles);
  t->x = tiles.now;
  t->y = tiles.other;
  t->values = at + 2 * s->tile;
  t->work = tiles.work;
}

static size_t line_of(const kugel__alt_tile *t)
{
  return (size_t)t->ops->width * t->plan->word;
}

static char *row(const kugel__alt_tile *t, char *tile, int64_t i)
{
  return tile + i * (int64_t)line_of(t);
}

static kugel__matrix table(const void *a, int64_t rows, int64_t columns, int64_t stride, bool upper)
{
  return (kugel__matrix){a, rows, columns, stride, 1, upper, 0};
}

static kugel__matrix transposed(kugel__matrix m)
{
  return (kugel__matrix){m.a, m.columns, m.rows, m.column, m.row, m.lower, m.upper};
}

/* The rows of the values by DCT-III or DST-III, or with `back` by DCT-II or DST-II. */
static void waves(const kugel__alt_tile *t, bool back, double scale)
{
  const kugel_alt *p = t->plan;
  int width = t->ops->width, vlen = width / (p->single ? 4 : 2);
  int64_t at[16];
  kugel__lines l = {.axis = &p->wave[t->m[0] % 2][back],
                    .f32 = p->single,
                    .count = vlen,
                    .in = t->values,
                    .out = t->values,
                    .in_at = at,
                    .out_at = at,
                    .in_step = width,
                    .out_step = width,
                    .scale = scale};
  for (int first = 0; first < width; first += vlen) {
    for (int i = 0; i < vlen; i++)
      at[i] = first + i;
    kugel__line_ops_now()->run(&l, t->work);
  }
}

static void scale_first(const kugel__alt_tile *t, double factor)
{
  float single = (float)factor;
  t->ops->scale(t->values, 1, t->plan->single ? (const void *)&single : &factor);
}

/* Steps down from order m, in the order of lowering. */
static const void *const *steps_of(const kugel_alt *p, int64_t m, int q)
{
  int64_t even = (p->mmax + 1) / 2;
  return (const void *const *)p->lowering[q] + (m % 2 ? even + p->mmax / 2 - m / 2 : even - m / 2);
}

/* Elements q, q + 2, ... of lanes [first, last), all of order m, between the array and a tile; others of the tile are kept. */
static void some_lanes(const kugel__alt_tile *t, const kugel__rows *rows, int64_t first, int64_t last, int q,
                       bool out)
{
  int64_t n = kugel__alt_rows(t->plan->lmax, t->m[first], q), width = t->ops->width, step = 2 * rows->step;
  for (int64_t r = first; r < last; r++)
    if (t->plan->single) {
      float *a = (float *)rows->at[r] + q * rows->step, *b = (float *)(void *)(out ? t->y : t->x) + r;
      for (int64_t i = 0; i < n; i++)
        *(out ? &a[i * step] : &b[i * width]) = *(out ? &b[i * width] : &a[i * step]);
    } else {
      double *a = (double *)rows->at[r] + q * rows->step, *b = (double *)(void *)(out ? t->y : t->x) + r;
      for (int64_t i = 0; i < n; i++)
        *(out ? &a[i * step] : &b[i * width]) = *(out ? &b[i * width] : &a[i * step]);
    }
}

/* The end of the lanes that are of the order of lane `first`. */
static int64_t same_order(const kugel__alt_tile *t, int64_t first)
{
  int64_t last = first + 1;
  while (last < t->lanes && t->m[last] == t->m[first])
    last++;
  return last;
}

/* A tile of one order goes through pack and unpack. */
static kugel__rows every_other(const kugel__alt_tile *t, const kugel__rows *rows, int q)
{
  kugel__rows part = *rows;
  part.n = kugel__alt_rows(t->plan->lmax, t->m[0], q);
  part.step *= 2;
  for (int64_t r = 0; r < part.lanes; r++)
    part.at[r] = (char *)rows->at[r] + q * rows->step * (int64_t)t->plan->word;
  return part;
}

/* Coefficients of parity q, from all orders to x at the order below 2; gives their number. */
static int64_t lower_all(const kugel__alt_tile *t, const kugel__rows *rows, int q)
{
  const kugel_alt *p = t->plan;
  int64_t m = t->m[0], n = kugel__alt_rows(p->lmax, m, q), first = 0;
  if (t->m[t->lanes - 1] == m) {
    kugel__rows part = every_other(t, rows, q);
    t->ops->pack(t->x, &part);
    t->ops->lower(t->x, n, m / 2, steps_of(p, m, q));
    return n + m / 2;
  }
  memset(t->x, 0, (size_t)kugel__alt_rows(p->lmax, m % 2, q) * line_of(t));
  while (first < t->lanes) {
    int64_t last = same_order(t, first), next = last < t->lanes ? t->m[last] : m % 2;
    some_lanes(t, rows, first, last, q, false);
    t->ops->lower(t->x, n, (t->m[first] - next) / 2, steps_of(p, t->m[first], q));
    n += (t->m[first] - next) / 2;
    first = last;
  }
  return n;
}

/* The way back from n coefficients in y. */
static void raise_all(const kugel__alt_tile *t, const kugel__rows *rows, int q, int64_t n)
{
  const kugel_alt *p = t->plan;
  int64_t last = t->lanes, m = t->m[0] % 2;
  while (last > 0) {
    int64_t first = last - 1;
    while (first > 0 && t->m[first - 1] == t->m[first])
      first--;
    const void *const *lowering = steps_of(p, t->m[first], q), *raising[8];
    for (int64_t done = 0, steps = (t->m[first] - m) / 2; done < steps; done += 8) {
      int64_t some = kugel__min(8, steps - done);
      for (int64_t i = 0; i < some; i++)
        raising[i] = lowering[steps - 1 - done - i];
      t->ops->raise(t->y, n - done, some, raising);
    }
    n -= (t->m[first] - m) / 2;
    m = t->m[first];
    if (!first && last == t->lanes) {
      kugel__rows part = every_other(t, rows, q);
      t->ops->unpack(t->y, &part);
    } else if (n > 0) {
      some_lanes(t, rows, first, last, q, true);
    }
    last = first;
  }
}

/* Adds y to the values at points. */
static void add(const kugel__alt_tile *t)
{
  for (int64_t i = 0; i < t->plan->n * t->ops->width; i++)
    if (t->plan->single)
      ((float *)(void *)t->values)[i] += ((const float *)(const void *)t->y)[i];
    else
      ((double *)(void *)t->values)[i] += ((const double *)(const void *)t->y)[i];
}

void kugel__alt_up(const kugel__alt_tile *t, const kugel__rows *rows)
{
  const kugel_alt *p = t->plan;
  int64_t m0 = t->m[0] % 2, lowest = t->m[t->lanes - 1], size = p->lmax / 2 + 1;
  memset(t->values, 0, (size_t)p->n * line_of(t));
  for (int q = 0; q < 2; q++) {
    if (!kugel__alt_rows(p->lmax, lowest, q))
      continue;
    int64_t to = lower_all(t, rows, q);
    kugel__matrix a = t->adjoint ? transposed(table(p->back[m0][q], to, to, size, true))
                                 : table(p->matrix[m0][q], to, to, size, true);
    if (p->points[m0][q])
      a = table(p->points[m0][q], p->n, to, size, false);
    t->ops->matrix(&a, t->x, t->y);
    if (p->points[m0][q])
      add(t);
    for (int64_t k = 0; k < to && !p->points[m0][q]; k++)
      memcpy(row(t, t->values, 2 * k + q), row(t, t->y, k), line_of(t));
  }
  if (p->points[0][0])
    return;
  if (t->adjoint && !m0) /* the transpose of DCT-II */
    scale_first(t, 2);
  waves(t, false, t->adjoint ? 1 / (double)p->n : 1);
}

void kugel__alt_down(const kugel__alt_tile *t, const kugel__rows *rows)
{
  const kugel_alt *p = t->plan;
  int64_t m0 = t->m[0] % 2, lowest = t->m[t->lanes - 1], size = p->lmax / 2 + 1;
  if (!p->points[0][0]) {
    waves(t, true, t->adjoint ? 1 : 1 / (double)p->n);
    if (t->adjoint && !m0) /* the transpose of DCT-III */
      scale_first(t, 0.5);
  }
  for (int q = 0; q < 2; q++) {
    int64_t to = kugel__alt_rows(p->lmax, m0, q);
    if (!kugel__alt_rows(p->lmax, lowest, q))
      continue;
    kugel__matrix a = t->adjoint ? transposed(table(p->matrix[m0][q], to, to, size, true))
                                 : table(p->back[m0][q], to, to, size, true);
    if (p->points[m0][q]) {
      a = transposed(table(p->points[m0][q], p->n, to, size, false));
      t->ops->matrix(&a, t->values, t->y);
    } else {
      for (int64_t k = 0; k < to; k++)
        memcpy(row(t, t->x, k), row(t, t->values, 2 * k + q), line_of(t));
      t->ops->matrix(&a, t->x, t->y);
    }
    raise_all(t, rows, q, to);
  }
}
