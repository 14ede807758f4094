/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of host and device in one call; buffers kept for the next. */
#include "core/array.h"
#include "device/every.h"
#include "device/lend.h"

enum { N = 300000 };

static double host[N], back[N];

/* out = in on the device, as a plan does it. */
static kugel_status copy_call(kugel__device *dev, const kugel_array *in, const kugel_array *out,
                              kugel_queue *queue)
{
  kugel__loan loans[3] = {{{NULL, 0}, NULL, NULL, 0, 0}};
  kugel_status s = kugel__lend(dev, in, KUGEL__READ, queue, &loans[0]);
  if (!s)
    s = kugel__lend(dev, out, KUGEL__WRITE, queue, &loans[1]);
  if (!s)
    s = kugel__device_copy(dev, KUGEL__WITHIN, loans[1].mem, loans[0].mem, loans[0].bytes, queue);
  return kugel__lend_end(3, loans, queue, s);
}

static void check_calls(kugel_ctx *ctx)
{
  kugel__device *dev = kugel__ctx_device(ctx);
  kugel_queue *queue = NULL;
  void *d = NULL;
  int64_t shape[2] = {100, N / 100}, lead = -1;
  kugel_array a = *KUGEL_ARRAY(host, KUGEL_F64, 100, N / 100), b = a, on_device = a;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_device_alloc(ctx, N * sizeof *host + 1024, &d));
  a.shape = b.shape = on_device.shape = shape;
  b.data = back;
  on_device.data = d;
  on_device.byte_offset = 1024;
  on_device.device = dev->info.device;
  CHECK_OK(kugel__array_check_on(&dev->info.device, &on_device, "x", KUGEL_F64, 2, shape, &lead));
  for (int pass = 0; pass < 4; pass++) {
    for (int i = 0; i < N; i++) {
      host[i] = i + 0.5 * pass;
      back[i] = -1;
    }
    kugel_queue *q = pass % 2 ? queue : NULL;
    if (pass < 2) { // host to host
      CHECK_OK(copy_call(dev, &a, &b, q));
    } else { // by way of an array on the device
      CHECK_OK(copy_call(dev, &a, &on_device, q));
      CHECK_OK(copy_call(dev, &on_device, &b, q));
    }
    CHECK(!memcmp(host, back, sizeof host));
  }
  on_device.device.id += 1;
  CHECK_IS(kugel__array_check_on(&dev->info.device, &on_device, "x", KUGEL_F64, 2, shape, &lead),
           KUGEL_EDEVICE);
  CHECK_IS(copy_call(dev, &a, &on_device, NULL), KUGEL_EDEVICE);
  on_device.device = (kugel_device){77, 0};
  CHECK_IS(copy_call(dev, &a, &on_device, NULL), KUGEL_EDEVICE);
  shape[0] = 0; // nothing to copy
  CHECK_OK(copy_call(dev, &a, &b, NULL));
  kugel_device_free(ctx, d);
  kugel_queue_destroy(queue);
}

static void check_kept(kugel_ctx *ctx)
{
  kugel__device *dev = kugel__ctx_device(ctx);
  void *p[12] = {NULL}, *again = NULL;
  for (int i = 0; i < 12; i++)
    CHECK_OK(kugel__device_scratch_get(dev, (size_t)(i + 1) << 17, &p[i]));
  for (int i = 0; i < 12; i++)
    kugel__device_scratch_put(dev, p[i], (size_t)(i + 1) << 17);
  CHECK_OK(kugel__device_scratch_get(dev, (size_t)12 << 17, &again));
  CHECK(again == p[11]);
  kugel__device_scratch_put(dev, again, (size_t)12 << 17);
  CHECK_OK(kugel__device_scratch_get(dev, 100, &again)); // none so small is kept
  kugel__device_scratch_put(dev, again, 100);
  kugel_ctx_trim(ctx);
  int left = 0;
  for (int i = 0; i < KUGEL__KEPT_BLOCKS; i++)
    left += dev->kept[i].ptr != NULL;
  CHECK(!left);
}

static void check_faults(kugel_ctx *ctx)
{
  kugel__device *dev = kugel__ctx_device(ctx);
  kugel_array a = *KUGEL_ARRAY(host, KUGEL_F64, N), b = *KUGEL_ARRAY(back, KUGEL_F64, N);
  int64_t n = N;
  a.shape = b.shape = &n;
  kugel_ctx_trim(ctx);
  kugel__fault_device(0);
  CHECK_OK(copy_call(dev, &a, &b, NULL));
  int64_t calls = kugel__fault_device(0);
  for (int64_t at = 1; at <= calls; at++) {
    kugel_ctx_trim(ctx);
    kugel__fault_device(at);
    CHECK_IS(copy_call(dev, &a, &b, NULL), KUGEL_EDEVICE);
    kugel__fault_device(0);
  }
  CHECK_OK(copy_call(dev, &a, &b, NULL));
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, false, &info);) {
    kugel_ctx *ctx = NULL;
    if (info.device.type == KUGEL_CPU) // plans on the CPU use their arrays as they are
      continue;
    CASE(every_title(&info, "loans"))
    {
      CHECK_OK(
          kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
      if (ctx)
        check_calls(ctx);
    }
    if (!ctx)
      continue;
    CASE(every_title(&info, "kept buffers")) check_kept(ctx);
    CASE(every_title(&info, "each call fails")) check_faults(ctx);
    kugel_ctx_destroy(ctx);
  }
  CASE("without a device")
  {
    int64_t lead = -1;
    kugel_array a = *KUGEL_ARRAY(host, KUGEL_F64, N);
    int64_t n = N;
    a.shape = &n;
    a.device = (kugel_device){KUGEL_CUDA, 0};
    CHECK_IS(kugel__array_check(&a, "x", KUGEL_F64, 1, &n, &lead), KUGEL_EDEVICE);
  }
  END();
}
