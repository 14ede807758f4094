/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Queues of calls on the sphere: radial convolutions of arrays in device memory are queued behind the queue's work, and
 * the host does not wait; calls that cannot be queued come after the queue's work; queues of other devices fail. */
#include "core/ctx.h"
#include "device/device.h"
#include "device/every.h"
#include "sphere/compare.h"
#include <kugel/radial.h>
#include <kugel/rings.h>
#include <kugel/sphere.h>

enum { NSIDE = 16, NPIX = 12 * NSIDE * NSIDE, LMAX = 20, NALM = (LMAX + 1) * (LMAX + 2) / 2, KERNELS = 3 };

static const kugel__device_ops *real;
static kugel__device_ops ops;
static int waits;

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

static kugel_array on_device(kugel_ctx *ctx, const int64_t *shape, int ndim, int64_t n)
{
  kugel_array a = {.ndim = ndim, .dtype = KUGEL_F64, .shape = (int64_t *)(uintptr_t)shape};
  a.device = kugel__ctx_device(ctx)->info.device;
  CHECK_OK(kugel_device_alloc(ctx, (size_t)n * 8, &a.data));
  return a;
}

static kugel_radial *plan_of(kugel_ctx *ctx, const kugel_grid *g, kugel_radial_method method, double width)
{
  kugel_radial *p = NULL;
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .kernel = KUGEL_RADIAL_GAUSSIAN, .width = width};
  o.method = method;
  CHECK_OK(kugel_radial_create(ctx, &o, &p));
  return p;
}

/* Two convolutions and an adjoint on two queues, one after another by the plan, without a wait of the host; the plan
 * goes while the last one may run. */
static void radial(kugel_ctx *ctx, const kugel_grid *g, kugel_radial_method method)
{
  static const int64_t shape[] = {NPIX};
  kugel__device *dev = kugel__ctx_device(ctx);
  double *f = random_numbers(2 * NPIX), *want = calloc(3 * NPIX, 8), *got = calloc(3 * NPIX, 8);
  kugel_radial *p = plan_of(ctx, g, method, 0.2);
  kugel_array in[2], out[3], host = *KUGEL_ARRAY(f, KUGEL_F64, NPIX);
  kugel_queue *queue[2] = {NULL, NULL};
  for (int k = 0; k < 2; k++) {
    in[k] = on_device(ctx, shape, 1, NPIX);
    CHECK_OK(kugel_queue_create(ctx, &queue[k]));
  }
  for (int k = 0; k < 3; k++) {
    out[k] = on_device(ctx, shape, 1, NPIX);
    host.data = f + k % 2 * NPIX;
    kugel_array w = *KUGEL_ARRAY(want + k * NPIX, KUGEL_F64, NPIX);
    CHECK_OK((k < 2 ? kugel_radial_execute : kugel_radial_adjoint)(p, &host, &w, NULL));
  }
  dev->ops = &ops;
  waits = 0;
  for (int k = 0; k < 2; k++) // the input arrives on the same queue
    CHECK_OK(kugel_device_upload(ctx, in[k].data, 0, f + k * NPIX, NPIX * 8, queue[k]));
  waits = 0; // uploads of pageable memory may have waited
  CHECK_OK(kugel_radial_execute(p, &in[0], &out[0], queue[0]));
  CHECK_OK(kugel_radial_execute(p, &in[1], &out[1], queue[1]));
  CHECK_OK(kugel_radial_adjoint(p, &in[0], &out[2], queue[0]));
  CHECK(waits == 0);
  CHECK_OK(kugel_radial_execute(p, &in[1], &in[1], queue[1])); // in place, maybe with a wait
  dev->ops = real;
  kugel_radial_destroy(p);
  for (int k = 0; k < 3; k++)
    CHECK_OK(kugel_device_download(ctx, got + k * NPIX, out[k].data, 0, NPIX * 8, queue[k % 2]));
  for (int k = 0; k < 2; k++)
    CHECK_OK(kugel_queue_wait(queue[k]));
  CHECK_LE(difference(3 * NPIX, got, want), 1e-14);
  CHECK_OK(kugel_device_download(ctx, got, in[1].data, 0, NPIX * 8, NULL));
  CHECK_LE(difference(NPIX, got, want + NPIX), 1e-14);
  for (int k = 0; k < 2; k++) {
    kugel_device_free(ctx, in[k].data);
    kugel_queue_destroy(queue[k]);
  }
  for (int k = 0; k < 3; k++)
    kugel_device_free(ctx, out[k].data);
  free(f), free(want), free(got);
}

