/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans on devices as others make and save them: with chains chosen by the cost model or by measurement. */
#include "codegen/bundle.h"
#include "fft/gpu/parts.h"

kugel_status kugel__fft_gpu_create(kugel_ctx *ctx, const kugel__fft_gpu_desc *desc, kugel__fft_gpu **out)
{
  kugel__fft_gpu *p;
  KUGEL_TRY(kugel__gpu_begin(ctx, desc, &p));
  return kugel__gpu_finish(p, kugel__gpu_chains(p, desc->measure ? kugel__gpu_measure : NULL), out);
}

kugel_status kugel__fft_gpu_keep(kugel__fft_gpu *p, kugel__bundle *b)
{
  KUGEL_TRY(kugel__gpu_keep_kernels(p, b));
  for (int i = 0; p->desc.measure && i < 2 * p->desc.naxes; i++)
    if (!(i % 2 && p->own_inverse))
      KUGEL_TRY(kugel__gpu_measured_keep(p, i / 2, i % 2, b));
  return KUGEL_OK;
}
