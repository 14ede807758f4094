/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations that each device offers; every backend fills one table. */
#ifndef KUGEL_DEVICE_DEVICE_H
#define KUGEL_DEVICE_DEVICE_H

#include "core/base.h"
#include <kugel/device.h>

typedef struct kugel__device_ops {
  const char *name;                                                /* "cpu" */
  int (*count)(void);                                              /* devices present */
  kugel_status (*describe)(int id, kugel_device_info *info);       /* info is zeroed */
  kugel_status (*alloc)(kugel_ctx *ctx, size_t bytes, void **out); /* device memory */
  void (*free)(kugel_ctx *ctx, void *ptr);
  kugel_status (*upload)(void *dst, const void *src, size_t bytes, kugel_queue *queue);   /* host -> device */
  kugel_status (*download)(void *dst, const void *src, size_t bytes, kugel_queue *queue); /* device -> host */
  kugel_status (*fill)(void *dst, int byte, size_t bytes, kugel_queue *queue);
  kugel_status (*wait)(kugel_queue *queue); /* until all work given to the queue is done */
} kugel__device_ops;

/* One line a backend in backends.def: KUGEL_BACKEND(cpu) */
#define KUGEL_BACKEND(name) extern const kugel__device_ops kugel__device_##name;
#include "device/backends.def"
#undef KUGEL_BACKEND

/* The table of a device type (KUGEL_CPU ...), NULL if this build has none. */
const kugel__device_ops *kugel__device_find(int32_t type);

#endif
