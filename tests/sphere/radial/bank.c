/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Banks of radial kernels: each result as its plan alone gives it, on the CPU and on every
 * device. */
#include "core/alloc.h"
#include "device/every.h"
#include <kugel/radial.h>

enum { N = 4, MAPS = 2, NSIDE = 16, NPIX = 12 * NSIDE * NSIDE };
static uint64_t seed = 9;

static kugel_grid *make_grid(void)
{
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = KUGEL_GRID_HEALPIX, .nside = NSIDE};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

/* Two scales by harmonics, one by rings, one by sums. */
static void make_opts(const kugel_grid *g, kugel_radial_opts *o, const kugel_radial_opts **at)
{
  static const double width[N] = {1.2, 0.15, 0.6, 0.2};
  static const kugel_radial_method method[N] = {KUGEL_RADIAL_HARMONIC, KUGEL_RADIAL_DIRECT,
                                                KUGEL_RADIAL_HARMONIC, KUGEL_RADIAL_RINGS};
  for (int i = 0; i < N; i++) {
    o[i] = (kugel_radial_opts){.size = sizeof *o, .grid = g, .width = width[i], .method = method[i]};
    at[i] = o + i;
  }
}

static void compare(kugel_ctx *ctx, bool f32)
{
  kugel_grid *g = make_grid();
  kugel_radial_opts o[N];
  const kugel_radial_opts *at[N];
  kugel_radial_bank *bank = NULL;
  make_opts(g, o, at);
  CHECK_OK(kugel_radial_bank_create(ctx, N, at, &bank));
  size_t size = f32 ? 4 : 8;
  char *in = malloc(MAPS * NPIX * size), *got = calloc(MAPS * N * NPIX, size), *want = calloc(NPIX, size);
  for (int64_t i = 0; i < MAPS * NPIX; i++) {
    double v = i % 13 == 2 ? KUGEL_UNSEEN : check_random(&seed);
    if (f32)
      ((float *)in)[i] = (float)v;
    else
      ((double *)in)[i] = v;
  }
  kugel_dtype type = f32 ? KUGEL_F32 : KUGEL_F64;
  CHECK_OK(kugel_radial_bank_execute(bank, KUGEL_ARRAY(in, type, MAPS, NPIX),
                                     KUGEL_ARRAY(got, type, MAPS, N, NPIX), NULL));
  for (int i = 0; i < N; i++) {
    kugel_radial *p = NULL;
    CHECK(kugel_radial_bank_plan(bank, i));
    CHECK_OK(kugel_radial_create(ctx, at[i], &p));
    for (int k = 0; k < MAPS; k++) {
      double worst = 0;
      CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(in + k * NPIX * (int64_t)size, type, NPIX),
                                    KUGEL_ARRAY(want, type, NPIX), NULL));
      const char *from = got + (k * N + i) * NPIX * (int64_t)size;
      for (int64_t j = 0; j < NPIX; j++) {
        double a = f32 ? (double)((float *)want)[j] : ((double *)want)[j],
               b = f32 ? (double)((const float *)from)[j] : ((const double *)from)[j];
        CHECK((a < -1e30) == (b < -1e30));
        worst = fmax(worst, a < -1e30 ? 0 : fabs(a - b));
      }
      CHECK_LE(worst, f32 ? 1e-7 : 1e-14);
    }
    kugel_radial_destroy(p);
  }
  CHECK(!kugel_radial_bank_plan(bank, N) && !kugel_radial_bank_plan(bank, -1) &&
        !kugel_radial_bank_plan(NULL, 0));
  kugel_radial_bank_destroy(bank);
  kugel_grid_destroy(g);
  free(in), free(got), free(want);
}

static void bad_input(void)
{
  kugel_grid *g = make_grid(), *other = make_grid();
  kugel_radial_opts o[N];
  const kugel_radial_opts *at[N];
  kugel_radial_bank *b = NULL;
  double f[2] = {0};
  make_opts(g, o, at);
  CHECK_IS(kugel_radial_bank_create(NULL, 0, at, &b), KUGEL_EINVAL);
  CHECK_IS(kugel_radial_bank_create(NULL, N, NULL, &b), KUGEL_EINVAL);
  CHECK_IS(kugel_radial_bank_create(NULL, N, at, NULL), KUGEL_EINVAL);
  o[1].grid = other;
  CHECK_IS(kugel_radial_bank_create(NULL, N, at, &b), KUGEL_EINVAL);
  o[1].grid = g;
  at[2] = NULL;
  CHECK_IS(kugel_radial_bank_create(NULL, N, at, &b), KUGEL_EINVAL);
  CHECK(!b);
  CHECK_OK(kugel_radial_bank_create(NULL, 1, at, &b));
  CHECK_IS(kugel_radial_bank_execute(b, KUGEL_ARRAY(f, KUGEL_F64, 2), KUGEL_ARRAY(f, KUGEL_F64, 1, 2), NULL),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_radial_bank_execute(NULL, NULL, NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_radial_bank_execute(b, NULL, NULL, NULL), KUGEL_EINVAL);
  kugel_radial_bank_destroy(b);
  kugel_radial_bank_destroy(NULL);
  kugel_grid_destroy(g);
  kugel_grid_destroy(other);
}

static void faults(void)
{
  kugel_grid *g = make_grid();
  kugel_radial_opts o[N];
  const kugel_radial_opts *at[N];
  make_opts(g, o, at);
  double *in = calloc(NPIX, 8), *out = calloc(N * NPIX, 8);
  bool done = false;
  for (int64_t n = 1; n < 900 && !done; n += 1 + n / 8) {
    kugel_radial_bank *b = NULL;
    kugel_ctx_trim(NULL);
    kugel__fault_alloc(n);
    kugel_status s = kugel_radial_bank_create(NULL, N, at, &b);
    if (!s)
      s = kugel_radial_bank_execute(b, KUGEL_ARRAY(in, KUGEL_F64, NPIX), KUGEL_ARRAY(out, KUGEL_F64, N, NPIX),
                                    NULL);
    kugel__fault_alloc(0);
    CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
    kugel_radial_bank_destroy(b);
    done = s == KUGEL_OK;
  }
  CHECK(done);
  kugel_grid_destroy(g);
  free(in), free(out);
}

int main(void)
{
  kugel_device_info info;
  CASE("on the CPU")
  {
    compare(NULL, false);
    compare(NULL, true);
  }
  CASE("bad input") bad_input();
  CASE("failing allocations") faults();
  for (int i = 0; every_device(&i, true, &info);) {
    CASE(every_title(&info, "as each plan alone"))
    {
      kugel_ctx *ctx = NULL;
      if (!info.fp64)
        SKIP("no double precision");
      else {
        CHECK_OK(
            kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
        compare(ctx, false);
        compare(ctx, true);
        kugel_ctx_destroy(ctx);
      }
    }
  }
  END();
}
