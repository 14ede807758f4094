/* SPDX-License-Identifier: BSD-3-Clause */
/* Terms by what they write, and the sums of rows inside as lists of taps. */
#include "core/alloc.h"
#include "stencil/plan.h"

/* ---- taps ---- */

static bool add_tap(kugel__stencil_node *node, int64_t from, int64_t at, double weight)
{
  int k = 0;
  while (k < node->count && (node->tap[k].from != from || node->tap[k].at != at))
    k++;
  if (k == KUGEL__STENCIL_TAPS)
    return false;
  if (k == node->count)
    node->tap[node->count++] = (kugel__stencil_tap){.from = from, .at = at};
  node->tap[k].weight += weight;
  return true;
}

/* The sum of node `at` of a target; false: it has too many taps. */
static bool collect(const kugel_stencil *p, const kugel__stencil_side *side, int target, const int64_t *at,
                    kugel__stencil_node *out)
{
  const int64_t plane = p->n[1] * p->n[2];
  bool fits = true;
  for (int t = side->first[target]; t < side->first[target + 1]; t++) {
    const kugel__stencil_part *part = &side->parts[t];
    kugel__stencil_row row[3];
    for (int d = 0; d < 3; d++)
      kugel__stencil_get_row(part->line[d], at[d], &row[d]);
    for (int a = 0; a < row[0].count; a++)
      for (int b = 0; b < row[1].count; b++)
        for (int c = 0; c < row[2].count; c++)
          fits = fits && add_tap(out, part->from * p->nodes,
                                 (row[0].at[a] - at[0]) * plane + (row[1].at[b] - at[1]) * p->n[2] +
                                     row[2].at[c] - at[2],
                                 part->factor * row[0].weight[a] * row[1].weight[b] * row[2].weight[c]);
  }
  return fits;
}

/* The rows inside, which are alike; whether the terms have one coefficient, or none. */
static bool look(const kugel_stencil *p, const kugel__stencil_side *side, int target,
                 kugel__stencil_inside *out)
{
  const kugel__stencil_part *parts = &side->parts[side->first[target]];
  const int count = side->first[target + 1] - side->first[target];
  bool beside = p->ndim == 3, mixed = false;
  for (int t = 0; t < count; t++) {
    for (int d = 0; d < 3; d++) {
      out->lo[d] = kugel__max(out->lo[d], parts[t].line[d]->lo);
      out->hi[d] = kugel__max(out->hi[d], parts[t].line[d]->hi);
    }
    if (parts[t].coefficient != parts[0].coefficient)
      return false;
    beside = beside || parts[t].line[1]->reach > 0;
    mixed = mixed || (parts[t].line[2]->reach && (parts[t].line[0]->reach || parts[t].line[1]->reach));
  }
  for (int d = 0; d < 3; d++)
    if (out->lo[d] + out->hi[d] >= p->n[d])
      return false;
  out->whole = beside && !mixed && out->lo[1] > 0 && out->hi[1] > 0;
  out->coefficient = count ? parts[0].coefficient : NULL;
  return count > 0;
}

/* More taps of three axes, in rows that the first-level cache does not hold, are faster summed in two goes. */
enum { FEW = 20, SHORT = 128 };

static kugel_status make_inside(const kugel_stencil *p, const kugel__stencil_side *side, int target,
                                kugel__stencil_inside **out)
{
  kugel__stencil_inside in = {.whole = false};
  if (!look(p, side, target, &in))
    return KUGEL_OK;
  const int64_t columns = in.lo[2] + in.hi[2];
  kugel__stencil_inside *made =
      kugel__calloc(p->ctx, sizeof *made + (size_t)columns * sizeof(kugel__stencil_node));
  KUGEL_CHECK(made, KUGEL_ENOMEM, "no memory for sums of rows");
  *made = in;
  int64_t at[3] = {in.lo[0], in.lo[1], in.lo[2]};
  bool fits = collect(p, side, target, at, &made->node);
  for (int64_t e = 0; e < columns && fits; e++) {
    at[2] = e < in.lo[2] ? e : p->n[2] - columns + e;
    fits = collect(p, side, target, at, &made->edge[e]);
  }
  if (fits && (p->ndim < 3 || made->node.count <= FEW || p->n[2] <= SHORT))
    *out = made;
  else
    kugel__free(p->ctx, made);
  return KUGEL_OK;
}

/* ---- sides ---- */

/* Of each target, parts without a difference along the last axis come first. */
kugel_status kugel__stencil_side_make(const kugel_stencil *p, kugel__stencil_side *side,
                                      const kugel__stencil_part *parts, int count)
{
  side->parts = kugel__calloc(p->ctx, sizeof *parts * (size_t)(count + 1));
  side->first = kugel__calloc(p->ctx, sizeof(int) * (size_t)(side->targets + 1));
  side->inside = kugel__calloc(p->ctx, sizeof *side->inside * (size_t)side->targets);
  KUGEL_CHECK(side->parts && side->first && side->inside, KUGEL_ENOMEM, "no memory for %d terms", count);
  int at = 0;
  for (int target = 0; target < side->targets; target++) {
    side->first[target] = at;
    for (int along = 0; along < 2; along++)
      for (int t = 0; t < count; t++)
        if (parts[t].to == target && (parts[t].line[2]->reach > 0) == along)
          side->parts[at++] = parts[t];
  }
  side->first[side->targets] = at;
  for (int target = 0; target < side->targets && p->ctx->device.type == KUGEL_CPU; target++)
    KUGEL_TRY(make_inside(p, side, target, &side->inside[target]));
  return KUGEL_OK;
}

void kugel__stencil_side_free(kugel_ctx *ctx, kugel__stencil_side *side)
{
  for (int target = 0; side->inside && target < side->targets; target++)
    kugel__free(ctx, side->inside[target]);
  kugel__free(ctx, side->inside);
  kugel__free(ctx, side->parts);
  kugel__free(ctx, side->first);
}
