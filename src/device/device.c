/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of devices. */
#include <string.h>
#include "device/device.h"

static const kugel__device_ops *const backends[] = {
#define KUGEL_BACKEND(name) &kugel__device_##name,
#include "device/backends.def"
#undef KUGEL_BACKEND
};
enum { BACKENDS = sizeof backends / sizeof *backends };

const kugel__device_ops *kugel__device_find(int32_t type)
{
  static const struct {
    int32_t type;
    const char *name;
  } names[] = {{KUGEL_CPU, "cpu"}, {KUGEL_CUDA, "cuda"}, {KUGEL_OPENCL, "opencl"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (int b = 0; names[i].type == type && b < BACKENDS; b++)
      if (!strcmp(backends[b]->name, names[i].name))
        return backends[b];
  return NULL;
}

int kugel_device_count(void)
{
  int n = 0;
  for (int b = 0; b < BACKENDS; b++)
    n += backends[b]->count();
  return n;
}

kugel_status kugel_device_describe(int index, kugel_device_info *info)
{
  KUGEL_CHECK(info, KUGEL_EINVAL, "info is NULL: pass a kugel_device_info with its size set");
  kugel_device_info whole;
  KUGEL_TRY(kugel__take_opts(&whole, sizeof whole, info, "kugel_device_info"));
  int n = kugel_device_count(), id = index, b = 0;
  KUGEL_CHECK(index >= 0 && index < n, KUGEL_EINVAL, "device index is %d, must be 0 to %d", index, n - 1);
  while (id >= backends[b]->count())
    id -= backends[b++]->count();
  size_t size = info->size < sizeof whole ? info->size : sizeof whole;
  memset(&whole, 0, sizeof whole);
  KUGEL_TRY(backends[b]->describe(id, &whole));
  whole.size = info->size;
  memcpy(info, &whole, size);
  return KUGEL_OK;
}
