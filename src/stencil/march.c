/* SPDX-License-Identifier: BSD-3-Clause */
/* Terms into sheets, and the shapes of their blocks. */
#include "stencil/march.h"
#include <string.h>
#include "core/alloc.h"

enum {
  STAGES = 4,
  REGISTERS = 250, /* of a thread, of blocks of 256 */
  SUMS = 40,       /* doubles of a thread in registers */
  ROOM =
      110 * 1024 /* bytes of shared memory that leave a multiprocessor of compute capability 9.0 two blocks */
};

int kugel__march_coefficient(const kugel_stencil *p, const char *coefficient)
{
  int number = 0;
  for (int t = 0; coefficient && t < p->nterms; t++) {
    if (p->names[t] == coefficient)
      return number;
    number += p->names[t] != NULL;
  }
  return -1;
}

void kugel__march_number(const kugel__march_shape *s, kugel__march_index *index)
{
  int n = 0;
  for (int from = 0; from < s->sources; from++)
    for (int g = 0; g < s->groups; g++) {
      for (int k = 0; k < KUGEL__MARCH_SPAN; k++)
        index->column[from][g][k] = (int16_t)(s->column[from][g][k] ? n++ : -1);
      for (int i = 0; i < KUGEL__MARCH_SPAN * KUGEL__MARCH_SPAN; i++)
        index->plane[from][g][i / KUGEL__MARCH_SPAN][i % KUGEL__MARCH_SPAN] =
            (int16_t)(s->plane[from][g][i / KUGEL__MARCH_SPAN][i % KUGEL__MARCH_SPAN] ? n++ : -1);
      for (int along = 0; along < 2; along++)
        for (int i = 0; i < 2 * KUGEL__MARCH_SPAN; i++) {
          const int k = i % KUGEL__MARCH_SPAN - KUGEL__MARCH_HALF;
          const bool there = s->mixed[from][g][along] && k && k >= -s->half && k <= s->half;
          index->mixed[from][g][along][i / KUGEL__MARCH_SPAN][i % KUGEL__MARCH_SPAN] =
              (int16_t)(there ? n++ : -1);
        }
    }
  index->count = n;
}

static void put(bool single, char *reals, int i, double value)
{
  if (i < 0)
    return;
  if (single)
    ((float *)(void *)reals)[3 + i] = (float)value;
  else
    ((double *)(void *)reals)[3 + i] = value;
}

int kugel__march_weights(const kugel__march_sheet *sheet, bool single, char *reals)
{
  enum { SPAN = KUGEL__MARCH_SPAN };
  kugel__march_index at;
  kugel__march_number(&sheet->shape, &at);
  for (int from = 0; from < sheet->shape.sources; from++)
    for (int g = 0; g < sheet->shape.groups; g++)
      for (int i = 0; i < SPAN * SPAN; i++) {
        put(single, reals, at.plane[from][g][i / SPAN][i % SPAN], sheet->plane[from][g][i / SPAN][i % SPAN]);
        if (i < SPAN)
          put(single, reals, at.column[from][g][i], sheet->column[from][g][i]);
        if (i < 4 * SPAN)
          put(single, reals, at.mixed[from][g][i / 2 / SPAN][i / SPAN % 2][i % SPAN],
              sheet->mixed[from][g][i / 2 / SPAN][i / SPAN % 2][i % SPAN]);
      }
  return at.count;
}

int64_t kugel__march_cells(const kugel__march_shape *s, int source)
{
  return (int64_t)(s->tall * s->rows + 2 * s->source[source].halo[0]) *
         (s->wide + 2 * s->source[source].halo[1]);
}

static int64_t stage_bytes(const kugel__march_shape *s)
{
  int64_t cells = 0;
  for (int i = 0; i < s->sources; i++)
    cells += kugel__march_cells(s, i);
  return cells * (s->single ? 4 : 8);
}

int64_t kugel__march_shared(const kugel__march_shape *s)
{
  return s->stages * stage_bytes(s);
}

/* ---- terms ---- */

static int find(const int *list, int n, int value)
{
  int i = 0;
  while (i < n && list[i] != value)
    i++;
  return i;
}

