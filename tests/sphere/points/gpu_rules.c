/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Sums at points on every device present: arrays in device memory, a queue, batches, least squares, no points, bad input, failures
 * of the driver and of allocations. */
#include <pthread.h>
#include "device/every.h"
#include "device/faults.h"
#include "sphere/points/device.h"

enum { N = 60, LMAX = 23, BATCH = 3 };

static kugel_array upload(kugel_ctx *ctx, const kugel_device_info *info, kugel_array a, size_t gap)
{
  size_t bytes = a.dtype.bits / 8;
  for (int d = 0; d < a.ndim; d++)
    bytes *= (size_t)a.shape[d];
  void *memory = NULL;
  CHECK_OK(kugel_device_alloc(ctx, bytes + gap, &memory));
  CHECK_OK(kugel_device_upload(ctx, memory, gap, a.data, bytes, NULL));
  a.data = memory;
  a.byte_offset = gap;
  a.device = info->device;
  return a;
}

/* Arrays in device memory that begin inside an allocation, on a queue: the bits of host arrays, set by set. */
static void arrays(kugel_ctx *ctx, const kugel_device_info *info)
{
  problem p = problem_of(KUGEL_SHT_SCALAR, 0, LMAX, LMAX, 1e-4, N);
  double *alm = random_alm(BATCH, LMAX, LMAX, (const int[]){0, 0, 0}), *want = malloc(BATCH * N * 8),
         *got = malloc(BATCH * N * 8), *back = malloc((size_t)(BATCH * p.nalm) * 16),
         *there = malloc((size_t)(BATCH * p.nalm) * 16);
  kugel_sht_points_plan *plan;
  object host = make(ctx, &p), device = {NULL, NULL};
  kugel_queue *queue;
  for (int b = 0; b < BATCH; b++) {
    host_apply(&host, &p, false, alm + 2 * b * p.nalm, want + b * N);
    host_apply(&host, &p, true, back + 2 * b * p.nalm, want + b * N);
    const double size = dot(N, want + b * N, want + b * N);
    CHECK_LE(fabs(size - alm_dot(1, p.nalm, LMAX, alm + 2 * b * p.nalm, back + 2 * b * p.nalm)),
             1e-14 * size);
  }
  kugel_array x = upload(ctx, info, *KUGEL_ARRAY(p.x, KUGEL_F64, N, 2), 8),
              a = upload(ctx, info, *KUGEL_ARRAY(alm, KUGEL_C128, BATCH, 1, p.nalm), 16),
              f = upload(ctx, info, *KUGEL_ARRAY(got, KUGEL_F64, BATCH, N), 24);
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_sht_points_plan_create(ctx, &p.opts, &plan));
  CHECK_OK(kugel_sht_points_create(plan, &x, &device.points));
  CHECK_OK(apply(&device, false, &a, &f, queue));
  CHECK_OK(apply(&device, true, &a, &f, queue));
  CHECK_OK(kugel_device_download(ctx, got, f.data, f.byte_offset, BATCH * N * 8, queue));
  CHECK_OK(kugel_device_download(ctx, there, a.data, a.byte_offset, (size_t)(BATCH * p.nalm) * 16, queue));
  CHECK_OK(kugel_queue_wait(queue));
  CHECK(!memcmp(got, want, BATCH * N * 8));
  CHECK(!memcmp(there, back, (size_t)(BATCH * p.nalm) * 16));
  /* floats, of which one array is on the host */
  float f32[BATCH * N], *alm32 = malloc((size_t)(BATCH * p.nalm) * 8);
  for (int64_t i = 0; i < 2 * BATCH * p.nalm; i++)
    alm32[i] = (float)alm[i];
  kugel_array a32 = upload(ctx, info, *KUGEL_ARRAY(alm32, KUGEL_C64, BATCH, p.nalm), 0);
  CHECK_OK(apply(&device, false, &a32, KUGEL_ARRAY(f32, KUGEL_F32, BATCH, N), NULL));
  for (int i = 0; i < BATCH * N; i++)
    CHECK_LE(fabs((double)f32[i] - want[i]), 1e-5);
  /* refused */
  kugel_array overlap = a;
  overlap.ndim = 1;
  overlap.dtype = KUGEL_F64;
  overlap.shape = (int64_t[]){N};
  a.ndim = 1;
  a.shape = &p.nalm;
  CHECK_IS(apply(&device, false, &a, &overlap, queue), KUGEL_EINVAL);
  overlap = f;
  overlap.byte_offset = 25;
  overlap.ndim = 1;
  overlap.shape = (int64_t[]){N};
  CHECK_IS(apply(&device, false, &a, &overlap, queue), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "25 bytes"));
  kugel_queue *other;
  CHECK_OK(kugel_queue_create(NULL, &other));
  CHECK_IS(apply(&device, false, KUGEL_ARRAY(alm, KUGEL_C128, p.nalm), KUGEL_ARRAY(got, KUGEL_F64, N), other),
           KUGEL_EINVAL);
  kugel_queue_destroy(other);
  kugel_queue_destroy(queue);
  drop(&host), drop(&device);
  kugel_sht_points_plan_destroy(plan);
  void *blocks[] = {x.data, a.data, f.data, a32.data};
  for (int i = 0; i < 4; i++)
    kugel_device_free(ctx, blocks[i]);
  free(alm), free(want), free(got), free(back), free(there), free(alm32), free(p.x);
}

