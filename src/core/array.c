/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of borrowed array views: one place decides what is acceptable and says why not. */
#include <stdio.h>
#include "core/array.h"

int64_t kugel__array_count(const kugel_array *a)
{
  int64_t n = 1;
  for (int i = 0; i < a->ndim; i++)
    n *= a->shape[i];
  return n;
}

bool kugel__array_contiguous(const kugel_array *a)
{
  if (!a->strides)
    return true;
  int64_t expect = 1;
  for (int i = a->ndim - 1; i >= 0; i--) {
    if (a->shape[i] != 1 && a->strides[i] != expect)
      return false;
    expect *= a->shape[i];
  }
  return true;
}

static const char *dtype_text(kugel_dtype t, char *text, size_t size)
{
  static const char *const names[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  snprintf(text, size, "%s%d", t.code < 7 ? names[t.code] : "dtype", t.bits);
  return text;
}

const char *kugel__array_describe(const kugel_array *a, char *text, size_t size)
{
  char type[32];
  int n = snprintf(text, size, "%s[", dtype_text(a->dtype, type, sizeof type));
  for (int i = 0; i < a->ndim && n > 0 && (size_t)n < size; i++)
    n += snprintf(text + n, size - (size_t)n, "%s%lld", i ? ", " : "", (long long)a->shape[i]);
  if (n > 0 && (size_t)n < size)
    snprintf(text + n, size - (size_t)n, "]");
  return text;
}

kugel_status kugel__array_check_on(const kugel_device *device, const kugel_array *a, const char *name,
                                   kugel_dtype dtype, int ndim, const int64_t *shape, int64_t *lead)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  KUGEL_CHECK(a->ndim >= 0 && a->ndim <= 32 && (a->shape || a->ndim == 0), KUGEL_ESHAPE,
              "%s has ndim %d, must be 0 to 32 with a shape", name, a->ndim);
  for (int i = 0; i < a->ndim; i++)
    KUGEL_CHECK(a->shape[i] >= 0, KUGEL_ESHAPE, "%s has extent %lld on axis %d, must not be negative", name,
                (long long)a->shape[i], i);
  char have[256], want_type[32], want[256];
  kugel_array wanted = {.ndim = ndim, .dtype = dtype, .shape = (int64_t *)shape};
  kugel__array_describe(a, have, sizeof have);
  kugel__array_describe(&wanted, want, sizeof want);
  bool here = device && a->device.type == device->type && a->device.id == device->id;
  KUGEL_CHECK(a->device.type == KUGEL_CPU || here, KUGEL_EDEVICE,
              "%s is on device %d of type %d, this plan takes host memory%s", name, a->device.id,
              a->device.type, device && device->type != KUGEL_CPU ? " or that of its context's device" : "");
  KUGEL_CHECK(kugel__dtype_is(a->dtype, dtype), KUGEL_ESHAPE, "%s is %s, must be of type %s", name, have,
              dtype_text(dtype, want_type, sizeof want_type));
  KUGEL_CHECK(a->ndim >= ndim, KUGEL_ESHAPE, "%s is %s, must be %s after any batch extents", name, have,
              want);
  int64_t before = 1;
  for (int i = 0; i < a->ndim; i++) {
    int j = i - (a->ndim - ndim);
    if (j < 0)
      before *= a->shape[i];
    else
      KUGEL_CHECK(a->shape[i] == shape[j], KUGEL_ESHAPE, "%s is %s, must be %s after any batch extents", name,
                  have, want);
  }
  if (*lead < 0)
    *lead = before;
  KUGEL_CHECK(before == *lead, KUGEL_ESHAPE, "%s is %s: its batch is %lld, must be %lld", name, have,
              (long long)before, (long long)*lead);
  KUGEL_CHECK(kugel__array_contiguous(a), KUGEL_ESHAPE, "%s is %s with strides: make it contiguous (C order)",
              name, have);
  KUGEL_CHECK(a->data || kugel__array_count(a) == 0, KUGEL_EINVAL, "%s is %s with data NULL", name, have);
  return KUGEL_OK;
}

kugel_status kugel__array_check(const kugel_array *a, const char *name, kugel_dtype dtype, int ndim,
                                const int64_t *shape, int64_t *lead)
{
  return kugel__array_check_on(NULL, a, name, dtype, ndim, shape, lead);
}

kugel_status kugel__array_disjoint(const kugel_array *a, const char *name_a, const kugel_array *b,
                                   const char *name_b)
{
  const char *pa = kugel__array_data(a), *pb = kugel__array_data(b);
  int64_t na = kugel__array_count(a) * a->dtype.bits / 8, nb = kugel__array_count(b) * b->dtype.bits / 8;
  KUGEL_CHECK(!na || !nb || pa + na <= pb || pb + nb <= pa, KUGEL_EINVAL,
              "%s and %s overlap in memory: give them arrays of their own", name_a, name_b);
  return KUGEL_OK;
}
