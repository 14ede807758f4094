/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots of tiles on devices, and the image that a run may keep there, within what a plan may take of a device. */
#ifndef KUGEL_VOLUME_LANE_SLOTS_H
#define KUGEL_VOLUME_LANE_SLOTS_H

#include "device/lanes.h"
#include "volume/gpu/lane_image.h"

typedef struct kugel__lane_slots {
  kugel__device_lanes *lanes;
  kugel__lane_bytes bytes; /* of a slot; all 0 before the first run */
  int count;               /* of slots that have memory */
  int64_t room;            /* bytes of each device for slots and the image */
  kugel__lane_image image;
} kugel__lane_slots;

bool kugel__lane_slots_fit(const kugel__lane_slots *s, int slots, const kugel__lane_bytes *bytes,
                           size_t image);
/* Slots of at least these bytes, beside an image of so many. What earlier runs needed is kept if there is room for both, else slots
 * are made anew, as many as there is room for: KUGEL_ENOMEM if that is none. */
kugel_status kugel__lane_slots_make(kugel_ctx *ctx, kugel__lane_slots *s, const kugel__lane_bytes *want,
                                    size_t image);

#endif
