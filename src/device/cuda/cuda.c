/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA devices: description, context, memory, queues, events. The device's primary context is used, the one
 * that PyTorch, CuPy and the CUDA runtime use too, so that pointers and streams are shared with them. */
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "device/cuda/cuda.h"

/* ---- what there is ------------------------------------------------------------------------------------- */

static int devices(void)
{
  int n = 0;
  const kugel__cuda_api *cu = kugel__cuda();
  return !*cu->why && !cu->cuDeviceGetCount(&n) && n > 0 ? n : 0;
}

static int count(void)
{
  int n = devices();
  return n ? n : 1; // one that is not available and says why
}

static int attribute(CUdevice device, int id)
{
  int value = 0;
  return kugel__cuda()->cuDeviceGetAttribute(&value, id, device) ? 0 : value;
}

static kugel_status describe(int id, kugel_device_info *info)
{
  const kugel__cuda_api *cu = kugel__cuda();
  info->device = (kugel_device){KUGEL_CUDA, id};
  info->is_gpu = 1;
  if (!devices()) {
    snprintf(info->name, sizeof info->name, "cuda");
    snprintf(info->why, sizeof info->why, "%s",
             *cu->why ? cu->why
                      : "the NVIDIA driver reports no device: check nvidia-smi and CUDA_VISIBLE_DEVICES");
    return KUGEL_OK;
  }
  CUdevice d = 0;
  size_t memory = 0;
  snprintf(info->name, sizeof info->name, "cuda:%d", id);
  KUGEL_TRY(CU(NULL, cuDeviceGet(&d, id)));
  KUGEL_TRY(CU(NULL, cuDeviceGetName(info->description, sizeof info->description, d)));
  KUGEL_TRY(CU(NULL, cuDeviceTotalMem(&memory, d)));
  info->memory = info->max_alloc = memory;
  info->units = attribute(d, CU_MULTIPROCESSORS);
  info->available = 1;
  info->lanes = attribute(d, CU_WARP_SIZE);
  info->max_threads = attribute(d, CU_MAX_THREADS_PER_BLOCK);
  info->shared_bytes =
      (uint64_t)kugel__max(attribute(d, CU_SHARED_PER_BLOCK), attribute(d, CU_SHARED_PER_BLOCK_OPTIN));
  info->cache_bytes = (uint64_t)attribute(d, CU_L2_BYTES);
  info->bandwidth =
      2e3 * attribute(d, CU_MEMORY_CLOCK_KHZ) * attribute(d, CU_MEMORY_BUS_BITS) / 8; // two edges a clock
  info->fp64 = 1;
  info->compute_capability = 10 * attribute(d, CU_CAPABILITY_MAJOR) + attribute(d, CU_CAPABILITY_MINOR);
  snprintf(info->driver, sizeof info->driver, "CUDA driver %d.%d", cu->version / 1000,
           cu->version % 1000 / 10);
  const char *why;
  int nvrtc = kugel__nvrtc_version(&why);
  info->kernels = nvrtc != 0;
  if (nvrtc)
    snprintf(info->compiler, sizeof info->compiler, "NVRTC %d.%d", nvrtc / 100, nvrtc % 100);
  else
    snprintf(info->why, sizeof info->why, "%s", why);
  return KUGEL_OK;
}

/* ---- open and close ------------------------------------------------------------------------------------ */

static kugel_status cuda_open(int id, void *native, kugel__device **out)
{
  kugel__cuda_device *d = kugel__calloc(NULL, sizeof *d);
  KUGEL_CHECK(d, KUGEL_ENOMEM, "no memory for a device of %zu bytes", sizeof *d);
  kugel__device *dev = &d->base;
  dev->info.size = sizeof dev->info;
  kugel_status s = describe(id, &dev->info);
  if (!s && !dev->info.available)
    s = KUGEL_FAIL(KUGEL_ENOTSUP, "device cuda:%d is not available: %s", id, dev->info.why);
  if (!s)
    s = CU(NULL, cuDeviceGet(&d->device, id));
  bool retained = false;
  if (!s && native)
    d->context = native;
  else if (!s)
    retained = !(s = CU(NULL, cuDevicePrimaryCtxRetain(&d->context, d->device)));
  CUstream stream = NULL;
  if (!s)
    s = CU_INSIDE(dev, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING_FLAG));
  if (s) {
    if (retained)
      kugel__cuda()->cuDevicePrimaryCtxRelease(d->device);
    kugel__free(NULL, d);
    return s;
  }
  dev->queue.native = stream;
  d->arch = dev->info.compute_capability;
  dev->card =
      1 + ((uint64_t)attribute(d->device, CU_PCI_DOMAIN) << 16 |
           (uint64_t)attribute(d->device, CU_PCI_BUS) << 8 | (uint64_t)attribute(d->device, CU_PCI_DEVICE));
  pthread_mutex_init(&d->staging_lock, NULL);
  /* Machine code of NVRTC depends on the architecture and NVRTC alone; PTX also on the driver. */
  snprintf(dev->identity, sizeof dev->identity, "cuda sm_%d, %s, %s", d->arch, dev->info.driver,
           dev->info.compiler);
  *out = dev;
  return KUGEL_OK;
}

