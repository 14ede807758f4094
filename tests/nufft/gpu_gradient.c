/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Derivatives by the points on every device present, beside the CPU's numbers, which sums are tests of: both types, dimensions,
 * precisions, batches, strides; adjoint to rounding; the same bits in every run. */
#include "nufft/device.h"

enum { M = 300, BATCH = 2 };

/* Executes a plan with gradients or its adjoint on the device, or the CPU (ctx NULL). */
static void run(kugel_ctx *ctx, const kugel_nufft_opts *o, int ndim, const int64_t *n, bool adjoint,
                const double *x, const int64_t *point_strides, void *in, void *out)
{
  const kugel_dtype kind = o->precision == KUGEL_PRECISION_F32 ? KUGEL_C64 : KUGEL_C128;
  const bool modes = (o->type == KUGEL_NUFFT_TO_MODES) != adjoint;
  int64_t numbers[] = {BATCH, 1 + ndim, M}, shape[4] = {BATCH}, at[] = {M, ndim};
  for (int d = 0; d < ndim; d++)
    shape[d + 1] = n[d];
  kugel_array c = *KUGEL_ARRAY(modes ? in : out, kind, 1), f = *KUGEL_ARRAY(modes ? out : in, kind, 1),
              places = *KUGEL_ARRAY(x, KUGEL_F64, 1);
  c.ndim = 3, c.shape = numbers, c.strides = (int64_t *)(uintptr_t)point_strides;
  f.ndim = 1 + ndim, f.shape = shape;
  places.ndim = 2, places.shape = at;
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL;
  CHECK_OK(kugel_nufft_create(ctx, ndim, n, o, &plan));
  CHECK_OK(kugel_nufft_points_create(plan, &places, &points));
  CHECK_OK(
      (adjoint ? kugel_nufft_adjoint : kugel_nufft_execute)(points, modes ? &c : &f, modes ? &f : &c, NULL));
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
}

/* As many widths as a device compiles in a while: odd and even ones, tiles in shared memory and not. */
static void as_on_the_cpu(kugel_ctx *ctx)
{
  static const int64_t sizes[3][3] = {{200}, {34, 41}, {16, 11, 18}};
  static const struct {
    int ndim;
    bool single;
    double tolerance, upsampling;
  } kinds[] = {{1, false, 1e-6, 2},  {2, false, 1e-6, 2}, {3, false, 1e-6, 2},   {1, true, 1e-3, 2},
               {2, true, 1e-3, 2},   {3, true, 1e-3, 2},  {2, false, 1e-3, 1.5}, {3, false, 1e-5, 2},
               {3, false, 1e-12, 2}, {3, true, 1e-5, 1.5}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    const int ndim = kinds[k].ndim;
    const bool single = kinds[k].single;
    const int64_t *n = sizes[ndim - 1];
    int64_t modes = BATCH;
    for (int d = 0; d < ndim; d++)
      modes *= n[d];
    const int64_t numbers = BATCH * (1 + ndim) * M;
    const size_t bytes = single ? 8 : 16;
    for (int type = 1; type <= 2; type++) {
      kugel_nufft_opts o = {.size = sizeof o,
                            .type = (kugel_nufft_type)type,
                            .sign = k % 2 ? 1 : -1,
                            .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                            .tolerance = kinds[k].tolerance,
                            .upsampling = kinds[k].upsampling,
                            .gradient = 1};
      const int64_t n_in = type == 1 ? numbers : modes, n_out = type == 1 ? modes : numbers;
      double *x = random_reals(M * ndim, 11), *in = random_reals(2 * n_in, 12);
      for (int64_t i = 0; i < M * ndim; i++)
        x[i] *= i % 5 ? 7 : 0.05;
      for (int64_t i = 0; single && i < 2 * n_in; i++)
        ((float *)in)[i] = (float)check_random(&(uint64_t){(uint64_t)i + 7});
      void *got = malloc((size_t)n_out * bytes), *want = malloc((size_t)n_out * bytes),
           *back = malloc((size_t)n_in * bytes), *known = malloc((size_t)n_in * bytes);
      run(ctx, &o, ndim, n, false, x, NULL, in, got);
      run(NULL, &o, ndim, n, false, x, NULL, in, want);
      CHECK_LE(distance(single, got, want, 2 * n_out), single ? 3e-6 : 1e-13);
      run(ctx, &o, ndim, n, false, x, NULL, in, want);
      CHECK(!memcmp(got, want, (size_t)n_out * bytes));
      run(ctx, &o, ndim, n, true, x, NULL, got, back);
      run(NULL, &o, ndim, n, true, x, NULL, got, known);
      CHECK_LE(distance(single, back, known, 2 * n_in), single ? 5e-6 : 2e-13);
      if (!single) { // <F a, F a> = <F* F a, a>
        double left = 0, right = 0;
        for (int64_t i = 0; i < 2 * n_out; i++)
          left += ((double *)got)[i] * ((double *)got)[i];
        for (int64_t i = 0; i < 2 * n_in; i++)
          right += ((double *)back)[i] * in[i];
        CHECK_LE(fabs(left - right), 1e-13 * left);
      }
      free(x), free(in), free(got), free(want), free(back), free(known);
    }
  }
}

