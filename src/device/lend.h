/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of the caller as device memory for one call, and buffers kept for the next call. */
#ifndef KUGEL_DEVICE_LEND_H
#define KUGEL_DEVICE_LEND_H

#include "core/array.h"
#include "device/device.h"

enum { KUGEL__READ = 1, KUGEL__WRITE = 2 };

/* An array on its way through a call: its own memory if it is on the device, else a buffer that stands for
 * it. */
typedef struct kugel__loan {
  kugel__mem mem; /* what kernels get */
  kugel__device *device;
  void *host; /* NULL: the array is on the device itself */
  size_t bytes;
  int use;
} kugel__loan;

/* Lends a C-order array (checked before) for reading, writing or both; host arrays that are read are uploaded
 * on the queue, which is the device's own if NULL. */
kugel_status kugel__lend(kugel__device *dev, const kugel_array *a, int use, kugel_queue *queue,
                         kugel__loan *out);

/* Ends n loans of a call that ended with `s`: what was written goes back to host arrays, and if there were
 * any, the queue is waited for. Yields s, or the failure of a copy. Loans that are all zero are passed over.
 */
kugel_status kugel__lend_end(int n, kugel__loan *loans, kugel_queue *queue, kugel_status s);

/* Device memory for a short time, contents unspecified; blocks that were put back are kept for the next call.
 * Put back once the work that uses it is done. */
kugel_status kugel__device_scratch_get(kugel__device *dev, size_t bytes, void **out);
void kugel__device_scratch_put(kugel__device *dev, void *ptr, size_t bytes);
/* Frees the blocks that are kept, and tables that no plan uses. */
void kugel__device_trim(kugel__device *dev);

#endif