/* The source, group and target of a part, new ones if need be; false: there is no room. */
static bool place(const kugel__march_setting *s, kugel__march_sheet *sheet, const kugel__stencil_part *part,
                  int *source, int *group)
{
  kugel__march_shape *shape = &sheet->shape;
  const int c = kugel__march_coefficient(s->plan, part->coefficient);
  const int read = s->side->transposed ? c : -1, sum = s->side->transposed ? -1 : c;
  const int target = find(sheet->target, shape->targets, part->to);
  int from = 0, g = 0;
  while (from < shape->sources && (sheet->field[from] != part->from || sheet->read_coefficient[from] != read))
    from++;
  while (g < shape->groups && (shape->group[g].target != target || sheet->sum_coefficient[g] != sum))
    g++;
  if (from == KUGEL__MARCH_SOURCES || g == KUGEL__MARCH_GROUPS || target == shape->targets)
    return false;
  if (from == shape->sources) {
    shape->sources++;
    sheet->field[from] = part->from;
    sheet->read_coefficient[from] = read;
    shape->source[from].coefficient = read >= 0;
  }
  if (g == shape->groups) {
    shape->groups++;
    shape->group[g].target = target;
    shape->group[g].coefficient = sum >= 0;
    sheet->sum_coefficient[g] = sum;
  }
  *source = from;
  *group = g;
  return true;
}

static void widen(int32_t *to, int value)
{
  *to = *to > value ? *to : value;
}

/* The weights of a part: a difference along the march alone, in the plane alone, or a product of both. */
static void add_weights(const kugel__march_setting *s, kugel__march_sheet *sheet,
                        const kugel__stencil_part *part, int from, int g)
{
  kugel__march_shape *shape = &sheet->shape;
  const kugel__stencil_line *line[3];
  for (int role = 0; role < 3; role++)
    line[role] = part->line[kugel__march_axis(s->plan->ndim, role)];
  const int a = line[0]->reach, b = line[1]->reach, c = line[2]->reach;
  widen(&shape->reach, a);
  widen(&shape->half, a > b ? (a > c ? a : c) : b > c ? b : c);
  widen(&shape->source[from].halo[0], b);
  widen(&shape->source[from].halo[1], c);
  shape->source[from].corners |= b && c;
  if (a && (b || c)) {
    const int along = b ? 0 : 1, reach = b ? b : c;
    const bool first = !shape->mixed[from][g][along];
    shape->mixed[from][g][along] = 1;
    for (int k = -reach; k <= reach; k++) {
      double *at = &sheet->mixed[from][g][along][0][k + KUGEL__MARCH_HALF];
      at[0] = line[along + 1]->weight[k + reach];
      at[KUGEL__MARCH_SPAN] = (first ? 0 : at[KUGEL__MARCH_SPAN]) + part->factor * line[0]->weight[k + a];
    }
    return;
  }
  for (int k = -a; k <= a; k++)
    for (int i = -b; i <= b; i++)
      for (int j = -c; j <= c; j++) {
        const double w =
            part->factor * line[0]->weight[k + a] * line[1]->weight[i + b] * line[2]->weight[j + c];
        const int z = k + KUGEL__MARCH_HALF, y = i + KUGEL__MARCH_HALF, x = j + KUGEL__MARCH_HALF;
        if (line[0]->weight[k + a] == 0 || line[1]->weight[i + b] == 0 || line[2]->weight[j + c] == 0)
          continue;
        if (i || j) {
          shape->plane[from][g][y][x] = 1;
          sheet->plane[from][g][y][x] += w;
        } else {
          shape->column[from][g][z] = 1;
          sheet->column[from][g][z] += w;
        }
      }
}

/* ---- blocks ---- */

static int sums_of(const kugel__march_shape *s)
{
  return s->groups * (2 * s->reach + 1) * s->rows;
}

/* About the registers of a thread, of which NVIDIA's compiler has 65536 / threads, 255 at most. */
static int64_t registers_of(const kugel__march_shape *s)
{
  const int word = s->single ? 1 : 2;
  int64_t reals = sums_of(s) + s->rows * (2 * s->targets + s->groups) + s->rows + 2 * s->half + 6,
          offsets = 0;
  for (int i = 0; i < s->sources; i++) {
    const int64_t copies = kugel__march_cells(s, i) / (s->wide * s->tall) + 1;
    offsets += copies * (1 + s->large + (s->signs ? word : 0)) + 4;
    if (s->source[i].corners) // whole squares of values wait for their products
      reals += (s->rows + 2 * s->half) * (2 * s->half + 1) * 5 / 8;
  }
  return word * reals + offsets + 48;
}

/* Threads of a block and rows of a thread of three dimensions: tall tiles read the fewest values twice. */
static void choose_block(kugel__march_shape *shape, bool narrow)
{
  static const int threads[5] = {256, 512, 256, 512, 256}, rows[5] = {4, 2, 2, 1, 1};
  for (int i = 0; i < 5; i++) {
    shape->wide = narrow ? 32 : 64;
    shape->tall = threads[i] / shape->wide;
    shape->rows = rows[i];
    if (registers_of(shape) <= (threads[i] == 256 ? REGISTERS : REGISTERS / 2))
      return;
  }
}

