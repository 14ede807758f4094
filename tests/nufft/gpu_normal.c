/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Normal operators, density weights, spreading and interpolation alone on every device present, beside the CPU's. */
#include "device/faults.h"
#include "nufft/device.h"

enum { M = 400, BATCH = 2 };
static const int64_t sizes[3][3] = {{41}, {12, 9}, {6, 7, 8}};

/* A plan with its points, an operator and arrays, on the CPU (ctx NULL) or a device. */
typedef struct side {
  kugel_nufft *plan;
  kugel_nufft_points *points, *normal;
  int64_t fine[4];
} side;

static kugel_nufft_opts options(int k)
{
  const bool single = k / 3 % 2;
  return (kugel_nufft_opts){.size = sizeof(kugel_nufft_opts),
                            .type = k % 2 ? KUGEL_NUFFT_TO_POINTS : KUGEL_NUFFT_TO_MODES,
                            .sign = k % 4 < 2 ? 1 : -1,
                            .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                            .tolerance = single ? 1e-5 : 1e-9,
                            .upsampling = 2,
                            .fft_order = k / 6};
}

static side make_side(kugel_ctx *ctx, int k, const double *x, const kugel_array *w)
{
  const int ndim = 1 + k % 3;
  side s = {0};
  kugel_nufft_opts o = options(k);
  kugel_nufft_info info = {.size = sizeof info};
  const int64_t shape[] = {M, ndim};
  const kugel_array places = {.data = (void *)(uintptr_t)x,
                              .device = {KUGEL_CPU, 0},
                              .ndim = 2,
                              .dtype = KUGEL_F64,
                              .shape = (int64_t *)(uintptr_t)shape};
  CHECK_OK(kugel_nufft_create(ctx, ndim, sizes[ndim - 1], &o, &s.plan));
  CHECK_OK(kugel_nufft_points_create(s.plan, &places, &s.points));
  CHECK_OK(kugel_nufft_normal_create(s.plan, &places, w, &s.normal));
  CHECK_OK(kugel_nufft_get_info(s.plan, &info));
  s.fine[0] = BATCH;
  memcpy(s.fine + 1, info.fine, sizeof info.fine);
  return s;
}

static void end_side(side *s)
{
  kugel_nufft_points_destroy(s->points);
  kugel_nufft_points_destroy(s->normal);
  kugel_nufft_destroy(s->plan);
}

static kugel_array host(void *data, int ndim, const int64_t *shape, kugel_dtype type)
{
  return (kugel_array){.data = data,
                       .device = {KUGEL_CPU, 0},
                       .ndim = ndim,
                       .dtype = type,
                       .shape = (int64_t *)(uintptr_t)shape};
}

