/* SPDX-License-Identifier: BSD-3-Clause */
/* What every device must do: memory, copies, queues, events, kernels, failures. Runs for each device present.
 */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/alloc.h"
#include "device/device.h"
#include "device/every.h"

enum { N = 100003, BIG = 40 << 20 };

/* One text for both languages. */
static const char text[] =
    "#ifdef __OPENCL_VERSION__\n"
    "#define KERNEL __kernel\n#define GLOBAL __global\n#define SHARED __local\n"
    "#define ID get_global_id(0)\n#define LOCAL get_local_id(0)\n#define BARRIER "
    "barrier(CLK_LOCAL_MEM_FENCE)\n"
    "#else\n"
    "#define KERNEL extern \"C\" __global__\n#define GLOBAL\n#define SHARED __shared__\n"
    "#define ID (blockIdx.x * blockDim.x + threadIdx.x)\n#define LOCAL threadIdx.x\n#define BARRIER "
    "__syncthreads()\n"
    "#endif\n"
    "typedef struct { double a; int n; float b; } pack;\n"
    "KERNEL void axpy(GLOBAL const double *x, GLOBAL double *y, pack p, short extra)\n"
    "{\n"
    "  int i = ID;\n"
    "  if (i < p.n)\n"
    "    y[i] += p.a * x[i] + p.b + extra;\n"
    "}\n"
    "KERNEL void turn(GLOBAL double *x)\n" /* reverses each block of 64 */
    "{\n"
    "  SHARED double s[64];\n"
    "  s[LOCAL] = x[ID];\n"
    "  BARRIER;\n"
    "  x[ID] = s[63 - LOCAL];\n"
    "}\n";

typedef struct pack {
  double a;
  int n;
  float b;
} pack;

static double x_at(int i)
{
  return i * 0.5 - 1000;
}

static void fill_host(double *x, double *y)
{
  for (int i = 0; i < N; i++) {
    x[i] = x_at(i);
    y[i] = 7;
  }
}

/* axpy of two buffers with one guard element around what it may touch. */
static kugel_status run_axpy(kugel__device *dev, kugel__kernel *k, const double *x, double *y,
                             kugel_queue *queue)
{
  void *dx = NULL, *dy = NULL;
  pack p = {2.5, N - 1, 0.25f};
  short extra = -3;
  kugel_status s = kugel__device_alloc(dev, N * sizeof *x, &dx);
  if (!s)
    s = kugel__device_alloc(dev, N * sizeof *y, &dy);
  kugel__mem mx = {dx, 0}, my = {dy, 0};
  if (!s)
    s = kugel__device_copy(dev, KUGEL__UPLOAD, mx, (kugel__mem){(void *)x, 0}, N * sizeof *x, queue);
  if (!s)
    s = kugel__device_copy(dev, KUGEL__UPLOAD, my, (kugel__mem){y, 0}, N * sizeof *y, queue);
  kugel__grid g = {.blocks = {(N + 127) / 128}, .threads = {128}};
  kugel__arg args[] = {KUGEL__MEM_ARG(mx), KUGEL__MEM_ARG(my), KUGEL__VALUE_ARG(p), KUGEL__VALUE_ARG(extra)};
  if (!s)
    s = kugel__launch(dev, k, &g, 4, args, queue);
  if (!s)
    s = kugel__device_copy(dev, KUGEL__DOWNLOAD, (kugel__mem){y, 0}, my, N * sizeof *y, queue);
  kugel_status w = kugel_queue_wait(queue);
  kugel__device_free(dev, dx);
  kugel__device_free(dev, dy);
  return s ? s : w;
}

static int wrong_axpy(const double *y)
{
  int bad = y[N - 1] != 7;
  for (int i = 0; i < N - 1; i++)
    bad += y[i] != 7 + (2.5 * x_at(i) + 0.25 - 3);
  return bad;
}

