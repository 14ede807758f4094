/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in radius of a chunk of degrees. */
#include "ball/ball.h"
#include "core/parallel.h"

/* Coefficients of what a part of the radii adds to those of the parts before it. */
typedef struct addition {
  const kugel__ball_call *c;
  char *sum;
} addition;

static kugel_status add_row(void *arg, int64_t row)
{
  const addition *a = arg;
  const kugel_ball *p = a->c->p;
  size_t at = (size_t)(row * p->n) * 2 * p->word;
  for (int64_t i = 0; i < 2 * p->n; i++)
    if (p->single)
      ((float *)(void *)(a->sum + at))[i] += ((const float *)(const void *)(a->c->sums + at))[i];
    else
      ((double *)(void *)(a->sum + at))[i] += ((const double *)(const void *)(a->c->sums + at))[i];
  return KUGEL_OK;
}

/* The transform in radius of a component. Analysis is linear: with parts, each yields the coefficients of a field that is zero at
 * all other radii. */
kugel_status kugel__ball_radial_component(const kugel__ball_call *c, int chunk, int i, char *coeffs)
{
  const kugel_ball *p = c->p;
  int64_t first = kugel__ball_row(p, p->chunk[chunk]), rows = kugel__ball_row(p, p->chunk[chunk + 1]) - first;
  if (!rows)
    return KUGEL_OK;
  coeffs += (size_t)((i * p->nlm + first) * p->n) * 2 * p->word;
  kugel_dtype pair = p->single ? KUGEL_C64 : KUGEL_C128;
  bool adds = !c->to_grid && c->k0 > 0;
  kugel_array *a = KUGEL_ARRAY(adds ? c->sums : coeffs, pair, rows, p->n),
              *b = KUGEL_ARRAY(c->rows + i * rows * p->nr * 2 * (int64_t)p->word, pair, rows, p->nr);
  KUGEL_TRY(c->radial(p->radial[kugel__ball_index(c->components, i)][chunk], KUGEL_WORLAND_P,
                      c->to_grid ? a : b, c->to_grid ? b : a, NULL));
  addition sum = {c, coeffs};
  return adds ? kugel__parallel(p->ctx, rows, add_row, &sum) : KUGEL_OK;
}