static void bank(kugel_ctx *ctx, const kugel_grid *g)
{
  static const int64_t shape[] = {KERNELS, NPIX};
  kugel__device *dev = kugel__ctx_device(ctx);
  double *f = random_numbers(NPIX), *want = calloc(KERNELS * NPIX, 8), *got = calloc(KERNELS * NPIX, 8);
  kugel_radial_bank *p = NULL;
  kugel_radial_opts o[KERNELS];
  const kugel_radial_opts *list[KERNELS];
  for (int k = 0; k < KERNELS; k++) { // one of them by direct sums
    o[k] = (kugel_radial_opts){.size = sizeof *o, .grid = g, .kernel = KUGEL_RADIAL_GAUSSIAN};
    o[k].width = 0.2 + 0.1 * k;
    o[k].method = k == 1 ? KUGEL_RADIAL_DIRECT : KUGEL_RADIAL_HARMONIC;
    list[k] = o + k;
  }
  CHECK_OK(kugel_radial_bank_create(ctx, KERNELS, list, &p));
  kugel_array in = on_device(ctx, shape + 1, 1, NPIX), out = on_device(ctx, shape, 2, KERNELS * NPIX);
  kugel_queue *queue = NULL;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_radial_bank_execute(p, KUGEL_ARRAY(f, KUGEL_F64, NPIX),
                                     KUGEL_ARRAY(want, KUGEL_F64, KERNELS, NPIX), NULL));
  CHECK_OK(kugel_device_upload(ctx, in.data, 0, f, NPIX * 8, queue));
  dev->ops = &ops;
  waits = 0;
  for (int twice = 0; twice < 2; twice++)
    CHECK_OK(kugel_radial_bank_execute(p, &in, &out, queue));
  CHECK(waits == 0);
  dev->ops = real;
  CHECK_OK(kugel_device_download(ctx, got, out.data, 0, KERNELS * NPIX * 8, queue));
  CHECK_OK(kugel_queue_wait(queue));
  CHECK_LE(difference(KERNELS * NPIX, got, want), 1e-14);
  kugel_radial_bank_destroy(p);
  kugel_device_free(ctx, in.data);
  kugel_device_free(ctx, out.data);
  kugel_queue_destroy(queue);
  free(f), free(want), free(got);
}

/* Smoothing, least squares: the same numbers with a queue as without. */
static void waiting(kugel_ctx *ctx, const kugel_grid *g)
{
  double *f = random_numbers(NPIX), *want = calloc(NPIX, 8), *got = calloc(NPIX, 8);
  double alm[2][2 * NALM] = {{0}};
  kugel_smooth_opts so = {.size = sizeof so, .grid = g, .lmax = LMAX, .fwhm = 0.1};
  kugel_sht_opts o = {.size = sizeof o, .grid = g, .lmax = LMAX};
  kugel_solve_opts few = {.size = sizeof few, .max_iterations = 50, .tolerance = 1e-8};
  kugel_array in = *KUGEL_ARRAY(f, KUGEL_F64, NPIX);
  kugel_queue *queue = NULL;
  kugel_sht *p = NULL;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_smooth(ctx, &so, &in, KUGEL_ARRAY(want, KUGEL_F64, NPIX), NULL));
  CHECK_OK(kugel_smooth(ctx, &so, &in, KUGEL_ARRAY(got, KUGEL_F64, NPIX), queue));
  CHECK(!memcmp(got, want, NPIX * 8));
  CHECK_OK(kugel_sht_create(ctx, &o, &p));
  for (int k = 0; k < 2; k++)
    CHECK_OK(kugel_sht_solve(p, &in, KUGEL_ARRAY(alm[k], KUGEL_C128, NALM), &few, NULL, k ? queue : NULL));
  CHECK_LE(difference(2 * NALM, alm[1], alm[0]), 1e-14);
  kugel_sht_destroy(p);
  kugel_queue_destroy(queue);
  free(f), free(want), free(got);
}

