/* SPDX-License-Identifier: BSD-3-Clause */
/* Associated Legendre transforms of some tiles. Lanes of different orders share all steps below the lowest of them: a chain begins
 * with the lanes of the highest order, and the others join it when it has come down to theirs. A rotation acts on each lane by
 * itself, and lanes that have not joined are zero, so results do not depend on which orders share a tile.
 * Tiles take eight steps in turn, and so many rows of a matrix: what they read of the tables stays in the cache. */
#include <string.h>
#include "alt/alt.h"

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

static int64_t lowest(const kugel__alt_tile *t)
{
  return t->m[t->lanes - 1];
}

/* `tiles` tiles, n rows each, from order `from` down to `to`; and from n rows in y up from `to` to `from`. */
static void lower_some(const kugel__alt_tile *t, int tiles, int q, int64_t n, int64_t from, int64_t to)
{
  const void *const *steps = steps_of(t->plan, from, q);
  for (int64_t done = 0, all = (from - to) / 2; done < all; done += 8)
    for (int i = 0; i < tiles; i++)
      t->ops->lower(t[i].x, n + done, kugel__min(8, all - done), steps + done);
}

static void raise_some(const kugel__alt_tile *t, int tiles, int q, int64_t n, int64_t to, int64_t from)
{
  const void *const *lowering = steps_of(t->plan, from, q), *raising[8];
  for (int64_t done = 0, all = (from - to) / 2; done < all; done += 8) {
    int64_t some = kugel__min(8, all - done);
    for (int64_t i = 0; i < some; i++)
      raising[i] = lowering[all - 1 - done - i];
    for (int i = 0; i < tiles; i++)
      t->ops->raise(t[i].y, n - done, some, raising);
  }
}

/* Coefficients of parity q of one tile, to x at its lowest order. */
static void gather(const kugel__alt_tile *t, const kugel__rows *rows, int q)
{
  const kugel_alt *p = t->plan;
  if (lowest(t) == t->m[0]) {
    kugel__rows part = every_other(t, rows, q);
    t->ops->pack(t->x, &part);
    return;
  }
  memset(t->x, 0, (size_t)kugel__alt_rows(p->lmax, lowest(t), q) * line_of(t));
  for (int64_t first = 0, last; first < t->lanes; first = last) {
    last = same_order(t, first);
    some_lanes(t, rows, first, last, q, false);
    if (last < t->lanes)
      lower_some(t, 1, q, kugel__alt_rows(p->lmax, t->m[first], q), t->m[first], t->m[last]);
  }
}

/* The way back, from y. */
static void scatter(const kugel__alt_tile *t, const kugel__rows *rows, int q)
{
  const kugel_alt *p = t->plan;
  if (lowest(t) == t->m[0]) {
    kugel__rows part = every_other(t, rows, q);
    t->ops->unpack(t->y, &part);
    return;
  }
  for (int64_t last = t->lanes, first; last > 0; last = first) {
    first = last - 1;
    while (first > 0 && t->m[first - 1] == t->m[first])
      first--;
    some_lanes(t, rows, first, last, q, true);
    if (first)
      raise_some(t, 1, q, kugel__alt_rows(p->lmax, t->m[first], q), t->m[first], t->m[first - 1]);
  }
}

/* Coefficients of parity q to x at the order below 2; the first `tiles` tiles have them. */
static void lower_all(const kugel__alt_tile *t, int tiles, const kugel__rows *rows, int q)
{
  for (int i = 0; i < tiles; i++) {
    int64_t m = lowest(&t[i]), next = i + 1 < tiles ? lowest(&t[i + 1]) : m % 2;
    gather(&t[i], &rows[i], q);
    lower_some(t, i + 1, q, kugel__alt_rows(t->plan->lmax, m, q), m, next);
  }
}

static void raise_all(const kugel__alt_tile *t, int tiles, const kugel__rows *rows, int q)
{
  int64_t m = t->m[0] % 2;
  for (int i = tiles - 1; i >= 0; i--) {
    raise_some(t, i + 1, q, kugel__alt_rows(t->plan->lmax, m, q), m, lowest(&t[i]));
    m = lowest(&t[i]);
    scatter(&t[i], &rows[i], q);
  }
}

