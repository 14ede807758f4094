/* SPDX-License-Identifier: BSD-3-Clause */
/* Coordinate lines, the outline of the map, and labels: beside straight parallels, along the equator, or on
 * the frame. */
#include <stdio.h>
#include <string.h>
#include "plot/plot.h"

static const kugel__color line_color = {0, 0, 0, -1}, outline_color = {0, 0, 0, -1},
                          label_color = {0.2f, 0.2f, 0.22f, 1}, halo_color = {1, 1, 1, 0.78f};

typedef struct pen {
  kugel__canvas *canvas;
  kugel__type *type;
  const kugel__plot_view *view;
  double step, lon_step; // radians between parallels, between meridians
  double fine, unit;     // radians between points of a line; pixels a point of type
} pen;

static void to_picture(const kugel__plot_view *v, double lon, double lat, double u[3])
{
  double s[3] = {cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat)};
  for (int i = 0; i < 3; i++) // the transpose turns back
    u[i] = v->turn[0][i] * s[0] + v->turn[1][i] * s[1] + v->turn[2][i] * s[2];
}

/* Joins two points unless the map is cut between them. */
static void join(const pen *p, const double a[2], const double b[2], double width)
{
  const kugel__plot_view *v = p->view;
  if (hypot(a[0] - b[0], a[1] - b[1]) > 0.2 * v->w)
    return;
  if (v->projection < KUGEL_PLOT_GNOMONIC) {
    kugel__mask_line(p->canvas, a[0], a[1], b[0], b[1], width);
    return;
  }
  double t0 = 0, t1 = 1, d[2] = {b[0] - a[0], b[1] - a[1]}; // Liang-Barsky clipping to the frame
  double lo[2] = {v->x0, v->y0}, hi[2] = {v->x0 + v->w, v->y0 + v->h};
  for (int i = 0; i < 2; i++) {
    if (d[i] == 0) {
      if (a[i] < lo[i] || a[i] > hi[i])
        return;
      continue;
    }
    double s = (lo[i] - a[i]) / d[i], e = (hi[i] - a[i]) / d[i];
    t0 = fmax(t0, fmin(s, e));
    t1 = fmin(t1, fmax(s, e));
  }
  if (t0 < t1)
    kugel__mask_line(p->canvas, a[0] + t0 * d[0], a[1] + t0 * d[1], a[0] + t1 * d[0], a[1] + t1 * d[1],
                     width);
}

/* From lon0, lat0 to lon1, lat1 by steps of p->fine. */
static void draw_line(const pen *p, double lon0, double lat0, double lon1, double lat1)
{
  int n = (int)ceil(fmax(fabs(lon1 - lon0), fabs(lat1 - lat0)) / p->fine);
  double before[2] = {0, 0}, u_before[3] = {0, 0, 0};
  bool had = false;
  for (int i = 0; i <= n; i++) {
    double u[3], now[2];
    to_picture(p->view, lon0 + (lon1 - lon0) * i / n, lat0 + (lat1 - lat0) * i / n, u);
    bool have = kugel__view_project(p->view, u, &now[0], &now[1]);
    bool cut = p->view->projection == KUGEL_PLOT_ORTHOGRAPHIC && u[0] * u_before[0] < 0;
    if (have && had && !cut)
      join(p, before, now, 0.8 * p->unit);
    memcpy(before, now, sizeof now);
    memcpy(u_before, u, sizeof u);
    had = have;
  }
}

static void draw_lines(const pen *p, double reach_lon0, double reach_lon1, double reach_lat0,
                       double reach_lat1)
{
  double pole = M_PI / 2;
  for (double k = ceil(reach_lon0 / p->lon_step - 1e-9); k * p->lon_step <= reach_lon1 + 1e-9; k++)
    draw_line(p, k * p->lon_step, fmax(-pole, reach_lat0), k * p->lon_step, fmin(pole, reach_lat1));
  for (double k = ceil(reach_lat0 / p->step - 1e-9); k * p->step <= reach_lat1 + 1e-9; k++)
    if (fabs(k * p->step) < pole - 1e-6)
      draw_line(p, reach_lon0, k * p->step, reach_lon1, k * p->step);
  kugel__mask_paint(p->canvas, line_color);
}

