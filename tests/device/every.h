/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests that run on every device present. KUGEL_TEST_NEED=cuda,opencl says which kinds must be there: a
 * program in which every_device never returned one of a kind that is named fails. */
#ifndef KUGEL_TESTS_EVERY_H
#define KUGEL_TESTS_EVERY_H

#include <stdbool.h>
#include <kugel/device.h>
#include "check.h"
#include "device/cuda/api.h"
#include "device/opencl/opencl.h"

/* Compiler threads of OpenCL drivers are not known to TSan, and the drivers themselves keep memory. */
#if defined(__SANITIZE_THREAD__)
#  define EVERY_NO_OPENCL 1
#elif defined(__has_feature)
#  if __has_feature(thread_sanitizer)
#    define EVERY_NO_OPENCL 1
#  endif
#endif
#ifndef EVERY_NO_OPENCL
#  define EVERY_NO_OPENCL 0
#endif
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
  return "leak:libpocl\nleak:libLLVM\nleak:libOpenCL\nleak:libclang\nleak:libcuda\nleak:libnvrtc\n";
}

/* An allocation that is refused is what some tests want. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "allocator_may_return_null=1";
}
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
  return "allocator_may_return_null=1";
}

static unsigned every__used; // bit DLPack type of each kind that every_device returned

static int every__missing(void)
{
  static const struct {
    const char *name;
    int type;
  } kinds[] = {{"cuda", KUGEL_CUDA}, {"opencl", KUGEL_OPENCL}};
  const char *list = getenv("KUGEL_TEST_NEED");
  int missing = 0;
  for (size_t length; list && *list; list += length + (list[length] == ',')) {
    unsigned kind = 0;
    length = strcspn(list, ",");
    while (kind < 2 && (strlen(kinds[kind].name) != length || strncmp(kinds[kind].name, list, length) != 0))
      kind++;
    if (kind == 2)
      printf("  KUGEL_TEST_NEED names \"%.*s\": must be a list of cuda, opencl\n", (int)length, list);
    else if (!(every__used >> kinds[kind].type & 1))
      printf("  KUGEL_TEST_NEED names %s, but no device of that kind was usable here%s\n", kinds[kind].name,
             EVERY_NO_OPENCL && kinds[kind].type == KUGEL_OPENCL ? ": OpenCL drivers do not run under TSan"
                                                                 : "");
    missing += kind == 2 || !(every__used >> kinds[kind].type & 1);
  }
  return missing;
}

__attribute__((constructor)) static void every__open(void)
{
  check__.at_end = every__missing;
  kugel__opencl_least_align = 512; // what passes on PoCL then passes on stricter devices
}

/* Whether KUGEL_TEST_DEVICE, a device's name or its kind ("cuda:0", "opencl"), or nothing, asks for it. */
static inline bool every__asked(const char *name)
{
  const char *only = getenv("KUGEL_TEST_DEVICE");
  size_t n = only ? strlen(only) : 0;
  return !n || (!strncmp(name, only, n) && (!name[n] || name[n] == ':'));
}

/* Fills *info for the next device that is available (with kernels if asked) from *index on; false: no more.
 * Devices that are not available are told in the log. */
static inline bool every_device(int *index, bool kernels, kugel_device_info *info)
{
  for (; *index < kugel_device_count(); ++*index) {
    *info = (kugel_device_info){.size = sizeof *info};
    if (kugel_device_describe(*index, info) || !every__asked(info->name))
      continue;
    bool usable = info->available && (info->kernels || !kernels);
    if (info->device.type == KUGEL_OPENCL && EVERY_NO_OPENCL)
      usable = false;
    if (usable) {
      every__used |= 1u << info->device.type;
      return ++*index, true;
    }
    printf("  without %s: %s\n", info->name,
           *info->why ? info->why : "it runs no kernels from text, or not here");
  }
  return false;
}

/* PoCL 5, which compiles some kernels to wrong code: their plans refuse it. */
static inline bool every_miscompiles(const kugel_device_info *info)
{
  return strstr(info->driver, "Portable Computing Language, driver 5.") != NULL;
}

