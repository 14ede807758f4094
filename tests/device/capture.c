/* SPDX-License-Identifier: BSD-3-Clause */
/* Events and captures into CUDA graphs: a wait joins the event's own capture and is left out where it would
 * cross the border of one. Runs on the stand-in driver only (fake_cuda.c), which refuses what a driver does.
 */
#include <dlfcn.h>
#include "check.h"
#include "core/ctx.h"
#include "device/device.h"

static int (*capture)(void *stream, int on);

static bool load_driver(void)
{
  void *driver = getenv("KUGEL_FAKE_CUDA") ? dlopen(getenv("KUGEL_CUDA"), RTLD_NOW) : NULL;
  *(void **)&capture = driver ? dlsym(driver, "fake_capture") : NULL;
  return capture != NULL;
}

int main(void)
{
  CASE("events at the borders of a capture")
  {
    if (!load_driver()) {
      SKIP("needs the stand-in driver of fake_cuda.c");
      END();
    }
    kugel_ctx *ctx = NULL;
    kugel_queue *main_queue = NULL, *side = NULL;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = "cuda:0"}, &ctx));
    CHECK_OK(kugel_queue_create(ctx, &main_queue));
    CHECK_OK(kugel_queue_create(ctx, &side));
    const kugel__device_ops *ops = kugel__ctx_device(ctx)->ops;
    kugel__event *before = NULL, *fork = NULL, *join = NULL, *last = NULL;
    CHECK_OK(ops->record(main_queue, &before));
    CHECK(capture(main_queue->native, 1) == 0);
    CHECK_OK(ops->after(main_queue, before)); // from outside: left out
    CHECK_OK(ops->record(main_queue, &fork));
    CHECK_OK(ops->after(side, fork)); // joins the capture
    CHECK_OK(ops->record(side, &join));
    CHECK_OK(ops->after(main_queue, join));
    CHECK_OK(ops->record(main_queue, &last));
    CHECK(capture(main_queue->native, 0) == 0);
    CHECK_OK(ops->after(main_queue, last)); // from inside: left out
    CHECK_OK(ops->after(NULL, last));
    CHECK(capture(main_queue->native, 1) == 0);
    CHECK_OK(ops->after(main_queue, last)); // of another capture
    CHECK(capture(main_queue->native, 0) == 0);
    CHECK_OK(ops->after(main_queue, before));
    ops->event_free(before);
    ops->event_free(fork);
    ops->event_free(join);
    ops->event_free(last);
    kugel_queue_destroy(side);
    kugel_queue_destroy(main_queue);
    kugel_ctx_destroy(ctx);
  }
  END();
}
