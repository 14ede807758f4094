/* SPDX-License-Identifier: BSD-3-Clause */
/* Drawing a picture: layout, colour range, the map itself by four samples a pixel, then lines and type on
 * top. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "plot/plot.h"
#include "plot/source.h"

static const kugel__color ink = {0.13f, 0.13f, 0.15f, 1};

static kugel_status check_opts(kugel_plot_opts *o)
{
  KUGEL_CHECK(o->projection >= 0 && o->projection <= KUGEL_PLOT_CARTESIAN, KUGEL_EINVAL,
              "projection is %d, must be 0 to %d", (int)o->projection, KUGEL_PLOT_CARTESIAN);
  KUGEL_CHECK(o->scale >= 0 && o->scale <= KUGEL_PLOT_HISTOGRAM, KUGEL_EINVAL, "scale is %d, must be 0 to %d",
              (int)o->scale, KUGEL_PLOT_HISTOGRAM);
  o->width = o->width ? o->width : 1200;
  KUGEL_CHECK(o->width >= 64 && o->width <= 32768, KUGEL_EINVAL, "width is %d, must be 64 to 32768 pixels",
              o->width);
  KUGEL_CHECK(o->height >= 0 && o->height <= 32768, KUGEL_EINVAL, "height is %d, must be 0 to 32768 pixels",
              o->height);
  KUGEL_CHECK(o->pixel_ratio >= 0 && o->pixel_ratio <= 50, KUGEL_EINVAL, "pixel_ratio is %g, must be 0 to 50",
              o->pixel_ratio);
  KUGEL_CHECK(o->percentile >= 0 && o->percentile < 0.5, KUGEL_EINVAL,
              "percentile is %g, must be in [0, 0.5)", o->percentile);
  KUGEL_CHECK(isfinite(o->lon) && fabs(o->lat) <= M_PI / 2 + 1e-12 && isfinite(o->roll), KUGEL_EINVAL,
              "the centre is (%g, %g) turned by %g: lat must be in [-pi/2, pi/2] radians", o->lon, o->lat,
              o->roll);
  KUGEL_CHECK(o->reso >= 0 && o->reso < 1 && o->lon_width >= 0 && o->lon_width <= 2 * M_PI + 1e-9 &&
                  o->lat_width >= 0 && o->lat_width <= M_PI + 1e-9,
              KUGEL_EINVAL, "reso %g, lon_width %g, lat_width %g: must be below 1, 2 pi and pi radians",
              o->reso, o->lon_width, o->lat_width);
  KUGEL_CHECK(!(isinf(o->min) || isinf(o->max) || isnan(o->graticule) || isnan(o->linear_width)),
              KUGEL_EINVAL, "min, max, graticule and linear_width must be finite");
  bool given = o->min != 0 || o->max != 0;
  KUGEL_CHECK(!given || isnan(o->min) || isnan(o->max) || o->min < o->max, KUGEL_EINVAL,
              "min is %g and max %g: min must be below max", o->min, o->max);
  return KUGEL_OK;
}

/* ---- layout
 * ------------------------------------------------------------------------------------------------- */

static kugel_status lay_out(kugel__painter *p)
{
  const kugel_plot_opts *o = &p->o;
  double u = p->unit, width = o->width, left = 14 * u, right = 14 * u, top = 14 * u, labels = 0;
  bool framed = o->projection >= KUGEL_PLOT_GNOMONIC, lines = !(o->graticule < 0) && !o->no_labels;
  if (lines && o->projection == KUGEL_PLOT_MOLLWEIDE)
    left = right = 32 * u; // numbers stand where the ellipse leaves room
  if (framed && lines) {
    left = 74 * u;
    right = 30 * u;
    labels = 24 * u;
  }
  if (o->title && *o->title) {
    p->title_y = top + 20 * u;
    top += 38 * u;
  }
  kugel__plot_view *v = &p->view;
  v->x0 = left;
  v->y0 = top;
  v->w = width - left - right;
  v->h = floor(o->projection == KUGEL_PLOT_GNOMONIC && o->height ? o->height : v->w * kugel__view_aspect(o));
  if (o->projection == KUGEL_PLOT_CARTESIAN && o->reso > 0) { // the frame ends where the map does
    double across = (o->lon_width > 0 ? o->lon_width : 2 * M_PI) / o->reso,
           down = (o->lat_width > 0 ? o->lat_width : M_PI) / o->reso;
    v->x0 += floor(fmax(0, v->w - across) / 2);
    v->h = floor(across < v->w ? down : fmin(v->h, down));
    v->w = fmin(v->w, across);
  }
  double height = top + v->h + labels;
  if (!o->no_bar) {
    p->bar_y = height + 18 * u;
    height = p->bar_y + 50 * u;
  }
  height += o->no_bar ? 14 * u : 10 * u;
  kugel__view_fit(v, o);
  KUGEL_CHECK(v->w >= 16 && v->h >= 8 && height <= 65536, KUGEL_EINVAL,
              "a width of %d pixels leaves a map of %.0f by %.0f: choose another width or extent", o->width,
              v->w, v->h);
  KUGEL_TRY(kugel__canvas_create(p->picture->ctx, o->width, (int64_t)ceil(height), o->transparent,
                                 &p->picture->canvas));
  int64_t *box = p->picture->box;
  box[0] = (int64_t)floor(v->x0);
  box[1] = (int64_t)floor(v->y0);
  box[2] = (int64_t)ceil(v->x0 + v->w) - box[0];
  box[3] = (int64_t)ceil(v->y0 + v->h) - box[1];
  return KUGEL_OK;
}