static void draw_outline(const pen *p)
{
  const kugel__plot_view *v = p->view;
  double width = 1.3 * p->unit, x1 = v->x0 + v->w, y1 = v->y0 + v->h, cx = v->x0 + v->w / 2,
         cy = v->y0 + v->h / 2;
  if (v->projection >= KUGEL_PLOT_GNOMONIC) {
    const double x[5] = {v->x0, x1, x1, v->x0, v->x0}, y[5] = {v->y0, v->y0, y1, y1, v->y0};
    for (int i = 0; i < 4; i++)
      kugel__mask_line(p->canvas, x[i], y[i], x[i + 1], y[i + 1], width);
  } else {
    int discs = v->projection == KUGEL_PLOT_ORTHOGRAPHIC && !v->half ? 2 : 1;
    double a = v->projection == KUGEL_PLOT_MOLLWEIDE ? v->w / 2 : 1 / v->scale, b = v->h / 2;
    b = v->projection == KUGEL_PLOT_MOLLWEIDE ? b : a;
    for (int d = 0; d < discs; d++) {
      double at = discs == 1 ? cx : cx + (d ? 1.02 : -1.02) / v->scale;
      for (int i = 0; i < 720; i++)
        kugel__mask_line(p->canvas, at + a * cos(i * M_PI / 360), cy + b * sin(i * M_PI / 360),
                         at + a * cos((i + 1) * M_PI / 360), cy + b * sin((i + 1) * M_PI / 360), width);
    }
  }
  kugel__mask_paint(p->canvas, outline_color);
}

/* "-30°", with arc minutes and seconds when the step is finer than a degree. */
static void angle_text(double radians, double step, bool longitude, char *out, size_t size)
{
  double degrees = radians * 180 / M_PI;
  if (longitude)
    degrees -= 360 * floor(degrees / 360 + 1e-9);
  double finest = step * 180 / M_PI;
  const char *sign = degrees < -1e-9 ? "−" : "";
  double seconds = round(fabs(degrees) * 3600);
  int d = (int)(seconds / 3600), m = (int)(seconds / 60) % 60, s = (int)fmod(seconds, 60);
  if (finest > 1 - 1e-6)
    snprintf(out, size, "%s%d°", sign, (int)(seconds / 3600 + 0.5));
  else if (finest * 60 > 1 - 1e-6)
    snprintf(out, size, "%s%d°%02d′", sign, d, m);
  else
    snprintf(out, size, "%s%d°%02d′%02d″", sign, d, m, s);
}

/* Whole-sky views: latitudes outside the edge if the parallels are level, else on the central meridian;
 * longitudes along the equator. */
