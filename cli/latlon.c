/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include "latlon.h"

double latlon_phi0(kugel_grid_kind kind, int64_t nphi)
{
  return kind == KUGEL_GRID_FEJER1 ? M_PI / (double)nphi : 0;
}

int latlon_open(latlon *m, const char *path, kugel_grid_kind kind)
{
  kugel_npy_info info;
  LIB(kugel_npy_inspect(NULL, path, &info));
  if (info.ndim != 2 || info.dtype.code == KUGEL_COMPLEX)
    return fail("%s has %d dimensions%s; needs a 2-D array of reals, rows of latitude from the north", path,
                (int)info.ndim, info.dtype.code == KUGEL_COMPLEX ? " of complex numbers" : "");
  *m = (latlon){.path = path, .kind = kind, .ntheta = info.shape[0], .nphi = info.shape[1]};
  m->phi0 = latlon_phi0(kind, m->nphi);
  json_int("rows", m->ntheta);
  json_int("columns", m->nphi);
  fact("map", "%lld rows of latitude, %lld columns", (long long)m->ntheta, (long long)m->nphi);
  return EXIT_DONE;
}

int latlon_read(latlon *m)
{
  m->map = malloc((size_t)(m->ntheta * m->nphi) * sizeof(double));
  if (!m->map)
    return fail("%s: no memory for %lld x %lld numbers", m->path, (long long)m->ntheta, (long long)m->nphi);
  LIB(kugel_npy_read(NULL, m->path, KUGEL_ARRAY(m->map, KUGEL_F64, m->ntheta, m->nphi)));
  return interrupted() ? fail_interrupted() : EXIT_DONE;
}

int latlon_grid(const latlon *m, kugel_grid **grid)
{
  LIB(kugel_grid_create(NULL,
                        &(kugel_grid_opts){.size = sizeof(kugel_grid_opts),
                                           .kind = m->kind,
                                           .ntheta = m->ntheta,
                                           .nphi = m->nphi,
                                           .phi0 = m->phi0},
                        grid));
  return EXIT_DONE;
}

int64_t latlon_lmax(const latlon *m)
{
  int64_t by_rows =
      m->kind == KUGEL_GRID_GAUSS || m->kind == KUGEL_GRID_MCEWEN_WIAUX ? m->ntheta - 1 : (m->ntheta - 1) / 2;
  int64_t by_columns = (m->nphi - 1) / 2;
  return by_rows < by_columns ? by_rows : by_columns;
}

void latlon_close(latlon *m)
{
  free(m->map);
  m->map = NULL;
}
