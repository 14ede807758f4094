/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures: made from maps, kept as pixels, written as PNG. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <png.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "plot/pixels.h"
#include "plot/plot.h"
#include "core/replace.h"
#include "plot/source.h"

kugel_status kugel_plot_healpix(kugel_ctx *ctx, const kugel_plot_opts *opts, kugel_order order,
                                const kugel_array *map, kugel_plot **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  *out = NULL;
  KUGEL_TRY(kugel__check_values(map, "map"));
  int64_t n = kugel__array_count(map), nside = (int64_t)llround(sqrt((double)n / 12));
  KUGEL_CHECK(nside >= 1 && nside <= 1 << 29 && 12 * nside * nside == n, KUGEL_ESHAPE,
              "map has %lld pixels, must be 12 nside^2", (long long)n);
  KUGEL_CHECK(order >= KUGEL_ORDER_ANY && order <= KUGEL_ORDER_NESTED, KUGEL_EINVAL,
              "order is %d, must be KUGEL_ORDER_ANY, _RING or _NESTED", (int)order);
  KUGEL_CHECK(order != KUGEL_ORDER_NESTED || (nside & (nside - 1)) == 0, KUGEL_EINVAL,
              "nside is %lld: NESTED order needs a power of 2", (long long)nside);
  kugel_plot_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_plot_opts"));
  kugel__plot_source s = {.at = kugel__source_healpix,
                          .order = order ? order : KUGEL_ORDER_RING,
                          .nside = nside,
                          .dtype = map->dtype,
                          .data = kugel__array_data(map),
                          .interpolate = o.interpolate != 0};
  return kugel__plot(ctx, opts, &s, out);
}

kugel_status kugel_plot_latlon(kugel_ctx *ctx, const kugel_plot_opts *opts, const double *theta, double phi0,
                               const kugel_array *map, kugel_plot **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  *out = NULL;
  KUGEL_TRY(kugel__check_values(map, "map"));
  KUGEL_CHECK(map->ndim == 2 && map->shape[0] >= 1 && map->shape[1] >= 1, KUGEL_ESHAPE,
              "map has %d dimensions, must be [nlat, nlon], not empty", map->ndim);
  KUGEL_CHECK(isfinite(phi0), KUGEL_EINVAL, "phi0 is %g, must be finite", phi0);
  for (int64_t i = 0; theta && i < map->shape[0]; i++)
    KUGEL_CHECK(theta[i] >= 0 && theta[i] <= M_PI + 1e-9 && (i == 0 || theta[i] > theta[i - 1]), KUGEL_EINVAL,
                "theta[%lld] is %g: colatitudes must ascend within [0, pi]", (long long)i, theta[i]);
  kugel_plot_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_plot_opts"));
  kugel__plot_source s = {.at = kugel__source_latlon,
                          .nlat = map->shape[0],
                          .nlon = map->shape[1],
                          .theta = theta,
                          .phi0 = phi0,
                          .dtype = map->dtype,
                          .data = kugel__array_data(map),
                          .interpolate = o.interpolate != 0};
  return kugel__plot(ctx, opts, &s, out);
}

kugel_status kugel_plot_function(kugel_ctx *ctx, const kugel_plot_opts *opts, kugel_plot_fn fn, void *user,
                                 kugel_plot **out)
{
  KUGEL_CHECK(fn && out, KUGEL_EINVAL, "%s is NULL", fn ? "out" : "fn");
  kugel__plot_source s = {.at = kugel__source_function, .fn = fn, .user = user};
  return kugel__plot(ctx, opts, &s, out);
}

kugel_status kugel__picture_make(kugel_ctx *ctx, kugel__paint *paint, void *of, kugel_plot **out)
{
  kugel__type *type = NULL;
  ctx = kugel__ctx_retain(ctx);
  KUGEL_CHECK(ctx, KUGEL_ENOMEM, "no memory for the default context");
  kugel_plot *picture = kugel__calloc(ctx, sizeof *picture);
  if (!picture) {
    kugel_ctx_destroy(ctx);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a picture");
  }
  picture->ctx = ctx;
  kugel_status s = kugel__type_open(ctx, &type);
  if (!s)
    s = paint(picture, type, of);
  if (!s)
    s = kugel__type_check(type);
  kugel__type_close(type);
  kugel__free(ctx, picture->canvas.mask);
  picture->canvas.mask = NULL;
  if (s)
    kugel_plot_destroy(picture);
  else
    *out = picture;
  return s;
}

