/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame, axes and legend of a chart of spectra. */
#include "plot/chart.h"

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

void kugel__chart_legend(const kugel__chart *c)
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
    kugel__mask_paint(c->canvas, kugel__hues[s % KUGEL__HUES]);
    x -= 52 * u;
  }
}

void kugel__chart_title(const kugel__chart *c)
{
  if (c->o.title && *c->o.title)
    kugel__type_draw(c->type, c->canvas, c->x0 + c->w / 2, 34 * c->u, 0.5, 20 * c->u, c->o.title, kugel__ink,
                     0, kugel__no_halo);
}
