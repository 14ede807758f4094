/* SPDX-License-Identifier: BSD-3-Clause */
/* Power spectra against the multipole: a faint dot for each multipole, and a line through averages over
 * narrow ranges of multipoles. On a logarithmic axis a negative value stands at its size, in a paler line. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "io/plot.h"

static const kugel__color ink = {0.13f, 0.13f, 0.15f, 1}, no_halo = {0, 0, 0, 0},
                          grid_line = {0.13f, 0.13f, 0.15f, 0.11f};
/* Told apart by all eyes: Okabe & Ito 2008. */
static const kugel__color hues[] = {
    {0.000f, 0.447f, 0.698f, 1}, {0.835f, 0.369f, 0.000f, 1}, {0.000f, 0.620f, 0.451f, 1},
    {0.800f, 0.475f, 0.655f, 1}, {0.902f, 0.624f, 0.000f, 1}, {0.337f, 0.706f, 0.914f, 1},
};
enum { HUES = sizeof hues / sizeof hues[0], MAX_SPECTRA = 64 };
static const double BIN = 1.03; // end of a range of multipoles over its start; on a linear axis
enum { LINEAR_BINS = 250 };     // there are so many of equal length

typedef struct chart {
  kugel_plot_cl_opts o;
  kugel__canvas *canvas;
  kugel__type *type;
  int64_t n, lmax, first;    // first multipole shown
  const double *cl;          // [n, lmax + 1]
  double u, x0, y0, w, h;    // pixels a design pixel; frame
  kugel__ruler along, up;    // l, value
  double smallest, mean_top; // of |averages|: smallest that counts, largest
  double lowest, highest;    // of the averages
} chart;

static double value_at(const chart *c, int64_t s, int64_t l)
{
  const double x = c->cl[s * (c->lmax + 1) + l];
  return c->o.raw ? x : x * (double)l * (double)(l + 1) / (2 * M_PI);
}

/* The average over the multipoles from *l on, weighted by 2 l + 1, and where it stands; *l moves past them.
 */
static double average(const chart *c, int64_t s, int64_t *l, double *where)
{
  const int64_t bin_end =
      c->o.linear_l ? *l + 1 + c->lmax / LINEAR_BINS : kugel__max(*l + 1, (int64_t)ceil((double)*l * BIN));
  const int64_t end = kugel__min(bin_end, c->lmax + 1);
  double sum = 0, place = 0, weight = 0;
  for (; *l < end; ++*l) {
    const double x = value_at(c, s, *l), w = 2 * (double)*l + 1;
    if (isfinite(x)) {
      sum += w * x;
      place += w * (double)*l;
      weight += w;
    }
  }
  *where = place / weight;
  return sum / weight; // NaN if there is none
}

static void see(chart *c, double x)
{
  if (!isfinite(x))
    return;
  c->lowest = fmin(c->lowest, x);
  c->highest = fmax(c->highest, x);
  c->mean_top = fmax(c->mean_top, fabs(x));
}

/* The value axis: all averages, on a logarithmic axis at most ten decades of them. */
static kugel_status set_values(chart *c)
{
  kugel__ruler *r = &c->up;
  double where;
  c->lowest = INFINITY;
  c->highest = -INFINITY;
  for (int64_t s = 0; s < c->n; s++)
    for (int64_t l = c->first; l <= c->lmax;)
      see(c, average(c, s, &l, &where));
  KUGEL_CHECK(c->mean_top > 0, KUGEL_EINVAL, "the %lld spectra hold no value that is finite and not 0",
              (long long)c->n);
  c->smallest = c->mean_top;
  for (int64_t s = 0; s < c->n; s++)
    for (int64_t l = c->first; l <= c->lmax;) {
      const double x = fabs(average(c, s, &l, &where));
      if (x > 1e-10 * c->mean_top)
        c->smallest = fmin(c->smallest, x);
    }
  const bool given = c->o.min != 0 || c->o.max != 0;
  if (c->o.linear_y) {
    const double pad = 0.05 * (c->highest - c->lowest) + 1e-3 * c->mean_top;
    r->min = c->lowest >= 0 ? 0 : c->lowest - pad;
    r->max = c->highest <= 0 ? 0 : c->highest + pad;
  } else {
    r->scale = KUGEL_SCALE_LOG;
    const double pad = pow(fmax(c->mean_top / c->smallest, 4), 0.06);
    r->min = c->smallest / pad;
    r->max = c->mean_top * pad;
  }
  r->min = given && !isnan(c->o.min) ? c->o.min : r->min;
  r->max = given && !isnan(c->o.max) ? c->o.max : r->max;
  KUGEL_CHECK(r->min < r->max && (c->o.linear_y || r->min > 0), KUGEL_EINVAL,
              "values from %g to %g: min must be below max, and above 0 on a logarithmic axis", r->min,
              r->max);
  return KUGEL_OK;
}