/* Threads, rows of a thread, stages; false: it does not fit. */
static bool fit(const kugel__march_setting *s, kugel__march_sheet *sheet)
{
  kugel__march_shape *shape = &sheet->shape;
  const kugel_stencil *p = s->plan;
  kugel__march_index index;
  kugel__march_number(shape, &index);
  const int64_t rows = p->n[kugel__march_axis(p->ndim, 1)], columns = p->n[2];
  shape->single = p->single;
  shape->signs = s->signs;
  shape->unrolled = s->unrolled || shape->reach < 2 ? 2 * shape->reach + 1 : 1;
  shape->large = rows * columns >= UINT32_MAX;
  if (p->ndim < 3) {
    shape->wide = 256;
    shape->tall = shape->rows = 1;
  } else {
    choose_block(shape, columns <= 32);
  }
  const int64_t one = stage_bytes(shape);
  shape->stages = STAGES;
  while (shape->stages > 2 && (shape->stages * one > s->shared || shape->stages * one > ROOM))
    shape->stages--;
  return index.count <= KUGEL__MARCH_WEIGHTS && sums_of(shape) <= (p->single ? 2 : 1) * SUMS &&
         registers_of(shape) <= REGISTERS && shape->stages * one <= s->shared;
}

/* ---- lists ---- */

typedef struct list {
  const kugel__march_setting *s;
  kugel__march_sheet **sheet;
  int count;
} list;

static kugel_status open_sheet(list *l, bool more)
{
  kugel__march_sheet *sheet = kugel__calloc(l->s->plan->ctx, sizeof *sheet);
  KUGEL_CHECK(sheet, KUGEL_ENOMEM, "no memory for a kernel of a stencil");
  sheet->more = more;
  l->sheet[l->count++] = sheet;
  return KUGEL_OK;
}

static kugel_status open_target(list *l, int target)
{
  kugel__march_sheet *last = l->count ? l->sheet[l->count - 1] : NULL;
  if (!last || last->more || last->shape.targets == KUGEL__MARCH_TARGETS) {
    KUGEL_TRY(open_sheet(l, false));
    last = l->sheet[l->count - 1];
  }
  last->target[last->shape.targets++] = target;
  return KUGEL_OK;
}

static bool try_part(const list *l, kugel__march_sheet *sheet, const kugel__stencil_part *part)
{
  int from, group;
  if (!place(l->s, sheet, part, &from, &group))
    return false;
  add_weights(l->s, sheet, part, from, group);
  return fit(l->s, sheet);
}

static kugel_status add_part(list *l, const kugel__stencil_part *part, kugel__march_sheet *room)
{
  kugel__march_sheet *sheet = l->sheet[l->count - 1];
  *room = *sheet;
  if (try_part(l, room, part)) {
    *sheet = *room;
    return KUGEL_OK;
  }
  int begun = sheet->shape.targets == 1; // a target that has nothing yet goes to a sheet of its own
  for (int g = 0; g < sheet->shape.groups; g++)
    begun |= sheet->shape.group[g].target == sheet->shape.targets - 1;
  sheet->shape.targets -= !begun;
  KUGEL_TRY(open_sheet(l, begun));
  sheet = l->sheet[l->count - 1];
  sheet->target[sheet->shape.targets++] = part->to;
  KUGEL_CHECK(
      try_part(l, sheet, part), KUGEL_ENOTSUP,
      "a term of order %d needs more than the device's %lld bytes of shared memory per block: use a lower "
      "order, or a context with device \"cpu\"",
      l->s->plan->order, (long long)l->s->shared);
  return KUGEL_OK;
}

kugel_status kugel__march_make(const kugel__march_setting *s, kugel__march_sheet ***sheets, int *count)
{
  const kugel__stencil_side *side = s->side;
  list l = {.s = s};
  kugel_ctx *ctx = s->plan->ctx;
  kugel__march_sheet *room = kugel__alloc(ctx, sizeof *room);
  l.sheet = kugel__calloc(ctx, sizeof *l.sheet * (size_t)(side->first[side->targets] + side->targets));
  kugel_status status =
      room && l.sheet ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the kernels of a stencil");
  for (int target = 0; !status && target < side->targets; target++) {
    status = open_target(&l, target);
    for (int t = side->first[target]; !status && t < side->first[target + 1]; t++)
      status = add_part(&l, &side->parts[t], room);
  }
  for (int i = 0; !status && i < l.count; i++)
    fit(s, l.sheet[i]); // those without parts
  kugel__free(ctx, room);
  *sheets = l.sheet;
  *count = l.count;
  return status;
}