/* y = matrix times x, or times the values. Bits are those of one product. */
static void product(const kugel__alt_tile *t, int tiles, kugel__matrix a, bool from_values)
{
  enum { ROWS = 48 }; /* a multiple of the rows that the product takes at once */
  int64_t word = (int64_t)t->plan->word, rows = a.rows, columns = a.columns;
  const char *table = a.a;
  for (int64_t i = 0; i < rows; i += ROWS) {
    int64_t from = a.upper ? i : 0;
    a.rows = kugel__min(ROWS, rows - i);
    a.columns = (a.lower ? kugel__min(columns, i + ROWS) : columns) - from;
    a.a = table + (i * a.row + from * a.column) * word;
    kugel__matrix block = a;
    block.lower = 0; /* the other elements of the block are zero */
    for (int k = 0; k < tiles; k++)
      t->ops->matrix(&block, row(t, from_values ? t[k].values : t[k].x, from), row(t, t[k].y, i));
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

/* The tiles that have degrees of parity q: the last ones, of low orders, always do if any has. */
static int without(const kugel__alt_tile *t, int tiles, int q)
{
  int none = 0;
  while (none < tiles && !kugel__alt_rows(t->plan->lmax, lowest(&t[none]), q))
    none++;
  return none;
}

/* The matrix of parity q, to values or from them. */
static kugel__matrix series(const kugel__alt_tile *t, int q, bool up)
{
  const kugel_alt *p = t->plan;
  int64_t m0 = t->m[0] % 2, size = p->lmax / 2 + 1, n = kugel__alt_rows(p->lmax, m0, q);
  const void *forth = up ? p->matrix[m0][q] : p->back[m0][q], *back = up ? p->back[m0][q] : p->matrix[m0][q];
  kugel__matrix points = table(p->points[m0][q], p->n, n, size, false);
  if (points.a)
    return up ? points : transposed(points);
  return t->adjoint ? transposed(table(back, n, n, size, true)) : table(forth, n, n, size, true);
}

void kugel__alt_series_up(const kugel__alt_tile *t, int tiles, int q)
{
  const kugel_alt *p = t->plan;
  bool points = p->points[0][0] != NULL;
  product(t, tiles, series(t, q, true), false);
  for (int i = 0; i < tiles; i++) {
    if (points)
      add(&t[i]);
    for (int64_t k = 0; k < kugel__alt_rows(p->lmax, t->m[0] % 2, q) && !points; k++)
      memcpy(row(t, t[i].values, 2 * k + q), row(t, t[i].y, k), line_of(t));
  }
}

void kugel__alt_series_down(const kugel__alt_tile *t, int tiles, int q)
{
  const kugel_alt *p = t->plan;
  bool points = p->points[0][0] != NULL;
  for (int i = 0; i < tiles && !points; i++)
    for (int64_t k = 0; k < kugel__alt_rows(p->lmax, t->m[0] % 2, q); k++)
      memcpy(row(t, t[i].x, k), row(t, t[i].values, 2 * k + q), line_of(t));
  product(t, tiles, series(t, q, false), points);
}

void kugel__alt_waves_up(const kugel__alt_tile *t, int tiles)
{
  for (int i = 0; i < tiles && !t->plan->points[0][0]; i++) {
    if (t->adjoint && t->m[0] % 2 == 0) /* the transpose of DCT-II */
      scale_first(&t[i], 2);
    waves(&t[i], false, t->adjoint ? 1 / (double)t->plan->n : 1);
  }
}

void kugel__alt_waves_down(const kugel__alt_tile *t, int tiles)
{
  for (int i = 0; i < tiles && !t->plan->points[0][0]; i++) {
    waves(&t[i], true, t->adjoint ? 1 : 1 / (double)t->plan->n);
    if (t->adjoint && t->m[0] % 2 == 0) /* the transpose of DCT-III */
      scale_first(&t[i], 0.5);
  }
}

void kugel__alt_up(const kugel__alt_tile *t, int tiles, const kugel__rows *rows)
{
  for (int i = 0; i < tiles; i++)
    memset(t[i].values, 0, (size_t)t->plan->n * line_of(t));
  for (int q = 0; q < 2; q++) {
    int none = without(t, tiles, q), some = tiles - none;
    if (!some)
      continue;
    lower_all(t + none, some, rows + none, q);
    kugel__alt_series_up(t + none, some, q);
  }
  kugel__alt_waves_up(t, tiles);
}

void kugel__alt_down(const kugel__alt_tile *t, int tiles, const kugel__rows *rows)
{
  kugel__alt_waves_down(t, tiles);
  for (int q = 0; q < 2; q++) {
    int none = without(t, tiles, q), some = tiles - none;
    if (!some)
      continue;
    kugel__alt_series_down(t + none, some, q);
    raise_all(t + none, some, rows + none, q);
  }
}