/* All that a plan does with a device, from open to close; leaves nothing behind however it ends. */
static kugel_status scenario(const kugel_device_info *info, bool kernels, double *x, double *y)
{
  kugel_ctx *ctx = NULL;
  KUGEL_TRY(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info->name}, &ctx));
  kugel__device *dev = kugel__ctx_device(ctx);
  kugel_queue *queue = NULL;
  kugel__program *program = NULL;
  kugel__kernel *k = NULL;
  kugel__event *from = NULL, *to = NULL;
  void *host = NULL, *binary = NULL;
  size_t bytes = 0;
  double seconds = -1;
  kugel__program_spec spec = {.name = "test", .text = text};
  kugel_status s = kugel_queue_create(ctx, &queue);
  if (!s)
    s = kugel_device_alloc_host(ctx, 1000, &host);
  if (!s)
    s = dev->ops->record(queue, &from);
  if (kernels && !s && !(s = dev->ops->load(dev, &spec, &program, &binary, &bytes))) {
    kugel__kernel_info ki;
    s = dev->ops->kernel(program, "axpy", &k, &ki);
    if (!s)
      s = run_axpy(dev, k, x, y, queue);
  }
  if (!s)
    s = dev->ops->record(queue, &to);
  if (!s)
    s = dev->ops->after(queue, to);
  if (!s)
    s = dev->ops->elapsed(from, to, &seconds);
  dev->ops->event_free(from);
  dev->ops->event_free(to);
  if (program)
    dev->ops->unload(program);
  kugel__free(NULL, binary);
  kugel_device_free_host(ctx, host);
  kugel_queue_destroy(queue);
  kugel_ctx_destroy(ctx);
  return s;
}

