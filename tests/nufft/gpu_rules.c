/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Non-uniform transforms on every device present: adjoints, the same bits in every run, clusters, arrays in device memory with
 * strides and a queue, batches, bad input, failures of the driver. */
#include "device/faults.h"
#include "nufft/device.h"

enum { N0 = 30, N1 = 50, MODES = N0 * N1 };
static const int64_t modes2[2] = {N0, N1};
static const kugel_nufft_opts to_modes_opts = {
    .size = sizeof to_modes_opts, .type = KUGEL_NUFFT_TO_MODES, .tolerance = 1e-6, .upsampling = 2};

static long double complex dot(const double *a, const double *b, int64_t n, long double *size)
{
  long double complex sum = 0;
  for (int64_t i = 0; i < n; i++) {
    sum += conjl(number(a, i)) * number(b, i);
    *size += cabsl(number(a, i)) * cabsl(number(b, i));
  }
  return sum;
}

/* <b, F a> = <F* b, a> to rounding at any tolerance. */
static void adjoints(kugel_ctx *ctx)
{
  static const int64_t sizes[3][3] = {{2500}, {30, 50}, {12, 15, 10}};
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int sign = -1; sign <= 1; sign += 2) {
      problem p = {.ndim = ndim, .m = 700, .opts = to_modes_opts};
      memcpy(p.n, sizes[ndim - 1], sizeof p.n);
      p.opts.sign = sign;
      p.opts.tolerance = 1e-3;
      int64_t n = modes_of(&p);
      double *x = random_reals(p.m * ndim, 1), *a = random_reals(2 * p.m, 2), *b = random_reals(2 * n, 3),
             *fa = malloc((size_t)n * 16), *fb = malloc((size_t)p.m * 16);
      on_device(ctx, &p, x, false, a, fa);
      on_device(ctx, &p, x, true, b, fb);
      long double size = 0, other = 0;
      long double complex left = dot(b, fa, n, &size), right = dot(fb, a, p.m, &other);
      CHECK_LE((double)(cabsl(left - right) / size), 1e-15);
      free(x), free(a), free(b), free(fa), free(fb);
    }
}

/* Points all over and in few cells, where boxes are cut in parts: the same bits in every run, and the CPU's numbers. */
static void runs(kugel_ctx *ctx)
{
  static const int64_t sizes[3][3] = {{3000}, {100, 210}, {24, 30, 40}};
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int k = 0; k < 4; k++) {
      problem p = {.ndim = ndim, .m = 40000, .opts = to_modes_opts};
      memcpy(p.n, sizes[ndim - 1], sizeof p.n);
      p.opts.type = k & 1 ? KUGEL_NUFFT_TO_MODES : KUGEL_NUFFT_TO_POINTS;
      int64_t n_in = k & 1 ? p.m : modes_of(&p), n_out = k & 1 ? modes_of(&p) : p.m;
      double *x = random_reals(p.m * ndim, 1), *in = random_reals(2 * n_in, 2),
             *want = malloc((size_t)n_out * 16), *first = malloc((size_t)n_out * 16),
             *out = malloc((size_t)n_out * 16);
      for (int64_t i = 0; i < p.m * ndim; i++)
        x[i] *= k & 2 ? 1e-3 : 7;
      transform(&p, x, false, in, want);
      on_device(ctx, &p, x, false, in, first);
      on_device(ctx, &p, x, false, in, out);
      CHECK(!memcmp(first, out, (size_t)n_out * 16));
      CHECK_LE(check_l2(first, want, (size_t)(2 * n_out)), 1e-13);
      free(x), free(in), free(want), free(first), free(out);
    }
}

/* A batch of 2 x 3 in device memory with strides of its own, floats by columns as points, on a queue: single calls with host
 * arrays give the same bits. */
static void layouts(kugel_ctx *ctx, const kugel_device_info *info)
{
  enum { M = 300, BATCH = 6 };
  problem p = {.ndim = 2, .n = {N0, N1}, .m = M, .opts = to_modes_opts};
  p.opts.fft_order = 1;
  double *x = random_reals(2 * M, 1), *in = random_reals(2 * M * BATCH, 2),
         *want = malloc(BATCH * MODES * 16), *out = malloc(BATCH * MODES * 16),
         *strided = malloc(M * BATCH * 16);
  float columns[2 * M];
  for (int64_t i = 0; i < M; i++)
    for (int d = 0; d < 2; d++) {
      columns[d * M + i] = (float)x[2 * i + d];
      x[2 * i + d] = columns[d * M + i];
    }
  for (int64_t v = 0; v < BATCH; v++) {
    on_device(ctx, &p, x, false, in + 2 * M * v, want + 2 * MODES * v);
    for (int64_t i = 0; i < M; i++) // [points, 3, 2]
      memcpy(strided + 2 * (i * BATCH + v % 3 * 2 + v / 3), in + 2 * (M * v + i), 16);
  }
  void *memory[3];
  size_t bytes[3] = {sizeof columns, M * BATCH * 16, BATCH * MODES * 16};
  const void *from[3] = {columns, strided, out};
  kugel_queue *queue;
  kugel_nufft *plan;
  kugel_nufft_points *points;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  for (int i = 0; i < 3; i++) {
    CHECK_OK(kugel_device_alloc(ctx, bytes[i], &memory[i]));
    CHECK_OK(kugel_device_upload(ctx, memory[i], 0, from[i], bytes[i], NULL));
  }
  kugel_array px = *KUGEL_ARRAY(memory[0], KUGEL_F32, M, 2), c = *KUGEL_ARRAY(memory[1], KUGEL_C128, 2, 3, M),
              f = *KUGEL_ARRAY(memory[2], KUGEL_C128, 2, 3, N0, N1);
  px.device = c.device = f.device = info->device;
  px.strides = (int64_t[]){1, M};
  c.strides = (int64_t[]){1, 2, BATCH};
  CHECK_OK(kugel_nufft_create(ctx, 2, modes2, &p.opts, &plan));
  CHECK_OK(kugel_nufft_points_create(plan, &px, &points));
  CHECK_OK(kugel_nufft_execute(points, &c, &f, queue));
  CHECK_OK(kugel_device_download(ctx, out, memory[2], 0, bytes[2], queue));
  CHECK_OK(kugel_queue_wait(queue));
  CHECK(!memcmp(out, want, bytes[2]));
  c.data = memory[2];
  CHECK_IS(kugel_nufft_execute(points, &c, &f, queue), KUGEL_EINVAL); // overlap
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  kugel_queue_destroy(queue);
  for (int i = 0; i < 3; i++)
    kugel_device_free(ctx, memory[i]);
  free(x), free(in), free(want), free(out), free(strided);
}

