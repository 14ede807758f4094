/* SPDX-License-Identifier: BSD-3-Clause */
/* Three views of a volume: xy, below it xz, on its right yz, in one scale, with a scale bar. */
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "plot/plot.h"

static const kugel__color ink = {0.13f, 0.13f, 0.15f, 1}, no_halo = {0, 0, 0, 0};

typedef struct panel {
  const float *values;
  int64_t rows, columns; // of values
  bool turned;           // drawn with rows to the right
  int64_t x, y, w, h;    // pixels
} panel;

typedef struct sheet {
  kugel_plot_volume_opts o;
  panel panel[3];
  bool shown[3];
  double step[3], zoom;  // sizes of voxels; pixels per unit
  double min, max, unit; // unit: pixels of one pixel of a design 1200 wide
  int64_t width, height;
  bool known; // sizes are micrometres
} sheet;

static void find_range(sheet *s)
{
  double lo = INFINITY, hi = -INFINITY;
  for (int i = 0; i < 3; i++)
    for (int64_t k = 0; s->shown[i] && k < s->panel[i].rows * s->panel[i].columns; k++) {
      double x = (double)s->panel[i].values[k];
      if (isfinite(x)) {
        lo = fmin(lo, x);
        hi = fmax(hi, x);
      }
    }
  if (!(lo <= hi))
    lo = hi = 0;
  s->min = isnan(s->o.min) ? lo : s->o.min;
  s->max = isnan(s->o.max) ? hi : s->o.max;
}

/* Sizes and places. The pictures' lengths along x, y, z are n times step. */
static kugel_status lay_out(sheet *s, const int64_t n[3])
{
  double length[3], margin = 16, gap = 6, title = s->o.title && s->o.title[0] ? 44 : 0;
  s->width = s->o.width ? s->o.width : 1200;
  s->unit = (double)s->width / 1200;
  for (int i = 0; i < 3; i++)
    length[i] = (double)n[i] * s->step[i];
  bool all = s->o.axes == 0;
  double across = all ? length[2] + length[0] : s->o.axes == 3 ? length[1] : length[2];
  double room = (double)s->width - (2 * margin + (all ? gap : 0)) * s->unit;
  s->zoom = room / across;
  double wx = length[2] * s->zoom, wy = length[1] * s->zoom, wz = length[0] * s->zoom, x = margin * s->unit,
         y = (margin + title) * s->unit;
  int64_t left = (int64_t)x, top = (int64_t)y, right = (int64_t)(x + wx + gap * s->unit),
          low = (int64_t)(y + wy + gap * s->unit);
#define AT_LEAST_1(v) kugel__max(1, (int64_t)((v) + 0.5))
  panel *p = s->panel;
  p[0].x = p[1].x = p[2].x = left;
  p[0].y = p[1].y = p[2].y = top;
  p[0].w = p[1].w = AT_LEAST_1(wx);
  p[0].h = AT_LEAST_1(wy);
  p[1].h = AT_LEAST_1(wz);
  p[2].w = all ? AT_LEAST_1(wz) : AT_LEAST_1(wy);
  p[2].h = all ? AT_LEAST_1(wy) : AT_LEAST_1(wz);
  p[2].turned = all;
  if (all) {
    p[1].y = low;
    p[2].x = right;
  }
  int64_t bottom = 0;
  for (int i = 0; i < 3; i++)
    if (s->shown[i])
      bottom = kugel__max(bottom, p[i].y + p[i].h);
  s->height = bottom + (int64_t)((margin + 34) * s->unit);
  KUGEL_CHECK(s->height <= 1 << 16, KUGEL_EINVAL,
              "the picture would be %lld pixels high: give a smaller width than %lld", (long long)s->height,
              (long long)s->width);
  return KUGEL_OK;
}

/* The largest value of the voxels beneath pixel k of n pixels over m voxels: *first up to *end. */
static void beneath(int64_t k, int64_t n, int64_t m, int64_t *first, int64_t *end)
{
  *first = kugel__min(m - 1, (int64_t)((double)k * (double)m / (double)n));
  *end = kugel__max(*first + 1, kugel__min(m, (int64_t)((double)(k + 1) * (double)m / (double)n)));
}

static void draw_panel(const sheet *s, const panel *p, const kugel__colors *colors, kugel__canvas *c)
{
  const kugel__color bad = {0.5f, 0.5f, 0.5f, 1};
  int64_t m[2] = {p->rows, p->columns}, r[2], q[2]; // first and end of rows and columns
  for (int64_t y = 0; y < p->h; y++)
    for (int64_t x = 0; x < p->w; x++) {
      int64_t px = p->x + x, py = p->y + y;
      if (px >= c->width || py >= c->height)
        continue;
      beneath(p->turned ? x : y, p->turned ? p->w : p->h, m[0], &r[0], &r[1]);
      beneath(p->turned ? y : x, p->turned ? p->h : p->w, m[1], &q[0], &q[1]);
      float v = NAN;
      for (int64_t i = r[0]; i < r[1]; i++)
        for (int64_t k = q[0]; k < q[1]; k++)
          v = fmaxf(v, p->values[i * m[1] + k]);
      double t = s->max > s->min ? ((double)v - s->min) / (s->max - s->min) : 0;
      kugel__canvas_over(c, px, py,
                         isnan(v) ? bad : kugel__colors_get(colors, t > 0 ? pow(t, s->o.gamma) : 0));
    }
}

