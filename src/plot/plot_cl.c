/* SPDX-License-Identifier: BSD-3-Clause */
/* Power spectra against the multipole: a faint dot for each multipole, and a line through averages over
 * narrow ranges of multipoles. On a logarithmic axis a negative value stands at its size, in a paler line. */
#include <stddef.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "plot/chart.h"

enum { MAX_SPECTRA = 64 };
static const double BIN = 1.03; // end of a range of multipoles over its start; on a linear axis
enum { LINEAR_BINS = 250 };     // there are so many of equal length

static double value_at(const kugel__chart *c, int64_t s, int64_t l)
{
  const double x = c->cl[s * (c->lmax + 1) + l];
  return c->o.raw ? x : x * (double)l * (double)(l + 1) / (2 * M_PI);
}

/* The average over the multipoles from *l on, weighted by 2 l + 1, and where it stands; *l moves past them.
 */
static double average(const kugel__chart *c, int64_t s, int64_t *l, double *where)
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

static double band_error(const kugel__chart *c, int64_t s, int64_t b)
{
  return c->o.band_errors ? c->o.band_errors[s * c->o.bands + b] : 0;
}

static void see(kugel__chart *c, double x)
{
  if (!isfinite(x))
    return;
  c->lowest = fmin(c->lowest, x);
  c->highest = fmax(c->highest, x);
  c->mean_top = fmax(c->mean_top, fabs(x));
}