static void set_multipoles(chart *c)
{
  kugel__ruler *r = &c->along;
  r->scale = c->o.linear_l ? KUGEL_SCALE_LINEAR : KUGEL_SCALE_LOG;
  r->min = c->o.linear_l ? 0 : (double)c->first;
  r->max = fmax((double)c->lmax, (double)c->first + 1);
}

static double x_of(const chart *c, double l)
{
  return c->x0 + c->w * kugel__ruler_at(&c->along, l);
}

static double y_of(const chart *c, double value)
{
  return c->y0 + c->h * (1 - kugel__ruler_at(&c->up, c->o.linear_y ? value : fabs(value)));
}

/* The part of a line within the frame's height; off the sides it cannot be. */
static void line_within(const chart *c, double x0, double y0, double x1, double y1, double width)
{
  const double top = c->y0, bottom = c->y0 + c->h;
  if ((y0 < top && y1 < top) || (y0 > bottom && y1 > bottom) || !isfinite(y0 + y1))
    return;
  const double slope = y1 != y0 ? (x1 - x0) / (y1 - y0) : 0;
  const double a = fmin(fmax(y0, top), bottom), b = fmin(fmax(y1, top), bottom);
  kugel__mask_line(c->canvas, x0 + (a - y0) * slope, a, x1 + (b - y1) * slope, b, width);
}

static void paint_dots(const chart *c, int64_t s)
{
  kugel__color faint = hues[s % HUES];
  const double room = c->w / (double)(c->lmax - c->first + 1);
  const double size = fmin(fmax(room, 1.6 * c->u), 5 * c->u);
  faint.a = 0.28f;
  for (int64_t l = c->first; l <= c->lmax; l++) {
    const double x = x_of(c, (double)l), y = y_of(c, value_at(c, s, l));
    if (y >= c->y0 && y <= c->y0 + c->h)
      kugel__mask_line(c->canvas, x, y, x, y, size);
  }
  kugel__mask_paint(c->canvas, faint);
}

/* Lines between averages: all of one sign (sign 0: of any) at a time, for each sign has its own ink. A change
 * of sign is drawn in the ink of its end. */
static void paint_line(const chart *c, int64_t s, int sign)
{
  kugel__color color = hues[s % HUES];
  double before_x = NAN, before_y = NAN;
  if (sign < 0)
    color.a = 0.45f;
  for (int64_t l = c->first; l <= c->lmax;) {
    double where, value = average(c, s, &l, &where);
    const double x = x_of(c, where), y = y_of(c, value);
    const bool mine = sign == 0 || (sign > 0 ? value > 0 : value < 0);
    if (mine && !isnan(before_x))
      line_within(c, before_x, before_y, x, y, (sign < 0 ? 1.5 : 2.4) * c->u);
    before_x = isfinite(y) ? x : NAN;
    before_y = y;
  }
  kugel__mask_paint(c->canvas, color);
}

/* ---- axes ------------------------------------------------------------------------------------------------
 */

static void paint_frame(const chart *c)
{
  const double r = c->x0 + c->w, b = c->y0 + c->h;
  kugel__mask_line(c->canvas, c->x0, c->y0, r, c->y0, c->u);
  kugel__mask_line(c->canvas, c->x0, b, r, b, c->u);
  kugel__mask_line(c->canvas, c->x0, c->y0, c->x0, b, c->u);
  kugel__mask_line(c->canvas, r, c->y0, r, b, c->u);
  kugel__mask_paint(c->canvas, ink);
}

/* The numbers at the ticks; those that would touch one that is there are left out. */
static void paint_numbers(const chart *c, bool upright, const kugel__ticks *ticks)
{
  const double size = 15 * c->u, gap = (upright ? 3 : 8) * c->u;
  double from[KUGEL__TICKS], to[KUGEL__TICKS];
  int taken = 0;
  for (int i = 0; i < ticks->n; i++) {
    const char *label = ticks->tick[i].label;
    const double t = ticks->tick[i].t;
    const double at = upright ? c->y0 + (1 - t) * c->h : c->x0 + t * c->w;
    const double half = upright ? size / 2 : kugel__type_width(c->type, label, size) / 2;
    bool room = *label != 0;
    for (int k = 0; k < taken; k++)
      room = room && (at + half < from[k] || at - half > to[k]);
    if (!room)
      continue;
    from[taken] = at - half - gap;
    to[taken++] = at + half + gap;
    if (upright)
      kugel__type_draw(c->type, c->canvas, c->x0 - 8 * c->u, at + 0.36 * size, 1, size, label, ink, 0,
                       no_halo);
    else
      kugel__type_draw(c->type, c->canvas, at, c->y0 + c->h + 7 * c->u + size, 0.5, size, label, ink, 0,
                       no_halo);
  }
}

