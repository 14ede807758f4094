/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast each device copies, fills, launches and compiles; prints, and checks that results are
 * right. KUGEL_SPEED_MB: size of the buffers (default 16, on GPUs 1024); --smoke: 1. */
#include "clock.h"
#include "codegen/module.h"
#include "core/alloc.h"
#include "device/every.h"

static kugel_ctx *ctx;
static kugel__device *dev;
static kugel_queue *queue;
static size_t bytes;

enum work { UPLOAD, UPLOAD_PINNED, DOWNLOAD, DOWNLOAD_PINNED, COPY, FILL };

static void do_work(enum work w, kugel__mem a, kugel__mem b, kugel__mem host, kugel__mem pinned)
{
  switch (w) {
  case UPLOAD:
    CHECK_OK(kugel__device_copy(dev, KUGEL__UPLOAD, a, host, bytes, queue));
    break;
  case UPLOAD_PINNED:
    CHECK_OK(kugel__device_copy(dev, KUGEL__UPLOAD, a, pinned, bytes, queue));
    break;
  case DOWNLOAD:
    CHECK_OK(kugel__device_copy(dev, KUGEL__DOWNLOAD, host, a, bytes, queue));
    break;
  case DOWNLOAD_PINNED:
    CHECK_OK(kugel__device_copy(dev, KUGEL__DOWNLOAD, pinned, a, bytes, queue));
    break;
  case COPY:
    CHECK_OK(kugel__device_copy(dev, KUGEL__WITHIN, b, a, bytes, queue));
    break;
  case FILL:
    CHECK_OK(kugel__device_fill(dev, b, 1, bytes, queue));
    break;
  }
}

static void measure_copies(void)
{
  static const struct {
    enum work work;
    const char *what;
    int traffic; // bytes of device memory touched per byte
  } rows[] = {{UPLOAD, "upload, pageable", 1},     {UPLOAD_PINNED, "upload, page-locked", 1},
              {DOWNLOAD, "download, pageable", 1}, {DOWNLOAD_PINNED, "download, page-locked", 1},
              {COPY, "copy on the device", 2},     {FILL, "fill on the device", 1}};
  kugel__mem a = {0}, b = {0}, host = {malloc(bytes), 0}, pinned = {0};
  CHECK_OK(kugel_device_alloc(ctx, bytes, &a.base));
  CHECK_OK(kugel_device_alloc(ctx, bytes, &b.base));
  CHECK_OK(kugel_device_alloc_host(ctx, bytes, &pinned.base));
  if (!host.base || !a.base || !b.base || !pinned.base)
    return;
  memset(host.base, 3, bytes);
  memset(pinned.base, 4, bytes);
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
      double t = now();
      do_work(rows[r].work, a, b, host, pinned);
      CHECK_OK(kugel_queue_wait(queue));
      best = fmin(best, now() - t);
    }
    printf("  %-24s %9.2f GB/s\n", rows[r].what, rows[r].traffic * (double)bytes / best * 1e-9);
  }
  CHECK(((unsigned char *)host.base)[bytes - 1] == 4 && ((unsigned char *)pinned.base)[bytes / 2] == 4);
  kugel_device_free(ctx, a.base);
  kugel_device_free(ctx, b.base);
  kugel_device_free_host(ctx, pinned.base);
  free(host.base);
}