/* In every dimension, both precisions and orders of modes: host arrays with a batch, which the CPU's numbers are for. */
static void as_on_the_cpu(kugel_ctx *ctx)
{
  for (int k = 0; k < 12; k++) {
    const int ndim = 1 + k % 3;
    const bool single = k / 3 % 2;
    const double bound = single ? 2e-6 : 1e-13, close = single ? 3e-5 : 1e-9;
    const kugel_dtype number = single ? KUGEL_C64 : KUGEL_C128, real = single ? KUGEL_F32 : KUGEL_F64;
    double *x = random_reals(M * ndim, 1), *w = random_reals(M, 2);
    kugel_array weights = *KUGEL_ARRAY(w, KUGEL_F64, M);
    side cpu = make_side(NULL, k, x, k % 5 ? &weights : NULL),
         here = make_side(ctx, k, x, k % 5 ? &weights : NULL);
    int64_t shape[4] = {BATCH}, modes = BATCH, cells = BATCH, points[] = {BATCH, M};
    for (int d = 0; d < ndim; d++) {
      modes *= shape[d + 1] = sizes[ndim - 1][d];
      cells *= cpu.fine[d + 1];
    }
    double *in = random_reals(2 * (cells + modes + BATCH * M), 3);
    for (int64_t i = 0; single && i < 2 * (cells + modes + BATCH * M); i++)
      ((float *)in)[i] = (float)check_random(&(uint64_t){(uint64_t)i + 7});
    void *got = malloc((size_t)(cells + BATCH * M) * 16), *want = malloc((size_t)(cells + BATCH * M) * 16);
    kugel_array f = host(in, ndim + 1, shape, number), a = host(got, ndim + 1, shape, number),
                b = host(want, ndim + 1, shape, number);
    CHECK_OK(kugel_nufft_execute(here.normal, &f, &a, NULL));
    CHECK_OK(kugel_nufft_execute(cpu.normal, &f, &b, NULL));
    CHECK_LE(distance(single, got, want, 2 * modes), close);
    CHECK_OK(kugel_nufft_adjoint(here.normal, &f, &b, NULL));
    CHECK(!memcmp(got, want, (size_t)modes * (single ? 8 : 16)));

    kugel_array c = host(in, 2, points, number), grid = host(got, ndim + 1, here.fine, number),
                other = host(want, ndim + 1, cpu.fine, number);
    CHECK(!memcmp(here.fine, cpu.fine, sizeof cpu.fine));
    CHECK_OK(kugel_nufft_spread(here.points, &c, &grid, NULL));
    CHECK_OK(kugel_nufft_spread(cpu.points, &c, &other, NULL));
    CHECK_LE(distance(single, got, want, 2 * cells), bound);
    grid.data = other.data = in;
    kugel_array v = host(got, 2, points, number), u = host(want, 2, points, number);
    CHECK_OK(kugel_nufft_interpolate(here.points, &grid, &v, NULL));
    CHECK_OK(kugel_nufft_interpolate(cpu.points, &other, &u, NULL));
    CHECK_LE(distance(single, got, want, 2 * BATCH * M), bound);

    kugel_array density = *KUGEL_ARRAY(got, real, M), known = *KUGEL_ARRAY(want, real, M);
    CHECK_OK(kugel_nufft_density(here.points, 7, &density));
    CHECK_OK(kugel_nufft_density(cpu.points, 7, &known));
    CHECK_LE(distance(single, got, want, M), 10 * bound);
    end_side(&cpu);
    end_side(&here);
    free(x), free(w), free(in), free(got), free(want);
  }
}

