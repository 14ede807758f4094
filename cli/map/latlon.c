/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include "map/latlon.h"

double latlon_phi0(kugel_grid_kind kind, int64_t nphi)
{
  return kind == KUGEL_GRID_FEJER1 ? M_PI / (double)nphi : 0;
}

kugel_grid_kind latlon_kind(int64_t word)
{
  static const kugel_grid_kind kinds[] = {
      KUGEL_GRID_GAUSS,          KUGEL_GRID_CLENSHAW_CURTIS, KUGEL_GRID_FEJER1,  KUGEL_GRID_FEJER2,
      KUGEL_GRID_DRISCOLL_HEALY, KUGEL_GRID_MCEWEN_WIAUX,    KUGEL_GRID_LOBATTO, KUGEL_GRID_GAUSS_OCTAHEDRAL};
  return kinds[word];
}

/* Rows of an octahedral grid: 2 N with 4 N (N + 9) pixels; 0: there is none. */
static int64_t octahedral_rows(int64_t npix)
{
  int64_t n = (int64_t)llround(sqrt((double)npix / 4 + 20.25) - 4.5);
  return n >= 1 && 4 * n * (n + 9) == npix ? 2 * n : 0;
}

int latlon_open(latlon *m, const char *path, kugel_grid_kind kind, bool several)
{
  kugel_npy_info info;
  LIB(kugel_npy_inspect(NULL, path, &info));
  bool octahedral = kind == KUGEL_GRID_GAUSS_OCTAHEDRAL;
  int own = octahedral ? 1 : 2;
  if (info.dtype.code == KUGEL_COMPLEX || info.ndim < own || info.ndim > own + several)
    return fail("%s has %d dimensions%s; needs a %d-D array of reals, %s%s", path, (int)info.ndim,
                info.dtype.code == KUGEL_COMPLEX ? " of complex numbers" : "", own,
                octahedral ? "an octahedral grid ring by ring" : "rows of latitude from the north",
                several ? ", or several of them" : "");
  const int64_t *shape = info.shape + (info.ndim - own);
  *m = (latlon){.path = path, .kind = kind, .n = info.ndim > own ? info.shape[0] : 1};
  m->npix = octahedral ? shape[0] : shape[0] * shape[1];
  m->ntheta = octahedral ? octahedral_rows(m->npix) : shape[0];
  m->nphi = octahedral ? 0 : shape[1];
  if (octahedral && !m->ntheta)
    return fail("%s has %lld pixels: an octahedral grid of 2 N rows has 4 N (N + 9)", path,
                (long long)m->npix);
  m->phi0 = octahedral ? 0 : latlon_phi0(kind, m->nphi);
  json_int("rows", m->ntheta);
  if (octahedral) {
    json_int("pixels", m->npix);
    fact("map", "%lld rows, %lld pixels", (long long)m->ntheta, (long long)m->npix);
  } else {
    json_int("columns", m->nphi);
    fact("map", "%lld rows of latitude, %lld columns", (long long)m->ntheta, (long long)m->nphi);
  }
  return EXIT_DONE;
}

int latlon_orient(latlon *m, const arg *south_first, const arg *lon0)
{
  char text[40];
  if (!m->nphi && (south_first->given || lon0->given))
    return fail_usage("--south-first and --lon0 go with rows of equal length, not with octahedral grids");
  m->south_first = south_first->given;
  if (lon0->given) {
    m->phi0 = fmod(lon0->x + 2 * M_PI, 2 * M_PI);
    json_number("lon0_radians", m->phi0);
    fact("", "first column at longitude %s", angle_text(m->phi0, text, sizeof text));
  }
  json_flag("south_first", m->south_first);
  if (m->south_first)
    fact("", "rows from south to north");
  return EXIT_DONE;
}

static void turn_rows(latlon *m)
{
  for (int64_t k = 0; k < m->n; k++)
    for (int64_t i = 0; i < m->ntheta / 2; i++) {
      double *a = m->map + k * m->npix + i * m->nphi,
             *b = m->map + k * m->npix + (m->ntheta - 1 - i) * m->nphi;
      for (int64_t j = 0; j < m->nphi; j++) {
        double x = a[j];
        a[j] = b[j];
        b[j] = x;
      }
    }
}

int latlon_read(latlon *m)
{
  m->map = malloc((size_t)(m->n * m->npix) * sizeof(double));
  if (!m->map)
    return fail("%s: no memory for %lld numbers", m->path, (long long)(m->n * m->npix));
  progress_reading(0, 1, "reading");
  LIB(kugel_npy_read(NULL, m->path, KUGEL_ARRAY(m->map, KUGEL_F64, m->n * m->npix)));
  if (m->south_first)
    turn_rows(m);
  if (!pixels_seen(m->map, KUGEL_F64, m->n * m->npix))
    return fail("%s has no observed value: all %lld are unseen, NaN or infinite", m->path,
                (long long)(m->n * m->npix));
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
  bool gauss = m->kind == KUGEL_GRID_GAUSS || m->kind == KUGEL_GRID_MCEWEN_WIAUX;
  if (m->kind == KUGEL_GRID_GAUSS_OCTAHEDRAL)
    return m->ntheta / 2 - 1;
  int64_t by_rows = gauss                           ? m->ntheta - 1
                    : m->kind == KUGEL_GRID_LOBATTO ? m->ntheta - 2
                                                    : (m->ntheta - 1) / 2;
  int64_t by_columns = (m->nphi - 1) / 2;
  return by_rows < by_columns ? by_rows : by_columns;
}

void latlon_close(latlon *m)
{
  free(m->map);
  m->map = NULL;
}
