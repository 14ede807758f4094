/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of borrowed array views: one place decides what is acceptable and says why not. */
#include <stdio.h>
#include <stdlib.h>
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
  if (a->device.type != b->device.type || a->device.id != b->device.id ||
      (a->device.type == KUGEL_OPENCL && a->data != b->data)) // handles of buffers are no addresses
    return KUGEL_OK;
  const char *pa = kugel__array_data(a), *pb = kugel__array_data(b);
  int64_t na = kugel__array_count(a) * a->dtype.bits / 8, nb = kugel__array_count(b) * b->dtype.bits / 8;
  KUGEL_CHECK(!na || !nb || pa + na <= pb || pb + nb <= pa, KUGEL_EINVAL,
              "%s and %s overlap in memory: give them arrays of their own", name_a, name_b);
  return KUGEL_OK;
}

kugel_status kugel__check_values(const kugel_array *a, const char *name)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  kugel_dtype t = a->dtype;
  KUGEL_CHECK((t.code == KUGEL_FLOAT || t.code == KUGEL_INT) && (t.bits == 32 || t.bits == 64) &&
                  t.lanes == 1,
              KUGEL_ESHAPE, "%s has the type (%d, %d bits), must be float32, float64, int32 or int64", name,
              t.code, t.bits);
  int64_t lead = -1;
  return kugel__array_check(a, name, t, 0, NULL, &lead);
}

// How far elements lie below and above the first one, in elements; false: 2^62 or more.
static bool reach_of(const kugel_array *a, int64_t *below, int64_t *above)
{
  const int64_t most = (int64_t)1 << 62;
  *below = *above = 0;
  for (int d = 0; d < a->ndim; d++) {
    int64_t step, *to = a->strides[d] < 0 ? below : above;
    if (a->shape[d] < 2)
      continue;
    if (a->strides[d] == INT64_MIN ||
        __builtin_mul_overflow(a->shape[d] - 1, a->strides[d] < 0 ? -a->strides[d] : a->strides[d], &step) ||
        step > most - *to)
      return false;
    *to += step;
  }
  return true;
}

// Whether each stride is larger than what the smaller ones reach; *axis: the one that is not. Some layouts without
// overlap, which interleave, fail too: whether a layout overlaps is in general a subset sum problem (NP-complete).
static bool lies_apart(const kugel_array *a, int *axis)
{
  bool seen[32] = {false};
  uint64_t reach = 0;
  for (int k = 0; k < a->ndim; k++) {
    int least = -1;
    for (int d = 0; d < a->ndim; d++)
      if (!seen[d] && (least < 0 || llabs(a->strides[d]) < llabs(a->strides[least])))
        least = d;
    seen[least] = true;
    uint64_t stride = (uint64_t)llabs(a->strides[least]);
    if (a->shape[least] < 2)
      continue;
    *axis = least;
    if (stride <= reach)
      return false;
    reach += (uint64_t)(a->shape[least] - 1) * stride;
  }
  return true;
}

kugel_status kugel__array_check_reach(const kugel_array *a, const char *name, bool written)
{
  const uint64_t most = (uint64_t)1 << 62;
  int64_t below = 0, above = kugel__array_count(a) - 1, bytes = kugel__max(1, a->dtype.bits / 8);
  int axis = 0;
  if (above < 0)
    return KUGEL_OK;
  KUGEL_CHECK(!a->strides || reach_of(a, &below, &above), KUGEL_EINVAL,
              "%s has strides that reach 2^62 elements or more: they count elements, not bytes", name);
  KUGEL_CHECK(!written || !a->strides || lies_apart(a, &axis), KUGEL_EINVAL,
              "%s has a stride of %lld on axis %d, where elements overlap or interleave: results need memory "
              "of their own, such as C order",
              name, (long long)a->strides[axis], axis);
  KUGEL_CHECK(a->byte_offset < most && (uint64_t)above < most / (uint64_t)bytes &&
                  (uint64_t)below < most / (uint64_t)bytes,
              KUGEL_EINVAL,
              "%s has a byte_offset of %llu and strides that reach %lld elements, must be below 2^62 bytes",
              name, (unsigned long long)a->byte_offset, (long long)kugel__max(below, above));
  if (a->device.type == KUGEL_OPENCL) // whose handles are no addresses
    return KUGEL_OK;
  uintptr_t at = (uintptr_t)a->data + (uintptr_t)a->byte_offset, first = (uintptr_t)(below * bytes),
            last = (uintptr_t)((above + 1) * bytes);
  int64_t part = a->dtype.code == KUGEL_COMPLEX ? bytes / 2 : bytes;
  KUGEL_CHECK(at >= (uintptr_t)a->data && at >= first && at + last >= at, KUGEL_EINVAL,
              "%s has strides or a byte_offset that leave the address space", name);
  KUGEL_CHECK(at % (uintptr_t)part == 0, KUGEL_EINVAL,
              "%s lies at an address that is not a multiple of %lld bytes: copy it", name, (long long)part);
  return KUGEL_OK;
}
