/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of a picture: canvas, colour scale, type, projection. Lengths are pixels, y downwards from the top.
 */
#ifndef KUGEL_PLOT_PLOT_H
#define KUGEL_PLOT_PLOT_H

#include <math.h>
#include <kugel/plot.h>
#include "core/base.h"

/* ---- canvas
 * ------------------------------------------------------------------------------------------------- */

typedef struct kugel__color {
  float r, g, b, a; // 0 to 1, not premultiplied
} kugel__color;

typedef struct kugel__canvas {
  kugel_ctx *ctx;
  int64_t width, height;
  uint8_t *rgba;
  uint8_t *mask;    // coverage of the shape being drawn
  int64_t dirty[4]; // its box: x0, y0, x1, y1
} kugel__canvas;

kugel_status kugel__canvas_create(kugel_ctx *ctx, int64_t width, int64_t height, bool transparent,
                                  kugel__canvas *c);
/* Composites a colour over pixel (x, y), which must be inside. */
void kugel__canvas_over(kugel__canvas *c, int64_t x, int64_t y, kugel__color color);
/* Lines are first collected in the mask, so that crossings are no darker, then painted at once; a colour with
 * a < 0 stands for a faint one that shows on what is below. */
void kugel__mask_line(kugel__canvas *c, double x0, double y0, double x1, double y1, double width);
void kugel__mask_paint(kugel__canvas *c, kugel__color color);
/* A convex polygon of n corners, painted at once. */
void kugel__canvas_polygon(kugel__canvas *c, int n, const double *x, const double *y, kugel__color color);

/* ---- colours
 * ------------------------------------------------------------------------------------------------ */

enum { KUGEL__COLORS = 1024 };

typedef struct kugel__colors {
  kugel__color table[KUGEL__COLORS];
  bool broken; // the middle stands for the value 0: sea below, land above
} kugel__colors;

kugel_status kugel__colors_fill(const char *name, kugel__colors *c);
/* From a table of the caller's, [n, 3] RGB, joined by straight lines. */
kugel_status kugel__colors_table(const uint8_t *rgb, int n, kugel__colors *c);
static inline kugel__color kugel__colors_get(const kugel__colors *c, double t)
{
  return c->table[t > 0 ? t < 1 ? (int)(t * KUGEL__COLORS) : KUGEL__COLORS - 1 : 0]; // t of any size
}

/* ---- scale: value to [0, 1]
 * ---------------------------------------------------------------------------------- */

enum { KUGEL__QUANTILES = 1025, KUGEL__TICKS = 160 };

typedef struct kugel__ruler {
  kugel_plot_scale scale;
  double min, max, linear_width;
  bool broken, below, above; // below, above: the data go beyond the ends
  double quantile[KUGEL__QUANTILES];
} kugel__ruler;

typedef struct kugel__ticks {
  int n;
  struct {
    double t;
    bool major;
    char label[32];
  } tick[KUGEL__TICKS];
  char factor[32]; // common to all labels, "" or "×10⁻⁵"
} kugel__ticks;

/* From a sample of n finite values (sorted here) and the exact ends of all data. */
kugel_status kugel__ruler_set(kugel__ruler *r, const kugel_plot_opts *o, bool broken, double *sample,
                              int64_t n, double data_min, double data_max);
/* Position of a value, outside [0, 1] beyond the ends; NaN if it has none (log of a negative number). */
double kugel__ruler_at(const kugel__ruler *r, double value);
void kugel__ruler_ticks(const kugel__ruler *r, int wanted, kugel__ticks *ticks);

/* ---- type
 * --------------------------------------------------------------------------------------------------- */

typedef struct kugel__type kugel__type;
kugel_status kugel__type_open(kugel_ctx *ctx, kugel__type **out);
void kugel__type_close(kugel__type *t);
/* KUGEL_ENOMEM if memory ended while text was measured or drawn: letters may be missing. */
kugel_status kugel__type_check(const kugel__type *t);
/* Width of UTF-8 text at `size` pixels an em. */
double kugel__type_width(kugel__type *t, const char *text, double size);
/* Draws text with its baseline at y; align: 0 left, 0.5 centred, 1 right of x. halo: width of a rim in
 * halo_color. */
void kugel__type_draw(kugel__type *t, kugel__canvas *c, double x, double y, double align, double size,
                      const char *text, kugel__color color, double halo, kugel__color halo_color);