static void cuda_close(kugel__device *dev)
{
  kugel__cuda_device *d = kugel__cuda_of(dev);
  const kugel__cuda_api *cu = kugel__cuda();
  if (!dev->lost && !cu->cuCtxPushCurrent(d->context)) {
    cu->cuStreamSynchronize(dev->queue.native);
    kugel__cuda_free_staging(d);
    cu->cuStreamDestroy(dev->queue.native);
    kugel__cuda_leave(KUGEL_OK);
  }
  if (!dev->native)
    cu->cuDevicePrimaryCtxRelease(d->device);
  pthread_mutex_destroy(&d->staging_lock);
  kugel__free(NULL, d);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static kugel_status memory(kugel__device *dev, uint64_t *free_bytes, uint64_t *total)
{
  size_t f = 0, t = 0;
  KUGEL_TRY(CU_INSIDE(dev, cuMemGetInfo(&f, &t)));
  *free_bytes = f;
  *total = t;
  return KUGEL_OK;
}

static kugel_status cuda_alloc(kugel__device *dev, kugel__place place, size_t bytes, void **out)
{
  if (place == KUGEL__PINNED)
    return CU_INSIDE(dev, cuMemAllocHost(out, bytes));
  CUdeviceptr p = 0;
  KUGEL_TRY(CU_INSIDE(dev, cuMemAlloc(&p, bytes)));
  *out = (void *)(uintptr_t)p;
  return KUGEL_OK;
}

static void cuda_free(kugel__device *dev, kugel__place place, void *ptr)
{
  const kugel__cuda_api *cu = kugel__cuda();
  if (cu->cuCtxPushCurrent(kugel__cuda_of(dev)->context))
    return;
  if (place == KUGEL__PINNED)
    cu->cuMemFreeHost(ptr);
  else
    cu->cuMemFree((CUdeviceptr)(uintptr_t)ptr);
  kugel__cuda_leave(KUGEL_OK);
}

static kugel_status fill(kugel__device *dev, kugel__mem dst, int byte, size_t bytes, kugel_queue *queue)
{
  CUdeviceptr p = (CUdeviceptr)(uintptr_t)dst.base + dst.offset;
  return CU_INSIDE(dev, cuMemsetD8Async(p, (unsigned char)byte, bytes, queue->native));
}

/* ---- queues and events --------------------------------------------------------------------------------- */

static kugel_status queue_open(kugel__device *dev, void *native, kugel_queue *queue)
{
  CUstream stream = native;
  if (queue->urgent) {
    KUGEL_TRY(CU_INSIDE(dev, cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING_FLAG, -1)));
  } else if (!queue->foreign) {
    KUGEL_TRY(CU_INSIDE(dev, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING_FLAG)));
  } else {
    CUcontext context = NULL;
    KUGEL_TRY(CU_INSIDE(dev, cuStreamGetCtx(stream, &context)));
    KUGEL_CHECK(context == kugel__cuda_of(dev)->context, KUGEL_EINVAL,
                "the stream belongs to another device or CUDA context than %s: make the kugel_ctx for that "
                "device, or "
                "with native_context",
                dev->info.name);
  }
  queue->native = stream;
  return KUGEL_OK;
}

static void queue_close(kugel_queue *queue)
{
  const kugel__cuda_api *cu = kugel__cuda();
  if (cu->cuCtxPushCurrent(kugel__cuda_of(queue->device)->context))
    return;
  cu->cuStreamSynchronize(queue->native);
  if (!queue->foreign)
    cu->cuStreamDestroy(queue->native);
  kugel__cuda_leave(KUGEL_OK);
}

static kugel_status wait_queue(kugel_queue *queue)
{
  return CU_INSIDE(queue->device, cuStreamSynchronize(queue->native));
}

struct kugel__event {
  kugel__device *device;
  CUevent native;
  unsigned long long capture; /* into a graph, while which it was recorded; 0: none */
};

/* The number of the capture that the queue takes part in; 0: none. The context is current. */
static unsigned long long capture_of(const kugel_queue *queue)
{
  const kugel__cuda_api *cu = kugel__cuda();
  unsigned long long id = 0;
  int status = 0; // 1: active
  if (!cu->cuStreamGetCaptureInfo ||
      cu->cuStreamGetCaptureInfo(queue->native, &status, &id, NULL, NULL, NULL) || status != 1)
    return 0;
  return id;
}

