/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory of a device the library holds. */
#ifndef KUGEL_DEVICE_USAGE_H
#define KUGEL_DEVICE_USAGE_H

#include "device/device.h"

/* Enters a block into the device's ledger, and takes it out. */
kugel_status kugel__usage_add(kugel__device *dev, const void *ptr, size_t bytes);
void kugel__usage_remove(kugel__device *dev, const void *ptr);

/* The size of a block in the ledger, 0 for what is not there. */
size_t kugel__usage_bytes(kugel__device *dev, const void *ptr);

/* Bytes held now, and the most since the device was opened. Either may be NULL. */
void kugel__usage(kugel__device *dev, uint64_t *now, uint64_t *peak);

#endif