/* Lines across the frame, ticks, and the numbers below (upright false) or left of it. */
static void paint_axis(const chart *c, bool upright, kugel__ticks *ticks)
{
  const double u = c->u, b = c->y0 + c->h;
  const double length = upright ? c->h : c->w;
  kugel__ruler_ticks(upright ? &c->up : &c->along, (int)fmax(2, fmin(9, length / ((upright ? 60 : 90) * u))),
                     ticks);
  for (int i = 0; i < ticks->n; i++)
    if (ticks->tick[i].major) {
      const double t = ticks->tick[i].t, x = c->x0 + t * c->w, y = c->y0 + (1 - t) * c->h;
      kugel__mask_line(c->canvas, upright ? c->x0 : x, upright ? y : c->y0, upright ? c->x0 + c->w : x,
                       upright ? y : b, u);
    }
  kugel__mask_paint(c->canvas, grid_line);
  for (int i = 0; i < ticks->n; i++) {
    const double t = ticks->tick[i].t, x = c->x0 + t * c->w, y = c->y0 + (1 - t) * c->h;
    const double tick = (ticks->tick[i].major ? 7 : 4) * u;
    kugel__mask_line(c->canvas, upright ? c->x0 : x, upright ? y : b, upright ? c->x0 + tick : x,
                     upright ? y : b - tick, (ticks->tick[i].major ? 1.1 : 0.8) * u);
  }
  kugel__mask_paint(c->canvas, ink);
  paint_numbers(c, upright, ticks);
}

static double write_on(const chart *c, double x, double y, double size, const char *text)
{
  kugel__type_draw(c->type, c->canvas, x, y, 0, size, text, ink, 0, no_halo);
  return x + kugel__type_width(c->type, text, size);
}

/* What the axes stand for: the values' above them, at the left; the multipole below. */
static void paint_names(const chart *c, const kugel__ticks *values)
{
  const double u = c->u, size = 17 * u, y = c->y0 - 12 * u;
  char unit[256] = "";
  double x = write_on(c, c->x0, y, size, c->o.raw ? "C" : "ℓ(ℓ+1) C");
  x = write_on(c, x, y + 0.25 * size, 0.7 * size, "ℓ");
  if (!c->o.raw)
    x = write_on(c, x, y, size, " / 2π");
  if (c->o.unit)
    kugel__type_unit(c->o.unit, unit, sizeof unit);
  if (*values->factor || *unit) {
    x = write_on(c, x + 0.5 * size, y, size, "[");
    x = write_on(c, x, y, size, values->factor);
    x = write_on(c, x + (*values->factor && *unit ? 0.25 * size : 0), y, size, unit);
    write_on(c, x, y, size, "]");
  }
  kugel__type_draw(c->type, c->canvas, c->x0 + c->w / 2, c->y0 + c->h + 46 * u, 0.5, size, "multipole ℓ", ink,
                   0, no_halo);
}

/* Samples of the lines and their names, above the frame, at the right. */
static void paint_legend(const chart *c)
{
  static const char *const usual[] = {"TT", "EE", "BB", "TE", "EB", "TB"};
  const char *const *names = c->o.names ? c->o.names : c->n == 3 || c->n == 4 || c->n == 6 ? usual : NULL;
  const double u = c->u, size = 15 * u;
  double x = c->x0 + c->w;
  for (int64_t s = c->n - 1; names && s >= 0; s--) {
    const char *name = names[s] ? names[s] : "";
    x -= kugel__type_width(c->type, name, size);
    write_on(c, x, c->y0 - 12 * u, size, name);
    kugel__mask_line(c->canvas, x - 32 * u, c->y0 - 17 * u, x - 9 * u, c->y0 - 17 * u, 2.8 * u);
    kugel__mask_paint(c->canvas, hues[s % HUES]);
    x -= 52 * u;
  }
}

/* ---- the picture -----------------------------------------------------------------------------------------
 */

