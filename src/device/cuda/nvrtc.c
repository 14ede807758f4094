/* SPDX-License-Identifier: BSD-3-Clause */
/* NVRTC: CUDA text to machine code in this process. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "device/cuda/api.h"

typedef struct nvrtcProgram_st *nvrtcProgram;

#define NVRTC_LIST(X)                                                                                        \
  X(nvrtcVersion, (int *major, int *minor))                                                                  \
  X(nvrtcCreateProgram, (nvrtcProgram * program, const char *text, const char *name, int headers,            \
                         const char *const *header_texts, const char *const *header_names))                  \
  X(nvrtcDestroyProgram, (nvrtcProgram * program))                                                           \
  X(nvrtcCompileProgram, (nvrtcProgram program, int count, const char *const *options))                      \
  X(nvrtcGetCUBINSize, (nvrtcProgram program, size_t * bytes))                                               \
  X(nvrtcGetCUBIN, (nvrtcProgram program, char *out))                                                        \
  X(nvrtcGetPTXSize, (nvrtcProgram program, size_t * bytes))                                                 \
  X(nvrtcGetPTX, (nvrtcProgram program, char *out))                                                          \
  X(nvrtcGetProgramLogSize, (nvrtcProgram program, size_t * bytes))                                          \
  X(nvrtcGetProgramLog, (nvrtcProgram program, char *out))                                                   \
  X(nvrtcGetNumSupportedArchs, (int *count))                                                                 \
  X(nvrtcGetSupportedArchs, (int *archs))

static struct {
#define MEMBER_(name, params) int(*name) params;
  NVRTC_LIST(MEMBER_)
#undef MEMBER_
  const char *(*nvrtcGetErrorString)(int);
  int version;
  int archs[64], count; // rising
  char why[160];
} rtc;

/* ---- opening ------------------------------------------------------------------------------------------- */

static void *open_in(const char *folder, const char *name)
{
  char path[1024];
  bool fits = snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path;
  return fits ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

/* Machine code of a newer major version than the driver's may not load: the driver's comes first. */
static void *find_library(void)
{
  const char *named = secure_getenv("KUGEL_NVRTC"), *cuda = secure_getenv("CUDA_HOME"),
             *last = secure_getenv("KUGEL_NVRTC_FOLDER");
  if (named && *named)
    return dlopen(named, RTLD_NOW | RTLD_LOCAL);
  if (!cuda || !*cuda)
    cuda = secure_getenv("CUDA_PATH");
  const char *names[] = {"libnvrtc.so.13", "libnvrtc.so.12"};
  if (kugel__cuda()->version / 1000 == 12) {
    names[0] = "libnvrtc.so.12";
    names[1] = "libnvrtc.so.13";
  }
  for (int i = 0; i < 2; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library && cuda && *cuda) {
      char folder[1024];
      if (snprintf(folder, sizeof folder, "%s/lib64", cuda) < (int)sizeof folder)
        library = open_in(folder, names[i]);
    }
    if (!library)
      library = open_in("/usr/local/cuda/lib64", names[i]);
    if (!library && last && *last) // the Python package names NVIDIA's packages here
      library = open_in(last, names[i]);
    if (library)
      return library;
  }
  return NULL;
}

