/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of coordinates as they are read one by one. */
#include "core/array.h"
#include "fft/plan/dd.h"
#include "nufft/third.h"

kugel_status kugel__nufft_places_from(const kugel_array *a, kugel__nufft_places_of *out)
{
  kugel__pair_array pairs;
  const bool twofold = a->ndim == 3;
  const int64_t *strides = a->strides;
  if (twofold) {
    KUGEL_TRY(kugel__pair_array_of(a, out->name, &pairs));
    strides = pairs.array.strides;
  }
  out->data = kugel__array_data(a);
  out->n = a->shape[0];
  out->stride = strides ? strides[0] : a->shape[1];
  out->axis_stride = strides ? strides[1] : 1;
  out->floats = a->dtype.bits == 32;
  out->twofold = twofold;
  return KUGEL_OK;
}