static void nothing(kugel_ctx *ctx)
{
  problem p = {.ndim = 2, .n = {N0, N1}, .opts = to_modes_opts};
  double *out = malloc(MODES * 16), none[2] = {0};
  memset(out, 1, MODES * 16);
  on_device(ctx, &p, none, false, none, out);
  for (int i = 0; i < 2 * MODES; i++)
    CHECK(out[i] == 0);
  p.opts.type = KUGEL_NUFFT_TO_POINTS;
  on_device(ctx, &p, none, false, out, none);
  free(out);
}

static void bad_input(kugel_ctx *ctx)
{
  kugel_nufft *plan;
  kugel_nufft_points *points;
  double x[6] = {0, 1, 2, 3, INFINITY, 0}, c[16] = {0}, *f = calloc(MODES, 32);
  kugel_array modes = *KUGEL_ARRAY(f, KUGEL_C128, N0, N1), apart = modes, elsewhere = modes;
  kugel_queue *queue;
  CHECK_OK(kugel_nufft_create(ctx, 2, modes2, &to_modes_opts, &plan));
  CHECK_IS(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 3, 2), &points), KUGEL_EINVAL);
  CHECK(!points && strstr(kugel_last_error(), "point 2 is not finite"));
  x[4] = NAN;
  CHECK_IS(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 3, 2), &points), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 3), &points), KUGEL_ESHAPE);
  x[4] = -1e300; // finite: a number comes out
  CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 3, 2), &points));
  CHECK_OK(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C128, 3), &modes, NULL));
  apart.strides = (int64_t[]){2 * N1, 2};
  CHECK_IS(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C128, 3), &apart, NULL), KUGEL_ENOTSUP);
  CHECK(strstr(kugel_last_error(), "make it contiguous"));
  elsewhere.device.type = KUGEL_CUDA + 100;
  CHECK_IS(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C128, 3), &elsewhere, NULL), KUGEL_EDEVICE);
  CHECK_IS(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C128, 4), &modes, NULL), KUGEL_ESHAPE);
  CHECK_OK(kugel_queue_create(NULL, &queue));
  CHECK_IS(kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C128, 3), &modes, queue), KUGEL_EINVAL);
  kugel_queue_destroy(queue);
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  free(f);
}

/* What runs on the CPU only says so. */
static void only_on_cpu(kugel_ctx *ctx)
{
  kugel_nufft *plan;
  kugel_nufft_opts o = to_modes_opts, third = to_modes_opts;
  third.type = KUGEL_NUFFT_TO_FREQUENCIES;
  CHECK_IS(kugel_nufft_create(ctx, 2, NULL, &third, &plan), KUGEL_ENOTSUP);
  CHECK(strstr(kugel_last_error(), "runs on the CPU"));
  o.real = 1;
  CHECK_IS(kugel_nufft_create(ctx, 2, modes2, &o, &plan), KUGEL_ENOTSUP);
}

/* ---- failures ---- */

static kugel_status all_calls(kugel_ctx *ctx, void *arg)
{
  double *const *data = arg;
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL;
  kugel_array strengths = *KUGEL_ARRAY(data[1], KUGEL_C128, 1000),
              modes = *KUGEL_ARRAY(data[2], KUGEL_C128, N0, N1);
  kugel_nufft_opts o = to_modes_opts;
  o.fft_order = 1;
  kugel_status s = kugel_nufft_create(ctx, 2, modes2, &o, &plan);
  if (!s)
    s = kugel_nufft_points_create(plan, KUGEL_ARRAY(data[0], KUGEL_F64, 1000, 2), &points);
  if (!s)
    s = kugel_nufft_execute(points, &strengths, &modes, NULL);
  if (!s)
    s = kugel_nufft_adjoint(points, &modes, &strengths, NULL);
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  return s;
}

static void faults(kugel_ctx *ctx)
{
  double *data[] = {random_reals(2000, 1), random_reals(2000, 2), random_reals(2 * MODES, 3)};
  sweep_driver(ctx, 100, all_calls, data);
  sweep_memory(ctx, 60, all_calls, data);
  free(data[0]), free(data[1]), free(data[2]);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_context(&info);
    if (!ctx)
      continue;
    CASE(every_title(&info, "adjoint to rounding at any tolerance")) adjoints(ctx);
    CASE(every_title(&info, "the same bits in every run, and the CPU's numbers")) runs(ctx);
    CASE(every_title(&info, "batches, strides, a queue")) layouts(ctx, &info);
    CASE(every_title(&info, "no points")) nothing(ctx);
    CASE(every_title(&info, "bad input")) bad_input(ctx);
    CASE(every_title(&info, "what runs on the CPU only")) only_on_cpu(ctx);
    CASE(every_title(&info, "failures")) faults(ctx);
    kugel_ctx_destroy(ctx);
  }
  END();
}