/* ---- colour range
 * ------------------------------------------------------------------------------------------- */

enum { SAMPLE = 200000, CHUNKS = 64 };

typedef struct extremes {
  const kugel__plot_source *source;
  int64_t n;
  double lo[CHUNKS], hi[CHUNKS];
} extremes;

static kugel_status find_extremes(void *arg, int64_t i)
{
  extremes *e = arg;
  double lo = INFINITY, hi = -INFINITY;
  for (int64_t k = e->n * i / CHUNKS; k < e->n * (i + 1) / CHUNKS; k++) {
    double x = kugel__source_value(e->source, k);
    lo = x < lo ? x : lo; // false for NaN
    hi = x > hi && x < INFINITY ? x : hi;
  }
  e->lo[i] = lo > -INFINITY ? lo : -1.7e308;
  e->hi[i] = hi;
  return KUGEL_OK;
}

/* Values of a function on a nside 64 grid's worth of points, spread by the golden angle. */
static kugel_status probe_function(const kugel__plot_source *s, double *sample, int64_t *n, double *lo,
                                   double *hi)
{
  enum { PROBES = 49152 };
  *n = 0;
  for (int64_t k = 0; k < PROBES; k++) {
    double z = 1 - (2 * (double)k + 1) / PROBES, phi = fmod((double)k * 2.399963229728653, 2 * M_PI);
    double x = s->fn(acos(z), phi, s->user);
    if (isfinite(x) && fabs(x) < 1.6e30) {
      sample[(*n)++] = x;
      *lo = fmin(*lo, x);
      *hi = fmax(*hi, x);
    }
  }
  return KUGEL_OK;
}

/* Values that a view of a part of the sky shows, on a grid over the map. */
static kugel_status probe_view(const kugel__painter *p, double *sample, int64_t *n, double *lo, double *hi)
{
  enum { GRID = 300 };
  const kugel__plot_view *v = &p->view;
  *n = 0;
  for (int row = 0; row < GRID; row++)
    for (int column = 0; column < GRID; column++) {
      double u[3], t[3], x;
      uint8_t valid;
      kugel__view_row(v, v->x0 + (column + 0.5) * v->w / GRID, v->y0 + (row + 0.5) * v->h / GRID, 1, u,
                      &valid);
      for (int c = 0; c < 3; c++)
        t[c] = v->to_map[c][0] * u[0] + v->to_map[c][1] * u[1] + v->to_map[c][2] * u[2];
      if (!valid)
        continue;
      KUGEL_TRY(p->source->at(p->source, 1, t, &x));
      if (isfinite(x)) {
        sample[(*n)++] = x;
        *lo = fmin(*lo, x);
        *hi = fmax(*hi, x);
      }
    }
  return KUGEL_OK;
}