/* Queues of the CPU or of another device. */
static void foreign(kugel_ctx *ctx, const kugel_grid *g)
{
  static double map[NPIX];
  kugel_array m = *KUGEL_ARRAY(map, KUGEL_F64, NPIX);
  kugel_smooth_opts so = {.size = sizeof so, .grid = g, .lmax = LMAX, .fwhm = 0.1};
  kugel_queue *mine = NULL, *cpu = NULL;
  kugel_radial *here = plan_of(ctx, g, KUGEL_RADIAL_DIRECT, 0.2),
               *host = plan_of(NULL, g, KUGEL_RADIAL_DIRECT, 0.2);
  CHECK_OK(kugel_queue_create(ctx, &mine));
  CHECK_OK(kugel_queue_create(NULL, &cpu));
  CHECK_IS(kugel_radial_execute(here, &m, &m, cpu), KUGEL_EINVAL);
  CHECK_IS(kugel_radial_execute(host, &m, &m, mine), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "queue belongs to device"));
  CHECK_OK(kugel_radial_execute(host, &m, &m, cpu));
  CHECK_IS(kugel_smooth(ctx, &so, &m, &m, cpu), KUGEL_EINVAL);
  CHECK_IS(kugel_smooth(NULL, &so, &m, &m, mine), KUGEL_EINVAL);
  kugel_queue_destroy(mine);
  kugel_queue_destroy(cpu);
  kugel_radial_destroy(here);
  kugel_radial_destroy(host);
}

static void rings(void)
{
  int64_t nphi[] = {4, 7};
  double coef[2 * 4 * 2] = {1}, map[11];
  kugel_rings *p = NULL;
  kugel_queue *cpu = NULL;
  kugel_array c = *KUGEL_ARRAY(coef, KUGEL_C128, 2, 4), m = *KUGEL_ARRAY(map, KUGEL_F64, 11);
  CHECK_OK(kugel_queue_create(NULL, &cpu));
  CHECK_OK(kugel_rings_create(NULL, 2, nphi, NULL, NULL, 3, NULL, &p));
  CHECK_OK(kugel_rings_synthesis(p, &c, &m, NULL));
  CHECK_IS(kugel_rings_synthesis(p, &c, &m, cpu), KUGEL_EINVAL);
  CHECK_IS(kugel_rings_adjoint(p, &m, NULL, &c, cpu), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "pass NULL"));
  kugel_rings_destroy(p);
  kugel_queue_destroy(cpu);
}

int main(void)
{
  static const struct {
    const char *name;
    kugel_radial_method method;
  } methods[] = {
      {"direct", KUGEL_RADIAL_DIRECT}, {"rings", KUGEL_RADIAL_RINGS}, {"harmonics", KUGEL_RADIAL_HARMONIC}};
  kugel_device_info info;
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, NSIDE, 0);
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = NULL;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    kugel__device *dev = kugel__ctx_device(ctx);
    real = dev->ops;
    ops = *real;
    ops.wait = spy_wait;
    ops.after = spy_after;
    for (int k = 0; k < 3; k++)
      CASE(every_title(&info, methods[k].name)) radial(ctx, g, methods[k].method);
    CASE(every_title(&info, "a bank")) bank(ctx, g);
    CASE(every_title(&info, "calls that wait")) waiting(ctx, g);
    CASE(every_title(&info, "queues of other devices")) foreign(ctx, g);
    kugel_ctx_destroy(ctx);
  }
  CASE("rings") rings();
  kugel_grid_destroy(g);
  END();
}
