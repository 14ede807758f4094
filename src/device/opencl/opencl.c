/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenCL devices: description, context, memory, queues, events. Devices are counted through all platforms. */
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "device/opencl/opencl.h"

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 64 };

static struct {
  int count;
  cl_platform_id platform[MAX_DEVICES];
  cl_device_id device[MAX_DEVICES];
} found;

/* ---- what there is ------------------------------------------------------------------------------------- */

static void find_devices(void)
{
  const kugel__opencl_api *cl = kugel__opencl();
  cl_platform_id platforms[MAX_PLATFORMS];
  cl_uint n = 0;
  if (*cl->why || cl->clGetPlatformIDs(MAX_PLATFORMS, platforms, &n))
    return;
  for (cl_uint p = 0; p < n && p < MAX_PLATFORMS; p++) {
    cl_uint room = (cl_uint)(MAX_DEVICES - found.count), here = 0;
    if (!room ||
        cl->clGetDeviceIDs(platforms[p], KUGEL__CL_ALL_DEVICES, room, found.device + found.count, &here))
      continue;
    for (cl_uint d = 0; d < here && d < room; d++)
      found.platform[found.count++] = platforms[p];
  }
}

static int devices(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_devices);
  return found.count;
}

static int count(void)
{
  int n = devices();
  return n ? n : 1; // one that is not available and says why
}

static uint64_t number(cl_device_id d, cl_uint what, size_t size)
{
  uint64_t value = 0; // little endian: a shorter one fills the low bytes
  return kugel__opencl()->clGetDeviceInfo(d, what, size, &value, NULL) ? 0 : value;
}

static void text(cl_device_id d, cl_uint what, char *out, size_t room)
{
  char whole[1024] = "";
  if (kugel__opencl()->clGetDeviceInfo(d, what, sizeof whole, whole, NULL))
    *whole = 0;
  whole[sizeof whole - 1] = 0;
  snprintf(out, room, "%s", whole);
}

static const char pocl_name[] = "Portable Computing Language";

/* PoCL 5.0 keeps loaded kernels by hash and local size alone, for all devices of a process, and aborts when the
 * second device lets go of one (pocl_release_dlhandle_cache; right from 6.0 on). */
const char *kugel__opencl_fault(const char *platform, const char *driver, bool first)
{
  bool pocl = !strcmp(platform, pocl_name);
  if (pocl && !first && !strncmp(driver, "5.", 2))
    return "PoCL 5 ends a process that uses several of its devices: use the first alone, or install PoCL 6.0 "
           "or later";
  return "";
}

