/* SPDX-License-Identifier: BSD-3-Clause */
/* Queues and contexts that another library made: a cl_context with its queue, a CUDA stream of the primary
 * context. */
#include "device/device.h"
#include "device/every.h"
#include "device/opencl/api.h"

enum { N = 10000 };

static kugel_status open_context(const char *device, void *native, kugel_ctx **ctx)
{
  return kugel_ctx_create(
      &(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device, .native_context = native}, ctx);
}

/* Work on a wrapped queue; the queue's owner may wait for it. */
static void use(kugel_ctx *ctx, kugel_queue *queue)
{
  static unsigned char a[N], b[N];
  void *d = NULL;
  for (int i = 0; i < N; i++)
    a[i] = (unsigned char)(i * 7);
  CHECK_OK(kugel_device_alloc(ctx, N, &d));
  CHECK_OK(kugel_device_fill(ctx, d, 0, 9, N, queue));
  CHECK_OK(kugel_device_upload(ctx, d, 100, a + 100, N - 100, queue));
  CHECK_OK(kugel_device_download(ctx, b, d, 0, N, queue));
  CHECK_OK(kugel_queue_wait(queue));
  CHECK(b[0] == 9 && b[99] == 9 && !memcmp(a + 100, b + 100, N - 100));
  kugel_device_free(ctx, d);
}

/* A queue of one context is refused by another. */
static void check_mixed(kugel_ctx *ctx, kugel_queue *queue)
{
  void *p = NULL;
  unsigned char byte = 1;
  CHECK_IS(kugel_device_upload(NULL, &byte, 0, &byte, 1, queue), KUGEL_EINVAL); // the CPU
  CHECK(strstr(kugel_last_error(), "queue belongs to"));
  CHECK_OK(kugel_device_alloc(ctx, 64, &p));
  kugel_device_free(ctx, p);
}

static void check_opencl(const kugel_device_info *info)
{
  const kugel__opencl_api *cl = kugel__opencl();
  cl_platform_id platform = NULL;
  cl_device_id device = NULL;
  cl_uint n = 0;
  cl_int error = 0;
  if (cl->clGetPlatformIDs(1, &platform, &n) ||
      cl->clGetDeviceIDs(platform, KUGEL__CL_ALL_DEVICES, 1, &device, &n)) {
    CHECK_FAIL("no first OpenCL device");
    return;
  }
  cl_context theirs = cl->clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  cl_command_queue native = cl->clCreateCommandQueue(theirs, device, 0, &error);
  kugel_ctx *ctx = NULL, *own = NULL, *same = NULL;
  kugel_queue *queue = NULL, *none = NULL;
  CHECK_OK(open_context(info->name, theirs, &ctx));
  CHECK_OK(open_context(info->name, theirs, &same));
  CHECK_OK(open_context(info->name, NULL, &own));
  CHECK(kugel__ctx_device(ctx) == kugel__ctx_device(same) &&
        kugel__ctx_device(ctx) != kugel__ctx_device(own));
  CHECK_OK(kugel_queue_wrap(ctx, native, &queue));
  use(ctx, queue);
  check_mixed(ctx, queue);
  CHECK_IS(kugel_queue_wrap(own, native, &none), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "native_context"));
  CHECK_IS(kugel_queue_wrap(own, NULL, &none), KUGEL_EINVAL);
  CHECK(!none);
  kugel__event *e = NULL, *f = NULL; // a queue without profiling has no times, and says so
  double seconds = 0;
  kugel__device *dev = kugel__ctx_device(ctx);
  CHECK_OK(dev->ops->record(queue, &e));
  CHECK_OK(dev->ops->record(queue, &f));
  CHECK_IS(dev->ops->elapsed(e, f, &seconds), KUGEL_EDEVICE);
  CHECK(strstr(kugel_last_error(), "PROFILING"));
  dev->ops->event_free(e);
  dev->ops->event_free(f);
  kugel_queue_destroy(queue);
  kugel_ctx_destroy(ctx);
  kugel_ctx_destroy(same);
  kugel_ctx_destroy(own);
  CHECK(!cl->clFinish(native)); // still theirs
  CHECK(!cl->clReleaseCommandQueue(native) && !cl->clReleaseContext(theirs));
}

static void check_cuda(const kugel_device_info *info)
{
  const kugel__cuda_api *cu = kugel__cuda();
  CUcontext theirs = NULL, popped = NULL;
  CUstream stream = NULL;
  CHECK(!cu->cuDevicePrimaryCtxRetain(&theirs, info->device.id));
  CHECK(!cu->cuCtxPushCurrent(theirs) && !cu->cuStreamCreate(&stream, 1) && !cu->cuCtxPopCurrent(&popped));
  kugel_ctx *ctx = NULL;
  kugel_queue *queue = NULL, *first = NULL;
  for (int pass = 0; pass < 2; pass++) { // the primary context by itself, and given by name
    CHECK_OK(open_context(info->name, pass ? theirs : NULL, &ctx));
    CHECK_OK(kugel_queue_wrap(ctx, stream, &queue));
    CHECK_OK(kugel_queue_wrap(ctx, NULL, &first)); // CUDA's default stream
    use(ctx, queue);
    use(ctx, first);
    check_mixed(ctx, queue);
    kugel_queue_destroy(queue);
    kugel_queue_destroy(first);
    kugel_ctx_destroy(ctx);
  }
  CHECK(!cu->cuCtxPushCurrent(theirs) && !cu->cuStreamSynchronize(stream) && !cu->cuStreamDestroy(stream));
  CHECK(!cu->cuCtxPopCurrent(&popped) && !cu->cuDevicePrimaryCtxRelease(info->device.id));
}

int main(void)
{
  kugel_device_info info;
  CASE("the CPU has no native context")
  {
    kugel_ctx *ctx = NULL;
    CHECK_IS(open_context("cpu", &ctx, &ctx), KUGEL_EINVAL);
  }
  for (int i = 0; every_device(&i, false, &info);) {
    if (info.device.type == KUGEL_OPENCL && info.device.id == 0)
      CASE(every_title(&info, "foreign context and queue")) check_opencl(&info);
    if (info.device.type == KUGEL_CUDA)
      CASE(every_title(&info, "foreign stream")) check_cuda(&info);
  }
  END();
}