static void check_memory(kugel_ctx *ctx, double *x, double *y)
{
  void *d = NULL;
  uint64_t available = 0, total = 0;
  CHECK_OK(kugel_device_memory(ctx, &available, &total));
  CHECK(total > 0 && available <= total);
  CHECK_OK(kugel_device_alloc(ctx, N * sizeof *x, &d));
  CHECK_OK(kugel_device_upload(ctx, d, 0, x, N * sizeof *x, NULL));
  CHECK_OK(kugel_device_fill(ctx, d, 80, 0, 16, NULL));
  CHECK_OK(kugel_device_fill(ctx, d, 160, 255, 1, NULL));
  CHECK_OK(kugel_device_upload(ctx, d, 24, (double[]){-5}, 8, NULL));
  CHECK_OK(kugel_device_download(ctx, y, d, 0, N * sizeof *y, NULL));
  unsigned char byte = 0;
  memcpy(&byte, &y[20], 1);
  CHECK(y[3] == -5 && y[10] == 0 && y[11] == 0 && y[12] == x[12] && byte == 255 && y[N - 1] == x[N - 1]);
  CHECK_OK(kugel_device_download(ctx, y, d, 8 * 100, 16, NULL));
  CHECK(y[0] == x[100] && y[1] == x[101] && y[3] == -5);
  kugel__device *dev = kugel__ctx_device(ctx);
  CHECK_OK(kugel__device_copy(dev, KUGEL__WITHIN, (kugel__mem){d, 0}, (kugel__mem){d, 8 * 5000}, 800, NULL));
  CHECK_OK(kugel_device_download(ctx, y, d, 0, 800, NULL));
  CHECK(!memcmp(y, x + 5000, 800));
  kugel_device_free(ctx, d);
  CHECK_IS(kugel_device_alloc(ctx, 0, &d), KUGEL_EINVAL);
  CHECK_IS(kugel_device_alloc(ctx, (size_t)1 << 59, &d), KUGEL_ENOMEM);
  CHECK(!d && strlen(kugel_last_error()) > 10);
  CHECK_IS(kugel_device_alloc(ctx, SIZE_MAX, &d), KUGEL_EINVAL);
  CHECK_IS(kugel_device_upload(ctx, NULL, 0, x, 8, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_device_fill(ctx, NULL, 0, 0, 8, NULL), KUGEL_EINVAL);
  CHECK_OK(kugel_device_upload(ctx, NULL, 0, NULL, 0, NULL));
}

/* Larger than any staging block, from pageable and from page-locked memory, there and back. */
static void check_large(kugel_ctx *ctx)
{
  unsigned char *a = malloc(BIG), *b = malloc(BIG), *pinned = NULL;
  void *d = NULL;
  kugel_queue *queue = NULL;
  CHECK_OK(kugel_device_alloc(ctx, BIG, &d));
  CHECK_OK(kugel_device_alloc_host(ctx, BIG, (void **)&pinned));
  CHECK_OK(kugel_queue_create(ctx, &queue));
  for (int i = 0; a && i < BIG; i++)
    a[i] = (unsigned char)((uint32_t)i * 2654435761u >> 24);
  for (int pass = 0; a && b && d && pinned && pass < 2; pass++) {
    size_t n = pass ? BIG : BIG - 12345;
    memset(b, 0, BIG);
    CHECK_OK(kugel_device_fill(ctx, d, 0, 0, BIG, queue));
    CHECK_OK(kugel_device_upload(ctx, d, BIG - n, a, n, queue));
    CHECK_OK(kugel_device_download(ctx, b, d, BIG - n, n, queue));
    CHECK_OK(kugel_device_download(ctx, pinned, d, BIG - n, n, queue));
    CHECK_OK(kugel_queue_wait(queue));
    CHECK(!memcmp(a, b, n) && !memcmp(a, pinned, n));
  }
  kugel_queue_destroy(queue);
  kugel_device_free_host(ctx, pinned);
  kugel_device_free(ctx, d);
  free(a);
  free(b);
}

/* Rows of different pitches there and back, of pageable and of page-locked memory; what lies between rows stays. */
static void check_rows(kugel_ctx *ctx)
{
  enum { ROWS = 37, ROW = 5000, HOST = 6000, THERE = 5120 };
  kugel__device *dev = kugel__ctx_device(ctx);
  unsigned char *pageable = malloc((size_t)2 * ROWS * HOST), *pinned = NULL;
  void *d = NULL;
  kugel_queue *queue = NULL;
  CHECK_OK(kugel_device_alloc(ctx, ROWS * THERE, &d));
  CHECK_OK(kugel_device_alloc_host(ctx, (size_t)2 * ROWS * HOST, (void **)&pinned));
  CHECK_OK(kugel_queue_create(ctx, &queue));
  for (int way = 0; pageable && pinned && d && queue && way < 2; way++) {
    unsigned char *from = way ? pinned : pageable, *to = from + ROWS * HOST;
    for (int i = 0; i < ROWS * HOST; i++) {
      from[i] = (unsigned char)((uint32_t)i * 2654435761u >> 24);
      to[i] = 7;
    }
    kugel__copied_rows up = {{d, 8}, {from, 0}, THERE, HOST, ROW, ROWS},
                       down = {{to, 0}, {d, 8}, HOST, THERE, ROW, ROWS};
    CHECK_OK(kugel__device_copy_rows(dev, KUGEL__UPLOAD, &up, queue));
    CHECK_OK(kugel__device_copy_rows(dev, KUGEL__DOWNLOAD, &down, queue));
    CHECK_OK(kugel_queue_wait(queue));
    int wrong = 0;
    for (int i = 0; i < ROWS * HOST; i++)
      wrong += to[i] != (i % HOST < ROW ? from[i] : 7);
    CHECK_IS(wrong, 0);
    down.count = 0;
    CHECK_OK(kugel__device_copy_rows(dev, KUGEL__DOWNLOAD, &down, queue));
  }
  kugel_queue_destroy(queue);
  kugel_device_free_host(ctx, pinned);
  kugel_device_free(ctx, d);
  free(pageable);
}

static void check_kernels(kugel_ctx *ctx, double *x, double *y)
{
  kugel__device *dev = kugel__ctx_device(ctx);
  kugel__program *program = NULL, *again = NULL, *bad = NULL;
  kugel__kernel *k = NULL, *turn = NULL, *none = NULL;
  kugel__kernel_info info = {0};
  void *binary = NULL;
  size_t bytes = 0;
  fill_host(x, y);
  CHECK_OK(
      dev->ops->load(dev, &(kugel__program_spec){.name = "test", .text = text}, &program, &binary, &bytes));
  if (!program)
    return;
  CHECK(binary && bytes > 0);
  CHECK_OK(dev->ops->kernel(program, "axpy", &k, &info));
  CHECK(info.max_threads >= 64);
  CHECK_OK(run_axpy(dev, k, x, y, NULL));
  CHECK(!wrong_axpy(y));
  kugel__program_spec warm = {.name = "test", .binary = binary, .bytes = bytes};
  CHECK_OK(dev->ops->load(dev, &warm, &again, NULL, NULL));
  CHECK_OK(dev->ops->kernel(again, "turn", &turn, &info));
  CHECK(info.shared_bytes >= 512 || dev->info.device.type == KUGEL_OPENCL);

  void *d = NULL; // at an offset, on a queue
  kugel_queue *queue = NULL;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_device_alloc(ctx, 4096 * 8, &d));
  CHECK_OK(kugel_device_upload(ctx, d, 0, x, 4096 * 8, queue));
  kugel__mem part = {d, 1024 * 8};
  kugel__grid g = {.blocks = {32}, .threads = {64}};
  CHECK_OK(kugel__launch(dev, turn, &g, 1, &KUGEL__MEM_ARG(part), queue));
  CHECK_OK(kugel_device_download(ctx, y, d, 0, 4096 * 8, queue));
  CHECK_OK(kugel_queue_wait(queue));
  int wrong = 0;
  for (int i = 0; i < 4096; i++)
    wrong += y[i] != x[i >= 1024 && i < 3072 ? i / 64 * 64 + 63 - i % 64 : i];
  CHECK(!wrong);

  g.threads[0] = (uint32_t)dev->info.max_threads + 1;
  CHECK_IS(kugel__launch(dev, turn, &g, 1, &KUGEL__MEM_ARG(part), NULL), KUGEL_EINVAL);
  g.threads[0] = 64;
  g.shared = dev->info.shared_bytes + 1;
  CHECK_IS(kugel__launch(dev, turn, &g, 1, &KUGEL__MEM_ARG(part), NULL), KUGEL_EINVAL);
  CHECK_IS(dev->ops->kernel(program, "nothing", &none, NULL), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "nothing"));
  CHECK_IS(dev->ops->load(dev, &(kugel__program_spec){.name = "broken.cl", .text = "KERNEL wrong_word ???"},
                          &bad, NULL, NULL),
           KUGEL_ECOMPILE);
  CHECK(!bad && strstr(kugel_last_error(), "broken.cl") && strstr(kugel_last_error(), "error"));
  kugel_queue_destroy(queue);
  kugel_device_free(ctx, d);
  dev->ops->unload(again);
  dev->ops->unload(program);
  kugel__free(NULL, binary);
}

