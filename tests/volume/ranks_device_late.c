/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. ISA: once */
/* Volumes over ranks with devices whose queues run at any pace: the bits stay, so each queue waits for all that it needs. */
#include "device/every.h"
#include "device/late.h"
#include "volume/ranks_device.h"
#include <unistd.h>

enum { SEEDS = 6 };
static const int64_t tile[3] = {2, 11, 14};

// Batches: rooms of one image are those of the next.
static void check(const char *device, setup t)
{
  t.device = device;
  t.batch = 2;
  begin(&t);
  size_t bytes = MOST * 16 * (size_t)batch_of(&t);
  late.seed = 0;
  if (run(&t, 1)) {
    memcpy(t.first, t.got, bytes);
    memcpy(t.first_back, t.back, bytes);
  }
  for (late.seed = 1; late.seed <= SEEDS; late.seed++) {
    int ranks = 1 + (int)late.seed % 3;
    if (run(&t, ranks) && (memcmp(t.first, t.got, bytes) || memcmp(t.first_back, t.back, bytes)))
      CHECK_FAIL("seed %u, %d ranks: results differ from those without delays", late.seed, ranks);
  }
  late.seed = 0;
  finish(&t);
}

int main(void)
{
  kugel_device_info info;
  alarm(600); // a rank that waits for ever ends the test
  for (int at = 0; every_device(&at, true, &info);) {
    if (every_miscompiles(&info))
      continue;
    kugel_ctx *ctx;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    late_begin(ctx);
    kugel_volume_opts o = {.extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_REFLECT, .kernels = 2};
    CASE(every_title(&info, "tiles"))
    {
      o.engine = KUGEL_VOLUME_TILES;
      o.tile = tile;
      check(info.name, (setup){.opts = o, .truth.k = {4, 5, 3}, .in = KUGEL_F64, .out = KUGEL_F64});
    }
    CASE(every_title(&info, "the whole transform and its adjoint"))
    {
      o.engine = KUGEL_VOLUME_GLOBAL;
      check(info.name,
            (setup){.opts = o, .truth.k = {4, 5, 3}, .in = KUGEL_F64, .out = KUGEL_F64, .there = true});
    }
    late_end();
    kugel_ctx_destroy(ctx);
  }
  END();
}
