/* SPDX-License-Identifier: BSD-3-Clause */
/* One application: blocks of rows, each a sum of shifted rows in SIMD lanes, and the columns next to the ends node by node. */
#include <string.h>
#include "core/cpu.h"
#include "core/parallel.h"
#include "stencil/plan.h"

KUGEL_DISPATCH(kugel__stencil_table, kugel__stencil_table)

enum {
  WIDE = 2048, /* columns of a block: its row of sums stays in the first-level cache */
  TALL = 32,   /* rows of the middle axis: those of all planes within reach stay in the second-level cache */
  DEEP = 32    /* planes: halos of blocks are a quarter of them at most */
};

typedef struct job {
  const kugel_stencil *p;
  const kugel__stencil_side *side;
  const kugel__stencil_use *use;
  const kugel__stencil_ops *ops;
  int64_t word, blocks[3];
} job;

/* A row of a block: nodes (i, j, x) with first <= x < end. */
typedef struct span {
  int64_t i, j, first, end;
} span;

/* Taps that wait for the inner loop. */
typedef struct queue {
  int64_t first, end; /* columns */
  int count;
  bool add; /* acc holds sums already */
  const void *from[KUGEL__STENCIL_TAPS], *each[KUGEL__STENCIL_TAPS];
  double weight[KUGEL__STENCIL_TAPS];
  const char *coefficient; /* of all of them */
  int centre;              /* which tap is the node itself, which many terms have; -1: none yet */
} queue;

static void open_queue(queue *q, int64_t first, int64_t end)
{
  q->first = first;
  q->end = end;
  q->count = 0;
  q->add = false;
  q->coefficient = NULL;
  q->centre = -1;
}

static int64_t node(const job *j, int64_t i0, int64_t i1, int64_t x)
{
  return ((i0 * j->p->n[1]) + i1) * j->p->n[2] + x;
}

static void flush(const job *j, const span *s, queue *q, char *acc)
{
  if (!q->count)
    return;
  const bool transposed = j->side->transposed;
  kugel__stencil_taps t = {.n = q->end - q->first,
                           .count = q->count,
                           .add = q->add,
                           .from = q->from,
                           .each = transposed && q->coefficient ? q->each : NULL,
                           .weight = q->weight,
                           .acc = acc + (q->first - s->first) * j->word};
  if (!transposed && q->coefficient)
    t.post = q->coefficient + node(j, s->i, s->j, q->first) * j->word;
  j->ops->taps(&t);
  q->count = 0;
  q->centre = -1;
  q->add = true;
}

/* The shifted rows of a term, for the columns of the queue. */
static void push(const job *j, const span *s, const kugel__stencil_part *part,
                 const kugel__stencil_row *planes, const kugel__stencil_row *rows, queue *q, char *acc)
{
  const char *in = (const char *)j->use->in + part->from * j->p->nodes * j->word;
  const int reach = part->line[2]->reach;
  for (int a = 0; a < planes->count; a++)
    for (int b = 0; b < rows->count; b++) {
      const double weight = part->factor * planes->weight[a] * rows->weight[b];
      const int64_t row = node(j, planes->at[a], rows->at[b], q->first);
      for (int k = -reach; k <= reach; k++) {
        const double w = part->line[2]->weight[k + reach];
        if (w == 0)
          continue;
        const char *from = in + (row + k) * j->word;
        if (q->centre >= 0 && q->from[q->centre] == from) {
          q->weight[q->centre] += weight * w;
          continue;
        }
        if (q->count == KUGEL__STENCIL_TAPS)
          flush(j, s, q, acc);
        if (k == 0 && planes->at[a] == s->i && rows->at[b] == s->j && q->centre < 0)
          q->centre = q->count;
        q->from[q->count] = from;
        q->each[q->count] = part->coefficient ? part->coefficient + (row + k) * j->word : NULL;
        q->weight[q->count++] = weight * w;
      }
    }
}

static double number(const job *j, const char *data, int64_t at)
{
  return j->word == 4 ? (double)((const float *)(const void *)data)[at]
                      : ((const double *)(const void *)data)[at];
}

/* Adds a term to columns [first, end), next to an end of the last axis if it has a difference there, node by node. */
static void edge(const job *j, const span *s, const kugel__stencil_part *part,
                 const kugel__stencil_row *planes, const kugel__stencil_row *rows, int64_t first, int64_t end,
                 char *acc)
{
  const char *in = (const char *)j->use->in + part->from * j->p->nodes * j->word, *c = part->coefficient;
  const kugel__stencil_line *line = part->line[2];
  const bool each = j->side->transposed && c;
  kugel__stencil_row inside;
  inside.count = 1; // of terms without a difference along the row
  inside.weight[0] = line->weight[0];
  for (int64_t x = first; x < end; x++) {
    const kugel__stencil_row *row = &inside;
    inside.at[0] = x;
    if (x < line->lo || x >= line->n - line->hi)
      row = &line->edge[x < line->lo ? x : line->lo + x - (line->n - line->hi)];
    else if (line->reach)
      kugel__stencil_get_row(line, x, &inside);
    double sum = 0;
    for (int a = 0; a < planes->count; a++)
      for (int b = 0; b < rows->count; b++) {
        const int64_t at = node(j, planes->at[a], rows->at[b], 0);
        double along = 0;
        for (int k = 0; k < row->count; k++)
          along +=
              row->weight[k] * number(j, in, at + row->at[k]) * (each ? number(j, c, at + row->at[k]) : 1);
        sum += planes->weight[a] * rows->weight[b] * along;
      }
    sum *= part->factor * (c && !each ? number(j, c, node(j, s->i, s->j, x)) : 1);
    if (j->word == 4)
      ((float *)(void *)acc)[x - s->first] += (float)sum;
    else
      ((double *)(void *)acc)[x - s->first] += sum;
  }
}

