/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame, axes and legend of a chart of spectra. */
#include "plot/chart.h"

enum { LEGEND_ROW = 23 }; // design pixels
static const kugel__color grid_line = {0.13f, 0.13f, 0.15f, 0.11f};

void kugel__chart_frame(const kugel__chart *c)
{
  const double r = c->x0 + c->w, b = c->y0 + c->h;
  kugel__mask_line(c->canvas, c->x0, c->y0, r, c->y0, c->u);
  kugel__mask_line(c->canvas, c->x0, b, r, b, c->u);
  kugel__mask_line(c->canvas, c->x0, c->y0, c->x0, b, c->u);
  kugel__mask_line(c->canvas, r, c->y0, r, b, c->u);
  kugel__mask_paint(c->canvas, kugel__ink);
}

/* The numbers at the ticks; those that would touch one that is there are left out. */
static void paint_numbers(const kugel__chart *c, bool upright, const kugel__ticks *ticks)
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
      kugel__type_draw(c->type, c->canvas, c->x0 - 8 * c->u, at + 0.36 * size, 1, size, label, kugel__ink, 0,
                       kugel__no_halo);
    else
      kugel__type_draw(c->type, c->canvas, at, c->y0 + c->h + 7 * c->u + size, 0.5, size, label, kugel__ink,
                       0, kugel__no_halo);
  }
}

void kugel__chart_axis(const kugel__chart *c, bool upright, kugel__ticks *ticks)
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
  kugel__mask_paint(c->canvas, kugel__ink);
  paint_numbers(c, upright, ticks);
}

static double write_on(const kugel__chart *c, double x, double y, double size, const char *text)
{
  kugel__type_draw(c->type, c->canvas, x, y, 0, size, text, kugel__ink, 0, kugel__no_halo);
  return x + kugel__type_width(c->type, text, size);
}

void kugel__chart_names(const kugel__chart *c, const kugel__ticks *values)
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
  kugel__type_draw(c->type, c->canvas, c->x0 + c->w / 2, c->y0 + c->h + 46 * u, 0.5, size, "multipole ℓ",
                   kugel__ink, 0, kugel__no_halo);
}

/* Entry s of the legend: the names of the spectra; behind them, where values are negative on a logarithmic
 * axis, what a paler line means. */
static bool entry(const kugel__chart *c, int64_t s, const char **name, kugel__color *color)
{
  static const char *const usual[] = {"TT", "EE", "BB", "TE", "EB", "TB"};
  const char *const *names = c->o.names ? c->o.names : c->n == 3 || c->n == 4 || c->n == 6 ? usual : NULL;
  if (s < c->n) {
    *name = names && names[s] ? names[s] : "";
    *color = kugel__hues[s % KUGEL__HUES];
    return names;
  }
  *name = "negative";
  *color = c->n == 1 ? kugel__hues[0] : kugel__ink;
  color->a = KUGEL__PALE;
  return s == c->n && !c->o.linear_y && c->lowest < 0;
}

/* Entries from *s on that fit into `room` pixels, at least one; *s moves past them. Returns their width. */
static double row_width(const kugel__chart *c, int64_t *s, double room)
{
  double width = 0;
  const char *name;
  kugel__color color;
  for (; *s <= c->n; ++*s)
    if (entry(c, *s, &name, &color)) {
      const double more =
          (width > 0 ? 20 * c->u : 0) + 32 * c->u + kugel__type_width(c->type, name, 15 * c->u);
      if (width > 0 && width + more > room)
        break;
      width += more;
    }
  return width;
}

void kugel__chart_room(kugel__chart *c)
{
  char unit[256] = "";
  if (c->o.unit)
    kugel__type_unit(c->o.unit, unit, sizeof unit);
  const double label = kugel__type_width(c->type, "ℓ(ℓ+1) Cℓ / 2π [10⁻¹² ] ", 17 * c->u) +
                       kugel__type_width(c->type, unit, 17 * c->u);
  int64_t s = 0;
  if (row_width(c, &s, c->w - label) <= c->w - label && s > c->n)
    return; // beside the name of the axis
  for (s = 0; s <= c->n; c->legend_rows++)
    row_width(c, &s, c->w);
  const double up = fmin(LEGEND_ROW * c->u * c->legend_rows, c->h / 2);
  c->y0 += up;
  c->h -= up;
}

void kugel__chart_legend(const kugel__chart *c)
{
  const double u = c->u, size = 15 * u;
  int64_t s = 0;
  for (int row = c->legend_rows; s <= c->n; row--) {
    int64_t i = s;
    double x = c->x0 + c->w - row_width(c, &s, c->legend_rows ? c->w : INFINITY),
           y = c->y0 - (12 + LEGEND_ROW * row) * u;
    const char *name;
    kugel__color color;
    for (; i < s; i++)
      if (entry(c, i, &name, &color)) {
        kugel__mask_line(c->canvas, x, y - 5 * u, x + 23 * u, y - 5 * u, 2.8 * u);
        kugel__mask_paint(c->canvas, color);
        x = write_on(c, x + 32 * u, y, size, name) + 20 * u;
      }
  }
}

void kugel__chart_title(const kugel__chart *c)
{
  if (c->o.title && *c->o.title)
    kugel__type_fit(c->type, c->canvas, c->x0 + c->w / 2, 34 * c->u, 0.5, 20 * c->u, c->w, c->o.title,
                    kugel__ink);
}
