/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of spectra: colours where the values stand, all options, odd spectra, wrong arguments, allocation
 * failures. */
#include "check.h"
#include <kugel/plot.h>
#include "core/alloc.h"

#define OPTS(...) (&(kugel_plot_cl_opts){.size = sizeof(kugel_plot_cl_opts), __VA_ARGS__})
enum { LMAX = 500, N = 6 };
static double cl[N * (LMAX + 1)];

/* The colour at a place of the frame, 0 to 1 from the left and from the bottom. */
static const uint8_t *pixel(const kugel_plot *p, double fx, double fy)
{
  int64_t w, box[4];
  const uint8_t *rgba = kugel_plot_pixels(p, &w, NULL);
  CHECK_OK(kugel_plot_map_box(p, box));
  const int64_t x = box[0] + (int64_t)(fx * (double)box[2]),
                y = box[1] + (int64_t)((1 - fy) * (double)box[3]);
  return rgba + 4 * (y * w + x);
}

static int near_color(const uint8_t *p, int r, int g, int b)
{
  return abs(p[0] - r) <= 3 && abs(p[1] - g) <= 3 && abs(p[2] - b) <= 3;
}

/* l(l+1) C_l / 2 pi = 1, 0.1, 0.01, ... */
static void make_flat(void)
{
  for (int s = 0; s < N; s++)
    for (int l = 0; l <= LMAX; l++)
      cl[s * (LMAX + 1) + l] = l ? 2 * M_PI / (l * (l + 1.0)) * pow(10, -s) : 1e9;
}

static kugel_status draw(const kugel_plot_cl_opts *o, int64_t n, int64_t lmax)
{
  kugel_plot *p = (kugel_plot *)1;
  kugel_status s = kugel_plot_cl(NULL, o, n, lmax, cl, &p);
  if (s)
    CHECK(!p);
  kugel_plot_destroy(p);
  return s;
}

static void check_places(void)
{
  kugel_plot *p = NULL;
  double ends[2];
  make_flat();
  CHECK_OK(kugel_plot_cl(NULL, OPTS(.min = 1e-3, .max = 10), 3, LMAX, cl, &p));
  for (double x = 0.03; x < 1; x += 0.06) {
    CHECK(near_color(pixel(p, x, 0.75), 0, 114, 178));
    CHECK(near_color(pixel(p, x, 0.50), 213, 94, 0));
    CHECK(near_color(pixel(p, x, 0.25), 0, 158, 115));
    CHECK(near_color(pixel(p, x, 0.88), 255, 255, 255) || near_color(pixel(p, x, 0.86), 255, 255, 255));
  }
  CHECK_OK(kugel_plot_range(p, ends));
  CHECK(ends[0] == 1e-3 && ends[1] == 10);
  kugel_plot_destroy(p);
  CHECK_OK(kugel_plot_cl(NULL, OPTS(.linear_l = 1, .linear_y = 1, .max = 2), 1, LMAX, cl, &p));
  CHECK(near_color(pixel(p, 0.4, 0.5), 0, 114, 178));
  kugel_plot_destroy(p);
  for (int l = 0; l <= LMAX; l++) // negative: paler
    cl[l] = -cl[l];
  CHECK_OK(kugel_plot_cl(NULL, OPTS(.min = 0.1, .max = 10), 1, LMAX, cl, &p));
  const uint8_t *c = pixel(p, 0.1, 0.5);
  CHECK(c[0] > 60 && c[0] < 240 && c[2] > 190 && c[2] > c[0] + 20);
  kugel_plot_destroy(p);
}

/* A legend stands beside the name of the axis, or above it in rows, and the frame gives way. */
static int64_t top(int width, int64_t n)
{
  kugel_plot *p = NULL;
  int64_t box[4] = {0};
  CHECK_OK(kugel_plot_cl(NULL, OPTS(.width = width, .unit = "uK^2"), n, LMAX, cl, &p));
  CHECK_OK(kugel_plot_map_box(p, box));
  kugel_plot_destroy(p);
  return box[1];
}

