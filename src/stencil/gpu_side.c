/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of terms on a device: kernels, and tables of the rows next to ends. */
#include "core/alloc.h"
#include "stencil/gpu.h"

enum { /* as in kernels/edge.cl */
       LINE_WORDS = 3 + KUGEL__STENCIL_EDGES * (1 + KUGEL__STENCIL_ENTRIES),
       REACHES = 2 * KUGEL__STENCIL_REACH + 1,
       LINE_WEIGHTS = REACHES + KUGEL__STENCIL_EDGES * KUGEL__STENCIL_ENTRIES,
       PART_WORDS = 5
};

/* ---- ends ---- */

/* Row i as the march has it. */
static void folded_row(const kugel__stencil_line *l, int64_t i, const int *kind, kugel__stencil_row *row)
{
  row->count = 0;
  for (int k = -l->reach; k <= l->reach; k++) {
    int64_t at = i + k;
    double w = l->weight[k + l->reach];
    const int end = at < 0 ? kind[0] : at >= l->n ? kind[1] : KUGEL_STENCIL_PERIODIC;
    const int own = at == l->n - 1 && kind[1] >= KUGEL__STENCIL_TWICE ? kind[1] : at == 0 ? kind[0] : 0;
    if (end == KUGEL_STENCIL_PERIODIC)
      at = at < 0 ? at + l->n : at >= l->n ? at - l->n : at;
    else
      at = at < 0 ? -at : 2 * (l->n - 1) - at;
    w = end == KUGEL_STENCIL_ODD || end == KUGEL__STENCIL_ABSENT    ? -w
        : end == KUGEL_STENCIL_ZERO || own == KUGEL__STENCIL_ABSENT ? 0
        : own == KUGEL__STENCIL_TWICE                               ? 2 * w
                                                                    : w;
    int e = 0;
    while (e < row->count && row->at[e] != at)
      e++;
    if (e == row->count)
      row->weight[row->count++] = 0;
    row->at[e] = at;
    row->weight[e] += w;
  }
}

static double weight_at(const kugel__stencil_row *row, int64_t node)
{
  for (int e = 0; e < row->count; e++)
    if (row->at[e] == node)
      return row->weight[e];
  return 0;
}

static bool regular(const kugel__stencil_line *l, int64_t i, const int *kind)
{
  kugel__stencil_row is, folded;
  kugel__stencil_get_row(l, i, &is);
  folded_row(l, i, kind, &folded);
  for (int e = 0; e < is.count; e++)
    if (is.weight[e] != weight_at(&folded, is.at[e]))
      return false;
  for (int e = 0; e < folded.count; e++)
    if (folded.weight[e] != weight_at(&is, folded.at[e]))
      return false;
  return true;
}

/* Nodes from the nearer end on that row i reads. */
static int64_t span_of(const kugel__stencil_line *l, int64_t i)
{
  kugel__stencil_row row;
  int64_t most = 0;
  kugel__stencil_get_row(l, i, &row);
  for (int e = 0; e < row.count; e++)
    most = kugel__max(most, i < l->n / 2 ? row.at[e] + 1 : l->n - row.at[e]);
  return most;
}

/* Of one axis, what is beyond its ends: the rows that are regular then. */
typedef struct ends {
  int kind[2];
  int64_t first, last, span;
} ends;

static ends ends_of(const kugel__stencil_side *side, int d, int64_t n, int low, int high)
{
  ends a = {.kind = {low, high}, .last = n};
  for (int t = 0; t < side->first[side->targets]; t++) {
    const kugel__stencil_line *l = side->parts[t].line[d];
    for (int64_t i = 0; i < l->n && l->reach; i = i + 1 == l->lo ? kugel__max(l->lo, n - l->hi) : i + 1) {
      if (regular(l, i, a.kind))
        continue;
      a.span = kugel__max(a.span, span_of(l, i));
      if (i < n / 2)
        a.first = kugel__max(a.first, i + 1);
      else
        a.last = kugel__min(a.last, i);
    }
  }
  a.last = kugel__max(a.first, a.last);
  return a;
}

