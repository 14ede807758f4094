/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long. Device plans made again: nothing is generated, compiled, filled or uploaded; many
 * at once; many after each other. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include "check.h"
#include "comma.h"
#include "codegen/module.h"
#include "core/alloc.h"
#include "device/every.h"
#include "fft/gpu/parts.h"

enum { SHARED = 232448 }; // bytes of a block of an H200

static kugel_ctx *context(const char *device)
{
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  return ctx;
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

typedef struct request {
  kugel_fft_kind kind;
  int ndim;
  int64_t n[2];
} request;

static const request requests[] = {
    {KUGEL_FFT_C2C, 1, {16}},    {KUGEL_FFT_C2C, 1, {60}}, {KUGEL_FFT_C2C, 1, {37}}, // Rader
    {KUGEL_FFT_C2C, 1, {94}},                                                        // Bluestein
    {KUGEL_FFT_R2C, 2, {4, 12}}, {KUGEL_FFT_DCT2, 1, {9}}, {KUGEL_FFT_DST4, 1, {15}},
};
enum { REQUESTS = sizeof requests / sizeof *requests };

static kugel_status make(kugel_ctx *ctx, const request *r, bool single, kugel_fft **plan)
{
  kugel_fft_opts o = {
      .size = sizeof o, .kind = r->kind, .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64};
  return kugel_fft_create(ctx, r->ndim, r->n, &o, plan);
}

static void make_all(kugel_ctx *ctx, bool single)
{
  kugel_fft *plan[REQUESTS] = {NULL};
  for (int i = 0; i < REQUESTS; i++)
    CHECK_OK(make(ctx, &requests[i], single, &plan[i]));
  for (int i = 0; i < REQUESTS; i++)
    kugel_fft_destroy(plan[i]);
}

static void check_counts(const char *device, bool single)
{
  kugel_ctx *ctx = context(device);
  make_all(ctx, single);
  int64_t written = every_kernels().written, compiled = every_kernels().compiled;
  double best = INFINITY;
  for (int k = 0; k < 5; k++) {
    double start = now();
    make_all(ctx, single);
    best = fmin(best, (now() - start) / REQUESTS);
  }
  printf("  %.2f ms a plan made again\n", best);
  kugel__fault_device(0);
  make_all(ctx, single);
  CHECK(kugel__fault_device(0) == 0); // no call of the driver
  kugel_ctx_destroy(ctx);
  ctx = context(device); // as in another process: the disk alone remembers
  make_all(ctx, single);
  CHECK(every_kernels().written == written && every_kernels().compiled == compiled);
  kugel_ctx_destroy(ctx);
}

static void check_many(const char *device)
{
  uint64_t before = 0, between = 0, after = 0;
  kugel_ctx_memory(NULL, &before, NULL);
  kugel_ctx *ctx = context(device);
  for (int k = 0; k < 1000; k++) {
    kugel_fft *plan = NULL;
    CHECK_OK(make(ctx, &requests[k % REQUESTS], false, &plan));
    kugel_fft_destroy(plan);
    if (k == 2 * REQUESTS)
      kugel_ctx_memory(NULL, &between, NULL);
  }
  kugel_ctx_memory(NULL, &after, NULL);
  CHECK(after == between);
  kugel_ctx_destroy(ctx);
  kugel_ctx_memory(NULL, &after, NULL);
  CHECK(after == before);
}

typedef struct planner {
  kugel_ctx *ctx;
  int first;
  double wrong;
} planner;

static void *plan_and_run(void *arg)
{
  planner *p = arg;
  for (int k = 0; k < 2 * REQUESTS; k++) {
    const request *r = &requests[(p->first + k) % REQUESTS];
    kugel_fft *plan = NULL;
    if (r->kind != KUGEL_FFT_C2C)
      continue;
    if (make(p->ctx, r, false, &plan)) {
      p->wrong = INFINITY;
      return NULL;
    }
    double x[200] = {1}, y[200]; // a unit impulse
    int64_t shape[1] = {r->n[0]};
    kugel_array a = {.data = x, .device = {KUGEL_CPU, 0}, .ndim = 1, .dtype = KUGEL_C128, .shape = shape},
                b = a;
    b.data = y;
    if (kugel_fft_execute(plan, KUGEL_FORWARD, &a, &b, NULL))
      p->wrong = INFINITY;
    for (int64_t i = 0; i < 2 * r->n[0]; i++)
      p->wrong = fmax(p->wrong, fabs(y[i] - (i % 2 ? 0 : 1)));
    kugel_fft_destroy(plan);
  }
  return NULL;
}

static void check_threads(const char *device)
{
  enum { THREADS = 8 };
  kugel_ctx *ctx = context(device);
  pthread_t thread[THREADS];
  planner p[THREADS];
  setenv("KUGEL_CACHE", "off", 1);
  int64_t compiled = every_kernels().compiled;
  for (int i = 0; i < THREADS; i++) {
    p[i] = (planner){ctx, i, 0};
    CHECK(!pthread_create(&thread[i], NULL, plan_and_run, &p[i]));
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    CHECK_LE(p[i].wrong, 1e-14);
  }
  CHECK(every_kernels().compiled - compiled <= 8); // four plans, two directions: each once
  kugel_ctx_destroy(ctx);
}

// Kernels compiled while numbers are written with a comma.
static void check_comma(const char *device)
{
  if (!comma_locale()) {
    SKIP("no locale with a comma");
    return;
  }
  setenv("KUGEL_CACHE", "off", 1);
  planner p = {context(device), 1, 0};
  plan_and_run(&p);
  CHECK_LE(p.wrong, 1e-14);
  kugel_ctx_destroy(p.ctx);
  setlocale(LC_ALL, "C");
}

static void check_planning(void)
{
  static kugel__gpu_chain c;
  static const int64_t n[] = {16,      1000, 7000, 8192,  10000,  16384,   100000,  1000000, 1 << 22, 1 << 23,
                              1 << 25, 127,  4093, 20011, 131071, 1000003, 2000006, 4194301, 30030};
  for (size_t i = 0; i < sizeof n / sizeof *n; i++)
    for (int single = 0; single < 2; single++) {
      kugel__line line = kugel__line_of(KUGEL_FFT_C2C, false, n[i]);
      CHECK_OK(kugel__gpu_chain_plan(&c, &line, single ? KUGEL__F32 : KUGEL__F64, true, SHARED, true));
    }
}

/* A plan's work memory is kept for two queues: calls on the second are given to the driver like those on the first, without
 * allocations, which wait for the device. */
static void check_queues(const char *device)
{
  kugel_ctx *ctx = context(device);
  kugel_fft *plan = NULL;
  kugel_queue *queues[3] = {NULL};
  int64_t n[1] = {1 << 17}, made[3] = {0};
  void *memory = NULL;
  CHECK_OK(kugel_fft_create(ctx, 1, n, &(kugel_fft_opts){.size = sizeof(kugel_fft_opts)}, &plan));
  CHECK_OK(kugel_device_alloc(ctx, (size_t)n[0] * 16, &memory));
  kugel_device_info info = {.size = sizeof info};
  CHECK_OK(kugel_ctx_describe(ctx, &info));
  kugel_array a = {.data = memory, .device = info.device, .ndim = 1, .dtype = KUGEL_C128, .shape = n};
  for (int i = 0; i < 3; i++) {
    CHECK_OK(kugel_queue_create(ctx, &queues[i]));
    for (int repeat = 0; repeat < 2; repeat++) {
      kugel__fault_device(0);
      CHECK_OK(kugel_fft_execute(plan, KUGEL_FORWARD, &a, &a, queues[i]));
      made[i] = kugel__fault_device(0);
      CHECK_OK(kugel_queue_wait(queues[i]));
    }
  }
  CHECK(made[0] > 0 && made[1] == made[0] && made[2] > made[0]);
  for (int i = 0; i < 3; i++)
    kugel_queue_destroy(queues[i]);
  kugel_device_free(ctx, memory);
  kugel_fft_destroy(plan);
  kugel_ctx_destroy(ctx);
}

int main(void)
{
  kugel__modules_keep(true);
  char folder[64] = "/tmp/kugel-plans-XXXXXX", command[128];
  CASE("passes for a GPU of 227 KiB a block") check_planning();
  CHECK(mkdtemp(folder));
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    every_hold(&info, true);
    setenv("KUGEL_CACHE", folder, 1);
    for (int single = info.fp64 ? 0 : 1; single < 2; single++) {
      CASE(every_title(&info, single ? "warm plans, float" : "warm plans, double"))
      check_counts(info.name, single);
    }
    if (info.fp64)
      CASE(every_title(&info, "several queues")) check_queues(info.name);
    CASE(every_title(&info, "1000 plans")) check_many(info.name);
    CASE(every_title(&info, "8 threads")) check_threads(info.name);
    CASE(every_title(&info, "decimal comma")) check_comma(info.name);
    every_hold(&info, false);
  }
  snprintf(command, sizeof command, "rm -rf %s", folder);
  CHECK(!system(command));
  END();
}
