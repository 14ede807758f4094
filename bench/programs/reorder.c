/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates of reorders on every GPU, device memory to device memory, by the device's
 * events, beside a plain copy of the same maps. --smoke: small maps, on every device. */
#include "codegen/module.h"
#include "device/device.h"
#include "clock.h"
#include "device/every.h"
#include <kugel/healpix.h>

enum { WARM = 2, RUNS = 9 };

typedef struct job {
  kugel_ctx *ctx;
  int64_t nside, batch;
  kugel_dtype type;
  kugel_order from, to;
  kugel_array in, out;
} job;

// Bytes read and written a second.
static double rate(const job *j)
{
  kugel__device *d = kugel__ctx_device(j->ctx);
  double t[RUNS] = {0}, seconds = 0;
  for (int i = -WARM; i < RUNS; i++) {
    kugel__event *from = NULL, *to = NULL;
    CHECK_OK(d->ops->record(&d->queue, &from));
    CHECK_OK(kugel_healpix_reorder(j->ctx, j->nside, j->from, j->to, &j->in, &j->out, &d->queue));
    CHECK_OK(d->ops->record(&d->queue, &to));
    CHECK_OK(d->ops->elapsed(from, to, &seconds));
    d->ops->event_free(from);
    d->ops->event_free(to);
    if (i >= 0)
      t[i] = seconds;
  }
  qsort(t, RUNS, sizeof *t, by_value);
  return 2.0 * 12 * (double)(j->nside * j->nside * j->batch) * j->type.bits / 8 / t[RUNS / 2];
}

static void measure(kugel_ctx *ctx, const kugel_device_info *info, int64_t nside, int64_t batch,
                    kugel_dtype type)
{
  static const struct {
    const char *name;
    kugel_order from, to;
  } ways[] = {{"ring to nested", KUGEL_ORDER_RING, KUGEL_ORDER_NESTED},
              {"nested to ring", KUGEL_ORDER_NESTED, KUGEL_ORDER_RING},
              {"ring to flat", KUGEL_ORDER_RING, KUGEL_ORDER_FLAT_N_CLOCKWISE},
              {"nested to flat", KUGEL_ORDER_NESTED, KUGEL_ORDER_FLAT_S}};
  int64_t shape[2] = {batch, 12 * nside * nside};
  job j = {ctx, nside, batch, type, KUGEL_ORDER_RING, KUGEL_ORDER_RING, {0}, {0}};
  size_t bytes = (size_t)(shape[0] * shape[1]) * type.bits / 8;
  j.in = j.out = (kugel_array){.device = info->device, .ndim = 2, .dtype = type, .shape = shape};
  CHECK_OK(kugel_device_alloc(ctx, bytes, &j.in.data));
  CHECK_OK(kugel_device_alloc(ctx, bytes, &j.out.data));
  CHECK_OK(kugel_device_fill(ctx, j.in.data, 0, 1, bytes, NULL));
  double copy = rate(&j);
  for (int k = 0; k < 4; k++) {
    j.from = ways[k].from;
    j.to = ways[k].to;
    double r = rate(&j);
    printf("%6lld %6lld %6d  %-14s %8.0f %8.0f %7.0f%%\n", (long long)nside, (long long)batch, type.bits,
           ways[k].name, r * 1e-9, copy * 1e-9, 100 * r / copy);
  }
  kugel_device_free(ctx, j.in.data);
  kugel_device_free(ctx, j.out.data);
}

int main(int argc, char **argv)
{
  const bool smoke = argc > 1 && !strcmp(argv[1], "--smoke");
  const int64_t least = smoke ? 16 : 1024, most = smoke ? 16 : 2048;
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    CASE(every_title(&info, "speed"))
    {
      kugel_ctx *ctx = NULL;
      if (!info.is_gpu && !smoke)
        SKIP("not a GPU");
      else {
        CHECK_OK(
            kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
        printf(" nside  batch   bits  from, to           GB/s     copy  of copy\n");
        for (int64_t nside = least; nside <= most; nside *= 2)
          for (int64_t batch = 1; batch <= 8; batch *= 8) {
            measure(ctx, &info, nside, batch, KUGEL_F64);
            measure(ctx, &info, nside, batch, KUGEL_F32);
          }
        kugel_ctx_destroy(ctx);
      }
    }
  }
  END();
}