/* The sums of a row: first the terms without a difference along it, on all columns, then those with one, for which the columns
 * next to its ends are apart. */
static void sum_row(const job *j, int target, const span *s, char *acc)
{
  const kugel__stencil_side *side = j->side;
  queue q;
  open_queue(&q, s->first, s->end);
  int64_t first = s->first, end = s->end; // columns inside
  bool along = false;
  for (int t = side->first[target]; t < side->first[target + 1]; t++) {
    const kugel__stencil_part *part = &side->parts[t];
    const kugel__stencil_line *line = part->line[2];
    kugel__stencil_row planes, rows;
    kugel__stencil_get_row(part->line[0], s->i, &planes);
    kugel__stencil_get_row(part->line[1], s->j, &rows);
    const bool starts = line->reach && !along;
    if (starts || part->coefficient != q.coefficient)
      flush(j, s, &q, acc);
    if (starts) {
      if (!q.add)
        memset(acc, 0, (size_t)((s->end - s->first) * j->word));
      along = q.add = true;
      first = kugel__min(kugel__max(s->first, line->lo), s->end);
      end = kugel__max(kugel__min(s->end, line->n - line->hi), first);
      q.first = first;
      q.end = end;
    }
    q.coefficient = part->coefficient;
    if (along) {
      edge(j, s, part, &planes, &rows, s->first, first, acc);
      edge(j, s, part, &planes, &rows, end, s->end, acc);
    }
    if (end > first)
      push(j, s, part, &planes, &rows, &q, acc);
  }
  flush(j, s, &q, acc);
  if (!q.add)
    memset(acc, 0, (size_t)((s->end - s->first) * j->word));
}

static const void *moved(const void *data, int64_t bytes)
{
  return data ? (const char *)data + bytes : NULL;
}

/* Sums at columns next to an end, summed in double, and what is done with them: nodes at + x of the grid, to + x of the results. */
#define EDGES(name, real)                                                                                    \
  static void name(const job *j, const kugel__stencil_inside *t, const kugel__stencil_node *e,               \
                   int64_t count, int64_t at, int64_t to, real *sums)                                        \
  {                                                                                                          \
    const kugel__stencil_use *u = j->use;                                                                    \
    const real *in = u->in, *p = u->p, *q = u->q, *c = (const real *)(const void *)t->coefficient;           \
    const bool each = j->side->transposed;                                                                   \
    for (int64_t x = 0; x < count; x++) {                                                                    \
      double sum = 0;                                                                                        \
      for (int k = 0; k < e[x].count; k++) {                                                                 \
        const kugel__stencil_tap *tap = &e[x].tap[k];                                                        \
        const double value = (double)in[at + x + tap->from + tap->at];                                       \
        sum += tap->weight * (c && each ? value * (double)c[at + x + tap->at] : value);                      \
      }                                                                                                      \
      sum *= c && !each ? (double)c[at + x] : 1;                                                             \
      sums[x] =                                                                                              \
          (real)(u->a * sum + (p ? u->b * (double)p[to + x] : 0) + (q ? u->c * (double)q[to + x] : 0));      \
    }                                                                                                        \
  }
EDGES(edges_f64, double)
EDGES(edges_f32, float)

static void edges(const job *j, const kugel__stencil_inside *t, const kugel__stencil_node *e, int64_t count,
                  int64_t at, int64_t to, void *sums)
{
  if (j->word == 4)
    edges_f32(j, t, e, count, at, to, sums);
  else
    edges_f64(j, t, e, count, at, to, sums);
}

/* A few numbers, for which a call of memcpy takes longer. */
static void place(void *to, const void *from, int64_t count, int64_t word)
{
  for (int64_t x = 0; x < count; x++)
    memcpy((char *)to + x * word, (const char *)from + x * word, word == 4 ? 4 : 8);
}

/* A row inside: one sum, and what is done with it, in one go. Whole rows begin where vectors are aligned, and their ends are put in
 * place afterwards; they are summed first, as the result may take the place of p or q. */