/* The value axis: all averages, on a logarithmic axis at most ten decades of them. */
static kugel_status set_values(kugel__chart *c)
{
  kugel__ruler *r = &c->up;
  double where;
  c->lowest = INFINITY;
  c->highest = -INFINITY;
  for (int64_t s = 0; s < c->n && c->cl; s++)
    for (int64_t l = c->first; l <= c->lmax;)
      see(c, average(c, s, &l, &where));
  for (int64_t i = 0; i < c->n * c->o.bands; i++)
    for (int side = -1; side <= 1; side++)
      if (side == 0 || c->o.linear_y)
        see(c, c->o.band_values[i] + side * band_error(c, i / c->o.bands, i % c->o.bands));
  KUGEL_CHECK(c->mean_top > 0, KUGEL_EINVAL, "the %lld spectra hold no value that is finite and not 0",
              (long long)c->n);
  c->smallest = c->mean_top;
  for (int64_t s = 0; s < c->n && c->cl; s++)
    for (int64_t l = c->first; l <= c->lmax;) {
      const double x = fabs(average(c, s, &l, &where));
      if (x > 1e-10 * c->mean_top)
        c->smallest = fmin(c->smallest, x);
    }
  for (int64_t i = 0; i < c->n * c->o.bands; i++)
    if (fabs(c->o.band_values[i]) > 1e-10 * c->mean_top)
      c->smallest = fmin(c->smallest, fabs(c->o.band_values[i]));
  const bool given = c->o.min != 0 || c->o.max != 0;
  if (c->o.linear_y) {
    const double pad = 0.05 * (c->highest - c->lowest) + 1e-3 * c->mean_top;
    r->min = c->lowest >= 0 ? 0 : c->lowest - pad;
    r->max = c->highest <= 0 ? 0 : c->highest + pad;
  } else {
    r->scale = KUGEL_PLOT_LOG;
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

static void set_multipoles(kugel__chart *c)
{
  kugel__ruler *r = &c->along;
  r->scale = c->o.linear_l ? KUGEL_PLOT_LINEAR : KUGEL_PLOT_LOG;
  r->min = c->o.linear_l ? 0 : (double)c->first;
  r->max = fmax((double)c->lmax, (double)c->first + 1);
}

static void paint_dots(const kugel__chart *c, int64_t s)
{
  kugel__color faint = kugel__hues[s % KUGEL__HUES];
  const double room = c->w / (double)(c->lmax - c->first + 1);
  const double size = fmin(fmax(room, 1.6 * c->u), 5 * c->u);
  faint.a = 0.28f;
  for (int64_t l = c->first; l <= c->lmax; l++) {
    const double x = kugel__chart_x(c, (double)l), y = kugel__chart_y(c, value_at(c, s, l));
    if (y >= c->y0 && y <= c->y0 + c->h)
      kugel__mask_line(c->canvas, x, y, x, y, size);
  }
  kugel__mask_paint(c->canvas, faint);
}

/* Lines between averages: all of one sign (sign 0: of any) at a time, for each sign has its own ink. A change
 * of sign is drawn in the ink of its end. */
static void paint_line(const kugel__chart *c, int64_t s, int sign)
{
  kugel__color color = kugel__hues[s % KUGEL__HUES];
  double before_x = NAN, before_y = NAN;
  if (sign < 0)
    color.a = KUGEL__PALE;
  for (int64_t l = c->first; l <= c->lmax;) {
    double where, value = average(c, s, &l, &where);
    const double x = kugel__chart_x(c, where), y = kugel__chart_y(c, value);
    const bool mine = sign == 0 || (sign > 0 ? value > 0 : value < 0);
    if (mine && !isnan(before_x))
      kugel__chart_line(c, before_x, before_y, x, y, (sign < 0 ? 1.5 : 2.4) * c->u);
    before_x = isfinite(y) ? x : NAN;
    before_y = y;
  }
  kugel__mask_paint(c->canvas, color);
}

static double within(const kugel__chart *c, double y)
{
  return fmin(fmax(y, c->y0), c->y0 + c->h);
}

/* A cross for each bandpower: over its multipoles, and over a standard deviation each way. */
static void paint_bands(const kugel__chart *c, int64_t s, int sign)
{
  const kugel_plot_cl_opts *o = &c->o;
  kugel__color color = kugel__hues[s % KUGEL__HUES];
  if (sign < 0)
    color.a = KUGEL__PALE;
  for (int64_t b = 0; b < o->bands; b++) {
    const double value = o->band_values[s * o->bands + b], error = band_error(c, s, b), size = fabs(value);
    if (!isfinite(value) || (sign && (sign > 0) != (value > 0)))
      continue;
    const double lo = fmax(o->band_ends[2 * b] - 0.5, c->along.min),
                 hi = fmin(o->band_ends[2 * b + 1] + 0.5, c->along.max);
    const double y = kugel__chart_y(c, value),
                 x = kugel__chart_x(c, o->linear_l ? (lo + hi) / 2 : sqrt(fmax(lo, 0.5) * hi));
    const double low = o->linear_y ? value - error : size - error,
                 high = o->linear_y ? value + error : size + error;
    const double bottom = o->linear_y || low > 0 ? kugel__chart_y(c, low) : c->y0 + c->h;
    kugel__chart_line(c, kugel__chart_x(c, lo), y, kugel__chart_x(c, hi), y, 2.4 * c->u);
    if (error > 0)
      kugel__mask_line(c->canvas, x, within(c, kugel__chart_y(c, high)), x, within(c, bottom), 2 * c->u);
  }
  kugel__mask_paint(c->canvas, color);
}

/* ---- the picture -----------------------------------------------------------------------------------------
 */

static kugel_status take_chart(kugel__chart *c, const kugel_plot_cl_opts *opts)
{
  kugel_plot_cl_opts *o = &c->o;
  KUGEL_TRY(kugel__take_opts(o, sizeof *o, opts, "kugel_plot_cl_opts"));
  o->width = o->width ? o->width : 1200;
  o->height = o->height ? o->height : o->width * 5 / 8;
  KUGEL_CHECK(o->width >= 200 && o->width <= 32768 && o->height >= 120 && o->height <= 32768, KUGEL_EINVAL,
              "%d by %d pixels: must be 200 by 120 to 32768 by 32768", o->width, o->height);
  KUGEL_CHECK(o->pixel_ratio >= 0 && o->pixel_ratio <= 50, KUGEL_EINVAL, "pixel_ratio is %g, must be 0 to 50",
              o->pixel_ratio);
  KUGEL_CHECK(o->bands >= 0 && o->bands <= 1 << 24 && (!o->bands || (o->band_ends && o->band_values)),
              KUGEL_EINVAL, "bands is %lld: must be 0 to %d, and needs band_ends and band_values",
              (long long)o->bands, 1 << 24);
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

static kugel_status paint(kugel_plot *p, kugel__type *type, void *of)
{
  kugel__chart *c = of;
  kugel__ticks l_ticks, ticks;
  KUGEL_TRY(set_values(c));
  set_multipoles(c);
  KUGEL_TRY(kugel__canvas_create(p->ctx, c->o.width, c->o.height, c->o.transparent, &p->canvas));
  c->canvas = &p->canvas;
  c->type = type;
  kugel__chart_room(c);
  kugel__chart_axis(c, false, &l_ticks);
  kugel__chart_axis(c, true, &ticks);
  for (int64_t s = c->n - 1; s >= 0 && c->cl; s--)
    paint_dots(c, s);
  for (int64_t s = c->n - 1; s >= 0; s--)
    for (int sign = c->o.linear_y ? 0 : -1; sign <= !c->o.linear_y; sign += 2) {
      if (c->cl)
        paint_line(c, s, sign);
      paint_bands(c, s, sign);
    }
  kugel__chart_frame(c);
  kugel__chart_names(c, &ticks);
  kugel__chart_legend(c);
  kugel__chart_title(c);
  p->box[0] = (int64_t)floor(c->x0);
  p->box[1] = (int64_t)floor(c->y0);
  p->box[2] = (int64_t)ceil(c->x0 + c->w) - p->box[0];
  p->box[3] = (int64_t)ceil(c->y0 + c->h) - p->box[1];
  p->ends[0] = c->up.min;
  p->ends[1] = c->up.max;
  return KUGEL_OK;
}

kugel_status kugel_plot_cl(kugel_ctx *ctx, const kugel_plot_cl_opts *opts, int64_t nspectra, int64_t lmax,
                           const double *cl, kugel_plot **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  *out = NULL;
  KUGEL_CHECK(nspectra >= 1 && nspectra <= MAX_SPECTRA, KUGEL_EINVAL, "%lld spectra: must be 1 to %d",
              (long long)nspectra, (int)MAX_SPECTRA);
  KUGEL_CHECK(lmax >= 1 && lmax <= 1 << 24, KUGEL_EINVAL, "lmax is %lld, must be 1 to %d", (long long)lmax,
              1 << 24);
  KUGEL_CHECK(cl || (opts && opts->size > offsetof(kugel_plot_cl_opts, bands) && opts->bands), KUGEL_EINVAL,
              "cl is NULL: give [nspectra, lmax + 1] numbers, or bands");
  kugel__chart c = {.n = nspectra, .lmax = lmax, .cl = cl, .first = lmax > 2 ? 2 : 1};
  KUGEL_TRY(take_chart(&c, opts));
  return kugel__picture_make(ctx, paint, &c, out);
}
