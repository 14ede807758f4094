/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture is complete or fails: every allocation of FreeType is swept, and what is drawn never differs. */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "core/alloc.h"
#include <kugel/plot.h>

enum { WIDTH = 64, LMAX = 8 };

static double slope(double theta, double phi, void *user)
{
  (void)phi;
  (void)user;
  return theta;
}

enum { MAP, SPECTRA, VOLUME };

static kugel_status draw(int what, kugel_plot **p)
{
  static const int64_t n[3] = {2, 2, 2};
  static const float plane[4] = {1, 2, 3, 4};
  static const double cl[LMAX + 1] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  if (what == VOLUME)
    return kugel_plot_volume(NULL,
                             &(kugel_plot_volume_opts){.size = sizeof(kugel_plot_volume_opts),
                                                       .width = 100,
                                                       .voxel = {1, 1, 1},
                                                       .title = "V",
                                                       .min = 1,
                                                       .max = 4},
                             n, plane, plane, plane, p);
  if (what == SPECTRA)
    return kugel_plot_cl(
        NULL, &(kugel_plot_cl_opts){.size = sizeof(kugel_plot_cl_opts), .width = 200, .title = "T"}, 1, LMAX,
        cl, p);
  return kugel_plot_function(NULL,
                             &(kugel_plot_opts){.size = sizeof(kugel_plot_opts),
                                                .width = WIDTH,
                                                .graticule = 1.5,
                                                .title = "Ag",
                                                .unit = "uK",
                                                .system = "S"},
                             slope, NULL, p);
}

/* Allocation n and all later ones fail, for every n: KUGEL_ENOMEM, or the same picture. */
static void sweep(int what)
{
  kugel_plot *whole = NULL;
  int64_t width, height, n = 0, short_of = 0;
  CHECK_OK(draw(what, &whole)); // the context's own allocations are made by now
  const uint8_t *want = kugel_plot_pixels(whole, &width, &height);
  for (kugel_status s = KUGEL_ENOMEM; s != KUGEL_OK;) {
    kugel_plot *p = NULL;
    kugel__fault_alloc(++n);
    s = draw(what, &p);
    kugel__fault_alloc(0);
    CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
    short_of += s == KUGEL_ENOMEM;
    if (s == KUGEL_OK)
      CHECK(!memcmp(kugel_plot_pixels(p, NULL, NULL), want, (size_t)(4 * width * height)));
    kugel_plot_destroy(p);
    if (n > 20000)
      break;
  }
  printf("  %lld allocations, each failed once\n", (long long)short_of);
  CHECK(short_of > 50 && n < 20000);
  kugel_plot_destroy(whole);
}

/* Letters take their memory from the context, and give it back. */
static void count(void)
{
  kugel_ctx *ctx = NULL;
  uint64_t before, after;
  kugel_plot *p = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .threads = 1}, &ctx));
  kugel_ctx_memory(ctx, &before, NULL);
  CHECK_OK(kugel_plot_function(ctx, NULL, slope, NULL, &p));
  kugel_plot_destroy(p);
  kugel_ctx_trim(ctx);
  kugel_ctx_memory(ctx, &after, NULL);
  CHECK(before == after);
  kugel_ctx_destroy(ctx);
}

int main(void)
{
  CASE("letters of a map") sweep(MAP);
  CASE("letters of spectra") sweep(SPECTRA);
  CASE("letters of a volume") sweep(VOLUME);
  CASE("memory is the context's") count();
  END();
}
