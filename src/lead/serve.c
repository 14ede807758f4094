/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of plans whose work rank 0 spreads. */
#include "ball/ranks.h"
#include "comm/lead.h"
#include "lead/write.h"
#include "deconv/ranks.h"
#include "sphere/radial/ranks.h"
#include "sphere/sht/dist.h"
#include "volume/plan/global.h"
#include "volume/plan/lead.h"

static const kugel__lead_kind *const kinds[KUGEL__LEAD_KINDS] = {
    [KUGEL__LEAD_SHT] = &kugel__sht_served,       [KUGEL__LEAD_RADIAL] = &kugel__radial_served,
    [KUGEL__LEAD_VOLUME] = &kugel__volume_served, [KUGEL__LEAD_GLOBAL] = &kugel__global_served,
    [KUGEL__LEAD_BALL] = &kugel__ball_served,     [KUGEL__LEAD_DECONV] = &kugel__deconv_served};

kugel_status kugel_serve(kugel_ctx *ctx, kugel_comm *comm, int *code)
{
  return kugel__lead_serve(ctx, comm, kinds, kugel__serve_write, code);
}
