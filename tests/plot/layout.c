/* SPDX-License-Identifier: BSD-3-Clause */
/* Values far beyond the ends of the colours, text that is too long, units in TeX, frames that end with the map, the name
 * of the coordinates, one style of numbers on a bar. */
#include "check.h"
#include <math.h>
#include <kugel/kugel.h>
#include "plot/plot.h"

#define OPTS(...) (&(kugel_plot_opts){.size = sizeof(kugel_plot_opts), __VA_ARGS__})

static double given;

static double constant(double theta, double phi, void *user)
{
  (void)theta, (void)phi, (void)user;
  return given;
}

static kugel_plot *draw(const kugel_plot_opts *o)
{
  kugel_plot *p = NULL;
  CHECK_OK(kugel_plot_function(NULL, o, constant, NULL, &p));
  return p;
}

/* Pixels of [x0, x1) x [y0, y1) darker than mid-grey. */
static int dark(const kugel_plot *p, int64_t x0, int64_t y0, int64_t x1, int64_t y1)
{
  int64_t w, h;
  const uint8_t *rgba = kugel_plot_pixels(p, &w, &h);
  int n = 0;
  for (int64_t y = y0 < 0 ? h + y0 : y0; y < (y1 <= 0 ? h + y1 : y1); y++)
    for (int64_t x = x0 < 0 ? w + x0 : x0; x < (x1 <= 0 ? w + x1 : x1); x++)
      n += rgba[4 * (y * w + x)] + rgba[4 * (y * w + x) + 1] + rgba[4 * (y * w + x) + 2] < 3 * 128;
  return n;
}

static void check_beyond(void)
{
  static const double sizes[] = {1.5, 1e3, 1e5, 5e5, 1e7, 2147484, 1e10, 1e20, 9.97e36, 1e300};
  uint8_t ends[2][3];
  CHECK_OK(kugel_plot_colors_at("viridis", 0, ends[0]));
  CHECK_OK(kugel_plot_colors_at("viridis", 1, ends[1]));
  for (int scale = KUGEL_PLOT_LINEAR; scale <= KUGEL_PLOT_HISTOGRAM; scale++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
      for (int below = 0; below < (scale == KUGEL_PLOT_LOG ? 1 : 2); below++) {
        given = below ? -sizes[i] : sizes[i];
        kugel_plot *p = draw(OPTS(.width = 100, .scale = scale, .min = scale == KUGEL_PLOT_LOG ? 0.1 : -1,
                                  .max = 1, .colors = "viridis", .graticule = -1, .no_bar = 1));
        int64_t w, h;
        const uint8_t *c = kugel_plot_pixels(p, &w, &h);
        c += 4 * (h / 2 * w + w / 2);
        for (int k = 0; k < 3; k++)
          CHECK(abs(c[k] - ends[!below][k]) <= 2);
        kugel_plot_destroy(p);
      }
}

static void check_long_text(void)
{
  static const char text[] =
      "A very long title that goes on about the map of the whole sky with its foregrounds, and on, "
      "and on, and on, and on, and on, to the end, which is far away, and on, and on";
  given = 0.5;
  for (int width = 200; width <= 1200; width += 500) {
    for (int projection = KUGEL_PLOT_MOLLWEIDE; projection <= KUGEL_PLOT_CARTESIAN; projection++) {
      kugel_plot *p =
          draw(OPTS(.width = width, .projection = projection, .title = text, .unit = text, .max = 1));
      CHECK(dark(p, 0, 0, 2, 0) == 0);  // nothing runs out of the picture on the left
      CHECK(dark(p, -2, 0, 0, 0) == 0); // nor on the right
      kugel_plot_destroy(p);
    }
  }
}

static void check_units(void)
{
  static const char *const units[][2] = {
      {"K$_{CMB}$", "K_CMB"}, {"$\\mu$K$^{2}$", "µK²"}, {"$\\mathrm{MJy\\,sr^{-1}}$", "MJy sr⁻¹"},
      {"uK^2", "µK²"},        {"K_CMB", "K_CMB"},       {"m s-2", "m s⁻²"}};
  char out[256];
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    kugel__type_unit(units[i][0], out, sizeof out);
    if (strcmp(out, units[i][1]))
      printf("  %s: %s, not %s\n", units[i][0], out, units[i][1]);
    CHECK(!strcmp(out, units[i][1]));
  }
}

