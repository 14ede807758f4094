/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages on a tile, forwards and transposed. */
#include <math.h>
#include <string.h>
#include "polynomial/program.h"

KUGEL_DISPATCH(kugel__sweep_table, kugel__sweep_table)

const kugel__sweep_ops *kugel__sweeps(int precision)
{
  return &kugel__sweep_table_get()->ops[precision == KUGEL_PRECISION_F32];
}

double *kugel__program_room(kugel__poly_program *p, int64_t n)
{
  double *at = (double *)(void *)(p->room + p->used);
  p->used += (size_t)n * sizeof *at;
  return p->used <= p->size ? at : NULL;
}

const void *kugel__program_numbers(const kugel__poly_program *p, double *numbers, int64_t n)
{
  if (p->single)
    for (int64_t i = 0; i < n; i++) {
      float f = (float)numbers[i];
      memcpy((char *)numbers + i * 4, &f, 4);
    }
  return numbers;
}

kugel__tile_stage *kugel__program_add(kugel__poly_program *p, kugel__stage_kind kind, bool transposed,
                                      int64_t out)
{
  kugel__tile_stage *s = &p->stage[p->stages++];
  *s = (kugel__tile_stage){.kind = kind, .transposed = transposed, .in = p->out, .out = out};
  if (transposed) {
    s->in = out;
    s->out = p->out;
  }
  p->out = out;
  return s;
}

static void *row(const kugel__poly_program *p, const kugel__sweep_ops *ops, char *tile, int64_t i)
{
  return tile + i * ops->width * (p->single ? 4 : 8);
}

static void clear(const kugel__poly_program *p, const kugel__sweep_ops *ops, char *tile, int64_t from,
                  int64_t to)
{
  if (from < to)
    memset(row(p, ops, tile, from), 0, (size_t)((to - from) * ops->width * (p->single ? 4 : 8)));
}

static void run_band(const kugel__poly_program *p, const kugel__sweep_ops *ops, const kugel__tile_stage *s,
                     bool transposed, char *tile)
{
  static const kugel__band_kind other[] = {KUGEL__BAND_PRODUCT_TRANSPOSED, KUGEL__BAND_PRODUCT,
                                           KUGEL__BAND_SOLVE_TRANSPOSED, KUGEL__BAND_SOLVE};
  kugel__band b = s->band;
  int64_t in = transposed ? s->out : s->in, out = transposed ? s->in : s->out;
  if (transposed)
    b.kind = other[b.kind];
  if (b.kind == KUGEL__BAND_PRODUCT)
    clear(p, ops, tile, in, b.n + b.s + 1);
  ops->band(tile, &b);
  /* rows that the product does not reach */
  clear(p, ops, tile,
        b.kind == KUGEL__BAND_PRODUCT              ? b.n
        : b.kind == KUGEL__BAND_PRODUCT_TRANSPOSED ? b.n + b.s + 1
                                                   : out,
        out);
}

/* Lines [first, first + count) of whole tiles in an array of the caller. */
static void place(const kugel__poly_program *p, const kugel__rows *rows, int first, int count, int64_t *at,
                  const char **base, int64_t *step)
{
  *base = rows->at[first];
  *step = rows->step;
  for (int i = 0; i < count; i++)
    at[i] = ((const char *)rows->at[first + i] - *base) / (p->single ? 4 : 8);
}

/* Cosine and sine transforms of the columns of a tile, in place or, where `from` or `to` are not NULL, out of or into rows of the
 * caller. */
static void run_waves(const kugel__poly_program *p, const kugel__sweep_ops *ops, const kugel__tile_stage *s,
                      bool transposed, kugel__tiles *tiles, const kugel__rows *from, const kugel__rows *to)
{
  int vlen = ops->width / (p->single ? 4 : 2);
  int64_t at[16], from_at[16], to_at[16];
  kugel__lines l = {.axis = transposed ? s->analysis : s->synthesis,
                    .f32 = p->single,
                    .count = vlen,
                    .in = tiles->now,
                    .out = tiles->now,
                    .in_at = at,
                    .out_at = at,
                    .in_step = ops->width,
                    .out_step = ops->width,
                    .scale = s->scale};
  if (!transposed)
    clear(p, ops, tiles->now, s->in, s->out);
  for (int first = 0; first < ops->width; first += vlen) {
    for (int i = 0; i < vlen; i++)
      at[i] = first + i;
    if (from)
      place(p, from, first, vlen, from_at, &l.in, &l.in_step);
    if (to)
      place(p, to, first, vlen, to_at, (const char **)(void *)&l.out, &l.out_step);
    l.in_at = from ? from_at : at;
    l.out_at = to ? to_at : at;
    kugel__line_ops_now()->run(&l, tiles->work);
  }
  if (transposed) /* of the function that vanishes on the grid */
    clear(p, ops, tiles->now, s->out, s->out + 1);
}

static void run_matrix(const kugel__sweep_ops *ops, const kugel__tile_stage *s, bool transposed,
                       kugel__tiles *tiles)
{
  kugel__matrix m = s->matrix;
  if (transposed)
    m = (kugel__matrix){m.a, m.columns, m.rows, m.column, m.row, m.lower, m.upper};
  ops->matrix(&m, tiles->now, tiles->other);
  char *swap = tiles->now;
  tiles->now = tiles->other;
  tiles->other = swap;
}

