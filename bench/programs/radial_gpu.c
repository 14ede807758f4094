/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of radial convolutions on every GPU, device memory to device memory, plans excluded.
 * --kernels: of each kernel too; --any, --smoke: devices that are no GPUs too, with small maps; --f32: float32 maps;
 * --bank: of twelve scales of wavelets in place of these; --shared: on all GPUs together;
 * --rings: by this method only. */
#include <math.h>
#include "clock.h"
#include "device/every.h"
#include "device/spy.h"
#include <kugel/kugel.h>

enum { WARM = 2, RUNS = 7 };
static bool any, want_kernels, f32, want_bank, shared, only_rings;

typedef struct sizes {
  int64_t nside;
  double arcmin, radius; /* FWHM; cut-off in degrees, 0: by tolerance */
} sizes;

static const char *const methods[] = {"auto", "direct", "harmonic", "rings"};

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
    double seconds = 0, begin = now();
    CHECK_OK(d->ops->record(&d->queue, &from));
    s = kugel_radial_execute(p, &a, &b, NULL);
    CHECK_OK(d->ops->record(&d->queue, &to));
    CHECK_OK(d->ops->elapsed(from, to, &seconds));
    seconds = shared ? now() - begin : seconds;
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
      CHECK_OK(kugel_radial_execute(p, &a, &b, NULL));
      spy_print(d);
    }
  }
  fflush(stdout);
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
}

enum { SCALES = 12 };

/* Cosine needlets, centred a factor `step` apart. */
static void needlets(double step, int64_t lmax, const kugel_grid *g, double *b, kugel_radial_opts *o)
{
  for (int j = 0; j < SCALES; j++, b += lmax + 1) {
    double centre = (double)lmax * pow(step, j + 1 - SCALES);
    o[j] = (kugel_radial_opts){.size = sizeof o[j], .grid = g, .kernel = KUGEL_RADIAL_SERIES, .values = b};
    o[j].method = KUGEL_RADIAL_HARMONIC;
    o[j].norm = KUGEL_RADIAL_AS_IS;
    for (int64_t l = 1; l <= lmax; l++) {
      double x = log((double)l / centre) / log(step);
      b[l] = fabs(x) < 1 ? cos(M_PI / 2 * x) : 0;
      o[j].n = b[l] != 0 ? l + 1 : o[j].n;
    }
    if (!o[j].n) // below l = 1
      b[0] = (double)(o[j].n = 1);
  }
}

static kugel_status one_by_one(kugel_radial *const *single, const kugel_array *in, const kugel_array *out,
                               int64_t npix)
{
  for (int j = 0; j < SCALES; j++) {
    kugel_array to = *KUGEL_ARRAY(out->data, KUGEL_F64, npix);
    to.device = out->device;
    to.byte_offset = (uint64_t)(j * npix * 8);
    KUGEL_TRY(kugel_radial_execute(single[j], in, &to, NULL));
  }
  return KUGEL_OK;
}

