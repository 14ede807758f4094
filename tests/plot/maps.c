/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures: sizes, colours at known places, all options, wrong options, allocation failures, decoding by
 * libpng. */
#include "check.h"
#include <png.h>
#include <unistd.h>
#include <kugel/plot.h>
#include "core/alloc.h"

#define UNSEEN    (-1.6375e30)
#define OPTS(...) (&(kugel_plot_opts){.size = sizeof(kugel_plot_opts), __VA_ARGS__})
enum { NSIDE = 16, NPIX = 12 * NSIDE * NSIDE };
static double ramp[NPIX];

static const uint8_t *pixel(const kugel_plot *p, double fx, double fy)
{
  int64_t w, h, box[4];
  const uint8_t *rgba = kugel_plot_pixels(p, &w, &h);
  kugel_plot_map_box(p, box);
  int64_t x = box[0] + (int64_t)(fx * (double)box[2]), y = box[1] + (int64_t)(fy * (double)box[3]);
  return rgba + 4 * (y * w + x);
}

static int near_color(const uint8_t *p, int r, int g, int b)
{
  return abs(p[0] - r) <= 2 && abs(p[1] - g) <= 2 && abs(p[2] - b) <= 2;
}

static double hemisphere(double theta, double phi, void *user)
{
  (void)user;
  return theta < 1.5 ? 1 : phi < 3.14159 ? 0 : NAN;
}

/* East of the centre on the left (sky) or right (ground); north above; NaN grey. */
static void check_places(int geo, kugel_plot_projection projection)
{
  kugel_plot *p = NULL;
  uint8_t low[3], high[3];
  CHECK_OK(kugel_plot_colors_at("viridis", 0, low));
  CHECK_OK(kugel_plot_colors_at("viridis", 1, high));
  CHECK_OK(kugel_plot_function(NULL,
                               OPTS(.geo = geo, .projection = projection, .width = 400, .colors = "viridis",
                                    .graticule = -1, .half_sky = 1),
                               hemisphere, NULL, &p));
  const uint8_t *east = pixel(p, geo ? 0.7 : 0.3, 0.72), *west = pixel(p, geo ? 0.3 : 0.7, 0.72);
  CHECK(near_color(pixel(p, 0.5, 0.25), high[0], high[1], high[2]));
  CHECK(near_color(east, low[0], low[1], low[2]));
  CHECK(near_color(west, 128, 128, 128));
  if (projection != KUGEL_PLOT_CARTESIAN)
    CHECK(near_color(pixel(p, 0.01, 0.01), 255, 255, 255));
  double ends[2];
  CHECK_OK(kugel_plot_range(p, ends));
  CHECK(ends[0] == 0 && ends[1] == 1);
  kugel_plot_destroy(p);
}

/* A circle of 40 pixels' radius about the centre of a disc: dark ink there, and nowhere else. */
static void check_circles(void)
{
  kugel_plot *bare = NULL, *marked = NULL, *line = NULL;
  const kugel_plot_opts *o = OPTS(.projection = KUGEL_PLOT_ORTHOGRAPHIC, .half_sky = 1, .width = 400,
                                  .graticule = -1, .colors = "viridis", .pixel_ratio = 1);
  CHECK_OK(kugel_plot_healpix(NULL, o, 0, KUGEL_ARRAY(ramp, KUGEL_F64, NPIX), &bare));
  CHECK_OK(kugel_plot_healpix(NULL, o, 0, KUGEL_ARRAY(ramp, KUGEL_F64, NPIX), &marked));
  const double theta[2] = {M_PI / 2, M_PI / 2}, phi[2] = {0, M_PI}; /* the second is behind */
  CHECK_OK(kugel_plot_circles(marked, 2, theta, phi, 40));
  int64_t w, h, box[4], inside = 0, outside = 0;
  const uint8_t *a = kugel_plot_pixels(bare, &w, &h), *b = kugel_plot_pixels(marked, &w, &h);
  CHECK_OK(kugel_plot_map_box(marked, box));
  for (int64_t i = 0; i < w * h; i++) {
    double r = hypot((double)(i % w) + 0.5 - (double)box[0] - (double)box[2] / 2,
                     (double)(i / w) + 0.5 - (double)box[1] - (double)box[3] / 2);
    bool changed = memcmp(a + 4 * i, b + 4 * i, 4) != 0;
    inside += changed && fabs(r - 40) < 4;
    outside += changed && fabs(r - 40) >= 4;
  }
  CHECK(inside > 200 && outside == 0);
  CHECK_IS(kugel_plot_circles(NULL, 1, theta, phi, 0), KUGEL_EINVAL);
  CHECK_IS(kugel_plot_circles(marked, 1, NULL, phi, 0), KUGEL_EINVAL);
  CHECK_IS(kugel_plot_circles(marked, 1, theta, phi, -1), KUGEL_EINVAL);
  double cl[3] = {1, 2, 3};
  CHECK_OK(kugel_plot_cl(NULL, NULL, 1, 2, cl, &line));
  CHECK_IS(kugel_plot_circles(line, 1, theta, phi, 0), KUGEL_EINVAL);
  kugel_plot_destroy(bare);
  kugel_plot_destroy(marked);
  kugel_plot_destroy(line);
}

