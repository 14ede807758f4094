/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies from the memory of one device to that of another. */
#ifndef KUGEL_DEVICE_PEER_H
#define KUGEL_DEVICE_PEER_H

#include "device/device.h"

/* Queued, on a queue of `from` to send, of `to` to fetch. Between devices that cannot copy so, by way of the
 * host; a fetch then waits for nothing that `from` still has to do. */
kugel_status kugel__device_send(kugel__device *from, kugel__mem src, kugel__device *to, kugel__mem dst,
                                size_t bytes, kugel_queue *queue);
kugel_status kugel__device_fetch(kugel__device *from, kugel__mem src, kugel__device *to, kugel__mem dst,
                                 size_t bytes, kugel_queue *queue);

#endif
