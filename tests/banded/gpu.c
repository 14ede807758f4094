/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Banded solves and products on every device: residuals of every size against sums in 113 bits,
 * guard words, arrays of the device, failures. ISA: once */
#include "check.h"
#include "core/ctx.h"
#include "device/every.h"
#include "device/faults.h"
#include "truth.h"

static const double SOLVE_BOUND = 12, SCAN_BOUND = 100, PRODUCT_BOUND = 4;

static void try_one(kugel_ctx *ctx, kugel_banded_opts opts, int64_t batch, double spread, uint64_t seed)
{
  problem p;
  kugel_banded *plan = NULL;
  problem_make(&p, opts, batch, spread, seed);
  CHECK_OK(kugel_banded_create(ctx, &p.opts, &plan));
  if (plan) {
    kugel_banded_info info = {.size = sizeof info, .batch = batch};
    CHECK_OK(kugel_banded_get_info(plan, &info));
    double solve = problem_run(&p, plan, true, seed % 2),
           product = problem_run(&p, plan, false, seed / 2 % 2);
    if (!(solve <= (info.method != KUGEL_BANDED_SUBSTITUTION ? SCAN_BOUND : SOLVE_BOUND) &&
          product <= PRODUCT_BOUND))
      CHECK_FAIL(
          "kind %d precision %d layout %d n %lld batch %lld matrices %lld, %d threads: solve %g, product %g",
          opts.kind, opts.precision, opts.layout, (long long)opts.n, (long long)batch,
          (long long)opts.matrices, info.threads, solve, product);
  }
  kugel_banded_destroy(plan);
  problem_free(&p);
}

/* Combination v of kinds, precisions, layouts, one matrix or many. */
static void try_kind(kugel_ctx *ctx, int v, int64_t n, int64_t batch, double spread)
{
  kugel_banded_opts o = {.kind = v % 3, .precision = (v / 3 + v) % 3, .layout = v / 3 % 2, .n = n};
  o.matrices = v % 4 == 1 ? batch : 0;
  o.method =
      spread < 1 && n % 3 ? KUGEL_BANDED_SCAN : KUGEL_BANDED_AUTO; /* small calls have kernels of their own */
  if (spread > 1 && o.kind == KUGEL_BANDED_TRIDIAGONAL)
    o.kind = KUGEL_BANDED_UPPER;
  try_one(ctx, o, batch, spread, (uint64_t)(n + v));
}

/* Arrays of the device at an offset, out of place, on a queue. */
static void on_device(kugel_ctx *ctx)
{
  problem p;
  kugel_banded *plan;
  kugel_queue *queue;
  void *in, *out;
  size_t at = ctx->device.type == KUGEL_OPENCL ? 512 : 520; /* where devices allow it, between pairs */
  problem_make(&p, (kugel_banded_opts){.kind = 2, .n = 100}, 50, 0.5, 4);
  double *b = malloc(5000 * sizeof *b), *x = malloc(5000 * sizeof *x);
  problem_fill(&p, p.b, b);
  CHECK_OK(kugel_banded_create(ctx, &p.opts, &plan));
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_device_alloc(ctx, 50000, &in));
  CHECK_OK(kugel_device_alloc(ctx, 50000, &out));
  CHECK_OK(kugel_device_upload(ctx, in, at, b, 40000, queue));
  int64_t shape[2] = {50, 100};
  kugel_array from = {
      .data = in, .device = ctx->device, .ndim = 2, .dtype = KUGEL_F64, .shape = shape, .byte_offset = at};
  kugel_array to = from;
  to.data = out;
  to.byte_offset = 1024;
  CHECK_OK(kugel_banded_solve(plan, &from, &to, queue));
  CHECK_OK(kugel_banded_product(plan, &to, &from, queue));
  CHECK_OK(kugel_device_download(ctx, x, out, 1024, 40000, queue));
  CHECK_OK(kugel_queue_wait(queue));
  CHECK_LE(problem_residual(&p, x, b), SCAN_BOUND);
  CHECK_OK(kugel_device_download(ctx, x, in, at, 40000, NULL));
  CHECK_CLOSE(x, b, 5000, 1e-14);
  kugel_queue_destroy(queue);
  kugel_device_free(ctx, in);
  kugel_device_free(ctx, out);
  kugel_banded_destroy(plan);
  problem_free(&p);
  free(b);
  free(x);
}