static void check_png(void)
{
  kugel_plot *p = NULL;
  char path[64];
  int64_t w, h;
  snprintf(path, sizeof path, "/tmp/kugel-test-%d.png", (int)getpid());
  CHECK_OK(kugel_plot_healpix(NULL, OPTS(.width = 500, .title = "A map", .unit = "uK^2"), 0,
                              KUGEL_ARRAY(ramp, KUGEL_F64, NPIX), &p));
  CHECK_OK(kugel_plot_write(p, path, 0));
  CHECK_IS(kugel_plot_write(p, path, 0), KUGEL_EIO);
  CHECK_OK(kugel_plot_write(p, path, 1));
  const uint8_t *rgba = kugel_plot_pixels(p, &w, &h);
  png_image image = {.version = PNG_IMAGE_VERSION};
  CHECK(png_image_begin_read_from_file(&image, path));
  CHECK(image.width == 500 && image.height == h && w == 500);
  image.format = PNG_FORMAT_RGBA;
  uint8_t *back = malloc(PNG_IMAGE_SIZE(image));
  CHECK(png_image_finish_read(&image, NULL, back, 0, NULL));
  CHECK(!memcmp(back, rgba, (size_t)(4 * w * h)));
  free(back);
  unlink(path);
  kugel_plot_destroy(p);
}

static kugel_status draw(const kugel_plot_opts *o)
{
  kugel_plot *p = (kugel_plot *)1;
  kugel_status s = kugel_plot_healpix(NULL, o, KUGEL_ORDER_RING, KUGEL_ARRAY(ramp, KUGEL_F64, NPIX), &p);
  if (s)
    CHECK(!p);
  kugel_plot_destroy(p);
  return s;
}

static void check_all_options(void)
{
  for (int projection = 0; projection < 4; projection++)
    for (int scale = 0; scale < 4; scale++)
      for (int k = 0; k < 4; k++)
        CHECK_OK(
            draw(OPTS(.projection = projection, .scale = scale, .width = 200 + 37 * k, .lon = k,
                      .lat = 0.4 * k, .roll = 0.2 * k,
                      .coord = k == 1   ? "GE"
                               : k == 2 ? "CG"
                                        : NULL,
                      .geo = k & 1, .half_sky = k & 2, .interpolate = k == 3, .transparent = k == 2,
                      .title = k ? "Title ± µ ∞ \xff" : NULL, .unit = "mK m s-2",
                      .symmetric = scale != 1 && k == 2, .percentile = k == 3 ? 0.01 : 0,
                      .colors = kugel_plot_colors_name(k + scale), .no_bar = k == 1, .no_labels = k == 2)));
  CHECK_OK(draw(OPTS(.width = 64)));
  CHECK_OK(draw(OPTS(.min = NAN, .max = 3)));
  CHECK_OK(draw(OPTS(.min = 0, .max = 1e-9, .width = 100)));
  CHECK_OK(draw(OPTS(.colors = "relief_r", .pixel_ratio = 2, .width = 300)));
  CHECK_OK(
      draw(OPTS(.projection = KUGEL_PLOT_GNOMONIC, .reso = 1e-6, .lat = 1.5, .width = 200, .height = 90)));
  CHECK_OK(
      draw(OPTS(.projection = KUGEL_PLOT_CARTESIAN, .lon_width = 0.01, .lat_width = 0.01, .width = 200)));
}