static int every__whole = -1;
/* Whether it is an OpenCL device that a context may have twice; the first such is remembered. */
static inline bool every_several(const kugel_device_info *info)
{
  bool several = info->device.type == KUGEL_OPENCL && !every_miscompiles(info);
  if (several && every__whole < 0)
    every__whole = (int)info->device.id;
  return several;
}

/* Fills twins ("0,1") with two OpenCL devices of one make, whose results have the same bits; `last` is of the caller. */
static inline void every_twins(const kugel_device_info *info, kugel_device_info *last, char *twins)
{
  if (info->device.type == KUGEL_OPENCL && !*twins && last->size && !strcmp(info->driver, last->driver) &&
      info->is_gpu == last->is_gpu)
    snprintf(twins, 16, "%d,%d", (int)last->device.id, (int)info->device.id);
  if (info->device.type == KUGEL_OPENCL)
    *last = *info;
}

/* "opencl:0,1", of twins that every_twins found, or one that every_several found twice. */
static inline const char *every_pair(const char *twins)
{
  static char name[48];
  if (*twins)
    snprintf(name, sizeof name, "opencl:%s", twins);
  else
    snprintf(name, sizeof name, "opencl:%d,%d", every__whole, every__whole);
  return name;
}

/* "0,0,0" */
static inline const char *every_thrice(void)
{
  static char ids[48];
  snprintf(ids, sizeof ids, "%d,%d,%d", every__whole, every__whole, every__whole);
  return ids;
}

/* Whether a test runs all of its variants on a device. On a CPU, where OpenCL's compiler takes a second per kernel, precisions
 * and kinds take turns, unless KUGEL_TEST_ALL is set. */
static inline bool every_variant(const kugel_device_info *info)
{
  return info->is_gpu || getenv("KUGEL_TEST_ALL") != NULL;
}

/* What this process has spent on kernels so far. */
static inline kugel_kernels_info every_kernels(void)
{
  kugel_kernels_info info = {.size = sizeof info};
  CHECK_OK(kugel_kernels_get_info(&info));
  return info;
}

/* "cuda:0: what", kept for the whole run. */
static inline const char *every_title(const kugel_device_info *info, const char *what)
{
  static char titles[256][160];
  static int n;
  char *t = titles[n++ % 256];
  snprintf(t, sizeof titles[0], "%s: %.80s", info->name, what);
  return t;
}

/* A context on the device, opened by a case of its own; NULL if that fails. */
static inline kugel_ctx *every_context(const kugel_device_info *info)
{
  kugel_ctx *ctx = NULL;
  CASE(every_title(info, "opens"))
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info->name}, &ctx));
  return ctx;
}

/* The same for plans that refuse such devices; NULL there, and a case that is skipped. */
static inline kugel_ctx *every_sound_context(const kugel_device_info *info)
{
  if (!every_miscompiles(info))
    return every_context(info);
  CASE(every_title(info, "opens")) SKIP("PoCL 5");
  return NULL;
}

/* Keeps the driver's own context of a CUDA device while `hold`: to make one takes a third of a second, too
 * long for tests that open a device hundreds of times. */
static inline void every_hold(const kugel_device_info *info, bool hold)
{
  CUcontext context;
  if (info->device.type != KUGEL_CUDA)
    return;
  if (hold)
    kugel__cuda()->cuDevicePrimaryCtxRetain(&context, info->device.id);
  else
    kugel__cuda()->cuDevicePrimaryCtxRelease(info->device.id);
}

/* The first device that runs kernels, for benchmarks that only have to run; NULL: none does. */
static inline const char *every_first(void)
{
  static char name[32];
  kugel_device_info info;
  for (int at = 0; every_device(&at, true, &info);)
    if (!every_miscompiles(&info)) {
      snprintf(name, sizeof name, "%.31s", info.name);
      return name;
    }
  return NULL;
}

#endif