static kugel_status take_chart(chart *c, const kugel_plot_cl_opts *opts)
{
  kugel_plot_cl_opts *o = &c->o;
  KUGEL_TRY(kugel__take_opts(o, sizeof *o, opts, "kugel_plot_cl_opts"));
  o->width = o->width ? o->width : 1200;
  o->height = o->height ? o->height : o->width * 5 / 8;
  KUGEL_CHECK(o->width >= 200 && o->width <= 32768 && o->height >= 120 && o->height <= 32768, KUGEL_EINVAL,
              "%d by %d pixels: must be 200 by 120 to 32768 by 32768", o->width, o->height);
  KUGEL_CHECK(o->pixel_ratio >= 0 && o->pixel_ratio <= 50, KUGEL_EINVAL, "pixel_ratio is %g, must be 0 to 50",
              o->pixel_ratio);
  KUGEL_CHECK(!isinf(o->min) && !isinf(o->max), KUGEL_EINVAL, "min and max must be finite");
  const double share = fmin(o->width / 1200.0, o->height / 700.0);
  c->u = o->pixel_ratio > 0 ? o->pixel_ratio : share < 1 ? sqrt(share) : share;
  const double title = o->title && *o->title ? 36 * c->u : 0;
  c->x0 = 84 * c->u;
  c->y0 = 44 * c->u + title;
  c->w = o->width - c->x0 - 30 * c->u;
  c->h = o->height - c->y0 - 62 * c->u;
  KUGEL_CHECK(c->w >= 16 && c->h >= 16, KUGEL_EINVAL,
              "%d by %d pixels at pixel_ratio %g leave no room for the spectra: choose a larger picture",
              o->width, o->height, c->u);
  return KUGEL_OK;
}

static kugel_status paint(chart *c, kugel_picture *p)
{
  kugel__ticks l_ticks, ticks;
  KUGEL_TRY(set_values(c));
  set_multipoles(c);
  KUGEL_TRY(kugel__canvas_create(p->ctx, c->o.width, c->o.height, c->o.transparent, &p->canvas));
  c->canvas = &p->canvas;
  KUGEL_TRY(kugel__type_open(p->ctx, &c->type));
  paint_axis(c, false, &l_ticks);
  paint_axis(c, true, &ticks);
  for (int64_t s = c->n - 1; s >= 0; s--)
    paint_dots(c, s);
  for (int64_t s = c->n - 1; s >= 0; s--)
    for (int sign = c->o.linear_y ? 0 : -1; sign <= !c->o.linear_y; sign += 2)
      paint_line(c, s, sign);
  paint_frame(c);
  paint_names(c, &ticks);
  paint_legend(c);
  if (c->o.title && *c->o.title)
    kugel__type_draw(c->type, c->canvas, c->x0 + c->w / 2, 34 * c->u, 0.5, 20 * c->u, c->o.title, ink, 0,
                     no_halo);
  kugel__type_close(c->type);
  p->box[0] = (int64_t)floor(c->x0);
  p->box[1] = (int64_t)floor(c->y0);
  p->box[2] = (int64_t)ceil(c->x0 + c->w) - p->box[0];
  p->box[3] = (int64_t)ceil(c->y0 + c->h) - p->box[1];
  p->ends[0] = c->up.min;
  p->ends[1] = c->up.max;
  kugel__free(p->ctx, p->canvas.mask);
  p->canvas.mask = NULL;
  return KUGEL_OK;
}

kugel_status kugel_plot_cl(kugel_ctx *ctx, const kugel_plot_cl_opts *opts, int64_t nspectra, int64_t lmax,
                           const double *cl, kugel_picture **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  *out = NULL;
  KUGEL_CHECK(cl, KUGEL_EINVAL, "cl is NULL: give [nspectra, lmax + 1] numbers");
  KUGEL_CHECK(nspectra >= 1 && nspectra <= MAX_SPECTRA, KUGEL_EINVAL, "%lld spectra: must be 1 to %d",
              (long long)nspectra, (int)MAX_SPECTRA);
  KUGEL_CHECK(lmax >= 1 && lmax <= 1 << 24, KUGEL_EINVAL, "lmax is %lld, must be 1 to %d", (long long)lmax,
              1 << 24);
  chart c = {.n = nspectra, .lmax = lmax, .cl = cl, .first = lmax > 2 ? 2 : 1};
  KUGEL_TRY(take_chart(&c, opts));
  ctx = kugel__ctx_retain(ctx);
  KUGEL_CHECK(ctx, KUGEL_ENOMEM, "no memory for the default context");
  kugel_picture *picture = kugel__calloc(ctx, sizeof *picture);
  if (!picture) {
    kugel_ctx_destroy(ctx);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a picture");
  }
  picture->ctx = ctx;
  kugel_status s = paint(&c, picture);
  if (s)
    kugel_picture_destroy(picture);
  else
    *out = picture;
  return s;
}
