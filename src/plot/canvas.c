/* SPDX-License-Identifier: BSD-3-Clause */
/* Antialiased lines and polygons: a pixel's coverage follows from its distance to the edge. */
#include <string.h>
#include "core/alloc.h"
#include "plot/plot.h"

static double clamp01(double x)
{
  return x < 0 ? 0 : x > 1 ? 1 : x;
}

kugel_status kugel__canvas_create(kugel_ctx *ctx, int64_t width, int64_t height, bool transparent,
                                  kugel__canvas *c)
{
  size_t n = (size_t)(width * height);
  *c = (kugel__canvas){.ctx = ctx, .width = width, .height = height};
  c->rgba = kugel__alloc(ctx, 4 * n);
  c->mask = kugel__calloc(ctx, n);
  KUGEL_CHECK(c->rgba && c->mask, KUGEL_ENOMEM, "no memory for a picture of %lld by %lld pixels",
              (long long)width, (long long)height);
  memset(c->rgba, transparent ? 0 : 255, 4 * n);
  c->dirty[0] = width;
  c->dirty[1] = height;
  return KUGEL_OK;
}

void kugel__canvas_over(kugel__canvas *c, int64_t x, int64_t y, kugel__color s)
{
  uint8_t *p = c->rgba + 4 * (y * c->width + x);
  if (s.a <= 0)
    return;
  float below = (float)p[3] / 255 * (1 - s.a), a = s.a + below;
  p[0] = (uint8_t)((s.r * s.a * 255 + (float)p[0] * below) / a + 0.5f);
  p[1] = (uint8_t)((s.g * s.a * 255 + (float)p[1] * below) / a + 0.5f);
  p[2] = (uint8_t)((s.b * s.a * 255 + (float)p[2] * below) / a + 0.5f);
  p[3] = (uint8_t)(a * 255 + 0.5f);
}

void kugel__mask_line(kugel__canvas *c, double x0, double y0, double x1, double y1, double width)
{
  double r = width / 2 + 1, dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy;
  int64_t left = (int64_t)fmax(0, floor(fmin(x0, x1) - r)),
          right = (int64_t)fmin((double)c->width - 1, fmax(x0, x1) + r);
  int64_t top = (int64_t)fmax(0, floor(fmin(y0, y1) - r)),
          bottom = (int64_t)fmin((double)c->height - 1, fmax(y0, y1) + r);
  for (int64_t y = top; y <= bottom; y++)
    for (int64_t x = left; x <= right; x++) {
      double px = (double)x + 0.5 - x0, py = (double)y + 0.5 - y0;
      double t = length2 > 0 ? clamp01((px * dx + py * dy) / length2) : 0;
      double distance = hypot(px - t * dx, py - t * dy);
      // a line thinner than a pixel is a fainter one a pixel wide
      double cover = clamp01(fmax(width, 1) / 2 + 0.5 - distance) * fmin(width, 1);
      uint8_t *m = &c->mask[y * c->width + x], v = (uint8_t)(cover * 255 + 0.5);
      *m = v > *m ? v : *m;
    }
  c->dirty[0] = kugel__min(c->dirty[0], left);
  c->dirty[1] = kugel__min(c->dirty[1], top);
  c->dirty[2] = kugel__max(c->dirty[2], right + 1);
  c->dirty[3] = kugel__max(c->dirty[3], bottom + 1);
}

/* Dark ink on light ground, light ink on dark ground. */
static kugel__color readable(const kugel__canvas *c, int64_t x, int64_t y)
{
  const uint8_t *p = c->rgba + 4 * (y * c->width + x);
  float light = (0.3f * (float)p[0] + 0.59f * (float)p[1] + 0.11f * (float)p[2]) / 255;
  return light > 0.33f ? (kugel__color){0.05f, 0.05f, 0.08f, 0.34f} : (kugel__color){0.95f, 0.95f, 1, 0.3f};
}

void kugel__mask_paint(kugel__canvas *c, kugel__color color)
{
  for (int64_t y = c->dirty[1]; y < c->dirty[3]; y++)
    for (int64_t x = c->dirty[0]; x < c->dirty[2]; x++) {
      uint8_t *m = &c->mask[y * c->width + x];
      if (*m) {
        kugel__color part = color.a < 0 ? readable(c, x, y) : color;
        part.a *= (float)*m / 255;
        kugel__canvas_over(c, x, y, part);
        *m = 0;
      }
    }
  c->dirty[0] = c->width;
  c->dirty[1] = c->height;
  c->dirty[2] = c->dirty[3] = 0;
}

void kugel__canvas_polygon(kugel__canvas *c, int n, const double *x, const double *y, kugel__color color)
{
  double lo[2] = {1e30, 1e30}, hi[2] = {-1e30, -1e30}, area = 0;
  for (int i = 0; i < n; i++) {
    int j = (i + 1) % n;
    lo[0] = fmin(lo[0], x[i]);
    hi[0] = fmax(hi[0], x[i]);
    lo[1] = fmin(lo[1], y[i]);
    hi[1] = fmax(hi[1], y[i]);
    area += x[i] * y[j] - x[j] * y[i];
  }
  for (int64_t py = (int64_t)fmax(0, lo[1] - 1); py <= (int64_t)fmin((double)c->height - 1, hi[1] + 1); py++)
    for (int64_t px = (int64_t)fmax(0, lo[0] - 1); px <= (int64_t)fmin((double)c->width - 1, hi[0] + 1);
         px++) {
      double inside = 1e30; // distance to the nearest edge, positive within
      for (int i = 0; i < n; i++) {
        int j = (i + 1) % n;
        double ex = x[j] - x[i], ey = y[j] - y[i], length = hypot(ex, ey);
        double side = (ex * ((double)py + 0.5 - y[i]) - ey * ((double)px + 0.5 - x[i])) / length;
        inside = fmin(inside, area > 0 ? side : -side);
      }
      kugel__color part = color;
      part.a *= (float)clamp01(inside + 0.5);
      kugel__canvas_over(c, px, py, part);
    }
}
