/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of the ball from options: of this process, over ranks, or of ranks that this one leads. */
#include "ball/ranks.h"
#include "ball/several.h"
#include "core/ctx.h"

kugel_status kugel_ball_create(kugel_ctx *ctx, const kugel_ball_opts *opts, kugel_ball **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(opts, KUGEL_EINVAL, "opts is NULL: pass lmax and n");
  kugel_ball_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_ball_opts"));
  if (o.comm)
    kugel__comm_enter(o.comm);
  kugel_status s = kugel__ball_make(ctx, &o, kugel__ctx(ctx)->leads != NULL, out);
  if (o.comm)
    s = kugel__comm_leave(o.comm, s);
  else if (!s && (*out)->leads)
    s = kugel__ball_be_led(*out, o.radii, o.sphere);
  if (s) {
    kugel_ball_destroy(*out);
    *out = NULL;
  }
  return s;
}

void kugel_ball_destroy(kugel_ball *p)
{
  if (p && p->led)
    kugel__ball_unlead(p);
  if (p)
    kugel__ball_several_destroy(p->several);
  kugel__ball_free(p);
}
