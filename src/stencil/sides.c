/* SPDX-License-Identifier: BSD-3-Clause */
/* Terms by what they write. */
#include "core/alloc.h"
#include "stencil/plan.h"

/* Of each target, parts without a difference along the last axis come first. */
kugel_status kugel__stencil_side_make(kugel_ctx *ctx, kugel__stencil_side *side,
                                      const kugel__stencil_part *parts, int count)
{
  side->parts = kugel__calloc(ctx, sizeof *parts * (size_t)(count + 1));
  side->first = kugel__calloc(ctx, sizeof(int) * (size_t)(side->targets + 1));
  KUGEL_CHECK(side->parts && side->first, KUGEL_ENOMEM, "no memory for %d terms", count);
  int at = 0;
  for (int target = 0; target < side->targets; target++) {
    side->first[target] = at;
    for (int along = 0; along < 2; along++)
      for (int t = 0; t < count; t++)
        if (parts[t].to == target && (parts[t].line[2]->reach > 0) == along)
          side->parts[at++] = parts[t];
  }
  side->first[side->targets] = at;
  return KUGEL_OK;
}

void kugel__stencil_side_free(kugel_ctx *ctx, kugel__stencil_side *side)
{
  kugel__free(ctx, side->parts);
  kugel__free(ctx, side->first);
}