static kugel_status set_range(kugel__painter *p, int64_t count)
{
  kugel_ctx *ctx = p->picture->ctx;
  const kugel__plot_source *s = p->source;
  double *sample, lo = INFINITY, hi = -INFINITY;
  int64_t n = 0;
  KUGEL_ALLOC(ctx, sample, SAMPLE * sizeof *sample);
  kugel_status status = KUGEL_OK;
  bool part = p->o.projection == KUGEL_PLOT_GNOMONIC ||
              (p->o.projection == KUGEL_PLOT_CARTESIAN && p->view.w * p->view.scale < 6);
  if (part) {
    status = probe_view(p, sample, &n, &lo, &hi);
  } else if (s->fn) {
    status = probe_function(s, sample, &n, &lo, &hi);
  } else {
    extremes e = {.source = s, .n = count};
    kugel__progress_stage(0, 0.1, "drawing");
    status = kugel__parallel(ctx, CHUNKS, find_extremes, &e);
    for (int i = 0; i < CHUNKS; i++) {
      lo = fmin(lo, e.lo[i]);
      hi = fmax(hi, e.hi[i]);
    }
    // an odd stride visits all parts of the map; a map's size has no such factor in common with it
    int64_t take = kugel__min(count, SAMPLE);
    for (int64_t k = 0; k < take; k++) {
      double x = kugel__source_value(s, (int64_t)((double)k * ((double)count / (double)take)));
      if (isfinite(x))
        sample[n++] = x;
    }
  }
  if (!status)
    status = kugel__ruler_set(&p->ruler, &p->o, p->colors.broken, sample, n, lo, hi);
  kugel__free(ctx, sample);
  return status;
}

/* ---- the map
 * ------------------------------------------------------------------------------------------------ */

enum { SAMPLES = 4 };
/* Rotated grid: the samples' projections on both axes are equally spaced. */
static const double offset_x[SAMPLES] = {0.125, -0.375, 0.375, -0.125},
                    offset_y[SAMPLES] = {-0.375, -0.125, 0.125, 0.375};

typedef struct row_work {
  double *vec, *turned, *value, *sum;
  uint8_t *valid, *good, *bad;
} row_work;

static row_work work_of(const kugel__painter *p, int worker)
{
  char *at = p->scratch + p->scratch_bytes * (size_t)worker;
  size_t n = (size_t)p->picture->box[2];
  row_work w;
  w.vec = (double *)at;
  w.turned = w.vec + 3 * n;
  w.value = w.turned + 3 * n;
  w.sum = w.value + n;
  w.valid = (uint8_t *)(w.sum + n);
  w.good = w.valid + n;
  w.bad = w.good + n;
  return w;
}

/* Adds one sample of each pixel of the row: the directions that lie in the map are packed together first. */
static kugel_status add_sample(const kugel__painter *p, const row_work *w, double x, double y, int64_t n)
{
  const double(*m)[3] = p->view.to_map;
  int64_t used = 0;
  kugel__view_row(&p->view, x, y, n, w->vec, w->valid);
  for (int64_t i = 0; i < n; i++) {
    if (!w->valid[i])
      continue;
    const double *u = w->vec + 3 * i;
    double *t = w->turned + 3 * used++;
    for (int c = 0; c < 3; c++)
      t[c] = m[c][0] * u[0] + m[c][1] * u[1] + m[c][2] * u[2];
  }
  KUGEL_TRY(p->source->at(p->source, used, w->turned, w->value));
  used = 0;
  for (int64_t i = 0; i < n; i++) {
    if (!w->valid[i])
      continue;
    double value = w->value[used++];
    bool fine = isfinite(value) && !(p->ruler.scale == KUGEL_PLOT_LOG && value <= 0);
    w->sum[i] += fine ? value : 0;
    w->good[i] = (uint8_t)(w->good[i] + fine);
    w->bad[i] = (uint8_t)(w->bad[i] + !fine);
  }
  return KUGEL_OK;
}

static kugel_status paint_row(void *arg, int64_t row, int worker)
{
  const kugel__painter *p = arg;
  const int64_t *box = p->picture->box, n = box[2];
  row_work w = work_of(p, worker);
  memset(w.sum, 0, (size_t)n * sizeof *w.sum);
  memset(w.good, 0, (size_t)n);
  memset(w.bad, 0, (size_t)n);
  for (int s = 0; s < SAMPLES; s++)
    KUGEL_TRY(
        add_sample(p, &w, (double)box[0] + 0.5 + offset_x[s], (double)(box[1] + row) + 0.5 + offset_y[s], n));
  for (int64_t i = 0; i < n; i++) {
    int good = w.good[i], bad = w.bad[i];
    if (!(good + bad))
      continue;
    kugel__color c = p->bad;
    if (good) {
      c = kugel__colors_get(&p->colors, kugel__ruler_at(&p->ruler, w.sum[i] / good));
      float g = (float)good / (float)(good + bad);
      c.r = g * c.r + (1 - g) * p->bad.r;
      c.g = g * c.g + (1 - g) * p->bad.g;
      c.b = g * c.b + (1 - g) * p->bad.b;
      c.a = g * c.a + (1 - g) * p->bad.a;
    }
    c.a *= (float)(good + bad) / SAMPLES;
    kugel__canvas_over(&p->picture->canvas, box[0] + i, box[1] + row, c);
  }
  return KUGEL_OK;
}

