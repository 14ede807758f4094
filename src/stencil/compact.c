/* SPDX-License-Identifier: BSD-3-Clause */
/* Compact differences of order 4: a term is C A^-1 B with three nodes in A and in B, with less than half of the
 * error of explicit ones of order 4. A along an axis is inverted by its banded solver; of a mixed
 * derivative one solve follows the other. */
#include <string.h>
#include "core/alloc.h"
#include "stencil/plan.h"

static const double beside[2] = {0.25, 0.1}; /* in A, of the first and the second derivative */

double kugel__stencil_compact_growth(int derivative)
{
  return derivative ? 1 / (1 - 2 * beside[derivative - 1]) : 1;
}

/* The elements of row 0 or n - 1 of A. A derivative continues beyond an end as the field, the first with the other sign. */
static void end_row(const kugel_stencil_boundary b, int derivative, double *in, double *out)
{
  const double a = beside[derivative - 1];
  const bool odd = (b == KUGEL_STENCIL_ODD) == (derivative == 2);
  *out = b == KUGEL_STENCIL_PERIODIC ? a : 0;
  *in = b == KUGEL_STENCIL_PERIODIC ? a : b == KUGEL_STENCIL_ONE_SIDED || odd ? 0 : 2 * a;
}

static kugel_status make_solver(kugel_stencil *p, int axis, int derivative, bool transposed)
{
  const int64_t n = p->n[axis];
  double *bands = kugel__alloc(p->ctx, (size_t)(3 * n) * sizeof *bands);
  KUGEL_CHECK(bands, KUGEL_ENOMEM, "no memory for %lld rows of a compact difference", (long long)n);
  double *lower = bands, *diagonal = bands + n, *upper = bands + 2 * n;
  for (int64_t i = 0; i < n; i++) {
    lower[i] = upper[i] = beside[derivative - 1];
    diagonal[i] = 1;
  }
  end_row(p->boundary[axis][0], derivative, &upper[0], &lower[0]);
  end_row(p->boundary[axis][1], derivative, &lower[n - 1], &upper[n - 1]);
  if (transposed) // (i, i - 1) and (i - 1, i) change places, and the corners
    for (int64_t i = 0; i < n; i++) {
      double *other = &upper[i ? i - 1 : n - 1], l = lower[i];
      lower[i] = *other;
      *other = l;
    }
  kugel__stencil_bands b = {.outer = 1,
                            .n = n,
                            .inner = 1,
                            .periodic = p->boundary[axis][0] == KUGEL_STENCIL_PERIODIC,
                            .precision = p->precision,
                            .lower = lower,
                            .diagonal = diagonal,
                            .upper = upper};
  for (int d = 0; d < 3; d++)
    *(d < axis ? &b.outer : &b.inner) *= d == axis ? 1 : p->n[d];
  kugel_status s = kugel__stencil_solver_make(p->ctx, &b, &p->solver[transposed][axis][derivative - 1]);
  kugel__free(p->ctx, bands);
  return s;
}

kugel_status kugel__stencil_compact_make(kugel_stencil *p)
{
  for (int transposed = 0; transposed < 2; transposed++)
    for (int t = 0; t < p->nterms; t++)
      for (int d = 0; d < 3; d++) {
        const int k = p->side[0].parts[t].derivative[d];
        if (k && !p->solver[transposed][d][k - 1])
          KUGEL_TRY(make_solver(p, d, k, transposed));
      }
  return KUGEL_OK;
}

void kugel__stencil_compact_free(kugel_stencil *p)
{
  for (int i = 0; i < 12; i++)
    kugel__stencil_solver_free(p->solver[i / 6][i / 2 % 3][i % 2]);
}

static kugel_status solve(const kugel_stencil *p, bool transposed, const kugel__stencil_part *part, char *x)
{
  for (int d = 0; d < 3; d++)
    if (part->derivative[d])
      KUGEL_TRY(kugel__stencil_solver_run(p->solver[transposed][d][part->derivative[d] - 1], x));
  return KUGEL_OK;
}

/* out += a (term of in), fields given. */
static kugel_status add_term(const kugel_stencil *p, bool transposed, const kugel__stencil_part *part,
                             double a, const char *in, char *out, char *room)
{
  kugel__stencil_part differences = *part, product = *part;
  differences.from = differences.to = product.from = product.to = 0;
  differences.coefficient = NULL;
  differences.factor = 1;
  for (int d = 0; d < 3; d++)
    product.line[d] = &p->lines[0][d][0];
  kugel__stencil_side sides[2] = {{.sources = 1, .targets = 1}, {.sources = 1, .targets = 1}};
  const kugel__stencil_use before = {.in = in, .out = room, .a = 1},
                           after = {.in = room, .out = out, .a = a, .b = 1, .p = out};
  kugel_status s = kugel__stencil_side_make(p, &sides[0], transposed ? &product : &differences, 1);
  if (!s)
    s = kugel__stencil_side_make(p, &sides[1], transposed ? &differences : &product, 1);
  if (!s)
    s = kugel__stencil_run(p, &sides[0], &before);
  if (!s)
    s = solve(p, transposed, part, room);
  if (!s)
    s = kugel__stencil_run(p, &sides[1], &after);
  for (int i = 0; i < 2; i++)
    kugel__stencil_side_free(p->ctx, &sides[i]);
  return s;
}

kugel_status kugel__stencil_compact_run(const kugel_stencil *p, bool transposed,
                                        const kugel__stencil_use *use)
{
  const kugel__stencil_side *side = &p->side[transposed];
  const int64_t bytes = p->nodes * (p->single ? 4 : 8);
  int none[65] = {0}; // no parts: out = b p + c q
  const kugel__stencil_side empty = {.first = none, .sources = side->sources, .targets = side->targets};
  char *room = kugel__scratch_get(p->ctx, (size_t)bytes);
  KUGEL_CHECK(room, KUGEL_ENOMEM, "no memory for a field of %lld bytes", (long long)bytes);
  kugel_status s = kugel__stencil_run(p, &empty, use);
  for (int t = 0; !s && t < side->first[side->targets]; t++) {
    const kugel__stencil_part *part = &side->parts[t];
    s = add_term(p, transposed, part, use->a, (const char *)use->in + part->from * bytes,
                 (char *)use->out + part->to * bytes, room);
  }
  kugel__scratch_put(p->ctx, room);
  return s;
}
