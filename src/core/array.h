/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of borrowed array views. */
#ifndef KUGEL_CORE_ARRAY_H
#define KUGEL_CORE_ARRAY_H

#include "core/base.h"

static inline bool kugel__dtype_is(kugel_dtype a, kugel_dtype b)
{
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/* Address of the first element. */
static inline void *kugel__array_data(const kugel_array *a)
{
  return (char *)a->data + a->byte_offset;
}

/* Total number of elements. */
int64_t kugel__array_count(const kugel_array *a);
bool kugel__array_contiguous(const kugel_array *a);

/* A text such as "float64[3, 12288]" for messages. */
const char *kugel__array_describe(const kugel_array *a, char *text, size_t size);

/* Checks that `a` (called `name` in messages) is a non-NULL host array with C-order data, that its last
 * `ndim` extents equal `shape` and all before them multiply to *lead (any number if *lead is -1, which is
 * then set). */
kugel_status kugel__array_check(const kugel_array *a, const char *name, kugel_dtype dtype, int ndim,
                                const int64_t *shape, int64_t *lead);

/* The same for an array that may also be on the device of a context. */
kugel_status kugel__array_check_on(const kugel_device *device, const kugel_array *a, const char *name,
                                   kugel_dtype dtype, int ndim, const int64_t *shape, int64_t *lead);

/* Checks that `a` is a host array in C order of a type in which files and pictures keep values: float32, float64,
 * int32 or int64. */
kugel_status kugel__check_values(const kugel_array *a, const char *name);

/* Checks of an array with any strides, whose shape was checked, that its elements lie within the address space, at
 * multiples of the size of their reals, and, if it is written, apart. */
kugel_status kugel__array_check_reach(const kugel_array *a, const char *name, bool written);

/* Fails with KUGEL_EINVAL if the memory of two C-order arrays overlaps. */
kugel_status kugel__array_disjoint(const kugel_array *a, const char *name_a, const kugel_array *b,
                                   const char *name_b);

#endif
