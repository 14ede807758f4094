/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that a callback reads: by planes into the files of pencils, or as a whole. */
#include "core/alloc.h"
#include "core/array.h"
#include "volume/plan/plan.h"

kugel_status kugel__volume_read_kernel(const kugel_volume *p, int which, int64_t z, int64_t count,
                                       void *values)
{
  const kugel__volume_axis *a = p->axis;
  int64_t lo[4] = {which, z, 0, 0}, n[4] = {1, count, a[1].k, a[2].k};
  bool several = p->opts.kernels || p->depth;
  int skip =
      KUGEL__VOLUME_DIMS - p->ndim + 1; // axes of box.step that the array has not, besides that of kernels
  int64_t own_lo[4], own_n[4];
  int axes = 0;
  for (int d = 0; d < 4; d++)
    if (d == 0 ? several : d >= skip) {
      own_lo[axes] = lo[d];
      own_n[axes++] = n[d];
    }
  int code = p->opts.read_kernel(p->opts.kernel_user, own_lo, own_n, values);
  KUGEL_CHECK(code == 0, KUGEL_EIO, "read_kernel returned %d at kernel %d, plane %lld", code, which,
              (long long)z);
  return KUGEL_OK;
}

kugel_status kugel__volume_whole_kernel(const kugel_volume *p, kugel_array *kernel, char **memory)
{
  kugel__volume_box box;
  KUGEL_TRY(kugel__volume_take_kernel(p, kernel, &box));
  int64_t one = p->axis[0].k * p->axis[1].k * p->axis[2].k * (box.dtype.bits / 8);
  KUGEL_ALLOC(p->ctx, *memory, (size_t)(p->stored * one));
  for (int q = 0; q < p->stored; q++)
    KUGEL_TRY(kugel__volume_read_kernel(p, q, 0, p->axis[0].k, *memory + q * one));
  kernel->data = *memory;
  return KUGEL_OK;
}