static void label_sky(const pen *p, const kugel_plot_opts *o)
{
  char text[40];
  const kugel__plot_view *v = p->view;
  double size = 12 * p->unit, x, y, u[3];
  bool level = v->projection == KUGEL_PLOT_MOLLWEIDE && fabs(o->lat) < 1e-6 && fabs(sin(o->roll)) < 1e-6;
  double lon_step = fmax(p->step, 30 * M_PI / 180), below = -1e9;
  double apart =
      v->projection == KUGEL_PLOT_MOLLWEIDE ? v->w / (2 * M_PI) : 0.5 / v->scale; // pixels a radian, at least
  while (lon_step * apart < 1.5 * kugel__type_width(p->type, "330°", size * 0.92) && lon_step < 1.5)
    lon_step += 30 * M_PI / 180; // so many that they stand apart: 30, 60 or 90 degrees
  for (double k = ceil(-M_PI / 2 / p->step + 1e-6); k * p->step < M_PI / 2 - 1e-6; k++) {
    double lat = k * p->step;
    angle_text(lat, p->step, false, text, sizeof text);
    if (level) {
      double a[3] = {0, 0, sin(lat)}, from_center;
      a[0] = -cos(lat);
      kugel__view_project(v, a, &x, &y);
      from_center = fabs(x - v->x0 - v->w / 2);
      x = v->x0 + v->w / 2 - from_center;
      if (fabs(y - below) < 0.95 * size)
        continue;
      below = y;
      kugel__type_draw(p->type, p->canvas, x - 6 * p->unit, y + 0.36 * size, 1, size, text, label_color, 0,
                       halo_color);
    } else if (fabs(lat) > 1e-6) {
      for (int back = 0; back < (v->projection == KUGEL_PLOT_ORTHOGRAPHIC ? 2 : 1); back++) {
        to_picture(v, o->lon + back * M_PI, lat, u);
        if ((back ? -u[0] : u[0]) > 0.3 && kugel__view_project(v, u, &x, &y))
          kugel__type_draw(p->type, p->canvas, x, y + 0.36 * size, 0.5, size * 0.92, text, label_color,
                           1.8 * p->unit, halo_color);
      }
    }
  }
  for (double k = 0; k * lon_step < 2 * M_PI - 1e-6; k++) {
    double lon = k * lon_step;
    to_picture(v, lon, 0, u);
    bool edge = v->projection == KUGEL_PLOT_ORTHOGRAPHIC ? fabs(u[0]) < 0.35 : u[0] < 0 && fabs(u[1]) < 0.12;
    if (edge || !kugel__view_project(v, u, &x, &y))
      continue;
    angle_text(lon, lon_step, true, text, sizeof text);
    kugel__type_draw(p->type, p->canvas, x, y + 0.36 * size, 0.5, size * 0.92, text, label_color,
                     1.8 * p->unit, halo_color);
  }
}

/* Longitude or latitude (sky) of a canvas point; false outside the map. */
static bool angle_at(const kugel__plot_view *v, double x, double y, bool longitude, double *angle)
{
  double u[3], s[3];
  uint8_t valid;
  kugel__view_row(v, x, y, 1, u, &valid);
  for (int i = 0; i < 3; i++)
    s[i] = v->turn[i][0] * u[0] + v->turn[i][1] * u[1] + v->turn[i][2] * u[2];
  *angle = longitude ? atan2(s[1], s[0]) : asin(fmax(-1, fmin(1, s[2])));
  return valid;
}

/* About a pole parallels close within the frame: their numbers stand where they cross the line from its middle
 * upwards. */
static void label_parallels(const pen *p)
{
  const kugel__plot_view *v = p->view;
  double x = v->x0 + v->w / 2, before = 0, size = 12 * p->unit, free_to = 1e9;
  bool had = false;
  for (int i = 0; i < (int)v->h; i++) {
    double y = v->y0 + v->h / 2 - 0.5 * i, angle;
    bool have = angle_at(v, x, y, false, &angle);
    double low = floor(before / p->step + 1e-9), high = floor(angle / p->step + 1e-9);
    if (had && have && low != high && y < free_to && fabs(angle) < M_PI / 2 - 1e-6) {
      char text[40];
      angle_text(fmax(low, high) * p->step, p->step, false, text, sizeof text);
      kugel__type_draw(p->type, p->canvas, x, y + 0.36 * size, 0.5, size * 0.92, text, label_color,
                       1.8 * p->unit, halo_color);
      free_to = y - 2 * size;
    }
    before = angle;
    had = have;
  }
}

