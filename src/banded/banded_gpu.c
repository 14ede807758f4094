/* SPDX-License-Identifier: BSD-3-Clause */
/* Banded solves and products on devices. */
#include "banded/banded.h"

kugel_status kugel__banded_gpu_create(kugel_banded *p)
{
  (void)p;
  return KUGEL_FAIL(KUGEL_ENOTSUP, "banded plans run on the CPU only: use a context of \"cpu\"");
}

void kugel__banded_gpu_destroy(kugel_banded *p)
{
  (void)p;
}

void kugel__banded_gpu_info(const kugel_banded *p, int64_t batch, kugel_banded_info *info)
{
  (void)p, (void)batch, (void)info;
}

kugel_status kugel__banded_gpu_run(const kugel_banded *p, bool solve, int64_t batch, const kugel_array *in,
                                   const kugel_array *out, kugel_queue *queue)
{
  (void)p, (void)solve, (void)batch, (void)in, (void)out, (void)queue;
  return KUGEL_FAIL(KUGEL_ENOTSUP, "banded plans run on the CPU only: use a context of \"cpu\"");
}