/* A bar of 1, 2 or 5 times a power of ten micrometres, about a fifth of the widest panel. */
static void draw_bar(const sheet *s, kugel__type *type, kugel__canvas *c)
{
  const panel *p = &s->panel[s->shown[0] ? 0 : s->shown[1] ? 1 : 2];
  double wanted = (double)p->w / s->zoom / 5, power = pow(10, floor(log10(wanted))), ratio = wanted / power;
  double length = power * (ratio >= 5 ? 5 : ratio >= 2 ? 2 : 1), w = length * s->zoom;
  double x = (double)p->x, y = (double)s->height - 28 * s->unit;
  char label[40];
  kugel__canvas_polygon(c, 4, (double[]){x, x + w, x + w, x},
                        (double[]){y, y, y + 6 * s->unit, y + 6 * s->unit}, ink);
  if (length >= 1000)
    snprintf(label, sizeof label, "%.4g mm", length / 1000);
  else if (length < 1)
    snprintf(label, sizeof label, "%.4g nm", length * 1000);
  else
    snprintf(label, sizeof label, "%.4g \xc2\xb5m", length);
  kugel__type_draw(type, c, x + w + 10 * s->unit, y + 9 * s->unit, 0, 18 * s->unit, label, ink, 0, no_halo);
}

static kugel_status paint(kugel_plot *picture, kugel__type *type, void *of)
{
  const sheet *s = of;
  kugel__colors colors;
  KUGEL_TRY(kugel__colors_fill(s->o.colors ? s->o.colors : "grey", &colors));
  KUGEL_TRY(kugel__canvas_create(picture->ctx, s->width, s->height, false, &picture->canvas));
  for (int i = 0; i < 3; i++)
    if (s->shown[i])
      draw_panel(s, &s->panel[i], &colors, &picture->canvas);
  if (s->known)
    draw_bar(s, type, &picture->canvas);
  if (s->o.title && s->o.title[0])
    kugel__type_fit(type, &picture->canvas, (double)s->width / 2, 38 * s->unit, 0.5, 26 * s->unit,
                    0.95 * (double)s->width, s->o.title, ink);
  char range[80];
  snprintf(range, sizeof range, "%.6g \xe2\x80\x93 %.6g", s->min, s->max);
  kugel__type_draw(type, &picture->canvas, (double)s->width - 16 * s->unit, (double)s->height - 19 * s->unit,
                   1, 18 * s->unit, range, ink, 0, no_halo);
  const panel *p = &s->panel[s->shown[0] ? 0 : s->shown[1] ? 1 : 2];
  memcpy(picture->box, ((int64_t[4]){p->x, p->y, p->w, p->h}), sizeof picture->box);
  picture->ends[0] = s->min;
  picture->ends[1] = s->max;
  return KUGEL_OK;
}

static kugel_status take(sheet *s, const kugel_plot_volume_opts *opts, const int64_t n[3])
{
  KUGEL_TRY(kugel__take_opts(&s->o, sizeof s->o, opts, "kugel_plot_volume_opts"));
  KUGEL_CHECK(s->o.axes >= 0 && s->o.axes <= 3, KUGEL_EINVAL, "axes is %d, must be 0 to 3", s->o.axes);
  KUGEL_CHECK(!s->o.width || (s->o.width >= 64 && s->o.width <= 32768), KUGEL_EINVAL,
              "width is %d, must be 64 to 32768", s->o.width);
  if (!opts)
    s->o.min = s->o.max = NAN;
  s->o.gamma = s->o.gamma > 0 ? s->o.gamma : 1;
  s->known = true;
  for (int i = 0; i < 3; i++) {
    KUGEL_CHECK(n[i] >= 1 && n[i] < 1 << 30, KUGEL_EINVAL, "n[%d] is %lld, must be 1 to 2^30", i,
                (long long)n[i]);
    s->known = s->known && s->o.voxel[i] > 0 && s->o.voxel[i] < 1e12;
    s->shown[i] = !s->o.axes || s->o.axes == i + 1;
  }
  if (!s->known && s->o.voxel[1] > 0 && s->o.voxel[2] > 0 && n[0] == 1 && s->o.axes <= 1)
    s->known = true; // one plane needs no distance of planes
  for (int i = 0; i < 3; i++)
    s->step[i] = s->known && s->o.voxel[i] > 0 ? s->o.voxel[i] : s->known ? s->o.voxel[2] : 1;
  return lay_out(s, n);
}

kugel_status kugel_plot_volume(kugel_ctx *ctx, const kugel_plot_volume_opts *opts, const int64_t *n,
                               const float *xy, const float *xz, const float *yz, kugel_plot **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  *out = NULL;
  KUGEL_CHECK(n && xy && xz && yz, KUGEL_EINVAL, "n, xy, xz or yz is NULL");
  sheet s = {.panel = {{.values = xy, .rows = n[1], .columns = n[2]},
                       {.values = xz, .rows = n[0], .columns = n[2]},
                       {.values = yz, .rows = n[0], .columns = n[1]}}};
  KUGEL_TRY(take(&s, opts, n));
  find_range(&s);
  return kugel__picture_make(ctx, paint, &s, out);
}
