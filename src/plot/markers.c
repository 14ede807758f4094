/* SPDX-License-Identifier: BSD-3-Clause */
/* Circles about directions on a picture that is drawn. */
#include "core/alloc.h"
#include "plot/plot.h"

kugel_status kugel_plot_circles(kugel_plot *picture, int64_t n, const double *theta, const double *phi,
                                double radius)
{
  KUGEL_CHECK(picture && n >= 0 && (!n || (theta && phi)), KUGEL_EINVAL,
              "%s: pass a picture of a map and two arrays of %lld angles",
              picture ? "theta or phi is NULL" : "picture is NULL", (long long)n);
  KUGEL_CHECK(picture->view.w > 0, KUGEL_EINVAL,
              "the picture has no map: draw one by kugel_plot_healpix or _latlon");
  KUGEL_CHECK(radius >= 0 && radius <= 1000, KUGEL_EINVAL, "radius is %g, must be 0 (8) to 1000 pixels",
              radius);
  const kugel__plot_view *v = &picture->view;
  double unit = picture->unit, r = (radius > 0 ? radius : 8) * unit;
  const kugel__color rim = {1, 1, 1, 0.75f}, line = {0.05f, 0.05f, 0.08f, 1};
  kugel__canvas *c = &picture->canvas; /* whose mask went when the picture was done */
  c->mask = kugel__calloc(picture->ctx, (size_t)(c->width * c->height));
  KUGEL_CHECK(c->mask, KUGEL_ENOMEM, "no memory to mark a picture of %lld by %lld pixels",
              (long long)c->width, (long long)c->height);
  for (int pass = 0; pass < 2; pass++) /* a light rim under a dark line shows on any colour */
    for (int64_t i = 0; i < n; i++) {
      double s = sin(theta[i]), t[3] = {s * cos(phi[i]), s * sin(phi[i]), cos(theta[i])}, u[3], x, y;
      for (int e = 0; e < 3; e++)
        u[e] = v->to_map[0][e] * t[0] + v->to_map[1][e] * t[1] + v->to_map[2][e] * t[2];
      if (!kugel__view_project(v, u, &x, &y) || x < v->x0 || x > v->x0 + v->w || y < v->y0 ||
          y > v->y0 + v->h)
        continue;
      for (int k = 0; k < 24; k++)
        kugel__mask_line(c, x + r * cos(k * M_PI / 12), y + r * sin(k * M_PI / 12),
                         x + r * cos((k + 1) * M_PI / 12), y + r * sin((k + 1) * M_PI / 12),
                         (pass ? 1.4 : 3.2) * unit);
      kugel__mask_paint(c, pass ? line : rim);
    }
  kugel__free(picture->ctx, c->mask);
  c->mask = NULL;
  return KUGEL_OK;
}
