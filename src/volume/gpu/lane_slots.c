/* SPDX-License-Identifier: BSD-3-Clause */
#include "volume/gpu/lane_slots.h"
#include <string.h>
#include "volume/gpu/lane_sizes.h"

static size_t larger(size_t a, size_t b)
{
  return a > b ? a : b;
}

bool kugel__lane_slots_fit(const kugel__lane_slots *s, int slots, const kugel__lane_bytes *bytes,
                           size_t image)
{
  return slots * (int64_t)(bytes->in + bytes->out) + (int64_t)image <= s->room;
}

kugel_status kugel__lane_slots_make(kugel_ctx *ctx, kugel__lane_slots *s, const kugel__lane_bytes *want,
                                    size_t image)
{
  const kugel__lane_bytes *have = &s->bytes;
  kugel__lane_bytes all = {.in = larger(want->in, have->in),
                           .out = larger(want->out, have->out),
                           .host_in = larger(want->host_in, have->host_in),
                           .host_out = larger(want->host_out, have->host_out)};
  int slots = KUGEL__LANE_TILES_SLOTS;
  if (!kugel__lane_slots_fit(s, slots, &all, larger(image, s->image.bytes))) {
    all = *want;
    while (slots > 0 && !kugel__lane_slots_fit(s, slots, &all, image))
      slots--;
    KUGEL_CHECK(slots > 0, KUGEL_ENOMEM,
                "a tile's voxels take %zu bytes of the device, the limit leaves %lld: set image_dtype, "
                "results_dtype and adjoint of kugel_volume_opts as the plan is used, or raise the limit",
                all.in + all.out + image, (long long)s->room);
    if (s->image.bytes > image)
      kugel__lane_image_close(&s->image);
  }
  if (slots == s->count && !memcmp(&all, have, sizeof all))
    return KUGEL_OK;
  kugel__device_lanes *fresh;
  KUGEL_TRY(kugel__device_lanes_create(ctx, slots, &fresh));
  kugel__device_lanes_destroy(s->lanes);
  s->lanes = fresh;
  s->count = 0;
  for (int i = 0; i < fresh->count; i++)
    KUGEL_TRY(kugel__lane_room(&fresh->lane[i], &all));
  s->bytes = all;
  s->count = slots;
  return KUGEL_OK;
}
