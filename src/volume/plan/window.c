/* SPDX-License-Identifier: BSD-3-Clause */
/* Factors of results where the surroundings of the image are unknown. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "volume/plan/plan.h"

kugel_status kugel__volume_window(kugel_volume *p)
{
  int64_t m = p->axis[0].m * p->axis[1].m * p->axis[2].m, n = p->axis[0].n * p->axis[1].n * p->axis[2].n;
  size_t bytes = (size_t)(m * p->kernels) * p->real;
  char *window = kugel__alloc(p->ctx, bytes), *ones = kugel__alloc(p->ctx, (size_t)n * p->real);
  kugel_status s = KUGEL_OK;
  if (!window || !ones)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of window", bytes);
  for (int64_t i = 0; i < n && !s; i++)
    if (p->f32)
      ((float *)(void *)ones)[i] = 1;
    else
      ((double *)(void *)ones)[i] = 1;
  if (!s)
    s = kugel__volume_apply(p, false, ones, window);
  kugel__free(p->ctx, ones);
  p->window = window;
  if (!s)
    kugel__volume_invert(p, window, (int64_t[3]){p->axis[0].m, p->axis[1].m, p->axis[2].m}, p->axis[0].first);
  return s;
}
