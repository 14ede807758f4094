/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Times of radial convolutions on every GPU, device memory to device memory, plans excluded.
 * --kernels: of each kernel too; --any: devices that are no GPUs too, with small maps; --f32: float32 maps.
 */
#include <math.h>
#include <time.h>
#include "device/every.h"
#include "device/spy.h"
#include <kugel/kugel.h>

enum { WARM = 2, RUNS = 7 };
static bool any, want_kernels, f32;

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct sizes {
  int64_t nside;
  double arcmin, radius; /* FWHM; cut-off in degrees, 0: by tolerance */
} sizes;

static const char *const methods[] = {"auto", "direct", "harmonic", "rings"};

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure(kugel_ctx *ctx, const sizes *z, kugel_radial_method method, void *in, void *out)
{
  kugel__device *d = kugel__ctx_device(ctx);
  kugel_grid *g = NULL;
  kugel_radial *p = NULL;
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = z->nside};
  CHECK_OK(kugel_grid_create(NULL, &go, &g));
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = z->arcmin / 60 * M_PI / 180};
  o.radius = z->radius * M_PI / 180;
  o.method = method;
  double start = now();
  kugel_status s = kugel_radial_create(ctx, &o, &p);
  double plan = now() - start, ms[RUNS], least = 0;
  kugel_radial_info info = {.size = sizeof info};
  if (!s)
    s = kugel_radial_get_info(p, &info);
  int64_t npix = kugel_grid_npix(g);
  kugel_array a = *KUGEL_ARRAY(in, f32 ? KUGEL_F32 : KUGEL_F64, npix), b = a;
  b.data = out;
  a.device = b.device = (kugel_device){d->info.device.type, d->info.device.id};
  for (int i = -WARM; i < RUNS && !s; i++) {
    kugel__event *from = NULL, *to = NULL;
    double seconds = 0;
    CHECK_OK(d->ops->record(&d->queue, &from));
    s = kugel_radial_execute(p, &a, &b);
    CHECK_OK(d->ops->record(&d->queue, &to));
    CHECK_OK(d->ops->elapsed(from, to, &seconds));
    d->ops->event_free(from);
    d->ops->event_free(to);
    ms[i < 0 ? 0 : i] = seconds * 1e3;
  }
  if (s) {
    printf("%5lld %7.2f %-8s %s\n", (long long)z->nside, z->arcmin, methods[method], kugel_last_error());
  } else {
    qsort(ms, RUNS, sizeof *ms, by_value);
    least = 8e3 * (double)npix * (f32 ? 1 : 2) / 4e12 + 2e3 * info.pairs / (f32 ? 60e12 : 30e12);
    printf("%5lld %7.2f %7.2f %-8s %10.3g %9.3f %9.3f %9.3f %8.2f\n", (long long)z->nside, z->arcmin,
           info.radius * 180 / M_PI, methods[info.method], info.pairs, ms[RUNS / 2], ms[0],
           info.method == KUGEL_RADIAL_DIRECT ? least : 0, plan);
    if (want_kernels) {
      spy.launches = 0;
      CHECK_OK(kugel_radial_execute(p, &a, &b));
      spy_print(d);
    }
  }
  fflush(stdout);
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
}

static void report(kugel_ctx *ctx)
{
  /* The second group has the cut-offs 1, 4, 16 degrees at 2.04 FWHM. */
  static const sizes all[] = {{2048, 4.7, 0},   {2048, 10, 0},   {2048, 30, 0},    {8192, 1.5, 0},
                              {512, 29.4, 1},   {512, 117.6, 4}, {512, 470, 16},   {1024, 29.4, 1},
                              {1024, 117.6, 4}, {1024, 470, 16}, {2048, 29.4, 1},  {2048, 117.6, 4},
                              {2048, 470, 16},  {4096, 29.4, 1}, {4096, 117.6, 4}, {4096, 470, 16}};
  static const sizes small[] = {{64, 150, 0}, {64, 600, 0}};
  int64_t count = any ? 2 : (int64_t)(sizeof all / sizeof all[0]), most = any ? 64 : 8192;
  size_t bytes = (size_t)(12 * most * most) * (f32 ? 4 : 8), some = (size_t)1 << 20;
  void *in = NULL, *out = NULL, *host = malloc(some);
  CHECK_OK(kugel_device_alloc(ctx, bytes, &in));
  CHECK_OK(kugel_device_alloc(ctx, bytes, &out));
  uint64_t seed = 1;
  for (size_t i = 0; i < some / (f32 ? 4 : 8); i++)
    if (f32)
      ((float *)host)[i] = (float)check_random(&seed);
    else
      ((double *)host)[i] = check_random(&seed);
  for (size_t at = 0; at < bytes; at += some)
    CHECK_OK(kugel_device_upload(ctx, in, at, host, bytes - at < some ? bytes - at : some, NULL));
  free(host);
  printf("nside  FWHM' cut/deg method        pairs        ms     least  floor/ms   plan/s\n");
  for (int64_t k = 0; k < count; k++)
    for (int method = KUGEL_RADIAL_DIRECT; method <= KUGEL_RADIAL_RINGS; method++) {
      const sizes *z = (any ? small : all) + k;
      double reach =
          2 * z->arcmin / 60 / 60 * (double)z->nside; /* some rings: longer sums would take seconds */
      bool direct = method == KUGEL_RADIAL_DIRECT && reach > 100;
      bool rings = method == KUGEL_RADIAL_RINGS && reach > 1000;
      bool harmonic = method == KUGEL_RADIAL_HARMONIC && z->nside > 4096;
      if (!direct && !rings && !harmonic)
        measure(ctx, z, (kugel_radial_method)method, in, out);
    }
  kugel_device_free(ctx, in);
  kugel_device_free(ctx, out);
}

int main(int argc, char **argv)
{
  kugel_device_info info;
  for (int i = 1; i < argc; i++) {
    want_kernels |= !strcmp(argv[i], "--kernels");
    any |= !strcmp(argv[i], "--any");
    f32 |= !strcmp(argv[i], "--f32");
  }
  for (int i = 0; every_device(&i, true, &info);) {
    CASE(every_title(&info, "speed"))
    {
      kugel_ctx *ctx = NULL;
      kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
      if (!info.is_gpu && !any)
        SKIP("not a GPU");
      else {
        CHECK_OK(kugel_ctx_create(&o, &ctx));
        if (ctx && want_kernels)
          spy_on(kugel__ctx_device(ctx));
        if (ctx)
          report(ctx);
        if (ctx && want_kernels)
          spy_off(kugel__ctx_device(ctx));
        kugel_ctx_destroy(ctx);
      }
    }
  }
  END();
}