/* Least squares: the iterations of the CPU. */
static void squares(kugel_ctx *ctx)
{
  enum { MANY = 4000 };
  problem p = problem_of(KUGEL_SHT_SCALAR, 0, LMAX, LMAX, 1e-13, MANY);
  double *alm = random_alm(1, LMAX, LMAX, (const int[]){0}), *values = malloc(MANY * 8),
         *got = malloc((size_t)p.nalm * 16), *want = malloc((size_t)p.nalm * 16);
  object host = make(NULL, &p), device = make(ctx, &p);
  kugel_solve_opts o = {.size = sizeof o, .tolerance = 1e-10, .max_iterations = 200};
  kugel_solve_stats there = {0}, here = {0};
  kugel_array f = *KUGEL_ARRAY(values, KUGEL_F64, MANY), a = *KUGEL_ARRAY(got, KUGEL_C128, p.nalm);
  host_apply(&host, &p, false, alm, values);
  CHECK_OK(kugel_sht_points_solve(device.points, &f, &a, &o, &there, NULL));
  CHECK_OK(kugel_sht_points_solve(host.points, &f, KUGEL_ARRAY(want, KUGEL_C128, p.nalm), &o, &here, NULL));
  CHECK(there.iterations > 3 && abs(there.iterations - here.iterations) <= 1);
  CHECK_LE(check_l2(got, alm, (size_t)(2 * p.nalm)), 1e-8);
  CHECK_LE(there.residual, 1e-8);
  o.max_iterations = 1;
  CHECK_IS(kugel_sht_points_solve(device.points, &f, &a, &o, &there, NULL), KUGEL_ECONVERGE);
  CHECK(there.iterations == 1);
  values[17] = NAN;
  CHECK_IS(kugel_sht_points_solve(device.points, &f, &a, &o, NULL, NULL), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "point 17"));
  drop(&host), drop(&device);
  free(alm), free(values), free(got), free(want), free(p.x);
}

typedef struct worker {
  kugel_ctx *ctx;
  const problem *p;
  const object *device;
  double *alm, *want;
} worker;

static void *work(void *arg)
{
  const worker *w = arg;
  double got[N], *back = malloc((size_t)w->p->nalm * 16);
  for (int k = 0; k < 5; k++) {
    host_apply(w->device, w->p, false, w->alm, got);
    CHECK(!memcmp(got, w->want, sizeof got));
    host_apply(w->device, w->p, true, back, got);
    CHECK(!memcmp(back, w->want + N, (size_t)w->p->nalm * 16));
  }
  free(back);
  return NULL;
}

/* Threads share points, each with coefficients of its own. */
static void threads(kugel_ctx *ctx)
{
  problem p = problem_of(KUGEL_SHT_SCALAR, 0, LMAX, LMAX, 1e-4, N);
  object device = make(ctx, &p);
  worker all[3];
  pthread_t ids[3];
  for (int i = 0; i < 3; i++) {
    all[i] = (worker){ctx, &p, &device, random_alm(1, LMAX, LMAX, (const int[]){0}),
                      malloc((N + 2 * (size_t)p.nalm) * 8)};
    host_apply(&device, &p, false, all[i].alm, all[i].want);
    host_apply(&device, &p, true, all[i].want + N, all[i].want);
  }
  for (int i = 0; i < 3; i++)
    CHECK(!pthread_create(&ids[i], NULL, work, &all[i]));
  for (int i = 0; i < 3; i++) {
    pthread_join(ids[i], NULL);
    free(all[i].alm), free(all[i].want);
  }
  drop(&device);
  free(p.x);
}

static void nothing(kugel_ctx *ctx)
{
  problem p = problem_of(KUGEL_SHT_SCALAR, 0, LMAX, LMAX, 1e-4, 0);
  double *alm = malloc((size_t)p.nalm * 16), none[2] = {0};
  free(p.x);
  p.x = none;
  memset(alm, 1, (size_t)p.nalm * 16);
  object device = make(ctx, &p);
  host_apply(&device, &p, false, alm, none);
  host_apply(&device, &p, true, alm, none);
  for (int64_t i = 0; i < 2 * p.nalm; i++)
    CHECK(alm[i] == 0);
  drop(&device);
  free(alm);
}

