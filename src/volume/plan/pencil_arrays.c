/* SPDX-License-Identifier: BSD-3-Clause */
/* Pencils of arrays in memory. */
#include "volume/plan/pencil.h"

typedef struct arrays {
  const kugel__volume_box *in, *out;
} arrays;

static kugel_status slice_of(const kugel__volume_box *b, int64_t z, kugel__volume_box *box)
{
  *box = *b;
  box->data += z * b->step[1] * (b->dtype.bits / 8);
  return KUGEL_OK;
}
static kugel_status slices_from(void *arg, int64_t z, int64_t count, kugel__volume_box *box)
{
  (void)count;
  return slice_of(((const arrays *)arg)->in, z, box);
}
static kugel_status slices_to(void *arg, int64_t z, int64_t count, kugel__volume_box *box)
{
  (void)count;
  return slice_of(((const arrays *)arg)->out, z, box);
}

kugel_status kugel__pencil_run_arrays(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                                      const kugel__volume_box *out, atomic_llong *clipped)
{
  arrays a = {.in = in, .out = out};
  kugel__pencil_ends ends = {.arg = &a, .read = slices_from, .place = slices_to};
  return kugel__pencil_run(p, adjoint, &ends, clipped);
}
