/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU as a device: host memory, synchronous, no kernels from text. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "core/alloc.h"
#include "device/device.h"

static int count(void)
{
  return 1;
}

static kugel_status describe(int id, kugel_device_info *info)
{
  (void)id;
  snprintf(info->name, sizeof info->name, "cpu");
  char model[96] = "processor", line[256];
  FILE *f = fopen("/proc/cpuinfo", "r");
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "model name : %95[^\n]", model) == 1)
      break;
  if (f)
    fclose(f);
  snprintf(info->description, sizeof info->description, "%s, %s", model, kugel_isa());
  info->device = (kugel_device){KUGEL_CPU, 0};
  info->memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  info->units = kugel_get_num_threads();
  info->available = 1;
  info->lanes = 1;
  info->max_threads = 1;
  long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  info->cache_bytes = cache > 0 ? (uint64_t)cache : 0;
  info->max_alloc = info->memory;
  info->fp64 = 1;
  return KUGEL_OK;
}

static kugel_status cpu_open(int id, void *native, kugel__device **out)
{
  static kugel__device cpu;
  (void)native;
  *out = &cpu;
  cpu.info.size = sizeof cpu.info;
  snprintf(cpu.identity, sizeof cpu.identity, "cpu");
  return describe(id, &cpu.info);
}

static void cpu_close(kugel__device *dev)
{
  (void)dev;
}

static kugel_status memory(kugel__device *dev, uint64_t *free_bytes, uint64_t *total)
{
  *free_bytes = (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  *total = dev->info.memory;
  return KUGEL_OK;
}

static kugel_status cpu_alloc(kugel__device *dev, kugel__place place, size_t bytes, void **out)
{
  (void)dev;
  (void)place;
  KUGEL_ALLOC(NULL, *out, bytes);
  return KUGEL_OK;
}

static void cpu_free(kugel__device *dev, kugel__place place, void *ptr)
{
  (void)dev;
  (void)place;
  kugel__free(NULL, ptr);
}

static kugel_status copy(kugel__device *dev, kugel__way way, kugel__mem dst, kugel__mem src, size_t bytes,
                         kugel_queue *queue)
{
  (void)dev;
  (void)way;
  (void)queue;
  memmove((char *)dst.base + dst.offset, (char *)src.base + src.offset, bytes);
  return KUGEL_OK;
}

static kugel_status fill(kugel__device *dev, kugel__mem dst, int byte, size_t bytes, kugel_queue *queue)
{
  (void)dev;
  (void)queue;
  memset((char *)dst.base + dst.offset, byte, bytes);
  return KUGEL_OK;
}

/* ---- queues and events: all work is done when its call returns ------------------------------------------
 */

static kugel_status queue_open(kugel__device *dev, void *native, kugel_queue *queue)
{
  (void)dev;
  (void)native;
  KUGEL_CHECK(!queue->foreign, KUGEL_ENOTSUP, "the CPU has no queues to wrap: pass NULL as queue");
  return KUGEL_OK;
}

static void queue_close(kugel_queue *queue)
{
  (void)queue;
}

static kugel_status wait_queue(kugel_queue *queue)
{
  (void)queue;
  return KUGEL_OK;
}

struct kugel__event {
  struct timespec when;
};

static kugel_status record(kugel_queue *queue, kugel__event **out)
{
  (void)queue;
  KUGEL_ALLOC(NULL, *out, sizeof **out);
  clock_gettime(CLOCK_MONOTONIC, &(*out)->when);
  return KUGEL_OK;
}

static kugel_status after(kugel_queue *queue, kugel__event *event)
{
  (void)queue;
  (void)event;
  return KUGEL_OK;
}

static kugel_status passed(kugel__event *event, bool *done)
{
  (void)event;
  *done = true;
  return KUGEL_OK;
}

static kugel_status elapsed(kugel__event *from, kugel__event *to, double *seconds)
{
  *seconds =
      (double)(to->when.tv_sec - from->when.tv_sec) + 1e-9 * (double)(to->when.tv_nsec - from->when.tv_nsec);
  return KUGEL_OK;
}

static void event_free(kugel__event *event)
{
  kugel__free(NULL, event);
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

static kugel_status no_kernels(void)
{
  return KUGEL_FAIL(KUGEL_ENOTSUP, "the CPU device compiles no kernels at run time: use cuda:N or opencl:N");
}

static kugel_status load(kugel__device *dev, const kugel__program_spec *spec, kugel__program **out,
                         void **binary, size_t *bytes)
{
  (void)dev;
  (void)spec;
  (void)out;
  (void)binary;
  (void)bytes;
  return no_kernels();
}

static void unload(kugel__program *program)
{
  (void)program;
}

static kugel_status kernel(kugel__program *program, const char *name, kugel__kernel **out,
                           kugel__kernel_info *info)
{
  (void)program;
  (void)name;
  (void)out;
  (void)info;
  return no_kernels();
}

static kugel_status launch(kugel__kernel *k, const kugel__grid *grid, int nargs, const kugel__arg *args,
                           kugel_queue *queue)
{
  (void)k;
  (void)grid;
  (void)nargs;
  (void)args;
  (void)queue;
  return no_kernels();
}

const kugel__device_ops kugel__device_cpu = {
    .name = "cpu",
    .type = KUGEL_CPU,
    .count = count,
    .describe = describe,
    .open = cpu_open,
    .close = cpu_close,
    .memory = memory,
    .alloc = cpu_alloc,
    .free = cpu_free,
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
    .load = load,
    .unload = unload,
    .kernel = kernel,
    .launch = launch,
};