static const char text[] =
    "KERNEL(256) empty(i32 n) { }\n"
    "KERNEL(256) triad(GLOBAL const real2 *RESTRICT x, GLOBAL real2 *RESTRICT y, i64 n)\n"
    "{\n"
    "  for (i64 i = GLOBAL_ID(0); i < n; i += (i64)GROUPS(0) * LOCAL_SIZE(0)) {\n"
    "    real2 a = x[i], b = y[i];\n"
    "    y[i] = MAKE_REAL2(FMA((real)0.5, a.x, b.x), FMA((real)0.5, a.y, b.y));\n"
    "  }\n"
    "}\n"
    "KERNEL(256) flops(GLOBAL real *y, i32 n)\n"
    "{\n"
    "  real a[8], f = (real)(1 - 1e-7 * LOCAL_ID(0));\n"
    "  for (int k = 0; k < 8; k++)\n"
    "    a[k] = (real)k;\n"
    "  for (int i = 0; i < n; i++)\n"
    "    for (int k = 0; k < 8; k++)\n"
    "      a[k] = FMA(a[k], f, (real)0.25);\n"
    "  y[GLOBAL_ID(0)] = a[0] + a[1] + a[2] + a[3] + a[4] + a[5] + a[6] + a[7];\n"
    "}\n"
    "KERNEL(256) tensor(GLOBAL double *y, i32 n)\n"
    "{\n"
    "  SHUFFLE_ROOM(256);\n"
    "  double c[16], f = 1 - 1e-7 * LOCAL_ID(0);\n"
    "  for (int k = 0; k < 16; k++)\n"
    "    c[k] = k;\n"
    "  for (int i = 0; i < n; i++)\n"
    "    for (int k = 0; k < 16; k += 2)\n"
    "      MMA_F64(c[k], c[k + 1], f, f);\n"
    "  for (int k = 1; k < 16; k++)\n"
    "    c[0] += c[k];\n"
    "  y[GLOBAL_ID(0)] = c[0];\n"
    "}\n";

/* Seconds of one launch on the device: the best of five, each of `repeats` launches between two events. */
static double time_launch(kugel__kernel *k, kugel__grid g, int n, const kugel__arg *args, int repeats)
{
  double best = 1e9;
  for (int i = 0; i < 5; i++) {
    kugel__event *from = NULL, *to = NULL;
    double seconds = 1e9;
    CHECK_OK(dev->ops->record(queue, &from));
    for (int r = 0; r < repeats; r++)
      CHECK_OK(kugel__launch(dev, k, &g, n, args, queue));
    CHECK_OK(dev->ops->record(queue, &to));
    CHECK_OK(dev->ops->elapsed(from, to, &seconds));
    best = fmin(best, seconds / repeats);
    dev->ops->event_free(from);
    dev->ops->event_free(to);
  }
  return best;
}

static void measure_launches(kugel__module *m)
{
  kugel__kernel *k = NULL;
  int n = 1, launches = dev->info.is_gpu ? 2000 : 50;
  kugel__grid g = {.blocks = {1}, .threads = {256}};
  CHECK_OK(kugel__module_kernel(m, "empty", &k, NULL));
  for (int pass = 0; pass < 2; pass++) {
    double t = now();
    for (int i = 0; i < launches; i++)
      CHECK_OK(kugel__launch(dev, k, &g, 1, &KUGEL__VALUE_ARG(n), queue));
    double given = now() - t;
    CHECK_OK(kugel_queue_wait(queue));
    double done = now() - t;
    t = now();
    for (int i = 0; i < launches; i++)
      CHECK_OK(kugel__launch(dev, k, &g, 1, &KUGEL__VALUE_ARG(n), NULL));
    double waited = now() - t;
    if (pass)
      printf("  launch: %.2f us to give, %.2f us each in a row, %.2f us with the wait\n",
             1e6 * given / launches, 1e6 * done / launches, 1e6 * waited / launches);
  }
}