static void check_events(kugel_ctx *ctx)
{
  kugel__device *dev = kugel__ctx_device(ctx);
  kugel_queue *a = NULL, *b = NULL;
  kugel__event *from = NULL, *to = NULL;
  void *d = NULL;
  double seconds = -1;
  CHECK_OK(kugel_queue_create(ctx, &a));
  CHECK_OK(kugel_queue_create(ctx, &b));
  CHECK_OK(kugel_device_alloc(ctx, BIG, &d));
  CHECK_OK(dev->ops->record(a, &from));
  CHECK_OK(kugel_device_fill(ctx, d, 0, 1, BIG, a));
  CHECK_OK(dev->ops->record(a, &to));
  CHECK_OK(dev->ops->after(b, to)); // b's fill comes after a's
  CHECK_OK(kugel_device_fill(ctx, d, 0, 2, 1, b));
  unsigned char got[2] = {0, 0};
  CHECK_OK(kugel_device_download(ctx, got, d, 0, 2, b));
  CHECK_OK(kugel_queue_wait(b));
  CHECK(got[0] == 2 && got[1] == 1);
  bool passed = false;
  for (int i = 0; i < 1000 && !passed; i++) // at the first question, but for the stand-in
    CHECK_OK(dev->ops->passed(to, &passed));
  CHECK(passed);
  CHECK_OK(dev->ops->after(NULL, to));
  CHECK_OK(dev->ops->elapsed(from, to, &seconds));
  CHECK(seconds >= 0 && seconds < 10);
  dev->ops->event_free(from);
  dev->ops->event_free(to);
  dev->ops->event_free(NULL);
  kugel_device_free(ctx, d);
  kugel_queue_destroy(a);
  kugel_queue_destroy(b);
}