/* Twelve scales by a bank, and by a harmonic pair each to the degree of the map. */
static void bank(kugel_ctx *ctx, double step)
{
  int64_t nside = any ? 32 : 1024, lmax = 2 * nside, npix = 12 * nside * nside;
  kugel__device *d = kugel__ctx_device(ctx);
  kugel_grid *g = NULL;
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = nside};
  double *b = calloc((size_t)(SCALES * (lmax + 1)), 8), *host = malloc((size_t)npix * 8), ms[2][RUNS];
  kugel_radial_opts o[SCALES];
  const kugel_radial_opts *all[SCALES];
  kugel_radial_bank *many = NULL;
  kugel_radial *single[SCALES] = {NULL};
  CHECK_OK(kugel_grid_create(NULL, &go, &g));
  needlets(step, lmax, g, b, o);
  for (int j = 0; j < SCALES; j++)
    all[j] = o + j;
  CHECK_OK(kugel_radial_bank_create(ctx, SCALES, all, &many));
  for (int j = 0; j < SCALES; j++) {
    o[j].lmax = lmax;
    CHECK_OK(kugel_radial_create(ctx, o + j, &single[j]));
  }
  kugel_array in = *KUGEL_ARRAY(NULL, KUGEL_F64, npix), out = *KUGEL_ARRAY(NULL, KUGEL_F64, SCALES, npix);
  in.device = out.device = (kugel_device){d->info.device.type, d->info.device.id};
  CHECK_OK(kugel_device_alloc(ctx, (size_t)npix * 8, &in.data));
  CHECK_OK(kugel_device_alloc(ctx, (size_t)npix * 8 * SCALES, &out.data));
  uint64_t seed = 3;
  for (int64_t i = 0; i < npix; i++)
    host[i] = check_random(&seed);
  CHECK_OK(kugel_device_upload(ctx, in.data, 0, host, (size_t)npix * 8, NULL));
  for (int i = -WARM; i < RUNS; i++)
    for (int k = 0; k < 2; k++) {
      double start = now();
      CHECK_OK(k ? one_by_one(single, &in, &out, npix) : kugel_radial_bank_execute(many, &in, &out, NULL));
      ms[k][i < 0 ? 0 : i] = (now() - start) * 1e3;
    }
  for (int k = 0; k < 2; k++)
    qsort(ms[k], RUNS, sizeof **ms, by_value);
  printf(
      "nside %lld, %d scales a factor %.3f apart: bank %.3f ms, %d pairs to lmax %lld %.3f ms: %.1f times\n",
      (long long)nside, SCALES, step, ms[0][RUNS / 2], SCALES, (long long)lmax, ms[1][RUNS / 2],
      ms[1][RUNS / 2] / ms[0][RUNS / 2]);
  kugel_device_free(ctx, in.data);
  kugel_device_free(ctx, out.data);
  kugel_radial_bank_destroy(many);
  for (int j = 0; j < SCALES; j++)
    kugel_radial_destroy(single[j]);
  kugel_grid_destroy(g);
  free(b), free(host);
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
      if (!direct && !rings && !harmonic && (!only_rings || method == KUGEL_RADIAL_RINGS))
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
    any |= !strcmp(argv[i], "--any") || !strcmp(argv[i], "--smoke");
    f32 |= !strcmp(argv[i], "--f32");
    want_bank |= !strcmp(argv[i], "--bank");
    shared |= !strcmp(argv[i], "--shared");
    only_rings |= !strcmp(argv[i], "--rings");
  }
  for (int i = 0; every_device(&i, true, &info);) {
    char name[96] = "";
    snprintf(name, sizeof name, "%s", info.name);
    if (shared && info.is_gpu && info.device.id > 0)
      continue;
    for (int k = 1; shared && k < kugel_device_count(); k++) {
      kugel_device_info other = {.size = sizeof other};
      CHECK_OK(kugel_device_describe(k, &other));
      if (other.is_gpu && other.device.type == info.device.type && other.device.id > 0)
        snprintf(name + strlen(name), sizeof name - strlen(name), ",%d", other.device.id);
    }
    CASE(every_title(&info, "speed"))
    {
      kugel_ctx *ctx = NULL;
      kugel_ctx_opts o = {.size = sizeof o, .device = name};
      if (!info.is_gpu && !any)
        SKIP("not a GPU");
      else {
        CHECK_OK(kugel_ctx_create(&o, &ctx));
        if (ctx && want_kernels)
          spy_on(kugel__ctx_device(ctx));
        if (ctx && want_bank) {
          bank(ctx, 2);
          bank(ctx, sqrt(2));
        } else if (ctx) {
          report(ctx);
        }
        if (ctx && want_kernels)
          spy_off(kugel__ctx_device(ctx));
        kugel_ctx_destroy(ctx);
      }
    }
  }
  END();
}
