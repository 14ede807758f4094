/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Transforms shared by several devices against those on one: synthesis bit for bit, adjoints to rounding and
 * always the same. PoCL is asked for two devices, so that copies between devices are tested too. */
#include <complex.h>
#include "device/every.h"
#include "device/faults.h"
#include "sphere/compare.h"
#include "sphere/info.h"
#include <kugel/device.h>
#include <kugel/sphere.h>

static kugel_sht_opts opts_of(const kugel_grid *g, int64_t lmax, kugel_sht_mode mode, int spin)
{
  return (kugel_sht_opts){
      .size = sizeof(kugel_sht_opts), .grid = g, .lmax = lmax, .mode = mode, .spin = spin, .iterations = 1};
}

static kugel_ctx *make_ctx(const char *device)
{
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  return ctx;
}

/* ---- host arrays ---- */

static void compare(kugel_ctx *one, kugel_ctx *many, kugel_sht_opts o)
{
  kugel_sht *p = NULL, *q = NULL;
  int64_t nalm, npix, parts;
  int n_alm, n_map;
  CHECK_OK(kugel_sht_create(one, &o, &p));
  CHECK_OK(kugel_sht_create(many, &o, &q));
  CHECK_OK(sht_shape(p, &nalm, &npix, &n_alm, &n_map));
  CHECK_OK(sht_memory(q, NULL, &parts));
  int64_t na = n_alm * nalm, nm = n_map * npix;
  double *alm = random_numbers(2 * na), *map = calloc((size_t)nm, 8), *want = calloc((size_t)nm, 8);
  double *back = calloc((size_t)na, 16), *again = calloc((size_t)na, 16), *back_want = calloc((size_t)na, 16);
  kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, n_alm, nalm), *w = KUGEL_ARRAY(want, KUGEL_F64, n_map, npix),
              *b = KUGEL_ARRAY(back, KUGEL_C128, n_alm, nalm),
              *b2 = KUGEL_ARRAY(again, KUGEL_C128, n_alm, nalm),
              *bw = KUGEL_ARRAY(back_want, KUGEL_C128, n_alm, nalm);
  CHECK_OK(kugel_sht_synthesis(p, a, w, NULL));
  CHECK_OK(kugel_sht_synthesis(q, a, KUGEL_ARRAY(map, KUGEL_F64, n_map, npix), NULL));
  CHECK(!memcmp(map, want, (size_t)nm * 8));
  CHECK_OK(kugel_sht_synthesis_adjoint(p, w, bw, NULL));
  CHECK_OK(kugel_sht_synthesis_adjoint(q, w, b, NULL));
  CHECK_OK(kugel_sht_synthesis_adjoint(q, w, b2, NULL));
  CHECK(!memcmp(back, again, (size_t)na * 16));
  CHECK_LE(difference(2 * na, back, back_want), 1e-15);
  printf("  lmax %lld mode %d: %lld parts, adjoint %.1e\n", (long long)o.lmax, (int)o.mode, (long long)parts,
         difference(2 * na, back, back_want));
  if (n_alm == n_map) {
    CHECK_OK(kugel_sht_analysis(p, w, bw, NULL));
    CHECK_OK(kugel_sht_analysis(q, w, b, NULL));
    CHECK_LE(difference(2 * na, back, back_want), 3e-15);
  }
  free(alm), free(map), free(want), free(back), free(again), free(back_want);
  kugel_sht_destroy(p);
  kugel_sht_destroy(q);
}

/* ---- arrays in memory of the first device ---- */

static void resident(kugel_ctx *ctx)
{
  kugel_device_info info = {.size = sizeof info};
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 64, 0);
  kugel_sht_opts o = opts_of(g, 128, KUGEL_SHT_TEB, 0);
  kugel_sht *cpu, *p;
  int64_t nalm, npix;
  CHECK_OK(kugel_ctx_describe(ctx, &info));
  CHECK_OK(kugel_sht_create(NULL, &o, &cpu));
  CHECK_OK(kugel_sht_create(ctx, &o, &p));
  CHECK_OK(sht_shape(p, &nalm, &npix, NULL, NULL));
  double *alm = random_numbers(6 * nalm), *map = calloc((size_t)npix, 24), *want = calloc((size_t)npix, 24);
  double *back = calloc((size_t)nalm, 48), *back_want = calloc((size_t)nalm, 48);
  kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, 3, nalm), *w = KUGEL_ARRAY(want, KUGEL_F64, 3, npix),
              *b = KUGEL_ARRAY(back_want, KUGEL_C128, 3, nalm);
  kugel_array da = *a, dm = *w;
  CHECK_OK(kugel_device_alloc(ctx, (size_t)nalm * 48, &da.data));
  CHECK_OK(kugel_device_alloc(ctx, (size_t)npix * 24, &dm.data));
  da.device = dm.device = info.device;
  CHECK_OK(kugel_device_upload(ctx, da.data, 0, alm, (size_t)nalm * 48, NULL));
  CHECK_OK(kugel_sht_synthesis(cpu, a, w, NULL));
  CHECK_OK(kugel_sht_synthesis(p, &da, &dm, NULL));
  CHECK_OK(kugel_device_download(ctx, map, dm.data, 0, (size_t)npix * 24, NULL));
  CHECK_LE(difference(3 * npix, map, want), 1e-13);
  CHECK_OK(kugel_sht_analysis(cpu, w, b, NULL));
  CHECK_OK(kugel_sht_analysis(p, &dm, &da, NULL));
  CHECK_OK(kugel_device_download(ctx, back, da.data, 0, (size_t)nalm * 48, NULL));
  CHECK_LE(difference(6 * nalm, back, back_want), 1e-13);
  kugel_device_free(ctx, da.data);
  kugel_device_free(ctx, dm.data);
  free(alm), free(map), free(want), free(back), free(back_want);
  kugel_sht_destroy(p);
  kugel_sht_destroy(cpu);
  kugel_grid_destroy(g);
}