static void open_nvrtc(void)
{
  void *library = find_library();
  if (!library) {
    const char *named = secure_getenv("KUGEL_NVRTC");
    if (named && *named)
      snprintf(rtc.why, sizeof rtc.why, "KUGEL_NVRTC is \"%.90s\", which cannot be loaded", named);
    else
      snprintf(rtc.why, sizeof rtc.why, "libnvrtc was not found: install it or set KUGEL_NVRTC to its path");
    return;
  }
  const char *missing = NULL;
#define FIND_(name, params)                                                                                  \
  if (!(*(void **)(void *)&rtc.name = dlsym(library, #name)))                                                \
    missing = #name;
  NVRTC_LIST(FIND_)
  FIND_(nvrtcGetErrorString, )
#undef FIND_
  int major = 0, minor = 0;
  if (missing || rtc.nvrtcVersion(&major, &minor) || rtc.nvrtcGetNumSupportedArchs(&rtc.count) ||
      rtc.count < 1 || rtc.count > 64 || rtc.nvrtcGetSupportedArchs(rtc.archs) || major < 12)
    snprintf(rtc.why, sizeof rtc.why, "libnvrtc is too old (%d.%d, lacks %s): version 12 or 13 is needed",
             major, minor, missing ? missing : "nothing");
  else
    rtc.version = major * 100 + minor;
}

int kugel__nvrtc_version(const char **why)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_nvrtc);
  if (why)
    *why = rtc.why;
  return rtc.version;
}

/* ---- compiling ----------------------------------------------------------------------------------------- */

enum { MAX_OPTIONS = 64, LOG_IN_MESSAGE = 300 };

static kugel_status failed(const kugel__program_spec *spec, int result, const char *call)
{
  return KUGEL_FAIL(result == 1 ? KUGEL_ENOMEM : KUGEL_ECOMPILE, "%s: %s failed with %s", spec->name, call,
                    result == KUGEL__CU_INJECTED ? "an error on request of a test"
                                                 : rtc.nvrtcGetErrorString(result));
}

#define RTC(call_, ...)                                                                                      \
  do {                                                                                                       \
    int r_ = kugel__device_fault() ? KUGEL__CU_INJECTED : rtc.call_(__VA_ARGS__);                            \
    if (r_)                                                                                                  \
      return failed(spec, r_, #call_);                                                                       \
  } while (0)

/* Splits options at spaces into list; the texts point into `words`. */
static int split(char *words, const char **list, int max)
{
  int n = 0;
  for (char *save = NULL, *w = strtok_r(words, " ", &save); w && n < max; w = strtok_r(NULL, " ", &save))
    list[n++] = w;
  return n;
}

static kugel_status fetch_log(nvrtcProgram program, const kugel__program_spec *spec, char **log)
{
  size_t n = 0;
  RTC(nvrtcGetProgramLogSize, program, &n);
  KUGEL_ALLOC(NULL, *log, n + 1);
  int r = rtc.nvrtcGetProgramLog(program, *log);
  (*log)[n] = 0;
  if (r) {
    kugel__free(NULL, *log);
    *log = NULL;
    return failed(spec, r, "nvrtcGetProgramLog");
  }
  return KUGEL_OK;
}

static kugel_status fetch_binary(nvrtcProgram program, const kugel__program_spec *spec, bool machine_code,
                                 void **binary, size_t *bytes)
{
  if (machine_code)
    RTC(nvrtcGetCUBINSize, program, bytes);
  else
    RTC(nvrtcGetPTXSize, program, bytes);
  KUGEL_ALLOC(NULL, *binary, *bytes);
  int r = machine_code ? rtc.nvrtcGetCUBIN(program, *binary) : rtc.nvrtcGetPTX(program, *binary);
  if (r) {
    kugel__free(NULL, *binary);
    *binary = NULL;
    return failed(spec, r, machine_code ? "nvrtcGetCUBIN" : "nvrtcGetPTX");
  }
  return KUGEL_OK;
}

static kugel_status run(nvrtcProgram program, const kugel__program_spec *spec, const char **options,
                        int count, bool machine_code, void **binary, size_t *bytes, char **log)
{
  int r = kugel__device_fault() ? KUGEL__CU_INJECTED : rtc.nvrtcCompileProgram(program, count, options);
  if (r) {
    char *text = NULL;
    if (r == KUGEL__CU_INJECTED || fetch_log(program, spec, &text))
      return failed(spec, r, "nvrtcCompileProgram");
    kugel_status s = KUGEL_FAIL(KUGEL_ECOMPILE, "%s: nvrtcCompileProgram failed with %s: %.*s", spec->name,
                                rtc.nvrtcGetErrorString(r), LOG_IN_MESSAGE, text);
    kugel__free(NULL, text);
    return s;
  }
  KUGEL_TRY(fetch_binary(program, spec, machine_code, binary, bytes));
  kugel_status s = log ? fetch_log(program, spec, log) : KUGEL_OK;
  if (s) {
    kugel__free(NULL, *binary);
    *binary = NULL;
  }
  return s;
}

kugel_status kugel__nvrtc_compile(const kugel__program_spec *spec, int arch, void **binary, size_t *bytes,
                                  char **log)
{
  const char *why;
  KUGEL_CHECK(kugel__nvrtc_version(&why), KUGEL_ENOTSUP, "%s cannot be compiled: %s", spec->name, why);
  int best = 0; // the newest architecture known that is not newer than the device
  for (int i = 0; i < rtc.count; i++)
    if (rtc.archs[i] <= arch && rtc.archs[i] > best)
      best = rtc.archs[i];
  KUGEL_CHECK(best, KUGEL_ENOTSUP,
              "%s cannot be compiled for compute capability %d.%d: NVRTC %d.%d starts at %d.%d", spec->name,
              arch / 10, arch % 10, rtc.version / 100, rtc.version % 100, rtc.archs[0] / 10,
              rtc.archs[0] % 10);
  bool machine_code = best == arch;
  char target[48];
  snprintf(target, sizeof target, "--gpu-architecture=%s_%d", machine_code ? "sm" : "compute", best);
  const char *options[MAX_OPTIONS + 2] = {target, "--std=c++17"};
  char *words = NULL;
  int count = 2;
  if (spec->options && *spec->options) {
    size_t n = strlen(spec->options) + 1;
    KUGEL_ALLOC(NULL, words, n);
    memcpy(words, spec->options, n);
    count += split(words, options + 2, MAX_OPTIONS);
  }
  for (int i = 2; i < count; i++)
    if (!strncmp(options[i], "--gpu-architecture", 18)) {
      options[0] = options[i];
      machine_code = strstr(options[i], "sm_") != NULL;
      options[i] = options[--count];
      break;
    }
  nvrtcProgram program = NULL;
  int r = kugel__device_fault() ? KUGEL__CU_INJECTED
                                : rtc.nvrtcCreateProgram(&program, spec->text, spec->name, 0, NULL, NULL);
  kugel_status s = r ? failed(spec, r, "nvrtcCreateProgram")
                     : run(program, spec, options, count, machine_code, binary, bytes, log);
  if (program)
    rtc.nvrtcDestroyProgram(&program);
  kugel__free(NULL, words);
  return s;
}