/* Of 200 numbers. */
static kugel_status both_once(kugel_ctx *ctx, void *opts)
{
  double x[200] = {0.5, 0.5};
  kugel_array v = *KUGEL_ARRAY(x, KUGEL_F64, 1, 200);
  kugel_banded *plan = NULL;
  kugel_status s = kugel_banded_create(ctx, opts, &plan);
  if (!s)
    s = kugel_banded_solve(plan, &v, &v, NULL);
  if (!s)
    s = kugel_banded_product(plan, &v, &v, NULL);
  kugel_banded_destroy(plan);
  return s;
}

static void failures(kugel_ctx *ctx)
{
  double a[200], x[200];
  for (int i = 0; i < 200; i++)
    a[i] = x[i] = 0.5;
  kugel_banded_opts o = {.size = sizeof o, .n = 200, .lower = a, .diagonal = a};
  kugel_array v = *KUGEL_ARRAY(x, KUGEL_F64, 1, 200);
  kugel_banded *plan;
  CHECK_OK(kugel_banded_create(ctx, &o, &plan)); // keeps its kernels compiled
  sweep_memory(ctx, INT64_MAX, both_once, &o);
  sweep_driver(ctx, INT64_MAX, both_once, &o);
  kugel_banded_destroy(plan);
  a[7] = 0;
  CHECK_OK(kugel_banded_create(ctx, &o, &plan));
  CHECK_IS(kugel_banded_solve(plan, &v, &v, NULL), KUGEL_EINVAL);
  CHECK_OK(kugel_banded_product(plan, &v, &v, NULL));
  kugel_banded_destroy(plan);
}

int main(void)
{
  setvbuf(stdout, NULL, _IOLBF, 0);
  kugel_device_info info;
  int index = 0, devices = 0;
  while (every_device(&index, true, &info)) {
    kugel_ctx *ctx;
    CASE(every_title(&info, "open"))
    {
      CHECK_OK(
          kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    }
    bool slow = info.device.type == KUGEL_OPENCL; // each kernel takes its compiler a second
    CASE(every_title(&info, "every size"))
    {
      for (int64_t n = 1; n <= 300; n += 1 + (slow ? n / 2 : n / 4)) {
        try_kind(ctx, n % 2 ? 8 : 3, n, 1 + n * 7 % 67, 0.5);
        for (int v = slow ? 18 : 0; v < 18; v += 5)
          try_kind(ctx, (int)(v + n) % 18, n, 1 + n * 11 % 40, 0.5);
      }
    }
    CASE(every_title(&info, "kinds, precisions, layouts"))
    {
      for (int v = slow; v < 18; v += slow ? 4 : 1)
        try_kind(ctx, v, 100, 67, 0.5);
    }
    CASE(every_title(&info, "several panels"))
    {
      static const int64_t n[] = {600, 2047, 4096, 9001, 20000, 100000};
      for (int k = slow ? 3 : 0; k < (slow ? 4 : 6); k++)
        for (int v = slow ? 8 : k; v < (slow ? 9 : 18); v += 3)
          try_kind(ctx, v, n[k], 2, 0.5);
    }
    CASE(every_title(&info, "cyclic reduction"))
    {
      for (int64_t n = 1; n <= 300; n += 1 + (slow ? n : n / 2))
        for (int v = slow ? n % 9 : 0; v < 9; v += slow ? 9 : 1) {
          kugel_banded_opts o = {.kind = v % 3, .precision = v / 3, .n = n, .method = KUGEL_BANDED_CYCLIC};
          o.matrices = n % 2 ? 0 : 35;
          try_one(ctx, o, 35, 0.5, (uint64_t)(n + v));
        }
    }
    CASE(every_title(&info, "golden bidiagonal solves"))
    {
      const char *path = check_shared("polynomials/bidiag_solve.csv");
      if (path)
        CHECK(golden_solves(ctx, path) >= 3);
    }
    CASE(every_title(&info, "off-diagonal elements larger than the diagonal"))
    {
      for (int v = 0; v < 18; v += slow ? 11 : 1)
        try_kind(ctx, v, 40, 5, 3);
    }
    CASE(every_title(&info, "arrays of the device, a queue"))
    {
      on_device(ctx);
    }
    CASE(every_title(&info, "each call and allocation fails"))
    {
      failures(ctx);
    }
    kugel_ctx_destroy(ctx);
    devices++;
  }
  CASE("devices")
  {
    if (!devices)
      SKIP("no device that runs kernels");
  }
  END();
}