static kugel_status describe(int id, kugel_device_info *info)
{
  info->device = (kugel_device){KUGEL_OPENCL, id};
  if (!devices()) {
    snprintf(info->name, sizeof info->name, "opencl");
    snprintf(info->why, sizeof info->why, "%s",
             *kugel__opencl()->why
                 ? kugel__opencl()->why
                 : "no OpenCL driver is installed: install your GPU's, or pocl-opencl-icd for the CPU");
    return KUGEL_OK;
  }
  cl_device_id d = found.device[id];
  char platform[64] = "", version[64], driver[64];
  kugel__opencl()->clGetPlatformInfo(found.platform[id], CL_PLATFORM_NAME, sizeof platform - 1, platform,
                                     NULL);
  text(d, CL_DEVICE_VERSION, version, sizeof version);
  text(d, CL_DRIVER_VERSION, driver, sizeof driver);
  snprintf(info->name, sizeof info->name, "opencl:%d", id);
  text(d, CL_DEVICE_NAME, info->description, sizeof info->description);
  info->memory = number(d, CL_DEVICE_GLOBAL_MEM_SIZE, 8);
  info->max_alloc = number(d, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8);
  info->units = (int32_t)number(d, CL_DEVICE_MAX_COMPUTE_UNITS, 4);
  info->is_gpu = (number(d, CL_DEVICE_TYPE, 8) & CL_DEVICE_TYPE_GPU) != 0;
  info->lanes = 1; // subgroups are not relied on
  info->max_threads = (int32_t)number(d, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
  info->shared_bytes = number(d, CL_DEVICE_LOCAL_MEM_SIZE, 8);
  info->cache_bytes = number(d, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8);
  info->fp64 = number(d, CL_DEVICE_DOUBLE_FP_CONFIG, 8) != 0;
  info->available = number(d, CL_DEVICE_AVAILABLE, 4) != 0;
  info->kernels = number(d, CL_DEVICE_COMPILER_AVAILABLE, 4) != 0;
  bool first = id == 0 || found.platform[id - 1] != found.platform[id];
  const char *fault = kugel__opencl_fault(platform, driver, first);
  if (!info->available)
    snprintf(info->why, sizeof info->why, "the driver says that the device is not available");
  else if (*fault) {
    info->available = info->kernels = false;
    snprintf(info->why, sizeof info->why, "%s", fault);
  } else if (!info->kernels)
    snprintf(info->why, sizeof info->why, "the driver has no compiler");
  snprintf(info->driver, sizeof info->driver, "%.40s, driver %.40s", platform, driver);
  snprintf(info->compiler, sizeof info->compiler, "%.90s", version);
  return KUGEL_OK;
}

int64_t kugel__opencl_least_align = 1;

/* ---- open and close ------------------------------------------------------------------------------------ */

static kugel_status opencl_open(int id, void *native, kugel__device **out)
{
  kugel__opencl_device *d = kugel__calloc(NULL, sizeof *d);
  KUGEL_CHECK(d, KUGEL_ENOMEM, "no memory for a device of %zu bytes", sizeof *d);
  kugel__device *dev = &d->base;
  dev->info.size = sizeof dev->info;
  kugel_status s = describe(id, &dev->info);
  if (!s && !dev->info.available)
    s = KUGEL_FAIL(KUGEL_ENOTSUP, "device opencl:%d is not available: %s", id, dev->info.why);
  cl_int error = 0;
  cl_command_queue queue = NULL;
  d->device = found.device[id];
  if (!s && native)
    d->context = native;
  else if (!s)
    s = CL_MAKE(dev, d->context, error, clCreateContext(NULL, 1, &d->device, NULL, NULL, &error));
  if (!s)
    s = CL_MAKE(dev, queue, error,
                clCreateCommandQueue(d->context, d->device, CL_QUEUE_PROFILING_ENABLE, &error));
  if (s) {
    if (d->context && !native)
      kugel__opencl()->clReleaseContext(d->context);
    kugel__free(NULL, d);
    return s;
  }
  dev->queue.native = queue;
  pthread_mutex_init(&d->parts_lock, NULL);
  d->offset_align = (size_t)kugel__max(kugel__opencl_least_align,
                                       (int64_t)number(d->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 4) / 8);
  snprintf(dev->identity, sizeof dev->identity, "opencl %s, %s, %s", dev->info.description, dev->info.driver,
           dev->info.compiler);
  dev->miscompiles = strstr(dev->info.driver, "Portable Computing Language, driver 5.") != NULL;
  d->holds = !strncmp(dev->info.driver, "NVIDIA", 6);
  dev->keeps_programs = !strncmp(dev->info.driver, pocl_name, sizeof pocl_name - 1);
  *out = dev;
  return KUGEL_OK;
}

static void opencl_close(kugel__device *dev)
{
  kugel__opencl_device *d = kugel__opencl_of(dev);
  const kugel__opencl_api *cl = kugel__opencl();
  kugel__opencl_finish(dev, dev->queue.native);
  kugel__opencl_parts_close(dev);
  cl->clReleaseCommandQueue(dev->queue.native);
  if (!dev->native)
    cl->clReleaseContext(d->context);
  kugel__free(NULL, d);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static kugel_status memory(kugel__device *dev, uint64_t *free_bytes, uint64_t *total)
{
  *free_bytes = *total = dev->info.memory;
  return KUGEL_OK;
}

static kugel_status opencl_alloc(kugel__device *dev, kugel__place place, size_t bytes, void **out)
{
  if (place == KUGEL__PINNED) { // OpenCL drivers stage by themselves
    KUGEL_ALLOC(NULL, *out, bytes);
    return KUGEL_OK;
  }
  KUGEL_CHECK(bytes <= dev->info.max_alloc, KUGEL_ENOMEM,
              "%s: a buffer of %zu bytes, its largest has %llu: use smaller batches", dev->info.name, bytes,
              (unsigned long long)dev->info.max_alloc);
  cl_mem mem = kugel__opencl_take_idle(dev, bytes);
  cl_int error = 0;
  if (mem) {
    *out = mem;
    return KUGEL_OK;
  }
  KUGEL_TRY(CL_MAKE(dev, mem, error,
                    clCreateBuffer(kugel__opencl_of(dev)->context, CL_MEM_READ_WRITE, bytes, NULL, &error)));
  *out = mem;
  return KUGEL_OK;
}

static void opencl_free(kugel__device *dev, kugel__place place, void *ptr)
{
  if (place == KUGEL__PINNED)
    kugel__free(NULL, ptr);
  else
    kugel__opencl_free(dev, ptr);
}

static kugel_status copy(kugel__device *dev, kugel__way way, kugel__mem dst, kugel__mem src, size_t bytes,
                         kugel_queue *queue)
{
  cl_command_queue q = queue->native;
  if (way == KUGEL__UPLOAD)
    KUGEL_TRY(CL(dev, clEnqueueWriteBuffer(q, dst.base, 0, dst.offset, bytes, (char *)src.base + src.offset,
                                           0, NULL, NULL)));
  else if (way == KUGEL__DOWNLOAD)
    KUGEL_TRY(CL(dev, clEnqueueReadBuffer(q, src.base, 0, src.offset, bytes, (char *)dst.base + dst.offset, 0,
                                          NULL, NULL)));
  else
    KUGEL_TRY(
        CL(dev, clEnqueueCopyBuffer(q, src.base, dst.base, src.offset, dst.offset, bytes, 0, NULL, NULL)));
  kugel_status s = CL(dev, clFlush(q));
  if (s) // the copy is under way, and callers free what it reads
    kugel__opencl()->clFinish(q);
  return s;
}

static kugel_status fill(kugel__device *dev, kugel__mem dst, int byte, size_t bytes, kugel_queue *queue)
{
  unsigned char pattern = (unsigned char)byte;
  return CL(dev, clEnqueueFillBuffer(queue->native, dst.base, &pattern, 1, dst.offset, bytes, 0, NULL, NULL));
}

/* ---- queues and events --------------------------------------------------------------------------------- */

static kugel_status queue_open(kugel__device *dev, void *native, kugel_queue *queue)
{
  kugel__opencl_device *d = kugel__opencl_of(dev);
  cl_command_queue q = native;
  if (!queue->foreign) {
    cl_int error = 0;
    KUGEL_TRY(CL_MAKE(dev, q, error,
                      clCreateCommandQueue(d->context, d->device, CL_QUEUE_PROFILING_ENABLE, &error)));
  } else {
    KUGEL_CHECK(native, KUGEL_EINVAL, "native is NULL: pass a cl_command_queue");
    cl_context context = NULL;
    KUGEL_TRY(CL(dev, clGetCommandQueueInfo(q, CL_QUEUE_CONTEXT, sizeof context, &context, NULL)));
    KUGEL_CHECK(
        context == d->context, KUGEL_EINVAL,
        "the queue belongs to another cl_context than %s: make the kugel_ctx with native_context set to it",
        dev->info.name);
  }
  queue->native = q;
  return KUGEL_OK;
}

static void queue_close(kugel_queue *queue)
{
  kugel__opencl_finish(queue->device, queue->native);
  if (!queue->foreign)
    kugel__opencl()->clReleaseCommandQueue(queue->native);
}

static kugel_status wait_queue(kugel_queue *queue)
{
  bool fault = kugel__device_fault(); // a failure that is not real still waits: callers free what copies read
  cl_int result = kugel__opencl_finish(queue->device, queue->native);
  return kugel__opencl_status(queue->device, fault ? KUGEL__CL_INJECTED : result, "clFinish");
}

struct kugel__event {
  kugel__device *device;
  cl_event native;
};

static void event_free(kugel__event *event)
{
  if (!event)
    return;
  if (event->native)
    kugel__opencl()->clReleaseEvent(event->native);
  kugel__free(NULL, event);
}

static kugel_status record(kugel_queue *queue, kugel__event **out)
{
  kugel__event *e = kugel__calloc(NULL, sizeof *e);
  KUGEL_CHECK(e, KUGEL_ENOMEM, "no memory for an event of %zu bytes", sizeof *e);
  e->device = queue->device;
  kugel_status s = CL(e->device, clEnqueueMarkerWithWaitList(queue->native, 0, NULL, &e->native));
  if (!s)
    s = CL(e->device, clFlush(queue->native));
  if (s) {
    event_free(e);
    return s;
  }
  *out = e;
  return KUGEL_OK;
}

static kugel_status after(kugel_queue *queue, kugel__event *event)
{
  return queue ? CL(queue->device, clEnqueueBarrierWithWaitList(queue->native, 1, &event->native, NULL))
               : CL(event->device, clWaitForEvents(1, &event->native));
}

static kugel_status passed(kugel__event *event, bool *done)
{
  cl_int status = 0; // negative: the work of the queue failed
  KUGEL_TRY(CL(event->device, clGetEventInfo(event->native, CL_EVENT_STATUS, sizeof status, &status, NULL)));
  *done = status <= CL_COMPLETE;
  return status < 0 ? kugel__opencl_status(event->device, status, "a command of the queue") : KUGEL_OK;
}

static kugel_status when(kugel__event *event, cl_ulong *nanoseconds)
{
  KUGEL_TRY(CL(event->device, clWaitForEvents(1, &event->native)));
  return CL(event->device, clGetEventProfilingInfo(event->native, CL_PROFILING_COMMAND_END,
                                                   sizeof *nanoseconds, nanoseconds, NULL));
}

static kugel_status elapsed(kugel__event *from, kugel__event *to, double *seconds)
{
  cl_ulong a = 0, b = 0;
  KUGEL_TRY(when(from, &a));
  KUGEL_TRY(when(to, &b));
  *seconds = 1e-9 * (double)(int64_t)(b - a);
  return KUGEL_OK;
}

const kugel__device_ops kugel__device_opencl = {
    .name = "opencl",
    .type = KUGEL_OPENCL,
    .count = count,
    .describe = describe,
    .open = opencl_open,
    .close = opencl_close,
    .memory = memory,
    .alloc = opencl_alloc,
    .free = opencl_free,
    .copy = copy,
    .fill = fill,
    .queue_open = queue_open,
    .queue_close = queue_close,
    .wait = wait_queue,
    .record = record,
    .after = after,
    .passed = passed,
    .elapsed = elapsed,
    .event_free = event_free,
    .load = kugel__opencl_load,
    .unload = kugel__opencl_unload,
    .kernel = kugel__opencl_kernel,
    .launch = kugel__opencl_launch,
};
