/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Plans by measurement: every choice is a right one, and what was chosen is remembered. */
#include <dirent.h>
#include <unistd.h>
#include "codegen/module.h"
#include "core/alloc.h"
#include "device/every.h"
#include "fft/gpu/parts.h"

static kugel_ctx *context(const char *device)
{
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  return ctx;
}

/* ---- every choice ---- */

typedef struct problem {
  kugel_fft_kind kind;
  int64_t n;
  bool in_order;
  uint64_t shared; // of a block
} problem;

static const problem problems[] = {
    {KUGEL_FFT_C2C, 60, true, 1 << 16},   {KUGEL_FFT_C2C, 36, false, 1 << 16},
    {KUGEL_FFT_C2C, 37, true, 1 << 16},   {KUGEL_FFT_R2C, 96, true, 1 << 16},
    {KUGEL_FFT_DCT2, 30, false, 1 << 16}, {KUGEL_FFT_C2C, 288, true, 2048},
    {KUGEL_FFT_R2C, 768, true, 2048},     {KUGEL_FFT_C2C, 158, true, 2048},
};

enum { LINES = 5 };

// Forward result of a chain over LINES lines, apart from the CPU's.
static double distance(kugel_ctx *ctx, const problem *q, const kugel__gpu_chain *chain)
{
  bool r2c = q->kind == KUGEL_FFT_R2C, c2c = q->kind == KUGEL_FFT_C2C;
  int64_t out_n = r2c ? q->n / 2 + 1 : q->n, axis = q->in_order ? 1 : 0;
  int64_t shape[2] = {LINES, LINES}, out_shape[2] = {LINES, LINES};
  shape[axis] = q->n;
  out_shape[axis] = out_n;
  kugel_array a = {
      .device = {KUGEL_CPU, 0}, .ndim = 2, .dtype = c2c ? KUGEL_C128 : KUGEL_F64, .shape = shape};
  kugel_array b = {
      .device = {KUGEL_CPU, 0}, .ndim = 2, .dtype = c2c || r2c ? KUGEL_C128 : KUGEL_F64, .shape = out_shape};
  double *x = kugel__calloc(NULL, (size_t)q->n * LINES * 16),
         *want = kugel__calloc(NULL, (size_t)q->n * LINES * 16 + 99),
         *got = kugel__calloc(NULL, (size_t)q->n * LINES * 16 + 99);
  uint64_t seed = 5;
  for (int64_t i = 0; i < q->n * LINES * (c2c ? 2 : 1); i++)
    x[i] = check_random(&seed);
  const int axes[1] = {(int)axis};
  kugel_fft_opts o = {.size = sizeof o, .kind = q->kind, .naxes = 1, .axes = axes};
  kugel_fft *plan = NULL;
  a.data = x;
  b.data = want;
  CHECK_OK(kugel_fft_create(NULL, 2, shape, &o, &plan));
  CHECK_OK(kugel_fft_execute(plan, KUGEL_FORWARD, &a, &b, NULL));
  kugel_fft_destroy(plan);
  kugel__fft_gpu_desc d = {
      .kind = q->kind, .naxes = 1, .n = {q->n}, .in_order = {q->in_order}, .shared = q->shared};
  kugel__fft_gpu *gpu = NULL;
  kugel__view vi = {.ndim = 2, .shape = {shape[0], shape[1]}, .stride = {shape[1], 1}},
              vo = {.ndim = 2, .shape = {out_shape[0], out_shape[1]}, .stride = {out_shape[1], 1}};
  b.data = got;
  CHECK_OK(kugel__gpu_begin(ctx, &d, &gpu));
  gpu->own_inverse = false;
  gpu->chain[0][0] = *chain;
  CHECK_OK(kugel__gpu_finish(gpu, KUGEL_OK, &gpu));
  kugel__fft_gpu_call call = {.in_view = &vi, .out_view = &vo, .axes = axes, .scale = {1, 0}};
  if (gpu)
    CHECK_OK(kugel__fft_gpu_execute(gpu, &call, &a, &b));
  kugel__fft_gpu_destroy(gpu);
  double e = check_l2(got, want, (size_t)(out_n * LINES * (c2c || r2c ? 2 : 1)));
  kugel__free(NULL, x);
  kugel__free(NULL, want);
  kugel__free(NULL, got);
  return e;
}

static void check_choices(kugel_ctx *ctx, const problem *q)
{
  static kugel__gpu_chain first, list[4];
  kugel__line line = kugel__line_of(q->kind, false, q->n);
  CHECK_OK(kugel__gpu_chain_plan(&first, &line, KUGEL__F64, q->in_order, q->shared, false));
  int chains = kugel__gpu_chain_others(&first, KUGEL__F64, q->in_order, q->shared, 4, list), blocks = 0;
  for (int i = 0; i < chains; i++)
    CHECK_LE(distance(ctx, q, &list[i]), 2e-15);
  for (int k = 0; k < first.passes; k++) {
    kugel__block others[4];
    if (first.pass[k].finish || first.pass[k].block.mirror)
      continue;
    int count = kugel__block_others(&first.pass[k].block, q->shared, 4, others);
    for (int i = 0; i < count; i++, blocks++) {
      kugel__gpu_chain other = first;
      other.pass[k].block = others[i];
      CHECK_LE(distance(ctx, q, &other), 2e-15);
    }
  }
  printf("  %lld points of kind %d: %d chains and %d blocks beside the first choice\n", (long long)q->n,
         q->kind, chains, blocks);
  CHECK(blocks > 0 && (chains > 0 || (first.passes == 1 && !first.pass[0].block.spectrum)));
}

