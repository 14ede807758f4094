/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the kernels: what kernel.h says of their rows. */
#include "banded/kernel.h"
#include "core/alloc.h"
#include "core/dd.h"

typedef struct writer {
  const kugel_banded *p;
  const kugel__banded_shape *s;
  int64_t columns, matrix;
  int64_t apart;    /* columns of a matrix: those of all matrices are side by side in layout COLUMNS */
  char *rows;       /* of the matrix */
  int row;          /* the next one */
  kugel__dd *parts; /* [columns]: products of a recurrence's coefficients over the parts */
} writer;

/* Element i of the matrix in a coefficient array; 0 beyond, 1 if there is no array. */
static kugel__dd element(const writer *w, const void *array, int64_t i)
{
  const kugel_banded *p = w->p;
  int64_t at = i * p->width + w->matrix;
  if (i >= p->n)
    return dd_from(0);
  if (!array)
    return dd_from(1);
  if (p->word == 4)
    return dd_from((double)((const float *)array)[at]);
  const double *x = array;
  return (kugel__dd){x[at], p->planes == 2 ? x[p->n * p->width + at] : 0};
}

static void put(const writer *w, int64_t column, kugel__dd x)
{
  int64_t together = w->p->planes == 2 ? 1 : 2; /* rows that lie as pairs */
  int64_t at = ((w->row / together * w->columns + column) * w->apart) * together + w->row % together;
  if (w->p->word == 4)
    ((float *)(void *)w->rows)[at] = (float)x.hi;
  else if (w->p->planes == 1)
    ((double *)(void *)w->rows)[at] = x.hi;
  else
    ((kugel__dd *)(void *)w->rows)[at] = x;
}

static void put_diagonal(writer *w, const void *array, bool negative)
{
  for (int j = 0; j < w->s->q; j++, w->row++)
    for (int64_t t = 0; t < w->columns; t++) {
      kugel__dd x = element(w, array, t * w->s->q + j);
      put(w, t, negative ? dd_neg(x) : x);
    }
}

static void multiply_parts(writer *w, const void *off)
{
  for (int64_t t = 0; t < w->columns; t++) {
    w->parts[t] = dd_from(1);
    for (int j = 0; j < w->s->q; j++)
      w->parts[t] = dd_mul(w->parts[t], dd_neg(element(w, off, t * w->s->q + j)));
  }
}

/* Row k of reach: over 2^k parts up to a column's, or (k = levels, of several warps) all before it. */
static void put_reaches(writer *w, bool backward)
{
  int threads = w->s->threads < 32 ? w->s->threads : 32, rows = kugel__banded_reaches(w->s);
  bool several = !w->s->upright && w->s->threads > 32;
  for (int k = 0; k < rows; k++, w->row++)
    for (int64_t t = 0; t < w->columns; t++) {
      bool before = several && k == rows - 1;
      int64_t rank = backward ? threads - 1 - t % threads : t % threads, step = backward ? -1 : 1;
      kugel__dd x = dd_from(1);
      for (int64_t d = before; d <= rank && (before || d < (int64_t)1 << k); d++)
        x = dd_mul(x, w->parts[t - d * step]);
      put(w, t, x);
    }
}

static void put_stage(writer *w, const kugel__recurrence *r, bool backward)
{
  if (!r->off)
    return;
  if (r->scale)
    put_diagonal(w, r->scale, false);
  put_diagonal(w, r->off, true);
  multiply_parts(w, r->off);
  put_reaches(w, backward);
}

kugel_status kugel__banded_fill(const kugel_banded *p, const kugel__banded_shape *s, int64_t columns,
                                void *table)
{
  kugel__dd *parts;
  KUGEL_ALLOC(p->ctx, parts, (size_t)columns * sizeof *parts);
  for (int64_t m = 0; m < p->matrices; m++) {
    int64_t bytes =
        (s->upright ? 2 / p->planes : kugel__banded_rows(s) * columns) * (int64_t)p->word * p->planes;
    writer w = {.p = p,
                .s = s,
                .columns = columns,
                .matrix = m,
                .apart = s->upright ? p->matrices : 1,
                .rows = (char *)table + m * bytes,
                .parts = parts};
    if (s->product) {
      if (s->lower)
        put_diagonal(&w, p->lower, false);
      put_diagonal(&w, p->diagonal, false);
      if (s->upper)
        put_diagonal(&w, p->upper, false);
    } else {
      put_stage(&w, &p->forward, false);
      put_stage(&w, &p->backward, true);
    }
    for (; w.row < kugel__banded_rows(s); w.row++)
      for (int64_t t = 0; t < columns; t++)
        put(&w, t, dd_from(0));
  }
  kugel__free(p->ctx, parts);
  return KUGEL_OK;
}