/* All of the box is map, none of it an empty frame. */
static void check_frame(double reso)
{
  given = 0;
  kugel_plot *p = draw(OPTS(.width = 600, .projection = KUGEL_PLOT_CARTESIAN, .reso = reso, .min = 0,
                            .max = 1, .colors = "viridis", .graticule = -1));
  int64_t box[4];
  CHECK_OK(kugel_plot_map_box(p, box));
  CHECK(dark(p, box[0] + 1, box[1] + 1, box[0] + box[2] - 1, box[1] + box[3] - 1) ==
        (box[2] - 2) * (box[3] - 2));
  kugel_plot_destroy(p);
}

static void check_system(void)
{
  given = 0.5;
  kugel_plot *named = draw(OPTS(.width = 800, .max = 1, .coord = "GC")),
             *silent = draw(OPTS(.width = 800, .max = 1)),
             *given_name = draw(OPTS(.width = 800, .max = 1, .system = "Galactic")),
             *none = draw(OPTS(.width = 800, .max = 1, .coord = "GC", .system = ""));
  CHECK(dark(named, -120, -25, 0, 0) > 20 && dark(given_name, -120, -25, 0, 0) > 20);
  CHECK(dark(silent, -120, -25, 0, 0) == 0 && dark(none, -120, -25, 0, 0) == 0);
  kugel_plot_destroy(named);
  kugel_plot_destroy(silent);
  kugel_plot_destroy(given_name);
  kugel_plot_destroy(none);
}

/* Latitudes stand on a map about a pole though no parallel meets its left edge. */
static void check_pole(void)
{
  given = 0;
  kugel_plot_opts o = {.size = sizeof o,
                       .width = 600,
                       .projection = KUGEL_PLOT_GNOMONIC,
                       .lat = M_PI / 2,
                       .min = 0,
                       .max = 1,
                       .colors = "grey_r",
                       .graticule = 10 * M_PI / 180,
                       .no_bar = 1};
  kugel_plot *p = draw(&o);
  int64_t box[4], labels = dark(p, 0, 0, 60, 0);
  CHECK_OK(kugel_plot_map_box(p, box));
  labels +=
      dark(p, box[0] + box[2] / 2 - 12, box[1] + 10, box[0] + box[2] / 2 + 12, box[1] + box[3] / 2 - 30);
  kugel_plot_destroy(p);
  o.no_labels = 1;
  p = draw(&o);
  CHECK_OK(kugel_plot_map_box(p, box));
  CHECK(labels > 10 + dark(p, box[0] + box[2] / 2 - 12, box[1] + 10, box[0] + box[2] / 2 + 12,
                           box[1] + box[3] / 2 - 30));
  kugel_plot_destroy(p);
}

/* Numbers of one bar: all plain, or all powers of ten (with 0 among them). */
static void check_numbers(kugel_plot_scale scale, double min, double max)
{
  double sample[1000];
  for (int k = 0; k < 1000; k++)
    sample[k] =
        scale == KUGEL_PLOT_LOG ? min * pow(max / min, k / 999.) : min + (max - min) * pow(k / 999., 8);
  kugel_plot_opts o = {.size = sizeof o, .scale = scale};
  kugel__ruler r;
  kugel__ticks ticks;
  CHECK_OK(kugel__ruler_set(&r, &o, false, sample, 1000, min, max));
  kugel__ruler_ticks(&r, 8, &ticks);
  int raised = 0, plain = 0;
  for (int i = 0; i < ticks.n; i++) {
    const char *text = ticks.tick[i].label;
    if (strstr(text, "⁻") || strstr(text, "10⁰") || strstr(text, "10¹") || strstr(text, "10²") ||
        strstr(text, "10³") || strstr(text, "10⁴") || strstr(text, "10⁵") || strstr(text, "10⁶") ||
        strstr(text, "10⁷"))
      raised++;
    else
      plain += *text && strcmp(text, "0");
  }
  CHECK(!raised || !plain);
}

int main(void)
{
  CASE("values beyond the ends") check_beyond();
  CASE("long title and unit") check_long_text();
  CASE("units") check_units();
  CASE("Cartesian frames")
  {
    check_frame(M_PI / 180);
    check_frame(0.3 * M_PI / 180);
    check_frame(0.02 * M_PI / 180);
  }
  CASE("the coordinates' name") check_system();
  CASE("about a pole") check_pole();
  CASE("one style of numbers")
  {
    check_numbers(KUGEL_PLOT_LOG, 1e-5, 10);
    check_numbers(KUGEL_PLOT_LOG, 0.01, 1000);
    check_numbers(KUGEL_PLOT_ASINH, -2e-3, 4);
    check_numbers(KUGEL_PLOT_ASINH, 1e-4, 2e4);
    check_numbers(KUGEL_PLOT_HISTOGRAM, -1.2e6, 1.12e6);
    check_numbers(KUGEL_PLOT_HISTOGRAM, 2e-6, 1.1);
  }
  END();
}
