/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Radial convolution on every device against sums over all pixels in long double at sampled pixels: kernels by
 * formula and by a function, cut off and over the whole sphere, direct and by rings, in both precisions. */
#include "device/every.h"
#include "sphere/radial/brute.h"
#include <kugel/radial.h>

enum { STEP = 7 };

static uint64_t seed = 5;

/* The direct method is good to 1e-14 of the largest and the error of the kernel's table, by rings to the tolerance; floats to a few roundings. */
static void check_one(kugel_ctx *ctx, const kugel_grid *g, kugel_radial_method method, double width,
                      double radius, bool gauss, bool f32)
{
  int64_t npix = kugel_grid_npix(g);
  kugel_radial *p = NULL;
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = width, .radius = radius, .method = method};
  o.tolerance = method == KUGEL_RADIAL_DIRECT ? 0 : 1e-12;
  if (!gauss) {
    o.kernel = KUGEL_RADIAL_FUNCTION;
    o.function = cone_function;
    o.user = &width;
  }
  CHECK_OK(kugel_radial_create(ctx, &o, &p));
  if (!p)
    return;
  kugel_radial_info info = {.size = sizeof info};
  CHECK_OK(kugel_radial_get_info(p, &info));
  double *f = malloc((size_t)npix * 8), *got = malloc((size_t)npix * 8), *want = malloc((size_t)npix * 8);
  float *narrow = malloc((size_t)npix * 4);
  for (int64_t i = 0; i < npix; i++)
    f[i] = (double)(narrow[i] = (float)check_random(&seed));
  if (f32)
    CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(narrow, KUGEL_F32, npix),
                                  KUGEL_ARRAY(narrow, KUGEL_F32, npix), NULL));
  else
    CHECK_OK(
        kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(got, KUGEL_F64, npix), NULL));
  brute(g, gauss ? gaussian : cone, width, info.radius, info.scale, STEP, f, want);
  int64_t count = 0;
  for (int64_t i = 0; i < npix; i += STEP, count++) {
    got[count] = f32 ? (double)narrow[i] : got[i];
    want[count] = want[i];
  }
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < count; i++) {
    worst = fmax(worst, fabs(got[i] - want[i]));
    largest = fmax(largest, fabs(want[i]));
  }
  double bound = f32 ? 1e-6 : method == KUGEL_RADIAL_DIRECT ? 1e-14 + info.table_error : 1e-12;
  if (radius >=
      M_PI) { // one opposite pixel each, whose angle is good to 6e-8 only, times the cone's slope there
    double slope = 1 / (width * (1 + M_PI / width) * (1 + M_PI / width));
    bound += 6e-8 * slope * info.scale * 4 * M_PI / (double)npix / largest;
  }
  printf("  method %d, width %g, %s%s: %.1e of the largest, allowed %.1e\n", (int)method, width,
         gauss ? "Gaussian" : "cone", f32 ? ", float" : "", worst / largest, bound);
  CHECK_CLOSE(got, want, (size_t)count, bound);
  kugel_radial_destroy(p);
  free(f), free(got), free(want), free(narrow);
}

int main(void)
{
  kugel_device_info info;
  kugel_grid *healpix = NULL, *gauss = NULL;
  kugel_grid_opts ho = {.size = sizeof ho, .kind = KUGEL_GRID_HEALPIX, .nside = 12};
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_GAUSS, .ntheta = 24, .nphi = 50, .phi0 = 0.2};
  CHECK_OK(kugel_grid_create(NULL, &ho, &healpix));
  CHECK_OK(kugel_grid_create(NULL, &go, &gauss));
  for (int index = 0; every_device(&index, true, &info);) {
    kugel_ctx *ctx = NULL;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "sums over pixels"))
    {
      check_one(ctx, healpix, KUGEL_RADIAL_DIRECT, 0.3, 0, true, false);
      check_one(ctx, healpix, KUGEL_RADIAL_DIRECT, 0.3, 0, true, true);
      check_one(ctx, healpix, KUGEL_RADIAL_DIRECT, 0.2, 0.7, false, false);
      check_one(ctx, healpix, KUGEL_RADIAL_DIRECT, 2, 3, false, false);
      check_one(ctx, healpix, KUGEL_RADIAL_DIRECT, 2, M_PI, false, false);
      check_one(ctx, gauss, KUGEL_RADIAL_DIRECT, 0.4, 0, true, false);
      check_one(ctx, gauss, KUGEL_RADIAL_DIRECT, 0.4, 0.9, false, true);
    }
    CASE(every_title(&info, "the same by rings"))
    {
      check_one(ctx, healpix, KUGEL_RADIAL_RINGS, 0.3, 0, true, false);
      check_one(ctx, gauss, KUGEL_RADIAL_RINGS, 0.4, 0, true, false);
    }
    kugel_ctx_destroy(ctx);
  }
  kugel_grid_destroy(healpix);
  kugel_grid_destroy(gauss);
  END();
}
