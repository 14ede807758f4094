/* SPDX-License-Identifier: BSD-3-Clause */
/* The loops of stencil/rows.isa.c. No include guard: included once per kind of number. Compiled without contraction: where a node
 * lies in its row decides on its loop, and must not change a bit. */

static inline VECTOR NAME(load)(const REAL *p)
{
  VECTOR v;
  memcpy(&v, p, sizeof v);
  return v;
}

/* The first `count` numbers, zeros behind them. */
static inline VECTOR NAME(load_part)(const REAL *p, int64_t count)
{
  VECTOR v = {0};
  memcpy(&v, p, (size_t)count * sizeof *p);
  return v;
}

/* a sum + b p + c q; the arithmetic of NAME(sum). */
static inline __attribute__((always_inline)) VECTOR NAME(finish)(const kugel__stencil_taps *t, VECTOR sum,
                                                                 int64_t x, int64_t count)
{
  const REAL a = (REAL)t->a, b = (REAL)t->b, c = (REAL)t->c, *p = t->p, *q = t->q;
  if (q)
    return a * sum + (b * NAME(load_part)(p + x, count) + c * NAME(load_part)(q + x, count));
  return p ? a * sum + b * NAME(load_part)(p + x, count) : a * sum;
}

/* The last numbers of a row, fewer than a vector, with the arithmetic of a vector: a number's place changes no bit. */
static inline __attribute__((always_inline)) void NAME(rest)(const kugel__stencil_taps *t, int64_t x,
                                                             bool each, bool finish)
{
  const int64_t count = t->n - x;
  REAL *acc = (REAL *)t->acc + x;
  VECTOR sum = {0};
  for (int k = 0; k < t->count; k++) {
    const REAL w = (REAL)t->weight[k];
    VECTOR v = NAME(load_part)((const REAL *)t->from[k] + x, count);
    if (each)
      v *= NAME(load_part)((const REAL *)t->each[k] + x, count);
    sum = MULADD(v, w - (VECTOR){0}, sum);
  }
  if (t->post)
    sum *= NAME(load_part)((const REAL *)t->post + x, count);
  if (t->add)
    sum += NAME(load_part)(acc, count);
  if (finish)
    sum = NAME(finish)(t, sum, x, count);
  memcpy(acc, &sum, (size_t)count * sizeof *acc);
}

enum { NAME(WIDE) = 8 };

/* A block of `wide` vectors, whose sums stay in registers: enough of them that products need not wait for the ones before. */
static inline __attribute__((always_inline)) void NAME(block)(const kugel__stencil_taps *t, int64_t x,
                                                              int wide, bool each, bool finish)
{
  VECTOR sum[NAME(WIDE)] = {{0}};
  for (int k = 0; k < t->count; k++) {
    const REAL *from = (const REAL *)t->from[k] + x, w = (REAL)t->weight[k];
#pragma GCC unroll 8
    for (int i = 0; i < wide; i++) {
      VECTOR v = NAME(load)(from + i * LANES);
      if (each)
        v *= NAME(load)((const REAL *)t->each[k] + x + i * LANES);
      sum[i] = MULADD(v, w - (VECTOR){0}, sum[i]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < wide; i++) {
    REAL *acc = (REAL *)t->acc + x + i * LANES;
    if (t->post)
      sum[i] *= NAME(load)((const REAL *)t->post + x + i * LANES);
    if (t->add)
      sum[i] += NAME(load)(acc);
    if (finish)
      sum[i] = NAME(finish)(t, sum[i], x + i * LANES, LANES);
    memcpy(acc, &sum[i], sizeof sum[i]);
  }
}

static inline __attribute__((always_inline)) void NAME(taps_as)(const kugel__stencil_taps *t, bool each,
                                                                bool finish)
{
  int64_t x = 0;
  for (; x + NAME(WIDE) * LANES <= t->n; x += NAME(WIDE) * LANES)
    NAME(block)(t, x, NAME(WIDE), each, finish);
  for (; x + 2 * LANES <= t->n; x += 2 * LANES)
    NAME(block)(t, x, 2, each, finish);
  for (; x + LANES <= t->n; x += LANES)
    NAME(block)(t, x, 1, each, finish);
  if (x < t->n)
    NAME(rest)(t, x, each, finish);
}

static void NAME(taps)(const kugel__stencil_taps *t)
{
  if (t->each)
    NAME(taps_as)(t, true, t->finish);
  else if (t->finish)
    NAME(taps_as)(t, false, true);
  else
    NAME(taps_as)(t, false, false);
}

static void NAME(sum)(const kugel__stencil_sum *s)
{
  const REAL *acc = s->acc, *p = s->p, *q = s->q, a = (REAL)s->a, b = (REAL)s->b, c = (REAL)s->c;
  REAL *out = s->out;
  if (q)
    for (int64_t x = 0; x < s->n; x++)
      out[x] = a * acc[x] + (b * p[x] + c * q[x]);
  else if (p)
    for (int64_t x = 0; x < s->n; x++)
      out[x] = a * acc[x] + b * p[x];
  else
    for (int64_t x = 0; x < s->n; x++)
      out[x] = a * acc[x];
}
