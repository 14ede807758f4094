/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plan does. */
#include "core/ctx.h"
#include "nufft/ranks.h"

kugel_status kugel_nufft_get_info(const kugel_nufft *p, kugel_nufft_info *info)
{
  KUGEL_CHECK(p && info, KUGEL_EINVAL, "plan or info is NULL: pass both");
  kugel_nufft_info whole = {.ndim = p->ndim,
                            .type = p->third      ? KUGEL_NUFFT_TO_FREQUENCIES
                                    : p->to_modes ? KUGEL_NUFFT_TO_MODES
                                                  : KUGEL_NUFFT_TO_POINTS,
                            .sign = p->sign,
                            .precision = p->single ? KUGEL_PRECISION_F32
                                         : p->dd   ? KUGEL_PRECISION_DD
                                                   : KUGEL_PRECISION_F64,
                            .width = p->kernel.width,
                            .upsampling = p->kernel.upsampling,
                            .error = p->error};
  for (int d = 0; d < p->ndim; d++) {
    whole.n[d] = p->axis[d].n;
    whole.fine[d] = p->axis[d].fine;
  }
  whole.bytes = (uint64_t)(p->ctx->device.type == KUGEL_CPU && !p->third ? kugel__nufft_grid(p)
                                                                         : p->fine * (p->single ? 8 : 16)) +
                (uint64_t)(kugel__ctx_threads(p->ctx) * p->buffer * kugel__nufft_number(p));
  whole.modes_count = p->ndim > 1 ? kugel__nufft_modes(p, 1) : 0;
  if (p->ranks) {
    whole.modes_first = p->ranks->row[p->ranks->rank];
    whole.modes_count = p->ranks->row[p->ranks->rank + 1] - whole.modes_first;
  }
  return kugel__give_info(info, &whole, sizeof whole, "kugel_nufft_info");
}