/* Coordinates, weights of floats with strides, modes and density in device memory, on a queue: the bits of host arrays. */
static void in_its_memory(kugel_ctx *ctx, const kugel_device_info *info)
{
  enum { N0 = 12, N1 = 9, MODES = N0 * N1 };
  const int64_t n[2] = {N0, N1};
  double *x = random_reals(2 * M, 1), *f = random_reals(2 * MODES, 3), *got = malloc(MODES * 16),
         *want = malloc(MODES * 16), w[M], density[M], known[M], pairs[2 * M];
  float narrow[2 * M];
  for (int i = 0; i < 2 * M; i++) {
    narrow[i] = (float)(i % 7) - 2;
    w[i / 2] = i % 2 ? w[i / 2] : (double)narrow[i];
  }
  const void *from[] = {x, narrow, f, got, pairs};
  const size_t bytes[] = {2 * M * 8, sizeof narrow, MODES * 16, MODES * 16, sizeof pairs};
  void *memory[5];
  kugel_queue *queue;
  kugel_nufft *plan;
  kugel_nufft_points *normal, *other, *points, *none;
  kugel_nufft_opts o = options(1);
  CHECK_OK(kugel_queue_create(ctx, &queue));
  for (int i = 0; i < 5; i++) {
    CHECK_OK(kugel_device_alloc(ctx, bytes[i], &memory[i]));
    CHECK_OK(kugel_device_upload(ctx, memory[i], 0, from[i], bytes[i], NULL));
  }
  kugel_array px = *KUGEL_ARRAY(memory[0], KUGEL_F64, M, 2), pw = *KUGEL_ARRAY(memory[1], KUGEL_F32, M),
              in = *KUGEL_ARRAY(memory[2], KUGEL_C128, N0, N1),
              out = *KUGEL_ARRAY(memory[3], KUGEL_C128, N0, N1), pd = *KUGEL_ARRAY(memory[4], KUGEL_F64, M);
  px.device = pw.device = in.device = out.device = pd.device = info->device;
  pw.strides = pd.strides = (int64_t[]){2};
  in.strides = (int64_t[]){1, N0};
  CHECK_OK(kugel_nufft_create(ctx, 2, n, &o, &plan));
  CHECK_OK(kugel_nufft_normal_create(plan, &px, &pw, &normal));
  CHECK_OK(
      kugel_nufft_normal_create(plan, KUGEL_ARRAY(x, KUGEL_F64, M, 2), KUGEL_ARRAY(w, KUGEL_F64, M), &other));
  CHECK_OK(kugel_nufft_execute(normal, &in, &out, queue));
  CHECK_OK(kugel_device_download(ctx, got, memory[3], 0, bytes[3], queue));
  CHECK_OK(kugel_queue_wait(queue));
  double *turned = malloc(MODES * 16);
  for (int i = 0; i < MODES; i++)
    memcpy(turned + 2 * i, f + 2 * (i / N1 + i % N1 * N0), 16);
  CHECK_OK(kugel_nufft_execute(other, KUGEL_ARRAY(turned, KUGEL_C128, N0, N1),
                               KUGEL_ARRAY(want, KUGEL_C128, N0, N1), NULL));
  CHECK(!memcmp(got, want, MODES * 16));
  CHECK_OK(kugel_nufft_points_create(plan, &px, &points));
  CHECK_OK(kugel_nufft_density(points, 3, &pd));
  CHECK_OK(kugel_nufft_density(points, 3, KUGEL_ARRAY(known, KUGEL_F64, M)));
  CHECK_OK(kugel_device_download(ctx, pairs, memory[4], 0, bytes[4], NULL));
  for (int i = 0; i < M; i++)
    density[i] = pairs[2 * i];
  CHECK(!memcmp(density, known, sizeof known));

  pw.device.type = KUGEL_CUDA + 100;
  CHECK_IS(kugel_nufft_normal_create(plan, &px, &pw, &none), KUGEL_ESHAPE);
  CHECK(!none && strstr(kugel_last_error(), "or on the plan's device"));
  pd.device.type = KUGEL_CUDA + 100;
  CHECK_IS(kugel_nufft_density(points, 3, &pd), KUGEL_EDEVICE);
  pd = *KUGEL_ARRAY(pairs, KUGEL_F64, M);
  pd.strides = (int64_t[]){2};
  CHECK_IS(kugel_nufft_density(points, 3, &pd), KUGEL_ENOTSUP);
  CHECK_IS(kugel_nufft_density(normal, 3, &pd), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_spread(normal, &in, &out, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_nufft_execute(normal, &in, &in, NULL), KUGEL_EINVAL); // overlap
  kugel_nufft_points_destroy(points);
  kugel_nufft_points_destroy(normal);
  kugel_nufft_points_destroy(other);
  kugel_nufft_destroy(plan);
  kugel_queue_destroy(queue);
  for (int i = 0; i < 5; i++)
    kugel_device_free(ctx, memory[i]);
  free(x), free(f), free(got), free(want), free(turned);
}

/* ---- failures ---- */

static kugel_status all_calls(kugel_ctx *ctx, void *arg)
{
  double *const *data = arg;
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL, *normal = NULL;
  kugel_nufft_opts o = options(7);
  const kugel_array x = *KUGEL_ARRAY(data[0], KUGEL_F64, M, 2), w = *KUGEL_ARRAY(data[1], KUGEL_F64, M),
                    f = *KUGEL_ARRAY(data[2], KUGEL_C128, 12, 9),
                    g = *KUGEL_ARRAY(data[3], KUGEL_C128, 12, 9);
  kugel_status s = kugel_nufft_create(ctx, 2, sizes[1], &o, &plan);
  if (!s)
    s = kugel_nufft_points_create(plan, &x, &points);
  if (!s)
    s = kugel_nufft_density(points, 2, &w);
  if (!s)
    s = kugel_nufft_normal_create(plan, &x, &w, &normal);
  if (!s)
    s = kugel_nufft_execute(normal, &f, &g, NULL);
  kugel_nufft_points_destroy(normal);
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
  return s;
}

static void faults(kugel_ctx *ctx)
{
  double *data[] = {random_reals(2 * M, 1), random_reals(M, 2), random_reals(216, 3), random_reals(216, 4)};
  sweep_driver(ctx, 80, all_calls, data);
  sweep_memory(ctx, 120, all_calls, data);
  for (int i = 0; i < 4; i++)
    free(data[i]);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_context(&info);
    if (!ctx)
      continue;
    CASE(every_title(&info, "as on the CPU")) as_on_the_cpu(ctx);
    CASE(every_title(&info, "arrays in its memory")) in_its_memory(ctx, &info);
    CASE(every_title(&info, "failures")) faults(ctx);
    kugel_ctx_destroy(ctx);
  }
  END();
}
