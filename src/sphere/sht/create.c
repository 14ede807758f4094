/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans from outside: alone, over ranks, or led. */
#include "core/ctx.h"
#include "sphere/sht/dist.h"

/* A plan for host memory whose transforms run on the devices of all ranks that serve. *out stays NULL where these have none of the
 * kind, or no room: the context's own device then has the plan. */
static kugel_status lead_devices(kugel_ctx *ctx, const kugel_sht_opts *opts, kugel_sht **out)
{
  kugel_sht *p = NULL;
  kugel_sht_opts o;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: a plan needs a grid and lmax");
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_sht_opts"));
  if (o.comm || o.engine != KUGEL_SHT_RECURRENCE)
    return KUGEL_OK;
  KUGEL_TRY(kugel__sht_make_on(ctx, opts, kugel__ctx_device(NULL), &p));
  kugel_status s = kugel__sht_be_led(p);
  if (!s)
    *out = p;
  else
    kugel__sht_free(p);
  return s == KUGEL_ENOTSUP || s == KUGEL_ENOMEM ? KUGEL_OK : s;
}

kugel_status kugel_sht_create(kugel_ctx *ctx, const kugel_sht_opts *opts, kugel_sht **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  kugel_sht *p = NULL;
  const kugel_ctx *c = kugel__ctx(ctx);
  if (c->leads && c->device.type != KUGEL_CPU)
    KUGEL_TRY(lead_devices(ctx, opts, out));
  if (*out)
    return KUGEL_OK;
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