/* Numbers of points side by side, [..., M, 1 + ndim], in device memory. */
static void strides(kugel_ctx *ctx, const kugel_device_info *info)
{
  enum { N0 = 34, N1 = 41, NUMBERS = BATCH * 3 * M, MODES = BATCH * N0 * N1 };
  const int64_t n[] = {N0, N1}, apart[] = {3 * M, 1, 3};
  kugel_nufft_opts o = {
      .size = sizeof o, .type = KUGEL_NUFFT_TO_MODES, .tolerance = 1e-6, .upsampling = 2, .gradient = 1};
  double *x = random_reals(2 * M, 1), *c = random_reals(2 * NUMBERS, 2), *turned = malloc(NUMBERS * 16),
         *want = malloc(MODES * 16), *got = malloc(MODES * 16), *back = malloc(NUMBERS * 16);
  for (int i = 0; i < NUMBERS; i++)
    memcpy(turned + 2 * (i / (3 * M) * 3 * M + i % M * 3 + i / M % 3), c + 2 * i, 16);
  run(ctx, &o, 2, n, false, x, NULL, c, want);
  void *memory[2];
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL;
  for (int i = 0; i < 2; i++)
    CHECK_OK(kugel_device_alloc(ctx, i ? MODES * 16 : NUMBERS * 16, &memory[i]));
  CHECK_OK(kugel_device_upload(ctx, memory[0], 0, turned, NUMBERS * 16, NULL));
  kugel_array in = *KUGEL_ARRAY(memory[0], KUGEL_C128, BATCH, 3, M),
              out = *KUGEL_ARRAY(memory[1], KUGEL_C128, BATCH, N0, N1);
  in.device = out.device = info->device;
  in.strides = (int64_t *)(uintptr_t)apart;
  CHECK_OK(kugel_nufft_create(ctx, 2, n, &o, &plan));
  CHECK_OK(kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, M, 2), &points));
  CHECK_OK(kugel_nufft_execute(points, &in, &out, NULL));
  CHECK_OK(kugel_device_download(ctx, got, memory[1], 0, MODES * 16, NULL));
  CHECK(!memcmp(got, want, MODES * 16));
  CHECK_OK(kugel_nufft_adjoint(points, &out, &in, NULL));
  CHECK_OK(kugel_device_download(ctx, turned, memory[0], 0, NUMBERS * 16, NULL));
  run(ctx, &o, 2, n, true, x, NULL, want, back);
  for (int i = 0; i < NUMBERS; i++)
    CHECK(!memcmp(turned + 2 * (i / (3 * M) * 3 * M + i % M * 3 + i / M % 3), back + 2 * i, 16));
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  for (int i = 0; i < 2; i++)
    kugel_device_free(ctx, memory[i]);
  free(x), free(c), free(turned), free(want), free(got), free(back);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_context(&info);
    if (!ctx)
      continue;
    CASE(every_title(&info, "as on the CPU")) as_on_the_cpu(ctx);
    CASE(every_title(&info, "strides in device memory")) strides(ctx, &info);
    kugel_ctx_destroy(ctx);
  }
  END();
}
