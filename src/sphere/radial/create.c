/* SPDX-License-Identifier: BSD-3-Clause */
/* Making and freeing plans: alone, over ranks, led by rank 0. */
#include "core/ctx.h"
#include "sphere/radial/ranks.h"

kugel_status kugel__radial_create(kugel_ctx *ctx, const kugel_radial_opts *opts, bool shared,
                                  kugel_radial **out)
{
  KUGEL_TRY(kugel__radial_make(ctx, opts, shared, out));
  const kugel_radial *p = *out;
  bool sums =
      p->info.method != KUGEL_RADIAL_HARMONIC && !p->gpu && !p->blocks; /* harmonics are led as transforms */
  kugel_status s = p->ctx->leads && sums ? kugel__radial_be_led(*out) : KUGEL_OK;
  if (s) {
    kugel__radial_free(*out);
    *out = NULL;
  }
  return s;
}

kugel_status kugel_radial_create(kugel_ctx *ctx, const kugel_radial_opts *opts, kugel_radial **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  kugel_radial_opts o;
  if (opts)
    KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_radial_opts"));
  return opts && o.comm ? kugel__radial_dist_create(ctx, &o, out)
                        : kugel__radial_create(ctx, opts, false, out);
}

void kugel_radial_destroy(kugel_radial *p)
{
  if (!p)
    return;
  kugel__radial_unlead(p);
  kugel__radial_dist_destroy(p);
  kugel__radial_free(p);
}