kugel__tile_stage kugel__program_pair(const kugel__tile_stage *s, int64_t j, int half)
{
  /* (1 + x) P^(b+2) = V_{b+1}^T in b + 1, and V_b leads from b to b + 1 */
  int64_t l = s->raise ? s->degree % 2 + 2 * j : s->degree - 2 - 2 * j,
          n = s->raise ? s->in - 1 - j : s->in + j;
  const kugel__bidiagonal *v = &s->bands[l], *m = &s->bands[l + 1];
  kugel__band band = s->raise ? half ? (kugel__band){KUGEL__BAND_SOLVE_TRANSPOSED, n, 0, m->inverse, m->z}
                                     : (kugel__band){KUGEL__BAND_PRODUCT, n, 0, v->g, v->z}
                     : half ? (kugel__band){KUGEL__BAND_SOLVE, n + 1, 0, v->inverse, v->z}
                              : (kugel__band){KUGEL__BAND_PRODUCT_TRANSPOSED, n, 0, m->g, m->z};
  return (kugel__tile_stage){.kind = KUGEL__STAGE_BAND,
                             .in = s->raise ? n + !half : n + half,
                             .out = s->raise ? n : n + 1,
                             .band = band};
}

static void run_pairs(const kugel__poly_program *p, const kugel__sweep_ops *ops, const kugel__tile_stage *s,
                      bool transposed, char *tile)
{
  int64_t halves = 2 * (s->raise ? s->in - s->out : s->out - s->in);
  for (int64_t i = 0; i < halves; i++) {
    int64_t at = transposed ? halves - 1 - i : i;
    kugel__tile_stage band = kugel__program_pair(s, at / 2, (int)(at % 2));
    run_band(p, ops, &band, transposed, tile);
  }
}

static void run_stage(const kugel__poly_program *p, const kugel__sweep_ops *ops, const kugel__tile_stage *s,
                      bool transposed, kugel__tiles *tiles, const kugel__rows *from, const kugel__rows *to)
{
  static const double root[] = {M_SQRT2, M_SQRT1_2};
  static const float float_root[] = {(float)M_SQRT2, (float)M_SQRT1_2};
  switch (s->kind) {
  case KUGEL__STAGE_SCALE:
    ops->scale(tiles->now, s->in, s->factor);
    break;
  case KUGEL__STAGE_WEIGHT0:
    ops->scale(tiles->now, 1, p->single ? (const void *)(float_root + transposed) : root + transposed);
    break;
  case KUGEL__STAGE_BAND:
    run_band(p, ops, s, transposed, tiles->now);
    break;
  case KUGEL__STAGE_PAIRS:
    run_pairs(p, ops, s, transposed, tiles->now);
    break;
  case KUGEL__STAGE_LOWER: {
    const void *up[8];
    int64_t steps = s->out - s->in;
    if (!transposed) {
      ops->lower(tiles->now, s->in, steps, s->table);
      break;
    }
    for (int64_t done = 0, n = s->out; done < steps;
         done += 8) { /* the last of a lowering is the first of a raising */
      int64_t some = steps - done < 8 ? steps - done : 8;
      for (int64_t i = 0; i < some; i++)
        up[i] = s->table[steps - 1 - done - i];
      ops->raise(tiles->now, n - done, some, up);
    }
    break;
  }
  case KUGEL__STAGE_MATRIX:
    run_matrix(ops, s, transposed, tiles);
    break;
  case KUGEL__STAGE_WAVES:
    run_waves(p, ops, s, transposed, tiles, from, to);
    break;
  }
}

void kugel__program_run(const kugel__poly_program *p, const kugel__sweep_ops *ops, bool adjoint,
                        kugel__tiles *tiles)
{
  kugel__program_between(p, ops, adjoint, tiles, NULL, NULL);
}

bool kugel__program_ends_in_waves(const kugel__poly_program *p, bool adjoint, bool first)
{
  return p->stages && p->stage[first != adjoint ? 0 : p->stages - 1].kind == KUGEL__STAGE_WAVES;
}

void kugel__program_between(const kugel__poly_program *p, const kugel__sweep_ops *ops, bool adjoint,
                            kugel__tiles *tiles, const kugel__rows *from, const kugel__rows *to)
{
  for (int i = 0; i < p->stages; i++) {
    const kugel__tile_stage *s = &p->stage[adjoint ? p->stages - 1 - i : i];
    run_stage(p, ops, s, s->transposed != adjoint, tiles, i ? NULL : from, i < p->stages - 1 ? NULL : to);
  }
}

kugel__space kugel__space_of(bool single, int64_t rows, int64_t numbers, int64_t points)
{
  const kugel__sweep_ops *ops = kugel__sweeps(single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64);
  int64_t vlen = ops->width / (single ? 4 : 2);
  kugel__space s = {.tile = (size_t)kugel__round_up(rows * ops->width * (single ? 4 : 8), 64) + 64,
                    .room = (size_t)kugel__round_up(numbers * 8, 64),
                    .work = (size_t)(points * 16 * vlen) + 64};
  s.total = (size_t)kugel__round_up((int64_t)(2 * s.tile + s.room + s.work), 4096);
  return s;
}

void kugel__space_use(const kugel__space *s, char *at, kugel__poly_program *program, kugel__tiles *tiles)
{
  tiles->now = at;
  tiles->other = at + s->tile;
  tiles->work = (double *)(void *)(at + 2 * s->tile + s->room);
  if (!program)
    return;
  program->room = at + 2 * s->tile;
  program->size = s->room;
  program->stages = 0;
  program->used = 0;
}

void kugel__numbers_store(bool single, const double *from, int64_t n, void *to)
{
  for (int64_t i = 0; i < n; i++)
    if (single)
      ((float *)to)[i] = (float)from[i];
    else
      ((double *)to)[i] = from[i];
}
