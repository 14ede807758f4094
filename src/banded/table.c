/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of the kernels: what kernel.h says of their rows. */
#include "banded/kernel.h"
#include "core/alloc.h"
#include "core/dd.h"

typedef struct writer {
  const kugel_banded *p;
  const kugel__banded_shape *s;
  int64_t columns, matrix;
  int64_t apart; /* columns of a matrix: those of all matrices are side by side in layout COLUMNS */
  char *rows;    /* of the matrix */
  int row;       /* the next one */
  kugel__dd
      *parts; /* [columns]: products of a recurrence's coefficients over the parts; cyclic: [columns q] */
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

/* x into row `more` from here. */
static void put_at(writer *w, int64_t more, int64_t column, kugel__dd x)
{
  w->row += (int)more;
  put(w, column, x);
  w->row -= (int)more;
}

/* Element of the system that is element j of thread t. */
static int64_t element_of(const writer *w, int64_t t, int j)
{
  return w->s->cyclic ? j * w->columns + t : t * w->s->q + j;
}

static void put_diagonal(writer *w, const void *array, bool negative)
{
  for (int j = 0; j < w->s->q; j++, w->row++)
    for (int64_t t = 0; t < w->columns; t++) {
      kugel__dd x = element(w, array, element_of(w, t, j));
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
  const kugel__banded_shape *s = w->s;
  int threads = s->abreast        ? 32 / s->abreast
                : s->threads < 32 ? s->threads
                                  : 32,
      rows = kugel__banded_reaches(s);
  bool several = threads > 1 && threads < s->threads; /* warps */
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

/* Products over the part up to each element. */
static void put_products(writer *w, const void *off, bool backward)
{
  int q = w->s->q, first = backward ? q - 1 : 0;
  for (int64_t t = 0; t < w->columns; t++) {
    kugel__dd x = dd_from(1);
    for (int k = 0; k < q; k++) {
      int j = backward ? first - k : k;
      x = dd_mul(x, dd_neg(element(w, off, t * q + j)));
      put_at(w, j, t, x);
    }
  }
  w->row += q;
}

/* Cyclic reduction: coefficients of its levels, y_i += a_i y_{i-s}; those of 2 s are a_i a_{i-s}. */
static void put_levels(writer *w, const void *off, bool backward, kugel__dd *a)
{
  int64_t length = w->columns * w->s->q, step = backward ? -1 : 1;
  int rows = kugel__banded_stage_rows(w->s, KUGEL__PLAIN_STAGE), level = 0;
  for (int64_t i = 0; i < length; i++)
    a[i] = dd_neg(element(w, off, i));
  for (int64_t s = 1; s < length && level * w->s->q < rows; s *= 2, level++) {
    for (int64_t i = 0; i < length; i++)
      put_at(w, i / w->columns, i % w->columns, a[i]);
    w->row += w->s->q;
    for (int64_t k = length - 1; k >= 0;
         k--) { /* a of the next level, last in the order of the recurrence first */
      int64_t i = backward ? length - 1 - k : k;
      a[i] = k >= s ? dd_mul(a[i], a[i - s * step]) : dd_from(0);
    }
  }
}

static void put_stage(writer *w, const kugel__recurrence *r, bool backward)
{
  if (!r->off)
    return;
  if (r->scale)
    put_diagonal(w, r->scale, false);
  if (w->s->cyclic) {
    put_levels(w, r->off, backward, w->parts);
    return;
  }
  put_diagonal(w, r->off, true);
  multiply_parts(w, r->off);
  put_reaches(w, backward);
  if (w->s->spread)
    put_products(w, r->off, backward);
}

kugel_status kugel__banded_fill(const kugel_banded *p, const kugel__banded_shape *s, int64_t columns,
                                void *table)
{
  kugel__dd *parts;
  KUGEL_ALLOC(p->ctx, parts, (size_t)(columns * s->q) * sizeof *parts);
  for (int64_t m = 0; m < p->matrices; m++) {
    int64_t bytes =
        (s->abreast ? 2 / p->planes : kugel__banded_rows(s) * columns) * (int64_t)p->word * p->planes;
    writer w = {.p = p,
                .s = s,
                .columns = columns,
                .matrix = m,
                .apart = s->abreast ? p->matrices : 1,
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