/* What may be beyond an end with a boundary's condition. */
static int kinds_of(int boundary, bool transposed, int kind[3])
{
  const bool mirror = boundary == KUGEL_STENCIL_ODD || boundary == KUGEL_STENCIL_EVEN;
  const bool known = boundary != KUGEL_STENCIL_ONE_SIDED && !(transposed && mirror);
  kind[0] = known ? boundary : KUGEL_STENCIL_EVEN;
  kind[1] = KUGEL__STENCIL_TWICE;
  kind[2] = KUGEL__STENCIL_ABSENT;
  return transposed && mirror ? 3 : 1;
}

/* Which nodes are regular, and what is beyond the ends for them: of transposes, what leaves the fewest others. A mirror's own node is
 * never regular where it does not count once: other axes read it as it is. */
static void find_ends(const kugel_stencil *p, const kugel__stencil_side *side, kugel__stencil_gpu_side *out)
{
  out->edges = p->nodes;
  int64_t inner = 1;
  for (int d = 0; d < 3; d++) {
    const int64_t n = p->n[d];
    int low[3], high[3];
    const int lows = kinds_of(p->boundary[d][0], side->transposed, low),
              highs = kinds_of(p->boundary[d][1], side->transposed, high);
    ends best = ends_of(side, d, n, low[0], high[0]);
    for (int i = 1; i < lows * highs; i++) {
      const ends a = ends_of(side, d, n, low[i % lows], high[i / lows]);
      const bool apart = (a.kind[0] < KUGEL__STENCIL_TWICE || a.first > 0) &&
                         (a.kind[1] < KUGEL__STENCIL_TWICE || a.last < n);
      if (apart && a.last - a.first > best.last - best.first)
        best = a;
    }
    for (int e = 0; e < 2; e++)
      out->kind[d][e] = best.kind[e];
    out->first[d] = best.first;
    out->last[d] = best.last;
    out->span[d] = best.span;
    inner *= best.last - best.first;
  }
  out->edges -= inner;
}

/* ---- tables ---- */

static void put(const kugel_stencil *p, char *to, int64_t i, double value)
{
  if (p->single)
    ((float *)(void *)to)[i] = (float)value;
  else
    ((double *)(void *)to)[i] = value;
}

static void fill_line(const kugel_stencil *p, const kugel__stencil_line *l, int64_t *words, char *weights)
{
  words[0] = l->lo;
  words[1] = l->n - l->hi;
  words[2] = l->reach;
  for (int k = 0; k < REACHES; k++)
    put(p, weights, k, l->weight[k]);
  for (int e = 0; e < l->lo + l->hi; e++) {
    int64_t *own = words + 3 + (int64_t)e * (1 + KUGEL__STENCIL_ENTRIES);
    own[0] = l->edge[e].count;
    for (int k = 0; k < l->edge[e].count; k++) {
      own[1 + k] = l->edge[e].at[k];
      put(p, weights, REACHES + (int64_t)e * KUGEL__STENCIL_ENTRIES + k, l->edge[e].weight[k]);
    }
  }
}

/* The number of a line among those of the parts before, at most `count`. */
static int number_of(const kugel__stencil_line **lines, int *count, const kugel__stencil_line *line)
{
  int i = 0;
  while (i < *count && lines[i] != line)
    i++;
  if (i == *count)
    lines[(*count)++] = line;
  return i;
}