void kugel_plot_destroy(kugel_plot *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  kugel__free(ctx, p->canvas.rgba);
  kugel__free(ctx, p->canvas.mask);
  kugel__free(ctx, p->png);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

const uint8_t *kugel_plot_pixels(const kugel_plot *p, int64_t *width, int64_t *height)
{
  if (!p)
    return NULL;
  if (width)
    *width = p->canvas.width;
  if (height)
    *height = p->canvas.height;
  return p->canvas.rgba;
}

kugel_status kugel_plot_map_box(const kugel_plot *p, int64_t box[4])
{
  KUGEL_CHECK(p && box, KUGEL_EINVAL, "%s is NULL", p ? "box" : "picture");
  memcpy(box, p->box, sizeof p->box);
  return KUGEL_OK;
}

kugel_status kugel_plot_range(const kugel_plot *p, double ends[2])
{
  KUGEL_CHECK(p && ends, KUGEL_EINVAL, "%s is NULL", p ? "ends" : "picture");
  memcpy(ends, p->ends, sizeof p->ends);
  return KUGEL_OK;
}

/* ---- PNG
 * ---------------------------------------------------------------------------------------------------- */

typedef struct encoder {
  kugel_ctx *ctx;
  uint8_t *bytes;
  size_t used, room;
  bool no_memory;
} encoder;

static void take_bytes(png_structp png, png_bytep data, size_t n)
{
  encoder *e = png_get_io_ptr(png);
  if (e->used + n > e->room) {
    size_t room = 2 * (e->used + n) + 65536;
    uint8_t *larger = kugel__alloc(e->ctx, room);
    if (!larger) {
      e->no_memory = true;
      png_error(png, "no memory");
    }
    if (e->used)
      memcpy(larger, e->bytes, e->used);
    kugel__free(e->ctx, e->bytes);
    e->bytes = larger;
    e->room = room;
  }
  memcpy(e->bytes + e->used, data, n);
  e->used += n;
}

static void flush_nothing(png_structp png)
{
  (void)png;
}

static void quiet_error(png_structp png, png_const_charp message)
{
  (void)message;
  longjmp(png_jmpbuf(png), 1);
}

static void quiet_warning(png_structp png, png_const_charp message)
{
  (void)png, (void)message;
}

/* Returns 0, or 1 if libpng gave up. In a function of its own because of setjmp. `opaque`: three channels do.
 */
static int encode(const kugel_plot *p, encoder *e, bool opaque, uint8_t *row)
{
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, quiet_error, quiet_warning);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (!info || setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    return 1;
  }
  const kugel__canvas *c = &p->canvas;
  png_set_write_fn(png, e, take_bytes, flush_nothing);
  png_set_IHDR(png, info, (png_uint_32)c->width, (png_uint_32)c->height, 8,
               opaque ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGBA, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_set_sRGB_gAMA_and_cHRM(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
  png_set_compression_level(png, 4);
  png_set_filter(png, 0, PNG_FILTER_NONE | PNG_FILTER_UP);
  png_write_info(png, info);
  for (int64_t y = 0; y < c->height; y++) {
    const uint8_t *from = c->rgba + 4 * y * c->width;
    if (opaque)
      for (int64_t x = 0; x < c->width; x++)
        memcpy(row + 3 * x, from + 4 * x, 3);
    png_write_row(png, opaque ? row : from);
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return 0;
}

kugel_status kugel_plot_encode(kugel_plot *p, const uint8_t **bytes, size_t *size)
{
  KUGEL_CHECK(p && bytes && size, KUGEL_EINVAL, "an argument is NULL");
  *bytes = NULL;
  *size = 0;
  bool opaque = true;
  for (int64_t k = 0; k < p->canvas.width * p->canvas.height && opaque; k++)
    opaque = p->canvas.rgba[4 * k + 3] == 255;
  kugel__free(p->ctx, p->png);
  p->png = NULL;
  encoder e = {.ctx = p->ctx};
  uint8_t *row;
  KUGEL_ALLOC(p->ctx, row, 3 * p->canvas.width);
  int failed = encode(p, &e, opaque, row);
  kugel__free(p->ctx, row);
  if (failed) {
    kugel__free(p->ctx, e.bytes);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory to encode a picture of %lld by %lld pixels",
                      (long long)p->canvas.width, (long long)p->canvas.height);
  }
  p->png = e.bytes;
  *bytes = e.bytes;
  *size = e.used;
  return KUGEL_OK;
}

kugel_status kugel_plot_write(kugel_plot *p, const char *path, int overwrite)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "picture is NULL");
  kugel__replace file;
  KUGEL_TRY(kugel__replace_begin(p->ctx, path, overwrite, &file));
  const uint8_t *bytes;
  size_t size;
  FILE *out = NULL;
  kugel_status s = kugel_plot_encode(p, &bytes, &size);
  if (!s)
    s = kugel__replace_open(&file, &out);
  if (!s)
    fwrite(bytes, 1, size, out); // a failure stays in `out`
  return kugel__replace_finish(&file, s, out);
}
