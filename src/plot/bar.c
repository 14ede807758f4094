/* SPDX-License-Identifier: BSD-3-Clause */
/* The colour bar. */
#include <stdio.h>
#include "plot/plot.h"

static const kugel__color ink = {0.13f, 0.13f, 0.15f, 1}, no_halo = {0, 0, 0, 0};

/* ---- colour bar and title
 * ----------------------------------------------------------------------------------- */

static void paint_bar_body(kugel__painter *p, double x, double y, double w, double h)
{
  kugel__canvas *c = &p->picture->canvas;
  for (int64_t px = (int64_t)floor(x); px < (int64_t)ceil(x + w); px++)
    for (int64_t py = (int64_t)floor(y); py < (int64_t)ceil(y + h); py++) {
      double cover_x = fmin((double)px + 1, x + w) - fmax((double)px, x);
      double cover_y = fmin((double)py + 1, y + h) - fmax((double)py, y);
      kugel__color color = kugel__colors_get(&p->colors, ((double)px + 0.5 - x) / w);
      if (p->ruler.broken && (p->ruler.min >= 0 || p->ruler.max <= 0)) { // only land, or only sea
        double t = ((double)px + 0.5 - x) / w;
        color = kugel__colors_get(&p->colors, p->ruler.min >= 0 ? 0.5 + 0.5 * t : 0.5 * t - 1e-9);
      }
      color.a = (float)(fmax(cover_x, 0) * fmax(cover_y, 0));
      if (px >= 0 && py >= 0 && px < c->width && py < c->height)
        kugel__canvas_over(c, px, py, color);
    }
}

/* Arrow heads where the data go on beyond the colours. */
static void paint_arrows(kugel__painter *p, double x, double y, double w, double h)
{
  double length = 0.9 * h;
  if (p->ruler.below) {
    const double ax[3] = {x, x, x - length}, ay[3] = {y, y + h, y + h / 2};
    kugel__canvas_polygon(&p->picture->canvas, 3, ax, ay, kugel__colors_get(&p->colors, 0));
  }
  if (p->ruler.above) {
    const double ax[3] = {x + w, x + w, x + w + length}, ay[3] = {y, y + h, y + h / 2};
    kugel__canvas_polygon(&p->picture->canvas, 3, ax, ay, kugel__colors_get(&p->colors, 1));
  }
}

static void paint_bar_frame(kugel__painter *p, double x, double y, double w, double h)
{
  kugel__canvas *c = &p->picture->canvas;
  double line = p->unit, l = p->ruler.below ? x - 0.9 * h : x, r = p->ruler.above ? x + w + 0.9 * h : x + w,
         m = y + h / 2;
  kugel__mask_line(c, x, y, x + w, y, line);
  kugel__mask_line(c, x, y + h, x + w, y + h, line);
  kugel__mask_line(c, x, y, l, p->ruler.below ? m : y + h, line);
  kugel__mask_line(c, x, y + h, l, p->ruler.below ? m : y, line);
  kugel__mask_line(c, x + w, y, r, p->ruler.above ? m : y + h, line);
  kugel__mask_line(c, x + w, y + h, r, p->ruler.above ? m : y, line);
  kugel__mask_paint(c, (kugel__color){0.25f, 0.25f, 0.27f, 1});
}

/* What stands beside the bar: the ticks' common factor, the unit. */
static void bar_text(const kugel__painter *p, const kugel__ticks *ticks, char text[320])
{
  char unit[256] = "";
  if (p->o.unit)
    kugel__type_unit(p->o.unit, unit, sizeof unit);
  snprintf(text, 320, "%s%s%s", ticks->factor, *ticks->factor && *unit ? " " : "", unit);
}

static void paint_ticks(kugel__painter *p, const kugel__ticks *ticks, double x, double y, double w)
{
  kugel__canvas *c = &p->picture->canvas;
  double u = p->unit, size = 14 * u, taken = -1e9;
  bool one_sided = p->ruler.broken && (p->ruler.min >= 0 || p->ruler.max <= 0);
  for (int pass = 0; pass < 2; pass++) // from left to right, so that crowded labels are left out evenly
    for (int i = 0; i < ticks->n; i++) {
      double t = ticks->tick[i].t;
      if (one_sided)
        t = p->ruler.min >= 0 ? 2 * t - 1 : 2 * t;
      double at = x + t * w;
      if (pass == 0) {
        kugel__mask_line(c, at, y, at, y + (ticks->tick[i].major ? 6 : 3.5) * u,
                         (ticks->tick[i].major ? 1.1 : 0.8) * u);
        continue;
      }
      double half = kugel__type_width(p->type, ticks->tick[i].label, size) / 2;
      if (!ticks->tick[i].label[0] || (at - half < taken && at + half > taken - 2 * half && ticks->n > 2 &&
                                       p->ruler.scale != KUGEL_PLOT_ASINH))
        continue;
      taken = at + half + 6 * u;
      kugel__type_draw(p->type, c, at, y + 8 * u + size, 0.5, size, ticks->tick[i].label, ink, 0, no_halo);
    }
  kugel__mask_paint(c, ink);
}

void kugel__bar(kugel__painter *p)
{
  const kugel__plot_view *v = &p->view;
  double u = p->unit, h = 15 * u, share = v->w > v->h * 1.4 ? 0.56 : 0.7, w = v->w * share,
         x = v->x0 + (v->w - w) / 2, edge = (double)p->picture->canvas.width - 8 * u;
  kugel__ticks ticks;
  char text[320];
  kugel__ruler_ticks(&p->ruler, (int)fmax(2, fmin(9, w / (76 * u))), &ticks);
  bar_text(p, &ticks, text);
  double beside = (p->ruler.above ? 0.9 * h : 0) + 12 * u; // from the bar to its text
  double over = x + w + beside + kugel__type_width(p->type, text, 15 * u) - edge;
  if (*text && over > 0) { // a long unit moves the bar to the left, then makes it shorter
    double moved = fmin(over, fmax(0, x - 32 * u));
    x -= moved;
    w -= fmin(over - moved, 0.5 * w);
  }
  paint_bar_body(p, x, p->bar_y, w, h);
  paint_arrows(p, x, p->bar_y, w, h);
  paint_bar_frame(p, x, p->bar_y, w, h);
  paint_ticks(p, &ticks, x, p->bar_y + h, w);
  if (*text)
    kugel__type_fit(p->type, &p->picture->canvas, x + w + beside, p->bar_y + h / 2 + 0.36 * h, 0, 15 * u,
                    edge - x - w - beside, text, ink);
}