static void check_legend(void)
{
  make_flat();
  CHECK(top(1200, 6) == top(1200, 1));
  CHECK(top(400, 6) > top(400, 1) && top(200, 6) > top(200, 1));
  const int64_t without = top(600, 4);
  for (int l = 0; l <= LMAX; l++)
    cl[l] *= l < LMAX / 2 ? -1 : 1;
  CHECK(top(600, 4) >= without && top(1200, 4) == top(1200, 1));
}

static void check_options(void)
{
  static const char *const names[N] = {"one", "two", NULL, "ζ", "", "\xff"};
  make_flat();
  for (int k = 0; k < 64; k++)
    CHECK_OK(draw(OPTS(.raw = k & 1, .linear_l = k >> 1 & 1, .linear_y = k >> 2 & 1,
                       .transparent = k >> 3 & 1, .names = k & 16 ? names : NULL,
                       .title = k & 32 ? "Title" : NULL, .width = 300 + k, .unit = k & 8 ? "uK^2" : NULL),
                  1 + k % N, k < 8 ? k + 1 : LMAX));
  CHECK_OK(draw(OPTS(.width = 200, .height = 120, .pixel_ratio = 0.3), 6, LMAX));
  CHECK_OK(draw(OPTS(.min = NAN, .max = 1), 2, LMAX));
  CHECK_OK(draw(OPTS(.linear_y = 1, .min = -5, .max = NAN), 2, LMAX));
  CHECK_OK(draw(OPTS(.min = 1e300, .max = 1e301), 1, LMAX));
}

static void check_odd(void)
{
  make_flat();
  for (int l = 0; l <= LMAX; l++) // bad values, and signs that change
    cl[l] *= l % 7 == 3 ? NAN : l % 11 == 5 ? INFINITY : l % 3 ? -1 : 1;
  CHECK_OK(draw(NULL, 6, LMAX));
  CHECK_OK(draw(OPTS(.linear_y = 1), 6, LMAX));
  for (int l = 0; l <= LMAX; l++)
    cl[l] = l == 100 ? 5e-324 : l == 9 ? 1e306 : 0;
  CHECK_OK(draw(NULL, 1, LMAX));
  CHECK_OK(draw(OPTS(.linear_y = 1), 1, LMAX));
  for (int l = 0; l <= LMAX; l++)
    cl[l] = l % 2 ? NAN : 0;
  CHECK_IS(draw(NULL, 1, LMAX), KUGEL_EINVAL);
}

static void check_wrong(void)
{
  kugel_plot *p = NULL;
  make_flat();
  CHECK_IS(draw(NULL, 0, LMAX), KUGEL_EINVAL);
  CHECK_IS(draw(NULL, 65, LMAX), KUGEL_EINVAL);
  CHECK_IS(draw(NULL, 1, 0), KUGEL_EINVAL);
  CHECK_IS(draw(NULL, 1, INT64_MAX), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.width = 199), 1, LMAX), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.height = -1), 1, LMAX), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.width = 40000), 1, LMAX), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.pixel_ratio = NAN), 1, LMAX), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.pixel_ratio = 50), 1, LMAX), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.min = 2, .max = 1), 1, LMAX), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.min = -2, .max = 1), 1, LMAX), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.min = -INFINITY, .max = 1), 1, LMAX), KUGEL_EINVAL);
  CHECK_IS(kugel_plot_cl(NULL, NULL, 1, LMAX, NULL, &p), KUGEL_EINVAL);
  CHECK_IS(kugel_plot_cl(NULL, NULL, 1, LMAX, cl, NULL), KUGEL_EINVAL);
}

int main(void)
{
  CASE("values stand where they belong") check_places();
  CASE("legends that fit and that do not") check_legend();
  CASE("options in all combinations") check_options();
  CASE("odd spectra") check_odd();
  CASE("wrong arguments") check_wrong();
  CASE("failing allocations")
  {
    int64_t i = 1;
    make_flat();
    for (; i < 5000; i += 1 + i / 50) { // FreeType makes some thousand
      kugel__fault_alloc(i);
      kugel_status s = draw(OPTS(.width = 300), 2, LMAX);
      kugel__fault_alloc(0);
      if (s == KUGEL_OK)
        break;
      CHECK_IS(s, KUGEL_ENOMEM);
    }
    CHECK(i > 3 && i < 5000);
  }
  END();
}
