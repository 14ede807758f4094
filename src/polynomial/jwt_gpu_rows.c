/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages that work on the rows of a tile, as operations of kernels/tiles.cl. */
#include <math.h>
#include "polynomial/gpu.h"
#include "polynomial/jwt_gpu.h"

typedef struct part {
  const kugel_jwt *p;
  kugel__poly_text *text;
  int64_t bands_at; /* in the numbers of the list */
} part;

/* bands_at: where the plan's store of bands is, for bands of that. */
static int64_t numbers_at(const part *j, const void *numbers, int64_t n, bool stored)
{
  const char *store = j->p->band_store;
  return stored ? j->bands_at + ((const char *)numbers - store) / (int64_t)j->p->word
                : kugel__poly_numbers(j->text, numbers, n);
}

static void add_band(const part *j, const kugel__tile_stage *s, bool transposed, bool stored, int64_t *top)
{
  kugel__poly_text *t = j->text;
  static const kugel__band_kind other[] = {KUGEL__BAND_PRODUCT_TRANSPOSED, KUGEL__BAND_PRODUCT,
                                           KUGEL__BAND_SOLVE_TRANSPOSED, KUGEL__BAND_SOLVE};
  const kugel__band *b = &s->band;
  kugel__band_kind kind = transposed ? other[b->kind] : b->kind;
  int64_t in = transposed ? s->out : s->in, out = transposed ? s->in : s->out, end = b->n + b->s + 1,
          wrote = out;
  if (kind == KUGEL__BAND_PRODUCT) {
    kugel__poly_op(t, (kugel__tile_op){.kind = KUGEL__OP_CLEAR, .n = in, .steps = end});
    wrote = b->n;
  } else if (kind == KUGEL__BAND_PRODUCT_TRANSPOSED)
    wrote = end;
  kugel__poly_op(t, (kugel__tile_op){.kind = KUGEL__OP_PRODUCT + (int)kind,
                                     .n = b->n,
                                     .steps = b->s,
                                     .a = numbers_at(j, b->d, b->n, stored),
                                     .b = numbers_at(j, b->e, b->n, stored)});
  if (wrote < out)
    kugel__poly_op(t, (kugel__tile_op){.kind = KUGEL__OP_CLEAR, .n = wrote, .steps = out});
  *top = kugel__max(*top, kugel__max(end, kugel__max(in, out)));
}

static void add_scale(kugel__poly_text *t, const void *factor, int64_t n)
{
  kugel__poly_op(t,
                 (kugel__tile_op){.kind = KUGEL__OP_SCALE, .n = n, .a = kugel__poly_numbers(t, factor, n)});
}

void kugel__jwt_gpu_rows(const kugel_jwt *p, kugel__poly_text *t, int64_t bands_at,
                         const kugel__tile_stage *s, bool transposed, int64_t *top)
{
  const part j = {p, t, bands_at};
  static const double root[] = {M_SQRT2, M_SQRT1_2};
  static const float float_root[] = {(float)M_SQRT2, (float)M_SQRT1_2};
  const kugel__poly_gpu *g = t->g;
  *top = kugel__max(*top, kugel__max(s->in, s->out));
  switch (s->kind) {
  case KUGEL__STAGE_SCALE:
    add_scale(t, s->factor, s->in);
    break;
  case KUGEL__STAGE_WEIGHT0:
    add_scale(t, g->single ? (const void *)(float_root + transposed) : root + transposed, 1);
    break;
  case KUGEL__STAGE_BAND:
    add_band(&j, s, transposed, false, top);
    break;
  case KUGEL__STAGE_PAIRS: {
    int64_t halves = 2 * (s->raise ? s->in - s->out : s->out - s->in);
    for (int64_t i = 0; i < halves; i++) {
      int64_t half = transposed ? halves - 1 - i : i;
      kugel__tile_stage band = kugel__program_pair(s, half / 2, (int)(half % 2));
      add_band(&j, &band, transposed, true, top);
    }
    break;
  }
  case KUGEL__STAGE_LOWER: {
    int64_t steps = s->out - s->in;
    int parity = (int)(s->degree % 2);
    kugel__poly_op(t, (kugel__tile_op){.kind = transposed ? KUGEL__OP_RAISE : KUGEL__OP_LOWER,
                                       .n = transposed ? s->out : s->in,
                                       .steps = steps,
                                       .a = g->family[parity].at,
                                       .b = g->shape.tensor ? g->family[parity].few : steps - 1,
                                       .row = g->family[parity].width});
    break;
  }
  default:
    break;
  }
}