static kugel_status both_ways(kugel_ctx *ctx, void *opts)
{
  static double alm[2 * 153] = {1}, map[3072];
  kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, 153), *m = KUGEL_ARRAY(map, KUGEL_F64, 3072);
  kugel_sht *p = NULL;
  kugel_status s = kugel_sht_create(ctx, opts, &p);
  s = s ? s : kugel_sht_synthesis(p, a, m, NULL);
  s = s ? s : kugel_sht_synthesis_adjoint(p, m, a, NULL);
  kugel_sht_destroy(p);
  return s;
}

static void faults(kugel_ctx *ctx)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 16, 0);
  kugel_sht_opts o = opts_of(g, 16, KUGEL_SHT_SCALAR, 0);
  sweep_driver(ctx, 150, both_ways, &o);
  kugel_grid_destroy(g);
}

static void bad_names(const char *kind, int id)
{
  kugel_ctx *ctx = NULL;
  static const char *const lists[] = {",", ",99", ",x", ",,1", ",-1"};
  char name[64];
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    snprintf(name, sizeof name, "%s:%d%s", kind, id, lists[i]);
    CHECK_IS(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = name}, &ctx),
             KUGEL_EINVAL);
    CHECK(!ctx);
  }
  CHECK_IS(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = "cpu,0"}, &ctx),
           KUGEL_EINVAL);
  CHECK_IS(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = "auto,1"}, &ctx),
           KUGEL_EINVAL);
}

static void check_list(const char *kind, const char *list)
{
  static char titles[16][96];
  static int used;
  char name[64], first[32], *title;
  snprintf(name, sizeof name, "%s:%s", kind, list);
  snprintf(first, sizeof first, "%s:%.*s", kind, (int)strcspn(list, ","), list);
  kugel_ctx *one = make_ctx(first), *many = make_ctx(name);
  kugel_grid *h = make_grid(KUGEL_GRID_HEALPIX, 64, 0), *gauss = make_grid(KUGEL_GRID_GAUSS, 301, 610),
             *tiny = make_grid(KUGEL_GRID_HEALPIX, 2, 0);
  title = titles[used++ % 16];
  snprintf(title, sizeof titles[0], "%s: modes and grids", name);
  CASE(title)
  {
    for (int mode = KUGEL_SHT_SCALAR; mode <= KUGEL_SHT_DER1; mode++)
      compare(one, many, opts_of(h, 128, (kugel_sht_mode)mode, mode == KUGEL_SHT_SPIN ? 2 : 0));
    compare(one, many, opts_of(h, 40, KUGEL_SHT_SPIN, 3));
    compare(one, many, opts_of(gauss, 300, KUGEL_SHT_SCALAR, 0));
    compare(one, many, opts_of(tiny, 4, KUGEL_SHT_SCALAR, 0)); // some devices have nothing to do
  }
  title = titles[used++ % 16];
  snprintf(title, sizeof titles[0], "%s: device arrays", name);
  CASE(title) resident(many);
  title = titles[used++ % 16];
  snprintf(title, sizeof titles[0], "%s: failures", name);
  CASE(title) faults(many);
  kugel_grid_destroy(h);
  kugel_grid_destroy(gauss);
  kugel_grid_destroy(tiny);
  kugel_ctx_destroy(one);
  kugel_ctx_destroy(many);
}

int main(void)
{
  kugel_device_info info;
  kugel_device_info last = {.size = 0};
  char twins[16] = "";
  int cuda = 0, opencl = 0;
  setenv("POCL_DEVICES", "pthread pthread", 0);
  for (int index = 0; every_device(&index, true, &info);) {
    cuda += info.device.type == KUGEL_CUDA;
    opencl += every_several(&info);
    every_twins(&info, &last, twins);
  }
  if (*twins)
    check_list("opencl", twins);
  if (opencl)
    check_list("opencl", every_thrice());
  if (cuda > 1)
    check_list("cuda", "0,1");
  else if (cuda)
    check_list("cuda", "0,0");
  if (cuda || opencl)
    CASE("wrong names") bad_names(opencl ? "opencl" : "cuda", opencl ? every__whole : 0);
  END();
}
