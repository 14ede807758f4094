/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans and executions: of this process, over ranks, or of ranks that this one leads. */
#include <string.h>
#include "core/ctx.h"
#include "deconv/ranks.h"

kugel_status kugel_deconv_create(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                 const kugel_array *psf, const kugel_deconv_opts *opts, kugel_deconv **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  kugel_deconv *p = NULL;
  kugel_deconv_opts given;
  KUGEL_TRY(kugel__take_opts(&given, sizeof given, opts, "kugel_deconv_opts"));
  kugel_status s = kugel__deconv_create(ctx, ndim, n, k, psf, opts, &p);
  if (!s && p->share != KUGEL__DECONV_ALONE)
    s = kugel__deconv_be_led(p, psf, given.back, given.depth);
  if (s)
    kugel__deconv_destroy(p);
  else
    *out = p;
  return s;
}

void kugel_deconv_destroy(kugel_deconv *p)
{
  if (p)
    kugel__deconv_unlead(p);
  kugel__deconv_destroy(p);
}

kugel_status kugel_deconv_execute(const kugel_deconv *p, const kugel_array *image, const kugel_array *mask,
                                  const kugel_array *start, const kugel_array *out, kugel_deconv_info *info)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_deconv_create");
  if (!p->led)
    return kugel__deconv_execute(p, image, mask, start, out, info);
  kugel__deconv_job j = {.p = p};
  kugel_deconv_info all = {.size = sizeof all};
  KUGEL_TRY(kugel__deconv_take(&j, image, mask, start, out));
  KUGEL_TRY(kugel__deconv_led_run(p, &j, &all));
  KUGEL_TRY(kugel__deconv_check_known(p, &all));
  return info ? kugel__give_info(info, &all, sizeof all, "kugel_deconv_info") : KUGEL_OK;
}