/* Framed views: a tick and a number wherever a line meets the lower (longitude) or left (latitude) edge. How many. */
static int label_frame(const pen *p, bool longitude)
{
  const kugel__plot_view *v = p->view;
  double step = longitude ? p->lon_step : p->step, size = 12 * p->unit, length = longitude ? v->w : v->h,
         free_from = -1e9;
  double edge = longitude ? v->y0 + v->h : v->x0, before = 0;
  bool had = false;
  int n = (int)length * 2, drawn = 0;
  for (int i = 0; i <= n; i++) {
    double at = length * (i + 1e-3) / (n + 2e-3), angle;
    double x = longitude ? v->x0 + at : edge, y = longitude ? edge : v->y0 + at;
    // half a pixel inside, where even a pole has a longitude
    bool have = angle_at(v, longitude ? x : x + 0.5, longitude ? y - 0.5 : y, longitude, &angle);
    double line = fmax(floor(before / step + 1e-9), floor(angle / step + 1e-9)) * step;
    bool crossed = had && have && floor(before / step + 1e-9) != floor(angle / step + 1e-9) &&
                   fabs(before - angle) < step;
    before = angle;
    had = have;
    if (!crossed)
      continue;
    char text[40];
    angle_text(line, step, longitude, text, sizeof text);
    double room = longitude ? kugel__type_width(p->type, text, size) / 2 + 6 * p->unit : size;
    double tick = 5 * p->unit;
    kugel__mask_line(p->canvas, x, y, longitude ? x : x - tick, longitude ? y + tick : y, p->unit);
    kugel__mask_paint(p->canvas, outline_color);
    if (at - room < free_from)
      continue;
    free_from = at + room;
    drawn++;
    if (longitude)
      kugel__type_draw(p->type, p->canvas, x, y + tick + 1.1 * size, 0.5, size, text, label_color, 0,
                       halo_color);
    else
      kugel__type_draw(p->type, p->canvas, x - tick - 4 * p->unit, y + 0.36 * size, 1, size, text,
                       label_color, 0, halo_color);
  }
  return drawn;
}

/* About five lines across a field of so many radians. */
static double choose_step(double radians)
{
  static const double seconds[] = {1,    2,    5,    10,   20,    30,    60,    120,    300,   600,
                                   1200, 1800, 3600, 7200, 18000, 36000, 54000, 108000, 216000};
  double field = radians * 180 / M_PI * 3600;
  for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++)
    if (field / seconds[i] < 6.01)
      return seconds[i] / 3600 * M_PI / 180;
  return M_PI / 6;
}

void kugel__graticule(kugel__canvas *c, kugel__type *type, const kugel__plot_view *v,
                      const kugel_plot_opts *o, double unit)
{
  pen p = {.canvas = c, .type = type, .view = v, .unit = unit};
  bool framed = v->projection >= KUGEL_PLOT_GNOMONIC, labels = !o->no_labels && !(o->graticule < 0);
  double across = fmin(v->w, v->h) * v->scale; // meridians draw together towards the poles
  double squeeze = v->projection == KUGEL_PLOT_GNOMONIC ? fmax(cos(fabs(o->lat)), 0.02) : 1;
  p.step = o->graticule > 0 ? o->graticule : framed ? choose_step(across) : M_PI / 6;
  p.lon_step = o->graticule > 0 ? o->graticule
               : framed         ? choose_step(fmin(across / squeeze, M_PI))
                                : M_PI / 6;
  double finest = framed ? across / 100 : M_PI / 180;
  p.step = fmax(p.step, finest);
  p.lon_step = fmax(p.lon_step, finest);
  p.fine = M_PI / 180;
  double reach[4] = {-M_PI, M_PI, -M_PI / 2, M_PI / 2};
  double field = hypot(v->w, v->h) * v->scale * 0.75;
  if (framed && field < 0.7 && fabs(o->lat) + field < 1.4) { // only what is near
    double wide = field / cos(fabs(o->lat) + field);
    reach[0] = o->lon - wide;
    reach[1] = o->lon + wide;
    reach[2] = o->lat - field;
    reach[3] = o->lat + field;
    p.fine = field / 60;
  }
  if (!(o->graticule < 0))
    draw_lines(&p, reach[0], reach[1], reach[2], reach[3]);
  draw_outline(&p);
  if (!labels)
    return;
  if (framed) {
    label_frame(&p, true);
    if (!label_frame(&p, false))
      label_parallels(&p);
  } else {
    label_sky(&p, o);
  }
}