static void inside_row(const job *j, const kugel__stencil_inside *t, int target, const span *s)
{
  const kugel__stencil_use *u = j->use;
  const int64_t word = j->word, n = j->p->n[2], row = node(j, s->i, s->j, 0),
                out = target * j->p->nodes + row;
  const int64_t first = kugel__min(kugel__max(s->first, t->lo[2]), s->end),
                end = kugel__max(kugel__min(s->end, n - t->hi[2]), first), left = first - s->first,
                right = s->end - end, from = t->whole ? s->first : first, to = t->whole ? s->end : end;
  double ends[2][KUGEL__STENCIL_EDGES];
  edges(j, t, t->edge + s->first, left, row + s->first, out + s->first, ends[0]);
  edges(j, t, t->edge + t->lo[2] + t->hi[2] - (n - end), right, row + end, out + end, ends[1]);
  const void *source[KUGEL__STENCIL_TAPS], *each[KUGEL__STENCIL_TAPS];
  double weight[KUGEL__STENCIL_TAPS];
  const bool times = j->side->transposed && t->coefficient;
  for (int k = 0; k < t->node.count; k++) {
    const kugel__stencil_tap *tap = &t->node.tap[k];
    source[k] = (const char *)u->in + (tap->from + row + from + tap->at) * word;
    each[k] = moved(t->coefficient, (row + from + tap->at) * word);
    weight[k] = tap->weight;
  }
  const kugel__stencil_taps taps = {.n = to - from,
                                    .count = t->node.count,
                                    .from = source,
                                    .each = times ? each : NULL,
                                    .weight = weight,
                                    .post = times ? NULL : moved(t->coefficient, (row + from) * word),
                                    .acc = (char *)u->out + (out + from) * word,
                                    .finish = u->a != 1 || u->p || u->q,
                                    .a = u->a,
                                    .b = u->b,
                                    .c = u->c,
                                    .p = moved(u->p, (out + from) * word),
                                    .q = moved(u->q, (out + from) * word)};
  if (taps.n > 0)
    j->ops->taps(&taps);
  place((char *)u->out + (out + s->first) * word, ends[0], left, word);
  place((char *)u->out + (out + end) * word, ends[1], right, word);
}

static void one_row(const job *j, int target, const span *s)
{
  double room[WIDE];
  const kugel__stencil_use *u = j->use;
  const int64_t at = target * j->p->nodes + node(j, s->i, s->j, s->first), *n = j->p->n;
  const kugel__stencil_inside *t = j->side->inside ? j->side->inside[target] : NULL;
  if (t && s->i >= t->lo[0] && s->i < n[0] - t->hi[0] && s->j >= t->lo[1] && s->j < n[1] - t->hi[1]) {
    inside_row(j, t, target, s);
    return;
  }
  const bool plain = u->a == 1 && !u->p && !u->q;
  char *acc = plain ? (char *)u->out + at * j->word : (char *)room;
  sum_row(j, target, s, acc);
  if (plain)
    return;
  j->ops->sum(&(kugel__stencil_sum){.n = s->end - s->first,
                                    .a = u->a,
                                    .b = u->b,
                                    .c = u->c,
                                    .acc = acc,
                                    .p = u->p ? (const char *)u->p + at * j->word : NULL,
                                    .q = u->q ? (const char *)u->q + at * j->word : NULL,
                                    .out = (char *)u->out + at * j->word});
}

static job begin(const kugel_stencil *p, const kugel__stencil_side *side, const kugel__stencil_use *use)
{
  return (job){
      .p = p,
      .side = side,
      .use = use,
      .ops = &kugel__stencil_table_get()->ops[p->precision],
      .word = p->single ? 4 : 8,
      .blocks = {(p->n[0] + DEEP - 1) / DEEP, (p->n[1] + TALL - 1) / TALL, (p->n[2] + WIDE - 1) / WIDE}};
}

static kugel_status one_block(void *arg, int64_t b)
{
  const job *j = arg;
  const int64_t *n = j->p->n, x = b % j->blocks[2], y = b / j->blocks[2] % j->blocks[1],
                z = b / j->blocks[2] / j->blocks[1];
  for (int64_t i = z * DEEP; i < kugel__min(n[0], (z + 1) * DEEP); i++)
    for (int target = 0; target < j->side->targets; target++)
      for (int64_t k = y * TALL; k < kugel__min(n[1], (y + 1) * TALL); k++)
        one_row(j, target, &(span){i, k, x * WIDE, kugel__min(n[2], (x + 1) * WIDE)});
  return KUGEL_OK;
}

kugel_status kugel__stencil_run(const kugel_stencil *p, const kugel__stencil_side *side,
                                const kugel__stencil_use *use)
{
  job j = begin(p, side, use);
  return kugel__parallel(p->ctx, j.blocks[0] * j.blocks[1] * j.blocks[2], one_block, &j);
}

void kugel__stencil_rows(const kugel_stencil *p, const kugel__stencil_side *side,
                         const kugel__stencil_use *use, const int64_t *lo, const int64_t *hi)
{
  const job j = begin(p, side, use);
  for (int64_t k = lo[1]; k < hi[1]; k++) /* the planes between two others share what is read of a row */
    for (int64_t i = lo[0]; i < hi[0]; i++)
      for (int target = 0; target < side->targets; target++)
        for (int64_t x = 0; x < p->n[2]; x += WIDE)
          one_row(&j, target, &(span){i, k, x, kugel__min(p->n[2], x + WIDE)});
}