typedef struct worker {
  const kugel_device_info *info;
  bool kernels;
  int bad;
} worker;

static void *work(void *arg)
{
  worker *w = arg;
  double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
  for (int i = 0; i < 3; i++) {
    fill_host(x, y);
    w->bad += scenario(w->info, w->kernels, x, y) != KUGEL_OK;
    w->bad += w->kernels && wrong_axpy(y);
  }
  free(x);
  free(y);
  return NULL;
}

static void check_threads(const kugel_device_info *info, bool kernels)
{
  enum { THREADS = 4 };
  pthread_t t[THREADS];
  worker w[THREADS];
  for (int i = 0; i < THREADS; i++) {
    w[i] = (worker){info, kernels, 0};
    CHECK(!pthread_create(&t[i], NULL, work, &w[i]));
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(t[i], NULL);
    CHECK(!w[i].bad);
  }
}

/* Each driver call fails once in turn: a status, and nothing left behind. */
static void check_faults(const kugel_device_info *info, bool kernels, double *x, double *y)
{
  uint64_t before = 0, after = 0;
  kugel_ctx_memory(NULL, &before, NULL);
  fill_host(x, y);
  kugel__fault_device(0);
  CHECK_OK(scenario(info, kernels, x, y));
  int64_t calls = kugel__fault_device(0);
  for (int64_t n = 1; n <= calls; n++) {
    kugel__fault_device(n);
    kugel_status s = scenario(info, kernels, x, y);
    kugel__fault_device(0);
    kugel_ctx_memory(NULL, &after, NULL);
    if (!s || after != before) {
      CHECK_FAIL("call %d of %d failed: status %d, %d bytes left: %s", (int)n, (int)calls, s,
                 (int)(after - before), kugel_last_error());
      break;
    }
  }
  kugel__fault_alloc(0);
  CHECK_OK(scenario(info, kernels, x, y));
  int64_t allocations = kugel__fault_alloc(0);
  for (int64_t n = 1; n <= allocations; n++) {
    kugel__fault_alloc(n);
    kugel_status s = scenario(info, kernels, x, y);
    kugel__fault_alloc(0);
    kugel_ctx_memory(NULL, &after, NULL);
    CHECK(s == KUGEL_ENOMEM && after == before);
  }
  fill_host(x, y);
  CHECK_OK(scenario(info, kernels, x, y));
  CHECK(!kernels || !wrong_axpy(y));
}

