/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of a volume of rank 0, shared among the ranks that serve (comm/lead.h): rounds of one tile per rank. Each tile is
 * convolved as rank 0 would convolve it, from the same voxels: hence the same bits for any number of ranks. */
#ifndef KUGEL_VOLUME_RANKS_H
#define KUGEL_VOLUME_RANKS_H

#include "comm/lead.h"
#include "volume/gpu/lane_tiles.h"

typedef struct kugel__volume_led kugel__volume_led;

/* Of a plan of tiles on the CPU, in a context that leads. */
kugel_status kugel__volume_be_led(kugel_volume *p, const kugel_array *kernel);
void kugel__volume_unlead(kugel_volume *p);
/* Tiles between `tile` and `done` of a run. */
int kugel__volume_led_under_way(const kugel_volume *p);
/* As kugel__lane_tiles_run; not adjoint. */
kugel_status kugel__volume_led_run(const kugel_volume *p, const kugel__lane_work *work,
                                   atomic_llong *clipped);

extern const kugel__lead_kind kugel__volume_served;

#endif
