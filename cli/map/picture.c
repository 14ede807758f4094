/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include "map/picture.h"

static void picture_close(kugel_plot **picture)
{
  kugel_plot_destroy(*picture);
}

int picture_sky(const char *path, const sky *s, int64_t i, const kugel_plot_opts *opts, double *ends)
{
  __attribute__((cleanup(picture_close))) kugel_plot *picture = NULL;
  void *map = (char *)s->maps + i * s->npix * (s->dtype.bits / 8);
  LIB(kugel_plot_healpix(NULL, opts, s->order, KUGEL_ARRAY(map, s->dtype, s->npix), &picture));
  if (ends)
    LIB(kugel_plot_range(picture, ends));
  if (interrupted())
    return fail_interrupted();
  progress_writing();
  LIB(kugel_plot_write(picture, path, run.overwrite));
  return EXIT_DONE;
}

int picture_marked(const char *path, const sky *s, const char *what, int64_t n, const double *theta,
                   const double *phi)
{
  char title[160];
  __attribute__((cleanup(picture_close))) kugel_plot *picture = NULL;
  const kugel_array *map = KUGEL_ARRAY(s->maps, s->dtype, s->npix);
  snprintf(title, sizeof title, "%s%s%s", s->described[0].name, s->described[0].name[0] ? ", " : "", what);
  json_text("plot", path);
  fact("plot", "%s", path);
  LIB(kugel_plot_healpix(
      NULL, &(kugel_plot_opts){.size = sizeof(kugel_plot_opts), .unit = s->described[0].unit, .title = title},
      s->order, map, &picture));
  LIB(kugel_plot_circles(picture, n, theta, phi, 0));
  if (interrupted())
    return fail_interrupted();
  LIB(kugel_plot_write(picture, path, run.overwrite));
  return EXIT_DONE;
}

int picture_simple(const char *path, const sky *s, const char *what)
{
  return picture_marked(path, s, what, 0, NULL, NULL);
}

int latlon_picture(const char *path, const latlon *m, const kugel_plot_opts *opts, double *ends)
{
  __attribute__((cleanup(picture_close))) kugel_plot *picture = NULL;
  GRID kugel_grid *grid = NULL;
  OWNED double *theta = malloc((size_t)m->ntheta * sizeof *theta);
  if (!theta)
    return fail("no memory for %lld latitudes", (long long)m->ntheta);
  STEP(latlon_grid(m, &grid));
  LIB(kugel_grid_rings(grid, theta, NULL, NULL, NULL, NULL));
  LIB(kugel_plot_latlon(NULL, opts, theta, m->phi0, KUGEL_ARRAY(m->map, KUGEL_F64, m->ntheta, m->nphi),
                        &picture));
  LIB(kugel_plot_range(picture, ends));
  if (interrupted())
    return fail_interrupted();
  LIB(kugel_plot_write(picture, path, run.overwrite));
  return EXIT_DONE;
}

int spectra_picture(const char *path, const kugel_plot_cl_opts *opts, int64_t n, int64_t lmax,
                    const double *cl)
{
  __attribute__((cleanup(picture_close))) kugel_plot *picture = NULL;
  json_text("plot", path);
  fact("plot", "%s", path);
  LIB(kugel_plot_cl(NULL, opts, n >= 4 ? 4 : n, lmax, cl, &picture));
  if (interrupted())
    return fail_interrupted();
  LIB(kugel_plot_write(picture, path, run.overwrite));
  return EXIT_DONE;
}