static void check_wrong(void)
{
  CHECK_IS(draw(OPTS(.width = 63)), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.width = -5)), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.projection = 4)), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.scale = -1)), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.colors = "mauve")), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "viridis"));
  static const uint8_t table[6];
  CHECK_IS(draw(OPTS(.color_table = table)), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.color_table = table, .ncolors = 1)), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.color_table = table, .ncolors = 65537)), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.coord = "GX")), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.lat = 2)), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.lon = NAN)), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.min = 2, .max = 1)), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.min = -INFINITY, .max = 1)), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.percentile = 0.5)), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.scale = KUGEL_PLOT_LOG, .min = -1, .max = 1)), KUGEL_EINVAL);
  CHECK_IS(draw(OPTS(.scale = KUGEL_PLOT_LOG, .min = NAN, .max = -1)), KUGEL_EINVAL);
  kugel_plot *p;
  CHECK_IS(kugel_plot_healpix(NULL, NULL, 0, KUGEL_ARRAY(ramp, KUGEL_F64, 11), &p), KUGEL_ESHAPE);
  CHECK_IS(kugel_plot_healpix(NULL, NULL, 0, NULL, &p), KUGEL_EINVAL);
  CHECK_IS(kugel_plot_healpix(NULL, NULL, 0, KUGEL_ARRAY(ramp, KUGEL_F64, 12), NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_plot_healpix(NULL, NULL, KUGEL_ORDER_NESTED, KUGEL_ARRAY(ramp, KUGEL_F64, 108), &p),
           KUGEL_EINVAL);
  CHECK_IS(kugel_plot_latlon(NULL, NULL, NULL, 0, KUGEL_ARRAY(ramp, KUGEL_F64, 12), &p), KUGEL_ESHAPE);
  CHECK_IS(kugel_plot_function(NULL, NULL, NULL, NULL, &p), KUGEL_EINVAL);
  CHECK_IS(kugel_plot_write(NULL, "x", 0), KUGEL_EINVAL);
  CHECK(!kugel_plot_pixels(NULL, NULL, NULL));
  kugel_plot_destroy(NULL);
}