/* Words, parts, weights, factors in one block. */
static kugel_status make_tables(const kugel_stencil *p, kugel__stencil_gpu_side *g)
{
  enum { MOST_LINES = 16 }; /* three derivatives of three axes, and compact ones of alternating directions */
  const kugel__stencil_side *side = g->side;
  const kugel__stencil_line *lines[MOST_LINES];
  const int count = side->first[side->targets], word = p->single ? 4 : 8;
  const int64_t sizes[4] = {MOST_LINES * LINE_WORDS * 8, (side->targets + 1 + count * PART_WORDS) * 8,
                            MOST_LINES * LINE_WEIGHTS * word, count * word};
  int64_t at[5] = {0};
  int found = 0;
  for (int i = 0; i < 4; i++) // multiples of 512 bytes, which NVIDIA's OpenCL asks for
    at[i + 1] = at[i] + kugel__round_up(sizes[i] + 1, 512);
  char *table = kugel__calloc(p->ctx, (size_t)at[4]);
  KUGEL_CHECK(table, KUGEL_ENOMEM, "no memory for tables of %lld bytes", (long long)at[4]);
  int64_t *parts = (int64_t *)(void *)(table + at[1]);
  for (int t = 0; t <= side->targets; t++)
    *parts++ = side->first[t];
  for (int t = 0; t < count; t++) {
    const kugel__stencil_part *part = &side->parts[t];
    *parts++ = part->from;
    for (int d = 0; d < 3; d++)
      *parts++ = number_of(lines, &found, part->line[d]);
    *parts++ = kugel__march_coefficient(p, part->coefficient);
    put(p, table + at[3], t, part->factor);
  }
  for (int i = 0; i < found; i++)
    fill_line(p, lines[i], (int64_t *)(void *)(table + at[0]) + (int64_t)i * LINE_WORDS,
              table + at[2] + (int64_t)i * LINE_WEIGHTS * word);
  kugel_status s = kugel__device_alloc(p->gpu->dev, (size_t)at[4], &g->tables);
  if (!s)
    s = kugel__device_copy(p->gpu->dev, KUGEL__UPLOAD, (kugel__mem){g->tables, 0}, (kugel__mem){table, 0},
                           (size_t)at[4], NULL);
  kugel__free(p->ctx, table);
  g->words = (kugel__mem){g->tables, (size_t)at[0]};
  g->parts = (kugel__mem){g->tables, (size_t)at[1]};
  g->weights = (kugel__mem){g->tables, (size_t)at[2]};
  g->factors = (kugel__mem){g->tables, (size_t)at[3]};
  return s;
}

/* ---- kernels ---- */

/* Sheets of one text share a module. */
static kugel_status compile(const kugel_stencil *p, kugel__march_sheet *sheet, int variant)
{
  const kugel__module_spec spec = kugel__march_module(&sheet->variant[variant]);
  if (!sheet->module[variant])
    KUGEL_TRY(kugel__module_get(p->ctx, &spec, &sheet->module[variant]));
  return sheet->kernel[variant]
             ? KUGEL_OK
             : kugel__module_kernel(sheet->module[variant], "march", &sheet->kernel[variant], NULL);
}

kugel_status kugel__stencil_gpu_kernel(const kugel_stencil *p, kugel__march_sheet *sheet, int variant,
                                       kugel__kernel **out)
{
  pthread_mutex_lock(&p->gpu->lock);
  const kugel_status s = compile(p, sheet, variant);
  *out = sheet->kernel[variant];
  pthread_mutex_unlock(&p->gpu->lock);
  return s;
}

kugel_status kugel__stencil_gpu_side_make(const kugel_stencil *p, const kugel__stencil_side *side,
                                          kugel__stencil_gpu_side *out)
{
  const struct kugel__stencil_gpu *g = p->gpu;
  bool signs = false;
  out->side = side;
  find_ends(p, side, out);
  for (int d = 0; d < 3; d++)
    for (int e = 0; e < 2; e++)
      signs |= out->kind[d][e] != KUGEL_STENCIL_PERIODIC && out->kind[d][e] != KUGEL_STENCIL_EVEN;
  const kugel__march_setting setting = {.plan = p,
                                        .side = side,
                                        .shared = (int64_t)g->dev->info.shared_bytes,
                                        .signs = signs,
                                        .apart = out->kind[2][0] != KUGEL_STENCIL_PERIODIC ||
                                                 out->kind[2][1] != KUGEL_STENCIL_PERIODIC ||
                                                 out->first[2] > 0 || out->last[2] < p->n[2],
                                        .unrolled = g->dev->info.is_gpu};
  KUGEL_TRY(kugel__march_make(&setting, &out->sheet, &out->sheets));
  for (int i = 0; i < out->sheets && out->edges < p->nodes; i++)
    KUGEL_TRY(compile(p, out->sheet[i], out->sheet[i]->more ? KUGEL__MARCH_ADDS : 0));
  return out->edges ? make_tables(p, out) : KUGEL_OK;
}

void kugel__stencil_gpu_side_free(const kugel_stencil *p, kugel__stencil_gpu_side *side)
{
  for (int i = 0; side->sheet && i < side->sheets; i++) {
    for (int k = 0; k < KUGEL__MARCH_VARIANTS; k++)
      kugel__module_put(side->sheet[i]->module[k]);
    kugel__free(p->ctx, side->sheet[i]);
  }
  kugel__free(p->ctx, side->sheet);
  kugel__device_free(p->gpu->dev, side->tables);
}