static kugel_status paint_map(kugel__painter *p)
{
  kugel_ctx *ctx = p->picture->ctx;
  size_t n = (size_t)p->picture->box[2];
  int threads = kugel__ctx_threads(ctx);
  p->scratch_bytes = (n * (8 * sizeof(double) + 3) + 63) / 64 * 64;
  p->scratch = kugel__scratch_get(ctx, p->scratch_bytes * (size_t)threads);
  KUGEL_CHECK(p->scratch, KUGEL_ENOMEM, "no memory to draw rows of %zu pixels", n);
  kugel__progress_stage(0.1, 1, "drawing");
  kugel_status s = kugel__parallel_on(ctx, threads, p->picture->box[3], paint_row, p);
  kugel__scratch_put(ctx, p->scratch);
  return s;
}

/* The coordinates, in the lower right corner: as given, or those that opts.coord turns to. */
static void name_system(const kugel__painter *p)
{
  static const char *const names[] = {"Galactic", "Ecliptic", "Equatorial"};
  static const char letters[] = "GgEeCc";
  const kugel_plot_opts *o = &p->o;
  const kugel__canvas *c = &p->picture->canvas;
  const char *text = o->system;
  if (!text && o->coord && *o->coord)
    text = names[strchr(letters, o->coord[1]) ? (strchr(letters, o->coord[1]) - letters) / 2 : 0];
  double u = p->unit, size = 12 * u;
  if (text && *text && (!o->no_bar || o->projection < KUGEL_PLOT_GNOMONIC))
    kugel__type_fit(p->type, &p->picture->canvas, (double)c->width - 10 * u, (double)c->height - 9 * u, 1,
                    size, 0.2 * (double)c->width, text, ink);
}

static kugel_status draw(kugel__painter *p)
{
  const kugel_plot_opts *o = &p->o;
  const kugel__plot_source *s = p->source;
  double share = o->width / 1200.0; // type shrinks more slowly than the picture
  p->unit = o->pixel_ratio > 0 ? o->pixel_ratio : share < 1 ? sqrt(share) : share;
  p->bad = (kugel__color){(float)o->bad[0] / 255, (float)o->bad[1] / 255, (float)o->bad[2] / 255,
                          (float)o->bad[3] / 255};
  if (!(o->bad[0] | o->bad[1] | o->bad[2] | o->bad[3]))
    p->bad = (kugel__color){0.5f, 0.5f, 0.5f, 1};
  KUGEL_TRY(o->color_table ? kugel__colors_table(o->color_table, o->ncolors, &p->colors)
                           : kugel__colors_fill(o->colors, &p->colors));
  KUGEL_TRY(kugel__view_set(&p->view, o));
  KUGEL_TRY(lay_out(p));
  KUGEL_TRY(set_range(p, s->nside ? 12 * s->nside * s->nside : s->nlat * s->nlon));
  KUGEL_TRY(paint_map(p));
  kugel__graticule(&p->picture->canvas, p->type, &p->view, o, p->unit);
  if (!o->no_bar)
    kugel__bar(p);
  double width = (double)p->picture->canvas.width;
  if (o->title && *o->title)
    kugel__type_fit(p->type, &p->picture->canvas, p->view.x0 + p->view.w / 2, p->title_y, 0.5, 20 * p->unit,
                    width - 12 * p->unit, o->title, ink);
  name_system(p);
  p->picture->ends[0] = p->ruler.min;
  p->picture->ends[1] = p->ruler.max;
  p->picture->view = p->view;
  p->picture->unit = p->unit;
  return KUGEL_OK;
}

static kugel_status paint(kugel_plot *picture, kugel__type *type, void *of)
{
  kugel__painter *p = of;
  p->picture = picture;
  p->type = type;
  kugel__span outer = kugel__progress_enter(0, 1);
  kugel_status s = draw(p);
  kugel__progress_leave(outer);
  return s;
}

kugel_status kugel__plot(kugel_ctx *ctx, const kugel_plot_opts *opts, const kugel__plot_source *source,
                         kugel_plot **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  *out = NULL;
  kugel__painter *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a picture");
  p->source = source;
  kugel_status s = kugel__take_opts(&p->o, sizeof p->o, opts, "kugel_plot_opts");
  if (!s)
    s = check_opts(&p->o);
  if (!s)
    s = kugel__picture_make(ctx, paint, p, out);
  kugel__free(ctx, p);
  return s;
}
