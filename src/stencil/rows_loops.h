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

/* What is the same for all vectors of a row: in registers, as stores of results might otherwise change it. ended: 0 sums as they are,
 * 1 a sum, 2 a sum + b p, 3 a sum + (b p + c q). */
typedef struct NAME(row) {
  const REAL *const *from, *const *each;
  const double *weight;
  const REAL *post, *p, *q;
  REAL *acc, a, b, c;
  int64_t n;
  int count, ended;
  bool add;
} NAME(row);

/* Numbers fewer than a vector, with the arithmetic of a vector: a number's place changes no bit. */
static void NAME(some)(const NAME(row) * r)
{
  VECTOR sum = {0};
  for (int k = 0; k < r->count; k++) {
    VECTOR v = NAME(load_part)(r->from[k], r->n);
    if (r->each)
      v *= NAME(load_part)(r->each[k], r->n);
    sum = MULADD(v, (REAL)r->weight[k] - (VECTOR){0}, sum);
  }
  if (r->post)
    sum *= NAME(load_part)(r->post, r->n);
  if (r->add)
    sum += NAME(load_part)(r->acc, r->n);
  if (r->ended == 3)
    sum = r->a * sum + (r->b * NAME(load_part)(r->p, r->n) + r->c * NAME(load_part)(r->q, r->n));
  else if (r->ended)
    sum = r->ended == 2 ? r->a * sum + r->b * NAME(load_part)(r->p, r->n) : r->a * sum;
  memcpy(r->acc, &sum, (size_t)r->n * sizeof *r->acc);
}

enum { NAME(WIDE) = 8, NAME(LONG) = 64 };

#define EACH _Pragma("GCC unroll 8") for (int i = 0; i < wide; i++)

/* The results of `wide` vectors, whose sums stay in registers: enough of them that products need not wait for the ones before. bare:
 * without post and add. */
static inline __attribute__((always_inline)) void NAME(block)(const NAME(row) * r, int64_t x, int wide,
                                                              bool each, bool bare, int ended, VECTOR *sum)
{
  EACH sum[i] = (VECTOR){0};
  for (int k = 0; k < r->count; k++) {
    const REAL *from = r->from[k] + x, w = (REAL)r->weight[k];
    EACH
    {
      VECTOR v = NAME(load)(from + i * LANES);
      if (each)
        v *= NAME(load)(r->each[k] + x + i * LANES);
      sum[i] = MULADD(v, w - (VECTOR){0}, sum[i]);
    }
  }
  if (!bare && r->post)
    EACH sum[i] *= NAME(load)(r->post + x + i * LANES);
  if (!bare && r->add)
    EACH sum[i] += NAME(load)(r->acc + x + i * LANES);
  if (ended == 3)
    EACH sum[i] =
        r->a * sum[i] + (r->b * NAME(load)(r->p + x + i * LANES) + r->c * NAME(load)(r->q + x + i * LANES));
  else if (ended == 2)
    EACH sum[i] = r->a * sum[i] + r->b * NAME(load)(r->p + x + i * LANES);
  else if (ended)
    EACH sum[i] = r->a * sum[i];
}

/* In long rows blocks begin where results are aligned, as vectors that cross lines of the cache are loaded twice. The first and the last
 * vector overlap with them: they are summed before results take the place of p, q or sums, and the numbers that they share have the
 * same bits. */
static inline __attribute__((always_inline)) void NAME(taps_as)(const NAME(row) * r, bool each, bool bare,
                                                                int ended)
{
  VECTOR first = {0}, last = {0}, sum[NAME(WIDE)];
  const int64_t off =
      r->n < NAME(LONG) * LANES ? 0 : (int64_t)((uintptr_t)r->acc % sizeof(VECTOR) / sizeof(REAL));
  int64_t x = off ? LANES - off : 0;
  const bool ends = (r->n - x) % LANES != 0;
  if (off)
    NAME(block)(r, 0, 1, each, bare, ended, &first);
  if (ends)
    NAME(block)(r, r->n - LANES, 1, each, bare, ended, &last);
  for (; x + NAME(WIDE) * LANES <= r->n; x += NAME(WIDE) * LANES) {
    NAME(block)(r, x, NAME(WIDE), each, bare, ended, sum);
    for (int i = 0; i < NAME(WIDE); i++)
      memcpy(r->acc + x + i * LANES, &sum[i], sizeof sum[i]);
  }
  for (; x + LANES <= r->n; x += LANES) {
    NAME(block)(r, x, 1, each, bare, ended, sum);
    memcpy(r->acc + x, sum, sizeof *sum);
  }
  if (off)
    memcpy(r->acc, &first, sizeof first);
  if (ends)
    memcpy(r->acc + r->n - LANES, &last, sizeof last);
}

#undef EACH

static void NAME(taps)(const kugel__stencil_taps *t)
{
  const NAME(row) r = {.from = (const REAL *const *)t->from,
                       .each = (const REAL *const *)t->each,
                       .weight = t->weight,
                       .post = t->post,
                       .p = t->p,
                       .q = t->q,
                       .acc = t->acc,
                       .a = (REAL)t->a,
                       .b = (REAL)t->b,
                       .c = (REAL)t->c,
                       .n = t->n,
                       .count = t->count,
                       .ended = !t->finish ? 0
                                : t->q     ? 3
                                : t->p     ? 2
                                           : 1,
                       .add = t->add};
  const bool bare = !r.post && !r.add;
  if (r.n < LANES)
    NAME(some)(&r);
  else if (r.each)
    NAME(taps_as)(&r, true, false, r.ended);
  else if (bare && r.ended == 3)
    NAME(taps_as)(&r, false, true, 3);
  else
    NAME(taps_as)(&r, false, false, r.ended);
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