static void event_free(kugel__event *event)
{
  const kugel__cuda_api *cu = kugel__cuda();
  if (!event)
    return;
  if (event->native && !cu->cuCtxPushCurrent(kugel__cuda_of(event->device)->context)) {
    cu->cuEventDestroy(event->native);
    kugel__cuda_leave(KUGEL_OK);
  }
  kugel__free(NULL, event);
}

static kugel_status record(kugel_queue *queue, kugel__event **out)
{
  kugel__event *e = kugel__calloc(NULL, sizeof *e);
  KUGEL_CHECK(e, KUGEL_ENOMEM, "no memory for an event of %zu bytes", sizeof *e);
  e->device = queue->device;
  kugel_status s = CU_INSIDE(queue->device, cuEventCreate(&e->native, 0));
  if (!s)
    s = kugel__cuda_enter(queue->device);
  if (!s) {
    e->capture = capture_of(queue);
    s = kugel__cuda_leave(CU(queue->device, cuEventRecord(e->native, queue->native)));
  }
  if (s) {
    event_free(e);
    return s;
  }
  *out = e;
  return KUGEL_OK;
}

/* An event from within a capture marks nothing outside it, and the reverse: there the order is up to whoever
 * captures and launches the graph. */
static kugel_status after(kugel_queue *queue, kugel__event *event)
{
  if (!queue)
    return event->capture ? KUGEL_OK : CU_INSIDE(event->device, cuEventSynchronize(event->native));
  KUGEL_TRY(kugel__cuda_enter(queue->device));
  unsigned long long mine = capture_of(queue);
  if (mine && mine != event->capture)
    return kugel__cuda_leave(KUGEL_OK);
  if (mine || !event->capture)
    return kugel__cuda_leave(CU(queue->device, cuStreamWaitEvent(queue->native, event->native, 0)));
  CUresult r = kugel__cuda()->cuStreamWaitEvent(queue->native, event->native, 0); // joins, or it has ended
  if (r == CUDA_ERROR_CAPTURED_EVENT ||
      r == CUDA_ERROR_INVALID_VALUE) // of a capture that has ended: by driver
    return kugel__cuda_leave(KUGEL_OK);
  return kugel__cuda_leave(kugel__cuda_status(queue->device, r, "cuStreamWaitEvent"));
}

static kugel_status passed(kugel__event *event, bool *done)
{
  KUGEL_TRY(kugel__cuda_enter(event->device));
  CUresult r = CUDA_SUCCESS;
  if (kugel__device_fault())
    r = KUGEL__CU_INJECTED;
  else if (!event->capture)
    r = kugel__cuda()->cuEventQuery(event->native);
  *done = r != CUDA_ERROR_NOT_READY;
  return kugel__cuda_leave(*done ? kugel__cuda_status(event->device, r, "cuEventQuery") : KUGEL_OK);
}

static kugel_status elapsed(kugel__event *from, kugel__event *to, double *seconds)
{
  float ms = 0;
  KUGEL_TRY(CU_INSIDE(from->device, cuEventSynchronize(from->native)));
  KUGEL_TRY(CU_INSIDE(to->device, cuEventSynchronize(to->native)));
  KUGEL_TRY(CU_INSIDE(from->device, cuEventElapsedTime(&ms, from->native, to->native)));
  *seconds = 1e-3 * ms;
  return KUGEL_OK;
}

const kugel__device_ops kugel__device_cuda = {
    .name = "cuda",
    .type = KUGEL_CUDA,
    .count = count,
    .describe = describe,
    .open = cuda_open,
    .close = cuda_close,
    .memory = memory,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .copy = kugel__cuda_copy,
    .copy_rows = kugel__cuda_copy_rows,
    .pinned = kugel__cuda_pinned,
    .copy_peer = kugel__cuda_copy_peer,
    .link_open = kugel__cuda_link_open,
    .link_close = kugel__cuda_link_close,
    .link_name = kugel__cuda_link_name,
    .link_join = kugel__cuda_link_join,
    .link_parcels = kugel__cuda_link_parcels,
    .exchange = kugel__cuda_exchange,
    .fill = fill,
    .queue_open = queue_open,
    .queue_close = queue_close,
    .wait = wait_queue,
    .record = record,
    .after = after,
    .passed = passed,
    .elapsed = elapsed,
    .event_free = event_free,
    .load = kugel__cuda_load,
    .unload = kugel__cuda_unload,
    .kernel = kugel__cuda_kernel,
    .launch = kugel__cuda_launch,
};
