/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans from outside: alone, over ranks, or led. */
#include "core/ctx.h"
#include "sphere/sht/dist.h"

kugel_status kugel_sht_create(kugel_ctx *ctx, const kugel_sht_opts *opts, kugel_sht **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  kugel_sht *p = NULL;
  KUGEL_TRY(kugel__sht_make(ctx, opts, &p));
  kugel_status s = !p->dist && !p->gpu && p->ctx->leads ? kugel__sht_be_led(p) : KUGEL_OK;
  if (s)
    kugel__sht_free(p);
  else
    *out = p;
  return s;
}

void kugel_sht_destroy(kugel_sht *p)
{
  if (p && p->led)
    kugel__sht_unlead(p);
  kugel__sht_free(p);
}
