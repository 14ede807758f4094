/* SPDX-License-Identifier: BSD-3-Clause */
/* A chart of spectra: its frame, axes and legend. */
#ifndef KUGEL_PLOT_CHART_H
#define KUGEL_PLOT_CHART_H

#include "plot/plot.h"

/* Told apart by all eyes: Okabe & Ito 2008. */
static const kugel__color kugel__hues[] = {
    {0.000f, 0.447f, 0.698f, 1}, {0.835f, 0.369f, 0.000f, 1}, {0.000f, 0.620f, 0.451f, 1},
    {0.800f, 0.475f, 0.655f, 1}, {0.902f, 0.624f, 0.000f, 1}, {0.337f, 0.706f, 0.914f, 1},
};
enum { KUGEL__HUES = sizeof kugel__hues / sizeof kugel__hues[0] };
static const float KUGEL__PALE = 0.45f; // opacity of values below 0 on a logarithmic axis
static const kugel__color kugel__ink = {0.13f, 0.13f, 0.15f, 1}, kugel__no_halo = {0, 0, 0, 0};

typedef struct kugel__chart {
  kugel_plot_cl_opts o;
  kugel__canvas *canvas;
  kugel__type *type;
  int64_t n, lmax, first;    // first multipole shown
  const double *cl;          // [n, lmax + 1] or NULL: bands alone
  double u, x0, y0, w, h;    // pixels a design pixel; frame
  kugel__ruler along, up;    // l, value
  double smallest, mean_top; // of |averages|: smallest that counts, largest
  double lowest, highest;    // of the averages
  int legend_rows;           // above the name of the value axis; 0: beside it
} kugel__chart;

static inline double kugel__chart_x(const kugel__chart *c, double l)
{
  return c->x0 + c->w * kugel__ruler_at(&c->along, l);
}

static inline double kugel__chart_y(const kugel__chart *c, double value)
{
  return c->y0 + c->h * (1 - kugel__ruler_at(&c->up, c->o.linear_y ? value : fabs(value)));
}

/* The part of a line within the frame's height; off the sides it cannot be. */
static inline void kugel__chart_line(const kugel__chart *c, double x0, double y0, double x1, double y1,
                                     double width)
{
  const double top = c->y0, bottom = c->y0 + c->h;
  if ((y0 < top && y1 < top) || (y0 > bottom && y1 > bottom) || !isfinite(y0 + y1))
    return;
  const double slope = y1 != y0 ? (x1 - x0) / (y1 - y0) : 0;
  const double a = fmin(fmax(y0, top), bottom), b = fmin(fmax(y1, top), bottom);
  kugel__mask_line(c->canvas, x0 + (a - y0) * slope, a, x1 + (b - y1) * slope, b, width);
}

/* Lines across the frame, ticks, and the numbers below (upright false) or left of it. */
void kugel__chart_axis(const kugel__chart *c, bool upright, kugel__ticks *ticks);
void kugel__chart_frame(const kugel__chart *c);
/* What the axes stand for: the values' above them, at the left; the multipole below. */
void kugel__chart_names(const kugel__chart *c, const kugel__ticks *values);
/* Makes room for the rows of a legend that does not fit beside the name of the value axis; before the axes. */
void kugel__chart_room(kugel__chart *c);
/* Samples of the lines and their names, above the frame, to its right end. */
void kugel__chart_legend(const kugel__chart *c);
void kugel__chart_title(const kugel__chart *c);

#endif
