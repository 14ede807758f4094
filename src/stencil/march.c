/* SPDX-License-Identifier: BSD-3-Clause */
/* Terms into sheets, and the shapes of their blocks. */
#include <string.h>
#include "core/alloc.h"
#include "stencil/march_text.h"

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

/* Places of `count` weights, some of which are there; of even ones the second half has those of the first. */
static void number_all(const uint8_t *there, int count, bool even, int16_t *index, int *n)
{
  for (int i = 0; i < count; i++)
    if (even && i > count / 2)
      index[i] = index[count - 1 - i];
    else
      index[i] = (int16_t)(there[i] ? (*n)++ : -1);
}

void kugel__march_number(const kugel__march_shape *s, kugel__march_index *index)
{
  int n = 0;
  for (int from = 0; from < s->sources; from++)
    for (int g = 0; g < s->groups; g++) {
      number_all(s->column[from][g], KUGEL__MARCH_SPAN, s->even[from][g], index->column[from][g], &n);
      number_all(s->plane[from][g][0], KUGEL__MARCH_SPAN * KUGEL__MARCH_SPAN, s->even[from][g],
                 index->plane[from][g][0], &n);
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

static int64_t stage_bytes(const kugel__march_shape *s)
{
  return (int64_t)kugel__march_first_cell(s, s->sources) * (s->single ? 4 : 8);
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
  return s->groups * (2 * s->reach + 1) * s->rows * s->columns;
}

/* About the registers of a thread, of which NVIDIA's compiler has 65536 / threads, 255 at most. */
static int64_t registers_of(const kugel__march_shape *s)
{
  const int word = s->single ? 1 : 2, nodes = s->rows * s->columns;
  int64_t reals = sums_of(s) + (s->adds ? 2 * s->targets * nodes : 0), offsets = s->single ? 40 : 50;
  for (int g = 0; g < s->groups; g++)
    reals += s->group[g].coefficient ? nodes : 0;
  if (s->columns == 1)
    reals += 2 * nodes + 2 * s->half + 6;
  for (int i = 0; i < s->sources; i++) {
    offsets += kugel__march_copies(s, i) * (1 + s->large) + (s->signs ? 4 : 0) + 4 * i +
               (s->columns == 1 || s->source[i].coefficient ? 4 : 0);
    if (s->source[i].corners) // whole squares of values wait for their products
      reals += (nodes + 2 * s->half) * (2 * s->half + 1) * 5 / 8;
  }
  return word * reals + offsets;
}

/* Threads of a block and rows of a thread of three dimensions: tall tiles read the fewest values twice. Two columns of a thread share
 * what they read of shared memory, and blocks of a multiprocessor wait for different things: wide differences, else bound by
 * instructions, are as fast as memory then. */
static void choose_block(kugel__march_shape *shape, bool narrow, bool even)
{
  static const struct {
    int columns, threads, rows, blocks;
  } choices[] = {{2, 256, 2, 3}, {2, 256, 2, 2}, {2, 512, 1, 1}, {1, 256, 4, 1},
                 {1, 512, 2, 1}, {1, 256, 2, 1}, {1, 512, 1, 1}, {1, 256, 1, 1}};
  bool wide = shape->half > 2;
  for (int i = 0; i < shape->sources; i++)
    wide |= shape->source[i].coefficient;
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    const int room = 65536 / (choices[i].threads * choices[i].blocks);
    shape->columns = choices[i].columns;
    shape->pairs = even && shape->columns == 2;
    shape->wide = (narrow ? 32 : 64) / shape->columns;
    shape->tall = choices[i].threads / shape->wide;
    shape->rows = choices[i].rows;
    shape->blocks = choices[i].blocks;
    if (((wide && !narrow) || shape->columns == 1) && sums_of(shape) <= (shape->single ? 2 : 1) * SUMS &&
        registers_of(shape) <= (room > REGISTERS ? REGISTERS : room / 8 * 8))
      return;
  }
}

/* Threads, rows of a thread, stages; false: it does not fit. */
static bool fit_shape(const kugel__march_setting *s, kugel__march_shape *shape, bool apart)
{
  const kugel_stencil *p = s->plan;
  kugel__march_index index;
  kugel__march_number(shape, &index);
  const int64_t rows = p->n[kugel__march_axis(p->ndim, 1)], columns = p->n[2];
  shape->single = p->single;
  shape->signs = s->signs;
  shape->unrolled = s->unrolled || shape->reach < 2 ? 2 * shape->reach + 1 : 1;
  shape->large = rows * columns >= UINT32_MAX || p->n[kugel__march_axis(p->ndim, 0)] >= INT32_MAX / 2;
  if (p->ndim < 3) {
    shape->wide = 256;
    shape->tall = shape->rows = shape->columns = shape->blocks = 1;
    shape->pairs = 0;
  } else {
    choose_block(shape, columns <= 32, columns % 2 == 0 && !apart);
  }
  const int64_t one = stage_bytes(shape);
  shape->stages = STAGES;
  while (shape->stages > 2 && (shape->stages * one > s->shared || shape->stages * one > ROOM))
    shape->stages--;
  return index.count <= KUGEL__MARCH_WEIGHTS && sums_of(shape) <= (p->single ? 2 : 1) * SUMS &&
         registers_of(shape) <= REGISTERS && shape->stages * one <= s->shared;
}

static bool is_even(const double *weights, int count)
{
  bool even = true;
  for (int i = 0; i < count / 2; i++)
    even &= weights[i] == weights[count - 1 - i];
  return even;
}

static bool fit(const kugel__march_setting *s, kugel__march_sheet *sheet)
{
  for (int from = 0; from < sheet->shape.sources; from++)
    for (int g = 0; g < sheet->shape.groups; g++)
      sheet->shape.even[from][g] = is_even(sheet->column[from][g], KUGEL__MARCH_SPAN) &&
                                   is_even(sheet->plane[from][g][0], KUGEL__MARCH_SPAN * KUGEL__MARCH_SPAN);
  bool fits = true;
  for (int i = 0; i < KUGEL__MARCH_VARIANTS; i++) {
    kugel__march_shape *shape = &sheet->variant[i];
    *shape = sheet->shape;
    shape->adds = (i & KUGEL__MARCH_ADDS) != 0;
    fits &= fit_shape(s, shape, s->apart || (i & KUGEL__MARCH_APART));
  }
  sheet->shape = sheet->variant[0];
  return fits;
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