static void bad_input(kugel_ctx *ctx)
{
  kugel_sht_points_plan *plan;
  kugel_sht_points *points;
  kugel_lens *lens;
  kugel_sht_points_opts o = {.size = sizeof o, .lmax = LMAX, .tolerance = 1e-4}, bad = o;
  bad.precision = KUGEL_PRECISION_DD;
  CHECK_IS(kugel_sht_points_plan_create(ctx, &bad, &plan), KUGEL_EINVAL);
  bad.precision = KUGEL_PRECISION_F32;
  bad.tolerance = 1e-9;
  CHECK_IS(kugel_sht_points_plan_create(ctx, &bad, &plan), KUGEL_EINVAL);
  CHECK_OK(kugel_sht_points_plan_create(ctx, &o, &plan));
  static const double values[] = {NAN, INFINITY, -1e-9, 3.15, 90};
  for (int i = 0; i < 5; i++) {
    double x[4] = {1, 2, values[i], 0};
    CHECK_IS(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), &points), KUGEL_EINVAL);
    CHECK(!points && strstr(kugel_last_error(), "theta of point 1"));
  }
  double x[4] = {1, 2, 0, NAN}, d[4] = {0, 0, 0, 2e9};
  CHECK_IS(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), &points), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "phi of point 1"));
  x[3] = 1e300;
  CHECK_OK(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), &points));
  kugel_sht_points_destroy(points);
  x[3] = 0;
  CHECK_IS(kugel_lens_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), KUGEL_ARRAY(d, KUGEL_F64, 2, 2), &lens),
           KUGEL_EINVAL);
  CHECK(!lens && strstr(kugel_last_error(), "point 1 has phi 0 and deflection (0, 2e+09)"));
  CHECK_IS(kugel_lens_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), KUGEL_ARRAY(d, KUGEL_F64, 4, 1), &lens),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 4), &points), KUGEL_ESHAPE);
  kugel_array elsewhere = *KUGEL_ARRAY(x, KUGEL_F64, 2, 2);
  elsewhere.device.type = KUGEL_CUDA + 100;
  CHECK_IS(kugel_sht_points_create(plan, &elsewhere, &points), KUGEL_EDEVICE);
  kugel_sht_points_info info = {.size = sizeof info};
  CHECK_OK(kugel_sht_points_get_info(plan, &info));
  CHECK(info.width > 2 && info.bytes > 0 && info.ntheta >= LMAX + 2);
  kugel_sht_points_plan_destroy(plan);
  float f[4] = {(float)M_PI, 0.5f, 1, 2}; // above pi, a pole
  o.precision = KUGEL_PRECISION_F64;
  CHECK_OK(kugel_sht_points_plan_create(ctx, &o, &plan));
  CHECK_OK(kugel_sht_points_create(plan, KUGEL_ARRAY(f, KUGEL_F32, 2, 2), &points));
  kugel_sht_points_destroy(points);
  kugel_sht_points_plan_destroy(plan);
}

/* ---- failures ---- */

static kugel_status all_calls(kugel_ctx *ctx, void *arg)
{
  double *const *data = arg, *x = data[0];
  const kugel_sht_points_opts o = {.size = sizeof o, .lmax = LMAX, .tolerance = 1e-4};
  const int64_t nalm = kugel_alm_count(LMAX, LMAX);
  kugel_array a = *KUGEL_ARRAY(data[1], KUGEL_C128, nalm), f = *KUGEL_ARRAY(data[2], KUGEL_F64, N);
  kugel_sht_points_plan *plan = NULL;
  kugel_sht_points *points = NULL;
  kugel_lens *lens = NULL;
  kugel_status s = kugel_sht_points_plan_create(ctx, &o, &plan);
  if (!s)
    s = kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, N, 2), &points);
  if (!s)
    s = kugel_sht_points_synthesis(points, &a, &f, NULL);
  if (!s)
    s = kugel_sht_points_adjoint(points, &f, &a, NULL);
  if (!s) {
    s = kugel_sht_points_solve(points, &f, &a,
                               &(kugel_solve_opts){.size = sizeof(kugel_solve_opts), .max_iterations = 1},
                               NULL, NULL);
    s = s == KUGEL_ECONVERGE ? KUGEL_OK : s;
  }
  if (!s)
    s = kugel_lens_create(plan, KUGEL_ARRAY(x, KUGEL_F64, N, 2), KUGEL_ARRAY(x, KUGEL_F64, 2, N), &lens);
  if (!s)
    s = kugel_lens_synthesis(lens, &a, &f, NULL);
  kugel_lens_destroy(lens);
  kugel_sht_points_destroy(points);
  kugel_sht_points_plan_destroy(plan);
  return s;
}

static void faults(kugel_ctx *ctx)
{
  double *data[] = {some_points(N), random_numbers(2 * kugel_alm_count(LMAX, LMAX), 2), random_numbers(N, 3)};
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
    CASE(every_title(&info, "arrays in device memory, a batch, a queue")) arrays(ctx, &info);
    CASE(every_title(&info, "threads")) threads(ctx);
    CASE(every_title(&info, "least squares")) squares(ctx);
    CASE(every_title(&info, "no points")) nothing(ctx);
    CASE(every_title(&info, "bad input")) bad_input(ctx);
    CASE(every_title(&info, "failures")) faults(ctx);
    kugel_ctx_destroy(ctx);
  }
  END();
}
