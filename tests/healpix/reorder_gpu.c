/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Reorders on every device present: every pair of orders against pixel numbers, elements of every size, tiles
 * cut short, batches, device memory, queues, failures. */
#include "check.h"
#include "device/device.h"
#include "device/every.h"
#include "healpix/orders.h"

// Memory of the device and a queue.
static void check_device_memory(kugel_ctx *ctx, const kugel_device_info *info)
{
  maps m = maps_make(64, 3);
  size_t bytes = (size_t)(m.npix * m.batch) * 4;
  void *in, *out;
  kugel_queue *queue;
  CHECK_OK(kugel_device_alloc(ctx, bytes, &in));
  CHECK_OK(kugel_device_alloc(ctx, bytes, &out));
  CHECK_OK(kugel_queue_create(ctx, &queue));
  kugel_array *from = KUGEL_ARRAY(in, KUGEL_F32, 3, m.npix), *to = KUGEL_ARRAY(out, KUGEL_F32, 3, m.npix);
  from->device = to->device = info->device;
  CHECK_OK(kugel_device_upload(ctx, in, 0, m.in, bytes, queue));
  CHECK_OK(kugel_healpix_reorder(ctx, 64, KUGEL_ORDER_RING, KUGEL_ORDER_NESTED, from, to, queue));
  CHECK_OK(kugel_healpix_reorder(ctx, 64, KUGEL_ORDER_NESTED, KUGEL_ORDER_FLAT_W, to, from, queue));
  CHECK_OK(kugel_device_download(ctx, m.out, in, 0, bytes, queue));
  CHECK_OK(kugel_queue_wait(queue));
  check_moved(&m, KUGEL_ORDER_RING, KUGEL_ORDER_FLAT_W, 4);
  CHECK_IS(kugel_healpix_reorder(NULL, 64, KUGEL_ORDER_RING, KUGEL_ORDER_NESTED, from, to, NULL),
           KUGEL_EDEVICE);
  kugel__fault_device(1);
  CHECK_IS(kugel_healpix_reorder(ctx, 64, KUGEL_ORDER_RING, KUGEL_ORDER_NESTED, from, to, queue),
           KUGEL_EDEVICE);
  kugel__fault_device(0);
  kugel_queue_destroy(queue);
  kugel_device_free(ctx, in);
  kugel_device_free(ctx, out);
  maps_free(&m);
}

static void check_device(const kugel_device_info *info)
{
  kugel_ctx *ctx;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info->name}, &ctx));
  check_nside(ctx, 64, 2, KUGEL_F64, true); // kernels of every kind
  check_nside(ctx, 1, 1, KUGEL_F64, false);
  check_nside(ctx, 2, 3, KUGEL_F64, false);
  check_nside(ctx, 256, 1, KUGEL_F64, false); // several tiles a face
  check_nside(ctx, 100, 1, KUGEL_F64, true);  // tiles cut short
  for (int t = 0; t < 5; t++)
    check_nside(ctx, 128, 2, types[t], false);
  check_device_memory(ctx, info);
  kugel_ctx_destroy(ctx);
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);) {
    CASE(every_title(&info, "every pair of orders"))
    check_device(&info);
  }
  END();
}