static void check_fork(kugel_ctx *ctx)
{
  kugel_queue *queue = NULL;
  void *before = NULL;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_device_alloc(ctx, 100, &before));
  pid_t child = fork();
  if (!child) {
    void *p = NULL;
    bool cpu = kugel__ctx_device(ctx)->info.device.type == KUGEL_CPU;
    kugel_status s = kugel_device_alloc(ctx, 100, &p);
    kugel_device_free(ctx, before); // none of these may hang
    kugel_queue_destroy(queue);
    kugel_ctx_destroy(ctx);
    _exit(s == (cpu ? KUGEL_OK : KUGEL_EDEVICE) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK_OK(kugel_device_fill(ctx, before, 0, 1, 100, queue)); // the parent goes on
  kugel_device_free(ctx, before);
  kugel_queue_destroy(queue);
}

static double x[N], y[N];

static void check_device(const kugel_device_info *info)
{
  kugel_ctx *ctx = NULL;
  bool kernels = info->kernels != 0;
  CASE(every_title(info, "description"))
  {
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info->name}, &ctx));
    kugel_device_info mine = {.size = sizeof mine};
    CHECK_OK(kugel_ctx_describe(ctx, &mine));
    CHECK(!strcmp(mine.name, info->name) && mine.device.type == info->device.type &&
          mine.device.id == info->device.id);
    CHECK(mine.memory > 0 && mine.units > 0 && mine.lanes >= 1 && mine.max_threads >= 1);
  }
  if (!ctx)
    return;
  every_hold(info, true);
  fill_host(x, y);
  CASE(every_title(info, "memory")) check_memory(ctx, x, y);
  CASE(every_title(info, "large copies")) check_large(ctx);
  CASE(every_title(info, "copies of rows")) check_rows(ctx);
  CASE(every_title(info, "queues and events")) check_events(ctx);
  if (kernels) {
    CASE(every_title(info, "kernels")) check_kernels(ctx, x, y);
  }
  CASE(every_title(info, "used after a fork")) check_fork(ctx);
  kugel_ctx_destroy(ctx);
  CASE(every_title(info, "each call fails")) check_faults(info, kernels, x, y);
  CASE(every_title(info, "four threads")) check_threads(info, kernels);
  every_hold(info, false);
}

int main(void)
{
  CASE("device strings")
  {
    static const char *const bad[] = {
        "gpu", "cuda:", "cuda:x", "cuda:99", "cuda:-1", "opencl:1x", "opencl:99999999999", "CPU", "cpu:0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
      kugel_ctx *ctx = NULL;
      CHECK_IS(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = bad[i]}, &ctx),
               KUGEL_EINVAL);
      CHECK(!ctx && strstr(kugel_last_error(), bad[i]));
    }
    kugel_ctx *ctx = NULL;
    kugel_device_info info = {.size = sizeof info};
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = "auto"}, &ctx));
    CHECK_OK(kugel_ctx_describe(ctx, &info));
    kugel_ctx_destroy(ctx);
    CHECK_IS(kugel_device_describe(-1, &info), KUGEL_EINVAL);
    CHECK_IS(kugel_device_describe(kugel_device_count(), &info), KUGEL_EINVAL);
    CHECK_IS(kugel_ctx_describe(NULL, NULL), KUGEL_EINVAL);
    kugel_device_info small = {.size = offsetof(kugel_device_info, units)}; // an older caller's struct
    CHECK_OK(kugel_device_describe(0, &small));
    CHECK(small.memory > 0 && small.units == 0 && small.size == offsetof(kugel_device_info, units));
  }
  CASE("what is missing says why")
  {
    for (int i = 0; i < kugel_device_count(); i++) {
      kugel_device_info info = {.size = sizeof info};
      CHECK_OK(kugel_device_describe(i, &info));
      kugel_ctx *ctx = NULL;
      if (info.available)
        continue;
      CHECK(strlen(info.why) > 10);
      CHECK_IS(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx),
               KUGEL_ENOTSUP);
      CHECK(!ctx && strstr(kugel_last_error(), "not available"));
    }
  }
  CASE("the CPU has no foreign queues and compiles nothing")
  {
    kugel_queue *queue = NULL;
    CHECK_IS(kugel_queue_wrap(NULL, NULL, &queue), KUGEL_ENOTSUP);
    kugel__device *dev = kugel__ctx_device(NULL);
    CHECK_IS(dev->ops->load(dev, NULL, NULL, NULL, NULL), KUGEL_ENOTSUP);
    kugel_queue_destroy(NULL);
    CHECK_OK(kugel_queue_wait(NULL));
  }
  kugel_device_info info;
  for (int i = 0; every_device(&i, false, &info);)
    check_device(&info);
  END();
}
