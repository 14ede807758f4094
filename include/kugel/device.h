/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices and queues. Device strings: "cpu" (this release), later "cuda:0", "opencl:0", "auto". */
#ifndef KUGEL_DEVICE_H
#define KUGEL_DEVICE_H

#include <kugel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where device work runs, in order. NULL: the plan's own queue, and the call returns when the work is done.
 * The CPU has no queues of its own: pass NULL. */
typedef struct kugel_queue kugel_queue;

typedef struct kugel_device_info {
  size_t size;           /* sizeof(kugel_device_info) as the caller compiled it */
  char name[64];         /* "cpu" */
  char description[128]; /* model, instruction set */
  uint64_t memory;       /* bytes in all */
  int32_t units;         /* threads or multiprocessors */
  int32_t available;     /* 0: `why` says what is missing */
  char why[192];
} kugel_device_info;

/// How many devices kugel_device_describe knows, available or not.
/// @return at least 1
KUGEL_API int kugel_device_count(void);

/// Describes device `index`.
/// @param[in]     index  0 <= index < kugel_device_count()
/// @param[in,out] info   set info->size before the call
/// @errors KUGEL_EINVAL if index is out of range or info is NULL
KUGEL_API kugel_status kugel_device_describe(int index, kugel_device_info *info);

#ifdef __cplusplus
}
#endif
#endif
