/* SPDX-License-Identifier: BSD-3-Clause */
/* A device that is lost in the middle of work: a status, a sentence, nothing hangs. Runs on the stand-in
 * driver only (fake_cuda.c): a real device is not to be lost for a test. */
#include "check.h"
#include "device/device.h"

static kugel_status open_context(kugel_ctx **ctx)
{
  return kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = "cuda:0"}, ctx);
}

int main(void)
{
  CASE("work, contexts and queues of a lost device")
  {
    if (!getenv("KUGEL_FAKE_CUDA")) {
      SKIP("needs the stand-in driver of fake_cuda.c");
      END();
    }
    setenv("KUGEL_FAKE_CUDA_LOSE", "3", 1);
    kugel_ctx *ctx = NULL, *second = NULL;
    kugel_queue *queue = NULL, *none = NULL;
    void *p = NULL, *q = NULL;
    CHECK_OK(open_context(&ctx));
    CHECK_OK(kugel_queue_create(ctx, &queue));
    CHECK_OK(kugel_device_alloc(ctx, 1000, &p));
    CHECK_OK(kugel_device_fill(ctx, p, 0, 1, 1000, NULL));
    CHECK_OK(kugel_device_fill(ctx, p, 0, 1, 1000, queue));
    CHECK_OK(kugel_queue_wait(queue));
    CHECK_IS(kugel_device_fill(ctx, p, 0, 1, 1000, NULL), KUGEL_EDEVICE);
    CHECK(strstr(kugel_last_error(), "cuStreamSynchronize failed with CUDA_ERROR_ILLEGAL_ADDRESS"));
    CHECK_IS(kugel_device_fill(ctx, p, 0, 1, 1000, queue), KUGEL_EDEVICE);
    CHECK(strstr(kugel_last_error(), "was lost"));
    CHECK_IS(kugel_device_alloc(ctx, 1000, &q), KUGEL_EDEVICE);
    CHECK_IS(kugel_queue_create(ctx, &none), KUGEL_EDEVICE);
    CHECK_IS(kugel_queue_wait(queue), KUGEL_EDEVICE);
    CHECK_IS(open_context(&second), KUGEL_EDEVICE); // opened anew: the driver itself refuses
    CHECK(!q && !none && !second);
    kugel_device_free(ctx, p);
    kugel_queue_destroy(queue);
    kugel_ctx_destroy(ctx);
  }
  END();
}