static void measure_kernels(kugel__module *m, int bits)
{
  kugel__kernel *triad = NULL, *flops = NULL, *tensor = NULL;
  kugel__kernel_info info = {0};
  kugel__mem x = {0}, y = {0};
  size_t real = (size_t)bits / 8;
  int64_t n = (int64_t)(bytes / (2 * real));
  int loops = dev->info.is_gpu ? 4096 : 64, units = dev->info.units;
  CHECK_OK(kugel_device_alloc(ctx, bytes, &x.base));
  CHECK_OK(kugel_device_alloc(ctx, bytes, &y.base));
  CHECK_OK(kugel_device_fill(ctx, x.base, 0, 0, bytes, NULL));
  CHECK_OK(kugel_device_fill(ctx, y.base, 0, 0, bytes, NULL));
  CHECK_OK(kugel__module_kernel(m, "triad", &triad, &info));
  CHECK_OK(kugel__module_kernel(m, "flops", &flops, &info));
  CHECK_OK(kugel__module_kernel(m, "tensor", &tensor, &info));
  for (uint32_t per_unit = 8; per_unit <= 32; per_unit *= 2) {
    kugel__grid g = {.blocks = {(uint32_t)units * per_unit}, .threads = {256}};
    kugel__arg args[] = {KUGEL__MEM_ARG(x), KUGEL__MEM_ARG(y), KUGEL__VALUE_ARG(n)};
    double t = time_launch(triad, g, 3, args, 3);
    printf("  triad f%d, %2u blocks a unit %9.2f GB/s\n", bits, per_unit, 3 * (double)bytes / t * 1e-9);
  }
  kugel__grid g = {.blocks = {(uint32_t)units * 8}, .threads = {256}};
  kugel__arg args[] = {KUGEL__MEM_ARG(y), KUGEL__VALUE_ARG(loops)};
  double t = time_launch(flops, g, 2, args, 1);
  printf("  FMA f%d %24.1f GFlop/s\n", bits, 16.0 * loops * 256 * g.blocks[0] / t * 1e-9);
  if (bits == 64) {
    loops = dev->info.is_gpu ? 4096 : 2;
    t = time_launch(tensor, g, 2, args, 1);
    printf("  matrix product f64 %12.1f GFlop/s\n", 8.0 * 512 * loops * 8 * g.blocks[0] / t * 1e-9);
  }
  kugel_device_free(ctx, x.base);
  kugel_device_free(ctx, y.base);
}

static void measure_compile(int bits, kugel__module **out)
{
  char defines[96];
  snprintf(defines, sizeof defines, "#define REAL_BITS %d\n#define STAMP_%lld\n", bits,
           (long long)(1e6 * now()));
  kugel__module_spec spec = {.name = "speed.cl", .text = text, .defines = defines};
  kugel__module *again = NULL;
  double t = now();
  CHECK_OK(kugel__module_get(ctx, &spec, out));
  double cold = now() - t;
  t = now();
  CHECK_OK(kugel__module_get(ctx, &spec, &again));
  printf("  compile f%d: %.1f ms, %.3f ms when in memory\n", bits, 1e3 * cold, 1e3 * (now() - t));
  kugel__module_put(again);
}

int main(int argc, char **argv)
{
  kugel_device_info info;
  const char *mb = argc > 1 && !strcmp(argv[1], "--smoke") ? "1" : getenv("KUGEL_SPEED_MB");
  setenv("KUGEL_CACHE", "off", 1);
  for (int i = 0; every_device(&i, false, &info);) {
    CASE(every_title(&info, "speed"))
    {
      double t = now();
      kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
      CHECK_OK(kugel_ctx_create(&o, &ctx));
      printf("  %s: %s; %s; %s; opened in %.1f ms\n", info.name, info.description, info.driver, info.compiler,
             1e3 * (now() - t));
      if (!ctx)
        continue;
      printf("  %d units, %.1f GB at %.0f GB/s stated, %.1f MB cache, %llu bytes shared, %d lanes\n",
             info.units, 1e-9 * (double)info.memory, 1e-9 * info.bandwidth, 1e-6 * (double)info.cache_bytes,
             (unsigned long long)info.shared_bytes, info.lanes);
      dev = kugel__ctx_device(ctx);
      bytes = (mb ? (size_t)atoi(mb) : info.is_gpu ? 1024 : 16) << 20;
      CHECK_OK(kugel_queue_create(ctx, &queue));
      measure_copies();
      for (int bits = 64; info.kernels && bits >= 32; bits -= 32) {
        kugel__module *m = NULL;
        measure_compile(bits, &m);
        if (!m)
          continue;
        if (bits == 64)
          measure_launches(m);
        measure_kernels(m, bits);
        kugel__module_put(m);
      }
      kugel_queue_destroy(queue);
      kugel_ctx_destroy(ctx);
    }
  }
  END();
}
