/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* What stays on a device: with arrays in its memory and a queue no map or alm travels to the host and back,
 * whatever the weights and iterations, and without a look for bad pixels nobody waits. A spy at the device's
 * operations counts the bytes that pass and who waits. */
#include "core/ctx.h"
#include "device/device.h"
#include "device/every.h"
#include "sphere/compare.h"
#include "sphere/sht/gpu_plan.h"
#include "sphere/info.h"
#include <kugel/sphere.h>

static const kugel__device_ops *real;
static kugel__device_ops ops;
static int waits, allocations;
static size_t most; /* bytes of the longest copy from or to the host */

static kugel_status spy_copy(kugel__device *d, kugel__way way, kugel__mem dst, kugel__mem src, size_t bytes,
                             kugel_queue *queue)
{
  if (way != KUGEL__WITHIN && bytes > most)
    most = bytes;
  return real->copy(d, way, dst, src, bytes, queue);
}

static kugel_status spy_wait(kugel_queue *queue)
{
  waits++;
  return real->wait(queue);
}

static kugel_status spy_after(kugel_queue *queue, kugel__event *event)
{
  waits += !queue;
  return real->after(queue, event);
}

static kugel_status spy_alloc(kugel__device *d, kugel__place place, size_t bytes, void **out)
{
  allocations++;
  return real->alloc(d, place, bytes, out);
}

typedef struct problem {
  kugel_sht *plan;
  kugel_array alm, map;
  int64_t alm_shape[3], map_shape[3];
  kugel_queue *queue;
} problem;

static kugel_status solve(const kugel_sht *p, const kugel_array *map, const kugel_array *alm,
                          kugel_queue *queue)
{
  kugel_solve_opts o = {.size = sizeof o, .tolerance = 1e-6, .max_iterations = 4};
  return kugel_sht_solve(p, map, alm, &o, NULL, queue);
}

typedef kugel_status verb(const kugel_sht *, const kugel_array *, const kugel_array *, kugel_queue *);

/* The second call, which has its memory: what it copies and waits for. */
static void count(const problem *t, verb *run, bool to_map, int waits_bound)
{
  const kugel_array *in = to_map ? &t->alm : &t->map, *out = to_map ? &t->map : &t->alm;
  for (int twice = 0; twice < 2; twice++) {
    waits = allocations = 0;
    most = 0;
    CHECK_OK(run(t->plan, in, out, t->queue));
  }
  CHECK(most <= KUGEL__VECTOR_BLOCKS * 8);
  CHECK(waits <= waits_bound);
  CHECK(allocations == 0);
  CHECK_OK(kugel_queue_wait(t->queue));
}

static void check(kugel_ctx *ctx, const kugel_device_info *info, kugel_sht_opts o, int64_t batch)
{
  enum { MANY = 1000 };
  problem t = {.plan = NULL};
  int64_t nalm, npix;
  int n_alm, n_map;
  CHECK_OK(kugel_queue_create(ctx, &t.queue));
  CHECK_OK(kugel_sht_create(ctx, &o, &t.plan));
  CHECK_OK(sht_shape(t.plan, &nalm, &npix, &n_alm, &n_map));
  const int64_t alm_shape[] = {batch, n_alm, nalm}, map_shape[] = {batch, n_map, npix};
  memcpy(t.alm_shape, alm_shape, sizeof alm_shape);
  memcpy(t.map_shape, map_shape, sizeof map_shape);
  t.alm = (kugel_array){.device = info->device, .ndim = 3, .dtype = KUGEL_C128, .shape = t.alm_shape};
  t.map = (kugel_array){.device = info->device, .ndim = 3, .dtype = KUGEL_F64, .shape = t.map_shape};
  size_t alm_bytes = (size_t)(batch * n_alm * nalm) * 16, map_bytes = (size_t)(batch * n_map * npix) * 8;
  CHECK(alm_bytes > 2 * KUGEL__VECTOR_BLOCKS * 8 && map_bytes > alm_bytes);
  CHECK_OK(kugel_device_alloc(ctx, alm_bytes, &t.alm.data));
  CHECK_OK(kugel_device_alloc(ctx, map_bytes, &t.map.data));
  double *numbers = random_numbers((int64_t)alm_bytes / 8);
  CHECK_OK(kugel_device_upload(ctx, t.alm.data, 0, numbers, alm_bytes, NULL));
  free(numbers);
  bool looks = o.bad_pixels == KUGEL_BAD_ERROR;
  count(&t, kugel_sht_synthesis, true, 0);
  count(&t, kugel_sht_synthesis_adjoint, false, looks ? MANY : 0);
  count(&t, kugel_sht_analysis, false, looks ? MANY : 0);
  count(&t, kugel_sht_analysis_adjoint, true, 0);
  count(&t, kugel_sht_synthesis, true, 0);
  if (batch == 1)
    count(&t, solve, false, MANY); // its scalars decide when it ends
  kugel_device_free(ctx, t.alm.data);
  kugel_device_free(ctx, t.map.data);
  kugel_sht_destroy(t.plan);
  kugel_queue_destroy(t.queue);
}

static void check_device(const kugel_device_info *info)
{
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info->name}, &ctx));
  kugel__device *d = kugel__ctx_device(ctx);
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 16, 0);
  real = d->ops;
  ops = *real;
  ops.copy = spy_copy;
  ops.wait = spy_wait;
  ops.after = spy_after;
  ops.alloc = spy_alloc;
  d->ops = &ops;
  for (int weights = KUGEL_WEIGHTS_DEFAULT; weights <= KUGEL_WEIGHTS_PIXEL; weights++)
    for (int bad = KUGEL_BAD_ERROR; bad <= KUGEL_BAD_PASS; bad++) {
      kugel_sht_opts o = {.size = sizeof o,
                          .grid = g,
                          .lmax = 31,
                          .mode = weights % 2 ? KUGEL_SHT_SCALAR : KUGEL_SHT_SPIN,
                          .spin = weights % 2 ? 0 : 2,
                          .weights = (kugel_weights)weights,
                          .iterations = weights ? 3 : 0,
                          .bad_pixels = (kugel_bad_pixels)bad};
      check(ctx, info, o, 1);
      check(ctx, info, o, 9);
    }
  d->ops = real;
  kugel_grid_destroy(g);
  kugel_ctx_destroy(ctx);
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);)
    if (info.device.type != KUGEL_CPU)
      CASE(every_title(&info, "arrays stay, nobody waits")) check_device(&info);
  END();
}