/* ---- memory ---- */

// Calls of the driver that a plan takes by measurement.
static int64_t calls(const char *device, kugel_fft_kind kind, int64_t n, bool again)
{
  kugel_ctx *ctx = context(device);
  kugel_fft *plan = NULL;
  kugel_fft_opts o = {.size = sizeof o, .kind = kind, .effort = KUGEL_FFT_MEASURE};
  int64_t written = every_kernels().written;
  kugel__fault_device(0);
  CHECK_OK(kugel_fft_create(ctx, 1, &n, &o, &plan));
  int64_t made = kugel__fault_device(0);
  CHECK(!again || every_kernels().written == written);
  double x[64] = {0, 0, 1}, y[64];
  kugel_array a = {.data = x, .device = {KUGEL_CPU, 0}, .ndim = 1, .dtype = KUGEL_C128, .shape = &n}, b = a;
  b.data = y;
  if (kind == KUGEL_FFT_C2C && plan) {
    CHECK_OK(kugel_fft_execute(plan, KUGEL_FORWARD, &a, &b, NULL));
    CHECK_OK(kugel_fft_execute(plan, KUGEL_INVERSE, &b, &b, NULL));
    for (int i = 0; i < 2 * n; i++)
      CHECK_LE(fabs(y[i] - (double)n * x[i]), 1e-13);
  }
  kugel_fft_destroy(plan);
  kugel_ctx_destroy(ctx);
  return made;
}

static void shell(const char *format, const char *folder)
{
  char command[256];
  snprintf(command, sizeof command, format, folder);
  CHECK(!system(command));
}

static void check_memory(const char *device)
{
  char folder[64] = "/tmp/kugel-measure-XXXXXX";
  CHECK(mkdtemp(folder));
  setenv("KUGEL_CACHE", folder, 1);
  int64_t first = calls(device, KUGEL_FFT_C2C, 12, false), then = calls(device, KUGEL_FFT_C2C, 12, true);
  CHECK(first > 4 * then);
  CHECK(calls(device, KUGEL_FFT_C2C, 12, true) == then);
  first = calls(device, KUGEL_FFT_DCT2, 10, false);
  then = calls(device, KUGEL_FFT_DCT2, 10, true);
  CHECK(first > 4 * then);
  shell("for f in '%s'/*.kernel; do truncate -s -1 $f; done", folder);
  CHECK(calls(device, KUGEL_FFT_C2C, 12, false) > 2 * then); // measured again
  CHECK(calls(device, KUGEL_FFT_C2C, 12, true) <= 2 * then);
  shell("chmod a-w '%s'", folder);
  CHECK(calls(device, KUGEL_FFT_C2C, 12, true) <= 2 * then);
  shell("rm -rf '%s'", folder);
  setenv("KUGEL_CACHE", "off", 1);
  CHECK(calls(device, KUGEL_FFT_C2C, 12, false) > 0);
}

int main(void)
{
  kugel__modules_keep(true);
  CASE("effort out of range; on the CPU it changes nothing")
  {
    kugel_fft *plan = NULL;
    int64_t n = 12;
    kugel_fft_opts o = {.size = sizeof o, .effort = (kugel_fft_effort)2};
    CHECK_IS(kugel_fft_create(NULL, 1, &n, &o, &plan), KUGEL_EINVAL);
    o.effort = (kugel_fft_effort)-1;
    CHECK_IS(kugel_fft_create(NULL, 1, &n, &o, &plan), KUGEL_EINVAL);
    o.effort = KUGEL_FFT_MEASURE;
    CHECK_OK(kugel_fft_create(NULL, 1, &n, &o, &plan));
    kugel_fft_destroy(plan);
  }
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    if (every_miscompiles(&info)) { /* which measures nothing */
      CASE(every_title(&info, "every choice is right")) SKIP("PoCL 5");
      continue;
    }
    every_hold(&info, true);
    CASE(every_title(&info, "every choice is right"))
    {
      kugel_ctx *ctx = context(info.name);
      for (size_t k = 0; k < sizeof problems / sizeof *problems && ctx && info.fp64; k++)
        check_choices(ctx, &problems[k]);
      if (ctx && info.fp64) // a chain that was planned before leaves nothing to the next
        check_choices(ctx, &problems[0]);
      kugel_ctx_destroy(ctx);
    }
    CASE(every_title(&info, "measured once")) check_memory(info.name);
    every_hold(&info, false);
  }
  END();
}