int main(void)
{
  for (int k = 0; k < NPIX; k++)
    ramp[k] = k - 1000.0;
  ramp[5] = UNSEEN;
  ramp[6] = NAN;
  ramp[7] = INFINITY;
  CASE("directions and colours")
  {
    for (int geo = 0; geo < 2; geo++) {
      check_places(geo, KUGEL_PLOT_MOLLWEIDE);
      check_places(geo, KUGEL_PLOT_ORTHOGRAPHIC);
      check_places(geo, KUGEL_PLOT_CARTESIAN);
    }
  }
  CASE("the PNG file holds the pixels") check_png();
  CASE("circles about directions") check_circles();
  CASE("options in all combinations") check_all_options();
  CASE("wrong options") check_wrong();
  CASE("maps without any value, or with one")
  {
    static double flat[12], none[12];
    kugel_plot *p = NULL;
    for (int k = 0; k < 12; k++) {
      flat[k] = 7;
      none[k] = UNSEEN;
    }
    for (int scale = 0; scale < 4; scale++) {
      CHECK_OK(kugel_plot_healpix(NULL, OPTS(.width = 120, .scale = scale), 0,
                                  KUGEL_ARRAY(flat, KUGEL_F64, 12), &p));
      kugel_plot_destroy(p);
      CHECK_OK(kugel_plot_healpix(NULL, OPTS(.width = 120, .scale = scale, .graticule = -1), 0,
                                  KUGEL_ARRAY(none, KUGEL_F64, 12), &p));
      if (p)
        CHECK(near_color(pixel(p, 0.5, 0.5), 128, 128, 128));
      kugel_plot_destroy(p);
      p = NULL;
    }
  }
  CASE("threads draw the same picture; nested and ring orders too")
  {
    kugel_plot *a = NULL, *b = NULL;
    int64_t w, h;
    kugel_set_num_threads(1);
    CHECK_OK(kugel_plot_healpix(NULL, OPTS(.width = 300), 0, KUGEL_ARRAY(ramp, KUGEL_F64, NPIX), &a));
    kugel_set_num_threads(3);
    CHECK_OK(kugel_plot_healpix(NULL, OPTS(.width = 300), 0, KUGEL_ARRAY(ramp, KUGEL_F64, NPIX), &b));
    kugel_set_num_threads(0);
    const uint8_t *pa = kugel_plot_pixels(a, &w, &h), *pb = kugel_plot_pixels(b, NULL, NULL);
    CHECK(pa && pb && !memcmp(pa, pb, (size_t)(4 * w * h)));
    kugel_plot_destroy(a);
    kugel_plot_destroy(b);
  }
  CASE("colour maps")
  {
    uint8_t rgb[3], again[3];
    int n = 0;
    for (const char *name; (name = kugel_plot_colors_name(n)); n++) {
      char reversed[40];
      snprintf(reversed, sizeof reversed, "%s_r", name);
      CHECK_OK(kugel_plot_colors_at(name, 0.25, rgb));
      CHECK_OK(kugel_plot_colors_at(reversed, 0.75, again));
      CHECK(!memcmp(rgb, again, 3));
    }
    CHECK(n >= 6 && !kugel_plot_colors_name(-1));
    CHECK_OK(kugel_plot_colors_at("viridis", 0, rgb));
    CHECK(near_color(rgb, 0x44, 0x01, 0x54));
    CHECK_IS(kugel_plot_colors_at("viridis", NAN, rgb), KUGEL_EINVAL);
    CHECK_IS(kugel_plot_colors_at("none", 0, rgb), KUGEL_EINVAL);
  }
  CASE("a colour table of the caller's")
  {
    static const uint8_t table[9] = {200, 0, 0, 0, 100, 0, 0, 0, 50};
    static const double value[5] = {-1, 0, 1, 0.5, 7}; // of a range -1 to 1
    static const int want[5][3] = {{200, 0, 0}, {0, 100, 0}, {0, 0, 50}, {0, 50, 25}, {0, 0, 50}};
    for (int i = 0; i < 5; i++) {
      double map[12];
      kugel_plot *p = NULL;
      int64_t width, height;
      for (int k = 0; k < 12; k++)
        map[k] = value[i];
      CHECK_OK(kugel_plot_healpix(
          NULL, OPTS(.color_table = table, .ncolors = 3, .min = -1, .max = 1, .width = 200, .graticule = -1),
          KUGEL_ORDER_RING, KUGEL_ARRAY(map, KUGEL_F64, 12), &p));
      const uint8_t *at = kugel_plot_pixels(p, &width, &height);
      int64_t box[4];
      CHECK_OK(kugel_plot_map_box(p, box));
      at += 4 * ((box[1] + box[3] / 2) * width + box[0] + box[2] / 3);
      for (int c = 0; c < 3; c++)
        CHECK(abs(at[c] - want[i][c]) <= 1);
      kugel_plot_destroy(p);
    }
  }
  CASE("allocation failures")
  {
    kugel_status s = KUGEL_ENOMEM;
    int64_t n = 0;
    while (s == KUGEL_ENOMEM && n < 10000) {
      kugel_plot *p = NULL;
      const uint8_t *bytes;
      size_t size;
      kugel__fault_alloc(n += 1 + n / 50); // FreeType makes some thousand
      s = kugel_plot_healpix(NULL, OPTS(.width = 100), 0, KUGEL_ARRAY(ramp, KUGEL_F64, NPIX), &p);
      const double at = 1.5;
      if (!s)
        s = kugel_plot_circles(p, 1, &at, &at, 0);
      if (!s)
        s = kugel_plot_encode(p, &bytes, &size);
      kugel__fault_alloc(0);
      kugel_plot_destroy(p);
    }
    CHECK_OK(s);
    CHECK(n > 5);
  }
  END();
}
