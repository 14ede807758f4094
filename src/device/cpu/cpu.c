/* SPDX-License-Identifier: BSD-3-Clause */
/* The CPU as a device: host memory, synchronous. */
#include <stdio.h>
#include <string.h>
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
  info->memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  info->units = kugel_get_num_threads();
  info->available = 1;
  return KUGEL_OK;
}

static kugel_status cpu_alloc(kugel_ctx *ctx, size_t bytes, void **out)
{
  KUGEL_ALLOC(ctx, *out, bytes);
  return KUGEL_OK;
}

static kugel_status copy(void *dst, const void *src, size_t bytes, kugel_queue *queue)
{
  (void)queue;
  memcpy(dst, src, bytes);
  return KUGEL_OK;
}

static kugel_status fill(void *dst, int byte, size_t bytes, kugel_queue *queue)
{
  (void)queue;
  memset(dst, byte, bytes);
  return KUGEL_OK;
}

static kugel_status wait_queue(kugel_queue *queue)
{
  (void)queue;
  return KUGEL_OK;
}

const kugel__device_ops kugel__device_cpu = {
    .name = "cpu",
    .count = count,
    .describe = describe,
    .alloc = cpu_alloc,
    .free = kugel__free,
    .upload = copy,
    .download = copy,
    .fill = fill,
    .wait = wait_queue,
};