/* The same, no wider than `room`: smaller down to 0.6 of the size, then cut with an ellipsis. */
void kugel__type_fit(kugel__type *t, kugel__canvas *c, double x, double y, double align, double size,
                     double room, const char *text, kugel__color color);
/* "uK^2" as "µK²", TeX's "K$_{CMB}$" as "K_CMB"; out holds at least 4 bytes a letter. */
void kugel__type_unit(const char *unit, char *out, size_t size);

/* ---- projection
 * --------------------------------------------------------------------------------------------- */

typedef struct kugel__plot_view {
  kugel_plot_projection projection;
  double sign;         // x to the east: +1, to the west: -1
  double turn[3][3];   // picture frame (x towards the centre, z up) to sky, of the picture's coordinates
  double to_map[3][3]; // picture frame to the map's coordinates
  double x0, y0, w, h; // box of the map in the picture
  double scale;        // plane units a pixel
  bool half;
} kugel__plot_view;

kugel_status kugel__view_set(kugel__plot_view *v, const kugel_plot_opts *o);
/* Height of the map box over its width, given the options. */
double kugel__view_aspect(const kugel_plot_opts *o);
/* After x0, y0, w, h are known. */
void kugel__view_fit(kugel__plot_view *v, const kugel_plot_opts *o);
/* Directions (picture frame) of the n points (x + i, y) of the canvas; valid[i] = 0 outside the map. */
void kugel__view_row(const kugel__plot_view *v, double x, double y, int64_t n, double *vec, uint8_t *valid);
/* Canvas point of a direction in the picture frame. In two-disc views each point has one place. */
bool kugel__view_project(const kugel__plot_view *v, const double u[3], double *x, double *y);
/* Coordinate lines, outline and their labels. */
void kugel__graticule(kugel__canvas *c, kugel__type *type, const kugel__plot_view *v,
                      const kugel_plot_opts *o, double unit);

/* ---- where values come from
 * ---------------------------------------------------------------------------------- */

typedef struct kugel__plot_source {
  /* Values at n directions [n, 3] of the map's coordinates; NaN where there is none. */
  kugel_status (*at)(const struct kugel__plot_source *s, int64_t n, const double *vec, double *value);
  kugel_order order;
  int64_t nside, nlat, nlon;
  const double *theta;
  double phi0;
  kugel_dtype dtype;
  const void *data;
  bool interpolate;
  kugel_plot_fn fn;
  void *user;
} kugel__plot_source;

static inline double kugel__source_value(const kugel__plot_source *s, int64_t k)
{
  double x;
  if (s->dtype.code == KUGEL_FLOAT)
    x = s->dtype.bits == 64 ? ((const double *)s->data)[k] : (double)((const float *)s->data)[k];
  else
    x = s->dtype.bits == 64 ? (double)((const int64_t *)s->data)[k] : (double)((const int32_t *)s->data)[k];
  return fabs(x) < 1.6e30 ? x : fabs(x + 1.6375e30) < 2e25 ? NAN : x;
}

/* ---- picture
 * ------------------------------------------------------------------------------------------------ */

struct kugel_plot {
  kugel_ctx *ctx;
  kugel__canvas canvas;
  int64_t box[4];
  double ends[2];
  kugel__plot_view view; // of a map; w is 0 for other pictures
  double unit;           // as the painter's
  uint8_t *png;
  size_t png_size;
};

/* Makes a picture by paint(picture, type, of), which creates its canvas; KUGEL_ENOMEM if a letter is missing. */
typedef kugel_status kugel__paint(kugel_plot *picture, kugel__type *type, void *of);
kugel_status kugel__picture_make(kugel_ctx *ctx, kugel__paint *paint, void *of, kugel_plot **out);

/* A drawing being made. */
typedef struct kugel__painter {
  kugel_plot *picture;
  const kugel__plot_source *source;
  kugel_plot_opts o;
  kugel__plot_view view;
  kugel__colors colors;
  kugel__ruler ruler;
  kugel__color bad;
  kugel__type *type;
  double unit; // pixels for one pixel of the design, which is 1200 wide
  double bar_y, title_y;
  char *scratch; // one row's work a worker
  size_t scratch_bytes;
} kugel__painter;

/* The colour bar at painter->bar_y: colours, arrow heads where the data go on, ticks, unit. */
void kugel__bar(kugel__painter *p);
kugel_status kugel__plot(kugel_ctx *ctx, const kugel_plot_opts *opts, const kugel__plot_source *source,
                         kugel_plot **out);

#endif
